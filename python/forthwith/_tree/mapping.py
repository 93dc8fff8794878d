"""Trees and branches as mappings to branches, with listings of them."""

from __future__ import annotations

from forthwith import _filters, _keywords, _show
from forthwith._tree import read
from forthwith._tree.damage import sound
from forthwith._tree.protocols import NotAnArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TextIO, TypedDict, Unpack

    from forthwith._file import File
    from forthwith._filters import Filter
    from forthwith._tree.branch import Branch
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.tree import Tree

    class Filters(TypedDict, total=False):
        """The arguments of `HasBranches.keys`, which those of all listings are."""

        filter_name: Filter
        filter_typename: Filter
        filter_branch: Callable[[Branch], object] | None
        exclude: Filter
        recursive: bool | None
        full_paths: bool


# The arguments of listings.
FILTERS = frozenset(("filter_name", "filter_typename", "filter_branch", "exclude", "recursive", "full_paths"))


class BranchMapping(NotAnArray):
    """A mapping from names to branches.

    It has all that mappings have, without being a ``collections.abc.Mapping``: libraries of data frames take those apart
    column by column, before they look for Arrow data.
    """

    _index: int | None
    _path: str

    @property
    def _tree(self) -> Tree:
        """The tree that this is or belongs to."""
        raise NotImplementedError

    @property
    def file(self) -> File:
        """The file this belongs to."""
        return self._tree._file

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    @property
    def _alone(self) -> int | None:
        """The position of a branch that has no others in it, and so stands for itself where data are taken."""
        index = self._index
        return None if index is None or self._tree._fields[index].has_children else index

    def _sound(self, options: ReadOptions) -> Any:
        """The same around parts of the file in which nothing can be told apart, if damage is to be read around."""
        if options.errors == "raise":
            return self
        tree = sound(self._tree, options)
        if tree is self._tree:
            return self
        return tree if self._index is None else tree._branch(self._index)

    def _members(self, recursive: bool | None = None) -> Iterator[tuple[str, int]]:
        """The branches below as relative paths and positions, parents before their children.

        Parts of columns, such as members of records in RNTuples, are among them if ``recursive`` is true, and not by default.
        """
        children = self._tree._children
        fields = self._tree._fields
        skip = len(self._path) + 1 if self._path else 0
        if recursive is None and self._index is None:
            yield from fields.members()
            return
        if recursive is None:
            recursive = True
        waiting = list(reversed(children.get(self._index, ())))
        while waiting:
            at = waiting.pop()
            yield fields[at].path[skip:], at
            if recursive:
                waiting.extend(reversed(children.get(at, ())))

    def _found(self, call: str = "keys", **filters: Any) -> Iterator[tuple[str, int]]:
        """Names and positions of the branches that pass; wrong arguments are errors at once."""
        _keywords.refuse(call, filters.keys() - FILTERS, FILTERS)
        recursive, full_paths = filters.pop("recursive", None), filters.pop("full_paths", True)
        return self._passing(_filters.BranchFilter(**filters), recursive, full_paths)

    def _passing(
        self, wanted: _filters.BranchFilter, recursive: bool | None = None, full_paths: bool = True
    ) -> Iterator[tuple[str, int]]:
        fields, branch = self._tree._fields, self._tree._branch
        by_path = recursive is None and wanted.has_paths()
        for path, at in self._members(True if by_path else recursive):
            field = fields[at]
            name = path if by_path and field.is_part else field.name
            if wanted.passes(name, path, lambda at=at: branch(at)):  # type: ignore[misc]
                yield (path if full_paths else field.name), at

    def keys(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        exclude: Filter = None,
        recursive: bool | None = None,
        full_paths: bool = True,
        **unknown: Any,
    ) -> list[str]:
        """The names of the branches, in the order of the file.

        Args:
            filter_name: Keep branches whose name or path passes: a name, a glob such as ``"Muon_*"``,
                ``"/regex/flags"``, a function, or a list of these. A function is asked for the name, and for the path of
                a branch in a branch.
            filter_typename: Keep branches whose type name passes; ``float[]`` is any ``float[n]`` whose length is a branch.
            filter_branch: Keep branches for which this function of a `Branch` is true.
            exclude: Leave out branches whose name or path passes, in the words of ``filter_name``.
            unknown: Anything else is refused.
            recursive: Whether to descend into branches of branches. By default that is so, but parts of columns, such as
                ``jets/pt`` of an RNTuple, are listed by ``True`` only, or where ``filter_name`` has a path.
            full_paths: Whether nested branches are named by their path, ``a/a.b``, or by their own name alone.
        """
        found = self._found(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            exclude=exclude,
            recursive=recursive,
            full_paths=full_paths,
            **unknown,
        )
        return [name for name, _ in found]

    def iterkeys(self, **filters: Unpack[Filters]) -> Iterator[str]:
        """The names of the branches, one after the other. The arguments are those of `keys`."""
        return (name for name, _ in self._found("keys", **filters))

    def itervalues(self, **filters: Unpack[Filters]) -> Iterator[Branch]:
        """The branches, one after the other. The arguments are those of `keys`."""
        return (self._tree._branch(at) for _, at in self._found("values", **filters))

    def iteritems(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, Branch]]:
        """Names and branches, one after the other. The arguments are those of `keys`."""
        return ((name, self._tree._branch(at)) for name, at in self._found("items", **filters))

    def itertypenames(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, str]]:
        """Names and type names, one after the other. The arguments are those of `keys`."""
        return ((name, self._tree._describe(at).typename) for name, at in self._found("typenames", **filters))

    def values(self, **filters: Unpack[Filters]) -> list[Branch]:
        """The branches. The arguments are those of `keys`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Unpack[Filters]) -> list[tuple[str, Branch]]:
        """Names and branches. The arguments are those of `keys`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Unpack[Filters]) -> dict[str, str]:
        """Type names, as in C++, by name. The arguments are those of `keys`."""
        return dict(self.itertypenames(**filters))

    def _find(self, name: str) -> int:
        """The position of the branch called ``name``, or a `KeyInFileError`."""
        if not isinstance(name, str):
            raise TypeError(f"branches are found by name, not by {name!r}")
        name = name.lstrip("/")
        found = self._lookup(name)
        if found is None:
            return self._tree._core.find(f"{self._path}/{name}" if self._path else name)
        return found

    def _lookup(self, name: str) -> int | None:
        """The position of the branch called ``name``; ``None`` if there is none, or several have this name."""
        if self._index is None:
            return self._tree._core.found(name)
        called = []
        for path, at in self._members():
            if path == name:
                return at
            if self._tree._fields[at].name == name:
                called.append(at)
        return called[0] if len(called) == 1 else self._tree._core.found(f"{self._path}/{name}")

    def _dotted(self, name: object) -> int | None:
        """The position of the branch of a path with dots between its parts, if no other has the name."""
        if not isinstance(name, str) or "." not in name or self._lookup(name.lstrip("/")) is not None:
            return None
        return self._lookup(name.lstrip("/").replace(".", "/"))

    def __getitem__(self, name: str) -> Branch:
        """The branch of this name or path.

        Raises:
            KeyInFileError: There is none, or several have this name; the message shows the most similar paths.
        """
        at = self._dotted(name)
        return self._tree._branch(self._find(name) if at is None else at)

    def get(self, name: str, default: Any = None) -> Any:
        """The branch of this name or path, or ``default`` if there is none."""
        if name not in self:
            return default
        return self[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return self._lookup(name.lstrip("/")) is not None or self._dotted(name) is not None

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        """Number of branches directly here, not counting those within branches."""
        return len(self._tree._children.get(self._index, ()))

    def __bool__(self) -> bool:
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def show(
        self,
        *,
        name_width: int | None = None,
        typename_width: int | None = None,
        interpretation_width: int | None = None,
        stream: TextIO | None = None,
        **filters: Unpack[Filters],
    ) -> None:
        """Prints the branches with their types, and what they are read as.

        Columns are as wide as what is in them, and lines fit the terminal, or have 240 characters where there is none: the
        last column is cut first, names are cut last, all of them in the middle. Of columns with a width given, it holds.

        Args:
            name_width: Width of the column of names.
            typename_width: Width of the column of type names.
            interpretation_width: Width of the column that says what a branch is read as.
            stream: Where to print; standard output by default.
            filters: As in `keys`.
        """
        rows = self._rows("show", **filters)
        _show.show(rows, (name_width, typename_width, interpretation_width), stream)

    def explain(self, **filters: Unpack[Filters]) -> _show.Text:
        """Says how each branch is read, by which kernel or program and why, or why it cannot be read.

        The text of a program is its AwkwardForth source. The arguments are those of `keys`.
        """
        return _show.Text("\n".join(_show.explain(branch) for _, branch in self._rows("explain", **filters)))

    def _rows(self, call: str, **filters: Any) -> list[tuple[str, Branch]]:
        """Names and branches for people: of a branch without others it is itself."""
        if self._alone is not None:
            own = {name: value for name, value in filters.items() if name not in ("recursive", "full_paths")}
            _keywords.refuse(call, filters.keys() - FILTERS, FILTERS)
            return [
                (name, self._tree._branch(at)) for name, at in read.choose(self, None, _filters.BranchFilter(**own))
            ]
        rows = [(name, self._tree._branch(at)) for name, at in self._found(call, **filters)]
        given = {name: value for name, value in filters.items() if name not in ("recursive", "full_paths")}
        if not rows and given:
            raise _filters.nothing(given, read.near(self, filters.get("filter_name")), self._tree)
        return rows

    def _repr_html_(self) -> str:
        rows = [(name, branch.typename, branch.title) for name, branch in self._rows("keys")]
        return _show.html_table(repr(self), ("name", "typename", "title"), rows, nested=True)
