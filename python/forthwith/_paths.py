"""Names of files as they are given: which file, which object in it, and the files that a pattern stands for."""

from __future__ import annotations

import os

from forthwith._errors import MissingFileError, RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def split(path: Any) -> tuple[Any, str | None]:
    """The file, and the object in it if one is named."""
    if hasattr(path, "keys") and not isinstance(path, (str, os.PathLike)):
        if len(path) != 1:
            raise ValueError(f"open takes one file, {{path: object}}, not {len(path)} of them")
        ((what, inner),) = path.items()
        if inner is not None and not isinstance(inner, str):
            raise TypeError(f"the object in {{path: object}} must be a name or None, not {inner!r}")
        return whole(what), inner
    if isinstance(path, str):
        return split_path(path)
    return whole(path), None


def whole(what: Any) -> Any:
    """A file without an object in it: a path as text, or a file object."""
    if isinstance(what, (str, os.PathLike)):
        name = os.fspath(what)
        if isinstance(name, str):
            return name
    elif hasattr(what, "read") and hasattr(what, "seek"):
        return what
    raise TypeError(f"open takes a path, {{path: object}} or an object with read and seek, not {what!r}")


def split_path(text: str) -> tuple[str, str | None]:
    """Splits ``"file.root:dir/tree"`` at the colon that separates the object, if there is one."""
    text = text.strip()
    if ":" not in text:
        return text, None

    import re  # not at the top: it costs more than the rest of the package

    remote = re.search(r"[A-Za-z][A-Za-z0-9+.-]+://", text)
    if not remote and os.path.exists(text):
        return text, None
    colons = [at for at, c in enumerate(text) if c == ":" and _may_separate(text, at)]
    if not remote:
        # The longest name that exists is the file.
        for at in reversed(colons):
            if os.path.exists(text[:at]):
                return text[:at], _object(text[at + 1 :])
    marked = [found.end() - 1 for found in re.finditer(r"\.root(\.[0-9]+)?(\?[^:]*)?:", text, re.IGNORECASE)]
    marked = [at for at in marked if at in colons]
    if not marked and remote:
        return text, None
    for at in marked[:1] or colons[-1:]:
        return text[:at], _object(text[at + 1 :])
    return text, None


def _may_separate(text: str, at: int) -> bool:
    """Whether the colon is neither part of a scheme, nor before a port, nor after a drive letter."""
    if text[at + 1 : at + 3] == "//" or text[at + 1 : at + 2] == "\\":
        return False
    if at == 1 and text[0].isalpha() and text[2:3] in ("/", "\\"):
        return False
    begin = text.rfind("://", 0, at)
    return begin < 0 or "/" in text[begin + 3 : at]


def _object(text: str) -> str | None:
    return "/".join(part for part in text.strip().split("/") if part) or None


def expand(files: Any) -> Iterator[tuple[Any, str | None]]:
    """Files and what is asked of each: patterns become the files they mean, in the order of their names."""
    if isinstance(files, dict):
        given: Iterable[Any] = files.items()
    elif isinstance(files, str | os.PathLike) or hasattr(files, "read"):
        given = [files]
    else:
        given = files
    none = True
    for one in given:
        path, inner = one if isinstance(one, tuple) else split_path(one) if isinstance(one, str) else (one, None)
        for found in _matches(path):
            none = False
            yield found, inner
    if none:
        raise RequestError("no files")


def _matches(path: Any) -> list[Any]:
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str) or "://" in name or not any(c in name for c in "*?[") or os.path.exists(name):
        return [path]
    from glob import glob

    found = sorted(glob(name, recursive=True))
    if not found:
        raise MissingFileError(f"no file matches {name!r}", file=name)
    return list(found)
