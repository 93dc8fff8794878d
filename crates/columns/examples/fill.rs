//! How fast columns are filled on this machine: `cargo run --release -p forthwith-columns --example fill
//! [MiB]`.
//!
//! Every row is 4-byte values swapped into one column (and `memcpy` of the same bytes beside it), block by
//! block: the source is one block of 256 KiB that stays in the cache, as a block just decompressed does, or
//! as long as the column. Best of several runs; the last item of every column is compared. On Linux the time
//! is that of the thread, page faults included, so that other work on the machine disturbs less.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
#![allow(unsafe_code)] // asking for the thread's clock

use forthwith_columns::{Builder, DType, Encoding, Memory, Policy, kernels};
use forthwith_kernels::CpuFeatures;

const BLOCK: usize = 256 << 10;

fn main() {
    let mib: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(256);
    let bytes = mib << 20;
    let source: Vec<u8> =
        (0..bytes / 4).flat_map(|at| (at as u32).wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    println!(
        "{mib} MiB columns, kernels for {}, GB/s of column (swap, memcpy)",
        CpuFeatures::current().name()
    );
    let small = Policy { huge_pages: false, pool_bytes: 0, ..Policy::default() };
    let huge = Policy { pool_bytes: 0, ..Policy::default() };
    let pooled = Policy { pool_bytes: 4 << 30, ..Policy::default() };
    for (name, policy) in [("fresh small pages", small), ("fresh huge pages", huge), ("pooled", pooled)] {
        let memory = Memory::new(policy);
        for (from, block) in [("cached block", &source[..BLOCK]), ("long source", &source[..])] {
            let swap = best(|| fill(&memory, bytes, block, Encoding::Big(DType::Float32)));
            let copy = best(|| fill(&memory, bytes, block, Encoding::Little(DType::Float32)));
            println!("{name:>18}, {from:>12}: {swap:6.2} {copy:6.2}");
        }
    }
    println!("one block of 256 KiB again and again, in the cache:");
    let mut into = vec![0; 8 * BLOCK];
    let f32 = DType::Float32;
    for (name, wire) in [
        ("memcpy", Encoding::Little(DType::Float64)),
        ("2 bytes", Encoding::Big(DType::Int16)),
        ("4 bytes", Encoding::Big(f32)),
        ("8 bytes", Encoding::Big(DType::Int64)),
        ("bool", Encoding::Bool),
        ("widened", Encoding::Widened),
        ("scaled to f32", Encoding::Scaled { factor: 1000.0, min: -5.0, max: 5.0, to: f32 }),
        ("truncated to f32", Encoding::Truncated { bits: 12, to: f32 }),
    ] {
        let items = BLOCK / wire.width();
        let into = &mut into[..items * wire.dtype().size()];
        let from = &source[..items * wire.width()];
        let rate = best(|| repeat(500, into.len(), || kernels::decode(wire, from, into).unwrap()));
        println!("{name:>18}: {rate:6.2}");
    }
    let entries = BLOCK / 4;
    let bounds: Vec<u8> = (0..=entries as u32).flat_map(|at| (at * 12 + at * 10).to_le_bytes()).collect();
    let into = &mut into[..8 * entries];
    let rate = best(|| {
        repeat(500, into.len(), || assert!(kernels::offsets_from_bounds(&bounds, 10, 12, 7, into).is_ok()))
    });
    println!("{:>18}: {rate:6.2} of offsets", "bounds");
    // Entries of 0 to 16 values behind ten bytes, as a vector member of an object is written.
    let mut ends = vec![0u32];
    while let Some(end) =
        ends.last().map(|end| end + 10 + 4 * ((end * 7) % 17)).filter(|end| *end < BLOCK as u32)
    {
        ends.push(end);
    }
    let bounds: Vec<u8> = ends.iter().flat_map(|at| at.to_le_bytes()).collect();
    let values = ends.last().map_or(0, |end| *end as usize) - 10 * (ends.len() - 1);
    let room = &mut into[..values];
    let rate = best(|| {
        repeat(500, values, || {
            kernels::decode_jagged(Encoding::Big(f32), &source[..BLOCK], &bounds, 10, room).unwrap();
        })
    });
    println!(
        "{:>18}: {rate:6.2} of values, {:.1} in an entry",
        "jagged",
        values as f64 / 4.0 / ends.len() as f64
    );
    let counts: Vec<u8> = (0..entries as u32).flat_map(|at| (at % 7).to_ne_bytes()).collect();
    let rate = best(|| {
        repeat(500, into.len(), || {
            assert!(kernels::offsets_from_counts(&counts, DType::Int32, 7, into).is_ok());
        })
    });
    println!("{:>18}: {rate:6.2} of offsets", "counts");
}

/// Fills one column from blocks; the rate does not include making and dropping it, except for its pages.
fn fill(memory: &Memory, bytes: usize, source: &[u8], wire: Encoding) -> f64 {
    let start = seconds();
    let builder = Builder::new(memory, wire.dtype(), false, bytes).unwrap();
    let mut left = bytes;
    for block in source.chunks(BLOCK).cycle() {
        if left == 0 {
            break;
        }
        let mut slot = builder.append(block.len() / 4).unwrap();
        kernels::decode(wire, block, &mut slot).unwrap();
        left -= block.len();
    }
    let column = builder.finish();
    let taken = seconds() - start;
    let last = column.as_bytes().last_chunk::<4>().map(|last| match wire {
        Encoding::Big(_) => u32::from_ne_bytes(*last),
        _ => u32::from_be_bytes(*last),
    });
    let at = (source.len() / 4 - 1) as u32;
    assert_eq!((column.nbytes(), last), (bytes, Some(at.wrapping_mul(2_654_435_761))));
    bytes as f64 / taken / 1e9
}

fn repeat(times: u32, bytes: usize, mut job: impl FnMut()) -> f64 {
    let start = seconds();
    for _ in 0..times {
        job();
    }
    bytes as f64 * f64::from(times) / (seconds() - start) / 1e9
}

fn best(mut job: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| job()).fold(0.0, f64::max)
}

#[cfg(target_os = "linux")]
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn seconds() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64())
}
