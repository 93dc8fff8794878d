"""Opening files: which file, which object in it, and how its bytes are read."""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._entries import memory_size
from forthwith._file import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, Protocol, TypeAlias

    class Readable(Protocol):
        """A file object: anything that can seek and read bytes."""

        def seek(self, offset: int, whence: int = ..., /) -> int:
            """Goes to a position."""

        def read(self, size: int = ..., /) -> bytes:
            """Reads from there."""

    OneFile: TypeAlias = str | os.PathLike[str] | Readable
    How: TypeAlias = Literal["auto", "map", "pread"]

_SOURCES = ("auto", "map", "pread")


def open(
    path: OneFile | Mapping[OneFile, str | None] | Sequence[str | os.PathLike[str]],
    *,
    source: How = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    pool: int | str | None = None,
    huge_pages: bool = True,
    schema: str | Mapping[str, Any] | Sequence[Any] | None = None,
    skip_damaged: bool = False,
    recover: bool = False,
    row_groups: Sequence[int] | None = None,
    check_text: bool = True,
) -> Any:
    """Opens a file, or an object in it.

    Args:
        path: What to open:

            * ``"events.root"``, a path or ``file://`` URL: the file;
            * ``"events.root:dir/tree"``: the object after the colon. Drive letters and the ports of URLs are no such
              colons, and a file that exists under the whole name is always opened as such;
            * ``{"events.root": "dir/tree"}``: the same, whatever the names contain; ``None`` for the file itself;
            * a ``pathlib.Path``: always the whole file;
            * a file object with ``read`` and ``seek``. It stays open when the file is closed;
            * a list of names: the trees of several files as one `Chain`.
        source: How the bytes of a path are read. ``"map"`` maps the file: uncompressed data are decoded without a copy
            in between, and can be views of the file (see `Branch.bulk`). Every request is checked against the file's
            present size, but a file that another program cuts *while* its bytes are being decoded ends the process.
            ``"pread"`` copies everything and has no such hazard. ``"auto"`` maps a local file where it can, and copies
            what is compressed.
        threads: Threads for reading, this one included; by default one for each processor. ``arrays`` and its
            relatives can override it.
        memory: The most memory that the data read from this file may take at one time, in bytes or as text such as
            ``"2 GB"``. Reading more is an `OutOfMemoryError`. By default there is no limit.
        pool: How much memory of arrays that are no longer used the file keeps for the next ones, so that a loop over
            its steps writes to warm memory. By default 256 MiB, which are given back when the file and its arrays are gone,
            and 64 MiB more that all files of the process share, so that a loop over files does, too: as much as an
            ordinary allocator keeps. With less than 64 MiB nothing is shared, with 0 nothing is kept at all.
        huge_pages: Whether arrays of 3 MiB and more ask the system for huge pages. They are about twice as fast to
            fill, where the system has such pages at hand.
        schema: For Avro files, the schema that their values are to be read as, as JSON or what JSON is made of: fields by its
            names (or their aliases) and in its order, numbers promoted, what is not in the file by its defaults. What it
            does not name is stepped over. By default values are read as they were written.
        skip_damaged: For Avro files, whether blocks that cannot be read are left out instead of being an error. All blocks
            are read once to find out; `Tree.damage` says which they are.
        recover: For ROOT files that were not closed: whether to walk from record to record and take the objects that are there,
            whatever the directories of the file say. What was found is a `RecoveryWarning`, and in `File.recovered`.
        row_groups: For Parquet files, the numbers of the row groups that are the table, in this order; `Tree.row_groups` and
            `Tree.chunks` say what there is. By default all of them.
        check_text: For Avro and Parquet files, whether text that is not UTF-8 is an error, with the field and the entry.
            Otherwise it is taken as it is: Awkward Array has its bytes. ROOT does not say how text is encoded, and that of its
            files is never looked at.

    Returns:
        The `File`, or the `Directory` or `Tree` asked for. A file that holds one table and nothing else, as those of Avro and
        Parquet, is that `Tree`; its ``file`` is the `File`.

    Raises:
        MissingFileError: There is no such file (also a ``FileNotFoundError``).
        KeyInFileError: The file has no such object (also a ``KeyError``).
        DamagedFileError: It is no file of a known format, or damaged (also a ``ValueError``).
        UnsupportedError: The object is of a class that cannot be read yet (also a ``NotImplementedError``).
    """
    if source not in _SOURCES:
        raise ValueError(f"source must be one of {', '.join(map(repr, _SOURCES))}, not {source!r}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    limit = None if memory is None else memory_size(memory, "memory")
    kept = None if pool is None else memory_size(pool, "pool", least=0)
    options = {
        "source": source,
        "threads": threads,
        "memory": limit,
        "pool": kept,
        "huge_pages": huge_pages,
        "recover": recover,
    }
    groups = None if row_groups is None else [int(number) for number in row_groups]
    if groups is not None and min(groups, default=0) < 0:
        raise ValueError(f"row groups are numbered from 0 on, not {min(groups)}")
    view = {
        "schema": _schema_text(schema),
        "skip_damaged": bool(skip_damaged),
        "row_groups": groups,
        "check_text": bool(check_text),
    }
    if isinstance(path, (list, tuple)):
        from forthwith._chain import Chain

        return Chain(
            path,
            source=source,
            threads=threads,
            memory=memory,
            pool=pool,
            huge_pages=huge_pages,
            schema=schema,
            skip_damaged=skip_damaged,
            recover=recover,
            row_groups=row_groups,
            check_text=check_text,
        )
    what, inner = _split(path)
    file = _open_file(what, options, view)
    if file._core.format != "Avro" and (schema is not None or skip_damaged):
        file.close()
        raise ValueError("schema and skip_damaged are for Avro files")
    if file._core.format != "Parquet" and row_groups is not None:
        file.close()
        raise ValueError("row_groups are for Parquet files")
    if recover:
        file._warn_of_recovery()
    if not inner:
        return file if file._core.format == "ROOT" else file._only_table()
    try:
        return file[inner]
    except BaseException:
        file.close()
        raise


def _schema_text(schema: Any) -> str | None:
    """A reader's schema as JSON; a name alone is a type."""
    if schema is None:
        return None
    if isinstance(schema, str) and schema.lstrip()[:1] in ("{", "[", '"'):
        return schema

    import json

    return json.dumps(schema)


def reopen(what: Any, options: dict[str, Any], view: dict[str, Any]) -> File:
    """What a pickled file is made of: it is opened again."""
    return _open_file(what, options, view)


def _open_file(what: Any, options: dict[str, Any], view: dict[str, Any]) -> File:
    if isinstance(what, str):
        if options["source"] == "map" and "://" in what:
            raise ValueError(f"source='map' is for paths, not for {what!r}")
        return File(_forthwith.File.open(what, **options), what, options, view)
    if options["source"] != "auto":
        raise ValueError(f"source={options['source']!r} is for paths, not for {what!r}")
    name = getattr(what, "name", None)
    name = name if isinstance(name, str) else repr(what)
    core = _forthwith.File.from_object(what, name, **{k: v for k, v in options.items() if k != "source"})
    return File(core, what, options, view)


def _split(path: Any) -> tuple[Any, str | None]:
    """The file, and the object in it if one is named."""
    if hasattr(path, "keys") and not isinstance(path, (str, os.PathLike)):
        if len(path) != 1:
            raise ValueError(f"open takes one file, {{path: object}}, not {len(path)} of them")
        ((what, inner),) = path.items()
        if inner is not None and not isinstance(inner, str):
            raise TypeError(f"the object in {{path: object}} must be a name or None, not {inner!r}")
        return _whole(what), inner
    if isinstance(path, str):
        return split_path(path)
    return _whole(path), None


def _whole(what: Any) -> Any:
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
