//! Kinds of streamers.

use forthwith_columns::DType;

/// How a class is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// By streamer info.
    ByInfo,
    /// `TObject`: no frame.
    TObject,
    /// `TList` and its subclasses.
    List,
    /// `TObjArray`.
    ObjArray,
    /// `TClonesArray`: objects of one class.
    Clones,
    /// Other collections: a name and pointers.
    Bag,
    /// By a custom streamer, in a frame: `own.rs` has the members.
    Own,
    /// By a custom streamer, without a frame.
    Bare,
    /// By streamer info, after a version without a byte count. There may be a byte count nevertheless: ROOT
    /// reads both.
    Uncounted,
    /// `TMap`: alternating keys and values.
    Map,
    /// `TString`, or a `std::string` that is a record: no frame.
    Text,
    /// `TStringLong`: text after a length of four bytes, no frame.
    LongText,
    /// `TBtree`: six numbers about its nodes, then a collection.
    Btree,
    /// `TArray…`: a count and numbers, no frame.
    Numbers(DType),
    /// `TBasket`: a key, a header, and perhaps the data.
    Basket,
    /// Contents with a byte count that are not read.
    Opaque,
    /// No bytes.
    Nothing,
}
