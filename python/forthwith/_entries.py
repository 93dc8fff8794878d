"""Parsing of ranges of entries and sizes of memory."""

from __future__ import annotations

from operator import index

from forthwith._errors import RequestError, RequestTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def thread_count(threads: int | None) -> None:
    """Raises an error for an invalid number of threads.

    Raises:
        RequestTypeError: The number is not an integer.
        RequestError: The number is less than 1.
    """
    if threads is None:
        return
    try:
        count = index(threads)
    except TypeError:
        raise RequestTypeError(f"threads must be a whole number, not {threads!r}") from None
    if count < 1:
        raise RequestError(f"threads must be at least 1, not {threads}")


def entry_range(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Returns a half-open range within ``entries``; negative bounds count from the end, as in slices."""
    if start is None and stop is None:
        return 0, entries
    first, last, _ = slice(_index(start, "entry_start"), _index(stop, "entry_stop")).indices(entries)
    return first, max(first, last)


def from_start(start: int | None, stop: int | None) -> tuple[int | None, int | None]:
    """Returns the bounds that count from the first entry; ``None`` for negative or missing ones."""
    if start is None and stop is None:
        return 0, None
    first, last = _index(start, "entry_start"), _index(stop, "entry_stop")
    first = 0 if first is None else first
    return first if first >= 0 else None, last if last is not None and last >= 0 else None


def _index(value: int | None, name: str) -> int | None:
    if value is None:
        return None
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer or None, not {value!r}") from None


def whole(value: Any) -> int | None:
    """Returns a value as an integer; ``None`` if it is not one, including most arrays."""
    try:
        return index(value)
    except TypeError:
        return None


def memory_size(value: int | str, name: str, *, least: int = 1) -> int:
    """Returns a size in bytes, from a number or text such as ``"100 MB"`` or ``"1 GiB"`` (binary)."""
    if isinstance(value, str):
        text = value.strip().lower()
        number = text.rstrip("bikmgt")
        unit = text[len(number) :]
        try:
            size = int(float(number) * _UNITS[unit])
        except (KeyError, ValueError, OverflowError):
            raise ValueError(
                f"{name} must be a number of bytes or text such as '100 MB' or '1 GiB', not {value!r}"
            ) from None
    else:
        try:
            size = index(value)
        except TypeError:
            raise TypeError(f"{name} must be a number of bytes or text such as '100 MB', not {value!r}") from None
    if size < least:
        raise ValueError(f"{name} must be {'positive' if least else '0 or more'}, not {value!r}")
    return size


def step_size(value: int | str) -> tuple[int | None, int | None]:
    """Returns the size of a step as ``(entries, bytes)``, one of which is ``None``."""
    if isinstance(value, str):
        return None, memory_size(value, "step_size")
    try:
        entries = index(value)
    except TypeError:
        raise TypeError(f"step_size must be a number of entries or text such as '100 MB', not {value!r}") from None
    if entries <= 0:
        raise ValueError(f"step_size must be positive, not {entries}")
    return entries, None
