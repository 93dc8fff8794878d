//! Columns of classes that do not follow their streamer info, by their row in the table.

use forthwith_columns::DType;
use forthwith_program::{EncodedValue, Layout, Words};

use super::big;
use crate::class::Native;

/// How a value of such a class is read that is the same in all files; `None` for all others.
pub(super) fn schema(class: &str, native: Native) -> Option<Layout> {
    match (native, class) {
        (Native::Text, _) => Some(Layout::Text),
        (Native::LongText, _) => Some(Layout::LongText),
        (Native::Numbers(basic), _) => Some(big(basic).list()),
        (Native::TObject, _) => Some(record(class, vec![("", object_base())])),
        (Native::Bare, "TRef") => {
            Some(record(class, vec![("ref", Layout::Computed(DType::UInt32, Words::new(TREF)))]))
        }
        _ => None,
    }
}

/// The column of a member: of an array of references, as of a reference, the numbers of the objects that are
/// meant.
pub(super) fn delivered(class: &str, name: String, schema: Layout) -> (String, Layout) {
    match (class, name.as_str()) {
        ("TRefArray", "fUIDs") => ("refs".into(), schema),
        ("TRefArray", "fLowerBound" | "fPID") => (name, Layout::Skipped(Box::new(schema))),
        _ => (name, schema),
    }
}

/// The base `TObject`, which is stepped over.
pub(super) const fn object_base() -> Layout {
    Layout::Passed(Words::of(EncodedValue::ObjectBase, TOBJECT))
}

/// Whether a layout is the base `TObject`.
pub(super) fn is_object_base(layout: &Layout) -> bool {
    matches!(layout, Layout::Passed(Words { value: Some(EncodedValue::ObjectBase), .. }))
}

/// Steps over a byte count, if there is one. What follows is a version in any case.
pub(super) const BYTE_COUNT_IF_ANY: &str =
    "data pos data B-> stack 64 and if drop 3 data skip else data seek then";

fn record(class: &str, fields: Vec<(&str, Layout)>) -> Layout {
    let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect();
    Layout::Record { name: Some(class.into()), fields }
}

/// A `TObject`: a version, in old files behind a byte count; an id; status bits, and if they say that the
/// object is referenced, where from.
const TOBJECT: &str = "data !H-> stack 16384 and if 4 data skip then 4 data skip \
                                  data !I-> stack 16 and if 2 data skip then";

/// A `TRef`: a `TObject` whose id is that of what is meant, then the process the id is from, or a UUID as
/// text.
const TREF: &str = "data !H-> stack 16384 and if 4 data skip then data !I-> stack data !I-> stack \
                    dup 16 and if 2 data skip then 32 and if data B-> stack data skip else 2 data skip then";
