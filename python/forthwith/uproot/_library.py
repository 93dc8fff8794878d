"""What arrays become: the libraries of ``library=``, and what ``how=`` puts several arrays into."""

from __future__ import annotations

import contextlib
from typing import Any

from forthwith._packages import package
from forthwith.uproot._numpy import convert


class Library:
    """A library that arrays are given to."""

    name = ""

    @property
    def imported(self) -> Any:
        """The module."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return repr(self.name)

    def one(self, array: Any, branch: Any, start: int) -> Any:
        """One array of forthwith's."""
        raise NotImplementedError

    def of_awkward(self, array: Any, name: str, start: int) -> Any:
        """What was computed with Awkward Array."""
        raise NotImplementedError

    def of_entries(self, column: Any, entries: Any) -> Any:
        """A column of some entries, where the library knows the numbers of entries."""
        return column

    def group(self, columns: dict[str, Any], order: list[str], how: Any, length: int, start: int) -> Any:
        """Several arrays in what is asked for."""
        if how is tuple:
            return tuple(columns[name] for name in order)
        if how is list:
            return [columns[name] for name in order]
        if how is dict or (how is None and not self._has_groups):
            return {name: columns[name] for name in dict.fromkeys(order)}
        return self._group({name: columns[name] for name in dict.fromkeys(order)}, how, length, start)

    _has_groups = True

    def _group(self, columns: dict[str, Any], how: Any, length: int, start: int) -> Any:
        raise TypeError(f"library={self.name!r} has no how={how!r}: it is None, tuple, list or dict")

    def concatenate(self, parts: list[Any]) -> Any:
        """One array, or group, of several."""
        first = parts[0]
        if isinstance(first, dict):
            return {name: self._joined([part[name] for part in parts]) for name in first}
        if isinstance(first, tuple | list):
            return type(first)(self._joined(list(column)) for column in zip(*parts, strict=True))
        return self._joined(parts)

    def _joined(self, parts: list[Any]) -> Any:
        raise NotImplementedError


class NumPy(Library):
    """NumPy arrays."""

    name = "np"
    _has_groups = False

    @property
    def imported(self) -> Any:
        """The module."""
        return package("numpy")

    def one(self, array: Any, branch: Any, start: int) -> Any:
        """One NumPy array."""
        return convert(array.logical(), branch.typename, branch.file, branch._has_leaves)

    def of_awkward(self, array: Any, name: str, start: int) -> Any:
        """What was computed with Awkward Array."""
        np = self.imported
        # Lists stay lists, also where all happen to be equally long.
        if isinstance(array, np.ndarray):
            return array
        if not _is_jagged(array.layout):
            with contextlib.suppress(TypeError, ValueError):
                return package("awkward").to_numpy(array)
        out = np.empty(len(array), dtype=object)
        for at, one in enumerate(array):
            out[at] = numpy_entry(one) if getattr(one, "ndim", 0) == 1 else one
        return out

    def _joined(self, parts: list[Any]) -> Any:
        np = self.imported
        return (np.ma if any(isinstance(part, np.ma.MaskedArray) for part in parts) else np).concatenate(parts)


def numpy_entry(one: Any) -> Any:
    """A list of an Awkward Array: an array, masked where values are missing, or what Python has of what NumPy cannot hold."""
    try:
        return package("awkward").to_numpy(one)
    except (TypeError, ValueError):
        return one.tolist()


class Awkward(Library):
    """Awkward Arrays."""

    name = "ak"

    @property
    def imported(self) -> Any:
        """The module."""
        return package("awkward")

    def one(self, array: Any, branch: Any, start: int) -> Any:
        """One Awkward Array."""
        return self.imported.Array(array.logical().layout())

    def of_awkward(self, array: Any, name: str, start: int) -> Any:
        """The array itself."""
        return array

    def _group(self, columns: dict[str, Any], how: Any, length: int, start: int) -> Any:
        ak = self.imported
        if how == "zip":
            return _zipped(ak, columns, length)
        if how is not None:
            super()._group(columns, how, length, start)
        layouts = [column.layout for column in columns.values()]
        return ak.Array(ak.contents.RecordArray(layouts, list(columns), length=length if layouts else 0))

    def _joined(self, parts: list[Any]) -> Any:
        return self.imported.concatenate(parts)


class Pandas(Library):
    """pandas Series and DataFrames."""

    name = "pd"

    @property
    def imported(self) -> Any:
        """The module."""
        return package("pandas")

    def one(self, array: Any, branch: Any, start: int) -> Any:
        """One Series."""
        ak = package("awkward")
        return self.of_awkward(ak.Array(array.logical().layout()), branch.name, start)

    def of_awkward(self, array: Any, name: str, start: int) -> Any:
        """What was computed with Awkward Array."""
        pd, np = self.imported, package("numpy")
        layout = array.layout
        flat = layout.is_numpy and layout.purelist_depth == 1
        values = np.asarray(array) if flat else _extension(array)
        return pd.Series(values, index=pd.RangeIndex(start, start + len(array)))

    def of_entries(self, column: Any, entries: Any) -> Any:
        """A Series with the numbers of its entries as index."""
        column.index = self.imported.Index(package("numpy").asarray(entries))
        return column

    def _group(self, columns: dict[str, Any], how: Any, length: int, start: int) -> Any:
        pd = self.imported
        index = next(iter(columns.values())).index if columns else pd.RangeIndex(start, start + length)
        return pd.DataFrame(columns, index=index, copy=False)

    def _joined(self, parts: list[Any]) -> Any:
        return self.imported.concat(parts)


def _extension(array: Any) -> Any:
    """A column of pandas of what is no number: of awkward-pandas where it is installed, otherwise of Arrow data."""
    try:
        from awkward_pandas import AwkwardExtensionArray  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        pass
    else:
        return AwkwardExtensionArray(array)
    ak, pa = package("awkward"), package("pyarrow")
    arrow = ak.to_arrow(array, extensionarray=False)
    try:
        arrow.validate(full=True)
    except pa.ArrowInvalid:
        # Text that is not UTF-8, which Arrow does not have: objects of Python, as those of NumPy arrays.
        objects = package("numpy").empty(len(array), dtype=object)
        objects[:] = array.to_list()
        return objects
    return package("pandas").arrays.ArrowExtensionArray(arrow)


def _zipped(ak: Any, columns: dict[str, Any], length: int) -> Any:
    """Records of the columns, where lists of the same lengths are one list of records."""
    np = package("numpy")
    plain: dict[str, Any] = {}
    lists: list[tuple[Any, list[str]]] = []
    for name, column in columns.items():
        layout = column.layout
        if not _is_jagged(layout):
            plain[name] = column
            continue
        offsets = layout.to_ListOffsetArray64(True).offsets
        for known, names in lists:
            if np.array_equal(known, offsets):
                names.append(name)
                break
        else:
            lists.append((offsets, [name]))
    for number, (_, names) in enumerate(lists):
        cut = _common(names)
        word = names[0][:cut].strip("_./")
        if cut == 0 or word in plain:
            cut, word = 0, f"jagged{number}"
        plain[word] = ak.zip({name[cut:].strip("_./") if cut else name: columns[name] for name in names}, depth_limit=2)
    layouts = [column.layout for column in plain.values()]
    return ak.Array(ak.contents.RecordArray(layouts, list(plain), length=length if layouts else 0))


def _is_jagged(layout: Any) -> bool:
    """Whether it is lists of numbers, or of arrays of them: those that uproot calls jagged."""
    if not layout.is_list or layout.is_regular or layout.parameter("__array__") is not None:
        return False
    content = layout.content
    while content.is_regular and content.parameter("__array__") is None:
        content = content.content
    return content.is_numpy and content.parameter("__array__") is None


def _common(names: list[str]) -> int:
    """The length of the beginning that all names share, up to one of ``_./``."""
    cut = min(map(len, names))
    while cut > 0 and (names[0][cut - 1] not in "_./" or any(name[:cut] != names[0][:cut] for name in names)):
        cut -= 1
    return cut


_ALL = {
    "np": NumPy, "numpy": NumPy, "NumPy": NumPy, "ak": Awkward, "awkward": Awkward, "Awkward": Awkward, "pd": Pandas,
    "pandas": Pandas, "Pandas": Pandas,
}  # fmt: skip


def library_of(wanted: Any) -> Library:
    """The library of a name.

    Raises:
        ValueError: There is none.
    """
    if isinstance(wanted, Library):
        return wanted
    if isinstance(wanted, type) and issubclass(wanted, Library):
        return wanted()
    if wanted not in _ALL:
        raise ValueError(f"library must be one of {', '.join(map(repr, _ALL))}, not {wanted!r}")
    return _ALL[wanted]()
