//! Opened files of user-defined formats.

use super::{
    decode::OwnBlocks,
    recipe::Recipe,
    table::{OwnTable, Parts},
};
use crate::{Container, Key, formats::one_table::OneTable};
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::Result;
use std::sync::Arc;

/// Creates the container of a file whose blocks are known.
pub(super) fn open(
    format: &'static str,
    recipe: &Arc<Recipe>,
    source: Arc<dyn Source>,
    parts: Parts,
    engine: &Arc<Engine>,
) -> Result<Arc<dyn Container>> {
    let only = Key::of_only(source.as_ref(), format, "table".into(), String::new(), 0)?;
    let limit = engine.options().policy.limit;
    let table = Arc::new(OwnTable::new(Arc::clone(recipe), Arc::clone(&source), parts, limit));
    let (blocks, part) = (&OwnBlocks, "blocks");
    Ok(Arc::new(OneTable {
        format,
        source,
        only,
        table,
        engine: Arc::clone(engine),
        blocks,
        part,
        cut: None,
    }))
}
