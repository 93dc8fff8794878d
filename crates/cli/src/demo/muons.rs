//! Invariant mass of pairs of muons.

use crate::numbers::lists;
use crate::survey::Branch;
use forthwith::Table;

/// Names of the required branches, in lower case and with `_` for `.`.
const POLAR: [&str; 4] = ["muon_pt", "muon_eta", "muon_phi", "muon_charge"];
const CARTESIAN: [&str; 5] = ["muon_px", "muon_py", "muon_pz", "muon_e", "muon_charge"];

/// Maximum number of muons of an entry: the number of pairs grows with the square, and no collision has more.
const MOST: usize = 100;

/// Returns the masses in GeV of all pairs of opposite charge in the first entries, and the names of the
/// branches. Returns `None` if the table lacks these branches or has no pairs.
pub(crate) fn masses(table: &Table, branches: &[Branch], entries: u64) -> Option<(Vec<f64>, String)> {
    let polar = pick(branches, &POLAR);
    let chosen = polar.clone().or_else(|| pick(branches, &CARTESIAN))?;
    let indices: Vec<u32> = chosen.iter().map(|b| b.index).collect();
    let entries = chosen.iter().map(|b| b.entries()).fold(entries, u64::min);
    let plan = table.plan(&indices, 0..entries).ok()?;
    let arrays = table.read(&plan, None, None).ok()?;
    let columns: Vec<_> = arrays.iter().map(lists).collect::<Option<_>>()?;
    let (offsets, _) = columns.first()?;
    if columns.iter().any(|(other, _)| other != offsets) {
        return None;
    }
    let values: Vec<&[f64]> = columns.iter().map(|(_, values)| values.as_slice()).collect();
    let mut masses = Vec::new();
    for pair in offsets.windows(2) {
        let range = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        if range.len() > MOST {
            continue;
        }
        for first in range.clone() {
            for second in first + 1..range.end {
                let at = |column: usize| Some((*values[column].get(first)?, *values[column].get(second)?));
                let (one, other) = at(values.len() - 1)?;
                if one * other < 0.0 {
                    let mass = if polar.is_some() { polar_mass(at)? } else { cartesian_mass(at)? };
                    masses.push(mass);
                }
            }
        }
        // Limits the number of pairs: an entry may contain any number of muons.
        if masses.len() > 10_000_000 {
            break;
        }
    }
    in_gev(&mut masses);
    let names: Vec<_> = chosen.iter().map(|b| b.field.path.as_str()).collect();
    (!masses.is_empty()).then(|| (masses, names.join(", ")))
}

fn pick<'a>(branches: &'a [Branch], wanted: &[&str]) -> Option<Vec<&'a Branch>> {
    let plain = |b: &Branch| b.field.name.to_ascii_lowercase().replace('.', "_");
    wanted.iter().map(|name| branches.iter().find(|b| b.is_readable() && plain(b) == *name)).collect()
}

/// Computes the mass of two particles whose own mass is neglected, which is adequate for muons at these
/// energies.
fn polar_mass(at: impl Fn(usize) -> Option<(f64, f64)>) -> Option<f64> {
    let (pt, eta, phi) = (at(0)?, at(1)?, at(2)?);
    let square = 2.0 * pt.0 * pt.1 * ((eta.0 - eta.1).cosh() - (phi.0 - phi.1).cos());
    Some(square.max(0.0).sqrt())
}

fn cartesian_mass(at: impl Fn(usize) -> Option<(f64, f64)>) -> Option<f64> {
    let sum = |column| at(column).map(|(one, other)| one + other);
    let (x, y, z, energy) = (sum(0)?, sum(1)?, sum(2)?, sum(3)?);
    Some((energy * energy - x * x - y * y - z * z).max(0.0).sqrt())
}

/// Converts MeV to GeV if most masses are above 2000, since some experiments use MeV.
fn in_gev(masses: &mut [f64]) {
    let large = masses.iter().filter(|m| **m > 2000.0).count();
    if large * 2 > masses.len() {
        masses.iter_mut().for_each(|m| *m /= 1000.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_the_same_mass() {
        // Back to back in the transverse plane, 45.6 GeV each.
        let polar = [(45.6, 45.6), (0.0, 0.0), (0.0, std::f64::consts::PI)];
        let cartesian = [(45.6, -45.6), (0.0, 0.0), (0.0, 0.0), (45.6, 45.6)];
        assert!((polar_mass(|at| polar.get(at).copied()).expect("three columns") - 91.2).abs() < 1e-9);
        assert!((cartesian_mass(|at| cartesian.get(at).copied()).expect("four columns") - 91.2).abs() < 1e-9);
        assert_eq!(polar_mass(|_| None), None);
    }

    #[test]
    fn units_are_guessed() {
        let mut masses = [91_000.0, 90_000.0, 5.0];
        in_gev(&mut masses);
        assert_eq!(masses, [91.0, 90.0, 0.005]);
        let mut masses = [91.0, 3000.0, 5.0];
        in_gev(&mut masses);
        assert_eq!(masses, [91.0, 3000.0, 5.0]);
    }
}
