//! Structured IR → plans: recognises the idioms the crate documentation lists.

use super::plan::{Count, Entry, Field, Header, Leaf, Nest, Plan, Step};
use crate::Dtype;
use crate::compile::ir::{Body, Kind, Program};
use crate::isa::{Op, Parser, Read};

/// Bound on inlining words into a body, so that hostile programs cannot blow up the matcher.
const MAX_NODES: usize = 4096;
const MAX_DEPTH: usize = 128;

/// Why a body was not recognised, and where in the source.
#[derive(Debug)]
pub(crate) struct Miss {
    pub(crate) at: u32,
    pub(crate) why: &'static str,
}

type Match<T> = Result<T, Miss>;

pub(crate) fn plan(program: &Program, body: &Body) -> Match<Plan> {
    let mut matcher = Matcher { program, data: None, inputs: Vec::new(), variables: Vec::new(), depth: 0 };
    let steps = matcher.body(body, 1)?;
    let Some(data) = matcher.data else {
        return Err(Miss { at: body.nodes.first().map_or(0, |node| node.at), why: "reads nothing" });
    };
    let mut outputs = Vec::new();
    collect_outputs(&steps, &mut outputs);
    outputs.sort_unstable();
    outputs.dedup();
    Ok(Plan {
        data,
        entry: entry(&steps),
        body: steps,
        inputs: matcher.inputs,
        outputs,
        variables: matcher.variables,
        depth: matcher.depth,
    })
}

struct Matcher<'a> {
    program: &'a Program,
    data: Option<usize>,
    inputs: Vec<usize>,
    variables: Vec<usize>,
    depth: usize,
}

/// A sequence with user words expanded in place.
struct Flat<'a> {
    kinds: Vec<&'a Kind>,
    places: Vec<u32>,
    /// Words expanded inside of one another.
    words: usize,
}

impl<'a> Matcher<'a> {
    fn body(&mut self, body: &'a Body, depth: usize) -> Match<Vec<Step>> {
        let flat = self.flatten(body)?;
        let depth = depth + flat.words;
        if depth > MAX_DEPTH {
            return Err(Miss { at: flat.places.first().copied().unwrap_or(0), why: "nested too deeply" });
        }
        // The idioms themselves open up to three bodies inside.
        self.depth = self.depth.max(depth + 4);
        let (steps, used) = self.sequence(&flat, 0, depth)?;
        if used < flat.kinds.len() {
            return Err(Miss { at: flat.places[used], why: "ends a frame that was not begun" });
        }
        Ok(steps)
    }

    fn flatten(&self, body: &'a Body) -> Match<Flat<'a>> {
        let mut flat = Flat { kinds: Vec::new(), places: Vec::new(), words: 0 };
        self.expand(body, &mut flat, 0)?;
        Ok(flat)
    }

    fn expand(&self, body: &'a Body, flat: &mut Flat<'a>, depth: usize) -> Match<()> {
        flat.words = flat.words.max(depth);
        for node in &body.nodes {
            if depth > MAX_DEPTH || flat.kinds.len() > MAX_NODES {
                return Err(Miss { at: node.at, why: "recursive or too large" });
            }
            match &node.kind {
                Kind::Call(word) => self.expand(&self.program.words[*word as usize].body, flat, depth + 1)?,
                Kind::Nest(inner) => self.expand(inner, flat, depth + 1)?,
                kind => {
                    flat.kinds.push(kind);
                    flat.places.push(node.at);
                }
            }
        }
        Ok(())
    }

    /// Steps from `from` up to the end, or up to the check that closes a frame.
    fn sequence(&mut self, flat: &Flat<'a>, from: usize, depth: usize) -> Match<(Vec<Step>, usize)> {
        let mut steps: Vec<Step> = Vec::new();
        let mut at = from;
        while at < flat.kinds.len() {
            let rest = &flat.kinds[at..];
            if self.closes_frame(rest).is_some() {
                break;
            }
            if let Some(bias) = self.opens_frame(rest) {
                let (body, end) = self.sequence(flat, at + 5, depth)?;
                let Some(length) = self.closes_frame(flat.kinds.get(end..).unwrap_or_default()) else {
                    return Err(Miss { at: flat.places[at], why: "frame without its closing check" });
                };
                steps.push(Step::Framed { bias, body });
                at = end + length;
                continue;
            }
            let Some((step, used)) = self.step(rest, depth)? else {
                return Err(Miss { at: flat.places[at], why: "no idiom begins here" });
            };
            at += used;
            match (steps.last_mut(), step) {
                (Some(Step::Fields { bytes, fields }), Step::Fields { bytes: more, fields: added }) => {
                    fields.extend(added.into_iter().map(|field| Field { at: field.at + *bytes, ..field }));
                    *bytes += more;
                }
                (_, step) => steps.push(step),
            }
        }
        Ok((steps, at))
    }

    /// `data !I-> stack BIAS - data pos +`
    fn opens_frame(&mut self, kinds: &[&Kind]) -> Option<i64> {
        let [
            Kind::Read(count),
            Kind::Plain(Op::Literal, bias),
            Kind::Plain(Op::Sub, _),
            position,
            add,
            after @ ..,
        ] = kinds
        else {
            return None;
        };
        let Kind::Plain(Op::Position, input) = position else { return None };
        // With the variable of the entry's end behind it, it is the check of the entry's byte count.
        let is_entry = matches!(after, [Kind::Plain(Op::Fetch, _), Kind::Plain(Op::Ne, _), ..]);
        let adds = matches!(add, Kind::Plain(Op::Add, _));
        let fits = adds
            && !is_entry
            && count.input as i32 == *input
            && is_big_u32(*count)
            && self.is_from_data(*count);
        fits.then_some(i64::from(*bias))
    }

    /// `data pos <> if CODE halt then`
    fn closes_frame(&self, kinds: &[&Kind]) -> Option<usize> {
        let [Kind::Plain(Op::Position, input), Kind::Plain(Op::Ne, _), Kind::If(body), ..] = kinds else {
            return None;
        };
        (self.data == Some(*input as usize) && halts(body)).then_some(3)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each idiom reads as the table it is")]
    fn step(&mut self, kinds: &[&'a Kind], depth: usize) -> Match<Option<(Step, usize)>> {
        use Kind::{CaseTable, Do, If, IfElse, Plain, Read as Parse, While};
        let found = match kinds {
            [Parse(read), Plain(Op::Seek, input), ..]
                if is_little_u32(*read) && read.input as i32 != *input && self.is_data(*input as usize) =>
            {
                self.inputs.push(read.input as usize);
                (Step::Start(read.input as usize), 2)
            }
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
                        let arms = arms.collect::<Match<_>>()?;
                        (Step::Switch { selector: *read, store, arms }, used + 1)
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
                            Parser::QuotedStr | Parser::TextFloat | Parser::TextInt | Parser::NBit
                        ) =>
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
        let step = match body.kinds[..] {
            [Kind::Plain(Op::Dup, _), Kind::Read(content), Kind::Plain(Op::Add, _)] => {
                let Some(leaf) = self.leaf(*content) else { return Ok(None) };
                let nest = Nest { blocks: true, ..self.nest(Count::ZigZag, offsets, leaf) };
                if !self.has_offsets(offsets) || offsets == leaf.output {
                    return Ok(None);
                }
                Step::Nest(nest)
            }
            [
                Kind::Plain(Op::Dup, _),
                Kind::Plain(Op::Literal, 0),
                Kind::Do { body, step: false },
                Kind::Plain(Op::Add, _),
            ] => {
                let body = self.body(body, depth + 3)?;
                if !self.has_offsets(offsets) {
                    return Ok(None);
                }
                match body[..] {
                    [Step::Nest(inner)] if inner.blocks => match self.wrap(Count::ZigZag, offsets, inner) {
                        Some(nest) => Step::Nest(nest),
                        None => Step::Blocks { offsets, body },
                    },
                    _ => Step::Blocks { offsets, body },
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(step))
    }

    fn leaf_list(&self, count: Count, offsets: usize, leaf: Leaf) -> Step {
        if self.has_offsets(offsets) && offsets != leaf.output && !matches!(count, Count::Other(_)) {
            return Step::Nest(self.nest(count, offsets, leaf));
        }
        // One item at a time is still native, only not in bulk.
        let field = Field { at: 0, kind: leaf.kind, shift: leaf.shift, output: leaf.output };
        let body = vec![Step::Fields { bytes: 1 << leaf.shift, fields: vec![field] }];
        Step::List { count, offsets: Some(offsets), body }
    }

    fn list(&self, count: Count, offsets: usize, body: Vec<Step>) -> Step {
        if let [Step::Nest(inner)] = body[..]
            && !inner.blocks
            && self.has_offsets(offsets)
            && let Some(nest) = self.wrap(count, offsets, inner)
        {
            return Step::Nest(nest);
        }
        Step::List { count, offsets: Some(offsets), body }
    }

    fn nest(&self, inner: Count, offsets: usize, leaf: Leaf) -> Nest {
        let wide = self.dtype(offsets) == Dtype::Int64;
        Nest { depth: 1, offsets: [offsets, 0, 0], count: inner, inner, blocks: false, wide, leaf }
    }

    /// One more level round a nest, if a native loop exists for that.
    fn wrap(&self, count: Count, offsets: usize, inner: Nest) -> Option<Nest> {
        let same = match inner.depth {
            1 => matches!(count, Count::Big32 | Count::Little32 | Count::ZigZag),
            2 => inner.count == count,
            _ => false,
        };
        let wide = self.dtype(offsets) == Dtype::Int64;
        let [a, b, _] = inner.offsets;
        // Each output has one cursor.
        let distinct = !inner.offsets[..inner.depth].contains(&offsets) && offsets != inner.leaf.output;
        (same && distinct && wide == inner.wide).then_some(Nest {
            depth: inner.depth + 1,
            offsets: [offsets, a, b],
            count,
            ..inner
        })
    }

    fn has_offsets(&self, output: usize) -> bool {
        matches!(self.dtype(output), Dtype::Int64 | Dtype::Int32)
    }

    fn dtype(&self, output: usize) -> Dtype {
        self.program.outputs[output].dtype
    }

    /// `#X-> OUT` without a conversion.
    fn leaf(&mut self, read: Read) -> Option<Leaf> {
        if !read.repeated || !self.is_from_data(read) { None } else { self.leaf_any(read) }
    }

    fn leaf_any(&self, read: Read) -> Option<Leaf> {
        let output = read.output? as usize;
        Leaf::new(read, output, self.dtype(output))
    }

    fn count(&mut self, read: Read) -> Option<Count> {
        if read.repeated || read.output.is_some() || !self.is_from_data(read) {
            return None;
        }
        match read.parser {
            Parser::UInt32 | Parser::Int32 if read.big => Some(Count::Big32),
            Parser::UInt32 | Parser::Int32 => Some(Count::Little32),
            Parser::ZigZag => Some(Count::ZigZag),
            Parser::Float32 | Parser::Float64 => None,
            _ if read.parser.size() > 0 => Some(Count::Other(read)),
            _ => None,
        }
    }

    /// `drop data !I-> stack`
    fn is_long_count(&self, body: &Body, first: Read) -> bool {
        let [a, b] = &body.nodes[..] else { return false };
        matches!((&a.kind, &b.kind), (Kind::Plain(Op::Drop, _), Kind::Read(long)) if is_big_u32(*long) && long.input == first.input)
    }

    fn is_from_data(&mut self, read: Read) -> bool {
        self.is_data(read.input as usize)
    }

    /// The first input that values come from is `data`; no other may be.
    fn is_data(&mut self, input: usize) -> bool {
        !self.inputs.contains(&input) && *self.data.get_or_insert(input) == input
    }
}

/// The canonical entry, if the steps have its form.
fn entry(steps: &[Step]) -> Option<Entry> {
    let mut header = Header::default();
    let mut rest = steps;
    if let [Step::Start(input), tail @ ..] = rest {
        (header.start, rest) = (Some(*input), tail);
    }
    if let [Step::Stop(input, variable), tail @ ..] = rest {
        // One cursor for each input, too.
        if header.start == Some(*input) {
            return None;
        }
        (header.stop, rest) = (Some((*input, *variable)), tail);
    }
    let is_stop = |variable: &usize| header.stop.is_some_and(|(_, stop)| stop == *variable);
    if let [Step::ByteCount { bias, variable }, tail @ ..] = rest
        && is_stop(variable)
    {
        (header.byte_count, rest) = (Some(*bias), tail);
    }
    if let [Step::Version(low, high), tail @ ..] = rest {
        (header.version, rest) = (Some((*low, *high)), tail);
    }
    if let [Step::Skip(bytes), tail @ ..] = rest {
        (header.skip, rest) = (*bytes, tail);
    }
    let [Step::Nest(nest), tail @ ..] = rest else { return None };
    match tail {
        [] => {}
        [Step::CheckEnd(variable)] if is_stop(variable) => header.check_end = true,
        _ => return None,
    }
    Some(Entry { header, nest: *nest })
}

fn collect_outputs(steps: &[Step], to: &mut Vec<usize>) {
    for step in steps {
        match step {
            Step::Fields { fields, .. } => to.extend(fields.iter().map(|field| field.output)),
            Step::Item(_, output)
            | Step::Length(_, output)
            | Step::Constant { output, .. }
            | Step::Through { output, .. } => to.push(*output),
            Step::Bulk { leaf, .. } => to.push(leaf.output),
            Step::Nest(nest) => {
                to.extend(&nest.offsets[..nest.depth]);
                to.push(nest.leaf.output);
            }
            Step::List { offsets, body, .. } => {
                to.extend(offsets);
                collect_outputs(body, to);
            }
            Step::Blocks { offsets, body } => {
                to.push(*offsets);
                collect_outputs(body, to);
            }
            Step::Repeat(_, body) | Step::Framed { body, .. } => collect_outputs(body, to),
            Step::Branch { store, then, otherwise, .. } => {
                to.extend(store);
                collect_outputs(then, to);
                collect_outputs(otherwise, to);
            }
            Step::Switch { store, arms, .. } => {
                to.extend(store);
                arms.iter().for_each(|arm| collect_outputs(arm, to));
            }
            Step::Start(_)
            | Step::Stop(..)
            | Step::ByteCount { .. }
            | Step::Version(..)
            | Step::CheckEnd(_)
            | Step::Skip(_) => {}
        }
    }
}

/// `CODE halt`
fn halts(body: &Body) -> bool {
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

fn is_big_u32(read: Read) -> bool {
    is_stack(read, Parser::UInt32, true)
}

fn is_little_u32(read: Read) -> bool {
    is_stack(read, Parser::UInt32, false)
}
