//! The columns of several files together: numbers in the type that has those of all files, and missing values where a file
//! lacks a column.

use super::columns::Column;
use crate::failure::{Failure, Result};
use forthwith::{
    UnitedColumn,
    columns::{Form, Unlike},
};
use std::collections::HashMap;

/// The columns that one file has.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    pub(super) uri: String,
    /// Those that are written.
    pub(super) columns: Vec<Column>,
    /// Those that nothing but expressions name.
    pub(super) used: Vec<Column>,
}

/// The columns of all files.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// Those that are written: as the first file has them, then what others have beside them.
    pub(super) named: Vec<(String, Form)>,
    /// Those, used ones among them, that some files lack or have in other types of numbers.
    united: Vec<(String, Form)>,
}

impl Together {
    /// All columns, by name.
    ///
    /// # Errors
    /// A column that some files lack, unless what is missing becomes null; types that have no common one.
    pub(super) fn of(files: &[Own], missing_null: bool) -> Result<Self> {
        let Some((first, others)) = files.split_first() else { return Ok(Self::default()) };
        let mut names: Vec<&str> = first.columns.iter().map(|column| column.name.as_str()).collect();
        let mut counts = counted(&names);
        for file in others {
            let is_there = |name: &str| file.columns.iter().any(|column| column.name == name);
            if !missing_null && let Some(name) = names.iter().find(|name| !is_there(name)) {
                return Err(lacks(&file.uri, name, &first.uri));
            }
            let mut own: HashMap<&str, usize> = HashMap::new();
            for column in &file.columns {
                let (found, known) =
                    (own.entry(&column.name).or_default(), counts.entry(&column.name).or_default());
                *found += 1;
                if *found <= *known {
                    continue;
                }
                *known = *found;
                // Of a name that other files have, too, it is a further column.
                if !missing_null && *found == 1 {
                    return Err(lacks(&first.uri, &column.name, &file.uri));
                }
                names.push(&column.name);
            }
        }
        let mut all = Self::default();
        let mut before: Vec<&str> = Vec::new();
        for name in names {
            let same = before.iter().filter(|other| **other == name).count();
            before.push(name);
            // Of several columns with one name the first is the first.
            let own = |file: &Own| file.columns.iter().filter(|c| c.name == name).nth(same).cloned();
            let found: Vec<Option<Column>> = files.iter().map(own).collect();
            if !missing_null && let Some(at) = found.iter().position(Option::is_none) {
                return Err(if same == 0 { lacks(&files[at].uri, name, &first.uri) } else { several(name) });
            }
            let form = all.unite(name, files, &found, same == 0)?;
            all.named.push((name.to_owned(), form));
        }
        let mut used: Vec<&str> = Vec::new();
        for column in files.iter().flat_map(|file| &file.used) {
            let is_known = before.contains(&column.name.as_str()) || used.contains(&column.name.as_str());
            if !is_known {
                used.push(&column.name);
            }
        }
        for name in used {
            let own = |file: &Own| file.used.iter().find(|column| column.name == name).cloned();
            let found: Vec<Option<Column>> = files.iter().map(own).collect();
            // A file that lacks it may have something else of this name; if it has not, that is said where it is used.
            if missing_null || found.iter().all(Option::is_some) {
                all.unite(name, files, &found, true)?;
            }
        }
        Ok(all)
    }

    /// The Form of a column in all files.
    fn unite(
        &mut self,
        name: &str,
        files: &[Own],
        found: &[Option<Column>],
        can_change: bool,
    ) -> Result<Form> {
        let lacking = found.iter().any(Option::is_none);
        let known = files.iter().zip(found).filter_map(|(file, column)| Some((file, &column.as_ref()?.form)));
        let (uris, forms): (Vec<&str>, Vec<&Form>) =
            known.map(|(file, form)| (file.uri.as_str(), form)).unzip();
        let mut form = Form::unite(&forms).map_err(|Unlike { first, other }| {
            let (ours, theirs) = (forms[first].type_string(), forms[other].type_string());
            let what = format!("column {name} is {theirs} in {}, and {ours} in {}", uris[other], uris[first]);
            Failure::misuse(what).hinted("--columns chooses others")
        })?;
        // Values themselves are missing where a file says so; all else is read as in all files.
        let changes = forms.iter().any(|own| present(own).type_string() != present(&form).type_string());
        if lacking {
            form = form.optional();
        }
        if lacking || changes {
            if !can_change {
                return Err(several(name));
            }
            self.united.push((name.to_owned(), form.clone()));
        }
        Ok(form)
    }

    /// Whether a column is read in another way than its file has it.
    pub(super) fn is_united(&self, name: &str) -> bool {
        self.united.iter().any(|(united, _)| united == name)
    }

    /// The columns as one of the files is to give them.
    pub(super) fn united(&self, own: &Own) -> Vec<UnitedColumn> {
        let of = |(name, form): &(String, Form)| {
            let mut known = own.columns.iter().chain(&own.used);
            let field = known.find(|column| column.name == *name).and_then(|column| column.field);
            UnitedColumn { name: name.clone(), field, form: form.clone() }
        };
        self.united.iter().map(of).collect()
    }
}

/// The type of the values that are there.
fn present(form: &Form) -> &Form {
    if let Form::Option { content, .. } = form { content } else { form }
}

/// How many of some names are the same.
fn counted<'a>(names: &[&'a str]) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(*name).or_default() += 1;
    }
    counts
}

fn several(name: &str) -> Failure {
    Failure::misuse(format!("{name} is the name of several columns, which not all files have alike"))
        .hinted("--columns chooses others")
}

fn lacks(uri: &str, name: &str, other: &str) -> Failure {
    Failure::misuse(format!("{uri} has no column {name}, which {other} has"))
        .hinted("--missing null makes such values null, --columns chooses others")
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith::columns::DType;

    #[test]
    fn columns_of_one_name_are_lost_in_no_order() {
        let file = |uri: &str, names: &[&str]| Own {
            uri: uri.to_owned(),
            columns: names
                .iter()
                .map(|name| Column {
                    field: Some(0),
                    name: (*name).to_owned(),
                    form: Form::Numpy { key: "node0".into(), dtype: DType::Int64, shape: vec![] },
                })
                .collect(),
            used: Vec::new(),
        };
        let (once, twice) = (file("once", &["a"]), file("twice", &["a", "a"]));
        for missing_null in [false, true] {
            for files in [[once.clone(), twice.clone()], [twice.clone(), once.clone()]] {
                let said = Together::of(&files, missing_null).expect_err("a column more").to_string();
                assert!(said.contains("a is the name of several columns"), "{said}");
            }
            let same = Together::of(&[twice.clone(), twice.clone()], missing_null).expect("the same");
            assert_eq!(same.named.len(), 2);
        }
        let more = Together::of(&[once, file("more", &["a", "b"])], true).expect("missing values");
        assert_eq!(more.named.len(), 2);
    }
}
