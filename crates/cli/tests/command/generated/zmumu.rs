// Made by `forthwith gen rust zmumu.root:events`.

use forthwith::{Row, rows::List};

/// An item of the columns `Muon_…`.
#[derive(Row)]
pub struct Muon {
    pub pt: f32,
    pub eta: f32,
    pub phi: f32,
    pub charge: i32,
    #[row(name = "tightId")]
    pub tight_id: bool,
}

/// A row of `zmumu.root:events`.
#[derive(Row)]
pub struct Event<'a> {
    pub run: u32,
    #[row(name = "luminosityBlock")]
    pub luminosity_block: u32,
    pub event: u64,
    pub weight: f64,
    #[row(name = "MET_pt")]
    pub met_pt: f32,
    #[row(name = "MET_phi")]
    pub met_phi: f32,
    #[row(name = "PV_xyz")]
    pub pv_xyz: [f32; 3],
    #[row(name = "nPV")]
    pub n_pv: u8,
    #[row(name = "HLT_IsoMu24")]
    pub hlt_iso_mu24: bool,
    #[row(name = "HLT_Mu17_Mu8")]
    pub hlt_mu17_mu8: bool,
    #[row(prefix = "Muon_", count = "nMuon")]
    pub muon: List<'a, Muon>,
    #[row(name = "Track_hits")]
    pub track_hits: List<'a, &'a [f32]>,
    #[row(name = "Track_clusters")]
    pub track_clusters: List<'a, List<'a, &'a [f32]>>,
    pub triggers: List<'a, &'a str>,
    pub dataset: &'a str,
    pub generator: &'a str,
}
