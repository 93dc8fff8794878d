//! Many files as one table: the same as the files one after the other.
#![cfg(all(feature = "root", feature = "parquet-write", feature = "avro"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use forthwith::{
    AlikeStep, Chain, ChainOptions, Damage, File, FileEntries, MissingColumns, PayloadStep, SchemaColumns,
    SchemaOptions, SelectOptions, Step, UnitedColumn, Unlike,
    columns::{Array, Column, DType, Form},
    plan::WriteOptions,
};
use std::path::{Path, PathBuf};

fn number(dtype: DType) -> Form {
    Form::Numpy { key: "node0".into(), dtype, shape: vec![] }
}

fn whole(values: &[i32]) -> Array {
    let columns = vec![("node0-data".to_owned(), Column::from_slice(values))];
    Array { form: number(DType::Int32), length: values.len() as u64, columns }
}

fn floating(values: &[f64]) -> Array {
    let columns = vec![("node0-data".to_owned(), Column::from_slice(values))];
    Array { form: number(DType::Float64), length: values.len() as u64, columns }
}

fn texts(values: &[&str]) -> Array {
    let mut offsets = vec![0_i64];
    for value in values {
        offsets.push(offsets.last().unwrap() + value.len() as i64);
    }
    let bytes: Vec<u8> = values.concat().into_bytes();
    let columns = vec![
        ("node0-offsets".to_owned(), Column::from_slice(&offsets)),
        ("node0-data".to_owned(), Column::from_slice(&bytes)),
    ];
    let form = Form::String { key: "node0".into(), binary: false };
    Array { form, length: values.len() as u64, columns }
}

fn write(path: &Path, columns: &[(&str, Array)]) {
    let named: Vec<(String, Form)> =
        columns.iter().map(|(name, array)| ((*name).to_owned(), array.form.clone())).collect();
    let mut writer = forthwith::create(path.to_str().unwrap(), &named, &WriteOptions::default()).unwrap();
    let arrays: Vec<Array> = columns.iter().map(|(_, array)| array.clone()).collect();
    writer.write(&arrays).unwrap();
    writer.finish().unwrap();
}

/// Rows as text, one line each.
fn lines(array: &Array) -> Vec<String> {
    array.preview(0..array.length, usize::MAX).to_string().lines().map(str::to_owned).collect()
}

/// Files of 0, 1, 2, … rows in a format, and the folder that has them.
fn files(ending: &str, count: usize) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = (0..count).map(|at| {
        let path = folder.path().join(format!("run-{at:03}.{ending}"));
        let numbers: Vec<i32> = (0..at as i32).map(|row| 100 * at as i32 + row).collect();
        let words: Vec<String> = numbers.iter().map(|number| "x".repeat(*number as usize % 5)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        write(&path, &[("n", whole(&numbers)), ("s", texts(&words))]);
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn one_by_one(paths: &[PathBuf], name: &str) -> Vec<String> {
    let of_file = |path: &PathBuf| {
        let file = File::open(path).unwrap();
        let only = file.keys("", true).unwrap().into_iter().find(|key| key.is_table).unwrap();
        lines(&file.table(&only.path).unwrap().column(name).unwrap())
    };
    paths.iter().flat_map(of_file).collect()
}

fn options(threads: usize) -> ChainOptions {
    let engine = forthwith::Engine::new(forthwith::Options::with_threads(threads));
    ChainOptions { engine: Some(engine.into()), ..ChainOptions::default() }
}

#[test]
fn columns_are_those_of_the_files_one_after_the_other() {
    for ending in ["root", "parquet", "avro"] {
        let (folder, paths) = files(ending, 70);
        let pattern = folder.path().join(format!("run-*.{ending}"));
        for threads in [1, 3] {
            let chain = Chain::of(&[pattern.to_str().unwrap()], options(threads)).unwrap();
            assert_eq!(chain.len(), 70);
            let columns = chain.columns(&["s", "n"]).unwrap();
            assert_eq!(lines(&columns[1]), one_by_one(&paths, "n"));
            assert_eq!(lines(&columns[0]), one_by_one(&paths, "s"));
            assert_eq!(chain.entries().unwrap(), (0..70).sum::<u64>());
            for (from, to) in [(0, 1), (5, 5), (100, 700), (2000, 9000), (9000, 9001)] {
                let part = chain.select(&["n"], SelectOptions::default()).unwrap();
                let part = part.read(from..to, None, None).unwrap();
                let all = one_by_one(&paths, "n");
                let end = (to as usize).min(all.len());
                assert_eq!(lines(&part.arrays[0]), all[(from as usize).min(end)..end]);
            }
        }
    }
}

#[test]
fn cuts_and_steps_count_entries_in_all_files() {
    let (folder, paths) = files("root", 40);
    let name = format!("{}/run-*.root", folder.path().display());
    for threads in [1, 4] {
        let chain = Chain::of(&[&name], options(threads)).unwrap();
        let cut = SelectOptions { cut: Some("n % 3 == 0".into()), ..SelectOptions::default() };
        let selection = chain.select(&["n + 1", "Entry$"], cut).unwrap();
        let selected = selection.read(.., None, None).unwrap();
        let kept: Vec<String> = selected.kept.unwrap().iter().map(u64::to_string).collect();
        assert_eq!(lines(&selected.arrays[1]), kept);
        let all = one_by_one(&paths, "n");
        let expected = all.iter().map(|text| text.parse::<i64>().unwrap()).filter(|n| n % 3 == 0);
        let expected: Vec<String> = expected.map(|n| (n + 1).to_string()).collect();
        assert_eq!(lines(&selected.arrays[0]), expected);
        let (mut stepped, mut entries) = (Vec::new(), 0);
        for step in selection.steps(.., Step::Entries(7)).unwrap() {
            let step = step.unwrap();
            assert_eq!(step.before + step.entries.start, entries);
            entries = step.before + step.entries.end;
            stepped.extend(lines(&step.arrays[0]));
        }
        assert_eq!((stepped, entries), (expected, chain.entries().unwrap()));
        let some = SelectOptions { entries: Some(vec![0, 3, 500, 779]), ..SelectOptions::default() };
        let some = chain.select(&["n"], some).unwrap().read(.., None, None).unwrap();
        let expected: Vec<String> = [0, 3, 500, 779].iter().map(|at| all[*at].clone()).collect();
        assert_eq!(lines(&some.arrays[0]), expected);
    }
}

#[test]
fn types_become_their_common_one_and_missing_columns_null() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("a.parquet"), &[("x", whole(&[1, 2])), ("y", whole(&[7, 8]))]);
    write(&path("b.parquet"), &[("x", floating(&[0.5]))]);
    write(&path("c.parquet"), &[("y", whole(&[9])), ("x", whole(&[3]))]);
    let name = format!("{}/*.parquet", folder.path().display());
    let chain = Chain::open(&name).unwrap();
    let x = chain.columns(&["x"]).unwrap().remove(0);
    assert_eq!(
        (x.form.type_string().as_str(), lines(&x)),
        ("float64", vec!["1".into(), "2".into(), "0.5".into(), "3".into()])
    );
    assert_eq!(chain.names().unwrap(), ["x"]);
    let error = chain.columns(&["y"]).unwrap_err().to_string();
    assert!(error.contains("b.parquet") && error.contains('y'), "{error}");
    let chain = Chain::of(&[&name], ChainOptions { missing: MissingColumns::Null, ..options(2) }).unwrap();
    assert_eq!(chain.names().unwrap(), ["x", "y"]);
    let selection = chain.select(&["y", "x + y"], SelectOptions::default()).unwrap();
    assert_eq!(selection.forms()[0].type_string(), "?int32");
    let read = selection.read(.., None, None).unwrap();
    assert_eq!(lines(&read.arrays[0]), ["7", "8", "None", "9"]);
    assert_eq!(lines(&read.arrays[1]), ["8", "10", "None", "12"]);
    let steps: Vec<String> = selection
        .steps(1..4, Step::Entries(2))
        .unwrap()
        .flat_map(|step| lines(&step.unwrap().arrays[0]))
        .collect();
    assert_eq!(steps, ["8", "None", "9"]);
}

#[test]
fn hive_partitions_are_columns() {
    let folder = tempfile::tempdir().unwrap();
    for day in [3, 12] {
        let inner = folder.path().join(format!("day={day}"));
        std::fs::create_dir(&inner).unwrap();
        write(&inner.join("part.parquet"), &[("x", whole(&[day, day + 1]))]);
    }
    let chain = Chain::open(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(chain.names().unwrap(), ["x", "day"]);
    let columns = chain.columns(&["day", "x"]).unwrap();
    assert_eq!(lines(&columns[0]), ["12", "12", "3", "3"]);
    assert_eq!(lines(&columns[1]), ["12", "13", "3", "4"]);
}

#[test]
fn damage_is_left_out_or_missing_and_listed() {
    let (folder, paths) = files("root", 6);
    let mut bytes = std::fs::read(&paths[4]).unwrap();
    // The basket of the numbers: their big-endian bytes stand in it as they are.
    let at = bytes.windows(8).position(|window| window == [0, 0, 1, 144, 0, 0, 1, 145]);
    if let Some(at) = at {
        bytes.truncate(at + 2);
    } else {
        let middle = bytes.len() / 2;
        bytes.truncate(middle);
    }
    std::fs::write(&paths[4], bytes).unwrap();
    let name = format!("{}/run-*.root", folder.path().display());
    let error = Chain::open(&name).unwrap().columns(&["n"]).unwrap_err();
    assert!(error.to_string().contains("run-004.root"), "{error}");
    let chain = Chain::of(&[&name], ChainOptions { damage: Damage::Skip, ..options(2) }).unwrap();
    let read = chain.select(&["n"], SelectOptions::default()).unwrap().read(.., None, None).unwrap();
    let mut sound = paths.clone();
    sound.remove(4);
    assert_eq!(lines(&read.arrays[0]), one_by_one(&sound, "n"));
    assert_eq!(read.lost.iter().map(|lost| lost.file).collect::<Vec<_>>(), [4]);
    let mut steps = chain.steps(&["n"], .., Step::Entries(2)).unwrap();
    let mut lost = 0;
    while let Some(step) = steps.read(None, &mut |_| true).unwrap() {
        lost += step.lost.len();
    }
    assert_eq!(lost, 1);
}

#[test]
fn a_chain_without_files_and_unknown_tables_are_errors() {
    assert!(Chain::new(Vec::new(), ChainOptions::default()).is_err());
    assert!(Chain::open("/nowhere/at/all-*.root:t").is_err());
    let (_folder, paths) = files("root", 2);
    let chain = Chain::open(format!("{}:nothing", paths[1].display())).unwrap();
    let error = chain.columns(&["n"]).unwrap_err().to_string();
    assert!(error.contains("nothing"), "{error}");
}

/// Steps of a chain whose columns are named for each unknown file: the rows, the files that were asked about, and the losses.
fn stepped(chain: &Chain, columns: &[&str], options: SelectOptions) -> (Vec<String>, Vec<usize>, usize) {
    let mut steps = chain.alike_steps(options, .., Step::Entries(2));
    let (mut rows, mut asked, mut lost) = (Vec::new(), Vec::new(), 0);
    while let Some(step) = steps.read(None, &mut |_| true).unwrap() {
        match step {
            AlikeStep::Read { step, .. } => {
                lost += step.lost.len();
                rows.extend(lines(&step.arrays[0]));
            }
            AlikeStep::Unknown { file, .. } => {
                asked.push(file);
                let Ok(table) = chain.table(file) else { continue };
                let named: Vec<_> = columns.iter().map(|name| (*name, table.found(name).unwrap())).collect();
                steps.begin_like(&table, &named, SchemaOptions::default()).unwrap();
            }
        }
    }
    (rows, asked, lost)
}

#[test]
fn each_schema_is_asked_about_once() {
    let (folder, paths) = files("parquet", 7);
    for at in [2, 5] {
        write(&paths[at], &[("n", floating(&[0.5, 1.5]))]);
    }
    let chain = Chain::open(format!("{}/run-*.parquet", folder.path().display())).unwrap();
    let (rows, asked, _) = stepped(&chain, &["n"], SelectOptions::default());
    assert_eq!(rows, one_by_one(&paths, "n"));
    assert_eq!(asked, [0, 2]);
    let entries = SelectOptions { entries: Some(vec![0, 1, 3, 9]), ..SelectOptions::default() };
    let (rows, ..) = stepped(&chain, &["n"], entries);
    let all = one_by_one(&paths, "n");
    assert_eq!(rows, [0, 1, 3, 9].map(|entry: usize| all[entry].clone()));
    // Files that are passed have no entries of the range.
    let mut steps = chain.alike_steps(SelectOptions::default(), 4.., Step::Entries(100));
    let Some(AlikeStep::Unknown { file, before }) = steps.read(None, &mut |_| true).unwrap() else {
        panic!("no file is asked about")
    };
    assert_eq!((file, before), (3, 3));
    steps.pass(3);
    assert!(steps.begin_like(&chain.table(3).unwrap(), &[("n", Some(0))], SchemaOptions::default()).is_err());
}

#[test]
fn files_that_cannot_be_opened_are_asked_about() {
    let (folder, paths) = files("avro", 5);
    std::fs::write(&paths[3], b"nothing").unwrap();
    let name = format!("{}/run-*.avro", folder.path().display());
    let chain = Chain::of(&[&name], ChainOptions { damage: Damage::Skip, ..options(2) }).unwrap();
    let (rows, asked, lost) = stepped(&chain, &["n"], SelectOptions::default());
    let mut sound = paths.clone();
    sound.remove(3);
    assert_eq!(rows, one_by_one(&sound, "n"));
    assert_eq!((asked, lost), (vec![0, 3], 0));
    assert_eq!(chain.lengths().unwrap(), [0, 1, 2, 0, 4]);
}

#[test]
fn steps_by_payload_follow_the_sizes_of_each_file() {
    let (folder, paths) = files("root", 6);
    // A file without entries, and with another column.
    write(&paths[3], &[("m", whole(&[]))]);
    let chain = Chain::open(format!("{}/run-*.root", folder.path().display())).unwrap();
    for returns_empty in [false, true] {
        let steps = chain.alike_steps(SelectOptions::default(), .., Step::Entries(1000));
        let mut steps = steps.with_empty_files(returns_empty);
        let (mut found, mut asked) = (Vec::new(), Vec::new());
        while let Some(step) = steps.read(None, &mut |_| true).unwrap() {
            match step {
                AlikeStep::Read { step, .. } => found.push((step.file, step.entries)),
                AlikeStep::Unknown { file, .. } => {
                    asked.push(file);
                    let table = chain.table(file).unwrap();
                    let Some(field) = table.found("n").unwrap() else {
                        steps.pass(0);
                        continue;
                    };
                    let payload_step = Some(PayloadStep { bytes: 200, fields: vec![field, field] });
                    let options = SchemaOptions { payload_step, ..SchemaOptions::default() };
                    steps.begin_like(&table, &[("n", Some(field))], options).unwrap();
                }
            }
        }
        assert_eq!(asked, if returns_empty { vec![0, 3] } else { vec![0] });
        let mut expected = Vec::new();
        for file in [1, 2, 4, 5] {
            let table = chain.table(file).unwrap();
            let payload = 2 * table.describe(table.find("n").unwrap()).unwrap().payload_bytes;
            let (entries, mut start) = (table.entries().unwrap(), 0);
            let step = ((200.0 * entries as f64 / payload as f64).round_ties_even() as u64).max(1);
            while start < entries {
                expected.push((file, start..(start + step).min(entries)));
                start += step;
            }
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn schemas_may_have_names_of_types() {
    let (_folder, paths) = files("root", 3);
    let parquet = paths[1].with_extension("parquet");
    write(&parquet, &[("n", whole(&[7, 8])), ("s", texts(&["a", ""]))]);
    let names = [&paths[1], &parquet, &paths[2]].map(|path| path.to_str().unwrap().to_owned());
    let chain = Chain::of(&names, ChainOptions::default()).unwrap();
    for (has_type_names, expected) in [(false, vec![0]), (true, vec![0, 1])] {
        let mut steps = chain.alike_steps(SelectOptions::default(), .., Step::Entries(10));
        let (mut rows, mut asked) = (Vec::new(), Vec::new());
        while let Some(step) = steps.read(None, &mut |_| true).unwrap() {
            match step {
                AlikeStep::Read { step, .. } => rows.extend(lines(&step.arrays[0])),
                AlikeStep::Unknown { file, .. } => {
                    asked.push(file);
                    let options = SchemaOptions { has_type_names, ..SchemaOptions::default() };
                    steps.begin_like(&chain.table(file).unwrap(), &[("n", Some(0))], options).unwrap();
                }
            }
        }
        assert_eq!(rows, ["100", "7", "8", "200", "201"]);
        assert_eq!(asked, expected);
    }
}

#[test]
fn ranges_of_each_file_are_those_of_slices() {
    let (folder, paths) = files("root", 6);
    let chain = Chain::open(format!("{}/run-*.root", folder.path().display())).unwrap();
    let all: Vec<Vec<String>> =
        paths.iter().map(|path| one_by_one(std::slice::from_ref(path), "n")).collect();
    let bounds = [None, Some(0), Some(1), Some(-2), Some(4), Some(i64::MIN), Some(i64::MAX)];
    for (start, stop) in bounds.into_iter().flat_map(|start| bounds.map(|stop| (start, stop))) {
        let entries = FileEntries { start, stop };
        let steps = chain.alike_steps(SelectOptions::default(), .., Step::Entries(2));
        let mut steps = steps.with_file_entries(entries);
        let mut rows = Vec::new();
        while let Some(step) = steps.read(None, &mut |_| true).unwrap() {
            match step {
                AlikeStep::Read { step, .. } => rows.extend(lines(&step.arrays[0])),
                AlikeStep::Unknown { file, .. } => {
                    let table = chain.table(file).unwrap();
                    steps.begin_like(&table, &[("n", Some(0))], SchemaOptions::default()).unwrap();
                }
            }
        }
        let expected = all.iter().flat_map(|rows| {
            let Some(length) = i64::try_from(rows.len()).ok() else { return Vec::new() };
            let resolve = |bound: i64| {
                if bound < 0 { length.saturating_add(bound).max(0) } else { bound.min(length) }
            };
            let (start, stop) = (start.map_or(0, resolve), stop.map_or(length, resolve));
            rows[start as usize..stop.max(start) as usize].to_vec()
        });
        assert_eq!(rows, expected.collect::<Vec<_>>(), "{start:?} {stop:?}");
        assert_eq!(steps.entries_before(), 15);
    }
}

#[test]
fn files_of_several_schemas_are_read_in_runs() {
    let (folder, paths) = files("parquet", 7);
    for at in [3, 4] {
        let rows: Vec<f64> = (0..at).map(|row| f64::from(row) + 0.5).collect();
        write(&paths[at as usize], &[("m", floating(&rows)), ("n", floating(&rows))]);
    }
    let chain = Chain::open(format!("{}/run-*.parquet", folder.path().display())).unwrap();
    let of_file = vec![0, 0, 0, 1, 1, 0, 0];
    let all = one_by_one(&paths, "n");
    let schemas = |form: Option<Form>| -> Vec<SchemaColumns> {
        let schema = |file: usize| {
            let table = chain.table(file).unwrap();
            let field = table.found("n").unwrap();
            let united = form.clone().map(|form| UnitedColumn { name: "n".into(), field, form });
            let fields = vec![if form.is_some() { None } else { field }];
            SchemaColumns { table, file, fields, united: united.into_iter().collect(), group: 0 }
        };
        vec![schema(1), schema(3)]
    };
    let cut = SelectOptions { cut: Some("n >= 2".into()), ..SelectOptions::default() };
    for (options, expected) in [
        (SelectOptions::default(), all.clone()),
        (cut, all.iter().filter(|row| row.parse::<f64>().unwrap() >= 2.0).cloned().collect()),
    ] {
        let selection =
            chain.select_schemas(&["n"], schemas(None), of_file.clone(), options.clone()).unwrap();
        let runs = selection.read_runs(.., Some(2), None).unwrap().unwrap();
        let bounds: Vec<_> = runs.iter().map(|run| (run.file, run.selected.entries.clone())).collect();
        assert_eq!(bounds, [(1, 0..3), (3, 3..10), (5, 10..21)]);
        assert_eq!(runs.iter().flat_map(|run| lines(&run.selected.arrays[0])).collect::<Vec<_>>(), expected);
        let united = schemas(Some(number(DType::Float64)));
        let selection = chain.select_schemas(&["n"], united, of_file.clone(), options).unwrap();
        let mut runs = selection.read_runs(.., Some(2), None).unwrap().unwrap();
        assert_eq!((runs.len(), runs[0].selected.entries.clone()), (1, 0..21));
        assert_eq!(lines(&runs.remove(0).selected.arrays[0]), expected);
    }
    // Types that are equal are of two runs where groups differ.
    for cut in [None, Some("n >= 0".to_owned())] {
        let mut grouped = schemas(Some(number(DType::Float64)));
        grouped[1].group = 1;
        let options = SelectOptions { cut, ..SelectOptions::default() };
        let selection = chain.select_schemas(&["n"], grouped, of_file.clone(), options).unwrap();
        let runs = selection.read_runs(.., Some(2), None).unwrap().unwrap();
        assert_eq!(runs.iter().map(|run| run.file).collect::<Vec<_>>(), [1, 3, 5]);
    }
    let selection = || chain.select_schemas(&["n"], schemas(None), of_file.clone(), SelectOptions::default());
    let part = selection().unwrap().read_runs(2..5, None, None).unwrap().unwrap();
    assert_eq!(part.iter().map(|run| run.selected.entries.clone()).collect::<Vec<_>>(), [2..3, 3..5]);
    assert!(selection().unwrap().read_runs(90..95, None, None).unwrap().is_none());
    assert_eq!(selection().unwrap().read_alike(.., None, None).unwrap().err(), Some(Unlike::Types));
    // A file of another schema than was said.
    let wrong = vec![0, 0, 0, 1, 0, 0, 0];
    let selection = chain.select_schemas(&["n"], schemas(None), wrong, SelectOptions::default()).unwrap();
    assert!(selection.read_runs(.., None, None).unwrap().is_none());
    for of_file in [vec![0; 6], vec![2; 7]] {
        assert!(chain.select_schemas(&["n"], schemas(None), of_file, SelectOptions::default()).is_err());
    }
}

#[test]
fn schemas_are_counted_up_to_a_limit() {
    let (folder, paths) = files("parquet", 5);
    for at in [1, 3] {
        write(&paths[at], &[(["m", "q"][at / 2], floating(&[0.5]))]);
    }
    let chain = Chain::open(format!("{}/run-*.parquet", folder.path().display())).unwrap();
    assert_eq!(chain.same_schemas(usize::MAX).unwrap(), Some(vec![0, 1, 0, 3, 0]));
    assert_eq!(chain.same_schemas(3).unwrap(), Some(vec![0, 1, 0, 3, 0]));
    assert_eq!(chain.same_schemas(2).unwrap(), None);
}

#[test]
fn files_are_not_read_as_one_for_a_reason() {
    let (_folder, paths) = files("parquet", 4);
    let why = |chain: &Chain| {
        let first = chain.table(1).unwrap();
        let field = first.found("n").unwrap();
        let selection = chain.select_like(&first, &[("n", field)], SelectOptions::default()).unwrap();
        selection.read_alike(.., Some(2), None).unwrap().err()
    };
    let names: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let chain = || Chain::of(&names, options(2)).unwrap();
    assert_eq!(why(&chain()), None);
    let sound = std::fs::read(&paths[3]).unwrap();
    std::fs::write(&paths[3], &sound[..sound.len() / 2]).unwrap();
    assert_eq!(why(&chain()), Some(Unlike::Unreadable));
    // The first bytes of the data.
    let damaged: Vec<u8> =
        (0..).zip(&sound).map(|(at, byte)| if (4..40).contains(&at) { 0xff } else { *byte }).collect();
    std::fs::write(&paths[3], damaged).unwrap();
    assert_eq!(why(&chain()), Some(Unlike::Unreadable));
    write(&paths[3], &[("m", whole(&[1]))]);
    assert_eq!(why(&chain()), Some(Unlike::Types));
}
