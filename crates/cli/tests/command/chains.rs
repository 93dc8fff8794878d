//! Several files as one table: `--chain`, and what files have in common.

use crate::{
    file, forthwith, output,
    together::{at, folder, write},
};
use ::forthwith::columns::{Column, DType};
use serde_json::{Value, json};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn entries_of_all_files_are_one_number() {
    let folder = folder();
    let one = write(at(&folder, "a.parquet"), &[("x", Column::from_slice(&[1i32, 2, 3]))]);
    let two = write(at(&folder, "b.avro"), &[("x", Column::from_slice(&[2.5f64, 0.5]))]);
    let none = write(at(&folder, "c.parquet"), &[("x", Column::from_slice::<i32>(&[]))]);
    assert_eq!(output(&["count", &one, &two, &none]), format!("3\t{one}\n2\t{two}\n0\t{none}\n"));
    assert_eq!(output(&["count", "--chain", &one, &none, &two]), "5\n");
    assert_eq!(output(&["count", "--chain", &one, &two, "-w", "x > 1"]), "3\n");
    assert_eq!(
        parse(&output(&["count", "--chain", &one, &two, "--json"])),
        json!({"files": 2, "entries": 5})
    );
    assert_eq!(output(&["count", "--chain", &one]), "3\n");
    // One by one, a file that fails does not keep the others from being counted; as one table, it does.
    let other = write(at(&folder, "d.parquet"), &[("y", Column::from_slice(&[1i32]))]);
    let said = forthwith(&["count", &other, &one, "-w", "x > 1"]);
    assert!(
        said.code == 2 && said.out == format!("2\t{one}\n") && said.err.contains("d.parquet"),
        "{}",
        said.err
    );
    let said = forthwith(&["count", "--chain", &one, &other, "-w", "x > 1"]);
    assert!(said.code == 2 && said.out.is_empty() && said.err.contains("d.parquet"), "{}", said.err);
    let said = forthwith(&["count", "--chain", &one, "no-such-file.root"]);
    assert!(said.code == 3 && said.out.is_empty(), "{}", said.err);
}

/// More files than are opened side by side, of which one in the middle fails.
#[test]
fn many_files_are_counted_in_their_order() {
    let folder = folder();
    let name = |number: usize| at(&folder, &format!("{number:02}.parquet"));
    let files: Vec<String> =
        (0..70).map(|number| write(name(number), &[("x", Column::from_vec(vec![0i64; number]))])).collect();
    std::fs::write(&files[40], b"nothing").expect("room");
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let said = forthwith(&[&["count"][..], &names].concat());
    let counts: Vec<usize> =
        said.out.lines().filter_map(|line| line.split('\t').next()?.parse().ok()).collect();
    assert_eq!(counts, (0..70).filter(|number| *number != 40).collect::<Vec<_>>());
    assert!(said.code == 1 && said.err.contains("40.parquet"), "{} {}", said.code, said.err);
}

#[test]
fn a_schema_of_several_files_has_their_common_types() {
    let folder = folder();
    let one = write(
        at(&folder, "a.parquet"),
        &[("x", Column::from_slice(&[1i32])), ("y", Column::from_slice(&[1u8]))],
    );
    let two = write(
        at(&folder, "b.avro"),
        &[("z", Column::from_slice(&[1i64])), ("x", Column::from_slice(&[0.5f64]))],
    );
    assert_eq!(output(&["schema", "--chain", &one, &two]), "x: float64\ny: ?uint8\nz: ?int64\n");
    assert_eq!(output(&["schema", "--chain", &one]), "x: int32\ny: uint8\n");
    assert_eq!(
        parse(&output(&["schema", "--chain", "--json", &two, &one])),
        json!([
            {"name": "z", "array": "?int64", "files": 1},
            {"name": "x", "array": "float64", "files": 2},
            {"name": "y", "array": "?uint8", "files": 1},
        ])
    );
    let bools = Column::from_slice(&[1u8]).view(DType::Bool).expect("a byte each");
    let other = write(at(&folder, "c.parquet"), &[("x", bools)]);
    let said = forthwith(&["schema", "--chain", &one, &other]);
    assert_eq!(said.code, 2, "{}", said.err);
    for what in ["column x has type bool in", "c.parquet", "int32 in", "a.parquet"] {
        assert!(said.err.contains(what), "{what}: {}", said.err);
    }
}

#[test]
fn a_histogram_has_the_entries_of_all_files() {
    let events = file("zmumu.root:events");
    let plot = |args: &[&str]| parse(&output(&[&["plot", "--json", "--bins", "10"], args].concat()));
    let one = plot(&[&events, "-b", "MET_pt", "--range", "0,100"]);
    let two = plot(&["--chain", &events, &events, "-b", "MET_pt", "--range", "0,100"]);
    let doubled = |values: &Value| -> Vec<f64> {
        values
            .as_array()
            .expect("values")
            .iter()
            .map(|value| value.as_f64().expect("a number") * 2.0)
            .collect()
    };
    let values = |drawn: &Value| drawn[0]["values"].clone();
    assert_eq!(values(&two), json!(doubled(&values(&one))));
    // Numbers of several types, a cut, a computed column, and two dimensions.
    let folder = folder();
    let small = write(
        at(&folder, "a.parquet"),
        &[("x", Column::from_slice(&[1i32, 2, 3])), ("y", Column::from_slice(&[1i32, 1, 1]))],
    );
    let real = write(
        at(&folder, "b.parquet"),
        &[("y", Column::from_slice(&[0.5f64, 1.5])), ("x", Column::from_slice(&[2.5f64, 9.5]))],
    );
    let sum = |args: &[&str]| -> f64 {
        let drawn = plot(&[&["--chain", &small, &real, "--range", "0,10"], args].concat());
        let flat = |value: &Value| -> f64 {
            match value {
                Value::Array(values) => values
                    .iter()
                    .map(|value| {
                        value.as_f64().unwrap_or_else(|| {
                            value.as_array().into_iter().flatten().filter_map(Value::as_f64).sum()
                        })
                    })
                    .sum(),
                _ => f64::NAN,
            }
        };
        flat(&drawn[0]["values"])
    };
    assert_eq!(sum(&["-b", "x"]), 5.0);
    assert_eq!(sum(&["-b", "x", "-w", "x > 2"]), 3.0);
    assert_eq!(sum(&["-b", "x", "-n", "4"]), 4.0);
    assert_eq!(sum(&["--compute", "z=x+y"]), 4.0);
    assert_eq!(sum(&["-b", "x", "--y", "y", "--y-range", "0,2"]), 5.0);
    assert_eq!(sum(&["--compute", "z=x*2", "--y", "y", "--y-range", "0,2"]), 4.0);
    let said = forthwith(&["plot", "--chain", &small, &events, "-b", "x"]);
    assert!(said.code == 3 && said.err.contains("zmumu.root"), "{} {}", said.code, said.err);
    let text = write(
        at(&folder, "c.parquet"),
        &[("x", Column::from_slice(&[1u8]).view(DType::Bool).expect("a byte each"))],
    );
    let said = forthwith(&["plot", "--chain", &small, &text, "-b", "x"]);
    assert!(said.code == 2 && said.err.contains("column x has type bool in"), "{} {}", said.code, said.err);
}

/// Entries are drawn of all files together.
#[test]
fn samples_are_drawn_of_all_files() {
    let folder = folder();
    let files = [0i64, 100, 200].map(|from| {
        write(
            at(&folder, &format!("{from}.parquet")),
            &[("x", Column::from_vec((from..from + 50).collect::<Vec<_>>()))],
        )
    });
    assert_eq!(files.len(), 3);
    let drawn = |more: &[&str]| -> Vec<i64> {
        let text = output(&[&["sample", &at(&folder, ""), "-n", "30", "--seed", "5"], more].concat());
        text.lines().map(|line| parse(line)["x"].as_i64().expect("a number")).collect()
    };
    let all = drawn(&[]);
    assert!(all.len() == 30 && all.is_sorted() && all.iter().all(|x| x % 100 < 50), "{all:?}");
    assert!([0, 100, 200].iter().all(|from| all.iter().any(|x| (*from..from + 50).contains(x))), "{all:?}");
    let cut = drawn(&["-w", "x >= 120 and x < 210"]);
    assert!(cut.len() == 30 && cut.is_sorted() && cut.iter().all(|x| (120..210).contains(x)), "{cut:?}");
}

/// Losses behind the last entries that can be read are told, too.
#[test]
fn losses_are_told_file_by_file() {
    let folder = folder();
    let (whole, cut) = (at(&folder, "whole.avro"), at(&folder, "cut.avro"));
    output(&["convert", &file("zmumu.root:events"), &whole, "-c", "run,nMuon", "--block-entries", "500"]);
    let bytes = std::fs::read(&whole).expect("a file");
    std::fs::write(&cut, &bytes[..bytes.len() - 20]).expect("room");
    // The only block is cut off: nothing of the file can be read.
    let nothing = at(&folder, "nothing.avro");
    output(&["convert", &file("zmumu.root:events"), &nothing, "-c", "run,nMuon"]);
    let bytes = std::fs::read(&nothing).expect("a file");
    std::fs::write(&nothing, &bytes[..bytes.len() - 20]).expect("room");
    let lines = |files: &[&str]| {
        let said = forthwith(&[&["cat", "--errors", "skip"], files].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        let told = ["whole.avro", "cut.avro", "nothing.avro"]
            .map(|name| said.err.matches(&format!("left out of {}", at(&folder, name))).count());
        (said.out.lines().count(), told)
    };
    assert_eq!(lines(&[&cut, &whole]), (7100, [0, 1, 0]));
    assert_eq!(lines(&[&whole, &cut, &cut]), (10_600, [0, 2, 0]));
    assert_eq!(lines(&[&whole, &nothing]), (3600, [0, 0, 1]));
    assert_eq!(lines(&[&nothing, &whole, &cut]), (7100, [0, 1, 1]));
}
