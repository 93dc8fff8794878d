//! Translation of reads of runs of items.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};

use super::input::few;
use super::translate::{Translator, bytes};
use crate::interpret::fused::{Leaf, LeafKind};
use crate::isa::{Parser, Read};
use crate::lower::ir::{Inst, Operand, PointId};

/// Maximum length in bytes of a run that is copied without a call.
const MOST_INLINE: i64 = 1 << 10;

/// Number of groups of eight packed items that are unpacked in one pass, needed or not: the number of passes
/// is then easier to predict.
const GROUPS: i64 = 4;

/// Index of a shuffle that yields a zero byte.
const NOTHING: u8 = 0x80;

impl Translator<'_, '_> {
    pub(super) fn read_many(&mut self, read: Read, count: Operand, point: PointId, rest: &[Inst]) {
        let Some(output) = read.output else { return self.stop(point) };
        if let Some(count) = few(read, count) {
            return self.read_few(read, output, count, point, rest);
        }
        let read = Read { repeated: true, ..read };
        let count = self.operand(count);
        let dtype = self.program.outputs[output as usize].dtype;
        match Leaf::new(read, output as usize, dtype) {
            Some(leaf) if self.is_inline(leaf.kind) => self.run(read, leaf, count, point),
            _ if read.parser == Parser::NBit && !read.big && read.bits <= 8 && dtype.size() == 1 => {
                self.unpack(read, count, dtype, point);
            }
            _ => self.many(read, count, point),
        }
    }

    /// Moves a constant number of items one by one.
    fn read_few(&mut self, read: Read, output: u32, count: i64, point: PointId, rest: &[Inst]) {
        let read = Read { repeated: false, ..read };
        let size = read.parser.size() as i64;
        self.checked_bytes(read.input, count * size, point, rest);
        let dtype = self.program.outputs[output as usize].dtype;
        let room = self.room_of(output, count, point);
        let (next, _) = self.cursor(read.input);
        let to = self.output_address(output, room);
        for at in 0..count {
            let number = self.load_number(read, next, (at * size) as i32);
            let item = self.item(number, dtype);
            self.b.ins().store(bytes(), item, to, at as i32 * dtype.size() as i32);
        }
        let after = self.b.ins().iadd_imm_s(next, count * size);
        self.set_cursor(read.input, after);
        let written = self.constant(count * dtype.size() as i64);
        self.grown(output, room, written);
    }

    fn is_inline(&self, kind: LeafKind) -> bool {
        matches!(kind, LeafKind::Copy | LeafKind::Bool) || self.host.shuffles
    }

    /// Copies short runs 64 bytes at a time, whatever their length: the input is checked, the output has
    /// slack.
    fn run(&mut self, read: Read, leaf: Leaf, count: Value, point: PointId) {
        let output = leaf.output as u32;
        let (slow, done) = (self.cold(), self.b.create_block());
        let (next, left) = self.left(read.input);
        let near = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, 64);
        self.unless(near, slow);
        let most = MOST_INLINE >> leaf.shift;
        let long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, most);
        self.unless(long, slow);
        let size = self.b.ins().ishl_imm_u(count, i64::from(leaf.shift));
        let room = self.room_for(output, size, slow);
        let to = self.output_address(output, room);
        let (more, last) = (self.b.create_block(), self.b.create_block());
        let short = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, size, 64);
        self.move_block(leaf, next, to);
        self.b.ins().brif(short, last, &[], more, &[]);

        self.b.switch_to_block(more);
        self.b.seal_block(more);
        let whole = self.b.ins().iadd_imm_s(size, 63);
        let near = self.b.ins().icmp(IntCC::UnsignedGreaterThan, whole, left);
        self.unless(near, slow);
        let head = self.b.create_block();
        let at = self.b.append_block_param(head, types::I64);
        let begin = self.constant(64);
        self.b.ins().jump(head, &[begin.into()]);
        self.b.switch_to_block(head);
        let (from_at, to_at) = (self.b.ins().iadd(next, at), self.b.ins().iadd(to, at));
        self.move_block(leaf, from_at, to_at);
        let after = self.b.ins().iadd_imm_s(at, 64);
        let again = self.b.ins().icmp(IntCC::UnsignedLessThan, after, size);
        self.b.ins().brif(again, head, &[after.into()], last, &[]);
        self.b.seal_block(head);

        self.b.switch_to_block(last);
        self.b.seal_block(last);
        self.grown(output, room, size);
        let after = self.b.ins().iadd(next, size);
        self.set_cursor(read.input, after);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        self.many(read, count, point);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }

    /// Converts 64 bytes of items.
    fn move_block(&mut self, leaf: Leaf, from: Value, to: Value) {
        for at in [0, 16, 32, 48] {
            let mut lanes = self.b.ins().load(types::I8X16, bytes(), from, at);
            match leaf.kind {
                LeafKind::Copy => {}
                LeafKind::Bool => {
                    let (zero, one) = (self.constant(0), self.constant(1));
                    let [zero, one] = [zero, one].map(|item| {
                        let item = self.b.ins().ireduce(types::I8, item);
                        self.b.ins().splat(types::I8X16, item)
                    });
                    let any = self.b.ins().icmp(IntCC::NotEqual, lanes, zero);
                    lanes = self.b.ins().band(any, one);
                }
                _ => lanes = self.swap(lanes, 1 << leaf.shift),
            }
            self.b.ins().store(bytes(), lanes, to, at);
        }
    }

    fn swap(&mut self, lanes: Value, size: u8) -> Value {
        let mask: Vec<u8> = (0..16_u8).map(|at| at / size * size + (size - 1 - at % size)).collect();
        let mask = self.b.func.dfg.immediates.push(mask.into());
        self.b.ins().shuffle(lanes, lanes, mask)
    }

    /// Reads items by a kernel, all or none.
    pub(super) fn many(&mut self, read: Read, count: Value, point: PointId) {
        let read = self.helpers.read(read);
        let read = self.constant(read);
        self.ask(self.helpers.many, [read, count, count], point);
    }

    /// Unpacks two groups of eight items of up to eight bits into bytes. A shuffle moves the parts that begin
    /// at a byte, then the upper half of items that share a part is moved, until each has a byte.
    fn spread(&mut self, bits: i64, from: Value, at: i32) -> Value {
        let together = if 8 % bits == 0 { 8 / bits } else { 8 };
        let size = together * bits / 8;
        let places: Vec<u8> = (0..16)
            .map(|to: i64| {
                let (group, slot, byte) = (to / 8, to % 8 / together, to % together);
                if byte < size { (group * bits + slot * size + byte) as u8 } else { NOTHING }
            })
            .collect();
        let packed = self.b.ins().load(types::I8X16, bytes(), from, at);
        let places = self.lanes(places, types::I8X16);
        let placed = if cfg!(target_arch = "x86_64") {
            self.b.ins().x86_pshufb(packed, places)
        } else {
            self.b.ins().swizzle(packed, places)
        };
        let little = MemFlagsData::new().with_endianness(Endianness::Little);
        let mut words = self.b.ins().bitcast(types::I64X2, little, placed);
        let mut step = together / 2;
        while step > 0 {
            let shift = step * (8 - bits);
            let group = (1_u64 << (step * bits)) - 1;
            let (mut stay, mut go) = (0, 0);
            for at in 0..4 / step {
                let place = at * 16 * step;
                stay |= group << place;
                go |= group << (place + step * bits);
            }
            words = if bits <= 4 {
                // Moved bits do not overlap with bits that stay, and surplus bits are at neither place.
                let moved = self.b.ins().ishl_imm_u(words, shift);
                let both = self.b.ins().bor(words, moved);
                let places = self.words(stay | go << shift);
                self.b.ins().band(both, places)
            } else {
                let (stay, go) = (self.words(stay), self.words(go));
                let stay = self.b.ins().band(words, stay);
                let go = self.b.ins().band(words, go);
                let moved = self.b.ins().ishl_imm_u(go, shift);
                self.b.ins().bor(stay, moved)
            };
            step /= 2;
        }
        words
    }

    /// Returns a vector of the same word twice.
    fn words(&mut self, word: u64) -> Value {
        self.lanes([word.to_le_bytes(); 2].concat(), types::I64X2)
    }

    fn lanes(&mut self, constant: Vec<u8>, lanes: Type) -> Value {
        let constant = self.b.func.dfg.constants.insert(constant.into());
        self.b.ins().vconst(lanes, constant)
    }

    /// Unpacks items of up to eight bits into bytes, several groups of eight at a time; the surplus is
    /// written to the slack.
    fn unpack(&mut self, read: Read, count: Value, dtype: crate::DType, point: PointId) {
        let bits = i64::from(read.bits);
        let output = read.output.unwrap_or(0);
        let (slow, head, done) = (self.cold(), self.b.create_block(), self.b.create_block());
        if dtype == crate::DType::Bool && bits > 1 || !self.host.shuffles {
            return self.many(read, count, point);
        }
        let (next, left) = self.left(read.input);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, 1 << 16);
        self.unless(few, slow);
        // The bytes used, those of whole passes and those of the last load must be in the input.
        let used = self.b.ins().imul_imm_s(count, bits);
        let used = self.b.ins().iadd_imm_s(used, 7);
        let used = self.b.ins().ushr_imm_u(used, 3);
        let seen = self.b.ins().iadd_imm_s(used, GROUPS * bits + 16);
        let near = self.b.ins().icmp(IntCC::UnsignedGreaterThan, seen, left);
        self.unless(near, slow);
        let room = self.room_for(output, count, slow);
        let to = self.output_address(output, room);
        let to_end = self.b.ins().iadd(to, count);
        let (from_at, to_at) =
            (self.b.append_block_param(head, types::I64), self.b.append_block_param(head, types::I64));
        self.b.ins().jump(head, &[next.into(), to.into()]);

        self.b.switch_to_block(head);
        for group in (0..GROUPS).step_by(2) {
            let items = self.spread(bits, from_at, (group * bits) as i32);
            self.b.ins().store(bytes(), items, to_at, 8 * group as i32);
        }
        let from_next = self.b.ins().iadd_imm_s(from_at, GROUPS * bits);
        let to_next = self.b.ins().iadd_imm_s(to_at, GROUPS * 8);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, to_next, to_end);
        let finished = self.b.create_block();
        self.b.ins().brif(more, head, &[from_next.into(), to_next.into()], finished, &[]);
        self.b.seal_block(head);
        self.b.switch_to_block(finished);
        self.b.seal_block(finished);
        self.grown(output, room, count);
        let after = self.b.ins().iadd(next, used);
        self.set_cursor(read.input, after);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        self.many(read, count, point);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }
}
