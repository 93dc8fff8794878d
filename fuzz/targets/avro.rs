//! Avro, by the first byte: any bytes as a container file, as a schema, as the values of a block behind a schema from a list, or as datums
//! of it. What could be read is written, and read again.
#![no_main]

use forthwith::{File, OpenOptions, Table, avro};
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
    match kind % 4 {
        0 => open(bytes.to_vec()),
        1 => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            if let Ok(schema) = text.parse::<avro::Schema>() {
                let _ = (schema.fingerprint(), schema.describe(schema.root_id()));
            }
            open(container(text, &[]));
        }
        2 => {
            let Some((schema, payload)) = bytes.split_first() else { return };
            open(container(SCHEMAS[usize::from(*schema) % SCHEMAS.len()], payload));
        }
        _ => {
            let Some((schema, payload)) = bytes.split_first() else { return };
            datums(SCHEMAS[usize::from(*schema) % SCHEMAS.len()], payload);
        }
    }
});

/// Datums, joined and apart, as they are and as the reader wants them.
fn datums(text: &str, payload: &[u8]) {
    let (Ok(schema), Ok(reader)) = (text.parse::<avro::Schema>(), READER.parse::<avro::Schema>()) else { return };
    let (schema, reader) = (Arc::new(schema), Arc::new(reader));
    let Some((count, payload)) = payload.split_first() else { return };
    for reader in [None, Some(&reader)] {
        let Ok(datums) = avro::Datums::new(&schema, reader) else { continue };
        let pieces = payload.chunks(usize::from(*count).max(1));
        for plan in [datums.joined(payload.to_vec(), u64::from(*count)), datums.apart(pieces)] {
            let Ok(plan) = plan else { continue };
            let source: Arc<dyn forthwith::io::Source> = Arc::new(forthwith::io::Memory::new("datums", Vec::new()));
            let format = forthwith::format(&plan.format).expect("a format there is");
            for array in ENGINE.read(&plan, &source, format, Some(1), None).unwrap_or_default() {
                array.validate().expect("what is delivered is valid");
                if reader.is_none() && array.length > 0 {
                    let (bytes, ends) = avro::encode_datums(&schema, &array, false).expect("what was read can be written");
                    let again = datums.joined(bytes, ends.len() as u64).expect("of the same schema");
                    let again = ENGINE.read(&again, &source, format, Some(1), None).expect("what was written can be read");
                    same(&array, &again[0]);
                }
            }
        }
    }
}

/// Whether two arrays hold the same, as far as is looked.
fn same(one: &forthwith::columns::Array, other: &forthwith::columns::Array) {
    let shown = |array: &forthwith::columns::Array| format!("{:?}", array.values(0..array.length.min(50)));
    assert_eq!(one.length, other.length);
    assert_eq!(shown(one), shown(other));
}

/// Whether writing leaves all names as they are: without a schema, those that Avro does not have are spelled otherwise.
fn keeps_names(form: &forthwith::columns::Form) -> bool {
    use forthwith::columns::Form;
    let is_plain = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match form {
        Form::Record { fields, contents, .. } => {
            fields.iter().flatten().all(is_plain) && contents.iter().all(keeps_names)
        }
        Form::List { content, .. }
        | Form::Regular { content, .. }
        | Form::Option { content, .. }
        | Form::Logical { content, .. } => keeps_names(content),
        Form::Union { contents, .. } => contents.iter().all(keeps_names),
        _ => true,
    }
}

/// The fields that are not parts of others.
fn whole(table: &Table) -> Vec<u32> {
    let fields = (0..).zip(table.fields().unwrap_or_default());
    fields.filter(|(_, field)| !field.is_part).map(|(number, _)| number).collect()
}

/// What was read, written and read again.
fn back(arrays: &[forthwith::columns::Array], names: &[String], schema: Option<String>) {
    use forthwith::plan::TableWriter;
    let sink = forthwith::io::MemorySink::new("back.avro");
    let columns: Vec<_> = names.iter().cloned().zip(arrays.iter().map(|array| array.form.clone())).collect();
    if schema.is_none() && !arrays.iter().all(|array| keeps_names(&array.form)) {
        return;
    }
    let options = avro::Writing { schema, block_bytes: 64, ..avro::Writing::default() };
    let Ok(mut writer) = avro::AvroWriter::new(Box::new(sink.clone()), &columns, &options) else { return };
    if writer.write(arrays).is_err() {
        return;
    }
    Box::new(writer).finish().expect("memory takes everything");
    let bytes = sink.bytes().expect("it is complete");
    let source = Arc::new(forthwith::io::Memory::new("back.avro", bytes));
    let file = File::from_source(source, Arc::clone(&ENGINE)).expect("what was written can be opened");
    let table = file.table("").expect("and found");
    let plan = table.plan(&whole(&table), 0..table.entries().unwrap_or(0)).expect("and planned");
    let again = table.read(&plan, Some(1), None).expect("and read");
    for (one, other) in arrays.iter().zip(&again) {
        same(one, other);
    }
}

fn open(bytes: Vec<u8>) {
    for schema in [None, Some(READER)] {
        for skip_damaged in [false, true] {
            let mut options = OpenOptions::new().with("skip_damaged", skip_damaged);
            if let Some(schema) = schema {
                options.set("schema", schema);
            }
            let source = Arc::new(forthwith::io::Memory::new("fuzz.avro", bytes.clone()));
            let Ok(file) = File::from_source_with(source, Arc::clone(&ENGINE), &options) else { return };
            let _ = (file.info(), file.check());
            if let Ok(table) = file.table("") {
                read(&table);
            }
        }
    }
}

fn read(table: &Table) {
    let all = whole(table);
    let parts: Vec<u32> = (0..table.fields().map_or(0, <[_]>::len).min(32) as u32).collect();
    let choices = [&all[..], &all[..all.len().min(1)], &all[all.len() / 2..], &parts[..], &parts[parts.len() / 2..]];
    for (number, wanted) in choices.into_iter().enumerate() {
        let entries = table.entries_up_to(1000).unwrap_or(0);
        let Ok(plan) = table.plan(wanted, 0..entries) else { continue };
        let arrays = table.read(&plan, Some(1), None).unwrap_or_default();
        if number == 0 && !arrays.is_empty() {
            let fields = table.fields().expect("that were read");
            let names: Vec<String> = all.iter().map(|&field| fields[field as usize].name.clone()).collect();
            back(&arrays, &names, None);
            back(&arrays, &names, table.file().own::<avro::AvroFile>().map(|avro| avro.header().schema_text.clone()));
        }
        for array in arrays {
            array.validate().expect("what is delivered is valid");
            let flat = array.for_awkward().expect("and can be handed over");
            flat.validate().expect("and is valid then");
            let _ = array.preview(0..array.length.min(3), 40).lines();
        }
    }
}

/// A container of one block that says it has as many entries as fit in its first byte.
fn container(schema: &str, payload: &[u8]) -> Vec<u8> {
    let mut file = b"Obj\x01\x02\x16avro.schema".to_vec();
    let long = |mut rest: usize, file: &mut Vec<u8>| {
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
