//! Suggestions for a name that does not exist.

/// The candidates most similar to `name`, best first: at most three, and none if nothing comes close.
pub fn similar_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(MAX_LENGTH).collect();
    let limit = wanted.len().div_ceil(3).clamp(1, 4);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let letters: Vec<char> = candidate.to_lowercase().chars().take(MAX_LENGTH).collect();
        // A name with something before or behind it is close, too; a single letter would be everywhere.
        let contained = wanted.len() > 2 && candidate.to_lowercase().contains(&name.to_lowercase());
        let distance = if contained { 1 } else { distance(&wanted, &letters, limit) };
        if distance <= limit && !found.iter().any(|&(_, known)| known == candidate) {
            found.push((distance, candidate));
        }
    }
    found.sort();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other, or more than
/// `limit`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        (before, last, row) = (last, row, before);
    }
    last[b.len()]
}

/// Longer names are compared by their beginning.
const MAX_LENGTH: usize = 100;
/// Later candidates are not looked at: the answer to a mistake must not take seconds.
const MAX_CANDIDATES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::similar_names;

    #[test]
    fn typing_errors_are_found() {
        let names = ["Muon_pt", "Muon_eta", "Electron_pt", "nMuon", "run"];
        assert_eq!(similar_names("Moun_pt", names)[0], "Muon_pt");
        assert_eq!(similar_names("muon_pt", names)[0], "Muon_pt");
        assert_eq!(similar_names("rum", names), ["run"]);
        assert_eq!(similar_names("Muon", names), ["Muon_eta", "Muon_pt", "nMuon"]);
        assert!(similar_names("luminosity", names).is_empty());
        assert!(similar_names("", names).is_empty());
    }
}
