//! Footers made by hand.

use forthwith_io::Memory;
use forthwith_parquet::{Options, ParquetFile};
use forthwith_plan::{Dataset, Result};
use std::sync::Arc;

/// Bytes of a structure: fields with their numbers and types, each number in full.
fn fields(fields: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, kind, value) in fields {
        bytes.extend([*kind, number << 1]);
        bytes.extend_from_slice(value);
    }
    bytes.push(0);
    bytes
}

/// A list of structures.
fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [vec![(items.len() as u8) << 4 | 12], items.concat()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}

fn file(footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [&b"PAR1"[..], footer, &length, b"PAR1"].concat()
}

fn opened(footer: &[u8]) -> Result<Vec<String>> {
    let file = ParquetFile::open(Arc::new(Memory::new("made.parquet", file(footer))))?;
    let table = file.table(&Options::default())?;
    let fields = table.fields()?.len() as u32;
    (0..fields).map(|field| Ok(table.describe(field)?.type_name)).collect()
}

/// A group of `children` fields.
fn group(name: &str, children: u8) -> Vec<u8> {
    fields(&[(4, 8, &text(name)), (5, 5, &[children << 1])])
}

/// A column of this physical type, with more fields.
fn column(name: &str, physical: u8, more: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let (name, physical) = (text(name), [physical << 1]);
    let mut all: Vec<(u8, u8, &[u8])> = vec![(1, 5, &physical), (4, 8, &name)];
    all.extend_from_slice(more);
    fields(&all)
}

#[test]
fn a_schema_is_enough() {
    let date = fields(&[(6, 12, &fields(&[]))]);
    let tomorrow = fields(&[(60, 12, &fields(&[(1, 8, &text("?"))]))]);
    let schema = list(&[
        group("root", 5),
        column("plain", 2, &[]),
        column("maybe", 1, &[(3, 5, &[2]), (10, 12, &date)]),
        column("later", 1, &[(10, 12, &tomorrow)]),
        group("inner", 1),
        column("old", 6, &[(3, 5, &[4]), (6, 5, &[0])]),
        column("unknown", 60, &[]),
    ]);
    let names = opened(&fields(&[(2, 9, &schema)])).unwrap();
    let want = [
        "REQUIRED INT64 plain",
        "OPTIONAL INT32 maybe (DATE)",
        "REQUIRED INT32 later (UNKNOWN(60))",
        "REQUIRED group inner { REPEATED BYTE_ARRAY old (UTF8); }",
        "REPEATED BYTE_ARRAY old (UTF8)",
        "REQUIRED TYPE 60 unknown",
    ];
    assert_eq!(names, want);
}

#[test]
fn schemas_that_contradict_themselves() {
    let of = |schema: &[Vec<u8>]| opened(&fields(&[(2, 9, &list(schema))]));
    assert!(of(&[group("root", 1)]).is_err());
    assert!(of(&[group("root", 0), column("x", 1, &[])]).is_err());
    assert!(of(&[group("root", 1), column("x", 1, &[(3, 5, &[14])])]).is_err());
    assert!(of(&[group("root", 60)]).is_err());
    assert!(opened(&fields(&[])).is_err());
    assert!(opened(&[]).is_err());
    // Lists that promise more than there is.
    assert!(opened(&fields(&[(2, 9, &[0xfc, 0xff, 0xff, 0xff, 0xff, 0x7f])])).is_err());
    // A row group of other columns than the schema's.
    let groups = list(&[fields(&[(1, 9, &list(&[fields(&[]), fields(&[])]))])]);
    let schema = list(&[group("root", 1), column("x", 1, &[])]);
    let error = opened(&fields(&[(2, 9, &schema), (4, 9, &groups)])).unwrap_err();
    assert!(error.to_string().contains("2 columns, where the schema has 1"), "{error}");
}

#[test]
fn groups_are_not_deeper_than_the_stack() {
    let mut schema: Vec<u8> = vec![0xf0 | 12];
    schema.extend([0xe8, 7]); // a thousand elements
    (0..999).for_each(|_| schema.extend(group("g", 1)));
    schema.extend(column("x", 1, &[]));
    let error = opened(&fields(&[(2, 9, &schema)])).unwrap_err();
    assert!(error.to_string().contains("groups more than 100 deep"), "{error}");
}

#[test]
fn names_that_each_column_would_have_in_its_path_are_bounded() {
    let long = "x".repeat(1 << 20);
    let mut name = vec![0x80, 0x80, 0x40];
    name.extend(long.as_bytes());
    let mut schema: Vec<u8> = vec![0xf0 | 12, 0xea, 7];
    schema.extend(group("root", 1));
    schema.extend(fields(&[(4, 8, &name), (5, 5, &[0xd0, 0x0f])]));
    (0..1000).for_each(|_| schema.extend(column("y", 1, &[])));
    let error = opened(&fields(&[(2, 9, &schema)])).unwrap_err();
    assert!(error.to_string().contains("longer names"), "{error}");
}

/// The Form of every column in a record has the names of all: with the parts' Forms that is a square.
#[test]
fn records_of_many_columns_are_no_square_of_memory() {
    let table = |columns: u32| {
        let count =
            |number: u32| [(number & 127) as u8 | 128, (number >> 7 & 127) as u8 | 128, (number >> 14) as u8];
        let mut schema: Vec<u8> = vec![0xf0 | 12];
        schema.extend(count(columns + 2));
        schema.extend(group("root", 1));
        schema.extend(fields(&[(4, 8, &text("s")), (5, 5, &count(2 * columns))]));
        (0..columns).for_each(|number| schema.extend(column(&number.to_string(), 1, &[])));
        let made = file(&fields(&[(2, 9, &schema)]));
        let file = ParquetFile::open(Arc::new(Memory::new("made.parquet", made))).unwrap();
        file.table(&Options::default()).unwrap()
    };
    let few = table(1000);
    assert_eq!(few.fields().unwrap().len(), 1001);
    assert_eq!(few.plan(&[0], 0..0).unwrap().groups.len(), 1000);
    let many = table(100_000);
    assert_eq!(many.fields().unwrap().len(), 1);
    let error = many.plan(&[0], 0..0).unwrap_err().to_string();
    assert!(error.contains("100000 columns in one"), "{error}");
}

#[test]
fn numbers_of_fields_may_be_any() {
    let last = [&[2][..], &[0xfe], &[0xff; 8], &[1, 0x12, 0]].concat();
    assert!(opened(&last).is_err());
}
