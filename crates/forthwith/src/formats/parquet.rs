//! Parquet files.

use super::{Format, statistics};
use crate::{
    Container, FileInfo, Key, OpenOptions, OptionKind, OptionSpec, Words,
    check::{Counted, Reading},
};
use bytes::Bytes;
use forthwith_columns::{Form, TextPolicy};
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_parquet::{Options, ParquetFile, ParquetFormat};
use forthwith_plan::{
    BlockFormat, CheckReport, Dataset, Error, Finding, Result, Severity, TableWriter, WriteOptions,
};
use std::{any::Any, sync::Arc};

/// The Parquet format, as listed in `FORMATS`.
pub(super) struct Parquet;

const ROW_GROUPS: OptionSpec = OptionSpec {
    name: "row_groups",
    kind: OptionKind::Numbers,
    about: "the row groups that are the table, by their numbers and in this order",
};

const INT96: OptionSpec = OptionSpec {
    name: "int96",
    kind: OptionKind::Text,
    about: "the unit of times of type INT96: ns, or us for years before 1677 or after 2262",
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
        &[ROW_GROUPS, INT96]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let file = ParquetFile::open(source)?;
        let only = Key::of_only(file.source().as_ref(), self.name(), "table".into(), String::new(), 0)?;
        // A number beyond `usize` is a row group that no file has.
        let number = |number: &u64| usize::try_from(*number).unwrap_or(usize::MAX);
        let row_groups = options.numbers(ROW_GROUPS.name).map(|all| all.iter().map(number).collect());
        let int96_as_microseconds = match options.text(INT96.name) {
            None | Some("ns") => false,
            Some("us") => true,
            Some(other) => {
                return Err(Error::invalid(format!("the option int96 is \"ns\" or \"us\", not {other:?}")));
            }
        };
        Ok(Arc::new(Opened {
            file,
            only,
            options: Options { row_groups, int96_as_microseconds },
            check_text: options.text_policy() == TextPolicy::Strict,
            engine: Arc::clone(engine),
        }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        #[cfg(feature = "parquet-write")]
        {
            let runner = Arc::new(forthwith_engine::BlockThreads::default());
            Ok(Box::new(forthwith_parquet::ParquetWriter::new(fields, sink, options, runner)?))
        }
        #[cfg(not(feature = "parquet-write"))]
        {
            let _ = (fields, options);
            let what = "writing Parquet files, which the cargo feature `parquet-write` does";
            Err(Error::unsupported(what).in_file(sink.uri()))
        }
    }

    fn is_written(&self) -> bool {
        cfg!(feature = "parquet-write")
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 1] = [&ParquetFormat];
        &BLOCKS
    }
}

struct Opened {
    file: ParquetFile,
    only: Key,
    options: Options,
    check_text: bool,
    engine: Arc<Engine>,
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
            version: self.file.version().to_string(),
            compression: self.file.codecs().join(", "),
            identity: Some(format!("{:016x}", self.file.footer_hash())),
            ..FileInfo::of(self)?
        })
    }

    fn metadata(&self) -> Vec<(String, Bytes)> {
        let owned = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let words = self.file.key_values().map(|(name, value)| (name.to_owned(), owned(value)));
        words.chain(self.file.created_by().map(|by| ("created_by".to_owned(), owned(by)))).collect()
    }

    fn user_metadata(&self) -> Vec<(String, Bytes)> {
        let words = self.file.user_key_values();
        words.map(|(name, value)| (name.to_owned(), Bytes::copy_from_slice(value.as_bytes()))).collect()
    }

    fn only_table(&self) -> Option<&Key> {
        Some(&self.only)
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.find(path)?;
        Ok(Arc::new(self.file.table(&self.options)?))
    }

    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        self.file.check(&mut report)?;
        // Times that are out of range for nanoseconds are valid.
        let table = match self.file.table(&Options { row_groups: None, int96_as_microseconds: true }) {
            Ok(table) => table,
            // The byte ranges of the parts have been checked; their contents cannot be decoded.
            Err(error) => {
                let what = error.kind.to_string();
                let severity = Severity::Damage;
                report.add(Finding { severity, part: "footer", object: None, byte: error.place.byte, what });
                return Ok(report);
            }
        };
        let format = Counted::new(&ParquetFormat);
        let reading = Reading {
            engine: &self.engine,
            source: self.source(),
            dataset: &table,
            check_text: self.check_text,
            part: "column chunks",
            ahead: 0,
            counted: crate::check::Bytes::Stored,
            format: &format,
        };
        let fields = reading.fields(&mut report)?;
        for group in table.row_groups().iter().filter(|group| !group.entries.is_empty()) {
            reading.columns(&fields, &group.entries, &mut report, &mut |fields, arrays, report| {
                for (field, array) in fields.iter().zip(arrays) {
                    statistics::compare(&table, group.number, *field, array, report);
                }
            })?;
        }
        Ok(report)
    }

    fn words(&self) -> &'static Words {
        static WORDS: Words = Words { block: ["row group", "row groups"], ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        &self.file
    }
}
