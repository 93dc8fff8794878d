//! Texts of JSON with errors in them: in numbers, escapes, brackets, names, and where values end.

use crate::{Rng, dripping, engine, shown};
use bytes::Bytes;
use forthwith::{Engine, File, OpenOptions, OptionValue, Table, columns::Array, io::{Memory, Source}, plan::Result};
use std::{
    ops::Range,
    sync::{Arc, LazyLock},
};

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| Arc::new(engine()));

/// Every type that is read.
pub const SCHEMAS: [&str; 6] = [
    "{a: int64, b: ?float64, c: var * string}",
    "var * union[int8, string, var * ?bool]",
    "{a: {b: var * {c: ?uint64, d: float32}}, e: 2 * int16}",
    r#"{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"date"}}}"#,
    r#"{"type":"map","values":["null","bytes"]}"#,
    r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
];

const NUMBERS: [&str; 22] = [
    "0", "-0", "1", "127", "128", "-129", "65536", "9007199254740993", "18446744073709551615", "-9223372036854775808",
    "18446744073709551616", "1e400", "-1.5e-320", "0.1", "2.5E+3", "1e0", "01", "1.", ".5", "-", "1e", "123456789012345678901234567890",
];
const TEXTS: [&str; 16] = [
    r#""""#, r#""x""#, r#""ß日🦀""#, r#""\n\"\\\/""#, r#""\ud83e\udd80""#, r#""\ud83e""#, r#""\udd80\ud83e""#, r#""\u00""#, r#""\x""#,
    r#""2024-02-29""#, r#""2024-02-29T12:00:00.123456789Z""#, r#""2023-02-29T25:00:00+05:30""#, "\"a\tb\"", "\"a\nb\"", r#""abc"#, r#""}{][,:""#,
];
const NAMES: [&str; 10] = [r#""a""#, r#""b""#, r#""c""#, r#""d""#, r#""e""#, r#""\u0061""#, r#""z""#, r#""""#, r#""a.b""#, "a"];
const BLANKS: [&str; 9] = ["", "", "", "", " ", "\n", "\r\n", "\t", "\u{a0}"];

/// Makes a value. `likely` is how often it is what the schemas expect rather than anything.
struct Maker<'r> {
    rng: &'r mut Rng,
    lies: usize,
    lines: bool,
}

impl Maker<'_> {
    fn lies(&mut self) -> bool {
        self.lies > 0 && self.rng.one_in(self.lies)
    }

    fn blank(&mut self, out: &mut String) {
        if self.lies() {
            out.push_str(self.rng.pick(&BLANKS));
        } else if self.rng.one_in(8) {
            out.push_str(if self.lines { " " } else { self.rng.pick(&[" ", "\n", "\t"]) });
        }
    }

    fn value(&mut self, depth: usize, out: &mut String) {
        self.blank(out);
        match self.rng.below(if depth > 6 { 5 } else { 9 }) {
            0 => out.push_str(self.rng.pick(&["null", "true", "false"])),
            1 if self.lies() => out.push_str(self.rng.pick(&["nul", "True", "NaN", "Infinity", "undefined", "'x'", "/**/1"])),
            1 | 2 => {
                let many = if self.lies() { NUMBERS.len() } else { 16 };
                out.push_str(NUMBERS[self.rng.below(many)]);
            }
            3 => out.push_str(&format!("{}", f64::from_bits(self.rng.bits())).replace("NaN", "0").replace("inf", "1")),
            4 => {
                let text = if self.lies() { self.rng.pick(&TEXTS) } else { self.rng.pick(&TEXTS[..5]) };
                out.push_str(text);
            }
            5 | 6 => {
                out.push('[');
                for at in 0..self.rng.below(4) {
                    self.between(at, out);
                    self.value(depth + 1, out);
                }
                self.close(']', out);
            }
            _ => self.object(depth, out),
        }
        self.blank(out);
    }

    fn object(&mut self, depth: usize, out: &mut String) {
        out.push('{');
        for at in 0..self.rng.below(5) {
            self.between(at, out);
            let many = if self.lies() { NAMES.len() } else { 9 };
            out.push_str(NAMES[self.rng.below(many)]);
            self.blank(out);
            if !self.lies() {
                out.push(':');
            }
            self.value(depth + 1, out);
        }
        self.close('}', out);
    }

    fn between(&mut self, at: usize, out: &mut String) {
        if (at > 0) != self.lies() {
            out.push(',');
        }
    }

    fn close(&mut self, bracket: char, out: &mut String) {
        match self.lies() {
            true => out.push_str(self.rng.pick(&["", "]", "}", ",]", "]]"])),
            false => out.push(bracket),
        }
    }

    /// A value that a schema describes, of which parts may be anything.
    fn expected(&mut self, schema: usize, out: &mut String) {
        if self.rng.one_in(10) {
            return self.value(0, out);
        }
        let number = |rng: &mut Rng| rng.number() as i64 >> rng.pick(&[0, 20, 57]);
        match schema {
            0 => {
                let (a, b) = (number(self.rng), f64::from_bits(self.rng.bits()));
                let b = if b.is_finite() { b } else { 0.5 };
                out.push_str(&format!(r#"{{"a": {a}, "b": {b:e}, "c": ["x", "#));
                out.push_str(self.rng.pick(&TEXTS[..5]));
                out.push(']');
                if self.rng.one_in(3) {
                    out.push_str(r#", "z": "#);
                    self.value(1, out);
                }
                self.close('}', out);
            }
            1 => {
                out.push('[');
                for at in 0..self.rng.below(4) {
                    self.between(at, out);
                    let item = self.rng.pick(&["1", "-128", "128", r#""x""#, "[true,null]", "[]", "null"]);
                    out.push_str(item);
                }
                self.close(']', out);
            }
            2 => {
                let (c, e) = (self.rng.number(), number(self.rng) >> 48);
                out.push_str(&format!(r#"{{"e":[{e},2],"a":{{"b":[{{"c":{c},"d":1.5}},{{"d":-0.0"#));
                self.close('}', out);
                self.close(']', out);
                self.close('}', out);
                self.close('}', out);
            }
            3 => {
                let a = self.rng.pick(&TEXTS[9..12]);
                out.push_str(&format!(r#"{{"a":{a},"b":"2024-02-29""#));
                self.close('}', out);
            }
            4 => {
                out.push_str(r#"{"x":null,"y":"#);
                out.push_str(self.rng.pick(&TEXTS));
                self.close('}', out);
            }
            _ => {
                out.push_str(&format!(r#"[{},"y""#, number(self.rng)));
                self.close(']', out);
            }
        }
    }
}

/// A text of some values, how many, and whether they are on lines.
fn text(rng: &mut Rng, schema: Option<usize>) -> (Vec<u8>, u64, bool) {
    let (lies, lines) = (rng.pick(&[0, 0, 0, 200, 60, 20]), rng.one_in(2));
    let (mut out, count, is_list) = (String::new(), rng.below(10), !lines && rng.one_in(2));
    if is_list {
        out.push_str(rng.pick(&["[", " [", "\u{feff}[", "\n["]));
    }
    let mut maker = Maker { rng: &mut *rng, lies, lines };
    for at in 0..count {
        if is_list {
            maker.between(at, &mut out);
        } else if at > 0 {
            out.push_str(if lines { "\n" } else { maker.rng.pick(&["\n", " ", "", "\n\n"]) });
        }
        match schema {
            Some(schema) => maker.expected(schema, &mut out),
            None => maker.value(0, &mut out),
        }
    }
    if is_list {
        maker.close(']', &mut out);
    }
    let mut bytes = out.into_bytes();
    if rng.one_in(5) {
        rng.damage(&mut bytes);
    }
    (bytes, count as u64, lines)
}

fn open(source: Arc<dyn Source>, options: &OpenOptions) -> Result<Table> {
    File::from_source_with(source, Arc::clone(&ENGINE), options)?.table("")
}

fn read(table: &Table, fields: &[u32], range: Range<u64>) -> Result<Vec<Array>> {
    table.read(&table.plan(fields, range)?, Some(1), None)
}

fn values(arrays: &[Array]) -> Vec<String> {
    arrays.iter().map(|array| shown(array, 0..array.length)).collect()
}

/// Reads a text whole, in parts and as a stream: values and errors have to agree.
pub fn check(rng: &mut Rng) -> u64 {
    let schema = rng.one_in(2).then(|| rng.below(SCHEMAS.len()));
    let (bytes, count, lines) = text(rng, schema);
    let bytes = Bytes::from(bytes);
    let mut options = OpenOptions::new();
    options.set(OpenOptions::FORMAT, OptionValue::Text(if lines { "jsonl" } else { "json" }.into()));
    if rng.one_in(2) {
        options.set("unions", OptionValue::Flag(true));
        options.set("parse_dates", OptionValue::Flag(true));
    }
    if let Some(schema) = schema {
        options.set("schema", OptionValue::Text(SCHEMAS[schema].into()));
    }
    let file = open(Arc::new(Memory::new("file", bytes.clone())), &options);
    let stream = open(dripping(&bytes, rng), &options);
    match (&file, &stream) {
        (Ok(file), Ok(stream)) if schema.is_none() => {
            let fields: Vec<u32> = (0..file.fields().expect("found").len() as u32).collect();
            let entries = file.entries().expect("counted");
            assert_eq!(stream.entries().expect("counted"), entries);
            for field in fields {
                match (read(file, &[field], 0..entries), read(stream, &[field], 0..entries)) {
                    (Ok(one), Ok(other)) => {
                        one[0].validate().expect("an array that is read is valid");
                        assert_eq!(values(&one), values(&other));
                        let half = entries / 2;
                        let parts = [read(file, &[field], 0..half), read(file, &[field], half..entries)];
                        let count: u64 = parts.map(|part| part.expect("a part of it")[0].length).iter().sum();
                        assert_eq!(count, entries);
                    }
                    (Err(one), Err(other)) => assert_eq!(one.kind.to_string(), other.kind.to_string()),
                    (one, other) => panic!("{one:?}\n{other:?}\n{bytes:02x?}"),
                }
            }
        }
        (Ok(file), Ok(stream)) => stepwise(file, stream, rng, &bytes),
        (Err(one), Err(other)) => assert_eq!(one.kind.to_string(), other.kind.to_string(), "{bytes:02x?}"),
        // A stream with a schema is not read when it is opened.
        (Err(_), Ok(stream)) if schema.is_some() => assert!(stream.entries().is_err(), "{bytes:02x?}"),
        (Ok(_), Err(error)) => panic!("{error}\n{bytes:02x?}"),
        (Err(error), Ok(_)) => panic!("{error}\n{bytes:02x?}"),
    }
    count.max(1)
}

/// Compares a file with a stream, of which entries are dropped on the way.
fn stepwise(file: &Table, stream: &Table, rng: &mut Rng, bytes: &Bytes) {
    let fields: Vec<u32> = (0..file.fields().expect("given").len() as u32).collect();
    let entries = file.entries().expect("counted");
    let step = 1 + rng.below(4) as u64;
    let mut steps = stream.steps(&fields, 0..u64::MAX, forthwith::Step::Entries(step)).expect("steps");
    for start in (0..entries).step_by(step as usize) {
        let range = start..entries.min(start + step);
        match (read(file, &fields, range.clone()), steps.read(Some(1), None)) {
            (Ok(one), Ok(Some((entries, other)))) => {
                assert_eq!(entries, range);
                one.iter().for_each(|array| array.validate().expect("an array that is read is valid"));
                assert_eq!(values(&one), values(&other), "{bytes:02x?}");
            }
            (Err(one), Err(other)) => {
                let said = |error: &forthwith::plan::Error| (error.kind.to_string(), error.place.entry);
                assert_eq!(said(&one), said(&other), "{bytes:02x?}");
            }
            (one, other) => panic!("entries {range:?}: {one:?}\n{other:?}\n{bytes:02x?}"),
        }
    }
    assert!(steps.read(Some(1), None).expect("the end").is_none());
}
