//! Files and streams of Arrow's IPC format.

use super::Format;
use crate::{
    AroundDamage, Container, DamagedPart, FileInfo, Gap, Key, OpenOptions, OptionKind, OptionSpec, Recovery,
    Words,
    check::{Counted, Reading},
};
use bytes::Bytes;
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_ipc::{IpcFile, IpcFormat, IpcTable, IpcWriter, LostPart};
use forthwith_plan::{BlockFormat, CheckReport, Dataset, Result, TableWriter, WriteOptions};
use std::{any::Any, sync::Arc};

/// The Arrow IPC format, as listed in `FORMATS`.
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
        let (file, lost) = match options.flag(RECOVER.name, false) {
            true => IpcFile::recover(source)?,
            false => (IpcFile::open(source)?, Vec::new()),
        };
        let only = Key::of_only(file.source().as_ref(), self.name(), "table".into(), String::new(), 0)?;
        let table = Arc::new(file.table()?);
        Ok(Arc::new(Opened { file, only, table, lost, engine: Arc::clone(engine) }))
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
    about: "open a file or stream that was cut off or damaged with its whole batches",
};

struct Opened {
    file: IpcFile,
    only: Key,
    table: Arc<IpcTable>,
    /// Parts that cannot be read, if the file was recovered.
    lost: Vec<LostPart>,
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
        if self.lost.is_empty() {
            return Ok(None);
        }
        let gap = |part: &LostPart| Gap {
            entry: part.row,
            block: part.batch,
            byte: part.bytes.start,
            end_byte: Some(part.bytes.end),
            entries: part.rows,
            what: part.error.kind.to_string(),
        };
        Ok(Some((table, self.lost.iter().map(gap).collect())))
    }

    fn recovery(&self) -> Option<Recovery> {
        let last = self.lost.last()?;
        let size = self.source().size().unwrap_or(0);
        let stopped = Some(last).filter(|last| last.bytes.end >= size);
        let before = self.lost.iter().take(self.lost.len() - usize::from(stopped.is_some()));
        let part = |part: &LostPart| DamagedPart {
            begin: part.bytes.start,
            end: part.bytes.end,
            block: Some(part.batch),
            entries: part.rows,
            what: part.error.kind.to_string(),
        };
        Some(Recovery {
            objects: 1,
            blocks: self.file.batches(),
            deleted: 0,
            unlisted: Vec::new(),
            describes_classes: true,
            end: stopped.map_or(size, |part| part.bytes.start),
            size,
            stopped: stopped.map(|part| part.error.kind.to_string()),
            gaps: before.map(part).collect(),
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
