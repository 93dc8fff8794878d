//! Concatenation of runs of rows from several arrays.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::validate::items;
use crate::{Array, Column, DType, Form, Invalid};
use std::collections::HashSet;
use std::ops::Range;

/// Runs of rows for each array.
type Runs = Vec<Vec<Range<u64>>>;

impl Array {
    /// Copies runs of rows of several arrays of one Form: the runs of the first array, then those of the
    /// second, and so on.
    ///
    /// # Errors
    /// [`Invalid`] if `parts` is empty, the Forms differ, a row is out of range, or an array contradicts
    /// itself.
    pub fn gather(parts: &[(&Self, &[Range<u64>])]) -> Result<Self, Invalid> {
        let Some((first, _)) = parts.first() else { return Err(Invalid::Missing { key: "arrays".into() }) };
        let mut runs = Vec::with_capacity(parts.len());
        for (array, rows) in parts {
            if array.form != first.form {
                return Err(Invalid::Unlike { key: String::new() });
            }
            if let Some(wrong) = rows.iter().find(|run| run.start > run.end || run.end > array.length) {
                return Err(Invalid::Range { key: "rows".into(), row: wrong.end });
            }
            runs.push(rows.to_vec());
        }
        let length = total(&runs);
        let sources = parts.iter().map(|(array, _)| Lookup::of(array)).collect();
        let mut gather = Gather { sources, done: HashSet::new(), columns: Vec::new() };
        gather.node(&first.form, runs, 0)?;
        Ok(Self { form: first.form.clone(), length, columns: gather.columns })
    }
}

struct Gather<'a> {
    sources: Vec<Lookup<'a>>,
    /// Keys that are copied already: nodes may share one, for the same rows.
    done: HashSet<String>,
    columns: Vec<(String, Column)>,
}

impl Gather<'_> {
    fn node(&mut self, form: &Form, runs: Runs, depth: u32) -> Result<(), Invalid> {
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        match form {
            Form::Empty => Ok(()),
            Form::Numpy { key, dtype, shape } => {
                if self.done.insert(key.clone()) {
                    self.data(key, "data", *dtype, &times(&runs, shape)?)?;
                }
                Ok(())
            }
            Form::String { key, .. } => {
                if self.done.contains(key) {
                    return Ok(());
                }
                let bytes = self.offsets(key, &runs)?;
                self.data(key, "data", DType::UInt8, &bytes)
            }
            Form::Categorical { key, categories } => {
                if self.done.insert(key.clone()) {
                    self.data(key, "index", DType::Int32, &runs)?;
                    // The categories are part of the Form, and so equal in all arrays.
                    if let Some(source) = self.sources.first() {
                        let count = categories.len() as u64;
                        let offsets = source.column(key, "offsets", DType::Int64, count + 1)?.clone();
                        let bytes = source.column(key, "data", DType::UInt8, 0)?.clone();
                        self.columns.push((format!("{key}-offsets"), offsets));
                        self.columns.push((format!("{key}-data"), bytes));
                    }
                }
                Ok(())
            }
            Form::List { key, content } => {
                let inner = self.offsets(key, &runs)?;
                self.node(content, inner, depth + 1)
            }
            Form::Regular { size, content } => self.node(content, times(&runs, &[*size])?, depth + 1),
            Form::Logical { content, .. } => self.node(content, runs, depth + 1),
            Form::Record { contents, .. } => {
                contents.iter().try_for_each(|content| self.node(content, runs.clone(), depth + 1))
            }
            Form::Option { key, content } => {
                let mut inner: Runs = vec![Vec::new(); runs.len()];
                let (mut index, mut next) = (Vec::<i64>::new(), 0);
                for ((source, runs), inner) in self.sources.iter().zip(&runs).zip(&mut inner) {
                    let found = source.integers(key, "index", end(runs))?;
                    for at in rows(runs).filter_map(|row| found.get(row)) {
                        index.push(if *at < 0 { -1 } else { next });
                        if let Ok(at) = u64::try_from(*at) {
                            next += 1;
                            push(inner, at);
                        }
                    }
                }
                if self.done.insert(key.clone()) {
                    self.columns.push((format!("{key}-index"), Column::from_vec(index)));
                }
                self.node(content, inner, depth + 1)
            }
            Form::Union { key, contents } => {
                let mut inner: Vec<Runs> = vec![vec![Vec::new(); runs.len()]; contents.len()];
                let mut next = vec![0; contents.len()];
                let (mut tags, mut index) = (Vec::new(), Vec::<i64>::new());
                for (number, (source, runs)) in self.sources.iter().zip(&runs).enumerate() {
                    let (found, meant) =
                        (source.tags(key, end(runs))?, source.integers(key, "index", end(runs))?);
                    for row in rows(runs) {
                        let (Some(tag), Some(at)) = (found.get(row), meant.get(row)) else { continue };
                        let wrong = || Invalid::Range { key: format!("{key}-index"), row: row as u64 };
                        let which = usize::try_from(*tag).ok().filter(|which| *which < contents.len());
                        let which = which.ok_or_else(wrong)?;
                        push(&mut inner[which][number], u64::try_from(*at).map_err(|_| wrong())?);
                        tags.push(*tag);
                        index.push(next[which]);
                        next[which] += 1;
                    }
                }
                if self.done.insert(key.clone()) {
                    self.columns.push((format!("{key}-tags"), Column::from_vec(tags)));
                    self.columns.push((format!("{key}-index"), Column::from_vec(index)));
                }
                contents.iter().zip(inner).try_for_each(|(content, runs)| self.node(content, runs, depth + 1))
            }
        }
    }

    /// Appends the offsets of lists, starting at zero, and returns the runs of their items.
    fn offsets(&mut self, key: &str, runs: &Runs) -> Result<Runs, Invalid> {
        let mut inner: Runs = Vec::with_capacity(runs.len());
        let mut kept: Vec<i64> = Vec::with_capacity(total(runs) as usize + 1);
        kept.push(0);
        let mut last = 0;
        for (source, runs) in self.sources.iter().zip(runs) {
            let all = source.integers(key, "offsets", end(runs) + 1)?;
            let mut items = Vec::with_capacity(runs.len());
            for run in runs.iter().filter(|run| run.start < run.end) {
                let ends = &all[run.start as usize..=run.end as usize];
                let wrong = |row| Invalid::Backwards { key: format!("{key}-offsets"), row };
                let (first, behind) = match (ends.first(), ends.last()) {
                    (Some(first), Some(behind)) if 0 <= *first && first <= behind => (*first, *behind),
                    _ => return Err(wrong(run.start)),
                };
                let base = last - first;
                kept.extend(ends.iter().skip(1).map(|end| end.wrapping_add(base)));
                last += behind - first;
                items.push(first as u64..behind as u64);
            }
            inner.push(items);
        }
        if self.done.insert(key.to_owned()) {
            self.columns.push((format!("{key}-offsets"), Column::from_vec(kept)));
        }
        Ok(inner)
    }

    fn data(&mut self, key: &str, part: &str, dtype: DType, runs: &Runs) -> Result<(), Invalid> {
        let mut columns = Vec::with_capacity(runs.len());
        for (source, runs) in self.sources.iter().zip(runs) {
            columns.push(source.column(key, part, dtype, end(runs))?);
        }
        let total = total(runs) as usize;
        let column = match dtype.size() {
            1 => copy::<u8>(&columns, runs, total),
            2 => copy::<u16>(&columns, runs, total),
            4 => copy::<u32>(&columns, runs, total),
            _ => copy::<u64>(&columns, runs, total),
        };
        self.columns.push((format!("{key}-{part}"), column.view(dtype).unwrap_or(column)));
        Ok(())
    }
}

/// Copies the items of runs, which are within the columns, as bits of the width of `T`.
fn copy<T: crate::Native>(columns: &[&Column], runs: &Runs, total: usize) -> Column {
    let mut kept: Vec<T> = Vec::with_capacity(total);
    for (column, runs) in columns.iter().zip(runs) {
        let Some(bits) = column.view(T::DTYPE) else { continue };
        match bits.items::<T>() {
            Some(items) => {
                runs.iter()
                    .for_each(|run| kept.extend_from_slice(&items[run.start as usize..run.end as usize]));
            }
            None => kept.extend(rows(runs).filter_map(|row| bits.item::<T>(row))),
        }
    }
    Column::from_vec(kept)
}

fn rows(runs: &[Range<u64>]) -> impl Iterator<Item = usize> + '_ {
    runs.iter().flat_map(|run| run.start as usize..run.end as usize)
}

/// Returns the end of the last row of the runs.
fn end(runs: &[Range<u64>]) -> u64 {
    runs.iter().map(|run| run.end).max().unwrap_or(0)
}

fn total(runs: &Runs) -> u64 {
    runs.iter().flatten().map(|run| run.end - run.start).sum()
}

/// Appends a row, to the last run if it follows that.
fn push(runs: &mut Vec<Range<u64>>, row: u64) {
    match runs.last_mut() {
        Some(last) if last.end == row => last.end = row.saturating_add(1),
        _ => runs.push(row..row.saturating_add(1)),
    }
}

fn times(runs: &Runs, shape: &[u64]) -> Result<Runs, Invalid> {
    let scaled = |run: &Range<u64>| Ok(items(run.start, shape)?..items(run.end, shape)?);
    runs.iter().map(|runs| runs.iter().map(scaled).collect()).collect()
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "runs of rows are ranges")]
mod tests {
    use super::*;

    /// `?{a: var * int32, b: string}` with rows that are missing.
    fn array(offset: i32) -> Array {
        let a = Form::List {
            key: "l".into(),
            content: Box::new(Form::Numpy { key: "x".into(), dtype: DType::Int32, shape: vec![] }),
        };
        let b = Form::String { key: "s".into(), binary: false };
        let record =
            Form::Record { fields: Some(vec!["a".into(), "b".into()]), contents: vec![a, b], name: None };
        Array {
            form: Form::Option { key: "o".into(), content: Box::new(record) },
            length: 4,
            columns: vec![
                ("o-index".into(), Column::from_slice(&[2i64, -1, 0, 1])),
                ("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 3])),
                ("x-data".into(), Column::from_slice(&[1 + offset, 2 + offset, 3 + offset])),
                ("s-offsets".into(), Column::from_slice(&[0i64, 1, 3, 3])),
                ("s-data".into(), Column::from_slice(b"uvv")),
            ],
        }
    }

    #[test]
    fn runs_of_several_arrays_follow_each_other() {
        let (first, second) = (array(0), array(10));
        let gathered = Array::gather(&[(&first, &[0..2, 3..4]), (&second, &[1..3])]).expect("gathered");
        gathered.validate().expect("valid");
        let lines = gathered.preview(0..5, 60).lines().expect("lines");
        assert_eq!(lines, ["{a: [3], b: ''}", "None", "{a: [], b: 'vv'}", "None", "{a: [11, 12], b: 'u'}"]);
        let none: [Range<u64>; 0] = [];
        assert_eq!(Array::gather(&[(&first, &none)]).expect("empty").length, 0);
    }

    #[test]
    fn arrays_that_lie_are_refused() {
        let good = array(0);
        let rows: [Range<u64>; 1] = [0..4];
        for at in 0..good.columns.len() {
            let mut bad = good.clone();
            bad.columns[at].1 = bad.columns[at].1.slice(0..1);
            assert!(Array::gather(&[(&bad, &rows)]).is_err(), "{}", bad.columns[at].0);
        }
        let mut bad = good.clone();
        bad.columns[1].1 = Column::from_slice(&[3i64, 2, 2, 1]);
        assert!(matches!(Array::gather(&[(&bad, &rows)]), Err(Invalid::Backwards { .. })));
        assert!(Array::gather(&[(&good, &[3..5])]).is_err());
        let mut other = good.clone();
        other.form = Form::Empty;
        assert!(matches!(Array::gather(&[(&good, &rows), (&other, &rows)]), Err(Invalid::Unlike { .. })));
    }
}
