//! Selection of the branch of a union.

use super::{
    nodes::Of,
    refused::{Ended, Refused, Trouble, Walked, Why},
    walk::Walk,
};
use crate::builders::Kind;
use forthwith::avro::put_long;
use pyo3::{
    prelude::*,
    types::{PyDict, PyString, PyTuple},
};

/// Maximum number of values encoded for rejected branches of a row, as nested unions could take time
/// exponential in their depth.
const MOST_IN_VAIN: usize = 1 << 24;

impl Walk<'_, '_> {
    /// Encodes a value of a union with the branch that a hint names, or with the branch of the lowest
    /// penalty, the first one if equal.
    pub(super) fn union(
        &mut self,
        at: usize,
        branches: &[usize],
        null: Option<i64>,
        object: &Bound<'_, PyAny>,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let kind = self.kinds.of(object)?;
        if let (Kind::None, Some(null)) = (kind, null) {
            put_long(null, out);
            return Ok(0);
        }
        if kind == Kind::Tuple
            && let Some((tag, value)) = self.hinted(branches, object.cast::<PyTuple>()?)?
        {
            put_long(tag as i64, out);
            return self.put(branches[tag], &value, out);
        }
        if kind == Kind::Dict
            && let Some(tag) = self.typed(branches, object.cast::<PyDict>()?)?
        {
            put_long(tag as i64, out);
            return self.put(branches[tag], object, out);
        }
        let mut others = branches.iter().enumerate().filter(|(tag, _)| null != Some(*tag as i64));
        if let (Some((tag, only)), None) = (others.next(), others.next()) {
            put_long(tag as i64, out);
            // An error of the only branch is reported, unless the value has another type altogether.
            return self.put(*only, object, out).map_err(|trouble| match trouble {
                Trouble::Refused(refused) if !refused.is_near() => wrong(at, object),
                other => other,
            });
        }
        // One-time iterators and objects of other libraries are converted before branches are tried.
        match self.plain(object, kind)? {
            Some(plain) if !plain.is(object) => {
                self.down()?;
                let done = self.union(at, branches, null, &plain, out);
                self.up();
                done
            }
            _ => {
                self.unions += 1;
                let done = self.best(at, branches, object, out);
                self.unions -= 1;
                if self.unions == 0 {
                    self.in_vain = 0;
                }
                done
            }
        }
    }

    fn best(
        &mut self,
        at: usize,
        branches: &[usize],
        object: &Bound<'_, PyAny>,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let start = out.len();
        let mut best: Option<(u32, Vec<u8>)> = None;
        let mut near: Option<Box<Refused>> = None;
        let mut several = false;
        for (tag, branch) in branches.iter().enumerate() {
            out.truncate(start);
            let before = self.steps;
            put_long(tag as i64, out);
            match self.put(*branch, object, out) {
                Ok(0) => return Ok(0),
                Ok(score) if best.as_ref().is_none_or(|(least, _)| score < *least) => {
                    best = Some((score, out[start..].to_vec()));
                }
                Ok(_) => {}
                Err(Trouble::Refused(refused)) => {
                    if refused.is_near() {
                        several |= near.is_some();
                        near = Some(refused);
                    }
                }
                Err(ended) => return Err(ended),
            }
            self.in_vain += self.steps - before;
            if self.in_vain > MOST_IN_VAIN {
                return Err(Trouble::ended(Ended::Ambiguous));
            }
        }
        out.truncate(start);
        match (best, near) {
            (Some((score, bytes)), _) => {
                out.extend_from_slice(&bytes);
                Ok(score)
            }
            (None, Some(near)) if !several => Err(Trouble::Refused(near)),
            _ => Err(wrong(at, object)),
        }
    }

    /// Returns the branch that a pair `(name, value)` names, and the value.
    fn hinted<'py>(
        &self,
        branches: &[usize],
        pair: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<(usize, Bound<'py, PyAny>)>> {
        if pair.len() != 2 {
            return Ok(None);
        }
        let (name, value) = (pair.get_item(0)?, pair.get_item(1)?);
        let Ok(name) = name.cast::<PyString>() else { return Ok(None) };
        Ok(name.to_str().ok().and_then(|name| self.called(branches, name, false)).map(|tag| (tag, value)))
    }

    /// Returns the record that the key `-type` of a dict names.
    fn typed(&self, branches: &[usize], dict: &Bound<'_, PyDict>) -> PyResult<Option<usize>> {
        let Some(name) = dict.get_item(HINT)? else { return Ok(None) };
        let Ok(name) = name.cast::<PyString>() else { return Ok(None) };
        Ok(name.to_str().ok().and_then(|name| self.called(branches, name, true)))
    }

    /// Returns the branch with this full name, or otherwise with this name without a namespace.
    fn called(&self, branches: &[usize], name: &str, records: bool) -> Option<usize> {
        let find = |is: &dyn Fn(usize) -> bool| {
            branches
                .iter()
                .position(|at| is(*at) && (!records || matches!(self.nodes.get(*at).of, Of::Record(_))))
        };
        find(&|at| self.nodes.get(at).full == name).or_else(|| find(&|at| self.nodes.get(at).short == name))
    }
}

/// The key of a dict that names its record type.
pub(super) const HINT: &str = "-type";

fn wrong(at: usize, object: &Bound<'_, PyAny>) -> Trouble {
    Trouble::refused(at, Why::Type(object.clone().unbind()))
}
