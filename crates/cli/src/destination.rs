//! The file that a command writes: which names are taken for it, and what becomes of a file that has the name.

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

/// The files that are read and the one that is written: `--output`, or else the last of the names. They are one list to the
/// parser, since options may stand anywhere among them.
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

/// One file that is read, and the one that is written.
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

/// Refuses a name that ends as those of another format's files do, which `convert` writes.
pub(crate) fn check_format(to: &OsStr, format: &str) -> Result<()> {
    check_ending(format, &to.to_string_lossy()).map_err(|error| {
        let is_other = matches!(error.kind, ErrorKind::Invalid { .. });
        let failure = Failure::from(error);
        if is_other { failure.hinted("forthwith convert writes files of other formats") } else { failure }
    })
}

/// Whether a file of that name is there, which is replaced.
///
/// # Errors
/// It is there, and nothing says that it may be replaced.
pub(crate) fn is_replaced(to: &OsStr, force: bool) -> Result<bool> {
    let is_there = Path::new(to).is_file();
    if is_there && !force {
        return Err(Failure::misuse(format!("{} exists; --force replaces it", Path::new(to).display())));
    }
    Ok(is_there)
}

/// Refuses to replace the last of several names if it may be an input, as in hadd's order of names, where the file to write is
/// the first. An older result of a merge is larger than each of its inputs, and not older than the first of them.
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
