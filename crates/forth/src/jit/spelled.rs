//! Translation of the words that match strings.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};

use super::context::Context;
use super::translate::{Translator, bytes};
use crate::jit::Way;
use crate::lower::ir::{PointId, Reg};

/// Maximum number of strings that are compared in place, and their maximum length.
const MOST_TEXTS: usize = 4;
const MOST_SPELLED: usize = 64;

impl Translator<'_, '_> {
    pub(super) fn enumeration(
        &mut self,
        to: Reg,
        input: u32,
        strings: std::ops::Range<u32>,
        only: bool,
        point: PointId,
    ) {
        let texts = &self.program.strings[strings.start as usize..strings.end as usize];
        let short = |text: &String| (1..=MOST_SPELLED).contains(&text.len());
        if texts.len() <= MOST_TEXTS && texts.iter().all(short) {
            return self.spelled(to, input, texts, only, point);
        }
        self.flush_positions();
        let input = self.constant(i64::from(input));
        let (first, end) = (self.constant(i64::from(strings.start)), self.constant(i64::from(strings.end)));
        self.call_rarely(self.helpers.enumeration, [input, first, end]);
        let found = self.context_word(offset_of!(Context, found));
        if only {
            let none = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, found, 0);
            let elsewhere = self.give_up(point);
            self.unless(none, elsewhere);
        }
        self.reload_positions();
        self.define(to, found);
    }

    /// Compares a few short strings in place.
    fn spelled(&mut self, to: Reg, input: u32, texts: &[String], only: bool, point: PointId) {
        let join = self.b.create_block();
        self.b.append_block_param(join, types::I64);
        self.b.append_block_param(join, types::I64);
        let (next, left) = self.left(input);
        for (number, text) in texts.iter().enumerate() {
            let other = self.b.create_block();
            let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, text.len() as i64);
            self.unless(few, other);
            let mut differ = None;
            for (piece, at) in pieces(text.as_bytes()) {
                let (wide, value) = match piece.len() {
                    8 => (self.b.ins().load(types::I64, bytes(), next, at), number_of(piece)),
                    4 => (self.b.ins().uload32(bytes(), next, at), number_of(piece)),
                    2 => (self.b.ins().uload16(types::I64, bytes(), next, at), number_of(piece)),
                    _ => (self.b.ins().uload8(types::I64, bytes(), next, at), number_of(piece)),
                };
                let value = self.constant(value);
                let one = self.b.ins().bxor(wide, value);
                differ = Some(differ.map_or(one, |all| self.b.ins().bor(all, one)));
            }
            // A text has at least one piece.
            let differ = differ.unwrap_or(next);
            let differ = self.b.ins().icmp_imm_u(IntCC::NotEqual, differ, 0);
            self.unless(differ, other);
            let number = self.constant(number as i64);
            let after = self.b.ins().iadd_imm_s(next, text.len() as i64);
            self.b.ins().jump(join, &[number.into(), after.into()]);
            self.b.switch_to_block(other);
            self.b.seal_block(other);
        }
        if only {
            self.go_out(Way::GiveUp, point);
        } else {
            let none = self.constant(-1);
            self.b.ins().jump(join, &[none.into(), next.into()]);
        }
        self.b.switch_to_block(join);
        self.b.seal_block(join);
        let (found, after) = (self.b.block_params(join)[0], self.b.block_params(join)[1]);
        self.set_cursor(input, after);
        self.define(to, found);
    }
}

/// Divides a text into pieces of 8, 4, 2 or 1 bytes with their offsets; they may overlap.
fn pieces(text: &[u8]) -> Vec<(&[u8], i32)> {
    let size = [8, 4, 2, 1].into_iter().find(|size| *size <= text.len()).unwrap_or(1);
    let whole = (0..text.len() / size).map(|at| at * size);
    let last = (!text.len().is_multiple_of(size)).then(|| text.len() - size);
    whole.chain(last).map(|at| (&text[at..at + size], at as i32)).collect()
}

/// Returns the little-endian number of some bytes; all machines with machine code are little-endian.
fn number_of(bytes: &[u8]) -> i64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte))
}
