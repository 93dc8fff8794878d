"""The options of a read.

Imported on first use, because ``dataclasses`` takes longer to import than the rest of the package.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

from forthwith._entries import thread_count
from forthwith._errors import RequestError
from forthwith._interop import library as _library
from forthwith._progress import Bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Literal, Self, TypeAlias

    from forthwith._interop.base import How, Library, LibraryName
    from forthwith._tree.damage import Loss

    Errors: TypeAlias = Literal["raise", "skip", "null"]
    Progress: TypeAlias = Callable[[int, int, int, int], object]


@dataclass(frozen=True)
class ReadOptions:
    """The options of `arrays`, `array` and `iterate` other than branches and entries.

    Attributes:
        library: Name of the library of the result.
        how: The container of several arrays.
        errors: The treatment of damaged entries.
        lost: A list for the losses.
        threads: Number of threads.
        offset: Number of entries in preceding files, for the index of a DataFrame.
        logical: Whether dates, times and decimals have their logical types, or are the stored numbers.
        progress: Callback for progress; true for a bar.
    """

    library: LibraryName = "ak"
    how: How = None
    errors: Errors = "raise"
    lost: list[Loss] | None = None
    threads: int | None = None
    progress: Progress | bool | None = None
    offset: int = 0
    logical: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.progress, bool):
            object.__setattr__(self, "progress", Bar() if self.progress else None)
        thread_count(self.threads)
        if self.errors not in ("raise", "skip", "null"):
            raise RequestError(f"errors must be 'raise', 'skip' or 'null', not {self.errors!r}")

    @property
    def tick(self) -> Progress | None:
        """The callback for progress."""
        return None if isinstance(self.progress, bool) else self.progress

    @property
    def bar(self) -> Bar | None:
        """The progress bar, if any."""
        return self.progress if isinstance(self.progress, Bar) else None

    def one_bar(self) -> AbstractContextManager[None]:
        """Returns a context in which one progress bar spans all reads."""
        return nullcontext() if self.bar is None else self.bar.spanning()

    def into(self) -> Library:
        """Returns the converter to the result. Raises errors for missing packages and invalid options."""
        return _library(self.library, self.how, self.logical)

    def into_list(self) -> Library:
        """Returns the converter to a list of arrays."""
        return _library(self.library, list, self.logical)

    def behind(self, offset: int) -> Self:
        """Returns the options for a file that is preceded by ``offset`` entries of others."""
        return replace(self, offset=offset)

    def putting(self, how: How) -> Self:
        """Returns the options with another ``how``."""
        return replace(self, how=how)
