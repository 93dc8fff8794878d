"""What arrays become: Awkward Arrays, NumPy arrays, pandas or Arrow data. Each package is imported when it is wanted."""

from __future__ import annotations

from forthwith import _read
from forthwith._errors import MissingPackageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._branches import How, Library, Progress
    from forthwith._read import Columns
    from forthwith._tree import Tree

    Arrays = list[tuple[str, _forthwith.Array]]

_FLAT = {
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
}


def package(name: str) -> Any:
    """An optional package, or the error that says how to get it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != name:
            raise
        # Distributions go by hyphens where modules cannot.
        called = name.replace("_", "-")
        raise MissingPackageError(
            f"this needs the package {called}, which is not installed:\n"
            f"\n    pip install {called}\n\nor\n\n    conda install -c conda-forge {called}\n"
        ) from None


class Target:
    """How one library holds arrays, and what several of them are put into."""

    def __init__(self, how: How) -> None:
        self._how = how

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One array; ``start`` is its first entry."""
        raise NotImplementedError

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Several arrays in what the library has for it."""
        raise NotImplementedError

    def read(
        self,
        tree: Tree,
        columns: Columns,
        start: int,
        stop: int,
        threads: int | None,
        progress: Progress | None,
    ) -> Any:
        """Reads columns and puts them together."""
        read = _read.read(tree, columns, start, stop, threads, progress)
        return self.together([label for label, _ in columns], read, start, stop)

    def together(self, labels: list[str], read: list[_forthwith.Array], start: int, stop: int) -> Any:
        """Puts arrays together that were read."""
        arrays = list(zip(labels, read, strict=True))
        if self._how is dict:
            return {label: self.column(label, array, start) for label, array in arrays}
        if self._how is tuple:
            return tuple(self.column(label, array, start) for label, array in arrays)
        if self._how is list:
            return [self.column(label, array, start) for label, array in arrays]
        return self.group(arrays, start, stop)


class AwkwardTarget(Target):
    """Awkward Arrays over the buffers as they are."""

    def __init__(self, how: How) -> None:
        super().__init__(how)
        self._ak = package("awkward")
        self._np = package("numpy")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One Awkward Array."""
        return self._ak.Array(array.layout())

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """An Awkward Array of records."""
        layouts = {label: array.layout() for label, array in arrays}
        if self._how == "zip":
            layouts = _zip(self._ak, self._np, layouts)
        record = self._ak.contents.RecordArray(list(layouts.values()), list(layouts), length=stop - start)
        return self._ak.Array(record)


def _zip(ak: Any, np: Any, layouts: dict[str, Any]) -> dict[str, Any]:
    """Lists whose names begin with the same word become one list of records, called by that word.

    If they are equally long, that is; those that differ from the first of them in that stay as they are.
    """
    zipped: dict[str, Any] = {}
    words: dict[str, list[str]] = {}
    for label, layout in layouts.items():
        word = _word(label)
        listed = layout.is_list and not layout.is_regular and layout.parameter("__array__") is None
        if word is None or not listed or word in layouts:
            zipped[label] = layout
        elif word not in words:
            words[word] = [label]
            zipped[word] = layout.offsets
        elif np.array_equal(layout.offsets, zipped[word]):
            words[word].append(label)
        else:
            zipped[label] = layout
    for word, labels in words.items():
        offsets = zipped[word]
        contents = [layouts[label].content for label in labels]
        names = [label[len(word) + 1 :] for label in labels]
        record = ak.contents.RecordArray(contents, names, length=int(offsets[-1]))
        zipped[word] = ak.contents.ListOffsetArray(offsets, record)
    return zipped


def _word(label: str) -> str | None:
    """What comes before the first separator, if something comes before it and something behind."""
    ends = [at for at in map(label.find, "_./") if at >= 0]
    at = min(ends, default=0)
    return label[:at] if 0 < at < len(label) - 1 else None


class NumPyTarget(Target):
    """NumPy arrays; what NumPy has no type for becomes objects."""

    def __init__(self, how: How) -> None:
        super().__init__(how)
        package("numpy")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One NumPy array."""
        from forthwith._numpy import convert

        return convert(array)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """A dict of NumPy arrays."""
        return {label: self.column(label, array, start) for label, array in arrays}


class ArrowTarget(Target):
    """pyarrow arrays and tables."""

    def __init__(self, how: How) -> None:
        super().__init__(how)
        self._pa = package("pyarrow")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One pyarrow array."""
        return self._pa.array(array)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """A pyarrow Table."""
        columns = [self.column(label, array, start) for label, array in arrays]
        fields = [
            self._pa.field(label, column.type, nullable=array.type_string.startswith("?"))
            for (label, array), column in zip(arrays, columns, strict=True)
        ]
        return self._pa.Table.from_arrays(columns, schema=self._pa.schema(fields))


class PandasTarget(Target):
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


_TARGETS: dict[str, type[Target]] = {
    "ak": AwkwardTarget,
    "awkward": AwkwardTarget,
    "np": NumPyTarget,
    "numpy": NumPyTarget,
    "pd": PandasTarget,
    "pandas": PandasTarget,
    "arrow": ArrowTarget,
    "pa": ArrowTarget,
    "pyarrow": ArrowTarget,
}


def target(library: Library, how: How) -> Target:
    """The library called so."""
    found = _TARGETS.get(str(library))
    if found is None:
        raise ValueError(f'library must be "ak", "np", "pd" or "arrow", not {library!r}')
    if how == "zip":
        if found is not AwkwardTarget:
            raise ValueError('how="zip" is for library="ak"')
    elif how not in (None, dict, tuple, list):
        raise ValueError(f'how must be None, dict, tuple, list or "zip", not {how!r}')
    return found(how)
