//! Files that are damaged, empty, or change while they are browsed.

use super::driver::{Driver, SMALL, data};
use std::fs;

#[test]
fn a_damaged_column_names_its_error_where_its_values_would_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("damaged.root");
    let mut bytes = fs::read(data("zmumu.root")).expect("a file");
    let metadata = bytes.len() - 40_000;
    for byte in (1_000..metadata).step_by(97) {
        bytes[byte] ^= 0x55;
    }
    fs::write(&file, bytes).expect("a file");
    let mut driver = Driver::of(file, "", SMALL);
    driver.settle();
    let screen = driver.keys("t").screen();
    assert!(screen.contains("rows"), "{screen}");
    assert!(screen.contains("damaged.root"), "{screen}");
    driver.keys("pq");
    assert!(driver.app.is_done());
}

#[test]
fn tables_and_files_may_be_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("empty.csv");
    fs::write(&file, "x,y\n").expect("a file");
    let mut driver = Driver::of(file, "", SMALL);
    let screen = driver.keys("t").screen();
    assert!(screen.contains("0 rows") && screen.contains("no rows"), "{screen}");
    assert!(driver.keys("Gg:5\n/x\n&y\nwx > 1\n p").screen().contains("empty.csv"));
    assert!(driver.app.marked().expect("rows").is_empty());
}

#[test]
fn a_file_that_was_replaced_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("grows.csv");
    fs::write(&file, "x\n1\n").expect("a file");
    let mut driver = Driver::of(file.clone(), "", SMALL);
    driver.screen();
    let other = folder.path().join("other.csv");
    fs::write(&other, "x\n1\n2\n3\n").expect("a file");
    fs::rename(&other, &file).expect("a file");
    let screen = driver.keys("Rt").screen();
    assert!(screen.contains("3 rows"), "{screen}");
    fs::remove_file(&file).expect("a file");
    let screen = driver.keys("R").screen();
    assert!(screen.contains("grows.csv: not found"), "{screen}");
}
