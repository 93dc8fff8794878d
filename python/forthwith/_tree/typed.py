"""Decorators that declare return types by library for type checkers; no effect at run time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from forthwith import _types as t


def arrays(function: Callable[..., Any]) -> t.Arrays:
    """Declares the type `forthwith._types.Arrays`."""
    return function


def iterate(function: Callable[..., Any]) -> t.Iterates:
    """Declares the type `forthwith._types.Iterates`."""
    return function


def chain_arrays(function: Callable[..., Any]) -> t.ManyArrays:
    """Declares the type `forthwith._types.ManyArrays`."""
    return function


def chain_iterate(function: Callable[..., Any]) -> t.ManyIterates:
    """Declares the type `forthwith._types.ManyIterates`."""
    return function


def concatenate(function: Callable[..., Any]) -> t.Concatenates:
    """Declares the type `forthwith._types.Concatenates`."""
    return function


def iterate_files(function: Callable[..., Any]) -> t.IteratesFiles:
    """Declares the type `forthwith._types.IteratesFiles`."""
    return function


def array(function: Callable[..., Any]) -> t.Array:
    """Declares the type `forthwith._types.Array`."""
    return function
