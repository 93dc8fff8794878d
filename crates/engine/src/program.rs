//! Decoding of record-oriented layouts: the Forth machine runs the program of a block.

use crate::{
    kernel::Wanted,
    objects::ObjectCache,
    part::Counter,
    place::{Places, Turn, out_of_memory},
};
use forthwith_columns::{Buffer, Builder, kernels};
use forthwith_forth::{Compiled, Limits, Machine, Memory, Output, RunError, Status};
use forthwith_plan::{BlockFormat, Error, ErrorKind, Result, Task};
use forthwith_platform::Instant;
use forthwith_program::Program;
use std::sync::{Arc, Mutex, PoisonError};

/// Size in bytes up to which payloads are decoded to scratch memory, most of which stays in the cache.
const AHEAD_MOST: usize = 4 << 20;

/// Upper bound in bytes on the address space that a worker reserves for scratch memory.
const SCRATCH_MOST: usize = 256 << 20;
/// Upper bound in bytes on the reservation for one output: less than the size from which on huge pages are
/// used, which are zeroed as a whole.
const OUTPUT_MOST: usize = 4 << 20;

/// Other threads of the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nobody,
    Others,
    /// Other threads, all of which can have their turn in the time it takes to prepare a block.
    Quicker,
}

/// The machine of a worker, and the scratch memory to which it writes before its turn.
#[derive(Default)]
pub(crate) struct Decoders {
    machine: Option<(Arc<Compiled>, Machine)>,
    spare: Vec<Box<dyn Memory>>,
}

impl Decoders {
    /// Frees scratch memory of more than `bytes` bytes.
    pub(crate) fn trim(&mut self, bytes: usize) {
        self.spare.retain(|memory| memory.capacity() <= bytes);
    }
}

#[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
pub(crate) fn run(
    decoders: &mut Decoders,
    program: &Program,
    compiled: &Arc<Compiled>,
    format: &dyn BlockFormat,
    task: &Task,
    parts: &[(Wanted<'_>, u64)],
    counter: Option<Counter<'_>>,
    beside: Beside,
    turn: Turn<'_>,
) -> Result<()> {
    let Turn { places, order, .. } = turn;
    let machine = match decoders.machine.take() {
        Some((known, machine)) if Arc::ptr_eq(&known, compiled) => machine,
        _ => Machine::new(Arc::clone(compiled), Limits::default()),
    };
    let [counts, items] = match program.counts {
        true => counts(task, counter)?,
        false => Default::default(),
    };
    let mut job =
        Job { program, machine, format, task, parts, places, counts, items, objects: ObjectCache::default() };
    job.skip_unwanted()?;
    let payload: usize = parts.iter().map(|(part, _)| part.len()).sum();
    // A thread that keeps the turn while it decodes blocks all others, and the first task has to show how
    // much memory is needed.
    let ahead = (beside != Beside::Nobody || places.makes_room(order)) && payload <= AHEAD_MOST;
    if beside == Beside::Quicker && !ahead {
        turn.wait()?;
    }
    if !ahead && places.is_turn(order) {
        let begun = Instant::now();
        if places.makes_room(order) {
            places.make_room(0, None)?;
        }
        job.in_place()?;
        places.keeps(begun.elapsed());
        places.placed();
    } else {
        job.ahead(&mut decoders.spare, turn)?;
    }
    decoders.machine = Some((Arc::clone(compiled), job.machine));
    Ok(())
}

struct Job<'a> {
    program: &'a Program,
    machine: Machine,
    format: &'a dyn BlockFormat,
    task: &'a Task,
    /// Wanted entries of each block, with the block number.
    parts: &'a [(Wanted<'a>, u64)],
    places: &'a Places<'a>,
    /// Values of the counter column for the wanted entries.
    counts: Arc<[u8]>,
    /// Number of counter values of each entry, if it varies.
    items: Arc<[u8]>,
    objects: ObjectCache,
}

impl Job<'_> {
    /// Decodes directly to the columns.
    fn in_place(&mut self) -> Result<()> {
        let homes: Vec<Home> = self.places.builders.iter().map(|_| Home::default()).collect();
        let outputs = self.places.builders.iter().zip(&homes).map(|(builder, home)| {
            let (buffer, items) = builder.lend();
            let start = items * builder.dtype().size();
            let memory = InPlace { buffer: Some(buffer), start, home: Arc::clone(home) };
            Output::new(builder.dtype(), Box::new(memory))
        });
        let starts: Vec<usize> = self.places.builders.iter().map(Builder::len).collect();
        let before = self.places.ends().clone();
        let decoded = self.decode(outputs.collect(), &before);
        let written: Vec<usize> = self.machine.outputs().iter().map(Output::len).collect();
        // Dropping the outputs returns the buffers.
        drop(self.machine.take_outputs());
        let mut ends = self.places.ends();
        for (at, builder) in self.places.builders.iter().enumerate() {
            let buffer = homes[at].lock().unwrap_or_else(PoisonError::into_inner).take();
            // The items of a failed run are discarded.
            let items = starts[at] + if decoded.is_ok() { written.get(at).copied().unwrap_or(0) } else { 0 };
            if let Some(buffer) = buffer {
                if self.places.group.columns[at].offsets {
                    ends[at] = last_offset(buffer.bytes(8 * items));
                }
                builder.give_back(buffer, items);
            }
        }
        decoded
    }

    /// Decodes to scratch memory, and copies the result to the columns when the turn comes.
    fn ahead(&mut self, spare: &mut Vec<Box<dyn Memory>>, turn: Turn<'_>) -> Result<()> {
        let payload: usize = self.parts.iter().map(|(part, _)| part.len()).sum();
        let entries = (self.task.wanted.end - self.task.wanted.start) as usize;
        let most = OUTPUT_MOST.min(SCRATCH_MOST / self.places.builders.len().max(1));
        let outputs = self.places.builders.iter().zip(&self.places.group.columns).map(|(builder, column)| {
            let dtype = builder.dtype();
            let mut memory = spare.pop().unwrap_or_else(|| Output::owned(dtype).into_memory());
            // Fused loops require reserved space for all they could write. Pages that are not written are not
            // allocated.
            let room = match column.bytes_per_payload_byte as usize {
                0 => entries.saturating_add(1).saturating_mul(dtype.size()),
                each => payload.saturating_mul(each).saturating_add(8),
            };
            // Sizes are rounded up, so that steps of different length can reuse the memory.
            let room = room.checked_next_power_of_two().unwrap_or(most).min(most);
            if memory.capacity() < room {
                // If the reservation fails, the memory grows as needed.
                let _ = memory.grow(0, room);
            }
            Output::new(dtype, memory)
        });
        let outputs = outputs.collect();
        let before = vec![0; self.places.builders.len()];
        self.decode(outputs, &before)?;
        let outputs = self.machine.take_outputs();
        turn.wait()?;
        if self.places.makes_room(turn.order) {
            let bytes: Vec<usize> = outputs.iter().map(|output| output.as_bytes().len()).collect();
            self.places.make_room(self.task.wanted.end - self.task.wanted.start, Some(&bytes))?;
        }
        let mut slots = Vec::with_capacity(outputs.len());
        {
            let mut ends = self.places.ends();
            for (at, (builder, output)) in self.places.builders.iter().zip(&outputs).enumerate() {
                let slot = builder.append(output.len()).map_err(|e| out_of_memory(&e))?;
                slots.push((slot, ends[at]));
                if self.places.group.columns[at].offsets {
                    ends[at] = ends[at].saturating_add(last_offset(output.as_bytes()));
                }
            }
        }
        self.places.placed();
        // Every other task starts with another column, so that threads do not fault on the same new pages.
        let behind = turn.order % 2 * (slots.len() / 2);
        let order = (behind..slots.len()).chain(0..behind);
        for at in order {
            let ((slot, base), output, spec) = (&mut slots[at], &outputs[at], &self.places.group.columns[at]);
            let base = *base;
            if spec.offsets {
                let beyond = |_| Error::invalid("offsets beyond 64 bits");
                kernels::rebase(output.as_bytes(), base, slot).map_err(beyond)?;
            } else {
                kernels::copy(output.as_bytes(), slot);
            }
        }
        // The order is reversed because the next outputs are taken from the end.
        spare.extend(outputs.into_iter().rev().map(Output::into_memory));
        Ok(())
    }

    /// Decodes the entries before the first wanted one if the block has no entry bounds, to find its start.
    fn skip_unwanted(&mut self) -> Result<()> {
        let Some((first, block)) = self.parts.first() else { return Ok(()) };
        if self.program.bounded || first.from == 0 {
            return Ok(());
        }
        self.machine.begin();
        let begin = self.task.wanted.start - first.from;
        self.go(first.from, begin, &unbounded(self.program, *first)).map_err(|e| e.in_block(*block))
    }

    /// Runs the program on all parts. `before` has the last offset of each output.
    fn decode(&mut self, outputs: Vec<Output>, before: &[i64]) -> Result<()> {
        let skipped = match self.parts.first() {
            Some((first, _)) if !self.program.bounded && first.from > 0 => self.machine.position(0),
            _ => 0,
        };
        self.machine.begin_with(outputs).map_err(|e| self.error(e, 0))?;
        let mut entry = self.task.wanted.start;
        for (number, (wanted, block)) in self.parts.iter().enumerate() {
            match number {
                0 => self.machine.set_position(0, skipped),
                _ => self.machine.begin_again(true).map_err(|e| self.error(e, entry))?,
            }
            self.part(*wanted, entry, before).map_err(|e| e.in_block(*block))?;
            entry += wanted.entries;
        }
        self.check_offsets(before)?;
        self.places.texts.look(self.machine.outputs(), before);
        Ok(())
    }

    fn part(&mut self, wanted: Wanted<'_>, first: u64, before: &[i64]) -> Result<()> {
        let payload = wanted.block.payload;
        self.objects.begin(self.machine.outputs());
        if self.program.bounded {
            if wanted.bounds.is_empty() {
                return Err(Error::mismatch("the number of entry bounds", wanted.entries + 1, 0));
            }
            let (starts, stops) = (&wanted.bounds[..wanted.bounds.len() - 4], &wanted.bounds[4..]);
            let mut inputs = vec![payload, starts, stops];
            if !self.program.constants.is_empty() {
                inputs.push(&self.program.constants);
            }
            let (counts, items) = (Arc::clone(&self.counts), Arc::clone(&self.items));
            if self.program.counts {
                inputs.push(&counts);
            }
            if self.program.items {
                inputs.push(&items);
            }
            if self.program.origin {
                self.machine.push(wanted.block.origin as i64).map_err(|e| self.error(e, first))?;
            }
            return self.go(wanted.entries, first, &inputs);
        }
        self.go(wanted.entries, first, &unbounded(self.program, wanted))?;
        let (end, at) = (payload.len(), self.machine.position(0));
        if wanted.from + wanted.entries == wanted.block.entries && at != end {
            // A negative length is the more precise error.
            self.check_offsets(before)?;
            let unit = self.format.unit();
            let what = format!("{} bytes of the {unit} are left over", end.saturating_sub(at));
            return Err(Error::fault(what).at_byte(at as u64));
        }
        Ok(())
    }

    /// Checks that offsets ascend, if lengths are signed. They are still in the cache.
    fn check_offsets(&self, before: &[i64]) -> Result<()> {
        if !self.program.signed {
            return Ok(());
        }
        let outputs = self.machine.outputs().iter().zip(&self.places.group.columns);
        for ((output, spec), before) in outputs.zip(before) {
            if spec.offsets && kernels::fall(*before, output.as_bytes()) {
                return Err(Error::fault("a length or a count is negative").in_member(&spec.member));
            }
        }
        Ok(())
    }

    fn go(&mut self, entries: u64, first: u64, inputs: &[&[u8]]) -> Result<()> {
        let result = self.machine.push(entries as i64).and_then(|()| self.machine.resume(inputs));
        let mut result = result;
        loop {
            match result {
                Ok(Status::Done) => return Ok(()),
                Ok(_) => {
                    let request = self.machine.pop().map_err(|e| self.error(e, first))?;
                    if !self.program.asks {
                        let what = format!("request {request} of a paused program");
                        return Err(Error::unsupported(what).in_object(&self.places.group.path));
                    }
                    let answer = self.objects.answer(request, self.machine.outputs());
                    result = self.machine.push(answer).and_then(|()| self.machine.resume(inputs));
                }
                Err(error) => return Err(self.error(error, first)),
            }
        }
    }

    /// Returns the error of the machine, in terms of the file.
    #[cold]
    fn error(&self, error: RunError, first: u64) -> Error {
        let kind = match error {
            RunError::UserHalt(Some(code)) => match self.program.fault(code) {
                Some(fault) if fault.unsupported => ErrorKind::Unsupported { what: fault.what.clone() },
                Some(fault) => ErrorKind::Fault { what: fault.what.clone() },
                None => error.into(),
            },
            RunError::ReadBeyond | RunError::SkipBeyond | RunError::SeekBeyond => {
                ErrorKind::Fault { what: "the data end in the middle of a value".into() }
            }
            RunError::OutOfMemory => ErrorKind::OutOfMemory { what: "a column", bytes: 0 },
            other => other.into(),
        };
        let entry = self.machine.outer_index().map(|entry| first + entry as u64);
        let error = Error::new(kind).at_byte(self.machine.position(0) as u64).at_entry(entry);
        let line = self.machine.error_location().map(|l| l.line as u32);
        match line.and_then(|l| self.program.member_at(l)) {
            Some(member) => error.in_member(member),
            None => error,
        }
    }
}

/// Returns the values of a counter for the wanted entries, and the number of values of each entry if it
/// varies.
fn counts(task: &Task, counter: Option<Counter<'_>>) -> Result<[Arc<[u8]>; 2]> {
    let missing = || Error::invalid("a program without its counter");
    let counter = counter.ok_or_else(missing)?;
    let row = |entry| counter.row(entry).ok_or_else(missing);
    let (begin, end) = (row(task.wanted.start)?, row(task.wanted.end)?);
    let counter = counter.places;
    let (items, each) = match &*counter.builders {
        [_] => (begin..end, Vec::new()),
        [offsets, _] => {
            let offsets = offsets.read(begin..end + 1).ok_or_else(missing)?;
            let offsets: Vec<i64> =
                offsets.as_chunks().0.iter().map(|one| i64::from_ne_bytes(*one)).collect();
            let at = |offset: Option<&i64>| offset.and_then(|&offset| usize::try_from(offset).ok());
            let items = at(offsets.first()).ok_or_else(missing)?..at(offsets.last()).ok_or_else(missing)?;
            let each = offsets.windows(2).flat_map(|pair| (pair[1] - pair[0]).to_ne_bytes());
            (items, each.collect())
        }
        _ => return Err(missing()),
    };
    let values = counter.builders.last().and_then(|values| values.read(items)).ok_or_else(missing)?;
    Ok([values.into(), each.into()])
}

/// Returns the inputs of a program without entry bounds.
fn unbounded<'a>(program: &'a Program, wanted: Wanted<'a>) -> Vec<&'a [u8]> {
    let mut inputs = vec![wanted.block.payload];
    if !program.constants.is_empty() {
        inputs.push(&program.constants);
    }
    inputs
}

/// Returns the last offset; 0 if there are none.
fn last_offset(offsets: &[u8]) -> i64 {
    offsets.last_chunk().map_or(0, |last| i64::from_ne_bytes(*last))
}

/// Slot to which a lent buffer is returned when the machine is done with it.
type Home = Arc<Mutex<Option<Buffer>>>;

/// Memory of the machine in a column that has items already: the bytes from `start` on.
struct InPlace {
    /// `Some` until the drop.
    buffer: Option<Buffer>,
    start: usize,
    home: Home,
}

impl Drop for InPlace {
    fn drop(&mut self) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = self.buffer.take();
    }
}

// SAFETY: the buffer is owned, so no other code accesses it, and only `grow` moves it. `start` is within its
// capacity (the column's items end there), so the pointer is followed by `capacity` writable bytes and the
// buffer's 64 bytes of slack. It is preceded by the column's last item or, at the start, by the buffer's 64
// zero bytes.
#[allow(unsafe_code)]
unsafe impl Memory for InPlace {
    fn as_ptr(&self) -> *mut u8 {
        self.buffer.as_ref().map_or(std::ptr::null_mut(), |b| b.as_ptr().wrapping_add(self.start))
    }

    fn capacity(&self) -> usize {
        self.buffer.as_ref().map_or(0, |b| b.capacity() - self.start)
    }

    fn grow(&mut self, used: usize, needed: usize) -> std::result::Result<(), forthwith_forth::OutOfMemory> {
        let refused = forthwith_forth::OutOfMemory;
        let needed = self.start.checked_add(needed).ok_or(refused)?;
        let buffer = self.buffer.as_mut().ok_or(refused)?;
        buffer.grow(self.start + used, needed).map_err(|_| refused)
    }
}
