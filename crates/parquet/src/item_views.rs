//! Views of dictionary items, while a chunk is decoded.

use crate::texts::TextItems;
use forthwith_columns::{SHORT, VIEW, view_within};
use forthwith_plan::{Error, Result};

/// Views of a dictionary's items, and the set of items whose bytes are in the column.
///
/// If a whole chunk is read, the bytes of all items are copied to the column at once. If a part is read, only
/// used items are copied; otherwise, the dictionary would be copied for each step that reads some rows.
#[derive(Debug)]
pub(crate) struct ItemViews {
    is_whole: bool,
    /// Whether the bytes of an item were counted; empty before the first item.
    has_room: Vec<bool>,
    /// Items whose bytes were counted, but not copied yet.
    counted: Vec<u32>,
    views: Vec<[u8; VIEW]>,
    /// Whether each item is UTF-8, computed if some are not.
    are_text: Vec<bool>,
}

impl ItemViews {
    /// Creates the views for a whole chunk, or for some of its rows.
    pub(crate) fn new(is_whole: bool) -> Self {
        let (has_room, counted, views, are_text) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { is_whole, has_room, counted, views, are_text }
    }

    /// Whether the bytes in the column do not depend on the rows.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the number of bytes of items that are added to the column for these rows.
    pub(crate) fn room(&mut self, items: &TextItems, rows: &[u32]) -> usize {
        if self.is_whole {
            let is_first = self.has_room.is_empty();
            self.has_room.resize(1, true);
            return if is_first { items.viewed_bytes().len() } else { 0 };
        }
        self.has_room.resize(items.len(), false);
        let mut room = 0;
        for row in rows {
            if let Some(has_room @ false) = self.has_room.get_mut(*row as usize) {
                *has_room = true;
                self.counted.push(*row);
                let length = items.item(*row).map_or(0, <[u8]>::len);
                room += if length > SHORT { length } else { 0 };
            }
        }
        room
    }

    /// Copies the counted items to the column, at byte `base`.
    pub(crate) fn place(&mut self, items: &TextItems, to: &mut [u8], base: u64) -> Result<()> {
        let misfit = || Error::fault("items of a dictionary that do not fit the room for them");
        if self.is_whole {
            if self.views.is_empty() {
                to.copy_from_slice(items.viewed_bytes().get(..to.len()).ok_or_else(misfit)?);
                self.views = items.views(base);
            }
            return Ok(());
        }
        self.views.resize(items.len(), [0; VIEW]);
        let mut at = 0;
        for row in self.counted.drain(..) {
            let item = items.item(row).ok_or_else(misfit)?;
            let view = view_within(item, item.len(), base + at as u64).ok_or_else(misfit)?;
            *self.views.get_mut(row as usize).ok_or_else(misfit)? = view;
            if item.len() > SHORT {
                to.get_mut(at..)
                    .and_then(|to| to.get_mut(..item.len()))
                    .ok_or_else(misfit)?
                    .copy_from_slice(item);
                at += item.len();
            }
        }
        if at == to.len() { Ok(()) } else { Err(misfit()) }
    }

    /// Returns the views of all items that were copied.
    pub(crate) fn views(&self) -> &[[u8; VIEW]] {
        &self.views
    }

    /// Whether the items of these rows are UTF-8, for a dictionary in which some items are not.
    pub(crate) fn are_texts(&mut self, items: &TextItems, rows: &[u32]) -> bool {
        if self.are_text.is_empty() {
            let is_text =
                |row: usize| items.item(row as u32).is_some_and(|item| std::str::from_utf8(item).is_ok());
            self.are_text = (0..items.len()).map(is_text).collect();
        }
        rows.iter().all(|row| self.are_text.get(*row as usize) == Some(&true))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use forthwith_columns::viewed;

    #[test]
    fn of_a_part_only_used_items_are_copied_once() {
        let words: [&[u8]; 4] =
            [b"short", b"a word that is long", b"an unused one \xff", b"another that is long"];
        let mut items = TextItems::with_capacity(4, 64);
        words.iter().for_each(|word| items.push(word));
        let items = items.finish();
        assert!(!items.are_text());
        let mut part = ItemViews::new(false);
        let mut column = b"before".to_vec();
        for (rows, room) in [(&[0, 1, 1][..], 19), (&[1, 0], 0), (&[3, 0, 3], 20)] {
            assert_eq!(part.room(&items, rows), room);
            let base = column.len();
            column.resize(base + room, 0);
            part.place(&items, &mut column[base..], base as u64).unwrap();
            assert!(part.are_texts(&items, rows));
            for row in rows {
                assert_eq!(viewed(&part.views()[*row as usize], &column, 0), Some(words[*row as usize]));
            }
        }
        assert!(!part.are_texts(&items, &[2]));
        let mut whole = ItemViews::new(true);
        let all = words.concat();
        assert_eq!((whole.room(&items, &[0]), whole.room(&items, &[1])), (all.len(), 0));
        let mut column = vec![0; all.len()];
        whole.place(&items, &mut column, 0).unwrap();
        assert_eq!(viewed(&whole.views()[3], &column, 0), Some(words[3]));
    }
}
