//! Merging of histograms, profiles, efficiencies and parameters by ROOT's rules.

use forthwith_hist::{Axis, BinArray, Histogram};
use forthwith_plan::{Error, Result};

use super::parameter::Number;
use super::stored::{stored, write_labels, write_sums};
use crate::histogram::{histogram, histogram_error};
use crate::object::Object;
use crate::write::Edits;

/// A sum of histograms, of both histograms of an efficiency, or of parameters.
#[derive(Debug)]
pub(super) struct Bins {
    parts: Vec<Part>,
    /// `TEfficiency::fWeight`.
    weight: Option<f64>,
}

#[derive(Debug)]
enum Part {
    Histogram {
        /// The member that is the histogram, or `None` for the object itself.
        member: Option<&'static str>,
        histogram: Box<Histogram>,
    },
    Parameter(Number),
}

impl Bins {
    /// Whether objects of a class are merged by `Bins`.
    pub(super) fn adds(class: &str) -> bool {
        is_histogram(class) || class == "TEfficiency" || class.starts_with("TParameter<")
    }

    pub(super) fn of(object: Object<'_>) -> Result<Self> {
        let parts = match object.class() {
            "TEfficiency" => ["fPassedHistogram", "fTotalHistogram"]
                .into_iter()
                .filter_map(|member| object.object(member).map(|object| part(Some(member), object)))
                .collect::<Result<_>>()?,
            class if is_histogram(class) => vec![part(None, object)?],
            _ => vec![Part::Parameter(Number::of(object)?)],
        };
        Ok(Self { parts, weight: object.float("fWeight") })
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        if other.parts.len() != self.parts.len() {
            return Err(Error::invalid("adding an efficiency without its histograms"));
        }
        if let (Some(own), Some(more)) = (&mut self.weight, other.weight) {
            *own = *own * more / (*own + more);
        }
        for (part, other) in self.parts.iter_mut().zip(other.parts) {
            match (part, other) {
                (Part::Histogram { histogram, .. }, Part::Histogram { histogram: other, .. }) => {
                    histogram.merge(*other).map_err(histogram_error)?;
                }
                (Part::Parameter(own), Part::Parameter(other)) => own.add(other),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        if let Some(weight) = self.weight {
            edits.float(first, "fWeight", weight)?;
        }
        for part in &self.parts {
            match part {
                Part::Parameter(number) => number.write(edits, first)?,
                Part::Histogram { member, histogram } => {
                    let object = match member {
                        Some(member) => first.object(member),
                        None => Some(first),
                    };
                    let Some(object) = object else { continue };
                    write_histogram(&histogram.clone().settled().map_err(histogram_error)?, edits, object)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a class is a histogram or profile of one to three dimensions.
fn is_histogram(class: &str) -> bool {
    let kinds = ["C", "S", "I", "L", "F", "D"];
    ["TH1", "TH2", "TH3"]
        .iter()
        .any(|base| class.strip_prefix(base).is_some_and(|kind| kinds.contains(&kind)))
        || matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
}

fn part(member: Option<&'static str>, object: Object<'_>) -> Result<Part> {
    let mut histogram = histogram(object)?;
    histogram.check_lengths().map_err(histogram_error)?;
    histogram.find_statistics();
    Ok(Part::Histogram { member, histogram: Box::new(histogram) })
}

fn write_histogram(histogram: &Histogram, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
    let names = ["fXaxis", "fYaxis", "fZaxis"].into_iter();
    let axes = names.zip(&histogram.axes).zip(histogram.changed);
    for ((name, axis), _) in axes.filter(|(_, changed)| *changed) {
        let Some(place) = object.object(name) else { continue };
        edits.number(place, "fNbins", axis.bins)?;
        edits.float(place, "fXmin", axis.low)?;
        edits.float(place, "fXmax", axis.high)?;
        edits.number(place, "fBits2", axis.bits)?;
        if let Some(edges) = place.place("fXbins") {
            edits.replace(edges, stored(&BinArray::Double(axis.edges.clone())));
        }
        if let Some(labels) = place.place("fLabels").filter(|_| axis.has_labels()) {
            let axis = axis.clone();
            edits.replace_with(labels, move |buffer| write_labels(&axis, buffer));
        }
    }
    if histogram.changed.contains(&true) {
        let cells = histogram.own_axes().iter().filter_map(Axis::cells).product::<usize>();
        edits.number(object, "fNcells", cells as i64)?;
    }
    if let Some(buffer) = &histogram.buffer {
        edits.doubles(object, "fBuffer", &buffer.numbers())?;
    } else if histogram.is_flushed && object.array("fBuffer").is_some_and(|buffer| !buffer.is_empty()) {
        edits.number(object, "fBufferSize", 0)?;
        edits.doubles(object, "fBuffer", &[])?;
    }
    write_sums(edits, object, &histogram.arrays, &histogram.scalars)
}
