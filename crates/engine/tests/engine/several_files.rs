//! Blocks of several files fill the columns that those of one file would.

use crate::made::*;
use forthwith_engine::{Filling, Part, fills_same_columns};
use forthwith_io::{Callback, Source};
use forthwith_plan::{Error, Plan, Result};
use std::sync::Arc;

/// The plan of a file that has some blocks of another one, whose entries are counted from 0 on.
fn some_blocks(all: &Plan, blocks: std::ops::Range<u64>) -> Plan {
    let mut tasks: Vec<_> = all.tasks.iter().filter(|task| blocks.contains(&task.block)).cloned().collect();
    let first = tasks.iter().map(|task| task.entries.start).min().unwrap_or(0);
    let end = tasks.iter().map(|task| task.entries.end).max().unwrap_or(0);
    for task in &mut tasks {
        task.entries = task.entries.start - first..task.entries.end - first;
        task.wanted = task.entries.clone();
    }
    Plan { entries: 0..end - first, tasks, uri: format!("blocks {blocks:?}"), ..all.clone() }
}

/// Files of up to `size` blocks.
fn divided(all: &Plan, size: u64) -> Vec<Plan> {
    let blocks = all.tasks.iter().map(|task| task.block + 1).max().unwrap_or(0);
    (0..blocks).step_by(size as usize).map(|at| some_blocks(all, at..(at + size).min(blocks))).collect()
}

fn filled(
    plans: &[Plan],
    source: &Arc<dyn Source>,
    together: usize,
    threads: usize,
) -> Result<Vec<forthwith_columns::Array>> {
    let engine = engine();
    let mut filling = Filling::new(&plans[0]);
    for plans in plans.chunks(together) {
        let parts: Vec<_> = plans.iter().map(|plan| Part { plan, source, format: &Plain }).collect();
        filling.read(&engine, &parts, Some(threads), None)?;
    }
    filling.finish(&engine, threads)
}

#[test]
fn any_division_into_files_gives_the_same() {
    let (made, truth) = make();
    let slow: Arc<dyn Source> = Arc::new(Callback::new("slow", Box::new(Slow(made.file.clone()))));
    for source in [memory(&made.file), slow] {
        for size in [1, 4, 1000] {
            let plans = divided(&made.plan, size);
            for (together, threads) in [(1, 1), (1, 3), (3, 1), (3, 2), (1000, 8)] {
                check(&filled(&plans, &source, together, threads).unwrap(), &truth);
            }
        }
    }
}

#[test]
fn the_error_names_the_file_and_its_entry() {
    let (mut made, _) = make();
    let plans = divided(&made.plan, 4);
    // The second entry of the fourth block has a length that is no whole number of items.
    let broken = &plans[3].tasks.iter().find(|task| task.group == 1).unwrap().stored;
    let forthwith_plan::Stored::Range(range) = broken else { panic!("not stored") };
    made.file[range.start as usize + 12] ^= 1;
    let source = memory(&made.file);
    for threads in [1, 3] {
        let error: Error = filled(&plans, &source, 2, threads).unwrap_err();
        assert_eq!(error.place.object.as_deref(), Some("table/jagged"));
        assert_eq!(error.place.uri.as_deref(), Some(&*plans[3].uri));
        assert_eq!(error.place.block, plans[3].tasks.first().map(|task| task.block));
    }
}

#[test]
fn a_plan_of_other_columns_is_refused() {
    let (made, _) = make();
    let mut plans = divided(&made.plan, 4);
    plans[1].groups.swap(0, 1);
    assert!(!fills_same_columns(&plans[0], &plans[1], &Plain));
    let error = filled(&plans, &memory(&made.file), 2, 1).unwrap_err();
    assert!(error.to_string().contains("fills other columns"), "{error}");
}
