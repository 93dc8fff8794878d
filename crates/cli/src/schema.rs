//! `forthwith schema`: prints names and types, independent of entries.

use crate::{
    chain::TargetChain,
    console::Console,
    failure::{Failure, Result},
    human,
    opened::{Opening, Place, Values},
    shape::Shape,
    survey::survey_first,
    target::Target,
};
use forthwith::{ChainProjection, Damage, FileProjection, MissingColumns, ProjectedField};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Metadata key under which Avro files store their schema as JSON.
const KEPT: &str = "avro.schema";

/// One column.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// The type as declared in the file.
    #[serde(rename = "type")]
    type_name: String,
    /// The array type; `None` if unreadable.
    array: Option<String>,
}

/// One column of several files.
#[derive(Debug, Serialize)]
struct ChainRow {
    name: String,
    /// The common type; `None` if the column is unreadable in any file.
    array: Option<String>,
    /// Number of files with this column.
    files: usize,
}

pub(crate) fn schema(place: &Place, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let kept = place.table.file().metadata().into_iter().find(|(name, _)| name == KEPT);
    if let Some(Ok(schema)) = kept.map(|(_, text)| serde_json::from_slice::<Json>(&text)) {
        return console.json(&schema);
    }
    let branches = survey_first(&place.table, 0)?;
    let rows: Vec<Row> = branches
        .iter()
        .filter(|branch| branch.field.has_data)
        .map(|branch| Row {
            name: branch.field.path.clone(),
            type_name: branch.type_name().to_owned(),
            array: branch.reading().map(|reading| reading.form.type_string()),
        })
        .collect();
    if shape == Shape::Json {
        return console.json(&rows);
    }
    rows.iter().try_for_each(|row| line(&row.name, row.array.as_deref(), console))
}

/// Prints the columns of all files with their common types.
pub(crate) fn schema_of_chain(
    targets: &[Target],
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let missing = MissingColumns::Null;
    let files = TargetChain::new(targets, opening, Values::default(), missing, Damage::Raise)?;
    let (mut projections, mut unread) = (Vec::new(), BTreeSet::new());
    let mut counts: HashMap<String, usize> = HashMap::new();
    files.look(|_, place| {
        let uri = place.table.file().uri().to_owned();
        let mut projection = FileProjection { uri, ..FileProjection::default() };
        let mut names: HashSet<String> = HashSet::new();
        for branch in survey_first(&place.table, 0)?.into_iter().filter(|branch| branch.field.has_data) {
            let name = branch.field.path.clone();
            if names.insert(name.clone()) {
                *counts.entry(name.clone()).or_default() += 1;
            }
            match branch.reading().map(|reading| reading.form.clone()) {
                Some(form) => projection.columns.push(ProjectedField { name, field: branch.index, form }),
                None => drop(unread.insert(name)),
            }
        }
        projections.push(projection);
        Ok(())
    })?;
    for projection in &mut projections {
        projection.columns.retain(|field| !unread.contains(&field.name));
    }
    let common = ChainProjection::unite(projections, missing);
    let common = common.map_err(|error| Failure::misuse(error.to_string()))?;
    let row = |name: &str, array| {
        let (name, files) = (name.to_owned(), counts.get(name).copied().unwrap_or(0));
        ChainRow { name, array, files }
    };
    let readable = common.columns().map(|(name, form)| row(name, Some(form.type_string())));
    let unread = unread.iter().map(|name| row(name, None));
    let rows: Vec<ChainRow> = readable.chain(unread).collect();
    if shape == Shape::Json {
        return console.json(&rows);
    }
    rows.iter().try_for_each(|row| line(&row.name, row.array.as_deref(), console))
}

/// Prints a name and type on one line for grep; never truncated.
fn line(name: &str, array: Option<&str>, console: &mut Console<'_>) -> Result<()> {
    let array = array.unwrap_or("not supported yet");
    console.line(&format!("{}: {}", human::clean(name), human::clean(array)))
}
