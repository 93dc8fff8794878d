//! Writes the first corpora: `seeds FOLDER` fills a folder in it for each target that needs them.

use arbitrary::Unstructured;
use forthwith::plan::Stored;
use forthwith_fuzz::{Arrays, cases, files, ipc_file, objects, unpack};
use std::path::Path;

const PROGRAMS: [&str; 4] = [
    "input data output offsets int64 output content float32\n1000 0 do data !I-> stack dup offsets +<- stack data #!f-> content loop",
    "input data output tag uint8 begin data end invert while data B-> stack case 0 of data varint-> tag endof 1 of data skipws endof pause endcase repeat",
    "input x output o int32 variable n : fact dup 1 > if dup 1- recurse * then ; 10 fact n ! n @ o <- stack o dup",
    "input data output bits uint8 output text float64 8 data #1bit-> bits 3 data #textfloat-> text data enum s\" yes\" s\" no\"\n",
];

/// Texts of every type of cells, with quotes and line breaks of all kinds.
const TABLES: [&str; 6] = [
    "a,b\n1,x\n-2,\"y, z\"\n,\"a \"\"b\"\"\r\nc\"\n",
    "a,b\r\n0.5,true\r\n1e9,FALSE\r\nnan,\r\n",
    "\u{feff}a,b\n2024-02-29,2024-02-29T12:00:00.123456789\n1969-12-31,1969-12-31 00:00:00\n",
    "a,b\n2024-02-29T12:00:00Z,9007199254740993\n2024-02-29T12:00:00+05:30,007\n",
    "a;b\n1;2,5\n\n3;\n",
    "a\n\"\"\n1\n",
];

/// Bytes without a pattern.
fn noise(number: u32, length: u32) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761 + number) >> 13) as u8).collect()
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "corpus".into());
    let write = |target: &str, name: String, bytes: &[u8]| {
        let folder = Path::new(&folder).join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)
    };
    for path in files() {
        let bytes = std::fs::read(&path)?;
        // Larger ones mutate too slowly to be worth it.
        if bytes.len() <= 1 << 18 {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // How it is copied differs from file to file.
            let how = name.bytes().fold(0, |how: u8, letter| how.wrapping_mul(31).wrapping_add(letter));
            write("merge", name.clone(), &[&[how, how / 3, how % 4], &bytes[..]].concat())?;
            write("file", name, &bytes)?;
        }
    }
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/avro"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "avro") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write("avro", name, &[&[0], &std::fs::read(&path)?[..]].concat())?;
        }
    }
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/parquet"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write("parquet", name, &std::fs::read(&path)?)?;
        }
    }
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/rntuple"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "root") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write("ntuple", name, &std::fs::read(&path)?)?;
        }
    }
    for (number, text) in TABLES.iter().enumerate() {
        for how in [0, 2, 4, 1] {
            write("csv", format!("{number}-{how}"), &[&[how + 8 * number as u8], text.as_bytes()].concat())?;
        }
    }
    for number in 0..200_u8 {
        let bytes = noise(u32::from(number) * 97, 3000);
        write("arrow", format!("{number:03}"), &[&[number], &bytes[..]].concat())?;
        let arrays = Arrays::new(&mut Unstructured::new(&bytes), false).batches();
        let file = arrays.ok().and_then(|(schema, batches)| ipc_file(&schema, &batches, number));
        if let Some(file) = file {
            write("ipc", format!("{number:03}"), &file)?;
        }
    }
    for schema in 0..8u8 {
        let payload = [&[2, schema, 2], &[2, 4, 6, 0, 2, 8][..], &[b'a'; 40], &[0; 8]].concat();
        write("avro", format!("block-{schema}"), &payload)?;
    }
    for (number, (_, payload, ..)) in objects().iter().enumerate() {
        let [a, b] = (number as u16).to_le_bytes();
        if payload.len() <= 1 << 16 {
            write("object", format!("{number:03}"), &[&[a, b, 0], &payload[..]].concat())?;
        }
    }
    for first in 0..24u8 {
        // Three members that a user tells, in a frame or without one.
        let told = [&[3, first, 2, first, first + 7, first + 13][..], &[0x40, 0, 0, 40, 0, 1], &[0, 0, 0, 1].repeat(10)].concat();
        write("object", format!("told-{first:02}"), &told)?;
    }
    for (number, case) in cases().iter().enumerate() {
        let Stored::Inline(stored) = &case.plan.tasks[case.task].stored else { continue };
        let [a, b] = (number as u16).to_le_bytes();
        write("basket", format!("{number:03}-stored"), &[&[a, b, 2], &stored[..]].concat())?;
        if let Some(unpacked) = unpack(stored) {
            write("basket", format!("{number:03}-unpacked"), &[&[a, b, 1], &unpacked[..]].concat())?;
        }
    }
    for (number, program) in PROGRAMS.iter().enumerate() {
        write("forth", format!("text-{number}"), &[&[0], program.as_bytes()].concat())?;
        write("forth", format!("noise-{number}"), &[&[1], &noise(number as u32, 2000)[..]].concat())?;
    }
    Ok(())
}
