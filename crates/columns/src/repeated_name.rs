//! Whether names are all different.

use std::collections::HashSet;

/// The first name that has been given before, in time in proportion to their number.
#[must_use]
pub fn repeated_name<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let mut known = HashSet::new();
    names.into_iter().find(|name| !known.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::repeated_name;

    #[test]
    fn the_first_name_that_comes_again_is_found() {
        assert_eq!(repeated_name(["a", "b", "c"]), None);
        assert_eq!(repeated_name(["a", "b", "c", "b", "a"]), Some("b"));
        assert_eq!(repeated_name(["", ""]), Some(""));
    }
}
