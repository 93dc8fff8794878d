//! The steps of a plan, carried out one after the other without a program in between.
//!
//! The program's text is made of the same steps; tests tell both the same and compare everything.

use super::bytes::{Bytes, SHORT};
use super::code::{Code, Op, Span, Tail};
use super::plan::{Plan, Var};
use super::program::STATE;
use super::step::{Amount, Command, Refusal, Step};

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Refused(Refusal),
    OutOfMemory,
}

pub(super) type Done = Result<(), Failure>;

pub(crate) struct Direct {
    pub(crate) variables: Vec<i64>,
    pub(crate) outputs: Vec<Bytes>,
    kept: i64,
}

/// The subject of a command.
#[derive(Clone, Copy)]
struct Told<'a> {
    argument: i64,
    data: &'a [u8],
}

impl Direct {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            variables: vec![0; plan.variables.len()],
            outputs: plan.outputs.iter().map(Bytes::new).collect(),
            kept: 0,
        }
    }

    /// Forgets all; what memory there is stays, within a bound.
    pub(crate) fn clear(&mut self) {
        self.variables.fill(0);
        self.outputs.iter_mut().for_each(Bytes::clear);
        self.kept = 0;
    }

    /// Carries one command out. The frequent ones where there is room are done here, without a call: they would cost less than the
    /// registers that all others need.
    #[inline(never)]
    pub(crate) fn tell(&mut self, code: &Code, command: Command, argument: i64, data: &[u8]) -> Done {
        let span = code.find(self.variables[STATE], command as usize);
        let told = Told { argument, data };
        match span.only {
            Op::Nothing => {}
            Op::Word { output } if self.has_room(output) => {
                self.outputs[output as usize].put(&word(data));
            }
            Op::NextWordWord { rows, index, output } if self.has_room(index) && self.has_room(output) => {
                self.put_next(rows, index);
                self.outputs[output as usize].put(&word(data));
            }
            Op::BytesWord { offsets, output }
                if data.len() <= SHORT && self.has_room(offsets) && self.has_room(output) =>
            {
                self.put_bytes(offsets, output, data);
            }
            Op::NextWordBytes { rows, index, offsets, output }
                if data.len() <= SHORT
                    && self.has_room(index)
                    && self.has_room(offsets)
                    && self.has_room(output) =>
            {
                self.put_next(rows, index);
                self.put_bytes(offsets, output, data);
            }
            Op::OffsetWord { count, output } if self.has_room(output) => {
                let count = self.variables[count as usize];
                let output = &mut self.outputs[output as usize];
                output.put(&output.last_word().wrapping_add(count).to_ne_bytes());
            }
            Op::LiteralWord { value, output } if self.has_room(output) => {
                self.outputs[output as usize].put(&i64::from(value).to_ne_bytes());
            }
            Op::Whole { output } if self.has_room(output) => {
                self.outputs[output as usize].whole(integer(data))?;
            }
            Op::Set { variable, value } => {
                self.variables[variable as usize] = value.into();
            }
            Op::Cases { cases } => match code.case(cases, argument) {
                Some(case) => match case.only {
                    Op::Nothing => self.finish(case.tail),
                    Op::Unfilled { filled, bit } => {
                        self.unfilled(filled, bit)?;
                        self.finish(case.tail);
                    }
                    _ => return self.carry_out(code, span, told),
                },
                None => return Err(Failure::Refused(Refusal::Argument)),
            },
            _ => return self.carry_out(code, span, told),
        }
        self.finish(span.tail);
        Ok(())
    }

    /// Whether there is room for any short data.
    #[inline(always)]
    fn has_room(&self, output: u32) -> bool {
        self.outputs[output as usize].has_room(SHORT)
    }

    /// As [`Self::next_word`], where there is room.
    #[inline(always)]
    fn put_next(&mut self, rows: u32, output: u32) {
        let rows = &mut self.variables[rows as usize];
        self.outputs[output as usize].put(&rows.to_ne_bytes());
        *rows += 1;
    }

    /// As [`Self::bytes_word`], where there is room.
    #[inline(always)]
    fn put_bytes(&mut self, offsets: u32, output: u32, data: &[u8]) {
        let offsets = &mut self.outputs[offsets as usize];
        offsets.put(&offsets.last_word().wrapping_add(data.len() as i64).to_ne_bytes());
        self.outputs[output as usize].put_short(data);
    }

    /// Any operations; there may be operations within.
    #[inline(never)]
    fn carry_out(&mut self, code: &Code, span: &Span, told: Told<'_>) -> Done {
        for op in code.ops(span) {
            match *op {
                Op::Word { output } => self.outputs[output as usize].word(word(told.data))?,
                Op::Scalar { parser, output } => self.outputs[output as usize].scalar(parser, told.data)?,
                Op::Literal { value, output } => self.outputs[output as usize].integer(value.into())?,
                Op::LiteralWord { value, output } => {
                    self.outputs[output as usize].word(i64::from(value).to_ne_bytes())?;
                }
                Op::Next { rows, output } => {
                    let rows = &mut self.variables[rows as usize];
                    self.outputs[output as usize].integer(*rows)?;
                    *rows += 1;
                }
                Op::Offset { count, output } => {
                    self.outputs[output as usize].add(self.variables[count as usize])?;
                }
                Op::Bytes { offsets, output } => {
                    self.outputs[offsets as usize].add(told.data.len() as i64)?;
                    self.outputs[output as usize].push(told.data)?;
                }
                Op::Kept { output } => self.outputs[output as usize].integer(self.kept)?,
                Op::Whole { output } => self.outputs[output as usize].whole(integer(told.data))?,
                Op::NextWord { rows, output } => self.next_word(rows, output)?,
                Op::OffsetWord { count, output } => {
                    self.outputs[output as usize].add_word(self.variables[count as usize])?;
                }
                Op::BytesWord { offsets, output } => self.bytes_word(offsets, output, told.data)?,
                Op::NextWordWord { rows, index, output } => {
                    self.next_word(rows, index)?;
                    self.outputs[output as usize].word(word(told.data))?;
                }
                Op::NextWordBytes { rows, index, offsets, output } => {
                    self.next_word(rows, index)?;
                    self.bytes_word(offsets, output, told.data)?;
                }
                Op::Add { variable, value } => self.variables[variable as usize] += i64::from(value),
                Op::Set { variable, value } => self.variables[variable as usize] = value.into(),
                Op::State { state } => self.variables[STATE] = state.into(),
                Op::Unfilled { filled, bit } => self.unfilled(filled, bit)?,
                Op::Filled { filled, bits } => {
                    let bits = i64::from(bits);
                    refuse_if(self.variables[filled as usize] & bits != bits, Refusal::Missing)?;
                }
                Op::Cases { cases } => {
                    let Some(span) = code.case(cases, told.argument) else {
                        return Err(Failure::Refused(Refusal::Argument));
                    };
                    self.carry_out(code, span, told)?;
                }
                Op::Rare { step } => self.rare(code, &code.rare[step as usize], told)?,
                Op::Nothing | Op::Several => {}
            }
        }
        self.finish(span.tail);
        Ok(())
    }

    #[inline(always)]
    fn finish(&mut self, tail: Tail) {
        self.variables[tail.variable as usize] += i64::from(tail.value);
        if tail.state != Tail::STAY {
            self.variables[STATE] = tail.state.into();
        }
    }

    #[inline(always)]
    fn next_word(&mut self, rows: u32, output: u32) -> Done {
        let rows = &mut self.variables[rows as usize];
        self.outputs[output as usize].word(rows.to_ne_bytes())?;
        *rows += 1;
        Ok(())
    }

    #[inline(always)]
    fn bytes_word(&mut self, offsets: u32, output: u32, data: &[u8]) -> Done {
        self.outputs[offsets as usize].add_word(data.len() as i64)?;
        self.outputs[output as usize].push(data)
    }

    #[inline(always)]
    fn unfilled(&self, filled: u32, bit: u32) -> Done {
        refuse_if(self.variables[filled as usize] >> bit & 1 != 0, Refusal::Twice)
    }

    #[inline(never)]
    fn rare(&mut self, code: &Code, step: &Step, told: Told<'_>) -> Done {
        let data = told.data;
        match step {
            Step::Refuse(refusal) => Err(Failure::Refused(*refusal)),
            Step::Keep { low, high } => {
                self.kept = integer(data);
                refuse_if(self.kept < *low || self.kept > *high, Refusal::Range)
            }
            Step::Room { count, size } => refuse_if(self.variables[*count] >= whole(*size), Refusal::Full),
            Step::RoomForAll { count, size, item } => {
                let items = (data.len() / item) as i64;
                refuse_if(self.variables[*count].saturating_add(items) > whole(*size), Refusal::Full)
            }
            Step::Complete { count, size } => {
                refuse_if(self.variables[*count] != whole(*size), Refusal::Short)
            }
            Step::Unfilled { filled, bit } => {
                refuse_if(self.variables[*filled] >> bit & 1 != 0, Refusal::Twice)
            }
            Step::Filled { filled, bits } => {
                refuse_if(self.variables[*filled] & bits != *bits, Refusal::Missing)
            }
            Step::Length { bytes } => refuse_if(data.len() as u64 != *bytes, Refusal::Length),
            Step::Fits { total, amount, index } => {
                let total = self.amount(*amount, data).saturating_add(self.variables[*total]);
                refuse_if(total > index.most(), Refusal::Wide)
            }
            Step::Below { rows, index } => refuse_if(self.variables[*rows] >= index.most(), Refusal::Wide),
            Step::Reference { rows } => {
                refuse_if(!(0..self.variables[*rows]).contains(&told.argument), Refusal::Argument)
            }
            Step::Literal { value, output } => self.outputs[*output].integer(*value),
            Step::Next { rows, output } => {
                self.outputs[*output].integer(self.variables[*rows])?;
                self.variables[*rows] += 1;
                Ok(())
            }
            Step::Scalar { parser, output } => self.outputs[*output].scalar(*parser, data),
            Step::Pair { parser, output } => {
                let (real, imaginary) = data.split_at(data.len() / 2);
                self.outputs[*output].scalar(*parser, real)?;
                self.outputs[*output].scalar(*parser, imaginary)
            }
            Step::Kept { output } => self.outputs[*output].integer(self.kept),
            Step::Argument { output } => self.outputs[*output].integer(told.argument),
            Step::Offset { count, output } => self.outputs[*output].add(self.variables[*count]),
            Step::Bytes { offsets, data: output } => {
                if let Some(offsets) = offsets {
                    self.outputs[*offsets].add(data.len() as i64)?;
                }
                self.outputs[*output].push(data)
            }
            Step::Bulk { item, output, count, .. } => {
                self.outputs[*output].push(data)?;
                self.variables[*count] += (data.len() / item) as i64;
                Ok(())
            }
            Step::Zeros { output, items } => self.outputs[*output].zeros(*items),
            Step::Repeat { output } => self.outputs[*output].add(0),
            Step::Set { variable, value } => {
                self.variables[*variable] = *value;
                Ok(())
            }
            Step::Add { variable, value } => {
                self.variables[*variable] += value;
                Ok(())
            }
            Step::Grow { total, amount } => {
                self.variables[*total] += self.amount(*amount, data);
                Ok(())
            }
            Step::State(state) => {
                self.variables[STATE] = *state as i64;
                Ok(())
            }
            Step::Call(routine) => self.carry_out(code, &code.routines[*routine], told),
            Step::Times { times, routine } => {
                let span = &code.routines[*routine];
                (0..*times).try_for_each(|_| self.carry_out(code, span, told))
            }
            Step::IfUnfilled { filled, bit, steps } => {
                if self.variables[*filled] >> bit & 1 != 0 {
                    return Ok(());
                }
                steps.iter().try_for_each(|step| self.rare(code, step, told))
            }
        }
    }

    fn amount(&self, amount: Amount, data: &[u8]) -> i64 {
        match amount {
            Amount::Count(count) => self.variables[count],
            Amount::Bytes => data.len() as i64,
        }
    }

    /// Goes back to variables and lengths of outputs.
    pub(crate) fn rollback(&mut self, numbers: &[i64]) {
        let (variables, lengths) = numbers.split_at(self.variables.len());
        self.variables.copy_from_slice(variables);
        self.outputs.iter_mut().zip(lengths).for_each(|(output, length)| output.truncate(*length as usize));
    }

    pub(crate) fn variable(&self, at: Var) -> i64 {
        self.variables[at]
    }
}

#[inline]
pub(super) fn refuse_if(refused: bool, refusal: Refusal) -> Done {
    if refused { Err(Failure::Refused(refusal)) } else { Ok(()) }
}

fn whole(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Eight bytes; the commands that need them bring them.
#[inline]
pub(super) fn word(data: &[u8]) -> [u8; 8] {
    data.first_chunk().map_or([0; 8], |word| *word)
}

#[inline]
pub(super) fn integer(data: &[u8]) -> i64 {
    i64::from_ne_bytes(word(data))
}
