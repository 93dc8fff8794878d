//! Builders and columns as their users see them.

use bytes::Bytes;
use forthwith_columns::{Builder, Column, DType, Memory, Policy, Presence};

#[test]
fn four_threads_write_disjoint_slots() {
    let memory = Memory::default();
    let each = if cfg!(miri) { 5 } else { 1000 };
    let builder = Builder::new(&memory, DType::Int32, false, 4 * each * 100).unwrap();
    let mut slots: Vec<Vec<_>> = (0..4).map(|_| Vec::new()).collect();
    for part in 0..100usize {
        slots[part % 4].push((part, builder.append(each).unwrap()));
    }
    std::thread::scope(|scope| {
        for mine in slots {
            scope.spawn(move || {
                for (part, mut slot) in mine {
                    for (at, item) in slot.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                        *item = ((part * each + at) as i32).to_ne_bytes();
                    }
                }
            });
        }
    });
    assert_eq!(builder.len(), each * 100);
    let column = builder.finish();
    assert!(column.as_i32().unwrap().iter().enumerate().all(|(at, item)| at as i32 == *item));
}

#[test]
fn growth_waits_for_slots_that_are_out() {
    let memory = Memory::default();
    let builder = Builder::new(&memory, DType::UInt8, false, 0).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let builder = &builder;
            scope.spawn(move || {
                for _ in 0..if cfg!(miri) { 5 } else { 300 } {
                    let mut slot = builder.append(777).unwrap();
                    slot.fill(thread);
                }
            });
        }
    });
    let column = builder.finish();
    let items = column.as_u8().unwrap();
    assert_eq!(items.len(), 4 * 777 * if cfg!(miri) { 5 } else { 300 });
    assert!(items.chunks(777).all(|part| part.iter().all(|byte| *byte == part[0])));
}

#[test]
fn offsets_start_with_zero_and_a_buffer_can_be_lent() {
    let memory = Memory::default();
    let mut builder = Builder::new(&memory, DType::Int64, true, 16).unwrap();
    assert_eq!((builder.len(), builder.last_offset()), (1, 0));
    builder.extend(&5i64.to_ne_bytes()).unwrap();
    let (mut buffer, items) = builder.lend();
    assert_eq!(items, 2);
    buffer.grow(16, 1000).unwrap();
    buffer.bytes_mut(24)[16..].copy_from_slice(&9i64.to_ne_bytes());
    builder.give_back(buffer, 3);
    assert_eq!(builder.last_offset(), 9);
    builder.extend(&11i64.to_ne_bytes()).unwrap();
    builder.truncate(3);
    assert_eq!(builder.finish().as_i64().unwrap(), [0, 5, 9]);
}

#[test]
fn a_builder_under_a_limit_reserves_less_and_grows_to_the_limit() {
    let memory = Memory::new(Policy { limit: Some(100_000), ..Policy::default() });
    let builder = Builder::new(&memory, DType::UInt8, false, 1 << 30).unwrap();
    builder.extend(&[1; 30_000]).unwrap();
    assert!(builder.append(1 << 20).is_err());
    assert_eq!(builder.finish().len(), 30_000);
    assert_eq!(memory.stats().outstanding_bytes, 0);
}

#[test]
fn columns_slice_view_and_outlive_their_memory() {
    let memory = Memory::default();
    let builder = Builder::new(&memory, DType::UInt32, false, 0).unwrap();
    for item in 0..1000u32 {
        builder.extend(&item.to_ne_bytes()).unwrap();
    }
    drop(memory);
    let column = builder.finish();
    let part = column.slice(10..20);
    assert!(part.writable());
    assert_eq!(part.address(), column.address() + 40);
    drop(column);
    assert_eq!(part.as_u32().unwrap(), (10..20).collect::<Vec<_>>());
    assert_eq!(part.slice(5..100).len(), 5);
    assert_eq!(part.as_i32(), None);
    assert_eq!(part.item::<u32>(3), Some(13));
    assert_eq!(part.item::<u32>(10), None);
    assert_eq!(part.view(DType::UInt64).unwrap().len(), 5);
    assert_eq!(part.slice(0..3).view(DType::UInt64), None);
    assert_eq!(part.to_bytes().len(), 40);
    let copy = part.compact();
    assert_eq!(copy, part);
    assert_ne!(copy.address(), part.address());
}

#[test]
fn views_of_foreign_bytes_are_read_only_and_may_be_unaligned() {
    let bytes = Bytes::from(vec![1u8, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0]);
    let column = Column::from_bytes(DType::Int32, bytes.slice(4..));
    assert!(!column.writable());
    assert_eq!(column.len(), 2);
    let odd = Column::from_bytes(DType::Int16, bytes.slice(1..));
    let even = Column::from_bytes(DType::Int16, bytes.slice(2..));
    assert_eq!(u8::from(odd.as_i16().is_none()) + u8::from(even.as_i16().is_none()), 1);
    assert_eq!(odd.item::<i16>(0), Some(0));
    assert_eq!(odd.compact().as_i16().unwrap().len(), odd.len());
    assert!(Column::from_slice(&[1.5f64, 2.5]).as_f64().unwrap() == [1.5, 2.5]);
}

#[test]
fn an_index_of_rows_is_written_when_others_follow() {
    let memory = Memory::default();
    let rows = |bits: u64, count: usize| {
        let mut rows = Presence::default();
        rows.extend(&[(1 << count) - 1], &[bits]);
        rows
    };
    let made = |missing: bool, more: &[i64]| {
        let builder = Builder::new(&memory, DType::Int64, false, 0).unwrap();
        assert!(builder.append_rows(0, &rows(7, 3)));
        assert!(!builder.append_rows(2, &rows(1, 1)), "not where it ends");
        assert!(!builder.append_rows(-1, &rows(1, 1)));
        assert!(builder.append_rows(3, &rows(if missing { 2 } else { 3 }, 2)));
        assert_eq!(builder.len(), 5);
        let bytes: Vec<u8> = more.iter().flat_map(|item| item.to_ne_bytes()).collect();
        builder.extend(&bytes).unwrap();
        let next = if missing { 4 } else { 5 };
        assert_eq!(builder.append_rows(next, &rows(1, 1)), more.is_empty());
        builder.finish()
    };
    let written = made(false, &[-1, 5]);
    assert_eq!(written.as_i64(), Some(&[0, 1, 2, 3, 4, -1, 5][..]));
    assert!(!written.counts_up() && written.presence().is_none());
    assert_eq!(made(true, &[-1, 5]).as_i64(), Some(&[0, 1, 2, -1, 3, -1, 5][..]));
    let counted = made(false, &[]);
    assert!(counted.counts_up());
    assert!(counted.slice(0..2).counts_up());
    assert!(!counted.slice(1..3).counts_up());
    assert_eq!(counted.slice(1..4).as_i64(), Some(&[1, 2, 3][..]));
    assert_eq!(counted, Column::from_slice(&[0_i64, 1, 2, 3, 4, 5]));
    let some = made(true, &[]);
    assert!(!some.counts_up());
    assert_eq!(some.presence().map(|rows| (rows.rows(), rows.there())), Some((6, 5)));
    assert!(some.slice(0..3).counts_up() && some.slice(0..3).presence().is_none());
    assert_eq!(some, Column::from_slice(&[0_i64, 1, 2, -1, 3, 4]));
    // Of other types, and offsets, all items are written.
    for (dtype, offsets) in [(DType::Int32, false), (DType::Int64, true)] {
        assert!(!Builder::new(&memory, dtype, offsets, 0).unwrap().append_rows(0, &rows(1, 1)));
    }
    let long: Vec<i64> = (0..2000).collect();
    assert!(Column::from_slice(&long).counts_up());
    for wrong in [0, 511, 512, 1999] {
        let mut long = long.clone();
        long[wrong] += 1;
        assert!(!Column::from_slice(&long).counts_up(), "{wrong}");
    }
}
