//! Damaged and nonsensical data are errors with their place.

use crate::made::*;
use forthwith_columns::{DType, Encoding};
use forthwith_io::Source;
use forthwith_plan::{
    Block, BlockFormat, Columns, Decoder, Error, ErrorKind, Group, Kernel, Plan, Result, Scratch, Stored,
    Task,
};
use std::{ops::Range, sync::Arc};

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

/// A block that is nowhere is an error of that block with the plan's reason, read or handed out; plans
/// without it can be read.
#[test]
fn a_block_that_is_missing_is_an_error_with_its_reason() {
    let (mut made, _) = make();
    let at = made.plan.tasks.iter().position(|t| t.group == 2 && t.block == 2).unwrap();
    made.plan.tasks[at].stored = Stored::Missing { reason: "it was never written".into(), at: Some(77) };
    for threads in [1, 4] {
        let error = failure(&made, threads);
        assert!(matches!(error.kind, ErrorKind::Missing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("it was never written") && text.contains("made:table/nested, basket 2"),
            "{text}"
        );
        assert_eq!(error.place.byte, Some(77));
    }
    let raw = |task| engine().raw(&made.plan, task, &memory(&made.file), &Plain);
    assert!(raw(at).unwrap_err().to_string().contains("it was never written"));
    assert!(raw(at - 1).is_ok());
}

fn jagged_of(per_item: u64) -> Decoder {
    Decoder::Kernel(Kernel::Jagged { header: 2, wire: Encoding::Big(DType::Float64), per_item })
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

/// Later blocks fail at once, while one before them waits for its turn and would fail then: the error is that
/// of the earliest all the same.
#[test]
fn the_error_is_that_of_the_earliest_block_whoever_fails_first() {
    struct Late;
    impl BlockFormat for Late {
        fn id(&self) -> &'static str {
            "plain"
        }
        fn unframe<'a>(&self, g: &Group, t: &Task, b: &'a [u8], s: &'a mut Scratch) -> Result<Block<'a>> {
            Plain.unframe(g, t, b, s)
        }
        fn decode(
            &self,
            _: &Group,
            task: &Task,
            _: &[u8],
            _: &mut Scratch,
            columns: &mut dyn Columns,
        ) -> Result<()> {
            match task.block {
                0 => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    return Ok(());
                }
                1 => columns.wait()?,
                _ => {}
            }
            Err(ErrorKind::Fault { what: "no block".into() }.into())
        }
    }
    let (mut made, _) = make();
    made.plan.groups.truncate(1);
    made.plan.tasks.retain(|task| task.group == 0);
    made.plan.delivered = 1;
    made.plan.groups[0].decoder = Decoder::Format("late".into());
    assert!(made.plan.tasks.len() > 2);
    for threads in [1, 2, 3, 8] {
        let read = engine().read(&made.plan, &memory(&made.file), &Late, Some(threads), None);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("basket 1") && error.contains("no block"), "{threads} threads: {error}");
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
