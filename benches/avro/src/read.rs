//! read METHOD FILE REPS [THREADS [FIELD,...]]: one case.
//!
//! METHOD is `fresh` (forthwith without a pool, huge pages), `pooled` (the memory of the last repetition is used again), `halves` (two
//! threads that have nothing to do with one another read half of the entries each, into columns of their own: what two threads could
//! gain at most), `arrow` (the crate arrow-avro, which has one thread) or `codec` (every block decompressed into warm memory by the crates
//! forthwith uses, and nothing else). Prints one line: RESULT {"times": [seconds...], "checksum": "..."}. What was read is dropped outside the timing.

use arrow_array::{cast::AsArray, types};
use arrow_schema::DataType;
use forthwith::columns::{Array, Form, Policy};
use forthwith::{Engine, File, Options, format, plan};
use std::{error::Error, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, method, file, reps, rest @ ..] = arguments.as_slice() else {
        return Err("read METHOD FILE REPS [THREADS [FIELD,...]]".into());
    };
    let threads = rest.first().map_or(Ok(1), |threads| threads.parse())?;
    let fields: Option<Vec<&str>> = rest.get(1).map(|names| names.split(',').collect());
    let policy = Policy { pool_bytes: if method == "pooled" { 8 << 30 } else { 0 }, ..Policy::default() };
    let engine = Arc::new(Engine::new(Options { threads, policy: policy.clone(), ..Options::default() }));
    let unmeasured = usize::from(method == "pooled" || method == "codec");
    let (mut times, mut sums) = (Vec::new(), Sums::default());
    for rep in 0..reps.parse::<usize>()? + unmeasured {
        let start = Instant::now();
        let seconds = match method.as_str() {
            "codec" => decompress(file, &engine)?,
            "arrow" => {
                let batches = arrow(file, fields.as_deref())?;
                let seconds = start.elapsed().as_secs_f64();
                if rep == 0 {
                    batches.iter().for_each(|batch| batch.columns().iter().for_each(|c| sums.arrow(c)));
                    // A union's or an option's nulls are counted once whatever the batches are.
                }
                seconds
            }
            "halves" => {
                let arrays = halves(file, &policy)?;
                let seconds = start.elapsed().as_secs_f64();
                if rep == 0 {
                    arrays.iter().for_each(|array| sums.ours(array, &array.form));
                }
                seconds
            }
            _ => {
                let arrays = forthwith(file, &engine, fields.as_deref())?;
                let seconds = start.elapsed().as_secs_f64();
                if rep == 0 {
                    arrays.iter().for_each(|array| sums.ours(array, &array.form));
                }
                seconds
            }
        };
        if rep >= unmeasured {
            times.push(format!("{seconds:.6}"));
        }
    }
    println!("RESULT {{\"times\": [{}], \"checksum\": \"{}\"}}", times.join(", "), sums.text());
    Ok(())
}

fn forthwith(file: &str, engine: &Arc<Engine>, fields: Option<&[&str]>) -> Result<Vec<Array>, plan::Error> {
    let file = File::from_source(forthwith::io::open(file)?, Arc::clone(engine))?;
    let table = file.table("")?;
    let wanted: Vec<u32> = match fields {
        Some(names) => names.iter().map(|name| table.find(name)).collect::<Result<_, _>>()?,
        None => (0..table.fields()?.len() as u32).collect(),
    };
    table.read(&table.plan(&wanted, 0..table.entries()?)?, None, None)
}

fn halves(file: &str, policy: &Policy) -> Result<Vec<Array>, plan::Error> {
    let source = forthwith::io::open(file)?;
    let engine =
        || Arc::new(Engine::new(Options { threads: 1, policy: policy.clone(), ..Options::default() }));
    let open = || File::from_source(Arc::clone(&source), engine())?.table("");
    let (first, second) = (open()?, open()?);
    let fields: Vec<u32> = (0..first.fields()?.len() as u32).collect();
    let entries = first.entries()?;
    // At the boundary of two blocks: what is cut is decoded by both.
    let whole = first.plan(&fields, 0..entries)?;
    let mut starts = whole.tasks.iter().map(|task| task.entries.start);
    let middle = starts.find(|at| *at >= entries / 2).unwrap_or(entries);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.read(&second.plan(&fields, middle..entries)?, None, None));
        let mut all = first.read(&first.plan(&fields, 0..middle)?, None, None)?;
        all.extend(other.join().expect("no panic")?);
        Ok(all)
    })
}

fn arrow(file: &str, fields: Option<&[&str]>) -> Result<Vec<arrow_array::RecordBatch>, Box<dyn Error>> {
    let file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file)?);
    let mut builder = arrow_avro::reader::ReaderBuilder::new().with_batch_size(1 << 16);
    if let Some(names) = fields {
        builder =
            builder.with_projection(names.iter().map(|name| name[1..].parse()).collect::<Result<_, _>>()?);
    }
    Ok(builder.build(file)?.collect::<Result<_, _>>()?)
}

/// Seconds for decompressing all blocks, their bytes being in memory.
fn decompress(file: &str, engine: &Arc<Engine>) -> Result<f64, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let source: Arc<dyn forthwith::io::Source> = Arc::new(forthwith::io::Memory::new(file, bytes));
    let file = File::from_source(source, Arc::clone(engine))?;
    let table = file.table("")?;
    let plan = table.plan(&[0], 0..table.entries()?)?;
    let format = format(&plan.format)?;
    let mut scratch = plan::Scratch::new();
    let mut seconds = f64::INFINITY;
    // The first round warms the scratch.
    for _ in 0..2 {
        let start = Instant::now();
        for task in &plan.tasks {
            let plan::Stored::Range(range) = &task.stored else { continue };
            let stored = file.source().read_one(range.clone())?;
            format.unframe(&plan.groups[0], task, &stored, &mut scratch)?;
        }
        seconds = start.elapsed().as_secs_f64();
    }
    Ok(seconds)
}

/// The sums that are the same for every reader: numbers and their sum, bytes of text, nulls.
#[derive(Default)]
struct Sums {
    numbers: u64,
    sum: f64,
    text: u64,
    nulls: u64,
}

impl Sums {
    fn text(&self) -> String {
        format!("{} {:.6e} {} {}", self.numbers, self.sum, self.text, self.nulls)
    }

    fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        for number in numbers {
            self.numbers += 1;
            self.sum += number;
        }
    }

    fn ours(&mut self, array: &Array, form: &Form) {
        let column = |key: &str, part: &str| array.column(&format!("{key}-{part}")).expect("a column");
        match form {
            Form::Numpy { key, .. } => {
                let column = column(key, "data");
                match column.dtype().name() {
                    "float32" => {
                        self.add(column.items::<f32>().expect("floats").iter().map(|n| f64::from(*n)))
                    }
                    "float64" => self.add(column.items::<f64>().expect("doubles").iter().copied()),
                    "int32" => self.add(column.items::<i32>().expect("ints").iter().map(|n| f64::from(*n))),
                    "int64" => self.add(column.items::<i64>().expect("longs").iter().map(|n| *n as f64)),
                    _ => self.add(column.as_bytes().iter().map(|n| f64::from(*n))),
                }
            }
            Form::String { key, .. } => self.text += column(key, "data").len() as u64,
            Form::List { content, .. } => self.ours(array, content),
            Form::Option { key, content } => {
                let index = column(key, "index").items::<i64>().expect("an index");
                self.nulls += index.iter().filter(|at| **at < 0).count() as u64;
                self.ours(array, content);
            }
            other => panic!("{}", other.type_string()),
        }
    }

    fn arrow(&mut self, array: &dyn arrow_array::Array) {
        self.nulls += array.null_count() as u64;
        match array.data_type() {
            DataType::Float32 => {
                self.add(array.as_primitive::<types::Float32Type>().iter().flatten().map(f64::from))
            }
            DataType::Float64 => self.add(array.as_primitive::<types::Float64Type>().iter().flatten()),
            DataType::Int32 => {
                self.add(array.as_primitive::<types::Int32Type>().iter().flatten().map(f64::from))
            }
            DataType::Int64 => {
                self.add(array.as_primitive::<types::Int64Type>().iter().flatten().map(|n| n as f64))
            }
            DataType::Boolean => {
                self.add(array.as_boolean().iter().flatten().map(|n| f64::from(u8::from(n))))
            }
            DataType::Utf8 => {
                self.text += array.as_string::<i32>().iter().flatten().map(|s| s.len() as u64).sum::<u64>()
            }
            DataType::List(_) => self.arrow(array.as_list::<i32>().values()),
            other => panic!("{other}"),
        }
    }
}
