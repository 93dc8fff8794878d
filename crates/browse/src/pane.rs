//! Panes, each of which fills the screen: a tree, a table, a histogram or text.

use crate::{
    act::{Act, Context, Question},
    answers::Answer,
    grid::Grid,
    host::Host,
    input::{Key, lines_moved, moved},
    jobs::{Jobs, Ticket},
    plot::Plot,
    snippet::{PictureOptions, Snippet},
    start::Start,
    tree::Tree,
    tree_node::TreeContent,
};
use forthwith::{File, Table, columns::safe_lines, plan::Result};

/// Pane of a browser.
pub(crate) enum Pane {
    /// Objects of a file.
    Tree(Box<Tree>),
    /// Values of a table.
    Grid(Box<Grid>),
    /// Histogram.
    Plot(Box<Plot>),
    /// Scrollable text.
    Text(TextPane),
}

/// Scrollable lines of text.
pub(crate) struct TextPane {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) top: usize,
    pub(crate) left: usize,
    height: usize,
}

/// Columns to which a key applies.
pub(crate) struct Chosen {
    pub(crate) table: Table,
    pub(crate) columns: Vec<u32>,
    pub(crate) cut: Option<String>,
}

impl Pane {
    /// Opens the first pane of a browser.
    ///
    /// # Errors
    /// Returns an error if the metadata are corrupt.
    pub(crate) fn first(host: &dyn Host, file: &File, start: &Start) -> Result<Self> {
        Ok(match start.clone() {
            Start::Table(table, columns) => Self::Grid(Box::new(Grid::new(table, columns)?)),
            Start::Tree(path) => Self::Tree(Box::new(Tree::read(host, file, &path)?)),
        })
    }

    /// Creates a pane of text, which is escaped.
    pub(crate) fn text(title: &str, text: &str) -> Self {
        let lines = safe_lines(text).lines().map(str::to_owned).collect();
        Self::Text(TextPane { title: title.to_owned(), lines, top: 0, left: 0, height: 1 })
    }

    /// Lays out the pane for a size and requests values that it lacks.
    pub(crate) fn prepare(&mut self, context: &mut Context<'_>, width: u16, height: u16) {
        match self {
            Self::Tree(tree) => tree.prepare(context, width, height),
            Self::Grid(grid) => grid.prepare(context, width, height.saturating_sub(1)),
            Self::Plot(plot) => plot.prepare(context, width, height),
            Self::Text(text) => {
                text.height = usize::from(height).max(1);
                text.top = text.top.min(text.lines.len().saturating_sub(1));
            }
        }
    }

    pub(crate) fn key(&mut self, key: Key, context: &mut Context<'_>) -> Act {
        match self {
            Self::Tree(tree) => tree.key(key),
            Self::Grid(grid) => grid.key(key, context),
            Self::Plot(plot) => plot.key(key, context),
            Self::Text(text) => {
                text.key(key);
                Act::None
            }
        }
    }

    /// Scrolls by a number of lines.
    pub(crate) fn scroll(&mut self, lines: i64, jobs: &mut Jobs) {
        match self {
            Self::Tree(tree) => tree.go(lines),
            Self::Grid(grid) => grid.go(lines, jobs),
            Self::Text(text) => text.go(lines),
            Self::Plot(_) => {}
        }
    }

    pub(crate) fn typed(&mut self, question: Question, text: &str) {
        match self {
            Self::Tree(tree) => tree.typed(text),
            Self::Grid(grid) => grid.typed(question, text),
            Self::Plot(_) | Self::Text(_) => {}
        }
    }

    pub(crate) fn entered(&mut self, question: Question, text: &str, context: &mut Context<'_>) -> Act {
        match self {
            Self::Grid(grid) => grid.entered(question, text, context),
            Self::Plot(plot) => plot.entered(question, text, context),
            Self::Tree(_) | Self::Text(_) => Act::None,
        }
    }

    /// Handles an answer of a job of this pane; returns any other answer, and a message to show.
    pub(crate) fn take(
        &mut self,
        ticket: Ticket,
        answer: Answer,
        jobs: &mut Jobs,
    ) -> (Option<Answer>, Option<String>) {
        match self {
            Self::Tree(tree) => (tree.take(ticket, answer), None),
            Self::Grid(grid) => grid.take(ticket, answer, jobs),
            Self::Plot(plot) => (plot.take(ticket, answer), None),
            Self::Text(_) => (Some(answer), None),
        }
    }

    /// Filters by an expression that was validated for the table.
    pub(crate) fn filter_by_cut(&mut self, cut: &str, jobs: &mut Jobs) {
        match self {
            Self::Grid(grid) => grid.filter_by_cut(cut, jobs),
            Self::Plot(plot) => plot.filter_by_cut(cut, jobs),
            Self::Tree(_) | Self::Text(_) => {}
        }
    }

    /// Stops a search or filter; returns whether one was running.
    pub(crate) fn stop(&mut self, jobs: &mut Jobs) -> bool {
        match self {
            Self::Grid(grid) => grid.stop(jobs),
            Self::Tree(_) | Self::Plot(_) | Self::Text(_) => false,
        }
    }

    /// Cancels the jobs of this pane.
    pub(crate) fn close(&mut self, jobs: &mut Jobs) {
        match self {
            Self::Tree(tree) => tree.close(jobs),
            Self::Grid(grid) => grid.close(jobs),
            Self::Plot(plot) => plot.close(jobs),
            Self::Text(_) => {}
        }
    }

    /// Returns the column at the cursor; with `marked`, the marked ones if there are any.
    pub(crate) fn chosen(&self, marked: bool) -> Option<Chosen> {
        match self {
            Self::Tree(tree) => {
                let (table, columns) = match (marked, tree.column()) {
                    (false, Some((table, field))) => (table, vec![field]),
                    (false, None) => return None,
                    (true, _) => tree.chosen()?,
                };
                Some(Chosen { table: table.clone(), columns, cut: None })
            }
            Self::Grid(grid) => {
                let columns = if marked && !grid.marked_columns.is_empty() {
                    grid.marked_columns.clone()
                } else {
                    vec![grid.current()?]
                };
                Some(Chosen { table: grid.table.clone(), columns, cut: grid.cut().map(str::to_owned) })
            }
            Self::Plot(plot) => {
                let columns = plot.spec.columns.iter().map(|(_, field)| *field).collect();
                Some(Chosen { table: plot.table.clone(), columns, cut: plot.spec.cut.clone() })
            }
            Self::Text(_) => None,
        }
    }

    /// Returns code that reads the values of the pane.
    pub(crate) fn code(&self) -> Option<String> {
        let paths = |table: &Table, fields: &[u32]| -> Vec<String> {
            let all = table.fields().unwrap_or_default();
            fields
                .iter()
                .filter_map(|field| all.get(*field as usize))
                .map(|field| field.path.clone())
                .collect()
        };
        match self {
            Self::Tree(tree) => {
                if let Some((table, fields)) = tree.chosen() {
                    let columns = paths(table, &fields);
                    return Some(Snippet { table, columns, cut: None, picture: None }.text());
                }
                let table = match &tree.current()?.1.content {
                    TreeContent::Table(_, Some(table)) => tree.tables.get(*table)?,
                    _ => return None,
                };
                Some(Snippet { table, columns: Vec::new(), cut: None, picture: None }.text())
            }
            Self::Grid(grid) => {
                let all =
                    grid.table.fields().ok()?.iter().filter(|field| field.has_data && !field.is_part).count();
                let is_all = grid.columns.len() == all;
                let columns = if is_all { Vec::new() } else { paths(&grid.table, &grid.columns) };
                Some(Snippet { table: &grid.table, columns, cut: grid.cut(), picture: None }.text())
            }
            Self::Plot(plot) => {
                let columns = plot.spec.columns.iter().map(|(name, _)| name.clone()).collect();
                let options = PictureOptions { bins: plot.spec.bins, range: plot.spec.range };
                // The command draws one column only.
                let picture = (plot.spec.columns.len() == 1).then_some(options);
                Some(Snippet { table: &plot.table, columns, cut: plot.spec.cut.as_deref(), picture }.text())
            }
            Self::Text(_) => None,
        }
    }
}

impl TextPane {
    fn go(&mut self, lines: i64) {
        let last = self.lines.len().saturating_sub(self.height) as u64 + 1;
        self.top = moved(self.top as u64, lines, last) as usize;
    }

    fn key(&mut self, key: Key) {
        if let Some(lines) = lines_moved(key, self.height) {
            self.go(lines);
            return;
        }
        let widest = self.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        match key {
            Key::Right | Key::Char('l') => self.left = (self.left + 8).min(widest.saturating_sub(8)),
            Key::Left | Key::Char('h') => self.left = self.left.saturating_sub(8),
            Key::Char(' ') => self.go(self.height as i64),
            _ => {}
        }
    }
}
