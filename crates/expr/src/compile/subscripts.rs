//! Subscripts of lists by position, and positions of items.

use super::{Checked, Compiler, Operand, Value, iteration::without_lists};
use crate::{
    error::{Fault, Span},
    program::{ENTRIES, Kind, Register, Space, SpaceId, Step},
    scalar::Number,
    syntax::{Binary, Selector},
};
use forthwith_columns::DType;

impl Compiler<'_> {
    /// Computes `x[:, 0, 1:]`, with a selector for each of the outermost or innermost levels.
    pub(super) fn subscript(
        &mut self,
        items: &Value,
        selectors: &[Selector],
        innermost: bool,
        at: Span,
    ) -> Checked<Value> {
        if selectors.is_empty() {
            return Ok(items.clone());
        }
        let mut operand = self.numbers(items, at)?;
        let depth = self.path(operand.space).len();
        if self.formula
            && depth == 0
            && selectors.iter().all(|one| matches!(one, Selector::At(0) | Selector::All))
        {
            return Ok(Value::Operand(operand));
        }
        let Some(spare) = depth.checked_sub(selectors.len()) else {
            let lists = match depth {
                0 => "one value for each entry".into(),
                1 => "one level of lists".into(),
                _ => format!("{depth} levels of lists"),
            };
            let what = format!("{} positions within lists, but there is only {lists}", selectors.len());
            return Err(Fault::new(at, what));
        };
        let first = if innermost { spare } else { 0 };
        // Inner levels first, so that the numbers of outer levels stay valid.
        for (at_level, selector) in selectors.iter().enumerate().rev() {
            let level = first + at_level;
            operand = match *selector {
                Selector::All => operand,
                Selector::At(position) => self.at_position(operand, level, position, at)?,
                Selector::Slice { start, stop, step } => {
                    self.slice(operand, level, [start, stop], step, at)?
                }
            };
        }
        Ok(Value::Operand(operand))
    }

    /// Selects the item at a position of the lists of a level; missing if a list is too short.
    fn at_position(&mut self, x: Operand, level: usize, position: i64, at: Span) -> Checked<Operand> {
        let path = self.path(x.space);
        if let Some(size) = self.size(path[level])
            && !(-(size as i128)..size as i128).contains(&i128::from(position))
        {
            return Err(Fault::new(at, format!("position {position} is outside arrays of {size} items")));
        }
        if level + 1 == path.len() {
            return self.item_of(x, position, at);
        }
        let parent = if level == 0 { ENTRIES } else { path[level - 1] };
        let of = path[level];
        let index = self.step(Step::Index { of, within: parent }, of, at)?;
        let wanted = self.position(of, parent, position, at)?;
        let keep = self.whole(Binary::Equal, index, wanted, of, at)?;
        let kept = self.kept(x, level, keep, at)?;
        self.without_level(kept, level, parent, (of, position), at)
    }

    /// Removes a level whose lists have at most one item: the item at `position` of the lists of `of`.
    fn without_level(
        &mut self,
        x: Operand,
        level: usize,
        parent: SpaceId,
        (of, position): (SpaceId, i64),
        at: Span,
    ) -> Checked<Operand> {
        let path = self.path(x.space);
        let mut there: Vec<_> = (0..path.len()).map(|level| self.lists_there(x, level)).collect();
        let inner = match there.remove(level + 1) {
            Some(inner) => {
                let step = Step::Item { dtype: DType::Bool, position: 0, x: inner, of: path[level] };
                Some(self.step(step, parent, at)?)
            }
            None if self.size(of).is_some() => None,
            None => Some(self.step(Step::Has { position, of }, parent, at)?),
        };
        there[level] = self.both_valid(there[level], inner, parent, at)?;
        let (mut outer, mut within) = (parent, parent);
        for of in path[level + 1..].iter().copied() {
            let space = match self.size(of) {
                Some(size) if inner.is_none() || within != parent => Space::Regular { parent: outer, size },
                _ => Space::Flat { parent: outer, of, within },
            };
            outer = self.space(space);
            self.step(Step::Lists { of: outer }, outer, at)?;
            within = of;
        }
        let lists = self.levels_there(there);
        Ok(Operand { space: outer, lists, ..x })
    }

    /// Selects a slice of the lists of a level.
    fn slice(
        &mut self,
        x: Operand,
        level: usize,
        [start, stop]: [Option<i64>; 2],
        step: i64,
        at: Span,
    ) -> Checked<Operand> {
        let path = self.path(x.space);
        let (of, parent) = (path[level], if level == 0 { ENTRIES } else { path[level - 1] });
        let index = self.step(Step::Index { of, within: parent }, of, at)?;
        let mut keep = None;
        let mut first = self.number(0, at)?;
        if let Some(start) = start.filter(|start| *start != 0) {
            first = self.position(of, parent, start, at)?;
            if start < 0 {
                let zero = self.number(0, at)?;
                first = self.whole(Binary::Maximum, first, zero, of, at)?;
            }
            keep = Some(self.whole(Binary::GreaterEqual, index, first, of, at)?);
        }
        if let Some(stop) = stop {
            let stop = self.position(of, parent, stop, at)?;
            let before = self.whole(Binary::Less, index, stop, of, at)?;
            keep = self.both_valid(keep, Some(before), of, at)?;
        }
        if step > 1 {
            let distance = self.whole(Binary::Subtract, index, first, of, at)?;
            let step = self.number(step, at)?;
            let rest = self.whole(Binary::Remainder, distance, step, of, at)?;
            let zero = self.number(0, at)?;
            let hit = self.whole(Binary::Equal, rest, zero, of, at)?;
            keep = self.both_valid(keep, Some(hit), of, at)?;
        }
        match keep {
            Some(keep) => self.kept(x, level, keep, at),
            None => Ok(x),
        }
    }

    /// Returns a position in each list, counted from its start: a constant or, for a position that is counted
    /// from the end, a value for each item.
    fn position(&mut self, of: SpaceId, parent: SpaceId, position: i64, at: Span) -> Checked<Register> {
        let constant = self.number(position, at)?;
        if position >= 0 {
            return Ok(constant);
        }
        // The values are irrelevant to the count; it uses the lists only.
        let index = self.step(Step::Index { of, within: parent }, of, at)?;
        let step = Step::Reduce {
            by: crate::syntax::Reduction::Count,
            dtype: DType::Int64,
            x: index,
            valid: None,
            of,
        };
        let count = self.step(step, parent, at)?;
        let count = self.expand(DType::Int64, count, of, at)?;
        self.whole(Binary::Add, count, constant, of, at)
    }

    fn number(&mut self, number: i64, at: Span) -> Checked<Register> {
        let typed = Number::Int(number.into()).typed(DType::Int64);
        let typed = typed.ok_or_else(|| Fault::new(at, format!("{number} is too large")))?;
        Ok(self.constant(typed, at)?.register)
    }

    /// Computes an operation of integers, of which at least one has a value for each item of a space.
    fn whole(
        &mut self,
        operation: Binary,
        x: Register,
        y: Register,
        space: SpaceId,
        at: Span,
    ) -> Checked<Register> {
        self.step(Step::Binary { operation, dtype: DType::Int64, x, y }, space, at)
    }

    /// Computes `Iteration$`, the position of each item among all items of its entry in the given lists, or
    /// with `length` the number of these items, `Length$`.
    pub(super) fn iteration(&mut self, length: bool, items: Option<&Operand>, at: Span) -> Checked<Value> {
        let Some(Operand { space, lists, .. }) = items.copied() else { return Ok(without_lists(length)) };
        let index = self.step(Step::Index { of: space, within: ENTRIES }, space, at)?;
        let like = Operand { register: index, kind: Kind::Number(DType::Int64), space, valid: None, lists };
        if !length {
            return Ok(Value::Operand(like));
        }
        let ones = self.whole(Binary::GreaterEqual, index, index, space, at)?;
        let ones = Operand { register: ones, kind: Kind::Number(DType::Bool), ..like };
        self.of_entry(crate::syntax::Reduction::Sum, &Value::Operand(ones), at)
    }
}
