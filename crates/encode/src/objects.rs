//! Binds objects: frames, versions, base classes, pointers, and arrays with a counter.

use crate::{
    EncodeError,
    append::span,
    bind::{Binder, Result, listed, wrong},
    describe::describe,
    node::{Head, Node, Version},
    rows::{Rows, list_of, position},
};
use forthwith_columns::{DType, Encoding, Form};
use forthwith_program::{EncodedValue, Layout, TextLength, When, Words};
use std::{borrow::Cow, sync::Arc};

/// Encoded `TObject` base: version 1, no unique ID, and status bits `kNotDeleted` and `kIsOnHeap`.
const BASE: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0];

/// [`BASE`] with the bit `kBypassStreamer`, which marks items as stored member-wise.
const BASE_OF_TOGETHER: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0x10, 0];

/// Version of `TClonesArray`.
const ONE_CLASS: u16 = 4;

impl<'a> Binder<'a> {
    /// Returns the node of an object layout, and `None` if `layout` is not one.
    pub(crate) fn object(
        &mut self,
        layout: &Layout,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Option<Node<'a>>> {
        let wrong = || wrong(layout, form, member);
        Ok(Some(match (layout, form) {
            (_, Form::Empty) => Node::Nothing,
            (Layout::Pointer(classes), Form::Option { key, content }) => {
                self.pointer(classes, (key, content), rows, member)?
            }
            (Layout::Counter(slot, of), form @ Form::Numpy { key, dtype, .. }) => {
                let column = self.columns.column(key, "data", *dtype, rows.count())?;
                let number = |row| column.integer(row).and_then(|number| i64::try_from(number).ok());
                let numbers = (0..rows.count() as usize).map(|row| number(row).ok_or_else(wrong));
                self.counters.insert(*slot, numbers.collect::<Result<_>>()?);
                self.bind(of, form, rows, member)?
            }
            (Layout::Counted { slot, flag, of }, Form::List { key, content }) => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                // With a flag, the array may be absent whatever its counter is.
                let suits =
                    |length, count| length == count || (*flag && length == 0 && i32::try_from(count).is_ok());
                let what = "a list that has not the length that another member says";
                self.counts(*slot, &offsets, suits, (rows, member, what))?;
                let head = if *flag { Head::Flag } else { Head::Nothing };
                self.list(of, content, offsets, head, rows, member)?
            }
            (Layout::Rest(of), Form::List { key, content }) => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                self.list(of, content, offsets, Head::Nothing, rows, member)?
            }
            (Layout::Triangle(slot, wire), Form::List { key, content }) => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                let is_square = |length, side: i64| side >= 0 && side.checked_mul(side) == Some(length);
                let what = "a symmetric matrix that has not as many rows and columns as another member says";
                let sides = self.counts(*slot, &offsets, is_square, (rows, member, what))?.clone();
                let below = rows.inside(&offsets);
                let item = self.bind(&Layout::Number(*wire), content, &below, &format!("{member}[]"));
                let item = item.map_err(|error| error.renumbered(|item| list_of(&offsets, item)))?;
                for (row, side) in sides.iter().enumerate().filter(|(row, _)| rows.sees(*row)) {
                    if !item.is_symmetric(span(&offsets, row, usize::MAX)?.start, *side as usize) {
                        let what = "a matrix that is not symmetric".into();
                        let row = Some(row as u64);
                        return Err(EncodeError::Value { member: member.into(), row, what });
                    }
                }
                Node::Triangle { offsets, sides, item: Box::new(item) }
            }
            (
                Layout::Computed(_, Words { value: Some(EncodedValue::StatusBits), .. }),
                Form::Numpy { key, dtype: DType::UInt32, shape },
            ) if shape.is_empty() => {
                let column = self.columns.column(key, "data", DType::UInt32, rows.count())?;
                Node::StatusBits(Cow::Borrowed(column.as_bytes()))
            }
            (Layout::OrNothing(of), Form::String { key, .. }) if **of == Layout::Text => {
                self.c_strings(key, rows, None)?
            }
            (Layout::OrNothing(of), form) => self.bind(of, form, rows, member)?,
            (Layout::LongText, Form::String { key, .. }) => {
                self.c_strings(key, rows, Some(TextLength::Big32))?
            }
            (Layout::Flagged(of), form) => Node::Flagged(Box::new(self.bind(of, form, rows, member)?)),
            (Layout::Tuple(items), Form::Record { contents, .. }) if items.len() == contents.len() => {
                let items = items.iter().zip(contents);
                let items = items.map(|(item, form)| self.bind(item, form, rows, member));
                Node::Record(items.collect::<Result<_>>()?)
            }
            (Layout::Framed { shared, of }, form) => {
                let (version, of) = versioned(of, member)?;
                let of = Box::new(self.bind(of, form, rows, member)?);
                Node::Framed { version, shared: *shared, of }
            }
            (Layout::OneClass { .. }, Form::List { key, content }) => {
                self.one_class(layout, (key, content), rows, member)?
            }
            (Layout::Between(before, of, behind), form) => {
                self.between((before, behind), of, form, rows, member)?
            }
            (Layout::Unknown(_) | Layout::Refused(_), _) if rows.count() == 0 => Node::Nothing,
            (
                Layout::Unknown(_)
                | Layout::Refused(_)
                | Layout::Versioned(_)
                | Layout::Computed(..)
                | Layout::Passed(_)
                | Layout::Absent(_)
                | Layout::Columns(_)
                | Layout::Mixed(..)
                | Layout::Converted(..)
                | Layout::Base(_)
                | Layout::Blank,
                _,
            ) => return Err(read_only(layout, member)),
            _ => return Ok(None),
        }))
    }

    /// Binds the fields of a record, among which are the fields of its base classes.
    pub(crate) fn record_with_bases(
        &mut self,
        fields: &[(String, Layout)],
        contents: &[Form],
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let mut contents = contents.iter();
        let node = self.fields_in_order(fields, &mut contents, rows, member)?;
        match contents.next() {
            None => Ok(node),
            Some(extra) => Err(EncodeError::Type {
                member: member.into(),
                found: format!("a member of {}", extra.type_string()),
                wanted: "a record without it".into(),
            }),
        }
    }

    fn fields_in_order<'f>(
        &mut self,
        fields: &[(String, Layout)],
        contents: &mut impl Iterator<Item = &'f Form>,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let mut nodes = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            nodes.push(match field {
                Layout::Passed(Words { value: Some(EncodedValue::ObjectBase), .. }) => {
                    Node::Constant(BASE.into())
                }
                Layout::Base(of) => {
                    // Within `Between`, a base keeps its frame also where the items are stored member-wise.
                    let (is_apart, of) = match &**of {
                        Layout::Between(before, of, behind) if before.is_empty() && behind.is_empty() => {
                            (true, of)
                        }
                        _ => (false, of),
                    };
                    let node = match &**of {
                        Layout::Framed { of, .. } => {
                            let (version, of) = versioned(of, member)?;
                            let of = Box::new(self.base(of, contents, rows, member)?);
                            Node::Framed { version, shared: false, of }
                        }
                        of => self.base(of, contents, rows, member)?,
                    };
                    if is_apart { node } else { Node::Base(Box::new(node)) }
                }
                field => {
                    let member = if member.is_empty() { name.clone() } else { format!("{member}.{name}") };
                    match contents.next() {
                        Some(form) => self.bind(field, form, rows, &member)?,
                        None => {
                            return Err(EncodeError::Missing { member: member.clone(), field: name.clone() });
                        }
                    }
                }
            });
        }
        Ok(Node::Record(nodes))
    }

    fn base<'f>(
        &mut self,
        layout: &Layout,
        contents: &mut impl Iterator<Item = &'f Form>,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        match layout {
            Layout::Record { fields, .. } => self.fields_in_order(fields, contents, rows, member),
            other => Err(read_only(other, member)),
        }
    }

    /// Binds a pointer: null, or an object of one of several classes.
    fn pointer(
        &mut self,
        classes: &[(String, Layout)],
        (key, content): (&str, &Form),
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let index = self.columns.integers(key, "index", rows.count())?;
        let objects = rows.named(&index);
        let (tags, contents) = match content {
            Form::Union { key, contents } if classes.len() > 1 => {
                let tags = self.columns.column(key, "tags", DType::Int8, objects.count())?;
                let tags = tags.as_i8().and_then(|tags| tags.get(..objects.count() as usize));
                let index = self.columns.integers(key, "index", objects.count())?;
                (Some((Cow::Borrowed(tags.ok_or(EncodeError::Changed)?), index)), contents.as_slice())
            }
            only => (None, std::slice::from_ref(only)),
        };
        if contents.len() != classes.len() {
            let wanted = format!("a pointer to one of {} classes", classes.len());
            return Err(EncodeError::Type { member: member.into(), found: content.type_string(), wanted });
        }
        let mut nodes = Vec::with_capacity(classes.len());
        for (tag, ((name, layout), form)) in classes.iter().zip(contents).enumerate() {
            let own = tags.as_ref().map(|(tags, index)| {
                let own = move |(of, at): (&i8, &i64)| if usize::try_from(*of) == Ok(tag) { *at } else { -1 };
                tags.iter().zip(index.iter()).map(own)
            });
            let own_rows = own.clone().map_or_else(|| objects.clone(), |own| objects.named_by(own));
            let node = match own_rows.count() {
                0 => Node::Nothing,
                _ => self.bind(layout, form, &own_rows, member).map_err(|error| {
                    error.renumbered(|at| {
                        let object = match own {
                            None => at,
                            Some(mut own) => own.position(|own| u64::try_from(own) == Ok(at))? as u64,
                        };
                        position(&index, object)
                    })
                })?,
            };
            nodes.push((Arc::from(name.as_bytes()), node));
        }
        Ok(Node::Pointer { index, tags, classes: nodes })
    }

    /// Binds a list of objects of one class, which is named once: an object base, an empty name, the class
    /// with its version, and the items, stored member-wise.
    fn one_class(
        &mut self,
        layout: &Layout,
        (key, content): (&str, &Form),
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let Layout::OneClass { classes, .. } = layout else { return Err(read_only(layout, member)) };
        let [(class, _, item)] = &classes[..] else { return Err(read_only(layout, member)) };
        let length = u8::try_from(class.len()).ok().filter(|length| *length < 255);
        let length = length.ok_or_else(|| read_only(layout, member))?;
        let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
        let below = rows.inside(&offsets);
        let item = match self.bind(item, content, &below, &format!("{member}[]")) {
            Ok(Node::Nothing) => Node::Nothing,
            Ok(item) => Node::Together(Box::new(item)),
            Err(error) => return Err(error.renumbered(|item| list_of(&offsets, item))),
        };
        let head = [BASE_OF_TOGETHER.as_slice(), &[0, length], class.as_bytes()].concat();
        let list = listed(offsets, Head::Bound, item)?;
        let of = Box::new(Node::Record(vec![Node::Constant(head.into()), list]));
        Ok(Node::Framed { version: Version::Number(ONE_CLASS), shared: false, of })
    }

    /// Binds a value between constants, which may be preceded by its counter.
    fn between(
        &mut self,
        (before, behind): (&[Layout], &[Layout]),
        of: &Layout,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let mut nodes = Vec::with_capacity(before.len() + 1 + behind.len());
        for part in before {
            match (part, form) {
                (Layout::Constant(bytes, _), _) => nodes.push(Node::Constant(Arc::clone(bytes))),
                (Layout::Given(slot, _) | Layout::Counter(slot, _), Form::List { key, .. }) => {
                    let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                    let lengths = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
                    self.counters.insert(*slot, lengths.collect());
                    match part {
                        Layout::Given(..) => {}
                        Layout::Counter(_, number)
                            if **number == Layout::Number(Encoding::Big(DType::Int32)) =>
                        {
                            nodes.push(Node::Lengths(offsets));
                        }
                        other => return Err(read_only(other, member)),
                    }
                }
                (other, _) => return Err(read_only(other, member)),
            }
        }
        nodes.push(self.bind(of, form, rows, member)?);
        for part in behind {
            match part {
                Layout::Constant(bytes, _) => nodes.push(Node::Constant(Arc::clone(bytes))),
                other => return Err(read_only(other, member)),
            }
        }
        Ok(match <[Node<'a>; 1]>::try_from(nodes) {
            Ok([only]) => only,
            Err(nodes) => Node::Record(nodes),
        })
    }

    /// Returns the counts in `slot` after checking that `suits` accepts each length and count of the rows
    /// that are written.
    fn counts(
        &self,
        slot: u32,
        offsets: &[i64],
        suits: impl Fn(i64, i64) -> bool,
        (rows, member, what): (&Rows, &str, &str),
    ) -> Result<&Vec<i64>> {
        let counts = self.counters.get(&slot).filter(|counts| counts.len() + 1 == offsets.len());
        let counts = counts.ok_or_else(|| EncodeError::Unsupported {
            member: member.into(),
            what: "an array that a member of another object counts".into(),
        })?;
        let lengths = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let mut rows_in_order = lengths.zip(counts).enumerate();
        match rows_in_order.find(|(row, (length, count))| rows.sees(*row) && !suits(*length, **count)) {
            None => Ok(counts),
            Some((row, _)) => {
                Err(EncodeError::Value { member: member.into(), row: Some(row as u64), what: what.into() })
            }
        }
    }
}

/// Returns the version to write in a frame, and the layout of the value after it.
fn versioned<'l>(of: &'l Layout, member: &str) -> Result<(Version, &'l Layout)> {
    let Layout::Versioned(arms) = of else { return Ok((Version::Nothing, of)) };
    match &arms[..] {
        [(When::Version(version) | When::Class(version, _), of), ..] => Ok((Version::Number(*version), of)),
        [(When::Checksum(sum), of), ..] => Ok((Version::Checksum(*sum), of)),
        _ => Err(read_only(of, member)),
    }
}

fn read_only(layout: &Layout, member: &str) -> EncodeError {
    let what = match layout {
        Layout::Refused(why) => format!("an object of {why}"),
        Layout::Unknown(class) => format!("an object of class {class}, which the file does not describe"),
        layout => describe(layout, 0),
    };
    EncodeError::Unsupported { member: member.into(), what }
}
