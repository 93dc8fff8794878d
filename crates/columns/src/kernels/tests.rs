//! Kernels against the obvious loops, for every generation that this processor has.

use super::decode::{Slots, decode_at, jagged_at, strided_at};
use super::offsets::{offsets_from_bounds_at, rebase_at};
use super::*;
use crate::{Column, DType, Encoding};
use forthwith_kernels::CpuFeatures;
use proptest::prelude::*;

/// One value, spelled out.
fn naive(wire: Encoding, value: &[u8]) -> Vec<u8> {
    let float = |value: f64, to: DType| match to {
        DType::Float32 => (value as f32).to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    };
    match wire {
        Encoding::Big(DType::Bool) | Encoding::Little(DType::Bool) | Encoding::Bool => {
            vec![u8::from(value[0] != 0)]
        }
        Encoding::Big(_) => value.iter().rev().copied().collect(),
        Encoding::Little(_) | Encoding::StrictBool => value.to_vec(),
        Encoding::Widened => f64::from(f32::from_be_bytes(value.try_into().unwrap())).to_ne_bytes().to_vec(),
        Encoding::Scaled { factor, min, to, .. } => {
            float(f64::from(u32::from_be_bytes(value.try_into().unwrap())) / factor + min, to)
        }
        Encoding::Truncated { bits, to } => {
            // As the layout is described: the fields put in place as integers, then a negation of the float.
            let mantissa = u32::from(value[1]) * 256 + u32::from(value[2]);
            let kept = mantissa % (1 << (bits + 1));
            let magnitude = f32::from_bits(u32::from(value[0]) << 23 | kept << (23 - bits));
            let signed = if mantissa >> (bits + 1) & 1 == 1 { -magnitude } else { magnitude };
            match to {
                DType::Float32 => signed.to_ne_bytes().to_vec(),
                _ => f64::from(signed).to_ne_bytes().to_vec(),
            }
        }
    }
}

fn dtypes() -> impl Strategy<Value = DType> {
    use DType::*;
    proptest::sample::select(vec![
        Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float32, Float64,
    ])
}

fn wires() -> impl Strategy<Value = Encoding> {
    let to = proptest::sample::select(vec![DType::Float32, DType::Float64]);
    prop_oneof![
        dtypes().prop_map(Encoding::Big),
        dtypes().prop_map(Encoding::Little),
        Just(Encoding::Bool),
        Just(Encoding::Widened),
        (0.5f64..1e9, -100.0f64..100.0, to.clone()).prop_map(|(factor, min, to)| Encoding::Scaled {
            factor,
            min,
            max: min + 1.0,
            to
        }),
        (2u8..=14, to).prop_map(|(bits, to)| Encoding::Truncated { bits, to }),
    ]
}

/// Quiet NaNs may come out with any payload from float conversions; everything else is compared bit by bit.
fn same(wire: Encoding, left: &[u8], right: &[u8]) -> bool {
    let size = wire.dtype().size();
    let nan = |bytes: &[u8]| match wire.dtype() {
        DType::Float32 => f32::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
        DType::Float64 => f64::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let exact = matches!(wire, Encoding::Big(_) | Encoding::Little(_) | Encoding::Bool);
    left.len() == right.len()
        && left.chunks(size).zip(right.chunks(size)).all(|(l, r)| l == r || !exact && nan(l) && nan(r))
}

#[test]
fn bytes_that_are_no_booleans_are_found_wherever_they_stand() {
    for (length, bad) in [(1, 0), (3, 1), (64, 63), (1000, 517), (1000, 999)] {
        let mut bytes: Vec<u8> = (0..length).map(|at| u8::from(at % 3 == 0)).collect();
        let mut into = vec![9; length];
        assert_eq!(decode(Encoding::StrictBool, &bytes, &mut into), Ok(()));
        assert_eq!(into, bytes);
        for found in [2, 128, 255] {
            bytes[bad] = found;
            assert_eq!(decode(Encoding::StrictBool, &bytes, &mut into), Err(DecodeError::Truth));
            // In pairs: the first of each, or the second.
            let pairs = &bytes[..length / 2 * 2];
            for at in 0..2 {
                let there = bad < pairs.len() && bad % 2 == at;
                let wanted = if there { Err(DecodeError::Truth) } else { Ok(()) };
                let into = &mut into[..length / 2];
                assert_eq!(
                    decode_strided(Encoding::StrictBool, pairs, 2, at, 1, into),
                    wanted,
                    "{length} {bad} {at}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 400 }))]

    #[test]
    fn decoding_is_one_value_after_the_other(wire in wires(), bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let items = bytes.len() / wire.width();
        let from = &bytes[..items * wire.width()];
        let wanted: Vec<u8> = from.chunks(wire.width()).flat_map(|value| naive(wire, value)).collect();
        for features in CpuFeatures::available() {
            let mut into = vec![0xAA; wanted.len()];
            decode_at(features, wire, from, &mut into).unwrap();
            prop_assert!(same(wire, &into, &wanted), "{}", features.name());
        }
    }

    #[test]
    fn strides_skip_what_lies_between(
        wire in wires(), before in 0usize..20, after in 0usize..20, count in 0usize..5, entries in 0usize..if cfg!(miri) { 4 } else { 40 },
        seed in proptest::collection::vec(any::<u8>(), if cfg!(miri) { 400 } else { 4000 }),
    ) {
        let stride = (before + count * wire.width() + after).max(1);
        let from = &seed[..stride * entries];
        let values = from.chunks(stride).flat_map(|entry| entry[before..][..count * wire.width()].chunks(wire.width()));
        let wanted: Vec<u8> = if count == 0 { vec![] } else { values.flat_map(|value| naive(wire, value)).collect() };
        let slots = Slots { stride, at: before, count };
        for features in CpuFeatures::available() {
            let mut into = vec![0xAA; wanted.len()];
            if before == 0 && after == 0 && count == 0 {
                continue;
            }
            strided_at(features, wire, from, slots, &mut into).unwrap();
            prop_assert!(same(wire, &into, &wanted), "{}", features.name());
        }
        let mut into = vec![0; wanted.len() + 1];
        prop_assert!(decode_strided(wire, from, stride, before, count, &mut into).is_err());
    }

    #[test]
    fn jagged_entries_lose_their_headers(
        wire in wires(), lengths in proptest::collection::vec(prop_oneof![0usize..20, 0usize..100], 0..40),
        header in 0usize..14, before in 0usize..5, after in prop_oneof![Just(0usize), 0usize..200], seed in any::<u64>(),
    ) {
        let mut state = seed;
        let mut random = move || { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); (state >> 56) as u8 };
        let mut payload = vec![0; before];
        let mut bounds = vec![before as u32];
        let mut wanted = Vec::new();
        for items in &lengths {
            payload.extend((0..header + items * wire.width()).map(|_| random()));
            let start = payload.len() - items * wire.width();
            wanted.extend(payload[start..].chunks(wire.width()).flat_map(|value| naive(wire, value)));
            bounds.push(payload.len() as u32);
        }
        payload.extend((0..after).map(|_| random()));
        let bytes: Vec<u8> = bounds.iter().flat_map(|at| at.to_le_bytes()).collect();
        for features in CpuFeatures::available() {
            let mut into = vec![0xAA; wanted.len()];
            jagged_at(features, wire, &payload, &bytes, header as u32, &mut into).unwrap();
            prop_assert!(same(wire, &into, &wanted), "{}", features.name());
        }
        let mut into = vec![0; wanted.len() + wire.dtype().size()];
        prop_assert!(decode_jagged(wire, &payload, &bytes, header as u32, &mut into).is_err());
        if let Some(fewer) = wanted.len().checked_sub(1) {
            prop_assert!(decode_jagged(wire, &payload, &bytes, header as u32, &mut into[..fewer]).is_err());
        }
    }

    #[test]
    fn jagged_bounds_may_say_anything(
        bounds in proptest::collection::vec(prop_oneof![0u32..300, any::<u32>()], 0..8), header in prop_oneof![0u32..9, any::<u32>()],
        wire in wires(), length in 0usize..200,
    ) {
        let bytes: Vec<u8> = bounds.iter().flat_map(|at| at.to_le_bytes()).collect();
        let mut into = vec![0; length];
        let _ = decode_jagged(wire, &[7; 250], &bytes, header, &mut into);
    }

    #[test]
    fn bounds_become_offsets(
        lengths in proptest::collection::vec(0u32..50, 0..300), first in 0u32..100, header in 0u32..20,
        size in prop_oneof![1u32..40, Just(1 << 20), Just(u32::MAX)], base in 0i64..1 << 40,
    ) {
        // Keep the sum within the 32 bits of positions.
        let lengths: Vec<u32> = lengths.into_iter().map(|n| if size > 100 { n % 40 % (u32::MAX / size / 300 + 1) } else { n }).collect();
        let mut bounds = vec![first];
        let mut wanted = Vec::new();
        let mut items = base;
        for n in &lengths {
            bounds.push(bounds.last().unwrap() + header + n * size);
            items += i64::from(*n);
            wanted.extend(items.to_ne_bytes());
        }
        let bytes: Vec<u8> = bounds.iter().flat_map(|at| at.to_le_bytes()).collect();
        for features in CpuFeatures::available() {
            let mut into = vec![0xAA; wanted.len()];
            prop_assert_eq!(offsets_from_bounds_at(features, &bytes, header, size, base, &mut into), Ok(items));
            prop_assert_eq!(&into, &wanted);
        }
    }

    #[test]
    fn bad_bounds_are_found_where_a_loop_finds_them(
        bounds in proptest::collection::vec(0u32..60, 1..40), header in 0u32..3, size in 1u32..4,
    ) {
        let bytes: Vec<u8> = bounds.iter().flat_map(|at| at.to_le_bytes()).collect();
        let mut into = vec![0; 8 * (bounds.len() - 1)];
        let mut wanted = Ok(0);
        for (entry, pair) in bounds.windows(2).enumerate() {
            let length = i64::from(pair[1]) - i64::from(pair[0]);
            let rest = length - i64::from(header);
            if length < 0 {
                wanted = Err(OffsetsError::Backwards { entry });
            } else if rest < 0 {
                wanted = Err(OffsetsError::NoHeader { entry });
            } else if rest % i64::from(size) != 0 {
                wanted = Err(OffsetsError::Partial { entry });
            } else {
                wanted = wanted.map(|sum: i64| sum + rest / i64::from(size));
                continue;
            }
            break;
        }
        for features in CpuFeatures::available() {
            prop_assert_eq!(offsets_from_bounds_at(features, &bytes, header, size, 0, &mut into), wanted);
        }
    }

    #[test]
    fn bounds_anywhere_in_32_bits_never_lie(
        bounds in proptest::collection::vec(any::<u32>(), 2..6), header in any::<u32>(), size in any::<u32>(),
    ) {
        let bytes: Vec<u8> = bounds.iter().flat_map(|at| at.to_le_bytes()).collect();
        let mut into = vec![0; 8 * (bounds.len() - 1)];
        let fits = |pair: &[u32]| pair[1].checked_sub(pair[0]).and_then(|n| n.checked_sub(header))
            .is_some_and(|n| size > 0 && n.is_multiple_of(size));
        let sound = bounds.windows(2).all(fits);
        for features in CpuFeatures::available() {
            prop_assert_eq!(offsets_from_bounds_at(features, &bytes, header, size, 0, &mut into).is_ok(), sound);
        }
    }

    #[test]
    fn counts_become_offsets(counts in proptest::collection::vec(0u8..100, 0..200), base in 0i64..1000) {
        let mut sum = base;
        let wanted: Vec<u8> = counts.iter().flat_map(|n| { sum += i64::from(*n); sum.to_ne_bytes() }).collect();
        for dtype in [DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64] {
            let wide = |n: &u8| {
                let all = u64::from(*n).to_le_bytes();
                all[..dtype.size()].to_vec()
            };
            let bytes: Vec<u8> = counts.iter().flat_map(wide).collect();
            let mut into = vec![0; wanted.len()];
            prop_assert_eq!(offsets_from_counts(&bytes, dtype, base, &mut into), Ok(sum));
            prop_assert_eq!(&into, &wanted);
        }
    }

    #[test]
    fn rebasing_adds(offsets in proptest::collection::vec(0i64..1 << 50, 0..100), base in any::<i64>()) {
        let bytes: Vec<u8> = offsets.iter().flat_map(|at| at.to_ne_bytes()).collect();
        let wanted: Option<Vec<i64>> = offsets.iter().map(|at| at.checked_add(base)).collect();
        for features in CpuFeatures::available() {
            let mut into = vec![0; bytes.len()];
            let found = rebase_at(features, &bytes, base, &mut into);
            match &wanted {
                Some(wanted) => {
                    prop_assert_eq!(found, Ok(*wanted.last().unwrap_or(&base)));
                    let bytes: Vec<u8> = wanted.iter().flat_map(|at| at.to_ne_bytes()).collect();
                    prop_assert_eq!(&into, &bytes);
                }
                None => {
                    let entry = offsets.iter().position(|at| at.checked_add(base).is_none()).unwrap();
                    prop_assert_eq!(found, Err(OffsetsError::Overflow { entry }));
                }
            }
        }
    }
}

#[test]
fn lengths_that_do_not_belong_together_are_refused() {
    let mut into = [0; 8];
    let wire = Encoding::Big(DType::Int32);
    assert_eq!(decode(wire, &[0; 7], &mut into), Err(DecodeError::Length { from: 7, into: 8 }));
    assert!(decode(wire, &[0; 8], &mut into[..7]).is_err());
    assert!(decode(wire, &[0; 12], &mut into).is_err());
    let bad = Encoding::Truncated { bits: 15, to: DType::Float32 };
    assert_eq!(decode(bad, &[0; 6], &mut into), Err(DecodeError::Encoding(bad)));
    let bad = Encoding::Scaled { factor: 1.0, min: 0.0, max: 1.0, to: DType::Int32 };
    assert_eq!(decode(bad, &[0; 8], &mut into), Err(DecodeError::Encoding(bad)));
    assert!(decode_strided(wire, &[0; 8], 0, 0, 1, &mut into).is_err());
    assert!(decode_strided(wire, &[0; 8], 4, 1, 1, &mut into).is_err());
    assert!(decode_strided(wire, &[0; 8], 4, 0, usize::MAX, &mut into).is_err());
    assert!(decode_strided(wire, &[0; 8], 4, usize::MAX, 1, &mut into).is_err());
    assert!(offsets_from_bounds(&[], 0, 1, 0, &mut []).is_err());
    assert_eq!(offsets_from_bounds(&[0; 4], 0, 1, 5, &mut []), Ok(5));
    assert!(offsets_from_bounds(&[0; 8], 0, 0, 0, &mut into).is_err());
    assert!(offsets_from_bounds(&[0; 8], 0, 1, i64::MAX, &mut into).is_err());
    assert!(rebase(&[0; 7], 0, &mut into[..7]).is_err());
}

#[test]
fn impossible_counts_are_errors_with_their_row() {
    let mut into = [0; 24];
    let counts: Vec<u8> = [1i32, 2, -1].iter().flat_map(|n| n.to_ne_bytes()).collect();
    let found = offsets_from_counts(&counts, DType::Int32, 0, &mut into);
    assert_eq!(found, Err(OffsetsError::Negative { entry: 2 }));
    let counts: Vec<u8> = [1u64, i64::MAX as u64, 1].iter().flat_map(|n| n.to_ne_bytes()).collect();
    let found = offsets_from_counts(&counts, DType::UInt64, 0, &mut into);
    assert_eq!(found, Err(OffsetsError::Overflow { entry: 1 }));
    let found = offsets_from_counts(&u64::MAX.to_ne_bytes(), DType::UInt64, 0, &mut into[..8]);
    assert_eq!(found, Err(OffsetsError::Overflow { entry: 0 }));
    let found = offsets_from_counts(&[0; 8], DType::Float64, 0, &mut into[..8]);
    assert_eq!(found, Err(OffsetsError::Type(DType::Float64)));
}

/// Worked out by hand from the description of the layout.
#[test]
fn packed_floats_by_hand() {
    let mut into = [0; 4];
    // 1.0 has exponent 127 and no mantissa; the sign stands above the rounding bit.
    decode(Encoding::Truncated { bits: 12, to: DType::Float32 }, &[127, 0x00, 0x00], &mut into).unwrap();
    assert_eq!(f32::from_ne_bytes(into), 1.0);
    decode(Encoding::Truncated { bits: 12, to: DType::Float32 }, &[127, 0x28, 0x00], &mut into).unwrap();
    assert_eq!(f32::from_ne_bytes(into), -1.5);
    // A full mantissa of all ones and the rounding bit set carries over the lowest exponent bit.
    decode(Encoding::Truncated { bits: 12, to: DType::Float32 }, &[126, 0x10, 0x00], &mut into).unwrap();
    assert_eq!(f32::from_ne_bytes(into), 1.0);
}

#[test]
fn text_is_checked_string_by_string() {
    let bytes = Column::from_slice("aé€x".as_bytes());
    let good = |offsets: &[i64]| check_utf8(&Column::from_slice(offsets), &bytes);
    assert_eq!(good(&[0, 1, 3, 6, 7]), Ok(()));
    assert_eq!(good(&[0]), Ok(()));
    assert_eq!(good(&[0, 1, 2, 7]), Err(BadText { row: 1 }));
    assert_eq!(good(&[0, 3, 1]), Err(BadText { row: 1 }));
    assert_eq!(good(&[0, 8]), Err(BadText { row: 0 }));
    assert_eq!(good(&[-1, 0]), Err(BadText { row: 0 }));
    let bad = Column::from_slice(b"ok\xFFok");
    assert_eq!(check_utf8(&Column::from_slice(&[0i64, 2, 2, 3, 5]), &bad), Err(BadText { row: 2 }));
    assert_eq!(check_utf8(&Column::from_slice(&[0i64, 2]), &bad), Ok(()));
}

#[test]
fn much_text_is_checked_piece_by_piece() {
    let words = ["", "a", "é", "€uro", "𝄞", "plain text of some length"];
    let (mut bytes, mut offsets) = (Vec::new(), vec![0i64]);
    let (rows, long) = if cfg!(miri) { (100, 2_000) } else { (20_000, 600_000) };
    for row in 0..rows {
        bytes.extend(words[row % 6].bytes());
        // One that is longer than what is checked together.
        bytes.extend(std::iter::repeat_n(b'x', if row == rows / 2 { long } else { 0 }));
        offsets.push(bytes.len() as i64);
    }
    let found = |offsets: &[i64], bytes: &[u8]| {
        check_utf8(&Column::from_slice(offsets), &Column::from_slice(bytes)).map_err(|bad| bad.row as usize)
    };
    assert_eq!(found(&offsets, &bytes), Ok(()));
    // Enough for several threads, of which more than one finds something: the first counts.
    if !cfg!(miri) {
        let plain = vec![b'a'; 9 << 20];
        let offsets: Vec<i64> = (0..=plain.len() as i64 / 16).map(|row| 16 * row).collect();
        for bad in [&[][..], &[3], &[400_000], &[100_000, 300_000, 589_823]] {
            let mut bytes = plain.clone();
            bad.iter().for_each(|row| bytes[16 * row + 5] = 0xff);
            let (offsets, bytes) = (Column::from_slice(&offsets), Column::from_slice(&bytes));
            for threads in [1, 2, 3, 7] {
                let found = check_utf8_by(&offsets, &bytes, threads).map_err(|bad| bad.row as usize);
                assert_eq!(found, bad.first().map_or(Ok(()), |row| Err(*row)), "{threads}");
            }
        }
    }
    for row in [1, rows / 2, rows / 2 + 6, rows - 7].map(|row| row / 6 * 6 + 3) {
        let at = offsets[row] as usize;
        let mut damaged = bytes.clone();
        damaged[at] = b'\xff';
        assert_eq!(found(&offsets, &damaged), Err(row));
        // Cut within a character.
        let mut cut = offsets.clone();
        cut[row] += 1;
        assert_eq!(found(&cut, &bytes), Err(row - 1));
    }
}

#[test]
fn text_is_text_if_all_of_it_is_and_it_is_cut_between_characters() {
    let ends = |ends: &[i64]| ends.iter().flat_map(|end| end.to_ne_bytes()).collect::<Vec<u8>>();
    let good = |at: &[i64], text: &[u8]| are_texts(&ends(at), 100, text);
    assert!(good(&[], b"") && good(&[100, 100], b""));
    assert!(good(&[101, 103, 103, 106, 107], "aé€x".as_bytes()));
    for byte in 1..3 {
        assert!(!good(&[101, 103, 103 + byte, 106, 107], "aé€x".as_bytes()));
    }
    // A character that another block would complete, or has begun.
    assert!(!good(&[102], "aé".as_bytes().split_last().unwrap().1));
    assert!(!good(&[101], "é".as_bytes().split_first().unwrap().1));
    assert!(!good(&[102], b"\xff\xfe"));
    // More or fewer bytes than there are.
    assert!(!good(&[], b"a") && !good(&[101], b"") && !good(&[101], b"ab") && !good(&[99], b"a"));
    assert!(!are_texts(&ends(&[i64::MIN]), i64::MAX, b"") && !are_texts(&ends(&[i64::MAX]), i64::MIN, b"a"));
    // Longer than what is looked at together, at every place.
    let plain = vec![b'a'; 5000];
    assert!(good(&[5100], &plain));
    for at in [0, 63, 64, 4095, 4096, 4999] {
        let mut text = plain.clone();
        text[at] = 0x80;
        assert!(!good(&[5100], &text));
    }
}

#[test]
fn offsets_fall_where_one_is_less_than_the_one_before() {
    let offsets: Vec<i64> = (0..1600).map(|at| at / 3).collect();
    let falls = |before: i64, offsets: &[i64]| {
        let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
        fall(before, &bytes)
    };
    assert!(!falls(7, &[]) && !falls(0, &offsets) && falls(1, &offsets));
    for at in [0, 1, 39, 510, 511, 512, 513, 1023, 1024, 1536, 1598, 1599] {
        let mut offsets = offsets.clone();
        offsets[at] = -1;
        assert!(falls(0, &offsets), "{at}");
        offsets[at] = i64::MAX;
        assert_eq!(falls(0, &offsets), at < 1599, "{at}");
    }
}

#[test]
fn what_is_copied_is_all_of_it_and_nothing_else() {
    let from: Vec<u8> = (0..9000_u32).map(|at| (at % 251) as u8 + 1).collect();
    for length in [0, 1, 255, 256, 257, 2047, 2048, 2304, 4096, 8999] {
        let mut into = vec![0; 9000];
        copy(&from[..length], &mut into[1..=length]);
        assert_eq!((into[0], &into[1..=length]), (0, &from[..length]));
        assert!(into[length + 1..].iter().all(|byte| *byte == 0));
    }
}

/// A fall is found in whichever thread's part it is, and between two parts.
#[test]
fn threads_find_where_offsets_fall() {
    let rows: usize = 3 << 18;
    let rising: Vec<[u8; 8]> = (0..rows as i64).map(i64::to_ne_bytes).collect();
    for threads in [1, 2, 3, 7] {
        assert!(!fall_by(&rising, threads));
        let each = rows.div_ceil(threads.min(3));
        for at in [1, each - 1, each, each + 1, 2 * each, rows - 1].into_iter().filter(|at| *at < rows) {
            let mut falling = rising.clone();
            falling[at] = (at as i64 - 2).to_ne_bytes();
            assert!(fall_by(&falling, threads), "{threads} threads, {at}");
        }
    }
    assert!(!fall_by(&[], 4));
}
