//! Arrays as slices of numbers.

use forthwith_columns::{Array, Column, DType, Form, Native, ViewError};

fn numbers<T: Native>(shape: Vec<u64>) -> Form {
    Form::Numpy { key: "n".into(), dtype: T::DTYPE, shape }
}

fn list(content: Form) -> Form {
    Form::List { key: "l".into(), content: Box::new(content) }
}

fn array(form: Form, length: u64, columns: Vec<(&str, Column)>) -> Array {
    Array {
        form,
        length,
        columns: columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect(),
    }
}

fn said<T>(answer: Result<T, ViewError>) -> String {
    answer.map(drop).unwrap_err().to_string()
}

#[test]
fn numbers_are_slices() {
    let items = ("n-data", Column::from_slice(&[1u16, 2, 3, 4, 5, 6, 7]));
    let flat = array(numbers::<u16>(vec![]), 3, vec![items.clone()]);
    assert_eq!(flat.as_slice::<u16>().unwrap(), [1, 2, 3]);
    let matrix = array(numbers::<u16>(vec![3]), 2, vec![items.clone()]);
    assert_eq!(matrix.as_slice::<u16>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(said(matrix.as_slice::<i16>()), "the array is 2 * 3 * uint16, not numbers of int16");
    assert_eq!(
        said(matrix.as_jagged::<u16>()),
        "the array is 2 * 3 * uint16, not lists of numbers of uint16"
    );
    let short = array(numbers::<u16>(vec![3]), 3, vec![items]);
    assert_eq!(said(short.as_slice::<u16>()), "buffer n-data holds 7 items where 9 are needed");
    let flags = Column::from_slice(&[1u8, 0]).view(DType::Bool).unwrap();
    let flags =
        array(Form::Numpy { key: "n".into(), dtype: DType::Bool, shape: vec![] }, 2, vec![("n-data", flags)]);
    assert_eq!(flags.as_slice::<u8>().unwrap(), [1, 0]);
}

#[test]
fn bytes_that_are_not_aligned_are_not_numbers() {
    let bytes = bytes::Bytes::from(vec![0u8; 24]);
    let at = (0..8).find(|at| !bytes[*at..].as_ptr().addr().is_multiple_of(8)).unwrap();
    let column = Column::from_bytes(DType::Float64, bytes.slice(at..at + 16));
    let view = array(numbers::<f64>(vec![]), 2, vec![("n-data", column.clone())]);
    assert_eq!(
        said(view.as_slice::<f64>()),
        "buffer n-data is not aligned for float64: copy it with `Column::compact`"
    );
    let copy = array(numbers::<f64>(vec![]), 2, vec![("n-data", column.compact())]);
    assert_eq!(copy.as_slice::<f64>().unwrap(), [0.0, 0.0]);
}

#[test]
fn lists_of_numbers_are_slices_of_slices() {
    let columns = |offsets: &[i64]| {
        vec![("l-offsets", Column::from_slice(offsets)), ("n-data", Column::from_slice(&[1f64, 2.0, 3.0]))]
    };
    let jagged = array(list(numbers::<f64>(vec![])), 2, columns(&[1, 1, 3]));
    let lists = jagged.as_jagged::<f64>().unwrap();
    assert_eq!(lists.iter().collect::<Vec<_>>(), [&[][..], &[2.0, 3.0]]);
    assert_eq!(
        (lists.len(), lists.is_empty(), lists.get(1), lists.get(2)),
        (2, false, Some(&[2.0, 3.0][..]), None)
    );
    assert_eq!((&lists[1], lists.offsets()), (&[2.0, 3.0][..], &[1, 1, 3][..]));
    for (offsets, error) in [
        (&[0, 3, 2][..], "l-offsets: row 1 ends before it starts"),
        (&[-1, 0, 1], "l-offsets: row 0 refers to a value that does not exist"),
        (&[0, 0, 4], "buffer n-data holds 3 items where 4 are needed"),
        (&[0, 1], "buffer l-offsets holds 2 items where 3 are needed"),
    ] {
        assert_eq!(said(array(list(numbers::<f64>(vec![])), 2, columns(offsets)).as_jagged::<f64>()), error);
    }
    let none = array(list(numbers::<f64>(vec![])), u64::MAX, columns(&[0]));
    assert!(none.as_jagged::<f64>().is_err());
}

#[test]
fn lists_of_one_length_are_lists() {
    let regular = |size, length| {
        let form = Form::Regular { size, content: Box::new(numbers::<i32>(vec![])) };
        array(form, length, vec![("n-data", Column::from_slice(&[1i32, 2, 3, 4]))])
    };
    assert_eq!(&regular(2, 2).as_jagged::<i32>().unwrap()[1], [3, 4]);
    assert_eq!(said(regular(2, 3).as_jagged::<i32>()), "buffer n-data holds 4 items where 6 are needed");
    assert_eq!(
        said(regular(0, u64::MAX - 1).as_jagged::<i32>()).split(',').next(),
        Some("the array is 18446744073709551614 * 0 * int32")
    );
    assert!(regular(1 << 40, 1 << 40).as_jagged::<i32>().is_err());
}

#[test]
fn lists_of_records_and_of_lists_are_taken_apart() {
    let record = Form::Record {
        fields: Some(vec!["pt".into(), "name".into()]),
        contents: vec![numbers::<f32>(vec![]), Form::String { key: "s".into(), binary: false }],
        name: None,
    };
    let columns = vec![
        ("l-offsets", Column::from_slice(&[0i64, 1, 3])),
        ("n-data", Column::from_slice(&[1.5f32, 2.5, 3.5])),
        ("s-offsets", Column::from_slice(&[0i64, 1, 1, 3])),
        ("s-data", Column::from_slice(b"abc")),
    ];
    let jets = array(list(record), 2, columns);
    let (offsets, items) = jets.as_lists().unwrap();
    assert_eq!((&*offsets, items.length), (&[0, 1, 3][..], 3));
    assert_eq!(items.field("pt").unwrap().as_slice::<f32>().unwrap(), [1.5, 2.5, 3.5]);
    let names = items.field("name").unwrap();
    assert_eq!(names.as_texts().unwrap().iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bc"]);
    assert_eq!(said(items.field("eta")), r#"the record has no field "eta": it has pt, name"#);
    assert_eq!(
        said(jets.field("pt")),
        "the array is 2 * var * {pt: float32, name: string}, not records with names"
    );
    assert_eq!(said(items.as_texts()), "the array is 3 * {pt: float32, name: string}, not texts");
}

#[test]
fn an_array_prints_its_type_and_its_first_rows() {
    let items: Vec<i64> = (0..12).collect();
    let long = array(numbers::<i64>(vec![]), 12, vec![("n-data", Column::from_slice(&items))]);
    assert_eq!(long.to_string(), "12 * int64\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n...");
    assert_eq!(long.preview(10..99, 20).to_string(), "10\n11");
    let empty = array(numbers::<i64>(vec![]), 0, vec![]);
    assert_eq!(empty.to_string(), "0 * int64");
    let broken = array(numbers::<i64>(vec![]), 1, vec![]);
    assert_eq!(broken.to_string(), "1 * int64\n(there is no buffer n-data)");
}
