//! Smallest and largest of many numbers.

use crate::{CpuFeatures, for_each_cpu};
use std::ops::AddAssign;

/// A number that is compared by a key: floats in IEEE 754's total order.
pub trait Ordered: Copy {
    /// An integer whose order is that of the numbers.
    type Key: Copy + Ord;
    /// A counter of as many bits as the number.
    #[doc(hidden)]
    type Count: Copy + Default + AddAssign + From<bool> + Into<u64>;
    #[doc(hidden)]
    const LARGEST: Self::Key;
    #[doc(hidden)]
    const SMALLEST: Self::Key;

    /// Returns the key of the number.
    fn key(self) -> Self::Key;

    /// Returns the number of a key.
    fn of_key(key: Self::Key) -> Self;

    /// Whether the number is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }

    #[doc(hidden)]
    fn of_some(features: CpuFeatures, numbers: &[Self]) -> Option<Extremes<Self::Key>>;
}

/// Smallest and largest key of a slice of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes<K> {
    /// The smallest key.
    pub min: K,
    /// The largest key.
    pub max: K,
    /// Number of NaNs. They are ignored for the extremes unless all numbers are NaN.
    pub nans: u64,
}

/// Returns the extremes of numbers; `None` if the slice is empty.
#[must_use]
pub fn extremes<T: Ordered>(numbers: &[T]) -> Option<Extremes<T::Key>> {
    extremes_by(CpuFeatures::current(), numbers)
}

fn extremes_by<T: Ordered>(features: CpuFeatures, numbers: &[T]) -> Option<Extremes<T::Key>> {
    // Parts are short enough to count NaNs in 32 bits.
    let parts = numbers
        .chunks(1 << 30)
        .filter_map(|some| T::of_some(features, some).map(|found| (found, some.len())));
    let (found, _) = parts.reduce(|(one, count), (other, more)| {
        let (one_nan, other_nan) = (one.nans == count as u64, other.nans == more as u64);
        let (min, max) = match (one_nan, other_nan) {
            (true, false) => (other.min, other.max),
            (false, true) => (one.min, one.max),
            _ => (one.min.min(other.min), one.max.max(other.max)),
        };
        (Extremes { min, max, nans: one.nans + other.nans }, count + more)
    })?;
    Some(found)
}

/// Number of lanes, whose extremes are independent of one another.
const LANES: usize = 16;

#[inline(always)]
fn body<T: Ordered>(numbers: &[T]) -> Option<Extremes<T::Key>> {
    let (mut least, mut most) = ([T::LARGEST; LANES], [T::SMALLEST; LANES]);
    let mut nans = [T::Count::default(); LANES];
    let (whole, rest) = numbers.as_chunks::<LANES>();
    for some in whole {
        for lane in 0..LANES {
            let (key, is_nan) = (some[lane].key(), some[lane].is_nan());
            least[lane] = least[lane].min(if is_nan { T::LARGEST } else { key });
            most[lane] = most[lane].max(if is_nan { T::SMALLEST } else { key });
            nans[lane] += T::Count::from(is_nan);
        }
    }
    for (lane, number) in rest.iter().enumerate() {
        let (key, is_nan) = (number.key(), number.is_nan());
        least[lane] = least[lane].min(if is_nan { T::LARGEST } else { key });
        most[lane] = most[lane].max(if is_nan { T::SMALLEST } else { key });
        nans[lane] += T::Count::from(is_nan);
    }
    let nans = nans.into_iter().map(Into::into).sum();
    if nans == numbers.len() as u64 {
        let keys = || numbers.iter().map(|number| number.key());
        return Some(Extremes { min: keys().min()?, max: keys().max()?, nans });
    }
    Some(Extremes { min: least.into_iter().min()?, max: most.into_iter().max()?, nans })
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl Ordered for $type {
            type Key = Self;
            type Count = u32;
            const LARGEST: Self = <$type>::MAX;
            const SMALLEST: Self = <$type>::MIN;

            #[inline(always)]
            fn key(self) -> Self {
                self
            }

            fn of_key(key: Self) -> Self {
                key
            }

            fn of_some(features: CpuFeatures, numbers: &[Self]) -> Option<Extremes<Self>> {
                for_each_cpu! { fn run(numbers: &[$type]) -> Option<Extremes<$type>> = body }
                run(features, numbers)
            }
        })*
    };
}

integers!(i32, i64, u32, u64);

macro_rules! floats {
    ($($type:ty, $key:ty, $bits:ty);*) => {
        $(impl Ordered for $type {
            type Key = $key;
            type Count = $bits;
            const LARGEST: $key = <$key>::MAX;
            const SMALLEST: $key = <$key>::MIN;

            // The bits as an integer; below zero, all bits but the sign are inverted.
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                bits ^ ((bits >> (<$key>::BITS - 1)) as $bits >> 1) as $key
            }

            fn of_key(key: $key) -> Self {
                Self::from_bits((key ^ ((key >> (<$key>::BITS - 1)) as $bits >> 1) as $key) as $bits)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }

            fn of_some(features: CpuFeatures, numbers: &[Self]) -> Option<Extremes<$key>> {
                for_each_cpu! { fn run(numbers: &[$type]) -> Option<Extremes<$key>> = body }
                run(features, numbers)
            }
        })*
    };
}

floats!(f32, i32, u32; f64, i64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a simple implementation, for each generation.
    fn check<T: Ordered + std::fmt::Debug>(numbers: &[T])
    where
        T::Key: std::fmt::Debug,
    {
        let all_nan = numbers.iter().all(|number| number.is_nan());
        let keys = || numbers.iter().filter(|number| all_nan || !number.is_nan()).map(|number| number.key());
        let nans = numbers.iter().filter(|number| number.is_nan()).count() as u64;
        let wanted = keys().min().zip(keys().max()).map(|(min, max)| Extremes { min, max, nans });
        for features in CpuFeatures::available() {
            assert_eq!(extremes_by(features, numbers), wanted, "{} {numbers:?}", features.name());
        }
        for number in numbers {
            assert_eq!(T::of_key(number.key()).key(), number.key());
        }
    }

    #[test]
    fn every_generation_finds_the_extremes() {
        let mut state = 1u64;
        for count in (0..70).chain([1000]) {
            let raw: Vec<u64> = (0..count)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state
                })
                .collect();
            check(&raw);
            check(&raw.iter().map(|raw| *raw as i64).collect::<Vec<_>>());
            check(&raw.iter().map(|raw| (*raw >> 32) as u32).collect::<Vec<_>>());
            check(&raw.iter().map(|raw| (*raw >> 32) as i32).collect::<Vec<_>>());
            let nan = |raw: u64| raw >> 62 == 0 || count == 5;
            let double = |raw: u64| if nan(raw) { f64::NAN } else { f64::from_bits(raw.rotate_right(2)) };
            check(&raw.iter().map(|raw| double(*raw)).collect::<Vec<_>>());
            let float = |raw: u64| if nan(raw) { -f32::NAN } else { f32::from_bits((raw >> 32) as u32) };
            check(&raw.iter().map(|raw| float(*raw)).collect::<Vec<_>>());
        }
        check(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE]);
    }
}
