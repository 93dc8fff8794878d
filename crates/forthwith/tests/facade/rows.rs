//! Rows with types: structs against files of all formats.
#![cfg(all(feature = "derive", feature = "root", feature = "avro", feature = "parquet-write"))]

use forthwith::{
    File, Row, Step, Table, Writer,
    columns::Array,
    plan::WriteOptions,
    rows::{Be, Date, Decimal, Le, List, Micro, Nested, Timestamp},
};
fn file(name: &str) -> File {
    File::open(format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR")))
        .expect("a file of the repository")
}

fn events() -> Table {
    file("zmumu.root").table("events").expect("a tree")
}

fn column(name: &str) -> Array {
    events().column(name).expect("a column")
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Muon {
    pt: f32,
    eta: f32,
    phi: f32,
    charge: i32,
}

#[derive(Row)]
struct Event<'a> {
    #[row(name = "MET_pt")]
    met: f32,
    #[row(name = "Muon_pt")]
    muon_pt: &'a [f32],
    #[row(prefix = "Muon_", count = "nMuon")]
    muons: List<'a, Muon>,
    #[row(default)]
    absent: f32,
}

#[test]
fn rows_are_the_columns() {
    let (met, pt) = (column("MET_pt"), column("Muon_pt"));
    let (met, pt) = (met.as_slice::<f32>().unwrap(), pt.as_jagged::<f32>().unwrap());
    let mut row = 0;
    events()
        .rows::<Event>()
        .unwrap()
        .step(Step::Entries(1000))
        .for_each(|event| {
            assert_eq!((event.met, event.muon_pt, event.absent), (met[row], &pt[row], 0.0));
            assert!(event.muons.iter().map(|muon| muon.pt).eq(pt[row].iter().copied()));
            row += 1;
        })
        .unwrap();
    assert_eq!(row, 3600);
}

fn refusal<R: Row>(table: &Table) -> String {
    table.rows::<R>().err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn all_misfits_are_one_error_before_anything_is_read() {
    #[derive(Row)]
    struct Misfit<'a> {
        met_pt: f32,
        #[row(name = "MET_pt")]
        met: i32,
        #[row(name = "Muon_pt")]
        pt: f32,
        #[row(name = "Muon_eta")]
        eta: &'a [f64],
        #[row(prefix = "Muon_", count = "nMuons")]
        muons: List<'a, Wrong>,
        #[row(name = "nMuon")]
        count: Option<i64>,
    }
    #[derive(Row)]
    struct Wrong {
        pt: f32,
        charge: bool,
        mas: f32,
    }
    let error = refusal::<Misfit>(&events());
    let lines: Vec<&str> = error.lines().map(str::trim).collect();
    assert!(lines[0].contains("7 fields of Misfit cannot be read"), "{error}");
    assert_eq!(
        lines[1..8],
        [
            "met_pt: there is no column \"met_pt\"; did you mean MET_pt, MET_phi?",
            "met: column \"MET_pt\" is float32, not int32",
            "pt: column \"Muon_pt\" is var * float32, not float32",
            "eta: column \"Muon_eta\" is var * float32, not var * float64: a slice is of exactly the column's numbers",
            "muons: there is no column \"nMuons\"; did you mean nMuon?",
            "muons[].charge: column \"Muon_charge\" is int32, not bool",
            "muons[].mas: there is no column \"Muon_mas\"; did you mean Muon_eta, Muon_phi, Muon_pt?",
        ],
        "{error}"
    );
    assert!(error.contains("zmumu.root"), "{error}");
}

/// The rows that pass a cut, by each way to go over them.
#[test]
fn all_ways_over_rows_agree() {
    let table = events();
    let rows = || table.rows::<Event>().unwrap().cut("nMuon >= 2").range(100..3000).step(Step::Entries(700));
    let expected = table.select(
        &["MET_pt"],
        forthwith::SelectOptions { cut: Some("nMuon >= 2".into()), ..forthwith::SelectOptions::default() },
    );
    let expected = expected.unwrap().read(100..3000, None, None).unwrap();
    let (kept, met) = (expected.kept.unwrap(), expected.arrays[0].as_slice::<f32>().unwrap().to_vec());

    let mut each = Vec::new();
    rows().for_each(|event| each.push(event.met)).unwrap();
    assert_eq!(each, met);

    let (mut next, mut reader) = (Vec::new(), rows().threads(1));
    while let Some(event) = reader.next().unwrap() {
        assert!(event.muons.len() >= 2);
        next.push(event.met);
    }
    assert_eq!(next, met);
    assert!(reader.next().unwrap().is_none(), "after the last one");

    let (mut batches, mut entries) = (Vec::new(), Vec::new());
    for batch in rows().batches().unwrap() {
        let batch = batch.unwrap();
        assert_eq!(batch.columns().met.len(), batch.len());
        entries.extend((0..batch.len()).filter_map(|row| batch.entry(row)));
        batches.extend((&batch).into_iter().map(|event| event.met));
    }
    assert_eq!((batches, entries), (met, kept));
}

#[test]
fn a_parallel_fold_does_not_depend_on_threads() {
    let table = events();
    let sum = |threads| {
        let rows = table.rows::<Event>().unwrap().step(Step::Entries(97)).threads(threads);
        rows.par_fold(|| 0f32, |sum, event| *sum += event.met * 1.1, |sum, other| *sum += other).unwrap()
    };
    let alone = sum(1);
    assert!(alone > 0.0);
    for threads in [2, 3, 8] {
        assert_eq!(sum(threads).to_bits(), alone.to_bits(), "{threads} threads");
    }
}

#[test]
fn events_allocate_nothing() {
    let table = events();
    let rows = table.rows::<Event>().unwrap();
    for batch in rows.batches().unwrap() {
        let batch = batch.unwrap();
        let counted = allocation_counter::measure(|| {
            let mut sum = 0.0;
            for event in &batch {
                sum += event.met + event.muon_pt.iter().sum::<f32>();
                sum += event.muons.iter().map(|muon| muon.pt).sum::<f32>();
            }
            assert!(sum > 0.0);
        });
        assert_eq!((batch.len(), counted.count_total), (3600, 0));
    }
}

#[derive(Row, Debug, Clone, PartialEq)]
enum Number<'a> {
    Whole(i64),
    Text(&'a str),
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Hit<'a> {
    x: f64,
    label: &'a str,
    samples: &'a [i16],
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Everything<'a> {
    number: i32,
    truth: bool,
    maybe: Option<f32>,
    text: &'a str,
    owned: String,
    bytes: Vec<u8>,
    place: [f64; 3],
    list: &'a [f32],
    nested: Vec<&'a [i32]>,
    hits: Vec<Hit<'a>>,
    best: Hit<'a>,
    maybe_list: Option<Vec<Option<i64>>>,
    day: Date,
    moment: Timestamp<Micro>,
}

/// What a generator of pseudo-random numbers gives next.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

const WORDS: [&str; 5] = ["", "a", "µ → e", "a longer text", "…"];
const FLOATS: [f32; 8] = [0.0, 1.5, -2.25, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, 3.0, 4.0];
const SHORTS: [i16; 6] = [0, 1, -1, i16::MAX, i16::MIN, 7];
const INTS: [i32; 4] = [i32::MIN, 0, 5, i32::MAX];

fn hit(state: &mut u64) -> Hit<'static> {
    let count = random(state) as usize % 6;
    Hit { x: random(state) as f64, label: WORDS[random(state) as usize % 5], samples: &SHORTS[..count] }
}

fn everything(state: &mut u64) -> Everything<'static> {
    let mut below = |most: u64| (random(state) % most) as usize;
    let (lists, hits, items) = (below(4), below(4), below(3));
    let (word, other, floats, options) = (WORDS[below(5)], WORDS[below(5)], below(9), below(4));
    let nested = (0..lists).map(|_| &INTS[..below(5)]).collect();
    let maybe_list =
        (options > 0).then(|| (0..items).map(|_| (below(2) > 0).then(|| below(99) as i64)).collect());
    Everything {
        number: random(state) as i32,
        truth: random(state).is_multiple_of(2),
        maybe: (options > 1).then_some(2.5),
        text: word,
        owned: other.to_owned(),
        bytes: word.bytes().rev().collect(),
        place: [random(state) as f64, -1.0, f64::EPSILON],
        list: &FLOATS[..floats.min(8)],
        nested,
        hits: (0..hits).map(|_| hit(state)).collect(),
        best: hit(state),
        maybe_list,
        day: Date(random(state) as i32 % 100_000),
        moment: Timestamp::new(random(state) as i64 % 1_000_000_000_000_000),
    }
}

fn written<'r, R: Row + 'r>(path: &str, rows: impl IntoIterator<Item = R>, options: WriteOptions) {
    let mut writer = Writer::<R>::create_with(path, options).expect("a file");
    writer.extend(rows).expect("rows");
    writer.finish().expect("a file");
}

/// Rows of all types, written and read again.
#[test]
fn random_rows_come_back() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, name) in [(1, "all.parquet"), (2, "all.arrow")] {
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
        let rows: Vec<Everything<'_>> = (0..1500).map(|_| everything(&mut state)).collect();
        let path = folder.path().join(name).to_string_lossy().into_owned();
        written(&path, rows.iter().cloned(), WriteOptions::default());
        let table = File::open(&path).unwrap().table("").unwrap();
        let mut at = 0;
        table
            .rows::<Everything>()
            .unwrap()
            .step(Step::Entries(400))
            .for_each(|row| {
                assert_eq!(row, rows[at], "row {at} of {name}");
                at += 1;
            })
            .unwrap();
        assert_eq!(at, rows.len());
    }
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Written<'a> {
    run: i64,
    weight: f64,
    label: &'a str,
    list: &'a [f32],
    #[row(prefix = "Muon_", count = "nMuon")]
    muons: Vec<Muon>,
}

#[test]
fn lists_by_a_prefix_are_written_to_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let muon =
        |at: i64| Muon { pt: at as f32, eta: 0.5, phi: -0.5, charge: if at % 2 == 0 { 1 } else { -1 } };
    let rows: Vec<Written<'_>> = (0..3000i64)
        .map(|run| Written {
            run,
            weight: run as f64 / 3.0,
            label: WORDS[run as usize % 5],
            list: &FLOATS[..run as usize % 5],
            muons: (0..run % 4).map(muon).collect(),
        })
        .collect();
    let ntuple = WriteOptions { table: Some("ntuple".into()), ..WriteOptions::default() };
    for (name, object, options) in [
        ("a.root", ":events", WriteOptions::default()),
        ("b.root", ":events", ntuple),
        ("c.parquet", "", WriteOptions::default()),
        ("d.avro", "", WriteOptions::default()),
        ("e.arrow", "", WriteOptions::default()),
    ] {
        let path = folder.path().join(name).to_string_lossy().into_owned();
        written(&format!("{path}{object}"), rows.iter().cloned(), options);
        let table = File::open(&path).unwrap().table(object.trim_start_matches(':')).unwrap();
        let mut read = table.rows::<Written>().unwrap_or_else(|error| panic!("{name}: {error}"));
        for row in &rows {
            assert_eq!(read.next().unwrap().as_ref(), Some(row), "{name}");
        }
        assert!(read.next().unwrap().is_none());
    }
    let tree = File::open(folder.path().join("a.root")).unwrap().table("events").unwrap();
    let mut names: Vec<_> = tree.fields().unwrap().iter().map(|field| field.name.as_str()).collect();
    names.sort_unstable();
    let muons = ["Muon_charge", "Muon_eta", "Muon_phi", "Muon_pt"];
    let others = ["label", "list", "nMuon", "nlist", "run", "weight"];
    assert_eq!(names, [muons.as_slice(), &others].concat(), "the lists of muons have one counter");
}

#[test]
fn unions_are_enums() {
    #[derive(Row, Debug, Clone, PartialEq)]
    struct Holder<'a> {
        number: Number<'a>,
    }
    let numbers = [Number::Whole(5), Number::Text("five"), Number::Text(""), Number::Whole(-1)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unions.avro").to_string_lossy().into_owned();
    let rows: Vec<Holder<'_>> = numbers.iter().cloned().map(|number| Holder { number }).collect();
    written(&path, rows.iter().cloned(), WriteOptions::default());
    let table = File::open(&path).unwrap().table("").unwrap();
    let mut read = table.rows::<Holder>().unwrap();
    for row in &rows {
        assert_eq!(read.next().unwrap().as_ref(), Some(row));
    }
    #[derive(Row)]
    struct Wrong {
        number: Other,
    }
    #[derive(Row)]
    enum Other {
        Whole(i64),
        Real(f64),
    }
    let error = refusal::<Wrong>(&table);
    assert!(error.contains("number: column \"number\" is union[int64, string], not the variants of Other: no variant is string"), "{error}");
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Raw {
    x: Be<f32>,
    n: i32,
}

#[derive(Row, Debug, Clone, PartialEq)]
struct Plain {
    x: f32,
    n: i32,
}

#[test]
fn raw_numbers_are_views_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let rows = || (0..50_000).map(|n| Plain { x: n as f32 / 7.0, n });
    let (stored, packed, ntuple) = (at("stored.root"), at("packed.root"), at("ntuple.root"));
    let codec = |codec: &str| WriteOptions { codec: Some(codec.into()), ..WriteOptions::default() };
    written(&stored, rows(), codec("none"));
    written(&packed, rows(), codec("zstd"));
    written(&ntuple, rows(), WriteOptions { table: Some("ntuple".into()), ..codec("none") });
    let table = |path: &str| {
        let file = File::map(path).unwrap();
        let name = if path.contains("ntuple") { "ntuple" } else { "tree" };
        file.table(name).unwrap()
    };
    let mut expected = rows();
    table(&stored)
        .rows::<Raw>()
        .unwrap()
        .for_each(|row| {
            let plain = expected.next().unwrap();
            assert_eq!((row.x.get(), row.n), (plain.x, plain.n));
        })
        .unwrap();
    assert!(expected.next().is_none());
    #[derive(Row)]
    struct Little {
        x: Le<f32>,
    }
    for (table, why) in [
        (table(&packed), "block 0 of \"x\" is compressed"),
        (File::open(&stored).unwrap().table("tree").unwrap(), "the file was not opened by File::map"),
    ] {
        let error = refusal::<Raw>(&table);
        assert!(error.contains(&format!("x: column \"x\" cannot be read raw: {why}")), "{error}");
    }
    let mut expected = rows();
    let each = |row: Little| assert_eq!(row.x.get(), expected.next().unwrap().x);
    table(&ntuple)
        .rows::<Little>()
        .map(|rows| rows.for_each(each))
        .unwrap_or_else(|error| panic!("{error}"))
        .unwrap();
    let error = refusal::<Little>(&table(&stored));
    assert!(error.contains("is stored as Big(Float32), not least significant byte first"), "{error}");
    #[derive(Row)]
    struct Cut {
        x: Be<f32>,
    }
    let error = table(&stored).rows::<Cut>().unwrap().cut("n > 5").batches().err().unwrap().to_string();
    assert!(error.contains("rows with raw numbers"), "{error}");
}

#[test]
fn counters_that_lie_and_text_that_is_not_utf8_are_errors() {
    #[derive(Row)]
    struct Lists {
        #[row(prefix = "a_", count = "n")]
        items: Vec<Item>,
    }
    #[derive(Row)]
    struct Item {
        x: f32,
        y: i32,
    }
    #[derive(Row)]
    struct Columns<'a> {
        n: i32,
        a_x: &'a [f32],
        a_y: &'a [i32],
    }
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, n: i32, y: usize| {
        let path = folder.path().join(name).to_string_lossy().into_owned();
        written(
            &path,
            [
                Columns { n: 1, a_x: &FLOATS[..1], a_y: &INTS[..1] },
                Columns { n, a_x: &FLOATS[..2], a_y: &INTS[..y] },
            ],
            WriteOptions::default(),
        );
        let table = File::open(&path).unwrap().table("").unwrap();
        let mut sum = 0.0;
        let mut each = |row: Lists| row.items.iter().for_each(|item| sum += item.x + item.y as f32);
        let read = table.rows::<Lists>().unwrap().for_each(&mut each);
        read.map(|()| sum).map_err(|error| error.to_string())
    };
    assert!(read("true.parquet", 2, 2).is_ok());
    let error = read("counter.parquet", 3, 2).unwrap_err();
    assert!(error.contains("\"n\" is 3 in row 1 of the step, and \"a_x\" has 2 items there"), "{error}");
    let error = read("lengths.parquet", 2, 3).unwrap_err();
    assert!(error.contains("lists of one struct differ in length in row 1"), "{error}");
}

#[test]
fn decimals_and_nested_lists_are_read() {
    #[derive(Row, Debug, Clone, PartialEq)]
    struct Exact {
        price: Decimal<20, 2>,
    }
    #[derive(Row)]
    struct Lists<'a> {
        nested: Nested<'a, i32>,
    }
    #[derive(Row)]
    struct Filled {
        nested: Vec<Vec<i32>>,
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exact.parquet").to_string_lossy().into_owned();
    let rows = [
        Exact { price: Decimal(1234) },
        Exact { price: Decimal(-5) },
        Exact { price: Decimal(10i128.pow(19)) },
    ];
    written(&path, rows.clone(), WriteOptions::default());
    let mut read = File::open(&path).unwrap().table("").unwrap().rows::<Exact>().unwrap();
    for row in &rows {
        assert_eq!(read.next().unwrap().as_ref(), Some(row));
    }
    let path = folder.path().join("nested.root").to_string_lossy().into_owned();
    let filled =
        || (0..100).map(|row| Filled { nested: (0..row % 4).map(|size| vec![row; size as usize]).collect() });
    written(&path, filled(), WriteOptions::default());
    let mut read = File::open(&path).unwrap().table("tree").unwrap().rows::<Lists>().unwrap();
    for row in filled() {
        let lists =
            read.next().unwrap().map(|row| row.nested.iter().map(<[i32]>::to_vec).collect::<Vec<_>>());
        assert_eq!(lists, Some(row.nested));
    }
}
