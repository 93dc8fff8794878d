//! State of a stepped machine, as text.

use super::{job::Job, report};
use crate::{
    human::clean,
    paint::{Paint, Style},
};
use forthwith::forth::{Location, Machine, Width};

/// Number of lines of the program before and after the next instruction.
const AROUND: usize = 2;
/// Number of bytes of an input before and after the position.
const BYTES: (usize, usize) = (4, 12);
/// Number of items at the end of an output.
const TAIL: usize = 8;

/// State of the machine at the previous line of a trace, to find changes.
pub(crate) struct Seen {
    positions: Vec<usize>,
    variables: Vec<i64>,
    lengths: Vec<usize>,
}

impl Seen {
    pub(crate) fn of<W: Width>(machine: &Machine<W>) -> Self {
        Self {
            positions: (0..machine.compiled().inputs().len()).map(|input| machine.position(input)).collect(),
            variables: machine.variables().to_vec(),
            lengths: machine.outputs().iter().map(|output| output.len()).collect(),
        }
    }
}

/// Formats an instruction and its effects.
pub(crate) fn trace_line<W: Width>(
    number: u64,
    place: &Location,
    machine: &Machine<W>,
    before: &Seen,
    after: &Seen,
) -> String {
    let compiled = machine.compiled();
    let mut changes = vec![report::stack(machine.stack())];
    if let Some((index, stop)) = machine.loops().next_back() {
        changes.push(format!("i={index}/{stop}"));
    }
    for (at, name) in compiled.inputs().iter().enumerate() {
        if before.positions[at] != after.positions[at] {
            changes.push(format!("{name} at {}", after.positions[at]));
        }
    }
    for (at, name) in compiled.variables().iter().enumerate() {
        if before.variables[at] != after.variables[at] {
            changes.push(format!("{name} = {}", after.variables[at]));
        }
    }
    for (at, (declared, output)) in compiled.outputs().iter().zip(machine.outputs()).enumerate() {
        let (was, is) = (before.lengths[at], after.lengths[at]);
        if is > was {
            let new: Vec<String> =
                output.values().skip(was).take(TAIL).map(|value| value.to_string()).collect();
            let more = if is - was > TAIL { " …" } else { "" };
            changes.push(format!("{} + {}{more}", declared.name, new.join(" ")));
        } else if is < was {
            changes.push(format!("{} cut to {is}", declared.name));
        }
    }
    let place_text = format!("{}:{}", place.line, place.column);
    let word = place.word.as_deref().unwrap_or("");
    let line =
        format!("{number:>6}  {place_text:<8}{word:<12}{:<28}  {}", place.instruction, changes.join("; "));
    clean(line.trim_end())
}

/// Formats the state before the next instruction.
pub(crate) fn screen<W: Width>(job: &Job, machine: &Machine<W>, steps: u64, paint: Paint) -> String {
    let compiled = machine.compiled();
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        text.push_str(format!("{} {value}", paint.faint(&format!("{label:<8}"))).trim_end());
        text.push('\n');
    };
    if let Some(place) = machine.bytecode_position().map(|at| compiled.location(at)) {
        let word = place.word.as_ref().map_or_else(String::new, |word| format!(" in {}", clean(word)));
        line(
            "",
            format!("after {steps} instructions, at {}{word}", job.text.place(place.line, place.column)),
        );
        let first = place.line.saturating_sub(AROUND).max(1);
        for number in first..=place.line + AROUND {
            let Some(source) = job.text.line(number) else { break };
            let (sign, style) = if number == place.line { (">", Style::Strong) } else { (" ", Style::Plain) };
            let shown: String = clean(&source.replace('\t', " ")).chars().take(100).collect();
            line("", format!("{sign}{number:>4}  {}", paint.paint(style, &shown)));
        }
        line("next", paint.paint(Style::Special, &clean(&place.instruction)));
    }
    line("stack", report::stack(machine.stack()));
    let loops: Vec<String> = machine
        .loops()
        .rev()
        .zip(["i", "j", "k"].into_iter().chain(std::iter::repeat("…")))
        .map(|((index, stop), name)| format!("{name}={index}/{stop}"))
        .collect();
    if !loops.is_empty() {
        line("loops", loops.join("  "));
    }
    for (name, value) in compiled.variables().iter().zip(machine.variables()) {
        line("variable", format!("{} = {value}", clean(name)));
    }
    for (at, (name, input)) in compiled.inputs().iter().zip(&job.inputs).enumerate() {
        let position = machine.position(at);
        line(
            "input",
            format!("{} at {position} of {}  {}", clean(name), input.len(), window(input, position, paint)),
        );
    }
    for (declared, output) in compiled.outputs().iter().zip(machine.outputs()) {
        let skipped = output.len().saturating_sub(TAIL);
        let tail: Vec<String> = output.values().skip(skipped).map(|value| value.to_string()).collect();
        let more = if skipped > 0 { "… " } else { "" };
        line(
            "output",
            format!(
                "{} {}[{}]  {more}{}",
                clean(&declared.name),
                declared.dtype,
                output.len(),
                tail.join(" ")
            ),
        );
    }
    text
}

/// Formats the bytes around a position, which is marked by a bar.
fn window(input: &[u8], position: usize, paint: Paint) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x} ")).collect::<String>();
    let position = position.min(input.len());
    let (from, to) = (position.saturating_sub(BYTES.0), (position + BYTES.1).min(input.len()));
    let before = if from > 0 { "… " } else { "" };
    let behind = if to < input.len() { "…" } else { "" };
    format!(
        "{}{}|{}{behind}",
        paint.faint(before),
        paint.faint(&hex(&input[from..position])),
        hex(&input[position..to]).trim_end()
    )
}
