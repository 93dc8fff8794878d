//! `forthwith gen`: a type for the rows of a table, in Rust, Python or C++.

mod cpp;
mod python;
mod rust;

use crate::{console::Console, failure::Result, flags::Language, human, opened::Place};
use forthwith::{
    Table,
    columns::{DType, Form},
};

/// Column of the table.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    form: Form,
}

/// Member of a row.
#[derive(Clone, Debug, PartialEq)]
enum Member {
    Column(Column),
    /// Columns of lists with names that begin with `prefix`, whose lengths are in the column `count`.
    Lists {
        prefix: String,
        count: String,
        columns: Vec<Column>,
    },
}

/// Columns of a table, and the reasons why others are omitted.
struct Described {
    /// File and table, for a comment.
    from: String,
    /// Name of the type.
    name: String,
    columns: Vec<Column>,
    skipped: Vec<(String, String)>,
}

pub(crate) fn generate(place: &Place, language: Language, console: &mut Console<'_>) -> Result<()> {
    let described = Described::of(&place.table)?;
    console.text(&match language {
        Language::Rust => rust::print(&described),
        Language::Python => python::print(&described),
        Language::Cpp => cpp::print(&described, &place.table)?,
    })
}

impl Described {
    fn of(table: &Table) -> Result<Self> {
        let fields = table.fields()?;
        let (mut columns, mut skipped) = (Vec::new(), Vec::new());
        for (at, field) in (0..).zip(fields) {
            let is_below_data = field.parent.is_some_and(|parent| fields[parent as usize].has_data);
            if !field.has_data || field.is_part || is_below_data {
                continue;
            }
            match table.form(at) {
                Ok(form) => columns.push(Column { name: field.path.clone(), form }),
                Err(error) => skipped.push((field.path.clone(), error.kind.to_string())),
            }
        }
        let uri = table.file().uri();
        let file = uri.rsplit(['/', '\\']).next().unwrap_or(uri);
        let from = match table.path() {
            "" => file.to_owned(),
            path => format!("{file}:{path}"),
        };
        let name = match table.path().rsplit('/').next() {
            None | Some("") => "Entry".to_owned(),
            Some(path) => camel_case(path.split(';').next().unwrap_or(path).trim_end_matches('s')),
        };
        Ok(Self { from: human::clean(&from), name, columns, skipped })
    }

    /// Returns the columns; those of lists are grouped under the column with their lengths: `nMuon` for
    /// `Muon_…`.
    fn members(&self) -> Vec<Member> {
        let is_counter = |column: &&Column| matches!(&column.form, Form::Numpy { dtype, shape, .. } if shape.is_empty() && is_integer(*dtype));
        let counted = |prefix: &str| -> Vec<Column> {
            let is_list = |column: &&Column| {
                matches!(column.form, Form::List { .. }) && column.name.len() > prefix.len()
            };
            let listed = self.columns.iter().filter(is_list);
            listed.filter(|column| column.name.starts_with(prefix)).cloned().collect()
        };
        let counters = self.columns.iter().filter(is_counter);
        let lists: Vec<(String, &str, Vec<Column>)> = counters
            .filter_map(|counter| {
                let prefix = format!("{}_", counter.name.strip_prefix('n')?);
                Some((prefix.clone(), counter.name.as_str(), counted(&prefix)))
            })
            .filter(|(prefix, _, columns)| prefix.len() > 1 && columns.len() > 1)
            .collect();
        let list_of =
            |name: &str| lists.iter().position(|(.., columns)| columns.iter().any(|of| of.name == name));
        let mut members = Vec::new();
        for column in &self.columns {
            if let Some((prefix, count, columns)) = lists.iter().find(|(_, count, _)| *count == column.name) {
                let (prefix, count) = (prefix.clone(), (*count).to_owned());
                members.push(Member::Lists { prefix, count, columns: columns.clone() });
            } else if list_of(&column.name).is_none() {
                members.push(Member::Column(column.clone()));
            }
        }
        members
    }

    /// Returns a comment for each omitted column.
    fn skipped_lines(&self, mark: &str, indent: &str) -> String {
        let line = |(name, why): &(String, String)| {
            format!("{indent}{mark} {}: {}\n", human::clean(name), human::clean(why).replace('\n', " "))
        };
        self.skipped.iter().map(line).collect()
    }
}

fn is_integer(dtype: DType) -> bool {
    !matches!(dtype, DType::Bool | DType::Float32 | DType::Float64)
}

/// Converts a name to camel case, without characters other than letters and digits.
fn camel_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    let name: String = words.map(capital).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("Entry{name}") }
}

/// Set of unique names.
#[derive(Default)]
struct Taken(Vec<String>);

impl Taken {
    fn make(&mut self, name: String) -> String {
        let mut made = name.clone();
        let mut number = 2;
        while self.0.contains(&made) {
            made = format!("{name}{number}");
            number += 1;
        }
        self.0.push(made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_types() {
        for (name, expected) in [("Muon_", "Muon"), ("a.b-c", "ABC"), ("3x", "Entry3x"), ("µ", "Entry")] {
            assert_eq!(camel_case(name), expected);
        }
        let mut taken = Taken::default();
        assert_eq!(["a", "a", "a"].map(|name| taken.make(name.into())), ["a", "a2", "a3"]);
    }
}
