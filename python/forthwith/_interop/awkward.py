"""Conversion to Awkward Arrays without a copy; dates and times have NumPy's types."""

from __future__ import annotations

from forthwith._interop import exact
from forthwith._interop.avro_values import AvroValues, field_path
from forthwith._interop.base import Library
from forthwith._interop.logical_array import with_python_values
from forthwith._interop.python_values import with_maps
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays, How
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


class AwkwardLibrary(Library):
    """Converts to Awkward Arrays without a copy."""

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._ak = package("awkward")
        self._np = package("numpy")
        self._maps = False
        # Functions that mark UUIDs, by column.
        self._uuids: dict[str, Callable[[Any], Any] | None] = {}

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""
        # In Avro, all lists of pairs are maps. In other formats, lists of pairs may have duplicate keys.
        self._maps, self._uuids = tree.file.format == "Avro", {}
        if self._maps and self._logical and (values := AvroValues.of_tree(tree)) is not None:
            fields = tree._fields
            self._uuids = {label: values.marking(field_path(fields, at)) for label, at in columns if at >= 0}

    def about_datums(self, schema: str | None) -> None:
        """Sets the Avro schema of the datums in the next column."""
        values = None if schema is None else AvroValues.of_schema(schema)
        self._maps, self._uuids = True, {} if values is None else {"": values.marking([])}

    def of_layout(self, name: str, layout: Any) -> Any:
        """Returns an Awkward Array of a layout of a column."""
        return self._array(self._marked(name, layout))

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Returns an Awkward Array."""
        return self._array(self._layout(name, array))

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns an Awkward Array of records."""
        layouts = {label: self._layout(label, array) for label, array in arrays}
        if self._how == "zip":
            layouts = _zip(self._ak, self._np, layouts)
        return self._array(self._ak.contents.RecordArray(list(layouts.values()), list(layouts), length=stop - start))

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns an Awkward Array of records."""
        layouts = [column.layout for column in columns.values()]
        return self._array(self._ak.contents.RecordArray(layouts, list(columns), length=stop - start))

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates Awkward Arrays."""
        types: dict[tuple[str, ...], list[Any]] = {}
        for part in parts:
            for path, primitive in _types(part.layout.form):
                types.setdefault(path, []).append(self._np.dtype(primitive))
        if any(exact.mixed(self._np, found) for found in types.values()):
            self._check(parts)
        return self._array(self._ak.concatenate(parts, highlevel=False))

    def _array(self, layout: Any) -> Any:
        array = self._ak.Array(layout)
        return with_python_values(array) if self._logical else array

    def _layout(self, label: str, array: _forthwith.Array) -> Any:
        return self._marked(label, (array.logical() if self._logical else array).layout())

    def _marked(self, label: str, layout: Any) -> Any:
        mark = self._uuids.get(label)
        layout = layout if mark is None else mark(layout)
        return with_maps(layout) if self._maps and self._logical else layout

    def _check(self, parts: list[Any]) -> None:
        numbers: dict[tuple[str, ...], list[tuple[int, Any]]] = {}
        for at, part in enumerate(parts):
            for path, data in _numbers(part.layout):
                numbers.setdefault(path, []).append((at, data))
        for path, found in numbers.items():
            values = [data.reshape(-1) for _, data in found]
            try:
                exact.check(self._np, ".".join(path) or None, [data.dtype for data in values], values.__getitem__)
            except exact.Rounded as error:
                error.part = found[error.part][0]
                raise


def _types(form: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Iterates over the paths of numbers, by names of fields, with their types."""
    if form.is_record:
        for name in form.fields:
            yield from _types(form.content(name), (*path, name))
    elif form.is_union:
        for content in form.contents:
            yield from _types(content, path)
    elif form.is_option or form.is_indexed or form.is_list:
        yield from _types(form.content, path)
    elif form.is_numpy:
        yield path, form.primitive


def _numbers(layout: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Iterates over the numbers by path, without unreachable items and masked values."""
    if layout.is_record:
        for name in layout.fields:
            yield from _numbers(layout.content(name), (*path, name))
    elif layout.is_union:
        for tag in range(len(layout.contents)):
            yield from _numbers(layout.project(tag), path)
    elif layout.is_option or layout.is_indexed:
        yield from _numbers(layout.project(), path)
    elif layout.is_list:
        yield from _numbers(layout.to_ListOffsetArray64(True).content, path)
    elif layout.is_numpy:
        yield path, layout.data


def _zip(ak: Any, np: Any, layouts: dict[str, Any]) -> dict[str, Any]:
    """Combines lists with the same prefix of their names to one list of records with that name.

    Lists of other lengths than the first one of a prefix are not combined.
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
    """Returns the non-empty part before the first separator; ``None`` without one."""
    ends = [at for at in map(label.find, "_./") if at >= 0]
    at = min(ends, default=0)
    return label[:at] if 0 < at < len(label) - 1 else None
