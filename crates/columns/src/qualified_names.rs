//! Qualification of member names that occur several times in a class and its bases.

use std::collections::HashSet;

/// Returns the names of a class's members, given with the base that they are inherited from, if any. An
/// inherited name that is not unique becomes `Base::name`, as in C++.
#[must_use]
pub fn qualified_names(members: Vec<(Option<&str>, String)>) -> Vec<String> {
    let mut seen = HashSet::with_capacity(members.len());
    let repeated: HashSet<String> =
        members.iter().filter(|(_, name)| !seen.insert(name)).map(|(_, name)| name.clone()).collect();
    let qualified = |(base, name): (Option<&str>, String)| match base {
        Some(base) if repeated.contains(&name) => format!("{base}::{name}"),
        _ => name,
    };
    members.into_iter().map(qualified).collect()
}

#[cfg(test)]
mod tests {
    use super::qualified_names;

    #[test]
    fn repeated_names_of_bases_are_qualified() {
        let of = |members: &[(Option<&str>, &str)]| {
            qualified_names(members.iter().map(|(base, name)| (*base, (*name).to_owned())).collect())
        };
        assert_eq!(of(&[(Some("One"), "x"), (Some("One"), "y"), (None, "x")]), ["One::x", "y", "x"]);
        assert_eq!(of(&[(Some("One"), "x"), (Some("Two"), "x")]), ["One::x", "Two::x"]);
        assert_eq!(
            of(&[(Some("One"), "Top::x"), (Some("Two"), "Top::x"), (None, "x")]),
            ["One::Top::x", "Two::Top::x", "x"]
        );
    }
}
