//! Reading without an engine: a plan's tasks one after the other, on their turn or ahead of it.

use forthwith_columns::{Array, Builder, Column, Memory, Presence, Slot};
use forthwith_io::{Memory as Bytes, Source};
use forthwith_parquet::{Options, ParquetFile, ParquetFormat};
use forthwith_plan::{BlockFormat, Columns, Dataset, Group, Result, Scratch, Stored};
use std::{ops::Range, sync::Arc};

/// The places of a group's columns. `turn` is whether it is the block's turn at first.
struct Places {
    builders: Vec<Builder>,
    ends: Vec<i64>,
    turn: bool,
}

impl Places {
    fn slots(&self, items: &[usize]) -> Result<Vec<Slot<'_>>> {
        Ok(self.builders.iter().zip(items).map(|(builder, items)| builder.append(*items).unwrap()).collect())
    }
}

impl Columns for Places {
    fn is_turn(&self) -> bool {
        self.turn
    }

    fn wait(&mut self) -> Result<()> {
        self.turn = true;
        Ok(())
    }

    fn go_on(&self) -> Result<()> {
        Ok(())
    }

    fn ends(&self) -> Vec<i64> {
        self.ends.clone()
    }

    fn origin(&self) -> Vec<i64> {
        vec![0; self.ends.len()]
    }

    fn set_ends(&mut self, ends: &[i64]) {
        self.ends = ends.to_vec();
    }

    fn take(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>> {
        self.slots(items)
    }

    fn append_rows(&mut self, column: usize, first: i64, rows: &Presence) -> bool {
        self.builders[column].append_rows(first, rows)
    }

    fn take_last(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>> {
        self.slots(items)
    }
}

fn group(memory: &Memory, group: &Group) -> Vec<Builder> {
    let builder =
        |spec: &forthwith_plan::ColumnSpec| Builder::new(memory, spec.dtype, spec.offsets, 1 << 16).unwrap();
    group.columns.iter().map(builder).collect()
}

/// Some entries of a field, each chunk on its turn or ahead of it.
pub(crate) fn field(bytes: &[u8], name: &str, entries: Option<Range<u64>>, turn: bool) -> Result<Array> {
    let source: Arc<dyn Source> = Arc::new(Bytes::new("made.parquet", bytes.to_vec()));
    let file = ParquetFile::open(Arc::clone(&source))?;
    let table = file.table(&Options::default())?;
    let at = table.fields()?.iter().position(|field| field.path == name).unwrap() as u32;
    let entries = entries.unwrap_or(0..table.entries()?);
    let plan = table.plan(&[at], entries.clone())?;
    let (memory, mut scratch) = (Memory::default(), Scratch::new());
    let mut whole: Option<Array> = None;
    for (number, of) in plan.groups.iter().enumerate() {
        let builders = group(&memory, of);
        let ends = vec![0; builders.len()];
        let mut places = Places { builders, ends, turn };
        for task in plan.tasks.iter().filter(|task| task.group as usize == number) {
            let Stored::Range(range) = &task.stored else { unreachable!() };
            let stored = source.read_one(range.clone())?;
            places.turn = turn;
            ParquetFormat.decode(of, task, &stored, &mut scratch, &mut places)?;
        }
        let columns = of.columns.iter().zip(places.builders);
        let columns: Vec<(String, Column)> =
            columns.map(|(spec, builder)| (spec.key.clone(), builder.finish())).collect();
        let part = Array { form: of.form.clone(), length: entries.end - entries.start, columns };
        whole = Some(match whole.take() {
            Some(whole) => whole.join(part).unwrap(),
            None => part,
        });
    }
    Ok(whole.unwrap())
}

/// All of a field as text, a line for each entry.
pub(crate) fn shown(bytes: &[u8], name: &str) -> Result<Vec<String>> {
    let array = field(bytes, name, None, true)?;
    array.validate().unwrap();
    Ok(array.preview(0..array.length, 200).lines().unwrap())
}
