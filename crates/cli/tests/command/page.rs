//! docs/details/command.md is in step with the flags.

use crate::{file, forthwith, output, root};
use std::fs;

#[test]
fn the_page_is_what_the_help_says() {
    let path = root().join("docs/details/command.md");
    let page = forthwith_cli::page();
    if std::env::var_os("FORTHWITH_UPDATE").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == page, "docs/details/command.md is out of step: run this test with FORTHWITH_UPDATE=1");
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("man1");
    assert_eq!(output(&["man", to.to_str().expect("text")]), "");
    let page = |name: &str| std::fs::read_to_string(to.join(name)).expect(name);
    // The headings of the page on the command, without its first two.
    let headings = forthwith_cli::page();
    let headings = headings
        .lines()
        .filter(|line| line.starts_with("##"))
        .map(|line| line.trim_start_matches(['#', ' ']));
    let verbs: Vec<String> =
        headings.filter_map(|line| Some(line.strip_prefix("forthwith ")?.replace(' ', "-"))).collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    for verb in &verbs {
        let text = page(&format!("forthwith-{verb}.1"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains("threads"), "{verb}: {text}");
    }
    assert_eq!(std::fs::read_dir(&to).expect("the folder").count(), verbs.len() + 1);
    assert!(
        page("forthwith-head.1").contains("jsonl") && !page("forthwith.1").contains("objects or columns")
    );
    let said = forthwith(&["man", &file("zmumu.root")]);
    assert!(said.code != 0 && said.err.contains("zmumu.root"), "{}", said.err);
}
