//! Conversion of Arrow arrays to other layouts of the same values, as a consumer requests them.
//!
//! Text and bytes have 64-bit offsets, 32-bit offsets or views, and may be dictionary-encoded, as categories
//! are; lists have 64-bit or 32-bit offsets. A field that is requested with a type of other values keeps its
//! own.

use super::{ExportError, by_name};
use arrow_array::{
    Array as _, ArrayRef, ArrowNativeTypeOp, BinaryArray, BinaryViewArray, DictionaryArray,
    FixedSizeListArray, GenericByteArray, LargeBinaryArray, LargeStringArray, ListArray, MapArray,
    PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, StringViewArray, StructArray,
    builder::{BinaryViewBuilder, GenericByteBuilder, StringViewBuilder},
    cast::AsArray as _,
    types::{
        ArrowDictionaryKeyType, ByteArrayType, Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType,
        LargeUtf8Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_buffer::{ArrowNativeType as _, OffsetBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::{collections::HashMap, sync::Arc};

/// Maximum number of bytes or items for 32-bit offsets and views.
const MOST: i64 = i32::MAX as i64;

/// Layout of text and bytes outside dictionaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringLayout {
    /// 64-bit offsets.
    #[default]
    Large,
    /// 32-bit offsets.
    Small,
    /// Views.
    View,
}

impl StringLayout {
    /// Names that [`parse`](Self::parse) accepts, which are Arrow's.
    pub const NAMES: [&str; 3] = ["large_string", "string", "string_view"];

    /// Returns the layout with an Arrow type name, or `None` if the name is unknown.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Large, Self::Small, Self::View];
        Self::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }

    /// Returns the field with its text and bytes in this layout.
    #[must_use]
    pub fn field(self, field: &Field) -> Field {
        field.clone().with_data_type(self.data_type(field.data_type()))
    }

    /// Returns the type with its text and bytes in this layout. Dictionaries keep theirs, as they have few
    /// values.
    #[must_use]
    pub fn data_type(self, data_type: &DataType) -> DataType {
        match (data_type, self) {
            (DataType::LargeUtf8, Self::Small) => DataType::Utf8,
            (DataType::LargeUtf8, Self::View) => DataType::Utf8View,
            (DataType::LargeBinary, Self::Small) => DataType::Binary,
            (DataType::LargeBinary, Self::View) => DataType::BinaryView,
            (DataType::LargeList(item), _) => DataType::LargeList(self.field(item).into()),
            (DataType::FixedSizeList(item, size), _) => {
                DataType::FixedSizeList(self.field(item).into(), *size)
            }
            (DataType::Map(entries, sorted), _) => DataType::Map(self.field(entries).into(), *sorted),
            (DataType::Struct(fields), _) => {
                DataType::Struct(fields.iter().map(|field| self.field(field)).collect())
            }
            (other, _) => other.clone(),
        }
    }
}

/// Returns a schema with the requested types where they are other layouts of the same values. Fields are
/// matched by name.
#[must_use]
pub fn requested(schema: &Schema, request: &Schema) -> Schema {
    Schema::new_with_metadata(requested_fields(schema.fields(), request.fields()), schema.metadata().clone())
}

fn requested_fields(fields: &Fields, request: &Fields) -> Fields {
    let request = by_name(request);
    let like = |field: &FieldRef| match request.get(field.name().as_str()) {
        Some(like) => requested_field(field, like),
        None => Arc::clone(field),
    };
    fields.iter().map(like).collect()
}

fn requested_field(field: &Field, like: &Field) -> FieldRef {
    let data_type = requested_type(field.data_type(), like.data_type());
    let nullable = field.is_nullable() || like.is_nullable();
    Arc::new(field.clone().with_data_type(data_type).with_nullable(nullable))
}

fn requested_type(own: &DataType, like: &DataType) -> DataType {
    match (own, like) {
        (DataType::LargeUtf8, DataType::Utf8 | DataType::Utf8View)
        | (DataType::LargeBinary, DataType::Binary | DataType::BinaryView) => like.clone(),
        (DataType::LargeUtf8 | DataType::LargeBinary, DataType::Dictionary(keys, values))
            if keys.is_dictionary_key_type() =>
        {
            DataType::Dictionary(keys.clone(), Box::new(requested_type(own, values)))
        }
        (DataType::Dictionary(_, own), DataType::Dictionary(keys, values))
            if keys.is_dictionary_key_type() =>
        {
            DataType::Dictionary(keys.clone(), Box::new(requested_type(own, values)))
        }
        (DataType::Dictionary(_, own), DataType::LargeUtf8 | DataType::Utf8 | DataType::Utf8View)
            if **own == DataType::LargeUtf8 =>
        {
            like.clone()
        }
        (DataType::LargeList(item), DataType::List(like)) => DataType::List(requested_field(item, like)),
        (DataType::LargeList(item), DataType::LargeList(like)) => {
            DataType::LargeList(requested_field(item, like))
        }
        (DataType::FixedSizeList(item, size), DataType::FixedSizeList(like, _)) => {
            DataType::FixedSizeList(requested_field(item, like), *size)
        }
        (DataType::Map(entries, sorted), DataType::Map(like, _)) => {
            // Keys and values are matched by position, not by name.
            let (DataType::Struct(own), DataType::Struct(likes)) = (entries.data_type(), like.data_type())
            else {
                return DataType::Map(Arc::clone(entries), *sorted);
            };
            let pair = own.iter().zip(likes).map(|(field, like)| {
                let data_type = requested_type(field.data_type(), like.data_type());
                Arc::new(field.as_ref().clone().with_data_type(data_type))
            });
            let pair = DataType::Struct(pair.collect());
            DataType::Map(Arc::new(entries.as_ref().clone().with_data_type(pair)), *sorted)
        }
        (DataType::Struct(fields), DataType::Struct(likes)) => {
            DataType::Struct(requested_fields(fields, likes))
        }
        (own, _) => own.clone(),
    }
}

/// Converts a batch to the layouts of a schema that [`requested`] returned for its own.
///
/// # Errors
/// [`ExportError::Layout`] for text, bytes or lists that are too long for 32-bit offsets, and for more
/// distinct values than the keys of a dictionary can represent.
pub fn adapted(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ExportError> {
    if batch.schema().fields() == schema.fields() {
        return Ok(batch);
    }
    let columns = batch.columns().iter().zip(schema.fields());
    let columns =
        columns.map(|(column, field)| adapted_array(column, field)).collect::<Result<Vec<_>, _>>()?;
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)?)
}

/// Converts an array to the layout of a field.
fn adapted_array(array: &ArrayRef, field: &Field) -> Result<ArrayRef, ExportError> {
    array_of(array, field.data_type()).map_err(|what| match what {
        Unfit::Arrow(error) => error.into(),
        Unfit::Type(what) => ExportError::Layout { column: field.name().clone(), what },
    })
}

/// Reason that an array cannot be converted.
enum Unfit {
    Type(&'static str),
    Arrow(arrow_schema::ArrowError),
}

impl From<arrow_schema::ArrowError> for Unfit {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Arrow(error)
    }
}

fn array_of(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Unfit> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    Ok(match (array.data_type(), to) {
        (DataType::LargeUtf8, DataType::Utf8View) => string_views(array.as_string()),
        (DataType::LargeBinary, DataType::BinaryView) => binary_views(array.as_binary()),
        (DataType::LargeUtf8, DataType::Utf8) => {
            let (offsets, bytes, nulls) = array.as_string::<i64>().clone().into_parts();
            let (offsets, from, count) = narrow(&offsets, TEXT)?;
            Arc::new(StringArray::try_new(offsets, bytes.slice_with_length(from, count), nulls)?)
        }
        (DataType::LargeBinary, DataType::Binary) => {
            let (offsets, bytes, nulls) = array.as_binary::<i64>().clone().into_parts();
            let (offsets, from, count) = narrow(&offsets, TEXT)?;
            Arc::new(BinaryArray::try_new(offsets, bytes.slice_with_length(from, count), nulls)?)
        }
        (DataType::LargeUtf8 | DataType::LargeBinary, DataType::Dictionary(keys, values)) => {
            dictionary(array, keys, values)?
        }
        (DataType::Dictionary(_, _), DataType::Dictionary(keys, values)) => rekeyed(array, keys, values)?,
        (DataType::Dictionary(_, _), to) => array_of(&plain(array)?, to)?,
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            let (_, offsets, items, nulls) = array.as_list::<i64>().clone().into_parts();
            let items = array_of(&items, item.data_type())?;
            Arc::new(arrow_array::LargeListArray::try_new(Arc::clone(item), offsets, items, nulls)?)
        }
        (DataType::LargeList(_), DataType::List(item)) => {
            let (_, offsets, items, nulls) = array.as_list::<i64>().clone().into_parts();
            let (offsets, from, count) = narrow(&offsets, ITEMS)?;
            let items = array_of(&items.slice(from, count), item.data_type())?;
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, nulls)?)
        }
        (DataType::FixedSizeList(_, _), DataType::FixedSizeList(item, size)) => {
            let list = array.as_fixed_size_list();
            let items = array_of(list.values(), item.data_type())?;
            let (nulls, rows) = (list.nulls().cloned(), list.len());
            Arc::new(FixedSizeListArray::try_new_with_length(Arc::clone(item), *size, items, nulls, rows)?)
        }
        (DataType::Map(_, _), DataType::Map(entries, sorted)) => {
            let (_, offsets, pairs, nulls, _) = array.as_map().clone().into_parts();
            let pairs = array_of(&(Arc::new(pairs) as ArrayRef), entries.data_type())?;
            let pairs = pairs.as_struct().clone();
            Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *sorted)?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let (_, columns, nulls) = array.as_struct().clone().into_parts();
            let columns =
                columns.iter().zip(fields).map(|(column, field)| array_of(column, field.data_type()));
            let columns = columns.collect::<Result<_, _>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?)
        }
        _ => return Err(Unfit::Type(OTHER)),
    })
}

const TEXT: &str = "has more bytes in a batch than offsets of 32 bits count: string_view and large_string have no such limit";
const ITEMS: &str = "has more items in a batch than offsets of 32 bits count: large_list has no such limit";
const KEYS: &str = "has more different values in a batch than the keys of its dictionary count";
const OTHER: &str = "has values of another type than the requested one";

/// Returns 32-bit offsets that start at 0, and the start and number of the items they cover.
fn narrow(
    offsets: &OffsetBuffer<i64>,
    what: &'static str,
) -> Result<(OffsetBuffer<i32>, usize, usize), Unfit> {
    let (first, last) = (offsets.first().as_usize(), offsets.last().as_usize());
    let (from, count) = (first, last - first);
    if count as i64 > MOST {
        return Err(Unfit::Type(what));
    }
    let narrow: Vec<i32> = offsets.iter().map(|at| (*at - first as i64) as i32).collect();
    Ok((OffsetBuffer::new(narrow.into()), from, count))
}

/// Returns views of the array's bytes, which are copied only if they exceed [`MOST`].
pub(super) fn string_views(array: &LargeStringArray) -> ArrayRef {
    if array.offsets().last().as_usize() as i64 <= MOST {
        return Arc::new(StringViewArray::from(array));
    }
    let mut views = StringViewBuilder::with_capacity(array.len());
    array.iter().for_each(|value| views.append_option(value));
    Arc::new(views.finish())
}

pub(super) fn binary_views(array: &LargeBinaryArray) -> ArrayRef {
    if array.offsets().last().as_usize() as i64 <= MOST {
        return Arc::new(BinaryViewArray::from(array));
    }
    let mut views = BinaryViewBuilder::with_capacity(array.len());
    array.iter().for_each(|value| views.append_option(value));
    Arc::new(views.finish())
}

/// Calls a function that is generic over the keys of dictionaries.
macro_rules! with_keys {
    ($keys:expr, $function:ident($($argument:expr),*)) => {
        match $keys {
            DataType::Int8 => $function::<Int8Type>($($argument),*),
            DataType::Int16 => $function::<Int16Type>($($argument),*),
            DataType::Int32 => $function::<Int32Type>($($argument),*),
            DataType::Int64 => $function::<Int64Type>($($argument),*),
            DataType::UInt8 => $function::<UInt8Type>($($argument),*),
            DataType::UInt16 => $function::<UInt16Type>($($argument),*),
            DataType::UInt32 => $function::<UInt32Type>($($argument),*),
            _ => $function::<UInt64Type>($($argument),*),
        }
    };
}

/// Dictionary-encodes text or bytes, with values in order of occurrence.
fn dictionary(array: &ArrayRef, keys: &DataType, values: &DataType) -> Result<ArrayRef, Unfit> {
    match array.data_type() {
        DataType::LargeUtf8 => with_keys!(keys, encoded(array.as_bytes::<LargeUtf8Type>(), values)),
        _ => with_keys!(keys, encoded_bytes(array.as_bytes::<LargeBinaryType>(), values)),
    }
}

fn encoded<K: ArrowDictionaryKeyType>(
    array: &LargeStringArray,
    values: &DataType,
) -> Result<ArrayRef, Unfit> {
    encode::<K, LargeUtf8Type>(array, |value| value.as_bytes(), values)
}

fn encoded_bytes<K: ArrowDictionaryKeyType>(
    array: &LargeBinaryArray,
    values: &DataType,
) -> Result<ArrayRef, Unfit> {
    encode::<K, LargeBinaryType>(array, |value| value, values)
}

fn encode<K: ArrowDictionaryKeyType, T: ByteArrayType<Offset = i64>>(
    array: &GenericByteArray<T>,
    bytes: impl Fn(&T::Native) -> &[u8],
    values: &DataType,
) -> Result<ArrayRef, Unfit> {
    let mut known: HashMap<&[u8], K::Native> = HashMap::new();
    let mut found = GenericByteBuilder::<T>::new();
    let mut keys = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        if array.is_null(row) {
            keys.push(K::Native::ZERO);
            continue;
        }
        let value = array.value(row);
        let next = known.len();
        let key = match known.entry(bytes(value)) {
            std::collections::hash_map::Entry::Occupied(entry) => *entry.get(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                found.append_value(value);
                *entry.insert(K::Native::from_usize(next).ok_or(Unfit::Type(KEYS))?)
            }
        };
        keys.push(key);
    }
    let keys = PrimitiveArray::<K>::new(keys.into(), array.nulls().cloned());
    let found: ArrayRef = Arc::new(found.finish());
    Ok(Arc::new(DictionaryArray::try_new(keys, array_of(&found, values)?)?))
}

/// Converts a dictionary to other types of keys and values.
fn rekeyed(array: &ArrayRef, keys: &DataType, values: &DataType) -> Result<ArrayRef, Unfit> {
    let Some(own) = array.as_dictionary_opt::<Int32Type>() else {
        return Err(Unfit::Type(OTHER));
    };
    let values = array_of(own.values(), values)?;
    if *keys == DataType::Int32 {
        return Ok(Arc::new(DictionaryArray::try_new(own.keys().clone(), values)?));
    }
    with_keys!(keys, with_other_keys(own, &values))
}

fn with_other_keys<K: ArrowDictionaryKeyType>(
    own: &DictionaryArray<Int32Type>,
    values: &ArrayRef,
) -> Result<ArrayRef, Unfit> {
    let key = |row: usize| match own.key(row) {
        Some(key) => K::Native::from_usize(key).ok_or(Unfit::Type(KEYS)),
        None => Ok(K::Native::ZERO),
    };
    let keys = (0..own.len()).map(key).collect::<Result<Vec<_>, _>>()?;
    let keys = PrimitiveArray::<K>::new(keys.into(), own.nulls().cloned());
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(values))?))
}

/// Expands a dictionary of text to one value for each row.
fn plain(array: &ArrayRef) -> Result<ArrayRef, Unfit> {
    let own = array.as_dictionary_opt::<Int32Type>();
    let values = own.and_then(|own| own.downcast_dict::<LargeStringArray>());
    let rows = values.ok_or(Unfit::Type(OTHER))?.into_iter();
    Ok(Arc::new(rows.collect::<LargeStringArray>()))
}
