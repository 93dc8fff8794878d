//! What Arrow says of its own about a file's columns, in `ARROW:schema`.

use arrow_schema::{DataType, TimeUnit as Unit};
use forthwith_columns::TimeUnit;
use parquet::{arrow::parquet_to_arrow_schema, file::metadata::FileMetaData};

/// By the number of the file's column, what lengths of time are counted in. Nothing at all if nothing is said, or nothing that fits the file.
pub(crate) fn durations(file: &FileMetaData) -> Vec<Option<TimeUnit>> {
    let said = file.key_value_metadata().filter(|all| all.iter().any(|pair| pair.key == "ARROW:schema"));
    if said.is_none() {
        return Vec::new();
    }
    // Whatever is wrong with it, the file is as good as without it.
    let read = std::panic::catch_unwind(|| {
        let schema = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()).ok()?;
        let mut found = Vec::new();
        schema.fields().iter().try_for_each(|field| leaves(field.data_type(), &mut found))?;
        (found.len() == file.schema_descr().num_columns()).then_some(found)
    });
    read.ok().flatten().unwrap_or_default()
}

fn leaves(data_type: &DataType, found: &mut Vec<Option<TimeUnit>>) -> Option<()> {
    let unit = match data_type {
        DataType::Struct(fields) => {
            return fields.iter().try_for_each(|field| leaves(field.data_type(), found));
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => return leaves(item.data_type(), found),
        DataType::Union(..) => return None,
        DataType::Duration(Unit::Millisecond) => Some(TimeUnit::Milli),
        DataType::Duration(Unit::Microsecond) => Some(TimeUnit::Micro),
        DataType::Duration(Unit::Nanosecond) => Some(TimeUnit::Nano),
        _ => None,
    };
    found.push(unit);
    Some(())
}
