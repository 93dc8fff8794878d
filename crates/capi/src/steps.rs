//! Reading of batches, one by one or by a callback.

use crate::{
    batch::BatchHandle,
    pointer::{Out, free, handle, handle_mut},
    selection::{SelectedRows, SelectionHandle},
    status::{Failure, Status, guard, guard_value},
};
use forthwith::{
    ChainSteps, Step, Steps,
    columns::arrow::{ArrowError, RecordBatch},
    plan::{Error, Result},
};
use std::{
    ffi::c_void,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Approximate size in bytes of a step without a number of entries.
const STEP_BYTES: u64 = 64 << 20;

/// Iterator over the batches of a selection. Only one thread at a time may use it.
#[derive(Debug)]
pub struct StepsHandle {
    reader: StepReader,
}

/// Function that is called for each batch of `forthwith_for_each`, with the caller's `context`. The batch is
/// valid during the call. A result other than 0 ends the loop. The function must not unwind (throw).
pub type BatchCallback = Option<unsafe extern "C" fn(batch: *const BatchHandle, context: *mut c_void) -> i32>;

/// Reader of batches, which checks that their columns have the types of the selection.
#[derive(Debug)]
pub(crate) struct StepReader {
    steps: SelectedSteps,
    names: Vec<String>,
    types: Vec<String>,
    is_over: bool,
}

#[derive(Debug)]
enum SelectedSteps {
    Table(Box<Steps>),
    Chain(Box<ChainSteps>),
}

impl StepReader {
    pub(crate) fn new(selection: &SelectionHandle, entries: Range<u64>, step: u64) -> Result<Self> {
        if entries.end < entries.start {
            return Err(Error::invalid(format!(
                "the end {} is before the begin {}",
                entries.end, entries.start
            )));
        }
        let step = if step == 0 { Step::Bytes(STEP_BYTES) } else { Step::Entries(step) };
        let steps = match &selection.rows {
            SelectedRows::Table(selection) => SelectedSteps::Table(Box::new(selection.steps(entries, step)?)),
            SelectedRows::Chain(selection) => SelectedSteps::Chain(Box::new(selection.steps(entries, step)?)),
        };
        let columns = selection.columns()?;
        let types = columns.iter().map(|(_, form)| form.type_string()).collect();
        let names = columns.into_iter().map(|(name, _)| name).collect();
        Ok(Self { steps, names, types, is_over: false })
    }

    /// Returns the next batch; `None` after the last one and after an error.
    fn read(&mut self) -> Result<Option<BatchHandle>, Failure> {
        if self.is_over {
            return Ok(None);
        }
        // After a panic, the steps must not be read again.
        self.is_over = true;
        let read = match &mut self.steps {
            SelectedSteps::Table(steps) => {
                steps.read_batch(None, None)?.map(|step| (step.entries, step.kept, step.arrays, None))
            }
            SelectedSteps::Chain(steps) => steps.read(None, &mut |_| true)?.map(|step| {
                let count = |entry: u64| entry.saturating_add(step.before);
                let entries = count(step.entries.start)..count(step.entries.end);
                let kept = step.kept.map(|kept| kept.into_iter().map(count).collect());
                (entries, kept, step.arrays, Some(step.file))
            }),
        };
        let Some((entries, kept, arrays, file)) = read else { return Ok(None) };
        for ((name, expected), array) in self.names.iter().zip(&self.types).zip(&arrays) {
            let found = array.form.type_string();
            if found != *expected {
                let place = file.map_or_else(String::new, |file| format!(" in file {file} of the chain"));
                return Err(Failure::invalid(format!(
                    "column {name:?} is {found}{place}, not {expected} as in the first: open the chain with \
                     {{\"missing\": \"null\"}}"
                )));
            }
        }
        self.is_over = false;
        Ok(Some(BatchHandle::new(entries, kept, self.names.clone(), arrays)))
    }
}

/// Batches for an Arrow stream, whose callbacks are called from C: panics become errors.
impl Iterator for StepReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut read = || match self.read()? {
            Some(batch) => batch.to_arrow().map(Some),
            None => Ok(None),
        };
        let batch =
            catch_unwind(AssertUnwindSafe(&mut read)).unwrap_or_else(|panic| Err(Failure::panicked(&*panic)));
        batch.map_err(|failure| ArrowError::ExternalError(failure.message.into())).transpose()
    }
}

/// Prepares reading entries from `begin` to before `end` in steps, as `forthwith_selection_stream` does.
///
/// # Safety
/// `selection` is a selection that is not freed; it may be freed before the steps. `out` may be written to;
/// the steps are freed by `forthwith_steps_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_steps(
    selection: *const SelectionHandle,
    begin: u64,
    end: u64,
    step: u64,
    out: *mut *mut StepsHandle,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, selection) = unsafe { (Out::of_handle(out)?, handle(selection, "selection")?) };
        out.put(StepsHandle { reader: StepReader::new(selection, begin..end, step)? });
        Ok(())
    })
}

/// Reads the next batch. After the last one, and after an error, `*out` is null and the status is success.
///
/// # Safety
/// `steps` are steps that are not freed, and that no other thread uses. `out` may be written to; the batch is
/// freed by `forthwith_batch_free`, before or after the steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_steps_next(steps: *mut StepsHandle, out: *mut *mut BatchHandle) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, steps) = unsafe { (Out::of_handle(out)?, handle_mut(steps, "steps")?) };
        if let Some(batch) = steps.reader.read()? {
            out.put(batch);
        }
        Ok(())
    })
}

/// Frees steps; null is ignored. Their batches remain valid.
///
/// # Safety
/// `steps` is null or steps that are not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_steps_free(steps: *mut StepsHandle) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(steps) });
}

/// Reads entries in steps as `forthwith_steps` does and calls `callback` for each batch, in the calling
/// thread. If the callback returns another number than 0, the loop ends with `FORTHWITH_STATUS_CANCELLED`.
///
/// # Safety
/// `selection` is a selection that is not freed. `callback` may be called with `context` and does not free
/// the batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_for_each(
    selection: *const SelectionHandle,
    begin: u64,
    end: u64,
    step: u64,
    callback: BatchCallback,
    context: *mut c_void,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let selection = unsafe { handle(selection, "selection") }?;
        let callback = callback.ok_or_else(|| Failure::invalid("callback is null"))?;
        let mut reader = StepReader::new(selection, begin..end, step)?;
        while let Some(batch) = reader.read()? {
            // SAFETY: the caller's promise; the batch lives during the call.
            let answer = unsafe { callback(&raw const batch, context) };
            if answer != 0 {
                let message = format!("the callback returned {answer}");
                return Err(Failure { status: Status::Cancelled, message });
            }
        }
        Ok(())
    })
}
