//! Headers of messages, which describe the buffers of a record batch or a dictionary.

use arrow_ipc::{CompressionType, MessageHeader, MetadataVersion, RecordBatch, root_as_message};
use forthwith_io::Codec;
use forthwith_plan::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A message without its body.
#[derive(Debug)]
pub(crate) enum Message {
    /// A schema.
    Schema,
    /// A record batch.
    Batch(Batch),
    /// The values of a dictionary.
    Dictionary {
        /// Id of the dictionary in the schema.
        id: i64,
        /// Whether the values are appended to the existing ones; otherwise they replace them.
        is_delta: bool,
        /// The values, as the only column of a batch.
        batch: Batch,
    },
}

/// Number of rows and number of nulls of a field, which may be nested in a column.
pub(crate) type Node = (i64, i64);

/// The header of a record batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Number of rows.
    pub rows: u64,
    /// Nodes of all columns, depth first.
    pub nodes: Vec<Node>,
    /// Buffers of all columns in the same order, as ranges of the body, within which they were checked to be.
    pub buffers: Vec<Range<u64>>,
    /// Number of data buffers of each view array.
    pub variadic: Vec<i64>,
    /// Codec of all buffers; `None` if they are uncompressed.
    pub codec: Option<Codec>,
}

/// Parses the metadata of a message, which are untrusted input. `body` is the number of bytes available for
/// the body, if known. Returns the message, its metadata version and the length of its body.
pub(crate) fn parse(metadata: &[u8], body: Option<u64>) -> Result<(Message, MetadataVersion, u64)> {
    let message = root_as_message(metadata)
        .map_err(|error| Error::not_a("a message of Arrow IPC", error.to_string()))?;
    let length = unsigned("the length of a message's body", message.bodyLength())?;
    if let Some(known) = body
        && known < length
    {
        return Err(Error::truncated("the body of a message", length, known));
    }
    let version = message.version();
    if version < MetadataVersion::V4 || version > MetadataVersion::V5 {
        return Err(Error::unsupported(format!("Arrow IPC of metadata version {}", version.0)));
    }
    let missing = |what| Error::not_a("a message of Arrow IPC", format!("a message without its {what}"));
    let parsed = match message.header_type() {
        MessageHeader::Schema => Message::Schema,
        MessageHeader::RecordBatch => {
            let batch = message.header_as_record_batch().ok_or_else(|| missing("record batch"))?;
            Message::Batch(Batch::new(batch, length)?)
        }
        MessageHeader::DictionaryBatch => {
            let header = message.header_as_dictionary_batch().ok_or_else(|| missing("dictionary"))?;
            let batch = Batch::new(header.data().ok_or_else(|| missing("dictionary"))?, length)?;
            Message::Dictionary { id: header.id(), is_delta: header.isDelta(), batch }
        }
        other => {
            let name = other.variant_name().unwrap_or("unknown");
            return Err(Error::unsupported(format!("messages of Arrow IPC with a {name}")));
        }
    };
    Ok((parsed, version, length))
}

impl Batch {
    fn new(header: RecordBatch<'_>, body: u64) -> Result<Self> {
        let codec = match header.compression() {
            None => None,
            Some(compression) => Some(match compression.codec() {
                CompressionType::LZ4_FRAME => Codec::HadoopLz4,
                CompressionType::ZSTD => Codec::Zstd,
                other => return Err(Error::unsupported(format!("compression {} in Arrow IPC", other.0))),
            }),
        };
        let buffers = header.buffers().into_iter().flatten().map(|buffer| {
            let start = unsigned("the offset of a buffer", buffer.offset())?;
            let end = start.checked_add(unsigned("the length of a buffer", buffer.length())?);
            match end {
                Some(end) if end <= body => Ok(start..end),
                _ => Err(Error::truncated("a buffer of a record batch", end.unwrap_or(u64::MAX), body)),
            }
        });
        Ok(Self {
            rows: unsigned("the number of rows of a record batch", header.length())?,
            nodes: header
                .nodes()
                .into_iter()
                .flatten()
                .map(|node| (node.length(), node.null_count()))
                .collect(),
            buffers: buffers.collect::<Result<_>>()?,
            variadic: header.variadicBufferCounts().into_iter().flatten().collect(),
            codec,
        })
    }
}

/// Converts a number in the file, which must not be negative.
pub(crate) fn unsigned(what: &'static str, number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Error::out_of_range(what, number, i64::MAX))
}
