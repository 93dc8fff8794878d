//! ProtoBuf, by the first byte: any bytes as a file in each framing, as messages one by one, as a set of descriptors, or as the text of a
//! schema. What could be read is written, and read again.
#![no_main]

use forthwith::{
    File, OpenOptions, Table,
    plan::TableWriter,
    protobuf::{Framing, Mapping, Messages, ProtoWriter, Schema, Writing},
};
use forthwith_fuzz::{engine, proto_mutants::{PROTO, SCHEMA}};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 8 {
        0 => messages(bytes),
        1 => open(bytes, &[("framing", "fixed32")]),
        2 => open(bytes, &[("framing", "fixed32-big")]),
        3 => open(bytes, &[("framing", "single")]),
        4 => open(bytes, &[("rows", "parts/list")]),
        5 => open(&[b"hmpb", bytes].concat(), &[]),
        6 => {
            let _ = Schema::of_descriptors(bytes).map(|schema| Messages::new(&schema, None, Mapping::default()));
        }
        _ => open(bytes, &[]),
    }
});

/// Messages one by one, each as long as the first byte says.
fn messages(bytes: &[u8]) {
    let Some((length, bytes)) = bytes.split_first() else { return };
    let mapping = Mapping { times: length % 2 == 0, enum_numbers: length % 3 == 0, recursion: 2 };
    let messages = Messages::new(&SCHEMA, Some("t.Event"), mapping).expect("a type");
    let plan = messages.plan(bytes.chunks(usize::from(*length).max(1))).expect("a plan");
    let source: Arc<dyn forthwith::io::Source> = Arc::new(forthwith::io::Memory::new("messages", Vec::new()));
    let format = forthwith::format(&plan.format).expect("a format there is");
    let _ = ENGINE.read(&plan, &source, format, Some(1), None);
}

/// A file: each field alone, and all of them, which are written and read again.
fn open(bytes: &[u8], given: &[(&str, &str)]) {
    let known = [("schema", PROTO), ("message", "t.Event"), ("recursion", "2")];
    let options = known.iter().chain(given).fold(OpenOptions::new(), |options, (name, value)| {
        options.with(name, (*value).to_owned())
    });
    let source = Arc::new(forthwith::io::Memory::new("fuzz.pb", bytes.to_vec()));
    let Ok(file) = File::from_source_with(source, Arc::clone(&ENGINE), &options) else { return };
    let _ = (file.info(), file.check());
    let Ok(table) = file.table("") else { return };
    let entries = table.entries_up_to(1000).unwrap_or(0);
    let fields = table.fields().map_or(0, <[_]>::len) as u32;
    for field in 0..fields.min(64) {
        let Ok(plan) = table.plan(&[field], 0..entries) else { continue };
        for array in table.read(&plan, Some(1), None).unwrap_or_default() {
            array.validate().expect("what is delivered is valid");
        }
    }
    back(&table, entries);
}

fn back(table: &Table, entries: u64) {
    let fields = table.fields().unwrap_or_default();
    let whole: Vec<u32> = (0..).zip(fields).filter(|(_, field)| !field.is_part).map(|(at, _)| at).collect();
    let names: Vec<String> = whole.iter().map(|at| fields[*at as usize].name.to_string()).collect();
    let Ok(arrays) = table.plan(&whole, 0..entries).and_then(|plan| table.read(&plan, Some(2), None)) else { return };
    let forms = arrays.iter().map(|array| array.form.clone());
    let columns: Vec<_> = names.into_iter().zip(forms).collect();
    let sink = forthwith::io::MemorySink::new("back.pb");
    let schema = Some(SCHEMA.clone());
    let writing = Writing { schema, message: Some("t.Event".into()), framing: Framing::Delimited };
    let mut writer = ProtoWriter::new(Box::new(sink.clone()), &columns, &writing).expect("columns of this schema");
    writer.write(&arrays).expect("what was read can be written");
    Box::new(writer).finish().expect("memory takes everything");
}
