//! Projected fields.

use super::describe::{Describer, Refusal};
use super::record::AliasRecord;
use crate::schema::{COLLECTION, PLAIN, RECORD, VARIANT};

impl Describer<'_> {
    /// Adds a field that projects another one, or the lengths of its lists.
    pub(crate) fn project(&mut self, name: &str, source: &str) -> Result<(), Refusal> {
        let (counted, path) = source.strip_prefix('#').map_or((false, source), |path| (true, path));
        let chain = self
            .find(path)
            .ok_or_else(|| format!("there is no field {path:?} for the projection {name:?} to show"))?;
        let (lists, last) = chain;
        if counted {
            let id = self.open(name, None);
            self.close(id, PLAIN, "ROOT::RNTupleCardinality<std::uint64_t>");
            self.show(id, last)?;
            return match self.role(last) {
                COLLECTION if lists.is_empty() => Ok(()),
                _ => Err(format!("{path:?} has no lengths for the projection {name:?} to show")),
            };
        }
        let (mut parent, mut ids) = (None, Vec::new());
        for list in lists {
            let id = self.open(if parent.is_none() { name } else { "_0" }, parent);
            self.close(id, COLLECTION, "");
            self.show(id, list)?;
            ids.push(id);
            parent = Some(id);
        }
        let mut ty = self.copy(if parent.is_none() { name } else { "_0" }, last, parent)?;
        for id in ids.into_iter().rev() {
            ty = if ty.is_empty() { ty } else { format!("std::vector<{ty}>") };
            self.close(id, COLLECTION, &ty);
        }
        Ok(())
    }

    /// Returns the lists around a field, and the field.
    fn find(&self, path: &str) -> Option<(Vec<u32>, u32)> {
        let (mut lists, mut at) = (Vec::new(), None);
        for name in path.split(['.', '/']) {
            let mut below = match at {
                None => (0..)
                    .zip(&self.all.fields)
                    .filter(|(id, of)| of.parent == *id)
                    .map(|(id, _)| id)
                    .collect(),
                Some(at) => self.all.children(at),
            };
            while let (Some(list), [item]) = (at, &below[..])
                && self.role(list) == COLLECTION
            {
                lists.push(list);
                at = Some(*item);
                below = self.all.children(*item);
            }
            if at.is_some_and(|at| self.role(at) != RECORD) {
                return None;
            }
            let named = |id: &u32| self.all.fields.get(*id as usize).is_some_and(|of| of.name == name);
            at = Some(below.into_iter().find(named)?);
        }
        Some((lists, at?))
    }

    /// Adds projections of a field and its children. Returns the name of the type.
    fn copy(&mut self, name: &str, source: u32, parent: Option<u32>) -> Result<String, Refusal> {
        let Some(of) = self.all.fields.get(source as usize).cloned() else { return Err("no field".into()) };
        if of.role == VARIANT || of.repeats.is_some() {
            return Err(format!("{} shown as another field", of.type_name));
        }
        let id = self.open(name, parent);
        self.close(id, of.role, &of.type_name);
        self.show(id, source)?;
        for child in self.all.children(source) {
            let Some(name) = self.all.fields.get(child as usize).map(|of| of.name.clone()) else { continue };
            self.copy(&name, child, Some(id))?;
        }
        Ok(of.type_name)
    }

    fn show(&mut self, field: u32, source: u32) -> Result<(), Refusal> {
        if let Some(of) = self.all.fields.get_mut(field as usize) {
            of.source = Some(source);
        }
        let columns: Vec<u32> = self.all.columns_of(source).collect();
        self.all.aliases.extend(columns.into_iter().map(|column| AliasRecord { column, field }));
        Ok(())
    }
}
