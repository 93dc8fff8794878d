//! Programs of objects that are streamed as a whole.

use forthwith_columns::Form;
use forthwith_plan::ColumnSpec;
use forthwith_program::{Count, Dialect, Entry, Frame, OutputBinding, Program, TextLength, translate};

use super::{Budget, Classes, Noted, Unsupported};
use crate::class::Layouts;
use crate::cpp::CppType;

/// How ROOT writes counts and strings, behind the given frame.
#[must_use]
pub fn dialect(entry: Frame) -> Dialect {
    Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry }
}

/// The program that reads entries of one value each of this type, as ROOT streams such a value as a whole: an
/// object behind its byte count and version, a container behind its own. `items` says that entries are items
/// of lists or options stored elsewhere, of which there may be none. `member` is what errors call it.
///
/// # Errors
/// The file does not describe the class, or a column cannot have it: why, as a phrase.
pub fn program(file: &Layouts, type_name: &str, items: bool, member: &str) -> Result<Program, Unsupported> {
    let kind = CppType::parse(type_name);
    let dialect = dialect(Frame::None);
    let mut noted = Noted::default();
    let unrolled = Budget::widest(
        &mut noted,
        |budget, noted| {
            let mut classes = Classes::new(file, budget).seeing(&[], noted);
            let layout = match &kind {
                CppType::Other(class) => classes.object(class),
                kind => classes.member_of(kind),
            };
            let program = layout.and_then(|layout| {
                let entry = if items { Entry::Item(&layout) } else { Entry::Value(&layout) };
                translate(entry, &dialect, true, member).map_err(|why| why.to_string())
            });
            Ok::<_, std::convert::Infallible>(program)
        },
        Result::is_ok,
    );
    match unrolled {
        Ok(program) => program,
    }
}

/// The columns that a program of ROOT's values fills, with what they take of memory for each byte of the
/// data.
#[must_use]
pub fn columns(program: &Program) -> Vec<ColumnSpec> {
    let outermost = match &program.form {
        Form::List { key, .. } | Form::String { key, .. } => Some(format!("{key}-offsets")),
        _ => None,
    };
    // Lists and strings of a leaf list are one to an entry, too. And of many columns, each has a small part
    // of the bytes.
    let is_record = matches!(program.form, Form::Record { .. }) || program.outputs.len() > MANY;
    let bytes = |output: &OutputBinding| {
        if !output.offsets && program.outputs.len() > MANY {
            0
        } else if output.key.ends_with("-objects") {
            2 // a pointer takes four
        } else if !output.offsets {
            // Every number takes its own width in the file, every letter a byte.
            1
        } else if Some(&output.key) == outermost.as_ref() || is_record {
            0
        } else if is_text(&program.form, &output.key) {
            8 // a string takes a byte at least
        } else {
            2 // a list takes four
        }
    };
    let spec = |output: &OutputBinding| ColumnSpec {
        key: output.key.clone(),
        dtype: output.dtype,
        offsets: output.offsets,
        member: output.member.clone(),
        bytes_per_payload_byte: bytes(output),
    };
    program.outputs.iter().map(spec).collect()
}

fn is_text(form: &Form, column: &str) -> bool {
    match form {
        Form::String { key, .. } => column.strip_suffix("-offsets") == Some(key),
        Form::List { content, .. } | Form::Regular { content, .. } => is_text(content, column),
        Form::Record { contents, .. } => contents.iter().any(|content| is_text(content, column)),
        _ => false,
    }
}

/// Programs with more columns reserve no room for them beforehand.
const MANY: usize = 64;
