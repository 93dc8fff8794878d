"""Friend trees: trees read together with another one, under names of their own."""

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
        """A tree or chain."""

        def _columns(self) -> list[str]:
            """Returns the names of the columns with data."""

        def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
            """Returns the tables to read for ``tree``, and its first entry counted within them."""


class Friends:
    """Friend trees or chains by name, and the number of entries before the main tree.

    Args:
        given: The trees or chains, by name.
        before: The number of entries before the main tree, if it is part of a chain.

    Raises:
        TypeError: ``given`` is not a mapping from names to trees.
        RequestError: A value is neither a tree nor a chain.
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
        """Returns the friends for a tree of a chain that starts at entry ``before``."""
        return Friends(self.given, self.before + before)

    def labels(self) -> list[str]:
        """Returns the names of all columns, prefixed by the name of the friend."""
        return [f"{name}.{column}" for name, friend in self.given.items() for column in friend._columns()]

    def tables(self, tree: Tree) -> list[Beside]:
        """Returns the tables to read together with a tree."""
        return [(name, *friend._beside(self.before, tree)) for name, friend in self.given.items()]


def friends_of(given: Any) -> Friends | None:
    """Converts the argument of a call to `Friends`."""
    return given if given is None or isinstance(given, Friends) else Friends(given)
