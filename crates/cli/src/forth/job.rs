//! A program with its inputs.

use super::{keyboard::Keyboard, text::Text};
use crate::{
    console::Console,
    failure::{Failure, Result},
    flags::{Bits, Given, ProgramArgs},
    human::clean,
};
use forthwith::forth::{Compiled, Limits, LiteralWidth, Machine, Options, RunError, Width};
use std::{fs, io, sync::Arc};

/// Program that is ready to run.
pub(crate) struct Job {
    pub(crate) text: Text,
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) inputs: Vec<Vec<u8>>,
    /// Initial stack.
    stack: Vec<i64>,
    limits: Limits,
}

/// Reads and compiles a program, with notes about truncated literals.
pub(crate) fn compile(
    args: &ProgramArgs,
    keyboard: &mut Keyboard<'_>,
    console: &mut Console<'_>,
) -> Result<(Text, Arc<Compiled>)> {
    let text = Text::new(shown(&args.program), read(&args.program, keyboard)?)?;
    let width = match args.literal_width {
        Bits::Bits32 => LiteralWidth::Bits32,
        Bits::Bits64 => LiteralWidth::Bits64,
    };
    let compiled = Compiled::with_options(&text.source, Options::default().literal_width(width));
    let compiled = compiled.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let place = text.place(line, column);
        let (line, column) = error.marked();
        Failure::Program {
            what: format!(
                "{place}: {}{}
{}",
                error.kind().message(),
                clean(error.hint()),
                text.quote(line, column)
            ),
        }
    })?;
    for (line, column) in compiled.cut_literals().into_iter().take(5) {
        let place = text.place(line, column);
        console.note(&format!("{place}: does not fit 32 bits and is cut (--literal-width 64 keeps it)"));
    }
    Ok((text, Arc::new(compiled)))
}

impl Job {
    pub(crate) fn new(given: &Given, keyboard: &mut Keyboard<'_>, console: &mut Console<'_>) -> Result<Self> {
        let (text, compiled) = compile(&given.program, keyboard, console)?;
        let mut inputs: Vec<Option<Vec<u8>>> = vec![None; compiled.inputs().len()];
        let all = [(&given.input, Kind::File), (&given.bytes, Kind::Hex), (&given.text, Kind::Text)];
        for (kind, one) in all.into_iter().flat_map(|(list, kind)| list.iter().map(move |one| (kind, one))) {
            let Some((name, value)) = one.split_once('=') else {
                return Err(Failure::misuse(format!("{one} is not of the form NAME=VALUE")));
            };
            let Some(at) = compiled.inputs().iter().position(|input| input == name) else {
                let names = compiled.inputs().join(", ");
                let there =
                    if names.is_empty() { "it has none".to_owned() } else { format!("it has {names}") };
                return Err(Failure::misuse(format!("the program has no input {name}; {there}")));
            };
            if inputs[at].is_some() {
                return Err(Failure::misuse(format!("input {name} is given twice")));
            }
            inputs[at] = Some(match kind {
                Kind::File => read(value, keyboard)?,
                Kind::Text => value.into(),
                Kind::Hex => hex(value)
                    .ok_or_else(|| Failure::misuse(format!("{value} is not hexadecimal (as in 00 01 ff)")))?,
            });
        }
        let missing: Vec<&str> = compiled
            .inputs()
            .iter()
            .zip(&inputs)
            .filter(|pair| pair.1.is_none())
            .map(|pair| pair.0.as_str())
            .collect();
        if let Some(name) = missing.first() {
            return Err(Failure::misuse(format!(
                "no data for {}: give --input {name}=FILE, --bytes {name}=HEX or --text {name}=TEXT",
                missing.join(", ")
            )));
        }
        let mut limits = Limits::default();
        limits.output_bytes = Some(usize::try_from(given.max_output).unwrap_or(usize::MAX));
        let mut stack = given.stack.clone();
        if let Some(entries) = given.entries {
            let none = || Failure::misuse(format!("--entries {entries} does not fit the stack"));
            stack.push(i64::try_from(entries).map_err(|_| none())?);
        }
        if given.bits == Bits::Bits32
            && let Some(item) = stack.iter().find(|&&item| i32::try_from(item).is_err())
        {
            return Err(Failure::misuse(format!("{item} does not fit the 32 bits of the stack")));
        }
        Ok(Self { text, compiled, inputs: inputs.into_iter().flatten().collect(), stack, limits })
    }

    /// Returns a machine that has begun.
    pub(crate) fn begin<W: Width>(&self) -> Result<Machine<W>> {
        let mut machine = Machine::with_width(Arc::clone(&self.compiled), self.limits);
        machine.begin();
        for &item in &self.stack {
            machine.push(item).map_err(|error| Failure::misuse(format!("the stack given: {error}")))?;
        }
        Ok(machine)
    }

    pub(crate) fn inputs(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Vec::as_slice).collect()
    }

    /// Returns the failure of a run, with the place and the source line of the error.
    pub(crate) fn failure<W: Width>(&self, machine: &Machine<W>, error: RunError) -> Failure {
        let mut what = format!("{}: {}", self.text.name, error.name());
        let explanation = error.to_string();
        if let Some((_, explanation)) = explanation.split_once("runtime: ") {
            what = format!("{what}: {explanation}");
        }
        if let Some(at) = machine.error_location() {
            let word = at.word.map_or_else(String::new, |word| format!(" in word {word}"));
            let pass = machine
                .outer_index()
                .map_or_else(String::new, |index| format!(", pass {index} of the outermost loop"));
            what.push_str(&format!(
                "\n  {}{word}: {}{pass}",
                self.text.place(at.line, at.column),
                at.instruction
            ));
            what.push_str(&format!("\n{}", self.text.quote(at.line, at.column)));
        }
        Failure::Program { what }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    File,
    Hex,
    Text,
}

fn shown(path: &str) -> &str {
    if path == "-" { "(standard input)" } else { path }
}

fn read(path: &str, keyboard: &mut Keyboard<'_>) -> Result<Vec<u8>> {
    let bytes = if path == "-" { keyboard.all() } else { fs::read(path) };
    bytes.map_err(|error: io::Error| Failure::Unreadable { path: shown(path).to_owned(), error })
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace() && *c != '_')
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits?;
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
