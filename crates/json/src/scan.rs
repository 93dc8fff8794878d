//! Opening a file: one pass over its text.

use crate::{
    lexer::{DEEPEST, Lexer, Stop},
    seen::Seen,
};
use forthwith_io::Source;
use forthwith_plan::{Error, Result};
use std::{ops::Range, sync::Arc};

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// Whether values of different kinds in one place are a union; otherwise their column cannot be read.
    pub unions: bool,
    /// Whether a list with which the file begins is an entry, as in JSON Lines; otherwise its items are the entries.
    pub lines: bool,
}

/// A file of JSON values: one after the other, on lines or not, or the items of one list.
#[derive(Debug)]
pub struct JsonFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) unions: bool,
    pub(crate) is_list: bool,
    pub(crate) seen: Seen,
    /// Bytes and entries of each block.
    pub(crate) blocks: Arc<[(Range<u64>, Range<u64>)]>,
}

/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;
/// Bytes of a block, at least.
const BLOCK: u64 = 2 << 20;
/// Limit on the bytes of a value.
const LONGEST: usize = 1 << 30;
/// What some programs write before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The state of the pass.
struct Scan {
    lines: bool,
    /// Whether anything but white space was met.
    is_begun: bool,
    is_list: bool,
    /// Whether the list that the file is has ended.
    is_over: bool,
    seen: Seen,
    blocks: Vec<(Range<u64>, Range<u64>)>,
    /// The block that is being filled.
    block: (Range<u64>, Range<u64>),
    line: u64,
}

impl JsonFile {
    /// Reads the whole file once.
    ///
    /// # Errors
    /// The source cannot be read; text that is not JSON, with line and byte.
    pub fn open(source: Arc<dyn Source>, options: JsonOptions) -> Result<Self> {
        let uri = source.uri().to_owned();
        Self::scan(source, options).map_err(|error| error.in_file(&uri))
    }

    fn scan(source: Arc<dyn Source>, options: JsonOptions) -> Result<Self> {
        let size = source.size()?;
        let mut scan = Scan {
            lines: options.lines,
            is_begun: false,
            is_list: false,
            is_over: false,
            seen: Seen::default(),
            blocks: Vec::new(),
            block: (0..0, 0..0),
            line: 1,
        };
        // Text that was read and not yet taken, and its place.
        let (mut text, mut start, mut end) = (Vec::new(), 0, 0);
        loop {
            // A value that is longer than what was read is begun anew: pieces become longer, so that this is not often.
            let more = PIECE.max(text.len() as u64).min(size - end);
            text.extend_from_slice(&source.read_one(end..end + more)?);
            if end == 0 && text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
                start = BYTE_ORDER_MARK.len() as u64;
                scan.block.0 = start..start;
            }
            end += more;
            let taken = scan.piece(&text, start, end == size)?;
            scan.line += text[..taken].iter().filter(|byte| **byte == b'\n').count() as u64;
            text.drain(..taken);
            start += taken as u64;
            if end == size {
                break;
            }
            if text.len() >= LONGEST {
                return Err(scan.fault(format!("a value of more than {LONGEST} bytes"), start));
            }
        }
        scan.close();
        let Scan { is_list, seen, blocks, .. } = scan;
        Ok(Self { source, unions: options.unions, is_list, seen, blocks: blocks.into() })
    }
}

impl Scan {
    fn fault(&self, what: impl Into<String>, byte: u64) -> Error {
        Error::fault(format!("{} (line {})", what.into(), self.line)).at_byte(byte).at_entry(self.block.1.end)
    }

    /// Takes note of all values that are complete in a piece of text; returns the bytes that are done with.
    fn piece(&mut self, bytes: &[u8], start: u64, is_end: bool) -> Result<usize> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A character may be cut.
            Err(error) if error.error_len().is_none() && !is_end => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => {
                return Err(self.fault("text that is not UTF-8", start + error.valid_up_to() as u64));
            }
        };
        let mut lexer = Lexer::new(text, is_end);
        let mut taken = self.begin(&mut lexer, start);
        loop {
            match self.entry(&mut lexer) {
                Ok(true) => {
                    taken = lexer.at();
                    self.block.0.end = start + taken as u64;
                    self.block.1.end += 1;
                    if self.block.0.end - self.block.0.start >= BLOCK {
                        self.close();
                    }
                }
                Ok(false) => return Ok(if is_end { text.len() } else { taken }),
                Err(Stop::Incomplete) if !is_end => return Ok(taken),
                Err(Stop::Incomplete) => {
                    return Err(self.at(
                        text,
                        lexer.at(),
                        start,
                        "the text ends within a value, or was cut off",
                    ));
                }
                Err(Stop::Invalid(reason)) => return Err(self.at(text, lexer.at(), start, &reason)),
            }
        }
    }

    /// Looks at the first byte of the file, if this is it: whether it begins a list whose items are the entries. Returns the bytes that are
    /// done with.
    fn begin(&mut self, lexer: &mut Lexer<'_>, start: u64) -> usize {
        if self.is_begun {
            return 0;
        }
        let Some(first) = lexer.peek() else { return 0 };
        self.is_begun = true;
        if first != b'[' || self.lines {
            return 0;
        }
        self.is_list = true;
        lexer.step();
        let byte = start + lexer.at() as u64;
        self.block.0 = byte..byte;
        lexer.at()
    }

    /// An error at a byte of a text.
    fn at(&self, text: &str, at: usize, start: u64, what: &str) -> Error {
        let lines =
            text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = self.line + lines;
        Error::fault(format!("{what} (line {line})")).at_byte(start + at as u64).at_entry(self.block.1.end)
    }

    /// Takes note of the next entry; false where there is none.
    fn entry(&mut self, lexer: &mut Lexer<'_>) -> Result<bool, Stop> {
        if lexer.peek().is_none() {
            return if self.is_list && !self.is_over { Err(Stop::Incomplete) } else { Ok(false) };
        }
        if self.is_over {
            return Err("text behind the list that the file is".into());
        }
        if self.is_list && !lexer.next_item(self.block.1.end == 0)? {
            self.is_over = true;
            return self.entry(lexer);
        }
        self.seen.value(lexer, DEEPEST)?;
        Ok(true)
    }

    fn close(&mut self) {
        let (end, entry) = (self.block.0.end, self.block.1.end);
        if !self.block.1.is_empty() {
            self.blocks.push(std::mem::replace(&mut self.block, (end..end, entry..entry)));
        }
    }
}
