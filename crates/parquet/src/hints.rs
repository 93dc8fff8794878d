//! Arrow's types of a file's columns, stored as `ARROW:schema`.

use crate::footer::Footer;
use arrow_schema::{DataType, Schema, TimeUnit as Unit};
use forthwith_columns::{TimeUnit, Zone, arrow::SchemaRef};

/// Key of Arrow's schema in the key-value metadata.
pub(crate) const ARROW_SCHEMA: &str = "ARROW:schema";

/// Types of a column that Arrow's schema has and Parquet's does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hint {
    /// Unit of durations.
    pub(crate) duration: Option<TimeUnit>,
    /// Time zone of timestamps, of which Parquet itself only distinguishes UTC.
    pub(crate) zone: Option<Zone>,
    /// For each list around the column, outermost first, its fixed length.
    pub(crate) lists: Vec<Option<u64>>,
}

/// Returns the hints for each column of the file; none at all if the schema does not match the file.
pub(crate) fn hints(schema: &Schema, footer: &Footer) -> Vec<Hint> {
    let mut found = Vec::new();
    let read =
        schema.fields().iter().try_for_each(|field| leaves(field.data_type(), &mut Vec::new(), &mut found));
    if read.is_none() || found.len() != footer.columns.len() { Vec::new() } else { found }
}

/// Returns Arrow's schema if the file stores one whose fields have the names of the file's.
pub(crate) fn arrow_schema(footer: &Footer) -> Option<SchemaRef> {
    let (_, text) = footer.key_values.iter().find(|(key, _)| key == ARROW_SCHEMA)?;
    let bytes = decoded(text.as_deref()?)?;
    // An invalid schema is ignored.
    let schema = std::panic::catch_unwind(|| schema(&bytes)).ok().flatten()?;
    let (fields, own) = (schema.fields(), footer.schema.fields());
    let is_same = fields.len() == own.len() && fields.iter().zip(own).all(|(a, b)| *a.name() == b.name);
    is_same.then(|| schema.into())
}

/// Parses the schema in a message of Arrow's IPC format, with or without the length before it.
fn schema(bytes: &[u8]) -> Option<Schema> {
    let message = bytes.strip_prefix(&[0xff; 4]).and_then(|rest| rest.get(4..)).unwrap_or(bytes);
    let message = arrow_ipc::root_as_message(message).ok()?;
    arrow_ipc::convert::try_fb_to_schema(message.header_as_schema()?).ok()
}

/// Decodes Base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    let (mut bits, mut have) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
        }
    }
    Some(bytes)
}

fn leaves(data_type: &DataType, lists: &mut Vec<Option<u64>>, found: &mut Vec<Hint>) -> Option<()> {
    let (item, size) = match data_type {
        DataType::Struct(fields) => {
            return fields.iter().try_for_each(|field| leaves(field.data_type(), lists, found));
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => (item, None),
        // The number of empty lists could not be derived from their items.
        DataType::FixedSizeList(item, size) => (item, u64::try_from(*size).ok().filter(|size| *size > 0)),
        DataType::Dictionary(_, of) => return leaves(of, lists, found),
        DataType::Union(..) => return None,
        leaf => {
            let duration = match leaf {
                DataType::Duration(Unit::Second) => Some(TimeUnit::Second),
                DataType::Duration(Unit::Millisecond) => Some(TimeUnit::Milli),
                DataType::Duration(Unit::Microsecond) => Some(TimeUnit::Micro),
                DataType::Duration(Unit::Nanosecond) => Some(TimeUnit::Nano),
                _ => None,
            };
            let zone = match leaf {
                DataType::Timestamp(_, Some(zone)) => Some(Zone::of(zone)),
                _ => None,
            };
            found.push(Hint { duration, zone, lists: lists.clone() });
            return Some(());
        }
    };
    lists.push(size);
    let done = leaves(item.data_type(), lists, found);
    lists.pop();
    done
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn text_of_64_characters_becomes_bytes() {
        assert_eq!(decoded("//8/AAA=").as_deref(), Some(&[0xff, 0xff, 0x3f, 0, 0][..]));
        assert_eq!(decoded("QQ==").as_deref(), Some(&b"A"[..]));
        assert_eq!(decoded("").as_deref(), Some(&[][..]));
        assert_eq!(decoded("Q Q="), None);
    }
}
