//! Enumerations, which have no streamer info: they are recognised as types of members whose codes are those
//! of numbers.

use std::collections::HashMap;
use std::sync::Arc;

use forthwith_columns::DType;

use super::{ElementKind, StreamerInfo, code};
use crate::cpp::Number;

/// Returns the names of enumerations, and the codes of the numbers that items of containers are stored as.
///
/// A member is stored as an `int`, whatever the enumeration's underlying type is. An item, also of a pair, is
/// stored as the underlying type.
pub(super) fn of(infos: impl Iterator<Item = Arc<StreamerInfo>>) -> HashMap<Box<str>, i32> {
    let mut found = HashMap::new();
    for info in infos {
        let is_pair = info.class.starts_with("pair<");
        for element in &info.elements {
            let name = element.type_name.trim();
            match element.kind {
                ElementKind::Stl { content, .. } => {
                    if let (Some(item), true) = (only_argument(name), is_number(content)) {
                        found.insert(item.into(), content);
                    }
                }
                ElementKind::Basic if is_name(name) => {
                    let number = element.code % code::ARRAY;
                    if is_pair && is_number(number) {
                        found.insert(name.into(), number);
                    } else if number == code::INT {
                        found.entry(name.into()).or_insert(number);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the type of a container's items, if it is the only argument of the container and has no arguments
/// itself.
fn only_argument(name: &str) -> Option<&str> {
    let (_, inner) = name.strip_suffix('>')?.split_once('<')?;
    let inner = inner.trim();
    is_name(inner).then_some(inner)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['<', '>', ',', '*', '['])
}

/// Whether a code is that of an integer type that has a name.
fn is_number(number: i32) -> bool {
    use DType::{Bool, Float32, Float64};
    let is_whole = |number: &Number| !matches!(number.dtype, Bool | Float32 | Float64) && number.has_names();
    number != code::LEGACY_CHAR && Number::coded(number).is_some_and(is_whole)
}
