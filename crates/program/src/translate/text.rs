//! Words that fill a Form.

use super::{
    FAULT_BLOCK_SIZE, FAULT_BRANCH, FAULT_NEGATIVE, FAULT_SYMBOL, FAULT_TRUTH, FAULT_UNKNOWN,
    FAULT_UNMATCHED, FAULT_WEIGHTLESS, FAULT_WIDE, MAX_LINES, MAX_WEIGHTLESS, Unsupported,
    alternatives::{alternative, union_key},
    forms::forms,
    literal, parser,
    shape::{MIXED, PACKED, Shape, path},
    too_deep,
};
use crate::layout::{Count, Dialect, Layout, TextLength};
use forthwith_columns::{DType, Encoding, Form, NO_NUMBER};
use forthwith_forth::idioms::{Idiom, text_count};
use std::borrow::Cow;

/// Definition that was written: the node and layout that it reads, and its name.
pub(super) type Word = (String, Layout, String);

pub(super) struct Text<'a> {
    pub(super) dialect: &'a Dialect,
    /// Whether bytes that have to be 0 or 1 are checked where they are read, except in this number of first
    /// entries.
    pub(super) checking: Option<u64>,
    /// Lines of the loop over entries, each with its member.
    pub(super) lines: Vec<(String, String)>,
    /// Definitions before the loop: the lines of each, with their members.
    pub(super) words: Vec<Vec<(String, String)>>,
    /// Definitions that read a value.
    pub(super) written: Vec<Word>,
    /// Depth of nesting in values that are written several times.
    pub(super) shared: usize,
    /// Names of variables.
    pub(super) variables: Vec<String>,
    /// Counters, with their slots and encodings.
    pub(super) counters: Vec<(u32, Encoding)>,
    /// Whether positions in the data are needed.
    pub(super) origin: bool,
    /// Total number of lines written.
    pub(super) written_lines: usize,
    /// Encoded values that are not in the data.
    pub(super) constants: Vec<u8>,
    /// Codes of the faults that the program may raise.
    pub(super) faults: Vec<i64>,
    /// Unsupported classes, each of which is a fault.
    pub(super) unknown: Vec<Layout>,
    /// Whether objects may be read again.
    pub(super) again: bool,
    /// Outputs with the targets of pointers, with their indexes.
    pub(super) objects: Vec<(String, usize)>,
    /// Encodings of the nodes whose numbers have several.
    pub(super) mixed: Vec<(String, Vec<Encoding>)>,
    /// Whether the program has the input `counts`.
    pub(super) counts: bool,
    /// Whether the program has the input `items`.
    pub(super) items: bool,
    /// Whether an entry may consume all remaining bytes.
    pub(super) to_end: bool,
    /// Whether items without bytes are counted.
    pub(super) weightless: bool,
    /// Lines after the loop over entries.
    pub(super) epilogue: String,
    /// Input that values are read from: `data` or `constants`.
    input: &'static str,
    /// Bytes to step over before the next line, with its depth and member.
    pending: Option<(u64, usize, String)>,
}

/// Position of text in the program: its depth and its member.
#[derive(Clone, Copy)]
pub(super) struct Place<'m> {
    pub(super) depth: usize,
    pub(super) member: &'m str,
}

impl Place<'_> {
    /// Returns the place `levels` levels deeper.
    pub(super) const fn within(self, levels: usize) -> Self {
        Self { depth: self.depth + levels, ..self }
    }

    /// Returns the place of another member at the same depth.
    pub(super) const fn of(self, member: &str) -> Place<'_> {
        Place { depth: self.depth, member }
    }
}

/// Result of writing text.
pub(super) type Made = Result<(), Unsupported>;

impl<'a> Text<'a> {
    pub(super) fn new(dialect: &'a Dialect, checking: Option<u64>) -> Self {
        Self {
            dialect,
            checking,
            lines: Vec::new(),
            words: Vec::new(),
            written: Vec::new(),
            shared: 0,
            variables: Vec::new(),
            counters: Vec::new(),
            origin: false,
            written_lines: 0,
            constants: Vec::new(),
            // Unsigned lengths may exceed the range of the stack.
            faults: if dialect.text == TextLength::Leb128 { vec![FAULT_NEGATIVE] } else { Vec::new() },
            unknown: Vec::new(),
            counts: false,
            items: false,
            to_end: false,
            again: false,
            objects: Vec::new(),
            mixed: Vec::new(),
            weightless: false,
            epilogue: String::new(),
            input: "data",
            pending: None,
        }
    }

    /// Prepares the text for the outputs of `shape`.
    pub(super) fn look_at(&mut self, shape: &Shape) {
        self.objects = shape.objects();
    }

    pub(super) fn line(&mut self, place: Place<'_>, text: String) {
        self.flush();
        self.written_lines += 1;
        self.lines.push((format!("{:indent$}{text}", "", indent = 2 * place.depth), place.member.into()));
    }

    /// Steps over bytes. Adjacent bytes are stepped over together.
    pub(super) fn pass(&mut self, bytes: u64, place: Place<'_>) {
        match &mut self.pending {
            Some((sum, ..)) => *sum = sum.saturating_add(bytes),
            None if bytes > 0 => self.pending = Some((bytes, place.depth, place.member.into())),
            None => {}
        }
    }

    /// Writes the line that steps over pending bytes.
    pub(super) fn flush(&mut self) {
        if let Some((mut bytes, depth, member)) = self.pending.take() {
            while bytes > 0 {
                let step = bytes.min(i32::MAX as u64);
                let skip = Idiom::Skip.line(&[("N", &step.to_string()), ("DATA", self.input)]);
                let text = format!("{:indent$}{skip}", "", indent = 2 * depth);
                self.lines.push((text, member.clone()));
                bytes -= step;
            }
        }
    }

    pub(super) fn halt(&mut self, code: i64) -> String {
        if !self.faults.contains(&code) {
            self.faults.push(code);
        }
        format!("{code} halt")
    }

    /// Writes the fault for a value of an unsupported class.
    pub(super) fn unknown(&mut self, what: &Layout, place: Place<'_>) {
        let halt = self.halt_at(what);
        self.line(place, halt);
    }

    /// Returns the words that halt at a value of an unsupported class.
    pub(super) fn halt_at(&mut self, what: &Layout) -> String {
        let known = self.unknown.iter().position(|known| known == what);
        let at = known.unwrap_or_else(|| {
            self.unknown.push(what.clone());
            self.unknown.len() - 1
        });
        format!("{} halt", FAULT_UNKNOWN + at as i64)
    }

    pub(super) const fn input(&self) -> &'static str {
        self.input
    }

    /// Returns the words that leave the length of a text on the stack.
    pub(super) fn length(&self) -> String {
        let input = self.input;
        match self.dialect.text {
            TextLength::ByteThenWord => text_count(input),
            TextLength::Big32 => format!("{input} !I-> stack"),
            TextLength::ZigZag => format!("{input} zigzag-> stack"),
            TextLength::Leb128 => {
                format!("{input} varint-> stack dup 0 < if {FAULT_NEGATIVE} halt then")
            }
        }
    }

    /// Returns the words that read a text.
    fn text(&self, key: &str) -> String {
        let (offsets, many) = (format!("{key}-offsets"), format!("{} #B-> {key}-data", self.input));
        match self.dialect.text {
            TextLength::ByteThenWord => {
                Idiom::Text.line(&[("DATA", self.input), ("OFFSETS", &offsets), ("MANY", &many)])
            }
            TextLength::Big32 | TextLength::ZigZag | TextLength::Leb128 => {
                text_of(&self.length(), &offsets, &many)
            }
        }
    }

    /// Writes the words that read a value to the outputs of `form`.
    pub(super) fn value(&mut self, layout: &Layout, form: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        too_deep(place.depth, place.member)?;
        if self.written_lines > MAX_LINES {
            return Err(Unsupported(format!("{member}: a program of more than {MAX_LINES} lines")));
        }
        if self.as_word(layout, form, place)? {
            return Ok(());
        }
        let input = self.input;
        // Logical types are read as the values that they consist of.
        let form = form.kept();
        match (layout, form) {
            (Layout::Logical(_, of), form) => self.value(of, form, place)?,
            (Layout::Mixed(wire, _), Form::Numpy { key, .. }) => {
                let which = self.which(*wire, key, member)?;
                let width = wire.width();
                self.line(
                    place,
                    format!("{which} {key}-{MIXED} <- stack {width} {input} #B-> {key}-{MIXED}"),
                );
            }
            (
                Layout::Number(wire @ (Encoding::Scaled { .. } | Encoding::Truncated { .. })),
                Form::Numpy { key, .. },
            ) => {
                self.line(place, format!("{} {input} #B-> {key}-{PACKED}", wire.width()));
            }
            (Layout::Number(Encoding::StrictBool), Form::Numpy { key, .. }) => match self.checking {
                None => self.line(place, format!("{input} B-> {key}-{PACKED}")),
                Some(ahead) => {
                    let bad = self.halt(FAULT_TRUTH);
                    let bad = if ahead > 0 { format!("entry @ {ahead} > if {bad} then") } else { bad };
                    let check = format!("dup 1 > if {bad} then");
                    self.line(place, format!("{input} B-> stack {check} {key}-data <- stack"));
                }
            },
            (Layout::Number(wire) | Layout::Converted(wire, _), Form::Numpy { key, .. }) => {
                let code = parser(*wire, member)?;
                self.line(place, format!("{input} {code}-> {key}-data"));
            }
            (Layout::Varint(DType::Int32), Form::Numpy { key, .. }) => {
                // Larger numbers would be truncated silently.
                let wide = self.halt(FAULT_WIDE);
                let check = format!("dup {} < over {} > or if {wide} then", i32::MIN, i32::MAX);
                self.line(place, format!("{input} zigzag-> stack {check} {key}-data <- stack"));
            }
            (Layout::Varint(_), Form::Numpy { key, .. }) => {
                self.line(place, format!("{input} zigzag-> {key}-data"));
            }
            (Layout::Leb128 { zigzag, dtype }, Form::Numpy { key, .. }) => {
                let text = match (zigzag, dtype) {
                    (false, _) => format!("{input} varint-> {key}-data"),
                    (true, DType::Int64) => format!("{input} zigzag-> {key}-data"),
                    // Higher bits than the column has must not reach its highest one.
                    (true, DType::Int32) => format!(
                        "{input} varint-> stack dup 1 rshift {} and swap 1 and negate xor {key}-data <- stack",
                        i32::MAX
                    ),
                    _ => return Err(differ(member)),
                };
                self.line(place, text);
            }
            (Layout::Symbol { names, delivered }, form) => self.symbol(names, *delivered, form, place)?,
            (Layout::Text | Layout::Bytes, Form::String { key, .. }) => {
                let text = self.text(key);
                self.line(place, text);
            }
            (Layout::Opaque(size), Form::String { key, .. }) => {
                let size = literal(*size, member)?.to_string();
                let (offsets, many) = (format!("{key}-offsets"), format!("{input} #B-> {key}-data"));
                let count = Idiom::AddedConstant.line(&[("N", &size), ("OUT", &offsets)]);
                let bytes = Idiom::Run.line(&[("N", &size), ("MANY", &many)]);
                self.line(place, format!("{count} {bytes}"));
            }
            (Layout::List(item), Form::List { key, content }) => {
                self.list(item, key, content, place)?;
            }
            (Layout::Map(value), Form::List { key, content }) => match &**content {
                Form::Record { contents, .. } if contents.len() == 2 => {
                    let least = 1;
                    self.open(key, least, place);
                    self.value(
                        &Layout::Text,
                        &contents[0],
                        place.within(1).of(&format!("{member}{{}}.key")),
                    )?;
                    self.value(value, &contents[1], place.within(1).of(&format!("{member}{{}}.value")))?;
                    self.close(key, place);
                }
                _ => return Err(differ(member)),
            },
            (Layout::Fixed(size, item), Form::Regular { content, .. }) => {
                let size = literal(*size, member)?;
                if let (Some(wire), Form::Numpy { key, .. }) = (self.in_one_go(item), &**content) {
                    let (width, words) = self.bulk(wire, key, member)?;
                    let many = format!("{width}{words}");
                    self.line(place, Idiom::Run.line(&[("N", &size.to_string()), ("MANY", &many)]));
                } else {
                    let [begin, end] = Idiom::Repeat.lines(&[("N", &size.to_string())]);
                    self.line(place, begin);
                    self.value(item, content, place.within(1).of(&format!("{member}[]")))?;
                    self.line(place, end);
                }
            }
            (
                Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
                Form::Record { contents, .. },
            ) => {
                self.fields(fields, forms(layout, fields, contents), place)?;
            }
            (Layout::Null, Form::Option { key, .. }) => {
                self.line(place, constant(0, key, "tags"));
            }
            (Layout::Enum { keep, symbols }, form) if symbols_key(form).is_some() => {
                match (keep, symbols_key(form).unwrap_or_default()) {
                    (None, key) => {
                        let bad = self.halt(FAULT_SYMBOL);
                        let count = literal(symbols.len() as u64, member)?;
                        let check = format!("dup 0 < over {count} >= or if {bad} then");
                        self.line(place, format!("{input} zigzag-> stack {check} {key}-index <- stack"));
                    }
                    (Some(keep), key) => {
                        let bad = self.halt(FAULT_SYMBOL);
                        let unmatched = self.halt(FAULT_UNMATCHED);
                        let arms = keep.iter().enumerate().map(|(from, to)| match to {
                            Some(to) => format!("{from} of {to} {key}-index <- stack endof "),
                            None => format!("{from} of {unmatched} endof "),
                        });
                        let arms: String = arms.collect();
                        self.line(place, format!("{input} zigzag-> stack case {arms}{bad} endcase"));
                    }
                }
            }
            (Layout::Union(union), form) => self.union(union, form, place)?,
            (Layout::Chosen { tag, value, alternatives }, form) => {
                let tagged = alternatives.len() > 1;
                if let (true, Some(key)) = (tagged, union_key(form)) {
                    self.line(place, constant(*tag, key, "tags"));
                }
                if !tagged || **value != Layout::Null {
                    let form = alternative(alternatives, *tag, form).ok_or_else(|| differ(member))?;
                    self.value(value, form, place.within(1))?;
                }
            }
            (Layout::Constant(bytes, of), form) => {
                let at = self.constants.len();
                self.constants.extend_from_slice(bytes);
                // The input must exist even if it is empty.
                self.constants.push(0);
                let at = literal(at as u64, member)?;
                self.line(place, format!("{at} constants seek"));
                let outer = std::mem::replace(&mut self.input, "constants");
                let done = self.value(of, form, place);
                self.flush();
                self.input = outer;
                done?;
            }
            (Layout::Skipped(of), _) => self.skip(of, place)?,
            (other, form) => self.framed(other, form, place)?,
        }
        Ok(())
    }

    /// Returns the index of an encoding among those of a node, to which it is added.
    fn which(&mut self, wire: Encoding, key: &str, member: &str) -> Result<usize, Unsupported> {
        let at = self.mixed.iter().position(|(node, _)| node == key).unwrap_or_else(|| {
            self.mixed.push((key.to_owned(), Vec::new()));
            self.mixed.len() - 1
        });
        let wires = &mut self.mixed[at].1;
        let which = wires.iter().position(|known| *known == wire).unwrap_or_else(|| {
            wires.push(wire);
            wires.len() - 1
        });
        match which < usize::from(NO_NUMBER) {
            true => Ok(which),
            false => Err(Unsupported(format!("{member}: a number that is stored in {which} ways"))),
        }
    }

    fn fields(
        &mut self,
        fields: &[(String, Layout)],
        forms: Vec<Option<Cow<'_, Form>>>,
        place: Place<'_>,
    ) -> Made {
        let member = place.member;
        for ((field, layout), form) in fields.iter().zip(forms) {
            let inner = path(member, field, layout);
            match form {
                Some(form) => self.value(layout, &form, place.of(&inner))?,
                None => self.skip(layout, place.of(&inner))?,
            }
        }
        Ok(())
    }

    /// Returns the encoding of numbers that one word can read together, or `None` for other values.
    pub(super) fn in_one_go(&self, layout: &Layout) -> Option<Encoding> {
        match layout {
            Layout::Number(Encoding::StrictBool) if self.checking.is_some() => None,
            Layout::Number(wire) => Some(*wire),
            _ => None,
        }
    }

    fn list(&mut self, item: &Layout, key: &str, content: &Form, place: Place<'_>) -> Made {
        let member = place.member;
        let input = self.input;
        let inner = format!("{member}[]");
        // One word reads as many numbers as the count on the stack.
        let number = match (item, content) {
            (Layout::Fixed(size, of), Form::Regular { content, .. }) => {
                match (self.in_one_go(of), &**content) {
                    (Some(wire), Form::Numpy { key, .. }) => Some((Some(*size), wire, key)),
                    _ => None,
                }
            }
            (item, Form::Numpy { key, .. }) => self.in_one_go(item).map(|wire| (None, wire, key)),
            _ => None,
        };
        if let Some((size, wire, leaf)) = number {
            let (width, words) = self.bulk(wire, leaf, &inner)?;
            let times = match size {
                Some(size) => format!("{} * {width}", literal(size, member)?),
                None => width,
            };
            let offsets = format!("{key}-offsets");
            match self.dialect.counts {
                Count::Big32 => {
                    let read = format!("{input} !I-> stack");
                    let given = [("READ", &*read), ("OFFSETS", &*offsets)];
                    let [count, items] = match times.strip_suffix(" * ") {
                        Some(n) => Idiom::ListOfRuns.lines(&[given[0], given[1], ("N", n), ("MANY", &words)]),
                        None => Idiom::ListOfItems.lines(&[given[0], given[1], ("MANY", &words)]),
                    };
                    self.line(place, count);
                    self.line(place.of(&inner), items);
                }
                Count::Blocks => {
                    let [block, items, end] = Idiom::EndingBlocksOfItems.lines(&[
                        ("DATA", input),
                        ("OFFSETS", &offsets),
                        ("MANY", &format!("{times}{words}")),
                        ("CODE", &self.code(FAULT_BLOCK_SIZE)),
                    ]);
                    self.line(place, block);
                    self.line(place.within(1).of(&inner), items);
                    self.line(place, end);
                }
            }
            return Ok(());
        }
        self.open(key, item.least_bytes(), place);
        self.value(item, content, place.within(1).of(&inner))?;
        self.close(key, place);
        Ok(())
    }

    /// Returns the lines around the items of a list: two before them, and one after them.
    fn around(&mut self, key: &str) -> [String; 3] {
        let (input, offsets) = (self.input, format!("{key}-offsets"));
        match self.dialect.counts {
            Count::Big32 => {
                let read = format!("{input} !I-> stack");
                Idiom::List.lines(&[("READ", &read), ("OFFSETS", &offsets)])
            }
            Count::Blocks => {
                let code = self.code(FAULT_BLOCK_SIZE);
                Idiom::EndingBlocks.lines(&[("DATA", input), ("OFFSETS", &offsets), ("CODE", &code)])
            }
        }
    }

    /// Writes the lines before the items of a list.
    fn open(&mut self, key: &str, least: u64, place: Place<'_>) {
        let check = self.weigh(least);
        let [count, begin, _] = self.around(key);
        self.line(place, count);
        // The check is between the count and the loop.
        let before = begin.strip_suffix("0 do").unwrap_or_default();
        self.line(place, if check.is_empty() { begin } else { format!("{before}{check}0 do") });
    }

    /// Returns the words that check a count of items if those may take no bytes.
    pub(super) fn weigh(&mut self, least: u64) -> String {
        if least > 0 {
            return String::new();
        }
        self.weightless = true;
        let halt = self.halt(FAULT_WEIGHTLESS);
        format!(
            "dup 0 < over {MAX_WEIGHTLESS} > or if {halt} then \
             dup weightless +! weightless @ {MAX_WEIGHTLESS} > if {halt} then "
        )
    }

    /// Declares a new variable and returns its name, which begins with `what`.
    pub(super) fn variable(&mut self, what: &str) -> String {
        let name = format!("{what}{}", self.variables.len());
        self.variables.push(name.clone());
        name
    }

    /// Declares a variable unless it is declared already, and returns its name.
    pub(super) fn declare(&mut self, name: &str) -> String {
        if !self.variables.iter().any(|known| known == name) {
            self.variables.push(name.into());
        }
        name.into()
    }

    /// Defines a word with a body of one line, and returns its name.
    pub(super) fn variable_word(&mut self, words: &str) -> String {
        let name = format!("read{}", self.words.len());
        self.define(&name, vec![(format!("  {words}"), String::new())]);
        name
    }

    /// Defines a word.
    pub(super) fn define(&mut self, name: &str, body: Vec<(String, String)>) {
        let mut lines = vec![(format!(": {name}"), String::new())];
        lines.extend(body);
        lines.push((";".into(), String::new()));
        self.words.push(lines);
    }

    /// Writes the line after the items of a list.
    fn close(&mut self, key: &str, place: Place<'_>) {
        let [.., end] = self.around(key);
        self.line(place, end);
    }

    /// Returns the code of a fault, which it adds to those that the program may raise.
    pub(super) fn code(&mut self, fault: i64) -> String {
        self.halt(fault);
        fault.to_string()
    }

    /// Returns the lines before and after the arms of a choice by a number. If `store` names an output, the
    /// number is appended to it.
    pub(super) fn case(&mut self, store: Option<&str>) -> (String, String) {
        let (read, code) = (format!("{} zigzag-> stack", self.input), self.code(FAULT_BRANCH));
        let given = [("READ", &*read), ("CODE", &*code)];
        let [head, .., end]: [String; 6] = match store {
            Some(output) => Idiom::StoredCase.lines(&[given[0], given[1], ("OUT", output)]),
            None => Idiom::Case.lines(&given),
        };
        (head, end)
    }

    pub(super) fn negative(&mut self) -> String {
        self.halt(FAULT_NEGATIVE)
    }

    pub(super) fn take_lines(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.lines)
    }
}

/// Returns the words that append a constant to an output.
pub(super) fn constant(number: u32, key: &str, part: &str) -> String {
    Idiom::Constant.line(&[("N", &number.to_string()), ("OUT", &format!("{key}-{part}"))])
}

/// Returns the words that read a version, whose highest bits tell that items are stored member-wise.
pub(super) fn version(input: &str, code: &str) -> String {
    Idiom::Version.line(&[("DATA", input), ("N", "16383"), ("COMPARE", ">"), ("CODE", code)])
}

/// Returns the words that read a text in one line, with `count` as the words for its length.
pub(super) fn text_of(count: &str, offsets: &str, many: &str) -> String {
    let lines: [String; 2] =
        Idiom::ListOfItems.lines(&[("READ", count), ("OFFSETS", offsets), ("MANY", many)]);
    lines.join(" ")
}

/// Returns the node to which an enum writes the numbers of symbols, or `None` if `form` has none.
pub(super) fn symbols_key(form: &Form) -> Option<&str> {
    match form {
        Form::String { key, .. } | Form::Categorical { key, .. } => Some(key),
        _ => None,
    }
}

pub(super) fn differ(member: &str) -> Unsupported {
    Unsupported(format!("{member}: a type that does not fit its columns"))
}
