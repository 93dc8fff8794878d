//! [`Dataset`](forthwith_plan::Dataset) of an ntuple: its fields, and plans.

use crate::coding::Stored;
use crate::form::{self, Shape};
use crate::format::NtupleFormat;
use crate::ntuple::Ntuple;
use crate::pages::ColumnPages;
use crate::planner::{self, Planner};
use forthwith_plan::{Dataset, Description, Error, Field, Plan, Result, check_entries, cuts};
use forthwith_root::setting_name;
use std::{collections::BTreeSet, ops::Range};

impl Dataset for Ntuple {
    fn format(&self) -> &'static str {
        NtupleFormat::ID
    }

    fn object(&self) -> &str {
        self.object_path()
    }

    fn entries(&self) -> Result<u64> {
        Ok(self.entry_count())
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(self.listed())
    }

    fn attribute_sets(&self) -> Vec<String> {
        self.attribute_names()
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let shape = self.shape(field)?;
        let type_name = self.record(field).map(form::type_name).unwrap_or_default();
        let none = [0; 3];
        let amounts = shape.as_ref().map_or(Ok(none), |shape| amounts(self, shape));
        let [blocks, stored_bytes, payload_bytes] = amounts.map_err(|error| here(self, error, field))?;
        let reading = match shape {
            Ok(Shape { form, parts }) => Ok(planner::reading(form.clone(), parts.first())?),
            Err(why) => Err(why.clone()),
        };
        let entries = self.entry_count();
        Ok(Description { type_name, reading, entries, blocks, stored_bytes, payload_bytes })
    }

    fn codecs(&self, field: u32) -> Result<Vec<String>> {
        let Ok(shape) = self.shape(field)? else { return Ok(Vec::new()) };
        let settings = settings(self, shape).map_err(|error| here(self, error, field))?;
        Ok(settings.into_iter().map(|setting| setting_name(setting as i32)).collect())
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.entry_count()).map_err(|error| self.here_as_a_whole(error))?;
        let mut planner = Planner::new(self, entries);
        for &field in fields {
            planner.add(field).map_err(|error| here(self, error, field))?;
        }
        Ok(planner.finish())
    }

    fn boundaries(&self, _: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        let clusters = self.clusters(&entries).map_err(|error| self.here_as_a_whole(error))?;
        Ok(cuts(&entries, clusters.iter().map(|at| at.cluster.entries.clone())))
    }
}

/// Returns the number of a field's pages, and their total size as stored and decompressed.
fn amounts(ntuple: &Ntuple, shape: &Shape) -> Result<[u64; 3]> {
    let [mut pages, mut stored, mut payload] = [0u64; 3];
    columns(ntuple, shape, |column, how| {
        for page in &column.pages {
            pages += 1;
            stored = stored.saturating_add(page.locator.size + if page.checksum { 8 } else { 0 });
            payload = payload.saturating_add(how.page_bytes(page.elements));
        }
    })?;
    Ok([pages, stored, payload])
}

/// Returns ROOT's settings of the compression of a field's pages.
fn settings(ntuple: &Ntuple, shape: &Shape) -> Result<BTreeSet<u32>> {
    let mut settings = BTreeSet::new();
    columns(ntuple, shape, |column, _| {
        if !column.pages.is_empty() {
            settings.insert(column.setting);
        }
    })?;
    Ok(settings)
}

/// Calls `take` with each column of a field in each cluster.
fn columns(ntuple: &Ntuple, shape: &Shape, mut take: impl FnMut(&ColumnPages, &Stored)) -> Result<()> {
    for at in ntuple.clusters(&(0..ntuple.entry_count()))? {
        for part in &shape.parts {
            let bytes = part.objects.iter().flat_map(|objects| &objects.bytes);
            let columns = part.columns.iter().zip(&part.coding.stored);
            for (&column, how) in columns.chain(bytes.map(|(column, how)| (column, how))) {
                if let Some(column) = at.list.column(at.cluster, column)? {
                    take(&column, how);
                }
            }
        }
    }
    Ok(())
}

/// Adds the field and the file to an error.
fn here(ntuple: &Ntuple, error: Error, field: u32) -> Error {
    let path = ntuple.path(field);
    let object = if path.is_empty() {
        ntuple.object_path().to_owned()
    } else {
        format!("{}/{path}", ntuple.object_path())
    };
    error.in_object(&object).in_file(ntuple.uri())
}
