//! Writes `docs/details/forth.md` anew: `cargo run -p forthwith-forth --example manual`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/details/forth.md");
    std::fs::write(page, forthwith_forth::manual::page())
}
