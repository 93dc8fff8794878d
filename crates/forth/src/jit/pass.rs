//! Translation of skipped numbers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

use super::translate::{Translator, bytes};
use crate::isa::Read;
use crate::lower::ir::PointId;

type Block = cranelift_codegen::ir::Block;

/// Number of bytes that are loaded.
const WORD: i64 = 8;
/// The bit that is set in all bytes of a number but the last.
const MORE: i64 = 0x80;

impl Translator<'_, '_> {
    /// Skips a number of variable length.
    ///
    /// The usual lengths have branches of their own: lengths can be predicted, so that the code that follows
    /// does not wait for the bytes of this number.
    pub(super) fn pass(&mut self, read: Read, point: PointId) {
        self.forget();
        let (next, end) = self.cursor(read.input);
        let (join, rare) = (self.b.create_block(), self.cold());
        self.b.append_block_param(join, types::I64);
        let left = self.b.ins().isub(end, next);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, WORD);
        self.unless(few, rare);

        let [one, two, five, long] = [(); 4].map(|()| self.b.create_block());
        let word = self.b.ins().load(types::I32, bytes(), next, 0);
        let first = self.b.ins().band_imm_u(word, MORE);
        let is_one = self.b.ins().icmp_imm_u(IntCC::Equal, first, 0);
        self.unless(is_one, one);
        let ends = self.ends(word, types::I32, long);
        let second = self.b.ins().band_imm_u(word, MORE << 8);
        let is_two = self.b.ins().icmp_imm_u(IntCC::Equal, second, 0);
        self.unless(is_two, two);
        self.behind(next, ends, join);

        self.open(long);
        let fifth = self.b.ins().uload8(types::I32, bytes(), next, 4);
        let is_five = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, fifth, MORE);
        self.unless(is_five, five);
        let word = self.b.ins().load(types::I64, bytes(), next, 0);
        let ends = self.ends(word, types::I64, rare);
        self.behind(next, ends, join);

        for (block, size) in [(one, 1), (two, 2), (five, 5)] {
            self.open(block);
            let after = self.b.ins().iadd_imm_s(next, size);
            self.b.ins().jump(join, &[after.into()]);
        }

        // Near the end of the input, and numbers of nine or ten bytes.
        self.open(rare);
        let after = self.varint_of_any_length(next, end, point).1;
        self.b.ins().jump(join, &[after.into()]);

        self.open(join);
        let after = self.b.block_params(join)[0];
        self.set_cursor(read.input, after);
    }

    /// Returns the highest bits of the bytes in which they are not set; jumps to `elsewhere` if they are set
    /// in all bytes.
    fn ends(&mut self, word: Value, of: Type, elsewhere: Block) -> Value {
        let highs = (0x8080_8080_8080_8080_u64 >> (64 - of.bits())) as i64;
        let highs = self.b.ins().iconst(of, highs);
        let set = self.b.ins().band(word, highs);
        let all = self.b.ins().icmp(IntCC::Equal, set, highs);
        self.unless(all, elsewhere);
        self.b.ins().bxor(set, highs)
    }

    /// Jumps to a block with the address after the first byte that has a bit in `ends`.
    fn behind(&mut self, next: Value, ends: Value, join: Block) {
        let zeros = self.b.ins().ctz(ends);
        let count = self.b.ins().ushr_imm_u(zeros, 3);
        let count = match self.b.func.dfg.value_type(count) {
            types::I64 => count,
            _ => self.b.ins().uextend(types::I64, count),
        };
        let last = self.b.ins().iadd(next, count);
        let after = self.b.ins().iadd_imm_s(last, 1);
        self.b.ins().jump(join, &[after.into()]);
    }

    /// Continues in a block to which all jumps were emitted.
    fn open(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }
}
