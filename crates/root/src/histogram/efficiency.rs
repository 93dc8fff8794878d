//! `TEfficiency` as an efficiency of `forthwith-hist`.

use forthwith_hist::{BinArray, Efficiency, Histogram, Posterior};
use forthwith_plan::{Error, Result};

use super::{histogram, histogram_error};
use crate::object::{Object, Value};

/// Reads a `TEfficiency`, with buffered entries of both histograms filled into bins.
///
/// # Errors
/// Returns an error if members are missing or damaged, or if the two histograms have different numbers of
/// bins.
pub fn efficiency(object: Object<'_>) -> Result<Efficiency> {
    let object = object.readable()?;
    let missing = |member: &str| Error::invalid("an efficiency without this member").in_member(member);
    let float = |member: &str| object.float(member).ok_or_else(|| missing(member));
    let bits = object.int("fBits").ok_or_else(|| missing("fBits"))?;
    let part = |member: &str| -> Result<Histogram> {
        let found = histogram(object.object(member).ok_or_else(|| missing(member))?)?;
        let found = found.emptied().map_err(histogram_error)?;
        found.check_lengths().map_err(histogram_error)?;
        Ok(found)
    };
    let (total, passed) = (part("fTotalHistogram")?, part("fPassedHistogram")?);
    let contents = |of: &Histogram| of.contents().map(BinArray::floats).unwrap_or_default();
    let (all, passing) = (contents(&total), contents(&passed));
    if all.len() != passing.len() {
        return Err(Error::mismatch("number of bins", all.len(), passing.len()));
    }
    let squares = |of: &Histogram| of.array("fSumw2").map(BinArray::floats).unwrap_or_default();
    let squares = (bits & WEIGHTS != 0).then(|| [squares(&total), squares(&passed)]);
    let bins = all.len();
    let posterior = if bits & BAYESIAN == 0 {
        None
    } else {
        Some(Posterior {
            prior: (float("fBeta_alpha")?, float("fBeta_beta")?),
            bin_priors: if bits & BIN_PRIORS == 0 { Vec::new() } else { bin_priors(object, bins)? },
            is_mode: bits & POSTERIOR_MODE != 0,
            is_shortest: bits & SHORTEST != 0,
        })
    };
    Ok(Efficiency {
        total: all,
        passed: passing,
        squares,
        posterior,
        option: object.int("fStatisticOption").unwrap_or(0),
        level: float("fConfLevel")?,
    })
}

/// Returns the priors of the first `bins` bins, of an efficiency with a prior for each bin.
fn bin_priors(object: Object<'_>, bins: usize) -> Result<Vec<(f64, f64)>> {
    let number = |value: Value<'_>| if let Value::Float(number) = value { Some(number) } else { None };
    let pair = |value: Value<'_>| match value {
        Value::Object(pair) => Some((pair.float("first")?, pair.float("second")?)),
        Value::List(mut pair) => Some((number(pair.next()?)?, number(pair.next()?)?)),
        Value::Array(pair) => {
            let mut pair = pair.floats();
            Some((pair.next()?, pair.next()?))
        }
        _ => None,
    };
    let pairs: Option<Vec<_>> = match object.member(BIN_PRIOR_LIST) {
        None => Some(Vec::new()),
        Some(Value::List(pairs)) => pairs.take(bins).map(pair).collect(),
        Some(Value::Objects(pairs)) => {
            pairs.take(bins).map(|one| pair(one.map_or(Value::Null, Value::Object))).collect()
        }
        Some(_) => None,
    };
    pairs.ok_or_else(|| Error::invalid("priors that are not pairs of numbers").in_member(BIN_PRIOR_LIST))
}

const BIN_PRIOR_LIST: &str = "fBeta_bin_params";
/// Bits of `fBits`.
const BAYESIAN: i64 = 1 << 14;
const POSTERIOR_MODE: i64 = 1 << 15;
const SHORTEST: i64 = 1 << 16;
const BIN_PRIORS: i64 = 1 << 17;
const WEIGHTS: i64 = 1 << 18;
