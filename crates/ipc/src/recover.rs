//! Files and streams that were cut off, not closed or damaged: readable batches, and lost ones.

use crate::{
    file::{Found, IpcFile, Listed, WINDOW, are_equal, begin_of_messages, bytes_behind_the_end, schema_of},
    layout::{ColumnType, parts},
    message::{Message, parse},
};
use arrow_schema::{DataType, Schema};
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Result};
use std::{ops::Range, sync::Arc};

/// A part of a file whose batches cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct LostPart {
    /// The number of its first batch, among those of the whole file as far as they can be told apart.
    pub batch: u64,
    /// Rows that can be read before it.
    pub row: u64,
    /// Rows of the batch, if its header can be read.
    pub rows: Option<u64>,
    /// The bytes.
    pub bytes: Range<u64>,
    /// The fault.
    pub error: Error,
}

/// The marker at the beginning of every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of a message's metadata at most, behind damage.
const LONGEST: u64 = 64 << 20;
/// Alignment of messages in bytes.
const ALIGNMENT: u64 = 8;

impl IpcFile {
    /// Opens a file that may be cut off, not closed or damaged, with the batches that can be read. Returns the other parts as
    /// well, in their order.
    ///
    /// Of a file whose footer is sound, each batch that it lists is read or lost by itself. Otherwise messages are read one after
    /// the other, up to the first damaged one. Behind it, batches are searched for unless the schema has dictionaries, which
    /// may be lost, or binary columns, whose values may look like batches.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for damage behind the schema.
    pub fn recover(source: Arc<dyn Source>) -> Result<(Self, Vec<LostPart>)> {
        let here = source.uri().to_owned();
        let found = match Self::read(Arc::clone(&source)) {
            Ok(file) => Ok((file, Vec::new())),
            Err(error) if is_of_a_message(&error) => {
                let recovered = Self::read_around_damage(&source);
                // A file whose batches are all of an unsupported kind is not damaged.
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
        // Bytes that look like the beginning of a message are few, unless someone wants them to be many.
        let mut budget = size.saturating_mul(4).saturating_add(LONGEST);
        loop {
            let fault = match found.messages(source.as_ref(), &mut at, size, &mut schema) {
                Ok(()) => match bytes_behind_the_end(source.as_ref(), at, size)? {
                    // A stream of equal columns was appended.
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
            // Batches behind the schema of another stream are of that.
            let begin_of_other = if is_end { at + 8 } else { at };
            let is_other = is_of_schema(source.as_ref(), begin_of_other, size, &schema)? == Some(false);
            let next = match (goes_on || is_end) && !is_other {
                true => next_batch(source.as_ref(), (begin, at), size, known, &mut budget)?,
                false => None,
            };
            // The footer of a file, or a part of it, stands behind the end of its messages.
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
        // Without its footer a file is damaged, even if all messages are there.
        if begin > 0 && lost.is_empty() {
            let error = Error::not_a("an Arrow IPC file", "a file without a footer").at_byte(size);
            let batch = found.batches.len() as u64;
            lost.push(LostPart { batch, row: found.rows, rows: Some(0), bytes: size..size, error });
        }
        Ok((Self::of(Arc::clone(source), size, found, schema, true), lost))
    }
}

/// Whether an error may come of damage in one message, which can make it look like one of a kind that is not supported.
fn is_of_a_message(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind, ErrorKind::Unsupported { .. })
}

type Recovered = (Found, (Schema, Vec<ColumnType>), Vec<LostPart>);

/// The batches that a sound footer lists.
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
        // Batches may depend on any dictionary.
        if !is_of_a_message(&error) || at < dictionaries {
            return Err(error);
        }
        let bytes = block.bytes(size);
        let rows = rows_of_message(source, bytes.start, size)?;
        lost.push(LostPart { batch: (at - dictionaries) as u64, row, rows, bytes, error });
    }
    Ok((found, listed.schema()?, lost))
}

/// Whether the message that begins at a byte is an equal schema; none if it is another message.
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

/// The rows of the batch whose message begins at a byte, if its header can be read.
fn rows_of_message(source: &dyn Source, at: u64, size: u64) -> Result<Option<u64>> {
    let Some(metadata) = metadata_at(source, at, size)? else { return Ok(None) };
    Ok(match parse(&metadata, None) {
        Ok((Message::Batch(batch), ..)) => Some(batch.rows),
        _ => None,
    })
}

/// The metadata of a message that begins at a byte, without trust in them.
fn metadata_at(source: &dyn Source, at: u64, size: u64) -> Result<Option<bytes::Bytes>> {
    let Some(begin) = at.checked_add(8).filter(|begin| *begin <= size) else { return Ok(None) };
    let prefix = source.read_one(at..begin)?;
    let (marker, length) = prefix.split_at(4);
    let length = length.first_chunk().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    let is_there = marker == CONTINUATION && (1..=LONGEST).contains(&length) && length <= size - begin;
    Ok(if is_there { Some(source.read_one(begin..begin + length)?) } else { None })
}

/// Whether batches behind damage can be told from bytes of values, and do not depend on lost dictionaries.
fn may_go_on(schema: &Schema) -> bool {
    schema.fields().iter().all(|field| is_plain(field.data_type()))
}

fn is_plain(data_type: &DataType) -> bool {
    match data_type {
        // Columns of bytes, whatever their type: a whole stream may be in them.
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

/// The first byte behind damage at which a sound batch of the same columns begins.
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

/// Whether a message is a whole batch of these columns: false if it is the schema of another stream, none if it is another message.
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
