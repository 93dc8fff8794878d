//! Tier 2 with a code generator.

#[path = "context.rs"]
mod context;
#[path = "helpers.rs"]
mod helpers;
#[path = "host.rs"]
mod host;
#[path = "input.rs"]
mod input;
#[path = "item.rs"]
mod item;
#[path = "kept.rs"]
mod kept;
#[path = "leave.rs"]
mod leave;
#[path = "memory.rs"]
mod memory;
#[path = "pass.rs"]
mod pass;
#[path = "runs.rs"]
mod runs;
#[path = "spelled.rs"]
mod spelled;
#[path = "translate.rs"]
mod translate;
#[path = "values.rs"]
mod values;

use std::collections::HashMap;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::{FinalizedRelocTarget, ir::ExternalName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use self::context::{Context, HELPER_ARGUMENTS, MAX_RESULTS};
use self::helpers::Helpers;
use self::host::Host;
use self::memory::Executable;
use self::translate::live;
use self::translate::{Form, called_signature, entered_signature, targets, translate};
use super::{Bounds, Left, Refusal, Way, choice};
use crate::compile::ir::Ir;
use crate::interpret::fused::Plans;
use crate::isa::Read;
use crate::lower::ir::{BlockId, Code, End, FunctionId, Inst, PointId, Reg};
use crate::state::{Height, State};

/// Machine code for one program and width.
pub(crate) struct Jit {
    memory: Executable,
    /// Offset of the function of each entry, and the index among the function's entries; None if the entry
    /// has no machine code.
    entries: Vec<Option<(usize, u64)>>,
    /// Bounds on nested calls; None without calls.
    calls: Option<Bounds>,
    /// For the point of each `pause`, the entry after it; `u32::MAX` for other points.
    behind: Box<[u32]>,
    /// Parsers that machine code points to.
    #[expect(clippy::vec_box, dead_code, reason = "their addresses are in the code")]
    reads: Vec<Box<Read>>,
}

impl std::fmt::Debug for Jit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jit").field("bytes", &self.memory.len()).finish_non_exhaustive()
    }
}

/// Maximum number of instructions: compiling more takes a second or longer.
const LARGEST: usize = 200_000;

impl Jit {
    /// Whether this build has a code generator.
    pub(crate) const BUILT: bool = true;

    /// Compiles all functions.
    pub(crate) fn new(program: &Ir, plans: &Plans, code: &Code) -> Result<Self, Refusal> {
        let host = Host::shared()?;
        let start = forthwith_platform::Instant::now();
        let blocks = || code.functions.iter().flat_map(|function| &function.blocks);
        if blocks().map(|block| block.code.len() + 1).sum::<usize>() > LARGEST {
            return Err(Refusal::TooLarge);
        }
        let mut called: Vec<u32> = blocks()
            .flat_map(|block| &block.code)
            .filter_map(|inst| match inst {
                Inst::Call { function, .. } => Some(function.0),
                _ => None,
            })
            .collect();
        called.sort_unstable();
        called.dedup();
        let mut assembler = Assembler {
            program,
            plans,
            code,
            host,
            helpers: Helpers::new(code.bits),
            text: Vec::new(),
            calls: Vec::new(),
            callees: HashMap::new(),
            builder: FunctionBuilderContext::new(),
            context: cranelift_codegen::Context::new(),
        };
        let mut entries = vec![None; code.entries.len()];
        for at in 0..code.functions.len() {
            let wanted = wanted_entries(code, FunctionId(at as u32));
            if !wanted.is_empty() {
                let offset = assembler.function(FunctionId(at as u32), Form::Entered(&wanted))?;
                for (number, &entry) in wanted.iter().enumerate() {
                    entries[entry] = Some((offset, number as u64));
                }
            }
        }
        for function in called {
            let offset = assembler.function(FunctionId(function), Form::Called)?;
            assembler.callees.insert(function, offset);
        }
        assembler.link()?;
        let memory = Executable::new(&assembler.text).ok_or(Refusal::NoExecutableMemory)?;
        choice::learn(code, start.elapsed());
        Ok(Self {
            memory,
            entries,
            calls: bounds(code),
            behind: behind(code),
            reads: assembler.helpers.into_reads(),
        })
    }

    /// Returns the size of the machine code in bytes.
    pub(crate) fn size(&self) -> usize {
        self.memory.len()
    }

    /// Returns the index of the entry that continues after a pause at a point; `u32::MAX` if there is none.
    pub(crate) fn entry_behind(&self, point: u32) -> u32 {
        self.behind[point as usize]
    }

    /// Runs from an entry, whose registers are loaded, until machine code is left. The base is the present
    /// height of stack, frames and loops. Afterwards, the registers that are live at the point reached are in
    /// place. If it was left within calls, `records` holds the input of [`Self::activations`].
    ///
    /// # Safety
    ///
    /// The machine runs the program and has the width that this code was compiled for, `has_entry` holds, and
    /// the function's height fits above the base. There are as many inputs, outputs, positions and variables
    /// as the program declares, no position is beyond its input, and there are as many registers as the
    /// function uses.
    pub(crate) unsafe fn run(
        &self,
        state: &mut State,
        (plans, strings): (&Plans, &[String]),
        inputs: &[&[u8]],
        entry: usize,
    ) -> Left {
        let Some((offset, number)) = self.entries[entry] else {
            return Left { way: Way::GiveUp, point: 0, nested: false };
        };
        let mut budget = 0;
        state.records.clear();
        if let Some(bounds) = self.calls {
            budget = bounds.budget(state.limits, state.stack.len(), state.frames.len(), state.loops.len());
            state.records.reserve((budget as usize + 1) * bounds.record);
        }
        let start = state.records.as_mut_ptr();
        let mut context = Context {
            registers: state.registers.as_mut_ptr(),
            outputs: state.outputs.list.as_mut_ptr(),
            variables: state.variables.as_mut_ptr(),
            positions: state.positions.as_mut_ptr(),
            interrupt: state.interrupt.as_deref().map_or(std::ptr::null(), std::ptr::from_ref),
            // Slices are a start and a length, as was checked before compiling.
            inputs: inputs.as_ptr().cast(),
            budget,
            records: start,
            results: [0; MAX_RESULTS],
            helper: 0,
            arguments: [0; HELPER_ARGUMENTS],
            done: 0,
            found: [0; 2],
            state: std::ptr::from_mut(state),
            plans,
            strings,
            slices: inputs.as_ptr().cast(),
            slice_count: inputs.len(),
        };
        // SAFETY: the function of the entry begins at this offset, and was compiled with this signature.
        let status = unsafe {
            let code: extern "C" fn(*mut Context, u64) -> i64 =
                std::mem::transmute(self.memory.address(offset));
            code(&mut context, number)
        };
        // SAFETY: records were written consecutively from the start, at most as many as the budget allows.
        unsafe { state.records.set_len(context.records.offset_from(start) as usize) };
        let way = match status >> 32 {
            2 => Way::Leave,
            3 => Way::Pause,
            4 => Way::Return,
            _ => Way::GiveUp,
        };
        Left { way, point: status as u32, nested: !state.records.is_empty() }
    }

    /// Returns the activations of a record, outermost first: the point of each, and the live registers with
    /// their values.
    pub(crate) fn activations(code: &Code, records: &[i64]) -> Vec<(PointId, Vec<(Reg, i64)>)> {
        let mut all = Vec::new();
        let mut rest = records;
        while let Some((&number, values)) = rest.split_first() {
            let point = PointId(number as u32);
            let registers = live(code, point);
            let (values, after) = values.split_at(registers.len());
            all.push((point, registers.into_iter().zip(values.iter().copied()).collect()));
            rest = after;
        }
        all.reverse();
        all
    }

    /// Whether machine code can be entered at an entry.
    pub(crate) fn has_entry(&self, entry: usize) -> bool {
        self.entries[entry].is_some()
    }
}

/// Returns the entry after each pause, by point.
fn behind(code: &Code) -> Box<[u32]> {
    let mut behind = vec![u32::MAX; code.points.len()];
    for block in code.functions.iter().flat_map(|function| &function.blocks) {
        let End::Pause(id) = block.end else { continue };
        let point = code.point(id);
        let first = code.entries.partition_point(|entry| code.point(entry.point).pc < point.pc);
        let fits = |entry: &usize| {
            let at = code.point(code.entries[*entry].point);
            at.pc == point.pc && at.scope == point.scope && at.stack.len() == point.stack.len()
        };
        if let Some(entry) = (first..code.entries.len()).find(fits) {
            behind[id.0 as usize] = entry as u32;
        }
    }
    behind.into()
}

/// Returns upper bounds on the stack that calls take, each and all together; None without calls.
fn bounds(code: &Code) -> Option<Bounds> {
    let max = |a: Height, b: Height| Height {
        stack: a.stack.max(b.stack),
        frames: a.frames.max(b.frames),
        loops: a.loops.max(b.loops),
    };
    let mut above: Option<Height> = None;
    for inst in code.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.code) {
        if let Inst::Call { during, .. } = inst {
            let scope = code.scope_of(*during);
            let one = Height {
                stack: code.point(*during).stack.len() as u32,
                frames: scope.frames.len() as u32,
                loops: scope.loops.len() as u32,
            };
            above = Some(max(above.unwrap_or_default(), one));
        }
    }
    let above = above?;
    let height = code.functions.iter().fold(Height::default(), |all, function| max(all, function.height));
    let points = (0..code.points.len()).map(|point| live(code, PointId(point as u32)).len() + 1);
    let registers = code.functions.iter().map(|function| function.registers).max().unwrap_or(0);
    Some(Bounds { above, height, record: points.max().unwrap_or(1), frame: 512 + 16 * u64::from(registers) })
}

struct Assembler<'a> {
    program: &'a Ir,
    plans: &'a Plans,
    code: &'a Code,
    host: &'a Host,
    helpers: Helpers,
    text: Vec<u8>,
    /// Calls to patch: place, function, addend and kind.
    calls: Vec<(usize, u32, i64, Reloc)>,
    callees: HashMap<u32, usize>,
    builder: FunctionBuilderContext,
    context: cranelift_codegen::Context,
}

impl Assembler<'_> {
    /// Compiles and appends a function, and returns its offset.
    fn function(&mut self, id: FunctionId, form: Form<'_>) -> Result<usize, Refusal> {
        let signature = match form {
            Form::Entered(_) => entered_signature(self.host),
            Form::Called => called_signature(self.code.function(id)),
        };
        self.context.clear();
        self.context.func = Function::with_name_signature(UserFuncName::user(0, id.0), signature);
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        translate(builder, (self.program, self.plans), self.code, self.host, &self.helpers, id, form);
        self.context.compile(self.host.isa.as_ref(), &mut ControlPlane::default()).map_err(|error| {
            if cfg!(test) {
                panic!("{error:?}\n{}", error.func.display());
            }
            Refusal::NotSupported
        })?;
        let Some(compiled) = self.context.compiled_code() else { return Err(Refusal::NotSupported) };
        let start = self.text.len().next_multiple_of(64);
        self.text.resize(start, 0);
        self.text.extend(compiled.code_buffer());
        for reloc in compiled.buffer.relocs() {
            let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = &reloc.target else {
                return Err(Refusal::NotSupported);
            };
            let name = &self.context.func.params.user_named_funcs()[*name];
            self.calls.push((start + reloc.offset as usize, name.index, reloc.addend, reloc.kind));
        }
        Ok(start)
    }

    /// Patches the calls between functions, whose offsets are known now.
    fn link(&mut self) -> Result<(), Refusal> {
        for &(place, function, addend, kind) in &self.calls {
            let target = *self.callees.get(&function).ok_or(Refusal::NotSupported)?;
            let distance = target as i64 + addend - place as i64;
            let word = &mut self.text[place..place + 4];
            let patched = match kind {
                Reloc::X86CallPCRel4 | Reloc::X86PCRel4 => {
                    i32::try_from(distance).map_err(|_| Refusal::TooLarge)? as u32
                }
                Reloc::Arm64Call if (-(1 << 27)..1 << 27).contains(&distance) => {
                    let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    old | (distance >> 2) as u32 & 0x03ff_ffff
                }
                _ => return Err(Refusal::NotSupported),
            };
            word.copy_from_slice(&patched.to_le_bytes());
        }
        Ok(())
    }
}

/// Returns the entries that are worth their code: the beginning, heads of loops, and the places after pauses.
/// Tier 0 reaches one of these quickly from any place.
fn wanted_entries(code: &Code, id: FunctionId) -> Vec<usize> {
    let function = code.function(id);
    let entries: Vec<usize> =
        (0..code.entries.len()).filter(|&entry| code.entries[entry].function == id).collect();
    let heads = loop_heads(code, id, &entries);
    let pauses: Vec<u32> = function
        .blocks
        .iter()
        .filter_map(|block| match block.end {
            End::Pause(point) => Some(code.point(point).pc),
            _ => None,
        })
        .collect();
    let wanted = |entry: &usize| {
        let entry = code.entries[*entry];
        entry.block == BlockId(0)
            || heads[entry.block.0 as usize]
            || pauses.contains(&code.point(entry.point).pc)
    };
    entries.into_iter().filter(wanted).collect()
}

/// Returns whether each block is the target of a backward jump.
fn loop_heads(code: &Code, id: FunctionId, entries: &[usize]) -> Vec<bool> {
    let function = code.function(id);
    let mut heads = vec![false; function.blocks.len()];
    // 0: not seen, 1: on the way from the start, 2: done.
    let mut state = vec![0_u8; function.blocks.len()];
    let starts = std::iter::once(BlockId(0)).chain(entries.iter().map(|&entry| code.entries[entry].block));
    for start in starts {
        let mut path = vec![(start, 0)];
        while let Some((block, next)) = path.last_mut() {
            let at = block.0 as usize;
            if *next == 0 {
                if state[at] == 2 {
                    path.pop();
                    continue;
                }
                state[at] = 1;
            }
            let to = targets(&function.blocks[at].end);
            match to.get(*next) {
                Some(&target) => {
                    *next += 1;
                    match state[target.0 as usize] {
                        0 => path.push((target, 0)),
                        1 => heads[target.0 as usize] = true,
                        _ => {}
                    }
                }
                None => {
                    state[at] = 2;
                    path.pop();
                }
            }
        }
    }
    heads
}
