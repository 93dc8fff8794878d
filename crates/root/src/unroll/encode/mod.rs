//! Values of an unrolled layout as ROOT stores them: what programs read, written.
//!
//! Objects are written in the first version that a layout has, which is the latest that the file describes, and items of
//! containers one after the other. ROOT reads both whatever the rest of a branch has.
//!
//! `bind.rs` finds the columns of a layout, `node.rs` appends rows of what was found, and `written.rs` says what of a layout
//! can be written, and in which version.

mod bind;
mod node;
mod written;

use std::collections::HashMap;
use std::ops::Range;

use forthwith_columns::{Array, Form, Lookup};
use forthwith_plan::Result;
use forthwith_program::Layout;

use crate::class::Layouts;
use bind::Binder;
pub use node::store_numbers;
use node::{CONTAINER, Node, changed, frame, span};
pub use written::{check, has_objects, is_counted_elsewhere};

/// Columns bound to the layout that they are written in.
#[derive(Debug)]
pub struct Encoder<'a> {
    node: Node<'a>,
}

impl<'a> Encoder<'a> {
    /// Binds the first `rows` rows of a part of an array to a layout. `form` is the Form of that part. The caller has
    /// validated the array.
    ///
    /// # Errors
    /// A layout that can be read only; columns of another type; lists of another length than a member says that
    /// counts them.
    pub fn new(layout: &Layout, file: &Layouts, form: &Form, array: &'a Array, rows: u64) -> Result<Self> {
        let mut binder = Binder { file, columns: Lookup::of(array), counters: HashMap::new() };
        Ok(Self { node: binder.node(layout, form, rows)? })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// More bytes in a frame, or items in a list, than ROOT can count; memory that was changed by others.
    pub fn row(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.node.append(row, out)
    }

    /// Appends rows as items of one list that stand together, without their number.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    pub fn items(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match &self.node {
            Node::Framed { version, shared: true, of } => {
                frame(*version, out, |out| of.append_all(rows, out))
            }
            node => node.append_all(rows, out),
        }
    }

    /// Whether no two of some rows are equal.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn distinct(&self, rows: Range<usize>) -> Result<()> {
        self.node.distinct(rows)
    }

    /// Appends a row that is a container, within its frame; `unique` as [`unique`](Self::unique).
    ///
    /// # Errors
    /// As [`unique`](Self::unique).
    pub fn container(&self, row: usize, unique: bool, out: &mut Vec<u8>) -> Result<()> {
        frame(CONTAINER, out, |out| match unique {
            true => self.unique(row, out),
            false => self.row(row, out),
        })
    }

    /// Appends a row that is a list, in which no value may be twice, and no first value of pairs.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn unique(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut node = &self.node;
        while let Node::Framed { of, .. } = node {
            node = of;
        }
        if let Node::List { offsets, items, item, .. } = node {
            let key = match &**item {
                Node::Record(pair) => pair.first().unwrap_or(item),
                item => item,
            };
            key.distinct(span(offsets, row, *items).ok_or_else(changed)?)?;
        }
        self.node.append(row, out)
    }
}
