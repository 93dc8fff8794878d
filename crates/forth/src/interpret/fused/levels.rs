//! The same native code compiled for several generations of CPU, one of which is chosen at run time.
//!
//! A level names entry points only. The bodies are generic and inlined into each of them, so that the code that copies
//! and swaps is built with the instructions of that level.

use super::convert::{self, Leafy};
use super::cursor::Cursor;
use super::entries;
use super::exec::Exec;
use super::flagged::{self, Flagged};
use super::hot::{self, Hot};
use super::level::{self, Level};
use super::nest::{self, Passes};
use super::perform;
use super::plan::{Entry, Plan};
use super::steps::{Count, Header, LeafKind, Nest};

/// Entry points of native code: from a position, to the position after.
trait Whole: Level {
    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn perform(exec: &mut Exec<'_>, plan: &Plan, passes: usize) -> usize;

    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn entries<K: Leafy, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
        exec: &mut Exec<'_>,
        entry: &Entry,
        passes: usize,
        at: usize,
    ) -> (usize, usize);

    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn flagged<K: Leafy>(
        exec: &mut Exec<'_>,
        flagged: &Flagged,
        passes: usize,
        at: usize,
    ) -> (usize, usize);
}

macro_rules! level {
    ($(#[$enable:meta])* $name:ident) => {
        struct $name;

        impl Level for $name {
            unsafe fn hot(state: &mut Hot, data: &[u8], cursors: *mut Cursor) {
                $(#[$enable])*
                #[inline(never)]
                unsafe fn level(state: &mut Hot, data: &[u8], cursors: *mut Cursor) {
                    // SAFETY: the caller's.
                    unsafe { hot::run(state, data, cursors) }
                }
                // SAFETY: the caller vouches for the features, and for the rest.
                unsafe { level(state, data, cursors) }
            }

            unsafe fn convert<K: Leafy>(from: &[u8], bytes: usize, to: *mut u8) {
                $(#[$enable])*
                unsafe fn level<K: Leafy>(from: &[u8], bytes: usize, to: *mut u8) {
                    // SAFETY: the caller's.
                    unsafe { convert::run::<K>(from, bytes, to) }
                }
                // SAFETY: the caller vouches for the features, and for the rest.
                unsafe { level::<K>(from, bytes, to) }
            }

            unsafe fn nest<K: Leafy, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
                exec: &mut Exec<'_>,
                nest: &Nest,
                header: Option<&Header>,
                passes: Passes,
                at: usize,
            ) -> (usize, usize) {
                $(#[$enable])*
                fn level<K: Leafy, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
                    exec: &mut Exec<'_>,
                    nest: &Nest,
                    header: Option<&Header>,
                    passes: Passes,
                    at: usize,
                ) -> (usize, usize) {
                    nest::run::<K, DEPTH, WIDE, FORM>(exec, nest, header, passes, at)
                }
                // SAFETY: the caller vouches for the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe { level::<K, DEPTH, WIDE, FORM>(exec, nest, header, passes, at) }
            }
        }

        impl Whole for $name {
            unsafe fn perform(exec: &mut Exec<'_>, plan: &Plan, passes: usize) -> usize {
                $(#[$enable])*
                fn level(exec: &mut Exec<'_>, plan: &Plan, passes: usize) -> usize {
                    perform::run::<$name>(exec, plan, passes)
                }
                // SAFETY: the caller vouches for the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe { level(exec, plan, passes) }
            }

            unsafe fn entries<K: Leafy, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
                exec: &mut Exec<'_>,
                entry: &Entry,
                passes: usize,
                at: usize,
            ) -> (usize, usize) {
                $(#[$enable])*
                fn level<K: Leafy, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
                    exec: &mut Exec<'_>,
                    entry: &Entry,
                    passes: usize,
                    at: usize,
                ) -> (usize, usize) {
                    entries::run::<K, DEPTH, FRAME, COUNT>(exec, &entry.nest, &entry.header, passes, at)
                }
                // SAFETY: the caller vouches for the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe { level::<K, DEPTH, FRAME, COUNT>(exec, entry, passes, at) }
            }

            unsafe fn flagged<K: Leafy>(
                exec: &mut Exec<'_>,
                flagged: &Flagged,
                passes: usize,
                at: usize,
            ) -> (usize, usize) {
                $(#[$enable])*
                fn level<K: Leafy>(
                    exec: &mut Exec<'_>,
                    flagged: &Flagged,
                    passes: usize,
                    at: usize,
                ) -> (usize, usize) {
                    flagged::run::<K>(exec, flagged, passes, at)
                }
                // SAFETY: the caller vouches for the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe { level::<K>(exec, flagged, passes, at) }
            }
        }
    };
}

level!(Baseline);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,movbe")]
    Avx2
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt,movbe")]
    Avx512
);

/// Which level this CPU runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(miri, allow(dead_code, reason = "Miri interprets the baseline only"))]
pub(crate) enum Cpu {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Cpu {
    pub(crate) fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            macro_rules! has { ($($feature:tt)*) => { $(std::is_x86_feature_detected!($feature))&&* }; }
            if has!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "movbe") {
                let wide = has!("avx512f" "avx512bw" "avx512vl" "avx512dq");
                return if wide { Self::Avx512 } else { Self::Avx2 };
            }
        }
        Self::Baseline
    }

    /// Every level this CPU can run.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Self> {
        let best = Self::detect();
        #[cfg(target_arch = "x86_64")]
        if best == Self::Avx512 {
            return vec![Self::Baseline, Self::Avx2, best];
        }
        if best == Self::Baseline { vec![best] } else { vec![Self::Baseline, best] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
        }
    }

    /// Runs up to so many passes of a body; how many were complete.
    pub(super) fn perform(self, exec: &mut Exec<'_>, plan: &Plan, passes: usize) -> usize {
        // SAFETY: a level other than the baseline comes from `detect` only.
        unsafe {
            match self {
                Self::Baseline => Baseline::perform(exec, plan, passes),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => Avx2::perform(exec, plan, passes),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => Avx512::perform(exec, plan, passes),
            }
        }
    }

    /// Converts items of one kind.
    ///
    /// # Safety
    ///
    /// As for `convert::run`.
    #[inline]
    pub(super) unsafe fn convert(self, kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8) {
        // SAFETY: a level other than the baseline comes from `detect` only; the rest is the caller's.
        unsafe {
            match self {
                Self::Baseline => level::convert::<Baseline>(kind, from, bytes, to),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => level::convert::<Avx2>(kind, from, bytes, to),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => level::convert::<Avx512>(kind, from, bytes, to),
            }
        }
    }

    /// Runs up to so many entries; the number completed and the position after them.
    pub(super) fn entries(
        self,
        exec: &mut Exec<'_>,
        entry: &Entry,
        passes: usize,
        at: usize,
    ) -> (usize, usize) {
        // SAFETY: a level other than the baseline comes from `detect` only.
        unsafe {
            match self {
                Self::Baseline => all_entries::<Baseline>(exec, entry, passes, at),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => all_entries::<Avx2>(exec, entry, passes, at),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => all_entries::<Avx512>(exec, entry, passes, at),
            }
        }
    }

    /// The same for entries of flagged numbers.
    pub(super) fn flagged(
        self,
        exec: &mut Exec<'_>,
        flagged: &Flagged,
        passes: usize,
        at: usize,
    ) -> (usize, usize) {
        // SAFETY: a level other than the baseline comes from `detect` only.
        unsafe {
            match self {
                Self::Baseline => flagged_of::<Baseline>(exec, flagged, passes, at),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => flagged_of::<Avx2>(exec, flagged, passes, at),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => flagged_of::<Avx512>(exec, flagged, passes, at),
            }
        }
    }
}

/// Picks the instance for the order of bytes.
///
/// # Safety
///
/// The CPU has the features of the level.
unsafe fn flagged_of<L: Whole>(
    exec: &mut Exec<'_>,
    flagged: &Flagged,
    passes: usize,
    at: usize,
) -> (usize, usize) {
    // SAFETY: the caller's.
    unsafe {
        match flagged.leaf.kind {
            LeafKind::Swap4 => L::flagged::<convert::Swap4>(exec, flagged, passes, at),
            _ => L::flagged::<convert::Copy>(exec, flagged, passes, at),
        }
    }
}

/// Entries that the fast loop does not take are taken by the general one, a few at a time.
///
/// # Safety
///
/// The CPU has the features of the level.
unsafe fn all_entries<L: Whole>(
    exec: &mut Exec<'_>,
    entry: &Entry,
    passes: usize,
    mut at: usize,
) -> (usize, usize) {
    let mut done = 0;
    while done < passes {
        let mut next = passes - done;
        if entry.known_ends {
            // SAFETY: the caller vouches for the level.
            let (run, after) = unsafe { entries_of::<L>(exec, entry, next, at) };
            (done, at) = (done + run, after);
            if entry.to_end {
                break;
            }
            next = (passes - done).min(8);
        }
        // SAFETY: as above.
        let (run, after) =
            unsafe { level::nest::<L>(exec, &entry.nest, Some(&entry.header), next.into(), at) };
        (done, at) = (done + run, after);
        if run < next {
            break;
        }
    }
    (done, at)
}

/// Picks the instance for the leaf, the depth and the counts.
///
/// # Safety
///
/// The CPU has the features of the level.
unsafe fn entries_of<L: Whole>(
    exec: &mut Exec<'_>,
    entry: &Entry,
    passes: usize,
    at: usize,
) -> (usize, usize) {
    macro_rules! go {
        ($leaf:ident, $count:ident) => {
            // SAFETY: the caller vouches for the level.
            unsafe {
                match (entry.nest.depth, entry.header.byte_count.is_some()) {
                    _ if entry.to_end => L::entries::<$leaf, 2, TO_END, $count>(exec, entry, passes, at),
                    (1, true) => L::entries::<$leaf, 1, FRAMED, $count>(exec, entry, passes, at),
                    (2, true) => L::entries::<$leaf, 2, FRAMED, $count>(exec, entry, passes, at),
                    (_, true) => L::entries::<$leaf, 3, FRAMED, $count>(exec, entry, passes, at),
                    (1, false) => L::entries::<$leaf, 1, PLAIN, $count>(exec, entry, passes, at),
                    (2, false) => L::entries::<$leaf, 2, PLAIN, $count>(exec, entry, passes, at),
                    (_, false) => L::entries::<$leaf, 3, PLAIN, $count>(exec, entry, passes, at),
                }
            }
        };
    }
    use convert::{Bool, Copy, Swap2, Swap4, Swap8};
    use entries::{FRAMED, PLAIN, TEXT, TO_END, WORD};
    match (entry.nest.leaf.kind, entry.nest.inner) {
        (LeafKind::Copy, Count::Text) => go!(Copy, TEXT),
        (_, Count::Text) => (0, at),
        (LeafKind::Copy, _) => go!(Copy, WORD),
        (LeafKind::Swap2, _) => go!(Swap2, WORD),
        (LeafKind::Swap4, _) => go!(Swap4, WORD),
        (LeafKind::Swap8, _) => go!(Swap8, WORD),
        (LeafKind::Bool, _) => go!(Bool, WORD),
    }
}
