//! The anchor: the object of class `ROOT::RNTuple` with the positions of an ntuple's header and footer.

use crate::frame::{Link, Locator};
use forthwith_io::xxh3;
use forthwith_plan::{Error, Result};
use forthwith_root::Cursor;

/// Class of anchors.
pub(crate) const CLASS: &str = "ROOT::RNTuple";

/// Contents of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    /// Version of the format: epoch, major, minor, patch.
    pub(crate) version: [u16; 4],
    pub(crate) header: Link,
    pub(crate) footer: Link,
    /// Maximum length of a payload, beyond which it continues in further records; 0 for no limit.
    pub(crate) longest: u64,
}

/// Bit that marks a byte count.
const COUNTED: u32 = 1 << 30;
/// Minimum byte count: version, positions and lengths, to which later versions may add.
const LEAST: u32 = 66;

/// Version of the format whose features the writer knows. It is written whether or not they are used.
pub(crate) const VERSION: [u16; 4] = [1, 0, 2, 0];
/// Version of the class.
const CLASS_VERSION: u16 = 2;

impl Anchor {
    /// Returns the payload of the anchor's record.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut payload = (COUNTED | LEAST).to_be_bytes().to_vec();
        payload.extend(CLASS_VERSION.to_be_bytes());
        self.version.iter().for_each(|number| payload.extend(number.to_be_bytes()));
        for link in [self.header, self.footer] {
            for number in [link.locator.position, link.locator.size, link.length] {
                payload.extend(number.to_be_bytes());
            }
        }
        payload.extend(self.longest.to_be_bytes());
        let hash = payload.get(6..).map_or(0, xxh3);
        payload.extend(hash.to_be_bytes());
        payload
    }

    /// Parses the payload of the anchor's record. With `verify`, its checksum is verified.
    pub(crate) fn parse(payload: &[u8], verify: bool) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        let word = cursor.u32()?;
        let count = word & !COUNTED;
        if word & COUNTED == 0 || count < LEAST {
            return Err(Error::mismatch("the byte count of the anchor", COUNTED | LEAST, word));
        }
        let end = 4 + count as usize;
        let hashed = payload.get(6..end).zip(payload.get(end..).and_then(|rest| rest.first_chunk()));
        let Some((hashed, hash)) = hashed else {
            return Err(Error::truncated("the anchor", end as u64 + 8, payload.len()));
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
            return Err(Error::mismatch("the checksum of the anchor", expected, found).at_byte(end as u64));
        }
        let mut link = || {
            let (position, size, length) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
            Ok::<_, Error>(Link { length, locator: Locator { size, position } })
        };
        let (header, footer) = (link()?, link()?);
        Ok(Self { version, header, footer, longest: cursor.u64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_read_as_it_was_written() {
        let link = |length, size, position| Link { length, locator: Locator { size, position } };
        let (header, footer) = (link(160, 160, 258), link(160, 150, 688));
        let anchor = Anchor { version: VERSION, header, footer, longest: 1 << 30 };
        let payload = anchor.write();
        assert_eq!(payload.len(), 78);
        assert_eq!(Anchor::parse(&payload, true).unwrap(), anchor);
    }
}
