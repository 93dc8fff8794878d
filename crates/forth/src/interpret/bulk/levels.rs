//! Repetition and definition levels → offsets, validity or an index.
//!
//! The levels are looked at sixty-four at a time: comparing gives one mask of the slots that begin and one of
//! the items that are there, and what is written follows from the masks alone. Room is made for the slots of
//! each mask before they are written, so that levels which change meanwhile cannot make more of them than
//! there is room for.

use crate::DType;
use crate::error::RunError;
use crate::isa::BulkWord;
use crate::output::Outputs;
#[cfg(target_arch = "x86_64")]
use forthwith_kernels::Generation;
use forthwith_kernels::levels::{self, Block, Compare, Signed, ends_of_slots, index_of_slots};
use forthwith_kernels::settled::Held;
use forthwith_kernels::{CpuFeatures, compiled_for};

/// Which levels make a slot, and which an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Slots: highest repetition level and lowest definition level.
    slot: (u8, u8),
    /// The same for items.
    item: (u8, u8),
    /// Whether any level at all can make a slot, or an item.
    any: (bool, bool),
}

impl Rule {
    /// A slot is where the repetition level is at most `k` and the definition level at least `p`; an item is
    /// where the definition level is at least `d`: in a slot, or (lists) one level of repetition deeper.
    pub(super) fn new(word: BulkWord, k: i64, p: i64, d: i64) -> Self {
        let deeper = k.saturating_add(i64::from(word == BulkWord::Offsets));
        let byte = |level: i64| level.clamp(0, 255) as u8;
        Self {
            slot: (byte(k), byte(p)),
            item: (byte(deeper), byte(d)),
            any: (k >= 0 && p <= 255, deeper >= 0 && d <= 255),
        }
    }
}

/// The buffers that one word works on.
pub(super) struct Levels<'a> {
    pub(super) definition: &'a [u8],
    /// As many as definition levels; None is all 0.
    pub(super) repetition: Option<&'a [u8]>,
    pub(super) rule: Rule,
}

impl Levels<'_> {
    /// Appends to the output and tells the number of items; after an error nothing has changed.
    pub(super) fn write(
        &self,
        outputs: &mut Outputs,
        index: usize,
        word: BulkWord,
        first: i64,
    ) -> Result<u64, RunError> {
        macro_rules! level {
            ($generation:ident $compare:ident) => {{
                compiled_for! {
                    $generation
                    fn level(
                        levels: &Levels<'_>,
                        outputs: &mut Outputs,
                        index: usize,
                        word: BulkWord,
                        first: i64,
                    ) -> Result<u64, RunError> {
                        levels.run::<levels::$compare>(outputs, index, word, first)
                    }
                }
                // SAFETY: the processor has what its features say.
                #[allow(unused_unsafe, reason = "the baseline has no features")]
                unsafe {
                    level(self, outputs, index, word, first)
                }
            }};
        }
        match CpuFeatures::current().generation() {
            #[cfg(target_arch = "x86_64")]
            Generation::Avx512 => level!(Avx512 Avx512),
            #[cfg(target_arch = "x86_64")]
            Generation::Avx2 => level!(Avx2 Avx2),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Generation::Baseline => level!(Baseline Sse2),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            _ => level!(Baseline Portable),
        }
    }

    #[inline(always)]
    fn run<C: Compare>(
        &self,
        outputs: &mut Outputs,
        index: usize,
        word: BulkWord,
        first: i64,
    ) -> Result<u64, RunError> {
        let output = &outputs.list[index];
        let (dtype, end, last) = (output.dtype(), output.end, output.last());
        let written = match (word, dtype) {
            (BulkWord::Valid, _) => self.valid::<C>(outputs, index),
            (BulkWord::Index, DType::Int32) => self.index::<C, i32>(outputs, index, first),
            (BulkWord::Index, _) => self.index::<C, i64>(outputs, index, first),
            (_, DType::Int32) => self.offsets::<C, i32>(outputs, index),
            _ => self.offsets::<C, i64>(outputs, index),
        };
        if written.is_err() {
            let output = &mut outputs.list[index];
            output.end = end;
            if end > 0 {
                // Offsets go on in the last one.
                output.rewrite_last(last);
            }
        }
        written
    }

    /// The last offset counts the items of the last list: a slot begins with a copy of it.
    #[inline(always)]
    fn offsets<C: Compare, T: Signed>(&self, outputs: &mut Outputs, index: usize) -> Result<u64, RunError> {
        let before = T::from_item(outputs.list[index].last());
        let mut items = 0_u64;
        // In an empty column the count in progress stands nowhere until the first slot.
        let mut nowhere = outputs.list[index].is_empty();
        self.blocks::<C>(|_, slot, item| {
            // An item of no list: there is no offset to count it in.
            if nowhere && item & lowest(slot).wrapping_sub(1) != 0 {
                return Err(RunError::RewindBeyond);
            }
            let bytes = slot.count_ones() as usize * size_of::<T>();
            outputs.reserve(index, bytes)?;
            let output = &mut outputs.list[index];
            // SAFETY: the end, or the last item of a column that has one.
            let mut to = unsafe { output.start.add(output.end - if nowhere { 0 } else { size_of::<T>() }) }
                .cast::<T>();
            let mut rest = slot;
            if nowhere && rest != 0 {
                rest &= rest - 1;
                nowhere = false;
            }
            // SAFETY: one item for each slot of this mask but the one in progress; room was made for all of
            // them.
            unsafe {
                ends_of_slots(rest, item, before.plus(items), to);
                to = to.add(rest.count_ones() as usize);
            }
            items += u64::from(item.count_ones());
            if !nowhere {
                // SAFETY: as above; this is the slot in progress.
                unsafe { to.write_unaligned(before.plus(items)) };
            }
            output.end += bytes;
            Ok(())
        })?;
        Ok(items)
    }

    #[inline(always)]
    fn valid<C: Compare>(&self, outputs: &mut Outputs, index: usize) -> Result<u64, RunError> {
        let mut items = 0;
        let (bound, any) = (self.rule.item.1, u8::from(self.rule.any.1));
        self.blocks::<C>(|block, slot, item| {
            let there = slot & item;
            let slots = slot.count_ones() as usize;
            outputs.reserve(index, slots)?;
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory.
            let mut to = unsafe { output.start.add(output.end) };
            items += u64::from(there.count_ones());
            output.end += slots;
            if slot == u64::MAX {
                // Indices, since what iterators call need not be compiled with the instructions of this
                // level.
                let mut flags = [0; 64];
                #[allow(clippy::needless_range_loop, reason = "as the comment says")]
                for at in 0..64 {
                    flags[at] = u8::from(block[at] >= bound) & any;
                }
                // SAFETY: sixty-four slots, for which room was made.
                unsafe { to.cast::<Block>().write_unaligned(flags) };
                return Ok(());
            }
            let mut rest = slot;
            while rest != 0 {
                // SAFETY: one item for each slot, for which room was made.
                unsafe {
                    to.write(u8::from(there & lowest(rest) != 0));
                    to = to.add(1);
                }
                rest &= rest - 1;
            }
            Ok(())
        })?;
        Ok(items)
    }

    #[inline(always)]
    fn index<C: Compare, T: Signed>(
        &self,
        outputs: &mut Outputs,
        index: usize,
        first: i64,
    ) -> Result<u64, RunError> {
        let first = T::from_item(first.to_ne_bytes());
        let mut items = 0;
        self.blocks::<C>(|_, slot, item| {
            let there = slot & item;
            let bytes = slot.count_ones() as usize * size_of::<T>();
            outputs.reserve(index, bytes)?;
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory.
            let to = unsafe { output.start.add(output.end) }.cast::<T>();
            output.end += bytes;
            // SAFETY: one item for each slot, for which room was made.
            unsafe { index_of_slots(slot, there, first.plus(items), to) };
            items += u64::from(there.count_ones());
            Ok(())
        })?;
        Ok(items)
    }

    /// Calls with the definition levels, the slots and the items of each block in turn, up to an error. What
    /// lies behind the end is neither. Each level is read once, however often it is looked at.
    #[inline(always)]
    fn blocks<C: Compare>(
        &self,
        mut block: impl FnMut(&Block, u64, u64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut padded = [[0; 64]; 2];
        // One place that calls, so that what is called is compiled into it, with its instructions.
        for at in (0..self.definition.len()).step_by(64) {
            let left = self.definition.len() - at;
            let (definition, repetition, inside) = if left < 64 {
                let [definition, repetition] = &mut padded;
                definition[..left].copy_from_slice(&self.definition[at..]);
                if let Some(levels) = self.repetition {
                    repetition[..left].copy_from_slice(&levels[at..]);
                }
                (&*definition, self.repetition.map(|_| &*repetition), (1 << left) - 1)
            } else {
                (cut(self.definition, at), self.repetition.map(|levels| cut(levels, at)), u64::MAX)
            };
            let (definition, repetition) = (Held::new(definition), repetition.map(Held::new));
            let (slot, item) = self.masks::<C>(&definition.0, repetition.as_ref().map(|held| &held.0));
            block(&definition.0, slot & inside, item & inside)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn masks<C: Compare>(&self, definition: &Block, repetition: Option<&Block>) -> (u64, u64) {
        let Rule { slot, item, any } = self.rule;
        // SAFETY: the features of `C` were found before it was chosen.
        let test = |(most, least), any| unsafe {
            let repeated = repetition.map_or(u64::MAX, |block| C::at_most(block, most));
            let defined = C::at_least(definition, least);
            if any { repeated & defined } else { 0 }
        };
        (test(slot, any.0), test(item, any.1))
    }
}

fn cut(levels: &[u8], at: usize) -> &Block {
    levels[at..at + 64].first_chunk().expect("sixty-four levels were cut out")
}

#[inline(always)]
fn lowest(mask: u64) -> u64 {
    mask & mask.wrapping_neg()
}
