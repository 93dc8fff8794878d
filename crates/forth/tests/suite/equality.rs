//! The law of the tiers: same outputs, stack, variables, positions, error and place, for any program and any
//! input.
//!
//! Programs are made of the idioms the fused tier knows, mixed with what it does not know; data is made to
//! fit the program and then damaged. `PROPTEST_CASES=1000000 cargo test --release equality` is the long run.

use std::fmt::Write as _;
use std::sync::Arc;

use forthwith_forth::{Compiled, Limits, Machine, RunError, Status, Tier};
use proptest::prelude::*;

use super::support::assert_same;

const OUTPUTS: [&str; 12] = [
    "int64", "int64", "int64", "int32", "int32", "float32", "float64", "uint8", "int16", "bool", "uint64",
    "int8",
];
/// Parsers, each with `!` before it too, and the bytes they take.
const CODES: [([&str; 2], usize); 12] = [
    (["f", "!f"], 4),
    (["d", "!d"], 8),
    (["i", "!i"], 4),
    (["q", "!q"], 8),
    (["B", "!B"], 1),
    (["h", "!h"], 2),
    (["?", "!?"], 1),
    (["I", "!I"], 4),
    (["Q", "!Q"], 8),
    (["b", "!b"], 1),
    (["varint", "!varint"], 0),
    (["zigzag", "!zigzag"], 0),
];

/// Decisions, taken from what proptest made up, so that shorter means simpler.
struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or(0)) % end
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

#[derive(Debug)]
enum Count {
    Big,
    Little,
    ZigZag,
    Byte,
    Text,
}

#[derive(Debug)]
enum Stmt {
    Field(&'static str, usize, usize),
    Leaf(Count, usize, &'static str, usize, usize),
    List(Count, Option<usize>, Vec<Self>),
    BlockLeaf(bool, usize, &'static str, usize, usize),
    Blocks(bool, usize, Vec<Self>),
    Skip(usize),
    Bulk(usize, &'static str, usize, usize),
    Repeat(usize, Vec<Self>),
    Branch(Option<usize>, Vec<Self>, Vec<Self>),
    Switch(Vec<Vec<Self>>),
    Through(usize, bool),
    Constant(usize),
    Length(usize, usize),
    Framed(Vec<Self>),
    Version,
    ToEnd(usize, Vec<Self>),
    IfAny(Vec<Self>, Vec<Self>),
    TextIfAny(usize, usize),
    Rest(usize, &'static str, usize, usize, usize),
    Masked(usize, Vec<Self>),
    Runs(Count, usize, usize, &'static str, usize, usize),
    Other(&'static str),
}

fn body(choices: &mut Choices<'_>, depth: usize) -> Vec<Stmt> {
    let count = 1 + if depth == 0 { choices.below(4) } else { choices.below(3) / 2 };
    let mut stmts: Vec<Stmt> = (0..count).map(|_| stmt(choices, depth)).collect();
    // A damaged count may be huge; passes that consume nothing would then take for ever.
    let idle = |stmt: &Stmt| {
        matches!(
            stmt,
            Stmt::Skip(_)
                | Stmt::Bulk(..)
                | Stmt::Repeat(..)
                | Stmt::Constant(_)
                | Stmt::Length(..)
                | Stmt::ToEnd(..)
                | Stmt::IfAny(..)
                | Stmt::TextIfAny(..)
                | Stmt::Rest(..)
                | Stmt::Other(_)
        )
    };
    if stmts.iter().all(idle) {
        stmts.push(Stmt::Field("b", 1, 11));
    }
    stmts
}

fn count(choices: &mut Choices<'_>) -> Count {
    match choices.below(8) {
        0..=3 => Count::Big,
        4 => Count::Little,
        5 => Count::Text,
        6 => Count::ZigZag,
        _ => Count::Byte,
    }
}

/// An output, and mostly a parser that fits it.
fn item(choices: &mut Choices<'_>) -> (&'static str, usize, usize) {
    let output = 3 + choices.below(OUTPUTS.len() - 3);
    let (codes, size) = match OUTPUTS[output] {
        _ if choices.one_in(8) => CODES[choices.below(CODES.len())],
        "float32" => CODES[0],
        "float64" => CODES[1],
        "uint8" => CODES[4],
        "int16" => CODES[5],
        "bool" => CODES[6],
        "uint64" => CODES[8],
        "int8" => CODES[9],
        _ => CODES[2],
    };
    (codes[usize::from(choices.below(2) == 0)], size, output)
}

fn offsets(choices: &mut Choices<'_>) -> usize {
    choices.below(if choices.rest.len().is_multiple_of(7) { OUTPUTS.len() } else { 5 })
}

fn stmt(choices: &mut Choices<'_>, depth: usize) -> Stmt {
    let simple = depth > 3;
    match choices.below(if simple { 9 } else { 26 }) {
        0 | 1 => {
            let (code, size, output) = item(choices);
            Stmt::Field(code, size, output)
        }
        2 | 3 => {
            let (code, size, output) = item(choices);
            Stmt::Leaf(count(choices), offsets(choices), code, size, output)
        }
        4 => {
            let (code, size, output) = item(choices);
            Stmt::BlockLeaf(choices.below(2) == 0, offsets(choices), code, size, output)
        }
        5 => match choices.below(4) {
            0 => Stmt::Skip(choices.below(5)),
            1 => Stmt::Through(choices.below(OUTPUTS.len()), choices.below(2) == 0),
            2 => Stmt::Constant(choices.below(OUTPUTS.len())),
            _ => Stmt::Length(choices.below(OUTPUTS.len()), choices.below(OUTPUTS.len())),
        },
        6 => {
            let (code, size, output) = item(choices);
            Stmt::Bulk(choices.below(5), code, size, output)
        }
        7 => Stmt::Version,
        8 if choices.one_in(3) => {
            let others = [
                "1 v +!",
                "pause",
                "data pos drop",
                "v @ o0 <- stack",
                "2 v @ mod if v @ 2 + v ! then",
                "i drop",
                "o1 len 1 > if 1 o1 rewind then",
                "1 o0 <- stack 2 o0 dup",
                "v @ 9 > if 77 halt then",
                "v @ 5 = if exit then",
                "data end if 5 halt then",
                "1",
                "drop",
                "data zigzag-> stack drop",
                "data varint-> stack drop",
                "data zigzag-> stack case 0 of endof 1 of data zigzag-> stack drop endof 77 halt endcase",
            ];
            Stmt::Other(others[choices.below(others.len())])
        }
        8 => Stmt::Skip(1),
        9..=12 => {
            let offsets = if choices.one_in(6) { None } else { Some(offsets(choices)) };
            Stmt::List(count(choices), offsets, body(choices, depth + 1))
        }
        13 | 14 => Stmt::Blocks(choices.below(2) == 0, offsets(choices), body(choices, depth + 1)),
        15 => Stmt::Repeat(choices.below(4), body(choices, depth + 1)),
        16 => {
            let store = if choices.below(2) == 0 { None } else { Some(choices.below(OUTPUTS.len())) };
            let otherwise = if choices.below(2) == 0 { Vec::new() } else { body(choices, depth + 1) };
            Stmt::Branch(store, body(choices, depth + 1), otherwise)
        }
        18 => Stmt::ToEnd(offsets(choices), body(choices, depth + 1)),
        19 => {
            let otherwise = if choices.below(2) == 0 { Vec::new() } else { body(choices, depth + 1) };
            Stmt::IfAny(body(choices, depth + 1), otherwise)
        }
        20 => Stmt::TextIfAny(offsets(choices), 3 + choices.below(OUTPUTS.len() - 3)),
        21 => {
            let (code, size, output) = item(choices);
            Stmt::Rest(offsets(choices), code, size, output, choices.below(4))
        }
        22 => Stmt::Masked(choices.below(OUTPUTS.len()), body(choices, depth + 1)),
        23 => {
            let (code, size, output) = item(choices);
            Stmt::Runs(count(choices), offsets(choices), choices.below(4), code, size, output)
        }
        17 => Stmt::Switch((0..choices.below(3)).map(|_| body(choices, depth + 1)).collect()),
        _ => Stmt::Framed(body(choices, depth + 1)),
    }
}

fn count_text(count: &Count) -> &'static str {
    match count {
        Count::Big => "data !I-> stack",
        Count::Little => "data i-> stack",
        Count::ZigZag => "data zigzag-> stack",
        Count::Byte => "data b-> stack",
        Count::Text => "data B-> stack dup 255 = if drop data !I-> stack then",
    }
}

fn text(stmts: &[Stmt], to: &mut String) {
    for stmt in stmts {
        let block = |to: &mut String, ends: &bool, offsets: &usize, inner: &str| {
            let _ = match ends {
                true => write!(
                    to,
                    "0 begin sized over while over {inner} ends + repeat drop drop o{offsets} +<- stack "
                ),
                false => {
                    write!(to, "0 begin items dup while dup {inner} + repeat drop o{offsets} +<- stack ")
                }
            };
        };
        let inner = |stmts: &[Stmt]| {
            let mut inner = String::new();
            text(stmts, &mut inner);
            inner
        };
        let _ = match stmt {
            Stmt::Field(code, _, output) => write!(to, "data {code}-> o{output} "),
            Stmt::Leaf(count, offsets, code, _, output) => {
                write!(to, "{} dup o{offsets} +<- stack data #{code}-> o{output} ", count_text(count))
            }
            Stmt::List(count, Some(offsets), body) => {
                write!(to, "{} dup o{offsets} +<- stack 0 do {} loop ", count_text(count), inner(body))
            }
            Stmt::List(count, None, body) => write!(to, "{} 0 do {} loop ", count_text(count), inner(body)),
            Stmt::BlockLeaf(ends, offsets, code, _, output) => {
                block(to, ends, offsets, &format!("data #{code}-> o{output}"));
                Ok(())
            }
            Stmt::Blocks(ends, offsets, body) => {
                block(to, ends, offsets, &format!("0 do {} loop", inner(body)));
                Ok(())
            }
            Stmt::Skip(1) => write!(to, "data B-> stack drop "),
            Stmt::Skip(bytes) => write!(to, "{bytes} data skip "),
            Stmt::Bulk(items, code, _, output) => write!(to, "{items} data #{code}-> o{output} "),
            Stmt::Repeat(times, body) => write!(to, "{times} 0 do {} loop ", inner(body)),
            Stmt::Branch(store, then, otherwise) => {
                let store = store.map_or(String::new(), |store| format!("dup o{store} <- stack"));
                let otherwise =
                    if otherwise.is_empty() { String::new() } else { format!("else {}", inner(otherwise)) };
                write!(to, "data zigzag-> stack {store} if {} {otherwise} then ", inner(then))
            }
            Stmt::Switch(arms) => {
                let arms = arms.iter().enumerate().map(|(n, arm)| format!("{n} of {} endof", inner(arm)));
                write!(to, "data B-> stack case {} 9 halt endcase ", arms.collect::<Vec<_>>().join(" "))
            }
            Stmt::Through(output, add) => {
                write!(to, "data zigzag-> stack o{output} {} stack ", if *add { "+<-" } else { "<-" })
            }
            Stmt::Constant(output) => write!(to, "-1 o{output} <- stack "),
            Stmt::Length(from, output) => write!(to, "o{from} len o{output} <- stack "),
            Stmt::Framed(body) => {
                write!(
                    to,
                    "data !I-> stack 0x40000000 - data pos + {} data pos <> if 4 halt then ",
                    inner(body)
                )
            }
            Stmt::ToEnd(offsets, body) => {
                let inner = inner(body);
                write!(to, "0 begin data pos stop @ < while 1+ {inner} repeat o{offsets} +<- stack ")
            }
            Stmt::IfAny(then, otherwise) => {
                let otherwise =
                    if otherwise.is_empty() { String::new() } else { format!("else {}", inner(otherwise)) };
                write!(to, "data pos stop @ < if {} {otherwise} then ", inner(then))
            }
            Stmt::TextIfAny(offsets, output) => {
                let count = count_text(&Count::Text);
                write!(
                    to,
                    "data pos stop @ < if {count} else 0 then dup o{offsets} +<- stack data #B-> o{output} "
                )
            }
            Stmt::Rest(offsets, code, size, output, times) => {
                let bytes = (*size * *times).max(1);
                write!(
                    to,
                    "stop @ data pos - {bytes} / dup o{offsets} +<- stack {times} * data #{code}-> o{output} "
                )
            }
            Stmt::Masked(output, then) => {
                write!(to, "data !I-> stack dup 16 and if {} then o{output} <- stack ", inner(then))
            }
            Stmt::Runs(count, offsets, times, code, _, output) => {
                let count = count_text(count);
                write!(to, "{count} dup o{offsets} +<- stack {times} * data #{code}-> o{output} ")
            }
            Stmt::Version => write!(to, "data !H-> stack 9 > if 2 halt then "),
            Stmt::Other(words) => write!(to, "{words} "),
        };
    }
}

fn zigzag(value: i64, to: &mut Vec<u8>) {
    super::programs::zigzag(value, to);
}

fn items(code: &str, size: usize, count: usize, choices: &mut Choices<'_>, to: &mut Vec<u8>) {
    for _ in 0..count {
        if size == 0 {
            zigzag(choices.below(1000) as i64, to);
        } else if code.ends_with(['f', 'd']) {
            let number = choices.below(100) as f64;
            match size {
                4 => to.extend((number as f32).to_be_bytes()),
                _ => to.extend(number.to_be_bytes()),
            }
        } else {
            to.extend((0..size).map(|_| choices.below(5) as u8));
        }
    }
}

fn put_count(count: &Count, choices: &mut Choices<'_>, to: &mut Vec<u8>) -> usize {
    let mut number = choices.below(5);
    if choices.one_in(40) && !matches!(count, Count::Byte) {
        number = 300;
    }
    match count {
        Count::Big => to.extend((number as u32).to_be_bytes()),
        Count::Little => to.extend((number as u32).to_le_bytes()),
        Count::ZigZag => zigzag(number as i64, to),
        Count::Byte => to.push(number as u8),
        Count::Text if number < 255 => to.push(number as u8),
        Count::Text => {
            to.push(255);
            to.extend((number as u32).to_be_bytes());
        }
    }
    number
}

fn data(stmts: &[Stmt], choices: &mut Choices<'_>, to: &mut Vec<u8>) {
    if to.len() > 20_000 {
        return;
    }
    for stmt in stmts {
        match stmt {
            Stmt::Field(code, size, _) => items(code, *size, 1, choices, to),
            Stmt::Leaf(count, _, code, size, _) => {
                let count = put_count(count, choices, to);
                items(code, *size, count, choices, to);
            }
            Stmt::List(count, _, body) => {
                (0..put_count(count, choices, to)).for_each(|_| data(body, choices, to))
            }
            Stmt::BlockLeaf(_, _, code, size, _) => {
                blocks(choices, to, &mut |count, choices, to| items(code, *size, count, choices, to));
            }
            Stmt::Blocks(_, _, body) => {
                blocks(choices, to, &mut |count, choices, to| {
                    (0..count).for_each(|_| data(body, choices, to))
                });
            }
            Stmt::Skip(bytes) => to.extend(vec![1; *bytes]),
            Stmt::Bulk(count, code, size, _) => items(code, *size, *count, choices, to),
            Stmt::Repeat(times, body) => (0..*times).for_each(|_| data(body, choices, to)),
            Stmt::Branch(_, then, otherwise) => {
                let flag = choices.below(2);
                zigzag(flag as i64, to);
                data(if flag == 1 { then } else { otherwise }, choices, to);
            }
            Stmt::Switch(arms) => {
                let arm = choices.below(arms.len().max(1));
                to.push(arm as u8);
                data(arms.get(arm).map_or(&[], Vec::as_slice), choices, to);
            }
            Stmt::Through(..) => zigzag(choices.below(300) as i64 - 50, to),
            Stmt::Framed(body) => framed(to, |to| data(body, choices, to)),
            Stmt::Version => to.extend([0, choices.below(9) as u8]),
            Stmt::ToEnd(_, body) => (0..choices.below(4)).for_each(|_| data(body, choices, to)),
            Stmt::IfAny(then, _) => data(then, choices, to),
            Stmt::TextIfAny(..) => {
                if choices.below(2) == 1 {
                    let count = put_count(&Count::Text, choices, to);
                    to.extend(vec![b'a'; count]);
                }
            }
            Stmt::Rest(_, code, size, _, times) => items(code, *size, choices.below(3) * times, choices, to),
            Stmt::Masked(_, body) => {
                let flag = choices.below(2) as u8 * 16;
                to.extend([0, 0, 0, flag + 2]);
                if flag > 0 {
                    data(body, choices, to);
                }
            }
            Stmt::Runs(count, _, times, code, size, _) => {
                let count = put_count(count, choices, to);
                items(code, *size, count * times, choices, to);
            }
            Stmt::Constant(_) | Stmt::Length(..) | Stmt::Other(_) => {}
        }
    }
}

fn blocks(
    choices: &mut Choices<'_>,
    to: &mut Vec<u8>,
    write: &mut dyn FnMut(usize, &mut Choices<'_>, &mut Vec<u8>),
) {
    for _ in 0..choices.below(3) {
        let count = 1 + choices.below(3);
        if choices.below(2) == 0 {
            zigzag(count as i64, to);
        } else {
            let mut block = Vec::new();
            write(count, choices, &mut block);
            zigzag(-(count as i64), to);
            zigzag(if choices.one_in(8) { 99 } else { block.len() as i64 }, to);
            to.extend(block);
            continue;
        }
        write(count, choices, to);
    }
    zigzag(0, to);
}

fn framed(to: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = to.len();
    to.extend([0; 4]);
    write(to);
    let count = (to.len() - at - 4) as u32 | 0x4000_0000;
    to[at..at + 4].copy_from_slice(&count.to_be_bytes());
}

/// Nothing but lists, up to three levels deep.
fn lists(choices: &mut Choices<'_>) -> Stmt {
    let (code, size, output) =
        [("!f", 4, 5), ("!d", 8, 6), ("B", 1, 7), ("!h", 2, 8), ("?", 1, 9)][choices.below(5)];
    let inner = if choices.below(3) == 0 { Count::Text } else { Count::Big };
    let leaf = |offsets| Stmt::Leaf(inner, offsets, code, size, output);
    match choices.below(3) {
        0 => leaf(0),
        1 => Stmt::List(Count::Big, Some(0), vec![leaf(1)]),
        _ => Stmt::List(Count::Big, Some(0), vec![Stmt::List(Count::Big, Some(1), vec![leaf(2)])]),
    }
}

fn check(program: &[u16], bytes: &[u16], damages: &[Vec<(u16, u8)>]) {
    let mut choices = Choices { rest: program.iter() };
    let has_start = choices.below(2) == 0;
    let has_stop = choices.below(2) == 0;
    let has_count = has_stop && choices.below(2) == 0;
    let has_version = choices.below(2) == 0;
    let has_end = has_stop && choices.below(2) == 0;
    let mut limits = Limits::default();
    match choices.below(8) {
        5 => limits.output_bytes = Some(choices.below(600)),
        6 => limits.recursion = 2 + choices.below(12),
        7 => limits.stack = 3 + choices.below(12),
        _ => {}
    }
    let mut stmts = body(&mut choices, 0);
    if has_stop {
        match choices.below(6) {
            0 => stmts.push(Stmt::ToEnd(0, body(&mut choices, 2))),
            1 => {
                stmts.truncate(1);
                let inner = body(&mut choices, 4);
                stmts = vec![Stmt::IfAny(stmts, Vec::new()), Stmt::ToEnd(0, inner)];
            }
            2 => stmts = vec![Stmt::TextIfAny(0, 7)],
            // Lists that fill the entry, as most are.
            3 => stmts = vec![lists(&mut choices)],
            _ => {}
        }
    }

    let mut source = "input data input starts input stops variable stop variable v\n".to_owned();
    for (number, dtype) in OUTPUTS.iter().enumerate() {
        let _ = writeln!(source, "output o{number} {dtype}");
    }
    source.push_str(": items data zigzag-> stack dup 0 < if negate data zigzag-> stack drop then ;\n");
    source.push_str(super::programs::SIZED);
    source.push_str("0 do\n");
    let mut pieces = String::new();
    let ahead = choices.below(5).saturating_sub(2);
    let start = match ahead {
        0 => "starts I-> stack data seek\n".to_owned(),
        _ => format!("starts i-> stack {ahead} + data seek\n"),
    };
    for (wanted, piece) in [
        (has_start, start.as_str()),
        (has_stop, "stops I-> stack stop !\n"),
        (has_count, "data !I-> stack 0x40000000 - data pos + stop @ <> if 1 halt then\n"),
        (has_version, "data !H-> stack 9 > if 2 halt then\n"),
    ] {
        pieces.push_str(if wanted { piece } else { "" });
    }
    text(&stmts, &mut pieces);
    pieces.push_str(if has_end { "\ndata pos stop @ <> if 3 halt then" } else { "" });
    let _ = write!(source, "{pieces}\nloop 123");
    let compiled = Compiled::new(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));

    let mut choices = Choices { rest: bytes.iter() };
    let (mut input, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let entries = choices.below(if limits == Limits::default() { 30 } else { 9 });
    for _ in 0..entries {
        starts.extend((input.len() as u32).to_le_bytes());
        input.extend(vec![0; if has_start { ahead } else { 0 }]);
        let mut write = |to: &mut Vec<u8>| {
            if has_version {
                to.extend([0, 3]);
            }
            data(&stmts, &mut choices, to);
        };
        if has_count {
            framed(&mut input, write);
        } else {
            write(&mut input);
        }
        stops.extend((input.len() as u32).to_le_bytes());
    }
    let compiled = Arc::new(compiled);
    for damage in damages {
        let inputs = damaged(&[&input, &starts, &stops], damage);
        agree(&compiled, limits, entries, &inputs.each_ref().map(Vec::as_slice));
    }
}

/// The inputs with some bytes changed, or cut off.
fn damaged(whole: &[&[u8]; 3], damage: &[(u16, u8)]) -> [Vec<u8>; 3] {
    let mut inputs = whole.map(<[u8]>::to_vec);
    for (number, (at, value)) in damage.iter().enumerate() {
        let target = &mut inputs[number.saturating_sub(1).min(2)];
        let at = usize::from(*at);
        // Mostly a changed byte, sometimes a missing end.
        if *value == 7 {
            target.truncate(at);
        } else if let Some(byte) = target.get_mut(at) {
            *byte = *value;
        }
    }
    inputs
}

/// Runs a program in all tiers, and compares them at every stop.
fn agree(compiled: &Arc<Compiled>, limits: Limits, entries: usize, inputs: &[&[u8]; 3]) {
    let source = compiled.source();
    let mut machines = [Tier::Checked, Tier::Fused, Tier::Compiled].map(|tier| {
        let mut machine = Machine::new(Arc::clone(compiled), limits);
        machine.force_tier(Some(tier));
        machine.begin();
        // A stack too small for this is not what is tested.
        machine.push(entries as i64).expect("room for one");
        machine
    });
    for _ in 0..200 {
        let [checked, fast @ ..] = &mut machines;
        let result: Result<Status, RunError> = checked.resume(inputs);
        for machine in fast {
            assert_eq!(result, machine.resume(inputs), "{source}\n{}", compiled.explain());
            assert_same(checked, machine);
        }
        if result != Ok(Status::Paused) {
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(if cfg!(miri) { 4 } else { 600 }),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn tiers_agree(
        program in prop::collection::vec(any::<u16>(), 0..60),
        bytes in prop::collection::vec(any::<u16>(), 0..400),
        damages in prop::collection::vec(
            prop::collection::vec((0..200_u16, any::<u8>().prop_map(|b| if b < 200 { b % 12 } else { b })), 1..5),
            3,
        ),
    ) {
        // Compiling takes longer than running: each program is run with what it is for, and with what it is
        // not.
        check(&program, &bytes, &[vec![Vec::new()], damages].concat());
    }
}
