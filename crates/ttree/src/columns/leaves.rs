//! Columns of branches without classes.

use std::{collections::HashMap, sync::Arc};

use forthwith_columns::{DType, Encoding, Form, repeated_name};
use forthwith_plan::{Decoder, Kernel, Reading, Slot};
use forthwith_program::{Frame, Layout, translate};

use super::{Column, Dimensions, Laid, fixed, number, numbers};
use crate::leaf_classes::leaf_numbers;
use crate::metadata::{Branch, Leaf};
use forthwith_root::{Number, Packing, code, unroll};

/// Returns the column of a branch without a class, which has only leaves.
pub(crate) fn of_leaves(branch: &Branch<'_>, leaves: &[Leaf<'_>]) -> Column {
    match leaves {
        [] => Column::unsupported("a branch without leaves"),
        [leaf] => of_leaf(branch, leaf),
        _ => of_leaf_list(branch, leaves),
    }
}

fn of_leaf(branch: &Branch<'_>, leaf: &Leaf<'_>) -> Column {
    if leaf.class == "TLeafC" {
        // An empty string may take no bytes.
        let text = Ok(Layout::OrNothing(Box::new(Layout::Text)));
        return Column::described("char*".into(), text, &branch.field.name)
            .because("strings of different lengths");
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
    let mut fields: Vec<(String, Layout)> = Vec::with_capacity(leaves.len());
    let mut readable = repeated_name(leaves.iter().map(|leaf| leaf.name.as_str())).is_none();
    let mut at_place = HashMap::new();
    for (i, leaf) in leaves.iter().enumerate() {
        let is_last = i + 1 == leaves.len();
        let known =
            leaf_type(leaf).and_then(|(name, wire)| Some((name, wire, Dimensions::of_leaf(branch, leaf)?)));
        let Some((name, wire, dimensions)) = known else {
            let name = if leaf.class == "TLeafC" { "char*" } else { leaf.class };
            spelled.push(format!("{name} {};", leaf.name));
            readable &= is_last && leaf.class == "TLeafC";
            fields.push((leaf.name.clone(), Layout::OrNothing(Box::new(Layout::Text))));
            continue;
        };
        spelled.push(format!("{name} {}{};", leaf.name, dimensions.spelling("", leaf.counter.is_some())));
        let of = Box::new(fixed(Layout::Number(wire), &dimensions.fixed));
        let counter = leaf.counter.and_then(|place| at_place.get(&place).copied());
        at_place.entry(leaf.place).or_insert(i);
        let layout = match (leaf.counter, counter) {
            (None, _) => *of,
            // The last array has as many items as fit before the entry's end.
            (Some(_), _) if is_last => Layout::Rest(of),
            (Some(_), Some(counter)) => {
                let slot = counter as u32;
                match &mut fields[counter].1 {
                    Layout::Counter(..) => {}
                    count @ Layout::Number(Encoding::Bool | Encoding::Big(_)) if !is_real(count) => {
                        *count = Layout::Counter(slot, Box::new(count.clone()));
                    }
                    _ => readable = false,
                }
                Layout::Counted { slot, flag: false, of }
            }
            // The counter is a leaf of another branch.
            (Some(_), None) => {
                readable = false;
                *of
            }
        };
        fields.push((leaf.name.clone(), layout));
    }
    let type_name = format!("struct {{{}}}", spelled.join(" "));
    let layout = Layout::Record { name: None, fields };
    match readable.then(|| slots(&layout).or_else(|| varying(&layout, &branch.field.name))).flatten() {
        Some(reading) => {
            let laid = Some(Arc::new(Laid { layout, to_end: false, framed: false }));
            Column { reading: Ok(reading), laid, ..Column::unsupported(type_name) }
        }
        None => Column::unsupported(type_name),
    }
}

fn is_real(number: &Layout) -> bool {
    matches!(number, Layout::Number(Encoding::Big(DType::Float32 | DType::Float64)))
}

/// Returns the reading of a leaf list whose members all have a fixed size, and `None` for others.
fn slots(record: &Layout) -> Option<Reading> {
    let Layout::Record { fields, .. } = record else { return None };
    let (mut slots, mut names, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0u64;
    for (i, (name, field)) in fields.iter().enumerate() {
        let (wire, shape) = numbers_of(field)?;
        let count = shape.iter().product();
        slots.push(Slot { at, wire, count });
        contents.push(numbers(&format!("node{i}"), wire, shape));
        names.push(name.clone());
        at = at.checked_add(count.checked_mul(wire.width() as u64)?)?;
    }
    let form = Form::Record { fields: Some(names), contents, name: None };
    let decoder = Decoder::Kernel(Kernel::Slots { size: at, slots });
    Some(Reading { form, decoder, reason: "a record of numbers at fixed places".into() })
}

/// Returns the reading of a leaf list with members of any length, and `None` if some of its numbers are
/// packed.
fn varying(record: &Layout, member: &str) -> Option<Reading> {
    let Layout::Record { fields, .. } = record else { return None };
    let is_packed = |(_, field): &(String, Layout)| {
        let of = match field {
            Layout::Counted { of, .. } | Layout::Rest(of) | Layout::Counter(_, of) => of,
            field => field,
        };
        numbers_of(of).is_some_and(|(wire, _)| !matches!(wire, Encoding::Bool | Encoding::Big(_)))
    };
    if fields.iter().any(is_packed) {
        return None;
    }
    let dialect = unroll::dialect(Frame::None);
    let mut program = translate(record, &dialect, true, member).ok()?;
    program.form = shaped(program.form);
    Some(Reading::program(program, "a record with members that vary in size"))
}

/// Returns the encoding of numbers and the shape of an array of them, and `None` for other layouts.
fn numbers_of(layout: &Layout) -> Option<(Encoding, Vec<u64>)> {
    match layout {
        Layout::Number(wire) => Some((*wire, Vec::new())),
        Layout::Fixed(size, of) => {
            let (wire, mut shape) = numbers_of(of)?;
            shape.insert(0, *size);
            Some((wire, shape))
        }
        _ => None,
    }
}

/// Moves the dimensions of arrays into the Form of their numbers.
fn shaped(form: Form) -> Form {
    match form {
        Form::Regular { size, content } => shaped(*content).repeated(size),
        Form::List { key, content } => Form::List { key, content: Box::new(shaped(*content)) },
        Form::Record { fields, contents, name } => {
            Form::Record { fields, contents: contents.into_iter().map(shaped).collect(), name }
        }
        form => form,
    }
}

/// Returns the spelling and the encoding of a leaf's numbers.
fn leaf_type(leaf: &Leaf<'_>) -> Option<(&'static str, Encoding)> {
    match leaf.class {
        "TLeafF16" => number(code::FLOAT16, leaf_packing(leaf)),
        "TLeafD32" => number(code::DOUBLE32, leaf_packing(leaf)),
        class => {
            let number = Number::of(leaf_numbers(class, leaf.unsigned)?);
            Some((number.spelling, number.wire(None)?))
        }
    }
}

/// Returns the packing of a leaf's numbers. Its title is the name with dimensions, a slash, the type and the
/// range.
fn leaf_packing(leaf: &Leaf<'_>) -> Option<Packing> {
    Packing::from_comment(leaf.title.split_once('/').map_or(&*leaf.title, |(_, kind)| kind))
}
