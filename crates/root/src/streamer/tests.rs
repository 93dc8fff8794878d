//! Streamer elements of every version, as bytes: what today's ROOT no longer writes.

use super::{Element, ElementKind, Packing, code};
use crate::record::Cursor;

/// Bytes within a frame of some version.
fn framed(version: u16, bytes: &[u8]) -> Vec<u8> {
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

/// The common part of all elements: a name, a comment, a code, dimensions, the name of a type, and the
/// additions of the version.
fn element(
    version: u16,
    bits: u32,
    comment: &str,
    kind: i32,
    dims: &[u32],
    type_name: &str,
    behind: &[u8],
) -> Vec<u8> {
    let mut named = vec![0, 1, 0, 0, 0, 0];
    named.extend(bits.to_be_bytes());
    named.extend([string("fX"), string(comment)].concat());
    let mut out = framed(1, &named);
    out.extend([kind.to_be_bytes(), 8i32.to_be_bytes()].concat());
    let length: u32 = if dims.is_empty() { 0 } else { dims.iter().product() };
    out.extend([length.to_be_bytes(), (dims.len() as u32).to_be_bytes()].concat());
    if version == 1 {
        // A list that says how long it is.
        out.extend((dims.len() as u32).to_be_bytes());
        out.extend(dims.iter().flat_map(|dim| dim.to_be_bytes()));
    } else {
        out.extend((0..5).flat_map(|at| dims.get(at).copied().unwrap_or(0).to_be_bytes()));
    }
    out.extend(string(type_name));
    out.extend(behind);
    framed(version, &out)
}

fn parse(class: &str, bytes: &[u8]) -> Element {
    let mut cursor = Cursor::new(bytes);
    let element = Element::parse(class.as_bytes(), &mut cursor).expect("an element");
    assert_eq!(cursor.position(), bytes.len(), "everything is read");
    element
}

#[test]
fn elements_of_every_version() {
    let range: Vec<u8> = [-1.0f64, 1.0, 512.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let packed = Packing::Range { min: -1.0, max: 1.0, factor: 512.0 };
    for version in 1..=4 {
        let behind = if version == 3 { &range[..] } else { &[] };
        let bits = if version == 4 { 1 << 6 } else { 0 };
        let inner =
            element(version, bits, "[-1,1,10]", code::DOUBLE32 + code::ARRAY, &[2, 3], "Double32_t", behind);
        let found = parse("TStreamerBasicType", &framed(2, &inner));
        assert_eq!((&*found.name, found.code, found.array_length), ("fX", 29, 6));
        assert_eq!(found.dimensions, [2, 3]);
        // Versions 1 and 2 knew no ranges; 3 stored them; since 4 a bit says that the comment has one.
        assert_eq!(found.packing, (version > 2).then_some(packed), "version {version}");
        let plain = element(
            version,
            0,
            "[-1,1,10]",
            code::INT,
            &[],
            "Int_t",
            if version == 3 { &[0; 24] } else { &[] },
        );
        assert_eq!(parse("TStreamerBasicType", &framed(2, &plain)).packing, None);
    }
    let mantissa: Vec<u8> = [9.1f64, 0.0, 0.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let inner = element(3, 0, "", code::FLOAT16, &[], "Float16_t", &mantissa);
    assert_eq!(parse("TStreamerBasicType", &framed(2, &inner)).packing, Some(Packing::Mantissa { bits: 9 }));
}

#[test]
fn codes_of_old_files_are_put_right() {
    let truth = element(2, 0, "", code::UCHAR, &[], "Bool_t", &[]);
    assert_eq!(parse("TStreamerBasicType", &framed(2, &truth)).code, code::BOOL);
    // Called a vector, by code and by container, but its type says otherwise.
    for (type_name, right) in
        [("map<int,float>", 4), ("set<int>", 6), ("multimap<int,int>", 5), ("vector<int>", 1)]
    {
        let mut bytes = element(2, 0, "", code::STL, &[], type_name, &[]);
        bytes.extend([1i32.to_be_bytes(), 3i32.to_be_bytes()].concat());
        let found = parse("TStreamerSTL", &framed(2, &bytes));
        assert_eq!(found.kind, ElementKind::Stl { container: right, content: 3 }, "{type_name}");
    }
    let mut text = element(2, 0, "", code::STL, &[], "string", &[]);
    text.extend([365i32.to_be_bytes(), 365i32.to_be_bytes()].concat());
    assert_eq!(parse("TStreamerSTL", &framed(2, &text)).kind, ElementKind::StlString);
}

#[test]
fn bases_say_their_version_since_the_third() {
    let inner = element(4, 0, "", code::BASE, &[0, 0xABCD], "BASE", &[]);
    let known = [&inner[..], &7i32.to_be_bytes()].concat();
    let version = |element: Element| match element.kind {
        ElementKind::Base { version, checksum } => (version, checksum),
        other => panic!("{other:?}"),
    };
    assert_eq!(version(parse("TStreamerBase", &framed(3, &known))), (Some(7), 0xABCD));
    assert_eq!(version(parse("TStreamerBase", &framed(2, &inner))), (None, 0xABCD));
}
