//! User-defined formats: a Forth program and the type of its outputs, which are registered at run time.

mod decode;
mod known;
mod opened;
mod recipe;
mod registry;
mod table;

pub(super) use decode::BLOCKS;
pub use decode::own_program;
pub(super) use known::{by_head, by_name, by_name_and_head, head, missed};
pub use registry::{register, registered, replace, unregister};

use super::{FORMATS, Format};
use crate::{Container, OpenOptions};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{Error, Result};
use recipe::Recipe;
use std::{ops::Range, sync::Arc};
use table::Parts;

/// A user-defined format: how its files are recognised, where their blocks are, and the program that decodes
/// a block. Its name and extensions are never freed, as formats refer to theirs by `'static` references.
///
/// The program has one input, `data`: the bytes of a block. Its outputs are the buffers of the type in the
/// order of their declarations, as matched by [`Arrangement`](forthwith_builders::Arrangement). Each block is
/// decoded by a new run of the program, so offsets begin with zero, as in a run by hand. All bytes have to be
/// read at the end of the program. If the format has [blocks](Self::blocks), the number of entries of the
/// block is on the stack at the start. Otherwise the stack is empty, the file after its header is a single
/// block, and the number of entries follows from the outputs of the program, which has to read to the end of
/// its data.
///
/// ```
/// use forthwith::{Engine, File, Options, OwnFormat, io::Memory};
/// use std::sync::Arc;
///
/// let program = "input data  output channel uint16  begin data end invert while  data H-> channel  repeat";
/// forthwith::register(OwnFormat::new("pulses", program, "{channel: uint16}")?.magic(b"PULS"))?;
///
/// let bytes = b"PULS\x07\x00\x08\x00".to_vec();
/// let file = File::from_source(Arc::new(Memory::new("run", bytes)), Arc::new(Engine::new(Options::default())))?;
/// let channels = file.table("")?.column("channel")?;
/// assert_eq!((file.format(), channels.preview(0..2, 10).lines()?), ("pulses", vec!["7".into(), "8".into()]));
/// # forthwith::unregister("pulses");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OwnFormat {
    name: &'static str,
    recipe: Arc<Recipe>,
    endings: &'static [&'static str],
    magic: Vec<u8>,
    recognise: Option<Box<Recognise>>,
    header: Option<u64>,
    blocks: Blocks,
}

/// Callback that returns whether a file with these first bytes and this name has the format.
type Recognise = dyn Fn(&[u8], &str) -> Result<bool> + Send + Sync;

/// Callback that lists the blocks of a file.
type List = dyn Fn(&Arc<dyn Source>) -> Result<Vec<OwnBlock>> + Send + Sync;

/// Division of files into blocks.
enum Blocks {
    /// The data of a file is a single block.
    Whole,
    /// Blocks of equal numbers of bytes and entries; the last one may be shorter.
    Even { bytes: u64, entries: u64 },
    /// Blocks that a callback lists for each file.
    Listed(Box<List>),
}

/// A block of a file of a user-defined format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBlock {
    /// Byte range of the block in the file.
    pub bytes: Range<u64>,
    /// Number of entries of the block.
    pub entries: u64,
}

/// Upper bound on the number of magic bytes, and on the first bytes that a function is given to recognise a
/// file.
const MOST_HEAD: usize = 4096;

/// Target size in bytes of blocks of entries of equal length.
const EVEN: u64 = 1 << 20;

/// Upper bound on the number of blocks of equal length, which are listed in memory when a file is opened.
const MOST_BLOCKS: u64 = 1 << 26;

impl OwnFormat {
    /// Creates a format of a name, a program, and the type of an entry. The fields of a record become
    /// columns; any other type becomes the one column `value`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Invalid`](forthwith_plan::ErrorKind::Invalid) if the name is empty, if the
    /// program does not compile or has other inputs than `data`, or if the type is invalid or does not match
    /// the outputs of the program; [`ErrorKind::Unsupported`](forthwith_plan::ErrorKind::Unsupported) if
    /// tables do not support the type.
    pub fn new(name: &str, program: &str, of: &str) -> Result<Self> {
        if name.is_empty() {
            return Err(Error::invalid("a format has a name"));
        }
        let recipe = Arc::new(Recipe::new(name, program, of)?);
        let (name, endings, magic) = (name.to_owned().leak(), [].as_slice(), Vec::new());
        Ok(Self { name, recipe, endings, magic, recognise: None, header: None, blocks: Blocks::Whole })
    }

    /// Adds an extension of the format's files, with or without the dot. There may be several.
    #[must_use]
    pub fn ending(mut self, ending: &str) -> Self {
        let ending = ending.strip_prefix('.').unwrap_or(ending).to_ascii_lowercase();
        let ending: &'static str = ending.leak();
        self.endings = [self.endings, &[ending]].concat().leak();
        self
    }

    /// Sets the magic bytes with which the format's files begin.
    #[must_use]
    pub fn magic(mut self, magic: &[u8]) -> Self {
        self.magic = magic.to_owned();
        self
    }

    /// Sets a function that returns whether a file has the format, given its first bytes (at most 4096) and
    /// its name. The function is called only for files that match the magic bytes, or else the extensions, so
    /// far as these are set. Built-in formats that recognise a file take precedence, unless the file has an
    /// extension of this format.
    #[must_use]
    pub fn recognise(mut self, is_of: impl Fn(&[u8], &str) -> Result<bool> + Send + Sync + 'static) -> Self {
        self.recognise = Some(Box::new(is_of));
        self
    }

    /// Sets the number of bytes before the data, for files without listed blocks. By default, it is the
    /// number of magic bytes.
    #[must_use]
    pub fn header(mut self, bytes: u64) -> Self {
        self.header = Some(bytes);
        self
    }

    /// Sets a function that lists the blocks of a file when it is opened. Blocks are decoded in parallel, and
    /// only as needed. Without blocks, the whole file is decoded once to count its entries, and again
    /// whenever any of them are read.
    #[must_use]
    pub fn blocks(
        mut self,
        list: impl Fn(&Arc<dyn Source>) -> Result<Vec<OwnBlock>> + Send + Sync + 'static,
    ) -> Self {
        self.blocks = Blocks::Listed(Box::new(list));
        self
    }

    /// Divides files into blocks of `bytes` bytes with `entries` entries each. The last block may be shorter
    /// if all entries have the same length.
    #[must_use]
    pub fn even_blocks(mut self, bytes: u64, entries: u64) -> Self {
        self.blocks = Blocks::Even { bytes, entries };
        self
    }

    /// Declares that each entry has `bytes` bytes. Files are then divided into blocks of about one MiB.
    #[must_use]
    pub fn even_entries(self, bytes: u64) -> Self {
        let entries = (EVEN / bytes.max(1)).max(1);
        self.even_blocks(bytes.saturating_mul(entries), entries)
    }

    /// Checks that the format can be registered. If it replaces others, it may have extensions of built-in
    /// formats.
    fn check(&self, replaces: bool) -> Result<()> {
        let refuse = |what: String| Err(Error::invalid(format!("the format {}: {what}", self.name)));
        if FORMATS.iter().any(|format| format.name().eq_ignore_ascii_case(self.name)) {
            return refuse("there is a format of that name in forthwith itself".into());
        }
        if self.endings.is_empty() && self.magic.is_empty() && self.recognise.is_none() {
            return refuse(
                "an extension, magic bytes or a function must say which files have this format".into(),
            );
        }
        if self.magic.len() > MOST_HEAD {
            return refuse(format!("{} magic bytes are more than {MOST_HEAD}", self.magic.len()));
        }
        for ending in self.endings {
            if ending.is_empty() || ending.contains(['/', '\\', '.']) {
                return refuse(format!("{ending:?} is not an extension: write a dot and a word, as in .evt"));
            }
            if let Some(other) = FORMATS.iter().find(|format| format.endings().contains(ending))
                && !replaces
            {
                return refuse(format!("the extension .{ending} belongs to {} files", other.name()));
            }
        }
        match (&self.blocks, self.header) {
            (Blocks::Listed(_), Some(_)) => refuse("a header is for files without listed blocks".into()),
            (Blocks::Even { bytes, entries }, _) if *bytes == 0 || *entries == 0 => {
                refuse("blocks of no bytes or no entries".into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the blocks of a file.
    fn parts(&self, source: &Arc<dyn Source>) -> Result<Parts> {
        let size = source.size()?;
        let begin = self.header.unwrap_or(self.magic.len() as u64);
        if begin > size && !matches!(self.blocks, Blocks::Listed(_)) {
            let what = format!("a header of the format {} has {begin} bytes, the file has {size}", self.name);
            return Err(Error::fault(what));
        }
        match &self.blocks {
            Blocks::Whole => Ok(Parts::whole(begin..size)),
            Blocks::Even { bytes, entries } => self.even(begin..size, *bytes, *entries),
            Blocks::Listed(list) => self.listed(list(source)?, size),
        }
    }

    /// Returns blocks of equal length, of which only the last may be shorter.
    fn even(&self, data: Range<u64>, bytes: u64, entries: u64) -> Result<Parts> {
        let (blocks, rest) = ((data.end - data.start) / bytes, (data.end - data.start) % bytes);
        let fault = |what: String| {
            let error = Error::fault(format!("the format {}: {what}", self.name));
            error.in_block(blocks).in_unit("block")
        };
        if blocks >= MOST_BLOCKS || blocks.checked_add(1).and_then(|all| all.checked_mul(entries)).is_none() {
            return Err(fault(format!("blocks of {bytes} bytes with {entries} entries are too many")));
        }
        let each = bytes / entries;
        if rest > 0 && !(bytes.is_multiple_of(entries) && rest.is_multiple_of(each)) {
            let unit = if bytes.is_multiple_of(entries) {
                format!("entries of {each}")
            } else {
                format!("blocks of {bytes}")
            };
            let what =
                format!("the file has {rest} bytes behind its last whole block, which are no {unit} bytes");
            return Err(fault(what));
        }
        let block = |number: u64| {
            let (start, first) = (data.start + number * bytes, number * entries);
            let here = if number < blocks { [bytes, entries] } else { [rest, rest / each.max(1)] };
            (start..start + here[0], first..first + here[1])
        };
        Ok(Parts::Known((0..blocks + u64::from(rest > 0)).map(block).collect()))
    }

    /// Checks listed blocks, and returns them with their ranges of entries.
    fn listed(&self, blocks: Vec<OwnBlock>, size: u64) -> Result<Parts> {
        let mut known = Vec::with_capacity(blocks.len());
        let mut entry = 0u64;
        for (number, OwnBlock { bytes, entries }) in (0..).zip(blocks) {
            let fault = |what: String| Error::fault(what).in_block(number).in_unit("block");
            let Range { start, end } = bytes;
            if start > end || end > size {
                let what =
                    format!("a block of the format {} from byte {start} to {end} of {size}", self.name);
                return Err(fault(what));
            }
            let after = entry.checked_add(entries).filter(|after| i64::try_from(*after).is_ok());
            let after = after.ok_or_else(|| {
                fault(format!("the format {}: {entries} entries more than {entry}", self.name))
            })?;
            known.push((start..end, entry..after));
            entry = after;
        }
        Ok(Parts::Known(known))
    }
}

impl Format for OwnFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    fn open(
        &self,
        source: Arc<dyn Source>,
        _: &OpenOptions,
        engine: &Arc<Engine>,
    ) -> Result<Arc<dyn Container>> {
        let parts = self.parts(&source).map_err(|error| error.in_file(source.uri()))?;
        opened::open(self.name, &self.recipe, source, parts, engine)
    }

    fn is_written(&self) -> bool {
        false
    }
}

forthwith_io::impl_debug!(OwnFormat, |it| "name": it.name);
