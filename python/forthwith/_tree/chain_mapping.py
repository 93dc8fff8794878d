"""The branches of a chain: those that its trees have, by name."""

from __future__ import annotations

from forthwith import _show
from forthwith._tree.protocols import NotAnArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from forthwith._tree.ahead import Ahead
    from forthwith._tree.common import Missing
    from forthwith._tree.tree import Tree


class ChainMapping(NotAnArray):
    """The listings of a chain."""

    _missing: Missing
    _parts: list[Any]

    def _open(self, at: int) -> Tree:
        """The tree of a file, which the caller closes."""
        raise NotImplementedError

    def _ahead(self) -> Ahead:
        """Opens the trees in their order."""
        raise NotImplementedError

    def keys(self, **filters: Any) -> list[str]:
        """The names of the branches that all trees have, or with ``missing="null"`` any of them.

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

    def _ipython_key_completions_(self) -> list[str]:
        with self._open(0) as tree:
            return tree.keys()

    def __contains__(self, name: object) -> bool:
        with self._open(0) as tree:
            return name in tree

    def show(self, *, stream: TextIO | None = None, **options: Any) -> None:
        """Prints the files, and the branches of the first tree; options are those of `Tree.show`."""
        _show.write(f"{self!r}\n", stream)
        with self._open(0) as tree:
            tree.show(stream=stream, **options)

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Type names of the branches of the first tree, by name. The arguments are those of `Tree.keys`."""
        with self._open(0) as tree:
            return tree.typenames(**filters)
