"""``uproot.dask``: the trees of files as a collection of dask-awkward. Needs ``dask-awkward``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Any

from forthwith._errors import RequestError, RequestTypeError, UnsupportedError
from forthwith._packages import package
from forthwith.engines import Partition, plan
from forthwith.engines._read import check_state
from forthwith.engines._types import check_same
from forthwith.uproot import _options
from forthwith.uproot._branches import HasBranches
from forthwith.uproot._many import _files, _is_table, _tree
from forthwith.uproot._options import no_filter, unset


def dask(
    files: Any,
    *,
    filter_name: Any = no_filter,
    filter_typename: Any = no_filter,
    filter_branch: Any = no_filter,
    step_size: Any = unset,
    steps_per_file: Any = unset,
    library: str = "ak",
    open_files: bool = True,
    allow_missing: bool = False,
    full_paths: bool = False,
    ak_add_doc: Any = False,
    **options: Any,
) -> Any:
    """Trees of one or several files as a ``dask_awkward.Array``, of which only columns that are used are read.

    With ``library="np"`` it is a dict of a ``dask.array.Array`` for each branch.

    Args:
        files: As in `iterate`, but for opened trees; a tree may be a dict of its ``object_path`` and of ``steps``, pairs of
            the first entry and the one behind the last of each partition, or the entries at which they end.
        filter_name: As in ``TTree.arrays``.
        filter_typename: As in ``TTree.arrays``.
        filter_branch: As in ``TTree.arrays``.
        step_size: Entries of a partition, or memory such as ``"100 MB"``. Partitions end where clusters do.
        steps_per_file: The partitions of each file instead; one if neither is given.
        library: ``"ak"`` or ``"np"``.
        open_files: Whether all files are opened now. Otherwise the first one is, and the entries of others are found when
            they are read; ``step_size`` cannot be given then.
        allow_missing: Whether files without the tree are passed over.
        full_paths: Whether columns are named by the paths of branches; only of trees without branches in branches.
        ak_add_doc: As in ``TTree.arrays``.
        options: What `iterate` accepts without effect.
    """
    _options.refuse("dask", options)
    if library not in ("ak", "awkward", "np", "numpy"):
        raise UnsupportedError(
            f"uproot.dask with library={library!r}: there are 'ak', of dask-awkward, and 'np', of dask"
        )
    is_numpy = library in ("np", "numpy")
    step_size, steps_per_file = (None if one is unset else one for one in (step_size, steps_per_file))
    if step_size is not None and steps_per_file is not None:
        raise RequestTypeError("step_size and steps_per_file cannot both be given")
    if step_size is not None and not open_files:
        raise RequestTypeError("step_size needs open files (open_files=True); steps_per_file does not")
    package("dask" if is_numpy else "dask_awkward")
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    form, partitions = None, []
    files, steps = _apart(files)
    if steps and (step_size is not None or steps_per_file is not None):
        raise RequestTypeError("files with steps of their own, and step_size or steps_per_file as well")
    for path, inner in _files(files):
        if _is_table(path):
            raise UnsupportedError("uproot.dask of an opened tree: workers open files by their names")
        if form is not None and not open_files and path not in steps:
            partitions += plan({path: inner}, parts=steps_per_file or 1)
            continue
        tree = _tree(path, inner, allow_missing, {})
        if tree is None:
            continue
        with tree:
            names = tree.forthwith.path
            keys = tree.keys()
            if full_paths and any("/" in key for key in keys):
                raise UnsupportedError("uproot.dask with full_paths=True, of a tree with branches in branches")
            form = form or _form(tree, filters, ak_add_doc)
        if path in steps:
            partitions += _stepped(path, names, steps[path])
        elif open_files:
            partitions += _divided(path, names, form.fields, step_size, steps_per_file)
        else:
            partitions += plan({path: names}, parts=steps_per_file or 1)
    if form is None:
        raise RequestError("no file has such a tree")
    if is_numpy:
        return _columns(form, partitions)
    reader = _reader()(form, tuple(form.fields), ak_add_doc)
    ends = list(accumulate((one.stop - one.start for one in partitions), initial=0))
    divisions = tuple(ends) if all(one.is_counted for one in partitions) else None
    given = {"label": "from-forthwith", "divisions": divisions}
    found: Any = import_module("dask_awkward").from_map(reader, partitions, **given)
    return found


def _form(tree: Any, filters: dict[str, Any], doc: Any) -> Any:
    """The Form of what a tree's ``arrays`` gives."""
    given = filters if isinstance(tree, HasBranches) else {name: filters[name] for name in list(filters)[:2]}
    return tree.arrays(entry_stop=0, **given, **_documented(doc)).layout.form


def _documented(doc: Any) -> dict[str, Any]:
    """The argument of ``arrays``, which RNTuples have not."""
    return {"ak_add_doc": doc} if doc else {}


def _apart(files: Any) -> tuple[Any, dict[Any, Any]]:
    """Files without the steps that are given with them, and these by the file."""
    if isinstance(files, list):
        parts = [_apart(one) for one in files]
        return [one for one, _ in parts], {path: steps for _, found in parts for path, steps in found.items()}
    if not isinstance(files, dict):
        return files, {}
    given = {path: inner for path, inner in files.items() if isinstance(inner, Mapping) and "object_path" in inner}
    steps = {path: inner["steps"] for path, inner in given.items() if inner.get("steps") is not None}
    return {path: given[path]["object_path"] if path in given else inner for path, inner in files.items()}, steps


def _stepped(path: Any, inner: str, steps: Any) -> list[Partition]:
    """The partitions of a file that are given."""
    (whole,) = plan({path: inner}, step=None)
    steps = [list(one) if hasattr(one, "__iter__") else one for one in steps]
    pairs = steps if steps and isinstance(steps[0], list) else list(pairwise(steps))
    for one in pairs:
        if not isinstance(one, (list, tuple)) or len(one) != 2 or not 0 <= one[0] <= one[1] <= whole.stop:
            raise RequestError(f"steps of {path}: {one!r}, of a tree of {whole.stop} entries", file=path)
    return [replace(whole, start=int(start), stop=int(stop)) for start, stop in pairs]


def _divided(path: Any, inner: str, names: list[str], step: int | str | None, parts: int | None) -> list[Partition]:
    """Partitions of a file that is opened for it."""
    if step is not None:
        try:
            made = plan({path: inner}, names, step=step)
        except KeyError:
            # Branches in branches, by names of their own.
            made = plan({path: inner}, step=step)
        return [replace(one, columns=None) for one in made]
    (whole,) = plan({path: inner}, step=None)
    parts = parts or 1
    bounds = [whole.stop * at // parts for at in range(parts + 1)]
    return [replace(whole, start=bounds[at], stop=bounds[at + 1]) for at in range(parts)]


def _reader() -> Any:
    """The class of functions that read partitions, which dask-awkward tells the columns that are used."""
    columnar: Any = import_module("dask_awkward.lib.io.columnar")

    class Reader(_Reader, columnar.ColumnProjectionMixin):  # type: ignore[misc]
        """Reads columns of a partition."""

        def __reduce__(self) -> tuple[Any, ...]:
            return _again, (self.form, self.columns, self.doc)

    return Reader


def _again(form: Any, columns: tuple[str, ...], doc: Any) -> Any:
    return _reader()(form, columns, doc)


class _Reader:
    """Some columns of a tree, by the names that its ``arrays`` gives them."""

    use_optimization = True
    behavior = None
    attrs = None

    def __init__(self, form: Any, columns: tuple[str, ...], doc: Any = False) -> None:
        self.form, self.columns, self.doc = form, columns, doc

    def project_columns(self, columns: frozenset[str]) -> Any:
        """The same for those columns that are used, or of which a field is."""
        used = tuple(
            name for name in self.columns if any(column == name or column.startswith(f"{name}.") for column in columns)
        )
        ak = package("awkward")
        form = ak.forms.RecordForm([self.form.content(name) for name in used], list(used))
        return type(self)(form, used, self.doc)

    def __call__(self, partition: Partition) -> Any:
        """The columns of a partition."""
        ak = package("awkward")
        with _tree(partition.file, partition.tree, False, {}) as tree:
            check_state(tree.forthwith, partition)
            start, stop = partition.entries(tree.num_entries)
            if not self.columns:
                return ak.Array(ak.contents.RecordArray([], [], length=stop - start))
            arrays = tree.arrays(list(self.columns), entry_start=start, entry_stop=stop, **_documented(self.doc))
        check_same(("the first file", _kinds(self.form)), partition.file, _kinds(arrays.layout.form))
        return arrays


def _kinds(form: Any) -> dict[str, str]:
    """The types of the fields of a Form of records."""
    return {name: str(content.type) for name, content in zip(form.fields, form.contents, strict=True)}


def _columns(form: Any, partitions: list[Partition]) -> dict[str, Any]:
    """Branches as arrays of Dask with a chunk for each partition; a chunk is of unknown length if its file was not opened."""
    da: Any = import_module("dask.array")
    reading = package("dask").delayed(_column, pure=True)
    nothing = _numpy(replace(partitions[0], start=0, stop=0), list(form.fields))
    lengths = [one.stop - one.start if one.is_counted else float("nan") for one in partitions]
    found = {}
    for name in form.fields:
        # What is no number is a column of objects, one an entry, also where all lists happen to be of one length.
        empty = nothing[name] if _is_number(form.content(name)) else package("numpy").empty(0, object)
        known = partitions[0].file, {name: _spelled(empty)}
        chunks = [
            da.from_delayed(reading(one, name, known), shape=(length, *empty.shape[1:]), dtype=empty.dtype)
            for one, length in zip(partitions, lengths, strict=True)
        ]
        found[name] = da.concatenate(chunks, allow_unknown_chunksizes=True)
    return found


def _is_number(form: Any) -> bool:
    return form.is_numpy or (form.is_regular and form.parameter("__array__") is None and _is_number(form.content))


def _column(partition: Partition, name: str, known: tuple[str, dict[str, str]]) -> Any:
    array = _numpy(partition, [name])[name]
    if known[1][name] == "object" and array.dtype != object:
        rows = package("numpy").empty(len(array), object)
        for at, row in enumerate(array):
            rows[at] = row
        array = rows
    check_same(known, partition.file, {name: _spelled(array)})
    return array


def _spelled(array: Any) -> str:
    return f"{array.dtype}{list(array.shape[1:]) or ''}"


def _numpy(partition: Partition, names: list[str]) -> dict[str, Any]:
    with _tree(partition.file, partition.tree, False, {}) as tree:
        check_state(tree.forthwith, partition)
        start, stop = partition.entries(tree.num_entries)
        found: dict[str, Any] = tree.arrays(names, entry_start=start, entry_stop=stop, library="np")
        return found
