//! Dates, times and decimals.

use super::{
    Check, Value,
    list::ListBuilder,
    view::{NumberView, invalid},
};
use forthwith_columns::{Array, Column, Form, LogicalType, Native, TimeUnit};
use forthwith_plan::Result;
use std::marker::PhantomData;

/// Unit of time.
pub trait TimeScale: Copy + Send + Sync + 'static {
    /// The unit.
    const UNIT: TimeUnit;
    /// Type of numbers that store times of day.
    type Clock: Native + Value<View = NumberView<Self::Clock>, Builder = Vec<Self::Clock>> + Default;
}

macro_rules! scales {
    ($($(#[doc = $doc:literal])* $name:ident $clock:ident)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {}

        impl TimeScale for $name {
            const UNIT: TimeUnit = TimeUnit::$name;
            type Clock = $clock;
        }
    )*};
}

scales! {
    /// Thousandths of a second.
    Milli i32
    /// Millionths of a second.
    Micro i64
    /// Billionths of a second.
    Nano i64
}

/// A date, counted in days from 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(
    /// Number of days since 1970-01-01.
    pub i32,
);

/// A timestamp, counted from 1970-01-01 in units such as [`Micro`]; in UTC if the column has a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp<U>(
    /// Number of units since 1970-01-01.
    pub i64,
    PhantomData<U>,
);

/// A time of day in units such as [`Micro`], counted from midnight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time<U: TimeScale>(
    /// Number of units since midnight.
    pub U::Clock,
    PhantomData<U>,
);

/// A decimal of up to 38 digits, `SCALE` of which are after the decimal point: `Decimal::<9, 2>(1234)` is
/// 12.34.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<const PRECISION: u32, const SCALE: u32>(
    /// Unscaled value.
    pub i128,
);

/// Checks the logical type of a column; the time zone of a timestamp only affects its display.
fn check_meaning(form: &Form, wanted: LogicalType, check: &mut Check<'_>) {
    let fits = match (form, wanted) {
        (
            Form::Logical { meaning: LogicalType::Timestamp { unit, .. }, .. },
            LogicalType::Timestamp { unit: of, .. },
        ) => *unit == of,
        (Form::Logical { meaning, .. }, wanted) => *meaning == wanted,
        (Form::Empty, _) => true,
        _ => false,
    };
    if !fits {
        check.mismatch(&wanted.to_string(), form);
    }
}

/// Returns the array without its logical type.
fn kept(array: &Array) -> Array {
    Array { form: array.form.kept().clone(), ..array.clone() }
}

impl Value for Date {
    type View = NumberView<i32>;
    type Borrowed<'v> = Self;
    type Builder = Vec<i32>;

    fn check(form: &Form, check: &mut Check<'_>) {
        check_meaning(form, LogicalType::Date, check);
    }

    fn view(array: &Array) -> Result<Self::View> {
        i32::view(&kept(array))
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Self {
        Self(view.at(row))
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        builder.push(self.0);
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        let content = i32::finish(builder, key, columns);
        Form::Logical { meaning: LogicalType::Date, content: Box::new(content) }
    }
}

/// Implements logical types that are counts of a unit of time.
macro_rules! times {
    ($($name:ident $count:ty, $meaning:expr;)*) => {$(
        impl<U: TimeScale> $name<U> {
            const MEANING: LogicalType = $meaning;

            /// Makes a value of a number of units.
            #[must_use]
            pub const fn new(count: $count) -> Self {
                Self(count, PhantomData)
            }
        }

        impl<U: TimeScale> Default for $name<U> {
            fn default() -> Self {
                Self(Default::default(), PhantomData)
            }
        }

        impl<U: TimeScale> Value for $name<U> {
            type View = NumberView<$count>;
            type Borrowed<'v> = Self;
            type Builder = Vec<$count>;

            fn check(form: &Form, check: &mut Check<'_>) {
                check_meaning(form, Self::MEANING, check);
            }

            fn view(array: &Array) -> Result<Self::View> {
                <$count>::view(&kept(array))
            }

            #[inline]
            fn get(view: &Self::View, row: usize) -> Self {
                Self::new(view.at(row))
            }

            fn push_to(&self, builder: &mut Self::Builder) {
                builder.push(self.0);
            }

            fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
                let content = <$count>::finish(builder, key, columns);
                Form::Logical { meaning: Self::MEANING, content: Box::new(content) }
            }
        }
    )*};
}

times! {
    Timestamp i64, LogicalType::Timestamp { unit: U::UNIT, zone: None };
    Time U::Clock, LogicalType::Time(U::UNIT);
}

/// Values of decimals.
pub enum DecimalView {
    /// Numbers of at most 64 bits.
    Numbers(NumberView<i64>),
    /// Decoded byte strings of the batch.
    Long(Vec<i128>),
}

impl<const PRECISION: u32, const SCALE: u32> Decimal<PRECISION, SCALE> {
    const MEANING: LogicalType = LogicalType::Decimal { precision: PRECISION, scale: SCALE };
}

/// Decodes a big-endian number in two's complement; `None` if it has more than 16 bytes.
fn of_bytes(bytes: &[u8]) -> Option<i128> {
    let is_negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let mut wide = if is_negative { [0xff; 16] } else { [0; 16] };
    wide[16usize.checked_sub(bytes.len())?..].copy_from_slice(bytes);
    Some(i128::from_be_bytes(wide))
}

impl<const PRECISION: u32, const SCALE: u32> Value for Decimal<PRECISION, SCALE> {
    type View = DecimalView;
    type Borrowed<'v> = Self;
    type Builder = ListBuilder<Vec<u8>>;

    fn check(form: &Form, check: &mut Check<'_>) {
        match form {
            Form::Logical { meaning: LogicalType::Decimal { precision, scale }, .. }
                if *scale == SCALE && *precision <= PRECISION && *precision <= 38 => {}
            Form::Empty => {}
            _ => check.mismatch(&Self::MEANING.to_string(), form),
        }
    }

    fn view(array: &Array) -> Result<Self::View> {
        let kept = kept(array);
        if !matches!(kept.form, Form::String { .. }) {
            return Ok(DecimalView::Numbers(i64::view(&kept)?));
        }
        let texts = kept.as_texts().map_err(invalid)?;
        let number = |bytes| of_bytes(bytes).ok_or_else(|| invalid("a decimal of more than 16 bytes"));
        Ok(DecimalView::Long(texts.iter().map(number).collect::<Result<_>>()?))
    }

    #[inline]
    fn get(view: &Self::View, row: usize) -> Self {
        Self(match view {
            DecimalView::Numbers(numbers) => numbers.at(row).into(),
            DecimalView::Long(numbers) => numbers[row],
        })
    }

    fn push_to(&self, builder: &mut Self::Builder) {
        builder.items.extend_from_slice(&self.0.to_be_bytes());
        builder.end(builder.items.len());
    }

    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form {
        columns.push((format!("{key}-offsets"), Column::from_vec(builder.offsets)));
        columns.push((format!("{key}-data"), Column::from_vec(builder.items)));
        let content = Form::String { key: key.to_owned(), binary: true };
        Form::Logical { meaning: Self::MEANING, content: Box::new(content) }
    }
}
