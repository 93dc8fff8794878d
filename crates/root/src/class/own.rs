//! Members of classes with a custom streamer, in the form of streamer info.

use std::ops::RangeInclusive;
use std::sync::Arc;

use forthwith_plan::Result;

use super::kind::Native;
use crate::streamer::{ElementKind, StreamerInfo, Streamers, spelled};

/// Returns the members of a class with a custom streamer in a version, or `None` if it is not in the table.
///
/// # Errors
/// Returns an error if the streamer info of a base cannot be parsed.
pub(super) fn own(streamers: &Streamers, class: &str, version: i32) -> Result<Option<Arc<StreamerInfo>>> {
    let Some((_, _, _, text)) = rows(class).find(|(_, _, versions, _)| versions.contains(&version)) else {
        return Ok(None);
    };
    let mut info = match matrix_item(class) {
        Some(item) => spelled(class, version, &text.replace('@', item)),
        None => spelled(class, version, text),
    };
    // Bases have the version in the file, if it has their streamer info.
    for element in &mut info.elements {
        if let ElementKind::Base { version, .. } = &mut element.kind
            && let Some(latest) = streamers.latest(&element.name)?
        {
            *version = Some(latest.version);
        }
    }
    Ok(Some(Arc::new(info)))
}

/// Version of a streamer info that applies to all versions of its class.
pub const ANY_VERSION: i32 = i32::MIN;

/// Returns the versions of a class in the table, the latest first. `latest` is the highest one in the file.
pub(super) fn own_versions(class: &str, latest: i32) -> Vec<i32> {
    let rows: Vec<_> = rows(class).map(|(_, _, versions, _)| versions).collect();
    if rows.iter().any(|versions| **versions == ANY) {
        return vec![ANY_VERSION];
    }
    let first = |versions: &RangeInclusive<i32>| (*versions.start()).max(1);
    // An open range ends with the version in the file, which need not have streamer info.
    let last = |versions: &RangeInclusive<i32>| match *versions.end() {
        i32::MAX => latest.clamp(first(versions), MOST),
        last => last,
    };
    let mut all: Vec<i32> = rows.into_iter().flat_map(|versions| first(versions)..=last(versions)).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

/// Returns whether the members of a class in the table have a frame, or `None` for other classes.
pub(super) fn stored(class: &str) -> Option<Native> {
    rows(class).next().map(|(_, stored, ..)| *stored)
}

fn rows(class: &str) -> impl Iterator<Item = &'static Row> {
    let name = if matrix_item(class).is_some() { SYMMETRIC } else { class };
    TABLE.iter().filter(move |(of, ..)| *of == name)
}

/// Returns the item type of a symmetric matrix, half of which is stored.
fn matrix_item(class: &str) -> Option<&str> {
    let item = class.strip_prefix("TMatrixTSym<")?.strip_suffix('>')?.trim();
    matches!(item, "double" | "float").then_some(item)
}

/// Name of all symmetric matrices in the table, with `@` in place of their item type.
const SYMMETRIC: &str = "TMatrixTSym";
/// Upper bound on versions.
const MOST: i32 = 100;
const ANY: RangeInclusive<i32> = i32::MIN..=i32::MAX;

type Row = (&'static str, Native, RangeInclusive<i32>, &'static str);

const fn from(first: i32) -> RangeInclusive<i32> {
    first..=i32::MAX
}

const fn until(last: i32) -> RangeInclusive<i32> {
    i32::MIN..=last
}

/// Class, whether its members have a frame (`Own`) or not (`Bare`), versions and members, in the language of
/// built-in infos (`streamer/text.rs`). A word takes the place of a type code for forms without one.
/// `name?flag` is present only if an earlier member is true, `name?!flag` if it is false.
#[rustfmt::skip]
static TABLE: [Row; 28] = [
    ("TRef", Native::Bare, ANY, "TObject; pid:process"),
    ("TDatime", Native::Bare, ANY, "fDatime:13:unsigned int"),
    ("TRefArray", Native::Own, ANY, "\
        TObject; fName:65:TString; fSize:3:int; fLowerBound:3:int; fPID:12:unsigned short; \
        fUIDs:bare:unsigned int:fSize"),
    (SYMMETRIC, Native::Bare, ANY, "\
        TMatrixTBase<@> 0; fElements:triangle:@:TMatrixTBase<@>.fNrows"),
    ("TTreeIndex", Native::Own, until(1), "\
        TVirtualIndex 1; fMajorName:65:TString; fMinorName:65:TString; fN:16:Long64_t; \
        fIndexValues:bare:Long64_t:fN; fIndex:bare:Long64_t:fN"),
    ("TTreeIndex", Native::Own, from(2), "\
        TVirtualIndex 1; fMajorName:65:TString; fMinorName:65:TString; fN:16:Long64_t; \
        fIndexValues:bare:Long64_t:fN; fIndexValuesMinor:bare:Long64_t:fN; fIndex:bare:Long64_t:fN"),
    ("TTreeRow", Native::Own, ANY, "TObject; fColumnCount:3:int; fFields:bare:int:fColumnCount; fRow:sized:char"),
    ("TPolyMarker3D", Native::Own, until(2), "\
        TObject; TAttMarker 2; fN:3:int; fP:bare 3:float:fN; fOption:65:TString"),
    ("TPolyMarker3D", Native::Own, from(3), "\
        TObject; TAttMarker 2; fN:3:int; fP:bare 3:float:fN; fOption:65:TString; fName:65:TString"),
    ("TPolyLine3D", Native::Own, ANY, "TObject; TAttLine 2; fN:3:int; fP:bare 3:float:fN; fOption:65:TString"),
    // Without the position in the table.
    ("TExMap", Native::Own, until(1), "TObject; fTally:3:int; fTable:rows 17 16 16:TExMap::Assoc:fTally"),
    ("TExMap", Native::Own, from(2), "TObject; fSize:3:int; fTally:3:int; fTable:rows 3 17 16 16:TExMap::Assoc:fTally"),
    ("TMaterial", Native::Own, until(2), "TNamed 1; fNumber:3:int; fA:5:float; fZ:5:float; fDensity:5:float"),
    ("TMaterial", Native::Own, from(3), "\
        TNamed 1; fNumber:3:int; fA:5:float; fZ:5:float; fDensity:5:float; TAttFill 2; fRadLength:5:float; \
        fInterLength:5:float"),
    ("TMixture", Native::Own, ANY, "TMaterial 3; fNmixt:3:int; fAmixt:sized:float; fZmixt:sized:float; fWmixt:sized:float"),
    ("TImagePalette", Native::Own, ANY, "\
        TObject; fNumPoints:13:unsigned int; fPoints:bare:double:fNumPoints; \
        fColorRed:bare:unsigned short:fNumPoints; fColorGreen:bare:unsigned short:fNumPoints; \
        fColorBlue:bare:unsigned short:fNumPoints; fColorAlpha:bare:unsigned short:fNumPoints"),
    // Version 1 has two forms, which the version of ROOT distinguishes.
    ("TASImage", Native::Own, from(2), "\
        TNamed 1; is_png:18:bool; png?is_png:sized:unsigned char; TAttImage?!is_png:62:TAttImage; \
        width?!is_png:3:int; height?!is_png:3:int; vector?!is_png:area:double:width*height"),
    ("TCanvas", Native::Own, from(4), "\
        TPad 0; fDISPLAY:65:TString; fDoubleBuffer:3:int; fRetained:18:bool; fXsizeUser:5:float; \
        fYsizeUser:5:float; fXsizeReal:5:float; fYsizeReal:5:float; fWindowTopX:3:int; fWindowTopY:3:int; \
        fWindowWidth:3:int; fWindowHeight:3:int; fCw:13:unsigned int; fCh:13:unsigned int; \
        fCatt:62:TAttCanvas; kMoveOpaque:18:bool; kResizeOpaque:18:bool; fHighLightColor:2:short; \
        fBatch:18:bool; kShowEventStatus:18:bool; kAutoExec:18:bool; kMenuBar:18:bool"),
    ("RooRealVar", Native::Own, 2..=2, "\
        RooAbsRealLValue 1; _error:8:double; _asymErrLo:8:double; _asymErrHi:8:double; \
        _binning:64:RooAbsBinning*"),
    ("RooRealVar", Native::Own, 3..=3, "\
        RooAbsRealLValue 1; _error:8:double; _asymErrLo:8:double; _asymErrHi:8:double; \
        _binning:64:RooAbsBinning*; _sharedProp:64:RooRealVarSharedProperties*"),
    ("RooRealVar", Native::Own, from(4), "\
        RooAbsRealLValue 1; _error:8:double; _asymErrLo:8:double; _asymErrHi:8:double; \
        _binning:64:RooAbsBinning*; _sharedProp:62:RooRealVarSharedProperties"),
    ("RooCategory", Native::Own, 2..=2, "RooAbsCategoryLValue 1; _sharedProp:62:RooCategorySharedProperties"),
    ("RooRefArray", Native::Own, ANY, "_refArray:62:TRefArray"),
    ("RooWorkspace::CodeRepo", Native::Own, until(1), "_fmap:table 4:TString; _c2fmap:table 2:TString"),
    ("RooWorkspace::CodeRepo", Native::Own, from(2), "\
        _fmap:table 4:TString; _c2fmap:table 2:TString; _ehmap:table 2:TString"),
    ("RooLinkedList", Native::Own, until(1), "TObject; _size:3:int; _items:pointers:TObject*:_size"),
    ("RooLinkedList", Native::Own, from(2), "TObject; _size:3:int; _items:pointers:TObject*:_size; _name:65:TString"),
    ("TXMLSetup", Native::Own, ANY, "\
        fXmlLayout:3:int; fStoreStreamerInfos:18:bool; fUseDtd:18:bool; fUseNamespaces:18:bool"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{Layouts, Member, Value, native};

    #[test]
    fn every_row_is_understood() {
        let file = Layouts::new(Arc::default(), 0);
        for (class, stored, versions, text) in &TABLE {
            let info = spelled(class, 1, &text.replace('@', "double"));
            let name = if *class == SYMMETRIC { "TMatrixTSym<double>" } else { class };
            assert!(native(name) == *stored && matches!(stored, Native::Own | Native::Bare), "{class}");
            assert!(!info.elements.is_empty() && !versions.is_empty(), "{class}");
            for (at, element) in info.elements.iter().enumerate() {
                let value = Member::of(element, &file).value;
                let value = if let Value::Only(_, _, of) = value { (*of).clone() } else { value };
                assert!(value != Value::Unsupported, "{class}::{}", element.name);
                // The counter of a member precedes it, or is in a base.
                let counter = element.counter().filter(|counter| *counter.class == **class);
                let is_before = |name: &str| info.elements[..at].iter().any(|known| &*known.name == name);
                assert!(counter.is_none_or(|counter| is_before(&counter.name)), "{class}::{}", element.name);
            }
        }
    }

    #[test]
    fn versions_are_those_of_the_rows_and_of_the_file() {
        let of = |class, latest| own_versions(class, latest);
        assert_eq!(of("TRef", 1), [ANY_VERSION]);
        assert_eq!(of("TMatrixTSym<double>", 2), [ANY_VERSION]);
        assert_eq!(of("TPolyMarker3D", 0), [3, 2, 1], "also of a file that does not describe it");
        assert_eq!(of("RooRealVar", 5), [5, 4, 3, 2]);
        assert_eq!(of("RooCategory", 3), [2]);
        assert_eq!(of("RooRealVar", i32::MAX).len(), 99, "whatever a file says");
        assert!(of("TNamed", 1).is_empty() && of("TMatrixTSym<long>", 1).is_empty());
    }
}
