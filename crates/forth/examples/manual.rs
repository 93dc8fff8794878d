//! Writes `docs/forth.md` anew: `cargo run -p forthwith-forth --example manual`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/forth.md");
    std::fs::write(page, forthwith_forth::manual::page())
}
