//! Cache of summaries, with the state of the file that they describe.
//!
//! A cache is a separate file, in little endian: `FWSTATS2`, the version of forthwith, the size and the mark
//! of the summarised file, the summaries of each column, and the 64-bit XXH3 hash of all this. A cache of
//! another version, of another state of the file, or with a wrong checksum is ignored and rebuilt.

use super::{
    cached_values::{CachedColumn, Reader, put_column, put_text, take_column},
    report::ColumnStats,
};
use forthwith_io::{Source, xxh3};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

const MAGIC: &[u8; 8] = b"FWSTATS2";
/// Summaries may differ between versions.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Summaries of a file's columns, over all entries.
#[derive(Clone, Debug, PartialEq)]
pub struct StatsCache {
    size: u64,
    mark: String,
    tables: BTreeMap<String, Arc<TableSummaries>>,
}

/// Summaries of a table's columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableSummaries {
    /// Number of entries of the table, all of which are summarised.
    pub entries: u64,
    pub(super) columns: HashMap<String, CachedColumn>,
}

impl StatsCache {
    /// File name suffix of caches, after the file's own name.
    pub const ENDING: &'static str = ".fws";

    /// Maximum size of a cache in bytes.
    pub const MOST: u64 = 256 << 20;

    /// Makes an empty cache for the current state of a source; `None` if a later change of the source could
    /// be undetected.
    #[must_use]
    pub fn new(source: &dyn Source) -> Option<Self> {
        let (size, mark) = (source.size().ok()?, source.mark()?);
        Some(Self { size, mark, tables: BTreeMap::new() })
    }

    /// Parses a cache; `None` if it is damaged, was written by another version, or is of another state of the
    /// source.
    #[must_use]
    pub fn parse(bytes: &[u8], source: &dyn Source) -> Option<Self> {
        let mut cache = Self::new(source)?;
        let (all, hash) = bytes.split_last_chunk::<8>()?;
        if !all.starts_with(MAGIC) || xxh3(all) != u64::from_le_bytes(*hash) {
            return None;
        }
        let mut reader = Reader::new(&all[MAGIC.len()..]);
        if reader.text()? != VERSION || reader.u64()? != cache.size || reader.text()? != cache.mark {
            return None;
        }
        for _ in 0..reader.count(12)? {
            let (path, entries) = (reader.text()?.to_owned(), reader.u64()?);
            let mut columns = HashMap::new();
            for _ in 0..reader.count(16)? {
                let (name, column) = take_column(&mut reader)?;
                columns.insert(name, column);
            }
            cache.tables.insert(path, Arc::new(TableSummaries { entries, columns }));
        }
        reader.is_empty().then_some(cache)
    }

    /// Serialises the cache, for [`parse`](Self::parse).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        put_text(&mut bytes, VERSION);
        bytes.extend(self.size.to_le_bytes());
        put_text(&mut bytes, &self.mark);
        bytes.extend((self.tables.len() as u32).to_le_bytes());
        for (path, table) in &self.tables {
            put_text(&mut bytes, path);
            bytes.extend(table.entries.to_le_bytes());
            bytes.extend((table.columns.len() as u32).to_le_bytes());
            let columns: BTreeMap<_, _> = table.columns.iter().collect();
            columns.into_iter().for_each(|(name, column)| put_column(&mut bytes, name, column));
        }
        let hash = xxh3(&bytes);
        bytes.extend(hash.to_le_bytes());
        bytes
    }

    /// Whether both caches are of the same state of a file.
    #[must_use]
    pub fn is_of_same_state(&self, other: &Self) -> bool {
        (self.size, &self.mark) == (other.size, &other.mark)
    }

    /// Returns the summaries of the table at a path, if there are any.
    #[must_use]
    pub fn table(&self, path: &str) -> Option<&Arc<TableSummaries>> {
        self.tables.get(path)
    }

    /// Adds the summaries of a column over all entries of its table, with the requested quantiles and number
    /// of most frequent values.
    pub fn insert(
        &mut self,
        (table, entries): (&str, u64),
        column: &str,
        (quantiles, top): (&[f64], usize),
        summaries: Vec<ColumnStats>,
    ) {
        let table = Arc::make_mut(self.tables.entry(table.to_owned()).or_default());
        if table.entries != entries {
            *table = TableSummaries { entries, ..TableSummaries::default() };
        }
        let (quantiles, top) = (quantiles.to_vec(), top as u64);
        table.columns.insert(column.to_owned(), CachedColumn { quantiles, top, summaries });
    }
}

impl TableSummaries {
    /// Returns the summaries of a column with some quantiles and a number of most frequent values; `None`
    /// unless the cache has them all.
    #[must_use]
    pub fn column(&self, column: &str, quantiles: &[f64], top: usize) -> Option<Vec<ColumnStats>> {
        let kept = self.columns.get(column)?;
        if top as u64 > kept.top {
            return None;
        }
        let places = quantiles
            .iter()
            .map(|fraction| kept.quantiles.iter().position(|other| other.to_bits() == fraction.to_bits()));
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let chosen = |summary: &ColumnStats| {
            let mut summary = summary.clone();
            // Only numbers have quantiles.
            if summary.quantiles.len() == kept.quantiles.len() {
                summary.quantiles = places.iter().map(|at| summary.quantiles[*at].clone()).collect();
            }
            summary.frequent.truncate(top);
            summary
        };
        Some(kept.summaries.iter().map(chosen).collect())
    }

    /// Returns the summary of the numbers of a column: its values, or the items of its lists.
    pub(crate) fn numbers(&self, column: &str) -> Option<&ColumnStats> {
        let summaries = &self.columns.get(column)?.summaries;
        let is_of_numbers = |summary: &&ColumnStats| {
            summary.path == column && !matches!(summary.of, super::SummaryOf::Lengths)
        };
        let mut found = summaries.iter().filter(is_of_numbers);
        found.next().filter(|_| found.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::report::{Counted, FrequentValue, Quantile, SummaryOf};
    use forthwith_columns::Value;
    use forthwith_io::PreadFile;
    use std::{fs, thread, time::Duration};

    fn summary(path: &str) -> ColumnStats {
        let quantile = |fraction, value| Quantile { fraction, value: Value::Float64(value) };
        ColumnStats {
            path: path.into(),
            of: SummaryOf::Values,
            kind: "float64".into(),
            count: 10,
            missing: 1,
            nan: Some(2),
            min: Some(Value::Float64(f64::NEG_INFINITY)),
            max: Some(Value::Float64(3.25)),
            mean: Some(Value::Float64(f64::NAN)),
            deviation: None,
            quantiles: vec![quantile(0.01, 0.5), quantile(0.25, 1.0), quantile(0.5, 2.0)],
            quantiles_are_exact: true,
            distinct: Some(Counted { count: 7, is_exact: false }),
            frequent: [1.5, 2.5, 3.25]
                .map(|value| FrequentValue { value: Value::Float64(value), count: 3 })
                .into(),
            frequent_is_exact: true,
        }
    }

    fn settled(path: &std::path::Path, contents: &str) -> PreadFile {
        fs::write(path, contents).expect("a file");
        // The mark of a file that was changed just now says nothing.
        thread::sleep(Duration::from_millis(60));
        PreadFile::open(path).expect("a file")
    }

    #[test]
    fn a_cache_is_read_as_it_was_written_and_only_for_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.csv");
        let source = settled(&path, "x\n1\n");
        let mut cache = StatsCache::new(&source).expect("a mark");
        let fractions = [0.01, 0.25, 0.5];
        cache.insert(("events", 13), "x", (&fractions, 3), vec![summary("x")]);
        cache.insert(
            ("events", 13),
            "s",
            (&fractions, 3),
            vec![ColumnStats {
                min: Some(Value::String("a\n".into())),
                max: Some(Value::Bytes(vec![0, 255])),
                quantiles: Vec::new(),
                distinct: None,
                frequent: vec![
                    FrequentValue { value: Value::Int(-5), count: 1 },
                    FrequentValue { value: Value::UInt(u64::MAX), count: 2 },
                    FrequentValue { value: Value::Bool(true), count: 3 },
                    FrequentValue { value: Value::Float32(0.1), count: 4 },
                    FrequentValue { value: Value::Logical("2026-01-01".into()), count: 5 },
                    FrequentValue { value: Value::Null, count: 6 },
                ],
                of: SummaryOf::Items,
                ..summary("s")
            }],
        );
        let bytes = cache.to_bytes();
        let again = StatsCache::parse(&bytes, &source).expect("a cache");
        // NaN is equal to nothing.
        assert_eq!(format!("{again:?}").len(), format!("{cache:?}").len());
        assert_eq!(again.to_bytes(), bytes);
        let table = again.table("events").expect("a table");
        let found = table.column("x", &[0.5, 0.01], 2).expect("a column");
        let values: Vec<Value> = found[0].quantiles.iter().map(|found| found.value.clone()).collect();
        assert_eq!(values, [Value::Float64(2.0), Value::Float64(0.5)]);
        assert_eq!(found[0].frequent.len(), 2);
        assert!(table.column("x", &[0.75], 1).is_none() && table.column("x", &[], 4).is_none());
        assert!(table.column("y", &[], 0).is_none() && again.table("other").is_none());
        // Every byte counts, and so does the length.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(StatsCache::parse(&damaged, &source).is_none(), "byte {at}");
            assert!(StatsCache::parse(&bytes[..at], &source).is_none(), "{at} bytes");
        }
        // A matching checksum proves nothing: lengths are compared with the bytes.
        for at in 8..bytes.len() - 8 {
            let mut damaged = bytes.clone();
            damaged[at] = damaged[at].wrapping_add(131);
            let end = damaged.len() - 8;
            let hash = xxh3(&damaged[..end]);
            damaged[end..].copy_from_slice(&hash.to_le_bytes());
            if let Some(cache) = StatsCache::parse(&damaged, &source) {
                let _ = cache.to_bytes();
            }
        }
        let changed = settled(&path, "x\n2\n");
        assert!(StatsCache::parse(&bytes, &changed).is_none());
    }
}
