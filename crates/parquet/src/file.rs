//! Parquet files: the footer and the table.

use crate::check;
use crate::footer::Footer;
use crate::hints::ARROW_SCHEMA;
use crate::table::{Options, ParquetTable};
use forthwith_io::{Source, xxh3};
use forthwith_plan::{CheckReport, Error, Result};
use std::sync::Arc;

const MAGIC: &[u8] = b"PAR1";
const ENCRYPTED: &[u8] = b"PARE";
/// Number of bytes read from the end of the file, which include most footers.
const TAIL: u64 = 64 << 10;

/// An opened file, whose footer has been read.
#[derive(Clone)]
pub struct ParquetFile {
    source: Arc<dyn Source>,
    footer: Arc<Footer>,
    /// Byte offset of the footer.
    end: u64,
    /// Hash of the footer's bytes.
    hash: u64,
}

impl ParquetFile {
    /// Whether the first bytes of a file are those of a Parquet file, encrypted or not.
    #[must_use]
    pub fn is_parquet(head: &[u8]) -> bool {
        head.starts_with(MAGIC) || head.starts_with(ENCRYPTED)
    }

    /// Opens a file by reading its footer.
    ///
    /// # Errors
    /// Returns an error if the file is not a Parquet file or is encrypted, or if its footer is damaged.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let (footer, end, hash) = footer(source.as_ref()).map_err(|e| e.in_file(source.uri()))?;
        Ok(Self { source, footer: Arc::new(footer), end, hash })
    }

    /// Returns the URI of the file.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.source.uri()
    }

    /// Returns the source of the file's bytes.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the hash of the footer, which includes positions, sizes and statistics of all columns.
    #[must_use]
    pub fn footer_hash(&self) -> u64 {
        self.hash
    }

    /// Returns the table of the file.
    ///
    /// # Errors
    /// Returns an error if the metadata are inconsistent, or if a row group of the options does not exist.
    pub fn table(&self, options: &Options) -> Result<ParquetTable> {
        let table = ParquetTable::of(Arc::clone(&self.footer), Arc::clone(&self.source), options);
        table.map_err(|e| e.in_file(self.uri()))
    }

    /// Checks the footer's row groups, columns and positions for consistency, and against the headers and
    /// checksums of all pages. Inconsistencies are added to the report. Values are not decoded.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    pub fn check(&self, report: &mut CheckReport) -> Result<()> {
        check::check(&self.footer, self.source.as_ref(), self.end, report).map_err(|e| e.in_file(self.uri()))
    }

    /// Returns the name of the program that wrote the file, if it is stored.
    #[must_use]
    pub fn created_by(&self) -> Option<&str> {
        self.footer.created_by.as_deref()
    }

    /// Returns the version of the format.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.footer.version
    }

    /// Iterates over the key-value metadata, including Arrow's schema (`ARROW:schema`).
    pub fn key_values(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.footer.key_values.iter();
        all.map(|(key, value)| (key.as_str(), value.as_deref().unwrap_or_default()))
    }

    /// Iterates over the key-value metadata without Arrow's schema.
    pub fn user_key_values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.key_values().filter(|(key, _)| *key != ARROW_SCHEMA)
    }

    /// Returns the names of the codecs of the column chunks, in the order of their first use.
    #[must_use]
    pub fn codecs(&self) -> Vec<String> {
        let mut codecs: Vec<String> = Vec::new();
        for group in &self.footer.row_groups {
            for chunk in &group.chunks {
                let name = crate::codec::name(chunk.codec);
                if !codecs.contains(&name) {
                    codecs.push(name);
                }
            }
        }
        codecs
    }
}

/// Reads the footer. Returns its byte offset and the hash of its bytes as well.
fn footer(source: &dyn Source) -> Result<(Footer, u64, u64)> {
    if cfg!(target_endian = "big") {
        return Err(Error::unsupported("Parquet on machines that keep the most significant byte first"));
    }
    let size = source.size()?;
    let not = |found: String| Error::not_a("a Parquet file", found);
    // A file has at least two magic words and the length of the footer.
    if size < 12 {
        return Err(not(format!("{size} bytes")));
    }
    let tail = source.read_one(size - size.min(TAIL)..size)?;
    let end = tail.len() - 8;
    match &tail[end + 4..] {
        MAGIC => {}
        ENCRYPTED => return Err(Error::unsupported("an encrypted Parquet file")),
        _ => return Err(not("it does not end as one: it was cut off, or is none".into())),
    }
    let length = tail[end..].first_chunk::<4>().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    if length > size - 12 {
        return Err(Error::truncated("the footer", length, size - 12));
    }
    let bytes = match (end as u64).checked_sub(length) {
        Some(start) => tail.slice(start as usize..end),
        None => source.read_one(size - 8 - length..size - 8)?,
    };
    let start = size - 8 - length;
    Ok((Footer::read(&bytes).map_err(|error| error.behind(start))?, start, xxh3(&bytes)))
}

forthwith_io::impl_debug!(ParquetFile, |it| "uri": it.uri());
