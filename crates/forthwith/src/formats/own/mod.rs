//! Formats of one's own: a program with the type of what it writes, registered while the process runs.

mod blocks;
mod recipe;
mod registry;
mod table;

pub(super) use blocks::BLOCKS;
pub use registry::{register, registered, replace, unregister};

use super::{FORMATS, Format, only::OnlyTable};
use crate::{Container, FileInfo, Key, OpenOptions, Words};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{Dataset, Error, ErrorKind, Result};
use recipe::Recipe;
use std::{any::Any, ops::Range, sync::Arc};
use table::{OwnTable, Parts};

/// A format of one's own: how its files are known, where their blocks are, and the program that decodes a block. Its name and endings stay in
/// memory, as those of all formats do.
///
/// The program has one input, `data`: the bytes of a block. Its outputs are the buffers of the type as
/// [`Arrangement`](forthwith_builders::Arrangement) finds them, in the order of their declarations, and each block is run by itself, from
/// the zero on that offsets begin with: what fits the type when the program is run by hand fits it here. At its end
/// all bytes are read. Where [blocks](Self::blocks) are listed, their number of entries is on the stack at the start. Otherwise the stack is
/// empty, the file behind its header is one block, and a program that reads to the end of its data says by its outputs how many entries
/// there are.
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
/// assert_eq!((file.format(), channels.preview(0..2, 10)?), ("pulses", vec!["7".into(), "8".into()]));
/// # forthwith::unregister("pulses");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OwnFormat {
    name: &'static str,
    recipe: Arc<Recipe>,
    endings: &'static [&'static str],
    magic: Vec<u8>,
    header: Option<u64>,
    blocks: Option<Box<Blocks>>,
}

/// Lists the blocks of a file.
type Blocks = dyn Fn(&Arc<dyn Source>) -> Result<Vec<OwnBlock>> + Send + Sync;

/// A block of a file of a format of one's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBlock {
    /// Where it is in the file.
    pub bytes: Range<u64>,
    /// How many entries it has.
    pub entries: u64,
}

/// The longest magic bytes.
const MOST_MAGIC: usize = 4096;

impl OwnFormat {
    /// A format by its name, its program, and the type of an entry: a record becomes columns, anything else one column, `value`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`]: a program that does not compile or has other inputs than `data`, a type that is none or has none of the
    /// program's outputs; [`ErrorKind::Unsupported`]: a type that tables do not have.
    pub fn new(name: &str, program: &str, of: &str) -> Result<Self> {
        if name.is_empty() {
            return Err(invalid("a format has a name".into()));
        }
        let recipe = Arc::new(Recipe::new(name, program, of)?);
        let (name, endings, magic) = (name.to_owned().leak(), [].as_slice(), Vec::new());
        Ok(Self { name, recipe, endings, magic, header: None, blocks: None })
    }

    /// With an ending of its files' names, with or without the dot. There may be several.
    #[must_use]
    pub fn ending(mut self, ending: &str) -> Self {
        let ending = ending.strip_prefix('.').unwrap_or(ending).to_ascii_lowercase();
        let ending: &'static str = ending.leak();
        self.endings = [self.endings, &[ending]].concat().leak();
        self
    }

    /// With the bytes its files begin with.
    #[must_use]
    pub fn magic(mut self, magic: &[u8]) -> Self {
        self.magic = magic.to_owned();
        self
    }

    /// With this many bytes before the data, for files without listed blocks. By default, the magic bytes are all that is before them.
    #[must_use]
    pub fn header(mut self, bytes: u64) -> Self {
        self.header = Some(bytes);
        self
    }

    /// With blocks, which are listed when a file is opened, and then read by threads and in parts. Without, the whole file is decoded once to count its
    /// entries and again whenever any of them are read.
    #[must_use]
    pub fn blocks(
        mut self,
        list: impl Fn(&Arc<dyn Source>) -> Result<Vec<OwnBlock>> + Send + Sync + 'static,
    ) -> Self {
        self.blocks = Some(Box::new(list));
        self
    }

    /// Whether it can be registered at all.
    fn check(&self) -> Result<()> {
        let refuse = |what: String| Err(invalid(format!("the format {}: {what}", self.name)));
        if FORMATS.iter().any(|format| format.name().eq_ignore_ascii_case(self.name)) {
            return refuse("there is a format of that name".into());
        }
        if self.endings.is_empty() && self.magic.is_empty() {
            return refuse("neither an extension nor magic bytes say which files are of it".into());
        }
        if self.magic.len() > MOST_MAGIC {
            return refuse(format!("{} magic bytes are more than {MOST_MAGIC}", self.magic.len()));
        }
        for ending in self.endings {
            if ending.is_empty() || ending.contains(['/', '\\', '.']) {
                return refuse(format!("{ending:?} is no extension: a dot and a word, as .evt"));
            }
            if let Some(other) = FORMATS.iter().find(|format| format.endings().contains(ending)) {
                return refuse(format!("names of {} files end in .{ending}", other.name()));
            }
        }
        match (&self.blocks, self.header) {
            (Some(_), Some(_)) => refuse("a header is for files without listed blocks".into()),
            _ => Ok(()),
        }
    }

    /// Whether a name ends as those of its files.
    fn has_ending(&self, name: &str) -> bool {
        super::ending(name).is_some_and(|ending| self.endings.contains(&&*ending))
    }

    /// The blocks of a file.
    fn parts(&self, source: &Arc<dyn Source>) -> Result<Parts> {
        let size = source.size()?;
        let Some(list) = &self.blocks else {
            let begin = self.header.unwrap_or(self.magic.len() as u64);
            if begin > size {
                let what =
                    format!("a header of the format {} has {begin} bytes, the file has {size}", self.name);
                return Err(ErrorKind::Fault { what }.into());
            }
            return Ok(Parts::whole(begin..size));
        };
        let mut known = Vec::new();
        let mut entry = 0u64;
        for (number, OwnBlock { bytes, entries }) in (0..).zip(list(source)?) {
            let fault =
                |what: String| Error::from(ErrorKind::Fault { what }).in_block(number).in_unit("block");
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

    /// By the ending of the name, if there is one, and by the magic bytes, if there are any.
    fn recognise(&self, head: &[u8], name: &str) -> bool {
        head.starts_with(&self.magic) && (!self.magic.is_empty() || self.has_ending(name))
    }

    fn open(&self, source: Arc<dyn Source>, _: &OpenOptions, _: &Arc<Engine>) -> Result<Arc<dyn Container>> {
        let here = |error: Error| error.in_file(source.uri());
        let parts = self.parts(&source).map_err(here)?;
        let only = OnlyTable::new(source.as_ref(), self.name, "table".into(), String::new(), 0)?;
        let size = source.size()?;
        let table = OwnTable::new(Arc::clone(&self.recipe), Arc::clone(&source), parts);
        Ok(Arc::new(Opened { format: self.name, source, size, only, table: Arc::new(table) }))
    }

    fn is_written(&self) -> bool {
        false
    }
}

struct Opened {
    format: &'static str,
    source: Arc<dyn Source>,
    size: u64,
    only: OnlyTable,
    table: Arc<OwnTable>,
}

impl Container for Opened {
    fn format(&self) -> &'static str {
        self.format
    }

    fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    fn info(&self) -> Result<FileInfo> {
        Ok(FileInfo {
            uri: self.source.uri().to_owned(),
            format: self.format.into(),
            version: String::new(),
            compression: "none".into(),
            uuid: None,
            size: self.size,
        })
    }

    fn keys(&self, directory: &str, _: bool) -> Result<Vec<Key>> {
        self.only.keys(directory)
    }

    fn find(&self, path: &str) -> Result<Key> {
        self.only.find(path)
    }

    fn is_one_table(&self) -> bool {
        true
    }

    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>> {
        self.only.find(path)?;
        Ok(Arc::clone(&self.table) as Arc<dyn Dataset>)
    }

    fn words(&self) -> &'static Words {
        static WORDS: Words = Words { rows: true, ..Words::PLAIN };
        &WORDS
    }

    fn own(&self) -> &dyn Any {
        self.table.as_ref()
    }
}

/// Bytes of a file's beginning that are enough to recognise it.
pub(super) fn head() -> u64 {
    registry::all().map(|format| format.magic.len()).max().unwrap_or(0) as u64
}

/// The format whose files have such names, and begin so.
pub(super) fn by_name_and_head(head: &[u8], name: &str) -> Option<&'static dyn Format> {
    let found = registry::all().find(|format| format.has_ending(name) && format.recognise(head, name));
    found.map(|format| format as &dyn Format)
}

/// The format of a file that begins so.
pub(super) fn by_head(head: &[u8], name: &str) -> Option<&'static dyn Format> {
    registry::all().find(|format| format.recognise(head, name)).map(|format| format as &dyn Format)
}

/// The format whose files' names end so.
pub(super) fn by_name(name: &str) -> Option<&'static dyn Format> {
    registry::all().find(|format| format.has_ending(name)).map(|format| format as &dyn Format)
}

/// What a file of no format lacks that has the name of one.
pub(super) fn missed(name: &str) -> String {
    let near = registry::all().find(|format| format.has_ending(name));
    near.map_or_else(String::new, |format| {
        format!("; those of the format {} begin with {:02x?}", format.name, format.magic)
    })
}

fn invalid(what: String) -> Error {
    ErrorKind::Invalid { what }.into()
}

impl std::fmt::Debug for OwnFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnFormat").field("name", &self.name).finish_non_exhaustive()
    }
}
