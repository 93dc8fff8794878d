//! Examples: programs with their inputs and results.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::{Compiled, Limits, Machine, Status, Tier, Width};

/// A program whose last comment states its inputs and results. See the [module](super) for the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The program, with the comment.
    pub source: String,
    /// Bytes of inputs.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// The stack at the beginning.
    pub stack: Vec<i64>,
    /// The result: the stack, then anything else.
    pub expected: Vec<String>,
}

impl Example {
    /// Parses an example; `None` if the text has no such comment, or it is not well-formed.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|line| line.contains("=>"))?;
        let (given, expected) = line.split_once("=>")?;
        let given = &given[given.find("\\ ")? + 2..];
        let mut example = Self {
            source: text.to_owned(),
            inputs: Vec::new(),
            stack: Vec::new(),
            expected: expected.split(';').map(|part| part.trim().to_owned()).collect(),
        };
        let mut rest = given.trim();
        while !rest.is_empty() {
            let (name, after) = rest.split_once(": ")?;
            let (value, after) = match after.strip_prefix('"') {
                Some(text) => text.split_once('"')?,
                None => after.split_once(',').unwrap_or((after, "")),
            };
            if rest.contains(&format!("{name}: \"")) {
                example.inputs.push((name.to_owned(), value.into()));
            } else if name == "stack" {
                example.stack = value.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
            } else {
                let bytes = value.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok());
                example.inputs.push((name.to_owned(), bytes.collect::<Option<_>>()?));
            }
            rest = after.trim_start_matches([',', ' ']);
        }
        Some(example)
    }

    /// Runs the program in a tier, with items of width `W`.
    ///
    /// # Errors
    /// Returns a text that describes the first difference from the expected results.
    pub fn check<W: Width>(&self, tier: Tier) -> Result<(), String> {
        let compiled = Compiled::new(&self.source).map_err(|error| error.to_string())?;
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let mut machine = Machine::<W>::with_width(Arc::new(compiled), Limits::default());
        machine.set_printer(Some(Box::new(move |text| {
            // Nothing else locks it while the machine runs.
            if let Ok(mut sink) = sink.lock() {
                sink.push_str(text);
            }
        })));
        machine.force_tier(Some(tier));
        let inputs: Vec<&[u8]> = machine.compiled().inputs().iter().map(|name| self.input(name)).collect();
        machine.begin();
        for &item in &self.stack {
            machine.push(item).map_err(|error| error.to_string())?;
        }
        let result = machine.resume(&inputs);
        let mut expected = self.expected.iter();
        let stack = join(machine.stack().iter());
        compare("stack", &stack, expected.next().map_or("", String::as_str))?;
        let (mut status, mut text) = (Ok(Status::Done), String::new());
        let mut columns = vec![""; machine.outputs().len()];
        let names = |name: &str, list: &[String]| list.iter().position(|other| other == name);
        let outputs: Vec<String> = machine.compiled().outputs().iter().map(|o| o.name.clone()).collect();
        for part in expected {
            if part == "paused" {
                status = Ok(Status::Paused);
            } else if let Some(name) = part.strip_prefix("error ") {
                status = Err(name);
            } else if let Some(shown) = part.strip_prefix("prints ") {
                text.push_str(shown);
            } else if let Some((name, values)) = part.split_once(':') {
                let at = names(name, &outputs).ok_or_else(|| format!("no output {name}"))?;
                columns[at] = values.trim();
            } else if let Some((name, value)) = part.split_once(" = ") {
                let at = names(name, machine.compiled().variables())
                    .ok_or_else(|| format!("no variable {name}"))?;
                compare(name, &machine.variables()[at].to_string(), value)?;
            } else if let Some((name, value)) = part.split_once(" at ") {
                let at =
                    names(name, machine.compiled().inputs()).ok_or_else(|| format!("no input {name}"))?;
                compare(name, &machine.position(at).to_string(), value)?;
            } else {
                return Err(format!("what is {part:?}?"));
            }
        }
        let found = result.as_ref().map_err(|error| error.name());
        compare("result", &format!("{found:?}"), &format!("{status:?}"))?;
        for ((output, name), expected) in machine.outputs().iter().zip(&outputs).zip(columns) {
            compare(name, &join(output.values()), expected)?;
        }
        let printed = printed.lock().map_or_else(|_| String::new(), |printed| printed.replace('\n', "⏎"));
        compare("printed", printed.trim_end(), text.trim_end())
    }

    fn input(&self, name: &str) -> &[u8] {
        self.inputs.iter().find(|input| input.0 == name).map_or(&[], |input| &input.1)
    }
}

fn join<T: std::fmt::Display>(items: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for item in items {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{item}");
    }
    text
}

fn compare(what: &str, found: &str, expected: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, not {expected:?}")) }
}
