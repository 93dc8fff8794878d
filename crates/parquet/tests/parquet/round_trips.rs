//! Written files are read again.

use crate::read;
use forthwith_columns::{Array, Column, DType, Form, LogicalType};
use forthwith_io::MemorySink;
use forthwith_parquet::ParquetWriter;
use forthwith_plan::{OneThread, TableWriter, WriteOptions};
use std::sync::Arc;

/// Columns of every kind, of `rows` rows.
pub(crate) fn columns(rows: usize) -> Vec<(&'static str, Array)> {
    let numbers = |key: &str, dtype| Form::Numpy { key: key.into(), dtype, shape: vec![] };
    let count = rows as u64;
    let flat = |dtype, column| Array {
        form: numbers("x", dtype),
        length: count,
        columns: vec![("x-data".to_owned(), column)],
    };
    let texts: Vec<String> = (0..rows).map(|row| "abc".repeat(row % 4)).collect();
    let ends = |sizes: &[usize]| {
        let mut end = 0;
        let each = sizes.iter().map(|size| {
            end += *size as i64;
            end
        });
        let each: Vec<i64> = each.collect();
        Column::from_vec(std::iter::once(0).chain(each).collect())
    };
    let sizes: Vec<usize> = (0..rows).map(|row| row % 3).collect();
    let items: usize = sizes.iter().sum();
    let there: Vec<i64> = (0..items as i64).map(|at| if at % 4 == 0 { -1 } else { at }).collect();
    let option = Form::Option { key: "o".into(), content: Box::new(numbers("x", DType::Int16)) };
    let decimal = Form::Logical {
        meaning: LogicalType::Decimal { precision: 9, scale: 2 },
        content: Box::new(numbers("x", DType::Int32)),
    };
    let list = Form::List { key: "l".into(), content: Box::new(option) };
    vec![
        ("bool", flat(DType::Bool, Column::from_bytes(DType::Bool, vec![1u8; rows].into()))),
        ("int64", flat(DType::Int64, Column::from_vec((0..rows as i64).map(|x| x * x).collect()))),
        ("uint8", flat(DType::UInt8, Column::from_vec((0..rows).map(|x| x as u8).collect()))),
        ("double", flat(DType::Float64, Column::from_vec((0..rows).map(|x| x as f64 / 8.0).collect()))),
        (
            "decimal",
            Array {
                form: decimal,
                ..flat(DType::Int32, Column::from_vec((0..rows as i32).collect::<Vec<_>>()))
            },
        ),
        (
            "text",
            Array {
                form: Form::String { key: "x".into(), binary: false },
                length: count,
                columns: vec![
                    ("x-offsets".into(), ends(&texts.iter().map(String::len).collect::<Vec<_>>())),
                    ("x-data".into(), Column::from_vec(texts.concat().into_bytes())),
                ],
            },
        ),
        (
            "lists",
            Array {
                form: list,
                length: count,
                columns: vec![
                    ("l-offsets".into(), ends(&sizes)),
                    ("o-index".into(), Column::from_vec(there)),
                    ("x-data".into(), Column::from_vec((0..items as i16).collect::<Vec<_>>())),
                ],
            },
        ),
    ]
}

pub(crate) fn written(rows: usize, options: &WriteOptions) -> Vec<u8> {
    let columns = columns(rows);
    let sink = MemorySink::new("made.parquet");
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| ((*name).to_owned(), array.form.clone())).collect();
    let mut writer = Box::new(
        ParquetWriter::new(&fields, Box::new(sink.clone()), options, Arc::new(OneThread::default())).unwrap(),
    );
    writer.write(&columns.into_iter().map(|(_, array)| array).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    sink.bytes().unwrap().to_vec()
}

#[test]
fn every_codec_and_kind() {
    for codec in ParquetWriter::CODECS {
        for dictionary in [false, true] {
            let options = WriteOptions {
                codec: Some(codec.into()),
                dictionary: Some(dictionary),
                block_entries: Some(300),
                ..WriteOptions::default()
            };
            let bytes = written(1000, &options);
            for (name, array) in columns(1000) {
                let want = array.preview(0..1000, 200).lines().unwrap();
                assert_eq!(read::shown(&bytes, name).unwrap(), want, "{codec} {name}");
            }
        }
    }
}

#[test]
fn some_entries_on_ones_turn_and_ahead_of_it() {
    let options = WriteOptions { block_entries: Some(300), ..WriteOptions::default() };
    let bytes = written(1000, &options);
    for (name, array) in columns(1000) {
        for entries in [0..1, 7..299, 299..301, 300..600, 450..1000, 999..1000, 10..10] {
            let want = array.preview(entries.clone(), 200).lines().unwrap();
            for turn in [true, false] {
                let found = read::field(&bytes, name, Some(entries.clone()), turn).unwrap();
                found.validate().unwrap();
                assert_eq!(
                    found.preview(0..found.length, 200).lines().unwrap(),
                    want,
                    "{name} {entries:?} {turn}"
                );
            }
        }
    }
}
