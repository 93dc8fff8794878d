#![allow(clippy::unwrap_used)] // a test fails by panicking

use super::*;

fn given(form: &str, length: u64, buffers: &[(&str, Vec<u8>)]) -> Result<Array, AwkwardImportError> {
    let find =
        |key: &str| buffers.iter().find(|(name, _)| *name == key).map(|(_, bytes)| bytes.clone().into());
    Array::from_awkward(form, length, &mut { find })
}

#[test]
fn what_is_shown_is_taken_in_again() {
    let array = Array {
        form: Form::List {
            key: "a".into(),
            content: Box::new(Form::Option {
                key: "b".into(),
                content: Box::new(Form::Logical {
                    meaning: LogicalType::Decimal { precision: 9, scale: 2 },
                    content: Box::new(Form::String { key: "c".into(), binary: true }),
                }),
            }),
        },
        length: 2,
        columns: vec![
            ("a-offsets".into(), Column::from_slice(&[0i64, 1, 3])),
            ("b-index".into(), Column::from_slice(&[0i64, -1, 1])),
            ("c-offsets".into(), Column::from_slice(&[0i64, 1, 3])),
            ("c-data".into(), Column::from_slice(&[1u8, 2, 3])),
        ],
    };
    let mut find = |key: &str| array.column(key).map(Column::to_bytes);
    let again = Array::from_awkward(&array.form.to_awkward_json(), 2, &mut find).unwrap();
    assert_eq!(again.values(0..2), array.values(0..2));
    assert_eq!(again.form.type_string(), "var * ?decimal[9, 2]");
}

#[test]
fn masks_become_indexes() {
    let numbers = r#"{"class": "NumpyArray", "primitive": "int8", "inner_shape": [], "parameters": {}, "form_key": "n"}"#;
    let bits = format!(
        r#"{{"class": "BitMaskedArray", "mask": "u8", "valid_when": true, "lsb_order": false, "content": {numbers}, "parameters": {{}}, "form_key": "m"}}"#
    );
    let array = given(&bits, 3, &[("m-mask", vec![0b1010_0000]), ("n-data", vec![1, 2, 3])]).unwrap();
    assert_eq!(array.preview(0..3, 40).lines().unwrap(), ["1", "None", "3"]);
    let bytes = bits.replace("BitMasked", "ByteMasked").replace("true", "false");
    let array = given(&bytes, 2, &[("m-mask", vec![0, 1]), ("n-data", vec![1, 2])]).unwrap();
    assert_eq!(array.preview(0..2, 40).lines().unwrap(), ["1", "None"]);
}

#[test]
fn what_does_not_hold_is_refused() {
    let numbers = r#"{"class": "NumpyArray", "primitive": "int64", "form_key": "n"}"#;
    assert!(matches!(
        given(numbers, 2, &[("n-data", vec![0; 8])]),
        Err(AwkwardImportError::Invalid(Invalid::Short { .. }))
    ));
    assert!(matches!(given(numbers, 2, &[]), Err(AwkwardImportError::Invalid(Invalid::Missing { .. }))));
    let complex = numbers.replace("int64", "complex128");
    assert!(matches!(given(&complex, 0, &[]), Err(AwkwardImportError::Unsupported { .. })));
    let record = |fields: &str, contents: &str| {
        format!(
            r#"{{"class": "RecordArray", "fields": [{fields}], "contents": [{contents}], "form_key": "r"}}"#
        )
    };
    let pair = record(r#""a", "b""#, &format!("{numbers}, {complex}"));
    let refused = given(&record(r#""good", "bad""#, &format!("{numbers}, {pair}")), 0, &[("n-data", vec![])]);
    let said = r#"numbers of type complex128 (column "bad/b") is not supported here"#;
    assert_eq!(refused.unwrap_err().to_string(), said);
    for bad in ["", "3", "{}", r#"{"class": "NumpyArray"}"#, r#"{"class": "RegularArray", "size": -1}"#] {
        assert!(matches!(given(bad, 1, &[]), Err(AwkwardImportError::NotAForm { .. })), "{bad}");
    }
    let deep = format!(
        "{}{numbers}{}",
        r#"{"class": "UnmaskedArray", "form_key": "u", "content": "#.repeat(120),
        "}".repeat(120)
    );
    assert!(given(&deep, 0, &[]).is_err());
}
