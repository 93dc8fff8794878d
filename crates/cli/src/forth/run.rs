//! `forthwith forth run`: runs a program on data.

use super::{job::Job, npy, report};
use crate::{
    console::Console,
    failure::{Failure, Result},
    flags::{OutputShape, RunArgs},
    human::clean,
};
use forthwith::{
    forth::{Machine, RunError, Status, Tier, Width},
    io::{FileSink, Sink},
};
use std::{
    collections::HashSet,
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Maximum number of bytes that are kept of the printed text.
const PRINTED: usize = 64 << 20;

pub(crate) fn run<W: Width>(job: &Job, args: &RunArgs, console: &mut Console<'_>) -> Result<()> {
    let mut machine: Machine<W> = job.begin()?;
    machine.force_tier(args.tier.map(tier));
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    machine.set_printer(Some(Box::new(move |text| {
        let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
        if sink.len() + text.len() <= PRINTED {
            sink.push_str(text);
        }
    })));
    let inputs = job.inputs();
    let mut result = machine.resume(&inputs);
    while args.resume && result == Ok(Status::Paused) {
        result = machine.resume(&inputs);
    }
    let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
    match args.output {
        OutputShape::Json => console.json(&report::Report::new(&machine, result, printed))?,
        OutputShape::Text => {
            show(&printed, console)?;
            console.text(&report::text(job, &machine, result))?;
        }
        OutputShape::Npy => {
            show(&printed, console)?;
            save(job, &machine, args.to.as_deref().unwrap_or(Path::new(".")), console)?;
        }
    }
    let expected = |error: RunError| args.expect.iter().any(|name| name == error.name());
    match result {
        Err(error) if !expected(error) => Err(job.failure(&machine, error)),
        _ => Ok(()),
    }
}

/// Writes the text that the program printed, escaped on a terminal.
fn show(printed: &str, console: &mut Console<'_>) -> Result<()> {
    if printed.is_empty() {
        return Ok(());
    }
    if console.width.is_none() {
        return console.line(printed.trim_end_matches('\n'));
    }
    printed.lines().try_for_each(|line| console.line(&clean(line)))
}

/// Saves every output to a file of its own.
fn save<W: Width>(job: &Job, machine: &Machine<W>, folder: &Path, console: &mut Console<'_>) -> Result<()> {
    let failed =
        |path: &Path, error| Failure::Unwritable { path: path.to_string_lossy().into_owned(), error };
    let unfinished = |error: forthwith::io::Error| Failure::File(error.into());
    let mut names = HashSet::new();
    for declared in job.compiled.outputs() {
        let name = file_name(&declared.name);
        if !names.insert(name.clone()) {
            return Err(Failure::misuse(format!(
                "two outputs would be written to {name}: give them other names"
            )));
        }
    }
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (declared, output) in job.compiled.outputs().iter().zip(machine.outputs()) {
        let path = folder.join(file_name(&declared.name));
        let mut file = FileSink::create(&path).map_err(unfinished)?;
        npy::write(output, &mut file).map_err(|error| failed(&path, error))?;
        Box::new(file).finish().map_err(unfinished)?;
        console.line(&format!("{} {}[{}]", path.display(), declared.dtype, output.len()))?;
    }
    Ok(())
}

/// Returns the file name of an output, with characters replaced that are unsafe in file names.
fn file_name(output: &str) -> String {
    let name: String =
        output.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    format!("{}.npy", name.trim_start_matches('.'))
}

fn tier(number: u8) -> Tier {
    match number {
        0 => Tier::Checked,
        1 => Tier::Fused,
        _ => Tier::Compiled,
    }
}
