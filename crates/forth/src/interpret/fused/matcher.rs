//! Structured IR → plans: recognises the idioms that [`idioms`](crate::idioms) lists.

use std::cell::Cell;

use super::flagged::Flagged;
use super::plan::{Entry, Plan};
use super::steps::{Count, Form, Leaf, LeafKind, Nest, Step};
use crate::DType;
use crate::compile::ir::{Body, Ir, Kind};
use crate::idioms::{Idiom, Idioms};
use crate::isa::{Parser, Read};

/// Upper bound on the nodes of a body with words inlined, so that hostile programs cannot exhaust the
/// matcher.
const MAX_NODES: usize = 4096;
const MAX_DEPTH: usize = 128;
/// Upper bound on the instructions visited for all loops of a program together.
const MAX_EFFORT: usize = 1 << 22;

/// Returns the budget for visiting a program: words may be expanded into words, and loops into loops.
pub(crate) fn effort() -> Cell<usize> {
    Cell::new(MAX_EFFORT)
}

/// Reason why a body was not recognised, and its source offset.
#[derive(Debug)]
pub(crate) struct Miss {
    pub(crate) at: u32,
    pub(crate) why: &'static str,
}

pub(super) type Match<T> = Result<T, Miss>;

pub(crate) fn plan(program: &Ir, body: &Body, effort: &Cell<usize>) -> Match<Plan> {
    let mut matcher = Matcher {
        program,
        effort,
        data: None,
        inputs: Vec::new(),
        variables: Vec::new(),
        depth: 0,
        idioms: Idioms::default(),
    };
    let steps = matcher.body(body, 1)?;
    let Some(data) = matcher.data else {
        return Err(Miss { at: body.nodes.first().map_or(0, |node| node.at), why: "reads nothing" });
    };
    Ok(Plan {
        data,
        entry: Entry::canonical(&steps, &program.outputs),
        flagged: Flagged::canonical(&steps, &program.outputs),
        body: steps,
        depth: matcher.depth,
        idioms: matcher.idioms,
    })
}

pub(super) struct Matcher<'a> {
    program: &'a Ir,
    effort: &'a Cell<usize>,
    pub(super) data: Option<usize>,
    pub(super) inputs: Vec<usize>,
    pub(super) variables: Vec<usize>,
    depth: usize,
    pub(super) idioms: Idioms,
}

/// A sequence with user words expanded in place.
pub(super) struct Inlined<'a> {
    pub(super) kinds: Vec<&'a Kind>,
    places: Vec<u32>,
    /// Depth of the expansion of words.
    words: usize,
}

impl<'a> Matcher<'a> {
    pub(super) fn body(&mut self, body: &'a Body, depth: usize) -> Match<Vec<Step>> {
        let flat = self.flatten(body)?;
        self.flat_body(&flat, 0, depth)
    }

    pub(super) fn flat_body(&mut self, flat: &Inlined<'a>, from: usize, depth: usize) -> Match<Vec<Step>> {
        let depth = depth + flat.words;
        if depth > MAX_DEPTH {
            return Err(Miss { at: flat.places.first().copied().unwrap_or(0), why: "nested too deeply" });
        }
        // Idioms open up to three bodies of their own.
        self.depth = self.depth.max(depth + 4);
        let (steps, used) = self.sequence(flat, from, depth)?;
        if used < flat.kinds.len() {
            return Err(Miss { at: flat.places[used], why: "ends a frame that was not begun" });
        }
        Ok(steps)
    }

    pub(super) fn flatten(&self, body: &'a Body) -> Match<Inlined<'a>> {
        let mut flat = Inlined { kinds: Vec::new(), places: Vec::new(), words: 0 };
        self.expand(body, &mut flat, 0)?;
        Ok(flat)
    }

    fn expand(&self, body: &'a Body, flat: &mut Inlined<'a>, depth: usize) -> Match<()> {
        flat.words = flat.words.max(depth);
        for node in &body.nodes {
            let effort = self.effort.get();
            self.effort.set(effort.saturating_sub(1));
            if depth > MAX_DEPTH || flat.kinds.len() > MAX_NODES || effort == 0 {
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

    /// Matches steps from `from` up to the end, or up to the check that closes a frame. Returns them with the
    /// index after the last.
    fn sequence(&mut self, flat: &Inlined<'a>, from: usize, depth: usize) -> Match<(Vec<Step>, usize)> {
        let mut steps: Vec<Step> = Vec::new();
        let mut at = from;
        while at < flat.kinds.len() {
            let rest = &flat.kinds[at..];
            if self.closes_frame(rest)?.is_some() {
                break;
            }
            if let Some(opening) = self.opens_frame(rest)? {
                self.idioms.insert(Idiom::Frame);
                let (body, end) = self.sequence(flat, at + opening, depth)?;
                let Some(length) = self.closes_frame(flat.kinds.get(end..).unwrap_or_default())? else {
                    return Err(Miss { at: flat.places[at], why: "frame without its closing check" });
                };
                steps.push(Step::Framed(body));
                at = end + length;
                continue;
            }
            let Some((step, used)) = self.step(rest, depth)? else {
                return Err(Miss { at: flat.places[at], why: "no idiom begins here" });
            };
            at += used;
            match (steps.last_mut(), step) {
                (Some(Step::Fields { bytes, fields }), Step::Fields { bytes: more, fields: added }) => {
                    *fields += added;
                    *bytes += more;
                }
                (Some(list @ (Step::Nest(_) | Step::List { .. })), Step::Skip(1))
                    if self.ended(list).is_some() =>
                {
                    *list = self.ended(list).map_or(Step::Skip(1), Step::Nest);
                }
                (
                    Some(Step::Skip(then) | Step::SkipSized { then, .. } | Step::SkipOptional { then, .. }),
                    Step::Skip(more),
                ) if then.checked_add(more).is_some() => *then += more,
                (_, step) => steps.push(step),
            }
        }
        Ok((steps, at))
    }

    pub(super) fn leaf_list(&self, count: Count, offsets: usize, leaf: Leaf) -> Step {
        if self.has_offsets(offsets) && offsets != leaf.output && !matches!(count, Count::Other(_)) {
            return Step::Nest(self.nest(count, offsets, leaf));
        }
        // One item at a time is still native, but not in bulk.
        let body = vec![Step::Fields { bytes: 1 << leaf.shift, fields: 1 }];
        Step::List { count, offsets: Some(offsets), body }
    }

    pub(super) fn list(&self, count: Count, offsets: usize, body: Vec<Step>) -> Step {
        if let [Step::Nest(inner)] = body[..]
            && inner.form == Form::Counted
            && self.has_offsets(offsets)
            && let Some(nest) = self.wrap(count, offsets, inner)
        {
            return Step::Nest(nest);
        }
        Step::List { count, offsets: Some(offsets), body }
    }

    /// Returns the nest of a list followed by one byte; None without a native loop for it.
    fn ended(&self, list: &Step) -> Option<Nest> {
        match list {
            Step::Nest(nest)
                if nest.form == Form::Counted
                    && nest.depth == 1
                    && nest.inner == Count::ZigZag
                    && nest.leaf.kind == LeafKind::Copy =>
            {
                Some(Nest { form: Form::Ended, ..*nest })
            }
            Step::List { count, offsets: Some(offsets), body } => match body[..] {
                [Step::Nest(inner)] if inner.form == Form::Ended && self.has_offsets(*offsets) => {
                    self.wrap(*count, *offsets, inner)
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn nest(&self, inner: Count, offsets: usize, leaf: Leaf) -> Nest {
        let wide = self.dtype(offsets) == DType::Int64;
        Nest { depth: 1, offsets: [offsets, 0, 0], count: inner, inner, form: Form::Counted, wide, leaf }
    }

    /// Adds a level around a nest; None without a native loop for it.
    pub(super) fn wrap(&self, count: Count, offsets: usize, inner: Nest) -> Option<Nest> {
        let same = match inner.depth {
            1 => matches!(count, Count::Big32 | Count::Little32 | Count::ZigZag),
            2 => inner.count == count,
            _ => false,
        };
        let wide = self.dtype(offsets) == DType::Int64;
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

    pub(super) fn has_offsets(&self, output: usize) -> bool {
        matches!(self.dtype(output), DType::Int64 | DType::Int32)
    }

    pub(super) fn dtype(&self, output: usize) -> DType {
        self.program.outputs[output].dtype
    }

    /// Returns the leaf of `#X-> OUT` without a conversion.
    pub(super) fn leaf(&mut self, read: Read) -> Option<Leaf> {
        if !read.repeated || !self.is_from_data(read) { None } else { self.leaf_any(read) }
    }

    pub(super) fn leaf_any(&self, read: Read) -> Option<Leaf> {
        let output = read.output? as usize;
        Leaf::new(read, output, self.dtype(output))
    }

    pub(super) fn count(&mut self, read: Read) -> Option<Count> {
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

    pub(super) fn is_from_data(&mut self, read: Read) -> bool {
        self.is_data(read.input as usize)
    }

    /// Whether values are read from an input. The first input asked for becomes that of the values.
    pub(super) fn is_data(&mut self, input: usize) -> bool {
        !self.inputs.contains(&input) && *self.data.get_or_insert(input) == input
    }
}
