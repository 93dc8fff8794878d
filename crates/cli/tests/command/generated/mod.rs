//! Types that `forthwith gen` prints: they compile, and read the files that they were printed for.

use crate::{file, forthwith, output};
use ::forthwith::{File, rows::Row};

/// What was printed for a file, compiled.
macro_rules! printed {
    ($($name:ident)*) => {$(
        #[allow(dead_code, missing_docs, unreachable_pub, reason = "fields are read as a whole")]
        mod $name {
            include!(concat!(stringify!($name), ".rs"));
        }
    )*};
}

printed! { zmumu nested plain }

/// Compares what is printed with the file that is compiled here, or writes this file.
fn compare(target: &str, name: &str, compiled: &str) {
    let printed = output(&["gen", "rust", &file(target)]);
    if std::env::var_os("FORTHWITH_UPDATE").is_some() {
        let path = format!("{}/tests/command/generated/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, &printed).expect("the checkout can be written");
        return;
    }
    assert!(printed == compiled, "{name}.rs is out of date: FORTHWITH_UPDATE=1 writes it anew");
}

fn count<R: Row>(name: &str, table: &str) -> usize {
    let table = File::open(file(name)).and_then(|file| file.table(table)).expect("a table");
    let mut count = 0;
    let rows = table.rows::<R>().unwrap_or_else(|error| panic!("{error}"));
    rows.for_each(|_| count += 1).expect("rows");
    assert_eq!(count as u64, table.entries().expect("a count"));
    count
}

#[test]
fn structs_read_the_tables_they_were_printed_for() {
    compare("zmumu.root:events", "zmumu", include_str!("zmumu.rs"));
    compare("avro/nested.avro", "nested", include_str!("nested.rs"));
    compare("parquet/plain.parquet", "plain", include_str!("plain.rs"));
    let counts = [
        count::<zmumu::Event>("zmumu.root", "events"),
        count::<nested::Event>("avro/nested.avro", ""),
        count::<plain::Entry>("parquet/plain.parquet", ""),
    ];
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn a_header_is_of_a_tree() {
    let header = output(&["gen", "cpp", &file("zmumu.root:events")]);
    for line in [
        "    TTreeReaderArray<Float_t> Muon_pt;",
        "    TTreeReaderValue<Float_t> MET_pt;",
        "          Muon_pt(reader, \"Muon_pt\"),",
    ] {
        assert!(header.contains(line), "{header}");
    }
    let refused = forthwith(&["gen", "cpp", &file("parquet/plain.parquet")]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("not a tree"), "{}", refused.err);
}
