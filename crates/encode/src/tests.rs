#![allow(clippy::unwrap_used)] // a test fails by panicking

use super::*;
use forthwith_columns::{Array, Column, DType, Encoding, Form, LogicalType, Native, TimeUnit, Zone};
use forthwith_program::{Count, Dialect, Frame, Layout, TextLength, Union, When};
use std::sync::Arc;

const AVRO: Dialect = Dialect { counts: Count::Blocks, text: TextLength::ZigZag, entry: Frame::None };
const ROOT: Dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::None };

fn numbers<T: Native>(key: &str, items: &[T]) -> Array {
    Array {
        form: Form::Numpy { key: key.into(), dtype: T::DTYPE, shape: vec![] },
        length: items.len() as u64,
        columns: vec![(format!("{key}-data"), Column::from_slice(items))],
    }
}

fn texts(key: &str, items: &[&str]) -> Array {
    let ends = items.iter().scan(0i64, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
    Array {
        form: Form::String { key: key.into(), binary: false },
        length: items.len() as u64,
        columns: vec![
            (format!("{key}-offsets"), Column::from_slice(&offsets)),
            (format!("{key}-data"), Column::from_slice(items.concat().as_bytes())),
        ],
    }
}

/// A node round others.
fn round(
    key: &str,
    part: &str,
    column: Column,
    length: u64,
    inner: Vec<Array>,
    form: impl Fn(String, Vec<Form>) -> Form,
) -> Array {
    let forms = inner.iter().map(|array| array.form.clone()).collect();
    let mut columns = vec![(format!("{key}-{part}"), column)];
    columns.extend(inner.into_iter().flat_map(|array| array.columns));
    Array { form: form(key.into(), forms), length, columns }
}

fn option(index: &[i64], inner: Array) -> Array {
    round("option", "index", Column::from_slice(index), index.len() as u64, vec![inner], |key, mut forms| {
        Form::Option { key, content: Box::new(forms.remove(0)) }
    })
}

fn list(offsets: &[i64], inner: Array) -> Array {
    let rows = offsets.len() as u64 - 1;
    round("list", "offsets", Column::from_slice(offsets), rows, vec![inner], |key, mut forms| Form::List {
        key,
        content: Box::new(forms.remove(0)),
    })
}

fn bytes(layout: &Layout, dialect: &Dialect, array: &Array) -> Result<Vec<u8>, EncodeError> {
    let encoder = Encoder::new(layout, dialect, array)?;
    let mut out = Vec::new();
    (0..encoder.rows()).try_for_each(|row| encoder.row(row, &mut out))?;
    encoder.row(encoder.rows(), &mut out)?; // not there
    Ok(out)
}

#[test]
fn numbers_become_what_the_layout_says() {
    let big = Layout::Number(Encoding::Big(DType::Int16));
    assert_eq!(bytes(&big, &ROOT, &numbers("a", &[1u8, 255])), Ok(vec![0, 1, 0, 255]));
    assert_eq!(bytes(&big, &ROOT, &numbers("a", &[-2i64])), Ok(vec![255, 254]));
    let wide = bytes(&big, &ROOT, &numbers("a", &[0i64, 1 << 20])).unwrap_err();
    assert_eq!(wide.to_string(), "row 1 is 1048576, which is not within int16");
    let double = Layout::Number(Encoding::Little(DType::Float64));
    assert_eq!(bytes(&double, &AVRO, &numbers("a", &[1.5f32])), Ok(1.5f64.to_le_bytes().to_vec()));
    assert_eq!(bytes(&double, &AVRO, &numbers("a", &[3i32])), Ok(3f64.to_le_bytes().to_vec()));
    let long = Layout::Varint(DType::Int64);
    assert_eq!(
        bytes(&long, &AVRO, &numbers("a", &[u64::MAX])).unwrap_err().to_string().split(' ').next(),
        Some("row")
    );
    assert!(matches!(bytes(&long, &AVRO, &numbers("a", &[1.0f32])), Err(EncodeError::Type { .. })));
    let int = Layout::Varint(DType::Int32);
    assert!(matches!(
        bytes(&int, &AVRO, &numbers("a", &[1i64 << 31])),
        Err(EncodeError::Range { row: Some(0), .. })
    ));
}

#[test]
fn counts_are_those_of_the_dialect() {
    let lists = list(&[1, 1, 3], numbers("a", &[9u8, 1, 2]));
    let layout = Layout::Number(Encoding::Big(DType::UInt8)).list();
    assert_eq!(bytes(&layout, &ROOT, &lists), Ok(vec![0, 0, 0, 0, 0, 0, 0, 2, 1, 2]));
    assert_eq!(bytes(&layout, &AVRO, &lists), Ok(vec![0, 4, 1, 2, 0]));
    let long = "x".repeat(300);
    let text = texts("t", &["ab", &long]);
    let root = bytes(&Layout::Text, &ROOT, &text).unwrap();
    assert_eq!((&root[..8], root.len()), (&[2, b'a', b'b', 255, 0, 0, 1, 44][..], 308));
    assert_eq!(bytes(&Layout::Text, &AVRO, &texts("t", &["ab", ""])), Ok(vec![4, b'a', b'b', 0]));
}

#[test]
fn nulls_and_alternatives_are_numbered_as_the_layout_has_them() {
    let maybe = option(&[0, -1, 1], numbers("a", &[5i32, 6]));
    let last = Layout::union(vec![Layout::Varint(DType::Int32), Layout::Null]);
    assert_eq!(bytes(&last, &AVRO, &maybe), Ok(vec![0, 10, 2, 0, 12]));
    let null = bytes(&Layout::Varint(DType::Int32), &AVRO, &maybe).unwrap_err();
    assert_eq!(null.to_string(), "row 1 is null, which the schema does not allow");
    // A column without nulls for a type that has them, and the other way round.
    assert_eq!(bytes(&last, &AVRO, &numbers("a", &[5i32])), Ok(vec![0, 10]));
    let none = option(&[1, 0], numbers("a", &[5i32, 6]));
    assert_eq!(bytes(&Layout::Varint(DType::Int32), &AVRO, &none), Ok(vec![12, 10]));

    let union = |tags: &[i8], index: &[i64], inner: Vec<Array>| {
        let mut array =
            round("u", "tags", Column::from_slice(tags), tags.len() as u64, inner, |key, contents| {
                Form::Union { key, contents }
            });
        array.columns.push(("u-index".into(), Column::from_slice(index)));
        array
    };
    let layout = Layout::union(vec![
        Layout::Null,
        Layout::Text,
        Layout::Number(Encoding::Little(DType::Float64)),
        Layout::Varint(DType::Int64),
    ]);
    let mixed = union(&[1, 0, 1], &[0, 0, 1], vec![numbers("n", &[7i64]), texts("t", &["a", "b"])]);
    assert_eq!(bytes(&layout, &AVRO, &mixed), Ok(vec![2, 2, b'a', 6, 14, 2, 2, b'b']));
    // As Awkward Array has them: options within the union.
    let options =
        union(&[0, 0, 1], &[0, 1, 0], vec![option(&[0, -1], numbers("n", &[7i64])), texts("t", &["a"])]);
    assert_eq!(bytes(&layout, &AVRO, &options), Ok(vec![6, 14, 0, 2, 2, b'a']));
}

#[test]
fn records_go_by_their_names() {
    let form = |array: &Array| array.form.clone();
    let (x, y) = (numbers("x", &[1i32, 2]), texts("y", &["a", "b"]));
    let record = Array {
        form: Form::Record {
            fields: Some(vec!["x".into(), "y".into()]),
            contents: vec![form(&x), form(&y)],
            name: None,
        },
        length: 2,
        columns: x.columns.iter().chain(&y.columns).cloned().collect(),
    };
    let layout = |fields: &[&str]| Layout::Record {
        name: None,
        fields: fields
            .iter()
            .map(|name| {
                ((*name).to_owned(), if *name == "x" { Layout::Varint(DType::Int32) } else { Layout::Text })
            })
            .collect(),
    };
    let expected = vec![2, b'a', 2, 2, b'b', 4];
    assert_eq!(bytes(&layout(&["y", "x"]), &AVRO, &record), Ok(expected.clone()));
    assert_eq!(
        bytes(&layout(&["x"]), &AVRO, &record).unwrap_err().to_string(),
        "the schema has no field for the column \"y\""
    );
    let missing = bytes(&layout(&["x", "y", "z"]), &AVRO, &record).unwrap_err();
    assert_eq!(missing.to_string(), "there is no column for the field \"z\" of the schema");

    let names = ["x".to_owned(), "y".to_owned()];
    let columns = [x, y];
    let mut fields = layout(&["y", "x"]);
    if let Layout::Record { fields, .. } = &mut fields {
        fields.push(("z".into(), Layout::Constant(Arc::from([9]), Box::new(Layout::Varint(DType::Int32)))));
    }
    let encoder = Encoder::of_fields(&fields, &AVRO, &names, &columns).unwrap();
    let mut out = Vec::new();
    encoder.row(1, &mut out).unwrap();
    assert_eq!(out, [2, b'b', 4, 9]);
    let uneven = [columns[0].clone(), texts("y", &["a"])];
    assert!(Encoder::of_fields(&fields, &AVRO, &names, &uneven).is_err());
}

#[test]
fn symbols_maps_and_bytes_of_one_size() {
    let symbols = Layout::Enum { symbols: Arc::from(["no".to_owned(), "yes".to_owned()]), keep: None };
    assert_eq!(bytes(&symbols, &AVRO, &texts("t", &["yes", "no"])), Ok(vec![2, 0]));
    let unknown = bytes(&symbols, &AVRO, &texts("t", &["maybe"])).unwrap_err();
    assert_eq!(unknown.to_string(), "row 0 is \"maybe\", which is not within the symbols no, yes");
    assert_eq!(bytes(&Layout::Opaque(2), &AVRO, &texts("t", &["ab", "cd"])), Ok(b"abcd".to_vec()));
    assert!(bytes(&Layout::Opaque(2), &AVRO, &texts("t", &["ab", "c"])).is_err());

    let (names, values) = (texts("k", &["a", "b"]), numbers("v", &[1i64, 2]));
    let pair = Array {
        form: Form::Record {
            fields: None,
            contents: vec![names.form.clone(), values.form.clone()],
            name: None,
        },
        length: 2,
        columns: names.columns.into_iter().chain(values.columns).collect(),
    };
    let map = Layout::Map(Box::new(Layout::Varint(DType::Int64)));
    assert_eq!(bytes(&map, &AVRO, &list(&[0, 2, 2], pair)), Ok(vec![4, 2, b'a', 2, 2, b'b', 4, 0, 0]));
}

#[test]
fn fixed_dimensions_are_counted_where_the_layout_counts() {
    let square = Array {
        form: Form::Numpy { key: "a".into(), dtype: DType::UInt8, shape: vec![2, 2] },
        length: 1,
        columns: vec![("a-data".into(), Column::from_slice(&[1u8, 2, 3, 4]))],
    };
    let byte = || Layout::Number(Encoding::Big(DType::UInt8));
    assert_eq!(bytes(&byte().list().list(), &AVRO, &square), Ok(vec![4, 4, 1, 2, 0, 4, 3, 4, 0, 0]));
    let fixed = Layout::Fixed(2, Box::new(Layout::Fixed(2, Box::new(byte()))));
    assert_eq!(bytes(&fixed, &ROOT, &square), Ok(vec![1, 2, 3, 4]));
    let other = Layout::Fixed(3, Box::new(byte().list()));
    assert!(matches!(bytes(&other, &ROOT, &square), Err(EncodeError::Type { .. })));
}

#[test]
fn meanings_are_not_mixed_up() {
    let millis = LogicalType::Timestamp { unit: TimeUnit::Milli, zone: Some(Zone::UTC) };
    let micros = LogicalType::Timestamp { unit: TimeUnit::Micro, zone: Some(Zone::UTC) };
    let of = |meaning| Layout::Logical(meaning, Box::new(Layout::Varint(DType::Int64)));
    let bare = numbers("a", &[1i64]);
    let meant = Array {
        form: Form::Logical { meaning: millis, content: Box::new(bare.form.clone()) },
        ..bare.clone()
    };
    assert_eq!(bytes(&of(millis), &AVRO, &meant), Ok(vec![2]));
    assert_eq!(bytes(&of(millis), &AVRO, &bare), Ok(vec![2]));
    assert!(matches!(bytes(&of(micros), &AVRO, &meant), Err(EncodeError::Type { .. })));
}

#[test]
fn columns_that_contradict_themselves_are_refused() {
    let mut short = list(&[0, 5], numbers("a", &[1u8]));
    let layout = Layout::Number(Encoding::Big(DType::UInt8)).list();
    assert!(matches!(bytes(&layout, &ROOT, &short), Err(EncodeError::Invalid(_))));
    short.columns.clear();
    assert!(matches!(bytes(&layout, &ROOT, &short), Err(EncodeError::Invalid(_))));
}

#[test]
fn what_lies_beneath_nulls_may_be_anything() {
    let union = |some: Layout| {
        Layout::Union(Union { alternatives: vec![Layout::Null, some], arms: Vec::new(), tagged: false })
    };
    let rows = |layout: &Layout, array: &Array| -> Vec<Vec<u8>> {
        let encoder = Encoder::new(layout, &AVRO, array).unwrap();
        let row = |row| {
            let mut out = Vec::new();
            encoder.row(row, &mut out).unwrap();
            out
        };
        (0..array.length).map(row).collect()
    };
    let bytes = |items: &[&str]| {
        let mut array = texts("bytes", items);
        array.form = Form::String { key: "bytes".into(), binary: true };
        array
    };
    // Of another length, no symbol, out of range, or null once more.
    let fixed = option(&[-1, 1], bytes(&["", "ab"]));
    assert_eq!(rows(&union(Layout::Opaque(2)), &fixed), [vec![0], vec![2, b'a', b'b']]);
    let symbols = Layout::Enum { symbols: ["x".to_owned()].into(), keep: None };
    assert_eq!(rows(&union(symbols), &option(&[-1, 1], texts("t", &["no", "x"]))), [vec![0], vec![2, 0]]);
    let small = option(&[0, -1], numbers("n", &[1i64, i64::MAX]));
    assert_eq!(rows(&union(Layout::Varint(DType::Int32)), &small), [vec![2, 2], vec![0]]);
    let mut within = option(&[0, -1], numbers("n", &[1i64, 2]));
    within.form = Form::Option { key: "outer".into(), content: Box::new(within.form) };
    within.columns.push(("outer-index".into(), Column::from_slice(&[0i64, -1])));
    assert_eq!(rows(&union(Layout::Varint(DType::Int64)), &within), [vec![2, 2], vec![0]]);
    // And of lists that begin behind it.
    let lists = list(&[1, 2], numbers("n", &[i64::MAX, 3]));
    assert_eq!(rows(&Layout::Varint(DType::Int32).list(), &lists), [vec![2, 6, 0]]);
    // Only values that are not null are looked at.
    let wrong = option(&[0, -1], bytes(&["", "ab"]));
    assert!(Encoder::new(&union(Layout::Opaque(2)), &AVRO, &wrong).is_err());
}

#[test]
fn memory_that_others_changed_is_an_error() {
    // Offsets that end behind the numbers, beyond each other, and below zero; an index beyond the values.
    for offsets in [[0, 5, 5], [0, 2, 1], [0, -1, 2]] {
        let array = list(&offsets, numbers("a", &[1u8, 2]));
        let layout = Layout::Number(Encoding::Big(DType::UInt8)).list();
        let rows = |dialect| {
            let encoder = Encoder::of_part(&layout, dialect, &array.form, &array, 2)?;
            (0..2).try_for_each(|row| encoder.row(row, &mut Vec::new()))
        };
        assert!(rows(&ROOT).is_err(), "{offsets:?}");
        assert!(rows(&AVRO).is_err(), "{offsets:?}");
    }
    let array = option(&[0, 9], numbers("a", &[1i64]));
    let encoder = Encoder::of_part(&Layout::Varint(DType::Int64), &AVRO, &array.form, &array, 2);
    assert!(encoder.is_err());
}

#[test]
fn errors_have_the_row_of_the_array() {
    let row = |layout: &Layout, array: &Array| bytes(layout, &AVRO, array).unwrap_err().row();
    let small = || Layout::Varint(DType::Int32);
    let large = || numbers("n", &[1i64, 2, 3, i64::MAX]);
    assert_eq!(row(&small().list(), &list(&[0, 2, 2, 4], large())), Some(2));
    assert_eq!(row(&small(), &option(&[3, 2], large())), Some(0));
    let nullable = Layout::Union(Union::of(vec![Layout::Null, small()]));
    assert_eq!(row(&nullable, &option(&[-1, 2, 3], large())), Some(2));
    let square = Array {
        form: Form::Numpy { key: "n".into(), dtype: DType::Int64, shape: vec![2] },
        length: 2,
        columns: large().columns,
    };
    assert_eq!(row(&small().list(), &square), Some(1));
}

#[test]
fn objects_are_written_in_their_first_version() {
    let array = list(&[0, 1, 3], numbers("a", &[1i16, 2, 3]));
    let number = || Layout::Number(Encoding::Big(DType::Int16));
    let versions = vec![(When::Version(7), number().list()), (When::Version(6), Layout::Text)];
    let framed = Layout::Framed { shared: false, of: Box::new(Layout::Versioned(versions)) };
    let count = |bytes: u8| [0x40, 0, 0, bytes, 0, 7];
    let first = [&count(8)[..], &[0, 0, 0, 1, 0, 1]].concat();
    let second = [&count(10)[..], &[0, 0, 0, 2, 0, 2, 0, 3]].concat();
    assert_eq!(bytes(&framed, &ROOT, &array), Ok([first, second].concat()));
    let any = Layout::Versioned(vec![(When::Any, number().list())]);
    let any = Layout::Framed { shared: false, of: Box::new(any) };
    assert!(matches!(bytes(&any, &ROOT, &array), Err(EncodeError::Unsupported { .. })));
}

#[test]
fn a_number_before_them_counts_items() {
    let record = |count: i32| {
        let (n, items) = (numbers("n", &[2i32, count]), list(&[0, 2, 3], numbers("a", &[1u8, 2, 3])));
        Array {
            form: Form::Record {
                fields: Some(vec!["n".into(), "items".into()]),
                contents: vec![n.form.clone(), items.form.clone()],
                name: None,
            },
            length: 2,
            columns: n.columns.into_iter().chain(items.columns).collect(),
        }
    };
    let byte = Layout::Number(Encoding::Big(DType::UInt8));
    let counter = Layout::Counter(0, Box::new(Layout::Number(Encoding::Big(DType::Int32))));
    let counted = Layout::Counted { slot: 0, flag: true, of: Box::new(byte) };
    let layout =
        Layout::Record { name: None, fields: vec![("n".into(), counter), ("items".into(), counted)] };
    assert_eq!(bytes(&layout, &ROOT, &record(1)), Ok(vec![0, 0, 0, 2, 1, 1, 2, 0, 0, 0, 1, 1, 3]));
    let error = bytes(&layout, &ROOT, &record(4)).unwrap_err();
    assert_eq!((error.row(), error.member()), (Some(1), "items"));
}

#[test]
fn only_symmetric_matrices_are_written_as_triangles() {
    let matrix = |side: i32, items: &[f64]| {
        let (n, all) = (numbers("n", &[side]), list(&[0, items.len() as i64], numbers("a", items)));
        Array {
            form: Form::Record {
                fields: Some(vec!["n".into(), "items".into()]),
                contents: vec![n.form.clone(), all.form.clone()],
                name: None,
            },
            length: 1,
            columns: n.columns.into_iter().chain(all.columns).collect(),
        }
    };
    let counter = Layout::Counter(0, Box::new(Layout::Number(Encoding::Big(DType::Int32))));
    let triangle = Layout::Triangle(0, Encoding::Big(DType::Float64));
    let layout =
        Layout::Record { name: None, fields: vec![("n".into(), counter), ("items".into(), triangle)] };
    assert_eq!(
        bytes(&layout, &ROOT, &matrix(2, &[1.0, 0.0, -0.0, 4.0])).map(|bytes| bytes.len()),
        Ok(4 + 3 * 8)
    );
    assert!(bytes(&layout, &ROOT, &matrix(2, &[1.0, f64::NAN, -f64::NAN, 4.0])).is_ok());
    // Numbers of which none is null are compared, too.
    for (items, is_written) in [([1.0, 2.0, 2.0, 4.0], true), ([1.0, 2.0, 9.0, 4.0], false)] {
        let mut nullable = matrix(2, &items);
        let Form::Record { contents, .. } = &mut nullable.form else { panic!("a record") };
        let Form::List { content, .. } = &mut contents[1] else { panic!("a list") };
        let numbers = Box::new((**content).clone());
        **content = Form::Option { key: "o".into(), content: numbers };
        nullable.columns.push(("o-index".into(), Column::from_slice(&[0i64, 1, 2, 3])));
        assert_eq!(bytes(&layout, &ROOT, &nullable).is_ok(), is_written);
    }
    for (side, items) in [(2, [1.0, 2.0, 9.0, 4.0]), (-2, [1.0, 2.0, 2.0, 4.0])] {
        let error = bytes(&layout, &ROOT, &matrix(side, &items)).unwrap_err();
        assert_eq!((error.row(), error.member()), (Some(0), "items"));
    }
}
