//! Writes floats as numbers, lists, lists of lists and so on, in several repetitions, and says what the best
//! of them took.
//!
//! `write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS [THREADS]` prints seconds of the first thread's
//! processor time, seconds, and bytes of the file, of the best repetition; then the same two of what there is
//! to be done at least: the pages of the file, compressed one after the other by the codec alone, or their
//! bytes written to a file where there is no codec. It is compared with C++ ROOT by
//! `benches/ntuples/write.py`.

#![allow(clippy::print_stdout)] // it is a program

use forthwith::{
    BlockThreads,
    columns::{
        Array, Column, DType, Form,
        kernels::{Planes, differences_to_planes, to_planes},
    },
    io::{Compressor, FileSink, Sink},
    plan::TableWriter,
    rntuple::{DEFAULT_PAGE, NtupleOptions, NtupleTable},
    root::write::{Compression, FileSettings, compress_into},
};
use std::{error::Error, io::Write, path::Path, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS [THREADS]");
    let (path, depth, codec) = (next()?, next()?.parse()?, next()?);
    let (floats, repetitions): (usize, usize) = (next()?.parse()?, next()?.parse()?);
    let threads: usize = next().map_or(Ok(1), |text| text.parse())?;
    let array = made(depth, floats);
    let compression = Compression::named(&codec, None)?;
    let columns = [("x".to_owned(), array.form.clone())];
    let (mut best, mut least) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    let mut bytes = 0;
    let pages = pages(&array, depth, compression)?;
    for _ in 0..repetitions {
        timed(&mut best, || {
            let sink = Box::new(FileSink::create(Path::new(&path))?);
            let mut options = NtupleOptions { compression, ..NtupleOptions::default() };
            if threads > 1 {
                options.runner = Some(Arc::new(BlockThreads::new(threads)));
            }
            let mut table = NtupleTable::new(sink, FileSettings::default(), "t", &columns, options)?;
            table.write(std::slice::from_ref(&array))?;
            bytes = Box::new(table).finish()?.bytes;
            Ok(())
        })?;
        timed(&mut least, || alone(&path, compression, &pages))?;
    }
    println!("{} {} {bytes} {} {}", best[0], best[1], least[0], least[1]);
    Ok(())
}

/// Keeps the best of seconds of processor time, and of seconds.
fn timed(
    best: &mut [f64; 2],
    work: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (begin, used) = (Instant::now(), processor_time()?);
    work()?;
    *best = [best[0].min(processor_time()? - used), best[1].min(begin.elapsed().as_secs_f64())];
    Ok(())
}

/// The codec without anything else, or without a codec the file.
fn alone(path: &str, compression: Compression, pages: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    if compression == Compression::NONE {
        let mut sink = FileSink::create(Path::new(path))?;
        for page in pages {
            sink.write_all(page)?;
        }
        return Ok(Box::new(sink).finish()?);
    }
    let (mut compressor, mut stored) = (Compressor::new(), Vec::new());
    for page in pages {
        stored.clear();
        compress_into(compression, page, &mut compressor, &mut stored)?;
        std::hint::black_box(&stored);
    }
    Ok(())
}

/// Pages as they are before they are compressed.
fn pages(array: &Array, depth: usize, compression: Compression) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let is_split = compression != Compression::NONE;
    let mut pages = Vec::new();
    let mut page = |from: &[u8], width: Option<usize>| {
        let mut bytes = from.to_vec();
        match width {
            Some(width) => to_planes(Planes::Plain, width, from, &mut bytes).map_err(|_| "no planes")?,
            None => {
                let ends: Vec<u64> = from.as_chunks().0.iter().map(|end| u64::from_ne_bytes(*end)).collect();
                differences_to_planes(&ends, &mut bytes).map_err(|_| "no planes")?;
            }
        }
        pages.push(if is_split { bytes } else { from.to_vec() });
        Ok::<(), Box<dyn Error>>(())
    };
    let numbers = array.column("n-data").ok_or("no numbers")?.as_bytes();
    numbers.chunks(DEFAULT_PAGE).try_for_each(|from| page(from, Some(4)))?;
    for level in 0..depth {
        let offsets = array.column(&format!("l{level}-offsets")).ok_or("no offsets")?.as_bytes();
        offsets.get(8..).unwrap_or_default().chunks(DEFAULT_PAGE).try_for_each(|from| page(from, None))?;
    }
    Ok(pages)
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
