"""Reading of a branch one basket at a time. The type of the result is known before the read."""

from __future__ import annotations

from forthwith._interop import library as _library
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self

    from forthwith import _forthwith
    from forthwith._tree.branch import Branch


class Batch:
    """Entries of a branch from one basket.

    Attributes:
        block: Number of the basket.
        entry_start: The first entry.
        entry_stop: The entry after the last.
    """

    def __init__(self, block: int, entries: tuple[int, int]) -> None:
        self.block = block
        self.entry_start, self.entry_stop = entries

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self.entry_stop - self.entry_start

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.block}: entries {self.entry_start} to {self.entry_stop}>"


class RawBatch(Batch):
    """A decompressed basket in the stored layout.

    Attributes:
        view: Whether the bytes are a view of the mapped file, without a copy.
    """

    def __init__(self, block: int, raw: _forthwith.RawBlock) -> None:
        super().__init__(block, raw.entries)
        self._raw = raw
        self.view = raw.view

    @property
    def array(self) -> Any:
        """All values as a NumPy array in the byte order of the file, such as ``>f4``.

        If entries are more than values of one width, their bytes.
        """
        return package("numpy").asarray(self._raw.values)

    @property
    def payload(self) -> Any:
        """The bytes of the entries, as a NumPy array."""
        return package("numpy").asarray(self._raw.payload)

    @property
    def bounds(self) -> Any:
        """Offsets of the entries in ``payload``, and the last end; ``None`` for entries of one size."""
        bounds = self._raw.bounds
        return None if bounds is None else package("numpy").asarray(bounds)


class _DecodedBatch(Batch):
    def __init__(self, block: int, entries: tuple[int, int], array: _forthwith.Array) -> None:
        super().__init__(block, entries)
        self._array = array

    @property
    def type(self) -> str:
        """The type of an entry, such as ``var * float32``."""
        return self._array.type_string

    @property
    def buffers(self) -> dict[str, Any]:
        """The buffers by the keys of the branch's Form, as NumPy arrays without a copy."""
        np = package("numpy")
        return {key: np.asarray(buffer) for key, buffer in self._array.logical().buffers()}

    def to_awkward(self) -> Any:
        """Returns the entries as an Awkward Array."""
        return self._to("ak")

    def to_numpy(self) -> Any:
        """Returns the entries as a NumPy array."""
        return self._to("np")

    def _to(self, library: Any) -> Any:
        return _library(library).column("", self._array, self.entry_start)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Returns the entries as Arrow data."""
        return self._array.__arrow_c_array__(requested_schema)


class KernelBatch(_DecodedBatch):
    """A basket decoded by a kernel, with a columnar layout."""


class ProgramBatch(_DecodedBatch):
    """A basket decoded by an AwkwardForth program, with a record-oriented layout."""


class Bulk:
    """An iterator over the baskets of a branch."""

    def __init__(self, branch: Branch, plan: _forthwith.Plan, threads: int | None) -> None:
        self._branch = branch
        self._plan = plan
        self._threads = threads
        # Groups after the first are counters that the branch needs.
        self._blocks = [block for block in plan.blocks() if block.group == 0]
        self._steps = self._run()

    def _run(self) -> Iterator[Batch]:
        raise NotImplementedError

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        return next(self._steps)

    def __len__(self) -> int:
        """Returns the number of all baskets."""
        return len(self._blocks)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} baskets of {self._branch.path!r}>"


class RawBulk(Bulk):
    """An iterator of `RawBatch`."""

    _steps: Iterator[RawBatch]

    def __next__(self) -> RawBatch:
        return next(self._steps)

    def _run(self) -> Iterator[RawBatch]:
        core = self._branch.tree._core
        for block in self._blocks:
            yield RawBatch(block.block, core.raw(self._plan, block.task))


class _DecodedBulk(Bulk):
    _steps: Iterator[Any]
    _batch: type[_DecodedBatch]

    def _run(self) -> Iterator[Any]:
        core = self._branch.tree._core
        done = 0
        for block in self._blocks:
            # An array in an RNTuple may span pages: its entry belongs to the first of them.
            start, stop = max(done, block.wanted[0]), block.wanted[1]
            if start >= stop:
                continue
            plan = core.plan([self._branch._index], start, stop)
            (array,) = core.read(plan, self._threads, None)
            yield self._batch(block.block, (start, stop), array)
            done = stop


class KernelBulk(_DecodedBulk):
    """An iterator of `KernelBatch`."""

    _batch = KernelBatch

    def __next__(self) -> KernelBatch:
        batch: KernelBatch = next(self._steps)
        return batch


class ProgramBulk(_DecodedBulk):
    """An iterator of `ProgramBatch`."""

    _batch = ProgramBatch

    def __next__(self) -> ProgramBatch:
        batch: ProgramBatch = next(self._steps)
        return batch


def bulk(branch: Branch, start: int, stop: int, raw: bool, threads: int | None) -> Bulk:
    """Returns the iterator for a branch."""
    core = branch.tree._core
    if raw:
        return RawBulk(branch, core.plan_raw([branch._index], start, stop), threads)
    plan = core.plan([branch._index], start, stop)
    decoded = ProgramBulk if branch.forth is not None else KernelBulk
    return decoded(branch, plan, threads)
