//! Lists: alignment of operands, filters, and reductions to one value for each list.

use super::{Checked, Compiler, Operand, Value, only_compared};
use crate::{
    error::{Fault, Span},
    parser::may_lack,
    program::{CONSTANT, ENTRIES, Kind, Register, Space, SpaceId, Step},
    syntax::{Binary, Reduction},
};
use forthwith_columns::DType;
use std::cmp::Ordering;

/// Meaning of a missing value that is aligned with a list: a missing list, or a list of missing items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Lists,
    Items,
}

impl Compiler<'_> {
    /// Returns the spaces from the outermost lists to a space, each replaced by the representative of equal
    /// spaces.
    pub(super) fn path(&self, space: SpaceId) -> Vec<SpaceId> {
        let mut path = Vec::new();
        let mut next = space;
        while let Some(parent) = self.spaces[next as usize].parent() {
            path.push(self.standing_for(next));
            next = parent;
        }
        path.reverse();
        path
    }

    fn standing_for(&self, space: SpaceId) -> SpaceId {
        let mut space = space;
        while self.same[space as usize] != space {
            space = self.same[space as usize];
        }
        space
    }

    /// Aligns two operands, so that they have values for the same items, and returns them with their space.
    /// Constants are not expanded, but get the common validity of lists.
    pub(super) fn aligned(
        &mut self,
        x: Operand,
        y: Operand,
        at: Span,
    ) -> Checked<(Operand, Operand, SpaceId)> {
        let mut both = [x, y];
        let space = self.all_aligned(&mut both, Missing::Lists, at)?;
        let [x, y] = both;
        Ok((x, y, space))
    }

    /// Aligns any number of operands as [`aligned`](Self::aligned) does, and returns their space.
    pub(super) fn all_aligned(
        &mut self,
        operands: &mut [Operand],
        missing: Missing,
        at: Span,
    ) -> Checked<SpaceId> {
        let space = self.met(operands, missing, at)?;
        for operand in operands.iter_mut().filter(|operand| operand.space != CONSTANT) {
            *operand = self.expanded(*operand, space, missing, at)?;
        }
        Ok(space)
    }

    /// Gives operands common lists, up to the depth of each. A list that is missing in one operand becomes
    /// missing in all. Returns the deepest space.
    fn met(&mut self, operands: &mut [Operand], missing: Missing, at: Span) -> Checked<SpaceId> {
        let depths: Vec<usize> = operands.iter().map(|operand| self.path(operand.space).len()).collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let mut there = Vec::with_capacity(deepest);
        for level in 0..deepest {
            let mut known: Vec<Register> = Vec::new();
            for (operand, depth) in operands.iter().zip(&depths) {
                let valid = match depth.cmp(&level) {
                    Ordering::Greater => self.lists_there(*operand, level),
                    Ordering::Equal if missing == Missing::Lists => operand.valid,
                    _ => None,
                };
                known.extend(valid.filter(|valid| !known.contains(valid)));
            }
            let outer = operands.iter().zip(&depths).find(|(_, depth)| **depth > level);
            let outer = outer.map(|(operand, _)| self.path(operand.space));
            let parent = match (&outer, level) {
                (Some(path), 1..) => path[level - 1],
                _ => ENTRIES,
            };
            let mut all = None;
            for valid in known {
                all = self.both_valid(all, Some(valid), parent, at)?;
            }
            there.push(all);
            let deep = |operands: &[Operand], compiler: &Self| -> Vec<SpaceId> {
                let deep = operands.iter().zip(&depths).filter(|(_, depth)| **depth > level);
                deep.map(|(operand, _)| compiler.path(operand.space)[level]).collect()
            };
            let spaces = deep(operands, self);
            if spaces.windows(2).all(|pair| pair[0] == pair[1]) {
                continue;
            }
            let regular = spaces.iter().all(|space| self.size(*space).is_some());
            if let (Some(all), false) = (all, regular) {
                for (operand, _) in operands.iter_mut().zip(&depths).filter(|(_, depth)| **depth > level) {
                    let to = self.path(operand.space)[level];
                    let keep = self.expand(DType::Bool, all, to, at)?;
                    *operand = self.kept(*operand, level, keep, at)?;
                }
            }
            let spaces = deep(operands, self);
            for other in spaces.iter().skip(1) {
                self.unite(spaces[0], *other, at)?;
            }
        }
        let lists = self.levels_there(there);
        let mut space = CONSTANT;
        for (operand, depth) in operands.iter_mut().zip(&depths) {
            operand.lists = lists;
            if operand.space != CONSTANT && (space == CONSTANT || *depth == deepest) {
                space = operand.space;
            }
        }
        Ok(if space == CONSTANT { space } else { self.standing_for(space) })
    }

    pub(super) fn size(&self, space: SpaceId) -> Option<u64> {
        match self.spaces[space as usize] {
            Space::Regular { size, .. } => Some(size),
            _ => None,
        }
    }

    /// Makes two spaces of one level equal. A step checks at run time that their lists have equal lengths.
    fn unite(&mut self, a: SpaceId, b: SpaceId, at: Span) -> Checked<()> {
        let (a, b) = (self.standing_for(a), self.standing_for(b));
        if a == b {
            return Ok(());
        }
        let (kept, other) = match (self.size(a), self.size(b)) {
            (Some(a), Some(b)) if a != b => {
                return Err(Fault::new(at, format!("lists of {a} items meet lists of {b} items")));
            }
            (Some(_), None) => (b, a),
            _ => (a, b),
        };
        if self.size(kept).is_none() {
            self.step(Step::Same { a: kept, b: other }, CONSTANT, at)?;
        }
        self.same[other as usize] = kept;
        Ok(())
    }

    /// Returns the validity of the lists of a level, if some may be missing.
    pub(super) fn lists_there(&self, operand: Operand, level: usize) -> Option<Register> {
        self.list_validity[operand.lists as usize].get(level).copied().flatten()
    }

    /// Returns the common validity of aligned operands and of all lists around them, if some may be missing.
    pub(super) fn all_there(
        &mut self,
        operands: &[Operand],
        space: SpaceId,
        at: Span,
    ) -> Checked<Option<Register>> {
        let path = self.path(space);
        let mut all = None;
        for operand in operands {
            all = self.both_valid(all, operand.valid, space, at)?;
            for level in 0..path.len() {
                let Some(mut there) = self.lists_there(*operand, level) else { continue };
                for to in &path[level..] {
                    there = self.expand(DType::Bool, there, *to, at)?;
                }
                all = self.both_valid(all, Some(there), space, at)?;
            }
        }
        Ok(all)
    }

    /// Returns the row of [`list_validity`](Self::list_validity) for levels of lists, and adds it if it is
    /// new.
    pub(super) fn levels_there(&mut self, mut levels: Vec<Option<Register>>) -> u32 {
        while levels.last() == Some(&None) {
            levels.pop();
        }
        if let Some(known) = self.list_validity.iter().position(|row| *row == levels) {
            return known as u32;
        }
        self.list_validity.push(levels);
        self.list_validity.len() as u32 - 1
    }

    /// Filters the items of the lists of a level by a condition, with all items nested in them.
    pub(super) fn kept(
        &mut self,
        x: Operand,
        level: usize,
        condition: Register,
        at: Span,
    ) -> Checked<Operand> {
        let Kind::Number(dtype) = x.kind else {
            return Err(Fault::new(at, "text in lists meets other lists, of which one may be missing"));
        };
        let path = self.path(x.space);
        let mut there: Vec<_> = (0..path.len()).map(|level| self.lists_there(x, level)).collect();
        let mut parent = if level == 0 { ENTRIES } else { path[level - 1] };
        let (mut condition, mut lists, mut into) = (condition, None, ENTRIES);
        for (deeper, of) in path.iter().copied().enumerate().skip(level) {
            if deeper > level {
                let outer = condition;
                if let Some(x) = there[deeper] {
                    let step = Step::Keep { dtype: DType::Bool, x, condition: outer, into };
                    there[deeper] = Some(self.step(step, into, at)?);
                }
                condition = self.expand(DType::Bool, outer, of, at)?;
                lists = Some(outer);
            }
            into = self.space(match self.size(of) {
                Some(size) if deeper > level => Space::Regular { parent, size },
                _ => Space::Kept { parent, of, condition, lists },
            });
            self.step(Step::Lists { of: into }, into, at)?;
            parent = into;
        }
        // Items of nested lists of fixed length are filtered by the same condition.
        let mut keep =
            |x: Register, dtype: DType| self.step(Step::Keep { dtype, x, condition, into }, into, at);
        let register = keep(x.register, dtype)?;
        let valid = x.valid.map(|valid| keep(valid, DType::Bool)).transpose()?;
        let lists = self.levels_there(there);
        Ok(Operand { register, kind: x.kind, space: into, valid, lists })
    }

    /// Repeats values of outer lists for each item of inner ones.
    fn expanded(&mut self, x: Operand, space: SpaceId, missing: Missing, at: Span) -> Checked<Operand> {
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
            operand.register = self.expand(dtype, operand.register, *level, at)?;
            operand.valid = match (operand.valid, missing) {
                (Some(x), Missing::Items) => Some(self.expand(DType::Bool, x, *level, at)?),
                // The validity became that of the lists: see `met`.
                _ => None,
            };
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
        self.of_both(Binary::BitAnd, x, y, space, at).map(Some)
    }

    /// Repeats the value of each list for each of its items.
    pub(super) fn expand(&mut self, dtype: DType, x: Register, to: SpaceId, at: Span) -> Checked<Register> {
        self.step(Step::Expand { dtype, x, to }, to, at)
    }

    pub(super) fn filter(&mut self, items: &Value, condition: &Value, at: Span) -> Checked<Value> {
        let (items, condition) = (self.numbers(items, at)?, self.numbers(condition, at)?);
        if condition.kind.dtype() != DType::Bool {
            let what = format!("the condition in brackets is {}, not true or false", condition.kind.dtype());
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
        let mut both = [items, condition];
        self.met(&mut both, Missing::Lists, at)?;
        let items = both[0];
        // An item whose condition is missing becomes missing, but is not dropped.
        let path = self.path(both[1].space);
        let space = path[wanted - 1];
        let (mut keep, valid) = (both[1].register, both[1].valid);
        if let Some(x) = valid {
            let open = self.of_truth(x, space, at)?;
            keep = self.of_both(Binary::BitOr, keep, open, space, at)?;
        }
        let valid = match wanted == deep {
            true => self.both_valid(items.valid, valid, space, at)?,
            // For whole lists, `met` has set their validity.
            false => items.valid,
        };
        self.kept(Operand { valid, ..items }, wanted - 1, keep, at).map(Value::Operand)
    }

    pub(super) fn reduce(
        &mut self,
        by: Reduction,
        items: &Value,
        axis: Option<i64>,
        at: Span,
    ) -> Checked<Value> {
        if let Reduction::Mean | Reduction::Var | Reduction::Std = by {
            return self.statistic(by, items, axis, at);
        }
        let items = self.operand(items, at)?;
        let (of, parent) = self.lists_within(items.space, by.word(), at)?;
        let depth = self.path(of).len() as i64;
        if axis.is_some_and(|axis| axis != -1 && axis != depth) {
            let what = format!(
                "lists are reduced along their innermost axis, which is axis=-1 or axis={depth} here, not axis={}",
                axis.unwrap_or(0)
            );
            return Err(Fault::new(at, what));
        }
        if let (Kind::Time(_, meaning), false) = (items.kind, by == Reduction::Count) {
            return Err(Fault::new(at, only_compared(meaning)));
        }
        if items.kind == Kind::Text && by != Reduction::Count {
            return Err(Fault::new(
                at,
                format!("{} of text: text can only be counted and compared", by.word()),
            ));
        }
        let items = match by {
            Reduction::Any | Reduction::All => self.truth(items, at)?,
            _ => items,
        };
        let dtype = items.kind.dtype();
        // `first` returns a missing item as missing; other reductions ignore missing items.
        let counted = if by == Reduction::First { None } else { items.valid };
        let step = Step::Reduce { by, dtype, x: items.register, valid: counted, of };
        let reduced = self.made(step, Operand { space: parent, ..items }, at)?;
        let mut valid = None;
        if may_lack(by) {
            let some = self.step(Step::Some { valid: counted, of }, parent, at)?;
            let there = match (by, items.valid) {
                (Reduction::First, Some(x)) => {
                    let step = Step::Reduce { by, dtype: DType::Bool, x, valid: None, of };
                    Some(self.step(step, parent, at)?)
                }
                _ => None,
            };
            valid = self.both_valid(Some(some), there, parent, at)?;
        }
        self.of_lists(reduced, valid, at).map(Value::Operand)
    }

    pub(super) fn item(&mut self, items: &Value, position: i64, at: Span) -> Checked<Value> {
        let items = self.numbers(items, at)?;
        self.item_of(items, position, at).map(Value::Operand)
    }

    /// Returns the item at a position of each innermost list.
    pub(super) fn item_of(&mut self, items: Operand, position: i64, at: Span) -> Checked<Operand> {
        let (of, parent) = self.lists_within(items.space, "item", at)?;
        let mut item =
            |x: Register, dtype: DType| self.step(Step::Item { dtype, position, x, of }, parent, at);
        let register = item(items.register, items.kind.dtype())?;
        let there = items.valid.map(|valid| item(valid, DType::Bool)).transpose()?;
        let has = self.step(Step::Has { position, of }, parent, at)?;
        let valid = self.both_valid(Some(has), there, parent, at)?;
        self.of_lists(Operand { register, space: parent, ..items }, valid, at)
    }

    /// Completes one value for each innermost list, which is valid only if the list is. The validity of outer
    /// lists remains that of the items.
    fn of_lists(&mut self, values: Operand, valid: Option<Register>, at: Span) -> Checked<Operand> {
        let outer = self.path(values.space).len();
        let there = (0..outer).map(|level| self.lists_there(values, level)).collect();
        let valid = self.both_valid(valid, self.lists_there(values, outer), values.space, at)?;
        let lists = self.levels_there(there);
        Ok(Operand { valid, lists, ..values })
    }

    /// Returns the innermost lists of a space, and the space that has one value for each of these lists.
    pub(super) fn lists_within(
        &mut self,
        space: SpaceId,
        word: &str,
        at: Span,
    ) -> Checked<(SpaceId, SpaceId)> {
        match self.spaces[space as usize].parent() {
            Some(parent) => Ok((space, self.standing_for(parent))),
            None => Err(Fault::new(
                at,
                format!("{word} reduces lists, but this is a single value for each entry"),
            )),
        }
    }
}
