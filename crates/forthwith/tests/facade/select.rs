//! Columns that are computed and entries that are chosen, from file to array.

use forthwith::{
    Engine, File, FileFormat, Friend, Options, SelectOptions, Step, UnitedColumn,
    columns::{Array, Column, DType, Form},
    io,
    plan::{ErrorKind, Result, WriteOptions},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

fn file(name: &str) -> File {
    File::open(format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR")))
        .expect("a file of the repository")
}

fn events() -> forthwith::Table {
    file("zmumu.root").table("events").expect("a tree")
}

fn options(cut: Option<&str>, aliases: &[(&str, &str)]) -> SelectOptions {
    let aliases = aliases.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    SelectOptions { aliases, cut: cut.map(str::to_owned), ..SelectOptions::default() }
}

/// The rows of an array as they are shown.
fn lines(array: &Array) -> Vec<String> {
    let lines = array.preview(0..array.length, 4000).lines().expect("an array");
    lines.into_iter().map(|line| line.to_string()).collect()
}

fn refused(names: &[&str], options: SelectOptions) -> String {
    match events().select(names, options).and_then(|selection| selection.read(.., None, None)) {
        Ok(_) => panic!("{names:?} was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_cut_leaves_the_entries_for_which_it_is_true() -> Result<()> {
    let table = events();
    let cut = options(Some("nMuon > 1"), &[("pt2", "Muon_pt**2")]);
    let selected = table.select(&["pt2", "nMuon", "MET_pt"], cut)?.read(.., None, None)?;
    let kept = selected.kept.expect("entries are chosen");
    let (counts, met) = (table.column("nMuon")?, table.column("MET_pt")?);
    let (counts, met) = (lines(&counts), lines(&met));
    let wanted: Vec<u64> =
        (0..).zip(&counts).filter(|(_, n)| n.parse::<i64>().is_ok_and(|n| n > 1)).map(|(at, _)| at).collect();
    assert!(!wanted.is_empty() && wanted.len() < counts.len());
    assert_eq!(kept, wanted);
    let chosen = |lines: &[String]| wanted.iter().map(|at| lines[*at as usize].clone()).collect::<Vec<_>>();
    assert_eq!(lines(&selected.arrays[1]), chosen(&counts));
    assert_eq!(lines(&selected.arrays[2]), chosen(&met));
    let all = table.select(&["Muon_pt**2"], SelectOptions::default())?.read(.., None, None)?;
    assert_eq!(lines(&selected.arrays[0]), chosen(&lines(&all.arrays[0])));
    Ok(())
}

#[test]
fn steps_and_ranges_have_the_same_entries_as_the_whole() -> Result<()> {
    let table = events();
    let selection =
        table.select(&["MET_pt * 2", "Muon_eta"], options(Some("nMuon == 2 and MET_pt > 20"), &[]))?;
    let whole = selection.read(.., None, None)?;
    for step in [Step::Entries(1), Step::Entries(700), Step::Bytes(10_000)] {
        let range = if step == Step::Entries(1) { 100..160 } else { 0..u64::MAX };
        let (mut kept, mut rows) = (Vec::new(), vec![Vec::new(); 2]);
        for batch in selection.steps(range.clone(), step)? {
            let batch = batch?;
            assert_eq!(batch.kept.as_ref().map(|kept| kept.len() as u64), Some(batch.arrays[0].length));
            kept.extend(batch.kept.unwrap_or_default());
            rows.iter_mut().zip(&batch.arrays).for_each(|(rows, array)| rows.extend(lines(array)));
        }
        let all = whole.kept.clone().unwrap_or_default();
        let wanted = all.iter().enumerate().filter(|(_, entry)| range.contains(entry));
        assert_eq!(kept, wanted.clone().map(|(_, entry)| *entry).collect::<Vec<_>>());
        for (rows, array) in rows.iter().zip(&whole.arrays) {
            let lines = lines(array);
            assert_eq!(*rows, wanted.clone().map(|(at, _)| lines[at].clone()).collect::<Vec<_>>());
        }
    }
    Ok(())
}

#[test]
fn a_column_that_is_selected_twice_is_read_twice() -> Result<()> {
    let read = events().select(&["MET_pt", "nMuon", "MET_pt"], options(None, &[]))?.read(..5, None, None)?;
    assert_eq!(read.arrays.len(), 3);
    assert_eq!(lines(&read.arrays[0]), lines(&read.arrays[2]));
    Ok(())
}

#[test]
fn entries_are_read_as_they_are_listed() -> Result<()> {
    let table = events();
    let whole = lines(&table.column("Muon_pt")?);
    for entries in [vec![], vec![0], vec![3, 5, 6, 3599], (0..3600).collect::<Vec<u64>>()] {
        let options = SelectOptions { entries: Some(entries.clone()), ..SelectOptions::default() };
        let selected = table.select(&["Muon_pt"], options)?.read(.., None, None)?;
        assert_eq!(selected.kept.as_deref(), Some(&entries[..]));
        let wanted: Vec<&String> = entries.iter().map(|entry| &whole[*entry as usize]).collect();
        assert_eq!(lines(&selected.arrays[0]).iter().collect::<Vec<_>>(), wanted);
    }
    let wrong = SelectOptions { entries: Some(vec![2, 2]), ..SelectOptions::default() };
    assert!(refused(&["MET_pt"], wrong).starts_with("entries must be in ascending order"));
    let beyond = SelectOptions { entries: Some(vec![2, 3600]), ..SelectOptions::default() };
    assert!(
        refused(&["MET_pt"], beyond).starts_with("there is no entry 3600: the number of entries is 3600")
    );
    Ok(())
}

#[test]
fn names_of_the_file_win_and_what_cannot_be_computed_says_where() {
    let table = events();
    let plain = table.select(&["MET_pt"], SelectOptions::default()).expect("a column");
    assert_eq!(
        plain.forms().expect("forms"),
        [table.form(table.find("MET_pt").expect("a field")).expect("a form")]
    );
    let error = refused(&["MET_ptt * 2"], SelectOptions::default());
    assert!(error.starts_with("there is no column \"MET_ptt\"; did you mean MET_pt"), "{error}");
    assert!(error.contains("\n    MET_ptt * 2\n    ^^^^^^^\n"), "{error}");
    assert!(matches!(
        table.select(&["MET_ptt"], SelectOptions::default()).map(|_| ()).map_err(|error| error.kind),
        Err(ErrorKind::NotFound { .. })
    ));
    let error = refused(&["MET_pt"], options(Some("Muon_pt > 20"), &[]));
    assert!(
        error.starts_with("the cut \"Muon_pt > 20\" gives var * bool for each entry, not one true or false"),
        "{error}"
    );
    let error = refused(&["MET_pt"], options(Some("nMuon"), &[]));
    assert!(error.starts_with("the cut \"nMuon\" gives int32 for each entry"), "{error}");
    let error = refused(&["MET_pt"], options(None, &[("MET_pt", "1")]));
    assert!(error.starts_with("the alias \"MET_pt\" is the name of a column"), "{error}");
}

#[test]
fn the_aliases_of_a_tree_are_names_as_well() -> Result<()> {
    let file = file("belongings.root");
    let with_aliases = file.keys("", true)?.into_iter().filter(|key| key.is_table).find_map(|key| {
        let table = file.table(&key.path).ok()?;
        let aliases = table.aliases().ok()?;
        (!aliases.is_empty()).then_some((table, aliases))
    });
    let (table, aliases) = with_aliases.expect("a tree with aliases");
    let names: Vec<&str> = aliases.iter().map(|(name, _)| name.as_str()).collect();
    let selected = table.select(&names[..1], SelectOptions::default())?.read(.., None, None)?;
    let direct = table.select(&[&aliases[0].1], SelectOptions::default())?.read(.., None, None)?;
    assert_eq!(lines(&selected.arrays[0]), lines(&direct.arrays[0]));
    Ok(())
}

/// Counts what is read.
struct Counting(Vec<u8>, Arc<AtomicU64>);

impl io::ReadAt for Counting {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        self.1.fetch_add(into.len() as u64, Ordering::Relaxed);
        into.copy_from_slice(&self.0[at as usize..at as usize + into.len()]);
        Ok(into.len())
    }
}

#[test]
fn only_blocks_with_entries_that_pass_are_fetched() {
    const ENTRIES: u64 = 200_000;
    const COLUMNS: u64 = 8;
    let form = |key: &str| Form::Numpy { key: key.into(), dtype: DType::Float64, shape: vec![] };
    let names: Vec<String> = (0..COLUMNS).map(|at| format!("c{at}")).collect();
    let fields: Vec<(String, Form)> = names.iter().map(|name| (name.clone(), form(name))).collect();
    let noise = |seed: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64;
    let numbers = |at: u64| -> Vec<f64> {
        // The first column ascends, so that a cut on it passes neighbours.
        (0..ENTRIES).map(|n| if at == 0 { n as f64 } else { noise(n * COLUMNS + at) }).collect()
    };
    let arrays: Vec<Array> = (0..COLUMNS)
        .zip(&names)
        .map(|(at, name)| Array {
            form: form(name),
            length: ENTRIES,
            columns: vec![(format!("{name}-data"), Column::from_vec(numbers(at)))],
        })
        .collect();
    let sink = io::MemorySink::new("made.parquet");
    let options =
        WriteOptions { codec: Some("none".into()), block_entries: Some(2_000), ..WriteOptions::default() };
    let format = FileFormat::of("made.parquet").expect("it is written");
    let mut writer = forthwith::writer(format, &fields, Box::new(sink.clone()), &options).expect("a writer");
    writer.write(&arrays).expect("room");
    writer.finish().expect("room");
    let bytes = sink.bytes().expect("a whole file").to_vec();
    let all = bytes.len() as u64;
    let read = Arc::new(AtomicU64::new(0));
    let source = io::Callback::new("made.parquet", Box::new(Counting(bytes, Arc::clone(&read))));
    let engine = Arc::new(Engine::new(Options { threads: 2, ..Options::default() }));
    let table = File::from_source(Arc::new(source), engine).and_then(|file| file.table("")).expect("a table");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let selection = table.select(&names, options_of("c0 >= 50000 and c0 < 51000")).expect("a selection");
    let before = read.load(Ordering::Relaxed);
    let selected = selection.read(.., None, None).expect("values");
    let fetched = read.load(Ordering::Relaxed) - before;
    assert_eq!(selected.kept, Some((50_000..51_000).collect::<Vec<u64>>()));
    assert!(selected.arrays.iter().all(|array| array.length == 1000));
    // The column of the cut, and one of a hundred row groups of the others.
    let needed = all / COLUMNS + (all - all / COLUMNS) / 100;
    assert!(fetched <= needed + needed / 10, "{fetched} bytes of {all}, {needed} are needed");
    // What is cut to nothing reads nothing else.
    let before = read.load(Ordering::Relaxed);
    let none = table.select(&names, options_of("c0 < 0")).expect("a selection").read(.., None, None);
    assert_eq!(none.expect("values").kept, Some(vec![]));
    assert!(read.load(Ordering::Relaxed) - before <= all / COLUMNS * 11 / 10);
}

fn options_of(cut: &str) -> SelectOptions {
    options(Some(cut), &[])
}

#[test]
fn columns_of_friends_are_read_beside_those_of_the_table() -> Result<()> {
    let file = file("belongings.root");
    let main = file.table("main")?;
    assert_eq!(main.friends()?.len(), 1);
    let selection = main.select(&["run", "other.x", "x + 1"], options(Some("other.x >= 4"), &[]))?;
    assert_eq!(selection.fields(), [main.find("run")?]);
    let types: Vec<String> = selection.forms()?.iter().map(Form::type_string).collect();
    assert_eq!(types, ["int32", "float64", "float64"]);
    let read = selection.read(.., None, None)?;
    assert_eq!(read.kept, Some(vec![8, 9]));
    assert_eq!(lines(&read.arrays[1]), ["4", "4.5"]);
    assert_eq!(lines(&read.arrays[2]), ["5", "5.5"]);
    // By its index, whose columns the table has under the same names.
    let joined = SelectOptions { friends: vec![Friend::new("f", main.clone())], ..SelectOptions::default() };
    let selection = main.select(&["f.run", "f.event - event"], joined)?;
    assert_eq!(selection.forms()?[0].type_string(), "?int32");
    for step in selection.steps(2..9, Step::Entries(3))? {
        let step = step?;
        let rows = step.entries.start..step.entries.end;
        let wanted: Vec<String> = rows.map(|entry| (5 - entry / 2).to_string()).collect();
        assert_eq!(lines(&step.arrays[0]), wanted);
        assert!(lines(&step.arrays[1]).iter().all(|difference| difference == "0"));
    }
    Ok(())
}

#[test]
fn friends_that_are_too_short_or_called_alike_are_refused() -> Result<()> {
    let other = file("belongings.root").table("other")?;
    let friend = || Friend::new("f", other.clone());
    let friends = |friends: Vec<Friend>| SelectOptions { friends, ..SelectOptions::default() };
    assert!(refused(&["f.x"], friends(vec![friend()])).contains("has 10 entries, fewer than the table"));
    assert!(refused(&["f.x"], friends(vec![friend(), friend()])).contains("given twice"));
    let long = (0..360).fold(Friend::new("f", other.clone()), |friend, _| friend.then(other.clone()));
    let read = events().select(&["f.x"], friends(vec![long.before(5)]))?.read(3590.., None, None)?;
    assert_eq!(lines(&read.arrays[0]), ["2.5", "3", "3.5", "4", "4.5", "0", "0.5", "1", "1.5", "2"]);
    Ok(())
}

#[test]
fn columns_are_read_in_the_types_that_several_tables_have() -> Result<()> {
    let number = |dtype| Form::Numpy { key: "x".into(), dtype, shape: vec![] };
    let list = |form| Form::List { key: "l".into(), content: Box::new(form) };
    let of = |name: &str, field, form| UnitedColumn { name: name.into(), field, form };
    let table = events();
    let united = vec![
        of("nMuon", Some(table.find("nMuon")?), number(DType::Float64)),
        of("MET_pt", Some(table.find("MET_pt")?), number(DType::Float32).optional()),
        of("Muon_pt", Some(table.find("Muon_pt")?), list(number(DType::Float64))),
        of("more", None, list(number(DType::Int32))),
    ];
    let select = |names: &[&str], cut: Option<&str>| {
        table.select(names, SelectOptions { united: united.clone(), ..options(cut, &[]) })
    };
    let names = ["nMuon", "MET_pt", "Muon_pt", "more", "nMuon * 2", "count(more) + nMuon"];
    let selection = select(&names, None)?;
    let types: Vec<String> = selection.forms()?.iter().map(Form::type_string).collect();
    let wanted = ["float64", "?float32", "var * float64", "?var * int32", "float64", "?float64"];
    assert_eq!(types, wanted);
    let read = selection.read(10..14, None, None)?;
    for (array, wanted) in read.arrays.iter().zip(wanted) {
        array.validate().expect("valid");
        assert_eq!(array.form.type_string(), wanted);
    }
    let plain = table.select(&["nMuon", "MET_pt"], SelectOptions::default())?.read(10..14, None, None)?;
    assert_eq!(lines(&read.arrays[0]), lines(&plain.arrays[0]));
    assert_eq!(lines(&read.arrays[1]), lines(&plain.arrays[1]));
    assert_eq!(lines(&read.arrays[3]), ["None"; 4]);
    assert_eq!(lines(&read.arrays[5]), ["None"; 4]);
    // What is missing does not pass, and neither does its opposite.
    for cut in ["count(more) > 0", "not (count(more) > 0)"] {
        assert_eq!(select(&names, Some(cut))?.read(.., None, None)?.kept, Some(vec![]));
    }
    let cut = select(&["nMuon"], Some("nMuon > 1.5"))?.read(.., None, None)?;
    let kept = table.select(&["nMuon"], options(Some("nMuon > 1"), &[]))?.read(.., None, None)?;
    assert!(cut.kept.is_some() && cut.kept == kept.kept);
    let wrong = vec![of("nMuon", Some(table.find("nMuon")?), list(number(DType::Int32)))];
    let refused = refused(&["nMuon"], SelectOptions { united: wrong, ..SelectOptions::default() });
    assert!(refused.contains("\"nMuon\" is int32, and var * int32 in all tables together"), "{refused}");
    Ok(())
}
