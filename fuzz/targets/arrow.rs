//! Random Arrow arrays over the C data interface, by the first byte sound or with damaged contents. Sound ones must have the values of
//! compact copies, and those that files of Arrow's IPC format keep.
#![no_main]

use arbitrary::Unstructured;
use arrow_array::{
    RecordBatch, RecordBatchIterator, RecordBatchOptions, ffi_stream::FFI_ArrowArrayStream, make_array,
};
use arrow_data::transform::MutableArrayData;
use arrow_schema::SchemaRef;
use forthwith::OpenOptions;
use forthwith::columns::{Array, arrow};
use forthwith_fuzz::{Arrays, ipc_file, read_all, same, shown, written};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((how, bytes)) = bytes.split_first() else { return };
    let (mut bytes, damaged) = (Unstructured::new(bytes), how & 1 != 0);
    let Ok((schema, batches)) = Arrays::new(&mut bytes, damaged).batches() else { return };
    let Some(array) = imported(&schema, &batches) else { return };
    if !damaged {
        let copies: Option<Vec<Array>> =
            batches.iter().map(|batch| imported(&schema, &[compact(batch)])).collect();
        let copies = copies.expect("copies of arrays that are imported can be imported");
        let values: Vec<String> =
            copies.iter().filter(|copy| copy.length > 0).map(|copy| inner(&shown(copy, 0..500))).collect();
        assert_eq!(inner(&shown(&array, 0..500)), values.join(", "));
        // No rows are kept without columns.
        if !schema.fields().is_empty() {
            stored(&array, how >> 1, &schema, &batches);
        }
    }
});

/// The array of a stream, if it is one that columns can have.
fn imported(schema: &SchemaRef, batches: &[RecordBatch]) -> Option<Array> {
    let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
    let reader = RecordBatchIterator::new(batches, schema.clone());
    let (array, _) = arrow::import_stream(FFI_ArrowArrayStream::new(Box::new(reader))).ok()?;
    array.validate().expect("an array that is imported is valid");
    let _ = array.preview(0..array.length.min(3), 40).lines();
    let _ = array.for_awkward().map(|array| array.validate().expect("it is valid for Awkward Array"));
    Some(array)
}

/// Columns without offsets and hidden rows.
fn compact(batch: &RecordBatch) -> RecordBatch {
    let columns = batch.columns().iter().map(|column| {
        let data = column.to_data();
        let mut copy = MutableArrayData::new(vec![&data], false, data.len());
        copy.try_extend(0, 0, data.len()).expect("a copy of a sound array");
        make_array(copy.freeze())
    });
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)
        .expect("columns of the schema")
}

/// Files of the same columns, written by Arrow's library and here.
fn stored(array: &Array, how: u8, schema: &SchemaRef, batches: &[RecordBatch]) {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = array.clone().into_fields();
    if let Some(bytes) = ipc_file(schema, batches, how) {
        let (_, read) = read_all("fuzz.arrow", &bytes, &OpenOptions::new())
            .expect("a file of Arrow's library can be read");
        assert!(same(&columns, &read), "a file of Arrow's library: {schema:?}");
    }
    if let Some(bytes) = written("own.arrow", &names, &columns) {
        let (_, read) =
            read_all("own.arrow", &bytes, &OpenOptions::new()).expect("what was written can be read");
        assert!(same(&columns, &read), "what was written: {schema:?}");
    }
}

/// A list as text without its brackets.
fn inner(text: &str) -> String {
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text).to_owned()
}
