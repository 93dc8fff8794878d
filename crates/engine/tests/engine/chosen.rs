//! Some entries of blocks alone are what the arrays of all entries have in these rows.

use crate::made::*;
use forthwith_columns::Array;
use forthwith_io::{Callback, Source};
use forthwith_plan::{Decoder, Plan, Stored};
use std::{ops::Range, sync::Arc};

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
            .filter(|entry| (entry / 3 + round) % 4 == 0 || next(&mut state) % one_in == 0)
            .collect();
        entries.retain(|_| round % 3 > 0 || next(&mut state) % one_in == 0);
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
    wrong(&|plan| plan.chosen = Some([5, 700].into()));
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
    // An item of nine bytes.
    made.file[place..place + 4].copy_from_slice(&1_u32.to_le_bytes());
    let read = |entries: &[u64]| {
        let chosen = plan(&made, 0..ENTRIES).choosing(entries.into()).unwrap();
        engine().read(&chosen, &memory(&made.file), &Plain, None, None)
    };
    assert!(read(&[last]).is_err());
}
