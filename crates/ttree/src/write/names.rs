//! Names of the classes of records.

use forthwith_root::is_roots_own;

/// Converts a name to a C++ identifier.
pub(super) fn identifier(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with("pair<") {
        return name.into();
    }
    let first = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let rest: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    format!("{first}{rest}")
}

/// Returns a class name that C++ ROOT does not define, since it prefers its own class to that in the file.
/// Names that begin with `string` are avoided: ROOT takes them for text within containers.
pub(super) fn class_name(name: &str) -> String {
    let name = identifier(name);
    let is_taken = name.starts_with("string") || is_roots_own(&name) || TAKEN.binary_search(&&*name).is_ok();
    if is_taken { format!("_{name}") } else { name }
}

/// Keywords of C++, and names that it or ROOT defines without a class of ROOT's, sorted.
#[rustfmt::skip]
static TAKEN: [&str; 127] = [
    "Angle_t", "Axis_t", "Bool_t", "Byte_t", "Char_t", "Color_t", "Coord_t", "Double32_t", "Double_t", "FILE",
    "Float16_t", "Float_t", "Font_t", "Int_t", "Long64_t", "LongDouble_t", "Long_t", "Longptr_t", "Marker_t",
    "NULL", "Option_t", "ROOT", "Real_t", "SCoord_t", "Seek_t", "Short_t", "Size_t", "Ssiz_t", "Stat_t",
    "Style_t", "TMath", "Text_t", "UChar_t", "UInt_t", "ULong64_t", "ULong_t", "ULongptr_t", "UShort_t",
    "Version_t", "Width_t", "alignas", "alignof", "asm", "auto", "bool", "break", "byte", "case", "catch",
    "char", "char16_t", "char32_t", "class", "const", "constexpr", "continue", "decltype", "default", "delete",
    "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
    "if", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "intptr_t", "long", "max_align_t",
    "mutable", "namespace", "new", "noexcept", "nullptr", "nullptr_t", "operator", "private", "protected",
    "ptrdiff_t", "public", "register", "return", "short", "signed", "size_t", "sizeof", "ssize_t", "stat",
    "static", "std", "struct", "switch", "template", "this", "throw", "time_t", "tm",
    "true", "try", "typedef", "typeid", "typename", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintptr_t",
    "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_names_that_root_has_not() {
        assert!(TAKEN.is_sorted());
        for name in ["TObject", "TH1F", "int", "Long64_t", "string", "strings", "std", "class", "stat"] {
            assert_eq!(class_name(name), format!("_{name}"));
        }
        for name in ["Hit", "hits", "hit_t", "jet_", "T", "_1", "vector", "pair<int,int>"] {
            assert_eq!(class_name(name), name);
        }
        assert_eq!((class_name("1x"), class_name("My Class-1")), ("_1x".into(), "My_Class_1".into()));
    }
}
