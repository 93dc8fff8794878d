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

    ``tree["x"].array()`` reads one branch, ``tree.arrays(["x", "y"])`` several, ``tree.iterate(["x"])`` some entries at a
    time. The tree itself is a stream of Arrow data: ``polars.DataFrame(tree)``, ``pyarrow.table(tree)``.
    """

    def __init__(self, file: File, core: _forthwith.Table) -> None:
        self._file = file
        self._core = core
        self._index = None
        self._path = ""
        # Made when they are asked for; whichever thread is last, they are the same.
        self._all_fields: _forthwith.Fields | None = None
        self._all_children: dict[int | None, list[int]] | None = None
        self._described: dict[int, _forthwith.Description] = {}
        self._object: Any = None
        # What its file keeps beside the columns, and who says it instead: one of several files.
        self._kept: Kept | None = None
        self._kept_by: Callable[[Tree], Kept] | None = None
        self._constants: Constants = []
        # The columns that they are: the file has none of these names.
        self._said: frozenset[str] = frozenset()

    def _with_constants(self, constants: Constants) -> Tree:
        """The tree with columns of one value each, behind its own."""
        tree = self._like(self._core.with_constants(constants))
        tree._constants = constants
        own = {self._fields[at].path for at in range(len(self._fields))}
        tree._said = frozenset(name for name, *_ in constants if name not in own)
        return tree

    def _in_zones_of(self, zones: _forthwith.Zones) -> Tree:
        """The tree with its times shown in the zones of another one, and in UTC where that has none."""
        return self._like(self._core.in_zones_of(zones))

    def _like(self, core: _forthwith.Table) -> Tree:
        """Another view of the same table."""
        tree = type(self)(self._file, core)
        tree._constants, tree._said = self._constants, self._said
        tree._kept_by = self._kept_by
        return tree

    def _columns(self) -> list[str]:
        """The names of the branches with data."""
        fields = self._fields
        return list(dict.fromkeys(path for path, at in self._members() if fields[at].has_data))

    def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
        """What is read where this is a friend of a tree, before which there is this number of entries."""
        return [self._core], before

    @property
    def _tree(self) -> Tree:
        # Not an attribute: a tree that held itself would keep its file, and the memory for arrays, until garbage is
        # collected.
        return self

    @property
    def path(self) -> str:
        """Path within the file."""
        return self._core.path

    @property
    def name(self) -> str:
        """Name, the last part of the path."""
        return self.path.rpartition("/")[2].partition(";")[0]

    @property
    def title(self) -> str:
        """The description its writer gave it."""
        return self._core.title

    @property
    def classname(self) -> str:
        """The class, such as ``TTree``."""
        return self._core.classname

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self._core.entries

    @property
    def as_object(self) -> Any:
        """The tree as an object, with its members and those of its branches and leaves."""
        from forthwith._objects import open_object

        if self._object is None:
            self._object = open_object(self._file, self.path)
        return self._object

    @property
    def aliases(self) -> dict[str, str]:
        """Names that stand for expressions."""
        return {alias.name: alias.title for alias in self._listed("fAliases")}

    @property
    def attributes(self) -> Attributes:
        """Values that belong to ranges of entries of an RNTuple, in sets by their names."""
        return Attributes(self)

    def descriptor(self) -> dict[str, Any]:
        """How an RNTuple is stored: what its header, footer and page lists say, as dicts and lists.

        ``fields`` and ``columns`` are known by their positions; ``groups`` have ``clusters``, whose ``columns`` have
        ``pages``: elements, position in the file, bytes as stored, and whether a checksum follows. The words are those of
        ROOT's "RNTuple Binary Format Specification 1.0".

        Raises:
            UnsupportedError: This is no RNTuple.
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
        """Friends of this tree in or below the folder of its file, as `open_friends` opens them."""
        return self.open_friends()

    def open_friends(self, *, elsewhere: bool = False) -> list[Tree]:
        """Opens the trees whose entries belong to those of this one.

        Args:
            elsewhere: Whether friends may be opened that are outside of the folder that this file is in: by absolute paths,
                by paths with ``..``, and by URLs. The author of the file chose the paths.

        Raises:
            RequestError: A friend is outside of the folder, and ``elsewhere`` is not set.
            MissingFileError: There is no such file.
            KeyInFileError: It has no such tree.
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
        """The entry with these values of the index, or ``None``.

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
        """The file's own metadata, as `File.metadata`."""
        return self._file.metadata

    @property
    def schema(self) -> Any:
        """The columns and their types as a pyarrow Schema; of Avro files the schema they were written with."""
        return package("pyarrow").schema(self)

    @property
    def object_path(self) -> str:
        """Path within the file from its top on, as ``/dir/tree``."""
        return f"/{self.path}"

    @property
    def _called(self) -> str:
        """The name: the table of a file that is one has the file's."""
        return self.path or os.path.basename(self._file.file_path)

    def _place(self, inner: str = "") -> str:
        """The file and the path in it, as errors say it. The table of a file that is one has no name."""
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
        # The end of a stream is not waited for.
        entries = "a stream" if self._core.is_stream else f"{self.num_entries} entries"
        return f"<{self.classname} {self._called!r} ({entries}, {len(self)} branches)>"

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._file, self.path, self._constants)


class _Pairs:
    """Two arrays as a sequence of pairs."""

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
