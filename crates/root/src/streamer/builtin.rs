//! Infos of the classes that trees are made of, of histograms and graphs, and of small classes that are
//! members of others, for files that do not carry them: very old ones, and stripped ones.

use std::sync::Arc;

use forthwith_platform::ProcessOnce;

use super::{StreamerInfo, text::info};

/// Returns the built-in info of a class in a version.
pub(crate) fn builtin(class: &str, version: i32) -> Option<Arc<StreamerInfo>> {
    infos().iter().find(|info| &*info.class == class && info.version == version).cloned()
}

/// Returns the built-in infos of all versions of a class, the latest first.
pub(crate) fn builtin_versions(class: &str) -> Vec<Arc<StreamerInfo>> {
    let mut found: Vec<_> = infos().iter().filter(|info| &*info.class == class).cloned().collect();
    found.sort_by_key(|info| std::cmp::Reverse(info.version));
    found
}

/// Class, version, checksum and elements.
pub(crate) type Row = (&'static str, i32, u32, &'static str);

/// Returns the rows of versions that are written.
pub(crate) fn written() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(|row| row.2 != 0)
}

/// Returns all built-in infos, which are made once.
pub(super) fn infos() -> &'static [Arc<StreamerInfo>] {
    static INFOS: ProcessOnce<Vec<Arc<StreamerInfo>>> = ProcessOnce::new();
    INFOS.get_or_make(|| {
        let mut made = Vec::with_capacity(TABLE.len());
        for (class, version, _, text) in TABLE {
            let info = row(&made, class, *version, text);
            made.push(Arc::new(info));
        }
        made
    })
}

/// Returns the info of a row. `before` are those of earlier rows.
fn row(before: &[Arc<StreamerInfo>], class: &str, version: i32, text: &str) -> StreamerInfo {
    let Some(text) = text.strip_prefix("= ") else { return info(class, version, text) };
    let mut parts = text.split("; ");
    let like = parts.next().and_then(|version| version.parse().ok());
    let like = before.iter().find(|info| &*info.class == class && Some(info.version) == like);
    let mut elements = like.map_or_else(Vec::new, |info| info.elements.clone());
    for part in parts {
        let (behind, part) = part.split_once(" > ").unwrap_or(("", part));
        for element in info(class, version, part).elements {
            let place = |name: &str| elements.iter().position(|known| &*known.name == name);
            match (place(&element.name), place(behind)) {
                (Some(same), _) => elements[same] = element,
                (None, Some(behind)) => elements.insert(behind + 1, element),
                (None, None) => elements.push(element),
            }
        }
    }
    StreamerInfo { class: class.into(), version, checksum: 0, elements }
}

/// Returns the info of a class whose members have branches of their own. A whole `TObject` does not follow
/// one.
#[must_use]
pub fn builtin_divided(class: &str, version: i32) -> Option<Arc<StreamerInfo>> {
    let object = || Arc::new(info(class, version, "fUniqueID:13:unsigned int; fBits:15:unsigned int"));
    if (class, version) == ("TObject", 1) { Some(object()) } else { builtin(class, version) }
}

/// From the infos in files, except for the versions before there were any: `TTree` up to 4, `TBranch` up to
/// 6, `TLeaf` 1. Those follow what ROOT did by code of its own; their arrays have a count in front, as
/// `TArrayI` has. `TF1` 7 and `TFormula` are those of ROOT 3 to 5, which ROOT 6 has classes of their own for
/// (`ROOT::v5::TF1Data` and `ROOT::v5::TFormula`): 5, 7 and 8 as files of 3.10, 4.04 and 5.34 describe them,
/// 4 as ROOT 3.02 declares it. There is no 6.
///
/// `= 9` stands for the elements of version 9, in a row before. An element behind it takes the place of the one of its
/// name; a new one comes last, or after the one that is named before `>`.
///
/// The third is the checksum of a class in the version that ROOT 6.40 writes, and so do we; 0 of other versions.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("ROOT::TIOFeatures", 1, 0x1aa1_2f10, "fIOBits:11:unsigned char"),
    ("TAtt3D", 1, 0x0000_757a, ""),
    ("TAttFill", 1, 0, "fFillColor:2:short; fFillStyle:2:short"),
    ("TAttFill", 2, 0xffd9_2a92, "= 1"),
    ("TAttLine", 1, 0, "fLineColor:2:short; fLineStyle:2:short; fLineWidth:2:short"),
    ("TAttLine", 2, 0x9407_4549, "= 1"),
    ("TAttText", 2, 0, "\
        fTextAngle:5:float; fTextSize:5:float; fTextAlign:2:short; fTextColor:2:short; fTextFont:2:short"),
    ("TAttMarker", 1, 0, "fMarkerColor:2:short; fMarkerStyle:2:short; fMarkerSize:5:float"),
    ("TAttMarker", 2, 0, "= 1"),
    ("TAttMarker", 3, 0x291d_8bec, "= 2"),
    ("TBranch", 1, 0, "\
        TNamed 1; fCompress:3:int; fBasketSize:3:int; fEntryOffsetLen:3:int; fMaxBaskets:6:int; \
        fWriteBasket:3:int; fEntryNumber:3:int; fEntries:8:double; fTotBytes:8:double; fZipBytes:8:double; \
        fOffset:3:int; fBranches:61:TObjArray; fLeaves:61:TObjArray; fBaskets:61:TObjArray; \
        fBasketEntry:62:TArrayI"),
    ("TBranch", 2, 0, "= 1; fBasketSeek:62:TArrayI"),
    ("TBranch", 3, 0, "= 2; fFileName:65:TString"),
    ("TBranch", 4, 0, "= 3"),
    ("TBranch", 5, 0, "= 4; fBasketEntry > fBasketBytes:62:TArrayI"),
    ("TBranch", 6, 0, "\
        TNamed 1; fCompress:3:int; fBasketSize:3:int; fEntryOffsetLen:3:int; fWriteBasket:3:int; \
        fEntryNumber:3:int; fOffset:3:int; fMaxBaskets:6:int; fEntries:8:double; fTotBytes:8:double; \
        fZipBytes:8:double; fBranches:61:TObjArray; fLeaves:61:TObjArray; fBaskets:61:TObjArray; \
        fBasketBytes:43:int*:fMaxBaskets; fBasketEntry:43:int*:fMaxBaskets; \
        fBasketSeek:43:int*:fMaxBaskets; fFileName:65:TString"),
    ("TBranch", 7, 0, "= 6; fMaxBaskets > fSplitLevel:3:int"),
    ("TBranch", 8, 0, "= 7; TNamed > TAttFill 1"),
    ("TBranch", 9, 0, "= 8; fBasketSeek:56:Long64_t*:fMaxBaskets"),
    ("TBranch", 10, 0, "\
        = 9; fEntryNumber:16:Long64_t; fEntries:16:Long64_t; fTotBytes:16:Long64_t; fZipBytes:16:Long64_t; \
        fBasketEntry:56:Long64_t*:fMaxBaskets"),
    ("TBranch", 11, 0, "= 10; fEntries > fFirstEntry:16:Long64_t"),
    ("TBranch", 12, 0, "= 11; TAttFill 2"),
    ("TBranch", 13, 0x1097_8aac, "= 12; fEntryNumber > fIOFeatures:62:ROOT::TIOFeatures"),
    ("TBranchElement", 1, 0, "\
        TBranch 8; fClassName:65:TString; fClassVersion:3:int; fID:3:int; fType:3:int; \
        fStreamerType:3:int"),
    ("TBranchElement", 7, 0, "\
        TBranch 8; fClassName:65:TString; fParentName:65:TString; fClonesName:65:TString; \
        fClassVersion:3:int; fID:3:int; fType:3:int; fStreamerType:3:int; fMaximum:3:int; \
        fBranchCount:64:TBranchElement*; fBranchCount2:64:TBranchElement*"),
    ("TBranchElement", 8, 0, "= 7; TBranch 9; fClonesName > fCheckSum:13:unsigned int"),
    ("TBranchElement", 9, 0, "= 8; TBranch 12"),
    ("TBranchElement", 10, 0xe74f_5e63, "= 9; TBranch 13; fClassVersion:2:short"),
    ("TBranchObject", 1, 0, "TBranch 8; fClassName:65:TString"),
    ("TBranchRef", 1, 0x2360_b3fd, "TBranch 13; fRefTable:64:TRefTable*"),
    ("TBranchSTL", 1, 0, "\
        TBranch 13; fContName:65:TString; fClassName:65:TString; fClassVersion:3:int; fClCheckSum:13:unsigned int; \
        fID:3:int"),
    ("TComplex", 1, 0, "fRe:8:double; fIm:8:double"),
    ("TF1", 7, 0, "\
        TFormula 8; TAttLine 2; TAttFill 2; TAttMarker 2; fXmin:8:double; fXmax:8:double; fNpx:3:int; \
        fType:3:int; fNpfits:3:int; fNDF:3:int; fNsave:6:int; fChisquare:8:double; \
        fParErrors:48:double*:TFormula.fNpar; fParMin:48:double*:TFormula.fNpar; \
        fParMax:48:double*:TFormula.fNpar; fSave:48:double*:fNsave; fMaximum:8:double; fMinimum:8:double"),
    ("TFormula", 4, 0, "\
        TNamed 1; fNdim:3:int; fNpar:6:int; fNoper:6:int; fNconst:6:int; fNumber:3:int; fNval:3:int; \
        fNstring:3:int; fExpr:501:TString*:fNoper; fOper:43:int*:fNoper; fConst:48:double*:fNconst; \
        fParams:48:double*:fNpar; fNames:501:TString*:fNpar"),
    ("TFormula", 5, 0, "= 4; fFunctions:61:TObjArray"),
    ("TFormula", 7, 0, "= 5"),
    ("TFormula", 8, 0, "= 7; fLinearParts:61:TObjArray"),
    ("TFriendElement", 2, 0x2771_167d, "TNamed 1; fTreeName:65:TString; fOwnFile:18:bool"),
    ("TLeaf", 1, 0, "\
        TNamed 1; fLen:3:int; fLenType:3:int; fOffset:3:int; fIsRange:18:bool; \
        fIsUnsigned:18:bool; fLeafCount:64:TLeaf*"),
    ("TLeaf", 2, 0x6d1e_8152, "= 1"),
    ("TLeafB", 1, 0x0f1e_4b5e, "TLeaf 2; fMinimum:1:char; fMaximum:1:char"),
    ("TLeafC", 1, 0xfbe3_b2f3, "TLeaf 2; fMinimum:3:int; fMaximum:3:int"),
    ("TLeafD", 1, 0x118e_8776, "TLeaf 2; fMinimum:8:double; fMaximum:8:double"),
    ("TLeafD32", 1, 0, "TLeaf 2; fMinimum:9:Double32_t; fMaximum:9:Double32_t"),
    ("TLeafD32", 2, 0xe1dc_6401, "= 1"),
    ("TLeafElement", 1, 0xa04f_8893, "TLeaf 2; fID:3:int; fType:3:int"),
    ("TLeafF", 1, 0x3add_9d72, "TLeaf 2; fMinimum:5:float; fMaximum:5:float"),
    ("TLeafF16", 1, 0, "TLeaf 2; fMinimum:19:Float16_t; fMaximum:19:Float16_t"),
    ("TLeafF16", 2, 0xeb35_f883, "= 1"),
    ("TLeafG", 1, 0xeca7_1cb7, "TLeaf 2; fMinimum:16:long; fMaximum:16:long"),
    ("TLeafI", 1, 0x7e6a_ae19, "TLeaf 2; fMinimum:3:int; fMaximum:3:int"),
    ("TLeafL", 1, 0xde32_0862, "TLeaf 2; fMinimum:16:Long64_t; fMaximum:16:Long64_t"),
    ("TLeafO", 1, 0x02ae_48d3, "TLeaf 2; fMinimum:18:bool; fMaximum:18:bool"),
    ("TLeafObject", 4, 0, "TLeaf 2; fVirtual:18:bool"),
    ("TLeafS", 1, 0x150c_eecf, "TLeaf 2; fMinimum:2:short; fMaximum:2:short"),
    ("TLorentzVector", 4, 0, "TObject 1; fP:61:TVector3; fE:8:double"),
    ("TNamed", 1, 0xdfb7_4a3c, "TObject 1; fName:65:TString; fTitle:65:TString"),
    ("TNtuple", 2, 0, "TTree 20; fNvar:3:int"),
    ("TNtupleD", 1, 0, "TTree 20; fNvar:3:int"),
    ("TObjString", 1, 0x9c8e_4800, "TObject 1; fString:65:TString"),
    ("TParameter<Long64_t>", 2, 0xd96d_1750, "TObject 1; fName:65:TString; fVal:16:Long64_t"),
    ("TParameter<bool>", 2, 0xc678_6bac, "TObject 1; fName:65:TString; fVal:18:bool"),
    ("TParameter<double>", 2, 0x755b_05d8, "TObject 1; fName:65:TString; fVal:8:double"),
    ("TParameter<float>", 2, 0x5339_8bb2, "TObject 1; fName:65:TString; fVal:5:float"),
    ("TParameter<int>", 2, 0xfe85_57f8, "TObject 1; fName:65:TString; fVal:3:int"),
    ("TRefTable", 2, 0, "\
        TObject 1; fSize:6:int; fN:3:int; fParentIDs:43:int*:fSize; fParentID:3:int; \
        fParents:64:TObjArray*; fOwner:64:TObject*"),
    ("TRefTable", 3, 0x8c89_5b85, "\
        TObject 1; fSize:3:int; fParents:64:TObjArray*; fOwner:64:TObject*; \
        fProcessGUIDs:500:vector<string>"),
    ("TAttAxis", 4, 0x5c6f_ff3e, "\
        fNdivisions:3:int; fAxisColor:2:short; fLabelColor:2:short; fLabelFont:2:short; \
        fLabelOffset:5:float; fLabelSize:5:float; fTickLength:5:float; fTitleOffset:5:float; \
        fTitleSize:5:float; fTitleColor:2:short; fTitleFont:2:short"),
    ("TAxis", 10, 0x5a49_6e70, "\
        TNamed 1; TAttAxis 4; fNbins:3:int; fXmin:8:double; fXmax:8:double; fXbins:62:TArrayD; \
        fFirst:3:int; fLast:3:int; fBits2:12:unsigned short; fTimeDisplay:18:bool; \
        fTimeFormat:65:TString; fLabels:64:THashList*; fModLabs:64:TList*"),
    ("TGraph", 5, 0xb932_984f, "\
        TNamed 1; TAttLine 2; TAttFill 2; TAttMarker 3; fNpoints:6:int; fX:48:double*:fNpoints; \
        fY:48:double*:fNpoints; fFunctions:64:TList*; fHistogram:64:TH1F*; fMinimum:8:double; \
        fMaximum:8:double; fOption:65:TString"),
    ("TGraphAsymmErrors", 3, 0x206d_5315, "\
        TGraph 5; fEXlow:48:double*:TGraph.fNpoints; fEXhigh:48:double*:TGraph.fNpoints; \
        fEYlow:48:double*:TGraph.fNpoints; fEYhigh:48:double*:TGraph.fNpoints"),
    ("TGraphErrors", 3, 0xbdad_b119, "TGraph 5; fEX:48:double*:TGraph.fNpoints; fEY:48:double*:TGraph.fNpoints"),
    ("TH1", 8, 0x1c37_40c4, "\
        TNamed 1; TAttLine 2; TAttFill 2; TAttMarker 3; fNcells:3:int; fXaxis:61:TAxis; \
        fYaxis:61:TAxis; fZaxis:61:TAxis; fBarOffset:2:short; fBarWidth:2:short; fEntries:8:double; \
        fTsumw:8:double; fTsumw2:8:double; fTsumwx:8:double; fTsumwx2:8:double; fMaximum:8:double; \
        fMinimum:8:double; fNormFactor:8:double; fContour:62:TArrayD; fSumw2:62:TArrayD; \
        fOption:65:TString; fFunctions:63:TList*; fBufferSize:6:int; \
        fBuffer:48:double*:fBufferSize; fBinStatErrOpt:3:TH1::EBinErrorOpt; \
        fStatOverflows:3:TH1::EStatOverflows"),
    ("TH1D", 3, 0xf9b1_569f, "TH1 8; TArrayD 1"),
    ("TH1F", 3, 0xe293_9644, "TH1 8; TArrayF 1"),
    ("TH1I", 3, 0x6275_64f6, "TH1 8; TArrayI 1"),
    ("TH1S", 3, 0x8c4d_9dcb, "TH1 8; TArrayS 1"),
    ("TH1C", 3, 0x36f6_e4ad, "TH1 8; TArrayC 1"),
    ("TH2", 5, 0x0182_347f, "TH1 8; fScalefactor:8:double; fTsumwy:8:double; fTsumwy2:8:double; fTsumwxy:8:double"),
    ("TH2D", 4, 0x7fba_82f0, "TH2 5; TArrayD 1"),
    ("TH2F", 4, 0x689c_c295, "TH2 5; TArrayF 1"),
    ("TH3", 6, 0x42d2_445f, "\
        TH1 8; TAtt3D 1; fTsumwy:8:double; fTsumwy2:8:double; fTsumwxy:8:double; fTsumwz:8:double; \
        fTsumwz2:8:double; fTsumwxz:8:double; fTsumwyz:8:double"),
    ("TH3D", 4, 0x64b9_ff86, "TH3 6; TArrayD 1"),
    ("TMatrixTBase<double>", 5, 0, "\
        TObject 1; fNrows:3:int; fNcols:3:int; fRowLwb:3:int; fColLwb:3:int; fNelems:3:int; fNrowIndex:3:int; \
        fTol:8:double"),
    ("TMatrixTBase<float>", 5, 0, "\
        TObject 1; fNrows:3:int; fNcols:3:int; fRowLwb:3:int; fColLwb:3:int; fNelems:3:int; fNrowIndex:3:int; \
        fTol:5:float"),
    ("TProfile", 7, 0x4bed_ee54, "\
        TH1D 3; fBinEntries:62:TArrayD; fErrorMode:3:EErrorType; fYmin:8:double; fYmax:8:double; \
        fTsumwy:8:double; fTsumwy2:8:double; fBinSumw2:62:TArrayD"),
    ("TProfile2D", 8, 0x36a1_42ac, "\
        TH2D 4; fBinEntries:62:TArrayD; fErrorMode:3:EErrorType; fZmin:8:double; fZmax:8:double; \
        fTsumwz:8:double; fTsumwz2:8:double; fBinSumw2:62:TArrayD"),
    // Of these the file has no info, since they are written by code that was generated of their members.
    ("TAttImage", 1, 0, "\
        fImageQuality:3:TAttImage::EImageQuality; fImageCompression:13:unsigned int; fConstRatio:18:bool; \
        fPalette:61:TImagePalette"),
    ("TChainElement", 2, 0, "TNamed 1; fEntries:16:Long64_t; fNPackets:3:int; fPacketSize:3:int; fStatus:3:int"),
    ("TKeyMapFile", 1, 0, "TObject 1; fName:65:TString; fTitle:65:TString"),
    ("TPluginManager", 1, 0, "TObject 1; fHandlers:64:TList*"),
    ("TRecorder", 2, 0, "TObject 1; fFilename:65:TString"),
    ("TUri", 1, 0, "\
        TObject 1; fScheme:65:TString; fUserinfo:65:TString; fHost:65:TString; fPort:65:TString; \
        fPath:65:TString; fQuery:65:TString; fFragment:65:TString; fHasScheme:18:bool; \
        fHasUserinfo:18:bool; fHasHost:18:bool; fHasPort:18:bool; fHasPath:18:bool; \
        fHasQuery:18:bool; fHasFragment:18:bool"),
    ("TUrl", 1, 0, "\
        TObject 1; fUrl:65:TString; fProtocol:65:TString; fUser:65:TString; fPasswd:65:TString; \
        fHost:65:TString; fFile:65:TString; fAnchor:65:TString; fOptions:65:TString; fPort:3:int"),
    ("TTime", 1, 0, "fMilliSec:4:long"),
    ("TTime", 2, 0, "fMilliSec:16:Long64_t"),
    ("TTimeStamp", 1, 0, "fSec:3:int; fNanoSec:3:int"),
    ("TTree", 1, 0, "\
        TNamed 1; TAttLine 1; TAttFill 1; TAttMarker 1; fScanField:3:int; fMaxEntryLoop:3:int; \
        fMaxVirtualSize:3:int; fEntries:8:double; fTotBytes:8:double; fZipBytes:8:double; fAutoSave:3:int; \
        fEstimate:3:int; fBranches:61:TObjArray; fLeaves:61:TObjArray"),
    ("TTree", 2, 0, "= 1; fIndexValues:62:TArrayD"),
    ("TTree", 3, 0, "= 2; fIndex:62:TArrayI"),
    ("TTree", 4, 0, "= 3; fOldInfoList:61:TList"),
    ("TTree", 5, 0, "\
        TNamed 1; TAttLine 1; TAttFill 1; TAttMarker 1; fEntries:8:double; fTotBytes:8:double; \
        fZipBytes:8:double; fSavedBytes:8:double; fTimerInterval:3:int; fScanField:3:int; \
        fUpdate:3:int; fMaxEntryLoop:3:int; fMaxVirtualSize:3:int; fAutoSave:3:int; \
        fEstimate:3:int; fBranches:61:TObjArray; fLeaves:61:TObjArray; fIndexValues:62:TArrayD; \
        fIndex:62:TArrayI"),
    ("TTree", 8, 0, "= 5; fSavedBytes > fWeight:8:double; fFriends:64:TList*"),
    ("TTree", 9, 0, "= 8"),
    ("TTree", 10, 0, "= 9; fLeaves > fAliases:64:TList*"),
    ("TTree", 11, 0, "= 10; fUserInfo:64:TList*"),
    ("TTree", 15, 0, "\
        = 11; fEntries:16:Long64_t; fTotBytes:16:Long64_t; fZipBytes:16:Long64_t; fSavedBytes:16:Long64_t; \
        fUpdate > fMaxEntries:16:Long64_t; fMaxEntryLoop:16:Long64_t; fMaxVirtualSize:16:Long64_t; \
        fAutoSave:16:Long64_t; fEstimate:16:Long64_t; fIndex > fTreeIndex:64:TVirtualIndex*; \
        fBranchRef:64:TBranchRef*"),
    ("TTree", 16, 0, "= 15; TAttMarker 2"),
    ("TTree", 18, 0, "\
        = 16; fSavedBytes > fFlushedBytes:16:Long64_t; fUpdate > fDefaultEntryOffsetLen:3:int; \
        fAutoSave > fAutoFlush:16:Long64_t"),
    ("TTree", 19, 0, "\
        = 18; TAttLine 2; TAttFill 2; fDefaultEntryOffsetLen > fNClusterRange:6:int; \
        fEstimate > fClusterRangeEnd:56:Long64_t*:fNClusterRange; \
        fClusterRangeEnd > fClusterSize:56:Long64_t*:fNClusterRange"),
    ("TTree", 20, 0x7264_e07f, "= 19; TAttMarker 3; fClusterSize > fIOFeatures:62:ROOT::TIOFeatures"),
    ("TVector2", 3, 0, "TObject 1; fX:8:double; fY:8:double"),
    ("TVector3", 3, 0, "TObject 1; fX:8:double; fY:8:double; fZ:8:double"),
    ("TVirtualIndex", 1, 0x3c18_25a4, "TNamed 1"),
];

#[cfg(test)]
mod tests {
    use super::{Row, TABLE, builtin};
    use crate::streamer::ElementKind;

    /// Bases that need no info: how they are stored does not follow from one.
    fn stands_alone(class: &str) -> bool {
        class == "TObject" || class.starts_with("TArray")
    }

    #[test]
    fn the_table_is_complete_in_itself() {
        for (row, (class, version, _, text)) in TABLE.iter().enumerate() {
            let info = builtin(class, *version).expect("in the table");
            if let Some((like, changes)) =
                text.strip_prefix("= ").map(|rest| rest.split_once(';').unwrap_or((rest, "")))
            {
                let is_like = |(of, version, ..): &&Row| of == class && version.to_string() == like;
                assert_eq!(TABLE[..row].iter().filter(is_like).count(), 1, "{class} {version}: like {like}");
                for (behind, _) in changes.split(';').filter_map(|change| change.split_once('>')) {
                    assert!(
                        info.elements.iter().any(|known| &*known.name == behind.trim()),
                        "{class}: {behind}"
                    );
                }
            }
            for element in &info.elements {
                match &element.kind {
                    ElementKind::Base { version, .. } if !stands_alone(&element.name) => {
                        let version = version.expect("bases have a version");
                        assert!(builtin(&element.name, version).is_some(), "{class}: {}", element.name);
                    }
                    ElementKind::Base { .. } => {}
                    ElementKind::BasicPointer(counter) | ElementKind::Loop(counter) => {
                        let versions = (1..30).filter_map(|version| builtin(&counter.class, version));
                        let mut of =
                            if *counter.class == **class { vec![info.clone()] } else { versions.collect() };
                        of.retain(|info| info.elements.iter().any(|other| other.name == counter.name));
                        assert!(!of.is_empty(), "{class}: {element:?}");
                        let is_loop = matches!(element.kind, ElementKind::Loop(_));
                        let codes = if is_loop { 501..502 } else { 41..60 };
                        assert!(codes.contains(&element.code), "{class}: {element:?}");
                    }
                    _ => assert!(element.code > 0 && !element.type_name.is_empty(), "{class}: {element:?}"),
                }
            }
        }
        assert!(builtin("TTree", 0).is_none());
    }
    /// As files of ROOT 6 describe it.
    #[test]
    fn rows_that_say_what_changed_give_whole_infos() {
        let info = builtin("TBranch", 13).expect("in the table");
        let spelled: Vec<_> = info.elements.iter().map(|e| (&*e.name, e.code, &*e.type_name)).collect();
        assert_eq!(
            spelled,
            [
                ("TNamed", 67, "BASE"),
                ("TAttFill", 0, "BASE"),
                ("fCompress", 3, "int"),
                ("fBasketSize", 3, "int"),
                ("fEntryOffsetLen", 3, "int"),
                ("fWriteBasket", 3, "int"),
                ("fEntryNumber", 16, "Long64_t"),
                ("fIOFeatures", 62, "ROOT::TIOFeatures"),
                ("fOffset", 3, "int"),
                ("fMaxBaskets", 6, "int"),
                ("fSplitLevel", 3, "int"),
                ("fEntries", 16, "Long64_t"),
                ("fFirstEntry", 16, "Long64_t"),
                ("fTotBytes", 16, "Long64_t"),
                ("fZipBytes", 16, "Long64_t"),
                ("fBranches", 61, "TObjArray"),
                ("fLeaves", 61, "TObjArray"),
                ("fBaskets", 61, "TObjArray"),
                ("fBasketBytes", 43, "int*"),
                ("fBasketEntry", 56, "Long64_t*"),
                ("fBasketSeek", 56, "Long64_t*"),
                ("fFileName", 65, "TString"),
            ]
        );
        assert_eq!(info.elements[1].kind, ElementKind::Base { version: Some(2), checksum: 0 });
    }
}
