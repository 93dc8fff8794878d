//! Columns to nodes: everything that is looked up, converted or refused before the first byte.

use crate::{
    EncodeError,
    fit::{DEEPEST, as_lists, bare, fit, place, same},
    node::Node,
    numbers,
    opaque::{decimals, opaque, resized},
    rows::Rows,
};
use forthwith_columns::{Array, Column, DType, Form, LogicalType, Lookup};
use forthwith_program::{Layout, Union};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

pub(crate) type Result<T> = std::result::Result<T, EncodeError>;

/// The most items of lists and texts whose count has 32 bits; elsewhere no more fit in memory.
const LONGEST: i64 = u32::MAX as i64;

pub(crate) struct Binder<'a> {
    pub(crate) columns: Lookup<'a>,
    depth: usize,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(array: &'a Array) -> Self {
        Self { columns: Lookup::of(array), depth: 0 }
    }

    /// `rows` are the rows of this node that others name, for which its columns have been found to be long
    /// enough.
    pub(crate) fn bind(
        &mut self,
        layout: &Layout,
        form: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(EncodeError::Deep { member: member.into() });
        }
        let node = self.node(layout, form, rows, member);
        self.depth -= 1;
        node
    }

    fn node(&mut self, layout: &Layout, form: &Form, rows: &Rows, member: &str) -> Result<Node<'a>> {
        let wrong = || wrong(layout, form, member);
        if let Some(lists) = as_lists(form) {
            return self.node(layout, &lists, rows, member);
        }
        Ok(match (layout, form) {
            // Of which there are no rows.
            (_, Form::Empty) => Node::Nothing,
            (Layout::Tagged(tagged), form) if !matches!(form, Form::Option { .. } | Form::Union { .. }) => {
                self.tagged(tagged, form, rows, member)?
            }
            (Layout::Logical(wanted, of), Form::Logical { meaning, content }) => {
                if !same(*wanted, *meaning) {
                    return Err(wrong());
                }
                match (meaning, &**content) {
                    (LogicalType::Decimal { .. }, Form::Numpy { key, dtype, shape }) if shape.is_empty() => {
                        let column = self.columns.column(key, "data", *dtype, rows.count())?;
                        let values = numbers::integers(column, rows, DType::Int64, member)?;
                        decimals(of, &values, rows, member)?.ok_or_else(wrong)?
                    }
                    (LogicalType::Decimal { .. }, Form::String { key, .. }) => match &**of {
                        Layout::Opaque(size) => {
                            let (offsets, bytes) = self.text(key, rows.count())?;
                            resized(*size, &offsets, bytes, rows, member)?
                        }
                        of => self.bind(of, content, rows, member)?,
                    },
                    (_, content) => self.bind(of, content, rows, member)?,
                }
            }
            (Layout::Constant(_, of), form) => self.bind(of, form, rows, member)?,
            // Alternatives that all are what is wanted.
            (layout, Form::Union { key, contents }) if !matches!(layout, Layout::Union(_)) => {
                self.arms(key, contents, rows, |this, content, rows| {
                    Ok((None, this.bind(layout, content, rows, member)?))
                })?
            }
            (Layout::Logical(_, of), form) if !matches!(form, Form::Option { .. }) => {
                self.bind(of, form, rows, member)?
            }
            (Layout::Union(union), form) => self.union(union, form, rows, member)?,
            (Layout::Null, Form::Option { key, .. }) => {
                let index = self.columns.integers(key, "index", rows.count())?;
                if rows.find(&index, |at| at >= 0).is_some() {
                    return Err(wrong());
                }
                Node::Nothing
            }
            (layout, Form::Option { key, content }) => {
                let index = self.columns.integers(key, "index", rows.count())?;
                if let Some(row) = rows.find(&index, |at| at < 0) {
                    return Err(EncodeError::Null { member: member.into(), row: row as u64 });
                }
                let value = self.bind(layout, content, &rows.named(&index), member)?;
                Node::Picked { index, value: Box::new(value) }
            }
            (Layout::Number(wire), Form::Logical { meaning: LogicalType::Half, content }) => {
                let Form::Numpy { key, dtype: DType::UInt16, shape } = &**content else {
                    return Err(wrong());
                };
                if !shape.is_empty() || !numbers::converts(DType::Float32, wire.dtype()) {
                    return Err(wrong());
                }
                let bits = self.columns.column(key, "data", DType::UInt16, rows.count())?;
                let bits = bits.items::<u16>().unwrap_or_default().iter().take(rows.count() as usize);
                let values = Column::from_vec(bits.map(|bits| LogicalType::half(*bits)).collect());
                let bytes = numbers::packed(&values, rows, *wire, member)?.into_owned();
                Node::Packed { width: wire.width(), bytes: bytes.into() }
            }
            // Their numbers without what they mean would be other values.
            (_, Form::Logical { meaning, content }) if bare(*meaning, content) => return Err(wrong()),
            (layout, Form::Logical { content, .. }) => self.bind(layout, content, rows, member)?,
            (Layout::Varint(wanted), Form::Numpy { key, dtype, shape })
                if shape.is_empty() && numbers::whole(*dtype) =>
            {
                let column = self.columns.column(key, "data", *dtype, rows.count())?;
                Node::Varint(numbers::integers(column, rows, *wanted, member)?)
            }
            (Layout::Leb128 { zigzag: true, dtype: wanted }, Form::Numpy { key, dtype, shape })
                if shape.is_empty() && numbers::whole(*dtype) =>
            {
                let column = self.columns.column(key, "data", *dtype, rows.count())?;
                Node::Varint(numbers::integers(column, rows, *wanted, member)?)
            }
            (Layout::Leb128 { dtype: wanted, .. }, Form::Numpy { key, dtype, shape })
                if shape.is_empty() && (numbers::whole(*dtype) || *dtype == DType::Bool) =>
            {
                Node::Leb128(self.leb128(*wanted, (key, *dtype), rows, member)?)
            }
            (Layout::Symbol { names, delivered }, form) => {
                self.symbols(names, *delivered, form, rows, member)?
            }
            (Layout::Number(wire), Form::Numpy { key, dtype, shape })
                if shape.is_empty() && numbers::converts(*dtype, wire.dtype()) =>
            {
                let column = self.columns.column(key, "data", *dtype, rows.count())?;
                let bytes = numbers::packed(column, rows, *wire, member)?;
                Node::Packed { width: wire.width(), bytes }
            }
            (Layout::Text | Layout::Bytes, Form::String { key, .. }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                refuse_long(&offsets, member)?;
                Node::Text { offsets, bytes: bytes.into() }
            }
            (Layout::Opaque(size), Form::String { key, .. }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                opaque(*size, &offsets, bytes, rows, form, member)?
            }
            (Layout::Enum { symbols, keep: None }, Form::String { key, binary: false }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                let numbers: HashMap<&[u8], i64> = symbols.iter().map(String::as_bytes).zip(0..).collect();
                let text = |row: usize| &bytes[offsets[row] as usize..offsets[row + 1] as usize];
                let number = |row| numbers.get(text(row)).copied();
                enumerated(symbols, number, text, rows, member)?
            }
            (Layout::Enum { symbols, keep: None }, Form::Categorical { key, categories }) => {
                let numbers: HashMap<&str, i64> = symbols.iter().map(String::as_str).zip(0..).collect();
                let known: Vec<Option<i64>> =
                    categories.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
                // They are within: the array has been validated.
                let index = self.numbers(key, rows.count())?;
                let number = |row: usize| known.get(index[row]).copied().flatten();
                let text = |row: usize| categories.get(index[row]).map_or(&b""[..], |name| name.as_bytes());
                enumerated(symbols, number, text, rows, member)?
            }
            (Layout::Text | Layout::Bytes, Form::Categorical { key, categories }) => {
                let (offsets, bytes) = self.text(key, categories.len() as u64)?;
                let index: Vec<i64> =
                    self.numbers(key, rows.count())?.into_iter().map(|at| at as i64).collect();
                Node::Picked {
                    index: index.into(),
                    value: Box::new(Node::Text { offsets, bytes: bytes.into() }),
                }
            }
            (Layout::List(item), Form::List { key, content }) => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                refuse_long(&offsets, member)?;
                let below = rows.inside(&offsets);
                let item = self.bind(item, content, &below, &format!("{member}[]"))?;
                Node::List { offsets, item: Box::new(item) }
            }
            (Layout::List(item), Form::Regular { size, content }) => {
                self.regular(*size, true, item, content, rows, member)?
            }
            (Layout::Fixed(wanted, item), Form::Regular { size, content }) if wanted == size => {
                self.regular(*size, false, item, content, rows, member)?
            }
            (Layout::Map(value), Form::List { key, content }) => {
                let Form::Record { contents, .. } = &**content else { return Err(wrong()) };
                let [name, content] = &contents[..] else { return Err(wrong()) };
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                refuse_long(&offsets, member)?;
                let below = rows.inside(&offsets);
                let name = self.bind(&Layout::Text, name, &below, &format!("{member}{{}}.key"))?;
                let value = self.bind(value, content, &below, &format!("{member}{{}}.value"))?;
                Node::List { offsets, item: Box::new(Node::Record(vec![name, value])) }
            }
            (
                Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
                Form::Record { fields: names, contents, .. },
            ) => {
                if let Some(extra) =
                    names.iter().flatten().find(|name| !fields.iter().any(|(field, _)| field == *name))
                {
                    return Err(EncodeError::Extra { member: member.into(), field: extra.clone() });
                }
                let mut nodes = Vec::with_capacity(fields.len());
                for (at, (field, layout)) in fields.iter().enumerate() {
                    let content = place(names.as_deref(), field, at).and_then(|at| contents.get(at));
                    let Some(content) = content else {
                        return Err(EncodeError::Missing { member: member.into(), field: field.clone() });
                    };
                    let member = if member.is_empty() { field.clone() } else { format!("{member}.{field}") };
                    nodes.push(self.bind(layout, content, rows, &member)?);
                }
                if contents.len() > fields.len() {
                    return Err(wrong());
                }
                Node::Record(nodes)
            }
            (
                Layout::Skipped(_)
                | Layout::Chosen { .. }
                | Layout::Recursive(_)
                | Layout::Recurse
                | Layout::Converted(..)
                | Layout::Enum { keep: Some(_), .. },
                _,
            ) => {
                let what = "a layout that differs from what is delivered".into();
                return Err(EncodeError::Unsupported { member: member.into(), what });
            }
            _ => return Err(wrong()),
        })
    }

    fn regular(
        &mut self,
        size: u64,
        counted: bool,
        item: &Layout,
        content: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let below = rows.times(size).ok_or_else(|| EncodeError::Deep { member: member.into() })?;
        let item = self.bind(item, content, &below, &format!("{member}[]"))?;
        Ok(Node::Regular { size, counted, item: Box::new(item) })
    }

    fn union(&mut self, union: &Union, form: &Form, rows: &Rows, member: &str) -> Result<Node<'a>> {
        match form {
            Form::Option { key, content } => {
                let index = self.columns.integers(key, "index", rows.count())?;
                let below = rows.named(&index);
                let null = union.alternatives.iter().position(|a| *a == Layout::Null);
                if null.is_none()
                    && let Some(row) = rows.find(&index, |at| at < 0)
                {
                    return Err(EncodeError::Null { member: member.into(), row: row as u64 });
                }
                let value = self.union(union, content, &below, member)?;
                // The value within names its own number.
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
                    // An option or a union among the alternatives: its rows have different numbers.
                    other => (None, other),
                })
            }),
            Form::Empty => Ok(Node::Tagged { tag: 0, value: Box::new(Node::Nothing) }),
            form => {
                let ranked = union.alternatives.iter().enumerate();
                let ranked = ranked.filter_map(|(at, layout)| Some((fit(layout, form, self.depth)?, at)));
                let mut ranked: Vec<_> = ranked.collect();
                ranked.sort_unstable();
                // An alternative that fits by its type may not by its values: the next one may.
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

    /// The alternatives of a union, each bound as `bind` says.
    fn arms(
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
            // Tags and indexes are as they should be: the array has been validated.
            let own = |(tag, at): (&i8, &i64)| if *tag as usize == number { *at } else { -1 };
            arms.push(bind(self, content, &rows.named_by(tags.iter().zip(index.iter()).map(own)))?);
        }
        Ok(Node::Union { tags: tags.into(), index, arms })
    }

    /// Byte strings of which each goes to the first alternative that can be it: symbols of several enums,
    /// lengths of several fixed. None if there are others, or one that none can be.
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
            let Some((at, pair)) = at.and_then(|at| Some((at, offsets.get(at..at + 2)?))) else {
                return Ok(None);
            };
            let text = &bytes[pair[0] as usize..pair[1] as usize];
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
                Sorted::Any => Node::Text { offsets: offsets.clone(), bytes: bytes.into() },
                Sorted::Sized(size, bytes) => Node::Packed { width: size as usize, bytes: bytes.into() },
                Sorted::Named(_, numbers) => Node::Varint(numbers.into()),
            };
            (Some(*tag as i64), node)
        });
        let arms = arms.collect();
        Ok(Some(Node::Union { tags: tags.into(), index: index.into(), arms }))
    }

    /// Numbers of categories.
    pub(crate) fn numbers(&self, key: &str, rows: u64) -> Result<Vec<usize>> {
        let column = self.columns.column(key, "index", DType::Int32, rows)?;
        let numbers = (0..rows as usize).filter_map(|at| column.item::<i32>(at));
        Ok(numbers.map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect())
    }

    pub(crate) fn text(&self, key: &str, rows: u64) -> Result<(Cow<'a, [i64]>, &'a [u8])> {
        let offsets = self.columns.integers(key, "offsets", rows + 1)?;
        let end = offsets.last().copied().unwrap_or(0) as u64;
        Ok((offsets, self.columns.column(key, "data", DType::UInt8, end)?.as_bytes()))
    }
}

/// The byte strings that an alternative gets.
enum Sorted<'l> {
    /// All there are, where they are.
    Any,
    /// Those of one length.
    Sized(u64, Vec<u8>),
    /// Symbols, as their numbers.
    Named(HashMap<&'l [u8], i64>, Vec<i64>),
}

impl Sorted<'_> {
    /// Takes a byte string if it is one for this alternative, and says which of its rows it is there.
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

/// The fields of a record, each with columns of its own.
pub(crate) fn fields<'a>(layout: &Layout, names: &[String], arrays: &'a [Array]) -> Result<Node<'a>> {
    let (Layout::Record { fields, .. } | Layout::Arranged { fields, .. }) = layout else {
        let wanted = describe(layout, 0);
        return Err(EncodeError::Type { member: String::new(), found: "named columns".into(), wanted });
    };
    let known: HashSet<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
    let extra = |field: &String| EncodeError::Extra { member: String::new(), field: field.clone() };
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        return Err(extra(name));
    }
    let mut given: HashMap<&str, Option<&Array>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if given.insert(name, arrays.get(at)).is_some() {
            return Err(extra(name));
        }
    }
    let mut nodes = Vec::with_capacity(fields.len());
    for (field, layout) in fields {
        nodes.push(match (given.get(field.as_str()).copied().flatten(), layout) {
            (Some(array), _) => {
                Binder::new(array).bind(layout, &array.form, &Rows::all(array.length), field)?
            }
            (None, Layout::Constant(bytes, _)) => Node::Constant(Arc::clone(bytes)),
            (None, _) => return Err(EncodeError::Missing { member: String::new(), field: field.clone() }),
        });
    }
    Ok(Node::Record(nodes))
}

fn refuse_long(offsets: &[i64], member: &str) -> Result<()> {
    match offsets.windows(2).position(|pair| pair[1] - pair[0] > LONGEST) {
        Some(row) => Err(EncodeError::range(member, row, "longer".into(), format!("{LONGEST} items"))),
        None => Ok(()),
    }
}

/// The numbers of symbols, whose texts are for errors.
fn enumerated<'a, 't>(
    symbols: &[String],
    number: impl Fn(usize) -> Option<i64>,
    text: impl Fn(usize) -> &'t [u8],
    rows: &Rows,
    member: &str,
) -> Result<Node<'a>> {
    let mut found = Vec::with_capacity(rows.count() as usize);
    for row in 0..rows.count() as usize {
        match number(row) {
            Some(number) => found.push(number),
            None if !rows.sees(row) => found.push(0),
            None => {
                let found = format!("{:?}", String::from_utf8_lossy(text(row)));
                let wanted = format!("the symbols {}", symbols.join(", "));
                return Err(EncodeError::range(member, row, found, wanted));
            }
        }
    }
    Ok(Node::Varint(found.into()))
}

fn wrong(layout: &Layout, form: &Form, member: &str) -> EncodeError {
    let wanted = describe(layout, 0);
    EncodeError::Type { member: member.into(), found: form.type_string(), wanted }
}

/// A layout in a few words.
fn describe(layout: &Layout, depth: usize) -> String {
    if depth > 3 {
        return "…".into();
    }
    let of = |layout: &Layout| describe(layout, depth + 1);
    match layout {
        Layout::Number(wire) => wire.dtype().name().into(),
        Layout::Leb128 { dtype, .. } => dtype.name().into(),
        Layout::Symbol { .. } => "symbols".into(),
        Layout::Varint(dtype) => dtype.name().into(),
        Layout::Text => "text".into(),
        Layout::Bytes => "bytes".into(),
        Layout::Opaque(size) => format!("{size} bytes"),
        Layout::Null => "null".into(),
        Layout::List(item) => format!("lists of {}", of(item)),
        Layout::Fixed(size, item) => format!("{size} times {}", of(item)),
        Layout::Map(value) => format!("maps of {}", of(value)),
        Layout::Enum { .. } => "symbols".into(),
        Layout::Logical(meaning, _) => meaning.to_string(),
        Layout::Union(union) => {
            let alternatives: Vec<_> = union.alternatives.iter().map(of).collect();
            format!("a union of {}", alternatives.join(", "))
        }
        Layout::Record { name, .. } | Layout::Arranged { name, .. } => {
            name.clone().map_or_else(|| "a record".into(), |name| format!("a record {name}"))
        }
        _ => "another layout".into(),
    }
}
