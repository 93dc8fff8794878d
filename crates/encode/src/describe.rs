//! Descriptions of layouts in error messages.

use forthwith_program::Layout;

/// Returns a short description of a layout. Below `depth` 3 it is abbreviated to an ellipsis.
pub(crate) fn describe(layout: &Layout, depth: usize) -> String {
    if depth > 3 {
        return "…".into();
    }
    let of = |layout: &Layout| describe(layout, depth + 1);
    match layout {
        Layout::Number(wire) => wire.dtype().name().into(),
        Layout::Leb128 { dtype, .. } => dtype.name().into(),
        Layout::Symbol { .. } => "symbols".into(),
        Layout::Varint(dtype) => dtype.name().into(),
        Layout::Text => "text".into(),
        Layout::Bytes => "bytes".into(),
        Layout::Opaque(size) => format!("{size} bytes"),
        Layout::Null => "null".into(),
        Layout::List(item) => format!("lists of {}", of(item)),
        Layout::Fixed(size, item) => format!("{size} times {}", of(item)),
        Layout::Map(value) => format!("maps of {}", of(value)),
        Layout::Enum { .. } => "symbols".into(),
        Layout::Logical(meaning, _) => meaning.to_string(),
        Layout::Union(union) => {
            let alternatives: Vec<_> = union.alternatives.iter().map(of).collect();
            format!("a union of {}", alternatives.join(", "))
        }
        Layout::Record { name, .. } | Layout::Arranged { name, .. } => {
            name.clone().map_or_else(|| "a record".into(), |name| format!("a record {name}"))
        }
        Layout::Pointer(_) => "a pointer to an object".into(),
        Layout::OneClass { .. } => "an array that may be of several classes".into(),
        Layout::Framed { .. } | Layout::Versioned(_) => "an object of a version".into(),
        Layout::Computed(..) => "a reference to an object, or a number that is computed".into(),
        Layout::Counted { of: item, .. } | Layout::Rest(item) => format!("lists of {}", of(item)),
        Layout::Counter(_, of) | Layout::OrNothing(of) | Layout::Flagged(of) => describe(of, depth),
        Layout::Between(_, of, _) => describe(of, depth),
        Layout::LongText => "text".into(),
        _ => "another layout".into(),
    }
}
