//! Compile errors and run-time errors.

use std::collections::HashMap;
use std::fmt;

macro_rules! define_compile_errors {
    ($($(#[$doc:meta])* $name:ident $text:literal;)*) => {
        /// Reason why a source text does not compile.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CompileErrorKind { $(#[doc = $text] $name,)* }

        impl CompileErrorKind {
            /// Returns the message, without the location.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

define_compile_errors! {
    UnclosedComment "'(' is missing its closing ')'";
    UnclosedDefinition "definition is missing its closing ';'";
    MissingDefinitionName "missing name in word definition";
    MissingVariableName "missing name in variable declaration";
    MissingInputName "missing name in input declaration";
    MissingOutputName "missing name or dtype in output declaration";
    UnknownDtype "output dtype not recognized";
    NameTaken "input names, output names, variable names, and user-defined words must all be unique and not reserved words or integers";
    UnclosedIf "'if' is missing its closing 'then'";
    UnclosedCase "'case' is missing its closing 'endcase'";
    UnbalancedOf "in 'case' .. 'endcase', there must be an 'endof' for every 'of'";
    UnclosedDo "'do' is missing its closing 'loop'";
    UnclosedBegin "'begin' is missing its closing 'until' or 'while ... repeat'";
    UnclosedWhile "'while' is missing its closing 'repeat'";
    VariableWithoutAction "missing '!', '+!', or '@' after variable name";
    InputWithoutAction "missing '*-> stack/output', 'seek', 'skip', 'skipws', 'end', 'pos', or 'len' after input name";
    ParserWithoutDestination "missing 'stack' or 'output' after '*->'";
    TextFloatToStack "'stack' not allowed after 'textfloat->'";
    QuotedStrToStack "'stack' not allowed after 'quotedstr->'";
    QuotedStrDtype "'quotedstr->' needs an output of dtype uint8 or int8";
    WriteWithoutStack "missing 'stack' after '<-'";
    WriteAddWithoutStack "missing 'stack' after '+<-'";
    OutputWithoutAction "missing '<- stack', '+<- stack', 'dup', 'len', or 'rewind' after output name";
    EnumWithoutString "need at least one string (s\" word) after \"enum\"";
    EnumOnlyWithoutString "need at least one string (s\" word) after \"enumonly\"";
    UnclosedString "unclosed string after .\" or s\" word";
    IndexOutsideDo "only allowed in a 'do' loop";
    IndexOutsideNestedDo "only allowed in a nested 'do' loop";
    IndexOutsideDoublyNestedDo "only allowed in a doubly nested 'do' loop";
    RecurseOutsideDefinition "only allowed in a ': name ... ;' definition";
    UnknownWord "unrecognized word or wrong context for word";
    NestedTooDeeply "structures are nested too deeply";
    ProgramTooLarge "program is too large";
}

/// A compile error and its location in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    kind: CompileErrorKind,
    line: usize,
    column: usize,
    snippet: String,
    /// Line and column of the offending word, its line with a mark below, and suggestions.
    marked: (usize, usize),
    quote: String,
    hint: String,
}

impl CompileError {
    pub(crate) fn new(kind: CompileErrorKind, source: &str, start: usize, end: usize) -> Self {
        let (line, column) = line_column(source, start);
        let snippet = source.get(start..end.max(start)).unwrap_or_default();
        let quote = quote(source, line, column);
        let marked = (line, column);
        Self { kind, line, column, snippet: indented(snippet), marked, quote, hint: String::new() }
    }

    /// Marks a word other than the first as the offending one, and adds suggestions for it.
    pub(crate) fn about(mut self, source: &str, at: usize, hint: String) -> Self {
        let (line, column) = line_column(source, at);
        (self.marked, self.quote) = ((line, column), quote(source, line, column));
        self.hint = hint;
        self
    }

    /// Returns the suggested words, as a phrase that follows the message; empty if there are none.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Returns line and column of the offending word; [`Self::line`] and [`Self::column`] are those of the
    /// phrase that contains it.
    pub fn marked(&self) -> (usize, usize) {
        self.marked
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> CompileErrorKind {
        self.kind
    }

    /// Returns the line in the source, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column in that line, in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "in AwkwardForth source code, line {} col {}, {}:\n\n{}\n{}",
            self.line,
            self.column,
            self.kind.message(),
            self.snippet,
            self.quote
        )?;
        match self.hint.strip_prefix("; ") {
            Some(hint) => write!(f, "\n\n{hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CompileError {}

/// Returns a line of a text, with the word at a column (both counted from 1) marked below it.
pub fn quote(source: &str, line: usize, column: usize) -> String {
    /// Characters of a line that are shown.
    const SHOWN: usize = 100;
    let text = line.checked_sub(1).and_then(|line| source.lines().nth(line)).unwrap_or_default();
    let at = column.saturating_sub(1);
    let word = text.chars().skip(at).take_while(|c| !c.is_ascii_whitespace()).count().clamp(1, SHOWN);
    // A long line is cut to the characters around the word.
    let from = if at + word > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
    // Each character is replaced by exactly one, so that the mark stays below the word.
    let shown: String =
        text.chars().skip(from).take(SHOWN).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let gap = " ".repeat(line.to_string().len());
    let mark = "^".repeat(word.min(SHOWN - (at - from).min(SHOWN - 1)));
    format!("  {line} | {shown}\n  {gap} | {}{mark}", " ".repeat(at - from))
}

/// Maximum number of lines of a snippet, and of characters of each line.
const SHOWN: (usize, usize) = (12, 160);

/// Returns a text as it is quoted below an error: indented, and truncated if it is long.
fn indented(text: &str) -> String {
    let mut quoted = String::new();
    for line in text.lines().take(SHOWN.0) {
        quoted.push_str("    ");
        match line.char_indices().nth(SHOWN.1) {
            Some((end, _)) => quoted.extend([&line[..end], " …"]),
            None => quoted.push_str(line),
        }
        quoted.push('\n');
    }
    if text.lines().nth(SHOWN.0).is_some() {
        quoted.push_str("    …\n");
    }
    quoted
}

/// Converts byte offsets that never decrease to line and column, both counted from 1.
pub(crate) struct Lines<'a> {
    rest: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self { rest: source, at: 0, line: 1, column: 1 }
    }

    /// Returns line and column of an offset, which must not be less than the previous one.
    pub(crate) fn place(&mut self, at: usize) -> (usize, usize) {
        let (passed, rest) =
            self.rest.split_at_checked(at.saturating_sub(self.at)).unwrap_or((self.rest, ""));
        for character in passed.chars() {
            (self.line, self.column) =
                if character == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        (self.rest, self.at) = (rest, self.at + passed.len());
        (self.line, self.column)
    }
}

/// Returns line and column of many offsets, in one pass over the text.
pub(crate) fn places(source: &str, offsets: impl Iterator<Item = u32>) -> HashMap<u32, (usize, usize)> {
    let mut offsets: Vec<u32> = offsets.collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut lines = Lines::new(source);
    offsets.into_iter().map(|at| (at, lines.place(at as usize))).collect()
}

/// Returns line and column, both counted from 1, of a byte offset.
pub(crate) fn line_column(source: &str, at: usize) -> (usize, usize) {
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Error that stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// `halt` was executed. The value is the top of the stack at that moment: by convention, an error code.
    UserHalt(Option<i64>),
    /// The return stack or the stack of `do` loops is full.
    RecursionDepthExceeded,
    /// The stack has fewer items than the word needs.
    StackUnderflow,
    /// The stack is full.
    StackOverflow,
    /// A parser or `peek` reached beyond the end of an input.
    ReadBeyond,
    /// `seek` to a position outside of an input.
    SeekBeyond,
    /// `skip` to a position outside of an input.
    SkipBeyond,
    /// `rewind` by a negative number or more items than the output has, or `dup` of an empty output.
    RewindBeyond,
    /// `/`, `mod` or `/mod` by zero.
    DivisionByZero,
    /// A LEB128 number, or an integer in text, does not fit 64 bits.
    VarintTooBig,
    /// Digits of a number are missing.
    TextNumberMissing,
    /// A quoted string is missing, malformed or too long.
    QuotedStringMissing,
    /// The input matches none of the strings of an `enumonly`.
    EnumerationMissing,
    /// No run was begun, or `halt` ended it.
    NotReady,
    /// The run is at its end.
    IsDone,
    /// The outputs need more memory than is available.
    OutOfMemory,
    /// The outputs need more than [`Limits::output_bytes`](crate::Limits).
    OutputLimitExceeded,
    /// The number of inputs differs from the declarations, or an input is shorter than its position.
    InputMismatch,
    /// The outputs given differ from the declarations.
    OutputMismatch,
    /// The word called is not in the dictionary.
    UnknownWord,
    /// The flag of [`Machine::set_interrupt`](crate::Machine::set_interrupt) was set. `resume` continues the
    /// run.
    Interrupted,
}

impl RunError {
    /// Returns the name of the error as Awkward Array spells it.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::UserHalt(_) => ("user halt", "user-defined error or stopping condition"),
            Self::RecursionDepthExceeded => (
                "recursion depth exceeded",
                "too many words calling words or a recursive word is looping endlessly",
            ),
            Self::StackUnderflow => ("stack underflow", "tried to pop from an empty stack"),
            Self::StackOverflow => {
                ("stack overflow", "tried to push beyond the predefined maximum stack depth")
            }
            Self::ReadBeyond => ("read beyond", "tried to read beyond the end of an input"),
            Self::SeekBeyond => ("seek beyond", "tried to seek beyond the bounds of an input (0 or length)"),
            Self::SkipBeyond => ("skip beyond", "tried to skip beyond the bounds of an input (0 or length)"),
            Self::RewindBeyond => ("rewind beyond", "tried to rewind beyond the beginning of an output"),
            Self::DivisionByZero => ("division by zero", "tried to divide by zero"),
            Self::VarintTooBig => {
                ("varint too big", "variable-length integer is too big to represent as a fixed-width integer")
            }
            Self::TextNumberMissing => {
                ("text number missing", "expected a number in input text, didn't find one")
            }
            Self::QuotedStringMissing => {
                ("quoted string missing", "expected a quoted string in input text, didn't find one")
            }
            Self::EnumerationMissing => (
                "enumeration missing",
                "expected one of several enumerated values in the input text, didn't find one",
            ),
            Self::NotReady => {
                ("not ready", "call 'begin' before 'step' or 'resume' (note: check 'is_ready')")
            }
            Self::IsDone => (
                "is done",
                "reached the end of the program or segment; call 'begin' to 'step' again (note: check 'is_done')",
            ),
            Self::OutOfMemory => ("out of memory", "the outputs need more memory than is available"),
            Self::OutputLimitExceeded => {
                ("output limit exceeded", "the outputs would exceed the limit set for this machine")
            }
            Self::InputMismatch => {
                ("input mismatch", "the inputs do not fit the declarations or their positions")
            }
            Self::OutputMismatch => ("output mismatch", "the outputs do not fit the declarations"),
            Self::UnknownWord => ("unknown word", "the word is not in the dictionary"),
            Self::Interrupted => ("interrupted", "the run was interrupted; 'resume' goes on"),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, explanation) = self.texts();
        write!(f, "'{name}' in AwkwardForth runtime: {explanation}")?;
        match self {
            Self::UserHalt(Some(top)) => write!(f, " (top of the stack: {top})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for RunError {}

/// Location of an error in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Position of the failing instruction in [`Program::bytecodes`](crate::Program::bytecodes).
    pub bytecode: usize,
    /// The failing instruction, disassembled (one line).
    pub instruction: String,
    /// Name of the user word that contains it; `None` in the main program.
    pub word: Option<String>,
    /// Line of the source, from 1.
    pub line: usize,
    /// Column of the source, from 1.
    pub column: usize,
}
