"""ROOT files and directories for writing."""

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
    """Creates a ROOT file, and replaces an existing one.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, the URL of a stored object, or a file object. The last two receive all
            bytes at the end.
        compression: The compression of objects: `forthwith.ZLIB`, `forthwith.LZMA`, `forthwith.LZ4` or
            `forthwith.ZSTD` with a level, their names (``"zstd"``), or ``None``. By default ``ZLIB(1)``.
        title: The title of the file.
        storage_options: For URLs such as ``s3://bucket/out.root``: options of the store, as in ``open``.

    Raises:
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
        RequestError: The compression is invalid (also a ``ValueError``).
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
    """Creates a ROOT file as `recreate`, but refuses to replace an existing one.

    Raises:
        SourceError: The file exists (``errno`` is ``EEXIST``), and as in `recreate`.
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
    """Opens an existing ROOT file for adding objects.

    Existing data are not overwritten and remain readable at all times, even if the process is killed. New
    objects are in the file at the end of the ``with`` block; after an exception, the file is unchanged. An
    object with an existing name gets the next cycle, and both are kept. The file is locked meanwhile: a
    second `update` is refused.

    Args:
        path: The file.
        compression: As in `recreate`; by default that of the file.

    Raises:
        MissingFileError: The file does not exist (also a ``FileNotFoundError``).
        SourceError: The file is not writable, or is locked (also an ``OSError``).
        DamagedFileError: The file is not a ROOT file, or was not closed.
    """
    uri = os.fspath(path)
    if scheme(uri) not in (None, "file"):
        raise UnsupportedError("changing a file behind a network", file=uri)
    core = _forthwith.RootWriter(uri, "update", setting(compression, None), "", None)
    return WritableFile(core, None, uri)


class WritableDirectory:
    """A directory of a file that is being written. ``directory["name"] = histogram`` adds an object."""

    def __init__(self, file: WritableFile | None, path: str) -> None:
        # A file does not refer to itself, so that it is freed without garbage collection.
        self._above, self._path = file, path

    @property
    def _file(self) -> WritableFile:
        return self if self._above is None else self._above  # type: ignore[return-value]

    @property
    def file(self) -> WritableFile:
        """The file of this directory."""
        return self._file

    @property
    def path(self) -> str:
        """Path in the file; empty for the top directory."""
        return self._path

    def mkdir(self, name: str) -> WritableDirectory:
        """Creates a directory and its parents, or returns an existing one."""
        path = self._join(name)
        self._file._open().mkdir(path)
        return WritableDirectory(self._file, path)

    def keys(self, *, cycle: bool = True) -> list[str]:
        """Returns the names of the objects of this directory, with or without cycles."""
        listed = self._shown()
        return (
            [f"{name};{number}" for _, name, number in listed]
            if cycle
            else list(dict.fromkeys(n for _, n, _ in listed))
        )

    def classnames(self) -> dict[str, str]:
        """Returns the class of each object of this directory."""
        return {f"{name};{number}": kind for kind, name, number in self._shown()}

    def _shown(self, path: str | None = None) -> list[tuple[str, str, int]]:
        """Returns class, name and cycle of the objects of a directory, including unfinished tables."""
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
        """Begins a tree and returns it.

        Options of columns are one value for all columns, or a dict with values for some: ``jagged={"hits":
        "vector"}``.

        Args:
            name: Name of the tree, with its directories.
            columns: The type of each column in the notation of NumPy (``"f4"``, ``("f4", (3,))``) or
                datashape (``"var * int64"``), or a type of Awkward Array without its length; or the type of
                an Awkward Array of records, or an Arrow schema; or arrays, which are the first entries.
            title: Title of the tree.
            jagged: The form of lists of numbers: ``"counter"`` for a counter branch and an array of that
                length, or ``"vector"`` for ``std::vector``.
            records: The form of records: ``"flat"`` for a branch per field, or ``"class"`` for objects of a
                class.
            strings: The form of text: ``"object"`` for ``std::string``, or ``"characters"`` for a character
                leaf.
            nulls: The number that replaces missing values, with empty lists and texts; ``"refused"`` raises
                an error.
            floats: ``"double32"`` or ``"float16"`` for ``Double32_t`` and ``Float16_t``, with the bits of the
                mantissa (``("float16", 8)``) or with a range and bits (``("double32", 0, 100, 16)``).
            counter: Name of the counter branch of lists. Columns may share a counter.
            compression: As in `recreate`; by default that of the file.
            basket_bytes: Approximate uncompressed size of a basket in bytes; by default 512 kB.
            cluster_bytes: Approximate uncompressed size of a cluster of all columns in bytes; by default 32
                MB.
            cluster_entries: Number of entries of a cluster, in place of ``cluster_bytes``.
            titles: Titles of branches by name.
            aliases: Names of expressions, for ROOT's ``TTree::Draw``.
            user_info: Texts and numbers to store with the tree.
            index: One or two integer columns by which ROOT finds entries (``GetEntryWithIndex``).
            times_as_integers: Whether dates, times and durations are written as integers, instead of being
                refused; the title of the branch has their unit and origin, by which forthwith restores them.
            slashes_in_names: Whether names of branches may contain slashes, except for branches of class
                objects. C++ ROOT reads and copies such trees, but its ``RDataFrame::Snapshot`` writes zeros
                for their numbers.
            threads: Number of threads that encode and compress baskets; by default the number of processors.

        Raises:
            RequestError: The value of an option is invalid, or a column does not exist (also a
                ``ValueError``).
            UnsupportedError: Trees do not support the type of a column, which the message names.
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
        """Begins an RNTuple and returns it.

        Args:
            name: Name of the RNTuple, with its directories.
            columns: As in `mktree`.
            description: Description of the RNTuple in its header.
            compression: The compression of pages. By default that of the file, or of its objects if it is
                updated; if these have ROOT's default, ``ZLIB(1)``, pages have that of RNTuples, ``ZSTD(5)``.
            page_size: Maximum size of the elements of a page in memory in bytes; by default 1 MB.
            cluster_size: Approximate stored size of a cluster in bytes; by default 128 MB.
            cluster_entries: Maximum number of entries of a cluster.
            nulls: A number that replaces missing values, with empty lists and texts, instead of
                ``std::optional``.
            times_as_integers: Whether dates, times and durations are written as integers, instead of being
                refused; forthwith restores them by the description of the field.
            bitsets: Whether fixed-size arrays of booleans are ``std::bitset``.
            class_names: Whether records that need a class have their own name, instead of a generated one.
            projections: Projected fields by name: the path of the source field (``"jets.pt"``), or
                ``"#jets"`` for the lengths of its lists.
            fields: Options of single fields by path (``"jets.pt"``): dicts of ``"description"``,
                ``"compression"``, ``"nulls"``, and ``"floats"``: ``"whole"``, ``"single"`` (32 bits),
                ``"half"`` (16 bits), ``("truncated", bits)`` or ``("quantised", bits, low, high)``. They
                apply to nested fields as well.
            threads: Number of threads that encode and compress pages, including the calling one; by default
                1.
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
        """Returns the path of a new table, and its first columns with their types, if these are given."""
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
            # Other cycles can be read after the file is closed.
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
        """Returns the cycle of the table written at a path, or the highest of an object; 0 without one."""
        above, _, name = path.rpartition("/")
        table = self._file._tables.get(path)
        if table is not None and table._kind is None:
            return table._cycle
        return max((cycle for _, known, cycle in self._shown(above) if known == name), default=0)

    def _class(self, path: str) -> str | None:
        """Returns the class of the object with the highest cycle at a path."""
        directory, _, name = path.rpartition("/")
        listed = self._file._open().keys(directory) or []
        return max(((cycle, kind) for kind, known, cycle in listed if known == name), default=(0, None))[1]

    def _reopen(self, path: str, kind: str) -> WritableTable:
        """Opens a table of the file for extension."""
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
        # A name may end in the form of a cycle.
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
    """Splits a name and its cycle, which may be missing."""
    before, mark, number = name.rpartition(";")
    is_cycle = bool(mark) and number.isdecimal() and len(number) < 6
    return (before, int(number)) if is_cycle else (name, None)


class WritableTable:
    """A tree that is being written, returned by `mktree`."""

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
        # The class of a new table, which the file does not list before it is closed.
        self._kind = kind
        # The cycle of a table that was in the file.
        self._cycle = cycle

    def extend(self, array: Any) -> None:
        """Appends entries: a dict of arrays, an Awkward Array of records, a data frame or Arrow data.

        Raises:
            RequestError: The arrays do not match `columns`, or the table has been closed: it was removed, or
                another table was begun under its name (also a ``ValueError``).
            UnsupportedError: The table cannot store these values.
        """
        self._check()
        columns = taken(array, self._types)
        self._file._open().extend(self._path, columns)
        self._entries += len(columns)

    def _check(self) -> None:
        # A closed file raises its own error.
        if not self._file.closed and self._file._tables.get(self._path) is not self:
            raise RequestError(
                f"{self._path!r} has been closed: it was removed, or another table was begun under its name"
                f"\n  in {self._file.file_path}"
            )

    def add_branches(self, columns: Any, **options: Any) -> None:
        """Adds branches to a tree that was in the file, with a value for each existing entry.

        Later steps have to include them.

        Args:
            columns: Arrays by name, as in `extend`.
            **options: ``jagged``, ``records``, ``strings``, ``nulls``, ``floats``, ``counter``,
                ``compression`` and ``basket_bytes``, as in `WritableDirectory.mktree`.

        Raises:
            RequestError: A branch of that name exists, or the number of values differs from that of entries
                (also a ``ValueError``).
        """
        self._check()
        array = taken(columns, {})
        self._file._open().add_branches(self._path, array, tree_options(options))
        self._types.update(spelled_types(array.types()))

    @property
    def path(self) -> str:
        """Path in the file."""
        return self._path

    @property
    def columns(self) -> dict[str, str]:
        """Types of the columns for `extend` in Awkward Array's notation, by name."""
        return {name: str(kind) for name, kind in self._types.items()}

    @property
    def num_entries(self) -> int:
        """Number of entries written so far."""
        return self._entries

    def __repr__(self) -> str:
        return f"<WritableTable {self._path!r} of {self._file.file_path}>"


class WritableNTuple(WritableTable):
    """An RNTuple that is being written, returned by `mkrntuple`."""

    def add_fields(self, columns: Mapping[str, Any], *, fields: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Adds fields, which later steps have to include.

        In existing entries, numbers are zero, lists and texts empty, and optional values missing.

        Args:
            columns: Types of the fields by name.
            fields: Options of the fields, as in `mkrntuple`.
        """
        self._check()
        array, types = new_columns(columns)
        self._file._open().add_fields(self._path, array, field_options(fields or {}))
        self._types.update(types)


class WritableFile(Unfinished, WritableDirectory):
    """A ROOT file that is being written, for use in ``with``."""

    def __init__(self, core: _forthwith.RootWriter, target: Writable | None, name: str) -> None:
        super().__init__(None, "")
        self._core: _forthwith.RootWriter | None = core
        self._target = target
        self._name = name
        self._tables: dict[str, WritableTable] = {}
        self._process = os.getpid()

    @property
    def file_path(self) -> str:
        """Path or URL of the destination."""
        return self._name

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._core is None

    def describe(self, source: Any) -> None:
        """Adds the streamer infos of another file, so that objects of its classes can be written from dicts.

        Args:
            source: An open ROOT file.

        Raises:
            UnsupportedError: The source is not a ROOT file.
        """
        core = getattr(source, "_core", None)
        if not isinstance(core, _forthwith.File):
            raise RequestTypeError(f"descriptions of classes come from an opened file, not from {source!r}")
        self._open().describe(core)

    def _open(self) -> _forthwith.RootWriter:
        if self._core is None:
            raise ValueError(f"{self._name} has been closed")
        return self._core
