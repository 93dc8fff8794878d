use crate::{ASKED_OUTPUTS, Count, Dialect, Entry, Finisher, Frame, Layout, TextLength, When, translate};
use forthwith_columns::{DType, Encoding, OBJECT_BITS};
use forthwith_forth::{Compiled, Limits, Machine, Output, Status, idioms::Idiom};
use std::sync::Arc;

const FRAMED: Dialect =
    Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };

fn floats() -> Layout {
    Layout::Number(Encoding::Big(DType::Float32))
}

#[test]
fn nested_lists_have_one_line_a_level() {
    let program = translate(&floats().list().list(), &FRAMED, true, "hits").unwrap();
    assert_eq!(
        program.source,
        "input data
input starts
input stops
variable stop
output node0-offsets int64
output node1-offsets int64
output node2-data float32
0 do
  starts I-> stack data seek
  stops I-> stack stop !
  data !I-> stack 1073741824 - data pos + stop @ <> if 1 halt then
  data !H-> stack 16383 > if 2 halt then
  data !I-> stack dup node0-offsets +<- stack
  0 do
    data !I-> stack dup node1-offsets +<- stack
    data #!f-> node2-data
  loop
  data pos stop @ <> if 3 halt then
loop
"
    );
    assert_eq!(program.member_at(13), Some("hits"));
    assert_eq!(program.member_at(16), Some("hits[][]"));
    assert_eq!(program.member_at(3), None);
    assert_eq!(program.fault(3).map(|f| f.what.as_str()), Some("the entry's bytes are not consumed exactly"));
}

#[test]
fn text_lists_and_records() {
    let layout = Layout::Record {
        name: Some("Jet".into()),
        fields: vec![
            ("pt".into(), Layout::Number(Encoding::Big(DType::Float64))),
            ("tags".into(), Layout::Text.list()),
            ("cov".into(), Layout::Fixed(3, Box::new(floats()))),
        ],
    };
    let dialect = Dialect { entry: Frame::None, ..FRAMED };
    let program = translate(&layout, &dialect, false, "jet").unwrap();
    assert_eq!(program.form.type_string(), "{pt: float64, tags: var * string, cov: 3 * float32}");
    assert!(!program.source.contains("starts"));
    assert!(program.source.contains("3 data #!f-> node3-data"));
}

#[test]
fn items_to_the_end_need_bounds() {
    let item = floats().list();
    let layout = Entry::ToEnd(&item);
    let dialect = Dialect { entry: Frame::Skip(6), ..FRAMED };
    assert!(translate(layout, &dialect, false, "x").is_err());
    let program = translate(layout, &dialect, true, "x").unwrap();
    assert_eq!(program.form.type_string(), "var * var * float32");
}

#[test]
fn hopeless_depth_is_refused() {
    let mut layout = floats();
    for _ in 0..100 {
        layout = layout.list();
    }
    assert!(translate(&layout, &FRAMED, true, "x").is_err());
}

#[test]
fn packed_numbers_are_kept_as_bytes_until_all_are_there() {
    let wire = Encoding::Truncated { bits: 12, to: DType::Float32 };
    let program = translate(&Layout::Number(wire).list(), &FRAMED, true, "x").unwrap();
    assert!(program.source.contains("3 * data #B-> node1-packed"), "{}", program.source);
    assert_eq!(program.finish, [Finisher::Unpack { key: "node1".into(), wire }]);
    assert_eq!(program.form.type_string(), "var * float32");
}

#[test]
fn numbers_that_are_stored_in_several_ways_say_how() {
    let packed = Encoding::Scaled { factor: 2.0, min: -1.0, max: 1.0, to: DType::Float64 };
    let of = |wire| Layout::Mixed(wire, DType::Float64);
    let arm =
        |version, x| (When::Version(version), Layout::Record { name: None, fields: vec![("x".into(), x)] });
    let (latest, other) = (of(packed), of(Encoding::Big(DType::Float32)));
    let arms = vec![arm(3, latest.clone()), arm(2, other), arm(1, Layout::Absent(Box::new(latest)))];
    let program = translate(&Layout::Versioned(arms), &FRAMED, true, "x").unwrap();
    for line in [
        "0 node0-mixed <- stack 4 data #B-> node0-mixed",
        "1 node0-mixed <- stack 4 data #B-> node0-mixed",
        "255 node0-mixed <- stack",
    ] {
        assert!(program.source.contains(line), "{}", program.source);
    }
    let wires = vec![packed, Encoding::Big(DType::Float32)];
    assert_eq!(program.finish, [Finisher::Mixed { key: "node0".into(), wires, to: DType::Float64 }]);
    assert_eq!(program.form.type_string(), "{x: float64}");
}

#[test]
fn frames_versions_and_items_field_by_field() {
    let float = Layout::Number(Encoding::Big(DType::Float32));
    let record =
        Layout::Record { name: None, fields: vec![("x".into(), float.clone()), ("y".into(), float)] };
    let versions = |of: Layout| vec![(When::Version(3), of.clone()), (When::Checksum(0xdead_beef), of)];
    let object = Layout::Framed { shared: false, of: Box::new(Layout::Versioned(versions(record.clone()))) };
    let together = Layout::Versioned(versions(Layout::Columns(Box::new(record))));
    let arms = vec![(When::Any, object.list()), (When::Together, together)];
    let hits = Layout::Framed { shared: true, of: Box::new(Layout::Versioned(arms)) };
    let dialect = Dialect { entry: Frame::None, ..FRAMED };
    let program = translate(&hits, &dialect, true, "hits").unwrap();
    assert_eq!(program.form.type_string(), "var * {x: float32, y: float32}");
    // Two hits, once one after the other, once field by field.
    let floats = |of: &[f32]| of.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let counted = |body: &[u8]| {
        let count = 0x4000_0000u32 | body.len() as u32;
        [&count.to_be_bytes()[..], body].concat()
    };
    let hit = |of: &[f32]| counted(&[&[0, 3][..], &floats(of)].concat());
    let apart = counted(&[&[0, 9, 0, 0, 0, 2][..], &hit(&[1.0, 2.0]), &hit(&[3.0, 4.0])].concat());
    let sum = [0, 0, 0xde, 0xad, 0xbe, 0xef];
    let body = [&[0x40, 9][..], &sum, &[0, 0, 0, 2], &floats(&[1.0, 3.0, 2.0, 4.0])].concat();
    let together = counted(&body);
    let run = |bytes: &[u8]| {
        let stop = (bytes.len() as u32).to_le_bytes();
        let compiled = Arc::new(Compiled::new(&program.source).unwrap());
        let mut machine = Machine::new(compiled, Limits::default());
        let kinds = [DType::Int64, DType::Float32, DType::Float32];
        machine.begin_with(kinds.map(Output::owned).into()).unwrap();
        machine.push(1).unwrap();
        machine.resume(&[bytes, &[0; 4], &stop]).map(|_| {
            let text = |at: usize| format!("{:?}", machine.outputs()[at].as_bytes());
            (text(0), text(1), text(2))
        })
    };
    let expected = run(&apart).unwrap();
    assert_eq!(run(&together).unwrap(), expected);
    assert!(expected.1.contains("128, 63") && expected.2.contains("128, 64"), "{expected:?}");
    // A count that lies, an unknown version, more items than bytes.
    for at in [3, 9, 13] {
        let mut bad = together.clone();
        bad[at] ^= 1;
        assert!(run(&bad).is_err(), "byte {at}");
    }
}

const SIGNED: Dialect = Dialect { counts: Count::Blocks, text: TextLength::ZigZag, entry: Frame::None };

#[test]
fn lists_in_blocks_and_options() {
    let layout = Layout::Record {
        name: None,
        fields: vec![
            ("hits".into(), Layout::Number(Encoding::Little(DType::Float32)).list().list()),
            ("id".into(), Layout::union(vec![Layout::Null, Layout::Varint(DType::Int64)])),
        ],
    };
    let program = translate(&layout, &SIGNED, false, "").unwrap();
    assert_eq!(
        program.source,
        "input data
output node0-offsets int64
output node1-offsets int64
output node2-data float32
output node3-tags int8
output node4-data int64
0 do
  0 begin data zigzag-> stack dup 0 < if negate data zigzag-> stack over 0 < over 0 < or if 16 halt then data pos + else 0 then over while
  over 0 do
    0 begin data zigzag-> stack dup 0 < if negate data zigzag-> stack over 0 < over 0 < or if 16 halt then data pos + else 0 then over while
      over data #f-> node2-data dup if data pos <> if 16 halt then else drop then +
    repeat drop drop node1-offsets +<- stack
  loop dup if data pos <> if 16 halt then else drop then + repeat drop drop node0-offsets +<- stack
  data zigzag-> stack dup node3-tags <- stack case
    0 of
    endof
    1 of
      data zigzag-> node4-data
    endof
  4 halt endcase
loop
"
    );
    assert_eq!(program.form.type_string(), "{hits: var * var * float32, id: ?int64}");
    assert_eq!(program.finish, [crate::Finisher::Option { key: "node3".into(), null: 0 }]);
    assert!(program.signed);
    assert_eq!(program.member_at(17), Some("id"));
}

#[test]
fn what_is_skipped_is_not_kept() {
    let fields = vec![
        ("a".into(), Layout::Skipped(Box::new(Layout::Number(Encoding::Little(DType::Float64))))),
        ("b".into(), Layout::Skipped(Box::new(Layout::Opaque(5)))),
        ("c".into(), Layout::Varint(DType::Int32)),
        ("d".into(), Layout::Skipped(Box::new(Layout::Text.list()))),
        ("e".into(), Layout::Text),
    ];
    let layout = Layout::Arranged { name: None, fields, order: vec![4, 2] };
    let program = translate(&layout, &SIGNED, false, "").unwrap();
    assert_eq!(program.form.type_string(), "{e: string, c: int32}");
    assert!(
        program.source.contains("  13 data skip\n  data zigzag-> stack dup -2147483648 <"),
        "{}",
        program.source
    );
    assert_eq!(program.outputs.len(), 3);
}

#[test]
fn constants_come_from_an_input_of_their_own() {
    let constant = Layout::Constant([14u8].as_slice().into(), Box::new(Layout::Varint(DType::Int64)));
    let fields = vec![("a".into(), Layout::Varint(DType::Int32)), ("z".into(), constant)];
    let layout = Layout::Arranged { name: None, fields, order: vec![0, 1] };
    let program = translate(&layout, &SIGNED, false, "").unwrap();
    assert!(program.source.contains("  0 constants seek\n  constants zigzag-> node1-data\n"));
    assert_eq!(program.constants, [14, 0]);
}

/// Runs a program over one entry without a frame. Returns the numbers in its outputs, or the code of its
/// fault.
fn run<'a>(layout: impl Into<Entry<'a>>, data: &[u8], counts: &[u8]) -> Result<Vec<Vec<f64>>, i64> {
    run_asked(layout, data, counts, |_| 0)
}

/// Runs a program as [`run`] does; `answer` returns the answer to a request at a `pause`.
fn run_asked<'a>(
    layout: impl Into<Entry<'a>>,
    data: &[u8],
    counts: &[u8],
    answer: impl Fn(i64) -> i64,
) -> Result<Vec<Vec<f64>>, i64> {
    let program = translate(layout, &Dialect { entry: Frame::None, ..FRAMED }, true, "x").unwrap();
    let compiled = Arc::new(Compiled::new(&program.source).unwrap());
    let mut machine = Machine::new(compiled, Limits::default());
    machine.begin();
    if program.origin {
        machine.push(0).unwrap();
    }
    machine.push(1).unwrap();
    let (starts, stops) = (0u32.to_le_bytes(), (data.len() as u32).to_le_bytes());
    let mut inputs = vec![data, &starts, &stops];
    if program.counts {
        inputs.push(counts);
    }
    loop {
        match machine.resume(&inputs) {
            Ok(Status::Done) => break,
            Ok(_) => {
                let request = machine.pop().unwrap();
                machine.push(answer(request)).unwrap();
            }
            Err(_) => return Err(machine.stack().last().copied().unwrap_or(0)),
        }
    }
    Ok(machine.outputs().iter().map(numbers).collect())
}

/// Returns the items of an output.
pub(crate) fn numbers(output: &Output) -> Vec<f64> {
    let bytes = output.as_bytes();
    match output.dtype() {
        DType::UInt8 => bytes.iter().map(|&n| f64::from(n)).collect(),
        DType::Int8 => bytes.iter().map(|&n| f64::from(n as i8)).collect(),
        DType::Int32 => bytes.as_chunks().0.iter().map(|n| f64::from(i32::from_ne_bytes(*n))).collect(),
        DType::Int64 => bytes.as_chunks().0.iter().map(|n| i64::from_ne_bytes(*n) as f64).collect(),
        DType::Float32 => bytes.as_chunks().0.iter().map(|n| f64::from(f32::from_ne_bytes(*n))).collect(),
        _ => bytes.as_chunks().0.iter().map(|n| f64::from_ne_bytes(*n)).collect(),
    }
}

fn int() -> Layout {
    Layout::Number(Encoding::Big(DType::Int32))
}

fn words(of: &[i32]) -> Vec<u8> {
    of.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn half_a_matrix_is_a_whole_one() {
    let fields = vec![
        ("n".to_owned(), Layout::Counter(1, Box::new(int()))),
        ("m".to_owned(), Layout::Triangle(1, Encoding::Big(DType::Float64))),
        ("behind".to_owned(), int()),
    ];
    let layout = Layout::Record { name: None, fields: fields.clone() };
    let mut data = words(&[3]);
    data.extend((1..=6).flat_map(|n| f64::from(n).to_be_bytes()));
    data.extend(words(&[7]));
    let found = run(&layout, &data, &[]).unwrap();
    assert_eq!(found[1..3], [vec![9.0], vec![1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]]);
    assert_eq!(found[3], [7.0]);
    let [n, (name, m), behind] = fields.try_into().unwrap();
    let skipped =
        Layout::Record { name: None, fields: vec![n, (name, Layout::Skipped(Box::new(m))), behind] };
    assert_eq!(run(&skipped, &data, &[]).unwrap(), [[3.0], [7.0]]);
    // More rows than bytes, and more than squares have room for.
    for rows in [4, 0x7fff_ffff, -1] {
        data[..4].copy_from_slice(&words(&[rows]));
        assert!(run(&layout, &data, &[]).is_err(), "{rows}");
    }
}

/// Returns an encoded pointer to a new object of class `P` with one number.
fn object(number: i32) -> Vec<u8> {
    [words(&[0x4000_0000 | 10, -1]), b"P\0".to_vec(), words(&[number])].concat()
}

#[test]
fn pointers_to_one_object_have_its_value() {
    let layout = Layout::Pointer(vec![("P".into(), int())]).list();
    // The third leads to the first, the fourth is null; positions are two more than they are.
    let data = [words(&[4]), object(7), object(8), words(&[6, 0])].concat();
    let (first, second) = (f64::from(4 << OBJECT_BITS | 1), f64::from((4 + 14) << OBJECT_BITS | 1));
    let found = run(&layout, &data, &[]).unwrap();
    assert_eq!(found, [vec![4.0], vec![first, second, first, 0.0], vec![7.0, 8.0, 7.0]]);
    // A class that has its row is not read again; the first output are the offsets.
    let asked = 4 * ASKED_OUTPUTS + 1;
    let back = |request: i64| if request == asked { -2 << 32 } else { 0 };
    let found = run_asked(&layout, &data, &[], back).unwrap();
    assert_eq!(found, [vec![4.0], vec![first, second, back(asked) as f64, 0.0], vec![7.0, 8.0]]);
    let fault = |data: &[u8]| run(&layout, data, &[]).unwrap_err();
    let reference = |to: i32| [words(&[2]), object(7), words(&[to])].concat();
    // To itself, to something behind, to before the data, to what is no object.
    for to in [20, 22, 100, 1, 2, 10] {
        assert_eq!(fault(&reference(to)), 13, "{to}");
    }
    let many = [words(&[101]), object(7), words(&[6; 100])].concat();
    assert!(run(&layout, &many, &[]).is_ok());
    // Long objects that many pointers share would be more memory than a file pays for.
    let long = Layout::Pointer(vec![("P".into(), int().list())]).list();
    let numbers = [words(&[0x4000_0000 | (6 + 4 + 4000), -1]), b"P\0".to_vec(), words(&[1000])].concat();
    let long_data = [words(&[101]), numbers, words(&[5; 1000]), words(&[6; 100])].concat();
    assert_eq!(run(&long, &long_data, &[]).unwrap_err(), 15);
}

#[test]
fn what_nobody_describes_is_a_fault_where_it_is() {
    let unknown = || Layout::Unknown("Q".into());
    assert_eq!(run(&unknown().list(), &words(&[0]), &[]).unwrap(), [[0.0]]);
    assert_eq!(run(&unknown().list(), &words(&[1, 0]), &[]).unwrap_err(), 100);
    let program = translate(&unknown().list(), &FRAMED, true, "x").unwrap();
    assert!(program.fault(100).is_some_and(|fault| fault.what.contains("the class Q,")));
    // Where there always is one, it cannot be planned.
    let record = Layout::Record { name: None, fields: vec![("q".into(), unknown())] };
    let refused = translate(&record, &FRAMED, true, "x").unwrap_err();
    assert_eq!(refused.to_string(), "Q, which the file does not describe");
    assert_eq!(run(&record.list(), &words(&[0]), &[]).unwrap(), [[0.0]]);
}

#[test]
fn what_no_column_can_have_is_refused_where_it_is() {
    let refused = |name: &str| (name.to_owned(), Layout::Refused(format!("{name}, for a reason")));
    let layout = Layout::Pointer(vec![("P".into(), int()), refused("PP"), refused("\"")]);
    let program = translate(&layout.clone().list(), &FRAMED, true, "x").unwrap();
    assert_eq!(program.form.type_string(), "var * ?int32", "of what can be delivered");
    let data = [words(&[2]), object(7), words(&[0])].concat();
    assert_eq!(run(&layout.clone().list(), &data, &[]).unwrap()[2], [7.0]);
    let data = [words(&[1, 0x4000_0000 | 11, -1]), b"PP\0".to_vec(), words(&[7])].concat();
    assert_eq!(run(&layout.list(), &data, &[]).unwrap_err(), 100);
    assert!(program.fault(100).is_some_and(|fault| fault.unsupported && fault.what == "PP, for a reason"));
    // Nothing else: null can be read.
    let layout = Layout::Pointer(vec![refused("PP")]).list();
    assert_eq!(run(&layout, &words(&[1, 0]), &[]).unwrap(), [vec![1.0], vec![0.0]]);
    assert_eq!(run(&layout, &data, &[]).unwrap_err(), 100);
}

#[test]
fn another_column_counts() {
    let items = Layout::Counted { slot: 1, flag: true, of: Box::new(floats()) };
    let item = Layout::Between(vec![Layout::Given(1, DType::Int32)], Box::new(items), vec![]);
    let layout = Entry::ToEnd(&item);
    let number = |n: f32| n.to_be_bytes().to_vec();
    let data = [vec![1], number(1.5), number(2.5), vec![0, 1], number(3.5)].concat();
    let counts = |of: &[i32]| of.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>();
    let found = run(layout, &data, &counts(&[2, 9, 1])).unwrap();
    assert_eq!(found, [vec![3.0], vec![2.0, 2.0, 3.0], vec![1.5, 2.5, 3.5]]);
    assert_eq!(run(layout, &data, &counts(&[2, 9, 1, 1])).unwrap_err(), 14);
    assert!(run(layout, &data, &counts(&[2, 9])).is_err());
    assert!(run(layout, &data, &counts(&[2, 9, 2])).is_err());
    assert_eq!(run(layout, &data, &counts(&[-2, 9, 1])).unwrap_err(), 5);
}

/// Returns layouts, each with a dialect and whether entries have bounds. Together they use all idioms that
/// the translator writes.
fn samples() -> Vec<(Layout, Dialect, bool)> {
    let plain = Dialect { entry: Frame::None, ..FRAMED };
    let blocks = Dialect { counts: Count::Blocks, text: TextLength::ZigZag, entry: Frame::None };
    let skipped = |of: Layout| Layout::Skipped(Box::new(of));
    let record = |fields: Vec<Layout>| {
        let named = fields.into_iter().enumerate().map(|(at, field)| (format!("f{at}"), field));
        Layout::Record { name: None, fields: named.collect() }
    };
    let double = || Layout::Number(Encoding::Little(DType::Float64));
    let long = || Layout::Varint(DType::Int64);
    let union = |tagged, arms: Vec<Layout>| {
        let numbered = (0..).zip(arms.clone()).map(|(at, arm)| Some((at, arm))).collect();
        Layout::Union(crate::Union { tagged, arms: numbered, alternatives: arms })
    };
    let flagged = || Layout::Flagged(Box::new(floats()));
    let pair = || Layout::Fixed(2, Box::new(floats()));
    let mut samples = vec![
        (floats().list().list(), FRAMED, true),
        (record(vec![Layout::Opaque(16), Layout::Fixed(3, Box::new(Layout::Text)), pair()]), plain, false),
        (record(vec![pair().list(), Layout::Text.list()]), plain, false),
        (record(vec![skipped(flagged().list()), floats()]), plain, false),
        (Layout::OrNothing(Box::new(floats().list())), plain, true),
        (record(vec![skipped(Layout::OrNothing(Box::new(flagged()))), Layout::Text]), plain, true),
        (Layout::Flagged(Box::new(record(vec![double(), Layout::Text]))), plain, true),
        (record(vec![skipped(flagged()), floats()]), plain, true),
        (record(vec![double().list(), Layout::Text.list(), long()]), blocks, false),
        (union(true, vec![Layout::Null, double()]), blocks, false),
        (
            record(vec![union(true, vec![Layout::Null, double()]), union(true, vec![long(), double()])]),
            blocks,
            false,
        ),
    ];
    for value in [long(), Layout::Text, double(), double().list(), Layout::Text.list(), long().list()] {
        samples.push((record(vec![skipped(value.clone()), double()]), blocks, false));
        samples.push((
            record(vec![skipped(union(true, vec![Layout::Null, value])), double()]),
            blocks,
            false,
        ));
    }
    samples
}

/// Checks that the matcher recognises all idioms that the translator writes, and that those it knows besides
/// are listed here.
#[test]
fn idioms_are_written_and_recognised() {
    let mut found = Vec::new();
    let to_end = Dialect { entry: Frame::Skip(10), ..FRAMED };
    let mut programs = vec![translate(Entry::ToEnd(&Layout::Text), &to_end, true, "x").unwrap()];
    for (layout, dialect, bounded) in samples() {
        programs.push(translate(&layout, &dialect, bounded, "x").unwrap());
    }
    for program in programs {
        let compiled = Compiled::new(&program.source).unwrap();
        let explained = compiled.explain();
        assert!(explained.contains(": fused: "), "{}{explained}", program.source);
        found.extend(compiled.idioms());
    }
    let elsewhere = [
        // Of `TLeafC` and of leaf lists, and the bits of a `TObject`: `ttree`.
        Idiom::TextIfAny,
        Idiom::Rest,
        Idiom::Flags,
        // In programs that people write: Awkward Array's documentation and the formats of one's own.
        Idiom::StartBehind,
        Idiom::BlocksOfItems,
        Idiom::Blocks,
        Idiom::StoredIf,
        Idiom::StoredIfElse,
        Idiom::Number,
        Idiom::AddedNumber,
        Idiom::Length,
        Idiom::Frame,
    ];
    for idiom in Idiom::ALL {
        assert_ne!(found.contains(idiom), elsewhere.contains(idiom), "{idiom:?}: {}", idiom.template());
    }
}
