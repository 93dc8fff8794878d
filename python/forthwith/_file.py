"""Files, and directories in files. A file is its own top directory."""

from __future__ import annotations

from collections.abc import Mapping

from forthwith import _filters, _forthwith, _keywords, _show, _stores
from forthwith._errors import KeyInFileError, RecoveryWarning, RequestError, UnsupportedError, place_text
from forthwith._tree.protocols import NotAnArray
from forthwith._tree.tables import AvroTree, ParquetTree
from forthwith._tree.tree import Tree
from forthwith._warn import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, Self, TextIO, TypedDict, Unpack

    from forthwith._filters import Filter, Predicate
    from forthwith._streamers import StreamerInfo
    from forthwith._types import Opened

    class Filters(TypedDict, total=False):
        """The arguments of `Directory.keys` and other listings."""

        recursive: bool
        cycle: bool
        filter_name: Filter
        filter_classname: Filter


_FILTERS = frozenset(("recursive", "cycle", "filter_name", "filter_classname"))
# Classes of tables with attributes specific to their format.
_TREES: dict[str, type[Tree]] = {"Avro": AvroTree, "Parquet": ParquetTree}


class Directory(NotAnArray, Mapping[str, "Any"]):
    """A directory of a file: a mapping from names to objects.

    Keys have the form ``name;cycle``, where the cycle is a version number; a lookup of ``name`` finds the
    highest cycle. Paths of nested objects are joined by ``/``.
    """

    def __init__(self, file: File, path: str) -> None:
        self._owner = file
        self._path = path

    @property
    def _file(self) -> File:
        return self._owner

    @property
    def file(self) -> File:
        """The file of this directory."""
        return self._file

    @property
    def path(self) -> str:
        """Path within the file; empty for the top directory."""
        return self._path

    def _refuse(self) -> NoReturn:
        raise TypeError(f'{self!r} is no array, but holds objects: keys() has their names, ["name"] opens one')

    def _found(self, call: str = "keys", **filters: Any) -> Iterator[tuple[str, _forthwith.Key]]:
        """Iterates over names and keys that pass the filters; arguments are validated immediately."""
        _keywords.refuse(call, filters.keys() - _FILTERS, _FILTERS)
        by_name = _filters.predicate(filters.get("filter_name"), "filter_name")
        by_class = _filters.predicate(filters.get("filter_classname"), "filter_classname")
        return self._passing(filters.get("recursive", True), filters.get("cycle", True), by_name, by_class)

    def _passing(
        self, recursive: bool, cycle: bool, by_name: Predicate | None, by_class: Predicate | None
    ) -> Iterator[tuple[str, _forthwith.Key]]:
        seen = set()
        for key in self._file._core.keys(self._path, recursive):
            path = key.path  # counted from this directory
            if by_name and not (by_name(path) or (path != key.name and by_name(key.name))):
                continue
            if by_class and not by_class(key.classname):
                continue
            name = f"{path};{key.cycle}" if cycle else path
            if name not in seen:
                seen.add(name)
                yield name, key

    def keys(  # type: ignore[override]
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
        **unknown: Any,
    ) -> list[str]:
        """Returns the names of the objects, in the order of the file.

        Args:
            recursive: Whether to descend into directories.
            cycle: Whether names include ``;cycle``.
            filter_name: Selects names (or paths): a name, a glob, ``"/regex/flags"``, a function, or a list.
            filter_classname: Selects objects by class, likewise.
            unknown: Unknown arguments are refused.
        """
        found = self._found(
            recursive=recursive,
            cycle=cycle,
            filter_name=filter_name,
            filter_classname=filter_classname,
            **unknown,
        )
        return [name for name, _ in found]

    def iterkeys(self, **filters: Unpack[Filters]) -> Iterator[str]:
        """Iterates over the names of the objects, with the arguments of `keys`."""
        return (name for name, _ in self._found("keys", **filters))

    def iteritems(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, Any]]:
        """Iterates over names and objects, with the arguments of `keys`.

        Raises:
            UnsupportedError: The file does not describe an object; ``filter_classname="TTree"`` excludes such
                objects.
        """
        return ((name, self._object(key, self._inside(key.path))) for name, key in self._found("items", **filters))

    def itervalues(self, **filters: Unpack[Filters]) -> Iterator[Any]:
        """Iterates over the objects, with the arguments of `keys` and the exceptions of `iteritems`."""
        return (value for _, value in self.iteritems(**filters))

    def iterclassnames(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, str]]:
        """Iterates over names and class names, without reading objects, with the arguments of `keys`."""
        return ((name, key.classname) for name, key in self._found("classnames", **filters))

    def values(self, **filters: Unpack[Filters]) -> list[Any]:  # type: ignore[override]
        """Returns the objects, with the arguments of `keys` and the exceptions of `iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Unpack[Filters]) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Returns names and objects, with the arguments of `keys` and the exceptions of `iteritems`."""
        return list(self.iteritems(**filters))

    def classnames(self, **filters: Unpack[Filters]) -> dict[str, str]:
        """Returns class names by name, without reading objects, with the arguments of `keys`."""
        return dict(self.iterclassnames(**filters))

    def _inside(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"objects are found by name, not by {name!r}")
        parts = [part for part in [*self._path.split("/"), *name.split("/")] if part]
        return "/".join(parts)

    def classname_of(self, name: str) -> str:
        """Returns the class of an object, without reading it."""
        return self._file._core.find(self._inside(name)).classname

    def __getitem__(self, name: str) -> Opened:
        """Returns the object ``name``, ``name;cycle`` or ``dir/name``, or a branch ``"dir/tree/branch"``.

        Raises:
            KeyInFileError: The directory has no such object; the message lists similar names.
            UnsupportedError: The class of the object is not supported.
        """
        found: Opened = self._at(name)
        return found

    def _at(self, name: str) -> Any:
        path = self._inside(name)
        if not path:
            return self
        try:
            key = self._file._core.find(path)
        except KeyInFileError as missing:
            # The path may continue into a tree.
            at = path.rfind("/")
            while at > len(self._path):
                try:
                    key = self._file._core.find(path[:at])
                except KeyInFileError:
                    at = path.rfind("/", 0, at)
                    continue
                if key.is_table:
                    return self._object(key, key.path)[path[at + 1 :]]
                break
            raise missing from None
        return self._object(key, key.path)

    def _object(self, key: _forthwith.Key, path: str) -> Any:
        if key.is_directory:
            return Directory(self._file, path)
        path = f"{path};{key.cycle}"
        if key.is_table:
            return self._file._tree_of(path)
        if key.is_unsupported_table:
            raise UnsupportedError(
                f"not supported yet: {key.classname}\n  in {place_text(self._file.file_path, path)}",
                file=self._file.file_path,
                object=path,
            )
        from forthwith._objects import open_object

        return open_object(self._file, path)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            self._file._core.find(self._inside(name))
        except KeyInFileError:
            try:
                self[name]  # it may be a branch of a tree
            except (KeyInFileError, UnsupportedError):
                return False
        return True

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return len(self.keys())

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Directory) and self._file is other._file and self._path == other._path
        )

    def __hash__(self) -> int:
        return hash((id(self._file), self._path))

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys(cycle=False)

    @property
    def object_path(self) -> str:
        """Absolute path within the file, such as ``/dir``."""
        return f"/{self._path}"

    def show(self, *, stream: TextIO | None = None, **filters: Unpack[Filters]) -> None:
        """Prints the objects with their classes and titles.

        Args:
            stream: The output stream; standard output by default.
            filters: The arguments of `keys`.
        """
        rows = [(name, key.classname, key.title) for name, key in self._found("show", **filters)]
        _show.table(("name", "class", "title"), rows, stream)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._path or '/'!r} of {self._file.file_path!r}>"

    def _repr_html_(self) -> str:
        found = self._found()
        rows = [(name, key.classname, key.title) for name, key in found]
        return _show.html_table(repr(self), ("name", "class", "title"), rows, nested=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _directory, (self._file, self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def _directory(file: File, path: str) -> Directory:
    return Directory(file, path)


class File(Directory):
    """An open file, which is also its top directory."""

    def __init__(self, core: _forthwith.File, what: Any, options: dict[str, Any], view: dict[str, Any]) -> None:
        self._path = ""
        self._core = core
        self._what = what
        self._options = options
        self._view = view  # options of the file's format
        self._opened: Any = None  # a file object that is closed with the file

    @property
    def _file(self) -> File:
        # Not an attribute: a reference cycle would keep the file open until garbage collection.
        return self

    @property
    def file_path(self) -> str:
        """The path or URL of the file, as it was given."""
        return self._core.uri

    @property
    def format(self) -> str:
        """The name of the file's format, such as ``"ROOT"``, ``"Avro"`` or ``"Parquet"``."""
        return self._core.format

    @property
    def metadata(self) -> dict[str, bytes]:
        """The file's own metadata.

        For Avro files, this is ``avro.schema``, ``avro.codec`` and further entries of the header; for Parquet
        files, the key-value metadata, such as ``ARROW:schema``, and ``created_by``.
        """
        return dict(self._core.metadata())

    def _beside(self, path: str) -> File:
        """Opens another file with the options of this one."""
        view = {name: value for name, value in self._view.items() if name != "recover"}
        return open_file(path, self._options, view)

    def _tree_of(self, path: str) -> Tree:
        return _TREES.get(self.format, Tree)(self, self._core.table(path))

    def _only_table(self) -> Tree:
        try:
            return self._tree_of("")
        except BaseException:
            self.close()
            raise

    @property
    def recovered(self) -> dict[str, Any] | None:
        """The report of ``open(..., recover=True)``; ``None`` if the directories of the file are intact.

        It has the numbers of ``objects``, ``baskets`` and ``deleted`` records; ``unlisted``, the objects that
        are in no list of keys; whether there are ``streamers``; the ``end`` of the last complete record and
        the ``size`` of the file, in bytes; the reason why the scan ``stopped`` there, if it did; and
        ``gaps``, the parts before the end that are not records, with first byte, byte after the last, and
        reason.
        """
        return self._core.recovered

    def _warn_of_recovery(self) -> None:
        found = self.recovered
        if found is None:
            return
        text = f"{self.file_path} was read from record to record: {found['objects']} objects and {found['baskets']} baskets"
        if found["unlisted"]:
            text += f", of them not in its directories: {', '.join(found['unlisted'][:20])}"
        if not found["streamers"]:
            text += "; there are no streamer infos, so that only what trees are made of can be read"
        if found["gaps"]:
            begin, _, what = found["gaps"][0]
            text += (
                f"; {len(found['gaps'])} parts that are not records were passed over, the first at byte {begin}: {what}"
            )
        if found["stopped"]:
            text += f"; the walk ended at byte {found['end']} of {found['size']}: {found['stopped']}"
        warn(text, RecoveryWarning)

    @property
    def streamers(self) -> dict[str, dict[int, StreamerInfo]]:
        """The streamer infos by class and version, which describe the layout of stored objects.

        If several infos have the same version, as those of unversioned classes, this is the last one;
        `streamer_infos` has all.

        Raises:
            UnsupportedError: The file is not a ROOT file.
        """
        found: dict[str, dict[int, StreamerInfo]] = {}
        for info in self.streamer_infos:
            found.setdefault(info.classname, {})[info.version] = info
        return found

    @property
    def streamer_infos(self) -> list[StreamerInfo]:
        """All streamer infos, in the order of the file."""
        from forthwith._streamers import streamers_of

        return streamers_of(self._core)

    def streamer_named(self, classname: str, version: int | None = None) -> StreamerInfo:
        """Returns the streamer info of a class, by default of its highest version.

        Raises:
            KeyInFileError: The file has no such info; the message lists similar classes, or the versions.
        """
        known = self.streamers
        versions = known.get(classname)
        if versions and version is None:
            return versions[max(versions)]
        if versions and version in versions:
            return versions[version]
        if versions:
            hint = f"version {version} of {classname}; there is {', '.join(map(str, sorted(versions)))}"
        else:
            from difflib import get_close_matches

            near = get_close_matches(str(classname), list(known))
            hint = f"class {classname!r}" + (f"; did you mean {', '.join(near)}?" if near else "")
        raise KeyInFileError(f"no streamer info of {hint}\n  in {self.file_path}", file=self.file_path)

    def show_streamers(self, classname: str | None = None, *, stream: TextIO | None = None) -> None:
        """Prints the streamer infos of all classes, or of one: bases and members with types and comments."""
        infos = self.streamer_infos
        if classname is not None:
            self.streamer_named(classname)
            infos = [info for info in infos if info.classname == classname]
        _show.write("\n\n".join(map(str, infos)) + "\n", stream)

    @property
    def uuid(self) -> str | None:
        """The UUID of the file; ``None`` for very old files."""
        return self._core.uuid

    @property
    def version(self) -> str:
        """The version of the software that wrote the file, such as ``6.40/00``."""
        return self._core.version

    @property
    def compression(self) -> str:
        """The compression setting for new data. Each block has its own compression."""
        return self._core.compression

    @property
    def header(self) -> dict[str, int]:
        """The fields of a ROOT file's header, named as in ``TFile``.

        These are ``fVersion``, ``fBEGIN``, ``fEND``, ``fSeekFree``, ``fNbytesFree``, ``nfree``,
        ``fNbytesName``, ``fUnits``, ``fCompress``, ``fSeekInfo``, ``fNbytesInfo``. Empty for other formats.
        """
        return self._core.header

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self._core.size

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return self._core.closed

    def close(self) -> None:
        """Closes the file. Later reads raise `ClosedFileError`.

        Arrays that were read remain valid. A file object that was passed to ``open`` is not closed.
        """
        self._core.close()
        if self._opened is not None:
            self._opened.close()

    def __repr__(self) -> str:
        return f"<File {self.file_path!r}{' (closed)' if self.closed else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        options = {**self._options, "storage_options": _stores.without_secrets(self._options["storage_options"])}
        what = _stores.without_password(self._what) if isinstance(self._what, str) else self._what
        if self._core.is_of_registered_format:
            return _open_registered, (self.format, what, options, self._view)
        return open_file, (what, options, self._view)

    def _opened_again(self) -> File:
        """Opens the file again, with the credentials that this one was opened with."""
        if self._core.is_of_registered_format:
            return _open_registered(self.format, self._what, self._options, self._view)
        return open_file(self._what, self._options, self._view)


def open_file(what: Any, options: dict[str, Any], view: dict[str, Any]) -> File:
    """Opens a path, a URL or a file object."""
    store = options["storage_options"]
    own = {name: value for name, value in options.items() if name != "storage_options"}
    if isinstance(what, str):
        if options["source"] == "map" and "://" in what:
            raise RequestError(f"source='map' is for paths, not for {what!r}")
        if _stores.is_foreign(what):
            return _open_foreign(what, own, options, view)
        if store is not None and _stores.scheme(what) is None:
            raise RequestError(f"storage_options are for URLs, and {what!r} is a path")
        return File(_forthwith.File.open(what, **own, options=view, store=_stores.flat(store)), what, options, view)
    if store is not None:
        raise RequestError("storage_options are for URLs, and this is a file object")
    return _open_object(what, what, own, options, view)


def _open_object(file: Any, what: Any, own: dict[str, Any], options: dict[str, Any], view: dict[str, Any]) -> File:
    if options["source"] != "auto":
        raise RequestError(f"source={options['source']!r} is for paths, not for {what!r}")
    name = what if isinstance(what, str) else getattr(file, "name", None)
    name = name if isinstance(name, str) else repr(file)
    own = {key: value for key, value in own.items() if key != "source"}
    core = _forthwith.File.from_object(file, name, **own, options=view)
    return File(core, what, options, view)


def _open_foreign(url: str, own: dict[str, Any], options: dict[str, Any], view: dict[str, Any]) -> File:
    """Opens a URL with fsspec. The file object is closed with the file."""
    opened = _stores.open_foreign(url, options["storage_options"])
    try:
        file = _open_object(opened, url, own, options, view)
    except BaseException:
        opened.close()
        raise
    file._opened = opened
    return file


def _open_registered(format: str, what: Any, options: dict[str, Any], view: dict[str, Any]) -> File:
    """Opens a file of a registered format; raises an error if this process has not registered it."""
    if format not in _forthwith.registered_formats():
        name = what if isinstance(what, str) else getattr(what, "name", repr(what))
        raise RequestError(
            f"{name} is of the format {format!r}, which is not registered in this process: "
            "call forthwith.register_format here as well"
        )
    return open_file(what, options, view)
