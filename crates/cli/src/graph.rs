//! Graphs: points with errors.

use serde::Serialize;

/// Points of a `TGraph` or of a derived class, with the titles of the axes.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Graph {
    /// Name in a legend.
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

/// Errors of each point, downwards and upwards.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Errors {
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl Graph {
    /// Returns the finite points, with the lower and upper ends of their error bars.
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

/// Point with the ends of its error bars, which coincide with the point if it has no errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) x_ends: (f64, f64),
    pub(crate) y_ends: (f64, f64),
}
