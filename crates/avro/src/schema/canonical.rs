//! Parsing Canonical Form of schemas, and its fingerprint.

use super::{Id, Kind, Schema};
use serde_json::Value as Json;
use std::collections::HashSet;

impl Schema {
    /// Whether both schemas encode values equally and have the same logical types. Documentation, aliases,
    /// defaults and other properties may differ.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        let logical = |schema: &Self| schema.types.iter().map(|ty| ty.logical).collect::<Vec<_>>();
        self.canonical() == other.canonical() && logical(self) == logical(other)
    }

    /// Returns the Parsing Canonical Form: the schema reduced to what affects encoding, in a fixed spelling.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        self.write(self.root, &mut HashSet::new(), &mut text);
        text
    }

    /// Returns the 64-bit Rabin fingerprint of the canonical form, which precedes a datum in the
    /// single-object encoding.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.canonical().as_bytes())
    }

    fn write(&self, id: Id, known: &mut HashSet<Id>, text: &mut String) {
        let quoted = |name: &str| Json::from(name).to_string();
        let name = self.name(id);
        if let Some(name) = name.filter(|_| !known.insert(id)) {
            text.push_str(&quoted(&name.full));
            return;
        }
        let named = name.map(|name| quoted(&name.full)).unwrap_or_default();
        match &self.get(id).kind {
            Kind::Array(item) => {
                text.push_str("{\"type\":\"array\",\"items\":");
                self.write(*item, known, text);
                text.push('}');
            }
            Kind::Map(value) => {
                text.push_str("{\"type\":\"map\",\"values\":");
                self.write(*value, known, text);
                text.push('}');
            }
            Kind::Union(branches) => {
                text.push('[');
                for (at, branch) in branches.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    self.write(*branch, known, text);
                }
                text.push(']');
            }
            Kind::Fixed { size, .. } => {
                text.push_str(&format!("{{\"name\":{named},\"type\":\"fixed\",\"size\":{size}}}"));
            }
            Kind::Enum { symbols, .. } => {
                let symbols: Vec<_> = symbols.iter().map(|symbol| quoted(symbol)).collect();
                let symbols = symbols.join(",");
                text.push_str(&format!("{{\"name\":{named},\"type\":\"enum\",\"symbols\":[{symbols}]}}"));
            }
            Kind::Record { fields, .. } => {
                text.push_str(&format!("{{\"name\":{named},\"type\":\"record\",\"fields\":["));
                for (at, field) in fields.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    text.push_str(&format!("{{\"name\":{},\"type\":", quoted(&field.name)));
                    self.write(field.schema, known, text);
                    text.push('}');
                }
                text.push_str("]}");
            }
            kind => text.push_str(&quoted(kind.primitive().unwrap_or_default())),
        }
    }
}

/// Computes CRC-64-AVRO.
fn fingerprint(bytes: &[u8]) -> u64 {
    const EMPTY: u64 = 0xc15d_213a_a4d7_a795;
    bytes.iter().fold(EMPTY, |sum, byte| {
        let mut low = (sum ^ u64::from(*byte)) & 0xff;
        for _ in 0..8 {
            low = (low >> 1) ^ (EMPTY & (low & 1).wrapping_neg());
        }
        (sum >> 8) ^ low
    })
}
