//! Validation of outputs against their type, which is unknown to the machine that wrote them.

use crate::Misfit;
use forthwith_columns::DType;
use forthwith_forth::Output;

/// Outputs with their names.
#[derive(Clone, Copy)]
pub(crate) struct Items<'a>(pub(crate) &'a [(&'a str, &'a Output)]);

impl Items<'_> {
    /// Checks that offsets begin with 0 and do not decrease.
    pub(crate) fn offsets(self, at: usize) -> Result<(), Misfit> {
        let (name, output) = self.0[at];
        let mut before = 0;
        for (item, offset) in integers(output).enumerate() {
            if item == 0 && offset != 0 {
                return Err(value(name, item, offset, "but offsets begin with 0".into()));
            }
            if offset < before {
                return Err(value(name, item, offset, format!("less than the {before} before it")));
            }
            before = offset;
        }
        Ok(())
    }

    /// Checks that an index refers to existing rows; negative numbers are nulls.
    pub(crate) fn index(self, at: usize, rows: Option<u64>) -> Result<(), Misfit> {
        let (name, output) = self.0[at];
        let rows = rows.map_or(i64::MAX, |rows| rows as i64);
        match integers(output).enumerate().find(|(_, at)| *at >= rows) {
            Some((item, at)) => Err(value(name, item, at, format!("beyond the {rows} values under it"))),
            None => Ok(()),
        }
    }

    /// Checks that tags refer to alternatives, and the index to their rows. `rows` is the number of rows of
    /// each alternative.
    pub(crate) fn tags(self, tags: usize, at: usize, rows: &[Option<u64>]) -> Result<(), Misfit> {
        let ((tags, tagged), (name, output)) = (self.0[tags], self.0[at]);
        for (item, (tag, at)) in integers(tagged).zip(integers(output)).enumerate() {
            let Some(rows) = usize::try_from(tag).ok().and_then(|tag| rows.get(tag)) else {
                let what = format!("which is no tag of {} alternatives", rows.len());
                return Err(value(tags, item, tag, what));
            };
            let rows = rows.map_or(i64::MAX, |rows| rows as i64);
            if !(0..rows).contains(&at) {
                let what = format!("which is none of the {rows} values of the alternative {tag}");
                return Err(value(name, item, at, what));
            }
        }
        Ok(())
    }

    /// Checks that each row is UTF-8. The bytes are in the output after the offsets.
    pub(crate) fn text(self, at: usize) -> Result<(), Misfit> {
        let (offsets, (name, output)) = (self.0[at].1, self.0[at + 1]);
        let bytes = output.as_bytes();
        // Fast path: the bytes are UTF-8 as a whole, and rows end at character boundaries.
        if let Ok(text) = std::str::from_utf8(bytes)
            && integers(offsets).all(|end| usize::try_from(end).is_ok_and(|end| text.is_char_boundary(end)))
        {
            return Ok(());
        }
        let ends: Vec<i64> = integers(offsets).collect();
        for (row, pair) in ends.windows(2).enumerate() {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            let Some(row_bytes) = bytes.get(start..end) else {
                let what = format!("the text of row {row} ends at {end}");
                return Err(value_of(name, bytes.len(), "missing".into(), what));
            };
            if let Err(error) = std::str::from_utf8(row_bytes) {
                let at = start + error.valid_up_to();
                let byte = bytes.get(at).map_or_else(String::new, |byte| format!("0x{byte:02x}"));
                return Err(value_of(
                    name,
                    at,
                    byte,
                    format!("and the text of row {row} is not UTF-8 from there"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns the items of an output of integers.
pub(crate) fn integers(output: &Output) -> Box<dyn DoubleEndedIterator<Item = i64> + '_> {
    let bytes = output.as_bytes();
    match output.dtype() {
        DType::Int32 => Box::new(bytes.as_chunks().0.iter().map(|item| i64::from(i32::from_ne_bytes(*item)))),
        DType::UInt32 => {
            Box::new(bytes.as_chunks().0.iter().map(|item| i64::from(u32::from_ne_bytes(*item))))
        }
        DType::Int64 => Box::new(bytes.as_chunks().0.iter().map(|item| i64::from_ne_bytes(*item))),
        _ => Box::new(bytes.iter().map(|item| i64::from(*item as i8))),
    }
}

fn value(output: &str, item: usize, found: i64, what: String) -> Misfit {
    value_of(output, item, found.to_string(), what)
}

#[cold]
fn value_of(output: &str, item: usize, found: String, what: String) -> Misfit {
    Misfit::Value { output: output.to_owned(), item: item as u64, found, what }
}
