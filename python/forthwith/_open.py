"""Opening of files and of objects in them."""

from __future__ import annotations

from forthwith import _paths
from forthwith._opening import Settings, open_one
from forthwith._tree.chain import Chain
from forthwith._tree.common import check_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol, TypeAlias, Unpack, overload

    from forthwith._opening import Enums, Framing, How, Int96, Text
    from forthwith._tree.common import Missing
    from forthwith._types import Opened, Options

    class Readable(Protocol):
        """A file object with ``seek`` and ``read``."""

        def seek(self, offset: int, whence: int = ..., /) -> int:
            """Moves to a position and returns it."""

        def read(self, size: int = ..., /) -> bytes:
            """Reads bytes from the current position."""

    OneFile: TypeAlias = str | os.PathLike[str] | Readable


if TYPE_CHECKING:
    # Text is also a sequence, so its overload comes first. A pattern opens a `Chain`, which is read as a
    # `Tree` is.
    @overload
    def open(  # type: ignore[overload-overlap]
        path: OneFile | Mapping[OneFile, str | None], **options: Unpack[Options]
    ) -> Opened: ...
    @overload
    def open(path: Sequence[OneFile | Mapping[OneFile, str | None]], **options: Unpack[Options]) -> Chain: ...


def open(
    path: OneFile | Mapping[OneFile, str | None] | Sequence[OneFile | Mapping[OneFile, str | None]],
    *,
    source: How = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    pool: int | str | None = None,
    huge_pages: bool = True,
    schema: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any] | Any | None = None,
    message: str | None = None,
    framing: Framing | None = None,
    rows: str | None = None,
    times_as_records: bool = False,
    enums: Enums = "names",
    recursion: int | None = None,
    skip_damaged: bool = False,
    recover: bool = False,
    row_groups: Sequence[int] | None = None,
    int96: Int96 = "ns",
    format: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    header: bool = True,
    unions: bool = False,
    parse_dates: bool = False,
    check_text: bool = True,
    text: Text = "strict",
    times_as_integers: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    checksums: bool = True,
    index: bool | str | os.PathLike[str] | None = None,
    missing: Missing = "raise",
    **unknown: Any,
) -> Any:
    """Opens a file, or an object in it.

    Args:
        path: A path, a URL or a file object, with an object in it:

            * ``"events.root"``, a path (``~`` is the home directory) or ``file:`` URL: the file; also as
              ``bytes``;
            * ``"https://host/events.root"``, ``"s3://bucket/events.root"``, ``gs://`` or ``az://``: a remote
              file, of which only the required bytes are fetched. Other schemes, such as ``root://``, are
              opened with fsspec if it is installed;
            * ``"events.root:dir/tree"``: the object after the colon. Drive letters and ports of URLs are
              recognised, and an existing file with the whole name has precedence;
            * ``{"events.root": "dir/tree"}``: an object of a file, without parsing names; ``None`` for the
              file itself;
            * a ``pathlib.Path``: always the whole file;
            * a file object with ``read`` and ``seek``. It stays open when the file is closed;
            * a list of these, a pattern such as ``"run*/*.root:tree"``, a directory, or a mapping of several
              files: their trees as one `Chain`. A directory means all files below it that end in ``.root``,
              ``.avro``, ``.parquet``, ``.arrow`` or ``.feather``;
            * datasets in the notation of coffea, ``{dataset: {"files": {path: tree}}}`` or the name of such a
              file, ``"datasets.json"``: all of their files as one `Chain`; ``"datasets.json:name"`` is one
              dataset.
        source: How the bytes of a path are read. ``"auto"`` maps local files if possible: uncompressed blocks
            are decoded from the map without an intermediate copy, and all other bytes are copied. ``"map"``
            requires the map, and permits raw baskets to be views of it (see `Branch.bulk`); with ``"auto"``,
            results are never views of the file. ``"pread"`` copies all bytes. With each of them, a file that
            another program truncates or replaces during the read gives an error or its new contents, and the
            process continues: requests are checked against the current size, and a read from a map is
            repeated with copies if the file has changed meanwhile. (Values that another program overwrites in
            place may be read partially, as by every reader.) On Unix, the first map installs a handler of
            ``SIGBUS`` for this purpose, which passes on other signals. In views of ``"map"``, truncated bytes
            read as zeros, and overwritten bytes have their new values.
        threads: Number of threads for reading, including the calling one; by default the number of
            processors. ``arrays`` and related methods can override it.
        memory: Maximum memory for data read from this file at one time, in bytes or as text such as ``"2
            GB"``. A larger request raises `OutOfMemoryError`, as does a single block whose decompressed size
            exceeds it. By default, there is no limit.
        pool: Memory of released arrays that the file retains for later ones, so that a loop over steps reuses
            mapped memory. By default 256 MiB, which are freed with the file and its arrays, and additional 64
            MiB shared by all files of the process, for loops over files. Below 64 MiB nothing is shared, and
            with 0 nothing is retained.
        huge_pages: Whether arrays of 3 MiB and more request huge pages, which are about twice as fast to fill
            if the system has them available.
        schema: For Avro files, the reader's schema, as JSON or the equivalent Python objects: fields by its
            names (or their aliases) and in its order, promoted numbers, and default values for fields that
            the file lacks. Other fields are skipped. A ``pathlib.Path`` is a file with such JSON. By default,
            values have the types of the writer's schema. For ProtoBuf files, the types of the messages: the
            path or text of a ``.proto`` file, the path or bytes of a descriptor set, or a message class or
            module of the ``protobuf`` package. For JSON, the type of an entry: a schema of Arrow or polars, a
            type or Form of Awkward Array (or its text), a schema of Avro, or a JSON Schema. Other fields are
            skipped, with only their quotes and brackets parsed.
        message: For ProtoBuf files, the full name of the type of the messages. It is not required for a
            message class, nor if exactly one type of the schema is not used by fields of others. With it,
            files of any name are read as ProtoBuf.
        framing: For ProtoBuf files, the framing of messages: ``"delimited"`` for lengths as varints before
            them (the default), ``"fixed32"`` or ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for
            a file that is one message, ``"hepmc3"`` for the events of a HepMC3 file, which is recognised and
            needs no schema.
        rows: For ProtoBuf files that are one message, the repeated field whose messages are the rows; with
            slashes, a nested one.
        times_as_records: For ProtoBuf files, whether ``google.protobuf.Timestamp`` and ``Duration`` are
            records of seconds and nanoseconds. By default, they are times in nanoseconds, and a value beyond
            64 bits is an error.
        enums: For ProtoBuf files, whether enums are read as ``"names"`` or ``"numbers"``.
        recursion: For ProtoBuf files, the depth to which recursive message types are read; more deeply nested
            messages are an error. By default, recursive fields are refused.
        skip_damaged: For Avro files, whether unreadable blocks are skipped instead of raising an error. All
            blocks are read once to find them; `Tree.damage` lists them.
        recover: For ROOT files that were not closed, whether to scan the records of the file and recover
            their objects, independently of its directories. A `RecoveryWarning` reports the result, which is
            also in `File.recovered`.
        row_groups: For Parquet files, the numbers of the row groups to read, in this order; `Tree.row_groups`
            and `Tree.chunks` list them. By default, all row groups are read.
        int96: For Parquet files, the unit of times of the deprecated type INT96: ``"ns"``, with an error for
            years outside of 1677 to 2262, or ``"us"``, which covers all years and truncates nanoseconds.
        format: The format of the file, by its name or its file extension (``"CSV"``, ``"tsv"``). By default,
            it is determined by the first bytes of the file, and for text by its name.
        types: For CSV files, types of columns by their names: ``"bool"``, ``"int64"``, ``"uint64"``,
            ``"float64"``, ``"date"``, ``"timestamp"`` or ``"string"``. A cell that cannot be converted is an
            error. The types of other columns are inferred from all of their cells, without loss.
        separator: For CSV files, the character between cells; by default a comma, or a tab for ``.tsv``
            files.
        header: For CSV files, whether the first line has the names of the columns; otherwise they are
            ``column_1`` and so on.
        unions: For JSON, whether values of different types in one column become a union. By default, they
            raise an `UnsupportedError` with their place.
        parse_dates: For JSON, whether columns of text with only ISO dates, or only ISO times, become dates or
            times.
        check_text: For Avro and Parquet files, whether text that is not valid UTF-8 is an error, with field
            and entry. Otherwise, Awkward Array and NumPy have the stored bytes, and pandas, polars and Arrow,
            which only support UTF-8, the replacement character U+FFFD. ROOT does not define the encoding of
            text: its bytes are always kept, and only pandas, polars and Arrow refuse them, unless
            ``check_text=False``.
        text: The treatment of text that is not valid UTF-8, for all formats and libraries: ``"strict"``
            follows ``check_text``; ``"latin-1"`` decodes each such string as Latin-1; ``"replace"`` replaces
            invalid bytes with U+FFFD; ``"ignore"`` removes them; ``"bytes"`` returns all text as byte
            strings.
        times_as_integers: Whether dates, times and durations are the stored integers, for all libraries and
            in expressions.
        storage_options: For URLs, the options of the store: ``timeout`` (seconds without a byte until a
            request is abandoned, 30), ``connect_timeout`` (seconds, 10), ``retries`` (of requests with
            transient errors, 4), ``headers`` for HTTP, and options such as ``key``, ``secret``,
            ``endpoint_url``, ``region`` and ``anon`` of S3. Environment variables such as
            ``AWS_ACCESS_KEY_ID`` are used as well. Errors and pickles never contain credentials. For other
            schemes, the options of fsspec.
        checksums: For ROOT files, whether the checksums of RNTuples are verified: of the anchor, of metadata
            and of each page that is read.
        index: An index created by `forthwith.index`, with the metadata of the file, so that only data are
            read: its path or URL, or its folder (an existing one, or a name that ends in ``/``); ``True`` for
            the index beside the file, with its name and ``.fwi``. If a folder has no index for the file, the
            file is opened without one. An index that is damaged, or that belongs to another file or another
            state of the file, is an error.
        missing: The treatment of branches that some of several files lack, as in `Chain`.
        unknown: Unknown arguments are refused.

    Returns:
        The `File`, or the requested `Directory` or `Tree`. For a file that is a single table, such as an Avro
        or Parquet file, its `Tree`, whose ``file`` is the `File`.

    Raises:
        MissingFileError: The file does not exist (also a ``FileNotFoundError``).
        KeyInFileError: The file does not contain the object (also a ``KeyError``).
        DamagedFileError: The file is damaged or of unknown format (also a ``ValueError``).
        UnsupportedError: The class of the object is not supported (also a ``NotImplementedError``).
    """
    settings: dict[str, Any] = {
        "source": source,
        "threads": threads,
        "memory": memory,
        "pool": pool,
        "huge_pages": huge_pages,
        "schema": schema,
        "message": message,
        "framing": framing,
        "rows": rows,
        "times_as_records": times_as_records,
        "enums": enums,
        "recursion": recursion,
        "skip_damaged": skip_damaged,
        "recover": recover,
        "row_groups": row_groups,
        "int96": int96,
        "format": format,
        "types": types,
        "separator": separator,
        "header": header,
        "unions": unions,
        "parse_dates": parse_dates,
        "check_text": check_text,
        "text": text,
        "times_as_integers": times_as_integers,
        "storage_options": storage_options,
        "checksums": checksums,
        "index": index,
        **unknown,
    }
    checked = Settings.given("open", settings, "missing")
    check_missing(missing)
    if _paths.several(path, datasets=format is None):
        return Chain(path, missing=missing, **settings)
    return open_one(*_paths.split(path), checked)
