//! Suggestions for a name that does not exist.

/// Returns the candidates most similar to `name`, best first: at most three, and none if no candidate is
/// close enough.
pub fn similar_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(MAX_LENGTH).collect();
    let limit = wanted.len().div_ceil(3).clamp(1, 4);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let letters: Vec<char> = candidate.to_lowercase().chars().take(MAX_LENGTH).collect();
        // A candidate that contains the name as a part is close, too; names of one or two letters would match
        // too often.
        let contained = wanted.len() > 2 && is_part(name, candidate);
        let distance = if contained { 1 } else { distance(&wanted, &letters, limit) };
        if distance <= limit && !found.iter().any(|&(_, known)| known == candidate) {
            found.push((distance, candidate));
        }
    }
    found.sort();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Whether a candidate contains the name with a word boundary at either end: `eta` is a part of `Muon_eta`
/// and `iso` of `Muon_pfIsoId`, but `nope` is not a part of `TrimuonOpen`.
fn is_part(name: &str, candidate: &str) -> bool {
    let lower = candidate.to_lowercase();
    // Lower-casing may change the byte offsets of non-ASCII text; capitals then do not begin words.
    let letters = if candidate.is_ascii() { candidate } else { &lower }.as_bytes();
    let is_end = |at: usize| match (at.checked_sub(1).and_then(|before| letters.get(before)), letters.get(at))
    {
        (Some(before), Some(behind)) => {
            !before.is_ascii_alphanumeric()
                || !behind.is_ascii_alphanumeric()
                || (before.is_ascii_lowercase() && behind.is_ascii_uppercase())
        }
        _ => true,
    };
    lower.match_indices(&name.to_lowercase()).any(|(at, found)| is_end(at) || is_end(at + found.len()))
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment distance), or more than `limit` if the lengths differ by more.
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

/// Number of characters of a name that are compared.
const MAX_LENGTH: usize = 100;
/// Number of candidates that are compared: a suggestion must not take seconds.
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
        assert_eq!(similar_names("iso", ["Muon_pfIsoId", "episode"]), ["Muon_pfIsoId"]);
        assert!(similar_names("nope", ["TrimuonOpen_5"]).is_empty());
        assert!(similar_names("luminosity", names).is_empty());
        assert!(similar_names("", names).is_empty());
    }
}
