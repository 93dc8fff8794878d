"""Records as columns of their own, as uproot writes them in trees: ``r`` with ``a`` and ``b`` as ``r_a`` and ``r_b``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from forthwith._packages import package
from forthwith._writable.tables import _form, by_name

FieldName: TypeAlias = Callable[[str, str], str]
CounterName: TypeAlias = Callable[[str], str]


def default_field_name(outer: str, inner: str) -> str:
    """The branch of the field ``inner`` of a record ``outer``."""
    return f"{outer}_{inner}" if outer else inner


def default_counter_name(counted: str) -> str:
    """The branch that counts the items of lists."""
    return f"n{counted}"


def named_columns(given: Any) -> Any:
    """Columns by their names, of arrays and types that have records of them; anything else as it is."""
    given = by_name(given)
    module = type(given).__module__
    if module.startswith("awkward.highlevel") and given.ndim == 1 and given.fields and not given.layout.is_tuple:
        return {name: given[name] for name in given.fields}
    if getattr(getattr(given, "dtype", None), "names", None) is not None:
        return {name: given[name] for name in given.dtype.names}
    return given


def form_of(given: Any) -> Any:
    """The Form of records, of an Awkward Array, a layout or a Form; ``None`` of anything else."""
    module = type(given).__module__
    layout = given.layout if module.startswith("awkward.highlevel") else given
    form = layout.form if type(layout).__module__.startswith("awkward.contents") else layout
    return form if module.startswith("awkward") and getattr(form, "is_record", False) else None


def descriptions(form: Any, path: str = "") -> dict[str, dict[str, str]]:
    """The documentation in a Form of records, as options of fields by their paths."""
    found: dict[str, dict[str, str]] = {}
    if form.is_record and not form.is_tuple:
        for name, content in zip(form.fields, form.contents, strict=True):
            inner = f"{path}.{name}" if path else name
            if said := _documentation(content):
                found[inner] = {"description": said}
            found.update(descriptions(content, inner))
    elif form.is_list or form.is_option or form.is_indexed:
        found.update(descriptions(form.content, path))
    return found


def _documentation(form: Any) -> str:
    """What is said of a column, or else of its items."""
    if said := form.parameters.get("__doc__"):
        return str(said)
    return _documentation(form.content) if form.is_list or form.is_option or form.is_indexed else ""


def flattened(columns: Mapping[str, Any], name_of: FieldName, kept: Any = ()) -> dict[str, Any]:
    """Columns with those of the fields of records in place of these.

    Args:
        columns: Types or arrays, by the names of columns.
        name_of: The name of a field of a record.
        kept: Columns that stay as they are.
    """
    found: dict[str, Any] = {}
    for name, column in columns.items():
        inside = {} if name in kept else _fields(name, column)
        if inside:
            found.update(flattened({name_of(name, inner): part for inner, part in inside.items()}, name_of, kept))
        else:
            found[name] = column
    return found


def counters(columns: Mapping[str, Any], name_of: FieldName, counter_of: CounterName) -> dict[str, str]:
    """The counter of each column of lists, after `flattened`: those of the fields of records in lists share one."""
    found: dict[str, str] = {}
    for name, column in columns.items():
        kind = _kind(name, column)
        if type(kind).__name__ == "ListType" and "__array__" not in kind.parameters:
            found.update(dict.fromkeys(flattened({name: kind}, name_of), counter_of(name)))
        elif type(kind).__name__ == "RecordType":
            inside = {name_of(name, inner): part for inner, part in _fields(name, kind).items()}
            found.update(counters(inside, name_of, counter_of))
    return found


def _kind(name: str, column: Any) -> Any:
    """The type of a column of types or Awkward Arrays; ``None`` if it can have neither lists nor records."""
    ak, np = package("awkward"), package("numpy")
    if isinstance(column, (type, np.dtype, tuple, np.ndarray)):
        return None
    if isinstance(column, (str, ak.types.Type, ak.types.ArrayType)):
        return _form(ak, name, column).type
    return column.type.content if isinstance(column, ak.Array) else None


def _fields(name: str, column: Any) -> dict[str, Any]:
    """The fields of records, or of lists of records of numbers; none of any other column."""
    ak, np = package("awkward"), package("numpy")
    if isinstance(column, np.ndarray):
        return {inner: column[inner] for inner in column.dtype.names or ()}
    if isinstance(column, (list, tuple)) and column and _has_dict(column[0]):
        column = ak.Array(column)
    kind = _kind(name, column)
    lists = type(kind).__name__ == "ListType"
    record = kind.content if lists else kind
    if type(record).__name__ != "RecordType" or record.is_tuple or not record.fields:
        return {}
    # Lists in lists have no counter.
    if lists and not all(_is_flat(ak, content) for content in record.contents):
        return {}
    if isinstance(column, ak.Array):
        return {inner: column[inner] for inner in record.fields}
    wrap = ak.types.ListType if lists else lambda content: content
    return {inner: wrap(content) for inner, content in zip(record.fields, record.contents, strict=True)}


def _has_dict(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, (list, tuple)) and any(isinstance(one, dict) for one in value))


def _is_flat(ak: Any, kind: Any) -> bool:
    while isinstance(kind, ak.types.RegularType) and "__array__" not in kind.parameters:
        kind = kind.content
    return isinstance(kind, ak.types.NumpyType)
