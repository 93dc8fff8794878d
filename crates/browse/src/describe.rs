//! Description of the columns on the screen.

use crate::{
    answers::{Answer, NodeDescription},
    human,
    jobs::Job,
    tree_node::NodeId,
};
use forthwith::Table;
use forthwith_platform::Instant;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Time between two answers.
const BUDGET: Duration = Duration::from_millis(5);
/// Number of entries up to which blocks are counted for a description.
const COUNTED: u64 = 4096;

/// Job that describes columns in order.
pub(crate) struct DescribeJob {
    columns: std::vec::IntoIter<(NodeId, Table, u32)>,
}

impl DescribeJob {
    pub(crate) fn new(columns: Vec<(NodeId, Table, u32)>) -> Self {
        Self { columns: columns.into_iter() }
    }
}

impl Job for DescribeJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        let begin = Instant::now();
        let mut found = Vec::new();
        for (node, table, field) in self.columns.by_ref() {
            found.push(describe(node, &table, field));
            if begin.elapsed() > BUDGET || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        (Answer::Described(found), !self.columns.as_slice().is_empty())
    }
}

fn describe(node: NodeId, table: &Table, field: u32) -> NodeDescription {
    let described =
        if table.counts_blocks() { table.describe_first(field, COUNTED) } else { table.describe(field) };
    match described {
        Ok(described) => {
            let is_known = !table.words().rows && described.stored_bytes > 0;
            let kind = human::clean(&described.type_name);
            NodeDescription { node, kind, bytes: is_known.then_some(described.stored_bytes) }
        }
        Err(error) => NodeDescription { node, kind: human::clean(&error.kind.to_string()), bytes: None },
    }
}
