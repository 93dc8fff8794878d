//! The phrases a body is made of, one by one.

use super::matcher::{Match, Matcher};
use super::steps::{Count, Field, Form, Nest, Sized, Start, Step};
use crate::compile::ir::{Body, Kind};
use crate::isa::{Op, Parser, Read};

impl<'a> Matcher<'a> {
    #[expect(clippy::too_many_lines, reason = "one arm for each idiom reads as the table it is")]
    pub(super) fn step(&mut self, kinds: &[&'a Kind], depth: usize) -> Match<Option<(Step, usize)>> {
        use Kind::{CaseTable, Do, If, IfElse, Plain, Read as Parse, While};
        let found = match kinds {
            [Parse(read), Plain(Op::Seek, input), ..] if self.is_start(*read, *input) => {
                (self.start(*read, 0), 2)
            }
            [
                Parse(read),
                Plain(Op::Literal, ahead @ 0..=0xffff),
                Plain(Op::Add, _),
                Plain(Op::Seek, input),
                ..,
            ] if self.is_start(*read, *input) => (self.start(*read, *ahead as u16), 4),
            [Parse(read), Plain(Op::Put, variable), ..]
                if is_little_u32(*read) && self.data != Some(read.input as usize) =>
            {
                self.inputs.push(read.input as usize);
                self.variables.push(*variable as usize);
                (Step::Stop(read.input as usize, *variable as usize), 2)
            }
            [
                Parse(read),
                Plain(Op::Literal, bias),
                Plain(Op::Sub, _),
                Plain(Op::Position, input),
                Plain(Op::Add, _),
                Plain(Op::Fetch, variable),
                Plain(Op::Ne, _),
                If(body),
                ..,
            ] if is_big_u32(*read)
                && read.input as i32 == *input
                && self.is_from_data(*read)
                && self.variables.contains(&(*variable as usize))
                && halts(body) =>
            {
                (Step::ByteCount { bias: i64::from(*bias), variable: *variable as usize }, 8)
            }
            [Plain(Op::Position, input), Plain(Op::Fetch, variable), Plain(Op::Ne, _), If(body), ..]
                if self.is_data(*input as usize)
                    && self.variables.contains(&(*variable as usize))
                    && halts(body) =>
            {
                (Step::CheckEnd(*variable as usize), 4)
            }
            [Parse(read), Plain(Op::Literal, limit), Plain(compare, _), If(body), ..]
                if is_stack(*read, Parser::UInt16, true)
                    && self.is_from_data(*read)
                    && halts(body)
                    && passing(*compare, *limit).is_some() =>
            {
                let (low, high) = passing(*compare, *limit).unwrap_or((0, 0));
                (Step::Version(low, high), 4)
            }
            [Plain(Op::Literal, distance), Plain(Op::Skip, input), ..]
                if *distance >= 0 && self.is_data(*input as usize) =>
            {
                (Step::Skip(*distance as usize), 2)
            }
            [Parse(read), Plain(Op::Drop, _), ..]
                if read.output.is_none()
                    && !read.repeated
                    && read.parser.size() > 0
                    && self.is_from_data(*read) =>
            {
                (Step::Skip(read.parser.size()), 2)
            }
            [Parse(read), Plain(Op::Drop, _), ..]
                if read.output.is_none()
                    && !read.repeated
                    && matches!(read.parser, Parser::ZigZag | Parser::VarInt)
                    && self.is_from_data(*read) =>
            {
                (Step::SkipSized { what: Sized::Number, then: 0 }, 2)
            }
            kinds if self.skips_text(kinds) => (Step::SkipSized { what: Sized::Text, then: 0 }, 6),
            [While(test, body), Plain(Op::Drop, _), ..] => match self.skipped_blocks(test, body, depth)? {
                Some(step) => (step, 2),
                None => return Ok(None),
            },
            [
                Parse(first),
                Plain(Op::Dup, _),
                Plain(Op::Literal, 255),
                Plain(Op::Eq, _),
                If(long),
                Plain(Op::Dup, _),
                Plain(Op::WriteAdd, offsets),
                Parse(content),
                ..,
            ] if is_stack(*first, Parser::UInt8, first.big)
                && self.is_from_data(*first)
                && self.is_long_count(long, *first) =>
            {
                match self.leaf(*content) {
                    Some(leaf) if leaf.shift == 0 => {
                        (self.leaf_list(Count::Text, *offsets as usize, leaf), 8)
                    }
                    _ => return Ok(None),
                }
            }
            [
                Plain(Op::Position, input),
                Plain(Op::Fetch, variable),
                Plain(Op::Lt, _),
                IfElse(some, none),
                Plain(Op::Dup, _),
                Plain(Op::WriteAdd, offsets),
                Parse(content),
                ..,
            ] if self.is_stop(*input, *variable) && self.is_text_count(some, *input) && is_zero(none) => {
                let (variable, offsets) = (*variable as usize, *offsets as usize);
                match self.leaf(*content) {
                    Some(leaf) if leaf.shift == 0 => {
                        let then = vec![self.leaf_list(Count::Text, offsets, leaf)];
                        let otherwise = vec![Step::Constant { value: 0, output: offsets, add: true }];
                        (Step::IfAny { variable, then, otherwise }, 7)
                    }
                    _ => return Ok(None),
                }
            }
            [Plain(Op::Position, input), Plain(Op::Fetch, variable), Plain(Op::Lt, _), If(then), ..]
                if self.is_stop(*input, *variable) =>
            {
                let then = self.body(then, depth + 1)?;
                (Step::IfAny { variable: *variable as usize, then, otherwise: Vec::new() }, 4)
            }
            [
                Plain(Op::Position, input),
                Plain(Op::Fetch, variable),
                Plain(Op::Lt, _),
                IfElse(then, otherwise),
                ..,
            ] if self.is_stop(*input, *variable) => {
                let then = self.body(then, depth + 1)?;
                let otherwise = self.body(otherwise, depth + 1)?;
                (Step::IfAny { variable: *variable as usize, then, otherwise }, 4)
            }
            [Plain(Op::Literal, 0), While(test, body), Plain(Op::WriteAdd, offsets), ..] => {
                match self.until_end(test, body, *offsets as usize, depth)? {
                    Some(step) => (step, 3),
                    None => return Ok(None),
                }
            }
            [
                Plain(Op::Fetch, variable),
                Plain(Op::Position, input),
                Plain(Op::Sub, _),
                Plain(Op::Literal, bytes),
                Plain(Op::Div, _),
                Plain(Op::Dup, _),
                Plain(Op::WriteAdd, offsets),
                Plain(Op::Literal, items),
                Plain(Op::Mul, _),
                Parse(content),
                ..,
            ] if *bytes > 0 && *items >= 0 && self.is_stop(*input, *variable) => {
                let (variable, offsets) = (*variable as usize, *offsets as usize);
                let (bytes, items) = (i64::from(*bytes), *items as usize);
                match self.leaf(*content) {
                    Some(leaf) => (Step::Rest { variable, bytes, offsets, items, leaf }, 10),
                    None => return Ok(None),
                }
            }
            [
                Parse(read),
                Plain(Op::Dup, _),
                Plain(Op::Literal, mask),
                Plain(Op::And, _),
                If(then),
                Plain(Op::Write, output),
                ..,
            ] if read.output.is_none() && !read.repeated && self.is_from_data(*read) => {
                let then = self.body(then, depth + 1)?;
                (Step::Masked { read: *read, mask: i64::from(*mask), then, output: *output as usize }, 6)
            }
            [
                Parse(read),
                Plain(Op::Dup, _),
                Plain(Op::WriteAdd, offsets),
                Plain(Op::Literal, items),
                Plain(Op::Mul, _),
                Parse(content),
                ..,
            ] if *items >= 0 && self.count(*read).is_some() => {
                match (self.count(*read), self.leaf(*content)) {
                    (Some(count), Some(leaf)) => {
                        let body = vec![Step::Bulk { items: *items as usize, leaf }];
                        (Step::List { count, offsets: Some(*offsets as usize), body }, 6)
                    }
                    _ => return Ok(None),
                }
            }
            [Parse(read), Plain(Op::Dup, _), Plain(Op::WriteAdd, offsets), Parse(content), ..]
                if content.repeated && self.count(*read).is_some() =>
            {
                match (self.count(*read), self.leaf(*content)) {
                    (Some(count), Some(leaf)) => (self.leaf_list(count, *offsets as usize, leaf), 4),
                    _ => return Ok(None),
                }
            }
            [
                Parse(read),
                Plain(Op::Dup, _),
                Plain(Op::WriteAdd, offsets),
                Plain(Op::Literal, 0),
                Do { body, step: false },
                ..,
            ] if self.count(*read).is_some() => {
                let count = self.count(*read).unwrap_or(Count::Other(*read));
                let body = self.body(body, depth + 1)?;
                (self.list(count, *offsets as usize, body), 5)
            }
            [Parse(read), Plain(Op::Literal, 0), Do { body, step: false }, ..]
                if self.count(*read).is_some() =>
            {
                let count = self.count(*read).unwrap_or(Count::Other(*read));
                (Step::List { count, offsets: None, body: self.body(body, depth + 1)? }, 3)
            }
            [Plain(Op::Literal, items), Parse(content), ..] if content.repeated && *items >= 0 => {
                match self.leaf(*content) {
                    Some(leaf) => (Step::Bulk { items: *items as usize, leaf }, 2),
                    None => return Ok(None),
                }
            }
            [Plain(Op::Literal, times), Plain(Op::Literal, 0), Do { body, step: false }, ..]
                if *times >= 0 =>
            {
                (Step::Repeat(*times as usize, self.body(body, depth + 1)?), 3)
            }
            [
                Plain(Op::Literal, 0),
                While(test, body),
                Plain(Op::Drop, _),
                Plain(Op::WriteAdd, offsets),
                ..,
            ] => match self.blocks(test, body, *offsets as usize, depth)? {
                Some(step) => (step, 4),
                None => return Ok(None),
            },
            [
                Plain(Op::Literal, 0),
                While(test, body),
                Plain(Op::Drop, _),
                Plain(Op::Drop, _),
                Plain(Op::WriteAdd, offsets),
                ..,
            ] => match self.ending_blocks(test, body, *offsets as usize, depth)? {
                Some(step) => (step, 5),
                None => return Ok(None),
            },
            [Parse(read), rest @ ..]
                if read.output.is_none() && !read.repeated && self.is_from_data(*read) =>
            {
                // A stored copy of the number may come first.
                let (store, rest, used) = match rest {
                    [Plain(Op::Dup, _), Plain(Op::Write, output), rest @ ..] => {
                        (Some(*output as usize), rest, 3)
                    }
                    rest => (None, rest, 1),
                };
                match rest {
                    [If(then), ..] => {
                        let then = self.body(then, depth + 1)?;
                        (Step::Branch { flag: *read, store, then, otherwise: Vec::new() }, used + 1)
                    }
                    [IfElse(then, otherwise), ..] => {
                        let then = self.body(then, depth + 1)?;
                        let otherwise = self.body(otherwise, depth + 1)?;
                        (Step::Branch { flag: *read, store, then, otherwise }, used + 1)
                    }
                    [CaseTable { consequents, .. }, ..] => {
                        let arms = consequents.iter().map(|arm| self.body(arm, depth + 1));
                        let arms = arms.collect::<Match<Vec<_>>>()?;
                        let step = match (store, skipped_option(&arms)) {
                            (None, Some((there, what))) if read.parser == Parser::ZigZag => {
                                Step::SkipOptional { there, what, then: 0 }
                            }
                            _ => Step::Switch { selector: *read, store, arms },
                        };
                        (step, used + 1)
                    }
                    [Plain(op @ (Op::Write | Op::WriteAdd), output), ..] if store.is_none() => {
                        let add = *op == Op::WriteAdd;
                        (Step::Through { read: *read, output: *output as usize, add }, 2)
                    }
                    _ => return Ok(None),
                }
            }
            [Parse(read), ..] if !read.repeated && self.is_from_data(*read) => {
                match (read.output, self.leaf_any(*read)) {
                    (Some(_), Some(leaf)) => {
                        let field = Field { at: 0, kind: leaf.kind, shift: leaf.shift, output: leaf.output };
                        (Step::Fields { bytes: read.parser.size(), fields: vec![field] }, 1)
                    }
                    // Text pushes to the stack or may need white space; it is not worth a native loop.
                    (Some(output), None)
                        if !matches!(
                            read.parser,
                            Parser::QuotedStr | Parser::TextFloat | Parser::TextInt
                        ) && !read.parser.has_width() =>
                    {
                        (Step::Item(*read, output as usize), 1)
                    }
                    _ => return Ok(None),
                }
            }
            [Plain(Op::LenOutput, from), Plain(Op::Write, to), ..] => {
                (Step::Length(*from as usize, *to as usize), 2)
            }
            [Plain(Op::Literal, value), Plain(op @ (Op::Write | Op::WriteAdd), output), ..] => {
                let (output, add) = (*output as usize, *op == Op::WriteAdd);
                (Step::Constant { value: i64::from(*value), output, add }, 2)
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    /// `0 begin data pos stop @ < while 1+ BODY repeat OFFSETS +<- stack`
    fn until_end(
        &mut self,
        test: &'a Body,
        body: &'a Body,
        offsets: usize,
        depth: usize,
    ) -> Match<Option<Step>> {
        let test = self.flatten(test)?;
        let [Kind::Plain(Op::Position, input), Kind::Plain(Op::Fetch, variable), Kind::Plain(Op::Lt, _)] =
            test.kinds[..]
        else {
            return Ok(None);
        };
        if !self.is_stop(*input, *variable) {
            return Ok(None);
        }
        let Some(body) = self.body_after(body, Op::AddOne, depth + 2)? else { return Ok(None) };
        Ok(Some(Step::ToEnd { variable: *variable as usize, offsets, body }))
    }

    /// Whether an offset is read from another input than the one that goes there.
    fn is_start(&mut self, read: Read, data: i32) -> bool {
        let offset = is_little_u32(read) || is_stack(read, Parser::Int32, false);
        offset && read.input as i32 != data && self.is_data(data as usize)
    }

    fn start(&mut self, read: Read, ahead: u16) -> Step {
        self.inputs.push(read.input as usize);
        Step::Start(Start { input: read.input, ahead, signed: read.parser == Parser::Int32 })
    }

    /// `data pos VARIABLE @`, of an input and a variable that can be meant.
    fn is_stop(&mut self, input: i32, variable: i32) -> bool {
        self.is_data(input as usize) && self.variables.contains(&(variable as usize))
    }

    /// `data B-> stack dup 255 = if drop data !I-> stack then`
    fn is_text_count(&self, body: &Body, data: i32) -> bool {
        let kinds: Vec<&Kind> = body.nodes.iter().map(|node| &node.kind).collect();
        let [
            Kind::Read(first),
            Kind::Plain(Op::Dup, _),
            Kind::Plain(Op::Literal, 255),
            Kind::Plain(Op::Eq, _),
            Kind::If(long),
        ] = kinds[..]
        else {
            return false;
        };
        is_stack(*first, Parser::UInt8, first.big)
            && first.input as i32 == data
            && self.is_long_count(long, *first)
    }

    /// `data zigzag-> stack dup 0 < if CODE halt then data skip`
    fn skips_text(&mut self, kinds: &[&Kind]) -> bool {
        let [
            Kind::Read(length),
            Kind::Plain(Op::Dup, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::If(negative),
            Kind::Plain(Op::Skip, input),
            ..,
        ] = kinds
        else {
            return false;
        };
        is_stack(*length, Parser::ZigZag, length.big)
            && length.input as i32 == *input
            && self.is_from_data(*length)
            && halts(negative)
    }

    /// `begin data zigzag-> stack dup while dup 0 < if drop TEXT else ITEMS then repeat drop`, where `TEXT` skips a text
    /// and `ITEMS` is `drop`, `dup data len > if CODE halt then SIZE * data skip` or `0 do BODY loop`.
    fn skipped_blocks(&mut self, test: &'a Body, body: &'a Body, depth: usize) -> Match<Option<Step>> {
        let test = self.flatten(test)?;
        let [Kind::Read(count), Kind::Plain(Op::Dup, _)] = test.kinds[..] else { return Ok(None) };
        let body = self.flatten(body)?;
        let [
            Kind::Plain(Op::Dup, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::IfElse(sized, items),
        ] = body.kinds[..]
        else {
            return Ok(None);
        };
        let (sized, items) = (self.flatten(sized)?, self.flatten(items)?);
        let known = match sized.kinds[..] {
            [Kind::Plain(Op::Drop, _), ref text @ ..] => text.len() == 6 && self.skips_text(text),
            _ => false,
        };
        if !known || !is_stack(*count, Parser::ZigZag, count.big) || !self.is_from_data(*count) {
            return Ok(None);
        }
        let step = match items.kinds[..] {
            [
                Kind::Plain(Op::Dup, _),
                Kind::Plain(Op::LenInput, all),
                Kind::Plain(Op::Gt, _),
                Kind::If(many),
                Kind::Plain(Op::Literal, size),
                Kind::Plain(Op::Mul, _),
                Kind::Plain(Op::Skip, input),
            ] if all == input && *size > 0 && self.is_data(*input as usize) && halts(many) => {
                Step::SkipBlocks { size: *size as usize, body: Vec::new() }
            }
            [Kind::Plain(Op::Literal, 0), Kind::Do { body, step: false }] => {
                Step::SkipBlocks { size: 0, body: self.body(body, depth + 3)? }
            }
            _ => return Ok(None),
        };
        Ok(Some(step))
    }

    /// `0 begin ITEMS dup while dup BODY + repeat drop OFFSETS +<- stack`
    fn blocks(
        &mut self,
        test: &'a Body,
        body: &'a Body,
        offsets: usize,
        depth: usize,
    ) -> Match<Option<Step>> {
        let test = self.flatten(test)?;
        let [
            Kind::Read(count),
            Kind::Plain(Op::Dup, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::If(negative),
            Kind::Plain(Op::Dup, _),
        ] = test.kinds[..]
        else {
            return Ok(None);
        };
        let negative = self.flatten(negative)?;
        let [Kind::Plain(Op::Negate, _), Kind::Read(size), Kind::Plain(Op::Drop, _)] = negative.kinds[..]
        else {
            return Ok(None);
        };
        if size != count || !is_stack(*count, Parser::ZigZag, count.big) || !self.is_from_data(*count) {
            return Ok(None);
        }
        let body = self.flatten(body)?;
        match body.kinds[..] {
            [Kind::Plain(Op::Dup, _), ref items @ .., Kind::Plain(Op::Add, _)] => {
                self.block_items(items, offsets, false, depth)
            }
            _ => Ok(None),
        }
    }

    /// `0 begin data zigzag-> stack dup 0 < if SIZE else 0 then over while over BODY CHECK + repeat drop drop OFFSETS +<- stack`,
    /// where `SIZE` is `negate data zigzag-> stack over 0 < over 0 < or if CODE halt then data pos +` and `CHECK` is
    /// `dup if data pos <> if CODE halt then else drop then`.
    fn ending_blocks(
        &mut self,
        test: &'a Body,
        body: &'a Body,
        offsets: usize,
        depth: usize,
    ) -> Match<Option<Step>> {
        let test = self.flatten(test)?;
        let [
            Kind::Read(count),
            Kind::Plain(Op::Dup, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::IfElse(negative, positive),
            Kind::Plain(Op::Over, _),
        ] = test.kinds[..]
        else {
            return Ok(None);
        };
        let negative = self.flatten(negative)?;
        let [
            Kind::Plain(Op::Negate, _),
            Kind::Read(size),
            Kind::Plain(Op::Over, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::Plain(Op::Over, _),
            Kind::Plain(Op::Literal, 0),
            Kind::Plain(Op::Lt, _),
            Kind::Plain(Op::Or, _),
            Kind::If(bad),
            Kind::Plain(Op::Position, from),
            Kind::Plain(Op::Add, _),
        ] = negative.kinds[..]
        else {
            return Ok(None);
        };
        let body = self.flatten(body)?;
        let [
            Kind::Plain(Op::Over, _),
            ref items @ ..,
            Kind::Plain(Op::Dup, _),
            Kind::IfElse(check, none),
            Kind::Plain(Op::Add, _),
        ] = body.kinds[..]
        else {
            return Ok(None);
        };
        let (check, none) = (self.flatten(check)?, self.flatten(none)?);
        let (
            [Kind::Plain(Op::Position, to), Kind::Plain(Op::Ne, _), Kind::If(other)],
            [Kind::Plain(Op::Drop, _)],
        ) = (&check.kinds[..], &none.kinds[..])
        else {
            return Ok(None);
        };
        let same = size == count && *from == count.input as i32 && to == from;
        if !same
            || !is_zero(positive)
            || !halts(bad)
            || !halts(other)
            || !is_stack(*count, Parser::ZigZag, count.big)
            || !self.is_from_data(*count)
        {
            return Ok(None);
        }
        self.block_items(items, offsets, true, depth)
    }

    /// `data #X-> ITEMS` or `0 do BODY loop`, for each block of a list.
    fn block_items(
        &mut self,
        items: &[&'a Kind],
        offsets: usize,
        ends: bool,
        depth: usize,
    ) -> Match<Option<Step>> {
        let step = match items {
            [Kind::Read(content)] => {
                let Some(leaf) = self.leaf(*content) else { return Ok(None) };
                let nest = Nest { form: Form::Blocks { ends }, ..self.nest(Count::ZigZag, offsets, leaf) };
                if !self.has_offsets(offsets) || offsets == leaf.output {
                    return Ok(None);
                }
                Step::Nest(nest)
            }
            [Kind::Plain(Op::Literal, 0), Kind::Do { body, step: false }] => {
                let body = self.body(body, depth + 3)?;
                if !self.has_offsets(offsets) {
                    return Ok(None);
                }
                match body[..] {
                    [Step::Nest(inner)] if inner.form == (Form::Blocks { ends }) => {
                        match self.wrap(Count::ZigZag, offsets, inner) {
                            Some(nest) => Step::Nest(nest),
                            None => Step::Blocks { offsets, body, ends },
                        }
                    }
                    _ => Step::Blocks { offsets, body, ends },
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(step))
    }
}

/// Which of two branches has something to skip, and what, if that is all there is to them.
fn skipped_option(arms: &[Vec<Step>]) -> Option<(u8, Sized)> {
    let (there, arm) = match arms {
        [none, some] if none.is_empty() => (1, some),
        [some, none] if none.is_empty() => (0, some),
        _ => return None,
    };
    match arm[..] {
        [Step::Skip(bytes)] => Some((there, Sized::Bytes(bytes))),
        [Step::SkipSized { what, then: 0 }] => Some((there, what)),
        _ => None,
    }
}

/// `0`
fn is_zero(body: &Body) -> bool {
    matches!(body.nodes[..], [crate::compile::ir::Node { kind: Kind::Plain(Op::Literal, 0), .. }])
}

/// `CODE halt`
pub(super) fn halts(body: &Body) -> bool {
    let mut kinds = body.nodes.iter().map(|node| &node.kind);
    matches!(
        (kinds.next(), kinds.next(), kinds.next()),
        (Some(Kind::Plain(Op::Literal, _)), Some(Kind::Plain(Op::Halt, _)), None)
    )
}

/// The range of 16-bit numbers for which `LIMIT COMPARE` is false.
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

fn is_stack(read: Read, parser: Parser, big: bool) -> bool {
    read.parser == parser && read.big == big && !read.repeated && read.output.is_none()
}

pub(super) fn is_big_u32(read: Read) -> bool {
    is_stack(read, Parser::UInt32, true)
}

fn is_little_u32(read: Read) -> bool {
    is_stack(read, Parser::UInt32, false)
}
