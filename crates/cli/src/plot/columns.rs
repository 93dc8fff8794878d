//! Reads the columns of tables that are drawn.

use super::{
    Plotting,
    drawing::Drawing,
    fill::{Column, fill},
    pairs,
    tables::PlotTable,
    too_many,
};
use crate::{
    console::Console,
    failure::{Failure, Result},
    picture::MOST_SERIES,
    shape::Shape,
};

/// Fills the histograms of the drawn columns. Histograms in one picture have the same bins.
pub(super) fn drawings(
    tables: &[PlotTable],
    plotting: &Plotting,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<Vec<Drawing>> {
    let columns: Vec<_> =
        tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column))).collect();
    if columns.is_empty() {
        return Err(Failure::misuse("there are no numbers to draw".into()));
    }
    if plotting.against.is_some() {
        let mut drawings = Vec::new();
        for (table, column) in columns {
            if let Some(against) = &table.against {
                drawings.push(pairs::fill(table, column, against, plotting, shape, console)?);
            }
        }
        return Ok(drawings);
    }
    let several = columns.len() > 1 && plotting.is_together();
    if several && columns.len() > MOST_SERIES {
        return Err(too_many(columns.len()));
    }
    let files: Vec<&str> = columns.iter().map(|(table, _)| table.uri.as_str()).collect();
    let names: Vec<&str> = columns.iter().map(|(_, (name, _))| name.as_str()).collect();
    let legends = legends(&files, &names);
    let mut opened = Vec::new();
    for ((table, column), legend) in columns.into_iter().zip(legends) {
        let (steps, title) = (table.steps(&[column], plotting)?, table.title.clone());
        let known = table.known(&column.0);
        opened.push(Column { name: column.0.clone(), legend, title, steps, known });
    }
    let groups: Vec<Vec<Column>> =
        if plotting.is_together() { vec![opened] } else { opened.into_iter().map(|one| vec![one]).collect() };
    let mut drawings = Vec::new();
    for group in groups {
        drawings.extend(fill(group, plotting, shape, console)?);
    }
    Ok(drawings)
}

/// Returns the legend labels of one picture: names, files or both, depending on where they differ.
pub(super) fn legends(files: &[&str], names: &[&str]) -> Vec<String> {
    let differ = |words: &[&str]| words.iter().any(|word| word != &words[0]);
    let short = shortened(files);
    let legend = |(file, name): (&String, &&str)| match (differ(files), differ(names)) {
        (true, true) => format!("{file}: {name}"),
        (true, false) => file.clone(),
        (false, _) => (*name).to_owned(),
    };
    short.iter().zip(names).map(legend).collect()
}

/// Returns file names without the folders common to all.
fn shortened(files: &[&str]) -> Vec<String> {
    let folders = |file: &str| file.rmatch_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>();
    let common = files.first().map_or(0, |first| {
        let is_common = |end: &usize| files.iter().all(|file| file.get(..*end) == first.get(..*end));
        folders(first).into_iter().find(is_common).unwrap_or(0)
    });
    files.iter().map(|file| file[common..].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_say_what_differs() {
        let legends = |files: &[&str], names: &[&str]| legends(files, names).join("|");
        assert_eq!(legends(&["d/a.root", "d/a.root"], &["x", "y"]), "x|y");
        assert_eq!(legends(&["d/e/a.root", "d/f/b.root"], &["x", "x"]), "e/a.root|f/b.root");
        assert_eq!(legends(&["d/a.root", "d/b.root"], &["x", "y"]), "a.root: x|b.root: y");
        assert_eq!(legends(&["/a", "é/a"], &["x", "x"]), "/a|é/a");
    }
}
