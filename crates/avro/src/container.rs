//! Object container files: header, blocks, sync markers.

use crate::schema::Schema;
use bytes::Bytes;
use forthwith_io::{Codec, CodecError, Decompressor, Source};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{ops::Range, sync::Arc};

/// First bytes of a container file.
const MAGIC: [u8; 4] = *b"Obj\x01";
/// Size of a sync marker in bytes.
pub const MARKER: u64 = 16;
/// Maximum size of a header in bytes.
const LONGEST_HEADER: u64 = 64 << 20;
/// Maximum size of a block header in bytes: two varints of ten bytes.
const LONGEST_BLOCK_HEADER: u64 = 20;
/// Number of bytes that are read at once if reads are not free.
const CHUNK: u64 = 4096;

/// Header of a container file.
#[derive(Clone, Debug)]
pub struct Header {
    /// Schema of the values.
    pub schema: Arc<Schema>,
    /// Schema as it is spelled in the file.
    pub schema_text: String,
    /// Codec of the blocks.
    pub codec: BlockCodec,
    /// All metadata in the order of the file, including schema and codec.
    pub metadata: Vec<(String, Bytes)>,
    /// Sync marker after every block.
    pub marker: [u8; 16],
    /// Byte offset of the first block.
    pub end: u64,
    /// Size of the file in bytes when the header was read.
    pub size: u64,
}

/// Codec of the blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCodec {
    /// No compression.
    Null,
    /// Compression by a codec.
    Compressed(Codec),
}

impl BlockCodec {
    /// All codecs, with their names in files and the identifiers of their formats in plans.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Null, "null", "avro.null"),
        (Self::Compressed(Codec::OldDeflate), "deflate", "avro.deflate"),
        (Self::Compressed(Codec::Snappy), "snappy", "avro.snappy"),
        (Self::Compressed(Codec::Zstd), "zstandard", "avro.zstandard"),
        (Self::Compressed(Codec::Bzip2), "bzip2", "avro.bzip2"),
        (Self::Compressed(Codec::Xz), "xz", "avro.xz"),
        // Not in the specification, but written by fastavro.
        (Self::Compressed(Codec::SizedLz4), "lz4", "avro.lz4"),
    ];

    /// Returns the name of the codec in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(codec, ..)| *codec == self).map_or("unknown", |(_, name, _)| name)
    }
}

/// Location of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// Number of the block, counted from 0. Skipped damaged blocks are counted, too.
    pub number: u64,
    /// Byte range, from the number of entries to the end of the sync marker.
    pub bytes: Range<u64>,
    /// Range of entries of the file.
    pub entries: Range<u64>,
}

/// Part of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the block, counted from 0.
    pub block: u64,
    /// Byte range that is skipped.
    pub bytes: Range<u64>,
    /// Description of the fault.
    pub what: String,
}

impl Header {
    /// Reads and parses the header of a file.
    ///
    /// # Errors
    /// Returns an error if the source is not a container file, if its schema is invalid, or if its codec is
    /// unknown.
    pub fn read(source: &dyn Source) -> Result<Self> {
        let size = source.size()?;
        let mut wanted = CHUNK;
        loop {
            let bytes = source.read_one(0..wanted.min(size))?;
            match Self::parse(&bytes, size) {
                Err(error) if is_truncated(&error) && wanted < size.min(LONGEST_HEADER) => {
                    wanted = wanted.saturating_mul(4).min(LONGEST_HEADER);
                }
                done => return done,
            }
        }
    }

    fn parse(bytes: &Bytes, size: u64) -> Result<Self> {
        let mut at = Reader { bytes, at: 0 };
        let magic = at.take(4, "the magic bytes of an Avro file")?;
        if magic != MAGIC {
            return Err(Error::not_a("an Avro container file", magic.escape_ascii().to_string()).at_byte(0));
        }
        let mut metadata = Vec::new();
        loop {
            let mut count = at.long("the header's metadata")?;
            if count == 0 {
                break;
            }
            if count < 0 {
                at.long("the header's metadata")?;
                count = count.checked_neg().unwrap_or(i64::MAX);
            }
            for _ in 0..count {
                let name = at.sized("a name in the header")?;
                let name = String::from_utf8_lossy(&bytes[name]).into_owned();
                let value = at.sized("a value in the header")?;
                metadata.push((name, bytes.slice(value)));
            }
        }
        let mut marker = [0; 16];
        marker.copy_from_slice(at.take(MARKER as usize, "the sync marker")?);
        let find = |name: &str| metadata.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let Some(text) = find("avro.schema") else {
            return Err(Error::not_a("an Avro container file", "a header without a schema"));
        };
        let schema_text = String::from_utf8_lossy(text).into_owned();
        let schema = schema_text
            .parse::<Schema>()
            .map_err(|bad| Error::not_a("an Avro schema", bad.to_string()).in_object("avro.schema"))?;
        let codec = match find("avro.codec").map(|codec| String::from_utf8_lossy(codec)) {
            None => BlockCodec::Null,
            Some(name) => match BlockCodec::ALL.iter().find(|(_, known, _)| *known == name) {
                Some((codec, ..)) => *codec,
                None if name.is_empty() => BlockCodec::Null,
                None => return Err(Error::unsupported(format!("Avro codec {name:?}"))),
            },
        };
        let end = at.at as u64;
        Ok(Self { schema: Arc::new(schema), schema_text, codec, metadata, marker, end, size })
    }
}

fn is_truncated(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Truncated { .. })
}

/// Finder of the blocks of a file. Files have no index of blocks, so they are visited in order, as far as
/// requested.
#[derive(Clone)]
pub(crate) struct Walk {
    source: Arc<dyn Source>,
    header: Arc<Header>,
    /// Minimum size of an entry in bytes.
    least: u64,
    /// Whether damaged parts are recorded and skipped, up to the next sync marker.
    leaves_out: bool,
    window: Window,
    at: u64,
    entry: u64,
    number: u64,
    pub(crate) blocks: Vec<BlockPlace>,
    pub(crate) damage: Vec<Damage>,
}

impl Walk {
    pub(crate) fn new(source: &Arc<dyn Source>, header: &Arc<Header>, leaves_out: bool) -> Self {
        Self {
            source: Arc::clone(source),
            header: Arc::clone(header),
            least: least_bytes(&header.schema),
            leaves_out,
            window: Window::default(),
            at: header.end,
            entry: 0,
            number: 0,
            blocks: Vec::new(),
            damage: Vec::new(),
        }
    }

    /// Returns the number of entries of the blocks found so far.
    pub(crate) fn entries(&self) -> u64 {
        self.entry
    }

    /// Estimates the number of entries of the file from the blocks found so far.
    pub(crate) fn likely_entries(&self) -> Result<u64> {
        let size = self.size(self.header.size)?;
        if self.at >= size || self.entry == 0 {
            return Ok(self.entry);
        }
        let (begin, all) = (self.header.end, size.saturating_sub(self.header.end));
        Ok((self.entry as f64 / self.at.saturating_sub(begin).max(1) as f64 * all as f64) as u64)
    }

    /// Returns the current size of the file, which must have at least `least` bytes. The check is needed
    /// because a file that was truncated between two blocks is a valid file with fewer entries.
    fn size(&self, least: u64) -> Result<u64> {
        let present = self.source.size()?;
        if present < least {
            let wanted = self.at.min(least)..least;
            let kind = forthwith_io::ErrorKind::Shrunk { wanted, opened: least, present };
            return Err(forthwith_io::Error::new(kind, self.source.uri()).into());
        }
        Ok(present)
    }

    /// Finds blocks until they have `entries` entries or the file ends. A block that cannot be read is an
    /// error unless damage is skipped.
    pub(crate) fn reach(&mut self, entries: u64) -> Result<()> {
        if self.entry >= entries {
            return Ok(());
        }
        let size = self.size(self.header.size)?;
        let (blocks, damage) = (self.blocks.len(), self.damage.len());
        let before = (self.at, self.entry, self.number);
        let mut found = Ok(());
        while found.is_ok() && self.entry < entries && self.at < size {
            found = self.next(size);
        }
        // One check of the size covers all reads before it. If the file was truncated meanwhile, their
        // results are discarded.
        if let Err(error) = self.size(size) {
            let error = place(error, self.number, self.at);
            self.blocks.truncate(blocks);
            self.damage.truncate(damage);
            (self.at, self.entry, self.number) = before;
            self.window = Window::default();
            return Err(error);
        }
        found
    }

    /// Returns a complete walk without some of its blocks, which are recorded as damage. All blocks must have
    /// been found.
    pub(crate) fn without(&self, bad: &[(u64, String)]) -> Self {
        let mut all = Self::new(&self.source, &self.header, self.leaves_out);
        all.damage.clone_from(&self.damage);
        for block in &self.blocks {
            if let Some((number, what)) = bad.iter().find(|(number, _)| *number == block.number) {
                all.damage.push(Damage { block: *number, bytes: block.bytes.clone(), what: what.clone() });
                continue;
            }
            let end = all.entry + (block.entries.end - block.entries.start);
            all.blocks.push(BlockPlace { entries: all.entry..end, ..block.clone() });
            all.entry = end;
        }
        all.damage.sort_by_key(|damage| damage.bytes.start);
        // Marks the walk as complete.
        (all.at, all.number) = (u64::MAX, self.number);
        all
    }

    fn next(&mut self, size: u64) -> Result<()> {
        let at = self.at;
        let source = self.source.as_ref();
        let found = block(&mut self.window, source, size, &self.header, self.least, at);
        let found = found.and_then(|(count, bytes)| {
            if count == 0 {
                nothing(source, self.header.codec, bytes.clone())?;
            }
            Ok((count, bytes.end + MARKER))
        });
        match found {
            Ok((count, end)) => {
                let next = self.entry.checked_add(count).filter(|next| i64::try_from(*next).is_ok());
                let Some(next) = next else {
                    let error = ErrorKind::Invalid { what: "more entries than can be counted".into() };
                    return Err(place(error.into(), self.number, at));
                };
                if count > 0 {
                    let number = self.number;
                    self.blocks.push(BlockPlace { number, bytes: at..end, entries: self.entry..next });
                }
                (self.at, self.entry) = (end, next);
            }
            Err(error) if !self.leaves_out => return Err(place(error, self.number, at)),
            Err(error) => {
                let end = find(source, size, &self.header.marker, at)?;
                self.damage.push(Damage { block: self.number, bytes: at..end, what: error.kind.to_string() });
                self.at = end;
            }
        }
        self.number += 1;
        Ok(())
    }
}

/// Adds the number and the byte offset of a block to an error.
fn place(error: Error, number: u64, at: u64) -> Error {
    error.in_object(&format!("block {number}")).at_byte(at)
}

/// Checks that a block without entries, which is never decoded, has no bytes.
fn nothing(source: &dyn Source, codec: BlockCodec, stored: Range<u64>) -> Result<()> {
    let bytes = match codec {
        BlockCodec::Null => stored.end - stored.start,
        // Some writers store nothing instead of the codec's encoding of zero bytes.
        BlockCodec::Compressed(_) if stored.is_empty() => 0,
        BlockCodec::Compressed(codec) => {
            let stored = source.read_one(stored)?;
            match Decompressor::new().append(codec, &stored, &mut Vec::new(), 0, MOST_OF_NOTHING) {
                Err(CodecError::TooLong { expected, .. }) => expected as u64 + 1,
                done => done? as u64,
            }
        }
    };
    if bytes > 0 {
        return Err(Error::not_a("a block", format!("{bytes} bytes of no entries")));
    }
    Ok(())
}

/// Maximum number of decompressed bytes of a block without entries; any byte is an error.
const MOST_OF_NOTHING: usize = 64 << 10;

/// Parses the block at a byte offset; returns its number of entries and the byte range of its data.
fn block(
    window: &mut Window,
    source: &dyn Source,
    size: u64,
    header: &Header,
    least: u64,
    at: u64,
) -> Result<(u64, Range<u64>)> {
    let head = window.get(source, size, at, LONGEST_BLOCK_HEADER)?;
    let mut reader = Reader { bytes: head, at: 0 };
    let count = reader.long("the number of entries of a block")?;
    let length = reader.long("the length of a block")?;
    let begin = at + reader.at as u64;
    let (Ok(count), Ok(length)) = (u64::try_from(count), u64::try_from(length)) else {
        let (what, found) =
            if count < 0 { ("number of entries", count) } else { ("length of the block in bytes", length) };
        return Err(Error::not_a("a block", format!("{found} as the {what}")));
    };
    let needed = length.saturating_add(MARKER);
    let available = size - begin;
    if needed > available {
        return Err(Error::truncated("a block with its sync marker", needed, available));
    }
    let most = match header.codec {
        BlockCodec::Null => length,
        BlockCodec::Compressed(_) => payload_limit(length),
    };
    let most = most.checked_div(least).unwrap_or(MOST_WEIGHTLESS);
    if count > most {
        let (found, limit) =
            (i64::try_from(count).unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX));
        return Err(Error::out_of_range("number of entries of a block", found, limit));
    }
    let found = window.get(source, size, begin + length, MARKER)?;
    if found != header.marker {
        return Err(Error::not_a(
            "the end of a block",
            format!("{:02x?} where the sync marker should be", found),
        ));
    }
    Ok((count, begin..begin + length))
}

/// Maximum number of entries of a block if an entry takes no bytes, so that the size of the block is not a
/// bound.
pub(crate) const MOST_WEIGHTLESS: u64 = 1 << 24;

/// Returns the maximum decompressed size of a block of `stored` bytes.
pub(crate) fn payload_limit(stored: u64) -> u64 {
    stored.saturating_mul(4096).clamp(16 << 20, 1 << 30)
}

/// Returns the minimum size of a value in bytes; 0 if it is unknown.
fn least_bytes(schema: &Schema) -> u64 {
    crate::translate::least_bytes(schema, schema.root_id())
}

/// Bytes of a source that were read last.
#[derive(Clone, Default)]
struct Window {
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    /// Returns `wanted` bytes from an offset on, or fewer at the end of the file.
    fn get(&mut self, source: &dyn Source, size: u64, at: u64, wanted: u64) -> Result<&[u8]> {
        let end = at.saturating_add(wanted).min(size);
        let known = self.start..self.start + self.bytes.len() as u64;
        if at < known.start || end > known.end {
            // The next request is for the block header after the marker. If requests are slow, more is read,
            // since blocks may be small.
            let ahead = if source.zero_copy() { MARKER + LONGEST_BLOCK_HEADER } else { CHUNK };
            let end = at.saturating_add(ahead).max(end).min(size);
            self.bytes.clear();
            self.bytes.resize((end - at) as usize, 0);
            // The bytes are copied: finding blocks must not cause the page faults of a memory map in one
            // thread.
            if let Err(error) = source.read_part(at, &mut self.bytes) {
                self.bytes.clear();
                return Err(error.into());
            }
            self.start = at;
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + (end - at) as usize])
    }
}

/// Returns the end of the next sync marker at or after an offset, or the end of the file.
fn find(source: &dyn Source, size: u64, marker: &[u8; 16], from: u64) -> Result<u64> {
    const STEP: u64 = 1 << 20;
    let mut at = from;
    while at < size {
        let end = at.saturating_add(STEP).min(size);
        let bytes = source.read_one(at..end)?;
        if let Some(found) = bytes.windows(16).position(|window| window == marker) {
            return Ok(at + found as u64 + MARKER);
        }
        if end == size {
            break;
        }
        at = end - (MARKER - 1);
    }
    Ok(size)
}

/// Cursor over bytes.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        match rest.get(..count) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => Err(self.truncated(what, count as u64)),
        }
    }

    fn truncated(&self, what: &'static str, needed: u64) -> Error {
        Error::truncated(what, needed, (self.bytes.len() - self.at) as u64).at_byte(self.at as u64)
    }

    /// Reads a zigzag varint.
    pub(crate) fn long(&mut self, what: &'static str) -> Result<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1, what)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(Error::not_a("a number", "more than ten bytes").at_byte(self.at as u64))
    }

    /// Reads a length, and returns the range of the bytes it spans.
    fn sized(&mut self, what: &'static str) -> Result<Range<usize>> {
        let begin = self.at;
        let length = self.long(what)?;
        let Ok(length) = usize::try_from(length) else {
            return Err(Error::not_a(what, format!("{length} as its length")).at_byte(begin as u64));
        };
        self.take(length, what)?;
        Ok(self.at - length..self.at)
    }
}
