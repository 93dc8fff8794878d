//! Trees of random Forms, written, with what their branches hold beside them: for
//! `tests/generate/random_trees_written.py`, which lets C++ ROOT, uproot and forthwith read them.
//!
//! `random_trees <folder> <seed> <number of files>` writes `0.root`, `0.json` and so on. The text has an
//! object for each file: `entries`, and `branches` with a name, a kind (`int`, `float32`, `float64`, `bool`,
//! `text`) and the values of all entries. Floating-point numbers stand there as their bits.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "an example, which ends by a panic")]

use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::FileSink;
use forthwith_plan::ErrorKind;
use forthwith_root::write::{Algorithm, Compression, FileSettings, FileWriter};
use forthwith_ttree::write::{
    ColumnOptions, Floats, Jagged, Nulls, Records, Strings, TreeOptions, TreeWriter,
};
use serde_json::{Value as Json, json};

/// A xorshift generator: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// A type of values.
#[derive(Clone, Debug)]
enum Type {
    Number(DType),
    Text,
    List(Box<Self>),
    Fixed(u64, Box<Self>),
    Record(Vec<(String, Self)>),
    Option(Box<Self>),
    Map(Box<Self>, Box<Self>),
}

/// A value. Numbers are their bits.
#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Record(Vec<Self>),
    Null,
}

/// How a column is drawn.
#[derive(Clone, Copy)]
struct Style {
    class: bool,
    nulls: bool,
}

fn number(random: &mut Random) -> Type {
    Type::Number(*random.pick(DType::ALL))
}

/// A type in which lists nest up to `depth` deep.
fn draw(random: &mut Random, depth: u64, style: Style, top: bool) -> Type {
    let kind = random.below(if depth == 0 { 5 } else { 14 });
    let drawn = match kind {
        0..=2 => number(random),
        3 => Type::Text,
        4 => {
            let inner = number(random);
            let inner =
                if random.one_in(3) { Type::Fixed(1 + random.below(3), Box::new(inner)) } else { inner };
            Type::Fixed(1 + random.below(3), Box::new(inner))
        }
        5..=8 => {
            let below = Style { class: style.class && top, ..style };
            Type::List(Box::new(draw(random, depth - 1, below, false)))
        }
        9 if top => {
            let key = if random.one_in(2) { Type::Text } else { Type::Number(DType::Int32) };
            let value = *random.pick(&[DType::Int32, DType::Float32, DType::Float64]);
            Type::Map(Box::new(key), Box::new(Type::Number(value)))
        }
        // Classes hold no lists of records within lists.
        _ if style.class && !top => number(random),
        _ => {
            let fields = 1 + random.below(4);
            let field = |at: u64| ["pt", "eta", "id", "hits"][at as usize].to_owned();
            let below = Style { class: style.class && top, ..style };
            let mut below = |at| (field(at), draw_member(random, depth - 1, below));
            Type::Record((0..fields).map(&mut below).collect())
        }
    };
    if style.nulls && random.one_in(3) { Type::Option(Box::new(drawn)) } else { drawn }
}

/// A member of a record: in classes no records of records of lists.
fn draw_member(random: &mut Random, depth: u64, style: Style) -> Type {
    draw(random, depth, Style { class: style.class, ..style }, false)
}

fn value(random: &mut Random, of: &Type) -> Value {
    let count = |random: &mut Random| if random.one_in(40) { random.below(60) } else { random.below(5) };
    match of {
        Type::Number(dtype) => Value::Number(bits(random, *dtype)),
        Type::Text => {
            let length = match random.below(30) {
                0 => 250 + random.below(12),
                1 => random.below(40),
                _ => random.below(5),
            };
            let letters = ["a", "B", " ", "é", "0", "漢"];
            Value::Text((0..length).map(|_| *random.pick(&letters)).collect())
        }
        Type::List(item) => Value::List((0..count(random)).map(|_| value(random, item)).collect()),
        Type::Fixed(size, item) => Value::List((0..*size).map(|_| value(random, item)).collect()),
        Type::Record(fields) => Value::Record(fields.iter().map(|(_, of)| value(random, of)).collect()),
        Type::Option(of) => {
            if random.one_in(3) {
                Value::Null
            } else {
                value(random, of)
            }
        }
        Type::Map(key, of) => {
            let mut pairs: Vec<(String, Value)> = Vec::new();
            for _ in 0..count(random) {
                let key = value(random, key);
                let name = format!("{key:?}");
                if pairs.iter().all(|(known, _)| *known != name) {
                    pairs.push((name, Value::Record(vec![key, value(random, of)])));
                }
            }
            // In the order of a `std::map`.
            pairs.sort_by(|(_, one), (_, other)| match (one, other) {
                (Value::Record(one), Value::Record(other)) => match (&one[0], &other[0]) {
                    (Value::Text(one), Value::Text(other)) => one.cmp(other),
                    (Value::Number(one), Value::Number(other)) => (*one as i32).cmp(&(*other as i32)),
                    _ => std::cmp::Ordering::Equal,
                },
                _ => std::cmp::Ordering::Equal,
            });
            Value::List(pairs.into_iter().map(|(_, pair)| pair).collect())
        }
    }
}

fn bits(random: &mut Random, dtype: DType) -> u64 {
    let drawn = random.next();
    let odd = random.one_in(20);
    match dtype {
        DType::Bool => drawn & 1,
        DType::Float32 if odd => {
            u64::from(random.pick(&[0.0, -0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 4.0]).to_bits())
        }
        DType::Float64 if odd => random.pick(&[0.0, -0.0, f64::NAN, f64::NEG_INFINITY, 5e-324]).to_bits(),
        DType::Float32 => u64::from(((drawn as i32) as f32 * 1e-6).to_bits()),
        DType::Float64 => ((drawn as i64) as f64 * 1e-12).to_bits(),
        other if odd => u64::MAX >> (64 - 8 * other.size()),
        other => drawn >> (64 - 8 * other.size()) >> random.below(8 * other.size() as u64),
    }
}

/// Columns being made of values.
struct Columns {
    columns: Vec<(String, Column)>,
    /// Whether lists begin with items that no list has.
    slack: bool,
    /// The prefix of class names: a name of their file, since C++ ROOT keeps classes from file to file.
    class: String,
    classes: usize,
}

impl Columns {
    fn add(&mut self, part: &str, column: Column) -> String {
        let key = format!("k{}", self.columns.len());
        self.columns.push((format!("{key}-{part}"), column));
        key
    }

    fn form(&mut self, of: &Type, values: &[Value]) -> Form {
        match of {
            Type::Number(dtype) => {
                let mut bytes = Vec::new();
                for value in values {
                    let Value::Number(bits) = value else { panic!("{value:?} is no number") };
                    bytes.extend(&bits.to_le_bytes()[..dtype.size()]);
                }
                let key = self.add("data", Column::from_bytes(*dtype, bytes.into()));
                Form::Numpy { key, dtype: *dtype, shape: vec![] }
            }
            Type::Text => {
                let (mut offsets, mut bytes) = (vec![0i64], Vec::<u8>::new());
                for value in values {
                    let Value::Text(text) = value else { panic!("{value:?} is no text") };
                    bytes.extend(text.as_bytes());
                    offsets.push(bytes.len() as i64);
                }
                let key = self.add("offsets", Column::from_vec(offsets));
                self.columns.push((format!("{key}-data"), Column::from_vec(bytes)));
                Form::String { key, binary: false }
            }
            Type::List(item) => {
                let (mut offsets, mut items) = (Vec::new(), Vec::new());
                if self.slack
                    && let Some(Value::List(first)) =
                        values.iter().find(|v| matches!(v, Value::List(of) if !of.is_empty()))
                {
                    items.push(first[0].clone());
                }
                offsets.push(items.len() as i64);
                for value in values {
                    let Value::List(of) = value else { panic!("{value:?} is no list") };
                    items.extend(of.iter().cloned());
                    offsets.push(items.len() as i64);
                }
                let key = self.add("offsets", Column::from_vec(offsets));
                Form::List { key, content: Box::new(self.form(item, &items)) }
            }
            Type::Fixed(size, item) => {
                let items: Vec<Value> = values
                    .iter()
                    .flat_map(|value| match value {
                        Value::List(of) => of.clone(),
                        other => panic!("{other:?} is no array"),
                    })
                    .collect();
                Form::Regular { size: *size, content: Box::new(self.form(item, &items)) }
            }
            Type::Record(fields) => {
                let mut contents = Vec::new();
                self.classes += 1;
                let name = format!("{}_{}", self.class, self.classes);
                for (at, (_, of)) in fields.iter().enumerate() {
                    contents.push(self.form(of, &fields_of(values, at)));
                }
                let names = fields.iter().map(|(name, _)| name.clone()).collect();
                Form::Record { fields: Some(names), contents, name: Some(name) }
            }
            Type::Map(key, of) => {
                let (mut offsets, mut items) = (vec![0i64], Vec::new());
                for value in values {
                    let Value::List(of) = value else { panic!("{value:?} is no map") };
                    items.extend(of.iter().cloned());
                    offsets.push(items.len() as i64);
                }
                let name = self.add("offsets", Column::from_vec(offsets));
                let contents =
                    vec![self.form(key, &fields_of(&items, 0)), self.form(of, &fields_of(&items, 1))];
                let content =
                    Form::Record { fields: None, contents, name: Some(forthwith_columns::MAP.into()) };
                Form::List { key: name, content: Box::new(content) }
            }
            Type::Option(of) => {
                let (mut index, mut kept) = (Vec::new(), Vec::new());
                for value in values {
                    match value {
                        Value::Null => index.push(-1i64),
                        value => {
                            index.push(kept.len() as i64);
                            kept.push(value.clone());
                        }
                    }
                }
                let key = self.add("index", Column::from_vec(index));
                Form::Option { key, content: Box::new(self.form(of, &kept)) }
            }
        }
    }
}

fn fields_of(values: &[Value], at: usize) -> Vec<Value> {
    let field = |value: &Value| match value {
        Value::Record(fields) => fields[at].clone(),
        other => panic!("{other:?} is no record"),
    };
    values.iter().map(field).collect()
}

/// The number that missing numbers become.
const FILL: f64 = 7.0;

/// Types and values without options.
fn fill(of: &Type, values: Vec<Value>) -> (Type, Vec<Value>) {
    fn empty(of: &Type) -> Value {
        match of {
            Type::Number(dtype) => Value::Number(match dtype {
                DType::Bool => 1,
                DType::Float32 => u64::from((FILL as f32).to_bits()),
                DType::Float64 => FILL.to_bits(),
                _ => FILL as u64,
            }),
            Type::Text => Value::Text(String::new()),
            Type::List(_) | Type::Map(..) => Value::List(vec![]),
            Type::Fixed(size, item) => Value::List((0..*size).map(|_| empty(item)).collect()),
            Type::Record(fields) => Value::Record(fields.iter().map(|(_, of)| empty(of)).collect()),
            Type::Option(of) => empty(of),
        }
    }
    fn one(of: &Type, value: Value) -> Value {
        match (of, value) {
            (of, Value::Null) => empty(of),
            (Type::Option(of), value) => one(of, value),
            (Type::List(item) | Type::Fixed(_, item), Value::List(items)) => {
                Value::List(items.into_iter().map(|value| one(item, value)).collect())
            }
            (Type::Record(fields), Value::Record(values)) => {
                Value::Record(fields.iter().zip(values).map(|((_, of), value)| one(of, value)).collect())
            }
            (_, value) => value,
        }
    }
    fn plain(of: &Type) -> Type {
        match of {
            Type::Option(of) => plain(of),
            Type::List(item) => Type::List(Box::new(plain(item))),
            Type::Fixed(size, item) => Type::Fixed(*size, Box::new(plain(item))),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(name, of)| (name.clone(), plain(of))).collect())
            }
            other => other.clone(),
        }
    }
    let filled = values.into_iter().map(|value| one(of, value)).collect();
    (plain(of), filled)
}

/// The branches of a column: the values of each value that is no record, with the lists around it.
fn expect(name: &str, of: &Type, values: &[Json], mark: [&str; 2], lists: usize, out: &mut Vec<Json>) {
    fn below(value: &Json, lists: usize, field: usize) -> Json {
        match lists {
            0 => value[field].clone(),
            _ => value.as_array().unwrap().iter().map(|value| below(value, lists - 1, field)).collect(),
        }
    }
    match of {
        Type::Record(fields) => {
            let mark_here = mark[usize::from(lists > 0)];
            for (at, (field, of)) in fields.iter().enumerate() {
                let values: Vec<Json> = values.iter().map(|value| below(value, lists, at)).collect();
                expect(&format!("{name}{mark_here}{field}"), of, &values, mark, lists, out);
            }
        }
        Type::Map(key, of) => {
            for (at, (field, of)) in [("first", key), ("second", of)].into_iter().enumerate() {
                let values: Vec<Json> = values.iter().map(|value| below(value, 1, at)).collect();
                expect(&format!("{name}.{field}"), of, &values, mark, 1, out);
            }
        }
        Type::List(item) | Type::Fixed(_, item) => expect(name, item, values, mark, lists + 1, out),
        Type::Number(_) | Type::Text => {
            let kind = match of {
                Type::Number(DType::Float32) => "float32",
                Type::Number(DType::Float64) => "float64",
                Type::Number(DType::Bool) => "bool",
                Type::Number(_) => "int",
                _ => "text",
            };
            out.push(json!({"name": name, "kind": kind, "values": values}));
        }
        Type::Option(_) => panic!("options were filled"),
    }
}

fn to_json(of: &Type, value: &Value) -> Json {
    match (of, value) {
        (Type::Number(dtype), Value::Number(bits)) => match dtype {
            DType::Int8 => json!(*bits as i8),
            DType::Int16 => json!(*bits as i16),
            DType::Int32 => json!(*bits as i32),
            DType::Int64 => json!(*bits as i64),
            DType::Bool => json!(*bits != 0),
            _ => json!(bits),
        },
        (Type::Text, Value::Text(text)) => json!(text),
        (Type::List(item) | Type::Fixed(_, item), Value::List(items)) => {
            items.iter().map(|value| to_json(item, value)).collect()
        }
        (Type::Record(fields), Value::Record(values)) => {
            fields.iter().zip(values).map(|((_, of), value)| to_json(of, value)).collect()
        }
        (Type::Map(key, of), Value::List(pairs)) => pairs
            .iter()
            .map(|pair| match pair {
                Value::Record(pair) => json!([to_json(key, &pair[0]), to_json(of, &pair[1])]),
                other => panic!("{other:?} is no pair"),
            })
            .collect(),
        (of, value) => panic!("{value:?} is no {of:?}"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, files] = &arguments[..] else {
        panic!("random_trees <folder> <seed> <number of files>")
    };
    let seed: u64 = seed.parse().unwrap();
    for file in 0..files.parse().unwrap() {
        let mut random = Random((seed * 1_000_003 + file) * 2 + 0x9E37_79B9_7F4A_7C15);
        while !write(&mut random, &format!("{folder}/{file}")) {}
    }
}

/// Writes a file, unless the columns that were drawn have classes that are refused.
fn write(random: &mut Random, path: &str) -> bool {
    let entries = *random.pick(&[0, 1, 2, 20, 100, 300]);
    let mut options = TreeOptions {
        cluster_bytes: 1 << (8 + random.below(14)),
        basket_bytes: 1 << (6 + random.below(14)),
        title: "random".into(),
        ..TreeOptions::default()
    };
    let (mut types, mut names) = (Vec::new(), Vec::new());
    let mut expected = Vec::new();
    for column in 0..1 + random.below(6) {
        let style = Style { class: random.one_in(4), nulls: random.one_in(5) };
        let of = draw(random, 3, style, true);
        let name = format!("c{column}");
        let values: Vec<Value> = (0..entries).map(|_| value(random, &of)).collect();
        let (plain, filled) = fill(&of, values.clone());
        let jsons: Vec<Json> = filled.iter().map(|value| to_json(&plain, value)).collect();
        let mark = if style.class { [".", "."] } else { [".", "_"] };
        expect(&name, &plain, &jsons, mark, 0, &mut expected);
        let own = ColumnOptions {
            jagged: *random.pick(&[Jagged::Counter, Jagged::Vector]),
            records: if style.class { Records::Class } else { Records::Flat },
            strings: *random.pick(&[Strings::Object, Strings::Characters]),
            nulls: if style.nulls { Nulls::Filled(FILL.into()) } else { Nulls::Refused },
            floats: Floats::Whole,
            counter: None,
            basket_bytes: random.one_in(4).then(|| 1 << (4 + random.below(12))),
            compression: random.one_in(4).then_some(Compression::of(*random.pick(&Algorithm::ALL))),
        };
        options.columns.push((name.clone(), own));
        names.push(name);
        types.push((of, values));
    }
    let settings = FileSettings {
        compression: *random.pick(&[Compression::NONE, Compression::default()]),
        ..FileSettings::default()
    };
    let slack = random.one_in(3);
    let class: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let step = |from: usize, to: usize| -> Vec<Array> {
        let make = |(number, (of, values)): (usize, &(Type, Vec<Value>))| {
            let class = format!("{class}_{number}");
            let mut columns = Columns { columns: vec![], slack, class, classes: 0 };
            let form = columns.form(of, &values[from..to]);
            Array { form, length: (to - from) as u64, columns: columns.columns }
        };
        types.iter().enumerate().map(make).collect()
    };
    let announced: Vec<(String, Form)> =
        names.iter().cloned().zip(step(0, 0).into_iter().map(|array| array.form)).collect();
    let mut file =
        FileWriter::create(Box::new(FileSink::create(format!("{path}.root")).unwrap()), settings).unwrap();
    let has_classes = options.columns.iter().any(|(_, own)| own.records == Records::Class);
    let mut tree = match TreeWriter::new(&mut file, "t", &announced, options) {
        Ok(tree) => tree,
        Err(why) if has_classes && matches!(why.kind, ErrorKind::Unsupported { .. }) => return false,
        Err(why) => panic!("{path}: {why} {types:?}"),
    };
    let mut at = 0;
    while at < entries as usize {
        let end = (at + 1 + random.below(120) as usize).min(entries as usize);
        tree.extend(&mut file, &step(at, end)).unwrap_or_else(|why| panic!("{path}: {why}"));
        at = end;
    }
    tree.finish(&mut file).unwrap();
    file.finish().unwrap();
    let text = json!({"entries": entries, "branches": expected});
    std::fs::write(format!("{path}.json"), text.to_string()).unwrap();
    true
}
