//! Objects that are drawn: histograms, profiles and efficiencies of one to three dimensions, and graphs.

use super::drawing::Drawing;
use crate::{
    failure::{Failure, Result},
    human, object,
};
use forthwith::{File, Key};

/// The histogram or graph that an object is, under a name for legends.
///
/// # Errors
/// It is another object.
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
