use crate::{
    Framing, Mapping, Messages, Options, ProtoFile, ProtoTable, Schema,
    framing::{Walk, rows},
};
use forthwith_io::Memory;
use forthwith_plan::{Dataset, ErrorKind, Stored};
use std::{ops::Range, sync::Arc};

const TEXT: &str = "syntax = 'proto3'; package t;
    message Run { string title = 1; repeated Part parts = 2; }
    message Part { repeated Hit hits = 3; }
    message Hit { uint32 channel = 1; repeated double energies = 2; Node node = 3; }
    message Node { Node next = 1; int32 x = 2; }";

fn walked(mut walk: Walk, bytes: &[u8]) -> Result<Vec<Range<u64>>, String> {
    let mut found = Vec::new();
    let mut input = bytes;
    while let Some(message) = walk.next(&mut input, bytes.len() as u64).map_err(|error| error.to_string())? {
        found.push(message);
    }
    Ok(found)
}

fn file(bytes: &[u8], options: &Options) -> ProtoFile {
    let source = Arc::new(Memory::new("x.pb", bytes.to_vec()));
    ProtoFile::open(source, &Schema::parse(TEXT).unwrap(), options).unwrap()
}

#[test]
fn messages_are_found_by_their_lengths() {
    let walk = |framing, bytes: &[u8]| walked(Walk::new(framing, vec![], bytes.len() as u64), bytes);
    assert_eq!(walk(Framing::Delimited, b"\x02ab\x00\x01c").unwrap(), [0..3, 3..4, 4..6]);
    assert_eq!(walk(Framing::Fixed32 { big: false }, b"\x01\0\0\0a\0\0\0\0").unwrap(), [0..5, 5..9]);
    assert_eq!(
        walk(Framing::Fixed32 { big: true }, b"\0\0\0\x01a").unwrap().as_slice(),
        std::slice::from_ref(&(0..5))
    );
    assert_eq!(walk(Framing::Single, b"abc").unwrap().as_slice(), std::slice::from_ref(&(0..3)));
    for bytes in
        [&b"\x02a"[..], b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x00\xff\xff\xff\xff\x0f"]
    {
        assert!(walk(Framing::Delimited, bytes).is_err(), "{bytes:x?}");
    }
}

#[test]
fn rows_are_found_through_outer_messages() {
    let schema = Schema::parse(TEXT).unwrap();
    let run = schema.message(None).unwrap();
    let (path, _) = rows(&schema, run, "parts/hits").unwrap();
    assert_eq!(path, [2, 3]);
    assert!(rows(&schema, run, "title").is_err());
    // A title, and three parts: with two hits, with only an unknown group, and with one hit.
    let bytes = b"\x0a\x01t\x12\x06\x1a\x02\x08\x01\x1a\x00\x12\x04\x23\x08\x01\x24\x12\x02\x1a\x00";
    let walk = Walk::new(Framing::Single, path.clone(), bytes.len() as u64);
    let found = walked(walk, bytes).unwrap();
    assert_eq!(found, [6..9, 10..11, 20..21]);
    // Resume at the second hit.
    let rest = &bytes[9..];
    let walk = Walk::resumed(Framing::Single, path, rest.len() as u64, &[2]).unwrap();
    assert_eq!(walked(walk, rest).unwrap(), [1..2, 11..12]);
}

#[test]
fn a_file_is_divided_into_blocks_and_ends_with_its_damage() {
    let options = Options { message: Some("t.Hit".into()), ..Options::default() };
    let mut bytes = b"\x02\x08\x01".repeat(400_000);
    bytes.extend(b"\x03\x08\x01");
    let table = ProtoTable::new(file(&bytes, &options));
    assert_eq!(table.entries().unwrap(), 400_001);
    let plan = table.plan(&[0], 0..400_001).unwrap();
    let stored: Vec<_> = plan.tasks.iter().map(|task| task.stored.clone()).collect();
    assert_eq!(stored[0], Stored::Range(0..3 << 18));
    assert_eq!(stored[1], Stored::Range(3 << 18..1_200_000));
    assert!(matches!(&stored[2], Stored::Missing { at: Some(1_200_000), .. }), "{:?}", stored[2]);
    assert_eq!(plan.tasks[2].entries, 400_000..400_001);
    assert!(table.plan(&[0], 0..400_002).is_err());
}

#[test]
fn fields_have_parts_unless_they_contain_themselves() {
    let options = Options { message: Some("t.Hit".into()), ..Options::default() };
    let table = ProtoTable::new(file(b"", &options));
    let paths: Vec<&str> = table.fields().unwrap().iter().map(|field| field.path.as_str()).collect();
    assert_eq!(paths, ["channel", "energies", "node", "node/next", "node/x"]);
    let type_of = |field| table.describe(field).unwrap().reading.map(|reading| reading.form.type_string());
    assert_eq!(type_of(1).unwrap(), "var * float64");
    assert_eq!(type_of(4).unwrap(), "?int32");
    assert!(type_of(2).unwrap_err().contains("field node.next: a message of type t.Node within itself"));
    let refused = table.plan(&[0, 2], 0..0).unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::Unsupported { .. }), "{refused}");
}

#[test]
fn schemas_are_text_or_descriptors() {
    assert!(Schema::parse("message A { optional int32 x = 1; }").is_ok());
    let two = Schema::parse("message A {} message B {}").unwrap();
    let unnamed = Messages::new(&two, None, Mapping::default()).unwrap_err().to_string();
    assert!(unnamed.contains("such as A and B"), "{unnamed}");
    let unknown = Messages::new(&two, Some("C"), Mapping::default()).unwrap_err().to_string();
    assert!(unknown.contains("message type"), "{unknown}");
    for bad in ["message A { B b = 1; }", "message {", "no/such/file.proto", "0a01", "zz"] {
        let error = Schema::parse(bad).unwrap_err().to_string();
        assert!(error.contains("schema: "), "{error}");
    }
}
