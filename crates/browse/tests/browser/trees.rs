//! The tree of a file.

use super::driver::{Driver, LARGE, SMALL, data};

#[test]
fn a_file_with_one_table_begins_with_its_columns() {
    let mut driver = Driver::new("zmumu.root", "", SMALL);
    insta::assert_snapshot!("tree_small", driver.screen());
    insta::assert_snapshot!("tree_column", driver.keys("↓↓↓").screen());
    insta::assert_snapshot!("tree_large", Driver::new("zmumu.root", "", LARGE).screen());
}

#[test]
fn directories_open_and_close() {
    let mut driver = Driver::new("keys.root", "", SMALL);
    let closed = driver.screen();
    let opened = driver.keys("/zzz").screen();
    assert!(opened.contains("no name matches"), "{opened}");
    assert_eq!(driver.keys("\u{1b}").screen(), closed);
}

#[test]
fn names_are_filtered_while_they_are_typed() {
    let mut driver = Driver::new("zmumu.root", "", SMALL);
    insta::assert_snapshot!("filter_letters", driver.keys("/mupt").screen());
    driver.keys("\u{1b}/Muon_[pe]*\n");
    insta::assert_snapshot!("filter_glob", driver.screen());
    assert!(!driver.keys("\u{1b}/Mu").keys("\u{1b}").screen().contains("with Mu"));
}

#[test]
fn values_and_pictures_of_marked_columns() {
    let mut driver = Driver::new("zmumu.root", "", SMALL);
    driver.keys("/MET_\n  ");
    let screen = driver.keys("\n").screen();
    let header = screen.lines().nth(1).expect("a header");
    assert_eq!(header.split_whitespace().collect::<Vec<_>>(), ["MET_pt", "MET_phi"]);
    insta::assert_snapshot!("heat", driver.keys("\u{1b}p").screen());
}

#[test]
fn code_is_shown_in_three_languages() {
    let mut driver = Driver::new("zmumu.root", "events", SMALL);
    let code = driver.keys("tw nMuon > 2\nd").screen();
    for text in ["arrays = table.arrays(cut=", "forthwith cat ", "--where", "forthwith::File::open("] {
        assert!(code.contains(text), "{text}: {code}");
    }
}

#[test]
fn what_a_browser_cannot_do_is_said() {
    let mut driver = Driver::new("zmumu.root", "", SMALL);
    assert!(driver.keys("p").screen().contains("no column is chosen"));
    assert!(driver.keys("↓f").screen().contains("has no program"));
}

#[test]
fn a_long_path_leaves_room_for_format_and_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = folder.path().join("a-folder-with-a-name-that-is-long".repeat(4));
    std::fs::create_dir(&long).expect("a folder");
    let file = long.join("zmumu.root");
    std::fs::copy(data("zmumu.root"), &file).expect("a copy");
    let screen = Driver::of(file, "", SMALL).screen();
    let title = screen.lines().next().expect("a title").to_owned();
    let (path, about) = title.split_once("  ").expect("a gap");
    assert!(about.trim_start().starts_with("ROOT, "), "{title}");
    assert!(path.contains('…') && path.ends_with("zmumu.root"), "{title}");
}
