"""The compiled part of forthwith: files, tables and arrays of the Rust crates.

The package `forthwith` is built on this module, which is not for direct use. Calls that read or compute
release the interpreter. Objects may be shared between threads.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, SupportsFloat, SupportsIndex, TypedDict, final, type_check_only

from typing_extensions import disjoint_base

from forthwith._errors import ForthRunError

__all__ = [
    "Array",
    "ArrayBuilder",
    "AvroWriter",
    "Block",
    "Buffer",
    "ColumnForm",
    "ColumnType",
    "Description",
    "Desk",
    "Field",
    "Fields",
    "File",
    "Given",
    "GivenBatches",
    "Items",
    "Key",
    "Layout",
    "Machine",
    "Objects",
    "Plan",
    "RawBlock",
    "Stored",
    "Table",
    "TableWriter",
    "TypedArrayBuilder",
    "BatchReader",
    "ChainReader",
    "__version__",
    "avro_apart",
    "avro_canonical",
    "avro_damage",
    "avro_encode",
    "avro_encode_rows",
    "avro_is_alike",
    "avro_joined",
    "avro_messages",
    "avro_schema",
    "command",
    "count_entries",
    "diff_files",
    "diff_tables",
    "divide_alike",
    "efficiency_errors",
    "efficiency_values",
    "emptied_array",
    "emptied_axes",
    "emptied_sums",
    "expand_files",
    "partitions",
    "expand_stored",
    "make_index",
    "redact",
    "found_rows",
    "from_iter",
    "give_all",
    "ntuple_descriptor",
    "ntuple_envelopes",
    "optimised",
    "parquet_chunks",
    "parquet_row_groups",
    "prepare",
    "protobuf_column",
    "protobuf_messages",
    "protobuf_schema",
    "register_class",
    "register_format",
    "registered_endings",
    "registered_formats",
    "root_directory",
    "root_key",
    "root_merge",
    "root_streamers",
    "rows_of",
    "safe_lines",
    "safe_text",
    "split_name",
    "summaries",
    "unregister_format",
    "RootWriter",
    "Selection",
    "Zones",
    "expression_names",
    "read_alike",
    "read_schemas",
    "same_schemas",
]

__version__: str
"""The version of the package."""

optimised: bool
"""Whether this is an optimised build, rather than one for development."""

def command(args: Sequence[str], width: int | None = None) -> int:
    """Runs a command line, which begins with the name of the program, and returns the exit code.

    Uses the streams of the process, independently of ``sys.stdout``. ``width`` is the width of the terminal
    in characters, or ``None`` without a terminal.
    """

@final
class Buffer:
    """Items of one type in memory. ``numpy.asarray`` returns a view of them, which keeps them alive."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3."""
    @property
    def typestr(self) -> str:
        """NumPy's type string of an item, such as ``<f4``."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    @property
    def counts_up(self) -> bool:
        """Whether the items are the 64-bit integers 0, 1, 2, …: an index without missing rows."""
    @property
    def writable(self) -> bool:
        """Whether the memory is writable, that is, not a view of a file."""
    def __len__(self) -> int: ...

@type_check_only
class ArrowChoices(TypedDict):
    """Options of an Arrow export."""

    maps: bool
    union_as_struct: bool
    strings: str | None
    dictionaries: Sequence[str]
    keep_dictionaries: bool
    request: object | None

@final
class Array:
    """A Form and its buffers: the arguments of ``ak.from_buffers``."""

    @property
    def form(self) -> str:
        """The Form as Awkward Array's JSON."""
    @property
    def type_string(self) -> str:
        """The type of an entry, such as ``var * float32``."""
    @property
    def nbytes(self) -> int:
        """Size of all buffers in bytes."""
    def buffers(self) -> list[tuple[str, Buffer]]:
        """The buffers by their keys, such as ``node0-offsets``."""
    def numbers(self) -> Buffer | None:
        """Returns the only buffer of an array of numbers without a logical type; otherwise ``None``."""
    def layout(self) -> Any:
        """Returns the layout that ``ak.from_buffers`` would create. Requires Awkward Array."""
    def logical(self, *, decimals: bool = True) -> Array:
        """Returns the array with times as ``datetime64`` and ``timedelta64``, and halves as ``float16``.

        With ``decimals``, decimals of up to 18 digits become integers, scaled by the power of ten in the
        parameter ``logical``; others stay bytes. For export to Arrow, use the array itself.
        """
    def objects(self, *, whole_nanoseconds: bool = False, tagged: bool = False) -> list[Any]:
        """Returns the values as Python objects.

        With ``whole_nanoseconds``, times in nanoseconds are integers. With ``tagged``, values of unions are
        pairs of tag and value.
        """
    def arrow(self, *, maps: bool = False, union_as_struct: bool = False, views: bool = False) -> tuple[object, object]:
        """Exports to capsules of schema and data, with Arrow maps, structs for unions, and text as views."""
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Arrow's protocol: capsules of schema and data. A requested schema is ignored."""
    def __len__(self) -> int: ...

@final
class File:
    """An open file."""

    @staticmethod
    def open(
        path: str | os.PathLike[str],
        source: str = "auto",
        threads: int | None = None,
        memory: int | None = None,
        pool: int | None = None,
        huge_pages: bool = True,
        options: dict[str, Any] | None = None,
        store: list[tuple[str, str]] | None = None,
        index: bool | str | None = None,
    ) -> File:
        """Opens a path or a URL.

        ``source`` is ``"auto"``, ``"map"`` or ``"pread"``; ``options`` are for the format, and ``store`` for
        the store of a URL. ``index`` is the name of an index or of its folder, or ``True`` for the one beside
        the file.
        """
    @staticmethod
    def from_object(
        object: Any,
        name: str,
        threads: int | None = None,
        memory: int | None = None,
        pool: int | None = None,
        huge_pages: bool = True,
        options: dict[str, Any] | None = None,
        index: bool | str | None = None,
    ) -> File:
        """Opens an object with ``seek`` and ``read``, which are called by one thread at a time."""
    @property
    def uri(self) -> str:
        """Path, URL or name of the file."""
    @property
    def format(self) -> str:
        """Name of the format, such as ``"ROOT"`` or ``"Avro"``."""
    @property
    def version(self) -> str:
        """The version of the software that wrote the file."""
    @property
    def compression(self) -> str:
        """The compression of new objects."""
    @property
    def header(self) -> dict[str, int]:
        """The numbers of the header, by the format's own names."""
    @property
    def identity(self) -> str | None: ...
    @property
    def uuid(self) -> str | None:
        """The UUID, or ``None`` without one."""
    @property
    def size(self) -> int:
        """Size in bytes."""
    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
    @property
    def recovered(self) -> dict[str, Any] | None:
        """The report of a recovery; ``None`` if the file was not recovered."""
    def close(self) -> None:
        """Closes the file."""
    def keys(self, directory: str, recursive: bool) -> list[Key]:
        """Returns the objects in a directory (``""`` is the top one), in the order of the file."""
    def find(self, path: str) -> Key:
        """Finds the object ``dir/name;cycle``, by default with the highest cycle."""
    def locate(self, path: str) -> tuple[str, str | None]:
        """Returns the path of the object that a path names, and the field if it continues into a table."""
    def table(self, path: str) -> Table:
        """Opens a table."""
    @property
    def is_of_registered_format(self) -> bool:
        """Whether the format was registered, rather than built in."""
    @property
    def is_one_table(self) -> bool:
        """Whether the file is a single table."""
    def object(self, path: str) -> Objects:
        """Reads an object with all objects that it refers to."""
    def metadata(self) -> list[tuple[str, bytes]]:
        """Returns the metadata of the file, in its order."""
    def user_metadata(self) -> list[tuple[str, bytes]]:
        """Returns the metadata without entries that belong to the format itself."""

@final
class Objects:
    """The objects of one record by their numbers; 0 is the object of the key.

    Values that are not of Python's own types are created by a ``maker`` with the methods ``object(number)``,
    ``array(data, typestr, shape)``, ``elsewhere(position)`` and ``unread(data)``.
    """

    @property
    def payload_bytes(self) -> int:
        """Size of the decompressed record in bytes."""

    def __len__(self) -> int: ...
    def classname(self, number: int) -> str:
        """Returns the C++ class."""
    def version(self, number: int) -> int:
        """Returns the version of the class; 0 without one."""
    def kind(self, number: int) -> str:
        """Returns ``"members"``, ``"items"`` (collection), ``"value"`` (string or array) or ``"opaque"``."""
    def fault(self, number: int) -> str | None:
        """Returns the reason why an object is opaque because of an error; otherwise ``None``."""
    def raw(self, number: int) -> bytes:
        """Returns the stored bytes of the object."""
    def names(self, number: int) -> list[str]:
        """Returns the names of the members, those of bases first."""
    def labels(self, number: int, begin: int, end: int) -> list[str] | None:
        """Returns unique labels of the members in these slots; ``None`` if their names differ."""
    def value(self, number: int, slot: int, maker: Any) -> Any:
        """Returns the value of a member."""
    def inner(self, number: int, maker: Any) -> Any:
        """Returns the contents of a string or array."""
    def items(self, number: int, maker: Any) -> list[Any]:
        """Returns the objects of a collection; for a map, keys and values alternate."""
    def collection_name(self, number: int) -> str | None:
        """Returns the name of a collection."""
    def bases(self, number: int) -> list[tuple[str, int, int, int, int]]:
        """Returns class, version, first slot, slot after the last, and depth of inheritance of each base."""
    def faults(self) -> list[tuple[str, str]]:
        """Returns class and reason of each value that could not be read."""
    def leftovers(self) -> list[tuple[str, int, int]]:
        """Returns class, position and length of each sequence of undescribed bytes."""

def give_all(object: Any, name: str, data: bytes) -> None:
    """Writes bytes with ``write`` of an object; an error has the number of accepted bytes."""

def prepare() -> None:
    """Initialises process-wide state. Called before each fork."""

def safe_lines(text: str) -> str:
    """Returns a text for display, with each line escaped as by `safe_text`."""

def safe_text(text: str) -> str:
    r"""Returns text of a file for display, with control characters escaped as in ``\u{9b}``."""

def register_format(
    name: str,
    program: str,
    described: str,
    magic: bytes,
    endings: Sequence[str],
    *,
    recognised: Callable[[bytes, str], bool] | None = None,
    header: int | None = None,
    entry_bytes: int | None = None,
    blocks: tuple[int, int] | None = None,
    listed: Callable[[Stored], list[tuple[int, int, int]]] | None = None,
    replace: bool = False,
) -> None:
    """Registers a user-defined format: see `forthwith.register_format`."""

def unregister_format(name: str) -> bool:
    """Unregisters a format; returns whether it was registered."""

def registered_endings() -> list[str]:
    """Returns the file extensions of registered formats, without the dot."""

def registered_formats() -> list[str]:
    """Returns the names of registered formats, the last one first."""

@final
class Stored:
    """The bytes of a file whose blocks are being listed."""

    @property
    def uri(self) -> str:
        """Path or URL."""
    def size(self) -> int:
        """Returns the size of the file in bytes."""
    def read(self, start: int, count: int) -> bytes:
        """Reads ``count`` bytes, or fewer at the end of the file."""

def register_class(name: str, members: Sequence[tuple[str, str]] | None, framed: bool = True) -> bool:
    """Registers a class; without members, unregisters it and returns whether it was registered."""

def root_key(file: File, path: str) -> tuple[int, int, int, int, int, int]:
    """Returns bytes of record and key, positions of record and directory, time of writing, and version."""

def root_directory(file: File, path: str) -> tuple[int, int, int, int, int, int, int, int]:
    """Returns the fields of a directory's record; an empty path is the top directory.

    These are the version, times of creation and modification, bytes of the list of keys and of the name, and
    the positions of the directory, its parent and the list of keys.
    """

def root_streamers(
    file: File,
) -> list[
    tuple[
        str,
        int,
        int,
        list[
            tuple[
                str,
                str,
                str,
                str,
                int,
                int,
                int,
                list[int],
                int | None,
                int,
                tuple[int, str, str] | None,
                tuple[int, int] | None,
            ]
        ],
    ]
]:
    """Returns class, version, checksum and elements of each streamer info.

    An element has its class, name, type and comment; the type code of ROOT, size, array length and
    dimensions; version and checksum of a base; version, name and class of a counter; kind and item code of a
    container.
    """

def ntuple_descriptor(table: Table) -> str:
    """Returns the contents of header, footer and page lists of an RNTuple as JSON."""

def ntuple_envelopes(table: Table) -> list[bytes]:
    """Returns header and footer of an RNTuple, decompressed, with their checksums."""

def emptied_axes(objects: Objects, number: int, file: str, path: str) -> list[tuple[int, float, float] | None]:
    """Returns bins and edges of axes that change when buffered entries are filled; ``None`` for others.

    This function and the next four take the number of an object, and the file and path for errors. Arrays are
    returned as bytes in native byte order, with one number for each bin, including underflow and overflow;
    the first axis varies fastest.
    """

def emptied_array(objects: Objects, number: int, name: str, file: str, path: str) -> tuple[str, bytes] | None:
    """Returns dtype and numbers of ``"contents"`` or a member after the fill; ``None`` if not stored."""

def emptied_sums(objects: Objects, number: int, file: str, path: str) -> dict[str, float]:
    """Returns the sums over all entries after buffered entries are filled, by the names of members."""

def efficiency_values(objects: Objects, number: int, file: str, path: str) -> bytes:
    """Returns the efficiency of each bin."""

def efficiency_errors(objects: Objects, number: int, level: float | None, file: str, path: str) -> tuple[bytes, bytes]:
    """Returns the distances to both ends of each confidence interval, by default at the object's level."""

@final
class Key:
    """An object of a file."""

    @property
    def path(self) -> str:
        """Path from the listed directory, without the cycle."""
    @property
    def name(self) -> str:
        """Name of the object."""
    @property
    def cycle(self) -> int:
        """Version number of objects with the same name."""
    @property
    def classname(self) -> str:
        """Class of the object."""
    @property
    def title(self) -> str:
        """Title of the object."""
    @property
    def stored_bytes(self) -> int:
        """Stored size in bytes."""
    @property
    def object_bytes(self) -> int:
        """Decompressed size in bytes."""
    @property
    def is_directory(self) -> bool:
        """Whether the object is a directory."""
    @property
    def is_table(self) -> bool:
        """Whether `File.table` opens the object."""
    @property
    def is_unsupported_table(self) -> bool:
        """Whether the object is a table of an unsupported kind."""

@final
class Zones:
    """Paths and types of fields with timestamps in a time zone."""

    def __len__(self) -> int: ...

@final
class Table:
    """A table of a file."""

    @property
    def path(self) -> str:
        """Path in the file."""
    @property
    def is_record(self) -> bool:
        """Whether entries are records, whose fields are the columns."""
    @property
    def title(self) -> str:
        """Title of the table."""
    @property
    def classname(self) -> str:
        """Class of the table."""
    @property
    def words(self) -> list[str]:
        """The format's terms for a table, a column, columns, a block and blocks."""
    @property
    def entries(self) -> int:
        """Number of entries. For Avro, all blocks of the file are located first."""
    def sound(self) -> tuple[Table, list[tuple[int, int, int, str]]]:
        """Returns the table without undecodable parts, and these: entries before, block, byte and error."""
    def with_constants(self, constants: Sequence[tuple[str, str | None, bool, bool]]) -> Table:
        """Returns the table with constant columns, as from `partitions`, after those of the file."""
    def zones(self) -> Zones:
        """Returns the fields with timestamps in a time zone."""
    def in_zones_of(self, zones: Zones) -> Table:
        """Returns the table with timestamps in the time zones of another table, and otherwise in UTC."""
    def arrow_schema(self) -> object | None:
        """Returns the Arrow schema that the table was written from as a capsule; ``None`` if not stored."""
    def dictionary(self, field: int) -> Array | None:
        """Returns the distinct texts of a column in the order of its categories; ``None`` if not stored."""
    @property
    def is_stream(self) -> bool: ...
    def likely_entries(self) -> int: ...
    def entries_up_to(self, most: int) -> int:
        """Returns the number of entries, at most ``most``; no more blocks are counted than needed."""
    def fields(self) -> Fields:
        """Returns all fields in the order of the file, parents before their children."""
    def find(self, name: str) -> int:
        """Returns the position of a field by its path, or by its name if that is unique."""
    def found(self, name: str) -> int | None:
        """Returns the position of a field as `find`, or ``None`` without such a field."""
    def describe(self, field: int, most: int | None = None) -> Description:
        """Describes how a field is read, or why it cannot be. At most ``most`` entries are counted."""
    def column_type(self, field: int) -> ColumnType:
        """Returns the type of a field: the same object for fields of one type, up to a number of types."""
    def column_form(self, field: int) -> ColumnForm | None:
        """Returns the type of a field's values; ``None`` if it cannot be read."""
    def entry_range(self, field: int, most: int | None = None) -> tuple[int, int]:
        """Returns the entries of a field: a branch can begin later or end earlier than its tree.

        The range is exact up to the entry ``most``.
        """
    def plan(self, fields: Sequence[int], start: int, stop: int, *, bits: bool = False, views: bool = False) -> Plan:
        """Returns the plan to read these fields of these entries.

        With ``bits``, missing values are validity bits, and with ``views``, text is views, for export to
        Arrow.
        """
    def plan_raw(self, fields: Sequence[int], start: int, stop: int) -> Plan:
        """Returns the plan for `raw`, with one task for each stored block."""
    def read(
        self,
        plan: Plan,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> list[Array]:
        """Reads a plan; returns one array for each field.

        ``progress`` is called with blocks read, all blocks, bytes read and all bytes: at the start, at the
        end, and about every 50 ms.
        """
    def attribute_sets(self) -> list[str]:
        """Returns the names of tables whose rows describe ranges of entries of this table."""
    def aliases(self) -> list[tuple[str, str]]:
        """Returns the names that the file defines for expressions, with their expressions."""
    def friends(self) -> list[tuple[str, str, str, str | None]]:
        """Returns the friends of the table.

        Each has name, file (empty for this one) and path, and the path of the file relative to the folder of
        this file (empty for the same file), or ``None`` if it is outside of that folder.
        """
    def index_names(self) -> tuple[str, str] | None:
        """Returns the expressions of the two numbers of the table's index; ``None`` without an index."""
    def select(
        self,
        columns: Sequence[tuple[str, int | None]],
        aliases: Sequence[tuple[str, str]],
        cut: str | None = None,
        entries: bytes | None = None,
        friends: Sequence[tuple[str, Sequence[Table], int]] = ...,
        united: Sequence[tuple[str, int | None, Array | ColumnForm, bool]] = ...,
        before: int = 0,
    ) -> Selection:
        """Selects columns, as fields or expressions, of entries that pass the filter.

        ``entries`` are 64-bit integers in native byte order. ``friends`` are names, the tables of a friend in
        order, and the number of their entries that belong to preceding tables. ``united`` are columns with
        their fields if this table has them, their type in several tables or an array of it, and whether some
        tables lack them. ``before`` is the number of entries of preceding tables. All types are checked.
        """
    def raw(self, plan: Plan, task: int) -> RawBlock:
        """Reads a block of a plan and decompresses it, without decoding."""
    def boundaries(self, fields: Sequence[int], start: int, stop: int) -> list[int]:
        """Returns the entries at which blocks of some fields begin, and both ends of the range."""
    def steps(
        self,
        fields: Sequence[int],
        start: int,
        stop: int,
        entries: int | None = None,
        bytes: int | None = None,
    ) -> list[tuple[int, int]]:
        """Divides a range of entries into steps of a number of entries, or of about a number of bytes."""
    def divide(
        self, fields: list[int], *, entries: int | None = None, bytes: int | None = None, align: bool = True
    ) -> tuple[list[tuple[int, int]], int, int, int, str | None]:
        """Divides the table into partitions of about the given size, or into one.

        Returns:
            The entries of each partition, stored bytes of all fields, entries of the table, size and identity of the
            file.
        """
    def batches(
        self,
        fields: Sequence[int],
        start: int,
        stop: int | None,
        entries: int | None = None,
        bytes: int | None = None,
    ) -> BatchReader:
        """Reads fields in steps, computed during the read; ``None`` as ``stop`` means the end."""
    def schema(self, names: Sequence[str], fields: Sequence[int], *, choices: ArrowChoices) -> object:
        """Returns the Arrow schema of some fields as a capsule."""
    def stream(
        self,
        names: Sequence[str],
        fields: Sequence[int],
        reader: BatchReader,
        threads: int | None = None,
        *,
        choices: ArrowChoices,
    ) -> object:
        """Returns fields as a capsule of an Arrow stream, which reads one step per batch."""

@final
class Selection:
    """Stored and computed columns of selected entries of a table."""

    @property
    def fields(self) -> list[int]:
        """The fields that are read."""
    @property
    def chooses_entries(self) -> bool:
        """Whether entries may be excluded."""
    def types(self) -> list[str]:
        """Returns the type of each column."""
    def promising(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Returns the parts of a range in which the filter may hold according to the file's statistics."""
    def read(
        self,
        start: int,
        stop: int,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[list[Array], Buffer | None]:
        """Reads a range; returns an array for each column, and their entries if some may be excluded."""
    def read_around(
        self,
        start: int,
        stop: int,
        nulls: bool,
        bits: bool,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[list[Array], Buffer | None, list[tuple[int, int, Any]]]:
        """Reads a range as `read` does, around damage or with missing values in its place.

        Also returns the ranges of lost entries, each with the exception that is the reason.
        """
    def batches(
        self, start: int, stop: int | None, entries: int | None = None, bytes: int | None = None
    ) -> BatchReader:
        """Reads in steps; ``None`` as ``stop`` means the end of the table."""
    def schema(self, *, choices: ArrowChoices) -> object:
        """Returns the Arrow schema as a capsule."""
    def stream(self, reader: BatchReader, threads: int | None = None, *, choices: ArrowChoices) -> object:
        """Returns a capsule of an Arrow stream, which reads one step of the reader for each batch."""

def expression_names(text: str) -> list[str]:
    """Returns the names in an expression; raises an error for an invalid one."""

@final
class BatchReader:
    """Reader of the steps of one table. Small steps are read together and returned one by one."""

    def read(
        self,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[int, int, list[Array], Buffer | None] | None:
        """Reads the next step: its first entry, the one after its last, and an array for each column.

        The last item is the entries of the arrays, if some may be excluded. Returns ``None`` after the last
        step.
        """

    def skip(self) -> tuple[int, int] | None:
        """Skips the next step; returns its first entry and the one after its last, or ``None`` at the end."""

@final
class ChainReader:
    """Reader of the steps of a chain, whose columns are resolved once for each schema."""

    def __new__(
        cls,
        parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
        aliases: list[tuple[str, str]],
        cut: str | None = None,
        chosen: bytes | None = None,
        start: int = 0,
        stop: int | None = None,
        *,
        entries: int | None = None,
        bytes: int | None = None,
        bits: bool = False,
        returns_empty: bool = False,
        file_entries: tuple[int | None, int | None] | None = None,
        errors: str = "raise",
        options: dict[str, Any] | None = None,
        store: list[tuple[str, str]] | None = None,
    ) -> Self: ...
    def read(
        self,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> (
        tuple[
            int,
            int,
            tuple[int | None, str, str, int, int, list[Array], Buffer | None, list[tuple[int, int, Any]]] | None,
        ]
        | None
    ):
        """Reads the next step; returns ``None`` after the last.

        The result is the number of the file, the entries of preceding files, and the step: the number of the
        file's schema if it is remembered, the file, the table in it, the first entry and the one after the
        last, relative to the file; arrays, their entries if some may be excluded, and lost ranges with
        exceptions. The step is ``None`` for a file with an unknown schema, for which `begin_like`, `begin` or
        `skip` is to be called.
        """

    def begin_like(
        self,
        table: Table,
        columns: list[tuple[str, int | None]],
        united: list[tuple[str, int | None, ColumnForm, bool]],
        *,
        expressions: tuple[list[tuple[str, str]], str | None] | None = None,
        payload: tuple[int, list[int]] | None = None,
        has_type_names: bool = False,
    ) -> tuple[int, list[int]]:
        """Reads the returned file, and later files with the same fields in the same types.

        Args:
            table: The table of the file.
            columns: Labels, and the positions of fields; ``None`` for computed columns.
            united: Columns with their common type in several files.
            expressions: Aliases and filter that replace those of the chain.
            payload: Decompressed bytes of a step, and the fields that count, by the average of each file.
            has_type_names: Whether names of types also have to be equal.

        Returns:
            The number of the schema, and the numbers of forgotten schemas, whose files may be closed.
        """

    def begin(self, selection: Selection) -> None:
        """Reads only the returned file, with a selection of its table."""

    def skip(self, entries: int) -> None:
        """Skips the returned file, which has ``entries`` entries."""

    def read_beside(
        self,
        columns: list[tuple[str, int | None]],
        united: list[tuple[str, int | None, ColumnForm, bool]],
        start: int,
        stop: int,
        *,
        bits: bool = False,
        threads: int | None = None,
    ) -> list[Array]:
        """Reads other columns of the last step's file, given as for `begin_like`."""

    def entries_before(self) -> int:
        """Returns the entries of the files before the current one, or of all files after the last step."""

    def likely_entries(self) -> int:
        """Returns the number of entries of the current file, which may be an estimate."""

@final
class Fields:
    """The fields of a table, each created on access."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Field: ...
    def members(self) -> list[tuple[str, int]]:
        """Returns path and position of each field that is not a part of another field."""
    def parents(self) -> list[int | None]:
        """Returns the position of the parent of each field."""

@final
class Field:
    """A field of a table."""

    @property
    def path(self) -> str:
        """Path from the table, joined by ``/``."""
    @property
    def name(self) -> str:
        """Name of the field."""
    @property
    def title(self) -> str:
        """Title of the field."""
    @property
    def parent(self) -> int | None:
        """Position of the parent; ``None`` at the top level."""
    @property
    def has_children(self) -> bool:
        """Whether the field has children."""
    @property
    def has_data(self) -> bool:
        """Whether the field has data of its own."""
    @property
    def is_part(self) -> bool:
        """Whether the data are also in the parent. Such fields are read only by name."""

@final
class Desk:
    """Queue of requests to a file object, served by a Python thread; see `forthwith._file_objects`."""

    def next(self) -> tuple[int, int | None] | None:
        """Waits for a request: position and length, or ``None`` for the size. ``None`` ends the thread."""

    def answered(self, said: bytes | int) -> None:
        """Passes on the answer of the object."""

    def failed(self, error: BaseException) -> None:
        """Passes on the exception of the object."""

@final
class ColumnForm:
    """The type of the values of a column. ``str`` returns it in Awkward Array's notation."""

    @property
    def is_structured(self) -> bool:
        """Whether the type is more than numbers, booleans, text or dates, or lists of them."""
    def is_like(self, other: ColumnForm) -> bool:
        """Whether two types are equal except for missing values."""
    @staticmethod
    def unite(forms: Sequence[ColumnForm]) -> ColumnForm | None:
        """Returns the common type, with numbers promoted as by NumPy; ``None`` if there is none."""

@final
class ColumnType:
    """The type of a column, shared by columns of the same type."""

    @property
    def typename(self) -> str:
        """Name of the type, as in C++."""
    @property
    def form(self) -> str | None:
        """The Form as Awkward Array's JSON; ``None`` if such columns cannot be read."""
    @property
    def header(self) -> int | None:
        """Bytes before the values of an entry, if entries are lists of numbers."""

@final
class Description:
    """Description of how a field is read."""

    @property
    def typename(self) -> str:
        """Name of the type, as in C++."""
    @property
    def entries(self) -> int:
        """Number of entries of the field."""
    @property
    def blocks(self) -> int:
        """Number of blocks."""
    @property
    def stored_bytes(self) -> int:
        """Stored size in bytes."""
    @property
    def payload_bytes(self) -> int:
        """Decompressed size in bytes."""
    @property
    def problem(self) -> str | None:
        """The reason if the field cannot be read; otherwise ``None``."""
    @property
    def form(self) -> str | None:
        """The Form as Awkward Array's JSON."""
    @property
    def type_string(self) -> str | None:
        """The type of the resulting array."""
    @property
    def decoder(self) -> str | None:
        """``"kernel"`` or ``"program"``."""
    @property
    def layout(self) -> str | None:
        """A phrase about the layout that the decoder reads."""
    @property
    def reason(self) -> str | None:
        """The reason for the choice of the decoder."""
    @property
    def forth(self) -> str | None:
        """The source text, if the decoder is a program."""

@final
class Plan:
    """A plan to read some fields of a range of entries."""

    @property
    def entries(self) -> tuple[int, int]:
        """The range of entries."""
    @property
    def stored_bytes(self) -> int:
        """Number of bytes to read."""
    @property
    def can_choose(self) -> bool:
        """Whether entries of a block can be decoded individually."""
    def blocks(self) -> list[Block]:
        """Returns the blocks to decode, ordered by group and entry."""

@final
class Block:
    """A block of a plan."""

    @property
    def task(self) -> int:
        """Position of the task in the plan."""
    @property
    def group(self) -> int:
        """Position among the requested fields; higher numbers are fields that these need."""
    @property
    def block(self) -> int:
        """Number of the block in its field."""
    @property
    def entries(self) -> tuple[int, int]:
        """Entries in the block."""
    @property
    def wanted(self) -> tuple[int, int]:
        """Entries of the block to read."""
    @property
    def stored_bytes(self) -> int:
        """Stored size in bytes."""

@final
class RawBlock:
    """A block, decompressed but not decoded."""

    @property
    def entries(self) -> tuple[int, int]:
        """Entries in the block."""
    @property
    def view(self) -> bool:
        """Whether the bytes are a view of the mapped file."""
    @property
    def payload(self) -> Buffer:
        """The bytes of the entries."""
    @property
    def values(self) -> Buffer:
        """The payload as values in the byte order of the file, if entries consist of such values only."""
    @property
    def bounds(self) -> Buffer | None:
        """Offsets of the entries in the payload; ``None`` if all have the same size."""

@final
class Items:
    """Items of an output of a machine. ``numpy.asarray`` returns a view of them, which keeps them alive."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3."""
    @property
    def typestr(self) -> str:
        """NumPy's type string of an item, such as ``<f4``."""
    def __len__(self) -> int: ...

@final
class Machine:
    """An AwkwardForth machine, the basis of `forthwith.forth`.

    ``run``, ``resume``, ``step`` and ``call`` return the exception for an error of the program, and raise
    other errors.
    """

    def __new__(
        cls,
        source: str,
        bits: int,
        stack_size: int,
        recursion_depth: int,
        string_buffer_size: int,
        output_initial_size: int,
        output_resize_factor: float,
        tier: int | None = None,
        output_limit: int | None = None,
        literal_width: int = 32,
    ) -> Machine:
        """Compiles a program."""
    @property
    def source(self) -> str:
        """The source text."""
    @property
    def bytecodes(self) -> list[int]:
        """The bytecode."""
    @property
    def bytecodes_offsets(self) -> list[int]:
        """Offset of each segment."""
    @property
    def decompiled(self) -> str:
        """The program in canonical layout."""
    @property
    def dictionary(self) -> list[str]:
        """Names of user-defined words."""
    @property
    def cut_literals(self) -> list[tuple[int, int]]:
        """Line and column of each literal that exceeds its width."""
    def explain(self) -> str:
        """Describes which loops are compiled, and why others are not."""
    def word(self, name: str) -> list[int] | None:
        """Returns the bytecode of a user-defined word."""
    def string_at(self, number: int) -> str | None:
        """Returns the string literal of this number."""
    def is_variable(self, name: str) -> bool:
        """Whether the program has this variable."""
    def is_input(self, name: str) -> bool:
        """Whether the program has this input."""
    def is_output(self, name: str) -> bool:
        """Whether the program has this output."""
    def is_defined(self, name: str) -> bool:
        """Whether the program has this word."""
    def begin(self, inputs: Mapping[str, Any] | None = None) -> None:
        """Moves to the first instruction, with these inputs."""
    def begin_again(
        self, inputs: Mapping[str, Any] | None, reset_instruction: bool = True, clear_error: bool = False
    ) -> None:
        """Replaces the inputs, and optionally moves to the first instruction."""
    def reset(self) -> None:
        """Resets everything except the counters."""
    def run(self, inputs: Mapping[str, Any] | None = None) -> ForthRunError | None:
        """Calls ``begin`` and ``resume``."""
    def resume(self) -> ForthRunError | None:
        """Continues until the end, a pause or an error."""
    def step(self) -> ForthRunError | None:
        """Runs one instruction."""
    def call(self, word: str) -> ForthRunError | None:
        """Runs a user-defined word."""
    def stack_push(self, value: int) -> None:
        """Pushes a value."""
    def stack_pop(self) -> int:
        """Pops a value."""
    def stack_clear(self) -> None:
        """Empties the stack."""
    @property
    def stack(self) -> list[int]:
        """The stack, top last."""
    @property
    def variables(self) -> dict[str, int]:
        """The variables by name."""
    def variable(self, name: str) -> int | None:
        """Returns the value of a variable."""
    def outputs(self) -> list[tuple[str, Items]] | None:
        """Returns all outputs; ``None`` if the program has outputs and was not begun."""
    def output(self, name: str) -> Items | None:
        """Returns an output; ``None`` if the program was not begun."""
    def bind(self, description: str) -> tuple[str, int, list[tuple[str, str]]]:
        """Returns the outputs as buffers of a type: Form as JSON, number of rows, output of each buffer."""
    def describe(self) -> str:
        """Describes inputs, outputs and position in one line."""
    def input_position(self, name: str) -> int | None:
        """Returns the position in an input."""
    @property
    def is_ready(self) -> bool:
        """Whether the program was begun and has not ended with ``halt``."""
    @property
    def is_done(self) -> bool:
        """Whether the program is at its end."""
    @property
    def is_segment_done(self) -> bool:
        """Whether the current body is at its end."""
    @property
    def current_bytecode_position(self) -> int | None:
        """Position of the next instruction in the bytecode."""
    @property
    def current_recursion_depth(self) -> int | None:
        """Number of active words and bodies."""
    @property
    def current_instruction(self) -> str:
        """The next instruction."""
    @property
    def counters(self) -> tuple[int, int, int, int, bool]:
        """Instructions, reads, writes, nanoseconds, and whether the first three are exact."""
    def count_reset(self) -> None:
        """Sets all counters to zero."""

@disjoint_base
class TypedArrayBuilder:
    """The commands of `forthwith.TypedArrayBuilder`, which adds methods that need other packages."""

    def __new__(cls, description: str) -> Self:
        """Creates a builder of a type, or of a Form as JSON."""
    @property
    def typestr(self) -> str:
        """The type of the complete entries, with their number."""
    @property
    def source(self) -> str:
        """The AwkwardForth program that was generated for the type."""
    @property
    def _form(self) -> str: ...
    def null(self) -> None:
        """Appends a missing value."""
    def boolean(self, x: object) -> None:
        """Appends a boolean."""
    def integer(self, x: SupportsIndex) -> None:
        """Appends an integer, to a numeric column that can represent it."""
    def real(self, x: float) -> None:
        """Appends a floating-point number, to a column of floating-point or complex numbers."""
    def complex(self, x: object) -> None:
        """Appends a complex number."""
    def datetime(self, x: object) -> None:
        """Appends a date and time, in the column's unit, from NumPy, Python, or text that NumPy parses."""
    def timedelta(self, x: object) -> None:
        """Appends a duration, in the unit of the column, from NumPy, Python, or text that NumPy parses."""
    def bytestring(self, x: bytes | bytearray) -> None:
        """Appends a byte string."""
    def string(self, x: str) -> None:
        """Appends text."""
    def begin_list(self) -> None:
        """Begins a list."""
    def end_list(self) -> None:
        """Ends a list."""
    def begin_tuple(self, numfields: int) -> None:
        """Begins a tuple of ``numfields`` slots."""
    def index(self, i: int) -> Self:
        """Selects the slot of a tuple that the next value fills, in any order.

        For an indexed node (such as categories), appends a value that the node already has.
        """
    def end_tuple(self) -> None:
        """Ends a tuple. Slots without a value become null, if they are nullable."""
    def begin_record(self, name: str | None = None) -> None:
        """Begins a record; if a name is given, it has to match."""
    def field(self, key: str) -> Self:
        """Selects the field of a record that the next value fills, in any order."""
    def end_record(self) -> None:
        """Ends a record. Fields without a value become null, if they are nullable."""
    def tag(self, i: int) -> Self:
        """Selects the alternative of a union for the next value."""
    def append(self, obj: object) -> None:
        """Appends any value. If a part of it is refused, nothing is appended."""
    def extend(self, iterable: Iterable[object]) -> None:
        """Appends all items. If one is refused, none is appended. Arrays of numbers are appended at once."""
    def clear(self) -> None:
        """Removes all data."""
    def _snapshot(self) -> Layout: ...
    def __len__(self) -> int: ...

@disjoint_base
class ArrayBuilder:
    """The commands of `forthwith.ArrayBuilder`, which adds methods that need other packages."""

    def __new__(
        cls,
        *,
        behavior: object = None,
        attrs: object = None,
        initial: int = 1024,
        resize: float = 8.0,
    ) -> Self:
        """Creates an empty builder of unknown type."""
    @property
    def typestr(self) -> str:
        """The type of the complete entries, with their number."""
    @property
    def _form(self) -> str: ...
    def _snapshot(self) -> Layout: ...
    def _finish(self) -> Layout: ...
    def clear(self) -> None:
        """Removes all data, including open lists and records. The type remains."""
    def null(self) -> None:
        """Appends a missing value."""
    def boolean(self, x: object) -> None:
        """Appends a boolean."""
    def integer(self, x: SupportsIndex) -> None:
        """Appends an integer."""
    def real(self, x: SupportsFloat | SupportsIndex) -> None:
        """Appends a floating-point number."""
    def complex(self, x: object) -> None:
        """Appends a complex number."""
    def datetime(self, x: object) -> None:
        """Appends a date and time from NumPy, Python, or text that NumPy parses."""
    def timedelta(self, x: object) -> None:
        """Appends a duration from NumPy, Python, or text that NumPy parses."""
    def bytestring(self, x: bytes) -> None:
        """Appends a byte string."""
    def string(self, x: str) -> None:
        """Appends text."""
    def begin_list(self) -> None:
        """Begins a list. Later values are its items."""
    def end_list(self) -> None:
        """Ends a list."""
    def begin_tuple(self, numfields: int) -> None:
        """Begins a tuple of ``numfields`` slots."""
    def index(self, i: int) -> Self:
        """Selects the slot of a tuple that the next value fills, in any order."""
    def end_tuple(self) -> None:
        """Ends a tuple. Slots without a value become null."""
    def begin_record(self, name: str | None = None) -> None:
        """Begins a record, with an optional name of its class."""
    def field(self, key: str) -> Self:
        """Selects the field of a record that the next value fills, in any order."""
    def end_record(self) -> None:
        """Ends a record. Fields without a value become null."""
    def append(self, obj: object) -> None:
        """Appends any value. If a part of it is refused, nothing is appended."""
    def extend(self, obj: Iterable[object]) -> None:
        """Appends all items. If one is refused, the items before it remain."""
    def __len__(self) -> int: ...

@final
class Layout:
    """A Form and its buffers, with any node types of Awkward Array."""

    @property
    def form(self) -> str:
        """The Form as Awkward Array's JSON."""
    @property
    def type_string(self) -> str:
        """The type of an entry."""
    @property
    def nbytes(self) -> int:
        """Size of all buffers in bytes."""
    def buffers(self) -> list[tuple[str, Buffer]]:
        """The buffers by key. Complex numbers are two items, times int64, and half floats uint16."""
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Arrow's protocol; raises an error for types that Arrow does not support."""
    def __len__(self) -> int: ...

def partitions(
    files: Sequence[tuple[str | os.PathLike[str], str | os.PathLike[str]]],
) -> list[list[tuple[str, str | None, bool, bool]]]:
    """Returns Hive partition columns: name, value as text, whether integer, whether some files lack it.

    Each file is preceded by the pattern or folder that it was found by.
    """

def count_entries(
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    *,
    errors: str = "raise",
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> list[int] | None:
    """Returns the number of entries of each file; ``None`` if a file cannot be read."""

def divide_alike(
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    schemas: list[tuple[Table, list[int]]],
    *,
    entries: int | None = None,
    bytes: int | None = None,
    align: bool = True,
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> list[tuple[int, tuple[list[tuple[int, int]], int, int, int, str | None]] | None]:
    """Divides each file that matches a schema as `Table.divide` does; returns it with the schema's position.

    ``None`` for files with other fields or with an error.
    """

def same_schemas(
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    most: int | None = None,
    *,
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> list[int] | None:
    """Returns for each file the position of the first one with the same fields in the same types.

    ``None`` if more than ``most`` schemas differ, or if a file cannot be read.
    """

def read_alike(
    first: Table,
    columns: list[tuple[str, int | None]],
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    aliases: list[tuple[str, str]],
    cut: str | None = None,
    start: int = 0,
    stop: int | None = None,
    *,
    bits: bool = False,
    threads: int | None = None,
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> tuple[list[Array], Buffer | None, list[int | None]] | Literal["types", "unreadable"]:
    """Reads columns of all files: arrays, their entries if some may be excluded, entries per file if known.

    Columns are fields of the first table by their positions, or expressions. Returns ``"types"`` if the files
    do not have the same fields in the same types, and ``"unreadable"`` if a file cannot be read; reading that
    file raises the error. ``parts`` are the path of each file, the table in it, and its Hive partition
    columns.
    """

def read_schemas(
    schemas: list[tuple[Table, int, list[int | None], list[tuple[str, int | None, ColumnForm, bool]], int]],
    of_file: list[int],
    names: list[str],
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    aliases: list[tuple[str, str]],
    cut: str | None = None,
    start: int = 0,
    stop: int | None = None,
    *,
    bits: bool = False,
    threads: int | None = None,
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> tuple[list[tuple[int, int, list[Array], Buffer | None]], list[int | None]] | None:
    """Reads columns of files of several schemas; also returns the entries of each file if known.

    Each run of files of one group in which the columns have the same types is one result: the number of its
    first file, its first entry, arrays, and their entries if some may be excluded. Returns ``None`` if a file
    cannot be read; reading that file raises the error.

    Args:
        schemas: A table of each schema, the number of its file, the positions of fields, columns with their
        common type in several files, and the number of its group.
        of_file: The position of each file's schema.
        names: The labels of the columns.
        parts: The path of each file, the table in it, and its Hive partition columns.
        aliases: Names and expressions.
        cut: The filter expression.
        start: The first entry, counted over all files.
        stop: The entry after the last.
        bits: Whether missing values are validity bits.
        threads: The number of threads.
        options: Options for opening the files.
        store: Options of the store.
    """

def expand_files(names: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Returns the files of names, patterns and folders, in that order; each pattern and folder sorted."""

def redact(text: str) -> str:
    """Returns a text with user, password and query removed from its URLs."""

def make_index(path: str, index: bool | str, store: list[tuple[str, str]] | None) -> str:
    """Writes the index of a file by name, to a folder, or with ``True`` beside the file; returns its name."""

def expand_stored(pattern: str, store: list[tuple[str, str]] | None) -> list[str]:
    """Returns the URLs of stored objects that match a pattern, sorted."""

def split_name(text: str) -> tuple[str, str]:
    """Splits ``FILE:OBJECT``; without an object, the second part is empty."""

def from_iter(object: object, type: str | None = None, form: str | None = None, single: bool = False) -> Layout:
    """Builds an array of a known type from the items of an object, or from the object itself."""

def rows_of(
    labels: Sequence[str], columns: Sequence[list[Any] | Array], length: int, *, whole_nanoseconds: bool = False
) -> list[dict[str, Any]]:
    """Converts columns to rows, one dict each, with the values of `Array.objects`."""

def found_rows(object: object) -> Layout:
    """Builds columns for a writer, and discovers their type. Text and bytes are never converted."""

@final
class Given:
    """An array for a writer, from ``ak.to_buffers`` or Arrow."""

    def __new__(cls, form: str, length: int, buffers: Mapping[str, object]) -> Self:
        """Borrows the buffers of an array.

        Args:
            form: The Form, as Awkward Array's JSON.
            length: The number of rows.
            buffers: The buffers by their names: items in native byte order.
        """

    @staticmethod
    def from_arrow(stream: object) -> Given:
        """Imports all batches of a capsule of an Arrow stream as records of its columns."""

    @staticmethod
    def from_fields(names: Sequence[str], arrays: Sequence[Given]) -> Given:
        """Creates records from arrays of the same length."""

    def form_text(self) -> str:
        """Returns the Form in the notation of options for opening files."""

    def only(self) -> Given | None:
        """Returns the field of records with exactly one field; otherwise ``None``."""

    def types(self) -> list[tuple[str, str]]:
        """Returns names and types of the fields of records."""

    def times(self) -> list[tuple[str, str]]:
        """Returns names and types of the fields that contain dates or times."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Exports records as a stream of one batch, and other arrays as the one column ``value``."""

    @property
    def type_string(self) -> str:
        """The type of a row, such as ``"var * float32"``."""

    def __len__(self) -> int: ...

@final
class GivenBatches:
    """The batches of an Arrow stream, for writers that accept batches."""

    def __new__(cls, stream: object) -> Self:
        """Reads all batches of a capsule of an Arrow stream."""

    def __len__(self) -> int: ...

@final
class TableWriter:
    """A file of columns that is being written. The first array determines its columns."""

    def __new__(
        cls,
        path: str,
        memory: bool,
        format: str,
        codec: str | None,
        level: int | None,
        block_entries: int | None,
        dictionary: bool | None,
        metadata: Sequence[tuple[str, bytes]],
        store: list[tuple[str, str]] | None,
        schema: str | None = None,
        name: str | None = None,
        framing: str | None = None,
        not_numbers: str | None = None,
        cells: tuple[str | None, bool, str, str, bool] | None = None,
    ) -> Self:
        """Creates a writer; see `forthwith.parquet.writer`. With ``memory``, ``path`` is for errors only."""

    def write(self, array: Given) -> None:
        """Appends an array with the same fields as the first."""

    def write_batches(self, given: GivenBatches, is_last: bool) -> None:
        """Appends batches. ``is_last`` means that no further data follow."""

    def finish(self) -> tuple[int, int] | None:
        """Completes the file; returns entries and bytes, or ``None`` if nothing was written."""

    def bytes(self) -> bytes | None:
        """Returns the bytes of a complete file in memory; otherwise ``None``."""

    def abandon(self) -> None:
        """Discards the file."""

@final
class RootWriter:
    """A ROOT file that is being written."""

    def __new__(
        cls, path: str, how: str, compression: int | None, title: str, store: list[tuple[str, str]] | None
    ) -> Self:
        """Creates a file (``"recreate"``), also in memory (``"memory"``), or updates one (``"update"``)."""

    def compression(self) -> int:
        """Returns ROOT's compression setting of the file."""

    def mkdir(self, path: str) -> None:
        """Creates a directory and its parents."""

    def keys(self, path: str) -> list[tuple[str, str, int]] | None:
        """Returns class, name and cycle of each object of a directory; ``None`` without such a directory."""

    def remove(self, path: str, name: str, cycle: int) -> bool:
        """Removes an object. Returns whether it was a table that was being written, which ends."""

    def object(self, path: str, name: str, title: str, members: dict[str, Any]) -> None:
        """Writes an object from a dict of its members, with the class under ``_typename``."""

    def describe(self, from_: File) -> None:
        """Adds the streamer infos of another file."""

    def copy(self, path: str, name: str, title: str, objects: Objects, from_: File, /) -> None:
        """Copies an object of another file as it is stored there."""

    def tree(self, path: str, title: str, array: Given, options: dict[str, Any]) -> None:
        """Begins a tree with an array's columns, and writes it, with the options of ``_writable.options``."""

    def ntuple(self, path: str, array: Given, options: dict[str, Any]) -> None:
        """Begins an RNTuple with the columns of an array, and writes the array."""

    def reopen_ntuple(self, path: str, options: dict[str, Any]) -> tuple[int, list[tuple[str, str]]]:
        """Opens an RNTuple of the file; returns its number of entries, and its columns with their types."""

    def reopen_tree(self, path: str, options: dict[str, Any]) -> tuple[int, list[tuple[str, str]]]:
        """Opens a tree of the file; returns its number of entries, and its columns with their types."""

    def add_branches(self, path: str, array: Given, options: dict[str, Any]) -> None:
        """Adds the columns of an array to a tree of the file."""

    def add_fields(self, path: str, array: Given, fields: dict[str, dict[str, Any]]) -> None:
        """Adds fields with the types of an array's columns to an RNTuple."""

    def extend(self, path: str, array: Given) -> None:
        """Appends an array to a table."""

    def finish(self) -> int | None:
        """Completes the file; returns its size in bytes, or ``None`` if it was completed before."""

    def bytes(self) -> bytes | None:
        """Returns the bytes of a complete file in memory; otherwise ``None``."""

    def abandon(self) -> None:
        """Discards the file."""

@final
class AvroWriter:
    """An Avro file that is being written. The first array or row determines its columns."""

    def __new__(
        cls,
        path: str,
        memory: bool,
        schema: str | None,
        codec: str | None,
        level: int | None,
        block_bytes: int,
        block_entries: int | None,
        name: str | None,
        metadata: Sequence[tuple[str, bytes]],
        marker: Sequence[int] | None,
        append: bool,
        strict: bool,
        store: list[tuple[str, str]] | None,
    ) -> Self:
        """Creates a writer; see `forthwith.avro.writer`. With ``memory``, ``path`` is for errors only."""

    def write(self, array: Given) -> None:
        """Appends an array with the same fields as the first."""

    def write_rows(self, rows: Sequence[object]) -> None:
        """Appends rows of Python values, a list or tuple, encoded with the schema of the file."""

    def finish(self) -> tuple[int, int] | None:
        """Completes the file; returns entries and bytes, or ``None`` if nothing was written."""

    def bytes(self) -> bytes | None:
        """Returns the bytes of a complete file in memory; otherwise ``None``."""

    def abandon(self) -> None:
        """Discards the file."""

def avro_damage(table: Table) -> list[tuple[int, int, int, str]]:
    """Returns the skipped blocks of a table: block, first byte, byte after the last, reason."""

def parquet_row_groups(table: Table) -> list[tuple[int, int, int, int]]:
    """Returns row groups of a Parquet table: number, first entry, entry after the last, bytes."""

def diff_tables(
    left: Table, right: Table, comparison: Mapping[str, Any], progress: Callable[[int, int], object] | None = None
) -> str:
    """Compares two tables; returns the differences as JSON."""

def diff_files(
    left: File, right: File, comparison: Mapping[str, Any], progress: Callable[[int, int], object] | None = None
) -> str:
    """Compares two files; returns the differences as JSON."""

def summaries(
    selection: Selection,
    start: int,
    stop: int,
    quantiles: Sequence[float],
    top: int,
    distinct: int,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Summarises the columns of a selection; returns the summaries as JSON."""

def root_merge(
    inputs: Sequence[str],
    to: str,
    setting: int | None,
    common: bool,
    objects: set[str] | None,
    branches: set[str] | None,
    entries: Sequence[tuple[int, int]] | None,
    exist: bool,
    mask: int | None,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
    store: Sequence[tuple[str, str]] | None,
) -> list[tuple[str, int]]:
    """Merges the objects of several ROOT files into one; returns paths and entries of the trees."""

def parquet_chunks(table: Table, field: int) -> list[dict[str, Any]]:
    """Returns the metadata of the column chunks of a field; none for formats other than Parquet."""

def avro_schema(array: Given, name: str) -> str:
    """Returns the default schema of an array as JSON."""

def avro_canonical(schema: str) -> tuple[str, int]:
    """Returns the Parsing Canonical Form of a schema, and its fingerprint."""

def avro_is_alike(one: str, other: str) -> bool:
    """Whether both schemas encode values to the same bytes with the same meaning."""

def avro_encode(schema: str, array: Given, message: bool) -> list[bytes]:
    """Encodes the rows of an array as datums, or as messages."""

def avro_encode_rows(schema: str, rows: Sequence[object], message: bool, strict: bool) -> list[bytes]:
    """Encodes a list or tuple of rows of Python values as datums, or as messages."""

def avro_joined(schema: str, reader: str | None, data: bytes, count: int, text: str) -> Array:
    """Decodes ``count`` concatenated datums."""

def avro_apart(schema: str, reader: str | None, datums: list[bytes], text: str) -> Array:
    """Decodes a list of datums."""

def protobuf_messages(
    schema: str, message: str | None, messages: list[bytes | None], mapping: tuple[bool, bool, int], threads: int | None
) -> Array:
    """Decodes a list of messages, some of which may be missing."""

def protobuf_column(
    schema: str, message: str | None, column: Given, mapping: tuple[bool, bool, int], threads: int | None
) -> Array:
    """Decodes the messages in a column of bytes."""

def protobuf_schema(array: Given, message: str | None) -> str:
    """Returns the default schema of the columns of an array, as text."""

def avro_messages(schemas: Sequence[str], reader: str | None, messages: list[bytes]) -> list[tuple[Array, list[int]]]:
    """Decodes messages, grouped by schema; returns the array of each group, with their positions."""
