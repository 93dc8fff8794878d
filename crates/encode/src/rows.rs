//! Rows of a node that are written. Hidden rows, which are masked by a null or lie between lists, may have
//! any value.

use std::rc::Rc;

/// Selection of the rows of a node.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    count: u64,
    /// Mask of the selected rows; `None` selects all.
    seen: Option<Rc<[bool]>>,
}

impl Rows {
    /// Selects all of `count` rows.
    pub(crate) const fn all(count: u64) -> Self {
        Self { count, seen: None }
    }

    /// Returns the end of the selection: one after the last selected row.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether a row is selected.
    pub(crate) fn sees(&self, row: usize) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.get(row).copied().unwrap_or(false))
    }

    /// Returns whether some rows are hidden.
    pub(crate) const fn have_gaps(&self) -> bool {
        self.seen.is_some()
    }

    /// Returns the first selected row whose number in `index` satisfies `such`.
    pub(crate) fn find(&self, index: &[i64], such: impl Fn(i64) -> bool) -> Option<usize> {
        (0..).zip(index).find_map(|(row, at)| (such(*at) && self.sees(row)).then_some(row))
    }

    /// Selects the rows to which the selected entries of `index` point. Negative entries point nowhere.
    pub(crate) fn named(&self, index: &[i64]) -> Self {
        self.named_by(index.iter().copied())
    }

    /// Selects the rows to which the selected entries of an iterator point, as [`named`](Self::named) does.
    pub(crate) fn named_by(&self, index: impl Iterator<Item = i64> + Clone) -> Self {
        let named = (0..).zip(index).filter(|(row, at)| *at >= 0 && self.sees(*row)).map(|(_, at)| at as u64);
        let (mut in_order, mut next, mut count) = (true, 0, 0);
        for at in named.clone() {
            in_order &= at == next;
            next += 1;
            count = count.max(at + 1);
        }
        if in_order {
            return Self::all(count);
        }
        let mut seen = vec![false; count as usize];
        named.for_each(|at| {
            if let Some(seen) = seen.get_mut(at as usize) {
                *seen = true;
            }
        });
        Self::marked(seen)
    }

    /// Selects the items of the selected lists.
    pub(crate) fn inside(&self, offsets: &[i64]) -> Self {
        let (first, last) = (
            offsets.first().copied().unwrap_or(0) as u64,
            offsets.last().copied().unwrap_or(0).max(0) as u64,
        );
        if self.seen.is_none() && first == 0 {
            return Self::all(last);
        }
        let mut seen = vec![false; last as usize];
        for (row, pair) in offsets.windows(2).enumerate() {
            if self.sees(row)
                && let Some(items) = seen.get_mut(pair[0] as usize..pair[1] as usize)
            {
                items.fill(true);
            }
        }
        Self::marked(seen)
    }

    /// Selects the items of the selected lists, which have `size` items each. Returns `None` on overflow.
    pub(crate) fn times(&self, size: u64) -> Option<Self> {
        let count = self.count.checked_mul(size)?;
        let Some(seen) = &self.seen else { return Some(Self::all(count)) };
        let each = usize::try_from(size).ok()?;
        Some(Self::marked(seen.iter().flat_map(|seen| std::iter::repeat_n(*seen, each)).collect()))
    }

    fn marked(seen: Vec<bool>) -> Self {
        let count = seen.len() as u64;
        let seen = seen.contains(&false).then(|| seen.into());
        Self { count, seen }
    }
}

/// Returns the list that contains an item, or `None` if the item is after the last list.
pub(crate) fn list_of(offsets: &[i64], item: u64) -> Option<u64> {
    let is_before = |end: &i64| u64::try_from(*end).is_ok_and(|end| end <= item);
    let row = offsets.get(1..)?.partition_point(is_before);
    (row + 1 < offsets.len()).then_some(row as u64)
}

/// Returns the first row whose entry in `index` is `at`.
pub(crate) fn position(index: &[i64], at: u64) -> Option<u64> {
    index.iter().position(|found| u64::try_from(*found) == Ok(at)).map(|row| row as u64)
}

#[cfg(test)]
mod tests {
    use super::Rows;

    fn seen(rows: &Rows) -> Vec<bool> {
        (0..rows.count() as usize).map(|row| rows.sees(row)).collect()
    }

    #[test]
    fn an_index_in_order_leaves_no_gaps() {
        let rows = Rows::all(4).named(&[0, -1, 1, 2]);
        assert!(rows.seen.is_none());
        assert_eq!(rows.count(), 3);
        assert_eq!(Rows::all(2).named(&[-1, -1]).count(), 0);
    }

    #[test]
    fn what_an_index_leaves_out_is_not_seen() {
        let rows = Rows::all(4).named(&[0, -1, 2, 2]);
        assert_eq!(seen(&rows), [true, false, true]);
        // Below it, too: of the lists 0..2, 2..5 and 5..6 the second is not.
        assert_eq!(seen(&rows.inside(&[0, 2, 5, 6])), [true, true, false, false, false, true]);
        assert_eq!(rows.times(2).map(|rows| seen(&rows)), Some(vec![true, true, false, false, true, true]));
        assert_eq!(seen(&rows.named(&[1, 0, -1])), [false, true]);
        assert_eq!(rows.find(&[5, -1, -1], |at| at < 0), Some(2));
    }

    #[test]
    fn lists_need_not_begin_with_the_first_item() {
        assert_eq!(seen(&Rows::all(2).inside(&[1, 2, 2])), [false, true]);
        assert!(Rows::all(2).inside(&[0, 2, 2]).seen.is_none());
    }
}
