//! Tables of files of user-defined formats.

use super::{
    decode::{ID, Wanted},
    recipe::{Recipe, Stopped},
};
use forthwith_columns::Array;
use forthwith_io::Source;
use forthwith_plan::{
    Dataset, Decoder, Description, Error, ErrorKind, Field, Group, Pick, Plan, Reading, Result, Stored, Task,
    check_entries, cuts,
};
use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// The table of a file of a user-defined format.
pub(super) struct OwnTable {
    recipe: Arc<Recipe>,
    source: Arc<dyn Source>,
    parts: Parts,
    fields: Vec<Field>,
    /// Upper bound on the bytes of a block's outputs.
    limit: Option<usize>,
}

/// The blocks of a file.
pub(super) enum Parts {
    /// Byte range and entry range of each block.
    Known(Vec<(Range<u64>, Range<u64>)>),
    /// A single block, whose number of entries is set once it has been counted.
    Whole(Range<u64>, OnceLock<u64>),
}

/// Shortest and longest back-off while the calling thread waits for the decoding thread.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(10);

/// Number, byte range and entry range of a block.
type Placed = (u64, Range<u64>, Range<u64>);

impl Parts {
    pub(super) fn whole(bytes: Range<u64>) -> Self {
        Self::Whole(bytes, OnceLock::new())
    }
}

impl OwnTable {
    pub(super) fn new(
        recipe: Arc<Recipe>,
        source: Arc<dyn Source>,
        parts: Parts,
        limit: Option<usize>,
    ) -> Self {
        let fields = recipe.columns().into_iter().map(|(name, _)| Field::named(name, "")).collect();
        Self { recipe, source, parts, fields, limit }
    }

    /// Returns the number of entries of a file with a single block, which is decoded on the first call.
    fn count(&self, bytes: &Range<u64>, counted: &OnceLock<u64>) -> Result<u64> {
        if let Some(entries) = counted.get() {
            return Ok(*entries);
        }
        let here = |error: Error| error.in_file(self.source.uri()).in_block(0).in_unit("block");
        let stored = self.source.read_one(bytes.clone()).map_err(|error| here(error.into()))?;
        let array = self.decoded(&stored).map_err(here)?;
        Ok(*counted.get_or_init(|| array.length))
    }

    /// Decodes the whole file in a new thread, while this thread polls the source for an interrupt.
    fn decoded(&self, stored: &[u8]) -> Result<Array> {
        let flag = Arc::new(AtomicBool::new(false));
        let given_up = AtomicBool::new(false);
        let decode = || {
            let mut go_on = || match given_up.load(Ordering::Relaxed) {
                true => Err(ErrorKind::Cancelled.into()),
                false => Ok(()),
            };
            let mut stopped = Stopped { flag: &flag, go_on: &mut go_on };
            self.recipe.decode(&mut self.recipe.machine(), stored, None, self.limit, &mut stopped)
        };
        std::thread::scope(|scope| {
            let Ok(decoding) = std::thread::Builder::new().spawn_scoped(scope, decode) else {
                // No further thread can be started: decode in this one.
                return decode();
            };
            let (mut pause, mut ended) = (SHORTEST, Ok(()));
            while !decoding.is_finished() {
                std::thread::sleep(pause);
                pause = LONGEST.min(2 * pause);
                if pause == LONGEST && ended.is_ok() {
                    ended = self.source.pause();
                    if ended.is_err() {
                        given_up.store(true, Ordering::Relaxed);
                        flag.store(true, Ordering::Release);
                    }
                }
            }
            let decoded = decoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ended?;
            decoded
        })
    }

    /// Returns the blocks that contain any of these entries.
    fn blocks(&self, entries: &Range<u64>) -> Result<Vec<Placed>> {
        let there = |own: &Range<u64>| own.start.max(entries.start) < own.end.min(entries.end);
        Ok(match &self.parts {
            Parts::Known(blocks) => {
                let from = blocks.partition_point(|(_, own)| own.end <= entries.start);
                let to = blocks.partition_point(|(_, own)| own.start < entries.end);
                let some = (from as u64..).zip(blocks.get(from..to).unwrap_or_default());
                let some = some.filter(|(_, (_, own))| there(own));
                some.map(|(number, (bytes, own))| (number, bytes.clone(), own.clone())).collect()
            }
            Parts::Whole(bytes, counted) => {
                let own = 0..self.count(bytes, counted)?;
                if there(&own) { vec![(0, bytes.clone(), own)] } else { Vec::new() }
            }
        })
    }

    fn check(&self, field: u32) -> Result<()> {
        if (field as usize) < self.fields.len() {
            return Ok(());
        }
        Err(self.here(Error::no_field(field, self.fields.len())))
    }

    fn here(&self, error: Error) -> Error {
        error.in_file(self.source.uri())
    }

    /// Returns the group that decodes some columns.
    fn group(&self, fields: &[u32]) -> Result<Group> {
        let recipe = &self.recipe;
        let wanted = Wanted {
            format: recipe.name.clone(),
            program: recipe.program.clone(),
            described: recipe.described.clone(),
            fields: fields.to_vec(),
            counted: matches!(self.parts, Parts::Known(_)),
        };
        let text = serde_json::to_string(&wanted);
        let text = text.map_err(|error| Error::invalid(error.to_string()))?;
        let form = recipe.chosen(fields);
        let columns = recipe.parts(&form).specs().cloned().collect();
        let path = match fields {
            [field] if recipe.is_record() => self.fields.get(*field as usize).map(|field| field.path.clone()),
            _ => None,
        };
        let reason = format!("the program of the format {} decodes all columns of a block", recipe.name);
        let reading = Reading { form, decoder: Decoder::Format(text.into()), reason };
        Ok(Group { split: recipe.is_record(), ..Group::of(path.unwrap_or_default(), reading, columns) })
    }

    fn description(&self, field: u32, entries: u64) -> Result<Description> {
        self.check(field)?;
        let group = self.group(&[field])?;
        let columns = self.recipe.columns();
        let form = columns.get(field as usize).map_or(group.form, |(_, form)| (*form).clone());
        let (bytes, blocks) = match &self.parts {
            Parts::Known(blocks) => {
                let bytes = blocks.iter().map(|(bytes, _)| bytes.end - bytes.start);
                (bytes.fold(0, u64::saturating_add), blocks.len() as u64)
            }
            Parts::Whole(bytes, _) => (bytes.end - bytes.start, 1),
        };
        // Blocks have all columns, so the size of a single column is unknown: divide it evenly.
        let bytes = bytes / columns.len().max(1) as u64;
        Ok(Description {
            type_name: form.type_string(),
            reading: Ok(Reading { form, decoder: group.decoder, reason: group.reason }),
            entries,
            blocks,
            stored_bytes: bytes,
            payload_bytes: bytes,
        })
    }
}

impl Dataset for OwnTable {
    fn format(&self) -> &'static str {
        ID
    }

    fn object(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<u64> {
        match &self.parts {
            Parts::Known(blocks) => Ok(blocks.last().map_or(0, |(_, entries)| entries.end)),
            Parts::Whole(bytes, counted) => self.count(bytes, counted),
        }
    }

    fn is_record(&self) -> bool {
        self.recipe.is_record()
    }

    fn entry_range(&self, field: u32, _: u64) -> Result<Range<u64>> {
        self.check(field)?;
        Ok(0..self.entries()?)
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        self.description(field, self.entries()?)
    }

    fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        // The type of an entry is known without decoding.
        let entries = match &self.parts {
            Parts::Whole(_, counted) if entries == 0 => counted.get().copied().unwrap_or(0),
            _ => self.entries()?,
        };
        self.description(field, entries)
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        for field in fields {
            self.check(*field)?;
        }
        let all = if entries == (0..0) { 0 } else { self.entries()? };
        check_entries(&entries, all).map_err(|error| self.here(error))?;
        let mut plan = Plan {
            format: ID.into(),
            uri: self.source.uri().to_owned(),
            entries: entries.clone(),
            utf8: true,
            bits: false,
            ..Plan::default()
        };
        if fields.is_empty() {
            return Ok(plan);
        }
        let (once, picks) = Pick::once(fields);
        plan.picks = picks;
        plan.groups.push(self.group(&once)?);
        plan.delivered = 1;
        for (block, bytes, own) in if entries.is_empty() { Vec::new() } else { self.blocks(&entries)? } {
            let wanted = own.start.max(entries.start)..own.end.min(entries.end);
            plan.tasks.push(Task { wanted, ..Task::of(0, block, own, Stored::Range(bytes)) });
        }
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        for field in fields {
            self.check(*field)?;
        }
        Ok(cuts(&entries, self.blocks(&entries)?.into_iter().map(|(_, _, own)| own)))
    }
}
