"""Writes the Parquet files of tests/data/parquet, by pyarrow.

    python parquet.py FOLDER

One file for each way of writing the same small table: codecs, encodings, page versions. What is in them, pyarrow says when they are tested.
The files are small: pages have some fifty values, row groups 120 rows.
"""

import argparse
import datetime
import decimal
import pathlib
import random

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300


def table():
    """Every type, and what stands around values."""
    dice = random.Random(1)

    def some(make, nulls=0.0):
        return [None if dice.random() < nulls else make() for _ in range(ROWS)]

    def lists(make, mean=2, nulls=0.0, inner=0.0):
        def one():
            return [None if dice.random() < inner else make() for _ in range(int(dice.expovariate(1 / mean)))]

        return some(one, nulls)

    def number():
        return dice.randrange(-1000, 1000)

    def text():
        return "".join(dice.choice("abcdefgh é") for _ in range(dice.randrange(12)))

    def moment():
        return dice.randrange(-(10**15), 10**18)

    def record():
        return {"x": dice.random(), "tags": [text() for _ in range(dice.randrange(3))]}

    def money():
        return decimal.Decimal(dice.randrange(-(10**8), 10**8)).scaleb(-2)

    required = {
        "bool": (some(lambda: dice.random() < 0.5), pa.bool_()),
        "int8": (some(lambda: dice.randrange(-128, 128)), pa.int8()),
        "uint16": (some(lambda: dice.randrange(65536)), pa.uint16()),
        "int32": (some(number), pa.int32()),
        "uint64": (some(lambda: dice.randrange(2**64)), pa.uint64()),
        "float": (some(dice.random), pa.float32()),
        "string": (some(text), pa.string()),
    }
    optional = {
        "o_bool": (some(lambda: dice.random() < 0.5, 0.3), pa.bool_()),
        "o_int64": (some(moment, 0.3), pa.int64()),
        "o_double": (some(dice.random, 0.9), pa.float64()),
        "o_string": (some(text, 0.1), pa.string()),
        "o_binary": (some(lambda: text().encode(), 0.1), pa.binary()),
        "o_fixed": (some(lambda: dice.randbytes(5), 0.2), pa.binary(5)),
        "half": (some(lambda: dice.randrange(-99, 99) / 4, 0.2), pa.float16()),
        "date": (some(lambda: datetime.date(2000, 1, 1) + datetime.timedelta(number()), 0.2), pa.date32()),
        "millis": (some(lambda: moment() // 10**6, 0.2), pa.timestamp("ms", "UTC")),
        "nanos": (some(moment, 0.2), pa.timestamp("ns")),
        "decimal32": (some(lambda: money() % 10**4, 0.2), pa.decimal128(9, 2)),
        "decimal64": (some(money, 0.2), pa.decimal128(18, 2)),
        "decimal128": (some(money, 0.2), pa.decimal128(30, 2)),
        "nothing": (some(number, 1.1), pa.null()),
        "one_value": ([7] * ROWS, pa.int32()),
        "lists": (lists(number, 2, 0.1, 0.1), pa.list_(pa.int32())),
        "lists2": (some(lambda: [[number() for _ in range(dice.randrange(4))] for _ in range(dice.randrange(3))]),
                   pa.list_(pa.list_(pa.int64()))),
        "strings": (lists(text, 3, 0.1, 0.2), pa.list_(pa.string())),
        "record": (some(lambda: {"a": number(), "b": {"c": text(), "d": dice.random()}}, 0.2),
                   pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string()), ("d", pa.float64())]))])),
        "records": (lists(record, 2, 0.1, 0.1),
                    pa.list_(pa.struct([("x", pa.float32()), ("tags", pa.list_(pa.string()))]))),
        "map": (some(lambda: [(text(), number()) for _ in range(dice.randrange(4))], 0.1), pa.map_(pa.string(), pa.int32())),
        "one_long": ([list(range(5000))] + [[]] * (ROWS - 1), pa.list_(pa.int16())),
    }
    fields, columns = [], []
    for nullable, named in ((False, required), (True, optional)):
        for name, (values, kind) in named.items():
            fields.append(pa.field(name, kind, nullable))
            columns.append(pa.array(values, kind))
    return pa.table(columns, schema=pa.schema(fields))


PLAIN = {"use_dictionary": False, "compression": "none"}
DELTA = {
    "int32": "DELTA_BINARY_PACKED",
    "o_int64": "DELTA_BINARY_PACKED",
    "uint64": "DELTA_BINARY_PACKED",
    "lists.list.element": "DELTA_BINARY_PACKED",
    "string": "DELTA_BYTE_ARRAY",
    "o_fixed": "DELTA_BYTE_ARRAY",
    "o_string": "DELTA_LENGTH_BYTE_ARRAY",
    "strings.list.element": "DELTA_BYTE_ARRAY",
    "float": "BYTE_STREAM_SPLIT",
    "o_double": "BYTE_STREAM_SPLIT",
    "half": "BYTE_STREAM_SPLIT",
    "bool": "RLE",
    "o_bool": "RLE",
}
FILES = {
    "plain": PLAIN,
    "dictionary": {"compression": "none"},
    "delta": {"compression": "none", "use_dictionary": False, "column_encoding": DELTA},
    "pages2": {"compression": "zstd", "data_page_version": "2.0"},
    "pages2-delta": {"compression": "snappy", "use_dictionary": False, "column_encoding": DELTA, "data_page_version": "2.0"},
    "gzip": {"compression": "gzip"},
    "brotli": {"compression": "brotli"},
    "lz4": {"compression": "lz4"},
    "int96": {"use_deprecated_int96_timestamps": True},
    "checksums": {"compression": "snappy", "write_page_checksum": True},
}
# Not all types can be written all ways.
ONLY = {"int96": ["nanos"], "checksums": ["int32", "o_string", "strings"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(exist_ok=True, parents=True)
    whole = table()
    for name, options in FILES.items():
        path = folder / f"{name}.parquet"
        some = whole.select(ONLY[name]) if name in ONLY else whole
        pq.write_table(some, path, row_group_size=120, data_page_size=256, write_batch_size=50, **options)
    pq.write_table(whole.slice(0, 0), folder / "empty.parquet")


if __name__ == "__main__":
    main()
