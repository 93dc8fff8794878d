//! Reads histograms and efficiencies of `forthwith-hist` from the objects of a file.

mod efficiency;

pub use efficiency::efficiency;

use forthwith_columns::DType;
use forthwith_hist::{ARRAYS, Axis, BinArray, EntryBuffer, Histogram, SCALARS};
use forthwith_plan::{Error, Result};

use crate::object::{Array, Object};

/// Reads a `TH1`, `TH2`, `TH3` or profile as stored: buffered entries are kept, and the number of bins is not
/// compared with the lengths of arrays ([`Histogram::check_lengths`]).
///
/// # Errors
/// Returns an error if the object or its axes were not read, or if its buffer is damaged.
pub fn histogram(object: Object<'_>) -> Result<Histogram> {
    let object = object.readable()?;
    let axis = |name| object.object(name).map(axis).transpose();
    let axes = ["fXaxis", "fYaxis", "fZaxis"].into_iter().filter_map(|name| axis(name).transpose());
    let arrays = ARRAYS.into_iter().filter_map(|name| Some((name, bin_array(object.array(name)?))));
    let scalars = SCALARS.into_iter().filter_map(|name| Some((name, object.float(name)?)));
    let bits = object.int("fBits").unwrap_or(0);
    let value_range = [("fYmin", "fYmax"), ("fZmin", "fZmax"), ("fTmin", "fTmax")].into_iter();
    let value_range =
        value_range.filter_map(|(low, high)| Some([object.float(low)?, object.float(high)?])).next();
    let mut histogram = Histogram::default();
    histogram.arrays = arrays.collect();
    histogram.scalars = scalars.collect();
    histogram.axes = axes.collect::<Result<_>>()?;
    histogram.dimensions = dimensions(object);
    histogram.value_range = value_range.filter(|[low, high]| low != high);
    histogram.is_unweighted = bits & NOT_WEIGHTED != 0;
    histogram.finds_powers_of_two = bits & POWERS_OF_TWO != 0;
    histogram.counts_all = object.int("fStatOverflows") == Some(CONSIDERED);
    let buffer = object.array("fBuffer").map(|buffer| buffer.floats().collect()).unwrap_or_default();
    let buffer = EntryBuffer::new(buffer, histogram.dimensions, histogram.is_profile());
    histogram.buffer = buffer.map_err(histogram_error)?;
    Ok(histogram)
}

/// Reads a `TAxis`.
pub(crate) fn axis(axis: Object<'_>) -> Result<Axis> {
    let axis = axis.readable()?;
    let labels = axis.list("fLabels").flatten();
    let label =
        |label: Object<'_>| (label.int("fUniqueID").unwrap_or(0), label.text("fString").unwrap_or_default());
    Ok(Axis {
        bins: axis.int("fNbins").unwrap_or(0),
        low: axis.float("fXmin").unwrap_or(0.0),
        high: axis.float("fXmax").unwrap_or(0.0),
        edges: axis.array("fXbins").map(|edges| edges.floats().collect()).unwrap_or_default(),
        labels: labels.map(label).collect(),
        bits: axis.int("fBits2").unwrap_or(0),
        is_integer: axis.int("fBits").unwrap_or(0) & INTEGER != 0,
    })
}

/// Converts the array of bins.
pub(crate) fn bin_array(array: Array<'_>) -> BinArray {
    match array.basic {
        DType::Float32 => BinArray::Single(array.floats().map(|value| value as f32).collect()),
        DType::Float64 => BinArray::Double(array.floats().collect()),
        basic => BinArray::Integer(basic, array.ints().collect()),
    }
}

/// Converts an error of `forthwith-hist` to an error of the object, with the damaged member.
#[must_use]
pub fn histogram_error(error: forthwith_hist::Error) -> Error {
    let failure = match error {
        forthwith_hist::Error::BinCount { expected, found, .. } => {
            Error::mismatch("number of bins", expected, found)
        }
        ref damage if damage.is_damage() => Error::invalid(damage.to_string()),
        ref unsupported => Error::unsupported(unsupported.to_string()),
    };
    match error.member() {
        Some(member) => failure.in_member(member),
        None => failure,
    }
}

/// Returns the number of axes with bins.
fn dimensions(histogram: Object<'_>) -> usize {
    let is = |class| histogram.class() == class || histogram.bases().any(|base| base.class == class);
    match () {
        () if is("TH3") || is("TProfile3D") => 3,
        () if is("TH2") || is("TProfile2D") => 2,
        () => 1,
    }
}

/// `TH1::kConsider`: statistics count entries outside of the axes.
const CONSIDERED: i64 = 1;
/// `TH1::kIsNotW`: squares of weights are not kept.
const NOT_WEIGHTED: i64 = 1 << 19;
/// `TH1::kAutoBinPTwo`.
const POWERS_OF_TWO: i64 = 1 << 20;
/// `TAxis::kIsInteger`.
const INTEGER: i64 = 1 << 22;
