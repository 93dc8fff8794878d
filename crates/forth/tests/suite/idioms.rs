//! What the manual promises to be native is, and columns go on where earlier blocks ended.

use std::cell::Cell;
use std::sync::Arc;

use forthwith_forth::idioms::Idiom;
use forthwith_forth::{
    Compiled, DType, LEAD, Limits, Machine, Memory, OutOfMemory, Output, RunError, SLACK, Status,
};

use super::support::{f32s, i64s, run};

#[test]
fn every_example_of_the_manual_is_fused() {
    let manual = include_str!("../../IDIOMS.md");
    let mut count = 0;
    for block in manual.split("```forth\n").skip(1) {
        let source = block.split("```").next().unwrap();
        let compiled = Compiled::new(source).unwrap_or_else(|error| panic!("{error}"));
        let explained = compiled.explain();
        assert!(
            (explained.contains(": fused: ") || explained.contains(": flat code: "))
                && !explained.contains("checked: "),
            "{source}\n{explained}"
        );
        count += 1;
    }
    assert_eq!(count, 13);
    let entry = manual.split("```forth\n").nth(1).unwrap().split("```").next().unwrap();
    let explained = Compiled::new(entry).unwrap().explain();
    assert!(
        explained.contains("native entry loop (starts, stops, byte count, version, end check), lists 1 deep")
    );
}

/// A program in which an idiom stands between the bounds of an entry.
fn program_of(idiom: Idiom) -> String {
    let read = match idiom {
        Idiom::Start | Idiom::StartBehind => "starts I-> stack",
        Idiom::Stop => "stops I-> stack",
        _ => "data zigzag-> stack",
    };
    let given = [
        ("DATA", "data"),
        ("STOP", "stop"),
        ("OFFSETS", "offsets"),
        ("OUT", "out"),
        ("OTHER", "other"),
        ("N", "4"),
        ("M", "2"),
        ("CODE", "7"),
        ("READ", read),
        ("MANY", "data #B-> items"),
        ("ITEM", "data B-> items"),
        ("COMPARE", ">"),
        ("BODY", "data d-> floats"),
        ("OTHERWISE", "8 data skip"),
    ];
    let replace = |word| given.iter().find(|(name, _)| *name == word).map_or(word, |(_, text)| *text);
    let text: Vec<&str> = idiom.template().split_whitespace().map(replace).collect();
    format!(
        "input data input starts input stops variable stop
        output offsets int64 output out int64 output other int64 output items uint8 output floats float64
        0 do starts I-> stack data seek stops I-> stack stop ! {} loop",
        text.join(" ")
    )
}

#[test]
fn every_idiom_is_recognised_by_its_template() {
    for &idiom in Idiom::ALL {
        let source = program_of(idiom);
        let compiled = Compiled::new(&source).unwrap_or_else(|error| panic!("{idiom:?}: {error}"));
        let explained = compiled.explain();
        assert!(explained.contains(": fused: "), "{idiom:?}: {source}\n{explained}");
        // A branch of two with nothing but something skipped in one of them is told by what is skipped.
        assert!(compiled.idioms().any(|found| found == idiom), "{idiom:?}: {source}");
    }
}

/// Each word of a template matters: with another one, the program is not taken for this idiom.
#[test]
fn no_idiom_is_recognised_by_part_of_its_template() {
    for &idiom in Idiom::ALL {
        let source = program_of(idiom);
        let words: Vec<&str> = source.split_whitespace().collect();
        let begin = words.iter().rposition(|word| *word == "stop").filter(|_| idiom == Idiom::Stop);
        let begin =
            begin.map_or_else(|| words.iter().position(|word| *word == "!").unwrap() + 1, |at| at - 2);
        for at in begin..words.len() - 1 {
            for other in ["+", "-", "dup", "<"] {
                let mut changed = words.clone();
                if changed[at] == other || !is_word_of(idiom, changed[at]) {
                    continue;
                }
                changed[at] = other;
                let Ok(compiled) = Compiled::new(&changed.join(" ")) else { continue };
                let found = compiled.idioms().any(|found| found == idiom);
                assert!(!found, "{idiom:?} with {other} for {}: {}", words[at], changed.join(" "));
            }
        }
    }
}

/// Whether a word of a program is one of the template's own. Behind the arms of a `case` there may be
/// anything.
fn is_word_of(idiom: Idiom, word: &str) -> bool {
    let any = word == "halt" && matches!(idiom, Idiom::Case | Idiom::StoredCase);
    idiom.template().split_whitespace().any(|own| own == word) && !any
}

/// What `forthwith-program` and `forthwith-root` write between the bounds of an entry.
#[test]
fn what_readers_emit_is_fused() {
    const TEXT: &str = "data B-> stack dup 255 = if drop data !I-> stack then";
    let any = format!("data pos stop @ < if {TEXT} else 0 then dup a +<- stack data #B-> text");
    let text = format!("{TEXT} dup a +<- stack data #B-> text");
    let frame = "data !I-> stack 1073741824 - data pos + stop @ <> if 1 halt then
        data !H-> stack 16383 > if 2 halt then";
    let to_end = |body: &str| format!("0 begin data pos stop @ < while 1+\n{body}\nrepeat b +<- stack");
    let list = "data !I-> stack dup a +<- stack data #!f-> floats";
    let bits = "data !I-> stack dup 16 and if 2 data skip then bits <- stack";
    let framed = |body: &str| format!("data pos stop @ < if {frame} then\n{body}");
    let lists = |body: &str| format!("data !I-> stack dup b +<- stack\n0 do\n{body}\nloop");
    for body in [
        any.clone(),
        text.clone(),
        bits.to_owned(),
        to_end(bits),
        to_end(list),
        to_end(&text),
        to_end("data !f-> floats"),
        to_end("data !f-> floats data !I-> bits"),
        to_end("3 data #!f-> floats"),
        to_end(&lists(&text).replace("b +<-", "c +<-")),
        framed(&to_end(list)),
        framed(&to_end(&text)),
        format!("{frame}\n{}", lists(&text)),
        format!("{frame}\n{}", lists(bits)),
        format!("10 data skip\n{list}"),
        format!("10 data skip\n{}", lists(list)),
        "data !I-> stack dup a +<- stack\n3 * data #!f-> floats".to_owned(),
        format!("3 data #!f-> floats\n{any}\n1 data #!I-> bits"),
        "1 data #!I-> bits\nstop @ data pos - 4 / dup a +<- stack\n1 * data #!f-> floats".to_owned(),
    ] {
        let source = format!(
            "input data input starts input stops variable stop output a int64 output b int64 output c int64
            output floats float32 output bits uint32 output text uint8
            0 do
              starts I-> stack data seek
              stops I-> stack stop !
              {body}
              data pos stop @ <> if 3 halt then
            loop"
        );
        let explained = Compiled::new(&source).unwrap().explain();
        let native = explained.contains(": fused: ") || explained.contains(": flat code: ");
        assert!(native && !explained.contains("checked: "), "{source}\n{explained}");
    }
}

/// The number of items goes where the items go: behind them.
#[test]
fn items_up_to_the_end_and_their_number_in_one_output() {
    let source = "input data input stops variable stop output y int32
        0 do
          stops I-> stack stop !
          0 begin data pos stop @ < while 1+ data !i-> y repeat y +<- stack
        loop";
    let data: Vec<u8> = (1..6_i32).flat_map(i32::to_be_bytes).collect();
    let stops: Vec<u8> = [8_u32, 8, 20].into_iter().flat_map(u32::to_le_bytes).collect();
    let (machine, result) = run(source, &[3], &[&data, &stops]);
    assert_eq!(result, Ok(Status::Done));
    let items: Vec<u8> = [1, 2, 4, 4, 3, 4, 5, 8_i32].into_iter().flat_map(i32::to_ne_bytes).collect();
    assert_eq!(machine.outputs()[0].as_bytes(), items);
}

/// Starts of either sign, with something between them and the lists, whole and wrong in every way.
#[test]
fn starts_lead_to_what_is_read() {
    let entries: usize = if cfg!(miri) { 6 } else { 30 };
    for (code, ahead, end) in [
        ("i", "6 +", ""),
        ("I", "6 +", ""),
        ("i", "0 +", ""),
        ("i", "", ""),
        ("i", "6 +", "3 data #!h-> shorts"),
    ] {
        let source = format!(
            "input data input starts output outer int64 output inner int64 output values float32 output shorts int16
            0 do
              starts {code}-> stack {ahead} data seek
              data !I-> stack dup outer +<- stack 0 do data !I-> stack dup inner +<- stack data #!f-> values loop {end}
            loop"
        );
        let skipped = if ahead == "6 +" { 6 } else { 0 };
        let explained = Compiled::new(&source).unwrap().explain();
        assert!(
            explained.contains(if end.is_empty() { "native entry loop (start" } else { "flat code: start" }),
            "{explained}"
        );
        let (mut data, mut starts) = (Vec::new(), Vec::new());
        for lists in 0..entries as u32 {
            starts.push(data.len() as i32);
            data.extend(vec![0; skipped]);
            data.extend(lists.to_be_bytes());
            for items in 0..lists {
                data.extend(items.to_be_bytes());
                (0..items).for_each(|item| data.extend((item as f32).to_be_bytes()));
            }
            data.extend([0, 1, 0, 2, 0, 3]);
        }
        for (entry, start) in [
            (0, 0),
            (entries / 2, -1),
            (entries / 2, -(skipped as i32)),
            (3, i32::MIN),
            (entries - 1, i32::MAX),
            (entries - 1, data.len() as i32 - skipped as i32),
            (entries / 3, data.len() as i32),
            (entries / 3, data.len() as i32 + 1),
        ] {
            let mut starts = starts.clone();
            starts[entry] = start;
            let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
            let (machine, result) = run(&source, &[entries as i64], &[&data, &bytes]);
            // A start before the data may lead into them.
            let leads = start <= 0 && start >= -(skipped as i32) && (start == 0 || code == "i");
            assert_eq!(result.is_ok(), leads, "{start} {source}");
            if entry == 0 {
                assert_eq!(machine.outputs()[0].len(), entries);
                assert_eq!(machine.outputs()[1].len(), entries * (entries - 1) / 2);
            }
        }
    }
}

#[test]
fn explain_says_why_not() {
    let explained = Compiled::new("input x output y int32\n0 do\n  x i-> y i drop\nloop").unwrap().explain();
    assert!(
        explained.contains("loop at line 2 col 3: flat code: no idiom begins here (line 3 col 11)"),
        "{explained}"
    );
}

const ENTRY: &str = "input data input starts input stops variable stop
    output offsets int64 output values float32
    0 do
      starts I-> stack data seek
      stops I-> stack stop !
      data !I-> stack 0x40000000 - data pos + stop @ <> if 1 halt then
      data !H-> stack 9 > if 2 halt then
      data !I-> stack dup offsets +<- stack data #!f-> values
      data pos stop @ <> if 3 halt then
    loop";

/// Framed entries with 0, 1, 2, … items.
fn entries(count: u32) -> [Vec<u8>; 3] {
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for items in 0..count {
        starts.extend((data.len() as u32).to_le_bytes());
        data.extend((0x4000_0000 + 6 + 4 * items).to_be_bytes());
        data.extend([0, 9]);
        data.extend(items.to_be_bytes());
        (0..items).for_each(|item| data.extend((item as f32).to_be_bytes()));
        stops.extend((data.len() as u32).to_le_bytes());
    }
    [data, starts, stops]
}

#[test]
fn faults_name_the_entry_and_the_byte() {
    let good = entries(40);
    let inputs = |data: &[Vec<u8>; 3]| data.clone();
    let run = |data: &[Vec<u8>; 3]| run(ENTRY, &[40], &[&data[0], &data[1], &data[2]]);
    let (vm, result) = run(&good);
    assert_eq!(result, Ok(Status::Done));
    assert_eq!(vm.outputs()[1].len(), 40 * 39 / 2);

    // Entry 20 starts after 20 headers of ten bytes and 190 items.
    let start = 20 * 10 + 190 * 4;
    for (offset, value, fault, at) in [(3, 1, 1, 4), (5, 10, 2, 6), (9, 19, 3, 10 + 19 * 4)] {
        let mut bad = inputs(&good);
        bad[0][start + offset] = value;
        let (vm, result) = run(&bad);
        assert_eq!(result, Err(RunError::UserHalt(Some(fault))));
        assert_eq!((vm.outer_index(), vm.position(0)), (Some(20), start + at));
    }
    let mut bad = inputs(&good);
    bad[0][start + 6] = 0x70;
    let (vm, result) = run(&bad);
    assert_eq!(result, Err(RunError::ReadBeyond));
    assert_eq!((vm.outer_index(), vm.position(0)), (Some(20), start + 10));
    assert_eq!(vm.outputs()[1].len(), 190);
}

/// Memory in which a column already has items; it moves at every growth.
struct Continued {
    bytes: Vec<Cell<u8>>,
    before: usize,
}

impl Continued {
    fn new(before: &[u8]) -> Box<Self> {
        let mut bytes = vec![Cell::new(0); LEAD];
        bytes.extend(before.iter().copied().map(Cell::new));
        let before = bytes.len();
        bytes.resize(before + SLACK, Cell::new(0));
        Box::new(Self { bytes, before })
    }
}

// SAFETY: the vector spans the leading bytes, the capacity and the slack; cells may be written through a
// shared pointer.
unsafe impl Memory for Continued {
    fn as_ptr(&self) -> *mut u8 {
        self.bytes.as_ptr().wrapping_add(self.before).cast_mut().cast()
    }

    fn capacity(&self) -> usize {
        self.bytes.len() - self.before - SLACK
    }

    fn grow(&mut self, _: usize, needed: usize) -> Result<(), OutOfMemory> {
        let mut bytes = Vec::with_capacity(self.before + needed + SLACK);
        bytes.extend_from_slice(&self.bytes);
        bytes.resize(self.before + needed + SLACK, Cell::new(0));
        self.bytes = bytes;
        Ok(())
    }
}

#[test]
fn a_column_continues_from_what_stands_before() {
    let data = entries(5);
    let before: Vec<u8> = [0_i64, 7, 1000].iter().flat_map(|offset| offset.to_ne_bytes()).collect();
    let mut machine = Machine::new(Arc::new(Compiled::new(ENTRY).unwrap()), Limits::default());
    let offsets = Output::new(DType::Int64, Continued::new(&before));
    let values = Output::new(DType::Float32, Continued::new(&[]));
    machine.begin_with(vec![offsets, values]).unwrap();
    machine.push(5).unwrap();
    assert_eq!(machine.resume(&[&data[0], &data[1], &data[2]]), Ok(Status::Done));
    assert_eq!(i64s(&machine.outputs()[0]), [1000, 1001, 1003, 1006, 1010]);
    assert_eq!(f32s(&machine.outputs()[1])[..3], [0.0, 0.0, 1.0]);
}
