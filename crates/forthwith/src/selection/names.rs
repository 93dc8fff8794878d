//! Resolution of names in expressions: columns of the table, aliases of the options, aliases of the file, and
//! columns of friends.

use super::{
    Computed, UnitedColumn,
    inputs::{ENTRY, Input, Inputs, LOCAL_ENTRY, entry_form},
    joined::{Joined, Key, is_number},
    member::{Member, divided},
    missing,
    united::United,
};
use crate::{Friend, Table};
use forthwith_columns::{Form, repeated_name};
use forthwith_expr::{Expression, Named, Program, Spelling};
use forthwith_plan::{Error, ErrorKind, FriendName, Result, similar_names};
use std::{cell::RefCell, sync::Arc};

/// Resolver of names in expressions.
pub(super) struct Names<'t> {
    table: &'t Table,
    given: Vec<(String, Arc<Expression>)>,
    own: Vec<(String, String)>,
    friends: Vec<Known>,
    united: Vec<Arc<United>>,
    /// Members of records that were resolved so far.
    members: RefCell<Vec<Arc<Member>>>,
    /// Reason why a friend could not be opened, for errors about unknown names.
    closed: RefCell<String>,
}

/// A friend, which is opened when a name is first looked up in it.
struct Known {
    name: String,
    from: From,
    joined: RefCell<Option<Arc<Joined>>>,
}

enum From {
    Given(Friend),
    Stored(FriendName),
}

impl<'t> Names<'t> {
    pub(super) fn new(
        table: &'t Table,
        aliases: &[(String, String)],
        friends: Vec<Friend>,
        united: &[UnitedColumn],
    ) -> Result<Self> {
        let mut names = Self {
            table,
            given: Vec::new(),
            own: table.aliases()?,
            friends: Vec::new(),
            united: Vec::new(),
            members: RefCell::default(),
            closed: RefCell::default(),
        };
        for friend in friends {
            if names.friends.iter().any(|known| known.name == friend.name) {
                let what = format!("the friend {:?} is given twice", friend.name);
                return table.here(Err(Error::invalid(what)));
            }
            let (name, joined) = (friend.name.clone(), RefCell::default());
            names.friends.push(Known { name, from: From::Given(friend), joined });
        }
        for friend in table.friends()? {
            if names.friends.iter().all(|known| known.name != friend.name) {
                let (name, joined) = (friend.name.clone(), RefCell::default());
                names.friends.push(Known { name, from: From::Stored(friend), joined });
            }
        }
        for column in united {
            names.united.push(Arc::new(United::new(table, column)?));
        }
        if let Some(name) = repeated_name(aliases.iter().map(|(name, _)| name.as_str())) {
            return table.here(Err(Error::invalid(format!("the alias {name:?} is given twice"))));
        }
        for (name, text) in aliases {
            if table.found(name)?.is_some() {
                let what = format!("the alias {name:?} is the name of a column, which it cannot replace");
                return table.here(Err(Error::invalid(what)));
            }
            let expression = names.parsed(text, Spelling::Python)?;
            names.given.push((name.clone(), Arc::new(expression)));
        }
        Ok(names)
    }

    pub(super) fn parsed(&self, text: &str, spelling: Spelling) -> Result<Expression> {
        let parsed = Expression::parse_as(text, spelling);
        self.table.here(parsed.map_err(|error| Error::invalid(error.to_string())))
    }

    /// Returns the field that a name in an expression refers to. Dots may separate the parts of a path.
    fn field(&self, name: &str) -> Result<Option<u32>> {
        if let Some(field) = self.table.found(name)? {
            return Ok(Some(field));
        }
        let is_alias = self.given.iter().any(|(known, _)| known == name);
        if is_alias { Ok(None) } else { dotted(self.table, name) }
    }

    /// Returns the input that a name refers to; `None` for aliases and unknown names. It is a field of the
    /// table, or else of a friend (with or without the friend's name and a dot before it), or else a member
    /// of records in one of these.
    pub(super) fn input(&self, name: &str) -> Result<Option<Input>> {
        if let Some(input) = self.column(name)? {
            return Ok(Some(input));
        }
        let is_alias = |(known, _): &(String, _)| known == name;
        if self.given.iter().any(|(known, _)| known == name) || self.own.iter().any(is_alias) {
            return Ok(None);
        }
        for (of, path) in divided(name) {
            let Some((of, form)) = self.records(of)? else { continue };
            let Some(member) = Member::new(of, &form, path) else { continue };
            let mut members = self.members.borrow_mut();
            let at = members.iter().position(|known| **known == member).unwrap_or_else(|| {
                members.push(Arc::new(member));
                members.len() - 1
            });
            return Ok(Some(Input::Member(at as u32)));
        }
        Ok(match name {
            ENTRY => Some(Input::Entry { local: false }),
            LOCAL_ENTRY => Some(Input::Entry { local: true }),
            _ => None,
        })
    }

    /// Returns a column that may have records, and its Form, by name. A dot at the end of a branch's name may
    /// be omitted.
    fn records(&self, name: &str) -> Result<Option<(Input, Form)>> {
        let found = match self.column(name)? {
            None => self.column(&format!("{name}."))?,
            found => found,
        };
        let Some(input) = found else { return Ok(None) };
        if let Input::Field(field) = input
            && self.table.fields()?.get(field as usize).is_none_or(|field| !field.has_data)
        {
            return Ok(None);
        }
        Ok(Some((input, self.form(input)?)))
    }

    /// Returns the input that a name refers to, except for members of records.
    fn column(&self, name: &str) -> Result<Option<Input>> {
        if let Some(at) = self.united.iter().position(|column| column.name == name) {
            return Ok(Some(Input::United(at as u32)));
        }
        if let Some(field) = self.field(name)? {
            return Ok(Some(Input::Field(field)));
        }
        let is_alias = |(known, _): &(String, _)| known == name;
        if self.given.iter().any(|(known, _)| known == name) || self.own.iter().any(is_alias) {
            return Ok(None);
        }
        for (at, friend) in (0..).zip(&self.friends) {
            let Some(inner) = name.strip_prefix(&friend.name).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            let joined = self.joined(friend)?;
            if let Some(field) = field_of(joined.first(), inner)? {
                return Ok(Some(Input::Friend { friend: at, field }));
            }
        }
        if !name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_') {
            return Ok(None);
        }
        for (at, friend) in (0..).zip(&self.friends) {
            match self.joined(friend) {
                Ok(joined) => {
                    if let Some(field) = field_of(joined.first(), name)? {
                        return Ok(Some(Input::Friend { friend: at, field }));
                    }
                }
                // The friend is reported only if the name is found nowhere else.
                Err(error) => {
                    // The position in this table is appended to the whole message.
                    let is_here = error.place.uri.as_deref().is_none_or(|uri| uri == self.table.file().uri());
                    let reason = if is_here { error.kind.to_string() } else { error.to_string() };
                    let note = format!(
                        "\n  it may be in the friend {:?}, which cannot be read: {reason}",
                        friend.name
                    );
                    *self.closed.borrow_mut() = note;
                }
            }
        }
        Ok(None)
    }

    fn joined(&self, friend: &Known) -> Result<Arc<Joined>> {
        if let Some(joined) = &*friend.joined.borrow() {
            return Ok(Arc::clone(joined));
        }
        let opened = match &friend.from {
            From::Given(friend) => friend.clone(),
            From::Stored(name) => Friend::new(name.name.clone(), self.table.open_friend(name)?),
        };
        let joined = Arc::new(Joined::new(&opened, |text| self.key(&friend.name, text))?);
        *friend.joined.borrow_mut() = Some(Arc::clone(&joined));
        Ok(joined)
    }

    /// Returns the key by which entries of a friend are looked up; `None` if the table has no column of this
    /// name. The index is not used then, as in ROOT.
    fn key(&self, friend: &str, text: &str) -> Result<Option<Key>> {
        if let Ok(constant) = text.trim().parse() {
            return Ok(Some(Key::Constant(constant)));
        }
        let refused = |why: &str| {
            let what = format!("an index by {text:?}, which the friend {friend:?} has: {why}");
            self.table.here(Err(Error::unsupported(what)))
        };
        if !text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.') {
            return refused("only columns and numbers are looked up");
        }
        let by_name = self.field(text)?;
        if let Some(field) = by_name.map_or_else(|| self.field_of_leaf(text), |field| Ok(Some(field)))? {
            let form = self.table.form(field)?;
            if is_number(&form) {
                return Ok(Some(Key::Field(field)));
            }
            return refused(&format!("the column of the table is {} and no number", form.type_string()));
        }
        let last = text.rsplit('.').next().unwrap_or(text);
        let is_within = |field: &forthwith_plan::Field| {
            let mut words = field.path.split(['/', '.']).chain(field.title.split([':', '/', '[']));
            words.any(|word| word == last)
        };
        if self.own.iter().any(|(name, _)| name == text) || self.table.fields()?.iter().any(is_within) {
            return refused("the table has it as an alias or within a column");
        }
        Ok(None)
    }

    /// Returns the branch, with a slash in its name, whose leaf has this name, if there is only one: indexes
    /// of trees refer to leaves.
    fn field_of_leaf(&self, leaf: &str) -> Result<Option<u32>> {
        let has_leaf = |field: &forthwith_plan::Field| {
            let is_titled = field.title.split(['/', '[']).next() == Some(leaf);
            field.parent.is_none()
                && field.path.contains('/')
                && (is_titled || field.path.replace('/', "_") == leaf)
        };
        let mut found =
            (0..).zip(self.table.fields()?).filter(|(_, field)| has_leaf(field)).map(|(at, _)| at);
        Ok(found.next().filter(|_| found.next().is_none()))
    }

    /// Returns all tables from which columns are read.
    pub(super) fn into_inputs(self, before: u64) -> Inputs {
        let friends = self.friends.into_iter().map(|friend| friend.joined.into_inner());
        Inputs {
            table: self.table.clone(),
            friends: friends.collect(),
            united: self.united,
            members: self.members.into_inner(),
            before,
        }
    }

    /// Returns the names of all fields, including those of opened friends, for similar names.
    fn paths(&self) -> Result<Vec<String>> {
        let mut paths: Vec<String> = self.table.fields()?.iter().map(|field| field.path.clone()).collect();
        for friend in &self.friends {
            if let Some(joined) = &*friend.joined.borrow() {
                let fields = joined.first().fields()?;
                paths.extend(fields.iter().map(|field| format!("{}.{}", friend.name, field.path)));
            }
        }
        Ok(paths)
    }

    /// Returns the expression of a text that is not the name of a field. An unknown name is an error with
    /// similar names.
    pub(super) fn expression(&self, text: &str) -> Result<Arc<Expression>> {
        if let Some(alias) = self.alias(text)? {
            return Ok(alias);
        }
        let parsed = Expression::parse(text);
        if parsed.as_ref().is_ok_and(|expression| expression.names() == [text]) {
            let absent = self.table.find(text).map(|_| ());
            let closed = self.closed.borrow().clone();
            if !closed.is_empty() {
                let near = match self.table.missing(text)?.kind {
                    ErrorKind::NotFound { near, .. } if !near.is_empty() => {
                        format!("; did you mean {}?", near.join(", "))
                    }
                    _ => String::new(),
                };
                let what = format!("no branch named {text:?}{near}{closed}");
                return self.table.here(Err(Error::invalid(what)));
            }
            let near = similar_names(text, self.paths()?.iter().map(String::as_str));
            return Err(match absent {
                Err(mut error) => {
                    if let ErrorKind::NotFound { near: known, .. } = &mut error.kind
                        && !self.friends.is_empty()
                    {
                        *known = near;
                    }
                    error
                }
                Ok(()) => missing(text),
            });
        }
        match parsed {
            Ok(expression) => Ok(Arc::new(expression)),
            Err(error) => {
                // A text that cannot be parsed may be a misspelled name of a branch.
                let near = similar_names(text, self.paths()?.iter().map(String::as_str));
                if near.is_empty() {
                    return self.table.here(Err(Error::invalid(error.to_string())));
                }
                let what = format!(
                    "{error}\n  there is no branch of this name, either; similar: {}",
                    near.join(", ")
                );
                self.table.here(Err(Error::invalid(what)))
            }
        }
    }

    fn alias(&self, name: &str) -> Result<Option<Arc<Expression>>> {
        if let Some((_, alias)) = self.given.iter().find(|(known, _)| known == name) {
            return Ok(Some(Arc::clone(alias)));
        }
        match self.own.iter().find(|(known, _)| known == name) {
            Some((_, text)) => self.parsed(text, Spelling::TTreeFormula).map(|alias| Some(Arc::new(alias))),
            None => Ok(None),
        }
    }

    pub(super) fn program(&self, expressions: &[Arc<Expression>]) -> Result<Computed> {
        let expressions: Vec<&Expression> = expressions.iter().map(AsRef::as_ref).collect();
        let mut failed = None;
        let made = Program::new(&expressions, &mut |name| self.looked_up(name, &mut failed));
        let program = self.made(made, failed)?;
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.input(name)?.ok_or_else(|| missing(name))?);
        }
        Ok(Computed { program: Arc::new(program), inputs })
    }

    /// Checks the aliases of the options, including unused ones.
    pub(super) fn check_aliases(&self) -> Result<()> {
        for (name, alias) in &self.given {
            let mut failed = None;
            let made = Program::check_alias(name, alias, &mut |name| self.looked_up(name, &mut failed));
            self.made(made, failed)?;
        }
        Ok(())
    }

    /// Resolves a name. The first error of the file is stored in `failed`.
    fn looked_up(&self, name: &str, failed: &mut Option<Error>) -> Named {
        self.named(name).unwrap_or_else(|error| {
            let what = error.kind.to_string();
            failed.get_or_insert(error);
            Named::Refused(what)
        })
    }

    fn made<T>(
        &self,
        made: std::result::Result<T, forthwith_expr::Error>,
        failed: Option<Error>,
    ) -> Result<T> {
        match (made, failed) {
            (Ok(made), _) => Ok(made),
            // An error of the file takes precedence over that of the expression.
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => {
                self.table.here(Err(Error::invalid(format!("{error}{}", self.closed.borrow()))))
            }
        }
    }

    fn named(&self, name: &str) -> Result<Named> {
        if let Some(input) = self.input(name)? {
            return Ok(Named::Column(self.form(input)?));
        }
        if let Some(alias) = self.alias(name)? {
            return Ok(Named::Alias(alias));
        }
        let paths = self.paths()?;
        let known = paths.iter().map(String::as_str).chain(self.given.iter().map(|(name, _)| name.as_str()));
        let mut near = self.leaves(name)?;
        near.extend(similar_names(name, known));
        Ok(Named::Unknown(near))
    }

    /// Returns the qualified names of leaves with this name in branches with several leaves.
    fn leaves(&self, name: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for (at, field) in (0..).zip(self.table.fields()?) {
            let names = || field.title.split([':', '/', '[']).any(|word| word == name);
            let has = || self.table.form(at).is_ok_and(|form| form.pick(&[name.to_owned()]).is_some());
            if field.has_data && names() && has() {
                found.push(format!("{}.{name}", field.path));
            }
        }
        Ok(found)
    }

    fn form(&self, input: Input) -> Result<Form> {
        let absent = || Error::fault("input index out of range".to_owned());
        match input {
            Input::Field(field) => self.table.form(field),
            Input::Friend { friend, field } => {
                self.joined(self.friends.get(friend as usize).ok_or_else(absent)?)?.form(field)
            }
            Input::United(at) => Ok(self.united.get(at as usize).ok_or_else(absent)?.form.clone()),
            Input::Entry { .. } => Ok(entry_form()),
            Input::Member(at) => {
                let members = self.members.borrow();
                Ok(members.get(at as usize).ok_or_else(absent)?.form.clone())
            }
        }
    }
}

/// Returns the field of a table by its path or own name. Dots may separate the parts of a path.
fn field_of(table: &Table, name: &str) -> Result<Option<u32>> {
    match table.found(name)? {
        None => dotted(table, name),
        found => Ok(found),
    }
}

/// Returns the field whose path has slashes in place of the dots of a name.
fn dotted(table: &Table, name: &str) -> Result<Option<u32>> {
    if !name.contains('.') || !name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_') {
        return Ok(None);
    }
    table.found(&name.replace('.', "/"))
}
