"""Parquet files whose headers and footers say something else than their writer did.

A file is taken apart into its footer and the pages of each chunk, both as Thrift structures, which may be changed, and
put together again with every offset in its new place. As a script it is a campaign: it compares what forthwith and
pyarrow read of changed files.

    python tests/python/support/parquet_patches.py [--seed N] [--files N] [--keep FOLDER]
"""

import argparse
import collections
import datetime
import decimal
import math
import pathlib
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

import forthwith

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


class Field:
    """A field of a structure: its type in Thrift's compact protocol, and its value."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Items(list):
    """A list with the type of its items."""

    kind = STRUCT


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def integer(self):
        raw = self.varint()
        return raw >> 1 ^ -(raw & 1)

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self, kind):
        if kind in (I16, I32, I64):
            return self.integer()
        if kind == BYTE:
            return self.byte()
        if kind == DOUBLE:
            return self.take(8)
        if kind == BINARY:
            return self.take(self.varint())
        if kind in (LIST, SET):
            head = self.byte()
            size = self.varint() if head >> 4 == 15 else head >> 4
            items = Items()
            items.kind = head & 15
            items += [self.byte() if items.kind in (TRUE, FALSE) else self.value(items.kind) for _ in range(size)]
            return items
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"a field of type {kind}")

    def struct(self):
        fields, number = {}, 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            kind = head & 15
            fields[number] = Field(kind, kind == TRUE if kind in (TRUE, FALSE) else self.value(kind))
        return fields


def encoded(kind, value):
    if kind in (I16, I32, I64):
        return zigzag(value)
    if kind == BYTE:
        return bytes([value])
    if kind == DOUBLE:
        return value
    if kind == BINARY:
        return varint(len(value)) + value
    if kind in (LIST, SET):
        head = (
            bytes([len(value) << 4 | value.kind])
            if len(value) < 15
            else bytes([0xF0 | value.kind]) + varint(len(value))
        )
        return head + b"".join(bytes([v]) if value.kind in (TRUE, FALSE) else encoded(value.kind, v) for v in value)
    return struct(value)


def struct(fields):
    """A structure's bytes; every field says its number in full, which is the longer of the two ways."""
    out = bytearray()
    for number, field in fields.items():
        kind = field.kind
        if kind in (TRUE, FALSE):
            kind = TRUE if field.value else FALSE
        out += bytes([kind]) + zigzag(number)
        out += b"" if kind in (TRUE, FALSE) else encoded(kind, field.value)
    return bytes(out) + b"\0"


class Page:
    def __init__(self, header, body):
        self.header, self.body = header, body
        self.kind = {0: "v1", 2: "dictionary", 3: "v2"}[header[1].value]

    @property
    def inner(self):
        """The part of the header that this kind of page has."""
        return self.header[{"v1": 5, "dictionary": 7, "v2": 8}[self.kind]].value


class File:
    """A file taken apart."""

    def __init__(self, data):
        length = int.from_bytes(data[-8:-4], "little")
        self.footer = Reader(data, len(data) - 8 - length).struct()
        self.chunks = []
        for group in self.row_groups:
            for chunk in group[1].value:
                meta = chunk[3].value
                start = min(meta[n].value for n in (9, 11) if n in meta and meta[n].value > 0)
                end = start + meta[7].value
                pages = []
                while start < end:
                    reader = Reader(data, start)
                    header = reader.struct()
                    pages.append(Page(header, reader.take(header[3].value)))
                    start = reader.at
                self.chunks.append((chunk, pages))

    @property
    def row_groups(self):
        return self.footer[4].value

    @property
    def schema(self):
        """The elements of the schema, the root first."""
        return self.footer[2].value

    @property
    def pages(self):
        return [page for _, pages in self.chunks for page in pages]

    def leaves(self):
        """The elements that are columns."""
        return [element for element in self.schema if 1 in element]

    def put_together(self, offsets=True):
        """The file's bytes. With ``offsets``, the footer says where chunks are now."""
        data = bytearray(b"PAR1")
        for chunk, pages in self.chunks:
            meta, start = chunk[3].value, len(data)
            first_data = None
            for page in pages:
                if page.kind != "dictionary" and first_data is None:
                    first_data = len(data)
                data += struct(page.header) + page.body
            if offsets:
                if 11 in meta and pages and pages[0].kind == "dictionary":
                    meta[11].value = start
                meta[9].value = start if first_data is None else first_data
                meta[7].value = len(data) - start
                for number in (4, 5, 6, 7):  # indexes that are not where they were
                    chunk.pop(number, None)
                meta.pop(14, None)
                meta.pop(15, None)
        footer = struct(self.footer)
        return bytes(data) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def plain(value):
    """Values that can be compared, whoever read them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value


def of_pyarrow(data, name):
    """A column as pyarrow reads it, or the error it gives.

    Of a single column it tells no error if that has fewer values than the file has rows. That is one here.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(data), memory_map=False)
        column = file.read(columns=[name], use_threads=False)[name]
        if len(column) != file.metadata.num_rows:
            return ValueError(f"{len(column)} values in {file.metadata.num_rows} rows")
        return plain(column.to_pylist())
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        return error


def of_forthwith(data, name, threads=1):
    """A column as forthwith reads it, or the error it gives."""
    try:
        table = forthwith.open(pa.BufferReader(data))
        return plain(pa.array(table[name].array(library="arrow", threads=threads)).to_pylist())
    except (forthwith.ForthwithError, KeyError, OverflowError) as error:
        return error


def verdict(data, name):
    """How the two compare: ``same``, ``both refuse``, ``we refuse``, ``they refuse`` or ``DIFFERENT``."""
    theirs, ours = of_pyarrow(data, name), of_forthwith(data, name)
    refused = isinstance(theirs, Exception), isinstance(ours, Exception)
    word = {(True, True): "both refuse", (True, False): "they refuse", (False, True): "we refuse"}.get(refused)
    return word or ("same" if theirs == ours else "DIFFERENT"), theirs, ours


# Files to change.

MOMENT = datetime.datetime(2026, 11, 22, 1, 2, 3, 456000)
ENCODINGS = {
    "int": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "float": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "text": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "fixed": ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"],
    "bool": ["PLAIN", "RLE"],
}


def kinds(rng):
    """Types with a way to make a value of each and the encodings there are for it."""
    word = lambda: "".join(rng.choice("abc") for _ in range(rng.randrange(7)))  # noqa: E731
    return {
        "bool": (pa.bool_(), lambda: rng.random() < 0.5, "bool"),
        "int8": (pa.int8(), lambda: rng.randrange(-128, 128), "int"),
        "uint32": (pa.uint32(), lambda: rng.randrange(1 << 32), "int"),
        "int64": (pa.int64(), lambda: rng.randrange(-(10**12), 10**12), "int"),
        "small": (pa.int32(), lambda: rng.randrange(4), "int"),
        "float": (pa.float32(), lambda: rng.randrange(1000) / 8, "float"),
        "double": (pa.float64(), rng.random, "float"),
        "half": (pa.float16(), lambda: rng.randrange(64) / 4, "fixed"),
        "text": (pa.string(), word, "text"),
        "bytes": (pa.binary(), lambda: word().encode(), "text"),
        "fixed": (pa.binary(5), lambda: rng.randbytes(5), "fixed"),
        "date": (pa.date32(), lambda: MOMENT.date() + datetime.timedelta(rng.randrange(99)), "int"),
        "time": (pa.time64("us"), MOMENT.time, "int"),
        "stamp": (pa.timestamp("ms"), lambda: MOMENT + datetime.timedelta(hours=rng.randrange(99)), "int"),
        "price": (pa.decimal128(12, 2), lambda: decimal.Decimal(rng.randrange(10**6)) / 100, "fixed"),
    }


CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]


def written(rng):
    """A small file of one column, and the column's name."""
    name, (kind, make, family) = rng.choice(list(kinds(rng).items()))
    shape = rng.choice(["plain", "optional", "list", "record", "lists"])
    count = rng.choice([1, 9, 64, 300])
    leaf = make if shape == "plain" else lambda: None if rng.random() < 0.2 else make()
    if shape in ("plain", "optional"):
        values = [leaf() for _ in range(count)]
    elif shape == "list":
        kind, values = pa.list_(kind), [[leaf() for _ in range(rng.randrange(4))] for _ in range(count)]
    elif shape == "record":
        kind, values = pa.struct([("x", kind)]), [rng.choice([None, {"x": leaf()}]) for _ in range(count)]
    else:
        kind = pa.list_(pa.list_(kind))
        values = [[[leaf() for _ in range(rng.randrange(3))] for _ in range(rng.randrange(3))] for _ in range(count)]
    field = pa.field(name, kind, nullable=shape != "plain")
    table = pa.table([pa.array(values, kind)], schema=pa.schema([field]))
    dictionary = rng.random() < 0.4 and name != "bool"
    encoding = rng.choice(ENCODINGS[family])
    leaf_path = name + {"list": ".list.element", "lists": ".list.element.list.element", "record": ".x"}.get(shape, "")
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression=rng.choice(CODECS),
        data_page_version=rng.choice(["1.0", "2.0", "2.0"]),
        use_dictionary=dictionary,
        column_encoding=None if dictionary else {leaf_path: encoding},
        data_page_size=rng.choice([64, 1 << 20]),
        write_batch_size=rng.choice([16, 1024]),
        row_group_size=rng.choice([50, 1 << 20]),
    )
    return sink.getvalue().to_pybytes(), name


def near(rng, value):
    """Another number, often one that is nearly the same."""
    return rng.choice([value - 1, value + 1, value + 1, 0, -1, 1, value * 2, value + 8, value // 2, (1 << 31) - 1])


def change(rng, file):
    """Changes one thing that a page header or the footer says; answers what."""
    page = rng.choice(file.pages)
    numbers = {
        "v1": {"num_values": 1, "encoding": 2, "definition_encoding": 3, "repetition_encoding": 4},
        "dictionary": {"num_values": 1, "encoding": 2},
        "v2": {
            "num_values": 1,
            "num_nulls": 2,
            "num_rows": 3,
            "encoding": 4,
            "definition_bytes": 5,
            "repetition_bytes": 6,
        },
    }[page.kind]
    choices = ["uncompressed_page_size", "compressed_page_size", *numbers]
    if page.kind == "v2":
        choices += ["is_compressed"] * 3 + ["no is_compressed"]
    choices += ["kind", "codec", "chunk values", "dictionary offset 0", "created_by", "body"]
    what = rng.choice(choices)
    if what in numbers:
        field = page.inner[numbers[what]]
        # Not 4 for levels, since pyarrow takes the bits of BIT_PACKED the other way round.
        encodings = [0, 2, 3, 5, 6, 7, 8, 9, 11] if "tion" in what else [0, 2, 3, 4, 5, 6, 7, 8, 9, 11]
        field.value = rng.choice(encodings) if "encoding" in what else near(rng, field.value)
    elif what == "uncompressed_page_size":
        page.header[2].value = near(rng, page.header[2].value)
    elif what == "compressed_page_size":
        page.header[3].value = near(rng, page.header[3].value)
    elif what == "is_compressed":
        now = page.inner[7].value if 7 in page.inner else True
        page.inner[7] = Field(TRUE, not now)
    elif what == "no is_compressed":
        page.inner.pop(7, None)
    elif what == "kind":
        page.header[1].value = rng.choice([1, 2, 7, -1])
    elif what == "codec":
        rng.choice(file.chunks)[0][3].value[4].value = rng.choice([0, 1, 2, 4, 5, 6, 7, 3, 9])
    elif what == "chunk values":
        field = rng.choice(file.chunks)[0][3].value[5]
        field.value = near(rng, field.value)
    elif what == "dictionary offset 0":
        rng.choice(file.chunks)[0][3].value[11] = Field(I64, 0)
    elif what == "created_by":
        file.footer[6] = Field(BINARY, b"parquet-cpp version 1.5.1-SNAPSHOT")
    elif page.body:
        at = rng.randrange(min(len(page.body), 24))
        page.body = page.body[:at] + bytes([page.body[at] ^ 1 << rng.randrange(8)]) + page.body[at + 1 :]
    return f"{page.kind} {what}"


def campaign(seed, files, keep=None, changes=6):
    """Compares changed files. Answers how often each verdict was given of each change, and what differed."""
    rng = random.Random(seed)
    told, different = collections.Counter(), []
    for number in range(files):
        data, name = written(rng)
        word, theirs, ours = verdict(data, name)
        if "values in" in str(theirs):
            continue  # Of some of its own files pyarrow reads no rows.
        assert word == "same", (number, word, theirs, ours)
        for turn in range(changes):
            file = File(data)
            what = " and ".join(change(rng, file) for _ in range(rng.choice([1, 1, 1, 2])))
            offsets = rng.random() < 0.9
            changed = file.put_together(offsets)
            word, theirs, ours = verdict(changed, name)
            told[word, what] += 1
            if word == "DIFFERENT":
                different.append((number, turn, what, theirs, ours))
            if keep is not None and word not in ("same", "both refuse"):
                (keep / f"{word.replace(' ', '-')}-{seed}-{number}-{turn}.parquet").write_bytes(changed)
                reason = theirs if word == "they refuse" else ours
                print(f"{word}: file {number}, change {turn}, {what}: {str(reason)[:150]!r}")
    return told, different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files on which the two differ")
    chosen = parser.parse_args()
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    told, different = campaign(chosen.seed, chosen.files, chosen.keep)
    words = collections.Counter()
    for (word, _), count in told.items():
        words[word] += count
    for number, turn, what, theirs, ours in different:
        print(
            f"DIFFERENT: file {number}, change {turn}, {what}\n  theirs {str(theirs)[:200]}\n  ours   {str(ours)[:200]}"
        )
    print(", ".join(f"{count} {word}" for word, count in words.most_common()))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
