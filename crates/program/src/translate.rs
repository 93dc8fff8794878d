//! Schema → AwkwardForth.
//!
//! The text follows a few fixed spellings, because the machine recognises them and runs each as one native loop (the idioms of
//! the `forth` crate). One construct stands on one line, so that the line of an error tells the member.

use crate::{
    contract::{Fault, Member, OutputBinding, Program},
    schema::{Count, Dialect, Frame, Schema, TextLength},
};
use forthwith_columns::{DType, Form, Wire};

/// A schema this translator has no program for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Programs for schemas nested deeper than this are refused: no real type is, and the text grows with the depth.
pub const MAX_DEPTH: usize = 64;

const FAULT_BYTE_COUNT: i64 = 1;
const FAULT_VERSION: i64 = 2;
const FAULT_LENGTH: i64 = 3;

/// Translates a schema. `bounded` says that the format knows where each entry begins and ends; then every entry is checked
/// to be consumed exactly. `member` names the outermost value in errors.
///
/// ```
/// use forthwith_columns::{DType, Wire};
/// use forthwith_program::{Count, Dialect, Frame, Schema, TextLength, translate};
///
/// let hits = Schema::Number(Wire::Big(DType::Float32)).list().list();
/// let dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };
/// let program = translate(&hits, &dialect, true, "hits")?;
/// assert_eq!(program.form.type_string(), "var * var * float32");
/// assert!(program.source.contains("data #!f-> node2-data"));
/// # Ok::<(), forthwith_program::Unsupported>(())
/// ```
///
/// # Errors
/// [`Unsupported`] names the part that has no program.
pub fn translate(
    schema: &Schema,
    dialect: &Dialect,
    bounded: bool,
    member: &str,
) -> Result<Program, Unsupported> {
    let mut writer = Writer { dialect, lines: Vec::new(), outputs: Vec::new(), nodes: 0 };
    let counted = dialect.entry == Frame::Counted;
    if !bounded && (counted || matches!(schema, Schema::ToEnd(_))) {
        return Err(Unsupported(format!("{member}: this layout needs entry bounds")));
    }
    let form = match schema {
        Schema::ToEnd(item) => {
            let key = writer.node();
            writer.output(&key, "offsets", DType::Int64, true, &format!("{member}[]"));
            writer.line(1, member, "0 begin data pos stop @ < while 1+".into());
            let content = writer.item(item, 2, &format!("{member}[]"))?;
            writer.line(1, member, format!("repeat {key}-offsets +<- stack"));
            Form::List { key, content: Box::new(content) }
        }
        other => writer.item(other, 1, member)?,
    };

    let mut source = String::from("input data\n");
    if bounded {
        source.push_str("input starts\ninput stops\nvariable stop\n");
    }
    for output in &writer.outputs {
        source.push_str(&format!("output {} {}\n", output.key, output.dtype));
    }
    source.push_str("0 do\n");
    if bounded {
        source.push_str("  starts I-> stack data seek\n  stops I-> stack stop !\n");
    }
    match dialect.entry {
        Frame::None => {}
        Frame::Skip(n) => source.push_str(&format!("  {n} data skip\n")),
        Frame::Counted => source.push_str(&format!(
            "  data !I-> stack 1073741824 - data pos + stop @ <> if {FAULT_BYTE_COUNT} halt then\n  \
             data !H-> stack 16383 > if {FAULT_VERSION} halt then\n"
        )),
    }
    let mut members = Vec::new();
    let first = source.lines().count() as u32 + 1;
    for (line, (text, path)) in (first..).zip(writer.lines) {
        members.push(Member { line, path });
        source.push_str(&text);
        source.push('\n');
    }
    if bounded {
        source.push_str(&format!("  data pos stop @ <> if {FAULT_LENGTH} halt then\n"));
    }
    source.push_str("loop\n");
    let fault = |code, what: &str| Fault { code, what: what.into() };
    let mut faults = Vec::new();
    if counted {
        faults.push(fault(FAULT_BYTE_COUNT, "the byte count does not end at the entry's end"));
        faults.push(fault(
            FAULT_VERSION,
            "the version says member-wise streaming, which this type cannot have",
        ));
    }
    if bounded {
        faults.push(fault(FAULT_LENGTH, "the entry's bytes are not consumed exactly"));
    }
    Ok(Program { source, form, outputs: writer.outputs, bounded, faults, members })
}

struct Writer<'a> {
    dialect: &'a Dialect,
    lines: Vec<(String, String)>,
    outputs: Vec<OutputBinding>,
    nodes: u32,
}

impl Writer<'_> {
    fn node(&mut self) -> String {
        self.nodes += 1;
        format!("node{}", self.nodes - 1)
    }

    fn output(&mut self, key: &str, part: &str, dtype: DType, offsets: bool, member: &str) {
        let key = format!("{key}-{part}");
        self.outputs.push(OutputBinding { key, dtype, offsets, member: member.into() });
    }

    fn line(&mut self, depth: usize, member: &str, text: String) {
        self.lines.push((format!("{:indent$}{text}", "", indent = 2 * depth), member.into()));
    }

    fn item(&mut self, schema: &Schema, depth: usize, member: &str) -> Result<Form, Unsupported> {
        if depth > MAX_DEPTH {
            return Err(Unsupported(format!("{member}: more than {MAX_DEPTH} levels")));
        }
        match schema {
            Schema::Number(wire) => {
                let key = self.node();
                let code = parser(*wire, member)?;
                self.output(&key, "data", wire.dtype(), false, member);
                self.line(depth, member, format!("data {code}-> {key}-data"));
                Ok(Form::Numpy { key, dtype: wire.dtype(), shape: vec![] })
            }
            Schema::Text => {
                let key = self.node();
                self.output(&key, "offsets", DType::Int64, true, member);
                self.output(&key, "data", DType::UInt8, false, member);
                let length = match self.dialect.text {
                    TextLength::ByteThenWord => "data B-> stack dup 255 = if drop data !I-> stack then",
                    TextLength::Big32 => "data !I-> stack",
                };
                self.line(
                    depth,
                    member,
                    format!("{length} dup {key}-offsets +<- stack data #B-> {key}-data"),
                );
                Ok(Form::String { key, binary: false })
            }
            Schema::List(content) => self.list(content, depth, member),
            Schema::Fixed(size, content) => {
                let content = match &**content {
                    Schema::Number(wire) => {
                        let key = self.node();
                        let code = parser(*wire, member)?;
                        self.output(&key, "data", wire.dtype(), false, member);
                        self.line(
                            depth,
                            member,
                            format!("{} data #{code}-> {key}-data", literal(*size, member)?),
                        );
                        Form::Numpy { key, dtype: wire.dtype(), shape: vec![] }
                    }
                    other => {
                        self.line(depth, member, format!("{} 0 do", literal(*size, member)?));
                        let form = self.item(other, depth + 1, &format!("{member}[]"))?;
                        self.line(depth, member, "loop".into());
                        form
                    }
                };
                Ok(Form::Regular { size: *size, content: Box::new(content) })
            }
            Schema::Record { name, fields } => {
                let mut contents = Vec::with_capacity(fields.len());
                for (field, schema) in fields {
                    contents.push(self.item(schema, depth, &format!("{member}.{field}"))?);
                }
                let fields = fields.iter().map(|(n, _)| n.clone()).collect();
                Ok(Form::Record { fields: Some(fields), contents, name: name.clone() })
            }
            Schema::ToEnd(_) => {
                Err(Unsupported(format!("{member}: items up to the entry's end inside another type")))
            }
        }
    }

    fn list(&mut self, content: &Schema, depth: usize, member: &str) -> Result<Form, Unsupported> {
        let key = self.node();
        let inner = format!("{member}[]");
        self.output(&key, "offsets", DType::Int64, true, &inner);
        let count = match self.dialect.counts {
            Count::Big32 => "data !I-> stack",
        };
        self.line(depth, member, format!("{count} dup {key}-offsets +<- stack"));
        // Numbers are read in one go with the count that is still on the stack.
        let (size, number) = match content {
            Schema::Number(wire) => (None, Some(*wire)),
            Schema::Fixed(size, of) => match &**of {
                Schema::Number(wire) => (Some(*size), Some(*wire)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let content = if let Some(wire) = number {
            let leaf = self.node();
            let code = parser(wire, &inner)?;
            self.output(&leaf, "data", wire.dtype(), false, &inner);
            let times = match size {
                Some(size) => format!("{} * ", literal(size, member)?),
                None => String::new(),
            };
            self.line(depth, &inner, format!("{times}data #{code}-> {leaf}-data"));
            let numbers = Form::Numpy { key: leaf, dtype: wire.dtype(), shape: vec![] };
            match size {
                Some(size) => Form::Regular { size, content: Box::new(numbers) },
                None => numbers,
            }
        } else {
            self.line(depth, member, "0 do".into());
            let form = self.item(content, depth + 1, &inner)?;
            self.line(depth, member, "loop".into());
            form
        };
        Ok(Form::List { key, content: Box::new(content) })
    }
}

/// The parser word of a number, without the arrow.
fn parser(wire: Wire, member: &str) -> Result<&'static str, Unsupported> {
    let (big, dtype) = match wire {
        Wire::Bool => return Ok("?"),
        Wire::Big(dtype) => (true, dtype),
        Wire::Little(dtype) => (false, dtype),
        other => return Err(Unsupported(format!("{member}: {other:?} in a program"))),
    };
    Ok(match (dtype, big) {
        (DType::Bool, _) => "?",
        (DType::Int8, _) => "b",
        (DType::UInt8, _) => "B",
        (DType::Int16, false) => "h",
        (DType::Int16, true) => "!h",
        (DType::UInt16, false) => "H",
        (DType::UInt16, true) => "!H",
        (DType::Int32, false) => "i",
        (DType::Int32, true) => "!i",
        (DType::UInt32, false) => "I",
        (DType::UInt32, true) => "!I",
        (DType::Int64, false) => "q",
        (DType::Int64, true) => "!q",
        (DType::UInt64, false) => "Q",
        (DType::UInt64, true) => "!Q",
        (DType::Float32, false) => "f",
        (DType::Float32, true) => "!f",
        (DType::Float64, false) => "d",
        (DType::Float64, true) => "!d",
        _ => return Err(Unsupported(format!("{member}: {dtype}"))),
    })
}

/// Literals are 32 bits wide in AwkwardForth, whatever the machine.
fn literal(n: u64, member: &str) -> Result<i32, Unsupported> {
    i32::try_from(n).map_err(|_| Unsupported(format!("{member}: a fixed size of {n}")))
}
