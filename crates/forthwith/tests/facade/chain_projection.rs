//! Fields that are chosen file by file, and tables that the caller opens.
#![cfg(all(feature = "parquet-write", feature = "avro"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use forthwith::{
    Chain, ChainFile, ChainOptions, ChainProjection, Damage, File, FileProjection, MissingColumns,
    ProjectedField, SelectOptions, Step,
    columns::{Array, Column, Form},
    plan::WriteOptions,
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

fn write(path: &Path, columns: &[(&str, Column)]) -> String {
    let form = |name: &str, column: &Column| Form::Numpy {
        key: name.to_owned(),
        dtype: column.dtype(),
        shape: vec![],
    };
    let fields: Vec<_> =
        columns.iter().map(|(name, column)| ((*name).to_owned(), form(name, column))).collect();
    let array = |(name, column): &(&str, Column)| Array {
        form: form(name, column),
        length: column.len() as u64,
        columns: vec![(format!("{name}-data"), column.clone())],
    };
    let arrays: Vec<_> = columns.iter().map(array).collect();
    let path = path.to_str().unwrap();
    let options = WriteOptions { block_entries: Some(2), ..WriteOptions::default() };
    let mut writer = forthwith::create(path, &fields, &options).unwrap();
    writer.write(&arrays).unwrap();
    writer.finish().unwrap();
    path.to_owned()
}

/// All values as text.
fn text(array: &Array) -> String {
    let all = array.preview(0..array.length, usize::MAX).to_string();
    all.lines().collect::<Vec<_>>().join(" ")
}

/// Chooses these columns of a file, as far as it has them.
fn project(chain: &Chain, file: usize, names: &[&str], used: &[&str]) -> FileProjection {
    let table = chain.table(file).unwrap();
    let field = |name: &&str| {
        let field = table.find(name).ok()?;
        Some(ProjectedField { name: (*name).to_owned(), field, form: table.form(field).unwrap() })
    };
    FileProjection {
        uri: table.file().uri().to_owned(),
        columns: names.iter().filter_map(field).collect(),
        used: used.iter().filter_map(field).collect(),
        entries: None,
    }
}

fn files(folder: &Path) -> [String; 3] {
    let one = [("x", Column::from_slice(&[1i32, 2, 3])), ("y", Column::from_slice(&[10i64, 20, 30]))];
    let two = [("z", Column::from_slice(&[7i64, 8])), ("x", Column::from_slice(&[0.5f64, 4.0]))];
    let none = [("x", Column::from_slice::<i32>(&[])), ("y", Column::from_slice::<i64>(&[]))];
    [("a.parquet", &one), ("b.avro", &two), ("c.parquet", &none)]
        .map(|(name, columns)| write(&folder.join(name), columns))
}

fn chain(names: &[&str], missing: MissingColumns) -> Chain {
    Chain::of(names, ChainOptions { missing, ..ChainOptions::default() }).unwrap()
}

#[test]
fn fields_of_each_file_are_columns_in_common_types() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, none] = files(folder.path());
    let missing = MissingColumns::Null;
    let chain = chain(&[&one, &none, &two], missing);
    let all = (0..3).map(|file| project(&chain, file, &["x", "y"], &["z"])).collect();
    let projection = Arc::new(ChainProjection::unite(all, missing).unwrap());
    let columns: Vec<_> = projection.columns().map(|(name, form)| (name, form.type_string())).collect();
    assert_eq!(columns, [("x", "float64".to_owned()), ("y", "?int64".to_owned())]);
    let read = |computed: &[&str], options: SelectOptions| {
        let selection = chain.select_projected(&projection, computed, options).unwrap();
        let at_once = selection.read(.., None, None).unwrap();
        // Steps have the same rows.
        let mut rows: Vec<Vec<String>> = vec![Vec::new(); selection.names().len()];
        let mut entries = Vec::new();
        for step in selection.steps(.., Step::Entries(1)).unwrap() {
            let step = step.unwrap();
            let kept = step.kept.unwrap_or_else(|| step.entries.collect());
            entries.extend(kept.into_iter().map(|entry| entry + step.before));
            for (rows, array) in rows.iter_mut().zip(&step.arrays).filter(|(_, array)| array.length > 0) {
                rows.push(text(array));
            }
        }
        let whole: Vec<String> = at_once.arrays.iter().map(text).collect();
        assert_eq!(rows.iter().map(|rows| rows.join(" ")).collect::<Vec<_>>(), whole);
        assert_eq!(at_once.kept.unwrap_or_else(|| at_once.entries.collect()), entries);
        (whole, entries)
    };
    let (columns, entries) = read(&[], SelectOptions::default());
    assert_eq!(
        (columns, entries),
        (vec!["1 2 3 0.5 4".into(), "10 20 30 None None".into()], vec![0, 1, 2, 3, 4])
    );
    let options = SelectOptions {
        cut: Some("x > 1".into()),
        aliases: vec![("w".into(), "x * 2 + z".into())],
        ..SelectOptions::default()
    };
    let (columns, entries) = read(&["w"], options);
    assert_eq!(columns, ["2 3 4", "20 30 None", "None None 16"]);
    assert_eq!(entries, [1, 2, 4]);
    let options = SelectOptions { entries: Some(vec![0, 2, 4]), ..SelectOptions::default() };
    assert_eq!(read(&[], options).0, ["1 3 4", "10 30 None"]);
}

#[test]
fn a_part_of_the_entries_of_a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let [one, _, none] = files(folder.path());
    let chain = chain(&[&one, &none, &one], MissingColumns::Raise);
    let mut all: Vec<_> = (0..3).map(|file| project(&chain, file, &["x"], &[])).collect();
    all[0].entries = Some(1..3);
    all[2].entries = Some(0..2);
    let projection = Arc::new(ChainProjection::unite(all, MissingColumns::Raise).unwrap());
    let selection = chain.select_projected(&projection, &[], SelectOptions::default()).unwrap();
    let read = selection.read(.., None, None).unwrap();
    assert_eq!((text(&read.arrays[0]), read.kept), ("2 3 1 2".to_owned(), Some(vec![1, 2, 3, 4])));
    let read = selection.read(2..4, None, None).unwrap();
    assert_eq!(text(&read.arrays[0]), "3 1");
    for step in [Step::Entries(1), Step::Bytes(u64::MAX)] {
        let steps = selection.steps(1..6, step).unwrap().map(Result::unwrap);
        assert_eq!(steps.map(|step| text(&step.arrays[0])).collect::<Vec<_>>().join(" "), "2 3 1 2");
    }
    // A projection of other files.
    let error = chain.select_projected(&Arc::default(), &[], SelectOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "a projection of 0 files for a chain of 3");
}

#[test]
fn the_first_step_may_be_shorter() {
    let folder = tempfile::tempdir().unwrap();
    let [one, ..] = files(folder.path());
    let chain = chain(&[&one, &one], MissingColumns::Raise);
    for (step, expected) in [
        (Step::Bytes(u64::MAX), &[1, 2, 3][..]),
        (Step::Bytes(1 << 20), &[1, 2, 3]),
        (Step::Entries(2), &[1, 2, 2, 1]),
    ] {
        let steps = chain.steps(&["x"], .., step).unwrap().with_first_step(1);
        let lengths: Vec<u64> = steps.map(|step| step.unwrap().arrays[0].length).collect();
        assert_eq!(lengths, expected, "{step:?}");
    }
}

#[test]
fn losses_behind_the_last_step_are_there_to_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, _] = files(folder.path());
    let bytes = std::fs::read(&two).unwrap();
    // Of the only block, and of the file.
    for (name, end) in [("cut.avro", bytes.len() - 20), ("nothing.avro", 10)] {
        let cut = folder.path().join(name);
        std::fs::write(&cut, &bytes[..end]).unwrap();
        let options = ChainOptions { damage: Damage::Skip, ..ChainOptions::default() };
        let chain = Chain::of(&[&one, cut.to_str().unwrap()], options).unwrap();
        let mut steps = chain.steps(&["x"], .., Step::Entries(10)).unwrap();
        let step = steps.read(None, &mut |_| true).unwrap().unwrap();
        assert!(step.arrays[0].length == 3 && step.lost.is_empty());
        assert!(steps.read(None, &mut |_| true).unwrap().is_none());
        let lost = steps.take_lost();
        assert_eq!(lost.iter().map(|loss| loss.file).collect::<Vec<_>>(), [1], "{name}");
        assert!(steps.take_lost().is_empty());
    }
}

#[test]
fn a_function_opens_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, _] = files(folder.path());
    let opened = Arc::new(AtomicUsize::new(0));
    let (count, names) = (Arc::clone(&opened), [one.clone(), two]);
    let file = |name: &str| ChainFile { path: name.into(), ..ChainFile::default() };
    let chain =
        Chain::with_opener(vec![file("first"), file("second")], ChainOptions::default(), move |file| {
            count.fetch_add(1, Ordering::Relaxed);
            File::open(&names[file])?.table("")
        });
    let chain = chain.unwrap();
    assert_eq!((opened.load(Ordering::Relaxed), chain.entries().unwrap()), (0, 5));
    assert_eq!(text(&chain.columns(&["x"]).unwrap()[0]), "1 2 3 0.5 4");
    assert_eq!(chain.map_files(0..2, |file| chain.table(file).unwrap().entries().unwrap()), [3, 2]);
    assert!(Chain::with_opener(Vec::new(), ChainOptions::default(), |_| unreachable!()).is_err());
    // A file that changed after its fields were chosen.
    let projection = FileProjection { uri: one, ..project(&chain, 1, &["x"], &[]) };
    let projection =
        ChainProjection::unite(vec![projection.clone(), projection], MissingColumns::Raise).unwrap();
    let selection = chain.select_projected(&Arc::new(projection), &[], SelectOptions::default()).unwrap();
    let error = selection.read(.., None, None).unwrap_err();
    assert!(error.to_string().starts_with("field 1 is not x any more"), "{error}");
}
