//! Blocks written: in order, in bounded memory, with the earliest error.

use forthwith_engine::BlockThreads;
use forthwith_plan::{
    Bench, BlockMaker, BlockRunner, BlockSink, Error, ErrorKind, OneThread, Result, StoredBlock,
};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Blocks of one byte value each, of which some fail and some take their time.
struct Made {
    sizes: Vec<usize>,
    fail: Vec<usize>,
    under_way: AtomicU64,
    most: AtomicU64,
}

impl Made {
    fn new(sizes: Vec<usize>, fail: &[usize]) -> Self {
        Self { sizes, fail: fail.to_vec(), under_way: AtomicU64::new(0), most: AtomicU64::new(0) }
    }
}

impl BlockMaker for Made {
    fn blocks(&self) -> usize {
        self.sizes.len()
    }

    fn weight(&self, block: usize) -> u64 {
        self.sizes[block] as u64
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        let now = self.under_way.fetch_add(self.weight(block), SeqCst) + self.weight(block);
        self.most.fetch_max(now, SeqCst);
        if block.is_multiple_of(7) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        if self.fail.contains(&block) {
            return Err(Error::new(ErrorKind::Invalid { what: format!("block {block}") }));
        }
        let mut bytes = bench.spare();
        assert!(bytes.is_empty());
        bytes.resize(self.sizes[block], block as u8);
        Ok(StoredBlock { bytes, payload: 2 * self.sizes[block] as u64, note: block as u64 })
    }
}

struct Taken<'a> {
    maker: &'a Made,
    bytes: Vec<u8>,
    blocks: Vec<usize>,
    refuse: Option<usize>,
}

impl BlockSink for Taken<'_> {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        if self.refuse == Some(block) {
            return Err(Error::new(ErrorKind::Invalid { what: "no space left".into() }));
        }
        assert_eq!(stored.note, block as u64);
        self.maker.under_way.fetch_sub(stored.bytes.len() as u64, SeqCst);
        self.bytes.extend(&stored.bytes);
        self.blocks.push(block);
        Ok(())
    }
}

/// Whether the calling thread takes all blocks, or any thread.
#[derive(Clone, Copy, Debug)]
enum Taking {
    Here,
    Anywhere,
}

const BOTH: [Taking; 2] = [Taking::Here, Taking::Anywhere];

fn run(
    runner: &dyn BlockRunner,
    maker: &Made,
    refuse: Option<usize>,
    taking: Taking,
) -> (Vec<usize>, Vec<u8>, Result<()>) {
    let mut taken = Taken { maker, bytes: vec![], blocks: vec![], refuse };
    let result = match taking {
        Taking::Here => runner.run(maker, &mut taken),
        Taking::Anywhere => runner.run_anywhere(maker, &mut taken),
    };
    (taken.blocks, taken.bytes, result)
}

fn sizes() -> Vec<usize> {
    (0..200).map(|n| 1 + n * 7919 % 20_000).collect()
}

#[test]
fn all_runners_give_the_same_bytes_in_order() {
    let (order, expected, result) = run(&OneThread::default(), &Made::new(sizes(), &[]), None, Taking::Here);
    result.unwrap();
    assert_eq!(order, (0..200).collect::<Vec<_>>());
    for threads in [1, 2, 5] {
        let runner = BlockThreads::new(threads);
        for taking in [Taking::Here, Taking::Anywhere, Taking::Here, Taking::Anywhere] {
            let (order, bytes, result) = run(&runner, &Made::new(sizes(), &[]), None, taking);
            result.unwrap();
            assert_eq!(order, (0..200).collect::<Vec<_>>());
            assert!(bytes == expected, "{threads} threads, {taking:?}");
        }
    }
    for taking in BOTH {
        let (order, _, result) = run(&BlockThreads::new(4), &Made::new(vec![], &[]), None, taking);
        result.unwrap();
        assert!(order.is_empty());
    }
}

#[test]
fn blocks_under_way_weigh_no_more_than_the_limit() {
    for (most, taking) in [0, 30_000, 100_000].into_iter().flat_map(|most| BOTH.map(|taking| (most, taking)))
    {
        let maker = Made::new(sizes(), &[]);
        run(&BlockThreads::new(4).limited(most), &maker, None, taking).2.unwrap();
        assert!(maker.most.load(SeqCst) <= most.max(20_000), "{most}, {taking:?}");
    }
}

#[test]
fn the_earliest_error_counts() {
    for (threads, taking) in [1, 2, 4].into_iter().flat_map(|threads| BOTH.map(|taking| (threads, taking))) {
        let runner = BlockThreads::new(threads);
        let (order, _, result) = run(&runner, &Made::new(sizes(), &[150, 77, 90]), None, taking);
        assert_eq!(result.unwrap_err().to_string(), "block 77");
        assert_eq!(order, (0..77).collect::<Vec<_>>());
        let (order, _, result) = run(&runner, &Made::new(sizes(), &[90]), Some(33), taking);
        assert_eq!(result.unwrap_err().to_string(), "no space left");
        assert_eq!(order.len(), 33);
    }
}

/// Panics instead of making a block.
struct Panics(usize);

impl BlockMaker for Panics {
    fn blocks(&self) -> usize {
        40
    }

    fn weight(&self, _: usize) -> u64 {
        1 << 20
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        assert!(block != self.0, "a panic that was asked for");
        Ok(StoredBlock { bytes: bench.spare(), payload: 0, note: 0 })
    }
}

struct Nothing;

impl BlockSink for Nothing {
    fn take(&mut self, _: usize, _: &mut StoredBlock) -> Result<()> {
        Ok(())
    }
}

/// Panics instead of taking a block.
struct PanicsAt(usize);

impl BlockSink for PanicsAt {
    fn take(&mut self, block: usize, _: &mut StoredBlock) -> Result<()> {
        assert!(block != self.0, "a panic that was asked for");
        Ok(())
    }
}

#[test]
fn a_panic_ends_the_run() {
    for block in [0, 5, 39] {
        let run = || BlockThreads::new(3).run(&Panics(block), &mut Nothing);
        assert!(std::panic::catch_unwind(run).is_err());
        let run = || BlockThreads::new(3).run_anywhere(&Panics(block), &mut Nothing);
        assert!(std::panic::catch_unwind(run).is_err());
        let run = || BlockThreads::new(3).run_anywhere(&Panics(40), &mut PanicsAt(block));
        assert!(std::panic::catch_unwind(run).is_err());
        let run = || BlockThreads::new(3).run(&Panics(40), &mut PanicsAt(block));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

/// Refuses to go on when it is asked for the third time; blocks are taken by any thread.
struct Listens {
    caller: std::thread::ThreadId,
    asked: usize,
    taken: usize,
}

impl BlockSink for Listens {
    fn take(&mut self, _: usize, _: &mut StoredBlock) -> Result<()> {
        self.taken += 1;
        std::thread::sleep(std::time::Duration::from_micros(200));
        Ok(())
    }

    fn listen(&mut self) -> Result<()> {
        assert_eq!(std::thread::current().id(), self.caller);
        self.asked += 1;
        if self.asked == 3 {
            return Err(Error::new(ErrorKind::Invalid { what: "a signal".into() }));
        }
        Ok(())
    }
}

#[test]
fn the_calling_thread_listens_while_others_work() {
    let mut sink = Listens { caller: std::thread::current().id(), asked: 0, taken: 0 };
    let maker = Made::new(vec![20_000; 5_000], &[]);
    let error = BlockThreads::new(4).run_anywhere(&maker, &mut sink).unwrap_err();
    assert_eq!(error.to_string(), "a signal");
    assert!(sink.taken < 5_000);
}
