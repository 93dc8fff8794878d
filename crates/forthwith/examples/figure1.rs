//! figure1 METHOD FILE DEPTH REPS [THREADS]: one benchmark case, for `benches/figure1`.
//!
//! METHOD is `fresh` (no pool, huge pages), `small` (no pool, 4 KiB pages) or `pooled` (memory of the last repetition is used
//! again): read `t/x`, or `x` of a file that is one table, from opening the file to columns in memory. Or `codec`: decompress every basket into warm memory, and nothing
//! else. Or `floor`: what `fresh` cannot be faster than, part by part on one thread: the baskets decompressed as in `codec`, the
//! columns' fresh huge pages touched, the decompressed baskets decoded to warm columns; `parts` has the three times of the fastest
//! repetition. Prints one line: RESULT {"times": [seconds...], "checksum": "..."}; memory is dropped outside the timing.
#![allow(clippy::print_stdout, reason = "a command")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::columns::{Array, Form, Memory, Policy};
use forthwith::{Engine, File, Options, format, io, plan};
use std::{error::Error, hint::black_box, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, method, file, depth, reps, threads @ ..] = arguments.as_slice() else {
        return Err("figure1 METHOD FILE DEPTH REPS [THREADS]".into());
    };
    let (depth, reps): (usize, usize) = (depth.parse()?, reps.parse()?);
    if method == "floor" {
        return floor(file, depth, reps);
    }
    let threads = threads.first().map_or(Ok(1), |t| t.parse())?;
    let policy = Policy {
        pool_bytes: if method == "pooled" { 8 << 30 } else { 0 },
        huge_pages: method != "small",
        ..Policy::default()
    };
    let engine = Arc::new(Engine::new(Options { threads, policy, ..Options::default() }));
    let mut times = Vec::new();
    let mut checksum = String::new();
    // A pool is warm from the second repetition on.
    let unmeasured = usize::from(method == "pooled" || method == "codec");
    for rep in 0..reps + unmeasured {
        let start = Instant::now();
        if method == "codec" {
            // No columns, so no checksum; the codecs' own checks and the lengths in the framing stand for it.
            let seconds = decompress(file, &engine)?;
            if rep >= unmeasured {
                times.push(seconds);
            }
            continue;
        }
        let array = read(file, &engine)?;
        let seconds = start.elapsed().as_secs_f64();
        if rep >= unmeasured {
            times.push(seconds);
        }
        if rep == 0 {
            checksum = check(&array, depth)?;
        }
    }
    let times: Vec<String> = times.iter().map(|t| format!("{t:.6}")).collect();
    println!("RESULT {{\"times\": [{}], \"checksum\": \"{checksum}\"}}", times.join(", "));
    Ok(())
}

fn read(file: &str, engine: &Arc<Engine>) -> Result<Array, plan::Error> {
    let file = File::from_source(forthwith::io::open(file)?, Arc::clone(engine))?;
    let table = file.table(if file.is_one_table() { "" } else { "t" })?;
    let plan = table.plan(&[table.find("x")?], 0..table.entries()?)?;
    let mut arrays = table.read(&plan, None, None)?;
    Ok(arrays.swap_remove(0))
}

/// The file in memory, what to read of it, and the format of its baskets.
struct InMemory {
    file: File,
    plan: plan::Plan,
    format: &'static dyn plan::BlockFormat,
}

impl InMemory {
    fn new(file: &str, engine: &Arc<Engine>) -> Result<Self, Box<dyn Error>> {
        let bytes = std::fs::read(file)?;
        let source: Arc<dyn io::Source> = Arc::new(io::Memory::new(file, bytes));
        let file = File::from_source(source, Arc::clone(engine))?;
        let table = file.table("t")?;
        let plan = table.plan(&[table.find("x")?], 0..table.entries()?)?;
        let format = format(&plan.format)?;
        Ok(Self { file, plan, format })
    }

    /// Decompresses all baskets and hands each over; the seconds that the decompressing took.
    fn decompress(
        &self,
        scratch: &mut plan::Scratch,
        mut with: impl FnMut(&plan::Task, plan::Block<'_>),
    ) -> Result<f64, Box<dyn Error>> {
        let mut seconds = 0.0;
        for task in &self.plan.tasks {
            let start = Instant::now();
            let plan::Stored::Range(range) = &task.stored else { continue };
            let stored = self.file.source().view(range.clone())?;
            let group = &self.plan.groups[task.group as usize];
            let block = self.format.unframe(group, task, &stored, scratch)?;
            seconds += start.elapsed().as_secs_f64();
            with(task, block);
        }
        Ok(seconds)
    }
}

/// Seconds for decompressing all baskets, their bytes being in memory.
fn decompress(file: &str, engine: &Arc<Engine>) -> Result<f64, Box<dyn Error>> {
    let file = InMemory::new(file, engine)?;
    let mut scratch = plan::Scratch::new();
    let mut seconds = f64::INFINITY;
    // The first round warms the scratch.
    for _ in 0..2 {
        let mut total = 0;
        seconds = file.decompress(&mut scratch, |_, block| total += block.payload.len())?;
        if total == 0 {
            return Err("nothing was decompressed".into());
        }
    }
    Ok(seconds)
}

/// Decompressed baskets: the number of entries and of bounds, the bounds, the payload.
struct Plain(&'static str);

impl plan::BlockFormat for Plain {
    fn id(&self) -> &'static str {
        self.0
    }

    fn unframe<'a>(
        &self,
        _group: &plan::Group,
        _task: &plan::Task,
        stored: &'a [u8],
        _scratch: &'a mut plan::Scratch,
    ) -> Result<plan::Block<'a>, plan::Error> {
        let odd = || plan::Error::unsupported("a basket that was not made here");
        let (numbers, rest) = stored.split_first_chunk::<16>().ok_or_else(odd)?;
        let numbers = u128::from_le_bytes(*numbers);
        let bounds = usize::try_from(numbers >> 64).map_err(|_| odd())?;
        let (bounds, payload) = rest.split_at_checked(bounds).ok_or_else(odd)?;
        Ok(plan::Block { payload, entries: numbers as u64, bounds, origin: 0 })
    }
}

/// The parts that nothing can save, each alone.
fn floor(file: &str, depth: usize, reps: usize) -> Result<(), Box<dyn Error>> {
    let options = |pool| {
        let policy = Policy { pool_bytes: pool, ..Policy::default() };
        Options { threads: 1, policy, ..Options::default() }
    };
    let engine = Arc::new(Engine::new(options(8 << 30)));
    let made = InMemory::new(file, &engine)?;
    let mut scratch = plan::Scratch::new();
    let (mut bytes, mut plan) = (Vec::new(), made.plan.clone());
    plan.tasks.clear();
    made.decompress(&mut scratch, |task, block| {
        let start = bytes.len() as u64;
        let bounds = (block.bounds.len() as u128) << 64;
        bytes.extend((bounds | u128::from(block.entries)).to_le_bytes());
        bytes.extend(block.bounds);
        bytes.extend(block.payload);
        let stored = plan::Stored::Range(start..bytes.len() as u64);
        plan.tasks.push(plan::Task { stored, ..task.clone() });
    })?;
    let plain = Plain(made.format.id());
    let source: Arc<dyn io::Source> = Arc::new(io::Memory::new("decompressed", bytes));
    let array = engine.read(&plan, &source, &plain, None, None)?.swap_remove(0);
    let sizes: Vec<usize> = array.columns.iter().map(|(_, column)| column.nbytes()).collect();
    let checksum = check(&array, depth)?;
    drop(array);
    let fresh = Memory::new(options(0).policy);
    let mut times: Vec<[f64; 3]> = Vec::new();
    for _ in 0..reps {
        let codec = made.decompress(&mut scratch, |_, _| ())?;
        let start = Instant::now();
        let mut buffers = Vec::new();
        for size in &sizes {
            let mut buffer = fresh.allocate(*size)?;
            for page in buffer.bytes_mut(*size).chunks_mut(4096) {
                page[0] = black_box(1);
            }
            buffers.push(buffer);
        }
        let pages = start.elapsed().as_secs_f64();
        drop(buffers);
        let start = Instant::now();
        let arrays = engine.read(&plan, &source, &plain, None, None)?;
        let decode = start.elapsed().as_secs_f64();
        drop(arrays);
        times.push([codec, pages, decode]);
    }
    let total = |parts: &[f64; 3]| parts.iter().sum::<f64>();
    let best = times.iter().min_by(|a, b| total(a).total_cmp(&total(b))).ok_or("no repetition")?;
    let all: Vec<String> = times.iter().map(|parts| format!("{:.6}", total(parts))).collect();
    let [codec, pages, decode] = best;
    let parts = format!("{{\"codec\": {codec:.6}, \"pages\": {pages:.6}, \"decode\": {decode:.6}}}");
    println!("RESULT {{\"times\": [{}], \"checksum\": \"{checksum}\", \"parts\": {parts}}}", all.join(", "));
    Ok(())
}

/// The peers' checksum: for each array its length and the sum of its items as words, weighted by 1, 3, 5, …
fn mix(words: impl ExactSizeIterator<Item = u64>) -> String {
    let length = words.len();
    let sum = words.enumerate().fold(0_u64, |h, (i, w)| h.wrapping_add(w.wrapping_mul(2 * i as u64 + 1)));
    format!("{length}:{sum:016x}")
}

fn check(array: &Array, depth: usize) -> Result<String, Box<dyn Error>> {
    let mut parts = Vec::new();
    let mut form = &array.form;
    loop {
        match form {
            Form::List { key, content } => {
                let offsets = array.column(&format!("{key}-offsets")).ok_or("no offsets")?;
                parts.push(mix(offsets.items::<i64>().ok_or("not int64")?.iter().map(|&w| w as u64)));
                form = content;
            }
            Form::Numpy { key, .. } => {
                let data = array.column(&format!("{key}-data")).ok_or("no data")?;
                parts.push(mix(data
                    .items::<f32>()
                    .ok_or("not float32")?
                    .iter()
                    .map(|w| u64::from(w.to_bits()))));
                break;
            }
            other => return Err(format!("unexpected {}", other.type_string()).into()),
        }
    }
    if parts.len() != depth + 1 {
        return Err(format!("{} levels instead of {depth}", parts.len() - 1).into());
    }
    Ok(parts.join(" "))
}
