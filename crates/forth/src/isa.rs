//! The one table of the language.
//!
//! Every word that compiles to an instruction stands in `for_each_word!` once, with its external opcode, its stack
//! effect, the number of operands that follow the opcode and its documentation. Reserved words, compiler look-up,
//! external bytecode, disassembler, operand decoding and the interpreter's underflow/overflow check are expansions of it.
//! Words that only shape the text stand in `for_each_syntax!`, parser codes in `for_each_parser!`.

/// What follows a word or must stand before it, and how its operand is named in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// Control flow and other words the compiler treats one by one.
    Control,
    /// Written after a variable name.
    Variable,
    /// Written after an input name.
    Input,
    /// Written after an output name, followed by `stack`.
    OutputStack,
    /// Written after an output name.
    Output,
    /// Followed by string text.
    Text,
    /// Stands alone and touches nothing but the stack (or prints).
    Generic,
}

macro_rules! for_each_word {
    ($expand:ident) => {
        $expand! {
            // variant      code word      group        pops pushes operands  doc
            Literal         0   "literal"  Control      0 1 1 "push the number that follows";
            Halt            1   "halt"     Control      0 0 0 "stop with the error `user halt`";
            Pause           2   "pause"    Control      0 0 0 "return to the caller; `resume` goes on after it";
            If              3   "if"       Control      1 0 1 "run the body when the top is not zero";
            IfElse          4   "else"     Control      1 0 2 "run one of two bodies";
            CaseTable       5   "case"     Control      1 0 2 "run one of the bodies for 0, 1, 2, … or the default";
            Do              6   "do"       Control      2 0 1 "count from start (top) up to stop, by one";
            DoStep          7   "+loop"    Control      2 0 1 "count from start (top) up to stop, by the popped step";
            Again           8   "again"    Control      0 0 0 "repeat the preceding call for ever";
            Until           9   "until"    Control      1 0 0 "repeat the preceding call until it leaves a true flag";
            While           10  "while"    Control      1 0 1 "run the body and the preceding call while the flag is true";
            Exit            11  "exit"     Control      0 0 1 "leave the current word";
            Put             12  "!"        Variable     1 0 1 "store into a variable";
            Increment       13  "+!"       Variable     1 0 1 "add to a variable, wrapping";
            Fetch           14  "@"        Variable     0 1 1 "push the value of a variable";
            Enum            15  "enum"     Input        0 1 3 "consume the first string that matches; push its number or -1";
            EnumOnly        16  "enumonly" Input        0 1 3 "as `enum`, but no match is an error";
            Peek            17  "peek"     Input        1 1 1 "the byte at the popped distance, without moving";
            LenInput        18  "len"      Input        0 1 1 "length of the input in bytes";
            Position        19  "pos"      Input        0 1 1 "position in the input in bytes";
            End             20  "end"      Input        0 1 1 "true when the position is at the end";
            Seek            21  "seek"     Input        1 0 1 "go to a position";
            Skip            22  "skip"     Input        1 0 1 "move by a distance, which may be negative";
            SkipSpace       23  "skipws"   Input        0 0 1 "move past space, tab, line feed and carriage return";
            Write           24  "<-"       OutputStack  1 0 1 "append the top to an output";
            WriteAdd        25  "+<-"      OutputStack  1 0 1 "append the last item plus the top";
            WriteDup        26  "dup"      Output       1 0 1 "append the last item n more times";
            LenOutput       27  "len"      Output       0 1 1 "items in the output";
            Rewind          28  "rewind"   Output       1 0 1 "forget the last n items";
            String          29  "s\""      Text         0 2 1 "push the number and the length of a string";
            PrintString     30  ".\""      Text         0 0 1 "print a string";
            Print           31  "."        Generic      1 0 0 "print a number and a space";
            PrintNewline    32  "cr"       Generic      0 0 0 "print a newline";
            PrintStack      33  ".s"       Generic      0 0 0 "print the whole stack";
            IndexI          34  "i"        Generic      0 1 0 "index of the innermost `do` loop";
            IndexJ          35  "j"        Generic      0 1 0 "index of the next `do` loop";
            IndexK          36  "k"        Generic      0 1 0 "index of the third `do` loop";
            Dup             37  "dup"      Generic      1 2 0 "a -- a a";
            Drop            38  "drop"     Generic      1 0 0 "a --";
            Swap            39  "swap"     Generic      2 2 0 "a b -- b a";
            Over            40  "over"     Generic      2 3 0 "a b -- a b a";
            Rot             41  "rot"      Generic      3 3 0 "a b c -- b c a";
            Nip             42  "nip"      Generic      2 1 0 "a b -- b";
            Tuck            43  "tuck"     Generic      2 3 0 "a b -- b a b";
            Add             44  "+"        Generic      2 1 0 "wrapping sum";
            Sub             45  "-"        Generic      2 1 0 "wrapping difference";
            Mul             46  "*"        Generic      2 1 0 "wrapping product";
            Div             47  "/"        Generic      2 1 0 "floor division";
            Mod             48  "mod"      Generic      2 1 0 "remainder of floor division";
            DivMod          49  "/mod"     Generic      2 2 0 "remainder below, quotient on top";
            Negate          50  "negate"   Generic      1 1 0 "wrapping negation";
            AddOne          51  "1+"       Generic      1 1 0 "add one, wrapping";
            SubOne          52  "1-"       Generic      1 1 0 "subtract one, wrapping";
            Abs             53  "abs"      Generic      1 1 0 "absolute value; the smallest number stays";
            Min             54  "min"      Generic      2 1 0 "the smaller";
            Max             55  "max"      Generic      2 1 0 "the larger";
            Eq              56  "="        Generic      2 1 0 "flag: equal";
            Ne              57  "<>"       Generic      2 1 0 "flag: not equal";
            Gt              58  ">"        Generic      2 1 0 "flag: greater";
            Ge              59  ">="       Generic      2 1 0 "flag: greater or equal";
            Lt              60  "<"        Generic      2 1 0 "flag: less";
            Le              61  "<="       Generic      2 1 0 "flag: less or equal";
            EqZero          62  "0="       Generic      1 1 0 "flag: zero";
            Invert          63  "invert"   Generic      1 1 0 "bitwise not";
            And             64  "and"      Generic      2 1 0 "bitwise and";
            Or              65  "or"       Generic      2 1 0 "bitwise or";
            Xor             66  "xor"      Generic      2 1 0 "bitwise exclusive or";
            ShiftLeft       67  "lshift"   Generic      2 1 0 "shift left; count modulo the width";
            ShiftRight      68  "rshift"   Generic      2 1 0 "arithmetic shift right; count modulo the width";
            False           69  "false"    Generic      0 1 0 "push 0";
            True            70  "true"     Generic      0 1 0 "push -1";
        }
    };
}

macro_rules! for_each_syntax {
    ($expand:ident) => {
        $expand! {
            Open "(" "begin a comment"; Close ")" "end a comment"; LineComment "\\" "comment to the end of the line";
            Define ":" "begin the definition of a word"; EndDefine ";" "end a definition";
            Recurse "recurse" "call the word being defined"; Variable "variable" "declare a variable";
            Input "input" "declare an input"; Output "output" "declare an output and its dtype";
            Then "then" "end of `if`"; Of "of" "end of a predicate"; EndOf "endof" "end of a consequent";
            EndCase "endcase" "end of `case`"; Loop "loop" "end of `do`"; Begin "begin" "head of an indefinite loop";
            Repeat "repeat" "end of `begin … while`"; Stack "stack" "the data stack as source or destination";
        }
    };
}

macro_rules! for_each_parser {
    ($expand:ident) => {
        $expand! {
            // variant k  text        bytes doc
            Bool       1  "?"         1 "one byte as a truth value";
            Int8       2  "b"         1 "signed, 1 byte";
            Int16      3  "h"         2 "signed, 2 bytes";
            Int32      4  "i"         4 "signed, 4 bytes";
            Int64      5  "q"         8 "signed, 8 bytes";
            IntPtr     6  "n"         8 "signed, 8 bytes";
            UInt8      7  "B"         1 "unsigned, 1 byte";
            UInt16     8  "H"         2 "unsigned, 2 bytes";
            UInt32     9  "I"         4 "unsigned, 4 bytes";
            UInt64     10 "Q"         8 "unsigned, 8 bytes";
            UIntPtr    11 "N"         8 "unsigned, 8 bytes";
            Float32    12 "f"         4 "IEEE, 4 bytes";
            Float64    13 "d"         8 "IEEE, 8 bytes";
            VarInt     14 "varint"    0 "unsigned LEB128";
            ZigZag     15 "zigzag"    0 "signed LEB128, zigzag";
            NBit       16 "bit"       0 "packed unsigned integers, lowest bits first";
            TextInt    17 "textint"   0 "ASCII integer";
            TextFloat  18 "textfloat" 0 "ASCII number";
            QuotedStr  19 "quotedstr" 0 "JSON-like string; its length is pushed";
        }
    };
}

macro_rules! define_ops {
    ($($name:ident $code:literal $word:literal $group:ident $pops:literal $pushes:literal $operands:literal $doc:literal;)*) => {
        /// An instruction of the external bytecode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Op {
            $(#[doc = $doc] $name = $code,)*
        }

        impl Op {
            /// Every instruction, by opcode.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word as written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
            /// Where the word may stand.
            pub const fn group(self) -> Group {
                match self { $(Self::$name => Group::$group,)* }
            }
            /// Items taken from the stack.
            #[inline(always)]
            pub const fn pops(self) -> usize {
                match self { $(Self::$name => $pops,)* }
            }
            /// Items left on the stack.
            #[inline(always)]
            pub const fn pushes(self) -> usize {
                match self { $(Self::$name => $pushes,)* }
            }
            /// Numbers that follow the opcode.
            #[inline(always)]
            pub const fn operands(self) -> usize {
                match self { $(Self::$name => $operands,)* }
            }
            /// One line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

macro_rules! define_syntax {
    ($($name:ident $word:literal $doc:literal;)*) => {
        /// A word that shapes the text and compiles to nothing of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Syntax { $(#[doc = $doc] $name,)* }

        impl Syntax {
            /// Every syntax word.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// The word as written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
            /// One line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

macro_rules! define_parsers {
    ($($name:ident $k:literal $text:literal $size:literal $doc:literal;)*) => {
        /// What a parser word such as `!i->` reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Parser { $(#[doc = $doc] $name = $k,)* }

        impl Parser {
            /// Every parser.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// The code as written, without `#`, `!`, the bit width and the arrow.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
            /// Bytes of one item; 0 when that varies.
            pub const fn size(self) -> usize {
                match self { $(Self::$name => $size,)* }
            }
            /// One line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

for_each_word!(define_ops);
for_each_syntax!(define_syntax);
for_each_parser!(define_parsers);

/// First opcode that means a call; a call of segment `s` is `FIRST_CALL + s`.
pub const FIRST_CALL: i32 = Op::ALL.len() as i32;

impl Op {
    #[inline(always)]
    pub(crate) fn from_code(code: i32) -> Option<Self> {
        usize::try_from(code).ok().and_then(|at| Self::ALL.get(at)).copied()
    }

    pub(crate) fn lookup(word: &str, wanted: impl Fn(Group) -> bool) -> Option<Self> {
        // The opcode of a literal is not a word; its row only documents it.
        Self::ALL.iter().skip(1).copied().find(|op| wanted(op.group()) && op.word() == word)
    }
}

impl Syntax {
    pub(crate) fn lookup(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|syntax| syntax.word() == word)
    }
}

/// One parser instruction with all that is known about it when compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) parser: Parser,
    /// Width of `Nbit`, else 0.
    pub(crate) bits: u8,
    pub(crate) big: bool,
    pub(crate) repeated: bool,
    pub(crate) input: u32,
    /// None: to the stack.
    pub(crate) output: Option<u32>,
}

const TO_OUTPUT: i32 = 1;
const REPEATED: i32 = 2;
const BIG_ENDIAN: i32 = 4;

impl Read {
    /// Reads `[#][!]CODE->`; the input and the output are filled in by the caller.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let rest = word.strip_suffix("->")?;
        let (repeated, rest) = strip(rest, '#');
        let (big, rest) = strip(rest, '!');
        let (parser, bits) = match rest.strip_suffix(Parser::NBit.text()) {
            Some(digits) if !digits.is_empty() => {
                if !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                let bits = digits.parse::<u8>().ok().filter(|bits| (1..=64).contains(bits))?;
                (Parser::NBit, bits)
            }
            _ => {
                let parser = Parser::ALL.iter().copied().find(|p| p.text() == rest)?;
                if parser == Parser::NBit {
                    return None;
                }
                (parser, 0)
            }
        };
        Some(Self { parser, bits, big, repeated, input: 0, output: None })
    }

    /// Whether the word is kept from being a name: `!` on codes without byte order is accepted but not reserved.
    fn is_reserved(self) -> bool {
        !self.big || self.parser == Parser::NBit || self.parser.size() > 1
    }

    /// The word as written in canonical form.
    pub(crate) fn word(self) -> std::string::String {
        let mut text = std::string::String::new();
        if self.repeated {
            text.push('#');
        }
        if self.big {
            text.push('!');
        }
        if self.parser == Parser::NBit {
            text.push_str(&self.bits.to_string());
        }
        text.push_str(self.parser.text());
        text.push_str("->");
        text
    }

    pub(crate) fn encode(self, to: &mut Vec<i32>) {
        let mut flags = i32::from(self.parser as u8) * 8;
        flags |= if self.output.is_some() { TO_OUTPUT } else { 0 };
        flags |= if self.repeated { REPEATED } else { 0 };
        flags |= if self.big { BIG_ENDIAN } else { 0 };
        to.push(!flags);
        to.push(self.input as i32);
        if self.parser == Parser::NBit {
            to.push(i32::from(self.bits));
        }
        to.extend(self.output.map(|output| output as i32));
    }

    /// The instruction at the head of `code`, if it is a parser, and its length.
    pub(crate) fn decode(code: &[i32]) -> Option<(Self, usize)> {
        let (&first, rest) = code.split_first()?;
        if first >= 0 {
            return None;
        }
        let flags = !first;
        let parser = *Parser::ALL.get(usize::try_from(flags >> 3).ok()?.checked_sub(1)?)?;
        let input = *rest.first()? as u32;
        let mut length = 2;
        let mut bits = 0;
        if parser == Parser::NBit {
            bits = *rest.get(length - 1)? as u8;
            length += 1;
        }
        let mut output = None;
        if flags & TO_OUTPUT != 0 {
            output = Some(*rest.get(length - 1)? as u32);
            length += 1;
        }
        let read = Self {
            parser,
            bits,
            big: flags & BIG_ENDIAN != 0,
            repeated: flags & REPEATED != 0,
            input,
            output,
        };
        Some((read, length))
    }
}

fn strip(text: &str, mark: char) -> (bool, &str) {
    match text.strip_prefix(mark) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

/// Whether a word may not be used as a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    Syntax::lookup(word).is_some()
        || Op::lookup(word, |_| true).is_some()
        || crate::Dtype::from_name(word).is_some()
        || Read::parse(word).is_some_and(Read::is_reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_dense_and_calls_begin_at_71() {
        for (at, op) in Op::ALL.iter().enumerate() {
            assert_eq!(*op as usize, at);
        }
        assert_eq!(FIRST_CALL, 71);
    }

    #[test]
    fn fifty_six_parser_words_are_reserved() {
        let mut count = 0;
        for parser in Parser::ALL {
            for prefix in ["", "!", "#", "#!"] {
                let word = format!("{prefix}{}->", parser.text());
                count += usize::from(is_reserved(&word));
            }
        }
        assert_eq!(count, 56);
        assert!(is_reserved("#!64bit->") && !is_reserved("65bit->") && !is_reserved("3foobit->"));
        assert!(!is_reserved("99999999999bit->") && !is_reserved("bit->"));
    }

    #[test]
    fn parser_instructions_round_trip() {
        for parser in Parser::ALL {
            for mask in 0..8 {
                let read = Read {
                    parser: *parser,
                    bits: if *parser == Parser::NBit { 3 } else { 0 },
                    big: mask & 1 != 0,
                    repeated: mask & 2 != 0,
                    input: 5,
                    output: (mask & 4 != 0).then_some(7),
                };
                let mut code = Vec::new();
                read.encode(&mut code);
                assert_eq!(Read::decode(&code), Some((read, code.len())));
                let again = Read::parse(&read.word()).expect("own spelling");
                assert_eq!((again.parser, again.bits), (read.parser, read.bits));
            }
        }
    }
}
