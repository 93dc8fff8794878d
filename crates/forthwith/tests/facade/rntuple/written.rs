//! Ntuples that the crate writes, read by the crate. C++ ROOT and uproot read them in Python's tests.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use forthwith::{
    Engine, Options as EngineOptions,
    columns::{Array, Column, DType, Form, LogicalType, MAP, Native, TimeUnit},
    io::{Memory, MemorySink, Source},
    plan::{BlockRunner, Dataset, OneThread},
    rntuple::{FieldOptions, Floats, Ntuple, NtupleFormat, NtupleOptions, NtupleWriter, Options},
    root::RootFile,
};
use forthwith_engine::BlockThreads;
use forthwith_root::write::{Compression, FileSettings, FileWriter, Moment, Uuid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bytes of a file with an ntuple.
fn file(
    columns: &[(String, Form)],
    options: NtupleOptions,
    fill: impl FnOnce(&mut NtupleWriter, &mut FileWriter),
) -> bytes::Bytes {
    let memory = MemorySink::new("made.root");
    let (compression, uuid, time) = (Compression::NONE, Uuid([3; 16]), Moment(1_700_000_000));
    let settings = FileSettings { compression, uuid, time, ..FileSettings::default() };
    let mut file = FileWriter::create(Box::new(memory.clone()), settings).unwrap();
    let mut ntuple = NtupleWriter::new(&mut file, "a/b/nt", columns, options).unwrap();
    fill(&mut ntuple, &mut file);
    ntuple.finish(&mut file).unwrap();
    file.finish().unwrap();
    memory.bytes().unwrap()
}

fn open(bytes: bytes::Bytes) -> (Arc<dyn Source>, Ntuple) {
    let source: Arc<dyn Source> = Arc::new(Memory::new("made.root", bytes));
    let file = RootFile::open(source.clone()).unwrap();
    let ntuple = Ntuple::open(&file, &file.find("a/b/nt").unwrap(), Options::default()).unwrap();
    (source, ntuple)
}

/// The values of a field, by its path.
fn values(bytes: &bytes::Bytes, path: &str) -> Vec<String> {
    let (source, ntuple) = open(bytes.clone());
    let field = ntuple.fields().unwrap().iter().position(|field| field.path == path).unwrap();
    let plan = ntuple.plan(&[field as u32], 0..ntuple.entries().unwrap()).unwrap();
    let engine = Engine::new(EngineOptions::default());
    let arrays = engine.read(&plan, &source, &NtupleFormat, Some(2), None).unwrap();
    arrays[0].validate().unwrap();
    shown(&arrays[0])
}

fn shown(array: &Array) -> Vec<String> {
    (0..array.length).flat_map(|row| array.preview(row..row + 1, 4000).lines().unwrap()).collect()
}

fn plain() -> NtupleOptions {
    NtupleOptions { compression: Compression::NONE, ..NtupleOptions::default() }
}

fn numbers(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

fn list(key: &str, content: Form) -> Form {
    Form::List { key: key.into(), content: Box::new(content) }
}

fn option(key: &str, content: Form) -> Form {
    Form::Option { key: key.into(), content: Box::new(content) }
}

fn record(fields: &[(&str, Form)]) -> Form {
    let names = fields.iter().map(|(name, _)| (*name).to_owned()).collect();
    let contents = fields.iter().map(|(_, form)| form.clone()).collect();
    Form::Record { fields: Some(names), contents, name: None }
}

fn array(form: Form, length: u64, columns: Vec<(&str, Column)>) -> Array {
    let columns = columns.into_iter().map(|(key, column)| (key.to_owned(), column)).collect();
    let array = Array { form, length, columns };
    array.validate().unwrap();
    array
}

fn items<T: Native>(items: &[T]) -> Column {
    Column::from_slice(items)
}

/// Five rows of every Form that can be written.
fn every() -> Vec<(String, Array)> {
    let mut all = Vec::new();
    let mut add = |name: &str, array: Array| all.push((name.to_owned(), array));
    add("i8", array(numbers("n", DType::Int8), 5, vec![("n-data", items(&[1i8, -128, 127, 0, 5]))]));
    add(
        "i16",
        array(numbers("n", DType::Int16), 5, vec![("n-data", items(&[1i16, i16::MIN, i16::MAX, 0, 5]))]),
    );
    add(
        "i32",
        array(numbers("n", DType::Int32), 5, vec![("n-data", items(&[1i32, i32::MIN, i32::MAX, 0, 5]))]),
    );
    add(
        "i64",
        array(numbers("n", DType::Int64), 5, vec![("n-data", items(&[1i64, i64::MIN, i64::MAX, 0, 5]))]),
    );
    add("u8", array(numbers("n", DType::UInt8), 5, vec![("n-data", items(&[1u8, 255, 3, 0, 5]))]));
    add("u16", array(numbers("n", DType::UInt16), 5, vec![("n-data", items(&[1u16, u16::MAX, 3, 0, 5]))]));
    add("u32", array(numbers("n", DType::UInt32), 5, vec![("n-data", items(&[1u32, u32::MAX, 3, 0, 5]))]));
    add("u64", array(numbers("n", DType::UInt64), 5, vec![("n-data", items(&[1u64, u64::MAX, 3, 0, 5]))]));
    add(
        "f32",
        array(numbers("n", DType::Float32), 5, vec![("n-data", items(&[1.5f32, -0.0, 1e-45, 3e38, 0.1]))]),
    );
    add(
        "f64",
        array(numbers("n", DType::Float64), 5, vec![("n-data", items(&[1.5f64, -0.0, 5e-324, 1e308, 0.1]))]),
    );
    let truths = items(&[1u8, 0, 0, 1, 1]).view(DType::Bool).unwrap();
    add("truth", array(numbers("n", DType::Bool), 5, vec![("n-data", truths)]));
    let shape = |dtype, shape: &[u64]| Form::Numpy { key: "n".into(), dtype, shape: shape.to_vec() };
    let many: Vec<i16> = (0..30).collect();
    add("shape", array(shape(DType::Int16, &[2, 3]), 5, vec![("n-data", items(&many))]));
    add("nothing", array(shape(DType::Int16, &[0]), 5, vec![("n-data", items::<i16>(&[]))]));
    let text = Form::String { key: "s".into(), binary: false };
    let letters = || items("onetwothree".as_bytes());
    let offsets = || items(&[0i64, 3, 3, 6, 6, 11]);
    let texts = || vec![("s-offsets", offsets()), ("s-data", letters())];
    add("text", array(text.clone(), 5, texts()));
    let categories = vec!["one".into(), "".into(), "two".into(), "".into(), "three".into()];
    let category = Form::Categorical { key: "s".into(), categories };
    let mut columns = texts();
    columns.push(("s-index", items(&[4i32, 0, 0, 2, 1])));
    add("category", array(category, 5, columns));
    // Offsets that begin behind the first item.
    let lists = || ("l-offsets", items(&[2i64, 2, 5, 6, 6, 11]));
    let mut columns = vec![lists(), ("n-data", items(&(0..11).collect::<Vec<i32>>()))];
    add("lists", array(list("l", numbers("n", DType::Int32)), 5, columns.clone()));
    columns.push(("m-offsets", items(&[0i64, 1, 1, 1, 2, 3, 5, 5, 6, 7, 9, 11])));
    add("deep", array(list("l", list("m", numbers("n", DType::Int32))), 5, columns.clone()));
    let pair = record(&[("x", numbers("n", DType::Int32)), ("y z", list("m", numbers("n", DType::Int32)))]);
    add("records", array(list("l", pair.clone()), 5, columns.clone()));
    let tuple = |name: Option<&str>| Form::Record {
        fields: None,
        contents: vec![numbers("n", DType::Int32), numbers("n", DType::Int32)],
        name: name.map(str::to_owned),
    };
    add("tuples", array(tuple(None), 5, columns.clone()));
    add("pairs", array(list("l", tuple(Some(MAP))), 5, columns.clone()));
    let array_of = Form::Regular { size: 2, content: Box::new(pair.clone()) };
    add("arrays", array(array_of, 5, columns.clone()));
    let none = Form::Regular { size: 0, content: Box::new(numbers("n", DType::Int32)) };
    add("no items", array(none, 5, columns.clone()));
    columns.push(("o-index", items(&[3i64, -1, 4, 0, -7])));
    add("option", array(option("o", numbers("n", DType::Int32)), 5, columns.clone()));
    add("maybe", array(option("o", pair), 5, columns.clone()));
    add("maybe lists", array(option("o", list("l", numbers("n", DType::Int32))), 5, columns.clone()));
    columns.extend(texts());
    columns.push(("u-tags", items(&[0i8, 1, 1, 0, 1])));
    columns.push(("u-index", items(&[4i64, 0, 4, 3, 0])));
    let union = Form::Union { key: "u".into(), contents: vec![numbers("n", DType::Int32), text.clone()] };
    add("union", array(union.clone(), 5, columns.clone()));
    add("maybe union", array(option("o", union), 5, columns.clone()));
    let contents = vec![option("o", numbers("n", DType::Int32)), text];
    add("union of maybe", array(Form::Union { key: "u".into(), contents }, 5, columns.clone()));
    let half = Form::Logical { meaning: LogicalType::Half, content: Box::new(numbers("h", DType::UInt16)) };
    add("half", array(half, 5, vec![("h-data", items(&[0x3c00u16, 0x8000, 1, 0x7bff, 0xfc00]))]));
    all
}

/// What is read of those, where it is not spelled as what was written.
fn expected(name: &str, array: &Array) -> Vec<String> {
    match name {
        "no items" | "nothing" => vec!["[]".into(); 5],
        "half" => ["1", "-0", "5.9604645e-8", "65504", "-inf"].map(str::to_owned).to_vec(),
        "records" | "arrays" | "maybe" => {
            shown(array).iter().map(|line| line.replace("y z", "y_z")).collect()
        }
        _ => shown(array),
    }
}

#[test]
fn every_form_is_read_as_it_was_written() {
    let every = every();
    let columns: Vec<_> = every.iter().map(|(name, array)| (name.clone(), array.form.clone())).collect();
    let arrays: Vec<_> = every.iter().map(|(_, array)| array.clone()).collect();
    for codec in ["none", "zlib", "lz4", "zstd", "lzma"] {
        for (page_bytes, cluster_entries) in [(64, 3), (100, 1), (1 << 20, u64::MAX)] {
            let compression = Compression::named(codec, None).unwrap();
            let write = |runner: Option<Arc<dyn BlockRunner>>| {
                let options = NtupleOptions { compression, page_bytes, cluster_entries, runner, ..plain() };
                file(&columns, options, |ntuple, file| {
                    for _ in 0..3 {
                        ntuple.extend(file, &arrays).unwrap();
                    }
                })
            };
            let bytes = write(None);
            assert_eq!(bytes, write(Some(Arc::new(OneThread::default()))), "{codec}");
            assert_eq!(bytes, write(Some(Arc::new(BlockThreads::new(3)))), "{codec}");
            for (name, array) in &every {
                let path = name.replace(' ', "_");
                let found = values(&bytes, &path);
                let once = expected(name, array);
                let wanted: Vec<_> = (0..3).flat_map(|_| once.clone()).collect();
                assert_eq!(found, wanted, "{codec} {page_bytes} {name}");
            }
        }
    }
}

#[test]
fn long_columns_have_pages_and_clusters() {
    let count = 300_000usize;
    let numbers_of: Vec<f32> = (0..count).map(|at| at as f32).collect();
    let offsets: Vec<i64> = (0..=count).map(|at| (at / 3 * 3) as i64).collect();
    let columns = vec![("n-data", items(&numbers_of)), ("l-offsets", items(&offsets))];
    let flat = array(numbers("n", DType::Float32), count as u64, columns.clone());
    let jagged = array(list("l", numbers("n", DType::Float32)), count as u64, columns);
    let fields = [("flat".to_owned(), flat.form.clone()), ("jagged".to_owned(), jagged.form.clone())];
    for compression in [Compression::NONE, Compression::named("zstd", Some(1)).unwrap()] {
        let options = NtupleOptions { compression, cluster_bytes: 1_000_000, ..NtupleOptions::default() };
        let bytes = file(&fields, options, |ntuple, file| {
            ntuple.extend(file, &[flat.clone(), jagged.clone()]).unwrap();
        });
        assert_eq!(values(&bytes, "flat"), shown(&flat));
        assert_eq!(values(&bytes, "jagged"), shown(&jagged));
        let (_, ntuple) = open(bytes);
        let clusters = ntuple.boundaries(&[0], 0..count as u64).unwrap().len() - 1;
        // 16 bytes an entry; compressed far less of them.
        assert!((2..=8).contains(&clusters), "{clusters} clusters");
    }
}

/// Memory that is never written to costs nothing, so there are more items than 32 bits can count.
#[test]
#[ignore = "goes through 4 GB of zeros"]
fn lists_have_more_items_than_32_bits_can_count() {
    const MANY: usize = (1 << 32) + 1000;
    let form = list("l", numbers("n", DType::Bool));
    let zeros = Column::from_vec(vec![0u8; MANY]).view(DType::Bool).unwrap();
    let columns = vec![("l-offsets", items(&[0i64, MANY as i64])), ("n-data", zeros)];
    let long = array(form.clone(), 1, columns);
    let offsets = items(&[0i64, 2]);
    let truths = items(&[1u8, 0]).view(DType::Bool).unwrap();
    let short = array(form.clone(), 1, vec![("l-offsets", offsets), ("n-data", truths)]);
    let compression = Compression::named("zstd", Some(1)).unwrap();
    // Everything in one cluster, whose ends are therefore above two to the power of 32.
    let options = NtupleOptions { compression, cluster_bytes: 1 << 40, ..NtupleOptions::default() };
    let bytes = file(&[("x".to_owned(), form)], options, |ntuple, file| {
        for array in [&long, &short] {
            ntuple.extend(file, std::slice::from_ref(array)).unwrap();
        }
    });
    let (source, ntuple) = open(bytes);
    let plan = ntuple.plan(&[0], 1..2).unwrap();
    let engine = Engine::new(EngineOptions::default());
    let read = engine.read(&plan, &source, &NtupleFormat, None, None).unwrap();
    assert_eq!(shown(&read[0]), ["[True, False]"]);
    assert_eq!(ntuple.boundaries(&[0], 0..2).unwrap(), [0, 2]);
}

#[test]
fn columns_that_come_late_are_zero_before() {
    let first = array(numbers("n", DType::Int32), 3, vec![("n-data", items(&[1i32, 2, 3]))]);
    let columns = [("first".to_owned(), first.form.clone())];
    let columns_of = vec![
        ("n-data", items(&[7i32, 8, 9, 10, 11, 12])),
        ("l-offsets", items(&[0i64, 2, 2, 3])),
        ("o-index", items(&[1i64, -1, 0])),
        ("s-offsets", items(&[0i64, 1, 2, 4])),
        ("s-data", items(b"abcd")),
    ];
    let of = |form: Form| array(form, 3, columns_of.clone());
    let number = || numbers("n", DType::Int32);
    let text = Form::String { key: "s".into(), binary: false };
    let late = [
        ("number", of(number()), "0"),
        ("list", of(list("l", number())), "[]"),
        ("option", of(option("o", number())), "None"),
        ("text", of(text.clone()), "''"),
        (
            "record",
            of(record(&[("x", number()), ("y", list("l", number())), ("z", text)])),
            "{x: 0, y: [], z: ''}",
        ),
        ("array", of(Form::Regular { size: 2, content: Box::new(number()) }), "[0, 0]"),
    ];
    let bytes = file(&columns, plain(), |ntuple, file| {
        ntuple.extend(file, std::slice::from_ref(&first)).unwrap();
        let more: Vec<_> =
            late.iter().map(|(name, array, _)| ((*name).to_owned(), array.form.clone())).collect();
        ntuple.add_columns(file, &more, &BTreeMap::new()).unwrap();
        let arrays: Vec<_> =
            std::iter::once(&first).chain(late.iter().map(|(_, array, _)| array)).cloned().collect();
        ntuple.extend(file, &arrays).unwrap();
        ntuple.flush(file).unwrap();
        ntuple.extend(file, &arrays).unwrap();
    });
    for (name, array, zero) in &late {
        let once = shown(array);
        let wanted: Vec<_> =
            std::iter::repeat_n((*zero).to_owned(), 3).chain(once.clone()).chain(once).collect();
        assert_eq!(values(&bytes, name), wanted, "{name}");
    }
}

#[test]
fn fields_are_stored_as_is_asked_for() {
    let singles = [1.5f32, -0.0, 0.1, 99.96, -7.25, 65519.0];
    let doubles = [1.5f64, -0.0, 0.1, 99.96, -7.25, 65519.0];
    let single = array(numbers("n", DType::Float32), 6, vec![("n-data", items(&singles))]);
    let lists = vec![("n-data", items(&doubles)), ("l-offsets", items(&[0i64, 1, 1, 4, 5, 6, 6]))];
    let member = record(&[("x", numbers("n", DType::Float64)), ("n", numbers("n", DType::Float64))]);
    let listed = array(list("l", member), 6, lists);
    let zeros = array(numbers("n", DType::Int64), 6, vec![("n-data", items(&[0i64; 6]))]);
    let kinds = [
        ("whole", Floats::Whole, 1e-5),
        ("single", Floats::Single, 0.01),
        ("half", Floats::Half, 20.0),
        ("truncated", Floats::Truncated { bits: 17 }, 300.0),
        ("quantised", Floats::Quantised { bits: 20, low: -100.0, high: 65536.0 }, 0.04),
    ];
    let mut columns = vec![("zeros".to_owned(), zeros.form.clone())];
    let mut arrays = vec![zeros];
    let mut fields = BTreeMap::new();
    for (name, floats, _) in kinds {
        let floats = Some(floats);
        for (name, array) in [(name.to_owned(), &single), (format!("{name}s"), &listed)] {
            let path = if name.ends_with('s') { format!("{name}.x") } else { name.clone() };
            let description = format!("{floats:?}");
            fields.insert(path, FieldOptions { floats, description, ..FieldOptions::default() });
            columns.push((name, array.form.clone()));
            arrays.push(array.clone());
        }
    }
    let zstd = Compression::named("zstd", Some(3)).unwrap();
    for (compression, other) in [(zstd, Compression::NONE), (Compression::NONE, zstd)] {
        for page_bytes in [64, 1 << 20] {
            let choice = FieldOptions { compression: Some(other), ..FieldOptions::default() };
            fields.insert("zeros".into(), choice);
            let options = NtupleOptions { compression, page_bytes, fields: fields.clone(), ..plain() };
            let bytes = file(&columns, options, |ntuple, file| {
                for _ in 0..20 {
                    ntuple.extend(file, &arrays).unwrap();
                }
            });
            assert_eq!(values(&bytes, "zeros"), vec!["0"; 120]);
            for (name, _, off) in kinds {
                let found: Vec<f64> = values(&bytes, name).iter().map(|text| text.parse().unwrap()).collect();
                assert_eq!(found.len(), 120);
                for (found, wanted) in found.iter().zip(singles.iter().cycle()) {
                    let difference = (found - f64::from(*wanted)).abs();
                    assert!(difference <= off, "{name}: {found} where {wanted} was written");
                }
                let once = values(&bytes, &format!("{name}s"));
                assert_eq!(once.len(), 120);
                assert_eq!(once[0].contains("x: 1.5, n: 1.5"), name != "quantised", "{}", once[0]);
            }
            let (_, ntuple) = open(bytes);
            let all = ntuple.fields().unwrap();
            let zeros = all.iter().position(|field| field.path == "zeros").unwrap();
            let amounts = ntuple.describe(zeros as u32).unwrap();
            // Pages of 8 numbers are too short to be compressed.
            let shorter = amounts.stored_bytes < amounts.payload_bytes;
            assert_eq!(shorter, other == zstd && page_bytes > 64);
        }
    }
    let refused = |path: &str, choice: FieldOptions| {
        let memory = MemorySink::new("made.root");
        let mut file = FileWriter::create(Box::new(memory), FileSettings::default()).unwrap();
        let fields = BTreeMap::from([(path.to_owned(), choice)]);
        let options = NtupleOptions { fields, ..plain() };
        let begun = NtupleWriter::new(&mut file, "nt", &columns, options);
        begun.and_then(|mut ntuple| {
            ntuple.extend(&mut file, &arrays)?;
            ntuple.finish(&mut file)
        })
    };
    let floats = |floats| FieldOptions { floats: Some(floats), ..FieldOptions::default() };
    let range = |low, high| floats(Floats::Quantised { bits: 8, low, high });
    for (path, choice, what) in [
        ("halfs.y", FieldOptions::default(), "there is no field \"halfs/y\""),
        ("halfs._0", FieldOptions::default(), "there is no field \"halfs/_0\""),
        ("zeros", floats(Floats::Half), "field \"zeros\" has no floating-point numbers"),
        ("half", floats(Floats::Truncated { bits: 9 }), "9 bits of truncated floats"),
        ("half", floats(Floats::Quantised { bits: 33, low: 0.0, high: 1.0 }), "33 bits of quantised floats"),
        ("half", range(1.0, 1.0), "quantised floats from 1 to 1"),
        ("half", range(f64::NAN, 1.0), "quantised floats from NaN to 1"),
        (
            "halfs.x",
            range(-10.0, 100.0),
            "the number 65519, which is outside the range -10 to 100 of its field",
        ),
        ("halfs.x", range(-10.0, 100.0), "made.root:halfs/x"),
    ] {
        let error = refused(path, choice).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn missing_values_are_filled_in_as_is_asked_for() {
    let columns_of = vec![
        ("n-data", items(&[7i32, 8, 9])),
        ("l-offsets", items(&[0i64, 2, 2, 3])),
        ("o-index", items(&[1i64, -1, -1, 0, 2, -5])),
        ("s-offsets", items(&[0i64, 1, 2, 4])),
        ("s-data", items(b"abcd")),
    ];
    let of = |form: Form| array(option("o", form), 6, columns_of.clone());
    let number = || numbers("n", DType::Int32);
    let text = Form::String { key: "s".into(), binary: false };
    let all = [
        ("number", of(number()), ["8", "-1", "-1", "7", "9", "-1"]),
        ("list", of(list("l", number())), ["[]", "[]", "[]", "[7, 8]", "[9]", "[]"]),
        ("text", of(text), ["'b'", "''", "''", "'a'", "'cd'", "''"]),
        ("other", of(number()), ["8", "5", "5", "7", "9", "5"]),
    ];
    let fields = BTreeMap::from([(
        "other".to_owned(),
        FieldOptions { nulls: Some(5.0.into()), ..FieldOptions::default() },
    )]);
    let options = NtupleOptions { nulls: Some((-1.0).into()), fields, ..plain() };
    let columns: Vec<_> =
        all.iter().map(|(name, array, _)| ((*name).to_owned(), array.form.clone())).collect();
    let arrays: Vec<_> = all.iter().map(|(_, array, _)| array.clone()).collect();
    let bytes = file(&columns, options.clone(), |ntuple, file| ntuple.extend(file, &arrays).unwrap());
    for (name, _, wanted) in &all {
        assert_eq!(values(&bytes, name), *wanted, "{name}");
    }
    let refused = |form: Form| {
        let mut file =
            FileWriter::create(Box::new(MemorySink::new("made.root")), FileSettings::default()).unwrap();
        let columns = [("c".to_owned(), option("o", form))];
        let options = NtupleOptions { fields: BTreeMap::new(), ..options.clone() };
        NtupleWriter::new(&mut file, "nt", &columns, options).unwrap_err().to_string()
    };
    let error = refused(numbers("n", DType::UInt8));
    assert!(
        error.contains("-1 in place of missing values of type uint8 in an RNTuple (column \"c\")"),
        "{error}"
    );
    let error = refused(record(&[("x", number())]));
    assert!(error.contains("a number in place of missing values of type {x: int32}"), "{error}");
}

#[test]
fn fields_show_other_fields() {
    let jets = record(&[("pt", numbers("n", DType::Int32)), ("tags", list("t", numbers("n", DType::Int32)))]);
    let columns = vec![
        ("l-offsets", items(&[0i64, 2, 2, 3])),
        ("n-data", items(&[7i32, 8, 9, 10])),
        ("t-offsets", items(&[0i64, 2, 2, 3])),
    ];
    let jets = array(
        list("j", jets),
        3,
        columns
            .into_iter()
            .map(|(key, column)| (if key == "l-offsets" { "j-offsets" } else { key }, column))
            .collect(),
    );
    let shows = |name: &str, source: &str| (name.to_owned(), source.to_owned());
    let projections = vec![
        shows("pt", "jets.pt"),
        shows("count", "#jets"),
        shows("tags", "jets.tags"),
        shows("tag_lists", "jets.tags"),
        shows("again", "jets"),
    ];
    let options = NtupleOptions { projections, ..plain() };
    let columns = [("jets".to_owned(), jets.form.clone())];
    let bytes =
        file(&columns, options, |ntuple, file| ntuple.extend(file, std::slice::from_ref(&jets)).unwrap());
    assert_eq!(values(&bytes, "pt"), ["[7, 8]", "[]", "[9]"]);
    assert_eq!(values(&bytes, "count"), ["2", "0", "1"]);
    assert_eq!(values(&bytes, "tags"), ["[[7, 8], []]", "[]", "[[9]]"]);
    assert_eq!(values(&bytes, "again"), shown(&jets));
    let wrong = NtupleOptions { projections: vec![shows("x", "jets.eta")], ..plain() };
    let memory = MemorySink::new("made.root");
    let mut file = FileWriter::create(Box::new(memory), FileSettings::default()).unwrap();
    let error = NtupleWriter::new(&mut file, "nt", &columns, wrong).unwrap_err().to_string();
    assert!(error.contains("no field \"jets.eta\" for the projection \"x\" to show"), "{error}");
}

#[test]
fn types_without_a_field_are_refused_by_name() {
    let memory = MemorySink::new("made.root");
    let mut file = FileWriter::create(Box::new(memory), FileSettings::default()).unwrap();
    let logical = |meaning, dtype| Form::Logical { meaning, content: Box::new(numbers("n", dtype)) };
    let timestamp =
        LogicalType::Timestamp { unit: TimeUnit::Milli, zone: Some(forthwith_columns::Zone::UTC) };
    let decimal = LogicalType::Decimal { precision: 5, scale: 2 };
    let union = |contents| Form::Union { key: "u".into(), contents };
    for (form, what) in [
        (list("l", logical(timestamp, DType::Int64)), "timestamp[ms, UTC] in an RNTuple (column \"c\")"),
        (logical(decimal, DType::Int32), "decimal[5, 2] in an RNTuple (column \"c\")"),
        (record(&[]), "a record without fields in an RNTuple"),
        (
            union(vec![union(vec![numbers("n", DType::Int8)]), numbers("n", DType::Int8)]),
            "a union in a union",
        ),
    ] {
        let columns = [("c".to_owned(), form)];
        let error = NtupleWriter::new(&mut file, "nt", &columns, plain()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let columns = [("c".to_owned(), logical(timestamp, DType::Int64))];
    let options = NtupleOptions { times_as_integers: true, ..plain() };
    assert!(NtupleWriter::new(&mut file, "nt", &columns, options).is_ok());
}

#[test]
fn options_without_nulls_and_lists_without_items_are_of_any_type() {
    let columns_of = |index: &[i64]| {
        vec![
            ("n-data", items(&[7i32, 8, 9])),
            ("l-offsets", items(&[0i64, 2, 2, 3])),
            ("none-offsets", items(&[0i64, 0, 0, 0])),
            ("o-index", items(index)),
            ("nulls-index", items(&[-1i64, -1, -1])),
            ("u-tags", items(&[0i8, 0, 1])),
            ("u-index", items(&[0i64, 1, 0])),
        ]
    };
    let of = |form: Form, index: &[i64]| array(form, 3, columns_of(index));
    let number = || numbers("n", DType::Int32);
    let union = |first: Form| Form::Union { key: "u".into(), contents: vec![first, list("l", number())] };
    let pair = |x: Form, y: Form| record(&[("x", x), ("y", y)]);
    let shape = |shape: &[u64]| Form::Numpy { key: "n".into(), dtype: DType::Int32, shape: shape.to_vec() };
    let regular = |size: u64, content: Form| Form::Regular { size, content: Box::new(content) };
    // Of each column what is announced, steps, and what they are.
    let steps = [
        (option("o", number()), number(), vec!["7", "8", "9"]),
        (number(), option("o", number()), vec!["9", "8", "7"]),
        (list("l", option("o", number())), list("l", number()), vec!["[7, 8]", "[]", "[9]"]),
        (list("l", number()), list("l", option("o", number())), vec!["[9, 8]", "[]", "[7]"]),
        (list("l", list("m", number())), list("none", Form::Empty), vec!["[]"; 3]),
        (option("o", pair(number(), number())), option("nulls", Form::Empty), vec!["None"; 3]),
        (
            pair(option("o", number()), number()),
            option("o", pair(number(), option("o", number()))),
            vec!["{x: 9, y: 7}", "{x: 8, y: 8}", "{x: 7, y: 9}"],
        ),
        (option("o", union(number())), union(option("o", number())), vec!["9", "8", "[7, 8]"]),
        (shape(&[1]), regular(1, number()), vec!["[7]", "[8]", "[9]"]),
        (shape(&[1, 1]), regular(1, shape(&[1])), vec!["[[7]]", "[[8]]", "[[9]]"]),
        (regular(1, number()), shape(&[1]), vec!["[7]", "[8]", "[9]"]),
        (regular(1, regular(1, number())), shape(&[1, 1]), vec!["[[7]]", "[[8]]", "[[9]]"]),
        (union(option("o", number())), union(number()), vec!["7", "8", "[7, 8]"]),
    ];
    for (announced, given, wanted) in steps {
        let columns = [("c".to_owned(), announced.clone())];
        let step = of(given.clone(), &[2, 1, 0]);
        let bytes = file(&columns, plain(), |ntuple, file| {
            ntuple.extend(file, std::slice::from_ref(&step)).unwrap();
            let missing = of(given.clone(), &[2, -1, 0]);
            let is_refused = ntuple.extend(file, std::slice::from_ref(&missing)).is_err();
            let may_be_missing =
                !format!("{given:?}").contains("\"o\"") || format!("{announced:?}").contains("\"o\"");
            // A record has no place for the one that is missing, though its field has.
            let may_be_missing = may_be_missing && !matches!(announced, Form::Record { .. });
            assert_eq!(is_refused, !may_be_missing, "{announced:?}");
        });
        assert_eq!(values(&bytes, "c")[..3], wanted, "{announced:?}");
    }
}

#[test]
fn arrays_that_were_not_announced_are_refused_and_nothing_is_lost() {
    let good = array(numbers("n", DType::Int32), 2, vec![("n-data", items(&[1i32, 2]))]);
    let other = array(numbers("n", DType::Int64), 2, vec![("n-data", items(&[1i64, 2]))]);
    let short = Array { length: 3, ..good.clone() };
    let columns = [("a".to_owned(), good.form.clone()), ("b".to_owned(), good.form.clone())];
    let bytes = file(&columns, plain(), |ntuple, file| {
        ntuple.extend(file, &[good.clone(), good.clone()]).unwrap();
        for (wrong, what) in [
            (vec![good.clone()], "1 columns where 2 were announced"),
            (vec![good.clone(), other], "an array of int64, where int32 was announced"),
            (vec![good.clone(), short.clone()], "3 entries, where the first column has 2"),
            (vec![short.clone(), short], "holds 2 items where 3 are needed"),
        ] {
            let error = ntuple.extend(file, &wrong).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        ntuple.extend(file, &[good.clone(), good.clone()]).unwrap();
    });
    assert_eq!(values(&bytes, "b"), ["1", "2", "1", "2"]);
}
