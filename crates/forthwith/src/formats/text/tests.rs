//! Values in JSON and CSV.

use crate::{FileFormat, JsonRows, writer};
use forthwith_columns::{Array, Column, DType, Form, LogicalType, MAP, TimeUnit, is_unsafe_to_show};
use forthwith_io::MemorySink;
use forthwith_plan::{NotNumbers, WriteOptions};

fn numbers(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

fn text(key: &str, binary: bool) -> Form {
    Form::String { key: key.into(), binary }
}

fn array(form: Form, length: u64, columns: &[(&str, Column)]) -> Array {
    let columns = columns.iter().map(|(key, column)| ((*key).to_owned(), column.clone())).collect();
    Array { form, length, columns }
}

fn json(array: Array) -> String {
    let (names, columns) = (["x"], [array]);
    let rows = JsonRows::new(&names, &columns, NotNumbers::Null).expect("valid columns");
    let mut text = Vec::new();
    for row in 0..columns[0].length {
        rows.row(row, &mut text).expect("valid values");
    }
    String::from_utf8(text).expect("UTF-8")
}

fn pairs(key: Form, name: Option<&str>) -> Array {
    let contents = vec![key, numbers("v", DType::Int32)];
    let pair = Form::Record { fields: None, contents, name: name.map(str::to_owned) };
    let form = Form::List { key: "m".into(), content: Box::new(pair) };
    let columns = [
        ("m-offsets", Column::from_slice(&[0i64, 2, 2])),
        ("k-offsets", Column::from_slice(&[0i64, 1, 3])),
        ("k-data", Column::from_slice(b"a\"b")),
        ("k-index", Column::from_slice(&[1i32, 0])),
        ("v-data", Column::from_slice(&[7i32, -8])),
    ];
    array(form, 2, &columns)
}

#[test]
fn maps_are_objects() {
    assert_eq!(json(pairs(text("k", false), None)), r#"{"x":{"a":7,"\"b":-8}}{"x":{}}"#);
    let categories = vec!["one".into(), "two".into()];
    let category = Form::Categorical { key: "k".into(), categories };
    assert_eq!(json(pairs(category, Some(MAP))), r#"{"x":{"two":7,"one":-8}}{"x":{}}"#);
    // Keys that are no texts are none in JSON either.
    let mut other = pairs(numbers("n", DType::Int8), Some(MAP));
    other.columns.push(("n-data".into(), Column::from_slice(&[1i8, 2])));
    assert_eq!(json(other), r#"{"x":[[1,7],[2,-8]]}{"x":[]}"#);
}

#[test]
fn bytes_are_characters_of_their_numbers() {
    let bytes: Vec<u8> = (0..=255).collect();
    let columns = [("b-offsets", Column::from_slice(&[0i64, 256])), ("b-data", Column::from_slice(&bytes))];
    let written = json(array(text("b", true), 1, &columns));
    assert_eq!(written.chars().find(|c| is_unsafe_to_show(*c)), None);
    let read: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    let read = read["x"].as_str().expect("a text").chars();
    assert_eq!(read.map(|c| u8::try_from(u32::from(c)).expect("a byte")).collect::<Vec<_>>(), bytes);
}

#[test]
fn meanings_are_spelled() {
    let meant = |meaning, content| Form::Logical { meaning, content: Box::new(content) };
    let time = meant(
        LogicalType::Timestamp { unit: TimeUnit::Milli, zone: Some(forthwith_columns::Zone::UTC) },
        numbers("t", DType::Int64),
    );
    let columns = [("t-data", Column::from_slice(&[0i64]))];
    assert_eq!(json(array(time, 1, &columns)), r#"{"x":"1970-01-01T00:00:00.000Z"}"#);
    let half = meant(LogicalType::Half, numbers("h", DType::UInt16));
    let columns = [("h-data", Column::from_slice(&[0x3e00u16, 0x7c00]))];
    assert_eq!(json(array(half, 2, &columns)), r#"{"x":1.5}{"x":null}"#);
    let decimal = meant(LogicalType::Decimal { precision: 5, scale: 2 }, text("d", true));
    let columns = [("d-offsets", Column::from_slice(&[0i64, 1])), ("d-data", Column::from_slice(&[0xfbu8]))];
    assert_eq!(json(array(decimal, 1, &columns)), r#"{"x":"-0.05"}"#);
}

#[test]
fn numbers_have_the_digits_it_takes() {
    let columns = [("n-data", Column::from_slice(&[0.1f32, 1.0, f32::NAN]))];
    let array_ = array(numbers("n", DType::Float32), 3, &columns);
    assert_eq!(json(array_), r#"{"x":0.1}{"x":1.0}{"x":null}"#);
    let columns = [("n-data", Column::from_slice(&[u64::MAX, 0]))];
    assert_eq!(json(array(numbers("n", DType::UInt64), 2, &columns)), r#"{"x":18446744073709551615}{"x":0}"#);
    let square = Form::Numpy { key: "n".into(), dtype: DType::Int8, shape: vec![2, 2] };
    let columns = [("n-data", Column::from_slice(&[1i8, 2, 3, 4]))];
    assert_eq!(json(array(square, 1, &columns)), r#"{"x":[[1,2],[3,4]]}"#);
}

#[test]
fn columns_that_lie_are_errors() {
    let list = Form::List { key: "l".into(), content: Box::new(numbers("n", DType::Int8)) };
    let data = ("n-data", Column::from_slice(&[1i8, 2]));
    for offsets in [&[0i64, 3][..], &[2, 1], &[-1, 1], &[0]] {
        let columns = [("l-offsets", Column::from_slice(offsets)), data.clone()];
        let columns = [array(list.clone(), 1, &columns)];
        let rows = JsonRows::new(&["x"], &columns, NotNumbers::Null).expect("the buffers are there");
        assert!(rows.row(0, &mut Vec::new()).is_err(), "{offsets:?}");
    }
    let columns = [array(list, 1, &[data])];
    assert!(JsonRows::new(&["x"], &columns, NotNumbers::Null).is_err());
    // A list of things that take no memory may say that it has any number of them.
    let nothing = Form::Record { fields: Some(vec![]), contents: vec![], name: None };
    let many = Form::List { key: "l".into(), content: Box::new(nothing) };
    let columns = [array(many, 1, &[("l-offsets", Column::from_slice(&[0i64, i64::MAX]))])];
    let rows = JsonRows::new(&["x"], &columns, NotNumbers::Null).expect("the buffers are there");
    assert!(rows.row(0, &mut Vec::new()).is_err());
}

/// Lines are cut between pieces as they come, and one column that is shorter is null where it ends.
#[test]
fn many_rows_are_written_as_they_are() {
    let items: Vec<i64> = (0..100_000).map(|n| n * n).collect();
    let column =
        array(numbers("n", DType::Int64), items.len() as u64, &[("n-data", Column::from_vec(items))]);
    for (name, head) in [("a.jsonl", ""), ("a.json", "["), ("a.csv", "a,b\n")] {
        let format = FileFormat::of(name).expect("it is written");
        let sink = MemorySink::new(name);
        let fields = ["a", "b"].map(|name| (name.to_owned(), column.form.clone()));
        let mut made =
            writer(format, &fields, Box::new(sink.clone()), &WriteOptions::default()).expect("a writer");
        made.write(&[column.clone(), column.clone()]).expect("memory");
        assert_eq!(made.finish().expect("memory").entries, 100_000);
        let line = |n: i64| match name {
            "a.csv" => format!("{0},{0}\n", n * n),
            "a.json" => format!("{}\n{{\"a\":{1},\"b\":{1}}}", if n > 0 { "," } else { "" }, n * n),
            _ => format!("{{\"a\":{0},\"b\":{0}}}\n", n * n),
        };
        let end = if name == "a.json" { "\n]\n" } else { "" };
        let expected = head.to_owned() + &(0..100_000).map(line).collect::<String>() + end;
        assert!(sink.bytes().expect("complete") == expected.as_bytes());
    }
}
