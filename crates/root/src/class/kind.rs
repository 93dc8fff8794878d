//! The ways in which classes are streamed.

use forthwith_columns::DType;

/// How a class is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
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
    /// By code of its own, in a frame: `own.rs` has its members.
    Own,
    /// The same without a frame.
    Bare,
    /// By its streamer info, behind a version without a byte count. There may be one all the same: ROOT reads
    /// both.
    Uncounted,
    /// `TMap`: keys and values in turn.
    Map,
    /// `TString`, or a `std::string` that is a record of its own: no frame.
    Text,
    /// `TStringLong`: text behind four bytes of length, no frame.
    LongText,
    /// `TBtree`: six numbers of its nodes, then what other collections have.
    Btree,
    /// `TArray…`: a count and numbers, no frame.
    Numbers(DType),
    /// `TBasket`: a key, a header, and perhaps the data.
    Basket,
    /// Something with a byte count and contents that are not looked at.
    Opaque,
    /// Nothing at all is stored.
    Nothing,
}
