//! The IR as text, for tests and debugging.

use std::fmt;

use super::ir::*;
use crate::isa::Read;
use crate::state::Height;

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reg(reg) => reg.fmt(f),
            Self::Const(value) => value.fmt(f),
        }
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

impl fmt::Display for PointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        })
    }
}

fn name(value: impl fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move { to, from } => write!(f, "{to} = {from}"),
            Self::Unary { op, to, a } => write!(f, "{to} = {} {a}", name(op)),
            Self::Binary { op: BinaryOp::Compare(relation), to, a, b } => {
                write!(f, "{to} = {a} {relation} {b}")
            }
            Self::Binary { op, to, a, b } => write!(f, "{to} = {} {a} {b}", name(op)),
            Self::Divide { quotient, rest, a, b, point } => {
                let shown = |reg: &Option<Reg>| reg.map_or_else(|| "_".to_owned(), |reg| reg.to_string());
                write!(f, "{} {} = divide {a} {b} {point}", shown(rest), shown(quotient))
            }
            Self::Advance { index, by } => write!(f, "advance {index} {by}"),
            Self::Fetch { to, variable } => write!(f, "{to} = fetch v{variable}"),
            Self::Store { variable, from } => write!(f, "store v{variable} {from}"),
            Self::Increment { variable, by } => write!(f, "increment v{variable} {by}"),
            Self::Length { to, input } => write!(f, "{to} = length in{input}"),
            Self::Position { to, input } => write!(f, "{to} = position in{input}"),
            Self::AtEnd { to, input } => write!(f, "{to} = at-end in{input}"),
            Self::Peek { to, input, distance, point } => {
                write!(f, "{to} = peek in{input} {distance} {point}")
            }
            Self::Seek { input, target, point } => write!(f, "seek in{input} {target} {point}"),
            Self::Skip { input, by, point } => write!(f, "skip in{input} {by} {point}"),
            Self::SkipSpace { input } => write!(f, "skip-space in{input}"),
            Self::Enum { to, input, first, end, only, point } => {
                let word = if *only { "enumonly" } else { "enum" };
                write!(f, "{to} = {word} in{input} {first}..{end} {point}")
            }
            Self::Require { input, bytes, point } => write!(f, "require in{input} {bytes} {point}"),
            Self::ReadStack { to, read, point } => {
                write!(f, "{to} = in{} {} {point}", read.input, Read { repeated: false, ..*read }.word())
            }
            Self::Pass { read, point, .. } => {
                write!(f, "pass in{} {} {point}", read.input, Read { repeated: false, ..*read }.word())
            }
            Self::ReadItem { read, point } => {
                let output = read.output.unwrap_or(u32::MAX);
                write!(f, "in{} {} out{output} {point}", read.input, Read { repeated: false, ..*read }.word())
            }
            Self::ReadMany { read, count, point } => {
                let output = read.output.unwrap_or(u32::MAX);
                write!(f, "in{} {} out{output} {count} {point}", read.input, read.word())
            }
            Self::Write { output, from, point } => write!(f, "write out{output} {from} {point}"),
            Self::WriteAdd { output, from, point } => write!(f, "write-add out{output} {from} {point}"),
            Self::Repeat { output, times, point } => write!(f, "repeat out{output} {times} {point}"),
            Self::LengthOf { to, output } => write!(f, "{to} = length out{output}"),
            Self::Rewind { output, by, point } => write!(f, "rewind out{output} {by} {point}"),
            Self::Poll { point } => write!(f, "poll {point}"),
            Self::Native { body, index, stop } => write!(f, "native {body} {index} {stop}"),
            Self::Call { function, args, results, point, during } => {
                write!(f, "{} = call f{} {} {point} {during}", list(results), function.0, list(args))
            }
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jump(to) => write!(f, "jump {to}"),
            Self::Branch { relation, a, b, then, otherwise } => {
                write!(f, "if {a} {relation} {b} {then} else {otherwise}")
            }
            Self::Switch { selector, targets, otherwise } => {
                write!(f, "switch {selector} {} else {otherwise}", list(targets))
            }
            Self::Return(point) => write!(f, "return {point}"),
            Self::Leave(point) => write!(f, "leave {point}"),
            Self::Pause(point) => write!(f, "pause {point}"),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pc {} scope {} [{}]", self.pc, self.scope.0, list(&self.stack))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "end {}", self.end)?;
        for frame in &self.frames {
            write!(f, ", {} {}..{} loops {}", name(frame.kind), frame.pc, frame.end, frame.loops)?;
        }
        for (at, one) in self.loops.iter().enumerate() {
            write!(f, ", loop {at}: {} {} body {}", one.index, one.stop, one.body)?;
        }
        Ok(())
    }
}

/// Functions, points and scopes, one line for each item.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, function) in self.functions.iter().enumerate() {
            let Height { stack, frames, loops } = function.height;
            writeln!(
                f,
                "f{id} {}: {} -- {}, registers {}, height {stack} {frames} {loops}{}",
                name(function.origin),
                function.params,
                function.results,
                function.registers,
                if function.recursive { ", recursive" } else { "" }
            )?;
            for (at, block) in function.blocks.iter().enumerate() {
                write!(f, "  b{at}:")?;
                for entry in &self.entries {
                    if (entry.function.0 as usize, entry.block.0 as usize) == (id, at) {
                        write!(f, " entry {}", entry.point)?;
                    }
                }
                writeln!(f)?;
                for inst in &block.code {
                    writeln!(f, "    {inst}")?;
                }
                writeln!(f, "    {}", block.end)?;
            }
        }
        for (id, point) in self.points.iter().enumerate() {
            writeln!(f, "@{id}: {point}")?;
        }
        for (id, scope) in self.scopes.iter().enumerate() {
            writeln!(f, "scope {id}: {scope}")?;
        }
        Ok(())
    }
}
