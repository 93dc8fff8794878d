//! Random events over bundled files: no panic, and `q` leaves.

use super::driver::{Driver, data};
use forthwith_browse::{Input, Key};
use std::path::PathBuf;

/// Numbers by xorshift, the same ones for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }
}

const CHARACTERS: &str = "?Rjkhlgdptevfmcnwxb/&:+-=0$ NGrlm19.*(>,%x";
const KEYS: [Key; 16] = [
    Key::Enter,
    Key::Enter,
    Key::Esc,
    Key::Backspace,
    Key::Delete,
    Key::Tab,
    Key::Up,
    Key::Down,
    Key::Down,
    Key::Left,
    Key::Right,
    Key::PageUp,
    Key::PageDown,
    Key::Home,
    Key::End,
    Key::Ctrl('u'),
];
const TEXTS: [&str; 8] =
    ["nMuon > 1", "/Mu", "1,2", "\u{1b}\u{202e}", "x", "50%", "[a-z]+", "event % 2 == 0"];

fn event(random: &mut Random) -> Input {
    let characters: Vec<char> = CHARACTERS.chars().collect();
    match random.below(20) {
        0 => Input::Resize { width: random.below(220) as u16, height: random.below(70) as u16 },
        1 => Input::Click { column: random.below(220) as u16, row: random.below(70) as u16 },
        2 => Input::Scroll(random.below(100) as i32 - 50),
        3 => Input::Paste((*random.of(&TEXTS)).to_owned()),
        4..=9 => Input::Key(*random.of(&KEYS)),
        _ => Input::Key(Key::Char(*random.of(&characters))),
    }
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["", "avro", "parquet", "rntuple"] {
        let found = std::fs::read_dir(data(folder)).expect("bundled files");
        files.extend(found.filter_map(|entry| entry.ok()).map(|entry| entry.path()));
    }
    let is_data = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ["root", "avro", "parquet"].iter().any(|known| ending == *known))
    };
    files.retain(is_data);
    files.sort();
    files
}

fn campaign(files: &[PathBuf], seed: u64, events: usize) {
    let mut random = Random(seed);
    for path in files {
        let mut driver = Driver::of(path.clone(), "", (80, 24));
        let mut recent = Vec::new();
        for _ in 0..events {
            let event = event(&mut random);
            recent.push(event.clone());
            if let Input::Resize { width, height } = event {
                driver.resize(width, height);
            }
            driver.app.handle(event);
            // Sometimes keys come faster than answers.
            for _ in 0..random.below(4) {
                driver.app.poll();
            }
            driver.draw();
        }
        driver.app.handle(Input::Key(Key::Esc));
        driver.app.handle(Input::Key(Key::Char('q')));
        assert!(driver.app.is_done(), "{}: {recent:?}", path.display());
        let marked = driver.app.marked();
        assert!(marked.is_ok(), "{}: {marked:?}", path.display());
    }
}

#[test]
fn random_keys_do_no_harm() {
    let files = files();
    assert!(files.len() > 40, "the bundled files were not found");
    let some: Vec<PathBuf> = files.iter().step_by(5).cloned().collect();
    campaign(&some, 0x9e37_79b9_7f4a_7c15, 60);
}

#[test]
#[ignore = "takes minutes: a campaign over all bundled files"]
fn many_random_keys_do_no_harm() {
    for seed in 1..=10 {
        campaign(&files(), seed, 400);
    }
}
