//! Decoding of columns whose numbers have several encodings.

use crate::{DType, Encoding, kernels::decode, with_integer};

/// Marks a number that is not in the data, which becomes zero, in place of the position of its encoding.
pub const NO_NUMBER: u8 = u8::MAX;

/// Iterator over numbers of several encodings: for each, one byte for its encoding, and its bytes. Ends at
/// invalid data.
pub(crate) struct Mixed<'a> {
    pub(crate) wires: &'a [Encoding],
    pub(crate) rest: &'a [u8],
}

impl<'a> Iterator for Mixed<'a> {
    /// Encoding and bytes; `None` if the number is not in the data.
    type Item = Option<(Encoding, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let (which, rest) = self.rest.split_first()?;
        if *which == NO_NUMBER {
            self.rest = rest;
            return Some(None);
        }
        let wire = *self.wires.get(usize::from(*which))?;
        let (bytes, rest) = rest.split_at_checked(wire.width())?;
        self.rest = rest;
        Some(Some((wire, bytes)))
    }
}

/// Decodes one number and converts it to another type as C++ does. Values out of range, which are undefined
/// there, become those of x86-64 processors.
pub(crate) fn convert(wire: Encoding, bytes: &[u8], to: DType, into: &mut [u8]) -> Option<()> {
    let mut item = [0; 8];
    let item = &mut item[..wire.dtype().size()];
    decode(wire, bytes, item).ok()?;
    if wire.dtype() == to {
        into.copy_from_slice(item);
        return Some(());
    }
    macro_rules! number {
        ($type:ty) => {
            <$type>::from_ne_bytes((*item).try_into().ok()?)
        };
    }
    let (real, whole) = with_integer!(wire.dtype(), T => (0.0, Some(i128::from(number!(T)))),
        DType::Bool => (0.0, Some(i128::from(number!(u8)))),
        DType::Float32 => (f64::from(number!(f32)), None),
        DType::Float64 => (number!(f64), None),
    );
    match to {
        DType::Bool => into[0] = u8::from(whole.map_or(real != 0.0, |whole| whole != 0)),
        DType::Float32 => {
            into.copy_from_slice(&whole.map_or(real as f32, |whole| whole as f32).to_ne_bytes())
        }
        DType::Float64 => into.copy_from_slice(&whole.map_or(real, |whole| whole as f64).to_ne_bytes()),
        _ => {
            let whole = whole.unwrap_or_else(|| truncated(real, to)).to_le_bytes();
            into.copy_from_slice(&whole[..to.size()]);
            if cfg!(target_endian = "big") {
                into.reverse();
            }
        }
    }
    Some(())
}

/// Truncates towards zero. A value out of range becomes the result of x86-64 processors.
fn truncated(real: f64, to: DType) -> i128 {
    let bits = match to {
        DType::UInt64 if real >= 9_223_372_036_854_775_808.0 => 64,
        DType::UInt32 | DType::Int64 | DType::UInt64 => 63,
        _ => 31,
    };
    let whole = real as i128;
    let fits = real.is_finite() && (-(1i128 << bits)..1 << bits).contains(&whole);
    if fits { whole } else { -(1i128 << bits.min(63)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_converted() {
        let of = |wire, bytes: &[u8], to: DType| {
            let mut item = [0; 8];
            convert(wire, bytes, to, &mut item[..to.size()]).unwrap();
            u64::from_le_bytes(item)
        };
        let double = Encoding::Big(DType::Float64);
        let real = |x: f64, to| of(double, &x.to_be_bytes(), to);
        assert_eq!(real(-2.75, DType::Int32) as u32 as i32, -2);
        assert_eq!(real(300.5, DType::UInt8), 44);
        assert_eq!(real(-1.0, DType::UInt32), u64::from(u32::MAX));
        assert_eq!(real(1e19, DType::UInt64), 10_000_000_000_000_000_000);
        assert_eq!(real(f64::NAN, DType::Int64), 1 << 63);
        assert_eq!(real(1e30, DType::Int32), 1 << 31);
        assert_eq!(real(0.5, DType::Bool), 1);
        assert_eq!(real(0.1, DType::Float32), u64::from(0.1f32.to_bits()));
        let long = Encoding::Big(DType::Int64);
        assert_eq!(of(long, &(-3i64).to_be_bytes(), DType::Float64), (-3f64).to_bits());
        assert_eq!(of(long, &(i64::MAX - 1).to_be_bytes(), DType::UInt64), i64::MAX as u64 - 1);
        let packed = Encoding::Scaled { factor: 4.0, min: -1.0, max: 1.0, to: DType::Float64 };
        assert_eq!(of(packed, &[0, 0, 0, 11], DType::Int16), 1);
    }

    #[test]
    fn what_is_no_number_ends() {
        let wires = [Encoding::Big(DType::UInt8), Encoding::Widened];
        let mixed = |rest| Mixed { wires: &wires, rest }.count();
        assert_eq!(mixed(&[NO_NUMBER, 0, 7, 1, 0, 0, 0, 0]), 3);
        assert_eq!(mixed(&[0, 7, 2, 0]), 1);
        assert_eq!(mixed(&[1, 0, 0]), 0);
    }
}
