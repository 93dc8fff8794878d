//! Validation of text as UTF-8, if the plan requires it.
//!
//! Text that a program has written is validated by the thread that ran it, while it is in the cache; formats
//! that decode blocks themselves can do so, too. If text is invalid or was not validated, the finished
//! columns are validated, which yields the position of the text.

use forthwith_columns::{Array, DType, Finisher, Form, kernels};
use forthwith_forth::Output;
use forthwith_plan::{Decoder, Error, Group, Plan, Result};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
};

/// Validation state of the text columns of a group.
pub(crate) struct Texts {
    /// Indices of offset and byte columns that a program writes.
    written: Vec<[usize; 2]>,
    /// Whether the group has text that has to be UTF-8.
    has_text: bool,
    /// Whether the finished columns have to be validated.
    doubtful: AtomicBool,
}

impl Texts {
    pub(crate) fn of(plan: &Plan, group: &Group) -> Self {
        let (mut written, mut has_text, mut doubtful) = (Vec::new(), false, false);
        let texts = group.form.nodes().filter_map(|node| match node {
            Form::String { key, binary: false } if plan.utf8 => Some(key),
            _ => None,
        });
        let all = group.columns.iter().enumerate();
        let places: HashMap<(&str, DType), usize> =
            all.rev().map(|(at, column)| ((column.key.as_str(), column.dtype), at)).collect();
        for key in texts {
            has_text = true;
            let column =
                |part: &str, dtype: DType| places.get(&(format!("{key}-{part}").as_str(), dtype)).copied();
            match (&group.decoder, column("offsets", DType::Int64), column("data", DType::UInt8)) {
                (Decoder::Program(_), Some(offsets), Some(data)) => written.push([offsets, data]),
                // Each block declares whether it has validated its text.
                (Decoder::Format(_), ..) => {}
                (Decoder::Program(program), ..) if program.finish.iter().any(|one| names(one, key)) => {}
                _ => doubtful = true,
            }
        }
        Self { written, has_text, doubtful: AtomicBool::new(doubtful) }
    }

    /// Validates the text that a program has written. `before` are the last offsets before it. Offsets
    /// ascend.
    pub(crate) fn look(&self, outputs: &[Output], before: &[i64]) {
        if self.is_doubtful() {
            return;
        }
        let good = |[offsets, data]: &[usize; 2]| {
            let (ends, bytes) = (outputs.get(*offsets)?.as_bytes(), outputs.get(*data)?.as_bytes());
            kernels::are_texts(ends, *before.get(*offsets)?, bytes).then_some(())
        };
        if !self.written.iter().all(|text| good(text).is_some()) {
            self.doubt();
        }
    }

    /// Marks the text columns, if any, as not validated.
    pub(crate) fn doubt(&self) {
        if self.has_text {
            self.doubtful.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the finished columns have to be validated.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }
}

/// Whether a finisher creates the text `text` from the names in a schema, which are UTF-8.
fn names(finisher: &Finisher, text: &str) -> bool {
    matches!(finisher, Finisher::Symbols { key, .. } | Finisher::NamedNumbers { key, .. } if key == text)
}

/// Validates all text of the delivered arrays.
pub(crate) fn check(plan: &Plan, arrays: &[Array], threads: usize) -> Result<()> {
    for (number, array) in arrays.iter().enumerate() {
        array.check_text_by(threads).map_err(|bad| {
            let entry = plan.entry_of(bad.row);
            Error::fault(bad.to_string()).in_row(&plan.paths(arrays.len())[number], entry, &bad.member)
        })?;
    }
    Ok(())
}
