"""Files that are written, and their directories, with uproot's methods."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any
from weakref import WeakSet

from forthwith._errors import RequestError, RequestTypeError, UnsupportedError
from forthwith._opening import TABLES
from forthwith._packages import package
from forthwith._writable import file as ours
from forthwith._writable.tables import is_table, says_types
from forthwith.uproot._branches import filter_of
from forthwith.uproot._made import Made
from forthwith.uproot._model import Model
from forthwith.uproot._options import no_filter
from forthwith.uproot._records import (
    FieldName,
    counters,
    default_counter_name,
    default_field_name,
    descriptions,
    flattened,
    form_of,
    named_columns,
)
from forthwith.uproot._tables import WritableNTuple, WritableTree


class WritableDirectory(ours.WritableDirectory):
    """A directory of a file that is being written."""

    def mkdir(self, name: str, *, initial_directory_bytes: int | None = None) -> WritableDirectory:
        """Makes a directory; ``initial_directory_bytes`` has no effect."""
        return WritableDirectory(self._file, super().mkdir(name).path)

    def mktree(  # type: ignore[override]
        self, name: str, branch_types: Any, title: str = "", **options: Any
    ) -> WritableTree:
        """Begins a tree, as `forthwith.recreate`'s files do.

        Args:
            name: Its name.
            branch_types: Types by the names of branches, arrays by their names, or anything else that is a table.
            title: Its title.
            options: ``counter_name``, a function that names the branch that counts the items of lists; ``field_name``, a
                function of the names of a record and of one of its fields that names the branch of that field;
                ``initial_basket_capacity`` and ``resize_factor`` have no effect; others are forthwith's. Texts are leaves of
                characters, unless ``strings="object"``. Names of branches may have slashes, as in uproot: see
                `forthwith.WritableDirectory.mktree`.
        """
        for without_effect in ("initial_basket_capacity", "resize_factor"):
            options.pop(without_effect, None)
        name_of = options.pop("field_name", None) or default_field_name
        counter_of = options.pop("counter_name", None)
        columns = _known(named_columns(_columns(branch_types)))
        if isinstance(columns, Mapping) and "records" not in options:
            counted = counters(columns, name_of, counter_of or default_counter_name)
            if counter_of is None:
                # Columns that are here already have the usual counters.
                counted = {branch: counter for branch, counter in counted.items() if branch not in columns}
            if counted:
                options.setdefault("counter", counted)
            columns = flattened(columns, name_of)
        options.setdefault("strings", "characters")
        options.setdefault("slashes_in_names", True)
        tree = super().mktree(name, columns, title, **options)
        file: Any = self._file
        file._field_names[tree._path] = name_of
        return WritableTree.of(tree)

    def mkrntuple(  # type: ignore[override]
        self, name: str, ak_form: Any, description: str = "", **options: Any
    ) -> WritableNTuple:
        """Begins an RNTuple, as `forthwith.recreate`'s files do.

        Args:
            name: Its name.
            ak_form: An Awkward Form of records, or what `mktree` takes.
            description: What its header says of it; if empty, the ``__doc__`` of the Form, as for its fields.
            options: As forthwith's.
        """
        form = form_of(ak_form)
        if form is not None:
            description = description or form.parameters.get("__doc__", "")
            options["fields"] = {**descriptions(form), **options.get("fields", {})}
        return WritableNTuple.of(super().mkrntuple(name, _columns(ak_form), description, **options))

    def update(self, pairs: Any = None, **more_pairs: Any) -> None:
        """Writes several objects: a mapping from names, or pairs."""
        for name, value in {**dict(pairs or {}), **more_pairs}.items():
            self[name] = value

    def copy_from(
        self,
        source: Any,
        *,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
        rename: Mapping[str, str] | Callable[[str], str] | None = None,
        require_matches: bool = True,
    ) -> None:
        """Copies objects of an opened file or directory, in their directories; of each name the newest cycle.

        Args:
            source: A file or directory that was opened to be read.
            filter_name: Which are meant, by their names.
            filter_classname: Which are meant, by their classes.
            rename: New names for some paths: a dict, or a function.
            require_matches: Whether it is an error if there are none.

        Raises:
            ValueError: There are none.
            UnsupportedError: One of them is a table; `forthwith.merge` copies these.
        """
        given = {"recursive": True, "cycle": False, "filter_name": filter_name, "filter_classname": filter_classname}
        found = {name: kind for name, kind in source.classnames(**given).items() if not kind.startswith("TDirectory")}
        if require_matches and not found:
            raise ValueError("no objects match these filters")
        if tables := [name for name, kind in found.items() if kind in TABLES]:
            raise UnsupportedError(f"copy_from of the table {tables[0]!r}: forthwith.merge copies tables")
        for name in found:
            new = rename(name) if callable(rename) else (rename or {}).get(name, name)
            self[new] = source[name]

    def _listed(
        self, recursive: Any, cycle: bool, filter_name: Any, filter_classname: Any
    ) -> Iterator[tuple[str, str]]:
        by_name, by_class = filter_of(filter_name, "filter_name"), filter_of(filter_classname, "filter_classname")
        for path, kind, number in _below(self, self._path, bool(recursive)):
            short = path[len(self._path) :].lstrip("/")
            if (by_name is None or by_name(short)) and (by_class is None or by_class(kind)):
                yield (f"{short};{number}" if cycle else short), kind

    def keys(
        self,
        *,
        recursive: Any = True,
        cycle: bool = True,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
    ) -> list[str]:
        """Names of objects.

        Args:
            recursive: Whether directories in it are meant, too.
            cycle: Whether names have their cycle.
            filter_name: A name, a glob, ``"/regex/flags"``, a function, or several of these.
            filter_classname: The same, of classes.
        """
        return list(dict.fromkeys(name for name, _ in self._listed(recursive, cycle, filter_name, filter_classname)))

    def classnames(
        self,
        *,
        recursive: Any = True,
        cycle: bool = True,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
    ) -> dict[str, str]:
        """Classes by name. The arguments are those of `keys`."""
        return dict(self._listed(recursive, cycle, filter_name, filter_classname))

    def __setitem__(self, name: str, value: Any) -> None:
        """Writes an object. Columns with names are an RNTuple."""
        if isinstance(value, Model):
            held: Any = value
            value = held.forthwith
        elif isinstance(value, Made) and {"fName", "fTitle"} <= value.keys():
            # An object has the name that it is assigned to, whatever name it was made with.
            value = {**value, "fName": name.rstrip("/").rpartition("/")[2]}
        if says_types(value):
            raise RequestError(f"{name!r} is assigned types without values: begin it with mktree or mkrntuple")
        if is_table(value):
            self.mkrntuple(name, value)
            return
        super().__setitem__(name, value)

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if type(found) is ours.WritableTable:
            return WritableTree.of(found)
        if type(found) is ours.WritableNTuple:
            return WritableNTuple.of(found)
        return WritableDirectory(self._file, found.path) if type(found) is ours.WritableDirectory else found


class WritableFile(WritableDirectory, ours.WritableFile):
    """A ROOT file that is being written."""

    _after: Callable[[], None] | None = None
    _discard: Callable[[], None] | None = None

    def __init__(self, core: Any, target: Any, name: str) -> None:
        super().__init__(core, target, name)
        # The functions that name the branches of records' fields, by the paths of trees.
        self._field_names: dict[str, FieldName] = {}
        _begun.add(self)

    @classmethod
    def of(
        cls,
        made: ours.WritableFile,
        after: Callable[[], None] | None = None,
        discard: Callable[[], None] | None = None,
    ) -> WritableFile:
        """Takes over a file that was begun. ``after`` is called when it is complete, and last ``discard``, complete or not."""
        core, made._core = made._core, None
        assert core is not None, "a file that was just begun is open"
        found = cls(core, made._target, made.file_path)
        found._after, found._discard = after, discard
        return found

    @property
    def root_directory(self) -> WritableFile:
        """The topmost directory, which is the file itself."""
        return self

    def close(self) -> None:
        """Writes what comes last, and puts the file where it belongs."""
        if self.closed:
            return
        try:
            super().close()
            if self._after is not None:
                self._after()
        finally:
            self._end()

    def abandon(self) -> None:
        """Leaves things as they were before the file was begun."""
        super().abandon()
        self._end()

    def _end(self) -> None:
        discard, self._discard = self._discard, None
        if discard is not None:
            discard()

    def __del__(self) -> None:
        # uproot writes as it goes: a script that never closes its file has it all the same.
        if self._core is not None and os.getpid() == self._process:
            self.close()

    def __enter__(self) -> WritableFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ours.WritableFile.__exit__(self, kind, error, trace)


_begun: WeakSet[WritableFile] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Completes files that were not closed when the interpreter ends; those of a process that was forked are not its own."""
    for file in list(_begun):
        file.__del__()


def _below(directory: WritableDirectory, path: str, recursive: bool) -> Iterator[tuple[str, str, int]]:
    """Paths, classes and cycles of what is in a directory, and of its tables, which are in the file when it is closed."""
    for kind, name, number in directory._shown(path):
        inner = f"{path}/{name}" if path else name
        yield inner, kind, number
        if recursive and kind.startswith("TDirectory"):
            yield from _below(directory, inner, True)


def _columns(given: Any) -> Any:
    """Columns as forthwith takes them: of Awkward's Forms and layouts their types and arrays."""
    module = type(given).__module__
    if type(given).__name__ == "DataFrame" and module.startswith("pandas") and given.index.names == [None]:
        # As uproot writes it.
        return given if "index" in given.columns else given.rename_axis(index="index").reset_index()
    if not module.startswith(("awkward.forms", "awkward.contents")):
        return given
    if not given.fields or given.is_tuple:
        raise RequestTypeError(f"a table needs records with names, and this is a {type(given).__name__}")
    return given.type if module.startswith("awkward.forms") else package("awkward").Array(given)


def _known(columns: Any) -> Any:
    """Arrays of a dict, with numbers for items of which nothing is known."""
    if not isinstance(columns, Mapping):
        return columns
    np = package("numpy")

    def number(layout: Any, **_: Any) -> Any:
        return layout.to_NumpyArray(np.float64) if layout.is_unknown else None

    def known(column: Any) -> Any:
        if not type(column).__module__.startswith("awkward.highlevel") or "unknown" not in str(column.type):
            return column
        return package("awkward").transform(number, column)

    return {name: known(column) for name, column in columns.items()}
