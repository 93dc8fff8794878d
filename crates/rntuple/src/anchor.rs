//! The anchor: the object of class `ROOT::RNTuple` that says where an ntuple's header and footer are.

use crate::frame::{Link, Locator};
use forthwith_io::xxh3;
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::Cursor;

/// The class of anchors.
pub(crate) const CLASS: &str = "ROOT::RNTuple";

/// What an anchor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// Epoch, major, minor, patch.
    pub(crate) version: [u16; 4],
    pub(crate) header: Link,
    pub(crate) footer: Link,
    /// Payloads longer than this are continued in further records; 0 if none is.
    pub(crate) longest: u64,
}

/// A byte count is marked by this bit.
const COUNTED: u32 = 1 << 30;
/// Bytes of the version, the positions and the lengths, which later versions may add to.
const LEAST: u32 = 66;

impl Anchor {
    /// Reads the payload of the anchor's record.
    pub(crate) fn parse(payload: &[u8], verify: bool) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        let word = cursor.u32()?;
        let count = word & !COUNTED;
        if word & COUNTED == 0 || count < LEAST {
            let what = "the byte count of the anchor";
            let (expected, found) = (u64::from(COUNTED | LEAST), u64::from(word));
            return Err(ErrorKind::Mismatch { what, expected, found }.into());
        }
        let end = 4 + count as usize;
        let hashed = payload.get(6..end).zip(payload.get(end..).and_then(|rest| rest.first_chunk()));
        let Some((hashed, hash)) = hashed else {
            let (needed, available) = (end as u64 + 8, payload.len() as u64);
            return Err(ErrorKind::Truncated { what: "the anchor", needed, available }.into());
        };
        cursor.u16()?;
        let mut number = || cursor.u16();
        let version = [number()?, number()?, number()?, number()?];
        let [epoch, major, minor, patch] = version;
        if epoch != 1 {
            let what = format!("an RNTuple of version {epoch}.{major}.{minor}.{patch}");
            return Err(Error::unsupported(what));
        }
        let (found, expected) = (xxh3(hashed), u64::from_be_bytes(*hash));
        if verify && found != expected {
            let what = "the checksum of the anchor";
            return Err(Error::new(ErrorKind::Mismatch { what, expected, found }).at_byte(end as u64));
        }
        let mut link = || {
            let (position, size, length) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
            Ok::<_, Error>(Link { length, locator: Locator { size, position } })
        };
        let (header, footer) = (link()?, link()?);
        Ok(Self { version, header, footer, longest: cursor.u64()? })
    }
}
