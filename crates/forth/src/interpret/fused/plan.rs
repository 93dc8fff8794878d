//! A recognised loop: its steps, and its native loop, if there is one.

use super::flagged::Flagged;
use super::steps::{Count, Header, Nest, Step};
use crate::DType;
use crate::compile::ir::OutputDecl;
use crate::idioms::Idioms;

/// A `do … loop` whose body was recognised.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The input that all values are read from.
    pub(crate) data: usize,
    /// The body, in order.
    pub(crate) body: Vec<Step>,
    /// The body as one native loop, if it has the canonical form of an entry.
    pub(crate) entry: Option<Entry>,
    /// The body as one native loop, if its entries consist of flagged numbers only.
    pub(crate) flagged: Option<Flagged>,
    /// Upper bound on the structure bodies and loops that are open at once inside.
    pub(crate) depth: usize,
    /// Idioms that it consists of.
    pub(super) idioms: Idioms,
}

/// The canonical entry: an optional frame around nested lists.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) header: Header,
    pub(crate) nest: Nest,
    /// Whether entries can be read with one check each.
    pub(crate) known_ends: bool,
    /// Whether the outermost lists have no count, but extend to the end of the entry, which requires known
    /// ends.
    pub(crate) to_end: bool,
}

impl Plan {
    /// Whether the body is one native loop.
    pub(super) fn is_native(&self) -> bool {
        self.entry.is_some() || self.flagged.is_some()
    }

    /// Whether its passes contain loops.
    #[allow(dead_code, reason = "machine code asks, which not every build has")]
    pub(super) fn has_loops(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.nest.depth > 1)
    }

    /// Returns the outputs that the native loop writes to.
    pub(super) fn outputs(&self) -> impl Iterator<Item = usize> {
        let nest = self.entry.iter().flat_map(|Entry { nest, .. }| {
            nest.offsets[..nest.depth].iter().copied().chain([nest.leaf.output])
        });
        nest.chain(self.flagged.iter().flat_map(Flagged::outputs))
    }
}

impl Entry {
    /// Returns the canonical entry; None if the steps have another form.
    pub(super) fn canonical(steps: &[Step], outputs: &[OutputDecl]) -> Option<Self> {
        let mut header = Header::default();
        let mut rest = steps;
        if let [Step::Start(start), tail @ ..] = rest {
            (header.start, rest) = (Some(*start), tail);
        }
        if let [Step::Stop(input, variable), tail @ ..] = rest {
            // There is one cursor for each input, too.
            if header.start.is_some_and(|start| start.input as usize == *input) {
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
        let (nest, to_end, tail) = match rest {
            [Step::Nest(nest), tail @ ..] => (*nest, false, tail),
            [Step::ToEnd { variable, offsets, body }, tail @ ..] if is_stop(variable) => {
                let [Step::Nest(inner)] = body[..] else { return None };
                let apart = *offsets != inner.offsets[0] && *offsets != inner.leaf.output;
                if inner.depth > 1 || !apart || outputs[*offsets].dtype != DType::Int64 {
                    return None;
                }
                let offsets = [*offsets, inner.offsets[0], 0];
                // The list has no count, but the loop for known ends requires a form that it could read.
                (Nest { depth: 2, offsets, count: Count::Big32, ..inner }, true, tail)
            }
            _ => return None,
        };
        match tail {
            [] => {}
            [Step::CheckEnd(variable)] if is_stop(variable) => header.check_end = true,
            _ => return None,
        }
        let known_ends = super::entries::fit(&header, &nest);
        let possible = !to_end || (known_ends && header.byte_count.is_none() && header.skip == 0);
        possible.then_some(Self { header, nest, known_ends, to_end })
    }
}
