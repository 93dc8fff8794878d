"""uproot's names of exceptions."""

from __future__ import annotations

from typing import Any, NoReturn

from forthwith._errors import DamagedFileError as DeserializationError
from forthwith._errors import KeyInFileError, UnsupportedError

__all__ = [
    "CannotBeAwkward",
    "CannotBeStrided",
    "DeserializationError",
    "KeyInFileError",
    "NameConflictWarning",
    "NotNumerical",
    "UnknownInterpretationError",
]


class NotNumerical(Exception):
    """A branch that has no dtype."""


class CannotBeAwkward(Exception):
    """A branch that Awkward Array has no type for."""


class CannotBeStrided(Exception):
    """A class whose objects do not all take as many bytes."""


class NameConflictWarning(UserWarning):
    """Two things of one name."""


class UnknownInterpretationError(ValueError):
    """A branch that cannot be read was read."""


class Private:
    """A private name of uproot's, which can be imported, but not used.

    Args:
        name: Its name, with that of its module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(f"uproot.{self._name} is a private name of uproot's, which is not here")

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return f"<{self._name} of uproot's, not here>"
