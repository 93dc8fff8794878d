//! Draws objects: histograms, profiles and efficiencies with one to three dimensions, and graphs.

use super::drawing::Drawing;
use crate::{
    failure::{Failure, Result},
    human, object,
};
use forthwith::{File, Key};

/// Returns the histogram or graph in an object, with a name for legends.
///
/// # Errors
/// The object is of another class.
pub(super) fn drawing(file: &File, key: &Key, name: &str) -> Result<Drawing> {
    let binned = object::binned(file, key)?;
    let title = if key.title.is_empty() { key.path.clone() } else { key.title.clone() };
    let caption = human::clean(&title);
    if let Some(binned) = &binned {
        if let Some(filled) = binned.filled(name) {
            return Ok(Drawing::one(filled, title, caption, binned.values_title("Entries")));
        }
        if let Some(grid) = binned.grid(name) {
            return Ok(Drawing::two(grid, title, caption, binned.values_title("Entries")));
        }
    }
    if let Some(graph) = object::graph(file, key, name)? {
        return Ok(Drawing::Points { graph: Box::new(graph), caption });
    }
    let what = format!(
        "plot draws branches, histograms and graphs in pictures and as JSON, and {} is a {}",
        key.path, key.class
    );
    Err(Failure::misuse(human::clean(&what)))
}
