//! Skipping of lists and objects that are not read.

use forthwith_kernels::structure::{LANES, QuoteState, Structure, structure};

/// Bracket masks of a text, computed when the first list or object is skipped.
#[derive(Debug, Default)]
pub(crate) struct Brackets {
    masks: Vec<Structure>,
    is_found: bool,
}

impl Brackets {
    /// Returns the byte offset after the list or object that begins at `at`; `None` if it does not end. Only
    /// brackets and quotes are inspected.
    pub(crate) fn end(&mut self, text: &[u8], at: usize) -> Option<usize> {
        if !self.is_found {
            structure(text, &mut QuoteState::default(), &mut self.masks);
            self.is_found = true;
        }
        let (mut depth, mut live) = (0, u64::MAX << (at % LANES));
        for (word, mask) in self.masks.iter().enumerate().skip(at / LANES) {
            let (open, close) = (mask.open & live, mask.close & live);
            live = u64::MAX;
            if depth > close.count_ones() {
                depth += open.count_ones();
                depth -= close.count_ones();
                continue;
            }
            let mut bits = open | close;
            while bits != 0 {
                let place = bits.trailing_zeros();
                if open >> place & 1 == 1 {
                    depth += 1;
                } else {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(word * LANES + place as usize + 1);
                    }
                }
                bits &= bits - 1;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_end_with_their_own_bracket() {
        let nested = format!("[{}{}]", r#"{"]\"[": ["#.repeat(40), "]}".repeat(40));
        let text = format!("{nested} , {nested}[]");
        let mut brackets = Brackets::default();
        assert_eq!(brackets.end(text.as_bytes(), 0), Some(nested.len()));
        assert_eq!(brackets.end(text.as_bytes(), nested.len() + 3), Some(text.len() - 2));
        assert_eq!(brackets.end(text.as_bytes(), text.len() - 2), Some(text.len()));
        assert_eq!(Brackets::default().end(b"[[]", 0), None);
    }
}
