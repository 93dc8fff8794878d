#![allow(clippy::unwrap_used)] // a test fails by panicking

use super::{Kind, Logical, Schema, Unit};

fn parse(text: &str) -> Schema {
    text.parse().unwrap()
}

fn error(text: &str) -> String {
    text.parse::<Schema>().unwrap_err().to_string()
}

#[test]
fn names_are_found_in_their_namespace() {
    let schema = parse(
        r#"{"type": "record", "name": "Outer", "namespace": "a.b", "aliases": ["Old", "c.Older"], "fields": [
            {"name": "in", "type": {"type": "record", "name": "x.Inner", "fields": [
                {"name": "here", "type": {"type": "fixed", "name": "F", "size": 2}},
                {"name": "again", "type": "x.F"}, {"name": "short", "type": "F"}]}},
            {"name": "self", "type": ["null", "Outer"]},
            {"name": "full", "type": "a.b.Outer"}]}"#,
    );
    assert!(schema.named("a.b.Outer").is_some() && schema.named("x.F").is_some());
    assert_eq!(schema.named("F"), None);
    let name = schema.name(schema.root_id()).unwrap();
    assert_eq!((name.short(), &name.aliases[..]), ("Outer", &["a.b.Old".to_owned(), "c.Older".into()][..]));
    let Kind::Record { fields, .. } = &schema.root().kind else { panic!() };
    assert_eq!(schema.describe(fields[1].schema), "union[null, Outer]");
    assert_eq!(fields[2].schema, schema.root_id());
}

#[test]
fn what_else_a_schema_says_is_kept() {
    let schema = parse(
        r#"{"type": "record", "name": "R", "doc": "all", "color": "red", "fields": [
            {"name": "f", "type": {"type": "int", "unit": "mm"}, "default": 3, "doc": "one", "order": "ignore", "aliases": ["g"]}]}"#,
    );
    assert_eq!(schema.root().doc.as_deref(), Some("all"));
    assert_eq!(schema.root().properties["color"], "red");
    let Kind::Record { fields, .. } = &schema.root().kind else { panic!() };
    let field = &fields[0];
    assert_eq!((field.doc.as_deref(), &field.aliases[..]), (Some("one"), &["g".to_owned()][..]));
    assert_eq!(
        (field.default.clone().unwrap(), field.properties["order"].clone()),
        (3.into(), "ignore".into())
    );
    assert_eq!(schema.get(field.schema).properties["unit"], "mm");
}

#[test]
fn logical_types_that_do_not_fit_are_none() {
    let logical = |text: &str| parse(text).root().logical;
    let decimal =
        |base: &str, rest: &str| logical(&format!(r#"{{{base}, "logicalType": "decimal", {rest}}}"#));
    let bytes = r#""type": "bytes""#;
    assert_eq!(
        decimal(bytes, r#""precision": 5, "scale": 2"#),
        Some(Logical::Decimal { precision: 5, scale: 2 })
    );
    assert_eq!(decimal(bytes, r#""precision": 5"#), Some(Logical::Decimal { precision: 5, scale: 0 }));
    for wrong in [r#""scale": 2"#, r#""precision": 0"#, r#""precision": 2, "scale": 3"#, r#""precision": -1"#]
    {
        assert_eq!(decimal(bytes, wrong), None, "{wrong}");
    }
    let fixed = r#""type": "fixed", "name": "F", "size": 4"#;
    assert!(decimal(fixed, r#""precision": 9"#).is_some() && decimal(fixed, r#""precision": 10"#).is_none());
    assert_eq!(decimal(r#""type": "string""#, r#""precision": 5"#), None);
    assert_eq!(
        logical(r#"{"type": "long", "logicalType": "timestamp-nanos"}"#),
        Some(Logical::Timestamp(Unit::Nano))
    );
    assert_eq!(logical(r#"{"type": "int", "logicalType": "timestamp-nanos"}"#), None);
    assert_eq!(logical(r#"{"type": "int", "logicalType": "made-up"}"#), None);
}

#[test]
fn all_spellings_of_primitive_types() {
    for text in [r#""long""#, "long", r#"{"type": "long"}"#, r#"{"type": {"type": "long"}}"#] {
        assert_eq!(parse(text).root().kind, Kind::Long, "{text}");
    }
    assert!(matches!(parse(r#"["null", "int"]"#).root().kind, Kind::Union(_)));
    assert!(matches!(parse(r#"{"type": ["null", "int"]}"#).root().kind, Kind::Union(_)));
}

#[test]
fn a_single_alias_needs_no_list() {
    let schema = parse(
        r#"{"type": "record", "name": "New", "namespace": "n", "aliases": "Old", "fields": [
            {"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"], "aliases": "x.F"}, "aliases": "b"}]}"#,
    );
    let Kind::Record { name, fields } = &schema.root().kind else { panic!("no record") };
    assert_eq!(
        (&name.aliases[..], &fields[0].aliases[..]),
        (&["n.Old".to_owned()][..], &["b".to_owned()][..])
    );
    let Kind::Enum { name, .. } = &schema.get(fields[0].schema).kind else { panic!("no enum") };
    assert_eq!(name.aliases, ["x.F"]);
    assert!(
        error(r#"{"type": "record", "name": "R", "aliases": 3, "fields": []}"#)
            .contains("not a list of names")
    );
}

#[test]
fn what_is_no_schema_says_where() {
    for (text, what) in [
        ("{", "not JSON"),
        ("3", "a type cannot be 3"),
        (r#"{"name": "x"}"#, "without \"type\""),
        (r#""Unknown""#, "there is no type \"Unknown\""),
        (r#"{"type": "array"}"#, "without items"),
        (r#"{"type": "fixed", "name": "F", "size": -1}"#, "without a valid size"),
        (r#"{"type": "enum", "name": "E", "symbols": [1]}"#, "not a list of names"),
        (r#"{"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}"#, "none of its symbols"),
        (r#"{"type": "record", "name": "int", "fields": []}"#, "a type called"),
        (
            r#"{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}"#,
            "two fields",
        ),
        (
            r#"{"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array", "items": "X"}}]}"#,
            "(in a.[])",
        ),
        (
            r#"[{"type": "fixed", "name": "F", "size": 1}, {"type": "fixed", "name": "F", "size": 1}]"#,
            "two types called",
        ),
        (r#"["int", "int"]"#, "a union with int twice"),
        (r#"[{"type": "int", "logicalType": "date"}, "int"]"#, "a union with int twice"),
        (
            r#"[{"type": "map", "values": "int"}, {"type": "map", "values": "long"}]"#,
            "a union with map twice",
        ),
        (r#"["null", ["int"]]"#, "a union directly within a union"),
        (r#"{"type": "enum", "name": "E", "symbols": ["A", "B", "A"]}"#, "enum \"E\" has two symbols \"A\""),
        (
            r#"{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R", "R"]}]}"#,
            "a union with the same named type twice",
        ),
    ] {
        let error = error(text);
        assert!(error.contains(what), "{text}: {error}");
    }
    let deep = format!("{}\"int\"{}", r#"{"type": "array", "items": "#.repeat(5000), "}".repeat(5000));
    assert!(error(&deep).contains("not JSON"));
    let many = format!("[{}\"int\"]", "\"int\",".repeat(1 << 17));
    assert!(error(&many).contains("types"));
}

#[test]
fn unions_may_have_several_types_with_names() {
    for text in [
        r#"[{"type": "fixed", "name": "A", "size": 1}, {"type": "fixed", "name": "B", "size": 1}, "null"]"#,
        r#"{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R", {"type": "enum", "name": "E", "symbols": []}]}]}"#,
    ] {
        parse(text);
    }
    // Names are not validated: there are files with such names.
    parse(r#"{"type": "record", "name": "1 x", "fields": [{"name": "a-b c", "type": "int"}]}"#);
}

#[test]
fn canonical_forms_and_fingerprints() {
    // Examples and test cases of the specification.
    for (text, canonical, print) in [
        (r#""null""#, r#""null""#, 0x63dd_24e7_cc25_8f8a),
        (r#"{"type": "boolean"}"#, r#""boolean""#, 0x9f42_fc78_a4d4_f764),
        (r#""int""#, r#""int""#, 0x7275_d51a_3f39_5c8f),
        (
            r#"{"type": "fixed", "name": "foo", "size": 15}"#,
            r#"{"name":"foo","type":"fixed","size":15}"#,
            0x1860_2ec3_ed31_a504,
        ),
    ] {
        let schema = parse(text);
        assert_eq!(schema.canonical(), canonical);
        assert_eq!(schema.fingerprint(), print, "{text}");
    }
    let schema = parse(
        r#"{"fields": [{"type": {"type": "array", "items": "N"}, "name": "n", "doc": "x"}], "name": "N", "namespace": "s", "type": "record"}"#,
    );
    let canonical =
        r#"{"name":"s.N","type":"record","fields":[{"name":"n","type":{"type":"array","items":"s.N"}}]}"#;
    assert_eq!(schema.canonical(), canonical);
    assert_eq!(parse(canonical).canonical(), canonical);
}
