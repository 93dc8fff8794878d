//! Numbers of bins.

use crate::cpp::Basic;
use crate::object::Array;

/// One number for each bin.
#[derive(Clone, Debug)]
pub(super) enum Numbers {
    Whole(Basic, Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Numbers {
    pub(super) fn of(array: Array<'_>) -> Self {
        match array.basic {
            Basic::F32 => Self::Single(array.floats().map(|value| value as f32).collect()),
            Basic::F64 => Self::Double(array.floats().collect()),
            basic => Self::Whole(basic, array.ints().collect()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds numbers of the same kind; `false` if they are not as many.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(basic, one), Self::Whole(_, two)) if one.len() == two.len() => {
                for (one, two) in one.iter_mut().zip(two) {
                    *one = bounded(*basic, one.saturating_add(*two));
                }
                true
            }
            (Self::Single(one), Self::Single(two)) if one.len() == two.len() => {
                one.iter_mut().zip(two).for_each(|(one, two)| *one += two);
                true
            }
            (Self::Double(one), Self::Double(two)) if one.len() == two.len() => {
                one.iter_mut().zip(two).for_each(|(one, two)| *one += two);
                true
            }
            _ => false,
        }
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
        let places = || to.iter().copied();
        match self {
            numbers if numbers.is_empty() => self.clone(),
            Self::Whole(basic, numbers) => {
                let mut moved = vec![0_i64; length];
                for (to, number) in places().zip(numbers) {
                    moved[to] = bounded(*basic, moved[to].saturating_add(*number));
                }
                Self::Whole(*basic, moved)
            }
            Self::Single(numbers) => {
                let mut moved = vec![0.0; length];
                places().zip(numbers).for_each(|(to, number)| moved[to] += number);
                Self::Single(moved)
            }
            Self::Double(numbers) => {
                let mut moved = vec![0.0; length];
                places().zip(numbers).for_each(|(to, number)| moved[to] += number);
                Self::Double(moved)
            }
        }
    }

    /// As floating-point numbers.
    pub(super) fn floats(&self) -> Vec<f64> {
        match self {
            Self::Whole(_, numbers) => numbers.iter().map(|&n| n as f64).collect(),
            Self::Single(numbers) => numbers.iter().map(|&n| f64::from(n)).collect(),
            Self::Double(numbers) => numbers.clone(),
        }
    }

    /// The same numbers in double precision.
    pub(super) fn doubles(&self) -> Self {
        Self::Double(self.floats())
    }

    /// As many numbers of this kind that are 0.
    pub(super) fn zeros(&self, length: usize) -> Self {
        match self {
            Self::Whole(basic, _) => Self::Whole(*basic, vec![0; length]),
            Self::Single(_) => Self::Single(vec![0.0; length]),
            Self::Double(_) => Self::Double(vec![0.0; length]),
        }
    }

    /// The first of these numbers, with as many behind them that are 0 as there have to be.
    pub(super) fn resized(mut self, length: usize) -> Self {
        match &mut self {
            Self::Whole(_, numbers) => numbers.resize(length, 0),
            Self::Single(numbers) => numbers.resize(length, 0.0),
            Self::Double(numbers) => numbers.resize(length, 0.0),
        }
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
        let places = places.iter().copied();
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
        match self {
            Self::Whole(_, numbers) => numbers.len(),
            Self::Single(numbers) => numbers.len(),
            Self::Double(numbers) => numbers.len(),
        }
    }

    /// Whether all numbers are 0.
    pub(super) fn is_zero(&self) -> bool {
        !(0..self.len()).any(|at| self.is_set(at))
    }

    /// Whether a number is not 0.
    pub(super) fn is_set(&self, at: usize) -> bool {
        match self {
            Self::Whole(_, numbers) => numbers.get(at).is_some_and(|&number| number != 0),
            Self::Single(numbers) => numbers.get(at).is_some_and(|&number| number != 0.0),
            Self::Double(numbers) => numbers.get(at).is_some_and(|&number| number != 0.0),
        }
    }

    /// As they are stored, behind their number.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let count = |length: usize| (length as i32).to_be_bytes().to_vec();
        match self {
            Self::Whole(basic, numbers) => {
                let mut bytes = count(numbers.len());
                numbers.iter().for_each(|n| bytes.extend(&n.to_be_bytes()[8 - basic.size()..]));
                bytes
            }
            Self::Single(numbers) => {
                let mut bytes = count(numbers.len());
                numbers.iter().for_each(|n| bytes.extend(n.to_be_bytes()));
                bytes
            }
            Self::Double(numbers) => {
                let mut bytes = count(numbers.len());
                numbers.iter().for_each(|n| bytes.extend(n.to_be_bytes()));
                bytes
            }
        }
    }
}

/// ROOT's bins stop at what their type holds, on both sides alike.
fn bounded(basic: Basic, number: i64) -> i64 {
    let most = match basic {
        Basic::I8 => i64::from(i8::MAX),
        Basic::I16 => i64::from(i16::MAX),
        Basic::I32 => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    number.clamp(-most, most)
}
