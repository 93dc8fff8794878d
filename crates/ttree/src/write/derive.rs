//! The columns that the branches of a tree are, with the options by which they become such branches.

use std::collections::HashMap;

use super::{ColumnOptions, Floats, Jagged, Nulls, Packing, Records, Strings};
use crate::{
    columns::member_name,
    metadata::{Branch, Leaf},
    tree::Tree,
};
use forthwith_columns::{Form, MAP};
use forthwith_plan::{Dataset, Error, Result};
use forthwith_root::write::Compression;

/// A column of a tree that is there.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) options: ColumnOptions,
}

/// The columns of a tree. Branches that count the items of others are none.
///
/// # Errors
/// A branch of a kind that no column becomes.
pub(super) fn columns(tree: &Tree, nulls: Nulls) -> Result<Vec<Column>> {
    let owners: HashMap<usize, u32> = tree.metadata().leaf_places().collect();
    let mut counters = HashMap::new();
    let fields = tree.fields()?;
    for number in 0..fields.len() as u32 {
        for place in tree.branch(number)?.leaves()?.into_iter().filter_map(|leaf| leaf.counter) {
            if let Some(owner) = owners.get(&place).and_then(|owner| fields.get(*owner as usize)) {
                counters.insert(place, owner.name.clone());
            }
        }
    }
    let mut columns = Vec::new();
    for (number, field) in (0..).zip(fields).filter(|(_, field)| field.parent.is_none()) {
        let branch = tree.branch(number)?;
        let column = column(tree, number, &branch, &counters, nulls);
        columns.extend(column.map_err(|e| e.in_object(&format!("{}/{}", tree.object(), field.path)))?);
    }
    Ok(columns)
}

fn column(
    tree: &Tree,
    number: u32,
    branch: &Branch<'_>,
    counters: &HashMap<usize, String>,
    nulls: Nulls,
) -> Result<Option<Column>> {
    let name = branch.field.name.clone();
    let setting = branch.object.int("fCompress").and_then(|setting| i32::try_from(setting).ok());
    let mut options = ColumnOptions {
        nulls,
        compression: setting.and_then(|setting| Compression::from_setting(setting).ok()),
        ..ColumnOptions::default()
    };
    if branch.class == "TBranch" {
        let leaves = branch.leaves()?;
        let [leaf] = &leaves[..] else {
            return Err(refused(format!("a branch of {} leaves", leaves.len())));
        };
        if counters.contains_key(&leaf.place) {
            return Ok(None);
        }
        options.counter = leaf.counter.and_then(|place| counters.get(&place).cloned());
        options.floats = floats(leaf)?;
        if leaf.class == "TLeafC" {
            options.strings = Strings::Characters;
        }
        return Ok(Some(Column { name, form: form(tree, number)?, options }));
    }
    if branch.class != "TBranchElement" {
        return Err(refused(format!("a {}", branch.class)));
    }
    options.jagged = Jagged::Vector;
    if !branch.field.has_children {
        return Ok(Some(Column { name, form: form(tree, number)?, options }));
    }
    options.records = Records::Class;
    let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
    Ok(Some(Column { name, form: object(tree, number, branch)?, options }))
}

/// The Form of a branch that has its values itself.
fn form(tree: &Tree, number: u32) -> Result<Form> {
    let description = tree.describe(number)?;
    match description.reading {
        Ok(reading) => Ok(reading.form),
        Err(reason) => Err(refused(format!("a branch of {}: {reason}", description.type_name))),
    }
}

/// The Form of a divided object, or of a divided collection of them.
fn object(tree: &Tree, number: u32, branch: &Branch<'_>) -> Result<Form> {
    let member = branch.member.as_ref();
    let is_collection = member.is_some_and(|member| matches!(member.kind, 3 | 4));
    let is_map = member.is_some_and(|member| member.class.starts_with("map<"));
    let (mut names, mut contents, mut class) = (Vec::new(), Vec::new(), None);
    for (below, field) in (0..).zip(tree.fields()?).filter(|(_, field)| field.parent == Some(number)) {
        let branch = tree.branch(below)?;
        let content = match field.has_children {
            true => object(tree, below, &branch)?,
            false => form(tree, below)?,
        };
        contents.push(match content {
            Form::List { content, .. } if is_collection => *content,
            _ if is_collection => return Err(refused("a collection of items that are no lists")),
            content => content,
        });
        names.push(member_name(&field.name).to_owned());
        class = class.or_else(|| branch.member.map(|member| member.class));
    }
    let record = match is_map {
        true => Form::Record { fields: None, contents, name: Some(MAP.into()) },
        false => Form::Record { fields: Some(names), contents, name: class },
    };
    Ok(match is_collection {
        true => Form::List { key: "items".into(), content: Box::new(record) },
        false => record,
    })
}

/// How the numbers of a leaf are packed, as its title says: `x/d[0,10,16]`.
fn floats(leaf: &Leaf<'_>) -> Result<Floats> {
    let floats: fn(Packing) -> Floats = match leaf.class {
        "TLeafF16" => Floats::Float16,
        "TLeafD32" => Floats::Double32,
        _ => return Ok(Floats::Whole),
    };
    let Some((_, range)) = leaf.title.rsplit_once('[').filter(|(_, range)| range.contains(',')) else {
        return Ok(floats(Packing::Usual));
    };
    let unknown = || refused(format!("numbers packed in a range that is spelled [{range}"));
    let parts: Vec<&str> = range.trim_end_matches(']').split(',').map(str::trim).collect();
    let bound = |at: usize| parts.get(at).and_then(|part| part.parse::<f64>().ok()).ok_or_else(unknown);
    let bits = parts.get(2).map_or(Ok(32), |part| part.parse::<u32>().map_err(|_| unknown()))?;
    let (min, max) = (bound(0)?, bound(1)?);
    Ok(floats(match min < max {
        true => Packing::Range { min, max, bits },
        false if min == max && bits < 15 => Packing::Mantissa { bits },
        // As ROOT has it: neither a range nor a mantissa.
        false if min == 0.0 && max == 0.0 => Packing::Usual,
        false => return Err(unknown()),
    }))
}

/// The error of a tree that cannot be extended.
pub(super) fn refused(what: impl Into<String>) -> Error {
    Error::unsupported(format!("extending {}", what.into()))
}
