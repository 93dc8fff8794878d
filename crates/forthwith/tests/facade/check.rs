//! Checks of Avro and Parquet files find nothing in whole files, and in damaged ones all that reading them finds, and where.

use forthwith::{
    Engine, File, Options,
    io::{Memory, Source},
    plan::{CheckReport, Finding, Severity},
};
use std::{path::PathBuf, sync::Arc};

fn folder(format: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(format);
    let all = std::fs::read_dir(folder).expect("bundled files").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|e| e == format)).collect();
    files.sort();
    assert!(files.len() > 5, "{format}");
    files
}

fn open(engine: &Arc<Engine>, name: &str, bytes: Vec<u8>) -> forthwith::plan::Result<File> {
    let source: Arc<dyn Source> = Arc::new(Memory::new(name, bytes));
    File::from_source(source, Arc::clone(engine))
}

fn count(report: &CheckReport, name: &str) -> u64 {
    report.counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, number)| *number)
}

/// The first error of reading all there is.
fn read(file: &File) -> forthwith::plan::Result<()> {
    let table = file.table("")?;
    for (number, field) in (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part) {
        if table.describe(number)?.reading.is_ok() {
            table.column(number).map_err(|error| error.in_object(&field.path))?;
        }
    }
    Ok(())
}

#[test]
fn whole_files_are_sound() {
    let engine = Arc::new(Engine::new(Options::default()));
    for (format, part) in [("avro", "blocks"), ("parquet", "row groups")] {
        for path in folder(format) {
            let name = path.display().to_string();
            let bytes = std::fs::read(&path).expect("a bundled file");
            let size = bytes.len() as u64;
            let file = open(&engine, &name, bytes).expect("a whole file");
            let report = file.check().expect("a readable file");
            // Types that no column has are not read, and no damage.
            let is_type = |finding: &Finding| {
                finding.part == "columns"
                    && finding.severity == Severity::Remark
                    && name.ends_with("recursive.avro")
            };
            let findings: Vec<_> = report.findings.iter().filter(|finding| !is_type(finding)).collect();
            assert_eq!(findings, [] as [&Finding; 0], "{name}");
            assert_eq!(count(&report, "bytes"), size, "{name}");
            let rows = count(&report, if format == "avro" { "entries" } else { "rows" });
            assert_eq!(rows, file.table("").unwrap().entries().unwrap(), "{name}");
            assert!(rows == 0 || count(&report, part) > 0, "{name}: {:?}", report.counts);
        }
    }
}

#[test]
fn what_reading_finds_a_check_finds() {
    let engine = Arc::new(Engine::new(Options::default()));
    let mut random = 7u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let mut found = 0;
    for path in folder("avro").into_iter().chain(folder("parquet")) {
        let name = path.display().to_string();
        let whole = std::fs::read(&path).expect("a bundled file");
        for _ in 0..15 {
            let mut damaged = whole.clone();
            let at = next(whole.len());
            damaged[at] ^= 1 << next(8);
            let Ok(file) = open(&engine, &name, damaged) else { continue };
            let report = file.check().expect("a readable source");
            if let Err(error) = read(&file) {
                // A time that nanoseconds do not hold is sound: it is read in microseconds.
                if error.to_string().contains("int96=\"us\"") {
                    continue;
                }
                found += 1;
                assert_eq!(report.severity(), Some(Severity::Damage), "{name}, byte {at}: {error}");
                assert!(report.findings.iter().any(|f| f.byte.is_some()), "{name}: {:?}", report.findings);
            }
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn every_damaged_block_is_found_with_its_place() {
    let engine = Arc::new(Engine::new(Options::default()));
    let path = folder("parquet").into_iter().find(|path| path.ends_with("checksums.parquet")).unwrap();
    let whole = std::fs::read(path).expect("a bundled file");
    let file = open(&engine, "checksums.parquet", whole.clone()).expect("a whole file");
    let table = file.table("").unwrap();
    let own = table.own::<forthwith::parquet::ParquetTable>().expect("a Parquet table");
    let places: Vec<_> = (0..own.row_groups().len() as u64).map(|group| group.to_string()).collect();
    assert!(!places.is_empty());
    // The last byte of every column chunk of a column is of its last page.
    let plan = table.plan(&[0u32, 1], ..).unwrap();
    let mut damaged = whole;
    let ends: Vec<_> = plan
        .tasks
        .iter()
        .map(|task| match &task.stored {
            forthwith::plan::Stored::Range(range) => range.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    ends.iter().for_each(|range| damaged[range.end as usize - 1] ^= 0x10);
    let report = open(&engine, "checksums.parquet", damaged).unwrap().check().unwrap();
    assert_eq!(report.findings.len(), ends.len(), "{:#?}", report.findings);
    for range in ends {
        let here = |byte: Option<u64>| byte.is_some_and(|byte| range.contains(&byte));
        assert!(report.findings.iter().any(|finding| here(finding.byte)), "{:#?}", report.findings);
    }
}

#[test]
fn a_check_goes_on_behind_a_damaged_block() {
    let engine = Arc::new(Engine::new(Options::default()));
    let path = folder("avro").into_iter().find(|path| path.ends_with("codec-snappy.avro")).unwrap();
    let whole = std::fs::read(path).expect("a bundled file");
    let file = open(&engine, "codec-snappy.avro", whole.clone()).expect("a whole file");
    let avro = file.own::<forthwith::avro::AvroFile>().expect("an Avro file");
    let blocks = avro.table(&forthwith::avro::Options::default()).unwrap().blocks().unwrap();
    assert!(blocks.len() > 2, "{}", blocks.len());
    let mut damaged = whole;
    // The marker of the first, and what is in the last.
    damaged[blocks[0].bytes.end as usize - 1] ^= 1;
    let last = &blocks[blocks.len() - 1].bytes;
    damaged[last.end as usize - 17] ^= 0xff;
    let report = open(&engine, "codec-snappy.avro", damaged).unwrap().check().unwrap();
    let bytes: Vec<_> = report.findings.iter().map(|finding| finding.byte).collect();
    assert_eq!(bytes, [Some(blocks[0].bytes.start), Some(last.start)], "{:#?}", report.findings);
}
