//! Page headers in Thrift's compact protocol.

/// Encodings by their Parquet numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageEncoding {
    Plain = 0,
    Rle = 3,
    RleDictionary = 8,
}

/// Kind of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageKind {
    /// A data page of levels and values.
    Data(PageEncoding),
    /// The dictionary page.
    Dictionary,
}

/// Appends the header of a page of `count` values, including nulls.
pub(crate) fn append_header(out: &mut Vec<u8>, kind: PageKind, count: u32, payload: i32, stored: i32) {
    let (number, field) = match kind {
        PageKind::Data(_) => (0, 5),
        PageKind::Dictionary => (2, 7),
    };
    for value in [number, payload, stored] {
        integer(out, 1, value.into());
    }
    out.push((field - 3) << 4 | STRUCTURE);
    integer(out, 1, count.into());
    match kind {
        PageKind::Data(encoding) => {
            for value in [encoding, PageEncoding::Rle, PageEncoding::Rle] {
                integer(out, 1, value as i64);
            }
        }
        PageKind::Dictionary => {
            integer(out, 1, PageEncoding::Plain as i64);
            out.push(1 << 4 | FALSE);
        }
    }
    out.extend([0, 0]);
}

const FALSE: u8 = 2;
const INTEGER: u8 = 5;
const STRUCTURE: u8 = 12;

/// Appends an integer field. `step` is the difference between its number and that of the previous field.
fn integer(out: &mut Vec<u8>, step: u8, value: i64) {
    out.push(step << 4 | INTEGER);
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::Compact;

    #[test]
    fn headers_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        append_header(&mut bytes, PageKind::Data(PageEncoding::RleDictionary), 20_480, 1 << 20, i32::MAX);
        let split = bytes.len();
        append_header(&mut bytes, PageKind::Dictionary, 7, 0, 63);
        let mut compact = Compact::new(&bytes);
        let data = compact.page_header().unwrap();
        assert_eq!(compact.at, split);
        assert_eq!((data.kind, data.values, data.encoding), (0, 20_480, 8));
        assert_eq!((data.uncompressed, data.compressed), (1 << 20, i32::MAX.into()));
        assert_eq!((data.def_encoding, data.rep_encoding), (3, 3));
        let dictionary = compact.page_header().unwrap();
        assert_eq!(compact.at, bytes.len());
        assert_eq!((dictionary.kind, dictionary.values, dictionary.encoding), (2, 7, 0));
        assert_eq!((dictionary.uncompressed, dictionary.compressed), (0, 63));
    }
}
