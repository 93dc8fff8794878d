//! Summaries that are cached beside a file.

use crate::{
    console::Console,
    failure::Result,
    human,
    opened::{Opening, Place},
    survey::Branch,
};
use forthwith::{ColumnStats, SelectOptions, StatsCache, StatsOptions, TableStats, files, stats_by_column};
use std::collections::{HashMap, HashSet};

/// Quantiles that are always computed, since the ranges of histograms depend on them.
pub(crate) const PICTURED: [f64; 2] = [0.01, 0.99];

/// Cache of the summaries of a file.
pub(crate) struct KeptStats {
    cache: StatsCache,
    uri: String,
    /// Whether new summaries are written: on request, or if there are other files about this one beside it.
    writes: bool,
    /// Whether caching was requested.
    is_asked: bool,
}

impl KeptStats {
    /// Returns the cache of a table's file. Returns `None` if summaries cannot be cached: if the file is not
    /// local or is read with options of its format, or if the table or one of its columns shares its path
    /// with another.
    pub(crate) fn of(place: &Place, is_asked: bool, opening: &Opening) -> Option<Self> {
        let file = place.table.file();
        if !opening.keeps_stats()
            || place.table.has_constants()
            || !is_only_one(place)
            || has_namesakes(place)
        {
            return None;
        }
        let (uri, source) = (file.uri().to_owned(), file.source().as_ref());
        let writes = is_asked || files::has_files_beside(&uri);
        let cache = file.stats().cloned().or_else(|| StatsCache::new(source).filter(|_| writes))?;
        Some(Self { cache, uri, writes, is_asked })
    }

    /// Returns summaries of columns from the cache. Missing ones are computed and cached.
    pub(crate) fn compute(
        mut self,
        place: &Place,
        columns: &[Branch],
        options: &StatsOptions,
        progress: &mut dyn FnMut(u64, u64) -> bool,
        console: &mut Console<'_>,
    ) -> Result<TableStats> {
        let table = &place.table;
        let known = table.summaries();
        let mut found: HashMap<&str, Vec<ColumnStats>> = HashMap::new();
        let mut missing = Vec::new();
        for column in columns {
            let path = column.field.path.as_str();
            match known.and_then(|known| known.column(path, &options.quantiles, options.top)) {
                Some(summaries) => drop(found.insert(path, summaries)),
                None => missing.push((path, Some(column.index))),
            }
        }
        let mut entries = known.map_or(0, |known| known.entries);
        if !missing.is_empty() {
            let mut quantiles = options.quantiles.clone();
            quantiles.extend(PICTURED.iter().filter(|fraction| !options.quantiles.contains(fraction)));
            let wider = StatsOptions { quantiles, ..options.clone() };
            let selection = table.select_fields(&missing, SelectOptions::default())?;
            let made = stats_by_column(&selection, .., &wider, progress)?;
            entries = made.entries;
            for (path, summaries) in made.columns {
                let kept = (wider.quantiles.as_slice(), wider.top);
                self.cache.insert((table.path(), entries), &path, kept, summaries);
            }
            let known = self.cache.table(table.path());
            for (path, _) in &missing {
                let summaries = known.and_then(|known| known.column(path, &options.quantiles, options.top));
                found.insert(path, summaries.unwrap_or_default());
            }
            self.write(table.file().source().as_ref(), console);
        }
        let columns = columns.iter().filter_map(|column| found.remove(column.field.path.as_str()));
        Ok(TableStats { entries, columns: columns.flatten().collect() })
    }

    /// Writes the cache. An error, as in a read-only folder, is noted if caching was requested.
    fn write(&self, source: &dyn forthwith::io::Source, console: &mut Console<'_>) {
        // The file may have changed while it was read.
        let is_same = StatsCache::new(source).is_some_and(|now| now.is_of_same_state(&self.cache));
        if !self.writes || !is_same {
            return;
        }
        match files::write_stats(&self.cache, &self.uri) {
            Err(error) if self.is_asked => {
                console.note(&format!("the summaries are not kept: {}", human::clean(&error.to_string())));
            }
            _ => {}
        }
    }
}

/// Whether several columns of the table have the same path.
fn has_namesakes(place: &Place) -> bool {
    let Ok(fields) = place.table.fields() else { return true };
    let mut paths = HashSet::with_capacity(fields.len());
    !fields.iter().all(|field| paths.insert(field.path.as_str()))
}

/// Whether no other table of the file has this path, such as an older cycle.
fn is_only_one(place: &Place) -> bool {
    let (table, file) = (&place.table, place.table.file());
    file.is_one_table()
        || file
            .keys("", true)
            .is_ok_and(|keys| keys.iter().filter(|key| key.path == table.path()).count() == 1)
}
