//! An opened file of a format of one's own.

use super::{
    decode::OwnBlocks,
    recipe::Recipe,
    table::{OwnTable, Parts},
};
use crate::{
    Container, FileInfo, Key, Words,
    check::{Counted, Reading},
    formats::only::OnlyTable,
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
    let only = OnlyTable::new(source.as_ref(), format, "table".into(), String::new(), 0)?;
    let size = source.size()?;
    let limit = engine.options().policy.limit;
    let table = Arc::new(OwnTable::new(Arc::clone(recipe), Arc::clone(&source), parts, limit));
    Ok(Arc::new(Opened { format, source, size, only, table, engine: Arc::clone(engine) }))
}

struct Opened {
    format: &'static str,
    source: Arc<dyn Source>,
    size: u64,
    only: OnlyTable,
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
        Ok(FileInfo {
            uri: self.source.uri().to_owned(),
            format: self.format.into(),
            version: String::new(),
            compression: "none".into(),
            uuid: None,
            identity: None,
            size: self.size,
            header: Vec::new(),
        })
    }

    fn keys(&self, directory: &str, _: bool) -> Result<Vec<Key>> {
        self.only.keys(directory)
    }

    fn find(&self, path: &str) -> Result<Key> {
        self.only.find(path)
    }

    fn is_one_table(&self) -> bool {
        true
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.only.find(path)?;
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
