//! Table of classes with a custom streamer, which do not follow their streamer info.
//!
//! Objects and columns use the same rows: `object/reader.rs` reads objects, and `unroll/native.rs` makes
//! columns.

use super::kind::Native;
use super::own::stored;
use crate::streamer::is_unframed;
use forthwith_columns::DType;

/// Returns how a class is read, unless a user registered it.
pub fn known(class: &str) -> Native {
    if is_unframed(class) { Native::Bare } else { native(class) }
}

/// Returns how a class is read by default.
pub fn native(class: &str) -> Native {
    // Compares the first letter first, as most classes are not in the table.
    if !class.starts_with('T') {
        return match class {
            "string" | "std::string" => Native::Text,
            // CMS registers streamers with ROOT that omit the byte count.
            "edm::RefCore" | "edm::RefCoreWithIndex" => Native::Uncounted,
            _ => stored(class).unwrap_or(Native::ByInfo),
        };
    }
    match class {
        "TObject" => Native::TObject,
        "TList" | "THashList" | "TSortedList" | "TQCommand" => Native::List,
        "TObjArray" => Native::ObjArray,
        "TMap" => Native::Map,
        "TString" => Native::Text,
        "TArrayC" => Native::Numbers(DType::Int8),
        "TArrayS" => Native::Numbers(DType::Int16),
        "TArrayI" => Native::Numbers(DType::Int32),
        "TArrayL" | "TArrayL64" => Native::Numbers(DType::Int64),
        "TArrayF" => Native::Numbers(DType::Float32),
        "TArrayD" => Native::Numbers(DType::Float64),
        "TBasket" => Native::Basket,
        "TClonesArray" => Native::Clones,
        "THashTable" | "TOrdCollection" | "TCollection" | "TSeqCollection" => Native::Bag,
        "TStringLong" => Native::LongText,
        "TBtree" => Native::Btree,
        "TBranchClones" | "TDirectory" | "TDirectoryFile" | "TFile" => Native::Opaque,
        _ if class.starts_with("TMatrixTSym<") => Native::Bare,
        "TQObject" => Native::Nothing,
        _ => stored(class).unwrap_or(Native::ByInfo),
    }
}
