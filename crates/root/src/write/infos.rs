//! The streamer record: descriptions of classes, the opposite of `streamer/`.

use crate::cpp::Number;
use crate::streamer::{Counter, Element, ElementKind, StreamerInfo, code};

use super::Buffer;

/// The checksum that ROOT gives a class with these bases and members, if they are all of its members. The checksums of bases belong
/// to it.
#[must_use]
pub fn checksum(info: &StreamerInfo) -> u32 {
    let mut sum = Sum(0);
    sum.text(&info.class);
    // Bases come first, wherever they stand.
    for element in info.elements.iter().filter(|element| element.is_base()) {
        sum.text(&element.name);
        if let ElementKind::Base { checksum, .. } = element.kind {
            sum.number(checksum);
        }
    }
    for element in info.elements.iter().filter(|element| !element.is_base()) {
        if is_enumeration(element) {
            sum.number(1);
        }
        sum.text(&element.name);
        sum.text(&element.type_name);
        for &dimension in &element.dimensions {
            sum.number(dimension);
        }
        let inside = element.title.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((inside, _)) = inside {
            sum.text(inside);
        }
    }
    sum.0
}

/// Whether a member is stored as an `int` without being called one.
fn is_enumeration(element: &Element) -> bool {
    element.code == code::INT && Number::named(&element.type_name).is_none()
}

/// ROOT's way to sum up.
struct Sum(u32);

impl Sum {
    fn number(&mut self, number: u32) {
        self.0 = self.0.wrapping_mul(3).wrapping_add(number);
    }

    fn text(&mut self, text: &str) {
        // Letters are signed in C++ on most processors.
        text.bytes().for_each(|byte| self.number(i32::from(byte as i8) as u32));
    }
}

/// Appends the payload of a streamer record: infos, and the rules of schema evolution if there are any.
pub(super) fn list<'i>(
    buffer: &mut Buffer,
    infos: impl ExactSizeIterator<Item = &'i StreamerInfo>,
    rules: &[Box<str>],
) {
    let count = infos.len() + usize::from(!rules.is_empty());
    let mut infos = infos;
    buffer.tlist("", count, |buffer, _| match infos.next() {
        Some(info) => {
            buffer.object("TStreamerInfo", |buffer| write(buffer, info));
        }
        None => {
            buffer.object("TList", |buffer| write_rules(buffer, rules));
        }
    });
}

fn write_rules(buffer: &mut Buffer, rules: &[Box<str>]) {
    buffer.tlist("listOfRules", rules.len(), |buffer, index| {
        buffer.object("TObjString", |buffer| {
            buffer.frame(1, |buffer| {
                buffer.tobject(0, 0);
                buffer.string(&*rules[index]);
            });
        });
    });
}

fn write(buffer: &mut Buffer, info: &StreamerInfo) {
    buffer.frame(10, |buffer| {
        buffer.tnamed(0x10000, &*info.class, "");
        buffer.u32(info.checksum);
        buffer.i32(info.version);
        buffer.object("TObjArray", |buffer| {
            buffer.tobjarray(0, info.elements.len(), |buffer, index| {
                let element = &info.elements[index];
                buffer.object(element.kind.class(), |buffer| write_element(buffer, element));
            });
        });
    });
}

fn write_element(buffer: &mut Buffer, element: &Element) {
    match &element.kind {
        ElementKind::Base { version, .. } => buffer.frame(3, |buffer| {
            common(buffer, element);
            buffer.i32(version.unwrap_or(-1));
        }),
        ElementKind::BasicPointer(counter) | ElementKind::Loop(counter) => buffer.frame(2, |buffer| {
            common(buffer, element);
            let Counter { version, name, class } = counter;
            buffer.i32(*version);
            buffer.string(&**name);
            buffer.string(&**class);
        }),
        ElementKind::Stl { container, content } => stl(buffer, element, *container, *content),
        ElementKind::StlString => buffer.frame(2, |buffer| stl(buffer, element, STRING, STRING)),
        ElementKind::Artificial => common(buffer, element),
        // ROOT has a version of its own for this one, and skips elements of any other.
        ElementKind::ObjectAnyPointer => buffer.frame(1, |buffer| common(buffer, element)),
        _ => buffer.frame(2, |buffer| common(buffer, element)),
    }
}

fn stl(buffer: &mut Buffer, element: &Element, container: i32, content: i32) {
    buffer.frame(3, |buffer| {
        common(buffer, element);
        buffer.i32(container);
        buffer.i32(content);
    });
}

/// The common part of all elements.
fn common(buffer: &mut Buffer, element: &Element) {
    buffer.frame(4, |buffer| {
        let bits = if element.packing.is_some() { HAS_RANGE } else { 0 };
        buffer.tnamed(bits, &*element.name, &*element.title);
        buffer.i32(element.code);
        buffer.i32(element.size);
        // A length above that of signed numbers is not in any file.
        buffer.u32(element.array_length);
        buffer.count(element.dimensions.len());
        let mut indices = [0; 5];
        for (index, dimension) in indices.iter_mut().zip(&element.dimensions) {
            *index = *dimension;
        }
        if let ElementKind::Base { checksum, .. } = element.kind {
            indices[1] = checksum;
        }
        indices.iter().for_each(|&index| buffer.u32(index));
        buffer.string(&*element.type_name);
    });
}

/// Set in the bits of an element whose comment holds a range.
const HAS_RANGE: u32 = 1 << 6;
/// ROOT's number for a `std::string` among containers.
const STRING: i32 = 365;
