"""The part that the converters of all libraries share: single columns, and several of them in the library's own container."""

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
    """How one library holds arrays, and what several of them are put into."""

    # Whether nulls become bits, as those of Arrow data.
    takes_bits = False
    # Whether texts become views, as those of Arrow data may be.
    takes_views = False
    # Whether the result depends on metadata of each file, such as an index of its rows.
    depends_on_file = False
    # Metadata of the file beside its columns, if the result depends on them.
    kept: Original | None = None

    def __init__(self, how: How, logical: bool = True) -> None:
        self._how = how
        self._logical = logical

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Says which columns of a tree the arrays are that follow."""

    def about_datums(self, schema: str | None) -> None:
        """Says by which schema of Avro the datums of the next column were decoded."""

    def is_like(self, other: Original | None) -> bool:
        """Whether arrays become the same by what another file keeps beside the same columns."""
        return self.kept is other if self.kept is None or other is None else self.kept.is_like(other)

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """One array; ``start`` is its first entry."""
        raise NotImplementedError

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Several arrays in what the library has for it."""
        raise NotImplementedError

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """The result of `group`, of columns that were made already."""
        raise NotImplementedError

    def concatenated(self, parts: list[Any]) -> Any:
        """Columns, or groups of them, one after the other."""
        raise NotImplementedError

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

    def chosen(self, labels: list[str], read: list[_forthwith.Array], kept: _forthwith.Buffer, offset: int) -> Any:
        """The same of entries that do not follow each other; ``offset`` are those of the files before."""
        return self.together(labels, read, 0, len(kept))

    def join(self, parts: list[Any]) -> Any:
        """Puts together what was made of entries that follow each other."""
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
