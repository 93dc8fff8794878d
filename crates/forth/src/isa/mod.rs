//! The instruction table of the language.
//!
//! Every word that compiles to an instruction has one row in `for_each_word!`, with its external opcode, its
//! stack effect, the number of operands that follow the opcode and its documentation. Reserved words,
//! compiler look-up, external bytecode, disassembler, operand decoding and the underflow and overflow checks
//! of the interpreter are generated from it. Words that only shape the text are in `for_each_syntax!`, parser
//! codes in `for_each_parser!`.
//!
//! Opcodes of Awkward Array's words are its own. Additional instructions have negative codes, as parsers
//! have, so that calls begin at 71 in both machines, and every program that Awkward Array compiles has the
//! same bytecode here.

use std::collections::HashMap;
use std::sync::LazyLock;

#[macro_use]
mod table;
mod read;

pub(crate) use read::Read;

/// The operand or name that a word needs, before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// Control flow and other words that the compiler treats individually.
    Control,
    /// Written after a variable name.
    Variable,
    /// Written after an input name.
    Input,
    /// Written after an output name, followed by `stack`.
    OutputStack,
    /// Written after an output name.
    Output,
    /// Followed by the text of a string.
    Text,
    /// Stands alone and affects only the stack, or prints.
    Generic,
}

macro_rules! define_ops {
    ($($name:ident $code:literal $word:literal $group:ident $pops:literal $pushes:literal $operands:literal $doc:literal
        $effect:literal $more:literal $example:literal;)*) => {
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

            /// Returns the word as written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
            /// Returns the group of the word.
            pub const fn group(self) -> Group {
                match self { $(Self::$name => Group::$group,)* }
            }
            /// Returns the number of items that it pops.
            #[inline(always)]
            pub const fn pops(self) -> usize {
                match self { $(Self::$name => $pops,)* }
            }
            /// Returns the number of items that it pushes.
            #[inline(always)]
            pub const fn pushes(self) -> usize {
                match self { $(Self::$name => $pushes,)* }
            }
            /// Returns the number of operands that follow the opcode.
            #[inline(always)]
            pub const fn operands(self) -> usize {
                match self { $(Self::$name => $operands,)* }
            }
            /// Returns one line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
            /// Returns its effect on the stack, `( before -- after )` with the top on the right.
            pub const fn effect(self) -> &'static str {
                match self { $(Self::$name => $effect,)* }
            }
            /// Returns further notes, which may be empty.
            pub const fn more(self) -> &'static str {
                match self { $(Self::$name => $more,)* }
            }
            /// Returns a program with its result, in the notation of the [manual](crate::manual).
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example,)* }
            }
        }
    };
}

macro_rules! define_syntax {
    ($($name:ident $word:literal $doc:literal $example:literal;)*) => {
        /// A word that shapes the text and has no instruction of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Syntax { $(#[doc = $doc] $name,)* }

        impl Syntax {
            /// Every syntax word.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// Returns the word as written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
            /// Returns one line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
            /// Returns a program with its result, in the notation of the [manual](crate::manual).
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example,)* }
            }
        }
    };
}

macro_rules! define_parsers {
    ($($name:ident $k:literal $text:literal $size:literal $doc:literal $more:literal $example:literal;)*) => {
        /// The type that a parser word such as `!i->` reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Parser { $(#[doc = $doc] $name = $k,)* }

        impl Parser {
            /// Every parser.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// Returns the parser with a number.
            pub(crate) const fn of_number(number: i32) -> Option<Self> {
                match number { $($k => Some(Self::$name),)* _ => None }
            }
            /// Returns the code as written, without `#`, `!`, the bit width and the arrow.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
            /// Whether a number of bits precedes the code.
            pub const fn has_width(self) -> bool {
                matches!(self, Self::NBit | Self::MsbBits)
            }
            /// Returns the size of an item in bytes; 0 if it varies.
            pub const fn size(self) -> usize {
                match self { $(Self::$name => $size,)* }
            }
            /// Returns one line of documentation.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
            /// Returns further notes, which may be empty.
            pub const fn more(self) -> &'static str {
                match self { $(Self::$name => $more,)* }
            }
            /// Returns a program with its result, in the notation of the [manual](crate::manual).
            pub const fn example(self) -> &'static str {
                match self { $(Self::$name => $example,)* }
            }
        }
    };
}

for_each_word!(define_ops);
for_each_syntax!(define_syntax);
for_each_parser!(define_parsers);

/// The first opcode of a call; a call of segment `s` is `FIRST_CALL + s`.
pub const FIRST_CALL: i32 = Op::ALL.len() as i32;

/// Opcode of a literal of 64 bits, which is followed by its low and its high half. It is only compiled with
/// [`LiteralWidth::Bits64`](crate::LiteralWidth).
pub const WIDE_LITERAL: i32 = !(25 * 8);

impl Op {
    #[inline(always)]
    pub(crate) fn from_code(code: i32) -> Option<Self> {
        usize::try_from(code).ok().and_then(|at| Self::ALL.get(at)).copied()
    }

    pub(crate) fn lookup(word: &str, wanted: impl Fn(Group) -> bool) -> Option<Self> {
        KNOWN.get(word)?.ops.iter().copied().find(|op| wanted(op.group()))
    }
}

impl Syntax {
    pub(crate) fn lookup(word: &str) -> Option<Self> {
        KNOWN.get(word)?.syntax
    }
}

/// The meaning of a word of the language.
#[derive(Debug, Default)]
struct Known {
    syntax: Option<Syntax>,
    /// Several if the word before decides, as for `dup` and `len`.
    ops: Vec<Op>,
}

static KNOWN: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let mut known: HashMap<_, Known> = HashMap::new();
    for &syntax in Syntax::ALL {
        known.entry(syntax.word()).or_default().syntax = Some(syntax);
    }
    // The literal is not a word; its row only documents it.
    for &op in Op::ALL.iter().skip(1) {
        known.entry(op.word()).or_default().ops.push(op);
    }
    known
});

/// Returns all words of the language, parsers with every prefix.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    static PARSERS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let prefixes = |text: &'static str| ["", "!", "#", "#!"].map(|prefix| format!("{prefix}{text}->"));
        Parser::ALL.iter().flat_map(|parser| prefixes(parser.text())).collect()
    });
    let words = Op::ALL.iter().map(|op| op.word()).chain(Syntax::ALL.iter().map(|syntax| syntax.word()));
    words.chain(PARSERS.iter().map(String::as_str))
}

/// Whether a word is reserved, and so cannot be used as a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    Syntax::lookup(word).is_some()
        || Op::lookup(word, |_| true).is_some()
        || crate::DType::from_name(word).is_some()
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
    fn parsers_have_distinct_numbers() {
        let numbers: Vec<_> = Parser::ALL.iter().map(|parser| i32::from(*parser as u8)).collect();
        let distinct: std::collections::HashSet<_> = numbers.iter().collect();
        assert_eq!(distinct.len(), numbers.len());
        for number in 0..40 {
            let parser = Parser::ALL.iter().copied().find(|parser| i32::from(*parser as u8) == number);
            assert_eq!(Parser::of_number(number), parser);
        }
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
                    bits: if parser.has_width() { 3 } else { 0 },
                    big: mask & 1 != 0 && *parser != Parser::MsbBits,
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

    #[test]
    fn packed_bits_have_one_order() {
        assert!(!is_reserved("3msb->") && Read::parse("!3msb->").is_none());
    }
}
