//! Page headers.

use crate::thrift::Compact;
use forthwith_plan::Result;

/// The header of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageHeader {
    pub(crate) kind: i64,
    pub(crate) uncompressed: i64,
    pub(crate) compressed: i64,
    pub(crate) values: i64,
    pub(crate) encoding: i64,
    pub(crate) def_encoding: i64,
    pub(crate) rep_encoding: i64,
    /// Fields of pages of version 2 follow.
    pub(crate) rows: i64,
    pub(crate) def_bytes: i64,
    pub(crate) rep_bytes: i64,
    /// Number of nulls; negative if the header does not have it.
    pub(crate) nulls: i64,
    pub(crate) is_compressed: bool,
    /// CRC-32 of the bytes after the header, if stored.
    pub(crate) crc: Option<i64>,
}

impl Compact<'_> {
    pub(crate) fn page_header(&mut self) -> Result<PageHeader> {
        let mut page = PageHeader { kind: -1, nulls: -1, is_compressed: true, ..PageHeader::default() };
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
                2 => this.number(kind, &mut page.nulls),
                3 => this.number(kind, &mut page.rows),
                4 => this.number(kind, &mut page.encoding),
                5 => this.number(kind, &mut page.def_bytes),
                6 => this.number(kind, &mut page.rep_bytes),
                7 => this.flag(kind, &mut page.is_compressed),
                _ => this.skip(kind, 0),
            }),
            _ => this.skip(kind, 0),
        })?;
        Ok(page)
    }
}
