//! Column types, and the assignment of a batch's nodes and buffers to columns.

use crate::message::{Batch, Node};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_schema::{DataType, Field, FieldRef, Schema, UnionMode};
use forthwith_plan::{Error, Result};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// A column as the schema declares it.
#[derive(Clone, Debug)]
pub(crate) struct ColumnType {
    /// Name, stored type, nullability, metadata.
    pub field: Field,
    /// Ids of the dictionaries in the column, depth first.
    pub dictionaries: Vec<i64>,
    /// The reason why the column cannot be read; `None` if it can.
    pub unsupported: Option<String>,
}

/// Upper bound on the nesting depth of types, which are traversed recursively.
const DEEPEST: usize = 64;

/// Parses a schema, which is untrusted input.
pub(crate) fn columns(schema: arrow_ipc::Schema<'_>) -> Result<(Schema, Vec<ColumnType>)> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(Error::unsupported("Arrow IPC of the other byte order"));
    }
    let parsed =
        try_fb_to_schema(schema).map_err(|error| Error::not_a("a schema of Arrow IPC", error.to_string()))?;
    let stored = schema.fields().into_iter().flatten();
    let columns = parsed.fields().iter().zip(stored).map(|(field, stored)| {
        let (mut dictionaries, mut unsupported) = (Vec::new(), None);
        collect_dictionaries(stored, &mut dictionaries, &mut unsupported, DEEPEST);
        let unsupported = unsupported.or_else(|| invalid(field.data_type(), DEEPEST));
        ColumnType { field: field.as_ref().clone(), dictionaries, unsupported }
    });
    let columns = columns.collect();
    Ok((parsed, columns))
}

/// Appends the ids of all dictionaries in a field, depth first.
fn collect_dictionaries(
    field: arrow_ipc::Field<'_>,
    ids: &mut Vec<i64>,
    unsupported: &mut Option<String>,
    depth: usize,
) {
    let Some(depth) = depth.checked_sub(1) else {
        *unsupported = Some(format!("types nested more than {DEEPEST} deep"));
        return;
    };
    let mut children = field.children().into_iter().flatten();
    let Some(dictionary) = field.dictionary() else {
        children.for_each(|child| collect_dictionaries(child, ids, unsupported, depth));
        return;
    };
    ids.push(dictionary.id());
    let mut inner = Vec::new();
    children.by_ref().for_each(|child| collect_dictionaries(child, &mut inner, unsupported, depth));
    if !inner.is_empty() {
        *unsupported = Some("dictionaries within the values of a dictionary".into());
    }
}

/// Returns the reason why a type is invalid, which a corrupt schema can declare, or unsupported; `None` if it
/// is supported.
fn invalid(data_type: &DataType, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let nested = |field: &FieldRef| invalid(field.data_type(), depth);
    match data_type {
        DataType::FixedSizeBinary(size) if *size < 0 => Some(format!("values of {size} bytes")),
        DataType::FixedSizeList(_, size) if *size < 0 => Some(format!("lists of {size} items")),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => nested(item),
        DataType::RunEndEncoded(ends, values) => match ends.data_type() {
            DataType::Int16 | DataType::Int32 | DataType::Int64 => nested(values),
            other => Some(format!("runs with ends of type {other}")),
        },
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => nested(entries),
            other => Some(format!("a map with entries of type {other}")),
        },
        DataType::Struct(fields) => fields.iter().find_map(nested),
        DataType::Union(fields, _) => fields.iter().find_map(|(_, field)| nested(field)),
        DataType::Dictionary(_, values) => invalid(values, depth),
        DataType::Interval(_) => Some(format!("Arrow's type {data_type}")),
        _ => None,
    }
}

/// Whether rows of a field may be null. Rows of run-end encoded fields are null if their values are.
pub(crate) fn is_nullable(field: &Field) -> bool {
    let of_values = |field: &Field| matches!(field.data_type(), DataType::RunEndEncoded(_, values) if is_nullable(values));
    field.is_nullable() || of_values(field)
}

/// Whether a type contains run-end encoded arrays, in which few bytes can be many rows.
pub(crate) fn has_runs(data_type: &DataType) -> bool {
    match data_type {
        DataType::RunEndEncoded(..) => true,
        DataType::Dictionary(_, values) => has_runs(values),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_runs(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_runs(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_runs(field.data_type())),
        _ => false,
    }
}

/// Returns the type of a column after reading: dictionaries and runs are replaced by their values, and list
/// views by lists.
pub(crate) fn plain(field: &Field) -> Field {
    let inner = |field: &FieldRef| Arc::new(plain(field));
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) | DataType::ListView(item) | DataType::LargeListView(item) => {
            DataType::LargeList(inner(item))
        }
        DataType::RunEndEncoded(_, values) => plain(values).data_type().clone(),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(inner(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Union(fields, mode) => {
            let fields = fields.iter().map(|(id, field)| (id, inner(field))).collect();
            DataType::Union(fields, *mode)
        }
        other => other.clone(),
    };
    Field::new(field.name(), data_type, is_nullable(field)).with_metadata(field.metadata().clone())
}

/// The nodes and buffers of one column of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Nodes, depth first.
    pub nodes: VecDeque<Node>,
    /// Buffers in the same order, as ranges of the body of the message.
    pub buffers: VecDeque<Range<u64>>,
    /// Number of data buffers of each view array.
    pub variadic: VecDeque<i64>,
}

/// Divides the nodes and buffers of a batch among its columns. `union_validity` tells whether unions have a
/// validity buffer, as in version 4 of the format.
pub(crate) fn parts(batch: &Batch, columns: &[ColumnType], union_validity: bool) -> Result<Vec<Part>> {
    let mut left = Part {
        nodes: batch.nodes.iter().copied().collect(),
        buffers: batch.buffers.iter().cloned().collect(),
        variadic: batch.variadic.iter().copied().collect(),
    };
    let all = columns.iter().map(|column| {
        let mut own = Part::default();
        take(column.field.data_type(), &mut left, &mut own, union_validity)?;
        Ok(own)
    });
    let all = all.collect::<Result<Vec<_>>>()?;
    if !left.nodes.is_empty() || !left.buffers.is_empty() {
        return Err(Error::fault("a record batch has more buffers than the columns of its schema"));
    }
    Ok(all)
}

/// Moves the nodes and buffers of a type from `left` to `own`.
fn take(data_type: &DataType, left: &mut Part, own: &mut Part, union_validity: bool) -> Result<()> {
    let short = || Error::fault("a record batch has fewer buffers than the columns of its schema");
    own.nodes.push_back(left.nodes.pop_front().ok_or_else(short)?);
    let mut buffers = |count: usize, own: &mut Part| {
        if count > left.buffers.len() {
            return Err(short());
        }
        own.buffers.extend(left.buffers.drain(..count));
        Ok(())
    };
    match data_type {
        DataType::Null | DataType::RunEndEncoded(..) => {}
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => buffers(3, own)?,
        DataType::ListView(_) | DataType::LargeListView(_) => buffers(3, own)?,
        DataType::Utf8View | DataType::BinaryView => {
            let count = left.variadic.pop_front().ok_or_else(short)?;
            let data = usize::try_from(count).ok().and_then(|data| data.checked_add(2)).ok_or_else(short)?;
            own.variadic.push_back(count);
            buffers(data, own)?;
        }
        DataType::FixedSizeList(..) | DataType::Struct(_) => buffers(1, own)?,
        DataType::Union(_, mode) => {
            buffers(usize::from(union_validity) + if *mode == UnionMode::Dense { 2 } else { 1 }, own)?;
        }
        _ => buffers(2, own)?,
    }
    let mut child = |field: &FieldRef| take(field.data_type(), left, own, union_validity);
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => child(item),
        DataType::Struct(fields) => fields.iter().try_for_each(child),
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| child(field)),
        DataType::RunEndEncoded(ends, values) => child(ends).and_then(|()| child(values)),
        _ => Ok(()),
    }
}
