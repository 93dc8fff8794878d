//! Round trips of values, comparisons with the program, and refused commands.

mod properties;
mod twin;

use super::*;
use crate::form::{Index, Kind, Text};
use forthwith_columns::Value;
use twin::Twin;

fn build(ty: &str) -> TypedArrayBuilder {
    TypedArrayBuilder::from_type(ty).unwrap_or_else(|error| panic!("{ty}: {error}"))
}

fn shown(builder: &TypedArrayBuilder) -> Vec<String> {
    let array = builder.snapshot().unwrap().to_array().unwrap();
    array.validate().unwrap();
    array.preview(0..array.length, 200).lines().unwrap()
}

fn message(told: Told) -> String {
    told.unwrap_err().to_string()
}

#[test]
fn records_in_lists() {
    let mut b = build("var * {x: float64, y: ?string}");
    b.begin_list().unwrap();
    b.begin_record(None).unwrap();
    b.field("y").unwrap();
    b.string("one").unwrap();
    b.field("x").unwrap();
    b.integer(1).unwrap();
    b.end_record().unwrap();
    b.begin_record(None).unwrap();
    b.field("x").unwrap();
    b.real(2.5).unwrap();
    b.end_record().unwrap();
    assert_eq!(shown(&b), [""; 0], "unfinished entries are no part of it");
    b.end_list().unwrap();
    b.begin_list().unwrap();
    b.end_list().unwrap();
    assert_eq!(shown(&b), ["[{x: 1, y: 'one'}, {x: 2.5, y: None}]", "[]"]);
    b.clear();
    assert!(b.is_empty());
    b.append(&Value::List(vec![])).unwrap();
    assert_eq!(shown(&b), ["[]"]);
}

#[test]
fn refusals_say_what_and_where() {
    let mut b = build("var * {x: int8, y: ?string, z: 2 * bool}");
    assert_eq!(
        message(b.integer(1)),
        "integer: not possible here; expected begin_list for var * {x: int8, y: ?string, z: 2 * bool} (at entry 0)"
    );
    b.begin_list().unwrap();
    b.begin_record(None).unwrap();
    assert_eq!(
        message(b.field("w")),
        "field: there is no field \"w\"; expected \"x\", \"y\", \"z\" (at entry 0, [])"
    );
    b.field("x").unwrap();
    assert_eq!(message(b.integer(128)), "integer: the number does not fit int8 (at entry 0, [].x)");
    assert_eq!(message(b.unsigned(u64::MAX)), "integer: the number does not fit int8 (at entry 0, [].x)");
    assert_eq!(
        message(b.string("x")),
        "string: not possible here; expected integer, field or end_record for int8 (at entry 0, [].x)"
    );
    b.integer(127).unwrap();
    assert_eq!(message(b.field("x")), "field: \"x\" already has a value (at entry 0, [])");
    assert_eq!(message(b.end_record()), "end_record: no value for \"z\" (at entry 0, [])");
    b.field("z").unwrap();
    b.begin_list().unwrap();
    b.boolean(true).unwrap();
    assert_eq!(
        message(b.end_list()),
        "end_list: the list has 1 of its 2 items; expected more (at entry 0, [].z[])"
    );
    b.boolean(false).unwrap();
    assert_eq!(
        message(b.boolean(true)),
        "boolean: the list has its 2 items; expected end_list (at entry 0, [].z[])"
    );
    b.end_list().unwrap();
    b.end_record().unwrap();
    b.end_list().unwrap();
    assert_eq!(shown(&b), ["[{x: 127, y: None, z: [True, False]}]"]);

    let mut b = build("(int64, P[x: bytes[3]])");
    assert_eq!(message(b.begin_tuple(3)), "begin_tuple: 3: expected (int64, P[x: bytes[3]]) (at entry 0)");
    b.begin_tuple(2).unwrap();
    assert_eq!(message(b.index(2)), "index: 2: expected a slot of the 2 there are (at entry 0)");
    b.index(1).unwrap();
    assert_eq!(
        message(b.begin_record(Some("Q"))),
        "begin_record: a record \"Q\" is not possible here; expected P[x: bytes[3]] (at entry 0, .1)"
    );
    b.begin_record(Some("P")).unwrap();
    b.field("x").unwrap();
    assert_eq!(message(b.bytestring(b"ab")), "bytestring: 2 bytes; expected 3 (at entry 0, .1.x)");
    b.bytestring(b"abc").unwrap();
    b.end_record().unwrap();
    assert_eq!(message(b.end_tuple()), "end_tuple: no value for \"0\" (at entry 0)");
    b.index(0).unwrap();
    b.integer(-5).unwrap();
    b.end_tuple().unwrap();
    assert_eq!(b.len(), 1);
}

#[test]
fn unions_choose_by_command_or_tag() {
    let mut b = build("union[int64, float64, ?string, var * int64, var * string]");
    b.integer(1).unwrap();
    b.real(2.5).unwrap();
    b.string("x").unwrap();
    b.null().unwrap();
    assert!(matches!(b.begin_list().unwrap_err().kind(), CommandErrorKind::Ambiguous(_)));
    b.tag(1).unwrap();
    b.integer(7).unwrap(); // as float64
    b.tag(3).unwrap();
    b.tag(4).unwrap(); // another thought
    assert_eq!(
        message(b.integer(1)),
        "integer: not possible here; expected begin_list, null or tag for option[var * string] (at entry 4, |4)"
            .replace("entry 4", "entry 5")
    );
    b.begin_list().unwrap();
    b.string("y").unwrap();
    b.end_list().unwrap();
    assert!(b.tag(5).is_err());
    b.append(&Value::List(vec![Value::String("z".into())])).unwrap();
    assert_eq!(shown(&b), ["1", "2.5", "'x'", "None", "7", "['y']", "['z']"]);

    let mut b = build("var * union[var * int64, var * var * bool]");
    let list = |value| Value::List(vec![value]);
    assert!(b.append(&list(list(Value::Bool(true)))).is_err(), "its item would fit in place of itself");
    assert!(b.begin_list().is_ok() && b.end_list().is_ok(), "nothing was begun");

    let mut b = build("union[P[x: int64], Q[x: int64], (int64), (int64, int64)]");
    assert!(matches!(b.begin_record(None).unwrap_err().kind(), CommandErrorKind::Ambiguous(_)));
    b.begin_record(Some("Q")).unwrap();
    b.field("x").unwrap();
    b.integer(1).unwrap();
    b.end_record().unwrap();
    b.begin_tuple(2).unwrap();
    b.index(0).unwrap();
    b.integer(2).unwrap();
    b.index(1).unwrap();
    b.integer(3).unwrap();
    b.end_tuple().unwrap();
    assert!(b.begin_tuple(3).is_err());
    assert_eq!(shown(&b), ["{x: 1}", "(2, 3)"]);
}

#[test]
fn masks_fill_the_places_of_nulls() {
    let record =
        Form::from_type("{a: complex64, b: 2 * var * int8, c: string, d: bytes[2], e: ?bool}").unwrap();
    for (valid, bits) in [(true, None), (false, None), (true, Some(true)), (false, Some(false))] {
        let content = Box::new(record.clone());
        let kind = match bits {
            None => Kind::ByteMasked { valid_when: valid, content },
            Some(lsb_order) => Kind::BitMasked { valid_when: valid, lsb_order, content },
        };
        let mut b = Twin::new(&Form::new(kind));
        for row in 0..11 {
            if row % 3 != 0 {
                b.null().unwrap();
                continue;
            }
            b.begin_record(None).unwrap();
            b.field("a").unwrap();
            b.complex(1.0, 2.0).unwrap();
            b.field("b").unwrap();
            b.begin_list().unwrap();
            for _ in 0..2 {
                b.begin_list().unwrap();
                b.extend_i8(&[1, 2]).unwrap();
                b.end_list().unwrap();
            }
            b.end_list().unwrap();
            b.field("c").unwrap();
            b.string("cc").unwrap();
            b.field("d").unwrap();
            b.bytestring(b"dd").unwrap();
            b.end_record().unwrap();
        }
        let layout = b.snapshot().unwrap();
        let mask = layout.column("node0-mask").unwrap();
        let there: Vec<bool> = (0..11)
            .map(|row| match bits {
                None => (mask.as_i8().unwrap()[row] != 0) == valid,
                Some(true) => (mask.as_u8().unwrap()[row / 8] >> (row % 8) & 1 != 0) == valid,
                Some(false) => (mask.as_u8().unwrap()[row / 8] >> (7 - row % 8) & 1 != 0) == valid,
            })
            .collect();
        assert_eq!(there, (0..11).map(|row| row % 3 == 0).collect::<Vec<_>>());
        assert_eq!(layout.column("node2-data").unwrap().len(), 22, "two numbers a row");
        let offsets = layout.columns.iter().find(|(name, _)| name.contains("offsets")).unwrap();
        assert_eq!(offsets.1.len(), 23);
    }
    let unknown = Kind::ByteMasked { valid_when: true, content: Box::new(Form::new(Kind::Empty)) };
    let mut b = TypedArrayBuilder::new(&Form::new(unknown)).unwrap();
    assert_eq!(b.null().unwrap_err().kind(), &CommandErrorKind::Placeless);
}

#[test]
fn indirections_refer_to_rows() {
    let mut b = build("var * categorical[type=string]");
    b.begin_list().unwrap();
    assert!(b.index(0).is_err());
    b.string("a").unwrap();
    b.string("b").unwrap();
    b.index(0).unwrap();
    b.index(1).unwrap();
    assert!(b.index(2).is_err());
    b.string("a").unwrap(); // is there already
    let here = b.checkpoint();
    b.string("c").unwrap();
    b.string("c").unwrap();
    assert!(b.rollback(&here));
    b.string("b").unwrap();
    b.end_list().unwrap();
    let layout = b.snapshot().unwrap();
    assert_eq!(layout.column("node1-index").unwrap().as_i64().unwrap(), [0, 1, 0, 1, 0, 1]);
    assert_eq!(layout.column("node3-data").unwrap().as_bytes(), b"ab");

    let mut b = build("?categorical[type=float64]");
    b.real(1.0).unwrap();
    b.null().unwrap();
    b.integer(1).unwrap();
    b.real(2.0).unwrap();
    let layout = b.snapshot().unwrap();
    assert_eq!(layout.column("node0-index").unwrap().as_i64().unwrap(), [0, -1, 0, 1]);
    b.clear();
    b.real(2.0).unwrap();
    assert_eq!(b.snapshot().unwrap().column("node1-data").unwrap().as_f64().unwrap(), [2.0]);
}

#[test]
fn narrow_offsets_and_starts() {
    let list = Form::new(Kind::List { starts: Index::U32, content: Box::new(Form::text(Text::Bytes)) });
    let form = Form::new(Kind::ListOffset { offsets: Index::I32, content: Box::new(list) });
    let mut b = Twin::new(&form);
    for _ in 0..2 {
        b.begin_list().unwrap();
        for n in 0..3 {
            b.begin_list().unwrap();
            (0..n).for_each(|_| b.bytestring(b"x").unwrap());
            b.end_list().unwrap();
        }
        b.end_list().unwrap();
    }
    let layout = b.snapshot().unwrap();
    assert_eq!(layout.column("node0-offsets").unwrap().as_i32().unwrap(), [0, 3, 6]);
    assert_eq!(layout.column("node1-starts").unwrap().as_u32().unwrap(), [0, 0, 1, 3, 3, 4]);
    assert_eq!(layout.column("node1-stops").unwrap().as_u32().unwrap(), [0, 1, 3, 3, 4, 6]);
    assert_eq!(shown(&b)[0], "[[], [b'x'], [b'x', b'x']]");
}

#[test]
fn times_are_converted() {
    let mut b = build("{t: datetime64[us], d: ?timedelta64[10s]}");
    let unit = |name| Unit::from_name(name).unwrap();
    b.begin_record(None).unwrap();
    b.field("t").unwrap();
    b.datetime(2, unit("s")).unwrap();
    b.field("d").unwrap();
    assert_eq!(
        message(b.timedelta(15, unit("s"))),
        "timedelta: this number of [s] is no whole number of [10s] in 64 bits (at entry 0, .d)"
    );
    assert!(b.datetime(10, unit("s")).is_err());
    b.timedelta(20, unit("s")).unwrap();
    b.end_record().unwrap();
    let layout = b.snapshot().unwrap();
    assert_eq!(layout.column("node1-data").unwrap().as_i64().unwrap(), [2_000_000]);
    assert_eq!(layout.column("node3-data").unwrap().as_i64().unwrap(), [2]);
    assert!(layout.to_array().is_err());
}

#[test]
fn many_items_at_once() {
    let mut b = Twin::new(&Form::from_type("union[var * float32, 2500 * int16]").unwrap());
    b.tag(0).unwrap();
    b.begin_list().unwrap();
    let items: Vec<f32> = (0..5000u16).map(f32::from).collect();
    b.extend_f32(&items).unwrap();
    b.extend_f64(&[0.5, 1.5]).unwrap();
    b.extend_u8(&[7]).unwrap();
    b.end_list().unwrap();
    b.tag(1).unwrap();
    b.begin_list().unwrap();
    b.extend_i16(&[1; 2000]).unwrap();
    assert!(matches!(b.extend_i16(&[1; 501]).unwrap_err().kind(), CommandErrorKind::Full(2500)));
    assert!(matches!(b.extend_i64(&[5, 1 << 20]).unwrap_err().kind(), CommandErrorKind::Range(_)));
    b.extend_u64(&[2; 499]).unwrap();
    assert!(b.extend_i64(&[3, 4]).is_err());
    b.extend_i64(&[3]).unwrap();
    b.end_list().unwrap();
    let layout = b.snapshot().unwrap();
    let floats = layout.column("node2-data").unwrap().as_f32().unwrap();
    assert_eq!((floats.len(), floats[4999], floats[5000], floats[5002]), (5003, 4999.0, 0.5, 7.0));
    let shorts = layout.column("node4-data").unwrap().as_i16().unwrap();
    assert_eq!((shorts.len(), shorts[1999], shorts[2000], shorts[2499]), (2500, 1, 2, 3));
}

#[test]
fn what_awkward_has_no_form_for_is_refused() {
    for json in [
        r#"{"class":"IndexedOptionArray","index":"i64","content":{"class":"UnmaskedArray","content":"int64"}}"#,
        r#"{"class":"UnmaskedArray","content":{"class":"UnionArray","tags":"i8","index":"i64","contents":["int64","bool"]}}"#,
        r#"{"class":"UnionArray","tags":"i8","index":"i64","contents":["int64"]}"#,
        r#"{"class":"UnionArray","tags":"i8","index":"i64","contents":["int64",{"class":"UnmaskedArray","content":"bool"}]}"#,
        r#"{"class":"RecordArray","fields":["x","x"],"contents":["int64","bool"]}"#,
        r#"{"class":"RegularArray","size":18446744073709551615,"content":"int64"}"#,
        r#"{"class":"NumpyArray","primitive":"float128"}"#,
        r#"{"class":"VirtualArray"}"#,
        r#"{"class":"ListOffsetArray","offsets":"i8","content":"int64"}"#,
        "[",
        "3",
    ] {
        assert!(TypedArrayBuilder::from_json(json).is_err(), "{json}");
    }
    let deep = "var * ".repeat(255) + "int64";
    let mut b = build(&deep);
    (0..255).for_each(|_| b.begin_list().unwrap());
    b.integer(1).unwrap();
    (0..255).for_each(|_| b.end_list().unwrap());
    assert_eq!(b.len(), 1);
    assert_eq!(TypedArrayBuilder::from_type(&("var * ".repeat(300) + "int64")).unwrap_err(), FormError::Deep);
}

#[test]
fn wide_records_use_several_masks() {
    let fields: Vec<String> =
        (0..100).map(|n| format!("f{n}: {}int64", if n % 7 == 0 { "?" } else { "" })).collect();
    let ty = format!("{{{}}}", fields.join(", "));
    let mut b = Twin::new(&Form::from_type(&ty).unwrap());
    b.begin_record(None).unwrap();
    for n in (0..100).rev().filter(|n| n % 7 != 0 && *n != 64) {
        b.field(&format!("f{n}")).unwrap();
        b.integer(n).unwrap();
    }
    assert_eq!(b.end_record().unwrap_err().kind(), &CommandErrorKind::Missing(vec!["f64".into()]));
    b.field("f64").unwrap();
    b.integer(64).unwrap();
    b.end_record().unwrap();
    let Value::Record(fields) = b.snapshot().unwrap().to_array().unwrap().value(0).unwrap() else { panic!() };
    for (n, (_, value)) in fields.iter().enumerate() {
        assert_eq!(*value, if n % 7 == 0 { Value::Null } else { Value::Int(n as i64) });
    }
}

#[test]
fn builders_go_back() {
    let mut b = Twin::new(&Form::from_type("var * ?string").unwrap());
    b.begin_list().unwrap();
    b.string("kept").unwrap();
    let here = b.checkpoint();
    b.string("not kept").unwrap();
    b.null().unwrap();
    b.end_list().unwrap();
    assert!(b.rollback(&here));
    b.end_list().unwrap();
    assert_eq!(shown(&b), ["['kept']"]);
    let b = &mut b.builder;
    let wrong = Value::List(vec![Value::Null, Value::String("x".into()), Value::Int(1)]);
    assert!(b.append(&wrong).is_err());
    assert_eq!(shown(b), ["['kept']"]);
    b.append(&Value::List(vec![Value::Null])).unwrap();
    assert_eq!(shown(b), ["['kept']", "[None]"]);
    b.clear();
    assert!(!b.rollback(&here.0), "it is no longer there");
}

#[test]
fn bytes_of_all_lengths_are_copied_whole_and_again_after_clear() {
    let text: String = ('a'..='z').chain('A'..='Z').collect();
    let form = Form::from_type("?string").expect("a type");
    let mut builder = TypedArrayBuilder::new(&form).expect("a builder");
    for first in [0, 7] {
        let told: Vec<&str> = (first..first + 500).map(|n| &text[..n % 41]).collect();
        builder.clear();
        told.iter().for_each(|text| builder.string(text).expect("a string"));
        let array = builder.snapshot().unwrap().to_array().unwrap();
        for (row, text) in told.iter().enumerate() {
            assert_eq!(array.value(row as u64).unwrap(), Value::String((*text).into()));
        }
    }
}
