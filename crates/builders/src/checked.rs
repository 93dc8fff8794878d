//! Whether outputs hold what their type says, which the machine that wrote them does not know.

use crate::form::{Form, Kind};
use crate::{Arrangement, Misfit, Text};
use forthwith_columns::DType;
use forthwith_forth::Output;
use std::collections::HashMap;

impl Arrangement {
    /// Looks at all offsets, indexes, tags and text: offsets begin with 0 and do not fall, indexes and tags
    /// mean what is there, text is UTF-8. `outputs` are those that it was made of, in their order, with their
    /// names.
    ///
    /// # Errors
    /// [`Misfit::Value`] with the output, the item and its value.
    pub fn check(&self, outputs: &[(&str, &Output)]) -> Result<(), Misfit> {
        let buffers = self.buffers.iter().filter_map(|(key, at)| Some((key.as_str(), *outputs.get(*at)?)));
        let checker = Checker { buffers: buffers.collect() };
        checker.node(&self.form).map(drop)
    }
}

struct Checker<'a> {
    buffers: HashMap<&'a str, (&'a str, &'a Output)>,
}

impl<'a> Checker<'a> {
    fn buffer(&self, form: &Form, part: &str) -> Result<(&'a str, &'a Output), Misfit> {
        let key = format!("{}-{part}", form.key.as_deref().unwrap_or_default());
        let found = self.buffers.get(key.as_str()).copied();
        found.ok_or_else(|| Misfit::Length { place: key, what: "there is no such buffer".into() })
    }

    /// Checks a node and answers how many rows it has; None: as many as are wanted.
    fn node(&self, form: &Form) -> Result<Option<i64>, Misfit> {
        match &form.kind {
            Kind::Numpy { primitive, shape } => {
                let each =
                    shape.iter().try_fold(primitive.stored().1 as u64, |all, size| all.checked_mul(*size));
                let items = self.buffer(form, "data")?.1.len() as u64;
                Ok(items.checked_div(each.unwrap_or(0)).map(|rows| rows as i64))
            }
            Kind::ListOffset { content, .. } => {
                let (name, output) = self.buffer(form, "offsets")?;
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
                if form.as_text() == Some(Text::String) {
                    self.text(output, content)?;
                } else {
                    let rows = self.node(content)?;
                    if let Some(rows) = rows.filter(|rows| *rows < before) {
                        let last = output.len().saturating_sub(1);
                        return Err(value(name, last, before, format!("and the lists have {rows} items")));
                    }
                }
                Ok(Some(output.len() as i64 - 1))
            }
            Kind::Regular { size, content } => {
                let rows = self.node(content)?;
                Ok(rows.and_then(|rows| rows.checked_div(i64::try_from(*size).unwrap_or(0))))
            }
            Kind::Record { contents, .. } => {
                let rows: Vec<_> =
                    contents.iter().map(|content| self.node(content)).collect::<Result<_, _>>()?;
                Ok(rows.into_iter().flatten().next())
            }
            Kind::IndexedOption { content, .. } => {
                let (name, output) = self.buffer(form, "index")?;
                let rows = self.node(content)?.unwrap_or(i64::MAX);
                match integers(output).enumerate().find(|(_, at)| *at >= rows) {
                    Some((item, at)) => {
                        Err(value(name, item, at, format!("beyond the {rows} values under it")))
                    }
                    None => Ok(Some(output.len() as i64)),
                }
            }
            Kind::ByteMasked { content, .. } => {
                self.node(content)?;
                Ok(Some(self.buffer(form, "mask")?.1.len() as i64))
            }
            Kind::Union { contents, .. } => {
                let ((tags, tagged), (name, output)) =
                    (self.buffer(form, "tags")?, self.buffer(form, "index")?);
                let rows: Vec<_> =
                    contents.iter().map(|content| self.node(content)).collect::<Result<_, _>>()?;
                for (item, (tag, at)) in integers(tagged).zip(integers(output)).enumerate() {
                    let Some(rows) = usize::try_from(tag).ok().and_then(|tag| rows.get(tag)) else {
                        return Err(value(
                            tags,
                            item,
                            tag,
                            format!("which is no tag of {} alternatives", rows.len()),
                        ));
                    };
                    let rows = rows.unwrap_or(i64::MAX);
                    if !(0..rows).contains(&at) {
                        let what = format!("which is none of the {rows} values of the alternative {tag}");
                        return Err(value(name, item, at, what));
                    }
                }
                Ok(Some(tagged.len() as i64))
            }
            // Outputs make none of the others.
            _ => Ok(None),
        }
    }

    /// Whether each row of these offsets is text.
    fn text(&self, offsets: &Output, content: &Form) -> Result<(), Misfit> {
        let (name, output) = self.buffer(content, "data")?;
        let bytes = output.as_bytes();
        // All of it, and then whether the rows cut no character in two.
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

/// The items of an output of integers.
fn integers(output: &Output) -> Box<dyn Iterator<Item = i64> + '_> {
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
