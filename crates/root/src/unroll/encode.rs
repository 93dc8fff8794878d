//! Values of an unrolled layout as ROOT stores them: what programs read, written.
//!
//! Objects are written in the first version that a layout has, which is the latest that the file describes, and items of
//! containers one after the other. ROOT reads both whatever the rest of a branch has.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use forthwith_columns::{Array, Column, DType, Encoding, Form};
use forthwith_plan::{Error, Result};
use forthwith_program::{Layout, When};

use super::{member, native};
use crate::class::Layouts;
use crate::cpp::{CppType, Packing};
use crate::record::{BYTE_COUNT, IS_REFERENCED, NEW_CLASS};
use crate::streamer::StreamerInfo;
use crate::write::described_class;

/// Columns bound to the layout that they are written in.
#[derive(Debug)]
pub struct Encoder<'a> {
    node: Node<'a>,
}

/// A part of a layout, with the columns that its values come from.
#[derive(Debug)]
enum Node<'a> {
    Nothing,
    Constant(Arc<[u8]>),
    /// This number of bytes of the column for each row.
    Numbers {
        bytes: &'a [u8],
        width: usize,
        wire: Encoding,
    },
    /// Status bits, of an object that is not referenced.
    Bits(&'a [u8]),
    Text {
        offsets: Cow<'a, [i64]>,
        bytes: &'a [u8],
        long: bool,
    },
    List {
        offsets: Cow<'a, [i64]>,
        head: Head,
        item: Box<Self>,
    },
    Fixed {
        size: usize,
        item: Box<Self>,
    },
    /// Of a square of numbers, those that are not left of the diagonal.
    Triangle {
        offsets: Cow<'a, [i64]>,
        sides: Vec<i64>,
        item: Box<Self>,
    },
    Record(Vec<Self>),
    /// Where values of many items stand together, a `shared` frame stands around all of them.
    Framed {
        version: Version,
        shared: bool,
        of: Box<Self>,
    },
    /// Nothing, or an object behind the name of its class: the rows of objects, below zero for none; for each of
    /// these its class, and its row among those of that class.
    Pointer {
        index: Cow<'a, [i64]>,
        tags: Option<(&'a [i8], Cow<'a, [i64]>)>,
        classes: Vec<(String, Self)>,
    },
    /// A byte 1, and the value.
    Flagged(Box<Self>),
}

/// What stands before the items of a list.
#[derive(Clone, Copy, Debug)]
enum Head {
    Nothing,
    Count,
    /// One byte: whether there are any.
    Flag,
}

/// What stands behind a byte count.
#[derive(Clone, Copy, Debug)]
enum Version {
    None,
    Number(u16),
    /// Zero, and the checksum.
    Checksum(u32),
}

impl<'a> Encoder<'a> {
    /// Binds rows of an array, from the first one on, to a layout. `form` is a part of the array's Form that has
    /// so many rows. The array has been validated.
    ///
    /// # Errors
    /// A layout that can be read only; columns of another type; lists of another length than a member says that
    /// counts them.
    pub fn new(layout: &Layout, file: &Layouts, form: &Form, array: &'a Array, rows: u64) -> Result<Self> {
        let columns = array.columns.iter().map(|(name, column)| (name.as_str(), column)).collect();
        let mut binder = Binder { file, columns, counters: HashMap::new() };
        Ok(Self { node: binder.node(layout, form, rows)? })
    }

    /// Whether there is a way to write values of a layout.
    ///
    /// # Errors
    /// The first thing in it that can be read only.
    pub fn check(layout: &Layout, file: &Layouts) -> Result<()> {
        let check = |of: &Layout| Self::check(of, file);
        match layout {
            Layout::Number(wire) | Layout::Mixed(wire, _) | Layout::Converted(wire, _)
                if can_write(*wire) =>
            {
                Ok(())
            }
            Layout::Computed(DType::UInt32, words) if words == member::BITS => Ok(()),
            Layout::Text | Layout::LongText | Layout::Triangle(..) => Ok(()),
            // Where there are none of them.
            Layout::Unknown(_) | Layout::Refused(_) => Ok(()),
            Layout::OrNothing(of)
            | Layout::Counter(_, of)
            | Layout::List(of)
            | Layout::Rest(of)
            | Layout::Counted { of, .. }
            | Layout::Fixed(_, of)
            | Layout::Flagged(of)
            | Layout::Base(of) => check(of),
            Layout::Between(before, of, behind) if before.iter().all(is_constant) && behind.is_empty() => {
                check(of)
            }
            Layout::Tuple(items) => items.iter().try_for_each(check),
            Layout::Pointer(_) => {
                let mut classes = readable(layout).iter();
                classes.try_for_each(|(name, class)| check(class).map_err(|error| error.in_object(name)))
            }
            Layout::Record { fields, .. } => fields.iter().try_for_each(|(name, field)| match field {
                Layout::Passed(words) if words == native::TOBJECT => Ok(()),
                field => {
                    check(field).map_err(|error| if name.is_empty() { error } else { error.in_object(name) })
                }
            }),
            Layout::Framed { .. } => framed(layout, file).and_then(|(_, of)| check(of)),
            other => Err(refused(other)),
        }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// More bytes in a frame, or items in a list, than ROOT can count; memory that was changed by others.
    pub fn row(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.node.append(row, out)
    }

    /// Appends rows as items of one list that stand together, without their number.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    pub fn items(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match &self.node {
            Node::Framed { version, shared: true, of } => {
                frame(*version, out, |out| of.append_all(rows, out))
            }
            node => node.append_all(rows, out),
        }
    }

    /// Whether no two of some rows are equal.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn distinct(&self, rows: Range<usize>) -> Result<()> {
        self.node.distinct(rows)
    }

    /// Appends a row that is a container, within its frame; `unique` as [`unique`](Self::unique).
    ///
    /// # Errors
    /// As [`unique`](Self::unique).
    pub fn container(&self, row: usize, unique: bool, out: &mut Vec<u8>) -> Result<()> {
        frame(Version::Number(CONTAINER), out, |out| match unique {
            true => self.unique(row, out),
            false => self.row(row, out),
        })
    }

    /// Appends a row that is a list, in which no value may be twice, and no first value of pairs.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn unique(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut node = &self.node;
        while let Node::Framed { of, .. } = node {
            node = of;
        }
        if let Node::List { offsets, item, .. } = node {
            let key = match &**item {
                Node::Record(pair) => pair.first().unwrap_or(item),
                item => item,
            };
            key.distinct(span(offsets, row).ok_or_else(changed)?)?;
        }
        self.node.append(row, out)
    }
}

struct Binder<'a, 'l> {
    file: &'l Layouts,
    columns: HashMap<&'a str, &'a Column>,
    /// By their slots, numbers that count items: one for each row of the record that they are in.
    counters: HashMap<u32, Vec<i64>>,
}

impl<'a> Binder<'a, '_> {
    fn node(&mut self, layout: &Layout, form: &Form, rows: u64) -> Result<Node<'a>> {
        let other = || Error::invalid(format!("{} as {}", form.type_string(), phrase(layout)));
        Ok(match (layout, form) {
            // There are no rows of it.
            (Layout::Unknown(_) | Layout::Refused(_), Form::Empty) => Node::Nothing,
            (Layout::OrNothing(of), form) => self.node(of, form, rows)?,
            (Layout::Number(wire) | Layout::Mixed(wire, _) | Layout::Converted(wire, _), form) => {
                self.numbers(*wire, form).ok_or_else(other)?
            }
            (Layout::Counter(slot, of), Form::Numpy { key, .. }) => {
                let column = self.column(key, "data")?;
                let numbers = (0..rows as usize).map(|row| whole(column, row).ok_or_else(changed));
                self.counters.insert(*slot, numbers.collect::<Result<_>>()?);
                self.node(of, form, rows)?
            }
            (Layout::Computed(DType::UInt32, words), Form::Numpy { key, dtype: DType::UInt32, shape })
                if words == member::BITS && shape.is_empty() =>
            {
                Node::Bits(self.column(key, "data")?.as_bytes())
            }
            (Layout::Text | Layout::LongText, Form::String { key, .. }) => Node::Text {
                offsets: self.offsets(key, rows)?,
                bytes: self.column(key, "data")?.as_bytes(),
                long: *layout == Layout::LongText,
            },
            (Layout::List(of) | Layout::Rest(of), Form::List { key, content }) => {
                let head = if matches!(layout, Layout::List(_)) { Head::Count } else { Head::Nothing };
                self.list(of, content, self.offsets(key, rows)?, head)?
            }
            (Layout::Counted { slot, flag, of }, Form::List { key, content }) => {
                let offsets = self.offsets(key, rows)?;
                let counts = self.counters.get(slot).ok_or_else(|| refused(layout))?;
                let lengths = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
                // There may be no array, whatever counts it.
                let is_wrong = |(length, count): (i64, &i64)| length != *count && !(*flag && length == 0);
                let wrong = lengths.zip(counts).position(is_wrong);
                if counts.len() as u64 != rows {
                    return Err(refused(layout));
                }
                if let Some(row) = wrong {
                    let what = "a list that has not the length that another member says";
                    return Err(Error::invalid(what).at_entry(row as u64));
                }
                let head = if *flag { Head::Flag } else { Head::Nothing };
                self.list(of, content, offsets, head)?
            }
            (Layout::List(of), form) if let Some((size, content)) = inner(form) => {
                let offsets = (0..=rows).map(|row| row.checked_mul(size)?.try_into().ok());
                let offsets: Option<Vec<i64>> = offsets.collect();
                self.list(of, &content, offsets.ok_or_else(changed)?.into(), Head::Count)?
            }
            (Layout::Fixed(wanted, of), form) => match inner(form) {
                Some((size, content)) if size == *wanted => {
                    let item = self.node(of, &content, rows.checked_mul(size).ok_or_else(changed)?)?;
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
            (Layout::Framed { shared, .. }, form) => {
                let (version, of) = framed(layout, self.file)?;
                Node::Framed { version, shared: *shared, of: Box::new(self.node(of, form, rows)?) }
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
                let objects = most(index.iter());
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
                        most(own.map(|(_, at)| at))
                    });
                    let node = match (form, own) {
                        (Form::Empty, _) | (_, 0) => Node::Nothing,
                        (form, own) => self.node(layout, form, own)?,
                    };
                    nodes.push((name.clone(), node));
                }
                Node::Pointer { index, tags, classes: nodes }
            }
            (Layout::Triangle(slot, wire), Form::List { key, content }) => {
                let offsets = self.offsets(key, rows)?;
                let sides = self.counters.get(slot).cloned().ok_or_else(|| refused(layout))?;
                let lengths = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
                let is_square = |(length, side): (i64, &i64)| side.checked_mul(*side) == Some(length);
                if sides.len() as u64 != rows {
                    return Err(refused(layout));
                }
                if let Some(row) = lengths.zip(&sides).position(|of| !is_square(of)) {
                    let what =
                        "a symmetric matrix that has not as many rows and columns as another member says";
                    return Err(Error::invalid(what).at_entry(row as u64));
                }
                let item = self.numbers(*wire, content).ok_or_else(other)?;
                Node::Triangle { offsets, sides, item: Box::new(item) }
            }
            (
                Layout::OneClass { .. }
                | Layout::Between(..)
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
                Layout::Passed(words) if words == native::TOBJECT => Ok(Node::Constant(TOBJECT.into())),
                Layout::Base(of) => match apart(of) {
                    of @ Layout::Framed { .. } => framed(of, self.file).and_then(|(version, of)| {
                        Ok(Node::Framed {
                            version,
                            shared: false,
                            of: Box::new(self.record(of, contents, rows)?),
                        })
                    }),
                    of => self.record(of, contents, rows),
                },
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
        let items = offsets.last().copied().unwrap_or(0).max(0).cast_unsigned();
        // Lists without items may be of any type.
        let item = match (content, items) {
            (Form::Empty, 0) => Node::Nothing,
            (content, items) => self.node(of, content, items)?,
        };
        Ok(Node::List { offsets, head, item: Box::new(item) })
    }

    fn numbers(&self, wire: Encoding, form: &Form) -> Option<Node<'a>> {
        let Form::Numpy { key, dtype, shape } = form else { return None };
        let bytes = self.columns.get(format!("{key}-data").as_str())?.as_bytes();
        (shape.is_empty() && *dtype == wire.dtype() && can_write(wire)).then_some(Node::Numbers {
            bytes,
            width: dtype.size(),
            wire,
        })
    }

    fn column(&self, key: &str, part: &str) -> Result<&'a Column> {
        self.columns.get(format!("{key}-{part}").as_str()).copied().ok_or_else(changed)
    }

    fn offsets(&self, key: &str, rows: u64) -> Result<Cow<'a, [i64]>> {
        self.integers(key, "offsets", rows.checked_add(1).ok_or_else(changed)?)
    }

    fn integers(&self, key: &str, part: &str, count: u64) -> Result<Cow<'a, [i64]>> {
        let column = self.column(key, part)?;
        let count = usize::try_from(count).map_err(|_| changed())?;
        Ok(match column.as_i64() {
            Some(items) => Cow::Borrowed(items.get(..count).ok_or_else(changed)?),
            None => (0..count).map_while(|at| column.item(at)).collect::<Vec<i64>>().into(),
        })
    }
}

impl Node<'_> {
    fn distinct(&self, rows: Range<usize>) -> Result<()> {
        let (mut values, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            self.append(row, &mut values)?;
            ends.push(values.len());
        }
        let mut known = HashSet::new();
        match ends.windows(2).all(|pair| known.insert(&values[pair[0]..pair[1]])) {
            true => Ok(()),
            false => Err(Error::invalid("two equal values in a set, or keys in a map")),
        }
    }

    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Nothing => {}
            Self::Constant(bytes) => out.extend_from_slice(bytes),
            Self::Numbers { width, .. } => self.numbers(row..row + 1, *width, out)?,
            Self::Bits(bytes) => {
                let bits = bytes.as_chunks::<4>().0.get(row).ok_or_else(changed)?;
                out.extend((u32::from_ne_bytes(*bits) & !IS_REFERENCED).to_be_bytes());
            }
            Self::Text { offsets, bytes, long } => {
                let text = span(offsets, row).and_then(|span| bytes.get(span)).ok_or_else(changed)?;
                match u8::try_from(text.len()) {
                    Ok(short) if short < 255 && !long => out.push(short),
                    _ => {
                        if !long {
                            out.push(255);
                        }
                        out.extend(count(text.len())?.to_be_bytes());
                    }
                }
                out.extend_from_slice(text);
            }
            Self::List { offsets, head, item } => {
                let items = span(offsets, row).ok_or_else(changed)?;
                match head {
                    Head::Nothing => {}
                    Head::Count => out.extend(count(items.len())?.to_be_bytes()),
                    Head::Flag => out.push(u8::from(!items.is_empty())),
                }
                item.append_all(items, out)?;
            }
            Self::Fixed { size, item } => item.append_all(row * size..(row + 1) * size, out)?,
            Self::Triangle { offsets, sides, item } => {
                let all = span(offsets, row).ok_or_else(changed)?;
                let side = sides.get(row).and_then(|side| usize::try_from(*side).ok()).ok_or_else(changed)?;
                for at in 0..side {
                    let begin = all.start + at * side;
                    item.append_all(begin + at..begin + side, out)?;
                }
            }
            Self::Record(fields) => fields.iter().try_for_each(|field| field.append(row, out))?,
            Self::Framed { version, of, .. } => frame(*version, out, |out| of.append(row, out))?,
            Self::Pointer { index, tags, classes } => {
                let Ok(object) = usize::try_from(*index.get(row).ok_or_else(changed)?) else {
                    out.extend([0; 4]);
                    return Ok(());
                };
                let (class, row) = match tags {
                    None => (0, object),
                    Some((tags, index)) => {
                        let tag = tags.get(object).and_then(|tag| usize::try_from(*tag).ok());
                        let row = index.get(object).and_then(|row| usize::try_from(*row).ok());
                        tag.zip(row).ok_or_else(changed)?
                    }
                };
                let (name, node) = classes.get(class).ok_or_else(changed)?;
                frame(Version::None, out, |out| {
                    out.extend(NEW_CLASS.to_be_bytes());
                    out.extend_from_slice(name.as_bytes());
                    out.push(0);
                    node.append(row, out)
                })?;
            }
            Self::Flagged(of) => {
                out.push(1);
                of.append(row, out)?;
            }
        }
        Ok(())
    }

    /// Appends rows that stand together.
    fn append_all(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Numbers { width, .. } => self.numbers(rows, *width, out),
            item => rows.into_iter().try_for_each(|row| item.append(row, out)),
        }
    }

    fn numbers(&self, rows: Range<usize>, width: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self::Numbers { bytes, wire, .. } = self else { return Ok(()) };
        let bytes = bytes
            .get(rows.start.saturating_mul(width)..rows.end.saturating_mul(width))
            .ok_or_else(changed)?;
        let reals = |put: &mut dyn FnMut(f64)| match width {
            4 => bytes.as_chunks().0.iter().for_each(|x| put(f32::from_ne_bytes(*x).into())),
            _ => bytes.as_chunks().0.iter().for_each(|x| put(f64::from_ne_bytes(*x))),
        };
        match *wire {
            Encoding::Bool | Encoding::StrictBool => {
                out.extend(bytes.iter().map(|byte| u8::from(*byte != 0)))
            }
            Encoding::Big(_) => match width {
                1 => out.extend_from_slice(bytes),
                2 => {
                    bytes.as_chunks().0.iter().for_each(|x| out.extend(u16::from_ne_bytes(*x).to_be_bytes()))
                }
                4 => {
                    bytes.as_chunks().0.iter().for_each(|x| out.extend(u32::from_ne_bytes(*x).to_be_bytes()))
                }
                _ => {
                    bytes.as_chunks().0.iter().for_each(|x| out.extend(u64::from_ne_bytes(*x).to_be_bytes()))
                }
            },
            Encoding::Widened => reals(&mut |value| out.extend((value as f32).to_be_bytes())),
            Encoding::Scaled { .. } | Encoding::Truncated { .. } => {
                let packing = packing(*wire).ok_or_else(changed)?;
                reals(&mut |value| packing.append(value, |bytes| out.extend_from_slice(bytes)));
            }
            _ => return Err(changed()),
        }
        Ok(())
    }
}

/// How numbers are packed whose way of packing is known by what it takes to unpack them: beyond a range's end
/// are as many steps more as there is room for.
#[must_use]
pub fn packing(wire: Encoding) -> Option<Packing> {
    match wire {
        Encoding::Scaled { factor, min, .. } => {
            Some(Packing::Range { min, max: min + f64::from(u32::MAX) / factor, factor })
        }
        Encoding::Truncated { bits, .. } => Some(Packing::Mantissa { bits: bits.into() }),
        _ => None,
    }
}

const fn can_write(wire: Encoding) -> bool {
    matches!(
        wire,
        Encoding::Big(_)
            | Encoding::Bool
            | Encoding::StrictBool
            | Encoding::Widened
            | Encoding::Scaled { .. }
            | Encoding::Truncated { .. }
    )
}

/// Writes what stands in a frame.
fn frame(version: Version, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let begin = out.len();
    out.extend([0; 4]);
    match version {
        Version::None => {}
        Version::Number(version) => out.extend(version.to_be_bytes()),
        Version::Checksum(sum) => {
            out.extend([0; 2]);
            out.extend(sum.to_be_bytes());
        }
    }
    body(out)?;
    let length = out.len() - begin - 4;
    let counted = u32::try_from(length).ok().filter(|length| *length < BYTE_COUNT);
    let counted = counted
        .ok_or_else(|| Error::unsupported(format!("an object of {length} bytes: byte counts end at 1 GB")))?;
    out[begin..begin + 4].copy_from_slice(&(BYTE_COUNT | counted).to_be_bytes());
    Ok(())
}

/// The version in a frame, and what follows it.
fn framed<'l>(layout: &'l Layout, file: &Layouts) -> Result<(Version, &'l Layout)> {
    let Layout::Framed { of, .. } = layout else { return Err(refused(layout)) };
    let Layout::Versioned(arms) = &**of else { return Ok((Version::None, of)) };
    let Some((when, of)) = arms.first() else { return Err(refused(layout)) };
    let name = if let Layout::Record { name, .. } = of { name.as_deref() } else { None };
    let version = match *when {
        When::Any => Version::Number(CONTAINER),
        // ROOT finds classes that have no version of their own, which count as version 1, by their checksum.
        When::Class(1, sum) if name.is_none_or(|name| described_class(name).is_none()) => {
            Version::Checksum(sum)
        }
        When::Class(version, _) | When::Version(version) => Version::Number(version),
        When::Checksum(sum) => Version::Checksum(sum),
        When::AnyClass => match name.map(|name| described(name, file)).transpose()?.flatten() {
            Some(info) if info.version != 1 || info.checksum == 0 => {
                Version::Number(u16::try_from(info.version).map_err(|_| refused(layout))?)
            }
            Some(info) => Version::Checksum(info.checksum),
            None => return Err(refused(layout)),
        },
        When::Together => return Err(refused(layout)),
    };
    Ok((version, of))
}

/// What the file says of a class: a pair may be spelled in another way there.
fn described(class: &str, file: &Layouts) -> Result<Option<Arc<StreamerInfo>>> {
    let streamers = file.streamers();
    match streamers.spelled(&CppType::parse(class)) {
        Some(name) => streamers.latest(name),
        None => streamers.latest(class),
    }
}

/// The classes of a pointer that can be delivered.
fn readable(layout: &Layout) -> &[(String, Layout)] {
    let Layout::Pointer(classes) = layout else { return &[] };
    let refused = classes.iter().position(|(_, class)| matches!(class, Layout::Refused(_)));
    &classes[..refused.unwrap_or(classes.len())]
}

/// The number of rows that an index names.
fn most<'i>(index: impl Iterator<Item = &'i i64>) -> u64 {
    index.copied().max().map_or(0, |last| u64::try_from(last).map_or(0, |last| last + 1))
}

/// What is stored by itself also where other members of many items stand together.
fn apart(layout: &Layout) -> &Layout {
    match layout {
        Layout::Between(before, of, behind) if before.is_empty() && behind.is_empty() => of,
        other => other,
    }
}

const fn is_constant(layout: &Layout) -> bool {
    matches!(layout, Layout::Constant(..))
}

/// The length of arrays that have one, and what they hold.
fn inner(form: &Form) -> Option<(u64, Cow<'_, Form>)> {
    match form {
        Form::Regular { size, content } => Some((*size, Cow::Borrowed(content))),
        Form::Numpy { key, dtype, shape } => {
            let (size, rest) = shape.split_first()?;
            let inner = Form::Numpy { key: key.clone(), dtype: *dtype, shape: rest.to_vec() };
            Some((*size, Cow::Owned(inner)))
        }
        _ => None,
    }
}

fn span(offsets: &[i64], row: usize) -> Option<Range<usize>> {
    let [from, end] = *offsets.get(row..row + 2)? else { return None };
    let (from, end) = (usize::try_from(from).ok()?, usize::try_from(end).ok()?);
    (from <= end).then_some(from..end)
}

fn count(items: usize) -> Result<u32> {
    let counted = i32::try_from(items).map(i32::cast_unsigned);
    counted.map_err(|_| Error::unsupported(format!("a list of {items} items, which ROOT counts in 31 bits")))
}

fn whole(column: &Column, row: usize) -> Option<i64> {
    Some(match column.dtype() {
        DType::Int8 => column.item::<i8>(row)?.into(),
        DType::Int16 => column.item::<i16>(row)?.into(),
        DType::Int32 => column.item::<i32>(row)?.into(),
        DType::Int64 => column.item::<i64>(row)?,
        DType::UInt8 | DType::Bool => column.item::<u8>(row)?.into(),
        DType::UInt16 => column.item::<u16>(row)?.into(),
        DType::UInt32 => column.item::<u32>(row)?.into(),
        DType::UInt64 => i64::try_from(column.item::<u64>(row)?).ok()?,
        DType::Float32 | DType::Float64 => return None,
    })
}

fn refused(layout: &Layout) -> Error {
    Error::unsupported(format!("writing {}", phrase(layout)))
}

/// Memory that others changed, or a Form that is not the array's.
fn changed() -> Error {
    Error::invalid("columns that are not what their Form says")
}

fn phrase(layout: &Layout) -> Cow<'static, str> {
    match layout {
        Layout::Pointer(_) => "a pointer to an object".into(),
        Layout::OneClass { .. } => "an array that names the class of its items (TClonesArray)".into(),
        Layout::Versioned(_) | Layout::Framed { .. } => "a class whose version is not described".into(),
        Layout::Skipped(_) | Layout::Blank => "a base that the file does not describe".into(),
        Layout::Computed(..) => "a reference to an object, or a number that is computed".into(),
        Layout::Between(before, ..) if matches!(before.first(), Some(Layout::Given(..))) => {
            "arrays in items, which a member beside them counts".into()
        }
        Layout::Between(..) => "a collection of pointers, or what has a streamer of its own".into(),
        Layout::Counted { .. } => "an array that a member of another object counts".into(),
        Layout::Unknown(class) => {
            format!("an object of class {class}, which the file does not describe").into()
        }
        Layout::Refused(why) => format!("an object of {why}").into(),
        Layout::Number(wire) | Layout::Mixed(wire, _) => format!("numbers of {}", wire.dtype().name()).into(),
        Layout::Text | Layout::LongText => "text".into(),
        Layout::List(_) => "lists".into(),
        Layout::Fixed(size, _) => format!("arrays of {size}").into(),
        Layout::Record { name, .. } => name.as_ref().map_or("a record".into(), |name| name.clone().into()),
        _ => "something that is stepped over".into(),
    }
}

/// The version that stands before the items of a container.
const CONTAINER: u16 = 10;
/// A new `TObject`: its version, no id, and the bits `kIsOnHeap` and `kNotDeleted`.
const TOBJECT: [u8; 10] = [0, 1, 0, 0, 0, 0, 3, 0, 0, 0];
