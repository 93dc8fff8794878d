"""Parsing of paths: the file, the object in it, and expansion of patterns."""

from __future__ import annotations

import os

from forthwith import _filesets, _forthwith, _stores
from forthwith._errors import MissingFileError, RequestError
from forthwith._warn import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    # Partition columns: name, value as text, whether all values are integers, and whether some files lack the
    # column.
    Constants: TypeAlias = list[tuple[str, str | None, bool, bool]]


# File extensions to search for in a directory.
_ENDINGS = (".root", ".avro", ".parquet", ".arrow", ".feather")
# Maximum length of a path: longer bytes are the content of a file.
_LONGEST = 4096


def several(path: Any, datasets: bool = True) -> bool:
    """Whether a path means several files: a list, pattern, directory, mapping or, optionally, datasets."""
    if hasattr(path, "keys") and not isinstance(path, (str, os.PathLike)):
        if not path:
            raise ValueError("open takes a file, as in {path: object}, not an empty mapping")
        return len(path) > 1 or _filesets.is_fileset(path) or any(several(what) for what in path)
    if isinstance(path, (list, tuple)):
        return True
    path = _decoded(path)
    if not isinstance(path, (str, os.PathLike)):
        return False
    name = split_path(path)[0] if isinstance(path, str) else os.fspath(path)
    return isinstance(name, str) and (
        _is_pattern(name) or os.path.isdir(name) or (datasets and _filesets.is_file(name))
    )


def split(path: Any) -> tuple[Any, str | None]:
    """Returns the file, and the object in it if one is named."""
    if hasattr(path, "keys") and not isinstance(path, (str, os.PathLike)):
        ((what, inner),) = path.items()
        return whole(what), _checked(inner)
    path = _decoded(path)
    if isinstance(path, str):
        return split_path(path)
    return whole(path), None


def _decoded(path: Any) -> Any:
    """Decodes a path given as bytes; other values, and the content of a file, stay as they are."""
    if isinstance(path, os.PathLike):
        name = os.fspath(path)
        return os.fsdecode(name) if isinstance(name, bytes) else path
    is_path = isinstance(path, bytes) and 0 < len(path) < _LONGEST and b"\0" not in path
    return os.fsdecode(path) if is_path else path


def _checked(inner: Any) -> str | None:
    if inner is not None and not isinstance(inner, str):
        raise TypeError(f"the object in {{path: object}} must be a name or None, not {inner!r}")
    return inner


def whole(what: Any) -> Any:
    """Returns a file without an object in it: a path as text, or a file object."""
    what = _decoded(what)
    if isinstance(what, (str, os.PathLike)):
        return local(os.fspath(what))
    if hasattr(what, "read") and hasattr(what, "seek"):
        return what
    import reprlib  # not at the top: nothing else needs it

    # Do not print the whole content of a file.
    instead = ": io.BytesIO(data) is one of bytes" if isinstance(what, (bytes, bytearray, memoryview)) else ""
    raise TypeError(
        f"open takes a path, {{path: object}} or an object with read and seek, not {reprlib.repr(what)}{instead}"
    )


def local(name: str) -> str:
    """Returns the local path: expands ``~`` and decodes ``file:`` URLs."""
    if not name.strip():
        raise MissingFileError("the path of the file is empty", file=name)
    if name.startswith("~") and not os.path.exists(name):
        return os.path.expanduser(name)
    if name[:5].lower() != "file:":
        return name
    rest = name[5:]
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise MissingFileError(f"{name} is a file of another machine, {host}", file=name)
        rest = f"/{rest}"
    if "%" in rest and not os.path.exists(rest):
        from urllib.parse import unquote

        return unquote(rest)
    return rest


def split_path(text: str) -> tuple[str, str | None]:
    """Splits ``"file.root:dir/tree"`` at the colon before the object, if any."""
    text = local(text.strip())
    if ":" not in text:
        return text, None
    try:
        name, inner = _forthwith.split_name(text)
    except UnicodeEncodeError:
        # Undecodable names are never split.
        return text, None
    return name, inner or None


def expand(files: Any, store: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, str | None]]:
    """Yields files and the objects requested; patterns and directories are expanded by name.

    Args:
        files: Paths, URLs, patterns, mappings, file objects, or lists of them; also datasets in coffea's
            notation.
        store: The options of the store, for URLs that are patterns.
    """
    told: set[str] = set()
    for path, inner, given in _found(files, store):
        said = _forthwith.partitions([(given, path)])[0] if isinstance(path, str) and path != given else []
        if said and given not in told:
            told.add(given)
            names = ", ".join(name for name, *_ in said)
            warn(f"folders of {given!r} say values of {names}, which are not read: columns are those of the files")
        yield path, inner


def expand_with_folders(
    files: Any, store: Mapping[str, Any] | None = None
) -> tuple[list[tuple[Any, str | None]], list[Constants]]:
    """Expands files, and returns the partition columns in their paths: ``day`` of ``day=1/part.parquet``."""
    found = list(_found(files, store))
    names = [(given, path) if isinstance(path, str) else ("", "") for path, _, given in found]
    return [(path, inner) for path, inner, _ in found], _forthwith.partitions(names)


def _found(files: Any, store: Mapping[str, Any] | None) -> Iterator[tuple[Any, str | None, Any]]:
    """Yields each file, its requested object, and the directory or pattern that it was found by."""
    none = True
    for path, inner in _given(files):
        given = whole(path)
        for found in _matches(given, store):
            none = False
            yield found, inner, given
    if none:
        raise RequestError("no files")


def _given(files: Any, within: bool = False) -> Iterator[tuple[Any, str | None]]:
    """Yields files as given; datasets cannot be nested `within` datasets."""
    files = _decoded(files)
    if isinstance(files, (str, os.PathLike)):
        name = os.fspath(files)
        path, inner = split_path(files) if isinstance(files, str) else (files, None)
        where = path if isinstance(path, str) else name
        if not within and isinstance(where, str) and _filesets.is_file(where):
            yield from _given(_filesets.read(where, inner), within=True)
        else:
            yield path, inner
    elif not within and _filesets.is_fileset(files):
        yield from _given(_filesets.files_of(files), within=True)
    elif hasattr(files, "read"):
        yield files, None
    elif hasattr(files, "keys"):
        for path, inner in files.items():
            yield path, _checked(inner)
    elif hasattr(files, "__iter__"):
        for one in files:
            if isinstance(one, tuple):
                path, inner = one
                yield path, _checked(inner)
            else:
                yield from _given(one, within)
    else:
        raise TypeError(f"files are paths, {{path: tree}}, or a list of these, not {files!r}")


def _is_pattern(name: str) -> bool:
    if "://" in name:
        return _stores.is_pattern(name)
    return any(c in name for c in "*?[") and not os.path.exists(name)


def _matches(path: Any, store: Mapping[str, Any] | None) -> list[Any]:
    if not isinstance(path, str):
        return [path]
    if _stores.is_pattern(path):
        return list(_stores.expand(path, store))
    if os.path.isdir(path):
        return _within(path)
    if not _is_pattern(path):
        return [path]

    from glob import glob

    found = sorted(glob(path, recursive=True))
    if not found:
        raise MissingFileError(f"no file matches {path!r}", file=path)
    return [file for one in found for file in (_within(one) if os.path.isdir(one) else [one])]


def _within(directory: str) -> list[str]:
    """Returns the files of known formats below a directory, except hidden and ``_`` names."""
    found = []
    endings = _ENDINGS + tuple(f".{ending}" for ending in _forthwith.registered_endings())
    for root, below, names in os.walk(directory):
        below[:] = sorted(name for name in below if name[:1] not in "._")
        found += [os.path.join(root, name) for name in names if name[:1] not in "._" and name.lower().endswith(endings)]
    if not found:
        raise MissingFileError(f"no file in {directory!r} ends in {', '.join(endings)}", file=directory)
    if len({os.path.splitext(name)[1].lower() for name in found}) > 1:
        raise RequestError(f"the files in {directory!r} are of several formats: say which, as in '{directory}/*.root'")
    return sorted(found)
