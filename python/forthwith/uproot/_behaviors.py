"""What uproot's objects of some classes can do besides having members: histograms, graphs, axes, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from forthwith._packages import package

boost_metadata = {"name": "fName", "label": "fTitle"}
boost_axis_metadata = {"name": "fName", "label": "fTitle"}

# What the errors of a profile are, by ROOT's numbers.
_kERRORMEAN, _kERRORSPREAD, _kERRORSPREADI, _kERRORSPREADG = range(4)


class Behavior:
    """What objects of a class can do."""

    _ours: Any
    _file: Any
    _wrapped: Any
    member: Any
    all_members: Any

    @property
    def behaviors(self) -> tuple[type, ...]:
        """The behaviors of the object."""
        return tuple(
            one
            for one in type(self).__mro__
            if one is not Behavior
            and issubclass(one, Behavior)
            and "_ours" not in vars(one)
            and not hasattr(one, "classname_is_made")
            and one.__module__ == __name__
        )


class TAxis(Behavior):
    """An axis of a histogram: a sequence of bins."""

    def __len__(self) -> int:
        return len(self._ours)

    def __getitem__(self, at: Any) -> Any:
        return self._ours[at]

    def __iter__(self) -> Any:
        return iter(self._ours)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TAxis) or self.member("fNbins") != other.member("fNbins"):
            return False
        return (
            bool(np.array_equal(self._ours.edges(), other._ours.edges()))
            and self._ours.labels() == other._ours.labels()
        )

    __hash__ = object.__hash__

    def widths(self, flow: bool = False) -> Any:
        """Widths of the bins."""
        if flow or len(np.asarray(self.member("fXbins"))):
            return np.diff(self._ours.edges(flow))
        return np.full(len(self), (self.member("fXmax") - self.member("fXmin")) / self.member("fNbins"))


class Histogram(Behavior):
    """A histogram."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.member("fName"))

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.member("fTitle"))

    @property
    def axes(self) -> tuple[Any, ...]:
        """Its axes."""
        return tuple(self._wrapped(axis) for axis in self._ours.axes)

    def axis(self, axis: int | str = 0) -> Any:
        """An axis by its number or name."""
        if isinstance(axis, str):
            if axis not in "xyz"[: len(self.axes)]:
                raise ValueError(f"axis must be one of {', '.join('xyz'[: len(self.axes)])}, not {axis!r}")
            axis = "xyz".index(axis)
        if not -len(self.axes) <= axis < len(self.axes):
            raise ValueError(f"there are {len(self.axes)} axes, and no axis {axis!r}")
        return self.axes[axis]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Histogram):
            return False
        same = self._ours.values(True), other._ours.values(True)
        errors = self._ours.variances(True), other._ours.variances(True)
        return self.axes == other.axes and np.array_equal(*same) and np.array_equal(*errors)

    __hash__ = object.__hash__

    def counts(self, flow: bool = False) -> Any:
        """The contents of the bins, as `values`."""
        return self._ours.values(flow)

    def to_numpy(self, flow: bool = False, dd: bool = False, errors: bool = False) -> Any:
        """Values and edges, as NumPy's functions for histograms give them."""
        values = self._ours.values(flow)
        edges = tuple(axis.edges(flow) for axis in self._ours.axes)
        found = values if not errors else (values, self._ours.errors(flow))
        return (found, edges) if dd else (found, *edges)

    def to_boost(
        self, metadata: dict[str, str] = boost_metadata, axis_metadata: dict[str, str] = boost_axis_metadata
    ) -> Any:
        """A histogram of boost-histogram.

        Args:
            metadata: Attributes of the histogram, and the members that they are.
            axis_metadata: The same for its axes.
        """
        found = _by_numbers(self._boost())
        for name, member in metadata.items():
            setattr(found, name, self.member(member))
        for made, axis in zip(found.axes, self.axes, strict=True):
            for name, member in axis_metadata.items():
                setattr(made, name, axis.member(member))
        return found

    def _boost(self) -> Any:
        return self._ours.to_boost()

    def to_hist(
        self, metadata: dict[str, str] = boost_metadata, axis_metadata: dict[str, str] = boost_axis_metadata
    ) -> Any:
        """A histogram of hist. The arguments are those of `to_boost`."""
        return package("hist").Hist(self.to_boost(metadata, axis_metadata))

    def _to_boost_histogram_(self) -> Any:
        return self.to_boost()

    def _values_variances(self, flow: bool) -> tuple[Any, Any]:
        return self._ours.values(flow), self._ours.variances(flow)


def _by_numbers(made: Any) -> Any:
    """A histogram whose axes with labels that are whole numbers have these instead."""
    bh = package("boost_histogram")

    def axis(old: Any) -> Any:
        try:
            labels = [int(label) for label in old] if isinstance(old, bh.axis.StrCategory) else []
        except ValueError:
            return old
        fit = labels and len(set(labels)) == len(labels) and all(-(2**31) <= label < 2**31 for label in labels)
        return bh.axis.IntCategory(labels) if fit else old

    axes = [axis(old) for old in made.axes]
    if all(new is old for new, old in zip(axes, made.axes, strict=True)):
        return made
    found = bh.Histogram(*axes, storage=made.storage_type())
    found.view(flow=True)[...] = made.view(flow=True)
    return found


class TH1(Histogram):
    """A histogram of one dimension."""


class TH2(Histogram):
    """A histogram of two dimensions."""


class TH3(Histogram):
    """A histogram of three dimensions."""


class Profile(Histogram):
    """Means in bins."""

    def _boost(self) -> Any:
        # With sums of weights, whether there are weights or not.
        return self._ours._as_means(True)

    def counts(self, flow: bool = False) -> Any:
        """How many entries without weights would know as much, for each bin."""
        return self._ours.counts(flow)

    def effective_entries(self, flow: bool = False) -> Any:
        """How many entries without weights would know as much, for each bin."""
        return self._ours.counts(flow)


class TProfile(Profile, TH1):
    """Means in bins of one dimension."""


class TProfile2D(Profile, TH2):
    """Means in bins of two dimensions."""


class TProfile3D(Profile, TH3):
    """Means in bins of three dimensions."""


class TH2Poly(TH2):
    """A histogram whose bins are polygons."""


class TGraph(Behavior):
    """Points."""

    def values(self, axis: Any = "both") -> Any:
        """The coordinates of an axis, by its number or name, or of both."""
        return self._ours.values(axis)


class TGraphAsymmErrors(TGraph):
    """Points with errors to both sides."""

    def errors(self, which: str, axis: Any = "both") -> Any:
        """The errors.

        Args:
            which: ``"low"``, ``"high"``, ``"mean"`` of both, or ``"diff"`` of them.
            axis: As in `values`.
        """
        return self._ours.errors(which, axis)


class TGraphErrors(TGraph):
    """Points with errors."""

    def errors(self, axis: Any = "both") -> Any:
        """The errors of an axis, by its number or name, or of both."""
        return self._ours.errors("mean", axis)


class RooHist(TGraphAsymmErrors):
    """A histogram of RooFit, which is points with errors."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.member("fName"))

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.member("fTitle"))

    def to_numpy(self, dd: bool = False) -> Any:
        """Values and edges, as NumPy's functions for histograms give them."""
        edges, values = self._edges(), self.values("y")
        return (values, (edges,)) if dd else (values, edges)

    def _edges(self) -> Any:
        centers = self.values("x")
        low, high = centers - self.errors("low", "x"), centers + self.errors("high", "x")
        if not np.all(np.isclose(low[1:], high[:-1])):
            raise ValueError("the bins of this RooHist do not meet")
        return np.append(low, high[-1:])

    def to_boost(self) -> Any:
        """A histogram of boost-histogram."""
        boost = package("boost_histogram")
        axis = boost.axis.Variable(self._edges(), underflow=False, overflow=False)
        axis.name, axis.title = self.name, self.title
        made = boost.Histogram(axis, storage=boost.storage.Weight())
        made.name, made.title = self.name, self.title
        made.view().value = self.values("y")
        made.view().variance = np.square(self.errors("mean", "y"))
        return made

    def to_hist(self) -> Any:
        """A histogram of hist."""
        return package("hist").Hist(self.to_boost())

    def _to_boost_histogram_(self) -> Any:
        return self.to_boost()


class RooCurve(TGraph):
    """A curve of RooFit: points, or the outline of a band of errors."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.member("fName"))

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.member("fTitle"))

    @property
    def curve_type(self) -> str:
        """``"VALUES"``, or ``"ERRORS"`` if it ends where it begins, as the outline of a band."""
        x = self.values("x")
        return "ERRORS" if len(x) and np.isclose(x[0], x[-1]) else "VALUES"

    def interpolate(self, xvalues: Any) -> Any:
        """The curve at some places."""
        if self.curve_type == "ERRORS":
            raise ValueError("this RooCurve is a band of errors: interpolate_errors is for those")
        return np.interp(xvalues, *self.values())

    def interpolate_asymm_errors(self, xvalues: Any) -> tuple[Any, Any]:
        """The upper and the lower end of the band at some places."""
        if self.curve_type == "VALUES":
            raise ValueError("this RooCurve is no band of errors: interpolate is for those")
        x, y = self.values()
        # The outline turns in the middle of its points that lie farthest to the right.
        farthest = np.flatnonzero(x == x.max())
        turn = int(farthest[0]) + (len(farthest) + 1) // 2
        there, back = (x[:turn], y[:turn]), (x[turn:][::-1], y[turn:][::-1])
        if np.any(np.diff(there[0]) < 0) or np.any(np.diff(back[0]) < 0):
            raise ValueError("the outline of this RooCurve turns more than once")
        return np.interp(xvalues, *there), np.interp(xvalues, *back)

    def interpolate_errors(self, xvalues: Any) -> Any:
        """Half of the width of the band at some places."""
        up, down = self.interpolate_asymm_errors(xvalues)
        return np.abs(up - down) / 2

    def to_boost(self, bin_edges: Any, error_curve: Any = None) -> Any:
        """A histogram of boost-histogram with the curve in the middle of bins, and the variances of a band."""
        boost = package("boost_histogram")
        axis = boost.axis.Variable(bin_edges, underflow=False, overflow=False)
        axis.name, axis.title = self.name, self.title
        edges = np.asarray(bin_edges)
        centers = (edges[1:] + edges[:-1]) / 2
        storage = boost.storage.Double() if error_curve is None else boost.storage.Weight()
        made = boost.Histogram(axis, storage=storage)
        made.name, made.title = self.name, self.title
        if error_curve is None:
            made.view()[...] = self.interpolate(centers)
        else:
            made.view().value = self.interpolate(centers)
            made.view().variance = np.square(error_curve.interpolate_errors(centers))
        return made

    def to_hist(self, bin_edges: Any, error_curve: Any = None) -> Any:
        """A histogram of hist. The arguments are those of `to_boost`."""
        return package("hist").Hist(self.to_boost(bin_edges, error_curve))


class TParameter(Behavior):
    """A number with a name."""

    @property
    def value(self) -> Any:
        """The number."""
        return self.member("fVal")

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"{self.value!r} is no whole number")
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, TParameter) else other))

    __hash__ = object.__hash__


class TDatime(Behavior):
    """A date with a time."""

    def to_datetime(self) -> Any:
        """As Python has it."""
        return self._ours.to_datetime()


class TArray(Behavior):
    """Numbers."""

    def _numbers(self) -> Any:
        return np.asarray(self._ours.member(f"{self._ours.classname}"))

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self._numbers()

    def __len__(self) -> int:
        return len(self._numbers())

    def __getitem__(self, at: Any) -> Any:
        return self._numbers()[at]

    def __iter__(self) -> Any:
        return iter(self._numbers())

    def tolist(self) -> Any:
        """A list."""
        return self._numbers().tolist()


class TRefArray(Behavior):
    """References to objects."""

    @property
    def refs(self) -> Any:
        """The numbers of the objects."""
        return self.member("refs")


class Matrix(Behavior):
    """A matrix or a vector."""

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self._ours, *args)

    def __len__(self) -> int:
        return len(self._ours)

    def __getitem__(self, at: Any) -> Any:
        return self._ours[at]


_BY_NAME: dict[str, type[Behavior]] = {
    "TAxis": TAxis,
    "TDatime": TDatime,
    "TGraph": TGraph,
    "TGraphAsymmErrors": TGraphAsymmErrors,
    "TGraphErrors": TGraphErrors,
    "RooHist": RooHist,
    "RooCurve": RooCurve,
    "TH2Poly": TH2Poly,
    "TRefArray": TRefArray,
    "TProfile": TProfile,
    "TProfile2D": TProfile2D,
    "TProfile3D": TProfile3D,
}


def of(classname: str) -> tuple[type[Behavior], ...]:
    """The behaviors of a class."""
    if classname in _BY_NAME:
        return (_BY_NAME[classname],)
    if classname[:3] in ("TH1", "TH2", "TH3") and len(classname) == 4:
        return ({"TH1": TH1, "TH2": TH2, "TH3": TH3}[classname[:3]],)
    if classname.startswith("TArray"):
        return (TArray,)
    if classname.startswith("TParameter<"):
        return (TParameter,)
    return ()


def behavior_of(name: str) -> Any:
    """The behavior of a class, or ``None``."""
    found = of(name)
    return found[0] if found else None
