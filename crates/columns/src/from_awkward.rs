//! Import of Awkward Array's Forms and buffers.

use crate::rows_without_bytes::RowsWithoutBytes;
use crate::{Array, Column, DType, Form, Invalid, LogicalType, TimeUnit};
use bytes::Bytes;
use serde_json::Value as Json;

/// Reason that an Awkward Array could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AwkwardImportError {
    /// The JSON is not a valid Form.
    #[error("no Form of Awkward Array: {what}")]
    NotAForm {
        /// Description of the problem.
        what: String,
    },
    /// A kind of node or number that is not supported.
    #[error("{what} is not supported here")]
    Unsupported {
        /// The kind, and the path of the column.
        what: String,
    },
    /// The buffers contradict the Form.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Array {
    /// Imports the result of `ak.to_buffers`: a Form as JSON, a length, and buffers by name, in native byte
    /// order. Masks become indexes, and offsets and indexes are widened to 64 bits; other buffers are not
    /// copied. Lists with starts and stops must be packed first (`ak.to_packed`).
    ///
    /// # Errors
    /// An invalid Form, an unsupported kind of node, and buffers that are absent, too short or contradict the
    /// Form.
    pub fn from_awkward(
        form: &str,
        length: u64,
        buffers: &mut dyn FnMut(&str) -> Option<Bytes>,
    ) -> Result<Self, AwkwardImportError> {
        let json: Json = serde_json::from_str(form).map_err(|e| not_a_form(e.to_string()))?;
        let mut given = Given {
            buffers,
            columns: Vec::new(),
            nodes: 0,
            path: Vec::new(),
            fetched: None,
            rows: RowsWithoutBytes::default(),
        };
        let form = given.node(&json, length, 0).map_err(|error| match error {
            AwkwardImportError::Unsupported { what } if !given.path.is_empty() => {
                unsupported(format!("{what} (column {:?})", given.path.join("/")))
            }
            other => other,
        })?;
        let array = Self { form, length, columns: given.columns };
        array.validate()?;
        Ok(array)
    }
}

impl Array {
    /// Makes an array of records with arrays of equal length as fields.
    ///
    /// # Errors
    /// [`AwkwardImportError::NotAForm`] if the lengths differ, or if the arrays are not as many as the names.
    pub fn from_fields(names: Vec<String>, arrays: Vec<Self>) -> Result<Self, AwkwardImportError> {
        let length = arrays.first().map_or(0, |array| array.length);
        if names.len() != arrays.len() || arrays.iter().any(|array| array.length != length) {
            return Err(not_a_form("columns of different lengths"));
        }
        let (mut contents, mut columns) = (Vec::new(), Vec::new());
        for (at, mut array) in arrays.into_iter().enumerate() {
            // A prefix makes the keys of all arrays distinct.
            let prefix = format!("field{at}-");
            array.form.prefix_keys(&prefix);
            contents.push(array.form);
            columns
                .extend(array.columns.into_iter().map(|(name, column)| (format!("{prefix}{name}"), column)));
        }
        Ok(Self { form: Form::Record { fields: Some(names), contents, name: None }, length, columns })
    }
}

const DEEPEST: usize = 100;

fn not_a_form(what: impl Into<String>) -> AwkwardImportError {
    AwkwardImportError::NotAForm { what: what.into() }
}

fn unsupported(what: impl Into<String>) -> AwkwardImportError {
    AwkwardImportError::Unsupported { what: what.into() }
}

struct Given<'b> {
    buffers: &'b mut dyn FnMut(&str) -> Option<Bytes>,
    columns: Vec<(String, Column)>,
    nodes: u32,
    /// Path of the fields to the current node, or to the node that failed.
    path: Vec<String>,
    /// A buffer that was fetched early: each is requested only once.
    fetched: Option<(String, Bytes)>,
    rows: RowsWithoutBytes,
}

impl Given<'_> {
    fn node(&mut self, json: &Json, length: u64, depth: usize) -> Result<Form, AwkwardImportError> {
        if depth > DEEPEST {
            return Err(Invalid::Deep.into());
        }
        let class = text(json, "class")?;
        let array = json.pointer("/parameters/__array__").and_then(Json::as_str);
        let key = format!("given{}", self.nodes);
        self.nodes += 1;
        let form = match class {
            "EmptyArray" => {
                self.check_rows(length)?;
                Form::Empty
            }
            "NumpyArray" => self.numbers(json, key, length)?,
            "ListOffsetArray" => {
                let offsets = self.integers(json, "offsets", "offsets", length.saturating_add(1))?;
                let end = offsets.last().copied().and_then(|end| u64::try_from(end).ok()).unwrap_or(0);
                self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
                match array {
                    Some(kind @ ("string" | "bytestring")) => self.text(json, key, kind, end)?,
                    _ => Form::List { key, content: Box::new(self.content(json, end, depth)?) },
                }
            }
            "RegularArray" => {
                let size = json.get("size").and_then(Json::as_u64).ok_or_else(|| not_a_form("size"))?;
                let items = crate::validate::items(length, &[size])?;
                if size == 0 {
                    self.check_rows(length)?;
                }
                match array {
                    Some(kind @ ("string" | "bytestring")) => {
                        let offsets: Vec<i64> = (0..=length).map(|row| (row * size) as i64).collect();
                        self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
                        self.text(json, key, kind, items)?
                    }
                    _ => Form::Regular { size, content: Box::new(self.content(json, items, depth)?) },
                }
            }
            "RecordArray" => {
                let contents =
                    json.get("contents").and_then(Json::as_array).ok_or_else(|| not_a_form("contents"))?;
                let fields = match json.get("fields") {
                    None | Some(Json::Null) => None,
                    Some(fields) => Some(names(fields)?),
                };
                let name = json.pointer("/parameters/__record__").and_then(Json::as_str).map(str::to_owned);
                if contents.is_empty() {
                    self.check_rows(length)?;
                }
                let contents = contents.iter().enumerate().map(|(at, content)| {
                    let field = fields.as_ref().and_then(|fields| fields.get(at)).cloned();
                    self.path.push(field.unwrap_or_else(|| at.to_string()));
                    let form = self.node(content, length, depth + 1)?;
                    self.path.pop();
                    Ok(form)
                });
                let contents = contents.collect::<Result<_, AwkwardImportError>>()?;
                Form::Record { fields, contents, name }
            }
            "IndexedOptionArray" => {
                let index = self.integers(json, "index", "index", length)?;
                self.option(json, key, index, depth)?
            }
            "ByteMaskedArray" => {
                let valid = truth(json, "valid_when")?;
                let mask = self.buffer(json, "mask", length, 1)?;
                let index =
                    (0..length as usize).map(|at| if (mask[at] != 0) == valid { at as i64 } else { -1 });
                let index = index.collect();
                self.option(json, key, index, depth)?
            }
            "BitMaskedArray" => {
                let (valid, lsb) = (truth(json, "valid_when")?, truth(json, "lsb_order")?);
                let mask = self.buffer(json, "mask", length.div_ceil(8), 1)?;
                let bit = |at: usize| mask[at / 8] >> if lsb { at % 8 } else { 7 - at % 8 } & 1 != 0;
                let index = (0..length as usize).map(|at| if bit(at) == valid { at as i64 } else { -1 });
                let index = index.collect();
                self.option(json, key, index, depth)?
            }
            "UnmaskedArray" => {
                // The content goes first, because it bounds the length of the index.
                let content = Box::new(self.content(json, length, depth)?);
                self.columns.push((format!("{key}-index"), Column::from_vec((0..length as i64).collect())));
                Form::Option { key, content }
            }
            "IndexedArray" => {
                let index = self.integers(json, "index", "index", length)?;
                if array == Some("categorical") {
                    self.categories(json, key, &index, depth)?
                } else {
                    self.picked(json, key, &index, depth)?
                }
            }
            "UnionArray" => {
                let contents =
                    json.get("contents").and_then(Json::as_array).ok_or_else(|| not_a_form("contents"))?;
                let tags = self.buffer(json, "tags", length, 1)?.slice(0..length as usize);
                let index = self.integers(json, "index", "index", length)?;
                let mut lengths = vec![0u64; contents.len()];
                for (tag, at) in tags.iter().zip(&index) {
                    let found = lengths.get_mut(usize::from(*tag)).zip(u64::try_from(*at).ok());
                    let Some((length, at)) = found else { return Err(not_a_form("tags without a content")) };
                    *length = (*length).max(at + 1);
                }
                self.columns.push((format!("{key}-tags"), Column::from_bytes(DType::Int8, tags)));
                self.columns.push((format!("{key}-index"), Column::from_vec(index)));
                let contents =
                    contents.iter().zip(lengths).map(|(content, rows)| self.node(content, rows, depth + 1));
                Form::Union { key, contents: contents.collect::<Result<_, _>>()? }
            }
            "ListArray" => {
                return Err(unsupported("a list with starts and stops (ak.to_packed makes offsets of them)"));
            }
            other => return Err(unsupported(format!("a node of class {other:?}"))),
        };
        let logical = json.pointer("/parameters/logical").and_then(Json::as_str);
        let Some(meaning) = logical.and_then(LogicalType::parse) else { return Ok(form) };
        Ok(match form {
            Form::Numpy { key, dtype, shape } => {
                let content = Form::Numpy { key: key.clone(), dtype, shape: Vec::new() };
                if fits(meaning, &content) {
                    dimensions(&shape, Form::Logical { meaning, content: Box::new(content) })
                } else {
                    Form::Numpy { key, dtype, shape }
                }
            }
            form if fits(meaning, &form) => Form::Logical { meaning, content: Box::new(form) },
            form => form,
        })
    }

    fn content(&mut self, json: &Json, length: u64, depth: usize) -> Result<Form, AwkwardImportError> {
        self.node(json.get("content").ok_or_else(|| not_a_form("content"))?, length, depth + 1)
    }

    fn option(
        &mut self,
        json: &Json,
        key: String,
        index: Vec<i64>,
        depth: usize,
    ) -> Result<Form, AwkwardImportError> {
        let rows = crate::lookup::rows_of(index.iter().copied());
        self.columns.push((format!("{key}-index"), Column::from_vec(index)));
        Ok(Form::Option { key, content: Box::new(self.content(json, rows, depth)?) })
    }

    /// Limits rows without bytes by the bytes of the buffers so far.
    fn check_rows(&mut self, length: u64) -> Result<(), AwkwardImportError> {
        let bytes = self.columns.iter().map(|(_, column)| column.as_bytes().len() as u64).sum();
        Ok(self.rows.add(length, bytes)?)
    }

    /// Imports categories of text; others are expanded to one value for each row.
    fn categories(
        &mut self,
        json: &Json,
        key: String,
        index: &[i64],
        depth: usize,
    ) -> Result<Form, AwkwardImportError> {
        let before = self.columns.len();
        let rows = crate::lookup::rows_of(index.iter().copied()).max(self.strings(json)?);
        let Form::String { key: inner, binary: false } = self.content(json, rows, depth)? else {
            self.columns.truncate(before);
            return self.picked(json, key, index, depth);
        };
        let texts = Array {
            form: Form::String { key: inner, binary: false },
            length: rows,
            columns: self.columns.split_off(before),
        };
        let mut categories = Vec::with_capacity(rows as usize);
        for value in texts.values(0..rows)? {
            if let crate::Value::String(text) = value {
                categories.push(text);
            }
        }
        let numbers: Option<Vec<i32>> = index.iter().map(|at| i32::try_from(*at).ok()).collect();
        let numbers = numbers.ok_or_else(|| unsupported("more categories than 32 bits can number"))?;
        self.columns.push((format!("{key}-index"), Column::from_vec(numbers)));
        for (name, column) in texts.columns {
            let part = if name.ends_with("-offsets") { "offsets" } else { "data" };
            self.columns.push((format!("{key}-{part}"), column));
        }
        Ok(Form::Categorical { key, categories })
    }

    /// Returns the number of strings in the content by the length of its offsets, or 0 if it has none.
    /// Categories that no row refers to are imported too.
    fn strings(&mut self, json: &Json) -> Result<u64, AwkwardImportError> {
        let Some(content) = json.get("content") else { return Ok(0) };
        let size = match content.get("offsets").and_then(Json::as_str) {
            Some("i64") => 8,
            Some("i32" | "u32") => 4,
            _ => return Ok(0),
        };
        let key = format!("{}-offsets", text(content, "form_key")?);
        let Some(offsets) = (self.buffers)(&key) else { return Err(Invalid::Missing { key }.into()) };
        let rows = (offsets.len() / size).saturating_sub(1) as u64;
        self.fetched = Some((key, offsets));
        Ok(rows)
    }

    /// Gathers the strings that an index refers to; other contents are unsupported.
    fn picked(
        &mut self,
        json: &Json,
        key: String,
        index: &[i64],
        depth: usize,
    ) -> Result<Form, AwkwardImportError> {
        let rows = crate::lookup::rows_of(index.iter().copied());
        let before = self.columns.len();
        let Form::String { key: inner, binary } = self.content(json, rows, depth)? else {
            return Err(unsupported("an index into anything but strings (ak.to_packed resolves it)"));
        };
        let mut columns = self.columns.split_off(before).into_iter();
        let (Some((_, ends)), Some((_, data))) = (columns.next(), columns.next()) else {
            return Err(Invalid::Missing { key: inner }.into());
        };
        let (ends, data) = (ends.items::<i64>().unwrap_or_default(), data.as_bytes());
        let (mut offsets, mut bytes) = (vec![0i64], Vec::<u8>::new());
        for at in index {
            let row = usize::try_from(*at).unwrap_or(usize::MAX);
            let range = ends.get(row).zip(ends.get(row.saturating_add(1)));
            let item = range
                .and_then(|(from, to)| data.get(usize::try_from(*from).ok()?..usize::try_from(*to).ok()?));
            bytes.extend(item.ok_or_else(|| not_a_form("an index without a row"))?);
            offsets.push(bytes.len() as i64);
        }
        self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
        self.columns.push((format!("{key}-data"), Column::from_vec(bytes)));
        Ok(Form::String { key, binary })
    }

    /// Imports the bytes of text or byte strings, whose offsets are imported already.
    fn text(&mut self, json: &Json, key: String, kind: &str, end: u64) -> Result<Form, AwkwardImportError> {
        let bytes = self.chars(json, end)?;
        self.columns.push((format!("{key}-data"), bytes));
        Ok(Form::String { key, binary: kind == "bytestring" })
    }

    fn numbers(&mut self, json: &Json, key: String, length: u64) -> Result<Form, AwkwardImportError> {
        let shape = match json.get("inner_shape").and_then(Json::as_array) {
            Some(sizes) => sizes
                .iter()
                .map(Json::as_u64)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| not_a_form("inner_shape"))?,
            None => Vec::new(),
        };
        let items = crate::validate::items(length, &shape)?;
        if items == 0 {
            self.check_rows(length)?;
        }
        let primitive = text(json, "primitive")?;
        if primitive.starts_with("datetime64") || primitive.starts_with("timedelta64") {
            let form = self.times(json, key, primitive, items)?;
            return Ok(dimensions(&shape, form));
        }
        let half = primitive == "float16";
        let dtype = if half { Some(DType::UInt16) } else { dtype(primitive) };
        let dtype = dtype.ok_or_else(|| unsupported(format!("numbers of type {primitive}")))?;
        let bytes = self.buffer(json, "data", items, dtype.size())?;
        self.columns.push((format!("{key}-data"), Column::from_bytes(dtype, bytes)));
        if half {
            let content = Box::new(Form::Numpy { key, dtype, shape: Vec::new() });
            return Ok(dimensions(&shape, Form::Logical { meaning: LogicalType::Half, content }));
        }
        Ok(Form::Numpy { key, dtype, shape })
    }

    /// Imports NumPy's times of any supported unit; `NaT` becomes null.
    fn times(
        &mut self,
        json: &Json,
        key: String,
        primitive: &str,
        items: u64,
    ) -> Result<Form, AwkwardImportError> {
        let long = primitive.starts_with("timedelta64");
        let (unit, factor) = match primitive.split_once('[').map(|(_, unit)| unit) {
            Some("D]") if !long => (TimeUnit::Milli, 1),
            Some("D]") => (TimeUnit::Milli, 86_400_000),
            Some("h]") => (TimeUnit::Milli, 3_600_000),
            Some("m]") => (TimeUnit::Milli, 60_000),
            Some("s]") if long => (TimeUnit::Second, 1),
            Some("s]") => (TimeUnit::Milli, 1000),
            Some("ms]") => (TimeUnit::Milli, 1),
            Some("us]") => (TimeUnit::Micro, 1),
            Some("ns]") => (TimeUnit::Nano, 1),
            _ => return Err(unsupported(format!("numbers of type {primitive}"))),
        };
        let bytes = self.buffer(json, "data", items, 8)?;
        let rows = bytes.as_chunks::<8>().0.iter().take(items as usize);
        let (mut index, mut values) = (Vec::<i64>::new(), Vec::with_capacity(items as usize));
        for (row, bytes) in (0..).zip(rows) {
            let value = i64::from_ne_bytes(*bytes);
            let there = value != i64::MIN;
            let value = if there { value } else { 0 };
            let scaled = value.checked_mul(factor);
            values.push(scaled.ok_or_else(|| unsupported("a time that is too large for milliseconds"))?);
            index.push(if there { row } else { -1 });
        }
        let name = format!("{key}-data");
        let said = json.pointer("/parameters/logical").and_then(Json::as_str).and_then(LogicalType::parse);
        let meaning = match said {
            _ if primitive == "datetime64[D]" => LogicalType::Date,
            // NumPy's types lack two facts, which the parameter supplies: that a timedelta is a time of day,
            // and that a timestamp has a zone.
            Some(meaning @ LogicalType::Time(of)) if long && of == unit => meaning,
            Some(meaning @ LogicalType::Timestamp { unit: of, .. }) if !long && of == unit => meaning,
            _ if long => LogicalType::Duration(unit),
            _ => LogicalType::Timestamp { unit, zone: None },
        };
        let (column, dtype) = match meaning {
            LogicalType::Date | LogicalType::Time(TimeUnit::Milli) => {
                let short = values.iter().map(|value| i32::try_from(*value).ok()).collect::<Option<Vec<_>>>();
                let short =
                    short.ok_or_else(|| unsupported(format!("a {meaning} that is too large for 32 bits")))?;
                (Column::from_vec(short), DType::Int32)
            }
            _ => (Column::from_vec(values), DType::Int64),
        };
        self.columns.push((name, column));
        let option = format!("{key}-there");
        let content = Box::new(Form::Numpy { key, dtype, shape: Vec::new() });
        let form = Form::Logical { meaning, content };
        if !index.contains(&-1) {
            return Ok(form);
        }
        self.columns.push((format!("{option}-index"), Column::from_vec(index)));
        Ok(Form::Option { key: option, content: Box::new(form) })
    }

    /// Imports the bytes of strings.
    fn chars(&mut self, json: &Json, end: u64) -> Result<Column, AwkwardImportError> {
        let content = json.get("content").ok_or_else(|| not_a_form("content"))?;
        if text(content, "class")? == "EmptyArray" {
            return Ok(Column::from_vec(Vec::<u8>::new()));
        }
        Ok(Column::from_bytes(DType::UInt8, self.buffer(content, "data", end, 1)?))
    }

    /// Returns a buffer of a node, and checks that it has at least `items` items.
    fn buffer(
        &mut self,
        json: &Json,
        part: &str,
        items: u64,
        size: usize,
    ) -> Result<Bytes, AwkwardImportError> {
        let key = format!("{}-{part}", text(json, "form_key")?);
        let fetched = self.fetched.take_if(|(name, _)| *name == key).map(|(_, bytes)| bytes);
        let Some(bytes) = fetched.or_else(|| (self.buffers)(&key)) else {
            return Err(Invalid::Missing { key }.into());
        };
        let found = (bytes.len() / size) as u64;
        if found < items {
            return Err(Invalid::Short { key, found, needed: items }.into());
        }
        Ok(bytes)
    }

    /// Reads the first `count` items of offsets or an index, of the width that the node gives.
    fn integers(
        &mut self,
        json: &Json,
        part: &str,
        width: &str,
        count: u64,
    ) -> Result<Vec<i64>, AwkwardImportError> {
        let width = text(json, width)?;
        let size = match width {
            "i64" => 8,
            "i32" | "u32" => 4,
            other => return Err(not_a_form(format!("{part} of type {other:?}"))),
        };
        let bytes = self.buffer(json, part, count, size)?;
        let bytes = &bytes[..count as usize * size];
        Ok(match width {
            "i64" => bytes.as_chunks::<8>().0.iter().map(|item| i64::from_ne_bytes(*item)).collect(),
            "i32" => bytes.as_chunks::<4>().0.iter().map(|item| i32::from_ne_bytes(*item).into()).collect(),
            _ => bytes.as_chunks::<4>().0.iter().map(|item| u32::from_ne_bytes(*item).into()).collect(),
        })
    }
}

fn text<'j>(json: &'j Json, key: &str) -> Result<&'j str, AwkwardImportError> {
    json.get(key).and_then(Json::as_str).ok_or_else(|| not_a_form(format!("a node without {key:?}")))
}

fn truth(json: &Json, key: &str) -> Result<bool, AwkwardImportError> {
    json.get(key).and_then(Json::as_bool).ok_or_else(|| not_a_form(format!("a node without {key:?}")))
}

fn names(fields: &Json) -> Result<Vec<String>, AwkwardImportError> {
    let list = fields.as_array().ok_or_else(|| not_a_form("fields"))?;
    let names = list.iter().map(|name| name.as_str().map(str::to_owned));
    names.collect::<Option<_>>().ok_or_else(|| not_a_form("fields"))
}

fn dtype(primitive: &str) -> Option<DType> {
    use DType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    [Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64]
        .into_iter()
        .find(|dtype| dtype.name() == primitive)
}

/// Wraps a Form in the dimensions of `shape`, outermost first.
fn dimensions(shape: &[u64], item: Form) -> Form {
    shape.iter().rev().fold(item, |content, size| Form::Regular { size: *size, content: Box::new(content) })
}

/// Whether a logical type applies to a node.
fn fits(meaning: LogicalType, form: &Form) -> bool {
    match (meaning, form) {
        (LogicalType::Decimal { .. }, Form::String { binary, .. }) => *binary,
        (LogicalType::Decimal { .. }, Form::Numpy { dtype, .. }) => {
            matches!(dtype, DType::Int32 | DType::Int64)
        }
        (LogicalType::Half, Form::Numpy { dtype, .. }) => *dtype == DType::UInt16,
        (LogicalType::Date | LogicalType::Time(TimeUnit::Milli), Form::Numpy { dtype, .. }) => {
            *dtype == DType::Int32
        }
        (
            LogicalType::Time(_) | LogicalType::Duration(_) | LogicalType::Timestamp { .. },
            Form::Numpy { dtype, .. },
        ) => *dtype == DType::Int64,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
