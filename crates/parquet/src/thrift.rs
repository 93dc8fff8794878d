//! As much of Thrift's compact protocol as it takes to read page headers, and to look at a footer before it is given away.

use forthwith_plan::{Error, ErrorKind, Result};

/// Structures within structures, in headers that mean well: three.
const DEEPEST: u32 = 16;
/// Groups within groups of a schema, and elements of it.
pub(crate) const DEEPEST_SCHEMA: usize = 100;

pub(crate) struct Compact<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

/// What a header says of its page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageHeader {
    pub(crate) kind: i64,
    pub(crate) uncompressed: i64,
    pub(crate) compressed: i64,
    pub(crate) values: i64,
    pub(crate) encoding: i64,
    pub(crate) def_encoding: i64,
    pub(crate) rep_encoding: i64,
    /// Of the second version only.
    pub(crate) rows: i64,
    pub(crate) def_bytes: i64,
    pub(crate) rep_bytes: i64,
    pub(crate) is_compressed: bool,
    /// The checksum of what follows the header, where the writer gave one.
    pub(crate) crc: Option<i64>,
}

impl<'a> Compact<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[cold]
    fn cut(&self) -> Error {
        let available = self.bytes.len() as u64;
        Error::new(ErrorKind::Truncated { what: "a header", needed: available + 1, available })
    }

    #[cold]
    fn odd(&self, found: impl Into<String>) -> Error {
        Error::new(ErrorKind::NotA { what: "a header", found: found.into() }).at_byte(self.at as u64)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.cut())?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.odd("a number of more than ten bytes"))
    }

    fn integer(&mut self) -> Result<i64> {
        let raw = self.varint()?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        let left = self.bytes.len() - self.at;
        let count = usize::try_from(count).ok().filter(|count| *count <= left).ok_or_else(|| self.cut())?;
        self.at += count;
        Ok(())
    }

    /// Type and size of a list.
    fn list(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let size = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Ok((head & 15, size))
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
        if depth > DEEPEST {
            return Err(self.odd("structures too deep"));
        }
        match kind {
            1 | 2 => {}
            3 => self.skip_bytes(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.skip_bytes(8)?,
            8 => {
                let length = self.varint()?;
                self.skip_bytes(length)?;
            }
            9 | 10 => {
                let (item, size) = self.list()?;
                for _ in 0..size {
                    // A flag is a byte here; nothing is so small that it takes none.
                    if matches!(item, 1 | 2) { self.skip_bytes(1)? } else { self.skip(item, depth + 1)? }
                }
            }
            11 => {
                let size = self.varint()?;
                if size > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..size {
                        for kind in [kinds >> 4, kinds & 15] {
                            if matches!(kind, 1 | 2) {
                                self.skip_bytes(1)?
                            } else {
                                self.skip(kind, depth + 1)?
                            }
                        }
                    }
                }
            }
            12 => self.fields(&mut |this, _, kind| this.skip(kind, depth + 1))?,
            other => return Err(self.odd(format!("a field of type {other}"))),
        }
        Ok(())
    }

    /// Calls `field` with number and type of each field of a structure, to read or skip it.
    fn fields(&mut self, field: &mut dyn FnMut(&mut Self, i64, u8) -> Result<()>) -> Result<()> {
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = if head >> 4 == 0 { self.integer()? } else { number + i64::from(head >> 4) };
            field(self, number, head & 15)?;
        }
    }

    fn number(&mut self, kind: u8, into: &mut i64) -> Result<()> {
        match kind {
            4..=6 => {
                *into = self.integer()?;
                Ok(())
            }
            _ => self.skip(kind, 0),
        }
    }

    pub(crate) fn page_header(&mut self) -> Result<PageHeader> {
        let mut page = PageHeader { kind: -1, is_compressed: true, ..PageHeader::default() };
        self.fields(&mut |this, number, kind| match (number, kind) {
            (1, _) => this.number(kind, &mut page.kind),
            (2, _) => this.number(kind, &mut page.uncompressed),
            (3, _) => this.number(kind, &mut page.compressed),
            (4, 4..=6) => {
                page.crc = Some(this.integer()?);
                Ok(())
            }
            (5, 12) => this.fields(&mut |this, number, kind| match number {
                1 => this.number(kind, &mut page.values),
                2 => this.number(kind, &mut page.encoding),
                3 => this.number(kind, &mut page.def_encoding),
                4 => this.number(kind, &mut page.rep_encoding),
                _ => this.skip(kind, 0),
            }),
            (7, 12) => this.fields(&mut |this, number, kind| match number {
                1 => this.number(kind, &mut page.values),
                2 => this.number(kind, &mut page.encoding),
                _ => this.skip(kind, 0),
            }),
            (8, 12) => this.fields(&mut |this, number, kind| match number {
                1 => this.number(kind, &mut page.values),
                3 => this.number(kind, &mut page.rows),
                4 => this.number(kind, &mut page.encoding),
                5 => this.number(kind, &mut page.def_bytes),
                6 => this.number(kind, &mut page.rep_bytes),
                7 => {
                    page.is_compressed = kind == 1;
                    this.skip(kind, 0)
                }
                _ => this.skip(kind, 0),
            }),
            _ => this.skip(kind, 0),
        })?;
        Ok(page)
    }

    /// Looks at a footer as far as it takes to know that its schema is neither deeper nor larger than it can be, lest what reads it
    /// uses the stack up.
    pub(crate) fn check_footer(&mut self) -> Result<()> {
        let length = self.bytes.len();
        self.fields(&mut |this, number, kind| {
            if (number, kind) != (2, 9) {
                return this.skip(kind, 0);
            }
            let (item, size) = this.list()?;
            if item != 12 || size > length as u64 {
                return Err(this.odd("a schema that is no list of elements"));
            }
            // Children still to come of every group that is open.
            let mut open: Vec<i64> = Vec::new();
            for _ in 0..size {
                let mut children = 0;
                this.fields(&mut |this, number, kind| match number {
                    5 => this.number(kind, &mut children),
                    _ => this.skip(kind, 0),
                })?;
                if let Some(last) = open.last_mut() {
                    *last -= 1;
                }
                if children > 0 {
                    open.push(children);
                }
                while open.last().is_some_and(|left| *left <= 0) {
                    open.pop();
                }
                if open.len() > DEEPEST_SCHEMA {
                    return Err(Error::unsupported(format!("groups more than {DEEPEST_SCHEMA} deep")));
                }
            }
            Ok(())
        })
    }
}
