//! Reads every object of the files given, and says what of each was not understood.
//!
//! `cargo run -p forthwith-root --example objects -- FILE...` writes one line for each object: file, name,
//! class, `ok` or what is the matter; the last line counts.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;

use forthwith_root::{Objects, RootFile};

fn main() {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let opened = forthwith_io::open(&path).map_err(|error| error.to_string());
        let opened = opened.and_then(|source| RootFile::open(source).map_err(|error| error.to_string()));
        let keys = opened.and_then(|file| {
            let keys = file.keys_recursive().map_err(|error| error.to_string())?;
            Ok((file, keys))
        });
        let (file, keys) = match keys {
            Ok(both) => both,
            Err(error) => {
                println!("{path}\t\t\tclosed\t{error}");
                *counts.entry("closed").or_default() += 1;
                continue;
            }
        };
        for found in keys.iter().filter(|found| !found.key.is_directory()) {
            let (state, detail) = match file.object(&found.key) {
                Err(error) => ("error", error.to_string().replace('\n', " ")),
                Ok(objects) => judge(&objects),
            };
            *counts.entry(state).or_default() += 1;
            println!(
                "{path}\t{};{}\t{}\t{state}\t{detail}",
                found.path, found.key.cycle, found.key.class_name
            );
        }
    }
    println!("{counts:?}");
}

fn judge(objects: &Objects) -> (&'static str, String) {
    if let Some((object, error)) = objects.faults().next() {
        return ("fault", format!("{} {error}", object.class()).replace('\n', " "));
    }
    let opaque = objects.iter().find(|object| {
        object.is_opaque() && !object.body().is_empty() && !["TBasket", "TQObject"].contains(&object.class())
    });
    if let Some(object) = opaque {
        return ("opaque", format!("{} version {}", object.class(), object.version()));
    }
    if let Some(left) = objects.leftovers().first() {
        return ("left", format!("{} bytes in {}", left.length, left.class));
    }
    ("ok", String::new())
}
