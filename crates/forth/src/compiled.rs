//! A program and the code of each tier, which is generated on first use.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::Options;
use crate::error::CompileError;
use crate::interpret::flat::FlatCode;
use crate::interpret::fused::Plans;
use crate::jit::{self, Jit, Refusal};
use crate::lower::ir::{Code, Variant};
use crate::lower::{Effects, lower};
use crate::program::Program;
use crate::state::Tier;

/// A compiled program: immutable and shared between machines. It is a [`Program`] with the code of each tier.
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
    program: Program,
    pub(crate) plans: Plans,
    effects: OnceLock<Effects>,
    /// Lowered code by variant, generated on first use.
    code: [OnceLock<Code>; Variant::ALL],
    flat: [OnceLock<FlatCode>; Variant::ALL],
    jit: [OnceLock<Result<Jit, Refusal>>; Variant::ALL],
    /// Bytes that all machines have decoded so far without machine code, or announced.
    heat: AtomicU64,
}

impl Deref for Compiled {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Compiled {
    /// Compiles a source text with the default options.
    pub fn new(source: &str) -> Result<Self, CompileError> {
        Self::with_options(source, Options::default())
    }

    /// Compiles a source text with options.
    ///
    /// ```
    /// # use forthwith_forth::{Compiled, LiteralWidth, Options};
    /// let wide = Options::default().literal_width(LiteralWidth::Bits64);
    /// let program = Compiled::with_options("5000000000", wide)?;
    /// assert_eq!(program.bytecodes(), [-201, 705032704, 1]);
    /// # Ok::<(), forthwith_forth::CompileError>(())
    /// ```
    pub fn with_options(source: &str, options: Options) -> Result<Self, CompileError> {
        let program = Program::new(source, options)?;
        let plans = Plans::new(&program.ir);
        Ok(Self {
            program,
            plans,
            effects: OnceLock::new(),
            code: Default::default(),
            flat: Default::default(),
            jit: Default::default(),
            heat: AtomicU64::new(0),
        })
    }

    /// Returns the stack effects of the words, which are computed on first use.
    pub(crate) fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| Effects::new(&self.ir))
    }

    /// Returns the lowered code for machines of a variant, which is generated on first use.
    #[inline]
    pub(crate) fn code(&self, variant: Variant) -> &Code {
        let lower = || lower(&self.ir, &self.bytecode, &self.plans, self.effects(), variant);
        self.code[variant.number()].get_or_init(lower)
    }

    /// Returns the encoded flat code of tier 1 for machines of a variant, which is generated on first use.
    #[inline]
    pub(crate) fn flat(&self, variant: Variant) -> &FlatCode {
        self.flat[variant.number()].get_or_init(|| {
            let (inputs, variables) = (self.inputs().len(), self.variables().len());
            FlatCode::new(self.code(variant), self.outputs(), inputs, variables, self.bytecode.code.len())
        })
    }

    /// Returns the machine code for machines of a variant, which is compiled on first use, or the reason why
    /// there is none.
    pub(crate) fn jit(&self, variant: Variant) -> Result<&Jit, Refusal> {
        let compile = || Jit::new(&self.ir, &self.plans, self.code(variant));
        self.jit[variant.number()].get_or_init(compile).as_ref().map_err(|refusal| *refusal)
    }

    /// Compiles the code of a tier, for items of `bits` (32 or 64) bits, that would otherwise be compiled on
    /// first use. Returns its size in bytes of machine code, which is 0 below
    /// [`Tier::Compiled`](crate::Tier::Compiled) and on systems without machine code.
    pub fn prepare(&self, tier: Tier, bits: u32) -> usize {
        let variant = Variant::of(bits);
        if tier >= Tier::Fused {
            self.flat(variant);
        }
        if tier >= Tier::Compiled { self.jit(variant).map_or(0, Jit::size) } else { 0 }
    }

    /// Announces work, in bytes to decode, so that a program is compiled before the work if machine code pays
    /// for it.
    pub fn announce(&self, bytes: u64) {
        self.heat.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds `bytes` decoded bytes to the count, and compiles machine code once the count reaches the
    /// threshold at which compiling pays. Returns whether the decision is final: there is machine code, or
    /// there will not be any.
    #[cold]
    pub(crate) fn warm(&self, variant: Variant, bytes: u64) -> bool {
        if self.jit[variant.number()].get().is_some() {
            return true;
        }
        if !Jit::BUILT || !jit::pays(&self.ir, &self.plans) {
            return true;
        }
        let heat = self.heat.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let wanted = heat >= jit::threshold(&self.ir, &self.plans, self.code(variant));
        if wanted {
            // A refusal is final, too.
            let _ = self.jit(variant);
        }
        wanted
    }

    /// Returns the outcome of the first compilation of machine code, of any variant, if there was one.
    pub(crate) fn known_machine_code(&self) -> Option<&Result<Jit, Refusal>> {
        self.jit.iter().find_map(OnceLock::get)
    }

    /// Returns the machine code of a variant, if it was compiled already.
    #[inline]
    pub(crate) fn jit_if_ready(&self, variant: Variant) -> Option<&Jit> {
        self.jit[variant.number()].get()?.as_ref().ok()
    }

    /// Returns the program without flat code: only recognised loops run natively.
    #[cfg(test)]
    pub(crate) fn without_flat(self) -> Self {
        let none = || OnceLock::from(FlatCode::none(self.bytecode.code.len()));
        Self { flat: [none(), none(), none(), none()], ..self }
    }
}
