"""Conversion to polars Series and DataFrames, with structs for unions."""

from __future__ import annotations

import re

from forthwith._errors import MissingPackageError, UnsupportedError
from forthwith._interop.arrow import Capsules
from forthwith._interop.base import Library
from forthwith._interop.exact import unlike
from forthwith._interop.original import Original
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays, How
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

# Matches decimal types, with their precision.
_DECIMAL = re.compile(r"\bdecimal\[(\d+), -?\d+\]")
_MOST_DIGITS = 38


class PolarsLibrary(Library):
    """Converts to polars Series and DataFrames."""

    takes_bits = True
    takes_views = True

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._pl = package("polars")

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Returns a Series."""
        digits = [int(count) for count in _DECIMAL.findall(array.type_string)]
        if max(digits, default=0) > _MOST_DIGITS:
            what = f"decimals of {max(digits)} digits, of which polars has at most {_MOST_DIGITS}"
            raise UnsupportedError(f'{name}: {what}; library="arrow" has all')
        made = self._pl.Series(Capsules(array, union_as_struct=True, views=True)).rename(name)
        like = self.kept.fields.get(name) if self.kept else None
        return made if like is None else self._categories(made, like)

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""
        try:
            self.kept = Original(tree, columns)
        except MissingPackageError:
            # Without pyarrow, categories become text.
            self.kept = None

    def _categories(self, made: Any, like: Any) -> Any:
        """Converts text to the categories of the original schema."""
        pa = package("pyarrow")
        if made.dtype != self._pl.String or not pa.types.is_dictionary(like.type):
            return made
        nothing = pa.table({like.name: pa.array([], like.type)}, schema=pa.schema([like]))
        kind = self._pl.from_arrow(nothing).dtypes[0]
        return made.cast(kind if isinstance(kind, self._pl.Enum) else self._pl.Categorical)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns a DataFrame."""
        columns = [self.column(label, array, start) for label, array in arrays]
        return self._pl.DataFrame(columns) if columns else self._rows(stop - start)

    def _rows(self, count: int) -> Any:
        """Returns a DataFrame without columns, whose number of rows is kept by dropping a column."""
        return self._pl.Series("", []).extend_constant(None, count).to_frame().drop("")

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns a DataFrame."""
        return self._pl.DataFrame(list(columns.values()))

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates DataFrames or Series."""
        try:
            return self._pl.concat(parts)
        except self._pl.exceptions.PolarsError as error:
            raise unlike(error) from None
