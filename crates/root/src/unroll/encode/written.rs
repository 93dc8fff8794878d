//! The parts of layouts that can be written, and the versions in which they are.

use std::borrow::Cow;
use std::sync::Arc;

use forthwith_columns::Encoding;
use forthwith_plan::{Error, Result};
use forthwith_program::{EncodedValue, Layout, When, Words};

use super::node::{CONTAINER, Head, Version};
use crate::class::{self as table, Layouts, Native};
use crate::cpp::CppType;
use crate::streamer::StreamerInfo;
use crate::unroll::native;
use crate::write::is_told_by_checksum;

/// Whether there is a way to write values of a layout.
///
/// # Errors
/// The first thing in it that can be read only.
pub fn check(layout: &Layout, file: &Layouts) -> Result<()> {
    let check = |of: &Layout| check(of, file);
    match layout {
        Layout::Number(wire) | Layout::Mixed(wire, _) | Layout::Converted(wire, _) if can_write(*wire) => {
            Ok(())
        }
        Layout::Computed(_, Words { value: Some(EncodedValue::StatusBits), .. }) => Ok(()),
        Layout::Text | Layout::LongText | Layout::Triangle(..) => Ok(()),
        // Where there are none of them.
        Layout::Unknown(_) | Layout::Refused(_) => Ok(()),
        Layout::OrNothing(of)
        | Layout::Counter(_, of)
        | Layout::List(of)
        | Layout::Rest(of)
        | Layout::Counted { of, .. }
        | Layout::Flagged(of)
        | Layout::Base(of) => check(of),
        layout if pointers(layout).is_some() => {
            pointers(layout).map_or(Ok(()), |all| all.items().iter().try_for_each(check))
        }
        Layout::OneClass { .. } => match one_class(layout) {
            Some((_, item)) => check(item),
            None => Err(refused(layout)),
        },
        Layout::Between(before, of, behind) if before.iter().all(is_constant) && behind.is_empty() => {
            check(of)
        }
        Layout::Between(_, of, _) if is_counted_elsewhere(layout) => check(of),
        // Of several pointers, one flag stands before the arrays of all of them.
        Layout::Fixed(_, of) if has_counted(of) => Err(refused(of)),
        Layout::Fixed(_, of) => check(of),
        Layout::Tuple(items) => items.iter().try_for_each(check),
        Layout::Pointer(_) => {
            // Of several classes, an object of one that can be read only is an error when it is written.
            let classes = readable(layout).iter();
            let mut refused = None;
            for (name, class) in classes {
                match check(class) {
                    Ok(()) => return Ok(()),
                    Err(error) => refused = refused.or(Some(error.in_object(name))),
                }
            }
            refused.map_or(Ok(()), Err)
        }
        Layout::Record { name: Some(class), .. } if has_own_streamer(class) => {
            Err(Error::unsupported(format!("writing {class}, which has a streamer of its own")))
        }
        Layout::Record { fields, .. } => fields.iter().try_for_each(|(name, field)| match field {
            base if native::is_object_base(base) => Ok(()),
            field => {
                check(field).map_err(|error| if name.is_empty() { error } else { error.in_object(name) })
            }
        }),
        Layout::Framed { .. } => framed(layout, file).and_then(|(_, of)| check(of)),
        other => Err(refused(other)),
    }
}

pub(super) const fn can_write(wire: Encoding) -> bool {
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

/// Whether arrays are counted by a number that is no part of the layout. The caller of [`Encoder`](super::Encoder) has to
/// compare their lengths with it.
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

/// Whether ROOT writes a class by code of its own, which nothing here repeats, whatever its description says.
fn has_own_streamer(class: &str) -> bool {
    matches!(table::native(class), Native::Bag | Native::Btree | Native::Opaque | Native::Basket)
}

/// The version in a frame, and what follows it.
pub(super) fn framed<'l>(layout: &'l Layout, file: &Layouts) -> Result<(Version, &'l Layout)> {
    let Layout::Framed { of, .. } = layout else { return Err(refused(layout)) };
    let Layout::Versioned(arms) = &**of else { return Ok((Version::None, of)) };
    let Some((when, of)) = arms.first() else { return Err(refused(layout)) };
    let name = if let Layout::Record { name, .. } = of { name.as_deref() } else { None };
    let version = match *when {
        When::Any => CONTAINER,
        When::Class(version, sum) if is_told_by_checksum(name.unwrap_or_default(), version.into(), sum) => {
            Version::Checksum(sum)
        }
        When::Class(version, _) | When::Version(version) => Version::Number(version),
        When::Checksum(sum) => Version::Checksum(sum),
        When::AnyClass => match name.map(|name| described(name, file)).transpose()?.flatten() {
            Some(info) if is_told_by_checksum(&info.class, info.version, info.checksum) => {
                Version::Checksum(info.checksum)
            }
            Some(info) => Version::Number(u16::try_from(info.version).map_err(|_| refused(layout))?),
            None => return Err(refused(layout)),
        },
        When::Together => return Err(refused(layout)),
    };
    Ok((version, of))
}

/// A container of pointers to objects of any class, which has a streamer of its own: its version, what stands before
/// the items, and the pointers of an item.
pub(super) struct Pointers<'l> {
    pub(super) version: Version,
    pub(super) head: Head,
    item: &'l Layout,
}

impl<'l> Pointers<'l> {
    /// The parts of an item.
    pub(super) fn items(&self) -> &'l [Layout] {
        match self.item {
            Layout::Tuple(items) => items,
            Layout::Between(_, of, _) => std::slice::from_ref(of),
            item => std::slice::from_ref(item),
        }
    }

    /// Whether an option stands behind each item, which is none here.
    pub(super) const fn has_options(&self) -> bool {
        matches!(self.item, Layout::Between(..))
    }
}

/// What a frame has in it if the layout is one of a container of pointers (`TList`, `TMap`, `TObjArray` and theirs).
pub(super) fn pointers(layout: &Layout) -> Option<Pointers<'_>> {
    let Layout::Framed { of, .. } = layout else { return None };
    let Layout::Versioned(arms) = &**of else { return None };
    let [(When::Any, Layout::Between(before, of, behind))] = &arms[..] else { return None };
    let Layout::Counted { flag: false, of: item, .. } = &**of else { return None };
    let has_bound = matches!(before.last(), Some(Layout::Opaque(4)));
    let [base, Layout::Text, Layout::Counter(..), ..] = &before[..] else { return None };
    if !native::is_object_base(base) || !behind.is_empty() {
        return None;
    }
    // The versions of TObjArray, TMap and TList; the latter is that of what inherits its streamer, too.
    let version = match (has_bound, &**item) {
        (true, Layout::Pointer(_)) => 3,
        (false, Layout::Tuple(pair)) if pair.iter().all(|of| matches!(of, Layout::Pointer(_))) => 3,
        (false, Layout::Between(none, of, _)) if none.is_empty() && matches!(**of, Layout::Pointer(_)) => 5,
        _ => return None,
    };
    let head = if has_bound { Head::Bound } else { Head::Count };
    Some(Pointers { version: Version::Number(version), head, item })
}

/// The name that stands before items of an array that can be of one class only, and the layout of an item: those of the
/// latest version.
pub(super) fn one_class(layout: &Layout) -> Option<(&str, &Layout)> {
    let Layout::OneClass { alternatives, classes } = layout else { return None };
    let (name, _, item) = classes.first()?;
    (alternatives.len() == 1).then_some((name, item))
}

/// What the file says of a class: a pair may be spelled in another way there.
fn described(class: &str, file: &Layouts) -> Result<Option<Arc<StreamerInfo>>> {
    let streamers = file.streamers();
    match streamers.spelled(&CppType::parse(class)) {
        Some(name) => streamers.latest(name),
        None => streamers.latest(class),
    }
}

/// The classes of a pointer that can be delivered.
pub(super) fn readable(layout: &Layout) -> &[(String, Layout)] {
    let Layout::Pointer(classes) = layout else { return &[] };
    let refused = classes.iter().position(|(_, class)| matches!(class, Layout::Refused(_)));
    &classes[..refused.unwrap_or(classes.len())]
}

/// What is stored by itself also where other members of many items stand together.
pub(super) fn apart(layout: &Layout) -> &Layout {
    match layout {
        Layout::Between(before, of, behind) if before.is_empty() && behind.is_empty() => of,
        other => other,
    }
}

/// Whether values of a layout have pointers in them, or objects that pointers may mean.
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

/// Whether arrays of a fixed length are of arrays that another member counts.
fn has_counted(layout: &Layout) -> bool {
    match layout {
        Layout::Counted { .. } => true,
        Layout::Fixed(_, of) => has_counted(of),
        _ => false,
    }
}

pub(super) const fn is_constant(layout: &Layout) -> bool {
    matches!(layout, Layout::Constant(..))
}

pub(super) fn refused(layout: &Layout) -> Error {
    Error::unsupported(format!("writing {}", phrase(layout)))
}

pub(super) fn phrase(layout: &Layout) -> Cow<'static, str> {
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
