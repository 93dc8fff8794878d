//! Damaged baskets and damaged metadata are errors, never a panic, and never more memory than the file could
//! need.

use std::sync::{Arc, OnceLock};

use forthwith_forth::Compiled;
use forthwith_io::Memory;
use forthwith_plan::{Block, BlockFormat, ColumnSpec, Dataset, Decoder, Plan, Scratch, Stored, Task};
use forthwith_root::RootFile;
use forthwith_ttree::{Tree, TreeFormat};
use proptest::{prelude::*, sample::Index};

use crate::{
    decode::{decode, run_program},
    support::bundled,
};

/// Bytes overwritten, each at a relative place.
fn damages() -> impl Strategy<Value = Vec<(Index, u8)>> {
    prop::collection::vec((any::<Index>(), prop_oneof![Just(0u8), Just(0xFF), Just(0x40), any::<u8>()]), 1..6)
}

fn damage(bytes: &mut [u8], damages: &[(Index, u8)]) {
    for (at, value) in damages {
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
    }
}

/// Some baskets of every layout there is, each with the plan it is from.
fn baskets() -> &'static [(Plan, Task, Vec<u8>)] {
    static BASKETS: OnceLock<Vec<(Plan, Task, Vec<u8>)>> = OnceLock::new();
    BASKETS.get_or_init(|| {
        let mut baskets = Vec::new();
        for name in ["leaves.root", "vectors.root", "layout.root", "codec-none.root", "codec-zlib.root"] {
            let Some(sample) = bundled(name) else { continue };
            for (_, tree, _) in sample.trees() {
                let tree = tree.expect("our own files have good trees");
                for field in 0..tree.fields().expect("a tree has fields").len() as u32 {
                    let entries = tree.entry_range(field, u64::MAX).expect("the field exists");
                    let Ok(plan) = tree.plan(&[field], entries) else { continue };
                    let Some(task) = plan.tasks.first().cloned() else { continue };
                    let stored = match &task.stored {
                        Stored::Range(_) if !plan.others.is_empty() => continue,
                        Stored::Range(range) => {
                            sample.file.source().read_one(range.clone()).expect("inside the file")
                        }
                        Stored::Inline(bytes) => bytes.clone(),
                        Stored::Missing { .. } => continue,
                    };
                    baskets.push((plan, task, stored.to_vec()));
                }
            }
        }
        baskets
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_baskets_do_not_panic(which: Index, damages in damages(), cut in prop::option::of(any::<Index>())) {
        let baskets = baskets();
        prop_assume!(!baskets.is_empty());
        let (plan, task, stored) = &baskets[which.index(baskets.len())];
        let mut stored = stored.clone();
        damage(&mut stored, &damages);
        if let Some(cut) = cut {
            stored.truncate(cut.index(stored.len()));
        }
        let group = &plan.groups[task.group as usize];
        if let Ok(block) = TreeFormat.unframe(group, task, &stored, &mut Scratch::new()) {
            prop_assert_eq!(block.entries, task.entries.end - task.entries.start);
            let bounds: Vec<u32> = block.bounds.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
            prop_assert!(bounds.is_sorted());
            prop_assert!(bounds.is_empty() || bounds.len() as u64 == block.entries + 1);
            prop_assert!(bounds.last().is_none_or(|&last| last as usize <= block.payload.len()));
        }
    }

    #[test]
    fn damaged_headers_do_not_panic(which: Index, damages in damages()) {
        let baskets = baskets();
        prop_assume!(!baskets.is_empty());
        let (plan, task, stored) = &baskets[which.index(baskets.len())];
        let mut stored = stored.clone();
        let length = stored.len().min(120);
        damage(&mut stored[..length], &damages);
        let group = &plan.groups[task.group as usize];
        drop(TreeFormat.unframe(group, task, &stored, &mut Scratch::new()));
    }
}

/// Programs of objects, each with the payload of a basket and where its entries begin.
type Case = (forthwith_program::Program, Vec<u8>, Vec<u8>, u64);

/// Whole objects: classes in frames, containers, pointers, arrays that name their class.
fn objects() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let mut cases = Vec::new();
        for (name, trees) in [("objects.root", ["whole", "once"]), ("mixed.root", ["whole", "once"])] {
            let Some(sample) = bundled(name) else { continue };
            for tree in trees.iter().filter_map(|tree| Tree::open(&sample.file, tree).ok()) {
                for field in 0..tree.fields().expect("a tree has fields").len() as u32 {
                    let Ok(plan) = tree.plan(&[field], 0..tree.entries().unwrap()) else { continue };
                    let Some(task) = plan.tasks.first() else { continue };
                    let Decoder::Program(program) = &plan.groups[0].decoder else { continue };
                    let Stored::Range(range) = &task.stored else { continue };
                    let stored = sample.file.source().read_one(range.clone()).expect("inside the file");
                    let mut scratch = Scratch::new();
                    let block = TreeFormat.unframe(&plan.groups[0], task, &stored, &mut scratch);
                    let block = block.expect("a sound basket");
                    let (payload, bounds) = (block.payload.to_vec(), block.bounds.to_vec());
                    cases.push((Arc::unwrap_or_clone(program.clone()), payload, bounds, block.origin));
                }
            }
        }
        assert!(cases.len() > 20, "only {} branches of objects", cases.len());
        cases
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn damaged_objects_are_errors_or_no_larger_than_their_bytes(which: Index, damages in damages()) {
        let cases = objects();
        let (program, payload, bounds, origin) = &cases[which.index(cases.len())];
        let mut payload = payload.clone();
        damage(&mut payload, &damages);
        let entries = bounds.len() as u64 / 4 - 1;
        let block = Block { payload: &payload, entries, bounds, origin: *origin };
        let specs = program.outputs.iter().map(|output| ColumnSpec {
            key: output.key.clone(),
            dtype: output.dtype,
            offsets: output.offsets,
            member: String::new(),
            bytes_per_payload_byte: 1,
        });
        let specs: Vec<ColumnSpec> = specs.collect();
        let mut columns = vec![Vec::new(); specs.len()];
        let compiled = Arc::new(Compiled::new(&program.source).expect("a generated program compiles"));
        if run_program(compiled, program, &block, [&[], &[]], &specs, &mut columns).is_ok() {
            let bytes: usize = columns.iter().map(Vec::len).sum();
            prop_assert!(bytes <= 8 * payload.len() + 8 * specs.len() * (entries as usize + 1), "{bytes}");
        }
    }
}

/// The bytes of a file, and where in it the records of trees are.
type Plain = (Vec<u8>, Vec<(String, std::ops::Range<usize>)>);

/// A file whose trees' records are not compressed, so that damage reaches their members.
fn plain() -> Option<&'static Plain> {
    static FILE: OnceLock<Option<Plain>> = OnceLock::new();
    FILE.get_or_init(|| {
        let sample = bundled("codec-none.root")?;
        let source = sample.file.source();
        let bytes = source.read_one(0..source.size().ok()?).ok()?.to_vec();
        let mut records = Vec::new();
        for (path, _, _) in sample.trees() {
            let stored = sample.file.find(&path).ok()?.key.stored().ok()?;
            records.push((path, stored.start as usize..stored.end as usize));
        }
        Some((bytes, records))
    })
    .as_ref()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_trees_do_not_panic(which: Index, damages in damages()) {
        let Some((bytes, records)) = plain() else { return Ok(()) };
        prop_assume!(!records.is_empty());
        let (path, range) = &records[which.index(records.len())];
        let mut bytes = bytes.clone();
        damage(&mut bytes[range.clone()], &damages);
        let file = RootFile::open(Arc::new(Memory::new("damaged", bytes))).expect("only a tree is damaged");
        let Ok(tree) = Tree::open(&file, path) else { return Ok(()) };
        for field in 0..tree.fields().expect("an open tree has fields").len() as u32 {
            drop(tree.describe(field));
            let Ok(entries) = tree.entry_range(field, u64::MAX) else { continue };
            drop(tree.boundaries(&[field], entries.clone()));
            if let Ok(plan) = tree.plan(&[field], entries) {
                drop(decode(&file, &plan));
            }
        }
    }
}
