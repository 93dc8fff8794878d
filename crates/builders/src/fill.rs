//! The sink that both kinds of columns are: of a type that is known, and of one that is found out.

use crate::form::{Primitive, Unit};
use crate::growth::{extend, push};
use crate::sink::{Items, Shape};
use crate::table::{Columns, Found, Nodes};
use crate::{BuildError, Fault, Leaf, Open, Sink, Slot};

/// A table of columns, and what it does where a value is of another type.
pub(crate) trait Filled {
    fn nodes(&self) -> &Nodes;
    fn nodes_mut(&mut self) -> &mut Nodes;
    /// The node in a place that takes a value.
    fn find(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError>;
    /// A null, if the place may have one.
    fn null(&mut self, at: u32) -> Result<bool, BuildError>;
    /// The place of a field that a record has not had so far, and whether the number was learnt for it.
    fn absent(&mut self, record: u32, name: &str, token: usize) -> Result<(u32, bool), BuildError>;
    /// As [`Sink::candidates`].
    fn alternatives(&self, _at: u32, _found: Found<'_>) -> usize {
        1
    }
    /// As [`Sink::choose`].
    fn prefer(&mut self, _nth: usize) {}
}

/// Writes one value; on an error nothing is changed.
#[inline(never)]
fn put<T: Filled>(
    this: &mut T,
    at: Slot,
    found: Found<'_>,
    mut write: impl FnMut(&mut Columns) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let done = match this.nodes().nearest(at.0, found) {
        Some((tag, content)) => this.nodes_mut().put_nearest(at.0, tag, content, write),
        None => {
            let node = this.find(at.0, found)?;
            this.nodes_mut().put(at.0, node, &mut write)
        }
    };
    if done.is_err() {
        // What is around the value notes it last, so that the place has not grown yet.
        let nodes = this.nodes_mut();
        nodes.truncate(at.0, nodes.len(at.0));
    }
    done
}

fn open<T: Filled>(this: &mut T, at: Slot, found: Found<'_>) -> Result<Open, BuildError> {
    Ok(Open { slot: at, node: this.find(at.0, found)?, next: 0 })
}

/// Completes what was begun.
fn complete(
    nodes: &mut Nodes,
    open: &Open,
    mut lengthen: impl FnMut(&mut Columns) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    if open.slot.0 == open.node {
        lengthen(nodes.at_mut(open.node))
    } else {
        nodes.put(open.slot.0, open.node, &mut lengthen)
    }
}

/// Ends a record or tuple: fills what has no value, if it may be null, and refuses what has several.
fn close<T: Filled>(this: &mut T, open: &Open) -> Result<(), BuildError> {
    let Some(record) = this.nodes().record(open.node) else { return Ok(()) }; // never
    let (count, length, is_tuple) = (record.fields.len(), record.length, record.is_tuple);
    for index in 0..count {
        let Some(record) = this.nodes().record(open.node) else { return Ok(()) }; // never
        let content = record.fields[index].content;
        let filled = this.nodes().len(content);
        if filled == length + 1 {
            continue;
        }
        let name = record.fields[index].name.clone();
        if filled > length {
            let twice = if is_tuple { Fault::SlotTwice { index } } else { Fault::FieldTwice { name } };
            return Err(twice.into());
        }
        if !this.null(content)? {
            let name = if is_tuple { index.to_string().into() } else { name };
            return Err(Fault::Missing { name }.into());
        }
    }
    complete(this.nodes_mut(), open, |columns| {
        if let Columns::Record(record) = columns {
            record.length += 1;
        }
        Ok(())
    })
}

impl<T: Filled> Sink for T {
    fn len_at(&self, at: Slot) -> usize {
        self.nodes().len(at.0)
    }

    fn truncate_at(&mut self, at: Slot, len: usize) {
        self.nodes_mut().truncate(at.0, len);
    }

    #[inline]
    fn put_null(&mut self, at: Slot) -> Result<(), BuildError> {
        if self.null(at.0)? { Ok(()) } else { Err(self.nodes().refuse(at.0, Found::Null)) }
    }

    #[inline]
    fn put_boolean(&mut self, at: Slot, x: bool) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Boolean(items) => push(items, x.into()),
            _ => put(self, at, Found::Boolean, |columns| match columns {
                Columns::Boolean(items) => push(items, x.into()),
                _ => Ok(()), // never
            }),
        }
    }

    #[inline]
    fn put_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Int64(items) => push(items, x),
            Columns::Float64(items) => push(items, x as f64),
            columns => match columns.range() {
                Some((low, high)) if low <= x && u64::try_from(x).is_ok_and(|x| x <= high) | (x < 0) => {
                    columns.write_integer(x)
                }
                _ => put(self, at, Found::Integer(x), |columns| columns.write_integer(x)),
            },
        }
    }

    fn put_unsigned(&mut self, at: Slot, x: u64) -> Result<(), BuildError> {
        match i64::try_from(x) {
            Ok(x) => self.put_integer(at, x),
            Err(_) => put(self, at, Found::Unsigned(x), |columns| columns.write_unsigned(x)),
        }
    }

    fn put_huge(&mut self, at: Slot) -> Result<(), BuildError> {
        self.find(at.0, Found::Huge).map(drop)
    }

    #[inline]
    fn put_real(&mut self, at: Slot, x: f64) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Float64(items) => push(items, x),
            Columns::Float32(items) => push(items, x as f32),
            _ => put(self, at, Found::Real, |columns| columns.write_real(x)),
        }
    }

    fn put_complex(&mut self, at: Slot, x: [f64; 2]) -> Result<(), BuildError> {
        put(self, at, Found::Complex, |columns| columns.write_complex(x))
    }

    fn put_time(&mut self, at: Slot, x: i64, unit: &str) -> Result<(), BuildError> {
        let (date, from) = match Primitive::from_name(unit) {
            Some(Primitive::Datetime64(from)) => (true, from),
            Some(Primitive::Timedelta64(from)) => (false, from),
            _ if unit == "datetime64" => (true, Unit::NONE),
            _ if unit == "timedelta64" => (false, Unit::NONE),
            _ => return Err(Fault::NoElement { found: unit.into() }.into()),
        };
        let mut converted = Some(x);
        let done = put(self, at, Found::Time { date, unit: from }, |columns| match columns {
            Columns::Time { unit: to, items, .. } => {
                converted = from.convert(x, *to, date);
                converted.map_or_else(|| Err(Fault::Deep.into()), |x| push(items, x)) // replaced below
            }
            _ => Ok(()), // never
        });
        done.map_err(|refused| match converted {
            Some(_) => refused,
            None => {
                let expected = self.nodes().expected(at.0).into();
                Fault::Expected { expected, found: format!("{x} as {unit}").into() }.into()
            }
        })
    }

    #[inline]
    fn put_text(&mut self, at: Slot, x: &[u8], binary: bool) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            columns @ Columns::Text { .. } if columns.is_text(binary) => columns.write_text(x),
            _ => put(self, at, Found::Text { binary, bytes: x.len() }, |columns| columns.write_text(x)),
        }
    }

    fn put_integers(&mut self, at: Slot, more: &[i64]) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Int64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_integer(at, *x)),
        }
    }

    fn put_reals(&mut self, at: Slot, more: &[f64]) -> Result<(), BuildError> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Float64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_real(at, *x)),
        }
    }

    fn leaf_at(&mut self, at: Slot) -> Leaf<'_> {
        match self.nodes_mut().at_mut(at.0) {
            Columns::Boolean(items) => Leaf::Boolean(Items(items)),
            Columns::Int64(items) => Leaf::Integer(Items(items)),
            Columns::Float64(items) => Leaf::Real(Items(items)),
            _ => Leaf::Other,
        }
    }

    fn candidates(&self, at: Slot, shape: Shape) -> usize {
        let found = match shape {
            Shape::List => Found::List,
            Shape::Tuple(size) => Found::Tuple(size),
            Shape::Record => Found::Record(None),
        };
        match self.nodes().at(at.0) {
            Columns::Indexed { .. } | Columns::Union { .. } => self.alternatives(at.0, found),
            _ => 1,
        }
    }

    fn choose(&mut self, nth: usize) {
        self.prefer(nth);
    }

    #[inline]
    fn open_list(&mut self, at: Slot) -> Result<(Open, Slot), BuildError> {
        if let Columns::List { content, .. } = *self.nodes().at(at.0) {
            return Ok((Open { slot: at, node: at.0, next: 0 }, Slot(content)));
        }
        let open = open(self, at, Found::List)?;
        match *self.nodes().at(open.node) {
            Columns::List { content, .. } | Columns::Regular { content, .. } => Ok((open, Slot(content))),
            _ => Ok((open, at)), // never
        }
    }

    #[inline]
    fn close_list(&mut self, open: Open) -> Result<(), BuildError> {
        let nodes = self.nodes_mut();
        match *nodes.at(open.node) {
            Columns::List { content, .. } => {
                let end = nodes.len(content) as i64;
                complete(nodes, &open, |columns| match columns {
                    Columns::List { offsets, .. } => push(offsets, end),
                    _ => Ok(()), // never
                })
            }
            Columns::Regular { size, length, content, .. } => {
                let found = nodes.len(content) - size * length;
                if found != size {
                    return Err(Fault::Length { expected: size as u64, found: found as u64 }.into());
                }
                complete(nodes, &open, |columns| {
                    if let Columns::Regular { length, .. } = columns {
                        *length += 1;
                    }
                    Ok(())
                })
            }
            _ => Ok(()), // never
        }
    }

    fn open_tuple(&mut self, at: Slot, size: usize) -> Result<Open, BuildError> {
        open(self, at, Found::Tuple(size))
    }

    #[inline]
    fn slot_of(&mut self, open: &Open, index: usize) -> Slot {
        match self.nodes().at(open.node) {
            Columns::Record(record) => Slot(record.fields[index].content),
            Columns::List { content, .. } | Columns::Regular { content, .. } => Slot(*content),
            _ => open.slot, // never
        }
    }

    fn close_tuple(&mut self, open: Open) -> Result<(), BuildError> {
        match self.nodes().record(open.node) {
            Some(_) => close(self, &open),
            None => self.close_list(open),
        }
    }

    #[inline]
    fn open_record(&mut self, at: Slot, name: Option<&str>) -> Result<Open, BuildError> {
        match self.nodes().record(at.0) {
            Some(record) if !record.is_tuple && name.is_none_or(|name| *record.name == *name) => {
                Ok(Open { slot: at, node: at.0, next: 0 })
            }
            _ => open(self, at, Found::Record(name)),
        }
    }

    #[inline]
    fn known_field(&mut self, open: &mut Open, token: usize) -> Option<Slot> {
        let record = self.nodes().record(open.node)?;
        let at = record.known(open.next as usize, token)?;
        open.next = at as u32 + 1;
        Some(Slot(record.fields[at].content))
    }

    fn field_of(&mut self, open: &mut Open, name: &str, token: usize) -> Result<(Slot, bool), BuildError> {
        let Columns::Record(record) = self.nodes_mut().at_mut(open.node) else {
            return Ok((open.slot, false)); // never
        };
        let Some(at) = record.find(open.next as usize, name) else {
            let next = record.fields.len() as u32 + 1; // no more than there are columns
            let (content, learnt) = self.absent(open.node, name, token)?;
            open.next = next;
            return Ok((Slot(content), learnt));
        };
        open.next = at as u32 + 1;
        Ok((Slot(record.fields[at].content), record.learn(at, token)))
    }

    fn close_record(&mut self, open: Open) -> Result<(), BuildError> {
        close(self, &open)
    }
}
