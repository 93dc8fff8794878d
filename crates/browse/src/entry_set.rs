//! Sets of entries that take at most one bit for each entry of the table, and less for consecutive entries.
//!
//! A set is a list of segments. A segment is either a run of any length, or the members of a block of 65 536
//! entries in the smallest of three encodings: runs, a list, or a bitmap.

use std::ops::Range;

/// Number of entries of a block.
const BLOCK: u64 = 1 << 16;
/// Number of 64-bit words of the bitmap of a block.
const WORDS: usize = (BLOCK / 64) as usize;

/// Set of entries in ascending order, with access by position and by entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntrySet {
    segments: Vec<Segment>,
    /// First entry that can be added.
    end: u64,
}

/// Run of consecutive entries, or members of a block.
#[derive(Clone, Debug)]
struct Segment {
    /// First entry of the run or of the block.
    first: u64,
    /// Number of members of the previous segments.
    before: u64,
    count: u64,
    members: Members,
}

/// Members of a segment, relative to its first entry.
#[derive(Clone, Debug)]
enum Members {
    /// All entries of a run, which may span several blocks.
    All,
    /// First and last member of each run.
    Runs(Vec<(u16, u16)>),
    List(Vec<u16>),
    Bits(Box<[u64; WORDS]>),
}

impl EntrySet {
    /// Creates a set from a list in ascending order.
    pub(crate) fn of(entries: &[u64]) -> Self {
        let mut set = Self::default();
        let mut rest = entries;
        while let [first, ..] = rest {
            let length = (1..rest.len()).find(|at| rest[*at] != *first + *at as u64).unwrap_or(rest.len());
            set.push(*first..*first + length as u64);
            rest = &rest[length..];
        }
        set
    }

    /// Returns the number of members.
    pub(crate) fn len(&self) -> u64 {
        self.segments.last().map_or(0, |last| last.before + last.count)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the member at a position.
    pub(crate) fn get(&self, position: u64) -> Option<u64> {
        if position >= self.len() {
            return None;
        }
        let at = self.segments.partition_point(|segment| segment.before <= position).checked_sub(1)?;
        let segment = self.segments.get(at)?;
        segment.get(position - segment.before)
    }

    /// Returns the number of members before an entry.
    pub(crate) fn rank(&self, entry: u64) -> u64 {
        let at = self.segments.partition_point(|segment| segment.first <= entry);
        let segment = at.checked_sub(1).and_then(|at| self.segments.get(at));
        segment.map_or(0, |segment| segment.before + segment.rank(entry))
    }

    /// Returns the members at a range of positions.
    pub(crate) fn slice(&self, positions: Range<u64>) -> Vec<u64> {
        let end = positions.end.min(self.len());
        let mut at = positions.start;
        let mut found = Vec::new();
        let first = self.segments.partition_point(|segment| segment.before + segment.count <= at);
        for segment in self.segments.iter().skip(first) {
            if at >= end {
                break;
            }
            let within = at - segment.before..(end - segment.before).min(segment.count);
            at += within.end.saturating_sub(within.start);
            segment.append(within, &mut found);
        }
        found
    }

    /// Adds a range of entries; those before the end of the set are ignored.
    pub(crate) fn push(&mut self, entries: Range<u64>) {
        let mut start = entries.start.max(self.end);
        self.end = self.end.max(entries.end);
        while start < entries.end {
            let block = start - start % BLOCK;
            let behind = block.checked_add(BLOCK);
            if start == block && behind.is_some_and(|behind| entries.end >= behind) {
                let end = entries.end - entries.end % BLOCK;
                self.push_run(start..end);
                start = end;
            } else {
                let end = behind.map_or(entries.end, |behind| entries.end.min(behind));
                self.push_part(block, start..end);
                start = end;
            }
        }
    }

    /// Adds the members of another set, all of which must be after those of this one.
    pub(crate) fn append(&mut self, other: Self) {
        for segment in other.segments {
            let is_new_block = self.segments.last().is_none_or(|last| last.end() <= segment.first);
            match &segment.members {
                Members::All => self.push(segment.first..segment.first.saturating_add(segment.count)),
                _ if is_new_block => {
                    self.seal();
                    let before = self.len();
                    let last = segment.count.checked_sub(1).and_then(|last| segment.get(last));
                    self.end = last.map_or(self.end, |last| last + 1);
                    self.segments.push(Segment { before, ..segment });
                }
                _ => segment.runs(|run| self.push(run)),
            }
        }
    }

    /// Adds a run of whole blocks.
    fn push_run(&mut self, run: Range<u64>) {
        self.seal();
        let count = run.end - run.start;
        match self.segments.last_mut() {
            Some(last) if last.is_run() && last.first + last.count == run.start => last.count += count,
            _ => {
                let before = self.len();
                self.segments.push(Segment { first: run.start, before, count, members: Members::All });
            }
        }
    }

    /// Adds entries of one block.
    fn push_part(&mut self, block: u64, part: Range<u64>) {
        let ends = ((part.start - block) as u16, (part.end - 1 - block) as u16);
        if self.segments.last().is_none_or(|last| last.is_run() || last.first != block) {
            self.seal();
            let before = self.len();
            self.segments.push(Segment {
                first: block,
                before,
                count: 0,
                members: Members::Runs(Vec::new()),
            });
        }
        let Some(last) = self.segments.last_mut() else { return };
        last.open();
        last.count += part.end - part.start;
        if let Members::Runs(runs) = &mut last.members {
            match runs.last_mut() {
                Some(run) if run.1.checked_add(1) == Some(ends.0) => run.1 = ends.1,
                _ => runs.push(ends),
            }
        }
    }

    /// Encodes the last block, to which nothing more will be added.
    fn seal(&mut self) {
        let Some(last) = self.segments.last_mut() else { return };
        if last.count < BLOCK || last.is_run() {
            last.compact();
            return;
        }
        let run = last.first..last.first + BLOCK;
        self.segments.pop();
        match self.segments.last_mut() {
            Some(last) if last.is_run() && last.first + last.count == run.start => last.count += BLOCK,
            _ => {
                let before = self.len();
                self.segments.push(Segment { first: run.start, before, count: BLOCK, members: Members::All });
            }
        }
    }
}

impl Segment {
    const fn is_run(&self) -> bool {
        matches!(self.members, Members::All)
    }

    /// Returns the end of the run or of the block.
    const fn end(&self) -> u64 {
        self.first.saturating_add(if self.is_run() { self.count } else { BLOCK })
    }

    fn get(&self, position: u64) -> Option<u64> {
        let mut left = position;
        let low = match &self.members {
            Members::All => position,
            Members::List(list) => u64::from(*list.get(usize::try_from(position).ok()?)?),
            Members::Runs(runs) => {
                let run = runs.iter().find(|run| {
                    let length = u64::from(run.1 - run.0) + 1;
                    let is_inside = left < length;
                    left -= if is_inside { 0 } else { length };
                    is_inside
                })?;
                u64::from(run.0) + left
            }
            Members::Bits(words) => {
                let at = words.iter().position(|word| {
                    let ones = u64::from(word.count_ones());
                    let is_inside = left < ones;
                    left -= if is_inside { 0 } else { ones };
                    is_inside
                })?;
                let mut word = words[at];
                (0..left).for_each(|_| word &= word - 1);
                at as u64 * 64 + u64::from(word.trailing_zeros())
            }
        };
        Some(self.first + low)
    }

    fn rank(&self, entry: u64) -> u64 {
        let low = entry - self.first;
        match &self.members {
            Members::All => low.min(self.count),
            _ if low >= BLOCK => self.count,
            Members::List(list) => list.partition_point(|member| u64::from(*member) < low) as u64,
            Members::Runs(runs) => {
                let before = runs.iter().take_while(|run| u64::from(run.0) < low);
                before.map(|run| (u64::from(run.1) + 1).min(low) - u64::from(run.0)).sum()
            }
            Members::Bits(words) => {
                let (at, bit) = ((low / 64) as usize, low % 64);
                let whole: u64 = words[..at].iter().map(|word| u64::from(word.count_ones())).sum();
                whole + u64::from((words[at] & ((1 << bit) - 1)).count_ones())
            }
        }
    }

    /// Appends the members at a range of positions to `found`.
    fn append(&self, positions: Range<u64>, found: &mut Vec<u64>) {
        if self.is_run() {
            found.extend(self.first + positions.start..self.first + positions.end);
            return;
        }
        let mut at = 0;
        self.runs(|run| {
            let length = run.end - run.start;
            let (start, end) = (positions.start.max(at), positions.end.min(at + length));
            if start < end {
                found.extend(run.start + (start - at)..run.start + (end - at));
            }
            at += length;
        });
    }

    /// Calls `take` with runs of consecutive members, which may be adjacent.
    fn runs(&self, mut take: impl FnMut(Range<u64>)) {
        match &self.members {
            Members::All => take(self.first..self.first + self.count),
            Members::Runs(runs) => {
                runs.iter()
                    .for_each(|run| take(self.first + u64::from(run.0)..self.first + u64::from(run.1) + 1));
            }
            Members::List(list) => {
                list.iter()
                    .for_each(|low| take(self.first + u64::from(*low)..self.first + u64::from(*low) + 1));
            }
            Members::Bits(words) => {
                for (at, word) in words.iter().enumerate() {
                    let (mut word, first) = (*word, self.first + at as u64 * 64);
                    while word != 0 {
                        let low = word.trailing_zeros();
                        let ones = (word >> low).trailing_ones();
                        take(first + u64::from(low)..first + u64::from(low + ones));
                        word &= u64::MAX.checked_shl(low + ones).unwrap_or(0);
                    }
                }
            }
        }
    }

    /// Converts the members of a block to runs, so that more can be added.
    fn open(&mut self) {
        if matches!(self.members, Members::Runs(_) | Members::All) {
            return;
        }
        let mut runs: Vec<(u16, u16)> = Vec::new();
        self.runs(|run| {
            let ends = ((run.start - self.first) as u16, (run.end - 1 - self.first) as u16);
            match runs.last_mut() {
                Some(last) if last.1.checked_add(1) == Some(ends.0) => last.1 = ends.1,
                _ => runs.push(ends),
            }
        });
        self.members = Members::Runs(runs);
    }

    /// Converts the members of a block to the smallest encoding.
    fn compact(&mut self) {
        let Members::Runs(runs) = &mut self.members else { return };
        let (as_runs, as_list) = (runs.len() * 4, self.count as usize * 2);
        if as_runs <= as_list.min(WORDS * 8) {
            runs.shrink_to_fit();
        } else if as_list <= WORDS * 8 {
            let mut list = Vec::with_capacity(self.count as usize);
            list.extend(runs.iter().flat_map(|run| run.0..=run.1));
            self.members = Members::List(list);
        } else {
            let mut words = Box::new([0u64; WORDS]);
            runs.iter()
                .flat_map(|run| run.0..=run.1)
                .for_each(|low| words[usize::from(low / 64)] |= 1 << (low % 64));
            self.members = Members::Bits(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Xorshift generator, reproducible from its seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % end
        }
    }

    /// Returns the number of bytes that the members take.
    fn memory(set: &EntrySet) -> usize {
        let bytes = |segment: &Segment| match &segment.members {
            Members::All => 0,
            Members::Runs(runs) => runs.capacity() * 4,
            Members::List(list) => list.capacity() * 2,
            Members::Bits(_) => WORDS * 8,
        };
        set.segments.capacity() * size_of::<Segment>() + set.segments.iter().map(bytes).sum::<usize>()
    }

    fn compare(set: &EntrySet, list: &[u64], random: &mut Random) {
        assert_eq!(set.len(), list.len() as u64);
        assert_eq!(set.is_empty(), list.is_empty());
        assert_eq!(set.slice(0..u64::MAX), list);
        for _ in 0..50 {
            let start = random.below(list.len() as u64 + 2);
            let end = start + random.below(200);
            let (from, to) = ((start as usize).min(list.len()), (end as usize).min(list.len()));
            assert_eq!(set.slice(start..end), list[from..to]);
            assert_eq!(set.get(start), list.get(start as usize).copied());
            let entry = random.below(list.last().map_or(9, |last| last + 9));
            assert_eq!(set.rank(entry), list.partition_point(|other| *other < entry) as u64);
        }
    }

    #[test]
    fn sets_are_the_lists_that_they_were_made_of() {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for round in 0..80 {
            let (mut set, mut list) = (EntrySet::default(), Vec::new());
            let mut next = random.below(3) * random.below(200_000);
            let (gap, run) =
                (1 + random.below([2, 5, 100, 90_000][round % 4]), [1, 3, 400, 150_000][round / 4 % 4]);
            for _ in 0..1 + random.below(12) {
                let mut part = Vec::new();
                for _ in 0..random.below(300) {
                    let length = 1 + random.below(run);
                    if part.len() + list.len() > 200_000 {
                        break;
                    }
                    part.extend(next..next + length);
                    next += length + random.below(gap);
                }
                set.append(EntrySet::of(&part));
                list.extend(part);
            }
            compare(&set, &list, &mut random);
        }
    }

    #[test]
    fn a_set_of_all_entries_is_one_run_however_it_was_found() {
        let mut set = EntrySet::default();
        let mut at = 0;
        let mut random = Random(77);
        while at < 100_000_000 {
            let end = at + 1 + random.below(200_000);
            let mut part = EntrySet::default();
            part.push(at..end);
            set.append(part);
            at = end;
        }
        assert_eq!(
            (set.len(), set.get(99_999_999), set.rank(12_345_678)),
            (at, Some(99_999_999), 12_345_678)
        );
        assert!(memory(&set) < 4096, "{}", memory(&set));
        let mut set = EntrySet::default();
        set.push(5..u64::MAX - 1);
        assert_eq!((set.len(), set.get(1 << 62)), (u64::MAX - 6, Some((1 << 62) + 5)));
    }

    #[test]
    fn a_set_takes_a_bit_for_each_entry_at_most() {
        for step in [2u64, 3, 7, 40, 70_000] {
            let entries: Vec<u64> = (0..4_000_000).step_by(step as usize).collect();
            let set = EntrySet::of(&entries);
            let blocks = 4_000_000 / BLOCK as usize + 1;
            let most = (4_000_000 / 8).min(entries.len() * 2) + 256 * blocks + 8192;
            assert!(memory(&set) <= most, "{step}: {} of {most}", memory(&set));
        }
    }
}
