//! Several files on each side, whose tables are concatenated.

use super::{BAR, Comparison, Found, Report, narrow, refuse_nothing, verdict};
use crate::{
    console::{Console, bar},
    failure::{Failure, Result},
    human,
    opened::{self, Place},
    target::Target,
};
use forthwith::{DiffOptions, File, Table, diff_sequences};

/// Compares the tables of several files with those of others.
pub(super) fn compare(
    asked: &Comparison,
    sides: &[Vec<Target>; 2],
    files: &[Vec<(File, Target)>; 2],
    mut options: DiffOptions,
    console: &Console<'_>,
) -> Result<Report> {
    let mut places: [Vec<Place>; 2] = Default::default();
    for (files, places) in files.iter().zip(&mut places) {
        for (file, target) in files {
            places.push(opened::place_in(file, target)?);
        }
    }
    let ([left, ..], [right, ..]) = (&places[0][..], &places[1][..]) else {
        return Err(Failure::misuse("two sides with files are compared".into()));
    };
    narrow(&mut options, [left, right])?;
    let tables =
        places.each_ref().map(|side| side.iter().map(|place| place.table.clone()).collect::<Vec<Table>>());
    let bar = bar(None, BAR, console.width.is_some() && !asked.quiet);
    let found = diff_sequences(&tables[0], &tables[1], &options, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        true
    })?;
    bar.finish_and_clear();
    let found = Found::Table(found);
    refuse_nothing(asked, &options, [left.table.file(), right.table.file()], &found, &[tables])?;
    let verdict = verdict(asked, &found);
    let [left, right] = [0, 1].map(|at: usize| name(&sides[at], files[at].len()));
    Ok(Report { left, right, verdict, found })
}

/// Returns the files of a side, as they were typed.
fn name(side: &[Target], files: usize) -> String {
    match side {
        [one] => one.typed(),
        [first, ..] => format!("{} and {} more", first.typed(), human::count(files as u64 - 1)),
        [] => String::new(),
    }
}
