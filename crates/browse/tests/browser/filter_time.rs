//! Time that a key takes with many columns.

use super::driver::{Driver, LARGE};
use forthwith_browse::Key;
use forthwith_platform::Instant;
use std::{fmt::Write, fs, time::Duration};

#[test]
fn ten_thousand_names_are_filtered_between_two_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wide.csv");
    let mut text = String::new();
    for column in 0..10_000 {
        let comma = if column == 0 { "" } else { "," };
        write!(text, "{comma}Analysis{}_Jets{}AuxDyn_pt{column}", column % 7, column % 97).expect("text");
    }
    text.push('\n');
    text.push_str(&vec!["1"; 10_000].join(","));
    text.push('\n');
    fs::write(&file, text).expect("a file");
    let mut driver = Driver::of(file, "", LARGE);
    driver.screen();
    for filter in ["analysisjets9pt77", "Analysis?_*pt99*"] {
        driver.keys("/");
        let mut slowest = Duration::ZERO;
        for c in filter.chars() {
            let begin = Instant::now();
            driver.key(Key::Char(c)).app.poll();
            driver.draw();
            slowest = slowest.max(begin.elapsed());
        }
        // 16 ms when it is compiled as it is released; tests are not optimised, and processors are shared.
        assert!(slowest < Duration::from_millis(400), "{filter}: {slowest:?}");
        println!("{filter}: {slowest:?}");
        let screen = driver.keys("\n").screen();
        assert!(screen.contains("lines with"), "{screen}");
        driver.keys("\u{1b}");
    }
}
