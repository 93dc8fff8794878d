//! Native code of one CPU generation that other native code of that generation calls, as a type.

use super::convert::{self, Conversion};
use super::exec::Exec;
use super::nest::{BLOCKS, COUNTED, ENDED, PassLimit};
use super::steps::{Form, Header, LeafKind, Nest};

/// Entry points of native code that other native code of the same level calls.
pub(super) trait Level {
    /// # Safety
    ///
    /// The CPU has the features of the level, and the requirements of `convert::run` are met.
    unsafe fn convert<K: Conversion>(from: &[u8], bytes: usize, to: *mut u8);

    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn nest<K: Conversion, const DEPTH: usize, const WIDE: bool, const FORM: u8>(
        exec: &mut Exec<'_>,
        nest: &Nest,
        header: Option<&Header>,
        passes: PassLimit,
        at: usize,
    ) -> (usize, usize);
}

/// Converts items of one kind.
///
/// # Safety
///
/// The CPU has the features of the level, and the requirements of `convert::run` are met.
#[inline]
pub(super) unsafe fn convert<L: Level>(kind: LeafKind, from: &[u8], bytes: usize, to: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match kind {
            LeafKind::Copy => L::convert::<convert::Copy>(from, bytes, to),
            LeafKind::Swap2 => L::convert::<convert::Swap2>(from, bytes, to),
            LeafKind::Swap4 => L::convert::<convert::Swap4>(from, bytes, to),
            LeafKind::Swap8 => L::convert::<convert::Swap8>(from, bytes, to),
            LeafKind::Bool => L::convert::<convert::Bool>(from, bytes, to),
        }
    }
}

/// Dispatches to the instance for the leaf, the depth and the form of the lists.
///
/// # Safety
///
/// The CPU has the features of the level.
pub(super) unsafe fn nest<L: Level>(
    exec: &mut Exec<'_>,
    nest: &Nest,
    header: Option<&Header>,
    passes: PassLimit,
    at: usize,
) -> (usize, usize) {
    macro_rules! go {
        ($leaf:ident, $form:ident) => {
            // SAFETY: the caller vouches for the level.
            unsafe {
                match (nest.depth, nest.wide) {
                    (1, true) => L::nest::<convert::$leaf, 1, true, $form>(exec, nest, header, passes, at),
                    (2, true) => L::nest::<convert::$leaf, 2, true, $form>(exec, nest, header, passes, at),
                    (_, true) => L::nest::<convert::$leaf, 3, true, $form>(exec, nest, header, passes, at),
                    (1, false) => L::nest::<convert::$leaf, 1, false, $form>(exec, nest, header, passes, at),
                    (2, false) => L::nest::<convert::$leaf, 2, false, $form>(exec, nest, header, passes, at),
                    (_, false) => L::nest::<convert::$leaf, 3, false, $form>(exec, nest, header, passes, at),
                }
            }
        };
    }
    match (nest.leaf.kind, nest.form) {
        (LeafKind::Copy, Form::Counted) => go!(Copy, COUNTED),
        (LeafKind::Swap2, Form::Counted) => go!(Swap2, COUNTED),
        (LeafKind::Swap4, Form::Counted) => go!(Swap4, COUNTED),
        (LeafKind::Swap8, Form::Counted) => go!(Swap8, COUNTED),
        (LeafKind::Bool, Form::Counted) => go!(Bool, COUNTED),
        // The matcher creates these for plain copies only.
        (_, Form::Ended) => go!(Copy, ENDED),
        (LeafKind::Copy, Form::Blocks { .. }) => go!(Copy, BLOCKS),
        (LeafKind::Bool, Form::Blocks { .. }) => go!(Bool, BLOCKS),
        (LeafKind::Swap2, Form::Blocks { .. }) => go!(Swap2, BLOCKS),
        (LeafKind::Swap4, Form::Blocks { .. }) => go!(Swap4, BLOCKS),
        (LeafKind::Swap8, Form::Blocks { .. }) => go!(Swap8, BLOCKS),
    }
}
