//! C++ header for ROOT's `TTreeReader`.

use super::{Column, Described, Taken};
use crate::{
    failure::{Failure, Result},
    human,
};
use forthwith::{
    Table,
    columns::{DType, Form},
};

pub(super) fn print(described: &Described, table: &Table) -> Result<String> {
    if table.words().table != "tree" {
        let what = format!("a C++ header reads trees by TTreeReader, and {} is not a tree", described.from);
        return Err(Failure::misuse(what));
    }
    let mut taken = Taken::default();
    let (mut members, mut initializers, mut skipped) = (String::new(), Vec::new(), String::new());
    for Column { name, form } in &described.columns {
        let Some(reader) = reader(form) else {
            let (name, typed) = (human::clean(name), form.type_string());
            skipped.push_str(&format!("    // {name}: {} has no reader here\n", human::clean(&typed)));
            continue;
        };
        let member = taken.make(identifier(name));
        members.push_str(&format!("    {reader} {member};\n"));
        initializers.push(format!("          {member}(reader, {:?})", name.replace('/', ".")));
    }
    skipped.push_str(&described.skipped_lines("//", "    "));
    let name = &described.name;
    let colon = if initializers.is_empty() { "" } else { "\n        :\n" };
    Ok(format!(
        "// Made by `forthwith gen cpp {}`.\n#pragma once\n\n#include <TTreeReader.h>\n#include <TTreeReaderArray.h>\n\
         #include <TTreeReaderValue.h>\n\n/// The columns of the entry that a TTreeReader is at.\nstruct {name} {{\n\
         {members}{skipped}\n    explicit {name}(TTreeReader& reader){colon}{} {{}}\n}};\n",
        described.from,
        initializers.join(",\n")
    ))
}

/// Returns the type of the reader for numbers or lists of numbers; `None` for other types.
fn reader(form: &Form) -> Option<String> {
    match form {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => {
            Some(format!("TTreeReaderValue<{}>", number(*dtype)))
        }
        Form::Numpy { dtype, shape, .. } if shape.len() == 1 => {
            Some(format!("TTreeReaderArray<{}>", number(*dtype)))
        }
        Form::List { content, .. } => match &**content {
            Form::Numpy { dtype, shape, .. } if shape.is_empty() => {
                Some(format!("TTreeReaderArray<{}>", number(*dtype)))
            }
            _ => None,
        },
        _ => None,
    }
}

const fn number(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "Bool_t",
        DType::Int8 => "Char_t",
        DType::Int16 => "Short_t",
        DType::Int32 => "Int_t",
        DType::Int64 => "Long64_t",
        DType::UInt8 => "UChar_t",
        DType::UInt16 => "UShort_t",
        DType::UInt32 => "UInt_t",
        DType::UInt64 => "ULong64_t",
        DType::Float32 => "Float_t",
        DType::Float64 => "Double_t",
    }
}

/// Returns a valid C++ identifier that is neither a keyword nor reserved.
fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let is_fine = plain.starts_with(|c: char| c.is_ascii_alphabetic()) && !plain.contains("__");
    if is_fine && !WORDS.contains(&plain.as_str()) {
        return plain;
    }
    let plain: Vec<&str> = plain.split('_').filter(|part| !part.is_empty()).collect();
    format!("column_{}", plain.join("_"))
}

/// Words that cannot be names of members.
const WORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "reader",
    "register",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
];
