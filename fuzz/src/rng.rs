//! Random numbers that a seed repeats.

/// A generator of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below another one, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// True once in `n` times, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// A number of random length, often near a power of two.
    pub fn number(&mut self) -> u64 {
        let bits = self.bits() >> self.below(64);
        match self.below(4) {
            0 => (1u64 << self.below(64)).wrapping_sub(1 + self.below(3) as u64).wrapping_add(1),
            1 => bits.wrapping_neg(),
            _ => bits,
        }
    }

    /// Changes bytes here and there, cuts them, or repeats a part of them.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(7) {
                0 => bytes.truncate(at),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, self.bits() as u8),
                3 => bytes[at] ^= 1 << self.below(8),
                4 => bytes[at] = self.pick(&[0, 0x7f, 0x80, 0xff, b'"', b'{', b'\n']),
                5 => {
                    let end = at + self.below(bytes.len() - at).min(40);
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
                _ => {
                    let end = at + self.below(bytes.len() - at).min(40);
                    bytes.drain(at..end);
                }
            }
        }
    }
}
