//! Whether two trees store a branch in the same way, so that baskets of one can stand beside those of the
//! other.

use forthwith_plan::{Error, Result};

use crate::metadata::{Branch, Leaf};

/// Compares a branch with the one of another tree that its baskets are to be added to.
///
/// # Errors
/// The first thing in which they differ.
pub(super) fn compare(first: &Branch<'_>, other: &Branch<'_>) -> Result<()> {
    texts("class", first.class, other.class)?;
    match (&first.member, &other.member) {
        (Some(first), Some(other)) => {
            texts("class of its values", &first.class, &other.class)?;
            texts("class of its items", &first.items, &other.items)?;
            // Those below 0 are plain branches, too: texts of ROOT's own are.
            numbers("kind", first.kind.max(0), other.kind.max(0))?;
            numbers("number of its member", first.id, other.id)?;
            numbers("type of its member", first.code, other.code)?;
            // That of a text follows from the compiler's own class, whose layout in files is ROOT's.
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
    // What a branch without baskets says of them means nothing.
    let has_data = first.field.has_data || other.field.has_data;
    if has_data && (first.entry_offset_len == 0) != (other.entry_offset_len == 0) {
        return Err(differs("baskets with offsets of entries in one tree and without in the other".into()));
    }
    if has_data && first.generates_offsets != other.generates_offsets {
        return Err(differs("baskets without offsets in one tree, with them in the other".into()));
    }
    let (first, other) = (first.leaves()?, other.leaves()?);
    numbers("number of leaves", first.len() as i64, other.len() as i64)?;
    first.iter().zip(&other).try_for_each(|(first, other)| leaves(first, other))
}

fn leaves(first: &Leaf<'_>, other: &Leaf<'_>) -> Result<()> {
    texts("class of a leaf", as_stored(first.class), as_stored(other.class))?;
    texts("name of a leaf", &first.name, &other.name)?;
    numbers("sign of a leaf", first.unsigned.into(), other.unsigned.into())?;
    if first.class != "TLeafC" {
        numbers("length of a leaf", first.len, other.len)?;
    }
    // Ranges of packed numbers stand in the title.
    if matches!(first.class, "TLeafF16" | "TLeafD32") {
        texts("title of a leaf", &first.title, &other.title)?;
    }
    numbers("counter of a leaf", first.counter.is_some().into(), other.counter.is_some().into())
}

/// A leaf of `Long_t` has 8 bytes as one of `Long64_t`.
fn as_stored(class: &str) -> &str {
    if class == "TLeafG" { "TLeafL" } else { class }
}

fn texts(what: &str, first: &str, other: &str) -> Result<()> {
    if first == other {
        return Ok(());
    }
    Err(differs(format!("{what}: {other:?}, and in the tree before it {first:?}")))
}

fn numbers(what: &str, first: i64, other: i64) -> Result<()> {
    if first == other {
        return Ok(());
    }
    Err(differs(format!("{what}: {other}, and in the tree before it {first}")))
}

fn differs(what: String) -> Error {
    Error::invalid(format!("a branch that is stored in another way: {what}"))
}
