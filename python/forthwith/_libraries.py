"""The old name of `forthwith._packages`."""

from forthwith._packages import package

__all__ = ["package"]
