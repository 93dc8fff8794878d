//! The cost of commands: `cargo run --release -p forthwith-builders --example commands [-- PART OF A NAME
//! [ROUNDS]]`.
//!
//! Times are those of the processor, where the system tells them, so that other work on the machine disturbs
//! less. For a count of instructions, run one line for few rounds under `valgrind --tool=callgrind`.
#![allow(clippy::print_stdout, reason = "it is a program")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith_builders::TypedArrayBuilder;
use std::time::Instant;

type Done = Result<(), Box<dyn std::error::Error>>;

/// Entries in a builder: several hundred kilobytes.
const ENTRIES: u32 = 1 << 16;
/// A builder is cleared and filled again this often, so that the ticks by which some systems count a thread's
/// time do not matter.
const ROUNDS: u32 = 128;

fn measure(
    what: &str,
    ty: &str,
    commands: u32,
    mut told: impl FnMut(&mut TypedArrayBuilder) -> Done,
) -> Done {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_some_and(|wanted| !what.contains(&wanted)) {
        return Ok(());
    }
    let rounds = arguments.next().map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let mut best = f64::INFINITY;
    for _ in 0..if rounds < ROUNDS { 1 } else { 5 } {
        let mut builder = TypedArrayBuilder::from_type(ty)?;
        let start = now();
        for _ in 0..rounds {
            builder.clear();
            for _ in 0..ENTRIES {
                told(&mut builder)?;
            }
        }
        best = best.min(now() - start);
        assert_eq!(builder.len(), u64::from(ENTRIES));
    }
    println!("{what:<40} {:8.1}", best / f64::from(ENTRIES) / f64::from(rounds) / f64::from(commands));
    Ok(())
}

/// Nanoseconds.
fn now() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let processor = schedule.as_ref().and_then(|text| text.split(' ').next()?.parse().ok());
    processor.unwrap_or_else(|| START.with(|start| start.elapsed().as_secs_f64() * 1e9))
}

fn main() -> Done {
    println!("nanoseconds for each command");
    measure("real", "float64", 1, |b| Ok(b.real(1.5)?))?;
    measure("integer", "int64", 1, |b| Ok(b.integer(7)?))?;
    measure("integer, into 32 bits", "int32", 1, |b| Ok(b.integer(7)?))?;
    measure("real, where nulls may be", "?float64", 1, |b| Ok(b.real(1.5)?))?;
    measure("string of 5 bytes", "string", 1, |b| Ok(b.string("hello")?))?;
    measure("string of 30 bytes", "string", 1, |b| Ok(b.string("many a word, and one more of it")?))?;
    measure("string, where nulls may be", "?string", 1, |b| Ok(b.string("hello")?))?;
    measure("null, where strings may be", "?string", 1, |b| Ok(b.null()?))?;
    let mut even = false;
    measure("union of numbers and strings", "union[int64, string]", 1, |b| {
        even = !even;
        if even { Ok(b.integer(1)?) } else { Ok(b.string("hello")?) }
    })?;
    measure("list of three reals", "var * float64", 5, |b| {
        b.begin_list()?;
        b.real(1.5)?;
        b.real(2.5)?;
        b.real(3.5)?;
        Ok(b.end_list()?)
    })?;
    measure("list of always two integers", "2 * int64", 4, |b| {
        b.begin_list()?;
        b.integer(1)?;
        b.integer(2)?;
        Ok(b.end_list()?)
    })?;
    measure("tuple of two", "(int64, float64)", 6, |b| {
        b.begin_tuple(2)?;
        b.index(0)?;
        b.integer(1)?;
        b.index(1)?;
        b.real(1.5)?;
        Ok(b.end_tuple()?)
    })?;
    measure("list of one record of two fields", "var * {x: float64, y: ?string}", 8, |b| {
        b.begin_list()?;
        b.begin_record(None)?;
        b.field("x")?;
        b.real(1.5)?;
        b.field("y")?;
        b.string("hello")?;
        b.end_record()?;
        Ok(b.end_list()?)
    })
}
