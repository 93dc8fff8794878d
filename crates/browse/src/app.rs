//! The browser as a state machine: events come in, a screen can be drawn at any time.

use crate::{
    act::{Act, Context, Host, Question},
    cells::{self, Entries},
    grid::Grid,
    help, human,
    input::{Input, Key},
    jobs::Jobs,
    pane::{Chosen, Pane},
    plot::Plot,
    prompt::{Edited, LineEditor},
    tree::{Tree, TreeContent},
};
use forthwith::{
    File, JsonRows, Table,
    files::{self, Place},
    io::Version,
    plan::{NotNumbers, Result},
};
use forthwith_platform::Instant;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// Characters of a value that is shown on its own.
const VALUE: usize = 100_000;
/// Time between two looks at whether the file has changed.
const WATCH: Duration = Duration::from_secs(2);

/// The thing that is shown first.
#[derive(Clone, Debug)]
pub enum Start {
    /// The objects of a file, with the cursor on this one.
    Tree(String),
    /// The values of a table, or of some of its columns.
    Table(Table, Option<Vec<u32>>),
}

/// A browser of a file.
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
    /// Marked rows of tables that are not on the screen any more.
    marked: Vec<(Table, Vec<u32>, BTreeSet<u64>)>,
    version: Option<Version>,
    watched: Instant,
    has_changed: bool,
    is_done: bool,
    is_unfinished: bool,
}

impl App {
    /// A browser whose jobs run on threads.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn new(file: File, host: Arc<dyn Host>, start: Start, color: bool) -> Result<Self> {
        Self::with_jobs(file, host, start, color, Jobs::on_threads())
    }

    /// A browser whose jobs run while [`poll`](Self::poll) is called, for systems without threads.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn without_threads(file: File, host: Arc<dyn Host>, start: Start, color: bool) -> Result<Self> {
        Self::with_jobs(file, host, start, color, Jobs::inline())
    }

    fn with_jobs(file: File, host: Arc<dyn Host>, start: Start, color: bool, jobs: Jobs) -> Result<Self> {
        let version = file.source().version().ok().flatten();
        let mut app = Self {
            file,
            host,
            start,
            jobs,
            panes: Vec::new(),
            prompt: None,
            message: None,
            size: (80, 24),
            color,
            marked: Vec::new(),
            version,
            watched: Instant::now(),
            has_changed: false,
            is_done: false,
            is_unfinished: true,
        };
        app.begin()?;
        Ok(app)
    }

    fn begin(&mut self) -> Result<()> {
        let pane = match self.start.clone() {
            Start::Table(table, columns) => Pane::Grid(Box::new(Grid::new(table, columns)?)),
            Start::Tree(path) => {
                let context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
                let mut tree = Tree::new(&context)?;
                tree.find(&path, &context);
                Pane::Tree(Box::new(tree))
            }
        };
        self.panes = vec![pane];
        Ok(())
    }

    /// Shows only rows of a table for which an expression is true, if a table is shown.
    ///
    /// # Errors
    /// As [`Table::select`].
    pub fn filter(&mut self, cut: &str) -> Result<()> {
        match self.panes.last_mut() {
            Some(Pane::Grid(grid)) => grid.filter_by_cut(cut, &mut self.jobs),
            _ => Ok(()),
        }
    }

    /// Whether the browser was left.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether [`poll`](Self::poll) may change the screen soon.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_unfinished || self.jobs.is_busy()
    }

    /// The name of the file, safe to show.
    pub(crate) fn name(&self) -> String {
        human::clean(self.file.uri())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// The size of the part of the screen that the topmost pane fills.
    pub(crate) fn body(&self) -> (u16, u16) {
        (self.size.0, self.size.1.saturating_sub(3))
    }

    /// Width of the tree beside its details; the whole width of a narrow screen.
    pub(crate) fn tree_width(&self) -> u16 {
        if self.size.0 < 70 { self.size.0 } else { (self.size.0 / 2).min(90) }
    }

    /// Takes answers of jobs, and begins to read missing values of the screen. Returns whether it is to be drawn again.
    pub fn poll(&mut self) -> bool {
        let answers = self.jobs.poll();
        let mut is_new = self.is_unfinished || !answers.is_empty();
        for (ticket, answer) in answers {
            let mut answer = Some(answer);
            for pane in self.panes.iter_mut().rev() {
                let Some(own) = answer.take() else { break };
                let (left, message) = pane.take(ticket, own, &mut self.jobs);
                answer = left;
                self.message = message.or(self.message.take());
            }
        }
        if self.watched.elapsed() > WATCH {
            self.watched = Instant::now();
            let before = self.has_changed;
            self.has_changed =
                self.version.is_some() && self.file.source().version().ok().flatten() != self.version;
            is_new |= self.has_changed != before;
        }
        let (width, height) = self.body();
        let width = match self.panes.last() {
            Some(Pane::Tree(_)) if self.tree_width() < width => width - self.tree_width(),
            _ => width,
        };
        let mut context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
        self.is_unfinished =
            self.panes.last_mut().is_some_and(|pane| pane.prepare(&mut context, width, height));
        is_new
    }

    /// Reacts to an event.
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
            Key::Char('?') => self.panes.push(Pane::text("Keys", help::KEYS)),
            Key::Char('R') => self.reload(),
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
            Act::Text { title, text } => self.panes.push(Pane::text(&title, &text)),
            Act::Values(table, columns) => match Grid::new(table, columns) {
                Ok(grid) => self.panes.push(Pane::Grid(Box::new(grid))),
                Err(error) => self.message = Some(error.to_string()),
            },
            Act::Ask(question, text) => self.prompt = Some((question, LineEditor::of(&text))),
            Act::Say(message) => self.message = Some(message),
        }
    }

    /// Closes the topmost pane; its marked rows are kept.
    fn back(&mut self) {
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
        let opened = self.host.reopen();
        let file = match opened {
            Ok(file) => file,
            Err(why) => {
                self.message = Some(why);
                return;
            }
        };
        let start = match &self.start {
            Start::Tree(path) => Ok(Start::Tree(path.clone())),
            Start::Table(table, columns) => {
                let table = self.host.table(&file, table.path());
                table.map(|table| Start::Table(table, columns.clone()))
            }
        };
        let begun = start.and_then(|start| {
            (self.file, self.start) = (file, start);
            self.panes.iter_mut().for_each(|pane| pane.close(&mut self.jobs));
            self.version = self.file.source().version().ok().flatten();
            self.has_changed = false;
            self.begin()
        });
        self.message = Some(begun.map_or_else(|error| error.to_string(), |()| "opened again".into()));
    }

    fn show_code(&mut self) {
        match self.panes.last().map(Pane::code) {
            Some(Some(code)) => self.panes.push(Pane::text("Code", &code)),
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
        match Plot::new(table, &columns, cut) {
            Ok(plot) => self.panes.push(Pane::Plot(Box::new(plot))),
            Err(error) => self.message = Some(error.to_string()),
        }
    }

    /// Shows how a column is read: its plan, or its program.
    fn explain(&mut self, program: bool) {
        let Some(Chosen { table, columns, .. }) = self.chosen(false) else { return };
        let Some(field) = columns.first() else { return };
        let name = table.fields().ok().and_then(|fields| fields.get(*field as usize));
        let name = name.map_or_else(String::new, |field| human::clean(&field.path));
        let text = if program {
            self.host.program(&table, *field)
        } else {
            self.host.plan(&table, *field, usize::from(self.size.0))
        };
        match text {
            Ok(text) => self.panes.push(Pane::text(&name, &text)),
            Err(why) => self.message = Some(why),
        }
    }

    fn show_value(&mut self) {
        let Some(Pane::Grid(grid)) = self.panes.last() else { return };
        let (Some(field), Some(entry)) = (grid.current(), grid.rows.entry(grid.cursor)) else { return };
        let name = grid.field(field).map_or_else(String::new, |field| human::clean(&field.path));
        let read = cells::read(&grid.table, &[field], &Entries::Range(entry..entry + 1));
        let value = read.map_err(|error| error.to_string()).and_then(|arrays| match arrays.first() {
            Some(array) => Ok((array.form.type_string(), cells::texts(array, VALUE)?.concat())),
            None => Ok((String::new(), String::new())),
        });
        let width = usize::from(self.size.0).max(20);
        match value {
            Ok((form, text)) => {
                let characters: Vec<char> = text.chars().collect();
                let lines: Vec<String> = characters.chunks(width).map(|line| line.iter().collect()).collect();
                let text = format!("{form}\n\n{}", lines.join("\n"));
                let title = format!("{name}, row {}", human::count(entry));
                self.panes.push(Pane::text(&title, &text));
            }
            Err(why) => self.message = Some(why),
        }
    }

    fn click(&mut self, column: u16, row: u16) {
        let (_, height) = self.body();
        let is_body = row >= 1 && row <= height;
        let tree_width = self.tree_width();
        let mut context = Context { jobs: &mut self.jobs, host: &self.host, file: &self.file };
        let act = match self.panes.last_mut() {
            Some(Pane::Tree(tree)) if is_body && column < tree_width => {
                tree.click(usize::from(row - 1), &mut context)
            }
            Some(Pane::Grid(grid)) if is_body && row >= 2 => {
                let across = usize::from(column).saturating_sub(grid.gutter() + 1);
                grid.click(u64::from(row - 2), across);
                Act::None
            }
            _ => Act::None,
        };
        self.carry_out(act);
    }

    /// Marked rows as JSON Lines, with the columns that were shown.
    ///
    /// # Errors
    /// Rows that cannot be read.
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
            // A column that cannot be read is not among the answers.
            let read = columns.iter().zip(cells::read_each(table, columns, &entries));
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

    /// The position of the cursor and what surrounds it, for the line below the body.
    pub(crate) fn status(&self) -> String {
        match self.panes.last() {
            Some(Pane::Tree(tree)) => {
                let marked = match tree.marked.len() {
                    0 => String::new(),
                    number => format!(", {} marked", human::count(number as u64)),
                };
                let path = tree.current().map_or(String::new(), |(_, node)| match &node.content {
                    TreeContent::Column { table, field, .. } => {
                        let table = tree.tables.get(*table);
                        let fields = table.and_then(|table| table.fields().ok()).unwrap_or_default();
                        fields.get(*field as usize).map_or(String::new(), |field| field.title.clone())
                    }
                    TreeContent::Table(key, _) | TreeContent::Object(key) => key.title.clone(),
                    _ => String::new(),
                });
                let filter = if tree.filter.is_empty() {
                    String::new()
                } else {
                    format!(" with {}", tree.filter.text())
                };
                let shown = human::count(tree.shown.len() as u64);
                format!("{shown} lines{filter}{marked}{}{path}", if path.is_empty() { "" } else { "  " })
            }
            Some(Pane::Grid(grid)) => {
                let marks = match grid.marks.len() {
                    0 => String::new(),
                    number => format!(", {} marked", human::count(number as u64)),
                };
                let activity = grid.activity().map_or(String::new(), |activity| format!(", {activity}…"));
                let kind = grid.current().and_then(|field| grid.table.form(field).ok());
                let kind = kind.map_or(String::new(), |form| format!("  {}", form.type_string()));
                let name = grid.current().and_then(|field| grid.field(field));
                let name = name.map_or(String::new(), |field| format!("  {}", field.path));
                format!("{}{marks}{activity}{name}{kind}", grid.rows.words())
            }
            Some(Pane::Plot(plot)) => plot.failed.clone().unwrap_or_default(),
            Some(Pane::Text(text)) => {
                let last = (text.top + usize::from(self.body().1)).min(text.lines.len());
                format!("lines {} to {} of {}", text.top + 1, last, text.lines.len())
            }
            None => String::new(),
        }
    }
}

/// The first pane for a path in a file: a table, some columns of one, or the tree with an object selected.
///
/// # Errors
/// As [`files::locate`].
pub fn start_at(file: &File, path: &str) -> Result<Start> {
    if path.is_empty() {
        return Ok(Start::Tree(String::new()));
    }
    Ok(match files::locate(file, path)? {
        Place::Table(table) => Start::Tree(table.path().to_owned()),
        Place::Field { table, field, .. } => Start::Table(table, Some(vec![field])),
        Place::Object(key) => Start::Tree(key.path),
    })
}
