//! Division of a range of entries into steps.

use forthwith_columns::Form;
use forthwith_plan::{Dataset, Error, Result};
use std::ops::Range;

/// Size of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Number of entries; the last step may be shorter.
    Entries(u64),
    /// Approximate number of bytes of decompressed data, or of arrays if these are known to be larger. Steps
    /// end at block boundaries if blocks are small enough.
    Bytes(u64),
}

/// Maximum number of steps, which are listed before the first is read, while the number of entries comes from
/// the file.
const MOST: u64 = 1 << 24;

/// Returns the average number of decompressed bytes of an entry of some fields; of its first `known` entries
/// where counting more is costly.
pub(crate) fn density(dataset: &dyn Dataset, fields: &[u32], known: Option<u64>) -> Result<f64> {
    let mut density = 0.0;
    for (&field, extent) in fields.iter().zip(dataset.extents(fields, known.unwrap_or(u64::MAX))?) {
        let entries = extent.entries.max(1) as f64;
        // Payload may be much smaller than arrays: dictionary-encoded numbers, or runs of them.
        let array = match &extent.form {
            Ok(form) => {
                let values = dataset.values(field)?.map_or(0.0, |values| values as f64 / entries);
                least(form, values, if dataset.is_complete(field)? { 0.0 } else { 8.0 })
            }
            Err(_) => 0.0,
        };
        density += (extent.bytes as f64 / entries).max(array);
    }
    Ok(density)
}

/// Returns a lower bound on the bytes of an entry of an array, with `values` values in its lists, and `index`
/// bytes for each option.
fn least(form: &Form, values: f64, index: f64) -> f64 {
    match form {
        Form::Numpy { dtype, shape, .. } => {
            let each: f64 = shape.iter().map(|size| *size as f64).product();
            each * dtype.size() as f64
        }
        // The number of inner lists is unknown.
        Form::List { content, .. } if has_lists(content) => 8.0 + least(content, values, index),
        Form::List { content, .. } => 8.0 + values * least(content, 1.0, index),
        Form::Regular { size, content } => *size as f64 * least(content, values, index),
        Form::Option { content, .. } => index + least(content, values, index),
        Form::String { .. } => 8.0,
        _ => 0.0,
    }
}

fn has_lists(form: &Form) -> bool {
    match form {
        Form::List { .. } => true,
        Form::Option { content, .. } | Form::Regular { content, .. } => has_lists(content),
        _ => false,
    }
}

pub(crate) fn cut(
    dataset: &dyn Dataset,
    fields: &[u32],
    entries: Range<u64>,
    step: Step,
    density: f64,
) -> Result<Vec<Range<u64>>> {
    let bytes = match step {
        Step::Entries(n) => return even(entries, n),
        Step::Bytes(bytes) => bytes.max(1),
    };
    let most = ((bytes as f64 / density.max(1e-9)) as u64).max(1);
    not_too_many(entries.end.saturating_sub(entries.start).div_ceil(most))?;
    let mut cuts = dataset.boundaries(fields, entries.clone())?;
    cuts.retain(|cut| entries.start < *cut && *cut < entries.end);
    cuts.push(entries.end);
    let mut out = Vec::new();
    let mut start = entries.start;
    let mut best = start;
    for cut in cuts {
        if cut - start > most && best > start {
            out.push(start..best);
            start = best;
        }
        // A block larger than a step is split.
        while cut - start > most {
            out.push(start..start + most);
            start += most;
        }
        best = cut;
    }
    if start < entries.end {
        out.push(start..entries.end);
    }
    Ok(out)
}

fn not_too_many(steps: u64) -> Result<()> {
    if steps > MOST {
        return Err(Error::invalid(format!("{steps} steps are more than {MOST}: make them larger")));
    }
    Ok(())
}

fn even(entries: Range<u64>, n: u64) -> Result<Vec<Range<u64>>> {
    let n = n.max(1);
    not_too_many(entries.end.saturating_sub(entries.start).div_ceil(n))?;
    let mut out = Vec::new();
    let mut start = entries.start;
    while start < entries.end {
        let end = start.saturating_add(n).min(entries.end);
        out.push(start..end);
        start = end;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::even;
    use forthwith_plan::ErrorKind;

    #[test]
    fn the_last_step_is_short() {
        let even = |entries, n| even(entries, n).map_err(|error| error.to_string());
        assert_eq!(even(3..10, 3), Ok(vec![3..6, 6..9, 9..10]));
        assert_eq!(even(5..5, 3), Ok(vec![]));
        assert_eq!(even(0..2, 0), Ok(vec![0..1, 1..2]));
    }

    #[test]
    fn more_steps_than_can_be_listed_are_refused() {
        let error = even(0..1 << 50, 1000).map_err(|error| error.kind);
        assert!(matches!(error, Err(ErrorKind::Invalid { .. })));
    }
}
