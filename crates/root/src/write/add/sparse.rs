//! Merging of histograms of any number of dimensions (`THn`, `THnSparse`).

use std::collections::HashMap;

use forthwith_plan::{Error, Result};

use super::stored::{stored, write_sums};
use crate::histogram::{axis, bin_array};
use crate::object::Object;
use crate::record::Cursor;
use crate::write::{Buffer, Edits};
use forthwith_hist::{Axis, BinArray};

/// A sum of histograms with equal axes.
#[derive(Debug)]
pub(super) struct NdHistogram {
    axes: Vec<Axis>,
    /// Sums over all entries.
    sums: Vec<(&'static str, f64)>,
    /// Sums over all entries for each axis.
    axis_sums: Vec<(&'static str, BinArray)>,
    /// Sum of the squared weights; negative if squares are not kept.
    squares: f64,
    bins: Bins,
}

#[derive(Debug)]
enum Bins {
    /// Contents of all bins (`THn`), and squared weights if they are kept.
    Dense { contents: Option<BinArray>, squares: Option<BinArray> },
    /// Contents of filled bins (`THnSparse`).
    Sparse(SparseBins),
}

/// The bins of a `THnSparse`.
#[derive(Debug, Default)]
struct SparseBins {
    /// Position of each bin, by its stored coordinates.
    positions: HashMap<Box<[u8]>, usize>,
    coordinates: Vec<u8>,
    /// Number of bytes of one bin's coordinates; 0 until there are bins.
    size: usize,
    contents: Option<BinArray>,
    squares: Vec<f64>,
    /// Class of the contents' array.
    array: String,
    version: i16,
    chunk: usize,
}

impl NdHistogram {
    /// Whether a class is a `THn` or a `THnSparse`.
    pub(super) fn adds(class: &str) -> bool {
        class.starts_with("THnT<") || class.starts_with(SPARSE)
    }

    pub(super) fn of(object: Object<'_>) -> Result<Self> {
        let class = object.class();
        let axes = object.list("fAxes").flatten().map(axis).collect::<Result<Vec<_>>>()?;
        if object.int("fNdimensions") != i64::try_from(axes.len()).ok() {
            let what =
                format!("a {class} of {:?} dimensions with {} axes", object.int("fNdimensions"), axes.len());
            return Err(Error::invalid(what));
        }
        let sum = |name| object.float(name).map(|value| (name, value));
        let axis_sum = |name| object.array(name).map(|values| (name, bin_array(values)));
        let squares = object.float("fTsumw2").unwrap_or(-1.0);
        let bins = if class.starts_with(SPARSE) {
            Bins::Sparse(SparseBins::of(object, squares >= 0.0)?)
        } else {
            let cells = axes.iter().map(Axis::cells).try_fold(1_usize, |all, n| all.checked_mul(n?));
            let numbers = |name: &'static str| {
                let Some(array) = object.object(name).and_then(|array| array.array("fData")) else {
                    return Err(
                        Error::unsupported(format!("adding objects of class {class}")).in_member(name)
                    );
                };
                let numbers = Some(bin_array(array)).filter(|numbers| !numbers.is_empty());
                match &numbers {
                    Some(found) if Some(found.len()) != cells => Err(Error::mismatch(
                        "number of bins",
                        cells.map_or(u64::MAX, |n| n as u64),
                        found.len(),
                    )
                    .in_member(name)),
                    _ => Ok(numbers),
                }
            };
            Bins::Dense { contents: numbers("fArray")?, squares: numbers("fSumw2")? }
        };
        Ok(Self {
            axes,
            sums: SUMS.into_iter().filter_map(sum).collect(),
            axis_sums: AXIS_SUMS.into_iter().filter_map(axis_sum).collect(),
            squares,
            bins,
        })
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        if self.axes.len() != other.axes.len() {
            let what =
                format!("merging histograms of {} and {} dimensions", self.axes.len(), other.axes.len());
            return Err(Error::unsupported(what));
        }
        for (number, (own, axis)) in self.axes.iter().zip(&other.axes).enumerate() {
            if !own.is_same(axis) {
                let what = format!(
                    "merging histograms of different binning: axis {number} has {}, that of the first {}",
                    axis.describe(),
                    own.describe()
                );
                return Err(Error::unsupported(what));
            }
        }
        let keeps = [self.squares >= 0.0, other.squares >= 0.0];
        match (&mut self.bins, other.bins) {
            (
                Bins::Dense { contents, squares },
                Bins::Dense { contents: more_contents, squares: more_squares },
            ) => {
                if keeps.contains(&true) {
                    let plain =
                        |has: bool, squares: Option<BinArray>, contents: &Option<BinArray>| match squares {
                            Some(squares) if has => Some(squares),
                            _ => contents.as_ref().map(|contents| BinArray::Double(contents.floats())),
                        };
                    *squares = plain(keeps[0], squares.take(), contents);
                    add(squares, plain(keeps[1], more_squares, &more_contents))?;
                }
                add(contents, more_contents)?;
            }
            (Bins::Sparse(own), Bins::Sparse(more)) => own.add(&more)?,
            _ => return Err(Error::unsupported("adding a THnSparse to a THn")),
        }
        for ((_, own), (_, more)) in self.sums.iter_mut().zip(&other.sums) {
            *own += more;
        }
        for ((name, own), (_, more)) in self.axis_sums.iter_mut().zip(&other.axis_sums) {
            if !own.add(more) {
                return Err(Error::mismatch("number of axes", own.len(), more.len()).in_member(name));
            }
        }
        if keeps.contains(&true) {
            self.squares = self.squares.max(0.0) + other.squares.max(0.0);
        }
        Ok(())
    }

    pub(super) fn write(&self, edits: &mut Edits<'_>, first: Object<'_>) -> Result<()> {
        write_sums(edits, first, &self.axis_sums, &self.sums)?;
        edits.float(first, "fTsumw2", self.squares)?;
        match &self.bins {
            Bins::Dense { contents, squares } => {
                for (name, values) in [("fArray", contents), ("fSumw2", squares)] {
                    if let (Some(values), Some(array)) = (values, first.object(name)) {
                        edits.vector(array, "fData", stored(values))?;
                    }
                }
                Ok(())
            }
            Bins::Sparse(filled) => filled.write(edits, first, self.squares >= 0.0),
        }
    }
}

fn add(own: &mut Option<BinArray>, more: Option<BinArray>) -> Result<()> {
    match (&mut *own, more) {
        (_, None) => Ok(()),
        (None, more) => {
            *own = more;
            Ok(())
        }
        // Equal axes have equal numbers of bins.
        (Some(own), Some(more)) => match own.add(&more) {
            true => Ok(()),
            false => Err(Error::unsupported("merging histograms whose bins have different types")),
        },
    }
}

impl SparseBins {
    fn of(object: Object<'_>, keeps_squares: bool) -> Result<Self> {
        let mut filled =
            Self { chunk: object.int("fChunkSize").unwrap_or(0).max(0) as usize, ..Self::default() };
        for chunk in object.list("fBinContent").flatten() {
            let wrong = |what: &str| {
                let what = format!("bins of a {}: {what}", object.class());
                Error::invalid(what).at_byte(chunk.range().start as u64)
            };
            let chunk = chunk.readable()?;
            let names: Vec<&str> = chunk.members().map(|(name, _)| name).collect();
            if chunk.class() != CHUNK || names != MEMBERS {
                return Err(Error::unsupported(format!(
                    "adding a {} with bins of another class version",
                    object.class()
                )));
            }
            let size = chunk.int("fSingleCoordinateSize").and_then(|size| usize::try_from(size).ok());
            let size = size.filter(|&size| size > 0).ok_or_else(|| wrong("coordinates without a size"))?;
            let coordinates = chunk.array("fCoordinates").map(|array| array.bytes).unwrap_or_default();
            let Some(array) = chunk.object("fContent") else { return Err(wrong("no contents")) };
            let contents = chunk.array("fContent").map(bin_array).ok_or_else(|| wrong("no contents"))?;
            let squares = if keeps_squares { chunk.array("fSumw2") } else { None };
            let count = coordinates.len() / size;
            let squares: Vec<f64> = match squares {
                Some(squares) => squares.floats().collect(),
                None => contents.floats(),
            };
            if coordinates.len() % size != 0 || contents.len() < count || squares.len() < count {
                return Err(wrong("coordinates, contents and squares have different numbers of bins"));
            }
            let more = Self {
                coordinates: coordinates.to_vec(),
                size,
                contents: Some(contents),
                squares,
                array: array.class().to_owned(),
                version: chunk.version(),
                ..Self::default()
            };
            filled.add(&more)?;
        }
        Ok(filled)
    }

    /// Adds the bins of another histogram, by their coordinates.
    fn add(&mut self, more: &Self) -> Result<()> {
        let Some(contents) = more.contents.as_ref().filter(|_| more.size > 0) else { return Ok(()) };
        if self.size == 0 {
            (self.size, self.version) = (more.size, more.version);
            self.array.clone_from(&more.array);
        }
        if self.size != more.size || self.array != more.array {
            let what = format!(
                "merging histograms whose coordinates have {} and {} bytes, in bins of {} and {}",
                self.size, more.size, self.array, more.array
            );
            return Err(Error::unsupported(what));
        }
        let position = |coordinates: &[u8]| {
            let next = self.positions.len();
            *self.positions.entry(coordinates.into()).or_insert_with(|| {
                self.coordinates.extend(coordinates);
                next
            })
        };
        let positions: Vec<usize> = more.coordinates.chunks_exact(self.size).map(position).collect();
        let count = self.positions.len();
        self.squares.resize(count, 0.0);
        positions.iter().zip(&more.squares).for_each(|(&at, square)| self.squares[at] += square);
        let own = self.contents.take().map_or_else(|| contents.zeros(count), |own| own.resized(count));
        let own = self.contents.insert(own);
        if !own.add_at(&positions, contents) {
            return Err(Error::unsupported("merging histograms whose bins have different types"));
        }
        Ok(())
    }

    fn write(&self, edits: &mut Edits<'_>, first: Object<'_>, keeps_squares: bool) -> Result<()> {
        let count = self.positions.len();
        edits.number(first, "fFilledBins", count as i64)?;
        let Some(contents) = self.contents.as_ref().filter(|_| count > 0) else { return Ok(()) };
        if !(1..=LARGEST_CHUNK).contains(&self.chunk) {
            return Err(
                Error::unsupported(format!("bins in chunks of {}", self.chunk)).in_member("fChunkSize")
            );
        }
        let Some((list, place)) = first.object("fBinContent").zip(first.place("fBinContent")) else {
            return Err(Error::unsupported(format!("adding objects of class {}", first.class())));
        };
        let mut cursor: Cursor<'_> = list.cursor()?;
        cursor.frame()?;
        let bits = cursor.tobject()?.bits;
        let (size, version, array) = (self.size, self.version, self.array.clone());
        let pieces = |at: usize| at * self.chunk..((at + 1) * self.chunk).min(count);
        let chunk = |at: usize| {
            let own = pieces(at);
            let squares = self.squares.get(own.clone()).unwrap_or_default().to_vec();
            (
                self.coordinates.get(own.start * size..own.end * size).unwrap_or_default().to_vec(),
                stored(&contents.part(own, self.chunk)),
                keeps_squares.then(|| stored(&BinArray::Double(squares).resized(self.chunk))),
            )
        };
        let chunks: Vec<_> = (0..count.div_ceil(self.chunk)).map(chunk).collect();
        edits.replace_with(place, move |buffer: &mut Buffer| {
            buffer.tobjarray(bits, chunks.len(), |buffer, at| {
                let (coordinates, contents, squares) = &chunks[at];
                buffer.object(CHUNK, |buffer| {
                    buffer.frame(version, |buffer| {
                        buffer.tobject(0, 0);
                        buffer.i32(size as i32);
                        buffer.count(coordinates.len());
                        buffer.u8(1);
                        buffer.extend(coordinates);
                        buffer.object(&array, |buffer| buffer.extend(contents));
                        match squares {
                            Some(squares) => drop(buffer.object("TArrayD", |buffer| buffer.extend(squares))),
                            None => buffer.null(),
                        }
                    });
                });
            });
        });
        Ok(())
    }
}

const SPARSE: &str = "THnSparseT<";
const CHUNK: &str = "THnSparseArrayChunk";
/// The members of a chunk of bins, in the order in which they are stored.
const MEMBERS: [&str; 7] =
    ["fUniqueID", "fBits", "fSingleCoordinateSize", "fCoordinatesSize", "fCoordinates", "fContent", "fSumw2"];
const SUMS: [&str; 2] = ["fEntries", "fTsumw"];
const AXIS_SUMS: [&str; 2] = ["fTsumwx", "fTsumwx2"];
/// Upper bound on bins of a chunk, which is allocated as a whole; ROOT's default is 16384.
const LARGEST_CHUNK: usize = 1 << 22;
