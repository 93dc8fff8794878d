//! Text of plans, for `explain`.

use super::plan::Plan;
use super::steps::{Form, LeafKind, Nest, Sized, Step};

impl Plan {
    pub(super) fn describe(&self) -> String {
        match &self.entry {
            Some(entry) => {
                let header = &entry.header;
                let parts = [
                    (header.start.is_some(), "starts"),
                    (header.stop.is_some(), "stops"),
                    (header.byte_count.is_some(), "byte count"),
                    (header.version.is_some(), "version"),
                    (header.skip > 0, "skip"),
                    (entry.to_end, "to the end"),
                    (header.check_end, "end check"),
                ];
                let parts: Vec<_> = parts.iter().filter(|part| part.0).map(|part| part.1).collect();
                let frame = if parts.is_empty() { "no frame".to_owned() } else { parts.join(", ") };
                format!("native entry loop ({frame}), {}", nest(&entry.nest))
            }
            None if self.flagged.is_some() => {
                format!("native entry loop (starts, stops, end check), {}", list(&self.body[2..3]))
            }
            None => list(&self.body),
        }
    }
}

fn nest(nest: &Nest) -> String {
    let form = match nest.form {
        Form::Counted => "lists",
        Form::Ended => "ended lists",
        Form::Blocks { .. } => "blocks",
    };
    let size = 1_u32 << nest.leaf.shift;
    let items = match nest.leaf.kind {
        LeafKind::Copy => format!("{size}-byte items"),
        LeafKind::Bool => "booleans".to_owned(),
        LeafKind::Swap2 | LeafKind::Swap4 | LeafKind::Swap8 => format!("{size}-byte items, big-endian"),
    };
    format!("{form} {} deep of {items}", nest.depth)
}

fn sized(what: Sized) -> String {
    match what {
        Sized::Number => "number".to_owned(),
        Sized::Text => "text".to_owned(),
        Sized::Bytes(bytes) => format!("{bytes} bytes"),
    }
}

fn farther(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(" and {bytes}") }
}

fn list(steps: &[Step]) -> String {
    steps.iter().map(step).collect::<Vec<_>>().join("; ")
}

fn step(step: &Step) -> String {
    match step {
        Step::Start(_) => "start".to_owned(),
        Step::Stop(..) => "stop".to_owned(),
        Step::ByteCount { .. } => "byte count".to_owned(),
        Step::Version(low, high) => format!("version {low}..={high}"),
        Step::CheckEnd(_) => "end check".to_owned(),
        Step::Framed(body) => format!("frame [{}]", list(body)),
        Step::Skip(bytes) => format!("skip {bytes}"),
        Step::SkipSized { what, then } => format!("skip {}{}", sized(*what), farther(*then)),
        Step::SkipOptional { what, then } => {
            format!("skip optional {}{}", sized(*what), farther(*then))
        }
        Step::SkipBlocks { size, body } if body.is_empty() => format!("skip blocks by {size}"),
        Step::SkipBlocks { body, .. } => format!("skip blocks [{}]", list(body)),
        Step::Fields { bytes, fields } => format!("{fields} fields in {bytes} bytes"),
        Step::Item(read) => format!("item {}", read.word()),
        Step::Bulk(items) => format!("{items} items"),
        Step::Nest(inner) => nest(inner),
        Step::List { body, .. } => format!("list [{}]", list(body)),
        Step::Repeat(times, body) => format!("{times} times [{}]", list(body)),
        Step::Blocks(body) => format!("blocks [{}]", list(body)),
        Step::Branch { then, otherwise } => format!("if [{}] else [{}]", list(then), list(otherwise)),
        Step::Switch(arms) => {
            format!(
                "switch {}",
                arms.iter().map(|arm| format!("[{}]", list(arm))).collect::<Vec<_>>().join(" ")
            )
        }
        Step::IfAny { then, otherwise } if otherwise.is_empty() => format!("if any [{}]", list(then)),
        Step::IfAny { then, otherwise } => {
            format!("if any [{}] else [{}]", list(then), list(otherwise))
        }
        Step::ToEnd { body, .. } => format!("to the end [{}]", list(body)),
        Step::Rest(bytes) => format!("the rest by {bytes}"),
        Step::Masked { read, mask, then, .. } => {
            format!("number {} with {mask} [{}]", read.word(), list(then))
        }
        Step::Length => "length".to_owned(),
        Step::Constant(value) => format!("constant {value}"),
        Step::Through(read) => format!("number {}", read.word()),
    }
}
