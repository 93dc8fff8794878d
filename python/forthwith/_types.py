"""Types for type checkers and editors: return types by library, and what opening may return.

This module is never imported at run time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

import awkward as ak
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from forthwith._file import File
from forthwith._filters import Filter
from forthwith._interop.base import How as Containers
from forthwith._interop.base import LibraryName
from forthwith._objects import Object
from forthwith._opening import Int96, Text
from forthwith._tree.branch import Branch, Interpretation
from forthwith._tree.damage import Loss
from forthwith._tree.options import Errors, Progress
from forthwith._tree.read import Names
from forthwith._tree.tree import Tree
from forthwith._tree.walk import Report

Awkward: TypeAlias = Literal["ak", "awkward"]
NumPy: TypeAlias = Literal["np", "numpy"]
Pandas: TypeAlias = Literal["pd", "pandas"]
Polars: TypeAlias = Literal["pl", "polars"]
Arrow: TypeAlias = Literal["arrow", "pa", "pyarrow"]

AwkwardArray: TypeAlias = ak.Array
NumPyArray: TypeAlias = NDArray[Any]
NumPyArrays: TypeAlias = dict[str, NDArray[Any]]
DataFrame: TypeAlias = pd.DataFrame
Series: TypeAlias = pd.Series
PolarsFrame: TypeAlias = pl.DataFrame
PolarsSeries: TypeAlias = pl.Series
ArrowTable: TypeAlias = pa.Table
ArrowArray: TypeAlias = pa.Array

Zip: TypeAlias = Literal["zip"] | None
Columns: TypeAlias = dict[str, Any]


class Chosen(TypedDict, total=False):
    """Arguments that select branches and entries, of all calls that read several branches."""

    filter_name: Filter
    filter_typename: Filter
    filter_branch: Callable[[Branch], object] | None
    exclude: Filter
    entry_start: int | None
    entry_stop: int | None


class How(TypedDict, total=False):
    """Arguments that control how data are read."""

    errors: Errors
    threads: int | None
    progress: Progress | bool | None
    logical: bool
    cut: str | None
    aliases: Mapping[str, str] | None
    entries: Any
    friends: Mapping[str, Any] | None


class Read(Chosen, How, total=False):
    """Arguments of ``arrays`` that do not affect its return type."""

    lost: list[Loss] | None


class ReadOne(Read, total=False):
    """Arguments of ``arrays`` of a tree that do not affect its return type."""

    virtual: bool


class Steps(Chosen, How, total=False):
    """Arguments of ``iterate`` that do not affect its return type."""

    step_size: int | str


class One(How, total=False):
    """Arguments of ``array`` that do not affect its return type."""

    lost: list[Loss] | None


class Missing(TypedDict, total=False):
    """Additional options for several files."""

    missing: Literal["raise", "null"]


class Opening(TypedDict, total=False):
    """Keyword arguments of ``open`` that functions for reading do not have."""

    source: Literal["auto", "map", "pread"]
    memory: int | str | None
    pool: int | str | None
    huge_pages: bool
    schema: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any] | Any | None
    message: str | None
    framing: Literal["delimited", "fixed32", "fixed32-big", "single", "hepmc3"] | None
    rows: str | None
    times_as_records: bool
    enums: Literal["names", "numbers"]
    recursion: int | None
    skip_damaged: bool
    recover: bool
    row_groups: Sequence[int] | None
    int96: Int96
    format: str | None
    types: Mapping[str, str] | None
    separator: str | None
    header: bool
    unions: bool
    check_text: bool
    text: Text
    times_as_integers: bool
    storage_options: Mapping[str, Any] | None
    checksums: bool
    index: bool | str | os.PathLike[str] | None


class Options(Missing, Opening, total=False):
    """Keyword arguments of ``open``."""

    threads: int | None


class ReadMany(Read, Missing, Opening, total=False):
    """Keyword arguments of ``concatenate``."""


class StepsMany(Steps, Missing, Opening, total=False):
    """Keyword arguments of ``iterate`` over files."""


class Arrays(Protocol):
    """Type of ``arrays`` of a tree, a branch or a selection."""

    @overload
    def __call__(
        self, names: Names = ..., *, library: Awkward = ..., how: Zip = ..., **options: Unpack[ReadOne]
    ) -> AwkwardArray: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: NumPy, how: None = ..., **options: Unpack[ReadOne]
    ) -> NumPyArrays: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Pandas, how: None = ..., **options: Unpack[ReadOne]
    ) -> DataFrame: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Polars, how: None = ..., **options: Unpack[ReadOne]
    ) -> PolarsFrame: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Arrow, how: None = ..., **options: Unpack[ReadOne]
    ) -> ArrowTable: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[dict[Any, Any]], **options: Unpack[ReadOne]
    ) -> Columns: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[tuple[Any, ...]], **options: Unpack[ReadOne]
    ) -> tuple[Any, ...]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[list[Any]], **options: Unpack[ReadOne]
    ) -> list[Any]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName, how: Containers = ..., **options: Unpack[ReadOne]
    ) -> Any: ...


class Iterates(Protocol):
    """Type of ``iterate`` of a tree or a branch."""

    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[False] = ...,
        **options: Unpack[Steps],
    ) -> Iterator[AwkwardArray]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[True],
        **options: Unpack[Steps],
    ) -> Iterator[tuple[AwkwardArray, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: NumPy,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[Steps],
    ) -> Iterator[NumPyArrays]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: NumPy, how: None = ..., report: Literal[True], **options: Unpack[Steps]
    ) -> Iterator[tuple[NumPyArrays, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Pandas,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[Steps],
    ) -> Iterator[DataFrame]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Pandas, how: None = ..., report: Literal[True], **options: Unpack[Steps]
    ) -> Iterator[tuple[DataFrame, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Polars,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[Steps],
    ) -> Iterator[PolarsFrame]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Polars, how: None = ..., report: Literal[True], **options: Unpack[Steps]
    ) -> Iterator[tuple[PolarsFrame, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Arrow,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[Steps],
    ) -> Iterator[ArrowTable]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Arrow, how: None = ..., report: Literal[True], **options: Unpack[Steps]
    ) -> Iterator[tuple[ArrowTable, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: Containers = ...,
        report: bool = ...,
        **options: Unpack[Steps],
    ) -> Iterator[Any]: ...


class ManyArrays(Protocol):
    """Type of ``arrays`` of a chain."""

    @overload
    def __call__(
        self, names: Names = ..., *, library: Awkward = ..., how: Zip = ..., **options: Unpack[ReadMany]
    ) -> AwkwardArray: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: NumPy, how: None = ..., **options: Unpack[ReadMany]
    ) -> NumPyArrays: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Pandas, how: None = ..., **options: Unpack[ReadMany]
    ) -> DataFrame: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Polars, how: None = ..., **options: Unpack[ReadMany]
    ) -> PolarsFrame: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: Arrow, how: None = ..., **options: Unpack[ReadMany]
    ) -> ArrowTable: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[dict[Any, Any]], **options: Unpack[ReadMany]
    ) -> Columns: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[tuple[Any, ...]], **options: Unpack[ReadMany]
    ) -> tuple[Any, ...]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName = ..., how: type[list[Any]], **options: Unpack[ReadMany]
    ) -> list[Any]: ...
    @overload
    def __call__(
        self, names: Names = ..., *, library: LibraryName, how: Containers = ..., **options: Unpack[ReadMany]
    ) -> Any: ...


class ManyIterates(Protocol):
    """Type of ``iterate`` of a chain."""

    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[AwkwardArray]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[AwkwardArray, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: NumPy,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[NumPyArrays]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: NumPy,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[NumPyArrays, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Pandas,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[DataFrame]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Pandas,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[DataFrame, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Polars,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[PolarsFrame]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Polars,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[PolarsFrame, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Arrow,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[ArrowTable]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: Arrow,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[ArrowTable, Report]]: ...
    @overload
    def __call__(
        self,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: Containers = ...,
        report: bool = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[Any]: ...


class Concatenates(Protocol):
    """Type of ``forthwith.concatenate``."""

    @overload
    def __call__(
        self, files: Any, names: Names = ..., *, library: Awkward = ..., how: Zip = ..., **options: Unpack[ReadMany]
    ) -> AwkwardArray: ...
    @overload
    def __call__(
        self, files: Any, names: Names = ..., *, library: NumPy, how: None = ..., **options: Unpack[ReadMany]
    ) -> NumPyArrays: ...
    @overload
    def __call__(
        self, files: Any, names: Names = ..., *, library: Pandas, how: None = ..., **options: Unpack[ReadMany]
    ) -> DataFrame: ...
    @overload
    def __call__(
        self, files: Any, names: Names = ..., *, library: Polars, how: None = ..., **options: Unpack[ReadMany]
    ) -> PolarsFrame: ...
    @overload
    def __call__(
        self, files: Any, names: Names = ..., *, library: Arrow, how: None = ..., **options: Unpack[ReadMany]
    ) -> ArrowTable: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: type[dict[Any, Any]],
        **options: Unpack[ReadMany],
    ) -> Columns: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: type[tuple[Any, ...]],
        **options: Unpack[ReadMany],
    ) -> tuple[Any, ...]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: type[list[Any]],
        **options: Unpack[ReadMany],
    ) -> list[Any]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: LibraryName,
        how: Containers = ...,
        **options: Unpack[ReadMany],
    ) -> Any: ...


class IteratesFiles(Protocol):
    """Type of ``forthwith.iterate``."""

    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[AwkwardArray]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Awkward = ...,
        how: Zip = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[AwkwardArray, Report]]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: NumPy,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[NumPyArrays]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: NumPy,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[NumPyArrays, Report]]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Pandas,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[DataFrame]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Pandas,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[DataFrame, Report]]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Polars,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[PolarsFrame]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Polars,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[PolarsFrame, Report]]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Arrow,
        how: None = ...,
        report: Literal[False] = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[ArrowTable]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: Arrow,
        how: None = ...,
        report: Literal[True],
        **options: Unpack[StepsMany],
    ) -> Iterator[tuple[ArrowTable, Report]]: ...
    @overload
    def __call__(
        self,
        files: Any,
        names: Names = ...,
        *,
        library: LibraryName = ...,
        how: Containers = ...,
        report: bool = ...,
        **options: Unpack[StepsMany],
    ) -> Iterator[Any]: ...


class Array(Protocol):
    """Type of ``array`` of a branch."""

    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Awkward = ...,
        **options: Unpack[One],
    ) -> AwkwardArray: ...
    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: NumPy,
        **options: Unpack[One],
    ) -> NumPyArray: ...
    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Pandas,
        **options: Unpack[One],
    ) -> Series: ...
    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Polars,
        **options: Unpack[One],
    ) -> PolarsSeries: ...
    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Arrow,
        **options: Unpack[One],
    ) -> ArrowArray: ...
    @overload
    def __call__(
        self,
        interpretation: Interpretation | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: LibraryName,
        **options: Unpack[One],
    ) -> Any: ...


class Opened(Tree, Branch, File, Object):  # type: ignore[misc]
    """Static type of opened objects: a `File`, `Directory`, `Tree`, `Branch` or `Object`.

    It has the attributes of all of them, so that scripts need no casts; use ``isinstance`` to distinguish
    them.
    """

    def __getitem__(self, name: str) -> Opened:
        """Returns the object with this name."""
        raise NotImplementedError

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the object with this name, or ``default``."""
        raise NotImplementedError

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Returns the names of the contents."""
        raise NotImplementedError

    def values(self, **filters: Any) -> list[Opened]:  # type: ignore[override]
        """Returns the contents."""
        raise NotImplementedError

    def items(self, **filters: Any) -> list[tuple[str, Opened]]:  # type: ignore[override]
        """Returns pairs of names and contents."""
        raise NotImplementedError

    def show(self, **options: Any) -> None:
        """Prints the contents."""
        raise NotImplementedError

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterates over the names of the contents."""
        raise NotImplementedError
