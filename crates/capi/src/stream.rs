//! Reading as an Arrow stream.

use crate::{
    pointer::{Out, handle},
    selection::SelectionHandle,
    status::{Status, guard},
    steps::StepReader,
};
use forthwith::columns::arrow::{self, FFI_ArrowArrayStream};

/// Reads entries from `begin` to before `end` as a stream over Arrow's C stream interface. Each batch has
/// `step` entries and is read when it is requested. An `end` of `UINT64_MAX` is the end of the table; a
/// `step` of 0 means about 64 MiB. With a cut, a batch has fewer rows than entries. Errors are returned by
/// the stream's `get_next` and `get_last_error`.
///
/// # Safety
/// `selection` is a selection that is not freed; it may be freed before the stream. `out` may be written to,
/// and is released by its `release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_selection_stream(
    selection: *const SelectionHandle,
    begin: u64,
    end: u64,
    step: u64,
    out: *mut FFI_ArrowArrayStream,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::with(out, "out", FFI_ArrowArrayStream::empty()) }?;
        // SAFETY: the caller's promise.
        let selection = unsafe { handle(selection, "selection") }?;
        let schema = selection.schema()?;
        out.write(arrow::stream(schema, StepReader::new(selection, begin..end, step)?));
        Ok(())
    })
}
