//! How long a tree takes to be written on one thread: `write_speed <shape> <megabytes> <codec> <file> [repetitions]`,
//! for `benches/write/run`. Prints the median of the seconds of processor time, the bytes of numbers, and the entries.
//! Writers in Python are timed several times in one process as well, so that memory which was used before is there.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example, which ends by a panic")]

use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::FileSink;
use forthwith_root::write::{Compression, FileSettings, FileWriter};
use forthwith_ttree::write::{ColumnOptions, Jagged, TreeOptions, TreeWriter};

/// Items of a list, as in the shapes of the first figure: 8 on average.
fn counts(lists: usize) -> Vec<i64> {
    let mut state = 12_345u64;
    let mut end = 0;
    let mut offsets = vec![0];
    for _ in 0..lists {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        end += (state >> 60) as i64;
        offsets.push(end);
    }
    offsets
}

/// Numbers that codecs can do something with: sixteen bits of mantissa.
fn floats(items: usize) -> Column {
    let mut state = 1u32;
    Column::from_vec(
        (0..items)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) as f32 / 256.0
            })
            .collect(),
    )
}

fn nested(depth: usize, items: usize) -> Array {
    let mut offsets = Vec::new();
    let mut lists = items;
    let mut levels = Vec::new();
    for _ in 0..depth {
        lists = (lists * 2 / 15).max(1);
        levels.push(counts(lists));
    }
    // From the innermost outwards; the last one decides how many items there are.
    let mut form = Form::Numpy { key: "x".into(), dtype: DType::Float32, shape: vec![] };
    let mut content = items;
    for (level, ends) in levels.iter().enumerate() {
        let length = ends.partition_point(|end| *end as usize <= content).max(1);
        let key = format!("l{level}");
        offsets.push((format!("{key}-offsets"), Column::from_slice(&ends[..length])));
        form = Form::List { key, content: Box::new(form) };
        content = length - 1;
    }
    let mut columns = vec![("x-data".to_owned(), floats(items))];
    columns.extend(offsets);
    Array { form, length: content as u64, columns }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shape, megabytes, codec, path, repetitions @ ..] = &arguments[..] else {
        panic!("write_speed <shape> <megabytes> <codec> <file> [repetitions]")
    };
    let repetitions = repetitions.first().map_or(1, |text| text.parse::<usize>().unwrap().max(1));
    let items = megabytes.parse::<usize>().unwrap() * 1_000_000 / 4;
    let mut arrays: Vec<(String, Array)> = match shape.as_str() {
        "flat" => vec![("x".into(), nested(0, items))],
        "jagged" | "vector" => vec![("x".into(), nested(1, items))],
        "nested2" => vec![("x".into(), nested(2, items))],
        "nested3" => vec![("x".into(), nested(3, items))],
        // Collections of 15 branches with one counter, and numbers beside them.
        "nano" => {
            let list = nested(1, items / 260);
            let lists = |set: usize, at: usize| (format!("C{set}_{at}"), list.clone());
            let flat = |at: usize| {
                let flat = nested(0, list.length as usize);
                (format!("f{at}"), flat)
            };
            (0..16)
                .flat_map(|set| (0..15).map(move |at| (set, at)))
                .map(|(set, at)| lists(set, at))
                .chain((0..160).map(flat))
                .collect()
        }
        other => panic!("shape {other}"),
    };
    // As arrays come: some steps of a file.
    let rows = arrays[0].1.length;
    arrays.iter_mut().for_each(|(_, array)| array.length = rows);
    let forms: Vec<_> = arrays.iter().map(|(name, array)| (name.clone(), array.form.clone())).collect();
    let mut options = TreeOptions::default();
    if shape == "vector" {
        options.default_column.jagged = Jagged::Vector;
    }
    if shape == "nano" {
        for set in 0..16 {
            for at in 0..15 {
                let counter = ColumnOptions { counter: Some(format!("nC{set}")), ..ColumnOptions::default() };
                options.columns.push((format!("C{set}_{at}"), counter));
            }
        }
    }
    let bytes: usize = arrays.iter().map(|(_, array)| array.column("x-data").map_or(0, Column::nbytes)).sum();
    let steps: Vec<Array> = arrays.into_iter().map(|(_, array)| array).collect();
    let settings =
        FileSettings { compression: Compression::named(codec, None).unwrap(), ..FileSettings::default() };
    let (mut times, mut entries) = (Vec::new(), 0);
    for _ in 0..repetitions {
        // The memory of an old file would be given back while the new one is written.
        if std::fs::exists(path).unwrap() {
            std::fs::remove_file(path).unwrap();
        }
        let (settings, options) = (settings.clone(), options.clone());
        let before = processor();
        let sink = FileSink::create(path).unwrap().without_sync();
        let mut file = FileWriter::create(Box::new(sink), settings).unwrap();
        let mut tree = TreeWriter::new(&mut file, "t", &forms, options).unwrap();
        tree.extend(&mut file, &steps).unwrap();
        entries = tree.finish(&mut file).unwrap();
        file.finish().unwrap();
        times.push(processor() - before);
    }
    times.sort_by(f64::total_cmp);
    println!("{} {bytes} {entries}", times[times.len() / 2]);
}

/// Seconds that this thread has been on a processor, which the system counts when it stands back for others.
fn processor() -> f64 {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
