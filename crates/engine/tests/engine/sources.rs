//! How sources are asked.

use crate::made::*;
use bytes::Bytes;
use forthwith_columns::{DType, Encoding};
use forthwith_engine::{Engine, Options};
use forthwith_io::{Callback, ReadAt, Source};
use forthwith_plan::{
    Block, BlockFormat, Decoder, Error, Framing, Group, Kernel, Plan, Result, Scratch, Stored, Task,
};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

#[test]
fn long_plain_blocks_are_read_in_pieces() {
    /// Says where the entries are, and cannot be asked for the whole.
    struct InPieces;
    impl BlockFormat for InPieces {
        fn id(&self) -> &'static str {
            "plain"
        }
        fn unframe<'a>(&self, _: &Group, _: &Task, _: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
            Err(Error::unsupported("the whole block"))
        }
        fn locate(&self, _: &Group, task: &Task, head: &[u8]) -> Framing {
            match head.starts_with(&[1, 2, 3]) {
                true => Framing::Plain(3..task.stored.len() - 1),
                false => Framing::Whole,
            }
        }
    }
    let wires = [
        (Encoding::Big(DType::Int16), 5_u64),
        (Encoding::Truncated { bits: 12, to: DType::Float32 }, 1),
        (Encoding::Big(DType::Float64), 1),
    ];
    for (wire, per_entry) in wires {
        let block = |entries: u64, seed: &mut u64| -> Vec<u8> {
            let bytes = entries * per_entry * wire.width() as u64;
            [1, 2, 3].into_iter().chain((0..bytes).map(|_| next(seed) as u8)).chain([9]).collect()
        };
        let mut seed = 3;
        let counts = [400_000, 200_000, 300_001];
        let blocks: Vec<Vec<u8>> = counts.iter().map(|n| block(*n, &mut seed)).collect();
        let (mut file, mut tasks, mut entry) = (Vec::new(), Vec::new(), 0);
        for (number, (bytes, count)) in blocks.iter().zip(counts).enumerate() {
            let start = file.len() as u64;
            file.extend(bytes);
            let entries = entry..entry + count;
            entry += count;
            tasks.push(Task {
                group: 0,
                block: number as u64,
                wanted: entries.clone(),
                entries,
                stored: Stored::Range(start..file.len() as u64),
                payload_hint: bytes.len() as u64,
                needs: vec![],
                note: 0,
                numbers: Vec::new(),
            });
        }
        // Some of the first and the last block only.
        tasks[0].wanted.start += 12_345;
        tasks[2].wanted.end -= 7;
        let entries = tasks[0].wanted.start..tasks[2].wanted.end;
        let mut group = groups().swap_remove(0);
        group.decoder = Decoder::Kernel(Kernel::Flat { wire, per_entry });
        group.columns = vec![spec("node0-data", wire.dtype(), false)];
        let plan = Plan {
            format: "plain".into(),
            entries: entries.clone(),
            groups: vec![group],
            delivered: 1,
            tasks,
            ..Plan::default()
        };
        let all: Vec<u8> = blocks.iter().flat_map(|b| b[3..b.len() - 1].to_vec()).collect();
        let size = per_entry as usize * wire.width();
        let wanted = &all[entries.start as usize * size..entries.end as usize * size];
        let mut expected = vec![0; wanted.len() / wire.width() * wire.dtype().size()];
        forthwith_columns::kernels::decode(wire, wanted, &mut expected).unwrap();
        for (threads, distant) in [(1, false), (2, false), (1, true), (2, true)] {
            let source: Arc<dyn Source> = Arc::new(Copying { file: file.clone(), distant });
            let arrays = engine().read(&plan, &source, &InPieces, Some(threads), None).unwrap();
            assert!(arrays[0].columns[0].1.as_bytes() == expected, "{wire:?}");
        }
    }
}

#[test]
fn raw_blocks_are_views_where_nothing_was_copied() {
    let (made, _) = make();
    let source = memory(&made.file);
    let raw = engine().raw(&made.plan, 0, &source, &Plain).unwrap();
    assert!(!raw.view);
    assert_eq!(raw.payload.len() as u64, 4 * (raw.entries.end - raw.entries.start));
    assert!(engine().raw(&made.plan, 99_999, &source, &Plain).is_err());
}

/// Counts what is asked of it.
struct Asked {
    file: Vec<u8>,
    most: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

impl ReadAt for Asked {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.file.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        self.most.fetch_max(into.len(), Ordering::Relaxed);
        self.all.fetch_add(into.len(), Ordering::Relaxed);
        into.copy_from_slice(&self.file[at as usize..at as usize + into.len()]);
        Ok(into.len())
    }
}

#[test]
fn a_window_counts_what_lies_between_blocks_and_is_read_once() {
    const BLOCKS: u64 = 400;
    const APART: u64 = 3000;
    let mut file = vec![0; (BLOCKS * APART) as usize];
    let mut plan = Plan { entries: 0..BLOCKS, delivered: 1, format: "plain".into(), ..Plan::default() };
    plan.groups.push(groups().swap_remove(0));
    for block in 0..BLOCKS {
        let at = (block * APART) as usize;
        file[at] = 1;
        file[at + 8..at + 12].copy_from_slice(&(block as u32).to_be_bytes());
        plan.tasks.push(Task {
            group: 0,
            block,
            entries: block..block + 1,
            wanted: block..block + 1,
            stored: Stored::Range(at as u64..at as u64 + 12),
            payload_hint: 4,
            needs: Vec::new(),
            note: 0,
            numbers: Vec::new(),
        });
    }
    let read_ahead = 64 << 10;
    let engine = Engine::new(Options { read_ahead, ..engine().options().clone() });
    for threads in [1, 4] {
        let (most, all) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let asked = Asked { file: file.clone(), most: Arc::clone(&most), all: Arc::clone(&all) };
        let source: Arc<dyn Source> = Arc::new(Callback::new("made", Box::new(asked)));
        let arrays = engine.read(&plan, &source, &Plain, Some(threads), None).unwrap();
        let expected: Vec<i32> = (0..BLOCKS as i32).collect();
        assert_eq!(arrays[0].column("node0-data").unwrap().items::<i32>().unwrap(), expected);
        assert!(most.load(Ordering::Relaxed) as u64 <= read_ahead, "{most:?}");
        assert!(all.load(Ordering::Relaxed) <= file.len(), "{all:?}");
    }
}

/// A file far away, as long as one likes, of which is known how far it is expected.
#[derive(Debug, Default)]
struct Far {
    size: u64,
    expected: AtomicU64,
}

impl Source for Far {
    fn uri(&self) -> &str {
        "far"
    }

    fn size(&self) -> forthwith_io::Result<u64> {
        Ok(self.size)
    }

    fn read(&self, ranges: &[Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        Ok(ranges.iter().map(|range| vec![0; (range.end - range.start) as usize].into()).collect())
    }

    fn expect(&self, ranges: &[Range<u64>]) {
        let end = ranges.iter().map(|range| range.end).max().unwrap_or_default();
        self.expected.fetch_max(end, Ordering::Relaxed);
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        false
    }

    fn plans_requests(&self) -> bool {
        true
    }
}

/// Looks, whenever a block is decoded, how many bytes behind it are on their way.
struct Looks(Arc<Far>, AtomicU64);

impl BlockFormat for Looks {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn unframe<'a>(&self, _: &Group, task: &Task, stored: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
        let expected = self.0.expected.load(Ordering::Relaxed);
        let Stored::Range(range) = &task.stored else { return Err(Error::unsupported("no range")) };
        if expected < self.0.size {
            self.1.fetch_min(expected.saturating_sub(range.end), Ordering::Relaxed);
        }
        Ok(Block { payload: &stored[..4], entries: 1, bounds: &[], origin: 0 })
    }
}

#[test]
fn the_line_of_a_network_is_busy_while_blocks_are_decoded() {
    const BLOCKS: u64 = 120;
    const LENGTH: u64 = 1 << 20;
    let mut plan = Plan { entries: 0..BLOCKS, delivered: 1, format: "plain".into(), ..Plan::default() };
    plan.groups.push(groups().swap_remove(0));
    for block in 0..BLOCKS {
        plan.tasks.push(Task {
            group: 0,
            block,
            entries: block..block + 1,
            wanted: block..block + 1,
            stored: Stored::Range(block * LENGTH..(block + 1) * LENGTH),
            payload_hint: 4,
            needs: Vec::new(),
            note: 0,
            numbers: Vec::new(),
        });
    }
    for threads in [1, 4] {
        let far = Arc::new(Far { size: BLOCKS * LENGTH, ..Far::default() });
        let format = Looks(Arc::clone(&far), AtomicU64::new(u64::MAX));
        let source: Arc<dyn Source> = Arc::clone(&far) as _;
        let engine = Engine::new(Options::with_threads(threads));
        let arrays = engine.read(&plan, &source, &format, None, None).unwrap();
        assert_eq!(arrays[0].length, BLOCKS);
        // What a line of 100 MB/s and 100 ms between question and answer carries meanwhile, twice.
        let least = format.1.load(Ordering::Relaxed);
        assert!((20 << 20..64 << 20).contains(&least), "{threads} threads: {least} bytes");
    }
}
