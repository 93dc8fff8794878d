//! The cost of commands: `cargo run --release -p forthwith-builders --example commands [-- PART OF A NAME]`.
//!
//! Times are those of the processor, where the system tells them, so that other work on the machine disturbs less.
#![allow(clippy::print_stdout, reason = "it is a program")]

use forthwith_builders::{Engine, Form, TypedArrayBuilder};
use std::time::Instant;

type Done = Result<(), Box<dyn std::error::Error>>;

/// Entries in a builder: several hundred kilobytes.
const ENTRIES: u32 = 1 << 16;
/// So often is one cleared and filled again.
/// Often enough that the ticks by which some systems count a thread's time do not matter.
const BUILDERS: u32 = 128;

fn measure(
    what: &str,
    ty: &str,
    commands: u32,
    mut told: impl FnMut(&mut TypedArrayBuilder) -> Done,
) -> Done {
    if std::env::args().nth(1).is_some_and(|wanted| !what.contains(&wanted)) {
        return Ok(());
    }
    print!("{what:<40}");
    for engine in [Engine::Direct, Engine::Program] {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let mut builder = TypedArrayBuilder::with_engine(&Form::from_type(ty)?, engine)?;
            let start = now();
            for _ in 0..BUILDERS {
                builder.clear();
                for _ in 0..ENTRIES {
                    told(&mut builder)?;
                }
            }
            best = best.min(now() - start);
            assert_eq!(builder.len(), u64::from(ENTRIES));
        }
        print!(" {:8.1}", best / f64::from(ENTRIES) / f64::from(BUILDERS) / f64::from(commands));
    }
    println!();
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
    println!("{:<40} {:>8} {:>8}", "nanoseconds for each command", "direct", "program");
    measure("real", "float64", 1, |b| Ok(b.real(1.5)?))?;
    measure("integer", "int64", 1, |b| Ok(b.integer(7)?))?;
    measure("integer, into 32 bits", "int32", 1, |b| Ok(b.integer(7)?))?;
    measure("real, where nulls may be", "?float64", 1, |b| Ok(b.real(1.5)?))?;
    measure("string of 5 bytes", "string", 1, |b| Ok(b.string("hello")?))?;
    measure("string of 30 bytes", "string", 1, |b| Ok(b.string("many a word, and one more of it")?))?;
    measure("string, where nulls may be", "?string", 1, |b| Ok(b.string("hello")?))?;
    measure("null, where strings may be", "?string", 1, |b| Ok(b.null()?))?;
    measure("list of three reals", "var * float64", 5, |b| {
        b.begin_list()?;
        b.real(1.5)?;
        b.real(2.5)?;
        b.real(3.5)?;
        Ok(b.end_list()?)
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
