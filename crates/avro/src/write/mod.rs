//! Writing of container files.

mod derive;
mod options;

pub use options::{DEFAULT_BLOCK, Writing};

use crate::{
    container::BlockCodec,
    default,
    schema::{Kind, Schema},
    translate::{DIALECT, Layouts},
};
use bytes::Bytes;
use forthwith_columns::{Array, Form};
use forthwith_encode::{EncodeError, Encoder, zigzag};
use forthwith_io::{Compressor, Sink};
use forthwith_plan::{Error, ErrorKind, Result, TableWriter, Written, check_digits};
use forthwith_program::Layout;
use std::collections::HashSet;

/// Writer of a container file. Rows of columns are encoded as entries, and a block is written when it is
/// full.
///
/// ```
/// use forthwith_avro::{AvroFile, AvroWriter, Writing};
/// use forthwith_columns::{Array, Column, DType, Form};
/// use forthwith_io::{Memory, MemorySink};
/// use forthwith_plan::{Dataset, TableWriter};
/// use std::sync::Arc;
///
/// let form = Form::Numpy { key: "x".into(), dtype: DType::Int32, shape: vec![] };
/// let sink = MemorySink::new("x.avro");
/// let columns = [("x".to_owned(), form.clone())];
/// let mut writer = AvroWriter::new(Box::new(sink.clone()), &columns, &Writing::default())?;
/// let x = Array { form, length: 2, columns: vec![("x-data".into(), Column::from_slice(&[1i32, -1]))] };
/// writer.write(&[x])?;
/// assert_eq!(Box::new(writer).finish()?.entries, 2);
///
/// let file = AvroFile::open(Arc::new(Memory::new("x.avro", sink.bytes().unwrap_or_default())))?;
/// assert_eq!(file.table(&Default::default())?.entries()?, 2);
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
pub struct AvroWriter {
    sink: Box<dyn Sink>,
    schema: Schema,
    layout: Layout,
    columns: Columns,
    codec: BlockCodec,
    level: Option<i32>,
    block_bytes: usize,
    block_entries: u64,
    marker: [u8; 16],
    compressor: Compressor,
    /// Current block and its number of entries.
    block: Vec<u8>,
    entries: u64,
    stored: Vec<u8>,
    /// Whether strings that are not UTF-8 are written.
    keep_text: bool,
    written: Written,
    /// Whether a write failed, so that the last block may be incomplete.
    broken: bool,
}

/// Columns expected by the next write.
#[derive(Debug)]
enum Columns {
    /// None: the file was begun for datums.
    Unknown,
    /// One column with the whole values.
    Value {
        /// Whether names within the column are adapted to Avro.
        derived: bool,
    },
    /// Columns for fields of the schema, by name.
    Named {
        names: Vec<String>,
        /// Whether names within the columns are adapted to Avro.
        derived: bool,
    },
}

impl AvroWriter {
    /// Creates a file of records with these columns. If a schema is given that is not a record, there must be
    /// at most one column, with the values.
    ///
    /// # Errors
    /// Returns an error if the schema is invalid or does not match the columns, if Avro has no type for a
    /// column, if the codec is unknown, or if the sink fails.
    pub fn new(sink: Box<dyn Sink>, columns: &[(String, Form)], options: &Writing) -> Result<Self> {
        let uri = sink.uri().to_owned();
        Self::begin(sink, columns, options).map_err(|e| e.in_file(&uri))
    }

    /// Creates a file of values that need not be records.
    ///
    /// # Errors
    /// Returns an error if [`new`](Self::new) does.
    pub fn of_values(sink: Box<dyn Sink>, form: &Form, options: &Writing) -> Result<Self> {
        let uri = sink.uri().to_owned();
        let derived = options.schema.is_none();
        let text = match &options.schema {
            Some(text) => Ok(text.clone()),
            None => derive::value(form, options.name()).map_err(Error::unsupported),
        };
        let begun = text.and_then(|text| Self::open(sink, &text, Columns::Value { derived }, options));
        begun.map_err(|e| e.in_file(&uri))
    }

    /// Creates a file of encoded datums of the schema in the options. The schema may contain recursive types,
    /// which columns cannot represent.
    ///
    /// # Errors
    /// Returns an error if the options lack a schema, if it is invalid, if the codec is unknown, or if the sink
    /// fails.
    pub fn of_datums(sink: Box<dyn Sink>, options: &Writing) -> Result<Self> {
        let uri = sink.uri().to_owned();
        let text = options.schema.as_ref().ok_or_else(|| Error::invalid("datums need a schema"));
        let begun = text.and_then(|text| Self::open(sink, text, Columns::Unknown, options));
        begun.map_err(|e| e.in_file(&uri))
    }

    /// Sets the columns of the next writes: fields with these names, or one column with the whole values.
    ///
    /// # Errors
    /// Returns an error if the schema has no layout for these columns.
    pub fn announce(&mut self, names: Option<&[String]>) -> Result<()> {
        let columns = match names {
            Some(names) => Columns::Named { names: names.to_vec(), derived: false },
            None => Columns::Value { derived: false },
        };
        let (layout, columns) = layout(&self.schema, columns).map_err(|e| e.in_file(self.sink.uri()))?;
        (self.layout, self.columns) = (layout, columns);
        Ok(())
    }

    /// Appends concatenated datums of the schema, given by their bytes and the end of each.
    ///
    /// # Errors
    /// Returns an error if the ends are outside the bytes or decrease, or if the sink fails.
    pub fn write_datums(&mut self, bytes: &[u8], ends: &[usize]) -> Result<()> {
        self.usable().and_then(|()| self.append_datums(bytes, ends)).map_err(|e| e.in_file(self.sink.uri()))
    }

    fn append_datums(&mut self, bytes: &[u8], ends: &[usize]) -> Result<()> {
        let mut start = 0;
        for end in ends {
            let datum = bytes.get(start..*end).ok_or_else(|| invalid_end(start, *end, bytes.len()))?;
            self.block.extend_from_slice(datum);
            self.count_entry()?;
            start = *end;
        }
        Ok(())
    }

    /// Counts an entry of the block, and writes the block if it is full.
    fn count_entry(&mut self) -> Result<()> {
        self.entries += 1;
        self.written.entries += 1;
        if self.block.len() >= self.block_bytes || self.entries >= self.block_entries {
            self.flush()?;
        }
        Ok(())
    }

    fn begin(sink: Box<dyn Sink>, columns: &[(String, Form)], options: &Writing) -> Result<Self> {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let (text, columns) = match &options.schema {
            Some(text) => (text.clone(), Columns::Named { names, derived: false }),
            None => {
                let forms = columns.iter().map(|(_, form)| form);
                let text = derive::record(&names, forms, options.name()).map_err(Error::unsupported)?;
                (text, Columns::Named { names, derived: true })
            }
        };
        Self::open(sink, &text, columns, options)
    }

    fn open(sink: Box<dyn Sink>, text: &str, columns: Columns, options: &Writing) -> Result<Self> {
        let schema = Schema::parse(text)?;
        let (layout, columns) = match columns {
            Columns::Unknown => (Layout::Null, columns),
            columns => layout(&schema, columns)?,
        };
        let mut this = Self {
            sink,
            schema,
            layout,
            columns,
            codec: options.block_codec()?,
            level: options.level()?,
            block_bytes: options.full_block(),
            block_entries: options.block_entries(),
            marker: options.marker.unwrap_or_else(options::random_marker),
            compressor: Compressor::new(),
            block: Vec::new(),
            entries: 0,
            stored: Vec::new(),
            keep_text: options.options.keep_text,
            written: Written::default(),
            broken: false,
        };
        if !options.append {
            this.header(text, &options.options.metadata)?;
        }
        Ok(this)
    }

    fn header(&mut self, schema: &str, metadata: &[(String, Bytes)]) -> Result<()> {
        let mut head = b"Obj\x01".to_vec();
        let own = [("avro.schema", schema.as_bytes()), ("avro.codec", self.codec.name().as_bytes())];
        let others: Vec<_> = metadata.iter().map(|(name, value)| (name.as_str(), &value[..])).collect();
        if let Some((name, _)) = others.iter().find(|(name, _)| name.starts_with("avro.")) {
            let what = format!("metadata called {name:?}: names that begin with \"avro.\" are Avro's own");
            return Err(Error::invalid(what));
        }
        zigzag((own.len() + others.len()) as i64, &mut head);
        for (name, value) in own.into_iter().chain(others) {
            for bytes in [name.as_bytes(), value] {
                zigzag(bytes.len() as i64, &mut head);
                head.extend(bytes);
            }
        }
        head.push(0);
        head.extend(self.marker);
        self.put(&head)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink.write_all(bytes).map_err(|e| forthwith_io::Error::new(e.into(), self.sink.uri()))?;
        self.written.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Returns an error if an earlier block was only partly written.
    fn usable(&self) -> Result<()> {
        if self.broken {
            let what = "a file of which an earlier step could not be written";
            return Err(Error::invalid(what));
        }
        Ok(())
    }

    /// Compresses and writes the block.
    fn flush(&mut self) -> Result<()> {
        if self.entries == 0 {
            return Ok(());
        }
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        let held = match self.codec {
            BlockCodec::Null => &self.block,
            BlockCodec::Compressed(codec) => {
                self.compressor.append(codec, self.level, &self.block, &mut stored)?;
                &stored
            }
        };
        let mut head = Vec::with_capacity(20);
        zigzag(self.entries as i64, &mut head);
        zigzag(held.len() as i64, &mut head);
        let uri = self.sink.uri().to_owned();
        let failed = |e: std::io::Error| forthwith_io::Error::new(e.into(), uri.clone());
        self.broken = true;
        for part in [&head[..], held, &self.marker] {
            self.sink.write_all(part).map_err(failed)?;
            self.written.bytes += part.len() as u64;
        }
        self.broken = false;
        self.stored = stored;
        self.block.clear();
        self.entries = 0;
        Ok(())
    }

    fn append(&mut self, arrays: &[Array]) -> Result<()> {
        self.usable()?;
        let renamed: Vec<Array>;
        let layout = std::mem::replace(&mut self.layout, Layout::Null);
        let encoder = match &self.columns {
            Columns::Unknown => Err(announced(0, arrays.len())),
            Columns::Value { derived } => match arrays {
                [array] if *derived => {
                    renamed = vec![Array { form: derive::spelled(&array.form), ..array.clone() }];
                    Encoder::new(&layout, &DIALECT, &renamed[0])
                }
                [array] => Encoder::new(&layout, &DIALECT, array),
                _ => Err(announced(1, arrays.len())),
            },
            Columns::Named { names, .. } if names.len() != arrays.len() => {
                Err(announced(names.len(), arrays.len()))
            }
            Columns::Named { names, derived: true } => {
                let spelled = |array: &Array| Array { form: derive::spelled(&array.form), ..array.clone() };
                renamed = arrays.iter().map(spelled).collect();
                Encoder::of_fields(&layout, &DIALECT, names, &renamed)
            }
            Columns::Named { names, derived: false } => Encoder::of_fields(&layout, &DIALECT, names, arrays),
        };
        self.layout = layout;
        let encoder = encoder.map_err(refused)?;
        match &self.columns {
            Columns::Unknown | Columns::Value { .. } => {
                check_digits(arrays.iter().map(|array| ("", array)), self.written.entries)?;
                self.check_text(arrays.iter().map(|array| ("", array)))?;
            }
            Columns::Named { names, .. } => {
                check_digits(names.iter().map(String::as_str).zip(arrays), self.written.entries)?;
                self.check_text(names.iter().map(String::as_str).zip(arrays))?;
            }
        }
        for row in 0..encoder.rows() {
            encoder.row(row, &mut self.block).map_err(refused)?;
            self.count_entry()?;
        }
        Ok(())
    }

    /// Refuses strings that are not UTF-8, which readers would reject.
    fn check_text<'a>(&self, mut columns: impl Iterator<Item = (&'a str, &'a Array)>) -> Result<()> {
        let bad = columns.find_map(|(name, array)| Some((name, array.check_text().err()?)));
        match bad.filter(|_| !self.keep_text) {
            Some((name, bad)) => Err(Error::not_utf8(bad.to_string()).in_row(
                name,
                self.written.entries.saturating_add(bad.row),
                &bad.member,
            )),
            None => Ok(()),
        }
    }
}

impl TableWriter for AvroWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        self.append(columns).map_err(|e| e.in_file(self.sink.uri()))
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.usable().and_then(|()| self.flush()).map_err(|e| e.in_file(self.sink.uri()))?;
        let Self { sink, written, .. } = *self;
        sink.finish()?;
        Ok(written)
    }
}

forthwith_io::impl_debug!(AvroWriter, |it| "uri": it.sink.uri());

fn invalid_end(start: usize, end: usize, bytes: usize) -> Error {
    Error::invalid(format!("datum end {end} is outside the range from {start} to the {bytes} bytes given"))
}

/// Returns the layout of the written fields; fields without a column get their default. Values that are not
/// records are one column.
fn layout(schema: &Schema, columns: Columns) -> Result<(Layout, Columns)> {
    let mut layout = Layouts::new(schema).whole(schema.root_id())?;
    let Columns::Named { names, derived } = columns else { return Ok((layout, columns)) };
    let (Layout::Record { fields, .. }, Kind::Record { fields: described, .. }) =
        (&mut layout, &schema.root().kind)
    else {
        return match names.len() {
            0 | 1 => Ok((layout, Columns::Value { derived })),
            many => Err(Error::invalid(format!("{many} columns for a schema that is no record"))),
        };
    };
    let given: HashSet<&String> = names.iter().collect();
    for ((name, of), field) in fields.iter_mut().zip(described) {
        if let (false, Some(json)) = (given.contains(name), &field.default) {
            let bytes = default::encode(schema, field.schema, json)
                .map_err(|why| Error::invalid(format!("the default of field {name:?}: {why}")))?;
            *of = Layout::Constant(bytes.into(), Box::new(std::mem::replace(of, Layout::Null)));
        }
    }
    Ok((layout, Columns::Named { names, derived }))
}

/// Returns the schema, as JSON, that is derived for values of this Form. `name` names an unnamed record.
///
/// # Errors
/// Returns an error if Avro has no type for the values.
pub fn schema_of(form: &Form, name: &str) -> Result<String> {
    derive::value(form, name).map_err(Error::unsupported)
}

fn announced(wanted: usize, found: usize) -> EncodeError {
    let (found, wanted) = (format!("{found} columns"), format!("{wanted} columns, as were announced"));
    EncodeError::Type { member: String::new(), found, wanted }
}

pub(crate) fn refused(error: EncodeError) -> Error {
    Error::new(match error {
        EncodeError::Unsupported { .. } => ErrorKind::Unsupported { what: error.to_string() },
        other => ErrorKind::Invalid { what: other.to_string() },
    })
}
