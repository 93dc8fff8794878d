//! The type of each kind of branch, and how its values are read.

mod leaves;
mod members;

pub(super) use leaves::of_leaves;
pub(super) use members::{of_member, of_undescribed};

use std::sync::Arc;

use forthwith_columns::{DType, Encoding, Form};
use forthwith_plan::{ColumnSpec, Decoder, Kernel, Reading, Slot};
use forthwith_program::{Entry, Frame, Layout, When, Words, translate};

use forthwith_root::class::dimensions;
use forthwith_root::unroll::{self, Classes, fixed};
use forthwith_root::{CppType, Element, Number, Packing};

use crate::metadata::{Branch, Leaf, MemberOf};

/// Type and reading of a branch.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// C++ spelling of the type.
    pub(super) type_name: String,
    /// How the branch is read, or the type that is not supported.
    pub(super) reading: Result<Reading, String>,
    /// Leaf that counts the items, by its offset in the tree's record.
    pub(super) counter: Option<usize>,
    /// Branch whose values count the items.
    pub(super) counts: Option<u32>,
    /// Layout of the entries, except for numbers of one size.
    pub(super) laid: Option<Arc<Laid>>,
}

/// Layout of entries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Laid {
    pub(crate) layout: Layout,
    /// Whether an entry has items of this layout up to its end, rather than one value.
    pub(crate) to_end: bool,
    /// Whether a byte count and a version precede the entry.
    pub(crate) framed: bool,
}

impl Column {
    fn new(type_name: String, form: Form, decoder: Decoder, reason: &str) -> Self {
        let reading = Ok(Reading { form, decoder, reason: reason.into() });
        Self { reading, ..Self::unsupported(type_name) }
    }

    /// Returns the column of an unsupported type.
    pub(super) fn unsupported(type_name: impl Into<String>) -> Self {
        let type_name = type_name.into();
        Self { reading: Err(type_name.clone()), type_name, counter: None, counts: None, laid: None }
    }

    /// Returns the column of a known type that is not supported for `reason`.
    fn refused(type_name: String, reason: &str) -> Self {
        Self { reading: Err(format!("{type_name} {reason}")), ..Self::unsupported(type_name) }
    }

    /// Returns a column of entries with the same number of numbers each.
    fn flat(type_name: String, wire: Encoding, shape: Vec<u64>) -> Self {
        let per_entry = shape.iter().product();
        let form = numbers("node0", wire, shape);
        Self::new(type_name, form, Decoder::Kernel(Kernel::Flat { wire, per_entry }), "numbers of one size")
    }

    /// Returns a column of entries with any number of items.
    fn jagged(type_name: String, header: u32, wire: Encoding, shape: Vec<u64>) -> Self {
        let per_item = shape.iter().product();
        let content = Box::new(numbers("node1", wire, shape));
        let form = Form::List { key: "node0".into(), content };
        let kernel = Kernel::Jagged { header, wire, per_item };
        Self::new(type_name, form, Decoder::Kernel(kernel), "numbers of one size between entry bounds")
    }

    fn translated(type_name: String, entry: Entry<'_>, frame: Frame, member: &str) -> Self {
        match translate(entry, &unroll::dialect(frame), true, member) {
            Ok(program) => {
                let laid = match entry {
                    Entry::Value(layout) => Some((layout, false)),
                    Entry::ToEnd(layout) => Some((layout, true)),
                    _ => None,
                };
                let framed = frame == Frame::Counted;
                let laid = laid.map(|(layout, to_end)| Laid { layout: layout.clone(), to_end, framed });
                let reading = Ok(Reading::program(program, reason(entry, frame)));
                Self { reading, laid: laid.map(Arc::new), ..Self::unsupported(type_name) }
            }
            // The translator's reason is that of the column.
            Err(why) => Self::refused(type_name, &format!("({why})")),
        }
    }

    /// Replaces the reason for the decoder, if the column can be read.
    fn because(mut self, reason: &str) -> Self {
        if let Ok(reading) = &mut self.reading {
            reading.reason = reason.into();
        }
        self
    }

    /// Returns the column of values of a schema, or the error of the schema.
    fn described(type_name: String, schema: Result<Layout, String>, member: &str) -> Self {
        Self::described_as(type_name, schema, member, |layout| Entry::Value(layout))
    }

    /// Returns the column of a schema, of which `entry` makes the contents of an entry.
    fn described_as(
        type_name: String,
        schema: Result<Layout, String>,
        member: &str,
        entry: impl Fn(&Layout) -> Entry<'_>,
    ) -> Self {
        match schema {
            Ok(schema) => Self::translated(type_name, entry(&schema), Frame::None, member),
            Err(why) if why == type_name => Self::unsupported(type_name),
            Err(why) => Self::refused(type_name, &format!("({why})")),
        }
    }
}

/// Returns the properties of a type for which it needs a program.
fn reason(entry: Entry<'_>, frame: Frame) -> String {
    let mut found = Vec::new();
    if let Entry::Value(layout) | Entry::ToEnd(layout) = entry {
        features(layout, &mut found);
    }
    if frame == Frame::Counted && !found.contains(&"byte counts") {
        found.insert(0, "byte counts");
    }
    match found.split_last() {
        None => "items of different sizes".into(),
        Some((only, [])) => (*only).into(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

fn features(schema: &Layout, found: &mut Vec<&'static str>) {
    let feature = match schema {
        Layout::Text | Layout::LongText => "texts",
        Layout::Number(Encoding::Scaled { .. } | Encoding::Truncated { .. }) | Layout::Mixed(..) => {
            "packed numbers"
        }
        Layout::List(_) => "lists",
        Layout::Counted { .. } => "arrays that another member counts",
        Layout::Columns(_) => "lists stored member by member",
        Layout::Framed { .. } => "byte counts",
        Layout::Versioned(arms)
            if arms.iter().filter(|(when, _)| !matches!(when, When::Any | When::Together)).count() > 1 =>
        {
            "several versions of a class"
        }
        Layout::Pointer(_) => "pointers",
        Layout::OneClass { .. } => "an array that names the class of its items",
        Layout::Unknown(_) => "a class that the file does not describe, if there are such objects",
        _ => "",
    };
    if !feature.is_empty() && !found.contains(&feature) {
        found.push(feature);
    }
    match schema {
        Layout::List(of)
        | Layout::Counted { of, .. }
        | Layout::Columns(of)
        | Layout::Framed { of, .. }
        | Layout::Fixed(_, of)
        | Layout::Base(of)
        | Layout::Between(_, of, _)
        | Layout::OrNothing(of)
        | Layout::Flagged(of)
        | Layout::Skipped(of) => features(of, found),
        Layout::Versioned(arms) => arms.iter().for_each(|(_, arm)| features(arm, found)),
        Layout::OneClass { classes, .. } => classes.iter().for_each(|(_, _, class)| features(class, found)),
        Layout::Pointer(fields) | Layout::Record { fields, .. } | Layout::Arranged { fields, .. } => {
            fields.iter().for_each(|(_, field)| features(field, found));
        }
        Layout::Tuple(items) => items.iter().for_each(|item| features(item, found)),
        _ => {}
    }
}

/// Returns the specifications of the columns that a reading fills.
pub(super) fn specs(reading: &Reading, member: &str) -> Vec<ColumnSpec> {
    let data = |key: String, wire: Encoding, member: String| ColumnSpec {
        key,
        dtype: wire.dtype(),
        offsets: false,
        member,
        bytes_per_payload_byte: wire.dtype().size().div_ceil(wire.width()) as u32,
    };
    match &reading.decoder {
        Decoder::Kernel(Kernel::Flat { wire, .. }) => vec![data("node0-data".into(), *wire, member.into())],
        Decoder::Kernel(Kernel::Jagged { wire, .. }) => {
            let offsets = ColumnSpec {
                key: "node0-offsets".into(),
                dtype: DType::Int64,
                offsets: true,
                member: member.into(),
                bytes_per_payload_byte: 0,
            };
            vec![offsets, data("node1-data".into(), *wire, format!("{member}[]"))]
        }
        Decoder::Kernel(Kernel::Slots { slots, .. }) => {
            let names = match &reading.form {
                Form::Record { fields: Some(names), .. } => names.as_slice(),
                _ => &[],
            };
            let spec = |(i, slot): (usize, &Slot)| {
                let name = names.get(i).map(|name| format!("{member}.{name}")).unwrap_or_default();
                data(format!("node{i}-data"), slot.wire, name)
            };
            slots.iter().enumerate().map(spec).collect()
        }
        Decoder::Program(program) => unroll::columns(program),
        // Trees use no other kernels.
        _ => Vec::new(),
    }
}

fn numbers(key: &str, wire: Encoding, shape: Vec<u64>) -> Form {
    Form::Numpy { key: key.into(), dtype: wire.dtype(), shape }
}

/// Dimensions of an array.
struct Dimensions {
    /// Name of the counter, as the file spells it.
    variable: String,
    /// Fixed inner dimensions.
    fixed: Vec<u64>,
}

impl Dimensions {
    /// Parses the dimensions in a leaf's title, or in that of the branch if the leaf's has a range instead.
    /// Returns `None` if they contradict the leaf.
    fn of_leaf(branch: &Branch<'_>, leaf: &Leaf<'_>) -> Option<Self> {
        let len = u64::try_from(leaf.len).ok().filter(|&len| len > 0)?;
        let own = leaf.title.split('/').next().unwrap_or_default();
        let in_branch = || {
            let named = |part: &&str| part.split(['[', '/']).next() == Some(&*leaf.name);
            let part = branch.field.title.split(':').find(named)?;
            part.split('/').next()
        };
        // Up to ROOT 6.36, the title of a packed leaf has only the range.
        let is_own = own.starts_with(&*leaf.name) && !own.contains(',');
        let text = if is_own { own } else { in_branch().unwrap_or_default() };
        let mut found = Self { variable: String::new(), fixed: Vec::new() };
        for (i, part) in text.split('[').skip(1).enumerate() {
            let part = part.split(']').next().unwrap_or_default().trim();
            match part.parse::<u64>() {
                Ok(size) => found.fixed.push(size),
                // Only the outermost dimension can vary.
                Err(_) if i == 0 && leaf.counter.is_some() => found.variable = part.into(),
                Err(_) => return None,
            }
        }
        let product = found.fixed.iter().try_fold(1u64, |all, &size| all.checked_mul(size));
        if product != Some(len) {
            found.fixed = if len > 1 { vec![len] } else { Vec::new() };
        }
        Some(found)
    }

    fn of_element(element: &Element) -> Self {
        Self { variable: String::new(), fixed: dimensions(element).iter().copied().map(u64::from).collect() }
    }

    fn spelling(&self, name: &str, jagged: bool) -> String {
        let mut text = String::from(name);
        if jagged {
            text.push_str(&format!("[{}]", self.variable));
        }
        for size in &self.fixed {
            text.push_str(&format!("[{size}]"));
        }
        text
    }
}

/// Returns the column of a branch that holds whole objects.
pub(super) fn of_object(branch: &Branch<'_>, member: &MemberOf, classes: &mut Classes<'_>) -> Column {
    let kind = CppType::parse(&member.class);
    let type_name = kind.spelling();
    let name = &*branch.field.name;
    if let Some(schema) = plain(&kind) {
        // Lists of numbers and text, to any depth.
        let frame = if matches!(kind, CppType::Text(_)) { Frame::None } else { Frame::Counted };
        return Column::translated(type_name, Entry::Value(&schema), frame, name);
    }
    let schema = match &kind {
        // The entry was written by streamer info, not by a custom streamer: it has no frame, and the branch
        // has the version.
        CppType::Other(class) if member.kind == 0 && class != "TClonesArray" => {
            classes.unframed(class, member.version, member.checksum)
        }
        CppType::Other(class) => classes.object(class),
        CppType::Pair(..) if member.kind == 0 => classes.bare_of(&kind),
        CppType::Array(..) => classes.bare_of(&kind),
        kind => classes.member_of(kind),
    };
    Column::described(type_name, schema, name)
}

/// Returns the column of a branch whose objects follow the name of their class.
pub(super) fn of_named_object(branch: &Branch<'_>, class: &str, classes: &mut Classes<'_>) -> Column {
    let schema = classes.object(class).map(|object| {
        let name = Layout::Passed(Words::new("data B-> stack dup if 1+ data skip else drop then"));
        Layout::Between(vec![name], Box::new(object), Vec::new())
    });
    Column::described(class.into(), schema, &branch.field.name)
}

/// Returns the column of a branch of pointers that are split by class. Each pointer is stored as the number,
/// from 1, of the child branch with the object, or as 0 for null.
pub(super) fn of_pointers_by_class(branch: &Branch<'_>) -> Column {
    let counter = Layout::Counter(1, Box::new(Layout::Number(Encoding::Big(DType::UInt32))));
    let numbers =
        Layout::Counted { slot: 1, flag: true, of: Box::new(Layout::Number(Encoding::Big(DType::UInt8))) };
    let array = Layout::Between(vec![counter], Box::new(numbers), Vec::new());
    let schema =
        Layout::Framed { shared: true, of: Box::new(Layout::Versioned(vec![(When::AnyClass, array)])) };
    Column::translated("TIndArray".into(), Entry::Value(&schema), Frame::None, &branch.field.name)
}

/// Returns the schema of nested lists of numbers and text, for which there are native loops; `None` for other
/// types.
fn plain(kind: &CppType) -> Option<Layout> {
    match kind {
        CppType::Number(number) => {
            let wire = number.wire(None)?;
            matches!(wire, Encoding::Big(_) | Encoding::Bool).then_some(Layout::Number(wire))
        }
        CppType::Text(_) => Some(Layout::Text),
        CppType::Sequence(_, item) => Some(plain(item)?.list()),
        _ => None,
    }
}

/// Returns the member's name, the last part of a branch's name, such as `fX` of `event.fTracks.fX[3]`.
pub(super) fn member_name(branch: &str) -> &str {
    let name = branch.split('[').next().unwrap_or_default();
    let name = name.strip_suffix('.').unwrap_or(name);
    // Dots within template arguments do not separate names.
    let mut depth = 0usize;
    let dot = name.bytes().rposition(|letter| {
        match letter {
            b'>' => depth += 1,
            b'<' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == b'.' && depth == 0
    });
    dot.map_or(name, |at| &name[at + 1..])
}

/// Returns whether an element is the member `name`. The names of pointers may begin with their star.
pub(super) fn same_member(element: &str, name: &str) -> bool {
    element.trim_start_matches('*') == name
}

/// Returns the column of the counts of a split collection.
pub(super) fn of_counts() -> Column {
    Column::flat("int32_t".into(), Encoding::Big(DType::Int32), Vec::new())
}

/// Returns the spelling and encoding of ROOT's type code for numbers.
fn number(code: i32, packing: Option<Packing>) -> Option<(&'static str, Encoding)> {
    let number = Number::coded(code)?;
    Some((number.spelling, number.wire(packing)?))
}
