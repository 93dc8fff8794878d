//! Tests of the beginning of a conversion.

use super::{
    columns::{self as convert_columns, entries},
    *,
};
use forthwith::{Engine, File, Options, columns, io, plan::WriteOptions};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Source that counts the bytes that are read.
struct Counting(Vec<u8>, Arc<AtomicU64>);

impl io::ReadAt for Counting {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        self.1.fetch_add(into.len() as u64, Ordering::Relaxed);
        into.copy_from_slice(&self.0[at as usize..at as usize + into.len()]);
        Ok(into.len())
    }
}

/// A conversion begins before all blocks are counted.
#[test]
fn blocks_are_looked_for_on_the_way() {
    const ENTRIES: u64 = 100_000;
    let form = Form::Numpy { key: "x".into(), dtype: columns::DType::Float64, shape: vec![] };
    let numbers: Vec<f64> = (0..ENTRIES).map(|n| n as f64).collect();
    let array = columns::Array {
        form: form.clone(),
        length: ENTRIES,
        columns: vec![("x-data".into(), columns::Column::from_vec(numbers))],
    };
    let sink = io::MemorySink::new("made.avro");
    let options = WriteOptions { block_entries: Some(1000), ..WriteOptions::default() };
    let fields = [("x".to_owned(), form)];
    let mut writer = forthwith::writer(
        FileFormat::of("made.avro").expect("it is written"),
        &fields,
        Box::new(sink.clone()),
        &options,
    )
    .expect("a writer");
    writer.write(&[array]).expect("room");
    writer.finish().expect("room");
    let bytes = sink.bytes().expect("a whole file").to_vec();

    let read = Arc::new(AtomicU64::new(0));
    let source = io::Callback::new("made.avro", Box::new(Counting(bytes, Arc::clone(&read))));
    let file =
        File::from_source(Arc::new(source), Arc::new(Engine::new(Options::default()))).expect("a file");
    let place = crate::opened::Place {
        table: file.table("").expect("a table"),
        branch: None,
        named: true,
        words: &crate::words::Words::PLAIN,
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let paint = crate::paint::Paint { color: false };
    let mut console = Console::new(&mut out, &mut err, None, paint);
    let format = FileFormat::of("made.parquet").expect("it is written");
    let columns =
        convert_columns::fields(&place, &Choice::default(), format, &Conversion::default(), &mut console);
    let columns = columns.expect("columns");
    let table = &place.table;
    assert_eq!(entries(table, columns.iter()).expect("entries"), None);
    assert!(read.load(Ordering::Relaxed) < 20_000, "nothing but the header is needed");
    let mut steps = table.steps(&[0], 0..u64::MAX, Step::Bytes(16_000)).expect("steps");
    let (step, _) = steps.read(Some(1), None).expect("a step").expect("not the last");
    let (likely, read) = (table.likely_entries().expect("a guess"), read.load(Ordering::Relaxed));
    assert!(step.end <= 2_000 && read < 200_000, "{step:?} took {read} bytes");
    assert!(likely.abs_diff(ENTRIES) < ENTRIES / 10, "{likely} of {ENTRIES}");
    while steps.read(Some(1), None).expect("a step").is_some() {}
    assert_eq!(table.likely_entries().expect("they are known"), ENTRIES);
}
