//! Random programs that compile and, mostly, do something.

use arbitrary::{Arbitrary, Result, Unstructured};
use forthwith::forth::{Compiled, Limits, Machine, Tier};
use std::fmt::Write;
use std::sync::Arc;

/// A program's text and its inputs.
#[derive(Debug)]
pub struct Script {
    /// The text.
    pub source: String,
    /// The input `data`.
    pub data: Vec<u8>,
    /// The input `other`.
    pub other: Vec<u8>,
}

const DTYPES: [&str; 11] =
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"];
const PARSERS: [&str; 21] = [
    "?", "b", "h", "i", "q", "n", "B", "H", "I", "Q", "N", "f", "d", "varint", "zigzag", "1bit", "3bit", "12bit", "64bit",
    "textint", "textfloat",
];
const WORDS: [&str; 40] = [
    "dup", "drop", "swap", "over", "rot", "nip", "tuck", "+", "-", "*", "/", "mod", "/mod", "negate", "1+", "1-", "abs", "min",
    "max", "=", "<>", ">", ">=", "<", "<=", "0=", "invert", "and", "or", "xor", "lshift", "rshift", "false", "true", "v @",
    "v !", "v +!", "pause", "exit", "twice",
];
const INPUTS: [&str; 2] = ["data", "other"];

impl<'a> Arbitrary<'a> for Script {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut source = String::from("input data input other variable v\n");
        let outputs = u.int_in_range(1..=4)?;
        for output in 0..outputs {
            let _ = write!(source, "output o{output} {} ", u.choose(&DTYPES)?);
        }
        source.push_str("\n: twice dup + ;\n");
        let mut writer = Writer { source, outputs, room: 120 };
        writer.body(u, 0, 0)?;
        let split = u.int_in_range(0..=255)?;
        let rest = u.bytes(u.len())?;
        let (data, other) = rest.split_at(rest.len() - rest.len() * split / 1024);
        Ok(Self { source: writer.source, data: data.to_vec(), other: other.to_vec() })
    }
}

struct Writer {
    source: String,
    outputs: usize,
    room: usize,
}

impl Writer {
    fn body(&mut self, u: &mut Unstructured<'_>, depth: usize, loops: usize) -> Result<()> {
        let length = u.int_in_range(1..=if depth == 0 { 16 } else { 5 })?;
        for _ in 0..length {
            if self.room == 0 || u.is_empty() {
                break;
            }
            self.room -= 1;
            self.phrase(u, depth, loops)?;
        }
        Ok(())
    }

    fn phrase(&mut self, u: &mut Unstructured<'_>, depth: usize, loops: usize) -> Result<()> {
        let kinds = if depth < 4 { 19 } else { 10 };
        match u.int_in_range(0..=kinds)? {
            0 | 1 => self.number(u)?,
            2 => self.word(u.choose(&WORDS)?),
            3 => {
                let word = match loops {
                    0 => "dup",
                    1 => "i",
                    2 => u.choose(&["i", "j"])?,
                    _ => u.choose(&["i", "j", "k"])?,
                };
                self.word(word);
            }
            4 | 5 => self.read(u, "")?,
            6 => {
                // A count that is often reasonable.
                if u.ratio(3, 4)? {
                    let count = u.int_in_range(0..=40)?;
                    self.word(&count.to_string());
                }
                self.read(u, "#")?;
            }
            7 => {
                let input = u.choose(&INPUTS)?;
                let word = u.choose(&["len", "pos", "end", "seek", "skip", "skipws", "peek", "enum s\" ab\" s\" a\" s\" \""])?;
                self.word(&format!("{input} {word}"));
                if word.starts_with("enum") {
                    self.source.push('\n');
                }
            }
            8 | 9 => {
                let output = u.int_in_range(0..=self.outputs - 1)?;
                let word = u.choose(&["<- stack", "<- stack", "+<- stack", "+<- stack", "len", "dup", "rewind"])?;
                self.word(&format!("o{output} {word}"));
            }
            10 => self.idiom(u)?,
            11..=14 => {
                match u.int_in_range(0..=3)? {
                    0 => self.word("data B-> stack"),
                    1 => self.word("dup"),
                    _ => {
                        let count = u.int_in_range(-1..=24)?;
                        self.word(&count.to_string());
                    }
                }
                self.word("0 do");
                self.body(u, depth + 1, loops + 1)?;
                if u.ratio(1, 8)? {
                    let step = u.int_in_range(1..=9)?;
                    self.word(&format!("{step} +loop"));
                } else {
                    self.word("loop");
                }
            }
            15 | 16 => {
                self.word("if");
                self.body(u, depth + 1, loops)?;
                if u.arbitrary()? {
                    self.word("else");
                    self.body(u, depth + 1, loops)?;
                }
                self.word("then");
            }
            17 => {
                self.word("begin");
                self.body(u, depth + 1, loops)?;
                self.word(u.choose(&["data end until", "0= until", "again"])?);
            }
            18 => {
                self.word("begin data end invert while");
                self.body(u, depth + 1, loops)?;
                self.word("repeat");
            }
            _ => {
                self.word("case");
                for label in 0..u.int_in_range(1..=3)? {
                    self.word(&format!("{label} of"));
                    self.body(u, depth + 1, loops)?;
                    self.word("endof");
                }
                self.word("endcase");
            }
        }
        Ok(())
    }

    fn number(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let number = match u.int_in_range(0..=9)? {
            0 => i64::from(u.arbitrary::<i32>()?),
            1 => *u.choose(&[i64::from(i32::MIN), i64::from(i32::MAX), -1, 63, 64, 65, 1024])?,
            _ => u.int_in_range(-4..=20)?,
        };
        self.word(&number.to_string());
        Ok(())
    }

    fn read(&mut self, u: &mut Unstructured<'_>, hash: &str) -> Result<()> {
        let input = u.choose(&INPUTS)?;
        let parser = u.choose(&PARSERS)?;
        let bang = if u.arbitrary()? { "!" } else { "" };
        let destination = match u.int_in_range(0..=self.outputs + 1)? {
            output if output < self.outputs => format!("o{output}"),
            _ if *parser == "textfloat" => "o0".to_owned(),
            _ => "stack".to_owned(),
        };
        self.word(&format!("{input} {hash}{bang}{parser}-> {destination}"));
        Ok(())
    }

    /// What programs made from schemas are full of, and fused loops recognise.
    fn idiom(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (a, b) = (u.int_in_range(0..=self.outputs - 1)?, u.int_in_range(0..=self.outputs - 1)?);
        let count = u.choose(&["!I", "B", "!i", "varint", "zigzag", "h"])?;
        let items = u.choose(&["!f", "d", "!d", "!i", "B", "q", "!h", "?", "!Q"])?;
        let entries = u.choose(&["dup", "3", "100", "1"])?;
        let text = match u.int_in_range(0..=5)? {
            0 => format!("{entries} 0 do data {count}-> stack dup o{a} +<- stack data #{items}-> o{b} loop"),
            1 => format!("{entries} 0 do 10 data skip data {count}-> stack dup o{a} +<- stack data #{items}-> o{b} loop"),
            2 => format!("{entries} 0 do data {count}-> o{a} data {items}-> o{b} data {items}-> o{a} loop"),
            3 => format!(
                "{entries} 0 do data {count}-> stack dup o{a} +<- stack 0 do data {count}-> stack dup o{b} +<- stack data #{items}-> o{a} loop loop"
            ),
            4 => format!("{entries} 0 do data {count}-> stack if data {items}-> o{b} else 1 o{a} <- stack then loop"),
            _ => format!("data {count}-> stack begin dup while dup o{a} +<- stack data #{items}-> o{b} data {count}-> stack repeat drop"),
        };
        self.word(&text);
        Ok(())
    }

    fn word(&mut self, word: &str) {
        self.source.push_str(word);
        self.source.push(' ');
    }
}

/// Whether a program ends within so many instructions; the checked tier says so, step by step.
pub fn runnable(compiled: &Arc<Compiled>, inputs: &[&[u8]], limits: Limits, instructions: usize) -> bool {
    let mut machine = Machine::new(Arc::clone(compiled), limits);
    machine.force_tier(Some(Tier::Checked));
    machine.begin();
    for _ in 0..instructions {
        match machine.step(inputs) {
            Err(_) => return true,
            Ok(_) if machine.is_done() => return true,
            Ok(_) => {}
        }
    }
    false
}
