//! Layouts registered by a user, for classes without streamer info or with custom streamers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forthwith_columns::DType;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessList;
use forthwith_program::check_words;

use super::{Element, ElementKind, Packing, StreamerInfo, code};
use crate::cpp::{CppType, Number};

/// Changes of registrations in order. The last change of a class counts. A forked process has the complete
/// list, and does not wait for a lock.
static REGISTERED: ProcessList<Change> = ProcessList::new();

/// Number of changes, which invalidate cached layouts.
static CHANGES: AtomicU64 = AtomicU64::new(0);

struct Change {
    class: Box<str>,
    /// The registration, or `None` if it was removed.
    registered: Option<Registered>,
}

#[derive(Clone)]
struct Registered {
    info: Arc<StreamerInfo>,
    framed: bool,
}

/// Registers how a class is stored, in all versions and in every file that is opened from now on: these
/// members in this order, after the byte count and version that ROOT writes before an object. A registration
/// overrides streamer infos of files.
///
/// A member is a name and a C++ type: `"int"`, `"double[3]"`, `"TString"`, `"vector<float>"`, `"Hit"`,
/// `"TObject*"`, or, for a base, the name of its class and `"base"`. A `Double32_t` or `Float16_t` may be
/// followed by its range: `"Double32_t [0,10,16]"`.
///
/// Other types can be described in AwkwardForth: `"uint32: data I-> stack"` is a number of that type that the
/// words leave on the stack, and `": 4 data skip"` are bytes that are stepped over. Such members are read in
/// columns; objects with such a member are skipped.
///
/// ```
/// forthwith_root::register_class("Detector", &[("TNamed", "base"), ("fGains", "vector<float>"), ("fPlane", "short[4]")])?;
/// # forthwith_root::forget_class("Detector");
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a type is invalid, or if a name is empty.
pub fn register_class(class: &str, members: &[(&str, &str)]) -> Result<()> {
    register(class, members, true)
}

/// Registers a class as [`register_class`] does, whose objects have neither byte count nor version, as is
/// possible with a custom streamer.
///
/// ```
/// // Four bytes in another order than ROOT's own, and one.
/// forthwith_root::register_unframed("Hit", &[("time", "uint32: data I-> stack"), ("channel", "unsigned char")])?;
/// # forthwith_root::forget_class("Hit");
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`register_class`].
pub fn register_unframed(class: &str, members: &[(&str, &str)]) -> Result<()> {
    register(class, members, false)
}

fn register(class: &str, members: &[(&str, &str)], framed: bool) -> Result<()> {
    let elements = members.iter().map(|(name, kind)| element(class, name, kind));
    let elements = elements.collect::<Result<Vec<_>>>()?;
    let info = StreamerInfo { class: class.into(), version: 1, checksum: 0, elements };
    let registered = Registered { info: Arc::new(info), framed };
    REGISTERED.add(|| Some(Change { class: class.into(), registered: Some(registered.clone()) }));
    CHANGES.fetch_add(1, Ordering::Release);
    Ok(())
}

/// Unregisters a class. Returns whether it was registered.
pub fn forget_class(class: &str) -> bool {
    let gone = || latest(class).map(|_| Change { class: class.into(), registered: None });
    let was_there = REGISTERED.add(gone);
    CHANGES.fetch_add(1, Ordering::Release);
    was_there
}

/// Returns the current registration of a class.
fn latest(class: &str) -> Option<&'static Registered> {
    REGISTERED.iter().filter(|change| &*change.class == class).last()?.registered.as_ref()
}

/// Returns a number that changes whenever a class is registered or unregistered.
#[must_use]
pub fn registrations() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

/// Returns the info that a user registered for a class.
#[must_use]
pub fn registered(class: &str) -> Option<Arc<StreamerInfo>> {
    latest(class).map(|registered| Arc::clone(&registered.info))
}

/// Returns whether any class is registered without a frame.
#[must_use]
pub fn any_unframed() -> bool {
    REGISTERED.iter().any(|change| is_unframed(&change.class))
}

/// Returns whether a class is registered without a frame.
#[must_use]
pub fn is_unframed(class: &str) -> bool {
    latest(class).is_some_and(|registered| !registered.framed)
}

fn element(class: &str, name: &str, kind: &str) -> Result<Element> {
    let wrong = |what: &str| Error::invalid(format!("{what} for member {name:?} of class {class}: {kind:?}"));
    let kind = kind.trim();
    if name.is_empty() || kind.is_empty() {
        return Err(wrong("no name or no type"));
    }
    if kind == "base" {
        return Ok(Element::base_of(name, None));
    }
    let mut element = Element { name: name.into(), ..Element::typed(kind) };
    if let Some((of, words)) = told(kind) {
        let unknown = || wrong("no type of a number");
        let of = if of.is_empty() { None } else { Some(DType::from_name(of).ok_or_else(unknown)?) };
        check_words(words, of.is_some())
            .map_err(|why| wrong(&format!("words that cannot be taken ({why})")))?;
        element.kind = ElementKind::Words(of, words.into());
        return Ok(element);
    }
    let mut plain = kind;
    if let Some((before, bracket)) = kind.split_once('[') {
        plain = before.trim();
        if plain.ends_with("32_t") || plain.ends_with("16_t") && plain.starts_with("Float") {
            element.packing = Packing::from_comment(&kind[before.len()..]);
            if element.packing.is_none() && bracket.contains(',') {
                return Err(wrong("no range"));
            }
        }
        if element.packing.is_none() {
            let inner = kind[before.len()..].trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let sizes = inner.into_iter().flat_map(|inner| inner.split("][")).map(|size| size.trim().parse());
            element.dimensions = sizes.collect::<Result<_, _>>().map_err(|_| wrong("no dimensions"))?;
            let length = element.dimensions.iter().try_fold(1_u32, |all, &one| all.checked_mul(one));
            let length = length.filter(|&length| inner.is_some() && length > 0);
            element.array_length = length.ok_or_else(|| wrong("no dimensions"))?;
        }
    }
    element.type_name = plain.into();
    let array = if element.array_length > 0 { code::ARRAY } else { 0 };
    let template = plain.strip_prefix("std::").unwrap_or(plain);
    let is_container = CppType::parse(plain).is_container();
    let number = match template {
        "char*" => Some(code::CHAR_STAR),
        _ => Number::named(template).map(|number| number.codes[0]),
    };
    let (kind, code) = match number {
        Some(number) => (ElementKind::Basic, number),
        None if template == "TString" => (ElementKind::Basic, code::TSTRING),
        None if template == "string" && array > 0 => (ElementKind::StlString, code::STL),
        None if template == "string" => (ElementKind::StlString, code::STL_STRING),
        None if is_container => (ElementKind::Stl { container: 0, content: 0 }, code::STL),
        None if template.ends_with('*') => (ElementKind::ObjectAnyPointer, code::ANY_POINTER),
        None => (ElementKind::ObjectAny, code::ANY),
    };
    (element.kind, element.code) = (kind, array + code);
    Ok(element)
}

/// Splits a member that is described in words into the number's type and the words.
fn told(kind: &str) -> Option<(&str, &str)> {
    let (of, words) = kind.split_once(':')?;
    // Does not match the colons of `std::string`.
    (!words.starts_with(':') && !of.contains('<')).then_some((of.trim(), words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamer::spelled;

    /// What a user says of a base means the same as in the tables of this crate, also where members of many
    /// objects stand together.
    #[test]
    fn bases_are_those_of_the_tables() {
        for base in ["TObject", "TNamed", "TAttLine", "Hit"] {
            let told = element("Detector", base, "base").expect("a base");
            let mut known = spelled("Detector", 1, base).elements.remove(0);
            known.kind = ElementKind::Base { version: None, checksum: 0 };
            assert_eq!(told, known);
        }
    }
}
