"""Histograms and profiles: their numbers as C++ ROOT has them, by the names that other Python packages expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import MissingPackageError, RequestError, UnsupportedError
from forthwith._objects import Object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    Numbers = np.ndarray[Any, Any]

# Arrays of more bins are made only of sparse histograms that ask for it.
_MOST_BINS = 1 << 28


class Axis(Object, Sequence):  # type: ignore[type-arg]
    """An axis: a sequence of bins, each a pair of edges, or a label where there are labels."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(self.member("fNbins"))

    def __getitem__(self, at: Any) -> Any:
        """The bin of a number, or the member of a name."""
        if isinstance(at, str):
            return self.member(at)
        labels = self.labels()
        if labels is not None:
            return labels[at]
        edges = self.edges()
        if isinstance(at, slice):
            return [self[bin] for bin in range(*at.indices(len(self)))]
        bin = range(len(self))[at]
        return float(edges[bin]), float(edges[bin + 1])

    def __iter__(self) -> Iterator[Any]:
        return (self[bin] for bin in range(len(self)))

    def __contains__(self, what: object) -> bool:
        return self.has_member(what) if isinstance(what, str) else what in list(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return NotImplemented
        return self is other or (np.array_equal(self.edges(), other.edges()) and self.labels() == other.labels())

    def __hash__(self) -> int:
        return hash((len(self), self.low, self.high))

    @property
    def low(self) -> float:
        """The lowest edge."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """The highest edge."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float | None:
        """The width of the bins if they all have the same."""
        return None if len(self.member("fXbins", ())) else (self.high - self.low) / len(self)

    @property
    def traits(self) -> _Traits:
        """What kind of axis it is, as packages for plotting ask it."""
        return _Traits(discrete=self.labels() is not None)

    def edges(self, flow: bool = False) -> Numbers:
        """The edges of the bins; with ``flow``, from minus to plus infinity."""
        stored = self.member("fXbins", None)
        if stored is not None and len(stored):
            edges = np.asarray(stored, dtype=np.float64)
        else:
            edges = np.linspace(self.low, self.high, len(self) + 1)
        return np.concatenate([[-np.inf], edges, [np.inf]]) if flow else edges

    def centers(self, flow: bool = False) -> Numbers:
        """The middle of each bin."""
        edges = self.edges(flow)
        return (edges[1:] + edges[:-1]) / 2

    def widths(self, flow: bool = False) -> Numbers:
        """The width of each bin."""
        return np.diff(self.edges(flow))

    def intervals(self, flow: bool = False) -> Numbers:
        """Both edges of each bin."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def labels(self, flow: bool = False) -> list[str] | None:
        """The labels of the bins, if it has any."""
        found = self.member("fLabels", None)
        if found is None or len(found) == 0:
            return None
        labels = [""] * len(self)
        for label in found:
            bin = label.member("fUniqueID", 0) - 1
            if 0 <= bin < len(labels):
                labels[bin] = str(label)
        return ["underflow", *labels, "overflow"] if flow else labels

    def to_boost(self) -> Any:
        """The axis as boost-histogram has it."""
        axis = _package("boost_histogram", "boost-histogram").axis
        labels = self.labels()
        if labels is not None and len(set(labels)) == len(labels):
            made = axis.StrCategory(labels)
        elif self.width is not None and self.low < self.high:
            made = axis.Regular(len(self), self.low, self.high, underflow=True, overflow=True)
        else:
            made = axis.Variable(self.edges(), underflow=True, overflow=True)
        made.name, made.title = self.name, self.title
        return made

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins from {self.low:g} to {self.high:g}>"


class _Traits:
    def __init__(self, discrete: bool) -> None:
        self.circular = False
        self.discrete = discrete

    def __repr__(self) -> str:
        return f"Traits(circular=False, discrete={self.discrete})"


class _Binned(Object):
    """What all histograms have."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"COUNT"``, or ``"MEAN"`` for profiles."""
        return "COUNT"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        raise NotImplementedError

    def axis(self, which: int | str = 0) -> Axis:
        """One axis: a number, or ``"x"``, ``"y"``, ``"z"``."""
        number = {"x": 0, "y": 1, "z": 2}.get(which, which) if isinstance(which, str) else which
        if not isinstance(number, int) or not -len(self.axes) <= number < len(self.axes):
            raise RequestError(f"no axis {which!r}: there are {len(self.axes)}")
        return self.axes[number]

    def values(self, flow: bool = False) -> Numbers:
        """The bin contents; with ``flow``, underflow first and overflow last in each dimension."""
        raise NotImplementedError

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of `errors`."""
        raise NotImplementedError

    def errors(self, flow: bool = False) -> Numbers:
        """The bin errors, as ``GetBinError`` has them."""
        found: Numbers = np.sqrt(self.variances(flow))
        return found

    def counts(self, flow: bool = False) -> Numbers:
        """The effective number of entries in each bin: contents squared over variances where there are weights."""
        values, variances = self.values(flow), self.variances(flow)
        return _over(values**2, variances, variances != 0)

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        raise NotImplementedError

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Contents and edges as ``numpy.histogram`` gives them; with ``dd``, as ``numpy.histogramdd``."""
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self) -> Any:
        """The histogram as boost-histogram has it."""
        bh = _package("boost_histogram", "boost-histogram")
        storage = bh.storage.Weight() if self.weighted else bh.storage.Double()
        made = bh.Histogram(*(axis.to_boost() for axis in self.axes), storage=storage)
        made.name, made.title = self.name, self.title
        values, variances = self.values(True), self.variances(True)
        cut = self._without_missing_flow(made)
        view = made.view(flow=True)
        if self.weighted:
            view.value, view.variance = values[cut], variances[cut]
        else:
            view[...] = values[cut]
        return made

    def _without_missing_flow(self, made: Any) -> tuple[slice, ...]:
        """Where axes of labels have no bin below the first."""
        return tuple(slice(0 if axis.traits.underflow else 1, None) for axis in made.axes)

    def to_hist(self) -> Any:
        """The histogram as hist has it."""
        return _package("hist").Hist(self.to_boost())

    def show(self, width: int = 60, rows: int = 40, file: TextIO | None = None) -> None:
        """Prints a drawing. Of several dimensions, the sums along the first."""
        import sys

        (sys.stdout if file is None else file).write("\n".join(self._drawing(width, rows)) + "\n")

    def _drawing(self, width: int, rows: int) -> list[str]:
        values = self.values().astype(np.float64)
        if values.ndim > 1 and self.kind == "COUNT":
            values = values.sum(axis=tuple(range(1, values.ndim)))
        elif values.ndim > 1:
            return [repr(self), f"  {values.size} bins from {np.nanmin(values):g} to {np.nanmax(values):g}"]
        axis, together = self.axes[0], max(1, -(-len(values) // max(1, rows)))
        edges, labels = axis.edges(), axis.labels()
        shown = [values[at : at + together] for at in range(0, len(values), together)]
        sums = [float(part.sum() if self.kind == "COUNT" else part.mean()) for part in shown]
        finite = [value for value in sums if np.isfinite(value)]
        most, least = max([*finite, 0.0]), min([*finite, 0.0])
        names = [
            labels[at * together] if labels and together == 1 else f"{edges[at * together]:g}"
            for at in range(len(sums))
        ]
        left, right = max(map(len, names), default=1), max((len(f"{value:g}") for value in sums), default=1)
        lines = [repr(self)]
        for name, value in zip(names, sums, strict=True):
            share = (value - least) / (most - least) if most > least and np.isfinite(value) else 0.0
            eighths = round(share * width * 8)
            bar = "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")
            lines.append(f"{name:>{left}} │ {value:>{right}g} │{bar}")
        return lines

    def _repr_html_(self) -> str:
        from html import escape

        values = self.values().astype(np.float64)
        if values.ndim > 1:
            values = values.sum(axis=tuple(range(1, values.ndim))) if self.kind == "COUNT" else values.ravel()
        values = np.nan_to_num(values)[:2000]
        most, least = max(values.max(initial=0), 0), min(values.min(initial=0), 0)
        span, step = (most - least) or 1, 600 / max(1, len(values))
        bars = "".join(
            f'<rect x="{at * step:.2f}" y="{160 * (most - max(value, 0)) / span:.2f}" width="{step:.2f}" '
            f'height="{160 * abs(value) / span:.2f}"/>'
            for at, value in enumerate(values.tolist())
        )
        picture = f'<svg viewBox="0 0 600 160" width="600" height="160" fill="#3572a5">{bars}</svg>'
        return f"<p>{escape(repr(self))}</p><p>{escape(self.title)}</p>{picture}"

    def __repr__(self) -> str:
        shape = " × ".join(str(len(axis)) for axis in self.axes)  # noqa: RUF001
        return f"<{self.classname} {self.name!r} of {shape} bins>"


class Histogram(_Binned):
    """A ``TH1``, ``TH2`` or ``TH3`` of any kind of numbers."""

    __slots__ = ()

    @property
    def _dimensions(self) -> int:
        found = [self.classname, *(base.classname for base in self.bases)]
        if "TH3" in found or "TProfile3D" in found:
            return 3
        return 2 if "TH2" in found or "TProfile2D" in found else 1

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return tuple(self.member(name) for name in ("fXaxis", "fYaxis", "fZaxis")[: self._dimensions])

    @property
    def _contents(self) -> Numbers:
        for name in ("TArrayD", "TArrayF", "TArrayI", "TArrayS", "TArrayC", "TArrayL64", "TArrayL"):
            found = self.member(name, None)
            if found is not None:
                return np.asarray(found)
        raise UnsupportedError(f"a histogram without contents: {self.classname}")

    def _shaped(self, flat: Any, flow: bool) -> Numbers:
        """Bins in the order of ROOT, where the first axis runs fastest."""
        shape = tuple(len(axis) + 2 for axis in reversed(self.axes))
        flat = np.asarray(flat)
        if len(flat) != int(np.prod(shape)):
            raise UnsupportedError(f"{self!r} has {len(flat)} numbers for {int(np.prod(shape))} bins")
        # Turned, as one piece of memory.
        turned = np.ascontiguousarray(flat.reshape(shape).T)
        return turned if flow else turned[(slice(1, -1),) * turned.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        return len(self.member("fSumw2", ())) > 0

    def values(self, flow: bool = False) -> Numbers:
        """The bin contents; with ``flow``, underflow first and overflow last in each dimension."""
        return self._shaped(self._contents, flow)

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of the bin errors."""
        stored = self.member("fSumw2", ())
        if len(stored):
            return self._shaped(stored, flow)
        return np.abs(self.values(flow).astype(np.float64))


class Profile(Histogram):
    """A ``TProfile``, ``TProfile2D`` or ``TProfile3D``: the means of what fell into each bin."""

    __slots__ = ()

    _MODES = ("", "s", "i", "g")

    @property
    def kind(self) -> str:
        """``"MEAN"``."""
        return "MEAN"

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        return len(self.member("fBinSumw2", ())) > 0

    @property
    def error_mode(self) -> str:
        """What the errors are: ``""``, ``"s"``, ``"i"`` or ``"g"``, as ROOT calls them."""
        return self._MODES[int(self.member("fErrorMode", 0))]

    def values(self, flow: bool = False) -> Numbers:
        """The means, as ``GetBinContent`` has them."""
        return self._shaped(self._means(), flow)

    def _means(self) -> Numbers:
        sums = np.asarray(self.member("fBinEntries"), dtype=np.float64)
        contents = np.asarray(self._contents, dtype=np.float64)
        return _over(contents, sums, sums != 0)

    def _effective(self) -> Numbers:
        sums = np.asarray(self.member("fBinEntries"), dtype=np.float64)
        squares = np.asarray(self.member("fBinSumw2", ()), dtype=np.float64)
        if len(squares) != len(sums):
            return sums
        return _over(sums**2, squares, squares > 0)

    def counts(self, flow: bool = False) -> Numbers:
        """The effective number of entries, as ``GetBinEffectiveEntries`` has it."""
        return self._shaped(self._effective(), flow)

    def errors(self, flow: bool = False, error_mode: str | None = None) -> Numbers:
        """The errors, as ``GetBinError`` has them.

        Args:
            flow: Whether to have underflow and overflow.
            error_mode: ``""`` the error of the mean, ``"s"`` the spread, ``"i"`` the error of the mean of whole numbers,
                ``"g"`` of numbers with weights that are one over their variances. Not given, as the profile says.
        """
        mode = self.error_mode if error_mode is None else error_mode
        if mode not in self._MODES:
            raise RequestError(f"error_mode must be one of {self._MODES}, not {error_mode!r}")
        return self._shaped(self._errors(mode), flow)

    def _errors(self, mode: str) -> Numbers:
        sums = np.asarray(self.member("fBinEntries"), dtype=np.float64)
        squares = np.asarray(self.member("fSumw2"), dtype=np.float64)
        filled = sums != 0
        with np.errstate(divide="ignore", invalid="ignore"):
            if mode == "g":
                found = 1.0 / np.sqrt(sums)
            else:
                spread = np.sqrt(np.abs(squares / sums - self._means() ** 2))
                effective = self._effective()
                if mode == "s":
                    found = spread
                elif mode == "i":
                    found = np.where(spread != 0, spread / np.sqrt(effective), 1.0 / np.sqrt(12 * effective))
                else:
                    found = spread / np.sqrt(effective)
        return np.where(filled, found, 0.0)

    def variances(self, flow: bool = False, error_mode: str | None = None) -> Numbers:
        """The squares of `errors`."""
        found: Numbers = np.square(self.errors(flow, error_mode))
        return found

    def to_boost(self) -> Any:
        """The profile as boost-histogram has it: the storage keeps means."""
        bh = _package("boost_histogram", "boost-histogram")
        storage = bh.storage.WeightedMean() if self.weighted else bh.storage.Mean()
        made = bh.Histogram(*(axis.to_boost() for axis in self.axes), storage=storage)
        made.name, made.title = self.name, self.title
        cut, view = self._without_missing_flow(made), made.view(flow=True)
        sums = self._shaped(self.member("fBinEntries"), True)[cut].astype(np.float64)
        spread = self.errors(True, "s")[cut] ** 2
        view.value = self.values(True)[cut]
        if self.weighted:
            view.sum_of_weights = sums
            view.sum_of_weights_squared = self._shaped(self.member("fBinSumw2"), True)[cut]
            view["_sum_of_weighted_deltas_squared"] = spread * sums
        else:
            view.count = sums
            view["_sum_of_deltas_squared"] = spread * sums
        return made


class PolygonHistogram(Object):
    """A ``TH2Poly``: bins of any shape."""

    __slots__ = ()

    kind = "COUNT"

    @property
    def _bins(self) -> list[Object]:
        return list(self.member("fBins"))

    def values(self) -> Numbers:
        """The contents of the bins, in the order of their numbers."""
        return np.array([bin.member("fContent") for bin in self._bins], dtype=np.float64)

    def variances(self) -> Numbers:
        """The squares of the bin errors."""
        stored = self.member("fSumw2", ())
        values = self.values()
        # Nine regions outside come first, or, in old files, none.
        for skip in (9, 1, 0):
            if len(stored) == len(values) + skip:
                return np.asarray(stored, dtype=np.float64)[skip:]
        return np.abs(values)

    def overflow(self) -> Numbers:
        """The contents of the nine regions outside, row by row, the middle being what no bin covers."""
        return np.asarray(self.member("fOverflow"), dtype=np.float64)

    def numbers(self) -> Numbers:
        """The numbers of the bins, from 1."""
        return np.array([bin.member("fNumber") for bin in self._bins], dtype=np.int64)

    def areas(self) -> Numbers:
        """The areas of the bins, where they were asked for before the file was written."""
        return np.array([bin.member("fArea") for bin in self._bins], dtype=np.float64)

    def polygons(self) -> list[list[tuple[Numbers, Numbers]]]:
        """The outlines of the bins: each has one or more, as coordinates in x and in y."""
        out = []
        for bin in self._bins:
            shape = bin.member("fPoly")
            parts = list(shape.member("fGraphs")) if shape.has_member("fGraphs") else [shape]
            out.append([(part.member("fX"), part.member("fY")) for part in parts])
        return out

    def __len__(self) -> int:
        return len(self._bins)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins>"


class Efficiency(Object):
    """A ``TEfficiency``: how many of those that fell into a bin passed."""

    __slots__ = ()

    kind = "MEAN"

    @property
    def total(self) -> Histogram:
        """All."""
        found: Histogram = self.member("fTotalHistogram")
        return found

    @property
    def passed(self) -> Histogram:
        """Those that passed."""
        found: Histogram = self.member("fPassedHistogram")
        return found

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.total.axes

    def counts(self, flow: bool = False) -> Numbers:
        """How many there were."""
        return self.total.values(flow)

    def values(self, flow: bool = False) -> Numbers:
        """The efficiencies, as ``GetEfficiency`` has them.

        Raises:
            UnsupportedError: They are Bayesian with a prior for each bin.
        """
        total = self.total.values(flow).astype(np.float64)
        passed = self.passed.values(flow).astype(np.float64)
        bits = int(self.member("fBits"))
        if not bits & _BAYESIAN:
            return _over(passed, total, total != 0)
        if bits & _BIN_PRIORS:
            raise UnsupportedError(f"{self!r} has a prior for each bin")
        if bits & _WEIGHTS:
            # As many entries as the weights are worth.
            squares = self.total.variances(flow)
            worth = np.where(squares > 0, _over(total, squares, squares > 0), 1.0)
            passed, total = passed * worth, total * worth
        a = passed + self.member("fBeta_alpha")
        b = total - passed + self.member("fBeta_beta")
        if not bits & _POSTERIOR_MODE:
            return _over(a, a + b, a + b > 0)
        edge = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))
        inside = (a > 1) & (b > 1)
        return np.where((a <= 0) | (b <= 0), 0.0, np.where(inside, _over(a - 1, a + b - 2, inside), edge))

    def variances(self, flow: bool = False) -> Numbers:
        """Those of the normal approximation. The intervals that ROOT draws are not made here."""
        total, values = self.total.values(flow).astype(np.float64), self.values(flow)
        return _over(values * (1 - values), total, total != 0)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {' × '.join(str(len(axis)) for axis in self.axes)} bins>"  # noqa: RUF001


class _Many(_Binned):
    """Histograms of any number of dimensions."""

    __slots__ = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return tuple(self.member("fAxes"))

    @property
    def entries(self) -> float:
        """How often it was filled."""
        return float(self.member("fEntries"))


class DenseHistogram(_Many):
    """A ``THnT``."""

    __slots__ = ()

    def _filled(self, array: Object, flow: bool) -> Numbers:
        shape = tuple(len(axis) + 2 for axis in self.axes)
        data = array.member("fData", None)
        if data is None or len(data) == 0:
            # Nothing was ever filled.
            _few(shape)
            data = np.zeros(int(np.prod(shape)))
        if len(data) != int(np.prod(shape)):
            raise UnsupportedError(f"{self!r} has {len(data)} numbers for {int(np.prod(shape))} bins")
        shaped = np.asarray(data).reshape(shape)
        return shaped if flow else shaped[(slice(1, -1),) * shaped.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        data = self.member("fSumw2").member("fData", None)
        return data is not None and len(data) > 0

    def values(self, flow: bool = False) -> Numbers:
        """The bin contents; with ``flow``, underflow first and overflow last in each dimension."""
        return self._filled(self.member("fArray"), flow)

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of the bin errors."""
        if self.weighted:
            return self._filled(self.member("fSumw2"), flow)
        return np.abs(self.values(flow).astype(np.float64))


class SparseHistogram(_Many):
    """A ``THnSparse``: only bins that were filled are stored."""

    __slots__ = ()

    def sparse(self) -> tuple[Numbers, Numbers, Numbers]:
        """What is stored: bin numbers (one row for each filled bin; 0 is the underflow), contents, variances."""
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

    def _dense(self, numbers: Numbers, coordinates: Numbers, flow: bool) -> Numbers:
        shape = tuple(len(axis) + 2 for axis in self.axes)
        _few(shape)
        if len(coordinates) and (coordinates >= np.array(shape)).any():
            raise UnsupportedError(f"{self!r} has contents outside of its axes")
        out = np.zeros(shape, dtype=numbers.dtype)
        out[tuple(coordinates.T)] = numbers
        return out if flow else out[(slice(1, -1),) * out.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        squares = [chunk.member("fSumw2", None) for chunk in self.member("fBinContent")]
        return any(found is not None and len(found) for found in squares)

    def values(self, flow: bool = False) -> Numbers:
        """The bin contents as an array of all bins, unless that would be out of proportion: see `sparse`."""
        coordinates, values, _ = self.sparse()
        return self._dense(values, coordinates, flow)

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of the bin errors, likewise."""
        coordinates, _, variances = self.sparse()
        return self._dense(variances, coordinates, flow)


def _over(top: Numbers, bottom: Numbers, where: Numbers) -> Numbers:
    """A quotient, and 0 where there is none."""
    out: Numbers = np.zeros(bottom.shape)
    np.divide(top, bottom, out=out, where=where)
    return out


def _few(shape: tuple[int, ...]) -> None:
    bins = 1
    for length in shape:
        bins *= length
    if bins > _MOST_BINS:
        raise RequestError(f"an array of {bins} bins: the contents that are stored are had with sparse()")


def _package(name: str, distribution: str | None = None) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingPackageError(
            f"this needs the package {name}, which is not installed: pip install {distribution or name}"
        ) from missing


_BAYESIAN = 1 << 14
_POSTERIOR_MODE = 1 << 15
_BIN_PRIORS = 1 << 17
_WEIGHTS = 1 << 18
