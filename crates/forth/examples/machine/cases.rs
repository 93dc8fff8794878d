//! Programs and the bytes they decode.

use std::fmt::Write as _;

use super::hand;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: String,
    pub(crate) inputs: Vec<Vec<u8>>,
    /// What stands on the stack at the start.
    pub(crate) start: Vec<i64>,
    /// What one second is divided by: bytes of content, or items.
    pub(crate) work: usize,
    pub(crate) unit: &'static str,
    /// Whether the result is the top of the stack.
    pub(crate) answers: bool,
    pub(crate) hand: hand::Hand,
}

type Make = Box<dyn Fn() -> Case>;

pub(crate) fn all(large: bool) -> Vec<Make> {
    let floats = if large { 1 << 24 } else { 1 << 18 };
    let mut cases: Vec<Make> = vec![
        Box::new(move || root(floats)),
        Box::new(move || avro(floats)),
        Box::new(move || blocks(floats, false)),
        Box::new(move || blocks(floats, true)),
        Box::new(move || records(floats * 4)),
    ];
    if !large {
        cases.extend([
            Box::new(framed) as Make,
            Box::new(strings),
            Box::new(levels_rle),
            Box::new(levels_offsets),
            Box::new(|| fields(1)),
            Box::new(|| fields(10)),
            Box::new(|| fields(100)),
            Box::new(move || unwanted(floats * 4)),
            Box::new(fibonacci),
            Box::new(tight),
            Box::new(until),
            Box::new(pauses),
        ]);
    }
    cases
}

/// Numbers with a Poisson distribution, the same every time.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn poisson(&mut self, mean: f64) -> usize {
        let (limit, mut product, mut count) = ((-mean).exp(), 1.0, 0);
        loop {
            product *= (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            if product <= limit {
                return count;
            }
            count += 1;
        }
    }
}

/// Lists of lists of lists: what a walk over them meets, in order.
enum Token {
    Count(usize),
    Value(f32),
    End,
}

fn walk(depth: usize, random: &mut Random, floats: &mut usize, emit: &mut dyn FnMut(Token)) {
    let count = random.poisson(8.0);
    emit(Token::Count(count));
    for _ in 0..count {
        if depth > 1 {
            walk(depth - 1, random, floats, emit);
        } else {
            *floats += 1;
            emit(Token::Value(*floats as f32));
        }
    }
    emit(Token::End);
}

const LISTS: &str = "output outer int32 output middle int32 output inner int32 output values float32
    0 outer <- stack 0 middle <- stack 0 inner <- stack\n";

fn root(wanted: usize) -> Case {
    let mut random = Random(42);
    let (mut data, mut starts) = (Vec::new(), Vec::new());
    let (mut floats, mut entries) = (0, 0);
    while floats < wanted {
        starts.extend((data.len() as u32).to_le_bytes());
        data.extend([0x40, 0, 0, 0, 0, 9]);
        walk(3, &mut random, &mut floats, &mut |token| match token {
            Token::Count(count) => data.extend((count as u32).to_be_bytes()),
            Token::Value(value) => data.extend(value.to_be_bytes()),
            Token::End => {}
        });
        entries += 1;
    }
    Case {
        name: "root-lists".to_owned(),
        program: format!(
            "input data input starts {LISTS}
             0 do
               starts i-> stack 6 + data seek
               data !i-> stack dup outer +<- stack
               0 do
                 data !i-> stack dup middle +<- stack
                 0 do
                   data !i-> stack dup inner +<- stack
                   data #!f-> values
                 loop
               loop
             loop"
        ),
        inputs: vec![data, starts],
        start: vec![entries],
        work: floats * 4,
        unit: "GB/s",
        answers: false,
        hand: hand::root,
    }
}

/// Entries with a byte count and a version, as most branches of objects have them, of bodies that begin with
/// a count.
fn entries(
    wanted: usize,
    body: &mut dyn FnMut(&mut Random, &mut Vec<u8>) -> usize,
) -> (Vec<Vec<u8>>, usize, i64) {
    let mut random = Random(3);
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let (mut work, mut entries) = (0, 0);
    while work < wanted {
        let start = data.len();
        starts.extend((start as u32).to_le_bytes());
        data.extend([0, 0, 0, 0, 0, 9]);
        work += body(&mut random, &mut data);
        let count = (data.len() - start - 4) as u32 | 0x4000_0000;
        data[start..start + 4].copy_from_slice(&count.to_be_bytes());
        stops.extend((data.len() as u32).to_le_bytes());
        entries += 1;
    }
    (vec![data, starts, stops], work, entries)
}

/// An entry round a body, with all its checks.
fn entry(outputs: &str, body: &str) -> String {
    format!(
        "input data input starts input stops variable stop {outputs}
         0 do
           starts I-> stack data seek
           stops I-> stack stop !
           data !I-> stack 0x40000000 - data pos + stop @ <> if 1 halt then
           data !H-> stack 9 > if 2 halt then
           {body}
           data pos stop @ <> if 3 halt then
         loop"
    )
}

/// Short lists of numbers, three on the average, each in an entry of its own.
fn framed() -> Case {
    let (inputs, work, entries) = entries(1 << 18, &mut |random, to| {
        let count = random.poisson(3.0);
        to.extend((count as u32).to_be_bytes());
        (0..count).for_each(|at| to.extend((at as f32).to_be_bytes()));
        count + 1
    });
    Case {
        name: "framed-lists".to_owned(),
        program: entry(
            "output offsets int64 output values float32 0 offsets <- stack",
            "data !I-> stack dup offsets +<- stack data #!f-> values",
        ),
        inputs,
        start: vec![entries],
        work,
        unit: "ns/item",
        answers: false,
        hand: hand::framed,
    }
}

/// Lists of strings of 0 to 16 characters.
fn strings() -> Case {
    let (inputs, work, entries) = entries(1 << 16, &mut |random, to| {
        let count = random.poisson(4.0);
        to.extend((count as u32).to_be_bytes());
        for _ in 0..count {
            let length = (random.bits() % 17) as u8;
            to.push(length);
            to.extend((0..length).map(|at| b'a' + at));
        }
        count
    });
    Case {
        name: "strings".to_owned(),
        program: entry(
            "output lists int64 output offsets int64 output text uint8 0 lists <- stack 0 offsets <- stack",
            "data !I-> stack dup lists +<- stack
             0 do
               data B-> stack dup 255 = if drop data !I-> stack then dup offsets +<- stack data #B-> text
             loop",
        ),
        inputs,
        start: vec![entries],
        work,
        unit: "ns/string",
        answers: false,
        hand: hand::strings,
    }
}

pub(crate) fn zigzag(value: i64, to: &mut Vec<u8>) {
    varint((value << 1 ^ value >> 63) as u64, to);
}

fn varint(mut rest: u64, to: &mut Vec<u8>) {
    while rest >= 0x80 {
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

/// As the paper has it: every array is one block, and its end is read and dropped.
fn avro(wanted: usize) -> Case {
    let mut random = Random(7);
    let (mut data, mut floats, mut entries) = (Vec::new(), 0, 0);
    while floats < wanted {
        walk(3, &mut random, &mut floats, &mut |token| match token {
            Token::Count(count) => zigzag(count as i64, &mut data),
            Token::Value(value) => data.extend(value.to_le_bytes()),
            Token::End => data.push(0),
        });
        entries += 1;
    }
    Case {
        name: "avro-paper".to_owned(),
        program: format!(
            "input data {LISTS}
             0 do
               data zigzag-> stack dup outer +<- stack
               0 do
                 data zigzag-> stack dup middle +<- stack
                 0 do
                   data zigzag-> stack dup inner +<- stack
                   data #f-> values
                   data b-> stack drop
                 loop
                 data b-> stack drop
               loop
               data b-> stack drop
             loop"
        ),
        inputs: vec![data],
        start: vec![entries],
        work: floats * 4,
        unit: "GB/s",
        answers: false,
        hand: hand::avro,
    }
}

const ITEMS: &str = ": items data zigzag-> stack dup 0 < if negate data zigzag-> stack drop then ;\n";

/// The same of blocks that have to end where they say.
const SIZED: &str = ": sized data zigzag-> stack
    dup 0 < if negate data zigzag-> stack over 0 < over 0 < or if 16 halt then data pos + else 0 then ;
: ends dup if data pos <> if 16 halt then else drop then ;
";

fn blocks(wanted: usize, ends: bool) -> Case {
    let mut random = Random(7);
    let (mut data, mut floats, mut entries) = (Vec::new(), 0, 0);
    while floats < wanted {
        walk(3, &mut random, &mut floats, &mut |token| match token {
            Token::Count(0) => {}
            Token::Count(count) => zigzag(count as i64, &mut data),
            Token::Value(value) => data.extend(value.to_le_bytes()),
            Token::End => data.push(0),
        });
        entries += 1;
    }
    let list = |items: &str, offsets: &str| match ends {
        true => format!("0 begin sized over while over {items} ends + repeat drop drop {offsets} +<- stack"),
        false => format!("0 begin items dup while dup {items} + repeat drop {offsets} +<- stack"),
    };
    let (words, inner) = (if ends { SIZED } else { ITEMS }, list("data #f-> values", "inner"));
    let (middle, outer) = (list("0 do read-inner loop", "middle"), list("0 do read-middle loop", "outer"));
    Case {
        name: if ends { "avro-blocks-ends" } else { "avro-blocks" }.to_owned(),
        program: format!(
            "input data {LISTS} {words}
             : read-inner {inner} ;
             : read-middle {middle} ;
             : read-outer {outer} ;
             0 do read-outer loop"
        ),
        inputs: vec![data],
        start: vec![entries],
        work: floats * 4,
        unit: "GB/s",
        answers: false,
        hand: hand::blocks,
    }
}

/// Lists of records in real blocks: float, double, int, string of 0 to 16 characters, optional long.
fn records(bytes: usize) -> Case {
    let mut random = Random(5);
    let (mut data, mut records, mut entries) = (Vec::new(), 0, 0);
    while data.len() < bytes {
        let count = random.poisson(8.0);
        if count > 0 {
            zigzag(count as i64, &mut data);
        }
        for _ in 0..count {
            records += 1;
            data.extend((records as f32).to_le_bytes());
            data.extend((records as f64).to_le_bytes());
            zigzag(if random.bits() & 1 == 0 { 1 } else { -1 }, &mut data);
            let length = random.bits() % 17;
            zigzag(length as i64, &mut data);
            data.extend((0..length).map(|at| b'a' + at as u8));
            if random.bits() & 7 == 0 {
                zigzag(0, &mut data);
            } else {
                zigzag(1, &mut data);
                zigzag((random.bits() % 1_000_000) as i64, &mut data);
            }
        }
        zigzag(0, &mut data);
        entries += 1;
    }
    Case {
        name: "records".to_owned(),
        program: format!(
            "input data output lists int32 output pt float32 output eta float64 output charge int32
             output offsets int32 output text uint8 output index int32 output long int64
             {ITEMS}
             0 do
               0 begin items dup while dup 0 do
                 data f-> pt data d-> eta data zigzag-> charge
                 data zigzag-> stack dup offsets +<- stack data #B-> text
                 data zigzag-> stack if long len index <- stack data zigzag-> long else -1 index <- stack then
               loop + repeat drop lists +<- stack
             loop"
        ),
        inputs: vec![data],
        start: vec![entries],
        work: records,
        unit: "ns/record",
        answers: false,
        hand: hand::records,
    }
}

/// Lists of records in real blocks, of which one number of six things is wanted: float, long, string of 0 to 16
/// characters, optional long, the int that is wanted, and a string.
fn unwanted(bytes: usize) -> Case {
    let mut random = Random(13);
    let (mut data, mut records, mut entries) = (Vec::new(), 0, 0);
    let string = |random: &mut Random, data: &mut Vec<u8>| {
        let length = random.bits() % 17;
        zigzag(length as i64, data);
        data.extend((0..length).map(|at| b'a' + at as u8));
    };
    while data.len() < bytes {
        let count = random.poisson(8.0);
        if count > 0 {
            zigzag(count as i64, &mut data);
        }
        for _ in 0..count {
            records += 1;
            data.extend((records as f32).to_le_bytes());
            zigzag((random.bits() % 1_000_000) as i64, &mut data);
            string(&mut random, &mut data);
            if random.bits() & 7 == 0 {
                zigzag(0, &mut data);
            } else {
                zigzag(1, &mut data);
                zigzag((random.bits() % 1_000_000) as i64, &mut data);
            }
            zigzag((random.bits() % 100) as i64 - 50, &mut data);
            string(&mut random, &mut data);
        }
        zigzag(0, &mut data);
        entries += 1;
    }
    Case {
        name: "unwanted".to_owned(),
        program: format!(
            "input data output lists int32 output wanted int32
             {ITEMS}
             : string data zigzag-> stack dup 0 < if 5 halt then data skip ;
             0 do
               0 begin items dup while dup 0 do
                 4 data skip data zigzag-> stack drop string
                 data zigzag-> stack case 0 of endof 1 of data zigzag-> stack drop endof 4 halt endcase
                 data zigzag-> wanted string
               loop + repeat drop lists +<- stack
             loop"
        ),
        inputs: vec![data],
        start: vec![entries],
        work: records,
        unit: "ns/record",
        answers: false,
        hand: hand::unwanted,
    }
}

/// Repetition levels of three-fold nested lists, as a column writer sees them.
fn repetition_levels(wanted: usize) -> Vec<u8> {
    let mut random = Random(11);
    let mut levels = Vec::new();
    while levels.len() < wanted {
        let mut level = 0;
        for _ in 0..random.poisson(8.0).max(1) {
            for _ in 0..random.poisson(8.0).max(1) {
                for _ in 0..random.poisson(8.0).max(1) {
                    levels.push(level);
                    level = 3;
                }
                level = 2;
            }
            level = 1;
        }
    }
    levels.truncate(wanted / 8 * 8);
    levels
}

fn levels_rle() -> Case {
    let levels = repetition_levels(1 << 20);
    // Runs of eight and more are run-length encoded, what is between them is packed by eights.
    let mut body = Vec::new();
    let mut packed: Vec<u8> = Vec::new();
    let flush = |packed: &mut Vec<u8>, body: &mut Vec<u8>| {
        if !packed.is_empty() {
            packed.resize(packed.len().next_multiple_of(8), 0);
            varint((packed.len() as u64 / 8) << 1 | 1, body);
            body.extend(
                packed
                    .chunks(4)
                    .map(|four| four.iter().enumerate().map(|(at, level)| level << (2 * at)).sum::<u8>()),
            );
            packed.clear();
        }
    };
    let mut at = 0;
    while at < levels.len() {
        let run = levels[at..].iter().take_while(|&&level| level == levels[at]).count();
        let needed = packed.len().next_multiple_of(8) - packed.len();
        if run >= needed + 8 {
            packed.extend(&levels[at..at + needed]);
            flush(&mut packed, &mut body);
            varint((run - needed) as u64 * 2, &mut body);
            body.push(levels[at]);
        } else {
            packed.extend(&levels[at..at + run]);
        }
        at += run;
    }
    flush(&mut packed, &mut body);
    let mut data = (body.len() as u32).to_le_bytes().to_vec();
    data.extend(body);
    Case {
        name: "levels-rle".to_owned(),
        program: "input data output levels uint8
            data I-> stack
            begin
              data varint-> stack
              dup 1 and 0= if
                data B-> levels 1 rshift 1- levels dup
              else
                1 rshift 8 * data #2bit-> levels
              then
              dup data pos 4 - <=
            until
            drop"
            .to_owned(),
        inputs: vec![data],
        start: Vec::new(),
        work: levels.len(),
        unit: "GB/s",
        answers: false,
        hand: hand::levels_rle,
    }
}

fn levels_offsets() -> Case {
    let levels = repetition_levels(1 << 20);
    let work = levels.len();
    Case {
        name: "levels-offsets".to_owned(),
        program: "input levels output outer int32 output middle int32 output inner int32
            variable n-outer variable n-middle variable n-inner
            begin
              levels b-> stack
              dup 3 = if 1 n-inner +! then
              dup 2 = if 1 n-middle +! n-inner @ inner +<- stack 1 n-inner ! then
              dup 1 = if 1 n-outer +! n-middle @ middle +<- stack 1 n-middle !
                         n-inner @ inner +<- stack 1 n-inner ! then
              0 =     if n-outer @ outer +<- stack 1 n-outer !
                         n-middle @ middle +<- stack 1 n-middle !
                         n-inner @ inner +<- stack 1 n-inner ! then
              levels end
            until
            n-outer @ outer +<- stack n-middle @ middle +<- stack n-inner @ inner +<- stack"
            .to_owned(),
        inputs: vec![levels],
        start: Vec::new(),
        work,
        unit: "ns/level",
        answers: false,
        hand: hand::levels_offsets,
    }
}

/// Records of `count` numbers: float, double and zigzag int in turn, in lists of 8.
pub(crate) fn fields_program(count: usize) -> String {
    let mut program = "input data output lists int32\n".to_owned();
    let mut body = String::new();
    for field in 0..count {
        let (dtype, read) = [("float32", "f->"), ("float64", "d->"), ("int32", "zigzag->")][field % 3];
        let _ = writeln!(program, "output f{field} {dtype}");
        let _ = writeln!(body, "data {read} f{field}");
    }
    let _ = write!(
        program,
        "{ITEMS} 0 do 0 begin items dup while dup 0 do\n{body}loop + repeat drop lists +<- stack loop"
    );
    program
}

fn fields(count: usize) -> Case {
    let mut random = Random(9);
    let (mut data, mut written, mut entries) = (Vec::new(), 0, 0);
    while written < 1 << 18 {
        zigzag(8, &mut data);
        for _ in 0..8 {
            for field in 0..count {
                match field % 3 {
                    0 => data.extend((written as f32).to_le_bytes()),
                    1 => data.extend((written as f64).to_le_bytes()),
                    _ => zigzag((random.bits() % 100) as i64 - 50, &mut data),
                }
                written += 1;
            }
        }
        data.push(0);
        entries += 1;
    }
    Case {
        name: format!("fields-{count}"),
        program: fields_program(count),
        inputs: vec![data],
        start: vec![entries],
        work: written,
        unit: "ns/field",
        answers: false,
        hand: match count {
            1 => hand::fields::<1>,
            10 => hand::fields::<10>,
            _ => hand::fields::<100>,
        },
    }
}

fn fibonacci() -> Case {
    let n: i64 = 22;
    Case {
        name: "fibonacci".to_owned(),
        program: ": fibonacci dup 1 > if 1- dup 1- fibonacci swap fibonacci + then ; fibonacci".to_owned(),
        inputs: Vec::new(),
        start: vec![n],
        // Calls of fib(n): 2 fib(n + 1) - 1, with about nine words each.
        work: 57_313 * 9,
        unit: "ns/word",
        answers: true,
        hand: hand::fibonacci,
    }
}

fn tight() -> Case {
    let n: i64 = 200_000;
    Case {
        name: "do-loop".to_owned(),
        program: "0 swap 0 do i 3 * 7 and + 1 xor loop".to_owned(),
        inputs: Vec::new(),
        start: vec![n],
        work: n as usize * 8,
        unit: "ns/word",
        answers: true,
        hand: hand::tight,
    }
}

fn until() -> Case {
    let n: i64 = 200_000;
    Case {
        name: "until-loop".to_owned(),
        program: "variable sum begin dup 3 and 1+ sum +! 1- dup 0= until sum @".to_owned(),
        inputs: Vec::new(),
        start: vec![n],
        work: n as usize * 10,
        unit: "ns/word",
        answers: true,
        hand: hand::until,
    }
}

/// A host that is asked for every number, as the builders are.
fn pauses() -> Case {
    let n: i64 = 100_000;
    Case {
        name: "pause".to_owned(),
        program: "output numbers int64 0 do pause i numbers <- stack loop".to_owned(),
        inputs: Vec::new(),
        start: vec![n],
        work: n as usize,
        unit: "ns/pause",
        answers: false,
        hand: hand::pauses,
    }
}
