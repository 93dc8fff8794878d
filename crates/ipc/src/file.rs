//! A file or a stream: its schema, and where its batches are.

use crate::{
    dictionary::Stored,
    layout::{ColumnType, columns},
    message::{Batch, Message, parse, unsigned},
};
use arrow_ipc::{Block, Footer, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::Schema;
use forthwith_io::{LARGEST_EXPANSION, Source};
use forthwith_plan::{Error, Result};
use std::{ops::Range, sync::Arc};

/// What a file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What precedes the length of each message of a stream, since version 0.15 of Arrow.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of the magic word with the padding that aligns the first message.
const LONGEST_PADDING: u64 = 1 << 10;
/// Bytes of a file's end that are read at once: the footers of most files.
const TAIL: u64 = 64 << 10;
/// Bytes that are searched at a time.
pub(crate) const WINDOW: u64 = 1 << 20;

/// An opened file or stream of Arrow's IPC format: its schema and the headers of its batches.
#[derive(Debug)]
pub struct IpcFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) columns: Arc<[ColumnType]>,
    pub(crate) batches: Arc<[Placed]>,
    pub(crate) dictionaries: Arc<[Stored]>,
    /// Whether unions have a buffer of validity.
    pub(crate) union_validity: bool,
    /// Limit on the rows of a batch: a file that is so small cannot have more.
    pub(crate) most_rows: u64,
    is_stream: bool,
}

/// A record batch: its header, where its body is, and its rows among all.
#[derive(Debug)]
pub(crate) struct Placed {
    pub batch: Batch,
    pub body: Range<u64>,
    pub rows: Range<u64>,
    /// Messages with dictionaries that precede it.
    pub dictionaries: usize,
}

/// The messages of a file.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) batches: Vec<Placed>,
    dictionaries: Vec<Stored>,
    /// Rows of all batches.
    pub(crate) rows: u64,
    version: Option<MetadataVersion>,
}

impl IpcFile {
    /// Whether a file that begins so is one of Arrow's IPC format, or a stream.
    #[must_use]
    pub fn is_ipc(head: &[u8]) -> bool {
        head.starts_with(MAGIC) || (head.starts_with(&CONTINUATION) && head.len() >= 8 && head[7] == 0)
    }

    /// Opens a file: reads its footer and the headers of all batches, or those of a stream.
    ///
    /// # Errors
    /// The source cannot be read; damage, with the byte; versions before 0.15 of Arrow, and the other byte order.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let here = source.uri().to_owned();
        Self::read(source).map_err(|error| error.in_file(&here))
    }

    pub(crate) fn read(source: Arc<dyn Source>) -> Result<Self> {
        let size = source.size()?;
        let head = source.read_one(0..size.min(8))?;
        let is_stream = !head.starts_with(MAGIC);
        let mut found = Found::default();
        let (schema, columns) = if is_stream {
            found.stream(source.as_ref(), 0, size)?
        } else {
            found.file(source.as_ref(), size)?
        };
        Ok(Self::of(source, size, found, (schema, columns), is_stream))
    }

    pub(crate) fn of(
        source: Arc<dyn Source>,
        size: u64,
        found: Found,
        (schema, columns): (Schema, Vec<ColumnType>),
        is_stream: bool,
    ) -> Self {
        Self {
            source,
            schema: schema.into(),
            columns: columns.into(),
            batches: found.batches.into(),
            dictionaries: found.dictionaries.into(),
            union_validity: found.version == Some(MetadataVersion::V4),
            most_rows: size.saturating_mul(8 * LARGEST_EXPANSION),
            is_stream,
        }
    }

    /// Number of record batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Whether it is a stream, which has no footer.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Metadata of the schema, by their keys in order.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut all: Vec<_> =
            self.schema.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        all.sort_unstable();
        all.into_iter()
    }

    /// Names of the codecs of the batches.
    #[must_use]
    pub fn codecs(&self) -> Vec<&'static str> {
        let mut all: Vec<_> = self
            .batches
            .iter()
            .map(|placed| placed.batch.codec.map_or("none", forthwith_io::Codec::name))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Found {
    /// Messages that a footer lists.
    fn file(&mut self, source: &dyn Source, size: u64) -> Result<(Schema, Vec<ColumnType>)> {
        let listed = Listed::read(source, size)?;
        let (columns, blocks) = (listed.schema()?, listed.blocks()?);
        let ranges = blocks.iter().map(|block| block.metadata(size)).collect::<Result<Vec<_>>>()?;
        // One request for the headers of all messages.
        for ((block, range), metadata) in blocks.iter().zip(&ranges).zip(source.read(&ranges)?) {
            self.listed(source, block, range, &metadata, size)?;
        }
        Ok(columns)
    }

    /// A message that the footer lists.
    pub(crate) fn listed(
        &mut self,
        source: &dyn Source,
        block: &ListedBlock,
        range: &Range<u64>,
        metadata: &[u8],
        size: u64,
    ) -> Result<()> {
        let here = |error: Error| error.at_byte(range.start);
        let length = unsigned("the length of a message's body", block.body).map_err(here)?;
        let end = range.end.checked_add(length).filter(|end| *end <= size);
        let end =
            end.ok_or_else(|| here(Error::truncated("the body of a message", length, size - range.end)))?;
        // The continuation marker is missing in files of before 0.15.
        let skipped = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        let metadata = metadata.get(skipped..).unwrap_or_default();
        self.message(source, metadata, range.end..end).map_err(here).map(drop)
    }

    /// Messages of a stream, one after the other, until one that says that it ends, or the file does. Behind the end only zeros
    /// are allowed, of memory that was longer than the stream.
    fn stream(&mut self, source: &dyn Source, begin: u64, size: u64) -> Result<(Schema, Vec<ColumnType>)> {
        let (mut schema, mut at) = (None, begin);
        self.messages(source, &mut at, size, &mut schema)?;
        if let Some(error) = bytes_behind_the_end(source, at, size)? {
            return Err(error);
        }
        schema.ok_or_else(|| Error::not_a("an Arrow stream", "one without a schema"))
    }

    /// Takes note of the messages of a stream from a byte on, of which the first is the schema. The byte becomes that of the
    /// end of the stream or, after an error, that of the message that is damaged.
    pub(crate) fn messages(
        &mut self,
        source: &dyn Source,
        position: &mut u64,
        size: u64,
        schema: &mut Option<(Schema, Vec<ColumnType>)>,
    ) -> Result<()> {
        while *position < size {
            let at = *position;
            let here = |error: Error| error.at_byte(at);
            let left = size - at;
            if left < 8 {
                return Err(here(Error::truncated("a message of an Arrow stream", 8, left)));
            }
            let prefix = source.read_one(at..at + 8)?;
            let (marker, length) = prefix.split_at(4);
            if marker != CONTINUATION {
                return Err(here(Error::not_a(
                    "a message of an Arrow stream",
                    format!("bytes that begin with {marker:02x?}"),
                )));
            }
            let length = length.first_chunk::<4>().map_or(0, |length| i32::from_le_bytes(*length));
            let length = unsigned("the length of a message", length.into()).map_err(here)?;
            if length == 0 {
                break;
            }
            let end = at + 8 + length;
            if end > size {
                return Err(here(Error::truncated("a message of an Arrow stream", length, left - 8)));
            }
            let metadata = source.read_one(at + 8..end)?;
            match (&schema, schema_of(&metadata).map_err(here)?) {
                (None, None) => {
                    return Err(here(Error::not_a("an Arrow stream", "a message before the schema")));
                }
                (None, found) => *schema = found,
                (Some(known), Some(found)) if !are_equal(known, &found) => return Err(here(other_stream())),
                _ => {}
            }
            *position = end + self.message(source, &metadata, end..size).map_err(here)?;
        }
        Ok(())
    }

    /// Takes note of a message whose body is at the beginning of a range. Returns the length of the body.
    fn message(&mut self, source: &dyn Source, metadata: &[u8], body: Range<u64>) -> Result<u64> {
        let (message, version, length) = parse(metadata, Some(body.end - body.start))?;
        let body = body.start..body.start + length;
        self.version = Some(version);
        match message {
            Message::Schema => {}
            Message::Dictionary { id, is_delta, batch } => {
                let bytes = source.read_one(body)?;
                self.dictionaries.push(Stored { id, is_delta, batch, body: bytes });
            }
            Message::Batch(batch) => {
                let first = self.rows;
                let end = first.checked_add(batch.rows).filter(|end| i64::try_from(*end).is_ok());
                self.rows =
                    end.ok_or_else(|| Error::out_of_range("the number of rows", batch.rows, i64::MAX))?;
                let dictionaries = self.dictionaries.len();
                self.batches.push(Placed { batch, body, rows: first..self.rows, dictionaries });
            }
        }
        Ok(length)
    }
}

/// The footer of a file, and where it is.
pub(crate) struct Listed {
    bytes: bytes::Bytes,
    at: u64,
    size: u64,
}

/// A message that a footer lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedBlock {
    offset: i64,
    metadata: i32,
    body: i64,
}

impl Listed {
    /// Reads the footer of a file.
    pub(crate) fn read(source: &dyn Source, size: u64) -> Result<Self> {
        let trailer = (MAGIC.len() + 4) as u64;
        let least = 8 + trailer;
        if size < least {
            return Err(Error::truncated("an Arrow IPC file", least, size));
        }
        let from = size.saturating_sub(TAIL).max(8);
        let tail = source.read_one(from..size)?;
        let (before, end) = tail.split_at(tail.len() - trailer as usize);
        if !end.ends_with(MAGIC) {
            return Err(Error::not_a(
                "an Arrow IPC file",
                "a file without a footer: it was cut off, or not closed",
            ));
        }
        let length = end.first_chunk::<4>().map_or(0, |length| i32::from_le_bytes(*length));
        let length = unsigned("the length of the footer", length.into())?;
        let at = (size - trailer).checked_sub(length).filter(|at| *at >= 8);
        let at = at.ok_or_else(|| Error::out_of_range("the length of the footer", length, size - least))?;
        let bytes = match before.len().checked_sub(length as usize) {
            Some(start) => bytes::Bytes::copy_from_slice(&before[start..]),
            None => source.read_one(at..size - trailer)?,
        };
        Ok(Self { bytes, at, size })
    }

    fn footer(&self) -> Result<Footer<'_>> {
        root_as_footer(&self.bytes)
            .map_err(|error| Error::not_a("a footer of Arrow IPC", error.to_string()).at_byte(self.at))
    }

    /// The types of the columns.
    pub(crate) fn schema(&self) -> Result<(Schema, Vec<ColumnType>)> {
        let schema = self.footer()?.schema();
        let schema = schema.ok_or_else(|| Error::not_a("a footer of Arrow IPC", "one without a schema"))?;
        columns(schema).map_err(|error| error.at_byte(self.at))
    }

    /// The messages, dictionaries first. Their total length is at most that of the file: overlapping ones would be read
    /// repeatedly.
    pub(crate) fn blocks(&self) -> Result<Vec<ListedBlock>> {
        let footer = self.footer()?;
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let blocks: Vec<ListedBlock> = blocks.map(ListedBlock::of).collect();
        check_lengths(&blocks, self.size).map_err(|error| error.at_byte(self.at))?;
        Ok(blocks)
    }

    /// The number of dictionaries among the messages.
    pub(crate) fn dictionaries(&self) -> usize {
        self.footer().ok().and_then(|footer| footer.dictionaries()).map_or(0, |blocks| blocks.len())
    }
}

impl ListedBlock {
    fn of(block: &Block) -> Self {
        Self { offset: block.offset(), metadata: block.metaDataLength(), body: block.bodyLength() }
    }

    /// Where its metadata are in a file of a size.
    pub(crate) fn metadata(&self, size: u64) -> Result<Range<u64>> {
        let start = unsigned("the offset of a message", self.offset)?;
        let length = unsigned("the length of a message", self.metadata.into())?;
        match start.checked_add(length) {
            Some(end) if end <= size => Ok(start..end),
            _ => Err(Error::truncated("a message", length, size.saturating_sub(start)).at_byte(start)),
        }
    }

    /// Its bytes, as far as they are in a file of a size.
    pub(crate) fn bytes(&self, size: u64) -> Range<u64> {
        let start = u64::try_from(self.offset).unwrap_or(0).min(size);
        start..start.saturating_add(self.length()).min(size)
    }

    fn length(&self) -> u64 {
        let metadata = u64::try_from(self.metadata).unwrap_or(0);
        u64::try_from(self.body).unwrap_or(0).saturating_add(metadata)
    }
}

/// Refuses messages that are longer than the file in all.
fn check_lengths(blocks: &[ListedBlock], size: u64) -> Result<()> {
    match blocks.iter().map(ListedBlock::length).fold(0, u64::saturating_add) {
        all if all > size => Err(Error::out_of_range("the length of all messages", all, size)),
        _ => Ok(()),
    }
}

/// The schema that a message is, if it is one.
pub(crate) fn schema_of(metadata: &[u8]) -> Result<Option<(Schema, Vec<ColumnType>)>> {
    let message = root_as_message(metadata)
        .map_err(|error| Error::not_a("a message of Arrow IPC", error.to_string()))?;
    message.header_as_schema().map(columns).transpose()
}

/// Whether batches of one schema are those of another one.
pub(crate) fn are_equal(first: &(Schema, Vec<ColumnType>), other: &(Schema, Vec<ColumnType>)) -> bool {
    let ids =
        |columns: &[ColumnType]| columns.iter().flat_map(|column| column.dictionaries.clone()).collect();
    let (one, two): (Vec<i64>, Vec<i64>) = (ids(&first.1), ids(&other.1));
    first.0.fields() == other.0.fields() && one == two
}

/// The error of the message with which a stream of other columns begins.
fn other_stream() -> Error {
    Error::not_a("a message of an Arrow stream", "the schema of another stream")
}

/// An error if bytes other than zeros stand behind the message at a byte that ends the stream: the message may be damage, or
/// another stream was appended, whose rows Arrow's own readers drop without a word.
pub(crate) fn bytes_behind_the_end(source: &dyn Source, end: u64, size: u64) -> Result<Option<Error>> {
    // A message, or another stream, begins there; bytes behind many zeros are neither.
    let begin = size.min(end.saturating_add(8));
    let window = source.read_one(begin..size.min(begin.saturating_add(WINDOW)))?;
    let more = || format!("one that ends {} bytes before its file does", size - begin);
    let is_more = window.iter().any(|byte| *byte != 0);
    Ok(is_more.then(|| Error::not_a("an Arrow stream", more()).at_byte(end)))
}

/// The first byte of the messages of a stream, or of a file: they stand behind the magic word and padding.
pub(crate) fn begin_of_messages(source: &dyn Source, size: u64) -> Result<u64> {
    let head = source.read_one(0..size.min(LONGEST_PADDING))?;
    let padding = head.iter().skip(MAGIC.len()).take_while(|byte| **byte == 0).count();
    Ok(if head.starts_with(MAGIC) { (MAGIC.len() + padding) as u64 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_no_longer_than_their_file() {
        let block = ListedBlock { offset: 8, metadata: 16, body: 100 };
        assert_eq!(block.metadata(200).expect("within the file"), 8..24);
        let check = |count: usize, size| check_lengths(&vec![block; count], size);
        assert!(check(1, 116).is_ok());
        let error = check(3, 347).expect_err("a message that is listed three times").to_string();
        assert!(error.contains("348"), "{error}");
        assert!(check_lengths(&[ListedBlock { body: i64::MAX, ..block }; 3], u64::MAX - 1).is_err());
    }
}
