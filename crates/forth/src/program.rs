//! A program: text, structure, bytecode.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::compile::ir::{Ir, OutputDecl};
use crate::compile::{Bytecode, Decompiler, Options, emit, parse};
use crate::error::{CompileError, Lines, Location, places};

/// A parsed program: its text, its structure and its bytecode. [`Compiled`](crate::Compiled) adds the code of
/// each tier, for machines to run.
#[derive(Debug)]
pub struct Program {
    source: String,
    options: Options,
    pub(crate) ir: Ir,
    pub(crate) bytecode: Bytecode,
    /// Line and column of each source offset that bytecode refers to, computed on first use.
    places: OnceLock<HashMap<u32, (usize, usize)>>,
}

impl Program {
    pub(crate) fn new(source: &str, options: Options) -> Result<Self, CompileError> {
        let ir = parse(source, options)?;
        let bytecode = emit(&ir);
        Ok(Self { source: source.to_owned(), options, ir, bytecode, places: OnceLock::new() })
    }

    /// Returns the source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the options that the program was compiled with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Returns the external bytecode, all segments one after the other.
    pub fn bytecodes(&self) -> &[i32] {
        &self.bytecode.code
    }

    /// Returns the start of each segment in [`Self::bytecodes`], followed by the end of the last segment.
    pub fn bytecodes_offsets(&self) -> &[i64] {
        &self.bytecode.offsets
    }

    /// Returns the bytecode of a user word, without the segments of structures inside it; `None` if there is
    /// no such word.
    pub fn word_bytecodes(&self, name: &str) -> Option<&[i32]> {
        let (start, end) = self.segment(self.word_segment(name)?);
        Some(&self.bytecode.code[start..end])
    }

    /// Returns the text of the program in canonical layout, decompiled from its bytecode.
    pub fn decompiled(&self) -> String {
        self.decompiler().program()
    }

    /// Returns the names of the user words, in the order of their definitions.
    pub fn dictionary(&self) -> Vec<&str> {
        self.ir.words.iter().map(|word| word.name.as_str()).collect()
    }

    /// Returns the names of the declared inputs.
    pub fn inputs(&self) -> &[String] {
        &self.ir.inputs
    }

    /// Returns the declared outputs.
    pub fn outputs(&self) -> &[OutputDecl] {
        &self.ir.outputs
    }

    /// Returns the names of the declared variables.
    pub fn variables(&self) -> &[String] {
        &self.ir.variables
    }

    /// Returns the strings in order of appearance; `s"` pushes the index.
    pub fn strings(&self) -> &[String] {
        &self.ir.strings
    }

    /// Returns line and column of every literal that exceeded 32 bits and was truncated.
    pub fn cut_literals(&self) -> Vec<(usize, usize)> {
        let mut lines = Lines::new(&self.source);
        self.ir.cut_literals.iter().map(|&at| lines.place(at as usize)).collect()
    }

    /// Returns the disassembled instruction at a position of the bytecode; `None` if no instruction begins
    /// there.
    pub fn instruction(&self, at: usize) -> Option<String> {
        let mut text = String::new();
        self.decompiler().length(at)?;
        self.decompiler().instruction(at, "", &mut text);
        Some(text)
    }

    /// Returns the number of bytecode numbers that the instruction at a position has, opcode included; `None`
    /// if no instruction begins there.
    pub fn instruction_length(&self, at: usize) -> Option<usize> {
        self.decompiler().length(at)
    }

    /// Returns the segment of a user word.
    pub(crate) fn word_segment(&self, name: &str) -> Option<usize> {
        self.ir.words.iter().find(|word| word.name == name).map(|word| word.body.segment as usize)
    }

    pub(crate) fn segment(&self, segment: usize) -> (usize, usize) {
        let offsets = &self.bytecode.offsets;
        (offsets[segment] as usize, offsets[segment + 1] as usize)
    }

    /// Returns the place in the source that an instruction of the bytecode comes from.
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
