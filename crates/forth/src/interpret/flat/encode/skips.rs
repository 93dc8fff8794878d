//! Fusion of consecutive skipped values.

use super::Encoder;
use crate::interpret::flat::code::Fast;
use crate::interpret::flat::skip::{Skip, TOGETHER, What, kinds};
use crate::isa::Parser;
use crate::lower::ir::{End, Function, Inst, Operand, Relation};

/// Upper bound on the consecutive skips of fixed size that are added up.
const MOST_FIXED: usize = 64;

/// Index of a block, and of an instruction in it.
pub(super) type Place = (usize, usize);

impl Encoder<'_> {
    /// Fuses the values that are skipped from a place on.
    pub(super) fn skips(&mut self, function: &Function, at: Place) -> Option<Fast> {
        let (mut run, mut to) = (Vec::new(), at);
        let ahead = self.fixed(function, &mut to);
        while run.len() < TOGETHER
            && let Some((skip, after)) = self.skip(function, to)
        {
            run.push(skip);
            to = after;
        }
        match run[..] {
            [] => return None,
            // A number alone is one instruction already.
            [Skip { what: What::Number, there: None, then: 0 }] if ahead == 0 => return None,
            _ => {}
        }
        let most = run.iter().try_fold(ahead, |most, skip| most.checked_add(skip.needed()?))?;
        let (ahead, most) = (u16::try_from(ahead).ok()?, u16::try_from(most).ok()?);
        let (kinds, first) = (kinds(&run), self.flat.skips.len() as u32);
        self.flat.skips.extend(run);
        self.landings.push((self.flat.code.len(), to));
        Some(Fast::SkipRun { kinds, input: self.flat.input, ahead, most, first, to: 0 })
    }

    /// Returns the number of bytes of the skips of fixed size from a place on, and moves the place to after
    /// them. The number of instructions is bounded, since this is called at every place.
    fn fixed(&self, function: &Function, place: &mut Place) -> u32 {
        let mut bytes = 0_u32;
        let end = place.1 + MOST_FIXED;
        while place.1 < end
            && let Some(&Inst::Skip { input, by: Operand::Const(by), .. }) = instruction(function, *place)
            && self.is_main(input)
            && let Some(sum) = u32::try_from(by).ok().and_then(|by| bytes.checked_add(by))
        {
            bytes = sum;
            place.1 += 1;
        }
        bytes
    }

    /// Recognises one skipped value, and the skips of fixed size after it.
    fn skip(&self, function: &Function, at: Place) -> Option<(Skip, Place)> {
        let optional = || self.optional(function, at).map(|(there, what, after)| (Some(there), what, after));
        let (there, what, mut after) =
            self.value(function, at).map(|(what, after)| (None, what, after)).or_else(optional)?;
        let then = self.fixed(function, &mut after);
        Some((Skip { what, there, then }, after))
    }

    /// Recognises a skipped number, or a length and as many skipped bytes.
    fn value(&self, function: &Function, (block, number): Place) -> Option<(What, Place)> {
        let mut after = (block, number + 1);
        let to = match *instruction(function, (block, number))? {
            Inst::Pass { read, .. } if self.is_main(read.input) => return Some((What::Number, after)),
            Inst::ReadStack { to, read, .. } if read.parser == Parser::ZigZag && self.is_main(read.input) => {
                to
            }
            _ => return None,
        };
        let body = &function.blocks[block];
        if let End::Branch { relation: Relation::Lt, a, b: Operand::Const(0), otherwise, .. } = body.end
            && after.1 == body.code.len()
            && a == Operand::Reg(to)
        {
            after = (otherwise.0 as usize, 0);
        }
        let Inst::Skip { input, by, point } = *instruction(function, after)? else { return None };
        // The length must not be used afterwards.
        let stack = &self.code.point(point).stack;
        let uses = stack.iter().filter(|item| **item == Operand::Reg(to)).count();
        let fits = by == Operand::Reg(to) && self.is_main(input) && uses == 1;
        fits.then_some((What::Text, (after.0, after.1 + 1)))
    }

    /// Recognises a number that selects between a branch that skips a value and an empty branch. Returns the
    /// byte that selects the former, the value, and the place after it.
    fn optional(&self, function: &Function, (block, number): Place) -> Option<(u8, What, Place)> {
        let body = &function.blocks[block];
        let [Inst::ReadStack { to, read, .. }] = body.code.get(number..)? else { return None };
        let End::Switch { selector: Operand::Reg(selector), targets, .. } = &body.end else { return None };
        let [first, second] = targets[..] else { return None };
        if selector != to || read.parser != Parser::ZigZag || !self.is_main(read.input) {
            return None;
        }
        [(0, first, second), (2, second, first)].into_iter().find_map(|(there, some, none)| {
            let mut end = (some.0 as usize, 0);
            let what = match self.fixed(function, &mut end) {
                0 => {
                    let what;
                    (what, end) = self.value(function, end)?;
                    what
                }
                bytes => What::Bytes(bytes),
            };
            let last = &function.blocks[end.0];
            let meets = last.code.len() == end.1 && last.end == End::Jump(none);
            meets.then_some((there, what, (none.0 as usize, 0)))
        })
    }
}

fn instruction(function: &Function, (block, number): Place) -> Option<&Inst> {
    function.blocks[block].code.get(number)
}
