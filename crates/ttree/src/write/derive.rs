//! Derives columns from the branches of an existing tree, and how to store more entries of these.
//!
//! A branch is written as it is read: numbers by the kernel that reads them, and other values by the layout
//! from which the reading program was translated ([`Encoder`](forthwith_root::unroll::Encoder)).

use std::collections::{HashMap, HashSet};

use super::{
    branch::{Branch, Leaf, LeafKind, Rule, Source, Step, Stored},
    mapping::{Branches, Counted},
};
use crate::{
    columns::{Laid, member_name},
    copy::compression_of,
    metadata,
    tree::Tree,
};
use forthwith_columns::{Encoding, Form, LogicalType, MAP};
use forthwith_plan::{Dataset, Decoder, Error, ErrorKind, Kernel, Result};
use forthwith_program::Layout;
use forthwith_root::unroll;
use std::sync::Arc;

/// Returns the columns of a tree with their Forms, and its branches by index. Counters of other branches are
/// not columns, nor are the members of `TObject` in ROOT's own classes, which are written as for a new
/// object.
///
/// # Errors
/// Returns an error if a branch cannot be written.
pub(super) fn columns(tree: &Tree) -> Result<(Vec<(String, Form)>, Branches)> {
    let mut walk = Walk { tree, counters: counters(tree)?, column: 0, into: Branches::default() };
    let fields = tree.fields()?;
    for number in 0..fields.len() as u32 {
        let branch = tree.branch(number)?;
        walk.into.branches.push(Branch {
            compression: compression_of(&branch),
            ..Branch::new(&branch.field.name, &branch.field.title)
        });
    }
    let top = fields.iter().filter(|field| field.parent.is_none());
    let names: HashSet<&str> = top.map(|field| field.name.as_str()).collect();
    let mut columns: Vec<(String, Form)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for (number, field) in (0..).zip(fields).filter(|(_, field)| field.parent.is_none()) {
        let form = walk.value(number, &mut Vec::new(), false);
        let form = form.map_err(|e| e.in_object(&format!("{}/{}", tree.object(), field.path)))?;
        let Some(form) = form else { continue };
        let short = field.name.trim_end_matches('.');
        let name = if field.has_children && !names.contains(short) { short } else { &field.name };
        if !known.insert(name) {
            return Err(refused(format!("two branches named {name:?}")));
        }
        columns.push((name.to_owned(), form));
        walk.column += 1;
    }
    for (place, owner) in &walk.counters {
        if walk.into.branches[*owner as usize].source.is_none() {
            return Err(refused(format!("a branch that counts items of no other (leaf at byte {place})")));
        }
    }
    Ok((columns, walk.into))
}

/// Returns the branches whose leaves count the items of other branches, by the offsets of these leaves.
fn counters(tree: &Tree) -> Result<HashMap<usize, u32>> {
    let owners: HashMap<usize, u32> = tree.metadata.leaf_places().collect();
    let mut counters = HashMap::new();
    for number in 0..tree.fields()?.len() as u32 {
        let branch = tree.branch(number)?;
        if branch.class != "TBranch" {
            continue;
        }
        for place in branch.leaves()?.into_iter().filter_map(|leaf| leaf.counter) {
            // A counter in the same branch is a member of it.
            if let Some(owner) = owners.get(&place).filter(|owner| **owner != number) {
                if tree.branch(*owner)?.class != "TBranch" {
                    let error = refused("an array that a member of an object counts");
                    return Err(error.in_object(&format!("{}/{}", tree.object(), branch.field.path)));
                }
                counters.insert(place, *owner);
            }
        }
    }
    Ok(counters)
}

struct Walk<'t> {
    tree: &'t Tree,
    counters: HashMap<usize, u32>,
    /// Index of the current column.
    column: usize,
    into: Branches,
}

impl Walk<'_> {
    /// Returns the Form of a branch at `path` or, with `items`, of one item. Returns `None` if its values
    /// follow from those of other branches.
    fn value(&mut self, number: u32, path: &mut Vec<Step>, items: bool) -> Result<Option<Form>> {
        let branch = self.tree.branch(number)?;
        if !branch.field.has_children {
            return self.leaf(number, &branch, path, items);
        }
        let member = branch.member.as_ref();
        let is_collection = member.is_some_and(|member| matches!(member.kind, 3 | 4));
        if (branch.field.has_data && !is_collection) || (is_collection && items) {
            return Err(refused(format!("a {} with branches below it and values of its own", branch.class)));
        }
        if is_collection {
            let is_read = self.tree.describe(number)?.reading.is_ok();
            if !is_read || branch.class != "TBranchElement" {
                return Err(refused(format!("a divided {}", branch.class)));
            }
            path.push(Step::Items);
            let stored = if branch.entry_offset_len == 0 { Stored::Counts } else { Stored::Counted };
            self.put(number, path, stored, 4);
        }
        let mut record = (Vec::new(), Vec::new());
        let prefix = branch.field.name.trim_end_matches('.');
        let done = self.members(number, path, items || is_collection, prefix, &mut record);
        if is_collection {
            path.pop();
        }
        done?;
        let (names, contents) = record;
        let class = member.map(|member| member.class.as_str()).unwrap_or_default();
        let is_map = class.split('<').next().is_some_and(|kind| kind.ends_with("map"));
        if is_collection && is_map && Rule::of(class) == Rule::Distinct {
            let keys = [path.as_slice(), &[Step::Items, Step::Field(0)]].concat();
            self.distinct(keys, contents.first())?;
        }
        let record = match is_collection && is_map {
            true => Form::Record { fields: None, contents, name: Some(MAP.into()) },
            false => Form::Record { fields: Some(names), contents, name: self.class_of(number) },
        };
        Ok(Some(match is_collection {
            true => Form::List { key: "items".into(), content: Box::new(record) },
            false => record,
        }))
    }

    /// Adds a check that the keys of a map, which have this Form, are distinct.
    fn distinct(&mut self, path: Vec<Step>, form: Option<&Form>) -> Result<()> {
        let layout = match form {
            Some(Form::Numpy { dtype, shape, .. }) if shape.is_empty() => {
                Layout::Number(Encoding::Big(*dtype))
            }
            Some(Form::String { .. }) => Layout::Text,
            _ => return Err(refused("a divided map whose keys are neither numbers nor text")),
        };
        let stored = self.laid(Laid { layout, to_end: false, framed: false }.into(), true, Rule::Distinct)?;
        self.into.keys.push(self.source(&path, stored));
        Ok(())
    }

    /// Adds to a record the members that have branches of their own. The members of base classes are among
    /// them.
    fn members(
        &mut self,
        number: u32,
        path: &mut Vec<Step>,
        items: bool,
        prefix: &str,
        record: &mut (Vec<String>, Vec<Form>),
    ) -> Result<()> {
        let fields = self.tree.fields()?;
        for (below, field) in (0..).zip(fields).filter(|(_, field)| field.parent == Some(number)) {
            let branch = self.tree.branch(below)?;
            let is_base = branch.member.as_ref().is_some_and(|member| member.kind == 1);
            if is_base && field.has_children {
                self.members(below, path, items, prefix, record)?;
                continue;
            }
            path.push(Step::Field(record.0.len()));
            let form = self.value(below, path, items);
            path.pop();
            let Some(form) = form? else { continue };
            // Members of members without a branch have both names, unlike members of base classes.
            let plain = field.name.split('[').next().unwrap_or_default().trim_end_matches('.');
            let inner = plain.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            let mut name = inner.unwrap_or_else(|| member_name(&field.name)).to_owned();
            if record.0.contains(&name) {
                name = format!("{}.{name}", member_name(&fields[number as usize].name));
            }
            if record.0.contains(&name) {
                return Err(refused(format!("an object with two members {name:?}")));
            }
            record.0.push(name);
            record.1.push(form);
        }
        Ok(())
    }

    /// Returns the class whose members are the children of a branch.
    fn class_of(&self, number: u32) -> Option<String> {
        let fields = self.tree.fields().ok()?;
        let (below, _) = (0..).zip(fields).find(|(_, field)| field.parent == Some(number))?;
        self.tree.branch(below).ok()?.member.map(|member| member.class)
    }

    /// Returns the Form of a branch without children.
    fn leaf(
        &mut self,
        number: u32,
        branch: &metadata::Branch<'_>,
        path: &mut Vec<Step>,
        items: bool,
    ) -> Result<Option<Form>> {
        if branch.generates_offsets {
            return Err(refused("a branch that leaves the offsets of its entries out"));
        }
        let leaves = branch.leaves()?;
        if branch.class == "TBranch" && leaves.iter().any(|leaf| self.counters.contains_key(&leaf.place)) {
            return match &leaves[..] {
                [leaf] if leaf.class == "TLeafI" && leaf.len == 1 && leaf.counter.is_none() => Ok(None),
                _ => Err(refused("a branch whose leaves count items of others, and are not one of 32 bits")),
            };
        }
        let column = self.tree.layout(number)?;
        let reading = match &column.reading {
            Ok(reading) => reading,
            Err(reason) => return Err(refused(format!("a branch of {}: {reason}", column.type_name))),
        };
        let has_offsets = branch.entry_offset_len != 0;
        // The path of items ends with the step into them.
        let mut to_items = path.clone();
        if !items {
            to_items.push(Step::Items);
        }
        let name = member_name(&branch.field.name);
        let is_of_tobject = branch.member.as_ref().is_some_and(|member| member.class == "TObject");
        if is_of_tobject && OF_TOBJECT.contains(&name) && (has_offsets || !items) {
            let bytes = if name == "fBits" { NEW_BITS } else { [0; 4] };
            // Constants need only the lists on the path.
            let lists = path.iter().rposition(|step| *step == Step::Items).map_or(0, |at| at + 1);
            self.put(number, &path[..lists], Stored::Constant { bytes, items, offsets: has_offsets }, 4);
            return Ok(None);
        }
        let form = reading.form.clone();
        match (&reading.decoder, &column.laid) {
            (Decoder::Kernel(Kernel::Flat { wire, per_entry }), _) if !has_offsets && !items => {
                let size = per_entry.saturating_mul(wire.width() as u64);
                self.put_numbers(number, path, Stored::Fixed, *wire, size)?;
            }
            (Decoder::Kernel(Kernel::Flat { wire, per_entry }), _) if !items => {
                let numbers = Layout::Number(*wire);
                let layout = match &form {
                    Form::Numpy { shape, .. } => {
                        shape.iter().rev().fold(numbers, |of, size| Layout::Fixed(*size, Box::new(of)))
                    }
                    _ => return Err(refused(format!("{per_entry} numbers in an entry"))),
                };
                let laid = Laid { layout, to_end: false, framed: false };
                let stored = self.laid(laid.into(), true, Rule::Nothing)?;
                self.put(number, path, stored, 0);
            }
            (Decoder::Kernel(Kernel::Jagged { header: 0, wire, .. }), _) if has_offsets => {
                self.put_numbers(number, &to_items, Stored::Items, *wire, wire.width() as u64)?;
                if let Some(place) = column.counter {
                    self.count(place, &to_items)?;
                }
            }
            (Decoder::Kernel(Kernel::Jagged { header: 1, wire, .. }), _) if has_offsets && !items => {
                let laid = Laid { layout: Layout::Number(*wire), to_end: true, framed: false };
                let flagged = self.laid(laid.into(), true, Rule::Nothing)?;
                let flagged = Stored::Flagged(Box::new(flagged));
                self.put(number, &to_items, flagged.clone(), 0);
                self.counted_by(branch, &to_items, flagged)?;
            }
            (Decoder::Kernel(Kernel::Slots { size, .. }), Some(laid)) if !has_offsets => {
                let stored = self.laid(laid.clone(), false, Rule::Nothing)?;
                self.put(number, path, stored, entry_size(*size)?);
            }
            (_, Some(laid)) if laid.to_end == items => {
                let at = if items { &to_items } else { &*path };
                let size = laid.layout.fixed_bytes().filter(|_| !items);
                if !has_offsets && size.is_none() {
                    return Err(refused(format!(
                        "a branch of {} without offsets of its entries",
                        column.type_name
                    )));
                }
                let stored = match (&laid.layout, leaves.first()) {
                    (Layout::OrNothing(_), Some(leaf)) if leaf.class == "TLeafC" => {
                        Stored::Text { ends_at_nul: true }
                    }
                    _ => {
                        let laid = match branch.class {
                            "TBranchObject" => named(laid, branch)?,
                            _ => laid.clone(),
                        };
                        let rule = if items { Rule::Nothing } else { Rule::of(&column.type_name) };
                        self.laid(laid, has_offsets, rule)?
                    }
                };
                let at = at.clone();
                self.put(number, &at, stored.clone(), entry_size(size.unwrap_or(0))?);
                if unroll::is_counted_elsewhere(&laid.layout) {
                    let pointers = Stored::Flagged(Box::new(stored));
                    self.counted_by(branch, &[path.as_slice(), &[Step::Items]].concat(), pointers)?;
                }
                if leaves.len() > 1 {
                    self.counted_leaves(number, &leaves, path);
                }
            }
            _ => return Err(refused(format!("a branch of {}", column.type_name))),
        }
        let form = match LogicalType::of_title(&branch.field.title) {
            Some(times) => form.with_times(times),
            None => form,
        };
        match form {
            Form::List { content, .. } if items => Ok(Some(*content)),
            _ if items => Err(refused("a member of items that is not a list")),
            form => Ok(Some(form)),
        }
    }

    /// Returns the storage of entries of a layout, or an error if its values cannot be written.
    fn laid(&self, laid: Arc<Laid>, offsets: bool, rule: Rule) -> Result<Stored> {
        let layouts = &self.tree.layouts;
        let layout = unroll::written(&laid.layout, layouts);
        let layout = layout.map_err(|error| match error.kind {
            ErrorKind::Unsupported { what } => refused(format!("a branch, for want of {what}")),
            _ => error,
        })?;
        let layout = Arc::new(if laid.framed { unroll::container(layout) } else { layout });
        Ok(Stored::Laid { laid, layout, offsets, rule })
    }

    /// Sets the source of a branch's values. `size` is the size of an entry, if that is fixed.
    fn put(&mut self, number: u32, path: &[Step], stored: Stored, size: u32) {
        let source = self.source(path, stored);
        let branch = &mut self.into.branches[number as usize];
        let kind = LeafKind::Element { id: 0, kind: 0, size };
        branch.leaf = Some(Leaf::new(&branch.name, "", kind));
        branch.source = Some(source);
    }

    fn source(&self, path: &[Step], stored: Stored) -> Source {
        Source { column: self.column, path: path.to_vec(), stored, wire: None }
    }

    fn put_numbers(
        &mut self,
        number: u32,
        path: &[Step],
        stored: Stored,
        wire: Encoding,
        size: u64,
    ) -> Result<()> {
        let size = entry_size(size)?;
        self.put(number, path, stored, size);
        match wire {
            Encoding::Big(_) | Encoding::Bool => return Ok(()),
            Encoding::Widened | Encoding::Scaled { .. } | Encoding::Truncated { .. } => {}
            other => return Err(refused(format!("numbers stored as {other:?}"))),
        }
        let branch = &mut self.into.branches[number as usize];
        if let (Some(source), Some(leaf)) = (&mut branch.source, &mut branch.leaf) {
            source.wire = Some(wire);
            leaf.len = size / wire.width() as u32;
        }
        Ok(())
    }

    /// Makes the leaf at an offset the counter of lists.
    fn count(&mut self, place: usize, path: &[Step]) -> Result<()> {
        let Some(&owner) = self.counters.get(&place) else {
            return Err(refused("an array whose counter is not a branch of its own"));
        };
        let source = self.source(path, Stored::Counts);
        match self.into.branches[owner as usize].source {
            Some(_) => self.into.sharing.push((source, owner as usize)),
            None => self.put(owner, path, Stored::Counts, 4),
        }
        Ok(())
    }

    /// Adds the leaves of a branch that count others of it, and its strings, whose largest lengths are in the
    /// record.
    fn counted_leaves(&mut self, number: u32, leaves: &[metadata::Leaf<'_>], path: &[Step]) {
        let at = |steps: &[Step]| [path, steps].concat();
        for (counted, leaf) in leaves.iter().enumerate() {
            if let Some(counter) =
                leaves[..counted].iter().position(|other| leaf.counter == Some(other.place))
            {
                self.into.counted.push(Counted {
                    lists: self.source(&at(&[Step::Field(counted), Step::Items]), Stored::Counts),
                    numbers: self.source(&at(&[Step::Field(counter)]), Stored::Fixed),
                    branch: number as usize,
                    leaf: counter,
                });
            }
            if leaf.class == "TLeafC" {
                let text = self.source(&at(&[Step::Field(counted)]), Stored::Text { ends_at_nul: true });
                self.into.texts.push((text, number as usize, counted));
            }
        }
    }

    /// Adds a check that a number in another branch is the length of lists, or that these are empty.
    fn counted_by(&mut self, branch: &metadata::Branch<'_>, path: &[Step], stored: Stored) -> Result<()> {
        let depth = path[..path.len() - 1].iter().filter(|step| **step == Step::Items).count();
        let by = self.tree.counter_of_member(branch)?;
        let source = by.and_then(|by| Some((by as usize, self.into.branches[by as usize].source.clone()?)));
        match source {
            Some((branch, numbers))
                if numbers.column == self.column
                    && matches!(numbers.stored, Stored::Fixed | Stored::Items)
                    && numbers.path.iter().filter(|step| **step == Step::Items).count() == depth =>
            {
                let lists = self.source(path, stored);
                self.into.counted.push(Counted { lists, numbers, branch, leaf: 0 });
                Ok(())
            }
            _ => Err(refused("an array that no branch before it counts")),
        }
    }
}

/// Returns the layout of objects after their class name, which is a length, the name and a NUL.
fn named(laid: &Laid, branch: &metadata::Branch<'_>) -> Result<Arc<Laid>> {
    let class = branch.member.as_ref().map(|member| member.class.as_str()).unwrap_or_default();
    let (Layout::Between(_, of, behind), Ok(length)) = (&laid.layout, u8::try_from(class.len())) else {
        return Err(refused("an object behind the name of its class"));
    };
    let name: Vec<u8> = [&[length], class.as_bytes(), &[0]].concat();
    let before = vec![Layout::Constant(name.into(), Box::new(Layout::Null))];
    let layout = Layout::Between(before, of.clone(), behind.clone());
    Ok(Arc::new(Laid { layout, ..laid.clone() }))
}

/// Returns the size of an entry, which baskets store in 31 bits.
fn entry_size(bytes: u64) -> Result<u32> {
    let size = u32::try_from(bytes).ok().filter(|size| i32::try_from(*size).is_ok());
    size.ok_or_else(|| refused(format!("a branch with entries of {bytes} bytes")))
}

/// Members of `TObject`.
const OF_TOBJECT: [&str; 2] = ["fUniqueID", "fBits"];
/// Status bits of a new object: `kIsOnHeap` and `kNotDeleted`.
const NEW_BITS: [u8; 4] = [3, 0, 0, 0];

/// Returns the error for a tree that cannot be extended.
pub(super) fn refused(what: impl Into<String>) -> Error {
    Error::unsupported(format!("extending {}", what.into()))
}
