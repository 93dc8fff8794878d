//! Report of a run.

use super::job::Job;
use crate::human::clean;
use forthwith::forth::{Machine, Output, RunError, Status, Value, Width};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Maximum number of items of a column in text.
const SHOWN: usize = 12;

/// Complete visible state of a machine.
#[derive(Serialize)]
pub(crate) struct Report {
    /// `done`, `paused` or `error`.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
    stack: Vec<i64>,
    variables: Map<String, Json>,
    positions: Map<String, Json>,
    outputs: Map<String, Json>,
    #[serde(skip_serializing_if = "String::is_empty")]
    printed: String,
}

#[derive(Serialize)]
struct Fault {
    name: &'static str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    word: Option<String>,
    instruction: String,
    /// Pass of the outermost `do` loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<i64>,
}

impl Report {
    pub(crate) fn new<W: Width>(
        machine: &Machine<W>,
        result: Result<Status, RunError>,
        printed: String,
    ) -> Self {
        let compiled = machine.compiled();
        let positions = (0..compiled.inputs().len()).map(|input| machine.position(input).into());
        Self {
            status: match result {
                Ok(Status::Done) => "done",
                Ok(Status::Paused) => "paused",
                Err(_) => "error",
            },
            error: result.err().map(|error| {
                let at = machine.error_location();
                Fault {
                    name: error.name(),
                    line: at.as_ref().map_or(0, |at| at.line),
                    column: at.as_ref().map_or(0, |at| at.column),
                    word: at.as_ref().and_then(|at| at.word.clone()),
                    instruction: at.map_or_else(String::new, |at| at.instruction),
                    pass: machine.outer_index(),
                }
            }),
            stack: machine.stack().to_vec(),
            variables: named(compiled.variables(), machine.variables().iter().map(|&value| value.into())),
            positions: named(compiled.inputs(), positions),
            outputs: compiled
                .outputs()
                .iter()
                .zip(machine.outputs())
                .map(|(declared, output)| (declared.name.clone(), column(output)))
                .collect(),
            printed,
        }
    }
}

fn named(names: &[String], values: impl Iterator<Item = Json>) -> Map<String, Json> {
    names.iter().cloned().zip(values).collect()
}

fn column(output: &Output) -> Json {
    let items: Vec<Json> = output.values().map(json).collect();
    serde_json::json!({ "dtype": output.dtype().name(), "items": items })
}

/// Converts a value to JSON; NaN and infinities become null.
fn json(value: Value) -> Json {
    match value {
        Value::Bool(x) => x.into(),
        Value::Signed(x) => x.into(),
        Value::Unsigned(x) => x.into(),
        // With the fewest digits that identify the single-precision number.
        Value::Single(x) => x.to_string().parse::<f64>().map_or(Json::Null, Into::into),
        Value::Double(x) => x.into(),
    }
}

/// Formats the state of a machine as text.
pub(crate) fn text<W: Width>(job: &Job, machine: &Machine<W>, result: Result<Status, RunError>) -> String {
    let mut lines = vec![match result {
        Ok(Status::Done) => "done".to_owned(),
        Ok(Status::Paused) => "paused (--resume goes on)".to_owned(),
        Err(error) => format!("stopped: {}", error.name()),
    }];
    lines.push(format!("stack      {}", stack(machine.stack())));
    for (name, value) in job.compiled.variables().iter().zip(machine.variables()) {
        lines.push(format!("variable   {name} = {value}"));
    }
    for (at, (name, input)) in job.compiled.inputs().iter().zip(&job.inputs).enumerate() {
        lines.push(format!("input      {name} at {} of {}", machine.position(at), input.len()));
    }
    for (declared, output) in job.compiled.outputs().iter().zip(machine.outputs()) {
        lines.push(format!(
            "output     {} {}[{}]  {}",
            declared.name,
            declared.dtype,
            output.len(),
            items(output)
        ));
    }
    lines.iter().map(|line| format!("{}\n", clean(line.trim_end()))).collect()
}

/// Formats the depth of a stack and its topmost items, top last.
pub(crate) fn stack(items: &[i64]) -> String {
    let from = items.len().saturating_sub(SHOWN);
    let shown: Vec<String> = items[from..].iter().map(i64::to_string).collect();
    let more = if from > 0 { "… " } else { "" };
    format!("<{}> {more}{}", items.len(), shown.join(" ")).trim_end().to_owned()
}

/// Formats the first items of an output, and the last one if there are many.
pub(crate) fn items(output: &Output) -> String {
    let values = output.values();
    let length = values.len();
    let mut shown: Vec<String> =
        values.take(if length > SHOWN { SHOWN - 2 } else { SHOWN }).map(|v| v.to_string()).collect();
    if length > SHOWN {
        shown.push("…".to_owned());
        shown.extend(output.values().next_back().map(|value| value.to_string()));
    }
    shown.join(" ")
}
