//! Every column that other readers found is found, and has the type they gave it.

use std::{collections::BTreeMap, sync::Arc};

use forthwith_columns::Form;
use forthwith_io::Memory;
use forthwith_plan::{Dataset, Decoder};
use forthwith_root::{RootFile, unroll};
use forthwith_ttree::Tree;

use crate::{
    decode::decode,
    support::{data, is_elsewhere, open, samples},
};

/// The type of one item as goldens write it: fields in order of their names, and quoted.
fn golden_type(form: &Form) -> String {
    match form {
        Form::List { content, .. } => format!("var * {}", golden_type(content)),
        Form::Regular { size, content } => format!("{size} * {}", golden_type(content)),
        Form::Record { fields: Some(names), contents, .. } => {
            let mut slots: Vec<_> = names
                .iter()
                .zip(contents)
                .map(|(name, content)| format!("\"{name}\": {}", golden_type(content)))
                .collect();
            slots.sort();
            format!("{{{}}}", slots.join(", "))
        }
        Form::Record { fields: None, contents, .. } => {
            let slots: Vec<_> = contents.iter().map(golden_type).collect();
            format!("({})", slots.join(", "))
        }
        Form::Option { content, .. } => format!("?{}", golden_type(content)),
        other => other.type_string(),
    }
}

/// The class of a type name for counting: user classes and sizes are all one.
fn type_class(name: &str) -> String {
    let mut class = String::new();
    let mut word = String::new();
    for letter in name.chars().chain([' ']) {
        if letter.is_alphanumeric() || letter == '_' || letter == ':' {
            word.push(letter);
            continue;
        }
        class.push_str(match word.as_str() {
            "" => "",
            "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t"
            | "uint64_t" | "float" | "double" | "bool" => "num",
            known
                if known.starts_with("std::")
                    || ["char", "TString", "RVec", "struct", "Double32_t", "Float16_t"].contains(&known) =>
            {
                known
            }
            size if size.chars().all(|letter| letter.is_ascii_digit()) => "n",
            _ => "Class",
        });
        word.clear();
        class.push(letter);
    }
    class.trim().to_owned()
}

/// Whether a golden gives a type that is not what the file says, with the reason.
/// A type without the hidden members of bases (`Base::x`), of which the golden's reader keeps only the last one of a name.
fn without_hidden(found: &str) -> String {
    let mut kept = String::new();
    let mut fields = found.split(", \"");
    kept.extend(fields.next());
    for field in fields {
        let (name, of) = field.split_once("\": ").unwrap_or((field, ""));
        if !name.contains("::") {
            kept.push_str(", \"");
            kept.push_str(field);
        } else if let Some(end) = of.find('}') {
            kept.push_str(&of[end..]);
        }
    }
    kept
}

fn is_known_to_differ(class: &str, typename: &str, column: &str, expected: &str, found: &str) -> bool {
    let found = &*without_hidden(found);
    // Strings of all items of a collection, of which the golden has those of each entry run together.
    let strings =
        class == "TBranchElement" && typename == "TString" && expected == "string" && found == "var * string";
    // Two dimensions of a member of a collection's items, of which the golden knows the product.
    let flattened = column.ends_with(']') && {
        let product =
            |text: &str| text.split(" * ").filter_map(|part| part.parse::<u64>().ok()).product::<u64>();
        found.matches('*').count() > expected.matches('*').count() && product(expected) == product(found)
    };
    // A fixed array of objects, which the golden has in a list of its own.
    let alone = column.ends_with(']') && expected.strip_prefix("var * ") == Some(found);
    // Of a class that the file does not describe, only the golden's reader knew more.
    // Counters that no array of their class has any more: with a sign, as C++ ROOT declares them.
    let signed = expected.replace("uint32", "int32") == found.replace("uint32", "int32");
    strings || flattened || alone || signed
}

/// The other type a golden allows: counters of arrays, which C++ ROOT declares as `int`, without a sign.
fn accepted_too(golden: &serde_json::Value) -> Option<&str> {
    golden["also_accepted"]["type"].as_str()
}

#[test]
fn columns_have_the_types_of_the_goldens() {
    #[derive(Default)]
    struct Count {
        golden: usize,
        typed: usize,
        supported: usize,
        examples: Vec<String>,
    }
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut trees, mut wrong, mut unread) = (0, Vec::new(), Vec::new());
    for sample in samples() {
        for (path, tree, golden) in sample.trees() {
            trees += 1;
            let tree = match tree {
                Ok(tree) => tree,
                Err(error) => {
                    unread.push(format!("{}:{path}: {error}", sample.name));
                    continue;
                }
            };
            if let Some(entries) = golden["entries"].as_u64() {
                assert_eq!(tree.entries().unwrap(), entries, "{}:{path}", sample.name);
            }
            for (column, expected) in golden["columns"].as_object().into_iter().flatten() {
                let place = format!("{}:{path}/{column}", sample.name);
                let field = tree.find(column).unwrap_or_else(|e| panic!("{place}: {e}"));
                let found = match tree.describe(field) {
                    Ok(found) => found,
                    Err(error) => {
                        unread.push(format!("{place}: {error}"));
                        continue;
                    }
                };
                let name = expected["typename"].as_str().unwrap_or("?");
                let class = expected["class"].as_str().unwrap_or("?");
                let count = counts.entry(type_class(name)).or_default();
                count.golden += 1;
                count.typed += usize::from(expected["type"].is_string());
                if let Some(entries) = expected["entries"].as_u64()
                    && entries != found.entries
                {
                    wrong.push(format!("{place}: {} entries, {entries} expected", found.entries));
                }
                match &found.reading {
                    Err(what) => {
                        if count.examples.len() < 3 {
                            count.examples.push(format!("{place} ({name}): {what}"));
                        }
                    }
                    Ok(reading) => {
                        count.supported += 1;
                        let expected_all = expected;
                        if let Some(expected) = expected["type"].as_str()
                            && let found_type = golden_type(&reading.form)
                            && found_type != expected
                            && Some(found_type.as_str()) != accepted_too(expected_all)
                            && !is_known_to_differ(class, name, column, expected, &found_type)
                        {
                            wrong.push(format!(
                                "{place} ({name} / {}): {found_type}, {expected} expected",
                                found.type_name
                            ));
                        }
                        if let Err(error) = tree.plan(&[field], 0..0)
                            && !is_elsewhere(&error)
                        {
                            wrong.push(format!("{place}: {error}"));
                        }
                    }
                }
            }
            for group in golden["groups"].as_array().into_iter().flatten() {
                // A number behind it tells groups of the same name apart.
                let group = group.as_str().and_then(|group| group.split('#').next()).unwrap_or_default();
                if let Err(error) = tree.find(group) {
                    wrong.push(format!("{}:{path} group {group}: {error}", sample.name));
                }
            }
        }
    }
    let mut table = format!("{trees} trees\n");
    let mut all = (0, 0, 0);
    for (class, count) in &counts {
        all = (all.0 + count.golden, all.1 + count.typed, all.2 + count.supported);
        table.push_str(&format!("{:6} {:6} {:6}  {class}\n", count.golden, count.typed, count.supported));
        for example in &count.examples {
            table.push_str(&format!("                        {example}\n"));
        }
    }
    table.push_str(&format!("{:6} {:6} {:6}  all: golden, with a type, supported\n", all.0, all.1, all.2));
    if let Some(path) = std::env::var_os("FORTHWITH_TABLE") {
        std::fs::write(path, &table).expect("the table can be written where the caller says");
    }
    assert!(unread.is_empty(), "{} damaged:\n{}", unread.len(), unread[..unread.len().min(40)].join("\n"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// Classes that every ROOT knows are read where no info describes them, as in a file that was not closed.
#[test]
fn members_of_roots_own_classes_need_no_infos() {
    let members = [
        ("pointers.root", "apart", "namedSplit./namedSplit.fName"),
        ("pointers.root", "apart", "namedSplit./namedSplit.fTitle"),
        ("loops.root", "loops", "chip./chip.TObject/chip.TObject.fUniqueID"),
        ("loops.root", "loops", "chip./chip.TObject/chip.TObject.fBits"),
    ];
    for (name, path, member) in members {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
        let mut bytes = std::fs::read(format!("{data}/{name}")).expect("a file of the repository");
        let read = |bytes: Vec<u8>| {
            let file = RootFile::open(Arc::new(Memory::new("memory", bytes))).expect("a ROOT file");
            let tree = Tree::open(&file, path).expect("a tree");
            let field = tree.find(member).expect("the branch is there");
            let plan = tree.plan(&[field], 0..tree.entries().expect("entries")).expect(member);
            (decode(&file, &plan).expect(member), tree.describe(field).expect(member).type_name)
        };
        let described = read(bytes.clone());
        // Place and length of the infos, in a small file.
        bytes[37..45].fill(0);
        assert_eq!(read(bytes), described, "{member}");
    }
}

#[test]
fn whole_values_are_read_alike_without_a_tree() {
    let mut alike = Vec::new();
    for path in data() {
        let Ok(file) = open(&path) else { continue };
        let Ok(layouts) = file.layouts() else { continue };
        for found in file.keys_recursive().unwrap_or_default() {
            let Ok(tree) = Tree::open_found(&file, &found) else { continue };
            for field in 0..tree.fields().map_or(0, <[_]>::len) as u32 {
                let Ok(description) = tree.describe(field) else { continue };
                let Ok(Decoder::Program(wanted)) = description.reading.map(|reading| reading.decoder) else {
                    continue;
                };
                let name = &*tree.fields().expect("fields")[field as usize].path;
                let program = unroll::program(&layouts, &description.type_name, false, name);
                if program.is_ok_and(|program| program.source == wanted.source && program.form == wanted.form)
                {
                    alike.push(description.type_name);
                }
            }
        }
    }
    alike.sort_unstable();
    alike.dedup();
    assert!(alike.len() > 30, "{alike:?}");
}
