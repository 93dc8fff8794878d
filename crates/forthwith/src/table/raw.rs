//! Blocks of a table, decompressed but not decoded.

use super::{FieldRef, Table};
use crate::format;
use forthwith_engine::RawBlock;
use forthwith_io::{Several, Source};
use forthwith_plan::{Plan, Result};
use std::{ops::RangeBounds, sync::Arc};

impl Table {
    /// Creates a plan for [`raw`](Self::raw), in which adjacent blocks of the file are joined into one task.
    /// An uncompressed column whose blocks are adjacent thus becomes one block, which is a view of a mapped
    /// file.
    ///
    /// # Errors
    /// Returns the errors of [`plan`](Self::plan).
    pub fn plan_raw<F: FieldRef>(&self, fields: &[F], entries: impl RangeBounds<u64>) -> Result<Plan> {
        let mut plan = self.plan(fields, entries)?;
        plan.join(format(&plan.format)?);
        Ok(plan)
    }

    /// Returns one block of a plan, decompressed but not decoded.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn raw(&self, plan: &Plan, task: usize) -> Result<RawBlock> {
        self.file.engine().raw(plan, task, &self.source(plan)?, format(&plan.format)?)
    }

    /// Returns the source of a plan's blocks: the file, together with other files that the plan refers to.
    pub(crate) fn source(&self, plan: &Plan) -> Result<Arc<dyn Source>> {
        let first = self.file.source();
        if plan.others.is_empty() {
            return Ok(Arc::clone(first));
        }
        let others = plan.others.iter().map(|name| first.beside(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Several::new(Arc::clone(first), others)))
    }
}
