//! Opened files with a single table, and without compression or metadata.

use crate::{
    AroundDamage, Container, FileInfo, Gap, Key, Recovery, Words,
    check::{Bytes, Counted, Reading},
};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, CheckReport, Dataset, Error, Result};
use std::{any::Any, sync::Arc};

/// An opened file with a single table and without compression or metadata, such as a text file.
pub(super) struct OneTable<T> {
    pub format: &'static str,
    pub source: Arc<dyn Source>,
    pub only: Key,
    pub table: Arc<T>,
    pub engine: Arc<Engine>,
    /// Decoder of the blocks when the file is checked.
    pub blocks: &'static dyn BlockFormat,
    /// Plural noun for the parts that a check counts, such as `"records"`.
    pub part: &'static str,
    /// Error at the end of a truncated file, with its byte offset. Entries before it are valid.
    pub cut: Option<Error>,
}

impl<T: Dataset> Container for OneTable<T> {
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

    fn dataset_around_damage(&self, path: &str) -> Result<Option<AroundDamage>> {
        let table = self.dataset(path)?;
        let Some(cut) = &self.cut else { return Ok(None) };
        let (entry, byte) = (table.entries()?, cut.place.byte.unwrap_or(0));
        let what = cut.kind.to_string();
        let gap = Gap { entry, block: 0, byte, end_byte: None, entries: None, what };
        Ok(Some((table, vec![gap])))
    }

    fn recovery(&self) -> Option<Recovery> {
        let cut = self.cut.as_ref()?;
        let size = self.source.size().unwrap_or(0);
        Some(Recovery {
            objects: 1,
            blocks: 0,
            deleted: 0,
            unlisted: Vec::new(),
            describes_classes: true,
            end: cut.place.byte.unwrap_or(size),
            size,
            stopped: Some(cut.kind.to_string()),
            gaps: Vec::new(),
        })
    }

    /// Reads all blocks.
    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let format = Counted::new(self.blocks);
        let reading = Reading {
            engine: &self.engine,
            source: &self.source,
            dataset: self.table.as_ref(),
            check_text: true,
            part: self.part,
            ahead: 0,
            counted: Bytes::Stored,
            format: &format,
        };
        let fields = reading.fields(&mut report)?;
        report.count("columns", fields.len() as u64);
        let entries = self.table.entries();
        report.count("rows", entries.as_ref().copied().unwrap_or(0));
        report.count("bytes", self.source.size_so_far()?);
        match entries.and_then(|entries| self.table.plan(&fields, 0..entries)) {
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
