//! AwkwardForth program that is equivalent to a builder.
//!
//! The program waits in a `pause`. For each command, the host sets the variables `command` and `argument`,
//! binds the value to the input `data`, and resumes. The program dispatches on its `state`, appends to its
//! outputs, and pauses again. If it refuses a command, it writes nothing and sets the variable `error`.

mod words;

use super::offers::{HOPELESS, Offer, Refusal, best, commands};
use super::places::{Place, Places};
use super::state::{State, ends};
use crate::Command;
use crate::form::Index;
use crate::table::{Columns, Nodes, Record};
use forthwith_columns::DType;
use std::collections::BTreeSet;
use std::fmt;
use words::{arguments_of, below, case, literal, number, plain, range, refuse, refused, wide};

pub(super) struct Program<'a> {
    nodes: &'a Nodes,
    places: &'a Places,
    keys: Vec<usize>,
    /// Names of records. Their numbers, counted from 1, are arguments of `begin_record`.
    pub(super) names: Vec<Box<str>>,
    /// Name and type of each output, and whether it begins with a zero.
    pub(super) outputs: Vec<(String, DType, bool)>,
    pub(super) variables: Vec<String>,
    /// Words that several states call, with their lines.
    words: Vec<(String, Vec<String>)>,
}

/// Variables of every program, in this order.
pub(super) const FIXED: [&str; 5] = ["command", "argument", "error", "state", "length"];
/// Word that restores an earlier state from the input `data`: the variables, followed by the lengths of the
/// outputs.
pub(super) const ROLLBACK: &str = "rollback";
/// Number of fields that share a variable: literals are signed 32-bit integers.
const BITS: usize = 31;

impl<'a> Program<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let nodes = &state.nodes;
        let mut program = Self {
            nodes,
            places: &state.places,
            keys: nodes.keys(),
            names: Vec::new(),
            outputs: Vec::new(),
            variables: FIXED.map(String::from).into(),
            words: Vec::new(),
        };
        nodes.numbers().for_each(|node| program.declare(node));
        program
    }

    /// Declares the outputs and variables of a node, and defines the word that ends a list, tuple or record.
    fn declare(&mut self, node: u32) {
        match self.nodes.at(node) {
            Columns::Text { layout, .. } => {
                self.output(node, "offsets", layout.width.dtype());
                self.output(node, "bytes", DType::UInt8);
                self.total(node, layout.width);
            }
            Columns::Fixed { .. } => self.output(node, "bytes", DType::UInt8),
            Columns::List { layout, .. } => {
                self.variables.push(format!("count{node}"));
                self.output(node, "offsets", layout.width.dtype());
                let mut end = vec![format!("count{node} @ {} +<- stack", self.out(node, "offsets"))];
                if self.total(node, layout.width) {
                    end.insert(0, wide(&format!("count{node} @"), node, layout.width));
                    end.push(format!("count{node} @ total{node} +!"));
                }
                self.end(node, end);
            }
            Columns::Regular { size, .. } => {
                self.variables.push(format!("count{node}"));
                let size = literal(*size as i64);
                self.end(node, vec![format!("count{node} @ {size} <> {}", refuse(Refusal::Short))]);
            }
            Columns::Record(record) => self.record(node, record),
            Columns::Indexed { width, .. } => {
                self.output(node, "index", width.dtype());
                self.variables.push(format!("rows{node}"));
            }
            Columns::Masked { .. } => self.output(node, "mask", DType::Int8),
            Columns::Union { width, contents, .. } => {
                self.output(node, "tags", DType::Int8);
                self.output(node, "index", width.dtype());
                self.variables.extend(contents.iter().map(|content| format!("rows{node}-{content}")));
            }
            columns => {
                if let Some((dtype, _)) = number(columns) {
                    self.output(node, "data", dtype);
                }
            }
        }
    }

    fn output(&mut self, node: u32, part: &str, dtype: DType) {
        self.outputs.push((self.out(node, part), dtype, part == "offsets"));
    }

    /// Declares a variable with the total number of items if the offsets have 32 bits; returns whether they
    /// have.
    fn total(&mut self, node: u32, width: Index) -> bool {
        let counted = width != Index::I64;
        self.variables.extend(counted.then(|| format!("total{node}")));
        counted
    }

    /// Defines the word that ends a list, tuple or record.
    fn end(&mut self, node: u32, mut lines: Vec<String>) {
        let place = self.places.of(node);
        lines.push(self.after(place));
        lines.push(format!("{} state !", place.here.next));
        self.words.push((format!("end{node}"), lines));
    }

    fn record(&mut self, node: u32, record: &Record) {
        if !record.name.is_empty() && !self.names.contains(&record.name) {
            self.names.push(record.name.clone());
        }
        let masks = record.fields.len().div_ceil(BITS);
        self.variables.extend((0..masks).map(|mask| filled(node, mask * BITS).0));
        let mut cases = vec!["argument @ case".to_owned()];
        let mut required = vec![0i64; masks];
        let (mut checks, mut writes) = (Vec::new(), Vec::new());
        for (at, field) in record.fields.iter().enumerate() {
            let (filled, bit) = filled(node, at);
            cases.push(format!("  {at} of {filled} @ {bit} and {}", refuse(Refusal::Twice)));
            cases.push(format!("    {} state ! endof", self.places.number_of(field.content)));
            match best(&self.places.of(field.content).offers, Command::Null, |_| true) {
                Ok(null) if null.rank != HOPELESS => {
                    let (check, write) = self.along(field.content, null);
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
        let required = required.into_iter().enumerate().filter(|(_, bits)| *bits != 0);
        let required = required.map(|(mask, bits)| {
            format!("{} @ {bits} and {bits} <> {}", filled(node, mask * BITS).0, refuse(Refusal::Missing))
        });
        self.end(node, required.chain(checks).chain(writes).collect());
    }

    /// Returns the lines that begin a list, tuple or record.
    fn begin(&self, node: u32) -> Vec<String> {
        let state = format!("{} state !", self.places.inside(node));
        let counters = match self.nodes.at(node) {
            Columns::Record(record) => {
                (0..record.fields.len()).step_by(BITS).map(|at| filled(node, at).0).collect()
            }
            _ => vec![format!("count{node}")],
        };
        counters.into_iter().map(|counter| format!("0 {counter} !")).chain([state]).collect()
    }

    /// Returns the line after a value at a place.
    fn after(&self, place: &Place) -> String {
        match self.nodes.get(place.here.inside) {
            None => "1 length +!".into(),
            Some(Columns::Record(_)) => {
                let (filled, bit) = filled(place.here.inside, place.field as usize);
                format!("{bit} {filled} +!")
            }
            Some(_) => format!("1 count{} +!", place.here.inside),
        }
    }

    /// Returns the check before a value at a place, if there is a fixed size.
    fn guard(&self, place: &Place) -> Option<String> {
        let Some(Columns::Regular { size, .. }) = self.nodes.get(place.here.inside) else { return None };
        let size = literal(*size as i64);
        Some(format!("count{} @ {size} >= {}", place.here.inside, refuse(Refusal::Full)))
    }

    /// Returns the lines of a state.
    fn state(&self, state: usize, place: &Place) -> Vec<String> {
        let offers = &place.offers;
        let ends = self.nodes.get(place.here.inside).map_or(&[][..], ends);
        let mut lines = Vec::new();
        let mut known = Vec::new();
        for (command, clear) in commands(offers) {
            let told = match command {
                Command::BeginTuple | Command::BeginRecord => {
                    let of = offers.iter().filter(|offer| offer.command == command);
                    let arguments: BTreeSet<usize> = of.flat_map(|offer| self.arguments(*offer)).collect();
                    let each = arguments.into_iter().map(|argument| {
                        let meant = |offer: &Offer| self.arguments(*offer).contains(&argument);
                        (argument, self.told(best(offers, command, meant), state, place))
                    });
                    arguments_of(each.collect())
                }
                // In a tuple, the command selects a slot.
                Command::Index if !clear && ends.contains(&command) => continue,
                _ => self.told(best(offers, command, |_| true), state, place),
            };
            known.push(command);
            lines.extend(case(command, told));
        }
        if !place.tags.is_empty() {
            let each = place.tags.clone().map(|state| {
                let lines = self.guard(place).into_iter().chain([format!("{state} state !")]);
                (self.places.at(state).tag.map_or(0, usize::from), lines.collect())
            });
            lines.extend(case(Command::Tag, arguments_of(each.collect())));
        }
        for command in ends.iter().filter(|command| !known.contains(command)) {
            let word = if matches!(command, Command::Index | Command::Field) { "select" } else { "end" };
            lines.extend(case(*command, vec![format!("{word}{}", place.here.inside)]));
        }
        lines.push(refused(Refusal::Unexpected));
        lines
    }

    /// Returns the arguments with which the tuple or record of an offer can be begun.
    fn arguments(&self, offer: Offer) -> Vec<usize> {
        match self.nodes.record(offer.node) {
            Some(record) if record.is_tuple => vec![record.fields.len()],
            Some(record) => {
                let number = self.names.iter().position(|name| *name == record.name);
                [0].into_iter().chain(number.map(|number| number + 1)).collect()
            }
            None => Vec::new(),
        }
    }

    /// Returns all lines of a command in a state, which is executed as `offer` or refused.
    fn told(&self, offer: Result<Offer, Refusal>, state: usize, place: &Place) -> Vec<String> {
        let offer = match offer {
            Ok(offer) => offer,
            Err(refusal) => return vec![refused(refusal)],
        };
        let (checks, writes) = self.along(place.here.node, offer);
        let mut lines: Vec<String> = self.guard(place).into_iter().chain(checks).collect();
        if offer.rank == HOPELESS {
            let null = offer.command == Command::Null;
            lines.push(refused(if null { Refusal::Placeless } else { Refusal::Range }));
            return lines;
        }
        lines.extend(writes);
        if !matches!(offer.command, Command::BeginList | Command::BeginTuple | Command::BeginRecord) {
            lines.push(self.after(place));
            if place.here.next as usize != state {
                lines.push(format!("{} state !", place.here.next));
            }
        }
        lines
    }

    /// Returns the lines that check and that write, from a place to the node that stores the value.
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

    /// Returns the lines that check and that write, at the node that stores the value.
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
                    (None, _) => write(self.begin(node)),
                    (_, Some((low, high))) if command == Command::Integer => {
                        let below = format!("dup {} <", literal(low));
                        let outside = match high {
                            // The number was read as a signed 64-bit integer.
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

    /// Returns the lines that append a row in place of a null; for an option, the null itself.
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

    /// Returns the name of an output of a node.
    fn out(&self, node: u32, part: &str) -> String {
        let key = self.keys[node as usize];
        match part {
            "bytes" => format!("node{}-data", key + 1),
            _ => format!("node{key}-{part}"),
        }
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
        let states = self.places.all().iter().enumerate().map(|(at, place)| {
            let path = self.places.path(self.nodes, at as u32);
            (format!("state{at} ( {} )", plain(&path)), self.state(at, place))
        });
        let words = self.words.iter().cloned();
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
        for at in 0..self.places.all().len() {
            writeln!(f, "    {at} of state{at} endof")?;
        }
        writeln!(f, "  endcase\nagain")
    }
}

/// Returns the variable and the bit that record whether a field has a value.
fn filled(node: u32, field: usize) -> (String, i64) {
    (format!("filled{node}-{}", field / BITS), 1 << (field % BITS))
}
