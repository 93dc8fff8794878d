//! Requests of a reader's schema.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use forthwith_avro::{Datums, Schema, encode_datums};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::ErrorKind;
use std::sync::Arc;

fn schema(text: &str) -> Arc<Schema> {
    Arc::new(text.parse().unwrap())
}

/// Why one cannot be read as the other, if it cannot.
fn refused(writer: &str, reader: &str) -> Option<String> {
    let field = |ty: &str| {
        schema(&format!(r#"{{"type": "record", "name": "r", "fields": [{{"name": "x", "type": {ty}}}]}}"#))
    };
    let alone = Datums::new(&schema(writer), Some(&schema(reader)));
    let within = Datums::new(&field(writer), Some(&field(reader))).and_then(|d| d.joined(vec![2, 1], 1));
    assert_eq!(alone.is_err(), within.is_err(), "{writer} {reader}");
    within.err().map(|error| {
        assert!(matches!(error.kind, ErrorKind::Invalid { .. }), "{error}");
        error.to_string()
    })
}

#[test]
fn logical_types_match_if_they_are_the_same() {
    let decimal = |precision: u32, scale: u32| {
        format!(
            r#"{{"type": "bytes", "logicalType": "decimal", "precision": {precision}, "scale": {scale}}}"#
        )
    };
    let why = refused(&decimal(4, 2), &decimal(4, 1)).unwrap();
    assert!(why.contains("decimal[4, 2] (bytes) cannot be read as decimal[4, 1] (bytes)"), "{why}");
    assert!(refused(&decimal(4, 2), &decimal(5, 2)).is_some());
    assert_eq!(refused(&decimal(4, 2), &decimal(4, 2)), None);
    let meant = |ty: &str, logical: &str| format!(r#"{{"type": "{ty}", "logicalType": "{logical}"}}"#);
    for (ty, writer, to, reader) in [
        ("long", "timestamp-millis", "long", "timestamp-micros"),
        ("long", "timestamp-micros", "long", "local-timestamp-micros"),
        ("int", "time-millis", "long", "time-micros"),
        ("int", "date", "long", "timestamp-millis"),
    ] {
        let why = refused(&meant(ty, writer), &meant(to, reader)).unwrap();
        assert!(why.contains(writer) && why.contains(reader), "{why}");
        // Values without a meaning are what the other schema says.
        let (plain, plain_to) = (format!("{ty:?}"), format!("{to:?}"));
        assert_eq!(refused(&meant(ty, writer), &plain_to), None);
        assert_eq!(refused(&plain, &meant(to, reader)), None);
    }
}

#[test]
fn a_default_that_is_none_makes_no_sense() {
    let reader =
        r#"{"type": "record", "name": "r", "fields": [{"name": "y", "type": "int", "default": "one"}]}"#;
    let writer = r#"{"type": "record", "name": "r", "fields": [{"name": "x", "type": "int"}]}"#;
    let datums = Datums::new(&schema(writer), Some(&schema(reader)));
    let error = datums.and_then(|datums| datums.joined(vec![2], 1)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Invalid { .. }), "{error}");
    assert!(error.to_string().contains(r#"the default of field "y": "one" is no int"#), "{error}");
}

fn texts(items: &[&str], binary: bool) -> Array {
    let ends = items.iter().scan(0, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
    Array {
        form: Form::String { key: "x".into(), binary },
        length: items.len() as u64,
        columns: vec![
            ("x-offsets".into(), Column::from_slice(&offsets)),
            ("x-data".into(), Column::from_slice(items.concat().as_bytes())),
        ],
    }
}

#[test]
fn values_go_to_the_enum_or_fixed_that_has_them() {
    let symbols = |name: &str, symbols: &str| {
        format!(r#"{{"type": "enum", "name": "{name}", "symbols": [{symbols}]}}"#)
    };
    let enums = format!(r#"["null", {}, {}]"#, symbols("a", r#""p""#), symbols("b", r#""q", "r""#));
    let fixed = |name: &str, size: u64| format!(r#"{{"type": "fixed", "name": "{name}", "size": {size}}}"#);
    let fixeds = format!("[{}, {}, {}]", fixed("one", 1), fixed("two", 2), fixed("none", 0));
    let encode = |text: &str, items: &[&str], binary| {
        encode_datums(&schema(text), &texts(items, binary), false).map(|(bytes, _)| bytes)
    };
    assert_eq!(encode(&enums, &["q"], false).unwrap(), [4, 0]);
    assert_eq!(encode(&enums, &["r", "p", "q", "p"], false).unwrap(), [4, 2, 2, 0, 4, 0, 2, 0]);
    assert_eq!(encode(&fixeds, &["ab"], true).unwrap(), [2, b'a', b'b']);
    assert_eq!(encode(&fixeds, &["ab", "c", "", "de"], true).unwrap(), b"\x02ab\x00c\x04\x02de");
    assert!(encode(&enums, &["q", "s"], false).is_err());
    assert!(encode(&fixeds, &["ab", "abc"], true).is_err());
}
