//! Parser of C++ type names, with a normalized spelling for each type.

pub mod code;
mod number;
mod packing;

pub(crate) use number::MANTISSA;
pub use number::Number;
pub use packing::Packing;

/// A C++ type, as far as its name tells how it is stored.
#[derive(Clone, Debug, PartialEq)]
pub enum CppType {
    /// A number.
    Number(&'static Number),
    /// A string: `std::string` or `TString`.
    Text(&'static str),
    /// A container that stores a count, then its items.
    Sequence(&'static Container, Box<Self>),
    /// A container of pairs.
    Map(&'static Container, Box<Self>, Box<Self>),
    /// A pair.
    Pair(Box<Self>, Box<Self>),
    /// A bitset of this number of bits.
    Bitset(u64),
    /// An array of a fixed number of items.
    Array(Box<Self>, u64),
    /// A raw or smart pointer.
    Pointer(Box<Self>),
    /// Any other type, by its name as in the file.
    Other(String),
}

impl CppType {
    /// Parses a type name. Names that are not understood become [`Other`](Self::Other).
    pub fn parse(name: &str) -> Self {
        parse(name.trim(), 0)
    }

    /// Returns the normalized spelling.
    pub fn spelling(&self) -> String {
        match self {
            Self::Number(number) => number.spelling.into(),
            Self::Text(name) => (*name).into(),
            Self::Sequence(container, item) => format!("{}<{}>", container.spelling, item.spelling()),
            Self::Map(container, key, value) => {
                format!("{}<{}, {}>", container.spelling, key.spelling(), value.spelling())
            }
            Self::Pair(first, second) => format!("std::pair<{}, {}>", first.spelling(), second.spelling()),
            Self::Bitset(size) => format!("std::bitset<{size}>"),
            Self::Array(item, size) => format!("std::array<{}, {size}>", item.spelling()),
            Self::Pointer(of) => format!("{}*", of.spelling()),
            Self::Other(name) => tidy(name),
        }
    }

    /// Returns whether the type is a container of the standard library, which has a frame.
    pub const fn is_container(&self) -> bool {
        matches!(self, Self::Sequence(..) | Self::Map(..) | Self::Bitset(_))
    }
}

fn parse(name: &str, depth: usize) -> CppType {
    let name = strip(name);
    if depth > MAX_DEPTH {
        return CppType::Other(name.into());
    }
    if let Some(of) = name.strip_suffix('*') {
        return CppType::Pointer(Box::new(parse(of, depth + 1)));
    }
    if let Some(number) = Number::named(name) {
        return CppType::Number(number);
    }
    match name {
        "string" | "basic_string<char>" => return CppType::Text("std::string"),
        "TString" => return CppType::Text("TString"),
        _ => {}
    }
    let parts = name.strip_suffix('>').and_then(|rest| rest.split_once('<'));
    if let Some((template, arguments)) = parts
        && let Some((first, rest)) = split_arguments(arguments)
    {
        let template = template.trim();
        let inner = |name: &str| Box::new(parse(name, depth + 1));
        // Comparators, hashes and allocators do not change how items are stored.
        if let Some(container) = Container::named(template) {
            match (container.of, rest.as_slice()) {
                (Holds::Bits, []) => {
                    if let Ok(size) = first.trim_end_matches(['u', 'l', 'U', 'L']).parse() {
                        return CppType::Bitset(size);
                    }
                }
                (Holds::Pairs, [value, more @ ..]) if more.len() <= container.more => {
                    return CppType::Map(container, inner(first), inner(value));
                }
                (Holds::Items | Holds::Set, more) if more.len() <= container.more => {
                    return CppType::Sequence(container, inner(first));
                }
                _ => {}
            }
        }
        match (template, rest.as_slice()) {
            ("pair", [second]) => return CppType::Pair(inner(first), inner(second)),
            ("array", [size]) => {
                if let Ok(size) = size.trim_end_matches(['u', 'l', 'U', 'L']).parse() {
                    return CppType::Array(inner(first), size);
                }
            }
            ("unique_ptr" | "shared_ptr", _) => return CppType::Pointer(inner(first)),
            ("atomic", []) => return *inner(first),
            _ => {}
        }
    }
    CppType::Other(name.into())
}

/// A row of the table: a container of the standard library, or one that is stored as such.
#[derive(Debug)]
pub struct Container {
    /// Normalized spelling.
    pub spelling: &'static str,
    /// Kind of its items.
    pub of: Holds,
    /// ROOT's `ESTLType`.
    pub stl: i32,
    /// Number of further template arguments: comparators, hashes and allocators.
    more: usize,
    /// Names of the template without `std::`.
    names: &'static [&'static str],
}

/// Kind of a container's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Items in order.
    Items,
    /// Items of a set.
    Set,
    /// Pairs.
    Pairs,
    /// Bits.
    Bits,
}

impl PartialEq for Container {
    fn eq(&self, other: &Self) -> bool {
        self.stl == other.stl
    }
}

impl Container {
    /// Returns `std::vector`.
    pub(crate) const fn vector() -> &'static Self {
        &CONTAINERS[0]
    }

    /// Returns `std::bitset`.
    pub(crate) const fn bits() -> &'static Self {
        &CONTAINERS[7]
    }

    /// Returns the container with a template name, or `None` for other names.
    pub fn named(template: &str) -> Option<&'static Self> {
        let template = template.strip_prefix("std::").unwrap_or(template);
        CONTAINERS.iter().find(|container| container.names.contains(&template))
    }
}

const fn row(
    spelling: &'static str,
    of: Holds,
    stl: i32,
    more: usize,
    names: &'static [&'static str],
) -> Container {
    Container { spelling, of, stl, more, names }
}

static CONTAINERS: [Container; 14] = [
    row("std::vector", Holds::Items, 1, 1, &["vector"]),
    row("std::list", Holds::Items, 2, 1, &["list"]),
    row("std::deque", Holds::Items, 3, 1, &["deque"]),
    row("std::map", Holds::Pairs, 4, 2, &["map"]),
    row("std::multimap", Holds::Pairs, 5, 2, &["multimap"]),
    row("std::set", Holds::Set, 6, 2, &["set"]),
    row("std::multiset", Holds::Set, 7, 2, &["multiset"]),
    row("std::bitset", Holds::Bits, 8, 0, &["bitset"]),
    row("std::forward_list", Holds::Items, 9, 1, &["forward_list"]),
    row("std::unordered_set", Holds::Set, 10, 3, &["unordered_set"]),
    row("std::unordered_multiset", Holds::Set, 11, 3, &["unordered_multiset"]),
    row("std::unordered_map", Holds::Pairs, 12, 3, &["unordered_map"]),
    row("std::unordered_multimap", Holds::Pairs, 13, 3, &["unordered_multimap"]),
    row("RVec", Holds::Items, 14, 1, &["RVec", "VecOps::RVec", "ROOT::RVec", "ROOT::VecOps::RVec"]),
];

/// Returns a type name without qualifiers that do not change how a value is stored.
fn strip(name: &str) -> &str {
    let mut name = name.trim();
    while let Some(rest) = ["const ", "std::", "__cxx11::", "volatile ", "struct ", "class ", "enum "]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .or_else(|| name.strip_suffix(" const"))
    {
        name = rest.trim();
    }
    name
}

/// Returns the first argument of a template, and the others, or `None` if brackets are not balanced.
fn split_arguments(arguments: &str) -> Option<(&str, Vec<&str>)> {
    let mut depth = 0usize;
    let mut begin = 0;
    let mut parts = Vec::new();
    for (at, letter) in arguments.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(arguments[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return None;
    }
    parts.push(arguments[begin..].trim());
    let first = parts.remove(0);
    (!first.is_empty()).then_some((first, parts))
}

/// Returns a name without the blanks that ROOT puts between closing brackets and after commas.
pub(crate) fn tidy(name: &str) -> String {
    name.replace(" >", ">").replace(", ", ",")
}

/// Maximum depth of nested names that are parsed.
const MAX_DEPTH: usize = 40;

#[cfg(test)]
mod tests {
    use super::CppType;

    fn spelled(name: &str) -> String {
        CppType::parse(name).spelling()
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (name, spelling) in [
            ("Int_t", "int32_t"),
            ("unsigned long long", "uint64_t"),
            ("Char_t", "int8_t"),
            ("Bool_t", "bool"),
            ("Double32_t", "Double32_t"),
        ] {
            assert_eq!(spelled(name), spelling);
        }
    }

    #[test]
    fn containers_nest() {
        assert_eq!(spelled("vector<vector<float> >"), "std::vector<std::vector<float>>");
        assert_eq!(
            spelled("std::vector<std::string, std::allocator<std::string> >"),
            "std::vector<std::string>"
        );
        assert_eq!(spelled("ROOT::VecOps::RVec<float>"), "RVec<float>");
        assert_eq!(spelled("set<int,less<int>,allocator<int> >"), "std::set<int32_t>");
        assert_eq!(spelled("map<string,vector<Hit> >"), "std::map<std::string, std::vector<Hit>>");
        assert_eq!(
            spelled("unordered_map<int, pair<float,TString>, hash<int> >"),
            "std::unordered_map<int32_t, std::pair<float, TString>>"
        );
        assert_eq!(spelled("vector<bitset<8> >"), "std::vector<std::bitset<8>>");
        assert_eq!(spelled("array<vector<Hit*>,3>"), "std::array<std::vector<Hit*>, 3>");
        assert_eq!(spelled("unique_ptr<Hit>"), "Hit*");
    }

    #[test]
    fn what_is_not_understood_names_itself() {
        assert_eq!(spelled("TVector3"), "TVector3");
        for name in ["map<int>", "vector<int,A,B>", "set<int,C,A,B>", "map<int,int,C,A,B>", "bitset<8,A>"] {
            assert_eq!(spelled(name), name);
        }
    }

    #[test]
    fn arguments_of_the_users_own_do_not_change_what_is_stored() {
        for (name, spelling) in [
            ("vector<int,MyAllocator>", "std::vector<int32_t>"),
            ("set<int,Falling,Heap<int> >", "std::set<int32_t>"),
            ("multimap<int,float,Falling,Heap<pair<const int,float> > >", "std::multimap<int32_t, float>"),
            ("unordered_set<int,Scatter,Same,Heap<int> >", "std::unordered_set<int32_t>"),
            ("unordered_map<int,float,Scatter,Same,Heap<int> >", "std::unordered_map<int32_t, float>"),
        ] {
            assert_eq!(spelled(name), spelling);
        }
    }

    #[test]
    fn damaged_names_are_names() {
        let mut damaged: Vec<String> = [
            "",
            "<",
            "vector<",
            "vector<>",
            "vector<int",
            "vector<int>>",
            "vector<<",
            "vector<int,",
            ">,<",
            "std::",
        ]
        .map(String::from)
        .to_vec();
        damaged.push("vector<".repeat(2000) + "int" + &">".repeat(2000));
        damaged.push("*".repeat(2000));
        for name in damaged {
            let _ = spelled(&name);
        }
    }
}
