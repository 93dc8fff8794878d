"""Array protocols for mappings of columns, which other libraries may mistake for one array."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn


# Advice for reading a column that NumPy cannot represent as a plain array.
HINT = '.array(library="ak") reads it into an Awkward Array, .array(library="np") into an array of objects or a masked array'


class NotAnArray:
    """Rejects conversion to an array of column names by NumPy, Awkward Array or pandas."""

    @property
    def _is_column(self) -> bool:
        """Whether the object represents a single column, which may be convertible."""
        return False

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is no array, but holds several columns: .arrays() reads them into an Awkward Array, "
            '.arrays(library="np") into NumPy arrays, .arrays(library="pd") into a DataFrame'
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Raises an error, since several columns are not one NumPy array."""
        self._refuse()

    def __arrow_array__(self, type: Any = None) -> Any:
        """Raises an error, since several columns are not one Arrow array."""
        self._refuse()

    def __dlpack__(self, **options: Any) -> Any:
        """Raises an error, since several columns are not one tensor."""
        self._refuse()

    def __dlpack_device__(self) -> Any:
        """Raises an error, since several columns are not one tensor."""
        self._refuse()


def numpy_array(column: Any, forms: Iterable[Any]) -> Any:
    """Reads a column with these Forms as a NumPy array.

    Raises:
        TypeError: The conversion would lose information. Missing values are only detected after reading.
    """
    forms = list(forms)
    for form in forms:
        problem = _not_rectangular(form["content"] if form["class"] == "IndexedOptionArray" else form)
        if problem is not None:
            raise TypeError(f"{column!r} has {problem}: {HINT}")
    values = column.array(library="np")
    mask = getattr(values, "mask", None)
    if mask is not None:
        missing, values = mask.any(), values.data
    else:
        optional = any(form["class"] == "IndexedOptionArray" for form in forms)
        missing = optional and values.dtype == object and any(value is None for value in values)
    if missing:
        raise TypeError(f"{column!r} has missing values: {HINT}")
    return values


def tensor(column: Any, options: dict[str, Any]) -> Any:
    """Returns the DLPack capsule of a numeric column.

    Raises:
        TypeError: The column is not numeric, or `numpy_array` does not support it.
    """
    values = column.__array__()
    if values.dtype.kind not in "biufc":
        raise TypeError(f"{column!r} has no numbers, of which tensors are: .array() reads it")
    return values.__dlpack__(**options)


def _not_rectangular(form: Any) -> str | None:
    """Returns why a NumPy array cannot hold values of this Form without loss, or ``None``."""
    kind, text = form["class"], form.get("parameters", {}).get("__array__")
    if kind == "NumpyArray" or text in ("string", "bytestring"):
        return None
    if kind == "RegularArray":
        return _not_rectangular(form["content"])
    if kind == "IndexedArray" and text == "categorical":
        return _not_rectangular(form["content"])
    if kind == "RecordArray":
        problems = (_not_rectangular(content) for content in form["contents"])
        return next((problem for problem in problems if problem is not None), None)
    if "Option" in kind or "Masked" in kind:
        return "values that may be missing"
    return "unions" if kind == "UnionArray" else "lists of different lengths"


def chosen_names(names: object, where: str) -> list[str]:
    """Returns the names given in brackets, as a list.

    Raises:
        TypeError: The argument is neither a name nor a list of names.
    """
    chosen = []
    for name in names if isinstance(names, list | tuple) else [names]:
        if not isinstance(name, str):
            raise TypeError(f"branches are found by name, not by {name!r}, in {where}")
        chosen.append(str(name))
    return chosen
