use crate::{Count, Dialect, Frame, Schema, TextLength, translate};
use forthwith_columns::{DType, Wire};

const FRAMED: Dialect =
    Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };

fn floats() -> Schema {
    Schema::Number(Wire::Big(DType::Float32))
}

#[test]
fn nested_lists_have_one_line_a_level() {
    let program = translate(&floats().list().list(), &FRAMED, true, "hits").unwrap();
    assert_eq!(
        program.source,
        "input data
input starts
input stops
variable stop
output node0-offsets int64
output node1-offsets int64
output node2-data float32
0 do
  starts I-> stack data seek
  stops I-> stack stop !
  data !I-> stack 1073741824 - data pos + stop @ <> if 1 halt then
  data !H-> stack 16383 > if 2 halt then
  data !I-> stack dup node0-offsets +<- stack
  0 do
    data !I-> stack dup node1-offsets +<- stack
    data #!f-> node2-data
  loop
  data pos stop @ <> if 3 halt then
loop
"
    );
    assert_eq!(program.member_at(13), Some("hits"));
    assert_eq!(program.member_at(16), Some("hits[][]"));
    assert_eq!(program.member_at(3), None);
    assert_eq!(program.fault(3).map(|f| f.what.as_str()), Some("the entry's bytes are not consumed exactly"));
}

#[test]
fn text_lists_and_records() {
    let schema = Schema::Record {
        name: Some("Jet".into()),
        fields: vec![
            ("pt".into(), Schema::Number(Wire::Big(DType::Float64))),
            ("tags".into(), Schema::Text.list()),
            ("cov".into(), Schema::Fixed(3, Box::new(floats()))),
        ],
    };
    let dialect = Dialect { entry: Frame::None, ..FRAMED };
    let program = translate(&schema, &dialect, false, "jet").unwrap();
    assert_eq!(program.form.type_string(), "{pt: float64, tags: var * string, cov: 3 * float32}");
    assert!(!program.source.contains("starts"));
    assert!(program.source.contains("3 data #!f-> node3-data"));
}

#[test]
fn items_to_the_end_need_bounds() {
    let schema = Schema::ToEnd(Box::new(floats().list()));
    let dialect = Dialect { entry: Frame::Skip(6), ..FRAMED };
    assert!(translate(&schema, &dialect, false, "x").is_err());
    let program = translate(&schema, &dialect, true, "x").unwrap();
    assert_eq!(program.form.type_string(), "var * var * float32");
}

#[test]
fn hopeless_depth_is_refused() {
    let mut schema = floats();
    for _ in 0..100 {
        schema = schema.list();
    }
    assert!(translate(&schema, &FRAMED, true, "x").is_err());
}

#[test]
fn packed_numbers_are_refused_by_name() {
    let schema = Schema::Number(Wire::Truncated { bits: 12, to: DType::Float32 }).list();
    assert!(translate(&schema, &FRAMED, true, "x").unwrap_err().0.contains("Truncated"));
}
