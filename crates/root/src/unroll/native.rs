//! Layouts of classes that do not follow their streamer info.

use forthwith_columns::DType;
use forthwith_program::{EncodedValue, Layout, Words};

use super::big;
use crate::class::Native;

/// Returns the layout of a class that is the same in all files; `None` for other classes.
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

/// Returns the name and layout of a member as it is delivered: of a `TRefArray`, only the unique ids of the
/// referenced objects, as `refs`.
pub(super) fn delivered(class: &str, name: String, schema: Layout) -> (String, Layout) {
    match (class, name.as_str()) {
        ("TRefArray", "fUIDs") => ("refs".into(), schema),
        ("TRefArray", "fLowerBound" | "fPID") => (name, Layout::Skipped(Box::new(schema))),
        _ => (name, schema),
    }
}

/// Returns the layout of the base `TObject`, which is skipped.
pub(super) const fn object_base() -> Layout {
    Layout::Passed(Words::of(EncodedValue::ObjectBase, TOBJECT))
}

/// Whether a layout is the base `TObject`.
pub(super) fn is_object_base(layout: &Layout) -> bool {
    matches!(layout, Layout::Passed(Words { value: Some(EncodedValue::ObjectBase), .. }))
}

/// Words that skip a byte count, if there is one, before a version.
pub(super) const BYTE_COUNT_IF_ANY: &str =
    "data pos data B-> stack 64 and if drop 3 data skip else data seek then";

fn record(class: &str, fields: Vec<(&str, Layout)>) -> Layout {
    let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect();
    Layout::Record { name: Some(class.into()), fields }
}

/// Words that skip a `TObject`: a version, after a byte count in old files; an id; status bits; and a process
/// id if the bits state that the object is referenced.
const TOBJECT: &str = "data !H-> stack 16384 and if 4 data skip then 4 data skip \
                                  data !I-> stack 16 and if 2 data skip then";

/// Words that read a `TRef`: a `TObject` whose id is that of the referenced object, and then a process id, or
/// a UUID as text.
const TREF: &str = "data !H-> stack 16384 and if 4 data skip then data !I-> stack data !I-> stack \
                    dup 16 and if 2 data skip then 32 and if data B-> stack data skip else 2 data skip then";
