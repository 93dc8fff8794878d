//! Columns as numbers to draw.

use forthwith::columns::{Array, Column, DType, Form, with_integer};

/// The values of a branch of numbers, or of lists of numbers, without the lists.
pub fn values(array: &Array) -> Option<Vec<f64>> {
    array.column(&format!("{}-data", array.form.numbers()?.0)).map(numbers)
}

/// A branch of lists of numbers: where the lists end, and the numbers.
pub fn lists(array: &Array) -> Option<(Vec<i64>, Vec<f64>)> {
    let Form::List { key, content } = &array.form else { return None };
    if !matches!(&**content, Form::Numpy { shape, .. } if shape.is_empty()) {
        return None;
    }
    let offsets = array.column(&format!("{key}-offsets"))?;
    let offsets = (0..offsets.len()).filter_map(|at| offsets.item(at)).collect();
    Some((offsets, values(array)?))
}

/// The items of a column.
fn numbers(column: &Column) -> Vec<f64> {
    with_integer!(column.dtype(), T => all::<T>(column, |value| value as f64),
        // Truth values are bytes under another name.
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
