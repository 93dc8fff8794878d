//! Binds columns to the nodes of a layout: all lookups, conversions and type errors happen before the first
//! byte.

use crate::{
    EncodeError,
    append::text,
    describe::describe,
    fit::{DEEPEST, as_lists, bare, is_flattened, place, same},
    node::{Head, Node},
    numbers,
    opaque::{decimals, opaque, resized},
    rows::{Rows, list_of, position},
};
use forthwith_columns::{Array, Column, DType, Form, LogicalType, Lookup};
use forthwith_program::{Count, Dialect, Layout, TextLength};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

pub(crate) type Result<T> = std::result::Result<T, EncodeError>;

/// Maximum length of a list or byte string, which a 32-bit count can hold.
const LONGEST: i64 = u32::MAX as i64;

pub(crate) struct Binder<'a> {
    pub(crate) columns: Lookup<'a>,
    /// Item counts by the slot of their counter: one for each row of the record with the counter.
    pub(crate) counters: HashMap<u32, Vec<i64>>,
    dialect: Dialect,
    pub(crate) depth: usize,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(array: &'a Array, dialect: &Dialect) -> Self {
        Self { columns: Lookup::of(array), counters: HashMap::new(), dialect: *dialect, depth: 0 }
    }

    /// Binds the columns of `form` to `layout`. `rows` are the rows of this node that are written; the caller
    /// has checked that its columns are long enough for them. `member` is the path of the value in error
    /// messages.
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
        if let Some(node) = self.object(layout, form, rows, member)? {
            return Ok(node);
        }
        Ok(match (layout, form) {
            // It has no rows.
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
                        decimals(of, self.dialect.text, &values, rows, member)?.ok_or_else(wrong)?
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
            // Each alternative is written as the same type.
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
                    return Err(EncodeError::Null { member: member.into(), row: Some(row as u64) });
                }
                let value = self.bind(layout, content, &rows.named(&index), member);
                let value = value.map_err(|error| error.renumbered(|at| position(&index, at)))?;
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
                let bytes = numbers::converted(&values, rows, *wire, member)?.into_owned();
                Node::Numbers { bytes: bytes.into(), wire: *wire }
            }
            // Decimals and half floats need a matching logical type: as plain integers they would be other
            // values.
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
                Node::Numbers { bytes: numbers::converted(column, rows, *wire, member)?, wire: *wire }
            }
            (Layout::Text | Layout::Bytes, Form::String { key, .. }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                refuse_long(&offsets, member)?;
                self.texts(offsets, bytes)
            }
            (Layout::Opaque(size), Form::String { key, .. }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                opaque(*size, &offsets, bytes, rows, form, member)?
            }
            (Layout::Enum { symbols, keep: None }, Form::String { key, binary: false }) => {
                let (offsets, bytes) = self.text(key, rows.count())?;
                let numbers: HashMap<&[u8], i64> = symbols.iter().map(String::as_bytes).zip(0..).collect();
                let text = |row| text(&offsets, bytes, row).unwrap_or_default();
                let number = |row| numbers.get(text(row)).copied();
                enumerated(symbols, number, text, rows, member)?
            }
            (Layout::Enum { symbols, keep: None }, Form::Categorical { key, categories }) => {
                let numbers: HashMap<&str, i64> = symbols.iter().map(String::as_str).zip(0..).collect();
                let known: Vec<Option<i64>> =
                    categories.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
                // Indexes are in range, as the array has been validated.
                let index = self.numbers(key, rows.count())?;
                let at = |row: usize| index.get(row).copied().unwrap_or(usize::MAX);
                let number = |row| known.get(at(row)).copied().flatten();
                let text = |row| categories.get(at(row)).map_or(&b""[..], |name| name.as_bytes());
                enumerated(symbols, number, text, rows, member)?
            }
            (Layout::Text | Layout::Bytes, Form::Categorical { key, categories }) => {
                let (offsets, bytes) = self.text(key, categories.len() as u64)?;
                let index: Vec<i64> =
                    self.numbers(key, rows.count())?.into_iter().map(|at| at as i64).collect();
                Node::Picked { index: index.into(), value: Box::new(self.texts(offsets, bytes)) }
            }
            (Layout::List(item), Form::List { key, content }) => {
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                refuse_long(&offsets, member)?;
                self.list(item, content, offsets, self.head(), rows, member)?
            }
            (Layout::List(item), Form::Regular { size, content }) => {
                self.regular(*size, self.head(), item, content, rows, member)?
            }
            (Layout::Fixed(wanted, item), Form::Regular { size, content }) if wanted == size => {
                self.regular(*size, Head::Nothing, item, content, rows, member)?
            }
            (Layout::Map(value), Form::List { key, content }) => {
                let Form::Record { contents, .. } = &**content else { return Err(wrong()) };
                let [name, content] = &contents[..] else { return Err(wrong()) };
                let offsets = self.columns.integers(key, "offsets", rows.count() + 1)?;
                refuse_long(&offsets, member)?;
                let below = rows.inside(&offsets);
                let name = self.bind(&Layout::Text, name, &below, &format!("{member}{{}}.key"));
                let name = name.map_err(|error| error.renumbered(|item| list_of(&offsets, item)))?;
                let value = self.bind(value, content, &below, &format!("{member}{{}}.value"));
                let value = value.map_err(|error| error.renumbered(|item| list_of(&offsets, item)))?;
                listed(offsets, self.head(), Node::Record(vec![name, value]))?
            }
            (
                Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
                Form::Record { fields: names, contents, .. },
            ) => {
                if fields.iter().any(|(_, field)| is_flattened(field)) {
                    return self.record_with_bases(fields, contents, rows, member);
                }
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
        head: Head,
        item: &Layout,
        content: &Form,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let below = rows.times(size).ok_or_else(|| EncodeError::Deep { member: member.into() })?;
        let item = self.bind(item, content, &below, &format!("{member}[]"));
        let item = item.map_err(|error| error.renumbered(|at| at.checked_div(size)))?;
        let size = usize::try_from(size).map_err(|_| EncodeError::Deep { member: member.into() })?;
        Ok(Node::Regular { size, head, item: Box::new(item) })
    }

    pub(crate) fn list(
        &mut self,
        item: &Layout,
        content: &Form,
        offsets: Cow<'a, [i64]>,
        head: Head,
        rows: &Rows,
        member: &str,
    ) -> Result<Node<'a>> {
        let below = rows.inside(&offsets);
        let item = self.bind(item, content, &below, &format!("{member}[]"));
        let item = item.map_err(|error| error.renumbered(|item| list_of(&offsets, item)))?;
        listed(offsets, head, item)
    }

    /// Returns the head of lists in this dialect.
    const fn head(&self) -> Head {
        match self.dialect.counts {
            Count::Big32 => Head::Big32,
            _ => Head::Blocks,
        }
    }

    /// Binds byte strings, each after its length in the form of the dialect.
    pub(crate) fn texts(&self, offsets: Cow<'a, [i64]>, bytes: impl Into<Cow<'a, [u8]>>) -> Node<'a> {
        Node::Text { offsets, bytes: bytes.into(), length: self.dialect.text, ends_at_nul: false }
    }

    /// Binds strings whose readers stop at a NUL. `length` is by default that of the dialect.
    pub(crate) fn c_strings(&self, key: &str, rows: &Rows, length: Option<TextLength>) -> Result<Node<'a>> {
        let (offsets, bytes) = self.text(key, rows.count())?;
        let length = length.unwrap_or(self.dialect.text);
        Ok(Node::Text { offsets, bytes: bytes.into(), length, ends_at_nul: true })
    }

    /// Returns the category indexes of the first `rows` rows. A negative index becomes `usize::MAX`.
    pub(crate) fn numbers(&self, key: &str, rows: u64) -> Result<Vec<usize>> {
        let column = self.columns.column(key, "index", DType::Int32, rows)?;
        let numbers = (0..rows as usize).filter_map(|at| column.item::<i32>(at));
        Ok(numbers.map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect())
    }

    pub(crate) fn text(&self, key: &str, rows: u64) -> Result<(Cow<'a, [i64]>, &'a [u8])> {
        let offsets = self.columns.integers(key, "offsets", rows + 1)?;
        let end = offsets.last().copied().unwrap_or(0).max(0).cast_unsigned();
        Ok((offsets, self.columns.column(key, "data", DType::UInt8, end)?.as_bytes()))
    }
}

/// Binds a record whose fields each have an array of their own.
pub(crate) fn fields<'a>(
    layout: &Layout,
    dialect: &Dialect,
    names: &[String],
    arrays: &'a [Array],
) -> Result<Node<'a>> {
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
                Binder::new(array, dialect).bind(layout, &array.form, &Rows::all(array.length), field)?
            }
            (None, Layout::Constant(bytes, _)) => Node::Constant(Arc::clone(bytes)),
            (None, _) => return Err(EncodeError::Missing { member: String::new(), field: field.clone() }),
        });
    }
    Ok(Node::Record(nodes))
}

/// Returns a node of lists. `offsets` are positions in `item`, whose number of items is the last offset.
pub(crate) fn listed<'a>(offsets: Cow<'a, [i64]>, head: Head, item: Node<'a>) -> Result<Node<'a>> {
    let items = usize::try_from(offsets.last().copied().unwrap_or(0)).map_err(|_| EncodeError::Changed)?;
    Ok(Node::List { offsets, items, head, item: Box::new(item) })
}

fn refuse_long(offsets: &[i64], member: &str) -> Result<()> {
    match offsets.windows(2).position(|pair| pair[1].saturating_sub(pair[0]) > LONGEST) {
        Some(row) => Err(EncodeError::range(member, row, "longer".into(), format!("{LONGEST} items"))),
        None => Ok(()),
    }
}

/// Returns the symbol number of each row as varints. `text` spells a symbol in errors; hidden rows get number
/// 0.
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

pub(crate) fn wrong(layout: &Layout, form: &Form, member: &str) -> EncodeError {
    let wanted = describe(layout, 0);
    EncodeError::Type { member: member.into(), found: form.type_string(), wanted }
}
