r"""Avro: writing of files, and encoding and decoding of values outside of files.

Files are read by `forthwith.open`. This module has `write` and `writer` for files, and functions for single
values: *datums* (encoded bytes without their schema) and *messages* (the single-object encoding: a datum
preceded by the fingerprint of its schema).

>>> import forthwith.avro
>>> schema = {"type": "record", "name": "Hit", "fields": [{"name": "x", "type": "double"}, {"name": "n", "type": "int"}]}
>>> datums = forthwith.avro.encode([{"x": 1.5, "n": 1}, {"x": 2.5, "n": -1}], schema)
>>> datums[0]
b'\\x00\\x00\\x00\\x00\\x00\\x00\\xf8?\\x02'
>>> forthwith.avro.decode(datums, schema).tolist()
[{'x': 1.5, 'n': 1}, {'x': 2.5, 'n': -1}]
"""

from __future__ import annotations

import os

from forthwith import _forthwith
from forthwith._avro_append import Appended
from forthwith._given import given as _given
from forthwith._interop import library as _library
from forthwith._interop.avro_values import AvroValues as _AvroValues
from forthwith._interop.avro_values import check_union_names as _check_union_names
from forthwith._keywords import one_codec
from forthwith._opening import schema_text as _schema_text
from forthwith._packages import package as _package
from forthwith._stores import of_target as _store
from forthwith._writer import Writer
from forthwith._writer import place as _place
from forthwith._writer import position as _position
from forthwith._writer import words as _words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from forthwith._interop.avro_values import UnionNames
    from forthwith._opening import Text
    from forthwith._writer import Writable

    Schema: TypeAlias = str | Mapping[str, Any] | Sequence[Any]

__all__ = [
    "Writer",
    "canonical",
    "decode",
    "decode_messages",
    "decode_rows",
    "encode",
    "encode_messages",
    "fingerprint",
    "schema_of",
    "write",
    "writer",
]


def writer(
    path: str | os.PathLike[str] | Writable,
    *,
    schema: Schema | None = None,
    codec: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    block_bytes: int | None = None,
    block_entries: int | None = None,
    name: str | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    marker: bytes | None = None,
    strict: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Writer:
    """Creates a file that is written array by array, with memory for one array and one block.

    The file gets its name at the end of the ``with`` block; after an exception it is discarded, and an
    existing file of that name is unchanged.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end. Blocks are
            appended to an existing Avro file that is open with mode ``"a+b"`` or not positioned at its
            beginning, with its schema, codec and marker.
        schema: The schema, as JSON or the equivalent Python objects. Columns are matched by name; fields
            without a column need a default. By default, the schema is that of the first array; see
            `schema_of`.
        codec: ``"null"`` (the default), ``"deflate"``, ``"snappy"``, ``"zstandard"``, ``"bzip2"``, ``"xz"``
            or ``"lz4"``, an extension that fastavro supports.
        compression: Alias of ``codec``, for compatibility with other libraries.
        level: The level of the codec: higher is smaller and slower.
        block_bytes: Uncompressed size of a block in bytes. By default 64 KiB.
        block_entries: Maximum number of entries in a block.
        name: The name of the record type, if neither the schema nor the array has one.
        metadata: Additional entries of the header.
        marker: The sync marker of 16 bytes, for reproducible files. By default, it is random.
        strict: Whether rows of Python values must have all fields of the schema. Otherwise, missing fields
            have their default, or null if nullable.
        storage_options: For URLs such as ``s3://bucket/out.avro``: options of the store, as in ``open``.

    Raises:
        RequestError: A codec or level is unknown (also a ``ValueError``).
        SourceError: The folder does not exist or is not writable (also an ``OSError``).
    """
    target, uri = _place(path, appends=True)
    if marker is not None and len(marker) != 16:
        raise ValueError(f"a marker has 16 bytes, not {len(marker)}")
    known = dict(_words(metadata))
    text = _schema_text(schema)
    chosen = one_codec(codec, compression)
    appended = Appended(target, uri) if target is not None and _position(target) else None
    if appended is not None:
        appended.check(text, known, marker)
        text, chosen, marker = appended.schema, appended.codec, appended.marker
    core = _forthwith.AvroWriter(
        path=uri,
        memory=target is not None,
        schema=text,
        codec=chosen,
        level=level,
        block_bytes=block_bytes or 0,
        block_entries=block_entries,
        name=name,
        metadata=list(known.items()),
        marker=None if marker is None else list(marker),
        append=appended is not None,
        strict=strict,
        store=_store(uri, storage_options),
    )
    nothing = "nothing was written, and no schema says what it would have been"
    return Writer(core, target, uri, nothing, rows=None if text is None else core.write_rows)


def write(
    path: str | os.PathLike[str] | Writable,
    array: Any,
    schema: Schema | None = None,
    *,
    codec: str | None = None,
    compression: str | None = None,
    level: int | None = None,
    block_bytes: int | None = None,
    block_entries: int | None = None,
    name: str | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    marker: bytes | None = None,
    strict: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Writes an array as an Avro file.

    Args:
        path: The destination: a path, or a file object, which receives all bytes at the end. Blocks are
            appended to an existing Avro file that is open with mode ``"a+b"`` or not positioned at its
            beginning, with its schema, codec and marker.
        array: An Awkward Array or anything that converts to one: a dict of columns, Arrow data, lists of
            dicts. Records become records of the file, and other values its entries. With a schema, lists are
            encoded value by value.
        schema: The schema; by default that of the array.
        codec: ``"null"`` (the default), ``"deflate"``, ``"snappy"``, ``"zstandard"``, ``"bzip2"``, ``"xz"``
            or ``"lz4"``, an extension that fastavro supports.
        compression: Alias of ``codec``, for compatibility with other libraries.
        level: The level of the codec: higher is smaller and slower.
        block_bytes: Uncompressed size of a block in bytes. By default 64 KiB.
        block_entries: Maximum number of entries in a block.
        name: The name of the record type, if neither the schema nor the array has one.
        metadata: Additional entries of the header.
        marker: The sync marker of 16 bytes, for reproducible files. By default, it is random.
        strict: Whether rows of Python values must have all fields of the schema. Otherwise, missing fields
            have their default, or null if nullable.
        storage_options: For URLs such as ``s3://bucket/out.avro``: options of the store, as in ``open``.
    """
    with writer(
        path,
        schema=schema,
        codec=codec,
        compression=compression,
        level=level,
        block_bytes=block_bytes,
        block_entries=block_entries,
        name=name,
        metadata=metadata,
        marker=marker,
        strict=strict,
        storage_options=storage_options,
    ) as file:
        file.write(array)


def schema_of(array: Any, name: str = "Record") -> Any:
    """Returns the default schema of an array, as Python objects equivalent to JSON."""
    import json

    return json.loads(_forthwith.avro_schema(_given(array), name))


def canonical(schema: Schema) -> str:
    """Returns the Parsing Canonical Form: the schema without attributes that do not affect decoding."""
    return _forthwith.avro_canonical(_text(schema))[0]


def fingerprint(schema: Schema) -> int:
    """Returns the fingerprint (CRC-64-AVRO) that identifies the schema of messages."""
    return _forthwith.avro_canonical(_text(schema))[1]


def encode(array: Any, schema: Schema | None = None, *, strict: bool = False) -> list[bytes]:
    """Encodes the values of an array as datums: bytes without a schema.

    Args:
        array: As in `write`.
        schema: The schema; by default that of the array (see `schema_of`).
        strict: As in `write`.
    """
    return _encode(array, schema, message=False, strict=strict)


def encode_messages(array: Any, schema: Schema | None = None, *, strict: bool = False) -> list[bytes]:
    """Encodes the values of an array as messages, with the arguments of `encode`."""
    return _encode(array, schema, message=True, strict=strict)


def decode(
    datums: bytes | Iterable[bytes],
    schema: Schema,
    *,
    count: int | None = None,
    reader_schema: Schema | None = None,
    text: Text = "strict",
) -> Any:
    """Decodes datums to an Awkward Array.

    Args:
        datums: A list of datums, each of which has to be consumed completely; or bytes of concatenated
            datums.
        schema: The writer's schema.
        count: The number of concatenated datums.
        reader_schema: The reader's schema, if it differs.
        text: The treatment of text that is not valid UTF-8, as in `open`.

    Raises:
        DamagedFileError: Datums do not match the schema (also a ``ValueError``).
    """
    array = _decoded(datums, schema, count, reader_schema, text)
    return _array(array, _schema_text(schema if reader_schema is None else reader_schema))


def decode_rows(
    datums: bytes | Iterable[bytes],
    schema: Schema,
    *,
    count: int | None = None,
    reader_schema: Schema | None = None,
    union_names: UnionNames | None = None,
    text: Text = "strict",
) -> list[Any]:
    """Decodes datums to Python values, as the rows of `Tree.rows`.

    Args:
        datums: As in `decode`.
        schema: The writer's schema.
        count: The number of concatenated datums.
        reader_schema: The reader's schema, if it differs.
        union_names: As in `Tree.rows`.
        text: The treatment of text that is not valid UTF-8, as in `open`.

    Raises:
        DamagedFileError: Datums do not match the schema (also a ``ValueError``).
    """
    import json

    _check_union_names(union_names)
    array = _decoded(datums, schema, count, reader_schema, text)
    wanted = _schema_text(schema if reader_schema is None else reader_schema)
    change, tagged = _AvroValues(json.loads(wanted or "null"), union_names).change([])
    values = array.objects(whole_nanoseconds=True, tagged=tagged)
    return values if change is None else list(map(change, values))


def decode_messages(
    messages: Iterable[bytes], schemas: Schema | Iterable[Schema], *, reader_schema: Schema | None = None
) -> Any:
    """Decodes messages (the single-object encoding) to an Awkward Array.

    Args:
        messages: The messages.
        schemas: The schema of the messages, or a list of possible schemas. A schema that is itself a list (a
            union) has to be an item of such a list.
        reader_schema: The reader's schema. Without one, messages of several schemas become an array of
            unions.
    """
    texts = [_text(schemas)] if isinstance(schemas, str) or hasattr(schemas, "keys") else [_text(s) for s in schemas]
    groups = _forthwith.avro_messages(texts, _schema_text(reader_schema), [bytes(message) for message in messages])
    if not groups:
        wanted = texts[0] if reader_schema is None and len(texts) == 1 else _schema_text(reader_schema)
        if wanted is None:
            raise ValueError("without messages, it is unknown which of the schemas is meant: give one")
        return decode([], wanted)
    library: Any = _library("ak")
    library.about_datums(_schema_text(reader_schema))
    arrays = [library.column("", array, 0) for array, _ in groups]
    if len(arrays) == 1:
        return arrays[0]
    ak, np = _package("awkward"), _package("numpy")
    order = np.argsort(np.concatenate([numbers for _, numbers in groups]), kind="stable")
    return library.of_layout("", ak.concatenate(arrays)[order].layout)


def _encode(array: Any, schema: Schema | None, *, message: bool, strict: bool) -> list[bytes]:
    text = None if schema is None else _text(schema)
    if text is not None and isinstance(array, (list, tuple)):
        return _forthwith.avro_encode_rows(text, array, message, strict)
    given = _given(array)
    if text is None:
        text = _forthwith.avro_schema(given, "Record")
    return _forthwith.avro_encode(text, given, message)


def _decoded(
    datums: bytes | Iterable[bytes],
    schema: Schema,
    count: int | None,
    reader_schema: Schema | None,
    text: Text = "strict",
) -> _forthwith.Array:
    reader = _schema_text(reader_schema)
    if isinstance(datums, (bytes, bytearray, memoryview)):
        if count is None:
            raise ValueError("bytes with several datums need their number: count=")
        return _forthwith.avro_joined(_text(schema), reader, bytes(datums), count, text)
    held = [bytes(datum) for datum in datums]
    if count is not None and count != len(held):
        raise ValueError(f"{len(held)} datums, and count={count}")
    return _forthwith.avro_apart(_text(schema), reader, held, text)


def _text(schema: Any) -> str:
    text = _schema_text(schema)
    if text is None:
        raise TypeError("a schema is needed")
    return text


def _array(core: _forthwith.Array, schema: str | None) -> Any:
    library = _library("ak")
    library.about_datums(schema)
    return library.column("", core, 0)
