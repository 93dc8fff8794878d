//! `forthwith explain`: how branches are read, or why they cannot be.

use crate::{
    choice,
    console::Console,
    failure::Result,
    human,
    opened::Place,
    paint::Paint,
    shape::Shape,
    survey::{Branch, Means},
};
use forthwith::{
    Table,
    plan::{Decoder, Kernel, Plan},
};
use serde::Serialize;

/// Explanation of a branch.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    path: String,
    #[serde(rename = "type")]
    type_name: String,
    decoder: Means,
    /// Name of the kernel, or size of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    reason: String,
    /// Type of the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<String>,
    columns: Vec<Column>,
    /// Cost of the plan for all entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Cost>,
    /// Reason why there is a decoder but not a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Buffer of the array.
#[derive(Debug, Serialize)]
struct Column {
    key: String,
    dtype: &'static str,
    member: String,
}

/// Cost of a plan.
#[derive(Debug, Serialize)]
struct Cost {
    entries: u64,
    tasks: u64,
    stored_bytes: u64,
    payload_bytes: u64,
    /// Branches that must be read for this one.
    needs: Vec<String>,
}

pub(crate) fn explain(
    place: &Place,
    filter: &[String],
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = &place.table;
    let branches = choice::within(place, filter)?;
    let explained = branches.iter().map(|branch| one(table, branch));
    if shape == Shape::Json {
        return console.json(&explained.collect::<Vec<_>>());
    }
    let mut separate = false;
    for explained in explained {
        if std::mem::replace(&mut separate, true) {
            console.text("\n")?;
        }
        console.text(&render(&explained, console.width, console.paint))?;
    }
    Ok(())
}

/// Returns the explanation of a branch in lines of the given width.
pub(crate) fn text(table: &Table, branch: &Branch, width: usize) -> String {
    render(&one(table, branch), Some(width), Paint { color: false })
}

fn one(table: &Table, branch: &Branch) -> Explained {
    let means = branch.means();
    let mut explained = Explained {
        path: branch.field.path.clone(),
        type_name: branch.type_name().to_owned(),
        decoder: means,
        detail: None,
        reason: if means == Means::Group {
            "it only groups other branches".into()
        } else {
            branch.reason().into()
        },
        array: None,
        columns: Vec::new(),
        plan: None,
        problem: None,
    };
    let Some(reading) = branch.reading().filter(|_| means != Means::Group) else { return explained };
    explained.array = Some(reading.form.type_string());
    explained.detail = Some(detail(&reading.decoder));
    match table.plan(&[branch.index], 0..branch.entries()) {
        Ok(plan) => {
            let columns = plan.groups.first().map(|group| group.columns.as_slice()).unwrap_or_default();
            let column = |c: &forthwith::plan::ColumnSpec| Column {
                key: c.key.clone(),
                dtype: c.dtype.name(),
                member: c.member.clone(),
            };
            explained.columns = columns.iter().map(column).collect();
            explained.plan = Some(cost(&plan));
        }
        Err(error) => explained.problem = Some(error.to_string()),
    }
    explained
}

fn cost(plan: &Plan) -> Cost {
    Cost {
        entries: plan.entries.end.saturating_sub(plan.entries.start),
        tasks: plan.tasks.len() as u64,
        stored_bytes: plan.stored_bytes(),
        payload_bytes: plan.tasks.iter().map(|task| task.payload_hint).fold(0, u64::saturating_add),
        needs: plan.groups.iter().skip(plan.delivered as usize).map(|group| group.path.clone()).collect(),
    }
}

fn detail(decoder: &Decoder) -> String {
    match decoder {
        Decoder::Kernel(Kernel::Flat { per_entry: 1, .. }) => "flat: one value an entry".into(),
        Decoder::Kernel(Kernel::Flat { per_entry, .. }) => {
            format!("flat: {} values an entry", human::count(*per_entry))
        }
        Decoder::Kernel(Kernel::Slots { size, slots }) => {
            format!(
                "slots: {} at fixed places in {} an entry",
                human::counted(slots.len() as u64, "value", "values"),
                human::bytes(*size)
            )
        }
        Decoder::Kernel(Kernel::Jagged { header: 0, .. }) => "jagged: any number of values an entry".into(),
        Decoder::Kernel(Kernel::Jagged { header, .. }) => {
            format!("jagged: any number of values an entry behind {}", human::bytes(u64::from(*header)))
        }
        Decoder::Program(program) => {
            format!(
                "AwkwardForth, {}",
                human::counted(program.source.lines().count() as u64, "line", "lines")
            )
        }
        // Decoders added later are shown by their name.
        other => other.kind().into(),
    }
}

fn render(explained: &Explained, width: Option<usize>, paint: Paint) -> String {
    let means = explained.decoder;
    let mut text =
        format!("{}  {}\n", paint.strong(&human::clean(&explained.path)), human::clean(&explained.type_name));
    let mut line = |label: &str, value: &str| {
        text.push_str("  ");
        text.push_str(&paint.faint(&format!("{label:<9}")));
        text.push_str(&value.lines().map(human::clean).collect::<Vec<_>>().join("\n           "));
        text.push('\n');
    };
    let detail = explained.detail.as_ref().map_or(String::new(), |detail| format!(" ({detail})"));
    line("decoder", &format!("{}{detail}", means.name()));
    match means {
        Means::Unsupported => line("because", &format!("not supported yet: {}", explained.reason)),
        _ => line("because", &explained.reason),
    }
    if let Some(array) = &explained.array {
        let parts: Vec<String> = array.split(", ").map(str::to_owned).collect();
        // Without a width, lines are not wrapped, since a program may read them.
        let folded = width.map(|width| human::wrap(&parts, ",", width, 11).replace("\n           ", "\n"));
        line("array", folded.as_deref().unwrap_or(array));
    }
    if !explained.columns.is_empty() {
        let columns: Vec<_> = explained.columns.iter().map(|c| format!("{} {}", c.key, c.dtype)).collect();
        line("columns", &human::wrap(&columns, ",", width.unwrap_or(100), 11).replace("\n           ", "\n"));
    }
    if let Some(plan) = &explained.plan {
        line(
            "plan",
            &format!(
                "{} entries: {}, {} stored, {} decompressed",
                human::count(plan.entries),
                human::counted(plan.tasks, "task", "tasks"),
                human::bytes(plan.stored_bytes),
                human::bytes(plan.payload_bytes)
            ),
        );
        if !plan.needs.is_empty() {
            line("needs", &plan.needs.join(", "));
        }
    }
    if let Some(problem) = &explained.problem {
        line("problem", problem);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readable_branch_and_an_unreadable_one() {
        let column = |key: &str, dtype| Column { key: key.into(), dtype, member: "hits[]".into() };
        let readable = Explained {
            path: "Muon_pt".into(),
            type_name: "float[nMuon]".into(),
            decoder: Means::Kernel,
            detail: Some("jagged: any number of values an entry".into()),
            reason: "items of one size with entry offsets".into(),
            array: Some("var * float32".into()),
            columns: vec![column("node0-offsets", "int64"), column("node1-data", "float32")],
            plan: Some(Cost {
                entries: 3600,
                tasks: 11,
                stored_bytes: 23_456,
                payload_bytes: 46_912,
                needs: vec!["nMuon".into()],
            }),
            problem: None,
        };
        insta::assert_snapshot!(render(&readable, Some(50), Paint { color: false }), @r"
        Muon_pt  float[nMuon]
          decoder  kernel (jagged: any number of values an entry)
          because  items of one size with entry offsets
          array    var * float32
          columns  node0-offsets int64, node1-data float32
          plan     3,600 entries: 11 tasks, 23.5 kB stored, 46.9 kB decompressed
          needs    nMuon
        ");
        let unreadable = Explained {
            path: "ref".into(),
            type_name: "TRef".into(),
            decoder: Means::Unsupported,
            detail: None,
            reason: "TRef streams itself".into(),
            array: None,
            columns: vec![],
            plan: None,
            problem: None,
        };
        let array = Some("var * {first: int32, second: var * float64, third: string}".into());
        let nested = Explained { array, columns: vec![], plan: None, ..readable };
        insta::assert_snapshot!(render(&nested, Some(50), Paint { color: false }), @r"
        Muon_pt  float[nMuon]
          decoder  kernel (jagged: any number of values an entry)
          because  items of one size with entry offsets
          array    var * {first: int32,
                   second: var * float64, third: string}
        ");
        assert!(render(&nested, None, Paint { color: false }).contains("second: var * float64, third"));
        insta::assert_snapshot!(render(&unreadable, None, Paint { color: false }), @r"
        ref  TRef
          decoder  unsupported
          because  not supported yet: TRef streams itself
        ");
    }
}
