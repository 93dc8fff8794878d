//! Casts of values to an option of a union.

use super::{Cast, CastError, CastReason, Result, rows_of_alternative};
use crate::lookup::Lookup;
use crate::{Array, Column, Form, Invalid};
use std::borrow::Cow;

/// Path from a row to its value through options and unions.
enum Path<'a> {
    Empty,
    Arm(usize),
    Option(&'a str, Cow<'a, [i64]>, Box<Self>),
    Union(&'a str, &'a [i8], Cow<'a, [i64]>, Vec<Self>),
}

impl Path<'_> {
    /// Returns the arm of a row and the row within the arm, or `None` if the row is missing.
    fn find(&self, row: usize) -> Result<Option<(usize, usize)>, Invalid> {
        match self {
            Self::Empty => Err(Invalid::Unknown { rows: row as u64 + 1 }),
            Self::Arm(arm) => Ok(Some((*arm, row))),
            Self::Option(key, index, below) => {
                match usize::try_from(*index.get(row).ok_or_else(|| no_row(key, row))?) {
                    Ok(at) => below.find(at),
                    Err(_) => Ok(None),
                }
            }
            Self::Union(key, tags, index, below) => {
                let tag = tags.get(row).and_then(|tag| usize::try_from(*tag).ok());
                let at = index.get(row).and_then(|at| usize::try_from(*at).ok());
                let (tag, at) = tag.zip(at).ok_or_else(|| no_row(key, row))?;
                below.get(tag).ok_or_else(|| no_row(key, row))?.find(at)
            }
        }
    }
}

fn no_row(key: &str, row: usize) -> Invalid {
    Invalid::Range { key: format!("{key}-index"), row: row as u64 }
}

impl Cast {
    /// Adds an option of a union, given by the keys of the option and the union and the alternatives.
    ///
    /// A record is cast to the alternative with its record name. Any other arm is cast to the only
    /// alternative it can be cast to; of several, to the one at its own position if there are as many
    /// alternatives as arms, all of distinct types; otherwise, if it is a list or has no rows, to the first.
    pub(super) fn alternatives(
        &mut self,
        of: &Lookup<'_>,
        found: &Form,
        wanted: (&str, &str, &[Form]),
        rows: u64,
    ) -> Result<()> {
        let (option, union, alternatives) = wanted;
        let unlike = || CastError::from(unlike(found, alternatives));
        let mut arms = Vec::new();
        let path = path(of, found, rows, &mut arms)?;
        let count = usize::try_from(rows).map_err(|_| Invalid::Overflow { rows, each: 1 })?;
        let values = (0..count).map(|row| path.find(row)).collect::<Result<Vec<_>, _>>()?;
        let mut counts = vec![0; arms.len()];
        for (arm, at) in values.iter().flatten() {
            counts[*arm] = (*at as u64 + 1).max(counts[*arm]);
        }
        let mut tags_of = Vec::with_capacity(arms.len());
        // The arm of each alternative; two arms must not share one.
        let mut arm_of: Vec<Option<usize>> = vec![None; alternatives.len()];
        for (at, arm) in arms.iter().enumerate() {
            let tag = self.alternative(of, (at, arm), (arms.len(), counts[at]), alternatives)?;
            let tag = tag.ok_or_else(unlike)?;
            if arm_of[tag].replace(at).is_some() {
                return Err(unlike());
            }
            tags_of.push(i8::try_from(tag).map_err(|_| unlike())?);
        }
        let (mut outer, mut tags, mut index) = (Vec::with_capacity(count), Vec::new(), Vec::new());
        for value in values {
            outer.push(if value.is_some() { tags.len() as i64 } else { -1 });
            if let Some((arm, at)) = value {
                tags.push(tags_of[arm]);
                index.push(at as i64);
            }
        }
        for (tag, (alternative, arm)) in alternatives.iter().zip(arm_of).enumerate() {
            match arm {
                Some(arm) => {
                    self.node(of, arms[arm], alternative, rows_of_alternative(tag, &tags, &index))?
                }
                None => self.columns.extend(Array::empty(alternative.clone()).columns),
            }
        }
        self.push(option, "index", Column::from_vec(outer));
        self.push(union, "tags", Column::from_vec(tags));
        self.push(union, "index", Column::from_vec(index));
        Ok(())
    }

    /// Returns the alternative for an arm, given its position, the number of arms, and the number of rows in
    /// use.
    fn alternative(
        &mut self,
        of: &Lookup<'_>,
        (at, arm): (usize, &Form),
        (arms, rows): (usize, u64),
        alternatives: &[Form],
    ) -> Result<Option<usize>> {
        if let Some(name) = arm.record_name() {
            return Ok(alternatives.iter().position(|class| class.record_name() == Some(name)));
        }
        let mut fitting = Vec::new();
        for (tag, alternative) in alternatives.iter().enumerate() {
            let before = self.columns.len();
            let cast = self.node(of, arm, alternative, rows);
            self.columns.truncate(before);
            match cast {
                Ok(()) => fitting.push(tag),
                Err(CastError { reason: CastReason::Invalid(invalid), .. }) => return Err(invalid.into()),
                Err(_) => {}
            }
        }
        Ok(match fitting[..] {
            [only] => Some(only),
            _ if fitting.contains(&at) && arms == alternatives.len() && are_distinct(alternatives) => {
                Some(at)
            }
            [first, ..] if rows == 0 || matches!(arm, Form::List { .. }) => Some(first),
            _ => None,
        })
    }
}

/// Returns the paths of the first `rows` rows of a Form, and appends the Forms at their ends to `arms`.
fn path<'a>(
    of: &Lookup<'a>,
    form: &'a Form,
    rows: u64,
    arms: &mut Vec<&'a Form>,
) -> Result<Path<'a>, Invalid> {
    Ok(match form {
        Form::Option { key, content } => {
            let index = of.integers(key, "index", rows)?;
            let below = path(of, content, of.rows_there(key, rows)?, arms)?;
            Path::Option(key, index, Box::new(below))
        }
        Form::Union { key, contents } => {
            let (tags, index) = (of.tags(key, rows)?, of.integers(key, "index", rows)?);
            let below = contents
                .iter()
                .enumerate()
                .map(|(at, content)| path(of, content, rows_of_alternative(at, tags, &index), arms));
            let below = below.collect::<Result<_, _>>()?;
            Path::Union(key, tags, index, below)
        }
        Form::Empty => Path::Empty,
        form => {
            arms.push(form);
            Path::Arm(arms.len() - 1)
        }
    })
}

fn are_distinct(forms: &[Form]) -> bool {
    let types: Vec<String> = forms.iter().map(Form::type_string).collect();
    types.iter().enumerate().all(|(at, one)| !types[..at].contains(one))
}

fn unlike(found: &Form, alternatives: &[Form]) -> CastReason {
    let wanted = Form::Union { key: String::new(), contents: alternatives.to_vec() };
    CastReason::Type { found: found.type_string(), wanted: format!("?{}", wanted.type_string()) }
}
