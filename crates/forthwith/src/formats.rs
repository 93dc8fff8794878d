//! The formats there are: the one table of them, and the trait each is known by.
//!
//! A format is added by a row of [`FORMATS`] and a room beside this file. Nothing else in this crate, in the command or in the
//! Python binding names a format, but for rooms of what by nature is one format's.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "avro")]
mod avro;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "json")]
mod json;
#[cfg(any(feature = "builders", feature = "csv", feature = "json"))]
mod one_table;
#[cfg(any(
    feature = "arrow",
    feature = "avro",
    feature = "builders",
    feature = "csv",
    feature = "json",
    feature = "parquet",
    feature = "protobuf"
))]
mod only;
#[cfg(feature = "builders")]
mod own;
#[cfg(not(feature = "builders"))]
#[path = "formats/own_absent.rs"]
mod own;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "root")]
mod root;
#[cfg(feature = "parquet")]
mod statistics;
mod text;

#[cfg(feature = "builders")]
pub use own::{OwnBlock, OwnFormat, own_program, register, registered, replace, unregister};
#[cfg(feature = "root")]
pub use root::extend_tree;
pub use text::{JsonRows, form_text};

use crate::{Container, OpenOptions, OptionKind, OptionSpec, options::OF_ALL};
use forthwith_columns::Form;
use forthwith_engine::Engine;
use forthwith_io::{Sink, Source};
use forthwith_plan::{BlockFormat, Error, Result, TableWriter, WriteOptions};
use std::sync::{Arc, LazyLock};

/// The formats there are. A file is of the first that recognises it.
static FORMATS: &[&dyn Format] = &[
    #[cfg(feature = "root")]
    &root::Root,
    #[cfg(feature = "avro")]
    &avro::Avro,
    #[cfg(feature = "parquet")]
    &parquet::Parquet,
    #[cfg(feature = "arrow")]
    &arrow::Arrow,
    #[cfg(feature = "protobuf")]
    &protobuf::ProtoBuf,
    #[cfg(feature = "json")]
    &json::Json,
    #[cfg(not(feature = "json"))]
    &text::JSON_LINES,
    #[cfg(feature = "csv")]
    &csv::Csv,
    #[cfg(not(feature = "csv"))]
    &text::CSV,
];

/// Formats that are none of them, by how their files begin.
const OTHERS: &[(&[u8], &str)] = &[
    #[cfg(not(feature = "root"))]
    (b"root", "a ROOT file, which the cargo feature `root` reads"),
    #[cfg(not(feature = "avro"))]
    (b"Obj\x01", "an Avro file, which the cargo feature `avro` reads"),
    #[cfg(not(feature = "parquet"))]
    (b"PAR1", "a Parquet file, which the cargo feature `parquet` reads"),
    #[cfg(not(feature = "arrow"))]
    (b"ARROW1", "an Arrow file, which the cargo feature `arrow` reads"),
    (b"FWINDEX1", "an index of another file, with which that one is opened"),
    (b"FEA1", "a Feather file of version 1"),
    (b"ORC", "an ORC file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"<!DOCTYP", WEB_PAGE),
    (b"<!doctyp", WEB_PAGE),
    (b"<html", WEB_PAGE),
    (b"<HTML", WEB_PAGE),
];

/// What servers answer for a folder, or instead of a file.
const WEB_PAGE: &str = "a web page (folders of web servers cannot be listed: name each file)";

/// Bytes of a file's beginning that are enough to recognise it, unless it is of a format of one's own.
const HEAD: u64 = 8;

/// A format of files: how they are recognised, opened and written. A format that is only read, or only written, leaves the other
/// to the defaults.
pub trait Format: Send + Sync {
    /// Its name in messages: `"Avro"`.
    fn name(&self) -> &'static str;

    /// The endings of its files' names, without the dot; the usual one first.
    fn endings(&self) -> &'static [&'static str];

    /// Whether a file that begins with these bytes, and has this name, is of this format.
    fn recognise(&self, head: &[u8], name: &str) -> bool {
        let _ = (head, name);
        false
    }

    /// Whether options ask for this format, whatever the file is.
    fn is_requested(&self, options: &OpenOptions) -> bool {
        let _ = options;
        false
    }

    /// Whether files of it are lines of text.
    fn is_text(&self) -> bool {
        false
    }

    /// Whether a file that is one compressed stream is decompressed and read.
    fn is_decompressed(&self, source: &dyn Source) -> bool {
        let _ = source;
        self.is_text()
    }

    /// The options for opening a file that it understands.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Opens what a source holds. The options are among those it understands; the engine is for what has to be decoded.
    ///
    /// # Errors
    /// The source cannot be read, or holds no file of this format. By default, that such files are not read.
    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let _ = (options, engine);
        Err(Error::unsupported(format!("reading {} files", self.name())).in_file(source.uri()))
    }

    /// Whether [`open`](Self::open) can be called.
    fn is_read(&self) -> bool {
        true
    }

    /// Begins a file with columns of these names and Forms.
    ///
    /// # Errors
    /// A type the format does not have, with the column; options that make no sense for it. By default, that such files are not
    /// written.
    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        let _ = (fields, options);
        Err(Error::unsupported(format!("writing {} files", self.name())).in_file(sink.uri()))
    }

    /// The kinds of tables that [`writer`](Self::writer) can be asked for, where there are several.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether [`writer`](Self::writer) can be called.
    fn is_written(&self) -> bool {
        true
    }

    /// The decoders of the blocks of its plans, each under its id.
    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        &[]
    }

    /// Makes what a process makes once; see [`prepare`](crate::prepare).
    fn prepare(&self) {}
}

/// All formats of this build.
#[must_use]
pub fn formats() -> &'static [&'static dyn Format] {
    FORMATS
}

/// The format that understands a plan's blocks.
///
/// # Errors
/// [`ErrorKind::Unsupported`](forthwith_plan::ErrorKind::Unsupported) naming the id.
pub fn format(id: &str) -> Result<&'static dyn BlockFormat> {
    let known = FORMATS.iter().flat_map(|format| format.blocks());
    known
        .chain(&own::BLOCKS)
        .copied()
        .find(|blocks| blocks.id() == id)
        .ok_or_else(|| Error::unsupported(format!("format {id:?}")))
}

/// Opens what a source holds.
///
/// # Errors
/// The source cannot be read, or holds no file of a known format; an option that the format does not understand.
pub(crate) fn open(
    source: Arc<dyn Source>,
    options: &OpenOptions,
    engine: &Arc<Engine>,
) -> Result<Arc<dyn Container>> {
    let format = requested_or_found(&source, options)?;
    let each = |format: &&'static dyn Format| format.options().iter().map(|spec| (format.name(), *spec));
    let all: Vec<_> = FORMATS.iter().flat_map(each).collect();
    options.check(format.name(), format.options(), &all).map_err(|error| error.in_file(source.uri()))?;
    let source = if format.is_decompressed(&*source) { text::decompressed(source)? } else { source };
    format.open(source, options, engine)
}

/// Whether the format of what a source holds has an option of this name.
///
/// # Errors
/// As [`open`].
pub(crate) fn understands(source: &Arc<dyn Source>, options: &OpenOptions, name: &str) -> Result<bool> {
    let format = requested_or_found(source, options)?;
    Ok(format.options().iter().any(|spec| spec.name == name))
}

/// The format that options ask for, or that of what a source holds.
fn requested_or_found(source: &Arc<dyn Source>, options: &OpenOptions) -> Result<&'static dyn Format> {
    match options.text(OpenOptions::FORMAT) {
        Some(name) => called(name).map_err(|error| error.in_file(source.uri())),
        None => match FORMATS.iter().copied().find(|format| format.is_requested(options)) {
            Some(requested) => Ok(requested),
            None => found(source.as_ref()),
        },
    }
}

/// The kind of the values of an option for opening files, which is one where several formats have it.
pub(crate) fn option_kind(name: &str) -> Option<OptionKind> {
    let mut all = FORMATS.iter().flat_map(|format| format.options()).chain(&OF_ALL);
    all.find(|spec| spec.name == name).map(|spec| spec.kind)
}

/// The format of what a source holds.
fn found(source: &dyn Source) -> Result<&'static dyn Format> {
    let head = source.read_one(0..source.grown(head_bytes() - 1)?.min(head_bytes()))?;
    let format = recognised(&head, source.uri()).map_err(|error| error.in_file(source.uri()))?;
    format.ok_or_else(|| {
        let found = begins(head.get(..HEAD as usize).unwrap_or(&head)) + &own::missed(source.uri());
        Error::not_a(known(), found).in_file(source.uri())
    })
}

/// The format of this name, or of which files' names end so.
fn called(name: &str) -> Result<&'static dyn Format> {
    let ending = name.trim_start_matches('.').to_ascii_lowercase();
    let is_meant = |format: &&'static dyn Format| {
        let is_ending =
            format.endings().contains(&&*ending) || format.recognise(&[], &format!("file.{ending}"));
        format.name().eq_ignore_ascii_case(name) || is_ending
    };
    let format = FORMATS.iter().copied().find(|format| format.is_read() && is_meant(format));
    format.ok_or_else(|| {
        let read = FORMATS.iter().filter(|format| format.is_read()).map(|format| format.name());
        Error::invalid(format!(
            "format: {name:?} is not read; there are {}",
            read.collect::<Vec<_>>().join(", ")
        ))
    })
}

/// The format of a file that begins so: one of one's own if the name ends as it says and it recognises the file, or one of this build,
/// or any other of one's own that recognises it.
///
/// # Errors
/// Those of functions by which formats of one's own recognise files.
pub(crate) fn recognised(head: &[u8], name: &str) -> Result<Option<&'static dyn Format>> {
    if let Some(own) = own::by_name_and_head(head, name)? {
        return Ok(Some(own));
    }
    match FORMATS.iter().copied().find(|format| format.is_read() && format.recognise(head, name)) {
        None => own::by_head(head, name),
        found => Ok(found),
    }
}

/// The format whose files' names end so.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn Format> {
    built_in_by_name(name).or_else(|| own::by_name(name))
}

/// The format of this build whose files' names end so.
pub(crate) fn built_in_by_name(name: &str) -> Option<&'static dyn Format> {
    let ending = ending(name)?;
    FORMATS.iter().copied().find(|format| format.endings().contains(&&*ending))
}

/// Bytes of a file's beginning that are enough to recognise it.
pub(crate) fn head_bytes() -> u64 {
    own::head().max(HEAD)
}

/// The ending of a file's name, without the dot.
fn ending(name: &str) -> Option<String> {
    Some(name.rsplit(['/', '\\']).next()?.rsplit_once('.')?.1.to_ascii_lowercase())
}

/// The ending of the name of a file before that of a compressed stream.
#[cfg(any(feature = "csv", feature = "json", feature = "protobuf"))]
fn text_ending(name: &str) -> Option<String> {
    let ending = ending(name)?;
    match text::COMPRESSED.contains(&&*ending) {
        true => self::ending(&name[..name.len() - ending.len() - 1]),
        false => Some(ending),
    }
}

/// The formats that are read, in words: `"a ROOT, Avro or Parquet file"`.
pub(crate) fn known() -> &'static str {
    &KNOWN
}

/// The first ending of each format that is written, in words, each with something before it: `".parquet, .avro and .csv"`.
pub(crate) fn written_endings(before: &str) -> String {
    let written = FORMATS.iter().filter(|format| format.is_written());
    let endings = written.filter_map(|format| format.endings().first());
    listed(endings.map(|ending| format!("{before}{ending}")), "and")
}

static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let read = FORMATS.iter().filter(|format| format.is_read());
    format!("a {} file", listed(read.map(|format| format.name().to_owned()), "or"))
});

/// Words with commas, and another word before the last.
fn listed(words: impl Iterator<Item = String>, last: &str) -> String {
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        Some(end) if !words.is_empty() => format!("{} {last} {end}", words.join(", ")),
        end => end.unwrap_or_default(),
    }
}

/// The beginning of a file that is of no known format, in words.
fn begins(head: &[u8]) -> String {
    match head {
        [] => "nothing at all: it is empty".into(),
        _ if let Some((_, name)) = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) => (*name).into(),
        _ if head.len() < 4 => format!("no more than {} bytes", head.len()),
        _ if head.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) => {
            let text = String::from_utf8_lossy(head);
            format!(
                "text that begins with {text:?}; the ending of the name, or `format`, says how to read it"
            )
        }
        _ => format!("bytes that begin with {head:02x?}"),
    }
}
