"""Trees that are read beside another one, under names of their own."""

from __future__ import annotations

from collections.abc import Mapping

from forthwith._errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeAlias

    from forthwith import _forthwith
    from forthwith._tree.tree import Tree

    Beside: TypeAlias = tuple[str, list[_forthwith.Table], int]

    class Friend(Protocol):
        """A tree or a chain."""

        def _columns(self) -> list[str]:
            """The names of its columns with data."""

        def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
            """The tables that a tree needs with ``before`` entries before it, and how many of their entries these are."""


class Friends:
    """Trees or chains by their names, and how many entries lie before the tree that they are friends of.

    Args:
        given: Names, with trees or chains.
        before: Entries of the trees before, where the tree is one of a chain.

    Raises:
        TypeError: They are not names with trees.
        RequestError: Something is neither a tree nor a chain.
    """

    def __init__(self, given: Mapping[Any, Any], before: int = 0) -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"friends must be names and trees in a dict, not {given!r}")
        for name, friend in given.items():
            if not isinstance(name, str) or not name:
                raise TypeError(f"friends must have names, not {name!r}")
            if not hasattr(friend, "_columns"):
                raise RequestError(
                    f"the friend {name!r} must be a tree or a chain, not {friend!r}: forthwith.open('file.root:tree') opens one"
                )
        self.given: dict[str, Friend] = dict(given)
        self.before = before

    def behind(self, before: int) -> Friends:
        """The same for a tree of a chain, before which there is this number of entries."""
        return Friends(self.given, self.before + before)

    def labels(self) -> list[str]:
        """All columns, by the name of their friend and their own."""
        return [f"{name}.{column}" for name, friend in self.given.items() for column in friend._columns()]

    def tables(self, tree: Tree) -> list[Beside]:
        """What is read beside a tree."""
        return [(name, *friend._beside(self.before, tree)) for name, friend in self.given.items()]


def friends_of(given: Any) -> Friends | None:
    """Friends as they are given to a call."""
    return given if given is None or isinstance(given, Friends) else Friends(given)
