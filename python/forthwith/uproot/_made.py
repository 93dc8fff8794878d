"""Objects to be written by uproot's functions that make them: members by their names, as `forthwith.recreate` takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forthwith._errors import RequestError
from forthwith._packages import package


class Made(dict[str, Any]):
    """An object of a class, by its members."""

    @property
    def classname(self) -> str:
        """Its class."""
        return str(self["_typename"])

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether it was given a member of that name."""
        return name in self

    def member(self, name: str, all: bool = True) -> Any:
        """A member."""
        return self[name]


def to_writable(obj: Any) -> Any:
    """The object itself: what can be written is written as it is."""
    return obj


def to_TObjString(string: Any) -> Made:
    """A text as an object."""
    return Made(_typename="TObjString", fString=str(string))


def to_TList(data: Iterable[Any], name: str = "") -> Made:
    """Objects as a list."""
    return Made(_typename="TList", fName=name, items=_items(data))


def to_THashList(data: Iterable[Any], name: str = "") -> Made:
    """Objects as a list that is found in by names."""
    return Made(_typename="THashList", fName=name, items=_items(data))


def _items(data: Iterable[Any]) -> list[Any]:
    return [to_TObjString(item) if isinstance(item, str) else item for item in data]


# uproot's columns of a graph, and the members that they are.
_SYMMETRIC = {"x_errors": "fEX", "y_errors": "fEY"}
_ASYMMETRIC = {
    "x_errors_low": "fEXlow",
    "x_errors_high": "fEXhigh",
    "y_errors_low": "fEYlow",
    "y_errors_high": "fEYhigh",
}


def as_TGraph(
    df: Mapping[str, Any],
    title: str = "",
    xAxisLabel: str = "",
    yAxisLabel: str = "",
    minY: float | None = None,
    maxY: float | None = None,
    lineColor: int = 602,
    lineStyle: int = 1,
    lineWidth: int = 1,
    markerColor: int = 1,
    markerStyle: int = 1,
    markerSize: float = 1.0,
) -> Made:
    """A graph of columns: ``x``, ``y``, and ``x_errors``, ``y_errors``, or the four with ``_low`` and ``_high``.

    Args:
        df: The columns: a dict of arrays or a data frame. Others are left out.
        title: The title.
        xAxisLabel: The label of the axis, which becomes a part of the title as ROOT has it (``"title;x;y"``).
        yAxisLabel: The same of the other axis.
        minY: The end of the axis; a tenth of the range below the least ``y`` if not given.
        maxY: The other end.
        lineColor: As in ROOT.
        lineStyle: As in ROOT.
        lineWidth: As in ROOT.
        markerColor: As in ROOT.
        markerStyle: As in ROOT.
        markerSize: As in ROOT.

    Raises:
        RequestError: ``x`` or ``y`` is missing or of another length, or only some columns of errors are there.
    """
    np = package("numpy")
    columns = {
        name: np.asarray(df[name], dtype=float)
        for name in ("x", "y", *_SYMMETRIC, *_ASYMMETRIC)
        if name in df and df[name] is not None
    }
    errors = columns.keys() - {"x", "y"}
    known = {frozenset(): "TGraph", frozenset(_SYMMETRIC): "TGraphErrors", frozenset(_ASYMMETRIC): "TGraphAsymmErrors"}
    kind = known.get(frozenset(errors))
    if kind is None or not {"x", "y"} <= columns.keys():
        raise RequestError(
            f"a graph has x and y, and all of {list(_SYMMETRIC)} or {list(_ASYMMETRIC)}, not {list(columns)}"
        )
    if len({array.shape for array in columns.values()}) > 1 or columns["x"].ndim != 1:
        raise RequestError(f"columns of a graph are equally long: { ({name: a.shape for name, a in columns.items()}) }")
    y = columns["y"]
    least, most = (float(y.min()), float(y.max())) if len(y) else (0.0, 0.0)
    members = {"x": "fX", "y": "fY", **_SYMMETRIC, **_ASYMMETRIC}
    return Made(
        _typename=kind,
        fTitle=f"{title};{xAxisLabel};{yAxisLabel}" if xAxisLabel or yAxisLabel else title,
        fMinimum=least - 0.1 * (most - least) if minY is None else minY,
        fMaximum=most + 0.1 * (most - least) if maxY is None else maxY,
        fLineColor=lineColor,
        fLineStyle=lineStyle,
        fLineWidth=lineWidth,
        fMarkerColor=markerColor,
        fMarkerStyle=markerStyle,
        fMarkerSize=markerSize,
        **{members[name]: array for name, array in columns.items()},
    )
