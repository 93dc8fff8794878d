//! Messages of a schema with lies in them: in keys, lengths, numbers of variable length, groups and text.

use crate::{Rng, dripping, engine, shown};
use bytes::Bytes;
use forthwith::{
    Engine,
    columns::Array,
    io::{Memory, Source},
    plan::{Dataset, Result},
    protobuf::{Framing, Mapping, Messages, MessagesFormat, Options, ProtoFile, ProtoFormat, ProtoTable, Schema},
};
use std::{
    ops::Range,
    sync::{Arc, LazyLock},
};

static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

/// A schema with every kind of field.
pub const PROTO: &str = "syntax = 'proto2'; package t;
    import 'google/protobuf/timestamp.proto'; import 'google/protobuf/wrappers.proto';
    enum Open { ZERO = 0; ONE = 1; MINUS = -1; }
    message Event {
        required int32 id = 1; optional double x = 2; repeated sint64 packed = 3 [packed = true]; repeated float f = 4;
        optional string name = 5; repeated bytes raw = 6; map<string, Part> parts = 7; optional Open kind = 8;
        oneof choice { int32 a = 9; string b = 10; Part c = 11; } optional group G = 12 { optional fixed32 y = 1; }
        optional google.protobuf.Timestamp at = 13; optional google.protobuf.Int64Value wrapped = 14;
        repeated Part list = 15; optional Tree tree = 536870911; extensions 100 to 200;
    }
    message Part { repeated Part parts = 1; optional bool t = 2; repeated Open kinds = 3; }
    message Tree { optional Tree left = 1; optional Tree right = 2; optional uint64 value = 3; }
    extend Event { repeated string notes = 100; }";

/// The schema, which is parsed once.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of_text(PROTO).expect("a schema"));

/// The values behind a key.
#[derive(Clone, Copy)]
enum Value {
    Varint,
    Fixed32,
    Fixed64,
    Text,
    Packed,
    Message(&'static [(u32, Value)]),
    Group(&'static [(u32, Value)]),
}

use Value::{Fixed32, Fixed64, Group, Message, Packed, Text, Varint};

static EVENT: [(u32, Value); 17] = [
    (1, Varint),
    (2, Fixed64),
    (3, Packed),
    (3, Varint),
    (4, Fixed32),
    (5, Text),
    (6, Text),
    (7, Message(&ENTRY)),
    (8, Varint),
    (9, Varint),
    (10, Text),
    (11, Message(&PART)),
    (12, Group(&[(1, Fixed32)])),
    (13, Message(&[(1, Varint), (2, Varint)])),
    (15, Message(&PART)),
    (100, Text),
    (536_870_911, Message(&TREE)),
];
static ENTRY: [(u32, Value); 2] = [(1, Text), (2, Message(&PART))];
static PART: [(u32, Value); 4] = [(1, Message(&PART)), (2, Varint), (3, Varint), (3, Packed)];
static TREE: [(u32, Value); 3] = [(1, Message(&TREE)), (2, Message(&TREE)), (3, Varint)];

/// Makes messages, of which one value in `lies` is not what it should be.
struct Maker<'r> {
    rng: &'r mut Rng,
    lies: usize,
}

impl Maker<'_> {
    fn lies(&mut self) -> bool {
        self.lies > 0 && self.rng.one_in(self.lies)
    }

    fn varint(&mut self, mut number: u64, out: &mut Vec<u8>) {
        let longer = if self.lies() { 1 + self.rng.below(9) } else { 0 };
        loop {
            let byte = number as u8 & 0x7f;
            number >>= 7;
            if number == 0 && longer == 0 {
                return out.push(byte);
            }
            out.push(byte | 0x80);
            if number == 0 {
                break;
            }
        }
        out.extend(std::iter::repeat_n(0x80, longer - 1));
        out.push(if self.rng.one_in(8) { 1 } else { 0 });
    }

    fn key(&mut self, number: u32, wire: u32, out: &mut Vec<u8>) {
        let mut key = u64::from(number) << 3 | u64::from(wire);
        if self.lies() {
            key = match self.rng.below(5) {
                0 => key & !7 | self.rng.below(8) as u64,
                1 => self.rng.below(8) as u64,
                2 => self.rng.number(),
                3 => key | 1 << (32 + self.rng.below(20)),
                _ => (self.rng.below(40) as u64) << 3 | u64::from(wire),
            };
        }
        self.varint(key, out);
    }

    fn framed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let length = bytes.len() as u64;
        let said = match self.lies() {
            false => length,
            true => match self.rng.below(4) {
                0 => length + 1 + self.rng.below(3) as u64,
                1 => length.saturating_sub(1 + self.rng.below(3) as u64),
                2 => self.rng.number(),
                _ => (1 << 31) - self.rng.below(3) as u64,
            },
        };
        self.varint(said, out);
        out.extend_from_slice(bytes);
    }

    fn text(&mut self) -> Vec<u8> {
        let length = if self.rng.one_in(20) { self.rng.below(300) } else { self.rng.below(6) };
        let mut text: Vec<u8> = (0..length).map(|_| b'a' + self.rng.below(26) as u8).collect();
        if self.rng.one_in(4) {
            text.extend("ß日🦀".as_bytes());
        }
        if self.lies() {
            text.push(self.rng.pick(&[0x80, 0xc0, 0xed, 0xff]));
        }
        text
    }

    fn field(&mut self, number: u32, value: Value, depth: usize, out: &mut Vec<u8>) {
        let bits = self.rng.bits();
        match value {
            Varint => {
                let number_of = if self.rng.one_in(2) { self.rng.below(3) as u64 } else { self.rng.number() };
                self.key(number, 0, out);
                self.varint(number_of, out);
            }
            Fixed64 => {
                self.key(number, 1, out);
                out.extend(bits.to_le_bytes());
            }
            Fixed32 => {
                self.key(number, 5, out);
                out.extend((bits as u32).to_le_bytes());
            }
            Text => {
                let text = self.text();
                self.key(number, 2, out);
                self.framed(&text, out);
            }
            Packed => {
                let mut inner = Vec::new();
                for _ in 0..self.rng.below(5) {
                    let number = self.rng.number();
                    self.varint(number, &mut inner);
                }
                if self.lies() {
                    inner.push(0x80);
                }
                self.key(number, 2, out);
                self.framed(&inner, out);
            }
            Message(fields) => {
                let mut inner = Vec::new();
                self.message(fields, depth + 1, &mut inner);
                self.key(number, 2, out);
                self.framed(&inner, out);
            }
            Group(fields) => {
                self.key(number, 3, out);
                self.message(fields, depth + 1, out);
                self.key(number, 4, out);
            }
        }
    }

    fn message(&mut self, fields: &[(u32, Value)], depth: usize, out: &mut Vec<u8>) {
        for _ in 0..self.rng.below(if depth == 0 { 7 } else { 3 }) {
            if self.rng.one_in(10) {
                let value = self.rng.pick(&[Varint, Fixed32, Fixed64, Text, Group(&TREE), Packed]);
                let number = 17 + self.rng.below(60) as u32;
                self.field(number, value, depth, out);
            } else if depth < 8 {
                let (number, value) = self.rng.pick(fields);
                self.field(number, value, depth, out);
            }
        }
        if self.lies() && self.rng.one_in(8) {
            // Deep groups, which may end too soon or not at all.
            let (depth, ends) = (self.rng.below(140), self.rng.below(140));
            out.extend(std::iter::repeat_n(0x63, depth));
            out.extend(std::iter::repeat_n(0x64, ends));
        }
    }
}

/// A message, which may be damaged.
#[must_use]
pub fn message(rng: &mut Rng) -> Vec<u8> {
    let lies = rng.pick(&[0, 0, 0, 60, 20, 8]);
    let mut bytes = Vec::new();
    if !rng.one_in(12) {
        bytes.extend([8, 1]);
    }
    Maker { rng, lies }.message(&EVENT, 0, &mut bytes);
    if rng.one_in(5) {
        rng.damage(&mut bytes);
    }
    bytes
}

/// Readers of messages with every mapping.
static READERS: LazyLock<Vec<Messages>> = LazyLock::new(|| {
    let mapping = |number: u32| Mapping {
        times: number % 2 == 0,
        enum_numbers: number / 2 % 2 == 0,
        recursion: [1, 3, 12][(number / 4) as usize],
    };
    (0..12).map(|number| Messages::new(&SCHEMA, Some("t.Event"), mapping(number)).expect("a type")).collect()
});

fn read_messages(reader: &Messages, messages: &[Vec<u8>]) -> Result<Vec<Array>> {
    static NOTHING: LazyLock<Arc<dyn Source>> = LazyLock::new(|| Arc::new(Memory::new("messages", Vec::new())));
    let plan = reader.plan(messages.iter().map(Vec::as_slice))?;
    ENGINE.read(&plan, &NOTHING, &MessagesFormat, Some(1), None)
}

/// Reads messages one by one, and those that can be read together: the values have to be the same.
pub fn check_messages(rng: &mut Rng) -> u64 {
    let reader = &READERS[rng.below(READERS.len())];
    let messages: Vec<Vec<u8>> = (0..16).map(|_| message(rng)).collect();
    let (mut sound, mut values) = (Vec::new(), Vec::new());
    for message in &messages {
        let Ok(arrays) = read_messages(reader, std::slice::from_ref(message)) else { continue };
        arrays.iter().for_each(|array| array.validate().expect("an array that is read is valid"));
        values.push(arrays.iter().map(|array| shown(array, 0..1)).collect::<Vec<_>>());
        sound.push(message.clone());
    }
    let together = read_messages(reader, &sound).expect("each of them can be read");
    for (row, values) in (0..).zip(values) {
        let row: Vec<String> = together.iter().map(|array| shown(array, row..row + 1)).collect();
        assert_eq!(row, values, "{:02x?}", sound);
    }
    messages.len() as u64
}

/// A file of messages in some framing, which may be damaged.
fn framed(rng: &mut Rng, framing: Framing) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let count = rng.below(12);
    for _ in 0..count {
        let message = message(rng);
        match framing {
            Framing::Fixed32 { big: true } => bytes.extend((message.len() as u32).to_be_bytes()),
            Framing::Fixed32 { big: false } => bytes.extend((message.len() as u32).to_le_bytes()),
            _ => {
                let lies = rng.pick(&[0, 0, 40]);
                Maker { rng, lies }.framed(&message, &mut bytes);
                continue;
            }
        }
        bytes.extend(message);
    }
    if rng.one_in(4) {
        rng.damage(&mut bytes);
    }
    (bytes, count as u64)
}

/// The values of some entries, or the error.
fn read_range(table: &ProtoTable, fields: &[u32], entries: Range<u64>) -> Result<Vec<Array>> {
    let plan = table.plan(fields, entries)?;
    let source = Arc::clone(table.file().source());
    ENGINE.read(&plan, &source, &ProtoFormat, Some(1), None)
}

/// Reads a file, and the same bytes as a stream: entries, values and the first entry with an error have to be the same.
pub fn check_file(rng: &mut Rng) -> u64 {
    let framing = rng.pick(&[
        Framing::Delimited,
        Framing::Delimited,
        Framing::Fixed32 { big: false },
        Framing::Fixed32 { big: true },
    ]);
    let (bytes, count) = framed(rng, framing);
    let bytes = Bytes::from(bytes);
    let mapping = Mapping { recursion: 3, ..Mapping::default() };
    let options = Options { message: Some("t.Event".into()), framing, mapping, ..Options::default() };
    let open = |source| ProtoFile::open(source, &SCHEMA, &options).map(ProtoTable::new);
    let file = open(Arc::new(Memory::new("file", bytes.clone()))).expect("memory can be read");
    let stream = open(dripping(&bytes, rng)).expect("a stream can be read");
    let fields: Vec<u32> = (0..file.fields().expect("fields").len() as u32).filter(|_| rng.one_in(4)).collect();
    let entries = file.entries().expect("counted");
    let step = 1 + rng.below(5) as u64;
    let mut start = 0;
    while start < entries {
        let end = stream.entries_up_to(start + step).expect("counted");
        assert_eq!(end, entries.min(start + step));
        stream.release(start).expect("this process");
        let (one, other) = (read_range(&file, &fields, start..end), read_range(&stream, &fields, start..end));
        match (one, other) {
            (Ok(one), Ok(other)) => {
                for (one, other) in one.iter().zip(&other) {
                    one.validate().expect("an array that is read is valid");
                    assert_eq!(shown(one, 0..end - start), shown(other, 0..end - start));
                }
            }
            (Err(one), Err(other)) => {
                assert_eq!((one.kind.to_string(), one.place.entry), (other.kind.to_string(), other.place.entry));
            }
            (one, other) => panic!("{one:?}\n{other:?}\n{bytes:02x?}"),
        }
        start = end;
    }
    assert_eq!(stream.entries().expect("counted"), entries);
    count.max(1)
}

/// A damaged set of descriptors, or the damaged text of a schema: an error, or types that can be read.
pub fn check_schema(rng: &mut Rng) -> u64 {
    static SET: LazyLock<Vec<u8>> = LazyLock::new(descriptors);
    let schema = if rng.one_in(20) {
        let mut text = PROTO.as_bytes().to_vec();
        rng.damage(&mut text);
        Schema::of_text(&String::from_utf8_lossy(&text))
    } else {
        let mut set = SET.clone();
        rng.damage(&mut set);
        Schema::of_descriptors(&set)
    };
    if let Ok(schema) = schema
        && let Ok(reader) = Messages::new(&schema, rng.pick(&[None, Some("t.Event"), Some("t.Part")]), Mapping::default())
    {
        let _ = read_messages(&reader, &[message(rng)]);
    }
    1
}

/// A set of descriptors of a small schema.
fn descriptors() -> Vec<u8> {
    // file { name, package, message { name, fields }, enum, syntax }
    let field = |out: &mut Vec<u8>, number: u8, bytes: &[u8]| {
        out.extend([number << 3 | 2, bytes.len() as u8]);
        out.extend(bytes);
    };
    let one = |name: &[u8], number: u8, label: u8, of: u8, type_name: &[u8]| {
        let mut made = Vec::new();
        field(&mut made, 1, name);
        made.extend([0x18, number, 0x20, label, 0x28, of]);
        if !type_name.is_empty() {
            field(&mut made, 6, type_name);
        }
        made
    };
    let mut message = Vec::new();
    field(&mut message, 1, b"Event");
    field(&mut message, 2, &one(b"id", 1, 1, 5, b""));
    field(&mut message, 2, &one(b"x", 2, 1, 1, b""));
    field(&mut message, 2, &one(b"name", 5, 1, 9, b""));
    field(&mut message, 2, &one(b"list", 15, 3, 11, b".t.Part"));
    field(&mut message, 2, &one(b"kind", 8, 1, 14, b".t.Kind"));
    let mut part = Vec::new();
    field(&mut part, 1, b"Part");
    field(&mut part, 2, &one(b"t", 2, 1, 8, b""));
    let mut kind = Vec::new();
    field(&mut kind, 1, b"Kind");
    field(&mut kind, 2, &[0x0a, 1, b'A', 0x10, 0]);
    field(&mut kind, 2, &[0x0a, 1, b'B', 0x10, 1]);
    let mut file = Vec::new();
    field(&mut file, 1, b"t.proto");
    field(&mut file, 2, b"t");
    field(&mut file, 4, &message);
    field(&mut file, 4, &part);
    field(&mut file, 5, &kind);
    let mut set = vec![0x0a];
    set.extend([file.len() as u8 | 0x80, (file.len() >> 7) as u8]);
    set.extend(file);
    Schema::of_descriptors(&set).expect("a set of descriptors");
    set
}
