//! However it is read, the result is the same.

use crate::made::*;
use forthwith_columns::Policy;
use forthwith_engine::{Engine, Options, Progress};
use forthwith_io::{Callback, Source};
use forthwith_plan::{Block, BlockFormat, Framing, Group, Plan, Result, Scratch, Stored, Task};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[test]
fn any_number_of_threads_gives_the_same() {
    let (made, truth) = make();
    let engine = engine();
    let source = memory(&made.file);
    for threads in [1, 2, 3, 8] {
        for _ in 0..5 {
            check(&engine.read(&made.plan, &source, &Plain, Some(threads), None).unwrap(), &truth);
        }
    }
}

#[test]
fn a_source_read_in_windows_gives_the_same() {
    let (made, truth) = make();
    let source: Arc<dyn Source> = Arc::new(Callback::new("slow", Box::new(Slow(made.file.clone()))));
    for threads in [1, 3] {
        check(&engine().read(&made.plan, &source, &Plain, Some(threads), None).unwrap(), &truth);
    }
}

#[test]
fn views_that_are_not_at_hand_are_read_instead() {
    let (made, truth) = make();
    let source: Arc<dyn Source> = Arc::new(Copying { file: made.file.clone(), distant: true });
    for threads in [1, 3] {
        check(&engine().read(&made.plan, &source, &Plain, Some(threads), None).unwrap(), &truth);
    }
}

/// Takes its time before programs run, so that they wait for their turn.
struct Laborious;

impl BlockFormat for Laborious {
    fn id(&self) -> &'static str {
        "plain"
    }
    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        std::thread::sleep(std::time::Duration::from_millis(3));
        Plain.unframe(group, task, stored, scratch)
    }
}

#[test]
fn programs_that_wait_for_their_turn_give_the_same() {
    let (mut made, truth) = make();
    let source = memory(&made.file);
    for threads in [2, 3] {
        check(&engine().read(&made.plan, &source, &Laborious, Some(threads), None).unwrap(), &truth);
    }
    // No task waits for one that failed.
    let nested = made.plan.tasks.iter().rposition(|t| t.group == 2).unwrap();
    let Stored::Range(range) = &mut made.plan.tasks[nested].stored else { unreachable!() };
    range.end = range.start + (range.end - range.start) / 2;
    assert!(engine().read(&made.plan, &source, &Laborious, Some(3), None).is_err());
}

/// Blocks of entries that are lists of one list, each of the same length; with the offsets and the items that
/// are to come out.
fn rows(blocks: &[Vec<usize>]) -> (Made, Vec<i64>, Vec<f32>) {
    let mut made = Made::default();
    let (mut values, mut offsets): (Vec<f32>, _) = (Vec::new(), vec![0_i64]);
    let mut entry = 0;
    for (block, lists) in (0..).zip(blocks) {
        let (mut payload, mut bounds) = (Vec::new(), vec![0_u32]);
        for &items in lists {
            let size = (2 + 4 + 4 + 4 * items as u32) | 0x4000_0000;
            payload.extend([size.to_be_bytes().as_slice(), &[0, 9], &1_u32.to_be_bytes()].concat());
            payload.extend((items as u32).to_be_bytes());
            for _ in 0..items {
                values.push(values.len() as f32);
                payload.extend(values[values.len() - 1].to_be_bytes());
            }
            offsets.push(values.len() as i64);
            bounds.push(payload.len() as u32);
        }
        let start = made.file.len() as u64;
        made.file.extend([lists.len() as u32, bounds.len() as u32].map(u32::to_le_bytes).concat());
        bounds.iter().for_each(|bound| made.file.extend(bound.to_le_bytes()));
        made.file.extend(&payload);
        let entries = entry..entry + lists.len() as u64;
        entry = entries.end;
        made.plan.tasks.push(Task {
            group: 0,
            block,
            entries: entries.clone(),
            wanted: entries,
            stored: Stored::Range(start..made.file.len() as u64),
            payload_hint: payload.len() as u64,
            needs: vec![],
            note: 0,
            numbers: Vec::new(),
        });
    }
    let tasks = made.plan.tasks;
    made.plan = Plan { format: "plain".into(), entries: 0..entry, delivered: 1, tasks, ..Plan::default() };
    made.plan.groups = vec![groups().swap_remove(2)];
    (made, offsets, values)
}

#[test]
fn blocks_that_are_nothing_like_the_first_give_the_same() {
    // The first block is empty lists, and those that follow are longer and longer.
    let (blocks, each) = if cfg!(miri) { (4, 3) } else { (40, 300) };
    let (made, offsets, values) = rows(&(0..blocks).map(|block| vec![block * each; 2]).collect::<Vec<_>>());
    for pool_bytes in [0, 1 << 30] {
        let policy = Policy { pool_bytes, huge_from: 1 << 20, ..Policy::default() };
        let engine = Engine::new(Options { threads: 1, policy, ..Options::default() });
        for threads in [1, 2, 3, 1] {
            let arrays = engine.read(&made.plan, &memory(&made.file), &Plain, Some(threads), None).unwrap();
            let column = |key: &str| arrays[0].column(key).unwrap();
            assert_eq!(column("node1-offsets").items::<i64>().unwrap(), offsets);
            assert!(column("node2-data").items::<f32>().unwrap() == values);
        }
    }
}

/// Says that nothing is compressed, so that entries of long blocks are shared out, and gives where the wanted
/// ones begin.
#[derive(Default)]
struct Open {
    unframed: AtomicUsize,
}

impl BlockFormat for Open {
    fn id(&self) -> &'static str {
        "plain"
    }
    fn locate(&self, _: &Group, task: &Task, head: &[u8]) -> Framing {
        match head.is_empty() {
            true => Framing::Whole,
            false => Framing::Plain(0..task.stored.len()),
        }
    }
    fn unframe<'a>(&self, g: &Group, t: &Task, b: &'a [u8], s: &'a mut Scratch) -> Result<Block<'a>> {
        self.unframed.fetch_add(1, Ordering::Relaxed);
        let block = Plain.unframe(g, t, b, s)?;
        let at = |entry: u64| 4 * (entry - t.entries.start) as usize;
        Ok(Block { bounds: &block.bounds[at(t.wanted.start)..at(t.wanted.end) + 4], ..block })
    }
}

#[test]
fn entries_of_long_blocks_are_shared_out() {
    let each = if cfg!(miri) { 2 } else { 20_000 };
    let (mut made, offsets, values) = rows(&[vec![each; 40], vec![each; 3], vec![1; 7], vec![each; 50]]);
    let source = memory(&made.file);
    for (threads, steps) in [(1, 4), (2, 8), (3, 8)] {
        let open = Open::default();
        let mut calls = Vec::new();
        let mut tick = |now: Progress| {
            calls.push((now.blocks, now.bytes));
            true
        };
        let arrays = engine().read(&made.plan, &source, &open, Some(threads), Some(&mut tick)).unwrap();
        let column = |key: &str| arrays[0].column(key).unwrap();
        assert_eq!(column("node1-offsets").items::<i64>().unwrap(), offsets);
        assert!(column("node2-data").items::<f32>().unwrap() == values);
        if !cfg!(miri) {
            assert_eq!(open.unframed.into_inner(), steps, "{threads} threads");
        }
        assert_eq!(calls.last(), Some(&(4, made.plan.stored_bytes())));
    }
    // An entry of the last block is too long: the thread that comes upon it says so, in the words of one
    // thread.
    let Stored::Range(range) = made.plan.tasks[3].stored.clone() else { unreachable!() };
    let wrong = range.start as usize + 8 + 4 * 51 + 30 * (14 + 4 * each);
    made.file[wrong + 3] ^= 4;
    let said = |threads| {
        let error = engine().read(&made.plan, &memory(&made.file), &Open::default(), Some(threads), None);
        error.unwrap_err().to_string()
    };
    let alone = said(1);
    assert!(alone.contains("entry 80"), "{alone}");
    assert_eq!(said(3), alone);
}

#[test]
fn a_range_of_entries_is_a_slice() {
    let (mut made, truth) = make();
    let (from, to) = (517, 1234);
    made.plan.entries = from..to;
    made.plan.tasks.retain_mut(|t| {
        t.wanted = t.entries.start.max(from)..t.entries.end.min(to);
        t.wanted.start < t.wanted.end
    });
    let arrays = engine().read(&made.plan, &memory(&made.file), &Plain, Some(2), None).unwrap();
    let (from, to) = (from as usize, to as usize);
    assert_eq!(arrays[0].columns[0].1.items::<i32>().unwrap(), &truth.flat[from..to]);
    let shift = |offsets: &[i64]| -> Vec<i64> { offsets.iter().map(|o| o - offsets[0]).collect() };
    assert_eq!(arrays[1].columns[0].1.items::<i64>().unwrap(), shift(&truth.offsets[from..=to]));
    let outer = &truth.outer[from..=to];
    assert_eq!(arrays[2].columns[0].1.items::<i64>().unwrap(), shift(outer));
    let (a, b) = (truth.inner[outer[0] as usize], truth.inner[outer[to - from] as usize]);
    assert_eq!(arrays[2].columns[2].1.items::<f32>().unwrap(), &truth.nested[a as usize..b as usize]);
}
