//! Division of the rows of a column among threads.

use std::ops::Range;

/// Calls `part` for consecutive ranges of the rows and returns the results in order: one range for each
/// thread, of at least `worth` rows.
pub(super) fn in_parts<T: Send>(
    threads: usize,
    rows: usize,
    worth: usize,
    part: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let threads = threads.min(rows / worth.max(1)).max(1);
    let each = rows.div_ceil(threads);
    let part = |number: usize| part((number * each).min(rows)..rows.min((number + 1) * each));
    std::thread::scope(|scope| {
        let later = (1..threads).map(|number| {
            let part = &part;
            // If a thread cannot be spawned, this one does its work.
            (number, std::thread::Builder::new().spawn_scoped(scope, move || part(number)))
        });
        let later: Vec<_> = later.collect();
        let mut found = vec![part(0)];
        for (number, thread) in later {
            let theirs = thread.ok().and_then(|thread| thread.join().ok());
            found.push(theirs.unwrap_or_else(|| part(number)));
        }
        found
    })
}
