//! `forthwith schema`: names and types, and nothing that depends on entries.

use crate::{console::Console, failure::Result, human, opened::Place, shape::Shape, survey::survey_first};
use serde::Serialize;
use serde_json::Value as Json;

/// The place in which a file keeps its schema as JSON, if it does.
const KEPT: &str = "avro.schema";

/// One column.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// The type as the file says.
    #[serde(rename = "type")]
    type_name: String,
    /// The type of its array; nothing if it cannot be read.
    array: Option<String>,
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
    // Lines to grep in: a name and a type, never cut.
    rows.iter().try_for_each(|row| {
        let array = row.array.as_ref().map_or("not supported yet", String::as_str);
        console.line(&format!("{}: {}", human::clean(&row.name), human::clean(array)))
    })
}
