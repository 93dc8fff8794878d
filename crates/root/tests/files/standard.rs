//! Containers of the standard library that are records of their own, and what `check` must not take for
//! damage.

use std::sync::Arc;

use bytes::Bytes;
use forthwith_columns::DType;
use forthwith_io::Memory;
use forthwith_plan::ErrorKind;
use forthwith_plan::Severity;
use forthwith_root::{Objects, RootFile, Shape, Streamers, Value, Walker, text};
use serde_json::{Value as Json, json};

fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    std::fs::read(format!("{folder}/{name}")).expect("a file of the repository")
}

fn open(bytes: Vec<u8>) -> RootFile {
    RootFile::open(Arc::new(Memory::new("memory.root", bytes))).expect("a ROOT file")
}

fn plain(value: Value<'_>) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Text(value) => json!(text(value)),
        Value::Array(array) => match array.basic {
            DType::Bool => array.ints().map(|item| item != 0).collect(),
            DType::Float32 | DType::Float64 => array.floats().collect(),
            _ => array.ints().collect(),
        },
        Value::List(list) if list.shape() == Shape::Map => {
            let items: Vec<_> = list.map(plain).collect();
            let pairs = items.chunks_exact(2);
            pairs.map(|pair| (pair[0].as_str().unwrap_or_default().to_owned(), pair[1].clone())).collect()
        }
        Value::List(list) => list.map(plain).collect(),
        // A `TVector3`.
        Value::Object(object) => ["fX", "fY", "fZ"].iter().map(|name| json!(object.float(name))).collect(),
        other => panic!("{other:?}"),
    }
}

fn read(class: &str, payload: &[u8]) -> forthwith_plan::Result<Objects> {
    Walker::new(Arc::new(Streamers::default())).read(Bytes::copy_from_slice(payload), 60, class)
}

fn inner(objects: &Objects) -> Json {
    plain(objects.top().inner().expect("a value"))
}

#[test]
fn containers_that_are_records_are_what_root_reads() {
    let file = open(bytes("standard.root"));
    let golden: Json = serde_json::from_slice(&bytes("standard.root.values.json")).expect("JSON");
    let golden = golden.as_object().expect("an object");
    for (name, wanted) in golden {
        let key = file.find(name).expect("listed").key;
        let objects = file.object(&key).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(&inner(&objects), wanted, "{name}");
        assert!(objects.leftovers().is_empty() && objects.faults().next().is_none(), "{name}");
    }
    assert_eq!(file.keys().expect("keys").len(), golden.len());
    assert_eq!(file.check(&mut []).expect("a readable file").severity(), None);
}

/// As a collection's streamer writes it: byte count and version first.
#[test]
fn containers_that_are_records_may_have_a_frame() {
    let framed = [0x40, 0, 0, 14, 0, 9, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 8];
    assert_eq!(inner(&read("vector<int>", &framed).expect("a container")), json!([7, 8]));
    assert_eq!(inner(&read("vector<int>", &framed[6..]).expect("a container")), json!([7, 8]));
    // Member by member, and empty: nothing stands for the members.
    let empty = [0x40, 0, 0, 8, 0x40, 9, 0, 1, 0, 0, 0, 0];
    let objects = read("map<string,vector<int> >", &empty).expect("a container");
    assert_eq!(inner(&objects), json!({}));
    assert!(objects.leftovers().is_empty());
}

#[test]
fn counts_of_containers_must_be_those_of_the_record() {
    let payload = |count| [0, 0, 0, count, 0, 0, 0, 7, 0, 0, 0, 8];
    assert!(read("vector<int>", &payload(2)).is_ok());
    let error = read("vector<int>", &payload(1)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Mismatch { expected: 12, found: 8, .. }), "{error}");
    assert!(read("vector<int>", &payload(3)).is_err());
    assert!(read("vector<int>", &[0, 0]).is_err());
    assert!(read("vector<int>", &[0x40, 0, 0, 14, 0, 9, 0, 0, 0, 2]).is_err());
}

/// Offset of the list of keys at the top, and the length of its own key.
fn list_of_keys(file: &RootFile, bytes: &[u8]) -> (usize, usize) {
    let at = file.top().record().seek_keys as usize;
    (at, usize::from(u16::from_be_bytes([bytes[at + 14], bytes[at + 15]])))
}

#[test]
fn no_key_is_lost_without_a_word() {
    for name in ["keys.root", "zmumu.root", "standard.root", "ntuple.root"] {
        let whole = bytes(name);
        let (at, keylen) = list_of_keys(&open(whole.clone()), &whole);
        let count = open(whole.clone()).keys().expect("keys").len();
        for change in [-2_i64, -1, 1, 2] {
            let mut damaged = whole.clone();
            let length = (keylen as i64 + change) as u16;
            damaged[at + 14..at + 16].copy_from_slice(&length.to_be_bytes());
            is_damaged(damaged, name);
        }
        for wrong in [0, count - 1, count + 1] {
            let mut damaged = whole.clone();
            damaged[at + keylen..at + keylen + 4].copy_from_slice(&(wrong as u32).to_be_bytes());
            is_damaged(damaged, name);
        }
    }
}

/// As uproot leaves room behind the keys.
#[test]
fn room_behind_the_keys_is_clear() {
    let whole = bytes("standard.root");
    let file = open(whole.clone());
    let (list, _) = list_of_keys(&file, &whole);
    let length = file.top().record().nbytes_keys as usize;
    let with_room = |room: [u8; 40]| {
        let mut bytes = whole.clone();
        let at = bytes.len();
        bytes.extend_from_within(list..list + length);
        bytes.extend(room);
        // The record of the directory says where the list is, and how long.
        let record = (file.header().begin + u64::from(file.header().nbytes_name)) as usize;
        bytes[record + 10..record + 14].copy_from_slice(&((length + room.len()) as u32).to_be_bytes());
        bytes[record + 26..record + 30].copy_from_slice(&(at as u32).to_be_bytes());
        open(bytes).keys()
    };
    assert_eq!(with_room([0; 40]).expect("keys").len(), file.keys().expect("keys").len());
    let mut room = [0; 40];
    room[39] = 1;
    assert!(matches!(with_room(room).unwrap_err().kind, ErrorKind::Mismatch { .. }));
}

fn is_damaged(bytes: Vec<u8>, name: &str) {
    let file = open(bytes);
    assert!(file.keys().is_err(), "{name}");
    assert_eq!(file.check(&mut []).expect("a readable file").severity(), Some(Severity::Damage), "{name}");
}

/// A list may call a `TDirectoryFile` what calls itself a `TDirectory`.
#[test]
fn directories_have_two_names() {
    let mut bytes = bytes("keys.root");
    let file = open(bytes.clone());
    let before = file.check(&mut []).expect("a readable file").severity();
    let keys = file.keys().expect("keys");
    let key = keys.iter().find(|key| key.is_directory() && key.title.len() >= 4).expect("a directory");
    let stored = |class: &str, title: &str| -> Vec<u8> {
        let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        [text(class), text(&key.name), text(title)].concat()
    };
    let old = stored(&key.class_name, &key.title);
    let new = stored("TDirectoryFile", &key.title[4..]);
    let (list, _) = list_of_keys(&file, &bytes);
    let found = bytes[list..].windows(old.len()).position(|window| *window == old).expect("listed");
    bytes[list + found..list + found + new.len()].copy_from_slice(&new);
    let checked = open(bytes).check(&mut []).expect("a readable file");
    assert_eq!(checked.severity(), before, "{:#?}", checked.findings);
}

#[test]
fn what_an_ntuple_is_made_of_is_in_no_directory() {
    let checked = open(bytes("ntuple.root")).check(&mut []).expect("a readable file");
    assert!(checked.findings.is_empty(), "{:#?}", checked.findings);
}
