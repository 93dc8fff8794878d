"""Members of trees and branches, which are read when one is asked for, and attributes that are found once."""

from __future__ import annotations

from typing import Any

from forthwith.uproot._model import Held, Model


class Once:
    """A property that is found once, and is then an attribute of the object as others are."""

    def __init__(self, find: Any) -> None:
        self._find, self.__doc__ = find, find.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        found = instance.__dict__[self._find.__name__] = self._find(instance)
        return found


class Members(Model):
    """An object of a tree, whose members are read when one is asked for."""

    _record: Any
    branches: Any

    def _names(self) -> list[str]:
        return Held._names(self._record)

    def _get(self, name: str) -> Any:
        # Branches are met as what reads them.
        return self.branches if name == "fBranches" else Held._get(self._record, name)

    @property
    def member_names(self) -> list[str]:
        """The names of the members of the class itself."""
        return Held.member_names.__get__(self._record)  # type: ignore[no-any-return]

    def _base_names(self) -> list[str]:
        return Held._base_names(self._record)

    @property
    def bases(self) -> list[Any]:
        """The object as each class that it inherits from directly."""
        return list(self._record.bases)

    def base(self, *cls: Any) -> list[Any]:
        """The bases of these classes."""
        return list(self._record.base(*cls))

    def tojson(self) -> dict[str, Any]:
        """The object as plain dicts, lists, numbers and text."""
        return dict(self._record.tojson())
