//! A source that does not answer for a while, as one behind a slow server.

use super::driver::{Driver, SMALL, data};
use forthwith::{
    Engine, File, Key, Options, Table,
    io::{Memory, Result, Source},
};
use forthwith_browse::{App, Host, start_at};
use forthwith_platform::Instant;
use std::{
    ops::Range,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

/// A source whose reads wait while its gate is closed.
#[derive(Debug)]
struct Gated {
    bytes: Memory,
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gated {
    fn close(&self) {
        *self.is_closed.lock().expect("a lock") = true;
    }

    fn open(&self) {
        *self.is_closed.lock().expect("a lock") = false;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let closed = self.is_closed.lock().expect("a lock");
        drop(self.opened.wait_while(closed, |closed| *closed).expect("a lock"));
    }
}

impl Source for Gated {
    fn uri(&self) -> &str {
        "slow.root"
    }

    fn size(&self) -> Result<u64> {
        self.pass();
        self.bytes.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.pass();
        self.bytes.read(ranges)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        true
    }
}

struct Reading;

impl Host for Reading {
    fn reopen(&self) -> std::result::Result<File, String> {
        Err("not again".into())
    }

    fn object(&self, file: &File, key: &Key, _: usize) -> std::result::Result<String, String> {
        let read = file.object(&format!("{};{}", key.path, key.cycle));
        read.map(|_| "an object that was read".to_owned()).map_err(|error| error.to_string())
    }

    fn plan(&self, table: &Table, field: u32, _: usize) -> std::result::Result<String, String> {
        let array = table.column(field).map_err(|error| error.to_string())?;
        Ok(format!("{} values that were read", array.length))
    }

    fn program(&self, table: &Table, field: u32) -> std::result::Result<String, String> {
        self.plan(table, field, 0)
    }
}

/// A browser of a file in a gated source.
fn slow(path: &str) -> (Arc<Gated>, Driver) {
    let bytes = std::fs::read(data("zmumu.root")).expect("a file");
    let (is_closed, opened) = (Mutex::new(false), Condvar::new());
    let source = Arc::new(Gated { bytes: Memory::new("slow.root", bytes), is_closed, opened });
    let engine = Arc::new(Engine::new(Options::with_threads(1)));
    let file = File::from_source(Arc::clone(&source) as Arc<dyn Source>, engine).expect("a file");
    let start = start_at(&file, path).expect("a place");
    let app = App::new(file, Arc::new(Reading), start, false).expect("a browser");
    (source, Driver::with_app(app, SMALL))
}

/// Presses keys; no key may wait for the source.
fn quickly(driver: &mut Driver, keys: &str) -> String {
    for key in keys.chars() {
        let begin = Instant::now();
        driver.keys(key.encode_utf8(&mut [0; 4])).app.poll();
        let screen = driver.draw();
        // A file at hand is waited for 30 ms. Tests are not optimised, and processors are shared.
        assert!(begin.elapsed() < Duration::from_secs(2), "{key:?}: {:?}\n{screen}", begin.elapsed());
    }
    driver.draw()
}

fn title(screen: &str) -> &str {
    screen.lines().next().unwrap_or("")
}

#[test]
fn keys_do_not_wait_for_reads() {
    let (source, mut driver) = slow("");
    driver.wait_for("ZSTD");
    source.close();
    // Each of these keys reads, from the tree: an object, how a column is read, its program, values, a directory.
    for (keys, subject) in [("g\n", "mass"), ("jjje", "run"), ("f", "run"), ("G→", "skim")] {
        let screen = quickly(&mut driver, keys);
        let reading = format!("reading {subject}");
        assert!(screen.contains(&reading) && screen.contains("Esc gives up"), "{keys}: {screen}");
        let screen = quickly(&mut driver, "\u{1b}");
        assert!(screen.contains("stopped") && !screen.contains("reading skim"), "{keys}: {screen}");
    }
    // Answers to requests that were given up lead nowhere.
    source.open();
    std::thread::sleep(Duration::from_millis(300));
    let screen = quickly(&mut driver, "kj");
    assert!(!title(&screen).contains("mass") && !title(&screen).contains("run"), "{screen}");
    assert!(screen.contains("▸ skim"), "{screen}");
    quickly(&mut driver, "gjjje");
    driver.wait_until("a plan", |screen| title(screen).contains("run"));
}

#[test]
fn values_come_when_they_are_there() {
    let (source, mut driver) = slow("");
    driver.wait_for("ZSTD");
    source.close();
    let screen = quickly(&mut driver, "t");
    assert!(title(&screen).contains("events") && screen.contains('…'), "{screen}");
    let screen = quickly(&mut driver, "→→→←←←jjk\n");
    assert!(screen.contains("reading run, row 1"), "{screen}");
    // Another key asks for another value.
    let screen = quickly(&mut driver, "j\n");
    assert!(screen.contains("reading run, row 2"), "{screen}");
    let screen = quickly(&mut driver, "p");
    assert!(screen.contains("reading events") || title(&screen).contains("run"), "{screen}");
    quickly(&mut driver, "\u{1b}\u{1b}t");
    driver.wait_until("a table", |screen| title(screen).contains("events"));
    source.open();
    driver.wait_for("316000");
    let screen = quickly(&mut driver, "jj\n");
    assert!(title(&screen).contains("row 2") || screen.contains("reading run, row 2"), "{screen}");
    driver.wait_for("run, row 2");
}

#[test]
fn a_search_that_waits_is_stopped_by_escape() {
    let (source, mut driver) = slow("events");
    driver.keys("t").wait_for("316000");
    source.close();
    let screen = quickly(&mut driver, "/no such text\n");
    assert!(screen.contains("searching, 0 of 3,600 rows so far"), "{screen}");
    let screen = quickly(&mut driver, "\u{1b}");
    assert!(screen.contains("stopped") && title(&screen).contains("events"), "{screen}");
    let screen = quickly(&mut driver, "&no such text\n");
    assert!(screen.contains("filtering"), "{screen}");
    let screen = quickly(&mut driver, "\u{1b}k");
    assert!(screen.contains("0 of 3,600 rows: with no such text, stopped after 0"), "{screen}");
    source.open();
    quickly(&mut driver, "&no such text\n");
    driver.wait_for("0 of 3,600 rows: with no such text");
    quickly(&mut driver, "wnMuon > 3\n");
    driver.wait_for("rows: where nMuon > 3");
}
