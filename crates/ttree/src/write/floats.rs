//! Packing of `Float16_t` and `Double32_t`, as in ROOT.

use super::{Floats, Packing};
use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Error, Result};

/// Bits of the mantissa of a `Float16_t` without a range.
const MANTISSA: u8 = 12;

/// Returns the encoding of packed numbers and its spelling in the title of the leaf, or `None` if the numbers
/// are not packed.
pub(super) fn packed(floats: Floats, dtype: DType) -> Result<Option<(Encoding, String)>> {
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        return Ok(None);
    }
    let mantissa = |bits| Encoding::Truncated { bits, to: dtype };
    let (packing, usual) = match floats {
        Floats::Whole => return Ok(None),
        Floats::Double32(packing) => (packing, (dtype == DType::Float64).then_some(Encoding::Widened)),
        Floats::Float16(packing) => (packing, Some(mantissa(MANTISSA))),
    };
    Ok(match packing {
        Packing::Usual => usual.map(|usual| (usual, String::new())),
        Packing::Mantissa { bits } => {
            if !(2..=14).contains(&bits) {
                let what = format!("numbers packed with {bits} bits of mantissa: there are 2 to 14");
                return Err(Error::invalid(what));
            }
            Some((mantissa(bits as u8), format!("[0,0,{bits}]")))
        }
        Packing::Range { min, max, bits } => {
            if !(min < max && min.is_finite() && max.is_finite() && (2..=32).contains(&bits)) {
                return Err(Error::invalid(format!("numbers packed in {bits} bits from {min} to {max}")));
            }
            let steps = if bits < 32 { f64::from(1_u32 << bits) } else { f64::from(u32::MAX) };
            let title = format!("[{min:?},{max:?},{bits}]");
            Some((Encoding::Scaled { factor: steps / (max - min), min, max, to: dtype }, title))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith_encode::store_numbers;

    #[test]
    fn numbers_are_packed_as_root_packs_them() {
        let stored = |wire: Encoding, value: f64| {
            let mut out = Vec::new();
            let bytes = match wire.dtype() {
                DType::Float32 => (value as f32).to_ne_bytes().to_vec(),
                _ => value.to_ne_bytes().to_vec(),
            };
            store_numbers(wire, &bytes, &mut out).unwrap();
            assert_eq!(out.len(), wire.width());
            out
        };
        let double = |min, max, bits| Floats::Double32(Packing::Range { min, max, bits });
        let (usual, _) = packed(Floats::Double32(Packing::Usual), DType::Float64).unwrap().unwrap();
        assert_eq!(stored(usual, 1.5), 1.5f32.to_be_bytes());
        for dtype in [DType::Float32, DType::Float64] {
            let (usual, _) = packed(Floats::Float16(Packing::Usual), dtype).unwrap().unwrap();
            assert_eq!(stored(usual, 1.0), [127, 0, 0]);
            assert_eq!(stored(usual, -1.5), [127, 0x28, 0]);
            assert_eq!(stored(usual, 1.999_999), [127, 0x0f, 0xff]);
        }
        let range = packed(double(0.0, 10.0, 8), DType::Float64);
        let (range, title) = range.unwrap().unwrap();
        assert_eq!(title, "[0.0,10.0,8]");
        assert_eq!(stored(range, 5.0), [0, 0, 0, 128]);
        assert_eq!(stored(range, 99.0), [0, 0, 1, 0]);
        assert!(packed(double(1.0, 1.0, 8), DType::Float64).is_err());
        let mantissa = |bits| packed(Floats::Float16(Packing::Mantissa { bits }), DType::Float32);
        assert!(mantissa(1).is_err() && mantissa(15).is_err());
        let (short, title) = mantissa(4).unwrap().unwrap();
        assert_eq!((stored(short, -1.5), &*title), (vec![127, 0, 0x28], "[0,0,4]"));
        assert!(packed(Floats::Float16(Packing::Usual), DType::Int32).unwrap().is_none());
    }
}
