//! Conversion of all tables of a file to files in a folder.

use super::{Conversion, convert, format};
use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    opened::{self, Opening},
    target::Target,
};
use std::{
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
};

/// Whether a name is an existing folder or ends in `/`.
pub(super) fn is_folder(to: &OsStr) -> bool {
    Path::new(to).is_dir() || to.to_string_lossy().ends_with('/')
}

/// Converts each table of a file to a file under its path, with a note about other objects.
pub(super) fn tables(
    targets: &[Target],
    choice: &Choice,
    asked: &Conversion,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let [target] = targets else {
        let what =
            format!("the tables of one file are written to a folder, not those of {} files", targets.len());
        return Err(Failure::misuse(what));
    };
    if asked.format.is_none() {
        return Err(Failure::misuse(
            "a folder has no file ending: give the format of its files with --format".into(),
        ));
    }
    let format = format(asked, console)?;
    let ending = format.ending();
    let file = opened::file(target, opening)?;
    let paths = match target.object.as_str() {
        "" => opened::trees(&file)?,
        _ => vec![opened::place_in(&file, target)?.table.path().to_owned()],
    };
    if paths.is_empty() {
        return Err(Failure::misuse(format!("{} has no tables to write", target.typed())));
    }
    let objects = file.keys("", true)?.iter().filter(|key| !key.is_table && !key.is_directory).count() as u64;
    if objects > 0 && target.object.is_empty() {
        let objects = crate::human::counted(objects, "object", "objects");
        console.note(&format!("left out {objects} that are no tables"));
    }
    let folder = Path::new(&asked.to);
    for path in paths {
        let to = within(folder, &path, ending)?;
        if let Some(above) = to.parent() {
            let unwritable =
                |error| Failure::Unwritable { path: above.to_string_lossy().into_owned(), error };
            fs::create_dir_all(above).map_err(unwritable)?;
        }
        let one = [Target { object: path, ..target.clone() }];
        convert(&one, choice, &Conversion { to: to.into_os_string(), ..asked.clone() }, opening, console)?;
    }
    Ok(())
}

/// Returns the path of the file of a table in the folder, or an error if it would be outside of the folder.
fn within(folder: &Path, path: &str, ending: &str) -> Result<PathBuf> {
    let name = if path.is_empty() { "table" } else { path };
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || name.contains('\0') {
        return Err(Failure::misuse(format!("{name:?} is not the name of a file: cp gives it another one")));
    }
    Ok(folder.join(format!("{name}.{ending}")))
}
