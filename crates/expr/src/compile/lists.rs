//! Lists: which numbers meet which, and from lists to one value each.

use super::{Checked, Compiler, Operand, Value, element::dtype_of};
use crate::{
    error::{Fault, Span},
    parser::may_lack,
    program::{CONSTANT, ENTRIES, Kind, Register, Space, SpaceId, Step},
    syntax::{Binary, Reduction},
    types::accumulated,
};
use forthwith_columns::DType;

impl Compiler<'_> {
    /// The spaces from the outermost lists to these, each by the one that stands for all that are the same.
    pub(super) fn path(&self, space: SpaceId) -> Vec<SpaceId> {
        let mut path = Vec::new();
        let mut next = space;
        while let Some(parent) = self.parent(next) {
            path.push(self.standing_for(next));
            next = parent;
        }
        path.reverse();
        path
    }

    fn parent(&self, space: SpaceId) -> Option<SpaceId> {
        match self.spaces[space as usize] {
            Space::Constant | Space::Entries => None,
            Space::Lists { parent, .. } | Space::Regular { parent, .. } | Space::Kept { parent, .. } => {
                Some(parent)
            }
        }
    }

    fn standing_for(&self, space: SpaceId) -> SpaceId {
        let mut space = space;
        while self.same[space as usize] != space {
            space = self.same[space as usize];
        }
        space
    }

    /// Two operands where each has a value for each of the other's, and the space of both. Constants stay.
    pub(super) fn aligned(
        &mut self,
        x: Operand,
        y: Operand,
        at: Span,
    ) -> Checked<(Operand, Operand, SpaceId)> {
        if x.space == CONSTANT || y.space == CONSTANT {
            let space = if x.space == CONSTANT { y.space } else { x.space };
            return Ok((x, y, space));
        }
        let space = self.united(x.space, y.space, at)?;
        Ok((self.expanded(x, space, at)?, self.expanded(y, space, at)?, space))
    }

    /// The deeper of two spaces, whose outer lists are checked to be the same when they are computed.
    fn united(&mut self, x: SpaceId, y: SpaceId, at: Span) -> Checked<SpaceId> {
        let (a, b) = (self.path(x), self.path(y));
        for (a, b) in a.iter().zip(&b) {
            let (a, b) = (self.standing_for(*a), self.standing_for(*b));
            if a == b {
                continue;
            }
            let size = |space: SpaceId| match self.spaces[space as usize] {
                Space::Regular { size, .. } => Some(size),
                _ => None,
            };
            let (kept, other) = match (size(a), size(b)) {
                (Some(a), Some(b)) if a != b => {
                    return Err(Fault::new(at, format!("lists of {a} items meet lists of {b} items")));
                }
                (Some(_), None) => (b, a),
                _ => (a, b),
            };
            if size(kept).is_none() {
                self.step(Step::Same { a: kept, b: other }, Kind::Number(DType::Bool), CONSTANT, at)?;
            }
            self.same[other as usize] = kept;
        }
        let deeper = if a.len() >= b.len() { a.last() } else { b.last() };
        Ok(deeper.map_or(ENTRIES, |space| self.standing_for(*space)))
    }

    /// Values of outer lists once for each item of inner ones.
    pub(super) fn expanded(&mut self, x: Operand, space: SpaceId, at: Span) -> Checked<Operand> {
        let depth = self.path(x.space).len();
        let levels = self.path(space);
        let mut operand = x;
        for level in levels.iter().skip(depth) {
            let Kind::Number(dtype) = operand.kind else {
                return Err(Fault::new(
                    at,
                    "text meets lists of text: only lists of equal depth can be compared",
                ));
            };
            let step = Step::Expand { dtype, x: operand.register, to: *level };
            operand.register = self.step(step, operand.kind, *level, at)?;
            if let Some(valid) = operand.valid {
                let step = Step::Expand { dtype: DType::Bool, x: valid, to: *level };
                operand.valid = Some(self.step(step, Kind::Number(DType::Bool), *level, at)?);
            }
        }
        operand.space = space;
        Ok(operand)
    }

    pub(super) fn both_valid(
        &mut self,
        a: Option<Register>,
        b: Option<Register>,
        space: SpaceId,
        at: Span,
    ) -> Checked<Option<Register>> {
        let (Some(x), Some(y)) = (a, b) else { return Ok(a.or(b)) };
        let step = Step::Binary { operation: Binary::BitAnd, dtype: DType::Bool, x, y };
        self.step(step, Kind::Number(DType::Bool), space, at).map(Some)
    }

    pub(super) fn filter(&mut self, items: &Value, condition: &Value, at: Span) -> Checked<Value> {
        let (items, condition) = (self.numbers(items, at)?, self.numbers(condition, at)?);
        if dtype_of(condition) != DType::Bool {
            let what = format!("the condition in brackets is {}, not true or false", dtype_of(condition));
            return Err(Fault::new(at, what));
        }
        let (deep, wanted) = (self.path(items.space).len(), self.path(condition.space).len());
        if deep == 0 || wanted == 0 {
            let what = "brackets keep items of lists: entries are chosen by cut=, and of single values there is where()";
            return Err(Fault::new(at, what));
        }
        if wanted > deep {
            return Err(Fault::new(at, "the condition has deeper lists than what it chooses from"));
        }
        if wanted < deep {
            return Err(Fault::new(at, "a condition for whole lists of lists is not computed yet"));
        }
        let (items, condition, of) = self.aligned(items, condition, at)?;
        let boolean = Kind::Number(DType::Bool);
        let keep = self.both_valid(Some(condition.register), condition.valid, of, at)?;
        let Some(parent) = self.parent(of) else { return Err(Fault::new(at, "no lists")) };
        let into = self.space(Space::Kept { parent, of, condition: keep.unwrap_or(condition.register) });
        self.step(Step::Lists { of: into }, boolean, into, at)?;
        let step = Step::Keep { dtype: dtype_of(items), x: items.register, into };
        let register = self.step(step, items.kind, into, at)?;
        let valid = match items.valid {
            Some(x) => Some(self.step(Step::Keep { dtype: DType::Bool, x, into }, boolean, into, at)?),
            None => None,
        };
        Ok(Value::Operand(Operand { register, kind: items.kind, space: into, valid }))
    }

    pub(super) fn reduce(
        &mut self,
        by: Reduction,
        items: &Value,
        axis: Option<i64>,
        at: Span,
    ) -> Checked<Value> {
        let items = self.operand(items, at)?;
        let (of, parent) = self.lists_of(items, by.word(), at)?;
        let depth = self.path(of).len() as i64;
        if axis.is_some_and(|axis| axis != -1 && axis != depth) {
            let what = format!(
                "lists are reduced along their innermost axis, which is axis=-1 or axis={depth} here, not axis={}",
                axis.unwrap_or(0)
            );
            return Err(Fault::new(at, what));
        }
        if items.kind == Kind::Text && by != Reduction::Count {
            return Err(Fault::new(
                at,
                format!("{} of text: text can be counted and compared only", by.word()),
            ));
        }
        let items = match by {
            Reduction::Any | Reduction::All => self.truth(items, at)?,
            _ => items,
        };
        let dtype = dtype_of(items);
        let kind = Kind::Number(match by {
            Reduction::Sum | Reduction::Prod => accumulated(dtype),
            Reduction::Any | Reduction::All => DType::Bool,
            Reduction::Count => DType::Int64,
            Reduction::Min | Reduction::Max | Reduction::First => dtype,
        });
        // A first item that is missing is missing; elsewhere, items that are missing do not count.
        let counted = if by == Reduction::First { None } else { items.valid };
        let step = Step::Reduce { by, dtype, x: items.register, valid: counted, of };
        let register = self.step(step, kind, parent, at)?;
        let mut valid = None;
        if may_lack(by) {
            let boolean = Kind::Number(DType::Bool);
            let some = self.step(Step::Some { valid: counted, of }, boolean, parent, at)?;
            let there = match (by, items.valid) {
                (Reduction::First, Some(x)) => {
                    let step = Step::Reduce { by, dtype: DType::Bool, x, valid: None, of };
                    Some(self.step(step, boolean, parent, at)?)
                }
                _ => None,
            };
            valid = self.both_valid(Some(some), there, parent, at)?;
        }
        Ok(Value::Operand(Operand { register, kind, space: parent, valid }))
    }

    pub(super) fn item(&mut self, items: &Value, position: i64, at: Span) -> Checked<Value> {
        let items = self.numbers(items, at)?;
        let (of, parent) = self.lists_of(items, "item", at)?;
        let boolean = Kind::Number(DType::Bool);
        let step = Step::Item { dtype: dtype_of(items), position, x: items.register, of };
        let register = self.step(step, items.kind, parent, at)?;
        let there = match items.valid {
            Some(x) => {
                let step = Step::Item { dtype: DType::Bool, position, x, of };
                Some(self.step(step, boolean, parent, at)?)
            }
            None => None,
        };
        let has = self.step(Step::Has { position, of }, boolean, parent, at)?;
        let valid = self.both_valid(Some(has), there, parent, at)?;
        Ok(Value::Operand(Operand { register, kind: items.kind, space: parent, valid }))
    }

    /// The innermost lists of an operand, and the space of the lists themselves.
    fn lists_of(&mut self, items: Operand, word: &str, at: Span) -> Checked<(SpaceId, SpaceId)> {
        match self.parent(items.space) {
            Some(parent) => Ok((items.space, self.standing_for(parent))),
            None => Err(Fault::new(
                at,
                format!(
                    "{word} is of the items of lists, and these are single values of entries: there is nothing to go over"
                ),
            )),
        }
    }
}
