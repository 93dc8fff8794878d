//! The directories, objects, tables and columns of a file as a tree.

use crate::{
    act::{Act, Context, Question},
    answers::Answer,
    details::{DetailsJob, Subject, named},
    human,
    input::{Key, lines_moved, moved, scrolled, toggle},
    jobs::{Jobs, Lane, Ticket},
    name_filter::NameFilter,
};
use forthwith::{File, Key as FileKey, Table, plan::Result};
use forthwith_platform::Instant;
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// Time for describing columns before a screen is drawn.
const BUDGET: Duration = Duration::from_millis(5);
/// Entries that are counted for a description where blocks have to be looked at.
const COUNTED: u64 = 4096;
/// Subjects whose details are kept.
const KEPT: usize = 256;

/// A node of the tree.
pub(crate) struct TreeNode {
    pub(crate) depth: usize,
    /// The name, safe to show.
    pub(crate) label: String,
    /// The path that filters match: of an object in the file, of a column in its table.
    path: String,
    /// The class of an object; the type of a column once it was described.
    pub(crate) kind: String,
    /// Stored bytes of an object, or of a column once it was described.
    pub(crate) bytes: Option<u64>,
    pub(crate) content: TreeContent,
    pub(crate) is_open: bool,
    is_loaded: bool,
}

/// The thing that a node stands for.
#[derive(Clone)]
pub(crate) enum TreeContent {
    /// A directory, by its path.
    Directory(String),
    /// A table, by its position among the opened ones once it is open.
    Table(FileKey, Option<usize>),
    /// A column of an opened table.
    Column {
        /// The table.
        table: usize,
        /// The position among its fields.
        field: u32,
        /// Whether columns are below it.
        has_children: bool,
        /// Whether it has values of its own.
        has_data: bool,
    },
    /// Another object.
    Object(FileKey),
    /// Why the node above has no others below it.
    Problem,
}

impl TreeContent {
    pub(crate) const fn opens(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Table(..) => true,
            Self::Column { has_children, .. } => *has_children,
            Self::Object(_) | Self::Problem => false,
        }
    }
}

/// A tree with a cursor.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) tables: Vec<Table>,
    /// Positions of the nodes that are shown.
    pub(crate) shown: Vec<usize>,
    pub(crate) filter: NameFilter,
    pub(crate) cursor: usize,
    pub(crate) top: usize,
    height: usize,
    /// Columns that are marked, of the table that they are in.
    pub(crate) marked: Vec<u32>,
    marked_table: usize,
    details: HashMap<usize, String>,
    details_job: Option<(Ticket, usize)>,
    described: HashSet<usize>,
    width: usize,
}

impl Tree {
    /// The top of a file, with a table opened if it is the only thing there.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub(crate) fn new(context: &Context<'_>) -> Result<Self> {
        let mut tree = Self {
            nodes: Vec::new(),
            tables: Vec::new(),
            shown: Vec::new(),
            filter: NameFilter::default(),
            cursor: 0,
            top: 0,
            height: 1,
            marked: Vec::new(),
            marked_table: 0,
            details: HashMap::new(),
            details_job: None,
            described: HashSet::new(),
            width: 80,
        };
        tree.nodes = keys(context.file, "", 0)?;
        let tables = tree.nodes.iter().filter(|node| matches!(node.content, TreeContent::Table(..))).count();
        if tables == 1
            && let Some(at) =
                tree.nodes.iter().position(|node| matches!(node.content, TreeContent::Table(..)))
        {
            tree.open(at, context);
            tree.cursor = at;
        }
        tree.list();
        Ok(tree)
    }

    /// The node at the cursor.
    pub(crate) fn current(&self) -> Option<(usize, &TreeNode)> {
        let at = *self.shown.get(self.cursor)?;
        Some((at, self.nodes.get(at)?))
    }

    /// The details of the node at the cursor, if they were read.
    pub(crate) fn details(&self) -> Option<&str> {
        self.details.get(&self.current()?.0).map(String::as_str)
    }

    /// The column at the cursor, with its table.
    pub(crate) fn column(&self) -> Option<(&Table, u32)> {
        match self.current()?.1.content {
            TreeContent::Column { table, field, has_data: true, .. } => {
                Some((self.tables.get(table)?, field))
            }
            _ => None,
        }
    }

    pub(crate) fn is_marked(&self, node: &TreeNode) -> bool {
        matches!(node.content, TreeContent::Column { table, field, .. }
            if table == self.marked_table && self.marked.contains(&field))
    }

    /// The marked columns of a table, or the one at the cursor.
    pub(crate) fn chosen(&self) -> Option<(&Table, Vec<u32>)> {
        if !self.marked.is_empty() {
            return Some((self.tables.get(self.marked_table)?, self.marked.clone()));
        }
        self.column().map(|(table, field)| (table, vec![field]))
    }

    /// Reads the nodes below a node, unless they were read.
    fn open(&mut self, at: usize, context: &Context<'_>) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.is_open = true;
        if std::mem::replace(&mut node.is_loaded, true) {
            return;
        }
        let (depth, content) = (node.depth + 1, node.content.clone());
        let below = match content {
            TreeContent::Directory(path) => keys(context.file, &path, depth),
            TreeContent::Table(key, _) => self.columns(at, &key, depth, context),
            // Columns come with their table.
            _ => return,
        };
        let below = below.unwrap_or_else(|error| vec![TreeNode::problem(depth, &error.to_string())]);
        self.forget_positions();
        self.nodes.splice(at + 1..at + 1, below);
    }

    fn columns(
        &mut self,
        at: usize,
        key: &FileKey,
        depth: usize,
        context: &Context<'_>,
    ) -> Result<Vec<TreeNode>> {
        let table = context.host.table(context.file, &named(key))?;
        let position = self.tables.len();
        let mut depths: HashMap<u32, usize> = HashMap::new();
        let mut nodes = Vec::new();
        for (field, of) in (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part) {
            let depth = of.parent.and_then(|parent| depths.get(&parent)).map_or(depth, |depth| depth + 1);
            depths.insert(field, depth);
            nodes.push((depth, field, of));
        }
        let parents: HashSet<u32> = nodes.iter().filter_map(|(_, _, of)| of.parent).collect();
        let node = |(depth, field, of): &(usize, u32, &forthwith::plan::Field)| TreeNode {
            depth: *depth,
            label: human::clean(&of.name),
            path: of.path.clone(),
            kind: String::new(),
            bytes: None,
            content: TreeContent::Column {
                table: position,
                field: *field,
                has_children: parents.contains(field),
                has_data: of.has_data,
            },
            is_open: false,
            is_loaded: true,
        };
        let nodes = nodes.iter().map(node).collect();
        self.tables.push(table);
        if let Some(TreeNode { content: TreeContent::Table(_, opened), .. }) = self.nodes.get_mut(at) {
            *opened = Some(position);
        }
        Ok(nodes)
    }

    /// Positions of nodes change when others are inserted.
    fn forget_positions(&mut self) {
        self.details.clear();
        self.details_job = None;
        self.described.clear();
    }

    /// Lists the nodes on the screen: below open ones, or matches of the filter with all above them.
    fn list(&mut self) {
        let at_cursor = self.shown.get(self.cursor).copied();
        self.shown.clear();
        if self.filter.is_empty() {
            let mut closed: Option<usize> = None;
            for (at, node) in self.nodes.iter().enumerate() {
                if closed.is_some_and(|depth| node.depth > depth) {
                    continue;
                }
                closed = (!node.is_open).then_some(node.depth);
                self.shown.push(at);
            }
        } else {
            let mut above: Vec<(usize, usize, bool)> = Vec::new();
            for (at, node) in self.nodes.iter().enumerate() {
                above.retain(|(depth, ..)| *depth < node.depth);
                let name = node.path.rsplit('/').next().unwrap_or(&node.path);
                let matches = self.filter.matches(&node.path, name);
                if matches {
                    let missing = above.iter_mut().filter(|(_, _, shown)| !*shown);
                    missing.for_each(|(_, at, shown)| {
                        *shown = true;
                        self.shown.push(*at);
                    });
                    self.shown.push(at);
                }
                above.push((node.depth, at, matches));
            }
        }
        let found = at_cursor.and_then(|at| self.shown.binary_search(&at).ok());
        self.cursor = found.unwrap_or_else(|| self.cursor.min(self.shown.len().saturating_sub(1)));
    }

    /// Describes the columns on the screen as far as time allows, and reads details of the node at the cursor.
    /// Returns whether some are left to describe.
    pub(crate) fn prepare(&mut self, context: &mut Context<'_>, width: u16, height: u16) -> bool {
        self.height = usize::from(height).max(1);
        self.width = usize::from(width);
        self.top = scrolled(self.top as u64, self.cursor as u64, self.height) as usize;
        self.read_details(context);
        let begin = Instant::now();
        let page: Vec<usize> = self.shown.iter().skip(self.top).take(self.height).copied().collect();
        for at in page {
            let Some(TreeContent::Column { table, field, .. }) =
                self.nodes.get(at).map(|node| node.content.clone())
            else {
                continue;
            };
            if !self.described.insert(at) {
                continue;
            }
            let Some(of) = self.tables.get(table) else { continue };
            let described =
                if of.counts_blocks() { of.describe_first(field, COUNTED) } else { of.describe(field) };
            let Some(node) = self.nodes.get_mut(at) else { continue };
            match described {
                Ok(described) => {
                    node.kind = human::clean(&described.type_name);
                    node.bytes =
                        (!of.words().rows && described.stored_bytes > 0).then_some(described.stored_bytes);
                }
                Err(error) => node.kind = human::clean(&error.kind.to_string()),
            }
            if begin.elapsed() > BUDGET {
                return true;
            }
        }
        false
    }

    fn read_details(&mut self, context: &mut Context<'_>) {
        let Some((at, node)) = self.current() else { return };
        if self.details.contains_key(&at) || self.details_job.is_some_and(|(_, other)| other == at) {
            return;
        }
        let subject = match &node.content {
            TreeContent::Directory(path) => Subject::Directory(path.clone()),
            TreeContent::Table(key, opened) => {
                Subject::Table(key.clone(), opened.and_then(|at| self.tables.get(at).cloned()))
            }
            TreeContent::Column { table, field, has_data, .. } => match self.tables.get(*table) {
                Some(table) => Subject::Column(table.clone(), *field, *has_data),
                None => return,
            },
            TreeContent::Object(key) => Subject::Object(key.clone()),
            TreeContent::Problem => return,
        };
        self.close(context.jobs);
        if self.details.len() > KEPT {
            self.details.clear();
        }
        let host = std::sync::Arc::clone(context.host);
        let job = DetailsJob { subject, file: context.file.clone(), host, width: self.width };
        self.details_job = Some((context.jobs.start(Lane::Screen, job), at));
    }

    pub(crate) fn close(&mut self, jobs: &mut Jobs) {
        self.details_job.take().into_iter().for_each(|(ticket, _)| jobs.cancel(ticket));
    }

    pub(crate) fn take(&mut self, ticket: Ticket, answer: Answer) -> Option<Answer> {
        match self.details_job {
            Some((own, at)) if own == ticket => {
                let (Answer::Text(text) | Answer::Failed(text)) = answer else { return None };
                self.details.insert(at, text);
                self.details_job = None;
                None
            }
            _ => Some(answer),
        }
    }

    pub(crate) fn key(&mut self, key: Key, context: &mut Context<'_>) -> Act {
        if let Some(lines) = lines_moved(key, self.height) {
            self.go(lines);
            return Act::None;
        }
        match key {
            Key::Right | Key::Char('l') => self.unfold(context),
            Key::Left | Key::Char('h') => self.fold(),
            Key::Enter | Key::Char('v') => return self.enter(context),
            Key::Char('t') => return self.grid(None),
            Key::Char(' ' | 'm') => self.mark(),
            Key::Char('/') => return Act::Ask(Question::Names, self.filter.text().to_owned()),
            Key::Esc => {
                self.filter = NameFilter::default();
                self.marked.clear();
                self.list();
            }
            _ => {}
        }
        Act::None
    }

    pub(crate) fn go(&mut self, lines: i64) {
        self.cursor = moved(self.cursor as u64, lines, self.shown.len() as u64) as usize;
    }

    fn unfold(&mut self, context: &Context<'_>) {
        let Some((at, node)) = self.current() else { return };
        if node.content.opens() && !node.is_open {
            self.open(at, context);
            self.list();
        } else if node.content.opens() {
            self.go(1);
        }
    }

    fn fold(&mut self) {
        let Some((at, node)) = self.current() else { return };
        let depth = node.depth;
        if node.is_open && self.filter.is_empty() {
            self.nodes[at].is_open = false;
            self.list();
        } else if let Some(above) =
            self.shown[..self.cursor].iter().rposition(|at| self.nodes[*at].depth < depth)
        {
            self.cursor = above;
        }
    }

    /// Opens or closes a directory, and shows the values of a table or column, or an object.
    pub(crate) fn enter(&mut self, context: &mut Context<'_>) -> Act {
        let Some((at, node)) = self.current() else { return Act::None };
        match &node.content {
            TreeContent::Directory(_) if node.is_open => self.fold(),
            TreeContent::Directory(_) => self.unfold(context),
            TreeContent::Column { has_data: false, .. } if node.is_open => self.fold(),
            TreeContent::Column { has_data: false, .. } => self.unfold(context),
            TreeContent::Table(_, None) => {
                self.open(at, context);
                self.list();
                return self.grid(None);
            }
            TreeContent::Table(_, Some(_)) => return self.grid(None),
            TreeContent::Column { .. } => {
                let chosen = self.chosen().map(|(_, fields)| fields);
                return self.grid(chosen);
            }
            TreeContent::Object(key) => {
                let title = human::clean(&key.path);
                return match context.host.object(context.file, key, self.width) {
                    Ok(text) => Act::Text { title, text },
                    Err(why) => Act::Say(why),
                };
            }
            TreeContent::Problem => {}
        }
        Act::None
    }

    /// The values of the table at the cursor, or around it.
    fn grid(&self, columns: Option<Vec<u32>>) -> Act {
        let table = match self.current().map(|(_, node)| &node.content) {
            Some(TreeContent::Table(_, opened)) => *opened,
            Some(TreeContent::Column { table, .. }) => Some(*table),
            _ => None,
        };
        let Some(table) = table.and_then(|at| self.tables.get(at)) else { return Act::None };
        Act::Values(table.clone(), columns)
    }

    fn mark(&mut self) {
        if let Some((_, node)) = self.current()
            && let TreeContent::Column { table, field, has_data: true, .. } = node.content
        {
            if table != self.marked_table {
                self.marked.clear();
                self.marked_table = table;
            }
            toggle(&mut self.marked, field);
            self.go(1);
        }
    }

    /// Applies a filter while it is typed: the tables on the first level are opened for it.
    pub(crate) fn typed(&mut self, text: &str) {
        self.filter = NameFilter::new(text);
        self.list();
        let first = self.shown.iter().position(|at| {
            let node = &self.nodes[*at];
            self.filter.matches(&node.path, node.path.rsplit('/').next().unwrap_or(&node.path))
        });
        self.cursor = first.unwrap_or(0);
    }

    /// Puts the cursor on a line of the screen; on the second click there, the node is entered.
    pub(crate) fn click(&mut self, line: usize, context: &mut Context<'_>) -> Act {
        let at = self.top + line;
        if at >= self.shown.len() {
            return Act::None;
        }
        if at != self.cursor {
            self.cursor = at;
            return Act::None;
        }
        match self.current() {
            Some((_, node)) if node.content.opens() && node.is_open => self.fold(),
            Some((_, node)) if node.content.opens() => self.unfold(context),
            _ => return self.enter(context),
        }
        Act::None
    }

    /// Puts the cursor on an object of a path, with all above it open.
    pub(crate) fn find(&mut self, path: &str, context: &Context<'_>) {
        let mut end = 0;
        while let Some(next) =
            path[end..].find('/').map(|slash| end + slash).or((end < path.len()).then_some(path.len()))
        {
            let part = &path[..next];
            let is_meant = |node: &TreeNode| match &node.content {
                TreeContent::Directory(path) => path == part,
                TreeContent::Table(key, _) | TreeContent::Object(key) => {
                    key.path == part || named(key) == part
                }
                _ => false,
            };
            if let Some(at) = self.nodes.iter().position(is_meant) {
                self.open(at, context);
                self.list();
                self.cursor = self.shown.binary_search(&at).unwrap_or(self.cursor);
            }
            end = (next + 1).min(path.len());
        }
    }
}

impl TreeNode {
    fn problem(depth: usize, text: &str) -> Self {
        Self {
            depth,
            label: human::clean(text),
            path: String::new(),
            kind: String::new(),
            bytes: None,
            content: TreeContent::Problem,
            is_open: false,
            is_loaded: true,
        }
    }
}

/// The objects of a directory. Their paths begin at the top of the file.
fn keys(file: &File, directory: &str, depth: usize) -> Result<Vec<TreeNode>> {
    let mut keys = file.keys(directory, false)?;
    if !directory.is_empty() {
        keys.iter_mut().for_each(|key| key.path = format!("{directory}/{}", key.path));
    }
    let mut cycles: HashMap<String, u16> = HashMap::new();
    for key in &keys {
        let newest = cycles.entry(key.path.clone()).or_insert(key.cycle);
        *newest = key.cycle.max(*newest);
    }
    let node = |key: FileKey| {
        let is_old = cycles.get(&key.path).is_some_and(|newest| *newest > key.cycle);
        let name = if key.name.is_empty() { "table" } else { &key.name };
        let name = if is_old { format!("{name};{}", key.cycle) } else { name.to_owned() };
        TreeNode {
            depth,
            label: human::clean(&name),
            path: key.path.clone(),
            kind: human::clean(&key.class),
            bytes: (!key.is_table && !key.is_directory).then_some(key.stored_bytes),
            content: match () {
                () if key.is_directory => TreeContent::Directory(key.path),
                () if key.is_table || key.is_unsupported_table => TreeContent::Table(key, None),
                () => TreeContent::Object(key),
            },
            is_open: false,
            is_loaded: false,
        }
    };
    Ok(keys.into_iter().map(node).collect())
}
