//! Entries of many files as structs.
#![cfg(all(feature = "root", feature = "parquet-write", feature = "derive"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use forthwith::{Chain, ChainFile, ChainOptions, Damage, MissingColumns, Row, Step, Writer, rows::Be};
use std::path::PathBuf;

#[derive(Row, Clone, Debug, PartialEq)]
struct Event {
    number: i64,
    energy: f32,
    hits: Vec<f32>,
}

#[derive(Row)]
struct Borrowed<'a> {
    number: i64,
    energy: f64,
    hits: &'a [f32],
}

#[derive(Row)]
struct Wide {
    number: i64,
    energy: f64,
    hits: Vec<f32>,
    flag: i32,
}

#[derive(Row)]
struct Texts {
    number: String,
    energy: f32,
    hits: Vec<f32>,
}

#[derive(Row)]
struct WithDefault {
    number: i64,
    #[row(default)]
    flag: i32,
}

#[derive(Row)]
struct WithOption {
    number: i64,
    flag: Option<i32>,
}

fn event(number: i64) -> Event {
    let hits = (0..number % 4).map(|at| (at + number) as f32).collect();
    Event { number, energy: number as f32 / 2.0, hits }
}

fn write<R: Row>(path: &std::path::Path, rows: impl Iterator<Item = R>) {
    let mut writer = Writer::<R>::create(path.to_str().unwrap()).unwrap();
    rows.for_each(|row| writer.push(&row).unwrap());
    writer.finish().unwrap();
}

/// Files with these numbers of entries, in turn of two formats.
fn files(folder: &std::path::Path, lengths: &[i64]) -> Vec<ChainFile> {
    let mut before = 0;
    let file = |(at, length): (usize, &i64)| {
        let path = folder.join(format!("{at}.{}", if at % 2 == 0 { "root" } else { "parquet" }));
        write(&path, (before..before + length).map(event));
        before += length;
        ChainFile { path, ..ChainFile::default() }
    };
    lengths.iter().enumerate().map(file).collect()
}

fn with(path: PathBuf) -> ChainFile {
    ChainFile { path, ..ChainFile::default() }
}

fn refused<R: Row>(chain: &Chain) -> String {
    chain.rows::<R>().err().unwrap().to_string()
}

#[test]
fn rows_of_random_files_are_those_that_were_written() {
    let mut seed = 7_u64;
    let mut below = |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let rounds = std::env::var("FORTHWITH_ROUNDS").map_or(8, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let lengths: Vec<i64> = (0..=below(5)).map(|_| below(60) as i64).collect();
        let total = lengths.iter().sum::<i64>() as u64;
        let chain = Chain::new(files(folder.path(), &lengths), ChainOptions::default()).unwrap();
        let start = below(total + 1);
        let end = start + below(total + 3);
        let cut = below(2) == 0;
        let step = Step::Entries(1 + below(40));
        let rows = || {
            let rows = chain.rows::<Borrowed>().unwrap().range(start..end).step(step);
            if cut { rows.cut("number % 3 != 1") } else { rows }
        };
        let expected: Vec<Event> = (start..end.min(total)).map(|number| event(number as i64)).collect();
        let expected: Vec<Event> =
            expected.into_iter().filter(|event| !cut || event.number % 3 != 1).collect();
        let of = |row: Borrowed<'_>| Event {
            number: row.number,
            energy: row.energy as f32,
            hits: row.hits.to_vec(),
        };
        let mut found = Vec::new();
        rows().for_each(|row| found.push(of(row))).unwrap();
        assert_eq!(found, expected, "{lengths:?} {start}..{end} {step:?}");
        for threads in [1, 3] {
            let found = rows().threads(threads).par_fold(Vec::new, |all, row| all.push(of(row)), Vec::extend);
            assert_eq!(found.unwrap(), expected, "{lengths:?} {start}..{end} {step:?} {threads} threads");
        }
        for batch in rows().batches().unwrap() {
            let batch = batch.unwrap();
            for row in 0..batch.len() {
                assert_eq!(batch.entry(row), batch.get(row).map(|row| row.number as u64));
            }
        }
    }
}

#[test]
fn entries_are_counted_in_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let chain = Chain::new(files(folder.path(), &[5, 0, 7]), ChainOptions::default()).unwrap();
    let mut rows = chain.rows::<Event>().unwrap().entries(vec![1, 4, 5, 11]);
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        found.push(row.number);
    }
    assert_eq!(found, [1, 4, 5, 11]);
}

#[test]
fn types_may_differ_if_all_fit_and_defaults_are_for_files_without_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = files(folder.path(), &[3]);
    let wide = folder.path().join("wide.root");
    write(&wide, (3..5).map(|number| Wide { number, energy: 0.1, hits: vec![], flag: number as i32 }));
    all.push(with(wide));
    let chain = Chain::new(all.clone(), ChainOptions::default()).unwrap();
    let mut found = Vec::new();
    chain.rows::<Borrowed>().unwrap().for_each(|row| found.push(row.energy)).unwrap();
    assert_eq!(found, [0.0, 0.5, 1.0, 0.1, 0.1]);
    let mut found = Vec::new();
    chain.rows::<WithDefault>().unwrap().for_each(|row| found.push((row.number, row.flag))).unwrap();
    assert_eq!(found, [(0, 0), (1, 0), (2, 0), (3, 3), (4, 4)]);

    let text = refused::<WithOption>(&chain);
    assert!(text.contains("flag: there is no column \"flag\"") && text.contains("0.root"), "{text}");
    let options = ChainOptions { missing: MissingColumns::Null, ..ChainOptions::default() };
    let chain = Chain::new(all, options).unwrap();
    let mut found = Vec::new();
    chain.rows::<WithOption>().unwrap().cut("number > 1").for_each(|row| found.push(row.flag)).unwrap();
    assert_eq!(found, [None, Some(3), Some(4)]);
    let text = refused::<Wide>(&chain);
    assert!(text.contains("flag: column \"flag\" is ?int32") && text.contains("0.root and 1 more"), "{text}");
}

#[test]
fn a_file_with_other_types_is_named_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = files(folder.path(), &[3, 2]);
    let other = folder.path().join("other.root");
    write(&other, ["a"].map(|text| Texts { number: text.into(), energy: 1.0, hits: vec![] }).into_iter());
    all.push(with(other));
    let chain = Chain::new(all.clone(), ChainOptions::default()).unwrap();
    let text = refused::<Event>(&chain);
    assert!(text.contains("number: column \"number\" is string") && text.contains("other.root"), "{text}");
    let chain = Chain::new(all[..2].to_vec(), ChainOptions::default()).unwrap();
    #[derive(Row)]
    struct Raw {
        energy: Be<f32>,
    }
    assert!(refused::<Raw>(&chain).contains("raw numbers of several files"));
    let skipping = ChainOptions { damage: Damage::Skip, ..ChainOptions::default() };
    let skipping = Chain::new(all, skipping).unwrap();
    assert!(refused::<Event>(&skipping).contains("leaves damaged entries out"));

    // Files are opened again as they are reached.
    let rows = chain.rows::<Event>().unwrap().threads(1).step(Step::Entries(2));
    std::fs::remove_file(&chain.files()[1].path).unwrap();
    let mut found = 0;
    let failed = rows.for_each(|_| found += 1).unwrap_err().to_string();
    assert!(found == 3 && failed.contains("1.parquet"), "{failed}");
}
