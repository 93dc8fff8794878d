//! ROOT's own classes in the versions that are written, and their checksums.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::cpp::{Container, CppType, Number};
use crate::streamer::{Element, ElementKind, Row, StreamerInfo, builtin, code, spelled, written};

/// Returns the description of one of ROOT's own classes, in the version that is written, as ROOT has it: with
/// checksums, and with the classes of counters. `None` if the class is unknown.
#[must_use]
pub fn described_class(class: &str) -> Option<Arc<StreamerInfo>> {
    described().get(class).cloned()
}

/// Whether objects of a class are stored with its checksum in the place of its version. Classes without a
/// version of their own count as version 1; ROOT also identifies classes that declare version 1 by checksum.
pub(crate) fn is_told_by_checksum(class: &str, version: i32, checksum: u32) -> bool {
    version == 1 && checksum != 0 && described_class(class).is_none()
}

/// Version in the frame of standard library containers and strings.
pub(crate) const STL_VERSION: i16 = 10;

/// Returns all classes that [`described_class`] knows.
pub fn described_classes() -> impl Iterator<Item = &'static Arc<StreamerInfo>> {
    described().values()
}

/// Returns the names of the classes that a description refers to: bases, and types of members.
pub(super) fn named_by(info: &StreamerInfo) -> impl Iterator<Item = &str> {
    info.elements.iter().map(|element| match &element.kind {
        ElementKind::Base { .. } => &*element.name,
        _ => element.type_name.trim_end_matches('*'),
    })
}

fn described() -> &'static BTreeMap<&'static str, Arc<StreamerInfo>> {
    static CLASSES: OnceLock<BTreeMap<&'static str, Arc<StreamerInfo>>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let read = written().filter_map(|row| Some((row, StreamerInfo::clone(&*builtin(row.0, row.1)?))));
        let more = MORE.iter().map(|row| (row, spelled(row.0, row.1, row.3)));
        let complete = |(row, mut info): (&'static Row, StreamerInfo)| {
            info.checksum = row.2;
            info.elements.iter_mut().for_each(complete_element);
            (row.0, Arc::new(info))
        };
        read.chain(more).map(complete).collect()
    })
}

/// Returns the table row of a class, in the version that is written.
fn row(class: &str) -> Option<&'static Row> {
    written().chain(MORE).find(|row| row.0 == class)
}

/// Returns the version and checksum of a class.
fn known(class: &str) -> Option<(i32, u32)> {
    row(class).map(|row| (row.1, row.2))
}

/// Completes an element that was parsed from the table with the properties that the table omits: checksum,
/// counter's version, kind and size.
fn complete_element(element: &mut Element) {
    match &mut element.kind {
        ElementKind::Base { checksum, .. } => {
            *checksum = known(&element.name).map_or(0, |(_, checksum)| checksum);
            return;
        }
        ElementKind::BasicPointer(counter) | ElementKind::Loop(counter) => {
            counter.version = known(&counter.class).map_or(0, |(version, _)| version);
            element.title = format!("[{}]", counter.name).into();
            element.size = POINTER;
            return;
        }
        _ => {}
    }
    if element.code == code::OBJECT_INPLACE {
        element.title = "->".into();
    }
    element.kind = match element.code {
        code::OBJECT => ElementKind::Object,
        code::ANY => ElementKind::ObjectAny,
        code::OBJECT_INPLACE | code::OBJECT_POINTER => ElementKind::ObjectPointer,
        code::TSTRING => ElementKind::String,
        code::STL | code::STREAMER => stl(&element.type_name),
        _ => ElementKind::Basic,
    };
    element.size = match element.code {
        code::TSTRING | code::STL => 24,
        code::OBJECT_INPLACE | code::OBJECT_POINTER => POINTER,
        _ => Number::coded(element.code).map_or(0, |number| number.dtype.size() as i32),
    };
}

/// Returns the element kind of a standard library container. Readers derive the content from the type, too.
fn stl(type_name: &str) -> ElementKind {
    let container = type_name.split('<').next().and_then(Container::named);
    let content = match CppType::parse(type_name) {
        CppType::Sequence(_, item) => match *item {
            CppType::Number(number) => Some(number.codes[0]),
            _ => None,
        },
        _ => None,
    };
    ElementKind::Stl {
        container: container.map_or(0, |container| container.stl),
        content: content.unwrap_or(code::OBJECT),
    }
}

/// Size of a pointer in memory, in bytes.
const POINTER: i32 = 8;

/// Classes whose descriptions are written but not needed for reading, since ROOT's own code, or a class with
/// the same members, streams them.
#[rustfmt::skip]
const MORE: &[Row] = &[
    ("ROOT::RNTuple", 2, 0x28e6_32ec, "\
        fVersionEpoch:12:unsigned short; fVersionMajor:12:unsigned short; fVersionMinor:12:unsigned short; \
        fVersionPatch:12:unsigned short; fSeekHeader:14:unsigned long; fNBytesHeader:14:unsigned long; \
        fLenHeader:14:unsigned long; fSeekFooter:14:unsigned long; fNBytesFooter:14:unsigned long; \
        fLenFooter:14:unsigned long; fMaxKeySize:14:unsigned long"),
    ("TClonesArray", 4, 0xb6c0_ca63, "TObjArray 3"),
    ("TCollection", 3, 0x57e3_cb9c, "TObject 1; fName:65:TString; fSize:3:int"),
    ("TEfficiency", 2, 0x5293_1aeb, "\
        TNamed 1; TAttLine 2; TAttFill 2; TAttMarker 3; fBeta_alpha:8:double; fBeta_beta:8:double; \
        fBeta_bin_params:300:vector<pair<double,double> >; fConfLevel:8:double; fFunctions:63:TList*; \
        fPassedHistogram:64:TH1*; fStatisticOption:3:TEfficiency::EStatOption; fTotalHistogram:64:TH1*; \
        fWeight:8:double"),
    ("TFolder", 1, 0xa708_7929, "TNamed 1; fFolders:64:TCollection*; fIsOwner:18:bool"),
    ("TH2C", 4, 0xbd00_10fe, "TH2 5; TArrayC 1"),
    ("TH2I", 4, 0xe87e_9147, "TH2 5; TArrayI 1"),
    ("TH2S", 4, 0x1256_ca1c, "TH2 5; TArrayS 1"),
    ("TH3C", 4, 0xa1ff_8d94, "TH3 6; TArrayC 1"),
    ("TH3F", 4, 0x4d9c_3f2b, "TH3 6; TArrayF 1"),
    ("TH3I", 4, 0xcd7e_0ddd, "TH3 6; TArrayI 1"),
    ("TH3S", 4, 0xf756_46b2, "TH3 6; TArrayS 1"),
    ("THashList", 0, 0xcc7e_49c1, "TList 5"),
    ("TList", 5, 0x69c5_c3bb, "TSeqCollection 0"),
    ("TMap", 3, 0xfec4_a388, "TCollection 3; fTable:64:THashTable*"),
    ("TObjArray", 3, 0xa99e_6552, "TSeqCollection 0; fLowerBound:3:int; fLast:3:int"),
    ("TObject", 1, 0x901b_c02d, "fUniqueID:13:unsigned int; fBits:15:unsigned int"),
    ("TParameter<long>", 2, 0x918a_f124, "TObject 1; fName:65:TString; fVal:4:long"),
    ("TProfile3D", 8, 0xf60c_6814, "\
        TH3D 4; fBinEntries:62:TArrayD; fErrorMode:3:EErrorType; fTmin:8:double; fTmax:8:double; \
        fTsumwt:8:double; fTsumwt2:8:double; fBinSumw2:62:TArrayD"),
    ("TSeqCollection", 0, 0xfc6c_3bc6, "TCollection 3"),
];

/// Classes that ROOT streams by its own code everywhere. Files do not describe them.
pub(super) const UNDESCRIBED: &[&str] =
    &["TArrayC", "TArrayD", "TArrayF", "TArrayI", "TArrayL64", "TArrayS", "TString", "THashTable"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::write::checksum;

    /// Checksums of bases that are not in the table, since files do not describe them.
    const OF_ARRAYS: &[(&str, u32)] = &[
        ("TArrayC", 0xae87_9936),
        ("TArrayS", 0x035c_9314),
        ("TArrayI", 0xd9d5_71c7),
        ("TArrayF", 0x5a0b_f6f1),
        ("TArrayD", 0x7139_ef34),
    ];

    #[test]
    fn checksums_follow_from_the_members() {
        let (mut compared, mut wrong) = (0, Vec::new());
        for &(class, version, expected, _) in written().chain(MORE) {
            let mut info = StreamerInfo::clone(&described_class(class).unwrap_or_else(|| panic!("{class}")));
            assert_eq!((info.version, info.checksum), (version, expected));
            for element in &mut info.elements {
                if let ElementKind::Base { checksum, .. } = &mut element.kind
                    && let Some((_, sum)) = OF_ARRAYS.iter().find(|(name, _)| **name == *element.name)
                {
                    *checksum = *sum;
                }
            }
            // These have transient members, which are part of the checksum.
            if !matches!(class, "TSeqCollection" | "THashList") {
                if checksum(&info) != expected {
                    wrong.push(info);
                }
                compared += 1;
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(compared > 60);
    }

    #[test]
    fn descriptions_are_closed() {
        for info in described_classes() {
            for element in &info.elements {
                let class = match &element.kind {
                    ElementKind::Base { version, .. } => {
                        let found = known(&element.name).map_or(Some(1), |(version, _)| Some(version));
                        assert_eq!(*version, found, "{} of {}", element.name, info.class);
                        &*element.name
                    }
                    ElementKind::Object | ElementKind::ObjectAny | ElementKind::ObjectPointer => {
                        element.type_name.trim_end_matches('*')
                    }
                    _ => continue,
                };
                let there = described_class(class).is_some() || UNDESCRIBED.contains(&class);
                assert!(there, "{class} of {}", info.class);
            }
        }
    }
}
