//! figure1 METHOD FILE DEPTH REPS [THREADS]: one benchmark case, for `benches/figure1`.
//!
//! METHOD is `fresh` (no pool, huge pages), `small` (no pool, 4 KiB pages) or `pooled` (memory of the last repetition is used
//! again): read `t/x` from opening the file to columns in memory. Or `codec`: read and decompress every basket into warm memory,
//! and nothing else. Prints one line: RESULT {"times": [seconds...], "checksum": "..."}; memory is dropped outside the timing.
#![allow(clippy::print_stdout, reason = "a command")]

use forthwith::columns::{Array, Form, Policy};
use forthwith::{Engine, File, Options, format, plan};
use std::{error::Error, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, method, file, depth, reps, threads @ ..] = arguments.as_slice() else {
        return Err("figure1 METHOD FILE DEPTH REPS [THREADS]".into());
    };
    let (depth, reps): (usize, usize) = (depth.parse()?, reps.parse()?);
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
    let table = file.table("t")?;
    let plan = table.plan(&[table.find("x")?], 0..table.entries())?;
    let mut arrays = table.read(&plan, None, None)?;
    Ok(arrays.swap_remove(0))
}

/// Seconds for decompressing all baskets, their bytes being in memory.
fn decompress(file: &str, engine: &Arc<Engine>) -> Result<f64, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let source: Arc<dyn forthwith::io::Source> = Arc::new(forthwith::io::Memory::new(file, bytes));
    let file = File::from_source(source, Arc::clone(engine))?;
    let table = file.table("t")?;
    let plan = table.plan(&[table.find("x")?], 0..table.entries())?;
    let format = format(&plan.format)?;
    let mut scratch = plan::Scratch::new();
    let mut seconds = f64::INFINITY;
    // The first round warms the scratch.
    for _ in 0..2 {
        let mut total = 0;
        let start = Instant::now();
        for task in &plan.tasks {
            let plan::Stored::Range(range) = &task.stored else { continue };
            let stored = file.source().read_one(range.clone())?;
            let block = format.unframe(&plan.groups[task.group as usize], task, &stored, &mut scratch)?;
            total += block.payload.len() as u64;
        }
        seconds = start.elapsed().as_secs_f64();
        if total == 0 {
            return Err("nothing was decompressed".into());
        }
    }
    Ok(seconds)
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
