//! The machine's own benchmark: every kind of program, in every tier, beside the same task written by hand.
//!
//! `cargo run --release -p forthwith-forth --example machine -- [OPTIONS] [part of a name]...`
//!
//! * `--seconds S`: time for each measurement (0.3 by default); the best pass counts.
//! * `--large`: 64 MiB of content instead of 1 MiB, also into fresh memory.
//! * `--dump DIR`: writes each program and its bytes there, for `benches/machine/awkward_side.py`.
//! * `--tiers 0,1,2`: only these.
//!
//! One JSON object a line. The columns of every tier are compared with the hand-written ones before anything
//! is timed.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that prints, and stops at what is unexpected"
)]
#![allow(unsafe_code, reason = "the loops written by hand use every trick the kernels use")]

mod cases;
mod hand;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cases::Case;
use forthwith_forth::{Compiled, Limits, Machine, Output, Status, Tier, W32, W64, Width};
use hand::Columns;

struct Options {
    budget: Duration,
    large: bool,
    dump: Option<PathBuf>,
    tiers: Vec<Tier>,
    names: Vec<String>,
}

fn main() {
    let mut options = Options {
        budget: Duration::from_millis(300),
        large: false,
        dump: None,
        tiers: TIERS.iter().map(|(tier, _)| *tier).collect(),
        names: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                options.budget = Duration::from_secs_f64(arguments.next().unwrap().parse().unwrap());
            }
            "--large" => options.large = true,
            "--dump" => options.dump = Some(arguments.next().unwrap().into()),
            "--tiers" => {
                let wanted = arguments.next().unwrap();
                options.tiers.retain(|tier| {
                    TIERS.iter().any(|(known, number)| known == tier && wanted.contains(number))
                });
            }
            _ => options.names.push(argument),
        }
    }
    for make in cases::all(options.large) {
        let case = make();
        if options.names.is_empty() || options.names.iter().any(|name| case.name.contains(name.as_str())) {
            run(&case, &options);
        }
    }
    if !options.large && options.names.iter().all(|name| "compile".contains(name.as_str())) {
        compile_times(&options);
    }
}

const TIERS: &[(Tier, &str)] = &[(Tier::Checked, "0"), (Tier::Fused, "1"), (Tier::Compiled, "2")];

fn run(case: &Case, options: &Options) {
    if let Some(folder) = &options.dump {
        dump(case, folder);
    }
    let total: usize = case.inputs.iter().map(Vec::len).sum();
    let room = total * 4 + 4096;
    let decls = Compiled::new(&case.program).unwrap();
    let mut columns: Columns = decls.outputs().iter().map(|_| vec![0; 64 + room]).collect();
    let lead: Vec<usize> = decls.outputs().iter().map(|_| 8).collect();
    let reset = |columns: &mut Columns| {
        for (column, &lead) in columns.iter_mut().zip(&lead) {
            column.clear();
            column.resize(lead, 0);
        }
    };
    let mut answer = 0;
    let hand = best(options.budget, || {
        reset(&mut columns);
        answer = (case.hand)(&case.inputs, &case.start, &mut columns);
    });
    let mut fields = vec![
        format!("\"case\": \"{}\"", case.name),
        format!("\"large\": {}", options.large),
        format!("\"unit\": \"{}\"", case.unit),
        format!("\"work\": {}", case.work),
        format!("\"hand\": {hand:e}"),
    ];
    if options.large {
        let fresh = best(options.budget, || {
            let mut columns: Columns =
                decls.outputs().iter().map(|_| Vec::with_capacity(64 + room)).collect();
            reset(&mut columns);
            (case.hand)(&case.inputs, &case.start, &mut columns);
        });
        fields.push(format!("\"hand fresh\": {fresh:e}"));
    }
    let expected = Expected { columns: &columns, answer };
    for (tier, number) in TIERS {
        if !options.tiers.contains(tier) {
            continue;
        }
        if options.large && *tier == Tier::Checked {
            continue;
        }
        time::<W64>(case, options, *tier, &format!("64/{number}"), &expected, &mut fields);
        time::<W32>(case, options, *tier, &format!("32/{number}"), &expected, &mut fields);
    }
    fields.push(format!("\"checksum\": \"{:016x}\"", checksum(&expected)));
    println!("{{{}}}", fields.join(", "));
}

struct Expected<'a> {
    columns: &'a Columns,
    answer: i64,
}

/// FNV-1a over all columns and the top of the stack, as the Python side forms it.
fn checksum(expected: &Expected<'_>) -> u64 {
    let mut hash = Fnv::default();
    for column in expected.columns {
        hash.bytes(&column[8..]);
    }
    hash.bytes(&expected.answer.to_le_bytes());
    hash.0
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        // Eight bytes at a time, the rest padded: fast enough in Python with NumPy's help.
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

fn time<W: Width>(
    case: &Case,
    options: &Options,
    tier: Tier,
    name: &str,
    expected: &Expected<'_>,
    fields: &mut Vec<String>,
) {
    let compiled = Arc::new(Compiled::new(&case.program).unwrap());
    let inputs: Vec<&[u8]> = case.inputs.iter().map(Vec::as_slice).collect();
    let mut machine = Machine::<W>::with_width(Arc::clone(&compiled), Limits::default());
    machine.force_tier(Some(tier));
    let new = || -> Vec<Output> { compiled.outputs().iter().map(|o| Output::owned(o.dtype)).collect() };
    let mut outputs = new();
    let mut answer = 0;
    let mut pass = |outputs: &mut Vec<Output>, fresh: bool| {
        let mut fresh = if fresh { new() } else { std::mem::take(outputs) };
        fresh.iter_mut().for_each(|output| output.rewind_to(0));
        machine.begin_with(fresh).unwrap();
        for &number in &case.start {
            machine.push(number).unwrap();
        }
        let mut status = machine.resume(&inputs);
        while status == Ok(Status::Paused) {
            status = machine.resume(&inputs);
        }
        assert_eq!(status, Ok(Status::Done), "{} {name}: {:?}", case.name, machine.error_location());
        answer = machine.stack().last().copied().unwrap_or(0);
        *outputs = machine.take_outputs();
    };
    pass(&mut outputs, true);
    for (at, (output, column)) in outputs.iter().zip(expected.columns).enumerate() {
        assert!(output.as_bytes() == &column[8..], "{} {name}: column {at} differs", case.name);
    }
    let budget = if tier == Tier::Checked { options.budget / 4 } else { options.budget };
    let warm = best(budget, || pass(&mut outputs, false));
    fields.push(format!("\"{name}\": {warm:e}"));
    if options.large {
        let fresh = best(budget, || {
            outputs.clear();
            pass(&mut outputs, true);
        });
        fields.push(format!("\"{name} fresh\": {fresh:e}"));
    }
    assert_eq!(answer, expected.answer, "{} {name}: the result differs", case.name);
}

fn best(budget: Duration, mut pass: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while best == f64::INFINITY || start.elapsed() < budget {
        let start = Instant::now();
        pass();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// From text to something that runs, for records of 1, 10 and 100 fields and for the programs above.
fn compile_times(options: &Options) {
    let mut programs: Vec<(String, String)> = [1, 3, 10, 30, 100, 300]
        .iter()
        .map(|&fields| (format!("{fields} fields"), cases::fields_program(fields)))
        .collect();
    programs.extend(cases::all(false).into_iter().map(|make| {
        let case = make();
        (case.name, case.program)
    }));
    for (name, program) in programs {
        let tier1 = best(options.budget / 4, || {
            let compiled = Compiled::new(&program).unwrap();
            std::hint::black_box(compiled.prepare(Tier::Fused, W64::BITS));
        });
        let (mut tier2, mut bytes) = (f64::INFINITY, 0);
        let start = Instant::now();
        while tier2 == f64::INFINITY || start.elapsed() < options.budget / 4 {
            let compiled = Compiled::new(&program).unwrap();
            compiled.prepare(Tier::Fused, W64::BITS);
            let start = Instant::now();
            bytes = compiled.prepare(Tier::Compiled, W64::BITS);
            tier2 = tier2.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{{\"compile\": \"{name}\", \"tier 1\": {tier1:e}, \"tier 2\": {tier2:e}, \"bytes\": {bytes}}}"
        );
    }
}

fn dump(case: &Case, folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    let path = |what: &str| folder.join(format!("{}.{what}", case.name));
    std::fs::write(path("fs"), &case.program).unwrap();
    let compiled = Compiled::new(&case.program).unwrap();
    for (name, bytes) in compiled.inputs().iter().zip(&case.inputs) {
        std::fs::write(path(&format!("{name}.bin")), bytes).unwrap();
    }
    let start: Vec<String> = case.start.iter().map(i64::to_string).collect();
    let names: Vec<String> = compiled.inputs().iter().map(|name| format!("\"{name}\"")).collect();
    let text = format!(
        "{{\"start\": [{}], \"inputs\": [{}], \"answer\": {}}}\n",
        start.join(", "),
        names.join(", "),
        case.answers
    );
    std::fs::write(path("json"), text).unwrap();
}
