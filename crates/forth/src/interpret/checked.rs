//! Tier 0: executes the external bytecode, one instruction at a time. It defines the semantics of the
//! language.

use crate::error::RunError;
use crate::interpret::flat::Ran;
use crate::isa::{FIRST_CALL, Op, Read, WIDE_LITERAL};
use crate::machine::Machine;
use crate::number::{Number, add_items};
use crate::state::{Frame, FrameKind, Loop, Status, Tier, Width};

/// An error and the instruction it belongs to.
type Failure = (RunError, usize);

/// The effect of an instruction on the interpreter loop.
enum Flow {
    Next,
    /// The next instruction begins a pass of a loop.
    Back,
    Paused,
}

impl<W: Width> Machine<W> {
    /// Runs until the end, a `pause` or an error, or (`single`) for one instruction.
    pub(crate) fn interpret(&mut self, inputs: &[&[u8]], single: bool) -> Result<Status, Failure> {
        let fast = !single && self.state.forced != Some(Tier::Checked);
        if fast && self.state.forced.is_none() {
            self.warm(inputs);
        }
        let mut ran = match self.state.parked {
            Some(parked) if fast => self.enter_parked(inputs, parked).unwrap_or(Ran::Not),
            _ => {
                self.unpark();
                Ran::Not
            }
        };
        loop {
            // Tier 0 has to execute the instruction at which flat code gave up.
            let mut may_enter = fast && ran != Ran::Left;
            match std::mem::replace(&mut ran, Ran::Not) {
                Ran::Paused => return Ok(Status::Paused),
                Ran::Done => return Ok(Status::Done),
                Ran::Left if self.state.is_interrupted() => {
                    return Err((RunError::Interrupted, self.state.pc));
                }
                Ran::Left | Ran::Not => {}
            }
            if self.state.pc >= self.state.end {
                if self.leave_ended(inputs)? {
                    return Ok(Status::Done);
                }
                if self.state.is_interrupted() && !single {
                    return Err((RunError::Interrupted, self.state.pc));
                }
                may_enter = fast;
            }
            if may_enter {
                ran = self.enter_flat(inputs);
                if ran != Ran::Not {
                    continue;
                }
            }
            let at = self.state.pc;
            let flow = self.instruction(inputs).map_err(|error| (error, at))?;
            self.state.counters.instructions += 1;
            if single || matches!(flow, Flow::Paused) {
                self.leave_finished();
                return Ok(if self.is_done() { Status::Done } else { Status::Paused });
            }
            if matches!(flow, Flow::Back) && self.state.is_interrupted() {
                return Err((RunError::Interrupted, self.state.pc));
            }
        }
    }

    /// Pops the frame of the host if its segment is at its end, so that no run is left to resume.
    pub(crate) fn leave_finished(&mut self) {
        let ended = self.state.pc >= self.state.end;
        if let Some(frame) = self.state.frames.pop_if(|frame| ended && frame.kind == FrameKind::Host) {
            (self.state.pc, self.state.end) = (frame.pc, frame.end);
        }
    }

    /// Leaves all bodies that are at their end. Returns whether the run is at its end.
    #[inline]
    pub(crate) fn leave_ended(&mut self, inputs: &[&[u8]]) -> Result<bool, Failure> {
        while self.state.pc >= self.state.end {
            // Only the end of a `do` loop can fail; its instruction has two numbers.
            if self.leave(inputs).map_err(|error| (error, self.state.pc.saturating_sub(2)))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves the innermost body. Returns whether the run is at its end.
    fn leave(&mut self, inputs: &[&[u8]]) -> Result<bool, RunError> {
        let Some(frame) = self.state.frames.pop() else { return Ok(true) };
        (self.state.pc, self.state.end) = (frame.pc, frame.end);
        match frame.kind {
            FrameKind::Host => return Ok(true),
            FrameKind::Word | FrameKind::Body => {}
            FrameKind::Loop => self.advance(1, inputs, FrameKind::Loop)?,
            FrameKind::StepLoop => {
                let Some(step) = self.state.stack.pop() else { return Err(RunError::StackUnderflow) };
                self.advance(step, inputs, FrameKind::StepLoop)?;
            }
        }
        Ok(false)
    }

    fn advance(&mut self, step: i64, inputs: &[&[u8]], kind: FrameKind) -> Result<(), RunError> {
        if let Some(top) = self.state.loops.last_mut() {
            top.index = top.index.wrapping_add(step);
        }
        self.turn(inputs, kind)
    }

    /// Tests the innermost `do` loop and enters its body or drops it.
    fn turn(&mut self, inputs: &[&[u8]], kind: FrameKind) -> Result<(), RunError> {
        let Some(&Loop { index, stop, body }) = self.state.loops.last() else { return Ok(()) };
        if index < stop && kind == FrameKind::Loop && self.state.forced != Some(Tier::Checked) {
            self.run_plan(body, inputs);
        }
        if let Some(top) = self.state.loops.last().filter(|top| top.index < top.stop) {
            let body = top.body;
            self.enter(body, kind)?;
            self.state.counters.instructions += 1;
            Ok(())
        } else {
            self.state.loops.pop();
            Ok(())
        }
    }

    #[inline]
    fn enter(&mut self, segment: usize, kind: FrameKind) -> Result<(), RunError> {
        if self.state.frames.len() >= self.state.limits.recursion {
            return Err(RunError::RecursionDepthExceeded);
        }
        self.state.frames.push(Frame {
            kind,
            pc: self.state.pc,
            end: self.state.end,
            loops: self.state.loops.len(),
        });
        (self.state.pc, self.state.end) = self.compiled.segment(segment);
        Ok(())
    }

    fn enter_body(&mut self, call: i32) -> Result<(), RunError> {
        self.enter((call - FIRST_CALL) as usize, FrameKind::Body)?;
        self.state.counters.instructions += 1;
        Ok(())
    }

    fn instruction(&mut self, inputs: &[&[u8]]) -> Result<Flow, RunError> {
        let at = self.state.pc;
        let code = self.compiled.bytecode.code[at];
        let Some(op) = Op::from_code(code) else {
            if code < 0 {
                return self.read_instruction(inputs, at).map(|()| Flow::Next);
            }
            self.state.pc = at + 1;
            let segment = (code - FIRST_CALL) as usize;
            let kind = if self.is_word(segment) { FrameKind::Word } else { FrameKind::Body };
            return self.enter(segment, kind).map(|()| Flow::Next);
        };
        // The position is after the instruction, whatever its outcome.
        self.state.pc = at + 1 + op.operands();
        let depth = self.state.stack.len();
        if depth < op.pops() {
            return Err(RunError::StackUnderflow);
        }
        if depth - op.pops() + op.pushes() > self.state.limits.stack && !matches!(op, Op::Enum | Op::EnumOnly)
        {
            return Err(RunError::StackOverflow);
        }
        self.op(op, at, inputs)
    }

    fn is_word(&self, segment: usize) -> bool {
        self.compiled.ir.words.binary_search_by_key(&segment, |word| word.body.segment as usize).is_ok()
    }

    fn read_instruction(&mut self, inputs: &[&[u8]], at: usize) -> Result<(), RunError> {
        let code = &self.compiled.bytecode.code[at..self.state.end];
        let Some((read, length)) = Read::decode(code) else {
            return self.unlike_awkward(at);
        };
        self.state.pc = at + length;
        self.read(read, inputs[read.input as usize])?;
        self.state.counters.reads += 1;
        self.state.counters.writes += u64::from(read.output.is_some());
        Ok(())
    }

    /// Executes an instruction that Awkward Array's machine does not have.
    fn unlike_awkward(&mut self, at: usize) -> Result<(), RunError> {
        let code = &self.compiled.bytecode.code[at..self.state.end];
        if let [WIDE_LITERAL, low, high, ..] = *code {
            self.state.pc = at + 3;
            return self.push(i64::from(high) << 32 | i64::from(low as u32));
        }
        unreachable!("the compiler writes only well-formed instructions");
    }

    fn operand(&self, at: usize, number: usize) -> i32 {
        self.compiled.bytecode.code[at + 1 + number]
    }

    /// Pops an item; the height of the stack was checked before.
    #[inline]
    fn take(&mut self) -> i64 {
        self.state.stack.pop().unwrap_or(0)
    }

    #[inline]
    fn put(&mut self, value: i64) {
        self.state.stack.push(W::wrap(value));
    }

    fn unary(&mut self, f: impl FnOnce(i64) -> i64) {
        let a = self.take();
        self.put(f(a));
    }

    fn binary(&mut self, f: impl FnOnce(i64, i64) -> i64) {
        let b = self.take();
        let a = self.take();
        self.put(f(a, b));
    }

    fn compare(&mut self, f: impl FnOnce(&i64, &i64) -> bool) {
        self.binary(|a, b| -i64::from(f(&a, &b)));
    }

    fn index(&mut self, from_top: usize) {
        let index = self.state.loops.len().checked_sub(from_top).map_or(0, |at| self.state.loops[at].index);
        self.put(index);
    }

    fn op(&mut self, op: Op, at: usize, inputs: &[&[u8]]) -> Result<Flow, RunError> {
        match op {
            Op::Literal => self.put(i64::from(self.operand(at, 0))),
            Op::Halt => {
                // Unlike a failing instruction, `halt` did its work and is counted.
                self.state.counters.instructions += 1;
                return Err(RunError::UserHalt(self.state.stack.last().copied()));
            }
            Op::Pause => return Ok(Flow::Paused),
            Op::If => {
                // The call of the body is the next instruction.
                if self.take() != 0 {
                    self.state.pc = at + 1;
                }
            }
            Op::IfElse => {
                // Likewise, but only the call after `else` is an instruction of its own.
                if self.take() == 0 {
                    self.state.pc = at + 2;
                } else {
                    self.enter_body(self.operand(at, 0))?;
                }
            }
            Op::CaseTable => {
                let (first, default) = (self.operand(at, 0), self.operand(at, 1));
                let selector = self.state.stack[self.state.stack.len() - 1];
                if selector >= 0 && selector < i64::from(default - first) {
                    self.take();
                    self.enter_body(first + selector as i32)?;
                } else {
                    self.enter_body(default)?;
                }
            }
            Op::Do | Op::DoStep => {
                let index = self.take();
                let stop = self.take();
                if self.state.loops.len() >= self.state.limits.recursion {
                    return Err(RunError::RecursionDepthExceeded);
                }
                let body = (self.operand(at, 0) - FIRST_CALL) as usize;
                self.state.loops.push(Loop { index, stop, body });
                let turned =
                    self.turn(inputs, if op == Op::Do { FrameKind::Loop } else { FrameKind::StepLoop });
                // If the body is nested too deeply, its call is the failing instruction.
                self.state.counters.instructions += u64::from(turned.is_err());
                turned?;
            }
            Op::Again => {
                self.state.pc = at - 1;
                return Ok(Flow::Back);
            }
            Op::Until => {
                if self.take() == 0 {
                    self.state.pc = at - 1;
                    return Ok(Flow::Back);
                }
            }
            Op::While => {
                if self.take() != 0 {
                    let after = self.state.pc;
                    self.state.pc = at - 1;
                    self.enter_body(self.operand(at, 0)).inspect_err(|_| self.state.pc = after)?;
                    return Ok(Flow::Back);
                }
            }
            Op::Exit => {
                while let Some(frame) = self.state.frames.last().copied() {
                    if matches!(frame.kind, FrameKind::Word | FrameKind::Host) {
                        self.state.loops.truncate(frame.loops);
                        break;
                    }
                    self.state.frames.pop();
                }
                self.state.pc = self.state.end;
            }
            Op::Put => {
                let slot = self.operand(at, 0) as usize;
                self.state.variables[slot] = self.take();
            }
            Op::Increment => {
                let value = self.take();
                let slot = &mut self.state.variables[self.compiled.bytecode.code[at + 1] as usize];
                *slot = W::wrap(slot.wrapping_add(value));
            }
            Op::Fetch => self.put(self.state.variables[self.operand(at, 0) as usize]),
            Op::Enum | Op::EnumOnly => self.enumeration(op, at, inputs)?,
            Op::Peek | Op::LenInput | Op::Position | Op::End | Op::Seek | Op::Skip | Op::SkipSpace => {
                let index = self.operand(at, 0) as usize;
                self.input_op(op, index, inputs[index])?;
            }
            Op::Write | Op::WriteAdd | Op::WriteDup | Op::LenOutput | Op::Rewind => {
                self.output_op(op, self.operand(at, 0) as usize)?;
            }
            Op::String => {
                let string = self.operand(at, 0);
                let length = self.compiled.strings()[string as usize].len();
                self.put(i64::from(string));
                self.put(length as i64);
            }
            Op::PrintString => {
                let text = self.compiled.strings()[self.operand(at, 0) as usize].clone();
                self.print(text.split('\0').next().unwrap_or_default());
            }
            Op::Print => {
                let value = self.take();
                self.print(&format!("{value} "));
            }
            Op::PrintNewline => self.print("\n"),
            Op::PrintStack => {
                let items: String = self.state.stack.iter().map(|item| format!("{item} ")).collect();
                self.print(&format!("<{}> {items}<- top ", self.state.stack.len()));
            }
            Op::IndexI => self.index(1),
            Op::IndexJ => self.index(2),
            Op::IndexK => self.index(3),
            Op::Dup => {
                let a = self.take();
                self.state.stack.extend([a, a]);
            }
            Op::Drop => {
                self.take();
            }
            Op::Swap => {
                let (b, a) = (self.take(), self.take());
                self.state.stack.extend([b, a]);
            }
            Op::Over => {
                let (b, a) = (self.take(), self.take());
                self.state.stack.extend([a, b, a]);
            }
            Op::Rot => {
                let (c, b, a) = (self.take(), self.take(), self.take());
                self.state.stack.extend([b, c, a]);
            }
            Op::Nip => self.binary(|_, b| b),
            Op::Tuck => {
                let (b, a) = (self.take(), self.take());
                self.state.stack.extend([b, a, b]);
            }
            Op::Add => self.binary(i64::wrapping_add),
            Op::Sub => self.binary(i64::wrapping_sub),
            Op::Mul => self.binary(i64::wrapping_mul),
            Op::Div | Op::Mod | Op::DivMod => self.divide(op)?,
            Op::Negate => self.unary(i64::wrapping_neg),
            Op::AddOne => self.unary(|a| a.wrapping_add(1)),
            Op::SubOne => self.unary(|a| a.wrapping_sub(1)),
            Op::Abs => self.unary(i64::wrapping_abs),
            Op::Min => self.binary(i64::min),
            Op::Max => self.binary(i64::max),
            Op::Eq => self.compare(i64::eq),
            Op::Ne => self.compare(i64::ne),
            Op::Gt => self.compare(i64::gt),
            Op::Ge => self.compare(i64::ge),
            Op::Lt => self.compare(i64::lt),
            Op::Le => self.compare(i64::le),
            Op::EqZero => self.unary(|a| -i64::from(a == 0)),
            Op::Invert => self.unary(|a| !a),
            Op::And => self.binary(|a, b| a & b),
            Op::Or => self.binary(|a, b| a | b),
            Op::Xor => self.binary(|a, b| a ^ b),
            Op::ShiftLeft => self.binary(|a, n| a.wrapping_shl(n as u32 % W::BITS)),
            Op::ShiftRight => self.binary(|a, n| a >> (n as u32 % W::BITS)),
            Op::False => self.put(0),
            Op::True => self.put(-1),
        }
        Ok(Flow::Next)
    }

    fn divide(&mut self, op: Op) -> Result<(), RunError> {
        let b = self.take();
        if b == 0 {
            if op == Op::DivMod {
                self.put(b);
            }
            return Err(RunError::DivisionByZero);
        }
        let a = self.take();
        // Floor division; MIN / -1 wraps to MIN with remainder 0.
        let (mut quotient, mut rest) = (a.wrapping_div(b), a.wrapping_rem(b));
        if rest != 0 && (rest < 0) != (b < 0) {
            quotient -= 1;
            rest += b;
        }
        if op != Op::Div {
            self.put(rest);
        }
        if op != Op::Mod {
            self.put(quotient);
        }
        Ok(())
    }

    fn enumeration(&mut self, op: Op, at: usize, inputs: &[&[u8]]) -> Result<(), RunError> {
        let input = self.operand(at, 0) as usize;
        let strings = self.operand(at, 1) as usize..self.operand(at, 2) as usize;
        let strings = &self.compiled.strings()[strings];
        let number = match super::text::first_of(strings, inputs[input], self.state.positions[input]) {
            Some((number, after)) => {
                self.state.positions[input] = after;
                number
            }
            None if op == Op::EnumOnly => return Err(RunError::EnumerationMissing),
            None => -1,
        };
        self.push(number)
    }

    fn input_op(&mut self, op: Op, index: usize, input: &[u8]) -> Result<(), RunError> {
        let position = self.state.positions[index];
        match op {
            Op::Peek => {
                let distance = self.take();
                let at = usize::try_from(distance).ok().and_then(|distance| position.checked_add(distance));
                let byte = at.and_then(|at| input.get(at)).ok_or(RunError::ReadBeyond)?;
                self.put(i64::from(*byte));
            }
            Op::LenInput => self.put(input.len() as i64),
            Op::Position => self.put(position as i64),
            Op::End => self.put(-i64::from(position == input.len())),
            Op::Seek => {
                let target = usize::try_from(self.take()).ok().filter(|&to| to <= input.len());
                self.state.positions[index] = target.ok_or(RunError::SeekBeyond)?;
            }
            Op::Skip => {
                let target = (position as i64).checked_add(self.take());
                let target = target.and_then(|to| usize::try_from(to).ok()).filter(|&to| to <= input.len());
                self.state.positions[index] = target.ok_or(RunError::SkipBeyond)?;
            }
            _ => self.state.positions[index] = super::text::skip_space(input, position),
        }
        Ok(())
    }

    fn output_op(&mut self, op: Op, index: usize) -> Result<(), RunError> {
        let dtype = self.state.outputs.list[index].dtype();
        let size = dtype.size();
        match op {
            Op::Write | Op::WriteAdd => {
                let mut item = Number::Signed(self.take()).to_item(dtype);
                self.state.outputs.reserve(index, size)?;
                let output = &mut self.state.outputs.list[index];
                if op == Op::WriteAdd {
                    item = add_items(dtype, output.last(), item);
                }
                output.append_item(item);
                self.state.counters.writes += 1;
            }
            Op::WriteDup => {
                let times = self.take();
                if self.state.outputs.list[index].is_empty() {
                    return Err(RunError::RewindBeyond);
                }
                let times = usize::try_from(times).unwrap_or(0);
                let bytes = times.checked_mul(size).ok_or(RunError::OutOfMemory)?;
                self.state.outputs.reserve(index, bytes)?;
                self.state.outputs.list[index].append_last(times);
                self.state.counters.writes += 1;
            }
            Op::LenOutput => {
                let length = self.state.outputs.list[index].len();
                self.put(length as i64);
            }
            _ => {
                let back = self.take();
                let output = &mut self.state.outputs.list[index];
                let length = usize::try_from(back).ok().and_then(|back| output.len().checked_sub(back));
                output.rewind_to(length.ok_or(RunError::RewindBeyond)?);
            }
        }
        Ok(())
    }

    fn print(&mut self, text: &str) {
        if let Some(printer) = &mut self.state.printer {
            printer(text);
        }
    }
}
