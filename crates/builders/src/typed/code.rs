//! The steps of a plan as a flat list: short, without pointers, the likely pairs as one.
//!
//! Nearly all commands end by counting something and going to another state. That is no operation but the [`Tail`] of each list, so
//! that most commands are one operation and its tail.

use super::plan::Plan;
use super::program::LENGTH;
use super::step::{Action, COMMANDS, Refusal, Step};
use forthwith_forth::DType;

/// One or two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    /// Appends the eight bytes of the data.
    Word {
        output: u32,
    },
    /// Appends a number from the data, converted.
    Scalar {
        parser: char,
        output: u32,
    },
    Literal {
        value: i32,
        output: u32,
    },
    Next {
        rows: u32,
        output: u32,
    },
    Offset {
        count: u32,
        output: u32,
    },
    Bytes {
        offsets: u32,
        output: u32,
    },
    Kept {
        output: u32,
    },
    Add {
        variable: u32,
        value: i32,
    },
    Set {
        variable: u32,
        value: i32,
    },
    State {
        state: u32,
    },
    Unfilled {
        filled: u32,
        bit: u32,
    },
    Filled {
        filled: u32,
        bits: i32,
    },
    /// One of several ranges, by the argument.
    Cases {
        cases: u32,
    },
    /// Appends an integer from the data if it fits the output's type.
    Whole {
        output: u32,
    },
    /// As those above, for outputs of int64.
    LiteralWord {
        value: i32,
        output: u32,
    },
    NextWord {
        rows: u32,
        output: u32,
    },
    OffsetWord {
        count: u32,
        output: u32,
    },
    BytesWord {
        offsets: u32,
        output: u32,
    },
    /// [`Op::NextWord`], then [`Op::Word`]: what may be null and is not.
    NextWordWord {
        rows: u32,
        index: u32,
        output: u32,
    },
    /// [`Op::NextWord`], then [`Op::BytesWord`].
    NextWordBytes {
        rows: u32,
        index: u32,
        offsets: u32,
        output: u32,
    },
    /// Anything else.
    Rare {
        step: u32,
    },
    /// No operation, where there must be one.
    Nothing,
    /// Several, where there must be one.
    Several,
}

/// The end of a command, after its operations: a count goes up, and the state changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) variable: u32,
    pub(crate) value: i32,
    /// Or [`Tail::STAY`].
    pub(crate) state: u32,
}

impl Tail {
    /// The state stays, or the operations change it.
    pub(crate) const STAY: u32 = u32::MAX;
    const NOTHING: Self = Self { variable: LENGTH as u32, value: 0, state: Self::STAY };
}

/// Where the operations of something are, and its tail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The operation if it is one.
    pub(crate) only: Op,
    start: u32,
    stop: u32,
    pub(crate) tail: Tail,
}

#[derive(Debug)]
pub(crate) struct Code {
    ops: Vec<Op>,
    /// For each state, for each command.
    table: Vec<Span>,
    cases: Vec<Cases>,
    pub(crate) rare: Vec<Step>,
    /// Routines that are called many times.
    pub(crate) routines: Vec<Span>,
}

#[derive(Debug)]
struct Cases(Vec<(i64, Span)>);

impl Code {
    pub(crate) fn new(plan: &Plan) -> Self {
        let refuse = Op::Rare { step: 0 };
        let mut code = Self {
            ops: vec![refuse],
            table: Vec::with_capacity(plan.states.len() * COMMANDS),
            cases: Vec::new(),
            rare: vec![Step::Refuse(Refusal::Unexpected), Step::Refuse(Refusal::Argument)],
            routines: Vec::new(),
        };
        let mut routines = vec![None; plan.routines.len()];
        let unexpected = Span { only: refuse, start: 0, stop: 1, tail: Tail::NOTHING };
        for state in &plan.states {
            let at = code.table.len();
            code.table.resize(at + COMMANDS, unexpected);
            for (command, action) in &state.actions {
                code.table[at + *command as usize] = match action {
                    // As at every field of a record: what it does is kept once.
                    Action::Steps(steps) if let [Step::Call(routine)] = steps[..] => {
                        code.routine(plan, &mut routines, routine)
                    }
                    action => code.action(plan, action),
                };
            }
        }
        code.routines =
            (0..routines.len()).map(|routine| code.routine(plan, &mut routines, routine)).collect();
        code
    }

    #[inline(always)]
    pub(crate) fn find(&self, state: i64, command: usize) -> &Span {
        &self.table[state as usize * COMMANDS + command]
    }

    #[inline(always)]
    pub(crate) fn ops(&self, span: &Span) -> &[Op] {
        &self.ops[span.start as usize..span.stop as usize]
    }

    /// The operations of one case.
    #[inline(always)]
    pub(crate) fn case(&self, cases: u32, argument: i64) -> Option<&Span> {
        let Cases(cases) = &self.cases[cases as usize];
        // They are sorted, and most are those of all small numbers.
        let guess = cases.get(argument as usize).filter(|(value, _)| *value == argument);
        let found = guess.or_else(|| cases.iter().find(|(value, _)| *value == argument))?;
        Some(&found.1)
    }

    fn routine(&mut self, plan: &Plan, made: &mut [Option<Span>], routine: usize) -> Span {
        *made[routine].get_or_insert_with(|| self.action(plan, &plan.routines[routine].action))
    }

    fn action(&mut self, plan: &Plan, action: &Action) -> Span {
        let mut ops = Vec::new();
        self.append(plan, action, &mut ops);
        self.keep(&ops)
    }

    fn keep(&mut self, ops: &[Op]) -> Span {
        let start = self.ops.len();
        let (ops, tail) = tail(ops);
        self.ops.extend(paired(ops));
        let only = match self.ops[start..] {
            [] => Op::Nothing,
            [only] => only,
            _ => Op::Several,
        };
        // Types that come to 2^32 steps do not fit in memory as a plan.
        Span { only, start: start as u32, stop: self.ops.len() as u32, tail }
    }

    fn append(&mut self, plan: &Plan, action: &Action, ops: &mut Vec<Op>) {
        match action {
            Action::Steps(steps) => self.steps(plan, steps, ops),
            Action::Cases(cases) => {
                let spans = cases.iter().map(|(value, steps)| {
                    let mut ops = Vec::new();
                    self.steps(plan, steps, &mut ops);
                    (*value, self.keep(&ops))
                });
                let spans = Cases(spans.collect());
                ops.push(Op::Cases { cases: self.cases.len() as u32 });
                self.cases.push(spans);
            }
        }
    }

    fn steps(&mut self, plan: &Plan, steps: &[Step], ops: &mut Vec<Op>) {
        let mut rest = steps;
        loop {
            match rest {
                [] => return,
                // The value kept has the output's type.
                [Step::Keep { .. }, Step::Kept { output }, after @ ..] => {
                    ops.push(Op::Whole { output: *output as u32 });
                    rest = after;
                }
                [step, after @ ..] => {
                    self.step(plan, step, ops);
                    rest = after;
                }
            }
        }
    }

    fn step(&mut self, plan: &Plan, step: &Step, ops: &mut Vec<Op>) {
        let dtype = |output: usize| plan.outputs[output].dtype;
        let small = |value: i64| i32::try_from(value).ok();
        let op = match *step {
            // Routines that write places of nulls can be large, and they are rarely wanted.
            Step::Call(routine) if !plan.routines[routine].is_blank() => {
                self.append(plan, &plan.routines[routine].action, ops);
                return;
            }
            Step::Scalar { parser, output } => match (parser, dtype(output)) {
                ('q', DType::Int64) | ('Q', DType::UInt64) | ('d', DType::Float64) => {
                    Some(Op::Word { output: output as u32 })
                }
                _ => Some(Op::Scalar { parser, output: output as u32 }),
            },
            Step::Literal { value, output } if dtype(output) == DType::Int64 => {
                small(value).map(|value| Op::LiteralWord { value, output: output as u32 })
            }
            Step::Literal { value, output } => {
                small(value).map(|value| Op::Literal { value, output: output as u32 })
            }
            Step::Next { rows, output } if dtype(output) == DType::Int64 => {
                Some(Op::NextWord { rows: rows as u32, output: output as u32 })
            }
            Step::Offset { count, output } if dtype(output) == DType::Int64 => {
                Some(Op::OffsetWord { count: count as u32, output: output as u32 })
            }
            Step::Bytes { offsets: Some(offsets), data } if dtype(offsets) == DType::Int64 => {
                Some(Op::BytesWord { offsets: offsets as u32, output: data as u32 })
            }
            Step::Next { rows, output } => Some(Op::Next { rows: rows as u32, output: output as u32 }),
            Step::Offset { count, output } => Some(Op::Offset { count: count as u32, output: output as u32 }),
            Step::Bytes { offsets: Some(offsets), data } => {
                Some(Op::Bytes { offsets: offsets as u32, output: data as u32 })
            }
            Step::Kept { output } => Some(Op::Kept { output: output as u32 }),
            Step::Add { variable, value } => {
                small(value).map(|value| Op::Add { variable: variable as u32, value })
            }
            Step::Set { variable, value } => {
                small(value).map(|value| Op::Set { variable: variable as u32, value })
            }
            Step::State(state) => Some(Op::State { state: state as u32 }),
            Step::Unfilled { filled, bit } => Some(Op::Unfilled { filled: filled as u32, bit }),
            Step::Filled { filled, bits } => {
                small(bits).map(|bits| Op::Filled { filled: filled as u32, bits })
            }
            _ => None,
        };
        ops.push(op.unwrap_or_else(|| {
            self.rare.push(step.clone());
            Op::Rare { step: self.rare.len() as u32 - 1 }
        }));
    }
}

/// The last of the operations as a tail, and those before it.
fn tail(ops: &[Op]) -> (&[Op], Tail) {
    let mut tail = Tail::NOTHING;
    let mut rest = ops;
    if let [before @ .., Op::State { state }] = rest {
        (rest, tail.state) = (before, *state);
    }
    if let [before @ .., Op::Add { variable, value }] = rest {
        (rest, tail.variable, tail.value) = (before, *variable, *value);
    }
    (rest, tail)
}

/// Operations with the likely pairs as one.
fn paired(ops: &[Op]) -> Vec<Op> {
    let mut out: Vec<Op> = Vec::with_capacity(ops.len());
    for op in ops {
        let pair = match (out.last(), *op) {
            (Some(&Op::NextWord { rows, output: index }), Op::Word { output }) => {
                Some(Op::NextWordWord { rows, index, output })
            }
            (Some(&Op::NextWord { rows, output: index }), Op::BytesWord { offsets, output }) => {
                Some(Op::NextWordBytes { rows, index, offsets, output })
            }
            _ => None,
        };
        match pair {
            Some(pair) => {
                out.pop();
                out.push(pair);
            }
            None => out.push(*op),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;

    #[test]
    fn grows_with_the_fields_and_not_with_their_square() {
        let size = |fields: usize| {
            let names: Vec<_> = (0..fields).map(|at| format!("f{at}: ?int32")).collect();
            let form = Form::from_type(&format!("{{{}}}", names.join(", "))).expect("a type");
            let code = Code::new(&Plan::new(&form).expect("a plan"));
            let cases: usize = code.cases.iter().map(|Cases(cases)| cases.len()).sum();
            code.ops.len() + code.rare.len() + cases
        };
        assert!(size(400) < 5 * size(100));
    }
}
