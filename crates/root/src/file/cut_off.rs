//! Files that are shorter than the length in their header.

use forthwith_plan::{Error, ErrorKind};

/// Explains an error of missing bytes if the file has `size` bytes and should have `end`. Other errors are
/// unchanged.
pub(super) fn explained(error: Error, end: u64, size: u64) -> Error {
    let is_missing = match &error.kind {
        ErrorKind::Source(source) => matches!(source.kind, forthwith_io::ErrorKind::BeyondEnd { .. }),
        ErrorKind::Truncated { .. } => true,
        _ => false,
    };
    if !is_missing || size >= end {
        return error;
    }
    let what = format!(
        "the file was cut off: {} are there; opened with recover (recover=True in Python, --recover in the command), it has \
         the objects that are left",
        part(size, end)
    );
    Error { kind: ErrorKind::Fault { what }, ..error }.at_byte(size)
}

/// Spells a part of a size: `0.1 of 3.0 MB`.
fn part(size: u64, end: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(unit, _)| end as f64 >= *unit) {
        Some((unit, name)) => format!("{:.1} of {:.1} {name}", size as f64 / unit, end as f64 / unit),
        None => format!("{size} of {end} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_unit() {
        assert_eq!(part(100_000, 3_026_221), "0.1 of 3.0 MB");
        assert_eq!(part(12, 3_026), "0.0 of 3.0 kB");
        assert_eq!(part(12, 300), "12 of 300 bytes");
    }

    #[test]
    fn only_bytes_that_are_missing_are_explained() {
        let missing = || Error::truncated("x", 10u64, 1u64);
        assert!(
            explained(missing(), 100, 50).to_string().starts_with("the file was cut off: 50 of 100 bytes")
        );
        assert!(explained(missing(), 100, 100).to_string().starts_with("x needs"));
        assert_eq!(explained(Error::unsupported("y"), 100, 50).to_string(), "not supported yet: y");
    }
}
