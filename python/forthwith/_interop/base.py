"""Base class of the converters to libraries."""

from __future__ import annotations

from forthwith._interop import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from forthwith import _forthwith
    from forthwith._interop.original import Original
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    Arrays: TypeAlias = list[tuple[str, _forthwith.Array]]
    LibraryName: TypeAlias = Literal[
        "ak", "awkward", "np", "numpy", "pd", "pandas", "pl", "polars", "arrow", "pa", "pyarrow"
    ]
    How: TypeAlias = type[dict[Any, Any]] | type[tuple[Any, ...]] | type[list[Any]] | Literal["zip"] | None


class Library:
    """Converts arrays to those of a library, and puts several of them into a container."""

    # Whether missing values are read as validity bits, as in Arrow.
    takes_bits = False
    # Whether text is read as views, as in Arrow.
    takes_views = False
    # Whether the result depends on metadata of each file, such as the index of a data frame.
    depends_on_file = False
    # Arrow schema and metadata of the file, if the result depends on them.
    kept: Original | None = None

    def __init__(self, how: How, logical: bool = True) -> None:
        self._how = how
        self._logical = logical

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""

    def about_datums(self, schema: str | None) -> None:
        """Sets the Avro schema of the datums in the next column."""

    def is_like(self, other: Original | None) -> bool:
        """Whether the metadata of another file give the same result."""
        return self.kept is other if self.kept is None or other is None else self.kept.is_like(other)

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Converts an array, whose first entry is ``start``."""
        raise NotImplementedError

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Converts several arrays to the default container of the library."""
        raise NotImplementedError

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns the container of `group` for converted columns."""
        raise NotImplementedError

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates columns, or containers of columns."""
        raise NotImplementedError

    def together(self, labels: list[str], read: list[_forthwith.Array], start: int, stop: int) -> Any:
        """Converts arrays to the requested container."""
        arrays = list(zip(labels, read, strict=True))
        if self._how is dict:
            return {label: self.column(label, array, start) for label, array in arrays}
        if self._how is tuple:
            return tuple(self.column(label, array, start) for label, array in arrays)
        if self._how is list:
            return [self.column(label, array, start) for label, array in arrays]
        return self.group(arrays, start, stop)

    def chosen(self, labels: list[str], read: list[_forthwith.Array], kept: _forthwith.Buffer, offset: int) -> Any:
        """Converts arrays of selected entries; ``offset`` is the number of entries in preceding files."""
        return self.together(labels, read, 0, len(kept))

    def join(self, parts: list[Any]) -> Any:
        """Concatenates the results of consecutive entries."""
        first = parts[0]
        if len(parts) == 1:
            return first
        if isinstance(first, dict):
            joined = {}
            for name in first:
                with exact.named(name):
                    joined[name] = self.join([part[name] for part in parts])
            return joined
        if isinstance(first, tuple | list):
            return type(first)(self.join(list(column)) for column in zip(*parts, strict=True))
        return self.concatenated(parts)
