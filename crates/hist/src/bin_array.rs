//! Arrays with one number for each bin, in the type that the histogram stores.

use forthwith_dtype::DType;

/// One number for each bin, with underflow and overflow. The first axis varies fastest.
#[derive(Clone, Debug, PartialEq)]
pub enum BinArray {
    /// Integers of a type of at most 64 bits. Sums saturate like ROOT's `AddBinContent`.
    Integer(DType, Vec<i64>),
    /// `float32`.
    Single(Vec<f32>),
    /// `float64`.
    Double(Vec<f64>),
}

/// Evaluates an expression for the numbers of each variant.
macro_rules! each {
    ($of:expr, $numbers:ident => $expression:expr) => {
        match $of {
            BinArray::Integer(_, $numbers) => $expression,
            BinArray::Single($numbers) => $expression,
            BinArray::Double($numbers) => $expression,
        }
    };
}

impl BinArray {
    /// Returns the number of bins.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, numbers => numbers.len())
    }

    /// Whether the array has no bins, because the histogram does not keep this sum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the numbers.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::Integer(dtype, _) => *dtype,
            Self::Single(_) => DType::Float32,
            Self::Double(_) => DType::Float64,
        }
    }

    /// Converts the numbers to `float64`.
    #[must_use]
    pub fn floats(&self) -> Vec<f64> {
        match self {
            Self::Integer(_, numbers) => numbers.iter().map(|&n| n as f64).collect(),
            Self::Single(numbers) => numbers.iter().map(|&n| f64::from(n)).collect(),
            Self::Double(numbers) => numbers.clone(),
        }
    }

    /// Returns the bytes of the numbers in their type and the given byte order.
    #[must_use]
    pub fn bytes(&self, big_endian: bool) -> Vec<u8> {
        let width = self.dtype().size();
        let mut bytes = Vec::with_capacity(width * self.len());
        each!(self, numbers => for number in numbers {
            if big_endian {
                let number = number.to_be_bytes();
                bytes.extend(&number[number.len().saturating_sub(width)..]);
            } else {
                bytes.extend(&number.to_le_bytes()[..width]);
            }
        });
        bytes
    }

    /// Adds an array. Returns `false`, without a change, if its type or length differs.
    pub fn add(&mut self, other: &Self) -> bool {
        let length = self.len();
        length == other.len() && self.add_each(0..length, other)
    }

    /// Adds a value to one bin, truncated if the type is an integer. Returns `false` if the bin does not
    /// exist.
    pub fn add_value(&mut self, at: usize, value: f64) -> bool {
        let at = match self {
            Self::Integer(dtype, numbers) => {
                let dtype = *dtype;
                numbers.get_mut(at).map(|n| *n = saturated(dtype, n.saturating_add(value as i64)))
            }
            Self::Single(numbers) => numbers.get_mut(at).map(|n| *n += value as f32),
            Self::Double(numbers) => numbers.get_mut(at).map(|n| *n += value),
        };
        at.is_some()
    }

    /// Returns an array of `length` bins to which each number is added at its index in `to`. An empty array
    /// stays empty.
    #[must_use]
    pub fn moved(&self, to: &[usize], length: usize) -> Self {
        if self.is_empty() {
            return self.clone();
        }
        let mut moved = self.zeros(length);
        moved.add_at(to, self);
        moved
    }

    /// Returns zeros of this type.
    #[must_use]
    pub fn zeros(&self, length: usize) -> Self {
        self.part(0..0, length)
    }

    /// Truncates the array to `length` bins, or pads it with zeros.
    #[must_use]
    pub fn resized(mut self, length: usize) -> Self {
        each!(&mut self, numbers => numbers.resize(length, Default::default()));
        self
    }

    /// Returns a range of the numbers, truncated or padded with zeros to `length` bins.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>, length: usize) -> Self {
        let part = match self {
            Self::Integer(dtype, numbers) => {
                Self::Integer(*dtype, numbers.get(range).unwrap_or_default().to_vec())
            }
            Self::Single(numbers) => Self::Single(numbers.get(range).unwrap_or_default().to_vec()),
            Self::Double(numbers) => Self::Double(numbers.get(range).unwrap_or_default().to_vec()),
        };
        part.resized(length)
    }

    /// Adds the numbers of another array to the bins with the given indices. Returns `false`, without a
    /// change, if its type differs.
    pub fn add_at(&mut self, bins: &[usize], other: &Self) -> bool {
        self.add_each(bins.iter().copied(), other)
    }

    fn add_each(&mut self, bins: impl Iterator<Item = usize>, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(dtype, own), Self::Integer(_, more)) => bins
                .zip(more)
                .for_each(|(at, number)| own[at] = saturated(*dtype, own[at].saturating_add(*number))),
            (Self::Single(own), Self::Single(more)) => bins.zip(more).for_each(|(at, n)| own[at] += n),
            (Self::Double(own), Self::Double(more)) => bins.zip(more).for_each(|(at, n)| own[at] += n),
            _ => return false,
        }
        true
    }

    /// Returns an array of the same length to which each number is added at the index that `to` returns.
    /// Numbers for which it returns `None` are dropped.
    pub(crate) fn gathered(&self, to: impl Fn(usize) -> Option<usize>) -> Self {
        let mut out = self.zeros(self.len());
        let moves: Vec<(usize, usize)> = (0..self.len()).filter_map(|from| Some((from, to(from)?))).collect();
        match (&mut out, self) {
            (Self::Integer(dtype, out), Self::Integer(_, own)) => moves
                .into_iter()
                .for_each(|(from, to)| out[to] = saturated(*dtype, out[to].saturating_add(own[from]))),
            (Self::Single(out), Self::Single(own)) => {
                moves.into_iter().for_each(|(from, to)| out[to] += own[from]);
            }
            (Self::Double(out), Self::Double(own)) => {
                moves.into_iter().for_each(|(from, to)| out[to] += own[from]);
            }
            _ => {}
        }
        out
    }

    /// Whether all numbers are 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        !(0..self.len()).any(|at| self.is_set(at))
    }

    /// Whether a bin exists and is not 0.
    #[must_use]
    pub fn is_set(&self, at: usize) -> bool {
        each!(self, numbers => numbers.get(at).is_some_and(is_set))
    }
}

fn is_set<N: Default + PartialEq>(number: &N) -> bool {
    *number != N::default()
}

/// Clamps an integer to the symmetric range of its type, like ROOT.
fn saturated(dtype: DType, number: i64) -> i64 {
    let most = match dtype {
        DType::Int8 => i64::from(i8::MAX),
        DType::Int16 => i64::from(i16::MAX),
        DType::Int32 => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    number.clamp(-most, most)
}
