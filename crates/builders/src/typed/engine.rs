//! The two ways of carrying commands out.

use super::code::Code;
use super::direct::{Direct, Failure};
use super::plan::{Plan, Var};
use super::program::{ARGUMENT, COMMAND, ERROR, ROLLBACK};
use super::step::{Command, Refusal};
use crate::form::FormError;
use forthwith_forth::{Compiled, Limits, Machine, Status};
use std::sync::Arc;

/// How a builder carries commands out. The results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The steps of which the program is made, directly.
    #[default]
    Direct,
    /// The program, in the machine: one `resume` up to the next `pause` for each command.
    Program,
}

pub(crate) enum Runner {
    Direct(Direct, Code),
    Program(Box<Machine>),
}

impl Runner {
    pub(crate) fn new(plan: &Plan, engine: Engine) -> Result<Self, FormError> {
        Ok(match engine {
            Engine::Direct => Self::Direct(Direct::new(plan), Code::new(plan)),
            Engine::Program => {
                let compiled = Compiled::new(&plan.source).map_err(|error| {
                    // Programs larger than the machine counts come from types of millions of fields.
                    FormError::Unsupported { what: format!("a type of this size ({:?})", error.kind()) }
                })?;
                Self::Program(Box::new(Machine::new(Arc::new(compiled), Limits::default())))
            }
        })
    }

    /// Starts anew; false if there is no memory even for that.
    pub(crate) fn clear(&mut self) -> bool {
        match self {
            Self::Direct(direct, _) => {
                direct.clear();
                true
            }
            Self::Program(machine) => {
                machine.begin();
                // The first stretch of the program writes the zeros of the offsets.
                machine.resume(&[&[]]) == Ok(Status::Paused)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn tell(&mut self, command: Command, argument: i64, data: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Direct(direct, code) => direct.tell(code, command, argument, data),
            Self::Program(machine) => {
                machine.set_variable(COMMAND, command as i64);
                machine.set_variable(ARGUMENT, argument);
                // The program has no other way to fail than to find no memory.
                if machine.resume(&[data]) != Ok(Status::Paused) {
                    return Err(Failure::OutOfMemory);
                }
                match machine.variables()[ERROR] {
                    0 => Ok(()),
                    code => {
                        machine.set_variable(ERROR, 0);
                        Err(Failure::Refused(Refusal::from_code(code)))
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn variable(&self, at: Var) -> i64 {
        match self {
            Self::Direct(direct, _) => direct.variable(at),
            Self::Program(machine) => machine.variables()[at],
        }
    }

    /// All that changes: the variables, then the lengths of the outputs.
    pub(crate) fn checkpoint(&self) -> Vec<i64> {
        match self {
            Self::Direct(direct, _) => {
                let lengths = direct.outputs.iter().map(|output| output.len() as i64);
                direct.variables.iter().copied().chain(lengths).collect()
            }
            Self::Program(machine) => {
                let lengths = machine.outputs().iter().map(|output| output.len() as i64);
                machine.variables().iter().copied().chain(lengths).collect()
            }
        }
    }

    /// Goes back; false, and nothing has changed, if the outputs are shorter now.
    pub(crate) fn rollback(&mut self, numbers: &[i64]) -> bool {
        let now = self.checkpoint();
        let lengths = match self {
            Self::Direct(direct, _) => direct.outputs.len(),
            Self::Program(machine) => machine.outputs().len(),
        };
        let first = now.len().saturating_sub(lengths);
        if numbers.len() != now.len()
            || numbers[first..].iter().zip(&now[first..]).any(|(then, now)| then > now)
        {
            return false;
        }
        match self {
            Self::Direct(direct, _) => {
                direct.rollback(numbers);
                true
            }
            Self::Program(machine) => {
                // The program's own word: it sets the variables and rewinds the outputs.
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
                machine.call(ROLLBACK, &[&bytes]) == Ok(Status::Done)
            }
        }
    }

    pub(crate) fn output(&self, at: usize) -> &[u8] {
        match self {
            Self::Direct(direct, _) => direct.outputs.get(at).map_or(&[], |output| output.bytes()),
            Self::Program(machine) => machine.outputs().get(at).map_or(&[], |output| output.as_bytes()),
        }
    }
}
