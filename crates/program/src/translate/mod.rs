//! Translates layouts to AwkwardForth.
//!
//! `shape` makes the Form with its outputs, `text` the words that fill them, and `skip` the words that step
//! over other values. The source consists of a few fixed idioms, which the machine recognises and runs as
//! native loops (see `idioms` of the `forth` crate). Each construct is on a line of its own, so that the line
//! of an error identifies the member.

mod absent;
mod alternatives;
mod counted;
mod forms;
mod framed;
mod member_wise;
mod named;
mod shape;
mod skip;
mod tagged;
mod tagged_rows;
mod tagged_slot;
mod tagged_sum;
mod text;
mod unions;

use crate::{
    contract::{ASKED_OUTPUTS, Fault, Member, Program},
    layout::{Dialect, Entry, Frame, Layout},
};
use forthwith_columns::{DType, Encoding, Finisher, Form};
use forthwith_forth::{Compiled, Limits, Machine, RunError, idioms::Idiom};

/// A layout that cannot be translated to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Maximum depth of nested layouts. Real types are shallower, and the length of the source grows with the
/// depth.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of outputs of a program.
const MAX_OUTPUTS: usize = ASKED_OUTPUTS as usize;

/// Maximum number of lines of a program. Classes within classes could multiply the lines without bound.
const MAX_LINES: usize = 1 << 15;

/// Maximum number of items without bytes in all lists of a block, which the size of the data does not bound.
const MAX_WEIGHTLESS: u64 = 1 << 24;

const FAULT_BYTE_COUNT: i64 = 1;
const FAULT_VERSION: i64 = 2;
const FAULT_LENGTH: i64 = 3;
const FAULT_BRANCH: i64 = 4;
const FAULT_NEGATIVE: i64 = 5;
const FAULT_SYMBOL: i64 = 6;
const FAULT_WEIGHTLESS: i64 = 7;
const FAULT_UNMATCHED: i64 = 8;
const FAULT_WIDE: i64 = 9;
const FAULT_COUNT: i64 = 11;
const FAULT_CLASS: i64 = 12;
const FAULT_REFERENCE: i64 = 13;
const FAULT_COUNTS: i64 = 14;
const FAULT_SHARED: i64 = 15;
const FAULT_BLOCK_SIZE: i64 = 16;
const FAULT_TRUTH: i64 = 17;
const FAULT_KEY: i64 = 18;
const FAULT_REQUIRED: i64 = 19;
const FAULT_EXTENT: i64 = 20;
const FAULT_ENTRY_LENGTH: i64 = 21;
const FAULT_NESTED: i64 = 22;
const FAULT_SUM: i64 = 23;
/// First code of the faults for unsupported classes.
const FAULT_UNKNOWN: i64 = 100;

/// Translates the layout of an entry to a program. `bounded` tells whether the format has entry bounds; each
/// entry is then checked to be consumed exactly. `member` is the path of the outermost value in errors.
///
/// ```
/// use forthwith_columns::{DType, Encoding};
/// use forthwith_program::{Count, Dialect, Frame, Layout, TextLength, translate};
///
/// let hits = Layout::Number(Encoding::Big(DType::Float32)).list().list();
/// let dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };
/// let program = translate(&hits, &dialect, true, "hits")?;
/// assert_eq!(program.form.type_string(), "var * var * float32");
/// assert!(program.source.contains("data #!f-> node2-data"));
/// # Ok::<(), forthwith_program::Unsupported>(())
/// ```
///
/// # Errors
/// Returns [`Unsupported`] with the part of the layout that cannot be translated.
pub fn translate<'a>(
    entry: impl Into<Entry<'a>>,
    dialect: &Dialect,
    bounded: bool,
    member: &str,
) -> Result<Program, Unsupported> {
    made(entry.into(), dialect, bounded, member, None)
}

/// Translates the layout of an entry as [`translate`] does, but checks each byte that has to be 0 or 1
/// ([`Encoding::StrictBool`]) where it is read. This is slower, but the error has its position; [`translate`]
/// leaves the check to [`Finisher::ValidateBool`](crate::Finisher::ValidateBool). The first `ahead` entries
/// are not checked.
///
/// # Errors
/// Returns the errors of [`translate`].
pub fn translate_checking<'a>(
    entry: impl Into<Entry<'a>>,
    dialect: &Dialect,
    bounded: bool,
    member: &str,
    ahead: u64,
) -> Result<Program, Unsupported> {
    made(entry.into(), dialect, bounded, member, Some(ahead))
}

fn made(
    entry: Entry<'_>,
    dialect: &Dialect,
    bounded: bool,
    member: &str,
    checking: Option<u64>,
) -> Result<Program, Unsupported> {
    let counted = dialect.entry == Frame::Counted;
    let needs_bounds = counted
        || dialect.entry == Frame::Length
        || matches!(entry, Entry::ToEnd(_) | Entry::Value(Layout::Tagged(_)));
    if !bounded && needs_bounds {
        return Err(Unsupported(format!("{member}: this layout needs entry bounds")));
    }
    let mut shape = shape::Shape::new(checking.is_some());
    let mut text = text::Text::new(dialect, checking);
    let place = text::Place { depth: 1, member };
    let form = match entry {
        Entry::ToEnd(item) | Entry::Fields(_, item) | Entry::Times(item) => {
            let (key, inner) = (shape.node(), format!("{member}[]"));
            shape.output(&key, "offsets", DType::Int64, true, &inner)?;
            shape.around = 1;
            let content = shape.form(item, 2, &inner)?;
            text.look_at(&shape);
            match entry {
                Entry::Fields(numbers, _) => {
                    text.counts = true;
                    let negative = text.halt(FAULT_NEGATIVE);
                    let code = parser(Encoding::Little(numbers), member)?;
                    let count = format!("counts {code}-> stack dup 0 < if {negative} then");
                    text.columns(item, (&key, &count), &content, place)?;
                }
                Entry::Times(_) => {
                    text.items = true;
                    let count = text.variable("count_");
                    text.line(place, format!("items q-> stack dup {key}-offsets +<- stack {count} !"));
                    text.times(item, &content, &count, place.of(&inner))?;
                }
                _ if matches!(item, Layout::Framed { .. }) => {
                    text.line(place, "0".into());
                    text.until_end(item, &content, place.of(&inner))?;
                    text.line(place, format!("{key}-offsets +<- stack"));
                }
                _ if item.least_bytes() == 0 => {
                    return Err(Unsupported(format!("{member}: items without bytes up to the entry's end")));
                }
                _ => {
                    let offsets = format!("{key}-offsets");
                    let [begin, end] =
                        Idiom::ToEnd.lines(&[("DATA", "data"), ("STOP", "stop"), ("OFFSETS", &offsets)]);
                    text.line(place, begin);
                    text.value(item, &content, place.within(1).of(&inner))?;
                    text.line(place, end);
                }
            }
            Form::List { key, content: Box::new(content) }
        }
        Entry::Value(value) | Entry::Item(value) => {
            shape.around = u32::from(matches!(entry, Entry::Item(_)));
            let form = shape.form(value, 1, member)?;
            text.look_at(&shape);
            match (entry, value) {
                (Entry::Value(_), Layout::Tagged(tagged)) => text.entry_of_fields(tagged, &form, place)?,
                _ => text.value(value, &form, place)?,
            }
            form
        }
    };
    if dialect.entry == Frame::Length {
        text.halt(FAULT_ENTRY_LENGTH);
    }
    text.flush();
    if text.origin && !bounded {
        return Err(Unsupported(format!("{member}: pointers need entry bounds")));
    }

    let mut source = String::from("input data\n");
    if bounded {
        source.push_str("input starts\ninput stops\nvariable stop\n");
    }
    if !text.constants.is_empty() {
        source.push_str("input constants\n");
    }
    if text.counts {
        if !bounded {
            return Err(Unsupported(format!("{member}: counts of another column need entry bounds")));
        }
        source.push_str("input counts\n");
        text.halt(FAULT_COUNTS);
    }
    if text.items {
        if !text.counts {
            return Err(Unsupported(format!("{member}: items that nothing counts")));
        }
        source.push_str("input items\n");
    }
    if text.again {
        source.push_str("variable reread\n");
    }
    if text.weightless {
        source.push_str("variable weightless\n");
    }
    for output in &shape.outputs {
        source.push_str(&format!("output {} {}\n", output.key, output.dtype));
    }
    for variable in &text.variables {
        source.push_str(&format!("variable {variable}\n"));
    }
    let mut members = Vec::new();
    if text.origin {
        source.push_str("variable origin\n");
    }
    for word in &text.words {
        let first = source.lines().count() as u32 + 1;
        for (line, (text, path)) in (first..).zip(word) {
            members.push(Member { line, path: path.clone() });
            source.push_str(text);
            source.push('\n');
        }
    }
    let ahead = checking.is_some_and(|ahead| ahead > 0);
    if ahead {
        source.push_str("variable entry\n");
    }
    source.push_str(if text.origin { "swap origin ! 0 do\n" } else { "0 do\n" });
    if ahead {
        source.push_str("  1 entry +!\n");
    }
    if bounded {
        let start = Idiom::Start.line(&[("READ", "starts I-> stack"), ("DATA", "data")]);
        let stop = Idiom::Stop.line(&[("READ", "stops I-> stack"), ("STOP", "stop")]);
        source.push_str(&format!("  {start}\n  {stop}\n"));
    }
    match dialect.entry {
        Frame::None => {}
        Frame::Skip(n) => {
            let skip = Idiom::Skip.line(&[("N", &n.to_string()), ("DATA", "data")]);
            source.push_str(&format!("  {skip}\n"));
        }
        Frame::Length => {
            let check = format!("dup data pos < over stop @ > or if {FAULT_ENTRY_LENGTH} halt then");
            source.push_str(&format!("  data varint-> stack data pos + {check} stop !\n"));
        }
        Frame::Counted => {
            let code = FAULT_BYTE_COUNT.to_string();
            let given = [("DATA", "data"), ("STOP", "stop"), ("N", "1073741824"), ("CODE", &*code)];
            let count = Idiom::ByteCount.line(&given);
            let version = text::version("data", &FAULT_VERSION.to_string());
            source.push_str(&format!("  {count}\n  {version}\n"));
        }
    }
    let first = source.lines().count() as u32 + 1;
    for (line, (text, path)) in (first..).zip(text.lines) {
        members.push(Member { line, path });
        source.push_str(&text);
        source.push('\n');
    }
    if bounded {
        let code = FAULT_LENGTH.to_string();
        let end = Idiom::CheckEnd.line(&[("DATA", "data"), ("STOP", "stop"), ("CODE", &code)]);
        source.push_str(&format!("  {end}\n"));
    }
    source.push_str("loop\n");
    source.push_str(&text.epilogue);
    if text.counts {
        source.push_str(&format!("counts end 0= if {FAULT_COUNTS} halt then\n"));
    }
    for (node, ways) in text.mixed {
        for finisher in &mut shape.finish {
            if let Finisher::Mixed { key, wires, .. } = finisher
                && *key == node
            {
                wires.clone_from(&ways);
            }
        }
    }
    let mut faults = faults(counted, bounded, &text.faults);
    for (code, unknown) in (FAULT_UNKNOWN..).zip(text.unknown) {
        faults.push(match unknown {
            Layout::Refused(what) => Fault { code, what, unsupported: true },
            Layout::Unknown(class) => {
                let what = format!("an object of the class {class}, which the file does not describe");
                Fault { code, what, unsupported: true }
            }
            _ => continue,
        });
    }
    Ok(Program {
        source,
        form,
        outputs: shape.outputs,
        bounded,
        faults,
        members,
        finish: shape.finish,
        constants: text.constants,
        signed: dialect.is_signed(),
        origin: text.origin,
        asks: text.again,
        counts: text.counts,
        items: text.items,
        to_end: text.to_end || matches!(entry, Entry::ToEnd(_)),
    })
}

/// Checks that words can be part of a program: that they read from `data` and leave one number on the stack
/// if `number` is set, and none otherwise.
///
/// # Errors
/// Returns an error if the words contain comments, backslashes or line breaks, if they do not compile, or if
/// they leave another number of items for data of zeros.
pub fn check_words(words: &str, number: bool) -> Result<(), Unsupported> {
    if words.contains(['\\', '(', '\n']) {
        return Err(Unsupported("comments and lines are not taken".into()));
    }
    let source = format!("input data\n0 do {words}\nloop\n");
    let compiled = Compiled::new(&source).map_err(|error| Unsupported(error.to_string()))?;
    let mut machine = Machine::new(compiled.into(), Limits::default());
    machine.begin();
    let done = machine.push(1).and_then(|()| machine.resume(&[&[0; 1 << 12]]));
    let left = machine.stack().len();
    match done {
        Err(RunError::StackUnderflow) => {
            Err(Unsupported("they take more from the stack than there is".into()))
        }
        Ok(_) if left != usize::from(number) => {
            Err(Unsupported(format!("they leave {left} items on the stack")))
        }
        _ => Ok(()),
    }
}

fn faults(counted: bool, bounded: bool, used: &[i64]) -> Vec<Fault> {
    let known = [
        (FAULT_BYTE_COUNT, "the byte count does not end at the entry's end", counted),
        (FAULT_VERSION, "the version says member-wise streaming, which this type cannot have", counted),
        (FAULT_LENGTH, "the entry's bytes are not consumed exactly", bounded),
        (FAULT_BRANCH, "a union has no branch of this number", false),
        (FAULT_NEGATIVE, "a length is negative", false),
        (FAULT_SYMBOL, "an enum has no symbol of this number", false),
        (FAULT_WEIGHTLESS, "more items without bytes than the limit", false),
        (FAULT_COUNT, "a count of more items than there are bytes", false),
        (FAULT_CLASS, "an object of a class that the file does not describe for this place", false),
        (FAULT_REFERENCE, "a pointer to an object that stands elsewhere", false),
        (FAULT_SHARED, "objects that several pointers lead to are many times the data", false),
        (FAULT_BLOCK_SIZE, "a block of a list is not as many bytes long as it says", false),
        (FAULT_COUNTS, "there are not as many items as the branch that counts them says", false),
        (FAULT_UNMATCHED, "the value has no counterpart in the schema it is read as", false),
        (FAULT_WIDE, "an int has more than 32 bits", false),
        (FAULT_TRUTH, "a boolean is neither 0 nor 1", false),
        (FAULT_KEY, "a key that no field can have", false),
        (FAULT_REQUIRED, "a required field is absent", false),
        (FAULT_EXTENT, "a value does not end where its length says", false),
        (FAULT_ENTRY_LENGTH, "the length before the entry exceeds its bytes", false),
        (FAULT_NESTED, "records nested deeper than the limit", false),
        (FAULT_SUM, "a time outside the range of 64-bit nanoseconds", false),
    ];
    let wanted = known.into_iter().filter(|(code, _, always)| *always || used.contains(code));
    // The data may be valid: the file only lacks a description of the class.
    let unsupported = |code| code == FAULT_CLASS;
    wanted.map(|(code, what, _)| Fault { code, what: what.into(), unsupported: unsupported(code) }).collect()
}

/// Returns the parser word of a number, without the arrow.
fn parser(wire: Encoding, member: &str) -> Result<&'static str, Unsupported> {
    let (big, dtype) = match wire {
        Encoding::Bool => return Ok("?"),
        Encoding::StrictBool => return Ok("B"),
        // The output is wider.
        Encoding::Widened => return Ok("!f"),
        Encoding::Big(dtype) => (true, dtype),
        Encoding::Little(dtype) => (false, dtype),
        other => return Err(Unsupported(format!("{member}: {other:?} in a program"))),
    };
    Ok(dtype.parser(big))
}

/// Converts to a literal, which has 32 bits in AwkwardForth on any machine.
fn literal(n: u64, member: &str) -> Result<i32, Unsupported> {
    i32::try_from(n).map_err(|_| Unsupported(format!("{member}: a fixed size of {n}")))
}

fn too_deep(depth: usize, member: &str) -> Result<(), Unsupported> {
    if depth > MAX_DEPTH {
        return Err(Unsupported(format!("{member}: more than {MAX_DEPTH} levels")));
    }
    Ok(())
}
