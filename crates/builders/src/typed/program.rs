//! The text of the program: what the machine runs, and what a reader can check.
//!
//! The program waits in one `pause`. For each command the host sets the variables `command` and `argument`, binds the value to the
//! input `data`, and resumes; the program looks up what is expected (`state`), does what is to be done, and waits again. What it
//! refuses it refuses before it has written anything, and says so in the variable `error`.

use super::plan::{Plan, Var};
use super::step::{Action, Amount, Refusal, Step};
use crate::form::Index;
use std::fmt::Write;

/// Variables every program has, in this order.
pub(crate) const FIXED: [&str; 5] = ["command", "argument", "error", "state", "length"];
pub(crate) const COMMAND: Var = 0;
pub(crate) const ARGUMENT: Var = 1;
pub(crate) const ERROR: Var = 2;
pub(crate) const STATE: Var = 3;
pub(crate) const LENGTH: Var = 4;
/// The word that goes back to an earlier state, which the host writes into the data.
pub(crate) const ROLLBACK: &str = "rollback";

/// Names of the routines that fill the places of nulls begin so.
pub(crate) const BLANK: &str = "blank";

pub(crate) fn write(plan: &Plan) -> String {
    let mut text = Text { plan, out: String::new() };
    text.program();
    text.out
}

struct Text<'a> {
    plan: &'a Plan,
    out: String,
}

impl Text<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = self.out.write_fmt(text);
        self.out.push('\n');
    }

    fn program(&mut self) {
        let plan = self.plan;
        self.line(format_args!("input data"));
        for output in &plan.outputs {
            self.line(format_args!("output {} {}", output.name, output.dtype.name()));
        }
        for variable in &plan.variables {
            self.line(format_args!("variable {variable}"));
        }
        // Those that fill the places of nulls are called by the others.
        let (blanks, others): (Vec<_>, Vec<_>) = plan.routines.iter().partition(|routine| routine.is_blank());
        for routine in blanks.into_iter().chain(others) {
            self.line(format_args!(": {}", routine.name));
            self.action(&routine.action, 2);
            self.line(format_args!(";"));
        }
        for (at, state) in plan.states.iter().enumerate() {
            self.line(format_args!(": state{at} ( {} )", plain(&state.path)));
            for (command, action) in &state.actions {
                self.line(format_args!("  command @ {} = if ( {} )", *command as u8, command.name()));
                self.action(action, 4);
                self.line(format_args!("  exit then"));
            }
            self.line(format_args!("  {} error !", Refusal::Unexpected as i64));
            self.line(format_args!(";"));
        }
        self.line(format_args!(": {ROLLBACK}"));
        for variable in &plan.variables {
            self.line(format_args!("  data q-> stack {variable} !"));
        }
        for output in &plan.outputs {
            let name = &output.name;
            self.line(format_args!("  {name} len data q-> stack - {name} rewind"));
        }
        self.line(format_args!("  0 data seek"));
        self.line(format_args!(";"));
        for output in plan.outputs.iter().filter(|output| output.offsets) {
            self.line(format_args!("0 {} <- stack", output.name));
        }
        self.line(format_args!("begin"));
        self.line(format_args!("  0 data seek pause"));
        self.line(format_args!("  state @ case"));
        for at in 0..plan.states.len() {
            self.line(format_args!("    {at} of state{at} endof"));
        }
        self.line(format_args!("  endcase"));
        self.line(format_args!("again"));
    }

    fn action(&mut self, action: &Action, indent: usize) {
        match action {
            Action::Steps(steps) => self.steps(steps, indent),
            Action::Cases(cases) => {
                let dense = cases.iter().enumerate().all(|(at, (value, _))| *value == at as i64);
                if dense {
                    self.line(format_args!("{:indent$}argument @ case", ""));
                    for (value, steps) in cases {
                        self.line(format_args!("{:indent$}  {value} of", ""));
                        self.steps(steps, indent + 4);
                        self.line(format_args!("{:indent$}  endof", ""));
                    }
                    self.line(format_args!("{:indent$}  {} error !", "", Refusal::Argument as i64));
                    self.line(format_args!("{:indent$}endcase", ""));
                    return;
                }
                for (value, steps) in cases {
                    self.line(format_args!("{:indent$}argument @ {} = if", "", literal(*value)));
                    self.steps(steps, indent + 2);
                    self.line(format_args!("{:indent$}exit then", ""));
                }
                self.line(format_args!("{:indent$}{} error !", "", Refusal::Argument as i64));
            }
        }
    }

    fn steps(&mut self, steps: &[Step], indent: usize) {
        for step in steps {
            let text = self.step(step);
            self.line(format_args!("{:indent$}{text}", ""));
        }
    }

    fn step(&self, step: &Step) -> String {
        let var = |at: Var| self.plan.variables[at].as_str();
        let out = |at: usize| self.plan.outputs[at].name.as_str();
        let refuse = |refusal: Refusal| format!("if {} error ! exit then", refusal as i64);
        match step {
            Step::Refuse(refusal) => format!("{} error ! exit", *refusal as i64),
            Step::Room { count, size } => {
                format!("{} @ {} >= {}", var(*count), whole(*size), refuse(Refusal::Full))
            }
            Step::RoomForAll { count, size, item } => {
                let (count, size) = (var(*count), whole(*size));
                format!("{} {count} @ + {size} > {}", items(*item), refuse(Refusal::Full))
            }
            Step::Complete { count, size } => {
                format!("{} @ {} <> {}", var(*count), whole(*size), refuse(Refusal::Short))
            }
            Step::Unfilled { filled, bit } => {
                format!("{} @ {} and {}", var(*filled), 1i64 << bit, refuse(Refusal::Twice))
            }
            Step::Filled { filled, bits } => {
                format!("{} @ {bits} and {bits} <> {}", var(*filled), refuse(Refusal::Missing))
            }
            Step::Length { bytes } => format!("data len {} <> {}", whole(*bytes), refuse(Refusal::Length)),
            Step::Fits { total, amount, index } => {
                let (total, amount) = (var(*total), self.amount(*amount));
                format!("{amount} {total} @ + {} > {}", most(*index), refuse(Refusal::Wide))
            }
            Step::Below { rows, index } => {
                format!("{} @ {} >= {}", var(*rows), most(*index), refuse(Refusal::Wide))
            }
            Step::Keep { low, high } => {
                let low = format!("dup {} <", literal(*low));
                // The number read fits 64 bits with a sign.
                let outside =
                    if *high == i64::MAX { low } else { format!("{low} over {} > or", literal(*high)) };
                format!("data q-> stack {outside} if drop {} error ! exit then", Refusal::Range as i64)
            }
            Step::Reference { rows } => {
                format!("argument @ 0 < argument @ {} @ >= or {}", var(*rows), refuse(Refusal::Argument))
            }
            Step::Literal { value, output } => format!("{value} {} <- stack", out(*output)),
            Step::Next { rows, output } => {
                let rows = var(*rows);
                format!("{rows} @ {} <- stack 1 {rows} +!", out(*output))
            }
            Step::Scalar { parser, output } => format!("data {parser}-> {}", out(*output)),
            Step::Pair { parser, output } => format!("2 data #{parser}-> {}", out(*output)),
            Step::Kept { output } => format!("{} <- stack", out(*output)),
            Step::Argument { output } => format!("argument @ {} <- stack", out(*output)),
            Step::Offset { count, output } => format!("{} @ {} +<- stack", var(*count), out(*output)),
            Step::Bytes { offsets: Some(offsets), data } => {
                format!("data len dup {} +<- stack data #B-> {}", out(*offsets), out(*data))
            }
            Step::Bytes { offsets: None, data } => format!("data len data #B-> {}", out(*data)),
            Step::Bulk { parser, item, output, count } => {
                format!("{} dup {} +! data #{parser}-> {}", items(*item), var(*count), out(*output))
            }
            Step::Zeros { output, items } => {
                let output = out(*output);
                format!("0 {output} <- stack {} {output} dup", whole(items.saturating_sub(1)))
            }
            Step::Repeat { output } => format!("0 {} +<- stack", out(*output)),
            Step::Set { variable, value } => format!("{value} {} !", var(*variable)),
            Step::Add { variable, value } => format!("{value} {} +!", var(*variable)),
            Step::Grow { total, amount } => format!("{} {} +!", self.amount(*amount), var(*total)),
            Step::State(state) => format!("{state} state !"),
            Step::Call(routine) => self.plan.routines[*routine].name.clone(),
            Step::Times { times, routine } => {
                format!("{} 0 do {} loop", whole(*times), self.plan.routines[*routine].name)
            }
            Step::IfUnfilled { filled, bit, steps } => {
                let steps: Vec<_> = steps.iter().map(|step| self.step(step)).collect();
                format!("{} @ {} and 0= if {} then", var(*filled), 1i64 << bit, steps.join(" "))
            }
        }
    }

    fn amount(&self, amount: Amount) -> String {
        match amount {
            Amount::Count(count) => format!("{} @", self.plan.variables[count]),
            Amount::Bytes => "data len".into(),
        }
    }
}

/// Items in the data.
fn items(size: usize) -> String {
    if size == 1 { "data len".into() } else { format!("data len {size} /") }
}

fn most(index: Index) -> String {
    literal(index.most())
}

fn whole(value: u64) -> String {
    literal(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Literals of the language have 32 bits.
fn literal(value: i64) -> String {
    if i32::try_from(value).is_ok() {
        return value.to_string();
    }
    let (high, middle, low) = (value >> 32, (value >> 16) & 0xffff, value & 0xffff);
    format!("{high} 16 lshift {middle} or 16 lshift {low} or")
}

/// A path as a comment: no words of its own.
fn plain(path: &str) -> String {
    if path.is_empty() {
        return "-entries-".into();
    }
    path.chars().map(|c| if c.is_ascii_alphanumeric() || "[].|_".contains(c) { c } else { '?' }).collect()
}
