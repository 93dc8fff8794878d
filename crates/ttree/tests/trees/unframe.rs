//! Baskets without their framing: what is borrowed, and what is refused at which byte.

use std::{ops::Range, sync::Arc};

use forthwith_io::Memory;
use forthwith_plan::{BlockFormat, Dataset, Decoder, Error, ErrorKind, Plan, Scratch, Stored, Task};
use forthwith_root::RootFile;
use forthwith_ttree::{Tree, TreeFormat};

use crate::support::bundled;

/// The first basket of a branch.
fn basket(file: &str, path: &str, branch: &str) -> Option<(Plan, Task, Vec<u8>)> {
    let sample = bundled(file)?;
    let tree = Tree::open(&sample.file, path).unwrap();
    let field = tree.find(branch).unwrap();
    let plan = tree.plan(&[field], tree.entry_range(field, u64::MAX).unwrap()).unwrap();
    let task = plan.tasks.first().unwrap().clone();
    let stored = match &task.stored {
        Stored::Range(range) => sample.file.source().read_one(range.clone()).unwrap().to_vec(),
        Stored::Inline(bytes) => bytes.to_vec(),
        Stored::Missing { reason, .. } => panic!("{reason}"),
    };
    Some((plan, task, stored))
}

/// The error after a change to the basket.
fn refused((plan, task, stored): &(Plan, Task, Vec<u8>), change: impl FnOnce(&mut Vec<u8>)) -> Error {
    let mut stored = stored.clone();
    change(&mut stored);
    let group = &plan.groups[task.group as usize];
    TreeFormat.unframe(group, task, &stored, &mut Scratch::new()).map(|_| ()).unwrap_err()
}

/// Offset of the header of a basket: the end of its key, which is there.
fn header(stored: &[u8]) -> usize {
    let keylen = usize::from(u16::from_be_bytes([stored[14], stored[15]]));
    keylen - 19
}

#[test]
fn stored_baskets_are_borrowed() {
    let Some((plan, task, stored)) = basket("codec-none.root", "events", "i") else { return };
    let mut scratch = Scratch::new();
    let block = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap();
    assert!(stored.as_ptr_range().contains(&block.payload.as_ptr()), "the payload is not copied");
    assert_eq!(block.payload.len() as u64, 4 * block.entries);
    assert!(block.bounds.is_empty(), "numbers of one size need none");
}

#[test]
fn bounds_begin_at_zero_and_end_with_the_payload() {
    for tree in ["clusters", "embedded", "inside", "circular", "circular_inside"] {
        let Some((plan, task, stored)) = basket("layout.root", tree, "v") else { return };
        let mut scratch = Scratch::new();
        let block = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap();
        let bounds: Vec<u32> =
            block.bounds.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        assert_eq!(bounds.len() as u64, block.entries + 1, "{tree}");
        assert_eq!((bounds[0], bounds[bounds.len() - 1] as usize), (0, block.payload.len()), "{tree}");
        assert!(bounds.is_sorted());
        // Of some entries, or of none in the middle.
        let Range { start, end } = task.entries;
        for wanted in [start + 1..end, start..end - 1, start + 2..end - 3, start + 3..start + 3] {
            let some = Task { wanted: wanted.clone(), ..task.clone() };
            let block = TreeFormat.unframe(&plan.groups[0], &some, &stored, &mut scratch).unwrap();
            let found = block.bounds.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b));
            let from = (wanted.start - start) as usize;
            let expected = &bounds[from..=(wanted.end - start) as usize];
            assert_eq!(found.collect::<Vec<_>>(), expected, "{tree} {wanted:?}");
        }
    }
}

#[test]
fn the_last_entry_of_a_basket_without_offsets_may_be_longer() {
    let Some((mut plan, task, stored)) = basket("late.root", "t", "grows./grows.tags") else { return };
    let mut scratch = Scratch::new();
    let header = header(&stored);
    let size = u32::from_be_bytes(stored[header + 6..header + 10].try_into().unwrap());
    let block = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap();
    let bounds: Vec<u32> = block.bounds.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let length = block.payload.len() as u32;
    assert_eq!(bounds, [0, size, length]);
    assert!(length > 2 * size);
    let first = Task { wanted: task.entries.start..task.entries.start + 1, ..task.clone() };
    let block = TreeFormat.unframe(&plan.groups[0], &first, &stored, &mut scratch).unwrap();
    assert_eq!(block.bounds, [[0; 4], size.to_le_bytes()].concat());

    // It begins within the data.
    for wrong in [0, length, u32::MAX] {
        let mut stored = stored.clone();
        stored[header + 6..header + 10].copy_from_slice(&wrong.to_be_bytes());
        let error = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap_err();
        let is_length = matches!(error.kind, ErrorKind::Mismatch { what: "length of all entries", .. });
        // The sign of the size says that more follows in the header.
        assert!(is_length || wrong == u32::MAX, "{error}");
    }
    // A wrong size would do no harm where entries take all that is there.
    let Decoder::Program(program) = &mut plan.groups[0].decoder else { panic!("arrays have programs") };
    Arc::make_mut(program).to_end = true;
    let error = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "length of all entries", .. }), "{error}");
}

#[test]
fn offsets_that_were_left_out_need_a_counter() {
    let Some((mut plan, task, stored)) = basket("layout.root", "offsetmap", "x") else { return };
    let mut scratch = Scratch::new();
    let block = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap();
    assert!(block.bounds.is_empty());
    plan.groups[0].counter = None;
    let error = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut scratch).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
}

#[test]
fn contradictions_are_found_where_they_stand() {
    let Some(sample) = basket("codec-none.root", "events", "rows") else { return };
    let header = header(&sample.2);
    let last = header + 14;

    let error = refused(&sample, |bytes| bytes.truncate(10));
    assert!(matches!(error.kind, ErrorKind::Truncated { .. }), "{error}");

    let error = refused(&sample, |bytes| bytes.truncate(bytes.len() - 1));
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "length of the basket", .. }), "{error}");

    // The class stands behind the fixed part of a key with 64-bit pointers.
    let error = refused(&sample, |bytes| bytes[35] = b'X');
    assert!(
        matches!(&error.kind, ErrorKind::NotA { what: "a basket", found } if found == "XBasket"),
        "{error}"
    );
    assert_eq!(error.place.byte, Some(34));

    let error = refused(&sample, |bytes| bytes[15] += 1);
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "length of the basket's key", .. }), "{error}");

    let error = refused(&sample, |bytes| bytes[header + 13] ^= 1);
    assert!(
        matches!(error.kind, ErrorKind::Mismatch { what: "number of entries in the basket", .. }),
        "{error}"
    );
    assert_eq!(error.place.byte, Some(header as u64));

    let error = refused(&sample, |bytes| bytes[last..last + 4].fill(0));
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "end of the entries", .. }), "{error}");

    let error = refused(&sample, |bytes| bytes[last] = 0x70);
    assert!(matches!(error.kind, ErrorKind::OutOfRange { what: "end of the entries", .. }), "{error}");
}

#[test]
fn entry_offsets_must_not_fall() {
    let Some(sample) = basket("codec-none.root", "events", "rows") else { return };
    let last = header(&sample.2) + 14;
    let end = u32::from_be_bytes(sample.2[last..last + 4].try_into().unwrap()) as usize;

    let error = refused(&sample, |bytes| bytes[end + 4 + 4 * 5..end + 8 + 4 * 5].fill(0xFF));
    assert!(matches!(error.kind, ErrorKind::OutOfRange { what: "entry offset", .. }), "{error}");
    assert_eq!((error.place.entry, error.place.byte), (Some(5), Some(end as u64 + 24)));

    let error = refused(&sample, |bytes| bytes[end + 7] ^= 1);
    assert!(matches!(error.kind, ErrorKind::OutOfRange { what: "entry offset", .. }), "{error}");
    assert_eq!(error.place.entry, Some(0));

    let error = refused(&sample, |bytes| bytes[end] = 1);
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "length of the entry offsets", .. }), "{error}");
}

#[test]
fn unknown_features_are_refused() {
    let Some((plan, task, mut stored)) = basket("layout.root", "offsetmap", "x") else { return };
    // The byte of I/O features follows the negative size, in a header that is one byte longer.
    let bits = header(&stored) - 1 + 10;
    assert_eq!(stored[bits], 1);
    // The second is reserved. No ROOT has written another, or the byte without any.
    for (unknown, is_reserved) in [(0, false), (2, true), (3, true), (0x81, false), (0xDC, false)] {
        stored[bits] = unknown;
        let error = TreeFormat.unframe(&plan.groups[0], &task, &stored, &mut Scratch::new()).unwrap_err();
        assert_eq!(matches!(error.kind, ErrorKind::Unsupported { .. }), is_reserved, "{error}");
        assert_eq!(matches!(error.kind, ErrorKind::NotA { .. }), !is_reserved, "{error}");
        assert_eq!(error.place.byte, Some(bits as u64));
    }
}

/// A basket that is nowhere is an error of that basket, and others are read.
#[test]
fn a_place_outside_of_the_file_is_an_error_of_one_basket() {
    let Some(sample) = bundled("codec-none.root") else { return };
    let tree = Tree::open(&sample.file, "events").unwrap();
    let plan = |tree: &Tree, field| tree.plan(&[field], tree.entry_range(field, u64::MAX).unwrap()).unwrap();
    let places = |plan: &Plan| -> Vec<u64> {
        let ranges = plan.tasks.iter().filter_map(|task| match &task.stored {
            Stored::Range(range) => Some(range.start),
            Stored::Inline(_) | Stored::Missing { .. } => None,
        });
        ranges.collect()
    };
    let mut fields = 0..tree.fields().unwrap().len() as u32;
    let field =
        fields.find(|&field| places(&plan(&tree, field)).len() >= 2).expect("a branch of two baskets");
    let sound = plan(&tree, field);
    let source = sample.file.source();
    let mut bytes = source.read_one(0..source.size().unwrap()).unwrap().to_vec();
    let listed: Vec<u8> = places(&sound).iter().flat_map(|place| place.to_be_bytes()).collect();
    let at =
        bytes.windows(listed.len()).position(|window| window == listed).expect("the tree is not compressed");
    for wrong in [1u64 << 46, u64::MAX, 0] {
        bytes[at + 8..at + 16].copy_from_slice(&wrong.to_be_bytes());
        let source = Arc::new(Memory::new("damaged", bytes.clone()));
        let file = RootFile::open(source).unwrap();
        let tree = Tree::open(&file, "events").unwrap();
        let damaged = plan(&tree, field);
        for (number, (task, sound)) in damaged.tasks.iter().zip(&sound.tasks).enumerate() {
            if number != 1 {
                assert_eq!(task, sound);
                continue;
            }
            assert_eq!((&task.entries, task.block), (&sound.entries, sound.block));
            let Stored::Missing { reason, .. } = &task.stored else { panic!("{wrong} is in the file") };
            assert!(reason.contains("of a basket is") && reason.contains("must not be above"), "{reason}");
        }
    }
}
