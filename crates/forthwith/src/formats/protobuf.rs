//! Files of ProtoBuf messages, and the messages that plans may have without a file.

use super::Format;
use crate::{
    Container, FileInfo, Key, OpenOptions, OptionKind, OptionSpec, Words,
    check::{Counted, Reading},
};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, CheckReport, Dataset, Error, Result};
use forthwith_protobuf::{Framing, MessagesFormat, Options, ProtoFile, ProtoFormat, ProtoTable, Schema};
use std::{any::Any, sync::Arc};

/// The row of the table.
pub(super) struct ProtoBuf;

const SCHEMA: OptionSpec = OptionSpec {
    name: "schema",
    kind: OptionKind::Text,
    about: "the types of messages: the path of a .proto file or of a set of descriptors, the text of such a file, or the bytes of such a set in hexadecimal digits",
};
const MESSAGE: OptionSpec = OptionSpec {
    name: "message",
    kind: OptionKind::Text,
    about: "the full name of the type of the messages, if the schema has several that are in no other",
};
const FRAMING: OptionSpec = OptionSpec {
    name: "framing",
    kind: OptionKind::Text,
    about: "what is around the messages: \"delimited\" for lengths as variable integers (the default), \"fixed32\" or \"fixed32-big\" for lengths of four bytes, \"single\" for a file that is one message",
};
const ROWS: OptionSpec = OptionSpec {
    name: "rows",
    kind: OptionKind::Text,
    about: "the repeated field of the one message that a file is, whose messages are the rows; with slashes, such a field in these",
};

impl Format for ProtoBuf {
    fn name(&self) -> &'static str {
        "ProtoBuf"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["pb", "binpb", "protobuf"]
    }

    /// Messages have no signature: the name tells, or the options.
    fn recognise(&self, _: &[u8], name: &str) -> bool {
        super::ending(name).is_some_and(|ending| self.endings().contains(&&*ending))
    }

    fn is_requested(&self, options: &OpenOptions) -> bool {
        [MESSAGE, FRAMING, ROWS].iter().any(|spec| options.get(spec.name).is_some())
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SCHEMA, MESSAGE, FRAMING, ROWS]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        given: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let open = || {
            let Some(spelled) = given.text(SCHEMA.name) else {
                return Err(Error::invalid("a file of messages does not say their type: give schema="));
            };
            let rows = given.text(ROWS.name).map(str::to_owned);
            let framing = match given.text(FRAMING.name) {
                Some(name) => Framing::named(name)?,
                None if rows.is_some() => Framing::Single,
                None => Framing::default(),
            };
            let options = Options { message: given.text(MESSAGE.name).map(str::to_owned), framing, rows };
            let file = ProtoFile::open(Arc::clone(&source), &Schema::parse(spelled)?, &options)?;
            let only = Key::of_only(source.as_ref(), self.name(), file.name().to_owned(), String::new(), 0)?;
            Ok(Opened {
                only,
                spelled: spelled.to_owned(),
                table: Arc::new(ProtoTable::new(file)),
                check_text: given.flag(OpenOptions::CHECK_TEXT, true),
                engine: Arc::clone(engine),
            })
        };
        match open() {
            Ok(opened) => Ok(Arc::new(opened)),
            Err(error) => Err(error.in_file(source.uri())),
        }
    }

    fn is_written(&self) -> bool {
        false
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 2] = [&ProtoFormat, &MessagesFormat];
        &BLOCKS
    }
}

struct Opened {
    only: Key,
    /// The schema, as it was spelled.
    spelled: String,
    table: Arc<ProtoTable>,
    check_text: bool,
    engine: Arc<Engine>,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        ProtoBuf.name()
    }

    fn source(&self) -> &Arc<dyn Source> {
        self.table.file().source()
    }

    fn info(&self) -> Result<FileInfo> {
        Ok(FileInfo { compression: "none".into(), ..FileInfo::of(self)? })
    }

    fn schema(&self) -> Option<String> {
        Some(self.spelled.clone())
    }

    fn only_table(&self) -> Option<&Key> {
        Some(&self.only)
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.find(path)?;
        Ok(Arc::clone(&self.table) as Arc<dyn Dataset>)
    }

    /// Reads all messages.
    fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let format = Counted::new(&ProtoFormat);
        let reading = Reading {
            engine: &self.engine,
            source: self.source(),
            dataset: self.table.as_ref(),
            check_text: self.check_text,
            part: "messages",
            ahead: 0,
            counted: crate::check::Bytes::Stored,
            format: &format,
        };
        let fields = reading.fields(&mut report)?;
        report.count("columns", fields.len() as u64);
        report.count("entries", self.table.entries()?);
        report.count("bytes", self.source().size()?);
        if !fields.is_empty() {
            reading.blocks(self.table.plan(&fields, 0..self.table.entries()?)?, &mut report)?;
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
