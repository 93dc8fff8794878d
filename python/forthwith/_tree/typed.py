"""Decorators that say for type checkers what a call gives for each library. When a program runs, they do nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from forthwith import _types as t


def arrays(function: Callable[..., Any]) -> t.Arrays:
    """Gives what `forthwith._types.Arrays` says."""
    return function


def iterate(function: Callable[..., Any]) -> t.Iterates:
    """Gives what `forthwith._types.Iterates` says."""
    return function


def chain_arrays(function: Callable[..., Any]) -> t.ManyArrays:
    """Gives what `forthwith._types.ManyArrays` says."""
    return function


def chain_iterate(function: Callable[..., Any]) -> t.ManyIterates:
    """Gives what `forthwith._types.ManyIterates` says."""
    return function


def concatenate(function: Callable[..., Any]) -> t.Concatenates:
    """Gives what `forthwith._types.Concatenates` says."""
    return function


def iterate_files(function: Callable[..., Any]) -> t.IteratesFiles:
    """Gives what `forthwith._types.IteratesFiles` says."""
    return function


def array(function: Callable[..., Any]) -> t.Array:
    """Gives what `forthwith._types.Array` says."""
    return function
