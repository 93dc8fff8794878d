//! Nodes of the tree, and reading of their children.

use crate::{host::Host, human};
use forthwith::{File, Key as FileKey, Table, plan::Result};
use std::collections::{HashMap, HashSet};

/// Identifier of a node, independent of its position.
pub(crate) type NodeId = u64;

/// Node of the tree.
pub(crate) struct TreeNode {
    /// Identifier; 0 until the node is added to a tree.
    pub(crate) id: NodeId,
    pub(crate) depth: usize,
    /// Name, safe to show.
    pub(crate) label: String,
    /// Path that filters match: of an object in the file, or of a column in its table.
    pub(crate) path: String,
    /// Class of an object, or type of a column once it was described.
    pub(crate) kind: String,
    /// Stored size in bytes of an object, or of a column once it was described.
    pub(crate) bytes: Option<u64>,
    pub(crate) content: TreeContent,
    pub(crate) is_open: bool,
    pub(crate) children: Children,
}

/// State of the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    Unread,
    Pending,
    Read,
}

/// Content of a node.
#[derive(Clone)]
pub(crate) enum TreeContent {
    /// Directory with its path.
    Directory(String),
    /// Table, and its index among the opened tables once it is open.
    Table(FileKey, Option<usize>),
    /// Column of an opened table.
    Column {
        /// Index of the table.
        table: usize,
        /// Index of the column among the fields of the table.
        field: u32,
        /// Whether the column has child columns.
        has_children: bool,
        /// Whether the column has values of its own.
        has_data: bool,
    },
    /// Other object.
    Object(FileKey),
    /// Reason why the children of the parent could not be read.
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

/// Children of a node, and the opened table if they are its columns.
pub(crate) struct ChildNodes {
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) table: Option<Table>,
}

impl ChildNodes {
    /// Reads the children of a directory or a table. An error becomes a node with its message.
    pub(crate) fn read(host: &dyn Host, file: &File, content: &TreeContent, depth: usize) -> Self {
        let read = match content {
            TreeContent::Directory(path) => keys(file, path, depth).map(|nodes| (nodes, None)),
            TreeContent::Table(key, _) => {
                let table = host.table(file, &named(key));
                table.and_then(|table| Ok((columns(&table, depth)?, Some(table))))
            }
            // Columns are read with their table, and other nodes have no children.
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

/// Returns nodes for the columns of a table. The index of the table is set later.
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

/// Returns nodes for the objects of a directory, with paths from the top level of the file.
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

/// Returns the name by which an object is opened.
pub(crate) fn named(key: &FileKey) -> String {
    if key.path.is_empty() { String::new() } else { format!("{};{}", key.path, key.cycle) }
}
