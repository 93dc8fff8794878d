//! Recovery of files and streams that are truncated, unfinished or corrupt.

use crate::{
    file::{Found, IpcFile, Listed, WINDOW, are_equal, begin_of_messages, bytes_behind_the_end, schema_of},
    layout::{ColumnType, parts},
    message::{Message, parse},
};
use arrow_schema::{DataType, Schema};
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Result};
use std::{ops::Range, sync::Arc};

/// A part of a file whose batches are lost.
#[derive(Debug)]
#[non_exhaustive]
pub struct LostPart {
    /// Number of its first batch, counting all batches that can be distinguished.
    pub batch: u64,
    /// Number of readable rows before it.
    pub row: u64,
    /// Number of rows of the batch, if its header is readable.
    pub rows: Option<u64>,
    /// Byte range of the part.
    pub bytes: Range<u64>,
    /// The reason.
    pub error: Error,
}

/// Continuation marker at the start of every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Upper bound in bytes on the metadata of a message that is searched for.
const LONGEST: u64 = 64 << 20;
/// Alignment of messages in bytes.
const ALIGNMENT: u64 = 8;

impl IpcFile {
    /// Opens a file or stream that may be truncated, unfinished or corrupt, with the readable batches. Also
    /// returns the lost parts in file order.
    ///
    /// If the footer of a file is valid, each listed batch is read or lost separately. Otherwise, messages
    /// are read in sequence up to the first corrupt one. After it, batches are searched for unless the schema
    /// has dictionaries, which may be lost, or columns of bytes, whose values may look like batches.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open), except for damage after the schema.
    pub fn recover(source: Arc<dyn Source>) -> Result<(Self, Vec<LostPart>)> {
        let here = source.uri().to_owned();
        let found = match Self::read(Arc::clone(&source)) {
            Ok(file) => Ok((file, Vec::new())),
            Err(error) if is_of_a_message(&error) => {
                let recovered = Self::read_around_damage(&source);
                // A file in which all batches are of an unsupported type is not damaged.
                let has_rows = recovered.as_ref().is_ok_and(|(file, _)| file.batches() > 0);
                if has_rows || error.is_damage() { recovered } else { Err(error) }
            }
            Err(error) => Err(error),
        };
        found.map_err(|error| error.in_file(&here))
    }

    fn read_around_damage(source: &Arc<dyn Source>) -> Result<(Self, Vec<LostPart>)> {
        let size = source.size()?;
        match listed_batches(source.as_ref(), size) {
            Ok((found, schema, lost)) => {
                return Ok((Self::of(Arc::clone(source), size, found, schema, false), lost));
            }
            Err(error) if !is_of_a_message(&error) => return Err(error),
            Err(_) => {}
        }
        let begin = begin_of_messages(source.as_ref(), size)?;
        let (mut found, mut schema, mut lost) = (Found::default(), None, Vec::new());
        let mut at = begin;
        // Bounds the work for bytes that look like messages, which are rare unless the file is malicious.
        let mut budget = size.saturating_mul(4).saturating_add(LONGEST);
        loop {
            let fault = match found.messages(source.as_ref(), &mut at, size, &mut schema) {
                Ok(()) => match bytes_behind_the_end(source.as_ref(), at, size)? {
                    // A stream with equal columns was appended.
                    Some(_) if is_of_schema(source.as_ref(), at + 8, size, &schema)? == Some(true) => {
                        at += 8;
                        continue;
                    }
                    fault => fault.map(|error| (error, true)),
                },
                Err(error) if is_of_a_message(&error) => Some((error, false)),
                Err(error) => return Err(error),
            };
            let Some((error, is_end)) = fault else { break };
            let Some(known) = &schema else { return Err(error) };
            let goes_on = may_go_on(&known.0);
            // Batches after the schema of another stream belong to that stream.
            let begin_of_other = if is_end { at + 8 } else { at };
            let is_other = is_of_schema(source.as_ref(), begin_of_other, size, &schema)? == Some(false);
            let next = match (goes_on || is_end) && !is_other {
                true => next_batch(source.as_ref(), (begin, at), size, known, &mut budget)?,
                false => None,
            };
            // The footer of a file, or a part of it, follows the messages.
            if is_end && next.is_none() && !is_other && begin > 0 {
                break;
            }
            let next = next.filter(|_| goes_on);
            let batch = (found.batches.len() + lost.len()) as u64;
            let rows = rows_of_message(source.as_ref(), at, size)?;
            let bytes = at..next.unwrap_or(size);
            lost.push(LostPart { batch, row: found.rows, rows, bytes, error });
            let Some(next) = next else { break };
            at = next;
        }
        let Some(schema) = schema else {
            return Err(Error::not_a("an Arrow stream", "one without a schema"));
        };
        // A file without a footer is damaged, even if all messages are complete.
        if begin > 0 && lost.is_empty() {
            let error = Error::not_a("an Arrow IPC file", "a file without a footer").at_byte(size);
            let batch = found.batches.len() as u64;
            lost.push(LostPart { batch, row: found.rows, rows: Some(0), bytes: size..size, error });
        }
        Ok((Self::of(Arc::clone(source), size, found, schema, true), lost))
    }
}

/// Whether an error may be due to a corrupt message, which can also look like one of an unsupported type.
fn is_of_a_message(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind, ErrorKind::Unsupported { .. })
}

type Recovered = (Found, (Schema, Vec<ColumnType>), Vec<LostPart>);

/// Reads the batches that a valid footer lists.
fn listed_batches(source: &dyn Source, size: u64) -> Result<Recovered> {
    let listed = Listed::read(source, size)?;
    let (mut found, mut lost) = (Found::default(), Vec::new());
    let (blocks, dictionaries) = (listed.blocks()?, listed.dictionaries());
    for (at, block) in blocks.iter().enumerate() {
        let row = found.rows;
        let read = block.metadata(size).and_then(|range| {
            let metadata = source.read_one(range.clone())?;
            found.listed(source, block, &range, &metadata, size)
        });
        let Err(error) = read else { continue };
        // A lost dictionary is an error, since any batch may depend on it.
        if !is_of_a_message(&error) || at < dictionaries {
            return Err(error);
        }
        let bytes = block.bytes(size);
        let rows = rows_of_message(source, bytes.start, size)?;
        lost.push(LostPart { batch: (at - dictionaries) as u64, row, rows, bytes, error });
    }
    Ok((found, listed.schema()?, lost))
}

/// Whether the message at a byte offset is a schema equal to `known`; `None` if it is not a schema.
fn is_of_schema(
    source: &dyn Source,
    at: u64,
    size: u64,
    known: &Option<(Schema, Vec<ColumnType>)>,
) -> Result<Option<bool>> {
    let Some(metadata) = metadata_at(source, at, size)? else { return Ok(None) };
    let found = schema_of(&metadata).ok().flatten();
    Ok(found.map(|found| known.as_ref().is_some_and(|known| are_equal(known, &found))))
}

/// Returns the number of rows of the batch at a byte offset; `None` if its header is not readable.
fn rows_of_message(source: &dyn Source, at: u64, size: u64) -> Result<Option<u64>> {
    let Some(metadata) = metadata_at(source, at, size)? else { return Ok(None) };
    Ok(match parse(&metadata, None) {
        Ok((Message::Batch(batch), ..)) => Some(batch.rows),
        _ => None,
    })
}

/// Returns the metadata of the message at a byte offset, which are not validated; `None` if no message starts
/// there.
fn metadata_at(source: &dyn Source, at: u64, size: u64) -> Result<Option<bytes::Bytes>> {
    let Some(begin) = at.checked_add(8).filter(|begin| *begin <= size) else { return Ok(None) };
    let prefix = source.read_one(at..begin)?;
    let (marker, length) = prefix.split_at(4);
    let length = length.first_chunk().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    let is_there = marker == CONTINUATION && (1..=LONGEST).contains(&length) && length <= size - begin;
    Ok(if is_there { Some(source.read_one(begin..begin + length)?) } else { None })
}

/// Whether batches after damage can be distinguished from values, and do not depend on lost dictionaries.
fn may_go_on(schema: &Schema) -> bool {
    schema.fields().iter().all(|field| is_plain(field.data_type()))
}

fn is_plain(data_type: &DataType) -> bool {
    match data_type {
        // Columns of bytes of any type may contain a whole stream.
        DataType::Int8
        | DataType::UInt8
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Dictionary(..) => false,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)
        | DataType::RunEndEncoded(_, item) => is_plain(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_plain(field.data_type())),
        DataType::Union(fields, _) => fields.iter().all(|(_, field)| is_plain(field.data_type())),
        _ => true,
    }
}

/// Returns the byte offset of the first valid batch with the same columns after damage.
fn next_batch(
    source: &dyn Source,
    (begin, damaged): (u64, u64),
    size: u64,
    known: &(Schema, Vec<ColumnType>),
    budget: &mut u64,
) -> Result<Option<u64>> {
    let mut at = begin + (damaged - begin + 1).next_multiple_of(ALIGNMENT);
    while at + ALIGNMENT <= size {
        let window = source.read_one(at..size.min(at.saturating_add(WINDOW)))?;
        for (word, place) in window.as_chunks::<8>().0.iter().zip((at..).step_by(ALIGNMENT as usize)) {
            let length = u32::from_le_bytes([word[4], word[5], word[6], word[7]]).into();
            if word[..4] != CONTINUATION || !(1..=LONGEST).contains(&length) || length > size - place - 8 {
                continue;
            }
            let Some(left) = budget.checked_sub(length) else { return Ok(None) };
            *budget = left;
            match batch_of(source, place, length, size, known)? {
                Some(true) => return Ok(Some(place)),
                Some(false) => return Ok(None),
                None => {}
            }
        }
        at += (window.len() as u64 / ALIGNMENT).max(1) * ALIGNMENT;
    }
    Ok(None)
}

/// Whether a message is a complete batch of these columns: `false` if it is the schema of another stream,
/// `None` if it is another message.
fn batch_of(
    source: &dyn Source,
    at: u64,
    length: u64,
    size: u64,
    known: &(Schema, Vec<ColumnType>),
) -> Result<Option<bool>> {
    let end = at + 8 + length;
    let metadata = source.read_one(at + 8..end)?;
    if let Ok(Some(found)) = schema_of(&metadata) {
        return Ok(if are_equal(known, &found) { None } else { Some(false) });
    }
    let Ok((Message::Batch(batch), ..)) = parse(&metadata, Some(size - end)) else { return Ok(None) };
    let is_whole = |union_validity: &bool| parts(&batch, &known.1, *union_validity).is_ok();
    Ok([false, true].iter().any(is_whole).then_some(true))
}
