"""Histograms, profiles and axes by their members, with the arguments of uproot's ``writing.identify``."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from forthwith._errors import RequestError, RequestTypeError
from forthwith._packages import package
from forthwith._writable.objects import _inner
from forthwith.uproot._made import Made
from forthwith.uproot._model import Held

__all__ = [
    "to_TArray",
    "to_TAxis",
    "to_TH1x",
    "to_TH2x",
    "to_TH3x",
    "to_THNx",
    "to_TProfile",
    "to_TProfile2D",
    "to_TProfile3D",
    "to_TString",
]

# Classes of arrays and the letter of their histograms, by the type of numbers.
_LETTERS = {"int8": "C", "int16": "S", "int32": "I", "int64": "L", "float32": "F", "float64": "D"}

# Members of all histograms and their values, in uproot's order of arguments.
_SHOWN = {
    "fNcells": None,
    "fBarOffset": 0,
    "fBarWidth": 1000,
    "fMaximum": -1111.0,
    "fMinimum": -1111.0,
    "fNormFactor": 0.0,
    "fContour": None,
    "fOption": "",
    "fFunctions": None,
    "fBufferSize": 0,
    "fBuffer": None,
    "fBinStatErrOpt": 0,
    "fStatOverflows": 2,
    "fLineColor": 602,
    "fLineStyle": 1,
    "fLineWidth": 1,
    "fFillColor": 0,
    "fFillStyle": 1001,
    "fMarkerColor": 1,
    "fMarkerStyle": 1,
    "fMarkerSize": 1.0,
}
_AXIS = {
    "fXbins": None,
    "fFirst": 0,
    "fLast": 0,
    "fBits2": 0,
    "fTimeDisplay": False,
    "fTimeFormat": "",
    "fLabels": None,
    "fModLabs": None,
    "fNdivisions": 510,
    "fAxisColor": 1,
    "fLabelColor": 1,
    "fLabelFont": 42,
    "fLabelOffset": 0.005,
    "fLabelSize": 0.035,
    "fTickLength": 0.03,
    "fTitleOffset": 1.0,
    "fTitleSize": 0.035,
    "fTitleColor": 1,
    "fTitleFont": 42,
}
_SUMS_1 = ("fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2")
_SUMS_2 = ("fTsumwy", "fTsumwy2", "fTsumwxy")
_SUMS_3 = ("fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz")
_AXES = ("fXaxis", "fYaxis", "fZaxis")


def to_TString(string: Any) -> str:
    """A text."""
    return str(string)


def to_TArray(data: Any) -> Made:
    """Numbers as one of ROOT's arrays, by their type.

    Raises:
        ValueError: They are not of one dimension, or not signed integers or floating-point numbers.
    """
    array = package("numpy").asarray(data)
    letter = _LETTERS.get(array.dtype.newbyteorder("=").name)
    if array.ndim != 1 or letter is None:
        raise RequestError(
            f"TArray of {array.ndim} dimensions of {array.dtype}: it has one, of signed integers or floats"
        )
    return Made(_typename=f"TArray{letter}", fN=len(array), fArray=array.astype(array.dtype.newbyteorder("=")))


def _taking(classname: str, names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[[Callable[..., Made]], Any]:
    """A decorator: the function of a dict of members as one of uproot's arguments, by place or by name."""
    required = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    optional = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value) for name, value in defaults.items()]
    signature = Signature([*required, *optional])

    def decorate(make: Callable[..., Made]) -> Callable[..., Made]:
        def made(*args: Any, **named: Any) -> Made:
            bound = signature.bind(*args, **named)
            bound.apply_defaults()
            return make(classname, {name: _part(value) for name, value in bound.arguments.items()})

        made.__name__, made.__qualname__, made.__doc__ = make.__name__, make.__qualname__, make.__doc__
        made.__signature__ = signature  # type: ignore[attr-defined]
        return made

    return decorate


def _part(value: Any) -> Any:
    """A member: of objects of files their members."""
    return Made(_inner(value.forthwith)) if isinstance(value, Held) else value


def _numbers(value: Any) -> Any:
    """An array, also of a ``TArray``; none of ``None``."""
    np = package("numpy")
    if isinstance(value, dict):
        name = str(value["_typename"])
        value = value["fArray"] if "fArray" in value else value[name]
    return np.zeros(0) if value is None else np.asarray(value)


def _floats(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """Members that are arrays of floating-point numbers.

    Raises:
        RequestTypeError: One has others.
    """
    found = {name: _numbers(values[name]) for name in names}
    for name, array in found.items():
        if array.dtype.newbyteorder("=") != "f8" or array.ndim != 1:
            raise RequestTypeError(f"{name} is an array of float64 of one dimension (TArrayD), not of {array.dtype}")
    return found


@_taking("TAxis", ("fName", "fTitle", "fNbins", "fXmin", "fXmax"), _AXIS)
def to_TAxis(classname: str, values: dict[str, Any]) -> Made:
    """An axis by its members."""
    labels = values["fLabels"]
    if isinstance(labels, dict):
        # The number of a label is that of its bin.
        items = [{"fUniqueID": at + 1, "fBits": 0, **item} for at, item in enumerate(labels["items"])]
        values["fLabels"] = Made({**labels, "items": items})
    return Made({"_typename": classname, **values, **_floats(values, "fXbins")})


def _unused_axis(letter: str) -> Made:
    axis: Made = to_TAxis(f"{letter}axis", "", 1, 0.0, 1.0)
    return axis


def _histogram(kind: str, values: dict[str, Any], letters: str = "CSIFD") -> Made:
    """A histogram or a profile, whose class may depend on the type of its numbers."""
    np = package("numpy")
    data = values.pop("data")
    array = _numbers(data if isinstance(data, dict) else to_TArray(data))
    letter = _LETTERS.get(array.dtype.newbyteorder("=").name, "L")
    if letter not in letters:
        raise RequestTypeError(f"{kind} has no class for numbers of type {array.dtype}")
    arrays = ["fSumw2", "fContour", *(name for name in ("fBinEntries", "fBinSumw2") if name in values)]
    functions = values["fFunctions"]
    if not isinstance(functions, dict):
        functions = {"_typename": "TList", "fName": "", "items": [_part(one) for one in functions or []]}
    buffer = _numbers(values["fBuffer"]).astype(np.float64)
    made = {
        "_typename": kind.replace("x", letter),
        **values,
        "fNcells": len(array) if values["fNcells"] is None else values["fNcells"],
        "fBufferSize": len(buffer) if values["fBufferSize"] is None else values["fBufferSize"],
        "fBuffer": buffer,
        "fFunctions": functions,
        f"TArray{letter}": array,
        **_floats(values, *arrays),
    }
    for name in _AXES:
        if made.get(name) is None:
            made[name] = _unused_axis(name[1].lower())
    return Made(made)


_NAMED = ("fName", "fTitle", "data", "fEntries")
_NO_Y: dict[str, Any] = {"fYaxis": None, "fZaxis": None}
_NO_Z: dict[str, Any] = {"fZaxis": None}


@_taking("TH1x", (*_NAMED, *_SUMS_1, "fSumw2", "fXaxis"), {**_NO_Y, **_SHOWN})
def to_TH1x(classname: str, values: dict[str, Any]) -> Made:
    """A histogram of one axis by its members: ``TH1D``, ``TH1F``, ``TH1I``, ``TH1S`` or ``TH1C`` by the type of ``data``."""
    return _histogram(classname, values)


@_taking("TH2x", (*_NAMED, *_SUMS_1, *_SUMS_2, "fSumw2", *_AXES[:2]), {**_NO_Z, "fScalefactor": 1.0, **_SHOWN})
def to_TH2x(classname: str, values: dict[str, Any]) -> Made:
    """As `to_TH1x`, of two axes. The first axis runs fastest in ``data``."""
    return _histogram(classname, values)


@_taking("TH3x", (*_NAMED, *_SUMS_1, *_SUMS_2, *_SUMS_3, "fSumw2", *_AXES), _SHOWN)
def to_TH3x(classname: str, values: dict[str, Any]) -> Made:
    """As `to_TH1x`, of three axes. The first axis runs fastest in ``data``."""
    return _histogram(classname, values)


def to_THNx(*args: Any, **named: Any) -> Made:
    """A histogram of as many axes as are given by name, with the arguments of `to_TH1x`, `to_TH2x` or `to_TH3x`.

    Raises:
        RequestTypeError: An axis by name is missing.
    """
    axes = sum(named.get(name) is not None for name in _AXES)
    if axes == 0:
        raise RequestTypeError("to_THNx takes one to three axes by name: fXaxis, fYaxis, fZaxis")
    made: Made = (to_TH1x, to_TH2x, to_TH3x)[axes - 1](*args, **named)
    return made


_BINS = ("fSumw2", "fBinEntries", "fBinSumw2")


@_taking(
    "TProfile",
    (*_NAMED, *_SUMS_1, *_SUMS_2[:2], *_BINS, "fXaxis"),
    {**_NO_Y, "fYmin": 0.0, "fYmax": 0.0, "fErrorMode": 0, **_SHOWN},
)
def to_TProfile(classname: str, values: dict[str, Any]) -> Made:
    """A profile of one axis by its members; ``data`` are sums of weighted values."""
    return _histogram(classname, values, "D")


@_taking(
    "TProfile2D",
    (*_NAMED, *_SUMS_1, *_SUMS_2, *_SUMS_3[:2], *_BINS, *_AXES[:2]),
    {**_NO_Z, "fScalefactor": 1.0, "fZmin": 0.0, "fZmax": 0.0, "fErrorMode": 0, **_SHOWN},
)
def to_TProfile2D(classname: str, values: dict[str, Any]) -> Made:
    """As `to_TProfile`, of two axes."""
    return _histogram(classname, values, "D")


@_taking(
    "TProfile3D",
    (*_NAMED, *_SUMS_1, *_SUMS_2, *_SUMS_3, "fTsumwt", "fTsumwt2", *_BINS, *_AXES),
    {"fTmin": 0.0, "fTmax": 0.0, "fErrorMode": 0, **_SHOWN},
)
def to_TProfile3D(classname: str, values: dict[str, Any]) -> Made:
    """As `to_TProfile`, of three axes."""
    return _histogram(classname, values, "D")
