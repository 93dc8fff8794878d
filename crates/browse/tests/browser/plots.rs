//! Histograms of columns.

use super::driver::{Driver, SMALL};

#[test]
fn a_column_is_drawn() {
    let mut driver = Driver::new("zmumu.root", "events/MET_pt", SMALL);
    insta::assert_snapshot!("histogram", driver.keys("p").screen());
    insta::assert_snapshot!("histogram_log", driver.keys("lb20\nr0,100\n").screen());
    let cut = driver.keys("wnMuon == 2\n").screen();
    assert!(cut.contains(" of 3,600 entries"), "{cut}");
    assert!(driver.keys("r5,1\n").screen().contains("invalid range"));
    assert!(driver.keys("bx\n").screen().contains("invalid number of bins"));
    assert!(driver.keys("+-d").screen().contains("forthwith plot "));
}

#[test]
fn two_columns_are_drawn_if_they_belong_together() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    driver.keys("cMuon_*\n\t→\tp");
    let screen = driver.screen();
    assert!(screen.contains("Muon_pt × Muon_eta"), "{screen}");
    assert!(driver.keys("x").screen().contains("Muon_eta × Muon_pt"));
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    driver.keys("c*_*\n");
    let screen = driver.keys("\tp").screen();
    assert!(screen.contains("entries"), "{screen}");
}

#[test]
fn text_is_not_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("names.csv");
    std::fs::write(&file, "name,x\nada,1\n\u{202e}\u{1b}[2J,2\n").expect("a file");
    let mut driver = Driver::of(file, "", SMALL);
    let screen = driver.keys("t").screen();
    assert!(screen.contains(r"\u{202e}\u{1b}[2J") && !screen.contains('\u{1b}'), "{screen}");
    assert!(driver.keys("p").screen().contains("name has no numbers to draw, but string"));
}
