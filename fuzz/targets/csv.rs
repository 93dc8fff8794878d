//! CSV: the first byte chooses how any bytes are read as a file. What can be read is written and read again.
#![no_main]

use forthwith::OpenOptions;
use forthwith_fuzz::{read_all, same, written};
use libfuzzer_sys::fuzz_target;

/// Types of the columns of the seeds.
const TYPES: [&str; 4] = [
    r#"{"a": "string", "b": "string"}"#,
    r#"{"a": "int64"}"#,
    r#"{"b": "float64", "a": "timestamp"}"#,
    r#"{"a": "bool", "b": "date"}"#,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let mut options = OpenOptions::new()
        .with("header", how & 1 == 0)
        .with("separator", if how & 2 == 0 { "," } else { ";" });
    if how & 4 != 0 {
        options.set("types", TYPES[usize::from(how >> 3) % TYPES.len()]);
    }
    let Some((names, arrays)) = read_all("fuzz.csv", bytes, &options) else { return };
    let Some(bytes) = written("again.csv", &names, &arrays) else { return };
    let mut options = OpenOptions::new();
    if how & 4 != 0 {
        // Without them, texts that look like numbers become numbers.
        options.set("types", TYPES[usize::from(how >> 3) % TYPES.len()]);
    }
    let (again, values) = read_all("again.csv", &bytes, &options).expect("what was written can be read");
    assert_eq!(names, again);
    assert!(same(&arrays, &values), "what was written is read again");
});
