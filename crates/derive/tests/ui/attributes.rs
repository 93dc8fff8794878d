use forthwith_derive::Row;

#[derive(Row)]
struct Unknown {
    #[row(rename = "x")]
    one: f32,
    #[row(name = 5)]
    two: f32,
    #[row(name = "a", name = "b")]
    three: f32,
}

#[derive(Row)]
struct Contradiction {
    #[row(name = "muons", prefix = "Muon_")]
    one: Muon,
    #[row(count = "nMuon")]
    two: Muon,
    #[row(prefix = "Muon_", default)]
    three: Muon,
}

#[derive(Row)]
#[row(prefix = "Muon_")]
struct Muon {
    pt: f32,
}

fn main() {}
