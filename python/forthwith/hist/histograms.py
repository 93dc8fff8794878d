"""Histograms and profiles: values as in C++ ROOT, with methods that other packages expect."""

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
    """Common methods of histograms."""

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
        """Returns the bin errors, as ``GetBinError`` does, in the shape of `values`."""
        return super().errors(flow)

    def counts(self, flow: bool = False) -> Numbers:
        """Returns the effective number of entries in each bin: squared values over variances."""
        values, variances = self.values(flow), self.variances(flow)
        # Squares of integers may overflow.
        return over(values.astype("f8") ** 2, variances, variances != 0)

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        raise NotImplementedError

    def to_boost(self) -> Any:
        """Converts to a ``boost_histogram.Histogram``. Integer contents stay integers."""
        bh = _package("boost_histogram")
        # Computed first, as this raises an error for too many bins.
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
    """A ``TH1``, ``TH2`` or ``TH3`` with any type of contents."""

    __slots__ = ()

    @property
    def _dimensions(self) -> int:
        found = [self.classname, *(base.classname for base in self.bases)]
        if "TH3" in found or "TProfile3D" in found:
            return 3
        return 2 if "TH2" in found or "TProfile2D" in found else 1

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, x first. Automatic ranges are computed from buffered entries."""
        return ranged(self, self._given_axes)

    @property
    def _given_axes(self) -> tuple[Axis, ...]:
        """The axes as stored."""
        return tuple(self.member(name) for name in ("fXaxis", "fYaxis", "fZaxis")[: self._dimensions])

    def _stored(self, name: str) -> Numbers:
        """Returns ``"contents"`` or the sums of this name of all bins, without buffered entries."""
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
        """Reshapes values in ROOT's order of bins, in which the first axis varies fastest."""
        shape = tuple(len(axis) + 2 for axis in reversed(self.axes))
        flat = np.asarray(flat)
        if flat.ndim != 1 or len(flat) != math.prod(shape):
            raise UnsupportedError(f"{self!r} has {flat.size} numbers for {math.prod(shape)} bins")
        # Transposed to a contiguous array.
        turned = np.ascontiguousarray(flat.reshape(shape).T)
        return turned if flow else turned[(slice(1, -1),) * turned.ndim]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squared weights are stored."""
        return len(self._numbers("fSumw2")) > 0

    def values(self, flow: bool = False) -> Numbers:
        """Returns the bin contents, in the stored type.

        The array has one dimension for each axis, x first, with the number of bins of that axis; with
        ``flow``, also underflow as the first and overflow as the last bin.
        """
        return self._shaped(self._contents, flow)

    @property
    def entries(self) -> float:
        """Number of entries, as ``GetEntries`` after a read of the bins."""
        return buffered_sums(self)["fEntries"] if is_buffered(self) else float(self.member("fEntries"))

    def mean(self, axis: int | str = 0) -> float:
        """Returns the mean along an axis, as ``GetMean`` does, in the units of the axis.

        It is the mean of the entries if the file has their sums, and otherwise that of the bin centers.

        Args:
            axis: Number of the axis, or ``"x"``, ``"y"``, ``"z"``.
        """
        return mean(self, self._number_of(axis))

    def std(self, axis: int | str = 0) -> float:
        """Returns the standard deviation along an axis, as ``GetStdDev`` does; see `mean`."""
        return deviation(self, self._number_of(axis))

    def integral(self, flow: bool = False, width: bool = False) -> float:
        """Returns the sum of the bin contents, as ``Integral`` does.

        Args:
            flow: Whether to include underflow and overflow.
            width: Whether contents are multiplied by bin widths. Invalid with ``flow``, whose bins have no
                width.
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

    # Names of the sums of bins other than contents.
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
            # Stored statistics include entries of other bins, so they are recomputed from the bins.
            members |= {name: 0.0 for name in self.member_names if name.startswith("fTsumw")}
            weights = sums.get("fBinEntries", contents)
            squares = sums.get("fBinSumw2" if "fBinEntries" in sums else "fSumw2", np.zeros(0))
            total, square = float(weights.sum()), float(squares.sum())
            members["fEntries"] = total**2 / square if square > 0 else abs(total)
        return projected(self, named, contents, members)

    def _of_sums(self, content: float, sums: dict[str, Numbers]) -> float:
        """Returns the value of one bin with these sums."""
        return content

    def __add__(self, other: Any) -> Any:
        """Returns the sum of two histograms, as ``TH1::Add``: contents, errors, entries and statistics."""
        if isinstance(other, (int, float)) and other == 0:
            return self  # sum() begins with it
        return added(self, other, 1.0) if isinstance(other, Histogram) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Returns the difference of two histograms, as ``TH1::Add`` with -1."""
        return added(self, other, -1.0) if isinstance(other, Histogram) else NotImplemented

    def __mul__(self, factor: Any) -> Any:
        """Returns the histogram multiplied by a number, as ``TH1::Scale``."""
        return scaled(self, _finite(self, factor)) if _is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Any:
        """Returns the histogram divided by a number."""
        if not _is_number(factor):
            return NotImplemented
        if factor == 0:
            raise RequestError(f"{self!r} cannot be divided by 0")
        inverse = 1 / _finite(self, factor)
        if math.isinf(inverse):
            raise RequestError(f"{self!r} cannot be divided by {factor!r}: one over it is beyond the largest float")
        return scaled(self, inverse)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Applies arithmetic with NumPy scalars to the histogram, and other functions to its values."""
        operation = _OPERATIONS.get(ufunc.__name__)
        numbers = all(isinstance(given, Histogram) or np.ndim(given) == 0 for given in inputs)
        if operation is not None and method == "__call__" and not options and numbers:
            return operation(*(given if isinstance(given, Histogram) else np.asarray(given).item() for given in inputs))
        values = [np.asarray(given) if isinstance(given, Histogram) else given for given in inputs]
        return getattr(ufunc, method)(*values, **options)

    def __neg__(self) -> Any:
        """Returns the histogram multiplied by -1."""
        return scaled(self, -1.0)

    def _summands(self, flow: bool) -> Numbers:
        """Returns the weight of each bin in the integral."""
        return self.values(flow).astype(np.float64)

    def _weights(self, flow: bool) -> Numbers:
        """Returns the weight of each bin in means."""
        return self.values(flow).astype(np.float64)

    def _bin_squares(self) -> Numbers:
        """Returns the sums of squared weights of all bins, as ``GetStats`` uses them.

        If they are not stored, they are computed from the contents: directly in two dimensions, otherwise
        from the errors.
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
        """Returns the sums of squared weights; zeros if they are not stored."""
        stored = self._numbers("fSumw2")
        return self._shaped(stored, flow) if len(stored) else np.zeros(self.values(flow).shape)

    def variances(self, flow: bool = False) -> Numbers:
        """Returns the squared bin errors, as ``float64`` in the shape of `values`."""
        stored = self._numbers("fSumw2")
        if len(stored):
            return self._shaped(stored, flow)
        return np.abs(self.values(flow).astype(np.float64))


@guarded
class Profile(Histogram):
    """A ``TProfile``, ``TProfile2D`` or ``TProfile3D``: the mean of the entries in each bin."""

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
        """Whether the sums of squared weights are stored."""
        return len(self._numbers("fBinSumw2")) > 0

    @property
    def error_mode(self) -> str:
        """The error option ``""``, ``"s"``, ``"i"`` or ``"g"``, as in ROOT."""
        return self._MODES[int(self.member("fErrorMode", 0))]

    def values(self, flow: bool = False) -> Numbers:
        """Returns the means, as ``GetBinContent`` does, with one dimension for each axis."""
        return self._shaped(self._means(), flow)

    def _summands(self, flow: bool) -> Numbers:
        # Unlike GetBinContent, sums in ROOT exclude bins with negative sums of weights.
        return np.where(self._weights(flow) > 0, self.values(flow), 0.0)

    def _weights(self, flow: bool) -> Numbers:
        return self._shaped(self._numbers("fBinEntries"), flow).astype(np.float64)

    def _bin_squares(self) -> Numbers:
        stored = self._numbers("fBinSumw2")
        return self._shaped(stored, True) if len(stored) else self._weights(True)

    def _value_sums(self, squared: bool) -> Numbers:
        """Returns the sums of weighted values, or of weighted squared values, of all bins."""
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
        """Returns the effective number of entries, as ``GetBinEffectiveEntries`` does."""
        return self._shaped(self._effective(), flow)

    def errors(self, flow: bool = False, error_mode: str | int | None = None) -> Numbers:
        """Returns the errors, as ``GetBinError`` does.

        Args:
            flow: Whether to include underflow and overflow.
            error_mode: ``""`` for the error of the mean, ``"s"`` for the spread, ``"i"`` for the error of the
                mean of integers, ``"g"`` for weights that are inverse variances. By default, that of the
                profile.
        """
        mode = self.error_mode if error_mode is None else error_mode
        if isinstance(mode, int) and 0 <= mode < len(self._MODES):
            # Numbers of the options in ROOT.
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
        """Returns the squares of `errors`."""
        found: Numbers = np.square(self.errors(flow, error_mode))
        return found

    def to_boost(self) -> Any:
        """Converts the profile to a boost-histogram of means."""
        return self._as_means(self.weighted)

    def _as_means(self, weighted: bool) -> Any:
        """Converts as `to_boost` does, with or without sums of weights."""
        bh = _package("boost_histogram")
        made, cut = self._made(bh.storage.WeightedMean() if weighted else bh.storage.Mean())
        view = made.view(flow=True)
        sums = self._shaped(self._numbers("fBinEntries"), True)[cut].astype(np.float64)
        spread = self.errors(True, "s")[cut] ** 2
        view.value = self.values(True)[cut]
        if weighted:
            view.sum_of_weights = sums
            # Without sums of squares, each entry has weight 1.
            squares = self._shaped(self._numbers("fBinSumw2"), True)[cut] if self.weighted else sums
            view.sum_of_weights_squared = squares
            view["_sum_of_weighted_deltas_squared"] = spread * sums
        else:
            view.count = sums
            view["_sum_of_deltas_squared"] = spread * sums
        return made


# #: NumPy functions that NumPy scalars call for ``+``, ``-``, ``*`` and ``/``.
_OPERATIONS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}


def _finite(histogram: Any, factor: Any) -> float:
    """Returns the factor as a float."""
    try:
        return float(factor)
    except OverflowError:
        raise RequestError(f"{histogram!r} cannot be scaled by a number beyond the largest float") from None


def _is_number(factor: Any) -> bool:
    if isinstance(factor, np.ndarray) and factor.ndim == 0:
        factor = factor[()]
    return isinstance(factor, (int, float, np.integer, np.floating)) and not isinstance(factor, bool)


def over(top: Numbers, bottom: Numbers, where: Numbers) -> Numbers:
    """Returns a quotient, with 0 where ``where`` is false."""
    out: Numbers = np.zeros(bottom.shape)
    np.divide(top, bottom, out=out, where=where)
    return out
