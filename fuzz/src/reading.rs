//! Reading all of a file that is one table, in several ways that must agree.

use crate::engine;
use bytes::Bytes;
use forthwith::columns::Array;
use forthwith::io::{Memory, MemorySink};
use forthwith::plan::WriteOptions;
use forthwith::{Engine, File, FileFormat, OpenOptions};
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| Arc::new(engine()));
/// Rows that are compared.
const ROWS: u64 = 500;

/// Reads the table that these bytes are, as a whole, in part, and column by column. Returns names and arrays of its columns, if all
/// can be read.
pub fn read_all(name: &str, bytes: &[u8], options: &OpenOptions) -> Option<(Vec<String>, Vec<Array>)> {
    let source = Arc::new(Memory::new(name, bytes.to_vec()));
    let file = File::from_source_with(source, Arc::clone(&ENGINE), options).ok()?;
    let _ = (file.info(), file.check());
    let table = file.table("").ok()?;
    let fields = table.fields().ok()?;
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let all: Vec<u32> = (0..names.len() as u32).collect();
    let entries = table.entries_up_to(ROWS).ok()?;
    let read = |fields: &[u32], entries, threads| {
        let plan = table.plan(fields, entries).ok()?;
        table.read(&plan, Some(threads), None).ok()
    };
    for field in all.iter().take(16) {
        let _ = table.describe(*field);
        for array in read(&[*field], 0..entries, 1).unwrap_or_default() {
            array.validate().expect("an array that is read is valid");
            let _ = array.preview(0..array.length.min(3), 40).lines();
        }
    }
    let whole = read(&all, 0..entries, 1)?;
    assert!(same(&whole, &read(&all, 0..entries, 2).expect("two threads read what one does")));
    let part = entries / 3..entries - entries / 4;
    let some = read(&all, part.clone(), 1).expect("a part of the entries can be read");
    for (some, whole) in some.iter().zip(&whole) {
        assert_eq!(shown(some, 0..ROWS), shown(whole, part.clone()), "a part of the entries");
    }
    Some((names, whole))
}

/// A file with these columns, if its format has such.
pub fn written(name: &str, names: &[String], arrays: &[Array]) -> Option<Bytes> {
    let format = FileFormat::of(name).expect("a format that is written");
    let columns: Vec<_> = names.iter().cloned().zip(arrays.iter().map(|array| array.form.clone())).collect();
    let sink = MemorySink::new(name);
    let mut writer =
        forthwith::writer(format, &columns, Box::new(sink.clone()), &WriteOptions::default()).ok()?;
    writer.write(arrays).ok()?;
    writer.finish().expect("memory takes everything");
    sink.bytes()
}

/// Whether arrays hold the same values.
pub fn same(one: &[Array], other: &[Array]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.length == other.length && shown(one, 0..ROWS) == shown(other, 0..ROWS))
}

/// Values as text, in which NaN equals itself.
pub fn shown(array: &Array, rows: std::ops::Range<u64>) -> String {
    format!("{:?}", array.values(rows).expect("a valid array has values"))
}
