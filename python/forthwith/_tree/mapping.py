"""Mappings from names to branches, as trees and branches are, and their listings."""

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
        """The arguments of `HasBranches.keys` and other listings."""

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

    It has the methods of mappings, but is not a ``collections.abc.Mapping``: data frame libraries would
    convert it column by column, instead of using its Arrow stream.
    """

    _index: int | None
    _path: str

    @property
    def _tree(self) -> Tree:
        """The tree of this mapping."""
        raise NotImplementedError

    @property
    def file(self) -> File:
        """The file of this mapping."""
        return self._tree._file

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    @property
    def _alone(self) -> int | None:
        """The position of a branch without children, which reads as a column itself; otherwise ``None``."""
        index = self._index
        return None if index is None or self._tree._fields[index].has_children else index

    def _sound(self, options: ReadOptions) -> Any:
        """Returns the mapping without undecodable parts of the file, if errors are to be skipped."""
        if options.errors == "raise":
            return self
        tree = sound(self._tree, options)
        if tree is self._tree:
            return self
        return tree if self._index is None else tree._branch(self._index)

    def _members(self, recursive: bool | None = None) -> Iterator[tuple[str, int]]:
        """Iterates over relative paths and positions of nested branches, parents before children.

        By default, a tree leaves out parts of columns, such as members of records in RNTuples, and a branch includes
        them. With ``recursive=False``, only direct children are included.
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
        """Iterates over names and positions that pass the filters; arguments are validated immediately."""
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
        """Returns the names of the branches, in the order of the file.

        Args:
            filter_name: Selects branches whose name or path matches: a name, a glob such as ``"Muon_*"``,
                ``"/regex/flags"``, a function, or a list of these. A function is called with the name, and
                for nested branches also with the path.
            filter_typename: Selects branches by type name; ``float[]`` matches any ``float[n]`` whose length
                is a branch.
            filter_branch: Selects branches for which this function of a `Branch` is true.
            exclude: Excludes branches whose name or path matches, with patterns as in ``filter_name``.
            unknown: Unknown arguments are refused.
            recursive: Whether nested branches are included. By default they are, except that a tree leaves out
                parts of columns, such as ``jets/pt`` of an RNTuple, which are included with ``True`` or if
                ``filter_name`` has a path.
            full_paths: Whether nested branches are listed by path, such as ``a/a.b``, or by their own name
                only.
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
        """Iterates over the names of the branches, with the arguments of `keys`."""
        return (name for name, _ in self._found("keys", **filters))

    def itervalues(self, **filters: Unpack[Filters]) -> Iterator[Branch]:
        """Iterates over the branches, with the arguments of `keys`."""
        return (self._tree._branch(at) for _, at in self._found("values", **filters))

    def iteritems(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, Branch]]:
        """Iterates over names and branches, with the arguments of `keys`."""
        return ((name, self._tree._branch(at)) for name, at in self._found("items", **filters))

    def itertypenames(self, **filters: Unpack[Filters]) -> Iterator[tuple[str, str]]:
        """Iterates over names and type names, with the arguments of `keys`."""
        return ((name, self._tree._describe(at).typename) for name, at in self._found("typenames", **filters))

    def values(self, **filters: Unpack[Filters]) -> list[Branch]:
        """Returns the branches, with the arguments of `keys`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Unpack[Filters]) -> list[tuple[str, Branch]]:
        """Returns names and branches, with the arguments of `keys`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Unpack[Filters]) -> dict[str, str]:
        """Returns type names, as in C++, by name, with the arguments of `keys`."""
        return dict(self.itertypenames(**filters))

    def _find(self, name: str) -> int:
        """Returns the position of the branch with this name or path; raises `KeyInFileError` without one."""
        if not isinstance(name, str):
            raise TypeError(f"branches are found by name, not by {name!r}")
        name = name.lstrip("/")
        found = self._lookup(name)
        if found is None:
            return self._tree._core.find(f"{self._path}/{name}" if self._path else name)
        return found

    def _lookup(self, name: str) -> int | None:
        """Returns the position of the branch with this name or path; ``None`` if missing or ambiguous."""
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
        """Returns the position of a branch by a path with dots, unless a branch has exactly this name."""
        if not isinstance(name, str) or "." not in name or self._lookup(name.lstrip("/")) is not None:
            return None
        return self._lookup(name.lstrip("/").replace(".", "/"))

    def __getitem__(self, name: str) -> Branch:
        """Returns the branch with this name or path.

        Raises:
            KeyInFileError: No branch, or more than one, has this name; the message lists similar paths.
        """
        at = self._dotted(name)
        return self._tree._branch(self._find(name) if at is None else at)

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the branch with this name or path, or ``default`` without one."""
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
        """Returns the number of direct child branches."""
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
        """Prints the branches with their types and interpretations.

        Columns are as wide as their contents, and lines fit the terminal, or 240 characters without one: the
        last column is shortened first and names last, in the middle of their texts. A given width is fixed.

        Args:
            name_width: Width of the column of names.
            typename_width: Width of the column of type names.
            interpretation_width: Width of the column of interpretations.
            stream: The output stream; standard output by default.
            filters: The arguments of `keys`.
        """
        rows = self._rows("show", **filters)
        _show.show(rows, (name_width, typename_width, interpretation_width), stream)

    def explain(self, **filters: Unpack[Filters]) -> _show.Text:
        """Describes how each branch is read, by which decoder and why, or why it cannot be read.

        The description of a program is its AwkwardForth source. The arguments are those of `keys`.
        """
        return _show.Text("\n".join(_show.explain(branch) for _, branch in self._rows("explain", **filters)))

    def _rows(self, call: str, **filters: Any) -> list[tuple[str, Branch]]:
        """Returns names and branches for display; for a branch without children, the branch itself."""
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
