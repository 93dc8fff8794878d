//! A program: text, structure, bytecode.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::compile::ir::{Ir, OutputDecl};
use crate::compile::{Bytecode, Decompiler, Options, emit, parse};
use crate::error::{CompileError, Lines, Location, places};

/// A program, and nothing of how it is run: its text, the structure that was read from it, and the bytecode
/// made of that. [`Compiled`](crate::Compiled) is one that machines run.
#[derive(Debug)]
pub struct Program {
    source: String,
    options: Options,
    pub(crate) ir: Ir,
    pub(crate) bytecode: Bytecode,
    /// Line and column of what bytecode is made of, when first wanted.
    places: OnceLock<HashMap<u32, (usize, usize)>>,
}

impl Program {
    pub(crate) fn new(source: &str, options: Options) -> Result<Self, CompileError> {
        let ir = parse(source, options)?;
        let bytecode = emit(&ir);
        Ok(Self { source: source.to_owned(), options, ir, bytecode, places: OnceLock::new() })
    }

    /// The text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The options it was compiled with.
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
        self.ir.words.iter().map(|word| word.name.as_str()).collect()
    }

    /// Declared inputs.
    pub fn inputs(&self) -> &[String] {
        &self.ir.inputs
    }

    /// Declared outputs.
    pub fn outputs(&self) -> &[OutputDecl] {
        &self.ir.outputs
    }

    /// Declared variables.
    pub fn variables(&self) -> &[String] {
        &self.ir.variables
    }

    /// Strings in order of appearance, by the number `s"` pushes.
    pub fn strings(&self) -> &[String] {
        &self.ir.strings
    }

    /// Line and column of every literal that does not fit 32 bits and was cut.
    pub fn cut_literals(&self) -> Vec<(usize, usize)> {
        let mut lines = Lines::new(&self.source);
        self.ir.cut_literals.iter().map(|&at| lines.place(at as usize)).collect()
    }

    /// The instruction at a position of the bytecode, disassembled.
    pub fn instruction(&self, at: usize) -> Option<String> {
        let mut text = String::new();
        self.decompiler().length(at)?;
        self.decompiler().instruction(at, "", &mut text);
        Some(text)
    }

    /// How many numbers the instruction at a position of the bytecode takes.
    pub fn instruction_length(&self, at: usize) -> Option<usize> {
        self.decompiler().length(at)
    }

    /// The segment a user word is.
    pub(crate) fn word_segment(&self, name: &str) -> Option<usize> {
        self.ir.words.iter().find(|word| word.name == name).map(|word| word.body.segment as usize)
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
            word: word.map(|word| self.ir.words[word as usize].name.clone()),
            line,
            column,
        }
    }

    fn decompiler(&self) -> Decompiler<'_> {
        Decompiler { program: &self.ir, bytecode: &self.bytecode }
    }
}
