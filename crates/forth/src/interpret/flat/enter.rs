//! From canonical state to flat code and back.

use super::activation::Stop;
use super::code::{FlatCode, Start};
use super::run::run;
use crate::compiled::Compiled;
use crate::lower::ir::{Code, Operand, PointId, Reg, Scope};
use crate::machine::{Frame, FrameKind, Loop, Machine, Width};

/// A machine that waits in a `pause` of flat code: frames, loops and position follow from the entry, and are written only
/// when its state is read. Stack, variables, positions and outputs are canonical; indices of loops are in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked {
    start: u32,
}

/// What became of a run of flat code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// There is no entry here, or it does not fit.
    Not,
    /// The state is canonical and tier 0 goes on with the next instruction.
    Left,
    Paused,
    /// In a `pause` at the very end.
    Done,
}

impl<W: Width> Machine<W> {
    /// Goes on in flat code, if native code may begin at the next instruction.
    #[inline]
    pub(crate) fn enter_flat(&mut self, inputs: &[&[u8]]) -> Ran {
        // SAFETY: the machine is borrowed exclusively, and keeps its program.
        let compiled: &Compiled = unsafe { &*std::sync::Arc::as_ptr(&self.compiled) };
        let flat = compiled.flat(self.variant());
        let (first, last) = (flat.at[self.pc], flat.at[self.pc + 1]);
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
                (self.frames.len() - scope.frames.len(), self.loops.len() - scope.loops.len());
            for (shape, open) in scope.loops.iter().zip(&self.loops[loops..]) {
                self.registers[shape.index.0 as usize] = open.index;
                self.registers[shape.stop.0 as usize] = open.stop;
            }
            self.frames.truncate(frames);
            self.loops.truncate(loops);
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

    /// Whether the state is what the code at a start takes for granted.
    fn fits(&self, start: Start, scope: &Scope) -> bool {
        let Some(frames) = self.frames.len().checked_sub(scope.frames.len()).filter(|&frames| frames > 0)
        else {
            return false;
        };
        let Some(loops) = self.loops.len().checked_sub(scope.loops.len()) else { return false };
        let same = |shape: &crate::lower::ir::FrameShape, frame: &Frame| {
            shape.kind == frame.kind
                && shape.pc as usize == frame.pc
                && shape.end as usize == frame.end
                && loops + shape.loops as usize == frame.loops
        };
        self.frames[frames - 1].loops == loops
            && scope.frames.iter().zip(&self.frames[frames..]).all(|(shape, frame)| same(shape, frame))
            && scope
                .loops
                .iter()
                .zip(&self.loops[loops..])
                .all(|(shape, open)| shape.body as usize == open.body)
            && self.end == scope.end as usize
            && frames + start.height.frames as usize <= self.limits.recursion
            && loops + start.height.loops as usize <= self.limits.recursion
            && self.has_slots(start)
    }

    /// Whether the stack has what the code takes, and room for what it adds.
    #[inline(always)]
    fn has_slots(&self, start: Start) -> bool {
        match self.stack.len().checked_sub(start.slots as usize) {
            Some(base) => base + start.height.stack as usize <= self.limits.stack,
            None => false,
        }
    }

    #[inline(always)]
    fn registers_for(&mut self, start: Start) {
        if self.registers.len() < start.registers as usize {
            self.registers.resize(start.registers as usize, 0);
        }
    }

    /// The slots, into their homes.
    #[inline(always)]
    fn load(&mut self, start: Start) {
        let base = self.stack.len() - start.slots as usize;
        for (register, slot) in self.registers.iter_mut().zip(&self.stack[base..]) {
            *register = *slot;
        }
        self.stack.truncate(base);
    }

    /// Goes on where the machine was parked. None: it cannot, and the state is canonical now.
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
        self.parked = None;
        self.load(start);
        // SAFETY: as for any other entry; the registers are still there.
        Some(unsafe {
            match self.machine_code(compiled).filter(|jit| jit.has_entry(parked.start as usize)) {
                Some(jit) => self.run_jit(inputs, code, flat, jit, parked.start as usize),
                None => self.run_flat(inputs, compiled, code, flat, start.to),
            }
        })
    }

    /// # Safety
    ///
    /// As for `run`, with the registers of the start loaded.
    #[inline(always)]
    unsafe fn run_flat(
        &mut self,
        inputs: &[&[u8]],
        compiled: &Compiled,
        code: &Code,
        flat: &FlatCode,
        to: u32,
    ) -> Ran {
        self.native = true;
        // SAFETY: the caller's.
        let place = unsafe { run(self, compiled, (code, flat), inputs, to) };
        match place.stop {
            Stop::Paused { point, entry } if self.activations.is_empty() => {
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

    /// Waits at a point, behind which an entry begins. Its registers are there.
    #[inline(always)]
    pub(super) fn pause_at(&mut self, code: &Code, flat: &FlatCode, point: u32, entry: u32) -> Ran {
        let at = code.point(PointId(point));
        for operand in &at.stack {
            let value = self.value(*operand, 0);
            self.stack.push(value);
        }
        let scope = code.scope(at.scope);
        let host = self.frames.last().is_some_and(|frame| frame.kind == FrameKind::Host);
        if at.pc >= scope.end && scope.frames.is_empty() && host {
            (self.pc, self.end) = (at.pc as usize, scope.end as usize);
            self.leave_finished();
            return if self.is_done() { Ran::Done } else { Ran::Paused };
        }
        if (entry as usize) < flat.starts.len() {
            self.parked = Some(Parked { start: entry });
        } else {
            self.restore(code, scope, 0);
            (self.pc, self.end) = (at.pc as usize, scope.end as usize);
        }
        Ran::Paused
    }

    /// The canonical state at a point of the innermost activation.
    fn write(&mut self, code: &Code, flat: &FlatCode, point: u32, window: usize) {
        for at in 0..self.activations.len() {
            let activation = self.activations[at];
            let during = PointId(flat.calls[activation.call()].during);
            self.write_one(code, during, activation.window());
        }
        self.activations.clear();
        self.write_one(code, PointId(point), window);
    }

    pub(super) fn write_one(&mut self, code: &Code, point: PointId, window: usize) {
        let point = code.point(point);
        let scope = code.scope(point.scope);
        self.restore(code, scope, window);
        for operand in &point.stack {
            let value = self.value(*operand, window);
            self.stack.push(value);
        }
        (self.pc, self.end) = (point.pc as usize, scope.end as usize);
    }

    fn value(&self, operand: Operand, window: usize) -> i64 {
        match operand {
            Operand::Reg(reg) => self.registers[window + reg.0 as usize],
            Operand::Const(value) => value,
        }
    }

    /// Frames and loops of a scope above those there are.
    fn restore(&mut self, _code: &Code, scope: &Scope, window: usize) {
        let base = self.loops.len();
        for shape in &scope.loops {
            self.loops.push(Loop {
                index: self.registers[window + shape.index.0 as usize],
                stop: self.registers[window + shape.stop.0 as usize],
                body: shape.body as usize,
            });
        }
        for shape in &scope.frames {
            self.frames.push(Frame {
                kind: shape.kind,
                pc: shape.pc as usize,
                end: shape.end as usize,
                loops: base + shape.loops as usize,
            });
        }
    }

    /// Writes what a parked machine left unwritten.
    pub(crate) fn unpark(&mut self) {
        let Some(parked) = self.parked.take() else { return };
        let compiled = std::sync::Arc::clone(&self.compiled);
        let (code, flat) = (compiled.code(self.variant()), compiled.flat(self.variant()));
        let point = code.point(PointId(flat.starts[parked.start as usize].point));
        let scope = code.scope(point.scope);
        self.restore(code, scope, 0);
        (self.pc, self.end) = (point.pc as usize, scope.end as usize);
    }

    /// The next instruction and the end of its segment, written or not.
    pub(crate) fn place(&self) -> (usize, usize) {
        match self.parked_scope() {
            Some((pc, scope)) => (pc, scope.end as usize),
            None => (self.pc, self.end),
        }
    }

    /// Entries of the return stack, written or not, above that of the host.
    pub(crate) fn depth(&self) -> Option<usize> {
        let host = self.frames.iter().rposition(|frame| frame.kind == FrameKind::Host)?;
        let unwritten = self.parked_scope().map_or(0, |(_, scope)| scope.frames.len());
        Some(self.frames.len() + unwritten - host)
    }

    /// The index of the outermost loop, written or not.
    pub(crate) fn outermost(&self) -> Option<i64> {
        let unwritten = || {
            let (_, scope) = self.parked_scope()?;
            scope.loops.first().map(|shape| self.registers[shape.index.0 as usize])
        };
        self.loops.first().map(|outer| outer.index).or_else(unwritten)
    }

    /// The frame of the body that runs, written or not.
    pub(crate) fn innermost(&self) -> Option<Frame> {
        let unwritten = self.parked_scope().and_then(|(_, scope)| scope.frames.last());
        match unwritten {
            Some(shape) => Some(Frame {
                kind: shape.kind,
                pc: shape.pc as usize,
                end: shape.end as usize,
                loops: self.loops.len() + shape.loops as usize,
            }),
            None => self.frames.last().copied(),
        }
    }

    /// Index and limit of every loop, written or not.
    pub(crate) fn running(&self) -> Vec<(i64, i64)> {
        let unwritten = self.parked_scope().map_or(&[][..], |(_, scope)| &scope.loops);
        let value = |reg: Reg| self.registers[reg.0 as usize];
        let written = self.loops.iter().map(|one| (one.index, one.stop));
        written.chain(unwritten.iter().map(|shape| (value(shape.index), value(shape.stop)))).collect()
    }

    fn parked_scope(&self) -> Option<(usize, &Scope)> {
        let start = self.parked?.start;
        let code = self.compiled.code(self.variant());
        let point = code.point(PointId(self.compiled.flat(self.variant()).starts[start as usize].point));
        Some((point.pc as usize, code.scope(point.scope)))
    }
}
