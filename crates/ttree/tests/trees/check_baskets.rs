//! Whether files are whole, by what their trees say of their baskets.
#![allow(clippy::print_stderr)] // What was found in the corpus is part of a test's result.

use std::sync::Arc;

use forthwith_io::{Memory, Source};
use forthwith_plan::{Finding, Result, Severity};
use forthwith_root::{Checked, Key, RootFile};
use forthwith_ttree::TreeCheck;

use crate::support::{self, data, samples};

fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    std::fs::read(format!("{folder}/{name}")).expect("a file of the repository")
}

fn memory(bytes: Vec<u8>) -> Arc<dyn Source> {
    Arc::new(Memory::new("memory.root", bytes))
}

fn check(file: &RootFile) -> Result<Checked> {
    file.check(&mut [&mut TreeCheck::default()])
}

#[test]
fn sound_files_are_whole() {
    let mut looked_at = 0;
    for path in data() {
        let file = support::open(&path).expect("a sound file");
        let checked = check(&file).expect("a readable file");
        assert!(checked.severity() < Some(Severity::Damage), "{}: {:#?}", path.display(), checked.findings);
        looked_at += checked.records;
    }
    assert!(looked_at > 100);
}

/// Which files of the corpus are damaged, as far as a look at each tells; none may take the check down.
#[test]
fn files_of_the_corpus_are_checked() {
    let (mut sound, mut remarks, mut damaged) = (0, 0, Vec::new());
    for example in samples() {
        let checked = check(&example.file).expect("a readable file");
        match checked.severity() {
            None => sound += 1,
            Some(Severity::Remark) => remarks += 1,
            Some(Severity::Damage) => damaged.push(format!(
                "{}: {:?}",
                example.name,
                checked.findings.iter().find(|f| f.severity == Severity::Damage)
            )),
        }
    }
    eprintln!("sound: {sound}, with remarks: {remarks}, damaged: {}\n{}", damaged.len(), damaged.join("\n"));
    let (mut found, mut refused, mut passed) = (0, 0, Vec::new());
    for path in support::bad() {
        if path.extension().is_none_or(|end| end != "root") {
            continue;
        }
        match support::open(&path).and_then(|file| check(&file)) {
            Err(_) => refused += 1,
            Ok(checked) if checked.severity() == Some(Severity::Damage) => found += 1,
            Ok(_) => passed.push(path.display().to_string()),
        }
    }
    eprintln!("bad files not opened: {refused}, found damaged: {found}, passed: {passed:?}");
    assert!(sound > 0);
}

/// The record of the first basket of a branch: where it begins, and its key.
fn basket(whole: &[u8], branch: &str) -> (usize, Key) {
    let file = RootFile::open(memory(whole.to_vec())).expect("a sound file");
    let keys = file.records().expect("records").filter_map(|record| record.expect("a record").key);
    let mut keys = keys.filter(|key| &*key.class_name == "TBasket" && &*key.name == branch);
    let key = keys.next().expect("a basket of the branch");
    (key.seek as usize, key)
}

/// The findings of a check in a changed copy of a file.
fn found(whole: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<Finding> {
    let mut changed = whole.to_vec();
    change(&mut changed);
    RootFile::open(memory(changed)).and_then(|file| check(&file)).expect("a readable file").findings
}

/// Whatever reading would refuse of a basket, a check finds, and says of which branch it is.
#[test]
fn a_basket_that_cannot_be_read_is_found() {
    let whole = bytes("codec-none.root");
    let damaged = |branch: &str, what: &str, change: &dyn Fn(&mut [u8], usize)| {
        let (at, key) = basket(&whole, branch);
        let findings = found(&whole, |bytes| change(&mut bytes[at..], usize::from(key.keylen)));
        let place = format!("events;1/{branch}");
        let is_it = |finding: &&Finding| {
            finding.severity == Severity::Damage && finding.object.as_deref() == Some(&*place)
        };
        let finding = findings.iter().find(is_it).unwrap_or_else(|| panic!("{what}: {findings:#?}"));
        assert_eq!(finding.byte, Some(at as u64), "{what}");
        assert!(finding.what.starts_with("basket 0: "), "{what}: {}", finding.what);
        assert!(finding.what.contains(what), "{what}: {}", finding.what);
    };
    damaged("i", "end of the entries", &|basket, keylen| basket[keylen - 5] = 0x20);
    damaged("i", "length of all entries", &|basket, keylen| basket[keylen - 2] -= 4);
    damaged("i", "a basket with data", &|basket, keylen| basket[keylen - 1] = 2);
    damaged("rows", "needs", &|basket, keylen| basket[keylen - 1] = 1);
    damaged("rows", "the entry offsets", &|basket, _| {
        let length = u32::from_be_bytes([basket[6], basket[7], basket[8], basket[9]]) - 8;
        basket[6..10].copy_from_slice(&length.to_be_bytes());
    });
    // The length of the key's title.
    damaged("rows", "", &|basket, _| {
        let wide = i16::from_be_bytes([basket[4], basket[5]]) > 1000;
        let title = if wide { 34 } else { 26 } + 1 + "TBasket".len() + 1 + "rows".len();
        assert_eq!(basket[title], 6, "events");
        basket[title] = 0;
    });
    damaged("rows", "entry offset", &|basket, keylen| {
        let last = basket[keylen - 5..keylen - 1].iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        basket[last + 4 + 4 * 5] = 0x7F;
    });
    assert!(found(&whole, |_| {}).is_empty());
}
