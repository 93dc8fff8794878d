"""Histograms of any number of dimensions, dense and sparse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError, UnsupportedError
from forthwith._guard import guarded
from forthwith.hist.histograms import Binned
from forthwith.hist.made import many

if TYPE_CHECKING:
    from forthwith._objects import Object
    from forthwith.hist.axis import Axis, Numbers
    from forthwith.hist.indexing import Chosen

# Maximum number of bins of arrays of sparse histograms.
_MOST_BINS = 1 << 24


@guarded
class Many(Binned):
    """Base of histograms with any number of dimensions."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return tuple(self.member("fAxes"))

    @property
    def entries(self) -> float:
        """Number of entries, as filled."""
        return float(self.member("fEntries"))

    def _gathered(self, picks: list[Chosen]) -> tuple[Numbers, Numbers | None]:
        """Returns contents, and sums of squared weights if stored, of the selected bins."""
        raise NotImplementedError

    def _some(self, picks: list[Chosen]) -> Any:
        contents, squares = self._gathered(picks)
        kept = tuple(slice(None) if pick.axis is not None else 0 for pick in picks)
        contents, squares = contents[kept], None if squares is None else squares[kept]
        axes = [pick.axis for pick in picks if pick.axis is not None]
        if not axes:
            return float(contents)
        if all(pick.whole for pick in picks):
            entries = self.entries
        else:
            # The entries of these bins are unknown, so this is their effective number.
            total, square = float(contents.sum()), 0.0 if squares is None else float(squares.sum())
            entries = total**2 / square if square > 0 else abs(total)
        return many(DenseHistogram, self, axes, contents, squares, entries)


@guarded
class DenseHistogram(Many):
    """A ``THnT``."""

    __slots__ = ()

    def _filled(self, array: Object, flow: bool) -> Numbers:
        shape = tuple(len(axis) + 2 for axis in self.axes)
        data = array.member("fData", None)
        if data is None or len(data) == 0:
            # The histogram was never filled.
            _few(shape)
            data = np.zeros(math.prod(shape))
        if len(data) != math.prod(shape):
            raise UnsupportedError(f"{self!r} has {len(data)} numbers for {math.prod(shape)} bins")
        shaped = np.asarray(data).reshape(shape)
        return shaped if flow else shaped[(slice(1, -1),) * shaped.ndim]

    def _gathered(self, picks: list[Chosen]) -> tuple[Numbers, Numbers | None]:
        found = [self.values(True), self.variances(True)] if self.weighted else [self.values(True)]
        for number, sums in enumerate(found):
            gathered = sums.astype(np.float64)
            for at, pick in enumerate(picks):
                gathered = pick.gathered(gathered, at)
            found[number] = gathered
        return found[0], found[1] if len(found) > 1 else None

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        data = self.member("fSumw2").member("fData", None)
        return data is not None and len(data) > 0

    def values(self, flow: bool = False) -> Numbers:
        """Returns the bin contents; with ``flow``, including underflow and overflow bins."""
        return self._filled(self.member("fArray"), flow)

    def variances(self, flow: bool = False) -> Numbers:
        """Returns the squared bin errors."""
        if self.weighted:
            return self._filled(self.member("fSumw2"), flow)
        return np.abs(self.values(flow).astype(np.float64))


@guarded
class SparseHistogram(Many):
    """A ``THnSparse``, which stores only filled bins."""

    __slots__ = ()

    def sparse(self) -> tuple[Numbers, Numbers, Numbers]:
        """Returns bin numbers (a row for each bin; 0 is underflow), contents and variances."""
        bits = [max(1, (len(axis) + 2).bit_length()) for axis in self.axes]
        begins = np.concatenate([[0], np.cumsum(bits)])
        coordinates, values, variances = [], [], []
        for chunk in self.member("fBinContent"):
            size = int(chunk.member("fSingleCoordinateSize"))
            packed = chunk.member("fCoordinates")
            if packed is None or size <= 0:
                continue
            if 8 * size < begins[-1]:
                raise UnsupportedError(f"{self!r} has {size} bytes for {begins[-1]} bits of bin numbers")
            rows = np.asarray(packed).view(np.uint8)
            rows = rows[: len(rows) // size * size].reshape(-1, size)
            unpacked = np.unpackbits(rows, axis=1, bitorder="little")
            numbers = np.zeros((len(rows), len(bits)), dtype=np.int64)
            for axis, (begin, count) in enumerate(zip(begins[:-1].tolist(), bits, strict=True)):
                part = unpacked[:, begin : begin + count].astype(np.int64)
                numbers[:, axis] = part @ (1 << np.arange(count, dtype=np.int64))
            contents = chunk.member("fContent")
            squares = chunk.member("fSumw2", None)
            coordinates.append(numbers)
            values.append(np.asarray(contents)[: len(rows)])
            if squares is None or len(squares) == 0:
                variances.append(np.abs(values[-1].astype(np.float64)))
            else:
                variances.append(np.asarray(squares)[: len(rows)])
        if not coordinates:
            return np.zeros((0, len(bits)), dtype=np.int64), np.zeros(0), np.zeros(0)
        return np.concatenate(coordinates), np.concatenate(values), np.concatenate(variances)

    def _check(self, coordinates: Numbers) -> None:
        if len(coordinates) and (coordinates >= np.array([len(axis) + 2 for axis in self.axes])).any():
            raise UnsupportedError(f"{self!r} has contents outside of its axes")

    def _gathered(self, picks: list[Chosen]) -> tuple[Numbers, Numbers | None]:
        shape = tuple(1 if pick.axis is None else len(pick.axis) + 2 for pick in picks)
        _few(shape)
        coordinates, values, variances = self.sparse()
        self._check(coordinates)
        to = np.stack([pick.to[column] for pick, column in zip(picks, coordinates.T, strict=True)])
        kept = (to >= 0).all(axis=0)
        sums = [np.zeros(shape), np.zeros(shape)]
        for out, numbers in zip(sums, (values, variances), strict=True):
            np.add.at(out, tuple(to[:, kept]), numbers[kept])
        return sums[0], sums[1] if self.weighted else None

    def _dense(self, numbers: Numbers, coordinates: Numbers, flow: bool) -> Numbers:
        shape = tuple(len(axis) + 2 for axis in self.axes)
        _few(shape)
        self._check(coordinates)
        out = np.zeros(shape, dtype=numbers.dtype)
        out[tuple(coordinates.T)] = numbers
        return out if flow else out[(slice(1, -1),) * out.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        squares = [chunk.member("fSumw2", None) for chunk in self.member("fBinContent")]
        return any(found is not None and len(found) for found in squares)

    def values(self, flow: bool = False) -> Numbers:
        """Returns the bin contents as an array of all bins, up to a maximum size: see `sparse`."""
        coordinates, values, _ = self.sparse()
        return self._dense(values, coordinates, flow)

    def variances(self, flow: bool = False) -> Numbers:
        """Returns the squared bin errors as an array of all bins, up to a maximum size: see `sparse`."""
        coordinates, _, variances = self.sparse()
        return self._dense(variances, coordinates, flow)


def _few(shape: tuple[int, ...]) -> None:
    bins = math.prod(shape)
    if bins > _MOST_BINS:
        raise RequestError(f"an array of {bins} bins: the contents that are stored are had with sparse()")
