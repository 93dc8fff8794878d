//! `forthwith forth step`: executes a program instruction by instruction.

use super::{
    job::Job,
    keyboard::Keyboard,
    report,
    view::{self, Seen},
};
use crate::{
    console::Console,
    failure::{Failure, Result},
    flags::StepArgs,
};
use forthwith::forth::{Location, Machine, RunError, Status, Width};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// Machine that is stepped.
struct Session<'a, W: Width> {
    job: &'a Job,
    machine: Machine<W>,
    inputs: Vec<&'a [u8]>,
    /// Number of executed instructions.
    steps: u64,
    printed: Arc<Mutex<String>>,
    /// Result of the program, once it has ended.
    end: Option<Result<Status, RunError>>,
}

pub(crate) fn step<W: Width>(
    job: &Job,
    args: &StepArgs,
    keyboard: &mut Keyboard<'_>,
    console: &mut Console<'_>,
) -> Result<()> {
    let lines = job.text.source.lines().count();
    if let Some(line) = args.breaks.iter().find(|&&line| line == 0 || line > lines) {
        return Err(Failure::misuse(format!("--break {line}: the program has lines 1 to {lines}")));
    }
    let mut machine: Machine<W> = job.begin()?;
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    machine.set_printer(Some(Box::new(move |text| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    })));
    let mut session = Session { job, machine, inputs: job.inputs(), steps: 0, printed, end: None };
    session.settle();
    let asks = keyboard.is_person() && console.width.is_some() && !args.trace;
    if asks {
        session.ask(args, keyboard, console)?
    } else {
        session.trace(args, console)?
    }
    match session.end {
        Some(Err(error)) => Err(job.failure(&session.machine, error)),
        _ => Ok(()),
    }
}

impl<W: Width> Session<'_, W> {
    /// Advances to the next instruction, or records the end of the program.
    fn settle(&mut self) {
        match self.machine.settle(&self.inputs) {
            Ok(Status::Paused) => {}
            // An empty program ends before it begins.
            Err(RunError::IsDone) => self.end = Some(Ok(Status::Done)),
            over => self.end = Some(over),
        }
    }

    /// Executes one instruction; returns `None` at the end.
    fn advance(&mut self) -> Option<Location> {
        if self.end.is_some() {
            return None;
        }
        let at = self.machine.bytecode_position()?;
        let place = self.job.compiled.location(at);
        match self.machine.step(&self.inputs) {
            Ok(Status::Done) => self.end = Some(Ok(Status::Done)),
            Ok(Status::Paused) => self.settle(),
            Err(error) => self.end = Some(Err(error)),
        }
        self.steps += 1;
        Some(place)
    }

    /// Prints a line for each instruction.
    fn trace(&mut self, args: &StepArgs, console: &mut Console<'_>) -> Result<()> {
        let mut seen = Seen::of(&self.machine);
        while self.steps < args.limit {
            let Some(place) = self.advance() else { break };
            let now = Seen::of(&self.machine);
            let line = view::trace_line(self.steps, &place, &self.machine, &seen, &now);
            console.line(&line)?;
            self.print(console)?;
            seen = now;
        }
        if self.end.is_none() {
            console.note(&format!("stopped after {} instructions (--limit)", self.steps));
        }
        console.text(&format!(
            "\n{}",
            report::text(self.job, &self.machine, self.end.unwrap_or(Ok(Status::Paused)))
                .replace(" (--resume goes on)", "")
        ))
    }

    /// Reads and executes commands of the user.
    fn ask(&mut self, args: &StepArgs, keyboard: &mut Keyboard<'_>, console: &mut Console<'_>) -> Result<()> {
        let mut breaks: BTreeSet<usize> = args.breaks.iter().copied().collect();
        console.line("enter: one step; h: help")?;
        let mut moved = true;
        loop {
            if moved {
                console.text(&view::screen(self.job, &self.machine, self.steps, console.paint))?;
            }
            if let Some(end) = self.end {
                return console.line(if end.is_ok() { "the end" } else { "stopped" });
            }
            console.text("> ")?;
            console.flush()?;
            let Some(line) = keyboard.line().map_err(crate::failure::Failure::Output)? else {
                return console.line("");
            };
            let before = self.steps;
            let mut words = line.split_whitespace();
            let (verb, number) = (words.next().unwrap_or("s"), words.next().map(str::parse::<usize>));
            match (verb, number) {
                ("s" | "step", None) => self.steps(1, &BTreeSet::new(), args.limit, console)?,
                ("s" | "step", Some(Ok(times))) => {
                    self.steps(times as u64, &BTreeSet::new(), args.limit, console)?
                }
                ("c" | "continue", None) => self.steps(u64::MAX, &breaks, args.limit, console)?,
                ("l" | "line", None) => self.until_next_line(args.limit, console)?,
                ("o" | "out", None) => self.out(args.limit, console)?,
                ("b" | "break", None) => {
                    let lines: Vec<String> = breaks.iter().map(usize::to_string).collect();
                    console.line(&format!("breaks at lines: {}", lines.join(" ")))?;
                }
                ("b" | "break", Some(Ok(line))) => {
                    if !breaks.remove(&line) {
                        breaks.insert(line);
                    }
                }
                ("q" | "quit", None) => return Ok(()),
                _ => console.line(HELP)?,
            }
            moved = self.steps != before;
        }
    }

    /// Runs a number of instructions, or until a line in `breaks` begins.
    fn steps(
        &mut self,
        times: u64,
        breaks: &BTreeSet<usize>,
        limit: u64,
        console: &mut Console<'_>,
    ) -> Result<()> {
        let mut line = self.line();
        for step in 0..times {
            if step == limit {
                console.line(&format!("{limit} instructions without an end (--limit)"))?;
                break;
            }
            if self.advance().is_none() || self.end.is_some() {
                break;
            }
            let next = self.line();
            if next != line && next.is_some_and(|next| breaks.contains(&next)) {
                break;
            }
            line = next;
        }
        self.print(console)
    }

    /// Runs until the next instruction is on another line.
    fn until_next_line(&mut self, limit: u64, console: &mut Console<'_>) -> Result<()> {
        let line = self.line();
        for _ in 0..limit {
            if self.advance().is_none() || self.end.is_some() || self.line() != line {
                break;
            }
        }
        self.print(console)
    }

    /// Runs until the present body has ended.
    fn out(&mut self, limit: u64, console: &mut Console<'_>) -> Result<()> {
        let depth = self.machine.recursion_depth();
        for _ in 0..limit {
            if self.advance().is_none() || self.end.is_some() || self.machine.recursion_depth() < depth {
                break;
            }
        }
        self.print(console)
    }

    /// Returns the line of the next instruction.
    fn line(&self) -> Option<usize> {
        Some(self.job.compiled.location(self.machine.bytecode_position()?).line)
    }

    /// Writes the text that the program has printed since the last call.
    fn print(&self, console: &mut Console<'_>) -> Result<()> {
        let printed = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        if printed.is_empty() { Ok(()) } else { console.line(&format!("prints: {}", printed.escape_debug())) }
    }
}

const HELP: &str = "\
enter, s     one instruction
s N          N instructions
l            to the next line
o            out of this body, or pass of a loop
c            on to a break, or the end
b LINE       break where the line begins, or no more; b lists them
q            quit";
