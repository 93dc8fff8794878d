//! Histograms of one or two columns, updated while all entries are read.

use crate::{
    act::{Act, Context, Question},
    answers::{Answer, Picture, PictureShape},
    heat::{Heat, HeatAxis},
    histogram::{Bars, Histogram, Outside, robust_range},
    human,
    input::Key,
    jobs::{Job, Jobs, Lane, Ticket},
    numbers::{pairs, values},
    paint::Paint,
    row_filter::options,
};
use forthwith::{
    SelectOptions, Step, Steps, Table,
    columns::Array,
    plan::{Error, Result},
};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// Decompressed bytes of a step.
const STEP: u64 = 8 << 20;
/// Number of entries of the first step, which is small so that the histogram appears soon.
const FIRST: u64 = 1 << 14;
/// Number of lines around the bars: axis, numbers, label and caption.
const AROUND: usize = 4;
/// Number of characters before the bars.
const MARGIN: usize = 14;

/// Columns and options of a histogram.
#[derive(Clone, Debug)]
pub(crate) struct PlotSpec {
    /// Name and index of one column or two.
    pub(crate) columns: Vec<(String, u32)>,
    pub(crate) cut: Option<String>,
    pub(crate) bins: Option<usize>,
    pub(crate) range: Option<(f64, f64)>,
}

struct PlotJob {
    table: Table,
    spec: PlotSpec,
    size: (usize, usize),
    steps: Option<Steps>,
    picture: Picture,
    is_first: bool,
}

impl PlotJob {
    fn entries(&self) -> Result<Range<u64>> {
        let mut all: Option<Range<u64>> = None;
        for (_, field) in &self.spec.columns {
            let own = self.table.entry_range_up_to(*field, FIRST)?;
            let end = if own.end < FIRST || self.table.counts_blocks() {
                own.end
            } else {
                self.table.entry_range(*field)?.end
            };
            all = Some(all.map_or(own.start..end, |all| all.start.max(own.start)..all.end.min(end)));
        }
        let all = all.unwrap_or(0..0);
        // In formats without an index of blocks, entries are counted while they are read.
        Ok(if self.table.counts_blocks() { all.start..u64::MAX } else { all })
    }

    fn steps_of(&self, range: Range<u64>, step: Step) -> Result<Steps> {
        let columns: Vec<_> =
            self.spec.columns.iter().map(|(name, field)| (name.as_str(), Some(*field))).collect();
        let options = self.spec.cut.as_deref().map_or_else(SelectOptions::default, options);
        self.table.select_fields(&columns, options)?.steps(range, step)
    }

    /// Counts the values of the next step; returns `false` after the last one.
    fn next(&mut self, stop: &AtomicBool) -> Result<bool> {
        let all = self.entries()?;
        let first = all.start..all.end.min(all.start.saturating_add(FIRST));
        if self.steps.is_none() {
            let (range, step) = if self.is_first {
                (first.clone(), Step::Entries(FIRST))
            } else {
                (first.end..all.end, Step::Bytes(STEP))
            };
            if range.is_empty() {
                return Ok(std::mem::take(&mut self.is_first) && !all.is_empty());
            }
            self.steps = Some(self.steps_of(range, step)?);
        }
        let Some(steps) = &mut self.steps else { return Ok(false) };
        let read = steps.read_batch(None, Some(&mut |_| !stop.load(Ordering::Relaxed)))?;
        let Some(read) = read else {
            self.steps = None;
            return Ok(std::mem::take(&mut self.is_first));
        };
        self.picture.read += read.entries.end - read.entries.start;
        self.picture.passed += read.arrays.first().map_or(0, |array| array.length);
        self.fill(&read.arrays)?;
        Ok(true)
    }

    fn fill(&mut self, arrays: &[Array]) -> Result<()> {
        match arrays {
            [x] => {
                self.fill_one(&values(x).unwrap_or_default());
                Ok(())
            }
            [x, y] => self.fill_two(x, y),
            _ => Ok(()),
        }
    }

    fn fill_one(&mut self, values: &[f64]) {
        if let PictureShape::Empty(outside) = &mut self.picture.shape {
            match self.spec.range.or_else(|| robust_range(values)) {
                Some((low, high)) => {
                    let bins = self.spec.bins.unwrap_or(self.size.0);
                    self.picture.shape = PictureShape::One(Histogram::beside(*outside, low, high, bins));
                }
                None => values.iter().for_each(|value| outside.count(*value)),
            }
        }
        if let PictureShape::One(histogram) = &mut self.picture.shape {
            histogram.add(values.iter().copied());
        }
    }

    fn fill_two(&mut self, x: &Array, y: &Array) -> Result<()> {
        let pairs = pairs(x, y).map_err(Error::invalid)?;
        if let PictureShape::Empty(_) = self.picture.shape {
            let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let (Some(x), Some(y)) = (self.spec.range.or_else(|| robust_range(&xs)), robust_range(&ys))
            else {
                return Ok(());
            };
            let axis = |(low, high), fit: usize| HeatAxis {
                low,
                high,
                bins: self.spec.bins.unwrap_or(fit).min(fit),
            };
            self.picture.shape = PictureShape::Two(Heat::new(axis(x, self.size.0), axis(y, self.size.1)));
        }
        if let PictureShape::Two(heat) = &mut self.picture.shape {
            heat.add(pairs);
        }
        Ok(())
    }
}

impl Job for PlotJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        match self.next(stop) {
            Ok(more) => {
                self.picture.is_complete = !more;
                (Answer::Picture(Box::new(self.picture.clone())), more)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Pane with a histogram.
pub(crate) struct Plot {
    pub(crate) table: Table,
    pub(crate) spec: PlotSpec,
    is_log: bool,
    job: Option<Ticket>,
    pub(crate) picture: Option<Box<Picture>>,
    pub(crate) failed: Option<String>,
    size: (usize, usize),
}

impl Plot {
    /// Creates a histogram of one or two columns.
    ///
    /// # Errors
    /// Returns an error if a column cannot be read or has no numbers.
    pub(crate) fn new(table: Table, columns: &[u32], cut: Option<String>) -> Result<Self> {
        let fields = table.fields()?;
        let mut named = Vec::new();
        for field in columns {
            let form = table.form(*field)?;
            let name = fields.get(*field as usize).map_or("", |field| &field.path);
            if form.numbers().is_none() {
                let what =
                    format!("{} has no numbers to draw, but {}", human::clean(name), form.type_string());
                return Err(Error::invalid(what));
            }
            named.push((name.to_owned(), *field));
        }
        let spec = PlotSpec { columns: named, cut, bins: None, range: None };
        Ok(Self { table, spec, is_log: false, job: None, picture: None, failed: None, size: (0, 0) })
    }

    /// Starts reading; starts again if the size of the screen changes and the bins depend on it.
    pub(crate) fn prepare(&mut self, context: &mut Context<'_>, width: u16, height: u16) {
        let size = (
            usize::from(width).saturating_sub(MARGIN).clamp(8, 400),
            usize::from(height).saturating_sub(AROUND).clamp(2, 200),
        );
        let fits = self.spec.columns.len() == 1 && self.spec.bins.is_some();
        let is_new = self.size == (0, 0);
        if std::mem::replace(&mut self.size, size) != size && (is_new || !fits) {
            self.restart(context.jobs);
        }
    }

    fn restart(&mut self, jobs: &mut Jobs) {
        self.close(jobs);
        self.failed = None;
        let picture = Picture {
            shape: PictureShape::Empty(Outside::default()),
            read: 0,
            passed: 0,
            is_complete: false,
        };
        let (table, spec) = (self.table.clone(), self.spec.clone());
        let job = PlotJob { table, spec, size: self.size, steps: None, picture, is_first: true };
        self.job = Some(jobs.start(Lane::Scan, job));
    }

    pub(crate) fn close(&mut self, jobs: &mut Jobs) {
        self.job.take().into_iter().for_each(|ticket| jobs.cancel(ticket));
    }

    pub(crate) fn take(&mut self, ticket: Ticket, answer: Answer) -> Option<Answer> {
        if self.job != Some(ticket) {
            return Some(answer);
        }
        match answer {
            Answer::Picture(picture) => {
                if picture.is_complete {
                    self.job = None;
                }
                self.picture = Some(picture);
            }
            Answer::Failed(why) => {
                self.job = None;
                self.failed = Some(why);
            }
            _ => {}
        }
        None
    }

    pub(crate) fn key(&mut self, key: Key, context: &mut Context<'_>) -> Act {
        match key {
            Key::Char('l') => self.is_log = !self.is_log,
            Key::Char('+' | '-') => {
                let bins = self.spec.bins.unwrap_or(self.size.0);
                let bins = if key == Key::Char('+') { bins * 2 } else { bins / 2 };
                self.spec.bins = Some(bins.clamp(1, self.size.0.max(1)));
                self.restart(context.jobs);
            }
            Key::Char('b') => return Act::Ask(Question::Bins, String::new()),
            Key::Char('r') => {
                let range = self.spec.range.map(|(low, high)| format!("{low},{high}"));
                return Act::Ask(Question::Range, range.unwrap_or_default());
            }
            Key::Char('w') => return Act::Ask(Question::Where, self.spec.cut.clone().unwrap_or_default()),
            Key::Char('x') if self.spec.columns.len() == 2 => {
                self.spec.columns.swap(0, 1);
                self.spec.range = None;
                self.restart(context.jobs);
            }
            _ => {}
        }
        Act::None
    }

    pub(crate) fn entered(&mut self, question: Question, text: &str, context: &mut Context<'_>) -> Act {
        let text = text.trim();
        match question {
            Question::Bins => match text.parse::<usize>() {
                _ if text.is_empty() => self.spec.bins = None,
                Ok(bins @ 1..=400) => self.spec.bins = Some(bins),
                _ => return Act::Say(format!("invalid number of bins {text:?}: 1 to 400 are possible")),
            },
            Question::Range => match range(text) {
                Some(range) => self.spec.range = range,
                None => {
                    return Act::Say(
                        "invalid range: two numbers with a comma between them, the lower first".into(),
                    );
                }
            },
            Question::Where if text.is_empty() => self.spec.cut = None,
            Question::Where => return Act::Cut(self.table.clone(), text.to_owned()),
            _ => return Act::None,
        }
        self.restart(context.jobs);
        Act::None
    }

    /// Restricts the histogram to the entries for which a validated expression is true.
    pub(crate) fn filter_by_cut(&mut self, cut: &str, jobs: &mut Jobs) {
        self.spec.cut = Some(cut.to_owned());
        self.restart(jobs);
    }

    /// Returns the caption above the histogram.
    pub(crate) fn caption(&self) -> String {
        let names: Vec<String> = self.spec.columns.iter().map(|(name, _)| human::clean(name)).collect();
        let names = names.join(" × ");
        let cut = self.spec.cut.as_ref().map_or(String::new(), |cut| format!(" where {}", human::clean(cut)));
        let Some(picture) = &self.picture else { return format!("{names}{cut}") };
        let passed =
            if cut.is_empty() { String::new() } else { format!("{} of ", human::count(picture.passed)) };
        let read = human::counted(picture.read, "entry", "entries");
        let so_far = if self.job.is_some() { " so far" } else { "" };
        let outside = match &picture.shape {
            PictureShape::One(histogram) => histogram.not_shown(),
            PictureShape::Two(heat) if heat.outside() > 0 => {
                format!("; not shown: {}", human::count(heat.outside()))
            }
            _ => String::new(),
        };
        format!("{names}{cut}: {passed}{read}{so_far}{outside}")
    }

    /// Returns the histogram as lines of text.
    pub(crate) fn lines(&self) -> String {
        let Some(picture) = &self.picture else { return "reading…".into() };
        let plain = Paint { color: false };
        let (width, height) = self.size;
        let name = |at: usize| self.spec.columns.get(at).map_or("", |(name, _)| name.as_str());
        match &picture.shape {
            PictureShape::Empty(_) if self.job.is_some() => "reading…".into(),
            PictureShape::Empty(outside) => match outside.words() {
                words if words.is_empty() => "no values to draw".into(),
                words => format!("no values to draw: {words}"),
            },
            PictureShape::One(histogram) => {
                let bars = histogram.bars();
                let wide = (width / bars.heights.len().max(1)).clamp(1, 8);
                let draw = if self.is_log { Bars::draw_log } else { Bars::draw };
                draw(&bars, height, wide, name(0), plain)
            }
            PictureShape::Two(heat) => {
                let label = format!("{} →  {} ↑", human::clean(name(0)), human::clean(name(1)));
                heat.draw(&label, self.is_log, plain)
            }
        }
    }
}

/// Parses the two ends of an axis; returns `Some(None)` if the text is empty, and `None` if it is invalid.
fn range(text: &str) -> Option<Option<(f64, f64)>> {
    if text.is_empty() {
        return Some(None);
    }
    let (low, high) = text.split_once(',')?;
    let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low < high && (high - low).is_finite()).then_some(Some((low, high)))
}
