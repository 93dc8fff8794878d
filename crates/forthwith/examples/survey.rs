//! survey [--list] FILE...: which branches of ROOT files can be read.
//!
//! Every branch with data of every tree is described and, up to 2000 entries, decoded. Each that fails is a line: file, tree, branch and
//! why, with tabs between. The last line counts. With `--list`, those that can be read are lines, too, with how they are.
#![allow(clippy::print_stdout, reason = "a command")]

use forthwith::{
    File, Table,
    plan::{Decoder, Error},
};
use std::{collections::BTreeSet, panic::AssertUnwindSafe, path::Path};

fn main() {
    let (flags, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let list = flags.iter().any(|flag| flag == "--list");
    let (mut all, mut good) = (0, 0);
    let mut seen = BTreeSet::new();
    for path in files {
        let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !seen.insert(name.clone()) {
            continue;
        }
        let keys = File::open(&path).and_then(|file| Ok((file.keys("", true)?, file)));
        let (keys, file) = match keys {
            Ok(both) => both,
            Err(error) => {
                println!("{name}\t\t\t{}", line(&error));
                continue;
            }
        };
        for key in keys.iter().filter(|key| matches!(&*key.class, "TTree" | "TNtuple" | "TNtupleD")) {
            let tree = format!("{};{}", key.path, key.cycle);
            let table = match file.table(&tree) {
                Ok(table) => table,
                Err(error) => {
                    println!("{name}\t{tree}\t\t{}", line(&error));
                    continue;
                }
            };
            let fields = table.fields().map(<[_]>::to_vec).unwrap_or_default();
            for (number, field) in (0..).zip(&fields).filter(|(_, field)| field.has_data) {
                all += 1;
                let read = std::panic::catch_unwind(AssertUnwindSafe(|| read(&table, number)));
                match read {
                    Ok(Ok(how)) => {
                        good += 1;
                        if list {
                            println!("{name}\t{tree}\t{}\t{how}", field.path);
                        }
                    }
                    Ok(Err(error)) => println!("{name}\t{tree}\t{}\t{}", field.path, line(&error)),
                    Err(_) => println!("{name}\t{tree}\t{}\tpanic", field.path),
                }
            }
        }
    }
    println!("{good} of {all} branches");
}

fn read(table: &Table, field: u32) -> Result<String, Error> {
    let description = table.describe(field)?;
    let reading = description.reading.map_err(Error::unsupported)?;
    let range = table.entry_range(field)?;
    let stop = range.end.min(range.start + 2000);
    let plan = table.plan(&[field], range.start..stop)?;
    let arrays = table.read(&plan, Some(1), None)?;
    let entries: u64 = arrays.iter().map(|array| array.length).sum();
    let how = match reading.decoder {
        Decoder::Program(_) => "program",
        _ => "kernel",
    };
    Ok(format!("{how}\t{entries} entries\t{}", description.type_name))
}

/// In one line.
fn line(error: &Error) -> String {
    error.to_string().replace('\n', " ")
}
