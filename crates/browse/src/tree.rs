//! Tree of the directories, objects, tables and columns of a file.

use crate::{
    act::{Act, ChildrenOf, Context, Question},
    answers::{Answer, NodeDescription},
    describe::DescribeJob,
    details::{DetailsJob, Subject},
    host::Host,
    input::{Key, lines_moved, moved, scrolled, toggle},
    jobs::{Jobs, Lane, Ticket},
    name_filter::NameFilter,
    tree_node::{ChildNodes, Children, NodeId, TreeContent, TreeNode, keys, named},
};
use forthwith::{File, Table, plan::Result};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Maximum number of nodes whose details are cached.
const KEPT: usize = 256;

/// Tree with a cursor.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) tables: Vec<Table>,
    /// Indexes of the nodes that are shown.
    pub(crate) shown: Vec<usize>,
    pub(crate) filter: NameFilter,
    pub(crate) cursor: usize,
    pub(crate) top: usize,
    height: usize,
    /// Marked columns of the table `marked_table`.
    pub(crate) marked: Vec<u32>,
    marked_table: usize,
    details: HashMap<NodeId, String>,
    details_job: Option<(Ticket, NodeId)>,
    described: HashSet<NodeId>,
    /// Job that describes columns, and their nodes.
    describing: Option<(Ticket, HashSet<NodeId>)>,
    width: usize,
    last_id: NodeId,
}

impl Tree {
    /// Reads the top level of a file, and opens a table if it is the only one there. Moves the cursor to the
    /// object at `path` and opens all nodes above it.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub(crate) fn read(host: &dyn Host, file: &File, path: &str) -> Result<Self> {
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
            describing: None,
            width: 80,
            last_id: 0,
        };
        tree.insert(0, keys(file, "", 0)?);
        let mut tables =
            (0..).zip(&tree.nodes).filter(|(_, node)| matches!(node.content, TreeContent::Table(..)));
        if let (Some((at, _)), None) = (tables.next(), tables.next()) {
            tree.load(at, host, file);
            tree.cursor = at;
        }
        tree.list();
        tree.find(path, host, file);
        Ok(tree)
    }

    /// Returns the index and the node at the cursor.
    pub(crate) fn current(&self) -> Option<(usize, &TreeNode)> {
        let at = *self.shown.get(self.cursor)?;
        Some((at, self.nodes.get(at)?))
    }

    /// Returns the details of the node at the cursor, if they were read.
    pub(crate) fn details(&self) -> Option<&str> {
        self.details.get(&self.current()?.1.id).map(String::as_str)
    }

    /// Returns the table and the column at the cursor.
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

    /// Returns the marked columns of a table, or the column at the cursor.
    pub(crate) fn chosen(&self) -> Option<(&Table, Vec<u32>)> {
        if !self.marked.is_empty() {
            return Some((self.tables.get(self.marked_table)?, self.marked.clone()));
        }
        self.column().map(|(table, field)| (table, vec![field]))
    }

    /// Opens a node and requests its children unless they were read. With `enters`, its values are shown
    /// afterwards.
    fn read_children(&mut self, at: usize, enters: bool) -> Act {
        let Some(node) = self.nodes.get_mut(at) else { return Act::None };
        node.is_open = true;
        if node.children == Children::Read || (node.children == Children::Pending && !enters) {
            self.list();
            return Act::None;
        }
        node.children = Children::Pending;
        Act::Children(ChildrenOf {
            node: node.id,
            depth: node.depth + 1,
            content: node.content.clone(),
            label: node.label.clone(),
            enters,
        })
    }

    /// Opens a node and reads its children immediately.
    fn load(&mut self, at: usize, host: &dyn Host, file: &File) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.is_open = true;
        if node.children == Children::Unread {
            let (id, children) = (node.id, ChildNodes::read(host, file, &node.content, node.depth + 1));
            self.adopt(id, children);
        }
    }

    /// Adds the children that were read for a node.
    pub(crate) fn adopt(&mut self, node: NodeId, children: ChildNodes) {
        let Some(at) = self.position(node) else { return };
        if self.nodes[at].children == Children::Read {
            return;
        }
        let at_cursor = self.current().map(|(_, node)| node.id);
        let ChildNodes { mut nodes, table } = children;
        self.nodes[at].children = Children::Read;
        if let Some(opened) = table {
            let position = self.tables.len();
            self.tables.push(opened);
            for node in &mut nodes {
                if let TreeContent::Column { table, .. } = &mut node.content {
                    *table = position;
                }
            }
            if let TreeContent::Table(_, table) = &mut self.nodes[at].content {
                *table = Some(position);
            }
            // The details of an open table differ from those before.
            self.details.remove(&node);
        }
        self.insert(at + 1, nodes);
        self.list_around(at_cursor);
    }

    /// Closes a node whose request was cancelled.
    pub(crate) fn give_up(&mut self, node: NodeId) {
        if let Some(at) = self.position(node)
            && self.nodes[at].children == Children::Pending
        {
            (self.nodes[at].children, self.nodes[at].is_open) = (Children::Unread, false);
            self.list();
        }
    }

    fn insert(&mut self, at: usize, mut nodes: Vec<TreeNode>) {
        for node in &mut nodes {
            self.last_id += 1;
            node.id = self.last_id;
        }
        self.nodes.splice(at..at, nodes);
    }

    fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|other| other.id == node)
    }

    /// Lists the nodes to show: those below open nodes, or the matches of the filter with all nodes above
    /// them.
    fn list(&mut self) {
        self.list_around(self.current().map(|(_, node)| node.id));
    }

    /// Lists nodes as [`list`](Self::list) does, with the cursor on a node if it is shown.
    fn list_around(&mut self, at_cursor: Option<NodeId>) {
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
        let found = at_cursor.and_then(|id| self.shown.iter().position(|at| self.nodes[*at].id == id));
        self.cursor = found.unwrap_or_else(|| self.cursor.min(self.shown.len().saturating_sub(1)));
    }

    /// Requests the types of the columns on the screen, and details of the node at the cursor.
    pub(crate) fn prepare(&mut self, context: &mut Context<'_>, width: u16, height: u16) {
        self.height = usize::from(height).max(1);
        self.width = usize::from(width);
        self.top = scrolled(self.top as u64, self.cursor as u64, self.height) as usize;
        self.read_details(context);
        let page = self.shown.iter().skip(self.top).take(self.height);
        let columns = page.filter_map(|at| {
            let node = self.nodes.get(*at)?;
            match node.content {
                TreeContent::Column { table, field, .. } if !self.described.contains(&node.id) => {
                    Some((node.id, self.tables.get(table)?.clone(), field))
                }
                _ => None,
            }
        });
        let columns: Vec<_> = columns.collect();
        let is_asked =
            |node: &NodeId| self.describing.as_ref().is_some_and(|(_, pending)| pending.contains(node));
        if columns.iter().all(|(node, ..)| is_asked(node)) {
            return;
        }
        self.describing.take().into_iter().for_each(|(ticket, _)| context.jobs.cancel(ticket));
        let nodes = columns.iter().map(|(node, ..)| *node).collect();
        self.describing = Some((context.jobs.start(Lane::Screen, DescribeJob::new(columns)), nodes));
    }

    fn describe(&mut self, found: Vec<NodeDescription>) {
        for NodeDescription { node, kind, bytes } in found {
            self.described.insert(node);
            if let Some(node) = self.nodes.iter_mut().find(|other| other.id == node) {
                (node.kind, node.bytes) = (kind, bytes);
            }
        }
    }

    fn read_details(&mut self, context: &mut Context<'_>) {
        let Some((_, node)) = self.current() else { return };
        let id = node.id;
        if self.details.contains_key(&id) || self.details_job.is_some_and(|(_, other)| other == id) {
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
        self.details_job.take().into_iter().for_each(|(ticket, _)| context.jobs.cancel(ticket));
        if self.details.len() > KEPT {
            self.details.clear();
        }
        let host = Arc::clone(context.host);
        let job = DetailsJob { subject, file: context.file.clone(), host, width: self.width };
        self.details_job = Some((context.jobs.start(Lane::Details, job), id));
    }

    pub(crate) fn close(&mut self, jobs: &mut Jobs) {
        let (details, describing) = (self.details_job.take(), self.describing.take());
        let tickets = [details.map(|(ticket, _)| ticket), describing.map(|(ticket, _)| ticket)];
        tickets.into_iter().flatten().for_each(|ticket| jobs.cancel(ticket));
    }

    pub(crate) fn take(&mut self, ticket: Ticket, answer: Answer) -> Option<Answer> {
        if let Some((own, id)) = self.details_job
            && own == ticket
        {
            if let Answer::Text(text) | Answer::Failed(text) = answer {
                self.details.insert(id, text);
                self.details_job = None;
            }
            return None;
        }
        match &self.describing {
            Some((own, nodes)) if *own == ticket => {
                match answer {
                    Answer::Described(found) => self.describe(found),
                    // Columns that cannot be described are not requested again.
                    _ => self.described.extend(nodes),
                }
                None
            }
            _ => Some(answer),
        }
    }

    pub(crate) fn key(&mut self, key: Key) -> Act {
        if let Some(lines) = lines_moved(key, self.height) {
            self.go(lines);
            return Act::None;
        }
        match key {
            Key::Right | Key::Char('l') => return self.unfold(),
            Key::Left | Key::Char('h') => self.fold(),
            Key::Enter | Key::Char('v') => return self.enter(),
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

    fn unfold(&mut self) -> Act {
        let Some((at, node)) = self.current() else { return Act::None };
        if node.content.opens() && !node.is_open {
            return self.read_children(at, false);
        }
        if node.content.opens() {
            self.go(1);
        }
        Act::None
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

    /// Opens or closes a directory, or shows the values of a table or column, or an object.
    pub(crate) fn enter(&mut self) -> Act {
        let Some((at, node)) = self.current() else { return Act::None };
        match &node.content {
            TreeContent::Directory(_) if node.is_open => self.fold(),
            TreeContent::Directory(_) => return self.unfold(),
            TreeContent::Column { has_data: false, .. } if node.is_open => self.fold(),
            TreeContent::Column { has_data: false, .. } => return self.unfold(),
            TreeContent::Table(_, None) => return self.read_children(at, true),
            TreeContent::Table(_, Some(_)) => return self.grid(None),
            TreeContent::Column { .. } => {
                let chosen = self.chosen().map(|(_, fields)| fields);
                return self.grid(chosen);
            }
            TreeContent::Object(key) => return Act::Object(key.clone(), self.width),
            TreeContent::Problem => {}
        }
        Act::None
    }

    /// Shows the values of the table at the cursor, or of the table of the column there.
    fn grid(&self, columns: Option<Vec<u32>>) -> Act {
        let table = match self.current().map(|(_, node)| &node.content) {
            Some(TreeContent::Table(_, opened)) => *opened,
            Some(TreeContent::Column { table, .. }) => Some(*table),
            _ => None,
        };
        let Some(table) = table.and_then(|at| self.tables.get(at)) else { return Act::None };
        Act::Values(table.clone(), columns)
    }

    /// Shows the values of the table of a node, if it was opened.
    pub(crate) fn values_of(&self, node: NodeId) -> Act {
        let node = self.position(node).and_then(|at| self.nodes.get(at));
        let table = match node.map(|node| &node.content) {
            Some(TreeContent::Table(_, Some(table))) => self.tables.get(*table),
            _ => None,
        };
        table.map_or(Act::None, |table| Act::Values(table.clone(), None))
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

    /// Applies a filter while it is typed.
    pub(crate) fn typed(&mut self, text: &str) {
        self.filter = NameFilter::new(text);
        self.list();
        let first = self.shown.iter().position(|at| {
            let node = &self.nodes[*at];
            self.filter.matches(&node.path, node.path.rsplit('/').next().unwrap_or(&node.path))
        });
        self.cursor = first.unwrap_or(0);
    }

    /// Moves the cursor to a line of the screen; a second click opens the node.
    pub(crate) fn click(&mut self, line: usize) -> Act {
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
            Some((_, node)) if node.content.opens() => return self.unfold(),
            _ => return self.enter(),
        }
        Act::None
    }

    fn find(&mut self, path: &str, host: &dyn Host, file: &File) {
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
                self.load(at, host, file);
                self.list();
                self.cursor = self.shown.binary_search(&at).unwrap_or(self.cursor);
            }
            end = (next + 1).min(path.len());
        }
    }
}
