//! Columns bound to a layout: all that is looked up or compared before the first byte.

use std::borrow::Cow;
use std::collections::HashMap;

use forthwith_columns::{Column, DType, Encoding, Form, Lookup, rows_of};
use forthwith_plan::{Error, Result};
use forthwith_program::{EncodedValue, Layout, Words};

use super::node::{Head, Length, Node, Version, changed};
use super::written::{
    apart, can_write, framed, is_constant, is_counted_elsewhere, one_class, phrase, pointers, readable,
    refused,
};
use crate::class::Layouts;
use crate::unroll::native;

pub(super) struct Binder<'a, 'l> {
    pub(super) file: &'l Layouts,
    pub(super) columns: Lookup<'a>,
    /// By their slots, numbers that count items: one for each row of the record that they are in.
    pub(super) counters: HashMap<u32, Vec<i64>>,
}

impl<'a> Binder<'a, '_> {
    pub(super) fn node(&mut self, layout: &Layout, form: &Form, rows: u64) -> Result<Node<'a>> {
        let other = || Error::invalid(format!("{} as {}", form.type_string(), phrase(layout)));
        Ok(match (layout, form) {
            // There are no rows of it.
            (Layout::Unknown(_) | Layout::Refused(_), Form::Empty) => Node::Nothing,
            (Layout::OrNothing(of), Form::String { key, .. }) if **of == Layout::Text => {
                self.text(key, rows, Length::EndsAtNul)?
            }
            (Layout::OrNothing(of), form) => self.node(of, form, rows)?,
            (Layout::Number(wire) | Layout::Mixed(wire, _) | Layout::Converted(wire, _), form) => {
                self.numbers(*wire, form).ok_or_else(other)?
            }
            (Layout::Counter(slot, of), Form::Numpy { key, .. }) => {
                let column = self.column(key, "data")?;
                let number = |row| column.integer(row).and_then(|number| i64::try_from(number).ok());
                let numbers = (0..rows as usize).map(|row| number(row).ok_or_else(changed));
                self.counters.insert(*slot, numbers.collect::<Result<_>>()?);
                self.node(of, form, rows)?
            }
            (
                Layout::Computed(_, Words { value: Some(EncodedValue::StatusBits), .. }),
                Form::Numpy { key, dtype: DType::UInt32, shape },
            ) if shape.is_empty() => Node::Bits(self.column(key, "data")?.as_bytes()),
            (Layout::Text, Form::String { key, .. }) => self.text(key, rows, Length::Short)?,
            (Layout::LongText, Form::String { key, .. }) => self.text(key, rows, Length::Long)?,
            (Layout::List(of) | Layout::Rest(of), Form::List { key, content }) => {
                let head = if matches!(layout, Layout::List(_)) { Head::Count } else { Head::Nothing };
                self.list(of, content, self.offsets(key, rows)?, head)?
            }
            (Layout::Counted { slot, flag, of }, Form::List { key, content }) => {
                let offsets = self.offsets(key, rows)?;
                // There may be no array, whatever counts it.
                let suits =
                    |length, count| length == count || (*flag && length == 0 && i32::try_from(count).is_ok());
                let wrong = "a list that has not the length that another member says";
                self.counts(*slot, &offsets, suits, wrong).ok_or_else(|| refused(layout))??;
                let head = if *flag { Head::Flag } else { Head::Nothing };
                self.list(of, content, offsets, head)?
            }
            (Layout::List(of), form) if let Some((size, content)) = form.fixed() => {
                let offsets = (0..=rows).map(|row| row.checked_mul(size)?.try_into().ok());
                let offsets: Option<Vec<i64>> = offsets.collect();
                self.list(of, &content, offsets.ok_or_else(changed)?.into(), Head::Count)?
            }
            (Layout::Fixed(wanted, of), form) => match form.fixed() {
                Some((size, content)) if size == *wanted => {
                    let item = self.node(of, &content, rows.checked_mul(size).ok_or_else(changed)?);
                    let item = item.map_err(|error| error.renumbered(|row| row.checked_div(size)))?;
                    Node::Fixed { size: usize::try_from(size).map_err(|_| changed())?, item: Box::new(item) }
                }
                _ => return Err(other()),
            },
            (Layout::Flagged(of), form) => Node::Flagged(Box::new(self.node(of, form, rows)?)),
            (Layout::Tuple(items), Form::Record { contents, .. }) if items.len() == contents.len() => {
                let items = items.iter().zip(contents);
                Node::Record(items.map(|(item, form)| self.node(item, form, rows)).collect::<Result<_>>()?)
            }
            (Layout::Record { .. }, Form::Record { contents, .. }) => {
                let mut contents = contents.iter();
                let node = self.record(layout, &mut contents, rows)?;
                if contents.next().is_some() {
                    return Err(other());
                }
                node
            }
            (Layout::Framed { .. }, Form::List { key, content }) if let Some(all) = pointers(layout) => {
                let offsets = self.offsets(key, rows)?;
                let count = last(&offsets);
                let forms = match (&**content, all.items().len()) {
                    (Form::Record { contents, .. }, 2) => contents.as_slice(),
                    (content, _) => std::slice::from_ref(content),
                };
                if forms.len() != all.items().len() {
                    return Err(other());
                }
                let mut item = Vec::new();
                for (layout, form) in all.items().iter().zip(forms) {
                    item.push(if count == 0 { Node::Nothing } else { self.node(layout, form, count)? });
                }
                if all.has_options() {
                    item.push(Node::Constant([0].into()));
                }
                let list = Self::listed(offsets, all.head, Node::Record(item))?;
                let head: Vec<u8> = [TOBJECT.as_slice(), &[0]].concat();
                let of = Box::new(Node::Record(vec![Node::Constant(head.into()), list]));
                Node::Framed { version: all.version, shared: false, of }
            }
            (Layout::OneClass { .. }, Form::List { key, content }) => {
                let (class, item) = one_class(layout).ok_or_else(|| refused(layout))?;
                let offsets = self.offsets(key, rows)?;
                let item = match &**content {
                    Form::Empty => Node::Nothing,
                    content => Node::Together(Box::new(self.node(item, content, last(&offsets))?)),
                };
                let list = Self::listed(offsets, Head::Bound, item)?;
                // An empty name, and the class with its version.
                let length = u8::try_from(class.len()).ok().filter(|length| *length < 255);
                let length = length.ok_or_else(|| refused(layout))?;
                let head = [CLONED.as_slice(), &[0, length], class.as_bytes()].concat();
                let of = Box::new(Node::Record(vec![Node::Constant(head.into()), list]));
                Node::Framed { version: Version::Number(CLONES), shared: false, of }
            }
            (Layout::Framed { shared, .. }, form) => {
                let (version, of) = framed(layout, self.file)?;
                Node::Framed { version, shared: *shared, of: Box::new(self.node(of, form, rows)?) }
            }
            (Layout::Between(before, of, _), Form::List { key, .. }) if is_counted_elsewhere(layout) => {
                if let Some(Layout::Given(slot, _)) = before.first() {
                    self.counters.insert(*slot, lengths(&self.offsets(key, rows)?).collect());
                }
                self.node(of, form, rows)?
            }
            (Layout::Between(before, of, behind), form)
                if before.iter().all(is_constant) && behind.is_empty() =>
            {
                let before = before.iter().filter_map(|layout| match layout {
                    Layout::Constant(bytes, _) => Some(Ok(Node::Constant(bytes.clone()))),
                    _ => None,
                });
                Node::Record(before.chain([self.node(of, form, rows)]).collect::<Result<_>>()?)
            }
            (Layout::Pointer(_), Form::Option { key, content }) => {
                let index = self.integers(key, "index", rows)?;
                let classes = readable(layout);
                let objects = rows_of(index.iter().copied());
                let (tags, contents) = match &**content {
                    Form::Union { key, contents } if classes.len() > 1 => {
                        let count = usize::try_from(objects).map_err(|_| changed())?;
                        let tags = self.column(key, "tags")?.as_i8().and_then(|tags| tags.get(..count));
                        let tags = tags.ok_or_else(changed)?;
                        (Some((tags, self.integers(key, "index", objects)?)), contents.as_slice())
                    }
                    only => (None, std::slice::from_ref(only)),
                };
                if contents.len() != classes.len() {
                    return Err(other());
                }
                let mut nodes = Vec::with_capacity(classes.len());
                for (tag, ((name, layout), form)) in classes.iter().zip(contents).enumerate() {
                    let own = tags.as_ref().map_or(objects, |(tags, index)| {
                        let own =
                            tags.iter().zip(index.iter()).filter(|(of, _)| usize::try_from(**of) == Ok(tag));
                        rows_of(own.map(|(_, at)| *at))
                    });
                    let node = match (form, own) {
                        (Form::Empty, _) | (_, 0) => Node::Nothing,
                        (form, own) => self.node(layout, form, own).map_err(|error| {
                            let of =
                                |rows: &[i64], row| rows.iter().position(|at| u64::try_from(*at) == Ok(row));
                            error.renumbered(|row| {
                                let object = match &tags {
                                    None => row,
                                    Some((_, index)) => of(index, row)? as u64,
                                };
                                of(&index, object).map(|row| row as u64)
                            })
                        })?,
                    };
                    nodes.push((name.clone(), node));
                }
                Node::Pointer { index, tags, classes: nodes }
            }
            (Layout::Triangle(slot, wire), Form::List { key, content }) => {
                let offsets = self.offsets(key, rows)?;
                let is_square = |length, side: i64| side.checked_mul(side) == Some(length);
                let wrong = "a symmetric matrix that has not as many rows and columns as another member says";
                let sides = self.counts(*slot, &offsets, is_square, wrong);
                let sides = sides.ok_or_else(|| refused(layout))??.clone();
                let item = self.numbers(*wire, content).ok_or_else(other)?;
                Node::Triangle { offsets, sides, item: Box::new(item) }
            }
            (
                Layout::Between(..)
                | Layout::Versioned(_)
                | Layout::Computed(..)
                | Layout::Absent(_)
                | Layout::Columns(_)
                | Layout::Unknown(_)
                | Layout::Refused(_),
                _,
            ) => return Err(refused(layout)),
            _ => return Err(other()),
        })
    }

    /// The fields of a record, those of its bases among them.
    fn record<'f>(
        &mut self,
        layout: &Layout,
        contents: &mut impl Iterator<Item = &'f Form>,
        rows: u64,
    ) -> Result<Node<'a>> {
        let Layout::Record { fields, .. } = layout else { return Err(refused(layout)) };
        let mut nodes = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            let node = match field {
                base if native::is_object_base(base) => Ok(Node::Constant(TOBJECT.into())),
                Layout::Base(of) => {
                    let base = match apart(of) {
                        of @ Layout::Framed { .. } => framed(of, self.file).and_then(|(version, of)| {
                            let of = Box::new(self.record(of, contents, rows)?);
                            Ok(Node::Framed { version, shared: false, of })
                        }),
                        of => self.record(of, contents, rows),
                    };
                    let is_apart = matches!(**of, Layout::Between(..));
                    base.map(|base| if is_apart { base } else { Node::Base(Box::new(base)) })
                }
                field if field.is_skipped() => Err(refused(field)),
                field => match contents.next() {
                    Some(form) => self.node(field, form, rows),
                    None => Err(changed()),
                },
            };
            nodes.push(node.map_err(|error| if name.is_empty() { error } else { error.in_object(name) })?);
        }
        Ok(Node::Record(nodes))
    }

    fn list(&mut self, of: &Layout, content: &Form, offsets: Cow<'a, [i64]>, head: Head) -> Result<Node<'a>> {
        let items = last(&offsets);
        // Lists without items may be of any type.
        let item = match (content, items) {
            (Form::Empty, 0) => Node::Nothing,
            (content, items) => self.node(of, content, items).map_err(|error| {
                let is_behind = |item, end: &i64| u64::try_from(*end).is_ok_and(|end| end > item);
                let ends = offsets.get(1..).unwrap_or_default();
                error
                    .renumbered(|item| ends.iter().position(|end| is_behind(item, end)).map(|row| row as u64))
            })?,
        };
        Self::listed(offsets, head, item)
    }

    fn listed(offsets: Cow<'a, [i64]>, head: Head, item: Node<'a>) -> Result<Node<'a>> {
        let items = usize::try_from(last(&offsets)).map_err(|_| changed())?;
        Ok(Node::List { offsets, items, head, item: Box::new(item) })
    }

    /// The numbers that count the items of lists, each of which suits the length that there is. `None` if there are
    /// none.
    fn counts(
        &self,
        slot: u32,
        offsets: &[i64],
        suits: impl Fn(i64, i64) -> bool,
        wrong: &str,
    ) -> Option<Result<&Vec<i64>>> {
        let counts = self.counters.get(&slot).filter(|counts| counts.len() + 1 == offsets.len())?;
        let row = lengths(offsets).zip(counts).position(|(length, count)| !suits(length, *count));
        Some(row.map_or(Ok(counts), |row| Err(Error::invalid(wrong).at_entry(row as u64))))
    }

    fn text(&self, key: &str, rows: u64, length: Length) -> Result<Node<'a>> {
        Ok(Node::Text {
            offsets: self.offsets(key, rows)?,
            bytes: self.column(key, "data")?.as_bytes(),
            length,
        })
    }

    fn numbers(&self, wire: Encoding, form: &Form) -> Option<Node<'a>> {
        let Form::Numpy { key, dtype, shape } = form else { return None };
        let bytes = self.column(key, "data").ok()?.as_bytes();
        (shape.is_empty() && *dtype == wire.dtype() && can_write(wire)).then_some(Node::Numbers {
            bytes,
            width: dtype.size(),
            wire,
        })
    }

    fn column(&self, key: &str, part: &str) -> Result<&'a Column> {
        self.columns.any(key, part).map_err(|_| changed())
    }

    fn offsets(&self, key: &str, rows: u64) -> Result<Cow<'a, [i64]>> {
        self.integers(key, "offsets", rows.checked_add(1).ok_or_else(changed)?)
    }

    fn integers(&self, key: &str, part: &str, count: u64) -> Result<Cow<'a, [i64]>> {
        self.columns.integers(key, part, count).map_err(|_| changed())
    }
}

/// The numbers of items of lists.
fn lengths(offsets: &[i64]) -> impl Iterator<Item = i64> {
    offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]))
}

/// The number of items that lists have together.
fn last(offsets: &[i64]) -> u64 {
    offsets.last().copied().unwrap_or(0).max(0).cast_unsigned()
}

/// The version of `TClonesArray`.
const CLONES: u16 = 4;

/// As [`TOBJECT`], with the bit `kBypassStreamer`: members of items stand together.
const CLONED: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0x10, 0];

/// A new `TObject`: its version, no id, and the bits `kIsOnHeap` and `kNotDeleted`.
const TOBJECT: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0];
