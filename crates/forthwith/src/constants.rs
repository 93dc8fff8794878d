//! Tables with additional columns of one value each.

use forthwith_columns::{Array, Form, arrow::SchemaRef};
use forthwith_plan::{
    Constant, Dataset, Decoder, Description, Error, Extent, Field, FriendName, Limits, Plan, PlannedConstant,
    Reading, Result, TableIndex, Task, check_entries,
};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A dataset with constants after its fields.
pub(crate) struct WithConstants {
    inner: Arc<dyn Dataset>,
    constants: Vec<Constant>,
    fields: OnceLock<Vec<Field>>,
}

impl WithConstants {
    /// Adds the constants whose names the dataset has no field of.
    ///
    /// # Errors
    /// Damaged metadata.
    pub(crate) fn new(inner: Arc<dyn Dataset>, constants: &[Constant]) -> Result<Self> {
        let known = inner.fields()?;
        let is_new = |constant: &&Constant| known.iter().all(|field| field.path != constant.name);
        let constants = constants.iter().filter(is_new).cloned().collect();
        Ok(Self { inner, constants, fields: OnceLock::new() })
    }

    /// Returns the number of fields of the dataset itself.
    fn own(&self) -> Result<u32> {
        Ok(u32::try_from(self.inner.fields()?.len()).unwrap_or(u32::MAX))
    }

    /// Returns the constant of a field, if it is one.
    fn constant(&self, field: u32) -> Result<Option<&Constant>> {
        let own = self.own()?;
        let Some(at) = field.checked_sub(own) else { return Ok(None) };
        let constant = self.constants.get(at as usize);
        constant.map(Some).ok_or_else(|| Error::no_field(field, own as usize + self.constants.len()))
    }

    /// Returns those of `fields` that the dataset itself has.
    fn of_inner(&self, fields: &[u32]) -> Result<Vec<u32>> {
        let own = self.own()?;
        Ok(fields.iter().copied().filter(|field| *field < own).collect())
    }

    fn described(constant: &Constant, entries: u64) -> Description {
        let decoder = Decoder::Format("constant".into());
        let reason = "the path of the file says it".to_owned();
        Description {
            type_name: constant.type_name().to_owned(),
            reading: Ok(Reading { form: constant.form(), decoder, reason }),
            entries,
            blocks: 0,
            stored_bytes: 0,
            payload_bytes: entries.saturating_mul(constant.bytes()),
        }
    }
}

impl Dataset for WithConstants {
    fn format(&self) -> &'static str {
        self.inner.format()
    }

    fn object(&self) -> &str {
        self.inner.object()
    }

    fn entries(&self) -> Result<u64> {
        self.inner.entries()
    }

    fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.inner.entries_up_to(most)
    }

    fn counts_blocks(&self) -> bool {
        self.inner.counts_blocks()
    }

    fn is_stream(&self) -> bool {
        self.inner.is_stream()
    }

    fn release(&self, before: u64) -> Result<()> {
        self.inner.release(before)
    }

    fn entries_counted(&self) -> Result<u64> {
        self.inner.entries_counted()
    }

    fn likely_entries(&self) -> Result<u64> {
        self.inner.likely_entries()
    }

    fn is_record(&self) -> bool {
        self.inner.is_record()
    }

    fn entry_range(&self, field: u32, most: u64) -> Result<Range<u64>> {
        match self.constant(field)? {
            Some(_) => Ok(0..self.inner.entries_up_to(most)?),
            None => self.inner.entry_range(field, most),
        }
    }

    fn fields(&self) -> Result<&[Field]> {
        if let Some(fields) = self.fields.get() {
            return Ok(fields);
        }
        let mut fields = self.inner.fields()?.to_vec();
        fields.extend(self.constants.iter().map(|constant| Field::named(&constant.name, "")));
        Ok(self.fields.get_or_init(|| fields))
    }

    fn describe(&self, field: u32) -> Result<Description> {
        match self.constant(field)? {
            Some(constant) => Ok(Self::described(constant, self.inner.entries()?)),
            None => self.inner.describe(field),
        }
    }

    fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        match self.constant(field)? {
            Some(constant) => Ok(Self::described(constant, self.inner.entries_up_to(entries)?)),
            None => self.inner.describe_first(field, entries),
        }
    }

    fn extents(&self, fields: &[u32], entries: u64) -> Result<Vec<Extent>> {
        let mut inner = self.inner.extents(&self.of_inner(fields)?, entries)?.into_iter();
        let mut extents = Vec::with_capacity(fields.len());
        for field in fields {
            extents.push(match self.constant(*field)? {
                Some(constant) => Self::described(constant, self.inner.entries_up_to(entries)?).into(),
                None => {
                    inner.next().ok_or_else(|| Error::fault(format!("field {field} was not described")))?
                }
            });
        }
        Ok(extents)
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        let mut constants = Vec::new();
        for (at, field) in (0..).zip(fields) {
            if let Some(constant) = self.constant(*field)? {
                constants.push(PlannedConstant { at, constant: constant.clone() });
            }
        }
        let inner = self.of_inner(fields)?;
        let mut plan = if inner.is_empty() && !fields.is_empty() {
            check_entries(&entries, self.inner.entries_up_to(entries.end)?)?;
            let (format, object) = (self.format().to_owned(), self.object().to_owned());
            Plan { format, object, entries, ..Plan::default() }
        } else {
            self.inner.plan(&inner, entries)?
        };
        plan.constants = constants;
        Ok(plan)
    }

    fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        let inner = self.of_inner(fields)?;
        if inner.is_empty() && !fields.is_empty() {
            return Ok(if entries.is_empty() {
                vec![entries.start]
            } else {
                vec![entries.start, entries.end]
            });
        }
        self.inner.boundaries(&inner, entries)
    }

    fn values(&self, field: u32) -> Result<Option<u64>> {
        if self.constant(field)?.is_some() { Ok(None) } else { self.inner.values(field) }
    }

    fn codecs(&self, field: u32) -> Result<Vec<String>> {
        if self.constant(field)?.is_some() { Ok(Vec::new()) } else { self.inner.codecs(field) }
    }

    fn is_complete(&self, field: u32) -> Result<bool> {
        match self.constant(field)? {
            Some(constant) => Ok(constant.limit().is_some()),
            None => self.inner.is_complete(field),
        }
    }

    fn limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        match self.constant(field)? {
            Some(constant) => Ok(constant
                .limit()
                .map(|limit| Limits { entries, least: limit.clone(), greatest: limit })
                .into_iter()
                .collect()),
            None => self.inner.limits(field, entries),
        }
    }

    fn finer_limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        // A constant of the path has no finer limits.
        if self.constant(field)?.is_some() { Ok(Vec::new()) } else { self.inner.finer_limits(field, entries) }
    }

    fn aliases(&self) -> Result<Vec<(String, String)>> {
        self.inner.aliases()
    }

    fn friends(&self) -> Result<Vec<FriendName>> {
        self.inner.friends()
    }

    fn index(&self) -> Result<Option<TableIndex>> {
        self.inner.index()
    }

    fn arrow_schema(&self) -> Option<SchemaRef> {
        self.inner.arrow_schema()
    }

    fn dictionary(&self, field: u32) -> Result<Option<Array>> {
        if self.constant(field)?.is_some() { Ok(None) } else { self.inner.dictionary(field) }
    }

    fn zones(&self) -> Vec<(String, Form)> {
        self.inner.zones()
    }

    fn attribute_sets(&self) -> Vec<String> {
        self.inner.attribute_sets()
    }

    fn locate_damage(&self, plan: &Plan, task: Option<&Task>) -> Result<Vec<Plan>> {
        self.inner.locate_damage(plan, task)
    }
}

/// Inserts the constants of a plan into the arrays that were read.
pub(crate) fn put_constants(plan: &Plan, arrays: &mut Vec<Array>) -> Result<()> {
    for PlannedConstant { at, constant } in &plan.constants {
        let array = constant.array(plan.rows())?;
        arrays.insert((*at as usize).min(arrays.len()), array);
    }
    Ok(())
}
