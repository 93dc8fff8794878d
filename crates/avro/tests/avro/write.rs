//! Files that cannot be written.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use forthwith_avro::{AvroWriter, Writing};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::WriterSink;
use forthwith_plan::{TableWriter, WriteOptions};
use std::io::{self, Write};

/// Takes so many bytes, and no more for now.
struct Narrow(usize);

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.0);
        self.0 -= count;
        if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn numbers(items: &[i32]) -> Array {
    Array {
        form: Form::Numpy { key: "x".into(), dtype: DType::Int32, shape: vec![] },
        length: items.len() as u64,
        columns: vec![("x-data".into(), Column::from_slice(items))],
    }
}

fn options(schema: Option<&str>) -> Writing {
    let options = WriteOptions { block_entries: Some(2), ..WriteOptions::default() };
    Writing { options, schema: schema.map(str::to_owned), ..Writing::default() }
}

#[test]
fn a_file_that_broke_off_is_never_finished() {
    let array = numbers(&[1, 2, 3, 4]);
    let columns = [("x".to_owned(), array.form.clone())];
    let sink = WriterSink::new("narrow", Narrow(150));
    let mut writer = AvroWriter::new(Box::new(sink), &columns, &options(None)).unwrap();
    let failed = (0..20).find_map(|_| writer.write(std::slice::from_ref(&array)).err()).unwrap();
    assert!(failed.to_string().contains("narrow"), "{failed}");
    assert!(writer.write(std::slice::from_ref(&array)).is_err());
    assert!(Box::new(writer).finish().is_err());
}

#[test]
fn columns_have_to_be_those_that_were_announced() {
    let array = numbers(&[1]);
    let columns = [("x".to_owned(), array.form.clone()), ("x".to_owned(), array.form.clone())];
    let begin = |columns: &[(String, Form)], schema| {
        AvroWriter::new(Box::new(forthwith_io::MemorySink::new("m")), columns, &options(schema))
    };
    assert!(begin(&columns, None).is_err(), "one name twice");
    let schema = r#"{"type": "record", "name": "r", "fields": [{"name": "x", "type": "int"}]}"#;
    let mut twice = begin(&columns, Some(schema)).unwrap();
    assert!(twice.write(&[array.clone(), array.clone()]).is_err());
    let mut one = begin(&columns[..1], Some(schema)).unwrap();
    assert!(one.write(&[array.clone(), array.clone()]).is_err());
    assert!(one.write(std::slice::from_ref(&array)).is_ok());
    assert!(begin(&columns, Some("\"int\"")).is_err());
    assert!(begin(&columns[..1], Some("\"int\"")).unwrap().write(&[array]).is_ok());
    assert!(begin(&columns[..1], Some("nonsense")).is_err());
}
