//! Check of a file without decoding values: consistency of the footer, and of the footer with the pages.

use crate::{
    footer::{Chunk, Footer},
    index::{self, PagePlaces},
    pages::{self, DATA, DATA_2, DICTIONARY},
    thrift::Compact,
};
use forthwith_io::Source;
use forthwith_plan::{CheckReport, ErrorKind, Finding, Result, Severity};
use std::ops::Range;

/// A column chunk: its row group, its path, and its byte range.
struct Place<'a> {
    row_group: usize,
    path: &'a str,
    bytes: Range<u64>,
}

/// Checks all row groups. Column chunks are before `end`, where the footer begins.
pub(crate) fn check(footer: &Footer, source: &dyn Source, end: u64, report: &mut CheckReport) -> Result<()> {
    report.count("row groups", footer.row_groups.len() as u64);
    report.count("columns", footer.columns.len() as u64);
    let rows = footer.row_groups.iter().map(|group| group.rows).fold(0, i64::saturating_add);
    report.count("rows", u64::try_from(rows).unwrap_or(0));
    if let Some(all) = footer.rows.filter(|all| *all != rows) {
        let what = format!("{all} rows are said to be in the file, and its row groups have {rows}");
        report.add(damage("footer", None, end, what));
    }
    let mut places = Vec::new();
    for (row_group, group) in footer.row_groups.iter().enumerate() {
        for (chunk, column) in group.chunks.iter().zip(&footer.columns) {
            report.count("column chunks", 1);
            if chunk.elsewhere.is_some() {
                continue;
            }
            let path = column.path.as_str();
            // Each row has at least one value, which may be a null or an empty list.
            if chunk.values < group.rows {
                let what =
                    format!("{} values of {} rows, in row group {row_group}", chunk.values, group.rows);
                report.add(damage("column chunks", Some(path), end, what));
            }
            // Some writers store invalid positions for columns without values.
            if group.rows == 0 && chunk.values == 0 {
                continue;
            }
            match chunk.range(end) {
                Ok(bytes) => {
                    let place = Place { row_group, path, bytes };
                    let found = pages(footer, &place, chunk, source, report)?;
                    if let Some(range) = index::place(chunk.offset_index, end) {
                        let rows = u64::try_from(group.rows).unwrap_or(0);
                        let read = PagePlaces::read(&source.read_one(range.clone())?, &place.bytes, rows);
                        let differs = match read {
                            // Readers ignore an invalid index, too.
                            None => None,
                            Some(said) => said.differs(&found, !column.is_in_lists),
                        };
                        if let Some(what) = differs {
                            let what = format!("the index of pages says {what}, in row group {row_group}");
                            report.add(damage("page indexes", Some(path), range.start, what));
                        }
                    }
                    places.push(place);
                }
                Err(error) => {
                    let what = format!("{}, in row group {row_group}", error.kind);
                    report.add(damage("column chunks", Some(path), end, what));
                }
            }
        }
    }
    overlaps(&mut places, report);
    report.count("bytes", source.size()?);
    Ok(())
}

fn damage(part: &'static str, object: Option<&str>, byte: u64, what: String) -> Finding {
    let object = object.map(str::to_owned);
    Finding { severity: Severity::Damage, part, object, byte: Some(byte), what }
}

/// Checks that column chunks do not overlap.
fn overlaps(places: &mut [Place<'_>], report: &mut CheckReport) {
    places.sort_by_key(|place| (place.bytes.start, place.bytes.end));
    let mut before: Option<&Place<'_>> = None;
    for place in places.iter().filter(|place| !place.bytes.is_empty()) {
        if let Some(before) = before.filter(|before| before.bytes.end > place.bytes.start) {
            let what = format!(
                "the column chunk of row group {} overlaps that of {:?} in row group {}",
                place.row_group, before.path, before.row_group,
            );
            report.add(damage("column chunks", Some(place.path), place.bytes.start, what));
        }
        if before.is_none_or(|before| before.bytes.end < place.bytes.end) {
            before = Some(place);
        }
    }
}

/// Checks the pages of a column chunk. Returns the byte range and the number of values of each data page.
fn pages(
    footer: &Footer,
    place: &Place<'_>,
    chunk: &Chunk,
    source: &dyn Source,
    report: &mut CheckReport,
) -> Result<Vec<(Range<u64>, u64)>> {
    let stored = source.read_one(place.bytes.clone())?;
    let mut data = Vec::new();
    let found = |report: &mut CheckReport, at: usize, what: String| {
        let what = format!("{what}, in row group {}", place.row_group);
        report.add(damage("pages", Some(place.path), place.bytes.start + at as u64, what));
    };
    let (mut at, mut values) = (0, 0i64);
    while at < stored.len() {
        let mut compact = Compact::new(&stored[at..]);
        // Other bytes may follow the last page.
        let is_last = values >= chunk.values;
        let header = match compact.page_header() {
            Ok(header) if is_last && (!matches!(header.kind, DATA | DATA_2) || header.values <= 0) => break,
            Ok(header) => header,
            Err(_) if is_last => break,
            Err(error) => {
                found(report, at, error.kind.to_string());
                return Ok(data);
            }
        };
        let rest = &stored[at + compact.at..];
        let body = usize::try_from(header.compressed).ok().and_then(|length| rest.get(..length));
        let Some(body) = body else {
            let (needed, available) = (header.compressed.unsigned_abs(), rest.len() as u64);
            let kind = ErrorKind::Truncated { what: "a page", needed, available };
            found(report, at, kind.to_string());
            return Ok(data);
        };
        report.count("pages", 1);
        if matches!(header.kind, DATA | DATA_2) {
            values = values.saturating_add(header.values.max(0));
            let start = place.bytes.start + at as u64;
            data.push((start..start + (compact.at + body.len()) as u64, header.values.unsigned_abs()));
        }
        let codec = u32::try_from(chunk.codec).unwrap_or(u32::MAX);
        let sound = match header.kind {
            DATA | DATA_2 | DICTIONARY => {
                pages::verify(&header, body).and_then(|()| pages::check(&header, codec, body.len() as u64))
            }
            _ => Ok(()),
        };
        match sound {
            Err(error) => found(report, at, error.kind.to_string()),
            Ok(()) if codec != 0 && (header.is_compressed || footer.always_compressed()) => {
                report.decompressed_bytes =
                    report.decompressed_bytes.saturating_add(header.uncompressed.unsigned_abs());
            }
            Ok(()) => {}
        }
        at += compact.at + body.len();
    }
    if values != chunk.values {
        let what = format!(
            "{} values are said to be in the column chunk, and its pages have {values}",
            chunk.values
        );
        found(report, 0, what);
    }
    Ok(data)
}
