//! JSON: any bytes as a file, without a type or by one of a list. What is read whole is read in parts, too.
#![no_main]

use forthwith::{File, OpenOptions, OptionValue, io::Memory};
use forthwith_fuzz::{engine, json_mutants::SCHEMAS};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let mut options = OpenOptions::new();
    options.set(OpenOptions::FORMAT, OptionValue::Text(if kind & 1 == 0 { "json" } else { "jsonl" }.into()));
    if kind & 2 != 0 {
        options.set("unions", OptionValue::Flag(true));
        options.set("parse_dates", OptionValue::Flag(true));
    }
    if kind & 4 != 0 {
        let schema = SCHEMAS[usize::from(kind >> 3) % SCHEMAS.len()];
        options.set("schema", OptionValue::Text(schema.into()));
    }
    let source = Arc::new(Memory::new("fuzzed", bytes.to_vec()));
    let Ok(file) = File::from_source_with(source, Arc::clone(&ENGINE), &options) else { return };
    let table = file.table("").expect("one table");
    let entries = table.entries().expect("counted");
    for field in 0..table.fields().expect("found").len() as u32 {
        let read = |range| table.plan(&[field], range).and_then(|plan| table.read(&plan, None, None));
        let Ok(all) = read(0..entries) else { continue };
        assert_eq!(all[0].length, entries);
        let half = entries / 2;
        for range in [0..half, half..entries] {
            assert_eq!(read(range.clone()).expect("a part of it")[0].length, range.end - range.start);
        }
    }
});
