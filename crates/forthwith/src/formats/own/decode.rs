//! Decoding of blocks of user-defined formats, by running the program of the format over each block.

use super::recipe::{Recipe, Stopped};
use forthwith_columns::Array;
use forthwith_forth::Machine;
use forthwith_plan::{BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The [`BlockFormat`] of all user-defined formats. Plans include the program, so decoding does not depend on
/// the registry.
pub(in crate::formats) static BLOCKS: [&dyn BlockFormat; 1] = [&OwnBlocks];

pub(super) struct OwnBlocks;

/// Id of [`OwnBlocks`] in plans.
pub(super) const ID: &str = "own";

/// Parameters of the decoder, which a plan stores as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    /// Name of the format.
    pub format: String,
    pub program: String,
    #[serde(rename = "type")]
    pub described: String,
    /// Indexes of the columns to decode.
    pub fields: Vec<u32>,
    /// Whether the number of entries of a block is on the program's stack at the start.
    pub counted: bool,
}

/// Returns the program by which a user-defined format decodes blocks; `None` for decoders of other formats.
#[must_use]
pub fn own_program(decoder: &Decoder) -> Option<String> {
    let Decoder::Format(text) = decoder else { return None };
    serde_json::from_str::<Wanted>(text).ok().map(|wanted| wanted.program)
}

/// Decoding state that a worker reuses between blocks.
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

    fn may_run_long(&self) -> bool {
        true
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
        let (limit, interrupt) = (scratch.limit(), Arc::clone(scratch.interrupt()));
        let Ready { wanted, recipe, machine, .. } = scratch.own::<Warm>().0.ready(text)?;
        let form = recipe.chosen(&wanted.fields);
        let parts = recipe.parts(&form);
        if form != group.form || !parts.specs().eq(&group.columns) {
            return Err(foreign());
        }
        let expected = task.entries.end.saturating_sub(task.entries.start);
        let mut stopped = Stopped { flag: &interrupt, go_on: &mut || columns.go_on() };
        let array =
            recipe.decode(machine, stored, wanted.counted.then_some(expected), limit, &mut stopped)?;
        if array.length != expected {
            let what = format!("a file of {expected} entries has {} now", array.length);
            return Err(recipe.fault(&what));
        }
        let first = task.entries.start;
        let rows = task.wanted.start.saturating_sub(first)..task.wanted.end.saturating_sub(first);
        let mut part = Array { form, ..array };
        // All rows in their original order need no copy.
        if rows != (0..part.length) || parts.has_indexes() {
            part = part.part(rows).map_err(|error| recipe.fault(&error.to_string()))?;
        }
        append(&part, &parts, columns)?.map_err(|what| recipe.fault(what))
    }
}

/// Returns the error for a plan of another format.
fn foreign() -> Error {
    Error::invalid("a plan that is not for a format of one's own")
}
