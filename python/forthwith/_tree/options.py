"""How arrays are read and handed over, as one thing.

Imported when something is read: ``dataclasses`` takes longer than the rest of the package.
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
    """The options of `arrays`, `array` and `iterate` beside the branches and the entries.

    Attributes:
        library: The name of what the data become.
        how: What several arrays are put into.
        errors: What becomes of entries that are damaged.
        lost: Gets what could not be read.
        threads: Threads to read with.
        offset: Entries of the files before, which the index of a DataFrame counts, too.
        logical: Whether dates, times and decimals are what they mean, or the numbers that are stored.
        progress: Called from time to time; true for a bar.
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
        """The function that is called from time to time."""
        return None if isinstance(self.progress, bool) else self.progress

    @property
    def bar(self) -> Bar | None:
        """The bar, where there is one."""
        return self.progress if isinstance(self.progress, Bar) else None

    def one_bar(self) -> AbstractContextManager[None]:
        """One bar for all readings within, where there is a bar."""
        return nullcontext() if self.bar is None else self.bar.spanning()

    def into(self) -> Library:
        """The converter that makes the result. Missing packages and impossible wishes are errors here."""
        return _library(self.library, self.how, self.logical)

    def into_list(self) -> Library:
        """The converter of arrays that are not put into anything, but a list."""
        return _library(self.library, list, self.logical)

    def behind(self, offset: int) -> Self:
        """The same for a file behind ``offset`` entries of others."""
        return replace(self, offset=offset)

    def putting(self, how: How) -> Self:
        """The same with another ``how``."""
        return replace(self, how=how)
