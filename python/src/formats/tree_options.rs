//! Options of trees, from `forthwith._writable.options`, which includes all defaults.

use super::GivenNumber;
use forthwith::{
    BlockThreads,
    plan::{Error, Result},
    root::write::Compression,
    ttree::write::{
        ColumnOptions, Floats, Jagged, Nulls, Packing, Records, Strings, TreeIndex, TreeOptions, UserInfo,
    },
};
use pyo3::prelude::*;
use std::sync::Arc;

/// Options of a tree.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct GivenOptions {
    default: GivenColumn,
    columns: Vec<(String, GivenColumn)>,
    titles: Vec<(String, String)>,
    aliases: Vec<(String, String)>,
    user_info: Vec<(String, GivenInfo)>,
    index: Option<(String, Option<String>)>,
    cluster_bytes: u64,
    cluster_entries: Option<u64>,
    basket_bytes: u64,
    slashes: bool,
    threads: Option<usize>,
}

/// Options of a column.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GivenColumn {
    jagged: String,
    records: String,
    strings: String,
    /// The replacement for missing values; `None` refuses them.
    nulls: Option<GivenNumber>,
    /// Type, range and bits of stored floats. Equal bounds mean no range, and 0 bits the default of the type.
    floats: Option<(String, f64, f64, u32)>,
    counter: Option<String>,
    compression: Option<i32>,
    basket_bytes: Option<u64>,
}

#[derive(FromPyObject)]
enum GivenInfo {
    Text(String),
    Whole(i64),
    Real(f64),
}

impl GivenOptions {
    pub(super) fn options(self, title: String) -> Result<TreeOptions> {
        let info = |value| match value {
            GivenInfo::Text(text) => UserInfo::Text(text),
            GivenInfo::Whole(value) => UserInfo::Whole(value),
            GivenInfo::Real(value) => UserInfo::Real(value),
        };
        let columns = self.columns.into_iter().map(|(name, column)| {
            let options = column.options().map_err(|error| error.in_object(&name))?;
            Ok((name, options))
        });
        Ok(TreeOptions {
            title,
            default_column: self.default.options()?,
            columns: columns.collect::<Result<_>>()?,
            cluster_bytes: self.cluster_bytes,
            basket_bytes: self.basket_bytes,
            cluster_entries: self.cluster_entries,
            titles: self.titles,
            aliases: self.aliases,
            user_info: self.user_info.into_iter().map(|(name, value)| (name, info(value))).collect(),
            index: self.index.map(|(major, minor)| TreeIndex { major, minor }),
            slashes: self.slashes,
            runner: Arc::new(self.threads.map_or_else(BlockThreads::default, BlockThreads::new)),
        })
    }
}

impl GivenColumn {
    fn options(self) -> Result<ColumnOptions> {
        let floats = match self.floats {
            None => Floats::Whole,
            Some((kind, min, max, bits)) => {
                let packing = match bits {
                    0 => Packing::Usual,
                    bits if min == max => Packing::Mantissa { bits },
                    bits => Packing::Range { min, max, bits },
                };
                if kind == "double32" { Floats::Double32(packing) } else { Floats::Float16(packing) }
            }
        };
        Ok(ColumnOptions {
            jagged: one_of(
                "jagged",
                &self.jagged,
                &[("counter", Jagged::Counter), ("vector", Jagged::Vector)],
            )?,
            records: one_of("records", &self.records, &[("flat", Records::Flat), ("class", Records::Class)])?,
            strings: one_of(
                "strings",
                &self.strings,
                &[("object", Strings::Object), ("characters", Strings::Characters)],
            )?,
            nulls: self.nulls.map_or(Nulls::Refused, |number| Nulls::Filled(number.into())),
            floats,
            counter: self.counter,
            compression: self.compression.map(Compression::from_setting).transpose()?,
            basket_bytes: self.basket_bytes,
        })
    }
}

/// Returns the value of a name, or an error with the valid names.
fn one_of<T: Copy>(option: &str, word: &str, words: &[(&str, T)]) -> Result<T> {
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
        let what = format!("{option}={word:?}: there are {}", known.join(" and "));
        Error::invalid(what)
    })
}
