//! Objects: any bytes as an object of a class that a sound file describes, and any bytes as the streamer infos of a sound object.
//!
//! The first two bytes choose the object, the third which of the two is damaged.
#![no_main]

use bytes::Bytes;
use forthwith::root::{Objects, RootFile, Streamers, Value, Walker};
use forthwith_fuzz::objects;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

/// Infos, payload, length of the key, class.
static KNOWN: LazyLock<Vec<(RootFile, Bytes, u32, String)>> = LazyLock::new(objects);

fuzz_target!(|input: &[u8]| {
    let [a, b, mode, bytes @ ..] = input else { return };
    let (file, payload, origin, class) = &KNOWN[usize::from(u16::from_le_bytes([*a, *b])) % KNOWN.len()];
    let read = if mode % 2 == 0 {
        let Ok(walker) = file.walker() else { return };
        walker.read(Bytes::copy_from_slice(bytes), *origin, class)
    } else {
        let Ok(streamers) = Streamers::parse(Bytes::copy_from_slice(bytes), 0) else { return };
        Walker::new(Arc::new(streamers)).read(payload.clone(), *origin, class)
    };
    let Ok(objects) = read else { return };
    // What is made is in proportion to the bytes.
    assert!(objects.len() <= 200_000 + 4 * objects.payload().len());
    visit(&objects);
});

fn visit(objects: &Objects) {
    for object in objects.iter() {
        for (_, value) in object.members() {
            look(value, 0);
        }
        for base in object.bases() {
            assert!(base.members.start <= base.members.end);
        }
        let _ = object.items().flatten().count();
    }
}

fn look(value: Value<'_>, depth: usize) {
    assert!(depth < 200, "lists are no deeper than the walker goes");
    match value {
        Value::List(list) => list.for_each(|value| look(value, depth + 1)),
        Value::Packed(packed) => assert_eq!(packed.floats().count(), packed.len()),
        Value::Array(array) => assert_eq!(array.floats().count(), array.len()),
        _ => {}
    }
}
