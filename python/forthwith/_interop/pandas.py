"""Conversion to pandas: NumPy numbers, and otherwise Arrow-backed. The index numbers the entries."""

from __future__ import annotations

import itertools
import json

from forthwith._errors import MissingPackageError, UnsupportedError
from forthwith._interop import exact
from forthwith._interop.arrow import Capsules, table_of
from forthwith._interop.base import Library
from forthwith._interop.original import Original, restored
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays, How
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

_FLAT = {
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
}


# Keys of a range index in the pandas metadata, with their defaults.
_COUNTED: tuple[tuple[str, Any], ...] = (("name", None), ("start", 0), ("step", 1))


class PandasLibrary(Library):
    """Converts to pandas: NumPy numbers, and otherwise Arrow-backed. The index numbers the entries."""

    takes_bits = True

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._pd = package("pandas")
        self._np = package("numpy")
        self._counted: tuple[Any, int, int] = (None, 0, 1)
        self._before = 0

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""
        try:
            self.kept = Original(tree, columns)
        except MissingPackageError:
            # Without pyarrow, only numbers are supported.
            self.kept = None
        self._counted = _counted(self.kept.metadata) if self.kept else (None, 0, 1)
        # Each file has the index of its frame, except the default index, which continues over files.
        self.depends_on_file = self._counted != (None, 0, 1)
        self._before = offset if self.depends_on_file else 0

    def _range(self, start: int, stop: int) -> Any:
        """Returns the index of a range of entries: that of the written frame, or their numbers."""
        name, first, step = self._counted
        start, stop = start - self._before, stop - self._before
        return self._pd.RangeIndex(first + start * step, first + stop * step, step, name=name)

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Returns a Series."""
        like = self.kept.fields.get(name) if self.kept else None
        index = self._range(start, start + len(array))
        if self.kept and like is not None and package("pyarrow").types.is_dictionary(like.type):
            pa = package("pyarrow")
            made = restored(pa, pa.array(Capsules(array)), like, self.kept.categories(pa, name))
            return made.to_pandas().set_axis(index).rename(name)
        if array.type_string in _FLAT:
            ((_, buffer),) = array.buffers()
            return self._pd.Series(self._np.asarray(buffer), index=index, name=name)
        return self._series(name, package("pyarrow").array(Capsules(array)), start)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns a DataFrame, with types and index of the frame if pandas wrote the file."""
        if self.kept is not None and "pandas" in self.kept.metadata:
            return self._frame(self.kept, arrays, start, stop)
        columns = {label: self.column(label, array, start) for label, array in arrays}
        return self._pd.DataFrame(columns, index=self._range(start, stop), copy=False)

    def _frame(self, original: Original, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns a DataFrame converted by pyarrow with the pandas metadata."""
        package("pandas.core.arrays.arrow.extension_types")  # which tells pyarrow of periods and intervals
        metadata = original.metadata
        try:
            said = json.loads(metadata["pandas"])
            frame = table_of(package("pyarrow"), original, arrays).to_pandas(split_blocks=True)
            levels = said.get("index_columns", [])
            counted = [level for level in levels if isinstance(level, dict)]
            if counted or not ({level for level in levels if isinstance(level, str)} & {label for label, _ in arrays}):
                frame.index = self._range(start, stop)
            if "PANDAS_ATTRS" in metadata:
                frame.attrs = json.loads(metadata["PANDAS_ATTRS"])
        except (ValueError, KeyError, TypeError, AttributeError, NotImplementedError) as error:
            what = f"the metadata of pandas in the file cannot be used: {str(error).partition(chr(10))[0]}"
            raise UnsupportedError(f'{what}; library="arrow" reads the columns without them') from error
        return frame

    def _series(self, name: str, data: Any, start: int) -> Any:
        index = self._range(start, start + len(data))
        return self._pd.Series(self._pd.arrays.ArrowExtensionArray(data), index=index, name=name)

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns a DataFrame."""
        return self._pd.DataFrame(columns, index=self._range(start, stop), copy=False)

    def chosen(self, labels: list[str], read: list[_forthwith.Array], kept: _forthwith.Buffer, offset: int) -> Any:
        """Converts arrays of selected entries, with their numbers as the index."""
        made = self.together(labels, read, 0, len(kept))
        name, first, step = self._counted
        index = self._pd.Index(first + (self._np.asarray(kept) + offset - self._before) * step, name=name)
        if isinstance(made, self._pd.DataFrame) and not isinstance(made.index, self._pd.RangeIndex):
            return made
        columns = made.values() if isinstance(made, dict) else made if isinstance(made, tuple | list) else [made]
        for column in columns:
            column.index = index
        return made

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates DataFrames or Series, and their indexes."""
        first = parts[0]
        if isinstance(first, self._pd.Series):
            self._check(first.name, parts)
        else:
            for label in first.columns:
                self._check(label, [part[label] for part in parts])
        counted = all(isinstance(part.index, self._pd.RangeIndex) for part in parts)
        joined = self._pd.concat(parts, ignore_index=counted)
        if counted and all(_goes_on(one.index, other.index) for one, other in itertools.pairwise(parts)):
            start, step = first.index.start, first.index.step
            joined.index = self._pd.RangeIndex(start, start + len(joined) * step, step, name=first.index.name)
        joined.attrs = dict(first.attrs)
        return joined

    def _check(self, label: str, parts: list[Any]) -> None:
        try:
            dtypes = [self._np.dtype(getattr(part.dtype, "numpy_dtype", part.dtype)) for part in parts]
        except TypeError:
            return  # a type of pandas that NumPy does not have, and that holds no numbers
        exact.check(self._np, label, dtypes, lambda at: parts[at].dropna().to_numpy(dtypes[at]))


def _goes_on(index: Any, other: Any) -> bool:
    """Whether a range index continues another one."""
    return isinstance(other, type(index)) and (other.start, other.step) == (
        index.start + len(index) * index.step,
        index.step,
    )


def _counted(metadata: dict[str, bytes]) -> tuple[Any, int, int]:
    """Returns name, start and step of the range index of a written frame."""
    try:
        levels = json.loads(metadata.get("pandas", "{}")).get("index_columns", [])
        level = next((level for level in levels if isinstance(level, dict)), {})
        name, first, step = (level.get(key, other) for key, other in _COUNTED)
    except (ValueError, TypeError, AttributeError):
        return (None, 0, 1)
    return (name, first, step) if type(first) is int and type(step) is int and step != 0 else (None, 0, 1)
