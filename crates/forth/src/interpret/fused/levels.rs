//! Native code that is compiled for several generations of CPUs and dispatched at run time.
//!
//! A level consists of entry points only. The bodies are generic and inlined into each of them, so that the
//! code that copies and swaps is compiled with the instructions of that level.

use super::convert::{self, Conversion};
use super::entries;
use super::exec::Exec;
use super::flagged::{self, Flagged};
use super::level::{self, Level};
use super::nest::{self, PassLimit};
use super::plan::Entry;
use super::steps::{Count, Header, LeafKind, Nest};
use crate::interpret::flat;
use crate::interpret::flat::code::{Fast, Slot};
use crate::interpret::flat::fast_path::Fields;
use crate::state::Width;
#[cfg(target_arch = "x86_64")]
use forthwith_kernels::Generation;
use forthwith_kernels::{CpuFeatures, compiled_for};

/// Entry points of native code, which take a position and return the position after.
trait Whole: Level {
    /// # Safety
    ///
    /// The CPU has the features of the level, and the requirements of `flat::fast_path::run` are met.
    unsafe fn flat<W: Width>(ip: *const Fast, input: Slot, fields: *const Fields<'_>) -> *const Fast;

    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn entries<K: Conversion, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
        exec: &mut Exec<'_>,
        entry: &Entry,
        passes: usize,
        at: usize,
    ) -> (usize, usize);

    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn flagged<K: Conversion>(
        exec: &mut Exec<'_>,
        flagged: &Flagged,
        passes: usize,
        at: usize,
    ) -> (usize, usize);
}

macro_rules! level {
    ($name:ident) => {
        struct $name;

        impl Level for $name {
            unsafe fn convert<K: Conversion>(from: &[u8], bytes: usize, to: *mut u8) {
                compiled_for! {
                    $name
                    unsafe fn level<K: Conversion>(from: &[u8], bytes: usize, to: *mut u8) {
                        // SAFETY: guaranteed by the caller.
                        unsafe { convert::run::<K>(from, bytes, to) }
                    }
                }
                // SAFETY: the caller guarantees the features, and the requirements of the body.
                unsafe { level::<K>(from, bytes, to) }
            }

            unsafe fn nest<K: Conversion, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
                exec: &mut Exec<'_>,
                nest: &Nest,
                header: Option<&Header>,
                passes: PassLimit,
                at: usize,
            ) -> (usize, usize) {
                compiled_for! {
                    $name
                    fn level<K: Conversion, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
                        exec: &mut Exec<'_>,
                        nest: &Nest,
                        header: Option<&Header>,
                        passes: PassLimit,
                        at: usize,
                    ) -> (usize, usize) {
                        nest::run::<K, DEPTH, WIDE, FORM>(exec, nest, header, passes, at)
                    }
                }
                // SAFETY: the caller guarantees the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe {
                    level::<K, DEPTH, WIDE, FORM>(exec, nest, header, passes, at)
                }
            }
        }

        impl Whole for $name {
            unsafe fn flat<W: Width>(ip: *const Fast, input: Slot, fields: *const Fields<'_>) -> *const Fast {
                compiled_for! {
                    $name
                    #[inline(never)]
                    unsafe fn level<W: Width>(ip: *const Fast, input: Slot, fields: *const Fields<'_>) -> *const Fast {
                        // SAFETY: guaranteed by the caller.
                        unsafe { flat::fast_path::run::<W>(ip, input, fields) }
                    }
                }
                // SAFETY: the caller guarantees the features, and the requirements of the body.
                unsafe { level::<W>(ip, input, fields) }
            }

            unsafe fn entries<K: Conversion, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
                exec: &mut Exec<'_>,
                entry: &Entry,
                passes: usize,
                at: usize,
            ) -> (usize, usize) {
                compiled_for! {
                    $name
                    fn level<K: Conversion, const DEPTH: usize, const FRAME: u8, const COUNT: u8>(
                        exec: &mut Exec<'_>,
                        entry: &Entry,
                        passes: usize,
                        at: usize,
                    ) -> (usize, usize) {
                        entries::run::<K, DEPTH, FRAME, COUNT>(exec, &entry.nest, &entry.header, passes, at)
                    }
                }
                // SAFETY: the caller guarantees the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe {
                    level::<K, DEPTH, FRAME, COUNT>(exec, entry, passes, at)
                }
            }

            unsafe fn flagged<K: Conversion>(
                exec: &mut Exec<'_>,
                flagged: &Flagged,
                passes: usize,
                at: usize,
            ) -> (usize, usize) {
                compiled_for! {
                    $name
                    fn level<K: Conversion>(
                        exec: &mut Exec<'_>,
                        flagged: &Flagged,
                        passes: usize,
                        at: usize,
                    ) -> (usize, usize) {
                        flagged::run::<K>(exec, flagged, passes, at)
                    }
                }
                // SAFETY: the caller guarantees the features.
                #[allow(unused_unsafe, reason = "the baseline has no features to vouch for")]
                unsafe {
                    level::<K>(exec, flagged, passes, at)
                }
            }
        }
    };
}

level!(Baseline);
#[cfg(target_arch = "x86_64")]
level!(Avx2);
#[cfg(target_arch = "x86_64")]
level!(Avx512);

/// Entry points of the generation that [`CpuFeatures`] reports.
pub(super) trait Native {
    /// # Safety
    ///
    /// The requirements of `flat::fast_path::run`.
    unsafe fn flat<W: Width>(self, ip: *const Fast, input: Slot, fields: *const Fields<'_>) -> *const Fast;

    /// Converts items of one kind.
    ///
    /// # Safety
    ///
    /// The requirements of `convert::run`.
    unsafe fn convert(self, kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8);

    /// Runs up to `passes` entries, and returns the number completed and the position after them.
    fn entries(self, exec: &mut Exec<'_>, entry: &Entry, passes: usize, at: usize) -> (usize, usize);

    /// Runs up to `passes` entries of flagged numbers, and returns the number completed and the position
    /// after them.
    fn flagged(self, exec: &mut Exec<'_>, flagged: &Flagged, passes: usize, at: usize) -> (usize, usize);
}

impl Native for CpuFeatures {
    #[inline(always)]
    unsafe fn flat<W: Width>(self, ip: *const Fast, input: Slot, fields: *const Fields<'_>) -> *const Fast {
        // SAFETY: the processor has the features that this value states.
        unsafe {
            match self.generation() {
                #[cfg(target_arch = "x86_64")]
                Generation::Avx2 => Avx2::flat::<W>(ip, input, fields),
                #[cfg(target_arch = "x86_64")]
                Generation::Avx512 => Avx512::flat::<W>(ip, input, fields),
                _ => Baseline::flat::<W>(ip, input, fields),
            }
        }
    }

    #[inline]
    unsafe fn convert(self, kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8) {
        // SAFETY: the processor has the features that this value states; the caller guarantees the other
        // requirements.
        unsafe {
            match self.generation() {
                #[cfg(target_arch = "x86_64")]
                Generation::Avx2 => level::convert::<Avx2>(kind, from, bytes, to),
                #[cfg(target_arch = "x86_64")]
                Generation::Avx512 => level::convert::<Avx512>(kind, from, bytes, to),
                _ => level::convert::<Baseline>(kind, from, bytes, to),
            }
        }
    }

    fn entries(self, exec: &mut Exec<'_>, entry: &Entry, passes: usize, at: usize) -> (usize, usize) {
        // SAFETY: the processor has the features that this value states.
        unsafe {
            match self.generation() {
                #[cfg(target_arch = "x86_64")]
                Generation::Avx2 => all_entries::<Avx2>(exec, entry, passes, at),
                #[cfg(target_arch = "x86_64")]
                Generation::Avx512 => all_entries::<Avx512>(exec, entry, passes, at),
                _ => all_entries::<Baseline>(exec, entry, passes, at),
            }
        }
    }

    fn flagged(self, exec: &mut Exec<'_>, flagged: &Flagged, passes: usize, at: usize) -> (usize, usize) {
        // SAFETY: the processor has the features that this value states.
        unsafe {
            match self.generation() {
                #[cfg(target_arch = "x86_64")]
                Generation::Avx2 => flagged_of::<Avx2>(exec, flagged, passes, at),
                #[cfg(target_arch = "x86_64")]
                Generation::Avx512 => flagged_of::<Avx512>(exec, flagged, passes, at),
                _ => flagged_of::<Baseline>(exec, flagged, passes, at),
            }
        }
    }
}

/// Dispatches to the instance for the byte order.
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
    // SAFETY: guaranteed by the caller.
    unsafe {
        match flagged.leaf.kind {
            LeafKind::Swap4 => L::flagged::<convert::Swap4>(exec, flagged, passes, at),
            _ => L::flagged::<convert::Copy>(exec, flagged, passes, at),
        }
    }
}

/// Runs entries in the fast loop, and a few at a time in the general one where the fast loop stops.
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
            // SAFETY: the caller guarantees the features of the level.
            let (run, after) = unsafe { entries_of::<L>(exec, entry, next, at) };
            (done, at) = (done + run, after);
            if entry.to_end {
                break;
            }
            next = (passes - done).min(8);
        }
        // SAFETY: the caller guarantees the features of the level.
        let (run, after) =
            unsafe { level::nest::<L>(exec, &entry.nest, Some(&entry.header), next.into(), at) };
        (done, at) = (done + run, after);
        if run < next {
            break;
        }
    }
    (done, at)
}

/// Dispatches to the instance for the leaf, the depth and the counts.
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
            // SAFETY: the caller guarantees the features of the level.
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
