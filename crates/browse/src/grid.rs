//! Values of a table, page by page.

use crate::{
    act::{Act, Context, Question},
    answers::{Answer, ColumnCells},
    cells::{CHUNK, CellCache, WIDEST},
    human,
    input::{Key, lines_moved, moved, scrolled, toggle},
    jobs::{Jobs, Lane, Ticket},
    name_filter::NameFilter,
    row_filter::{CountJob, CutJob, SearchJob, TextFilterJob},
    rows::{FilteredRows, RowSet},
    text_search::{RowsLeft, TextPattern, TextSearch},
};
use forthwith::{
    Table,
    plan::{Field, Result},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Maximum width of a column without the cursor, in characters.
const WIDE: usize = 32;
/// Minimum width of a column in characters.
const NARROW: usize = 6;

/// Table with a cursor.
pub(crate) struct Grid {
    pub(crate) table: Table,
    /// All columns with values.
    all: Vec<u32>,
    /// Columns that are shown.
    pub(crate) columns: Vec<u32>,
    names: NameFilter,
    pub(crate) rows: RowSet,
    pub(crate) top: u64,
    pub(crate) cursor: u64,
    left: usize,
    column: usize,
    widths: HashMap<u32, usize>,
    cells: CellCache,
    /// Marked entries.
    pub(crate) marks: BTreeSet<u64>,
    /// Marked columns, in the order of marking.
    pub(crate) marked_columns: Vec<u32>,
    pub(crate) pattern: Option<TextPattern>,
    search: Option<Ticket>,
    /// Number of rows that were searched so far.
    searched: u64,
    count: Option<Ticket>,
    /// Columns on the screen, with their widths.
    pub(crate) visible: Vec<(u32, usize)>,
    /// Number of rows on the screen.
    height: usize,
}

impl Grid {
    /// Opens a table with some of its columns, or with all.
    ///
    /// # Errors
    /// Returns an error if the metadata are corrupt.
    pub(crate) fn new(table: Table, columns: Option<Vec<u32>>) -> Result<Self> {
        let fields = (0..).zip(table.fields()?);
        let all: Vec<u32> = fields.filter(|(_, f)| f.has_data && !f.is_part).map(|(at, _)| at).collect();
        let (rows, columns) = (RowSet::of(&table)?, columns.unwrap_or_else(|| all.clone()));
        Ok(Self {
            table,
            all,
            columns,
            names: NameFilter::default(),
            rows,
            top: 0,
            cursor: 0,
            left: 0,
            column: 0,
            widths: HashMap::new(),
            cells: CellCache::default(),
            marks: BTreeSet::new(),
            marked_columns: Vec::new(),
            pattern: None,
            search: None,
            searched: 0,
            count: None,
            visible: Vec::new(),
            height: 1,
        })
    }

    /// Returns the metadata of a column.
    pub(crate) fn field(&self, field: u32) -> Option<&Field> {
        self.table.fields().ok()?.get(field as usize)
    }

    /// Returns the column at the cursor.
    pub(crate) fn current(&self) -> Option<u32> {
        self.columns.get(self.column).copied()
    }

    /// Returns the expression by which rows are filtered, if any.
    pub(crate) fn cut(&self) -> Option<&str> {
        self.rows.filter.as_ref()?.cut.as_deref()
    }

    /// Returns the chunk of cells with a row of a column, and the index of the row in it.
    pub(crate) fn cell(&self, row: u64, field: u32) -> Option<(&Arc<ColumnCells>, usize)> {
        Some((self.cells.get(row / CHUNK, field)?, (row % CHUNK) as usize))
    }

    /// Returns the type of the column at the cursor, once values of it were read.
    pub(crate) fn kind(&self) -> Option<&str> {
        let (cells, _) = self.cell(self.cursor, self.current()?)?;
        Some(cells.kind.as_str()).filter(|kind| !kind.is_empty())
    }

    /// Returns the width of the row numbers before the columns.
    pub(crate) fn gutter(&self) -> usize {
        human::count(self.rows.known.saturating_sub(1)).len() + 1
    }

    fn fields_on_screen(&self) -> Vec<u32> {
        self.visible.iter().map(|(field, _)| *field).collect()
    }

    /// Lays out a page, and requests its cells.
    pub(crate) fn prepare(&mut self, context: &mut Context<'_>, width: u16, height: u16) {
        self.height = usize::from(height).max(1);
        self.column = self.column.min(self.columns.len().saturating_sub(1));
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        self.top = scrolled(self.top, self.cursor, self.height);
        self.count_ahead(context.jobs);
        self.measure();
        self.lay_out(usize::from(width).saturating_sub(self.gutter() + 1));
        let first = self.top / CHUNK;
        let last = (self.top + self.height as u64 - 1).min(self.rows.len().saturating_sub(1)) / CHUNK;
        let chunks: Vec<_> = (first..=last).map(|chunk| (chunk, self.rows.chunk(chunk))).collect();
        let fields = self.fields_on_screen();
        if self.rows.len() > 0 {
            self.cells.request(context.jobs, &self.table, &fields, &chunks);
        }
    }

    /// Counts more entries before the cursor reaches the last known one.
    fn count_ahead(&mut self, jobs: &mut Jobs) {
        let near = self.cursor.saturating_add(4 * CHUNK.max(self.height as u64));
        if !self.rows.is_exact && self.rows.filter.is_none() && self.count.is_none() && near > self.rows.known
        {
            self.count(jobs, self.rows.known.saturating_mul(2).max(1));
        }
    }

    fn count(&mut self, jobs: &mut Jobs, most: u64) {
        if let Some(ticket) = self.count.take() {
            jobs.cancel(ticket);
        }
        let job = CountJob { table: self.table.clone(), known: self.rows.known, most };
        self.count = Some(jobs.start(Lane::Scan, job));
    }

    /// Widens columns to the cells on the screen.
    fn measure(&mut self) {
        let chunks = self.top / CHUNK..=(self.top + self.height as u64) / CHUNK;
        for (field, _) in &self.visible {
            let cells = chunks.clone().filter_map(|chunk| self.cells.get(chunk, *field));
            let texts = cells.filter_map(|cells| cells.texts.as_ref().ok()).flatten();
            let widest = texts.map(|text| text.chars().count()).max().unwrap_or(0);
            let width = self.widths.entry(*field).or_insert(NARROW);
            *width = widest.max(*width);
        }
    }

    fn width_of(&self, field: u32, is_current: bool) -> usize {
        let name = self.field(field).map_or(0, |field| human::clean(&field.name).chars().count());
        let most = if is_current { WIDEST } else { WIDE };
        self.widths.get(&field).copied().unwrap_or(NARROW).max(name).clamp(NARROW, most)
    }

    /// Determines the columns on the screen, such that the current one is visible.
    fn lay_out(&mut self, width: usize) {
        self.left = self.left.min(self.column);
        loop {
            let mut free = width;
            self.visible.clear();
            for (at, field) in self.columns.iter().enumerate().skip(self.left) {
                let wide = self.width_of(*field, at == self.column);
                let shown = wide.min(free);
                if shown < wide && at > self.left && shown < NARROW {
                    break;
                }
                self.visible.push((*field, shown));
                free = free.saturating_sub(shown + 2);
                if free == 0 {
                    break;
                }
            }
            let behind = self.left + self.visible.len();
            let is_cut = behind == self.column + 1
                && self.visible.last().is_some_and(|(field, shown)| *shown < self.width_of(*field, true));
            if self.left >= self.column || (self.column < behind && !is_cut) {
                return;
            }
            self.left += 1;
        }
    }

    /// Handles an answer of a job of this pane; returns any other answer, and a message to show.
    pub(crate) fn take(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        jobs: &mut Jobs,
    ) -> (Option<Answer>, Option<String>) {
        let Some(answer) = self.cells.take(ticket, answer) else { return (None, None) };
        if self.search == Some(ticket) {
            return (None, self.searched(answer));
        }
        if self.count == Some(ticket) {
            return (None, self.counted(answer, jobs));
        }
        if self.rows.filter.as_ref().is_some_and(|filter| filter.scan == Some(ticket)) {
            return (None, self.filtered(answer, jobs));
        }
        (Some(answer), None)
    }

    fn searched(&mut self, answer: Answer) -> Option<String> {
        let found = match answer {
            Answer::Searched(rows) => {
                self.searched = rows;
                return None;
            }
            Answer::Found(found) => found,
            Answer::Failed(why) => {
                self.search = None;
                return Some(why);
            }
            _ => return None,
        };
        self.search = None;
        match found.cell {
            Some((row, field)) => {
                self.cursor = row;
                self.column = self.columns.iter().position(|other| *other == field).unwrap_or(self.column);
                None
            }
            None => {
                let columns = |number: usize| human::counted(number as u64, "column", "columns");
                let searched = columns(self.columns.len());
                let unread = match found.unread {
                    0 => String::new(),
                    number => format!("; {} not readable everywhere", columns(number)),
                };
                Some(format!("not found in {searched}{unread}"))
            }
        }
    }

    fn counted(&mut self, answer: Answer, jobs: &mut Jobs) -> Option<String> {
        let to_end = self.cursor.saturating_add(1) >= self.rows.known && self.rows.known > 0;
        match answer {
            Answer::Count(known, is_exact) => {
                if known > self.rows.known && self.rows.filter.is_none() {
                    // The last chunk may have been read with fewer rows.
                    self.cells.forget_from(self.rows.known / CHUNK, jobs);
                }
                self.rows.known = known.max(self.rows.known);
                self.rows.is_exact = is_exact;
                if is_exact {
                    self.count = None;
                    if to_end && self.rows.filter.is_none() {
                        self.cursor = self.rows.known.saturating_sub(1);
                    }
                }
                None
            }
            Answer::Failed(why) => {
                self.count = None;
                // Rows before the damage can be shown.
                self.rows.is_exact = true;
                Some(why)
            }
            _ => None,
        }
    }

    fn filtered(&mut self, answer: Answer, jobs: &mut Jobs) -> Option<String> {
        match answer {
            Answer::Filtered(found) => {
                // The last chunk may have been read with fewer rows.
                if !found.entries.is_empty() {
                    self.cells.forget_from(self.rows.len() / CHUNK, jobs);
                }
                self.rows.extend(found);
                None
            }
            Answer::Failed(why) => {
                if let Some(filter) = &mut self.rows.filter {
                    (filter.scan, filter.ended) = (None, Some("failed"));
                }
                Some(why)
            }
            _ => None,
        }
    }

    /// Stops a search or filter and keeps its results; returns whether one was running.
    pub(crate) fn stop(&mut self, jobs: &mut Jobs) -> bool {
        let scan = self.rows.filter.as_mut().and_then(|filter| {
            let scan = filter.scan.take()?;
            filter.ended = Some("stopped");
            Some(scan)
        });
        let stopped = [self.search.take(), scan];
        stopped.into_iter().flatten().for_each(|ticket| jobs.cancel(ticket));
        stopped.iter().any(Option::is_some)
    }

    /// Cancels all jobs of this pane.
    pub(crate) fn close(&mut self, jobs: &mut Jobs) {
        self.cells.clear(jobs);
        let scan = self.rows.filter.as_mut().and_then(|filter| filter.scan.take());
        [self.search.take(), self.count.take(), scan]
            .into_iter()
            .flatten()
            .for_each(|ticket| jobs.cancel(ticket));
    }

    pub(crate) fn key(&mut self, key: Key, context: &mut Context<'_>) -> Act {
        if let Some(lines) = lines_moved(key, self.height) {
            self.go(lines, context.jobs);
            return Act::None;
        }
        match key {
            Key::Left | Key::Char('h') => self.column = self.column.saturating_sub(1),
            Key::Right | Key::Char('l') => {
                self.column = (self.column + 1).min(self.columns.len().saturating_sub(1))
            }
            Key::Char('0' | '^') => self.column = 0,
            Key::Char('$') => self.column = self.columns.len().saturating_sub(1),
            Key::Char(' ' | 'm') => {
                if let Some(entry) = self.rows.entry(self.cursor)
                    && !self.marks.remove(&entry)
                {
                    self.marks.insert(entry);
                }
                self.go(1, context.jobs);
            }
            Key::Tab => {
                if let Some(field) = self.current() {
                    toggle(&mut self.marked_columns, field);
                }
            }
            Key::Char('-') => self.hide(),
            Key::Char('=') => {
                self.columns.clone_from(&self.all);
                self.names = NameFilter::default();
            }
            Key::Char('c') => return Act::Ask(Question::Names, self.names.text().to_owned()),
            Key::Char('/') => return Act::Ask(Question::Search { is_backward: false }, String::new()),
            Key::Char('n') => return self.start_search(false, context.jobs),
            Key::Char('N') => return self.start_search(true, context.jobs),
            Key::Char('&') => return Act::Ask(Question::RowText, String::new()),
            Key::Char('w') => {
                return Act::Ask(Question::Where, self.cut().unwrap_or_default().to_owned());
            }
            Key::Char(':') => return Act::Ask(Question::Row, String::new()),
            _ => {}
        }
        Act::None
    }

    fn hide(&mut self) {
        if self.columns.len() > 1 && self.column < self.columns.len() {
            self.columns.remove(self.column);
        }
    }

    /// Moves the cursor by a number of lines.
    pub(crate) fn go(&mut self, lines: i64, jobs: &mut Jobs) {
        if lines == i64::MAX && !self.rows.is_exact && self.rows.filter.is_none() {
            self.count(jobs, u64::MAX);
        }
        self.cursor = moved(self.cursor, lines, self.rows.len());
    }

    /// Moves the cursor to a cell of the screen, given by its line and its distance from the row numbers.
    pub(crate) fn click(&mut self, line: u64, across: usize) {
        if self.top + line < self.rows.len() {
            self.cursor = self.top + line;
        }
        let mut start = 0;
        for (at, (_, width)) in self.visible.iter().enumerate() {
            if (start..start + width + 2).contains(&across) {
                self.column = self.left + at;
                return;
            }
            start += width + 2;
        }
    }

    /// Applies a line while it is typed.
    pub(crate) fn typed(&mut self, question: Question, text: &str) {
        if question != Question::Names {
            return;
        }
        let current = self.current();
        self.names = NameFilter::new(text);
        let fields = self.table.fields().unwrap_or_default();
        let matches = |field: &u32| {
            fields.get(*field as usize).is_some_and(|field| self.names.matches(&field.path, &field.name))
        };
        self.columns = self.all.iter().copied().filter(|field| matches(field)).collect();
        self.column = self.columns.iter().position(|field| Some(*field) == current).unwrap_or(0);
    }

    /// Executes a line that was entered.
    pub(crate) fn entered(&mut self, question: Question, text: &str, context: &mut Context<'_>) -> Act {
        let done = match question {
            Question::Search { is_backward } => match TextPattern::new(text) {
                Ok(pattern) => {
                    self.pattern = Some(pattern).filter(|_| !text.is_empty());
                    return self.start_search(is_backward, context.jobs);
                }
                Err(why) => Err(why),
            },
            Question::RowText => self.filter_by_text(text, context.jobs),
            Question::Where if text.trim().is_empty() => {
                self.unfilter(context.jobs);
                Ok(())
            }
            Question::Where => return Act::Cut(self.table.clone(), text.to_owned()),
            Question::Row => self.go_to(text, context.jobs),
            Question::Names if self.columns.is_empty() => {
                self.typed(Question::Names, "");
                Err(format!("{text} matches none of the columns"))
            }
            _ => Ok(()),
        };
        done.map_or_else(Act::Say, |()| Act::None)
    }

    fn go_to(&mut self, text: &str, jobs: &mut Jobs) -> std::result::Result<(), String> {
        let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_' | ' ')).collect();
        let row = match digits.strip_suffix('%') {
            Some(part) => part.parse::<f64>().ok().map(|part| {
                let last = self.rows.len().saturating_sub(1);
                (part.clamp(0.0, 100.0) / 100.0 * last as f64) as u64
            }),
            None => digits.parse::<u64>().ok().map(|entry| self.rows.row_of(entry)),
        };
        let row = row.ok_or_else(|| format!("{text:?} is not the number of a row"))?;
        if row >= self.rows.len() && !self.rows.is_exact && self.rows.filter.is_none() {
            self.count(jobs, row.saturating_add(1));
        }
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        Ok(())
    }

    fn start_search(&mut self, is_backward: bool, jobs: &mut Jobs) -> Act {
        let Some(pattern) = self.pattern.clone() else {
            return Act::Say("nothing to search: type / first".into());
        };
        if let Some(ticket) = self.search.take() {
            jobs.cancel(ticket);
        }
        let (count, next) = (self.rows.len(), self.cursor + 1);
        let left = if is_backward {
            vec![0..self.cursor.min(count), self.cursor.min(count)..count]
        } else {
            vec![next.min(count)..count, 0..next.min(count)]
        };
        let list = self.rows.filter.as_ref().map(|filter| Arc::clone(&filter.entries));
        let search = TextSearch::new(self.table.clone(), self.columns.clone(), pattern);
        let job = SearchJob { search, left: RowsLeft { list, ranges: left, is_backward }, searched: 0 };
        self.searched = 0;
        self.search = Some(jobs.start(Lane::Scan, job));
        Act::None
    }

    fn filter_by_text(&mut self, text: &str, jobs: &mut Jobs) -> std::result::Result<(), String> {
        if text.is_empty() {
            self.unfilter(jobs);
            return Ok(());
        }
        let pattern = TextPattern::new(text)?;
        let search = TextSearch::new(self.table.clone(), self.columns.clone(), pattern.clone());
        self.unfilter(jobs);
        let scan = jobs.start(Lane::Scan, TextFilterJob { search, next: 0 });
        self.filter(format!("with {}", human::clean(text)), None, scan);
        self.pattern = Some(pattern);
        Ok(())
    }

    /// Filters rows by an expression that was validated.
    pub(crate) fn filter_by_cut(&mut self, text: &str, jobs: &mut Jobs) {
        self.unfilter(jobs);
        let scan = jobs.start(Lane::Scan, CutJob::new(&self.table, text));
        self.filter(format!("where {}", human::clean(text)), Some(text.to_owned()), scan);
    }

    fn filter(&mut self, text: String, cut: Option<String>, scan: Ticket) {
        self.rows.filter = Some(FilteredRows::new(text, cut, scan));
        (self.cursor, self.top) = (0, 0);
    }

    fn unfilter(&mut self, jobs: &mut Jobs) {
        if let Some(filter) = self.rows.filter.take() {
            let entry = filter.entries.get(self.cursor).unwrap_or(0);
            filter.scan.into_iter().for_each(|ticket| jobs.cancel(ticket));
            self.cursor = entry;
        }
        self.cells.clear(jobs);
        self.search.take().into_iter().for_each(|ticket| jobs.cancel(ticket));
    }

    /// Returns a description of the search or scan that is running.
    pub(crate) fn activity(&self) -> Option<String> {
        if self.search.is_some() {
            let (searched, all) = (human::count(self.searched), human::count(self.rows.len()));
            return Some(format!("searching, {searched} of {all} rows so far, Esc stops it"));
        }
        if self.count.is_some() && !self.rows.is_exact {
            return Some("counting".into());
        }
        self.rows.filter.as_ref().and_then(|filter| filter.scan).map(|_| "filtering, Esc stops it".into())
    }
}
