//! Trees written: what they say of themselves, and what is refused. C++ ROOT reads such trees in
//! `tests/generate/random_trees_written.py`.

use forthwith_columns::{Array, Column, DType, Form, LogicalType};
use forthwith_io::{Memory, MemorySink, UpdateSink};
use forthwith_plan::{Dataset, ErrorKind, Result};
use forthwith_root::{
    BasketHeader, Cursor, RootFile,
    write::{Compression, FileSettings, FileWriter},
};
use forthwith_ttree::{
    Tree, TreeCheck,
    write::{
        ColumnOptions, Floats, Jagged, Nulls, Packing, Records, Strings, TreeIndex, TreeOptions, TreeWriter,
        UserInfo,
    },
};
use std::sync::Arc;

fn numbers(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

fn list(key: &str, content: Form) -> Form {
    Form::List { key: key.into(), content: Box::new(content) }
}

fn text() -> Form {
    Form::String { key: "t".into(), binary: false }
}

fn record(name: Option<&str>, fields: &[(&str, Form)]) -> Form {
    let (names, contents) = fields.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).unzip();
    Form::Record { fields: Some(names), contents, name: name.map(str::to_owned) }
}

/// Columns for every key of the Forms below: `rows` lists of 0 to 3 items.
fn array(form: &Form, rows: u64) -> Array {
    let ends: Vec<i64> =
        (0..=rows as i64).map(|row| row / 4 * 6 + [0, 0, 1, 3][(row % 4) as usize]).collect();
    let items = ends.last().copied().unwrap_or(0);
    let inner: Vec<i64> = (0..=items).map(|item| 2 * item).collect();
    let columns = vec![
        ("x-data".into(), Column::from_vec((0..rows.max(items as u64)).map(|n| n as f32 / 4.0).collect())),
        ("i-data".into(), Column::from_vec((0..rows.max(items as u64)).map(|n| n as i32 - 5).collect())),
        ("d-data".into(), Column::from_vec((0..2 * items).map(|n| n as f64).collect())),
        ("n-data".into(), Column::from_vec(ends.windows(2).map(|pair| (pair[1] - pair[0]) as i32).collect())),
        ("l-offsets".into(), Column::from_vec(ends.clone())),
        ("m-offsets".into(), Column::from_vec(inner)),
        (
            "t-offsets".into(),
            Column::from_vec(if items as u64 > rows {
                (0..=items).collect()
            } else {
                (0..=rows as i64).collect()
            }),
        ),
        ("t-data".into(), Column::from_vec(vec![b'q'; rows.max(items as u64) as usize])),
        (
            "o-index".into(),
            Column::from_vec(
                (0..rows as i64).map(|row| if row % 2 == 0 { row / 2 } else { -1 }).collect::<Vec<i64>>(),
            ),
        ),
    ];
    Array { form: form.clone(), length: rows, columns }
}

/// Writes steps of these numbers of rows.
fn write(columns: &[(&str, Form)], options: TreeOptions, steps: &[u64]) -> Result<RootFile> {
    let sink = MemorySink::new("written.root");
    let settings = FileSettings { compression: Compression::NONE, ..FileSettings::default() };
    let mut file = FileWriter::create(Box::new(sink.clone()), settings)?;
    let announced: Vec<_> = columns.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).collect();
    let mut tree = TreeWriter::new(&mut file, "dir/t", &announced, options)?;
    for rows in steps {
        let arrays: Vec<_> = columns.iter().map(|(_, form)| array(form, *rows)).collect();
        tree.extend(&mut file, &arrays)?;
    }
    tree.finish(&mut file)?;
    file.finish()?;
    RootFile::open(Arc::new(Memory::new("written.root", sink.bytes().unwrap())))
}

fn names(file: &RootFile) -> Vec<String> {
    let tree = Tree::open(file, "dir/t").unwrap();
    tree.fields().unwrap().iter().map(|field| field.path.clone()).collect()
}

fn by_column(name: &str, options: ColumnOptions) -> TreeOptions {
    TreeOptions { columns: vec![(name.into(), options)], ..TreeOptions::default() }
}

#[test]
fn forms_become_branches() {
    let jets = list("l", record(None, &[("pt", numbers("x", DType::Float32)), ("tag", text())]));
    let columns = [
        ("x", numbers("x", DType::Float32)),
        ("name", text()),
        ("jet", jets),
        ("vv", list("l", list("m", numbers("d", DType::Float64)))),
        (
            "r",
            record(
                None,
                &[("a", numbers("x", DType::Float32)), ("b", list("l", numbers("i", DType::Int32)))],
            ),
        ),
    ];
    let file = write(&columns, TreeOptions::default(), &[10, 0, 3]).unwrap();
    let expected = ["x", "name", "njet", "jet_pt", "jet_tag", "vv", "r.a", "nr_b", "r.b"];
    assert_eq!(names(&file), expected);
    let tree = Tree::open(&file, "dir/t").unwrap();
    assert_eq!(tree.entries().unwrap(), 13);
    let types: Vec<String> = expected
        .iter()
        .map(|name| tree.describe(tree.find(name).unwrap()).unwrap().type_name.clone())
        .collect();
    assert_eq!(
        types,
        [
            "float",
            "std::string",
            "int32_t",
            "float[njet]",
            "std::vector<std::string>",
            "std::vector<std::vector<double>>",
            "float",
            "int32_t",
            "int32_t[nr_b]"
        ]
    );
}

#[test]
fn a_check_finds_nothing_whatever_the_sizes() {
    let columns = [
        ("x", numbers("x", DType::Float32)),
        ("jet", list("l", record(None, &[("pt", numbers("x", DType::Float32)), ("tag", text())]))),
        ("vv", list("l", list("m", numbers("d", DType::Float64)))),
    ];
    for (cluster_bytes, basket_bytes, cluster_entries) in
        [(1, 1, None), (3000, 200, None), (1 << 20, 1 << 16, None), (1 << 20, 1 << 20, Some(7))]
    {
        for steps in [&[][..], &[1], &[500], &[3; 100], &[1, 400, 2, 2, 90]] {
            let options =
                TreeOptions { cluster_bytes, basket_bytes, cluster_entries, ..TreeOptions::default() };
            let file = write(&columns, options, steps).unwrap();
            let checked = file.check(&mut [&mut TreeCheck::default()]).unwrap();
            assert!(checked.findings.is_empty(), "{cluster_bytes} {steps:?}: {:?}", checked.findings);
            assert_eq!(Tree::open(&file, "dir/t").unwrap().entries().unwrap(), steps.iter().sum::<u64>());
        }
    }
}

/// Compares what each basket says of itself: C++ ROOT finds entries without offsets by their size.
fn check_baskets(file: &RootFile) -> usize {
    let mut baskets = 0;
    for record in file.records().unwrap() {
        let record = record.unwrap();
        if record.key.is_none_or(|key| &*key.class_name != "TBasket") {
            continue;
        }
        let bytes = file.source().read_one(record.at..record.at + record.length).unwrap();
        let header = BasketHeader::parse(&mut Cursor::new(&bytes)).unwrap();
        let data = header.last as u32 - u32::from(header.keylen);
        let (entries, payload) = (header.nev_buf as u32, header.objlen);
        assert_eq!(u64::from(payload) + u64::from(header.keylen), record.length);
        if data == payload {
            assert_eq!(data, entries * header.nev_buf_size, "{header:?}");
        } else {
            assert_eq!(payload, data + 4 * (entries + 2), "{header:?}");
            assert!(header.nev_buf_size > entries, "{header:?}");
        }
        assert!(entries > 0);
        baskets += 1;
    }
    baskets
}

#[test]
fn baskets_say_how_long_entries_are() {
    let pair = Form::Regular { size: 2, content: Box::new(numbers("d", DType::Float64)) };
    let hit = record(Some("Hit"), &[("e", numbers("x", DType::Float32)), ("name", text())]);
    let fields =
        [("i", numbers("i", DType::Int32)), ("t", text()), ("l", list("l", numbers("x", DType::Float32)))];
    let columns = [
        ("pair", list("l", pair.clone())),
        ("hits", list("l", hit)),
        ("one", record(Some("One"), &fields)),
        ("flat", record(None, &fields)),
        ("text", text()),
    ];
    for (records, jagged, strings, floats) in [
        (Records::Class, Jagged::Counter, Strings::Object, Floats::Whole),
        (Records::Flat, Jagged::Vector, Strings::Characters, Floats::Float16(Packing::Usual)),
        (
            Records::Flat,
            Jagged::Counter,
            Strings::Object,
            Floats::Float16(Packing::Range { min: 0.0, max: 9.0, bits: 20 }),
        ),
        (Records::Flat, Jagged::Vector, Strings::Object, Floats::Double32(Packing::Mantissa { bits: 9 })),
        (
            Records::Flat,
            Jagged::Counter,
            Strings::Object,
            Floats::Double32(Packing::Range { min: 0.0, max: 9.0, bits: 20 }),
        ),
    ] {
        let column = ColumnOptions { records, jagged, strings, floats, ..ColumnOptions::default() };
        let options = TreeOptions {
            default_column: column,
            cluster_bytes: 2000,
            basket_bytes: 300,
            ..TreeOptions::default()
        };
        let file = write(&columns, options, &[40, 40, 3]).unwrap();
        assert!(check_baskets(&file) > 10);
    }
}

#[test]
fn classes_are_described() {
    let hit = record(Some("Hit"), &[("e", numbers("x", DType::Float32)), ("name", text())]);
    let columns =
        [("hits", list("l", hit)), ("one", record(Some("One"), &[("i", numbers("i", DType::Int32))]))];
    let class = ColumnOptions { records: Records::Class, ..ColumnOptions::default() };
    let options = TreeOptions { default_column: class, ..TreeOptions::default() };
    let file = write(&columns, options, &[9]).unwrap();
    assert_eq!(names(&file), ["hits", "hits/hits.e", "hits/hits.name", "one.", "one./one.i"]);
    assert!(file.streamers().unwrap().knows("Hit") && file.streamers().unwrap().knows("One"));
}

#[test]
fn what_a_tree_has_no_branch_for_is_refused_by_name() {
    let refused = |form: Form, options: ColumnOptions| {
        write(&[("c", form)], by_column("c", options), &[4]).map(drop).unwrap_err()
    };
    let option = Form::Option { key: "o".into(), content: Box::new(numbers("x", DType::Float32)) };
    let error = refused(option.clone(), ColumnOptions::default());
    assert!(matches!(error.kind, ErrorKind::MissingValues { .. }), "{error}");
    assert!(error.to_string().contains("missing values") && error.to_string().contains("dir/t/c"), "{error}");
    let filled = ColumnOptions { nulls: Nulls::Filled((-1.0).into()), ..ColumnOptions::default() };
    write(&[("c", option)], by_column("c", filled), &[4]).unwrap();

    let union = Form::Union { key: "u".into(), contents: vec![numbers("x", DType::Float32), text()] };
    assert!(refused(union, ColumnOptions::default()).to_string().contains("union"));
    let none = Form::Regular { size: 0, content: Box::new(text()) };
    assert!(refused(list("l", none), ColumnOptions::default()).to_string().contains("no items"));
    let class = ColumnOptions { records: Records::Class, ..ColumnOptions::default() };
    let hits = list("l", list("m", record(None, &[("e", numbers("d", DType::Float64))])));
    assert!(refused(hits, class.clone()).to_string().contains("as classes"));
    let three =
        Form::Regular { size: 3, content: Box::new(record(None, &[("e", numbers("d", DType::Float64))])) };
    assert_eq!(names(&write(&[("c", three)], by_column("c", class), &[4]).unwrap()), ["c", "c/c.e"]);
    let decimal = LogicalType::Decimal { precision: 9, scale: 2 };
    let decimal = Form::Logical { meaning: decimal, content: Box::new(numbers("i", DType::Int32)) };
    assert!(refused(decimal, ColumnOptions::default()).to_string().contains("decimal"));
    assert!(refused(list("l", Form::Empty), ColumnOptions::default()).to_string().contains("no known type"));
    let twice = write(&[("c", text()), ("c", text())], TreeOptions::default(), &[1]).map(drop).unwrap_err();
    assert!(twice.to_string().contains("two branches"), "{twice}");
    let unknown =
        write(&[("c", text())], by_column("d", ColumnOptions::default()), &[1]).map(drop).unwrap_err();
    assert!(unknown.to_string().contains("\"d\""), "{unknown}");
    let brackets = write(&[("c[3]", text())], TreeOptions::default(), &[1]).map(drop).unwrap_err();
    assert!(brackets.to_string().contains("c[3]"), "{brackets}");
}

#[test]
fn counters_are_shared_and_compared() {
    let counted = ColumnOptions { counter: Some("n".into()), ..ColumnOptions::default() };
    let options = || TreeOptions {
        columns: ["a", "b"].iter().map(|name| ((*name).to_owned(), counted.clone())).collect(),
        ..TreeOptions::default()
    };
    let lists = [
        ("n", numbers("n", DType::Int32)),
        ("a", list("l", numbers("x", DType::Float32))),
        ("b", list("l", numbers("i", DType::Int32))),
    ];
    let file = write(&lists, options(), &[20]).unwrap();
    assert_eq!(names(&file), ["n", "a", "b"]);
    let wrong = [("n", numbers("i", DType::Int32)), lists[1].clone(), lists[2].clone()];
    let error = write(&wrong, options(), &[20]).map(drop).unwrap_err();
    assert!(error.to_string().contains("counter") && error.to_string().contains("entry 0"), "{error}");
    let unlike = [lists[0].clone(), lists[1].clone(), ("b", list("m", numbers("d", DType::Float64)))];
    let error = write(&unlike, options(), &[8]).map(drop).unwrap_err();
    assert!(error.to_string().contains("another column with the counter \"n\""), "{error}");
}

#[test]
fn characters_end_at_nul() {
    let mut nul = array(&text(), 3);
    nul.columns.retain(|(name, _)| name != "t-data");
    nul.columns.push(("t-data".into(), Column::from_slice(&[b'a', 0, b'c'])));
    let characters = ColumnOptions { strings: Strings::Characters, ..ColumnOptions::default() };
    let sink = MemorySink::new("written.root");
    let mut file = FileWriter::create(Box::new(sink), FileSettings::default()).unwrap();
    let columns = [("c".to_owned(), text())];
    let mut tree = TreeWriter::new(&mut file, "t", &columns, by_column("c", characters)).unwrap();
    let error = tree.extend(&mut file, &[nul]).unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
    // Nothing of the step was written.
    tree.extend(&mut file, &[array(&text(), 3)]).unwrap();
    assert_eq!(tree.entries(), 3);
}

#[test]
fn steps_that_are_not_as_announced_are_refused() {
    let sink = MemorySink::new("written.root");
    let mut file = FileWriter::create(Box::new(sink), FileSettings::default()).unwrap();
    let columns =
        [("a".to_owned(), numbers("x", DType::Float32)), ("b".to_owned(), numbers("i", DType::Int32))];
    let mut tree = TreeWriter::new(&mut file, "t", &columns, TreeOptions::default()).unwrap();
    let [a, b] = [array(&columns[0].1, 4), array(&columns[1].1, 5)];
    for (step, told) in [
        (vec![a.clone()], "1 columns"),
        (vec![a.clone(), a.clone()], "announced"),
        (vec![a.clone(), b], "5 rows"),
        (vec![a.clone(), Array { length: 4, form: columns[1].1.clone(), columns: vec![] }], "i-data"),
    ] {
        let error = tree.extend(&mut file, &step).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    tree.extend(&mut file, &[a, array(&columns[1].1, 4)]).unwrap();
    assert_eq!(tree.finish(&mut file).unwrap(), 4);
}

#[test]
fn vectors_instead_of_counters() {
    let columns = [("x", list("l", numbers("x", DType::Float32)))];
    let vector = ColumnOptions { jagged: Jagged::Vector, ..ColumnOptions::default() };
    let file = write(&columns, by_column("x", vector), &[30]).unwrap();
    assert_eq!(names(&file), ["x"]);
}

/// Readers without classes of their own go by what the file describes.
#[test]
fn the_record_has_the_versions_that_the_file_describes() {
    let hit = record(Some("Hit"), &[("e", numbers("x", DType::Float32)), ("name", text())]);
    let columns = [("i", numbers("i", DType::Int32)), ("hits", list("l", hit)), ("text", text())];
    let class = ColumnOptions { records: Records::Class, ..ColumnOptions::default() };
    let options = TreeOptions {
        default_column: class,
        aliases: vec![("a".into(), "2*i".into())],
        user_info: vec![("n".into(), UserInfo::Whole(3)), ("x".into(), UserInfo::Real(0.5))],
        index: Some(TreeIndex { major: "i".into(), minor: None }),
        ..TreeOptions::default()
    };
    let file = write(&columns, options, &[9]).unwrap();
    let streamers = file.streamers().unwrap();
    let key = file.find("dir/t").unwrap().key;
    let objects = file.walker().unwrap();
    let objects = objects.read(file.payload(&key).unwrap(), key.keylen.into(), &key.class_name).unwrap();
    let mut compared = 0;
    for object in objects.iter() {
        let own = [(object.class(), i32::from(object.version()))];
        for (class, version) in own.into_iter().chain(object.bases().map(|base| (base.class, base.version))) {
            if let Some(described) = streamers.latest(class).unwrap().filter(|_| version > 0) {
                assert_eq!(version, described.version, "{class}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

/// Baskets stay where they are, more stand behind them, and the record has the next cycle.
#[test]
fn a_tree_in_a_file_is_extended() {
    let columns = [
        ("x", numbers("x", DType::Float32)),
        ("l", list("l", numbers("i", DType::Int32))),
        ("v", list("l", list("m", numbers("d", DType::Float64)))),
        ("t", text()),
    ];
    let whole = |rows: u64| columns.iter().map(|(_, form)| array(form, rows)).collect::<Vec<_>>();
    let first = write(&columns, TreeOptions::default(), &[10]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.root");
    let size = first.source().size().unwrap();
    std::fs::write(&path, first.source().read_one(0..size).unwrap()).unwrap();
    let path = path.to_str().unwrap();

    let old = RootFile::open(forthwith_io::open_unmapped(path).unwrap()).unwrap();
    let sink = UpdateSink::open(path).unwrap().begin_at(old.header().end).unwrap();
    let mut file = FileWriter::update(Box::new(sink), &old, FileSettings::of(&old)).unwrap();
    let found = old.find("dir/t").unwrap();
    let mut tree = TreeWriter::open(&mut file, &old, &found, TreeOptions::default(), |_, _| Ok(())).unwrap();
    assert_eq!(tree.columns().map(|(name, _)| name).collect::<Vec<_>>(), ["x", "l", "v", "t"]);
    tree.extend(&mut file, &whole(7)).unwrap();
    assert_eq!(tree.finish(&mut file).unwrap(), 17);
    file.finish().unwrap();

    let file = RootFile::open(forthwith_io::open_unmapped(path).unwrap()).unwrap();
    assert_eq!(file.find("dir/t").unwrap().key.cycle, 2);
    let (one, other) = (Tree::open(&first, "dir/t").unwrap(), Tree::open(&file, "dir/t").unwrap());
    assert_eq!(other.entries().unwrap(), 17);
    for (number, field) in (0..).zip(one.fields().unwrap()) {
        let (before, after) = (one.describe(number).unwrap(), other.describe(number).unwrap());
        assert_eq!((before.blocks, after.blocks), (1, 2), "{}", field.path);
        let places = |tree: &Tree| tree.plan(&[number], 0..10).unwrap().tasks[0].stored.clone();
        assert_eq!(places(&one), places(&other), "{}", field.path);
    }
}
