//! Common types of columns across all files, some of which may lack them.

use super::{Chain, Damage, is_unreadable, opening};
use crate::{SelectOptions, Table, UnitedColumn};
use forthwith_columns::Form;
use forthwith_expr::Expression;
use forthwith_plan::{Error, Result};
use std::collections::HashMap;

/// Columns that some files lack, or that have several types.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    columns: Vec<(String, Form)>,
}

/// Name and type of a column of one file.
type Typed = (String, Form);

impl Survey {
    /// Creates a survey of columns with common types.
    pub(super) fn of_columns(columns: Vec<(String, Form)>) -> Self {
        Self { columns }
    }

    /// Opens all files, and determines the common types of the columns that names and expressions mention.
    ///
    /// # Errors
    /// Returns an error if a file cannot be opened, or if types have no common type.
    pub(super) fn of(chain: &Chain, names: &[String], options: &SelectOptions) -> Result<Self> {
        let mentioned = mentioned(names, options);
        let look = |file: usize| -> Result<(String, Vec<Typed>)> {
            let table = chain.table(file)?;
            let mut found: Vec<Typed> = Vec::new();
            for name in &mentioned {
                if let Some((name, field)) = column(&table, name)?
                    && found.iter().all(|(known, _)| *known != name)
                {
                    found.push((name, table.form(field)?));
                }
            }
            Ok((table.file().uri().to_owned(), found))
        };
        let mut all: Vec<(String, Form, usize)> = Vec::new();
        let mut at: HashMap<String, usize> = HashMap::new();
        let mut differs: Vec<bool> = Vec::new();
        let mut files = 0;
        for found in opening::side_by_side(chain, 0..chain.len(), &look) {
            let (uri, found) = match found {
                Err(error) if chain.options().damage == Damage::Skip && is_unreadable(&error) => continue,
                found => found?,
            };
            files += 1;
            for (name, form) in found {
                let Some(&at) = at.get(&name) else {
                    at.insert(name.clone(), all.len());
                    all.push((name, form, 1));
                    differs.push(false);
                    continue;
                };
                let (name, common, count) = &mut all[at];
                *count += 1;
                if *common != form {
                    let united = Form::unite(&[&*common, &form]).map_err(|_| {
                        let (known, other) = (common.type_string(), form.type_string());
                        Error::invalid(format!(
                            "column {name:?} has type {other} in {uri}, which cannot be combined with {known} of \
                             the files before it"
                        ))
                    })?;
                    *common = united;
                    differs[at] = true;
                }
            }
        }
        let columns = all.into_iter().zip(differs);
        let columns = columns.filter(|((_, _, count), differs)| *differs || *count < files);
        let of_all = |((name, form, count), _): ((String, Form, usize), bool)| {
            (name, if count < files { form.optional() } else { form })
        };
        Ok(Self { columns: columns.map(of_all).collect() })
    }

    /// Whether all files have the columns that are read, with one type each.
    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns the columns together with their fields in a table.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged.
    pub(super) fn united(&self, table: &Table) -> Result<Vec<UnitedColumn>> {
        let united = self.columns.iter().map(|(name, form)| {
            let field = column(table, name)?.map(|(_, field)| field);
            Ok(UnitedColumn { name: name.clone(), field, form: form.clone() })
        });
        united.collect()
    }
}

/// A field of a table, with its type if it can be read.
#[derive(PartialEq)]
struct FieldType {
    path: String,
    has_data: bool,
    is_part: bool,
    form: Option<Form>,
}

impl Chain {
    /// Returns, for each file, the first file whose table has the same fields with the same types, so that
    /// only one of such files has to be examined. Returns `None` if more than `most` schemas differ; the
    /// remaining files are not opened then.
    ///
    /// # Errors
    /// Returns an error if a file cannot be opened.
    pub fn same_schemas(&self, most: usize) -> Result<Option<Vec<usize>>> {
        let look = |file: usize| -> Result<Vec<FieldType>> {
            let table = self.table(file)?;
            let fields = table.fields()?.iter().zip(0..);
            let typed = fields.map(|(field, at)| FieldType {
                path: field.path.clone(),
                has_data: field.has_data,
                is_part: field.is_part,
                form: if field.has_data { table.form(at).ok() } else { None },
            });
            Ok(typed.collect())
        };
        let mut known: Vec<(usize, Vec<FieldType>)> = Vec::new();
        let mut first = Vec::with_capacity(self.len());
        // Process batch by batch, so that only the batch and the distinct schemas are in memory.
        while first.len() < self.len() {
            let batch = first.len()..(first.len() + opening::together(self)).min(self.len());
            for fields in opening::side_by_side(self, batch, &look) {
                let (file, fields) = (first.len(), fields?);
                let same = known.iter().find(|(_, other)| *other == fields).map(|(file, _)| *file);
                first.push(same.unwrap_or(file));
                if same.is_none() {
                    known.push((file, fields));
                }
            }
            if known.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(first))
    }
}

/// Returns the names of columns, and the names that expressions refer to.
fn mentioned(names: &[String], options: &SelectOptions) -> Vec<String> {
    let texts = options.aliases.iter().map(|(_, text)| text).chain(&options.cut).chain(names);
    let mut all: Vec<String> = names.to_vec();
    for text in texts {
        // The name of a column need not be a valid expression.
        if let Ok(expression) = Expression::parse(text) {
            all.extend(expression.names().into_iter().map(str::to_owned));
        }
    }
    all.retain(|name| options.aliases.iter().all(|(alias, _)| alias != name));
    let mut seen = std::collections::HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all
}

/// Returns the column with values that a name refers to, and the part of the name that refers to it. For a
/// member of records, it is the column of the records.
fn column(table: &Table, name: &str) -> Result<Option<(String, u32)>> {
    let fields = table.fields()?;
    let mut part = name;
    loop {
        for path in [part.to_owned(), part.replace('.', "/")] {
            if let Some(field) = table.found(&path)?
                && fields.get(field as usize).is_some_and(|field| field.has_data)
            {
                return Ok(Some((part.to_owned(), field)));
            }
        }
        match part.rfind(['.', '/']) {
            Some(end) if end > 0 => part = &part[..end],
            _ => return Ok(None),
        }
    }
}
