//! `forthwith convert`: converts tables to another format, step by step.

mod columns;
mod conversion;
mod folder;
mod losses;
mod pipe;
mod sources;
#[cfg(test)]
mod tests;

use crate::{
    cancellation::Cancellation,
    choice::Choice,
    console::{Console, bar},
    copy::{Copying, copy},
    destination::is_replaced,
    end::End,
    failure::{Failure, Result},
    human,
    interrupt::Watch,
    opened,
    target::Target,
};
pub(crate) use conversion::Conversion;

use conversion::STANDARD;
use forthwith::{
    FileFormat, Selection, Step,
    columns::{Array, Form, Invalid, TextPolicy},
    files, io,
    plan::{Error, ErrorKind, TableWriter, WriteOptions},
};
use indicatif::ProgressBar;
use losses::Losses;
use pipe::Pipe;
use sources::Sources;
use std::{ffi::OsStr, path::Path, time::Instant};

/// Decompressed bytes of a step if text is written, which is slower than reading: Ctrl-C and the progress bar
/// must react.
const TEXT_STEP: u64 = 256 << 10;
/// Number of entries of the first step of a stream, whose reader may need no more.
const FIRST: u64 = 1024;

pub(crate) fn convert(
    targets: &[Target],
    choice: &Choice,
    asked: &Conversion,
    opening: &opened::Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    if asked.to != STANDARD && folder::is_folder(&asked.to) {
        return folder::tables(targets, choice, asked, opening, console);
    }
    if let Some(copying) = whole(targets, choice, asked, opening)? {
        return copy(targets, &copying, opening, console);
    }
    let began = Instant::now();
    let streams = asked.to == STANDARD;
    if let (Some(End::Last(_)), 2..) = (asked.end, targets.len()) {
        return Err(Failure::misuse("tail --csv prints the entries of one file".into()));
    }
    let format = format(asked, console)?;
    // All files are inspected before data are read, so that an incompatible one is reported at once.
    let sources = sources::look_at(targets, choice, format, asked, opening, console)?;
    let named = &sources.columns;
    let pipe = Pipe::default();
    // Bytes written to standard output cannot be removed, so Ctrl-C ends the process as usual. Opening a pipe
    // blocks until it has a reader, and Ctrl-C must end the process then, too.
    let mut watch = (!streams && !is_special(&asked.to)).then(Watch::begin);
    let sink: Box<dyn io::Sink> =
        if streams { Box::new(pipe.clone()) } else { files::sink(&asked.to, &opening.store())? };
    if !streams {
        watch.get_or_insert_with(Watch::begin).removes(sink.temporary());
    }
    let is_replaced = !streams && is_replaced(&asked.to, asked.force)?;
    let mut options = asked.options.clone();
    options.schema = own_schema(&sources, format, asked)?;
    options.keep_text = asked.values.text == TextPolicy::Stored;
    // The user's metadata of the first file, and the Arrow schema of its columns.
    options.metadata = sources.first.table.file().user_metadata();
    options.arrow = sources.first.table.arrow_schema();
    let mut writer = forthwith::writer(format, named, sink, &options)?;
    let bar = bar(Some(sources.likely), BAR, console.width.is_some() && !streams);
    let mut copy = Copy {
        sources: &sources,
        choice,
        asked,
        format,
        threads: opening.threads,
        pipe: &pipe,
        watch: watch.as_ref(),
        cancellation: opening.cancellation.as_ref(),
        bar: &bar,
        left: match asked.end {
            Some(End::First(entries)) => Some(entries),
            _ => None,
        },
    };
    copy.run(writer.as_mut(), console)?;
    bar.set_message("finishing");
    let written = writer.finish()?;
    bar.finish_and_clear();
    if streams {
        console.lines_of_file(&pipe.take())?;
        return console.flush();
    }
    console.line(&format!(
        "{}: {} of {}, {} in {:.1} s",
        human::clean(&asked.to.to_string_lossy()),
        human::counted(written.entries, "entry", "entries"),
        human::counted(named.len() as u64, "column", "columns"),
        human::bytes(written.bytes),
        began.elapsed().as_secs_f64(),
    ))?;
    if is_replaced {
        console.note(&format!("replaced {}", human::clean(&asked.to.to_string_lossy())));
    }
    Ok(())
}

/// Returns the job of rewriting a whole file with tables of another kind, if this is requested: the arguments
/// are one file, without an object in it, and a kind of tables.
fn whole(
    targets: &[Target],
    choice: &Choice,
    asked: &Conversion,
    opening: &opened::Opening,
) -> Result<Option<Copying>> {
    let ([target], Some(_)) = (targets, &asked.options.table) else { return Ok(None) };
    let is_plain = !choice.has_expressions() && asked.end.is_none() && asked.sample.is_none();
    if asked.to == STANDARD || !target.object.is_empty() || target.is_stream() || !is_plain {
        return Ok(None);
    }
    let file = opened::file(target, opening)?;
    let to = asked.format.map_or_else(|| FileFormat::of(&asked.to.to_string_lossy()), Ok)?;
    if file.is_one_table() || file.format() != to.name() {
        return Ok(None);
    }
    Ok(Some(Copying {
        to: asked.to.clone(),
        columns: choice.filter.clone(),
        codec: (asked.options.codec.clone(), asked.options.level),
        tables: asked.options.table.clone(),
        force: asked.force,
        ..Copying::default()
    }))
}

/// Returns the schema of a file that is rewritten in its own format with all of its columns, so that names of
/// types and properties are kept. Returns `None` if columns were selected or computed, or if there are
/// several files.
fn own_schema(sources: &Sources, format: FileFormat, asked: &Conversion) -> Result<Option<String>> {
    let (table, named) = (&sources.first.table, &sources.columns);
    let file = table.file();
    if sources.chain.len() > 1 || file.format() != format.name() || asked.options.name.is_some() {
        return Ok(None);
    }
    let fields = table.fields()?;
    let all = fields.iter().filter(|field| !field.is_part).map(|field| &field.path);
    let are_all = all.eq(named.iter().map(|(name, _)| name));
    let Some(schema) = file.schema().filter(|_| are_all) else { return Ok(None) };
    // The writer checks the names, and the types match because the values were read by this schema. If the
    // writer refuses the schema, it is not kept.
    let options = WriteOptions { schema: Some(schema.clone()), ..WriteOptions::default() };
    let made = forthwith::writer(format, named, Box::new(io::MemorySink::new("schema")), &options);
    Ok(made.is_ok().then_some(schema))
}

/// Conversion in progress.
struct Copy<'a> {
    sources: &'a Sources,
    choice: &'a Choice,
    asked: &'a Conversion,
    format: FileFormat,
    threads: Option<usize>,
    pipe: &'a Pipe,
    watch: Option<&'a Watch>,
    /// Cancellation by another thread, if possible.
    cancellation: Option<&'a Cancellation>,
    bar: &'a ProgressBar,
    /// Number of entries left to write; `None` for all entries.
    left: Option<u64>,
}

impl Copy<'_> {
    /// Copies the entries of all files.
    fn run(&mut self, writer: &mut dyn TableWriter, console: &mut Console<'_>) -> Result<()> {
        let Sources { selection, .. } = self.sources;
        let uris = self.sources.uris();
        let is_text = self.format.is_text();
        let step = Step::Bytes(if is_text { self.asked.step.min(TEXT_STEP) } else { self.asked.step });
        let mut steps = selection.steps(self.sources.entries(self.choice, self.asked)?, step)?;
        if is_text {
            // The reader of a stream receives its beginning soon.
            steps = steps.with_first_step(FIRST);
        }
        let mut losses = Losses::default();
        while self.left != Some(0) {
            self.check_stopped()?;
            let read = steps.read(self.threads, &mut |_| !self.is_stopped())?;
            let Some(step) = read else { break };
            self.check_stopped()?;
            losses.tell_before(step.file, &uris, console);
            losses.add(step.lost);
            let arrays = self.first_left(step.arrays)?;
            if let Some(selection) = steps.selection() {
                let entry = |row: u64| match &step.kept {
                    Some(kept) => kept.get(row as usize).copied().unwrap_or(step.entries.start),
                    None => step.entries.start.saturating_add(row),
                };
                let failed = |error| self.write_failure(error, selection, entry, &arrays);
                writer.write(&self.arranged(arrays.clone())?).map_err(failed)?;
                let likely = step.before.saturating_add(selection.table().likely_entries()?);
                self.bar.set_length(self.bar.length().unwrap_or(0).max(likely));
            }
            if self.asked.to == STANDARD {
                console.lines_of_file(&self.pipe.take())?;
                console.flush()?;
            }
            self.bar.set_position(step.before.saturating_add(step.entries.end));
        }
        self.check_stopped()?;
        losses.add(steps.take_lost());
        losses.tell_before(usize::MAX, &uris, console);
        Ok(())
    }

    /// Whether a signal or another thread has stopped the conversion.
    fn is_stopped(&self) -> bool {
        self.watch.is_some_and(Watch::asked) || self.cancellation.is_some_and(Cancellation::is_cancelled)
    }

    fn check_stopped(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::new(ErrorKind::Cancelled).into()) } else { Ok(()) }
    }

    /// Returns the failure of an error of the writer, with a hint.
    fn write_failure(
        &self,
        error: Error,
        selection: &Selection,
        entry: impl Fn(u64) -> u64,
        read: &[Array],
    ) -> Failure {
        if matches!(error.kind, ErrorKind::NotUtf8 { .. })
            && let Some(failure) = not_text(selection, entry, read)
        {
            return failure;
        }
        match self.format.is_text() {
            true => Failure::unspelled(error, self.asked.options.not_numbers),
            false => Failure::unfilled(error),
        }
    }

    /// Returns the rows of a step that are left to write.
    fn first_left(&mut self, arrays: Vec<Array>) -> Result<Vec<Array>> {
        let (Some(left), Some(rows)) = (&mut self.left, arrays.first().map(|array| array.length)) else {
            return Ok(arrays);
        };
        let taken = rows.min(*left);
        *left -= taken;
        if taken == rows {
            return Ok(arrays);
        }
        let unlike = |error: Invalid| Error::new(ErrorKind::Fault { what: error.to_string() });
        let first = arrays
            .iter()
            .map(|array| Array::gather(&[(array, std::slice::from_ref(&(0..taken)))]).map_err(unlike));
        Ok(first.collect::<Result<_, Error>>()?)
    }

    /// Converts the columns to the types that are written.
    fn arranged(&self, arrays: Vec<Array>) -> Result<Vec<Array>> {
        let arranged = self.sources.columns.iter().zip(arrays).map(|((_, form), array)| {
            let unlike = |error: Invalid| Error::new(ErrorKind::Fault { what: error.to_string() });
            let is_optional = matches!(form, Form::Option { .. });
            if is_optional { array.present().map_err(unlike) } else { Ok(array) }
        });
        Ok(arranged.collect::<Result<_, Error>>()?)
    }
}

/// Whether a name is that of a pipe or a device.
pub(crate) fn is_special(to: &OsStr) -> bool {
    let to = Path::new(to);
    to.exists() && !to.is_file()
}

/// Returns the format to write.
fn format(asked: &Conversion, console: &Console<'_>) -> Result<FileFormat> {
    let format = match asked.format {
        Some(format) => format,
        None if asked.to == STANDARD => {
            return Err(Failure::misuse(
                "standard output has no file ending: give the format with --format".into(),
            ));
        }
        None => FileFormat::of(&asked.to.to_string_lossy()).map_err(|error| {
            let is_unknown = matches!(error.kind, ErrorKind::Invalid { .. });
            let failure = Failure::from(error);
            if is_unknown { failure.hinted("or say --format") } else { failure }
        })?,
    };
    if asked.to == STANDARD && !format.is_text() && console.width.is_some() {
        return Err(Failure::misuse(
            "this format is binary and cannot be shown on a terminal: redirect it to a file".into(),
        ));
    }
    Ok(format)
}

/// Template of the progress bar.
const BAR: &str = "{wide_bar} {percent:>3} %  {human_pos} entries  {eta} {msg}";

/// Returns the failure for text that is not UTF-8, in the first column that has some.
fn not_text(selection: &Selection, entry: impl Fn(u64) -> u64, arrays: &[Array]) -> Option<Failure> {
    let paths = selection.paths();
    let mut columns = paths.iter().zip(arrays);
    let (path, bad) = columns.find_map(|(path, array)| Some((path, array.check_text().err()?)))?;
    let error = Error::fault(bad.to_string()).in_row(path, entry(bad.row), &bad.member);
    let error = error.in_file(selection.table().file().uri());
    Some(Failure::from(error).hinted("--text says what becomes of it: latin-1, replace or bytes"))
}
