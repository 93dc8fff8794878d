"""Computed histograms and axes, with the members that a file would have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._objects import Holder, Object, Record
from forthwith.hist.axis import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forthwith._file import File
    from forthwith.hist.axis import Numbers
    from forthwith.hist.dimensions import DenseHistogram
    from forthwith.hist.histograms import Histogram

    Base = tuple[str, int, int, int, int]


class MadeRecord(Record):
    """The record of a computed object, with file and path of the original."""

    def __init__(self, file: File, path: str, core: MadeMembers) -> None:
        super().__init__(file, path, core)  # type: ignore[arg-type]

    def reduce(self, what: Object) -> tuple[Any, ...]:
        """Returns the pickle arguments of a computed object."""
        return _again, (type(what), self.file, self.path, self.core)


class MadeMembers:
    """Members of a computed object, with the interface of `_forthwith.Objects`."""

    def __init__(self, classname: str, version: int, members: dict[str, Any], bases: list[Base]) -> None:
        self._classname = classname
        self._version = version
        self._members = members
        self._bases = bases

    @property
    def payload_bytes(self) -> int:
        """Approximate size in bytes."""
        return sum(value.nbytes for value in self._members.values() if isinstance(value, np.ndarray))

    def classname(self, number: int) -> str:
        """Returns the class."""
        return self._classname

    def version(self, number: int) -> int:
        """Returns the version of the class."""
        return self._version

    def kind(self, number: int) -> str:
        """Returns ``"members"``."""
        return "members"

    def raw(self, number: int) -> bytes:
        """Returns no bytes, as the object is not stored."""
        return b""

    def fault(self, number: int) -> None:
        """Returns ``None``, as the object was not read."""

    def names(self, number: int) -> list[str]:
        """Returns the names of the members."""
        return list(self._members)

    def value(self, number: int, slot: int, maker: Record) -> Any:
        """Returns the value of a member."""
        return list(self._members.values())[slot]

    def bases(self, number: int) -> list[Base]:
        """Returns class, version, first slot, slot after the last, and depth of each base."""
        return self._bases


def _again(kind: type[Object], file: File, path: str, core: MadeMembers) -> Object:
    return kind(MadeRecord(file, path, core), 0)


def changed(what: Histogram, members: dict[str, Any]) -> Histogram:
    """Returns the histogram with other values of existing members."""
    core = what._record.core
    bases = core.bases(what._number)
    made = MadeMembers(what.classname, what.class_version, {**what.all_members, **members}, bases)
    return _again(type(what), what.file, what.object_path, made)  # type: ignore[return-value]


def projected(what: Histogram, axes: Sequence[Axis], contents: Numbers, members: dict[str, Any]) -> Histogram:
    """Returns a histogram with other, possibly fewer axes, of 64-bit floats; a profile for profiles."""
    letters = ("fXaxis", "fYaxis", "fZaxis")
    is_profile = what.has_member("fBinEntries")
    values = {name: what._value(slot) for slot, name in enumerate(what._slots()) if not name.startswith("TArray")}
    spare = [made_axis(what.axes[0], letter[1:].lower(), np.array([0.0, 1.0]), None, "") for letter in letters]
    values.update(zip(letters, [*axes, *spare[len(axes) :]], strict=True))
    values.update({"fNcells": len(contents), "TArrayD": contents, **members})
    several = f"{len(axes)}D" if len(axes) > 1 else ""
    ancestors = ["TProfile"] if is_profile and not several else []
    name = f"TProfile{several}" if is_profile else f"TH{len(axes)}D"
    ancestors = ["TH1D" if not several else f"TH{len(axes)}D"] if is_profile else []
    ancestors += [f"TH{len(axes)}"] if several else []
    bases = [*ancestors, "TH1", "TNamed", "TObject", "TArrayD"]
    made = MadeMembers(name, 0, values, [(base, 0, 0, len(values), at + 1) for at, base in enumerate(bases)])
    return _again(type(what), what.file, what.object_path, made)  # type: ignore[return-value]


def many(
    kind: type[DenseHistogram],
    what: Object,
    axes: Sequence[Axis],
    contents: Numbers,
    squares: Numbers | None,
    entries: float,
) -> DenseHistogram:
    """Returns a dense ``THnT`` with any number of axes."""

    def array(numbers: Numbers | None) -> Object:
        data = np.zeros(0) if numbers is None else np.ascontiguousarray(numbers).ravel()
        members = {"fUniqueID": 0, "fBits": 0, "fSizes": np.zeros(0, dtype=np.int64), "fData": data}
        bases = [(base, 0, 0, 2 if at else 3, at + 1) for at, base in enumerate(("TNDArray", "TObject"))]
        return _again(Holder, what.file, what.object_path, MadeMembers("TNDArrayT<double>", 0, members, bases))

    values = {name: what.member(name) for name in ("fUniqueID", "fBits", "fName", "fTitle")}
    values |= {"fNdimensions": len(axes), "fAxes": list(axes), "fEntries": entries}
    values |= {"fSumw2": array(squares), "fArray": array(contents)}
    bases = [(base, 0, 0, len(values), at + 1) for at, base in enumerate(("THn", "THnBase", "TNamed", "TObject"))]
    made = MadeMembers("THnT<double>", 0, values, bases)
    return _again(kind, what.file, what.object_path, made)  # type: ignore[return-value]


def made_axis(like: Axis, name: str, edges: Numbers, labels: list[str] | None, title: str) -> Axis:
    """Returns an axis with other bins; equal widths are stored as number and range, as in ROOT."""
    widths = np.diff(edges)
    span = float(edges[-1] - edges[0])
    even = like.width is not None and np.allclose(widths, span / len(widths), rtol=1e-9)
    values = {one: like.member(one) for one in like.member_names}
    values.update(fName=name, fTitle=title, fNbins=len(widths), fXmin=float(edges[0]), fXmax=float(edges[-1]))
    values.update(fXbins=np.zeros(0) if even else np.asarray(edges), fFirst=0, fLast=0)
    # Clears the bit of a selected range.
    values["fBits"] = int(values.get("fBits", 0)) & ~(1 << 11)
    values["fLabels"] = None if labels is None else [_label(like, at + 1, text) for at, text in enumerate(labels)]
    bases = [(base, 0, 0, len(values), at + 1) for at, base in enumerate(("TNamed", "TObject", "TAttAxis"))]
    made = MadeMembers("TAxis", like.class_version, values, bases)
    return _again(Axis, like.file, like.object_path, made)  # type: ignore[return-value]


def _label(like: Axis, bin: int, text: str) -> Object:
    members = {"fUniqueID": bin, "fBits": 0, "fString": text}
    made = MadeMembers("TObjString", 1, members, [("TObject", 1, 0, 2, 1)])
    return _again(Holder, like.file, like.object_path, made)
