//! rows make FOLDER ENTRIES | rows WAY FILE [REPETITIONS]: event loops, for benches/rows.
//!
//! The ways: `hand`, `raw` and `sum` add up one float of each entry, over the mapped bytes, as `Be<f32>`, and decoded;
//! `dimuon` adds up masses of the two muons of entries that have two, with the numbers of 20 branches, and `fold` does so
//! with all threads; `write` writes the events of the file, which are in memory, to another without compression, and
//! `write-zstd` with it. Three tell what this machine allows: `unzip` decompresses the baskets of a file and `zip` compresses
//! what they hold, both with all threads, and `put` writes as many bytes to a file. Prints the milliseconds of each repetition
//! and the sum.
#![allow(clippy::print_stdout, reason = "a command")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::{
    File, Row, Table, Writer,
    io::{Codec, Compressor, Decompressor},
    plan::{Stored, WriteOptions},
    rows::{Be, List},
};
use std::{
    error::Error,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Row)]
struct One {
    x: f32,
}

#[derive(Row)]
struct RawOne {
    x: Be<f32>,
}

#[derive(Row, Clone)]
struct Muon {
    pt: f32,
    eta: f32,
    phi: f32,
    mass: f32,
    charge: i32,
    iso: f32,
    dxy: f32,
    dz: f32,
    id: i32,
    pt_error: f32,
    dxy_error: f32,
    dz_error: f32,
    distance: f32,
    jet: i32,
    stations: u8,
    is_tight: bool,
}

impl Muon {
    /// A number that every member counts in.
    fn all(&self) -> f64 {
        let floats = self.phi + self.mass + self.iso + self.dxy + self.dz + self.distance;
        let errors = self.pt_error + self.dxy_error + self.dz_error;
        let flags = self.id + self.jet + i32::from(self.stations) + i32::from(self.is_tight);
        f64::from(floats) + f64::from(errors) + f64::from(flags)
    }
}

#[derive(Row)]
struct Filled {
    run: u32,
    event: u64,
    met: f32,
    #[row(prefix = "Muon_", count = "nMuon")]
    muons: Vec<Muon>,
}

#[derive(Row)]
struct Event<'a> {
    run: u32,
    event: u64,
    met: f32,
    #[row(prefix = "Muon_")]
    muons: List<'a, Muon>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["make", folder, entries] => make(folder, entries.parse()?),
        [way, file] => repeat(way, file, 3),
        [way, file, repetitions] => repeat(way, file, repetitions.parse()?),
        _ => Err("rows make FOLDER ENTRIES | rows WAY FILE [REPETITIONS]".into()),
    }
}

fn repeat(way: &str, file: &str, repetitions: usize) -> Result<()> {
    let table = File::map(file)?.table("events")?;
    for _ in 0..repetitions {
        let start = Instant::now();
        let sum = match way {
            "hand" => by_hand(&table)?,
            "raw" => raw(&table)?,
            "sum" => sum(&table)?,
            "dimuon" => dimuon(&table)?,
            "fold" => fold(&table)?,
            "write" => return write(&table, file, "none", repetitions),
            "write-zstd" => return write(&table, file, "zstd", repetitions),
            "unzip" => unzip(&table)?,
            "zip" | "put" => return zip_or_put(&table, file, way, repetitions),
            _ => return Err(format!("there is no way {way}").into()),
        };
        println!("{way} {:.2} ms {sum:.6e}", 1000.0 * start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// A loop over the bytes of the blocks, with nothing around it.
fn by_hand(table: &Table) -> Result<f64> {
    let plan = table.plan_raw(&["x"], ..)?;
    let mut sum = 0.0;
    for task in 0..plan.tasks.len() {
        let block = table.raw(&plan, task)?;
        sum +=
            block.payload.as_chunks::<4>().0.iter().map(|x| f64::from(f32::from_be_bytes(*x))).sum::<f64>();
    }
    Ok(sum)
}

fn raw(table: &Table) -> Result<f64> {
    Ok(table.rows::<RawOne>()?.fold(0.0, |sum, row| *sum += f64::from(row.x.get()))?)
}

fn sum(table: &Table) -> Result<f64> {
    Ok(table.rows::<One>()?.fold(0.0, |sum, row| *sum += f64::from(row.x))?)
}

/// The mass of two muons of opposite charge, and what else an event has.
fn looked_at(event: &Event<'_>) -> f64 {
    let first = event.muons.first().map_or(0.0, |muon| muon.all());
    let other = f64::from(event.run) + (event.event % 2) as f64 + first;
    let (Some(one), Some(two)) = (event.muons.get(0), event.muons.get(1)) else { return other };
    if event.muons.len() != 2 || one.charge == two.charge || event.met > 100.0 {
        return other;
    }
    let angles = (one.eta - two.eta).cosh() - (one.phi - two.phi).cos();
    other + f64::from((2.0 * one.pt * two.pt * angles).sqrt())
}

fn dimuon(table: &Table) -> Result<f64> {
    Ok(table.rows::<Event>()?.fold(0.0, |sum, event| *sum += looked_at(&event))?)
}

fn fold(table: &Table) -> Result<f64> {
    let rows = table.rows::<Event>()?;
    Ok(rows.par_fold(|| 0.0, |sum, event| *sum += looked_at(&event), |sum, other| *sum += other)?)
}

/// Writes the events of a table again and again.
fn write(table: &Table, file: &str, codec: &str, repetitions: usize) -> Result<()> {
    let mut events = Vec::new();
    table.rows::<Event>()?.for_each(|event| {
        let (run, number, met) = (event.run, event.event, event.met);
        events.push(Filled { run, event: number, met, muons: event.muons.iter().collect() });
    })?;
    let path = format!("{file}.rust.root");
    for _ in 0..repetitions {
        let start = Instant::now();
        let mut writer = Writer::<Filled>::create_with(&format!("{path}:events"), compressed(codec))?;
        for event in &events {
            writer.push(event)?;
        }
        writer.finish()?;
        println!(
            "write {codec} {:.2} ms {:.6e}",
            1000.0 * start.elapsed().as_secs_f64(),
            events.len() as f64
        );
    }
    Ok(())
}

/// Calls a function with each number below `count` and a state of the thread, by all threads.
fn by_threads<S>(count: usize, state: impl Fn() -> S + Sync, work: impl Fn(&mut S, usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..forthwith_platform::parallelism() {
            scope.spawn(|| {
                let mut state = state();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    work(&mut state, at);
                }
            });
        }
    });
}

/// Decompresses all baskets of a file that was written with zstd, each to the memory of the last one. Returns the entries.
fn unzip(table: &Table) -> Result<f64> {
    let fields: Vec<u32> = (0..table.fields()?.len() as u32).collect();
    let (plan, file) = (table.plan(&fields, ..)?, table.file().source());
    by_threads(
        plan.tasks.len(),
        || (Decompressor::new(), Vec::new()),
        |(unzip, room), at| {
            let Stored::Range(bytes) = &plan.tasks[at].stored else { return };
            let record = file.read_one(bytes.clone()).expect("a basket");
            let mut rest = &record[usize::from(u16::from_be_bytes([record[14], record[15]]))..];
            // Each piece has nine bytes before it: the codec, and the numbers of its bytes before and after.
            while let [b'Z', b'S', _, a, b, c, x, y, z, stored @ ..] = rest {
                let [packed, bytes] =
                    [[*a, *b, *c, 0], [*x, *y, *z, 0]].map(|size| u32::from_le_bytes(size) as usize);
                room.resize(bytes.max(room.len()), 0);
                unzip.decompress(Codec::Zstd, &stored[..packed], &mut room[..bytes]).expect("a block");
                rest = &stored[packed..];
            }
        },
    );
    Ok(table.entries()? as f64)
}

/// Compresses what the baskets of a file hold, or writes it to another file.
fn zip_or_put(table: &Table, file: &str, way: &str, repetitions: usize) -> Result<()> {
    let fields: Vec<u32> = (0..table.fields()?.len() as u32).collect();
    let plan = table.plan(&fields, ..)?;
    let blocks = (0..plan.tasks.len()).map(|task| Ok(table.raw(&plan, task)?.payload.to_vec()));
    let blocks = blocks.collect::<Result<Vec<Vec<u8>>>>()?;
    let path = format!("{file}.rust.root");
    for _ in 0..repetitions {
        let start = Instant::now();
        if way == "put" {
            use std::io::Write;
            let mut to = std::fs::File::create(&path)?;
            blocks.iter().try_for_each(|block| to.write_all(block))?;
        } else {
            by_threads(
                blocks.len(),
                || (Compressor::new(), Vec::new()),
                |(zip, room), at| {
                    room.clear();
                    zip.append(Codec::Zstd, Some(10), &blocks[at], room).expect("memory");
                },
            );
        }
        println!("{way} {:.2} ms {:.6e}", 1000.0 * start.elapsed().as_secs_f64(), table.entries()? as f64);
    }
    Ok(())
}

fn compressed(codec: &str) -> WriteOptions {
    WriteOptions { codec: Some(codec.to_owned()), ..WriteOptions::default() }
}

/// A number with 10 bits behind the leading one, about as many as NanoAOD keeps.
fn rounded(x: f32) -> f32 {
    f32::from_bits((x.to_bits() + 0x1000) & !0x1fff)
}

/// Writes `one.root`, floats without compression, and `muons.root`, events with up to four muons by zstd.
fn make(folder: &str, entries: u64) -> Result<()> {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let mut writer = Writer::<One>::create_with(&format!("{folder}/one.root:events"), compressed("none"))?;
    writer.extend((0..entries).map(|_| One { x: random() }))?;
    writer.finish()?;
    let mut writer =
        Writer::<Filled>::create_with(&format!("{folder}/muons.root:events"), compressed("zstd"))?;
    for event in 0..entries / 10 {
        let count = (random() * 5.0) as usize;
        let mut muon = || Muon {
            pt: rounded(5.0 + 50.0 * random()),
            eta: rounded(4.8 * random() - 2.4),
            phi: rounded(6.0 * random() - 3.0),
            mass: 0.1057,
            charge: if random() < 0.5 { 1 } else { -1 },
            iso: rounded(random()),
            dxy: rounded(random() / 100.0),
            dz: rounded(random() / 10.0),
            id: (random() * 4.0) as i32,
            pt_error: rounded(random()),
            dxy_error: rounded(random() / 1000.0),
            dz_error: rounded(random() / 100.0),
            distance: rounded(random() / 50.0),
            jet: (random() * 8.0) as i32 - 1,
            stations: (random() * 5.0) as u8,
            is_tight: random() < 0.7,
        };
        let muons = (0..count).map(|_| muon()).collect();
        writer.push(&Filled { run: 1, event, met: 150.0 * random(), muons })?;
    }
    writer.finish()?;
    Ok(())
}
