"""pandas: numbers as they are, everything else as Arrow data. The index counts the entries of the tree."""

from __future__ import annotations

from forthwith._interop import exact
from forthwith._interop.arrow import Capsules
from forthwith._interop.base import Library
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays, How

_FLAT = {
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
}


class PandasLibrary(Library):
    """pandas: numbers as they are, everything else as Arrow data. The index counts the entries of the tree."""

    takes_bits = True

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._pd = package("pandas")
        self._np = package("numpy")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One Series."""
        if array.type_string in _FLAT:
            ((_, buffer),) = array.buffers()
            index = self._pd.RangeIndex(start, start + len(array))
            return self._pd.Series(self._np.asarray(buffer), index=index, name=name)
        return self._series(name, package("pyarrow").array(Capsules(array)), start)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """A DataFrame."""
        columns = {label: self.column(label, array, start) for label, array in arrays}
        return self._pd.DataFrame(columns, index=self._pd.RangeIndex(start, stop), copy=False)

    def optional(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One Series of Arrow data."""
        return self._series(name, package("pyarrow").array(Capsules(array)), start)

    def nulls(self, name: str, like: _forthwith.Array, start: int, length: int) -> Any:
        """A Series of Arrow nulls."""
        pa = package("pyarrow")
        return self._series(name, pa.nulls(length, pa.array(Capsules(like)).type), start)

    def _series(self, name: str, data: Any, start: int) -> Any:
        index = self._pd.RangeIndex(start, start + len(data))
        return self._pd.Series(self._pd.arrays.ArrowExtensionArray(data), index=index, name=name)

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """A DataFrame."""
        return self._pd.DataFrame(columns, index=self._pd.RangeIndex(start, stop), copy=False)

    def chosen(self, labels: list[str], read: list[_forthwith.Array], kept: _forthwith.Buffer, offset: int) -> Any:
        """The same with the numbers of the entries as index."""
        made = self.together(labels, read, 0, len(kept))
        index = self._pd.Index(self._np.asarray(kept) + offset)
        columns = made.values() if isinstance(made, dict) else made if isinstance(made, tuple | list) else [made]
        for column in columns:
            column.index = index
        return made

    def concatenated(self, parts: list[Any]) -> Any:
        """One DataFrame or Series of several, with an index of its own."""
        first = parts[0]
        if isinstance(first, self._pd.Series):
            self._check(first.name, parts)
        else:
            for label in first.columns:
                self._check(label, [part[label] for part in parts])
        return self._pd.concat(parts, ignore_index=True)

    def _check(self, label: str, parts: list[Any]) -> None:
        dtypes = [self._np.dtype(getattr(part.dtype, "numpy_dtype", part.dtype)) for part in parts]
        exact.check(self._np, label, dtypes, lambda at: parts[at].dropna().to_numpy(dtypes[at]))
