//! Random types, values and commands.

use super::*;
use crate::form::Primitive;
use proptest::prelude::*;

/// Generates number types; types that [`Value`] cannot represent only if `all`.
fn primitives(all: bool) -> impl Strategy<Value = Primitive> {
    let second = Unit::from_name("s").unwrap();
    let others = [
        Primitive::Complex64,
        Primitive::Complex128,
        Primitive::Datetime64(second),
        Primitive::Timedelta64(second),
    ];
    let mut primitives = vec![
        Primitive::Bool,
        Primitive::Int8,
        Primitive::Int16,
        Primitive::Int32,
        Primitive::Int64,
        Primitive::UInt8,
        Primitive::UInt16,
        Primitive::UInt32,
        Primitive::UInt64,
        Primitive::Float32,
        Primitive::Float64,
    ];
    primitives.extend(others.into_iter().filter(|_| all));
    prop::sample::select(primitives)
}

fn indexes() -> impl Strategy<Value = Index> {
    prop::sample::select(vec![Index::I32, Index::U32, Index::I64])
}

/// Generates Forms; complex numbers, times, indirections and unknown types only if `all`.
fn bare(all: bool) -> impl Strategy<Value = Form> {
    let leaf = prop_oneof![
        4 => primitives(all).prop_map(Form::number),
        if all { 1 } else { 0 } => Just(Form::new(Kind::Empty)),
        1 => Just(Form::text(Text::String)),
        1 => Just(Form::text(Text::Bytes)),
        1 => Just(Form::from_type("bytes[2]").unwrap()),
        1 => primitives(all).prop_map(|primitive| Form::new(Kind::Numpy { primitive, shape: vec![2, 1] })),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let wrapped = (inner.clone(), 0..6, any::<bool>(), any::<bool>()).prop_map(
            move |(form, how, valid, lsb_order)| {
                if is_wrapped(&form) {
                    return form;
                }
                let content = Box::new(form);
                Form::new(match how {
                    0 => Kind::IndexedOption { index: Index::I32, content },
                    1 => Kind::ByteMasked { valid_when: valid, content },
                    2 => Kind::BitMasked { valid_when: valid, lsb_order, content },
                    3 => Kind::Unmasked { content },
                    4 if all => Kind::Indexed { index: Index::I64, content },
                    _ => Kind::IndexedOption { index: Index::I64, content },
                })
            },
        );
        prop_oneof![
            3 => wrapped,
            2 => (inner.clone(), indexes()).prop_map(|(form, offsets)| {
                Form::new(Kind::ListOffset { offsets, content: Box::new(form) })
            }),
            1 => (inner.clone(), indexes()).prop_map(|(form, starts)| {
                Form::new(Kind::List { starts, content: Box::new(form) })
            }),
            1 => (inner.clone(), 0..3u64).prop_map(|(form, size)| {
                Form::new(Kind::Regular { size, content: Box::new(form) })
            }),
            2 => prop::collection::vec(inner.clone(), 0..4).prop_map(|contents| {
                let fields = (0..contents.len()).map(|n| format!("f{n}")).collect();
                Form::new(Kind::Record { fields: Some(fields), contents })
            }),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|contents| {
                Form::new(Kind::Record { fields: None, contents })
            }),
            2 => (prop::collection::vec(inner, 2..4), indexes()).prop_map(|(contents, index)| {
                let contents: Vec<Form> = contents.into_iter().map(|form| unwrapped(&form)).collect();
                if contents.iter().any(|form| matches!(form.kind, Kind::Union { .. })) {
                    return contents[0].clone();
                }
                Form::new(Kind::Union { index, contents })
            }),
        ]
    })
}

fn is_wrapped(form: &Form) -> bool {
    unwrapped(form) != *form || matches!(form.kind, Kind::Union { .. })
}

/// Returns the Form within options and indirections.
fn unwrapped(form: &Form) -> Form {
    match &form.kind {
        Kind::IndexedOption { content, .. }
        | Kind::ByteMasked { content, .. }
        | Kind::BitMasked { content, .. }
        | Kind::Indexed { content, .. }
        | Kind::Unmasked { content } => unwrapped(content),
        _ => form.clone(),
    }
}

/// Pseudo-random numbers that choose values.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

/// Appends a random value of a Form, with tags, and returns the expected result.
fn tell(twin: &mut Twin, form: &Form, dice: &mut Dice) -> Value {
    macro_rules! all {
        ($method:ident($($argument:expr),*)) => {
            twin.$method($($argument),*)
                .unwrap_or_else(|error| panic!("{error}\n{}", twin.builder.type_string()))
        };
    }
    if let Some(text) = form.as_text() {
        let length = if let Kind::Regular { size, .. } = form.kind { size } else { dice.roll(4) };
        let value: String = (0..length).map(|_| (b'a' + dice.roll(26) as u8) as char).collect();
        return if text == Text::String {
            all!(string(&value));
            Value::String(value)
        } else {
            all!(bytestring(value.as_bytes()));
            Value::Bytes(value.into())
        };
    }
    match &form.kind {
        Kind::Numpy { primitive, shape } if shape.is_empty() => {
            let n = dice.roll(120) as i64;
            match primitive {
                Primitive::Bool => {
                    all!(boolean(n % 2 == 0));
                    Value::Bool(n % 2 == 0)
                }
                Primitive::Float32 if n % 2 == 0 => {
                    all!(real(n as f64 / 4.0));
                    Value::Float32(n as f32 / 4.0)
                }
                Primitive::Float64 if n % 2 == 0 => {
                    all!(real(n as f64 / 4.0));
                    Value::Float64(n as f64 / 4.0)
                }
                Primitive::UInt64 if n % 2 == 0 => {
                    all!(unsigned(u64::MAX - n as u64));
                    Value::UInt(u64::MAX - n as u64)
                }
                _ => {
                    all!(integer(n));
                    match primitive {
                        Primitive::Float32 => Value::Float32(n as f32),
                        Primitive::Float64 => Value::Float64(n as f64),
                        Primitive::UInt8 | Primitive::UInt16 | Primitive::UInt32 | Primitive::UInt64 => {
                            Value::UInt(n as u64)
                        }
                        _ => Value::Int(n),
                    }
                }
            }
        }
        Kind::Numpy { primitive, shape } => {
            all!(begin_list());
            let inner = Form::new(Kind::Numpy { primitive: *primitive, shape: shape[1..].to_vec() });
            let items = (0..shape[0]).map(|_| tell(twin, &inner, dice)).collect();
            all!(end_list());
            Value::List(items)
        }
        Kind::Regular { content, .. } | Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
            all!(begin_list());
            let length = if let Kind::Regular { size, .. } = form.kind { size } else { dice.roll(4) };
            let items = (0..length).map(|_| tell(twin, content, dice)).collect();
            all!(end_list());
            Value::List(items)
        }
        Kind::Record { fields: Some(names), contents } => {
            all!(begin_record(None));
            // Fields are in random order, and some nulls are left out.
            let mut order: Vec<usize> = (0..contents.len()).collect();
            (0..order.len()).for_each(|at| order.swap(at, dice.roll(contents.len() as u64) as usize));
            let mut values = vec![Value::Null; contents.len()];
            for at in order {
                let nullable = !matches!(contents[at].kind, Kind::Unmasked { .. })
                    && (unwrapped(&contents[at]) != contents[at]);
                if nullable && dice.roll(4) == 0 {
                    continue;
                }
                all!(field(&names[at]));
                values[at] = tell(twin, &contents[at], dice);
            }
            all!(end_record());
            Value::Record(names.iter().cloned().zip(values).collect())
        }
        Kind::Record { fields: None, contents } => {
            all!(begin_tuple(contents.len()));
            let mut values = Vec::new();
            for (at, content) in contents.iter().enumerate() {
                all!(index(at));
                values.push(tell(twin, content, dice));
            }
            all!(end_tuple());
            Value::Tuple(values)
        }
        Kind::IndexedOption { content, .. }
        | Kind::ByteMasked { content, .. }
        | Kind::BitMasked { content, .. }
        | Kind::Indexed { content, .. }
        | Kind::Unmasked { content } => {
            if !matches!(form.kind, Kind::Unmasked { .. } | Kind::Indexed { .. }) && dice.roll(3) == 0 {
                all!(null());
                return Value::Null;
            }
            tell(twin, content, dice)
        }
        Kind::Union { contents, .. } => {
            let tag = dice.roll(contents.len() as u64) as usize;
            all!(tag(tag));
            tell(twin, &contents[tag], dice)
        }
        Kind::Empty => unreachable!("not among the random Forms"),
    }
}

/// Executes an arbitrary command.
fn fuzz(builder: &mut Twin, command: u64, argument: u64) -> Told {
    let small = (argument % 4) as usize;
    let names = ["f0", "f1", "f2", "", "none"];
    match command % 24 {
        0 => builder.null(),
        1 => builder.boolean(argument.is_multiple_of(2)),
        2 => builder.integer(argument as i64),
        3 => builder.unsigned(argument.wrapping_mul(u64::MAX / 7)),
        4 => builder.real(argument as f64 / 2.0),
        5 => builder.complex(argument as f64, 1.0),
        6 => builder.datetime(argument as i64, Unit::from_name("s").unwrap()),
        7 => builder.timedelta(argument as i64, Unit::from_name("ms").unwrap()),
        8 => builder.bytestring(&vec![b'x'; small]),
        9 => builder.string(&"y".repeat(small)),
        10 | 20 | 21 => builder.begin_list(),
        11 | 22 => builder.end_list(),
        12 => builder.begin_tuple(small),
        13 => builder.index(small),
        14 => builder.end_tuple(),
        15 => builder.begin_record(["P", "Q"].get(small).copied()),
        16 => builder.field(names[(argument % 5) as usize]),
        17 => builder.end_record(),
        18 => builder.tag(small),
        19 => builder.extend_i16(&vec![argument as i16; small]),
        _ => builder.extend_f64(&vec![argument as f64; small]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_out_as_they_went_in(form in bare(false), seed: u64, entries in 0..6u64) {
        let mut twin = Twin::new(&form);
        let mut dice = Dice(seed);
        let values: Vec<Value> = (0..entries).map(|_| tell(&mut twin, &form, &mut dice)).collect();
        let layout = twin.builder.snapshot().unwrap();
        prop_assert_eq!(layout.length, entries);
        let array = layout.to_array().unwrap();
        array.validate().unwrap();
        prop_assert_eq!(&array.values(0..entries).unwrap(), &values, "{}", twin.builder.type_string());
    }

    #[test]
    fn wrong_commands_change_nothing(
        form in bare(true),
        commands in prop::collection::vec((any::<u64>(), 0..300u64), 0..200),
    ) {
        let mut twin = Twin::new(&form);
        for (command, argument) in commands {
            // Two of three commands are possible ones, since otherwise structures are rarely begun.
            let possible = twin.builder.state.possible_commands();
            let command = if command % 3 == 0 || possible.is_empty() {
                command / 3
            } else {
                possible[(command / 3) as usize % possible.len()] as u64
            };
            let before = format!("{:?}", twin.builder.checkpoint());
            if fuzz(&mut twin, command, argument).is_err() {
                prop_assert_eq!(before, format!("{:?}", twin.builder.checkpoint()));
            }
        }
        if let Ok(array) = twin.builder.snapshot().unwrap().to_array() {
            array.validate().unwrap();
        }
    }

    #[test]
    fn any_text_is_a_type_or_none(text in "[a-z?*{}(),:\\[\\]\" 0-9=]{0,40}") {
        if let Ok(form) = Form::from_type(&text) {
            let printed = form.type_string();
            prop_assert_eq!(&Form::from_type(&printed).unwrap().type_string(), &printed);
        }
    }
}
