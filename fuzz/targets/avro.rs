//! Avro, by the first byte: any bytes as a container file, as a schema, or as the values of a block behind a schema from a list.
#![no_main]

use forthwith::{File, Table, avro};
use forthwith_fuzz::engine;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

/// Every type, and what is hard about them.
const SCHEMAS: [&str; 8] = [
    r#"{"type":"record","name":"A","fields":[{"name":"a","type":{"type":"array","items":{"type":"array","items":"float"}}}]}"#,
    r#"{"type":"record","name":"A","fields":[{"name":"a","type":["null","int","string"]},{"name":"b","type":{"type":"map","values":"bytes"}}]}"#,
    r#"{"type":"record","name":"A","fields":[{"name":"a","type":"string"},{"name":"n","type":["null","A"]},{"name":"b","type":"long"}]}"#,
    r#"{"type":"array","items":"null"}"#,
    r#"["null",{"type":"enum","name":"E","symbols":["A","B"]},{"type":"fixed","name":"F","size":3}]"#,
    r#"{"type":"record","name":"A","fields":[{"name":"a","type":"double"},{"name":"b","type":"boolean"},{"name":"c","type":"float"}]}"#,
    r#"{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9}},{"name":"t","type":["null",{"type":"long","logicalType":"timestamp-micros"}]}]}}"#,
    r#"{"type":"record","name":"Empty","fields":[]}"#,
];

/// What values may be asked to be read as.
const READER: &str = r#"{"type":"record","name":"A","fields":[{"name":"b","type":["null","double","string","bytes"],"default":null},{"name":"z","type":{"type":"array","items":"long"},"default":[1,2]},{"name":"a","type":["string","long","double","null"],"default":"x"}]}"#;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => open(bytes.to_vec()),
        1 => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            if let Ok(schema) = text.parse::<avro::Schema>() {
                let _ = (schema.fingerprint(), schema.describe(schema.root_id()));
            }
            open(container(text, &[]));
        }
        _ => {
            let Some((schema, payload)) = bytes.split_first() else { return };
            open(container(SCHEMAS[usize::from(*schema) % SCHEMAS.len()], payload));
        }
    }
});

fn open(bytes: Vec<u8>) {
    let source = Arc::new(forthwith::io::Memory::new("fuzz.avro", bytes));
    let Ok(file) = File::from_source(source, Arc::clone(&ENGINE)) else { return };
    if file.avro().is_none() {
        return;
    }
    let _ = file.info();
    let reader = READER.parse::<avro::Schema>().ok().map(Arc::new);
    for schema in [None, reader] {
        for skip_damaged in [false, true] {
            let options = avro::Options { schema: schema.clone(), skip_damaged, ..avro::Options::default() };
            if let Ok(table) = file.avro_table("", &options) {
                read(&table);
            }
        }
    }
}

fn read(table: &Table) {
    let fields = table.fields().map_or(0, <[_]>::len).min(32) as u32;
    let all: Vec<u32> = (0..fields).collect();
    let choices = [&all[..], &all[..all.len().min(1)], &all[all.len() / 2..]];
    for wanted in choices {
        let entries = table.entries().min(1000);
        let Ok(plan) = table.plan(wanted, 0..entries) else { continue };
        for array in table.read(&plan, Some(1), None).unwrap_or_default() {
            array.validate().expect("what is delivered is valid");
            let flat = array.for_awkward().expect("and can be handed over");
            flat.validate().expect("and is valid then");
            let _ = array.preview(0..array.length.min(3), 40);
        }
    }
}

/// A container of one block that says it has as many entries as fit in its first byte.
fn container(schema: &str, payload: &[u8]) -> Vec<u8> {
    let mut file = b"Obj\x01\x02\x16avro.schema".to_vec();
    let mut long = |mut rest: usize, file: &mut Vec<u8>| {
        rest <<= 1;
        while rest >= 0x80 {
            file.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        file.push(rest as u8);
    };
    long(schema.len(), &mut file);
    file.extend(schema.as_bytes());
    file.push(0);
    file.extend([7; 16]);
    if let Some((count, payload)) = payload.split_first() {
        long(usize::from(*count), &mut file);
        long(payload.len(), &mut file);
        file.extend(payload);
        file.extend([7; 16]);
    }
    file
}
