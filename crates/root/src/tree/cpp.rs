//! C++ type names: what they mean for the bytes, and one spelling for each.

use forthwith_columns::{DType, Wire};
use forthwith_program::Schema;

/// A C++ type, as far as its name tells how it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CppType {
    /// A number.
    Number(&'static str, Wire),
    /// A string: `std::string` or `TString`.
    Text(&'static str),
    /// A container that stores a count, then its items one after the other.
    Sequence(&'static str, Box<Self>),
    /// Anything else, by its name.
    Other(String),
}

impl CppType {
    /// Reads a type name. One that is not understood is [`Other`](Self::Other).
    pub(super) fn parse(name: &str) -> Self {
        parse(name.trim(), 0)
    }

    /// The one spelling.
    pub(super) fn spelling(&self) -> String {
        match self {
            Self::Number(name, _) | Self::Text(name) => (*name).into(),
            Self::Sequence(container, item) => format!("{container}<{}>", item.spelling()),
            Self::Other(name) => name.clone(),
        }
    }

    /// The schema, or the part that has none.
    pub(super) fn schema(&self) -> Result<Schema, String> {
        match self {
            Self::Number(_, wire) => Ok(Schema::Number(*wire)),
            Self::Text(_) => Ok(Schema::Text),
            Self::Sequence(_, item) => Ok(item.schema()?.list()),
            Self::Other(name) => Err(name.clone()),
        }
    }
}

fn parse(name: &str, depth: usize) -> CppType {
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    if let Some((spelling, wire)) = number(name) {
        return CppType::Number(spelling, wire);
    }
    let plain = name.strip_prefix("std::").unwrap_or(name);
    match plain {
        "string" | "basic_string<char>" => return CppType::Text("std::string"),
        "TString" => return CppType::Text("TString"),
        _ => {}
    }
    if let Some((template, arguments)) = plain.strip_suffix('>').and_then(|rest| rest.split_once('<'))
        && let Some((container, extras)) = container(template.trim())
        && depth < MAX_DEPTH
        && let Some((item, rest)) = split_arguments(arguments)
        && rest.len() <= extras
        && rest.iter().all(|argument| is_default(argument))
    {
        return CppType::Sequence(container, Box::new(parse(item, depth + 1)));
    }
    CppType::Other(tidy(name))
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
pub(super) fn number(name: &str) -> Option<(&'static str, Wire)> {
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
fn tidy(name: &str) -> String {
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
            assert!(CppType::parse(name).schema().is_ok());
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
        assert!(CppType::parse("vector<vector<string> >").schema().is_ok());
    }

    #[test]
    fn what_is_not_understood_names_itself() {
        assert_eq!(CppType::parse("vector<TVector3>").schema(), Err("TVector3".into()));
        assert_eq!(CppType::parse("map<string,int>").schema(), Err("map<string,int>".into()));
        // A container with an argument that could change what is stored.
        assert_eq!(spelled("vector<int,MyAllocator>"), "vector<int,MyAllocator>");
        assert_eq!(CppType::parse("vector<int,MyAllocator>").schema(), Err("vector<int,MyAllocator>".into()));
    }

    #[test]
    fn damaged_names_are_names() {
        for name in [
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
        ] {
            assert!(CppType::parse(name).schema().is_err(), "{name}");
        }
        let deep = "vector<".repeat(2000) + "int" + &">".repeat(2000);
        assert!(CppType::parse(&deep).schema().is_err());
    }
}
