//! Files and streams of Arrow's IPC format.

use super::Format;
use crate::{
    AroundDamage, Container, FileInfo, Gap, Key, OpenOptions, OptionKind, OptionSpec, Recovery, Words,
    check::{Counted, Reading},
};
use bytes::Bytes;
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_ipc::{IpcFile, IpcFormat, IpcTable, IpcWriter};
use forthwith_plan::{BlockFormat, CheckReport, Dataset, Error, Result, TableWriter, WriteOptions};
use std::{any::Any, sync::Arc};

/// The row of the table.
pub(super) struct Arrow;

impl Format for Arrow {
    fn name(&self) -> &'static str {
        "Arrow"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrow", "feather", "ipc"]
    }

    fn recognise(&self, head: &[u8], _: &str) -> bool {
        IpcFile::is_ipc(head)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[RECOVER]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let (file, damage) = match options.flag(RECOVER.name, false) {
            true => IpcFile::recover(source)?,
            false => (IpcFile::open(source)?, None),
        };
        let only = Key::of_only(file.source().as_ref(), self.name(), "table".into(), String::new(), 0)?;
        let table = Arc::new(file.table()?);
        Ok(Arc::new(Opened { file, only, table, damage, engine: Arc::clone(engine) }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(IpcWriter::new(fields, sink, options)?))
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 1] = [&IpcFormat];
        &BLOCKS
    }
}

const RECOVER: OptionSpec = OptionSpec {
    name: "recover",
    kind: OptionKind::Flag,
    about: "open a file or stream that was cut off with its whole batches",
};

struct Opened {
    file: IpcFile,
    only: Key,
    table: Arc<IpcTable>,
    /// The first message that cannot be read, if the file was recovered.
    damage: Option<Error>,
    engine: Arc<Engine>,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        Arrow.name()
    }

    fn source(&self) -> &Arc<dyn Source> {
        self.file.source()
    }

    fn info(&self) -> Result<FileInfo> {
        let version = if self.file.is_stream() { "stream" } else { "file" };
        Ok(FileInfo {
            version: version.into(),
            compression: self.file.codecs().join(", "),
            ..FileInfo::of(self)?
        })
    }

    fn metadata(&self) -> Vec<(String, Bytes)> {
        let owned = |(key, value): (&str, &str)| (key.to_owned(), Bytes::copy_from_slice(value.as_bytes()));
        self.file.metadata().map(owned).collect()
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
        let Some(damage) = &self.damage else { return Ok(None) };
        let gap = Gap {
            entry: table.entries()?,
            block: self.file.batches() as u64,
            byte: damage.place.byte.unwrap_or(0),
            what: damage.kind.to_string(),
        };
        Ok(Some((table, vec![gap])))
    }

    fn recovery(&self) -> Option<Recovery> {
        let damage = self.damage.as_ref()?;
        let size = self.source().size().unwrap_or(0);
        Some(Recovery {
            objects: 1,
            blocks: self.file.batches(),
            deleted: 0,
            unlisted: Vec::new(),
            describes_classes: true,
            end: damage.place.byte.unwrap_or(size),
            size,
            stopped: Some(damage.kind.to_string()),
            gaps: Vec::new(),
        })
    }

    /// Reads all record batches.
    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let format = Counted::new(&IpcFormat);
        let reading = Reading {
            engine: &self.engine,
            source: self.source(),
            dataset: self.table.as_ref(),
            check_text: true,
            part: "record batches",
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
        static WORDS: Words = Words { block: ["record batch", "record batches"], rows: true, ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        &self.file
    }
}
