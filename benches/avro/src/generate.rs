//! generate FOLDER [FLOATS]: the files that are read, with the null codec. `recode.py` makes the compressed ones of them.
//!
//! `s0` to `s3` are the shapes of Figure 1: so many random floats as plain numbers and as lists nested once, twice, three times, of nine
//! items on average in each. `rec` is a record with strings and options, `wide` one of twenty fields.

use std::{env, error::Error, fs::File, io::Write, path::Path};

/// What writers commonly make blocks of.
const BLOCK: usize = 64 << 10;
const MARKER: [u8; 16] = *b"forthwith-bench!";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("generate FOLDER [FLOATS]")?;
    let floats: usize = arguments.next().map_or(Ok(1 << 24), |n| n.parse())?;
    let folder = Path::new(&folder);
    for depth in 0..4 {
        let mut schema = "\"float\"".to_owned();
        for _ in 0..depth {
            schema = format!("{{\"type\": \"array\", \"items\": {schema}}}");
        }
        let mut file = Container::new(&folder.join(format!("s{depth}.avro")), &record(&[("x", &schema)]))?;
        let mut random = Random(7);
        let mut left = floats;
        while left > 0 {
            list(depth, &mut random, &mut left, &mut file.entry);
            file.end_entry()?;
        }
        file.end()?;
    }
    let fields = [
        ("id", "\"long\""),
        ("name", "\"string\""),
        ("score", "[\"null\", \"double\"]"),
        ("tag", "[\"null\", \"string\"]"),
        ("flag", "\"boolean\""),
        ("level", "\"int\""),
    ];
    let mut file = Container::new(&folder.join("rec.avro"), &record(&fields))?;
    let mut random = Random(8);
    for id in 0..floats / 8 {
        let out = &mut file.entry;
        long(id as i64, out);
        text(&mut random, 4, 20, out);
        if option(&mut random, out) {
            out.extend((random.next() as f64).to_le_bytes());
        }
        if option(&mut random, out) {
            text(&mut random, 0, 8, out);
        }
        out.push(random.below(2) as u8);
        long(random.below(100_000) as i64 - 50_000, out);
        file.end_entry()?;
    }
    file.end()?;
    let names: Vec<String> = (0..20).map(|at| format!("f{at:02}")).collect();
    let types = ["\"long\"", "\"string\"", "\"double\"", "[\"null\", \"int\"]"];
    let fields: Vec<(&str, &str)> =
        names.iter().zip(types.iter().cycle()).map(|(n, t)| (n.as_str(), *t)).collect();
    let mut file = Container::new(&folder.join("wide.avro"), &record(&fields))?;
    let mut random = Random(9);
    for _ in 0..floats / 32 {
        let out = &mut file.entry;
        for at in 0..20 {
            match at % 4 {
                0 => long(random.next() as i32 as i64, out),
                1 => text(&mut random, 4, 12, out),
                2 => out.extend((random.next() as f64).to_le_bytes()),
                _ => {
                    if option(&mut random, out) {
                        long(random.below(1000) as i64, out);
                    }
                }
            }
        }
        file.end_entry()?;
    }
    file.end()
}

fn list(depth: u32, random: &mut Random, left: &mut usize, out: &mut Vec<u8>) {
    if depth == 0 {
        out.extend((random.next() as f32 / u32::MAX as f32).to_le_bytes());
        *left = left.saturating_sub(1);
        return;
    }
    let items = random.below(19);
    if items > 0 {
        long(items as i64, out);
        for _ in 0..items {
            list(depth - 1, random, left, out);
        }
    }
    out.push(0);
}

fn option(random: &mut Random, out: &mut Vec<u8>) -> bool {
    let there = random.below(5) > 0;
    out.push(u8::from(there) * 2);
    there
}

fn text(random: &mut Random, least: u32, most: u32, out: &mut Vec<u8>) {
    let length = least + random.below(most - least + 1);
    long(length.into(), out);
    out.extend((0..length).map(|_| b'a' + random.below(26) as u8));
}

fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn record(fields: &[(&str, &str)]) -> String {
    let fields: Vec<_> =
        fields.iter().map(|(n, t)| format!("{{\"name\": \"{n}\", \"type\": {t}}}")).collect();
    format!("{{\"type\": \"record\", \"name\": \"event\", \"fields\": [{}]}}", fields.join(", "))
}

/// Always the same numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(end)) >> 32) as u32
    }
}

struct Container {
    file: std::io::BufWriter<File>,
    entry: Vec<u8>,
    block: Vec<u8>,
    entries: i64,
}

impl Container {
    fn new(path: &Path, schema: &str) -> Result<Self, Box<dyn Error>> {
        let mut head = b"Obj\x01".to_vec();
        long(2, &mut head);
        for text in ["avro.codec", "null", "avro.schema", schema] {
            long(text.len() as i64, &mut head);
            head.extend(text.as_bytes());
        }
        head.push(0);
        head.extend(MARKER);
        let mut file = std::io::BufWriter::new(File::create(path)?);
        file.write_all(&head)?;
        Ok(Self { file, entry: Vec::new(), block: Vec::new(), entries: 0 })
    }

    fn end_entry(&mut self) -> Result<(), Box<dyn Error>> {
        self.block.append(&mut self.entry);
        self.entries += 1;
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Box<dyn Error>> {
        let mut head = Vec::new();
        long(self.entries, &mut head);
        long(self.block.len() as i64, &mut head);
        for part in [&head[..], &self.block, &MARKER] {
            self.file.write_all(part)?;
        }
        self.block.clear();
        self.entries = 0;
        Ok(())
    }

    fn end(mut self) -> Result<(), Box<dyn Error>> {
        if self.entries > 0 {
            self.flush()?;
        }
        Ok(self.file.flush()?)
    }
}
