//! Any byte may lie: an error or values, and nothing else.

use crate::{read, round_trips};
use forthwith_plan::{ErrorKind, WriteOptions};

fn options(codec: &str, dictionary: bool) -> WriteOptions {
    WriteOptions { codec: Some(codec.into()), dictionary: Some(dictionary), ..WriteOptions::default() }
}

#[test]
fn bytes_that_were_changed() {
    for (codec, dictionary) in [("none", false), ("none", true), ("snappy", true), ("lz4", false)] {
        let bytes = round_trips::written(70, &options(codec, dictionary));
        let names: Vec<_> = round_trips::columns(1).into_iter().map(|(name, _)| name).collect();
        for at in (4..bytes.len()).step_by(3) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            let name = names[at % names.len()];
            for turn in [true, false] {
                // A name may be what was changed.
                let opened = std::panic::catch_unwind(|| read::field(&changed, name, None, turn));
                if let Ok(Ok(array)) = opened {
                    array.validate().unwrap();
                }
            }
        }
    }
}

#[test]
fn files_that_were_cut() {
    let bytes = round_trips::written(70, &options("zstd", true));
    for length in 0..bytes.len() {
        assert!(read::field(&bytes[..length], "int64", None, true).is_err(), "{length}");
    }
}

#[test]
fn pages_of_a_negative_size_are_told_as_they_are() {
    let mut bytes = round_trips::written(70, &options("none", false));
    // The first page's header: its kind, its size, and its size as it is stored, each a number behind a byte.
    assert_eq!(bytes[4..7], [0x15, 0, 0x15]);
    let behind = 7 + bytes[7..].iter().position(|byte| *byte < 0x80).unwrap() + 1;
    assert_eq!(bytes[behind], 0x15);
    // As many bytes as it had, all of a number below zero.
    let last = behind + 1 + bytes[behind + 1..].iter().position(|byte| *byte < 0x80).unwrap();
    bytes[behind + 1] |= 1;
    assert!(last > behind);
    let error = read::field(&bytes, "bool", None, true).unwrap_err();
    let ErrorKind::OutOfRange { what, found, .. } = &error.kind else { panic!("{error}") };
    assert_eq!(*what, "the length of a page");
    assert!(*found < 0);
}
