//! A program, ready to run.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::ir::{OutputDecl, Program};
use crate::compile::{Bytecode, Decompiler, emit, parse};
use crate::error::{CompileError, Lines, Location, places};
use crate::interpret::flat::FlatCode;
use crate::interpret::fused::Plans;
use crate::jit::{self, Jit, Refusal};
use crate::lower::ir::{Code, Variant};
use crate::lower::{Effects, explain, lower};
use crate::state::Tier;

/// How many bits a literal in the text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralWidth {
    /// 32, as in awkward's machine of either width: more are cut (see [`Compiled::cut_literals`]).
    #[default]
    Bits32,
    /// 64: nothing is cut. Literals that do not fit 32 bits compile to [`WIDE_LITERAL`](crate::isa::WIDE_LITERAL).
    Bits64,
}

/// What the compiler may be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// The width of literals.
    pub literal_width: LiteralWidth,
}

impl Options {
    /// With literals of another width.
    #[must_use]
    pub const fn literal_width(mut self, width: LiteralWidth) -> Self {
        self.literal_width = width;
        self
    }
}

/// A compiled program: immutable and shared between machines.
///
/// ```
/// # use forthwith_forth::Compiled;
/// let program = Compiled::new(": twice dup + ; 21 twice")?;
/// assert_eq!(program.dictionary(), ["twice"]);
/// assert_eq!(program.bytecodes(), [0, 21, 72, 37, 44]);
/// # Ok::<(), forthwith_forth::CompileError>(())
/// ```
#[derive(Debug)]
pub struct Compiled {
    source: String,
    options: Options,
    pub(crate) program: Program,
    pub(crate) bytecode: Bytecode,
    pub(crate) plans: Plans,
    effects: OnceLock<Effects>,
    /// Line and column of what bytecode is made of, when first wanted.
    places: OnceLock<HashMap<u32, (usize, usize)>>,
    /// For each variant, when first wanted.
    code: [OnceLock<Code>; Variant::ALL],
    flat: [OnceLock<FlatCode>; Variant::ALL],
    jit: [OnceLock<Result<Jit, Refusal>>; Variant::ALL],
    /// Bytes decoded so far without machine code, by all machines.
    heat: AtomicU64,
}

impl Compiled {
    /// Compiles a source text, for all tiers.
    pub fn new(source: &str) -> Result<Self, CompileError> {
        Self::with_options(source, Options::default())
    }

    /// As [`Self::new`], with options.
    ///
    /// ```
    /// # use forthwith_forth::{Compiled, LiteralWidth, Options};
    /// let wide = Options::default().literal_width(LiteralWidth::Bits64);
    /// let program = Compiled::with_options("5000000000", wide)?;
    /// assert_eq!(program.bytecodes(), [-201, 705032704, 1]);
    /// # Ok::<(), forthwith_forth::CompileError>(())
    /// ```
    pub fn with_options(source: &str, options: Options) -> Result<Self, CompileError> {
        let program = parse(source, options)?;
        let bytecode = emit(&program);
        let plans = Plans::new(&program);
        Ok(Self {
            source: source.to_owned(),
            options,
            program,
            bytecode,
            plans,
            effects: OnceLock::new(),
            places: OnceLock::new(),
            code: Default::default(),
            flat: Default::default(),
            jit: Default::default(),
            heat: AtomicU64::new(0),
        })
    }

    /// The text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it was compiled with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// The external bytecode, all segments one after the other.
    pub fn bytecodes(&self) -> &[i32] {
        &self.bytecode.code
    }

    /// Where each segment starts in [`Self::bytecodes`]; one more number than segments.
    pub fn bytecodes_offsets(&self) -> &[i64] {
        &self.bytecode.offsets
    }

    /// The bytecode of a user word, without that of structures in it.
    pub fn word_bytecodes(&self, name: &str) -> Option<&[i32]> {
        let (start, end) = self.segment(self.word_segment(name)?);
        Some(&self.bytecode.code[start..end])
    }

    /// The program in canonical layout, from its bytecode.
    pub fn decompiled(&self) -> String {
        self.decompiler().program()
    }

    /// User words in the order of their definitions.
    pub fn dictionary(&self) -> Vec<&str> {
        self.program.words.iter().map(|word| word.name.as_str()).collect()
    }

    /// Declared inputs.
    pub fn inputs(&self) -> &[String] {
        &self.program.inputs
    }

    /// Declared outputs.
    pub fn outputs(&self) -> &[OutputDecl] {
        &self.program.outputs
    }

    /// Declared variables.
    pub fn variables(&self) -> &[String] {
        &self.program.variables
    }

    /// Strings in order of appearance, by the number `s"` pushes.
    pub fn strings(&self) -> &[String] {
        &self.program.strings
    }

    /// Line and column of every literal that does not fit 32 bits and was cut.
    pub fn cut_literals(&self) -> Vec<(usize, usize)> {
        let mut lines = Lines::new(&self.source);
        self.program.cut_literals.iter().map(|&at| lines.place(at as usize)).collect()
    }

    /// Which loops are recognised idioms, what else runs as flat code, what in the checked tier, and why.
    pub fn explain(&self) -> String {
        let mut text = explain(self);
        text.push_str(&format!("machine code: {}\n", self.explain_machine_code()));
        text
    }

    fn explain_machine_code(&self) -> String {
        let known = self.jit.iter().find_map(OnceLock::get);
        match known {
            Some(Ok(jit)) => format!("{} bytes, for all machines of this program", jit.size()),
            Some(Err(refusal)) => format!("none: {}", refusal.text()),
            None if !Jit::BUILT => format!("none: {}", Refusal::NotBuilt.text()),
            None if !jit::pays(&self.program, &self.plans) => {
                "not wanted: it has no loops that are not native already".to_owned()
            }
            None if self.inputs().is_empty() => "at the first run".to_owned(),
            None => "when enough has been decoded to make up for compiling".to_owned(),
        }
    }

    /// The instruction at a position of the bytecode, disassembled.
    pub fn instruction(&self, at: usize) -> Option<String> {
        let mut text = String::new();
        self.decompiler().length(at)?;
        self.decompiler().instruction(at, "", &mut text);
        Some(text)
    }

    /// The stack effects of the words.
    pub(crate) fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| Effects::new(&self.program))
    }

    /// The flat code for machines of a kind.
    #[inline]
    pub(crate) fn code(&self, variant: Variant) -> &Code {
        let lower = || lower(&self.program, &self.bytecode, &self.plans, self.effects(), variant);
        self.code[variant.number()].get_or_init(lower)
    }

    /// The same for tier 1.
    #[inline]
    pub(crate) fn flat(&self, variant: Variant) -> &FlatCode {
        self.flat[variant.number()].get_or_init(|| {
            let (inputs, variables) = (self.inputs().len(), self.variables().len());
            FlatCode::new(
                self.code(variant),
                &self.plans,
                self.outputs(),
                inputs,
                variables,
                self.bytecode.code.len(),
            )
        })
    }

    /// The machine code for machines of a kind, compiled when first asked for.
    pub(crate) fn jit(&self, variant: Variant) -> Result<&Jit, Refusal> {
        let compile = || Jit::new(&self.program, &self.plans, self.code(variant));
        self.jit[variant.number()].get_or_init(compile).as_ref().map_err(|refusal| *refusal)
    }

    /// Compiles for a tier and a width of 32 or 64 bits what is otherwise compiled when it is first wanted. Returns the bytes of
    /// machine code, which only [`Tier::Compiled`](crate::Tier::Compiled) has, and not everywhere.
    pub fn prepare(&self, tier: Tier, bits: u32) -> usize {
        let variant = Variant::of(bits);
        if tier >= Tier::Fused {
            self.flat(variant);
        }
        if tier >= Tier::Compiled { self.jit(variant).map_or(0, Jit::size) } else { 0 }
    }

    /// Takes note of work, in bytes to decode; compiles once there was so much of it that it would have paid. Whether it is settled
    /// now that there is machine code, or none.
    #[cold]
    pub(crate) fn warm(&self, variant: Variant, bytes: u64) -> bool {
        if self.jit[variant.number()].get().is_some() {
            return true;
        }
        if !Jit::BUILT || !jit::pays(&self.program, &self.plans) {
            return true;
        }
        let heat = self.heat.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let wanted = heat >= jit::threshold(&self.program, &self.plans, self.code(variant));
        if wanted {
            // Refused is settled as well.
            let _ = self.jit(variant);
        }
        wanted
    }

    /// The machine code, if it was compiled already.
    #[inline]
    pub(crate) fn jit_if_ready(&self, variant: Variant) -> Option<&Jit> {
        self.jit[variant.number()].get()?.as_ref().ok()
    }

    /// The same program, of which only recognised loops run natively.
    #[cfg(test)]
    pub(crate) fn without_flat(self) -> Self {
        let none = || OnceLock::from(FlatCode::none(self.bytecode.code.len()));
        Self { flat: [none(), none(), none(), none()], ..self }
    }

    /// How many numbers the instruction at a position of the bytecode takes.
    pub fn instruction_length(&self, at: usize) -> Option<usize> {
        self.decompiler().length(at)
    }

    /// The segment a user word is.
    pub(crate) fn word_segment(&self, name: &str) -> Option<usize> {
        self.program.words.iter().find(|word| word.name == name).map(|word| word.body.segment as usize)
    }

    pub(crate) fn segment(&self, segment: usize) -> (usize, usize) {
        let offsets = &self.bytecode.offsets;
        (offsets[segment] as usize, offsets[segment + 1] as usize)
    }

    /// Where in the source an instruction of the bytecode comes from.
    pub fn location(&self, at: usize) -> Location {
        let places = self.places.get_or_init(|| places(&self.source, self.bytecode.places.iter().copied()));
        let place = self.bytecode.places.get(at).and_then(|place| places.get(place));
        let (line, column) = place.copied().unwrap_or((1, 1));
        let segment = self.bytecode.offsets.partition_point(|&offset| offset as usize <= at).max(1) - 1;
        let word = self.bytecode.owners.get(segment).copied().flatten();
        let instruction = self.instruction(at).unwrap_or_default();
        Location {
            bytecode: at,
            instruction: instruction.lines().next().unwrap_or_default().to_owned(),
            word: word.map(|word| self.program.words[word as usize].name.clone()),
            line,
            column,
        }
    }

    fn decompiler(&self) -> Decompiler<'_> {
        Decompiler { program: &self.program, bytecode: &self.bytecode }
    }
}
