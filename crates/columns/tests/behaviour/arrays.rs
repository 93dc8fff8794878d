//! Arrays of every structure: validated, shown, turned into values and Awkward forms.

use forthwith_columns::{Array, Column, DType, Form, Invalid, Value};

pub(crate) fn numbers(key: &str, dtype: DType, shape: &[u64]) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: shape.to_vec() }
}

pub(crate) fn column<T: forthwith_columns::Native>(key: &str, items: &[T]) -> (String, Column) {
    (key.into(), Column::from_slice(items))
}

/// One of everything: `{x: float32, y: var * 2 * int16, name: ?string, flag: bool, either: union[int64,
/// bytes], pair: (uint8, 2 * 3 * int8)}`.
pub(crate) fn everything() -> Array {
    let list = Form::List { key: "list".into(), content: Box::new(numbers("y", DType::Int16, &[2])) };
    let text = Form::String { key: "text".into(), binary: false };
    let option = Form::Option { key: "maybe".into(), content: Box::new(text) };
    let bytes = Form::String { key: "bytes".into(), binary: true };
    let union =
        Form::Union { key: "either".into(), contents: vec![numbers("int", DType::Int64, &[]), bytes] };
    let regular = Form::Regular { size: 2, content: Box::new(numbers("cube", DType::Int8, &[3])) };
    let tuple = Form::Record {
        fields: None,
        contents: vec![numbers("first", DType::UInt8, &[]), regular],
        name: None,
    };
    let names = ["x", "y", "name", "flag", "either", "pair"].map(String::from).to_vec();
    Array {
        form: Form::Record {
            fields: Some(names),
            contents: vec![
                numbers("x", DType::Float32, &[]),
                list,
                option,
                numbers("flag", DType::Bool, &[]),
                union,
                tuple,
            ],
            name: Some("Point".into()),
        },
        length: 3,
        columns: vec![
            column("x-data", &[1.5f32, 2.0, -0.25]),
            column("list-offsets", &[0i64, 2, 2, 3]),
            column("y-data", &[1i16, 2, 3, 4, 5, 6]),
            column("maybe-index", &[0i64, -1, 1]),
            column("text-offsets", &[0i64, 3, 8]),
            column("text-data", "onetwö!".as_bytes()),
            ("flag-data".into(), Column::from_slice(&[1u8, 0, 1]).view(DType::Bool).unwrap()),
            column("either-tags", &[1i8, 0, 1]),
            column("either-index", &[0i64, 0, 1]),
            column("int-data", &[i64::MIN]),
            column("bytes-offsets", &[0i64, 2, 2]),
            column("bytes-data", &[0xFFu8, 0x41]),
            column("first-data", &[7u8, 8, 9]),
            column("cube-data", &(0..18).collect::<Vec<i8>>()),
        ],
    }
}

pub(crate) fn replaced(array: &Array, key: &str, with: Column) -> Array {
    let mut array = array.clone();
    array.columns.iter_mut().filter(|(name, _)| name == key).for_each(|(_, column)| *column = with.clone());
    array
}

#[test]
fn a_good_array_is_valid_and_counts_its_bytes() {
    let array = everything();
    array.validate().unwrap();
    assert_eq!(array.column("x-data").unwrap().len(), 3);
    assert!(array.column("nothing").is_none());
    assert_eq!(array.nbytes(), array.columns.iter().map(|(_, column)| column.nbytes()).sum::<usize>());
}

#[test]
fn what_is_wrong_is_named_with_its_row() {
    let array = everything();
    let verdict = |key: &str, column: Column| replaced(&array, key, column).validate().unwrap_err();
    let range = |key: &str, row| Invalid::Range { key: key.into(), row };
    assert_eq!(
        verdict("list-offsets", Column::from_slice(&[0i64, 2, 1, 3])),
        Invalid::Backwards { key: "list-offsets".into(), row: 1 }
    );
    assert_eq!(verdict("list-offsets", Column::from_slice(&[-1i64, 2, 2, 3])), range("list-offsets", 0));
    assert_eq!(
        verdict("list-offsets", Column::from_slice(&[0i64, 2, 2, 4])),
        Invalid::Short { key: "y-data".into(), found: 6, needed: 8 }
    );
    assert_eq!(
        verdict("list-offsets", Column::from_slice(&[0i64, 2, 2, i64::MAX])),
        Invalid::Overflow { rows: i64::MAX as u64, each: 2 }
    );
    assert_eq!(
        verdict("list-offsets", Column::from_slice(&[0i64, 2, 2])),
        Invalid::Short { key: "list-offsets".into(), found: 3, needed: 4 }
    );
    assert_eq!(
        verdict("x-data", Column::from_slice(&[0f64; 3])),
        Invalid::Type { key: "x-data".into(), found: DType::Float64, wanted: DType::Float32 }
    );
    assert_eq!(verdict("either-tags", Column::from_slice(&[1i8, 2, 1])), range("either-tags", 1));
    assert_eq!(verdict("either-tags", Column::from_slice(&[1i8, 0, -1])), range("either-tags", 2));
    assert_eq!(verdict("either-index", Column::from_slice(&[0i64, -1, 1])), range("either-index", 1));
    assert!(matches!(
        verdict("maybe-index", Column::from_slice(&[0i64, i64::MAX, 1])),
        Invalid::Short { .. } | Invalid::Overflow { .. }
    ));
    let mut missing = array.clone();
    missing.columns.retain(|(key, _)| key != "bytes-data");
    assert_eq!(missing.validate(), Err(Invalid::Missing { key: "bytes-data".into() }));
    let unknown = Array { form: Form::Empty, length: 1, columns: vec![] };
    assert_eq!(unknown.validate(), Err(Invalid::Unknown { rows: 1 }));
    let names = Form::Record { fields: Some(vec![]), contents: vec![Form::Empty], name: None };
    let names = Array { form: names, length: 0, columns: vec![] };
    assert_eq!(names.validate(), Err(Invalid::Names { names: 0, contents: 1 }));
    let mut deep = Form::Empty;
    for _ in 0..400 {
        deep = Form::Regular { size: 1, content: Box::new(deep) };
    }
    let deep = Array { form: deep, length: 0, columns: vec![] };
    assert_eq!(deep.validate(), Err(Invalid::Deep));
    assert!(deep.to_arrow().is_err());
}

#[test]
fn rows_become_values_and_json() {
    let array = everything();
    let rows: Vec<String> =
        array.values(0..9).unwrap().iter().map(|row| serde_json::to_string(row).unwrap()).collect();
    assert_eq!(
        rows,
        [
            r#"{"x":1.5,"y":[[1,2],[3,4]],"name":"one","flag":true,"either":[255,65],"pair":[7,[[0,1,2],[3,4,5]]]}"#,
            r#"{"x":2.0,"y":[],"name":null,"flag":false,"either":-9223372036854775808,"pair":[8,[[6,7,8],[9,10,11]]]}"#,
            r#"{"x":-0.25,"y":[[5,6]],"name":"twö!","flag":true,"either":[],"pair":[9,[[12,13,14],[15,16,17]]]}"#,
        ]
    );
    assert_eq!(array.value(3), Ok(Value::Null));
    let bad = replaced(&array, "list-offsets", Column::from_slice(&[0i64, 2, 1, i64::MAX]));
    assert!(bad.value(0).is_ok());
    assert!(bad.value(1).is_err());
    assert!(bad.value(2).is_err());
    assert!(bad.preview(2..3, 60).lines().is_err());
}

#[test]
fn items_without_memory_are_not_spelled_out_without_end() {
    let shape = Form::Regular { size: 1 << 60, content: Box::new(numbers("n", DType::Int8, &[0])) };
    let unit = Form::Record { fields: None, contents: vec![], name: None };
    let list = Form::List { key: "l".into(), content: Box::new(unit) };
    let offsets = column("l-offsets", &[0i64, i64::MAX]);
    for form in [shape, numbers("n", DType::Int8, &[1 << 60, 0]), list] {
        let columns = vec![column::<i8>("n-data", &[]), offsets.clone()];
        let array = Array { form, length: 1, columns };
        array.validate().unwrap();
        assert!(matches!(array.value(0), Err(Invalid::Overflow { .. })));
        assert!(array.preview(0..1, 30).lines().unwrap()[0].len() <= 30);
    }
    let huge = numbers("n", DType::Int8, &[0, 1 << 60, 1 << 60]);
    let array = Array { form: huge, length: 1, columns: vec![column::<i8>("n-data", &[])] };
    assert_eq!(array.value(0), Ok(Value::List(vec![])));
    assert_eq!(array.preview(0..1, 30).lines().unwrap(), ["[]"]);
}

#[test]
fn previews_are_short_and_read_little() {
    let array = everything();
    let rows = array.preview(0..9, 200).lines().unwrap();
    assert_eq!(
        rows[0],
        r"{x: 1.5, y: [[1, 2], [3, 4]], name: 'one', flag: True, either: b'\xffA', pair: (7, [[0, 1, 2], [3, 4, 5]])}"
    );
    assert_eq!(
        rows[1],
        "{x: 2, y: [], name: None, flag: False, either: -9223372036854775808, pair: (8, [[6, 7, 8], [9, 10, 11]])}"
    );
    for width in (0..120).step_by(if cfg!(miri) { 40 } else { 1 }) {
        for line in array.preview(0..3, width).lines().unwrap() {
            assert!(line.chars().count() <= width.max(12), "{width}: {line}");
        }
    }
    let count = if cfg!(miri) { 100 } else { 100_000 };
    let items: Vec<f64> = (0..count).map(|at| f64::from(at) / 2.0).collect();
    let long = Array {
        form: Form::List { key: "a".into(), content: Box::new(numbers("b", DType::Float64, &[])) },
        length: 1,
        columns: vec![column("a-offsets", &[0i64, count.into()]), column("b-data", &items)],
    };
    assert_eq!(
        long.preview(0..1, 40).lines().unwrap(),
        [format!(
            "[0, 0.5, 1, 1.5, 2, 2.5, {}..., {}]",
            if cfg!(miri) { "3, " } else { "" },
            f64::from(count - 1) / 2.0
        )]
    );
    let text = Array {
        form: Form::String { key: "a".into(), binary: false },
        length: 1,
        columns: vec![column("a-offsets", &[0i64, 12]), column("a-data", b"it's\na\nlong1")],
    };
    assert_eq!(text.preview(0..1, 40).lines().unwrap(), [r"'it\'s\na\nlong1'"]);
    assert_eq!(text.preview(0..1, 12).lines().unwrap(), [r"'it\'s\n...'"]);
}

#[test]
fn forms_in_awkwards_notation() {
    let array = everything();
    let json: serde_json::Value = serde_json::from_str(&array.form.to_awkward_json()).unwrap();
    assert_eq!(json["class"], "RecordArray");
    assert_eq!(json["parameters"]["__record__"], "Point");
    assert_eq!(json["form_key"], serde_json::Value::Null);
    let name = &json["contents"][2];
    assert_eq!((&name["class"], &name["index"]), (&"IndexedOptionArray".into(), &"i64".into()));
    assert_eq!(name["content"]["parameters"]["__array__"], "string");
    assert_eq!(name["content"]["content"]["parameters"]["__array__"], "char");
    assert_eq!(name["content"]["content"]["form_key"], "text");
    assert_eq!(json["contents"][5]["fields"], serde_json::Value::Null);
    assert_eq!(json["contents"][1]["content"]["inner_shape"], serde_json::json!([2]));
    assert!(array.form.fits_awkward());
}

/// An option around a union of an optional number and a union of text and a list: every rule broken.
pub(crate) fn tangled() -> Array {
    let text = Form::String { key: "text".into(), binary: false };
    let inner = Form::Union { key: "inner".into(), contents: vec![text, numbers("pair", DType::Int8, &[2])] };
    let number = Form::Option { key: "opt".into(), content: Box::new(numbers("num", DType::Float64, &[])) };
    let outer = Form::Union { key: "outer".into(), contents: vec![number, inner] };
    Array {
        form: Form::Option { key: "top".into(), content: Box::new(outer) },
        length: 6,
        columns: vec![
            column("top-index", &[0i64, -1, 1, 2, 3, 4]),
            column("outer-tags", &[0i8, 1, 0, 1, 0]),
            column("outer-index", &[0i64, 0, 1, 1, 2]),
            column("opt-index", &[0i64, -1, 1]),
            column("num-data", &[0.5f64, 1.5]),
            column("inner-tags", &[1i8, 0]),
            column("inner-index", &[0i64, 0]),
            column("text-offsets", &[0i64, 2]),
            column("text-data", b"hi"),
            column("pair-data", &[1i8, 2]),
        ],
    }
}

#[test]
fn tangled_options_and_unions_are_made_flat_without_changing_a_row() {
    let array = tangled();
    array.validate().unwrap();
    assert!(!array.form.fits_awkward());
    let flat = array.for_awkward().unwrap();
    flat.validate().unwrap();
    assert!(flat.form.fits_awkward());
    assert_eq!(flat.form.type_string(), "union[?float64, ?string, ?2 * int8]");
    assert_eq!(flat.form, array.form.for_awkward().unwrap());
    assert_eq!(flat.values(0..9).unwrap(), array.values(0..9).unwrap());
    assert_eq!(array.preview(0..9, 80).lines().unwrap(), ["0.5", "None", "[1, 2]", "None", "'hi'", "1.5"]);
    let nested = Array {
        form: Form::List { key: "list".into(), content: Box::new(array.form.clone()) },
        length: 2,
        columns: [array.columns.clone(), vec![column("list-offsets", &[0i64, 4, 6])]].concat(),
    };
    assert_eq!(nested.for_awkward().unwrap().values(0..2).unwrap(), nested.values(0..2).unwrap());
}
