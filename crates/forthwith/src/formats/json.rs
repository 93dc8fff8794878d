//! JSON Lines, and other files of JSON values.

use super::{Format, one_table::OneTable, text};
use crate::{Container, Key, OpenOptions, OptionKind, OptionSpec};
use forthwith_columns::Form;
use forthwith_engine::{BlockThreads, Engine};
use forthwith_io::{Sink, Source};
use forthwith_json::{JsonFile, JsonFormat, JsonOptions, JsonTable};
use forthwith_plan::{BlockFormat, Result, TableWriter, WriteOptions};
use std::sync::Arc;

/// The JSON formats, as listed in `FORMATS`.
pub(super) struct Json;

const UNIONS: OptionSpec = OptionSpec {
    name: "unions",
    kind: OptionKind::Flag,
    about: "whether values of different kinds in one place are a union; otherwise their column is not read",
};

const DATES: OptionSpec = OptionSpec {
    name: "parse_dates",
    kind: OptionKind::Flag,
    about: "whether texts that are all dates, or all times, in ISO form are such",
};
const SCHEMA: OptionSpec = OptionSpec {
    name: "schema",
    kind: OptionKind::Text,
    about: "the type of an entry, whose other members are stepped over: a Form or type of Awkward Array, a schema of Avro, or one of JSON Schema",
};

/// Extensions of files with one value per line, in which a list at the beginning is an entry, not the list of
/// all entries.
const LINES: [&str; 2] = ["jsonl", "ndjson"];

/// Whether the first bytes of a text can only be those of an object, or of a list of objects; `None` if they are
/// too few to tell.
fn begins_with_object(head: &[u8]) -> Option<bool> {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    if text.is_empty() || BYTE_ORDER_MARK.starts_with(text) {
        return None;
    }
    let text = text.strip_prefix(b"[").map_or(text, <[u8]>::trim_ascii_start);
    match text.split_first() {
        None => None,
        Some((b'{', member)) => Some(matches!(member.trim_ascii_start().first()?, b'"' | b'}')),
        Some(_) => Some(false),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Format for Json {
    fn name(&self) -> &'static str {
        text::JSON_LINES.name()
    }

    /// Returns the extensions of JSON Lines, the format that is written.
    fn endings(&self) -> &'static [&'static str] {
        text::JSON_LINES.endings()
    }

    fn is_text(&self) -> bool {
        true
    }

    /// Recognises a file by its extension. If the extension belongs to no built-in format, as for standard
    /// input, the text has to begin with an object or a list of objects.
    fn recognise(&self, _: &[u8], name: &str) -> bool {
        let is_named = |ending: String| ending == "json" || LINES.contains(&&*ending);
        super::text_ending(name).is_some_and(is_named)
    }

    fn recognise_text(&self, head: &[u8]) -> Option<bool> {
        begins_with_object(head)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[UNIONS, DATES, SCHEMA]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        given: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let format = given.text(OpenOptions::FORMAT).map(str::to_ascii_lowercase);
        let names = [format, super::text_ending(source.uri())];
        let lines = names.iter().flatten().any(|name| LINES.contains(&name.trim_start_matches('.')));
        let options = JsonOptions {
            unions: given.flag(UNIONS.name, false),
            dates: given.flag(DATES.name, false),
            lines,
            schema: given.text(SCHEMA.name).map(str::to_owned),
        };
        let runner = BlockThreads::new(engine.options().threads);
        let file = JsonFile::open(Arc::clone(&source), &options, &runner)?;
        let only = Key::of_only(source.as_ref(), self.name(), "table".into(), String::new(), 0)?;
        let table = Arc::new(JsonTable::new(file));
        Ok(Arc::new(OneTable {
            format: self.name(),
            source,
            only,
            table,
            engine: Arc::clone(engine),
            blocks: &JsonFormat,
            part: "values",
            cut: None,
        }))
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        text::JSON_LINES.writer(fields, sink, options)
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 1] = [&JsonFormat];
        &BLOCKS
    }
}
