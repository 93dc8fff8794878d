//! Decoder of blocks of JSON values.

use crate::{
    context::Context,
    fill::Fill,
    framing::{Event, Framer},
    lexer::{DEEPEST, Lexer, Stop},
    place::Place,
    record::Member,
    skip::Brackets,
};
use forthwith_columns::{Array, Form};
use forthwith_plan::{
    BlockColumns, BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append,
};
use serde::{Deserialize, Serialize};

/// [`BlockFormat`] of JSON: a block is a sequence of consecutive values.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFormat;

/// Separation of the values of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Framing {
    /// Consecutive values, with or without white space between them.
    #[default]
    Values,
    /// Consecutive values in a file with an equal number of non-blank lines. If a block turns out to have
    /// each value on a line of its own, damage is confined to its line.
    LikelyLines,
    /// Items of one list, separated by commas.
    List,
    /// One value on each non-blank line; damage is confined to its line.
    Lines,
}

/// Parameters of the decoder, stored in the plan as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    pub framing: Framing,
    /// Form of an entry, reduced to the requested members.
    pub form: Form,
}

impl Recipe {
    fn fill(&self) -> Result<Fill> {
        Fill::new(&self.form).map_err(|of| Error::unsupported(format!("values of type {of} in JSON")))
    }

    /// Decodes the wanted entries of a block.
    pub(crate) fn decode(&self, text: &[u8], task: &Task) -> Result<Array> {
        let place = Place::of_task(task);
        match self.framing {
            Framing::Values | Framing::List => self.whole(text, task, &place),
            Framing::LikelyLines => self.whole(text, task, &place).or_else(|error| {
                let values = task.entries.end - task.entries.start;
                if are_on_lines(text, values) { self.lines(text, task, &place) } else { Err(error) }
            }),
            // An undamaged block need not be split into lines.
            Framing::Lines if task.wanted == task.entries => {
                self.whole(text, task, &place).or_else(|_| self.lines(text, task, &place))
            }
            Framing::Lines => self.lines(text, task, &place),
        }
    }

    /// Decodes the whole block and returns the wanted entries of it.
    fn whole(&self, text: &[u8], task: &Task, place: &Place) -> Result<Array> {
        let utf8 =
            |error: std::str::Utf8Error| place.fault("text that is not UTF-8", "", text, error.valid_up_to());
        let checked = simdutf8::basic::from_utf8(text);
        let text = checked.or_else(|_| std::str::from_utf8(text)).map_err(utf8)?;
        let fill = self.values(text, task, place, self.fill()?)?;
        let (expected, found) = (task.entries.end.saturating_sub(task.entries.start), fill.len() as u64);
        if found != expected {
            return Err(Error::fault(format!("a block of {expected} values has {found} now")));
        }
        let all = fill.into_array(self.form.clone());
        if task.wanted == task.entries {
            return Ok(all);
        }
        let row = |entry: u64| entry.saturating_sub(task.entries.start);
        let part = all.part(row(task.wanted.start)..row(task.wanted.end));
        part.map_err(|error| Error::fault(error.to_string()))
    }

    /// Splits the block into lines and decodes those of the wanted entries.
    fn lines(&self, text: &[u8], task: &Task, place: &Place) -> Result<Array> {
        let fill = lines(text, task, place, self.fill()?)?;
        let (expected, found) = (task.wanted.end.saturating_sub(task.wanted.start), fill.len() as u64);
        if found != expected {
            return Err(Error::fault(format!("a block of lines has {found} of {expected} values now")));
        }
        Ok(fill.into_array(self.form.clone()))
    }

    fn values(&self, text: &str, task: &Task, place: &Place, mut fill: Fill) -> Result<Fill> {
        // Upper bound on the number of values: each has at least one byte.
        fill.reserve(text.len().min((task.entries.end - task.entries.start) as usize));
        let mut lexer = Lexer::new(text, true);
        let mut context = Context { brackets: Some(Brackets::default()), path: String::new() };
        let mut rows = 0;
        while let Some(first) = lexer.peek() {
            // The text of a block begins with an item or, after the first block, with a comma.
            let begun = match self.framing {
                Framing::List => lexer.next_item(rows == 0 && first != b','),
                _ => Ok(true),
            };
            let done = begun.and_then(|has_item| match has_item {
                true => fill.entry(&mut lexer, &mut context).map(|()| true),
                false => Ok(false),
            });
            match done {
                Ok(true) => rows += 1,
                Ok(false) => break,
                Err(stop) => {
                    let entry = task.entries.start + rows;
                    return Err(place
                        .stop(&stop, &context.path, text.as_bytes(), lexer.at())
                        .at_entry(entry));
                }
            }
        }
        Ok(fill)
    }
}

/// Appends the values of the wanted lines to `fill`; other lines are not parsed.
fn lines(text: &[u8], task: &Task, place: &Place, mut fill: Fill) -> Result<Fill> {
    for (entry, (at, line)) in (task.entries.start..).zip(lines_of(text)) {
        if task.wanted.contains(&entry) {
            let mut context = Context::default();
            let utf8 = |error: std::str::Utf8Error| {
                place.fault("text that is not UTF-8", "", text, at + error.valid_up_to()).at_entry(entry)
            };
            let mut lexer = Lexer::new(std::str::from_utf8(line).map_err(utf8)?, true);
            let done = fill.entry(&mut lexer, &mut context).and_then(|()| match lexer.peek() {
                None => Ok(()),
                Some(_) => Err(Stop::from("more than one value on a line, in a file with damage")),
            });
            done.map_err(|stop| place.stop(&stop, &context.path, text, at + lexer.at()).at_entry(entry))?;
        }
    }
    Ok(fill)
}

/// Whether a text consists of `values` lists and objects, each on a line of its own.
fn are_on_lines(text: &[u8], values: u64) -> bool {
    let (mut found, mut are_apart) = (0, true);
    let mut framer = Framer::new(false);
    framer.run(text, true, |event| {
        let Event::Entry(end) = event else {
            are_apart = false;
            return false;
        };
        found += 1;
        let behind = text[end..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        are_apart &= matches!(behind, None | Some(b'\n'));
        are_apart
    });
    // No two values share a line; with equal counts, no value spans two lines.
    are_apart && framer.is_between() && found == values && lines_of(text).count() as u64 == values
}

/// Returns the non-blank lines of a text and the byte offset of each.
pub(crate) fn lines_of(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n').scan(0, |at, line| {
        let begin = *at;
        *at += line.len() + 1;
        Some((begin, line))
    });
    lines.filter(|(_, line)| !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')))
}

/// Checks that a line is exactly one value. The error has the byte offset in the line.
pub(crate) fn check_line(line: &str) -> Result<(), (Stop, usize)> {
    let mut lexer = Lexer::new(line, true);
    lexer.skip(DEEPEST).map_err(|stop| (stop, lexer.at()))?;
    if lexer.peek().is_some() {
        Err((Stop::from("more than one value on a line"), lexer.at()))
    } else {
        Ok(())
    }
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
        if recipe.form != group.form || !parts.specs().eq(&group.columns) {
            return Err(foreign());
        }
        let part = recipe.decode(stored, task)?;
        append(&part, &parts, columns)?.map_err(Error::fault)
    }
}

fn foreign() -> Error {
    Error::invalid("the plan is not one of JSON")
}
