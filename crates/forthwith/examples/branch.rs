//! branch FILE TREE BRANCH [REPETITIONS [THREADS [POOL]]]: a branch, with all branches in it, from file to columns, for profilers.
//!
//! Says how it is decoded, then the milliseconds of each repetition, and at the end a checksum of each column in the order of the Form.
#![allow(clippy::print_stdout, reason = "a command")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::columns::{Array, Form, Policy};
use forthwith::{Engine, File, Options, io, plan::Decoder};
use std::{error::Error, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, tree, branch, rest @ ..] = arguments.as_slice() else {
        return Err("branch FILE TREE BRANCH [REPETITIONS [THREADS [POOL]]]".into());
    };
    let number = |at: usize, other| rest.get(at).map_or(Ok(other), |text| text.parse::<usize>());
    let (repetitions, threads) = (number(0, 1)?, number(1, 1)?);
    let policy = Policy { pool_bytes: number(2, 8 << 30)?, ..Policy::default() };
    let engine = Arc::new(Engine::new(Options { threads, policy, ..Options::default() }));
    let file = File::from_source(io::open(file)?, engine)?;
    let table = file.table(tree)?;
    let within = format!("{branch}/");
    let fields = (0..).zip(table.fields()?);
    let wanted = fields.filter(|(_, field)| field.path == *branch || field.path.starts_with(&within));
    let wanted: Vec<u32> = wanted.filter(|(_, field)| field.has_data).map(|(at, _)| at).collect();
    for &field in &wanted {
        if let Ok(reading) = table.describe(field)?.reading
            && let Decoder::Program(program) = &reading.decoder
        {
            println!("{}", program.source);
            print!("{}", forthwith::forth::Compiled::new(&program.source)?.explain());
        }
    }
    let plan = table.plan(&wanted, 0..table.entries()?)?;
    let mut arrays = Vec::new();
    for _ in 0..repetitions {
        drop(std::mem::take(&mut arrays));
        let start = Instant::now();
        arrays = table.read(&plan, None, None)?;
        println!("{:.3} ms", 1000.0 * start.elapsed().as_secs_f64());
    }
    for array in &arrays {
        columns(array, &array.form)?;
    }
    Ok(())
}

/// A line for each column: its name, its length, and the sum of its bytes weighted by 1, 3, 5, …
fn columns(array: &Array, form: &Form) -> Result<(), Box<dyn Error>> {
    let parts: &[&str] = match form {
        Form::List { .. } => &["offsets"],
        Form::String { .. } => &["offsets", "data"],
        Form::Numpy { .. } => &["data"],
        _ => &[],
    };
    if let Form::List { key, .. } | Form::String { key, .. } | Form::Numpy { key, .. } = form {
        for part in parts {
            let name = format!("{key}-{part}");
            let column = array.column(&name).ok_or_else(|| format!("no {name}"))?;
            let weigh = |sum: u64, (at, byte): (u64, &u8)| sum.wrapping_add(u64::from(*byte) * (2 * at + 1));
            let sum = (0..).zip(column.as_bytes()).fold(0, weigh);
            println!("{name} {} {sum:016x}", column.len());
        }
    }
    match form {
        Form::List { content, .. } | Form::Regular { content, .. } | Form::Logical { content, .. } => {
            columns(array, content)
        }
        Form::Record { contents, .. } => contents.iter().try_for_each(|content| columns(array, content)),
        _ => Ok(()),
    }
}
