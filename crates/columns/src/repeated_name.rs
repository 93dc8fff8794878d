//! Search for duplicate names.

use std::collections::HashSet;

/// Returns the first name that occurred before, in linear time; `None` if all names are distinct.
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
