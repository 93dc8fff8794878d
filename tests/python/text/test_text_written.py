"""CSV and JSON written from Python: read back by pyarrow, polars, pandas and Python's own modules."""

import csv
import datetime
import decimal
import gzip
import io
import json
import random

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import forthwith

TABLE = pa.table(
    {
        "i": pa.array([1, None, -(2**63)], pa.int64()),
        "x": pa.array([0.1, 1e300, None], pa.float64()),
        "f": pa.array([0.1, None, 3.0], pa.float32()),
        "b": pa.array([True, False, None]),
        "s": pa.array(["a,b", 'say "x"', ""]),
        "t": pa.array([0, 1_700_000_000_123_456, None], pa.timestamp("us")),
        "d": pa.array([0, None, -1], pa.date32()),
        "n": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-0.05")], pa.decimal128(5, 2)),
    }
)


def written(write, table, **options) -> str:
    file = io.BytesIO()
    write(file, table, **options)
    return file.getvalue().decode()


def test_cells_are_spelled():
    assert written(forthwith.write_csv, TABLE) == (
        "i,x,f,b,s,t,d,n\n"
        '1,0.1,0.1,true,"a,b",1970-01-01T00:00:00.000000,1970-01-01,1.50\n'
        ',1e+300,,false,"say ""x""",2023-11-14T22:13:20.123456,,\n'
        '-9223372036854775808,,3.0,,"",,1969-12-31,-0.05\n'
    )


def test_options_of_cells():
    table = {"a": [1, None], "s": ["NA", "x y"], "w": ["u;v", None]}
    text = written(forthwith.write_csv, table, separator=";", null="NA", line_end="\r\n")
    assert text == 'a;s;w\r\n1;"NA";"u;v"\r\nNA;x y;NA\r\n'
    assert written(forthwith.write_csv, table, header=False, quote_style="always") == '"1","NA","u;v"\n,"x y",\n'
    assert written(forthwith.write_csv, table, quote_style="non_numeric", null="-") == (
        'a,s,w\n1,"NA","u;v"\n-,"x y",-\n'
    )


def test_names_tell_separators_and_lists(tmp_path):
    forthwith.write_csv(tmp_path / "x.tsv", {"a": [1], "b": ["t\tu"]})
    assert (tmp_path / "x.tsv").read_text() == 'a\tb\n1\t"t\tu"\n'
    assert forthwith.open(tmp_path / "x.tsv").arrays().tolist() == [{"a": 1, "b": "t\tu"}]
    for name, lines, expected in (
        ("x.json", None, '[\n{"a":1},\n{"a":2}\n]\n'),
        ("x.json", True, '{"a":1}\n{"a":2}\n'),
        ("x.jsonl", None, '{"a":1}\n{"a":2}\n'),
        ("x.ndjson", False, '[\n{"a":1},\n{"a":2}\n]\n'),
    ):
        forthwith.write_json(tmp_path / name, {"a": [1, 2]}, lines=lines)
        assert (tmp_path / name).read_text() == expected


def test_what_json_lacks():
    table = {"x": np.array([1.5, np.nan, -np.inf])}
    assert written(forthwith.write_json, table) == '{"x":1.5}\n{"x":null}\n{"x":null}\n'
    assert written(forthwith.write_json, table, nan="string") == '{"x":1.5}\n{"x":"NaN"}\n{"x":"-Infinity"}\n'
    with pytest.raises(forthwith.RequestError, match=r"JSON has no number NaN \(column \"x\"\)\n.*entry 1"):
        written(forthwith.write_json, table, nan="error")
    assert written(forthwith.write_csv, table) == "x\n1.5\nNaN\n-inf\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "ab"}, "separator: one ASCII character"),
        ({"separator": "é"}, "separator: one ASCII character"),
        ({"separator": "."}, "separator: one ASCII character"),
        ({"separator": "1"}, "separator: one ASCII character"),
        ({"null": "a,b"}, "null: a text without separators"),
        ({"null": '"'}, "null: a text without separators"),
        ({"quote_style": "never"}, "quote_style is one of necessary, non_numeric, always"),
        ({"line_end": "\r"}, "line_end"),
    ],
)
def test_options_that_there_are_not(options, message):
    with pytest.raises(forthwith.RequestError, match=message):
        written(forthwith.write_csv, {"a": [1]}, **options)
    with pytest.raises(forthwith.RequestError, match="nan is one of error, null, string"):
        written(forthwith.write_json, {"a": [1]}, nan="zero")


def test_columns_that_cells_cannot_hold(tmp_path):
    for column, kind in (
        ([[1, 2], []], r"var \* int64"),
        ([{"a": 1}, {"a": 2}], r"\{.*a.*: int64\}"),
        ([b"x", b"y"], "bytes"),
        (np.zeros((2, 3)), r"3 \* float64"),
        (pa.array([[1]], pa.list_(pa.duration("s"))), r"\?duration\[s\]"),
    ):
        with pytest.raises(forthwith.UnsupportedError, match=rf'{kind} in CSV \(column "c"\)'):
            forthwith.write_csv(tmp_path / "x.csv", {"c": column})
    assert not list(tmp_path.iterdir())
    for name in ("x.csv.gz", "x.csv.ZST"):
        with pytest.raises(forthwith.UnsupportedError, match="compressed files of text are not written"):
            forthwith.write_csv(tmp_path / name, {"c": [1]})
    with gzip.open(tmp_path / "y.jsonl.gz", "wb") as file:
        forthwith.write_json(file, {"c": [1, 2]})
    assert forthwith.open(tmp_path / "y.jsonl.gz").arrays().tolist() == [{"c": 1}, {"c": 2}]


def test_array_by_array(tmp_path):
    with forthwith.csv_writer(tmp_path / "x.csv", schema={"a": "?int64", "s": "?string"}) as file:
        file.write({"a": [1, 2]})
        file.write([{"s": "x"}])
        assert file.entries == 3
    assert (tmp_path / "x.csv").read_text() == "a,s\n1,\n2,\n,x\n"
    with forthwith.json_writer(tmp_path / "x.json") as file:
        file.write({"a": [1, 2]})
        file.write({"a": []})
        file.write({"a": [3]})
    assert json.loads((tmp_path / "x.json").read_text()) == [{"a": 1}, {"a": 2}, {"a": 3}]
    with pytest.raises(forthwith.RequestError, match="other fields"):
        forthwith.write_csv(tmp_path / "x.csv", iter([pa.table({"a": [1]}), pa.table({"b": [1]})]))
    assert (tmp_path / "x.csv").read_text() == "a,s\n1,\n2,\n,x\n"
    with forthwith.json_writer(tmp_path / "none.json", schema={"a": "int64"}):
        pass
    assert json.loads((tmp_path / "none.json").read_text()) == []


LETTERS = ["a", "Z", "0", " ", ",", ";", '"', "\n", "\r", "\t", "\\", "é", "漢", "\u2028", "NA", "x" * 20]


def texts(pick: random.Random, count: int, nulls: bool) -> list:
    made = ["".join(pick.choices(LETTERS, k=pick.randrange(6))) for _ in range(count)]
    return [None if nulls and pick.random() < 0.2 else text for text in made]


def flat_table(pick: random.Random, count: int) -> pa.Table:
    """Columns of all types that cells can hold, with and without missing values."""
    numbers = np.random.default_rng(pick.randrange(2**32))
    columns = {}
    for at in range(pick.randrange(1, 7)):
        nulls = pick.random() < 0.5
        mask = numbers.random(count) < 0.3 if nulls else None
        kind = pick.choice(["int8", "uint64", "int64", "float64", "float32", "bool", "text", "time", "date"])
        if kind == "text":
            column = pa.array(texts(pick, count, nulls), pa.large_string())
        elif kind == "bool":
            column = pa.array(numbers.random(count) < 0.5, mask=mask)
        elif kind.startswith("float"):
            raw = numbers.normal(size=count) * 10.0 ** numbers.integers(-30, 30, count)
            column = pa.array(raw.astype(kind), mask=mask)
        elif kind in ("time", "date"):
            days = numbers.integers(-100_000, 100_000, count)
            if kind == "time":
                column = pa.array(days * 86_399_000_123 + 7, pa.timestamp("us"), mask=mask)
            else:
                column = pa.array(days.astype("i4"), mask=mask).cast(pa.date32())
        else:
            limits = np.iinfo(kind)
            column = pa.array(numbers.integers(limits.min, limits.max, count, kind, endpoint=True), mask=mask)
        columns[f"c{at}"] = column
    return pa.table(columns)


def round_trip_csv(seed: int) -> None:
    pick = random.Random(seed)
    table = flat_table(pick, pick.choice([0, 1, 2, 50, 400]))
    separator = pick.choice([",", ";", "\t", "|"])
    style = pick.choice(["necessary", "non_numeric", "always"])
    null = pick.choice(["", "NA", "null"])
    line_end = pick.choice(["\n", "\r\n"])
    text = written(forthwith.write_csv, table, separator=separator, quote_style=style, null=null, line_end=line_end)
    read = pyarrow.csv.read_csv(
        io.BytesIO(text.encode()),
        pyarrow.csv.ReadOptions(use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=True),
        pyarrow.csv.ConvertOptions(
            column_types=table.schema,
            null_values=[null],
            strings_can_be_null=True,
            quoted_strings_can_be_null=table.num_columns == 1 and table.schema[0].type != pa.large_string(),
        ),
    )
    if not (table.num_columns == 1 and table.schema[0].type == pa.large_string() and null == ""):
        # Empty lines, which are missing texts here, are none for pyarrow.
        assert read.equals(table), seed
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert rows[0] == table.column_names
    assert len(rows) - 1 == table.num_rows
    if null == "" and line_end == "\n":
        ours = forthwith.open(io.BytesIO(text.encode()), format="csv", separator=separator)
        for name in table.column_names:
            if table.num_rows and table[name].null_count < table.num_rows:
                found = ours[name].array(library="arrow")
                assert found.cast(table[name].type).to_pylist() == table[name].to_pylist(), (seed, name)


def round_trip_json(seed: int) -> None:
    pick = random.Random(seed)
    flat = flat_table(pick, pick.choice([0, 1, 2, 50, 400]))
    lists = [None if pick.random() < 0.2 else list(range(pick.randrange(4))) for _ in range(flat.num_rows)]
    records = [{"u": number, "v": text} for number, text in enumerate(texts(pick, flat.num_rows, True))]
    table = flat.append_column("l", pa.array(lists, pa.large_list(pa.int64())))
    table = table.append_column("r", pa.array(records, pa.struct([("u", pa.int64()), ("v", pa.large_string())])))
    lines = pick.random() < 0.5
    text = written(forthwith.write_json, table, lines=lines)
    rows = [json.loads(line) for line in text.split("\n")[:-1]] if lines else json.loads(text)
    expected = table.to_pylist()
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        for name, value in wanted.items():
            found = row[name]
            if value is not None and table.schema.field(name).type == pa.float32():
                found = float(np.float32(found))
            if isinstance(value, (datetime.datetime, datetime.date)):
                found = type(value).fromisoformat(found)
            assert found == value, (seed, name)
    if lines and table.num_rows:
        # Of other numbers and times polars reads none with a schema.
        known = (pa.int64(), pa.float64(), pa.bool_(), pa.large_string())
        plain = table.select([field.name for field in table.schema if field.type in known or field.name in "lr"])
        read = pl.read_ndjson(io.BytesIO(text.encode()), schema=pl.from_arrow(plain.slice(0, 0)).schema)
        assert read.equals(pl.from_arrow(plain)), seed


def test_random_tables_are_read_back():
    for seed in range(40):
        round_trip_csv(seed)
        round_trip_json(seed)


def test_pieces_follow_each_other():
    count = 200_000
    table = pa.table({"i": np.arange(count), "s": [f"{number:x}" for number in range(count)]})
    text = written(forthwith.write_csv, table)
    assert pyarrow.csv.read_csv(
        io.BytesIO(text.encode()), convert_options=pyarrow.csv.ConvertOptions(column_types=table.schema)
    ).equals(table)
    rows = json.loads(written(forthwith.write_json, table, lines=False))
    assert rows == table.to_pylist()


@pytest.mark.parametrize("null", ["1", "-1.5", "true", "1e5"])
def test_a_text_for_missing_values_is_not_a_value(tmp_path, null):
    with pytest.raises(ValueError, match='could be a value of column "x"'):
        forthwith.write_csv(tmp_path / "x.csv", {"x": pa.array([1, None, 3])}, null=null)
    forthwith.write_csv(tmp_path / "x.csv", {"x": pa.array(["1", None])}, null=null)
