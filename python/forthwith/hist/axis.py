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

# More bins than this are not believed of an object that is stored in fewer bytes. (Of a THnSparse only filled bins are stored.)
_MOST_BINS = 1 << 20


@guarded
class Axis(Object, Sequence):  # type: ignore[type-arg]
    """An axis: a sequence of bins, each a pair of edges, or a label where there are labels."""

    __slots__ = ()

    def __len__(self) -> int:
        count, most = self.member("fNbins"), max(self._record.core.payload_bytes, _MOST_BINS)
        if not isinstance(count, int) or not 0 <= count <= most:
            raise damaged(self, f"{count} bins (fNbins) of an object that is stored in {most} bytes or less")
        return count

    def __getitem__(self, at: Any) -> Any:
        """The bin of a number, or the member of a name."""
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
        """The number of the bin that a value falls into, -1 below the axis and its length above; or that of a label.

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
        """The lowest edge."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """The highest edge."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float | None:
        """The width of the bins, or ``None`` if they have different widths."""
        return None if len(self.member("fXbins", ())) or not len(self) else (self.high - self.low) / len(self)

    @property
    def traits(self) -> _Traits:
        """Whether the axis is circular, and whether it is discrete, in the terms of the UHI."""
        return _Traits(discrete=self.labels() is not None)

    def edges(self, flow: bool = False) -> Numbers:
        """The edges of the bins, one more than there are bins; with ``flow``, from minus to plus infinity."""
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
        """The middle of each bin, an array of ``float64``."""
        edges = self.edges(flow)
        return (edges[1:] + edges[:-1]) / 2

    def widths(self, flow: bool = False) -> Numbers:
        """The width of each bin, as ``GetBinWidth`` gives it."""
        widths: Numbers = np.diff(self.edges(flow))
        if self.width is not None:
            # Edges are rounded, and their differences with them.
            widths[slice(1, -1) if flow else slice(None)] = self.width
        return widths

    def intervals(self, flow: bool = False) -> Numbers:
        """Both edges of each bin, an array of shape ``(bins, 2)``."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def labels(self, flow: bool = False) -> list[str] | None:
        """The labels of the bins, or ``None`` if the axis has none."""
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
        """The axis as an axis of boost-histogram.

        Raises:
            UnsupportedError: Its edges do not go up.
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
        # hist draws the label; the title is what it is called in ROOT.
        made.title = made.label = self.title
        return made

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins from {self.low:g} to {self.high:g}>"


@guarded
class RangedAxis(Axis):
    """An axis whose range the file leaves open: as found from the entries that wait for it."""

    __slots__ = ("_found", "_stored")

    def __init__(self, stored: Axis, found: tuple[int, float, float]) -> None:
        super().__init__(stored._record, stored._number, stored._window)
        self._stored, self._found = stored, found

    def __len__(self) -> int:
        return self._found[0]

    @property
    def low(self) -> float:
        """The lowest edge."""
        return self._found[1]

    @property
    def high(self) -> float:
        """The highest edge."""
        return self._found[2]

    @property
    def width(self) -> float:
        """The width of the bins."""
        return (self.high - self.low) / len(self)

    def edges(self, flow: bool = False) -> Numbers:
        """The edges of the bins, one more than there are bins; with ``flow``, from minus to plus infinity."""
        return self._spread(None, flow)

    def __reduce__(self) -> tuple[Any, ...]:
        return RangedAxis, (self._stored, self._found)


def found_bins(axis: Axis, found: Numbers) -> Numbers:
    """Numbers of bins, as ``TAxis::FindBin`` has them."""
    edges = None if isinstance(axis, RangedAxis) else axis.member("fXbins", None)
    if edges is not None and len(edges):
        inside = np.searchsorted(np.asarray(edges), found, side="right")
    else:
        with np.errstate(all="ignore"):
            place = np.nan_to_num(len(axis) * (found - axis.low) / (axis.high - axis.low))
        inside = 1 + place.clip(-1, len(axis) + 1).astype(np.int64)
        # Where that was rounded to a neighbour, the one whose edges are on both sides.
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
