//! Serialisation of the streamer record. `streamer/` parses it.

use crate::cpp::Number;
use crate::streamer::{Counter, Element, ElementKind, StreamerInfo, code};

use super::Buffer;

/// Returns the checksum that ROOT computes for a class with these bases and members. It equals ROOT's only if
/// the class has no transient members and the checksums of its bases are set.
#[must_use]
pub fn checksum(info: &StreamerInfo) -> u32 {
    let mut sum = Sum(0);
    sum.text(&info.class);
    // Bases come first, wherever they are among the elements.
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

/// Whether a member is an enumeration: stored as an `int`, but of another type.
fn is_enumeration(element: &Element) -> bool {
    element.code == code::INT && Number::named(&element.type_name).is_none()
}

/// Accumulator of ROOT's class checksum.
struct Sum(u32);

impl Sum {
    fn number(&mut self, number: u32) {
        self.0 = self.0.wrapping_mul(3).wrapping_add(number);
    }

    fn text(&mut self, text: &str) {
        // `char` is signed in C++ on most processors.
        text.bytes().for_each(|byte| self.number(i32::from(byte as i8) as u32));
    }
}

/// Appends the payload of a streamer record: class descriptions, and the rules of schema evolution, if any.
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
        // `TStreamerObjectAnyPointer` has a version of its own; ROOT skips elements of any other.
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

/// Appends a `TStreamerElement`, with which all elements begin.
fn common(buffer: &mut Buffer, element: &Element) {
    buffer.frame(4, |buffer| {
        let bits = if element.packing.is_some() { HAS_RANGE } else { 0 };
        buffer.tnamed(bits, &*element.name, &*element.title);
        buffer.i32(element.code);
        buffer.i32(element.size);
        // No file has a length that exceeds 31 bits.
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

/// `TStreamerElement::kHasRange`: the comment of the element contains a range.
const HAS_RANGE: u32 = 1 << 6;
/// ROOT's number of `std::string` among the containers.
const STRING: i32 = 365;
