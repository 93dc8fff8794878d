//! Finds classes that only the data of a branch name: those of the items of its first arrays.

use forthwith_io::Source;
use forthwith_plan::Scratch;

use super::Tree;
use crate::{
    baskets::{BasketRef, Bytes},
    format::{Asked, unframe},
    metadata::Branch,
};

impl Tree {
    /// Returns which of `classes` arrays in the data name as the class of their items: those in the first
    /// basket with any or, with `several`, in all of the first and last baskets. Unreadable baskets are
    /// ignored, as their error is reported when they are read.
    pub(super) fn named_in_data(&self, branch: &Branch<'_>, classes: &[&str], several: bool) -> Vec<String> {
        // Files of other branches are only opened when entries are read.
        let baskets = match branch.file_name.is_empty() {
            true => self.baskets(branch).unwrap_or_default(),
            false => Vec::new(),
        };
        let mut scratch = Scratch::default();
        let mut left = MOST_BYTES;
        let first = baskets.len().min(if several { AT_EACH_END } else { MOST_BASKETS });
        let last = baskets.len().saturating_sub(AT_EACH_END).max(first);
        let looked_at = baskets[..first].iter().chain(baskets[last..].iter().filter(|_| several));
        let mut named = Vec::new();
        for basket in looked_at {
            match self.named_in(basket, classes, &mut left, &mut scratch) {
                Some(found) => named.extend(found),
                // The unread basket may name other classes.
                None if several => return Vec::new(),
                None => {}
            }
            if !several && !named.is_empty() {
                break;
            }
        }
        classes
            .iter()
            .filter(|class| named.iter().any(|name| name == *class))
            .map(|class| (*class).into())
            .collect()
    }

    /// Returns the class names in a basket, which include those in `classes`. Returns `None` if the basket
    /// exceeds the bytes that are `left`, or cannot be read.
    fn named_in(
        &self,
        basket: &BasketRef,
        classes: &[&str],
        left: &mut u64,
        scratch: &mut Scratch,
    ) -> Option<Vec<String>> {
        *left = left.checked_sub(basket.len())?;
        let fetched;
        let stored = match &basket.bytes {
            Bytes::File(range) => {
                fetched = read(&*self.source, range.clone())?;
                &fetched[..]
            }
            Bytes::Record(range) => self.metadata.objects.payload().get(range.clone()).unwrap_or_default(),
            Bytes::Nowhere(..) => return None,
        };
        let block = unframe(Asked::default(), &basket.entries, &basket.entries, stored, scratch);
        Some(names(block.ok()?.payload, classes))
    }
}

/// Copies a range of a file, as a view could become invalid.
fn read(source: &dyn Source, range: std::ops::Range<u64>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(range.end - range.start).ok()?];
    source.read_into(range.start, &mut bytes).ok()?;
    Some(bytes)
}

/// Returns texts that look like a class name with a version, as in `\x08TNamed;1`: all that are in `classes`,
/// and some others.
fn names(data: &[u8], classes: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for at in data.iter().enumerate().filter(|(_, byte)| **byte == b';').map(|(at, _)| at) {
        let digits =
            data[at + 1..].iter().take(LONGEST_VERSION).take_while(|byte| byte.is_ascii_digit()).count();
        // Scans backwards over letters of a name, up to the length byte.
        let letters =
            data[..at].iter().rev().take(LONGEST_NAME).take_while(|byte| is_of_name(**byte)).count();
        let begins = |name: &usize| {
            let length = data[..at - name].last().copied().map(usize::from);
            // Digits may follow that are part of a number after the text.
            length.is_some_and(|length| (name + 2..=name + 1 + digits).contains(&length))
        };
        for length in (1..=letters).filter(begins) {
            // Copied before it is validated, as another process may rewrite the file in between.
            if let Ok(name) = String::from_utf8(data[at - length..at].to_vec())
                && (found.len() < MOST_NAMES || classes.contains(&name.as_str()))
                && !found.contains(&name)
            {
                found.push(name);
            }
        }
    }
    found
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'<' | b'>' | b',' | b' ' | b'*')
}

/// Maximum number of baskets that are searched for an array, and maximum size of all in the file.
const MOST_BASKETS: usize = 8;
const MOST_BYTES: u64 = 16 << 20;
/// Number of baskets at each end of a branch that are searched for several classes.
const AT_EACH_END: usize = 2;
/// Maximum length of a class name whose length is one byte, and of a version.
const LONGEST_NAME: usize = 250;
const LONGEST_VERSION: usize = 5;
/// Maximum number of other names to return.
const MOST_NAMES: usize = 64;

#[cfg(test)]
mod tests {
    /// Returns the names that are found if no class is given.
    fn names(data: &[u8]) -> Vec<String> {
        super::names(data, &[])
    }

    #[test]
    fn what_is_looked_for_is_found_among_any_number_of_others() {
        let mut data: Vec<u8> = (100..999).flat_map(|n| format!("\x06X{n};1\0").into_bytes()).collect();
        data.extend(b"\x08TNamed;1\0");
        assert!(!names(&data).contains(&"TNamed".to_owned()));
        assert!(super::names(&data, &["TNamed"]).contains(&"TNamed".to_owned()));
    }

    #[test]
    fn names_have_their_length_before_them() {
        assert_eq!(names(b"\0\x08TNamed;1\0\0\0\x02"), ["TNamed"]);
        assert_eq!(names(b"\x0bns::A<int>;10\0\x03Hit;123"), [] as [&str; 0]);
        assert_eq!(names(b"\x0dns::A<int>;10\0\x07Hit;123"), ["ns::A<int>", "Hit"]);
        // A number that begins with the code of a digit, other texts, and truncated ones.
        assert_eq!(names(b"\x05Hit;1234"), ["Hit"]);
        for none in [&b"TNamed;1"[..], b"\x07TNamed;1", b"\x07TNamed;", b";", b"\x01;", b"\x02;1", b""] {
            assert_eq!(names(none), [] as [&str; 0], "{none:?}");
        }
    }
}
