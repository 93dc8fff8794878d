"""What trees and branches have in common as mappings: they hold branches."""

from __future__ import annotations

from forthwith import _filters
from forthwith._errors import KeyInFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

    from forthwith._branch import Branch
    from forthwith._file import File
    from forthwith._filters import Filter
    from forthwith._tree import Tree


class BranchMapping:
    """A mapping from names to branches.

    It has all that mappings have, without being a ``collections.abc.Mapping``: libraries of data frames take those apart
    column by column, before they ask whether somebody has Arrow data to give.
    """

    _tree: Tree
    _index: int | None
    _path: str

    @property
    def file(self) -> File:
        """The file this belongs to."""
        return self._tree._file

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    def _members(self, recursive: bool = True) -> Iterator[tuple[str, int]]:
        """The branches below as relative paths and positions, parents before their children."""
        children = self._tree._children
        fields = self._tree._fields
        skip = len(self._path) + 1 if self._path else 0
        if recursive and self._index is None:
            yield from ((field.path, at) for at, field in enumerate(fields) if not field.is_part)
            return
        waiting = list(reversed(children.get(self._index, ())))
        while waiting:
            at = waiting.pop()
            yield fields[at].path[skip:], at
            if recursive:
                waiting.extend(reversed(children.get(at, ())))

    def _found(
        self, recursive: bool, full_paths: bool, filter_name: Filter, filter_typename: Filter
    ) -> Iterator[tuple[str, int]]:
        by_name = _filters.predicate(filter_name, "filter_name")
        by_type = _filters.predicate(filter_typename, "filter_typename")
        fields = self._tree._fields
        for path, at in self._members(recursive):
            name = fields[at].name
            if by_name and not (by_name(name) or (path != name and by_name(path)) or by_name("/" + path)):
                continue
            if by_type and not by_type(self._tree._describe(at).typename):
                continue
            yield (path if full_paths else name), at

    def iteritems(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> Iterator[tuple[str, Branch]]:
        """Names and branches, one after the other. The arguments are those of `keys`."""
        for name, at in self._found(recursive, full_paths, filter_name, filter_typename):
            yield name, self._tree._branch(at)

    def iterkeys(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> Iterator[str]:
        """The names of the branches, one after the other. The arguments are those of `keys`."""
        return (name for name, _ in self._found(recursive, full_paths, filter_name, filter_typename))

    def itervalues(
        self, *, filter_name: Filter = None, filter_typename: Filter = None, recursive: bool = True
    ) -> Iterator[Branch]:
        """The branches, one after the other. The arguments are those of `keys`."""
        return (self._tree._branch(at) for _, at in self._found(recursive, True, filter_name, filter_typename))

    def itertypenames(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> Iterator[tuple[str, str]]:
        """Names and type names, one after the other. The arguments are those of `keys`."""
        for name, at in self._found(recursive, full_paths, filter_name, filter_typename):
            yield name, self._tree._describe(at).typename

    def keys(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> list[str]:
        """The names of the branches, in the order of the file.

        Args:
            filter_name: Keep branches whose name or path passes: a name, a glob such as ``"Muon_*"``,
                ``"/regex/flags"``, a function of the name, or a list of these.
            filter_typename: Keep branches whose type name passes.
            recursive: Whether to descend into branches of branches.
            full_paths: Whether nested branches are named by their path, ``a/a.b``, or by their own name alone.
        """
        found = self._found(recursive, full_paths, filter_name, filter_typename)
        return [name for name, _ in found]

    def values(
        self, *, filter_name: Filter = None, filter_typename: Filter = None, recursive: bool = True
    ) -> list[Branch]:
        """The branches. The arguments are those of `keys`."""
        found = self._found(recursive, True, filter_name, filter_typename)
        return [self._tree._branch(at) for _, at in found]

    def items(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> list[tuple[str, Branch]]:
        """Names and branches. The arguments are those of `keys`."""
        found = self._found(recursive, full_paths, filter_name, filter_typename)
        return [(name, self._tree._branch(at)) for name, at in found]

    def typenames(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
    ) -> dict[str, str]:
        """Type names, as in C++, by name. The arguments are those of `keys`."""
        return dict(
            self.itertypenames(
                filter_name=filter_name,
                filter_typename=filter_typename,
                recursive=recursive,
                full_paths=full_paths,
            )
        )

    def _find(self, name: str) -> int:
        """The position of the branch called ``name``, or a `KeyInFileError`."""
        if not isinstance(name, str):
            raise TypeError(f"branches are found by name, not by {name!r}")
        name = name.lstrip("/")
        if self._index is None:
            return self._tree._core.find(name)
        called = []
        for path, at in self._members():
            if path == name:
                return at
            if self._tree._fields[at].name == name:
                called.append(at)
        if len(called) == 1:
            return called[0]
        return self._tree._core.find(f"{self._path}/{name}")

    def __getitem__(self, name: str) -> Branch:
        """The branch of this name or path.

        Raises:
            KeyInFileError: There is none, or several have this name; the message shows the most similar paths.
        """
        return self._tree._branch(self._find(name))

    def get(self, name: str, default: Any = None) -> Any:
        """The branch of this name or path, or ``default`` if there is none."""
        try:
            return self[name]
        except KeyInFileError:
            return default

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            self._find(name)
        except KeyInFileError:
            return False
        return True

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
        filter_name: Filter = None,
        filter_typename: Filter = None,
        recursive: bool = True,
        full_paths: bool = True,
        name_width: int = 20,
        typename_width: int = 24,
        interpretation_width: int = 30,
        stream: TextIO | None = None,
    ) -> None:
        """Prints the branches with their types, and what they are read as.

        Args:
            filter_name: As in `keys`.
            filter_typename: As in `keys`.
            recursive: As in `keys`.
            full_paths: As in `keys`.
            name_width: Width of the column of names.
            typename_width: Width of the column of type names.
            interpretation_width: Width of the column that says what a branch is read as.
            stream: Where to print; standard output by default.
        """
        from forthwith._show import show

        found = self._found(recursive, full_paths, filter_name, filter_typename)
        rows = [(name, self._tree._branch(at)) for name, at in found]
        show(rows, (name_width, typename_width, interpretation_width), stream)

    def explain(self, *, filter_name: Filter = None, filter_typename: Filter = None) -> str:
        """Says how each branch is read, by which kernel or program and why, or why it cannot be read.

        The text of a program is its AwkwardForth source. The arguments are those of `keys`.
        """
        from forthwith._show import explain

        found = self._found(True, True, filter_name, filter_typename)
        return "\n".join(explain(self._tree._branch(at)) for _, at in found)

    def _repr_html_(self) -> str:
        from forthwith._show import html_table

        rows = [(name, branch.typename, branch.title) for name, branch in self.iteritems()]
        return html_table(repr(self), ("name", "typename", "title"), rows)
