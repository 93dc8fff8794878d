"""Virtual arrays with uproot's names: which buffers were touched, and groups of branches."""

from __future__ import annotations

from typing import Any

from forthwith._packages import package
from forthwith._tree import virtual
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
    return virtual_field(one.branch.forthwith, span, log)


def _record(ak: Any, parts: dict[str, Any], span: tuple[int, int]) -> Any:
    layouts = [part.layout for part in parts.values()]
    return ak.Array(ak.contents.RecordArray(layouts, list(parts), length=span[1] - span[0]))


def virtual_arrays(owner: Any, wanted: list[Wanted], span: tuple[int, int], log: Any) -> Any:
    """Records of branches that are read when they are touched."""
    parts = {one.label: virtual_column(one, span, log) for one in wanted}
    return _record(package("awkward"), parts, span)


def virtual_field(branch: Any, span: tuple[int, int], log: Any) -> Any:
    """A branch or field that is read when it is touched."""

    def touched(key: str) -> None:
        log.append(Accessed(branch.path, key))

    return virtual.column(branch, span, ReadOptions(), None if log is None else touched)
