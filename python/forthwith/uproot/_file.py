"""Files and directories in uproot's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from forthwith import _paths
from forthwith._errors import KeyInFileError
from forthwith._file import Directory, File, open_file
from forthwith._opening import Settings
from forthwith._tree.branch import Branch
from forthwith._tree.tree import Tree
from forthwith.uproot._branches import filter_of
from forthwith.uproot._cache import cache_of
from forthwith.uproot._detached import HEADER, DetachedFile
from forthwith.uproot._in_file import Closes, InFile
from forthwith.uproot._keys import ReadOnlyKey, Recorded
from forthwith.uproot._model import class_named, versioned, wrap
from forthwith.uproot._ntuple import RNTuple
from forthwith.uproot._options import AS_STORED, no_filter, store_options, without_secrets
from forthwith.uproot._streamers import dependencies, show, streamers_of
from forthwith.uproot._tree import TTree
from forthwith.uproot._writing import compression_named


class FileSource(Closes):
    """The bytes of a file.

    Attributes:
        num_requested_bytes: Bytes of the baskets that were read so far.
    """

    def __init__(self, ours: File) -> None:
        self._ours = ours
        self.num_requested_bytes = 0

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return str(self._ours.file_path)

    @property
    def num_bytes(self) -> int:
        """The bytes of the file."""
        return int(self._ours.size)

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return bool(self._ours.closed)

    def close(self) -> None:
        """Closes the file."""
        self._ours.close()

    def __repr__(self) -> str:
        return f"<FileSource {self.file_path!r} at 0x{id(self):012x}>"


class ReadOnlyFile(Closes):
    """An opened file.

    Args:
        file_path: A path, or a file of forthwith's.
        options: What it was opened with.
        more: The same, by name.

    Attributes:
        options: What it was opened with.
        source: Its bytes.
        tables: Its trees and ntuples that are held.
    """

    def __init__(self, file_path: Any, options: dict[str, Any] | None = None, **more: Any) -> None:
        ours = file_path
        self.options = {**(options or {}), **more}
        if not isinstance(ours, File):
            path = _paths.whole(file_path)
            settings = Settings.of(storage_options=store_options(path, self.options), **AS_STORED)
            ours = open_file(path, settings.options, settings.view)
        self._ours = ours
        self._streamers: dict[str, dict[int, Any]] | None = None
        self.tables: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self.source = FileSource(ours)
        self._cache = cache_of(self.options.get("array_cache"), None)

    @property
    def forthwith(self) -> Any:
        """The file of forthwith's."""
        return self._ours

    @property
    def file(self) -> ReadOnlyFile:
        """The file itself."""
        return self

    @property
    def file_path(self) -> str:
        """Its path."""
        return str(self._ours.file_path)

    @property
    def detached(self) -> DetachedFile:
        """What is known of it without its bytes."""
        return DetachedFile(self)

    @property
    def root_directory(self) -> ReadOnlyDirectory:
        """Its topmost directory."""
        return ReadOnlyDirectory(self._ours, self)

    @property
    def root_version(self) -> str:
        """The version of ROOT that wrote it."""
        return str(self._ours.version)

    @property
    def root_version_tuple(self) -> tuple[int, int, int]:
        """The same as three numbers."""
        major, _, rest = self.root_version.partition(".")
        minor, _, patch = rest.partition("/")
        return int(major), int(minor), int(patch)

    def __getattr__(self, name: str) -> int:
        """A number of the header: ``fVersion``, ``fBEGIN``, ``fEND``, ``fNbytesInfo`` and so on."""
        if name in HEADER:
            return self._ours.header[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def is_64bit(self) -> bool:
        """Whether positions have 64 bits."""
        return bool(self.fVersion >= 1000000)

    @property
    def compression(self) -> Any:
        """How new objects would be compressed."""
        return compression_named(self._ours.compression)

    @property
    def hex_uuid(self) -> str:
        """Its identifier."""
        return str(self._ours.uuid or "00000000-0000-0000-0000-000000000000")

    @property
    def uuid(self) -> Any:
        """Its identifier, as Python has it."""
        from uuid import UUID

        return UUID(self.hex_uuid)

    @property
    def fUUID(self) -> bytes:
        """Its identifier, 16 bytes."""
        found: bytes = self.uuid.bytes
        return found

    @property
    def object_cache(self) -> None:
        """There is none, since objects are yours to keep."""
        return

    @property
    def array_cache(self) -> Any:
        """The mapping of arrays that ``open`` was given, or made of the bytes that it was given; otherwise none."""
        return self._cache

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self._ours.closed)

    def close(self) -> None:
        """Closes it."""
        self._ours.close()

    @property
    def streamers(self) -> dict[str, dict[int, Any]]:
        """Its streamer infos by class and version."""
        if self._streamers is None:
            self._streamers = streamers_of(self)
        return self._streamers

    def streamers_named(self, classname: str) -> list[Any]:
        """The streamer infos of a class."""
        return list(self._versions(classname).values())

    def _versions(self, classname: str) -> dict[int, Any]:
        """The streamer infos of a class by version, whichever spaces its name has there."""
        known = self.streamers
        if classname not in known and "<" in classname:
            plain = classname.replace(" ", "")
            classname = next((name for name in known if name.replace(" ", "") == plain), classname)
        return known.get(classname, {})

    def streamer_named(self, classname: str, version: Any = "max") -> Any:
        """The streamer info of a class; ``None`` if the file has none of this version."""
        known = self._versions(classname)
        if not known:
            return None
        if version == "min":
            return known[min(known)]
        return known[max(known)] if version == "max" else known.get(version)

    def streamer_dependencies(self, classname: str, version: Any = "max") -> list[tuple[str, int]]:
        """The classes that one is made of and their versions, those that need others last."""
        return [(info.name, info.class_version) for info in dependencies(self, classname, version)]

    def show_streamers(self, classname: str | None = None, version: Any = "max", stream: Any = None) -> None:
        """Prints streamer infos."""
        show(self, classname, version, stream)

    def class_named(self, classname: str, version: Any = None) -> Any:
        """The Python class of a C++ class; of ``"max"``, with its highest version in the file."""
        return versioned(classname, self) if version == "max" else class_named(classname, version)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadOnlyFile) and self._ours is other._ours

    def __hash__(self) -> int:
        return hash(id(self._ours))

    def __repr__(self) -> str:
        return f"<ReadOnlyFile {self.file_path!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyFile, (self._ours, without_secrets(self.options))


class ReadOnlyDirectory(InFile, Recorded, Mapping[str, Any]):
    """A directory of a file: a mapping from names to objects."""

    def __init__(self, ours: Any, file: ReadOnlyFile) -> None:
        self._ours, self._file = ours, file

    @property
    def forthwith(self) -> Any:
        """The directory of forthwith's."""
        return self._ours

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the directories that lead here."""
        return tuple(part.partition(";")[0] for part in self._ours.path.split("/") if part)

    @property
    def object_path(self) -> str:
        """The path in the file."""
        return "/".join(("", *self.path, ""))

    @property
    def cache_key(self) -> str:
        """A text that differs for other directories and files."""
        return f"{self._file.hex_uuid}:{self.object_path}"

    @property
    def parent(self) -> Any:
        """The directory that this is in; the file of the topmost one."""
        if not self.path:
            return self._file
        return self._file.root_directory["/".join(self.path[:-1])] if self.path[1:] else self._file.root_directory

    @property
    def name(self) -> str:
        """Its name."""
        return self.path[-1] if self.path else ""

    @property
    def is_64bit(self) -> bool:
        """Whether positions have 64 bits."""
        return bool(self._file.is_64bit)

    def _found(self, recursive: Any, cycle: bool, filter_name: Any, filter_classname: Any) -> Iterator[tuple[str, Any]]:
        found: Iterator[tuple[str, Any]] = self._ours._passing(
            bool(recursive),
            cycle,
            filter_of(filter_name, "filter_name"),
            filter_of(filter_classname, "filter_classname"),
        )
        return found

    def iterkeys(
        self,
        *,
        recursive: Any = True,
        cycle: bool = True,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
    ) -> Iterator[str]:
        """Names of objects.

        Args:
            recursive: Whether directories in it are meant, too.
            cycle: Whether names have their cycle.
            filter_name: A name, a glob, ``"/regex/flags"``, a function, or several of these.
            filter_classname: The same, of classes.
        """
        return (name for name, _ in self._found(recursive, cycle, filter_name, filter_classname))

    def iteritems(
        self,
        *,
        recursive: Any = True,
        cycle: bool = True,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
    ) -> Iterator[tuple[str, Any]]:
        """Names and objects. The arguments are those of `iterkeys`."""
        for name, key in self._found(recursive, cycle, filter_name, filter_classname):
            yield name, self._opened(self._ours._object(key, self._ours._inside(key.path)))

    def itervalues(self, **filters: Any) -> Iterator[Any]:
        """Objects. The arguments are those of `iterkeys`."""
        return (value for _, value in self.iteritems(**filters))

    def iterclassnames(
        self,
        *,
        recursive: Any = True,
        cycle: bool = True,
        filter_name: Any = no_filter,
        filter_classname: Any = no_filter,
    ) -> Iterator[tuple[str, str]]:
        """Names and classes. The arguments are those of `iterkeys`."""
        return ((name, key.classname) for name, key in self._found(recursive, cycle, filter_name, filter_classname))

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names of objects. The arguments are those of `iterkeys`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[Any]:  # type: ignore[override]
        """Objects. The arguments are those of `iterkeys`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Names and objects. The arguments are those of `iterkeys`."""
        return list(self.iteritems(**filters))

    def classnames(self, **filters: Any) -> dict[str, str]:
        """Classes by name. The arguments are those of `iterkeys`."""
        return dict(self.iterclassnames(**filters))

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __bool__(self) -> bool:
        return True

    def __contains__(self, where: object) -> bool:
        if not isinstance(where, str):
            return False
        try:
            self[where]
        except (KeyError, NotImplementedError):
            return False
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys(cycle=False)

    def __getitem__(self, where: str) -> Any:
        """The object of a name or path; ``"tree:branch"`` and ``"tree/branch"`` go on into trees."""
        return self._at(where)

    def _at(self, where: str) -> Any:
        path, colon, inner = _parted(where)
        if not colon:
            return self._branch_or_object(path)
        try:
            return self._branch_or_object(where.strip("/"))
        except KeyInFileError:
            return self._branch_or_object(path)[inner]

    def _branch_or_object(self, where: str) -> Any:
        found = self._ours._at(where)
        if isinstance(found, Branch):
            tree = self._opened(found.tree)
            return tree[found.path] if hasattr(tree, "fields") else tree._branch(found._index)
        return self._opened(found)

    def _opened(self, found: Any) -> Any:
        return opened(found, self._file)

    def descent_into_path(self, where: str) -> tuple[ReadOnlyDirectory, str]:
        """The directory that a path leads to, and the name of an object in it."""
        above, _, name = where.strip("/").replace(":", "/").rpartition("/")
        return (self._at(above) if above else self), name

    def key(self, where: str) -> ReadOnlyKey:
        """The key of an object."""
        path = self._ours._inside(where)
        core = self._ours.file._core.find(path)
        # A name may have slashes itself.
        above = core.path[: -len(core.name)].rstrip("/") if core.name else core.path.rstrip("/")
        return ReadOnlyKey(core, self._file.root_directory[above] if above else self._file.root_directory)

    def title_of(self, where: str, recursive: Any = True) -> str:
        """The title of an object, without reading it."""
        return self.key(where).fTitle

    def classname_of(self, where: str, encoded: bool = False, version: int | None = None, recursive: Any = True) -> str:
        """The class of an object, without reading it."""
        return self.key(where).classname(encoded, version)

    def class_of(self, where: str, version: Any = None, recursive: Any = True) -> Any:
        """The Python class of an object, without reading it."""
        return self._file.class_named(self.classname_of(where), version)

    def streamer_of(self, where: str, version: Any = "max", recursive: Any = True) -> Any:
        """The streamer info of an object's class."""
        return self._file.streamer_named(self.classname_of(where), version)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadOnlyDirectory) and self._ours == other._ours

    def __hash__(self) -> int:
        return hash(self._ours)

    def __repr__(self) -> str:
        return f"<ReadOnlyDirectory {self.object_path!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyDirectory, (self._ours, self._file)


def _parted(where: Any) -> tuple[Any, str, str]:
    if not isinstance(where, str):
        return where, "", ""
    path, colon, inner = where.partition(":")
    return path, colon, inner


def opened(found: Any, file: ReadOnlyFile) -> Any:
    """What forthwith opened, as uproot has it; a table is one object as long as it is held."""
    if isinstance(found, Tree):
        made = file.tables.get(found.path)
        if made is None:
            made = (RNTuple if "RNTuple" in found.classname else TTree)(found, file)
            file.tables[found.path] = made
        return made
    if isinstance(found, Directory):
        return ReadOnlyDirectory(found, file)
    return wrap(found, file)
