"""Histograms of Python as ROOT's: ``TH1``, ``TH2``, ``TH3`` and profiles, with the sums that ROOT keeps."""

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
    """The members of a histogram of any library with axes and values, or of NumPy's functions. ``None`` if it is none."""
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
    # Not by the attribute: boost-histogram warns where there is none.
    said = getattr(value, "__dict__", {}).get("metadata")
    if isinstance(said, dict) and "fEntries" in said:
        members["fEntries"] = float(said["fEntries"])
    return members


class _Axis:
    """Edges or labels, and where the bins of the given arrays lie among those of ROOT."""

    def __init__(self, edges: Numbers, labels: list[str] | None, title: str, under: bool, over: bool) -> None:
        self.edges, self.labels, self.title = edges, labels, title
        self.under, self.over = under, over

    @classmethod
    def of(cls, axis: Any) -> _Axis:
        """An axis of a library."""
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
        """The number of bins."""
        return len(self.edges) - 1

    @property
    def centers(self) -> Numbers:
        """The middle of each bin."""
        middle: Numbers = (self.edges[1:] + self.edges[:-1]) / 2
        return middle

    def members(self, letter: str) -> Members:
        """The members of a ``TAxis``."""
        if not np.isfinite(self.edges).all() or (np.diff(self.edges) <= 0).any():
            raise RequestError(f"the edges of the {letter} axis do not rise, or are not finite")
        low, high, count = float(self.edges[0]), float(self.edges[-1]), self.count
        even = np.allclose(self.edges, np.linspace(low, high, count + 1), rtol=0, atol=1e-13 * max(abs(low), abs(high)))
        labels = None
        if self.labels is not None:
            # The number of a bin is that of its label.
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
    """Whether bins that are no pairs are categories. The bins of an axis of whole numbers are numbers as well."""
    return isinstance(bins[0], str) or not hasattr(axis, "edges") or "Category" in type(axis).__name__


_NO_AXIS = _Axis(np.array([0.0, 1.0]), None, "", True, True)


def _of_numpy(value: tuple[Any, ...], name: str) -> Members | None:
    """What ``numpy.histogram``, ``histogram2d`` and ``histogramdd`` give: contents, and the edges of each axis."""
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
    """Numbers of all bins as ROOT has them: one below and one above the bins of each axis."""
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
    """What a method gives, with the bins at both ends if it can."""
    try:
        return method(flow=True)
    except TypeError:
        return method()


def _contents(value: Any, axes: list[_Axis]) -> tuple[Numbers, Numbers | None]:
    """Contents, and the sums of squares of weights where those were kept."""
    contents = _flowed(_with_flow(value.values), axes)
    variances = _with_flow(value.variances) if hasattr(value, "variances") else None
    if variances is None:
        return contents, None
    squares = _flowed(variances, axes)
    # Weights that were all one have the sums that counts have. What a storage keeps is written, so that it comes back.
    kept = "variance" in _fields(value)[1] or not np.array_equal(squares, contents)
    return contents, squares if kept else None


def _fields(value: Any) -> tuple[Any, tuple[str, ...]]:
    """What boost_histogram and hist keep of each bin, and the names of its parts where it is more than a number."""
    view = getattr(value, "view", None)
    found: Any = _with_flow(view) if callable(view) else None
    return found, getattr(getattr(found, "dtype", None), "names", None) or ()


def _letter(dtype: Any) -> str:
    """Which histogram has room for numbers of a type. Whole numbers of 64 bits become floating-point ones."""
    return {"float32": "F", "int8": "C", "int16": "S", "int32": "I"}.get(np.dtype(dtype).name, "D")


def _moments(axes: list[_Axis], weights: Numbers, squares: Numbers) -> Members:
    """The sums over bins between both ends, each with the middle of its bin."""
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
    """All members of a ``TH1``, ``TH2`` or ``TH3``."""
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
    """Bins in the order of ROOT, where the first axis runs fastest."""
    return np.asarray(array, dtype=np.float64).ravel(order="F")


def _profile(value: Any, axes: list[_Axis], name: str, title: str) -> Members:
    """The members of a profile, of a histogram whose bins are means."""
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
    # What is averaged is called after the letter that no axis has.
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
