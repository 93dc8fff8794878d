"""Matrices and vectors of ROOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._entries import whole
from forthwith._errors import RequestIndexError, RequestTypeError
from forthwith._guard import damaged, guarded
from forthwith._objects import Object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forthwith.hist.axis import Numbers


@guarded
class Matrix(Object):
    """A ``TMatrixT``, ``TMatrixTSym`` or ``TVectorT``, as a sequence and a NumPy array."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns; for a vector, its length."""
        names = ("fNrows", "fNcols") if self.has_member("fNcols") else ("fNrows",)
        return tuple(int(self.member(name)) for name in names)

    def to_numpy(self) -> Numbers:
        """Returns the elements, in full for symmetric matrices.

        Raises:
            DamagedFileError: The number of elements contradicts that of rows and columns.
        """
        shape, stored = self.shape, self.member("fElements")
        stored = np.zeros(0) if stored is None else np.asarray(stored)
        rows = shape[0]
        if min(shape) >= 0 and int(np.prod([*shape], dtype=object)) == stored.size:
            return stored.reshape(shape)
        if len(shape) == 2 and 0 <= rows == shape[1] <= stored.size and rows * (rows + 1) // 2 == stored.size:
            # Symmetric matrices are stored as their upper triangle.
            full = np.zeros(shape, dtype=stored.dtype)
            upper = np.triu_indices(rows)
            full[upper] = full.T[upper] = stored
            return full
        raise damaged(self, f"{stored.size} elements of {' times '.join(map(str, shape))}")

    def __len__(self) -> int:
        return len(self.to_numpy())

    def __getitem__(self, at: Any) -> Any:
        """Returns an element, a row or a selection, as NumPy does, or the member of a name."""
        if isinstance(at, str):
            return self.member(at)
        elements = self.to_numpy()
        try:
            return elements[at]
        except (IndexError, TypeError) as error:
            parts = at if isinstance(at, tuple) else (at,)
            if all(whole(part) is not None or isinstance(part, slice) for part in parts):
                raise RequestIndexError(f"{self!r}: {error}") from None
            raise RequestTypeError(f"{self!r}: {error}") from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_numpy())

    def __contains__(self, what: object) -> bool:
        if isinstance(what, str):
            return self.has_member(what)
        return isinstance(what, (int, float, np.number)) and what in self.to_numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:
        """Returns the elements."""
        return np.asarray(self.to_numpy(), dtype=dtype)

    def __repr__(self) -> str:
        return f"<{self.classname} of {' × '.join(map(str, self.shape))}>"  # noqa: RUF001
