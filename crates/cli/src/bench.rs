//! `forthwith bench`: throughput of the stages of reading a table, compared with copying memory on this
//! machine.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    opened::Place,
    shape::Shape,
    stats::Summary,
    survey::Branch,
    table::{Align, Table as Text},
};
use forthwith::{
    Step, Table,
    plan::{ErrorKind, Plan, Stored},
};
use serde::Serialize;
use std::{
    hint::black_box,
    ops::Range,
    time::{Duration, Instant},
};

/// Size in bytes of the arrays that are read at a time.
const STEP: u64 = 64 << 20;
/// Number of bytes that are copied in memory.
const COPY: usize = 64 << 20;

/// Answer for one table.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    table: String,
    entries: u64,
    columns: usize,
    threads: Option<usize>,
    parts: Vec<Part>,
}

/// Stage of reading: the fastest of several rounds.
#[derive(Clone, Debug, Serialize)]
struct Part {
    part: &'static str,
    threads: usize,
    bytes: u64,
    seconds: f64,
    bytes_per_second: f64,
    /// Rate relative to that of copying memory.
    of_copy: f64,
}

/// Measurements of one round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    read: (u64, Duration),
    decompressed: (u64, Duration),
    arrays: (u64, Duration),
    all: (u64, Duration),
    can_decompress: bool,
}

pub(crate) fn bench(
    place: &Place,
    summary: &Summary,
    rounds: u32,
    shape: Shape,
    threads: Option<usize>,
    console: &mut Console<'_>,
) -> Result<()> {
    let table = &place.table;
    let chosen = summary.columns(place)?;
    let fields: Vec<u32> = chosen.iter().filter(|branch| branch.is_readable()).map(|b| b.index).collect();
    let ranges = ranges(table, &chosen, summary.most())?;
    if fields.is_empty() {
        return Err(Failure::misuse(format!("{} has no columns that can be read", place.name())));
    }
    let mut best: Option<Round> = None;
    for _ in 0..rounds.max(1) {
        let round = round(table, &fields, &ranges, threads)?;
        let faster =
            |left: (u64, Duration), right: (u64, Duration)| if right.1 < left.1 { right } else { left };
        best = Some(best.map_or(round, |best| Round {
            read: faster(best.read, round.read),
            decompressed: faster(best.decompressed, round.decompressed),
            arrays: faster(best.arrays, round.arrays),
            all: faster(best.all, round.all),
            can_decompress: round.can_decompress,
        }));
    }
    let best = best.unwrap_or_default();
    let report = Report {
        file: table.file().uri().to_owned(),
        table: table.path().to_owned(),
        entries: ranges.iter().map(|range| range.end - range.start).sum(),
        columns: fields.len(),
        threads,
        parts: parts(&best, threads),
    };
    if shape == Shape::Json {
        return console.json(&report);
    }
    console.text(&render(&report).render(console.width, console.paint))?;
    if cfg!(debug_assertions) {
        console.note("this forthwith was built without optimisation: the figures mean nothing");
    }
    Ok(())
}

/// Returns the steps of the entries that all columns have.
fn ranges(table: &Table, chosen: &[Branch], most: u64) -> Result<Vec<Range<u64>>> {
    let fields: Vec<u32> = chosen.iter().filter(|branch| branch.is_readable()).map(|b| b.index).collect();
    let mut range = 0..most.min(table.entries()?);
    for field in &fields {
        let own = table.entry_range(*field)?;
        range = range.start.max(own.start)..range.end.min(own.end);
    }
    Ok(table.cut(&fields, range.start..range.end.max(range.start), Step::Bytes(STEP))?)
}

fn round(table: &Table, fields: &[u32], ranges: &[Range<u64>], threads: Option<usize>) -> Result<Round> {
    let mut round = Round { can_decompress: true, ..Round::default() };
    for range in ranges {
        let plan = table.plan(fields, range.clone())?;
        let began = Instant::now();
        let bytes = read(table, &plan)?;
        add(&mut round.read, bytes, began);
        let began = Instant::now();
        match decompress(table, &plan) {
            Ok(bytes) => add(&mut round.decompressed, bytes, began),
            Err(error) if matches!(error.kind, ErrorKind::Unsupported { .. } | ErrorKind::Invalid { .. }) => {
                round.can_decompress = false;
            }
            Err(error) => return Err(error.into()),
        }
        for (threads, to) in [(Some(1), &mut round.arrays), (threads, &mut round.all)] {
            let began = Instant::now();
            let arrays = table.read(&plan, threads, None)?;
            add(to, black_box(&arrays).iter().map(|array| array.nbytes() as u64).sum(), began);
        }
    }
    Ok(round)
}

fn add(to: &mut (u64, Duration), bytes: u64, began: Instant) {
    *to = (to.0 + bytes, to.1 + began.elapsed());
}

/// Reads the stored bytes of all blocks into a reused buffer.
fn read(table: &Table, plan: &Plan) -> Result<u64> {
    let source = table.file().source();
    let mut buffer = Vec::new();
    let mut bytes = 0;
    for task in &plan.tasks {
        if let Stored::Range(range) = &task.stored {
            let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            if buffer.len() < length {
                buffer.resize(length, 0_u8);
            }
            source.read_into(range.start, &mut buffer[..length]).map_err(forthwith::plan::Error::new)?;
            bytes += length as u64;
        }
    }
    black_box(&buffer);
    Ok(bytes)
}

/// Reads and decompresses all blocks without decoding them.
fn decompress(table: &Table, plan: &Plan) -> forthwith::plan::Result<u64> {
    let mut bytes = 0;
    for task in 0..plan.tasks.len() {
        bytes += black_box(table.raw(plan, task)?).payload.len() as u64;
    }
    Ok(bytes)
}

/// Returns the number of bytes and the time of the fastest of several copies of memory.
fn copy() -> (u64, Duration) {
    let (from, mut to) = (vec![1_u8; COPY], vec![0_u8; COPY]);
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        best = best.min(began.elapsed());
    }
    (COPY as u64, best)
}

fn parts(round: &Round, threads: Option<usize>) -> Vec<Part> {
    let copied = copy();
    let rate = |(bytes, time): (u64, Duration)| bytes as f64 / time.as_secs_f64().max(1e-9);
    let part = |part, threads, measured: (u64, Duration)| Part {
        part,
        threads,
        bytes: measured.0,
        seconds: measured.1.as_secs_f64(),
        bytes_per_second: rate(measured),
        of_copy: rate(measured) / rate(copied),
    };
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let mut parts = vec![part("read", 1, round.read)];
    if round.can_decompress {
        let alone = |all: (u64, Duration), before: (u64, Duration)| (all.0, all.1.saturating_sub(before.1));
        parts.push(part("decompress", 1, alone(round.decompressed, round.read)));
        parts.push(part("decode", 1, alone(round.arrays, round.decompressed)));
    }
    parts.push(part("all together", 1, round.arrays));
    parts.push(part("all together", threads.unwrap_or(available), round.all));
    parts.push(part("copy of memory", 1, copied));
    parts
}

fn render(report: &Report) -> Text {
    let mut table = Text::new(&[
        ("part", Align::Left),
        ("threads", Align::Right),
        ("bytes", Align::Right),
        ("time", Align::Right),
        ("rate", Align::Right),
        ("of a copy", Align::Right),
    ]);
    for part in &report.parts {
        let time = Duration::from_secs_f64(part.seconds);
        table.row([
            part.part.into(),
            part.threads.to_string().into(),
            human::bytes(part.bytes).into(),
            human::time(time).into(),
            human::rate(part.bytes, time).into(),
            format!("{:.1} %", part.of_copy * 100.0).into(),
        ]);
    }
    table
}
