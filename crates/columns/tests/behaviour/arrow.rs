//! Arrays as Arrow: the same values, in the same memory where that can be.

use crate::arrays::{column, everything, numbers, replaced, tangled};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array as _, ArrayRef, RecordBatchReader};
use arrow_schema::DataType;
use forthwith_columns::arrow::{self, ExportError, Options};
use forthwith_columns::{Array, Column, DType, Form, Value};

/// One row of an Arrow array as our values.
fn value(array: &ArrayRef, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    let list = |items: ArrayRef| Value::List((0..items.len()).map(|at| value(&items, at)).collect());
    match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Bool(array.as_boolean().value(at)),
        DataType::Int8 => Value::Int(array.as_primitive::<Int8Type>().value(at).into()),
        DataType::Int16 => Value::Int(array.as_primitive::<Int16Type>().value(at).into()),
        DataType::Int64 => Value::Int(array.as_primitive::<Int64Type>().value(at)),
        DataType::UInt8 => Value::UInt(array.as_primitive::<UInt8Type>().value(at).into()),
        DataType::Float32 => Value::Float32(array.as_primitive::<Float32Type>().value(at)),
        DataType::Float64 => Value::Float64(array.as_primitive::<Float64Type>().value(at)),
        DataType::LargeUtf8 => Value::String(array.as_string::<i64>().value(at).into()),
        DataType::LargeBinary => Value::Bytes(array.as_binary::<i64>().value(at).into()),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(at)),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(at)),
        DataType::Union(..) => {
            let union = array.as_union();
            value(union.child(union.type_id(at)), union.value_offset(at))
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            if fields.first().is_some_and(|field| field.name() == "0") {
                return Value::Tuple(columns.iter().map(|column| value(column, at)).collect());
            }
            let named = fields.iter().zip(columns);
            Value::Record(named.map(|(field, column)| (field.name().clone(), value(column, at))).collect())
        }
        other => panic!("{other}"),
    }
}

fn check(array: &Array) -> ArrayRef {
    let (field, exported) = array.to_arrow().unwrap();
    assert_eq!(field.data_type(), exported.data_type());
    assert_eq!(field, arrow::field(&array.form, "item", &Options::default()).unwrap());
    exported.to_data().validate_full().unwrap();
    let rows: Vec<_> = (0..exported.len()).map(|at| value(&exported, at)).collect();
    assert_eq!(rows, array.values(0..array.length).unwrap());
    exported
}

#[test]
fn the_same_values_in_the_same_memory() {
    let array = everything();
    let exported = check(&array);
    let x = exported.as_struct().column(0).as_primitive::<Float32Type>();
    assert_eq!(x.values().as_ptr().addr(), array.column("x-data").unwrap().address());
    let y = exported.as_struct().column(1).as_list::<i64>();
    assert_eq!(y.offsets().as_ptr().addr(), array.column("list-offsets").unwrap().address());
    drop(array);
    assert_eq!(x.value(0), 1.5);
}

#[test]
fn options_and_unions_nest_freely() {
    check(&tangled());
    check(&tangled().for_awkward().unwrap());
    let options = Options::default().with_union_as_struct(true);
    let array = everything();
    let (field, exported) = arrow::export(&array, "all", &options).unwrap();
    exported.to_data().validate_full().unwrap();
    let DataType::Struct(fields) = field.data_type() else { panic!() };
    let DataType::Struct(either) = fields[4].data_type() else { panic!() };
    assert_eq!(either.iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["int64", "bytes"]);
    let either = value(exported.as_struct().column(4), 1);
    assert_eq!(
        either,
        Value::Record(vec![("int64".into(), Value::Int(i64::MIN)), ("bytes".into(), Value::Null)])
    );
    let tangled = arrow::export(&tangled(), "all", &options).unwrap().1;
    tangled.to_data().validate_full().unwrap();
    // An optional record with a union inside: nulls reach into the alternatives.
    let record = everything();
    let optional = Array {
        form: Form::Option { key: "root".into(), content: Box::new(record.form) },
        length: 5,
        columns: [record.columns, vec![column("root-index", &[2i64, -1, -1, 0, 1])]].concat(),
    };
    check(&optional);
}

#[test]
fn edges_of_every_kind() {
    let empty = Array { form: Form::Empty, length: 0, columns: vec![] };
    check(&empty);
    let list = |content| Form::List { key: "l".into(), content: Box::new(content) };
    check(&Array { form: list(Form::Empty), length: 2, columns: vec![column("l-offsets", &[0i64, 0, 0])] });
    let unit = Form::Record { fields: Some(vec![]), contents: vec![], name: None };
    let (_, exported) = Array { form: unit, length: 4, columns: vec![] }.to_arrow().unwrap();
    assert_eq!(exported.len(), 4);
    let none = Form::Regular { size: 0, content: Box::new(numbers("n", DType::Int8, &[])) };
    check(&Array { form: none, length: 3, columns: vec![column::<i8>("n-data", &[])] });
    check(&Array {
        form: numbers("n", DType::Int8, &[2, 0, 3]),
        length: 3,
        columns: vec![column::<i8>("n-data", &[])],
    });
    // Longer buffers than needed, and offsets that do not start at zero.
    check(&Array {
        form: list(numbers("n", DType::Int16, &[])),
        length: 2,
        columns: vec![column("l-offsets", &[1i64, 2, 4, 4]), column("n-data", &[0i16, 1, 2, 3, 4])],
    });
    let nothing = Form::Option { key: "o".into(), content: Box::new(Form::Empty) };
    check(&Array { form: nothing, length: 2, columns: vec![column("o-index", &[-1i64, -1])] });
    // Not aligned: copied.
    let bytes = bytes::Bytes::from(vec![0u8; 33]).slice(1..);
    check(&Array {
        form: numbers("n", DType::Float64, &[]),
        length: 4,
        columns: vec![("n-data".into(), Column::from_bytes(DType::Float64, bytes))],
    });
}

#[test]
fn what_is_not_text_is_an_error_with_its_row_or_binary_on_request() {
    let array = replaced(&everything(), "text-data", Column::from_slice(b"one\xFF2345"));
    let error = array.to_arrow().unwrap_err();
    assert!(matches!(&error, ExportError::Text { key, row: 1 } if key == "text"), "{error}");
    // Whole as bytes, but cut inside of a character.
    let array = replaced(&everything(), "text-offsets", Column::from_slice(&[0i64, 6, 8]));
    assert!(matches!(array.to_arrow(), Err(ExportError::Text { row: 0, .. })));
    let exported = arrow::export(&array, "a", &Options::default().with_binary(true)).unwrap().1;
    assert_eq!(value(exported.as_struct().column(2), 0), Value::Bytes(b"onetw\xC3".to_vec()));
    let broken = replaced(&everything(), "list-offsets", Column::from_slice(&[0i64, 2, 1, 3]));
    assert!(matches!(broken.to_arrow(), Err(ExportError::Invalid(_))));
}

#[test]
fn batches_stream_over_the_c_interface() {
    let array = everything();
    let other = Array {
        form: numbers("n", DType::Int8, &[]),
        length: 3,
        columns: vec![column("n-data", &[1i8, 2, 3])],
    };
    let options = Options::default();
    let short = Array { length: 2, ..other.clone() };
    let error = arrow::record_batch(&[("a", &array), ("b", &short)], &options).unwrap_err();
    assert!(matches!(error, ExportError::Lengths { found: 2, wanted: 3, .. }));
    let schema = arrow::schema(&[("a", &array.form), ("b", &other.form)], &options).unwrap();
    let batches = (0..3).map(move |_| {
        arrow::record_batch(&[("a", &array), ("b", &other)], &Options::default())
            .map_err(|error| arrow::ArrowError::ExternalError(Box::new(error)))
    });
    let stream = arrow::stream(schema.clone(), batches);
    let reader = arrow_array::ffi_stream::RecordBatchStreamReader::try_new(stream).unwrap();
    assert_eq!(reader.schema(), schema);
    let rows: Vec<_> = reader.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(rows, [3, 3, 3]);
    let (field, exported) = everything().to_arrow().unwrap();
    let (c_schema, c_array) = arrow::c_array(&field, &exported).unwrap();
    assert_eq!((c_array.len(), c_schema.children().count()), (3, 6));
    assert_eq!(arrow::c_schema(&schema).unwrap().children().count(), 2);
}

#[test]
fn empty_columns_have_no_address_to_be_aligned() {
    for column in
        [Column::from_slice(&[1f64, 2.0]).slice(1..1), Column::from_bytes(DType::Float64, (&b""[..]).into())]
    {
        let form = Form::Numpy { key: "n".into(), dtype: DType::Float64, shape: vec![] };
        let array = Array { form, length: 0, columns: vec![("n-data".into(), column)] };
        assert_eq!(array.to_arrow().unwrap().1.len(), 0);
    }
}
