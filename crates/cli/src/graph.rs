//! Graphs: points with errors.

use forthwith::root::{Object, Value};
use serde::Serialize;

/// The points of a `TGraph` or of a class with it as a base, and the titles of its axes.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Graph {
    /// The name for a legend.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x_title: String,
    pub(crate) y_title: String,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) x_errors: Option<Errors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) y_errors: Option<Errors>,
}

/// The errors of each point towards smaller and larger numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Errors {
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl Graph {
    /// The graph that an object is; `None` if it is another object.
    pub(crate) fn of(object: Object<'_>, name: &str) -> Option<Self> {
        let is_graph = object.class() == "TGraph" || object.bases().any(|base| base.class == "TGraph");
        if !is_graph {
            return None;
        }
        let numbers = |name: &str| Some(object.array(name)?.floats().collect::<Vec<f64>>());
        // There are none of a graph without points.
        let (mut x, mut y) = (numbers("fX").unwrap_or_default(), numbers("fY").unwrap_or_default());
        let count = x.len().min(y.len());
        x.truncate(count);
        y.truncate(count);
        // As `SetTitle` of C++ ROOT takes it apart when the graph is drawn, unless that was done before it was written.
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
        // Of several errors, the first.
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
            // Errors of points that were removed may be there still, as the points may.
            low.truncate(count);
            high.truncate(count);
            (low.len() == count && high.len() == count).then_some(Errors { low, high })
        };
        let x_errors = errors(["fEX", "fEXlow", "fExL"], ["fEX", "fEXhigh", "fExH"]);
        let y_errors = errors(["fEY", "fEYlow", "fEyL"], ["fEY", "fEYhigh", "fEyH"]);
        Some(Self { name: name.to_owned(), title, x_title, y_title, x, y, x_errors, y_errors })
    }

    /// The points that are numbers, with the ends of their errors: from left to right, and from bottom to top.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let ends = |errors: &Option<Errors>, at: usize, value: f64| {
            let error = |of: fn(&Errors) -> &Vec<f64>| {
                let error = errors.as_ref().and_then(|errors| of(errors).get(at).copied());
                error.filter(|error| error.is_finite()).unwrap_or(0.0)
            };
            (value - error(|errors| &errors.low), value + error(|errors| &errors.high))
        };
        let all = self.x.iter().zip(&self.y).enumerate();
        let numbers = all.filter(|(_, (x, y))| x.is_finite() && y.is_finite());
        numbers.map(move |(at, (x, y))| Point {
            x: *x,
            y: *y,
            x_ends: ends(&self.x_errors, at, *x),
            y_ends: ends(&self.y_errors, at, *y),
        })
    }
}

/// A point and the ends of its errors, which are the point itself without errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) x_ends: (f64, f64),
    pub(crate) y_ends: (f64, f64),
}
