//! Details of a node of the tree, as text.

use crate::{
    act::Host,
    answers::Answer,
    cells::{self, Entries, WIDEST},
    human,
    jobs::Job,
};
use forthwith::{File, Key, Table, plan::Result};
use std::{
    fmt::Write,
    sync::{Arc, atomic::AtomicBool},
};

/// Entries whose values are shown.
const FIRST: u64 = 8;

/// The thing that details are of.
pub(crate) enum Subject {
    Directory(String),
    Table(Key, Option<Table>),
    Column(Table, u32, bool),
    Object(Key),
}

/// Reads details.
pub(crate) struct DetailsJob {
    pub(crate) subject: Subject,
    pub(crate) file: File,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) width: usize,
}

impl DetailsJob {
    fn text(&self) -> std::result::Result<String, String> {
        match &self.subject {
            Subject::Directory(path) => self.directory(path).map_err(|error| error.to_string()),
            Subject::Table(key, opened) => {
                self.table(key, opened.as_ref()).map_err(|error| error.to_string())
            }
            Subject::Column(table, field, true) => self.column(table, *field),
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

    fn column(&self, table: &Table, field: u32) -> std::result::Result<String, String> {
        let mut text = self.host.plan(table, field, self.width)?;
        let values =
            cells::read(table, &[field], &Entries::Range(0..FIRST)).map_err(|error| error.to_string());
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
    fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
        (self.text().map_or_else(Answer::Failed, Answer::Text), false)
    }
}

/// The name that opens an object.
pub(crate) fn named(key: &Key) -> String {
    if key.path.is_empty() { String::new() } else { format!("{};{}", key.path, key.cycle) }
}
