//! Comparison of two arrays: which rows differ, and where in them.

use super::place::{Bounds, Frame};
use super::{DiffOptions, numbers::NumberColumn};
use forthwith_columns::{Array, DType, Form, Invalid, LogicalType, Lookup, safe_text};
use std::borrow::Cow;

/// Maximum number of characters of a value that are shown.
const SHOWN: usize = 60;
/// Maximum depth of Forms.
const DEEPEST: u32 = 64;

/// Differences between two arrays of the same entries of a column.
#[derive(Debug, Default)]
pub(super) struct RowDifferences {
    /// Rows that differ, in ascending order.
    pub(super) rows: Vec<u64>,
    /// The first differences.
    pub(super) first: Vec<RowDifference>,
    /// Largest difference of two numbers.
    pub(super) largest: Option<f64>,
    most: usize,
    marked: Vec<bool>,
}

/// A difference between two rows.
#[derive(Debug)]
pub(super) struct RowDifference {
    pub(super) row: u64,
    pub(super) path: String,
    pub(super) values: [String; 2],
}

/// One of the two arrays, at a node of its Form.
#[derive(Clone, Copy)]
struct Side<'x, 'd> {
    array: &'d Array,
    lookup: &'x Lookup<'d>,
    form: &'x Form,
    /// First row of the node that is compared.
    start: u64,
}

/// Compares `rows` rows of two arrays, starting at the given rows. At most `most` differences are described.
///
/// Returns an error if an array is inconsistent.
pub(super) fn compare(
    [left, right]: [(&Array, u64); 2],
    rows: u64,
    options: &DiffOptions,
    most: usize,
) -> Result<RowDifferences, Invalid> {
    let found = RowDifferences { most, ..RowDifferences::default() };
    let mut walk = Walk { options, found };
    let lookups = [Lookup::of(left.0), Lookup::of(right.0)];
    let side = |(array, start): (_, u64), lookup| Side { array, lookup, form: side_form(array), start };
    let pair = [side(left, &lookups[0]), side(right, &lookups[1])];
    walk.node(pair, rows, &Frame::Rows, 0)?;
    let mut found = walk.found;
    let marked = std::mem::take(&mut found.marked);
    found.rows = (0..).zip(marked).filter_map(|(row, differs)| differs.then_some(row)).collect();
    found.first.sort_by_key(|difference| difference.row);
    Ok(found)
}

const fn side_form(array: &Array) -> &Form {
    &array.form
}

struct Walk<'o> {
    options: &'o DiffOptions,
    found: RowDifferences,
}

type Pair<'x, 'd> = [Side<'x, 'd>; 2];

impl Walk<'_> {
    fn node(&mut self, pair: Pair<'_, '_>, rows: u64, frame: &Frame<'_>, depth: u32) -> Result<(), Invalid> {
        if rows == 0 {
            return Ok(());
        }
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        let [left, right] = pair;
        match (left.form, right.form) {
            (Form::Option { .. }, _) | (_, Form::Option { .. }) => self.options_of(pair, rows, frame, depth),
            (Form::Union { .. }, _) | (_, Form::Union { .. }) => self.unions(pair, rows, frame, depth),
            (Form::Logical { .. }, _) | (_, Form::Logical { .. }) => self.logical(pair, rows, frame, depth),
            (Form::Record { .. }, Form::Record { .. }) => self.records(pair, rows, frame, depth),
            (
                Form::String { .. } | Form::Categorical { .. },
                Form::String { .. } | Form::Categorical { .. },
            ) => self.texts(pair, rows, frame),
            (Form::Numpy { shape: l, .. }, Form::Numpy { shape: r, .. }) if l.is_empty() && r.is_empty() => {
                let columns = [left.numbers(rows, None)?, right.numbers(rows, None)?];
                self.numbers(pair, columns, rows, frame)
            }
            _ => match (left.bounds(rows)?, right.bounds(rows)?) {
                (Some(l), Some(r)) => self.lists(pair, [l, r], rows, frame, depth),
                _ => (0..rows).try_for_each(|row| self.differs(pair, row, frame)),
            },
        }
    }

    /// Compares optional rows.
    fn options_of(
        &mut self,
        pair: Pair<'_, '_>,
        rows: u64,
        frame: &Frame<'_>,
        depth: u32,
    ) -> Result<(), Invalid> {
        let index = [pair[0].option_index(rows)?, pair[1].option_index(rows)?];
        let content = pair.map(|side| match side.form {
            Form::Option { content, .. } => Side { form: content, ..side },
            _ => side,
        });
        // Rows that are present in both are compared together while they are consecutive in both contents.
        let is_present = |side: usize, row: u64| index[side].at(row) >= 0;
        let mut row = 0;
        while row < rows {
            match [is_present(0, row), is_present(1, row)] {
                [false, false] => row += 1,
                [true, true] => {
                    let mut run = Vec::new();
                    let begin = [index[0].at(row), index[1].at(row)];
                    let mut next = begin;
                    while row < rows {
                        let at = [index[0].at(row), index[1].at(row)];
                        if at == next {
                            run.push(row);
                            next = [next[0] + 1, next[1] + 1];
                        } else if at[0] >= 0 || at[1] >= 0 {
                            break;
                        }
                        row += 1;
                    }
                    let starts = begin.map(|at| at as u64); // not negative
                    let sides = [0, 1].map(|at: usize| Side { start: starts[at], ..content[at] });
                    let frame = Frame::Present { parent: frame, rows: &run };
                    self.node(sides, run.len() as u64, &frame, depth + 1)?;
                }
                _ => {
                    self.differs(pair, row, frame)?;
                    row += 1;
                }
            }
        }
        Ok(())
    }

    fn unions(
        &mut self,
        pair: Pair<'_, '_>,
        rows: u64,
        frame: &Frame<'_>,
        depth: u32,
    ) -> Result<(), Invalid> {
        for row in 0..rows {
            let [left, right] = [pair[0].alternative(row)?, pair[1].alternative(row)?];
            let frame = Frame::Present { parent: frame, rows: &[row] };
            let are_alike = match (left.form, right.form) {
                (Form::Option { .. }, _) | (_, Form::Option { .. }) => true,
                (l, r) => super::types::are_comparable(l, r),
            };
            match are_alike {
                true => self.node([left, right], 1, &frame, depth + 1)?,
                false => self.differs([left, right], 0, &frame)?,
            }
        }
        Ok(())
    }

    /// Compares values with a logical type. Times of different units are compared in the finer unit.
    fn logical(
        &mut self,
        pair: Pair<'_, '_>,
        rows: u64,
        frame: &Frame<'_>,
        depth: u32,
    ) -> Result<(), Invalid> {
        let meanings = pair.map(|side| match side.form {
            Form::Logical { meaning, .. } => Some(*meaning),
            _ => None,
        });
        let kept = pair.map(|side| Side { form: side.form.kept(), ..side });
        let are_numbers =
            kept.iter().all(|side| matches!(side.form, Form::Numpy { shape, .. } if shape.is_empty()));
        let is_half = |meaning| meaning == Some(LogicalType::Half);
        if are_numbers && (meanings.iter().copied().any(is_half) || !are_alike(meanings)) {
            let columns = [kept[0].numbers(rows, meanings[0])?, kept[1].numbers(rows, meanings[1])?];
            return self.numbers(pair, columns, rows, frame);
        }
        let before = self.found.first.len();
        self.node(kept, rows, frame, depth + 1)?;
        // Format the values of differences by their logical types.
        for difference in self.found.first.iter_mut().skip(before) {
            difference.respell(meanings);
        }
        Ok(())
    }

    fn records(
        &mut self,
        pair: Pair<'_, '_>,
        rows: u64,
        frame: &Frame<'_>,
        depth: u32,
    ) -> Result<(), Invalid> {
        let [Form::Record { fields: names, contents, .. }, Form::Record { fields: others, contents: c, .. }] =
            pair.map(|side| side.form)
        else {
            return Ok(());
        };
        for (at, content) in contents.iter().enumerate() {
            let name = names.as_ref().and_then(|names| names.get(at));
            let other = match (name, others) {
                (Some(name), Some(others)) => others.iter().position(|other| other == name),
                _ => Some(at),
            };
            // Fields that only one side has were reported when the types were compared.
            let Some(other) = other.and_then(|at| c.get(at)) else { continue };
            let name = name.map_or_else(|| Cow::Owned(at.to_string()), Cow::from);
            let sides = [Side { form: content, ..pair[0] }, Side { form: other, ..pair[1] }];
            self.node(sides, rows, &Frame::Field { parent: frame, name: &name }, depth + 1)?;
        }
        Ok(())
    }

    /// Compares lists: the items of lists of equal length, where consecutive lists are compared together.
    fn lists(
        &mut self,
        pair: Pair<'_, '_>,
        bounds: [Bounds<'_>; 2],
        rows: u64,
        frame: &Frame<'_>,
        depth: u32,
    ) -> Result<(), Invalid> {
        let items = pair.map(|side| side.items());
        let mut row = 0;
        while row < rows {
            let begin = row;
            row = bounds[0].alike(&bounds[1], row, rows);
            if row > begin {
                let count = bounds[0].start(row) - bounds[0].start(begin);
                let sides = [0, 1].map(|at: usize| Side {
                    form: items[at].as_ref(),
                    start: bounds[at].start(begin),
                    ..pair[at]
                });
                let frame = Frame::Items { parent: frame, bounds: &bounds[0], first: begin };
                self.node(sides, count, &frame, depth + 1)?;
            }
            if row < rows {
                let lengths = [0, 1].map(|at: usize| bounds[at].start(row + 1) - bounds[at].start(row));
                let shown = |at: usize| {
                    let items = if lengths[at] == 1 { "item" } else { "items" };
                    format!("{} {items}: {}", lengths[at], pair[at].shown(row))
                };
                self.add(row, frame, || [shown(0), shown(1)]);
                row += 1;
            }
        }
        Ok(())
    }

    fn texts(&mut self, pair: Pair<'_, '_>, rows: u64, frame: &Frame<'_>) -> Result<(), Invalid> {
        let texts = [pair[0].texts(rows)?, pair[1].texts(rows)?];
        if let [Texts::Bytes(l, left), Texts::Bytes(r, right)] = &texts {
            let range = |bounds: &Bounds<'_>| bounds.start(0) as usize..bounds.start(rows) as usize;
            if l.alike(r, 0, rows) == rows && left.get(range(l)) == right.get(range(r)) {
                return Ok(());
            }
        }
        for row in 0..rows {
            if texts[0].at(row) != texts[1].at(row) {
                self.differs(pair, row, frame)?;
            }
        }
        Ok(())
    }

    fn numbers(
        &mut self,
        pair: Pair<'_, '_>,
        columns: [NumberColumn<'_>; 2],
        rows: u64,
        frame: &Frame<'_>,
    ) -> Result<(), Invalid> {
        let [left, right] = columns;
        let mut outcome = Ok(());
        left.compare(&right, rows, self.options, &mut |row, distance| {
            if let Some(distance) = distance {
                self.found.largest = Some(self.found.largest.map_or(distance, |known| known.max(distance)));
            }
            if outcome.is_ok() {
                outcome = self.differs(pair, row, frame);
            }
        });
        outcome
    }

    /// Records that a row differs, with the values of both sides.
    #[allow(clippy::unnecessary_wraps, reason = "callers chain it with what can fail")]
    fn differs(&mut self, pair: Pair<'_, '_>, row: u64, frame: &Frame<'_>) -> Result<(), Invalid> {
        self.add(row, frame, || pair.map(|side| side.shown(row)));
        Ok(())
    }

    fn add(&mut self, row: u64, frame: &Frame<'_>, values: impl FnOnce() -> [String; 2]) {
        let found = &mut self.found;
        let shows = found.first.len() < found.most;
        let (row, path) = if shows { frame.place(row) } else { (frame.row(row), String::new()) };
        let at = row as usize; // rows of an array that is in memory
        if found.marked.len() <= at {
            found.marked.resize(at + 1, false);
        }
        found.marked[at] = true;
        if shows {
            found.first.push(RowDifference { row, path, values: values() });
        }
    }
}

fn are_alike(meanings: [Option<LogicalType>; 2]) -> bool {
    match meanings {
        [Some(left), Some(right)] => left.is_alike(right),
        _ => false,
    }
}

impl RowDifference {
    /// Formats integers by their logical types.
    fn respell(&mut self, meanings: [Option<LogicalType>; 2]) {
        for (value, meaning) in self.values.iter_mut().zip(meanings) {
            let number = value.parse::<i64>().ok();
            if let Some(text) = number.and_then(|number| meaning?.spell_number(number)) {
                *value = text;
            }
        }
    }
}

/// Rows of text.
enum Texts<'a> {
    Bytes(Bounds<'a>, &'a [u8]),
    Categories(&'a [String], Vec<i32>),
}

impl Texts<'_> {
    fn at(&self, row: u64) -> Option<&[u8]> {
        match self {
            Self::Bytes(bounds, bytes) => {
                bytes.get(bounds.start(row) as usize..bounds.start(row + 1) as usize)
            }
            Self::Categories(texts, index) => {
                let at = usize::try_from(*index.get(row as usize)?).ok()?;
                texts.get(at).map(String::as_bytes)
            }
        }
    }
}

/// Rows of an option's content, which are negative for missing values.
enum OptionIndex<'a> {
    /// No value is missing, and the first row is this one.
    All(u64),
    Rows(Cow<'a, [i64]>, usize),
}

impl OptionIndex<'_> {
    fn at(&self, row: u64) -> i64 {
        match self {
            Self::All(start) => i64::try_from(start + row).unwrap_or(i64::MAX),
            Self::Rows(index, start) => index.get(start + row as usize).copied().unwrap_or(-1),
        }
    }
}

impl<'x, 'd> Side<'x, 'd> {
    /// Returns the value at a row as a line of text.
    fn shown(self, row: u64) -> String {
        let Some(end) = (self.start + row).checked_add(1) else { return String::new() };
        let array = Array { form: self.form.clone(), length: end, columns: self.array.columns.clone() };
        let lines = array.preview(end - 1..end, SHOWN).lines();
        lines.map_or_else(|error| safe_text(&error.to_string()).into_owned(), |lines| lines.concat())
    }

    fn end(self, rows: u64) -> Result<u64, Invalid> {
        self.start.checked_add(rows).ok_or(Invalid::Overflow { rows, each: 1 })
    }

    fn numbers(self, rows: u64, meaning: Option<LogicalType>) -> Result<NumberColumn<'d>, Invalid> {
        let Form::Numpy { key, dtype, .. } = self.form else { return Err(Invalid::Deep) };
        let column = self.lookup.column(key, "data", *dtype, self.end(rows)?)?;
        Ok(NumberColumn::new(column, self.start as usize, meaning))
    }

    fn option_index(self, rows: u64) -> Result<OptionIndex<'d>, Invalid> {
        let Form::Option { key, .. } = self.form else { return Ok(OptionIndex::All(self.start)) };
        let end = self.end(rows)?;
        if self.lookup.column(key, "index", DType::Int64, end)?.counts_up() {
            return Ok(OptionIndex::All(self.start));
        }
        Ok(OptionIndex::Rows(self.lookup.integers(key, "index", end)?, self.start as usize))
    }

    /// Returns the side at the value of a union at a row; of other types, at the row itself.
    fn alternative(self, row: u64) -> Result<Self, Invalid> {
        let Form::Union { key, contents } = self.form else {
            return Ok(Self { start: self.start + row, ..self });
        };
        let end = self.end(row + 1)?;
        let wrong = |part| Invalid::Range { key: format!("{key}-{part}"), row: end - 1 };
        let tags = self.lookup.column(key, "tags", DType::Int8, end)?;
        let index = self.lookup.column(key, "index", DType::Int64, end)?;
        let at = (end - 1) as usize;
        let tag = tags.item::<i8>(at).and_then(|tag| usize::try_from(tag).ok());
        let form = tag.and_then(|tag| contents.get(tag)).ok_or_else(|| wrong("tags"))?;
        let start =
            index.item::<i64>(at).and_then(|at| u64::try_from(at).ok()).ok_or_else(|| wrong("index"))?;
        Ok(Self { form, start, ..self })
    }

    /// Returns the Form of the items of lists.
    fn items(self) -> Cow<'x, Form> {
        match self.form {
            Form::List { content, .. } => Cow::Borrowed(content),
            other => other.fixed().map_or(Cow::Borrowed(other), |(_, content)| content),
        }
    }

    /// Returns the bounds of the lists in some rows; `None` if the values are not lists.
    fn bounds(self, rows: u64) -> Result<Option<Bounds<'d>>, Invalid> {
        if let Form::List { key, .. } = self.form {
            return self.offsets(key, rows).map(Some);
        }
        let Some((size, _)) = self.form.fixed() else { return Ok(None) };
        let end = self.end(rows)?;
        end.checked_mul(size).ok_or(Invalid::Overflow { rows: end, each: size })?;
        Ok(Some(Bounds::Fixed { first: self.start, size }))
    }

    fn offsets(self, key: &str, rows: u64) -> Result<Bounds<'d>, Invalid> {
        let end = self.end(rows)?.checked_add(1).ok_or(Invalid::Overflow { rows, each: 1 })?;
        let all = self.lookup.integers(key, "offsets", end)?;
        let start = self.start as usize;
        let wrong = |row: usize| Invalid::Backwards { key: format!("{key}-offsets"), row: row as u64 };
        let own = &all[start..];
        if own.first().is_some_and(|first| *first < 0) {
            return Err(wrong(start));
        }
        match own.windows(2).position(|pair| pair[0] > pair[1]) {
            Some(row) => Err(wrong(start + row)),
            None => Ok(Bounds::Offsets(match all {
                Cow::Borrowed(all) => Cow::Borrowed(&all[start..]),
                Cow::Owned(all) => Cow::Owned(all[start..].to_vec()),
            })),
        }
    }

    fn texts(self, rows: u64) -> Result<Texts<'x>, Invalid>
    where
        'd: 'x,
    {
        match self.form {
            Form::Categorical { key, categories } => {
                let end = self.end(rows)?;
                let index = self.lookup.column(key, "index", DType::Int32, end)?;
                let index = (self.start..end).filter_map(|at| index.item(at as usize)).collect();
                Ok(Texts::Categories(categories, index))
            }
            Form::String { key, .. } => {
                let bounds = self.offsets(key, rows)?;
                let bytes = self.lookup.column(key, "data", DType::UInt8, bounds.start(rows))?.as_bytes();
                Ok(Texts::Bytes(bounds, bytes))
            }
            _ => Err(Invalid::Deep),
        }
    }
}
