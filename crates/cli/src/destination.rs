//! The file that a command writes: its name, and replacing an existing file.

use crate::{
    failure::{Failure, Result},
    target::Target,
};
use forthwith::{check_ending, plan::ErrorKind};
use std::{
    ffi::{OsStr, OsString},
    fs::Metadata,
    path::Path,
};

/// Returns the files to read and the file to write: `output`, or else the last of the names. The parser has
/// them in one list, since options may be anywhere between them.
pub(crate) fn with_destination(
    command: &str,
    mut targets: Vec<OsString>,
    output: Option<OsString>,
) -> Result<(Vec<OsString>, OsString)> {
    let missing =
        || Failure::misuse(format!("the file to write is missing: forthwith {command} [OPTIONS] FILE... TO"));
    let to = match output {
        Some(to) => to,
        None => targets.pop().filter(|_| !targets.is_empty()).ok_or_else(missing)?,
    };
    Ok((targets, to))
}

/// Returns the single file to read, and the file to write.
pub(crate) fn one_with_destination(
    command: &str,
    target: OsString,
    to: Option<OsString>,
    output: Option<OsString>,
) -> Result<(Vec<OsString>, OsString)> {
    let (targets, to) = with_destination(command, [target].into_iter().chain(to).collect(), output)?;
    match &targets[..] {
        [_] => Ok((targets, to)),
        _ => Err(Failure::misuse(format!("{command} reads one file: give either TO or --output, not both"))),
    }
}

/// Returns an error if the extension of a name is that of another format, which only `convert` writes.
pub(crate) fn check_format(to: &OsStr, format: &str) -> Result<()> {
    check_ending(format, &to.to_string_lossy()).map_err(|error| {
        let is_other = matches!(error.kind, ErrorKind::Invalid { .. });
        let failure = Failure::from(error);
        if is_other { failure.hinted("forthwith convert writes files of other formats") } else { failure }
    })
}

/// Whether an existing file will be replaced.
///
/// # Errors
/// Returns an error if the file exists and `force` is not set.
pub(crate) fn is_replaced(to: &OsStr, force: bool) -> Result<bool> {
    let is_there = Path::new(to).is_file();
    if is_there && !force {
        return Err(Failure::misuse(format!("{} exists; --force replaces it", Path::new(to).display())));
    }
    Ok(is_there)
}

/// Returns an error if the last of several names may be an input that would be replaced, as with the order of
/// `hadd`, where the first name is the output. An older result of a merge is larger than each input, and not
/// older than the first one.
pub(crate) fn check_order(targets: &[Target], to: &OsStr) -> Result<()> {
    let regular = |path: &Path| path.metadata().ok().filter(Metadata::is_file);
    let (Some(last), [first, ..]) = (regular(Path::new(to)), targets) else { return Ok(()) };
    let doubt = targets.iter().find_map(|target| {
        let input = regular(target.name())?;
        if input.len() >= last.len() {
            return Some((target, "no larger"));
        }
        let is_older = target == first && last.modified().ok()? < input.modified().ok()?;
        is_older.then_some((target, "older"))
    });
    let Some((input, is)) = doubt else { return Ok(()) };
    let to = Path::new(to).display();
    let what = format!(
        "{to} would be replaced, since merge writes to the last name; it is {is} than {}, so it may be an input",
        input.typed()
    );
    Err(Failure::misuse(what).hinted(format!(
        "name the file to write with --output: merge -f -o {} ..., or merge -f -o {to} ...",
        first.typed()
    )))
}
