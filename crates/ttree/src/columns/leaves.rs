//! Branches without classes.

use forthwith_columns::{DType, Encoding, Form};
use forthwith_plan::{Decoder, Kernel, Slot};

use super::leaf_list::{LeafMember, Many};
use super::{Column, Dimensions, number, numbers};
use crate::{
    metadata::{Branch, Leaf},
    programs,
};
use forthwith_root::{Packing, code};

/// The column of a branch without classes: of its leaves.
pub(crate) fn of_leaves(branch: &Branch<'_>, leaves: &[Leaf<'_>]) -> Column {
    match leaves {
        [] => Column::unsupported("a branch without leaves"),
        [leaf] => of_leaf(branch, leaf),
        _ => of_leaf_list(branch, leaves),
    }
}

fn of_leaf(branch: &Branch<'_>, leaf: &Leaf<'_>) -> Column {
    if leaf.class == "TLeafC" {
        return Column::program(
            "char*".into(),
            programs::leaf_strings(&branch.field.name),
            "strings of different lengths",
        );
    }
    let Some((name, wire)) = leaf_type(leaf) else { return Column::unsupported(leaf.class) };
    let Some(dimensions) = Dimensions::of_leaf(branch, leaf) else {
        return Column::refused(name.into(), &format!("with the dimensions {:?}", leaf.title));
    };
    let type_name = dimensions.spelling(name, leaf.counter.is_some());
    if leaf.counter.is_none() {
        return Column::flat(type_name, wire, dimensions.fixed);
    }
    Column { counter: leaf.counter, ..Column::jagged(type_name, 0, wire, dimensions.fixed) }
}

fn of_leaf_list(branch: &Branch<'_>, leaves: &[Leaf<'_>]) -> Column {
    let mut spelled = Vec::with_capacity(leaves.len());
    let mut members = Vec::with_capacity(leaves.len());
    let mut readable = true;
    for (i, leaf) in leaves.iter().enumerate() {
        let is_last = i + 1 == leaves.len();
        let repeated = leaves[..i].iter().any(|before| before.name == leaf.name);
        let known =
            leaf_type(leaf).and_then(|(name, wire)| Some((name, wire, Dimensions::of_leaf(branch, leaf)?)));
        match known {
            Some((name, wire, dimensions)) => {
                let brackets = dimensions.spelling("", leaf.counter.is_some());
                spelled.push(format!("{name} {}{brackets};", leaf.name));
                let before = |place: usize| leaves[..i].iter().position(|leaf| leaf.place == place);
                let many = match leaf.counter {
                    None => Many::One,
                    Some(_) if is_last => Many::ToEnd,
                    Some(place) => before(place).map_or(Many::Unknown, Many::As),
                };
                readable &= !repeated && many != Many::Unknown;
                let shape = dimensions.fixed;
                members.push((leaf.name.to_string(), LeafMember::Numbers { wire, shape, many }));
            }
            None => {
                let name = if leaf.class == "TLeafC" { "char*" } else { leaf.class };
                spelled.push(format!("{name} {};", leaf.name));
                readable &= !repeated && is_last && leaf.class == "TLeafC";
                members.push((leaf.name.to_string(), LeafMember::Text));
            }
        }
    }
    let type_name = format!("struct {{{}}}", spelled.join(" "));
    if !readable {
        return Column::unsupported(type_name);
    }
    match slots(&members) {
        Some(column) => Column { type_name, ..column },
        None => match programs::leaf_list(&members, &branch.field.name) {
            Some(program) => Column::program(type_name, program, "a record with members that vary in size"),
            None => Column::unsupported(type_name),
        },
    }
}

/// The column of a leaf list, if all of its members have one size.
fn slots(members: &[(String, LeafMember)]) -> Option<Column> {
    let (mut slots, mut names, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0u64;
    for (i, (name, member)) in members.iter().enumerate() {
        let LeafMember::Numbers { wire, shape, many: Many::One } = member else { return None };
        let count = shape.iter().product();
        slots.push(Slot { at, wire: *wire, count });
        contents.push(numbers(&format!("node{i}"), *wire, shape.clone()));
        names.push(name.clone());
        at = at.checked_add(count.checked_mul(wire.width() as u64)?)?;
    }
    let form = Form::Record { fields: Some(names), contents, name: None };
    let kernel = Kernel::Slots { size: at, slots };
    Some(Column::new(String::new(), form, Decoder::Kernel(kernel), "a record of numbers at fixed places"))
}

/// The type of a leaf of numbers.
fn leaf_type(leaf: &Leaf<'_>) -> Option<(&'static str, Encoding)> {
    use DType as D;
    let sign = |signed, unsigned| if leaf.unsigned { unsigned } else { signed };
    let big = |(name, dtype)| Some((name, Encoding::Big(dtype)));
    match leaf.class {
        "TLeafO" => Some(("bool", Encoding::Bool)),
        "TLeafB" => big(sign(("int8_t", D::Int8), ("uint8_t", D::UInt8))),
        "TLeafS" => big(sign(("int16_t", D::Int16), ("uint16_t", D::UInt16))),
        "TLeafI" => big(sign(("int32_t", D::Int32), ("uint32_t", D::UInt32))),
        "TLeafL" | "TLeafG" => big(sign(("int64_t", D::Int64), ("uint64_t", D::UInt64))),
        "TLeafF" => big(("float", D::Float32)),
        "TLeafD" => big(("double", D::Float64)),
        "TLeafF16" => number(code::FLOAT16, leaf_packing(leaf)),
        "TLeafD32" => number(code::DOUBLE32, leaf_packing(leaf)),
        _ => None,
    }
}

/// Behind the name and the dimensions stands the type, and behind it the range.
fn leaf_packing(leaf: &Leaf<'_>) -> Option<Packing> {
    Packing::from_comment(leaf.title.split_once('/').map_or(&*leaf.title, |(_, kind)| kind))
}
