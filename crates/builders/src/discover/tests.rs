//! Tests of type promotion; the comparison with Awkward Array's builder is in the Python tests.

use super::ArrayBuilder;
use crate::{BuildError, Command, Fault, Sink};

type Done = Result<(), BuildError>;

/// Returns the type after some commands.
fn type_of(tell: impl FnOnce(&mut ArrayBuilder) -> Done) -> String {
    let mut builder = ArrayBuilder::new();
    tell(&mut builder).unwrap();
    consistent(&builder);
    builder.type_string()
}

/// Checks the buffers against the Form.
fn consistent(builder: &ArrayBuilder) {
    let snapshot = builder.snapshot();
    for (key, column) in &snapshot.columns {
        assert!(column.len() <= 1 << 20, "{key}");
    }
    assert_eq!(snapshot.length as usize, builder.len());
    assert_eq!(snapshot.form, builder.form());
}

#[test]
fn numbers_widen_in_place() {
    assert_eq!(type_of(|_| Ok(())), "0 * unknown");
    assert_eq!(type_of(|b| b.integer(1)), "1 * int64");
    let widened = |b: &mut ArrayBuilder| {
        b.integer(1)?;
        b.real(2.0)?;
        b.integer(3)
    };
    assert_eq!(type_of(widened), "3 * float64");
    let complex = |b: &mut ArrayBuilder| {
        widened(b)?;
        b.complex(0.0, 1.0)?;
        b.real(1.0)
    };
    assert_eq!(type_of(complex), "5 * complex128");
}

#[test]
fn nulls_make_options() {
    assert_eq!(type_of(|b| b.null()), "1 * ?unknown");
    let later = |b: &mut ArrayBuilder| {
        b.null()?;
        b.null()?;
        b.string("x")?;
        b.null()
    };
    assert_eq!(type_of(later), "4 * ?string");
    let list = |b: &mut ArrayBuilder| {
        b.begin_list()?;
        b.end_list()?;
        b.null()
    };
    assert_eq!(type_of(list), "2 * option[var * unknown]");
}

#[test]
fn kinds_that_do_not_go_together_make_unions() {
    let text = |b: &mut ArrayBuilder| {
        b.string("x")?;
        b.bytestring(b"y")
    };
    assert_eq!(type_of(text), "2 * string");
    let union = |b: &mut ArrayBuilder| {
        b.boolean(true)?;
        b.integer(1)?;
        b.string("x")?;
        b.bytestring(b"y")?;
        b.real(1.0)?;
        b.null()?;
        b.datetime(1, "datetime64[s]")?;
        b.datetime(1, "datetime64[ms]")
    };
    assert_eq!(
        type_of(union),
        "8 * union[?bool, ?float64, ?string, ?bytes, ?datetime64[s], ?datetime64[ms]]"
    );
    let tuples = |b: &mut ArrayBuilder| {
        for size in [1, 2, 1] {
            b.begin_tuple(size)?;
            b.index(0)?.integer(1)?;
            b.end_tuple()?;
        }
        Ok(())
    };
    assert_eq!(type_of(tuples), "3 * union[(int64), (int64, ?unknown)]");
}

#[test]
fn records_go_by_name() {
    let tell = |names: &'static [Option<&'static str>]| {
        move |b: &mut ArrayBuilder| {
            for (at, name) in names.iter().enumerate() {
                b.begin_record(*name)?;
                b.field(["x", "y z"][at % 2])?.integer(1)?;
                b.end_record()?;
            }
            Ok(())
        }
    };
    assert_eq!(type_of(tell(&[None, None])), "2 * {x: ?int64, \"y z\": ?int64}");
    assert_eq!(type_of(tell(&[Some("p"), None])), "2 * p[x: ?int64, \"y z\": ?int64]");
    assert_eq!(type_of(tell(&[None, Some("p")])), "2 * union[{x: int64}, p[\"y z\": int64]]");
    assert_eq!(
        type_of(tell(&[Some("é\u{1f600}")])),
        "1 * struct[{x: int64}, parameters={\"__record__\": \"\\u00e9\\ud83d\\ude00\"}]"
    );
}

#[test]
fn wrong_commands_say_where_and_change_nothing() {
    let mut b = ArrayBuilder::new();
    b.begin_list().unwrap();
    b.integer(1).unwrap();
    b.begin_record(None).unwrap();
    let error = b.integer(2).unwrap_err();
    let expected =
        "called 'integer' immediately after 'begin_record'; needs 'field' or 'end_record'\n  at [0][1]";
    assert_eq!(error.to_string(), expected);
    b.field("a b").unwrap();
    assert_eq!(b.end_tuple().unwrap_err().to_string().lines().nth(1), Some("  at [0][1][\"a b\"]"));
    assert_eq!(
        *b.end_list().unwrap_err().fault(),
        Fault::Unbegun { command: Command::EndList, needs: Command::BeginList }
    );
    b.begin_tuple(2).unwrap();
    assert_eq!(*b.index(2).map(drop).unwrap_err().fault(), Fault::NoSlot { index: 2, size: 2 });
    assert_eq!(*b.index(-1).map(drop).unwrap_err().fault(), Fault::NoSlot { index: -1, size: 2 });
    b.index(1).unwrap().begin_tuple(5).unwrap(); // a wider tuple in a narrower one
    b.index(4).unwrap().real(0.5).unwrap();
    assert_eq!(
        b.field("x").map(drop).unwrap_err().to_string().lines().nth(1),
        Some("  at [0][1][\"a b\"](1)(4)")
    );
    b.end_tuple().unwrap();
    b.end_tuple().unwrap();
    b.end_record().unwrap();
    b.end_list().unwrap();
    let expected =
        "1 * var * union[int64, {\"a b\": (?unknown, (?unknown, ?unknown, ?unknown, ?unknown, float64))}]";
    assert_eq!(b.type_string(), expected);
    consistent(&b);
}

#[test]
fn a_field_is_filled_once() {
    let mut b = ArrayBuilder::new();
    b.begin_record(None).unwrap();
    b.field("x").unwrap().integer(1).unwrap();
    b.field("x").unwrap().integer(2).unwrap();
    assert_eq!(*b.end_record().unwrap_err().fault(), Fault::FieldTwice("x".into()));
    b.clear();
    b.begin_record(None).unwrap();
    b.field("x").unwrap().integer(3).unwrap();
    b.end_record().unwrap();
    assert_eq!(b.type_string(), "1 * {x: int64}");
    consistent(&b);
}

#[test]
fn clearing_keeps_the_type() {
    let mut b = ArrayBuilder::new();
    for _ in 0..3 {
        b.null().unwrap();
        b.begin_list().unwrap();
        b.begin_tuple(2).unwrap();
        b.index(0).unwrap().string("x").unwrap();
        b.clear();
        assert_eq!(b.type_string(), "0 * option[var * (string, unknown)]");
        consistent(&b);
    }
}

#[test]
fn depth_width_and_alternatives_are_bounded() {
    let mut b = ArrayBuilder::new();
    for _ in 0..crate::DEEPEST {
        b.begin_list().unwrap();
    }
    assert_eq!(*b.begin_list().unwrap_err().fault(), Fault::Deep);
    for _ in 0..crate::DEEPEST {
        b.end_list().unwrap();
    }
    consistent(&b);
    assert_eq!(*b.begin_tuple(i64::MAX).unwrap_err().fault(), Fault::TupleSize(i64::MAX));
    assert_eq!(*b.begin_tuple(-1).unwrap_err().fault(), Fault::TupleSize(-1));
    for unit in 0..127 {
        b.datetime(0, &format!("datetime64[{}s]", unit + 2)).unwrap();
    }
    assert_eq!(*b.string("x").unwrap_err().fault(), Fault::Alternatives);
    assert_eq!(b.len(), 128);
    consistent(&b);
}

#[test]
fn what_was_begun_and_not_ended_can_be_taken_back() {
    let mut b = ArrayBuilder::new();
    b.null().unwrap();
    b.integer(1).unwrap();
    let before = b.snapshot();
    let (_open, content) = b.sink().open_list(Sink::ROOT).unwrap();
    b.sink().put_text(content, b"abc", false).unwrap();
    let mut record = b.sink().open_record(content, None).unwrap();
    let (x, learnt) = b.sink().field_of(&mut record, "x", 7).unwrap();
    assert!(learnt);
    b.sink().put_real(x, 1.0).unwrap();
    b.sink().truncate_at(Sink::ROOT, 2);
    assert_eq!(b.type_string(), "2 * union[?int64, option[var * union[string, {x: float64}]]]");
    let after = b.snapshot();
    assert_eq!(before.length, after.length);
    b.begin_list().unwrap();
    b.string("").unwrap();
    b.end_list().unwrap();
    let bytes =
        b.snapshot().columns.into_iter().find(|(_, column)| column.dtype().name() == "uint8").unwrap().1;
    assert!(bytes.is_empty(), "what was taken back is gone");
}

#[test]
fn many_fields_are_found_in_any_order() {
    let mut b = ArrayBuilder::new();
    let names: Vec<_> = (0..100).map(|at| format!("f{at}")).collect();
    for turn in 0..3 {
        b.begin_record(None).unwrap();
        for at in 0..names.len() {
            b.field(&names[(at * 37 + turn) % names.len()]).unwrap().integer(at as i64).unwrap();
        }
        b.end_record().unwrap();
    }
    assert!(!b.type_string().contains('?'));
    consistent(&b);
}
