"""Optional packages, by the functions that uproot has for them."""

from __future__ import annotations

from typing import Any

from forthwith._packages import package


def awkward() -> Any:
    """Awkward Array."""
    return package("awkward")


def pandas() -> Any:
    """The module pandas."""
    return package("pandas")


def boost_histogram() -> Any:
    """boost-histogram."""
    return package("boost_histogram")


def hist() -> Any:
    """The module hist."""
    return package("hist")
