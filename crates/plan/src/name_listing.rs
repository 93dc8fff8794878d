//! The names that an error lists if none is similar to the requested one.

use std::{collections::HashSet, fmt};

/// The first names of a file or table, and the number of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameListing {
    first: Vec<String>,
    count: usize,
}

/// Upper bound on the number of listed names.
const LISTED: usize = 10;
/// Number of characters after which a name is truncated.
const LONGEST: usize = 60;

impl NameListing {
    /// Lists distinct names.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut seen = HashSet::new();
        let mut first = Vec::new();
        for name in names {
            if seen.insert(name) && first.len() < LISTED {
                first.push(match name.char_indices().nth(LONGEST) {
                    Some((end, _)) => format!("{}…", &name[..end]),
                    None => name.to_owned(),
                });
            }
        }
        Self { first, count: seen.len() }
    }
}

/// Writes a clause such as `there are a, b and 7 more`; nothing for an empty list.
impl fmt::Display for NameListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are = if self.count == 1 { "is" } else { "are" };
        match &self.first[..] {
            [] => Ok(()),
            [name] => write!(f, "there {are} {name}"),
            names if self.count > names.len() => {
                write!(f, "there {are} {} and {} more", names.join(", "), self.count - names.len())
            }
            [names @ .., last] => write!(f, "there {are} {} and {last}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NameListing;

    #[test]
    fn up_to_ten_names_are_listed_once() {
        let listed = |names: &[&str]| NameListing::of(names.iter().copied()).to_string();
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "there is a");
        assert_eq!(listed(&["a", "b", "a"]), "there are a and b");
        let many: Vec<String> = (0..12).map(|number| format!("x{number}")).collect();
        let text = NameListing::of(many.iter().map(String::as_str)).to_string();
        assert_eq!(text, "there are x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 2 more");
        assert_eq!(listed(&["é".repeat(70).as_str()]), format!("there is {}…", "é".repeat(60)));
    }
}
