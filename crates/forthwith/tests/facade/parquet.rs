#![cfg(feature = "parquet-write")]
//! Parquet files whose bytes lie: an error or values, never a panic, and what is delivered is valid.

use forthwith::{
    Engine, Options as EngineOptions,
    io::{Memory, Source},
    parquet::{Options, ParquetFile, ParquetFormat},
    plan::Dataset,
};
use std::{path::Path, sync::Arc};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/parquet").join(name);
    std::fs::read(path).expect("a bundled file")
}

/// Reads everything; how many columns could be read.
fn read(engine: &Engine, bytes: Vec<u8>, threads: usize) -> usize {
    let source: Arc<dyn Source> = Arc::new(Memory::new("damaged.parquet", bytes));
    let Ok(file) = ParquetFile::open(Arc::clone(&source)) else { return 0 };
    let Ok(table) = file.table(&Options::default()) else { return 0 };
    let mut readable = 0;
    for field in 0..table.fields().map_or(0, <[_]>::len) as u32 {
        // A lie about the number of rows is not to cost the memory for them.
        let all = 0..table.entries().expect("a table").min(100_000);
        let Ok(plan) = table.plan(&[field], all) else { continue };
        let Ok(arrays) = engine.read(&plan, &source, &ParquetFormat, Some(threads), None) else { continue };
        for array in arrays {
            array.validate().expect("what is delivered is valid");
            // A part of another field is counted with that.
            readable += usize::from(table.fields().is_ok_and(|fields| !fields[field as usize].is_part));
        }
    }
    readable
}

#[test]
fn bundled_files_are_read_whole() {
    let engine = Engine::new(EngineOptions::default());
    for name in ["plain", "delta", "pages2", "pages2-delta", "gzip", "brotli", "lz4", "dictionary", "empty"] {
        let bytes = bytes(&format!("{name}.parquet"));
        assert_eq!(read(&engine, bytes.clone(), 1), 29, "{name}");
        assert_eq!(read(&engine, bytes, 3), 29, "{name}");
    }
}

#[test]
fn flipped_bytes_are_errors_or_values() {
    let engine = Engine::new(EngineOptions::default());
    let mut random = 1u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for name in ["plain", "delta", "pages2-delta", "dictionary", "lz4"] {
        let whole = bytes(&format!("{name}.parquet"));
        let footer = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().expect("four")) as usize;
        for round in 0..60 {
            let mut damaged = whole.clone();
            for _ in 0..1 + next(4) {
                // The footer is a third of the file, and most of what can lie.
                let at = match round % 3 {
                    0 => whole.len() - 8 - next(footer),
                    _ => next(whole.len()),
                };
                damaged[at] = match next(3) {
                    0 => next(256) as u8,
                    1 => 0xff,
                    _ => damaged[at] ^ (1 << next(8)),
                };
            }
            read(&engine, damaged, 1 + round % 2);
        }
    }
}

#[test]
fn schemas_deeper_than_the_stack_are_refused() {
    // A footer of 200 000 groups, each within the one before: version, then a list of elements with a name and one child.
    let mut footer = vec![0x15, 4, 0x19, 0xfc];
    let mut count = 200_001u32;
    while count >= 0x80 {
        footer.push(count as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    for _ in 0..200_000 {
        footer.extend([0x48, 1, b'g', 0x15, 2, 0]);
    }
    footer.extend([0x15, 2, 0x38, 1, b'x', 0]);
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let mut file = b"PAR1".to_vec();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    let opened = ParquetFile::open(Arc::new(Memory::new("deep.parquet", file)));
    let error = opened.map(|_| ()).expect_err("refused");
    assert!(error.to_string().contains("100 deep"), "{error}");
}

#[test]
fn what_is_no_file_says_so() {
    let open = |bytes: &[u8]| ParquetFile::open(Arc::new(Memory::new("x", bytes.to_vec()))).map(|_| ());
    for bytes in
        [&b""[..], b"PAR1", b"PAR1PAR1", b"PAR1\0\0\0\0PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"not one at all"]
    {
        assert!(open(bytes).is_err(), "{bytes:?}");
    }
    let encrypted = open(b"PARE\0\0\0\0PARE").expect_err("refused");
    assert!(encrypted.to_string().contains("encrypted"), "{encrypted}");
}

/// Bytes that a page's checksum covers may not change, whatever they would decode to.
#[test]
fn checksums_of_pages_are_verified() {
    let engine = Engine::new(EngineOptions::default());
    let whole = bytes("checksums.parquet");
    assert_eq!(read(&engine, whole.clone(), 1), 3);
    let footer = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().expect("four")) as usize;
    let mut told = 0;
    for at in (4..whole.len() - 8 - footer).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        let source: Arc<dyn Source> = Arc::new(Memory::new("damaged.parquet", damaged));
        let file = ParquetFile::open(Arc::clone(&source)).expect("a whole footer");
        let table = file.table(&Options::default()).expect("and its schema");
        let failed = (0..3).filter_map(|field| {
            let plan = table.plan(&[field], 0..table.entries().expect("a table")).expect("a plan");
            engine.read(&plan, &source, &ParquetFormat, Some(1), None).err()
        });
        told += failed.filter(|error| error.to_string().contains("the checksum of a page")).count();
    }
    // All but what hits the headers.
    assert!(told > whole.len() / 7 / 3, "{told}");
}
