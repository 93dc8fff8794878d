//! Formats of one's own.
#![cfg(feature = "builders")]
#![expect(clippy::expect_used, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::{
    Engine, File, Options, OwnBlock, OwnFormat, Step, Table,
    columns::Array,
    io::{Memory, Source},
    plan::{Error, ErrorKind, Result},
    register, registered, replace, unregister,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// An entry is its number, some hits of channel and charge, a name, and a weight that may be missing.
const TYPE: &str =
    "{id: uint32, hits: var * {channel: uint16, charge: float32}, name: string, weight: ?float64}";

/// Reads to the end of its data.
const LOOP: &str = "
    input data
    output id uint32  output hits int64  output channel uint16  output charge float32
    output name int64  output text uint8  output there int64  output weight float64
    variable weights
    0 hits <- stack  0 name <- stack
    begin data end invert while
        data I-> id
        data B-> stack dup hits +<- stack 0 do data H-> channel data f-> charge loop
        data B-> stack dup name +<- stack data #B-> text
        data B-> stack if data d-> weight weights @ there <- stack 1 weights +! else -1 there <- stack then
    repeat";

/// The same for a number of entries that stands on the stack.
fn counted() -> String {
    LOOP.replace("begin data end invert while", "0 do").replace("repeat", "loop")
}

fn entry(number: u32, into: &mut Vec<u8>) {
    into.extend(number.to_le_bytes());
    let hits = (number % 4) as u8;
    into.push(hits);
    for hit in 0..hits {
        into.extend(u16::from(hit).to_le_bytes());
        into.extend((number as f32 + f32::from(hit) / 4.0).to_le_bytes());
    }
    let name = format!("é{}", number % 7);
    into.push(name.len() as u8);
    into.extend(name.bytes());
    into.push(u8::from(number.is_multiple_of(3)));
    if number.is_multiple_of(3) {
        into.extend(f64::from(number).to_le_bytes());
    }
}

/// A file with blocks, each behind its number of entries and of bytes.
fn blocks_of(magic: &[u8], sizes: &[u32]) -> Vec<u8> {
    let (mut bytes, mut number) = (magic.to_vec(), 0);
    for size in sizes {
        let mut block = Vec::new();
        for _ in 0..*size {
            entry(number, &mut block);
            number += 1;
        }
        bytes.extend(size.to_le_bytes());
        bytes.extend((block.len() as u32).to_le_bytes());
        bytes.extend(block);
    }
    bytes
}

/// Finds them.
fn listed(source: &Arc<dyn Source>) -> Result<Vec<OwnBlock>> {
    let (mut at, size, mut found) = (4, source.size()?, Vec::new());
    while at < size {
        let head = source.read_one(at..at + 8)?;
        let number = |at: usize| head[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four).into());
        found.push(OwnBlock { bytes: at + 8..at + 8 + number(4), entries: number(0) });
        at += 8 + number(4);
    }
    Ok(found)
}

fn open(name: &str, bytes: &[u8]) -> Result<File> {
    File::from_source(Arc::new(Memory::new(name, bytes.to_vec())), Arc::new(Engine::new(Options::default())))
}

fn table(name: &str, bytes: &[u8]) -> Table {
    open(name, bytes).and_then(|file| file.table("")).expect("a file of a registered format")
}

fn read(table: &Table, threads: usize) -> Vec<Array> {
    let plan = table.plan(&["id", "hits", "name", "weight"], ..).expect("a plan");
    table.read(&plan, Some(threads), None).expect("sound data")
}

fn values(array: &Array) -> Vec<i16> {
    array.columns[0].1.as_i16().expect("int16").to_vec()
}

fn refused<T>(result: Result<T>) -> Error {
    result.err().expect("an error")
}

#[test]
fn blocks_threads_and_parts_agree_with_the_whole() {
    register(OwnFormat::new("o1-whole", LOOP, TYPE).expect("fits").magic(b"O1w.")).expect("is free");
    let listing = OwnFormat::new("o1-blocks", &counted(), TYPE).expect("fits").magic(b"O1b.").blocks(listed);
    register(listing).expect("is free");
    for sizes in [vec![600], vec![1, 0, 599], vec![6; 100], vec![]] {
        let total: u32 = sizes.iter().sum();
        let mut flat = b"O1w.".to_vec();
        (0..total).for_each(|number| entry(number, &mut flat));
        let whole = table("whole", &flat);
        let expected = read(&whole, 1);
        assert_eq!(expected[0].length, u64::from(total));
        let blocks = table("blocks", &blocks_of(b"O1b.", &sizes));
        assert_eq!((blocks.entries().expect("known"), blocks.file().format()), (total.into(), "o1-blocks"));
        for threads in 1..=4 {
            let found = read(&blocks, threads);
            assert_eq!(found, expected, "{sizes:?} by {threads} threads");
            found.iter().for_each(|array| array.validate().expect("sound"));
        }
        for (from, to) in [(0, total), (0, 1), (5, 7), (3, 599), (599, 600), (300, 300)] {
            let (from, to) = (u64::from(from.min(total)), u64::from(to.min(total)));
            for table in [&whole, &blocks] {
                let plan = table.plan(&["weight", "hits", "weight"], from..to).expect("a plan");
                let found = table.read(&plan, Some(2), None).expect("sound");
                let part = |at: usize| {
                    expected[at].part(from..to).expect("there").values(0..to - from).expect("sound")
                };
                let values = |array: &Array| array.values(0..array.length).expect("sound");
                assert_eq!(found.iter().map(values).collect::<Vec<_>>(), [part(3), part(1), part(3)]);
            }
        }
        let steps = blocks.steps(&["id"], .., Step::Entries(250)).expect("steps");
        let rows: Vec<u64> = steps.map(|step| step.expect("sound").arrays[0].length).collect();
        assert_eq!(rows.iter().sum::<u64>(), u64::from(total));
    }
    assert!(unregister("o1-whole") && unregister("o1-blocks") && !unregister("o1-blocks"));
    assert!(open("blocks", &blocks_of(b"O1b.", &[1])).is_err());
}

#[test]
fn values_that_are_no_records_are_one_column() {
    let program = "input data output offsets int32 output bytes uint8
        0 offsets <- stack begin data end invert while data B-> stack dup offsets +<- stack data #B-> bytes repeat";
    register(OwnFormat::new("o2", program, "bytes").expect("fits").ending(".O2")).expect("is free");
    let one = table("folder.x/some.o2", b"\x02ab\x00\x01c");
    assert_eq!(one.fields().expect("one").iter().map(|field| &*field.name).collect::<Vec<_>>(), ["value"]);
    let values = one.column("value").expect("sound");
    assert_eq!((values.length, values.form.type_string()), (3, "bytes".into()));
    unregister("o2");
}

/// Which entries of a type cannot be is said at once, and which a file has not, with file, format, block and byte.
#[test]
fn what_does_not_fit_is_an_error_and_never_an_array() {
    let make = |program: &str, of: &str| refused(OwnFormat::new("o3", program, of)).to_string();
    for (program, of, said) in [
        ("input data output x int32", "float32", "the format o3: the beginning of float32 needs float32"),
        ("input data output x int32 output y int32", "int32", "there is y int32 besides"),
        ("input data output x int32 nonsense", "int32", "does not compile"),
        ("input bytes output x int32", "int32", "one input, `data`; this one has bytes"),
        ("input data output x int32", "{x: int32", "the format o3: "),
        ("input data output x complex64", "complex128", "the format o3"),
        ("input data output x int32 output y int32", "{a: int32, a: int32}", "the format o3"),
        ("input data output x int32", "datetime64[s]", "the format o3"),
        ("input data", "{}", "the format o3"),
    ] {
        let error = make(program, of);
        assert!(error.contains(said), "{error}");
    }
    let fails = |program: &str, of: &str, bytes: &[u8], said: &[&str]| {
        let format = OwnFormat::new("o3", program, of).expect("fits").ending("o3").blocks(|source| {
            // The first block is sound, and two or three bytes long.
            let half = if source.size()? == 6 { 3 } else { 2 };
            Ok(vec![
                OwnBlock { bytes: 0..half, entries: 1 },
                OwnBlock { bytes: half..source.size()?, entries: 1 },
            ])
        });
        replace(format).expect("may be replaced");
        let table = table("file.o3", bytes);
        for threads in [1, 3] {
            let plan = table.plan(&[0], ..).expect("a plan");
            let error = refused(table.read(&plan, Some(threads), None));
            assert!(matches!(error.kind, ErrorKind::Fault { .. }), "{error}");
            let text = error.to_string();
            for said in said.iter().chain(&["the format o3", "file.o3", "block 1"]) {
                assert!(text.contains(said), "{text} lacks {said}");
            }
        }
    };
    let numbers = "input data output n int32 data B-> stack 0 do data b-> n loop drop";
    fails(numbers, "int32", b"\x01\x05\x01", &["read beyond", "line 1", "byte"]);
    fails(numbers, "int32", b"\x01\x05\x02\x05\x05", &["2 entries of a block that has 1"]);
    fails(numbers, "int32", b"\x01\x05\x01\x05\x05", &["1 bytes of the block are left over", "byte +0x2"]);
    fails(
        "input data output n int32 data b-> n data b-> stack if pause then",
        "int32",
        b"\x01\0\x01\x01",
        &["paused"],
    );
    let lists = "input data output o int64 output n int8
        data b-> o data b-> o data b-> stack 0 do 7 n <- stack loop";
    fails(lists, "var * int8", b"\0\x01\x01\0\x02\x01", &["o ends at 2, and the lists have 1 items"]);
    fails(lists, "var * int8", b"\0\x01\x01\x01\x01\x01", &["offsets begin with 0, not with 1"]);
    let twice = "input data output o int64 output n int8
        0 o <- stack data b-> o data b-> o data b-> stack 0 do 7 n <- stack loop";
    fails(twice, "2 * var * int8", b"\x01\x01\x01\x05\x01\x01", &["ends before it starts"]);
    let option = "input data output at int64 output n int8 data b-> at data b-> n";
    fails(option, "?int8", b"\0\0\x01\x07", &["holds 1 items where 2 are needed"]);
    let rows = "input data output a int8 output b int8
        data b-> a data b-> stack data b-> stack swap if b <- stack else drop then";
    fails(rows, "{a: int8, b: int8}", b"\x01\x01\x01\x02\0\x01", &["b: has 0 rows, and a has 1"]);
    unregister("o3");
}

#[test]
fn blocks_that_cannot_be_are_refused_when_the_file_is_opened() {
    let list = |bytes: std::ops::Range<u64>, entries| {
        let format = OwnFormat::new("o4", "input data output x int8", "int8").expect("fits").magic(b"O4..");
        let first = OwnBlock { bytes: 0..1, entries: 1 };
        replace(format.blocks(move |_| Ok(vec![first.clone(), OwnBlock { bytes: bytes.clone(), entries }])))
            .expect("may be replaced");
        refused(open("some", b"O4..data")).to_string()
    };
    #[expect(clippy::reversed_empty_ranges, reason = "what a file may say")]
    let backwards = 5..4;
    for (bytes, entries, said) in [
        (backwards, 1, "from byte 5 to 4 of 8"),
        (0..9, 1, "from byte 0 to 9 of 8"),
        (0..8, u64::MAX, "entries more than 1"),
        (0..8, i64::MAX as u64, "entries more than 1"),
    ] {
        let error = list(bytes, entries);
        assert!(error.contains(said) && error.contains("some, block 1") && error.contains("o4"), "{error}");
    }
    let header = OwnFormat::new("o4", "input data output x int8", "int8").expect("fits");
    replace(header.magic(b"O4..").header(9)).expect("may be replaced");
    let error = refused(open("some", b"O4..data")).to_string();
    assert!(error.contains("a header of the format o4 has 9 bytes, the file has 8"), "{error}");
    unregister("o4");
}

/// A number of entries that no bytes account for is an error of the block, not memory.
#[test]
fn a_number_of_entries_is_not_believed() {
    let format = OwnFormat::new("o5", "input data output x int8 0 do data b-> x loop", "int8").expect("fits");
    let many = 1 << 60;
    let blocks = move |_: &Arc<dyn Source>| Ok(vec![OwnBlock { bytes: 4..8, entries: many }]);
    register(format.magic(b"O5..").blocks(blocks)).expect("is free");
    let error = refused(table("some", b"O5..data").column("value"));
    assert!(matches!(error.kind, ErrorKind::Fault { .. }), "{error}");
    unregister("o5");
}

/// The name and the magic bytes win over formats of this build, the magic bytes alone do not.
#[test]
fn formats_are_recognised_in_order() {
    let program = "input data output x uint8 begin data end invert while data B-> x repeat";
    let make = |name| OwnFormat::new(name, program, "uint8").expect("fits");
    let format = |name: &str, bytes: &[u8]| open(name, bytes).map(|file| file.format());
    let avro = b"Obj\x01";
    register(make("o6").magic(avro)).expect("is free");
    assert_ne!(format("some.bin", avro).ok(), Some("o6"));
    register(make("o6-named").magic(avro).ending("o6")).expect("is free");
    assert_eq!(format("some.o6", avro).ok(), Some("o6-named"));
    assert!(format("some.avro", avro).is_err());
    let error = refused(open("some.o6", b"else")).to_string();
    assert!(error.contains("those of the format o6-named begin with [4f, 62, 6a, 01]"), "{error}");
    register(make("o6-any").ending(".o6")).expect("is free");
    assert_eq!(format("some.o6", b"else").ok(), Some("o6-any"));
    for name in ["o6", "o6-named", "o6-any"] {
        assert!(refused(register(make(name).ending("o6"))).to_string().contains("registered already"));
        assert!(unregister(name));
    }
    for (format, said) in [
        (make("ROOT").ending("x"), "there is a format of that name"),
        (make("o6"), "an extension, magic bytes or a function must say"),
        (make("o6").ending("x").even_blocks(0, 1), "blocks of no bytes"),
        (make("o6").ending("parquet"), "the extension .parquet belongs to Parquet files"),
        (make("o6").ending("a.b"), "is not an extension"),
        (make("o6").magic(b"O6").header(1).blocks(|_| Ok(Vec::new())), "a header is for files without"),
    ] {
        let error = refused(register(format)).to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// Rows of the alternatives of a union go on from block to block, and so do values that an index leaves out or repeats.
#[test]
fn indexes_go_on_from_block_to_block() {
    // An entry is a tag and a byte; tag 2 is null, and each null has a value all the same.
    let program = "input data
        output tags int8  output at int64  output there int64  output small int8  output lists int64  output text uint8
        0 lists <- stack
        begin data end invert while
            data B-> stack
            case
                0 of 0 tags <- stack  there len at <- stack  small len there <- stack  data b-> small endof
                1 of 1 tags <- stack  lists len 1- at <- stack  data B-> stack dup lists +<- stack
                     data #B-> text endof
                0 tags <- stack  there len at <- stack  -1 there <- stack  0 small <- stack  1 data skip
            endcase
        repeat";
    let of = "union[{a: ?int8}, string]";
    let blocks = |source: &Arc<dyn Source>| {
        let bytes = source.read_one(0..source.size()?)?;
        let (mut found, mut at, mut entries, mut start) = (Vec::new(), 2, 0, 2);
        while at < bytes.len() {
            at += if bytes[at] == 1 { 2 + usize::from(bytes[at + 1]) } else { 2 };
            entries += 1;
            if entries == usize::from(bytes[1]) || at == bytes.len() {
                found.push(OwnBlock { bytes: start as u64..at as u64, entries: entries as u64 });
                (entries, start) = (0, at);
            }
        }
        Ok(found)
    };
    register(OwnFormat::new("o8", program, of).expect("fits").magic(b"8").blocks(blocks)).expect("is free");
    let mut expected = None;
    for each in [1, 2, 3, 7, 200] {
        let mut bytes = vec![b'8', each];
        for entry in 0..50u8 {
            match entry % 7 % 5 {
                0 | 3 => bytes.extend([0, entry]),
                1 => bytes.extend([&[1, entry % 4], &b"abcd"[..usize::from(entry % 4)]].concat()),
                _ => bytes.extend([2, entry]),
            }
        }
        let table = table("some", &bytes);
        for threads in [1, 4] {
            let plan = table.plan(&["value"], ..).expect("a plan");
            let found = table.read(&plan, Some(threads), None).expect("sound").remove(0);
            found.validate().expect("sound");
            let values = found.values(0..50).expect("sound");
            assert_eq!(expected.get_or_insert_with(|| values.clone()), &values, "{each} by {threads}");
            for (from, to) in [(0, 7), (13, 14), (21, 50)] {
                let plan = table.plan(&["value"], from..to).expect("a plan");
                let part = table.read(&plan, Some(threads), None).expect("sound").remove(0);
                let part = part.values(0..to - from).expect("sound");
                assert_eq!(part, values[from as usize..to as usize], "{each} by {threads}");
            }
        }
    }
    unregister("o8");
}

#[test]
fn blocks_may_be_even() {
    let program = "input data output x int16 begin data end invert while data h-> x repeat";
    let make = |bytes, entries| {
        let format = OwnFormat::new("o9", program, "int16").expect("fits").ending("o9").header(1);
        replace(format.even_blocks(bytes, entries)).expect("may be replaced");
    };
    let bytes = |count: i16| [vec![0], (0..count).flat_map(i16::to_le_bytes).collect()].concat();
    for (count, each) in [(0, 1), (1, 1), (7, 3), (9, 3), (1000, 16)] {
        make(2 * each, each);
        let found = table("some.o9", &bytes(count)).column("value").expect("sound");
        assert_eq!(values(&found), (0..count).collect::<Vec<_>>(), "{count} by {each}");
    }
    make(6, 3);
    let error = refused(open("some.o9", &bytes(4)[..8])).to_string();
    assert!(
        error.contains("1 bytes behind its last whole block, which are no entries of 2 bytes"),
        "{error}"
    );
    make(5, 2);
    let error = refused(open("some.o9", &bytes(4))).to_string();
    assert!(error.contains("3 bytes behind its last whole block, which are no blocks of 5 bytes"), "{error}");
    let entries =
        OwnFormat::new("o9", program, "int16").expect("fits").ending("o9").header(1).even_entries(2);
    replace(entries).expect("may be replaced");
    assert_eq!(table("some.o9", &bytes(1000)).entries().expect("known"), 1000);
    unregister("o9");
}

#[test]
fn functions_recognise_files() {
    let program = "input data output x uint8 begin data end invert while data B-> x repeat";
    let by = |head: &[u8], name: &str| match (head, name) {
        ([b'!', ..], _) => Err(ErrorKind::Fault { what: "no idea".into() }.into()),
        (_, name) => Ok(name.contains("o10")),
    };
    register(OwnFormat::new("o10", program, "uint8").expect("fits").recognise(by)).expect("is free");
    assert_eq!(open("an-o10-file", b"abc").expect("is one").format(), "o10");
    assert!(refused(open("other", b"abc")).to_string().contains("not a"));
    let error = refused(open("other", b"!")).to_string();
    assert!(error.contains("no idea") && error.contains("other"), "{error}");
    unregister("o10");
}

/// A program that does not end is stopped soon, while it counts and while it reads, whatever threads there are.
#[test]
fn endless_programs_can_be_stopped() {
    let program = "input data output x uint8 begin again";
    let blocks = |_: &Arc<dyn Source>| {
        Ok(vec![OwnBlock { bytes: 0..2, entries: 1 }, OwnBlock { bytes: 2..4, entries: 1 }])
    };
    let format = OwnFormat::new("o11", program, "uint8").expect("fits").magic(b"11").blocks(blocks);
    register(format).expect("is free");
    let table = table("some", b"11--");
    let plan = table.plan(&[0], ..).expect("a plan");
    for threads in [1, 2, 4] {
        let begun = Instant::now();
        let mut tick = |_| begun.elapsed() < Duration::from_millis(50);
        let error = refused(table.read(&plan, Some(threads), Some(&mut tick)));
        assert!(matches!(error.kind, ErrorKind::Cancelled), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
    // An error in the first block ends what others do with later ones.
    let program = "input data output x uint8 data B-> stack 49 = if 99 halt then begin again";
    replace(OwnFormat::new("o11", program, "uint8").expect("fits").magic(b"11").blocks(blocks))
        .expect("may be");
    for tick in [false, true] {
        let table = self::table("some", b"11--");
        let plan = table.plan(&[0], ..).expect("a plan");
        let mut listens = |_| true;
        let error = refused(table.read(&plan, Some(2), tick.then_some(&mut listens)));
        assert!(error.to_string().contains("halt"), "{error}");
    }
    unregister("o11");
}

/// The outputs of a program are bounded by the file's limit, or by the size of the block.
#[test]
fn outputs_are_bounded() {
    let program = "input data output x int64 begin 1 x <- stack again";
    register(OwnFormat::new("o12", program, "int64").expect("fits").magic(b"12")).expect("is free");
    for limit in [Some(1 << 20), None] {
        let mut options = Options::default();
        options.policy.limit = limit;
        let source = Arc::new(Memory::new("some", b"12".to_vec()));
        let file = File::from_source(source, Arc::new(Engine::new(options))).expect("opens");
        let error = refused(file.table("").and_then(|table| table.entries()));
        assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().contains("the outputs of the program"), "{error}");
    }
    unregister("o12");
}

#[test]
fn damage_is_found_by_a_check() {
    let program = "input data output x int8 0 do data b-> x loop";
    let blocks = |source: &Arc<dyn Source>| {
        Ok((1..source.size()?).map(|at| OwnBlock { bytes: at..at + 1, entries: 1 + at / 3 }).collect())
    };
    register(OwnFormat::new("o13", program, "int8").expect("fits").magic(b"3").blocks(blocks))
        .expect("is free");
    let check = |bytes: &[u8]| open("some", bytes).and_then(|file| file.check()).expect("a report");
    assert_eq!(check(b"3ab").findings.len(), 0);
    let found = check(b"3abcde").findings;
    assert_eq!(
        found.iter().map(|finding| finding.byte).collect::<Vec<_>>(),
        [4, 5, 6].map(Some),
        "{found:?}"
    );
    unregister("o13");
}

/// Threads may register and read at the same time.
#[test]
fn registering_is_for_all_threads() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..20 {
                    let name = format!("o7-{thread}-{round}");
                    let format = OwnFormat::new(&name, LOOP, TYPE).expect("fits").ending(&name);
                    register(format).expect("is free");
                    assert_eq!(table(&format!("x.{name}"), b"").entries().expect("none"), 0);
                    assert!(unregister(&name));
                }
            });
        }
    });
    assert!(registered().iter().all(|format| !format!("{format:?}").contains("o7")));
}
