//! Browser as a state machine: it handles events, and can be drawn at any time.

mod reads;
mod status;

use crate::{
    act::{Act, Context, Question},
    answers::Answer,
    cells::{self, Entries},
    help,
    host::Host,
    human,
    input::{Input, Key},
    jobs::{Jobs, Lane, Ticket},
    pane::{Chosen, Pane},
    prompt::{Edited, LineEditor},
    request::{Pending, Request, StateJob, state},
    row_filter::check_cut,
    start::Start,
};
use forthwith::{
    File, JsonRows, Table,
    io::Version,
    plan::{NotNumbers, Result},
};
use forthwith_platform::Instant;
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Time between checks whether the file has changed.
const WATCH: Duration = Duration::from_secs(2);

/// Browser of a file.
pub struct App {
    file: File,
    host: Arc<dyn Host>,
    start: Start,
    pub(crate) jobs: Jobs,
    pub(crate) panes: Vec<Pane>,
    pub(crate) prompt: Option<(Question, LineEditor)>,
    pub(crate) message: Option<String>,
    pub(crate) size: (u16, u16),
    pub(crate) color: bool,
    /// Marked rows of closed tables.
    marked: Vec<(Table, Vec<u32>, BTreeSet<u64>)>,
    /// Requests that were not answered yet.
    pending: Vec<Pending>,
    version: Option<Version>,
    file_size: Option<u64>,
    watched: Instant,
    /// Job that checks whether the file has changed.
    watch: Option<Ticket>,
    has_changed: bool,
    is_done: bool,
    is_unfinished: bool,
}

impl App {
    /// Creates a browser whose jobs run on threads.
    ///
    /// # Errors
    /// Returns an error if the metadata are corrupt.
    pub fn new(file: File, host: Arc<dyn Host>, start: Start, color: bool) -> Result<Self> {
        Self::with_jobs(file, host, start, color, Jobs::on_threads())
    }

    /// Creates a browser whose jobs run during [`poll`](Self::poll), for systems without threads.
    ///
    /// # Errors
    /// Returns an error if the metadata are corrupt.
    pub fn without_threads(file: File, host: Arc<dyn Host>, start: Start, color: bool) -> Result<Self> {
        Self::with_jobs(file, host, start, color, Jobs::inline())
    }

    fn with_jobs(file: File, host: Arc<dyn Host>, start: Start, color: bool, jobs: Jobs) -> Result<Self> {
        let (version, file_size) = state(&file);
        let panes = vec![Pane::first(host.as_ref(), &file, &start)?];
        Ok(Self {
            file,
            host,
            start,
            jobs,
            panes,
            prompt: None,
            message: None,
            size: (80, 24),
            color,
            marked: Vec::new(),
            pending: Vec::new(),
            version,
            file_size,
            watched: Instant::now(),
            watch: None,
            has_changed: false,
            is_done: false,
            is_unfinished: true,
        })
    }

    /// Filters the rows of the topmost table by an expression; does nothing if no table is shown.
    ///
    /// # Errors
    /// Returns the errors of [`Table::select`].
    pub fn filter(&mut self, cut: &str) -> Result<()> {
        match self.panes.last_mut() {
            Some(Pane::Grid(grid)) if !cut.trim().is_empty() => {
                check_cut(&grid.table, cut)?;
                grid.filter_by_cut(cut, &mut self.jobs);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the user has left the browser.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether [`poll`](Self::poll) may change the screen soon.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_unfinished || self.jobs.is_busy()
    }

    /// Returns the name of the file, safe to show.
    pub(crate) fn name(&self) -> String {
        human::clean(self.file.uri())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the size of the file in bytes at the last check, if known.
    pub(crate) const fn file_size(&self) -> Option<u64> {
        self.file_size
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Returns the width and height of the area of the topmost pane.
    pub(crate) fn body(&self) -> (u16, u16) {
        (self.size.0, self.size.1.saturating_sub(3))
    }

    /// Returns the width of the tree beside its details; on a narrow screen, the whole width.
    pub(crate) fn tree_width(&self) -> u16 {
        if self.size.0 < 70 { self.size.0 } else { (self.size.0 / 2).min(90) }
    }

    /// Handles answers of jobs, and requests values that the screen lacks. Returns whether it must be
    /// redrawn.
    pub fn poll(&mut self) -> bool {
        let answers = self.jobs.poll();
        let mut is_new = self.is_unfinished;
        for (ticket, answer) in answers {
            if self.watch == Some(ticket) {
                is_new |= self.watched_file(answer);
                continue;
            }
            is_new = true;
            if self.pending.iter().any(|pending| pending.ticket == ticket) {
                self.replied(ticket, answer);
                continue;
            }
            let mut answer = Some(answer);
            for pane in self.panes.iter_mut().rev() {
                let Some(own) = answer.take() else { break };
                let (left, message) = pane.take(ticket, own, &mut self.jobs);
                answer = left;
                self.message = message.or(self.message.take());
            }
        }
        if self.watched.elapsed() > WATCH && self.watch.is_none() && self.version.is_some() {
            self.watch = Some(self.jobs.start(Lane::Details, StateJob(self.file.clone())));
        }
        let (width, height) = self.body();
        let width = match self.panes.last() {
            Some(Pane::Tree(_)) if self.tree_width() < width => width - self.tree_width(),
            _ => width,
        };
        let mut context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
        if let Some(pane) = self.panes.last_mut() {
            pane.prepare(&mut context, width, height);
        }
        self.is_unfinished = false;
        is_new
    }

    /// Compares the version of the file with that of the opened one; returns whether the screen must be
    /// redrawn.
    fn watched_file(&mut self, answer: Answer) -> bool {
        (self.watch, self.watched) = (None, Instant::now());
        let Answer::State(version, size) = answer else { return false };
        let before = (self.has_changed, self.file_size);
        self.has_changed = version != self.version;
        self.file_size = size.or(self.file_size);
        (self.has_changed, self.file_size) != before
    }

    /// Handles an event.
    pub fn handle(&mut self, input: Input) {
        match input {
            Input::Resize { width, height } if (width, height) == self.size => return,
            Input::Resize { width, height } => self.size = (width, height),
            Input::Key(key) if self.prompt.is_some() => self.type_key(key),
            Input::Key(key) => {
                self.message = None;
                self.press(key);
            }
            Input::Paste(text) => {
                if let Some((question, editor)) = &mut self.prompt
                    && editor.insert(&text) == Edited::Changed
                {
                    let (question, text) = (*question, editor.text());
                    self.typed(question, &text);
                }
            }
            Input::Scroll(lines) => {
                if let Some(pane) = self.panes.last_mut() {
                    pane.scroll(i64::from(lines), &mut self.jobs);
                }
            }
            Input::Click { column, row } => self.click(column, row),
        }
        self.is_unfinished = true;
    }

    fn typed(&mut self, question: Question, text: &str) {
        if let Some(pane) = self.panes.last_mut() {
            pane.typed(question, text);
        }
    }

    fn type_key(&mut self, key: Key) {
        let Some((question, editor)) = &mut self.prompt else { return };
        let (question, edited, text) = (*question, editor.key(key), String::new());
        let text = if edited == Edited::Left { text } else { editor.text() };
        match edited {
            Edited::Kept => {}
            Edited::Changed => self.typed(question, &text),
            Edited::Left => {
                self.prompt = None;
                self.typed(question, "");
            }
            Edited::Entered => {
                self.prompt = None;
                let mut context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
                let act = self.panes.last_mut().map(|pane| pane.entered(question, &text, &mut context));
                self.carry_out(act.unwrap_or(Act::None));
            }
        }
    }

    fn press(&mut self, key: Key) {
        match key {
            Key::Char('q') | Key::Ctrl('c') => self.is_done = true,
            Key::Char('?') => self.push(Pane::text("Keys", help::KEYS)),
            Key::Char('R') => self.reload(),
            Key::Esc if self.stop() => self.message = Some("stopped".into()),
            Key::Esc | Key::Backspace if self.panes.len() > 1 => self.back(),
            Key::Char('d') => self.show_code(),
            Key::Char('p') if !self.is_plot() => self.plot(),
            Key::Char('e') if !self.is_plot() => self.explain(false),
            Key::Char('f') => self.explain(true),
            Key::Enter if matches!(self.panes.last(), Some(Pane::Grid(_))) => self.show_value(),
            key => {
                let mut context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
                let act = self.panes.last_mut().map(|pane| pane.key(key, &mut context));
                self.carry_out(act.unwrap_or(Act::None));
            }
        }
    }

    fn is_plot(&self) -> bool {
        matches!(self.panes.last(), Some(Pane::Plot(_)))
    }

    fn carry_out(&mut self, act: Act) {
        match act {
            Act::None => {}
            Act::Values(table, columns) => self.request(Request::values(table, columns)),
            Act::Object(key, width) => {
                self.request(Request::object(&self.host, &self.file, &key, width));
            }
            Act::Children(of) => self.request(Request::children(&self.host, &self.file, of)),
            Act::Cut(table, cut) => self.request(Request::cut(table, cut)),
            Act::Ask(question, text) => self.prompt = Some((question, LineEditor::of(&text))),
            Act::Say(message) => self.message = Some(message),
        }
    }

    /// Opens a pane above the others.
    fn push(&mut self, pane: Pane) {
        self.give_up_panes();
        self.panes.push(pane);
    }

    /// Closes the topmost pane and keeps its marked rows.
    fn back(&mut self) {
        self.give_up_panes();
        if let Some(mut pane) = self.panes.pop() {
            pane.close(&mut self.jobs);
            if let Pane::Grid(grid) = pane
                && !grid.marks.is_empty()
            {
                self.marked.push((grid.table, grid.columns, grid.marks));
            }
        }
    }

    fn reload(&mut self) {
        self.request(Request::reopening(&self.host, &self.start, self.name()));
    }

    fn show_code(&mut self) {
        match self.panes.last().map(Pane::code) {
            Some(Some(code)) => self.push(Pane::text("Code", &code)),
            _ => self.message = Some("code is shown of tables, columns and pictures".into()),
        }
    }

    fn chosen(&mut self, marked: bool) -> Option<Chosen> {
        let chosen = self.panes.last().and_then(|pane| pane.chosen(marked));
        if chosen.is_none() {
            self.message = Some("no column is chosen".into());
        }
        chosen
    }

    fn plot(&mut self) {
        let Some(Chosen { table, columns, cut }) = self.chosen(true) else { return };
        if columns.len() > 2 {
            self.message =
                Some(format!("a picture is of one column or two, and {} are marked", columns.len()));
            return;
        }
        self.request(Request::plot(table, columns, cut));
    }

    /// Shows the plan of a column, or its program.
    fn explain(&mut self, program: bool) {
        let Some(Chosen { table, columns, .. }) = self.chosen(false) else { return };
        let Some(field) = columns.first() else { return };
        let width = usize::from(self.size.0);
        self.request(Request::explanation(&self.host, table, *field, program, width));
    }

    fn show_value(&mut self) {
        let Some(Pane::Grid(grid)) = self.panes.last() else { return };
        let (Some(field), Some(entry)) = (grid.current(), grid.rows.entry(grid.cursor)) else { return };
        let width = usize::from(self.size.0).max(20);
        self.request(Request::value(grid.table.clone(), field, entry, width));
    }

    fn click(&mut self, column: u16, row: u16) {
        let (_, height) = self.body();
        let is_body = row >= 1 && row <= height;
        let tree_width = self.tree_width();
        let act = match self.panes.last_mut() {
            Some(Pane::Tree(tree)) if is_body && column < tree_width => tree.click(usize::from(row - 1)),
            Some(Pane::Grid(grid)) if is_body && row >= 2 => {
                let across = usize::from(column).saturating_sub(grid.gutter() + 1);
                grid.click(u64::from(row - 2), across);
                Act::None
            }
            _ => Act::None,
        };
        self.carry_out(act);
    }

    /// Returns the marked rows as JSON Lines, with the columns that were shown.
    ///
    /// # Errors
    /// Returns an error if the values of the rows cannot be formatted.
    pub fn marked(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let open = self.panes.iter().filter_map(|pane| match pane {
            Pane::Grid(grid) => Some((&grid.table, &grid.columns, &grid.marks)),
            _ => None,
        });
        let closed = self.marked.iter().map(|(table, columns, marks)| (table, columns, marks));
        for (table, columns, marks) in closed.chain(open).filter(|(_, _, marks)| !marks.is_empty()) {
            let entries = Entries::List(marks.iter().copied().collect());
            let fields = table.fields()?;
            // Columns that cannot be read are omitted.
            let read =
                columns.iter().zip(cells::read_each(table, columns, &entries, &AtomicBool::new(false)));
            let read = read.filter_map(|(field, array)| Some((fields.get(*field as usize)?, array.ok()?)));
            let (fields, arrays): (Vec<_>, Vec<_>) = read.unzip();
            let names: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
            let rows = JsonRows::new(&names, &arrays, NotNumbers::Null)?;
            for row in 0..marks.len() as u64 {
                rows.row(row, &mut text)?;
                text.push(b'\n');
            }
        }
        Ok(text)
    }
}
