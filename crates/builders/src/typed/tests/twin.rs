//! A builder and its program in each tier of the machine: both receive the same commands, and are compared.

use super::*;
use crate::typed::program::{Program, ROLLBACK};
use forthwith_columns::{Column, DType};
use forthwith_forth::{Compiled, Limits, Machine, Status, Tier};
use std::sync::Arc;

pub(super) struct Twin {
    pub(super) builder: TypedArrayBuilder,
    machines: Vec<Machine>,
    /// Names of records.
    names: Vec<Box<str>>,
    outputs: Vec<String>,
}

/// States of the builder and of the machines.
pub(super) struct Here(pub(super) Checkpoint, Vec<Vec<u8>>);

impl std::ops::Deref for Twin {
    type Target = TypedArrayBuilder;

    fn deref(&self) -> &TypedArrayBuilder {
        &self.builder
    }
}

impl Twin {
    pub(super) fn new(form: &Form) -> Self {
        let builder = TypedArrayBuilder::new(form).unwrap();
        let program = Program::new(&builder.state);
        let names = program.names.clone();
        let outputs = program.outputs.iter().map(|(name, ..)| name.clone()).collect();
        let compiled = Arc::new(Compiled::new(builder.source()).unwrap_or_else(|error| {
            panic!("{error}\n{}", builder.source());
        }));
        let machines = [Tier::Checked, Tier::Fused, Tier::Compiled].map(|tier| {
            let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
            machine.force_tier(Some(tier));
            machine.begin();
            assert_eq!(machine.resume(&[&[]]), Ok(Status::Paused));
            machine
        });
        Self { builder, machines: machines.into(), names, outputs }
    }

    fn tell(
        &mut self,
        command: Command,
        argument: usize,
        data: &[u8],
        told: impl FnOnce(&mut TypedArrayBuilder) -> Told,
    ) -> Told {
        let done = told(&mut self.builder);
        let refusal = done.as_ref().map_or_else(|error| code(error.kind()), |()| 0);
        self.tell_program(command, argument as i64, data, refusal);
        self.agree();
        done
    }

    /// Sends a command to the program, and checks that it is refused for this reason (0 if it is executed).
    fn tell_program(&mut self, command: Command, argument: i64, data: &[u8], refusal: u8) {
        for machine in &mut self.machines {
            machine.set_variable(0, command as i64);
            machine.set_variable(1, argument);
            assert_eq!(machine.resume(&[data]), Ok(Status::Paused), "{}", self.builder.source());
            let found = machine.variables()[2];
            machine.set_variable(2, 0);
            assert_eq!(found, i64::from(refusal), "{command:?} {argument} of {}", self.builder.type_string());
        }
    }

    /// Compares the complete entries.
    fn agree(&self) {
        let layout = self.builder.snapshot().unwrap();
        for machine in &self.machines {
            assert_eq!(machine.variables()[4] as u64, layout.length);
            for (name, column) in &layout.columns {
                let (node, part) = name.split_once('-').unwrap();
                let output = match part {
                    "starts" | "stops" => format!("{node}-offsets"),
                    _ => name.clone(),
                };
                let at = self.outputs.iter().position(|known| *known == output).unwrap();
                let output = &machine.outputs()[at];
                let skipped = if part == "stops" { column.dtype().size() } else { 0 };
                let same = match (part, column.dtype()) {
                    ("mask", DType::UInt8) => self.same_bits(node, column, output.as_bytes()),
                    _ => output.as_bytes()[skipped..].starts_with(column.as_bytes()),
                };
                assert!(same, "{name} of {}", self.builder.type_string());
            }
        }
    }

    /// Compares a mask of bits with the mask of bytes of the program. Bits after the last complete row are
    /// zero.
    fn same_bits(&self, node: &str, bits: &Column, bytes: &[u8]) -> bool {
        let nodes = &self.builder.state.nodes;
        let number = nodes.keys().iter().position(|key| format!("node{key}") == node).unwrap() as u32;
        let Columns::Masked { bits: Some(least_first), mask, .. } = nodes.at(number) else { return false };
        let all = mask.len().min(bits.len() * 8);
        (0..all).all(|row| {
            let bit = if *least_first { row % 8 } else { 7 - row % 8 };
            let packed = bits.as_bytes()[row / 8] >> bit & 1;
            packed == bytes[row] || (packed == 0 && row + 8 > all)
        })
    }

    pub(super) fn checkpoint(&self) -> Here {
        let numbers = self.machines.iter().map(|machine| {
            let lengths = machine.outputs().iter().map(|output| output.len() as i64);
            machine.variables().iter().copied().chain(lengths).flat_map(i64::to_ne_bytes).collect()
        });
        Here(self.builder.checkpoint(), numbers.collect())
    }

    pub(super) fn rollback(&mut self, here: &Here) -> bool {
        let done = self.builder.rollback(&here.0);
        for (machine, numbers) in self.machines.iter_mut().zip(&here.1) {
            assert_eq!(machine.call(ROLLBACK, &[numbers]), Ok(Status::Done));
        }
        self.agree();
        done
    }

    pub(super) fn null(&mut self) -> Told {
        self.tell(Command::Null, 0, &[], |builder| builder.null())
    }

    pub(super) fn boolean(&mut self, value: bool) -> Told {
        self.tell(Command::Boolean, 0, &[value.into()], |builder| builder.boolean(value))
    }

    pub(super) fn integer(&mut self, value: i64) -> Told {
        self.tell(Command::Integer, 0, &value.to_ne_bytes(), |builder| builder.integer(value))
    }

    pub(super) fn unsigned(&mut self, value: u64) -> Told {
        let command = if i64::try_from(value).is_ok() { Command::Integer } else { Command::Unsigned };
        self.tell(command, 0, &value.to_ne_bytes(), |builder| builder.unsigned(value))
    }

    pub(super) fn real(&mut self, value: f64) -> Told {
        self.tell(Command::Real, 0, &value.to_ne_bytes(), |builder| builder.real(value))
    }

    pub(super) fn complex(&mut self, real: f64, imaginary: f64) -> Told {
        let data = [real.to_ne_bytes(), imaginary.to_ne_bytes()].concat();
        self.tell(Command::Complex, 0, &data, |builder| builder.complex(real, imaginary))
    }

    /// Appends a time; the program receives it in the unit of the column.
    fn time(
        &mut self,
        command: Command,
        value: i64,
        unit: Unit,
        told: impl FnOnce(&mut TypedArrayBuilder) -> Told,
    ) -> Told {
        let expected = self.builder.state.unit(command).unwrap_or(unit);
        match unit.convert(value, expected, command == Command::Datetime) {
            Some(value) => self.tell(command, 0, &value.to_ne_bytes(), told),
            None => told(&mut self.builder),
        }
    }

    pub(super) fn datetime(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Datetime, value, unit, |builder| builder.datetime(value, unit))
    }

    pub(super) fn timedelta(&mut self, value: i64, unit: Unit) -> Told {
        self.time(Command::Timedelta, value, unit, |builder| builder.timedelta(value, unit))
    }

    pub(super) fn bytestring(&mut self, value: &[u8]) -> Told {
        self.tell(Command::Bytestring, 0, value, |builder| builder.bytestring(value))
    }

    pub(super) fn string(&mut self, value: &str) -> Told {
        self.tell(Command::String, 0, value.as_bytes(), |builder| builder.string(value))
    }

    pub(super) fn begin_list(&mut self) -> Told {
        self.tell(Command::BeginList, 0, &[], |builder| builder.begin_list())
    }

    pub(super) fn end_list(&mut self) -> Told {
        self.tell(Command::EndList, 0, &[], |builder| builder.end_list())
    }

    pub(super) fn begin_tuple(&mut self, slots: usize) -> Told {
        self.tell(Command::BeginTuple, slots, &[], |builder| builder.begin_tuple(slots))
    }

    pub(super) fn index(&mut self, at: usize) -> Told {
        self.tell(Command::Index, at, &[], |builder| builder.index(at))
    }

    pub(super) fn end_tuple(&mut self) -> Told {
        self.tell(Command::EndTuple, 0, &[], |builder| builder.end_tuple())
    }

    pub(super) fn begin_record(&mut self, name: Option<&str>) -> Told {
        let number =
            |name: &str| self.names.iter().position(|known| **known == *name).unwrap_or(self.names.len());
        let argument = name.map_or(0, |name| number(name) + 1);
        self.tell(Command::BeginRecord, argument, &[], |builder| builder.begin_record(name))
    }

    pub(super) fn field(&mut self, name: &str) -> Told {
        let fields = self.builder.state.field_names();
        let argument = fields.iter().position(|field| field == name).unwrap_or(fields.len());
        self.tell(Command::Field, argument, &[], |builder| builder.field(name))
    }

    pub(super) fn end_record(&mut self) -> Told {
        self.tell(Command::EndRecord, 0, &[], |builder| builder.end_record())
    }

    pub(super) fn tag(&mut self, tag: usize) -> Told {
        self.tell(Command::Tag, tag, &[], |builder| builder.tag(tag))
    }
}

/// Bulk appends, which the program receives one by one.
macro_rules! extenders {
    ($($name:ident $item:ident $command:ident $as:ident;)*) => {
        impl Twin {
            $(
                pub(super) fn $name(&mut self, items: &[$item]) -> Told {
                    self.builder.extend(items)?;
                    for item in items {
                        self.tell_program(Command::$command, 0, &(*item as $as).to_ne_bytes(), 0);
                    }
                    self.agree();
                    Ok(())
                }
            )*
        }
    };
}

extenders! {
    extend_i8 i8 Integer i64;
    extend_i16 i16 Integer i64;
    extend_i64 i64 Integer i64;
    extend_u8 u8 Integer i64;
    extend_u64 u64 Integer u64;
    extend_f32 f32 Real f64;
    extend_f64 f64 Real f64;
}

fn code(kind: &CommandErrorKind) -> u8 {
    let refusal = match kind {
        CommandErrorKind::Range(_) => Refusal::Range,
        CommandErrorKind::Full(_) => Refusal::Full,
        CommandErrorKind::Short { .. } => Refusal::Short,
        CommandErrorKind::Twice(_) => Refusal::Twice,
        CommandErrorKind::Missing(_) => Refusal::Missing,
        CommandErrorKind::NoField { .. }
        | CommandErrorKind::NoSuch { .. }
        | CommandErrorKind::Name { .. } => Refusal::Argument,
        CommandErrorKind::Length { .. } => Refusal::Length,
        CommandErrorKind::Wide => Refusal::Wide,
        CommandErrorKind::Placeless => Refusal::Placeless,
        CommandErrorKind::Ambiguous(_) => Refusal::Ambiguous,
        _ => Refusal::Unexpected,
    };
    refusal as u8
}
