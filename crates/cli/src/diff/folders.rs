//! Comparison of folders: files with equal paths are compared.

use super::{Comparison, Report, Verdict, compare, render};
use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    opened::Opening,
    shape::Shape,
    target::Target,
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Answer for two folders.
#[derive(Debug, Serialize)]
struct Folders {
    left: String,
    right: String,
    verdict: Verdict,
    /// Files that only one of the folders has.
    only: [Vec<String>; 2],
    files: Vec<Report>,
    /// Files that could not be compared, with the reason.
    failed: Vec<(String, String)>,
}

pub(super) fn diff(
    asked: &Comparison,
    [left, right]: [&Target; 2],
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<Verdict> {
    let (own, mut others) = (files(left, opening)?, files(right, opening)?);
    let mut found = Folders {
        left: left.typed(),
        right: right.typed(),
        verdict: Verdict::Same,
        only: Default::default(),
        files: Vec::new(),
        failed: Vec::new(),
    };
    let name = |path: &Path| human::clean(&path.to_string_lossy());
    for (path, target) in own {
        let Some(other) = others.remove(&path) else {
            found.only[0].push(name(&path));
            continue;
        };
        match compare(asked, &[vec![target], vec![other]], opening, console) {
            Ok(report) => {
                found.verdict = found.verdict.max(report.verdict);
                if shape != Shape::Json && !asked.quiet && report.verdict != Verdict::Same {
                    console.line(&console.paint.strong(&name(&path)))?;
                    console.text(&render::text(&report, console.paint))?;
                }
                found.files.push(report);
            }
            Err(failure) if matches!(failure.code(), 0 | 130) => return Err(failure),
            Err(failure) => {
                console.fail(&failure);
                found.verdict = Verdict::Incomplete;
                found.failed.push((name(&path), failure.to_string()));
            }
        }
    }
    found.only[1].extend(others.keys().map(|path| name(path)));
    if !asked.common && found.only.iter().any(|only| !only.is_empty()) {
        found.verdict = found.verdict.max(Verdict::Different);
    }
    if shape == Shape::Json {
        console.json(&found)?;
    } else if !asked.quiet {
        console.text(&text(&found, asked.common))?;
    }
    Ok(found.verdict)
}

/// Pairs a file with the file of its name in a folder.
pub(super) fn beside(sides: [&Target; 2], folder_is_left: bool) -> Result<[Target; 2]> {
    let (folder, file) = if folder_is_left { (sides[0], sides[1]) } else { (sides[1], sides[0]) };
    let Some(name) = file.name().file_name() else {
        return Err(Failure::misuse(format!(
            "{} has no name to look for in {}",
            file.typed(),
            folder.typed()
        )));
    };
    let path = folder.name().join(name);
    let within = Target { uri: path.to_string_lossy().into_owned(), path: None, ..file.clone() };
    Ok(if folder_is_left { [within, file.clone()] } else { [file.clone(), within] })
}

/// Returns the files of a folder and its subfolders, by their paths in it.
fn files(folder: &Target, opening: &Opening) -> Result<BTreeMap<PathBuf, Target>> {
    let base = folder.name().to_owned();
    let (files, _) = folder.clone().expanded(&opening.store())?;
    let inner = |file: &Target| file.name().strip_prefix(&base).unwrap_or(file.name()).to_owned();
    Ok(files.into_iter().map(|file| (inner(&file), file)).collect())
}

fn text(found: &Folders, common: bool) -> String {
    let mut text = String::new();
    for (only, folder) in found.only.iter().zip([&found.left, &found.right]) {
        if !common && !only.is_empty() {
            text += &format!("only in {}: {}\n", human::clean(folder), only.join(", "));
        }
    }
    let differing = found.files.iter().filter(|file| file.verdict != Verdict::Same).count();
    let all = human::counted(found.files.len() as u64, "file", "files");
    text += &match (found.verdict, differing) {
        (Verdict::Same, _) => format!("same: {all}\n"),
        (_, differing) => format!("{} of {all} differ\n", human::count(differing as u64)),
    };
    text
}
