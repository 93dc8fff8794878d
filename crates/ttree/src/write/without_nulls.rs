//! Converts columns with missing values or categories, which trees do not support.

use super::Nulls;
use forthwith_columns::{Array, Column, DType, Form, LogicalType, Lookup};
use forthwith_plan::{Error, ErrorKind, Number, Result};

/// Returns the Form in which a Form is written: options become their content, categories strings, half floats
/// `float32`, and logical types their stored numbers.
pub(super) fn plain_form(form: &Form) -> Result<Form> {
    Ok(match form {
        Form::Numpy { shape, .. } if shape.contains(&0) => return Err(no_dimension(form)),
        Form::Regular { size: 0, .. } => return Err(no_dimension(form)),
        Form::Numpy { .. } | Form::String { .. } | Form::Empty => form.clone(),
        Form::Categorical { key, .. } => Form::String { key: key.clone(), binary: false },
        Form::List { .. } | Form::Regular { .. } | Form::Record { .. } => {
            let mut plain = form.clone();
            for content in plain.contents_mut() {
                *content = plain_form(content)?;
            }
            plain
        }
        // Missing values are an error, or are filled, when they are written.
        Form::Option { content, .. } => plain_form(content)?,
        Form::Logical { meaning: LogicalType::Decimal { .. }, .. } => {
            return Err(Error::unsupported(format!(
                "{} in a tree, which would lose its decimal point",
                form.type_string()
            )));
        }
        Form::Logical { meaning: LogicalType::Half, content } => match content.kept() {
            Form::Numpy { key, shape, .. } => {
                Form::Numpy { key: key.clone(), dtype: DType::Float32, shape: shape.clone() }
            }
            other => plain_form(other)?,
        },
        Form::Logical { content, .. } => plain_form(content)?,
        other => return Err(Error::unsupported(format!("{} in a tree", other.type_string()))),
    })
}

/// Returns the error for a missing value, which trees cannot store.
fn missing(form: &Form, at: usize) -> Error {
    let type_string = form.type_string();
    Error::new(ErrorKind::MissingValues { place: "a tree", type_string, row: at as u64 })
}

/// Returns the error for arrays of no items: they take no memory, so that their length is not bounded, and
/// C++ has none.
fn no_dimension(form: &Form) -> Error {
    Error::unsupported(format!("{} in a tree: arrays of no items", form.type_string()))
}

/// Returns whether the columns of a Form are written unchanged.
pub(super) fn is_plain(form: &Form) -> bool {
    match form {
        Form::Numpy { .. } | Form::String { .. } | Form::Empty => true,
        Form::List { .. } | Form::Regular { .. } | Form::Record { .. } => {
            form.contents().iter().all(is_plain)
        }
        Form::Logical { meaning, content } => *meaning != LogicalType::Half && is_plain(content),
        _ => false,
    }
}

/// Returns whether a Form has logical types, such as times, other than half floats.
pub(super) fn means_more(form: &Form) -> bool {
    let is_more =
        |node: &Form| matches!(node, Form::Logical { meaning, .. } if *meaning != LogicalType::Half);
    form.nodes().any(is_more)
}

/// Converts an array to the Form that [`plain_form`] returns, with new columns and keys.
pub(super) fn plain_array(array: &Array, nulls: Nulls) -> Result<Array> {
    let fill = match nulls {
        Nulls::Refused => None,
        Nulls::Filled(fill) => Some(fill),
    };
    let mut gather = Gather { columns: Lookup::of(array), fill, out: Vec::new() };
    let rows: Vec<Option<usize>> = (0..array.length as usize).map(Some).collect();
    let form = gather.node(&array.form, &rows)?;
    Ok(Array { form, length: array.length, columns: gather.out })
}

/// Gathers rows of nodes, each of which is present or missing.
struct Gather<'a> {
    columns: Lookup<'a>,
    /// Sentinel for missing values; without it, a missing value is an error.
    fill: Option<Number>,
    out: Vec<(String, Column)>,
}

impl Gather<'_> {
    fn node(&mut self, form: &Form, rows: &[Option<usize>]) -> Result<Form> {
        Ok(match form {
            Form::Numpy { key, .. } => self.numbers(form, self.bytes(key, "data")?, rows)?,
            Form::String { key, binary } => {
                let offsets = self.offsets(key)?;
                self.texts(&offsets, key, rows, *binary)?
            }
            Form::Categorical { key, .. } => {
                let offsets = self.offsets(key)?;
                let index = self.bytes(key, "index")?.as_chunks::<4>().0;
                let picked: Vec<_> = rows
                    .iter()
                    .map(|row| {
                        let at = index.get((*row)?)?;
                        usize::try_from(i32::from_ne_bytes(*at)).ok()
                    })
                    .collect();
                self.texts(&offsets, key, &picked, false)?
            }
            Form::List { key, content } => {
                let offsets = self.offsets(key)?;
                let (mut items, mut ends) = (Vec::new(), vec![0i64]);
                for row in rows {
                    if let Some(row) = row {
                        let (from, to) = bounds(&offsets, *row)?;
                        items.extend((from..to).map(Some));
                    }
                    ends.push(items.len() as i64);
                }
                let key = self.add("offsets", Column::from_vec(ends));
                Form::List { key, content: Box::new(self.node(content, &items)?) }
            }
            Form::Regular { size, content } => {
                let each = *size as usize;
                let items: Vec<_> = rows
                    .iter()
                    .flat_map(|row| (0..each).map(move |at| row.map(|row| row * each + at)))
                    .collect();
                Form::Regular { size: *size, content: Box::new(self.node(content, &items)?) }
            }
            Form::Record { fields, contents, name } => {
                let contents =
                    contents.iter().map(|content| self.node(content, rows)).collect::<Result<_>>()?;
                Form::Record { fields: fields.clone(), contents, name: name.clone() }
            }
            Form::Option { key, content } => {
                let index = self.bytes(key, "index")?.as_chunks::<8>().0;
                let picked: Vec<_> = rows
                    .iter()
                    .map(|row| usize::try_from(i64::from_ne_bytes(*index.get((*row)?)?)).ok())
                    .collect();
                let lacks =
                    |(row, picked): (&Option<usize>, &Option<usize>)| row.is_some() && picked.is_none();
                if let (None, Some(at)) = (self.fill, rows.iter().zip(&picked).position(lacks)) {
                    return Err(missing(form, at));
                }
                self.node(content, &picked)?
            }
            Form::Logical { meaning: LogicalType::Half, content } => match content.kept() {
                Form::Numpy { key, dtype: DType::UInt16, shape } => {
                    let each = shape.iter().product::<u64>() as usize;
                    // Only the part of the column with these rows is converted, as many steps may share the
                    // column.
                    let begin = rows.iter().flatten().min().copied().unwrap_or_default();
                    let end = rows.iter().flatten().max().map_or(begin, |row| row + 1);
                    let halves = self.bytes(key, "data")?.as_chunks().0;
                    let halves = halves
                        .get(begin.saturating_mul(each)..end.saturating_mul(each))
                        .ok_or_else(changed)?
                        .iter();
                    let floats = halves.map(|bits| LogicalType::half(u16::from_ne_bytes(*bits)));
                    let bytes: Vec<u8> = floats.flat_map(f32::to_ne_bytes).collect();
                    let rows: Vec<_> = rows.iter().map(|row| row.map(|row| row - begin)).collect();
                    self.numbers(&plain_form(form)?, &bytes, &rows)?
                }
                other => self.node(other, rows)?,
            },
            Form::Logical { content, .. } => self.node(content, rows)?,
            Form::Empty => Form::Empty,
            other => return Err(Error::unsupported(format!("{} in a tree", other.type_string()))),
        })
    }

    /// Gathers the rows of numbers whose column has these bytes.
    fn numbers(&mut self, form: &Form, bytes: &[u8], rows: &[Option<usize>]) -> Result<Form> {
        let Form::Numpy { dtype, shape, .. } = form else { return Err(changed()) };
        let each = shape.iter().product::<u64>() as usize;
        let width = each * dtype.size();
        let filling = match rows.iter().any(Option::is_none) {
            true => self.filling(form, *dtype)?.repeat(each),
            false => Vec::new(),
        };
        let mut taken = Vec::with_capacity(rows.len().saturating_mul(width));
        for row in rows {
            taken.extend_from_slice(match row {
                Some(row) => bytes.get(row * width..(row + 1) * width).ok_or_else(changed)?,
                None => &filling,
            });
        }
        let key = self.add("data", Column::from_bytes(*dtype, taken.into()));
        Ok(Form::Numpy { key, dtype: *dtype, shape: shape.clone() })
    }

    /// Returns the bytes of the sentinel, in native order.
    fn filling(&self, form: &Form, dtype: DType) -> Result<Vec<u8>> {
        let fill = self.fill.unwrap_or_default();
        fill.bytes(dtype).ok_or_else(|| {
            Error::unsupported(format!("{fill} in place of missing values of type {}", form.type_string()))
        })
    }

    fn texts(&mut self, offsets: &[i64], key: &str, rows: &[Option<usize>], binary: bool) -> Result<Form> {
        let bytes = self.bytes(key, "data")?;
        let (mut taken, mut ends) = (Vec::new(), vec![0i64]);
        for row in rows {
            if let Some(row) = row {
                let (from, to) = bounds(offsets, *row)?;
                taken.extend_from_slice(bytes.get(from..to).ok_or_else(changed)?);
            }
            ends.push(taken.len() as i64);
        }
        let key = self.add("offsets", Column::from_vec(ends));
        self.out.push((format!("{key}-data"), Column::from_vec(taken)));
        Ok(Form::String { key, binary })
    }

    fn add(&mut self, part: &str, column: Column) -> String {
        let key = format!("p{}", self.out.len());
        self.out.push((format!("{key}-{part}"), column));
        key
    }

    fn bytes<'s>(&self, key: &str, part: &str) -> Result<&'s [u8]>
    where
        Self: 's,
    {
        self.columns.any(key, part).map(Column::as_bytes).map_err(|_| changed())
    }

    fn offsets(&self, key: &str) -> Result<Vec<i64>> {
        Ok(self.bytes(key, "offsets")?.as_chunks::<8>().0.iter().map(|at| i64::from_ne_bytes(*at)).collect())
    }
}

fn bounds(offsets: &[i64], row: usize) -> Result<(usize, usize)> {
    let pair = offsets.get(row..row + 2).ok_or_else(changed)?;
    match (usize::try_from(pair[0]), usize::try_from(pair[1])) {
        (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
        _ => Err(changed()),
    }
}

/// Returns the error for an array whose memory was changed by another owner after it was validated.
pub(super) fn changed() -> Error {
    Error::invalid("an array that changed while it was written")
}
