//! Blocks: a program is run over each.

use super::recipe::{Part, Recipe};
use forthwith_columns::{Array, Column, kernels};
use forthwith_forth::Machine;
use forthwith_plan::{Block, BlockFormat, Columns, Decoder, Error, ErrorKind, Group, Result, Scratch, Task};
use serde::{Deserialize, Serialize};

/// The [`BlockFormat`] of all formats of one's own: plans carry the program, so that they need nothing that is registered.
pub(in crate::formats) static BLOCKS: [&dyn BlockFormat; 1] = [&OwnBlocks];

struct OwnBlocks;

/// Its id.
pub(super) const ID: &str = "own";

/// What a plan says of the decoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    /// The name of the format.
    pub format: String,
    pub program: String,
    #[serde(rename = "type")]
    pub described: String,
    /// The columns, by their numbers.
    pub fields: Vec<u32>,
    /// Whether the program is told how many entries a block has.
    pub counted: bool,
}

/// What a worker keeps from block to block.
#[derive(Default)]
struct Warm(Option<Ready>);

struct Ready {
    text: String,
    wanted: Wanted,
    recipe: Recipe,
    machine: Machine,
}

impl Warm {
    fn ready(&mut self, text: &str) -> Result<&mut Ready> {
        if self.0.as_ref().is_none_or(|ready| ready.text != text) {
            let wanted: Wanted = serde_json::from_str(text).map_err(|_| foreign())?;
            let recipe = Recipe::new(&wanted.format, &wanted.program, &wanted.described)?;
            let machine = recipe.machine();
            self.0 = Some(Ready { text: text.to_owned(), wanted, recipe, machine });
        }
        self.0.as_mut().ok_or_else(foreign)
    }
}

impl BlockFormat for OwnBlocks {
    fn id(&self) -> &'static str {
        ID
    }

    fn unit(&self) -> &'static str {
        "block"
    }

    fn unframe<'a>(&self, _: &Group, task: &Task, stored: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
        let entries = task.entries.end - task.entries.start;
        Ok(Block { payload: stored, entries, bounds: &[], origin: 0 })
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let Decoder::Format(text) = &group.decoder else { return Err(foreign()) };
        let Ready { wanted, recipe, machine, .. } = scratch.own::<Warm>().0.ready(text)?;
        let form = recipe.chosen(&wanted.fields);
        let specs = recipe.specs(&form);
        if form != group.form || !specs.iter().map(|(spec, _)| spec).eq(&group.columns) {
            return Err(foreign());
        }
        let expected = task.entries.end.saturating_sub(task.entries.start);
        let array = recipe.decode(machine, stored, wanted.counted.then_some(expected))?;
        if array.length != expected {
            let what = format!("a file of {expected} entries has {} now", array.length);
            return Err(recipe.fault(&what));
        }
        let first = task.entries.start;
        let rows = task.wanted.start.saturating_sub(first)..task.wanted.end.saturating_sub(first);
        let part = Array { form, ..array }.part(rows);
        let part = part.map_err(|error| recipe.fault(&error.to_string()))?;
        let parts = specs.iter().map(|(spec, kind)| {
            let column = part.column(&spec.key).filter(|column| column.dtype() == spec.dtype);
            column.map(|column| (column, *kind)).ok_or_else(foreign)
        });
        append(&parts.collect::<Result<Vec<_>>>()?, columns).map_err(|error| match error {
            Append::Refused(error) => error,
            Append::Overflow => recipe.fault("offsets beyond 64 bits"),
        })
    }
}

enum Append {
    Refused(Error),
    Overflow,
}

/// Copies columns behind those of the block before.
fn append(parts: &[(&Column, Part)], columns: &mut dyn Columns) -> Result<(), Append> {
    columns.wait().map_err(Append::Refused)?;
    let before = columns.ends();
    let mut ends = before.clone();
    let mut items = Vec::with_capacity(parts.len());
    for ((column, part), end) in parts.iter().zip(&mut ends) {
        let own = column.items::<i64>().unwrap_or_default();
        let (count, more) = match part {
            Part::Data => (column.len(), 0),
            Part::Offsets => (column.len().saturating_sub(1), own.last().copied().unwrap_or(0)),
            Part::Index => (column.len(), own.iter().fold(-1, |most, row| most.max(*row)).saturating_add(1)),
        };
        items.push(count);
        *end = end.checked_add(more).ok_or(Append::Overflow)?;
    }
    columns.set_ends(&ends);
    let mut slots = columns.take_last(&items).map_err(Append::Refused)?;
    for (((column, part), slot), base) in parts.iter().zip(&mut slots).zip(before) {
        let bytes = column.as_bytes();
        match part {
            Part::Data => kernels::copy(bytes, slot),
            Part::Offsets => {
                let offsets = bytes.get(8..).unwrap_or_default();
                kernels::rebase(offsets, base, slot).map_err(|_| Append::Overflow)?;
            }
            Part::Index => {
                let own = column.items::<i64>().unwrap_or_default();
                for (row, place) in own.iter().zip(slot.as_chunks_mut::<8>().0) {
                    let row = if *row < 0 { -1 } else { row.saturating_add(base) };
                    *place = row.to_ne_bytes();
                }
            }
        }
    }
    Ok(())
}

fn foreign() -> Error {
    ErrorKind::Invalid { what: "a plan that is not for a format of one's own".into() }.into()
}
