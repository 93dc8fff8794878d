//! Selection of columns on the command line.

use crate::{
    failure::{Failure, Result},
    flags::Computing,
    glob::{self, Patterns},
    opened::Place,
    survey::{Branch, Means, survey_first},
};
use forthwith::{
    ProjectedField, SelectOptions, Table,
    expr::Expression,
    plan::{Error, ErrorKind, Field},
};

/// Selected columns, as typed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Choice {
    /// Names that must exist.
    pub(crate) names: Vec<String>,
    /// Patterns. One without wildcards is a name and must exist.
    pub(crate) filter: Vec<String>,
    /// Expression that must be true for an entry.
    pub(crate) cut: Option<String>,
    /// Names of expressions.
    pub(crate) aliases: Vec<(String, String)>,
    /// Those names of `aliases` that are written as columns.
    pub(crate) computed: Vec<String>,
}

/// Columns of a table that a choice selects.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) branches: Vec<Branch>,
    /// Whether columns were named; unreadable ones are then an error.
    pub(crate) named: bool,
}

impl Choice {
    /// Creates a choice of names, patterns and expressions.
    pub(crate) fn of(names: Vec<String>, filter: Vec<String>, computing: Computing) -> Self {
        let Computing { cut, compute, alias } = computing;
        let computed = compute.iter().map(|(name, _)| name.clone()).collect();
        Self { names, filter, cut, aliases: [compute, alias].concat(), computed }
    }

    /// Returns the options of a selection with the expressions.
    pub(crate) fn expressions(&self) -> SelectOptions {
        SelectOptions { aliases: self.aliases.clone(), cut: self.cut.clone(), ..SelectOptions::default() }
    }

    /// Whether there are computed columns or a cut.
    pub(crate) const fn has_expressions(&self) -> bool {
        self.cut.is_some() || !self.aliases.is_empty()
    }

    /// Whether this choice selects any columns, after names that a file lacks were removed from the choice
    /// `of`.
    pub(crate) fn names_any(&self, of: &Self, place: &Place) -> bool {
        !self.filter.is_empty() || of.filter.is_empty() || !self.names.is_empty() || place.branch.is_some()
    }

    /// Returns the names of columns in the expressions.
    fn names_used(&self) -> Vec<String> {
        let texts = self.aliases.iter().map(|(_, text)| text).chain(&self.cut);
        // Errors in expressions are reported when they are compiled.
        let parsed = texts.filter_map(|text| Expression::parse(text).ok());
        let mut names: Vec<String> = Vec::new();
        for name in
            parsed.flat_map(|parsed| parsed.names().into_iter().map(str::to_owned).collect::<Vec<_>>())
        {
            if !names.contains(&name) && self.aliases.iter().all(|(alias, _)| *alias != name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the fields of a table that the expressions use, except the given columns.
    ///
    /// # Errors
    /// Returns an error if a field cannot be read.
    pub(crate) fn fields_used(
        &self,
        table: &Table,
        columns: &[ProjectedField],
    ) -> Result<Vec<ProjectedField>> {
        let mut used = Vec::new();
        for name in self.names_used().into_iter().filter(|name| columns.iter().all(|c| c.name != *name)) {
            // A dot may separate the parts of a path.
            for path in [name.clone(), name.replace('.', "/")] {
                match table.find(&path) {
                    Ok(field) if table.fields()?[field as usize].has_data => {
                        used.push(ProjectedField { name, field, form: table.form(field)? });
                        break;
                    }
                    Ok(_) | Err(Error { kind: ErrorKind::NotFound { .. }, .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(used)
    }

    /// Returns the choice without patterns that match no column of a file, and these patterns with their
    /// errors.
    ///
    /// # Errors
    /// Returns all errors other than those of absent columns.
    pub(crate) fn of_those_there(&self, place: &Place) -> Result<(Self, Vec<(String, Failure)>)> {
        let (mut filter, mut absent) = (Vec::new(), Vec::new());
        for pattern in &self.filter {
            match matching(place, std::slice::from_ref(pattern), 0) {
                Ok(_) => filter.push(pattern.clone()),
                Err(failure) if failure.is_absence() => absent.push((pattern.clone(), failure)),
                Err(failure) => return Err(failure),
            }
        }
        let (names, cut, aliases) = (self.names.clone(), self.cut.clone(), self.aliases.clone());
        Ok((Self { names, filter, cut, aliases, computed: self.computed.clone() }, absent))
    }

    /// Returns the selected columns, readable or not, in the order of the names and then of the file; without
    /// a choice, all columns. A group of columns selects the columns in it. Blocks are only counted for the
    /// first `entries` entries.
    pub(crate) fn find(&self, place: &Place, entries: u64) -> Result<Chosen> {
        let table = &place.table;
        let fields = table.fields()?;
        let mut indices = Vec::new();
        let mut filter = self.filter.clone();
        for name in self.names.iter().flat_map(|name| parts(table, name)) {
            match table.find(name) {
                Ok(index) => indices.push(index),
                Err(error) if is_missing(&error) && glob::is_pattern(name) => filter.push(name.to_owned()),
                Err(error) => return Err(error.into()),
            }
        }
        indices.extend(place.branch);
        let mut branches: Vec<Branch> = Vec::new();
        for index in indices {
            let branch = Branch::of_first(table, index, &fields[index as usize], entries);
            if branch.means() != Means::Group {
                add(&mut branches, branch)?;
                continue;
            }
            let before = branches.len();
            for (at, field) in (0..).zip(fields).filter(|(at, _)| is_below(fields, *at, index)) {
                let below = Branch::of_first(table, at, field, entries);
                if below.means() != Means::Group {
                    add(&mut branches, below)?;
                }
            }
            if branches.len() == before {
                let members =
                    fields.iter().filter(|f| f.parent == Some(index)).map(|f| f.path.clone()).collect();
                return Err(Failure::Group { branch: branch.field.path, members });
            }
        }
        let named = !branches.is_empty();
        if !filter.is_empty() || !named {
            let mut matching = matching(place, &filter, entries)?;
            matching.retain(|b| b.means() != Means::Group && branches.iter().all(|c| c.index != b.index));
            branches.extend(matching);
        }
        Ok(Chosen { branches, named })
    }
}

/// Returns the branches, including groups, that match patterns, in the order of the file; without patterns,
/// all branches.
///
/// # Errors
/// Returns an error if a name without wildcards does not exist or is repeated, or if nothing matches.
pub(crate) fn matching(place: &Place, filter: &[String], entries: u64) -> Result<Vec<Branch>> {
    let table = &place.table;
    let mut branches = survey_first(table, entries)?;
    if filter.is_empty() {
        return Ok(branches);
    }
    let patterns = Patterns::of(filter).map_err(Failure::misuse)?;
    if filter.iter().any(|pattern| !pattern.starts_with('/') && pattern.contains('/')) {
        let parts = (0..).zip(table.fields()?).filter(|(_, field)| field.is_part);
        branches.extend(parts.map(|(index, field)| Branch::of_first(table, index, field, entries)));
        branches.sort_by_key(|branch| branch.index);
    }
    let mut named = Vec::new();
    for (at, name) in filter.iter().enumerate().filter(|(_, pattern)| !glob::is_pattern(pattern)) {
        if filter[..at].contains(name) {
            return Err(twice(name));
        }
        if branches.iter().any(|b| b.field.path == *name || b.field.name == *name) {
            continue;
        }
        // A part of a column, which other patterns do not match.
        let index = table.find(name)?;
        named.push(index);
        branches.push(Branch::of_first(table, index, &table.fields()?[index as usize], entries));
    }
    let in_another_case = branches
        .iter()
        .find(|b| Patterns::matches_in_another_case(filter, &b.field.path, &b.field.name))
        .map(|b| b.field.path.clone());
    // Parts of columns are matched by path only.
    let name = |field: &Field| if field.is_part { field.path.clone() } else { field.name.clone() };
    branches.retain(|b| named.contains(&b.index) || patterns.want(&b.field.path, &name(&b.field)));
    if branches.is_empty() {
        let table = place.name();
        let none = Failure::NoMatch { column: place.words.column[0], table, filter: filter.to_vec() };
        return Err(match in_another_case {
            Some(path) => {
                none.hinted(format!("capital letters count, as in {path}; a /regex/i ignores them"))
            }
            None => none,
        });
    }
    Ok(branches)
}

/// Returns the branch of a place and its descendants, or all branches, filtered by patterns.
pub(crate) fn within(place: &Place, filter: &[String]) -> Result<Vec<Branch>> {
    let mut branches = matching(place, filter, u64::MAX)?;
    let Some(index) = place.branch else { return Ok(branches) };
    let fields = place.table.fields()?;
    branches.retain(|branch| branch.index == index || is_below(fields, branch.index, index));
    if branches.is_empty() && filter.is_empty() {
        // The place is a part of a column.
        branches.push(Branch::of(&place.table, index, &fields[index as usize]));
    }
    Ok(branches)
}

fn add(branches: &mut Vec<Branch>, branch: Branch) -> Result<()> {
    if branches.iter().any(|there| there.index == branch.index) {
        return Err(twice(&branch.field.path));
    }
    branches.push(branch);
    Ok(())
}

fn twice(name: &str) -> Failure {
    Failure::misuse(format!("{name} is asked for twice"))
}

/// Splits a list separated by commas, unless a column has this name.
fn parts<'n>(table: &Table, name: &'n str) -> Vec<&'n str> {
    let is_list = name.contains(',') && !name.starts_with('/');
    match table.find(name) {
        Err(error) if is_list && is_missing(&error) => {
            name.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
        }
        _ => vec![name],
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound { .. })
}

fn is_below(fields: &[Field], mut at: u32, index: u32) -> bool {
    // Parents precede their children, so the loop ends.
    while let Some(parent) = fields.get(at as usize).and_then(|f| f.parent).filter(|&parent| parent < at) {
        if parent == index {
            return true;
        }
        at = parent;
    }
    false
}
