//! `forthwith diff`: compares files, tables, objects or folders.

mod folders;
mod render;
mod sequences;

use crate::{
    console::{Console, bar},
    failure::{Failure, Result},
    flags::Diff,
    glob::Patterns,
    opened::{self, Opening, Place},
    shape::Shape,
    target::Target,
};
use forthwith::{
    DiffOptions, File, FileDiff, ObjectDiff, PathFilter, Table, TableDiff, diff_files, diff_objects,
};
use serde::Serialize;
use std::{collections::HashSet, path::Path, sync::Arc};

/// Two sides to compare, and the options.
#[derive(Debug, PartialEq)]
pub(crate) struct Comparison {
    /// One file or folder on each side, or several files.
    sides: [Vec<Target>; 2],
    columns: Vec<String>,
    on: Vec<String>,
    same_content: bool,
    /// Relative and absolute tolerance.
    tolerance: [f64; 2],
    bitwise: bool,
    nan_differs: bool,
    common: bool,
    skip_unsupported: bool,
    brief: bool,
    most: usize,
    quiet: bool,
}

/// Result of a comparison.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Found {
    File(FileDiff),
    Table(TableDiff),
    Object(ObjectDiff),
}

impl Found {
    /// Whether the comparison ended at the first difference.
    const fn has_stopped(&self) -> bool {
        match self {
            Self::File(found) => found.stopped,
            Self::Table(found) => found.stopped,
            Self::Object(_) => false,
        }
    }
}

/// Overall result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Same,
    Different,
    /// A part could not be compared.
    Incomplete,
}

/// Answer for one pair of files.
#[derive(Debug, Serialize)]
struct Report {
    left: String,
    right: String,
    verdict: Verdict,
    #[serde(flatten)]
    found: Found,
}

impl Comparison {
    /// # Errors
    /// Returns an error unless there are two files, or several on each side of `--`.
    pub(crate) fn of(typed: Diff) -> Result<Self> {
        let exists = |name: &str| Path::new(name).exists();
        let (own, others) = (typed.left, typed.right);
        let sides = match (&own[..], &others[..]) {
            ([left, right], []) | ([], [left, right]) => [vec![left], vec![right]],
            ([_, ..], [_, ..]) => [own.iter().collect(), others.iter().collect()],
            _ => {
                let what = "diff compares two files, or several with -- between those of the two sides";
                return Err(Failure::misuse(what.into()));
            }
        };
        Ok(Self {
            sides: sides.map(|side| side.into_iter().map(|name| Target::of(name, exists)).collect()),
            columns: typed.columns,
            on: typed.on,
            same_content: typed.same_content,
            tolerance: [typed.rtol, typed.atol],
            bitwise: typed.bitwise,
            nan_differs: typed.nan_differs,
            common: typed.common,
            skip_unsupported: typed.skip_unsupported,
            brief: typed.brief,
            most: typed.most,
            quiet: typed.quiet,
        })
    }

    fn options(&self, opening: &Opening) -> Result<DiffOptions> {
        let patterns = Patterns::of(&self.columns).map_err(Failure::misuse)?;
        let columns = (!self.columns.is_empty()).then(|| -> PathFilter {
            Arc::new(move |path| patterns.want(path, path.rsplit('/').next().unwrap_or(path)))
        });
        Ok(DiffOptions {
            rtol: self.tolerance[0],
            atol: self.tolerance[1],
            bitwise: self.bitwise,
            nan_equal: !self.nan_differs,
            same_content: self.same_content,
            on: self.on.clone(),
            columns,
            common: self.common,
            brief: self.brief,
            most: self.most,
            threads: opening.threads,
        })
    }
}

/// Compares the sides, and returns the verdict as exit code.
pub(crate) fn diff(
    asked: &Comparison,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let compared = match asked.sides.each_ref().map(Vec::as_slice) {
        [[left], [right]] => match [left, right].map(|side| side.name().is_dir()) {
            [true, true] => folders::diff(asked, [left, right], shape, opening, console),
            [false, false] => one(asked, &asked.sides, shape, opening, console),
            [is_left, _] => match folders::beside([left, right], is_left) {
                Ok(sides) => one(asked, &sides.map(|side| vec![side]), shape, opening, console),
                Err(failure) => Err(failure),
            },
        },
        _ => one(asked, &asked.sides, shape, opening, console),
    };
    let verdict = match compared {
        Ok(verdict) => verdict,
        // The output was closed, or Ctrl-C was pressed.
        Err(failure) if matches!(failure.code(), 0 | 130) => return Err(failure),
        Err(failure) => {
            console.fail(&failure);
            Verdict::Incomplete
        }
    };
    match verdict {
        Verdict::Same => Ok(()),
        Verdict::Different => Err(Failure::Told { code: 1 }),
        Verdict::Incomplete => Err(Failure::Told { code: 2 }),
    }
}

fn one(
    asked: &Comparison,
    sides: &[Vec<Target>; 2],
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<Verdict> {
    let report = compare(asked, sides, opening, console)?;
    if shape == Shape::Json {
        console.json(&report)?;
    } else if !asked.quiet {
        console.text(&render::text(&report, console.paint))?;
    }
    Ok(report.verdict)
}

/// Compares two files, or the tables or objects named in them, or the tables of several files.
fn compare(
    asked: &Comparison,
    sides: &[Vec<Target>; 2],
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<Report> {
    let mut options = asked.options(opening)?;
    let mut opened: [Vec<(File, Target)>; 2] = Default::default();
    for (side, files) in sides.iter().zip(&mut opened) {
        for typed in side {
            let (expanded, _) = typed.clone().expanded(&opening.store())?;
            for target in expanded {
                let file = opened::file(&target, opening)?;
                opened::tell_of_recovery(&file, console);
                files.push((file, target));
            }
        }
    }
    let ([(left, own)], [(right, other)]) = (&opened[0][..], &opened[1][..]) else {
        return sequences::compare(asked, sides, &opened, options, console);
    };
    let bar = bar(None, BAR, console.width.is_some() && !asked.quiet);
    let progress: &mut forthwith::DiffProgress<'_> = &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        true
    };
    let are_whole = own.object.is_empty() && other.object.is_empty();
    let mut tables = Vec::new();
    let found = if are_whole && !left.is_one_table() && !right.is_one_table() {
        let found = diff_files(left, right, &options, progress)?;
        if found.stopped && !asked.columns.is_empty() {
            tables = shared_tables([left, right])?;
        }
        Found::File(found)
    } else {
        match (opened::place_in(left, own), opened::place_in(right, other)) {
            (Err(Failure::WrongObject { key, .. }), Err(Failure::WrongObject { key: other, .. }))
                if !key.is_directory && !other.is_directory =>
            {
                Found::Object(diff_objects([left, right], [&key, &other], &options))
            }
            (own, other) => {
                let (own, other) = (own?, other?);
                narrow(&mut options, [&own, &other])?;
                let found = forthwith::diff(&own.table, &other.table, &options, progress)?;
                tables.push([vec![own.table], vec![other.table]]);
                Found::Table(found)
            }
        }
    };
    bar.finish_and_clear();
    refuse_nothing(asked, &options, [left, right], &found, &tables)?;
    let verdict = verdict(asked, &found);
    Ok(Report { left: own.typed(), right: other.typed(), verdict, found })
}

/// Restricts the comparison to the named branch.
fn narrow(options: &mut DiffOptions, places: [&Place; 2]) -> Result<()> {
    let [left, right] = places.map(|place| {
        let fields = place.table.fields().ok()?;
        fields.get(place.branch? as usize).map(|field| field.path.clone())
    });
    match (left, right) {
        (None, None) => Ok(()),
        (Some(left), Some(right)) if left != right => {
            let what =
                format!("{left} and {right} have different names: columns are compared by their names");
            Err(Failure::misuse(what))
        }
        (left, right) => {
            let path = left.or(right).unwrap_or_default();
            options.columns = Some(Arc::new(move |other| other == path));
            Ok(())
        }
    }
}

/// Returns the tables that two files have at equal paths, if they can be opened.
fn shared_tables([left, right]: [&File; 2]) -> Result<Vec<[Vec<Table>; 2]>> {
    let others: HashSet<String> =
        right.keys("", true)?.into_iter().filter(|key| key.is_table).map(|key| key.path).collect();
    let mut paths: Vec<String> =
        left.keys("", true)?.into_iter().filter(|key| key.is_table).map(|key| key.path).collect();
    paths.retain(|path| others.contains(path));
    paths.dedup();
    let both = |path: &String| Some([vec![left.table(path).ok()?], vec![right.table(path).ok()?]]);
    Ok(paths.iter().filter_map(both).collect())
}

/// Whether the compared columns include one of these tables.
fn includes_column(options: &DiffOptions, tables: &[Vec<Table>; 2]) -> bool {
    let included = tables.each_ref().map(|side| -> HashSet<&str> {
        let fields = side.iter().filter_map(|table| table.fields().ok()).flatten();
        let paths = fields.filter(|field| field.has_data && !field.is_part).map(|field| field.path.as_str());
        paths.filter(|path| options.columns.as_ref().is_none_or(|includes| includes(path))).collect()
    });
    let [left, right] = &included;
    match options.common {
        // A column may have different paths in the two tables.
        true if options.same_content => !left.is_empty() && !right.is_empty(),
        true => !left.is_disjoint(right),
        false => !left.is_empty() || !right.is_empty(),
    }
}

/// Returns an error if the patterns match no column, which must not be reported as equality.
///
/// The report lists the matching columns unless the comparison stopped early; then the columns of `tables`
/// are inspected.
fn refuse_nothing(
    asked: &Comparison,
    options: &DiffOptions,
    files: [&File; 2],
    found: &Found,
    tables: &[[Vec<Table>; 2]],
) -> Result<()> {
    let is_empty = |table: &TableDiff| {
        table.columns.is_empty()
            && table.not_compared.is_empty()
            && table.only == <[Vec<String>; 2]>::default()
    };
    let nothing = match found {
        Found::File(found) => found.tables.iter().all(|(_, table)| is_empty(table)),
        Found::Table(found) => is_empty(found),
        Found::Object(_) => true,
    };
    if asked.columns.is_empty()
        || !nothing
        || found.has_stopped() && tables.iter().any(|both| includes_column(options, both))
    {
        return Ok(());
    }
    let table = files.map(|file| file.uri().to_owned()).join(" and ");
    Err(Failure::NoMatch { column: files[0].words().column[0], table, filter: asked.columns.clone() })
}

fn verdict(asked: &Comparison, found: &Found) -> Verdict {
    let complete = |table: &TableDiff| {
        table.is_complete() || asked.skip_unsupported && table.damage.iter().all(Vec::is_empty)
    };
    let (is_same, is_complete) = match found {
        Found::File(found) => (
            found.is_same(),
            found.tables.iter().all(|(_, table)| complete(table))
                && found.objects.iter().all(|object| object.error.is_none()),
        ),
        Found::Table(found) => (found.is_same(), complete(found)),
        Found::Object(found) => (found.differing == 0, found.error.is_none()),
    };
    match (is_complete, is_same) {
        (false, _) => Verdict::Incomplete,
        (true, false) => Verdict::Different,
        (true, true) => Verdict::Same,
    }
}

/// Template of the progress bar.
const BAR: &str = "{wide_bar} {percent:>3} %  {human_pos} entries  {eta}";
