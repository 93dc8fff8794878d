//! Writes floats as numbers, lists, lists of lists and so on, in several repetitions, and says what the best
//! of them took.
//!
//! `write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS [THREADS]` prints seconds of the first thread's
//! processor time, seconds, and bytes of the file, of the best repetition; then the same two of what there is
//! to be done at least: the pages of the file, compressed one after the other by the codec alone, or their
//! bytes written to a file where there is no codec; then of what no writer of the same pages can leave out: the codec,
//! a checksum of each page, and writing them.
//! It is compared with C++ ROOT by `benches/ntuples/write.py`.

#![allow(clippy::print_stdout)] // it is a program

use forthwith::{
    BlockThreads,
    columns::{
        Array, Column, DType, Form,
        kernels::{Planes, differences_to_planes, to_planes},
    },
    io::{Compressor, FileSink, Sink, xxh3},
    plan::TableWriter,
    rntuple::{DEFAULT_PAGE, NtupleOptions, NtupleTable},
    root::write::{Compression, FileSettings, compressed},
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
    let [mut best, mut least, mut both] = [[f64::INFINITY; 2]; 3];
    let mut bytes = 0;
    let pages = pages(&array, depth, compression)?;
    for _ in 0..repetitions {
        timed(&path, &mut best, || {
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
        let plain = compression == Compression::NONE;
        timed(&path, &mut least, || alone(&path, compression, &pages, plain, false))?;
        timed(&path, &mut both, || alone(&path, compression, &pages, true, true))?;
    }
    let [[best, best_clock], [least, least_clock], [both, both_clock]] = [best, least, both];
    println!("{best} {best_clock} {bytes} {least} {least_clock} {both} {both_clock}");
    Ok(())
}

/// Keeps the best of seconds of processor time, and of seconds. There is no old file whose memory is given back
/// meanwhile.
fn timed(
    path: &str,
    best: &mut [f64; 2],
    work: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    if Path::new(path).exists() {
        std::fs::remove_file(path)?;
    }
    let (begin, used) = (Instant::now(), processor_time()?);
    work()?;
    *best = [best[0].min(processor_time()? - used), best[1].min(begin.elapsed().as_secs_f64())];
    Ok(())
}

/// The codec without anything else, and what it makes written to a file, with checksums, if that is wanted.
fn alone(
    path: &str,
    compression: Compression,
    pages: &[Vec<u8>],
    written: bool,
    hashed: bool,
) -> Result<(), Box<dyn Error>> {
    let mut sink = if written { Some(Box::new(FileSink::create(Path::new(path))?)) } else { None };
    let mut compressor = Compressor::new();
    for page in pages {
        let stored = compressed(compression, page, &mut compressor)?;
        let stored = stored.as_deref().unwrap_or(page);
        match &mut sink {
            Some(sink) => {
                if hashed {
                    sink.write_all(&xxh3(stored).to_le_bytes())?;
                }
                sink.write_all(stored)?;
            }
            None => drop(std::hint::black_box(stored)),
        }
    }
    Ok(sink.map_or(Ok(()), Sink::finish)?)
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
                differences_to_planes(from.as_chunks().0, 0, &mut bytes).map_err(|_| "no planes")?;
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

/// Seconds that the thread has had a processor. The system counts them at its ticks, and when a thread stands
/// back for others.
fn processor_time() -> std::io::Result<f64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse::<f64>().ok());
    Ok(nanoseconds.unwrap_or(f64::NAN) / 1e9)
}
