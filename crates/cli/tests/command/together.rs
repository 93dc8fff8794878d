//! Several files as one: columns that some lack, and numbers of several types.

use crate::{file, forthwith, output};
use ::forthwith::{
    columns::{Array, Column, DType, Form},
    plan::WriteOptions,
};
use serde_json::{Value, json};

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a UTF-8 path").to_owned()
}

/// A file with columns of numbers.
pub(crate) fn write(path: String, columns: &[(&str, Column)]) -> String {
    let form = |name: &str, column: &Column| Form::Numpy {
        key: name.to_owned(),
        dtype: column.dtype(),
        shape: vec![],
    };
    let fields: Vec<_> =
        columns.iter().map(|(name, column)| ((*name).to_owned(), form(name, column))).collect();
    let arrays: Vec<_> = columns
        .iter()
        .map(|(name, column)| Array {
            form: form(name, column),
            length: column.len() as u64,
            columns: vec![(format!("{name}-data"), column.clone())],
        })
        .collect();
    let mut writer = ::forthwith::create(&path, &fields, &WriteOptions::default()).expect("a file");
    writer.write(&arrays).expect("room");
    writer.finish().expect("room");
    path
}

fn rows(args: &[&str]) -> Vec<Value> {
    output(&[&["cat"], args].concat()).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_column_that_a_file_lacks_can_be_chosen_and_computed_with() {
    let folder = folder();
    let numbers = |from: i64| Column::from_vec((from..from + 3).collect());
    let first = write(at(&folder, "a.parquet"), &[("x", numbers(0)), ("y", numbers(10))]);
    let second = write(at(&folder, "b.parquet"), &[("x", numbers(3)), ("z", numbers(20))]);
    for (one, other) in [(&first, &second), (&second, &first)] {
        let all = |more: &[&str]| {
            let mut found = rows(&[&[one.as_str(), other, "--missing", "null"], more].concat());
            found.sort_by_key(|row| row["x"].as_i64());
            found
        };
        let y = |x: i64| if x < 3 { json!(x + 10) } else { Value::Null };
        let expected: Vec<Value> = (0..6).map(|x| json!({"x": x, "y": y(x)})).collect();
        assert_eq!(all(&["-c", "x,y"]), expected);
        // Patterns, of which one is that of no column in one of the files; and nothing but what a file lacks.
        assert_eq!(all(&["-c", "[x]", "-c", "y*"]), expected);
        let alone = rows(&[one.as_str(), other, "--missing", "null", "-c", "y"]);
        let there = alone.iter().filter(|row| !row["y"].is_null()).count();
        assert_eq!((alone.len(), there), (6, 3));
        // By Kleene's rules, what is not known does not pass, unless the other side decides.
        assert_eq!(all(&["-c", "x,y", "--where", "y > 10"]), expected[1..3]);
        assert_eq!(all(&["-c", "x,y", "--where", "not (y > 10)"]), expected[..1]);
        assert_eq!(
            all(&["-c", "x,y", "--where", "y > 10 or x == 4"]),
            [&expected[1..3], &expected[4..5]].concat()
        );
        assert_eq!(
            all(&["-c", "x,y", "--where", "not (y > 10 and x < 5)"]),
            [&expected[..1], &expected[5..]].concat()
        );
        assert_eq!(all(&["-c", "x,y", "--where", "is_none(y)"]), expected[3..]);
        // A column that is not written.
        let x = |numbers: &[i64]| numbers.iter().map(|x| json!({"x": x})).collect::<Vec<_>>();
        assert_eq!(all(&["-c", "x", "--where", "z >= 21"]), x(&[4, 5]));
        let computed =
            all(&["-c", "x", "--compute", "w=y+z", "--compute", "v=y*2", "--alias", "u=x+1", "-w", "u<5"]);
        let expected: Vec<Value> = (0..4)
            .map(|x| json!({"x": x, "w": null, "v": if x < 3 { json!(2 * (x + 10)) } else { Value::Null }}))
            .collect();
        assert_eq!(computed, expected);
        let parquet = at(&folder, "all.parquet");
        output(&[
            "convert",
            one,
            other,
            &parquet,
            "--missing",
            "null",
            "-c",
            "x,y",
            "-w",
            "x != 1",
            "--force",
        ]);
        let mut found = rows(&[&parquet]);
        found.sort_by_key(|row| row["x"].as_i64());
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|row| row["y"] == y(row["x"].as_i64().expect("a number"))));
    }
    let refused = |more: &[&str], code, what: &[&str]| {
        let said = forthwith(&[&["cat", first.as_str(), &second], more].concat());
        assert_eq!(said.code, code, "{}", said.err);
        what.iter().for_each(|what| assert!(said.err.contains(what), "{what}: {}", said.err));
    };
    refused(&["-c", "x", "-w", "y > 1"], 2, &["\"y\"", "b.parquet", "--missing null"]);
    refused(&["-c", "y"], 3, &["\"y\"", "b.parquet"]);
    refused(&["-c", "x,nope", "--missing", "null"], 3, &["\"nope\"", "a.parquet"]);
    refused(&["-c", "n*", "--missing", "null"], 3, &["matches n*"]);
    refused(&["-c", "x", "-w", "nope > 1", "--missing", "null"], 2, &["nope"]);
}

/// Folders say columns: for a folder and a pattern that is given, not for files by their names.
#[test]
fn folders_are_columns() {
    let folder = folder();
    for (at, name) in ["day=1/k=a", "day=2/k=__HIVE_DEFAULT_PARTITION__"].iter().enumerate() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("room");
        let from = at as i64 * 2;
        write(
            path.join("part.parquet").to_str().expect("UTF-8").to_owned(),
            &[("x", Column::from_vec(vec![from, from + 1]))],
        );
    }
    let all = [(0, 1, Some("a")), (1, 1, Some("a")), (2, 2, None), (3, 2, None)];
    let expected: Vec<Value> = all.iter().map(|(x, day, k)| json!({"x": x, "day": day, "k": k})).collect();
    let (given, pattern) = (at(&folder, ""), at(&folder, "day=*/*/*.parquet"));
    for target in [&given, &pattern] {
        assert_eq!(rows(&[target]), expected);
        assert_eq!(
            rows(&[target, "-c", "k,x", "-w", "day == 2"]),
            [json!({"k": null, "x": 2}), json!({"k": null, "x": 3})]
        );
        assert_eq!(rows(&[target, "-c", "day"]).len(), 4);
        for format in ["parquet", "avro"] {
            let to = at(&folder, &format!("../all-{}.{format}", std::process::id()));
            output(&["convert", target, &to, "--force"]);
            assert_eq!(rows(&[&to]), expected);
            std::fs::remove_file(&to).expect("a file");
        }
        assert!(output(&["show", target]).contains("day"));
        assert_eq!(rows(&[&format!("{target}:day")]), [1, 1, 2, 2].map(|day| json!({"day": day})));
        let said = forthwith(&["cat", &format!("{target}:night")]);
        assert!(said.code == 3 && said.err.contains("\"night\""), "{}", said.err);
        assert!(output(&["head", target, "-b", "day", "--jsonl"]).contains("{\"day\":2}"));
    }
    // What copies files keeps the columns of these, and says so.
    for name in ["day=1", "day=2"] {
        let path = folder.path().join("trees").join(name);
        std::fs::create_dir_all(&path).expect("room");
        let to = path.join("part.root");
        output(&["convert", &at(&folder, "day=1/k=a/part.parquet"), to.to_str().expect("UTF-8")]);
    }
    let (trees, all) = (at(&folder, "trees"), at(&folder, "all.root"));
    for verb in [&["merge"][..], &["recompress", "--codec", "none"]] {
        let told = |from: &str| {
            let said = forthwith(&[verb, &[from, &all, "--force"]].concat());
            assert_eq!(said.code, 0, "{}", said.err);
            said.err.contains("folders say values of day, which are not kept")
        };
        assert!(told(&trees), "{verb:?}");
        assert!(!told(&at(&folder, "trees/day=1/part.root")), "{verb:?}");
    }
    std::fs::remove_dir_all(&trees).expect("a folder");
    std::fs::remove_file(&all).expect("a file");
    let one = at(&folder, "day=1/k=a/part.parquet");
    assert_eq!(rows(&[&one]), [json!({"x": 0}), json!({"x": 1})]);
}

/// Numbers become those of the type that has those of all files, as in Python.
#[test]
fn numbers_of_several_types_become_one() {
    let folder = folder();
    let path = |name: &str| at(&folder, name);
    let short = write(path("a.parquet"), &[("x", Column::from_slice(&[1i32, -2]))]);
    let long = write(path("b.parquet"), &[("x", Column::from_slice(&[1i64 << 40]))]);
    let real = write(path("c.parquet"), &[("x", Column::from_slice(&[0.5f64]))]);
    let schema = |path: &str| output(&["schema", path]).to_lowercase();
    for (files, expected, text) in [
        (&[&short, &long][..], &["int64", "\"long\""][..], "1\n-2\n1099511627776\n"),
        (&[&long, &short], &["int64", "\"long\""], "1099511627776\n1\n-2\n"),
        (&[&short, &real], &["double", "float64"], "1.0\n-2.0\n0.5\n"),
        (&[&short, &long, &real], &["double", "float64"], "1.0\n-2.0\n1099511627776.0\n0.5\n"),
    ] {
        let files: Vec<&str> = files.iter().map(|path| path.as_str()).collect();
        assert_eq!(output(&[&["cat", "--format", "csv"], &files[..]].concat()), format!("x\n{text}"));
        for to in ["all.parquet", "all.avro", "all.root"] {
            let to = path(to);
            output(&[&["convert", "--force"], &files[..], &[&to]].concat());
            let schema = schema(&to);
            assert!(expected.iter().any(|name| schema.contains(name)), "{to} of {files:?}: {schema}");
            let found = output(&["cat", "--format", "csv", &to]);
            assert_eq!(found, format!("x\n{text}"), "{to}");
        }
    }
    // Cuts and what is computed are of the common type.
    let found =
        output(&["cat", &short, &real, "--where", "x > 0.5", "--compute", "y=x/2", "--format", "csv"]);
    assert_eq!(found, "x,y\n1.0,0.5\n");
    // A number that would be changed is an error that says which.
    let odd = write(path("odd.parquet"), &[("x", Column::from_slice(&[1i64 << 53, (1 << 53) + 1]))]);
    let to = path("no.parquet");
    for args in [&["convert", &odd, &real, &to][..], &["cat", &real, &odd]] {
        let said = forthwith(args);
        assert_eq!(said.code, 2, "{}", said.err);
        for what in ["column x has 9007199254740993, which is no float64", "odd.parquet"] {
            assert!(said.err.contains(what), "{what}: {}", said.err);
        }
        assert!(!std::path::Path::new(&to).exists());
    }
    // So is one that is not written, but compared or computed with: before anything is chosen by it.
    let named = |name: &str, x: Column| {
        write(path(name), &[("k", Column::from_vec((0..x.len() as i64).collect::<Vec<_>>())), ("x", x)])
    };
    let odd_used = named("odd-used.parquet", Column::from_slice(&[1i64 << 53, (1 << 53) + 1]));
    let real_used = named("real-used.parquet", Column::from_slice(&[0.5f64]));
    let unsigned = named("unsigned.parquet", Column::from_slice(&[1u64 << 63]));
    for other in [&real_used, &unsigned] {
        for more in [
            &["-c", "k", "-w", "x == 9007199254740992"][..],
            &["-c", "k", "-w", "x < 5"],
            &["-c", "k", "--compute", "y=x+1"],
            &["-c", "k,x", "-w", "x < 5"],
            &["-c", "k", "-w", "x < 5", "--errors", "skip"],
        ] {
            for files in [[&odd_used, other], [other, &odd_used]] {
                let said = forthwith(&[&["cat", files[0].as_str(), files[1]], more].concat());
                assert_eq!(said.code, 2, "{more:?}: {}", said.err);
                for what in ["column x has 9007199254740993, which is no float64", "odd-used.parquet"] {
                    assert!(said.err.contains(what), "{what}: {}", said.err);
                }
            }
        }
    }
    let found = output(&["cat", &odd_used, &real_used, "-c", "x", "-w", "k < 1", "--format", "csv"]);
    assert_eq!(found, "x\n9007199254740992.0\n0.5\n");
    // Types that no number joins.
    let other = write(
        path("d.parquet"),
        &[("x", Column::from_slice(&[1u8]).view(DType::Bool).expect("a byte each"))],
    );
    let said = forthwith(&["cat", &short, &other]);
    assert!(said.code == 2 && said.err.contains("column x has type bool in"), "{}", said.err);
    let said = forthwith(&["cat", &short, &file("avro/codec-deflate.avro"), "--missing", "null"]);
    assert!(said.code == 0 || said.err.contains("column"), "{}", said.err);
}

/// What the help says of CSV.
#[test]
fn csv_has_empty_cells_for_missing_values_and_names_for_what_is_no_number() {
    let folder = folder();
    let real = Column::from_slice(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    let first = write(at(&folder, "a.parquet"), &[("x", real), ("k", Column::from_slice(&[1i32, 2, 3]))]);
    let second = write(at(&folder, "b.parquet"), &[("k", Column::from_slice(&[4i32]))]);
    let found = output(&["cat", &first, &second, "--missing", "null", "--format", "csv"]);
    assert_eq!(found, "x,k\nNaN,1\ninf,2\n-inf,3\n,4\n");
    let help = output(&["cat", "--help"]);
    assert!(help.contains("NaN, inf and"), "{help}");
}
