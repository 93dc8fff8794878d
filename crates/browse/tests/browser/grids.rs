//! Values of tables.

use super::driver::{Driver, LARGE, SMALL};
use forthwith_browse::{Input, Key};

#[test]
fn values_are_shown_page_by_page() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    insta::assert_snapshot!("grid_small", driver.screen());
    insta::assert_snapshot!("grid_large", Driver::view("zmumu.root", "events", LARGE).screen());
    driver.key(Key::PageDown).key(Key::Right).key(Key::Right).key(Key::Right).key(Key::Right).key(Key::Right);
    insta::assert_snapshot!("grid_moved", driver.screen());
    let end = driver.keys("G").screen();
    assert!(end.contains("3,599"), "{end}");
    assert!(driver.keys(":50%\n").screen().contains("1,799"));
    assert!(driver.keys(":1234\n").screen().contains("1,234"));
}

#[test]
fn rows_are_filtered_by_an_expression() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    insta::assert_snapshot!("grid_where", driver.keys("wnMuon > 3\n").screen());
    let failed = driver.keys("w").key(Key::Ctrl('u')).keys("nMuon >\n").screen();
    assert!(failed.lines().nth(22).is_some_and(|line| !line.contains("rows")), "{failed}");
    assert!(driver.keys("w").key(Key::Ctrl('u')).keys("\n").screen().contains("3,600 rows"));
}

#[test]
fn rows_are_searched_and_filtered_by_their_text() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    driver.settle();
    let filtered = driver.keys("&5000003700\n").screen();
    assert!(filtered.contains("1 of 3,600 rows: with 5000003700"), "{filtered}");
    let found = driver.keys("&").key(Key::Ctrl('u')).keys("\n/5000007400\n").screen();
    assert!(found.contains("   200 316000"), "{found}");
    assert!(driver.keys("/no such text\n").screen().contains("not found in 21 columns"));
    assert!(driver.keys("/(\n").screen().contains("invalid regular expression"));
}

#[test]
fn columns_are_chosen_by_their_names() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    let header = |screen: String| screen.lines().nth(1).expect("a header").trim().to_owned();
    assert_eq!(header(driver.keys("cmuonpt\n").screen()), "Muon_pt");
    let none = driver.keys("c").key(Key::Ctrl('u')).keys("nothing like it\n").screen();
    assert!(none.contains("matches none of the columns"), "{none}");
    assert!(header(driver.keys("=-").screen()).starts_with("luminosityBlock"));
}

#[test]
fn a_whole_value_is_shown() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    insta::assert_snapshot!("value", driver.keys("cTrack_clusters\n\n").screen());
}

#[test]
fn marked_rows_are_the_output() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    driver.keys("cnMuon\n ↓ :3599\n q");
    assert!(driver.app.is_done());
    let marked = String::from_utf8(driver.app.marked().expect("rows")).expect("text");
    assert_eq!(marked.lines().count(), 3);
    assert!(marked.lines().all(|line| line.starts_with("{\"nMuon\":")), "{marked}");
    // Of a table that was left, too.
    let mut driver = Driver::new("zmumu.root", "", SMALL);
    driver.keys("↓t \u{1b}q");
    assert_eq!(driver.app.marked().expect("rows").iter().filter(|byte| **byte == b'\n').count(), 1);
}

#[test]
fn the_mouse_chooses_cells() {
    let mut driver = Driver::view("zmumu.root", "events", SMALL);
    driver.settle();
    driver.app.handle(Input::Click { column: 36, row: 5 });
    let screen = driver.screen();
    assert!(screen.contains("rows  event  uint64"), "{screen}");
    driver.app.handle(Input::Scroll(100));
    assert!(driver.screen().contains("   103 "));
}

#[test]
fn tables_of_all_formats_are_shown() {
    for name in ["parquet/plain.parquet", "avro/nested.avro", "avro/top-int.avro", "avro/no-blocks.avro"] {
        let file = forthwith::File::open(super::driver::data(name)).expect(name);
        let rows = file.table("").and_then(|table| table.entries()).expect(name);
        let screen = Driver::view(name, "", SMALL).keys("G").screen();
        assert!(screen.contains("rows"), "{screen}");
        assert!(rows == 0 || !screen.contains("no rows"), "{name}: {screen}");
    }
}
