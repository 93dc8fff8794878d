//! Streamer infos spelled as text, for the tables of built-in classes.

use super::{Counter, Element, ElementKind, StreamerInfo, code};
use crate::cpp::Number;

/// Returns the info of a class in a version, whose elements are separated by `;`.
pub(crate) fn info(class: &str, version: i32, elements: &str) -> StreamerInfo {
    let elements = elements.split(';').map(str::trim).filter(|text| !text.is_empty());
    let elements = elements.map(|text| element(class, text)).collect();
    StreamerInfo { class: class.into(), version, checksum: 0, elements }
}

/// Parses `name:code:type`, `name:code:type:counter` (the counter in a base is `Base.counter`), or `Base
/// version`. A form that only custom streamers write has a word in place of a code (`own.rs`).
fn element(class: &str, text: &str) -> Element {
    let Some((name, rest)) = text.split_once(':') else {
        let (name, version) = text.split_once(' ').unwrap_or((text, "0"));
        return Element::base_of(name, version.parse().ok());
    };
    let (code, rest) = rest.split_once(':').unwrap_or((rest, ""));
    // `::` is part of a type's name.
    let split = rest.rfind(':').filter(|&at| !rest[..at].ends_with(':'));
    let (type_name, counter) = split.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
    // Present only if another member is true, or false.
    let (name, only) = name.split_once('?').map_or((name, None), |(name, flag)| (name, Some(flag)));
    let mut element = Element::typed(type_name);
    element.name = name.into();
    element.code = code.parse().unwrap_or(0);
    let counter = counter.map(|text| self::counter(class, text));
    element.kind = match (element.code, counter) {
        (0, counter) => own(&mut element, code, counter),
        (_, None) => ElementKind::Basic,
        (code::STREAM_LOOP, Some(counter)) => ElementKind::Loop(counter),
        (_, Some(counter)) => ElementKind::BasicPointer(counter),
    };
    if let Some(flag) = only {
        let (flag, when) = flag.strip_prefix('!').map_or((flag, true), |flag| (flag, false));
        element.kind = ElementKind::Only(self::counter(class, flag), when, Box::new(element.clone()));
    }
    element
}

/// Returns a member that only a custom streamer writes, by its word and perhaps numbers after it.
fn own(element: &mut Element, words: &str, counter: Option<Counter>) -> ElementKind {
    element.code = Number::named(&element.type_name).map_or(0, |number| number.codes[0]);
    let (word, numbers) = words.split_once(' ').unwrap_or((words, ""));
    let numbers = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
    ElementKind::Own { word: word.into(), numbers, counter }
}

/// Parses a counter: a member of the class, or `Base.member`.
fn counter(class: &str, text: &str) -> Counter {
    let (class, name) = text.rsplit_once('.').unwrap_or((class, text));
    Counter { version: 0, name: name.into(), class: class.into() }
}
