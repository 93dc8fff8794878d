"""Trees: tables whose columns are branches."""

from __future__ import annotations

import os
from bisect import bisect_left

from forthwith import _forthwith
from forthwith._errors import RequestError, place_text
from forthwith._packages import package
from forthwith._tree.attributes import Attributes
from forthwith._tree.branch import Branch
from forthwith._tree.branches import HasBranches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from forthwith._file import File
    from forthwith._interop.original import Kept
    from forthwith._paths import Constants


class Tree(HasBranches):
    """A tree of a file: a mapping from names to branches.

    ``tree["x"].array()`` reads one branch, ``tree.arrays(["x", "y"])`` several, and ``tree.iterate(["x"])`` a
    range of entries at a time. The tree itself is an Arrow stream: ``polars.DataFrame(tree)``,
    ``pyarrow.table(tree)``.
    """

    def __init__(self, file: File, core: _forthwith.Table) -> None:
        self._file = file
        self._core = core
        self._index = None
        self._path = ""
        # Computed on first access. Threads may compute them twice, with equal results.
        self._all_fields: _forthwith.Fields | None = None
        self._all_children: dict[int | None, list[int]] | None = None
        self._described: dict[int, _forthwith.Description] = {}
        self._object: Any = None
        # Arrow schema and metadata of the file, and a function that provides them for a file of a chain.
        self._kept: Kept | None = None
        self._kept_by: Callable[[Tree], Kept] | None = None
        self._constants: Constants = []
        # Names of constant columns that the file does not have itself.
        self._said: frozenset[str] = frozenset()

    def _with_constants(self, constants: Constants) -> Tree:
        """Returns the tree with constant columns after its own."""
        tree = self._like(self._core.with_constants(constants))
        tree._constants = constants
        own = {self._fields[at].path for at in range(len(self._fields))}
        tree._said = frozenset(name for name, *_ in constants if name not in own)
        return tree

    def _in_zones_of(self, zones: _forthwith.Zones) -> Tree:
        """Returns the tree with times in the time zones of another tree, and otherwise in UTC."""
        return self._like(self._core.in_zones_of(zones))

    def _like(self, core: _forthwith.Table) -> Tree:
        """Returns another view of the same table."""
        tree = type(self)(self._file, core)
        tree._constants, tree._said = self._constants, self._said
        tree._kept_by = self._kept_by
        return tree

    def _columns(self) -> list[str]:
        """Returns the names of the branches with data."""
        fields = self._fields
        return list(dict.fromkeys(path for path, at in self._members() if fields[at].has_data))

    def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
        """Returns the tables of this friend, and the first entry of ``tree`` counted within them."""
        return [self._core], before

    @property
    def _tree(self) -> Tree:
        # Not an attribute: a reference cycle would keep the file and the memory of arrays until garbage
        # collection.
        return self

    @property
    def path(self) -> str:
        """Path within the file."""
        return self._core.path

    @property
    def name(self) -> str:
        """Name of the tree, the last part of its path."""
        return self.path.rpartition("/")[2].partition(";")[0]

    @property
    def title(self) -> str:
        """Title of the tree, set by its writer."""
        return self._core.title

    @property
    def classname(self) -> str:
        """Class of the tree, such as ``TTree``."""
        return self._core.classname

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self._core.entries

    @property
    def as_object(self) -> Any:
        """The tree as an object, with its members, branches and leaves."""
        from forthwith._objects import open_object

        if self._object is None:
            self._object = open_object(self._file, self.path)
        return self._object

    @property
    def aliases(self) -> dict[str, str]:
        """Names of expressions that are stored with the tree, and the expressions."""
        return {alias.name: alias.title for alias in self._listed("fAliases")}

    @property
    def attributes(self) -> Attributes:
        """Attributes of ranges of entries of an RNTuple, as sets by name."""
        return Attributes(self)

    def descriptor(self) -> dict[str, Any]:
        """Returns the contents of header, footer and page lists of an RNTuple as dicts and lists.

        ``fields`` and ``columns`` are identified by their positions; ``groups`` have ``clusters``, whose
        ``columns`` have ``pages`` with number of elements, byte offset in the file, stored size in bytes, and
        whether a checksum follows. Terms are those of ROOT's "RNTuple Binary Format Specification 1.0".

        Raises:
            UnsupportedError: The tree is not an RNTuple.
            DamagedFileError: A page list is damaged.
        """
        import json

        found: dict[str, Any] = json.loads(_forthwith.ntuple_descriptor(self._core))
        return found

    @property
    def user_info(self) -> list[Any]:
        """Objects that the writer stored with the tree."""
        return self._listed("fUserInfo")

    @property
    def friends(self) -> list[Tree]:
        """The friends of this tree in or below the folder of its file, opened as by `open_friends`."""
        return self.open_friends()

    def open_friends(self, *, elsewhere: bool = False) -> list[Tree]:
        """Opens the friends of this tree, whose entries correspond to its own.

        Args:
            elsewhere: Whether to open friends outside of the folder of this file, which are given by absolute
                paths, paths with ``..`` or URLs. Paths are untrusted input from the author of the file.

        Raises:
            RequestError: A friend is outside of the folder, and ``elsewhere`` is false.
            MissingFileError: A file does not exist.
            KeyInFileError: A file does not contain the tree.
        """
        return [self._friend(path, file, beside, elsewhere) for _, file, path, beside in self._core.friends()]

    @property
    def friend_names(self) -> list[tuple[str, str, str]]:
        """Alias, file (empty for this one) and tree of each friend, without opening them."""
        return [(name, file, path) for name, file, path, _ in self._core.friends()]

    @property
    def index(self) -> Any:
        """The index of the tree, with members such as ``fMajorName`` and ``fIndexValues``, or ``None``."""
        return self.as_object.member("fTreeIndex", None)

    def entry_number(self, major: int, minor: int = 0) -> int | None:
        """Returns the entry with these values of the index, or ``None``.

        Raises:
            RequestError: The tree has no index.
        """
        index = self.index
        if index is None:
            raise RequestError(f"{self!r} has no index")
        majors = index.member("fIndexValues")
        minors = index.member("fIndexValuesMinor", None)
        if minors is None:
            at = bisect_left(majors, (major << 31) + minor)
            same = at < len(majors) and majors[at] == (major << 31) + minor
        else:
            pairs = _Pairs(majors, minors)
            at = bisect_left(pairs, (major, minor))
            same = at < len(pairs) and pairs[at] == (major, minor)
        return int(index.member("fIndex")[at]) if same else None

    def _listed(self, name: str) -> list[Any]:
        found = self.as_object.member(name, None)
        return [] if found is None else [item for item in found if item is not None]

    def _friend(self, name: str, file: str, beside: str | None, elsewhere: bool) -> Tree:
        if beside == "":
            directory = self.path.rpartition("/")[0]
            inner = f"{directory}/{name}"
            found: Tree = self._file[inner if directory and inner in self._file else name]
            return found
        if beside is None and not elsewhere:
            raise RequestError(
                f"the friend {name!r} of {self!r} is in {file!r}, outside of the folder of {self._file.file_path!r}: "
                "open_friends(elsewhere=True) opens it"
            )
        path = file if beside is None else beside
        if "://" not in path and not os.path.isabs(path):
            path = os.path.join(os.path.dirname(self._file.file_path), path)
        friend: Tree = self._file._beside(path)[name]
        return friend

    @property
    def metadata(self) -> dict[str, bytes]:
        """The metadata of the file, as `File.metadata`."""
        return self._file.metadata

    @property
    def schema(self) -> Any:
        """The columns and their types as a pyarrow Schema; for Avro, the schema of the writer."""
        return package("pyarrow").schema(self)

    @property
    def object_path(self) -> str:
        """Absolute path within the file, such as ``/dir/tree``."""
        return f"/{self.path}"

    @property
    def _called(self) -> str:
        """Name for display; a table without a path has the name of its file."""
        return self.path or os.path.basename(self._file.file_path)

    def _place(self, inner: str = "") -> str:
        """Returns the file and a path in it for errors. A table of a single-table file has no path."""
        path = "/".join(part for part in (self.path, inner) if part)
        return place_text(self._file.file_path, path)

    @property
    def _fields(self) -> _forthwith.Fields:
        if self._all_fields is None:
            self._all_fields = self._core.fields()
        return self._all_fields

    @property
    def _children(self) -> dict[int | None, list[int]]:
        if self._all_children is None:
            children: dict[int | None, list[int]] = {}
            for at, parent in enumerate(self._fields.parents()):
                children.setdefault(parent, []).append(at)
            self._all_children = children
        return self._all_children

    def _describe(self, at: int) -> _forthwith.Description:
        known = self._described.get(at)
        if known is None:
            known = self._described[at] = self._core.describe(at)
        return known

    def _branch(self, at: int) -> Branch:
        return Branch(self, at)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Tree) and self._file is other._file and self.path == other.path)

    def __hash__(self) -> int:
        return hash((id(self._file), self.path))

    def __repr__(self) -> str:
        # The length of a stream is unknown until its end.
        entries = "a stream" if self._core.is_stream else f"{self.num_entries} entries"
        return f"<{self.classname} {self._called!r} ({entries}, {len(self)} branches)>"

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._file, self.path, self._constants)


class _Pairs:
    """Sequence of pairs from two arrays."""

    def __init__(self, first: Any, second: Any) -> None:
        self._first = first
        self._second = second

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, at: int) -> tuple[int, int]:
        return int(self._first[at]), int(self._second[at])


def _reopen(file: File, path: str, constants: Constants) -> Tree:
    tree = file._tree_of(path)
    return tree._with_constants(constants) if constants else tree
