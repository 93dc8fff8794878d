//! rows make FOLDER ENTRIES | rows WAY FILE [REPETITIONS]: event loops, for benches/rows.
//!
//! The ways: `hand`, `raw` and `sum` add up one float of each entry, over the mapped bytes, as `Be<f32>`, and decoded;
//! `dimuon` adds up masses of the two muons of entries that have two, `fold` does so with all threads. Prints the
//! milliseconds of each repetition and the sum.
#![allow(clippy::print_stdout, reason = "a command")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::{
    File, Row, Step, Table, Writer,
    plan::WriteOptions,
    rows::{Be, List},
};
use std::{error::Error, time::Instant};

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
    let mut sum = 0.0;
    table.rows::<RawOne>()?.for_each(|row| sum += f64::from(row.x.get()))?;
    Ok(sum)
}

fn sum(table: &Table) -> Result<f64> {
    let mut sum = 0.0;
    table.rows::<One>()?.for_each(|row| sum += f64::from(row.x))?;
    Ok(sum)
}

/// The mass of two muons of opposite charge.
fn mass(event: &Event<'_>) -> f64 {
    let (Some(one), Some(other)) = (event.muons.get(0), event.muons.get(1)) else { return 0.0 };
    if event.muons.len() != 2 || one.charge == other.charge || event.met > 100.0 {
        return 0.0;
    }
    let angles = (one.eta - other.eta).cosh() - (one.phi - other.phi).cos();
    f64::from((2.0 * one.pt * other.pt * angles).sqrt())
}

fn dimuon(table: &Table) -> Result<f64> {
    let mut sum = 0.0;
    table.rows::<Event>()?.for_each(|event| sum += mass(&event))?;
    Ok(sum)
}

fn fold(table: &Table) -> Result<f64> {
    let rows = table.rows::<Event>()?.step(Step::Bytes(4 << 20));
    Ok(rows.par_fold(|| 0.0, |sum, event| *sum += mass(&event), |sum, other| *sum += other)?)
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
    let options = |codec: &str| WriteOptions { codec: Some(codec.to_owned()), ..WriteOptions::default() };
    let start = Instant::now();
    let mut writer = Writer::<One>::create_with(&format!("{folder}/one.root:events"), options("none"))?;
    writer.extend((0..entries).map(|_| One { x: random() }))?;
    writer.finish()?;
    println!("write one {:.0} ms", 1000.0 * start.elapsed().as_secs_f64());
    let start = Instant::now();
    let mut writer = Writer::<Filled>::create_with(&format!("{folder}/muons.root:events"), options("zstd"))?;
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
        };
        let muons = (0..count).map(|_| muon()).collect();
        writer.push(&Filled { run: 1, event, met: 150.0 * random(), muons })?;
    }
    writer.finish()?;
    println!("write muons {:.0} ms", 1000.0 * start.elapsed().as_secs_f64());
    Ok(())
}
