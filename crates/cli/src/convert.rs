//! `forthwith convert`: a table into a file of another format, step by step.

use crate::{
    choice::Choice,
    console::Console,
    failure::{Failure, Result},
    human,
    interrupt::Watch,
    opened::Place,
};
use forthwith::{
    FileFormat, Step, Table,
    columns::Form,
    plan::{Error, ErrorKind, WriteOptions},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{ops::Range, path::Path, time::Instant};

/// What was asked for besides source and columns.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversion {
    /// The file to write.
    pub(crate) to: String,
    /// How.
    pub(crate) options: WriteOptions,
    /// Bytes of a step, decompressed.
    pub(crate) step: u64,
    /// Columns that cannot be read or written are left out.
    pub(crate) skip_unsupported: bool,
    /// A file of that name is replaced.
    pub(crate) force: bool,
}

/// A column on its way.
struct Column {
    field: u32,
    name: String,
    form: Form,
}

pub(crate) fn convert(
    place: &Place,
    choice: &Choice,
    asked: &Conversion,
    threads: Option<usize>,
    console: &mut Console<'_>,
) -> Result<()> {
    let began = Instant::now();
    let table = &place.table;
    let format = FileFormat::of(&asked.to)?;
    refuse_to_replace(table.file().uri(), asked)?;
    let columns = columns(place, choice, format, asked.skip_unsupported, console)?;
    let fields: Vec<u32> = columns.iter().map(|column| column.field).collect();
    let named: Vec<(String, Form)> = columns.into_iter().map(|column| (column.name, column.form)).collect();
    let entries = entries(table, &fields)?;
    let begin = entries.start;
    let watch = Watch::begin();
    let mut writer = forthwith::create(&asked.to, &named, &asked.options)?;
    let bar = bar(table.likely_entries()?, console.width.is_some());
    let mut steps = table.steps(&fields, entries, Step::Bytes(asked.step))?;
    while let Some((step, arrays)) = steps.read(threads, Some(&mut |_| !watch.asked()))? {
        writer.write(&arrays)?;
        bar.set_length(table.likely_entries()?.saturating_sub(begin));
        bar.set_position(step.end - begin);
        if watch.asked() {
            return Err(Error::new(ErrorKind::Cancelled).into());
        }
    }
    bar.set_message("finishing");
    let written = writer.finish()?;
    bar.finish_and_clear();
    console.line(&format!(
        "{}: {} of {}, {} in {:.1} s",
        human::clean(&asked.to),
        human::counted(written.entries, "entry", "entries"),
        human::counted(named.len() as u64, "column", "columns"),
        human::bytes(written.bytes),
        began.elapsed().as_secs_f64(),
    ))
}

/// A file that exists is kept, unless told otherwise; the source in any case.
fn refuse_to_replace(source: &str, asked: &Conversion) -> Result<()> {
    let to = Path::new(&asked.to);
    let same = to.canonicalize().ok().zip(Path::new(source).canonicalize().ok());
    if same.is_some_and(|(to, source)| to == source) {
        return Err(Failure::misuse(format!("{} would replace what it is made of", asked.to)));
    }
    if to.is_file() && !asked.force {
        return Err(Failure::misuse(format!("{} exists; --force replaces it", asked.to)));
    }
    Ok(())
}

/// The columns to write. What was named has to be there, and what cannot be converted is left out only if that was asked for.
fn columns(
    place: &Place,
    choice: &Choice,
    format: FileFormat,
    skip_unsupported: bool,
    console: &mut Console<'_>,
) -> Result<Vec<Column>> {
    let table = &place.table;
    let mut columns: Vec<Column> = Vec::new();
    for branch in choice.find(place, 0)?.branches {
        let name = branch.field.path.clone();
        let checked = || -> Result<Form, Error> {
            let reading = table
                .describe_first(branch.index, 0)?
                .reading
                .map_err(|what| Error::unsupported(what).in_file(table.file().uri()).in_object(&name))?;
            // The format is asked at once, rather than after the first gigabyte.
            let one = [(name.clone(), reading.form)];
            forthwith::writer(
                format,
                &one,
                Box::new(forthwith::io::MemorySink::new(&*name)),
                &WriteOptions::default(),
            )
            .map_err(|error| Error::new(error.kind).in_file(table.file().uri()).in_object(&name))?;
            let [(_, form)] = one;
            Ok(form)
        };
        match checked() {
            Ok(form) => columns.push(Column { field: branch.index, name, form }),
            Err(error) if skip_unsupported && matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                console.note(&format!("left out: {error}"));
            }
            Err(error) if matches!(error.kind, ErrorKind::Unsupported { .. }) => {
                let hint = "--skip-unsupported leaves such columns out, --columns chooses others";
                return Err(Failure::from(error).hinted(hint));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if columns.is_empty() {
        return Err(Failure::misuse(format!("nothing of {} can be converted", table.file().uri())));
    }
    Ok(columns)
}

/// The entries of all columns, which have to have the same. Where blocks have to be counted, as many as there will be.
fn entries(table: &Table, fields: &[u32]) -> Result<Range<u64>> {
    if table.counts_blocks() {
        return Ok(0..u64::MAX);
    }
    let mut all: Option<(Range<u64>, u32)> = None;
    for &field in fields {
        let own = table.entry_range(field)?;
        match &all {
            None => all = Some((own, field)),
            Some((first, _)) if *first == own => {}
            Some((first, other)) => {
                let name = |field: u32| Ok::<_, Error>(table.fields()?[field as usize].path.clone());
                let what = format!(
                    "{} has entries {} to {}, {} has {} to {}; --columns chooses those of one length",
                    name(*other)?,
                    first.start,
                    first.end,
                    name(field)?,
                    own.start,
                    own.end
                );
                return Err(Failure::misuse(what));
            }
        }
    }
    Ok(all.map_or(0..0, |(entries, _)| entries))
}

/// Seen by people only.
fn bar(entries: u64, seen: bool) -> ProgressBar {
    let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {human_pos} entries  {eta} {msg}");
    let bar = ProgressBar::with_draw_target(Some(entries), target);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith::{Engine, File, Options, columns, io};
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    /// Counts what is read.
    struct Counting(Vec<u8>, Arc<AtomicU64>);

    impl io::ReadAt for Counting {
        fn size(&mut self) -> std::result::Result<u64, String> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
            self.1.fetch_add(into.len() as u64, Ordering::Relaxed);
            into.copy_from_slice(&self.0[at as usize..at as usize + into.len()]);
            Ok(into.len())
        }
    }

    /// Where blocks have to be counted, a conversion begins before all are.
    #[test]
    fn blocks_are_looked_for_on_the_way() {
        const ENTRIES: u64 = 100_000;
        let form = Form::Numpy { key: "x".into(), dtype: columns::DType::Float64, shape: vec![] };
        let numbers: Vec<f64> = (0..ENTRIES).map(|n| n as f64).collect();
        let array = columns::Array {
            form: form.clone(),
            length: ENTRIES,
            columns: vec![("x-data".into(), columns::Column::from_vec(numbers))],
        };
        let sink = io::MemorySink::new("made.avro");
        let options = WriteOptions { block_entries: Some(1000), ..WriteOptions::default() };
        let fields = [("x".to_owned(), form)];
        let mut writer = forthwith::writer(
            FileFormat::of("made.avro").expect("it is written"),
            &fields,
            Box::new(sink.clone()),
            &options,
        )
        .expect("a writer");
        writer.write(&[array]).expect("room");
        writer.finish().expect("room");
        let bytes = sink.bytes().expect("a whole file").to_vec();

        let read = Arc::new(AtomicU64::new(0));
        let source = io::Callback::new("made.avro", Box::new(Counting(bytes, Arc::clone(&read))));
        let file =
            File::from_source(Arc::new(source), Arc::new(Engine::new(Options::default()))).expect("a file");
        let place = Place {
            table: file.table("").expect("a table"),
            branch: None,
            named: true,
            words: &crate::words::Words::PLAIN,
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let paint = crate::paint::Paint { color: false };
        let mut console = Console::new(&mut out, &mut err, None, paint);
        let columns = columns(
            &place,
            &Choice::default(),
            FileFormat::of("made.parquet").expect("it is written"),
            false,
            &mut console,
        )
        .expect("columns");
        let table = &place.table;
        assert_eq!(entries(table, &[columns[0].field]).expect("entries"), 0..u64::MAX);
        assert!(read.load(Ordering::Relaxed) < 20_000, "nothing but the header is needed");
        let mut steps = table.steps(&[0], 0..u64::MAX, Step::Bytes(16_000)).expect("steps");
        let (step, _) = steps.read(Some(1), None).expect("a step").expect("not the last");
        let (likely, read) = (table.likely_entries().expect("a guess"), read.load(Ordering::Relaxed));
        assert!(step.end <= 2_000 && read < 200_000, "{step:?} took {read} bytes");
        assert!(likely.abs_diff(ENTRIES) < ENTRIES / 10, "{likely} of {ENTRIES}");
        while steps.read(Some(1), None).expect("a step").is_some() {}
        assert_eq!(table.likely_entries().expect("they are known"), ENTRIES);
    }
}
