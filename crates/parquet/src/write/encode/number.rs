//! Numbers as stored by Parquet: their bits and statistics.

use arrow_buffer::{ArrowNativeType, ToByteSlice};
use forthwith_kernels::Ordered;
use parquet::file::statistics::{Statistics, ValueStatistics};

/// A number of 32 or 64 bits.
pub(crate) trait Number: ArrowNativeType + Ordered<Key: Send> {
    const IS_FLOAT: bool = false;

    /// Returns the bits, for hashing and comparison.
    fn bits(self) -> u64;

    /// Creates the statistics of a chunk, with the numbers of nulls and NaN.
    fn statistics(bounds: Option<(Self, Self)>, nulls: u64, nans: Option<u64>, is_signed: bool)
    -> Statistics;
}

macro_rules! number {
    ($type:ty, $stored:ty, $bits:ty, $variant:ident, $is_float:expr) => {
        impl Number for $type {
            const IS_FLOAT: bool = $is_float;

            #[inline(always)]
            fn bits(self) -> u64 {
                <$bits>::from_le_bytes(self.to_le_bytes()).into()
            }

            fn statistics(
                bounds: Option<(Self, Self)>,
                nulls: u64,
                nans: Option<u64>,
                is_signed: bool,
            ) -> Statistics {
                let stored = |number: Self| <$stored>::from_le_bytes(number.to_le_bytes());
                let (min, max) = bounds.map(|(min, max)| (stored(min), stored(max))).unzip();
                let statistics = ValueStatistics::new(min, max, None, Some(nulls), false);
                let statistics = statistics.with_nan_count(nans).with_backwards_compatible_min_max(is_signed);
                Statistics::$variant(statistics)
            }
        }
    };
}

number!(i32, i32, u32, Int32, false);
number!(i64, i64, u64, Int64, false);
number!(u32, i32, u32, Int32, false);
number!(u64, i64, u64, Int64, false);
number!(f32, f32, u32, Float, true);
number!(f64, f64, u64, Double, true);

/// Returns the bytes of numbers in native byte order. The encoders are used only if it is little-endian, as
/// in Parquet.
pub(crate) fn bytes_of<T: Number>(numbers: &[T]) -> &[u8] {
    numbers.to_byte_slice()
}
