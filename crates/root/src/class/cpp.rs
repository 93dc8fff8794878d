//! C++ type names: what they mean for the bytes, and one spelling for each.

use forthwith_columns::{DType, Wire};

/// A C++ type, as far as its name tells how it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CppType {
    /// A number.
    Number(&'static str, Wire),
    /// A string: `std::string` or `TString`.
    Text(&'static str),
    /// A container that stores a count, then its items one after the other.
    Sequence(&'static str, Box<Self>),
    /// A container of pairs.
    Map(&'static str, Box<Self>, Box<Self>),
    /// Two values.
    Pair(Box<Self>, Box<Self>),
    /// So many bits.
    Bitset(u64),
    /// Always so many items.
    Array(Box<Self>, u64),
    /// A pointer, smart or not.
    Pointer(Box<Self>),
    /// Anything else, by its name.
    Other(String),
}

impl CppType {
    /// Reads a type name. One that is not understood is [`Other`](Self::Other).
    pub(crate) fn parse(name: &str) -> Self {
        parse(name.trim(), 0)
    }

    /// The one spelling.
    pub(crate) fn spelling(&self) -> String {
        match self {
            Self::Number(name, _) | Self::Text(name) => (*name).into(),
            Self::Sequence(container, item) => format!("{container}<{}>", item.spelling()),
            Self::Map(container, key, value) => {
                format!("{container}<{}, {}>", key.spelling(), value.spelling())
            }
            Self::Pair(first, second) => format!("std::pair<{}, {}>", first.spelling(), second.spelling()),
            Self::Bitset(size) => format!("std::bitset<{size}>"),
            Self::Array(item, size) => format!("std::array<{}, {size}>", item.spelling()),
            Self::Pointer(of) => format!("{}*", of.spelling()),
            Self::Other(name) => name.clone(),
        }
    }

    /// Whether it is one of the standard library's containers, which have a frame.
    pub(crate) const fn is_container(&self) -> bool {
        matches!(self, Self::Sequence(..) | Self::Map(..) | Self::Bitset(_))
    }
}

fn parse(name: &str, depth: usize) -> CppType {
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    if depth > MAX_DEPTH {
        return CppType::Other(tidy(name));
    }
    if let Some(of) = name.strip_suffix('*') {
        return CppType::Pointer(Box::new(parse(of.trim(), depth + 1)));
    }
    if let Some((spelling, wire)) = number(name) {
        return CppType::Number(spelling, wire);
    }
    let plain = name.strip_prefix("std::").unwrap_or(name);
    let plain = plain.strip_prefix("__cxx11::").unwrap_or(plain);
    match plain {
        "string" | "basic_string<char>" => return CppType::Text("std::string"),
        "TString" => return CppType::Text("TString"),
        _ => {}
    }
    let parts = plain.strip_suffix('>').and_then(|rest| rest.split_once('<'));
    if let Some((template, arguments)) = parts
        && let Some((first, rest)) = split_arguments(arguments)
    {
        let template = template.trim();
        let defaults = |rest: &[&str], most| rest.len() <= most && rest.iter().all(|a| is_default(a));
        let inner = |name: &str| Box::new(parse(name, depth + 1));
        if let Some((container, extras)) = container(template)
            && defaults(&rest, extras)
        {
            return CppType::Sequence(container, inner(first));
        }
        if let (Some((container, extras)), Some((value, rest))) = (map(template), rest.split_first())
            && defaults(rest, extras)
        {
            return CppType::Map(container, inner(first), inner(value));
        }
        match (template, rest.as_slice()) {
            ("pair", [second]) => return CppType::Pair(inner(first), inner(second)),
            ("array", [size]) => {
                if let Ok(size) = size.trim_end_matches(['u', 'l', 'U', 'L']).parse() {
                    return CppType::Array(inner(first), size);
                }
            }
            ("bitset", []) => {
                if let Ok(size) = first.trim_end_matches(['u', 'l', 'U', 'L']).parse() {
                    return CppType::Bitset(size);
                }
            }
            ("unique_ptr" | "shared_ptr", _) => return CppType::Pointer(inner(first)),
            ("atomic", []) => return *inner(first),
            _ => {}
        }
    }
    CppType::Other(tidy(name))
}

/// Containers of pairs, and how many more arguments they may have.
fn map(template: &str) -> Option<(&'static str, usize)> {
    Some(match template {
        "map" => ("std::map", 2),
        "multimap" => ("std::multimap", 2),
        "unordered_map" => ("std::unordered_map", 3),
        "unordered_multimap" => ("std::unordered_multimap", 3),
        _ => return None,
    })
}

/// Containers with the layout of a vector, and how many more arguments they may have: compare, hash, allocator.
fn container(template: &str) -> Option<(&'static str, usize)> {
    Some(match template {
        "vector" => ("std::vector", 1),
        "list" => ("std::list", 1),
        "deque" => ("std::deque", 1),
        "forward_list" => ("std::forward_list", 1),
        "set" => ("std::set", 2),
        "multiset" => ("std::multiset", 2),
        "unordered_set" => ("std::unordered_set", 3),
        "unordered_multiset" => ("std::unordered_multiset", 3),
        "RVec" | "VecOps::RVec" | "ROOT::RVec" | "ROOT::VecOps::RVec" => ("RVec", 1),
        _ => return None,
    })
}

/// Whether a further template argument leaves the layout alone.
fn is_default(argument: &str) -> bool {
    let plain = argument.trim();
    let plain = plain.strip_prefix("std::").unwrap_or(plain);
    ["allocator<", "less<", "greater<", "hash<", "equal_to<", "ROOT::Detail::VecOps::RAdoptAllocator<"]
        .iter()
        .any(|known| plain.starts_with(known))
}

/// The first argument of a template, and the others.
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

/// The numbers: the spelling that says the width, and how one is stored outside of classes that give it a range.
pub(crate) fn number(name: &str) -> Option<(&'static str, Wire)> {
    use DType as D;
    use Wire::Big;
    Some(match name {
        "bool" | "Bool_t" => ("bool", Wire::Bool),
        "char" | "Char_t" | "signed char" | "int8_t" => ("int8_t", Big(D::Int8)),
        "unsigned char" | "UChar_t" | "Byte_t" | "uint8_t" => ("uint8_t", Big(D::UInt8)),
        "short" | "Short_t" | "short int" | "Version_t" | "int16_t" => ("int16_t", Big(D::Int16)),
        "unsigned short" | "UShort_t" | "unsigned short int" | "uint16_t" => ("uint16_t", Big(D::UInt16)),
        "int" | "Int_t" | "int32_t" => ("int32_t", Big(D::Int32)),
        "unsigned int" | "UInt_t" | "unsigned" | "uint32_t" => ("uint32_t", Big(D::UInt32)),
        "long" | "Long_t" | "long int" | "long long" | "Long64_t" | "long long int" | "int64_t" => {
            ("int64_t", Big(D::Int64))
        }
        "unsigned long"
        | "ULong_t"
        | "unsigned long long"
        | "ULong64_t"
        | "unsigned long int"
        | "unsigned long long int"
        | "uint64_t" => ("uint64_t", Big(D::UInt64)),
        "float" | "Float_t" => ("float", Big(D::Float32)),
        "double" | "Double_t" => ("double", Big(D::Float64)),
        "Double32_t" => ("Double32_t", Wire::Widened),
        "Float16_t" => ("Float16_t", Wire::Truncated { bits: 12, to: D::Float32 }),
        _ => return None,
    })
}

/// A name without the blanks that ROOT puts between closing brackets.
pub(super) fn tidy(name: &str) -> String {
    name.replace(" >", ">").replace(", ", ",")
}

/// Names nested deeper are not looked into: nothing supports them.
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
        // A container with an argument that could change what is stored.
        assert_eq!(
            CppType::parse("vector<int,MyAllocator>"),
            CppType::Other("vector<int,MyAllocator>".into())
        );
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
