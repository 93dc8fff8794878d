"""pandas: numbers as they are, everything else as Arrow data. The index counts the entries of the tree."""

from __future__ import annotations

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

    def __init__(self, how: How) -> None:
        super().__init__(how)
        self._pd = package("pandas")
        self._np = package("numpy")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One Series."""
        index = self._pd.RangeIndex(start, start + len(array))
        if array.type_string in _FLAT:
            ((_, buffer),) = array.buffers()
            return self._pd.Series(self._np.asarray(buffer), index=index, name=name)
        pa = package("pyarrow")
        data = self._pd.arrays.ArrowExtensionArray(pa.array(array))
        return self._pd.Series(data, index=index, name=name)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """A DataFrame."""
        columns = {label: self.column(label, array, start) for label, array in arrays}
        return self._pd.DataFrame(columns, index=self._pd.RangeIndex(start, stop), copy=False)

    def concatenated(self, parts: list[Any]) -> Any:
        """One DataFrame or Series of several, with an index of its own."""
        return self._pd.concat(parts, ignore_index=True)
