//! Summaries of columns: counts, extremes, moments, quantiles, distinct and most frequent values.

mod cache;
mod cached_values;
mod counts;
mod decimal;
mod distinct;
mod node;
mod number;
mod options;
mod report;
mod sample;
mod text;

pub use cache::{StatsCache, TableSummaries};
pub use options::StatsOptions;
pub use report::{
    ColumnStats, Counted, FrequentValue, Quantile, StatsByColumn, SummaryOf, TableStats, summary_text,
};
pub use sample::sample_entries;

use crate::{ProgressCallback, Selected, Selection, Step};
use forthwith_columns::{Array, Invalid};
use forthwith_plan::{Error, ErrorKind, Result};
use node::Summary;
use std::thread;

/// Number of bytes of arrays that are read at a time.
const STEP: u64 = 24 << 20;
/// Number of columns that are read together, unless blocks have all columns.
const COLUMNS: usize = 24;

/// Summarises the columns of a selection in one pass.
///
/// Lists are summarised by their lengths and their items, records by their fields. Counts, extremes, means
/// and standard deviations are exact up to rounding. For columns with more values, quantiles are those of a
/// sample of 32768 values, and distinct and most frequent values are estimated; the result says which. Memory
/// is bounded by the step size and the number of columns that are read together.
///
/// ```
/// use forthwith::{SelectOptions, StatsOptions, stats};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
///
/// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
/// let selection = events.select(&["MET_pt"], SelectOptions::default())?;
/// let found = stats(&selection, .., &StatsOptions::default(), &mut |_, _| true)?;
/// assert_eq!((found.entries, found.columns[0].count), (3600, 3600));
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
///
/// # Errors
/// Errors of [`Selection::read`]; [`Cancelled`](ErrorKind::Cancelled).
pub fn stats(
    selection: &Selection,
    entries: impl std::ops::RangeBounds<u64>,
    options: &StatsOptions,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<TableStats> {
    let StatsByColumn { entries, columns } = stats_by_column(selection, entries, options, progress)?;
    Ok(TableStats { entries, columns: columns.into_iter().flat_map(|(_, summaries)| summaries).collect() })
}

/// Summarises the columns of a selection as [`stats`] does; returns the summaries of each column by its name.
///
/// # Errors
/// Errors of [`stats`].
pub fn stats_by_column(
    selection: &Selection,
    entries: impl std::ops::RangeBounds<u64>,
    options: &StatsOptions,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<StatsByColumn> {
    let (start, end) = crate::table::bounds(&entries);
    let end = end.map_or_else(|| selection.table().entries(), |end| selection.table().entries_up_to(end))?;
    let range = start.min(end)..end;
    // A cut is computed again for each group.
    let together = match selection.chooses_entries() {
        _ if selection.table().words().rows => usize::MAX,
        true => 4 * COLUMNS,
        false => COLUMNS,
    };
    let mut groups = selection.in_groups(together)?;
    for (_, entries) in &mut groups {
        *entries = entries.start.max(range.start)..entries.end.min(range.end);
    }
    let total = groups.iter().map(|(_, entries)| entries.end.saturating_sub(entries.start)).sum();
    let mut found = StatsByColumn { entries: range.end - range.start, ..StatsByColumn::default() };
    let mut done = 0;
    for (group, range) in &groups {
        let mut summaries: Vec<Summary> = group
            .names()
            .zip(group.forms()?)
            .map(|(name, form)| Summary::new(name, &form, options.distinct))
            .collect();
        let mut kept = 0;
        let mut steps = group.steps(range.clone(), Step::Bytes(STEP))?;
        let tick: &mut dyn FnMut(u64) -> bool = &mut |more| progress(done + more, total);
        let mut looked_at = 0;
        while let Some(step) = {
            let tick: &mut ProgressCallback<'_> = &mut |_| tick(looked_at);
            steps.read_batch(options.threads, Some(tick))?
        } {
            kept +=
                step.kept.as_ref().map_or(step.entries.end - step.entries.start, |kept| kept.len() as u64);
            add(&mut summaries, &step, options.threads)?;
            looked_at += step.entries.end - step.entries.start;
            if !tick(looked_at) {
                return Err(Error::new(ErrorKind::Cancelled));
            }
        }
        done += looked_at;
        found.entries = kept;
        let names = group.names().map(str::to_owned);
        found.columns.extend(names.zip(summaries.into_iter().map(|summary| summary.finish(options))));
    }
    Ok(found)
}

/// Adds the rows of a step to the summaries of its columns, on several threads.
fn add(summaries: &mut [Summary], step: &Selected, threads: Option<usize>) -> Result<()> {
    let most = threads.unwrap_or_else(forthwith_platform::parallelism).max(1);
    let one = |summary: &mut Summary, array: &Array| summary.add(array);
    let placed = |invalid: Invalid| Error::fault(invalid.to_string());
    if most == 1 || summaries.len() < 2 {
        return summaries.iter_mut().zip(&step.arrays).try_for_each(|(s, a)| one(s, a)).map_err(placed);
    }
    // Round-robin, since neighbouring columns often are of one kind.
    let mut jobs: Vec<Vec<(&mut Summary, &Array)>> =
        (0..most.min(summaries.len())).map(|_| Vec::new()).collect();
    let workers = jobs.len();
    for (at, job) in summaries.iter_mut().zip(&step.arrays).enumerate() {
        jobs[at % workers].push(job);
    }
    thread::scope(|scope| {
        let run = |job: Vec<(&mut Summary, &Array)>| job.into_iter().try_for_each(|(s, a)| one(s, a));
        let own = jobs.pop().unwrap_or_default();
        let spawned: Vec<_> = jobs.into_iter().map(|job| scope.spawn(move || run(job))).collect();
        let mut outcome = run(own);
        for worker in spawned {
            let joined = worker.join().unwrap_or(Err(Invalid::Deep)); // it does not panic
            outcome = outcome.and(joined);
        }
        outcome
    })
    .map_err(placed)
}
