//! Classes that do not follow their streamer info: ROOT streams them by code of its own.

use super::layout::Basic;
use crate::streamer::is_unframed;

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
    /// `TClonesArray`: objects of one class.
    Clones,
    /// Other collections: a name and pointers.
    Bag,
    /// By code of its own, which a list of steps can say, in a frame.
    Own,
    /// The same without a frame.
    Bare,
    /// `TMap`: keys and values in turn.
    Map,
    /// `TString`, or a `std::string` that is a record of its own: no frame.
    Text,
    /// `TStringLong`: text behind four bytes of length, no frame.
    LongText,
    /// `TBtree`: six numbers of its nodes, then what other collections have.
    Btree,
    /// `TArray…`: a count and numbers, no frame.
    Numbers(Basic),
    /// `TBasket`: a key, a header, and perhaps the data.
    Basket,
    /// Something with a byte count and contents that are not looked at.
    Opaque,
    /// Nothing at all is stored.
    Nothing,
}

/// How a class is read, unless a user said otherwise.
pub(super) fn known(class: &str) -> Native {
    if is_unframed(class) { Native::Bare } else { native(class.as_bytes()) }
}

/// How a class is read.
pub(super) fn native(class: &[u8]) -> Native {
    // By the first letter of the interesting part: most classes are none of these.
    if class.first() != Some(&b'T') {
        return match class {
            b"string" => Native::Text,
            b"RooLinkedList"
            | b"RooRealVar"
            | b"RooCategory"
            | b"RooRefArray"
            | b"RooWorkspace::CodeRepo" => Native::Own,
            _ => Native::ByInfo,
        };
    }
    match class {
        b"TObject" => Native::TObject,
        b"TList" | b"THashList" | b"TSortedList" | b"TQCommand" => Native::List,
        b"TObjArray" => Native::ObjArray,
        b"TMap" => Native::Map,
        b"TString" => Native::Text,
        b"TArrayC" => Native::Numbers(Basic::I8),
        b"TArrayS" => Native::Numbers(Basic::I16),
        b"TArrayI" => Native::Numbers(Basic::I32),
        b"TArrayL" | b"TArrayL64" => Native::Numbers(Basic::I64),
        b"TArrayF" => Native::Numbers(Basic::F32),
        b"TArrayD" => Native::Numbers(Basic::F64),
        b"TBasket" => Native::Basket,
        b"TClonesArray" => Native::Clones,
        b"THashTable" | b"TOrdCollection" | b"TCollection" | b"TSeqCollection" => Native::Bag,
        b"TRef" | b"TDatime" => Native::Bare,
        b"TRefArray" | b"TTreeIndex" | b"TCanvas" | b"TPolyMarker3D" | b"TPolyLine3D" | b"TExMap"
        | b"TMaterial" | b"TMixture" | b"TImagePalette" | b"TASImage" => Native::Own,
        b"TStringLong" => Native::LongText,
        b"TBtree" => Native::Btree,
        b"TBranchClones" | b"TDirectory" | b"TDirectoryFile" | b"TFile" => Native::Opaque,
        _ if class.starts_with(b"TMatrixTSym<") => Native::Bare,
        b"TQObject" => Native::Nothing,
        _ => Native::ByInfo,
    }
}
