//! Baskets that a walk over records found, by tree and branch.

use crate::record::Key;
use std::collections::HashMap;

/// Position of a basket, with numbers of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasketPlace {
    /// Offset of the record.
    pub at: u64,
    /// Length of the record.
    pub length: u64,
    /// Length of the key, with the basket's header.
    pub key_length: u16,
    /// Lower 16 bits of its index in the branch, which ROOT stores as the cycle.
    pub number: u16,
    /// Time of writing in ROOT's packed form, which is monotonic.
    pub written: u32,
}

/// Positions of the baskets of a tree's branches, by name.
pub type BranchBaskets = HashMap<String, Vec<BasketPlace>>;

/// Baskets by the directory and the name of their tree.
#[derive(Debug, Default)]
pub(crate) struct FoundBaskets {
    trees: HashMap<u64, HashMap<String, BranchBaskets>>,
}

impl FoundBaskets {
    /// Adds the basket of a key.
    pub(crate) fn push(&mut self, key: &Key, length: u64) {
        let place = BasketPlace {
            at: key.seek,
            length,
            key_length: key.keylen,
            number: key.cycle,
            written: key.datime.0,
        };
        let (tree, branch): (&str, &str) = (&key.title, &key.name);
        let trees = self.trees.entry(key.seek_directory).or_default();
        // Many baskets share a name.
        let branches = match trees.get_mut(tree) {
            Some(branches) => branches,
            None => trees.entry(tree.to_owned()).or_default(),
        };
        match branches.get_mut(branch) {
            Some(places) => places.push(place),
            None => drop(branches.insert(branch.to_owned(), vec![place])),
        }
    }

    /// Returns the baskets of a tree in a directory.
    pub(crate) fn of(&self, directory: u64, tree: &str) -> Option<&BranchBaskets> {
        self.trees.get(&directory)?.get(tree)
    }
}
