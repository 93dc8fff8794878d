//! Buffers of every size and origin.

use super::*;

fn pooled(bytes: usize) -> Memory {
    Memory::new(Policy { pool_bytes: bytes, ..Policy::default() })
}

/// Writes a pattern over all of a buffer, slack included, and checks the promises about its surroundings.
fn use_fully(buffer: &mut Buffer) {
    let start = buffer.as_ptr();
    assert!(start.addr().is_multiple_of(64));
    for before in 1..=PAD {
        // SAFETY: the bytes before the start may be read.
        assert_eq!(unsafe { start.sub(before).read() }, 0, "byte -{before}");
    }
    let capacity = buffer.capacity();
    for at in
        (0..capacity).step_by(if capacity > 1 << 16 { 4096 } else { 1 }).chain(capacity..capacity + SLACK)
    {
        // SAFETY: capacity and slack may be written.
        unsafe { start.add(at).write(at as u8 | 1) };
    }
}

const SIZES: [usize; 7] = [0, 1, 63, 4096, 100_000, 3 << 20, 20 << 20];

#[test]
fn buffers_of_every_size_keep_their_promises() {
    let memory = pooled(0);
    for bytes in SIZES {
        let mut buffer = memory.allocate(bytes).unwrap();
        assert!(buffer.capacity() >= bytes);
        use_fully(&mut buffer);
    }
    assert_eq!(memory.stats().outstanding_bytes, 0);
    assert!(memory.stats().peak_bytes >= 20 << 20);
}

#[test]
fn growing_keeps_the_bytes_and_doubles() {
    for huge_pages in [true, false] {
        let memory = Memory::new(Policy { huge_pages, ..Policy::default() });
        let mut buffer = memory.allocate(100).unwrap();
        let limit = if cfg!(miri) { 1 << 14 } else { 20 << 20 };
        let mut used = 100;
        buffer.bytes_mut(used).fill(7);
        while used < limit {
            let before = buffer.capacity();
            buffer.grow(used, before + 1).unwrap();
            assert!(buffer.capacity() >= 2 * before);
            assert!(buffer.bytes(used).iter().step_by(61).all(|byte| *byte == 7));
            used = buffer.capacity() - 3;
            buffer.bytes_mut(used).fill(7);
        }
        use_fully(&mut buffer);
    }
}

#[test]
fn shrinking_keeps_the_bytes_and_gives_the_rest_back() {
    let memory = pooled(0);
    let sizes = if cfg!(miri) { [20_000, 9_000] } else { [3 << 20, 12 << 20] };
    for bytes in sizes {
        let pattern: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        for used in [0, 1, 1000, bytes / 7, bytes / 2, bytes] {
            let mut buffer = memory.allocate(bytes).unwrap();
            buffer.bytes_mut(used).copy_from_slice(&pattern[..used]);
            buffer.shrink(used);
            assert!(buffer.bytes(used) == &pattern[..used]);
            assert!(buffer.capacity() >= used);
            if bytes > 1 << 20 {
                assert!(buffer.capacity() <= used + 8192, "{used} of {bytes}: {}", buffer.capacity());
                assert!(memory.stats().outstanding_bytes <= used + 8192 + 256);
            }
            buffer.grow(used, used + 100_000).unwrap();
            assert!(buffer.bytes(used) == &pattern[..used]);
        }
    }
    assert_eq!(memory.stats().outstanding_bytes, 0);
}

/// Places of all sizes, written by several threads side by side, in memory of huge pages that is had from the
/// system and from the pool: making pages ahead changes nothing of what is in them.
#[test]
fn pages_that_are_made_ahead_lose_nothing() {
    use crate::{Builder, DType};
    let sizes: Vec<usize> = match cfg!(miri) {
        true => vec![1, 100, 3],
        false => (0..60).flat_map(|at| [1, 30_000 + at, 700_000, 5]).chain([9 << 20, 0, 3 << 20]).collect(),
    };
    let most = sizes.iter().sum::<usize>();
    let memory = pooled(1 << 30);
    for reserved in [most, most, most / 3, 100] {
        let mut builder = Builder::new(&memory, DType::UInt8, false, reserved).unwrap();
        builder.make_pages_ahead();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for size in &sizes {
                        let mut slot = builder.append(*size).unwrap();
                        slot.fill((*size % 251) as u8);
                    }
                });
            }
        });
        let column = builder.finish();
        assert_eq!(column.len(), 2 * most);
        // Whoever came first, every place holds what was written to it and nothing else.
        let mut counts = [0; 256];
        column.as_bytes().iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let mut expected = [0; 256];
        sizes.iter().for_each(|size| expected[size % 251] += 2 * size);
        assert_eq!(counts, expected);
    }
}

/// A column that gets its room late, is lent again and again and grows meanwhile, in memory of either kind of
/// pages.
#[test]
fn a_column_that_is_lent_keeps_its_items() {
    use crate::{Builder, DType};
    let rounds = if cfg!(miri) { 4 } else { 200 };
    let memory = Memory::new(Policy { huge_from: 1 << 20, ..Policy::default() });
    for (room, expected) in [(0, 0), (1000, 10), (300_000, 300_000), (4 << 20, 1 << 10), (4 << 20, 4 << 20)] {
        let builder = Builder::new(&memory, DType::Int64, true, 0).unwrap();
        builder.append(1).unwrap().copy_from_slice(&7_i64.to_ne_bytes());
        builder.reserve(room, expected).unwrap();
        builder.reserve(10, 10).unwrap();
        let mut all = vec![0, 7];
        for round in 0..rounds {
            let (mut buffer, items) = builder.lend();
            assert_eq!(items, all.len());
            let more: Vec<i64> = (0..round * 61 % 4099).collect();
            buffer.grow(8 * items, 8 * (items + more.len())).unwrap();
            let bytes: Vec<u8> = more.iter().flat_map(|item| item.to_ne_bytes()).collect();
            buffer.bytes_mut(8 * (items + more.len()))[8 * items..].copy_from_slice(&bytes);
            builder.give_back(buffer, items + more.len());
            all.extend(more);
        }
        assert_eq!(builder.last_offset(), all[all.len() - 1]);
        assert!(builder.finish().items::<i64>().unwrap() == all);
    }
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn the_pool_prefers_what_has_the_pages() {
    let memory = pooled(64 << 20);
    let sizes = [300_000, 3 << 20, 1 << 20];
    let buffers = sizes.map(|used| {
        let mut buffer = memory.allocate_expecting(4 << 20, used).unwrap();
        buffer.bytes_mut(used).fill(1);
        buffer.shrink(used);
        buffer
    });
    let at = buffers.each_ref().map(|buffer| buffer.as_ptr().addr());
    drop(buffers);
    // Whatever the order is now.
    for which in [1, 0, 2] {
        let buffer = memory.allocate_expecting(4 << 20, sizes[which]).unwrap();
        assert_eq!(buffer.as_ptr().addr(), at[which]);
        std::mem::forget(buffer);
    }
    assert_eq!(memory.stats().hits, 3);
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn what_only_has_bounds_finds_its_pages_in_the_order_it_was_left() {
    let memory = pooled(64 << 20);
    // The same bound for all but one, and little of it used, as lists in lists have it.
    let sizes = [(8 << 20, 1 << 20), (8 << 20, 3 << 20), (4 << 20, 4 << 20)];
    let pass = || {
        let buffers = sizes.map(|(bound, used)| {
            let mut buffer = memory.allocate(bound).unwrap();
            buffer.bytes_mut(used).fill(1);
            buffer.shrink(used);
            buffer
        });
        buffers.each_ref().map(|buffer| buffer.as_ptr().addr())
    };
    let first = pass();
    let kept = memory.stats().pooled_bytes;
    for _ in 0..5 {
        assert_eq!(pass(), first);
        assert_eq!(memory.stats().pooled_bytes, kept);
    }
    assert_eq!((memory.stats().hits, memory.stats().misses), (15, 3));
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn the_pool_hands_dropped_mappings_out_again_with_a_clean_pad() {
    let memory = pooled(64 << 20);
    let mut first = memory.allocate(10 << 20).unwrap();
    use_fully(&mut first);
    let address = first.as_ptr().addr();
    // SAFETY: nothing reads the pad of this buffer any more; a stray write is what is tested.
    unsafe { first.as_ptr().sub(8).write_bytes(9, 8) };
    std::thread::spawn(move || drop(first)).join().unwrap();
    assert_eq!(memory.stats().pooled_buffers, 1);
    let mut again = memory.allocate(9 << 20).unwrap();
    assert_eq!(again.as_ptr().addr(), address);
    assert_eq!(memory.stats().hits, 1);
    use_fully(&mut again);
    drop(again);
    memory.clear();
    assert_eq!(memory.stats().pooled_bytes, 0);
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn the_pool_grows_what_is_nearly_large_enough_and_splits_what_is_left() {
    let memory = pooled(64 << 20);
    let mut first = memory.allocate(24 << 20).unwrap();
    use_fully(&mut first);
    drop(first);
    let mut second = memory.allocate(24 << 20).unwrap();
    second.bytes_mut(8 << 20).fill(1);
    second.shrink(8 << 20);
    // Sixteen MiB of warm pages went back while eight are in use.
    assert!(memory.stats().pooled_bytes >= 15 << 20, "{:?}", memory.stats());
    drop(second);
    let mut larger = memory.allocate(30 << 20).unwrap();
    assert_eq!(memory.stats().hits, 2);
    use_fully(&mut larger);
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn the_pool_stays_within_its_bytes() {
    let memory = pooled(16 << 20);
    let buffers: Vec<_> = (0..8).map(|_| memory.allocate(4 << 20).unwrap()).collect();
    drop(buffers);
    drop(memory.allocate(100 << 20).unwrap());
    let stats = memory.stats();
    assert!(stats.pooled_bytes <= 16 << 20 && stats.pooled_buffers >= 3, "{stats:?}");
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn reservations_cost_nothing_until_they_are_written() {
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let memory = Memory::new(Policy { huge_pages: false, ..Policy::default() });
    let before = resident();
    let buffers: Vec<_> = (0..16).map(|_| memory.allocate(4 << 30).unwrap()).collect();
    assert!(resident() < before + (100 << 20), "{} to {}", before, resident());
    drop(buffers);
    assert_eq!(memory.stats().pooled_bytes, 0);
}

#[test]
fn the_limit_refuses_and_recovers() {
    let memory = Memory::new(Policy { limit: Some(1 << 20), ..Policy::default() });
    let most = memory.allocate(900_000).unwrap();
    assert_eq!(memory.allocate(200_000).unwrap_err(), OutOfMemory { bytes: 200_000 });
    drop(most);
    let mut buffer = memory.allocate(600_000).unwrap();
    // Doubling is beyond the limit, but what is needed is not: growing on the heap holds both for a moment.
    assert!(buffer.grow(10, 2 << 20).is_err());
    assert_eq!(buffer.bytes(10).len(), 10);
    drop(buffer);
    assert!(memory.allocate(900_000).is_ok());
    assert_eq!(Memory::default().allocate(usize::MAX).unwrap_err().bytes, usize::MAX);
    // Miri ends where memory does.
    assert!(cfg!(miri) || Memory::default().allocate(isize::MAX as usize - 4096).is_err());
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn a_forked_child_takes_no_lock() {
    let memory = pooled(64 << 20);
    let large = memory.allocate(4 << 20).unwrap();
    let small = memory.allocate(100).unwrap();
    // Another thread may be doing this at the moment of the fork.
    let held = memory.0.pool.lock().unwrap();
    // SAFETY: the child frees and allocates, as a forked Python does, and leaves without running anything
    // else.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a timer for this process; a deadlock ends in a signal.
        unsafe { libc::alarm(10) };
        drop((large, small));
        let mut again = memory.allocate(4 << 20).unwrap();
        use_fully(&mut again);
        drop(again);
        memory.clear();
        // SAFETY: leaves without destructors, as a forked child does.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    drop(held);
    drop((large, small));
    assert_eq!(memory.stats().pooled_buffers, 1);
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_mapping_that_is_stretched_keeps_its_bytes() {
    let map = Map::new(3 << 20, false).unwrap();
    let len = map.len();
    // SAFETY: the mapping is that long and belongs to this test alone.
    unsafe { map.base().write_bytes(7, len) };
    let map = map.stretch(40 << 20).unwrap_or_else(|_| panic!("there is room"));
    assert!(map.len() >= 40 << 20);
    // SAFETY: as above.
    let bytes = unsafe { std::slice::from_raw_parts(map.base().as_ptr(), map.len()) };
    assert!(bytes[..len].iter().all(|byte| *byte == 7) && bytes[len..].iter().all(|byte| *byte == 0));
    assert!(map.stretch(usize::MAX).is_err_and(|map| map.len() >= 40 << 20));
}

/// One test, since all that share have one pool.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn what_is_shared_is_had_by_all_who_do_and_bounded() {
    let sharing = || Memory::new(Policy { shared: true, ..Policy::default() });
    let common = || super::pool::of_process().lock().unwrap();
    let column = |memory: &Memory, reserved: usize, written: usize| {
        let mut buffer = memory.allocate_expecting(reserved, written).unwrap();
        buffer.bytes_mut(written).fill(7);
        buffer.shrink(written);
        buffer
    };
    // While the first memory is there, and its column, too.
    let (first, second) = (sharing(), sharing());
    let kept = column(&first, 2 << 20, 1 << 20);
    let buffer = column(&first, 2 << 20, 1 << 20);
    let address = buffer.as_ptr();
    drop(buffer);
    assert_eq!(common().len(), 1);

    // A memory that does not share gets nothing of the pool, nor leaves anything in it.
    let alone = pooled(256 << 20);
    drop(column(&alone, 2 << 20, 1 << 20));
    assert_eq!((alone.stats().hits, common().len()), (0, 1));

    let again = column(&second, 2 << 20, 1 << 20);
    assert_eq!((again.as_ptr(), second.stats().hits, common().len()), (address, 1, 0));
    drop((again, kept));

    // Address space that was never written is not kept, nor more than there is room for; the rest is the
    // memory's own.
    drop(column(&second, 1 << 40, 1 << 20));
    for _ in 0..3 {
        drop((0..40).map(|_| column(&second, 1 << 20, 1 << 20)).collect::<Vec<_>>());
        drop((0..3).map(|_| column(&second, 100 << 20, 100 << 20)).collect::<Vec<_>>());
    }
    assert!((200 << 20..=256 << 20).contains(&common().bytes()), "{}", common().bytes());
    assert!(common().kept().iter().all(|map| map.len() <= 64 * map.warm()));
    assert!(second.stats().pooled_bytes >= 100 << 20);
    drop((0..300).map(|_| column(&second, 200 << 10, 200 << 10)).collect::<Vec<_>>());
    assert!(common().len() <= 256);
    *common() = Pool::default();

    // Scratch keeps nothing itself.
    let scratch = || Memory::new(Policy { pool_bytes: 0, shared: true, ..Policy::default() });
    let (first, second) = (scratch(), scratch());
    drop(column(&first, 1 << 20, 1 << 20));
    assert_eq!((first.stats().pooled_buffers, common().len()), (0, 1));
    drop(column(&second, 1 << 20, 1 << 20));
    assert_eq!((second.stats().hits, common().len()), (1, 1));
    *common() = Pool::default();
}

/// Columns that are filled together, in huge pages of all of them: written fully, grown, shrunk and kept one
/// by one.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn buffers_that_lie_together_are_as_good_as_others() {
    let wishes = [(5 << 20, 1 << 20), (1 << 20, 1 << 20), (100, 100), (1 << 30, 700_000), (9 << 20, 8 << 20)];
    for bytes in [0, 1 << 30] {
        let memory = pooled(bytes);
        for turn in 0..3 {
            let mut made = memory.allocate_together(&wishes);
            if !map::there_are_huge_pages() {
                assert!(made.iter().all(Option::is_none));
                return;
            }
            let there: Vec<bool> = made.iter().map(Option::is_some).collect();
            assert_eq!(there, [true, true, false, true, false]);
            for (buffer, (_, expected)) in made.iter_mut().flatten().zip([wishes[0], wishes[1], wishes[3]]) {
                assert!(buffer.capacity() >= expected);
                use_fully(buffer);
            }
            // Nobody makes its pages ahead, but those of the last, which begins behind the last huge page.
            let pages = made.iter().flatten().map(|buffer| buffer.pages().is_some());
            assert!(turn > 0 || pages.eq([false, false, true]));
            // Nobody wrote into anybody else's.
            for buffer in made.iter().flatten() {
                let at = (0..buffer.capacity()).step_by(4096);
                assert!(at.clone().all(|at| buffer.bytes(at + 1)[at] == at as u8 | 1));
            }
            let [first, second, _, fourth, _] = &mut made[..] else { unreachable!() };
            let first = first.as_mut().unwrap();
            let used = first.capacity();
            if bytes == 0 {
                first.grow(used, 30 << 20).unwrap();
            }
            assert!((0..used).step_by(4096).all(|at| first.bytes(used)[at] == at as u8 | 1));
            second.as_mut().unwrap().shrink((1 << 20) - 10_000);
            fourth.as_mut().unwrap().shrink(200_000);
            assert_eq!(fourth.as_ref().unwrap().bytes(4097)[4096], 1);
            made.remove(1);
        }
        assert_eq!(memory.stats().outstanding_bytes, 0);
        assert_eq!(memory.stats().hits > 0, bytes > 0);
    }
    // Too small for a page, or without another column to share it with.
    let memory = pooled(0);
    for wishes in [&[(200_000, 200_000); 4][..], &[(2 << 20, 2 << 20)]] {
        assert!(memory.allocate_together(wishes).iter().all(Option::is_none));
    }
    let none = Memory::new(Policy { huge_pages: false, ..Policy::default() });
    assert!(none.allocate_together(&wishes).iter().all(Option::is_none));
}
