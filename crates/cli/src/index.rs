//! `forthwith index`: stores the metadata of a file in a separate file.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    opened::Opening,
    target::Target,
};
use forthwith::{
    files::{self, IndexPlace},
    index as index_of,
};

pub(crate) fn index(
    targets: &[Target],
    to: Option<&str>,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let place = to.map_or(IndexPlace::Beside, |to| IndexPlace::At(to.to_owned()));
    let mut code = 0;
    for target in targets {
        match one(target, targets.len() > 1, &place, opening) {
            Ok(line) => console.line(&line)?,
            Err(failure) if targets.len() == 1 => return Err(failure),
            Err(failure) => {
                console.fail(&failure);
                code = if code == 0 { failure.code() } else { code };
            }
        }
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}

fn one(target: &Target, is_one_of_several: bool, place: &IndexPlace, opening: &Opening) -> Result<String> {
    if target.is_stream() {
        return Err(Failure::misuse(format!("{} is not a file that can be opened again", target.uri)));
    }
    if !target.object.is_empty() {
        return Err(Failure::misuse(format!("an index is made for a whole file: {}", target.uri)));
    }
    let (to, is_named) = place.of(&target.uri);
    if is_one_of_several && is_named {
        let what = format!("{to} can be the index of one file only: --to takes a folder, which ends in /");
        return Err(Failure::misuse(what));
    }
    let store = opening.store();
    let source = files::source_with(target.name(), &store)?;
    let index = index_of(source)?;
    let to = files::write_index(&index, &target.uri, place, &store)?;
    let bytes = index.ranges().iter().fold(0, |sum, range| sum + (range.end - range.start));
    Ok(format!(
        "{}: {} in {} of a file of {}",
        human::clean(&to),
        human::bytes(bytes),
        human::counted(index.ranges().len() as u64, "part", "parts"),
        human::bytes(index.size()),
    ))
}
