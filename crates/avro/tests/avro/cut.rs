//! Files that are cut while their blocks are looked for.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use bytes::Bytes;
use forthwith_avro::{AvroFile, AvroWriter, Options, Writing};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::{Error, ErrorKind, MemorySink, Result, Source};
use forthwith_plan::{Dataset, TableWriter, WriteOptions};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// A file that is cut to `length` at the request number `cut`: that one gets zeros for what has just been cut
/// off, as the system may give them, and later ones are errors. From request number `back` on it is as long
/// as before.
#[derive(Debug)]
struct Cut {
    bytes: Bytes,
    length: u64,
    requests: AtomicU64,
    cut: AtomicU64,
    back: AtomicU64,
}

impl Cut {
    fn is_cut(&self, request: u64) -> bool {
        (self.cut.load(SeqCst)..self.back.load(SeqCst)).contains(&request)
    }
}

impl Source for Cut {
    fn uri(&self) -> &str {
        "cut.avro"
    }

    fn size(&self) -> Result<u64> {
        Ok(if self.is_cut(self.requests.load(SeqCst)) { self.length } else { self.bytes.len() as u64 })
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        Ok(ranges.iter().map(|range| self.bytes.slice(range.start as usize..range.end as usize)).collect())
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let request = self.requests.fetch_add(1, SeqCst);
        let end = at + into.len() as u64;
        if self.is_cut(request) && end > self.length {
            let kind = ErrorKind::BeyondEnd { wanted: at..end, size: self.length };
            return Err(Error::new(kind, self.uri()).at(at));
        }
        into.copy_from_slice(&self.bytes[at as usize..end as usize]);
        if self.is_cut(request + 1) && end > self.length {
            let left = usize::try_from(self.length.saturating_sub(at)).unwrap();
            into[left..].fill(0);
        }
        Ok(())
    }

    fn zero_copy(&self) -> bool {
        true
    }

    fn concurrent(&self) -> bool {
        true
    }
}

/// Twenty blocks of three numbers.
fn file() -> Bytes {
    let array = Array {
        form: Form::Numpy { key: "x".into(), dtype: DType::Int32, shape: vec![] },
        length: 60,
        columns: vec![("x-data".into(), Column::from_slice(&(0..60).collect::<Vec<i32>>()))],
    };
    let sink = MemorySink::new("m");
    let options = WriteOptions { block_entries: Some(3), ..WriteOptions::default() };
    let writing = Writing { options, ..Writing::default() };
    let columns = [("x".to_owned(), array.form.clone())];
    let mut writer = AvroWriter::new(Box::new(sink.clone()), &columns, &writing).unwrap();
    writer.write(std::slice::from_ref(&array)).unwrap();
    Box::new(writer).finish().unwrap();
    sink.bytes().unwrap()
}

#[test]
fn no_block_counts_that_was_found_in_a_file_that_was_cut() {
    let bytes = file();
    let whole = bytes.len() as u64;
    let mut found = [0, 0];
    for skip_damaged in [false, true] {
        for length in [whole - 1, whole - 17, whole - 40, whole / 2, whole / 2 + 7] {
            for cut in 1..45 {
                let source = Arc::new(Cut {
                    bytes: bytes.clone(),
                    length,
                    requests: 0.into(),
                    cut: u64::MAX.into(),
                    back: u64::MAX.into(),
                });
                let file = AvroFile::open(Arc::clone(&source) as _).unwrap();
                source.requests.store(0, SeqCst);
                source.cut.store(cut, SeqCst);
                let options = Options { skip_damaged, ..Options::default() };
                let looked = file.table(&options).and_then(|table| Ok((table.entries()?, table.damage())));
                match looked {
                    // It was cut after the last look at it.
                    Ok((entries, damage)) => {
                        assert_eq!((entries, damage.len()), (60, 0), "{length} {cut}");
                        found[0] += 1;
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("cut.avro"), "{error}");
                        assert!(error.to_string().contains("the file shrank"), "{error}");
                        found[1] += 1;
                    }
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 50), "{found:?}");
}

#[test]
fn a_file_that_is_whole_again_is_looked_through_again() {
    let bytes = file();
    for cut in 1..20 {
        let source = Arc::new(Cut {
            bytes: bytes.clone(),
            length: bytes.len() as u64 / 2,
            requests: 0.into(),
            cut: u64::MAX.into(),
            back: u64::MAX.into(),
        });
        let table = AvroFile::open(Arc::clone(&source) as _).unwrap().table(&Options::default()).unwrap();
        source.requests.store(0, SeqCst);
        source.cut.store(cut, SeqCst);
        assert!(table.entries().is_err());
        assert_eq!(table.entries_counted().unwrap(), 0);
        source.back.store(0, SeqCst);
        assert_eq!(table.entries().unwrap(), 60);
    }
}
