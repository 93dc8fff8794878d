"""The branches of a chain, by name."""

from __future__ import annotations

from forthwith import _show
from forthwith._packages import package
from forthwith._tree.protocols import NotAnArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

    from forthwith._tree.ahead import Ahead
    from forthwith._tree.chained import ChainBranch
    from forthwith._tree.common import Missing
    from forthwith._tree.read import Names
    from forthwith._tree.tree import Tree


class ChainMapping(NotAnArray):
    """The listings of a chain.

    It is not a mapping: as chains of other libraries, it iterates over its trees, and ``len`` is their
    number.
    """

    _missing: Missing
    _parts: list[Any]

    def _open(self, at: int) -> Tree:
        """Opens the tree of a file, which the caller closes."""
        raise NotImplementedError

    def _ahead(self) -> Ahead:
        """Opens the trees in order."""
        raise NotImplementedError

    def _named(self, name: str) -> ChainBranch:
        """Returns the branch of this name, which is known to exist."""
        raise NotImplementedError

    def keys(self, **filters: Any) -> list[str]:
        """Returns the names of branches in all trees, or with ``missing="null"`` in any of them.

        The arguments are those of `Tree.keys`. All files are opened.
        """
        names: dict[str, None] = {}
        with self._ahead() as ahead:
            for at in range(len(self._parts)):
                with ahead.tree(at) as tree:
                    found = dict.fromkeys(tree.keys(**filters))
                if self._missing == "null":
                    names.update(found)
                else:
                    names = found if at == 0 else {name: None for name in names if name in found}
        return list(names)

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterates over the names of the branches, with the arguments of `keys`."""
        return iter(self.keys(**filters))

    def values(self, **filters: Any) -> list[ChainBranch]:
        """Returns the branches, with the arguments of `keys`."""
        return [self._named(name) for name in self.keys(**filters)]

    def itervalues(self, **filters: Any) -> Iterator[ChainBranch]:
        """Iterates over the branches, with the arguments of `keys`."""
        return iter(self.values(**filters))

    def items(self, **filters: Any) -> list[tuple[str, ChainBranch]]:
        """Returns names and branches, with the arguments of `keys`."""
        return [(name, self._named(name)) for name in self.keys(**filters)]

    def iteritems(self, **filters: Any) -> Iterator[tuple[str, ChainBranch]]:
        """Iterates over names and branches, with the arguments of `keys`."""
        return iter(self.items(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Returns type names by name, each from the first tree that has the branch.

        The arguments are those of `Tree.keys`. Files other than the first are opened only with
        ``missing="null"``.
        """
        found: dict[str, str] = {}
        for tree in self._searched():
            found = {**tree.typenames(**filters), **found}
        return found

    def itertypenames(self, **filters: Any) -> Iterator[tuple[str, str]]:
        """Iterates over names and type names, with the arguments of `typenames`."""
        return iter(self.typenames(**filters).items())

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the branch with this name or path, or ``default`` if no searched tree has it."""
        return self._named(name) if name in self else default

    def __contains__(self, name: object) -> bool:
        """Whether the first tree has a branch of this name, or with ``missing="null"`` any tree."""
        return any(name in tree for tree in self._searched())

    @property
    def aliases(self) -> dict[str, str]:
        """Names of expressions that are stored with the first tree, and the expressions."""
        with self._open(0) as tree:
            return tree.aliases

    @property
    def schema(self) -> Any:
        """The columns and their types as a pyarrow Schema."""
        return package("pyarrow").schema(self)

    def num_entries_for(self, memory_size: int | str, names: Names = None, **filters: Any) -> int:
        """Returns `Tree.num_entries_for` of the first tree."""
        with self._open(0) as tree:
            return tree.num_entries_for(memory_size, names, **filters)

    def show(self, *, stream: TextIO | None = None, **options: Any) -> None:
        """Prints the files, and the branches of the first tree, with the options of `Tree.show`."""
        _show.write(f"{self!r}\n", stream)
        with self._open(0) as tree:
            tree.show(stream=stream, **options)

    def explain(self, **filters: Any) -> _show.Text:
        """Describes how each branch of the first tree is read, with the arguments of `Tree.keys`."""
        with self._open(0) as tree:
            return tree.explain(**filters)

    def _searched(self) -> Iterator[Tree]:
        """Iterates over the trees that are searched for branches."""
        for at in range(len(self._parts) if self._missing == "null" else 1):
            with self._open(at) as tree:
                yield tree

    def _ipython_key_completions_(self) -> list[str]:
        with self._open(0) as tree:
            return tree.keys()
