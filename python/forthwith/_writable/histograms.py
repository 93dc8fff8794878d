"""Conversion of histograms to ROOT's ``TH1``, ``TH2``, ``TH3`` and profiles, with statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError, UnsupportedError

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]
    Members = dict[str, Any]

_EMPTY_LIST = {"_typename": "TList", "items": []}
_LETTERS = "xyz"


def histogram_of(value: Any, name: str) -> Members | None:
    """Returns the members for a histogram of any library, or of NumPy; ``None`` for other values."""
    if isinstance(value, tuple):
        return _of_numpy(value, name)
    if not (hasattr(value, "axes") and hasattr(value, "values") and hasattr(value, "kind")):
        return None
    axes = [_Axis.of(axis) for axis in value.axes]
    if not 1 <= len(axes) <= 3:
        raise UnsupportedError(f"a histogram of {len(axes)} axes is not written: TH1, TH2 and TH3 have up to three")
    title = getattr(value, "title", None) or getattr(value, "label", None)
    title = title if isinstance(title, str) else ""
    if str(getattr(value.kind, "value", value.kind)) == "MEAN":
        members = _profile(value, axes, name, title)
    else:
        members = _members(name, title, axes, *_contents(value, axes))
    # `hasattr` is avoided, because boost-histogram warns about the missing attribute.
    said = getattr(value, "__dict__", {}).get("metadata")
    if isinstance(said, dict) and "fEntries" in said:
        members["fEntries"] = float(said["fEntries"])
    return members


class _Axis:
    """Edges or labels of an axis, and whether its library has underflow and overflow bins."""

    def __init__(self, edges: Numbers, labels: list[str] | None, title: str, under: bool, over: bool) -> None:
        self.edges, self.labels, self.title = edges, labels, title
        self.under, self.over = under, over

    @classmethod
    def of(cls, axis: Any) -> _Axis:
        """Converts an axis of a library."""
        bins = list(axis)
        labels = (
            [str(bin) for bin in bins] if bins and not isinstance(bins[0], tuple) and _are_labels(axis, bins) else None
        )
        edges: Any = np.arange(len(bins) + 1.0) if labels is not None else getattr(axis, "edges", None)
        if callable(edges):
            edges = edges()
        if edges is None:
            edges = [low for low, _ in bins] + [bins[-1][1]]
        traits = getattr(axis, "traits", None)
        title = getattr(axis, "label", None) or getattr(axis, "metadata", None) or getattr(axis, "name", None)
        under, over = (getattr(traits, end, True) for end in ("underflow", "overflow"))
        return cls(np.asarray(edges, dtype=np.float64), labels, title if isinstance(title, str) else "", under, over)

    @property
    def count(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    @property
    def centers(self) -> Numbers:
        """Center of each bin."""
        middle: Numbers = (self.edges[1:] + self.edges[:-1]) / 2
        return middle

    def members(self, letter: str) -> Members:
        """Returns the members of a ``TAxis``."""
        if not np.isfinite(self.edges).all() or (np.diff(self.edges) <= 0).any():
            raise RequestError(f"the edges of the {letter} axis do not rise, or are not finite")
        low, high, count = float(self.edges[0]), float(self.edges[-1]), self.count
        even = np.allclose(self.edges, np.linspace(low, high, count + 1), rtol=0, atol=1e-13 * max(abs(low), abs(high)))
        labels = None
        if self.labels is not None:
            # ROOT identifies the bin of a label by its number.
            items = [
                {"_typename": "TObjString", "fString": label, "fUniqueID": number + 1, "fBits": 0}
                for number, label in enumerate(self.labels)
            ]
            labels = {"_typename": "THashList", "items": items}
        return {
            "_typename": "TAxis", "fName": f"{letter}axis", "fTitle": self.title, "fNdivisions": 510, "fAxisColor": 1,
            "fLabelColor": 1, "fLabelFont": 42, "fLabelOffset": 0.005, "fLabelSize": 0.035, "fTickLength": 0.03,
            "fTitleOffset": 1.0, "fTitleSize": 0.035, "fTitleColor": 1, "fTitleFont": 42, "fNbins": count, "fXmin": low,
            "fXmax": high, "fXbins": np.zeros(0) if even else self.edges, "fFirst": 0, "fLast": 0, "fBits2": 0,
            "fTimeDisplay": False, "fTimeFormat": "", "fLabels": labels, "fModLabs": None,
        }  # fmt: skip


def _are_labels(axis: Any, bins: list[Any]) -> bool:
    """Whether bins other than pairs are categories. Axes of integers have numbers as bins as well."""
    return isinstance(bins[0], str) or not hasattr(axis, "edges") or "Category" in type(axis).__name__


_NO_AXIS = _Axis(np.array([0.0, 1.0]), None, "", True, True)


def _of_numpy(value: tuple[Any, ...], name: str) -> Members | None:
    """Returns the members for a result of ``numpy.histogram``, ``histogram2d`` or ``histogramdd``."""
    contents = np.asarray(value[0]) if value else None
    if contents is None or contents.dtype.kind not in "biuf" or len(value) < 2:
        return None
    edges = list(value[1]) if len(value) == 2 and contents.ndim > 1 else list(value[1:])
    if not 1 <= contents.ndim <= 3 or contents.ndim != len(edges):
        raise UnsupportedError(
            f"contents of {contents.ndim} dimensions with {len(edges)} axes are not written as a histogram"
        )
    axes = [_Axis(np.asarray(some, dtype=np.float64), None, "", True, True) for some in edges]
    shape = tuple(axis.count for axis in axes)
    if contents.shape != shape:
        raise RequestError(f"contents of shape {contents.shape} do not fit to axes of {shape} bins")
    return _members(name, "", axes, np.pad(contents, 1), None)


def _flowed(array: Any, axes: list[_Axis]) -> Numbers:
    """Returns values with underflow and overflow bins on each axis, as in ROOT."""
    found = np.asarray(array)
    whole = np.zeros(tuple(axis.count + 2 for axis in axes), dtype=found.dtype)
    if found.shape == whole.shape:
        return found
    ends = [(0 if axis.under else 1, axis.count + (2 if axis.over else 1)) for axis in axes]
    if found.shape == tuple(axis.count for axis in axes):
        ends = [(1, axis.count + 1) for axis in axes]
    part = whole[tuple(slice(*end) for end in ends)]
    if part.shape != found.shape:
        raise UnsupportedError(
            f"a histogram with numbers of shape {found.shape} for axes of {whole.shape} bins with both ends"
        )
    part[...] = found
    return whole


def _with_flow(method: Any) -> Any:
    """Calls a method with ``flow=True``, or without if it does not support that."""
    try:
        return method(flow=True)
    except TypeError:
        return method()


def _contents(value: Any, axes: list[_Axis]) -> tuple[Numbers, Numbers | None]:
    """Returns contents, and the sums of squared weights if they are stored."""
    contents = _flowed(_with_flow(value.values), axes)
    variances = _with_flow(value.variances) if hasattr(value, "variances") else None
    if variances is None:
        return contents, None
    squares = _flowed(variances, axes)
    # Unit weights have the same sums as counts. Sums that a storage has are written, so that they are
    # restored.
    kept = "variance" in _fields(value)[1] or not np.array_equal(squares, contents)
    return contents, squares if kept else None


def _fields(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Returns the storage of boost_histogram and hist, and the names of its fields if it has several."""
    view = getattr(value, "view", None)
    found: Any = _with_flow(view) if callable(view) else None
    return found, getattr(getattr(found, "dtype", None), "names", None) or ()


def _letter(dtype: Any) -> str:
    """Returns the letter of the ROOT class for a dtype. Integers of 64 bits become floating-point numbers."""
    return {"float32": "F", "int8": "C", "int16": "S", "int32": "I"}.get(np.dtype(dtype).name, "D")


def _moments(axes: list[_Axis], weights: Numbers, squares: Numbers) -> Members:
    """Returns the statistics of inner bins, computed with the bin centers."""
    inner = (slice(1, -1),) * len(axes)
    w = np.asarray(weights, dtype=np.float64)[inner]
    grid = np.meshgrid(*(axis.centers for axis in axes), indexing="ij")
    sums = {"fTsumw": w.sum(), "fTsumw2": np.asarray(squares, dtype=np.float64)[inner].sum()}
    for at, letter in enumerate(_LETTERS[: len(axes)]):
        sums[f"fTsumw{letter}"], sums[f"fTsumw{letter}2"] = (w * grid[at]).sum(), (w * grid[at] ** 2).sum()
        for before in range(at):
            sums[f"fTsumw{_LETTERS[before]}{letter}"] = (w * grid[at] * grid[before]).sum()
    return {name: float(value) for name, value in sums.items()}


def _members(name: str, title: str, axes: list[_Axis], contents: Numbers, squares: Numbers | None) -> Members:
    """Returns all members of a ``TH1``, ``TH2`` or ``TH3``."""
    letter = _letter(contents.dtype)
    of_weights = contents if squares is None else squares
    total, total_squares = float(contents.sum()), float(of_weights.sum())
    entries = total if squares is None else total**2 / total_squares if total_squares > 0 else 0.0
    return {
        "_typename": f"TH{len(axes)}{letter}",
        **_common(name, title, axes, entries),
        **_moments(axes, contents, of_weights),
        f"TArray{letter}": _flat(contents),
        "fSumw2": np.zeros(0) if squares is None else _flat(squares),
    }


def _common(name: str, title: str, axes: list[_Axis], entries: float) -> Members:
    padded = [*axes, *[_NO_AXIS] * (3 - len(axes))]
    return {
        "fName": name, "fTitle": title, "fBits": 8,
        "fNcells": int(np.prod([axis.count + 2 for axis in axes])),
        **{f"f{letter.upper()}axis": axis.members(letter) for letter, axis in zip(_LETTERS, padded, strict=True)},
        "fBarOffset": 0, "fBarWidth": 1000, "fEntries": entries, "fMaximum": -1111.0, "fMinimum": -1111.0,
        "fNormFactor": 0.0, "fContour": np.zeros(0), "fOption": "", "fFunctions": _EMPTY_LIST, "fBufferSize": 0,
        "fBuffer": np.zeros(0), "fBinStatErrOpt": 0, "fStatOverflows": 2,
        **({"fScalefactor": 1.0} if len(axes) == 2 else {}),
    }  # fmt: skip


def _flat(array: Numbers) -> Numbers:
    """Flattens bins in ROOT's order, with the first axis varying fastest."""
    return np.asarray(array, dtype=np.float64).ravel(order="F")


def _profile(value: Any, axes: list[_Axis], name: str, title: str) -> Members:
    """Returns the members of a profile for a histogram of means."""
    found, fields = _fields(value)
    if "_sum_of_deltas_squared" in fields:
        weights, squares, spread = found["count"], None, found["_sum_of_deltas_squared"]
    elif "_sum_of_weighted_deltas_squared" in fields:
        weights, squares = found["sum_of_weights"], _flowed(found["sum_of_weights_squared"], axes)
        spread = found["_sum_of_weighted_deltas_squared"]
    else:
        raise UnsupportedError(
            f"a histogram of means of type {type(value).__name__}: those of boost_histogram and hist are written"
        )
    means, weights, spread = _flowed(found["value"], axes), _flowed(weights, axes), _flowed(spread, axes)
    sums, sums_of_squares = weights * means, spread + weights * means**2
    inner = (slice(1, -1),) * len(axes)
    of_weights = weights if squares is None else squares
    total = float(of_weights.sum())
    kind = "TProfile" if len(axes) == 1 else f"TProfile{len(axes)}D"
    # The averaged quantity has the next letter after the axes.
    letter = "yzt"[len(axes) - 1]
    return {
        "_typename": kind,
        **_common(name, title, axes, float(weights.sum()) ** 2 / total if total > 0 else 0.0),
        **_moments(axes, weights, of_weights),
        "TArrayD": _flat(sums),
        "fSumw2": _flat(sums_of_squares),
        "fBinEntries": _flat(weights),
        "fErrorMode": 0,
        f"f{letter.upper()}min": 0.0,
        f"f{letter.upper()}max": 0.0,
        f"fTsumw{letter}": float(sums[inner].sum()),
        f"fTsumw{letter}2": float(sums_of_squares[inner].sum()),
        "fBinSumw2": np.zeros(0) if squares is None else _flat(squares),
    }
