//! `forthwith show`: lists the branches of a tree.

use crate::{
    choice,
    console::Console,
    failure::Result,
    human,
    opened::Place,
    paint::{Paint, Style},
    shape::Shape,
    survey::{self, Branch, Means},
    table::{Align, Cell, Table},
    words::{Counted, Words},
};
use serde::Serialize;

/// The output.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    file: String,
    format: String,
    #[serde(skip)]
    words: &'static Words,
    tree: String,
    entries: u64,
    compression: String,
    /// Number and size of blocks, for formats where each block holds all columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Blocks>,
    branches: Vec<Row>,
    /// Paths of attribute sets, tables that describe ranges of entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attribute_sets: Vec<String>,
}

/// Blocks of whole rows.
#[derive(Clone, Copy, Debug, Serialize)]
struct Blocks {
    number: u64,
    stored_bytes: u64,
}

/// One branch.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    path: String,
    title: String,
    #[serde(rename = "type")]
    type_name: String,
    decoder: Means,
    /// The array type, such as `var * float32`.
    array: Option<String>,
    /// Why it is unreadable.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    entries: u64,
    #[serde(flatten)]
    size: Option<Size>,
}

/// Size of a column in the file, where known.
#[derive(Clone, Copy, Debug, Serialize)]
struct Size {
    baskets: u64,
    stored_bytes: u64,
    payload_bytes: u64,
}

pub(crate) fn show(place: &Place, filter: &[String], shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let table = &place.table;
    let branches = choice::within(place, filter)?;
    let info = table.file().info()?;
    let words = place.words;
    // In row formats, all columns have the same description.
    let blocks = branches.iter().find_map(|branch| branch.description.as_ref().ok()).filter(|_| words.rows);
    let blocks = blocks.map(|d| Blocks { number: d.blocks, stored_bytes: info.size });
    let report = Report {
        file: table.file().uri().to_owned(),
        format: info.format,
        words,
        tree: table.path().to_owned(),
        entries: table.entries()?,
        compression: info.compression,
        blocks,
        branches: branches.iter().map(|branch| row(branch, words)).collect(),
        attribute_sets: table
            .attribute_sets()
            .iter()
            .map(|name| format!("{}@{name}", table.path()))
            .collect(),
    };
    if shape == Shape::Text {
        console.text(&render(&report, console.width, console.paint))
    } else {
        console.json(&report)
    }
}

fn row(branch: &Branch, words: &Words) -> Row {
    let means = branch.means();
    let description = branch.description.as_ref().ok();
    Row {
        path: branch.field.path.clone(),
        title: branch.field.title.clone(),
        type_name: branch.type_name().to_owned(),
        decoder: means,
        array: branch.reading().filter(|_| means != Means::Group).map(|r| r.form.type_string()),
        problem: matches!(means, Means::Unsupported | Means::Damaged).then(|| branch.reason().to_owned()),
        entries: branch.entries(),
        size: description.filter(|_| !words.rows).map(|d| Size {
            baskets: d.blocks,
            stored_bytes: d.stored_bytes,
            payload_bytes: d.payload_bytes,
        }),
    }
}

fn render(report: &Report, width: Option<usize>, paint: Paint) -> String {
    let tree = human::clean(&report.tree);
    let words = report.words;
    let mut text = format!(
        "{} {} in {}\n\n",
        paint.strong(if report.tree.is_empty() { "table" } else { &tree }),
        paint.faint(&human::counted(report.entries, "entry", "entries")),
        human::clean(&report.file)
    );
    let mut table = Table::new(&[
        (words.column[0], Align::Name),
        ("type", Align::Left),
        ("decoder", Align::Left),
        ("entries", Align::Right),
        (words.block[1], Align::Spare),
        ("stored", Align::Spare),
        ("decompressed", Align::Spare),
        ("ratio", Align::Spare),
    ]);
    for row in &report.branches {
        let means = row.decoder;
        if means == Means::Group {
            table.row([
                row.path.as_str().into(),
                row.type_name.as_str().into(),
                Cell::new(Style::Faint, "group"),
            ]);
            continue;
        }
        let unusual = row.entries != report.entries;
        let mut cells = vec![
            row.path.as_str().into(),
            row.type_name.as_str().into(),
            Cell::new(means.style(), means.name()),
            if unusual { human::count(row.entries).into() } else { Cell::default() },
        ];
        if let Some(size) = row.size {
            let Size { baskets, stored_bytes, payload_bytes } = size;
            cells.extend([
                human::count(baskets).into(),
                human::bytes(stored_bytes).into(),
                if payload_bytes == 0 { "-".into() } else { human::bytes(payload_bytes).into() },
                human::ratio(payload_bytes, stored_bytes).into(),
            ]);
        }
        table.row(cells);
    }
    text.push_str(&table.render(width, paint));
    let tally = survey::tally(report.branches.iter().map(|row| row.decoder));
    text.push_str(&format!("\n{}: {}\n", words.columns(tally.iter().sum()), kinds(tally)));
    if let Some(Blocks { number, stored_bytes }) = report.blocks {
        let (blocks, codec) = (words.blocks(number), &report.compression);
        text.push_str(&format!("{blocks}, codec {codec}, {} with the header\n", human::bytes(stored_bytes)));
    }
    let sizes = || report.branches.iter().filter_map(|row| row.size);
    if sizes().next().is_some() {
        let stored = sizes().map(|size| size.stored_bytes).fold(0, u64::saturating_add);
        let payload = sizes().map(|size| size.payload_bytes).fold(0, u64::saturating_add);
        text.push_str(&format!(
            "{} stored, {} decompressed, ratio {}\n",
            human::bytes(stored),
            human::bytes(payload),
            human::ratio(payload, stored),
        ));
    }
    if !report.attribute_sets.is_empty() {
        let sets: Vec<_> = report.attribute_sets.iter().map(|path| human::clean(path)).collect();
        text.push_str(&format!("attribute sets: {}\n", sets.join(", ")));
    }
    text
}

/// Formats the number of columns of each kind, such as `18 by kernels, 6 by programs, 1 unsupported`.
pub(crate) fn kinds(tally: [u64; 4]) -> String {
    let mut parts = Vec::new();
    let what = ["by kernels", "by programs", "by the format", "unsupported"];
    for (number, what) in tally.into_iter().zip(what) {
        if number > 0 {
            parts.push(format!("{} {what}", human::count(number)));
        }
    }
    if parts.is_empty() { "none with data".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { baskets: 11, stored_bytes: 23_456, payload_bytes: 46_912 };

    fn row(path: &str, type_name: &str, decoder: Means) -> Row {
        Row {
            path: path.into(),
            title: String::new(),
            type_name: type_name.into(),
            decoder,
            array: None,
            problem: None,
            entries: 3600,
            size: Some(SIZE),
        }
    }

    #[test]
    fn a_tree_as_text() {
        let short = Row { entries: 12, ..row("hits/hits.x", "float[hits_]", Means::Kernel) };
        let report = Report {
            file: "events.root".into(),
            format: "ROOT".into(),
            words: &Words {
                table: "tree",
                column: ["branch", "branches"],
                block: ["basket", "baskets"],
                rows: false,
            },
            tree: "dir/events".into(),
            entries: 3600,
            compression: "ZLIB level 1".into(),
            blocks: None,
            branches: vec![
                row("MET_pt", "float", Means::Kernel),
                row("hits", "vector<Hit>", Means::Group),
                short,
                row("tags", "std::vector<std::string>", Means::Program),
                Row {
                    size: Some(Size { payload_bytes: 0, ..SIZE }),
                    ..row("ref", "TRef", Means::Unsupported)
                },
            ],
            attribute_sets: vec!["dir/events@runs".into()],
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
        attribute sets: dir/events@runs
        ");
        insta::assert_snapshot!(render(&report, Some(70), Paint { color: false }), @r"
        dir/events 3,600 entries in events.root

        branch       type               decoder      entries  baskets   stored
        MET_pt       float              kernel                     11  23.5 kB
        hits         vector<Hit>        group
        hits/hits.x  float[hits_]       kernel            12       11  23.5 kB
        tags         std::vector<std:…  program                    11  23.5 kB
        ref          TRef               unsupported                11  23.5 kB

        4 branches: 2 by kernels, 1 by programs, 1 unsupported
        117 kB stored, 188 kB decompressed, ratio 1.60
        attribute sets: dir/events@runs
        ");
    }

    #[test]
    fn kinds_leave_out_what_there_is_not() {
        assert_eq!(kinds([1, 0, 0, 2]), "1 by kernels, 2 unsupported");
        assert_eq!(kinds([0; 4]), "none with data");
    }
}
