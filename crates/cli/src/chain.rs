//! The files of a command line as one table.

use crate::{
    failure::{Failure, Result},
    opened::{self, Opening, Place, Values},
    target::Target,
};
use forthwith::{Chain, ChainFile, ChainOptions, Damage, MissingColumns, Table, plan::Result as PlanResult};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// Number of files that are opened in parallel.
const BATCH: usize = 32;

/// Tables of several targets as one.
pub(crate) struct TargetChain {
    pub(crate) chain: Chain,
    opener: Arc<Opener>,
}

/// Opener of the tables of targets.
struct Opener {
    targets: Vec<Target>,
    opening: Opening,
    values: Values,
    /// Tables that are kept open.
    kept: Vec<OnceLock<Table>>,
}

impl Opener {
    fn place(&self, file: usize) -> Result<Place> {
        Ok(opened::place_of(&self.targets[file], &self.opening)?.with_values(self.values))
    }

    fn table(&self, file: usize) -> PlanResult<Table> {
        match self.kept.get(file).and_then(OnceLock::get) {
            Some(table) => Ok(table.clone()),
            None => self.place(file).map(|place| place.table).map_err(Failure::into_error),
        }
    }
}

impl TargetChain {
    /// Creates a chain of the tables of targets without opening a file.
    pub(crate) fn new(
        targets: &[Target],
        opening: &Opening,
        values: Values,
        missing: MissingColumns,
        damage: Damage,
    ) -> Result<Self> {
        let opener = Arc::new(Opener {
            targets: targets.to_vec(),
            opening: opening.clone(),
            values,
            kept: targets.iter().map(|_| OnceLock::new()).collect(),
        });
        let file = |target: &Target| ChainFile { path: target.name().to_owned(), ..ChainFile::default() };
        let engine = Some(opened::engine(opening));
        let options =
            ChainOptions { store: opening.store(), missing, damage, engine, ..ChainOptions::default() };
        let tables = Arc::clone(&opener);
        let files = targets.iter().map(file).collect();
        Ok(Self { chain: Chain::with_opener(files, options, move |file| tables.table(file))?, opener })
    }

    /// Returns the files in groups that are opened in parallel. Streams are opened one by one.
    pub(crate) fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (count, streams) = (self.chain.len(), self.opener.targets.iter().any(Target::is_stream));
        let size = if streams { 1 } else { BATCH };
        (0..count).step_by(size).map(move |first| first..(first + size).min(count))
    }

    /// Opens several files in parallel and calls `work` with their tables.
    pub(crate) fn map_places<T: Send>(
        &self,
        files: Range<usize>,
        work: impl Fn(Place) -> Result<T> + Sync,
    ) -> Vec<Result<T>> {
        self.chain.map_files(files, |file| self.opener.place(file).and_then(&work))
    }

    /// Opens all files, and calls `work` with their tables in order, with times in the zones of the first
    /// file. Returns the first table. It is kept open, as are streams, which cannot be read twice.
    pub(crate) fn look(&self, mut work: impl FnMut(usize, &Place) -> Result<()>) -> Result<Place> {
        let mut first: Option<Place> = None;
        for batch in self.batches() {
            for (file, place) in batch.clone().zip(self.map_places(batch, Ok)) {
                let mut place = place?;
                if let Some(first) = &first {
                    place.table = place.table.in_zones_of(&first.table.zones())?;
                }
                work(file, &place)?;
                if file == 0 || self.opener.targets[file].is_stream() {
                    self.opener.kept[file].get_or_init(|| place.table.clone());
                }
                first.get_or_insert(place);
            }
        }
        first.ok_or_else(|| Failure::misuse("there are no files".into()))
    }
}
