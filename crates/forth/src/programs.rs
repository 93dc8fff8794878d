//! A cache of compiled programs by their text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::compile::Options;
use crate::compiled::Compiled;
use crate::error::CompileError;
use forthwith_platform::ForkLocal;

/// Default capacity, in programs.
const CAPACITY: usize = 1024;
/// Upper bound on the total length of the cached texts, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A bounded collection of compiled programs, shared by threads.
///
/// Programs are generated at run time from the schema of a file, and most files of a reader have the same few
/// schemas. The least recently used programs are evicted first. Two threads that request the same new text at
/// the same time may both compile it, so that neither waits for the other; both get the same program.
///
/// ```
/// use std::sync::Arc;
/// use forthwith_forth::Programs;
///
/// let programs = Programs::default();
/// let one = programs.get("1 2 +")?;
/// assert!(Arc::ptr_eq(&one, &programs.get("1 2 +")?));
/// # Ok::<(), forthwith_forth::CompileError>(())
/// ```
#[derive(Debug)]
pub struct Programs {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_text: HashMap<Key, Entry>,
    /// Total length of all texts, in bytes.
    bytes: usize,
    /// Number of requests so far.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    compiled: Arc<Compiled>,
    used: u64,
}

/// The text and the options.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key(Options, Box<str>);

impl Default for Programs {
    fn default() -> Self {
        Self::new(CAPACITY)
    }
}

impl Programs {
    /// Creates a cache for at most `capacity` programs; 0 is taken as 1.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), kept: Mutex::default() }
    }

    /// Returns the programs of this process, with their profiles and machine code, for callers without a
    /// reason to keep programs apart.
    ///
    /// A forked process has its own programs, since another thread of its parent may have held the lock on
    /// the parent's.
    pub fn of_process() -> &'static Self {
        static PROGRAMS: ForkLocal<Programs> = ForkLocal::new();
        PROGRAMS.get()
    }

    /// Returns the program of a text, and compiles it if it is not cached. Errors are not cached.
    pub fn get(&self, source: &str) -> Result<Arc<Compiled>, CompileError> {
        self.get_with(source, Options::default())
    }

    /// Returns the program of a text compiled with options. See [`Self::get`].
    pub fn get_with(&self, source: &str, options: Options) -> Result<Arc<Compiled>, CompileError> {
        let key = Key(options, source.into());
        if let Some(found) = self.lock().find(&key) {
            return Ok(found);
        }
        let made = Arc::new(Compiled::with_options(source, options)?);
        let mut kept = self.lock();
        if let Some(found) = kept.find(&key) {
            return Ok(found);
        }
        if source.len() <= MAX_BYTES {
            while kept.by_text.len() >= self.capacity || kept.bytes + source.len() > MAX_BYTES {
                kept.drop_older_half();
            }
            kept.bytes += source.len();
            let entry = Entry { compiled: Arc::clone(&made), used: kept.clock };
            kept.by_text.insert(key, entry);
        }
        Ok(made)
    }

    /// Returns the number of cached programs.
    pub fn len(&self) -> usize {
        self.lock().by_text.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all programs; machines that run them keep theirs.
    pub fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // A poisoned lock is harmless: no panic can happen between the changes of two fields.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&mut self, key: &Key) -> Option<Arc<Compiled>> {
        self.clock += 1;
        let entry = self.by_text.get_mut(key)?;
        entry.used = self.clock;
        Some(Arc::clone(&entry.compiled))
    }

    /// Evicts the less recently used half. An eviction scans all entries, at a cost that many new texts
    /// share.
    fn drop_older_half(&mut self) {
        let mut used: Vec<u64> = self.by_text.values().map(|entry| entry.used).collect();
        used.sort_unstable();
        let median = used.get(used.len() / 2).copied().unwrap_or(0);
        let only = used.len() == 1;
        self.by_text.retain(|_, entry| entry.used >= median && !only);
        self.bytes = self.by_text.keys().map(|key| key.1.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LiteralWidth;

    #[test]
    fn what_was_used_lately_stays() {
        let programs = Programs::new(8);
        let first = programs.get("0").expect("compiles");
        for number in 1..100 {
            programs.get(&number.to_string()).expect("compiles");
            assert!(Arc::ptr_eq(&first, &programs.get("0").expect("compiles")), "{number}");
            assert!(programs.len() <= 8);
        }
        programs.clear();
        assert!(programs.is_empty() && !Arc::ptr_eq(&first, &programs.get("0").expect("compiles")));
    }

    #[test]
    fn one_is_room_enough() {
        let programs = Programs::new(0);
        for text in ["1", "2", "1"] {
            assert_eq!(programs.get(text).expect("compiles").source(), text);
            assert_eq!(programs.len(), 1);
        }
    }

    #[test]
    fn options_belong_to_the_key_and_errors_do_not_stay() {
        let programs = Programs::default();
        let cut = programs.get("3000000000").expect("compiles");
        let wide = Options::default().literal_width(LiteralWidth::Bits64);
        let whole = programs.get_with("3000000000", wide).expect("compiles");
        assert_ne!(cut.bytecodes(), whole.bytecodes());
        assert!(programs.get("nonsense").is_err());
        assert_eq!(programs.len(), 2);
    }

    #[test]
    fn threads_get_the_same_program() {
        let programs = Programs::default();
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| programs.get(": f 1 ; f"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("compiles")).collect()
        });
        let last = programs.get(": f 1 ; f").expect("compiles");
        assert!(found.iter().all(|one| Arc::ptr_eq(one, &last)));
    }
}
