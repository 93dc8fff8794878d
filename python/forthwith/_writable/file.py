"""ROOT files and directories that are written."""

from __future__ import annotations

import errno
import os

from forthwith import _forthwith
from forthwith._errors import KeyInFileError, RequestError, RequestTypeError, SourceError, UnsupportedError, place_text
from forthwith._stores import exists, of_target, scheme
from forthwith._writable.compression import setting
from forthwith._writable.ntuples import fields as field_options
from forthwith._writable.ntuples import new_columns, options
from forthwith._writable.objects import Copied, writable
from forthwith._writable.options import tree_options
from forthwith._writable.tables import (
    by_name,
    empty,
    is_table,
    refuse_times,
    says_types,
    spelled_types,
    taken,
    types_of,
)
from forthwith._writer import Unfinished, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from forthwith._writable.compression import Compression
    from forthwith._writer import Writable

    Codec = Compression | str | int | None
    Floats = str | tuple[str, int] | tuple[str, float, float, int] | None


def recreate(
    path: str | os.PathLike[str] | Writable,
    *,
    compression: Compression | str | int | None = "default",
    title: str = "",
    storage_options: Mapping[str, Any] | None = None,
) -> WritableFile:
    """A ROOT file to be written, in place of an older one of this name.

    The file has its name when the ``with`` block ends; if it ends with an exception, nothing is left behind, and a file that
    had the name before is as it was.

    Args:
        path: Where to write: a path, the URL of an object in a store, or a file object. The last two get all bytes at the end.
        compression: How objects are compressed: `forthwith.ZLIB`, `forthwith.LZMA`, `forthwith.LZ4` or `forthwith.ZSTD` with a
            level, their names (``"zstd"``), or ``None``. ``ZLIB(1)`` unless it is said.
        title: The title of the file.
        storage_options: For URLs of stores such as ``s3://bucket/out.root``: how the store is reached, as in ``open``.

    Raises:
        SourceError: The folder does not exist or may not be written (also an ``OSError``).
        RequestError: There is no such compression (also a ``ValueError``).
    """
    chosen = setting(compression, None)
    target, uri = place(path)
    how = "memory" if target is not None else "recreate"
    core = _forthwith.RootWriter(uri, how, chosen, title, of_target(uri, storage_options))
    return WritableFile(core, target, uri)


def create(
    path: str | os.PathLike[str],
    *,
    compression: Compression | str | int | None = "default",
    title: str = "",
    storage_options: Mapping[str, Any] | None = None,
) -> WritableFile:
    """As `recreate`, of a file that must not be there yet.

    Raises:
        SourceError: There is a file of this name (its ``errno`` is ``EEXIST``), and as `recreate`.
    """
    uri = os.fspath(path)
    if os.path.lexists(uri) or exists(uri, storage_options):
        error = SourceError(
            f"{uri} is there already: forthwith.recreate replaces it, and forthwith.update adds to it", file=uri
        )
        error.errno, error.filename = errno.EEXIST, uri
        raise error
    return recreate(uri, compression=compression, title=title, storage_options=storage_options)


def update(path: str | os.PathLike[str], *, compression: Compression | str | int | None = "default") -> WritableFile:
    """A ROOT file that is there, to be added to.

    The data in the file are not written over, and stay readable at all times: also if the process is killed. All that
    is new is in the file when the ``with`` block ends, and if it ends with an exception, the file is as it was. An object of a
    name that there is gets the next cycle, and both are kept. The file is locked meanwhile: a second `update` is refused.

    Args:
        path: The file.
        compression: As for `recreate`; by default as the file says.

    Raises:
        MissingFileError: There is no such file (also a ``FileNotFoundError``).
        SourceError: It may not be written, or is being written (also an ``OSError``).
        DamagedFileError: It is no ROOT file, or one that was not closed.
    """
    uri = os.fspath(path)
    if scheme(uri) not in (None, "file"):
        raise UnsupportedError("changing a file behind a network", file=uri)
    core = _forthwith.RootWriter(uri, "update", setting(compression, None), "", None)
    return WritableFile(core, None, uri)


class WritableDirectory:
    """A directory of a file that is being written. Objects are assigned to names: ``directory["name"] = histogram``."""

    def __init__(self, file: WritableFile | None, path: str) -> None:
        # A file does not hold itself, so that it is gone when its user lets go of it.
        self._above, self._path = file, path

    @property
    def _file(self) -> WritableFile:
        return self if self._above is None else self._above  # type: ignore[return-value]

    @property
    def file(self) -> WritableFile:
        """The file."""
        return self._file

    @property
    def path(self) -> str:
        """The path in the file; empty at its top."""
        return self._path

    def mkdir(self, name: str) -> WritableDirectory:
        """Makes a directory, and those before it in its path. One that is there is taken."""
        path = self._join(name)
        self._file._open().mkdir(path)
        return WritableDirectory(self._file, path)

    def keys(self, *, cycle: bool = True) -> list[str]:
        """The objects of this directory, with or without their cycles."""
        listed = self._shown()
        return (
            [f"{name};{number}" for _, name, number in listed]
            if cycle
            else list(dict.fromkeys(n for _, n, _ in listed))
        )

    def classnames(self) -> dict[str, str]:
        """The class of each object of this directory."""
        return {f"{name};{number}": kind for kind, name, number in self._shown()}

    def _shown(self, path: str | None = None) -> list[tuple[str, str, int]]:
        """Class, name and cycle of the objects that a directory has, or gets when the file is closed."""
        directory = self._path if path is None else path
        listed = list(self._file._open().keys(directory) or [])
        for at, table in self._file._tables.items():
            above, _, name = at.rpartition("/")
            if table._kind is not None and above == directory:
                before = max((cycle for _, known, cycle in listed if known == name), default=0)
                listed.append((table._kind, name, before + 1))
        return listed

    def mktree(
        self,
        name: str,
        columns: Any,
        title: str = "",
        *,
        jagged: str | Mapping[str, str] = "counter",
        records: str | Mapping[str, str] = "flat",
        strings: str | Mapping[str, str] = "object",
        nulls: str | float | Mapping[str, str | float] = "refused",
        floats: Floats | Mapping[str, Floats] = None,
        counter: str | Mapping[str, str] | None = None,
        compression: Codec | Mapping[str, Codec] = "default",
        basket_bytes: int | Mapping[str, int] | None = None,
        cluster_bytes: int | None = None,
        cluster_entries: int | None = None,
        titles: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
        user_info: Mapping[str, str | float] | None = None,
        index: str | tuple[str, str] | None = None,
        times_as_integers: bool = False,
        slashes_in_names: bool = False,
        threads: int | None = None,
    ) -> WritableTable:
        """Begins a tree.

        Options of columns are one value for all columns, or a dict with values for some: ``jagged={"hits": "vector"}``.

        Args:
            name: Its name, with the directories it is in.
            columns: The type of each column, as NumPy (``"f4"``, ``("f4", (3,))``) or datashape (``"var * int64"``) spells
                it, or of an Awkward Array, whose length does not count; or the type of an Awkward Array of records, or an
                Arrow schema; or arrays, which are its first entries.
            title: Its title.
            jagged: The form of lists of numbers: ``"counter"`` for a branch that counts and an array of that length, or
                ``"vector"`` for ``std::vector``.
            records: The form of records: ``"flat"`` for a branch for each field, or ``"class"`` for objects of a class.
            strings: The form of text: ``"object"`` for ``std::string``, or ``"characters"`` for a leaf of characters.
            nulls: The number that missing values become, lists and texts then being empty; ``"refused"`` if there are none.
            floats: ``"double32"`` or ``"float16"`` for ``Double32_t`` and ``Float16_t``, with bits of mantissa
                (``("float16", 8)``) or with a range and bits (``("double32", 0, 100, 16)``).
            counter: The name of the branch that counts the items of lists. Columns of one counter share it.
            compression: As for `recreate`; by default as the file.
            basket_bytes: Bytes of a basket before it is compressed, about; 512 kB if not given.
            cluster_bytes: Bytes of a cluster of all columns before they are compressed, about; 32 MB if not given.
            cluster_entries: Entries of a cluster, instead.
            titles: Titles of branches by their names.
            aliases: Names of formulas, for ROOT's ``TTree::Draw``.
            user_info: Texts and numbers that belong to the tree.
            index: A column of whole numbers, or two, by which ROOT finds entries (``GetEntryWithIndex``).
            times_as_integers: Whether dates, times and lengths of time are written as whole numbers, instead of being refused;
                the title of the branch has their unit and where they begin, and forthwith reads times again by it.
            slashes_in_names: Whether names of branches may have slashes, but for those of objects of a class. C++ ROOT reads
                and copies such trees, but its ``RDataFrame::Snapshot`` writes zeros for their numbers.
            threads: How many threads encode and compress baskets; as many as there are processors if not given.

        Raises:
            RequestError: An option has no such value, or there is no such column (also a ``ValueError``).
            UnsupportedError: A tree has no branches for a column; it is named.
        """
        by_column = {
            "jagged": jagged, "records": records, "strings": strings, "nulls": nulls, "floats": floats, "counter": counter,
            "compression": compression, "basket_bytes": basket_bytes,
        }  # fmt: skip
        chosen = tree_options(
            by_column,
            titles=titles,
            aliases=aliases,
            user_info=user_info,
            index=index,
            cluster_bytes=cluster_bytes,
            cluster_entries=cluster_entries,
            slashes_in_names=slashes_in_names,
            threads=threads,
        )
        path, array, types = self._columns(name, columns)
        if not times_as_integers:
            refuse_times(array.times(), self._file.file_path, path)
        self._file._open().tree(path, title, array, chosen)
        table = self._file._tables[path] = WritableTable(self._file, path, len(array), types, "TTree")
        return table

    def mkrntuple(
        self,
        name: str,
        columns: Any,
        description: str = "",
        *,
        compression: Compression | str | int | None = "default",
        page_size: int | None = None,
        cluster_size: int | None = None,
        cluster_entries: int | None = None,
        nulls: float | None = None,
        times_as_integers: bool = False,
        bitsets: bool = False,
        class_names: bool = False,
        projections: Mapping[str, str] | None = None,
        fields: Mapping[str, Mapping[str, Any]] | None = None,
        threads: int | None = None,
    ) -> WritableNTuple:
        """Begins an RNTuple.

        Args:
            name: Its name, with the directories it is in.
            columns: As `mktree` takes them.
            description: What its header says of it.
            compression: How its pages are compressed. By default as was said for the file, or as its objects are if it is
                updated; where these follow ROOT's default, ``ZLIB(1)``, pages do, too: ``ZSTD(5)``.
            page_size: Bytes that the numbers of a page take in memory at most; a megabyte unless it is said.
            cluster_size: Bytes that a cluster is to take in the file; 128 megabytes unless it is said.
            cluster_entries: Entries of a cluster at most.
            nulls: A number that stands for missing values, with lists and texts that are empty, instead of ``std::optional``.
            times_as_integers: Whether dates, times and lengths of time are written as whole numbers, instead of being refused;
                forthwith reads times again by the description of the field.
            bitsets: Whether arrays of truths of a fixed length are ``std::bitset``.
            class_names: Whether records that need a class get the name that they have, instead of one that is made up.
            projections: Fields that show other ones, by their names: the path of a field (``"jets.pt"``), or ``"#jets"`` for
                the lengths of its lists.
            fields: How single fields are written, by their paths (``"jets.pt"``): dicts of ``"description"``,
                ``"compression"``, ``"nulls"``, and ``"floats"``: ``"whole"``, ``"single"`` (32 bits), ``"half"`` (16 bits),
                ``("truncated", bits)`` or ``("quantised", bits, low, high)``. They hold for the fields below as well.
            threads: Threads to encode and compress pages with, this one included; 1 unless it is said.
        """
        chosen = options(
            description=description,
            compression=compression,
            page_size=page_size,
            cluster_size=cluster_size,
            cluster_entries=cluster_entries,
            nulls=nulls,
            times_as_integers=times_as_integers,
            bitsets=bitsets,
            class_names=class_names,
            projections=projections,
            fields=fields,
            threads=threads,
        )
        path, array, types = self._columns(name, columns)
        self._file._open().ntuple(path, array, chosen)
        table = self._file._tables[path] = WritableNTuple(self._file, path, len(array), types, "ROOT::RNTuple")
        return table

    def _columns(self, name: str, columns: Any) -> tuple[str, _forthwith.Given, dict[str, Any]]:
        """The path of a new table, and its first columns, with their types where these are given."""
        path = self._join(name)
        columns = by_name(columns)
        if says_types(columns):
            return path, empty(columns), types_of(columns)
        array = taken(columns, {}, is_new=True)
        return path, array, spelled_types(array.types())

    def __setitem__(self, name: str, value: Any) -> None:
        if is_table(value):
            self.mktree(name, value)
            return
        directory, last = self._split(name)
        what = writable(value, last)
        core = self._file._open()
        if isinstance(what, Copied):
            what.write(core, directory, last)
        else:
            core.object(directory, last, what.title, what.members)

    def __getitem__(self, name: str) -> Any:
        path = self._join(name)
        before, cycle = _cycle_of(path)
        if cycle is not None and path not in self._file._tables and self._file._open().keys(path) is None:
            # Cycles that are older, or newer than a table that is extended, can be read when the file is closed.
            path = before if cycle == self._current(before) else path
        if path in self._file._tables:
            return self._file._tables[path]
        if self._file._open().keys(path) is None:
            if (kind := self._class(path)) in ("ROOT::RNTuple", "TTree", "TNtuple", "TNtupleD"):
                return self._reopen(path, kind)
            raise KeyInFileError(
                f"no directory {name!r} in a file that is being written; objects can be read when it is closed"
                f"\n  in {place_text(self._file.file_path, self._path)}",
                file=self._file.file_path,
                object=path,
            )
        return WritableDirectory(self._file, path)

    def _current(self, path: str) -> int:
        """The cycle of the table at a path that is being written, or the newest cycle of an object; 0 if there is none."""
        above, _, name = path.rpartition("/")
        table = self._file._tables.get(path)
        if table is not None and table._kind is None:
            return table._cycle
        return max((cycle for _, known, cycle in self._shown(above) if known == name), default=0)

    def _class(self, path: str) -> str | None:
        """The class of the object with the highest cycle at a path."""
        directory, _, name = path.rpartition("/")
        listed = self._file._open().keys(directory) or []
        return max(((cycle, kind) for kind, known, cycle in listed if known == name), default=(0, None))[1]

    def _reopen(self, path: str, kind: str) -> WritableTable:
        """A table that is in the file already, to be extended."""
        core = self._file._open()
        made: type[WritableTable]
        if kind == "ROOT::RNTuple":
            made = WritableNTuple
            entries, columns = core.reopen_ntuple(path, {})
        else:
            made = WritableTable
            entries, columns = core.reopen_tree(path, tree_options({}, slashes_in_names=True))
        cycle = self._current(path)
        table = self._file._tables[path] = made(self._file, path, entries, spelled_types(columns), cycle=cycle)
        return table

    def __delitem__(self, name: str) -> None:
        directory, last = self._split(name)
        core = self._file._open()
        listed = core.keys(directory) or []
        # A name may end as a cycle does.
        last, cycle = (last, None) if any(known == last for _, known, _ in listed) else _cycle_of(last)
        classes = {cycle: kind for kind, known, cycle in listed if known == last}
        shown = {cycle for _, known, cycle in self._shown(directory) if known == last}
        wanted = max(shown, default=0) if cycle is None else cycle
        if wanted not in classes:
            if wanted in shown:
                raise RequestError(f"{name!r} is a table that is being written: the file has it when it is closed")
            raise KeyInFileError(
                f"there is no object {name!r} to remove\n  in {place_text(self._file.file_path, directory)}",
                file=self._file.file_path,
                object=self._join(name),
            )
        if classes[wanted].startswith("TDirectory"):
            raise RequestError(f"{name!r} is a directory: only objects can be removed")
        if core.remove(directory, last, wanted):
            del self._file._tables[f"{directory}/{last}" if directory else last]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        directory, last = self._split(name)
        return any(last in (known, f"{known};{cycle}") for _, known, cycle in self._shown(directory))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._path!r} of {self._file.file_path}>"

    def _join(self, name: str) -> str:
        if not isinstance(name, str):
            raise RequestTypeError(f"objects have names, not {name!r}")
        return "/".join(part for part in f"{self._path}/{name}".split("/") if part)

    def _split(self, name: str) -> tuple[str, str]:
        directory, _, last = self._join(name).rpartition("/")
        if not last:
            raise RequestError("an object needs a name")
        return directory, last


def _cycle_of(name: str) -> tuple[str, int | None]:
    """A name without the cycle behind it, and that cycle, if there is one."""
    before, mark, number = name.rpartition(";")
    is_cycle = bool(mark) and number.isdecimal() and len(number) < 6
    return (before, int(number)) if is_cycle else (name, None)


class WritableTable:
    """A tree that is being written: what `mktree` gives."""

    def __init__(
        self,
        file: WritableFile,
        path: str,
        entries: int,
        types: dict[str, Any],
        kind: str | None = None,
        cycle: int = 0,
    ) -> None:
        self._file, self._path, self._entries, self._types = file, path, entries, types
        # Its class, if it is new: the file does not list it before it is closed.
        self._kind = kind
        # That of a table which was in the file.
        self._cycle = cycle

    def extend(self, array: Any) -> None:
        """Appends entries of the table's columns: a dict of arrays, an Awkward Array of records, a data frame, Arrow data.

        Raises:
            RequestError: The arrays are not of the `columns`, or the table has been closed: it was removed, or another table
                was begun under its name (also a ``ValueError``).
            UnsupportedError: Values that the table has no way to store.
        """
        self._check()
        columns = taken(array, self._types)
        self._file._open().extend(self._path, columns)
        self._entries += len(columns)

    def _check(self) -> None:
        # A file that is closed says so itself.
        if not self._file.closed and self._file._tables.get(self._path) is not self:
            raise RequestError(
                f"{self._path!r} has been closed: it was removed, or another table was begun under its name"
                f"\n  in {self._file.file_path}"
            )

    def add_branches(self, columns: Any, **options: Any) -> None:
        """Adds branches to a tree that was in the file already, with a value for each entry that there is.

        Steps that follow have them as well.

        Args:
            columns: Arrays by their names, as `extend` takes them.
            **options: How they are written: ``jagged``, ``records``, ``strings``, ``nulls``, ``floats``, ``counter``,
                ``compression``, ``basket_bytes`` as `WritableDirectory.mktree` takes them.

        Raises:
            RequestError: There is a branch of that name, or there are more or fewer values than entries (also a
                ``ValueError``).
        """
        self._check()
        array = taken(columns, {})
        self._file._open().add_branches(self._path, array, tree_options(options))
        self._types.update(spelled_types(array.types()))

    @property
    def path(self) -> str:
        """The path in the file."""
        return self._path

    @property
    def columns(self) -> dict[str, str]:
        """The types of the columns that `extend` wants, as Awkward Array spells them, by the names of columns."""
        return {name: str(kind) for name, kind in self._types.items()}

    @property
    def num_entries(self) -> int:
        """Entries written so far."""
        return self._entries

    def __repr__(self) -> str:
        return f"<WritableTable {self._path!r} of {self._file.file_path}>"


class WritableNTuple(WritableTable):
    """An RNTuple that is being written: what `mkrntuple` gives."""

    def add_fields(self, columns: Mapping[str, Any], *, fields: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Adds fields, which the steps that follow have as well.

        In entries that are there already numbers are zero, lists and texts empty, and options without a value.

        Args:
            columns: Their types, by their names.
            fields: How they are written, as `mkrntuple` takes it.
        """
        self._check()
        array, types = new_columns(columns)
        self._file._open().add_fields(self._path, array, field_options(fields or {}))
        self._types.update(types)


class WritableFile(Unfinished, WritableDirectory):
    """A ROOT file that is being written: what `recreate`, `create` and `update` give. Used with ``with``."""

    def __init__(self, core: _forthwith.RootWriter, target: Writable | None, name: str) -> None:
        super().__init__(None, "")
        self._core: _forthwith.RootWriter | None = core
        self._target = target
        self._name = name
        self._tables: dict[str, WritableTable] = {}
        self._process = os.getpid()

    @property
    def file_path(self) -> str:
        """Where it is written."""
        return self._name

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._core is None

    def describe(self, source: Any) -> None:
        """Adds the descriptions of classes that another file has, so that objects of them can be written from dicts.

        Args:
            source: An opened ROOT file.

        Raises:
            UnsupportedError: It is no ROOT file.
        """
        core = getattr(source, "_core", None)
        if not isinstance(core, _forthwith.File):
            raise RequestTypeError(f"descriptions of classes come from an opened file, not from {source!r}")
        self._open().describe(core)

    def _open(self) -> _forthwith.RootWriter:
        if self._core is None:
            raise ValueError(f"{self._name} has been closed")
        return self._core
