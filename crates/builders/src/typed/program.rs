//! The program that does what a builder does, as text that a reader can check and a machine can run.
//!
//! The program waits in one `pause`. For each command the host sets the variables `command` and `argument`,
//! binds the value to the input `data`, and resumes; the program looks up what is expected (`state`), appends
//! to its outputs, and waits again. A command that it refuses it refuses before it has written anything, and
//! says why in the variable `error`.

mod words;

use super::offers::{HOPELESS, Offer, Refusal, best, commands};
use super::state::State;
use crate::Command;
use crate::form::Index;
use crate::table::{Columns, Nodes, Record};
use forthwith_columns::DType;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use words::{arguments_of, below, case, literal, number, plain, range, refuse, refused, wide};

pub(super) struct Program<'a> {
    nodes: &'a Nodes,
    keys: Vec<usize>,
    offers: &'a [Box<[Offer]>],
    /// Names of records; their numbers, from 1, are arguments of `begin_record`.
    pub(super) names: Vec<Box<str>>,
    /// Names, types, and whether a zero stands first.
    pub(super) outputs: Vec<(String, DType, bool)>,
    pub(super) variables: Vec<String>,
    /// Words that several states call, with their lines.
    words: Vec<(String, Vec<String>)>,
    /// Places, and what is done there.
    states: Vec<(String, Vec<String>)>,
    /// The lines that begin a list, tuple or record.
    begins: HashMap<u32, Vec<String>>,
}

/// A place where a value is expected, and what comes of it.
struct Place {
    path: String,
    /// Lines before any value.
    guard: Vec<String>,
    /// Lines after any value.
    after: Vec<String>,
    /// The state after that; `None` for the same again.
    next: Option<usize>,
    /// Commands that are no values, with the words that carry them out.
    ends: Vec<(Command, String)>,
}

/// Variables that every program has, in this order.
pub(super) const FIXED: [&str; 5] = ["command", "argument", "error", "state", "length"];
/// The word that goes back to an earlier state, which the host writes into the data: the variables, then the
/// lengths of the outputs.
pub(super) const ROLLBACK: &str = "rollback";
/// Fields that share a variable: literals have 32 bits and a sign.
const BITS: usize = 31;

impl<'a> Program<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let (nodes, offers) = (&state.nodes, &state.offers);
        let mut names: Vec<Box<str>> = Vec::new();
        for node in nodes.numbers() {
            if let Columns::Record(record) = nodes.at(node)
                && !record.name.is_empty()
                && !names.contains(&record.name)
            {
                names.push(record.name.clone());
            }
        }
        let mut program = Self {
            nodes,
            keys: nodes.keys(),
            offers,
            names,
            outputs: Vec::new(),
            variables: FIXED.map(String::from).into(),
            words: Vec::new(),
            states: Vec::new(),
            begins: HashMap::new(),
        };
        let after = vec!["1 length +!".into()];
        let path = String::new();
        program.place(0, &Place { path, guard: Vec::new(), after, next: None, ends: Vec::new() });
        program
    }

    /// Writes the states of a place and answers the number of the first.
    fn place(&mut self, node: u32, place: &Place) -> usize {
        let state = self.states.len();
        self.states.push((place.path.clone(), Vec::new()));
        let next = place.next.unwrap_or(state);
        self.declare(node, place, next);
        let tags: BTreeSet<u8> = self.offers[node as usize].iter().filter_map(|offer| offer.tag).collect();
        let states: Vec<(u8, usize)> = tags.into_iter().zip(self.states.len()..).collect();
        for (tag, _) in &states {
            self.states.push((format!("{}|{tag}", place.path), Vec::new()));
        }
        self.states[state].1 = self.state(node, None, place, state, next, &states);
        for (tag, at) in &states {
            self.states[*at].1 = self.state(node, Some(*tag), place, *at, next, &states);
        }
        state
    }

    /// Declares the outputs and variables of a node and of those below; writes the words and states within
    /// lists, tuples and records.
    fn declare(&mut self, node: u32, place: &Place, next: usize) {
        let nodes = self.nodes;
        let index_type = |width| match width {
            Index::I32 => DType::Int32,
            Index::U32 => DType::UInt32,
            Index::I64 => DType::Int64,
        };
        match nodes.at(node) {
            Columns::Text { layout, .. } => {
                self.output(self.out(node, "offsets"), index_type(layout.width), true);
                self.output(self.out(node, "bytes"), DType::UInt8, false);
                if layout.width != Index::I64 {
                    self.variables.push(format!("total{node}"));
                }
            }
            Columns::Fixed { .. } => self.output(self.out(node, "bytes"), DType::UInt8, false),
            Columns::List { layout, content, .. } => {
                self.variables.push(format!("count{node}"));
                self.output(self.out(node, "offsets"), index_type(layout.width), true);
                let offsets = self.out(node, "offsets");
                let mut end = Vec::new();
                if layout.width != Index::I64 {
                    self.variables.push(format!("total{node}"));
                    end.push(wide(&format!("count{node} @"), node, layout.width));
                }
                end.push(format!("count{node} @ {offsets} +<- stack"));
                if layout.width != Index::I64 {
                    end.push(format!("count{node} @ total{node} +!"));
                }
                self.list(node, *content, Vec::new(), end, place, next);
            }
            Columns::Regular { size, content, .. } => {
                self.variables.push(format!("count{node}"));
                let size = literal(*size as i64);
                let guard = vec![format!("count{node} @ {size} >= {}", refuse(Refusal::Full))];
                let end = vec![format!("count{node} @ {size} <> {}", refuse(Refusal::Short))];
                self.list(node, *content, guard, end, place, next);
            }
            Columns::Record(record) => {
                let commands = match record.is_tuple {
                    true => [Command::Index, Command::EndTuple],
                    false => [Command::Field, Command::EndRecord],
                };
                self.record(node, record, commands, place, next);
            }
            Columns::Indexed { width, content, .. } => {
                self.output(self.out(node, "index"), index_type(*width), false);
                self.variables.push(format!("rows{node}"));
                self.declare(*content, place, next);
            }
            Columns::Masked { content, .. } => {
                self.output(self.out(node, "mask"), DType::Int8, false);
                self.declare(*content, place, next);
            }
            Columns::Unmasked { content } => self.declare(*content, place, next),
            Columns::Union { width, contents, .. } => {
                self.output(self.out(node, "tags"), DType::Int8, false);
                self.output(self.out(node, "index"), index_type(*width), false);
                for content in contents {
                    self.variables.push(format!("rows{node}-{content}"));
                    self.declare(*content, place, next);
                }
            }
            columns => {
                if let Some((dtype, _)) = number(columns) {
                    self.output(self.out(node, "data"), dtype, false);
                }
            }
        }
    }

    fn list(
        &mut self,
        node: u32,
        content: u32,
        guard: Vec<String>,
        mut end: Vec<String>,
        place: &Place,
        next: usize,
    ) {
        end.extend(place.after.iter().cloned());
        end.push(format!("{next} state !"));
        self.words.push((format!("end{node}"), end));
        let inner = Place {
            path: format!("{}[]", place.path),
            guard,
            after: vec![format!("1 count{node} +!")],
            next: None,
            ends: vec![(Command::EndList, format!("end{node}"))],
        };
        let state = self.place(content, &inner);
        self.begins.insert(node, vec![format!("0 count{node} !"), format!("{state} state !")]);
    }

    fn record(
        &mut self,
        node: u32,
        record: &Record,
        [select, close]: [Command; 2],
        place: &Place,
        next: usize,
    ) {
        let filled = |at: usize| format!("filled{node}-{}", at / BITS);
        let masks = record.fields.len().div_ceil(BITS);
        self.variables.extend((0..masks).map(|mask| filled(mask * BITS)));
        let between = self.states.len();
        let ends = vec![(select, format!("select{node}")), (close, format!("end{node}"))];
        let mut lines: Vec<String> = Vec::new();
        ends.iter().for_each(|(command, word)| lines.extend(case(*command, vec![word.clone()])));
        lines.push(refused(Refusal::Unexpected));
        self.states.push((place.path.clone(), lines));

        let mut cases = vec!["argument @ case".to_owned()];
        let mut required = vec![0i64; masks];
        let (mut checks, mut writes) = (Vec::new(), Vec::new());
        for (at, field) in record.fields.iter().enumerate() {
            let content = &field.content;
            let (filled, bit) = (filled(at), 1i64 << (at % BITS));
            let inner = Place {
                path: format!("{}.{}", place.path, record.name_of(at)),
                guard: Vec::new(),
                after: vec![format!("{bit} {filled} +!")],
                next: Some(between),
                ends: ends.clone(),
            };
            let state = self.place(*content, &inner);
            cases.push(format!("  {at} of {filled} @ {bit} and {}", refuse(Refusal::Twice)));
            cases.push(format!("    {state} state ! endof"));
            let null = best(&self.offers[*content as usize], Command::Null, None, |_| true);
            match null {
                Ok(null) if null.rank != HOPELESS => {
                    let (check, write) = self.along(*content, null);
                    let lacks = format!("{filled} @ {bit} and 0= if");
                    if !check.is_empty() {
                        checks.push(format!("{lacks} {} then", check.join(" ")));
                    }
                    writes.push(format!("{lacks} {} then", write.join(" ")));
                }
                _ => required[at / BITS] |= bit,
            }
        }
        cases.extend([format!("  {}", refused(Refusal::Argument)), "endcase".into()]);
        self.words.push((format!("select{node}"), cases));
        let mut end: Vec<String> = Vec::new();
        for (mask, bits) in required.into_iter().enumerate().filter(|(_, bits)| *bits != 0) {
            let filled = filled(mask * BITS);
            end.push(format!("{filled} @ {bits} and {bits} <> {}", refuse(Refusal::Missing)));
        }
        end.extend(checks.into_iter().chain(writes).chain(place.after.iter().cloned()));
        end.push(format!("{next} state !"));
        self.words.push((format!("end{node}"), end));
        let mut begin: Vec<String> = (0..masks).map(|mask| format!("0 {} !", filled(mask * BITS))).collect();
        begin.push(format!("{between} state !"));
        self.begins.insert(node, begin);
    }

    /// The lines of a state: of a place, where this alternative is chosen.
    fn state(
        &self,
        node: u32,
        tag: Option<u8>,
        place: &Place,
        state: usize,
        next: usize,
        tags: &[(u8, usize)],
    ) -> Vec<String> {
        let offers = &self.offers[node as usize];
        let commands = commands(offers, tag);
        let mut lines = Vec::new();
        let mut known = Vec::new();
        for (command, clear) in commands {
            let meant = |argument: usize| {
                let offer = best(offers, command, tag, |offer| self.arguments(*offer).contains(&argument));
                offer.map(|offer| self.value(node, offer, place, state, next))
            };
            let told = match command {
                Command::BeginTuple | Command::BeginRecord => {
                    let of = offers.iter().filter(|offer| offer.command == command);
                    let arguments: BTreeSet<usize> = of.flat_map(|offer| self.arguments(*offer)).collect();
                    let each = arguments.into_iter().filter_map(|argument| match meant(argument) {
                        Ok(lines) => Some((argument, lines)),
                        Err(Refusal::Ambiguous) => Some((argument, vec![refused(Refusal::Ambiguous)])),
                        Err(_) => None, // of another alternative
                    });
                    arguments_of(each.collect())
                }
                _ if clear => match best(offers, command, tag, |_| true) {
                    Ok(offer) => self.value(node, offer, place, state, next),
                    Err(refusal) => vec![refused(refusal)],
                },
                // In a tuple, it selects a slot.
                Command::Index if place.ends.iter().any(|(end, _)| *end == command) => continue,
                _ => vec![refused(Refusal::Ambiguous)],
            };
            known.push(command);
            lines.extend(case(command, told));
        }
        if !tags.is_empty() {
            let each = tags.iter().map(|(tag, state)| {
                let lines = place.guard.iter().cloned().chain([format!("{state} state !")]);
                (usize::from(*tag), lines.collect())
            });
            lines.extend(case(Command::Tag, arguments_of(each.collect())));
        }
        for (command, word) in place.ends.iter().filter(|(command, _)| !known.contains(command)) {
            lines.extend(case(*command, vec![word.clone()]));
        }
        lines.push(refused(Refusal::Unexpected));
        lines
    }

    /// The arguments with which a tuple or record is begun.
    fn arguments(&self, offer: Offer) -> Vec<usize> {
        match self.nodes.at(offer.node) {
            Columns::Record(record) if record.is_tuple => vec![record.fields.len()],
            Columns::Record(record) => {
                let number = self.names.iter().position(|name| *name == record.name);
                [0].into_iter().chain(number.map(|number| number + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All lines of a value that is told in a state.
    fn value(&self, node: u32, offer: Offer, place: &Place, state: usize, next: usize) -> Vec<String> {
        let (checks, writes) = self.along(node, offer);
        let mut lines: Vec<String> = place.guard.iter().cloned().chain(checks).collect();
        if offer.rank == HOPELESS {
            let null = offer.command == Command::Null;
            lines.push(refused(if null { Refusal::Placeless } else { Refusal::Range }));
            return lines;
        }
        lines.extend(writes);
        if !matches!(offer.command, Command::BeginList | Command::BeginTuple | Command::BeginRecord) {
            lines.extend(place.after.iter().cloned());
            if next != state {
                lines.push(format!("{next} state !"));
            }
        }
        lines
    }

    /// The lines of checks, and of writes, from a place to the node that takes the value.
    fn along(&self, place: u32, offer: Offer) -> (Vec<String>, Vec<String>) {
        let (mut checks, mut writes) = (Vec::new(), Vec::new());
        let mut node = place;
        loop {
            let columns = self.nodes.at(node);
            match columns {
                Columns::Union { width, contents, .. } => {
                    let tag = offer.tag.unwrap_or(0);
                    let content = contents[usize::from(tag)];
                    checks.extend(below(&format!("rows{node}-{content}"), *width));
                    writes.push(format!("{tag} {} <- stack", self.out(node, "tags")));
                    writes.push(self.next_row(node, &format!("rows{node}-{content}")));
                    node = content;
                }
                _ if node == offer.node => break,
                Columns::Indexed { width, content, .. } => {
                    checks.extend(below(&format!("rows{node}"), *width));
                    writes.push(self.next_row(node, &format!("rows{node}")));
                    node = *content;
                }
                Columns::Masked { valid, content, .. } => {
                    writes.push(format!("{valid} {} <- stack", self.out(node, "mask")));
                    node = *content;
                }
                _ => match columns.inner() {
                    Some(content) => node = content,
                    None => break, // never: the offer is of a node below
                },
            }
        }
        let (check, write) = self.leaf(node, offer.command);
        checks.extend(check);
        writes.extend(write);
        (checks, writes)
    }

    /// The lines of checks, and of writes, at the node that takes the value.
    fn leaf(&self, node: u32, command: Command) -> (Vec<String>, Vec<String>) {
        let out = |part| self.out(node, part);
        let write = |lines: Vec<String>| (Vec::new(), lines);
        match (self.nodes.at(node), command) {
            (Columns::Indexed { .. }, Command::Null) => write(vec![format!("-1 {} <- stack", out("index"))]),
            (Columns::Indexed { .. }, _) => {
                let other =
                    format!("argument @ 0 < argument @ rows{node} @ >= or {}", refuse(Refusal::Argument));
                (vec![other], vec![format!("argument @ {} <- stack", out("index"))])
            }
            (Columns::Masked { .. }, _) => write(self.blank(node)),
            (Columns::Text { layout, .. }, _) => {
                let mut lines =
                    vec![format!("data len dup {} +<- stack data #B-> {}", out("offsets"), out("bytes"))];
                if layout.width == Index::I64 {
                    return write(lines);
                }
                lines.push(format!("data len total{node} +!"));
                (vec![wide("data len", node, layout.width)], lines)
            }
            (Columns::Fixed { size, .. }, _) => {
                let check = format!("data len {} <> {}", literal(*size as i64), refuse(Refusal::Length));
                (vec![check], vec![format!("data len data #B-> {}", out("bytes"))])
            }
            (Columns::Complex64(_) | Columns::Complex128(_), Command::Complex) => {
                write(vec![format!("2 data #d-> {}", out("data"))])
            }
            (columns, _) => {
                let parser = match command {
                    Command::Boolean => '?',
                    Command::Unsigned => 'Q',
                    Command::Real => 'd',
                    _ => 'q',
                };
                match (number(columns), range(columns)) {
                    (None, _) => write(self.begins.get(&node).cloned().unwrap_or_default()),
                    (_, Some((low, high))) if command == Command::Integer => {
                        let below = format!("dup {} <", literal(low));
                        let outside = match high {
                            // The number read fits 64 bits with a sign.
                            i64::MAX => below,
                            _ => format!("{below} over {} > or", literal(high)),
                        };
                        let range = Refusal::Range as u8;
                        let check = format!("data q-> stack {outside} if drop {range} error ! exit then");
                        (vec![check], vec![format!("{} <- stack", out("data"))])
                    }
                    (Some((_, parts)), _) => {
                        let mut lines = vec![format!("data {parser}-> {}", out("data"))];
                        lines.extend((1..parts).map(|_| format!("0 {} <- stack", out("data"))));
                        write(lines)
                    }
                }
            }
        }
    }

    /// The lines that append a row which stands in the place of a null; of an option it is the null itself.
    fn blank(&self, node: u32) -> Vec<String> {
        let out = |part| self.out(node, part);
        let zeros = |output: String, items: usize| match items {
            0 => Vec::new(),
            1 => vec![format!("0 {output} <- stack")],
            _ => vec![format!("0 {output} <- stack {} {output} dup", literal((items - 1) as i64))],
        };
        match self.nodes.at(node) {
            Columns::Nothing { .. } => Vec::new(),
            Columns::Text { .. } | Columns::List { .. } => vec![format!("0 {} +<- stack", out("offsets"))],
            Columns::Fixed { size, .. } => zeros(out("bytes"), *size),
            Columns::Regular { size, content, .. } => match number(self.nodes.at(*content)) {
                Some((_, parts)) => zeros(self.out(*content, "data"), size.saturating_mul(parts)),
                None => {
                    let lines = if *size == 0 { Vec::new() } else { self.blank(*content) };
                    if lines.is_empty() {
                        return lines;
                    }
                    let times = format!("{} 0 do", literal(*size as i64));
                    std::iter::once(times).chain(lines).chain(["loop".into()]).collect()
                }
            },
            Columns::Record(record) => {
                record.fields.iter().flat_map(|field| self.blank(field.content)).collect()
            }
            Columns::Indexed { nulls: true, .. } => vec![format!("-1 {} <- stack", out("index"))],
            Columns::Indexed { content, .. } => {
                let next = self.next_row(node, &format!("rows{node}"));
                std::iter::once(next).chain(self.blank(*content)).collect()
            }
            Columns::Masked { valid, content, .. } => {
                let null = format!("{} {} <- stack", 1 - valid, out("mask"));
                std::iter::once(null).chain(self.blank(*content)).collect()
            }
            Columns::Unmasked { content } => self.blank(*content),
            Columns::Union { contents, .. } => {
                let found = contents.iter().position(|content| self.nodes.is_fillable(*content));
                let Some(tag) = found else { return Vec::new() };
                let content = contents[tag];
                let mut lines = vec![format!("{tag} {} <- stack", out("tags"))];
                lines.push(self.next_row(node, &format!("rows{node}-{content}")));
                lines.extend(self.blank(content));
                lines
            }
            columns => zeros(out("data"), number(columns).map_or(0, |(_, parts)| parts)),
        }
    }

    fn next_row(&self, node: u32, rows: &str) -> String {
        format!("{rows} @ {} <- stack 1 {rows} +!", self.out(node, "index"))
    }

    /// The name of an output of a node.
    fn out(&self, node: u32, part: &str) -> String {
        let key = self.keys[node as usize];
        match part {
            "bytes" => format!("node{}-data", key + 1),
            _ => format!("node{key}-{part}"),
        }
    }

    fn output(&mut self, name: String, dtype: DType, offsets: bool) {
        self.outputs.push((name, dtype, offsets));
    }
}

impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "input data")?;
        for (name, dtype, _) in &self.outputs {
            writeln!(f, "output {name} {dtype}")?;
        }
        for variable in &self.variables {
            writeln!(f, "variable {variable}")?;
        }
        let states = self.states.iter().enumerate();
        let states = states.map(|(at, (path, lines))| (format!("state{at} ( {} )", plain(path)), lines));
        let words = self.words.iter().map(|(name, lines)| (name.clone(), lines));
        for (name, lines) in words.chain(states) {
            writeln!(f, ": {name}")?;
            lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
            writeln!(f, ";")?;
        }
        writeln!(f, ": {ROLLBACK}")?;
        for variable in &self.variables {
            writeln!(f, "  data q-> stack {variable} !")?;
        }
        for (name, ..) in &self.outputs {
            writeln!(f, "  {name} len data q-> stack - {name} rewind")?;
        }
        writeln!(f, "  0 data seek\n;")?;
        for (name, ..) in self.outputs.iter().filter(|(.., offsets)| *offsets) {
            writeln!(f, "0 {name} <- stack")?;
        }
        writeln!(f, "begin\n  0 data seek pause\n  state @ case")?;
        for at in 0..self.states.len() {
            writeln!(f, "    {at} of state{at} endof")?;
        }
        writeln!(f, "  endcase\nagain")
    }
}
