//! Lists in which TTreeFormula's `Iteration$` and `Length$` count: the deepest lists of columns in the same
//! expression.

use super::{Compiler, Operand, Value};
use crate::{
    error::{Error, Fault},
    expression::Expression,
    syntax::{Id, Kind, Selector},
};
use std::collections::{HashMap, HashSet};

impl Compiler<'_> {
    /// Returns, for each such variable of an expression, the operand whose items it counts. Variables in
    /// scopes without lists are omitted.
    pub(super) fn iterations(
        &mut self,
        expression: &Expression,
        alias: Option<&str>,
    ) -> Result<HashMap<Id, Operand>, Error> {
        let mut found = HashMap::new();
        let is_variable = |kind: &Kind| matches!(kind, Kind::Iteration { .. } | Kind::Alternative(..));
        if !expression.nodes.iter().any(|node| is_variable(&node.kind)) {
            return Ok(found);
        }
        let mut scopes = vec![expression.nodes.len() as Id - 1];
        // Nodes may have several users; each is visited once in each scope.
        let mut seen = HashSet::new();
        while let Some(root) = scopes.pop() {
            if seen.contains(&(root, root)) {
                continue;
            }
            let (mut variables, mut deepest): (Vec<Id>, Option<(usize, Operand)>) = (Vec::new(), None);
            let (mut positions, mut alternative) = (None, None);
            let mut waiting = vec![root];
            while let Some(id) = waiting.pop() {
                if !seen.insert((root, id)) {
                    continue;
                }
                let node = &expression.nodes[id as usize];
                match &node.kind {
                    Kind::Iteration { .. } => variables.push(id),
                    Kind::ReduceEntry { items, .. } => scopes.push(*items),
                    // The results have the lists of an outer level.
                    Kind::Reduce { items, .. } | Kind::Item { items, .. } => scopes.push(*items),
                    Kind::Subscript { items, selectors, .. }
                        if self.is_one_item(expression, *items, selectors, alias)? => {}
                    Kind::Name { name, quoted } => {
                        let value = self.named(expression, name, *quoted, node.at, alias)?;
                        if let Ok(operand) = self.numbers(&value, node.at) {
                            let depth = self.path(operand.space).len();
                            if depth > 0 && deepest.is_none_or(|(known, _)| depth > known) {
                                deepest = Some((depth, operand));
                            }
                        }
                    }
                    kind => {
                        match kind {
                            Kind::Subscript { .. } | Kind::Filter { .. } => positions = Some(node.at),
                            Kind::Alternative(..) => alternative = Some(node.at),
                            _ => {}
                        }
                        waiting.extend(kind.operands());
                    }
                }
            }
            if let (Some(at), false) = (positions, variables.is_empty()) {
                let what = "Iteration$ and Length$ beside items that are chosen are not supported";
                return Err(Fault::new(at, what).within(&expression.text, alias));
            }
            if let (Some(at), Some(_)) = (alternative, deepest) {
                // TTreeFormula only uses the first argument for the first item.
                let what = "Alt$ beside lists is not supported: only beside single values";
                return Err(Fault::new(at, what).within(&expression.text, alias));
            }
            let deepest = deepest.map(|(_, operand)| operand);
            found.extend(variables.into_iter().filter_map(|id| Some((id, deepest?))));
        }
        Ok(found)
    }

    /// Whether positions in a column select one item of each entry.
    fn is_one_item(
        &mut self,
        expression: &Expression,
        items: Id,
        selectors: &[Selector],
        alias: Option<&str>,
    ) -> Result<bool, Error> {
        let node = &expression.nodes[items as usize];
        let Kind::Name { name, quoted } = &node.kind else { return Ok(false) };
        if !selectors.iter().all(|selector| matches!(selector, Selector::At(_))) {
            return Ok(false);
        }
        let value = self.named(expression, name, *quoted, node.at, alias)?;
        let depth = self.numbers(&value, node.at).ok().map(|operand| self.path(operand.space).len());
        Ok(depth.is_some_and(|depth| depth <= selectors.len()))
    }
}

/// Returns the value for an expression without lists: 0, or 1 for the number of items.
pub(super) const fn without_lists(length: bool) -> Value {
    Value::Number(crate::scalar::Number::Int(length as i128))
}
