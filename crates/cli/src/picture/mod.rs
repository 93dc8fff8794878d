//! Draws histograms and graphs as SVG or PNG in the style of high-energy physics: `forthwith plot -o FILE`.

mod axis;
mod chart;
mod color;
mod font;
mod frame;
mod graphs;
mod heat;
mod label;
mod legend;
mod parts;
mod png;
mod ratio;
mod scene;
mod svg;
#[cfg(test)]
mod tests;

pub(crate) use chart::chart;
pub(crate) use graphs::graphs;
pub(crate) use heat::heat;
pub(crate) use parts::Style;
pub(crate) use scene::Scene;

use crate::{
    console::Console,
    destination::is_replaced,
    failure::{Failure, Result},
    human,
};
use forthwith::{
    io::{FileSink, Sink},
    plan::Error,
};
use std::{ffi::OsString, io::Write, path::Path};

/// Maximum number of histograms in one picture.
pub(crate) const MOST_SERIES: usize = color::MOST_SERIES;
/// Name for standard output.
const STANDARD: &str = "-";

/// The file for a picture.
#[derive(Debug, PartialEq)]
pub(crate) struct Picture {
    path: OsString,
    force: bool,
    is_png: bool,
}

impl Picture {
    /// Creates a picture file from the command line; `-` writes SVG to standard output.
    ///
    /// # Errors
    /// The name ends in neither `.svg` nor `.png`.
    pub(crate) fn of(path: OsString, force: bool) -> Result<Self> {
        let ends =
            |with: &str| Path::new(&path).extension().is_some_and(|own| own.eq_ignore_ascii_case(with));
        let is_png = ends("png");
        if path == STANDARD || is_png || ends("svg") {
            return Ok(Self { path, force, is_png });
        }
        let what = format!(
            "plot writes SVG and PNG pictures, and {} ends in neither .svg nor .png",
            Path::new(&path).display()
        );
        Err(Failure::misuse(what))
    }

    /// Writes a picture, with a note unless it is printed.
    ///
    /// # Errors
    /// The file exists and may not be replaced, or writing fails.
    pub(crate) fn write(&self, scene: &Scene, caption: &str, console: &mut Console<'_>) -> Result<()> {
        if self.path == STANDARD {
            return console.text(&svg::document(scene));
        }
        is_replaced(&self.path, self.force)?;
        let bytes = if self.is_png {
            png::file(scene).map_err(|why| Failure::from(Error::invalid(why)))?
        } else {
            svg::document(scene).into_bytes()
        };
        let path = Path::new(&self.path);
        let mut file = FileSink::create(path).map_err(Error::from)?;
        file.write_all(&bytes)?;
        Box::new(file).finish().map_err(Error::from)?;
        console.line(&human::clean(&format!("{caption}: {}", path.display())))
    }
}
