//! Claims of files, and the meaning of objects.

use crate::made::*;
use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Decoder, Plan, Stored, Task};
use forthwith_program::{Count, Dialect, Frame, Layout, TextLength, translate};
use std::sync::Arc;

#[test]
fn claims_of_a_file_do_not_use_up_the_address_space() {
    // Every block claims to hold far more entries than there is memory, in more columns than there are places
    // for such claims.
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
            numbers: Vec::new(),
        });
    }
    plan.delivered = 100;
    let engine = engine();
    let outcome = engine.read(&plan, &memory(&[0; 64]), &Refuses("x"), Some(1), None);
    assert!(outcome.is_err());
    assert!(engine.memory().stats().peak_bytes < 16 << 40, "{:?}", engine.memory().stats());
}

#[test]
fn an_object_has_one_row_in_its_entry_and_place() {
    // Each block has three entries: two pointers to one new object and one to another, null, and the first of
    // the entry once more.
    let words = |of: &[u32]| of.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let object =
        |number: u32| [words(&[0x4000_0000 | 10, u32::MAX]), b"P\0".to_vec(), words(&[number])].concat();
    let schema = Layout::Pointer(vec![("P".into(), Layout::Number(Encoding::Big(DType::Int32)))]).list();
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
            numbers: Vec::new(),
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
