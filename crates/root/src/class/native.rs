//! Classes that do not follow their streamer info: ROOT streams them by code of its own.

use forthwith_columns::DType;
use forthwith_program::Schema;

use super::big;

/// How such a class is read; `None` for all others.
pub(super) fn schema(class: &str) -> Option<Schema> {
    let numbers = |dtype| Some(big(dtype).list());
    match class {
        "TString" | "string" | "std::string" => Some(Schema::Text),
        "TArrayC" => numbers(DType::Int8),
        "TArrayS" => numbers(DType::Int16),
        "TArrayI" => numbers(DType::Int32),
        "TArrayL" | "TArrayL64" => numbers(DType::Int64),
        "TArrayF" => numbers(DType::Float32),
        "TArrayD" => numbers(DType::Float64),
        "TObject" => Some(record(class, vec![("", Schema::Passed(TOBJECT.into()))])),
        "TRef" => Some(record(class, vec![("ref", Schema::Computed(DType::UInt32, TREF.into()))])),
        "TDatime" => Some(record(class, vec![("fDatime", big(DType::UInt32))])),
        _ => None,
    }
}

/// Classes whose streamers write no byte count: a version of two bytes, then the members as the file describes them. CMS
/// registers these with ROOT for its references. ROOT reads them with a byte count as well, as older files have them.
pub(super) fn is_uncounted(class: &str) -> bool {
    matches!(class, "edm::RefCore" | "edm::RefCoreWithIndex")
}

/// Steps over a byte count, if there is one. What follows is a version in any case.
pub(super) const BYTE_COUNT_IF_ANY: &str =
    "data pos data B-> stack 64 and if drop 3 data skip else data seek then";

/// Whether nothing at all is stored of a base.
pub(super) fn is_nothing(class: &str) -> bool {
    class == "TQObject"
}

fn record(class: &str, fields: Vec<(&str, Schema)>) -> Schema {
    let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect();
    Schema::Record { name: Some(class.into()), fields }
}

/// A `TObject`: a version, in old files behind a byte count; an id; status bits, and if they say that the object is referenced, where
/// from.
pub(super) const TOBJECT: &str = "data !H-> stack 16384 and if 4 data skip then 4 data skip \
                                  data !I-> stack 16 and if 2 data skip then";

/// A `TRef`: a `TObject` whose id is that of what is meant, then the process the id is from, or a UUID as text.
const TREF: &str = "data !H-> stack 16384 and if 4 data skip then data !I-> stack data !I-> stack \
                    dup 16 and if 2 data skip then 32 and if data B-> stack data skip else 2 data skip then";
