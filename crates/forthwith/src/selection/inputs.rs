//! Inputs of columns: fields of the table and of its friends.

use super::{
    joined::{By, Joined, Key},
    member::Member,
    united::United,
};
use crate::{Table, cut};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_plan::{Error, Limits, Result};
use std::{ops::Range, sync::Arc};

/// An input that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Input {
    Field(u32),
    /// A field of a friend.
    Friend {
        friend: u32,
        field: u32,
    },
    /// A column with a given type.
    United(u32),
    /// A member of records.
    Member(u32),
    /// Number of each entry: within the table (`LocalEntry$`), or across all tables (`Entry$`).
    Entry {
        local: bool,
    },
}

/// Names of the entry numbers in expressions.
pub(super) const ENTRY: &str = "Entry$";
pub(super) const LOCAL_ENTRY: &str = "LocalEntry$";

const ENTRY_KEY: &str = "entry";

/// Returns the Form of entry numbers.
pub(super) fn entry_form() -> Form {
    Form::Numpy { key: ENTRY_KEY.into(), dtype: DType::Int64, shape: Vec::new() }
}

/// Makes an array of entry numbers.
pub(super) fn entry_array(entries: Vec<i64>) -> Array {
    Array {
        form: entry_form(),
        length: entries.len() as u64,
        columns: vec![(format!("{ENTRY_KEY}-data"), Column::from_vec(entries))],
    }
}

/// The table of a selection, and its friends.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) table: Table,
    /// Friends by number; `None` for friends without inputs, which are not opened.
    pub(super) friends: Vec<Option<Arc<Joined>>>,
    /// Columns with a given type.
    pub(super) united: Vec<Arc<United>>,
    pub(super) members: Vec<Arc<Member>>,
    /// Number of entries of tables before this one.
    pub(super) before: u64,
}

impl Inputs {
    /// Makes the inputs of a table without friends.
    pub(super) fn alone(table: Table) -> Self {
        Self { table, friends: Vec::new(), united: Vec::new(), members: Vec::new(), before: 0 }
    }

    pub(super) fn friend(&self, friend: u32) -> Result<&Arc<Joined>> {
        let found = self.friends.get(friend as usize).and_then(Option::as_ref);
        found.ok_or_else(|| Error::fault(format!("there is no friend {friend}")))
    }

    pub(super) fn united(&self, at: u32) -> Result<&Arc<United>> {
        let what = || Error::fault(format!("there is no column {at} of a given type"));
        self.united.get(at as usize).ok_or_else(what)
    }

    pub(super) fn member(&self, at: u32) -> Result<&Arc<Member>> {
        self.members.get(at as usize).ok_or_else(|| Error::fault(format!("there is no member {at}")))
    }

    /// Returns the input that is read for an input: the whole column for a member, otherwise the input
    /// itself.
    pub(super) fn whole(&self, input: Input) -> Input {
        match input {
            Input::Member(at) => self.members.get(at as usize).map_or(input, |member| member.of),
            input => input,
        }
    }

    /// Returns the field of the table that an input is read from, if any.
    pub(super) fn field(&self, input: Input) -> Option<u32> {
        match self.whole(input) {
            Input::Field(field) => Some(field),
            Input::Friend { .. } | Input::Member(_) | Input::Entry { .. } => None,
            Input::United(at) => self.united.get(at as usize)?.field,
        }
    }

    /// Returns the fields of the table that entries of friends are looked up by.
    pub(super) fn keys(&self) -> Vec<Input> {
        let keys = self.friends.iter().flatten().flat_map(|joined| match &joined.by {
            By::Index { keys, .. } => keys.as_slice(),
            By::Number(_) => &[],
        });
        let field = |key: &Key| match key {
            Key::Field(field) => Some(Input::Field(*field)),
            Key::Constant(_) => None,
        };
        keys.filter_map(field).collect()
    }

    pub(super) fn form(&self, input: Input) -> Result<Form> {
        match input {
            Input::Field(field) => self.table.form(field),
            Input::Friend { friend, field } => self.friend(friend)?.form(field),
            Input::United(at) => Ok(self.united(at)?.form.clone()),
            Input::Member(at) => Ok(self.member(at)?.form.clone()),
            Input::Entry { .. } => Ok(entry_form()),
        }
    }

    /// Returns the path of an input, for messages.
    pub(super) fn path(&self, input: Input) -> String {
        let of = |table: &Table, field: u32| {
            let known = table.fields().unwrap_or_default();
            known.get(field as usize).map(|field| field.path.clone()).unwrap_or_default()
        };
        match input {
            Input::Field(field) => of(&self.table, field),
            Input::Friend { friend, field } => match self.friend(friend) {
                Ok(joined) => format!("{}.{}", joined.name(), of(joined.first(), field)),
                Err(_) => String::new(),
            },
            Input::United(at) => self.united(at).map(|united| united.name.clone()).unwrap_or_default(),
            Input::Member(at) => match self.member(at) {
                Ok(member) => format!("{}.{}", self.path(member.of), member.path()),
                Err(_) => String::new(),
            },
            Input::Entry { local } => if local { LOCAL_ENTRY } else { ENTRY }.to_owned(),
        }
    }

    /// Returns the file's statistics of an input for a range of entries; with `finer`, those of parts of
    /// blocks. Statistics of friends are not used.
    pub(super) fn limits(&self, input: Input, entries: &Range<u64>, finer: bool) -> Result<Vec<Limits>> {
        let Some(field) = self.field_with_limits(input) else { return Ok(Vec::new()) };
        let (dataset, entries) = (self.table.dataset(), entries.clone());
        // Statistics describe stored values.
        let stored = self.table.here(dataset.describe_first(field, 0))?.reading;
        if stored.is_ok_and(|reading| self.table.converts(&reading.form)) {
            return Ok(Vec::new());
        }
        let limits =
            if finer { dataset.finer_limits(field, entries) } else { dataset.limits(field, entries) };
        let limits = self.table.here(limits)?;
        if limits.is_empty() && !finer {
            return Ok(self.table.known_limits(field)?.into_iter().collect());
        }
        Ok(limits)
    }

    /// Whether an input has one value for each entry, and by the file's statistics no missing ones.
    pub(super) fn is_complete(&self, input: Input) -> Result<bool> {
        let Some(field) = self.field_with_limits(input) else { return Ok(false) };
        Ok(is_single(&self.form(input)?) && self.table.here(self.table.dataset().is_complete(field))?)
    }

    /// Returns the field whose values equal those of an input.
    fn field_with_limits(&self, input: Input) -> Option<u32> {
        match input {
            Input::United(at) if !self.united.get(at as usize)?.is_field() => None,
            Input::Member(_) | Input::Entry { .. } => None,
            input => self.field(input),
        }
    }

    /// Returns the average number of decompressed bytes of an entry: of fields of the table, for its first
    /// `known` entries if given, and of inputs from friends.
    pub(super) fn density(&self, fields: &[u32], inputs: &[Input], known: Option<u64>) -> Result<f64> {
        let mut density = self.table.here(cut::density(self.table.dataset(), fields, known))?;
        for input in inputs {
            let Input::Friend { friend, field } = self.whole(*input) else { continue };
            let joined = self.friend(friend)?;
            let table = joined.first();
            density += table.here(cut::density(table.dataset(), &[field], known))?;
            if matches!(joined.by, By::Index { .. }) {
                density += 8.0;
            }
        }
        Ok(density)
    }
}

/// Whether values are single numbers or strings, which may be missing.
fn is_single(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { .. } | Form::Categorical { .. } => true,
        Form::Option { content, .. } | Form::Logical { content, .. } => is_single(content),
        _ => false,
    }
}
