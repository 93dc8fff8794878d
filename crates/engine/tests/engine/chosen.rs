//! Some entries of blocks alone are what the arrays of all entries have in these rows.

use crate::made::*;
use bytes::Bytes;
use forthwith_columns::Array;
use forthwith_columns::{DType, Encoding, Form};
use forthwith_io::{Callback, Source};
use forthwith_plan::{
    Block, BlockFormat, Decoder, Framing, Group, Kernel, Piece, Plan, Result, Scratch, Stored, Task,
};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The groups that kernels decode, of some of the entries.
fn plan(made: &Made, entries: Range<u64>) -> Plan {
    let kernels: Vec<u32> = (0..4)
        .filter(|group| matches!(made.plan.groups[*group as usize].decoder, Decoder::Kernel(_)))
        .collect();
    let mut plan = made.plan.clone();
    plan.entries = entries.clone();
    plan.groups = kernels.iter().map(|group| made.plan.groups[*group as usize].clone()).collect();
    plan.delivered = plan.groups.len() as u32;
    plan.tasks.retain_mut(|task| {
        let Some(at) = kernels.iter().position(|group| *group == task.group) else { return false };
        task.group = at as u32;
        task.wanted = task.wanted.start.max(entries.start)..task.wanted.end.min(entries.end);
        task.wanted.start < task.wanted.end
    });
    plan
}

fn runs(entries: &[u64]) -> Vec<Range<u64>> {
    entries.iter().map(|entry| *entry..entry + 1).collect()
}

fn same(found: &Array, whole: &Array, entries: &[u64]) {
    let expected = Array::gather(&[(whole, &runs(entries))]).unwrap();
    assert_eq!((&found.form, found.length), (&expected.form, expected.length));
    found.validate().unwrap();
    for (key, column) in &expected.columns {
        assert_eq!(found.column(key).unwrap().as_bytes(), column.as_bytes(), "{key} of {entries:?}");
    }
}

#[test]
fn chosen_entries_are_those_of_the_whole() {
    let (made, _) = make();
    let whole = engine().read(&plan(&made, 0..ENTRIES), &memory(&made.file), &Plain, None, None).unwrap();
    let mut state = 11;
    for round in 0..60_u64 {
        let start = next(&mut state) % ENTRIES;
        let all = start..start + 1 + next(&mut state) % (ENTRIES - start);
        // From nearly all of them to nearly none, and one after the other as well as alone.
        let one_in = 1 + round * round / 8;
        let mut entries: Vec<u64> = all
            .clone()
            .filter(|entry| (entry / 3 + round) % 4 == 0 || next(&mut state).is_multiple_of(one_in))
            .collect();
        entries.retain(|_| round % 3 > 0 || next(&mut state).is_multiple_of(one_in));
        let chosen = plan(&made, all).choosing(entries.clone().into()).unwrap();
        assert_eq!(chosen.rows(), entries.len() as u64);
        let sources: [Arc<dyn Source>; 3] = [
            memory(&made.file),
            Arc::new(Copying { file: made.file.clone(), distant: false }),
            Arc::new(Callback::new("slow", Box::new(Slow(made.file.clone())))),
        ];
        for source in sources {
            for threads in [1, 3] {
                let found = engine().read(&chosen, &source, &Plain, Some(threads), None).unwrap();
                found.iter().zip(&whole).for_each(|(found, whole)| same(found, whole, &entries));
            }
        }
    }
}

#[test]
fn blocks_without_chosen_entries_are_left_out() {
    let (made, _) = make();
    let all = plan(&made, 0..ENTRIES);
    let chosen = all.clone().choosing([5, 2000].into()).unwrap();
    assert_eq!(chosen.tasks.len(), 2 * chosen.groups.len());
    assert!(all.clone().choosing(Arc::default()).unwrap().tasks.is_empty());
    assert!(made.plan.clone().choosing([5].into()).is_none(), "a program decodes one entry after the other");
    // The arrays have no row of it.
    let none = all.choosing(Arc::default()).unwrap();
    let found = engine().read(&none, &memory(&made.file), &Plain, None, None).unwrap();
    assert!(found.iter().all(|array| array.length == 0 && array.validate().is_ok()));
}

#[test]
fn plans_whose_choice_contradicts_their_blocks_are_refused() {
    let (made, _) = make();
    let source = memory(&made.file);
    let good = plan(&made, 0..ENTRIES).choosing([5, 700, 2000].into()).unwrap();
    let wrong = |change: &dyn Fn(&mut Plan)| {
        let mut plan = good.clone();
        change(&mut plan);
        let error = engine().read(&plan, &source, &Plain, None, None).unwrap_err().to_string();
        assert!(error.contains("a plan"), "{error}");
    };
    wrong(&|plan| plan.chosen = Some([700, 5, 2000].into()));
    wrong(&|plan| plan.chosen = Some([5, 700, 700, 2000].into()));
    wrong(&|plan| plan.chosen = Some([5, 700, 2000, 9000].into()));
    wrong(&|plan| plan.chosen = Some([5, 700, 1000, 2000].into()));
    wrong(&|plan| plan.chosen = None);
    wrong(&|plan| plan.tasks.swap(0, 1));
    wrong(&|plan| drop(plan.tasks.remove(1)));
    wrong(&|plan| plan.groups = made.plan.groups.clone());
}

#[test]
fn a_fault_is_said_of_the_entry_that_has_it() {
    let (mut made, _) = make();
    let jagged = made.plan.tasks.iter().position(|task| task.group == 1).unwrap();
    let task = &made.plan.tasks[jagged];
    let Stored::Range(range) = task.stored.clone() else { unreachable!() };
    let last = task.entries.end - 1;
    // Where the last entry of the block begins: behind where it ends.
    let place = (range.start + 8 + 4 * last) as usize;
    made.file[place..place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let read = |entries: &[u64]| {
        let chosen = plan(&made, 0..ENTRIES).choosing(entries.into()).unwrap();
        engine().read(&chosen, &memory(&made.file), &Plain, None, None)
    };
    let error = read(&[0, last]).unwrap_err().to_string();
    assert!(error.contains("ends before it starts") && error.contains(&format!("entry {last}")), "{error}");
    read(&[0, last - 2]).unwrap();
    // The entry before it begins with what is no whole item any more.
    let short = u32::from_le_bytes(made.file[place - 4..place].try_into().unwrap()) + 3;
    made.file[place..place + 4].copy_from_slice(&short.to_le_bytes());
    let chosen = plan(&made, 0..ENTRIES).choosing([0, last - 1].into()).unwrap();
    let error = engine().read(&chosen, &memory(&made.file), &Plain, None, None).unwrap_err();
    assert_eq!(error.place.entry, Some(last - 1), "{error}");
    // Behind the data of the block.
    made.file[place + 4..place + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    let chosen = plan(&made, 0..ENTRIES).choosing([0, last].into()).unwrap();
    let error = engine().read(&chosen, &memory(&made.file), &Plain, None, None).unwrap_err();
    assert_eq!(error.place.entry, Some(last), "{error}");
    assert!(error.to_string().contains("behind the data"), "{error}");
}

#[test]
fn blocks_that_cannot_be_read_do_not_matter_without_chosen_entries() {
    let (mut made, _) = make();
    for task in &mut made.plan.tasks {
        if task.entries.contains(&700) {
            task.stored = Stored::Missing { reason: "lost".into(), at: None };
        }
    }
    let read = |entries: &[u64]| {
        let chosen = plan(&made, 0..ENTRIES).choosing(entries.into()).unwrap();
        engine().read(&chosen, &memory(&made.file), &Plain, None, None)
    };
    assert_eq!(read(&[5, 2000]).unwrap()[0].length, 2);
    assert!(read(&[5, 700, 2000]).unwrap_err().to_string().contains("lost"));
}

/// A block of numbers that lie there as they are, or in pieces with framing between.
struct Long {
    in_pieces: bool,
}

const ONE: u64 = 1000;

impl BlockFormat for Long {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn locate(&self, _: &Group, task: &Task, _: &[u8]) -> Framing {
        if self.in_pieces { Framing::Pieces } else { Framing::Plain(0..task.stored.len()) }
    }

    fn pieces(&self, _: &Group, _: &Task, stored: &[u8]) -> Result<Vec<Piece>> {
        let each = 4 * ONE as usize;
        let all = stored.len() / each;
        Ok((0..all)
            .map(|at| Piece { bytes: at * each..(at + 1) * each, entries: ONE, block: at as u64 })
            .collect())
    }

    fn unframe<'a>(&self, _: &Group, task: &Task, stored: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
        Ok(Block { payload: stored, entries: task.entries.end - task.entries.start, bounds: &[], origin: 0 })
    }
}

/// A local file that counts the bytes that are read of it.
#[derive(Debug)]
struct Counted(Copying, AtomicU64);

impl Source for Counted {
    fn uri(&self) -> &str {
        "counted"
    }
    fn size(&self) -> forthwith_io::Result<u64> {
        self.0.size()
    }
    fn read(&self, ranges: &[Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        self.1.fetch_add(ranges.iter().map(|range| range.end - range.start).sum(), Ordering::Relaxed);
        self.0.read(ranges)
    }
    fn read_into(&self, at: u64, into: &mut [u8]) -> forthwith_io::Result<()> {
        self.1.fetch_add(into.len() as u64, Ordering::Relaxed);
        self.0.read_into(at, into)
    }
    fn zero_copy(&self) -> bool {
        false
    }
    fn concurrent(&self) -> bool {
        true
    }
}

#[test]
fn entries_that_are_longer_than_a_piece_are_read_piece_by_piece() {
    let each = 100_000_u64;
    let file: Vec<u8> = (0..7 * each as i32).flat_map(i32::to_be_bytes).collect();
    let mut plan = Plan { entries: 0..7, delivered: 1, format: "plain".into(), ..Plan::default() };
    plan.groups.push(groups().swap_remove(0));
    plan.groups[0].decoder =
        Decoder::Kernel(Kernel::Flat { wire: Encoding::Big(DType::Int32), per_entry: each });
    plan.groups[0].form = Form::Numpy { key: "node0".into(), dtype: DType::Int32, shape: vec![each] };
    plan.tasks.push(Task::of(0, 0, 0..7, Stored::Range(0..file.len() as u64)));
    let chosen = plan.choosing([1, 2, 6].into()).unwrap();
    let counted = Arc::new(Counted(Copying { file, distant: false }, AtomicU64::default()));
    let source: Arc<dyn Source> = Arc::clone(&counted) as _;
    let found = engine().read(&chosen, &source, &Long { in_pieces: false }, None, None).unwrap();
    let entry = |at: u64| (at * each) as i32..((at + 1) * each) as i32;
    let expected: Vec<i32> = [1, 2, 6].into_iter().flat_map(entry).collect();
    assert!(found[0].columns[0].1.items::<i32>().unwrap() == expected);
    assert!(counted.1.load(Ordering::Relaxed) < 3 * 4 * each + 5000);
}

#[test]
fn of_long_blocks_no_more_is_read_than_lies_near() {
    let all = 1000 * ONE;
    let file: Vec<u8> = (0..all as i32).flat_map(i32::to_be_bytes).collect();
    let mut plan = Plan { entries: 0..all, delivered: 1, format: "plain".into(), ..Plan::default() };
    plan.groups.push(groups().swap_remove(0));
    assert_eq!(
        plan.groups[0].decoder,
        Decoder::Kernel(Kernel::Flat { wire: Encoding::Big(DType::Int32), per_entry: 1 })
    );
    plan.tasks.push(Task::of(0, 0, 0..all, Stored::Range(0..file.len() as u64)));
    let many: Vec<u64> = (0..all).filter(|entry| entry % 7 < 2).collect();
    for (entries, most) in
        [(&[7, 9, 70_000, 500_000, all - 1][..], 300_000), (&[3, 4, 5, 6], 2000), (&many, u64::MAX)]
    {
        let chosen = plan.clone().choosing(entries.into()).unwrap();
        for in_pieces in [false, true] {
            let local = Copying { file: file.clone(), distant: false };
            let counted = Arc::new(Counted(local, AtomicU64::default()));
            let sources: [Arc<dyn Source>; 3] = [
                Arc::clone(&counted) as _,
                Arc::new(Callback::new("slow", Box::new(Slow(file.clone())))),
                memory(&file),
            ];
            for source in sources {
                let found = engine().read(&chosen, &source, &Long { in_pieces }, None, None).unwrap();
                let expected: Vec<i32> = entries.iter().map(|entry| *entry as i32).collect();
                assert!(found[0].columns[0].1.items::<i32>().unwrap() == expected);
            }
            let read = counted.1.load(Ordering::Relaxed);
            assert!(in_pieces || read <= most, "{read} bytes for {} entries", entries.len());
        }
    }
}
