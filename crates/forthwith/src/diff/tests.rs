//! Arrays of every structure side by side.

use super::{DiffOptions, types::are_comparable, walk::compare};
use forthwith_columns::{Array, Column, DType, Form, LogicalType, TimeUnit};

fn number(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

fn array(form: Form, length: u64, columns: Vec<(&str, Column)>) -> Array {
    Array {
        form,
        length,
        columns: columns.into_iter().map(|(key, column)| (key.to_owned(), column)).collect(),
    }
}

/// The rows that differ, and the places of the first differences.
fn differences(left: &Array, right: &Array, options: &DiffOptions) -> (Vec<u64>, Vec<String>) {
    assert!(are_comparable(&left.form, &right.form));
    let found = compare([(left, 0), (right, 0)], left.length, options, 100).expect("sound arrays");
    (found.rows, found.first.into_iter().map(|found| format!("{}{}", found.row, found.path)).collect())
}

fn floats(numbers: &[f64]) -> Array {
    array(number("x", DType::Float64), numbers.len() as u64, vec![("x-data", Column::from_slice(numbers))])
}

#[test]
fn numbers_are_equal_by_value_bits_or_within_tolerance() {
    let (left, right) = (floats(&[0.0, f64::NAN, 1.0, 2.0]), floats(&[-0.0, f64::NAN, 1.0, 2.5]));
    let rows = |options| differences(&left, &right, &options).0;
    let defaults = DiffOptions::default;
    assert_eq!(rows(defaults()), [3]);
    assert_eq!(rows(DiffOptions { bitwise: true, ..defaults() }), [0, 3]);
    assert_eq!(rows(DiffOptions { nan_equal: false, ..defaults() }), [1, 3]);
    assert_eq!(rows(DiffOptions { atol: 0.5, ..defaults() }), [0; 0]);
    assert_eq!(rows(DiffOptions { rtol: 0.2, ..defaults() }), [0; 0]);
    // Whole numbers that no float has are not equal to their neighbours.
    let whole =
        array(number("x", DType::Int64), 1, vec![("x-data", Column::from_slice(&[(1_i64 << 53) + 1]))]);
    assert_eq!(differences(&whole, &floats(&[9_007_199_254_740_992.0]), &defaults()).0, [0]);
    assert_eq!(differences(&whole, &whole, &defaults()).0, [0; 0]);
}

#[test]
fn lists_of_any_and_of_one_length_are_lists() {
    let items: Vec<i32> = (0..6).collect();
    let content = Box::new(number("x", DType::Int32));
    let lists = array(
        Form::List { key: "l".into(), content },
        3,
        vec![("l-offsets", Column::from_slice(&[0_i64, 2, 4, 6])), ("x-data", Column::from_slice(&items))],
    );
    let form = Form::Numpy { key: "x".into(), dtype: DType::Int16, shape: vec![2] };
    let fixed = array(form, 3, vec![("x-data", Column::from_slice(&[0_i16, 1, 2, 7, 4, 5]))]);
    let options = DiffOptions::default();
    assert_eq!(differences(&lists, &fixed, &options), (vec![1], vec!["1[1]".into()]));
    let mut ragged = lists.clone();
    ragged.columns[0].1 = Column::from_slice(&[0_i64, 2, 3, 6]);
    assert_eq!(differences(&lists, &ragged, &options), (vec![1, 2], vec!["1".into(), "2".into()]));
    let mut backwards = lists.clone();
    backwards.columns[0].1 = Column::from_slice(&[0_i64, 3, 2, 6]);
    assert!(compare([(&lists, 0), (&backwards, 0)], 3, &options, 1).is_err());
    let mut short = lists.clone();
    short.columns[1].1 = Column::from_slice(&items[..5]);
    assert!(compare([(&lists, 0), (&short, 0)], 3, &options, 1).is_err());
}

#[test]
fn missing_values_differ_from_all_others() {
    let form = Form::Option { key: "o".into(), content: Box::new(number("x", DType::Float64)) };
    let option = |index: &[i64], numbers: &[f64]| {
        let columns = vec![("o-index", Column::from_slice(index)), ("x-data", Column::from_slice(numbers))];
        array(form.clone(), index.len() as u64, columns)
    };
    let left = option(&[0, -1, 1, -1, 2], &[1.0, 2.0, 3.0]);
    let options = DiffOptions::default();
    // The order of the content does not matter.
    assert_eq!(differences(&left, &option(&[2, -1, 0, -1, 1], &[2.0, 3.0, 1.0]), &options).0, [0; 0]);
    assert_eq!(differences(&left, &floats(&[1.0, 0.0, 2.0, 0.0, 4.0]), &options).0, [1, 3, 4]);
}

#[test]
fn alternatives_are_compared_value_by_value() {
    let union = |contents: Vec<Form>, tags: &[i8]| {
        let columns = vec![
            ("u-tags", Column::from_slice(tags)),
            ("u-index", Column::from_slice(&[0_i64, 0, 1])),
            ("x-data", Column::from_slice(&[1_i32, 2])),
            ("t-offsets", Column::from_slice(&[0_i64, 1])),
            ("t-data", Column::from_slice(b"a")),
        ];
        array(Form::Union { key: "u".into(), contents }, 3, columns)
    };
    let (whole, text) = (number("x", DType::Int32), Form::String { key: "t".into(), binary: false });
    let left = union(vec![whole.clone(), text.clone()], &[0, 1, 0]);
    let right = union(vec![text, whole.clone()], &[1, 0, 1]);
    let options = DiffOptions::default();
    assert_eq!(differences(&left, &right, &options).0, [0; 0]);
    let numbers = array(whole, 3, vec![("x-data", Column::from_slice(&[1_i32, 2, 2]))]);
    assert_eq!(differences(&left, &numbers, &options).0, [1]);
}

#[test]
fn texts_and_times_are_equal_however_they_are_kept() {
    let texts = array(
        Form::String { key: "t".into(), binary: false },
        3,
        vec![("t-offsets", Column::from_slice(&[0_i64, 1, 3, 3])), ("t-data", Column::from_slice(b"abb"))],
    );
    let categories = vec!["bb".to_owned(), String::new(), "a".to_owned()];
    let few = array(
        Form::Categorical { key: "c".into(), categories },
        3,
        vec![("c-index", Column::from_slice(&[2_i32, 0, 0]))],
    );
    let options = DiffOptions::default();
    assert_eq!(differences(&texts, &few, &options), (vec![2], vec!["2".into()]));
    let times = |unit, counts: &[i64]| {
        let meaning = LogicalType::Timestamp { unit, zone: None };
        let form = Form::Logical { meaning, content: Box::new(number("x", DType::Int64)) };
        array(form, counts.len() as u64, vec![("x-data", Column::from_slice(counts))])
    };
    let (coarse, fine) = (times(TimeUnit::Milli, &[1, 2]), times(TimeUnit::Micro, &[1000, 2001]));
    assert_eq!(differences(&coarse, &fine, &options).0, [1]);
    assert!(!are_comparable(&texts.form, &number("x", DType::Int32)));
}
