"""Opening files: which file, which object in it, and how its bytes are read."""

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
        """A file object: anything that can seek and read bytes."""

        def seek(self, offset: int, whence: int = ..., /) -> int:
            """Goes to a position."""

        def read(self, size: int = ..., /) -> bytes:
            """Reads from there."""

    OneFile: TypeAlias = str | os.PathLike[str] | Readable


if TYPE_CHECKING:
    # A text is a sequence, too, and comes first; a pattern makes a `Chain`, which reads as a `Tree` does.
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

            * ``"events.root"``, a path (``~`` is a home) or ``file:`` URL: the file; also as ``bytes``, as the system has it;
            * ``"https://host/events.root"``, ``"s3://bucket/events.root"``, ``gs://`` or ``az://``: a file behind a network, of
              which only the bytes that are needed are fetched. Schemes of other packages, such as ``root://``, are opened by
              fsspec where it is installed;
            * ``"events.root:dir/tree"``: the object after the colon. Drive letters and the ports of URLs are no such
              colons, and a file that exists under the whole name is always opened as such;
            * ``{"events.root": "dir/tree"}``: the same, whatever the names contain; ``None`` for the file itself;
            * a ``pathlib.Path``: always the whole file;
            * a file object with ``read`` and ``seek``. It stays open when the file is closed;
            * a list of these, a pattern such as ``"run*/*.root:tree"``, a directory, or a mapping of several files: their
              trees as one `Chain`. Of a directory, all files below it that end in ``.root``, ``.avro``,
              ``.parquet``, ``.arrow`` or ``.feather``;
            * datasets as coffea spells them, ``{dataset: {"files": {path: tree}}}`` or ``"datasets.json"`` with such: all of
              their files as one `Chain`, or of ``"datasets.json:name"`` those of one of them.
        source: How the bytes of a path are read. ``"auto"`` maps a local file where it can: blocks that are not compressed are
            decoded from the map without a copy in between, and all else is copied. ``"map"`` requires the map, and lets
            raw baskets be views of it (see `Branch.bulk`); with ``"auto"`` nothing that you get is a view of the file.
            ``"pread"`` copies everything. A file that another program cuts or replaces while it is read gives an error, or is
            read as it is then, and the process goes on, with each of the three. Requests are checked against the present size,
            and a read from a map whose file has changed meanwhile is repeated with copies. (A program that overwrites
            values in place may be seen half way, as by every reader.) On Unix the first map installs a handler of ``SIGBUS``
            for this, which passes on what does not concern such a map. In the views of ``"map"`` bytes that were cut off
            read as zeros, and bytes that were overwritten show their new values.
        threads: Threads for reading, this one included; by default one for each processor. ``arrays`` and its
            relatives can override it.
        memory: The most memory that the data read from this file may take at one time, in bytes or as text such as
            ``"2 GB"``. Reading more is an `OutOfMemoryError`, and so is a single block that is larger than that when it is
            decompressed. By default there is no limit.
        pool: How much memory of arrays that are no longer used the file keeps for the next ones, so that a loop over
            its steps writes to warm memory. By default 256 MiB, which are given back when the file and its arrays are gone,
            and 64 MiB more that all files of the process share, so that a loop over files does, too: as much as an
            ordinary allocator keeps. With less than 64 MiB nothing is shared, with 0 nothing is kept at all.
        huge_pages: Whether arrays of 3 MiB and more ask the system for huge pages. They are about twice as fast to
            fill, where the system has such pages at hand.
        schema: For Avro files, the schema that their values are to be read as, as JSON or what JSON is made of: fields by its
            names (or their aliases) and in its order, numbers promoted, fields that the file lacks by their defaults. Fields
            that it does not name are stepped over. A ``pathlib.Path`` is a file with such JSON. By default values are read
            as they were written. For ProtoBuf files, the types of their messages: the path or the text of a ``.proto`` file,
            the path or the bytes of a set of descriptors, or a message class or a module of the ``protobuf`` package. For
            JSON, the type of an entry: a schema of Arrow or polars, a type or a Form of Awkward Array (or its text), a
            schema of Avro, or one of JSON Schema. What it does not name is stepped over: there, only quotes and brackets
            are looked at.
        message: For ProtoBuf files, the full name of the type of the messages. It is not needed for a message class, nor where
            the schema has only one type that no other has a field of. With it, a file with any name is one of ProtoBuf.
        framing: For ProtoBuf files, what is around the messages: ``"delimited"`` for lengths as variable integers before them
            (the default), ``"fixed32"`` or ``"fixed32-big"`` for lengths of four bytes, ``"single"`` for a file that is one
            message, ``"hepmc3"`` for the events of a file of HepMC3, which is recognised and needs no schema.
        rows: For ProtoBuf files that are one message, the repeated field of it whose messages are the rows; with slashes,
            such a field in these.
        times_as_records: For ProtoBuf files, whether ``google.protobuf.Timestamp`` and ``Duration`` are records of seconds
            and nanoseconds. By default they are times in nanoseconds, and one that 64 bits cannot hold is an error.
        enums: For ProtoBuf files, whether enums are their ``"names"`` or their ``"numbers"``.
        recursion: For ProtoBuf files, how often a message type is read within itself: then messages nested deeper are an
            error. Without it such a field is refused.
        skip_damaged: For Avro files, whether blocks that cannot be read are left out instead of being an error. All blocks
            are read once to find out; `Tree.damage` says which they are.
        recover: For ROOT files that were not closed: whether to walk from record to record and take the objects that are there,
            whatever the directories of the file say. What was found is a `RecoveryWarning`, and in `File.recovered`.
        row_groups: For Parquet files, the numbers of the row groups that are the table, in this order; `Tree.row_groups` and
            `Tree.chunks` say what there is. By default all of them.
        int96: For Parquet files, the unit of times of the old type INT96: ``"ns"``, which covers the years 1677 to 2262 and of
            which others are an error, or ``"us"``, which covers all years and cuts off digits of nanoseconds.
        format: The format of the file, by its name or the ending of its files' names (``"CSV"``, ``"tsv"``). By default the
            first bytes of the file tell, and of text its name.
        types: For CSV files, types of columns by their names: ``"bool"``, ``"int64"``, ``"uint64"``, ``"float64"``, ``"date"``,
            ``"timestamp"`` or ``"string"``. A cell that does not have its column's type is an error. The types of other columns
            are found from all of their cells, so that each cell keeps its value.
        separator: For CSV files, the character between cells; by default a comma, or a tab where the name ends in ``.tsv``.
        header: For CSV files, whether the first line has the names of the columns; otherwise they are ``column_1`` and so on.
        unions: For JSON, whether values of different kinds in one place are a union. Otherwise their column is an
            `UnsupportedError` that names the place.
        parse_dates: For JSON, whether texts that are all dates, or all times, in ISO form are columns of dates or times.
        check_text: For Avro and Parquet files, whether text that is not UTF-8 is an error, with the field and the entry.
            Otherwise the bytes are kept: Awkward Array and NumPy have them, and pandas, polars and Arrow, which have no text
            but UTF-8, the replacement character U+FFFD. ROOT does not say how text is encoded: there the bytes are always
            kept, and without ``check_text=False`` only pandas, polars and Arrow refuse them.
        text: The treatment of text that is not UTF-8, in all formats and for all libraries: ``"strict"`` as ``check_text``
            says; ``"latin-1"`` decodes each string that is not UTF-8 as Latin-1, ``"replace"`` puts U+FFFD in the place of
            the bytes that are not valid, ``"ignore"`` leaves these out, and ``"bytes"`` gives all text as byte strings.
        times_as_integers: Whether dates, times and lengths of time are the whole numbers that they are stored as, for all
            libraries and in expressions.
        storage_options: For URLs, how the store is reached: ``timeout`` (seconds without a byte after which a request is given
            up, 30), ``connect_timeout`` (seconds, 10), ``retries`` (of requests that fail in passing, 4), ``headers`` for
            HTTP, and the options of the store, such as ``key``, ``secret``, ``endpoint_url``, ``region`` and ``anon`` of S3.
            The environment's variables such as ``AWS_ACCESS_KEY_ID`` count, too. Credentials are never in an error or a pickle.
            For other schemes, the options of fsspec.
        checksums: For ROOT files, whether the checksums of RNTuples are verified: of the anchor, of metadata and of each page
            that is read.
        index: An index that `forthwith.index` made, which has the metadata of the file, so that nothing but data is read: its
            path or URL, or the folder with it (a name that ends in ``/``, or a folder that is there); ``True`` for one beside
            the file, under its name with ``.fwi``. Where a folder has none for a file, the file is opened without. An index
            that is damaged, of another file or of another state of the file is an error.
        missing: Where several files have not the same branches, as `Chain` takes it. One file lacks nothing.
        unknown: Anything else is refused.

    Returns:
        The `File`, or the `Directory` or `Tree` asked for. A file that holds one table and nothing else, as those of Avro and
        Parquet, is that `Tree`; its ``file`` is the `File`.

    Raises:
        MissingFileError: There is no such file (also a ``FileNotFoundError``).
        KeyInFileError: The file has no such object (also a ``KeyError``).
        DamagedFileError: It is no file of a known format, or damaged (also a ``ValueError``).
        UnsupportedError: The object is of a class that cannot be read yet (also a ``NotImplementedError``).
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
