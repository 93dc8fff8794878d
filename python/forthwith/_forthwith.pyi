"""The compiled part of forthwith: files, tables and arrays as the Rust crates have them.

The package `forthwith` is made of these; they are not meant to be used directly. All calls that read or work release the
interpreter, all classes are immutable and may be shared between threads.
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
"""Whether this is a build for use, not one for development."""

def command(args: Sequence[str], width: int | None = None) -> int:
    """Carries out a command line (the program's name first) and returns the exit code.

    Prints to the streams of the process, whatever ``sys.stdout`` is. ``width`` is that of the terminal, ``None`` if there is
    none.
    """

@final
class Buffer:
    """Items of one type in memory; ``numpy.asarray`` takes it over without a copy and keeps it alive."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's protocol, version 3."""
    @property
    def typestr(self) -> str:
        """The type of an item, as NumPy writes it: ``<f4``."""
    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
    @property
    def counts_up(self) -> bool:
        """Whether this is an index of rows of which none is missing: the 64-bit integers 0, 1, 2 and so on."""
    @property
    def writable(self) -> bool:
        """Whether the memory is not a view of a file."""
    def __len__(self) -> int: ...

@type_check_only
class ArrowChoices(TypedDict):
    """Choices of consumers of Arrow data."""

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
        """The Form, in Awkward's JSON."""
    @property
    def type_string(self) -> str:
        """The type of an entry: ``var * float32``."""
    @property
    def nbytes(self) -> int:
        """Bytes in all buffers."""
    def buffers(self) -> list[tuple[str, Buffer]]:
        """The buffers by their keys: ``node0-offsets``."""
    def numbers(self) -> Buffer | None:
        """The numbers, if each row is one of them and nothing says that it means anything else; otherwise ``None``."""
    def layout(self) -> Any:
        """The Awkward layout that ``ak.from_buffers`` would make of them. Needs Awkward Array."""
    def logical(self, *, decimals: bool = True) -> Array:
        """The same with dates and times as ``datetime64`` and ``timedelta64``, and halves as ``float16``.

        Decimals in bytes become whole numbers of their last digit (the parameter ``logical`` says where the point is); those of
        more than 18 digits stay bytes, and all do if ``decimals`` is false. Arrow wants the array itself.
        """
    def objects(self, *, whole_nanoseconds: bool = False, tagged: bool = False) -> list[Any]:
        """The values as objects of Python.

        If asked for, times in nanoseconds are numbers, and values of unions pairs of the alternative's number and the value.
        """
    def arrow(self, *, maps: bool = False, union_as_struct: bool = False, views: bool = False) -> tuple[object, object]:
        """Capsules of the Arrow schema and the data, with maps as such, structs in place of unions, and texts as views."""
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Arrow's protocol: capsules of the schema and the data. A wish for another schema is not fulfilled."""
    def __len__(self) -> int: ...

@final
class File:
    """An opened file."""

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

        ``source`` is ``"auto"``, ``"map"`` or ``"pread"``, ``options`` are for the file's format, ``store`` for that of a URL.
        ``index`` is the name of an index or of its folder, or ``True`` for one beside the file.
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
        """Opens what an object with ``seek`` and ``read`` holds. It is asked by one thread at a time, not always this one."""
    @property
    def uri(self) -> str:
        """Its name."""
    @property
    def format(self) -> str:
        """``"ROOT"`` or ``"Avro"``."""
    @property
    def version(self) -> str:
        """The version of the software that wrote it."""
    @property
    def compression(self) -> str:
        """How new objects would be compressed."""
    @property
    def header(self) -> dict[str, int]:
        """The numbers of its header, under the format's own names."""
    @property
    def identity(self) -> str | None: ...
    @property
    def uuid(self) -> str | None:
        """Its UUID, if it has one."""
    @property
    def size(self) -> int:
        """Bytes."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    @property
    def recovered(self) -> dict[str, Any] | None:
        """The report of a recovery."""
    def close(self) -> None:
        """Lets the file go."""
    def keys(self, directory: str, recursive: bool) -> list[Key]:
        """The objects in a directory (``""`` is the topmost), in the order of the file."""
    def find(self, path: str) -> Key:
        """Finds ``dir/name;cycle``; without a cycle, the highest one."""
    def locate(self, path: str) -> tuple[str, str | None]:
        """The path of the object that a path means, and that of the field of a table if the path goes on to one."""
    def table(self, path: str) -> Table:
        """Opens a tree."""
    @property
    def is_of_registered_format(self) -> bool:
        """Whether the format was registered, and is not one that every process has."""
    @property
    def is_one_table(self) -> bool:
        """Whether the file is one table and nothing else."""
    def object(self, path: str) -> Objects:
        """An object with everything it points to."""
    def metadata(self) -> list[tuple[str, bytes]]:
        """The metadata of an Avro or Parquet file, in its order."""
    def user_metadata(self) -> list[tuple[str, bytes]]:
        """Those of them that are not the format's own."""

@final
class Objects:
    """The objects of one record by their numbers, of which 0 is the object of the key.

    A ``maker`` makes what is no plain value: it has the methods ``object(number)``, ``array(data, typestr, shape)``,
    ``elsewhere(position)`` and ``unread(data)``.
    """

    @property
    def payload_bytes(self) -> int:
        """How long the record is, decompressed."""

    def __len__(self) -> int: ...
    def classname(self, number: int) -> str:
        """The C++ class."""
    def version(self, number: int) -> int:
        """Its version; 0 if it has none."""
    def kind(self, number: int) -> str:
        """``"members"``, ``"items"`` (a collection), ``"value"`` (a string or an array) or ``"opaque"``."""
    def fault(self, number: int) -> str | None:
        """Why it is opaque, if it should not be."""
    def raw(self, number: int) -> bytes:
        """Its contents as they are stored."""
    def names(self, number: int) -> list[str]:
        """Names of its members, bases first."""
    def labels(self, number: int, begin: int, end: int) -> list[str] | None:
        """Unique labels of the members in these slots; ``None`` if their names differ."""
    def value(self, number: int, slot: int, maker: Any) -> Any:
        """One member's value."""
    def inner(self, number: int, maker: Any) -> Any:
        """The contents of a string or an array."""
    def items(self, number: int, maker: Any) -> list[Any]:
        """The objects of a collection; of a map, keys and values in turn."""
    def collection_name(self, number: int) -> str | None:
        """The name of a collection."""
    def bases(self, number: int) -> list[tuple[str, int, int, int, int]]:
        """Every base: class, version, first and last slot, and how far away it is."""
    def faults(self) -> list[tuple[str, str]]:
        """The members that could not be read: the class each is in, and why."""
    def leftovers(self) -> list[tuple[str, int, int]]:
        """Bytes behind what is known of an object: class, position, number."""

def give_all(object: Any, name: str, data: bytes) -> None:
    """Gives bytes to an object's ``write`` until it has taken all, or raises an error that says how many it took."""

def prepare() -> None:
    """Makes what a process makes once; done before each fork."""

def safe_lines(text: str) -> str:
    """As `safe_text` for each line of a text."""

def safe_text(text: str) -> str:
    r"""Text of a file as it may be shown: control characters and marks of direction appear as ``\u{9b}``, ``\n``."""

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
    """Registers a format of one's own: see `forthwith.register_format`."""

def unregister_format(name: str) -> bool:
    """Takes a format back; whether there was one of that name."""

def registered_endings() -> list[str]:
    """The endings of names of files of registered formats, without the dot."""

def registered_formats() -> list[str]:
    """The names of the formats that are registered, the last one first."""

@final
class Stored:
    """The bytes of a file whose blocks are being listed."""

    @property
    def uri(self) -> str:
        """Path or URL."""
    def size(self) -> int:
        """Bytes of the file."""
    def read(self, start: int, count: int) -> bytes:
        """Some bytes, or those that are there."""

def register_class(name: str, members: Sequence[tuple[str, str]] | None, framed: bool = True) -> bool:
    """Says how a class is stored; without members, takes it back."""

def root_key(file: File, path: str) -> tuple[int, int, int, int, int, int]:
    """Bytes of an object's record and of its key, where it and its directory are, when it was written, the key's version."""

def root_directory(file: File, path: str) -> tuple[int, int, int, int, int, int, int, int]:
    """What the record of a directory says; of the topmost one without a path.

    Version, when it was made and changed, bytes of the list of keys and of the name, and where the directory, its mother and
    the list of keys are.
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
    """Class, version, checksum and elements of each streamer info.

    Of an element: its class, name, type, comment; ROOT's code, size, items of an array, its dimensions; version and checksum
    of a base; of a counter version, name and class; of a container its kind and the code of its items.
    """

def ntuple_descriptor(table: Table) -> str:
    """What the header, footer and page lists of an RNTuple say, as JSON."""

def ntuple_envelopes(table: Table) -> list[bytes]:
    """The header and the footer of an RNTuple, decompressed, with their checksums."""

def emptied_axes(objects: Objects, number: int, file: str, path: str) -> list[tuple[int, float, float] | None]:
    """Bins and edges of the axes of a histogram that change when its buffered entries are filled.

    This function and the four below take the number of an object, and the file and path that errors name. They give arrays as
    bytes in native order, one number for each bin, underflow and overflow included, the first axis fastest.
    """

def emptied_array(objects: Objects, number: int, name: str, file: str, path: str) -> tuple[str, bytes] | None:
    """Data type and numbers of ``"contents"``, or of a member, after buffered entries are filled; ``None`` if not kept."""

def emptied_sums(objects: Objects, number: int, file: str, path: str) -> dict[str, float]:
    """Sums over all entries after buffered entries are filled, by the names of members."""

def efficiency_values(objects: Objects, number: int, file: str, path: str) -> bytes:
    """The efficiency of each bin."""

def efficiency_errors(objects: Objects, number: int, level: float | None, file: str, path: str) -> tuple[bytes, bytes]:
    """How far each confidence interval reaches below and above; without a level, that of the object."""

@final
class Key:
    """One object of a file."""

    @property
    def path(self) -> str:
        """Path from the directory that was listed, without a cycle."""
    @property
    def name(self) -> str:
        """Its own name."""
    @property
    def cycle(self) -> int:
        """The number by which objects of one name differ."""
    @property
    def classname(self) -> str:
        """Its class."""
    @property
    def title(self) -> str:
        """Its title."""
    @property
    def stored_bytes(self) -> int:
        """Bytes in the file."""
    @property
    def object_bytes(self) -> int:
        """Bytes when decompressed."""
    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
    @property
    def is_table(self) -> bool:
        """Whether `File.table` opens it."""
    @property
    def is_unsupported_table(self) -> bool:
        """Whether it is a table that cannot be read yet."""

@final
class Zones:
    """Fields of a table, by path, that have timestamps in a zone."""

    def __len__(self) -> int: ...

@final
class Table:
    """A tree."""

    @property
    def path(self) -> str:
        """Path in the file."""
    @property
    def is_record(self) -> bool:
        """Whether an entry is a record, whose fields are the columns."""
    @property
    def title(self) -> str:
        """Its title."""
    @property
    def classname(self) -> str:
        """Its class."""
    @property
    def words(self) -> list[str]:
        """The format's words for a table, a column and columns, a block and blocks."""
    @property
    def entries(self) -> int:
        """Number of entries. In an Avro file that is known when all blocks were looked for."""
    def sound(self) -> tuple[Table, list[tuple[int, int, int, str]]]:
        """The table around what cannot be told apart, and these parts: entries before, block, byte and fault."""
    def with_constants(self, constants: Sequence[tuple[str, str | None, bool, bool]]) -> Table:
        """The table with columns of one value each, behind those of the file, as `partitions` has them."""
    def zones(self) -> Zones:
        """The fields that have timestamps in a zone."""
    def in_zones_of(self, zones: Zones) -> Table:
        """The table with its timestamps shown in the zones of another one, and in UTC where that has none."""
    def arrow_schema(self) -> object | None:
        """The Arrow schema that the table was written from, if the file has it, as a capsule."""
    def dictionary(self, field: int) -> Array | None:
        """The distinct texts of a column in the order of its categories, if the file has them."""
    @property
    def is_stream(self) -> bool: ...
    def likely_entries(self) -> int: ...
    def entries_up_to(self, most: int) -> int:
        """The number of entries, or ``most`` if there are more: no more is looked for than it takes to know."""
    def fields(self) -> Fields:
        """All fields in the order of the file, parents before their children."""
    def find(self, name: str) -> int:
        """The position of a field by its path, or by its name if only one has it."""
    def found(self, name: str) -> int | None:
        """The same, and nothing if there is none."""
    def describe(self, field: int, most: int | None = None) -> Description:
        """How a field is read, or why it cannot be. No more than ``most`` entries are looked for, and counted."""
    def column_type(self, field: int) -> ColumnType:
        """The type of a field: the same object for fields of one type, as long as there are not too many."""
    def column_form(self, field: int) -> ColumnForm | None:
        """The type of a field's values; ``None`` if it cannot be read."""
    def entry_range(self, field: int, most: int | None = None) -> tuple[int, int]:
        """The entries of the table that a field has: a branch can begin late or end early.

        A caller that reads nothing behind ``most`` needs no more.
        """
    def plan(self, fields: Sequence[int], start: int, stop: int, *, bits: bool = False, views: bool = False) -> Plan:
        """The plan that reads these fields for these entries.

        With ``bits`` nulls are bits, and with ``views`` texts are views, for what becomes Arrow data of that kind.
        """
    def plan_raw(self, fields: Sequence[int], start: int, stop: int) -> Plan:
        """Likewise for `raw`: blocks that lie in the file as one are one of its tasks."""
    def read(
        self,
        plan: Plan,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> list[Array]:
        """Reads a plan: one array for each field.

        ``progress`` is called with blocks read, all blocks, bytes read, all bytes: at the start, at the end, and about every
        50 ms between.
        """
    def attribute_sets(self) -> list[str]:
        """Names of tables whose rows say something of ranges of entries of this one."""
    def aliases(self) -> list[tuple[str, str]]:
        """Names that the file has for expressions, and these."""
    def friends(self) -> list[tuple[str, str, str, str | None]]:
        """The tables whose entries belong to those of this one.

        Name, file (empty for this one) and path of each; then the file's path from the folder of this one's (empty if it is
        the same), or ``None`` if it is neither there nor below.
        """
    def index_names(self) -> tuple[str, str] | None:
        """The names of the two numbers by which entries are found from other tables, if there is an index of them."""
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
        """Columns by the positions of their fields, or as expressions, of entries that a cut leaves or that are listed.

        ``entries`` are 64-bit numbers in native order. ``friends`` are names, tables one behind the other, and how many of
        their entries belong to tables before this one. ``united`` are columns with their fields if this table has them,
        the type that they have in several tables or an array of it, and whether some of these lack them. ``before`` is
        the number of entries of tables before this one. All types are checked.
        """
    def raw(self, plan: Plan, task: int) -> RawBlock:
        """One block of a plan, decompressed and not decoded."""
    def boundaries(self, fields: Sequence[int], start: int, stop: int) -> list[int]:
        """The entries at which blocks of some fields begin, and both ends of the range."""
    def steps(
        self,
        fields: Sequence[int],
        start: int,
        stop: int,
        entries: int | None = None,
        bytes: int | None = None,
    ) -> list[tuple[int, int]]:
        """Cuts a range of entries into steps of a number of entries, or of about a number of bytes."""
    def divide(
        self, fields: list[int], *, entries: int | None = None, bytes: int | None = None, align: bool = True
    ) -> tuple[list[tuple[int, int]], int, int, int, str | None]:
        """Divides the table into partitions of about a size, or into one.

        Returns:
            The entries of each partition, stored bytes of all fields, entries of the table, bytes and identity of the file.
        """
    def batches(
        self,
        fields: Sequence[int],
        start: int,
        stop: int | None,
        entries: int | None = None,
        bytes: int | None = None,
    ) -> BatchReader:
        """Reads fields in steps that are cut on the way; ``None`` as ``stop`` is the end, which need not be known."""
    def schema(self, names: Sequence[str], fields: Sequence[int], *, choices: ArrowChoices) -> object:
        """The Arrow schema of some fields, as a capsule."""
    def stream(
        self,
        names: Sequence[str],
        fields: Sequence[int],
        reader: BatchReader,
        threads: int | None = None,
        *,
        choices: ArrowChoices,
    ) -> object:
        """Some fields as a capsule of an Arrow stream, which takes the reader and reads one step for each batch."""

@final
class Selection:
    """Columns of a table, read or computed, of some entries."""

    @property
    def fields(self) -> list[int]:
        """The fields that are read."""
    @property
    def chooses_entries(self) -> bool:
        """Whether entries may be left out."""
    def types(self) -> list[str]:
        """The type of each column."""
    def promising(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The parts of a range of entries in which the cut may hold by the file's statistics."""
    def read(
        self,
        start: int,
        stop: int,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[list[Array], Buffer | None]:
        """An array for each column, and the entries that they have if these may not be all."""
    def read_around(
        self,
        start: int,
        stop: int,
        nulls: bool,
        bits: bool,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[list[Array], Buffer | None, list[tuple[int, int, Any]]]:
        """The same around damage, or with missing values in its place.

        The last item are the ranges of entries that are lost, each with the exception that says why.
        """
    def batches(
        self, start: int, stop: int | None, entries: int | None = None, bytes: int | None = None
    ) -> BatchReader:
        """Reads in steps; ``None`` as ``stop`` is the end."""
    def schema(self, *, choices: ArrowChoices) -> object:
        """The Arrow schema, as a capsule."""
    def stream(self, reader: BatchReader, threads: int | None = None, *, choices: ArrowChoices) -> object:
        """A capsule of an Arrow stream, which takes the reader and reads one step for each batch."""

def expression_names(text: str) -> list[str]:
    """The names in an expression; one that cannot be read is an error."""

@final
class BatchReader:
    """Steps that are still to be read. Small steps are read together and handed out one by one."""

    def read(
        self,
        threads: int | None = None,
        progress: Callable[[int, int, int, int], object] | None = None,
    ) -> tuple[int, int, list[Array], Buffer | None] | None:
        """The next step: its first entry, the one after its last, and an array for each column. ``None`` after the last.

        The last item are the entries that the arrays have, if some may have been left out.
        """

    def skip(self) -> tuple[int, int] | None:
        """The next step, which is not read: its first entry and the one after its last. ``None`` after the last."""

@final
class ChainReader:
    """Steps over the files of a chain, whose columns are named once for each schema."""

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
        """The next step; ``None`` after the last.

        The number of its file, the entries of the files before it, and what was read: the number of the file's schema if it has
        one, the file, the table in it, the first entry of the step and the one after its last, counted in the file; arrays,
        their entries if some may have been left out, and ranges that were lost with exceptions. Without the latter the file was
        not read: `begin_like`, `begin` or `skip` says what is to be done with it.
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
        """Reads the file, and those behind it that have the same fields in the same types.

        Args:
            table: The table of the file.
            columns: Labels, and the positions of fields; ``None`` for what is computed.
            united: Columns in the types that several files have together.
            expressions: Aliases and cut, if they are not those of all files.
            payload: Decompressed bytes of a step, and the fields whose bytes are counted, by the average of each file.
            has_type_names: Whether types also have to have the same names.

        Returns:
            The number of the schema, and those of schemas that are forgotten, whose files may be closed.
        """

    def begin(self, selection: Selection) -> None:
        """Reads the file by a selection of its table."""

    def skip(self, entries: int) -> None:
        """Passes the file, which has this number of entries."""

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
        """Other columns of the file of the last step: labels and the positions of fields as `begin_like` takes them."""

    def entries_before(self) -> int:
        """Entries of the files before the current one, or of all files after the last step."""

    def likely_entries(self) -> int:
        """About how many entries the current file has."""

@final
class Fields:
    """The fields of a table, each made when it is asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Field: ...
    def members(self) -> list[tuple[str, int]]:
        """The path and the position of each field that is no part of another."""
    def parents(self) -> list[int | None]:
        """The position of the parent of each field."""

@final
class Field:
    """One field of a table."""

    @property
    def path(self) -> str:
        """Path from the table, joined by ``/``."""
    @property
    def name(self) -> str:
        """Its own name."""
    @property
    def title(self) -> str:
        """Its title."""
    @property
    def parent(self) -> int | None:
        """Position of the field it is in."""
    @property
    def has_children(self) -> bool:
        """Whether there are fields in it."""
    @property
    def has_data(self) -> bool:
        """Whether it has data of its own."""
    @property
    def is_part(self) -> bool:
        """Whether the parent has these data, too: read by itself if named, and never with all the others."""

@final
class Desk:
    """Where requests to a file object lie for the thread of Python's that asks it; see `forthwith._file_objects`."""

    def next(self) -> tuple[int, int | None] | None:
        """The next request: a position and a number of bytes, or ``None`` for the size; nothing if none comes."""

    def answered(self, said: bytes | int) -> None:
        """The answer of the object."""

    def failed(self, error: BaseException) -> None:
        """The exception that it raised."""

@final
class ColumnForm:
    """The type of a column's values. ``str`` gives it in Awkward Array's words."""

    @property
    def is_structured(self) -> bool:
        """Whether it is more than numbers, truth values, texts or dates, in lists or not."""
    def is_like(self, other: ColumnForm) -> bool:
        """Whether two types are the same, but for values that may be missing."""
    @staticmethod
    def unite(forms: Sequence[ColumnForm]) -> ColumnForm | None:
        """The type that has the values of all types: numbers promoted as NumPy promotes them. ``None`` if there is none."""

@final
class ColumnType:
    """The type of columns, which many of a table share."""

    @property
    def typename(self) -> str:
        """Its name, as in C++."""
    @property
    def form(self) -> str | None:
        """The Form, in Awkward's JSON; ``None`` if such columns cannot be read."""
    @property
    def header(self) -> int | None:
        """Bytes before the numbers of an entry, if entries are numbers of any count."""

@final
class Description:
    """How a field is read, or why it cannot be."""

    @property
    def typename(self) -> str:
        """Its type, as in C++."""
    @property
    def entries(self) -> int:
        """Entries it has of its own."""
    @property
    def blocks(self) -> int:
        """Blocks that hold them."""
    @property
    def stored_bytes(self) -> int:
        """Bytes in the file."""
    @property
    def payload_bytes(self) -> int:
        """Bytes when decompressed."""
    @property
    def problem(self) -> str | None:
        """Why it cannot be read; ``None`` if it can."""
    @property
    def form(self) -> str | None:
        """The Form, in Awkward's JSON."""
    @property
    def type_string(self) -> str | None:
        """The type it is read as."""
    @property
    def decoder(self) -> str | None:
        """``"kernel"`` or ``"program"``."""
    @property
    def layout(self) -> str | None:
        """The work of the decoder, in a phrase."""
    @property
    def reason(self) -> str | None:
        """Why this decoder, in a phrase."""
    @property
    def forth(self) -> str | None:
        """The source text, if the decoder is a program."""

@final
class Plan:
    """The plan of reading some fields for some entries."""

    @property
    def entries(self) -> tuple[int, int]:
        """The entries asked for."""
    @property
    def stored_bytes(self) -> int:
        """Bytes to read."""
    @property
    def can_choose(self) -> bool:
        """Whether each entry of a block can be decoded without the others."""
    def blocks(self) -> list[Block]:
        """The blocks to decode, ordered by group, then by entry."""

@final
class Block:
    """One block of a plan."""

    @property
    def task(self) -> int:
        """Position in the plan."""
    @property
    def group(self) -> int:
        """Which of the fields asked for; higher numbers are fields needed by these."""
    @property
    def block(self) -> int:
        """Number of the block in its field."""
    @property
    def entries(self) -> tuple[int, int]:
        """Entries in the block."""
    @property
    def wanted(self) -> tuple[int, int]:
        """Entries wanted of it."""
    @property
    def stored_bytes(self) -> int:
        """Bytes in the file."""

@final
class RawBlock:
    """One block, decompressed and not decoded."""

    @property
    def entries(self) -> tuple[int, int]:
        """The entries it holds."""
    @property
    def view(self) -> bool:
        """Whether its bytes are those of the mapped file, not a copy."""
    @property
    def payload(self) -> Buffer:
        """The bytes of the entries."""
    @property
    def values(self) -> Buffer:
        """The same, as values in the file's byte order where entries are nothing else."""
    @property
    def bounds(self) -> Buffer | None:
        """Where entries begin and end in the payload; ``None`` if all have one size."""

@final
class Items:
    """The items that a machine wrote to an output; ``numpy.asarray`` takes them over without a copy and keeps them alive."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's protocol, version 3."""
    @property
    def typestr(self) -> str:
        """The type of an item, as NumPy writes it: ``<f4``."""
    def __len__(self) -> int: ...

@final
class Machine:
    """An AwkwardForth machine, without the comforts of `forthwith.forth`.

    ``run``, ``resume``, ``step`` and ``call`` return the exception for an error of the program, and raise what is not the
    program's.
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
        """The text."""
    @property
    def bytecodes(self) -> list[int]:
        """The bytecode."""
    @property
    def bytecodes_offsets(self) -> list[int]:
        """Where each segment starts."""
    @property
    def decompiled(self) -> str:
        """The program in canonical layout."""
    @property
    def dictionary(self) -> list[str]:
        """User words."""
    @property
    def cut_literals(self) -> list[tuple[int, int]]:
        """Line and column of each number that did not fit."""
    def explain(self) -> str:
        """Which loops run natively, and why not."""
    def word(self, name: str) -> list[int] | None:
        """The bytecode of a user word."""
    def string_at(self, number: int) -> str | None:
        """The string of that number."""
    def is_variable(self, name: str) -> bool:
        """Whether there is such a variable."""
    def is_input(self, name: str) -> bool:
        """Whether there is such an input."""
    def is_output(self, name: str) -> bool:
        """Whether there is such an output."""
    def is_defined(self, name: str) -> bool:
        """Whether there is such a word."""
    def begin(self, inputs: Mapping[str, Any] | None = None) -> None:
        """Stands before the first instruction."""
    def begin_again(
        self, inputs: Mapping[str, Any] | None, reset_instruction: bool = True, clear_error: bool = False
    ) -> None:
        """Goes on with other inputs."""
    def reset(self) -> None:
        """Forgets everything but the counters."""
    def run(self, inputs: Mapping[str, Any] | None = None) -> ForthRunError | None:
        """``begin`` and ``resume``."""
    def resume(self) -> ForthRunError | None:
        """Goes on until the end, a pause or an error."""
    def step(self) -> ForthRunError | None:
        """Runs one instruction."""
    def call(self, word: str) -> ForthRunError | None:
        """Runs a user word."""
    def stack_push(self, value: int) -> None:
        """Pushes."""
    def stack_pop(self) -> int:
        """Pops."""
    def stack_clear(self) -> None:
        """Empties the stack."""
    @property
    def stack(self) -> list[int]:
        """The stack, top last."""
    @property
    def variables(self) -> dict[str, int]:
        """The variables by name."""
    def variable(self, name: str) -> int | None:
        """One variable."""
    def outputs(self) -> list[tuple[str, Items]] | None:
        """All outputs; ``None`` if there are some and nothing was begun."""
    def output(self, name: str) -> Items | None:
        """One output."""
    def bind(self, description: str) -> tuple[str, int, list[tuple[str, str]]]:
        """The outputs as the buffers of a type: the Form as JSON, the number of rows, and the output of each buffer."""
    def describe(self) -> str:
        """The inputs and outputs of the machine and its position, in a line."""
    def input_position(self, name: str) -> int | None:
        """The position in an input."""
    @property
    def is_ready(self) -> bool:
        """Whether something was begun that did not end in ``halt``."""
    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to run."""
    @property
    def is_segment_done(self) -> bool:
        """Whether the body that runs is at its end."""
    @property
    def current_bytecode_position(self) -> int | None:
        """Where the next instruction is."""
    @property
    def current_recursion_depth(self) -> int | None:
        """Words and bodies that are open."""
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
    """The commands of `forthwith.TypedArrayBuilder`, which adds what needs other packages."""

    def __new__(cls, description: str) -> Self:
        """A builder of a type, or of a Form in JSON."""
    @property
    def typestr(self) -> str:
        """The type of what is complete, with its length."""
    @property
    def source(self) -> str:
        """The AwkwardForth program that was made of the type."""
    @property
    def _form(self) -> str: ...
    def null(self) -> None:
        """Appends a missing value."""
    def boolean(self, x: object) -> None:
        """Appends a truth value."""
    def integer(self, x: SupportsIndex) -> None:
        """Appends an integer, to numbers of any kind that can hold it."""
    def real(self, x: float) -> None:
        """Appends a number, to real and complex ones."""
    def complex(self, x: object) -> None:
        """Appends a complex number."""
    def datetime(self, x: object) -> None:
        """Appends a date and time, in the unit of the column: of NumPy, of Python, or as text that NumPy reads."""
    def timedelta(self, x: object) -> None:
        """Appends a span of time, in the unit of the column: of NumPy, of Python, or as text that NumPy reads."""
    def bytestring(self, x: bytes | bytearray) -> None:
        """Appends bytes."""
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

        Where a value is expected that goes into an indexed node (such as categories), appends one that is in it already.
        """
    def end_tuple(self) -> None:
        """Ends a tuple. Slots without a value become null where they may."""
    def begin_record(self, name: str | None = None) -> None:
        """Begins a record, by its name if one is given."""
    def field(self, key: str) -> Self:
        """Selects the field of a record that the next value fills, in any order."""
    def end_record(self) -> None:
        """Ends a record. Fields without a value become null where they may."""
    def tag(self, i: int) -> Self:
        """Chooses the alternative of a union to which the next value belongs."""
    def append(self, obj: object) -> None:
        """Appends any value; if a part of it is refused, nothing is appended."""
    def extend(self, iterable: Iterable[object]) -> None:
        """Appends many values; if one is refused, none is appended. Arrays of numbers are taken whole."""
    def clear(self) -> None:
        """Forgets everything that was appended."""
    def _snapshot(self) -> Layout: ...
    def __len__(self) -> int: ...

@disjoint_base
class ArrayBuilder:
    """The commands of `forthwith.ArrayBuilder`, which adds what needs other packages."""

    def __new__(
        cls,
        *,
        behavior: object = None,
        attrs: object = None,
        initial: int = 1024,
        resize: float = 8.0,
    ) -> Self:
        """Nothing, of unknown type."""
    @property
    def typestr(self) -> str:
        """The type of what is complete, with its length."""
    @property
    def _form(self) -> str: ...
    def _snapshot(self) -> Layout: ...
    def _finish(self) -> Layout: ...
    def clear(self) -> None:
        """Takes all data back, whatever is open included. The type stays."""
    def null(self) -> None:
        """Appends a missing value."""
    def boolean(self, x: object) -> None:
        """Appends a truth value."""
    def integer(self, x: SupportsIndex) -> None:
        """Appends an integer."""
    def real(self, x: SupportsFloat | SupportsIndex) -> None:
        """Appends a number."""
    def complex(self, x: object) -> None:
        """Appends a complex number."""
    def datetime(self, x: object) -> None:
        """Appends a date and time: of NumPy, of Python, or as text that NumPy reads."""
    def timedelta(self, x: object) -> None:
        """Appends a span of time: of NumPy, of Python, or as text that NumPy reads."""
    def bytestring(self, x: bytes) -> None:
        """Appends bytes."""
    def string(self, x: str) -> None:
        """Appends text."""
    def begin_list(self) -> None:
        """Begins a list; what follows are its items."""
    def end_list(self) -> None:
        """Ends a list."""
    def begin_tuple(self, numfields: int) -> None:
        """Begins a tuple of ``numfields`` slots."""
    def index(self, i: int) -> Self:
        """Selects the slot of a tuple that the next value fills, in any order."""
    def end_tuple(self) -> None:
        """Ends a tuple; slots without a value become null."""
    def begin_record(self, name: str | None = None) -> None:
        """Begins a record, perhaps of a named class."""
    def field(self, key: str) -> Self:
        """Selects the field of a record that the next value fills, in any order."""
    def end_record(self) -> None:
        """Ends a record; fields without a value become null."""
    def append(self, obj: object) -> None:
        """Appends any value; if a part of it is refused, nothing is appended."""
    def extend(self, obj: Iterable[object]) -> None:
        """Appends all items; if one is refused, those before it stay."""
    def __len__(self) -> int: ...

@final
class Layout:
    """A Form and its buffers, in Awkward Array's whole vocabulary."""

    @property
    def form(self) -> str:
        """The Form, in Awkward's JSON."""
    @property
    def type_string(self) -> str:
        """The type of an entry."""
    @property
    def nbytes(self) -> int:
        """Bytes in all buffers."""
    def buffers(self) -> list[tuple[str, Buffer]]:
        """The buffers by their keys. Complex numbers are two items, dates and spans of time int64, half floats uint16."""
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Arrow's protocol, where Arrow data can hold it."""
    def __len__(self) -> int: ...

def partitions(
    files: Sequence[tuple[str | os.PathLike[str], str | os.PathLike[str]]],
) -> list[list[tuple[str, str | None, bool, bool]]]:
    """The columns that folders say: names, values as text, whether they are whole numbers, whether some files have none.

    Each file has the name of the pattern or the folder that was given for it before it.
    """

def count_entries(
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    *,
    errors: str = "raise",
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> list[int] | None:
    """The number of entries of each file; ``None`` if something is wrong with one of them, which it tells by itself."""

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
    """Divides files with the fields of one of some tables, as `Table.divide` does, and says of which of these.

    ``None`` of files with other fields, and of those with something wrong.
    """

def same_schemas(
    parts: list[tuple[str, str, list[tuple[str, str | None, bool, bool]]]],
    most: int | None = None,
    *,
    options: dict[str, Any] | None = None,
    store: list[tuple[str, str]] | None = None,
) -> list[int] | None:
    """For each file the first one with the same fields in the same types.

    ``None`` if more than ``most`` of them differ, or if something is wrong with one of the files.
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
    """Columns of all files: arrays, the entries that they have if these may not be all, and the entries of each file if known.

    Columns are fields of the first table by their positions, or expressions. ``"types"`` if the files do not have the same
    fields in the same types, and ``"unreadable"`` if something is wrong with one of them: reading it by itself tells.
    ``parts`` are the path of each file, the table in it, and the columns that its folders say.
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
    """Columns of files of several schemas, and the entries of each file if known.

    Each run of files of one group in which the columns have the same types is one result: the number of its first file, its
    first entry, arrays, and the entries that these have if they may not be all. ``None`` if something is wrong with one of
    the files: reading it by itself tells.

    Args:
        schemas: A table of each schema, the number of its file, the positions of columns that are fields, columns in the
            types that several files have together, and the number of its group.
        of_file: The schema of each file.
        names: The labels of the columns.
        parts: The path of each file, the table in it, and the columns that its folders say.
        aliases: Names and expressions.
        cut: An expression.
        start: The first entry, counted in all files.
        stop: The entry after the last.
        bits: Whether nulls become bits.
        threads: The number of threads.
        options: How files are opened.
        store: Options of the store.
    """

def expand_files(names: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The files that names, patterns and folders mean, in the order of the names; each pattern's and folder's sorted."""

def redact(text: str) -> str:
    """A text whose URLs have no user, password and query."""

def make_index(path: str, index: bool | str, store: list[tuple[str, str]] | None) -> str:
    """Writes the index of a file under a name, in a folder, or with ``True`` beside the file; its name."""

def expand_stored(pattern: str, store: list[tuple[str, str]] | None) -> list[str]:
    """The URLs of objects of a store that match a pattern, sorted."""

def split_name(text: str) -> tuple[str, str]:
    """The file and the object of ``FILE:OBJECT``; the object is empty if there is none."""

def from_iter(object: object, type: str | None = None, form: str | None = None, single: bool = False) -> Layout:
    """Columns of a known type, filled with the items of an object, or with the object alone; a Form comes as JSON."""

def rows_of(
    labels: Sequence[str], columns: Sequence[list[Any] | Array], length: int, *, whole_nanoseconds: bool = False
) -> list[dict[str, Any]]:
    """Rows of several columns as dicts; values of arrays are those of `Array.objects`."""

def found_rows(object: object) -> Layout:
    """Columns of a type that is found out, of items to be written: text and byte strings are never made of each other."""

@final
class Given:
    """An array to be written: what ``ak.to_buffers`` gives, copied."""

    def __new__(cls, form: str, length: int, buffers: Mapping[str, object]) -> Self:
        """Takes an array in.

        Args:
            form: The Form, as Awkward Array's JSON.
            length: The number of rows.
            buffers: The buffers by their names: bytes in native order.
        """

    @staticmethod
    def from_arrow(stream: object) -> Given:
        """All there is in a capsule of Arrow's C stream interface: records of its columns."""

    @staticmethod
    def from_fields(names: Sequence[str], arrays: Sequence[Given]) -> Given:
        """Arrays of one length as the fields of records."""

    def form_text(self) -> str:
        """The Form, as options for opening files take it."""

    def only(self) -> Given | None:
        """The only field of records."""

    def types(self) -> list[tuple[str, str]]:
        """The fields of records with their types."""

    def times(self) -> list[tuple[str, str]]:
        """Those with dates and times in them."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Records as a stream of one batch, anything else as its only column, ``value``."""

    @property
    def type_string(self) -> str:
        """The type of a row, such as ``"var * float32"``."""

    def __len__(self) -> int: ...

@final
class GivenBatches:
    """What a stream of Arrow has, for writers that may take its batches as they are."""

    def __new__(cls, stream: object) -> Self:
        """All there is in a capsule of Arrow's C stream interface."""

    def __len__(self) -> int: ...

@final
class TableWriter:
    """A file of columns being written. It begins with the first array, which says what they are."""

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
        """A file to be; see `forthwith.parquet.writer`. With ``memory`` it is one in memory, called ``path`` in errors."""

    def write(self, array: Given) -> None:
        """Appends an array, of the same fields as the first."""

    def write_batches(self, given: GivenBatches, is_last: bool) -> None:
        """Appends batches, behind which nothing is written if they are the last."""

    def finish(self) -> tuple[int, int] | None:
        """Ends the file: the number of entries and of bytes; nothing if there was nothing to write."""

    def bytes(self) -> bytes | None:
        """The file, if it is one in memory and complete."""

    def abandon(self) -> None:
        """Leaves nothing behind."""

@final
class RootWriter:
    """A ROOT file being written."""

    def __new__(
        cls, path: str, how: str, compression: int | None, title: str, store: list[tuple[str, str]] | None
    ) -> Self:
        """A file to be (``"recreate"``), one that is changed (``"update"``), or one in memory (``"memory"``)."""

    def compression(self) -> int:
        """ROOT's setting for compression."""

    def mkdir(self, path: str) -> None:
        """Makes a directory, and those before it."""

    def keys(self, path: str) -> list[tuple[str, str, int]] | None:
        """Class, name and cycle of each object of a directory; nothing if there is none at this path."""

    def remove(self, path: str, name: str, cycle: int) -> bool:
        """Takes an object off its directory. Says whether it was a table that is being extended, which ends then."""

    def object(self, path: str, name: str, title: str, members: dict[str, Any]) -> None:
        """Writes an object that is given by its members, with its class under ``_typename``."""

    def describe(self, from_: File) -> None:
        """Adds the descriptions of classes that another file has."""

    def copy(self, path: str, name: str, title: str, objects: Objects, from_: File, /) -> None:
        """Writes an object of another file as it is stored there."""

    def tree(self, path: str, title: str, array: Given, options: dict[str, Any]) -> None:
        """Begins a tree with an array's columns, and writes the array. Options are all those of ``_writable.options``."""

    def ntuple(self, path: str, array: Given, options: dict[str, Any]) -> None:
        """Begins an RNTuple with an array's columns, and writes the array."""

    def reopen_ntuple(self, path: str, options: dict[str, Any]) -> tuple[int, list[tuple[str, str]]]:
        """Opens an RNTuple that is in the file already: its entries, and its columns with their types."""

    def reopen_tree(self, path: str, options: dict[str, Any]) -> tuple[int, list[tuple[str, str]]]:
        """Opens a tree that is in the file already: its entries, and its columns with their types."""

    def add_branches(self, path: str, array: Given, options: dict[str, Any]) -> None:
        """Adds the columns of an array to a tree that is in the file already."""

    def add_fields(self, path: str, array: Given, fields: dict[str, dict[str, Any]]) -> None:
        """Adds fields to an RNTuple, of the types of an array's columns."""

    def extend(self, path: str, array: Given) -> None:
        """Appends an array to a table."""

    def finish(self) -> int | None:
        """Completes the file, and says how many bytes it has."""

    def bytes(self) -> bytes | None:
        """The file, if it is one in memory and complete."""

    def abandon(self) -> None:
        """Leaves nothing behind."""

@final
class AvroWriter:
    """An Avro file being written. It begins with the first array, which says what the columns are."""

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
        """A file to be; see `forthwith.avro.writer`. With ``memory`` it is one in memory, called ``path`` in errors."""

    def write(self, array: Given) -> None:
        """Appends an array, of the same fields as the first."""

    def write_rows(self, rows: Sequence[object]) -> None:
        """Appends rows of Python values, a list or tuple of them, by the schema that was given."""

    def finish(self) -> tuple[int, int] | None:
        """Ends the file: the number of entries and of bytes; nothing if there was nothing to write."""

    def bytes(self) -> bytes | None:
        """The file, if it is one in memory and complete."""

    def abandon(self) -> None:
        """Leaves nothing behind."""

def avro_damage(table: Table) -> list[tuple[int, int, int, str]]:
    """The blocks left out of a table: block, first byte, byte after the last, the fault. Nothing where no blocks can be."""

def parquet_row_groups(table: Table) -> list[tuple[int, int, int, int]]:
    """Row groups: number, first entry, entry after the last, bytes when decompressed. None where there are no such things."""

def diff_tables(
    left: Table, right: Table, comparison: Mapping[str, Any], progress: Callable[[int, int], object] | None = None
) -> str:
    """What differs between two tables, as JSON."""

def diff_files(
    left: File, right: File, comparison: Mapping[str, Any], progress: Callable[[int, int], object] | None = None
) -> str:
    """What differs between two files, as JSON."""

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
    """The summaries of the columns of a selection, as JSON."""

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
    """Writes the objects of several ROOT files to one. Answers the paths of trees, and their entries."""

def parquet_chunks(table: Table, field: int) -> list[dict[str, Any]]:
    """The metadata of the column chunks of a field. Nothing where there are no such things."""

def avro_schema(array: Given, name: str) -> str:
    """The schema, as JSON, that an array is written with if none is given."""

def avro_canonical(schema: str) -> tuple[str, int]:
    """The Parsing Canonical Form of a schema and its fingerprint."""

def avro_is_alike(one: str, other: str) -> bool:
    """Whether values are encoded alike by both schemas, and mean the same."""

def avro_encode(schema: str, array: Given, message: bool) -> list[bytes]:
    """The rows as datums, or as messages."""

def avro_encode_rows(schema: str, rows: Sequence[object], message: bool, strict: bool) -> list[bytes]:
    """As `avro_encode`, of a list or tuple of rows of Python values."""

def avro_joined(schema: str, reader: str | None, data: bytes, count: int, text: str) -> Array:
    """So many datums that follow each other directly."""

def avro_apart(schema: str, reader: str | None, datums: list[bytes], text: str) -> Array:
    """Datums that are given one by one."""

def protobuf_messages(
    schema: str, message: str | None, messages: list[bytes | None], mapping: tuple[bool, bool, int], threads: int | None
) -> Array:
    """Messages that are given one by one, of which some may be missing."""

def protobuf_column(
    schema: str, message: str | None, column: Given, mapping: tuple[bool, bool, int], threads: int | None
) -> Array:
    """The messages that a column of bytes has."""

def protobuf_schema(array: Given, message: str | None) -> str:
    """The schema, as text, that the columns of an array are written with if none is given."""

def avro_messages(schemas: Sequence[str], reader: str | None, messages: list[bytes]) -> list[tuple[Array, list[int]]]:
    """Messages by the schema they are of: for each the array, and which messages they are."""
