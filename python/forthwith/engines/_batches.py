"""Batches of entries in a random order that a seed fixes, for training."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from operator import index

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import planned
from forthwith.engines._read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


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
    **options: Any,
) -> Iterator[Any]:
    """Gives all entries in batches, each entry once, without reading everything into memory.

    Partitions are read in an order that the seed fixes, some at a time, and their entries are mixed. The next ones are read
    meanwhile.

    Args:
        files: Partitions, or files as in `plan`. The types of their columns have to be the same.
        columns: As in `plan`; not with partitions, which have them.
        size: Entries of a batch; the last may have fewer.
        shuffle: Whether entries are mixed. Otherwise they come in the order of the files.
        seed: Fixes the order: equal seeds give equal batches.
        buffer: Partitions that are mixed together, and held in memory at one time.
        drop_last: Whether a last batch with fewer entries is left out.
        library: ``"np"`` for a dict of NumPy arrays, ``"ak"`` for an Awkward Array of records.
        step: The size of a partition, as in `plan`; without effect on partitions.
        options: As in `plan`.

    Raises:
        RequestError: A size or a buffer below 1; another library; partitions of other columns or types, when these are read.
    """
    if size < 1 or buffer < 1:
        raise RequestError(f"size and buffer must be at least 1, not {size} and {buffer}")
    if library not in ("np", "ak"):
        raise RequestError(f"library must be 'np' or 'ak' for batches, not {library!r}")
    size, buffer = index(size), index(buffer)
    is_planned = isinstance(files, list) and files and isinstance(files[0], Partition)
    partitions = planned(files, columns, options if is_planned else {"step": step, **options})
    return _given(partitions, size, seed if shuffle else None, buffer, drop_last, library)


def _given(
    partitions: list[Partition], size: int, seed: int | None, buffer: int, drop_last: bool, library: str
) -> Iterator[Any]:
    np = package("numpy")
    random = None if seed is None else np.random.default_rng(seed)
    order = list(range(len(partitions))) if random is None else random.permutation(len(partitions)).tolist()
    groups = [[partitions[at] for at in order[first : first + buffer]] for first in range(0, len(order), buffer)]
    left: list[Any] = []
    kind: tuple[str, Any] | None = None
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(_read, groups[0], library) if groups else None
        for number in range(len(groups)):
            assert coming is not None
            arrived = coming.result()
            for partition, arrays in zip(groups[number], arrived, strict=True):
                kind = kind or (partition.file, _kind(arrays))
                _check_same(kind, partition.file, _kind(arrays))
            mixed = _joined([*left, *arrived], library)
            if number + 1 < len(groups):
                coming = reader.submit(_read, groups[number + 1], library)
            length = _length(mixed)
            places = None if random is None else random.permutation(length)
            whole = length if number + 1 == len(groups) else length - length % size
            for start in range(0, whole, size):
                stop = min(start + size, whole)
                if drop_last and stop - start < size:
                    return
                yield _taken(mixed, slice(start, stop) if places is None else places[start:stop])
            left = [_taken(mixed, slice(whole, length) if places is None else places[whole:])]


def _read(partitions: Sequence[Partition], library: str) -> list[Any]:
    return [read(partition, library=library, **({"how": dict} if library == "np" else {})) for partition in partitions]


def _kind(arrays: Any) -> dict[str, str]:
    """The types of the columns."""
    if isinstance(arrays, dict):
        return {name: f"{array.dtype}{list(array.shape[1:]) or ''}" for name, array in arrays.items()}
    return {name: str(arrays[name].type.content) for name in arrays.fields}


def _check_same(known: tuple[str, dict[str, str]], file: str, kind: dict[str, str]) -> None:
    """Joined, columns of one partition only would be lost, and types would depend on the order."""
    first, expected = known
    if kind == expected:
        return
    for name in dict.fromkeys([*expected, *kind]):
        if kind.get(name) != expected.get(name):
            raise RequestError(
                f"batches are of one type: column {name!r} is {kind.get(name, 'absent')} in {file}, and "
                f"{expected.get(name, 'absent')} in {first}",
                file=file,
            )


def _joined(parts: list[Any], library: str) -> Any:
    if library == "ak":
        return package("awkward").concatenate(parts)
    return {name: package("numpy").concatenate([part[name] for part in parts]) for name in parts[0]}


def _length(arrays: Any) -> int:
    return len(next(iter(arrays.values()), ())) if isinstance(arrays, dict) else len(arrays)


def _taken(arrays: Any, places: Any) -> Any:
    return {name: array[places] for name, array in arrays.items()} if isinstance(arrays, dict) else arrays[places]
