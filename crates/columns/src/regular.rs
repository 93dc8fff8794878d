//! Conversion of lists to a fixed length.

use crate::lookup::Lookup;
use crate::{Array, DType, Form, Invalid};

impl Form {
    /// Returns the Form of the result of [`Array::regular`].
    #[must_use]
    pub fn regular(mut self, lists: &[(String, u64)]) -> Self {
        self.change(&mut |node| {
            let Self::List { key, content } = node else { return };
            if let Some((_, size)) = lists.iter().find(|(known, _)| known == key) {
                *node =
                    Self::Regular { size: *size, content: std::mem::replace(content, Self::Empty.into()) };
            }
        });
        self
    }
}

impl Array {
    /// Converts lists, given by their keys and lengths, to fixed-size lists without offsets.
    ///
    /// # Errors
    /// [`Invalid::Length`] if a list has another length; [`Invalid::Range`] if the first offset is not 0.
    pub fn regular(mut self, lists: &[(String, u64)]) -> Result<Self, Invalid> {
        let lookup = Lookup::of(&self);
        for (key, size) in lists {
            let count = lookup.column(key, "offsets", DType::Int64, 0)?.len() as u64;
            let offsets = lookup.integers(key, "offsets", count)?;
            let same = |pair: &[i64]| u64::try_from(pair[1].wrapping_sub(pair[0])) == Ok(*size);
            if let Some(row) = offsets.windows(2).position(|pair| !same(pair)) {
                let key = format!("{key}-offsets");
                return Err(Invalid::Length { key, row: row as u64, size: *size });
            }
            // An empty offsets buffer has no first offset.
            if offsets.first().is_some_and(|first| *first != 0) {
                return Err(Invalid::Range { key: format!("{key}-offsets"), row: 0 });
            }
        }
        let gone = |name: &str| {
            name.strip_suffix("-offsets").is_some_and(|key| lists.iter().any(|(known, _)| known == key))
        };
        self.columns.retain(|(name, _)| !gone(name));
        Ok(Self { form: self.form.regular(lists), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn lists_of_one_length_lose_their_offsets() {
        let array = |offsets: &[i64]| {
            let numbers = Form::Numpy { key: "n".into(), dtype: DType::Int32, shape: vec![] };
            let list = Form::List { key: "l".into(), content: Box::new(numbers) };
            Array {
                form: Form::Option { key: "o".into(), content: Box::new(list) },
                length: 3,
                columns: vec![
                    ("o-index".into(), Column::from_slice(&[0i64, -1, 1])),
                    ("l-offsets".into(), Column::from_slice(offsets)),
                    ("n-data".into(), Column::from_slice(&[1i32, 2, 3, 4])),
                ],
            }
        };
        let lists = [("l".to_owned(), 2)];
        let regular = array(&[0, 2, 4]).regular(&lists).unwrap();
        regular.validate().unwrap();
        assert_eq!(regular.form.type_string(), "?2 * int32");
        assert_eq!(regular.preview(0..3, 40).lines().unwrap(), ["[1, 2]", "None", "[3, 4]"]);
        let odd = array(&[0, 1, 4]).regular(&lists).unwrap_err();
        assert_eq!(odd, Invalid::Length { key: "l-offsets".into(), row: 0, size: 2 });
    }
}
