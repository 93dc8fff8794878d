//! Files of ProtoBuf messages, and ProtoBuf messages that plans read without a file.

use super::Format;
use crate::{
    Container, FileInfo, Key, OpenOptions, OptionKind, OptionSpec, Words,
    check::{Counted, Reading},
};
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_plan::{BlockFormat, CheckReport, Dataset, Error, Result, TableWriter, WriteOptions};
use forthwith_protobuf::{
    Framing, Mapping, MessagesFormat, Options, ProtoFile, ProtoFormat, ProtoTable, ProtoWriter, Schema,
    Writing,
};
use std::{any::Any, sync::Arc};

/// The ProtoBuf format, as listed in `FORMATS`.
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
    about: "what is around the messages: \"delimited\" for lengths as variable integers (the default), \"fixed32\" or \"fixed32-big\" for lengths of four bytes, \"single\" for a file that is one message, \"hepmc3\" for events of HepMC3",
};
const ROWS: OptionSpec = OptionSpec {
    name: "rows",
    kind: OptionKind::Text,
    about: "the repeated field of the one message that a file is, whose messages are the rows; with slashes, such a field in these",
};

const TIMES: OptionSpec = OptionSpec {
    name: "times_as_records",
    kind: OptionKind::Flag,
    about: "whether Timestamp and Duration are records of seconds and nanoseconds; otherwise they are times",
};
const ENUMS: OptionSpec = OptionSpec {
    name: "enums",
    kind: OptionKind::Text,
    about: "what enums are read as: \"names\" (the default) or \"numbers\"",
};
const RECURSION: OptionSpec = OptionSpec {
    name: "recursion",
    kind: OptionKind::Text,
    about: "how often a message type is read within itself: without it such a field is refused, with it messages nested deeper are an error",
};

/// Returns the mapping of values that the options select.
fn mapping(given: &OpenOptions) -> Result<Mapping> {
    let enum_numbers = match given.text(ENUMS.name) {
        None | Some("names") => false,
        Some("numbers") => true,
        Some(other) => {
            return Err(Error::invalid(format!("enums {other:?}: it has to be \"names\" or \"numbers\"")));
        }
    };
    let recursion = given.text(RECURSION.name).map_or(Ok(0), |text| {
        let invalid = |_| Error::invalid(format!("recursion {text:?}: it has to be a number of levels"));
        text.parse().map_err(invalid)
    });
    Ok(Mapping { times: !given.flag(TIMES.name, false), enum_numbers, recursion: recursion? })
}

impl Format for ProtoBuf {
    fn name(&self) -> &'static str {
        "ProtoBuf"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["pb", "binpb", "protobuf"]
    }

    /// Recognises a file by the signature of HepMC3, or else by its extension: other files have no signature.
    fn recognise(&self, head: &[u8], name: &str) -> bool {
        Framing::of_head(head).is_some()
            || super::text_ending(name).is_some_and(|ending| self.endings().contains(&&*ending))
    }

    /// Decides by the extension, because messages may begin like compressed data. Streams without a known
    /// extension are decompressed if their first bytes are those of compressed data.
    fn is_decompressed(&self, source: &dyn Source) -> bool {
        match super::ending(source.uri()) {
            Some(ending) if super::text::COMPRESSED.contains(&&*ending) => true,
            Some(ending) if self.endings().contains(&&*ending) => false,
            _ => source.is_stream(),
        }
    }

    fn is_requested(&self, options: &OpenOptions) -> bool {
        [MESSAGE, FRAMING, ROWS].iter().any(|spec| options.get(spec.name).is_some())
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SCHEMA, MESSAGE, FRAMING, ROWS, TIMES, ENUMS, RECURSION]
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        given: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let open = || {
            let rows = given.text(ROWS.name).map(str::to_owned);
            let framing = match given.text(FRAMING.name) {
                Some(name) => Framing::named(name)?,
                None if rows.is_some() => Framing::Single,
                None => {
                    let head = source.read_one(0..source.grown(3)?.min(4))?;
                    Framing::of_head(&head).unwrap_or_default()
                }
            };
            let Some(spelled) = given.text(SCHEMA.name).or(framing.schema()) else {
                return Err(Error::invalid("a file of messages does not say their type: give schema="));
            };
            let message = given.text(MESSAGE.name).map(str::to_owned);
            let options = Options { message, framing, rows, mapping: mapping(given)? };
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

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        let framing = options.framing.as_deref().map(Framing::named).transpose()?.unwrap_or_default();
        let schema = options.schema.as_deref().map(Schema::parse).transpose()?;
        let writing = Writing { schema, message: options.name.clone(), framing };
        Ok(Box::new(ProtoWriter::new(sink, fields, &writing)?))
    }

    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        static BLOCKS: [&dyn BlockFormat; 2] = [&ProtoFormat, &MessagesFormat];
        &BLOCKS
    }
}

struct Opened {
    only: Key,
    /// The schema as it was given, or that of the framing.
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
        report.count("bytes", self.source().size_so_far()?);
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
