//! Decoding: some columns of a block of values.

use crate::{
    fill::entry,
    lexer::{Lexer, Stop},
};
use forthwith_builders::{Form as BuilderForm, TypedColumns};
use forthwith_columns::Array;
use forthwith_plan::{
    BlockColumns, BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append,
};
use serde::{Deserialize, Serialize};

/// The [`BlockFormat`] of JSON: a block is a number of values.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFormat;

/// The part of a plan that tells how blocks are decoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    /// Whether the values are items of a list, with commas between them.
    pub is_list: bool,
    /// The Form of an entry, as Awkward Array has it: of objects, with the requested members.
    pub form: serde_json::Value,
}

impl Recipe {
    /// Columns without entries, whose Form is that of the group.
    pub(crate) fn empty(&self) -> Result<Array> {
        array(self.columns()?)
    }

    fn columns(&self) -> Result<TypedColumns> {
        let form = BuilderForm::from_json(&self.form.to_string()).map_err(|_| foreign())?;
        TypedColumns::new(&form).map_err(|_| foreign())
    }

    fn wanted(&self) -> Vec<&str> {
        let names = self.form.get("fields").and_then(serde_json::Value::as_array);
        names.into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
    }

    fn decode(&self, text: &[u8], task: &Task) -> Result<Array> {
        let text = std::str::from_utf8(text)
            .map_err(|error| Error::fault("text that is not UTF-8").at_byte(error.valid_up_to() as u64))?;
        let mut columns = self.columns()?;
        let mut wanted = self.wanted();
        wanted.sort_unstable();
        let is_wanted = |name: &str| wanted.binary_search(&name).is_ok();
        let sink = columns.sink();
        let mut lexer = Lexer::new(text, true);
        let mut rows = 0;
        while lexer.peek().is_some() {
            let here = |stop: Stop, at: usize| {
                let what = match stop {
                    Stop::Incomplete => "the text ends within a value".into(),
                    Stop::Invalid(reason) => reason,
                };
                Error::fault(what.into_owned()).at_byte(at as u64).at_entry(task.entries.start + rows)
            };
            // A block begins with an item or, behind others, with a comma.
            if self.is_list {
                let is_first = rows == 0 && lexer.peek() != Some(b',');
                if !lexer.next_item(is_first).map_err(|stop| here(stop, lexer.at()))? {
                    break;
                }
            }
            entry(&mut lexer, sink, is_wanted).map_err(|stop| here(stop, lexer.at()))?;
            rows += 1;
        }
        array(columns)
    }
}

fn array(columns: TypedColumns) -> Result<Array> {
    columns.finish().to_array().map_err(|_| foreign())
}

impl BlockFormat for JsonFormat {
    fn id(&self) -> &'static str {
        "json"
    }

    fn unit(&self) -> &'static str {
        "block of values"
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        _: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let Decoder::Format(text) = &group.decoder else { return Err(foreign()) };
        let recipe: Recipe = serde_json::from_str(text).map_err(|_| foreign())?;
        let parts = BlockColumns::of(&group.form);
        if recipe.empty()?.form != group.form || !parts.specs().eq(&group.columns) {
            return Err(foreign());
        }
        let array = recipe.decode(stored, task)?;
        let expected = task.entries.end.saturating_sub(task.entries.start);
        if array.length != expected {
            return Err(Error::fault(format!("a block of {expected} values has {} now", array.length)));
        }
        let first = task.entries.start;
        let rows = task.wanted.start.saturating_sub(first)..task.wanted.end.saturating_sub(first);
        let part = array.part(rows).map_err(|error| Error::fault(error.to_string()))?;
        append(&part, &parts, columns)?.map_err(Error::fault)
    }
}

fn foreign() -> Error {
    Error::invalid("the plan is not one of JSON")
}
