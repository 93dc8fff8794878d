//! Reads points, errors and titles of graphs.

use crate::graph::{Errors, Graph};
use forthwith::root::{Object, Value};

/// Returns the graph in an object; `None` for other classes.
pub(super) fn graph_of(object: Object<'_>, name: &str) -> Option<Graph> {
    let is_graph = object.class() == "TGraph" || object.bases().any(|base| base.class == "TGraph");
    if !is_graph {
        return None;
    }
    let numbers = |name: &str| Some(object.array(name)?.floats().collect::<Vec<f64>>());
    // A graph without points has no arrays.
    let (mut x, mut y) = (numbers("fX").unwrap_or_default(), numbers("fY").unwrap_or_default());
    let count = x.len().min(y.len());
    x.truncate(count);
    y.truncate(count);
    // Split as by `SetTitle` in C++ ROOT when the graph is drawn, unless it was split before writing.
    let title = object.text("fTitle").unwrap_or_default();
    let mut titles = title.split(';').map(str::to_owned);
    let title = titles.next().unwrap_or_default();
    let axes = object.object("fHistogram");
    let mut axis = |name: &str| {
        let typed = titles.next();
        let drawn = axes.and_then(|axes| axes.object(name)?.text("fTitle"));
        drawn.filter(|title| !title.is_empty()).or(typed).unwrap_or_default()
    };
    let (x_title, y_title) = (axis("fXaxis"), axis("fYaxis"));
    // If a graph has several errors, only the first is drawn.
    let first = |name: &str| {
        let first = match object.member(name)? {
            Value::List(mut list) => list.next()?,
            Value::Objects(mut items) => items.next()??.inner()?,
            _ => return None,
        };
        let array = match first {
            Value::Object(object) => object.inner()?,
            value => value,
        };
        let Value::Array(array) = array else { return None };
        Some(array.floats().collect::<Vec<f64>>())
    };
    let any = |names: [&str; 3]| {
        let [symmetric, asymmetric, several] = names;
        numbers(symmetric)
            .or_else(|| numbers(asymmetric))
            .or_else(|| numbers(several))
            .or_else(|| first(several))
    };
    let errors = |low: [&str; 3], high: [&str; 3]| {
        let (mut low, mut high) = (any(low)?, any(high)?);
        // Arrays may be longer than the number of points after points were removed.
        low.truncate(count);
        high.truncate(count);
        (low.len() == count && high.len() == count).then_some(Errors { low, high })
    };
    let x_errors = errors(["fEX", "fEXlow", "fExL"], ["fEX", "fEXhigh", "fExH"]);
    let y_errors = errors(["fEY", "fEYlow", "fEyL"], ["fEY", "fEYhigh", "fEyH"]);
    Some(Graph { name: name.to_owned(), title, x_title, y_title, x, y, x_errors, y_errors })
}
