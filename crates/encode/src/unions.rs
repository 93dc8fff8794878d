//! Binds unions: chooses the alternative of each value.

use crate::{
    EncodeError,
    append::text,
    bind::{Binder, Result, wrong},
    fit::fit,
    node::Node,
    rows::{Rows, position},
};
use forthwith_columns::{DType, Form};
use forthwith_program::{Layout, Union};
use std::collections::HashMap;

impl<'a> Binder<'a> {
    pub(crate) fn union(
        &mut self,
        union: &Union,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        match form {
            Form::Option { key, content } => {
                let index = self.columns.integers(key, "index", rows.count())?;
                let below = rows.named(&index);
                let null = union.alternatives.iter().position(|a| *a == Layout::Null);
                if null.is_none()
                    && let Some(row) = rows.find(&index, |at| at < 0)
                {
                    return Err(EncodeError::Null { member: member.into(), row: Some(row as u64) });
                }
                let value = self.union(union, content, &below, member);
                let value = value.map_err(|error| error.renumbered(|at| position(&index, at)))?;
                // The value writes its own alternative.
                Ok(match (null, value) {
                    (None, value) => Node::Picked { index, value: Box::new(value) },
                    (Some(null), Node::Tagged { tag, value }) => {
                        Node::Option { index, null: null as i64, some: Some(tag), value }
                    }
                    (Some(null), value) => {
                        Node::Option { index, null: null as i64, some: None, value: Box::new(value) }
                    }
                })
            }
            Form::Union { key, contents } => self.arms(key, contents, rows, |this, content, rows| {
                Ok(match this.union(union, content, rows, member)? {
                    Node::Tagged { tag, value } => (Some(tag), *value),
                    // An option or a union, whose rows take different alternatives.
                    other => (None, other),
                })
            }),
            Form::Empty => Ok(Node::Tagged { tag: 0, value: Box::new(Node::Nothing) }),
            form => {
                let ranked = union.alternatives.iter().enumerate();
                let ranked = ranked.filter_map(|(at, layout)| Some((fit(layout, form, self.depth)?, at)));
                let mut ranked: Vec<_> = ranked.collect();
                ranked.sort_unstable();
                // If a value is out of range for the best alternative, the next is tried.
                let mut first = None;
                for (_, tag) in &ranked {
                    match self.bind(&union.alternatives[*tag], form, rows, member) {
                        Ok(value) => return Ok(Node::Tagged { tag: *tag as i64, value: Box::new(value) }),
                        Err(why @ (EncodeError::Range { .. } | EncodeError::Null { .. })) => {
                            first = first.or(Some(why))
                        }
                        Err(why) => return Err(first.unwrap_or(why)),
                    }
                }
                let Some(why) = first else { return Err(wrong(&Layout::Union(union.clone()), form, member)) };
                let ranked: Vec<usize> = ranked.into_iter().map(|(_, tag)| tag).collect();
                self.sorted_out(union, &ranked, form, rows)?.ok_or(why)
            }
        }
    }

    /// Binds the contents of a union, each by a call of `bind`.
    pub(crate) fn arms(
        &mut self,
        key: &str,
        contents: &[Form],
        rows: &Rows,
        mut bind: impl FnMut(&mut Self, &Form, &Rows) -> Result<(Option<i64>, Node<'a>)>,
    ) -> Result<Node<'a>> {
        let tags = self.columns.column(key, "tags", DType::Int8, rows.count())?.as_i8().unwrap_or_default();
        let index = self.columns.integers(key, "index", rows.count())?;
        let mut arms = Vec::with_capacity(contents.len());
        for (number, content) in contents.iter().enumerate() {
            // Tags and indexes are in range, as the array has been validated.
            let own = |(tag, at): (&i8, &i64)| if usize::try_from(*tag) == Ok(number) { *at } else { -1 };
            let own = tags.iter().zip(index.iter()).map(own);
            let bound = bind(self, content, &rows.named_by(own.clone()));
            arms.push(bound.map_err(|error| {
                error.renumbered(|at| {
                    own.clone().position(|own| u64::try_from(own) == Ok(at)).map(|row| row as u64)
                })
            })?);
        }
        Ok(Node::Union { tags: tags.into(), index, arms })
    }

    /// Distributes byte strings over the alternatives: each goes to the first that can hold it, such as the
    /// enum with this symbol or the fixed size of this length. Returns `None` if the column has another type
    /// or a value fits no alternative.
    fn sorted_out(
        &self,
        union: &Union,
        ranked: &[usize],
        form: &Form,
        rows: &Rows,
    ) -> Result<Option<Node<'a>>> {
        let most = i8::MAX as usize;
        let (texts, picked) = match form.kept() {
            _ if ranked.len() > most => return Ok(None),
            Form::String { key, .. } => (self.text(key, rows.count())?, None),
            Form::Categorical { key, categories } => {
                (self.text(key, categories.len() as u64)?, Some(self.numbers(key, rows.count())?))
            }
            _ => return Ok(None),
        };
        let (offsets, bytes) = texts;
        let mut arms = Vec::with_capacity(ranked.len());
        for tag in ranked {
            let mut layout = &union.alternatives[*tag];
            while let Layout::Logical(_, of) = layout {
                layout = of;
            }
            arms.push(match layout {
                Layout::Text | Layout::Bytes => Sorted::Any,
                Layout::Opaque(size) => Sorted::Sized(*size, Vec::new()),
                Layout::Enum { symbols, keep: None } => {
                    Sorted::Named(symbols.iter().map(String::as_bytes).zip(0..).collect(), Vec::new())
                }
                _ => return Ok(None),
            });
        }
        let (mut tags, mut index) = (Vec::new(), Vec::new());
        for row in 0..rows.count() as usize {
            if !rows.sees(row) {
                tags.push(0);
                index.push(0);
                continue;
            }
            let at = picked.as_ref().map_or(Some(row), |picked| picked.get(row).copied());
            let Some(at) = at else { return Ok(None) };
            let text = text(&offsets, bytes, at)?;
            let Some((arm, at)) =
                (0..).zip(&mut arms).find_map(|(arm, sorted)| Some((arm, sorted.take(at, text)?)))
            else {
                return Ok(None);
            };
            tags.push(arm);
            index.push(at);
        }
        let arms = ranked.iter().zip(arms).map(|(tag, sorted)| {
            let node = match sorted {
                Sorted::Any => self.texts(offsets.clone(), bytes),
                Sorted::Sized(size, bytes) => Node::Packed { width: size as usize, bytes: bytes.into() },
                Sorted::Named(_, numbers) => Node::Varint(numbers.into()),
            };
            (Some(*tag as i64), node)
        });
        let arms = arms.collect();
        Ok(Some(Node::Union { tags: tags.into(), index: index.into(), arms }))
    }
}

/// Byte strings that were assigned to one alternative.
enum Sorted<'l> {
    /// Any string, by its row in the column.
    Any,
    /// Strings of this size, copied.
    Sized(u64, Vec<u8>),
    /// Symbols, as their numbers.
    Named(HashMap<&'l [u8], i64>, Vec<i64>),
}

impl Sorted<'_> {
    /// Adds a byte string if this alternative can hold it. Returns its row in the alternative, and `None` if
    /// it does not fit.
    fn take(&mut self, at: usize, text: &[u8]) -> Option<i64> {
        match self {
            Self::Any => Some(at as i64),
            Self::Sized(size, bytes) if text.len() as u64 == *size => {
                let row = (bytes.len() as u64).checked_div(*size).unwrap_or(0);
                bytes.extend_from_slice(text);
                Some(row as i64)
            }
            Self::Sized(..) => None,
            Self::Named(numbers, rows) => {
                rows.push(*numbers.get(text)?);
                Some(rows.len() as i64 - 1)
            }
        }
    }
}
