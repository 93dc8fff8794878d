"""Lazy reading of trees for query engines, which select columns and entries when a query runs."""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from forthwith._entries import step_size as step_size_of
from forthwith._entries import thread_count
from forthwith._errors import KeyInFileError, MissingPackageError, RequestError
from forthwith._filters import BranchFilter
from forthwith._lazy_parts import SmallFiles, TreePart, are_small, check
from forthwith._packages import package
from forthwith._stores import scheme
from forthwith._tree import walk
from forthwith._tree.chain import Chain
from forthwith._tree.common import Common, PlainColumns
from forthwith._tree.options import ReadOptions
from forthwith._tree.query import behind
from forthwith._tree.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from concurrent.futures import Future
    from typing import Any

    from forthwith import _forthwith
    from forthwith._lazy_parts import Part
    from forthwith._tree.read import Names

# Entries are selected individually if at most 1 of ``_FEW`` passes, in steps of at least ``_SMALL`` entries.
_FEW, _SMALL = 8, 2_000
# Columns whose blocks are decoded as a whole are read so if at most 1 of ``_RARE`` entries passes, even if
# all blocks have passing entries.
_RARE = 1_000
# Size in bytes of a step of a local file, and maximum number of steps in progress.
_LOCAL, _MOST_STEPS = 20_000_000, 8
# Minimum size in bytes of steps that are read in another thread.
_WORTH_A_THREAD = 500_000
# The read of a step, and closing of its file.
_TASKS_OF_ONE_STEP = 2
# Formats with statistics, by which entries can be pruned.
_WITH_STATISTICS = ("Parquet",)
# Number of threads for the reads of a thread, if it differs from the requested one.
_HERE = threading.local()


class Lazy:
    """Files that are read in parts, with the types of the first file.

    Attributes:
        table: The `Tree` or `Chain`.
    """

    def __init__(
        self,
        files: Any,
        *,
        library: str,
        step_size: int | str | None,
        threads: int | None,
        options: dict[str, Any],
    ) -> None:
        thread_count(threads)
        self._entries, self._memory = step_size_of("100 MB" if step_size is None else step_size)
        self._local = None if step_size is not None else _LOCAL
        self._library, self._threads = library, threads
        if isinstance(files, Tree | Chain) and options:
            raise RequestError(f"{', '.join(options)}: these are options of open(), and the files are open already")
        self.table = files if isinstance(files, Tree | Chain) else Chain(files, **options)
        self._unites = isinstance(self.table, Chain) and self.table._missing == "null"
        # Whether the first file may have statistics for pruning.
        self._has_statistics = True
        self._common: dict[tuple[str, ...], Common] = {}
        self._surveying = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_surveying"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _surveying=threading.Lock())

    def __len__(self) -> int:
        """Returns the number of files."""
        return 1 if isinstance(self.table, Tree) else len(self.table)

    def empty(self, names: Names) -> Any:
        """Reads no entries of some columns, for their names and types."""
        table: Any = self.table
        with nullcontext(table) if isinstance(table, Tree) else table._open(0) as first:
            self._has_statistics = first.file.format in _WITH_STATISTICS
            return (table if self._unites else first).arrays(names, entry_start=0, entry_stop=0, **self._read)

    def parts(
        self,
        first: list[str],
        names: list[str],
        cut: str | None,
        most: int | None,
        act: Callable[[Part], Any],
        number: int | None = None,
    ) -> Iterator[Any]:
        """Iterates over the results of ``act`` for the parts of all files, or of one, in order.

        Args:
            first: The columns that are read of each part.
            names: All columns that a part may read.
            cut: As in `steps`.
            most: As in `steps`.
            act: Function of a part.
            number: As in `steps`.
        """
        # With statistics, each file is checked before it is read.
        is_pruned = cut is not None and self._has_statistics
        size: int | str | None = f"{self._local} B" if self._local is not None else self._entries
        is_plain = bool(first) and number is None and not is_pruned
        if is_plain and size is not None and isinstance(self.table, Chain) and are_small(self.table):
            files = SmallFiles(self.table, self._columns, first, names, ReadOptions(**self._read), size, most)
            yield from map(act, files.parts())
            return

        def of_tree(tree: Tree, start: int, stop: int) -> Any:
            return act(TreePart(self, tree, start, stop))

        yield from self.steps(names, cut, most, of_tree, number)

    def steps(
        self,
        names: list[str],
        cut: str | None,
        most: int | None,
        act: Callable[[Tree, int, int], Any],
        number: int | None = None,
    ) -> Iterator[Any]:
        """Iterates over the results of ``act`` for the steps of all trees, or of one, in order.

        Several steps of local files are read in parallel, each in one thread. If iteration stops early, files
        are closed when the steps in progress have ended.

        Args:
            names: The columns that a step reads.
            cut: A filter for pruning by statistics.
            most: Maximum number of entries, from the first one.
            act: Function of a tree and the range of entries of a step.
            number: Number of the file; by default all files.
        """
        open_trees: dict[int, Tree] = {}
        tasks = self._tasks(names, cut, most, act, number, open_trees)
        threads = min(self._threads or _processors(), _MOST_STEPS)
        pool: ThreadPoolExecutor | None = None
        begun: list[_Task] = []
        waiting: deque[tuple[_Task, Future[Any] | None]] = deque()
        try:
            # A single step uses all threads.
            begun += islice(tasks, _TASKS_OF_ONE_STEP + 1)
            if self._local is not None and threads > 1 and len(begun) > _TASKS_OF_ONE_STEP:
                pool = ThreadPoolExecutor(threads, "forthwith-step", setattr, (_HERE, "threads", 1))
            for task in chain(begun, tasks):
                waiting.append((task, pool.submit(task.act) if pool and task.is_worth_a_thread else None))
                del task
                while len(waiting) > (threads if pool else 0):
                    yield from _done(*waiting[0])
                    waiting.popleft()
            while waiting:
                yield from _done(*waiting[0])
                waiting.popleft()
        finally:
            tasks.close()
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)
            _close_behind([future for _, future in waiting if future], list(open_trees.values()))
            # An exception refers to this frame, which would keep it and the results of later steps alive.
            waiting.clear()
            begun.clear()

    def _tasks(
        self,
        names: list[str],
        cut: str | None,
        most: int | None,
        act: Callable[[Tree, int, int], Any],
        number: int | None,
        open_trees: dict[int, Tree],
    ) -> Generator[_Task, None, None]:
        def close(tree: Tree) -> None:
            open_trees.pop(id(tree)).file.close()

        def fail(errors: list[Exception]) -> None:
            raise errors.pop()

        left = most
        try:
            for tree in self._trees(number):
                if tree is not self.table:
                    open_trees[id(tree)] = tree
                is_local = scheme(tree.file.file_path) in (None, "file")
                for start, stop, is_worth in self._parts(tree, names, cut, left, is_local):
                    yield _Task(partial(act, tree, start, stop), is_worth)
                left = None if left is None else left - min(left, tree._core.entries_up_to(left))
                if tree is not self.table:
                    yield _Task(partial(close, tree))
                if left == 0:
                    return
        except Exception as error:  # raised behind the steps before it
            yield _Task(partial(fail, [error]))

    def _trees(self, number: int | None) -> Iterator[Tree]:
        if isinstance(self.table, Tree):
            return iter([self.table])
        return self.table._opened() if number is None else iter([self.table._open(number)])

    @property
    def _read(self) -> dict[str, Any]:
        """Options of reads in this thread."""
        return {"library": self._library, "threads": getattr(_HERE, "threads", self._threads)}

    def read(self, tree: Tree, names: list[str], start: int, stop: int) -> Any:
        """Reads a range of entries of a tree."""
        if not self._unites:
            some: Any = tree
            return some.arrays(names, entry_start=start, entry_stop=stop, **self._read)
        return walk.arrays(tree, self._united(names).of(tree, 0), start, stop, ReadOptions(**self._read))

    def _columns(self, names: list[str], needed: list[str]) -> Common | PlainColumns:
        """Returns the columns to read, and those that files must have unless missing values are permitted."""
        return self._united(names) if self._unites else PlainColumns(names, needed)

    def _united(self, names: list[str]) -> Common:
        """Returns the columns with their common types in all files."""
        assert isinstance(self.table, Chain)
        with self._surveying:
            common = self._common.get(tuple(names))
            if common is None:
                common = Common(names, BranchFilter(), "null")
                self.table._survey(common, ReadOptions(**self._read))
                self._common[tuple(names)] = common
        return common

    def read_some(
        self, tree: Tree, names: list[str], start: int, stop: int, count: int, places: Callable[[], Any]
    ) -> Any:
        """Reads the passing entries of a range; ``None`` if that is not cheaper, or without NumPy.

        Blocks without such entries are not read, and only these entries are converted. ``count`` is their
        number, and ``places`` returns a NumPy array of them in ascending order, relative to ``start``.
        """
        if self._unites or stop - start < _SMALL or not are_few(count, stop - start):
            return None
        try:
            plan = tree._core.plan([tree._find(name) for name in names], start, stop)
        except KeyInFileError:
            # Computed columns are computed for all entries.
            return None
        try:
            found = places()
        except MissingPackageError:
            return None
        if not plan.can_choose and count * _RARE > stop - start:
            np = package("numpy")
            # Blocks of counters may lie outside of the step.
            blocks = [(max(first, start), min(last, stop)) for first, last in _entries_of(plan)]
            blocks = [(first - start, last - start) for first, last in blocks if first < last]
            firsts, lasts = np.searchsorted(found, np.array(blocks, found.dtype).reshape(-1, 2).T)
            if 2 * np.count_nonzero(firsts < lasts) > len(blocks):
                return None
        some: Any = tree
        # Engines number the entries of a step with 32 bits.
        return some.arrays(names, entries=found.astype("int64") + start, **self._read)

    def _parts(
        self, tree: Tree, names: list[str], cut: str | None, left: int | None, is_local: bool
    ) -> Iterator[tuple[int, int, bool]]:
        """Iterates over the ranges of steps that statistics do not exclude, up to entry ``left``.

        Each range comes with whether its read is worth a thread.
        """
        stop = tree.num_entries if left is None else min(left, tree._core.entries_up_to(left))
        if stop <= 0:
            return
        fields = self._fields(tree, names)
        # Small steps fit in a processor's cache and reuse memory, but for remote files, requests cost more
        # than that saves.
        local = self._local if is_local else None
        steps = tree._core.steps(fields, 0, stop, self._entries, None if self._entries else local or self._memory)
        is_worth = local is not None and (
            len(steps) > 1 or len(tree._core.steps(fields, 0, stop, None, min(local, _WORTH_A_THREAD))) > 1
        )
        for begin, end in steps:
            for first, last in _promising(tree, cut, begin, end):
                yield first, last, is_worth

    def _fields(self, tree: Tree, names: list[str]) -> list[int]:
        """Returns the branches of columns, ignoring missing ones if that is permitted."""
        if not self._unites:
            return behind(tree, names)
        found = []
        for name in names:
            try:
                found += behind(tree, [name])
            except KeyInFileError:
                continue
        return list(dict.fromkeys(found))

    def check(self, part: Part, found: Callable[[str], str], expected: dict[str, str]) -> None:
        """Raises an error for columns with other types than in the first file."""
        hint = "" if self._unites else '; missing="null" reads numbers in the type that has those of all files'
        check(part, found, expected, hint)


class _Task(NamedTuple):
    """A step; with ``is_worth_a_thread=None`` a task without result to run after previous steps."""

    act: Callable[[], Any]
    is_worth_a_thread: bool | None = None


def _done(task: _Task, future: Future[Any] | None) -> Iterator[Any]:
    """Yields the result of a task, if it has one."""
    try:
        found = task.act() if future is None else future.result()
    finally:
        del future  # an error that it has keeps this frame
    if task.is_worth_a_thread is not None:
        yield found


def _close_behind(futures: list[Future[Any]], trees: list[Tree]) -> None:
    """Closes trees after their last step, without waiting: the caller may be the garbage collector."""
    lock, left = threading.Lock(), len(futures) + 1

    def ended(_: Future[Any] | None) -> None:
        nonlocal left
        with lock:
            left -= 1
            if left:
                return
        for tree in trees:
            tree.file.close()

    for future in futures:
        future.add_done_callback(ended)
    ended(None)


def _processors() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def are_few(count: int, entries: int) -> bool:
    """Whether few enough entries pass to select them individually."""
    return count * _FEW <= entries


def _entries_of(plan: _forthwith.Plan) -> list[tuple[int, int]]:
    return [block.entries for block in plan.blocks()]


def _promising(tree: Tree, cut: str | None, start: int, stop: int) -> list[tuple[int, int]]:
    """Returns the parts of a step that statistics do not exclude."""
    if cut is None:
        return [(start, stop)]
    try:
        selection = tree._core.select([], [], cut, None)
    except (RequestError, KeyInFileError):
        # The file has another type; the read reports that, if it is an error.
        return [(start, stop)]
    return selection.promising(start, stop)
