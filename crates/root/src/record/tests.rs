use forthwith_plan::ErrorKind;

use super::{Cursor, Datime, Key, TObject, Tag};

#[test]
fn a_frame_cannot_be_over_read() {
    // Six bytes: version 3, and a number; then a byte behind it.
    let bytes = [0x40, 0, 0, 6, 0, 3, 0, 0, 0, 9, 0xAA];
    let mut cursor = Cursor::new(&bytes);
    let frame = cursor.frame().expect("a frame");
    assert_eq!((frame.version, frame.end, frame.checksum, frame.member_wise), (3, Some(10), None, false));
    assert_eq!(cursor.u32().expect("inside"), 9);
    let error = cursor.u8().unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Truncated { needed: 1, available: 0, .. }));
    assert_eq!(error.place.byte, Some(10));
    assert_eq!(cursor.leave(&frame), 0);
    assert_eq!(cursor.u8().expect("outside"), 0xAA);
}

#[test]
fn leaving_goes_to_the_end_and_tells_what_was_left() {
    let bytes = [0x40, 0, 0, 6, 0, 3, 0, 0, 0, 9, 0xAA];
    let mut cursor = Cursor::new(&bytes);
    let frame = cursor.frame().expect("a frame");
    assert_eq!((cursor.leave(&frame), cursor.position()), (4, 10));
}

#[test]
fn frames_without_a_byte_count_begin_with_the_version() {
    let mut cursor = Cursor::new(&[0, 3, 0xAA]);
    let frame = cursor.frame().expect("a version");
    assert_eq!((frame.version, frame.end, cursor.position()), (3, None, 2));
    assert_eq!(cursor.leave(&frame), 0);
    // The shortest of all.
    assert_eq!(Cursor::new(&[0, 1]).frame().expect("a version").version, 1);
    assert!(Cursor::new(&[0]).frame().is_err());
}

#[test]
fn versions_of_no_class_have_a_checksum() {
    let bytes = [0x40, 0, 0, 7, 0, 0, 1, 2, 3, 4, 5];
    let mut cursor = Cursor::new(&bytes);
    assert_eq!(cursor.frame().expect("a frame").checksum, Some(0x0102_0304));
    assert_eq!(cursor.rest(), [5]);
    let mut cursor = Cursor::new(&bytes);
    assert_eq!(cursor.frame_without_checksum().expect("a frame").checksum, None);
    // No room for one, and none without a byte count.
    assert_eq!(Cursor::new(&[0x40, 0, 0, 2, 0, 0, 1, 2, 3, 4]).frame().expect("a frame").checksum, None);
    assert_eq!(Cursor::new(&[0, 0, 1, 2, 3, 4]).frame().expect("a version").checksum, None);
}

#[test]
fn member_wise_is_a_bit_of_the_version() {
    let frame = Cursor::new(&[0x40, 0, 0, 2, 0x40, 9]).frame().expect("a frame");
    assert_eq!((frame.version, frame.member_wise), (9, true));
}

#[test]
fn byte_counts_beyond_the_end_are_refused() {
    let mut cursor = Cursor::new(&[0x40, 0, 0, 6, 0, 3, 0, 0, 0]);
    assert!(matches!(
        cursor.frame().unwrap_err().kind,
        ErrorKind::OutOfRange { what: "byte count", found: 6, limit: 5 }
    ));
    assert_eq!((cursor.position(), cursor.end()), (0, 9), "the cursor is where it was");
}

#[test]
fn strings_have_one_or_five_bytes_of_length() {
    let mut long = vec![255, 0, 0, 1, 0];
    long.extend([b'x'; 256]);
    assert_eq!(Cursor::new(&long).string().expect("a string").len(), 256);
    assert_eq!(Cursor::new(&[0]).string().expect("a string"), b"");
    assert!(Cursor::new(&[255, 255, 255, 255, 255, 1]).string().is_err());
    assert_eq!(Cursor::new(b"ab\0c").cstring().expect("a string"), b"ab");
    assert!(Cursor::new(b"abc").cstring().is_err());
}

#[test]
fn a_tobject_may_have_an_old_byte_count_or_a_process() {
    let new = [0, 1, 0, 0, 0, 7, 3, 0, 0, 0];
    let plain = TObject { unique_id: 7, bits: 0x0300_0000, process_id: None };
    assert_eq!(Cursor::new(&new).tobject().expect("an object"), plain);
    let old = [&[0x40, 0, 0, 10], &new[..]].concat();
    let mut cursor = Cursor::new(&old);
    assert_eq!((cursor.tobject().expect("an object"), cursor.remaining()), (plain, 0));
    let referenced = [0, 1, 0, 0, 0, 7, 0, 0, 0, 0x10, 0, 5];
    assert_eq!(Cursor::new(&referenced).tobject().expect("an object").process_id, Some(5));
}

#[test]
fn references_count_from_the_key() {
    let origin = 100;
    let mut bytes = vec![0; 4];
    // At 4, an object of a new class, two bytes long.
    bytes.extend([0x40, 0, 0, 12, 255, 255, 255, 255, b'T', b'X', 0, 0, 1, 0, 0, 0]);
    // At 20, another of the same class: its name is at 8. Then the first again, the record itself, and
    // nothing.
    let class = 0x8000_0000 | (8 + 2 + origin);
    bytes.extend(0x4000_0006_u32.to_be_bytes());
    bytes.extend(u32::to_be_bytes(class));
    bytes.extend([0, 1]);
    bytes.extend((4 + 2 + origin).to_be_bytes());
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 0]);
    // Before the record, and a class that is none.
    bytes.extend(50_u32.to_be_bytes());
    bytes.extend((class + 1).to_be_bytes());
    let mut cursor = Cursor::with_origin(&bytes, origin);
    cursor.skip(4).expect("there is as much");
    let class = b"TX".as_slice();
    assert_eq!(cursor.tag().expect("a tag"), Tag::Object { class, begin: 4, end: Some(20) });
    cursor.seek(20).expect("inside");
    assert_eq!(cursor.tag().expect("a tag"), Tag::Object { class, begin: 20, end: Some(30) });
    cursor.seek(30).expect("inside");
    assert_eq!(cursor.tag().expect("a tag"), Tag::Reference(4));
    assert_eq!(cursor.tag().expect("a tag"), Tag::Itself);
    assert_eq!(cursor.tag().expect("a tag"), Tag::Null);
    assert!(cursor.tag().is_err());
    assert!(cursor.tag().is_err());
}

#[test]
fn objects_end_behind_the_name_of_their_class() {
    // The byte count says 4, which is the tag alone: the name is outside.
    let short = [0x40, 0, 0, 4, 255, 255, 255, 255, b'T', b'X', 0, 0];
    let error = Cursor::new(&short).tag().unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Mismatch { expected: 11, found: 8, .. }), "{error}");
    assert_eq!(error.place.byte, Some(0));
}

#[test]
fn keys_have_the_bytes_that_they_are_parsed_of() {
    for (version, title) in [(4, String::new()), (1004, "x".repeat(254)), (4, "long ".repeat(100))] {
        let mut key = Key {
            nbytes: 700,
            version,
            objlen: 1000,
            datime: Datime(77),
            keylen: 0,
            cycle: 3,
            seek: 1234,
            seek_directory: 100,
            class_name: "TTree".into(),
            name: "events".into(),
            title: title.into(),
        };
        key.keylen = key.to_bytes().len() as u16;
        let bytes = key.to_bytes();
        let mut cursor = Cursor::new(&bytes);
        let parsed = Key::parse(&mut cursor).expect("a key");
        assert_eq!((&parsed, cursor.position()), (&key, bytes.len()));
        assert!(parsed.is_plausible(1234, 5000, bytes.len() as u64));
        assert!(!parsed.is_plausible(1235, 5000, bytes.len() as u64));
        assert!(!parsed.is_plausible(1234, 1900, bytes.len() as u64));
        assert_eq!(key.differences(&Key { cycle: 4, name: "other".into(), ..parsed }), 2);
    }
}
