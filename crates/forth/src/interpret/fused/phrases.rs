//! The steps of idioms.

use super::matcher::{Match, Matcher};
use super::pattern::{Found, patterns};
use super::steps::{Count, Form, Leaf, Nest, Sized, Start, Step};
use crate::compile::ir::Kind;
use crate::idioms::Idiom;
use crate::isa::{Op, Parser, Read};

impl<'a> Matcher<'a> {
    /// Returns the step of the idiom at the start of `kinds`, and its number of nodes; None if no idiom
    /// begins there.
    pub(super) fn step(&mut self, kinds: &[&'a Kind], depth: usize) -> Match<Option<(Step, usize)>> {
        let Some(first) = kinds.first() else { return Ok(None) };
        for pattern in patterns().beginning(first) {
            if let Some((found, used)) = pattern.begins(self, kinds)?
                && let Some(step) = self.made(pattern.idiom, found, depth)?
            {
                self.idioms.insert(pattern.idiom);
                return Ok(Some((step, used)));
            }
        }
        Ok(None)
    }

    /// Returns the step of an idiom; None if it reads another input than the other idioms, or cannot have
    /// these types.
    fn made(&mut self, idiom: Idiom, mut found: Found<'a>, depth: usize) -> Match<Option<Step>> {
        let found = &mut found;
        if !self.belongs(idiom, found) {
            return Ok(None);
        }
        let stop = found.stop().unwrap_or(0);
        let n = i64::from(found.n());
        let step = match idiom {
            Idiom::Start | Idiom::StartBehind => match (found.read(), u16::try_from(n)) {
                (Some(read), Ok(ahead)) => {
                    self.inputs.push(read.input as usize);
                    Step::Start(Start { input: read.input, ahead, signed: read.parser == Parser::Int32 })
                }
                _ => return Ok(None),
            },
            Idiom::Stop => match found.read().map(|read| read.input as usize) {
                Some(input) => {
                    self.inputs.push(input);
                    self.variables.push(stop);
                    Step::Stop(input, stop)
                }
                None => return Ok(None),
            },
            Idiom::ByteCount => Step::ByteCount { bias: n, variable: stop },
            Idiom::CheckEnd => Step::CheckEnd(stop),
            Idiom::Version => match found.compare.and_then(|compare| passing(compare, found.n())) {
                Some((low, high)) => Step::Version(low, high),
                None => return Ok(None),
            },
            Idiom::Skip => match usize::try_from(n) {
                Ok(bytes) => Step::Skip(bytes),
                Err(_) => return Ok(None),
            },
            Idiom::SkipNumber => match found.read().map(|read| (read.parser, read.parser.size())) {
                Some((_, size @ 1..)) => Step::Skip(size),
                Some((Parser::ZigZag | Parser::VarInt, _)) => {
                    Step::SkipSized { what: Sized::Number, then: 0 }
                }
                _ => return Ok(None),
            },
            Idiom::SkipText => Step::SkipSized { what: Sized::Text, then: 0 },
            Idiom::SkipBlocksOfSize => match usize::try_from(n) {
                Ok(size @ 1..) => Step::SkipBlocks { size, body: Vec::new() },
                _ => return Ok(None),
            },
            Idiom::SkipBlocks => Step::SkipBlocks { size: 0, body: self.body_of(found, 0, depth + 3)? },
            Idiom::Text => match self.text(found) {
                Some(text) => text,
                None => return Ok(None),
            },
            Idiom::TextIfAny => match self.text(found) {
                Some(text) => Step::IfAny { then: vec![text], otherwise: vec![Step::Constant(0)] },
                None => return Ok(None),
            },
            Idiom::IfAny | Idiom::IfAnyElse => {
                let then = self.body_of(found, 0, depth + 1)?;
                let otherwise = self.body_of(found, 1, depth + 1)?;
                Step::IfAny { then, otherwise }
            }
            Idiom::ToEnd => {
                let body = self.body_of(found, 0, depth + 2)?;
                Step::ToEnd { variable: stop, offsets: found.offsets(), body }
            }
            Idiom::Rest => match (self.many(found), usize::try_from(found.m())) {
                (Some(_), Ok(_)) if n > 0 => Step::Rest(n),
                _ => return Ok(None),
            },
            Idiom::Flags => match found.read() {
                Some(read) => {
                    let then = self.body_of(found, 0, depth + 1)?;
                    Step::Masked { read, mask: n, then, output: found.out() }
                }
                None => return Ok(None),
            },
            Idiom::ListOfRuns => match (self.counted(found), self.many(found), usize::try_from(n)) {
                (Some(count), Some(_), Ok(items)) => {
                    let body = vec![Step::Bulk(items)];
                    Step::List { count, offsets: Some(found.offsets()), body }
                }
                _ => return Ok(None),
            },
            Idiom::ListOfItems => match (self.counted(found), self.many(found)) {
                (Some(count), Some(leaf)) => self.leaf_list(count, found.offsets(), leaf),
                _ => return Ok(None),
            },
            Idiom::List => match self.counted(found) {
                Some(count) => {
                    let body = self.body_of(found, 0, depth + 1)?;
                    self.list(count, found.offsets(), body)
                }
                None => return Ok(None),
            },
            Idiom::Times => match self.counted(found) {
                Some(count) => Step::List { count, offsets: None, body: self.body_of(found, 0, depth + 1)? },
                None => return Ok(None),
            },
            Idiom::Run => match (self.many(found), usize::try_from(n)) {
                (Some(_), Ok(items)) => Step::Bulk(items),
                _ => return Ok(None),
            },
            Idiom::Repeat => match usize::try_from(n) {
                Ok(times) => Step::Repeat(times, self.body_of(found, 0, depth + 1)?),
                Err(_) => return Ok(None),
            },
            Idiom::BlocksOfItems | Idiom::EndingBlocksOfItems => {
                match self.blocks_of_items(found, idiom == Idiom::EndingBlocksOfItems) {
                    Some(nest) => Step::Nest(nest),
                    None => return Ok(None),
                }
            }
            Idiom::Blocks | Idiom::EndingBlocks => {
                let body = self.body_of(found, 0, depth + 3)?;
                match self.blocks(found.offsets(), body, idiom == Idiom::EndingBlocks) {
                    Some(step) => step,
                    None => return Ok(None),
                }
            }
            Idiom::If | Idiom::IfElse | Idiom::StoredIf | Idiom::StoredIfElse => match found.read() {
                Some(_) => {
                    let then = self.body_of(found, 0, depth + 1)?;
                    let otherwise = self.body_of(found, 1, depth + 1)?;
                    Step::Branch { then, otherwise }
                }
                None => return Ok(None),
            },
            Idiom::Case | Idiom::StoredCase => match found.read() {
                Some(selector) => {
                    let arms = found.arms.iter().map(|arm| self.body(arm, depth + 1));
                    let arms = arms.collect::<Match<Vec<_>>>()?;
                    match (idiom, skipped_option(&arms)) {
                        (Idiom::Case, Some(what)) if selector.parser == Parser::ZigZag => {
                            Step::SkipOptional { what, then: 0 }
                        }
                        _ => Step::Switch(arms),
                    }
                }
                None => return Ok(None),
            },
            Idiom::Number | Idiom::AddedNumber => match found.read() {
                Some(read) => Step::Through(read),
                None => return Ok(None),
            },
            Idiom::Item => match found.item().map(|read| (read, self.leaf_any(read))) {
                Some((read, Some(_))) => Step::Fields { bytes: read.parser.size(), fields: 1 },
                Some((read, None)) if !is_spelled(read) => Step::Item(read),
                _ => return Ok(None),
            },
            Idiom::Length => Step::Length,
            Idiom::Constant | Idiom::AddedConstant => Step::Constant(n),
            // Frames are tried before all others.
            Idiom::Frame => return Ok(None),
        };
        Ok(Some(step))
    }

    /// Whether an idiom reads the input of the values, and compares with the end of the entry that was read
    /// before.
    fn belongs(&mut self, idiom: Idiom, found: &Found<'a>) -> bool {
        match (idiom, found.read()) {
            (Idiom::Start | Idiom::StartBehind, Some(read)) => {
                let offset = is_little_word(read, Parser::UInt32) || is_little_word(read, Parser::Int32);
                let elsewhere = |data| read.input as usize != data && self.is_data(data);
                return offset && found.data().is_some_and(elsewhere);
            }
            (Idiom::Stop, Some(read)) => {
                return is_little_word(read, Parser::UInt32) && self.data != Some(read.input as usize);
            }
            _ => {}
        }
        found.stop().is_none_or(|stop| self.variables.contains(&stop))
            && found.data().is_none_or(|data| self.is_data(data))
            && found.read().is_none_or(|read| self.is_from_data(read))
            && found.many().is_none_or(|read| self.is_from_data(read))
            && found.item().is_none_or(|read| self.is_from_data(read))
    }

    /// Returns the steps of a `BODY` (0) or an `OTHERWISE` (1); empty if there is none.
    fn body_of(&mut self, found: &mut Found<'a>, which: usize, depth: usize) -> Match<Vec<Step>> {
        match found.take(which) {
            Some((flat, from)) => self.flat_body(&flat, from, depth),
            None => Ok(Vec::new()),
        }
    }

    fn counted(&mut self, found: &Found<'a>) -> Option<Count> {
        found.read().and_then(|read| self.count(read))
    }

    /// Returns the leaf of `MANY`; None if its items have to be converted.
    fn many(&mut self, found: &Found<'a>) -> Option<Leaf> {
        found.many().and_then(|read| self.leaf(read))
    }

    fn text(&mut self, found: &Found<'a>) -> Option<Step> {
        let leaf = self.many(found).filter(|leaf| leaf.shift == 0)?;
        Some(self.leaf_list(Count::Text, found.offsets(), leaf))
    }

    fn blocks_of_items(&mut self, found: &Found<'a>, ends: bool) -> Option<Nest> {
        let (leaf, offsets) = (self.many(found)?, found.offsets());
        if !self.has_offsets(offsets) || offsets == leaf.output {
            return None;
        }
        Some(Nest { form: Form::Blocks { ends }, ..self.nest(Count::ZigZag, offsets, leaf) })
    }

    fn blocks(&self, offsets: usize, body: Vec<Step>, ends: bool) -> Option<Step> {
        if !self.has_offsets(offsets) {
            return None;
        }
        if let [Step::Nest(inner)] = body[..]
            && inner.form == (Form::Blocks { ends })
            && let Some(nest) = self.wrap(Count::ZigZag, offsets, inner)
        {
            return Some(Step::Nest(nest));
        }
        Some(Step::Blocks(body))
    }

    /// Returns the number of nodes before the body of an [`Idiom::Frame`]; None if no frame begins here.
    pub(super) fn opens_frame(&mut self, kinds: &[&'a Kind]) -> Match<Option<usize>> {
        let frame = &patterns().frame;
        let Some((found, used)) = frame.begins(self, kinds)? else { return Ok(None) };
        // If the variable of the entry's end follows, it is the check of the entry's byte count.
        let is_entry = matches!(kinds[used..], [Kind::Plain(Op::Fetch, _), Kind::Plain(Op::Ne, _), ..]);
        Ok((!is_entry && self.belongs(Idiom::Frame, &found)).then_some(used))
    }

    /// Returns the number of nodes of the end of a frame; None if no frame ends here.
    pub(super) fn closes_frame(&self, kinds: &[&'a Kind]) -> Match<Option<usize>> {
        let frame = &patterns().frame;
        let ends = frame.ends(self, kinds)?;
        Ok(ends
            .filter(|(found, _)| found.data().is_some() && found.data() == self.data)
            .map(|(_, used)| used))
    }
}

/// Returns the value that one of two branches skips, if the branches do nothing else.
fn skipped_option(arms: &[Vec<Step>]) -> Option<Sized> {
    let arm = match arms {
        [none, some] | [some, none] if none.is_empty() => some,
        _ => return None,
    };
    match arm[..] {
        [Step::Skip(bytes)] => Some(Sized::Bytes(bytes)),
        [Step::SkipSized { what, then: 0 }] => Some(what),
        _ => None,
    }
}

/// Whether a parser has no native loop: text pushes to the stack or may need white space, and packed integers
/// are not worth one.
fn is_spelled(read: Read) -> bool {
    matches!(read.parser, Parser::QuotedStr | Parser::TextFloat | Parser::TextInt) || read.parser.has_width()
}

/// Returns the range of 16-bit numbers for which `LIMIT COMPARE` is false; None if it is empty.
fn passing(compare: Op, limit: i32) -> Option<(u16, u16)> {
    let (low, high) = match compare {
        Op::Gt => (0, limit),
        Op::Ge => (0, limit.checked_sub(1)?),
        Op::Lt => (limit, 0xffff),
        Op::Le => (limit.checked_add(1)?, 0xffff),
        Op::Ne => (limit, limit),
        _ => return None,
    };
    Some((u16::try_from(low).ok()?, u16::try_from(high.min(0xffff)).ok()?))
}

fn is_little_word(read: Read, parser: Parser) -> bool {
    read.parser == parser && !read.big
}
