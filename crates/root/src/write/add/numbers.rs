//! Numbers of bins.

use forthwith_plan::Result;

use crate::object::{Array, Object};
use crate::write::Edits;
use forthwith_columns::DType;

/// One number for each bin.
#[derive(Clone, Debug)]
pub(super) enum Numbers {
    Whole(DType, Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// The same of numbers of each kind.
macro_rules! each {
    ($of:expr, $numbers:ident => $same:expr) => {
        match $of {
            Numbers::Whole(_, $numbers) => $same,
            Numbers::Single($numbers) => $same,
            Numbers::Double($numbers) => $same,
        }
    };
}

impl Numbers {
    pub(super) fn of(array: Array<'_>) -> Self {
        match array.basic {
            DType::Float32 => Self::Single(array.floats().map(|value| value as f32).collect()),
            DType::Float64 => Self::Double(array.floats().collect()),
            basic => Self::Whole(basic, array.ints().collect()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds numbers of the same kind; `false` if they are not as many.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let length = self.len();
        length == other.len() && self.add_each(0..length, other)
    }

    /// Adds a value to one of the numbers, whose fraction whole numbers do not have; `false` if there is none at that place.
    pub(super) fn add_value(&mut self, at: usize, value: f64) -> bool {
        let at = match self {
            Self::Whole(basic, numbers) => {
                let basic = *basic;
                numbers.get_mut(at).map(|n| *n = bounded(basic, n.saturating_add(value as i64)))
            }
            Self::Single(numbers) => numbers.get_mut(at).map(|n| *n += value as f32),
            Self::Double(numbers) => numbers.get_mut(at).map(|n| *n += value),
        };
        at.is_some()
    }

    /// The numbers at other places, added where several come to one.
    pub(super) fn moved(&self, to: &[usize], length: usize) -> Self {
        if self.is_empty() {
            return self.clone();
        }
        let mut moved = self.zeros(length);
        moved.add_at(to, self);
        moved
    }

    /// As floating-point numbers.
    pub(super) fn floats(&self) -> Vec<f64> {
        match self {
            Self::Whole(_, numbers) => numbers.iter().map(|&n| n as f64).collect(),
            Self::Single(numbers) => numbers.iter().map(|&n| f64::from(n)).collect(),
            Self::Double(numbers) => numbers.clone(),
        }
    }

    /// As many numbers of this kind that are 0.
    pub(super) fn zeros(&self, length: usize) -> Self {
        self.part(0..0, length)
    }

    /// The first of these numbers, with as many behind them that are 0 as there have to be.
    pub(super) fn resized(mut self, length: usize) -> Self {
        each!(&mut self, numbers => numbers.resize(length, Default::default()));
        self
    }

    /// A part of the numbers, with 0 behind them.
    pub(super) fn part(&self, range: std::ops::Range<usize>, length: usize) -> Self {
        let part = match self {
            Self::Whole(basic, numbers) => {
                Self::Whole(*basic, numbers.get(range).unwrap_or_default().to_vec())
            }
            Self::Single(numbers) => Self::Single(numbers.get(range).unwrap_or_default().to_vec()),
            Self::Double(numbers) => Self::Double(numbers.get(range).unwrap_or_default().to_vec()),
        };
        part.resized(length)
    }

    /// Adds the first numbers of the same kind to those at these places; `false` if they are of another kind.
    pub(super) fn add_at(&mut self, places: &[usize], other: &Self) -> bool {
        self.add_each(places.iter().copied(), other)
    }

    fn add_each(&mut self, places: impl Iterator<Item = usize>, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(basic, own), Self::Whole(_, more)) => places
                .zip(more)
                .for_each(|(at, number)| own[at] = bounded(*basic, own[at].saturating_add(*number))),
            (Self::Single(own), Self::Single(more)) => places.zip(more).for_each(|(at, n)| own[at] += n),
            (Self::Double(own), Self::Double(more)) => places.zip(more).for_each(|(at, n)| own[at] += n),
            _ => return false,
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        each!(self, numbers => numbers.len())
    }

    /// Whether all numbers are 0.
    pub(super) fn is_zero(&self) -> bool {
        !(0..self.len()).any(|at| self.is_set(at))
    }

    /// Whether a number is not 0.
    pub(super) fn is_set(&self, at: usize) -> bool {
        each!(self, numbers => numbers.get(at).is_some_and(is_set))
    }

    /// As they are stored, behind their number.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.len() as i32).to_be_bytes().to_vec();
        let width = if let Self::Whole(basic, _) = self { basic.size() } else { 8 };
        each!(self, numbers => numbers.iter().for_each(|number| {
            let number = number.to_be_bytes();
            bytes.extend(&number[number.len().saturating_sub(width)..]);
        }));
        bytes
    }
}

/// Puts numbers and sums in the place of those that the members of an object have.
pub(super) fn write_sums(
    edits: &mut Edits<'_>,
    object: Object<'_>,
    arrays: &[(&str, Numbers)],
    sums: &[(&str, f64)],
) -> Result<()> {
    for (name, numbers) in arrays {
        if let Some(place) = object.place(name) {
            edits.replace(place, numbers.bytes());
        }
    }
    sums.iter().try_for_each(|(name, value)| edits.float(object, name, *value))
}

fn is_set<N: Default + PartialEq>(number: &N) -> bool {
    *number != N::default()
}

/// ROOT's bins stop at what their type holds, on both sides alike.
fn bounded(basic: DType, number: i64) -> i64 {
    let most = match basic {
        DType::Int8 => i64::from(i8::MAX),
        DType::Int16 => i64::from(i16::MAX),
        DType::Int32 => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    number.clamp(-most, most)
}
