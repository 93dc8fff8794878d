//! Columns of branches for members of classes.

use forthwith_columns::{DType, Encoding};
use forthwith_program::{Entry, Frame, Layout};

use super::{Column, Dimensions, fixed, number, plain};
use crate::metadata::{Branch, Leaf, MemberOf};
use forthwith_root::class::{Numbers, Value};
use forthwith_root::unroll::Classes;
use forthwith_root::{CppType, Element, ElementKind, StreamerInfo, code};

/// Returns the column of one member of a class or, with `items`, of that member of all items of a collection.
pub(crate) fn of_member(
    branch: &Branch<'_>,
    info: &StreamerInfo,
    element: &Element,
    items: bool,
    given: Option<DType>,
    classes: &mut Classes<'_>,
) -> Column {
    if let (Some(numbers), false) = (given, element.is_base()) {
        classes.give(info, element, numbers);
    }
    let dimensions = Dimensions::of_element(element);
    let member = &*branch.field.name;
    let spell = |name: &str| dimensions.spelling(name, items);
    if let (true, true) = (element.is_base(), items) {
        // A base that is not split further is stored member-wise: the first member of all items, then the
        // second.
        let type_name = spell(&element.name);
        let schema = classes.base_of_many(element).map(|schema| schema.unwrap_or(Layout::Null));
        return match (given, schema) {
            (Some(numbers), Ok(schema @ Layout::Base(_))) => {
                Column::described_as(type_name, Ok(schema), member, |layout| Entry::Fields(numbers, layout))
            }
            (_, Ok(_)) => Column::refused(type_name, "as a base of items that nothing counts"),
            (_, Err(why)) => Column::described(type_name, Err(why), member),
        };
    }
    if element.is_base() {
        let schema = match classes.base(element) {
            Ok(Some(Layout::Base(of))) => Ok(*of),
            Ok(schema) => Ok(Layout::Record {
                name: Some(element.name.to_string()),
                fields: schema.map(|schema| (String::new(), schema)).into_iter().collect(),
            }),
            Err(why) => Err(why),
        };
        return Column::described(spell(&element.name), schema, member);
    }
    let stored = classes.member_described(element);
    let text = |name, layout| {
        let entry = if items { Entry::ToEnd(layout) } else { Entry::Value(layout) };
        Column::translated(spell(name), entry, Frame::None, member)
    };
    match (&stored.value, stored.array) {
        (Value::Bits, _) => {
            let type_name = spell("uint32_t");
            if !items && branch.entry_offset_len == 0 {
                return Column::flat(type_name, Encoding::Big(DType::UInt32), Vec::new());
            }
            let reason = "referenced objects have two bytes more";
            of_described(type_name, classes.member(info, element), items, member).because(reason)
        }
        (Value::LongText, None) => text("char*", &Layout::LongText),
        (Value::Text, None) => text("TString", &Layout::Text),
        (Value::Text, Some(_)) if !items => {
            let schema = fixed(Layout::Text, &dimensions.fixed);
            Column::translated(spell("TString"), Entry::Value(&schema), Frame::Counted, member)
        }
        (Value::Number(numbers), _) => of_numbers(element, numbers, items, dimensions),
        (Value::Counted(_, counter) | Value::CountedTexts(counter), _)
            if items || !dimensions.fixed.is_empty() =>
        {
            if given.is_none() {
                return Column::unsupported(spell(&element.type_name));
            }
            let type_name = format!("{}[{}]", spell(element_type(element)), counter.name);
            of_described(type_name, classes.member(info, element), items, member)
        }
        // A flag, then as many numbers as the counter member has.
        (Value::Counted(numbers, counter), _) => match number(numbers.code, element.packing) {
            None => Column::unsupported(&*element.type_name),
            Some((name, wire)) => {
                let type_name = format!("{name}[{}]", counter.name);
                match numbers.code {
                    code::BITS => Column::unsupported(type_name),
                    _ => Column::jagged(type_name, 1, wire, Vec::new()),
                }
            }
        },
        (Value::CountedTexts(_), _) => Column::unsupported(&*element.type_name),
        _ => {
            let name = element.type_name.trim();
            let is_stl = matches!(element.kind, ElementKind::Stl { .. } | ElementKind::StlString);
            let name = if is_stl { name.strip_suffix('*').unwrap_or(name) } else { name };
            let kind = CppType::parse(name);
            let type_name = spell(&kind.spelling());
            if let (Some(schema), true, false) = (plain(&kind), is_stl, items) {
                let schema = fixed(schema, &dimensions.fixed);
                return Column::translated(type_name, Entry::Value(&schema), Frame::Counted, member);
            }
            let schema = classes.member(info, element);
            if let (ElementKind::Loop(counter), true) = (&element.kind, items) {
                let type_name = format!("{type_name}[{}]", counter.name);
                return match given {
                    // An item may be empty, and take no bytes.
                    Some(_) => Column::described_as(type_name, schema, member, |layout| Entry::Times(layout)),
                    None => Column::refused(type_name, "without a branch that counts them"),
                };
            }
            // An empty container may take no bytes.
            let schema = match schema {
                Ok(schema) if kind.is_container() && !items && dimensions.fixed.is_empty() => {
                    Ok(Layout::OrNothing(Box::new(schema)))
                }
                other => other,
            };
            of_described(type_name, schema, items, member)
        }
    }
}

fn of_described(type_name: String, schema: Result<Layout, String>, items: bool, member: &str) -> Column {
    Column::described_as(type_name, schema, member, |layout| {
        if items { Entry::ToEnd(layout) } else { Entry::Value(layout) }
    })
}

/// Returns the column of a member as [`of_member`] does, but for a class without streamer info. Only plain
/// numbers are supported, whose type the branch has.
pub(crate) fn of_undescribed(branch: &Branch<'_>, member: &MemberOf, leaf: Option<&Leaf<'_>>) -> Column {
    let unknown =
        || Column::unsupported(format!("a member of {}, which the file does not describe", member.class));
    let Some(leaf) = leaf else { return unknown() };
    let items = matches!(member.kind, 31 | 41);
    let (code, is_array) = match i32::try_from(member.code) {
        Ok(code @ 1..=19) => (code, false),
        Ok(code @ 21..=39) => (code - code::ARRAY, true),
        _ => return unknown(),
    };
    // The packing of these numbers is only in the streamer info.
    let packed = matches!(code, code::DOUBLE32 | code::FLOAT16 | code::BITS | code::CHAR_STAR);
    let (Some((name, wire)), false) = (number(code, None), packed) else { return unknown() };
    let brackets = leaf.title.matches('[').count();
    match (items, is_array, leaf.len) {
        (false, false, 1) => Column::flat(name.into(), wire, Vec::new()),
        (false, true, 2..) if brackets == 1 && leaf.counter.is_none() => {
            Column::flat(format!("{name}[{}]", leaf.len), wire, vec![leaf.len as u64])
        }
        (true, false, _) if branch.entry_offset_len != 0 => {
            Column::jagged(format!("{name}[]"), 0, wire, Vec::new())
        }
        _ => unknown(),
    }
}

fn of_numbers(element: &Element, numbers: &Numbers, items: bool, dimensions: Dimensions) -> Column {
    let Some((name, wire)) = number(numbers.code, element.packing) else {
        return Column::unsupported(dimensions.spelling(&element.type_name, items));
    };
    if numbers.code == code::BITS || dimensions.fixed.contains(&0) {
        return Column::unsupported(dimensions.spelling(name, items));
    }
    let type_name = dimensions.spelling(name, items);
    if items {
        Column::jagged(type_name, 0, wire, dimensions.fixed)
    } else {
        Column::flat(type_name, wire, dimensions.fixed)
    }
}

/// Returns the type of the numbers behind a pointer.
fn element_type(element: &Element) -> &str {
    match number(element.code - code::POINTER, element.packing) {
        Some((name, _)) => name,
        None => element.type_name.trim_end_matches('*'),
    }
}
