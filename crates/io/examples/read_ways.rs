//! Ways to bring a file in the page cache through a byte swap into memory that is used again.
//!
//! `cargo run --release -p forthwith-io --example read_ways [MiB] [threads]` prints the best and the median of
//! several runs of each way. The file is written first, so it is warm.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // an example that reports to a person

use std::io::Write;
use std::time::Instant;

use forthwith_io::{Advice, MappedFile, PreadFile, Source};

const ROUNDS: usize = 9;
const KIB: usize = 1 << 10;

/// Big-endian words to native ones. The output is reused, so this measures reading, not fresh pages.
fn swap(from: &[u8], into: &mut [u32]) {
    for (word, bytes) in into.iter_mut().zip(from.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}

/// Work on one worker's share of the file: its first byte, its length, and warm memory for one piece.
type Way<'a> = Box<dyn Fn(usize, usize, &mut Warm) + Sync + 'a>;

/// A worker's memory: a piece as stored, a piece as decoded.
struct Warm {
    stored: Vec<u8>,
    decoded: Vec<u32>,
}

fn pieces(start: usize, length: usize, piece: usize) -> impl Iterator<Item = (usize, usize)> {
    (start..start + length).step_by(piece).map(move |at| (at, piece.min(start + length - at)))
}

fn by_view(source: &dyn Source, at: usize, length: usize, decoded: &mut [u32]) {
    let view = source.read_one(at as u64..(at + length) as u64).unwrap();
    swap(&view, &mut decoded[..length / 4]);
}

fn by_copy(source: &dyn Source, at: usize, length: usize, warm: &mut Warm) {
    let stored = &mut warm.stored[..length];
    source.read_into(at as u64, stored).unwrap();
    swap(stored, &mut warm.decoded[..length / 4]);
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let size = arguments.next().unwrap_or(256) << 20;
    let threads = arguments.next().unwrap_or(1);

    let mut file = tempfile::NamedTempFile::new().unwrap();
    let block: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    (0..size >> 20).for_each(|_| file.write_all(&block).unwrap());
    file.flush().unwrap();
    let path = file.path();

    let pread = PreadFile::open(path).unwrap();
    let kept = MappedFile::open(path).unwrap();
    let fresh = || MappedFile::open(path).unwrap();
    // Each run of a way maps afresh unless it says "kept": an analysis touches each page of a file once.
    let mut ways: Vec<(String, Box<dyn Fn() -> Way<'_> + '_>)> = Vec::new();
    for piece in [64 * KIB, 256 * KIB, 1024 * KIB] {
        let name = |what: &str| format!("{what}, {} KiB pieces", piece / KIB);
        let pread = &pread;
        ways.push((
            name("pread"),
            Box::new(move || {
                Box::new(move |start, length, warm| {
                    pieces(start, length, piece).for_each(|(at, length)| by_copy(pread, at, length, warm));
                })
            }),
        ));
        ways.push((
            name("pread, new buffer each"),
            Box::new(move || {
                Box::new(move |start, length, warm| {
                    pieces(start, length, piece)
                        .for_each(|(at, length)| by_view(pread, at, length, &mut warm.decoded));
                })
            }),
        ));
        let advices = [None, Some(Advice::Sequential), Some(Advice::WillNeed), Some(Advice::Populate)];
        for advice in advices {
            let what = advice.map_or("map, no advice".into(), |a| format!("map, {a:?} per piece"));
            ways.push((
                name(&what),
                Box::new(move || {
                    let map = fresh();
                    Box::new(move |start, length, warm| {
                        for (at, length) in pieces(start, length, piece) {
                            if let Some(advice) = advice {
                                map.advise(at as u64..(at + length) as u64, advice).unwrap();
                            }
                            by_view(&map, at, length, &mut warm.decoded);
                        }
                    })
                }),
            ));
        }
        let kept = &kept;
        ways.push((
            name("map, kept between runs"),
            Box::new(move || {
                Box::new(move |start, length, warm| {
                    pieces(start, length, piece)
                        .for_each(|(at, length)| by_view(kept, at, length, &mut warm.decoded));
                })
            }),
        ));
    }
    let piece = 256 * KIB;
    ways.push((
        "map, Populate all at once, 256 KiB pieces".into(),
        Box::new(move || {
            let map = fresh();
            Box::new(move |start, length, warm| {
                map.advise(start as u64..(start + length) as u64, Advice::Populate).unwrap();
                pieces(start, length, piece)
                    .for_each(|(at, length)| by_view(&map, at, length, &mut warm.decoded));
            })
        }),
    ));

    println!("{} MiB, {threads} thread(s), GB/s: best, median of {ROUNDS}", size >> 20);
    let new = || Warm { stored: vec![1; 1024 * KIB], decoded: vec![1; 256 * KIB] };
    let mut warm: Vec<Warm> = (0..threads).map(|_| new()).collect();
    // Runs of all ways take turns, so that a slow minute of the machine meets all of them.
    let mut speeds = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, make), speeds) in ways.iter().zip(&mut speeds) {
            let begin = Instant::now();
            let way = make();
            let share = size / threads;
            std::thread::scope(|scope| {
                let way = &way;
                for (i, warm) in warm.iter_mut().enumerate() {
                    scope.spawn(move || way(i * share, share, warm));
                }
            });
            // Unmapping is part of the price of a map.
            drop(way);
            speeds.push(size as f64 / begin.elapsed().as_secs_f64() / 1e9);
        }
    }
    for ((name, _), speeds) in ways.iter().zip(&mut speeds) {
        speeds.sort_by(f64::total_cmp);
        println!("{:6.2} {:6.2}  {name}", speeds[ROUNDS - 1], speeds[ROUNDS / 2]);
    }
}
