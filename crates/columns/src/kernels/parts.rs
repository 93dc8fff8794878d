//! Work on the rows of a column that several threads share.

use std::ops::Range;

/// What `part` answers for parts of the rows, from the first to the last: as many parts as threads, of at least `worth`
/// rows each.
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
            // Where the system gives no more threads, this one does all the work.
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
