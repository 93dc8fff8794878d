//! Avro container files, and Avro datums, which plans read without a file.

use super::Format;
use crate::{
    AroundDamage, Container, FileInfo, Gap, Key, OpenOptions, OptionKind, OptionSpec, Words,
    check::{Counted, Reading},
};
use bytes::Bytes;
use forthwith_avro::{
    AvroFile, AvroFormat, AvroTable, AvroWriter, Damage, DatumFormat, MARKER, Options, Schema, Writing,
};
use forthwith_columns::{Form, TextPolicy};
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_plan::{
    BlockFormat, CheckReport, Dataset, ErrorKind, Finding, Result, Severity, TableWriter, WriteOptions,
};
use std::{any::Any, sync::Arc};

/// The Avro format, as listed in `FORMATS`.
pub(super) struct Avro;

const SCHEMA: OptionSpec = OptionSpec {
    name: "schema",
    kind: OptionKind::Text,
    about: "the schema that values are read as, in JSON: fields by its names and in its order, promoted, with its defaults",
};
const SKIP_DAMAGED: OptionSpec = OptionSpec {
    name: "skip_damaged",
    kind: OptionKind::Flag,
    about: "leave out blocks that cannot be read; all are read once to find out",
};

impl Format for Avro {
    fn name(&self) -> &'static str {
        "Avro"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["avro"]
    }

    fn recognise(&self, head: &[u8], _: &str) -> bool {
        AvroFile::is_avro(head)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SCHEMA, SKIP_DAMAGED]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let file = AvroFile::open(source)?;
        let header = file.header();
        let title = header.schema.root().doc.clone().unwrap_or_default();
        let only = Key::of_only(file.source().as_ref(), self.name(), file.name(), title, header.end)?;
        let asked = options.text(SCHEMA.name);
        let schema = asked.map(|text| Schema::parse(text).map(Arc::new)).transpose()?;
        Ok(Arc::new(Opened {
            only,
            schema,
            spelled: asked.unwrap_or(&header.schema_text).to_owned(),
            skip_damaged: options.flag(SKIP_DAMAGED.name, false),
            check_text: options.text_policy() == TextPolicy::Strict,
            file,
            engine: Arc::clone(engine),
        }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        let options =
            Writing { options: options.clone(), schema: options.schema.clone(), ..Writing::default() };
        Ok(Box::new(AvroWriter::new(sink, fields, &options)?))
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static DATUMS: DatumFormat = DatumFormat;
        const CODECS: &[AvroFormat] = &AvroFormat::ALL;
        static BLOCKS: [&dyn BlockFormat; CODECS.len() + 1] = {
            let mut blocks: [&dyn BlockFormat; CODECS.len() + 1] = [&DATUMS; CODECS.len() + 1];
            let mut at = 0;
            while at < CODECS.len() {
                blocks[at] = &CODECS[at];
                at += 1;
            }
            blocks
        };
        &BLOCKS
    }
}

struct Opened {
    file: AvroFile,
    only: Key,
    schema: Option<Arc<Schema>>,
    /// JSON text of the schema that values are read as: the `schema` option, or else the schema of the file.
    spelled: String,
    skip_damaged: bool,
    check_text: bool,
    engine: Arc<Engine>,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        Avro.name()
    }

    fn source(&self) -> &Arc<dyn Source> {
        self.file.source()
    }

    fn info(&self) -> Result<FileInfo> {
        Ok(FileInfo {
            version: "1".into(),
            compression: self.file.header().codec.name().into(),
            // The sync marker is random.
            identity: Some(format!("{:032x}", u128::from_be_bytes(self.file.header().marker))),
            ..FileInfo::of(self)?
        })
    }

    fn metadata(&self) -> Vec<(String, Bytes)> {
        self.file.header().metadata.clone()
    }

    fn user_metadata(&self) -> Vec<(String, Bytes)> {
        let all = self.file.header().metadata.iter();
        all.filter(|(name, _)| !name.starts_with("avro.")).cloned().collect()
    }

    fn schema(&self) -> Option<String> {
        Some(self.spelled.clone())
    }

    fn only_table(&self) -> Option<&Key> {
        Some(&self.only)
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.find(path)?;
        let options =
            Options { schema: self.schema.clone(), skip_damaged: self.skip_damaged, ..Options::default() };
        let table = self.file.table(&options)?;
        Ok(Arc::new(if self.skip_damaged { self.without_damage(&table)? } else { table }))
    }

    fn dataset_around_damage(&self, path: &str) -> Result<Option<AroundDamage>> {
        self.find(path)?;
        let options = Options { schema: self.schema.clone(), skip_damaged: true, ..Options::default() };
        let table = self.file.table(&options)?;
        let blocks = table.blocks()?;
        let gap = |damage: Damage| {
            let before = blocks.iter().take_while(|block| block.bytes.start < damage.bytes.start).last();
            let entry = before.map_or(0, |block| block.entries.end);
            let Damage { block, bytes, what, .. } = damage;
            Gap { entry, block, byte: bytes.start, end_byte: None, entries: None, what }
        };
        let gaps = table.damage().into_iter().map(gap).collect();
        Ok(Some((Arc::new(table), gaps)))
    }

    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let options = Options { skip_damaged: true, single_blocks: true, ..Options::default() };
        let table = self.file.table(&options)?;
        let format = Counted::new(super::format(Dataset::format(&table))?);
        let reading = Reading {
            engine: &self.engine,
            source: self.source(),
            dataset: &table,
            check_text: self.check_text,
            part: "blocks",
            ahead: MARKER,
            counted: crate::check::Bytes::Decompressed,
            format: &format,
        };
        let (blocks, damaged) = (table.blocks()?, table.damage());
        report.count("blocks", (blocks.len() + damaged.len()) as u64);
        report.count("entries", table.entries()?);
        let fields = reading.fields(&mut report)?;
        report.count("columns", fields.len() as u64);
        report.count("bytes", self.source().size()?);
        for damage in damaged {
            report.add(Finding {
                severity: Severity::Damage,
                part: "blocks",
                object: Some(format!("block {}", damage.block)),
                byte: Some(damage.bytes.start),
                what: damage.what,
            });
        }
        if !fields.is_empty() {
            reading.blocks(table.plan(&fields, 0..table.entries()?)?, &mut report)?;
        }
        report.decompressed_bytes = format.bytes();
        report.findings.sort_by_key(|finding| finding.byte);
        Ok(report)
    }

    fn words(&self) -> &'static Words {
        static WORDS: Words = Words { rows: true, ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        &self.file
    }
}

impl Opened {
    /// Returns the table without its damaged blocks, which are found by reading every block once.
    fn without_damage(&self, table: &AvroTable) -> Result<AvroTable> {
        let all = (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part).map(|(number, _)| number);
        // Fields that are unsupported are not damage.
        let fields: Vec<u32> =
            all.filter(|field: &u32| table.describe(*field).is_ok_and(|d| d.reading.is_ok())).collect();
        let mut bad = Vec::new();
        let table = table.with_single_blocks();
        for block in table.blocks()? {
            let mut plan = table.plan(&fields, block.entries.clone())?;
            plan.utf8 &= self.check_text;
            match self.engine.read(&plan, self.source(), super::format(&plan.format)?, Some(1), None) {
                Ok(_) => {}
                Err(error) if matches!(error.kind, ErrorKind::Source(_) | ErrorKind::OutOfMemory { .. }) => {
                    return Err(error);
                }
                Err(error) => bad.push((block.number, error.kind.to_string())),
            }
        }
        table.without(&bad)
    }
}
