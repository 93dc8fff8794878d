//! Tests of tagged records: programs of layouts, run over messages.

use crate::tests::numbers;
use crate::{
    Count, Delivered, Dialect, Extent, Frame, Layout, Presence, Rival, Symbols, Tagged, TaggedField,
    TextLength, translate,
};
use forthwith_columns::{DType, Encoding, LogicalType, TimeUnit};
use forthwith_forth::{Compiled, Limits, Machine};
use std::collections::HashMap;

const DIALECT: Dialect = Dialect { counts: Count::Big32, text: TextLength::Leb128, entry: Frame::None };

fn varint() -> Layout {
    Layout::Leb128 { zigzag: false, dtype: DType::Int32 }
}

fn field(name: &str, key: u32, presence: Presence, of: Layout) -> TaggedField {
    TaggedField { name: name.into(), keys: vec![(key, Extent::One)], presence, of }
}

fn record(fields: Vec<TaggedField>) -> Tagged {
    Tagged {
        name: None,
        fields,
        rivals: Vec::new(),
        refused: Vec::new(),
        delivered: Delivered::Record,
        ignores_item: false,
    }
}

/// Returns the outputs of a program that was run over messages, or the code of its fault.
fn run(tagged: Tagged, messages: &[&[u8]]) -> Result<HashMap<String, Vec<f64>>, i64> {
    let program = translate(&Layout::Tagged(tagged), &DIALECT, true, "").unwrap();
    let compiled = Compiled::new(&program.source).unwrap_or_else(|e| panic!("{e}\n{}", program.source));
    let mut machine = Machine::new(compiled.into(), Limits::default());
    let ends = messages.iter().scan(0u32, |end, message| {
        *end += message.len() as u32;
        Some(*end)
    });
    let bounds: Vec<u8> = std::iter::once(0).chain(ends).flat_map(u32::to_le_bytes).collect();
    let (data, last) = (messages.concat(), bounds.len() - 4);
    let mut inputs: Vec<&[u8]> = vec![&data, &bounds[..last], &bounds[4..]];
    if !program.constants.is_empty() {
        inputs.push(&program.constants);
    }
    machine.begin();
    machine.push(messages.len() as i64).unwrap();
    if machine.resume(&inputs).is_err() {
        return Err(machine.stack().last().copied().unwrap_or(0));
    }
    let outputs = program.outputs.iter().zip(machine.outputs());
    Ok(outputs.map(|(binding, output)| (binding.key.clone(), numbers(output))).collect())
}

#[test]
fn fields_come_in_any_order_and_the_last_value_counts() {
    let layout = || {
        record(vec![
            field("a", 1 << 3, Presence::Default(None), varint()),
            field("b", 2 << 3 | 2, Presence::Optional, Layout::Text),
        ])
    };
    let messages: [&[u8]; 4] = [
        b"\x12\x02hi\x08\x07",
        b"\x08\x01\x12\x01x\x08\x02\x12\x03abc",
        b"",
        b"\x18\x05\x1b\x20\x01\x1c\x08\x03",
    ];
    let found = run(layout(), &messages).unwrap();
    assert_eq!(found["node0-data"], [7.0, 2.0, 0.0, 3.0]);
    assert_eq!(found["node1-tags"], [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(found["node2-offsets"], [2.0, 5.0]);
    assert_eq!(found["node2-data"], b"hiabc".map(f64::from));
    for (message, fault) in [(&b"\x00\x01"[..], 18), (b"\x0f", 18), (b"\x0c", 18)] {
        assert_eq!(run(layout(), &[message]), Err(fault), "{message:x?}");
    }
    // A value that goes on behind the message, into the next one.
    assert_eq!(run(layout(), &[b"\x12\x02h", b"\x08\x01"]), Err(20));
}

#[test]
fn records_are_merged_and_items_appended() {
    let point = || {
        record(vec![
            field("x", 1 << 3, Presence::Default(None), varint()),
            field("y", 2 << 3, Presence::Optional, varint()),
        ])
    };
    let mut n = field("n", 3 << 3, Presence::Repeated, varint());
    n.keys.push((3 << 3 | 2, Extent::Packed));
    let mut d = field("d", 4 << 3 | 1, Presence::Repeated, Layout::Number(Encoding::Little(DType::Float64)));
    d.keys.push((4 << 3 | 2, Extent::Packed));
    let layout = record(vec![
        field("p", 1 << 3 | 2, Presence::Optional, Layout::Tagged(point())),
        field("q", 2 << 3 | 2, Presence::Repeated, Layout::Tagged(point())),
        n,
        d,
    ]);
    let mut first =
        b"\x0a\x02\x08\x05\x12\x00\x18\x01\x0a\x02\x10\x06\x1a\x02\x02\x03\x12\x02\x10\x09".to_vec();
    first.extend(b"\x22\x08");
    first.extend(1.5f64.to_le_bytes());
    let found = run(layout, &[&first, b""]).unwrap();
    let keys =
        ["node0-tags", "node1-data", "node2-tags", "node3-data", "node4-offsets", "node5-data", "node6-tags"];
    let values = keys.map(|key| found[key].clone());
    assert_eq!(values[0], [1.0, 0.0]);
    assert_eq!((&values[1][..], &values[2][..], &values[3][..]), (&[5.0][..], &[1.0][..], &[6.0][..]));
    assert_eq!(
        (&values[4][..], &values[5][..], &values[6][..]),
        (&[2.0, 2.0][..], &[0.0, 0.0][..], &[0.0, 1.0][..])
    );
    assert_eq!(found["node8-offsets"], [3.0, 3.0]);
    assert_eq!(found["node9-data"], [1.0, 2.0, 3.0]);
    assert_eq!(found["node11-data"], [1.5]);
}

#[test]
fn of_a_choice_the_last_field_is_present() {
    let inner = || record(vec![field("x", 1 << 3, Presence::Repeated, varint())]);
    let layout = |rivals| {
        let mut layout = record(vec![
            field("a", 1 << 3, Presence::Choice(0), varint()),
            field("m", 2 << 3 | 2, Presence::Choice(0), Layout::Tagged(inner())),
            field("t", 3 << 3 | 2, Presence::Choice(0), Layout::Text),
        ]);
        layout.rivals = rivals;
        layout
    };
    let messages: [&[u8]; 4] = [
        b"\x08\x01\x12\x02\x08\x04\x12\x02\x08\x05",
        b"\x12\x02\x08\x04\x1a\x01z",
        b"\x1a\x01z\x08\x02",
        b"",
    ];
    let found = run(layout(vec![]), &messages).unwrap();
    assert_eq!(found["node0-tags"], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(found["node1-data"], [2.0]);
    assert_eq!(found["node2-tags"], [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(found["node3-offsets"], [2.0]);
    assert_eq!(found["node4-data"], [4.0, 5.0]);
    assert_eq!(found["node5-tags"], [0.0, 1.0, 0.0, 0.0]);
    // A field that is not delivered makes the others absent all the same.
    let found = run(
        layout(vec![Rival { key: 4 << 3, choice: 0, symbols: None }]),
        &[b"\x08\x01\x20\x01", b"\x20\x01\x08\x01"],
    )
    .unwrap();
    assert_eq!(found["node0-tags"], [0.0, 1.0]);
}

#[test]
fn numbers_without_a_name_are_ignored_or_kept() {
    let names: std::sync::Arc<[(i32, String)]> = [(4, "four".into()), (-1, "minus".into())].into();
    let symbol = |delivered| Layout::Symbol { names: names.clone(), delivered };
    let default = Presence::Default(Some([4].into()));
    let layout = |delivered| record(vec![field("e", 1 << 3, default.clone(), symbol(delivered))]);
    let minus = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let messages: [&[u8]; 3] = [minus, b"\x08\x07", b""];
    assert_eq!(run(layout(Symbols::Category), &messages).unwrap()["node0-index"], [1.0, 0.0, 0.0]);
    assert_eq!(run(layout(Symbols::Text), &messages).unwrap()["node0-index"], [-1.0, 7.0, 4.0]);
    assert_eq!(run(layout(Symbols::Number), &messages).unwrap()["node0-data"], [-1.0, 4.0, 4.0]);
}

#[test]
fn items_with_other_fields_are_ignored_where_the_layout_says_so() {
    let mut item = record(vec![
        field("k", 1 << 3, Presence::Default(None), varint()),
        field("t", 2 << 3 | 2, Presence::Optional, Layout::Text),
    ]);
    item.ignores_item = true;
    let layout = record(vec![field("items", 1 << 3 | 2, Presence::Repeated, Layout::Tagged(item))]);
    let message = b"\x0a\x02\x08\x01\x0a\x07\x08\x02\x12\x01x\x18\x00\x0a\x03\x12\x01y";
    let found = run(layout, &[message, b""]).unwrap();
    assert_eq!(found["node0-offsets"], [2.0, 2.0]);
    assert_eq!(found["node1-data"], [1.0, 0.0]);
    assert_eq!(found["node2-tags"], [0.0, 1.0]);
    assert_eq!(found["node3-data"], [f64::from(b'y')]);
}

#[test]
fn a_required_field_has_to_be_there() {
    let layout = || record(vec![field("a", 1 << 3, Presence::Required, varint())]);
    assert_eq!(run(layout(), &[b"\x08\x01"]).unwrap()["node0-data"], [1.0]);
    assert_eq!(run(layout(), &[b""]), Err(19));
}

#[test]
fn two_integers_are_one_number_unless_it_overflows() {
    let second = Layout::Leb128 { zigzag: false, dtype: DType::Int64 };
    let mut time = record(vec![
        field("seconds", 1 << 3, Presence::Default(None), second),
        field("nanos", 2 << 3, Presence::Default(None), varint()),
    ]);
    time.delivered = Delivered::Sum(1_000_000_000, LogicalType::Duration(TimeUnit::Nano));
    let layout = || record(vec![field("t", 1 << 3 | 2, Presence::Optional, Layout::Tagged(time.clone()))]);
    let minus =
        b"\x0a\x16\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    let found =
        run(layout(), &[b"\x0a\x04\x08\x03\x10\x05\x0a\x02\x10\x07", b"", minus, b"\x0a\x00"]).unwrap();
    assert_eq!(found["node0-tags"], [1.0, 0.0, 1.0, 1.0]);
    assert_eq!(found["node1-data"], [3_000_000_007.0, -1_000_000_001.0, 0.0]);
    // 9223372036 seconds; 10^9 nanoseconds.
    for wide in [&b"\x0a\x06\x08\x84\xfa\x85\xae\x22"[..], b"\x0a\x06\x10\x80\x94\xeb\xdc\x03"] {
        assert_eq!(run(layout(), &[wide]), Err(23), "{wide:x?}");
    }
}

#[test]
fn deep_groups_and_refused_fields_are_faults() {
    let mut layout = record(vec![field("a", 1 << 3, Presence::Default(None), varint())]);
    layout.refused = vec![2 << 3 | 2];
    let groups = |depth| [b"\x1b".repeat(depth), b"\x00\x01".to_vec(), b"\x1c".repeat(depth)].concat();
    assert_eq!(run(layout.clone(), &[&groups(100)]).unwrap()["node0-data"], [0.0]);
    assert_eq!(run(layout.clone(), &[&groups(101)]), Err(22));
    assert_eq!(run(layout, &[b"\x08\x01\x12\x00"]), Err(22));
}

#[test]
fn programs_run_as_register_code() {
    let inner = record(vec![field("x", 1 << 3, Presence::Repeated, varint())]);
    let layout = record(vec![
        field("m", 1 << 3 | 2, Presence::Choice(0), Layout::Tagged(inner.clone())),
        field("q", 2 << 3 | 2, Presence::Repeated, Layout::Tagged(inner)),
        field("t", 3 << 3 | 2, Presence::Optional, Layout::Text),
    ]);
    let program = translate(&Layout::Tagged(layout), &DIALECT, true, "").unwrap();
    let explained = Compiled::new(&program.source).unwrap().explain();
    let words: Vec<&str> = explained.lines().filter(|line| line.starts_with("word ")).collect();
    assert!(!words.is_empty() && words.iter().all(|line| line.contains(": flat code")), "{explained}");
}
