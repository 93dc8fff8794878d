//! The façade is open: formats are named in its table and in rooms of their own, and options reach the format of a file or none.

use forthwith::{File, FileFormat, OpenOptions, formats, plan::ErrorKind};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Rust sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The words of a line of code that name a format; comments do not count, nor do names of files in quotes.
fn formats_named(line: &str) -> Vec<String> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return Vec::new();
    }
    // The root of builders is no format.
    let code = code.replace("Sink::ROOT", "");
    let code = code.split(" // ").next().unwrap_or_default().to_ascii_lowercase();
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').flat_map(|word| {
        // `.root` is the ending of a name of a file, `columns.avro` the name of one.
        (!word.contains('.') || word.starts_with('.') && word.matches('.').count() == 1)
            .then(|| word.trim_start_matches('.').to_owned())
    });
    let named = ["avro", "parquet", "protobuf", "root", "ttree", "rntuple", "feather"];
    words.filter(|word| named.contains(&word.as_str())).collect()
}

#[test]
fn formats_are_named_in_their_rooms_alone() {
    // Folders of sources, and what in them may name formats.
    let rooms: [(&str, &[&str]); 3] = [
        ("crates/forthwith/src", &["formats.rs", "formats/", "lib.rs"]),
        // The command's help has names of files in its examples; objects are drawn as the one format has them that has any.
        ("crates/cli/src", &["flags/", "object/"]),
        ("python/src", &["formats/"]),
    ];
    let mut faults = Vec::new();
    for (folder, allowed) in rooms {
        let mut files = Vec::new();
        sources(&top().join(folder), &mut files);
        assert!(files.len() > 5, "{folder} has no sources");
        for path in files {
            let name = path.strip_prefix(top().join(folder)).expect("below").to_string_lossy().into_owned();
            if allowed.iter().any(|room| name == *room || room.ends_with('/') && name.starts_with(room)) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source");
            // Tests name files.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in (1..).zip(code.lines()) {
                for word in formats_named(line) {
                    faults.push(format!("{folder}/{name}:{number}: {word}: {}", line.trim()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "formats are named outside of their rooms:\n{}", faults.join("\n"));
}

#[test]
fn formats_are_found_in_code() {
    assert_eq!(formats_named("use forthwith_avro::AvroFile;"), ["avro"]);
    assert_eq!(formats_named(r#"if file.format == "Parquet" {"#), ["parquet"]);
    assert_eq!(formats_named(r#"name.ends_with(".root")"#), ["root"]);
    assert!(formats_named("    // what ROOT does").is_empty());
    assert!(formats_named(r#"open("a.root")"#).is_empty());
}

#[test]
fn an_option_is_understood_or_refused_by_name() {
    let data = top().join("tests/data");
    let opened = |name: &str, options: &OpenOptions| {
        File::open_with(data.join(name), options).map(|file| file.format()).map_err(|error| error.to_string())
    };
    let (tree, table) = ("zmumu.root", "parquet/plain.parquet");
    assert_eq!(opened(table, &OpenOptions::new().with("row_groups", vec![0])), Ok("Parquet"));
    assert_eq!(opened(tree, &OpenOptions::new().with("recover", true)), Ok("ROOT"));
    for name in [tree, table] {
        assert!(opened(name, &OpenOptions::new().with("check_text", false)).is_ok());
    }
    let cases = [
        (
            tree,
            "row_groups",
            "row_groups is an option for Parquet files, but the format of this file is ROOT",
        ),
        (
            table,
            "schema",
            "schema is an option for Avro, ProtoBuf and JSON Lines files, but the format of this file is Parquet",
        ),
        (tree, "row_group", "there is no option row_group for ROOT files; did you mean row_groups?"),
    ];
    for (name, option, said) in cases {
        let error = opened(name, &OpenOptions::new().with(option, vec![0])).expect_err(said);
        assert!(error.contains(said), "{error}");
    }
    let error = opened(table, &OpenOptions::new().with("row_groups", true)).expect_err("of another kind");
    assert!(error.contains("row_groups is a list of numbers, not true or false"), "{error}");
}

/// A request that a format cannot serve is an error that names it.
#[test]
fn missing_abilities_are_errors_by_name() {
    let file = File::open(top().join("tests/data/parquet/plain.parquet")).expect("a bundled file");
    let error = file.object("table").expect_err("there are none");
    assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("objects in Parquet files"), "{error}");
    let merged = |files: &[File]| {
        let sink = forthwith::io::MemorySink::new("merged");
        forthwith::merge(files, Box::new(sink), &forthwith::Merge::default(), &mut |_, _| true)
            .expect_err("cannot be merged")
    };
    let error = merged(&[file.clone(), file.clone()]);
    assert!(error.to_string().contains("copying the stored blocks of Parquet files"), "{error}");
    let tree = File::open(top().join("tests/data/zmumu.root")).expect("a bundled file");
    let error = merged(&[tree, file]);
    assert!(error.to_string().contains("cannot be merged: ROOT and Parquet"), "{error}");
    let written = formats().iter().filter(|format| format.is_written());
    for format in formats() {
        let name = format!("made.{}", format.endings()[0]);
        match FileFormat::of(&name) {
            Ok(found) => assert_eq!(found.name(), format.name()),
            Err(error) => {
                assert!(!format.is_written(), "{error}");
                assert!(error.to_string().contains(&format!("writing {} files", format.name())), "{error}");
            }
        }
    }
    assert!(written.count() >= 5);
}
