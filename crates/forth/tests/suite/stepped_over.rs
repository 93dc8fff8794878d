//! Programs of two inputs that step over most of what they read: numbers, texts, optional values, blocks. Tiers agree on whole data,
//! on data that end anywhere, and on data with other bytes.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forthwith_forth::{Compiled, Limits, Machine, Tier, W32};

use super::support::assert_same;

const OUTPUTS: [&str; 9] =
    ["int64", "int32", "float32", "float64", "uint8", "bool", "uint64", "uint32", "int16"];
/// For each output a parser of many items.
const MANY: [&str; 9] = ["!q->", "i->", "f->", "!d->", "B->", "?->", "q->", "I->", "h->"];
const ITEMS: [&str; 17] = [
    "b->", "B->", "?->", "!h->", "h->", "!i->", "i->", "I->", "!I->", "q->", "!q->", "f->", "!f->", "d->",
    "!d->", "zigzag->", "varint->",
];
const COUNTS: [&str; 4] = ["zigzag->", "!I->", "B->", "varint->"];
const INPUTS: [&str; 2] = ["data", "others"];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A part of a program; the first number of each is that of an input.
enum Phrase {
    Number(usize, &'static str),
    Fixed(usize, usize),
    Text(usize, usize),
    /// What is there for a number that is not zero, or for zero; and whether the number is used again.
    Option(usize, bool, Box<Self>, bool, usize),
    Blocks(usize, Vec<Self>),
    Item(usize, &'static str, usize),
    Many(usize, usize, usize, usize),
    /// The length of an output, or -1.
    Length(usize, usize, usize, bool, bool),
    Loop(usize, Vec<Self>),
    Times(usize, Vec<Self>),
    Kept(usize),
    Switch(usize, Vec<Vec<Self>>, bool),
    Constant(usize),
}

fn number(random: &mut Random) -> &'static str {
    ["zigzag", "varint"][random.below(2)]
}

fn simple(random: &mut Random, input: usize, depth: usize) -> Phrase {
    match random.below(3) {
        0 => Phrase::Number(input, number(random)),
        1 => Phrase::Text(input, if depth == 0 { random.below(4) } else { 1 }),
        _ => Phrase::Fixed(input, if random.one_in(20) { 300 } else { random.below(9) }),
    }
}

fn phrase(random: &mut Random, depth: usize) -> Phrase {
    let input = usize::from(random.one_in(6));
    let output = random.below(OUTPUTS.len());
    match random.below(if depth > 2 { 8 } else { 16 }) {
        0..=2 => simple(random, input, depth),
        3 | 4 => Phrase::Item(input, ITEMS[random.below(ITEMS.len())], output),
        5 => Phrase::Many(input, random.below(4), random.below(2), output),
        6 => Phrase::Length(input, output, random.below(2), random.one_in(3), random.one_in(2)),
        7 if random.one_in(2) => Phrase::Constant(output),
        7 => Phrase::Kept(input),
        8..=10 => {
            let what = match random.below(4) {
                0 => phrase(random, 3),
                _ => simple(random, input, depth),
            };
            Phrase::Option(input, random.one_in(2), Box::new(what), random.one_in(4), random.below(3))
        }
        11 => Phrase::Blocks(input, some(random, depth + 1)),
        12 => Phrase::Loop(input, some(random, depth + 1)),
        13 => Phrase::Times(random.below(6), vec![Phrase::Item(input, ITEMS[random.below(15)], output)]),
        14 => Phrase::Times(random.below(4), some(random, depth + 1)),
        _ => {
            let arms = (0..1 + random.below(4)).map(|_| some(random, depth + 1)).collect();
            Phrase::Switch(input, arms, random.one_in(3))
        }
    }
}

/// Some phrases, one of which at least takes bytes: a count that is wrong would go on for ever.
fn some(random: &mut Random, depth: usize) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = (0..random.below(4)).map(|_| phrase(random, depth)).collect();
    let at = random.below(phrases.len() + 1);
    phrases.insert(at, Phrase::Number(0, "zigzag"));
    phrases
}

fn text(phrases: &[Phrase]) -> String {
    phrases.iter().map(source).collect()
}

fn source(phrase: &Phrase) -> String {
    let again = |used: bool, output: &str| {
        if used { ("dup", format!("{output} <- stack")) } else { ("", String::new()) }
    };
    match phrase {
        Phrase::Number(input, code) => format!("{} {code}-> stack drop ", INPUTS[*input]),
        Phrase::Fixed(input, bytes) => format!("{bytes} {} skip ", INPUTS[*input]),
        Phrase::Text(input, style) => {
            let input = INPUTS[*input];
            let length = format!("{input} zigzag-> stack");
            match style {
                0 => format!("{length} {input} skip "),
                1 => format!("{length} dup 0 < if 5 halt then {input} skip "),
                2 => format!("{length} dup 0 < if drop {length} then {input} skip "),
                _ => format!("{length} dup {input} skip o0 <- stack "),
            }
        }
        Phrase::Option(input, there, what, used, style) => {
            let (dup, keep) = again(*used, "o0");
            let what = source(what);
            let (some, none) = if *there { (what.as_str(), "") } else { ("", what.as_str()) };
            let branch = match style {
                0 => format!("case 0 of {none} endof 1 of {some} endof 4 halt endcase"),
                1 => format!("if {what} then"),
                _ => format!("if {some} 3 o1 <- stack else {none} then"),
            };
            format!("{} zigzag-> stack {dup} {branch} {keep} ", INPUTS[*input])
        }
        Phrase::Blocks(input, body) => {
            let count = format!("{} zigzag-> stack", INPUTS[*input]);
            format!(
                "0 begin {count} dup 0 < if negate {count} drop then dup while dup 0 do {} loop + repeat drop o1 +<- stack ",
                text(body)
            )
        }
        Phrase::Item(input, code, output) => format!("{} {code} o{output} ", INPUTS[*input]),
        Phrase::Many(input, count, offsets, output) => {
            let (input, count) = (INPUTS[*input], COUNTS[*count]);
            format!("{input} {count} stack dup o{offsets} +<- stack {input} #{} o{output} ", MANY[*output])
        }
        Phrase::Length(input, of, to, used, otherwise) => {
            let (dup, keep) = again(*used, "o1");
            let otherwise = if *otherwise { "else -1 o0 <- stack" } else { "" };
            let input = INPUTS[*input];
            format!("{input} zigzag-> stack {dup} if o{of} len o{to} <- stack {otherwise} then {keep} ")
        }
        Phrase::Loop(input, body) => {
            format!("{} zigzag-> stack dup o0 +<- stack 0 do {} loop ", INPUTS[*input], text(body))
        }
        Phrase::Times(times, body) => format!("{times} 0 do {} loop ", text(body)),
        Phrase::Kept(input) => format!("{} zigzag-> stack v ! v @ o0 <- stack ", INPUTS[*input]),
        Phrase::Switch(input, arms, used) => {
            let (dup, keep) = again(*used, "o1");
            let arms =
                arms.iter().enumerate().map(|(number, arm)| format!("{number} of {} endof ", text(arm)));
            let arms: String = arms.collect();
            format!("{} zigzag-> stack {dup} case {arms} 4 halt endcase {keep} ", INPUTS[*input])
        }
        Phrase::Constant(output) => format!("7 o{output} <- stack "),
    }
}

fn varint(to: &mut Vec<u8>, mut value: u64, padding: usize) {
    for written in 0.. {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 && written >= padding {
            to.push(byte);
            return;
        }
        to.push(byte | 0x80);
    }
}

fn zigzag(to: &mut Vec<u8>, value: i64) {
    varint(to, ((value << 1) ^ (value >> 63)).cast_unsigned(), 0);
}

fn bytes(random: &mut Random, to: &mut Vec<u8>, count: usize) {
    to.extend((0..count).map(|_| random.next() as u8));
}

/// A number in any number of bytes.
fn any(random: &mut Random, to: &mut Vec<u8>) {
    match random.below(4) {
        0 => varint(to, random.next() >> random.below(48), 0),
        1 => varint(to, random.next() % 100, random.below(9)),
        _ => varint(to, random.next() % 128, 0),
    }
}

/// A length near to what one byte can say, or a short one.
fn length(random: &mut Random) -> usize {
    if random.one_in(3) { [62, 63, 64, 130][random.below(4)] } else { random.below(9) }
}

fn size(code: &str) -> usize {
    match code.trim_start_matches('!') {
        "b->" | "B->" | "?->" => 1,
        "h->" => 2,
        "i->" | "I->" | "f->" => 4,
        "q->" | "d->" => 8,
        _ => 0,
    }
}

fn fill(random: &mut Random, phrases: &[Phrase], to: &mut [Vec<u8>; 2]) {
    for phrase in phrases {
        data(random, phrase, to);
    }
}

fn data(random: &mut Random, phrase: &Phrase, to: &mut [Vec<u8>; 2]) {
    match phrase {
        Phrase::Number(input, _) | Phrase::Kept(input) => any(random, &mut to[*input]),
        Phrase::Fixed(input, count) => bytes(random, &mut to[*input], *count),
        Phrase::Text(input, style) => {
            let count = length(random);
            if *style == 2 && random.one_in(4) {
                zigzag(&mut to[*input], -3);
            }
            zigzag(&mut to[*input], count as i64);
            bytes(random, &mut to[*input], count);
        }
        Phrase::Option(input, there, what, _, style) => {
            let on = random.one_in(2);
            let other = *style > 0 && on && random.one_in(3);
            let number = if other { (random.next() >> 30) as i64 | 1 } else { i64::from(on) };
            zigzag(&mut to[*input], number);
            if on == (*style == 1 || *there) {
                data(random, what, to);
            }
        }
        Phrase::Blocks(input, body) => {
            for _ in 0..random.below(3) {
                let count = 1 + random.below(4) as i64;
                if random.one_in(3) {
                    zigzag(&mut to[*input], -count);
                    any(random, &mut to[*input]);
                } else {
                    zigzag(&mut to[*input], count);
                }
                (0..count).for_each(|_| fill(random, body, to));
            }
            to[*input].push(0);
        }
        Phrase::Item(input, code, _) => match size(code) {
            0 => any(random, &mut to[*input]),
            size => bytes(random, &mut to[*input], size),
        },
        Phrase::Many(input, code, _, output) => {
            let count = length(random);
            match code {
                0 => zigzag(&mut to[*input], count as i64),
                1 => to[*input].extend((count as u32).to_be_bytes()),
                2 => to[*input].push(count as u8),
                _ => varint(&mut to[*input], count as u64, 0),
            }
            bytes(random, &mut to[*input], count * size(MANY[*output]));
        }
        Phrase::Length(input, ..) => {
            let number = if random.one_in(3) { 0 } else { random.next().cast_signed() >> random.below(40) };
            zigzag(&mut to[*input], number);
        }
        Phrase::Loop(input, body) => {
            let count = random.below(5);
            zigzag(&mut to[*input], count as i64);
            (0..count).for_each(|_| fill(random, body, to));
        }
        Phrase::Times(times, body) => (0..*times).for_each(|_| fill(random, body, to)),
        Phrase::Switch(input, arms, _) => {
            let arm = random.below(arms.len());
            zigzag(&mut to[*input], arm as i64);
            fill(random, &arms[arm], to);
        }
        Phrase::Constant(_) => {}
    }
}

/// Both tiers, with and without an interrupt to look for, of both widths.
fn agree(compiled: &Arc<Compiled>, entries: i64, inputs: &[&[u8]]) {
    macro_rules! run {
        ($machine:ty, $tier:expr, $polled:expr) => {{
            let mut machine = <$machine>::with_width(Arc::clone(compiled), Limits::default());
            machine.force_tier(Some($tier));
            if $polled {
                machine.set_interrupt(Some(Arc::new(AtomicBool::new(false))));
            }
            machine.begin();
            machine.push(entries as _).unwrap();
            let result = machine.resume(inputs);
            (machine, result)
        }};
    }
    let (checked, expected) = run!(Machine, Tier::Checked, false);
    for polled in [false, true] {
        let (flat, result) = run!(Machine, Tier::Fused, polled);
        assert_eq!(result, expected, "{}", compiled.source());
        assert_same(&checked, &flat);
    }
    let (checked, expected) = run!(Machine<W32>, Tier::Checked, false);
    let (flat, result) = run!(Machine<W32>, Tier::Fused, false);
    assert_eq!(result, expected, "{}", compiled.source());
    assert_same(&checked, &flat);
}

fn program(random: &mut Random, phrases: &[Phrase]) -> Arc<Compiled> {
    let mut source = String::from("input data input others variable v ");
    for (number, dtype) in OUTPUTS.iter().enumerate() {
        let _ = write!(source, "output o{number} {dtype} ");
    }
    let body = text(phrases);
    let _ = match random.below(3) {
        0 => write!(source, ": item {body} ; 0 do item loop"),
        _ => write!(source, "0 do {body} loop"),
    };
    Arc::new(Compiled::new(&source).unwrap())
}

#[test]
fn tiers_agree_on_what_is_stepped_over() {
    let rounds = if cfg!(miri) { 2 } else { 1000 };
    for round in 1..=rounds {
        let mut random = Random(u64::wrapping_mul(round, 0x9e37_79b9_7f4a_7c15) | 1);
        let count = 1 + random.below(8);
        let phrases: Vec<Phrase> = (0..count)
            .map(|_| if random.one_in(2) { simple(&mut random, 0, 0) } else { phrase(&mut random, 0) })
            .collect();
        let compiled = program(&mut random, &phrases);
        let entries = 1 + random.below(8);
        let mut whole = [Vec::new(), Vec::new()];
        (0..entries).for_each(|_| fill(&mut random, &phrases, &mut whole));
        let run = |data: &[Vec<u8>; 2], more: usize| {
            // In memory of exactly this length.
            let [data, others] = data.clone().map(Vec::into_boxed_slice);
            agree(&compiled, (entries + more) as i64, &[&data, &others]);
        };
        run(&whole, 0);
        let longer = whole.clone().map(|mut data| {
            data.extend([0; 600]);
            data
        });
        run(&longer, 20);
        for _ in 0..40 {
            let mut cut = whole.clone();
            let which = usize::from(random.one_in(5));
            cut[which].truncate(random.below(whole[which].len() + 1));
            run(&cut, 0);
            let mut other = if random.one_in(3) { whole.clone() } else { longer.clone() };
            let which = usize::from(random.one_in(5));
            for _ in 0..1 + random.below(2) {
                let most = whole[which].len().max(1).min(other[which].len());
                if most > 0 {
                    let byte = [0, 1, 2, 3, 4, 0x7e, 0x7f, 0x80, 0x81, 0xff][random.below(10)];
                    other[which][random.below(most)] = byte;
                }
            }
            run(&other, 0);
        }
    }
}
