//! Placement of values: through unions, options and indirections to the column that accepts them.

use super::{Columns, Nodes};
use crate::form::Unit;
use crate::growth::push;
use crate::{BuildError, Fault};

/// Kind of a given value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    Null,
    Boolean,
    Integer(i64),
    Unsigned(u64),
    Huge,
    Real,
    Complex,
    Time {
        date: bool,
        unit: Unit,
    },
    Text {
        binary: bool,
        bytes: usize,
    },
    List,
    Tuple(usize),
    /// A record without a name matches any name.
    Record(Option<&'a str>),
}

impl Found<'_> {
    /// Returns a description for errors.
    fn name(self) -> Box<str> {
        match self {
            Self::Null => "None".into(),
            Self::Boolean => "a truth value".into(),
            Self::Integer(x) => format!("the integer {x}").into(),
            Self::Unsigned(x) => format!("the integer {x}").into(),
            Self::Huge => "a larger integer".into(),
            Self::Real => "a real number".into(),
            Self::Complex => "a complex number".into(),
            Self::Time { date: true, .. } => "a date".into(),
            Self::Time { date: false, .. } => "a span of time".into(),
            Self::Text { binary: false, .. } => "a string".into(),
            Self::Text { binary: true, .. } => "a byte string".into(),
            Self::List => "a list".into(),
            Self::Tuple(size) => format!("a tuple of {size}").into(),
            Self::Record(_) => "a record".into(),
        }
    }
}

impl Columns {
    /// Whether a value is of the widest type of its kind and belongs to these columns; `None` if its rank
    /// must be computed.
    #[inline]
    const fn is_kind_of(&self, found: Found<'_>) -> Option<bool> {
        Some(match (self, found) {
            (Self::Boolean(_), Found::Boolean)
            | (Self::Int64(_), Found::Integer(_))
            | (Self::Float64(_), Found::Real)
            | (Self::Complex128(_), Found::Complex) => true,
            (Self::Text { .. }, Found::Text { binary, .. }) => self.is_text(binary),
            (
                Self::Boolean(_)
                | Self::Int64(_)
                | Self::Float64(_)
                | Self::Complex128(_)
                | Self::Text { .. },
                Found::Boolean | Found::Integer(_) | Found::Real | Found::Complex | Found::Text { .. },
            )
            | (Self::List { .. } | Self::Record(_), _) => false,
            _ => return None,
        })
    }
}

impl Nodes {
    /// Returns how well a node represents a value: 0 is best, `None` means that it cannot.
    pub(crate) fn rank(&self, node: u32, found: Found<'_>) -> Option<u8> {
        use Columns as C;
        use Found as F;
        let columns = self.at(node);
        match (found, columns) {
            (F::Null, C::Indexed { nulls: true, .. } | C::Masked { .. }) => Some(0),
            (_, C::Union { contents, .. }) => {
                contents.iter().filter_map(|content| self.rank(*content, found)).min()
            }
            (F::Boolean, C::Boolean(_)) | (F::Complex, C::Complex128(_)) => Some(0),
            (F::Complex, C::Complex64(_)) => Some(1),
            (F::Time { date: found, .. }, C::Time { date, .. }) => (found == *date).then_some(0),
            (F::Text { binary: found, .. }, C::Text { binary, .. } | C::Fixed { binary, .. }) => {
                (found == *binary).then_some(0)
            }
            (F::List, C::List { .. } | C::Regular { .. }) => Some(0),
            (F::Record(_), C::Record(record)) => (!record.is_tuple).then_some(0),
            (F::Tuple(size), C::Record(record)) => {
                (record.is_tuple && size == record.fields.len()).then_some(0)
            }
            (F::Tuple(_), C::List { .. } | C::Regular { .. }) => Some(1),
            _ => match (columns.inner(), found) {
                (Some(content), _) => self.rank(content, found),
                (None, F::Integer(x)) => columns.integer_rank(x.into()),
                (None, F::Unsigned(x)) => columns.integer_rank(x.into()),
                (None, F::Real) => columns.real_rank(),
                _ => None,
            },
        }
    }

    /// Returns the content of an option, or an alternative of a union with its tag, if it is a direct child
    /// of exactly the type of the value. This is a fast path for most places, without the search of
    /// [`find`](Self::find).
    pub(crate) fn nearest(&self, place: u32, found: Found<'_>) -> Option<(i8, u32)> {
        match self.at(place) {
            Columns::Indexed { content, categories: None, .. } => {
                (self.at(*content).is_kind_of(found) == Some(true)).then_some((0, *content))
            }
            Columns::Union { contents, .. } => {
                for (tag, content) in contents.iter().enumerate() {
                    // `None` if another alternative may be as good and they must be compared.
                    if self.at(*content).is_kind_of(found)? {
                        return Some((tag as i8, *content)); // fewer than 128
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Appends one value to the node returned by [`nearest`](Self::nearest).
    pub(crate) fn put_nearest(
        &mut self,
        place: u32,
        tag: i8,
        content: u32,
        mut write: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let row = self.len(content);
        write(self.at_mut(content))?;
        self.note(place, tag, row)
    }

    /// Appends one value at a place: to the node that accepts it, and then to the enclosing options,
    /// indirections and unions.
    pub(crate) fn put(
        &mut self,
        place: u32,
        node: u32,
        write: &mut dyn FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        if place == node {
            return write(self.at_mut(node));
        }
        let (tag, content) = match self.at(place) {
            Columns::Union { contents, .. } => {
                let leads = |content: &u32| *content == node || self.reaches(*content, node);
                let tag = contents.iter().position(leads).unwrap_or(0);
                (tag as i8, contents[tag])
            }
            columns => (0, columns.inner().unwrap_or(node)),
        };
        let row = self.len(content);
        if content == node {
            write(self.at_mut(node))?;
        } else {
            self.put(content, node, write)?;
        }
        self.note(place, tag, row)
    }

    /// Completes a list, tuple or record in a node that was found at a place.
    #[inline]
    pub(crate) fn complete<E: From<BuildError>>(
        &mut self,
        place: u32,
        node: u32,
        mut lengthen: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Result<(), E> {
        if place == node {
            lengthen(self.at_mut(node))?;
        } else {
            self.put(place, node, &mut lengthen)?;
        }
        Ok(())
    }

    fn reaches(&self, place: u32, node: u32) -> bool {
        place == node
            || match self.at(place) {
                Columns::Union { contents, .. } => {
                    contents.iter().any(|content| self.reaches(*content, node))
                }
                columns => columns.inner().is_some_and(|content| self.reaches(content, node)),
            }
    }

    /// Records in an option, indirection or union that its next value is row `row` of its content.
    #[inline]
    fn note(&mut self, node: u32, tag: i8, row: usize) -> Result<(), BuildError> {
        match self.at_mut(node) {
            Columns::Indexed { index, categories: None, .. } => push(index, row as i64),
            Columns::Indexed { content, .. } => {
                let content = *content;
                self.note_category(node, content, row)
            }
            Columns::Masked { valid, mask, .. } => push(mask, *valid),
            Columns::Union { tags, index, .. } => {
                push(index, row as i64)?;
                push(tags, tag)
            }
            _ => Ok(()),
        }
    }

    /// Keeps the last value of a content if it is new; otherwise removes it and refers to the equal one.
    fn note_category(&mut self, node: u32, content: u32, row: usize) -> Result<(), BuildError> {
        let value = self.at(content).last_value();
        let Columns::Indexed { index, categories: Some(categories), .. } = self.at_mut(node) else {
            return Ok(()); // never
        };
        let known = categories.0.get(&value).copied();
        push(index, known.unwrap_or(row as i64))?;
        match known {
            Some(_) => self.truncate(content, row),
            None => _ = categories.0.insert(value, row as i64),
        }
        Ok(())
    }

    /// Returns the alternative of a union that accepts a value: the best, or the `nth` in order of rank.
    fn choose(&self, node: u32, found: Found<'_>, nth: usize) -> Result<u32, BuildError> {
        let Columns::Union { contents, .. } = self.at(node) else { return Ok(node) }; // never
        let ranked = contents.iter().enumerate();
        let ranked = ranked.filter_map(|(tag, content)| Some((self.rank(*content, found)?, tag, *content)));
        let chosen = if nth == 0 {
            ranked.min()
        } else {
            let mut ranked: Vec<_> = ranked.collect();
            ranked.sort_unstable();
            ranked.get(nth).copied()
        };
        match chosen {
            Some((.., content)) => Ok(content),
            None => Err(self.refuse(node, found)),
        }
    }

    /// Returns the number of alternatives that may accept a value.
    pub(crate) fn candidates(&self, node: u32, found: Found<'_>) -> usize {
        match self.at(node) {
            Columns::Union { contents, .. } => {
                contents.iter().filter(|content| self.rank(**content, found).is_some()).count()
            }
            columns => columns.inner().map_or(1, |content| self.candidates(content, found)),
        }
    }

    /// Returns the node that accepts a value; of several that may, the `nth`.
    pub(crate) fn find(&self, node: u32, found: Found<'_>, nth: usize) -> Result<u32, BuildError> {
        match self.at(node) {
            Columns::Union { .. } => self.find(self.choose(node, found, nth)?, found, 0),
            columns => match columns.inner() {
                Some(content) => self.find(content, found, nth),
                None if self.rank(node, found).is_some() => Ok(node),
                None => Err(self.refuse(node, found)),
            },
        }
    }

    /// Appends a null and returns `true`, or returns `false` if the place cannot be null. In a union, the
    /// null belongs to the alternative `tag`, or to the first that can be null.
    pub(crate) fn null(&mut self, node: u32, tag: Option<u8>) -> Result<bool, BuildError> {
        if let Columns::Indexed { nulls: true, index, .. } = self.at_mut(node) {
            return push(index, -1).map(|()| true);
        }
        match self.at(node) {
            Columns::Masked { content, .. } => {
                let fillable = self.is_fillable(*content);
                if fillable { self.fill(node, 1) } else { Ok(()) }.map(|()| fillable)
            }
            Columns::Union { contents, .. } => {
                let contents = contents.clone();
                for (at, content) in contents.iter().enumerate() {
                    let row = self.len(*content);
                    if tag.is_none_or(|tag| usize::from(tag) == at) && self.null(*content, None)? {
                        return self.note(node, at as i8, row).map(|()| true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    pub(crate) fn refuse(&self, node: u32, found: Found<'_>) -> BuildError {
        let expected = self.expected(node).into();
        match (found, self.at(node).range().and(self.at(node).primitive())) {
            (Found::Integer(_) | Found::Unsigned(_) | Found::Huge, Some(integers)) => {
                Fault::TooLarge(integers.stored().0.name()).into()
            }
            _ => Fault::Expected { expected, found: found.name() }.into(),
        }
    }
}
