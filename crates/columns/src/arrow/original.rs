//! Restores metadata and dictionaries of the Arrow schema that columns were imported from.

use super::by_name;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use std::{collections::HashMap, sync::Arc};

/// Returns a schema whose fields have the metadata of the fields of the same name in `original` and, with
/// `dictionaries`, their dictionary types. These are not ordered, because files store their values in order
/// of occurrence. Other types are kept; metadata of `original` itself are dropped.
#[must_use]
pub fn with_original(schema: &Schema, original: &Schema, dictionaries: bool) -> Schema {
    Schema::new(restored_fields(schema.fields(), original.fields(), dictionaries))
}

fn restored_fields(fields: &Fields, originals: &Fields, dictionaries: bool) -> Fields {
    let originals = by_name(originals);
    let restored = fields.iter().map(|field| match originals.get(field.name().as_str()) {
        Some(like) => Arc::new(restored(field, like, dictionaries)),
        None => Arc::clone(field),
    });
    restored.collect()
}

/// Returns a field with the metadata of `like` and, with `dictionaries`, a dictionary of its values if `like`
/// has a dictionary of plain values.
fn restored(field: &Field, like: &Field, dictionaries: bool) -> Field {
    let data_type = match (field.data_type(), like.data_type()) {
        (DataType::Struct(fields), DataType::Struct(likes)) => {
            DataType::Struct(restored_fields(fields, likes, dictionaries))
        }
        (DataType::LargeList(item), like) if let Some(like) = item_of(like) => {
            DataType::LargeList(Arc::new(restored(item, like, dictionaries)))
        }
        (DataType::FixedSizeList(item, size), like) if let Some(like) = item_of(like) => {
            DataType::FixedSizeList(Arc::new(restored(item, like, dictionaries)), *size)
        }
        (DataType::Map(entries, sorted), DataType::Map(like, _)) => {
            DataType::Map(Arc::new(pairs(entries, like, dictionaries)), *sorted)
        }
        (DataType::Dictionary(_, values), DataType::Dictionary(keys, _)) if dictionaries => {
            DataType::Dictionary(keys.clone(), values.clone())
        }
        (values, DataType::Dictionary(keys, of)) if dictionaries && is_plain(values) && is_plain(of) => {
            DataType::Dictionary(keys.clone(), Box::new(values.clone()))
        }
        (data_type, _) => data_type.clone(),
    };
    // Extension metadata are only valid for the storage type that they were written with.
    let is_same = data_type.equals_datatype(like.data_type());
    let metadata = like.metadata().iter().filter(|(name, _)| is_same || !is_extension(name));
    let kept: HashMap<String, String> = metadata.map(|(name, value)| (name.clone(), value.clone())).collect();
    field.clone().with_data_type(data_type).with_metadata(kept)
}

/// Restores the entries of a map, whose key and value are matched by position, not by name.
fn pairs(entries: &FieldRef, like: &FieldRef, dictionaries: bool) -> Field {
    let (DataType::Struct(own), DataType::Struct(likes)) = (entries.data_type(), like.data_type()) else {
        return (**entries).clone();
    };
    let inner = own.iter().zip(likes).map(|(field, like)| Arc::new(restored(field, like, dictionaries)));
    (**entries).clone().with_data_type(DataType::Struct(inner.collect()))
}

fn item_of(list: &DataType) -> Option<&Field> {
    match list {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

fn is_plain(values: &DataType) -> bool {
    !values.is_nested() && !matches!(values, DataType::Dictionary(..) | DataType::Null)
}

/// Whether a metadata key describes an extension type.
fn is_extension(name: &str) -> bool {
    name.starts_with("ARROW:extension:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_and_dictionaries_are_restored_at_each_level() {
        let said = |unit: &str| HashMap::from([("unit".to_owned(), unit.to_owned())]);
        let of_text = |keys, text| DataType::Dictionary(Box::new(keys), Box::new(text));
        let inner = Field::new("x", DataType::Int64, true).with_metadata(said("GeV"));
        let ordered =
            Field::new("d", of_text(DataType::Int8, DataType::Utf8), true).with_dict_is_ordered(true);
        let items = Field::new("element", of_text(DataType::UInt32, DataType::Int64), true);
        let original = Schema::new(vec![
            Field::new("r", DataType::Struct(vec![inner].into()), true).with_metadata(said("none")),
            ordered,
            Field::new("l", DataType::List(Arc::new(items)), true),
            Field::new("gone", DataType::Int8, true),
        ]);
        let plain = Schema::new(vec![
            Field::new("l", DataType::LargeList(Arc::new(Field::new("item", DataType::Int64, false))), true),
            Field::new("r", DataType::Struct(vec![Field::new("x", DataType::Int64, true)].into()), true),
            Field::new("d", DataType::LargeUtf8, true),
            Field::new("new", DataType::Int8, true),
        ]);
        let restored = with_original(&plain, &original, true);
        assert_eq!(restored.field(1).metadata(), &said("none"));
        let DataType::Struct(fields) = restored.field(1).data_type() else { panic!() };
        assert_eq!(fields[0].metadata(), &said("GeV"));
        assert_eq!(*restored.field(2).data_type(), of_text(DataType::Int8, DataType::LargeUtf8));
        assert_eq!(restored.field(2).dict_is_ordered(), Some(false));
        let DataType::LargeList(item) = restored.field(0).data_type() else { panic!() };
        assert_eq!(*item.data_type(), of_text(DataType::UInt32, DataType::Int64));
        assert_eq!(restored.field(3), plain.field(3));
        let same = with_original(&plain, &original, false);
        assert_eq!(*same.field(2).data_type(), DataType::LargeUtf8);
    }
}
