//! Conversion between the canonical state and that of flat code.

use super::activation::Stop;
use super::program::{FlatCode, Start};
use super::run::run;
use crate::compiled::Compiled;
use crate::lower::ir::{Code, Operand, PointId, Reg, Scope};
use crate::machine::Machine;
use crate::state::{Frame, FrameKind, Loop, Parked, Width};

/// The outcome of a run of flat code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// The position has no entry, or its requirements are not met.
    Not,
    /// The state is canonical, and tier 0 continues with the next instruction.
    Left,
    Paused,
    /// A `pause` at the very end.
    Done,
}

impl<W: Width> Machine<W> {
    /// Runs flat code, if it has an entry at the next instruction.
    #[inline]
    pub(crate) fn enter_flat(&mut self, inputs: &[&[u8]]) -> Ran {
        // SAFETY: the machine is borrowed exclusively, and keeps its program.
        let compiled: &Compiled = unsafe { &*std::sync::Arc::as_ptr(&self.compiled) };
        let flat = compiled.flat(self.variant());
        let (first, last) = (flat.at[self.state.pc], flat.at[self.state.pc + 1]);
        if first == last {
            return Ran::Not;
        }
        self.enter_one_of(inputs, compiled, flat, first..last)
    }

    #[inline(never)]
    fn enter_one_of(
        &mut self,
        inputs: &[&[u8]],
        compiled: &Compiled,
        flat: &FlatCode,
        starts: std::ops::Range<u32>,
    ) -> Ran {
        let code = compiled.code(self.variant());
        let jit = self.machine_code(compiled);
        for number in starts {
            if jit.is_some_and(|jit| !jit.has_entry(number as usize)) {
                continue;
            }
            let start = flat.starts[number as usize];
            let scope = code.scope_of(PointId(start.point));
            if !self.fits(start, scope) {
                continue;
            }
            self.registers_for(start);
            let (frames, loops) =
                (self.state.frames.len() - scope.frames.len(), self.state.loops.len() - scope.loops.len());
            for (shape, open) in scope.loops.iter().zip(&self.state.loops[loops..]) {
                self.state.registers[shape.index.0 as usize] = open.index;
                self.state.registers[shape.stop.0 as usize] = open.stop;
            }
            self.state.frames.truncate(frames);
            self.state.loops.truncate(loops);
            self.load(start);
            // SAFETY: the code is that of the program; inputs and outputs were checked before the run began.
            return unsafe {
                match jit {
                    Some(jit) => self.run_jit(inputs, code, flat, jit, number as usize),
                    None => self.run_flat(inputs, compiled, code, flat, start.to),
                }
            };
        }
        Ran::Not
    }

    /// Whether the state meets the assumptions of the code at a start.
    fn fits(&self, start: Start, scope: &Scope) -> bool {
        let Some(frames) =
            self.state.frames.len().checked_sub(scope.frames.len()).filter(|&frames| frames > 0)
        else {
            return false;
        };
        let Some(loops) = self.state.loops.len().checked_sub(scope.loops.len()) else { return false };
        let same = |shape: &crate::lower::ir::FrameShape, frame: &Frame| {
            shape.kind == frame.kind
                && shape.pc as usize == frame.pc
                && shape.end as usize == frame.end
                && loops + shape.loops as usize == frame.loops
        };
        self.state.frames[frames - 1].loops == loops
            && scope.frames.iter().zip(&self.state.frames[frames..]).all(|(shape, frame)| same(shape, frame))
            && scope
                .loops
                .iter()
                .zip(&self.state.loops[loops..])
                .all(|(shape, open)| shape.body as usize == open.body)
            && self.state.end == scope.end as usize
            && frames + start.height.frames as usize <= self.state.limits.recursion
            && loops + start.height.loops as usize <= self.state.limits.recursion
            && self.has_slots(start)
    }

    /// Whether the stack has the slots of a start, and space below the limit for the code.
    #[inline(always)]
    fn has_slots(&self, start: Start) -> bool {
        match self.state.stack.len().checked_sub(start.slots as usize) {
            Some(base) => base + start.height.stack as usize <= self.state.limits.stack,
            None => false,
        }
    }

    #[inline(always)]
    fn registers_for(&mut self, start: Start) {
        if self.state.registers.len() < start.registers as usize {
            self.state.registers.resize(start.registers as usize, 0);
        }
    }

    /// Moves the slots of a start from the stack to their home registers.
    #[inline(always)]
    fn load(&mut self, start: Start) {
        let base = self.state.stack.len() - start.slots as usize;
        for (register, slot) in self.state.registers.iter_mut().zip(&self.state.stack[base..]) {
            *register = *slot;
        }
        self.state.stack.truncate(base);
    }

    /// Continues at the position of a parked machine. None: it cannot, and the state is canonical now.
    #[inline]
    pub(crate) fn enter_parked(&mut self, inputs: &[&[u8]], parked: Parked) -> Option<Ran> {
        // SAFETY: the machine is borrowed exclusively, and keeps its program.
        let compiled: &Compiled = unsafe { &*std::sync::Arc::as_ptr(&self.compiled) };
        let (code, flat) = (compiled.code(self.variant()), compiled.flat(self.variant()));
        let start = flat.starts[parked.start as usize];
        if !self.has_slots(start) {
            self.unpark();
            return None;
        }
        self.state.parked = None;
        self.load(start);
        // SAFETY: the code is that of the program; inputs and outputs were checked before the run began, and
        // the registers are unchanged since the pause.
        Some(unsafe {
            match self.machine_code(compiled).filter(|jit| jit.has_entry(parked.start as usize)) {
                Some(jit) => self.run_jit(inputs, code, flat, jit, parked.start as usize),
                None => self.run_flat(inputs, compiled, code, flat, start.to),
            }
        })
    }

    /// # Safety
    ///
    /// The requirements of `run`, with the registers of the start loaded.
    #[inline(always)]
    unsafe fn run_flat(
        &mut self,
        inputs: &[&[u8]],
        compiled: &Compiled,
        code: &Code,
        flat: &FlatCode,
        to: u32,
    ) -> Ran {
        self.state.native = true;
        // SAFETY: guaranteed by the caller.
        let place = unsafe {
            run::<W>(&mut self.state, (&compiled.plans, compiled.strings()), (code, flat), inputs, to)
        };
        match place.stop {
            Stop::Paused { point, entry } if self.state.activations.is_empty() => {
                self.pause_at(code, flat, point, entry)
            }
            Stop::Paused { point, .. } => {
                self.write(code, flat, point, place.window);
                Ran::Paused
            }
            Stop::At(point) => {
                self.write(code, flat, point, place.window);
                Ran::Left
            }
        }
    }

    /// Pauses at a point, from which an entry continues, with its registers in place.
    #[inline(always)]
    pub(super) fn pause_at(&mut self, code: &Code, flat: &FlatCode, point: u32, entry: u32) -> Ran {
        let at = code.point(PointId(point));
        for operand in &at.stack {
            let value = self.value(*operand, 0);
            self.state.stack.push(value);
        }
        let scope = code.scope(at.scope);
        let host = self.state.frames.last().is_some_and(|frame| frame.kind == FrameKind::Host);
        if at.pc >= scope.end && scope.frames.is_empty() && host {
            (self.state.pc, self.state.end) = (at.pc as usize, scope.end as usize);
            self.leave_finished();
            return if self.is_done() { Ran::Done } else { Ran::Paused };
        }
        if (entry as usize) < flat.starts.len() {
            self.state.parked = Some(Parked { start: entry });
        } else {
            self.restore(code, scope, 0);
            (self.state.pc, self.state.end) = (at.pc as usize, scope.end as usize);
        }
        Ran::Paused
    }

    /// Writes the canonical state at a point of the innermost activation.
    fn write(&mut self, code: &Code, flat: &FlatCode, point: u32, window: usize) {
        for at in 0..self.state.activations.len() {
            let activation = self.state.activations[at];
            let during = PointId(flat.calls[activation.call()].during);
            self.write_one(code, during, activation.window());
        }
        self.state.activations.clear();
        self.write_one(code, PointId(point), window);
    }

    pub(super) fn write_one(&mut self, code: &Code, point: PointId, window: usize) {
        let point = code.point(point);
        let scope = code.scope(point.scope);
        self.restore(code, scope, window);
        for operand in &point.stack {
            let value = self.value(*operand, window);
            self.state.stack.push(value);
        }
        (self.state.pc, self.state.end) = (point.pc as usize, scope.end as usize);
    }

    fn value(&self, operand: Operand, window: usize) -> i64 {
        match operand {
            Operand::Reg(reg) => self.state.registers[window + reg.0 as usize],
            Operand::Const(value) => value,
        }
    }

    /// Pushes the frames and loops of a scope.
    fn restore(&mut self, _code: &Code, scope: &Scope, window: usize) {
        let base = self.state.loops.len();
        for shape in &scope.loops {
            self.state.loops.push(Loop {
                index: self.state.registers[window + shape.index.0 as usize],
                stop: self.state.registers[window + shape.stop.0 as usize],
                body: shape.body as usize,
            });
        }
        for shape in &scope.frames {
            self.state.frames.push(Frame {
                kind: shape.kind,
                pc: shape.pc as usize,
                end: shape.end as usize,
                loops: base + shape.loops as usize,
            });
        }
    }

    /// Writes the canonical state of a parked machine.
    pub(crate) fn unpark(&mut self) {
        let Some(parked) = self.state.parked.take() else { return };
        let compiled = std::sync::Arc::clone(&self.compiled);
        let (code, flat) = (compiled.code(self.variant()), compiled.flat(self.variant()));
        let point = code.point(PointId(flat.starts[parked.start as usize].point));
        let scope = code.scope(point.scope);
        self.restore(code, scope, 0);
        (self.state.pc, self.state.end) = (point.pc as usize, scope.end as usize);
    }

    /// Returns the position of the next instruction and the end of its segment, also of a parked machine.
    pub(crate) fn place(&self) -> (usize, usize) {
        match self.parked_scope() {
            Some((pc, scope)) => (pc, scope.end as usize),
            None => (self.state.pc, self.state.end),
        }
    }

    /// Returns the number of frames above that of the host, also of a parked machine.
    pub(crate) fn depth(&self) -> Option<usize> {
        let host = self.state.frames.iter().rposition(|frame| frame.kind == FrameKind::Host)?;
        let unwritten = self.parked_scope().map_or(0, |(_, scope)| scope.frames.len());
        Some(self.state.frames.len() + unwritten - host)
    }

    /// Returns the index of the outermost loop, also of a parked machine.
    pub(crate) fn outermost(&self) -> Option<i64> {
        let unwritten = || {
            let (_, scope) = self.parked_scope()?;
            scope.loops.first().map(|shape| self.state.registers[shape.index.0 as usize])
        };
        self.state.loops.first().map(|outer| outer.index).or_else(unwritten)
    }

    /// Returns the frame of the running body, also of a parked machine.
    pub(crate) fn innermost(&self) -> Option<Frame> {
        let unwritten = self.parked_scope().and_then(|(_, scope)| scope.frames.last());
        match unwritten {
            Some(shape) => Some(Frame {
                kind: shape.kind,
                pc: shape.pc as usize,
                end: shape.end as usize,
                loops: self.state.loops.len() + shape.loops as usize,
            }),
            None => self.state.frames.last().copied(),
        }
    }

    /// Returns index and limit of every loop, also of a parked machine.
    pub(crate) fn running(&self) -> Vec<(i64, i64)> {
        let unwritten = self.parked_scope().map_or(&[][..], |(_, scope)| &scope.loops);
        let value = |reg: Reg| self.state.registers[reg.0 as usize];
        let written = self.state.loops.iter().map(|one| (one.index, one.stop));
        written.chain(unwritten.iter().map(|shape| (value(shape.index), value(shape.stop)))).collect()
    }

    fn parked_scope(&self) -> Option<(usize, &Scope)> {
        let start = self.state.parked?.start;
        let code = self.compiled.code(self.variant());
        let point = code.point(PointId(self.compiled.flat(self.variant()).starts[start as usize].point));
        Some((point.pc as usize, code.scope(point.scope)))
    }
}
