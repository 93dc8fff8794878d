//! Filling of single entries into bins.

use crate::{Entry, Error, Histogram, Result, statistics};

impl Histogram {
    /// Fills one entry into its bin and adds it to the sums.
    pub(crate) fn fill(&mut self, entry: &Entry<'_>) -> Result<()> {
        let (weight, value) = (entry.weight, entry.value.unwrap_or(1.0));
        if entry.value.is_some() && self.value_range.is_some_and(|[low, high]| !(low..=high).contains(&value))
        {
            return Ok(());
        }
        let (mut bin, mut cells, mut is_inside) = (0, 1, true);
        for (axis, place) in self.own_axes().iter().zip(entry.coordinates) {
            let at = axis.find_bin(*place);
            is_inside &= (1..=axis.bins).contains(&(at as i64));
            bin = at.saturating_mul(cells).saturating_add(bin);
            cells = cells.saturating_mul(axis.cells().unwrap_or(0));
        }
        let squares = self.weight_squares();
        if weight != 1.0 && !self.is_unweighted {
            self.keep_squares(squares);
        }
        let is_profile = self.is_profile();
        for (name, numbers) in self.arrays.iter_mut().filter(|(_, numbers)| !numbers.is_empty()) {
            let more = match *name {
                "fBinEntries" => weight,
                "fSumw2" if is_profile => weight * value * value,
                "fSumw2" | "fBinSumw2" => weight * weight,
                _ => weight * value,
            };
            if !numbers.add_value(bin, more) {
                return Err(Error::MissingBin { member: name, cells, found: numbers.len() });
            }
        }
        let sums = statistics::of_entry(entry);
        for (name, sum) in &mut self.scalars {
            if *name == "fEntries" {
                *sum += 1.0;
            } else if (is_inside || self.counts_all)
                && let Some(at) = statistics::NAMES.iter().position(|known| known == name)
            {
                *sum += sums[at];
            }
        }
        Ok(())
    }
}
