"""Opening of a single file with the options of ``open``."""

from __future__ import annotations

import os
from functools import cache

from forthwith import _forthwith
from forthwith._entries import memory_size, thread_count
from forthwith._errors import KeyInFileError, RequestError
from forthwith._file import File, open_file
from forthwith._keywords import refuse
from forthwith._parsed_schemas import self_contained
from forthwith._paths import local, whole
from forthwith._proto_schema import is_proto, proto_schema
from forthwith._stores import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, Self, TypeAlias

    How: TypeAlias = Literal["auto", "map", "pread"]
    Int96: TypeAlias = Literal["ns", "us"]
    Framing: TypeAlias = Literal["delimited", "fixed32", "fixed32-big", "single", "hepmc3"]
    Enums: TypeAlias = Literal["names", "numbers"]
    Text: TypeAlias = Literal["strict", "bytes", "latin-1", "replace", "ignore"]

# ROOT classes that are tables.
TABLES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")
_SOURCES = ("auto", "map", "pread")


class Settings:
    """The validated keyword arguments of ``open``.

    Attributes:
        options: The options for reading the bytes of a file.
        view: The options of the format.
    """

    def __init__(self, options: dict[str, Any], view: dict[str, Any]) -> None:
        self.options = options
        self.view = view

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state to pickle, without credentials."""
        store = without_secrets(self.options["storage_options"])
        return {"options": {**self.options, "storage_options": store}, "view": self.view}

    @property
    def opens_by_name(self) -> bool:
        """Whether a file can be opened by its name and the options of its store and format alone."""
        return self.options["source"] == "auto" and not self.options["index"] and not self.view.get("recover")

    @classmethod
    def given(cls, call: str, options: Mapping[str, Any], *others: str) -> Self:
        """Validates the options that another function passes on to ``open``.

        Args:
            call: The name of that function, for error messages.
            options: The keyword arguments of ``open``.
            others: Further arguments of that function, to suggest for an unknown name.
        """
        defaults = cls.of.__kwdefaults__ or {}
        if options.keys() == defaults.keys() and all(options[name] is value for name, value in defaults.items()):
            # The most frequent case. Each file gets dicts of its own.
            settings = _default_settings()
            return cls(settings.options.copy(), settings.view.copy())
        known = list(defaults)
        unknown = [name for name in options if name not in known]
        refuse(call, unknown, [*known, *others])
        return cls.of(**options)

    @classmethod
    def of(
        cls,
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
        **unknown: Any,
    ) -> Self:
        """Validates the options as far as possible without the file."""
        if unknown:
            refuse("open", unknown, cls.of.__kwdefaults__ or ())
        if source not in _SOURCES:
            raise ValueError(f"source must be one of {', '.join(map(repr, _SOURCES))}, not {source!r}")
        thread_count(threads)
        groups = None if row_groups is None else [int(number) for number in row_groups]
        if groups is not None and min(groups, default=0) < 0:
            raise ValueError(f"row groups are numbered from 0 on, not {min(groups)}")
        options = {
            "source": source,
            "threads": threads,
            "memory": None if memory is None else memory_size(memory, "memory"),
            "pool": None if pool is None else memory_size(pool, "pool", least=0),
            "huge_pages": huge_pages,
            "storage_options": None if storage_options is None else dict(storage_options),
            "index": index if index is None or isinstance(index, bool) else local(os.fspath(index)),
        }
        # Only options that were given: the format of the file raises an error for those that it does not
        # support.
        if message is not None or framing is not None or rows is not None or is_proto(schema):
            given_schema, message = proto_schema(schema, message)
        else:
            given_schema = schema_text(schema)
        given = {
            "schema": given_schema,
            "message": message,
            "framing": framing,
            "rows": rows,
            "times_as_records": times_as_records or None,
            "enums": None if enums == "names" else enums,
            "recursion": None if recursion is None else str(recursion),
            "skip_damaged": skip_damaged or None,
            "recover": recover or None,
            "row_groups": groups,
            "int96": None if int96 == "ns" else str(int96),
            "format": format,
            "types": None if types is None else column_types(types),
            "separator": separator,
            "header": None if header else False,
            "unions": unions or None,
            "parse_dates": parse_dates or None,
            "check_text": None if check_text else False,
            "text": None if text == "strict" else str(text),
            "times_as_integers": times_as_integers or None,
            "checksums": None if checksums else False,
        }
        view = {name: value for name, value in given.items() if value is not None}
        return cls(options, view)


@cache
def _default_settings() -> Settings:
    """Returns the settings for the default arguments."""
    return Settings.of()


# Arguments of ``open`` that functions for reading do not have.
_OPENING = (
    *("source", "memory", "pool", "huge_pages", "schema", "skip_damaged", "recover", "row_groups", "int96"),
    *("format", "types", "separator", "header", "unions", "parse_dates", "check_text", "text", "times_as_integers"),
    *("message", "framing", "rows", "times_as_records", "enums", "recursion"),
    *("storage_options", "checksums", "index"),
)


def apart(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits options into the arguments of ``open`` and all others."""
    opening = {name: value for name, value in options.items() if name in _OPENING}
    return opening, {name: value for name, value in options.items() if name not in opening}


def column_types(types: Mapping[str, str]) -> str:
    """Serialises column types as JSON, as the reader expects them."""
    import json

    if not hasattr(types, "items"):
        raise TypeError(f"types is a mapping of names of columns to types, not {types!r}")
    return json.dumps({str(name): str(of) for name, of in types.items()})


def open_one(path: Any, inner: str | None, settings: Settings) -> Any:
    """Opens a file, and returns it or the object ``inner`` in it."""
    file = open_file(whole(path), settings.options, settings.view)
    try:
        return _wanted(file, inner, settings)
    except BaseException:
        file.close()
        raise


def _wanted(file: File, inner: str | None, settings: Settings) -> Any:
    if settings.view.get("recover"):
        file._warn_of_recovery()
    if inner:
        return _object(file, inner)
    return file._only_table() if file._core.is_one_table else file


def _object(file: File, inner: str) -> Any:
    """Returns an object of a file, or a column of its only tree."""
    try:
        return file[inner]
    except KeyInFileError as missing:
        tree = _only_tree(file)
        if tree is None:
            raise
        try:
            return tree[inner]
        except KeyInFileError as error:
            if error.near and not missing.near:
                raise
        raise


def _only_tree(file: File) -> Any:
    if file._core.is_one_table:
        return file._only_table()
    names = {key.split(";")[0] for key in file.iterkeys(filter_classname=TABLES)}
    return file[names.pop()] if len(names) == 1 else None


def schema_text(schema: Any) -> str | None:
    """Returns a reader schema as JSON. Text that is a name is a type; a ``pathlib.Path`` is a JSON file."""
    if schema is None:
        return None
    if isinstance(schema, os.PathLike):
        with open(schema, encoding="utf-8") as file:
            return file.read()
    module = type(schema).__module__.partition(".")[0]
    if hasattr(schema, "__arrow_c_schema__") or module in ("polars", "awkward"):
        return _form_text(schema, module)
    if isinstance(schema, str):
        if schema.lstrip()[:1] in ("{", "[", '"'):
            return schema
        if schema.lower().endswith((".avsc", ".json")) or "/" in schema:
            raise RequestError(
                f"schema={schema!r} is not JSON: text is the schema itself or the name of a type; "
                f"schema=pathlib.Path({schema!r}) reads it from a file"
            )

    import json  # not at the top: most files are opened without

    return json.dumps(self_contained(schema))


def _form_text(schema: Any, module: str) -> str:
    """Returns a schema of Arrow or polars, or a form or type of Awkward Array, as text."""
    if module == "awkward":
        return str(schema.to_json() if hasattr(schema, "to_json") else getattr(schema, "content", schema))
    if module == "polars":
        import polars

        stream = polars.DataFrame(schema=schema).__arrow_c_stream__()
    else:
        import pyarrow

        stream = pyarrow.schema(schema).empty_table().__arrow_c_stream__()
    return _forthwith.Given.from_arrow(stream).form_text()
