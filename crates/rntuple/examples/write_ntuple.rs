//! Writes floats as numbers, lists, lists of lists and so on, in several repetitions, and says what the best of them took.
//!
//! `write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS` prints seconds of processor time, seconds, and bytes of the file. It is compared
//! with C++ ROOT by `benches/ntuples/write.py`.

#![allow(clippy::print_stdout)] // it is a program

use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::FileSink;
use forthwith_plan::TableWriter;
use forthwith_rntuple::{NtupleOptions, NtupleTable};
use forthwith_root::write::{Compression, FileSettings};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, depth, codec, floats, repetitions] = &arguments[..] else {
        return Err("write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS".into());
    };
    let (depth, floats, repetitions): (usize, usize, usize) =
        (depth.parse()?, floats.parse()?, repetitions.parse()?);
    let array = made(depth, floats);
    let columns = [("x".to_owned(), array.form.clone())];
    let mut best = [f64::INFINITY; 2];
    let mut bytes = 0;
    for _ in 0..repetitions {
        let (begin, used) = (Instant::now(), processor_time()?);
        let sink = Box::new(FileSink::create(std::path::Path::new(path))?);
        let options =
            NtupleOptions { compression: Compression::named(codec, None)?, ..NtupleOptions::default() };
        let mut table = NtupleTable::new(sink, FileSettings::default(), "t", &columns, options)?;
        table.write(std::slice::from_ref(&array))?;
        bytes = Box::new(table).finish()?.bytes;
        best = [best[0].min(processor_time()? - used), best[1].min(begin.elapsed().as_secs_f64())];
    }
    println!("{} {} {bytes}", best[0], best[1]);
    Ok(())
}

/// Floats in lists of 0 to 15 items, within lists of as many.
fn made(depth: usize, floats: usize) -> Array {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let numbers: Vec<f32> = (0..floats).map(|_| (0..4).map(|_| next() as f32 / 8e6 - 1.0).sum()).collect();
    let mut columns = vec![("n-data".to_owned(), Column::from_vec(numbers))];
    let mut form = Form::Numpy { key: "n".into(), dtype: DType::Float32, shape: vec![] };
    let mut count = floats as i64;
    for level in 0..depth {
        let mut offsets = vec![0];
        let mut end = 0;
        while end < count {
            end = (end + (next() % 16) as i64).min(count);
            offsets.push(end);
        }
        count = offsets.len() as i64 - 1;
        let key = format!("l{level}");
        columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
        form = Form::List { key, content: Box::new(form) };
    }
    Array { form, length: count as u64, columns }
}

/// Seconds that the process has had a processor.
fn processor_time() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse::<f64>().ok());
    Ok(nanoseconds.unwrap_or(f64::NAN) / 1e9)
}
