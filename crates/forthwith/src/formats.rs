//! Formats: their table, and the trait that they implement.
//!
//! A format is added by a row of [`FORMATS`] and a module in this directory. The rest of this crate, the
//! command and the Python binding name no format, except in modules for features of a single format.

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

/// All formats. The first format that recognises a file opens it.
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

/// Other formats by their first bytes, for error messages.
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

/// Description of the response of servers for a directory, or instead of a file.
const WEB_PAGE: &str = "a web page (folders of web servers cannot be listed: name each file)";

/// Number of first bytes that suffice to recognise a file, unless a registered format needs more.
const HEAD: u64 = 8;

/// Number of first bytes up to which a text that begins with blank characters is examined.
const LONGEST_HEAD: u64 = 4096;

/// A file format: how files are recognised, opened and written. Formats that can only be read, or only
/// written, use the defaults for the other.
pub trait Format: Send + Sync {
    /// Returns its name, for messages: `"Avro"`.
    fn name(&self) -> &'static str;

    /// Returns the extensions of its file names, without the dot; the preferred one first.
    fn endings(&self) -> &'static [&'static str];

    /// Whether a file with these first bytes and this name has this format.
    fn recognise(&self, head: &[u8], name: &str) -> bool {
        let _ = (head, name);
        false
    }

    /// Whether a text with these first bytes has this format, whatever its name; `None` if more bytes are needed
    /// to tell. Only asked for files that no format recognises otherwise.
    fn recognise_text(&self, head: &[u8]) -> Option<bool> {
        let _ = head;
        Some(false)
    }

    /// Whether the options request this format for any file.
    fn is_requested(&self, options: &OpenOptions) -> bool {
        let _ = options;
        false
    }

    /// Whether its files are lines of text.
    fn is_text(&self) -> bool {
        false
    }

    /// Whether a file that is compressed as a whole is decompressed first.
    fn is_decompressed(&self, source: &dyn Source) -> bool {
        let _ = source;
        self.is_text()
    }

    /// Returns the options for opening a file that it supports.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// Opens a file from a source. The options are supported ones; the engine is for decoding.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read or has another format. By default, reading is
    /// unsupported.
    fn open(
        &self,
        source: Arc<dyn Source>,
        options: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let _ = (options, engine);
        Err(Error::unsupported(format!("reading {} files", self.name())).in_file(source.uri()))
    }

    /// Whether [`open`](Self::open) is supported.
    fn is_read(&self) -> bool {
        true
    }

    /// Starts a file with columns of these names and Forms.
    ///
    /// # Errors
    /// Returns an error, with the column, if the format does not support a type, or if an option is invalid.
    /// By default, writing is unsupported.
    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        let _ = (fields, options);
        Err(Error::unsupported(format!("writing {} files", self.name())).in_file(sink.uri()))
    }

    /// Returns the kinds of tables that [`writer`](Self::writer) supports, if there are several.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether [`writer`](Self::writer) is supported.
    fn is_written(&self) -> bool {
        true
    }

    /// Returns the decoders of the blocks of its plans, with distinct ids.
    fn blocks(&self) -> &'static [&'static dyn BlockFormat] {
        &[]
    }

    /// Initializes process-wide state; see [`prepare`](crate::prepare).
    fn prepare(&self) {}
}

/// Returns all formats of this build.
#[must_use]
pub fn formats() -> &'static [&'static dyn Format] {
    FORMATS
}

/// Returns the decoder of the blocks of a plan.
///
/// # Errors
/// Returns [`ErrorKind::Unsupported`](forthwith_plan::ErrorKind::Unsupported) with the id if no format has
/// it.
pub fn format(id: &str) -> Result<&'static dyn BlockFormat> {
    let known = FORMATS.iter().flat_map(|format| format.blocks());
    known
        .chain(&own::BLOCKS)
        .copied()
        .find(|blocks| blocks.id() == id)
        .ok_or_else(|| Error::unsupported(format!("format {id:?}")))
}

/// Opens a file from a source.
///
/// # Errors
/// Returns an error if the source cannot be read, if its format is unknown, or if the format does not support
/// an option.
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

/// Whether the format of a source has an option of this name.
///
/// # Errors
/// Returns an error if the source cannot be read, or if its format is unknown.
pub(crate) fn understands(source: &Arc<dyn Source>, options: &OpenOptions, name: &str) -> Result<bool> {
    let format = requested_or_found(source, options)?;
    Ok(format.options().iter().any(|spec| spec.name == name))
}

/// Returns the format that the options request, or else that of the source.
fn requested_or_found(source: &Arc<dyn Source>, options: &OpenOptions) -> Result<&'static dyn Format> {
    match options.text(OpenOptions::FORMAT) {
        Some(name) => called(name).map_err(|error| error.in_file(source.uri())),
        None => match FORMATS.iter().copied().find(|format| format.is_requested(options)) {
            Some(requested) => Ok(requested),
            None => found(source.as_ref()),
        },
    }
}

/// Returns the kind of an option for opening files, which is the same in all formats that have it.
pub(crate) fn option_kind(name: &str) -> Option<OptionKind> {
    let mut all = FORMATS.iter().flat_map(|format| format.options()).chain(&OF_ALL);
    all.find(|spec| spec.name == name).map(|spec| spec.kind)
}

/// Detects the format of a source.
fn found(source: &dyn Source) -> Result<&'static dyn Format> {
    let mut length = head_bytes();
    let mut head = source.read_one(0..source.grown(length - 1)?.min(length))?;
    let mut format = recognised(&head, source.uri()).map_err(|error| error.in_file(source.uri()))?;
    // The first bytes of a text may all be blank.
    while format.is_none() && head.len() as u64 == length && length < LONGEST_HEAD && is_undecided(&head) {
        length = (2 * length).min(LONGEST_HEAD);
        head = source.read_one(0..source.grown(length - 1)?.min(length))?;
        format = by_text(&head, source.uri());
    }
    format.ok_or_else(|| {
        let found = begins(head.get(..HEAD as usize).unwrap_or(&head)) + &own::missed(source.uri());
        Error::not_a(known(), found).in_file(source.uri())
    })
}

/// Returns the format of a name or extension.
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

/// Returns the format of a file by its first bytes and name: a registered format if both match, or else a
/// format of this build, or else a registered format that recognises the bytes.
///
/// # Errors
/// Returns errors of the functions by which registered formats recognise files.
pub(crate) fn recognised(head: &[u8], name: &str) -> Result<Option<&'static dyn Format>> {
    if let Some(own) = own::by_name_and_head(head, name)? {
        return Ok(Some(own));
    }
    match FORMATS.iter().copied().find(|format| format.is_read() && format.recognise(head, name)) {
        None => Ok(own::by_head(head, name)?.or_else(|| by_text(head, name))),
        found => Ok(found),
    }
}

/// Returns the text format of a file by its first bytes, unless its name has the extension of a format.
#[cfg(feature = "json")]
fn by_text(head: &[u8], name: &str) -> Option<&'static dyn Format> {
    let is_named = |format: &dyn Format| {
        let mut endings = [ending(name), text_ending(name)].into_iter().flatten();
        endings.any(|ending| format.endings().contains(&&*ending))
    };
    let text = FORMATS.iter().copied().find(|format| format.recognise_text(head) == Some(true))?;
    (!FORMATS.iter().any(|format| is_named(*format))).then_some(text)
}

#[cfg(not(feature = "json"))]
const fn by_text(_: &[u8], _: &str) -> Option<&'static dyn Format> {
    None
}

/// Whether more bytes may tell a text format.
fn is_undecided(head: &[u8]) -> bool {
    FORMATS.iter().any(|format| format.recognise_text(head).is_none())
}

/// Returns the format of a file name's extension.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn Format> {
    built_in_by_name(name).or_else(|| own::by_name(name))
}

/// Returns the format of this build with a file name's extension.
pub(crate) fn built_in_by_name(name: &str) -> Option<&'static dyn Format> {
    let ending = ending(name)?;
    FORMATS.iter().copied().find(|format| format.endings().contains(&&*ending))
}

/// Returns the number of first bytes that suffice to recognise a file.
pub(crate) fn head_bytes() -> u64 {
    own::head().max(HEAD)
}

/// Returns the extension of a file name, without the dot.
fn ending(name: &str) -> Option<String> {
    Some(name.rsplit(['/', '\\']).next()?.rsplit_once('.')?.1.to_ascii_lowercase())
}

/// Returns the extension of a file name, before that of a compressed file.
#[cfg(any(feature = "csv", feature = "json", feature = "protobuf"))]
fn text_ending(name: &str) -> Option<String> {
    let ending = ending(name)?;
    match text::COMPRESSED.contains(&&*ending) {
        true => self::ending(&name[..name.len() - ending.len() - 1]),
        false => Some(ending),
    }
}

/// Lists the formats that can be read: `"a ROOT, Avro or Parquet file"`.
pub(crate) fn known() -> &'static str {
    &KNOWN
}

/// Lists the first extension of each format that can be written, each with a prefix: `".parquet, .avro and
/// .csv"`.
pub(crate) fn written_endings(before: &str) -> String {
    let written = FORMATS.iter().filter(|format| format.is_written());
    let endings = written.filter_map(|format| format.endings().first());
    listed(endings.map(|ending| format!("{before}{ending}")), "and")
}

static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let read = FORMATS.iter().filter(|format| format.is_read());
    format!("a {} file", listed(read.map(|format| format.name().to_owned()), "or"))
});

/// Joins words with commas, and the last with another word.
fn listed(words: impl Iterator<Item = String>, last: &str) -> String {
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        Some(end) if !words.is_empty() => format!("{} {last} {end}", words.join(", ")),
        end => end.unwrap_or_default(),
    }
}

/// Describes the first bytes of a file of unknown format.
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
