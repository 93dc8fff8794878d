"""Random batches of entries for training, reproducible by a seed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from operator import index

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import planned
from forthwith.engines._read import read
from forthwith.engines._types import check_same, none_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# Size in bytes of the rows that are filled column by column, which fit in a processor's cache.
_CACHED = 128 << 10


def batches(
    files: Any,
    columns: Any = None,
    *,
    size: int,
    shuffle: bool = True,
    seed: int = 0,
    buffer: int = 10,
    drop_last: bool = False,
    library: str = "np",
    step: int | str = "16 MB",
    threads: int | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Iterates over batches of all entries, each entry once, with bounded memory.

    Partitions are read in an order determined by the seed, several at a time, and their entries are shuffled.
    The next ones are prefetched.

    Args:
        files: Partitions, or files as in `plan`, with columns of equal types.
        columns: As in `plan`; invalid with partitions, which have columns.
        size: Number of entries of a batch; the last may have fewer.
        shuffle: Whether entries are shuffled. Otherwise, they are in the order of the files.
        seed: Seed of the order: equal seeds give equal batches.
        buffer: Number of partitions that are shuffled together, and held in memory at one time.
        drop_last: Whether an incomplete last batch is dropped.
        library: ``"np"`` for a dict of NumPy arrays, masked if values are missing; ``"ak"`` for an Awkward
            Array.
        step: The size of a partition, as in `plan`; ignored with partitions.
        threads: Number of threads that prefetch; by default that of ``open``.
        options: As in `plan`.

    Raises:
        RequestError: A size or buffer is below 1, or a seed below 0; the library is unknown; partitions have
            different columns or types, when they are read.
    """
    if size < 1 or buffer < 1:
        raise RequestError(f"size and buffer must be at least 1, not {size} and {buffer}")
    if library not in ("np", "ak"):
        raise RequestError(f"library must be 'np' or 'ak' for batches, not {library!r}")
    size, buffer, seed = index(size), index(buffer), index(seed)
    if seed < 0:
        raise RequestError(f"seed must be at least 0, not {seed}")
    is_planned = isinstance(files, list) and files and isinstance(files[0], Partition)
    partitions = planned(files, columns, options if is_planned else {"step": step, **options})
    return _given(partitions, size, seed if shuffle else None, buffer, drop_last, library, threads)


def _given(
    partitions: list[Partition],
    size: int,
    seed: int | None,
    buffer: int,
    drop_last: bool,
    library: str,
    threads: int | None,
) -> Iterator[Any]:
    np = package("numpy")
    random = None if seed is None else np.random.default_rng(seed)
    order = list(range(len(partitions))) if random is None else random.permutation(len(partitions)).tolist()
    groups = [[partitions[at] for at in order[first : first + buffer]] for first in range(0, len(order), buffer)]
    left: list[Any] = []
    kind: tuple[str, Any] | None = None
    known: dict[Any, dict[str, str]] = {}
    mixed: _Columns | _Records = _Records() if library == "ak" else _Columns()
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(_read, groups[0], library, threads) if groups else None
        for number in range(len(groups)):
            assert coming is not None
            arrived = coming.result()
            for partition, arrays in zip(groups[number], arrived, strict=True):
                found = _kind(arrays, partition, known)
                kind = kind or (partition.file, found)
                check_same(kind, partition.file, found)
            mixed.fill([*left, *arrived])
            del arrived
            if number + 1 < len(groups):
                coming = reader.submit(_read, groups[number + 1], library, threads)
            places = None if random is None else random.permutation(mixed.length)
            whole = mixed.length if number + 1 == len(groups) else mixed.length - mixed.length % size
            for start in range(0, whole, size):
                stop = min(start + size, whole)
                if drop_last and stop - start < size:
                    return
                yield mixed.take(slice(start, stop) if places is None else places[start:stop])
            left = [mixed.take(slice(whole, mixed.length) if places is None else places[whole:])]


def _read(partitions: Sequence[Partition], library: str, threads: int | None) -> list[Any]:
    how: dict[str, Any] = {"how": dict} if library == "np" else {}
    return [read(partition, library=library, threads=threads, **how) for partition in partitions]


def _kind(arrays: Any, partition: Partition, known: dict[Any, dict[str, str]]) -> dict[str, str]:
    """Returns the types of the columns without optionality. ``known`` caches those of files."""
    if isinstance(arrays, dict):
        kinds = {name: f"{array.dtype}{list(array.shape[1:]) or ''}" for name, array in arrays.items()}
        objects = [name for name, array in arrays.items() if array.dtype.hasobject]
        if objects:
            # For arrays of objects, NumPy has no type of the items.
            file = partition.file, partition.tree
            if file not in known:
                nothing = none_of(partition, "ak")
                known[file] = {name: str(nothing[name].type.content).replace("?", "") for name in nothing.fields}
            kinds.update((name, known[file][name]) for name in objects)
        return kinds
    return {name: str(arrays[name].type.content) for name in arrays.fields}


class _Records:
    """Entries of several partitions as an Awkward Array of records."""

    def fill(self, parts: list[Any]) -> None:
        """Replaces the entries by those of other partitions."""
        self._array = package("awkward").concatenate(parts)
        self.length = len(self._array)

    def take(self, places: Any) -> Any:
        return self._array[places]


class _Columns:
    """Entries of several partitions as NumPy columns.

    Columns of numbers are stored row by row, so that a random entry costs one cache miss instead of one for
    each column.
    """

    def __init__(self) -> None:
        self._rows: Any = None
        self._fields: dict[str, str] = {}

    def fill(self, parts: list[dict[str, Any]]) -> None:
        """Replaces the entries by others with the same columns, reusing the memory if possible."""
        np = package("numpy")
        # Rows do not have masks.
        masked = {name for part in parts for name, array in part.items() if isinstance(array, np.ma.MaskedArray)}
        numbers = {name: array for name, array in parts[0].items() if not (array.dtype.hasobject or name in masked)}
        self._names = list(parts[0])
        fields = {name: f"column {at}" for at, name in enumerate(numbers)}
        self._apart = {
            name: (np.ma if name in masked else np).concatenate([part[name] for part in parts])
            for name in self._names
            if name not in numbers
        }
        self.length = sum(_length(part) for part in parts)
        if self._rows is None or len(self._rows) < self.length or fields != self._fields:
            self._fields = fields
            row = [(self._fields[name], array.dtype, array.shape[1:]) for name, array in numbers.items()]
            self._rows = np.empty(self.length, np.dtype(row, align=True))
        step = max(_CACHED // max(self._rows.itemsize, 1), 1)
        at = 0
        for part in parts:
            for start in range(0, _length(part), step):
                rows = self._rows[at : at + min(step, _length(part) - start)]
                for name, field in self._fields.items():
                    rows[field] = part[name][start : start + len(rows)]
                at += len(rows)

    def take(self, places: Any) -> dict[str, Any]:
        # All positions are valid: mode "clip" skips the bounds check.
        rows = self._rows[places] if isinstance(places, slice) else self._rows.take(places, mode="clip")
        return {
            name: rows[self._fields[name]].copy() if name in self._fields else self._apart[name][places]
            for name in self._names
        }


def _length(arrays: dict[str, Any]) -> int:
    return len(next(iter(arrays.values()), ()))
