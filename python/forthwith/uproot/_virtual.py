"""Awkward Array's virtual arrays: buffers that are read when they are first touched."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from forthwith._errors import DamagedFileError
from forthwith._packages import package
from forthwith._tree import read
from forthwith._tree.options import ReadOptions
from forthwith.uproot._library import Awkward, Library
from forthwith.uproot._wanted import Wanted, check


class Accessed:
    """A buffer that was touched.

    Attributes:
        branch: Path of the branch.
        buffer_key: The key of the buffer in the Form of the branch.
    """

    def __init__(self, branch: str, buffer_key: str) -> None:
        self.branch, self.buffer_key = branch, buffer_key

    def __repr__(self) -> str:
        return f"Accessed(branch={self.branch!r}, buffer_key={self.buffer_key!r})"


def check_alone(library: Library, **others: Any) -> None:
    """Refuses what there is not for arrays that are read later.

    Raises:
        ValueError: Something else was asked for as well.
    """
    if not isinstance(library, Awkward):
        raise ValueError(f"library={library.name!r} cannot be used with 'virtual=True'")
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name!r} cannot be used with 'virtual=True'")


class _Column(Mapping[str, Any]):
    """The buffers of a branch, read together when one is touched."""

    def __init__(self, branch: Any, span: tuple[int, int], log: Any) -> None:
        self._branch, self._span, self._log = branch, span, log
        self._held: dict[str, Any] | None = None
        self._lock = threading.Lock()

    def __getitem__(self, key: str) -> Any:
        def touched() -> Any:
            if self._log is not None:
                self._log.append(Accessed(self._branch.forthwith_path, key))
            return self._read()[key]

        return touched

    def _read(self) -> dict[str, Any]:
        with self._lock:
            if self._held is None:
                tree = _open_still(self._branch.tree.forthwith)
                (array,) = read.read(tree, [("", self._branch._index)], *self._span, ReadOptions())
                np = package("numpy")
                self._held = {key: np.asarray(buffer) for key, buffer in array.logical().buffers()}
            return self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def virtual_column(one: Wanted, span: tuple[int, int], log: Any) -> Any:
    """A branch that is read when it is touched."""
    ak = package("awkward")
    if one.branch._is_group:
        parts = {
            inner.name: virtual_column(Wanted(inner.name, inner), span, log)
            for inner in one.branch.branches
            if inner._is_group or inner._is_readable
        }
        return _record(ak, parts, span)
    check(one.branch)
    if one.interpretation is not None and one.interpretation != one.branch.interpretation:
        raise ValueError("another interpretation cannot be used with 'virtual=True'")
    form = one.branch.forthwith.form
    column = _Column(_Plain(one.branch.forthwith), span, log)
    return ak.from_buffers(form, span[1] - span[0], column, buffer_key="{form_key}-{attribute}")


def _record(ak: Any, parts: dict[str, Any], span: tuple[int, int]) -> Any:
    layouts = [part.layout for part in parts.values()]
    return ak.Array(ak.contents.RecordArray(layouts, list(parts), length=span[1] - span[0]))


def virtual_arrays(owner: Any, wanted: list[Wanted], span: tuple[int, int], log: Any) -> Any:
    """Records of branches that are read when they are touched."""
    parts = {one.label: virtual_column(one, span, log) for one in wanted}
    return _record(package("awkward"), parts, span)


def virtual_field(branch: Any, span: tuple[int, int], log: Any) -> Any:
    """A field of an ntuple that is read when it is touched."""
    return package("awkward").from_buffers(
        branch.form, span[1] - span[0], _Column(_Plain(branch), span, log), buffer_key="{form_key}-{attribute}"
    )


class _Plain:
    """A branch of forthwith's, as columns that are read later look at it."""

    def __init__(self, branch: Any) -> None:
        self.forthwith_path, self._index = branch.path, branch._index
        self.tree = self
        self.forthwith = branch.tree


def _open_still(tree: Any) -> Any:
    """The tree; of a file that was closed meanwhile, it is opened again.

    Raises:
        DamagedFileError: The path has another file now.
    """
    file = tree.file
    if not file.closed:
        return tree
    function, arguments = file.__reduce__()
    again = function(*arguments)
    if again.uuid != file.uuid or again.size != file.size:
        again.close()
        raise DamagedFileError(
            f"{file.file_path} was replaced by another file since its virtual arrays were made", file=file.file_path
        )
    return again._tree_of(tree.path)
