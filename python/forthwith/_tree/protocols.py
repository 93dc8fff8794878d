"""The answers of mappings of columns to libraries that take them for one array."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn


# How a column is read that NumPy has no array for.
HINT = '.array(library="ak") reads it into an Awkward Array, .array(library="np") into an array of objects or a masked array'


class NotAnArray:
    """Refuses to become an array of the names it iterates over: ``numpy.asarray``, ``ak.Array``, ``pandas.DataFrame``."""

    @property
    def _is_column(self) -> bool:
        """Whether it stands for the values of one column, and is an array where they can be one."""
        return False

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is no array, but holds several columns: .arrays() reads them into an Awkward Array, "
            '.arrays(library="np") into NumPy arrays, .arrays(library="pd") into a DataFrame'
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Of several columns, NumPy cannot make an array."""
        self._refuse()

    def __arrow_array__(self, type: Any = None) -> Any:
        """Of several columns, pyarrow cannot make an array."""
        self._refuse()

    def __dlpack__(self, **options: Any) -> Any:
        """Of several columns, there is no tensor."""
        self._refuse()

    def __dlpack_device__(self) -> Any:
        """Of several columns, there is no tensor."""
        self._refuse()


def numpy_array(column: Any, forms: Iterable[Any]) -> Any:
    """The values of a column of these Forms, where NumPy has an array for them.

    Raises:
        TypeError: It has none without loss. Whether values are missing is known when they were read.
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
    """The DLPack capsule of a column of numbers.

    Raises:
        TypeError: It has others, or `numpy_array` does not have it.
    """
    values = column.__array__()
    if values.dtype.kind not in "biufc":
        raise TypeError(f"{column!r} has no numbers, of which tensors are: .array() reads it")
    return values.__dlpack__(**options)


def _not_rectangular(form: Any) -> str | None:
    """Why an array of NumPy cannot hold values of this Form without loss."""
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
    """The name or names in brackets.

    Raises:
        TypeError: They are something else.
    """
    chosen = []
    for name in names if isinstance(names, list | tuple) else [names]:
        if not isinstance(name, str):
            raise TypeError(f"branches are found by name, not by {name!r}, in {where}")
        chosen.append(str(name))
    return chosen
