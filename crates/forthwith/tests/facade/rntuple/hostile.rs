//! Metadata that lie under checksums that are right: words of each envelope as each of some numbers, one after
//! the other, and pages that claim more than their bytes justify. `FORTHWITH_STRIDE` is the distance of the
//! words in bytes: 1 for all of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::forge::Parts;
use forthwith::{
    Engine, Options as EngineOptions,
    columns::{Array, Column, DType, Form, Policy},
    io::{Memory, MemorySink, Source},
    plan::{Dataset, Error, Plan, Result, Stored},
    rntuple::{Ntuple, NtupleFormat, NtupleOptions, NtupleTable, Options},
    root::RootFile,
    root::write::{Compression, FileSettings, Moment, Uuid},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A file with lies costs no more time than this, on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);
/// Bytes of columns at the same time. Files of these tests have some kilobytes, with codecs that make one byte
/// of a thousand.
const MEMORY: usize = 64 << 20;

fn engine() -> Engine {
    let policy = Policy { huge_pages: false, limit: Some(MEMORY), ..Policy::default() };
    Engine::new(EngineOptions { policy, ..EngineOptions::default() })
}

fn open(bytes: Vec<u8>) -> Result<(Arc<dyn Source>, Ntuple)> {
    let source: Arc<dyn Source> = Arc::new(Memory::new("hostile.root", bytes));
    let file = RootFile::open(Arc::clone(&source))?;
    let ntuple = Ntuple::open(&file, &file.find("ntuple")?, Options::default())?;
    Ok((source, ntuple))
}

/// Reads all entries of each field, however many are claimed; the errors.
fn read(engine: &Engine, bytes: Vec<u8>) -> Vec<Error> {
    let (source, ntuple) = match open(bytes) {
        Ok(opened) => opened,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    for field in 0..ntuple.fields().unwrap().len() as u32 {
        let _ = ntuple.describe(field);
        let arrays = ntuple
            .plan(&[field], 0..ntuple.entries().unwrap())
            .and_then(|plan| engine.read(&plan, &source, &NtupleFormat, Some(1), None));
        match arrays {
            Ok(arrays) => arrays.iter().for_each(|array| array.validate().unwrap()),
            Err(error) => errors.push(error),
        }
    }
    errors
}

/// A file of one column of 1000 numbers in one page, whose metadata are not compressed.
fn one_page(compression: Compression) -> Vec<u8> {
    let form = Form::Numpy { key: "n".into(), dtype: DType::Int32, shape: vec![] };
    let columns = [("x".to_owned(), form.clone())];
    let memory = MemorySink::new("made.root");
    let settings = FileSettings {
        compression: Compression::NONE,
        uuid: Uuid([3; 16]),
        time: Moment(1_700_000_000),
        ..FileSettings::default()
    };
    let options = NtupleOptions { compression, ..NtupleOptions::default() };
    let mut table =
        NtupleTable::new(Box::new(memory.clone()), settings, "ntuple", &columns, options).unwrap();
    let array = Array {
        form,
        length: 1000,
        columns: vec![("n".to_owned() + "-data", Column::from_vec(vec![7i32; 1000]))],
    };
    forthwith::plan::TableWriter::write(&mut table, &[array]).unwrap();
    forthwith::plan::TableWriter::finish(Box::new(table)).unwrap();
    memory.bytes().unwrap().to_vec()
}

#[test]
fn pages_that_claim_more_than_their_bytes_justify_are_errors() {
    for compression in [Compression::NONE, Compression::named("zstd", None).unwrap()] {
        let parts = Parts::of(one_page(compression), "ntuple").unwrap();
        let engine = engine();
        assert!(read(&engine, parts.clone().file(|_| ())).is_empty());
        for count in [1001u32, 4000, 1 << 20, i32::MAX as u32] {
            let mut parts = parts.clone();
            let (link, list) = &mut parts.lists[0];
            // Entries of the group, of the cluster, and elements of the page with the sign that says that there
            // is a checksum.
            let entries = *link - 12;
            assert_eq!(parts.footer[entries..entries + 8], 1000u64.to_le_bytes());
            assert_eq!(list[44..52], 1000u64.to_le_bytes());
            assert_eq!(list[88..92], (-1000i32).to_le_bytes());
            parts.footer[entries..entries + 8].copy_from_slice(&u64::from(count).to_le_bytes());
            list[44..52].copy_from_slice(&u64::from(count).to_le_bytes());
            list[88..92].copy_from_slice(&(count as i32).wrapping_neg().to_le_bytes());
            let file = parts.file(|_| ());
            let (source, ntuple) = open(file).unwrap();
            assert_eq!(ntuple.entries().unwrap(), u64::from(count));
            let plan = ntuple.plan(&[0], 0..u64::from(count)).unwrap();
            let begin = Instant::now();
            let error = engine.read(&plan, &source, &NtupleFormat, Some(1), None).unwrap_err();
            assert!(begin.elapsed() < Duration::from_secs(5), "{count}: {:?}", begin.elapsed());
            let text = error.to_string();
            // Found by its bytes, and not by the memory that it would take.
            assert!(!text.contains("memory"), "{count}: {text}");
            assert!(text.contains("ntuple/x, cluster 0") && text.contains("column 0, page 0"), "{text}");
            let error = engine.raw(&plan, 0, &source, &NtupleFormat).unwrap_err().to_string();
            assert!(!error.contains("memory"), "{count}: {error}");
        }
    }
}

/// A class that no list of streamer infos describes is refused where it has an object, and not before.
#[test]
fn objects_of_undescribed_classes_are_refused_where_they_are_met() {
    for (name, objects) in [("never.root", 0), ("streamed-none.root", 3)] {
        let mut bytes = super::bytes(name);
        if objects > 0 {
            // The streamer infos of the file and of the footer describe a class of another name.
            let begin = bytes.windows(13).position(|bytes| bytes == b"TStreamerInfo").unwrap();
            let name = |bytes: &[u8]| bytes.windows(11).position(|bytes| bytes == b"forth::Kept");
            while let Some(at) = name(&bytes[begin..]) {
                bytes[begin + at] = b'F';
            }
            bytes = Parts::of(bytes, "ntuple").unwrap().file(|_| ());
        }
        let errors = read(&engine(), bytes);
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            texts.iter().all(|text| text.contains("forth::Kept, which the file does not describe")),
            "{texts:?}"
        );
        assert!(texts.len() >= objects, "{texts:?}");
    }
}

#[test]
fn sharded_clusters_are_refused_by_name() {
    let mut parts = Parts::of(one_page(Compression::NONE), "ntuple").unwrap();
    let (_, list) = &mut parts.lists[0];
    // The highest byte of the number of entries has the flags of a cluster.
    assert_eq!(list[44..52], 1000u64.to_le_bytes());
    list[51] = 1;
    let errors = read(&engine(), parts.file(|_| ()));
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains("not supported yet: a sharded cluster"), "{}", texts[0]);
    assert!(texts[0].contains("hostile.root:ntuple") && texts[0].contains("page list"), "{}", texts[0]);
}

#[test]
fn anchors_of_pre_releases_are_refused_by_their_version() {
    let file = one_page(Compression::NONE);
    // The four numbers of the version are the first of an anchor, behind its byte count and its class's version.
    let begin = [0, 2, 0, 1, 0, 0];
    let at = file.windows(begin.len()).rposition(|bytes| bytes == begin).unwrap() + 2;
    for version in [[0u16, 2, 0, 0], [0, 1, 5, 0], [2, 0, 0, 0], [u16::MAX; 4]] {
        let mut file = file.clone();
        for (number, to) in version.iter().zip(file[at..].as_chunks_mut::<2>().0) {
            *to = number.to_be_bytes();
        }
        let error = open(file).err().unwrap().to_string();
        let [epoch, major, minor, patch] = version;
        let wanted = format!("not supported yet: an RNTuple of version {epoch}.{major}.{minor}.{patch}");
        assert!(error.contains(&wanted) && error.contains("hostile.root"), "{error}");
    }
}

#[test]
fn each_word_of_envelopes_may_be_any_number() {
    let stride = std::env::var("FORTHWITH_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let engine = engine();
    let mut count = 0;
    for name in
        ["late-within.root", "representations.root", "projected.root", "groups.root", "pages-none.root"]
    {
        let Some(whole) = Parts::of(super::bytes(name), "ntuple") else {
            panic!("{name} is not taken apart")
        };
        assert_eq!(read(&engine, whole.clone().file(|_| ())).len(), 0, "{name}");
        let longest = whole.header.len().max(whole.footer.len()).max(whole.lists[0].1.len());
        for at in (8..longest).step_by(stride) {
            for number in [0, 1, 3, u32::MAX, i32::MAX as u32, i32::MIN as u32] {
                let number = number.to_le_bytes();
                for envelope in 0..3 {
                    let mut parts = whole.clone();
                    let put = |bytes: &mut [u8]| {
                        bytes.get_mut(at..at + 4).map(|bytes| bytes.copy_from_slice(&number)).is_some()
                    };
                    let file = match envelope {
                        0 if put(&mut parts.header) => parts.file(|_| ()),
                        1 if put(&mut parts.lists[0].1) => parts.file(|_| ()),
                        2 if at + 4 <= parts.footer.len() => parts.file(|footer| {
                            put(footer);
                        }),
                        _ => continue,
                    };
                    let begin = Instant::now();
                    read(&engine, file);
                    let case = format!("{name}, envelope {envelope}, byte {at}, {number:?}");
                    assert!(begin.elapsed() < LONGEST, "{case}: {:?}", begin.elapsed());
                    count += 1;
                }
            }
        }
    }
    println!("{count} files");
}

#[test]
fn a_cluster_group_twice_has_its_entries_once() {
    let engine = engine();
    // The second group leads to the pages of the first: its cluster begins where that one begins.
    let parts = Parts::of(super::bytes("groups.root"), "ntuple").unwrap();
    assert!(parts.lists.len() > 1, "several groups");
    let [first, second] = [parts.lists[0].0, parts.lists[1].0];
    let errors = read(
        &engine,
        parts.file(|footer| {
            let link = footer[first..first + 20].to_vec();
            footer[second..second + 20].copy_from_slice(&link);
        }),
    );
    assert!(!errors.is_empty());
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("the first entry of a cluster") || text.contains("clusters"), "{text}");
    }
}

/// The plan of a field's bytes as they lie in the file.
fn raw_plan(ntuple: &Ntuple, entries: u64) -> Plan {
    let mut plan = ntuple.plan(&[0], 0..entries).unwrap();
    plan.join(&NtupleFormat);
    plan
}

#[test]
fn pages_are_one_where_nothing_is_between_them() {
    let (source, ntuple) = open(one_page(Compression::NONE)).unwrap();
    let engine = engine();
    let plan = raw_plan(&ntuple, 1000);
    let task = plan.tasks[0].clone();
    let Stored::Range(range) = task.stored.clone() else { panic!("in the file") };
    // The page in three parts: what a writer makes that puts no checksums behind pages.
    let mut cut = plan.clone();
    let part = |from: u64, to: u64| {
        let mut part = task.clone();
        (part.entries, part.wanted, part.note) = (from..to, from..to, 0);
        part.stored = Stored::Range(range.start + 4 * from..range.start + 4 * to);
        part
    };
    cut.tasks = vec![part(0, 300), part(300, 301), part(301, 1000)];
    let mut joined = cut.clone();
    joined.join(&NtupleFormat);
    assert_eq!(joined.tasks.len(), 1);
    let block = engine.raw(&joined, 0, &source, &NtupleFormat).unwrap();
    assert_eq!((block.entries, block.payload.len()), (0..1000, 4000));
    // Neither pages with a checksum, nor some with a gap, nor some of another order, nor compressed ones.
    for change in 0..4 {
        let mut other = cut.clone();
        match change {
            0 => other.tasks.iter_mut().for_each(|task| task.note = 1),
            1 => other.tasks[1].stored = Stored::Range(range.start + 1204..range.start + 1208),
            2 => other.tasks.swap(0, 2),
            _ => other.tasks.iter_mut().for_each(|task| {
                task.entries.end += 1;
                task.wanted.end += 1;
            }),
        }
        let before = other.tasks.len();
        other.join(&NtupleFormat);
        assert_eq!(other.tasks.len(), before, "change {change}");
    }
}
