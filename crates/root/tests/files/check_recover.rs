//! Files that were not closed, and whether files are whole.

use std::sync::Arc;

use forthwith_io::{Memory, Source};
use forthwith_plan::Severity;
use forthwith_root::RootFile;

use crate::corpus;

fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    std::fs::read(format!("{folder}/{name}")).expect("a file of the repository")
}

fn memory(bytes: Vec<u8>) -> Arc<dyn Source> {
    Arc::new(Memory::new("memory.root", bytes))
}

#[test]
fn sound_files_are_whole() {
    let mut looked_at = 0;
    for path in corpus::data() {
        let file = RootFile::open(corpus::source(&path)).expect("a sound file");
        let checked = file.check(&mut []).expect("a readable file");
        assert!(checked.severity() < Some(Severity::Damage), "{}: {:#?}", path.display(), checked.findings);
        looked_at += checked.records;
    }
    assert!(looked_at > 100);
}

/// The bytes of a class with a streamer of its own, of which nothing was registered, are no damage.
#[test]
fn what_is_not_described_is_no_damage() {
    let file = RootFile::open(memory(bytes("loops.root"))).expect("a sound file");
    let checked = file.check(&mut []).expect("a readable file");
    let found = checked.findings.iter().find(|found| found.object.as_deref() == Some("last;1"));
    let found = found.expect("it cannot be read");
    assert_eq!(found.severity, Severity::Remark);
    assert!(found.what.starts_with("not described: Readout has a streamer of its own"), "{}", found.what);
}

/// Whatever stands between records: what directories list is looked up by itself.
#[test]
fn records_that_do_not_follow_each_other_are_no_damage() {
    let whole = bytes("trees.root");
    let file = RootFile::open(memory(whole.clone())).expect("a sound file");
    let records: Vec<_> = file.records().expect("records").map(|record| record.expect("a record")).collect();
    let is_list = |key: &forthwith_root::Key| &*key.class_name == "TTree";
    let tree = records.iter().position(|record| record.key.as_ref().is_some_and(is_list)).expect("a tree");
    // The record before it says that it is longer.
    let mut broken = whole.clone();
    let at = records[tree - 1].at as usize;
    let length = records[tree - 1].length as i32 + 40;
    broken[at..at + 4].copy_from_slice(&length.to_be_bytes());
    let checked =
        RootFile::open(memory(broken.clone())).and_then(|file| file.check(&mut [])).expect("a readable file");
    let cut =
        |what: &str| what.starts_with("no record begins here, and records behind it are not looked for");
    assert!(checked.findings.iter().any(|found| found.part == "records" && cut(&found.what)));
    let tree_is_damaged =
        |found: &&forthwith_plan::Finding| found.part == "keys" && found.severity == Severity::Damage;
    assert_eq!(checked.findings.iter().find(tree_is_damaged), None);
    // A listed record behind that is destroyed is found.
    let at = records[tree].at as usize;
    broken[at..at + 26].fill(0);
    let checked =
        RootFile::open(memory(broken)).and_then(|file| file.check(&mut [])).expect("a readable file");
    assert!(checked.findings.iter().find(tree_is_damaged).is_some(), "{:#?}", checked.findings);
}

#[test]
fn a_flipped_byte_is_found() {
    let whole = bytes("codec-lz4.root");
    let file = RootFile::open(memory(whole.clone())).expect("a sound file");
    let basket = file.records().expect("records").filter_map(Result::ok).find(|record| {
        record
            .key
            .as_ref()
            .is_some_and(|key| &*key.class_name == "TBasket" && u64::from(key.objlen) > record.length)
    });
    let basket = basket.expect("a compressed basket");
    let mut damaged = whole.clone();
    // The last byte of a compressed block: only its checksum tells.
    damaged[(basket.at + basket.length - 1) as usize] ^= 1;
    let checked =
        RootFile::open(memory(damaged)).and_then(|file| file.check(&mut [])).expect("a readable file");
    assert_eq!(checked.severity(), Some(Severity::Damage), "{:#?}", checked.findings);
    assert!(checked.findings.iter().any(|finding| finding.byte == Some(basket.at)));

    let cut = whole[..whole.len() * 3 / 4].to_vec();
    let checked = RootFile::open(memory(cut)).and_then(|file| file.check(&mut [])).expect("a readable file");
    assert_eq!(checked.severity(), Some(Severity::Damage));
}

#[test]
fn files_that_were_not_closed_are_recovered() {
    for (name, tree) in [
        ("unclosed/unclosed-early.root", None),
        ("unclosed/unclosed-late.root", Some(600)),
        ("unclosed/unclosed-cut.root", None),
    ] {
        let (file, found) = RootFile::recover(memory(bytes(name))).expect("a beginning of a file");
        let checked = RootFile::open(memory(bytes(name)))
            .and_then(|file| file.check(&mut []))
            .expect("a readable file");
        assert_eq!(checked.severity(), Some(Severity::Damage), "{name}: {:#?}", checked.findings);
        let unlisted = |what: &str| what.contains("objects are in no directory, and a recovery finds them");
        let said = checked.findings.iter().filter(|finding| unlisted(&finding.what)).count();
        assert!(!found.unlisted.is_empty() && said == 1, "{name}: {:#?}", checked.findings);
        let first = file.find("first").expect("written before the tree");
        assert_eq!(&*first.key.class_name, "TH1D");
        assert_eq!(file.find("below/inner").expect("in a directory").path, "below/inner");
        assert!(found.objects >= 3, "{found:?}");
        if let Some(entries) = tree {
            let objects = file.object(&file.find("tree").expect("saved").key).expect("a tree");
            assert_eq!(objects.top().int("fEntries"), Some(entries));
            assert_eq!(file.find("tree").expect("saved").key.cycle, 2);
        }
    }
}

/// A file that was closed has nothing more to find.
#[test]
fn recovery_finds_what_a_sound_file_lists() {
    for path in corpus::data() {
        let source = corpus::source(&path);
        let (file, found) = RootFile::recover(source.clone()).expect("a sound file");
        let sound = RootFile::open(source).expect("a sound file").keys_recursive().expect("keys");
        for key in &sound {
            let again = file.find(&format!("{};{}", key.path, key.key.cycle));
            assert_eq!(again.expect("found again").key, key.key, "{}", path.display());
        }
        assert!(found.unlisted.is_empty(), "{}: {:?}", path.display(), found.unlisted);
        assert!(found.stopped.is_none(), "{}: {:?}", path.display(), found.stopped);
    }
}

/// The findings of a check in a changed copy of a file.
fn found(whole: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<forthwith_plan::Finding> {
    let mut changed = whole.to_vec();
    change(&mut changed);
    RootFile::open(memory(changed)).and_then(|file| file.check(&mut [])).expect("a readable file").findings
}

/// Of a file whose beginning is not where its header says, nothing can be read.
#[test]
fn a_header_that_leads_nowhere_is_found() {
    let whole = bytes("codec-none.root");
    let findings = found(&whole, |bytes| bytes[8..12].copy_from_slice(&155u32.to_be_bytes()));
    let worst = findings.iter().find(|finding| finding.severity == Severity::Damage).expect("it is damaged");
    assert_eq!((worst.part, worst.byte), ("header", Some(155)));
}

/// Header and directories are compared with the records that they name.
#[test]
fn headers_directories_and_records_are_compared() {
    let whole = bytes("keys.root");
    let file = RootFile::open(memory(whole.clone())).expect("a sound file");
    assert!(!file.header().is_wide(), "places below are of a small file");
    let sole = |part: &str, severity: Severity, what: &str, change: &dyn Fn(&mut [u8])| {
        let findings = found(&whole, |bytes| change(bytes));
        let is_it = |finding: &forthwith_plan::Finding| {
            (finding.part, finding.severity) == (part, severity) && finding.what.contains(what)
        };
        assert!(findings.iter().any(is_it), "{what}: {findings:#?}");
    };
    let free = "free segments";
    sole(free, Severity::Remark, "number of segments", &|bytes| bytes[27] += 1);
    sole(free, Severity::Remark, "length of the list", &|bytes| bytes[23] += 10);
    sole("header", Severity::Remark, "length of key and name", &|bytes| {
        let at = (file.header().begin + u64::from(file.header().nbytes_name)) as usize;
        // Behind version, two times and a length.
        bytes[at + 17] += 1;
    });
    let infos = file.header().seek_info as usize;
    sole("streamer infos", Severity::Damage, "of class TLisu", &|bytes| bytes[infos + 31] = b'u');
    sole("streamer infos", Severity::Remark, "place of the list", &|bytes| bytes[infos + 21] ^= 1);
    let listed = file.keys_recursive().expect("keys");
    let below = listed.iter().find(|found| found.key.is_directory()).expect("a directory");
    let record = (below.key.seek + u64::from(below.key.keylen)) as usize;
    // Behind version, two times and two lengths: its own place, its mother's, that of the list.
    sole("keys", Severity::Damage, "the directory says that it is at byte", &|bytes| bytes[record + 21] ^= 1);
    sole("keys", Severity::Remark, "place of its mother", &|bytes| bytes[record + 25] ^= 1);
    let list = file.top().open(&below.key).expect("a directory").record().seek_keys as usize;
    sole("keys", Severity::Remark, "place of the list of keys", &|bytes| bytes[list + 21] ^= 1);
    sole("keys", Severity::Remark, "length of the list of keys", &|bytes| bytes[list + 3] ^= 1);
}
