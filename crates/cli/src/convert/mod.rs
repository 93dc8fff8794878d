//! `forthwith convert`: tables into a file of another format, step by step.

mod around;
mod columns;
mod conversion;
mod folder;
mod pipe;
mod sources;
#[cfg(test)]
mod tests;
mod together;

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
    opened::{self, Place},
    target::Target,
};
pub(crate) use conversion::Conversion;

use around::Lost;
use columns::entries;
use conversion::STANDARD;
use forthwith::{
    FileFormat, SelectOptions, Selected, Selection, Step, Steps, Table,
    columns::{Array, Form, Invalid, TextPolicy},
    files, io,
    plan::{Error, ErrorKind, TableWriter, WriteOptions},
    sample_entries,
};
use indicatif::ProgressBar;
use pipe::Pipe;
use sources::Source;
use std::{
    collections::{HashMap, VecDeque},
    ffi::OsStr,
    ops::Range,
    path::Path,
    time::Instant,
};
use together::{Own, Together};

/// Text is slower to write than to read: it is written in steps of this number of bytes, so that Ctrl-C and
/// the bar do not wait.
const TEXT_STEP: u64 = 256 << 10;
/// Entries of the first step of a stream, whose reader may want no more.
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
    // All files are looked at before the first is read: one that does not fit is told at once.
    let (sources, together) = sources::look_at(targets, choice, format, asked, opening, console)?;
    let named = &together.named;
    let pipe = Pipe::default();
    // Bytes that went to standard output cannot be taken back, and Ctrl-C ends it as usual. Opening a pipe waits for its
    // reader, in which Ctrl-C must end the process.
    let mut watch = (!streams && !is_special(&asked.to)).then(Watch::begin);
    let sink: Box<dyn io::Sink> =
        if streams { Box::new(pipe.clone()) } else { files::sink(&asked.to, &opening.store())? };
    if !streams {
        watch.get_or_insert_with(Watch::begin).removes(sink.temporary());
    }
    let is_replaced = !streams && is_replaced(&asked.to, asked.force)?;
    let mut options = asked.options.clone();
    options.schema = own_schema(&sources, format, named, asked)?;
    options.keep_text = asked.values.text == TextPolicy::Stored;
    if let Some(first) = sources.first() {
        keep_words(first, &mut options, asked, opening)?;
    }
    let mut writer = forthwith::writer(format, named, sink, &options)?;
    let likely = sources.iter().map(|source| source.likely).sum();
    let bar = bar(Some(likely), BAR, console.width.is_some() && !streams);
    let mut copy = Copy {
        together: &together,
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
    let mut done = 0;
    for source in sources {
        if copy.left == Some(0) {
            break;
        }
        let place = match source.opened {
            Some(place) => place,
            None => source.place(asked, opening)?,
        };
        let (place, mut lost) = if asked.skip_errors {
            let (table, lost) = around::sound(&place.table)?;
            (Place { table, ..place }, lost)
        } else {
            (place, Lost::default())
        };
        done += copy.file(&place, &source.own, done, &mut lost, writer.as_mut(), console)?;
        lost.tell(&source.own.uri, console);
    }
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

/// How a whole file is written as another one of its format with tables of another kind, if that is asked for: one file is
/// named, nothing in it, and a kind.
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

/// The words that a user put into the file, and what Arrow says of its columns: those of the first of several files.
fn keep_words(
    first: &Source<'_>,
    options: &mut WriteOptions,
    asked: &Conversion,
    opening: &opened::Opening,
) -> Result<()> {
    let again;
    let place = match &first.opened {
        Some(place) => place,
        None => {
            again = first.place(asked, opening)?;
            &again
        }
    };
    options.metadata = place.table.file().user_metadata();
    options.arrow = place.table.arrow_schema();
    Ok(())
}

/// The schema of a file whose columns, all of them, go into another file of its format: types keep their names, and what else it says
/// of them. Nothing where columns were chosen or computed, or where the file is not the only one.
fn own_schema(
    sources: &[Source<'_>],
    format: FileFormat,
    named: &[(String, Form)],
    asked: &Conversion,
) -> Result<Option<String>> {
    let [Source { opened: Some(place), .. }] = sources else { return Ok(None) };
    let file = place.table.file();
    if file.format() != format.name() || asked.options.name.is_some() {
        return Ok(None);
    }
    let fields = place.table.fields()?;
    let all = fields.iter().filter(|field| !field.is_part).map(|field| &field.path);
    let are_all = all.eq(named.iter().map(|(name, _)| name));
    let Some(schema) = file.schema().filter(|_| are_all) else { return Ok(None) };
    // The writer compares names; types fit, since values were read by this schema. One that it refuses is not kept.
    let options = WriteOptions { schema: Some(schema.clone()), ..WriteOptions::default() };
    let made = forthwith::writer(format, named, Box::new(io::MemorySink::new("schema")), &options);
    Ok(made.is_ok().then_some(schema))
}

/// The options that all files are copied with.
struct Copy<'a> {
    together: &'a Together,
    choice: &'a Choice,
    asked: &'a Conversion,
    format: FileFormat,
    threads: Option<usize>,
    pipe: &'a Pipe,
    watch: Option<&'a Watch>,
    /// Ends the work, if another thread may do so.
    cancellation: Option<&'a Cancellation>,
    bar: &'a ProgressBar,
    /// Entries that are still to be written, if not all are.
    left: Option<u64>,
}

impl Copy<'_> {
    /// Copies all entries of a file that are chosen; answers the number of entries that were looked at.
    /// `done` were before.
    fn file(
        &mut self,
        place: &Place,
        own: &Own,
        done: u64,
        lost: &mut Lost,
        writer: &mut dyn TableWriter,
        console: &mut Console<'_>,
    ) -> Result<u64> {
        let table = &place.table;
        let wanted = self.wanted(own);
        let united = self.together.united(own);
        let mut options = SelectOptions { united, ..self.choice.expressions() };
        if let Some(drawn) = self.drawn(table)? {
            options.entries = Some(drawn);
        }
        let selection = table.select_fields(&wanted, options)?;
        let entries = self.bounded(entries(table, selection.fields())?);
        let begin = entries.start;
        let is_text = self.format.is_text();
        let step = Step::Bytes(if is_text { self.asked.step.min(TEXT_STEP) } else { self.asked.step });
        let first = begin.saturating_add(FIRST).min(entries.end);
        // The reader of a stream gets its beginning at once.
        let parts = if is_text { vec![begin..first, first..entries.end] } else { vec![entries] };
        let mut copied = 0;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let mut steps = selection.steps(part, step)?;
            while let Some((step, pieces)) = self.step(&selection, &mut steps, lost)? {
                if self.is_stopped() {
                    return Err(Error::new(ErrorKind::Cancelled).into());
                }
                for piece in pieces {
                    let (first, kept) = (piece.entries.start, piece.kept);
                    let entry = |row: u64| match &kept {
                        Some(kept) => kept.get(row as usize).copied().unwrap_or(first),
                        None => first.saturating_add(row),
                    };
                    let Some(arrays) = self.first_left(piece.arrays)? else { return Ok(copied) };
                    let read = arrays.clone();
                    let arranged = self.arranged(arrays)?;
                    let failed = |error| self.write_failure(error, &selection, entry, &read);
                    writer.write(&arranged).map_err(failed)?;
                }
                copied += step.end - step.start;
                if self.asked.to == STANDARD {
                    console.lines_of_file(&self.pipe.take())?;
                    console.flush()?;
                }
                let likely = table.likely_entries()?.saturating_sub(begin);
                self.bar.set_length(self.bar.length().unwrap_or(0).max(done + likely));
                self.bar.set_position(done + copied);
                if self.is_stopped() {
                    return Err(Error::new(ErrorKind::Cancelled).into());
                }
            }
        }
        Ok(copied)
    }

    /// Whether a signal or another thread ends the work.
    fn is_stopped(&self) -> bool {
        self.watch.is_some_and(Watch::asked) || self.cancellation.is_some_and(Cancellation::is_cancelled)
    }

    /// An error of the writer, with what to do about it.
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

    /// The entries that are drawn, of those that pass the cut, if some are to be drawn.
    fn drawn(&self, table: &Table) -> Result<Option<Vec<u64>>> {
        let Some((count, seed)) = self.asked.sample else { return Ok(None) };
        if self.choice.cut.is_none() {
            return Ok(Some(sample_entries(table.entries()?, count, seed)));
        }
        let mut passing = Vec::new();
        let mut steps =
            table.select_fields(&[], self.choice.expressions())?.steps(.., Step::Bytes(64 << 20))?;
        while let Some(batch) = steps.read_batch(self.threads, None)? {
            let all = || batch.entries.clone().collect();
            passing.extend(batch.kept.unwrap_or_else(all));
        }
        let drawn = sample_entries(passing.len() as u64, count, seed);
        Ok(Some(drawn.into_iter().filter_map(|at| passing.get(at as usize).copied()).collect()))
    }

    /// The entries to look at, of all that a file has.
    fn bounded(&self, all: Range<u64>) -> Range<u64> {
        match (self.asked.end, self.left) {
            (Some(End::Last(entries)), _) => all.start.max(all.end.saturating_sub(entries))..all.end,
            (_, Some(left)) if self.choice.cut.is_none() => {
                all.start..all.end.min(all.start.saturating_add(left))
            }
            _ => all,
        }
    }

    /// The first rows of a piece, as many as are still to be written; `None` if there are enough.
    fn first_left(&mut self, arrays: Vec<Array>) -> Result<Option<Vec<Array>>> {
        let (Some(left), Some(rows)) = (&mut self.left, arrays.first().map(|array| array.length)) else {
            return Ok(Some(arrays));
        };
        let taken = rows.min(*left);
        if taken == 0 && rows > 0 {
            return Ok(None);
        }
        *left -= taken;
        if taken == rows {
            return Ok(Some(arrays));
        }
        let unlike = |error: Invalid| Error::new(ErrorKind::Fault { what: error.to_string() });
        let first = arrays
            .iter()
            .map(|array| Array::gather(&[(array, std::slice::from_ref(&(0..taken)))]).map_err(unlike));
        Ok(Some(first.collect::<Result<_, Error>>()?))
    }

    /// The next step, in pieces if it is read around what is damaged.
    fn step(
        &self,
        selection: &Selection,
        steps: &mut Steps,
        lost: &mut Lost,
    ) -> Result<Option<(Range<u64>, Vec<Selected>)>> {
        let goes_on = &mut |_: forthwith::Progress| !self.is_stopped();
        if !self.asked.skip_errors {
            let read = steps.read_batch(self.threads, Some(goes_on))?;
            return Ok(read.map(|piece| (piece.entries.clone(), vec![piece])));
        }
        let Some(step) = steps.skip_step()? else { return Ok(None) };
        let pieces = around::read(selection, step.clone(), self.threads, goes_on, lost)?;
        Ok(Some((step, pieces)))
    }

    /// The columns in the order they are written in, with their fields in a file that has them as they are written.
    fn wanted(&self, own: &Own) -> Vec<(&str, Option<u32>)> {
        let named = &self.together.named;
        // Of several with one name the first is the first.
        let mut fields: HashMap<&str, VecDeque<Option<u32>>> = HashMap::new();
        for column in &own.columns {
            fields.entry(&column.name).or_default().push_back(column.field);
        }
        let mut field = |(name, _): &(String, Form)| {
            let field = fields.get_mut(name.as_str()).and_then(VecDeque::pop_front)?;
            if self.together.is_united(name) { None } else { field }
        };
        named.iter().map(|column| (column.0.as_str(), field(column))).collect()
    }

    /// The columns as they are written.
    fn arranged(&self, arrays: Vec<Array>) -> Result<Vec<Array>> {
        let arranged = self.together.named.iter().zip(arrays).map(|((_, form), array)| {
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

/// The format to write.
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

/// How far it is, seen by people only.
const BAR: &str = "{wide_bar} {percent:>3} %  {human_pos} entries  {eta} {msg}";

/// Text that could not be written because it is not UTF-8, in the first column that has some.
fn not_text(selection: &Selection, entry: impl Fn(u64) -> u64, arrays: &[Array]) -> Option<Failure> {
    let paths = selection.paths();
    let mut columns = paths.iter().zip(arrays);
    let (path, bad) = columns.find_map(|(path, array)| Some((path, array.check_text().err()?)))?;
    let error = Error::fault(bad.to_string()).in_row(path, entry(bad.row), &bad.member);
    let error = error.in_file(selection.table().file().uri());
    Some(Failure::from(error).hinted("--text says what becomes of it: latin-1, replace or bytes"))
}
