"""Histograms and profiles: their numbers as C++ ROOT has them, by the names that other Python packages expect."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError, UnsupportedError
from forthwith._guard import guarded
from forthwith._packages import package as _package
from forthwith.hist.arithmetic import added, scaled
from forthwith.hist.axis import Axis
from forthwith.hist.buffered import buffered_sums, filled, is_buffered, ranged
from forthwith.hist.drawing import Plotted
from forthwith.hist.made import made_axis, projected
from forthwith.hist.statistics import deviation, mean

if TYPE_CHECKING:
    from forthwith.hist.axis import Numbers
    from forthwith.hist.indexing import Chosen


@guarded
class Binned(Plotted):
    """The methods that all histograms have."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"COUNT"``, or ``"MEAN"`` for profiles."""
        return "COUNT"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        raise NotImplementedError

    def errors(self, flow: bool = False) -> Numbers:
        """The bin errors, as ``GetBinError`` gives them: an array of ``float64`` in the shape of `values`."""
        return super().errors(flow)

    def counts(self, flow: bool = False) -> Numbers:
        """The effective number of entries in each bin, as an array; with weights, values squared over variances."""
        values, variances = self.values(flow), self.variances(flow)
        # Squares of whole numbers may be larger than their type.
        return over(values.astype("f8") ** 2, variances, variances != 0)

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        raise NotImplementedError

    def to_boost(self) -> Any:
        """The histogram as a ``boost_histogram.Histogram``. Contents that are whole numbers stay whole numbers."""
        bh = _package("boost_histogram")
        # First, since there may be too many bins for arrays.
        values, variances = self.values(True), self.variances(True)
        plain = bh.storage.Int64() if values.dtype.kind in "iu" else bh.storage.Double()
        made, cut = self._made(bh.storage.Weight() if self.weighted else plain)
        view = made.view(flow=True)
        if self.weighted:
            view.value, view.variance = values[cut], variances[cut]
        else:
            view[...] = values[cut]
        return made


@guarded
class Histogram(Binned):
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
        """The axes, x first. Ranges that the file leaves open are found from the entries."""
        return ranged(self, self._given_axes)

    @property
    def _given_axes(self) -> tuple[Axis, ...]:
        """The axes as they are in the file."""
        return tuple(self.member(name) for name in ("fXaxis", "fYaxis", "fZaxis")[: self._dimensions])

    def _stored(self, name: str) -> Numbers:
        """``"contents"``, or the sums of a name (``"fSumw2"``), of all bins, without buffered entries."""
        if name != "contents":
            return np.asarray(self.member(name, ()))
        for array in ("TArrayD", "TArrayF", "TArrayI", "TArrayS", "TArrayC", "TArrayL64", "TArrayL"):
            found = self.member(array, None)
            if found is not None:
                return np.asarray(found)
        raise UnsupportedError(f"a histogram without contents: {self.classname}")

    def _numbers(self, name: str) -> Numbers:
        return filled(self, name, self._stored(name))

    @property
    def _contents(self) -> Numbers:
        return self._numbers("contents")

    def _shaped(self, flat: Any, flow: bool) -> Numbers:
        """Bins in the order of ROOT, where the first axis runs fastest."""
        shape = tuple(len(axis) + 2 for axis in reversed(self.axes))
        flat = np.asarray(flat)
        if flat.ndim != 1 or len(flat) != math.prod(shape):
            raise UnsupportedError(f"{self!r} has {flat.size} numbers for {math.prod(shape)} bins")
        # Turned, as one piece of memory.
        turned = np.ascontiguousarray(flat.reshape(shape).T)
        return turned if flow else turned[(slice(1, -1),) * turned.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        return len(self._numbers("fSumw2")) > 0

    def values(self, flow: bool = False) -> Numbers:
        """The bin contents, in the number type in which the file stores them.

        The array has one dimension for each axis, x first, with the length of that axis; with ``flow`` it is two longer, since
        underflow comes first and overflow last.
        """
        return self._shaped(self._contents, flow)

    @property
    def entries(self) -> float:
        """How often the histogram was filled, as ``GetEntries`` gives it once the bins were read."""
        return buffered_sums(self)["fEntries"] if is_buffered(self) else float(self.member("fEntries"))

    def mean(self, axis: int | str = 0) -> float:
        """The mean along an axis, as ``GetMean`` gives it, in the units of the axis.

        It is the mean of the entries if the file has their sums, and otherwise that of the bins.

        Args:
            axis: The number of the axis, or ``"x"``, ``"y"``, ``"z"``.
        """
        return mean(self, self._number_of(axis))

    def std(self, axis: int | str = 0) -> float:
        """The standard deviation along an axis, as ``GetStdDev`` gives it, in the units of the axis; see `mean`."""
        return deviation(self, self._number_of(axis))

    def integral(self, flow: bool = False, width: bool = False) -> float:
        """The sum of the bin contents, as ``Integral`` gives it.

        Args:
            flow: Whether underflow and overflow count, too.
            width: Whether contents are multiplied by the widths of their bins. Not with ``flow``, whose bins have no width.
        """
        values = self._summands(flow)
        if width:
            if flow:
                raise RequestError("underflow and overflow have no width: integral(width=True) cannot include flow")
            for at, axis in enumerate(self.axes):
                values = values * axis.widths().reshape([-1 if at == one else 1 for one in range(values.ndim)])
        return float(values.sum())

    def _number_of(self, axis: int | str) -> int:
        self.axis(axis)
        return {"x": 0, "y": 1, "z": 2}[axis] if isinstance(axis, str) else axis

    # The sums that bins have beside their contents.
    _SUMS: tuple[str, ...] = ("fSumw2",)

    def _some(self, picks: list[Chosen]) -> Any:
        sums = {}
        for name in ("contents", *self._SUMS):
            numbers = self._numbers(name)
            if name != "contents" and len(numbers) == 0:
                sums[name] = numbers
                continue
            shaped = self._shaped(numbers, True).astype(np.float64)
            for at, pick in enumerate(picks):
                shaped = pick.gathered(shaped, at)
            kept = tuple(slice(None) if pick.axis is not None else 0 for pick in picks)
            sums[name] = np.ascontiguousarray(shaped[kept].T).ravel()
        axes = [pick.axis for pick in picks if pick.axis is not None]
        contents = sums.pop("contents")
        if not axes:
            return self._of_sums(float(contents[0]), {name: found[:1] for name, found in sums.items()})
        letters = zip("XYZ", axes, strict=False)
        named = [
            made_axis(axis, f"{letter.lower()}axis", axis.edges(), axis.labels(), axis.title)
            for letter, axis in letters
        ]
        members: dict[str, Any] = {**sums, "fBuffer": np.zeros(0), "fBufferSize": 0}
        if len(axes) < len(picks) or not all(pick.whole for pick in picks) or is_buffered(self):
            # Those of entries were of others, too: they are found from the bins.
            members |= {name: 0.0 for name in self.member_names if name.startswith("fTsumw")}
            weights = sums.get("fBinEntries", contents)
            squares = sums.get("fBinSumw2" if "fBinEntries" in sums else "fSumw2", np.zeros(0))
            total, square = float(weights.sum()), float(squares.sum())
            members["fEntries"] = total**2 / square if square > 0 else abs(total)
        return projected(self, named, contents, members)

    def _of_sums(self, content: float, sums: dict[str, Numbers]) -> float:
        """The value of one bin with these sums."""
        return content

    def __add__(self, other: Any) -> Any:
        """The sum of two histograms of the same axes, as ``TH1::Add`` makes it: contents, errors, entries and statistics."""
        if isinstance(other, (int, float)) and other == 0:
            return self  # sum() begins with it
        return added(self, other, 1.0) if isinstance(other, Histogram) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """The difference of two histograms of the same axes, as ``TH1::Add`` with -1 makes it."""
        return added(self, other, -1.0) if isinstance(other, Histogram) else NotImplemented

    def __mul__(self, factor: Any) -> Any:
        """The histogram times a number, as ``TH1::Scale`` makes it."""
        return scaled(self, _finite(self, factor)) if _is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Any:
        """The histogram divided by a number: scaled by one over it."""
        if not _is_number(factor):
            return NotImplemented
        if factor == 0:
            raise RequestError(f"{self!r} cannot be divided by 0")
        inverse = 1 / _finite(self, factor)
        if math.isinf(inverse):
            raise RequestError(f"{self!r} cannot be divided by {factor!r}: one over it is beyond the largest float")
        return scaled(self, inverse)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's numbers in sums and products are as Python's; any other function takes the values of the bins."""
        operation = _OPERATIONS.get(ufunc.__name__)
        numbers = all(isinstance(given, Histogram) or np.ndim(given) == 0 for given in inputs)
        if operation is not None and method == "__call__" and not options and numbers:
            return operation(*(given if isinstance(given, Histogram) else np.asarray(given).item() for given in inputs))
        values = [np.asarray(given) if isinstance(given, Histogram) else given for given in inputs]
        return getattr(ufunc, method)(*values, **options)

    def __neg__(self) -> Any:
        """The histogram times -1."""
        return scaled(self, -1.0)

    def _summands(self, flow: bool) -> Numbers:
        """The weight of each bin in the integral."""
        return self.values(flow).astype(np.float64)

    def _weights(self, flow: bool) -> Numbers:
        """The weight of each bin in means."""
        return self.values(flow).astype(np.float64)

    def _bin_squares(self) -> Numbers:
        """The sums of squares of weights of all bins, as ``GetStats`` takes them.

        Where they were not kept, these are the contents: of two dimensions as they are, else as errors make them.
        """
        if self._dimensions == 2:
            return self.variances(True) if self.weighted else self._weights(True)
        variances = self.variances(True)
        return np.where(variances < 0, np.nan, variances)

    def _words(self) -> list[str]:
        words = [f"entries {self.entries:g}"]
        for at, letter in enumerate("xyz"[: len(self.axes)]):
            of = f" {letter}" if len(self.axes) > 1 else ""
            words += [f"mean{of} {self.mean(at):.4g}", f"std{of} {self.std(at):.4g}"]
        return words

    def _drawn_errors(self) -> Numbers | None:
        return self.errors() if self.weighted or self.kind == "MEAN" else None

    def _value_title(self) -> str:
        found = self.member("fYaxis", None)
        return found.title if isinstance(found, Axis) else ""

    def _squares(self, flow: bool) -> Numbers:
        """The sums of squares of weights; zeros if they were not kept."""
        stored = self._numbers("fSumw2")
        return self._shaped(stored, flow) if len(stored) else np.zeros(self.values(flow).shape)

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of the bin errors: an array of ``float64`` in the shape of `values`."""
        stored = self._numbers("fSumw2")
        if len(stored):
            return self._shaped(stored, flow)
        return np.abs(self.values(flow).astype(np.float64))


@guarded
class Profile(Histogram):
    """A ``TProfile``, ``TProfile2D`` or ``TProfile3D``: the means of what fell into each bin."""

    __slots__ = ()

    _MODES = ("", "s", "i", "g")
    _SUMS = ("fSumw2", "fBinEntries", "fBinSumw2")

    def _of_sums(self, content: float, sums: dict[str, Numbers]) -> float:
        weights = float(sums["fBinEntries"][0])
        return content / weights if weights else 0.0

    @property
    def kind(self) -> str:
        """``"MEAN"``."""
        return "MEAN"

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights were kept."""
        return len(self._numbers("fBinSumw2")) > 0

    @property
    def error_mode(self) -> str:
        """The kind of errors, ``""``, ``"s"``, ``"i"`` or ``"g"``, as ROOT calls them."""
        return self._MODES[int(self.member("fErrorMode", 0))]

    def values(self, flow: bool = False) -> Numbers:
        """The means, as ``GetBinContent`` gives them: an array of ``float64`` with a dimension for each axis."""
        return self._shaped(self._means(), flow)

    def _summands(self, flow: bool) -> Numbers:
        # Unlike GetBinContent, ROOT's sums leave out bins whose sums of weights are below zero.
        return np.where(self._weights(flow) > 0, self.values(flow), 0.0)

    def _weights(self, flow: bool) -> Numbers:
        return self._shaped(self._numbers("fBinEntries"), flow).astype(np.float64)

    def _bin_squares(self) -> Numbers:
        stored = self._numbers("fBinSumw2")
        return self._shaped(stored, True) if len(stored) else self._weights(True)

    def _value_sums(self, squared: bool) -> Numbers:
        """The sums of weights times values, or times their squares, of all bins."""
        return self._shaped(self._numbers("fSumw2") if squared else self._contents, True)

    def _means(self) -> Numbers:
        sums = np.asarray(self._numbers("fBinEntries"), dtype=np.float64)
        contents = np.asarray(self._contents, dtype=np.float64)
        return over(contents, sums, sums != 0)

    def _effective(self) -> Numbers:
        sums = np.asarray(self._numbers("fBinEntries"), dtype=np.float64)
        squares = np.asarray(self._numbers("fBinSumw2"), dtype=np.float64)
        if len(squares) != len(sums):
            return sums
        return over(sums**2, squares, squares > 0)

    def counts(self, flow: bool = False) -> Numbers:
        """The effective number of entries, as ``GetBinEffectiveEntries`` has it."""
        return self._shaped(self._effective(), flow)

    def errors(self, flow: bool = False, error_mode: str | int | None = None) -> Numbers:
        """The errors, as ``GetBinError`` has them.

        Args:
            flow: Whether to have underflow and overflow.
            error_mode: ``""`` the error of the mean, ``"s"`` the spread, ``"i"`` the error of the mean of whole numbers,
                ``"g"`` of numbers with weights that are one over their variances. Not given, as the profile says.
        """
        mode = self.error_mode if error_mode is None else error_mode
        if isinstance(mode, int) and 0 <= mode < len(self._MODES):
            # ROOT's numbers of them.
            mode = self._MODES[mode]
        if mode not in self._MODES:
            raise RequestError(f"error_mode must be one of {self._MODES}, not {error_mode!r}")
        return self._shaped(self._errors(mode), flow)

    def _errors(self, mode: str) -> Numbers:
        sums = np.asarray(self._numbers("fBinEntries"), dtype=np.float64)
        squares = np.asarray(self._numbers("fSumw2"), dtype=np.float64)
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

    def variances(self, flow: bool = False, error_mode: str | int | None = None) -> Numbers:
        """The squares of `errors`."""
        found: Numbers = np.square(self.errors(flow, error_mode))
        return found

    def to_boost(self) -> Any:
        """The profile as boost-histogram has it: the storage keeps means."""
        return self._as_means(self.weighted)

    def _as_means(self, weighted: bool) -> Any:
        """As `to_boost`, with or without sums of weights."""
        bh = _package("boost_histogram")
        made, cut = self._made(bh.storage.WeightedMean() if weighted else bh.storage.Mean())
        view = made.view(flow=True)
        sums = self._shaped(self._numbers("fBinEntries"), True)[cut].astype(np.float64)
        spread = self.errors(True, "s")[cut] ** 2
        view.value = self.values(True)[cut]
        if weighted:
            view.sum_of_weights = sums
            # Without sums of squares, each entry counts once.
            squares = self._shaped(self._numbers("fBinSumw2"), True)[cut] if self.weighted else sums
            view.sum_of_weights_squared = squares
            view["_sum_of_weighted_deltas_squared"] = spread * sums
        else:
            view.count = sums
            view["_sum_of_deltas_squared"] = spread * sums
        return made


#: Functions of NumPy that its numbers call for ``+``, ``-``, ``*`` and ``/``.
_OPERATIONS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}


def _finite(histogram: Any, factor: Any) -> float:
    """The factor as a float."""
    try:
        return float(factor)
    except OverflowError:
        raise RequestError(f"{histogram!r} cannot be scaled by a number beyond the largest float") from None


def _is_number(factor: Any) -> bool:
    if isinstance(factor, np.ndarray) and factor.ndim == 0:
        factor = factor[()]
    return isinstance(factor, (int, float, np.integer, np.floating)) and not isinstance(factor, bool)


def over(top: Numbers, bottom: Numbers, where: Numbers) -> Numbers:
    """A quotient, and 0 where there is none."""
    out: Numbers = np.zeros(bottom.shape)
    np.divide(top, bottom, out=out, where=where)
    return out
