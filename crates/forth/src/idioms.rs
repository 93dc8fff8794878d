#![doc = include_str!("../IDIOMS.md")]

/// Placeholders of templates, by kind.
pub(crate) mod holes {
    /// Inputs: the source of values, with the bounds of entries.
    pub(crate) const INPUTS: &[&str] = &["DATA"];
    /// The variable that holds the end of the entry.
    pub(crate) const VARIABLES: &[&str] = &["STOP"];
    /// Outputs.
    pub(crate) const OUTPUTS: &[&str] = &["OFFSETS", "OUT", "OTHER"];
    /// Numbers; `CODE` is the number before a `halt`.
    pub(crate) const NUMBERS: &[&str] = &["N", "M", "CODE"];
    /// Parsers: of one number to the stack, of several items to an output, of one item to an output.
    pub(crate) const READS: &[&str] = &["READ", "MANY", "ITEM"];
    /// Phrases of any length.
    pub(crate) const BODIES: &[&str] = &["BODY", "OTHERWISE"];
    /// One of `> >= < <= <>`.
    pub(crate) const COMPARE: &str = "COMPARE";
}

macro_rules! idioms {
    ($($(#[doc = $doc:literal])* $name:ident = $template:expr;)*) => {
        /// A phrase that runs as native code: one template, from which programs are generated and by which
        /// they are recognised.
        ///
        /// Words in capitals are placeholders: `DATA` for the input that values are read from, `STOP` for the
        /// variable with the end of the entry, `OFFSETS`, `OUT` and `OTHER` for outputs, `N`, `M` and `CODE`
        /// for numbers, `READ` for a parser with its input that leaves one number on the stack, `MANY` for a
        /// parser that reads items into an output, `ITEM` for a parser that reads a single item into an
        /// output, `COMPARE` for one of `> >= < <= <>`, `BODY` and `OTHERWISE` for phrases.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Idiom {
            $($(#[doc = $doc])* $name,)*
        }

        impl Idiom {
            /// All idioms, in the order in which the matcher tries them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the template, one line for each line of a program.
            pub const fn template(self) -> &'static str {
                match self {
                    $(Self::$name => $template,)*
                }
            }
        }
    };
}

/// The length of a string: one byte, or 255 and four more bytes.
macro_rules! text_count {
    () => {
        "DATA B-> stack dup 255 = if drop DATA !I-> stack then"
    };
}

/// The test whether bytes of the entry are left.
macro_rules! before_stop {
    () => {
        "DATA pos STOP @ <"
    };
}

/// A skipped string: its length, which must not be negative, and as many bytes.
macro_rules! skip_text {
    () => {
        "DATA zigzag-> stack dup 0 < if CODE halt then DATA skip"
    };
}

/// The words before the items of a skipped block.
macro_rules! skipped_block {
    () => {
        concat!("begin DATA zigzag-> stack dup while\ndup 0 < if drop ", skip_text!(), " else\n")
    };
}

/// The words before the items of a block whose size in bytes is ignored.
macro_rules! block {
    () => {
        "0 begin DATA zigzag-> stack dup 0 < if negate DATA zigzag-> stack drop then dup while\ndup "
    };
}

/// The words before the items of a block whose size in bytes is checked.
macro_rules! ending_block {
    () => {
        concat!(
            "0 begin DATA zigzag-> stack dup 0 < if negate DATA zigzag-> stack over 0 < over 0 < or if CODE halt then ",
            "DATA pos + else 0 then over while\nover "
        )
    };
}

/// The words after the items of a block with a checked size.
macro_rules! ending {
    () => {
        " dup if DATA pos <> if CODE halt then else drop then + "
    };
}

idioms! {
    /// Seeks to the start of the entry, which is read from another input as four little-endian bytes.
    Start = "READ DATA seek";
    /// Seeks to a number of bytes after the start of the entry, which is read from another input.
    StartBehind = "READ N + DATA seek";
    /// Reads the end of the entry from another input.
    Stop = "READ STOP !";
    /// A byte count that must end at the end of the entry.
    ByteCount = "DATA !I-> stack N - DATA pos + STOP @ <> if CODE halt then";
    /// Checks that the position is the end of the entry.
    CheckEnd = "DATA pos STOP @ <> if CODE halt then";
    /// A version that must be in a range.
    Version = "DATA !H-> stack N COMPARE if CODE halt then";
    /// Skips a fixed number of bytes.
    Skip = "N DATA skip";
    /// Skips a number.
    SkipNumber = "READ drop";
    /// Skips a string.
    SkipText = skip_text!();
    /// Skips a list in blocks, of items of a fixed number of bytes.
    SkipBlocksOfSize = concat!(skipped_block!(), "dup DATA len > if CODE halt then N * DATA skip\nthen\nrepeat drop");
    /// Skips a list in blocks, of items of any size.
    SkipBlocks = concat!(skipped_block!(), "0 do\nBODY\nloop\nthen\nrepeat drop");
    /// A string.
    Text = concat!(text_count!(), " dup OFFSETS +<- stack MANY");
    /// A string that takes no bytes if it is empty and the last value of the entry.
    TextIfAny = concat!(before_stop!(), " if ", text_count!(), " else 0 then\ndup OFFSETS +<- stack MANY");
    /// A phrase that runs unless the entry ends before it.
    IfAny = concat!(before_stop!(), " if\nBODY\nthen");
    /// A phrase that runs unless the entry ends before it, and another phrase that runs otherwise.
    IfAnyElse = concat!(before_stop!(), " if\nBODY\nelse\nOTHERWISE\nthen");
    /// Items up to the end of the entry.
    ToEnd = concat!("0 begin ", before_stop!(), " while 1+\nBODY\nrepeat OFFSETS +<- stack");
    /// As many runs of items as fit in the remaining bytes of the entry.
    Rest = "STOP @ DATA pos - N / dup OFFSETS +<- stack\nM * MANY";
    /// A number that is written to an output, and a phrase that runs if some of its bits are set.
    Flags = "READ dup N and if BODY then OUT <- stack";
    /// A list of runs of items.
    ListOfRuns = "READ dup OFFSETS +<- stack\nN * MANY";
    /// A list of items.
    ListOfItems = "READ dup OFFSETS +<- stack\nMANY";
    /// A list whose items are phrases.
    List = "READ dup OFFSETS +<- stack\n0 do\nBODY\nloop";
    /// A phrase that runs as many times as a number says.
    Times = "READ\n0 do\nBODY\nloop";
    /// A run of items.
    Run = "N MANY";
    /// A phrase that runs a fixed number of times.
    Repeat = "N 0 do\nBODY\nloop";
    /// A list of items in blocks.
    BlocksOfItems = concat!(block!(), "MANY +\nrepeat drop OFFSETS +<- stack");
    /// A list in blocks whose items are phrases.
    Blocks = concat!(block!(), "0 do\nBODY\nloop +\nrepeat drop OFFSETS +<- stack");
    /// A list of items in blocks whose sizes in bytes are checked.
    EndingBlocksOfItems = concat!(ending_block!(), "MANY", ending!(), "\nrepeat drop drop OFFSETS +<- stack");
    /// A list in blocks whose items are phrases and whose sizes in bytes are checked.
    EndingBlocks = concat!(ending_block!(), "0 do\nBODY\nloop", ending!(), "repeat drop drop OFFSETS +<- stack");
    /// A phrase that runs if a number is not zero.
    If = "READ if\nBODY\nthen";
    /// A phrase that runs if a number is not zero, and another phrase that runs otherwise.
    IfElse = "READ if\nBODY\nelse\nOTHERWISE\nthen";
    /// One of several phrases, selected by a number. There may be any number of arms, and any default.
    Case = "READ case\n0 of\nBODY\nendof\n1 of\nOTHERWISE\nendof\nCODE halt endcase";
    /// A phrase that runs if a number is not zero; the number is written to an output.
    StoredIf = "READ dup OUT <- stack if\nBODY\nthen";
    /// A phrase that runs if a number is not zero, and another phrase that runs otherwise; the number is
    /// written to an output.
    StoredIfElse = "READ dup OUT <- stack if\nBODY\nelse\nOTHERWISE\nthen";
    /// One of several phrases, selected by a number that is written to an output.
    StoredCase = "READ dup OUT <- stack case\n0 of\nBODY\nendof\n1 of\nOTHERWISE\nendof\nCODE halt endcase";
    /// A number that passes through the stack.
    Number = "READ OUT <- stack";
    /// A number that passes through the stack and is added to the last item of the output.
    AddedNumber = "READ OUT +<- stack";
    /// An item.
    Item = "ITEM";
    /// The length of one output, written to another.
    Length = "OUT len OTHER <- stack";
    /// A constant.
    Constant = "N OUT <- stack";
    /// A constant that is added to the last item of the output.
    AddedConstant = "N OUT +<- stack";
    /// A byte count around phrases, whose end stays on the stack until they have run.
    Frame = "DATA !I-> stack N - DATA pos +\nBODY\nDATA pos <> if CODE halt then";
}

/// Returns the words that leave the length of a string on the stack, as in [`Idiom::Text`]: one byte, or
/// five.
pub fn text_count(data: &str) -> String {
    text_count!().replace("DATA", data)
}

impl Idiom {
    /// Returns the lines of a program for this idiom: each placeholder is replaced by the text given for it.
    /// Lines that are a `BODY` or `OTHERWISE` without a text are left out, so that the lines around them are
    /// returned.
    ///
    /// ```
    /// use forthwith_forth::idioms::Idiom;
    /// let [count, items] = Idiom::ListOfItems.lines(&[
    ///     ("READ", "data !I-> stack"),
    ///     ("OFFSETS", "offsets"),
    ///     ("MANY", "data #!f-> content"),
    /// ]);
    /// assert_eq!(count, "data !I-> stack dup offsets +<- stack");
    /// assert_eq!(items, "data #!f-> content");
    /// ```
    ///
    /// # Panics
    /// If the number of lines is not `LINES`, which is a defect of the caller.
    pub fn lines<const LINES: usize>(self, given: &[(&str, &str)]) -> [String; LINES] {
        let lines = self.template().lines().filter_map(|line| {
            let word = |word| given.iter().find(|(name, _)| *name == word).map_or(word, |(_, text)| *text);
            let left_out = holes::BODIES.contains(&line) && word(line) == line;
            (!left_out).then(|| line.split_whitespace().map(word).collect::<Vec<_>>().join(" "))
        });
        let lines: Vec<String> = lines.collect();
        match lines.try_into() {
            Ok(lines) => lines,
            Err(lines) => panic!("{self:?} has {} lines, not {LINES}", lines.len()),
        }
    }

    /// Returns the line of an idiom that has one: see [`Self::lines`].
    ///
    /// # Panics
    /// If the idiom does not have exactly one line.
    pub fn line(self, given: &[(&str, &str)]) -> String {
        let [line] = self.lines(given);
        line
    }
}

/// A set of idioms, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idioms(u64);

const _: () = assert!(Idiom::ALL.len() <= 64, "one bit each");

impl Idioms {
    pub(crate) fn insert(&mut self, idiom: Idiom) {
        self.0 |= 1 << idiom as u8;
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Idiom> {
        Idiom::ALL.iter().copied().filter(move |idiom| self.0 >> *idiom as u8 & 1 != 0)
    }
}
