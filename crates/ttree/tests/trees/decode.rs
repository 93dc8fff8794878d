//! A slow and simple decoder of plans, to try what the crate makes of files without the engine.

use std::{collections::HashMap, sync::Arc};

use forthwith_columns::{DType, Encoding};
use forthwith_forth::{Compiled, Limits, Machine, Status};
use forthwith_io::{Several, Source};
use forthwith_plan::{Block, BlockFormat, ColumnSpec, Decoder, Kernel, Plan, Scratch, Stored, Task};
use forthwith_program::Program;
use forthwith_root::RootFile;
use forthwith_ttree::TreeFormat;

/// The columns of each group, by the groups' and columns' order: native bytes, offsets with their leading
/// zero.
pub(crate) type Columns = Vec<Vec<Vec<u8>>>;

/// Decodes all tasks, those that others need first.
pub(crate) fn decode(file: &RootFile, plan: &Plan) -> Result<Columns, String> {
    let mut columns: Columns =
        plan.groups.iter().map(|group| vec![Vec::new(); group.columns.len()]).collect();
    for (group, columns) in plan.groups.iter().zip(&mut columns) {
        for (spec, column) in group.columns.iter().zip(columns) {
            if spec.offsets {
                column.extend(0i64.to_ne_bytes());
            }
        }
    }
    let others = plan.others.iter().map(|name| file.source().beside(name));
    let others = others.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let source = Several::new(Arc::clone(file.source()), others);
    let mut scratch = Scratch::new();
    let mut programs = HashMap::new();
    let (first, then): (Vec<&Task>, Vec<&Task>) = plan.tasks.iter().partition(|task| task.needs.is_empty());
    for task in first.into_iter().chain(then) {
        let stored = match &task.stored {
            Stored::Range(range) => source.read_one(range.clone()).map_err(|error| error.to_string())?,
            Stored::Inline(bytes) => bytes.clone(),
            Stored::Missing { reason, .. } => return Err(reason.clone()),
        };
        let group = &plan.groups[task.group as usize];
        let place = |what: String| format!("{} basket {}: {what}", group.path, task.block);
        let block = TreeFormat
            .unframe(group, task, &stored, &mut scratch)
            .map_err(|error| place(error.to_string()))?;
        let filled = match &group.decoder {
            Decoder::Kernel(kernel) => {
                let counts = group.counter.map(|counter| counts(plan, task, counter, &columns));
                run_kernel(kernel, &block, counts, &mut columns[task.group as usize])
            }
            Decoder::Program(program) => {
                let compiled = programs
                    .entry(task.group)
                    .or_insert_with(|| {
                        Arc::new(Compiled::new(&program.source).expect("a generated program compiles"))
                    })
                    .clone();
                let (counts, items) = match group.counter.filter(|_| program.counts) {
                    Some(counter) => item_counts(plan, task, counter, &columns),
                    None => Default::default(),
                };
                let out = &mut columns[task.group as usize];
                run_program(compiled, program, &block, [&counts, &items], &group.columns, out).map_err(
                    |error| {
                        let meaning =
                            error.split(':').next().and_then(|code| program.fault(code.parse().ok()?));
                        format!("{error} {}", meaning.map_or("", |fault| &fault.what))
                    },
                )
            }
            other => Err(format!("{other:?}")),
        };
        filled.map_err(place)?;
    }
    Ok(columns)
}

/// The counter's values for a task's entries.
fn counts(plan: &Plan, task: &Task, counter: u32, columns: &Columns) -> Vec<u64> {
    let width = plan.groups[counter as usize].columns[0].dtype.size();
    let first = plan.tasks.iter().filter(|task| task.group == counter).map(|task| task.entries.start).min();
    let begin = (task.entries.start - first.unwrap_or(0)) as usize;
    let count = (task.entries.end - task.entries.start) as usize;
    let values = columns[counter as usize][0].chunks_exact(width).skip(begin).take(count);
    values.map(|value| value.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))).collect()
}

/// The bytes of the counter's values for a task's entries, of which each may have several.
fn item_counts(plan: &Plan, task: &Task, counter: u32, columns: &Columns) -> (Vec<u8>, Vec<u8>) {
    let first = plan.tasks.iter().filter(|task| task.group == counter).map(|task| task.entries.start).min();
    let entry = |at: u64| (at - first.unwrap_or(0)) as usize;
    let (begin, end) = (entry(task.entries.start), entry(task.entries.end));
    let (specs, columns) = (&plan.groups[counter as usize].columns, &columns[counter as usize]);
    let offset = |at: usize| {
        let bytes = columns[0][8 * at..8 * at + 8].try_into().expect("eight bytes");
        i64::from_ne_bytes(bytes) as usize
    };
    let (items, values) = match columns.len() {
        1 => (begin..end, 0),
        _ => (offset(begin)..offset(end), 1),
    };
    let width = specs[values].dtype.size();
    let each = match values {
        0 => Vec::new(),
        _ => (begin..end).flat_map(|at| ((offset(at + 1) - offset(at)) as i64).to_ne_bytes()).collect(),
    };
    (columns[values][width * items.start..width * items.end].to_vec(), each)
}

fn run_kernel(
    kernel: &Kernel,
    block: &Block<'_>,
    counts: Option<Vec<u64>>,
    out: &mut [Vec<u8>],
) -> Result<(), String> {
    let n = block.entries as usize;
    match kernel {
        Kernel::Flat { wire, per_entry } => {
            let expected = n * *per_entry as usize * wire.width();
            if block.payload.len() != expected {
                return Err(format!("{} bytes, {expected} expected", block.payload.len()));
            }
            values(*wire, block.payload, &mut out[0]);
        }
        Kernel::Slots { size, slots } => {
            if block.payload.len() != n * *size as usize {
                return Err(format!("{} bytes, {n} entries of {size} expected", block.payload.len()));
            }
            for entry in block.payload.chunks_exact(*size as usize) {
                for (slot, column) in slots.iter().zip(out.iter_mut()) {
                    let at = slot.at as usize;
                    values(slot.wire, &entry[at..at + slot.count as usize * slot.wire.width()], column);
                }
            }
        }
        Kernel::Jagged { header, wire, per_item } => {
            let item = wire.width() * *per_item as usize;
            let bounds: Vec<usize> = if block.bounds.is_empty() {
                let counts = counts.ok_or("neither bounds nor a counter")?;
                let sizes = counts.iter().map(|&count| count as usize * item);
                std::iter::once(0)
                    .chain(sizes.scan(0, |at, size| {
                        *at += size;
                        Some(*at)
                    }))
                    .collect()
            } else {
                let bounds = block.bounds.as_chunks::<4>().0.iter();
                bounds.map(|&bound| u32::from_le_bytes(bound) as usize).collect()
            };
            if bounds.len() != n + 1 || bounds[n] != block.payload.len() {
                return Err(format!(
                    "bounds of {} entries to {:?}, payload {}",
                    bounds.len() - 1,
                    bounds.last(),
                    block.payload.len()
                ));
            }
            for pair in bounds.windows(2) {
                let entry = &block.payload[pair[0]..pair[1]];
                let items = entry.get(*header as usize..).ok_or("an entry without its header")?;
                if items.len() % item != 0 {
                    return Err(format!("an entry of {} bytes of items of {item}", items.len()));
                }
                let last = out[0].last_chunk::<8>().map_or(0, |last| i64::from_ne_bytes(*last));
                let next = last + (items.len() / item) as i64;
                out[0].extend(next.to_ne_bytes());
                values(*wire, items, &mut out[1]);
            }
        }
        other => return Err(format!("{other:?}")),
    }
    Ok(())
}

/// Runs a program on a block.
pub(crate) fn run_program(
    program: Arc<Compiled>,
    contract: &Program,
    block: &Block<'_>,
    [counts, items]: [&[u8]; 2],
    specs: &[ColumnSpec],
    out: &mut [Vec<u8>],
) -> Result<(), String> {
    let mut machine = Machine::new(program, Limits::default());
    machine.begin();
    let origin = contract.origin.then_some(block.origin as i64);
    for number in origin.into_iter().chain([block.entries as i64]) {
        machine.push(number).map_err(|error| error.to_string())?;
    }
    let (starts, stops) = match block.bounds.len() {
        0 => (&[][..], &[][..]),
        length => (&block.bounds[..length - 4], &block.bounds[4..]),
    };
    let inputs = match (contract.bounded, contract.counts) {
        (true, true) if contract.items => vec![block.payload, starts, stops, counts, items],
        (true, true) => vec![block.payload, starts, stops, counts],
        (true, false) => vec![block.payload, starts, stops],
        (false, _) => vec![block.payload],
    };
    let mut status = machine.resume(&inputs);
    while contract.asks && matches!(status, Ok(Status::Paused)) {
        // Nothing is known here: objects are read again.
        machine.pop().and_then(|_| machine.push(0)).map_err(|error| error.to_string())?;
        status = machine.resume(&inputs);
    }
    if !matches!(status, Ok(Status::Done)) {
        return Err(format!("{:?}: {status:?}", machine.stack().last().copied().unwrap_or(0)));
    }
    for ((output, spec), column) in machine.outputs().iter().zip(specs).zip(out) {
        // Offsets of this block begin behind those of the blocks before.
        let base = column.last_chunk::<8>().map_or(0, |last| i64::from_ne_bytes(*last));
        if spec.offsets {
            for value in output.as_bytes().as_chunks::<8>().0 {
                column.extend((base + i64::from_ne_bytes(*value)).to_ne_bytes());
            }
        } else {
            column.extend(output.as_bytes());
        }
    }
    Ok(())
}

/// Values as the documentation of [`Encoding`] says, one by one.
fn values(wire: Encoding, bytes: &[u8], out: &mut Vec<u8>) {
    for value in bytes.chunks_exact(wire.width()) {
        match wire {
            Encoding::Big(_) => out.extend(value.iter().rev()),
            Encoding::Bool => out.push(u8::from(value[0] != 0)),
            Encoding::Widened => {
                let value = f32::from_be_bytes([value[0], value[1], value[2], value[3]]);
                out.extend(f64::from(value).to_ne_bytes());
            }
            Encoding::Scaled { factor, min, to, .. } => {
                let value = u32::from_be_bytes([value[0], value[1], value[2], value[3]]);
                float(f64::from(value) / factor + min, to, out);
            }
            Encoding::Truncated { bits, to } => {
                let bits = u32::from(bits);
                let mantissa = u32::from(value[1]) << 8 | u32::from(value[2]);
                let pattern = u32::from(value[0]) << 23 | (mantissa & ((1 << (bits + 1)) - 1)) << (23 - bits);
                let sign = if mantissa & 1 << (bits + 1) != 0 { -1.0 } else { 1.0 };
                float(f64::from(sign * f32::from_bits(pattern)), to, out);
            }
            other => panic!("{other:?} is not written by ROOT"),
        }
    }
}

fn float(value: f64, to: DType, out: &mut Vec<u8>) {
    match to {
        DType::Float32 => out.extend((value as f32).to_ne_bytes()),
        _ => out.extend(value.to_ne_bytes()),
    }
}
