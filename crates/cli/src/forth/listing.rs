//! `forthwith forth dis` and `explain`: a compiled program.

use super::text::Text;
use crate::{
    console::Console,
    failure::Result,
    flags::DisArgs,
    human::clean,
    table::{Align, Table},
};
use forthwith::forth::Compiled;

pub(crate) fn dis(text: &Text, compiled: &Compiled, args: &DisArgs, console: &mut Console<'_>) -> Result<()> {
    if args.text {
        return console.text(&compiled.decompiled());
    }
    if args.json {
        return console.json(&serde_json::json!({
            "source": text.source,
            "bytecodes": compiled.bytecodes(),
            "bytecodes_offsets": compiled.bytecodes_offsets(),
            "dictionary": compiled.dictionary(),
            "decompiled": compiled.decompiled(),
        }));
    }
    let offsets = compiled.bytecodes_offsets();
    let mut table = Table::new(&[
        ("at", Align::Right),
        ("numbers", Align::Left),
        ("instruction", Align::Left),
        ("place", Align::Left),
        ("word", Align::Left),
    ]);
    for (segment, bounds) in offsets.windows(2).enumerate() {
        let (mut at, end) = (bounds[0] as usize, bounds[1] as usize);
        table.row(["".into(), format!("segment {segment}").as_str().into()]);
        while at < end {
            let place = compiled.location(at);
            let length = compiled.instruction_length(at).unwrap_or(1);
            let codes: Vec<String> =
                compiled.bytecodes()[at..(at + length).min(end)].iter().map(i32::to_string).collect();
            table.row([
                at.to_string().into(),
                codes.join(" ").into(),
                place.instruction.into(),
                format!("{}:{}", place.line, place.column).into(),
                place.word.unwrap_or_default().into(),
            ]);
            at += length;
        }
    }
    console.text(&table.render(console.width, console.paint))
}

pub(crate) fn explain(text: &Text, compiled: &Compiled, console: &mut Console<'_>) -> Result<()> {
    let declared = [
        ("inputs", compiled.inputs().to_vec()),
        ("variables", compiled.variables().to_vec()),
        (
            "outputs",
            compiled.outputs().iter().map(|output| format!("{} {}", output.name, output.dtype)).collect(),
        ),
        ("words", compiled.dictionary().iter().map(ToString::to_string).collect()),
    ];
    console.line(&format!("{}: {} numbers of bytecode", clean(&text.name), compiled.bytecodes().len()))?;
    for (kind, names) in declared {
        if !names.is_empty() {
            console.line(&clean(&format!("{kind}: {}", names.join(", "))))?;
        }
    }
    console.text(&compiled.explain())
}
