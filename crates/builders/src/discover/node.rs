//! The types found so far at each place, and its columns.

use crate::growth::{collect, push};
use crate::{BuildError, Fault, MOST_COLUMNS};
use std::collections::HashMap;

/// A place or an alternative of one. All of them lie in one table and name each other by number, so that
/// finding out more about a place changes an entry of the table and nothing else has to change.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Nothing but nulls so far.
    Unknown {
        nulls: usize,
    },
    Boolean(Vec<u8>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Complex(Vec<[f64; 2]>),
    /// The unit as NumPy writes the type: `datetime64[us]`.
    Time {
        unit: Box<str>,
        items: Vec<i64>,
    },
    Text {
        binary: bool,
        offsets: Vec<i64>,
        bytes: Vec<u8>,
    },
    List {
        offsets: Vec<i64>,
        content: u32,
    },
    Tuple {
        contents: Box<[u32]>,
        length: usize,
    },
    Record(Box<Record>),
    /// Around anything but an option.
    Option {
        index: Vec<i64>,
        content: u32,
    },
    /// Of anything but unknowns, options and unions.
    Union {
        tags: Vec<i8>,
        index: Vec<i64>,
        contents: Vec<u32>,
    },
}

/// Fields in the order in which they were seen first.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Empty for none.
    pub(super) name: Box<str>,
    pub(super) fields: Vec<Field>,
    pub(super) length: usize,
    /// Fields by name, once there are enough of them for a search to take time.
    by_name: HashMap<Box<str>, u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) content: u32,
    /// The number that stands for the name; 0 for none.
    token: usize,
}

impl Record {
    /// The field by the number of its name; the one at `next` is tried first.
    #[inline]
    pub(super) fn known(&self, next: usize, token: usize) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if field.token == token => Some(next),
            _ if self.fields.len() > FEW => None,
            _ => self.fields.iter().position(|field| field.token == token),
        }
    }

    /// The field by its name, and whether the number now stands for it.
    pub(super) fn find(&mut self, next: usize, name: &str, token: usize) -> Option<(usize, bool)> {
        let at = match self.fields.get(next) {
            Some(field) if *field.name == *name => next,
            _ if self.fields.len() > FEW => *self.by_name.get(name)? as usize,
            _ => self.fields.iter().position(|field| *field.name == *name)?,
        };
        let field = &mut self.fields[at];
        let learns = token != 0 && field.token == 0;
        if learns {
            field.token = token;
        }
        Some((at, learns))
    }

    pub(super) fn add(&mut self, name: &str, token: usize, content: u32) -> Result<(), BuildError> {
        push(&mut self.fields, Field { name: name.into(), content, token })?;
        if self.fields.len() > FEW {
            let from = self.by_name.len();
            for (at, field) in self.fields.iter().enumerate().skip(from) {
                self.by_name.insert(field.name.clone(), at as u32); // no more than there are columns
            }
        }
        Ok(())
    }
}

/// Fields that are found by looking at each.
const FEW: usize = 16;

/// The kind of place that a value needs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want<'a> {
    Boolean,
    Integer,
    Real,
    Complex,
    Time(&'a str),
    Text {
        binary: bool,
    },
    List,
    Tuple(usize),
    /// `None` takes any record, as a name that is not given says nothing.
    Record(Option<&'a str>),
}

impl Want<'_> {
    /// An empty column for it, with new places for its slots.
    fn fresh(self, nodes: &mut Nodes) -> Result<Node, BuildError> {
        Ok(match self {
            Self::Boolean => Node::Boolean(Vec::new()),
            Self::Integer => Node::Integer(Vec::new()),
            Self::Real => Node::Real(Vec::new()),
            Self::Complex => Node::Complex(Vec::new()),
            Self::Time(unit) => Node::Time { unit: unit.into(), items: Vec::new() },
            Self::Text { binary } => Node::Text { binary, offsets: vec![0], bytes: Vec::new() },
            Self::List => Node::List { offsets: vec![0], content: nodes.add(Node::Unknown { nulls: 0 })? },
            Self::Tuple(size) => {
                nodes.room(size)?;
                let contents = (0..size).map(|_| nodes.add(Node::Unknown { nulls: 0 }));
                Node::Tuple { contents: contents.collect::<Result<_, _>>()?, length: 0 }
            }
            Self::Record(name) => {
                Node::Record(Box::new(Record { name: name.unwrap_or_default().into(), ..Record::default() }))
            }
        })
    }

    /// Whether a place that holds nothing else takes the value, perhaps after widening. Text of either kind
    /// goes where text is.
    fn suits_alone(self, node: &Node) -> bool {
        match (self, node) {
            (Self::Integer | Self::Real | Self::Complex, node) => {
                matches!(node, Node::Integer(_) | Node::Real(_) | Node::Complex(_))
            }
            (Self::Text { .. }, node) => matches!(node, Node::Text { .. }),
            (want, node) => want.suits(node),
        }
    }

    /// Whether it is the alternative of a union that takes the value as it is.
    fn suits(self, node: &Node) -> bool {
        match (self, node) {
            (Self::Boolean, Node::Boolean(_))
            | (Self::Integer, Node::Integer(_))
            | (Self::Real, Node::Real(_))
            | (Self::Complex, Node::Complex(_))
            | (Self::List, Node::List { .. })
            | (Self::Record(None), Node::Record(_)) => true,
            (Self::Time(wanted), Node::Time { unit, .. }) => *wanted == **unit,
            (Self::Text { binary: wanted }, Node::Text { binary, .. }) => wanted == *binary,
            (Self::Tuple(size), Node::Tuple { contents, .. }) => size == contents.len(),
            (Self::Record(Some(wanted)), Node::Record(record)) => *wanted == *record.name,
            _ => false,
        }
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    /// One place of which nothing is known: number 0.
    pub(super) fn new() -> Self {
        Self(vec![Node::Unknown { nulls: 0 }])
    }

    #[inline]
    pub(super) fn at(&self, node: u32) -> &Node {
        &self.0[node as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: u32) -> &mut Node {
        &mut self.0[node as usize]
    }

    /// Refuses if `more` entries have no place.
    fn room(&mut self, more: usize) -> Result<(), BuildError> {
        match self.0.len().checked_add(more) {
            Some(all) if all <= MOST_COLUMNS => Ok(()),
            _ => Err(Fault::Columns.into()),
        }
    }

    pub(super) fn add(&mut self, node: Node) -> Result<u32, BuildError> {
        self.room(1)?;
        let number = self.0.len() as u32; // the most is far less
        push(&mut self.0, node)?;
        Ok(number)
    }

    /// Finished values.
    pub(super) fn len(&self, node: u32) -> usize {
        match self.at(node) {
            Node::Unknown { nulls } => *nulls,
            Node::Boolean(items) => items.len(),
            Node::Integer(items) => items.len(),
            Node::Real(items) => items.len(),
            Node::Complex(items) => items.len(),
            Node::Time { items, .. } => items.len(),
            Node::Text { offsets, .. } | Node::List { offsets, .. } => offsets.len() - 1,
            Node::Tuple { length, .. } => *length,
            Node::Record(record) => record.length,
            Node::Option { index, .. } => index.len(),
            Node::Union { tags, .. } => tags.len(),
        }
    }

    /// The columns that take the value, made or widened where need be, after noting in the option and the
    /// union around them that one more is coming. For lists, records and tuples nothing is noted before they
    /// end: see [`finish`](Self::finish).
    pub(super) fn place(&mut self, at: u32, want: Want<'_>) -> Result<u32, BuildError> {
        match self.at_mut(at) {
            Node::Unknown { nulls: 0 } => {
                *self.at_mut(at) = want.fresh(self)?;
                Ok(at)
            }
            Node::Unknown { nulls } => {
                let index = collect(std::iter::repeat_n(-1, *nulls))?;
                let fresh = want.fresh(self)?;
                let content = self.add(fresh)?;
                *self.at_mut(at) = Node::Option { index, content };
                self.place(at, want)
            }
            Node::Option { content, .. } => {
                let content = *content;
                let placed = self.place(content, want)?;
                // A union has noted it already.
                let union = matches!(self.at(content), Node::Union { .. });
                let row = self.len(content) as i64 - i64::from(union && want.is_leaf());
                if want.is_leaf()
                    && let Node::Option { index, .. } = self.at_mut(at)
                {
                    push(index, row)?;
                }
                Ok(placed)
            }
            Node::Union { .. } => {
                let (tag, alternative) = self.alternative(at, want)?;
                let row = self.len(alternative) as i64;
                if want.is_leaf()
                    && let Node::Union { tags, index, .. } = self.at_mut(at)
                {
                    push(index, row)?;
                    push(tags, tag)?;
                }
                Ok(alternative)
            }
            node if want.suits_alone(node) => {
                widen(node, want)?;
                Ok(at)
            }
            _ => {
                let length = self.len(at);
                let tags = collect(std::iter::repeat_n(0, length))?;
                let index = rows(length)?;
                let only = self.shift(at)?;
                *self.at_mut(at) = Node::Union { tags, index, contents: vec![only] };
                self.place(at, want)
            }
        }
    }

    /// A null.
    pub(super) fn null(&mut self, at: u32) -> Result<(), BuildError> {
        match self.at_mut(at) {
            Node::Unknown { nulls } => *nulls += 1,
            Node::Option { index, .. } => push(index, -1)?,
            _ => {
                let mut index = rows(self.len(at))?;
                push(&mut index, -1)?;
                let content = self.shift(at)?;
                *self.at_mut(at) = Node::Option { index, content };
            }
        }
        Ok(())
    }

    /// Notes that a list, record or tuple of the place is complete, before its own length grows.
    pub(super) fn finish(&mut self, at: u32, node: u32) -> Result<(), BuildError> {
        let mut place = at;
        if let Node::Option { content, .. } = self.at(at) {
            place = *content;
            let row = self.len(place) as i64;
            if let Node::Option { index, .. } = self.at_mut(at) {
                push(index, row)?;
            }
        }
        let row = self.len(node) as i64;
        if let Node::Union { tags, index, contents } = self.at_mut(place) {
            // It was begun as one of them.
            let tag = contents.iter().position(|content| *content == node).unwrap_or(0);
            push(index, row)?;
            push(tags, tag as i8)?;
        }
        Ok(())
    }

    /// Takes everything after the first `length` values back, unfinished ones included.
    pub(super) fn truncate(&mut self, node: u32, length: usize) {
        let inner: Vec<(u32, usize)> = match self.at_mut(node) {
            Node::Unknown { nulls } => {
                *nulls = length.min(*nulls);
                Vec::new()
            }
            Node::Boolean(items) => cut(items, length),
            Node::Integer(items) => cut(items, length),
            Node::Real(items) => cut(items, length),
            Node::Complex(items) => cut(items, length),
            Node::Time { items, .. } => cut(items, length),
            Node::Text { offsets, bytes, .. } => {
                offsets.truncate(length.saturating_add(1));
                cut(bytes, end(offsets))
            }
            Node::List { offsets, content } => {
                offsets.truncate(length.saturating_add(1));
                vec![(*content, end(offsets))]
            }
            Node::Tuple { contents, length: all } => {
                *all = length.min(*all);
                contents.iter().map(|content| (*content, *all)).collect()
            }
            Node::Record(record) => {
                record.length = length.min(record.length);
                record.fields.iter().map(|field| (field.content, record.length)).collect()
            }
            Node::Option { index, content } => {
                index.truncate(length);
                vec![(*content, valid(index))]
            }
            Node::Union { tags, index, contents } => {
                tags.truncate(length);
                index.truncate(length);
                let rows = alternatives(tags, index, contents.len());
                contents.iter().copied().zip(rows).collect()
            }
        };
        for (content, length) in inner {
            self.truncate(content, length);
        }
    }

    /// Moves a place's entry elsewhere; something else is put there next.
    fn shift(&mut self, at: u32) -> Result<u32, BuildError> {
        self.room(1)?;
        let node = std::mem::replace(self.at_mut(at), Node::Unknown { nulls: 0 });
        self.add(node)
    }

    /// The alternative of a union that takes the value.
    fn alternative(&mut self, at: u32, want: Want<'_>) -> Result<(i8, u32), BuildError> {
        let Node::Union { contents, .. } = self.at(at) else { return Ok((0, at)) }; // never: the caller has looked
        let find =
            |suits: &dyn Fn(&Node) -> bool| contents.iter().position(|content| suits(self.at(*content)));
        let found = find(&|node| want.suits(node)).or_else(|| match want {
            // Narrower numbers are widened, the widest of them first.
            Want::Real => find(&|node| matches!(node, Node::Integer(_))),
            Want::Complex => find(&|node| matches!(node, Node::Real(_)))
                .or_else(|| find(&|node| matches!(node, Node::Integer(_)))),
            _ => None,
        });
        if let Some(tag) = found {
            let node = contents[tag];
            widen(self.at_mut(node), want)?;
            return Ok((tag as i8, node));
        }
        let tag = i8::try_from(contents.len()).map_err(|_| Fault::Alternatives)?;
        let fresh = want.fresh(self)?;
        let node = self.add(fresh)?;
        if let Node::Union { contents, .. } = self.at_mut(at) {
            contents.push(node);
        }
        Ok((tag, node))
    }
}

impl Want<'_> {
    /// Whether the value is complete at once.
    fn is_leaf(self) -> bool {
        !matches!(self, Self::List | Self::Tuple(_) | Self::Record(_))
    }
}

/// Makes real numbers of integers, or complex ones, if that is wanted.
fn widen(node: &mut Node, want: Want<'_>) -> Result<(), BuildError> {
    let wider = match (want, &*node) {
        (Want::Real, Node::Integer(items)) => Node::Real(collect(items.iter().map(|x| *x as f64))?),
        (Want::Complex, Node::Integer(items)) => {
            Node::Complex(collect(items.iter().map(|x| [*x as f64, 0.0]))?)
        }
        (Want::Complex, Node::Real(items)) => Node::Complex(collect(items.iter().map(|x| [*x, 0.0]))?),
        _ => return Ok(()),
    };
    *node = wider;
    Ok(())
}

/// 0, 1, 2 and so on.
fn rows(count: usize) -> Result<Vec<i64>, BuildError> {
    let mut next = -1;
    collect(std::iter::repeat_n((), count).map(|()| {
        next += 1;
        next
    }))
}

fn cut<T>(items: &mut Vec<T>, length: usize) -> Vec<(u32, usize)> {
    items.truncate(length);
    Vec::new()
}

/// The end of the last list.
pub(super) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Values that are not null, where their rows count up.
pub(super) fn valid(index: &[i64]) -> usize {
    index.iter().rev().find(|row| **row >= 0).map_or(0, |row| *row as usize + 1)
}

/// Values of each alternative, where their rows count up.
pub(super) fn alternatives(tags: &[i8], index: &[i64], count: usize) -> Vec<usize> {
    let mut rows = vec![0; count];
    for (tag, row) in tags.iter().zip(index) {
        rows[*tag as usize] = *row as usize + 1;
    }
    rows
}

impl Nodes {
    /// A place for a field that the first `length` records did not have.
    pub(super) fn fresh_field(&mut self, length: usize) -> Result<u32, BuildError> {
        self.room(2)?;
        let unknown = self.add(Node::Unknown { nulls: 0 })?;
        if length == 0 {
            return Ok(unknown);
        }
        let index = collect(std::iter::repeat_n(-1, length))?;
        self.add(Node::Option { index, content: unknown })
    }
}

/// Questions to lists, tuples and records, for callers that know the node is one.
impl Nodes {
    /// Slots of a tuple.
    pub(super) fn slots(&self, node: u32) -> usize {
        if let Node::Tuple { contents, .. } = self.at(node) { contents.len() } else { 0 }
    }

    pub(super) fn slot(&self, node: u32, slot: usize) -> Option<u32> {
        if let Node::Tuple { contents, .. } = self.at(node) { contents.get(slot).copied() } else { None }
    }

    /// The end of the last complete list.
    pub(super) fn last_end(&self, node: u32) -> usize {
        if let Node::List { offsets, .. } = self.at(node) { end(offsets) } else { 0 }
    }

    pub(super) fn field_name(&self, node: u32, at: usize) -> Option<&str> {
        let Node::Record(record) = self.at(node) else { return None };
        record.fields.get(at).map(|field| &*field.name)
    }
}
