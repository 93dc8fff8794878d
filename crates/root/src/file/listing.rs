//! Listing of all objects in a file, with one read for each level of directories.

use std::collections::HashSet;
use std::sync::Arc;

use forthwith_plan::Result;

use super::directory::{Directory, Found};
use crate::record::Key;

/// A directory to list, and the nodes of its subdirectories by the index of their keys.
struct Node {
    directory: Directory,
    keys: Arc<[Key]>,
    children: Vec<(usize, usize)>,
}

impl Directory {
    /// Returns every key of this directory and its subdirectories, each after that of its directory, with its
    /// path relative to this directory (`dir/sub/name`, without a cycle). All directories of a level are read
    /// at once. A directory that contains itself is listed, but not entered again.
    ///
    /// # Errors
    /// Returns an error if a directory's record or list of keys cannot be read.
    pub fn keys_recursive(&self) -> Result<Vec<Found>> {
        list(self)
    }
}

fn list(top: &Directory) -> Result<Vec<Found>> {
    let mut nodes = vec![Node { directory: top.clone(), keys: top.keys()?, children: Vec::new() }];
    // No record is entered twice, as directories of a file may form any graph.
    let mut entered = HashSet::from([top.contents.record.seek_directory]);
    let mut level = 0..1;
    while !level.is_empty() {
        let mut wanted = Vec::new();
        for node in level.clone() {
            for (index, key) in nodes[node].keys.iter().enumerate() {
                if key.is_directory() && entered.insert(key.seek) {
                    wanted.push((node, index));
                }
            }
        }
        let next = nodes.len();
        let keys: Vec<&Key> = wanted.iter().map(|&(node, index)| &nodes[node].keys[index]).collect();
        let contents = top.file.load_directories(&keys)?;
        top.file.load_keys(&contents.iter().map(|contents| &**contents).collect::<Vec<_>>())?;
        for ((node, index), contents) in wanted.into_iter().zip(contents) {
            let parent = &nodes[node];
            let path = parent.directory.join(&parent.keys[index].name).into();
            let directory = Directory { file: top.file.clone(), path, contents };
            let child = Node { keys: directory.keys()?, directory, children: Vec::new() };
            let number = nodes.len();
            nodes[node].children.push((index, number));
            nodes.push(child);
        }
        level = next..nodes.len();
    }
    Ok(flatten(&nodes))
}

/// Returns each key, followed by those of its directory. Without recursion, as a file determines the depth.
fn flatten(nodes: &[Node]) -> Vec<Found> {
    let mut found = Vec::with_capacity(nodes.iter().map(|node| node.keys.len()).sum());
    // (node, next key, next child)
    let mut open = vec![(0, 0, 0)];
    while let Some((node, index, child)) = open.pop() {
        let here = &nodes[node];
        let Some(key) = here.keys.get(index) else { continue };
        found.push(Found { path: here.directory.join(&key.name), key: key.clone() });
        match here.children.get(child) {
            Some(&(at, below)) if at == index => {
                open.push((node, index + 1, child + 1));
                open.push((below, 0, 0));
            }
            _ => open.push((node, index + 1, child)),
        }
    }
    found
}
