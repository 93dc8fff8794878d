//! The engine against a format made for the purpose: blocks are a count, bounds if the group has them, and a payload.
#![allow(clippy::unwrap_used, reason = "tests")]

use bytes::Bytes;
use forthwith_columns::{Array, DType, Form, Policy, Wire};
use forthwith_engine::{Engine, Options};
use forthwith_io::{Callback, Memory, ReadAt, Source};
use forthwith_plan::{
    Block, BlockFormat, ColumnSpec, Decoder, Error, ErrorKind, Group, Kernel, Plan, Result, Scratch, Slot,
    Stored, Task,
};
use forthwith_program::{Count, Dialect, Frame, Schema, TextLength, translate};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// `u32` entries, `u32` number of bounds, the bounds, the payload.
struct Plain;

impl BlockFormat for Plain {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn unframe<'a>(
        &self,
        _group: &Group,
        _task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let word = |at: usize| u32::from_le_bytes(stored[at..at + 4].try_into().unwrap());
        let bounds = 4 * word(4) as usize;
        let body = &stored[8 + bounds..];
        // Copied, so that scratch is used as if something had been decompressed.
        let (payload, _, _) = scratch.rooms(body.len(), 0)?;
        payload.copy_from_slice(body);
        Ok(Block { payload, entries: u64::from(word(0)), bounds: &stored[8..8 + bounds], origin: 0 })
    }
}

/// Deterministic numbers.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[derive(Default)]
struct Made {
    file: Vec<u8>,
    plan: Plan,
}

struct Truth {
    flat: Vec<i32>,
    offsets: Vec<i64>,
    jagged: Vec<f64>,
    outer: Vec<i64>,
    inner: Vec<i64>,
    nested: Vec<f32>,
}

const ENTRIES: u64 = 3000;

fn spec(key: &str, dtype: DType, offsets: bool) -> ColumnSpec {
    let member = key.to_owned();
    ColumnSpec {
        key: key.into(),
        dtype,
        offsets,
        member,
        bytes_per_payload_byte: if offsets { 2 } else { 1 },
    }
}

fn numpy(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

fn list(key: &str, content: Form) -> Form {
    Form::List { key: key.into(), content: Box::new(content) }
}

fn groups() -> Vec<Group> {
    let nested = Schema::Number(Wire::Big(DType::Float32)).list().list();
    let dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };
    let program = translate(&nested, &dialect, true, "nested").unwrap();
    let columns = program.outputs.iter().map(|o| spec(&o.key, o.dtype, o.offsets)).collect();
    let kernel = |k| Decoder::Kernel(k);
    vec![
        Group {
            path: "flat".into(),
            decoder: kernel(Kernel::Flat { wire: Wire::Big(DType::Int32), per_entry: 1 }),
            reason: String::new(),
            form: numpy("node0", DType::Int32),
            columns: vec![spec("node0-data", DType::Int32, false)],
            counter: None,
            split: false,
            joins: false,
        },
        Group {
            path: "jagged".into(),
            decoder: kernel(Kernel::Jagged { header: 2, wire: Wire::Big(DType::Float64), per_item: 1 }),
            reason: String::new(),
            form: list("node0", numpy("node1", DType::Float64)),
            columns: vec![
                spec("node0-offsets", DType::Int64, true),
                spec("node1-data", DType::Float64, false),
            ],
            counter: None,
            split: false,
            joins: false,
        },
        Group {
            path: "nested".into(),
            form: program.form.clone(),
            decoder: Decoder::Program(Arc::new(program)),
            reason: String::new(),
            columns,
            counter: None,
            split: false,
            joins: false,
        },
        Group {
            path: "slots".into(),
            decoder: kernel(Kernel::Slots {
                size: 5,
                slots: vec![
                    Slot { at: 0, wire: Wire::Bool, count: 1 },
                    Slot { at: 1, wire: Wire::Big(DType::UInt16), count: 2 },
                ],
            }),
            reason: String::new(),
            form: Form::Record {
                fields: Some(vec!["a".into(), "b".into()]),
                contents: vec![
                    numpy("node0", DType::Bool),
                    Form::Regular { size: 2, content: Box::new(numpy("node1", DType::UInt16)) },
                ],
                name: None,
            },
            columns: vec![spec("node0-data", DType::Bool, false), spec("node1-data", DType::UInt16, false)],
            counter: None,
            split: false,
            joins: false,
        },
    ]
}

/// A file of four groups, blocks of uneven size, the groups' blocks interleaved.
fn make() -> (Made, Truth) {
    let mut rng = 7;
    let mut made = Made::default();
    let mut truth = Truth {
        flat: vec![],
        offsets: vec![0],
        jagged: vec![],
        outer: vec![0],
        inner: vec![0],
        nested: vec![],
    };
    let mut tasks: Vec<Vec<Task>> = vec![vec![]; 4];
    let mut entry = 0;
    let mut block = 0;
    while entry < ENTRIES {
        let end = (entry + 1 + next(&mut rng) % 200).min(ENTRIES);
        for group in 0..4_u32 {
            let mut payload = Vec::new();
            let mut bounds = vec![0_u32];
            for e in entry..end {
                match group {
                    0 => {
                        let value = next(&mut rng) as i32;
                        truth.flat.push(value);
                        payload.extend(value.to_be_bytes());
                    }
                    1 => {
                        payload.extend([1, 2]);
                        for _ in 0..next(&mut rng) % 5 {
                            let value = next(&mut rng) as f64;
                            truth.jagged.push(value);
                            payload.extend(value.to_be_bytes());
                        }
                        truth.offsets.push(truth.jagged.len() as i64);
                    }
                    2 => {
                        let start = payload.len();
                        payload.extend([0; 4]);
                        payload.extend([0, 9]);
                        let lists = next(&mut rng) % 4;
                        payload.extend((lists as u32).to_be_bytes());
                        for _ in 0..lists {
                            let items = next(&mut rng) % 12;
                            payload.extend((items as u32).to_be_bytes());
                            for _ in 0..items {
                                let value = next(&mut rng) as f32;
                                truth.nested.push(value);
                                payload.extend(value.to_be_bytes());
                            }
                            truth.inner.push(truth.nested.len() as i64);
                        }
                        truth.outer.push(truth.inner.len() as i64 - 1);
                        let count = (payload.len() - start - 4) as u32 | 0x4000_0000;
                        payload[start..start + 4].copy_from_slice(&count.to_be_bytes());
                    }
                    _ => payload.extend([(e % 3) as u8, 0, e as u8, 1, 0]),
                }
                bounds.push(payload.len() as u32);
            }
            if matches!(group, 0 | 3) {
                bounds.clear();
            }
            let start = made.file.len() as u64;
            made.file.extend(((end - entry) as u32).to_le_bytes());
            made.file.extend((bounds.len() as u32).to_le_bytes());
            bounds.iter().for_each(|b| made.file.extend(b.to_le_bytes()));
            made.file.extend(&payload);
            let stored = Stored::Range(start..made.file.len() as u64);
            let payload_hint = payload.len() as u64;
            let (entries, wanted) = (entry..end, entry..end);
            tasks[group as usize].push(Task {
                group,
                block,
                entries,
                wanted,
                stored,
                payload_hint,
                needs: vec![],
                note: 0,
            });
        }
        block += 1;
        entry = end;
    }
    made.plan = Plan {
        format: "plain".into(),
        uri: "made".into(),
        object: "table".into(),
        others: Vec::new(),
        entries: 0..ENTRIES,
        groups: groups(),
        delivered: 4,
        tasks: tasks.concat(),
        picks: Vec::new(),
    };
    (made, truth)
}

fn engine() -> Engine {
    let policy = Policy { pool_bytes: 1 << 20, huge_pages: false, ..Policy::default() };
    Engine::new(Options { threads: 1, policy, read_ahead: 5000 })
}

fn memory(file: &[u8]) -> Arc<dyn Source> {
    Arc::new(Memory::new("made", Bytes::copy_from_slice(file)))
}

/// A source that is neither mapped nor to be asked from several threads.
struct Slow(Vec<u8>);

impl ReadAt for Slow {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        let n = into.len().min(self.0.len() - at as usize);
        into[..n].copy_from_slice(&self.0[at as usize..at as usize + n]);
        Ok(n)
    }
}

fn check(arrays: &[Array], truth: &Truth) {
    let column = |a: usize, key: &str| arrays[a].column(key).unwrap();
    assert_eq!(column(0, "node0-data").items::<i32>().unwrap(), truth.flat);
    assert_eq!(column(1, "node0-offsets").items::<i64>().unwrap(), truth.offsets);
    assert_eq!(column(1, "node1-data").items::<f64>().unwrap(), truth.jagged);
    assert_eq!(column(2, "node0-offsets").items::<i64>().unwrap(), truth.outer);
    assert_eq!(column(2, "node1-offsets").items::<i64>().unwrap(), truth.inner);
    assert_eq!(column(2, "node2-data").items::<f32>().unwrap(), truth.nested);
    assert_eq!(column(3, "node0-data").len() as u64, ENTRIES);
    assert_eq!(column(3, "node1-data").items::<u16>().unwrap()[2..4], [1, 256]);
    assert!(arrays.iter().all(|a| a.length == ENTRIES));
}

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
    // Nobody waits for one that failed.
    let nested = made.plan.tasks.iter().rposition(|t| t.group == 2).unwrap();
    let Stored::Range(range) = &mut made.plan.tasks[nested].stored else { unreachable!() };
    range.end = range.start + (range.end - range.start) / 2;
    assert!(engine().read(&made.plan, &source, &Laborious, Some(3), None).is_err());
}

#[test]
fn blocks_that_are_nothing_like_the_first_give_the_same() {
    // The first block is empty lists, and those that follow are longer and longer.
    let (blocks, each) = if cfg!(miri) { (4, 3) } else { (40, 300) };
    let mut made = Made::default();
    let mut values: Vec<f32> = Vec::new();
    let mut offsets = vec![0_i64];
    for block in 0..blocks {
        let (mut payload, mut bounds) = (Vec::new(), vec![0_u32]);
        for _ in 0..2 {
            let items = block * each;
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
        made.file.extend([2_u32, 3].map(u32::to_le_bytes).concat());
        bounds.iter().for_each(|bound| made.file.extend(bound.to_le_bytes()));
        made.file.extend(&payload);
        let entries = 2 * block as u64..2 * block as u64 + 2;
        made.plan.tasks.push(Task {
            group: 0,
            block: block as u64,
            entries: entries.clone(),
            wanted: entries,
            stored: Stored::Range(start..made.file.len() as u64),
            payload_hint: payload.len() as u64,
            needs: vec![],
            note: 0,
        });
    }
    let entries = 0..2 * blocks as u64;
    made.plan =
        Plan { format: "plain".into(), entries, delivered: 1, tasks: made.plan.tasks, ..Plan::default() };
    made.plan.groups = vec![groups().swap_remove(2)];
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

fn failure(made: &Made, threads: usize) -> Error {
    engine().read(&made.plan, &memory(&made.file), &Plain, Some(threads), None).unwrap_err()
}

#[test]
fn damage_is_an_error_with_its_place() {
    let (mut made, _) = make();
    // The byte count of some entry of the nested group, in its third block.
    let task = made.plan.tasks.iter().filter(|t| t.group == 2).nth(2).unwrap().clone();
    let Stored::Range(range) = task.stored else { panic!() };
    let entries = (task.entries.end - task.entries.start) as usize;
    let payload = range.start as usize + 8 + 4 * (entries + 1);
    made.file[payload + 3] ^= 0xff;
    for threads in [1, 4] {
        let error = failure(&made, threads);
        assert!(matches!(error.kind, ErrorKind::Fault { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("the byte count does not end at the entry's end"), "{text}");
        assert!(
            text.contains(&format!("made:table/nested, basket 2, entry {}", task.entries.start)),
            "{text}"
        );
    }
    // A count beyond the data.
    made.file[payload + 3] ^= 0xff;
    made.file[payload + 6] = 0x7f;
    let text = failure(&made, 2).to_string();
    assert!(text.contains("member nested"), "{text}");
}

#[test]
fn a_block_that_is_cut_short_is_an_error() {
    let (mut made, _) = make();
    let end = made.file.len();
    made.file.truncate(end - 3);
    for threads in [1, 4] {
        assert!(failure(&made, threads).to_string().contains("made"));
    }
}

fn jagged_of(per_item: u64) -> Decoder {
    Decoder::Kernel(Kernel::Jagged { header: 2, wire: Wire::Big(DType::Float64), per_item })
}

#[test]
fn impossible_plans_are_refused() {
    let (made, _) = make();
    let broken: [fn(&mut Plan); 17] = [
        |p| p.format = "other".into(),
        |p| p.delivered = 9,
        |p| p.tasks[3].group = 17,
        |p| p.tasks[3].wanted.end += 1,
        |p| drop(p.tasks.remove(3)),
        |p| drop(p.tasks.pop()),
        // Groups that wait for themselves, for each other, or in a chain.
        |p| p.tasks[0].needs = vec![p.tasks[0].group],
        |p| p.tasks.iter_mut().for_each(|t| t.needs = vec![1 - t.group.min(1)]),
        |p| p.tasks.iter_mut().filter(|t| t.group < 2).for_each(|t| t.needs = vec![t.group + 1]),
        // A counter that is not there, that is not waited for, or that counts nothing.
        |p| p.groups[1].counter = Some(99),
        |p| p.groups[1].counter = Some(0),
        |p| {
            p.groups[1].counter = Some(3);
            p.tasks.iter_mut().filter(|t| t.group == 1).for_each(|t| t.needs = vec![3]);
        },
        // Columns that the decoder does not write, or not so.
        |p| drop(p.groups[1].columns.pop()),
        |p| drop(p.groups[2].columns.pop()),
        |p| p.groups[2].columns[2].offsets = true,
        |p| p.groups[1].decoder = jagged_of(0),
        |p| p.tasks[0].stored = Stored::Range(Range { start: 100, end: 0 }),
    ];
    for (number, broken) in broken.iter().enumerate() {
        let mut plan = made.plan.clone();
        broken(&mut plan);
        let error = engine().read(&plan, &memory(&made.file), &Plain, None, None).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Invalid { .. }), "{number}: {error}");
    }
}

#[test]
fn a_tick_that_says_no_cancels() {
    let (made, _) = make();
    let source: Arc<dyn Source> = memory(&made.file);
    struct Lazy;
    impl BlockFormat for Lazy {
        fn id(&self) -> &'static str {
            "plain"
        }
        fn unframe<'a>(&self, g: &Group, t: &Task, b: &'a [u8], s: &'a mut Scratch) -> Result<Block<'a>> {
            std::thread::sleep(std::time::Duration::from_millis(5));
            Plain.unframe(g, t, b, s)
        }
    }
    for threads in [1, 3] {
        let mut calls = 0;
        let mut tick = |progress: forthwith_engine::Progress| {
            calls += 1;
            assert!(progress.blocks <= progress.all_blocks);
            calls < 3
        };
        let error = engine().read(&made.plan, &source, &Lazy, Some(threads), Some(&mut tick)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Cancelled), "{error}");
        assert_eq!(calls, 3);
    }
}

#[test]
fn a_panic_in_a_format_reaches_the_caller() {
    struct Broken;
    impl BlockFormat for Broken {
        fn id(&self) -> &'static str {
            "plain"
        }
        fn unframe<'a>(&self, _: &Group, t: &Task, _: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
            assert!(t.block < 4, "a defect");
            std::thread::sleep(std::time::Duration::from_millis(1));
            Err(Error::unsupported("x"))
        }
    }
    let (made, _) = make();
    let source = memory(&made.file);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        engine().read(&made.plan, &source, &Broken, Some(3), None)
    }));
    assert!(outcome.is_err() || outcome.is_ok_and(|r| r.is_err()));
}

/// A source that copies, and may be asked from several threads: like a local file.
#[derive(Debug)]
struct Copying {
    file: Vec<u8>,
    /// Says that it would answer views, of which none is at hand.
    distant: bool,
}

impl Source for Copying {
    fn uri(&self) -> &str {
        "copying"
    }
    fn size(&self) -> forthwith_io::Result<u64> {
        Ok(self.file.len() as u64)
    }
    fn read(&self, ranges: &[std::ops::Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        assert!(!self.distant, "a view of what is not at hand");
        let copy = |r: &Range<u64>| Bytes::copy_from_slice(&self.file[r.start as usize..r.end as usize]);
        Ok(ranges.iter().map(copy).collect())
    }
    fn read_into(&self, at: u64, into: &mut [u8]) -> forthwith_io::Result<()> {
        into.copy_from_slice(&self.file[at as usize..at as usize + into.len()]);
        Ok(())
    }
    fn zero_copy(&self) -> bool {
        self.distant
    }
    fn at_hand(&self, _: &Range<u64>) -> bool {
        !self.distant
    }
    fn concurrent(&self) -> bool {
        true
    }
}

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
        fn entries_at(&self, _: &Group, task: &Task, head: &[u8]) -> Option<std::ops::Range<u64>> {
            (head[..3] == [1, 2, 3]).then(|| 3..task.stored.len() - 1)
        }
    }
    let wires = [
        (Wire::Big(DType::Int16), 5_u64),
        (Wire::Truncated { bits: 12, to: DType::Float32 }, 1),
        (Wire::Big(DType::Float64), 1),
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

#[test]
fn claims_of_a_file_do_not_use_up_the_address_space() {
    // Every block claims to hold far more entries than there is memory, in more columns than there are places for such claims.
    let claimed = 1 << 50;
    let mut plan = Plan { entries: 0..claimed, format: "plain".into(), ..Plan::default() };
    for group in 0..100 {
        plan.groups.push(groups().swap_remove(1));
        plan.tasks.push(Task {
            group,
            block: 0,
            entries: 0..claimed,
            wanted: 0..claimed,
            stored: Stored::Range(0..1 << 50),
            payload_hint: u64::MAX,
            needs: Vec::new(),
            note: 0,
        });
    }
    plan.delivered = 100;
    struct Looks;
    impl BlockFormat for Looks {
        fn id(&self) -> &'static str {
            "plain"
        }
        fn unframe<'a>(&self, _: &Group, _: &Task, _: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
            Err(Error::unsupported("x"))
        }
    }
    let engine = engine();
    let outcome = engine.read(&plan, &memory(&[0; 64]), &Looks, Some(1), None);
    assert!(outcome.is_err());
    assert!(engine.memory().stats().peak_bytes < 16 << 40, "{:?}", engine.memory().stats());
}

#[test]
fn an_object_has_one_row_in_its_entry_and_place() {
    // Each block has three entries: two pointers to one new object and one to another, null, and the first of the entry once more.
    let words = |of: &[u32]| of.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let object =
        |number: u32| [words(&[0x4000_0000 | 10, u32::MAX]), b"P\0".to_vec(), words(&[number])].concat();
    let schema = Schema::Pointer(vec![("P".into(), Schema::Number(Wire::Big(DType::Int32)))]).list();
    let dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::None };
    let program = translate(&schema, &dialect, true, "x").unwrap();
    let mut group = groups().swap_remove(2);
    group.columns = program.outputs.iter().map(|o| spec(&o.key, o.dtype, o.offsets)).collect();
    group.form = program.form.clone();
    group.decoder = Decoder::Program(Arc::new(program));
    const BLOCKS: u32 = 40;
    let mut file = Vec::new();
    let mut plan =
        Plan { entries: 0..3 * u64::from(BLOCKS), delivered: 1, format: "plain".into(), ..Plan::default() };
    plan.groups.push(group);
    for block in 0..BLOCKS {
        let (mut payload, mut bounds) = (Vec::new(), vec![0u32]);
        for entry in 0..3 {
            let first = payload.len() as u32 + 4;
            let number = 6 * block + 2 * entry;
            payload.extend(words(&[5]));
            payload.extend(object(number));
            payload.extend(words(&[first + 2]));
            payload.extend(object(number + 1));
            payload.extend(words(&[0, first + 2]));
            bounds.push(payload.len() as u32);
        }
        let start = file.len() as u64;
        for word in [3, bounds.len() as u32].iter().chain(&bounds) {
            file.extend(word.to_le_bytes());
        }
        file.extend(&payload);
        let entries = 3 * u64::from(block)..3 * u64::from(block) + 3;
        plan.tasks.push(Task {
            group: 0,
            block: block.into(),
            wanted: entries.clone(),
            entries,
            stored: Stored::Range(start..file.len() as u64),
            payload_hint: payload.len() as u64,
            needs: vec![],
            note: 0,
        });
    }
    let file = memory(&file);
    let index: Vec<i64> =
        (0..3 * i64::from(BLOCKS)).flat_map(|e| [2 * e, 2 * e, 2 * e + 1, -1, 2 * e]).collect();
    let numbers: Vec<i32> = (0..6 * BLOCKS as i32).collect();
    for threads in [1, 2, 4] {
        let array = engine().read(&plan, &file, &Plain, Some(threads), None).unwrap().remove(0);
        assert_eq!(array.form.type_string(), "var * ?int32");
        assert_eq!(array.column("node1-index").unwrap().items::<i64>(), Some(&index[..]), "{threads}");
        assert_eq!(array.column("node2-data").unwrap().items::<i32>(), Some(&numbers[..]), "{threads}");
        array.validate().unwrap();
    }
    // A part begins with entries of its own.
    plan.entries = 4..6;
    plan.tasks = plan.tasks[1..2].to_vec();
    plan.tasks[0].wanted = 4..6;
    let array = engine().read(&plan, &file, &Plain, Some(1), None).unwrap().remove(0);
    assert_eq!(
        array.column("node1-index").unwrap().items::<i64>(),
        Some(&[0i64, 0, 1, -1, 0, 2, 2, 3, -1, 2][..])
    );
    assert_eq!(array.column("node2-data").unwrap().items::<i32>(), Some(&[8, 9, 10, 11][..]));
}
