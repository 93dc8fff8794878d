//! `forthwith man`: writes a manual page per command, from the same definitions as the help.

use crate::{
    failure::{Failure, Result},
    flags,
};
use clap::Command;
use clap_mangen::Man;
use std::{fs, io, path::Path};

/// Writes `forthwith.1`, `forthwith-ls.1` and so on to a folder.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let unwritable = |path: &Path, error: io::Error| Failure::Unwritable {
        path: path.to_string_lossy().into_owned(),
        error,
    };
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    for (name, page) in pages().map_err(|error| unwritable(folder, error))? {
        let path = folder.join(name);
        fs::write(&path, page).map_err(|error| unwritable(&path, error))?;
    }
    Ok(())
}

/// Returns the file names and contents of the pages.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    // The command `help` needs no page, since `man` replaces it.
    let mut command = flags::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.filter(|below| below.get_name() != "help").try_for_each(|below| collect(below, pages))
}
