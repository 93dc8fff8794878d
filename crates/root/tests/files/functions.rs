//! Functions as ROOT 3 to 5 wrote them, in a file that does not describe them: today's ROOT writes others, so
//! that bytes are made here.

use std::sync::Arc;

use bytes::Bytes;
use forthwith_root::{Object, Objects, Streamers, Value, Walker, text};

/// Bytes within a frame of some version.
fn framed(version: u16, parts: &[Vec<u8>]) -> Vec<u8> {
    let bytes = parts.concat();
    let mut out = (0x4000_0000 | (bytes.len() as u32 + 2)).to_be_bytes().to_vec();
    out.extend(version.to_be_bytes());
    out.extend(bytes);
    out
}

fn string(text: &str) -> Vec<u8> {
    let mut out = vec![text.len() as u8];
    out.extend(text.as_bytes());
    out
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn shorts(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// Numbers that a member counts have a byte before them that says whether there are any.
fn counted(numbers: Vec<u8>) -> Vec<u8> {
    [vec![u8::from(!numbers.is_empty())], numbers].concat()
}

/// A `TObject`: version, id and bits.
fn object() -> Vec<u8> {
    [shorts(&[1]), ints(&[0, 0x0200_0000])].concat()
}

/// An empty `TObjArray`: a name, how many, and the lowest index.
fn array() -> Vec<u8> {
    framed(3, &[object(), string(""), ints(&[0, 0])])
}

const PARAMETERS: [f64; 2] = [-7.5, 1.25];

fn formula(version: u16) -> Vec<u8> {
    let named = framed(1, &[object(), string("line"), string("[0]+[1]*x")]);
    let mut parts = vec![
        named,
        // Dimensions, parameters, operators, constants, number, variables, strings.
        ints(&[1, 2, 5, 1, 0, 1, 0]),
        framed(9, &["[0]", "[1]", "x", "*", "+"].map(string)),
        counted(ints(&[11, 12, 13, 14, 15])),
        counted(doubles(&[2.5])),
        counted(doubles(&PARAMETERS)),
        framed(9, &["offset", "slope"].map(string)),
    ];
    parts.extend((version > 4).then(array));
    parts.extend((version > 7).then(array));
    framed(version, &parts)
}

/// A `TF1` of version 7, whose bases have versions that changed with those of ROOT.
fn function(formula_version: u16, attributes: u16) -> Vec<u8> {
    let parts = [
        formula(formula_version),
        framed(attributes, &[shorts(&[2, 1, 3])]),
        framed(attributes, &[shorts(&[19, 0])]),
        framed(attributes, &[shorts(&[1, 20]), 1.5f32.to_be_bytes().to_vec()]),
        doubles(&[-1.0, 4.0]),
        // Points, kind, points of a fit, degrees of freedom, saved points.
        ints(&[100, 0, 20, 18, 3]),
        doubles(&[57.5]),
        counted(doubles(&[0.5, 0.25])),
        counted(doubles(&[-20.0, 0.0])),
        counted(Vec::new()),
        counted(doubles(&[1.0, 2.0, 3.0])),
        doubles(&[-1111.0, -1112.0]),
    ];
    framed(7, &parts)
}

fn read(class: &str, payload: &[u8]) -> forthwith_plan::Result<Objects> {
    Walker::new(Arc::new(Streamers::default())).read(Bytes::copy_from_slice(payload), 60, class)
}

fn numbers(of: Object<'_>, member: &str) -> Vec<f64> {
    of.array(member).map(|array| array.floats().collect()).unwrap_or_default()
}

fn words(of: Object<'_>, member: &str) -> Vec<String> {
    let items = of.list(member).map(|item| item.and_then(Object::inner));
    items
        .map(|item| match item {
            Some(Value::Text(bytes)) => text(bytes),
            other => panic!("{member}: {}", other.is_some()),
        })
        .collect()
}

fn check_formula(of: Object<'_>) {
    assert_eq!(of.text("fName").as_deref(), Some("line"));
    assert_eq!(of.text("fTitle").as_deref(), Some("[0]+[1]*x"));
    for (member, wanted) in
        [("fNdim", 1), ("fNpar", 2), ("fNoper", 5), ("fNconst", 1), ("fNval", 1), ("fNstring", 0)]
    {
        assert_eq!(of.int(member), Some(wanted), "{member}");
    }
    assert_eq!(words(of, "fExpr"), ["[0]", "[1]", "x", "*", "+"]);
    assert_eq!(words(of, "fNames"), ["offset", "slope"]);
    let operators = of.array("fOper").expect("numbers");
    assert_eq!(operators.ints().collect::<Vec<_>>(), [11, 12, 13, 14, 15]);
    assert_eq!(numbers(of, "fConst"), [2.5]);
    assert_eq!(numbers(of, "fParams"), PARAMETERS);
}

#[test]
fn functions_of_root_5_need_no_infos() {
    for (version, attributes) in [(4, 1), (5, 1), (7, 1), (8, 2)] {
        let objects = read("TF1", &function(version, attributes)).expect("a function");
        assert!(objects.leftovers().is_empty() && objects.faults().next().is_none(), "{version}");
        assert_eq!(objects.unread(), 0);
        let top = objects.top();
        assert!(!top.is_opaque());
        check_formula(top);
        assert_eq!(top.member("fFunctions").is_some(), version > 4);
        assert_eq!(top.member("fLinearParts").is_some(), version > 7);
        for (member, wanted) in
            [("fLineWidth", 3), ("fFillColor", 19), ("fMarkerStyle", 20), ("fNpx", 100), ("fNDF", 18)]
        {
            assert_eq!(top.int(member), Some(wanted), "{member}");
        }
        for (member, wanted) in [
            ("fMarkerSize", 1.5),
            ("fXmin", -1.0),
            ("fXmax", 4.0),
            ("fChisquare", 57.5),
            ("fMaximum", -1111.0),
            ("fMinimum", -1112.0),
        ] {
            assert_eq!(top.float(member), Some(wanted), "{member}");
        }
        assert_eq!(numbers(top, "fParErrors"), [0.5, 0.25]);
        assert_eq!(numbers(top, "fParMin"), [-20.0, 0.0]);
        assert_eq!(numbers(top, "fParMax"), [0.0; 0]);
        assert_eq!(numbers(top, "fSave"), [1.0, 2.0, 3.0]);
    }
}

#[test]
fn formulas_of_root_5_need_no_infos() {
    for version in [4, 5, 7, 8] {
        let objects = read("TFormula", &formula(version)).expect("a formula");
        assert!(objects.leftovers().is_empty() && objects.unread() == 0, "{version}");
        check_formula(objects.top());
    }
}

/// Wherever such bytes end, there is an error or an object that says what is wrong.
#[test]
fn functions_that_end_early_are_errors() {
    let whole = function(8, 2);
    for end in 0..whole.len() {
        assert!(read("TF1", &whole[..end]).is_err(), "{end}");
    }
}

/// Versions of unknown layout are passed over by their byte counts.
#[test]
fn functions_of_other_versions_are_opaque() {
    for version in [3u16, 6] {
        let mut bytes = function(8, 2);
        bytes[4..6].copy_from_slice(&version.to_be_bytes());
        let objects = read("TF1", &bytes).expect("something with a byte count");
        assert!(objects.top().is_opaque(), "{version}");
    }
}
