r"""Avro: writing files, and values without a file round them.

Files are read by `forthwith.open`. This module has the rest: `write` and `writer` for files, and for single values *datums*
(bytes and nothing else, whose schema one has to know) and *messages* (the single-object encoding: a datum behind the
fingerprint of its schema).

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
    """A file to be written array by array, in memory of one array and one block.

    The file has its name when the ``with`` block ends; if it ends with an exception, nothing is left behind, and a file
    that had the name before is as it was.

    Args:
        path: Where to write: a path, or a file object, which gets all bytes at the end. To an Avro file that is opened with
            mode ``"a+b"``, or stands elsewhere than at its beginning, blocks are appended: by its schema, codec and marker.
        schema: The schema, as JSON or what JSON is made of. Columns go by their names; fields that have no column need a
            default. Without one it follows from the first array; `schema_of` shows it.
        codec: ``"null"`` (the default), ``"deflate"``, ``"snappy"``, ``"zstandard"``, ``"bzip2"``, ``"xz"`` or ``"lz4"``,
            which is none of the specification's: fastavro reads and writes it.
        compression: Another name of ``codec``, as other libraries have it.
        level: The codec's level: more is smaller and slower.
        block_bytes: Bytes that make a block full before it is compressed. By default 64 KiB.
        block_entries: Entries that make a block full.
        name: The name of the record type, if the schema is not given and the array has none.
        metadata: More entries of the header.
        marker: The sync marker of 16 bytes, for files that have to be the same every time. By default it is random.
        strict: Whether rows of Python values must have every field of the schema. Otherwise a field that a row lacks has its
            default, or is null if it may be.
        storage_options: For URLs of stores such as ``s3://bucket/out.avro``: how the store is reached, as in ``open``.

    Raises:
        RequestError: A codec or level that does not exist (also a ``ValueError``).
        SourceError: The folder does not exist or may not be written (also an ``OSError``).
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
        path: Where to write: a path, or a file object, which gets all bytes at the end. To an Avro file that is opened with
            mode ``"a+b"``, or stands elsewhere than at its beginning, blocks are appended: by its schema, codec and marker.
        array: An Awkward Array or anything that one can be made of: a dict of columns, Arrow data, lists of dicts. Records
            become records of the file, anything else its values. With a schema, lists are written value by value as it says.
        schema: The schema; without one it follows from the array.
        codec: ``"null"`` (the default), ``"deflate"``, ``"snappy"``, ``"zstandard"``, ``"bzip2"``, ``"xz"`` or ``"lz4"``,
            which is none of the specification's: fastavro reads and writes it.
        compression: Another name of ``codec``, as other libraries have it.
        level: The codec's level: more is smaller and slower.
        block_bytes: Bytes that make a block full before it is compressed. By default 64 KiB.
        block_entries: Entries that make a block full.
        name: The name of the record type, if the schema is not given and the array has none.
        metadata: More entries of the header.
        marker: The sync marker of 16 bytes, for files that have to be the same every time. By default it is random.
        strict: Whether rows of Python values must have every field of the schema. Otherwise a field that a row lacks has its
            default, or is null if it may be.
        storage_options: For URLs of stores such as ``s3://bucket/out.avro``: how the store is reached, as in ``open``.
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
    """The schema an array is written with if none is given, as what JSON is made of."""
    import json

    return json.loads(_forthwith.avro_schema(_given(array), name))


def canonical(schema: Schema) -> str:
    """The Parsing Canonical Form: the schema without anything that reading needs not."""
    return _forthwith.avro_canonical(_text(schema))[0]


def fingerprint(schema: Schema) -> int:
    """The fingerprint (CRC-64-AVRO) by which messages name their schema."""
    return _forthwith.avro_canonical(_text(schema))[1]


def encode(array: Any, schema: Schema | None = None, *, strict: bool = False) -> list[bytes]:
    """The values of an array as datums: bytes without a schema.

    Args:
        array: As `write` takes it.
        schema: The schema; without one it follows from the array (see `schema_of`).
        strict: As `write` takes it.
    """
    return _encode(array, schema, message=False, strict=strict)


def encode_messages(array: Any, schema: Schema | None = None, *, strict: bool = False) -> list[bytes]:
    """The values of an array as messages: datums behind the fingerprint of their schema. As `encode` takes them."""
    return _encode(array, schema, message=True, strict=strict)


def decode(
    datums: bytes | Iterable[bytes],
    schema: Schema,
    *,
    count: int | None = None,
    reader_schema: Schema | None = None,
    text: Text = "strict",
) -> Any:
    """Datums as an Awkward Array.

    Args:
        datums: Datums one by one, each of which has to be consumed exactly; or bytes of several that follow each other
            directly.
        schema: The schema they were written with.
        count: How many there are, if they follow each other.
        reader_schema: The schema they are wanted as, if that is another one.
        text: The treatment of text that is not UTF-8, as in `open`.

    Raises:
        DamagedFileError: They are not what the schema says (also a ``ValueError``).
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
    """Datums as values of Python's own classes, as the rows of `Tree.rows`.

    Args:
        datums: As in `decode`.
        schema: The schema they were written with.
        count: How many there are, if they follow each other.
        reader_schema: The schema they are wanted as, if that is another one.
        union_names: As in `Tree.rows`.
        text: The treatment of text that is not UTF-8, as in `open`.

    Raises:
        DamagedFileError: They are not what the schema says (also a ``ValueError``).
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
    """Messages (the single-object encoding) as an Awkward Array.

    Args:
        messages: Messages one by one.
        schemas: The schema they may be of, or a list of such schemas. One given as a list of types (a union) has to be in such
            a list itself.
        reader_schema: The schema they are wanted as. Without one, messages of several schemas become an array of a union.
    """
    texts = [_text(schemas)] if isinstance(schemas, str) or hasattr(schemas, "keys") else [_text(s) for s in schemas]
    groups = _forthwith.avro_messages(texts, _schema_text(reader_schema), [bytes(message) for message in messages])
    if not groups:
        wanted = texts[0] if reader_schema is None and len(texts) == 1 else _schema_text(reader_schema)
        if wanted is None:
            raise ValueError("without messages, it is unknown which of the schemas is meant: give one")
        return decode([], wanted)
    arrays = [_array(array, None) for array, _ in groups]
    if len(arrays) == 1:
        return arrays[0]
    ak, np = _package("awkward"), _package("numpy")
    order = np.argsort(np.concatenate([numbers for _, numbers in groups]), kind="stable")
    return ak.concatenate(arrays)[order]


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
