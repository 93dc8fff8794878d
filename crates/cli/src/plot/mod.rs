//! `forthwith plot`: draws histograms of numeric columns and of histogram objects.

mod columns;
mod drawing;
mod fill;
mod objects;
mod output;
mod pairs;
mod tables;

use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    flags,
    opened::{self, Opening, Place},
    picture::{MOST_SERIES, Picture, Style},
    shape::Shape,
    target::Target,
};
use forthwith::{File, Key};
use std::ffi::OsString;

/// The columns to draw, their bins and the picture.
#[derive(Debug, PartialEq)]
pub(crate) struct Plotting {
    choice: Choice,
    /// The column on the vertical axis.
    against: Option<String>,
    entries: u64,
    bins: Option<u16>,
    range: Option<(f64, f64)>,
    y_range: Option<(f64, f64)>,
    style: Style,
    is_density: bool,
    is_overlay: bool,
    /// Whether the files are read as one table.
    pub(crate) is_chain: bool,
    output: Option<Picture>,
}

impl Plotting {
    /// Returns the files from the command line, and the plot options.
    ///
    /// # Errors
    /// The picture's name has an unknown extension.
    pub(crate) fn of(
        typed: flags::Plot,
        exists: impl Fn(&str) -> bool,
    ) -> Result<(Vec<OsString>, Box<Self>)> {
        let flags::Plot { mut targets, mut branch, filter, computing, mut against, .. } = typed;
        let mut words = words(&mut targets, exists).into_iter();
        branch.extend(words.next());
        if let Some(word) = words.next() {
            if against.is_some() {
                return Err(Failure::misuse(format!("{word} is one column too many, as --y names one")));
            }
            against = Some(word);
        }
        if against.is_none() && typed.y_range.is_some() {
            return Err(Failure::misuse("--y-range needs a column along the vertical axis: --y".into()));
        }
        if against.is_some() && (typed.density || typed.ratio) {
            return Err(Failure::misuse("--density and --ratio are for one dimension".into()));
        }
        let has = |letter: char| typed.log.as_ref().is_some_and(|axes| axes.contains(letter));
        let style = Style {
            log_x: has('x'),
            log_y: has('y'),
            log_z: has('z'),
            stats: typed.stats,
            ratio: typed.ratio,
        };
        let plotting = Self {
            choice: Choice::of(branch, filter, computing),
            against,
            entries: typed.entries.unwrap_or(u64::MAX),
            bins: typed.bins,
            range: typed.range,
            y_range: typed.y_range,
            style,
            is_density: typed.density,
            is_overlay: typed.overlay || typed.ratio,
            is_chain: typed.chain,
            output: typed.output.map(|path| Picture::of(path, typed.force)).transpose()?,
        };
        Ok((targets, Box::new(plotting)))
    }

    /// Returns whether the histograms of all files share one picture.
    pub(crate) const fn is_together(&self) -> bool {
        self.is_overlay || self.output.is_some()
    }

    /// Returns whether an option selects columns or entries.
    fn chooses(&self) -> bool {
        self.choice != Choice::default()
            || self.against.is_some()
            || self.entries != u64::MAX
            || self.bins.is_some()
            || self.range.is_some()
            || self.y_range.is_some()
    }
}

/// Removes column names from the targets: words after a file that neither are files nor look like file names.
fn words(targets: &mut Vec<OsString>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let is_column = |word: &OsString| {
        word.to_str().is_some_and(|word| {
            let looks_like_file =
                word.contains(['/', ':', '*', '?', '[']) || forthwith::FileFormat::of(word).is_ok();
            !looks_like_file && !exists(word)
        })
    };
    let first_is_file = targets.first().is_some_and(|first| !is_column(first));
    if !first_is_file || !(2..=3).contains(&targets.len()) || !targets[1..].iter().all(is_column) {
        return Vec::new();
    }
    targets.drain(1..).filter_map(|word| word.into_string().ok()).collect()
}

/// A drawable part of a file.
enum Source {
    Columns(Place),
    Object(Box<Key>),
}

fn source(file: &File, target: &Target, plotting: &Plotting, console: &mut Console<'_>) -> Result<Source> {
    match opened::place_in(file, target) {
        Ok(place) => {
            place.tell(console);
            Ok(Source::Columns(place))
        }
        Err(Failure::WrongObject { key, .. }) if !key.is_directory => {
            // An object has fixed bins, and no columns or entries to select.
            if plotting.chooses() {
                let what = format!(
                    "{} is a {}: -b, -f, -n, --y, --bins and --range are for branches",
                    key.path, key.class
                );
                return Err(Failure::misuse(what));
            }
            Ok(Source::Object(key))
        }
        Err(failure) => Err(failure),
    }
}

/// Draws the columns or object of one target.
pub(crate) fn plot(
    file: &File,
    target: &Target,
    plotting: &Plotting,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    match source(file, target, plotting, console)? {
        Source::Object(key) if shape == Shape::Text && !plotting.is_together() => {
            crate::object::show(file, &key, Shape::Text, console)
        }
        Source::Object(key) => {
            let drawing = objects::drawing(file, &key, &key.path)?;
            output::all(vec![drawing], plotting, shape, console)
        }
        Source::Columns(place) => {
            let table = tables::PlotTable::of_place(&place, target, plotting, console)?;
            let drawings = columns::drawings(&[table], plotting, shape, console)?;
            output::all(drawings, plotting, shape, console)
        }
    }
}

/// Draws columns of several targets read as one table.
pub(crate) fn chain(
    targets: &[Target],
    plotting: &Plotting,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = tables::PlotTable::of_chain(targets, plotting, opening, console)?;
    let drawings = columns::drawings(&[table], plotting, shape, console)?;
    output::all(drawings, plotting, shape, console)
}

/// Draws several targets in one picture.
pub(crate) fn together(
    targets: &[Target],
    plotting: &Plotting,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let files = targets.iter().map(|target| opened::file(target, opening)).collect::<Result<Vec<_>>>()?;
    let (mut objects, mut tables) = (Vec::new(), Vec::new());
    for (file, target) in files.iter().zip(targets) {
        opened::tell_of_recovery(file, console);
        match source(file, target, plotting, console)? {
            Source::Columns(place) => {
                tables.push(tables::PlotTable::of_place(&place, target, plotting, console)?)
            }
            Source::Object(key) => objects.push((file, target, key)),
        }
    }
    let uris: Vec<&str> = objects.iter().map(|(_, target, _)| target.uri.as_str()).collect();
    let paths: Vec<&str> = objects.iter().map(|(_, _, key)| key.path.as_str()).collect();
    let legends = columns::legends(&uris, &paths);
    let drawn = objects.iter().zip(legends).map(|((file, _, key), name)| objects::drawing(file, key, &name));
    let mut drawings = drawn.collect::<Result<Vec<_>>>()?;
    if !tables.is_empty() {
        drawings.extend(columns::drawings(&tables, plotting, shape, console)?);
    }
    if drawings.len() > MOST_SERIES {
        return Err(too_many(drawings.len()));
    }
    output::all(drawings, plotting, shape, console)
}

/// Returns the error for a picture with too many histograms.
fn too_many(count: usize) -> Failure {
    Failure::misuse(format!("a picture has at most {MOST_SERIES} histograms or graphs, not {count}"))
}
