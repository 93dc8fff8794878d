//! `forthwith show`: the branches of a tree.

use crate::{
    console::Console,
    failure::{Failure, Result},
    glob, human,
    meaning::Shape,
    opened::Place,
    paint::{Paint, Style},
    survey::{self, Branch, Means},
    table::{Align, Cell, Table},
};
use serde::Serialize;

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    file: String,
    tree: String,
    entries: u64,
    branches: Vec<Row>,
}

/// One branch.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    path: String,
    title: String,
    #[serde(rename = "type")]
    type_name: String,
    decoder: Means,
    /// The type of its array, such as `var * float32`.
    array: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    entries: u64,
    baskets: u64,
    stored_bytes: u64,
    payload_bytes: u64,
}

pub(crate) fn show(place: &Place, filter: &[String], shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let table = &place.table;
    let mut branches = survey::survey(table)?;
    if let Some(index) = place.branch {
        survey::keep_below(&mut branches, index);
    }
    branches.retain(|b| glob::wanted(filter, &b.field.path, &b.field.name));
    if branches.is_empty() && !filter.is_empty() {
        return Err(Failure::NoMatch { tree: table.path().to_owned(), filter: filter.to_vec() });
    }
    let report = Report {
        file: table.file().uri().to_owned(),
        tree: table.path().to_owned(),
        entries: table.entries()?,
        branches: branches.iter().map(row).collect(),
    };
    if shape == Shape::Text {
        console.text(&render(&report, console.width, console.paint))
    } else {
        console.json(&report)
    }
}

fn row(branch: &Branch) -> Row {
    let means = branch.means();
    let description = branch.description.as_ref().ok();
    let reading = description.and_then(|d| d.reading.as_ref().ok());
    Row {
        path: branch.field.path.clone(),
        title: branch.field.title.clone(),
        type_name: branch.type_name().to_owned(),
        decoder: means,
        array: reading.filter(|_| means != Means::Group).map(|r| r.form.type_string()),
        problem: matches!(means, Means::Unsupported | Means::Damaged).then(|| branch.reason().to_owned()),
        entries: branch.entries(),
        baskets: description.map_or(0, |d| d.blocks),
        stored_bytes: description.map_or(0, |d| d.stored_bytes),
        payload_bytes: description.map_or(0, |d| d.payload_bytes),
    }
}

fn render(report: &Report, width: Option<usize>, paint: Paint) -> String {
    let tree = human::clean(&report.tree);
    let mut text = format!(
        "{} {} in {}\n\n",
        paint.strong(if report.tree.is_empty() { "table" } else { &tree }),
        paint.faint(&human::counted(report.entries, "entry", "entries")),
        human::clean(&report.file)
    );
    let mut table = Table::new(&[
        ("branch", Align::Left),
        ("type", Align::Left),
        ("decoder", Align::Left),
        ("entries", Align::Right),
        ("baskets", Align::Right),
        ("stored", Align::Right),
        ("decompressed", Align::Right),
        ("ratio", Align::Right),
    ]);
    let mut tally = [0_u64; 3];
    for row in &report.branches {
        let means = row.decoder;
        match means {
            Means::Kernel | Means::Format => tally[0] += 1,
            Means::Program => tally[1] += 1,
            Means::Unsupported | Means::Damaged => tally[2] += 1,
            Means::Group => {
                table.row([
                    row.path.as_str().into(),
                    row.type_name.as_str().into(),
                    Cell::new(Style::Faint, "group"),
                ]);
                continue;
            }
        }
        let unusual = row.entries != report.entries;
        table.row([
            row.path.as_str().into(),
            row.type_name.as_str().into(),
            Cell::new(means.style(), means.name()),
            if unusual { human::count(row.entries).into() } else { Cell::default() },
            human::count(row.baskets).into(),
            human::bytes(row.stored_bytes).into(),
            if row.payload_bytes == 0 { "-".into() } else { human::bytes(row.payload_bytes).into() },
            human::ratio(row.payload_bytes, row.stored_bytes).into(),
        ]);
    }
    text.push_str(&table.render(width, paint));
    let stored = report.branches.iter().map(|r| r.stored_bytes).fold(0, u64::saturating_add);
    let payload = report.branches.iter().map(|r| r.payload_bytes).fold(0, u64::saturating_add);
    text.push_str(&format!(
        "\n{}: {}\n{} stored, {} decompressed, ratio {}\n",
        human::counted(tally.iter().sum(), "branch", "branches"),
        kinds(tally),
        human::bytes(stored),
        human::bytes(payload),
        human::ratio(payload, stored),
    ));
    text
}

/// `18 by kernels, 6 by programs, 1 unsupported`.
pub(crate) fn kinds([kernel, program, neither]: [u64; 3]) -> String {
    let mut parts = Vec::new();
    for (number, what) in [(kernel, "by kernels"), (program, "by programs"), (neither, "unsupported")] {
        if number > 0 {
            parts.push(format!("{} {what}", human::count(number)));
        }
    }
    if parts.is_empty() { "none with data".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, type_name: &str, decoder: Means) -> Row {
        Row {
            path: path.into(),
            title: String::new(),
            type_name: type_name.into(),
            decoder,
            array: None,
            problem: None,
            entries: 3600,
            baskets: 11,
            stored_bytes: 23_456,
            payload_bytes: 46_912,
        }
    }

    #[test]
    fn a_tree_as_text() {
        let short = Row { entries: 12, ..row("hits/hits.x", "float[hits_]", Means::Kernel) };
        let report = Report {
            file: "events.root".into(),
            tree: "dir/events".into(),
            entries: 3600,
            branches: vec![
                row("MET_pt", "float", Means::Kernel),
                row("hits", "vector<Hit>", Means::Group),
                short,
                row("tags", "std::vector<std::string>", Means::Program),
                Row { payload_bytes: 0, ..row("ref", "TRef", Means::Unsupported) },
            ],
        };
        insta::assert_snapshot!(render(&report, None, Paint { color: false }), @r"
        dir/events 3,600 entries in events.root

        branch       type                      decoder      entries  baskets   stored  decompressed  ratio
        MET_pt       float                     kernel                     11  23.5 kB       46.9 kB   2.00
        hits         vector<Hit>               group
        hits/hits.x  float[hits_]              kernel            12       11  23.5 kB       46.9 kB   2.00
        tags         std::vector<std::string>  program                    11  23.5 kB       46.9 kB   2.00
        ref          TRef                      unsupported                11  23.5 kB             -      -

        4 branches: 2 by kernels, 1 by programs, 1 unsupported
        117 kB stored, 188 kB decompressed, ratio 1.60
        ");
        insta::assert_snapshot!(render(&report, Some(70), Paint { color: false }), @r"
        dir/events 3,600 entries in events.root

        branch    type      decoder   entries  baskets   stored  decompressed  ratio
        MET_pt    float     kernel                  11  23.5 kB       46.9 kB   2.00
        hits      vector<…  group
        hits/hi…  float[h…  kernel         12       11  23.5 kB       46.9 kB   2.00
        tags      std::ve…  program                 11  23.5 kB       46.9 kB   2.00
        ref       TRef      unsuppo…                11  23.5 kB             -      -

        4 branches: 2 by kernels, 1 by programs, 1 unsupported
        117 kB stored, 188 kB decompressed, ratio 1.60
        ");
    }

    #[test]
    fn kinds_leave_out_what_there_is_not() {
        assert_eq!(kinds([1, 0, 2]), "1 by kernels, 2 unsupported");
        assert_eq!(kinds([0; 3]), "none with data");
    }
}
