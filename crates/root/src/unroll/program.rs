//! Programs that read objects streamed as a whole.

use forthwith_columns::Form;
use forthwith_plan::ColumnSpec;
use forthwith_program::{Count, Dialect, Entry, Frame, OutputBinding, Program, TextLength, translate};

use super::{Budget, Classes, Noted, Unsupported};
use crate::class::Layouts;
use crate::cpp::CppType;

/// Returns ROOT's encoding of counts and strings, with a given frame of entries.
#[must_use]
pub fn dialect(entry: Frame) -> Dialect {
    Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry }
}

/// Returns the program that reads entries of one value of a type, as ROOT streams it as a whole: an object or
/// container after its byte count and version. `items` means that entries are items of lists or options that
/// are stored elsewhere, and may be none. `member` is the value's name in errors.
///
/// # Errors
/// Returns the reason, as a phrase, if the file does not describe a class or the type has no columns.
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

/// Returns the columns that a program fills, with upper bounds on their bytes for each byte of the data.
#[must_use]
pub fn columns(program: &Program) -> Vec<ColumnSpec> {
    let outermost = match &program.form {
        Form::List { key, .. } | Form::String { key, .. } => Some(format!("{key}-offsets")),
        _ => None,
    };
    // Records have one list or string of each field in an entry, too. With many columns, each has a small
    // part of the bytes.
    let is_record = matches!(program.form, Form::Record { .. }) || program.outputs.len() > MANY;
    let bytes = |output: &OutputBinding| {
        if !output.offsets && program.outputs.len() > MANY {
            0
        } else if output.key.ends_with("-objects") {
            2 // a pointer takes four
        } else if !output.offsets {
            // A number takes its own width in the file, a character a byte.
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

/// Number of columns above which no memory is reserved in advance.
const MANY: usize = 64;
