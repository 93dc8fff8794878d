//! Every compressed block of every ROOT file in the corpus decompresses to the length its header states, and
//! an independent inflate agrees on each block of the deflate family.
//!
//! The files are found through `FORTHWITH_CORPUS`, or beside the repository; without them the test says so.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a test reports what it skipped

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forthwith_io::{Codec, CodecError, Decompressor, MappedFile, Source, xxh64};

fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("FORTHWITH_CORPUS").map_or_else(beside, PathBuf::from).join("root");
    folder.is_dir().then_some(folder)
}

fn big_endian(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    Some(field.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

fn little_endian_3(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16
}

/// The compressed payloads of a file's records, each with the length it should have.
fn payloads(file: &[u8]) -> Option<Vec<(&[u8], usize)>> {
    let mut found = Vec::new();
    let large = big_endian(file, 4, 4)? >= 1_000_000;
    let end = big_endian(file, 12, if large { 8 } else { 4 })?.min(file.len() as u64) as usize;
    let mut at = big_endian(file, 8, 4)? as usize;
    while at < end {
        let length = big_endian(file, at, 4)? as u32 as i32;
        if length > 0 {
            let objlen = big_endian(file, at + 6, 4)? as usize;
            let keylen = big_endian(file, at + 14, 2)? as usize;
            // A file that was not closed, or is broken on purpose, may end inside a record.
            let Some(stored) = file.get(at + keylen..at + length as usize) else { break };
            if objlen > stored.len() {
                found.push((stored, objlen));
            }
        } else if length == 0 {
            break;
        }
        at += length.unsigned_abs() as usize;
    }
    Some(found)
}

/// The blocks of a payload: codec, stored bytes, length.
fn blocks(mut stored: &[u8], mut left: usize) -> Option<Vec<(Codec, &[u8], usize)>> {
    let mut found = Vec::new();
    while left > 0 {
        let (header, rest) = stored.split_at_checked(9)?;
        let (length, expected) = (little_endian_3(&header[3..]), little_endian_3(&header[6..]));
        let (block, rest) = rest.split_at_checked(length)?;
        found.push(match &header[..3] {
            b"ZL\x08" => (Codec::Zlib, block, expected),
            b"CS\x08" => (Codec::OldDeflate, block, expected),
            b"XZ\x00" => (Codec::Xz, block, expected),
            b"ZS\x01" => (Codec::Zstd, block, expected),
            [b'L', b'4', _] => {
                let (hash, block) = block.split_at_checked(8)?;
                assert_eq!(big_endian(hash, 0, 8)?, xxh64(block));
                (Codec::Lz4, block, expected)
            }
            _ => return None,
        });
        stored = rest;
        left = left.checked_sub(expected).filter(|_| expected > 0)?;
    }
    Some(found)
}

/// The same block through another library: what it holds, and how many bytes it took.
fn other_inflate(codec: Codec, stored: &[u8], expected: usize) -> (Vec<u8>, usize) {
    let mut inflate = flate2::Decompress::new(codec == Codec::Zlib);
    let mut out = vec![0; expected + 1000];
    let status = inflate.decompress(stored, &mut out, flate2::FlushDecompress::Finish).unwrap();
    assert_eq!(status, flate2::Status::StreamEnd);
    out.truncate(inflate.total_out() as usize);
    (out, inflate.total_in() as usize)
}

#[test]
fn every_block_of_the_corpus_decompresses() {
    let Some(folder) = corpus() else {
        println!("skipped 1 test: no corpus (set FORTHWITH_CORPUS to its folder)");
        return;
    };
    let mut decompressor = Decompressor::new();
    let mut done: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut odd_records, mut spare_input) = (0, 0);
    let mut failures = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "root")) {
        let source = MappedFile::open(path).unwrap();
        let file = source.read_one(0..source.size().unwrap()).unwrap();
        for (stored, length) in payloads(&file).unwrap_or_default() {
            let Some(blocks) = blocks(stored, length) else {
                // Its object is longer than what is stored, but that is no compressed block.
                odd_records += 1;
                continue;
            };
            for (codec, block, expected) in blocks {
                let mut out = vec![0; expected];
                match decompressor.decompress(codec, block, &mut out) {
                    Ok(used) => {
                        spare_input += usize::from(used < block.len());
                        let sums = done.entry(codec.to_string()).or_default();
                        *sums = (sums.0 + 1, sums.1 + expected);
                    }
                    Err(error) => failures.push((path.file_name().unwrap().to_owned(), error)),
                }
                if matches!(codec, Codec::Zlib | Codec::OldDeflate) {
                    let (other, used) = other_inflate(codec, block, expected);
                    assert!(other == out, "{codec} in {path:?}: the libraries disagree");
                    spare_input += usize::from(used < block.len());
                }
            }
        }
    }
    println!("blocks and bytes: {done:?}; odd records: {odd_records}; with spare input: {spare_input}");
    assert_eq!(failures, Vec::<(_, CodecError)>::new());
    // The corpus has thousands of blocks; finding few would mean the walk is broken.
    for codec in [Codec::Zlib, Codec::OldDeflate, Codec::Xz, Codec::Lz4, Codec::Zstd] {
        assert!(done.contains_key(&codec.to_string()), "no {codec} block was found");
    }
}

#[test]
fn an_old_deflate_payload_says_what_it_should() {
    let Some(folder) = corpus() else {
        println!("skipped 1 test: no corpus (set FORTHWITH_CORPUS to its folder)");
        return;
    };
    let source = MappedFile::open(folder.join("hsimple.31000.root")).unwrap();
    let file = source.read_one(0..source.size().unwrap()).unwrap();
    let mut text = Vec::new();
    for (stored, length) in payloads(&file).unwrap() {
        for (codec, block, expected) in blocks(stored, length).unwrap() {
            assert_eq!(codec, Codec::OldDeflate);
            let start = text.len();
            text.resize(start + expected, 0);
            Decompressor::new().decompress(codec, block, &mut text[start..]).unwrap();
        }
    }
    for words in ["This is the px distribution", "py vs px", "Profile of pz versus px", "Demo ntuple"] {
        assert!(text.windows(words.len()).any(|window| window == words.as_bytes()), "{words}");
    }
}
