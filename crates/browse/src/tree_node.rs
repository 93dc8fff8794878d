//! Nodes of the tree, and reading those below a node.

use crate::{host::Host, human};
use forthwith::{File, Key as FileKey, Table, plan::Result};
use std::collections::{HashMap, HashSet};

/// Names a node of a tree, wherever it stands.
pub(crate) type NodeId = u64;

/// A node of the tree.
pub(crate) struct TreeNode {
    /// 0 until it is put into a tree.
    pub(crate) id: NodeId,
    pub(crate) depth: usize,
    /// The name, safe to show.
    pub(crate) label: String,
    /// The path that filters match: of an object in the file, of a column in its table.
    pub(crate) path: String,
    /// The class of an object; the type of a column once it was described.
    pub(crate) kind: String,
    /// Stored bytes of an object, or of a column once it was described.
    pub(crate) bytes: Option<u64>,
    pub(crate) content: TreeContent,
    pub(crate) is_open: bool,
    pub(crate) children: Children,
}

/// Whether the nodes below a node were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    Unread,
    Pending,
    Read,
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

/// Nodes below a node, and the table if they are its columns.
pub(crate) struct ChildNodes {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) table: Option<Table>,
}

impl ChildNodes {
    /// Reads the nodes below a directory or a table. A failure is a node that says so.
    pub(crate) fn read(host: &dyn Host, file: &File, content: &TreeContent, depth: usize) -> Self {
        let read = match content {
            TreeContent::Directory(path) => keys(file, path, depth).map(|nodes| (nodes, None)),
            TreeContent::Table(key, _) => {
                let table = host.table(file, &named(key));
                table.and_then(|table| Ok((columns(&table, depth)?, Some(table))))
            }
            // Columns come with their table, and nothing is below the others.
            _ => Ok((Vec::new(), None)),
        };
        match read {
            Ok((nodes, table)) => Self { nodes, table },
            Err(error) => {
                let label = human::clean(&error.to_string());
                let node = TreeNode::new(depth, label, String::new(), TreeContent::Problem, Children::Read);
                Self { nodes: vec![node], table: None }
            }
        }
    }
}

impl TreeNode {
    const fn new(
        depth: usize,
        label: String,
        path: String,
        content: TreeContent,
        children: Children,
    ) -> Self {
        Self {
            id: 0,
            depth,
            label,
            path,
            kind: String::new(),
            bytes: None,
            content,
            is_open: false,
            children,
        }
    }
}

/// The columns of a table, whose position among the opened ones is not known yet.
fn columns(table: &Table, depth: usize) -> Result<Vec<TreeNode>> {
    let mut depths: HashMap<u32, usize> = HashMap::new();
    let mut nodes = Vec::new();
    for (field, of) in (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part) {
        let depth = of.parent.and_then(|parent| depths.get(&parent)).map_or(depth, |depth| depth + 1);
        depths.insert(field, depth);
        nodes.push((depth, field, of));
    }
    let parents: HashSet<u32> = nodes.iter().filter_map(|(_, _, of)| of.parent).collect();
    let node = |(depth, field, of): &(usize, u32, &forthwith::plan::Field)| {
        let content = TreeContent::Column {
            table: 0,
            field: *field,
            has_children: parents.contains(field),
            has_data: of.has_data,
        };
        TreeNode::new(*depth, human::clean(&of.name), of.path.clone(), content, Children::Read)
    };
    Ok(nodes.iter().map(node).collect())
}

/// The objects of a directory. Their paths begin at the top of the file.
pub(crate) fn keys(file: &File, directory: &str, depth: usize) -> Result<Vec<TreeNode>> {
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
        let (kind, path) = (human::clean(&key.class), key.path.clone());
        let bytes = (!key.is_table && !key.is_directory).then_some(key.stored_bytes);
        let content = match () {
            () if key.is_directory => TreeContent::Directory(key.path),
            () if key.is_table || key.is_unsupported_table => TreeContent::Table(key, None),
            () => TreeContent::Object(key),
        };
        let children = if content.opens() { Children::Unread } else { Children::Read };
        TreeNode { kind, bytes, ..TreeNode::new(depth, human::clean(&name), path, content, children) }
    };
    Ok(keys.into_iter().map(node).collect())
}

/// The name that opens an object.
pub(crate) fn named(key: &FileKey) -> String {
    if key.path.is_empty() { String::new() } else { format!("{};{}", key.path, key.cycle) }
}
