//! Parquet files.

use super::{Format, only::OnlyTable};
use crate::{Container, FileInfo, Key, OpenOptions, OptionKind, OptionSpec, Words};
use bytes::Bytes;
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_parquet::{Options, ParquetFile, ParquetFormat, ParquetWriter};
use forthwith_plan::{BlockFormat, Dataset, Result, TableWriter, WriteOptions};
use std::{any::Any, sync::Arc};

/// The row of the table.
pub(super) struct Parquet;

const ROW_GROUPS: OptionSpec = OptionSpec {
    name: "row_groups",
    kind: OptionKind::Numbers,
    about: "the row groups that are the table, by their numbers and in this order",
};

impl Format for Parquet {
    fn name(&self) -> &'static str {
        "Parquet"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["parquet", "pq"]
    }

    fn recognise(&self, head: &[u8], _: &str) -> bool {
        ParquetFile::is_parquet(head)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[ROW_GROUPS]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        _: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let file = ParquetFile::open(source)?;
        let only = OnlyTable::new(file.source().as_ref(), self.name(), "table".into(), String::new(), 0)?;
        // A number that no machine counts to is one that no file has.
        let number = |number: &u64| usize::try_from(*number).unwrap_or(usize::MAX);
        let row_groups = options.numbers(ROW_GROUPS.name).map(|all| all.iter().map(number).collect());
        Ok(Arc::new(Opened { file, only, options: Options { row_groups } }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(ParquetWriter::new(fields, sink, options)?))
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 1] = [&ParquetFormat];
        &BLOCKS
    }
}

struct Opened {
    file: ParquetFile,
    only: OnlyTable,
    options: Options,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        Parquet.name()
    }

    fn source(&self) -> &Arc<dyn Source> {
        self.file.source()
    }

    fn info(&self) -> Result<FileInfo> {
        Ok(FileInfo {
            uri: self.file.uri().to_owned(),
            format: self.format().into(),
            version: self.file.version().to_string(),
            compression: self.file.codecs().join(", "),
            uuid: None,
            size: self.source().size()?,
        })
    }

    fn metadata(&self) -> Vec<(String, Bytes)> {
        let owned = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let words = self.file.key_values().map(|(name, value)| (name.to_owned(), owned(value)));
        words.chain(self.file.created_by().map(|by| ("created_by".to_owned(), owned(by)))).collect()
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
        Ok(Arc::new(self.file.table(&self.options)?))
    }

    fn words(&self) -> &'static Words {
        static WORDS: Words = Words { block: ["row group", "row groups"], ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        &self.file
    }
}
