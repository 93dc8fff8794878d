//! Tests of the columns of single values; whole objects are compared with Awkward Array in the Python tests.

use super::TypedColumns;
use crate::{BuildError, Fault, Shape, Sink};

fn filled(
    ty: &str,
    fill: impl FnOnce(&mut Sink) -> Result<(), BuildError>,
) -> Result<TypedColumns, BuildError> {
    let mut columns = TypedColumns::from_type(ty).unwrap();
    fill(columns.sink()).map(|()| columns)
}

fn fault(ty: &str, fill: impl FnOnce(&mut Sink) -> Result<(), BuildError>) -> Fault {
    filled(ty, fill).unwrap_err().fault().clone()
}

const ROOT: crate::Slot = Sink::ROOT;

#[test]
fn numbers_go_where_they_fit() {
    for ty in [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "?int32",
        "union[string, int8]",
    ] {
        assert_eq!(filled(ty, |c| c.put_integer(ROOT, 7)).unwrap().finish().length, 1, "{ty}");
    }
    assert_eq!(fault("int8", |c| c.put_integer(ROOT, 128)), Fault::TooLarge("int8"));
    assert_eq!(fault("uint8", |c| c.put_integer(ROOT, -1)), Fault::TooLarge("uint8"));
    assert_eq!(fault("int64", |c| c.put_unsigned(ROOT, 1 << 63)), Fault::TooLarge("int64"));
    assert_eq!(fault("uint64", |c| c.put_huge(ROOT)), Fault::TooLarge("uint64"));
    assert!(filled("uint64", |c| c.put_unsigned(ROOT, u64::MAX)).is_ok());
    let error = filled("int64", |c| c.put_real(ROOT, 1.0)).unwrap_err();
    assert_eq!(error.to_string(), "expected int64, found a real number");
    assert!(matches!(fault("?bool", |c| c.put_integer(ROOT, 1)), Fault::Expected { .. }));
    assert!(matches!(fault("int64", |c| c.put_null(ROOT)), Fault::Expected { .. }));
}

#[test]
fn times_are_converted_exactly() {
    let columns = filled("datetime64[us]", |c| {
        c.put_time(ROOT, 2, "datetime64[s]")?;
        c.put_time(ROOT, 3, "datetime64[us]")?;
        c.put_time(ROOT, i64::MIN, "datetime64")
    });
    let column = columns.unwrap().finish().columns.remove(0).1;
    assert_eq!(column.as_i64().unwrap(), [2_000_000, 3, i64::MIN]);
    let error = filled("datetime64[s]", |c| c.put_time(ROOT, 3, "datetime64[ms]")).unwrap_err();
    assert_eq!(error.to_string(), "expected datetime64[s], found 3 as datetime64[ms]");
    assert!(filled("datetime64[s]", |c| c.put_time(ROOT, 3, "timedelta64[s]")).is_err());
}

#[test]
fn lists_of_one_length_have_it() {
    let of = |count: i64| {
        filled("2 * int64", move |c| {
            let (open, items) = c.open_list(ROOT)?;
            (0..count).try_for_each(|x| c.put_integer(items, x))?;
            c.close_list(open)
        })
    };
    assert!(of(2).is_ok());
    assert_eq!(*of(3).unwrap_err().fault(), Fault::Length { expected: 2, found: 3 });
    assert_eq!(*of(0).unwrap_err().fault(), Fault::Length { expected: 2, found: 0 });
    assert_eq!(
        fault("string[2]", |c| c.put_text(ROOT, b"abc", false)),
        Fault::Length { expected: 2, found: 3 }
    );
}

#[test]
fn records_may_lack_what_may_be_null() {
    let of = |names: &'static [&'static str]| {
        filled("?{x: float64, y: ?int64}", move |c| {
            let mut open = c.open_record(ROOT, None)?;
            for name in names {
                let (slot, _) = c.field_of(&mut open, name, 0)?;
                c.put_integer(slot, 1)?;
            }
            c.close_record(open)
        })
    };
    assert!(of(&["x", "y"]).is_ok());
    assert!(of(&["y", "x"]).is_ok());
    assert!(of(&["x"]).is_ok());
    assert_eq!(*of(&["y"]).unwrap_err().fault(), Fault::Missing("x".into()));
    assert_eq!(*of(&["x", "x"]).unwrap_err().fault(), Fault::FieldTwice("x".into()));
    assert!(matches!(of(&["z"]).unwrap_err().fault(), Fault::Unknown { .. }));
}

#[test]
fn unions_take_what_fits_best() {
    let columns = filled("union[?float64, ?int64, ?var * int64, ?var * string, ?(int64, int64)]", |c| {
        c.put_integer(ROOT, 1)?;
        c.put_real(ROOT, 1.0)?;
        c.put_null(ROOT)?;
        assert_eq!(c.candidates(ROOT, Shape::List), 2);
        c.choose(1);
        let (open, items) = c.open_list(ROOT)?;
        c.put_text(items, b"x", false)?;
        c.close_list(open)?;
        let open = c.open_tuple(ROOT, 2)?;
        let slot = c.slot_of(&open, 0);
        c.put_integer(slot, 1)?;
        let slot = c.slot_of(&open, 1);
        c.put_integer(slot, 1)?;
        c.close_tuple(open)
    });
    let snapshot = columns.unwrap().finish();
    let tags = snapshot.columns.iter().find(|(key, _)| key == "node0-tags").unwrap();
    assert_eq!(tags.1.as_i8().unwrap(), [1, 0, 0, 3, 4]);
}

#[test]
fn what_failed_is_taken_back() {
    let mut columns = TypedColumns::from_type("?{a: var * ?string, b: union[int64, string]}").unwrap();
    for bad in [false, true, false] {
        let sink = columns.sink();
        let before = sink.len_at(ROOT);
        let mut fill = || {
            let mut open = sink.open_record(ROOT, None)?;
            let (a, _) = sink.field_of(&mut open, "a", 0)?;
            let (list, items) = sink.open_list(a)?;
            sink.put_text(items, b"abc", false)?;
            sink.put_null(items)?;
            sink.close_list(list)?;
            let (b, _) = sink.field_of(&mut open, "b", 0)?;
            sink.put_integer(b, 1)?;
            if bad {
                sink.put_integer(b, 2)?;
            }
            sink.close_record(open)
        };
        if fill().is_err() {
            sink.truncate_at(ROOT, before);
        }
    }
    let snapshot = columns.finish();
    let lengths: Vec<_> = snapshot.columns.iter().map(|(_, column)| column.len()).collect();
    assert_eq!(lengths, [2, 3, 4, 3, 6, 2, 2, 2, 1, 0]);
}

#[test]
fn types_that_cannot_be_filled_say_so() {
    for ty in ["categorical[type=string]", "99999999999 * int64", "{x: int64, x: int64}"] {
        assert!(TypedColumns::from_type(ty).is_err(), "{ty}");
    }
    assert!(matches!(fault("unknown", |c| c.put_integer(ROOT, 1)), Fault::Expected { .. }));
}
