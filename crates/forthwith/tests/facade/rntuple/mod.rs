#![cfg(feature = "root")]
//! RNTuples whose bytes lie: an error or values, never a panic, and what is delivered is valid. Checksums are not verified
//! here: they would find every lie, and no other check would be tested.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

mod campaign;
mod forge;
mod hostile;
mod written;

use forthwith::{
    Engine, Options as EngineOptions,
    io::{Memory, Source},
    plan::{Dataset, Severity},
    rntuple::{Ntuple, NtupleFormat, Options},
    root::RootFile,
};
use std::{path::Path, sync::Arc};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rntuple").join(name);
    std::fs::read(path).expect("a bundled file")
}

/// Reads everything that can be read; how many fields of how many.
fn read(engine: &Engine, bytes: Vec<u8>, threads: usize, options: Options) -> [usize; 2] {
    let source: Arc<dyn Source> = Arc::new(Memory::new("damaged.root", bytes));
    let open = || {
        let file = RootFile::open(Arc::clone(&source))?;
        Ntuple::open(&file, &file.find("ntuple")?, options)
    };
    let Ok(ntuple) = open() else { return [0; 2] };
    let sets = ntuple.attribute_sets().into_iter().map(|name| ntuple.attribute_set(&name));
    let all: Vec<Ntuple> = sets.filter_map(Result::ok).collect();
    let each = all.iter().chain([&ntuple]).map(|ntuple| read_one(engine, ntuple, &source, threads));
    each.fold([0; 2], |[a, b], [c, d]| [a + c, b + d])
}

fn read_one(engine: &Engine, ntuple: &Ntuple, source: &Arc<dyn Source>, threads: usize) -> [usize; 2] {
    let fields = ntuple.fields().map_or(0, <[_]>::len);
    let mut readable = 0;
    for field in 0..fields as u32 {
        let _ = ntuple.describe(field);
        // A lie about the number of entries is not to cost the memory of so many.
        let count = ntuple.entries().expect("known").min(1000);
        let mut is_read = true;
        for entries in [0..count, count / 3..count / 2] {
            let Ok(plan) = ntuple.plan(&[field], entries) else {
                is_read = false;
                continue;
            };
            let claimed: u64 = plan.tasks.iter().map(|task| task.wanted.end - task.wanted.start).sum();
            if claimed > 1 << 24 {
                is_read = false;
                continue;
            }
            match engine.read(&plan, source, &NtupleFormat, Some(threads), None) {
                Ok(arrays) => {
                    for array in arrays {
                        array.validate().unwrap_or_else(|wrong| panic!("field {field}: {wrong}"));
                    }
                }
                Err(_) => is_read = false,
            }
        }
        readable += usize::from(is_read);
    }
    [readable, fields]
}

const FILES: [&str; 7] = [
    "kinds-none.root",
    "kinds-zstd.root",
    "pages-none.root",
    "late-within.root",
    "representations.root",
    "attributes-none.root",
    "streamed-none.root",
];

#[test]
fn bundled_files_are_read_whole() {
    let engine = Engine::new(EngineOptions::default());
    for name in FILES {
        for threads in [1, 3] {
            let [readable, fields] = read(&engine, bytes(name), threads, Options::default());
            assert_eq!(readable, fields, "{name}");
            assert!(fields > 0, "{name}");
        }
    }
}

#[test]
fn attribute_sets_are_checked() {
    let check = |bytes: Vec<u8>| {
        let source = Arc::new(Memory::new("attributes.root", bytes));
        let engine = Arc::new(Engine::new(EngineOptions::default()));
        let file = forthwith::File::from_source(source, engine).expect("a ROOT file");
        let findings = file.check().expect("bytes in memory").findings;
        findings.into_iter().filter(|found| found.severity == Severity::Damage).collect::<Vec<_>>()
    };
    let mut whole = bytes("attributes-none.root");
    assert!(check(whole.clone()).is_empty());
    let text = b"innernoneacross";
    let at = whole.windows(text.len()).position(|part| part == text).expect("the page is not compressed");
    whole[at] ^= 1;
    let found = check(whole);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].object.as_deref(), Some("ntuple@quality/_userData"));
    assert!(found[0].what.contains("the checksum of a page"), "{}", found[0].what);
}

#[test]
fn flipped_bytes_are_errors_or_values() {
    let rounds = std::env::var("FORTHWITH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let engine = Engine::new(EngineOptions::default());
    let mut random = 1u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let options = Options { verify: false };
    for name in FILES {
        let whole = bytes(name);
        for round in 0..rounds {
            let mut damaged = whole.clone();
            for _ in 0..1 + next(4) {
                let at = next(whole.len());
                let change = next(5);
                damaged[at] = match change {
                    0 => next(256) as u8,
                    1 => 0xff,
                    2 => 0,
                    _ => damaged[at] ^ (1 << next(8)),
                };
            }
            read(&engine, damaged, 1 + round % 2, options);
        }
    }
}

#[test]
fn what_checksums_cover_is_an_error_when_it_changes() {
    let engine = Engine::new(EngineOptions::default());
    let whole = bytes("kinds-none.root");
    let source: Arc<dyn Source> = Arc::new(Memory::new("whole.root", whole.clone()));
    let file = RootFile::open(Arc::clone(&source)).expect("a file");
    let ntuple =
        Ntuple::open(&file, &file.find("ntuple").expect("there"), Options::default()).expect("sound");
    let entries = 0..ntuple.entries().expect("known");
    let plan = ntuple.plan(&[7], entries).expect("sound");
    for task in &plan.tasks {
        let forthwith::plan::Stored::Range(range) = &task.stored else { panic!("a page in the file") };
        let mut damaged = whole.clone();
        damaged[range.start as usize] ^= 1;
        let source: Arc<dyn Source> = Arc::new(Memory::new("damaged.root", damaged));
        let error =
            engine.read(&plan, &source, &NtupleFormat, Some(1), None).expect_err("damaged").to_string();
        assert!(error.starts_with("the checksum of a page is "), "{error}");
        let place = format!("ntuple/i32, cluster {}, byte {:#x}, member column ", task.block, range.start);
        assert!(error.contains(&place), "{error}");
    }
}

fn check(bytes: Vec<u8>, checksums: bool) -> forthwith::plan::CheckReport {
    let engine = Arc::new(Engine::new(EngineOptions::default()));
    let options = forthwith::OpenOptions::new().with("checksums", checksums);
    let source: Arc<dyn Source> = Arc::new(Memory::new("file.root", bytes));
    let file = forthwith::File::from_source_with(source, engine, &options).expect("a ROOT file");
    file.check().expect("readable")
}

#[test]
fn whole_files_are_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rntuple");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "root") {
            continue;
        }
        let report = check(std::fs::read(&path).expect("a file"), true);
        assert!(report.findings.is_empty(), "{}: {:?}", path.display(), report.findings);
        let pages = report.counts.iter().find(|(name, _)| *name == "pages");
        assert!(pages.is_some_and(|(_, count)| *count > 0), "{}", path.display());
    }
}

#[test]
fn a_check_reads_pages_and_what_lists_say_of_them() {
    use forthwith::plan::{Severity, Stored};
    let whole = bytes("pages-none.root");
    let source: Arc<dyn Source> = Arc::new(Memory::new("whole.root", whole.clone()));
    let file = RootFile::open(Arc::clone(&source)).expect("a file");
    let found = file.find("ntuple").expect("there");
    let ntuple = Ntuple::open(&file, &found, Options { verify: false }).expect("sound");
    let fields = ntuple.fields().expect("known");
    let list = fields.iter().position(|field| field.path == "lists").expect("there") as u32;
    let plan = ntuple.plan(&[list], 0..150).expect("sound");
    for task in plan.tasks.iter().filter(|task| task.wanted.start < 60) {
        let Stored::Range(range) = &task.stored else { continue };
        let mut damaged = whole.clone();
        // Ends of lists, and of the lists in them, above all items; the numbers themselves may be anything.
        damaged[range.start as usize + 6] ^= 1;
        let report = check(damaged.clone(), true);
        // Columns with equal pages share them.
        let own = report.findings.iter().find(|finding| finding.object.as_deref() == Some("ntuple/lists"));
        assert!(report.findings.iter().all(|finding| finding.byte == Some(range.start)));
        let finding = own.unwrap_or_else(|| panic!("{:?}", report.findings));
        assert_eq!(finding.severity, Severity::Damage);
        assert!(finding.what.starts_with("the checksum of a page is "), "{}", finding.what);
        assert!(finding.what.contains(&format!("cluster {}", task.block)), "{}", finding.what);
        let is_number = plan.groups[task.group as usize].columns[0].key.ends_with("-data");
        let unverified = check(damaged, false);
        let told =
            unverified.findings.iter().any(|finding| finding.object.as_deref() == Some("ntuple/lists"));
        assert_eq!(told, !is_number, "{:?}", unverified.findings);
    }
}
