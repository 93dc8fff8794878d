//! Details of a node of the tree, as text.

use crate::{
    answers::Answer,
    cells::{self, Entries, WIDEST},
    host::Host,
    human,
    jobs::Job,
    tree_node::named,
};
use forthwith::{File, Key, Table, plan::Result};
use std::{
    fmt::Write,
    sync::{Arc, atomic::AtomicBool},
};

/// Number of entries whose values are shown.
const FIRST: u64 = 8;

/// Node whose details are shown.
pub(crate) enum Subject {
    Directory(String),
    Table(Key, Option<Table>),
    Column(Table, u32, bool),
    Object(Key),
}

/// Job that reads details.
pub(crate) struct DetailsJob {
    pub(crate) subject: Subject,
    pub(crate) file: File,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) width: usize,
}

impl DetailsJob {
    fn text(&self, stop: &AtomicBool) -> std::result::Result<String, String> {
        match &self.subject {
            Subject::Directory(path) => self.directory(path).map_err(|error| error.to_string()),
            Subject::Table(key, opened) => {
                self.table(key, opened.as_ref()).map_err(|error| error.to_string())
            }
            Subject::Column(table, field, true) => self.column(table, *field, stop),
            Subject::Column(table, field, false) => self.host.plan(table, *field, self.width),
            Subject::Object(key) => self.host.object(&self.file, key, self.width),
        }
    }

    fn directory(&self, path: &str) -> Result<String> {
        let keys = self.file.keys(path, false)?;
        let objects = human::counted(keys.len() as u64, "object", "objects");
        Ok(format!("directory {}\n{objects}", human::clean(path)))
    }

    fn table(&self, key: &Key, opened: Option<&Table>) -> Result<String> {
        let table = match opened {
            Some(table) => table.clone(),
            None => self.host.table(&self.file, &named(key))?,
        };
        let (info, words) = (self.file.info()?, table.words());
        let columns = table.fields()?.iter().filter(|field| field.has_data && !field.is_part).count() as u64;
        let about = if table.counts_blocks() { "about " } else { "" };
        let entries = human::counted(table.likely_entries()?, "entry", "entries");
        let mut text = format!("{} {}\n", human::clean(&key.class), human::clean(&key.path));
        let mut line = |label: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(text, "{label:<12}{}", human::clean(value)); // text takes all that is written
            }
        };
        line("title", &key.title);
        line("entries", &format!("{about}{entries}"));
        line(words.column[1], &human::count(columns));
        line("compression", &info.compression);
        line("file", &format!("{} {}, {}", info.format, info.version, human::bytes(info.size)));
        for name in table.attribute_sets() {
            line("attributes", &name);
        }
        Ok(text)
    }

    fn column(&self, table: &Table, field: u32, stop: &AtomicBool) -> std::result::Result<String, String> {
        let mut text = self.host.plan(table, field, self.width)?;
        text.push_str(&stored(table, field));
        let values = cells::read(table, &[field], &Entries::Range(0..FIRST), stop);
        let values = values.map_err(|error| error.to_string());
        let lines = values.and_then(|arrays| match arrays.first() {
            Some(array) => cells::texts(array, self.width.clamp(20, 4 * WIDEST)),
            None => Ok(Vec::new()),
        });
        match lines {
            Ok(lines) => {
                text.push('\n');
                for (row, line) in lines.iter().enumerate() {
                    let _ = writeln!(text, "{row:>4}  {line}");
                }
            }
            Err(why) => text.push_str(&format!("\n{why}\n")),
        }
        Ok(text)
    }
}

impl Job for DetailsJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        (self.text(stop).map_or_else(Answer::Failed, Answer::Text), false)
    }
}

/// Returns lines about the storage of a column, as far as the metadata describe it.
fn stored(table: &Table, field: u32) -> String {
    let mut text = String::new();
    let codecs = table.codecs(field).unwrap_or_default();
    if !codecs.is_empty() {
        let _ = writeln!(text, "  codec    {}", human::clean(&codecs.join(", "))); // text takes all that is written
    }
    let described =
        if table.counts_blocks() { table.describe_first(field, FIRST) } else { table.describe(field) };
    // In record-oriented formats, the stored bytes are those of all columns.
    if let Ok(described) = described
        && !table.words().rows
        && described.stored_bytes > 0
    {
        let stored = human::bytes(described.stored_bytes);
        let of = match described.payload_bytes {
            0 => String::new(),
            payload => {
                let ratio = human::ratio(payload, described.stored_bytes);
                format!(" of {} ({ratio})", human::bytes(payload))
            }
        };
        let _ = writeln!(text, "  stored   {stored}{of}"); // likewise
    }
    text
}
