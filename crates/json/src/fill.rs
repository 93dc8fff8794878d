//! Appends parsed values to columns of a known type.

use crate::{
    context::Context,
    convert::{bounds, count, narrowed, not_finite, short},
    lexer::{DEEPEST, Lexer, Number, Result, Stop, TOO_DEEP, Token},
    number::{float, float32, signed, unsigned},
    record::{Member, Record},
};
use forthwith_columns::{Array, Column, DType, Form, LogicalType};

/// Node of a Form, and the values that were appended to it.
#[derive(Debug)]
pub(crate) struct Fill {
    key: String,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Empty,
    Bool(Vec<u8>),
    /// Integers of any type but `uint64`.
    Whole {
        dtype: DType,
        values: Vec<i64>,
    },
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
    Float32(Vec<f32>),
    Text {
        offsets: Vec<i64>,
        bytes: Vec<u8>,
        binary: bool,
    },
    Moment {
        meaning: LogicalType,
        dtype: DType,
        values: Vec<i64>,
    },
    List {
        offsets: Vec<i64>,
        content: Box<Fill>,
    },
    Regular {
        size: u64,
        rows: usize,
        content: Box<Fill>,
    },
    /// Objects with arbitrary members, as lists of pairs of a string and a value.
    Map {
        offsets: Vec<i64>,
        keys: Box<Fill>,
        content: Box<Fill>,
    },
    Option {
        index: Vec<i64>,
        present: i64,
        content: Box<Fill>,
    },
    Record(Record<Fill>),
    /// Lists with one item for each content, and the number of lists.
    Tuple(Vec<Fill>, usize),
    Union {
        tags: Vec<i8>,
        index: Vec<i64>,
        contents: Vec<Fill>,
    },
}

impl Fill {
    /// Creates empty columns for a Form. The error is the name of the type that cannot be read from JSON.
    pub(crate) fn new(form: &Form) -> Result<Self, String> {
        let boxed = |content: &Form| Self::new(content).map(Box::new);
        let mut own = String::new();
        let values = match form {
            Form::Empty => Values::Empty,
            Form::Numpy { key, dtype, shape } if shape.is_empty() => {
                own.clone_from(key);
                match dtype {
                    DType::Bool => Values::Bool(Vec::new()),
                    DType::UInt64 => Values::Unsigned(Vec::new()),
                    DType::Float64 => Values::Float(Vec::new()),
                    DType::Float32 => Values::Float32(Vec::new()),
                    dtype if bounds(*dtype).is_some() => Values::Whole { dtype: *dtype, values: Vec::new() },
                    _ => return Err(form.type_string()),
                }
            }
            Form::Regular { .. } | Form::Numpy { .. } => {
                let (size, content) = form.fixed().ok_or_else(|| form.type_string())?;
                Values::Regular { size, rows: 0, content: boxed(&content)? }
            }
            Form::String { key, binary } => {
                own.clone_from(key);
                Values::Text { offsets: vec![0], bytes: Vec::new(), binary: *binary }
            }
            Form::Logical { meaning, content } => match (meaning, content.as_ref()) {
                (LogicalType::Date | LogicalType::Timestamp { .. }, Form::Numpy { key, dtype, shape })
                    if shape.is_empty() && matches!(dtype, DType::Int32 | DType::Int64) =>
                {
                    own.clone_from(key);
                    Values::Moment { meaning: *meaning, dtype: *dtype, values: Vec::new() }
                }
                _ => return Err(form.type_string()),
            },
            Form::List { key, content } => {
                own.clone_from(key);
                match content.as_ref() {
                    Form::Record { fields: None, contents, .. } if is_map(contents) => Values::Map {
                        offsets: vec![0],
                        keys: boxed(&contents[0])?,
                        content: boxed(&contents[1])?,
                    },
                    content => Values::List { offsets: vec![0], content: boxed(content)? },
                }
            }
            Form::Option { key, content } => {
                own.clone_from(key);
                Values::Option { index: Vec::new(), present: 0, content: boxed(content)? }
            }
            Form::Record { fields: Some(names), contents, .. } => {
                let fills = contents.iter().map(Self::new).collect::<Result<_, _>>()?;
                Values::Record(Record::new(names, fills))
            }
            Form::Record { fields: None, contents, .. } => {
                Values::Tuple(contents.iter().map(Self::new).collect::<Result<_, _>>()?, 0)
            }
            Form::Union { key, contents } => {
                own.clone_from(key);
                let contents = contents.iter().map(Self::new).collect::<Result<_, _>>()?;
                Values::Union { tags: Vec::new(), index: Vec::new(), contents }
            }
            _ => return Err(form.type_string()),
        };
        Ok(Self { key: own, values })
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Empty => 0,
            Values::Bool(values) => values.len(),
            Values::Whole { values, .. } | Values::Moment { values, .. } => values.len(),
            Values::Unsigned(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Float32(values) => values.len(),
            Values::Text { offsets, .. } | Values::List { offsets, .. } | Values::Map { offsets, .. } => {
                offsets.len() - 1
            }
            Values::Regular { rows, .. } | Values::Tuple(_, rows) => *rows,
            Values::Option { index, .. } | Values::Union { index, .. } => index.len(),
            Values::Record(record) => record.rows,
        }
    }

    /// Appends a value that is neither a list nor an object.
    #[inline]
    fn scalar(&mut self, lexer: &mut Lexer<'_>) -> Result<()> {
        let first = lexer.peek();
        let before = lexer.at();
        let done = match (first, &mut self.values) {
            (Some(b'-' | b'0'..=b'9'), Values::Float(values)) => {
                float(&lexer.number()?).map(|number| values.push(number))
            }
            (
                Some(b'-' | b'0'..=b'9'),
                Values::Float32(_) | Values::Whole { .. } | Values::Unsigned(_) | Values::Moment { .. },
            ) => {
                let number = lexer.number()?;
                self.number(&number)
            }
            (Some(b'"'), Values::Text { offsets, bytes, binary: false }) => {
                bytes.extend_from_slice(lexer.string()?.as_bytes());
                offsets.push(bytes.len() as i64);
                Ok(())
            }
            (
                Some(b'"'),
                Values::Text { .. } | Values::Moment { .. } | Values::Float(_) | Values::Float32(_),
            ) => {
                let text = lexer.string()?;
                self.text(&text)
            }
            (Some(b't' | b'f'), Values::Bool(values)) => {
                let token = lexer.token()?;
                values.push(u8::from(token == Token::Bool(true)));
                Ok(())
            }
            _ => Err(refused(lexer, self.name())),
        };
        // An error is reported at the beginning of the value.
        done.inspect_err(|_| lexer.go(before))
    }

    #[inline]
    fn number(&mut self, number: &Number<'_>) -> Result<()> {
        match &mut self.values {
            Values::Float(values) => values.push(float(number)?),
            Values::Float32(values) => values.push(float32(number)?),
            Values::Whole { dtype, values } | Values::Moment { dtype, values, .. } => {
                let whole = signed(number).or_else(|| (number.text == "-0").then_some(0));
                let fits = bounds(*dtype)
                    .zip(whole)
                    .filter(|((least, most), whole)| whole >= least && whole <= most);
                let name = dtype.name();
                let refused =
                    || Stop::invalid(format!("{} is not a number of type {name}", short(number.text)));
                values.push(fits.ok_or_else(refused)?.1);
            }
            Values::Unsigned(values) => {
                let whole = unsigned(number).or_else(|| (number.text == "-0").then_some(0));
                let refused =
                    || Stop::invalid(format!("{} is not a number of type uint64", short(number.text)));
                values.push(whole.ok_or_else(refused)?);
            }
            _ => return Err("a number where none is expected".into()),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        match &mut self.values {
            Values::Text { offsets, bytes, binary: false } => {
                bytes.extend_from_slice(text.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            Values::Text { offsets, bytes, binary: true } => {
                let byte = |character| u8::try_from(u32::from(character));
                let own = text.chars().map(byte).collect::<Result<Vec<u8>, _>>();
                bytes.extend(own.map_err(|_| "a text with a character above U+00FF, which is not a byte")?);
                offsets.push(bytes.len() as i64);
            }
            Values::Moment { meaning, values, .. } => {
                let refused = || Stop::invalid(format!("{:?} is not a {meaning}", short(text)));
                values.push(count(text, *meaning).ok_or_else(refused)?);
            }
            Values::Float(values) => {
                values.push(not_finite(text).ok_or("a text where a number is expected")?)
            }
            Values::Float32(values) => {
                values.push(not_finite(text).ok_or("a text where a number is expected")? as f32);
            }
            _ => return Err("a text where none is expected".into()),
        }
        Ok(())
    }

    /// Returns the name of the expected kind of value, for error messages.
    fn name(&self) -> &'static str {
        match &self.values {
            Values::Empty => "null",
            Values::Bool(_) => "a truth value",
            Values::Whole { .. } | Values::Unsigned(_) | Values::Float(_) | Values::Float32(_) => "a number",
            Values::Moment { .. } => "a date or time",
            _ => "a text",
        }
    }

    /// Appends a value to the first alternative of the union that accepts it.
    fn alternative(&mut self, lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()> {
        let Values::Union { tags, index, contents } = &mut self.values else { return Ok(()) };
        let first = lexer.peek().ok_or(Stop::Incomplete)?;
        let (before, mut refused) = (lexer.at(), None);
        for (tag, content) in (0_i8..).zip(contents.iter_mut()).filter(|(_, content)| content.takes(first)) {
            let row = content.len();
            match content.value(lexer, depth, context) {
                Ok(()) => {
                    tags.push(tag);
                    index.push(row as i64);
                    return Ok(());
                }
                Err(stop) => {
                    content.truncate(row);
                    if refused.is_some() {
                        context.path.clear();
                    }
                    refused.get_or_insert((stop, lexer.at()));
                    lexer.go(before);
                }
            }
        }
        let Some((stop, at)) = refused else {
            lexer.skip(depth)?;
            lexer.go(before);
            return Err("a value of none of the types of the union".into());
        };
        lexer.go(at);
        Err(stop)
    }

    /// Whether a value that begins with the byte `first` may be of this type.
    fn takes(&self, first: u8) -> bool {
        match &self.values {
            Values::Empty => false,
            Values::Bool(_) => matches!(first, b't' | b'f'),
            Values::Whole { .. } | Values::Unsigned(_) | Values::Float(_) | Values::Float32(_) => {
                matches!(first, b'-' | b'0'..=b'9')
            }
            Values::Text { .. } | Values::Moment { .. } => first == b'"',
            Values::List { .. } | Values::Regular { .. } | Values::Tuple(..) => first == b'[',
            Values::Map { .. } | Values::Record(_) => first == b'{',
            Values::Option { content, .. } => first == b'n' || content.takes(first),
            Values::Union { contents, .. } => contents.iter().any(|content| content.takes(first)),
        }
    }

    /// Appends an entry.
    pub(crate) fn entry(&mut self, lexer: &mut Lexer<'_>, context: &mut Context) -> Result<()> {
        self.value(lexer, DEEPEST, context)
    }

    /// Returns the values as an array of `form`.
    pub(crate) fn into_array(self, form: Form) -> Array {
        let length = self.len() as u64;
        let mut columns = Vec::new();
        self.columns(&mut columns);
        Array { form, length, columns }
    }

    fn columns(self, to: &mut Vec<(String, Column)>) {
        let Self { key, values } = self;
        let named = |name: &str| format!("{key}-{name}");
        match values {
            Values::Empty => {}
            Values::Bool(values) => to.push((named("data"), Column::from_bytes(DType::Bool, values.into()))),
            Values::Whole { dtype, values } | Values::Moment { dtype, values, .. } => {
                to.push((named("data"), narrowed(dtype, values)));
            }
            Values::Unsigned(values) => to.push((named("data"), Column::from_vec(values))),
            Values::Float(values) => to.push((named("data"), Column::from_vec(values))),
            Values::Float32(values) => to.push((named("data"), Column::from_vec(values))),
            Values::Text { offsets, bytes, .. } => {
                to.push((named("offsets"), Column::from_vec(offsets)));
                to.push((named("data"), Column::from_vec(bytes)));
            }
            Values::List { offsets, content } => {
                to.push((named("offsets"), Column::from_vec(offsets)));
                content.columns(to);
            }
            Values::Map { offsets, keys, content } => {
                to.push((named("offsets"), Column::from_vec(offsets)));
                keys.columns(to);
                content.columns(to);
            }
            Values::Regular { content, .. } => content.columns(to),
            Values::Option { index, content, .. } => {
                to.push((named("index"), Column::from_vec(index)));
                content.columns(to);
            }
            Values::Record(record) => record.into_fills().for_each(|fill| fill.columns(to)),
            Values::Tuple(contents, _) => contents.into_iter().for_each(|fill| fill.columns(to)),
            Values::Union { tags, index, contents } => {
                to.push((named("tags"), Column::from_vec(tags)));
                to.push((named("index"), Column::from_vec(index)));
                contents.into_iter().for_each(|fill| fill.columns(to));
            }
        }
    }
}

impl Member for Fill {
    /// Reserves memory for `rows` more values. For lists and strings, only the offsets are reserved.
    fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Values::Empty => {}
            Values::Bool(values) => values.reserve(rows),
            Values::Whole { values, .. } | Values::Moment { values, .. } => values.reserve(rows),
            Values::Unsigned(values) => values.reserve(rows),
            Values::Float(values) => values.reserve(rows),
            Values::Float32(values) => values.reserve(rows),
            Values::Text { offsets, .. } | Values::List { offsets, .. } | Values::Map { offsets, .. } => {
                offsets.reserve(rows);
            }
            Values::Option { index, .. } | Values::Union { index, .. } => index.reserve(rows),
            Values::Regular { .. } | Values::Tuple(..) => {}
            Values::Record(record) => record.reserve(rows),
        }
    }

    /// Drops all values after the first `rows`.
    fn truncate(&mut self, rows: usize) {
        let end = |offsets: &mut Vec<i64>| {
            offsets.truncate(rows + 1);
            offsets.last().copied().unwrap_or(0) as usize
        };
        match &mut self.values {
            Values::Empty => {}
            Values::Bool(values) => values.truncate(rows),
            Values::Whole { values, .. } | Values::Moment { values, .. } => values.truncate(rows),
            Values::Unsigned(values) => values.truncate(rows),
            Values::Float(values) => values.truncate(rows),
            Values::Float32(values) => values.truncate(rows),
            Values::Text { offsets, bytes, .. } => bytes.truncate(end(offsets)),
            Values::List { offsets, content } => content.truncate(end(offsets)),
            Values::Map { offsets, keys, content } => {
                let end = end(offsets);
                keys.truncate(end);
                content.truncate(end);
            }
            Values::Regular { size, rows: own, content } => {
                *own = rows;
                content.truncate(rows * *size as usize);
            }
            Values::Tuple(contents, own) => {
                *own = rows;
                contents.iter_mut().for_each(|content| content.truncate(rows));
            }
            Values::Option { index, present, content } => {
                index.truncate(rows);
                *present = index.iter().rev().find(|row| **row >= 0).map_or(0, |row| row + 1);
                content.truncate(*present as usize);
            }
            Values::Record(record) => record.truncate(rows),
            Values::Union { tags, index, contents } => {
                tags.truncate(rows);
                index.truncate(rows);
                for (tag, content) in contents.iter_mut().enumerate() {
                    let last = tags.iter().rposition(|own| *own as usize == tag);
                    content.truncate(last.map_or(0, |at| index[at] as usize + 1));
                }
            }
        }
    }

    /// Appends a missing value and returns `true`; returns `false` if the type is not optional.
    fn null(&mut self) -> bool {
        if let Values::Option { index, .. } = &mut self.values {
            index.push(-1);
            return true;
        }
        false
    }

    /// Parses and appends the value at the position of the lexer.
    #[inline]
    fn value(&mut self, lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<()> {
        match &mut self.values {
            Values::Option { index, present, content } => {
                if lexer.peek() == Some(b'n') {
                    lexer.token()?;
                    index.push(-1);
                    return Ok(());
                }
                content.value(lexer, depth, context)?;
                index.push(*present);
                *present += 1;
                Ok(())
            }
            Values::Record(record) => {
                expect(lexer, b'{', "an object")?;
                record.object(lexer, within(depth)?, context)
            }
            Values::List { offsets, content } => {
                expect(lexer, b'[', "a list")?;
                let before = offsets.last().copied().unwrap_or(0);
                let count = items(content, lexer, within(depth)?, context)?;
                offsets.push(before + count as i64);
                Ok(())
            }
            Values::Regular { size, rows, content } => {
                expect(lexer, b'[', "a list")?;
                let count = items(content, lexer, within(depth)?, context)?;
                if count as u64 != *size {
                    return Err(Stop::invalid(format!("a list of {count} items where lists have {size}")));
                }
                *rows += 1;
                Ok(())
            }
            Values::Map { offsets, keys, content } => {
                expect(lexer, b'{', "an object")?;
                let depth = within(depth)?;
                let mut is_first = true;
                while let Some(key) = lexer.next_key(is_first)? {
                    is_first = false;
                    keys.text(&key)?;
                    let value = content.value(lexer, depth, context);
                    value.inspect_err(|_| context.within(&format!(".{key}")))?;
                }
                offsets.push(keys.len() as i64);
                Ok(())
            }
            Values::Tuple(contents, rows) => {
                expect(lexer, b'[', "a list")?;
                let depth = within(depth)?;
                let mut count = 0;
                while lexer.next_item(count == 0)? {
                    let content = contents.get_mut(count).ok_or("a list of more items than the tuple has")?;
                    let value = content.value(lexer, depth, context);
                    value.inspect_err(|_| context.within(&format!("[{count}]")))?;
                    count += 1;
                }
                if count < contents.len() {
                    return Err("a list of fewer items than the tuple has".into());
                }
                *rows += 1;
                Ok(())
            }
            Values::Union { .. } => self.alternative(lexer, depth, context),
            _ => self.scalar(lexer),
        }
    }
}

/// Whether these are the contents of the pairs of a map with string keys.
fn is_map(contents: &[Form]) -> bool {
    matches!(contents, [Form::String { binary: false, .. }, _])
}

fn within(depth: usize) -> Result<usize> {
    depth.checked_sub(1).ok_or_else(|| TOO_DEEP.into())
}

/// Consumes the opening bracket of a list or an object.
#[inline]
fn expect(lexer: &mut Lexer<'_>, bracket: u8, name: &str) -> Result<()> {
    if lexer.take(bracket) { Ok(()) } else { Err(refused(lexer, name)) }
}

/// Returns the error for a value of an unexpected kind.
#[cold]
fn refused(lexer: &mut Lexer<'_>, wanted: &str) -> Stop {
    let before = lexer.at();
    let found = match lexer.token() {
        Ok(Token::Null) => "null",
        Ok(Token::Bool(_)) => "a truth value",
        Ok(Token::Number(_)) => "a number",
        Ok(Token::Text(_)) => "a text",
        Ok(Token::List) => "a list",
        Ok(Token::Object) => "an object",
        Err(stop) => return stop,
    };
    lexer.go(before);
    Stop::invalid(format!("{found} where {wanted} is expected"))
}

/// Appends the items of a list after its opening bracket; returns their number.
fn items(content: &mut Fill, lexer: &mut Lexer<'_>, depth: usize, context: &mut Context) -> Result<usize> {
    let mut count = 0;
    while lexer.next_item(count == 0)? {
        let value = content.value(lexer, depth, context);
        value.inspect_err(|_| context.within(&format!("[{count}]")))?;
        count += 1;
    }
    Ok(count)
}
