//! What classes with code of their own store, as steps.

use forthwith_plan::Result;

use super::layout::{Compiler, Step};
use crate::class::{Native, native};
use crate::cpp::Basic;
use crate::streamer::{Element, ElementKind};

impl Compiler<'_> {
    /// Adds the steps of a class that ROOT streams by code of its own. False if this version is not known.
    pub(super) fn own(&mut self, class: &str, version: i32, depth: usize) -> Result<bool> {
        match class {
            "TRef" => {
                self.tobject();
                self.step("pid", Step::Process);
            }
            "TDatime" => self.number_of("fDatime", Basic::U32),
            "TRefArray" => {
                self.tobject();
                self.step("fName", Step::Text);
                self.number_of("fSize", Basic::I32);
                self.number_of("fLowerBound", Basic::I32);
                self.number_of("fPID", Basic::U16);
                self.bare("fUIDs", Basic::U32, "fSize", 1);
            }
            "TTreeIndex" => {
                self.base_of("TVirtualIndex", 1, depth)?;
                self.step("fMajorName", Step::Text);
                self.step("fMinorName", Step::Text);
                self.number_of("fN", Basic::I64);
                self.bare("fIndexValues", Basic::I64, "fN", 1);
                if version > 1 {
                    self.bare("fIndexValuesMinor", Basic::I64, "fN", 1);
                }
                self.bare("fIndex", Basic::I64, "fN", 1);
            }
            "TPolyMarker3D" => {
                self.tobject();
                self.base_of("TAttMarker", 2, depth)?;
                self.number_of("fN", Basic::I32);
                self.bare("fP", Basic::F32, "fN", 3);
                self.step("fOption", Step::Text);
                if version > 2 {
                    self.step("fName", Step::Text);
                }
            }
            "TPolyLine3D" => {
                self.tobject();
                self.base_of("TAttLine", 2, depth)?;
                self.number_of("fN", Basic::I32);
                self.bare("fP", Basic::F32, "fN", 3);
                self.step("fOption", Step::Text);
            }
            "TExMap" => {
                self.tobject();
                let row: &[Basic] = match version {
                    // Without the place in the table.
                    ..=1 => &[Basic::U64, Basic::I64, Basic::I64],
                    _ => {
                        self.number_of("fSize", Basic::I32);
                        &[Basic::I32, Basic::U64, Basic::I64, Basic::I64]
                    }
                };
                self.number_of("fTally", Basic::I32);
                if let Some(rows) = self.slot("fTally") {
                    self.step("fTable", Step::Rows(row.into(), rows));
                }
            }
            "TMaterial" => {
                self.base_of("TNamed", 1, depth)?;
                self.number_of("fNumber", Basic::I32);
                for name in ["fA", "fZ", "fDensity"] {
                    self.number_of(name, Basic::F32);
                }
                if version > 2 {
                    self.base_of("TAttFill", 2, depth)?;
                    self.number_of("fRadLength", Basic::F32);
                    self.number_of("fInterLength", Basic::F32);
                }
            }
            "TMixture" => {
                self.base_of("TMaterial", 3, depth)?;
                self.number_of("fNmixt", Basic::I32);
                for name in ["fAmixt", "fZmixt", "fWmixt"] {
                    self.step(name, Step::Sized(Basic::F32));
                }
            }
            "TImagePalette" => {
                self.tobject();
                self.number_of("fNumPoints", Basic::U32);
                self.bare("fPoints", Basic::F64, "fNumPoints", 1);
                for name in ["fColorRed", "fColorGreen", "fColorBlue", "fColorAlpha"] {
                    self.bare(name, Basic::U16, "fNumPoints", 1);
                }
            }
            // Of version 1 there are two, which the version of ROOT tells apart.
            "TASImage" if version > 1 => {
                self.base_of("TNamed", 1, depth)?;
                self.number_of("is_png", Basic::Bool);
                let Some(is_png) = self.slot("is_png") else { return Ok(false) };
                let mut only = |name: &str, of: Step, when| {
                    self.step(name, Step::Only(is_png, when, Box::new(of)));
                };
                only("png", Step::Sized(Basic::U8), true);
                only("TAttImage", Step::Embedded("TAttImage".into()), false);
                only("width", Step::Number(Basic::I32), false);
                only("height", Step::Number(Basic::I32), false);
                if let Some((width, height)) = self.slot("width").zip(self.slot("height")) {
                    let vector = Step::Area(Basic::F64, width, height);
                    self.step("vector", Step::Only(is_png, false, Box::new(vector)));
                }
            }
            "TCanvas" if version > 3 => {
                self.base_of("TPad", 0, depth)?;
                self.step("fDISPLAY", Step::Text);
                self.number_of("fDoubleBuffer", Basic::I32);
                self.number_of("fRetained", Basic::Bool);
                for name in [
                    "fXsizeUser",
                    "fYsizeUser",
                    "fXsizeReal",
                    "fYsizeReal",
                    "fWindowTopX",
                    "fWindowTopY",
                    "fWindowWidth",
                    "fWindowHeight",
                ] {
                    let basic = if name.contains("size") { Basic::F32 } else { Basic::I32 };
                    self.number_of(name, basic);
                }
                self.number_of("fCw", Basic::U32);
                self.number_of("fCh", Basic::U32);
                self.step("fCatt", Step::Embedded("TAttCanvas".into()));
                self.number_of("kMoveOpaque", Basic::Bool);
                self.number_of("kResizeOpaque", Basic::Bool);
                self.number_of("fHighLightColor", Basic::I16);
                self.number_of("fBatch", Basic::Bool);
                self.number_of("kShowEventStatus", Basic::Bool);
                self.number_of("kAutoExec", Basic::Bool);
                self.number_of("kMenuBar", Basic::Bool);
            }
            "RooRealVar" if version > 3 => {
                self.base_of("RooAbsRealLValue", 1, depth)?;
                self.number_of("_error", Basic::F64);
                self.number_of("_asymErrLo", Basic::F64);
                self.number_of("_asymErrHi", Basic::F64);
                self.step("_binning", Step::Pointer);
                self.step("_sharedProp", Step::Embedded("RooRealVarSharedProperties".into()));
            }
            "RooRealVar" if version > 1 => {
                self.base_of("RooAbsRealLValue", 1, depth)?;
                self.number_of("_error", Basic::F64);
                self.number_of("_asymErrLo", Basic::F64);
                self.number_of("_asymErrHi", Basic::F64);
                self.step("_binning", Step::Pointer);
                if version > 2 {
                    self.step("_sharedProp", Step::Pointer);
                }
            }
            "RooCategory" if version == 2 => {
                self.base_of("RooAbsCategoryLValue", 1, depth)?;
                self.step("_sharedProp", Step::Embedded("RooCategorySharedProperties".into()));
            }
            "RooRefArray" => self.step("_refArray", Step::Embedded("TRefArray".into())),
            "RooWorkspace::CodeRepo" => {
                self.step("_fmap", Step::Table(4));
                self.step("_c2fmap", Step::Table(2));
                if version > 1 {
                    self.step("_ehmap", Step::Table(2));
                }
            }
            "RooLinkedList" => {
                self.tobject();
                self.number_of("_size", Basic::I32);
                if let Some(size) = self.slot("_size") {
                    self.step("_items", Step::Links(size));
                }
                if version > 1 {
                    self.step("_name", Step::Text);
                }
            }
            _ => {
                let Some(item) = class.strip_prefix("TMatrixTSym<").and_then(|rest| rest.strip_suffix('>'))
                else {
                    return Ok(false);
                };
                let basic = match item.trim() {
                    "double" => Basic::F64,
                    "float" => Basic::F32,
                    _ => return Ok(false),
                };
                self.base_of(&class.replacen("TMatrixTSym", "TMatrixTBase", 1), 0, depth)?;
                if let Some(rows) = self.slot("fNrows") {
                    self.step("fElements", Step::Triangle(basic, rows));
                }
            }
        }
        Ok(true)
    }

    fn number_of(&mut self, name: &str, basic: Basic) {
        self.step(name, Step::Number(basic));
    }

    fn bare(&mut self, name: &str, basic: Basic, counter: &str, times: u32) {
        if let Some(counter) = self.slot(counter) {
            self.step(name, Step::Bare(basic, counter, times));
        }
    }

    /// A base, in the version that the file has, or else in this one.
    fn base_of(&mut self, class: &str, version: i32, depth: usize) -> Result<()> {
        debug_assert!(matches!(native(class), Native::ByInfo | Native::Own));
        let known = self.streamers.latest(class)?.map(|info| info.version);
        let element = Element {
            kind: ElementKind::Base { version: None, checksum: 0 },
            name: class.into(),
            title: "".into(),
            code: 0,
            size: 0,
            array_length: 0,
            dimensions: Vec::new(),
            type_name: "BASE".into(),
            packing: None,
        };
        self.base(&element, Some(known.unwrap_or(version)), 0, depth)
    }
}
