//! Ways to bring a file in the page cache through a byte swap into memory that is used again.
//!
//! `cargo run --release -p forthwith-io --example read_ways [MiB] [threads]` prints the best and the median
//! speed of several runs of each way. The file is written first, so it is warm.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // an example that reports to a person
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use forthwith_io::{Advice, MappedFile, PreadFile, Source};

const ROUNDS: usize = 9;
const KIB: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
enum Way {
    /// Positioned reads into a buffer that is used again.
    Pread,
    /// Positioned reads into a new buffer for each piece.
    PreadNewBuffers,
    /// A map made for this run, as an analysis touches each page of a file once.
    Map(Option<Advice>),
    /// The same, its pages entered before the first piece is read.
    MapPopulatedWhole,
    /// A map whose pages an earlier run has entered.
    MapKept,
}

/// A worker's memory: a piece as stored, a piece as decoded.
struct Warm {
    stored: Vec<u8>,
    decoded: Vec<u32>,
}

/// Big-endian words to native ones.
fn swap(from: &[u8], into: &mut [u32]) {
    for (word, bytes) in into.iter_mut().zip(from.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}

/// Reads one worker's share of the file, piece by piece.
fn work(
    way: Way,
    pread: &PreadFile,
    map: &MappedFile,
    share: std::ops::Range<u64>,
    piece: usize,
    warm: &mut Warm,
) {
    if let Way::MapPopulatedWhole = way {
        map.advise(share.clone(), Advice::Populate).unwrap();
    }
    for at in share.clone().step_by(piece) {
        let end = (at + piece as u64).min(share.end);
        let decoded = &mut warm.decoded[..(end - at) as usize / 4];
        match way {
            Way::Pread => {
                let stored = &mut warm.stored[..(end - at) as usize];
                pread.read_into(at, stored).unwrap();
                swap(stored, decoded);
            }
            Way::PreadNewBuffers => swap(&pread.read_one(at..end).unwrap(), decoded),
            Way::Map(advice) => {
                if let Some(advice) = advice {
                    map.advise(at..end, advice).unwrap();
                }
                swap(&map.read_one(at..end).unwrap(), decoded);
            }
            Way::MapPopulatedWhole | Way::MapKept => swap(&map.read_one(at..end).unwrap(), decoded),
        }
    }
}

/// One run over the whole file: bytes per nanosecond. Making and dropping a map is part of its price.
fn run(way: Way, path: &Path, kept: &MappedFile, piece: usize, warm: &mut [Warm]) -> f64 {
    let begin = Instant::now();
    let pread = PreadFile::open(path).unwrap();
    let size = pread.size().unwrap();
    let fresh = if let Way::Pread | Way::PreadNewBuffers | Way::MapKept = way {
        None
    } else {
        Some(MappedFile::open(path).unwrap())
    };
    let map = fresh.as_ref().unwrap_or(kept);
    let share = size / warm.len() as u64;
    std::thread::scope(|scope| {
        for (i, warm) in (0..).zip(warm.iter_mut()) {
            let pread = &pread;
            scope.spawn(move || work(way, pread, map, i * share..(i + 1) * share, piece, warm));
        }
    });
    drop(fresh);
    size as f64 / begin.elapsed().as_nanos() as f64
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let (mib, threads) = (arguments.next().unwrap_or(256), arguments.next().unwrap_or(1));

    let mut file = tempfile::NamedTempFile::new().unwrap();
    let block: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    (0..mib).for_each(|_| file.write_all(&block).unwrap());
    file.flush().unwrap();
    let kept = MappedFile::open(file.path()).unwrap();

    let ways = [
        Way::Pread,
        Way::PreadNewBuffers,
        Way::Map(None),
        Way::Map(Some(Advice::Sequential)),
        Way::Map(Some(Advice::WillNeed)),
        Way::Map(Some(Advice::Populate)),
        Way::MapPopulatedWhole,
        Way::MapKept,
    ];
    println!("{mib} MiB, {threads} thread(s): best and median of {ROUNDS} runs in GB/s");
    for piece in [64 * KIB, 256 * KIB, 1024 * KIB, 8192 * KIB] {
        let new = || Warm { stored: vec![1; piece], decoded: vec![1; piece / 4] };
        let mut warm: Vec<Warm> = (0..threads).map(|_| new()).collect();
        // The ways take turns, so that a slow minute of the machine meets all of them.
        let mut speeds = vec![Vec::new(); ways.len()];
        for _ in 0..ROUNDS {
            for (&way, speeds) in ways.iter().zip(&mut speeds) {
                speeds.push(run(way, file.path(), &kept, piece, &mut warm));
            }
        }
        for (way, speeds) in ways.iter().zip(&mut speeds) {
            speeds.sort_by(f64::total_cmp);
            let (best, median) = (speeds[ROUNDS - 1], speeds[ROUNDS / 2]);
            println!("{:5} KiB pieces {best:6.2} {median:6.2}  {way:?}", piece / KIB);
        }
    }
}
