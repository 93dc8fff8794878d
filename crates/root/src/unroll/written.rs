//! Layouts for writing, derived from those for reading.
//!
//! Objects are written in the first version of a layout, which is the latest that the file describes, and
//! items of containers are written object-wise. ROOT reads both, whatever the other entries of a branch have.

use std::borrow::Cow;
use std::sync::Arc;

use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Error, Result};
use forthwith_program::{EncodedValue, Layout, When, Words};

use super::native;
use crate::class::{self as table, Layouts, Native};
use crate::cpp::CppType;
use crate::streamer::StreamerInfo;
use crate::write::{STL_VERSION, is_told_by_checksum};

/// Returns the layout that writes the values that `layout` reads.
///
/// # Errors
/// Returns an error for the first part of the layout that can only be read.
pub fn written(layout: &Layout, file: &Layouts) -> Result<Layout> {
    let written = |of: &Layout| written(of, file);
    let boxed = |of: &Layout| written(of).map(Box::new);
    Ok(match layout {
        Layout::Number(wire) | Layout::Mixed(wire, _) | Layout::Converted(wire, _) if can_write(*wire) => {
            Layout::Number(*wire)
        }
        Layout::Computed(_, Words { value: Some(EncodedValue::StatusBits), .. })
        | Layout::Text
        | Layout::LongText
        | Layout::Triangle(..) => layout.clone(),
        // Allowed as long as no value has them.
        Layout::Unknown(_) | Layout::Refused(_) => layout.clone(),
        Layout::OrNothing(of) => Layout::OrNothing(boxed(of)?),
        Layout::Counter(slot, of) => Layout::Counter(*slot, boxed(of)?),
        Layout::List(of) => Layout::List(boxed(of)?),
        Layout::Rest(of) => Layout::Rest(boxed(of)?),
        Layout::Counted { slot, flag, of } => Layout::Counted { slot: *slot, flag: *flag, of: boxed(of)? },
        Layout::Flagged(of) => Layout::Flagged(boxed(of)?),
        Layout::Base(of) => Layout::Base(boxed(of)?),
        layout if let Some(all) = pointers(layout) => all.written(file)?,
        Layout::OneClass { alternatives, .. } => {
            let (class, version, item) = one_class(layout).ok_or_else(|| refused(layout))?;
            let classes = vec![(class.to_owned(), version, written(item)?)];
            Layout::OneClass { alternatives: alternatives.clone(), classes }
        }
        Layout::Between(before, of, behind) if before.iter().all(is_constant) && behind.is_empty() => {
            Layout::Between(before.clone(), boxed(of)?, Vec::new())
        }
        Layout::Between(before, of, _) if is_counted_elsewhere(layout) => {
            Layout::Between(before.clone(), boxed(of)?, Vec::new())
        }
        // Arrays of pointers have a single flag before the arrays of all pointers.
        Layout::Fixed(_, of) if has_counted(of) => return Err(refused(of)),
        Layout::Fixed(size, of) => Layout::Fixed(*size, boxed(of)?),
        Layout::Tuple(items) => Layout::Tuple(items.iter().map(written).collect::<Result<_>>()?),
        Layout::Pointer(_) => {
            // If only some classes cannot be written, the error is that of their objects.
            let (mut classes, mut refused, mut any) = (Vec::new(), None, false);
            for (name, class) in readable(layout) {
                match written(class) {
                    Ok(class) => {
                        any = true;
                        classes.push((name.clone(), class));
                    }
                    Err(error) => {
                        classes.push((name.clone(), Layout::Refused(format!("{name}: {error}"))));
                        refused = refused.or(Some(error.in_object(name)));
                    }
                }
            }
            match refused {
                Some(error) if !any => return Err(error),
                _ => Layout::Pointer(classes),
            }
        }
        Layout::Record { name: Some(class), .. } if has_own_streamer(class) => {
            return Err(Error::unsupported(format!("writing {class}, which has a streamer of its own")));
        }
        Layout::Record { name: class, fields } => {
            let mut all = Vec::with_capacity(fields.len());
            for (name, field) in fields {
                let field = match field {
                    base if native::is_object_base(base) => base.clone(),
                    field => written(field)
                        .map_err(|error| if name.is_empty() { error } else { error.in_object(name) })?,
                };
                all.push((name.clone(), field));
            }
            Layout::Record { name: class.clone(), fields: all }
        }
        Layout::Framed { shared, of } => {
            let (version, of) = match &**of {
                Layout::Versioned(arms) => {
                    let (when, of) = arms.first().ok_or_else(|| refused(layout))?;
                    (Some(version(*when, of, file)?.ok_or_else(|| refused(layout))?), of)
                }
                of => (None, of),
            };
            let of = match version {
                Some(version) => Layout::Versioned(vec![(version, written(of)?)]),
                None => written(of)?,
            };
            Layout::Framed { shared: *shared, of: Box::new(of) }
        }
        other => return Err(refused(other)),
    })
}

/// Returns the layout of a container with its frame, for writing.
#[must_use]
pub fn container(layout: Layout) -> Layout {
    Layout::Framed { shared: false, of: Box::new(Layout::Versioned(vec![(CONTAINER, layout)])) }
}

/// Version in the frame of a container.
const CONTAINER: When = When::Version(STL_VERSION.unsigned_abs());

const fn can_write(wire: Encoding) -> bool {
    matches!(
        wire,
        Encoding::Big(_)
            | Encoding::Bool
            | Encoding::StrictBool
            | Encoding::Widened
            | Encoding::Scaled { .. }
            | Encoding::Truncated { .. }
    )
}

/// Whether arrays are counted by a number that is not part of the layout. The writer has to compare their
/// lengths with it.
#[must_use]
pub fn is_counted_elsewhere(layout: &Layout) -> bool {
    match layout {
        Layout::Between(before, of, behind) => {
            matches!(before[..], [Layout::Given(..)])
                && matches!(**of, Layout::Counted { .. })
                && behind.is_empty()
        }
        _ => false,
    }
}

/// Whether ROOT writes a class by a custom streamer that is not implemented here.
fn has_own_streamer(class: &str) -> bool {
    matches!(table::native(class), Native::Bag | Native::Btree | Native::Opaque | Native::Basket)
}

/// Returns the version to write for an alternative; `None` if the alternative is only read.
fn version(when: When, of: &Layout, file: &Layouts) -> Result<Option<When>> {
    let name = if let Layout::Record { name, .. } = of { name.as_deref() } else { None };
    Ok(match when {
        When::Any => Some(CONTAINER),
        When::Class(version, sum) if is_told_by_checksum(name.unwrap_or_default(), version.into(), sum) => {
            Some(When::Checksum(sum))
        }
        When::Class(version, _) | When::Version(version) => Some(When::Version(version)),
        When::Checksum(sum) => Some(When::Checksum(sum)),
        When::AnyClass => match name.map(|name| described(name, file)).transpose()?.flatten() {
            Some(info) if is_told_by_checksum(&info.class, info.version, info.checksum) => {
                Some(When::Checksum(info.checksum))
            }
            Some(info) => u16::try_from(info.version).ok().map(When::Version),
            None => None,
        },
        When::Together => None,
    })
}

/// Parts of the layout of a container of pointers to objects of any class: its version, the slot of the
/// number of items, whether the index of the first item follows that number, and the layout of an item.
struct Pointers<'l> {
    version: u16,
    slot: u32,
    has_bound: bool,
    item: &'l Layout,
}

impl Pointers<'_> {
    /// Returns the layout that writes a new base object, an empty name, the number of items, and the items.
    fn written(&self, file: &Layouts) -> Result<Layout> {
        let bytes =
            |bytes: &[u8]| Layout::Constant(bytes.into(), Box::new(Layout::Opaque(bytes.len() as u64)));
        let number = Layout::Number(Encoding::Big(DType::Int32));
        let mut before = vec![bytes(&TOBJECT), bytes(&[0]), Layout::Counter(self.slot, Box::new(number))];
        if self.has_bound {
            before.push(bytes(&[0; 4]));
        }
        let item = match self.item {
            // The draw option after each item is empty.
            Layout::Between(_, of, _) => {
                Layout::Between(Vec::new(), Box::new(written(of, file)?), vec![bytes(&[0])])
            }
            item => written(item, file)?,
        };
        let items = Layout::Counted { slot: self.slot, flag: false, of: Box::new(item) };
        let of = Layout::Between(before, Box::new(items), Vec::new());
        let of = Box::new(Layout::Versioned(vec![(When::Version(self.version), of)]));
        Ok(Layout::Framed { shared: false, of })
    }
}

/// A new `TObject`: its version, the id 0, and the bits `kIsOnHeap` and `kNotDeleted`.
const TOBJECT: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0];

/// Parses the layout of a container of pointers: `TList`, `TMap`, `TObjArray`, and classes derived from them.
fn pointers(layout: &Layout) -> Option<Pointers<'_>> {
    let Layout::Framed { of, .. } = layout else { return None };
    let Layout::Versioned(arms) = &**of else { return None };
    let [(When::Any, Layout::Between(before, of, behind))] = &arms[..] else { return None };
    let Layout::Counted { flag: false, of: item, .. } = &**of else { return None };
    let has_bound = matches!(before.last(), Some(Layout::Opaque(4)));
    let [base, Layout::Text, Layout::Counter(slot, _), ..] = &before[..] else { return None };
    if !native::is_object_base(base) || !behind.is_empty() {
        return None;
    }
    // Versions of `TObjArray`, `TMap` and `TList`; classes that inherit the streamer of `TList` have its
    // version.
    let version = match (has_bound, &**item) {
        (true, Layout::Pointer(_)) => 3,
        (false, Layout::Tuple(pair)) if pair.iter().all(|of| matches!(of, Layout::Pointer(_))) => 3,
        (false, Layout::Between(none, of, _)) if none.is_empty() && matches!(**of, Layout::Pointer(_)) => 5,
        _ => return None,
    };
    Some(Pointers { version, slot: *slot, has_bound, item })
}

/// Returns class name and version of the items of a `TClonesArray` with one possible class, and the layout of
/// an item, all of the latest version.
fn one_class(layout: &Layout) -> Option<(&str, u32, &Layout)> {
    let Layout::OneClass { alternatives, classes } = layout else { return None };
    let (name, version, item) = classes.first()?;
    (alternatives.len() == 1).then_some((name, *version, item))
}

/// Returns the description of a class in the file. The file may spell a pair differently.
fn described(class: &str, file: &Layouts) -> Result<Option<Arc<StreamerInfo>>> {
    let streamers = file.streamers();
    match streamers.spelled(&CppType::parse(class)) {
        Some(name) => streamers.latest(name),
        None => streamers.latest(class),
    }
}

/// Returns the classes of a pointer's target that can be read.
fn readable(layout: &Layout) -> &[(String, Layout)] {
    let Layout::Pointer(classes) = layout else { return &[] };
    let refused = classes.iter().position(|(_, class)| matches!(class, Layout::Refused(_)));
    &classes[..refused.unwrap_or(classes.len())]
}

/// Whether values of a layout contain pointers, or objects that pointers may refer to.
#[must_use]
pub fn has_objects(layout: &Layout) -> bool {
    match layout {
        Layout::Pointer(_) | Layout::OneClass { .. } => true,
        base @ Layout::Passed(_) => native::is_object_base(base),
        Layout::OrNothing(of)
        | Layout::Counter(_, of)
        | Layout::List(of)
        | Layout::Rest(of)
        | Layout::Counted { of, .. }
        | Layout::Fixed(_, of)
        | Layout::Flagged(of)
        | Layout::Framed { of, .. }
        | Layout::Between(_, of, _)
        | Layout::Base(of) => has_objects(of),
        Layout::Versioned(arms) => arms.iter().any(|(_, of)| has_objects(of)),
        Layout::Tuple(items) => items.iter().any(has_objects),
        Layout::Record { fields, .. } => fields.iter().any(|(_, field)| has_objects(field)),
        _ => false,
    }
}

/// Whether a layout is an array that another member counts, or a fixed array of such arrays.
fn has_counted(layout: &Layout) -> bool {
    match layout {
        Layout::Counted { .. } => true,
        Layout::Fixed(_, of) => has_counted(of),
        _ => false,
    }
}

const fn is_constant(layout: &Layout) -> bool {
    matches!(layout, Layout::Constant(..))
}

fn refused(layout: &Layout) -> Error {
    Error::unsupported(format!("writing {}", phrase(layout)))
}

fn phrase(layout: &Layout) -> Cow<'static, str> {
    match layout {
        Layout::Pointer(_) => "a pointer to an object".into(),
        Layout::OneClass { .. } => "an array that may be of several classes (TClonesArray)".into(),
        Layout::Versioned(_) | Layout::Framed { .. } => {
            "a class or a std::array whose version is not described".into()
        }
        Layout::Skipped(of) if matches!(**of, Layout::Framed { .. }) => {
            "a base that the file does not describe".into()
        }
        Layout::Skipped(_) | Layout::Blank => "a member that is not read".into(),
        Layout::Computed(..) => "a reference to an object, or a number that is computed".into(),
        Layout::Between(before, ..) if matches!(before.first(), Some(Layout::Given(..))) => {
            "arrays of arrays, which a member beside them counts".into()
        }
        Layout::Between(..) => "a value that stands between others".into(),
        Layout::Counted { .. } => "an array that a member of another object counts".into(),
        Layout::Unknown(class) => {
            format!("an object of class {class}, which the file does not describe").into()
        }
        Layout::Refused(why) => format!("an object of {why}").into(),
        Layout::Number(wire) | Layout::Mixed(wire, _) => format!("numbers of {}", wire.dtype().name()).into(),
        Layout::Text | Layout::LongText => "text".into(),
        Layout::List(_) => "lists".into(),
        Layout::Fixed(size, _) => format!("arrays of {size}").into(),
        Layout::Record { name, .. } => name.as_ref().map_or("a record".into(), |name| name.clone().into()),
        _ => "something that is stepped over".into(),
    }
}
