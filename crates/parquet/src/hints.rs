//! What Arrow says of its own about a file's columns, in `ARROW:schema`.

use arrow_schema::{DataType, TimeUnit as Unit};
use forthwith_columns::TimeUnit;
use parquet::{arrow::parquet_to_arrow_schema, file::metadata::FileMetaData};

/// What is said of one of the file's columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hint {
    /// What lengths of time are counted in.
    pub(crate) duration: Option<TimeUnit>,
    /// Of each list around it, from the outside in, how many items it always has.
    pub(crate) lists: Vec<Option<u64>>,
}

/// By the number of the file's column. Nothing at all if nothing is said, or nothing that fits the file.
pub(crate) fn hints(file: &FileMetaData) -> Vec<Hint> {
    let said = file.key_value_metadata().filter(|all| all.iter().any(|pair| pair.key == "ARROW:schema"));
    if said.is_none() {
        return Vec::new();
    }
    // Whatever is wrong with it, the file is as good as without it.
    let read = std::panic::catch_unwind(|| {
        let schema = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()).ok()?;
        let mut found = Vec::new();
        let mut lists = Vec::new();
        schema.fields().iter().try_for_each(|field| leaves(field.data_type(), &mut lists, &mut found))?;
        (found.len() == file.schema_descr().num_columns()).then_some(found)
    });
    read.ok().flatten().unwrap_or_default()
}

fn leaves(data_type: &DataType, lists: &mut Vec<Option<u64>>, found: &mut Vec<Hint>) -> Option<()> {
    let (item, size) = match data_type {
        DataType::Struct(fields) => {
            return fields.iter().try_for_each(|field| leaves(field.data_type(), lists, found));
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => (item, None),
        // Of empty lists nothing would say how many there are.
        DataType::FixedSizeList(item, size) => (item, u64::try_from(*size).ok().filter(|size| *size > 0)),
        DataType::Union(..) => return None,
        leaf => {
            let duration = match leaf {
                DataType::Duration(Unit::Second) => Some(TimeUnit::Second),
                DataType::Duration(Unit::Millisecond) => Some(TimeUnit::Milli),
                DataType::Duration(Unit::Microsecond) => Some(TimeUnit::Micro),
                DataType::Duration(Unit::Nanosecond) => Some(TimeUnit::Nano),
                _ => None,
            };
            found.push(Hint { duration, lists: lists.clone() });
            return Some(());
        }
    };
    lists.push(size);
    let done = leaves(item.data_type(), lists, found);
    lists.pop();
    done
}
