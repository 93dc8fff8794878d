//! Conversion of columns to numbers for histograms.

use forthwith::columns::{Array, Column, DType, Form, with_integer};

/// Returns the values of numbers, or of lists of numbers without their offsets; `None` for other types.
pub fn values(array: &Array) -> Option<Vec<f64>> {
    array.column(&format!("{}-data", array.form.numbers()?.0)).map(numbers)
}

/// Returns the offsets and the values of lists of numbers; `None` for other types.
pub fn lists(array: &Array) -> Option<(Vec<i64>, Vec<f64>)> {
    let Form::List { key, content } = &array.form else { return None };
    if !matches!(&**content, Form::Numpy { shape, .. } if shape.is_empty()) {
        return None;
    }
    let offsets = array.column(&format!("{key}-offsets"))?;
    let offsets = (0..offsets.len()).filter_map(|at| offsets.item(at)).collect();
    Some((offsets, values(array)?))
}

/// Pairs the values of two columns: of each entry, or of each item of lists. A number is paired with each
/// item of a list.
///
/// # Errors
/// Returns an error if the columns are of other types, or if the lengths of their lists differ.
pub fn pairs(x: &Array, y: &Array) -> Result<Vec<(f64, f64)>, String> {
    let spread = |array: &Array, offsets: &[i64]| {
        let values = values(array).unwrap_or_default();
        let repeated = values.iter().zip(offsets.windows(2)).flat_map(|(value, ends)| {
            let length = usize::try_from(ends[1] - ends[0]).unwrap_or(0);
            std::iter::repeat_n(*value, length)
        });
        repeated.collect::<Vec<f64>>()
    };
    let single = |array: &Array| matches!(&array.form, Form::Numpy { shape, .. } if shape.is_empty());
    let (xs, ys) = match (single(x), single(y), lists(x), lists(y)) {
        (true, true, ..) => (values(x).unwrap_or_default(), values(y).unwrap_or_default()),
        (true, _, _, Some((offsets, ys))) => (spread(x, &offsets), ys),
        (_, true, Some((offsets, xs)), _) => (xs, spread(y, &offsets)),
        (_, _, Some((left, xs)), Some((right, ys))) => {
            if left != right {
                return Err("lists of the two columns have different lengths".into());
            }
            (xs, ys)
        }
        _ => {
            let types = format!("{} and {}", x.form.type_string(), y.form.type_string());
            return Err(format!("two dimensions need numbers or lists of numbers, not {types}"));
        }
    };
    Ok(xs.into_iter().zip(ys).collect())
}

/// Converts the items of a column to `f64`.
fn numbers(column: &Column) -> Vec<f64> {
    with_integer!(column.dtype(), T => all::<T>(column, |value| value as f64),
        // Booleans are stored as bytes.
        DType::Bool => column.as_bytes().iter().map(|&byte| f64::from(byte)).collect(),
        DType::Float32 => all::<f32>(column, f64::from),
        DType::Float64 => all::<f64>(column, |value| value),
    )
}

fn all<T: forthwith::columns::Native>(column: &Column, convert: impl Fn(T) -> f64) -> Vec<f64> {
    (0..column.len()).filter_map(|at| column.item(at)).map(convert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_ends() {
        let numbers = Form::Numpy { key: "node1".into(), dtype: DType::Float32, shape: vec![] };
        let array = Array {
            form: Form::List { key: "node0".into(), content: Box::new(numbers) },
            length: 2,
            columns: vec![
                ("node0-offsets".into(), Column::from_slice(&[0_i64, 2, 3])),
                ("node1-data".into(), Column::from_slice(&[1.0_f32, 2.0, 3.5])),
            ],
        };
        assert_eq!(lists(&array), Some((vec![0, 2, 3], vec![1.0, 2.0, 3.5])));
        assert_eq!(values(&array), Some(vec![1.0, 2.0, 3.5]));
    }

    #[test]
    fn texts_are_no_numbers() {
        let array =
            Array { form: Form::String { key: "node0".into(), binary: false }, length: 0, columns: vec![] };
        assert_eq!(values(&array), None);
        assert_eq!(lists(&array), None);
    }
}
