//! docs/command.md is in step with the flags.

use crate::root;
use std::fs;

#[test]
fn the_page_is_what_the_help_says() {
    let path = root().join("docs/command.md");
    let page = forthwith_cli::page();
    if std::env::var_os("FORTHWITH_UPDATE").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == page, "docs/command.md is out of step: run this test with FORTHWITH_UPDATE=1");
}
