//! Opening of files and streams: their schema, and the locations of their batches.

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

/// Magic bytes at the start and the end of a file.
const MAGIC: &[u8] = b"ARROW1";
/// Continuation marker before the length of each message, since version 0.15 of Arrow.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Upper bound in bytes on the magic and the padding that aligns the first message.
const LONGEST_PADDING: u64 = 1 << 10;
/// Number of bytes at the end of a file that are read at once, which contain most footers.
const TAIL: u64 = 64 << 10;
/// Number of bytes that are searched at a time.
pub(crate) const WINDOW: u64 = 1 << 20;

/// An opened file or stream of Arrow's IPC format: its schema and the headers of its batches.
#[derive(Debug)]
pub struct IpcFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) columns: Arc<[ColumnType]>,
    pub(crate) batches: Arc<[Placed]>,
    pub(crate) dictionaries: Arc<[Stored]>,
    /// Whether unions have a validity buffer.
    pub(crate) union_validity: bool,
    /// Upper bound on the rows of a batch, by the size of the file.
    pub(crate) most_rows: u64,
    is_stream: bool,
}

/// A record batch: its header, the byte range of its body, and its range of rows in the table.
#[derive(Debug)]
pub(crate) struct Placed {
    pub batch: Batch,
    pub body: Range<u64>,
    pub rows: Range<u64>,
    /// Number of dictionary messages before it.
    pub dictionaries: usize,
}

/// The messages of a file or a stream.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) batches: Vec<Placed>,
    dictionaries: Vec<Stored>,
    /// Number of rows of all batches.
    pub(crate) rows: u64,
    version: Option<MetadataVersion>,
}

impl IpcFile {
    /// Whether `head` is the beginning of a file or a stream of Arrow's IPC format.
    #[must_use]
    pub fn is_ipc(head: &[u8]) -> bool {
        head.starts_with(MAGIC) || (head.starts_with(&CONTINUATION) && head.len() >= 8 && head[7] == 0)
    }

    /// Opens a file or a stream. Reads the footer of a file, and the headers of all batches.
    ///
    /// # Errors
    /// The source cannot be read; the file is corrupt, with the byte offset; the file is of an Arrow version
    /// before 0.15 or of the other byte order.
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

    /// Returns the number of record batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Returns the source of the file.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Whether this is a stream, which has no footer.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns the key-value metadata of the schema, sorted by key.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut all: Vec<_> =
            self.schema.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        all.sort_unstable();
        all.into_iter()
    }

    /// Returns the distinct names of the codecs of all batches, sorted.
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
    /// Reads the messages that the footer of a file lists.
    fn file(&mut self, source: &dyn Source, size: u64) -> Result<(Schema, Vec<ColumnType>)> {
        let listed = Listed::read(source, size)?;
        let (columns, blocks) = (listed.schema()?, listed.blocks()?);
        let ranges = blocks.iter().map(|block| block.metadata(size)).collect::<Result<Vec<_>>>()?;
        // The headers of all messages are read by one request.
        for ((block, range), metadata) in blocks.iter().zip(&ranges).zip(source.read(&ranges)?) {
            self.listed(source, block, range, &metadata, size)?;
        }
        Ok(columns)
    }

    /// Adds a message that the footer lists.
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
        // Files before version 0.15 lack the continuation marker.
        let skipped = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        let metadata = metadata.get(skipped..).unwrap_or_default();
        self.message(source, metadata, range.end..end).map_err(here).map(drop)
    }

    /// Reads the messages of a stream up to its end marker or the end of the file. After the end marker, only
    /// zeros are valid, as left by a buffer that was longer than the stream.
    fn stream(&mut self, source: &dyn Source, begin: u64, size: u64) -> Result<(Schema, Vec<ColumnType>)> {
        let (mut schema, mut at) = (None, begin);
        self.messages(source, &mut at, size, &mut schema)?;
        if let Some(error) = bytes_behind_the_end(source, at, size)? {
            return Err(error);
        }
        schema.ok_or_else(|| Error::not_a("an Arrow stream", "one without a schema"))
    }

    /// Reads the messages of a stream from an offset on, of which the first is the schema. `position` becomes
    /// the end of the stream or, after an error, the offset of the corrupt message.
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

    /// Adds a message whose body is at the start of a range. Returns the length of the body.
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

/// The footer of a file, and its byte offset.
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

    /// Returns the schema and the types of the columns.
    pub(crate) fn schema(&self) -> Result<(Schema, Vec<ColumnType>)> {
        let schema = self.footer()?.schema();
        let schema = schema.ok_or_else(|| Error::not_a("a footer of Arrow IPC", "one without a schema"))?;
        columns(schema).map_err(|error| error.at_byte(self.at))
    }

    /// Returns the listed messages, dictionaries first. Their total length is at most that of the file, since
    /// overlapping ones would be read repeatedly.
    pub(crate) fn blocks(&self) -> Result<Vec<ListedBlock>> {
        let footer = self.footer()?;
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let blocks: Vec<ListedBlock> = blocks.map(ListedBlock::of).collect();
        check_lengths(&blocks, self.size).map_err(|error| error.at_byte(self.at))?;
        Ok(blocks)
    }

    /// Returns the number of dictionaries among the messages.
    pub(crate) fn dictionaries(&self) -> usize {
        self.footer().ok().and_then(|footer| footer.dictionaries()).map_or(0, |blocks| blocks.len())
    }
}

impl ListedBlock {
    fn of(block: &Block) -> Self {
        Self { offset: block.offset(), metadata: block.metaDataLength(), body: block.bodyLength() }
    }

    /// Returns the byte range of the metadata, which has to be within a file of `size` bytes.
    pub(crate) fn metadata(&self, size: u64) -> Result<Range<u64>> {
        let start = unsigned("the offset of a message", self.offset)?;
        let length = unsigned("the length of a message", self.metadata.into())?;
        match start.checked_add(length) {
            Some(end) if end <= size => Ok(start..end),
            _ => Err(Error::truncated("a message", length, size.saturating_sub(start)).at_byte(start)),
        }
    }

    /// Returns the byte range of the message, truncated to a file of `size` bytes.
    pub(crate) fn bytes(&self, size: u64) -> Range<u64> {
        let start = u64::try_from(self.offset).unwrap_or(0).min(size);
        start..start.saturating_add(self.length()).min(size)
    }

    fn length(&self) -> u64 {
        let metadata = u64::try_from(self.metadata).unwrap_or(0);
        u64::try_from(self.body).unwrap_or(0).saturating_add(metadata)
    }
}

/// Checks that the total length of all messages is at most `size`.
fn check_lengths(blocks: &[ListedBlock], size: u64) -> Result<()> {
    match blocks.iter().map(ListedBlock::length).fold(0, u64::saturating_add) {
        all if all > size => Err(Error::out_of_range("the length of all messages", all, size)),
        _ => Ok(()),
    }
}

/// Parses a schema message; `None` if the message is of another type.
pub(crate) fn schema_of(metadata: &[u8]) -> Result<Option<(Schema, Vec<ColumnType>)>> {
    let message = root_as_message(metadata)
        .map_err(|error| Error::not_a("a message of Arrow IPC", error.to_string()))?;
    message.header_as_schema().map(columns).transpose()
}

/// Whether two schemas have the same fields and dictionary ids.
pub(crate) fn are_equal(first: &(Schema, Vec<ColumnType>), other: &(Schema, Vec<ColumnType>)) -> bool {
    let ids =
        |columns: &[ColumnType]| columns.iter().flat_map(|column| column.dictionaries.clone()).collect();
    let (one, two): (Vec<i64>, Vec<i64>) = (ids(&first.1), ids(&other.1));
    first.0.fields() == other.0.fields() && one == two
}

/// Returns the error of a schema message of a stream with other columns.
fn other_stream() -> Error {
    Error::not_a("a message of an Arrow stream", "the schema of another stream")
}

/// Returns an error if bytes other than zeros follow the end marker of a stream at offset `end`: the marker
/// may be corrupt, or another stream was appended, whose rows Arrow's readers silently ignore.
pub(crate) fn bytes_behind_the_end(source: &dyn Source, end: u64, size: u64) -> Result<Option<Error>> {
    // A message or another stream would start here. Bytes after many zeros are neither.
    let begin = size.min(end.saturating_add(8));
    let window = source.read_one(begin..size.min(begin.saturating_add(WINDOW)))?;
    let more = || format!("one that ends {} bytes before its file does", size - begin);
    let is_more = window.iter().any(|byte| *byte != 0);
    Ok(is_more.then(|| Error::not_a("an Arrow stream", more()).at_byte(end)))
}

/// Returns the byte offset of the first message of a stream, or of a file, in which it follows the magic and
/// padding.
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
