//! Histograms of several files added up, by ROOT's own rules.

use forthwith_plan::{Error, ErrorKind, Result};

use super::Edits;
use crate::cpp::Basic;
use crate::object::{Array, Object};

/// A sum of objects of one class: bins and statistics of histograms and profiles, both histograms of an
/// efficiency, or a parameter.
///
/// The first of them gives everything else: titles, colours, functions.
#[derive(Debug)]
pub struct Sum {
    class: String,
    parts: Vec<Part>,
}

/// One histogram, or one parameter.
#[derive(Debug)]
struct Part {
    /// The member that it is, or nothing for the object itself.
    member: Option<&'static str>,
    arrays: Vec<(&'static str, Numbers)>,
    scalars: Vec<(&'static str, f64)>,
    axes: Vec<Axis>,
    /// Whether statistics have to be found out from the bins, as ROOT does where they are 0.
    by_bins: bool,
    number: Option<Number>,
}

/// The value of a parameter, and how several become one.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: Kind,
    bits: u64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Whole(i64),
    Float(f64),
    Bool(bool),
}

#[derive(Clone, Debug)]
enum Numbers {
    Whole(Basic, Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    bins: i64,
    low: f64,
    high: f64,
    edges: Vec<f64>,
    labels: Vec<(i64, String)>,
}

impl Sum {
    /// Whether objects of a class are added up.
    #[must_use]
    pub fn adds(class: &str) -> bool {
        is_histogram(class) || class == "TEfficiency" || class.starts_with("TParameter<")
    }

    /// A sum of one object.
    ///
    /// # Errors
    /// A class that is not added up; an object of it that cannot be.
    pub fn of(object: Object<'_>) -> Result<Self> {
        let object = object.readable()?;
        let class = object.class().to_owned();
        let parts = match &*class {
            "TEfficiency" => ["fPassedHistogram", "fTotalHistogram"]
                .into_iter()
                .filter_map(|member| object.object(member).map(|histogram| Part::of(Some(member), histogram)))
                .collect::<Result<_>>()?,
            _ if is_histogram(&class) => vec![Part::of(None, object)?],
            _ => vec![Part::parameter(object)?],
        };
        Ok(Self { class, parts })
    }

    /// Adds another object.
    ///
    /// # Errors
    /// It is of another class, or has other axes.
    pub fn add(&mut self, object: Object<'_>) -> Result<()> {
        let other = Self::of(object)?;
        if other.class != self.class {
            let what = format!("adding a {} to a {}", other.class, self.class);
            return Err(Error::new(ErrorKind::Invalid { what }));
        }
        if other.parts.len() != self.parts.len() {
            let what = "adding an efficiency without its histograms".into();
            return Err(Error::new(ErrorKind::Invalid { what }));
        }
        self.parts.iter_mut().zip(other.parts).try_for_each(|(part, other)| part.add(other))
    }

    /// Puts the sum in the place of what the first object had.
    ///
    /// # Errors
    /// The object has no such members, or no room for a number.
    pub fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        self.parts.iter().try_for_each(|part| {
            let object = match part.member {
                Some(member) => first.object(member),
                None => Some(first),
            };
            object.map_or(Ok(()), |object| part.write(edits, object))
        })
    }
}

/// Histograms of one to three dimensions, and profiles.
fn is_histogram(class: &str) -> bool {
    let kinds = ["C", "S", "I", "L", "F", "D"];
    ["TH1", "TH2", "TH3"]
        .iter()
        .any(|base| class.strip_prefix(base).is_some_and(|kind| kinds.contains(&kind)))
        || matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
}

impl Part {
    fn of(member: Option<&'static str>, object: Object<'_>) -> Result<Self> {
        let object = object.readable()?;
        if object.int("fBufferSize").unwrap_or(0) > 0
            && object.array("fBuffer").is_some_and(|a| !a.is_empty())
        {
            return Err(Error::unsupported("adding a histogram whose entries are still in its buffer"));
        }
        let axis = |name| object.object(name).map(Axis::of).transpose();
        let axes = ["fXaxis", "fYaxis", "fZaxis"].into_iter().filter_map(|name| axis(name).transpose());
        let arrays = ARRAYS.into_iter().filter_map(|name| Some((name, Numbers::of(object.array(name)?))));
        let scalars = SCALARS.into_iter().filter_map(|name| Some((name, object.float(name)?)));
        let scalars: Vec<_> = scalars.collect();
        let of = |name| scalars.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value);
        Ok(Self {
            member,
            arrays: arrays.collect(),
            by_bins: of("fTsumw") == 0.0 && of("fEntries") > 0.0,
            scalars,
            axes: axes.collect::<Result<_>>()?,
            number: None,
        })
    }

    fn parameter(object: Object<'_>) -> Result<Self> {
        let value = match object.member("fVal") {
            Some(crate::object::Value::Float(value)) => Kind::Float(value),
            Some(crate::object::Value::Bool(value)) => Kind::Bool(value),
            Some(_) if let Some(value) = object.int("fVal") => Kind::Whole(value),
            _ => return Err(Error::unsupported(format!("adding objects of class {}", object.class()))),
        };
        let bits = object.int("fBits").unwrap_or(0).unsigned_abs();
        let number = Some(Number { value, bits });
        Ok(Self { member: None, arrays: vec![], scalars: vec![], axes: vec![], by_bins: false, number })
    }

    fn add(&mut self, other: Self) -> Result<()> {
        if let Some((axis, (one, two))) = ["x", "y", "z"]
            .into_iter()
            .zip(self.axes.iter().zip(&other.axes))
            .find(|(_, (one, two))| one != two)
        {
            let what = format!(
                "adding histograms of other bins: its {axis} axis has {}, and that of the first {}",
                two.text(),
                one.text()
            );
            return Err(Error::unsupported(what));
        }
        // Squares of weights that one of them does not keep are those of entries without weights.
        for (squares, plain) in [("fSumw2", None), ("fBinSumw2", Some("fBinEntries"))] {
            let has = |part: &Self| part.numbers(squares).is_some_and(|numbers| !numbers.is_empty());
            match (has(self), has(&other)) {
                (true, false) => {
                    let more = other.plain(plain);
                    self.add_array(squares, &more)?;
                }
                (false, true) => {
                    let own = self.plain(plain);
                    if let Some((_, numbers)) = self.arrays.iter_mut().find(|(name, _)| *name == squares) {
                        *numbers = own;
                    }
                    if let Some(more) = other.numbers(squares) {
                        self.add_array(squares, more)?;
                    }
                }
                (true, true) => {
                    if let Some(more) = other.numbers(squares) {
                        self.add_array(squares, more)?;
                    }
                }
                (false, false) => {}
            }
        }
        for (name, numbers) in &other.arrays {
            if !matches!(*name, "fSumw2" | "fBinSumw2") {
                self.add_array(name, numbers)?;
            }
        }
        for (name, value) in &mut self.scalars {
            *value += other.scalars.iter().find(|(other, _)| other == name).map_or(0.0, |(_, value)| *value);
        }
        self.by_bins |= other.by_bins;
        if let (Some(one), Some(two)) = (&mut self.number, other.number) {
            one.add(two);
        }
        Ok(())
    }

    fn numbers(&self, name: &str) -> Option<&Numbers> {
        self.arrays.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers)
    }

    /// The contents of the bins, or the entries, as squares of weights that are all 1.
    fn plain(&self, of: Option<&str>) -> Numbers {
        let numbers = match of {
            Some(name) => self.numbers(name),
            None => {
                self.arrays.iter().find(|(name, _)| name.starts_with("TArray")).map(|(_, numbers)| numbers)
            }
        };
        let floats = match numbers {
            Some(Numbers::Whole(_, numbers)) => numbers.iter().map(|&n| n as f64).collect(),
            Some(Numbers::Single(numbers)) => numbers.iter().map(|&n| f64::from(n)).collect(),
            Some(Numbers::Double(numbers)) => numbers.clone(),
            None => Vec::new(),
        };
        Numbers::Double(floats)
    }

    fn add_array(&mut self, name: &str, more: &Numbers) -> Result<()> {
        let Some((_, own)) = self.arrays.iter_mut().find(|(known, _)| *known == name) else { return Ok(()) };
        if own.add(more) {
            return Ok(());
        }
        let what = format!("adding histograms of other numbers of bins in {name}");
        Err(Error::new(ErrorKind::Invalid { what }))
    }

    fn write(&self, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
        for (name, numbers) in &self.arrays {
            if let Some(place) = object.place(name) {
                edits.replace(place, numbers.bytes());
            }
        }
        for &(name, value) in &self.scalars {
            let value = if self.by_bins && name != "fEntries" { 0.0 } else { value };
            edits.float(object, name, value)?;
        }
        match self.number.map(|number| number.value) {
            Some(Kind::Whole(value)) => edits.number(object, "fVal", value),
            Some(Kind::Float(value)) => edits.float(object, "fVal", value),
            Some(Kind::Bool(value)) => edits.number(object, "fVal", value.into()),
            None => Ok(()),
        }
    }
}

impl Number {
    /// By the bits of the first: multiplied, the largest, the smallest, the first, the last, or added; truth
    /// values are true if one is.
    fn add(&mut self, other: Self) {
        let has = |bit: u32| self.bits >> bit & 1 != 0;
        self.value = match (self.value, other.value) {
            (one, _) if has(18) => one,
            (_, two) if has(19) => two,
            (Kind::Whole(one), Kind::Whole(two)) => Kind::Whole(match () {
                () if has(14) => one.wrapping_mul(two),
                () if has(16) => one.max(two),
                () if has(17) => one.min(two),
                () => one.wrapping_add(two),
            }),
            (Kind::Float(one), Kind::Float(two)) => Kind::Float(match () {
                () if has(14) => one * two,
                () if has(16) => one.max(two),
                () if has(17) => one.min(two),
                () => one + two,
            }),
            (Kind::Bool(one), Kind::Bool(two)) => Kind::Bool(match () {
                () if has(14) || has(17) => one && two,
                () => one || two,
            }),
            (one, _) => one,
        };
    }
}

impl Numbers {
    fn of(array: Array<'_>) -> Self {
        match array.basic {
            Basic::F32 => Self::Single(array.floats().map(|value| value as f32).collect()),
            Basic::F64 => Self::Double(array.floats().collect()),
            basic => Self::Whole(basic, array.ints().collect()),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Whole(_, numbers) => numbers.is_empty(),
            Self::Single(numbers) => numbers.is_empty(),
            Self::Double(numbers) => numbers.is_empty(),
        }
    }

    /// Adds numbers of the same kind; `false` if they are not as many.
    fn add(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(basic, one), Self::Whole(_, two)) if one.len() == two.len() => {
                // ROOT's bins stop at what their type holds, on both sides alike.
                let most = match basic {
                    Basic::I8 => i64::from(i8::MAX),
                    Basic::I16 => i64::from(i16::MAX),
                    Basic::I32 => i64::from(i32::MAX),
                    _ => i64::MAX,
                };
                for (one, two) in one.iter_mut().zip(two) {
                    *one = one.saturating_add(*two).clamp(-most, most);
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

    /// As they are stored, behind their number.
    fn bytes(&self) -> Vec<u8> {
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

impl Axis {
    fn of(axis: Object<'_>) -> Result<Self> {
        let axis = axis.readable()?;
        let labels = axis.list("fLabels").flatten();
        let label = |label: Object<'_>| {
            (label.int("fUniqueID").unwrap_or(0), label.text("fString").unwrap_or_default())
        };
        Ok(Self {
            bins: axis.int("fNbins").unwrap_or(0),
            low: axis.float("fXmin").unwrap_or(0.0),
            high: axis.float("fXmax").unwrap_or(0.0),
            edges: axis.array("fXbins").map(|edges| edges.floats().collect()).unwrap_or_default(),
            labels: labels.map(label).collect(),
        })
    }

    fn text(&self) -> String {
        let edges = if self.edges.is_empty() { "" } else { " of several widths" };
        let labels = if self.labels.is_empty() { "" } else { " with labels" };
        format!("{} bins{edges} from {} to {}{labels}", self.bins, self.low, self.high)
    }
}

/// Arrays of a histogram with a number for each bin.
const ARRAYS: [&str; 10] = [
    "TArrayC",
    "TArrayS",
    "TArrayI",
    "TArrayL",
    "TArrayL64",
    "TArrayF",
    "TArrayD",
    "fSumw2",
    "fBinEntries",
    "fBinSumw2",
];
/// Sums over all entries.
const SCALARS: [&str; 16] = [
    "fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy", "fTsumwz",
    "fTsumwz2", "fTsumwxz", "fTsumwyz", "fTsumwt", "fTsumwt2", "fTsumwxt", "fTsumwyt",
];
