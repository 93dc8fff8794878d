//! Writes floats as numbers, lists, lists of lists and so on, in several repetitions, and says what the best
//! of them took.
//!
//! `write_ntuple PATH DEPTH CODEC FLOATS REPETITIONS [THREADS]` prints seconds of the first thread's
//! processor time, seconds, and bytes of the file, of the best repetition; then the same two of what there is
//! to be done at least: the pages of the file, compressed one after the other by the codec alone, or their
//! bytes written to a file where there is no codec; then of what no writer of the same pages can leave out: the codec,
//! a checksum of each page, and writing them; then of the same with the bytes of pages made of the array.
//! It is compared with C++ ROOT by `benches/ntuples/write.py`.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]
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
    let [mut best, mut least, mut both, mut all] = [[f64::INFINITY; 2]; 4];
    let mut bytes = 0;
    let parts = parts(&array, depth)?;
    let pages: Vec<_> =
        parts.iter().map(|part| part.page(compression, Vec::new())).collect::<Result<_, _>>()?;
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
        timed(&path, &mut least, || alone(&path, compression, Pages::Made(&pages), plain, false))?;
        timed(&path, &mut both, || alone(&path, compression, Pages::Made(&pages), true, true))?;
        timed(&path, &mut all, || alone(&path, compression, Pages::Of(&parts), true, true))?;
    }
    let [[best, best_clock], [least, least_clock], [both, both_clock], [all, all_clock]] =
        [best, least, both, all];
    println!("{best} {best_clock} {bytes} {least} {least_clock} {both} {both_clock} {all} {all_clock}");
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
    pages: Pages<'_>,
    written: bool,
    hashed: bool,
) -> Result<(), Box<dyn Error>> {
    let mut sink = if written { Some(Box::new(FileSink::create(Path::new(path))?)) } else { None };
    let mut compressor = Compressor::new();
    let mut room = Vec::new();
    for at in 0..pages.count() {
        let page = match pages {
            Pages::Made(pages) => &pages[at],
            Pages::Of(parts) => {
                room = parts[at].page(compression, room)?;
                &room
            }
        };
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

/// Pages before they are compressed: their bytes, or what these are made of.
#[derive(Clone, Copy)]
enum Pages<'a> {
    Made(&'a [Vec<u8>]),
    Of(&'a [Part<'a>]),
}

impl Pages<'_> {
    fn count(self) -> usize {
        match self {
            Self::Made(pages) => pages.len(),
            Self::Of(parts) => parts.len(),
        }
    }
}

/// Elements of the array that are a page: numbers of four bytes, or offsets.
struct Part<'a> {
    elements: &'a [u8],
    are_offsets: bool,
}

impl Part<'_> {
    /// The bytes of the page, in the place of others.
    fn page(&self, compression: Compression, mut into: Vec<u8>) -> Result<Vec<u8>, Box<dyn Error>> {
        if compression == Compression::NONE {
            into.clear();
            into.extend(self.elements);
            return Ok(into);
        }
        into.resize(self.elements.len(), 0);
        if self.are_offsets {
            differences_to_planes(self.elements.as_chunks().0, 0, &mut into).map_err(|_| "no planes")?;
        } else {
            to_planes(Planes::Plain, 4, self.elements, &mut into).map_err(|_| "no planes")?;
        }
        Ok(into)
    }
}

fn parts(array: &Array, depth: usize) -> Result<Vec<Part<'_>>, Box<dyn Error>> {
    let numbers = array.column("n-data").ok_or("no numbers")?.as_bytes();
    let page = |are_offsets| move |elements| Part { elements, are_offsets };
    let mut parts: Vec<_> = numbers.chunks(DEFAULT_PAGE).map(page(false)).collect();
    for level in 0..depth {
        let offsets = array.column(&format!("l{level}-offsets")).ok_or("no offsets")?.as_bytes();
        parts.extend(offsets.get(8..).unwrap_or_default().chunks(DEFAULT_PAGE).map(page(true)));
    }
    Ok(parts)
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
