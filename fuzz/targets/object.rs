//! Objects: any bytes as an object of a class that a sound file describes, any bytes as the streamer infos of a sound object, and any
//! bytes as an object of a class whose layout a user tells.
//!
//! The first two bytes choose the object, the third what is damaged. Of a layout, the first two say how many members there are and whether
//! there is a frame, and a byte follows for each member's type.
#![no_main]

use bytes::Bytes;
use forthwith::root::{Objects, RootFile, Streamers, Value, Walker, register_class, register_unframed};
use forthwith_fuzz::objects;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

/// Infos, payload, length of the key, class.
static KNOWN: LazyLock<Vec<(RootFile, Bytes, u32, String)>> = LazyLock::new(objects);

fuzz_target!(|input: &[u8]| {
    let [a, b, mode, bytes @ ..] = input else { return };
    let (file, payload, origin, class) = &KNOWN[usize::from(u16::from_le_bytes([*a, *b])) % KNOWN.len()];
    let read = match mode % 3 {
        0 => {
            let Ok(walker) = file.walker() else { return };
            walker.read(Bytes::copy_from_slice(bytes), *origin, class)
        }
        1 => {
            let Ok(streamers) = Streamers::parse(Bytes::copy_from_slice(bytes), 0) else { return };
            Walker::new(Arc::new(streamers)).read(payload.clone(), *origin, class)
        }
        _ => {
            let count = usize::from(*a % 9).min(bytes.len());
            let (chosen, bytes) = bytes.split_at(count);
            let named = chosen.iter().enumerate().map(|(number, kind)| (format!("member{number}"), TYPES[usize::from(*kind) % TYPES.len()]));
            let named: Vec<_> = named.collect();
            // A base is named by its class.
            let members: Vec<_> = named.iter().map(|(name, kind)| kind.strip_suffix(" base").map_or((&**name, *kind), |base| (base, "base"))).collect();
            let register = if b % 2 == 0 { register_class } else { register_unframed };
            register("Told", &members).expect("types and words that there are");
            // Each time anew: infos are kept with what was registered when they were looked up.
            Walker::new(Arc::new(Streamers::default())).read(Bytes::copy_from_slice(bytes), 0, "Told")
        }
    };
    let Ok(objects) = read else { return };
    // What is made is in proportion to the bytes.
    assert!(objects.len() <= 200_000 + 4 * objects.payload().len());
    visit(&objects);
});

/// What members may be, themselves among it.
const TYPES: &[&str] = &[
    "int",
    "bool",
    "unsigned char[3]",
    "double[2][2]",
    "Double32_t [0,10,16]",
    "Float16_t",
    "TString",
    "string",
    "vector<float>",
    "vector<vector<string>>",
    "map<int,vector<Told>>",
    "vector<Told>",
    "Told",
    "Told*",
    "TObject*",
    "TNamed",
    "TObjArray",
    "TArrayD",
    "TObject base",
    "TNamed base",
    "uint32: data I-> stack",
    ": 4 data skip",
];

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
