//! Finds the baskets of a branch that cannot be read, without decoding their entries.

use std::ops::Range;

use forthwith_plan::{Error, Result, Scratch};
use forthwith_root::{Cursor, has_checksums};

use super::Tree;
use crate::baskets::{BasketRef, Bytes};
use crate::format::Basket;

/// A basket that cannot be read.
#[derive(Debug)]
pub struct DamagedBasket {
    /// Index within the branch.
    pub number: u64,
    /// Entries that it should have.
    pub entries: Range<u64>,
    /// Range of the file, if known.
    pub bytes: Option<Range<u64>>,
    /// Error of reading it.
    pub error: Error,
}

impl Tree {
    /// Decompresses the baskets of a branch and checks their lengths and entry offsets. Returns the damaged
    /// ones, and none if the baskets are in another file.
    ///
    /// # Errors
    /// Returns an error if the branch's record of its baskets is inconsistent, or if the file cannot be read.
    pub fn damaged_baskets(&self, field: u32) -> Result<Vec<DamagedBasket>> {
        let Some(branch) = self.inspect_field(field) else { return Ok(Vec::new()) };
        let located = |error: Error| self.locate_branch(error, field);
        let mut damaged = Vec::new();
        let mut scratch = Scratch::new();
        let baskets = branch.baskets.as_ref().map_err(|error| located(Error::fault(error.to_string())))?;
        for basket in baskets {
            let looked = match &basket.bytes {
                Bytes::File(range) => {
                    let stored =
                        self.source.read_one(range.clone()).map_err(|error| located(error.into()))?;
                    branch.look_at(&basket.entries, &stored, &mut scratch)
                }
                Bytes::Record(range) => {
                    let stored = self.metadata.objects.payload().get(range.clone()).unwrap_or_default();
                    branch.look_at(&basket.entries, stored, &mut scratch)
                }
                &Bytes::Nowhere(seek, length) => Err(self.misplaced(seek, length)),
            };
            if let Err(error) = looked {
                let bytes = basket.file_bytes();
                let (number, entries) = (basket.number, basket.entries.clone());
                let error = located(error.in_block(number));
                damaged.push(DamagedBasket { number, entries, bytes, error });
            }
        }
        Ok(damaged)
    }

    /// Returns a key with which a damaged basket can be read, and its position in the file. Length, position
    /// and entries are those in the branch, the length of the payload is that of its compressed blocks, and
    /// all else is taken from another basket. Returns `None` if no key can be made.
    #[must_use]
    pub fn mended_key(&self, field: u32, number: u64) -> Option<(u64, Vec<u8>)> {
        let branch = self.inspect_field(field)?;
        let baskets = branch.baskets.as_ref().ok()?;
        let mut scratch = Scratch::new();
        let stored = |basket: &BasketRef| self.source.read_one(basket.file_bytes()?).ok();
        let damaged = baskets.iter().find(|basket| basket.number == number)?;
        let record = stored(damaged)?;
        let near = baskets.iter().filter(|basket| basket.number != number);
        let near = near.filter(|basket| basket.number.abs_diff(number) <= NEAR);
        near.filter_map(|basket| {
            Pattern::of(basket, stored(basket)?, &mut |basket, record| {
                branch.look_at(&basket.entries, record, &mut scratch).is_ok()
            })
        })
        .next()
        .and_then(|pattern| {
            let key = pattern.key_of(damaged, &record)?;
            let mut mended = key.clone();
            mended.extend(record.get(key.len()..)?);
            branch.look_at(&damaged.entries, &mended, &mut Scratch::new()).ok()?;
            Some((damaged.file_bytes()?.start, key))
        })
    }

    /// Returns whether a basket is verified by the checksums of its compressed blocks, or by the pointers to
    /// objects in its entries, even if these cannot be read.
    #[must_use]
    pub fn is_verified(&self, field: u32, number: u64) -> bool {
        let looked = || {
            let branch = self.inspect_field(field)?;
            let basket = branch.baskets.as_ref().ok()?.iter().find(|basket| basket.number == number)?;
            let record = self.source.read_one(basket.file_bytes()?).ok()?;
            branch.look_at(&basket.entries, &record, &mut Scratch::new()).ok()?;
            if branch.has_pointers() {
                return Some(true);
            }
            let keylen = Basket::parse(&mut Cursor::new(&record)).ok()?.keylen as usize;
            Some(has_checksums(record.get(keylen..)?))
        };
        looked().unwrap_or(false)
    }

    /// Returns the entries of one basket of a branch, or `None` if there is no such basket.
    #[must_use]
    pub fn basket_entries(&self, field: u32, number: u64) -> Option<Range<u64>> {
        let baskets = self.baskets(&self.branch(field).ok()?).ok()?;
        baskets.into_iter().find(|basket| basket.number == number).map(|basket| basket.entries)
    }

    /// Returns the range of one basket of a branch in the file, or `None` if it is not there.
    #[must_use]
    pub fn basket_bytes(&self, field: u32, number: u64) -> Option<Range<u64>> {
        let baskets = self.baskets(&self.branch(field).ok()?).ok()?;
        baskets.iter().find(|basket| basket.number == number)?.file_bytes()
    }

    /// Returns the ranges in the file of the baskets of all branches.
    pub fn basket_ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let fields = 0..self.metadata.fields.len() as u32;
        let baskets = fields.filter_map(|field| self.baskets(&self.branch(field).ok()?).ok());
        baskets.flatten().filter_map(|basket| basket.file_bytes())
    }
}

/// Key of an undamaged basket, the template for another one of its branch.
struct Pattern {
    key: Vec<u8>,
    /// Number of bytes after the entries, less four for each entry; `None` without entry offsets.
    behind: Option<u64>,
}

impl Pattern {
    fn of(
        basket: &BasketRef,
        record: bytes::Bytes,
        is_sound: &mut dyn FnMut(&BasketRef, &[u8]) -> bool,
    ) -> Option<Self> {
        if !is_sound(basket, &record) {
            return None;
        }
        let parsed = Basket::parse(&mut Cursor::new(&record)).ok()?;
        let key = record.get(..parsed.keylen as usize)?.to_vec();
        let entries = basket.entries.end - basket.entries.start;
        let behind =
            (u64::from(parsed.keylen) + u64::from(parsed.header.objlen)).checked_sub(parsed.last.into())?;
        let behind = if behind == 0 { None } else { Some(behind.checked_sub(4 * entries)?) };
        Some(Self { key, behind })
    }

    /// Returns the key of another basket, whose record is `record`.
    fn key_of(&self, basket: &BasketRef, record: &[u8]) -> Option<Vec<u8>> {
        let (mut key, place) = (self.key.clone(), basket.file_bytes()?);
        let entries = u32::try_from(basket.entries.end - basket.entries.start).ok()?;
        let object = payload_length(record.get(key.len()..)?)?;
        let behind = self.behind.map_or(0, |behind| behind + 4 * u64::from(entries));
        let last = (key.len() as u64 + object).checked_sub(behind)?;
        let is_wide = u16::from_be_bytes(key.get(4..6)?.try_into().ok()?) > 1000;
        let mut put = |at: usize, bytes: &[u8]| {
            key.get_mut(at..at + bytes.len()).map(|place| place.copy_from_slice(bytes))
        };
        put(0, &u32::try_from(place.end - place.start).ok()?.to_be_bytes())?;
        put(6, &u32::try_from(object).ok()?.to_be_bytes())?;
        put(16, &(basket.number as u16).to_be_bytes())?;
        let seek = place.start.to_be_bytes();
        put(18, if is_wide { &seek } else { &seek[4..] })?;
        let end = self.key.len();
        put(end.checked_sub(ENTRIES)?, &entries.to_be_bytes())?;
        put(end.checked_sub(LAST)?, &u32::try_from(last).ok()?.to_be_bytes())?;
        Some(key)
    }
}

/// Returns the decompressed length of a payload, by the headers of its blocks. An uncompressed payload has
/// its stored length.
fn payload_length(stored: &[u8]) -> Option<u64> {
    const CODECS: [&[u8]; 5] = [b"ZL", b"XZ", b"L4", b"ZS", b"CS"];
    let (mut rest, mut length) = (stored, 0);
    while !rest.is_empty() {
        let header = rest.get(..BLOCK);
        let Some(header) = header.filter(|header| CODECS.contains(&&header[..2])) else {
            return (length == 0).then_some(stored.len() as u64);
        };
        let number =
            |at: usize| (0..3).fold(0, |number, byte| number | u64::from(header[at + byte]) << (8 * byte));
        length += number(6);
        rest = rest.get(BLOCK + number(3) as usize..)?;
    }
    Some(length)
}

/// Offset of the number of entries, from the end of a basket's key.
const ENTRIES: usize = 9;
/// Offset of the end of the entries, from the end of a basket's key.
const LAST: usize = 5;
/// Length of the header of a compressed block.
const BLOCK: usize = 9;
/// Maximum distance, in baskets, between a damaged basket and its template.
const NEAR: u64 = 8;
