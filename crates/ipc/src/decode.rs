//! Decoding of a column of a record batch.

use crate::{
    array_data::check_limit,
    buffers::Source,
    dictionary::{Dictionary, Stored},
    layout::{Part, has_runs, plain},
    reachable::Reachable,
    value_bytes::bytes_of,
};
use arrow_array::make_array;
use arrow_schema::{DataType, Field};
use forthwith_columns::{Array, Form, NumberCast, arrow};
use forthwith_io::{Codec, Decompressor};
use forthwith_plan::{
    BlockColumns, BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append, check_headroom,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The [`BlockFormat`] of Arrow's IPC format: a block is one column of a record batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct IpcFormat;

/// Description of a column in a plan, by which it is decoded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recipe {
    /// The column, with its stored type.
    pub field: Field,
    /// The messages of each dictionary in it, depth first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dictionaries: Vec<Vec<Stored>>,
    /// Upper bound on the number of rows of a batch.
    pub most_rows: u64,
    /// Whether unions have a validity buffer, as in version 4 of the format.
    #[serde(default)]
    pub union_validity: bool,
}

/// The nodes and buffers of a column in a batch, which a task stores as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub codec: Option<Codec>,
    pub part: Part,
    /// Number of messages of each dictionary before the batch.
    pub dictionaries: Vec<usize>,
}

/// Ratio of column bytes to stored bytes above which the memory limit is applied.
const LARGE: usize = 32;

/// State that a worker reuses between blocks.
#[derive(Default)]
struct Warm(Option<Ready>);

struct Ready {
    text: Arc<str>,
    recipe: Recipe,
    dictionaries: Vec<Dictionary>,
}

impl Recipe {
    /// Returns the field with the type that it has after reading.
    pub(crate) fn plain(&self) -> Field {
        plain(&self.field)
    }

    /// Returns the columns of an empty batch, whose Form is that of all batches.
    pub(crate) fn empty(&self) -> Result<Array> {
        imported(&self.plain(), arrow_array::new_empty_array(self.plain().data_type()))
    }
}

impl Warm {
    fn ready(&mut self, text: &Arc<str>) -> Result<&mut Ready> {
        let is_same = |ready: &Ready| Arc::ptr_eq(&ready.text, text) || ready.text == *text;
        if !self.0.as_ref().is_some_and(is_same) {
            let recipe: Recipe = serde_json::from_str(text).map_err(|_| foreign())?;
            let dictionaries = recipe.dictionaries.iter().map(|_| Dictionary::default()).collect();
            self.0 = Some(Ready { text: Arc::clone(text), recipe, dictionaries });
        }
        self.0.as_mut().ok_or_else(foreign)
    }
}

impl Ready {
    /// Decodes a column of a batch. `limit` is the upper bound on the bytes of dictionary values.
    fn decode(
        &mut self,
        numbers: Numbers,
        bytes: &[u8],
        limit: Option<usize>,
        decompressor: &mut Decompressor,
    ) -> Result<Array> {
        let Self { recipe, dictionaries, .. } = self;
        // Dictionaries are decoded first, since they use the same codec contexts.
        let types = dictionary_types(recipe.field.data_type());
        for (at, (known, value_type)) in dictionaries.iter_mut().zip(&types).enumerate() {
            let stored = recipe.dictionaries.get(at).map_or(&[][..], Vec::as_slice);
            let count = numbers.dictionaries.get(at).copied().unwrap_or(0);
            known.after(stored, count, value_type, (recipe.most_rows, limit), decompressor)?;
        }
        let mut next = dictionaries.iter();
        let mut hydrate =
            |keys, reachable: &Reachable| next.next().ok_or_else(foreign)?.values(keys, reachable, limit);
        let mut source = Source {
            part: numbers.part,
            bytes,
            codec: numbers.codec,
            decompressor,
            most_rows: recipe.most_rows,
            has_runs: has_runs(recipe.field.data_type()),
            union_validity: recipe.union_validity,
            limit,
        };
        let data = source.array(recipe.field.data_type(), &None, &mut hydrate)?;
        // Few stored bytes can be many bits or nulls, each of which takes eight bytes in the columns.
        let places = data.len().saturating_mul(size_of::<i64>());
        let made = bytes_of(&data, 0..data.len()).saturating_add(places);
        if made / LARGE > bytes.len() {
            check_limit("null", made, limit)?;
        }
        check_headroom("a column of a record batch", made.saturating_mul(2))?;
        imported(&recipe.plain(), make_array(data))
    }
}

/// Returns the value types of all dictionaries in a type, depth first.
fn dictionary_types(data_type: &DataType) -> Vec<DataType> {
    let mut found = Vec::new();
    match data_type {
        DataType::Dictionary(_, values) => found.push(values.as_ref().clone()),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::RunEndEncoded(_, item)
        | DataType::Map(item, _) => {
            found.extend(dictionary_types(item.data_type()));
        }
        DataType::Struct(fields) => {
            fields.iter().for_each(|field| found.extend(dictionary_types(field.data_type())))
        }
        DataType::Union(fields, _) => {
            fields.iter().for_each(|(_, field)| found.extend(dictionary_types(field.data_type())));
        }
        _ => {}
    }
    found
}

fn imported(field: &Field, array: arrow_array::ArrayRef) -> Result<Array> {
    let array = arrow::import(field, &[array]).map_err(|error| Error::fault(error.to_string()))?;
    // Alternatives of a union have option types if a value is missing. They are made options in all batches,
    // so that these have one type.
    let mut form = array.form.clone();
    let mut has_unions = false;
    form.change(&mut |node| {
        let Form::Union { contents, .. } = node else { return };
        has_unions = true;
        for content in contents {
            let whole = std::mem::replace(content, Form::Empty);
            *content = whole.optional();
        }
    });
    if !has_unions {
        return Ok(array);
    }
    array.cast(&form, NumberCast::Same).map_err(|error| Error::fault(error.to_string()))
}

impl Numbers {
    /// Converts to the numbers of a task. Buffers are ranges of the task's bytes.
    pub(crate) fn to_task(&self) -> Vec<i64> {
        let codec = match self.codec {
            None => 0,
            Some(Codec::Zstd) => 2,
            Some(_) => 1,
        };
        let Part { nodes, buffers, variadic } = &self.part;
        let mut numbers = vec![codec, nodes.len() as i64, buffers.len() as i64, variadic.len() as i64];
        numbers.extend(nodes.iter().flat_map(|(rows, nulls)| [*rows, *nulls]));
        numbers.extend(buffers.iter().flat_map(|buffer| [buffer.start as i64, buffer.end as i64]));
        numbers.extend(variadic);
        numbers.extend(self.dictionaries.iter().map(|count| *count as i64));
        numbers
    }

    /// Parses the numbers of a task; `None` if they are not valid for this format.
    pub(crate) fn of_task(numbers: &[i64]) -> Option<Self> {
        let ([codec, counts @ ..], numbers) = numbers.split_first_chunk::<4>()?;
        let [nodes, buffers, variadic] = counts.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let (own, numbers) = numbers.split_at_checked(nodes.checked_mul(2)?)?;
        let nodes = own.as_chunks::<2>().0.iter().map(|[rows, nulls]| (*rows, *nulls)).collect();
        let (own, numbers) = numbers.split_at_checked(buffers.checked_mul(2)?)?;
        let range = |[start, end]: &[i64; 2]| Some(u64::try_from(*start).ok()?..u64::try_from(*end).ok()?);
        let buffers = own.as_chunks::<2>().0.iter().map(range).collect::<Option<_>>()?;
        let (variadic, dictionaries) = numbers.split_at_checked(variadic)?;
        let codec = match codec {
            0 => None,
            1 => Some(Codec::HadoopLz4),
            _ => Some(Codec::Zstd),
        };
        let dictionaries =
            dictionaries.iter().map(|count| usize::try_from(*count).ok()).collect::<Option<_>>()?;
        let variadic = variadic.iter().copied().collect();
        Some(Self { codec, part: Part { nodes, buffers, variadic }, dictionaries })
    }
}

impl BlockFormat for IpcFormat {
    fn id(&self) -> &'static str {
        "ipc"
    }

    fn unit(&self) -> &'static str {
        "record batch"
    }

    fn fills_same_columns(&self, first: &Group, other: &Group) -> bool {
        // `most_rows` is not compared, as it depends on the size of the file.
        let recipe = |group: &Group| match &group.decoder {
            Decoder::Format(text) => serde_json::from_str(text)
                .ok()
                .map(|recipe: Recipe| (recipe.field, recipe.dictionaries, recipe.union_validity)),
            _ => None,
        };
        let first = recipe(first);
        first.is_some() && first == recipe(other)
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let Decoder::Format(text) = &group.decoder else { return Err(foreign()) };
        let numbers = Numbers::of_task(&task.numbers).ok_or_else(foreign)?;
        let limit = scratch.limit();
        let (warm, decompressor) = scratch.own::<Warm>();
        let array = warm.ready(text)?.decode(numbers, stored, limit, decompressor)?;
        let parts = BlockColumns::of(&group.form);
        if array.form != group.form || !parts.specs().eq(&group.columns) {
            return Err(Error::fault("a record batch is not of the type that the schema declares"));
        }
        let expected = task.entries.end.saturating_sub(task.entries.start);
        if array.length != expected {
            return Err(Error::mismatch("the number of rows of a column", expected, array.length));
        }
        let first = task.entries.start;
        let rows = task.wanted.start.saturating_sub(first)..task.wanted.end.saturating_sub(first);
        let part = array.part(rows).map_err(|error| Error::fault(error.to_string()))?;
        append(&part, &parts, columns)?.map_err(Error::fault)
    }
}

fn foreign() -> Error {
    Error::invalid("the plan is not one of Arrow IPC")
}
