//! Classes that do not follow their streamer info: ROOT streams them by code of its own.

use super::layout::Basic;

/// How a class is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    /// By its streamer info.
    ByInfo,
    /// `TObject`: no frame.
    TObject,
    /// `TList` and its kin.
    List,
    /// `TObjArray`.
    ObjArray,
    /// `TRef`: a `TObject` and which process its number is from.
    Ref,
    /// `TMap`: keys and values in turn.
    Map,
    /// `TString`, or a `std::string` that is a record of its own: no frame.
    Text,
    /// `TArray…`: a count and numbers, no frame.
    Numbers(Basic),
    /// `TDatime`: four bytes.
    Datime,
    /// `TBasket`: a key, a header, and perhaps the data.
    Basket,
    /// Something with a byte count and contents that are not looked at.
    Opaque,
    /// Nothing at all is stored.
    Nothing,
}

/// How a class is read.
pub(super) fn native(class: &[u8]) -> Native {
    // By the first letter of the interesting part: most classes are none of these.
    if class.first() != Some(&b'T') {
        return if class == b"string" { Native::Text } else { Native::ByInfo };
    }
    match class {
        b"TObject" => Native::TObject,
        b"TList" | b"THashList" | b"TSortedList" => Native::List,
        b"TObjArray" => Native::ObjArray,
        b"TRef" => Native::Ref,
        b"TMap" => Native::Map,
        b"TString" => Native::Text,
        b"TArrayC" => Native::Numbers(Basic::I8),
        b"TArrayS" => Native::Numbers(Basic::I16),
        b"TArrayI" => Native::Numbers(Basic::I32),
        b"TArrayL" | b"TArrayL64" => Native::Numbers(Basic::I64),
        b"TArrayF" => Native::Numbers(Basic::F32),
        b"TArrayD" => Native::Numbers(Basic::F64),
        b"TDatime" => Native::Datime,
        b"TBasket" => Native::Basket,
        b"TClonesArray" | b"TRefArray" | b"TTreeIndex" | b"TChainIndex" | b"THashTable" | b"TBtree"
        | b"TBranchClones" => Native::Opaque,
        b"TQObject" => Native::Nothing,
        _ => Native::ByInfo,
    }
}
