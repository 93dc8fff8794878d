//! A campaign of damaged RNTuples: bytes anywhere in the file, and numbers of envelopes and pages under checksums that
//! are right. `FORTHWITH_ROUNDS` says how many of each file, `FORTHWITH_SEED` which; `FORTHWITH_NTUPLE_FILES` names a
//! folder with more files than the bundled ones.
//!
//! A damaged file is an error or values. Values are valid, and any range of entries has those that the whole has. If
//! checksums are verified and were not mended, values are those of the sound file.

use super::forge::Parts;
use forthwith::{
    Engine, Options as EngineOptions,
    columns::{Array, Policy},
    io::{Memory, Source, xxh3},
    plan::{Dataset, Plan, Stored},
    rntuple::{Ntuple, NtupleFormat, Options},
    root::RootFile,
};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// More items are not read: what is stored in few bytes may be many.
const MOST: u64 = 1 << 20;
/// More entries are not asked for.
const ENTRIES: u64 = 400;
/// A damaged file costs no more time than this, on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.word() % limit.max(1) as u64) as usize
    }

    /// A number that is likely to be at some limit, or near the one that was there.
    fn number(&mut self, before: u64, size: usize) -> u64 {
        match self.below(12) {
            0 => 0,
            1 => u64::MAX,
            2 => i64::MAX as u64,
            3 => i64::MIN as u64,
            4 => i32::MAX as u64,
            5 => i32::MIN as u32 as u64,
            6 => before.wrapping_add(1),
            7 => before.wrapping_sub(1),
            8 => before.wrapping_neg(),
            9 => before.wrapping_mul(2),
            10 => size as u64,
            _ => self.word() >> self.below(64),
        }
    }

    /// Changes some of the bytes.
    fn damage(&mut self, bytes: &mut Vec<u8>, size: usize) {
        for _ in 0..1 + self.below(3) {
            if bytes.len() < 16 {
                return;
            }
            // The first word is mended anyway.
            let at = 8 + self.below(bytes.len() - 8);
            match self.below(10) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.word() as u8,
                2 => {
                    let (from, count) = (self.below(bytes.len()), self.below(40));
                    let copy = bytes[from..bytes.len().min(from + count)].to_vec();
                    for (to, byte) in bytes[at..].iter_mut().zip(copy) {
                        *to = byte;
                    }
                }
                3 => {
                    let end = bytes.len().min(at + 1 + self.below(16));
                    bytes.drain(at..end);
                }
                4 => {
                    let (from, count) = (self.below(bytes.len()), 1 + self.below(40));
                    let copy = bytes[from..bytes.len().min(from + count)].to_vec();
                    bytes.splice(at..at, copy);
                }
                kind => {
                    let width = [1, 2, 4, 4, 8][kind - 5];
                    let mut word = [0; 8];
                    let count = width.min(bytes.len() - at);
                    word[..count].copy_from_slice(&bytes[at..at + count]);
                    let number = self.number(u64::from_le_bytes(word), size).to_le_bytes();
                    bytes[at..at + count].copy_from_slice(&number[..count]);
                }
            }
        }
    }
}

/// What could be read of each field, as text; nothing of those that could not.
type Seen = Vec<Option<Vec<String>>>;

fn text(arrays: &[Array], rows: Range<u64>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for array in arrays {
        found.extend(array.values(rows.clone()).ok()?.iter().map(|value| format!("{value:?}")));
    }
    Some(found)
}

fn fits(plan: &Plan) -> bool {
    let items = plan.tasks.iter().map(|task| task.wanted.end - task.wanted.start);
    items.fold(0, u64::saturating_add) <= MOST
}

/// Reads every field as a whole and in parts.
fn read(engine: &Engine, bytes: Vec<u8>, name: &str, threads: usize, options: Options) -> Seen {
    let source: Arc<dyn Source> = Arc::new(Memory::new("damaged.root", bytes));
    let open = || {
        let file = RootFile::open(Arc::clone(&source))?;
        Ntuple::open(&file, &file.find(name)?, options)
    };
    let Ok(ntuple) = open() else { return Vec::new() };
    let fields = ntuple.fields().map_or(0, <[_]>::len).min(200);
    let count = ntuple.entries().expect("known").min(ENTRIES);
    let mut seen = Vec::with_capacity(fields);
    for field in 0..fields as u32 {
        let _ = ntuple.describe(field);
        let part = |entries: Range<u64>, threads: usize| {
            let plan = ntuple.plan(&[field], entries.clone()).ok().filter(fits)?;
            let arrays = engine.read(&plan, &source, &NtupleFormat, Some(threads), None).ok()?;
            for array in &arrays {
                assert_eq!(array.length, entries.end - entries.start, "field {field}");
                array.validate().unwrap_or_else(|wrong| panic!("field {field}: {wrong}"));
            }
            text(&arrays, 0..entries.end - entries.start)
        };
        let whole = part(0..count, threads);
        for entries in [count / 3..count / 2, count / 2..count, 0..count.min(1)] {
            if let (Some(whole), Some(found)) = (&whole, part(entries.clone(), 1)) {
                assert_eq!(
                    found,
                    whole[entries.start as usize..entries.end as usize],
                    "field {field}, {entries:?}"
                );
            }
        }
        seen.push(whole);
    }
    seen
}

/// Ranges of pages in a file, with their checksums if those are verified.
fn pages(bytes: &[u8], name: &str, verify: bool) -> Vec<Range<usize>> {
    let source: Arc<dyn Source> = Arc::new(Memory::new("whole.root", bytes.to_vec()));
    let file = RootFile::open(source).expect("a file");
    let ntuple = Ntuple::open(&file, &file.find(name).expect("there"), Options { verify });
    let ntuple = ntuple.expect("sound");
    let fields: Vec<u32> = (0..ntuple.fields().expect("known").len() as u32).collect();
    let mut found = Vec::new();
    for field in fields {
        let Ok(plan) = ntuple.plan(&[field], 0..ntuple.entries().expect("known")) else { continue };
        for task in &plan.tasks {
            if let Stored::Range(range) = &task.stored {
                found.push(range.start as usize..range.end as usize);
            }
        }
    }
    found
}

fn files() -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rntuple");
    let more = std::env::var_os("FORTHWITH_NTUPLE_FILES").map(PathBuf::from);
    let folders = [Some(bundled), more];
    let entries = folders.iter().flatten().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|path| {
        let size = path.metadata().map_or(0, |data| data.len());
        path.extension().is_some_and(|ending| ending == "root") && size < 1 << 20
    });
    files.sort();
    files
}

/// The names of a file's ntuples.
fn names(bytes: &[u8]) -> Vec<String> {
    let source: Arc<dyn Source> = Arc::new(Memory::new("whole.root", bytes.to_vec()));
    let keys = RootFile::open(source).and_then(|file| file.keys_recursive()).unwrap_or_default();
    keys.into_iter()
        .filter(|found| Ntuple::is_ntuple(&found.key.class_name))
        .map(|found| found.path)
        .collect()
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn damaged_files_are_errors_or_values() {
    let policy = Policy { huge_pages: false, limit: Some(256 << 20), ..Policy::default() };
    let engine = Engine::new(EngineOptions { policy, ..EngineOptions::default() });
    let (rounds, seed) = (setting("FORTHWITH_ROUNDS", 24), setting("FORTHWITH_SEED", 1));
    let [mut count, mut opened, mut whole] = [0u64; 3];
    for path in files() {
        let sound = std::fs::read(&path).expect("a file");
        for name in names(&sound) {
            let parts = Parts::of(sound.clone(), &name);
            let ranges = pages(&sound, &name, false);
            let has_checksums = ranges != pages(&sound, &name, true);
            let expected = read(&engine, sound.clone(), &name, 1, Options::default());
            if let Some(parts) = &parts {
                let forged = parts.clone().file(|_| ());
                assert_eq!(
                    read(&engine, forged, &name, 2, Options::default()),
                    expected,
                    "{}",
                    path.display()
                );
            }
            for round in 0..rounds {
                let case = format!("{}, {name}, seed {seed}, round {round}", path.display());
                let mut random = Random((seed << 32 | round) ^ xxh3(name.as_bytes()) ^ xxh3(&sound) | 1);
                for _ in 0..8 {
                    random.word();
                }
                let size = sound.len();
                let kind = random.below(8);
                let (damaged, verify) = match (kind, &parts) {
                    // Verified and not mended: it is noticed, or does not matter.
                    (0 | 1, _) => {
                        let mut file = sound.clone();
                        let at = random.below(size);
                        file[at] ^= 1 << random.below(8);
                        (file, true)
                    }
                    (2, _) => {
                        let mut file = sound.clone();
                        file.truncate(random.below(size));
                        (file, true)
                    }
                    (3, Some(parts)) => {
                        let mut parts = parts.clone();
                        random.damage(&mut parts.header, size);
                        (parts.file(|_| ()), true)
                    }
                    (4, Some(parts)) => (parts.clone().file(|footer| random.damage(footer, size)), true),
                    (5, Some(parts)) => {
                        let mut parts = parts.clone();
                        let at = random.below(parts.lists.len());
                        if let Some((_, list)) = parts.lists.get_mut(at) {
                            random.damage(list, size);
                        }
                        (parts.file(|_| ()), round % 2 == 0)
                    }
                    _ => {
                        let mut file = sound.clone();
                        for _ in 0..1 + random.below(3) {
                            let Some(range) = ranges.get(random.below(ranges.len())).cloned() else { break };
                            // Behind eight bytes that are left alone.
                            let mut page = [&[0; 8], &file[range.clone()]].concat();
                            random.damage(&mut page, size);
                            let count = range.len().min(page.len() - 8);
                            file[range.start..range.start + count].copy_from_slice(&page[8..8 + count]);
                        }
                        (file, false)
                    }
                };
                let begin = Instant::now();
                let seen = std::panic::catch_unwind(|| {
                    read(&engine, damaged, &name, 1 + round as usize % 2, Options { verify })
                });
                let seen = seen.unwrap_or_else(|_| panic!("{case}"));
                assert!(begin.elapsed() < LONGEST, "{case}: {:?}", begin.elapsed());
                if kind < 3 && has_checksums {
                    for (field, (found, expected)) in seen.iter().zip(&expected).enumerate() {
                        assert!(
                            found.is_none() || found == expected,
                            "{case}: field {field} has other values"
                        );
                    }
                }
                count += 1;
                opened += u64::from(!seen.is_empty());
                whole += u64::from(seen == expected);
            }
        }
    }
    println!("{count} files: {opened} opened, {whole} read as if sound");
}
