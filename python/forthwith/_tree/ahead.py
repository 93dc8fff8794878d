"""Prefetching of the trees of several files: remote files are opened while the current one is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forthwith._tree.tree import Tree

# Maximum number of files opened in advance, each of which holds a file descriptor.
AHEAD = 2


class Ahead:
    """Opens trees by number, and remote trees after them in threads. Must be closed after use.

    Args:
        open_: Opens the tree with a number.
        waits: For each tree, whether opening has latency; other trees are opened on request.
    """

    def __init__(self, open_: Callable[[int], Tree], waits: Sequence[bool]) -> None:
        self._open = open_
        self._waits = waits
        self._openings: dict[int, _Opening] = {}

    def tree(self, at: int) -> Tree:
        """Returns the tree with a number, which the caller must close; raises the error of opening it."""
        opening = self._openings.pop(at, None)
        for next_ in range(at + 1, min(at + 1 + AHEAD, len(self._waits))):
            if self._waits[next_] and next_ not in self._openings:
                self._openings[next_] = _Opening(self._open, next_)
        return self._open(at) if opening is None else opening.take()

    def close(self) -> None:
        """Closes trees that were opened but not requested, without waiting for pending ones."""
        for opening in self._openings.values():
            opening.leave()
        self._openings.clear()

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Opening:
    """A tree being opened by a thread."""

    def __init__(self, open_: Callable[[int], Tree], at: int) -> None:
        import threading

        self._open = open_
        self._at = at
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._left = False
        self._tree: Tree | None = None
        self._error: BaseException | None = None
        # A daemon thread: program exit does not wait for it.
        threading.Thread(target=self._run, name="forthwith-ahead", daemon=True).start()

    def _run(self) -> None:
        tree, error = None, None
        try:
            tree = self._open(self._at)
        except BaseException as raised:  # raised where the tree is asked for
            error = raised
        with self._lock:
            self._tree, self._error = tree, error
            left = self._left
        self._ended.set()
        if left and tree is not None:
            tree.file.close()

    def take(self) -> Tree:
        try:
            self._ended.wait()
        except BaseException:  # such as KeyboardInterrupt
            self.leave()
            raise
        if self._tree is None:
            assert self._error is not None
            raise self._error
        return self._tree

    def leave(self) -> None:
        with self._lock:
            self._left = True
            tree = self._tree
        if tree is not None:
            tree.file.close()
