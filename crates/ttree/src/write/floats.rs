//! `Float16_t` and `Double32_t`, packed as ROOT packs them.

use super::{Floats, Packing};
use forthwith_columns::DType;
use forthwith_plan::{Error, Result};

/// How a floating-point number is packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Packed {
    /// A `float`.
    Float,
    /// With a mantissa of some bits, or in steps of a range.
    Packed(forthwith_root::Packing),
}

/// Bits of a `Float16_t` without a range.
const MANTISSA: u32 = 12;

impl Packed {
    /// The packing of a column, if its numbers are packed, and what the title of the leaf says of it.
    pub(super) fn of(floats: Floats, dtype: DType) -> Result<Option<(Self, String)>> {
        if !matches!(dtype, DType::Float32 | DType::Float64) {
            return Ok(None);
        }
        let (packing, usual) = match floats {
            Floats::Whole => return Ok(None),
            Floats::Double32(packing) => (packing, (dtype == DType::Float64).then_some(Self::Float)),
            Floats::Float16(packing) => (packing, Some(mantissa(MANTISSA))),
        };
        Ok(match packing {
            Packing::Usual => usual.map(|usual| (usual, String::new())),
            Packing::Mantissa { bits } => {
                if !(2..=14).contains(&bits) {
                    let what = format!("numbers packed with {bits} bits of mantissa: there are 2 to 14");
                    return Err(Error::invalid(what));
                }
                Some((mantissa(bits), format!("[0,0,{bits}]")))
            }
            Packing::Range { min, max, bits } => {
                if !(min < max && min.is_finite() && max.is_finite() && (2..=32).contains(&bits)) {
                    return Err(Error::invalid(format!("numbers packed in {bits} bits from {min} to {max}")));
                }
                let steps = if bits < 32 { f64::from(1_u32 << bits) } else { f64::from(u32::MAX) };
                let title = format!("[{min:?},{max:?},{bits}]");
                let packing = forthwith_root::Packing::Range { min, max, factor: steps / (max - min) };
                Some((Self::Packed(packing), title))
            }
        })
    }

    /// Bytes of a number in the file.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Float | Self::Packed(forthwith_root::Packing::Range { .. }) => 4,
            Self::Packed(forthwith_root::Packing::Mantissa { .. }) => 3,
        }
    }

    pub(super) fn append(self, value: f64, out: &mut Vec<u8>) {
        match self {
            Self::Float => out.extend((value as f32).to_be_bytes()),
            Self::Packed(packing) => packing.append(value, |bytes| out.extend(bytes)),
        }
    }
}

const fn mantissa(bits: u32) -> Packed {
    Packed::Packed(forthwith_root::Packing::Mantissa { bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_as_root_packs_them() {
        let packed = |packed: Packed, value: f64| {
            let mut out = Vec::new();
            packed.append(value, &mut out);
            out
        };
        let double = |min, max, bits| Floats::Double32(Packing::Range { min, max, bits });
        assert_eq!(packed(Packed::Float, 1.5), 1.5f32.to_be_bytes());
        assert_eq!(packed(super::mantissa(12), 1.0), [127, 0, 0]);
        assert_eq!(packed(super::mantissa(12), -1.5), [127, 0x28, 0]);
        assert_eq!(packed(super::mantissa(12), 1.999_999), [127, 0x0f, 0xff]);
        let range = Packed::of(double(0.0, 10.0, 8), DType::Float64);
        let (range, title) = range.unwrap().unwrap();
        assert_eq!(title, "[0.0,10.0,8]");
        assert_eq!(packed(range, 5.0), [0, 0, 0, 128]);
        assert_eq!(packed(range, 99.0), [0, 0, 1, 0]);
        assert!(Packed::of(double(1.0, 1.0, 8), DType::Float64).is_err());
        let mantissa = |bits| Packed::of(Floats::Float16(Packing::Mantissa { bits }), DType::Float32);
        assert!(mantissa(1).is_err() && mantissa(15).is_err());
        let (short, title) = mantissa(4).unwrap().unwrap();
        assert_eq!((packed(short, -1.5), &*title), (vec![127, 0, 0x28], "[0,0,4]"));
        assert!(Packed::of(Floats::Float16(Packing::Usual), DType::Int32).unwrap().is_none());
    }
}
