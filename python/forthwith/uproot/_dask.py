"""``uproot.dask``: the trees of files as a collection of dask-awkward. Needs ``dask-awkward``."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple

from forthwith._errors import RequestError, RequestTypeError, UnsupportedError
from forthwith._packages import package
from forthwith.uproot import _options
from forthwith.uproot._branches import HasBranches
from forthwith.uproot._dask_numpy import columns as numpy_columns
from forthwith.uproot._dask_parts import Part, divided, of_tree, step_pairs, uncounted
from forthwith.uproot._dask_reader import How, MappedReader, columns_reader
from forthwith.uproot._given_files import closing, files_with_steps, is_table, tree_of
from forthwith.uproot._options import no_filter, unset, with_own_options
from forthwith.uproot._wanted import filtered


def dask(
    files: Any,
    *,
    filter_name: Any = no_filter,
    filter_typename: Any = no_filter,
    filter_branch: Any = no_filter,
    recursive: Any = True,
    full_paths: bool = False,
    step_size: Any = unset,
    steps_per_file: Any = unset,
    library: Any = "ak",
    ak_add_doc: Any = False,
    custom_classes: Any = None,
    allow_missing: bool = False,
    open_files: bool = True,
    form_mapping: Any = None,
    allow_read_errors_with_report: Any = False,
    known_base_form: Any = None,
    decompression_executor: Any = None,
    interpretation_executor: Any = None,
    **options: Any,
) -> Any:
    """Trees of one or several files as a ``dask_awkward.Array``, of which only columns that are used are read.

    With ``library="np"`` it is a dict of a ``dask.array.Array`` for each branch.

    Args:
        files: As in `iterate`; a tree may be a dict of its ``object_path`` and of ``steps``, pairs of the first entry and the
            one after the last of each partition, or the entries at which they end.
        filter_name: As in ``TTree.arrays``.
        filter_typename: As in ``TTree.arrays``.
        filter_branch: As in ``TTree.arrays``.
        recursive: Whether branches in branches are columns, too.
        full_paths: Whether columns are named by the paths of branches.
        step_size: Entries of a partition, or memory such as ``"100 MB"``, of which the mean over all files is taken.
        steps_per_file: The partitions of a file instead, of equal length in all files; 1 if neither is given.
        library: ``"ak"`` or ``"np"``.
        ak_add_doc: As in ``TTree.arrays``.
        custom_classes: Accepted without effect.
        allow_missing: Whether files without the tree are passed over.
        open_files: Whether all files are opened now, and columns are those that all have. Otherwise the first one is, and
            the entries of others are found when they are read; ``step_size`` cannot be given then.
        form_mapping: A function that makes another Form of the columns' Form, and what makes its buffers, as uproot's.
        allow_read_errors_with_report: Whether an ``OSError`` of a partition leaves it empty, or which exceptions do. The result
            is then a collection and one of reports.
        known_base_form: The Form of the columns, so that no file is opened; with ``open_files=False``.
        decompression_executor: Accepted without effect.
        interpretation_executor: Accepted without effect.
        options: As in ``open``. They are a part of the tasks, credentials included.
    """
    _options.refuse("dask", options)
    # Interpretations have one option, which is an argument of its own as well.
    ak_add_doc = (options.pop("interp_options", None) or {}).get("ak_add_doc", ak_add_doc)
    is_numpy = _is_numpy(library)
    step_size, steps_per_file = (None if one is unset else one for one in (step_size, steps_per_file))
    if step_size is not None and steps_per_file is not None:
        raise RequestTypeError("step_size and steps_per_file cannot both be given")
    if step_size is not None and not open_files:
        raise RequestTypeError("step_size needs open files (open_files=True); steps_per_file does not")
    if known_base_form is not None and open_files:
        raise RequestTypeError("known_base_form is for files that are not opened: open_files=False")
    if is_numpy and form_mapping is not None:
        raise UnsupportedError("form_mapping with library='np': a Form is one of Awkward Array")
    package("dask" if is_numpy else "dask_awkward")
    chosen = _Chosen((filter_name, filter_typename, filter_branch), recursive, full_paths, ak_add_doc, options)
    given = chosen.files(files)
    if any(one.steps is not None for one in given) and (step_size is not None or steps_per_file is not None):
        raise RequestTypeError("files with steps of their own, and step_size or steps_per_file as well")
    parts = int(steps_per_file or 1)
    if parts < 1:
        raise RequestError(f"steps_per_file must be at least 1, not {steps_per_file}")
    if open_files:
        found = _opened(given, chosen, allow_missing, step_size, parts)
    else:
        found = _unopened(given, chosen, allow_missing, known_base_form, parts)
    if is_numpy:
        return numpy_columns(chosen.form, found, chosen.opening)
    caught = allow_read_errors_with_report
    how = How(ak_add_doc, chosen.opening, tuple(caught) if isinstance(caught, tuple) else (OSError,) if caught else ())
    return _collection(chosen, found, form_mapping, how)


def _is_numpy(library: Any) -> bool:
    name = getattr(library, "name", library)
    if name not in ("ak", "awkward", "np", "numpy"):
        raise UnsupportedError(
            f"uproot.dask with library={library!r}: there are 'ak', of dask-awkward, and 'np', of dask"
        )
    return name in ("np", "numpy")


class _Given(NamedTuple):
    """A file, the tree in it, and the entries of its partitions where these are given."""

    path: Any
    tree: str | None
    steps: list[list[int]] | None


@dataclass
class _Chosen:
    """The columns of a collection."""

    filters: tuple[Any, Any, Any]
    recursive: Any
    full_paths: bool
    doc: Any
    opening: dict[str, Any] = field(repr=False)
    form: Any = None
    read: list[str] = field(default_factory=list)
    has_entries: bool = False
    typenames: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, list[str]]:
        """For each column the names by which ``arrays`` reads it."""
        found: dict[str, list[str]] = {name: [] for name in self.form.fields}
        for name in self.read or self.form.fields:
            top = name if name in found else name.partition(".")[0]
            if top in found:
                found[top].append(name)
        return found

    def files(self, files: Any) -> list[_Given]:
        """Files and the trees in them. Options that paths bring along are those of all files."""
        found = []
        for path, inner, steps in files_with_steps(files, self.opening):
            what, self.opening = (path, self.opening) if is_table(path) else with_own_options(path, self.opening)
            if hasattr(what, "read") and not is_table(what):
                raise UnsupportedError(f"uproot.dask of a file object: workers open files by their names, not {what!r}")
            found.append(_Given(what, inner, None if steps is None else step_pairs(what, steps)))
        return found

    def names(self, tree: Any) -> list[str]:
        """The columns of a tree, by the names of a call of ``arrays``."""
        name, typename, other = self.filters
        if not isinstance(tree, HasBranches):
            found = tree._chosen(name, typename, other)
            return [one.path for one in found]
        if not self.recursive:
            filters = {"filter_name": name, "filter_typename": typename, "filter_branch": other}
            return [
                path for path, one in tree.iteritems(recursive=False, **filters) if one._is_group or one._is_readable
            ]
        wanted = filtered(tree, name, typename, other)
        if self.full_paths:
            start = f"{tree.forthwith.path}/" if tree._index is not None else ""
            return [tree._tree.forthwith._fields[one.branch._index].path.removeprefix(start) for one in wanted]
        return [one.label for one in wanted]

    def take(self, tree: Any) -> None:
        """Takes the columns of a tree, and their Form."""
        ak = package("awkward")
        names = self.read = self.names(tree)
        self.has_entries = tree.num_entries > 0
        documented = {"ak_add_doc": self.doc} if self.doc else {}
        form = tree.arrays(names, entry_stop=0, **documented).layout.form
        parameters = {}
        if self.doc is True or (isinstance(self.doc, dict) and "__doc__" in self.doc):
            parameters["__doc__"] = tree.title
        self.form = ak.forms.RecordForm(list(form.contents), list(form.fields), parameters=parameters)
        self.typenames = tree.typenames()


def _opened(files: list[_Given], chosen: _Chosen, allow_missing: bool, step_size: Any, parts: int) -> list[Part]:
    """The partitions of files that are opened for it."""
    whole: list[Part] = []
    given: list[Any] = []
    sizes: list[int] = []
    for path, inner, steps in files:
        tree = tree_of(path, inner, allow_missing, chosen.opening)
        if tree is None:
            continue
        with closing(tree, path):
            whole.append(of_tree(path, inner, tree))
            given.append(steps)
            # A tree without entries has nothing to lack.
            if tree.num_entries or chosen.form is None:
                _common(chosen, tree, path)
            if isinstance(step_size, str):
                names = {"expressions": list(chosen.form.fields)} if isinstance(tree, HasBranches) else {}
                sizes.append(tree.num_entries_for(step_size, **names))
    if not whole:
        raise RequestError("no file has such a tree")
    if sizes:
        step = round(sum(sizes) / len(sizes))
    elif step_size is not None:
        step = int(step_size)
    else:
        step = ceil(sum(one.partition.stop for one in whole) / (len(whole) * parts))
    if step_size is not None and step < 1:
        raise RequestError(f"step_size must be at least 1, not {step_size}")
    return divided(whole, given, max(1, step))


def _common(chosen: _Chosen, tree: Any, path: Any) -> None:
    """Takes the columns of the first tree with entries, and of those only such as other trees have, too."""
    if not chosen.has_entries:
        chosen.take(tree)
        return
    fields = [name for name in chosen.form.fields if name in tree]
    if not fields:
        raise RequestError(
            f"{path} has none of the branches of the files before it: {', '.join(chosen.form.fields[:5])}"
        )
    if len(fields) < len(chosen.form.fields):
        ak = package("awkward")
        contents = [chosen.form.content(name) for name in fields]
        chosen.form = ak.forms.RecordForm(contents, fields, parameters=chosen.form.parameters)


def _unopened(files: list[_Given], chosen: _Chosen, allow_missing: bool, known: Any, parts: int) -> list[Part]:
    """The partitions of files of which only the first one is opened, or none if the Form is known."""
    found: list[Part] = []
    if known is not None:
        chosen.form = known
    for path, inner, steps in files:
        if is_table(path):
            tree = path
            found += divided([of_tree(path, None, tree)], [None], max(1, ceil(tree.num_entries / parts)))
            if chosen.form is None:
                chosen.take(tree)
            continue
        name = inner
        if chosen.form is None:
            tree = tree_of(path, inner, allow_missing, chosen.opening)
            if tree is None:
                continue
            with closing(tree, path):
                chosen.take(tree)
                name = inner or tree.forthwith.path
        found += uncounted(path, name, steps, parts)
    if not found:
        raise RequestError("no file has such a tree")
    return found


def _collection(chosen: _Chosen, parts: list[Part], form_mapping: Any, how: How) -> Any:
    """The collection of partitions, with that of the reports where these are wanted."""
    form = chosen.form
    reader: Any
    if form_mapping is None:
        reader = columns_reader(form, chosen.columns, how)
    else:
        ak = package("awkward")
        parameters = {**form.parameters, **({"typenames": chosen.typenames} if chosen.typenames else {})}
        whole = ak.forms.RecordForm(list(form.contents), list(form.fields), parameters=parameters)
        mapped, info = form_mapping(whole)
        reader = MappedReader(mapped, info, frozenset(form.fields), how)
    counted = all(one.partition.is_counted for one in parts)
    ends = [int(end) for end in accumulate((one.num_entries for one in parts), initial=0)] if counted else None
    # Partitions that cannot be read are empty.
    divisions = None if ends is None or how.caught else tuple(ends)
    return import_module("dask_awkward").from_map(reader, parts, label="from-forthwith", divisions=divisions)
