//! Encodes and compresses elements to pages.

use super::elements::{Elements, changed};
use super::floats;
use super::offset_columns::encode_ends;
use super::open_cluster::Filling;
use super::sealed::{PageBytes, Raw, Sealed};
use crate::coding::Kind;
use forthwith_columns::kernels::{Planes, decode, to_bits, to_planes};
use forthwith_columns::{DType, Encoding};
use forthwith_io::xxh3;
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Result, StoredBlock};
use forthwith_root::write::{Compression, FileWriter, compress_instead, compressed};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Minimum size in bytes of a page with a record of its own. The key of a record has about sixty bytes.
const WORTH_A_RECORD: u64 = 64 << 10;

/// Size of a checksum in bytes.
pub(crate) const HASH: usize = 8;

/// Encoder and compressor of pages.
#[derive(Debug)]
pub(crate) struct Sealer {
    pub(crate) runner: Option<Arc<dyn BlockRunner>>,
    bench: Bench,
    /// Buffer for pages that are sealed on this thread.
    made: Vec<u8>,
    /// Buffers of written pages, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Sealer {
    pub(crate) fn new(runner: Option<Arc<dyn BlockRunner>>) -> Self {
        Self { runner, bench: Bench::default(), made: Vec::new(), spare: Vec::new() }
    }

    /// Seals a page.
    pub(crate) fn one(
        &mut self,
        elements: &Elements,
        raw: &Raw<'_>,
        file: &mut FileWriter,
        longest: u64,
    ) -> Result<Sealed> {
        let Bench { payload, compressor, .. } = &mut self.bench;
        let payload = payload_of(elements, raw, payload)?;
        let compressed = compressed(elements.compression, payload, compressor)?;
        let stored = compressed.as_deref().unwrap_or(payload);
        let size = (stored.len() + HASH) as u64;
        let bytes = if is_record(size, longest) {
            // The memory of an array may be changed between the hash and the write.
            let is_lent = compressed.is_none() && raw.is_lent(elements);
            let position = if is_lent {
                super::stored::page(file, stored)?
            } else {
                let hash = xxh3(stored).to_le_bytes();
                super::stored::record(file, stored.len() + HASH, &[stored, &hash])?
            };
            PageBytes::Written { position, size }
        } else {
            self.made.clear();
            self.made.extend_from_slice(stored);
            hash(&mut self.made);
            PageBytes::Kept(taken(&mut self.made, &mut self.spare))
        };
        Ok(Sealed { elements: raw.count(elements), bytes })
    }

    /// Seals pages on several threads, each for its column, and adds them in their order. `meanwhile` is
    /// called once while the others run.
    pub(crate) fn all(
        &mut self,
        columns: &mut [Filling],
        pages: &[(usize, Raw<'_>)],
        file: &mut FileWriter,
        longest: u64,
        meanwhile: &mut Meanwhile<'_>,
    ) -> Result<()> {
        let Some(runner) = self.runner.clone() else { return Err(changed()) };
        let all = columns.iter().map(|filling| filling.elements).collect();
        let waiting = Waiting { pages, columns: all, failed: AtomicUsize::new(usize::MAX) };
        let (spare, needs_caller) = (&mut self.spare, file.needs_caller());
        let mut taken =
            Taken { columns, pages, spare, file, longest, meanwhile: Some(meanwhile), failed: false };
        let done = match needs_caller {
            true => runner.run(&waiting, &mut taken),
            false => runner.run_anywhere(&waiting, &mut taken),
        };
        let is_told = taken.failed;
        done.map_err(|error| {
            let column = pages.get(waiting.failed.into_inner()).filter(|_| !is_told);
            let column = column.and_then(|(column, _)| columns.get(*column));
            match column {
                Some(column) => error.in_object(&column.path),
                None => error,
            }
        })
    }

    /// Takes back the buffers of pages.
    pub(crate) fn reuse(&mut self, stored: impl IntoIterator<Item = Vec<u8>>) {
        self.spare.extend(stored);
    }
}

/// Pages to seal.
struct Waiting<'w, 'a> {
    pages: &'w [(usize, Raw<'a>)],
    columns: Vec<Elements>,
    /// Index of the first page that failed.
    failed: AtomicUsize,
}

/// Destination of sealed pages.
struct Taken<'t, 'a> {
    columns: &'t mut [Filling],
    pages: &'t [(usize, Raw<'a>)],
    spare: &'t mut Vec<Vec<u8>>,
    file: &'t mut FileWriter,
    longest: u64,
    meanwhile: Option<&'t mut Meanwhile<'t>>,
    /// Whether a page could not be added.
    failed: bool,
}

/// Work for one thread while the others seal pages.
pub(crate) type Meanwhile<'m> = dyn FnMut(&mut FileWriter) -> Result<()> + Send + 'm;

impl BlockMaker for Waiting<'_, '_> {
    fn blocks(&self) -> usize {
        self.pages.len()
    }

    fn weight(&self, block: usize) -> u64 {
        self.pages.get(block).map_or(0, |(_, raw)| raw.bytes() as u64)
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        let (column, raw) = self.pages.get(block).ok_or_else(changed)?;
        let elements = self.columns.get(*column).ok_or_else(changed)?;
        let mut bytes = bench.used();
        if let Err(error) = seal(elements, raw, bench, &mut bytes) {
            self.failed.fetch_min(block, Ordering::Relaxed);
            return Err(error);
        }
        Ok(StoredBlock { bytes, payload: raw.bytes() as u64, note: raw.count(elements).into() })
    }
}

impl BlockSink for Taken<'_, '_> {
    fn listen(&mut self) -> Result<()> {
        self.file.listen()
    }

    fn take(&mut self, block: usize, made: &mut StoredBlock) -> Result<()> {
        // Until the page is added.
        self.failed = true;
        if let Some(meanwhile) = self.meanwhile.take() {
            meanwhile(self.file)?;
        }
        let (column, _) = self.pages.get(block).ok_or_else(changed)?;
        let filling = self.columns.get_mut(*column).ok_or_else(changed)?;
        let bytes = placed(&mut made.bytes, self.spare, self.file, self.longest);
        let bytes = bytes.map_err(|error| error.in_object(&filling.path))?;
        filling.pages.push(Sealed { elements: made.note as u32, bytes });
        self.failed = false;
        Ok(())
    }
}

/// Returns a sealed page. A page that is large enough for a record is written at once, while it is in the
/// cache.
fn placed(
    made: &mut Vec<u8>,
    spare: &mut Vec<Vec<u8>>,
    file: &mut FileWriter,
    longest: u64,
) -> Result<PageBytes> {
    let size = made.len() as u64;
    if !is_record(size, longest) {
        return Ok(PageBytes::Kept(taken(made, spare)));
    }
    Ok(PageBytes::Written { position: super::stored::record(file, made.len(), &[&*made])?, size })
}

/// Returns whether a page of this size is a record of its own, of at most `longest` bytes.
fn is_record(size: u64, longest: u64) -> bool {
    (WORTH_A_RECORD..=longest).contains(&size)
}

/// Takes the bytes of a page, and leaves another buffer. A page has a capacity of about twice its length at
/// most, as a cluster may have thousands of small pages.
fn taken(made: &mut Vec<u8>, spare: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let length = made.len();
    let fits = |page: &Vec<u8>| page.capacity() <= 2 * length + SMALL;
    let mut page = spare.pop().unwrap_or_default();
    if fits(made) {
        page.clear();
        return std::mem::replace(made, page);
    }
    if !fits(&page) {
        page = Vec::new();
    }
    page.clear();
    page.extend_from_slice(made);
    page
}

/// Excess capacity that is not worth another allocation.
const SMALL: usize = 512;

impl Raw<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Lent(bytes) | Self::Unshared(bytes) => bytes.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::Ends(ends) => 8 * ends.len(),
            Self::LentEnds(lent) => lent.bytes(),
        }
    }

    /// Returns the bytes of the elements, if they are stored unchanged.
    fn as_stored(&self, elements: &Elements) -> Option<&[u8]> {
        let bytes = match self {
            Self::Lent(bytes) | Self::Unshared(bytes) => bytes,
            Self::Owned(bytes) => &bytes[..],
            Self::Ends(ends) => ends.as_flattened(),
            Self::LentEnds(_) => return None,
        };
        let is_same = match elements.kind {
            _ if elements.from.is_some() => false,
            Kind::Byte => true,
            Kind::Plain(dtype) => dtype.size() == 1 || cfg!(target_endian = "little"),
            Kind::Half | Kind::Index64 => cfg!(target_endian = "little"),
            _ => false,
        };
        is_same.then_some(bytes)
    }

    /// Returns whether the stored bytes are memory that other threads may change.
    fn is_lent(&self, elements: &Elements) -> bool {
        matches!(self, Self::Lent(_)) && self.as_stored(elements).is_some()
    }

    /// Returns the number of elements, which fits 31 bits.
    fn count(&self, elements: &Elements) -> u32 {
        (self.bytes() / elements.width) as u32
    }
}

/// Replaces `stored` by the bytes of a page with their checksum.
fn seal(elements: &Elements, raw: &Raw<'_>, bench: &mut Bench, stored: &mut Vec<u8>) -> Result<()> {
    let compression = elements.compression;
    if compression == Compression::NONE && raw.as_stored(elements).is_none() {
        encode(elements, raw, stored)?;
    } else {
        let payload = payload_of(elements, raw, &mut bench.payload)?;
        if !compress_instead(compression, payload, &mut bench.compressor, stored)? {
            stored.clear();
            stored.reserve_exact(payload.len() + HASH);
            stored.extend_from_slice(payload);
        }
    }
    hash(stored);
    Ok(())
}

/// Appends the checksum of the bytes of a page.
fn hash(stored: &mut Vec<u8>) {
    let hash = xxh3(stored);
    stored.extend(hash.to_le_bytes());
}

/// Returns the bytes of a page before compression, either borrowed or encoded to `room`, whose contents are
/// replaced.
fn payload_of<'r>(elements: &Elements, raw: &'r Raw<'_>, room: &'r mut Vec<u8>) -> Result<&'r [u8]> {
    if let Some(payload) = raw.as_stored(elements) {
        return Ok(payload);
    }
    encode(elements, raw, room)?;
    Ok(room)
}

/// Encodes a page to `into`, whose contents are replaced.
fn encode(elements: &Elements, raw: &Raw<'_>, into: &mut Vec<u8>) -> Result<()> {
    let kind = elements.kind;
    let raw = match raw {
        Raw::Ends(ends) => return encode_ends(kind, ends, into),
        Raw::LentEnds(lent) => return lent.encode(kind, into),
        Raw::Lent(bytes) | Raw::Unshared(bytes) => bytes,
        Raw::Owned(bytes) => &bytes[..],
    };
    if let Some(from) = elements.from {
        return floats::narrow(elements, from, raw, into);
    }
    into.resize(if kind == Kind::Bit { raw.len().div_ceil(8) } else { raw.len() }, 0);
    let made = match kind {
        Kind::Bit => to_bits(raw, into),
        Kind::Plain(dtype) => decode(Encoding::Little(dtype), raw, into),
        Kind::Half => decode(Encoding::Little(DType::UInt16), raw, into),
        Kind::Split(dtype) => to_planes(Planes::Plain, dtype.size(), raw, into),
        Kind::Zigzag(dtype) => to_planes(Planes::Zigzag, dtype.size(), raw, into),
        _ => {
            into.copy_from_slice(raw);
            Ok(())
        }
    };
    made.map_err(|_| changed())
}
