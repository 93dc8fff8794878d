"""uproot's names of exceptions."""

from __future__ import annotations

from forthwith._errors import DamagedFileError as DeserializationError
from forthwith._errors import KeyInFileError

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
