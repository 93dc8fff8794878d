"""Functions that read partitions for dask-awkward, and tell it which columns they need."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from forthwith._packages import package
from forthwith.engines._types import check_same
from forthwith.uproot._dask_parts import Part, reading


@dataclass(frozen=True)
class How:
    """How partitions are read.

    Attributes:
        doc: ``ak_add_doc`` of ``TTree.arrays``.
        opening: The options of ``open``.
        caught: Exceptions that a report has, with an empty array in place of the partition; without any there are no reports.
    """

    doc: Any = False
    opening: dict[str, Any] = field(default_factory=dict, repr=False)
    caught: tuple[type[BaseException], ...] = ()

    @property
    def documented(self) -> dict[str, Any]:
        """The argument of ``arrays``, where it is needed."""
        return {"ak_add_doc": self.doc} if self.doc else {}


class _Reading:
    """What readers have in common: an array for each partition, or with reports an array and a report."""

    how: How

    @property
    def return_report(self) -> bool:
        """Whether calls return an array and a report."""
        return bool(self.how.caught)

    def mock_empty(self, backend: str = "cpu") -> Any:
        """An array without entries."""
        raise NotImplementedError

    def _read(self, part: Part) -> tuple[Any, int]:
        """The array, and the number of stored bytes of its baskets."""
        raise NotImplementedError

    def __call__(self, part: Part) -> Any:
        """The array of a partition, with a report where these are wanted."""
        if not self.how.caught:
            return self._read(part)[0]
        began, clock = time.time_ns(), time.monotonic()
        try:
            array, requested = self._read(part)
        except self.how.caught as error:
            failed = {
                "call_time": began,
                "exception": _builtin_name(error),
                "message": str(error),
                "fqdn": socket.getfqdn(),
                "hostname": socket.gethostname(),
            }
            return self.mock_empty(), _report(part, **failed)
        # forthwith does not count requests.
        counters = {"num_requested_bytes": requested, "num_requests": None, "num_requested_chunks": None}
        return array, _report(part, duration=time.monotonic() - clock, performance_counters=counters)


def _builtin_name(error: BaseException) -> str:
    """The name of the exception that uproot would have raised: ``FileNotFoundError`` of a ``MissingFileError``."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def _report(part: Part, **known: Any) -> Any:
    """A report of one partition, with uproot's fields."""
    one = part.partition
    names = (
        "call_time",
        "duration",
        "performance_counters",
        "args",
        "kwargs",
        "exception",
        "message",
        "fqdn",
        "hostname",
    )
    # Entries, or the number of the part and how many there are, and which of these they are: coffea asks for it.
    args = (one.file, one.tree, one.start, abs(one.stop), one.is_counted)
    row = {**dict.fromkeys(names), "args": [repr(arg) for arg in args], "kwargs": []}
    return package("awkward").Array([{**row, **known}])


class _Columns(_Reading):
    """Some columns of a tree, by the names that its ``arrays`` gives them.

    Args:
        form: Their Form.
        columns: For each column the names by which ``arrays`` reads it: of a record some fields may be chosen.
        how: How they are read.
    """

    use_optimization = True
    behavior = None
    attrs = None

    def __init__(self, form: Any, columns: dict[str, list[str]], how: How) -> None:
        self.form, self.columns, self.how = form, columns, how

    def project_columns(self, columns: frozenset[str]) -> Any:
        """The reader of those columns that are used, or a field of which is used."""
        used = {
            name: names
            for name, names in self.columns.items()
            if any(column == name or column.startswith(f"{name}.") for column in columns)
        }
        ak = package("awkward")
        form = ak.forms.RecordForm([self.form.content(name) for name in used], list(used))
        return type(self)(form, used, self.how)

    def _read(self, part: Part) -> tuple[Any, int]:
        ak = package("awkward")
        with reading(part, self.how.opening) as (tree, start, stop):
            if not self.columns:
                return ak.Array(ak.contents.RecordArray([], [], length=stop - start)), 0
            names = [name for column in self.columns.values() for name in column]
            before = tree.source.num_requested_bytes
            arrays = tree.arrays(names, entry_start=start, entry_stop=stop, **self.how.documented)
            requested = tree.source.num_requested_bytes - before
        check_same(("the first file", _kinds(self.form)), part.partition.file, _kinds(arrays.layout.form))
        return arrays, requested


def columns_reader(form: Any, columns: dict[str, list[str]], how: How) -> Any:
    """A reader of columns, which dask-awkward tells the ones that are used."""
    columnar: Any = import_module("dask_awkward.lib.io.columnar")

    class ColumnsReader(_Columns, columnar.ColumnProjectionMixin):  # type: ignore[misc]
        """Reads columns of a partition."""

        # The mixin's, which its protocols would hide.
        mock_empty = columnar.ColumnProjectionMixin.mock_empty

        def __reduce__(self) -> tuple[Any, ...]:
            return columns_reader, (self.form, self.columns, self.how)

    return ColumnsReader(form, columns, how)


def _kinds(form: Any) -> dict[str, str]:
    """The types of the fields of a Form of records, whatever their documentation says."""
    ak = package("awkward")
    plain = [ak.forms.from_dict(_plain(content.to_dict(verbose=False))) for content in form.contents]
    return {name: str(content.type) for name, content in zip(form.fields, plain, strict=True)}


def _plain(form: Any) -> Any:
    """A Form, as JSON has it, with no parameters but those that say how arrays behave."""
    if isinstance(form, list):
        return [_plain(one) for one in form]
    if not isinstance(form, dict):
        return form
    kept = {name: value for name, value in form.get("parameters", {}).items() if name in ("__array__", "__list__")}
    inner = {name: _plain(form[name]) for name in ("content", "contents") if name in form}
    return {**form, **inner, "parameters": kept}


class MappedReader(_Reading):
    """Arrays of a Form that a ``form_mapping`` made of the branches' Forms, from the buffers that it makes of arrays.

    Args:
        form: The Form of the arrays.
        info: What says which branches a buffer is made of, and makes it.
        keys: The branches that are read; buffers that need others are left out.
        how: How they are read.
    """

    def __init__(self, form: Any, info: Any, keys: frozenset[str], how: How) -> None:
        self.form, self.info, self.keys, self.how = form, info, keys, how

    def mock(self) -> Any:
        """An array without data."""
        ak = package("awkward")
        return ak.typetracer.typetracer_from_form(self.form, highlevel=True, behavior=self.info.behavior)

    def mock_empty(self, backend: str = "cpu") -> Any:
        """An array without entries."""
        empty = self.form.length_zero_array(highlevel=False)
        return package("awkward").to_backend(empty, backend, highlevel=True, behavior=self.info.behavior)

    def prepare_for_projection(self) -> tuple[Any, Any, Any]:
        """An array that notes what is touched, these notes, and the structure of the Form."""
        ak = package("awkward")
        meta, report = ak.typetracer.typetracer_with_report(
            self.form, highlevel=True, behavior=self.info.behavior, buffer_key=self.info.buffer_key
        )
        return meta, report, _utilities().trace_form_structure(self.form, buffer_key=self.info.buffer_key)

    def necessary_columns(self, report: Any, state: Any) -> frozenset[str]:
        """The branches that buffers which were touched are made of."""
        shapes = _utilities().buffer_keys_required_to_compute_shapes(
            self.info.parse_buffer_key,
            report.shape_touched,
            state["form_key_to_parent_form_key"],
            state["form_key_to_buffer_keys"],
        )
        return frozenset(self.info.keys_for_buffer_keys(frozenset({*report.data_touched, *shapes}))) & self.keys

    def project(self, report: Any, state: Any) -> MappedReader:
        """The reader of the branches that are needed."""
        return self.project_manually(self.necessary_columns(report, state))

    def project_manually(self, columns: frozenset[str]) -> MappedReader:
        """The reader of some branches."""
        return MappedReader(self.form, self.info, frozenset(columns), self.how)

    def _read(self, part: Part) -> tuple[Any, int]:
        ak = package("awkward")
        # Columns that are not read have no length by which an array could get a shape.
        info, form = self.info, regular(ak, self.form)
        numpy = import_module("awkward._nplikes.numpy").Numpy.instance()
        with reading(part, self.how.opening) as (tree, start, stop):
            before = tree.source.num_requested_bytes
            loaded = info.load_buffers(tree, self.keys, start, stop, None, None, {"ak_add_doc": self.how.doc})
            container = {}
            for key, dtype in form.expected_from_buffers(buffer_key=info.buffer_key).items():
                if frozenset(info.keys_for_buffer_keys(frozenset({key}))) <= self.keys:
                    container[key] = loaded[key]
                else:
                    unknown = ak.typetracer.unknown_length
                    container[key] = ak.typetracer.PlaceholderArray(nplike=numpy, shape=(unknown,), dtype=dtype)
            array = ak.from_buffers(form, stop - start, container, behavior=info.behavior, buffer_key=info.buffer_key)
            return array, tree.source.num_requested_bytes - before


def regular(ak: Any, form: Any) -> Any:
    """A Form with lists of one length in place of arrays of several dimensions."""
    if isinstance(form, ak.forms.NumpyForm):
        made = form.copy(inner_shape=()) if form.inner_shape else form
        for size in reversed(form.inner_shape):
            made = ak.forms.RegularForm(made, size)
        return made
    if form.is_record or form.is_union:
        contents = [regular(ak, content) for content in form.contents]
        is_same = all(one is other for one, other in zip(contents, form.contents, strict=True))
        return form if is_same else form.copy(contents=contents)
    content = getattr(form, "content", None)
    inside = None if content is None else regular(ak, content)
    return form if inside is content else form.copy(content=inside)


def _utilities() -> Any:
    return import_module("dask_awkward.lib.utils")
