//! Options of an RNTuple, from the dict of `forthwith._writable.ntuples`.

use super::GivenNumber;
use crate::errors;
use forthwith::{
    BlockThreads,
    plan::{Error, Result},
    rntuple::{FieldOptions, Floats, NtupleOptions},
    root::write::Compression,
};
use pyo3::{prelude::*, types::PyDict};
use std::{collections::BTreeMap, sync::Arc};

/// Converts options by name; others keep their defaults.
pub(super) fn ntuple_options(options: &Bound<'_, PyDict>) -> PyResult<Chosen> {
    let py = options.py();
    let mut chosen = NtupleOptions::default();
    let mut compression = None;
    for (name, value) in options.iter() {
        match &*name.extract::<String>()? {
            "description" => chosen.description = value.extract()?,
            "compression" => compression = Some(setting(py, value.extract()?)?),
            "page_size" => chosen.page_bytes = value.extract()?,
            "cluster_size" => chosen.cluster_bytes = value.extract()?,
            "cluster_entries" => chosen.cluster_entries = value.extract()?,
            "times_as_integers" => chosen.times_as_integers = value.extract()?,
            "bitsets" => chosen.bitsets = value.extract()?,
            "class_names" => chosen.class_names = value.extract()?,
            "projections" => chosen.projections = value.extract()?,
            "nulls" => chosen.nulls = value.extract::<Option<GivenNumber>>()?.map(Into::into),
            "fields" => chosen.fields = field_options(value.cast()?)?,
            "threads" => chosen.runner = Some(Arc::new(BlockThreads::new(value.extract()?))),
            other => return Err(errors::request(py, format!("no option {other:?} for an RNTuple"))),
        }
    }
    Ok(Chosen { options: chosen, compression })
}

/// Options, with the compression of pages if it was set.
pub(super) struct Chosen {
    options: NtupleOptions,
    compression: Option<Compression>,
}

impl Chosen {
    /// Returns the options for a file with the default compression `pages`.
    pub(super) fn with(self, pages: Compression) -> NtupleOptions {
        NtupleOptions { compression: self.compression.unwrap_or(pages), ..self.options }
    }
}

/// Converts options of single fields, by their paths.
pub(super) fn field_options(fields: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, FieldOptions>> {
    let py = fields.py();
    let mut found = BTreeMap::new();
    for (path, options) in fields.iter() {
        let mut chosen = FieldOptions::default();
        for (name, value) in options.cast::<PyDict>()?.iter() {
            match &*name.extract::<String>()? {
                "description" => chosen.description = value.extract()?,
                "compression" => chosen.compression = Some(setting(py, value.extract()?)?),
                "nulls" => chosen.nulls = Some(value.extract::<GivenNumber>()?.into()),
                "floats" => {
                    let (kind, bits, low, high): (String, u16, f64, f64) = value.extract()?;
                    chosen.floats =
                        Some(floats(&kind, bits, low, high).map_err(|error| errors::exception(py, &error))?);
                }
                other => return Err(errors::request(py, format!("no option {other:?} for a field"))),
            }
        }
        found.insert(path.extract()?, chosen);
    }
    Ok(found)
}

fn floats(kind: &str, bits: u16, low: f64, high: f64) -> Result<Floats> {
    Ok(match kind {
        "whole" => Floats::Whole,
        "single" => Floats::Single,
        "half" => Floats::Half,
        "truncated" => Floats::Truncated { bits },
        "quantised" => Floats::Quantised { bits, low, high },
        other => return Err(Error::unsupported(format!("floats that are {other}"))),
    })
}

fn setting(py: Python<'_>, number: i32) -> PyResult<Compression> {
    Compression::from_setting(number).map_err(|error| errors::exception(py, &error))
}
