//! Writing of message files.

use crate::{
    Framing,
    derive::derive,
    layout::{Keep, Layouts, Mapping, dialect},
    schema::Schema,
};
use forthwith_columns::{Array, Form};
use forthwith_encode::{EncodeError, Encoder};
use forthwith_io::Sink;
use forthwith_plan::{Error, ErrorKind, Result, TableWriter, Written};
use forthwith_program::{Dialect, Frame, Layout};

/// Approximate number of bytes that are written to the sink at once.
const BLOCK: usize = 1 << 16;
/// Maximum size of a message in bytes.
const LARGEST: usize = i32::MAX as usize;
/// Maximum depth of recursive message types: the maximum depth of columns.
const DEEPEST: u32 = 60;

/// Options for writing a file.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// Schema; if `None`, it is derived from the columns.
    pub schema: Option<Schema>,
    /// Full name of the message type; if `None`, the only type of the schema that is not used by another, or
    /// `Row` for a derived schema.
    pub message: Option<String>,
    /// Framing of the messages.
    pub framing: Framing,
}

/// Writer of a file of messages, one for each row of the columns.
///
/// ```
/// use forthwith_columns::{Array, Column, DType, Form};
/// use forthwith_io::MemorySink;
/// use forthwith_plan::TableWriter;
/// use forthwith_protobuf::{ProtoWriter, Writing};
///
/// let form = Form::Numpy { key: "x".into(), dtype: DType::Int32, shape: vec![] };
/// let sink = MemorySink::new("x.pb");
/// let columns = [("x".to_owned(), form.clone())];
/// let mut writer = ProtoWriter::new(Box::new(sink.clone()), &columns, &Writing::default())?;
/// let x = Array { form, length: 2, columns: vec![("x-data".into(), Column::from_slice(&[150i32, 0]))] };
/// writer.write(&[x])?;
/// Box::new(writer).finish()?;
/// assert_eq!(sink.bytes().as_deref(), Some(&b"\x03\x08\x96\x01\x00"[..]));
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
pub struct ProtoWriter {
    sink: Box<dyn Sink>,
    layout: Layout,
    dialect: Dialect,
    names: Vec<String>,
    framing: Framing,
    block: Vec<u8>,
    written: Written,
}

impl ProtoWriter {
    /// Creates a writer for messages with these columns.
    ///
    /// # Errors
    /// Returns an error if the schema lacks the message type or a field for a column, if a column has no type
    /// in ProtoBuf, or if the framing is [`Framing::HepMc3`], which is only read.
    pub fn new(sink: Box<dyn Sink>, columns: &[(String, Form)], options: &Writing) -> Result<Self> {
        let uri = sink.uri().to_owned();
        Self::begin(sink, columns, options).map_err(|error| error.in_file(&uri))
    }

    fn begin(sink: Box<dyn Sink>, columns: &[(String, Form)], options: &Writing) -> Result<Self> {
        if options.framing == Framing::HepMc3 {
            return Err(Error::unsupported("files of HepMC3 are read only"));
        }
        let (schema, message) = match &options.schema {
            Some(schema) => (schema.clone(), options.message.clone()),
            None => {
                let text = schema_of(columns, options.message.as_deref())?;
                (Schema::of_text(&text)?, Some(options.message.clone().unwrap_or_else(|| ROW.into())))
            }
        };
        let mut keep = Keep::none();
        for (name, form) in columns {
            keep.insert(name.clone(), kept(form));
        }
        let mapping = Mapping { recursion: DEEPEST, ..Mapping::default() };
        let message = schema.message(message.as_deref())?;
        let tagged =
            Layouts::for_writing(&schema, mapping).message(message, &keep).map_err(Error::unsupported)?;
        Ok(Self {
            sink,
            layout: Layout::Tagged(tagged),
            dialect: dialect(Frame::None),
            names: columns.iter().map(|(name, _)| name.clone()).collect(),
            framing: options.framing,
            block: Vec::new(),
            written: Written::default(),
        })
    }

    fn append(&mut self, arrays: &[Array]) -> Result<()> {
        for (name, array) in self.names.iter().zip(arrays) {
            if let Err(bad) = array.check_text() {
                let row = self.written.entries.saturating_add(bad.row);
                return Err(Error::not_utf8(bad.to_string()).in_row(name, row, &bad.member));
            }
        }
        let (layout, names) = (&self.layout, &self.names);
        if names.len() != arrays.len() {
            let what = format!("{} columns, of {} that were announced", arrays.len(), names.len());
            return Err(Error::invalid(what));
        }
        let encoder = Encoder::of_fields(layout, &self.dialect, names, arrays).map_err(refused)?;
        if self.framing == Framing::Single && self.written.entries + encoder.rows() > 1 {
            let what = "a file that is one message has one row: framing=\"delimited\" is for several";
            return Err(Error::invalid(what));
        }
        let mut message = Vec::new();
        for row in 0..encoder.rows() {
            message.clear();
            encoder.row(row, &mut message).map_err(refused)?;
            if message.len() > LARGEST {
                let what = format!("a message of {} bytes; readers take up to {LARGEST}", message.len());
                return Err(Error::invalid(what).in_row("", self.written.entries, ""));
            }
            match self.framing {
                Framing::Delimited => {
                    let mut length = message.len();
                    while length >= 0x80 {
                        self.block.push(length as u8 | 0x80);
                        length >>= 7;
                    }
                    self.block.push(length as u8);
                }
                Framing::Fixed32 { big: true } => self.block.extend((message.len() as u32).to_be_bytes()),
                Framing::Fixed32 { big: false } => self.block.extend((message.len() as u32).to_le_bytes()),
                Framing::Single | Framing::HepMc3 => {}
            }
            self.block.extend_from_slice(&message);
            self.written.entries += 1;
            if self.block.len() >= BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        let uri = self.sink.uri().to_owned();
        self.sink.write_all(&block).map_err(|error| forthwith_io::Error::new(error.into(), uri))?;
        self.written.bytes += block.len() as u64;
        Ok(())
    }
}

impl TableWriter for ProtoWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        self.append(columns).map_err(|error| error.in_file(self.sink.uri()))
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.flush().map_err(|error| error.in_file(self.sink.uri()))?;
        let Self { sink, written, .. } = *self;
        sink.finish()?;
        Ok(written)
    }
}

forthwith_io::impl_debug!(ProtoWriter, |it| "uri": it.sink.uri());

/// Message type of a derived schema if no name is given.
const ROW: &str = "Row";

/// Returns the `.proto` schema that [`ProtoWriter`] derives from columns.
///
/// # Errors
/// Returns an error if ProtoBuf has no type for a column.
pub fn schema_of(columns: &[(String, Form)], message: Option<&str>) -> Result<String> {
    derive(columns, message.unwrap_or(ROW)).map_err(Error::unsupported)
}

/// Returns the projection of the schema to the fields of a column. It limits recursive types to the depth of
/// the column.
fn kept(form: &Form) -> Keep {
    match form {
        Form::Option { content, .. } | Form::List { content, .. } | Form::Regular { content, .. } => {
            kept(content)
        }
        Form::Record { fields: Some(fields), contents, .. } => {
            let mut keep = Keep::none();
            for (name, content) in fields.iter().zip(contents) {
                keep.insert(name.clone(), kept(content));
            }
            keep
        }
        // The contents of a map entry are its key and its value.
        Form::Record { fields: None, contents, .. } => contents.get(1).map_or(Keep::Whole, kept),
        _ => Keep::Whole,
    }
}

fn refused(error: EncodeError) -> Error {
    Error::new(match error {
        EncodeError::Unsupported { .. } => ErrorKind::Unsupported { what: error.to_string() },
        other => ErrorKind::Invalid { what: other.to_string() },
    })
}
