//! The pass over the text of a file that finds its blocks and infers its types.

use crate::{
    decode::{Framing, check_line, lines_of},
    framing::{Event, Framer},
    lexer::{DEEPEST, Lexer, Stop},
    place::Place,
    seen::Seen,
    typing::{types, types_of},
};
use bytes::{Buf, Bytes, BytesMut};
use forthwith_io::Source;
use forthwith_kernels::lines::LineFeeds;
use forthwith_plan::{BlockList, BlockRunner, Error, FoundBlock, Result, Stored};
use std::ops::Range;

/// Minimum size of a block in bytes.
const BLOCK: usize = 2 << 20;
/// Minimum size in bytes of a block of a stream. It is small because an incomplete block is copied with each
/// piece that arrives.
const BLOCK_OF_STREAM: usize = 256 << 10;
/// Number of bytes of a stream that may be scanned repeatedly before reads are made longer.
const MOST_REPEATED: u64 = 64 << 20;
/// Maximum number of blocks that are read at once.
const MOST_BLOCKS: usize = 32;
/// Maximum size of a value in bytes.
const LONGEST: usize = 1 << 30;
/// UTF-8 byte order mark, which some programs write at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reason why a text is not JSON, and the byte offset.
struct Refused {
    stop: Stop,
    at: usize,
}

/// Method of finding the ends of values.
enum Mode {
    /// From brackets and quotes, if all values are lists and objects, or if they are the items of a list.
    Brackets(Framer),
    /// By parsing, for any values.
    Parsing,
    /// From line feeds: the text is damaged, or a schema was given with `lines`.
    Lines,
}

/// State of the pass.
pub(crate) struct Scan<'a> {
    runner: &'a dyn BlockRunner,
    mode: Mode,
    is_stream: bool,
    /// Whether the beginning of the text was inspected.
    is_begun: bool,
    /// Minimum size of a block in bytes.
    block: usize,
    /// Types of all blocks so far; `None` if a schema was given.
    seen: Option<Seen>,
    /// Types of the current block, in [`Mode::Parsing`].
    partial: Seen,
    /// Text that was read and is not yet part of a block; it begins at `place`.
    text: Bytes,
    pub(crate) place: Place,
    /// Size of the source (0 for a stream), and the number of bytes read so far.
    size: u64,
    read: u64,
    /// Number of bytes of a stream that were scanned again.
    repeated: u64,
    pub(crate) is_end: bool,
    /// Length of the current block in bytes (from the beginning of `text`), and its number of entries.
    filled: usize,
    pub(crate) count: u64,
    pub(crate) list: BlockList<Place>,
    pub(crate) framing: Framing,
    /// Whether each value so far is on a line of its own.
    has_lines: bool,
    /// Whether the list whose items are the entries has ended.
    is_over: bool,
    /// First damage, and the number of entries that are valid nevertheless.
    damage: Option<Error>,
    sound: u64,
}

impl<'a> Scan<'a> {
    fn new(runner: &'a dyn BlockRunner, finds_types: bool) -> Self {
        Self {
            runner,
            mode: Mode::Brackets(Framer::new(false)),
            is_stream: false,
            is_begun: false,
            block: BLOCK,
            seen: finds_types.then(Seen::default),
            partial: Seen::default(),
            text: Bytes::new(),
            place: Place { byte: 0, line: 1, column: 0 },
            size: 0,
            read: 0,
            repeated: 0,
            is_end: false,
            filled: 0,
            count: 0,
            list: BlockList::default(),
            framing: Framing::Values,
            has_lines: true,
            is_over: false,
            damage: None,
            sound: 0,
        }
    }

    /// Creates the pass over a file of `size` bytes.
    pub(crate) fn of_file(runner: &'a dyn BlockRunner, finds_types: bool, size: u64) -> Self {
        Self { size, ..Self::new(runner, finds_types) }
    }

    /// Returns the inferred types (`None` if a schema was given), the blocks and their framing.
    pub(crate) fn finished(mut self) -> (Option<Seen>, BlockList<Place>, Framing) {
        if self.has_lines && self.framing == Framing::Values {
            self.framing = Framing::LikelyLines;
        }
        (self.seen, self.list, self.framing)
    }

    /// Creates the pass over a stream with a schema.
    pub(crate) fn of_stream(runner: &'a dyn BlockRunner) -> Self {
        Self { is_stream: true, block: BLOCK_OF_STREAM, ..Self::new(runner, false) }
    }

    /// Reads more of the source: several blocks of a file, or the bytes of a stream that have arrived, at
    /// least one.
    pub(crate) fn advance(&mut self, source: &dyn Source, lines: bool) -> Result<()> {
        // A value that is longer than the text is scanned again from its beginning; doubling the text keeps
        // this linear.
        let waiting = self.text.len();
        let (least, most) = if self.is_stream {
            // An entry is found as soon as its last byte arrives, unless repeated scans would be most of the
            // work.
            let may_wait = self.repeated > 4 * self.read + MOST_REPEATED && waiting > self.block;
            self.repeated += waiting as u64;
            (if may_wait { waiting } else { 1 }, waiting.max(self.block))
        } else {
            let threads = self.runner.threads();
            let blocks = if threads > 1 { (2 * threads).min(MOST_BLOCKS) } else { 1 };
            let more = (blocks * BLOCK).max(waiting);
            (more, more)
        };
        let beyond = self.read.saturating_add(least as u64 - 1);
        let size = if self.is_stream { source.grown(beyond)? } else { self.size };
        let end = size.min(self.read.saturating_add(most as u64));
        self.text = self.extended(source, self.read..end)?;
        (self.read, self.is_end) = (end, end == size && size <= beyond);
        if !self.is_begun {
            if !self.is_end && !self.has_beginning() {
                return Ok(());
            }
            self.begin(lines);
            self.is_begun = true;
        }
        self.run()
    }

    /// Ends the current block, so that its entries can be read.
    pub(crate) fn close(&mut self) {
        if self.count > 0 {
            let (filled, count) = (std::mem::take(&mut self.filled), std::mem::take(&mut self.count));
            if let Mode::Brackets(framer) = &mut self.mode {
                framer.drain(filled);
            }
            self.push_block(0..filled, count);
            self.text.advance(filled);
        }
    }

    /// Whether the text has a non-blank byte and is not an incomplete byte order mark.
    fn has_beginning(&self) -> bool {
        let is_mark = self.text.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.text);
        !is_mark && self.text.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Returns the text extended by a byte range of the source.
    fn extended(&self, source: &dyn Source, range: Range<u64>) -> Result<Bytes> {
        // A memory-mapped file may change meanwhile. Scanning for brackets tolerates this; text to be parsed
        // is copied.
        let is_parsed = self.seen.is_some() || self.damage.is_some() || matches!(self.mode, Mode::Parsing);
        if source.zero_copy() && !is_parsed {
            return Ok(source.view(self.place.byte..range.end)?);
        }
        let before = self.text.len();
        let mut text = BytesMut::with_capacity(before);
        text.extend_from_slice(&self.text);
        text.resize(before + (range.end - range.start) as usize, 0); // no more than some blocks, or as much again
        source.read_into(range.start, &mut text[before..])?;
        Ok(text.freeze())
    }

    /// Inspects the beginning of the text and chooses the mode: a list at the beginning is the table unless
    /// `lines`.
    fn begin(&mut self, lines: bool) {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            self.text.advance(BYTE_ORDER_MARK.len());
            self.place.byte += BYTE_ORDER_MARK.len() as u64;
        }
        let blanks = self.text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        if self.text.get(blanks) == Some(&b'[') && !lines {
            self.framing = Framing::List;
            self.mode = Mode::Brackets(Framer::new(true));
            self.drain(blanks + 1);
        }
        match self.seen {
            None if lines => (self.mode, self.framing) = (Mode::Lines, Framing::Lines),
            // The framer scans whole words, which would delay the last value of a stream until more bytes
            // arrive.
            None if self.is_stream => self.mode = Mode::Parsing,
            // A single thread has to parse the whole text for its types: scanning it first would be extra
            // work.
            Some(_) if self.runner.threads() == 1 => self.mode = Mode::Parsing,
            _ => {}
        }
    }

    /// Processes all complete values of the text.
    fn run(&mut self) -> Result<()> {
        if let Mode::Brackets(framer) = &mut self.mode {
            let mut framer = std::mem::take(framer);
            if self.by_brackets(&mut framer) && self.text.len() < LONGEST {
                self.mode = Mode::Brackets(framer);
                return Ok(());
            }
            self.mode = Mode::Parsing;
            self.text = Bytes::copy_from_slice(&self.text);
        }
        if matches!(self.mode, Mode::Parsing) {
            self.by_parsing()?;
        }
        if matches!(self.mode, Mode::Lines) {
            self.by_lines()?;
        }
        Ok(())
    }

    /// Finds values by their brackets; returns `false` if the rest must be parsed.
    fn by_brackets(&mut self, framer: &mut Framer) -> bool {
        let (mut closed, mut is_sound) = (Vec::new(), true);
        let (mut begin, mut filled, mut count) = (0, self.filled, self.count);
        framer.run(&self.text, self.is_end, |event| {
            let Event::Entry(end) = event else {
                is_sound = false;
                return false;
            };
            (filled, count) = (end, count + 1);
            if end - begin >= self.block {
                closed.push((begin..end, count));
                (begin, count) = (end, 0);
            }
            true
        });
        is_sound &= !self.is_end || framer.is_between();
        if count > 0 && self.is_end && is_sound {
            closed.push((begin..filled, count));
            (begin, count) = (filled, 0);
        }
        let sound = self.take_types(&closed);
        let refused = sound < closed.len();
        let done = closed[..sound].last().map_or(0, |(bytes, _)| bytes.end);
        for (bytes, count) in &closed[..sound] {
            self.push_block(bytes.clone(), *count);
        }
        self.text.advance(done);
        if refused || !is_sound {
            // The rest is parsed.
            (self.filled, self.count) = (0, 0);
            return false;
        }
        framer.drain(done);
        (self.filled, self.count) = (filled - begin, count);
        true
    }

    /// Merges the types of blocks, up to the first block that cannot be parsed; returns the number of merged
    /// blocks.
    fn take_types(&mut self, blocks: &[(Range<usize>, u64)]) -> usize {
        let Some(seen) = &mut self.seen else { return blocks.len() };
        let found = types_of(self.runner, &self.text, blocks, self.framing);
        found.into_iter().map_while(|types| types.map(|types| seen.merge(types))).count()
    }

    /// Finds values by parsing them.
    fn by_parsing(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        let done = self.parse(&text);
        self.text = text;
        let (mut filled, damage) = done?;
        if damage.is_some() {
            // Items of a list are not confined to lines, even if there are line feeds between them.
            if self.framing != Framing::List {
                filled = self.whole_lines(filled);
            }
            self.partial = types(&self.text[..filled], self.framing).unwrap_or_default();
        }
        if self.is_end || damage.is_some() || filled >= self.block {
            if let Some(seen) = &mut self.seen {
                seen.merge(std::mem::take(&mut self.partial));
            }
            if self.count > 0 {
                self.push_block(0..filled, self.count);
            }
            self.text.advance(filled);
            (self.filled, self.count) = (0, 0);
        } else {
            self.filled = filled;
        }
        if let Some(refused) = damage {
            let at = refused.at.saturating_sub(filled);
            let error = self.place.stop(&refused.stop, "", &self.text, at);
            return self.damaged(error.at_entry(self.list.entries()));
        }
        if self.text.len() - self.filled >= LONGEST {
            let error = self.place.fault(&format!("a value of more than {LONGEST} bytes"), "", &[], 0);
            return self.damaged(error.at_entry(self.list.entries()));
        }
        Ok(())
    }

    /// Returns the end of the last value before the line of damage. The values end at `filled`.
    fn whole_lines(&mut self, filled: usize) -> usize {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let blanks = self.text[filled..].iter().take_while(|byte| is_blank(byte)).count();
        let line =
            self.text[..filled + blanks].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // If values are on lines, a value that ends on the damaged line is part of the damage.
        self.has_lines &= line > 0 || self.place.column == 0;
        if line >= filled || !self.has_lines || count_lines(&self.text[..filled]) != self.count {
            return filled;
        }
        self.count = count_lines(&self.text[..line]);
        line
    }

    /// Returns the end of the last complete value, and the reason if the text after it is not JSON.
    fn parse(&mut self, bytes: &[u8]) -> Result<(usize, Option<Refused>)> {
        let (text, cut) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let valid = error.valid_up_to();
                // A UTF-8 sequence may be split at the end of the text.
                let is_cut = error.error_len().is_none() && !self.is_end;
                (std::str::from_utf8(&bytes[..valid]).unwrap_or_default(), (!is_cut).then_some(valid))
            }
        };
        let is_end = self.is_end && cut.is_none();
        // The closing bracket is after the last value, where parsing resumes.
        self.is_over = false;
        let mut lexer = Lexer::new(text, is_end);
        lexer.go(self.filled);
        let mut filled = self.filled;
        let utf8 = || cut.map(|at| Refused { stop: Stop::from("text that is not UTF-8"), at });
        loop {
            match self.entry(&mut lexer) {
                Ok(true) => {
                    filled = lexer.at();
                    self.count += 1;
                }
                Ok(false) => return Ok((filled, utf8())),
                Err(Stop::Incomplete) if !is_end => return Ok((filled, utf8())),
                Err(stop) => return Ok((filled, Some(Refused { stop, at: lexer.at() }))),
            }
        }
    }

    /// Parses the next entry; returns `false` at the end of the text.
    fn entry(&mut self, lexer: &mut Lexer<'_>) -> Result<bool, Stop> {
        let is_list = self.framing == Framing::List;
        if lexer.peek().is_none() {
            return if is_list && !self.is_over { Err(Stop::Incomplete) } else { Ok(false) };
        }
        if self.is_over {
            return Err("text behind the list that the file is".into());
        }
        if is_list && !lexer.next_item(self.list.entries() + self.count == 0)? {
            self.is_over = true;
            return self.entry(lexer);
        }
        match self.seen {
            Some(_) => self.partial.value(lexer, DEEPEST)?,
            None => lexer.skip(DEEPEST)?,
        }
        Ok(true)
    }

    /// Continues by lines if each value is on a line of its own; otherwise returns the error.
    fn damaged(&mut self, error: Error) -> Result<()> {
        if !self.has_lines || self.framing == Framing::List {
            return Err(error);
        }
        self.sound = self.list.entries();
        self.damage = Some(error);
        (self.mode, self.framing) = (Mode::Lines, Framing::Lines);
        Ok(())
    }

    /// Counts lines; after damage, also checks them and infers their types.
    fn by_lines(&mut self) -> Result<()> {
        let end = match self.text.iter().rposition(|byte| *byte == b'\n') {
            _ if self.is_end => self.text.len(),
            Some(at) => at + 1,
            None if self.text.len() < LONGEST => return Ok(()),
            None => {
                return Err(self.place.fault(&format!("a line of more than {LONGEST} bytes"), "", &[], 0));
            }
        };
        let text = std::mem::take(&mut self.text);
        let mut begin = 0;
        while begin < end {
            let cut = end.min(begin + BLOCK);
            let line = text[cut..end].iter().position(|byte| *byte == b'\n');
            let block = &text[begin..line.map_or(end, |at| cut + at + 1)];
            let count = if self.damage.is_some() { self.check_lines(block) } else { count_lines(block) };
            self.push_text(block, count);
            begin += block.len();
        }
        self.text = text;
        self.text.advance(end);
        Ok(())
    }

    /// Returns the number of non-blank lines, and counts the valid ones.
    fn check_lines(&mut self, block: &[u8]) -> u64 {
        let mut count = 0;
        for (_, line) in lines_of(block) {
            count += 1;
            let sound = std::str::from_utf8(line).ok().filter(|line| check_line(line).is_ok());
            let Some(sound) = sound else { continue };
            let typed = self.seen.as_mut().map(|seen| seen.value(&mut Lexer::new(sound, true), DEEPEST));
            self.sound += u64::from(typed.is_none_or(|typed| typed.is_ok()));
        }
        count
    }

    /// Ends a block with a byte range of the text; earlier bytes are already part of blocks.
    fn push_block(&mut self, bytes: Range<usize>, count: u64) {
        let text = self.text.slice(bytes);
        self.push_text(&text, count);
    }

    /// Adds a block whose text begins at `place`, and advances `place`.
    fn push_text(&mut self, text: &[u8], count: u64) {
        let feeds = LineFeeds::of(text);
        let behind = self.place.behind_lines(text, feeds);
        let entries = self.list.entries();
        if count > 0 {
            self.has_lines &= self.framing == Framing::Lines || lines_with(text, feeds) == count;
            let stored = Stored::Range(self.place.byte..behind.byte);
            let entries = entries..entries + count;
            self.list.push(FoundBlock { entries, stored, start: self.place });
        }
        self.place = behind;
    }

    /// Drops the first bytes of the text, which are not part of a block.
    fn drain(&mut self, bytes: usize) {
        self.place = self.place.behind(&self.text[..bytes]);
        self.text.advance(bytes);
    }

    /// Returns the first damage as an error if no entry is valid.
    pub(crate) fn check_damage(&mut self) -> Result<()> {
        match self.damage.take() {
            Some(error) if self.sound == 0 => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns the number of non-blank lines.
fn count_lines(text: &[u8]) -> u64 {
    lines_with(text, LineFeeds::of(text))
}

/// Returns the number of non-blank lines of a text with these line feeds.
fn lines_with(text: &[u8], feeds: LineFeeds) -> u64 {
    // If no line begins with a blank, line feeds can be counted; otherwise each line is inspected.
    let LineFeeds { count: ends, before_blanks: blanks } = feeds;
    match text {
        [first, ..] if blanks == 0 && *first > b' ' => {
            (ends + usize::from(text.last() != Some(&b'\n'))) as u64
        }
        [b'\n', second, ..] if blanks == 0 && *second > b' ' => {
            (ends - 1 + usize::from(text.last() != Some(&b'\n'))) as u64
        }
        _ => lines_of(text).count() as u64,
    }
}
