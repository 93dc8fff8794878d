//! Casts of random values: whatever Forms say the same, the values stay.

use super::*;
use crate::LogicalType;
use crate::Value;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A Form of some depth whose keys are not given yet.
fn form(random: &mut Random, depth: u64) -> Form {
    let key = String::new();
    match random.below(if depth == 0 { 4 } else { 9 }) {
        0..=2 => {
            let dtype = random.pick(&[
                DType::Int8,
                DType::UInt8,
                DType::Int16,
                DType::UInt16,
                DType::Int32,
                DType::Float32,
            ]);
            Form::Numpy { key, dtype, shape: (0..random.below(3)).map(|_| random.below(3) + 1).collect() }
        }
        3 => Form::String { key, binary: random.below(2) == 0 },
        4 | 5 => Form::List { key, content: Box::new(form(random, depth - 1)) },
        6 => form(random, depth - 1).repeated(random.below(3) + 1),
        7 => form(random, depth - 1).optional(),
        _ => {
            let contents: Vec<Form> = (0..random.below(3) + 1).map(|_| form(random, depth - 1)).collect();
            let fields = Some((0..contents.len()).map(|at| format!("f{at}")).collect());
            Form::Record { fields, contents, name: None }
        }
    }
}

/// Random values of a Form with keys of its own.
fn fill(random: &mut Random, form: &Form, rows: u64, columns: &mut Vec<(String, Column)>) {
    match form {
        Form::Numpy { key, dtype, shape } => {
            let count = items(rows, shape).unwrap() as usize;
            // All types have these.
            let numbers: Vec<u8> = (0..count).map(|_| random.below(100) as u8).collect();
            let numbers = number::converted(&Column::from_vec(numbers), *dtype, count as u64);
            columns.push((format!("{key}-data"), numbers.unwrap().unwrap()));
        }
        Form::String { key, .. } => {
            let end = offsets(random, key, rows, columns);
            columns.push((
                format!("{key}-data"),
                Column::from_vec((0..end).map(|_| b'a' + random.below(26) as u8).collect()),
            ));
        }
        Form::List { key, content } => {
            let end = offsets(random, key, rows, columns);
            fill(random, content, end, columns);
        }
        Form::Regular { size, content } => fill(random, content, rows * size, columns),
        Form::Record { contents, .. } => {
            contents.iter().for_each(|content| fill(random, content, rows, columns))
        }
        Form::Option { key, content } => {
            let is_any_missing = random.below(2) == 0;
            let index: Vec<i64> = (0..rows)
                .map(|row| if is_any_missing && random.below(3) == 0 { -1 } else { row as i64 })
                .collect();
            columns.push((format!("{key}-index"), Column::from_vec(index)));
            fill(random, content, rows, columns);
        }
        other => panic!("{other:?}"),
    }
}

/// The end of random lists, whose items may begin behind others.
fn offsets(random: &mut Random, key: &str, rows: u64, columns: &mut Vec<(String, Column)>) -> u64 {
    let mut ends = vec![random.below(3).cast_signed()];
    for _ in 0..rows {
        ends.push(ends.last().unwrap() + random.below(4).cast_signed());
    }
    let end = ends.last().unwrap().cast_unsigned();
    columns.push((format!("{key}-offsets"), Column::from_vec(ends)));
    end
}

/// The same type, or one that has its values: wider numbers, any length, values that might be missing, fields in another order.
fn wider(random: &mut Random, form: &Form) -> Form {
    let key = String::new();
    if random.below(5) == 0 && !matches!(form, Form::Option { .. }) {
        return wider(random, form).optional();
    }
    match form {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => {
            let more = random.pick(&[DType::Int64, DType::Float64, DType::Int16]);
            let dtype = if random.below(2) == 0 { *dtype } else { DType::promote([*dtype, more]).unwrap() };
            Form::Numpy { key, dtype, shape: Vec::new() }
        }
        Form::Numpy { .. } | Form::Regular { .. } => {
            let (size, content) = form.fixed().unwrap();
            let content = wider(random, &content);
            if random.below(3) == 0 {
                Form::List { key, content: Box::new(content) }
            } else {
                content.repeated(size)
            }
        }
        Form::List { content, .. } => Form::List { key, content: Box::new(wider(random, content)) },
        Form::Option { content, .. } => wider(random, content).optional(),
        Form::Record { fields, contents, name } => {
            let mut fields = fields.clone().unwrap();
            let mut contents: Vec<Form> = contents.iter().map(|content| wider(random, content)).collect();
            if random.below(2) == 0 {
                fields.reverse();
                contents.reverse();
            }
            Form::Record { fields: Some(fields), contents, name: name.clone() }
        }
        other => other.clone(),
    }
}

/// Values without their types: numbers as floats, fields by name, lists of any kind as lists.
fn plain(value: &Value) -> String {
    match value {
        Value::Record(fields) => {
            let mut fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect();
            fields.sort();
            format!("{{{}}}", fields.join(", "))
        }
        Value::List(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float32(number) => number.to_string(),
        Value::Float64(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn array(random: &mut Random, form: &Form, rows: u64) -> Array {
    let form = form.clone().with_own_keys();
    let mut columns = Vec::new();
    fill(random, &form, rows, &mut columns);
    let array = Array { form, length: rows, columns };
    array.validate().unwrap();
    array
}

#[test]
fn values_stay_in_wider_types() {
    let mut random = Random(11);
    for _ in 0..600 {
        let found = form(&mut random, 3);
        let rows = random.below(6);
        let array = array(&mut random, &found, rows);
        let wanted = wider(&mut random, &array.form);
        let cast = array.cast(&wanted, NumberCast::Exact).unwrap();
        cast.validate().unwrap();
        assert_eq!(cast.form, wanted.clone().with_own_keys());
        let values = |array: &Array| array.values(0..rows).unwrap().iter().map(plain).collect::<Vec<_>>();
        assert_eq!(values(&cast), values(&array), "{} as {}", found.type_string(), wanted.type_string());
        // A type and one that has its values are united to a type that has all values.
        if let Ok(united) = Form::unite(&[&array.form, &wanted]) {
            for part in [&array, &cast] {
                let cast = part.cast(&united, NumberCast::Exact).unwrap();
                assert_eq!(values(&cast), values(&array), "united to {}", united.type_string());
            }
            let again = Form::unite(&[&united, &array.form, &wanted]).unwrap();
            assert_eq!(again.type_string(), united.type_string());
        }
        // And back, where nothing is missing and lists have their lengths.
        match cast.cast(&array.form, NumberCast::Exact) {
            Ok(back) => assert_eq!(values(&back), values(&array)),
            Err(error) => assert!(
                matches!(error.reason, CastReason::Type { .. } | CastReason::Null { .. }),
                "{error}: {} to {}",
                wanted.type_string(),
                found.type_string()
            ),
        }
    }
}

#[test]
fn numbers_are_exact_or_named() {
    let cast = |column: Column, to| {
        let form = Form::Numpy { key: "x".into(), dtype: column.dtype(), shape: vec![] };
        let length = column.len() as u64;
        let array = Array { form, length, columns: vec![("x-data".into(), column)] };
        let wanted = Form::Numpy { key: "y".into(), dtype: to, shape: vec![] };
        let list = Form::Record { fields: Some(vec!["a".into()]), contents: vec![wanted], name: None };
        let found =
            Form::Record { fields: Some(vec!["a".into()]), contents: vec![array.form.clone()], name: None };
        Array { form: found, ..array }.cast(&list, NumberCast::Exact).map(|array| array.columns[0].1.clone())
    };
    let named = |column: Column, to| cast(column, to).unwrap_err().to_string();
    let most = 1i64 << 53;
    assert_eq!(
        cast(Column::from_vec(vec![most, -most]), DType::Float64).unwrap().as_f64().unwrap(),
        [most as f64, -most as f64]
    );
    assert_eq!(
        named(Column::from_vec(vec![0, most + 1]), DType::Float64),
        "a: 9007199254740993, which is no float64"
    );
    assert!(named(Column::from_vec(vec![u64::MAX]), DType::Float64).contains("18446744073709551615, which"));
    assert!(named(Column::from_vec(vec![i64::MAX]), DType::Float64).contains("9223372036854775807, which"));
    assert_eq!(
        named(Column::from_vec(vec![1i32 << 24, (1 << 24) + 1]), DType::Float32),
        "a: 16777217, which is no float32"
    );
    assert_eq!(named(Column::from_vec(vec![-1i8]), DType::UInt64), "a: -1, which is no uint64");
    assert_eq!(named(Column::from_vec(vec![300u16]), DType::Int8), "a: 300, which is no int8");
    assert_eq!(named(Column::from_vec(vec![0.1f64]), DType::Float32), "a: 0.1, which is no float32");
    let halves = cast(Column::from_vec(vec![0.5f64, f64::NAN, f64::INFINITY]), DType::Float32).unwrap();
    assert!(halves.as_f32().unwrap()[1].is_nan() && halves.as_f32().unwrap()[2].is_infinite());
    assert_eq!(named(Column::from_vec(vec![1.0f32]), DType::Int64), "a: expected int64, found float32");
    // Numbers need not be aligned.
    let bytes: Vec<u8> = std::iter::once(0).chain([7i32, -8].map(i32::to_ne_bytes).concat()).collect();
    let odd = Column::from_bytes(DType::Int32, bytes::Bytes::from(bytes).slice(1..));
    assert_eq!(cast(odd, DType::Int64).unwrap().as_i64().unwrap(), [7, -8]);
}

#[test]
fn forms_without_a_common_type_are_told() {
    let number = |dtype| Form::Numpy { key: "x".into(), dtype, shape: vec![] };
    let list = |content| Form::List { key: "l".into(), content: Box::new(content) };
    let text = Form::String { key: "s".into(), binary: false };
    let half = Form::Logical { meaning: LogicalType::Half, content: Box::new(number(DType::UInt16)) };
    let (int, bool) = (number(DType::Int32), number(DType::Bool));
    for (one, other) in [
        (&int, &text),
        (&int, &bool),
        (&list(int.clone()), &int),
        (&int, &half),
        (&int.clone().repeated(2), &int.clone().repeated(3)),
    ] {
        let forms = [&Form::Empty, one, one, other];
        assert_eq!(Form::unite(&forms), Err(crate::Unlike { first: 1, other: 3 }), "{one:?} {other:?}");
    }
    assert_eq!(Form::unite(&[]), Ok(Form::Empty));
    let texts = |texts: &[&str]| Form::Categorical {
        key: "c".into(),
        categories: texts.iter().map(|text| (*text).to_owned()).collect(),
    };
    let united = Form::unite(&[&texts(&["a", "b"]), &texts(&["c", "b"])]).unwrap();
    assert!(matches!(&united, Form::Categorical { categories, .. } if categories == &["a", "b", "c"]));
    let array = Array {
        form: texts(&["c", "b"]),
        length: 3,
        columns: [("c-index".into(), Column::from_vec(vec![1i32, 0, 1]))]
            .into_iter()
            .chain(crate::text::texts("c", &["c".into(), "b".into()]))
            .collect(),
    };
    let cast = array.cast(&united, NumberCast::Exact).unwrap();
    cast.validate().unwrap();
    assert_eq!(cast.preview(0..3, 40).lines().unwrap(), array.preview(0..3, 40).lines().unwrap());
    assert!(array.cast(&texts(&["a", "b"]), NumberCast::Exact).is_err());
}
