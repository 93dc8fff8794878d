//! An opened file of a format of one's own.

use super::{
    decode::OwnBlocks,
    recipe::Recipe,
    table::{OwnTable, Parts},
};
use crate::{
    Container, FileInfo, Key, Words,
    check::{Counted, Reading},
};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{CheckReport, Dataset, Result};
use std::{any::Any, sync::Arc};

/// A file whose blocks are known.
pub(super) fn open(
    format: &'static str,
    recipe: &Arc<Recipe>,
    source: Arc<dyn Source>,
    parts: Parts,
    engine: &Arc<Engine>,
) -> Result<Arc<dyn Container>> {
    let only = Key::of_only(source.as_ref(), format, "table".into(), String::new(), 0)?;
    let limit = engine.options().policy.limit;
    let table = Arc::new(OwnTable::new(Arc::clone(recipe), Arc::clone(&source), parts, limit));
    Ok(Arc::new(Opened { format, source, only, table, engine: Arc::clone(engine) }))
}

struct Opened {
    format: &'static str,
    source: Arc<dyn Source>,
    only: Key,
    table: Arc<OwnTable>,
    engine: Arc<Engine>,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        self.format
    }

    fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    fn info(&self) -> Result<FileInfo> {
        Ok(FileInfo { compression: "none".into(), ..FileInfo::of(self)? })
    }

    fn only_table(&self) -> Option<&Key> {
        Some(&self.only)
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.find(path)?;
        Ok(Arc::clone(&self.table) as Arc<dyn Dataset>)
    }

    /// Reads all blocks.
    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let format = Counted::new(&OwnBlocks);
        let reading = Reading {
            engine: &self.engine,
            source: &self.source,
            dataset: self.table.as_ref(),
            check_text: true,
            part: "blocks",
            ahead: 0,
            counted: crate::check::Bytes::Stored,
            format: &format,
        };
        let fields = reading.fields(&mut report)?;
        match self.table.entries().and_then(|entries| self.table.plan(&fields, 0..entries)) {
            Ok(plan) => reading.blocks(plan, &mut report)?,
            Err(error) => reading.found(error, None, &mut report)?,
        }
        Ok(report)
    }

    fn words(&self) -> &'static Words {
        static WORDS: Words = Words { rows: true, ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        self.table.as_ref()
    }
}
