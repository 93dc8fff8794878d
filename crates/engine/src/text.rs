//! Whether text is text, where the plan says that it is.
//!
//! Text that a program has just written is validated by the thread that ran it, while it is in the cache, and so is
//! that of formats which say so. Text that is not valid, or that was not validated, is looked for in the columns when
//! all is there, which tells the string.

use forthwith_columns::{Array, DType, Finisher, Form, kernels};
use forthwith_forth::Output;
use forthwith_plan::{Decoder, Error, Group, Plan, Result};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
};

/// The text in the columns of a group.
pub(crate) struct Texts {
    /// Columns of offsets and of bytes that a program writes.
    written: Vec<[usize; 2]>,
    /// Whether there is text that has to be UTF-8.
    has_text: bool,
    /// Whether the columns have to be looked at.
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
                // Each block says whether it has validated its text.
                (Decoder::Format(_), ..) => {}
                (Decoder::Program(program), ..) if program.finish.iter().any(|one| names(one, key)) => {}
                _ => doubtful = true,
            }
        }
        Self { written, has_text, doubtful: AtomicBool::new(doubtful) }
    }

    /// Looks at what a program has written; `before` are the offsets that it went on from. They do not fall.
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

    /// From now on, text may be none, if there is any.
    pub(crate) fn doubt(&self) {
        if self.has_text {
            self.doubtful.store(true, Ordering::Relaxed);
        }
    }

    /// Whether something may be no text.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }
}

/// Whether this is where a text comes from: the names of a schema, which are text.
fn names(finisher: &Finisher, text: &str) -> bool {
    matches!(finisher, Finisher::Symbols { key, .. } | Finisher::NamedNumbers { key, .. } if key == text)
}

/// Looks at all text of what is delivered.
pub(crate) fn check(plan: &Plan, arrays: &[Array], threads: usize) -> Result<()> {
    for (number, array) in arrays.iter().enumerate() {
        array.check_text_by(threads).map_err(|bad| {
            let entry = plan.entry_of(bad.row);
            Error::fault(bad.to_string()).in_row(&plan.paths(arrays.len())[number], entry, &bad.member)
        })?;
    }
    Ok(())
}
