#![doc = include_str!("../IDIOMS.md")]

/// The words of a template that stand for something else, by what they stand for.
pub(crate) mod holes {
    /// Inputs: where values come from, and where entries begin and end.
    pub(crate) const INPUTS: &[&str] = &["DATA"];
    /// The variable that has the end of the entry.
    pub(crate) const VARIABLES: &[&str] = &["STOP"];
    /// Outputs.
    pub(crate) const OUTPUTS: &[&str] = &["OFFSETS", "OUT", "OTHER"];
    /// Numbers; `CODE` is before a `halt`.
    pub(crate) const NUMBERS: &[&str] = &["N", "M", "CODE"];
    /// Parsers: one number for the stack, some items for an output, one item for an output.
    pub(crate) const READS: &[&str] = &["READ", "MANY", "ITEM"];
    /// Phrases of any number.
    pub(crate) const BODIES: &[&str] = &["BODY", "OTHERWISE"];
    /// One of `> >= < <= <>`.
    pub(crate) const COMPARE: &str = "COMPARE";
}

macro_rules! idioms {
    ($($(#[doc = $doc:literal])* $name:ident = $template:expr;)*) => {
        /// A phrase that runs as native code: one template, from which programs are written and by which they
        /// are recognised.
        ///
        /// Words in capitals stand for something else: `DATA` for the input that values come from, `STOP` for
        /// the variable with the end of the entry, `OFFSETS`, `OUT` and `OTHER` for outputs, `N`, `M` and
        /// `CODE` for numbers, `READ` for a parser with its input that leaves one number on the stack, `MANY`
        /// for one that reads items into an output, `ITEM` for one that reads a single item into an output,
        /// `COMPARE` for one of `> >= < <= <>`, `BODY` and `OTHERWISE` for phrases.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Idiom {
            $($(#[doc = $doc])* $name,)*
        }

        impl Idiom {
            /// All of them, in the order in which they are looked for.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The words, a line for each line of a program.
            pub const fn template(self) -> &'static str {
                match self {
                    $(Self::$name => $template,)*
                }
            }
        }
    };
}

/// The count of a short string, and of one with 255 bytes or more.
macro_rules! text_count {
    () => {
        "DATA B-> stack dup 255 = if drop DATA !I-> stack then"
    };
}

/// Whether the entry goes on.
macro_rules! before_stop {
    () => {
        "DATA pos STOP @ <"
    };
}

/// Bytes that say how many they are.
macro_rules! skip_text {
    () => {
        "DATA zigzag-> stack dup 0 < if CODE halt then DATA skip"
    };
}

/// The words before the items of a block that need not be looked into.
macro_rules! skipped_block {
    () => {
        concat!("begin DATA zigzag-> stack dup while\ndup 0 < if drop ", skip_text!(), " else\n")
    };
}

/// The words before the items of a block, whose size in bytes makes no difference.
macro_rules! block {
    () => {
        "0 begin DATA zigzag-> stack dup 0 < if negate DATA zigzag-> stack drop then dup while\ndup "
    };
}

/// The same, if a block has to end where it says.
macro_rules! ending_block {
    () => {
        concat!(
            "0 begin DATA zigzag-> stack dup 0 < if negate DATA zigzag-> stack over 0 < over 0 < or if CODE halt then ",
            "DATA pos + else 0 then over while\nover "
        )
    };
}

/// The words behind the items of such a block, and of the last one.
macro_rules! ending {
    () => {
        " dup if DATA pos <> if CODE halt then else drop then + "
    };
}

idioms! {
    /// Go to the start of the entry, which another input has: little-endian, four bytes.
    Start = "READ DATA seek";
    /// The same, and a number of bytes farther.
    StartBehind = "READ N + DATA seek";
    /// The end of the entry, from another input.
    Stop = "READ STOP !";
    /// A byte count that has to end where the entry does.
    ByteCount = "DATA !I-> stack N - DATA pos + STOP @ <> if CODE halt then";
    /// The entry has to end here.
    CheckEnd = "DATA pos STOP @ <> if CODE halt then";
    /// A version that has to lie in a range.
    Version = "DATA !H-> stack N COMPARE if CODE halt then";
    /// So many bytes that are not wanted.
    Skip = "N DATA skip";
    /// A number that is not wanted.
    SkipNumber = "READ drop";
    /// A string that is not wanted.
    SkipText = skip_text!();
    /// Lists in blocks that are not wanted, of items of a fixed number of bytes.
    SkipBlocksOfSize = concat!(skipped_block!(), "dup DATA len > if CODE halt then N * DATA skip\nthen\nrepeat drop");
    /// The same, of items of any size.
    SkipBlocks = concat!(skipped_block!(), "0 do\nBODY\nloop\nthen\nrepeat drop");
    /// A string.
    Text = concat!(text_count!(), " dup OFFSETS +<- stack MANY");
    /// A string that takes no bytes if it is empty and the last of the entry.
    TextIfAny = concat!(before_stop!(), " if ", text_count!(), " else 0 then\ndup OFFSETS +<- stack MANY");
    /// Something, unless the entry ends before it.
    IfAny = concat!(before_stop!(), " if\nBODY\nthen");
    /// The same, or something else.
    IfAnyElse = concat!(before_stop!(), " if\nBODY\nelse\nOTHERWISE\nthen");
    /// Items up to the end of the entry.
    ToEnd = concat!("0 begin ", before_stop!(), " while 1+\nBODY\nrepeat OFFSETS +<- stack");
    /// As many runs of items as whole sizes are left in the entry.
    Rest = "STOP @ DATA pos - N / dup OFFSETS +<- stack\nM * MANY";
    /// A number of which some bits say that something stands behind it.
    Flags = "READ dup N and if BODY then OUT <- stack";
    /// A list of runs of items.
    ListOfRuns = "READ dup OFFSETS +<- stack\nN * MANY";
    /// A list of items.
    ListOfItems = "READ dup OFFSETS +<- stack\nMANY";
    /// A list of anything.
    List = "READ dup OFFSETS +<- stack\n0 do\nBODY\nloop";
    /// Anything as often as a number says.
    Times = "READ\n0 do\nBODY\nloop";
    /// A run of items.
    Run = "N MANY";
    /// Anything, repeated a number of times.
    Repeat = "N 0 do\nBODY\nloop";
    /// A list of items in blocks.
    BlocksOfItems = concat!(block!(), "MANY +\nrepeat drop OFFSETS +<- stack");
    /// A list of anything in blocks.
    Blocks = concat!(block!(), "0 do\nBODY\nloop +\nrepeat drop OFFSETS +<- stack");
    /// A list of items in blocks that have to end where they say.
    EndingBlocksOfItems = concat!(ending_block!(), "MANY", ending!(), "\nrepeat drop drop OFFSETS +<- stack");
    /// A list of anything in such blocks.
    EndingBlocks = concat!(ending_block!(), "0 do\nBODY\nloop", ending!(), "repeat drop drop OFFSETS +<- stack");
    /// Something, if a number is not zero.
    If = "READ if\nBODY\nthen";
    /// The same, or something else.
    IfElse = "READ if\nBODY\nelse\nOTHERWISE\nthen";
    /// One of several, by a number. There may be any number of arms, and anything behind the last.
    Case = "READ case\n0 of\nBODY\nendof\n1 of\nOTHERWISE\nendof\nCODE halt endcase";
    /// The same with a number that is stored.
    StoredIf = "READ dup OUT <- stack if\nBODY\nthen";
    /// The same, or something else.
    StoredIfElse = "READ dup OUT <- stack if\nBODY\nelse\nOTHERWISE\nthen";
    /// One of several, by a number that is stored.
    StoredCase = "READ dup OUT <- stack case\n0 of\nBODY\nendof\n1 of\nOTHERWISE\nendof\nCODE halt endcase";
    /// A number that passes through the stack.
    Number = "READ OUT <- stack";
    /// The same, added to the last item.
    AddedNumber = "READ OUT +<- stack";
    /// An item.
    Item = "ITEM";
    /// The length of an output.
    Length = "OUT len OTHER <- stack";
    /// A constant.
    Constant = "N OUT <- stack";
    /// A constant, added to the last item.
    AddedConstant = "N OUT +<- stack";
    /// A byte count round phrases, whose end stays on the stack until they are through.
    Frame = "DATA !I-> stack N - DATA pos +\nBODY\nDATA pos <> if CODE halt then";
}

/// The words that leave the length of a string on the stack, as [`Idiom::Text`] has it: of one byte, or of
/// five.
pub fn text_count(data: &str) -> String {
    text_count!().replace("DATA", data)
}

impl Idiom {
    /// The lines of a program that are this idiom: each word in capitals is replaced by what is given for it.
    /// Lines that are a `BODY` or `OTHERWISE` for which nothing is given are left out, and so the lines
    /// around them come back.
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
    /// If the template has another number of lines: a defect of the caller.
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

    /// An idiom of one line: see [`Self::lines`].
    ///
    /// # Panics
    /// As [`Self::lines`].
    pub fn line(self, given: &[(&str, &str)]) -> String {
        let [line] = self.lines(given);
        line
    }
}

/// Some idioms.
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
