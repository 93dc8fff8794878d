//! Compares how two trees store a branch, so that baskets of both can be in one tree.

use std::fmt::Debug;

use forthwith_plan::{Error, Result};

use crate::metadata::{Branch, Leaf};

/// Checks that a branch is stored as the branch of another tree to which its baskets are added.
///
/// # Errors
/// Returns an error that names the first difference.
pub(super) fn compare(first: &Branch<'_>, other: &Branch<'_>) -> Result<()> {
    same("class", first.class, other.class)?;
    match (&first.member, &other.member) {
        (Some(first), Some(other)) => {
            same("class of its values", &*first.class, &other.class)?;
            same("class of its items", &first.items, &other.items)?;
            // Negative kinds, such as that of `std::string`, are plain branches.
            same("kind", first.kind.max(0), other.kind.max(0))?;
            same("number of its member", first.id, other.id)?;
            same("type of its member", first.code, other.code)?;
            // The checksum of a string is that of the compiler's class. ROOT's layout in files does not
            // depend on it.
            if first.checksum != other.checksum && first.class != "string" {
                let what = format!(
                    "class {} with checksum {:#010x}, and in the tree before it {:#010x}",
                    first.class, other.checksum, first.checksum
                );
                return Err(differs(what));
            }
        }
        (None, None) => {}
        _ => return Err(differs("a member of a class in one tree and none in the other".into())),
    }
    // Without baskets, `fEntryOffsetLen` has no meaning.
    let has_data = first.field.has_data || other.field.has_data;
    if has_data && (first.entry_offset_len == 0) != (other.entry_offset_len == 0) {
        return Err(differs("baskets with offsets of entries in one tree and without in the other".into()));
    }
    if has_data && first.generates_offsets != other.generates_offsets {
        return Err(differs("baskets without offsets in one tree, with them in the other".into()));
    }
    let (first, other) = (first.leaves()?, other.leaves()?);
    same("number of leaves", first.len() as i64, other.len() as i64)?;
    first.iter().zip(&other).try_for_each(|(first, other)| leaves(first, other))
}

fn leaves(first: &Leaf<'_>, other: &Leaf<'_>) -> Result<()> {
    same("class of a leaf", as_stored(first.class), as_stored(other.class))?;
    same("name of a leaf", &first.name, &other.name)?;
    same("sign of a leaf", i64::from(first.unsigned), i64::from(other.unsigned))?;
    if first.class != "TLeafC" {
        same("length of a leaf", first.len, other.len)?;
    }
    // The title has the range of packed numbers.
    if matches!(first.class, "TLeafF16" | "TLeafD32") {
        same("title of a leaf", &first.title, &other.title)?;
    }
    same("counter of a leaf", i64::from(first.counter.is_some()), i64::from(other.counter.is_some()))
}

/// Returns the class of leaves with the same bytes: `Long_t` has 8 bytes as `Long64_t` has.
fn as_stored(class: &str) -> &str {
    if class == "TLeafG" { "TLeafL" } else { class }
}

fn same<T: PartialEq + Debug>(what: &str, first: T, other: T) -> Result<()> {
    if first == other {
        return Ok(());
    }
    Err(differs(format!("{what}: {other:?}, and in the tree before it {first:?}")))
}

fn differs(what: String) -> Error {
    Error::invalid(format!("a branch that is stored in another way: {what}"))
}
