//! Boundaries of the values of a text, found from brackets and quotes without parsing.

use forthwith_kernels::structure::{LANES, QuoteState, Structure, structure};

/// Number of bytes whose masks are computed at once.
const STEP: usize = 64 << 10;

/// Scanner state between pieces of a text.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    /// Whether the values are the items of one list. Scanning starts after its opening bracket.
    is_list: bool,
    /// Number of bytes of the current text that were scanned: a multiple of [`LANES`] from where scanning
    /// began.
    scanned: usize,
    quotes: QuoteState,
    depth: u64,
    masks: Vec<Structure>,
    /// Whether the list has had a byte of an item since the last comma.
    has_item: bool,
    /// Whether the list has had a comma.
    has_comma: bool,
}

/// Event of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A value ends before this byte offset.
    Entry(usize),
    /// Input other than lists and objects, or a missing or misplaced list item: it has to be parsed.
    Other,
}

impl Framer {
    pub(crate) fn new(is_list: bool) -> Self {
        Self { is_list, depth: u64::from(is_list), ..Self::default() }
    }

    /// Adjusts the state to a text from which `bytes` scanned bytes were removed at the beginning.
    pub(crate) fn drain(&mut self, bytes: usize) {
        self.scanned -= bytes;
    }

    /// Whether the scanned text ends outside of strings, lists and objects.
    pub(crate) const fn is_between(&self) -> bool {
        self.depth == 0 && !self.quotes.is_inside()
    }

    /// Scans the bytes that were not scanned before and reports where values end, until `event` returns
    /// `false`. Unless `is_end`, an incomplete group of [`LANES`] bytes at the end is left for the next call.
    pub(crate) fn run(&mut self, text: &[u8], is_end: bool, mut event: impl FnMut(Event) -> bool) {
        while self.scanned < text.len() {
            let left = &text[self.scanned..];
            let length = if left.len() > STEP { STEP } else { left.len() };
            let length = if is_end && length == left.len() { length } else { length / LANES * LANES };
            if length == 0 {
                return;
            }
            self.masks.clear();
            structure(&left[..length], &mut self.quotes, &mut self.masks);
            let masks = std::mem::take(&mut self.masks);
            for (word, mask) in masks.iter().enumerate() {
                let lanes = word * LANES..(word * LANES + LANES).min(length);
                let begin = self.scanned + lanes.start;
                let bytes = &left[lanes];
                let goes_on = if self.is_list {
                    self.items(bytes, begin, mask, &mut event)
                } else {
                    self.values(bytes, begin, mask, &mut event)
                };
                if !goes_on {
                    return;
                }
            }
            self.masks = masks;
            self.scanned += length;
        }
    }

    /// Scans a group of consecutive values; returns whether to continue.
    fn values(
        &mut self,
        bytes: &[u8],
        begin: usize,
        mask: &Structure,
        event: &mut impl FnMut(Event) -> bool,
    ) -> bool {
        let closes = u64::from(mask.close.count_ones());
        if self.depth > closes {
            self.depth = self.depth + u64::from(mask.open.count_ones()) - closes;
            return true;
        }
        let (mut bits, mut behind) = (mask.open | mask.close, 0);
        while bits != 0 {
            let place = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let is_open = mask.open >> place & 1 == 1;
            if self.depth == 0 && (!is_open || !bytes[behind..place].iter().all(is_blank)) {
                event(Event::Other);
                return false;
            }
            if is_open {
                self.depth += 1;
                continue;
            }
            self.depth -= 1;
            if self.depth == 0 {
                behind = place + 1;
                if !event(Event::Entry(begin + behind)) {
                    return false;
                }
            }
        }
        if self.depth == 0 && !bytes[behind..].iter().all(is_blank) {
            event(Event::Other);
            return false;
        }
        true
    }

    /// Scans a group of the items of a list; returns whether to continue.
    fn items(
        &mut self,
        bytes: &[u8],
        begin: usize,
        mask: &Structure,
        event: &mut impl FnMut(Event) -> bool,
    ) -> bool {
        let closes = u64::from(mask.close.count_ones());
        if self.depth > closes + 1 {
            self.depth = self.depth + u64::from(mask.open.count_ones()) - closes;
            return true;
        }
        if self.depth == 0 {
            return self.ended(bytes, event);
        }
        let (mut bits, mut behind) = (mask.open | mask.close | mask.comma, 0);
        while bits != 0 {
            let place = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            self.has_item |= self.depth > 1 || !bytes[behind..place].iter().all(is_blank);
            behind = place + 1;
            if mask.open >> place & 1 == 1 {
                self.depth += 1;
                self.has_item = true;
            } else if mask.close >> place & 1 == 1 {
                self.depth -= 1;
                if self.depth == 0 {
                    return match (self.has_item, self.has_comma) {
                        (true, _) => {
                            event(Event::Entry(begin + place)) && self.ended(&bytes[behind..], event)
                        }
                        (false, false) => self.ended(&bytes[behind..], event),
                        (false, true) => {
                            event(Event::Other);
                            false
                        }
                    };
                }
            } else if self.depth == 1 {
                let has_item = std::mem::take(&mut self.has_item);
                self.has_comma = true;
                if !event(if has_item { Event::Entry(begin + place) } else { Event::Other }) || !has_item {
                    return false;
                }
            }
        }
        self.has_item |= self.depth > 1 || !bytes[behind..].iter().all(is_blank);
        true
    }

    fn ended(&self, bytes: &[u8], event: &mut impl FnMut(Event) -> bool) -> bool {
        let is_blank = bytes.iter().all(is_blank);
        if !is_blank {
            event(Event::Other);
        }
        is_blank
    }
}

const fn is_blank(byte: &u8) -> bool {
    matches!(*byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text that arrives in pieces of `step` bytes; also returns whether the scan failed.
    fn values(text: &str, is_list: bool, step: usize) -> (Vec<&str>, bool) {
        let mut framer = Framer::new(is_list);
        let (mut ends, mut is_other) = (vec![0], false);
        for end in (step..text.len()).step_by(step).chain([text.len()]) {
            framer.run(&text.as_bytes()[..end], end == text.len(), |event| {
                match event {
                    Event::Entry(end) => ends.push(end),
                    Event::Other => is_other = true,
                }
                !is_other
            });
        }
        let values = ends.windows(2).map(|ends| text[ends[0]..ends[1]].trim_matches([',', ' ', '\n']));
        (values.collect(), is_other || !framer.is_between())
    }

    #[test]
    fn values_end_where_their_brackets_close() {
        let object =
            r#"{"a":["}{",{"b\\":"\"]"}],"c":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#;
        let text = format!("{object}\n[]{{}}   {object}\n\n");
        for step in 1..text.len() {
            assert_eq!(values(&text, false, step), (vec![object, "[]", "{}", object], false), "{step}");
        }
        for text in ["{} 1", "1", "{}}", "{\"}", "[[]", "{} \"{}\""] {
            assert!(values(text, false, 7).1, "{text}");
        }
    }

    #[test]
    fn items_end_at_commas() {
        let long = format!("[{}]", "1, ".repeat(50));
        let text = format!("1, \"a,]\" ,{long},{{\"a\":[1,2]}} ] \n");
        let wanted = vec!["1", "\"a,]\"", &long, r#"{"a":[1,2]}"#];
        for step in 1..text.len() {
            assert_eq!(values(&text, true, step), (wanted.clone(), false), "{step}");
        }
        assert_eq!(values(" ]", true, 9), (vec![], false));
        for text in ["1] 2", "1", "1,]", ",", ",1]", "1, ,2]"] {
            assert!(values(text, true, 9).1, "{text}");
        }
    }
}
