//! The steps of a plan, carried out one after the other without a program in between.
//!
//! The program's text is made of the same steps; tests tell both the same and compare everything.

use super::code::{Code, Op};
use super::plan::{Plan, Var};
use super::program::STATE;
use super::step::{Amount, Command, OutputSpec, Refusal, Step};
use forthwith_forth::Dtype;

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Refused(Refusal),
    OutOfMemory,
}

type Done = Result<(), Failure>;

pub(crate) struct Direct {
    pub(crate) variables: Vec<i64>,
    pub(crate) outputs: Vec<Bytes>,
    kept: i64,
}

/// What a command is about.
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

    #[inline]
    pub(crate) fn tell(&mut self, code: &Code, command: Command, argument: i64, data: &[u8]) -> Done {
        let ops = code.find(self.variables[STATE], command as usize);
        self.carry_out(code, ops, Told { argument, data })
    }

    #[inline(always)]
    fn carry_out(&mut self, code: &Code, ops: &[Op], told: Told<'_>) -> Done {
        for op in ops {
            match *op {
                Op::Word { output } => self.outputs[output as usize].push(&word(told.data))?,
                Op::CountedWord { output, count } => {
                    self.outputs[output as usize].push(&word(told.data))?;
                    self.variables[count as usize] += 1;
                }
                Op::Scalar { parser, output } => self.outputs[output as usize].scalar(parser, told.data)?,
                Op::Literal { value, output } => self.outputs[output as usize].integer(value.into())?,
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
                Op::NextWord { rows, output } => {
                    let rows = &mut self.variables[rows as usize];
                    self.outputs[output as usize].push(&rows.to_ne_bytes())?;
                    *rows += 1;
                }
                Op::OffsetWord { count, output } => {
                    self.outputs[output as usize].add_word(self.variables[count as usize])?;
                }
                Op::BytesWord { offsets, output } => {
                    self.outputs[offsets as usize].add_word(told.data.len() as i64)?;
                    self.outputs[output as usize].push(told.data)?;
                }
                Op::Add { variable, value } => self.variables[variable as usize] += i64::from(value),
                Op::Set { variable, value } => self.variables[variable as usize] = value.into(),
                Op::State { state } => self.variables[STATE] = state.into(),
                Op::Open { count, state } => {
                    self.variables[count as usize] = 0;
                    self.variables[STATE] = state.into();
                }
                Op::Close { variable, value, state } => {
                    self.variables[variable as usize] += i64::from(value);
                    self.variables[STATE] = state.into();
                }
                Op::Unfilled { filled, bit } => {
                    refuse_if(self.variables[filled as usize] >> bit & 1 != 0, Refusal::Twice)?;
                }
                Op::Filled { filled, bits } => {
                    let bits = i64::from(bits);
                    refuse_if(self.variables[filled as usize] & bits != bits, Refusal::Missing)?;
                }
                Op::Cases { cases } => match code.case(cases, told.argument) {
                    // Cases have no cases in them.
                    Some(ops) => self.case(code, ops, told)?,
                    None => return Err(Failure::Refused(Refusal::Argument)),
                },
                Op::Rare { step } => self.rare(code, &code.rare[step as usize], told)?,
            }
        }
        Ok(())
    }

    fn case(&mut self, code: &Code, ops: &[Op], told: Told<'_>) -> Done {
        for op in ops {
            match *op {
                Op::Unfilled { filled, bit } => {
                    refuse_if(self.variables[filled as usize] >> bit & 1 != 0, Refusal::Twice)?;
                }
                Op::State { state } => self.variables[STATE] = state.into(),
                _ => self.again(code, std::slice::from_ref(op), told)?,
            }
        }
        Ok(())
    }

    /// Operations within operations.
    #[inline(never)]
    fn again(&mut self, code: &Code, ops: &[Op], told: Told<'_>) -> Done {
        self.carry_out(code, ops, told)
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
            Step::Call(routine) => self.again(code, code.ops(code.routines[*routine]), told),
            Step::Times { times, routine } => {
                let ops = code.ops(code.routines[*routine]);
                (0..*times).try_for_each(|_| self.again(code, ops, told))
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

fn refuse_if(refused: bool, refusal: Refusal) -> Done {
    if refused { Err(Failure::Refused(refusal)) } else { Ok(()) }
}

fn whole(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Eight bytes; the commands that need them bring them.
fn word(data: &[u8]) -> [u8; 8] {
    data.first_chunk().copied().unwrap_or_default()
}

fn integer(data: &[u8]) -> i64 {
    i64::from_ne_bytes(word(data))
}

/// An output: items in native order.
pub(crate) struct Bytes {
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl Bytes {
    fn new(spec: &OutputSpec) -> Self {
        let bytes = if spec.offsets { vec![0; spec.dtype.size()] } else { Vec::new() };
        Self { dtype: spec.dtype, bytes }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    fn truncate(&mut self, items: usize) {
        self.bytes.truncate(items * self.dtype.size());
    }

    #[inline(always)]
    fn push(&mut self, bytes: &[u8]) -> Done {
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            self.reserve(bytes.len())?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn reserve(&mut self, more: usize) -> Done {
        self.bytes.try_reserve(more.max(1024)).map_err(|_| Failure::OutOfMemory)
    }

    /// Appends an integer, cut to the type.
    #[inline(always)]
    fn integer(&mut self, value: i64) -> Done {
        match self.dtype {
            Dtype::Int64 | Dtype::UInt64 => self.push(&value.to_ne_bytes()),
            Dtype::Int32 | Dtype::UInt32 => self.push(&(value as i32).to_ne_bytes()),
            Dtype::Int16 | Dtype::UInt16 => self.push(&(value as i16).to_ne_bytes()),
            Dtype::Int8 | Dtype::UInt8 => self.push(&(value as i8).to_ne_bytes()),
            Dtype::Bool => self.push(&[u8::from(value != 0)]),
            Dtype::Float64 => self.push(&(value as f64).to_ne_bytes()),
            Dtype::Float32 => self.push(&(value as f32).to_ne_bytes()),
        }
    }

    /// Appends an integer if it fits the type.
    #[inline(always)]
    fn whole(&mut self, value: i64) -> Done {
        let fits = match self.dtype {
            Dtype::Int32 => i32::try_from(value).is_ok(),
            Dtype::Int16 => i16::try_from(value).is_ok(),
            Dtype::Int8 => i8::try_from(value).is_ok(),
            Dtype::UInt64 => value >= 0,
            Dtype::UInt32 => u32::try_from(value).is_ok(),
            Dtype::UInt16 => u16::try_from(value).is_ok(),
            Dtype::UInt8 => u8::try_from(value).is_ok(),
            _ => true,
        };
        refuse_if(!fits, Refusal::Range)?;
        self.integer(value)
    }

    /// Appends the last of int64 items plus something.
    #[inline(always)]
    fn add_word(&mut self, value: i64) -> Done {
        let last = self.bytes.last_chunk().map_or(0, |last| i64::from_ne_bytes(*last));
        self.push(&last.wrapping_add(value).to_ne_bytes())
    }

    /// Appends the last item plus something.
    #[inline(always)]
    fn add(&mut self, value: i64) -> Done {
        let last = match self.dtype {
            Dtype::Int32 => self.bytes.last_chunk().map_or(0, |last| i32::from_ne_bytes(*last).into()),
            Dtype::UInt32 => self.bytes.last_chunk().map_or(0, |last| u32::from_ne_bytes(*last).into()),
            _ => self.bytes.last_chunk().map_or(0, |last| i64::from_ne_bytes(*last)),
        };
        self.integer(last.wrapping_add(value))
    }

    /// Appends what a parser reads from eight bytes.
    #[inline(always)]
    fn scalar(&mut self, parser: char, data: &[u8]) -> Done {
        match (parser, self.dtype) {
            ('q', Dtype::Int64) | ('Q', Dtype::UInt64) | ('d', Dtype::Float64) => self.push(&word(data)),
            ('q', _) => self.integer(integer(data)),
            ('?', _) => self.push(&[u8::from(data.first().is_some_and(|byte| *byte != 0))]),
            ('d', _) => self.push(&(f64::from_ne_bytes(word(data)) as f32).to_ne_bytes()),
            (_, Dtype::Float32) => self.push(&(u64::from_ne_bytes(word(data)) as f32).to_ne_bytes()),
            _ => self.push(&(u64::from_ne_bytes(word(data)) as f64).to_ne_bytes()),
        }
    }

    fn zeros(&mut self, items: u64) -> Done {
        let bytes = usize::try_from(items).ok().and_then(|items| items.checked_mul(self.dtype.size()));
        let bytes = bytes.ok_or(Failure::OutOfMemory)?;
        self.bytes.try_reserve(bytes).map_err(|_| Failure::OutOfMemory)?;
        self.bytes.resize(self.bytes.len() + bytes, 0);
        Ok(())
    }
}
