"""Axes of histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestIndexError, UnsupportedError
from forthwith._guard import damaged, guarded
from forthwith._objects import Object, item
from forthwith._packages import package as _package

if TYPE_CHECKING:
    from collections.abc import Iterator

    Numbers = np.ndarray[Any, Any]

# Maximum number of bins of an object that is stored in fewer bytes. (A THnSparse stores only filled bins.)
_MOST_BINS = 1 << 20


@guarded
class Axis(Object, Sequence):  # type: ignore[type-arg]
    """An axis: a sequence of bins, each of which is a pair of edges, or a label."""

    __slots__ = ()

    def __len__(self) -> int:
        count, most = self.member("fNbins"), max(self._record.core.payload_bytes, _MOST_BINS)
        if not isinstance(count, int) or not 0 <= count <= most:
            raise damaged(self, f"{count} bins (fNbins) of an object that is stored in {most} bytes or less")
        return count

    def __getitem__(self, at: Any) -> Any:
        """Returns the bin of this number, or the member of this name."""
        if isinstance(at, str):
            return self.member(at)
        labels = self.labels()
        if labels is not None:
            return labels[at if isinstance(at, slice) else item(self, at)]
        edges = self.edges()
        if isinstance(at, slice):
            return [self[bin] for bin in range(*at.indices(len(self)))]
        bin = item(self, at)
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

    def index(self, value: float | str) -> int:  # type: ignore[override]
        """Returns the number of the bin with a value or label: -1 below the axis, its length above.

        Raises:
            RequestIndexError: No bin has this label.
        """
        if isinstance(value, str):
            labels = self.labels() or []
            if value not in labels:
                raise RequestIndexError(f"{self.name} has no bin that is labelled {value!r}")
            return labels.index(value)
        return int(found_bins(self, np.array([float(value)]))[0]) - 1

    @property
    def low(self) -> float:
        """Lower edge of the first bin."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """Upper edge of the last bin."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float | None:
        """Width of the bins, or ``None`` if they differ."""
        return None if len(self.member("fXbins", ())) or not len(self) else (self.high - self.low) / len(self)

    @property
    def traits(self) -> _Traits:
        """Whether the axis is circular and discrete, as defined by UHI."""
        return _Traits(discrete=self.labels() is not None)

    def edges(self, flow: bool = False) -> Numbers:
        """Returns the edges of the bins; with ``flow``, from minus to plus infinity."""
        return self._spread(self.member("fXbins", None), flow)

    def _spread(self, stored: Any, flow: bool) -> Numbers:
        if stored is not None and len(stored):
            edges = np.asarray(stored, dtype=np.float64)
            if edges.shape != (len(self) + 1,):
                raise damaged(self, f"{len(edges)} edges (fXbins) of {len(self)} bins (fNbins)")
        else:
            edges = np.linspace(self.low, self.high, len(self) + 1)
        return np.concatenate([[-np.inf], edges, [np.inf]]) if flow else edges

    def centers(self, flow: bool = False) -> Numbers:
        """Returns the center of each bin, as an array of ``float64``."""
        edges = self.edges(flow)
        return (edges[1:] + edges[:-1]) / 2

    def widths(self, flow: bool = False) -> Numbers:
        """Returns the width of each bin, as ``GetBinWidth`` does."""
        widths: Numbers = np.diff(self.edges(flow))
        if self.width is not None:
            # Differences of edges have rounding errors.
            widths[slice(1, -1) if flow else slice(None)] = self.width
        return widths

    def intervals(self, flow: bool = False) -> Numbers:
        """Returns both edges of each bin, as an array of shape ``(bins, 2)``."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def labels(self, flow: bool = False) -> list[str] | None:
        """Returns the labels of the bins, or ``None`` without labels."""
        found = self.member("fLabels", None)
        if found is None or len(found) == 0:
            return None
        labels = [""] * len(self)
        for label in found:
            bin = label.member("fUniqueID", 0) - 1 if isinstance(label, Object) else -1
            if 0 <= bin < len(labels):
                labels[bin] = str(label)
        return ["underflow", *labels, "overflow"] if flow else labels

    def to_boost(self) -> Any:
        """Converts the axis to an axis of boost-histogram.

        Raises:
            UnsupportedError: The edges are not increasing.
        """
        axis = _package("boost_histogram").axis
        labels = self.labels()
        if labels is not None and len(set(labels)) == len(labels):
            made = axis.StrCategory(labels)
        elif self.width is not None and self.low < self.high:
            made = axis.Regular(len(self), self.low, self.high, underflow=True, overflow=True)
        elif not np.all(np.diff(self.edges()) > 0):
            raise UnsupportedError(f"{self!r} has edges that do not go up")
        else:
            made = axis.Variable(self.edges(), underflow=True, overflow=True)
        made.name = self.name
        # hist draws the label; ROOT has a title.
        made.title = made.label = self.title
        return made

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins from {self.low:g} to {self.high:g}>"


@guarded
class RangedAxis(Axis):
    """An axis whose range was computed from buffered entries."""

    __slots__ = ("_found", "_stored")

    def __init__(self, stored: Axis, found: tuple[int, float, float]) -> None:
        super().__init__(stored._record, stored._number, stored._window)
        self._stored, self._found = stored, found

    def __len__(self) -> int:
        return self._found[0]

    @property
    def low(self) -> float:
        """Lower edge of the first bin."""
        return self._found[1]

    @property
    def high(self) -> float:
        """Upper edge of the last bin."""
        return self._found[2]

    @property
    def width(self) -> float:
        """Width of the bins."""
        return (self.high - self.low) / len(self)

    def edges(self, flow: bool = False) -> Numbers:
        """Returns the edges of the bins; with ``flow``, from minus to plus infinity."""
        return self._spread(None, flow)

    def __reduce__(self) -> tuple[Any, ...]:
        return RangedAxis, (self._stored, self._found)


def found_bins(axis: Axis, found: Numbers) -> Numbers:
    """Returns the numbers of the bins of values, as ``TAxis::FindBin`` does."""
    edges = None if isinstance(axis, RangedAxis) else axis.member("fXbins", None)
    if edges is not None and len(edges):
        inside = np.searchsorted(np.asarray(edges), found, side="right")
    else:
        with np.errstate(all="ignore"):
            place = np.nan_to_num(len(axis) * (found - axis.low) / (axis.high - axis.low))
        inside = 1 + place.clip(-1, len(axis) + 1).astype(np.int64)
        # Rounding may select a neighbouring bin, which is corrected by its edges.
        width = (axis.high - axis.low) / len(axis)
        lower, upper = found < axis.low + (inside - 1) * width, found >= axis.low + inside * width
        inside = (inside - lower + (upper & (inside < len(axis)))).clip(1)
    return np.where(found < axis.low, 0, np.where(found < axis.high, inside, len(axis) + 1))


class _Traits:
    def __init__(self, discrete: bool) -> None:
        self.circular = False
        self.discrete = discrete

    def __repr__(self) -> str:
        return f"Traits(circular=False, discrete={self.discrete})"
