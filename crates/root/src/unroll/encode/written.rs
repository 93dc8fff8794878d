//! The parts of layouts that can be written, and the versions in which they are.

use std::borrow::Cow;
use std::sync::Arc;

use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Error, Result};
use forthwith_program::{Layout, When};

use super::node::{CONTAINER, Version};
use crate::class::Layouts;
use crate::cpp::CppType;
use crate::streamer::StreamerInfo;
use crate::unroll::{member, native};
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
        Layout::Computed(DType::UInt32, words) if words == member::BITS => Ok(()),
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
        Layout::Between(before, of, behind) if before.iter().all(is_constant) && behind.is_empty() => {
            check(of)
        }
        // Of several pointers, one flag stands before the arrays of all of them.
        Layout::Fixed(_, of) if has_counted(of) => Err(refused(of)),
        Layout::Fixed(_, of) => check(of),
        Layout::Tuple(items) => items.iter().try_for_each(check),
        Layout::Pointer(_) => {
            let mut classes = readable(layout).iter();
            classes.try_for_each(|(name, class)| check(class).map_err(|error| error.in_object(name)))
        }
        Layout::Record { fields, .. } => fields.iter().try_for_each(|(name, field)| match field {
            Layout::Passed(words) if words == native::TOBJECT => Ok(()),
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
        Layout::Pointer(_) => true,
        Layout::Passed(words) => words == native::TOBJECT,
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
        Layout::OneClass { .. } => "an array that names the class of its items (TClonesArray)".into(),
        Layout::Versioned(_) | Layout::Framed { .. } => {
            "a class or a std::array whose version is not described".into()
        }
        Layout::Skipped(of) if matches!(**of, Layout::Framed { .. }) => {
            "a base that the file does not describe, or a member that another one hides".into()
        }
        Layout::Skipped(_) | Layout::Blank => "a member that another one of its name hides".into(),
        Layout::Computed(..) => "a reference to an object, or a number that is computed".into(),
        Layout::Between(before, ..) if matches!(before.first(), Some(Layout::Given(..))) => {
            "arrays in items, which a member beside them counts".into()
        }
        Layout::Between(..) => "a collection of pointers, or what has a streamer of its own".into(),
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
