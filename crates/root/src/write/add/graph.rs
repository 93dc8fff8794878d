//! Concatenation of graphs.

use forthwith_plan::{Error, Result};

use crate::object::{Object, Value};
use crate::write::Edits;
use forthwith_columns::DType;

/// The points of merged graphs, with their errors.
#[derive(Debug)]
pub(super) struct Graph {
    points: usize,
    arrays: Vec<(&'static str, Vec<f64>)>,
}

impl Graph {
    /// Whether a class is a graph whose members are known.
    pub(super) fn adds(class: &str) -> bool {
        arrays(class).is_some()
    }

    pub(super) fn of(graph: Object<'_>) -> Result<Self> {
        let class = graph.class();
        let points = graph.int("fNpoints").and_then(|points| usize::try_from(points).ok());
        let Some((points, names)) = points.zip(arrays(class)) else {
            return Err(Error::unsupported(format!("adding a {class} without a number of points")));
        };
        let numbers = |name: &'static str| match (graph.member(name), graph.array(name)) {
            (Some(Value::Null), _) if points == 0 => Ok((name, Vec::new())),
            (_, Some(array)) if array.is_empty() && points == 0 => Ok((name, Vec::new())),
            (_, Some(array)) if array.basic != DType::Float64 => {
                Err(Error::unsupported(format!("adding a {class} whose points are no doubles"))
                    .in_member(name))
            }
            (_, Some(array)) if array.len() == points => Ok((name, array.floats().collect())),
            (_, array) => {
                Err(Error::mismatch("number of points", points, array.map_or(0, |array| array.len() as u64))
                    .in_member(name))
            }
        };
        Ok(Self {
            points,
            arrays: names.iter().copied().flatten().map(|name| numbers(name)).collect::<Result<_>>()?,
        })
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        self.points += other.points;
        if i32::try_from(self.points).is_err() {
            return Err(Error::unsupported(format!("a graph of {} points", self.points)));
        }
        // Both graphs have the same class, and so the same arrays.
        for ((_, own), (_, more)) in self.arrays.iter_mut().zip(other.arrays) {
            own.extend(more);
        }
        Ok(())
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, graph: Object<'_>) -> Result<()> {
        edits.number(graph, "fNpoints", self.points as i64)?;
        if graph.int("fNpoints") != Some(self.points as i64) && graph.object("fHistogram").is_some() {
            // This bit makes ROOT compute the ranges of the axes again.
            edits.number(graph, "fBits", graph.int("fBits").unwrap_or(0) | RESET_HISTOGRAM)?;
        }
        for (name, numbers) in &self.arrays {
            edits.doubles(graph, name, numbers)?;
        }
        Ok(())
    }
}

/// Returns the names of the members with a number for each point, those of bases first; `None` if the class
/// is not a known graph.
fn arrays(class: &str) -> Option<[&'static [&'static str]; 3]> {
    const POINTS: &[&str] = &["fX", "fY"];
    const SIDES: &[&str] = &["fEXlow", "fEXhigh", "fEYlow", "fEYhigh"];
    Some(match class {
        "TGraph" => [POINTS, &[], &[]],
        "TGraphErrors" => [POINTS, &["fEX", "fEY"], &[]],
        "TGraphAsymmErrors" => [POINTS, SIDES, &[]],
        "TGraphBentErrors" => [POINTS, SIDES, &["fEXlowd", "fEXhighd", "fEYlowd", "fEYhighd"]],
        _ => return None,
    })
}

/// `TGraph::kResetHisto`.
const RESET_HISTOGRAM: i64 = 1 << 17;
