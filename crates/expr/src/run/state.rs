//! State of a run while it computes some entries.

use super::{
    element::{self, Numbers},
    input::{Prepared, Texts, Values},
    lists::{self, Lists},
};
use crate::{
    buffer::{Buffer, Item, Slice},
    error::{Error, Fault},
    program::{CONSTANT, ENTRIES, Made, Program, Register, Space, SpaceId, Step},
    scalar::Typed,
    syntax::Binary,
};
use std::ops::Range;

/// State of a run while it computes some entries.
pub(super) struct Run<'p> {
    pub(super) program: &'p Program,
    pub(super) inputs: &'p [Prepared<'p>],
    /// Items of each space, as indexes into the column that contains them.
    pub(super) ranges: Vec<Range<usize>>,
    /// Ends of the lists of spaces that are computed, such as filtered lists.
    pub(super) kept: Vec<Vec<i64>>,
    pub(super) registers: Vec<Buffer>,
}

impl<'p> Run<'p> {
    pub(super) fn new(program: &'p Program, inputs: &'p [Prepared<'p>]) -> Self {
        let register = |made: &Made| Buffer::new(made.step.kind().dtype(), 0);
        Self {
            program,
            inputs,
            ranges: vec![0..0; program.spaces.len()],
            kept: vec![Vec::new(); program.spaces.len()],
            registers: program.steps.iter().map(register).collect(),
        }
    }

    /// Sets the ranges of items for a range of entries.
    pub(super) fn ranges(&mut self, entries: Range<usize>) {
        for (at, space) in self.program.spaces.iter().enumerate() {
            let range = match space {
                Space::Constant => 0..1,
                Space::Entries => entries.clone(),
                Space::Lists { parent, input, level } => {
                    let parent = self.ranges[*parent as usize].clone();
                    match self.offsets(*input, *level) {
                        Some(offsets) => offsets[parent.start] as usize..offsets[parent.end] as usize,
                        None => 0..0,
                    }
                }
                Space::Regular { parent, size } => {
                    let parent = &self.ranges[*parent as usize];
                    parent.start * *size as usize..parent.end * *size as usize
                }
                // Set when the lists are computed.
                Space::Kept { .. } | Space::Flat { .. } => 0..0,
            };
            self.ranges[at] = range;
        }
    }

    pub(super) fn offsets(&self, input: u32, level: u32) -> Option<&'p [i64]> {
        let levels = &self.inputs.get(input as usize)?.levels;
        levels.get(level as usize)?.as_ref().map(|offsets| &*offsets.items)
    }

    pub(super) fn lists(&self, space: SpaceId) -> Lists<'_> {
        match &self.program.spaces[space as usize] {
            Space::Lists { parent, input, level } => {
                let parent = self.ranges[*parent as usize].clone();
                let offsets = self.offsets(*input, *level).unwrap_or_default();
                Lists::Offsets(&offsets[parent.start..=parent.end])
            }
            Space::Regular { parent, size } => {
                Lists::Regular { count: self.ranges[*parent as usize].len(), size: *size as usize }
            }
            Space::Kept { .. } | Space::Flat { .. } => Lists::Offsets(&self.kept[space as usize]),
            Space::Constant | Space::Entries => Lists::Offsets(&[]),
        }
    }

    pub(super) fn steps(&mut self) -> Result<(), Error> {
        for (at, made) in self.program.steps.iter().enumerate() {
            let mut out = std::mem::replace(&mut self.registers[at], Buffer::UInt8(Vec::new()));
            let done = self.step(made, &mut out);
            self.registers[at] = out;
            done?;
        }
        Ok(())
    }

    /// Returns the numbers of a register: the result of a step, or a part of a column.
    pub(super) fn numbers(&self, register: Register) -> Numbers<'_> {
        let made = &self.program.steps[register as usize];
        let range = || self.ranges[made.space as usize].clone();
        let there = |valid: Option<&'p [u8]>| Slice::UInt8(valid.map_or(&[], |valid| &valid[range()]));
        let slice = match &made.step {
            Step::Load { input, .. } => {
                let numbers = self.inputs[*input as usize].values.numbers();
                numbers.map_or(Slice::UInt8(&[]), |numbers| numbers.range(range()))
            }
            Step::Valid { input } => there(self.inputs[*input as usize].valid.as_deref()),
            Step::ListsValid { input, level } => {
                there(self.inputs[*input as usize].lists.get(*level as usize).and_then(Option::as_deref))
            }
            _ => self.registers[register as usize].slice(),
        };
        if made.space == CONSTANT { Numbers::One(slice) } else { Numbers::Many(slice) }
    }

    pub(super) fn booleans(&self, register: Register) -> &[u8] {
        u8::in_slice(self.numbers(register).slice())
    }

    pub(super) fn step(&mut self, made: &Made, out: &mut Buffer) -> Result<(), Error> {
        match &made.step {
            Step::Load { .. } | Step::Valid { .. } | Step::ListsValid { .. } => {}
            Step::Constant(typed) => {
                if out.len() != 1 {
                    *out = constant(*typed);
                }
            }
            Step::Unary { operation, dtype, x } => element::unary(*operation, *dtype, self.numbers(*x), out),
            Step::Binary { operation, dtype, x, y } => {
                let done = element::binary(*operation, *dtype, self.numbers(*x), self.numbers(*y), out);
                if let Err(at) = done {
                    return Err(self.error(
                        made,
                        at,
                        "an integer to a negative power: convert it by float64()",
                    ));
                }
            }
            Step::Mixed { operation, signed, unsigned } => {
                element::mixed(*operation, self.numbers(*signed), self.numbers(*unsigned), out);
            }
            Step::Texts { operation, x, y } => self.compare(*operation, *x, Err(*y), out),
            Step::TextWith { operation, x, text } => self.compare(*operation, *x, Ok(text.as_bytes()), out),
            Step::TextHas { x, part } => self.contains(*x, part.as_bytes(), out),
            Step::Where { dtype, condition, x, y } => {
                element::choose(*dtype, self.numbers(*condition), self.numbers(*x), self.numbers(*y), out);
            }
            Step::Cast { from, to, x } => element::cast(*from, *to, self.numbers(*x), out),
            Step::Expand { dtype, x, to } => {
                lists::expand(*dtype, self.numbers(*x).slice(), self.lists(*to), out)
            }
            Step::Reduce { by, dtype, x, valid, of } => {
                let valid = valid.map(|valid| self.booleans(valid));
                lists::reduce(*by, *dtype, self.numbers(*x).slice(), valid, self.lists(*of), out);
            }
            Step::Some { valid, of } => {
                lists::some(valid.map(|valid| self.booleans(valid)), self.lists(*of), out);
            }
            Step::Item { dtype, position, x, of } => {
                lists::item(*dtype, *position, self.numbers(*x).slice(), self.lists(*of), out);
            }
            Step::Index { of, within } => lists::index(&self.ends(*of, *within), out),
            Step::Has { position, of } => lists::has(*position, self.lists(*of), out),
            Step::Lists { of } => match self.program.spaces[*of as usize] {
                Space::Kept { of: whole, condition, lists: left, .. } => {
                    let mut kept = std::mem::take(&mut self.kept[*of as usize]);
                    let left = left.map(|left| self.booleans(left));
                    lists::kept(self.booleans(condition), left, self.lists(whole), &mut kept);
                    self.ranges[*of as usize] = 0..kept.last().map_or(0, |end| *end as usize);
                    self.kept[*of as usize] = kept;
                }
                Space::Regular { parent, size } => {
                    self.ranges[*of as usize] = 0..self.ranges[parent as usize].len() * size as usize;
                }
                Space::Flat { of: inner, within, .. } => {
                    let ends = self.ends(inner, within);
                    self.ranges[*of as usize] = 0..ends.last().map_or(0, |end| *end as usize);
                    self.kept[*of as usize] = ends;
                }
                Space::Constant | Space::Entries | Space::Lists { .. } => {}
            },
            Step::Keep { dtype, x, condition, .. } => {
                lists::keep(*dtype, self.numbers(*x).slice(), self.booleans(*condition), out);
            }
            Step::Same { a, b } => {
                if let Some((list, one, other)) = self.lists(*a).differs(self.lists(*b)) {
                    let what = format!("a list of {one} items meets a list of {other}");
                    return Err(self.error_in(made, *a, list, &what));
                }
            }
        }
        Ok(())
    }

    /// Returns 0 and the end of the items of a space for each row of an outer space.
    fn ends(&self, of: SpaceId, within: SpaceId) -> Vec<i64> {
        let parent = self.program.spaces[of as usize].parent();
        let inner = self.lists(of).ends();
        match parent {
            Some(parent) if parent != within => {
                let outer = self.ends(parent, within);
                outer.into_iter().map(|end| inner.get(end as usize).copied().unwrap_or(0)).collect()
            }
            _ => inner,
        }
    }

    fn contains(&self, x: Register, part: &[u8], out: &mut Buffer) {
        let out = u8::in_buffer(out);
        out.clear();
        let Some((texts, range)) = self.texts(x) else { return };
        let has = |text: &[u8]| part.is_empty() || text.windows(part.len()).any(|window| window == part);
        out.extend(range.map(|at| u8::from(has(texts.get(at)))));
    }

    /// Returns the texts of a register, and the range of rows that is computed.
    fn texts(&self, register: Register) -> Option<(&Texts<'p>, Range<usize>)> {
        let made = &self.program.steps[register as usize];
        let Step::Load { input, .. } = made.step else { return None };
        let Values::Text(texts) = &self.inputs[input as usize].values else { return None };
        Some((texts, self.ranges[made.space as usize].clone()))
    }

    pub(super) fn compare(
        &self,
        operation: Binary,
        x: Register,
        y: Result<&[u8], Register>,
        out: &mut Buffer,
    ) {
        let out = u8::in_buffer(out);
        out.clear();
        let Some((left, range)) = self.texts(x) else { return };
        let holds = |a: &[u8], b: &[u8]| u8::from(operation.holds(a.cmp(b)));
        match y {
            Ok(text) => out.extend(range.map(|at| holds(left.get(at), text))),
            Err(register) => {
                let Some((right, others)) = self.texts(register) else { return };
                out.extend(range.zip(others).map(|(a, b)| holds(left.get(a), right.get(b))));
            }
        }
    }

    /// Creates an error about an item of a step.
    pub(super) fn error(&self, made: &Made, item: usize, what: &str) -> Error {
        match self.program.spaces[made.space as usize].parent() {
            Some(_) => self.error_in(made, made.space, self.lists(made.space).list_of(item), what),
            None => self.error_at(made, item, what),
        }
    }

    /// Creates an error about a list of a space.
    pub(super) fn error_in(&self, made: &Made, space: SpaceId, list: usize, what: &str) -> Error {
        let (mut space, mut row) = (space, list);
        let around = |space: SpaceId| self.program.spaces[space as usize].parent();
        while let Some(parent) = around(space).filter(|parent| *parent != ENTRIES) {
            row = self.lists(parent).list_of(row);
            space = parent;
        }
        self.error_at(made, row, what)
    }

    pub(super) fn error_at(&self, made: &Made, row: usize, what: &str) -> Error {
        let text = &self.program.texts[made.text as usize];
        let error = Fault::new(made.at, what).within(&text.text, text.alias.as_deref());
        Error { entry: Some((self.ranges[ENTRIES as usize].start + row) as u64), ..error }
    }
}

fn constant(typed: Typed) -> Buffer {
    use crate::buffer::with_type;
    use forthwith_columns::Native;
    let bytes = typed.bits.to_le_bytes();
    with_type!(typed.dtype, T => {
        let mut own = bytes[..size_of::<T>()].to_vec();
        if cfg!(target_endian = "big") {
            own.reverse();
        }
        T::buffer(T::from_bytes(&own).into_iter().collect())
    })
}
