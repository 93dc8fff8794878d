"""Histograms and profiles: their numbers as C++ ROOT has them, by the names that other Python packages expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._axis import Axis
from forthwith._errors import RequestError, UnsupportedError
from forthwith._libraries import package as _package
from forthwith._objects import Object

if TYPE_CHECKING:
    from typing import TextIO

    from forthwith._axis import Numbers


class Binned(Object):
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
        return over(values**2, variances, variances != 0)

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
        bh = _package("boost_histogram")
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
        return over(contents, sums, sums != 0)

    def _effective(self) -> Numbers:
        sums = np.asarray(self.member("fBinEntries"), dtype=np.float64)
        squares = np.asarray(self.member("fBinSumw2", ()), dtype=np.float64)
        if len(squares) != len(sums):
            return sums
        return over(sums**2, squares, squares > 0)

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
        bh = _package("boost_histogram")
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


def over(top: Numbers, bottom: Numbers, where: Numbers) -> Numbers:
    """A quotient, and 0 where there is none."""
    out: Numbers = np.zeros(bottom.shape)
    np.divide(top, bottom, out=out, where=where)
    return out
