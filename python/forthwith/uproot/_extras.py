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


def dask() -> Any:
    """The module dask."""
    return package("dask")


def dask_awkward() -> Any:
    """dask-awkward."""
    return package("dask_awkward")


def awkward_pandas() -> Any:
    """awkward-pandas."""
    return package("awkward_pandas")
