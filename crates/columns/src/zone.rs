//! Names of time zones.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// Maximum length of a name in bytes; the longest name of the IANA database has 32.
const MOST_BYTES: usize = 47;

/// Time zone in which timestamps are displayed, such as `Europe/Berlin`, `+02:00` or `UTC`. The timestamps
/// themselves are counted in UTC, whatever the zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone {
    length: u8,
    bytes: [u8; MOST_BYTES],
}

impl Zone {
    /// Coordinated Universal Time.
    pub const UTC: Self = {
        let mut bytes = [0; MOST_BYTES];
        (bytes[0], bytes[1], bytes[2]) = (b'U', b'T', b'C');
        Self { length: 3, bytes }
    };

    /// Makes a zone of its name, which is not looked up. Returns `None` if the text is empty, has more than
    /// 47 bytes, or has characters other than ASCII letters, digits and `+-_/:.`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_/:.".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_part) {
            return None;
        }
        let mut bytes = [0; MOST_BYTES];
        bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        Some(Self { length: u8::try_from(name.len()).ok()?, bytes })
    }

    /// Makes a zone of its name, or UTC if the text cannot be a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::parse(name).unwrap_or(Self::UTC)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or("UTC")
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({:?})", self.name())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| D::Error::custom(format!("{name:?} is not a name of a time zone")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_zones_are_kept() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia", "+02:00", "Etc/GMT-14"] {
            assert_eq!(Zone::parse(name).map(|zone| zone.to_string()).as_deref(), Some(name));
        }
        for text in ["", "Europe/Berlin]", "a b", "Zürich", &"x".repeat(48)] {
            assert_eq!((Zone::parse(text), Zone::of(text)), (None, Zone::UTC));
        }
        let json = serde_json::to_string(&Zone::of("Asia/Tokyo")).unwrap();
        assert_eq!(json, "\"Asia/Tokyo\"");
        assert_eq!(serde_json::from_str::<Zone>(&json).unwrap(), Zone::of("Asia/Tokyo"));
        assert!(serde_json::from_str::<Zone>("\"\"").is_err());
    }
}
