"""What mappings of columns say to those who take them for one array."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class NotAnArray:
    """Refuses to become an array of the names it iterates over: ``numpy.asarray``, ``ak.Array``, ``pandas.DataFrame``."""

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is no array, but holds several columns: .arrays() reads them into an Awkward Array, "
            '.arrays(library="np") into NumPy arrays, .arrays(library="pd") into a DataFrame'
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Of several columns, NumPy cannot make an array."""
        self._refuse()

    def __dlpack__(self, **options: Any) -> Any:
        """Of several columns, there is no tensor."""
        self._refuse()

    def __dlpack_device__(self) -> Any:
        """Of several columns, there is no tensor."""
        self._refuse()
