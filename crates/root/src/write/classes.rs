//! The classes of ROOT that files are written with, and their checksums.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::cpp::{Container, CppType, Number};
use crate::streamer::{Element, ElementKind, StreamerInfo, builtin, code, spelled};

/// The description of one of ROOT's own classes, in the version that is written, as ROOT has it: with checksums, and the
/// classes of counters.
#[must_use]
pub fn described_class(class: &str) -> Option<Arc<StreamerInfo>> {
    described().get(class).cloned()
}

/// Whether objects of a class have its checksum before them, and not its version. Classes without a version of their own
/// count as version 1; ROOT finds those that have that version by their checksum as well.
pub(crate) fn is_told_by_checksum(class: &str, version: i32, checksum: u32) -> bool {
    version == 1 && checksum != 0 && described_class(class).is_none()
}

/// The version that stands before a container's items.
pub(crate) const STL_VERSION: i16 = 10;

/// All classes that [`described_class`] knows.
pub fn described_classes() -> impl Iterator<Item = &'static Arc<StreamerInfo>> {
    described().values()
}

/// The classes that the description of a class names: its bases, and the classes of its members.
pub(super) fn named_by(info: &StreamerInfo) -> impl Iterator<Item = &str> {
    info.elements.iter().map(|element| match &element.kind {
        ElementKind::Base { .. } => &*element.name,
        _ => element.type_name.trim_end_matches('*'),
    })
}

fn described() -> &'static BTreeMap<&'static str, Arc<StreamerInfo>> {
    static CLASSES: OnceLock<BTreeMap<&'static str, Arc<StreamerInfo>>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        CLASSES_OF_ROOT.iter().filter_map(|row| Some((row.0, Arc::new(complete(row)?)))).collect()
    })
}

/// The description of a row of the table.
fn complete(&(class, version, checksum): &Row) -> Option<StreamerInfo> {
    let more = MORE.iter().find(|(name, _)| *name == class);
    let mut info = match more {
        Some((_, elements)) => spelled(class, version, elements),
        None => (*builtin(class, version)?).clone(),
    };
    info.checksum = checksum;
    info.elements.iter_mut().for_each(complete_element);
    Some(info)
}

/// The version and checksum of a class.
fn known(class: &str) -> Option<(i32, u32)> {
    CLASSES_OF_ROOT.iter().find(|row| row.0 == class).map(|row| (row.1, row.2))
}

/// Adds what the text of an element leaves out.
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

/// A container of the standard library, by its type. Readers find what is in it by the type as well.
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

/// Bytes of a pointer in memory.
const POINTER: i32 = 8;

type Row = (&'static str, i32, u32);

/// Class, version and checksum, as ROOT 6.40 has them.
#[rustfmt::skip]
const CLASSES_OF_ROOT: &[Row] = &[
    ("ROOT::RNTuple", 2, 0x28e6_32ec),
    ("ROOT::TIOFeatures", 1, 0x1aa1_2f10),
    ("TAtt3D", 1, 0x0000_757a),
    ("TAttAxis", 4, 0x5c6f_ff3e),
    ("TAttFill", 2, 0xffd9_2a92),
    ("TAttLine", 2, 0x9407_4549),
    ("TAttMarker", 3, 0x291d_8bec),
    ("TAxis", 10, 0x5a49_6e70),
    ("TBranch", 13, 0x1097_8aac),
    ("TBranchElement", 10, 0xe74f_5e63),
    ("TBranchRef", 1, 0x2360_b3fd),
    ("TClonesArray", 4, 0xb6c0_ca63),
    ("TCollection", 3, 0x57e3_cb9c),
    ("TEfficiency", 2, 0x5293_1aeb),
    ("TFolder", 1, 0xa708_7929),
    ("TFriendElement", 2, 0x2771_167d),
    ("TGraph", 5, 0xb932_984f),
    ("TGraphAsymmErrors", 3, 0x206d_5315),
    ("TGraphErrors", 3, 0xbdad_b119),
    ("TH1", 8, 0x1c37_40c4),
    ("TH1C", 3, 0x36f6_e4ad),
    ("TH1D", 3, 0xf9b1_569f),
    ("TH1F", 3, 0xe293_9644),
    ("TH1I", 3, 0x6275_64f6),
    ("TH1S", 3, 0x8c4d_9dcb),
    ("TH2", 5, 0x0182_347f),
    ("TH2C", 4, 0xbd00_10fe),
    ("TH2D", 4, 0x7fba_82f0),
    ("TH2F", 4, 0x689c_c295),
    ("TH2I", 4, 0xe87e_9147),
    ("TH2S", 4, 0x1256_ca1c),
    ("TH3", 6, 0x42d2_445f),
    ("TH3C", 4, 0xa1ff_8d94),
    ("TH3D", 4, 0x64b9_ff86),
    ("TH3F", 4, 0x4d9c_3f2b),
    ("TH3I", 4, 0xcd7e_0ddd),
    ("TH3S", 4, 0xf756_46b2),
    ("THashList", 0, 0xcc7e_49c1),
    ("TLeaf", 2, 0x6d1e_8152),
    ("TLeafB", 1, 0x0f1e_4b5e),
    ("TLeafC", 1, 0xfbe3_b2f3),
    ("TLeafD", 1, 0x118e_8776),
    ("TLeafD32", 2, 0xe1dc_6401),
    ("TLeafElement", 1, 0xa04f_8893),
    ("TLeafF", 1, 0x3add_9d72),
    ("TLeafF16", 2, 0xeb35_f883),
    ("TLeafG", 1, 0xeca7_1cb7),
    ("TLeafI", 1, 0x7e6a_ae19),
    ("TLeafL", 1, 0xde32_0862),
    ("TLeafO", 1, 0x02ae_48d3),
    ("TLeafS", 1, 0x150c_eecf),
    ("TList", 5, 0x69c5_c3bb),
    ("TMap", 3, 0xfec4_a388),
    ("TNamed", 1, 0xdfb7_4a3c),
    ("TObjArray", 3, 0xa99e_6552),
    ("TObjString", 1, 0x9c8e_4800),
    ("TObject", 1, 0x901b_c02d),
    ("TParameter<bool>", 2, 0xc678_6bac),
    ("TParameter<double>", 2, 0x755b_05d8),
    ("TParameter<float>", 2, 0x5339_8bb2),
    ("TParameter<int>", 2, 0xfe85_57f8),
    ("TParameter<long>", 2, 0x918a_f124),
    ("TParameter<Long64_t>", 2, 0xd96d_1750),
    ("TProfile", 7, 0x4bed_ee54),
    ("TProfile2D", 8, 0x36a1_42ac),
    ("TProfile3D", 8, 0xf60c_6814),
    ("TRefTable", 3, 0x8c89_5b85),
    ("TSeqCollection", 0, 0xfc6c_3bc6),
    ("TTree", 20, 0x7264_e07f),
    ("TVirtualIndex", 1, 0x3c18_25a4),
];

/// Classes that nothing has to be read by, since ROOT's own code or a class of the same members streams them: their descriptions are
/// written, but not among those that files are read by.
#[rustfmt::skip]
const MORE: &[(&str, &str)] = &[
    ("ROOT::RNTuple", "\
        fVersionEpoch:12:unsigned short; fVersionMajor:12:unsigned short; fVersionMinor:12:unsigned short; \
        fVersionPatch:12:unsigned short; fSeekHeader:14:unsigned long; fNBytesHeader:14:unsigned long; \
        fLenHeader:14:unsigned long; fSeekFooter:14:unsigned long; fNBytesFooter:14:unsigned long; \
        fLenFooter:14:unsigned long; fMaxKeySize:14:unsigned long"),
    ("TClonesArray", "TObjArray 3"),
    ("TCollection", "TObject 1; fName:65:TString; fSize:3:int"),
    ("TEfficiency", "\
        TNamed 1; TAttLine 2; TAttFill 2; TAttMarker 3; fBeta_alpha:8:double; fBeta_beta:8:double; \
        fBeta_bin_params:300:vector<pair<double,double> >; fConfLevel:8:double; fFunctions:63:TList*; \
        fPassedHistogram:64:TH1*; fStatisticOption:3:TEfficiency::EStatOption; fTotalHistogram:64:TH1*; \
        fWeight:8:double"),
    ("TFolder", "TNamed 1; fFolders:64:TCollection*; fIsOwner:18:bool"),
    ("TH1I", "TH1 8; TArrayI 1"),
    ("TH2C", "TH2 5; TArrayC 1"),
    ("TH2I", "TH2 5; TArrayI 1"),
    ("TH2S", "TH2 5; TArrayS 1"),
    ("TH3C", "TH3 6; TArrayC 1"),
    ("TH3F", "TH3 6; TArrayF 1"),
    ("TH3I", "TH3 6; TArrayI 1"),
    ("TH3S", "TH3 6; TArrayS 1"),
    ("THashList", "TList 5"),
    ("TList", "TSeqCollection 0"),
    ("TMap", "TCollection 3; fTable:64:THashTable*"),
    ("TObjArray", "TSeqCollection 0; fLowerBound:3:int; fLast:3:int"),
    ("TObject", "fUniqueID:13:unsigned int; fBits:15:unsigned int"),
    ("TParameter<long>", "TObject 1; fName:65:TString; fVal:4:long"),
    ("TProfile3D", "\
        TH3D 4; fBinEntries:62:TArrayD; fErrorMode:3:EErrorType; fTmin:8:double; fTmax:8:double; \
        fTsumwt:8:double; fTsumwt2:8:double; fBinSumw2:62:TArrayD"),
    ("TSeqCollection", "TCollection 3"),
];

/// Classes that ROOT's code streams wherever it meets them. Files do not describe them.
pub(super) const UNDESCRIBED: &[&str] =
    &["TArrayC", "TArrayD", "TArrayF", "TArrayI", "TArrayL64", "TArrayS", "TString", "THashTable"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::write::checksum;

    /// Those of bases that are not in the table, since files do not describe them.
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
        for &(class, version, expected) in CLASSES_OF_ROOT {
            let mut info = StreamerInfo::clone(&described_class(class).unwrap_or_else(|| panic!("{class}")));
            assert_eq!(info.version, version);
            for element in &mut info.elements {
                if let ElementKind::Base { checksum, .. } = &mut element.kind
                    && let Some((_, sum)) = OF_ARRAYS.iter().find(|(name, _)| **name == *element.name)
                {
                    *checksum = *sum;
                }
            }
            // These have members that are not stored, which belong to the checksum.
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
