//! CSV files.

use super::{Format, one_table::OneTable, text};
use crate::{Container, Key, OpenOptions, OptionKind, OptionSpec};
use forthwith_columns::Form;
use forthwith_csv::{CsvFile, CsvFormat, CsvOptions, CsvTable};
use forthwith_engine::{BlockThreads, Engine};
use forthwith_io::{Sink, Source};
use forthwith_plan::{BlockFormat, Error, Result, TableWriter, WriteOptions};
use std::sync::Arc;

/// The CSV format, as listed in `FORMATS`.
pub(super) struct Csv;

const TYPES: OptionSpec = OptionSpec {
    name: "types",
    kind: OptionKind::Text,
    about: "types of some columns as JSON, {\"name\": \"int64\"}; those of others are found from all of their cells",
};
const SEPARATOR: OptionSpec = OptionSpec {
    name: "separator",
    kind: OptionKind::Text,
    about: "the character between cells; a comma, or a tab in files whose names end with .tsv",
};
const HEADER: OptionSpec = OptionSpec {
    name: "header",
    kind: OptionKind::Flag,
    about: "whether the first line has the names of the columns, as it has by default",
};

const RECOVER: OptionSpec = OptionSpec {
    name: "recover",
    kind: OptionKind::Flag,
    about: "leave out the last line if it was cut off",
};

/// Extensions of the files that are read.
const READ: [&str; 2] = ["csv", "tsv"];

fn options(uri: &str, options: &OpenOptions) -> Result<CsvOptions> {
    let ending = options.text(OpenOptions::FORMAT).map(str::to_owned).or_else(|| super::text_ending(uri));
    let usual = if ending.as_deref() == Some("tsv") { b'\t' } else { b',' };
    let separator = match options.text(SEPARATOR.name).map(str::as_bytes) {
        None => usual,
        Some([byte]) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => *byte,
        Some(_) => {
            return Err(Error::invalid("separator: one ASCII character that is not a quote or a line break"));
        }
    };
    let types = options.text(TYPES.name).map(str::to_owned);
    let recover = options.flag(RECOVER.name, false);
    Ok(CsvOptions { separator, header: options.flag(HEADER.name, true), types, recover })
}

impl Format for Csv {
    fn name(&self) -> &'static str {
        text::CSV.name()
    }

    fn endings(&self) -> &'static [&'static str] {
        text::CSV.endings()
    }

    fn is_text(&self) -> bool {
        true
    }

    /// Recognises a file by its extension, because text has no signature.
    fn recognise(&self, _: &[u8], name: &str) -> bool {
        super::text_ending(name).is_some_and(|ending| READ.contains(&&*ending))
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[TYPES, SEPARATOR, HEADER, RECOVER]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        given: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let options = options(source.uri(), given).map_err(|error| error.in_file(source.uri()))?;
        let runner = BlockThreads::new(engine.options().threads);
        let mut file = CsvFile::open(Arc::clone(&source), &options, &runner)?;
        let only = Key::of_only(source.as_ref(), self.name(), "table".into(), String::new(), 0)?;
        let cut = file.take_cut();
        let table = Arc::new(CsvTable::new(file));
        Ok(Arc::new(OneTable {
            format: self.name(),
            source,
            only,
            table,
            engine: Arc::clone(engine),
            blocks: &CsvFormat,
            part: "records",
            cut,
        }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        text::CSV.writer(fields, sink, options)
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 1] = [&CsvFormat];
        &BLOCKS
    }
}
