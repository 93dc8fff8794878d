"""Parquet files that we write: what pyarrow, polars and we read of them."""

import datetime
import decimal
import io

import awkward as ak
import numpy as np
import pytest
from test_parquet import path

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(array, **options):
    file = io.BytesIO()
    forthwith.write_parquet(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"codec": "none"},
        {"codec": "snappy"},
        {"codec": "gzip", "level": 9},
        {"codec": "brotli"},
        {"codec": "lz4"},
        {"codec": "zstd", "level": 1, "dictionary": False},
        {"row_group_entries": 7},
    ],
)
def test_written_files_are_read_by_others(options):
    import awkward as ak

    polars = pytest.importorskip("polars")
    array = ak.Array(
        [
            {
                "n": i,
                "x": i / 7,
                "on": i % 3 == 0,
                "text": "é" * (i % 4),
                "raw": b"ab" * (i % 3),
                "maybe": None if i % 5 == 0 else i,
                "lists": [[float(j)] * j for j in range(i % 4)],
                "record": {"a": i, "b": ["s"] * (i % 2)},
                "deep": None if i % 2 else [None, {"y": [i, None]}],
            }
            for i in range(50)
        ]
    )
    want = array.to_list()
    data = written(array, **options)
    assert pq.read_table(io.BytesIO(data)).to_pylist() == want
    assert polars.read_parquet(io.BytesIO(data)).to_dicts() == want
    assert forthwith.open(io.BytesIO(data)).arrays().to_list() == want
    if "row_group_entries" in options:
        assert pq.read_metadata(io.BytesIO(data)).num_row_groups == 8


def test_numbers_of_every_width_are_written():
    import numpy as np

    kinds = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
    columns = {kind: np.array([0, 1, 1, 0]).astype(kind) for kind in kinds}
    data = written(columns)
    table = pq.read_table(io.BytesIO(data))
    for kind, column in columns.items():
        assert table[kind].to_numpy().dtype == column.dtype
        assert (table[kind].to_numpy() == column).all()
        assert (forthwith.open(io.BytesIO(data))[kind].array(library="np") == column).all()


@pytest.mark.parametrize("name", ["plain", "empty"])
def test_what_was_read_is_written_again(name, tmp_path):
    names = [n for n in forthwith.open(path(name)) if n not in ("nothing", "half")]
    table = pq.read_table(path(name)).select(names)
    target = tmp_path / "again.parquet"
    arguments = ["forthwith", "convert", path(name), str(target), "--columns", ",".join(names)]
    assert forthwith._forthwith.command(arguments, None) == 0
    again = pq.read_table(target)
    for column in names:
        found, want = again[column], table[column]
        if pa.types.is_timestamp(want.type):
            found, want = found.cast("int64"), want.cast("int64")
        assert found.to_pylist() == want.to_pylist(), column


def as_dict(pairs):
    """A map, as this or that version of polars has it."""
    return pairs if isinstance(pairs, dict) else {pair["key"]: pair["value"] for pair in pairs}


def convert(source, target):
    assert forthwith._forthwith.command(["forthwith", "convert", str(source), str(target)], None) == 0


def test_decimals_in_integers_keep_their_point(tmp_path):
    fastavro = pytest.importorskip("fastavro")
    dec = decimal.Decimal
    columns = {
        "d": pa.array([dec("1.25"), None, dec("-0.01"), dec("9999999.99")], pa.decimal128(9, 2)),
        "e": pa.array([dec("-123456789012345.678"), dec(0), dec("0.127"), dec("0.128")], pa.decimal128(18, 3)),
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "x.parquet", store_decimal_as_integer=True)
    convert(tmp_path / "x.parquet", tmp_path / "x.avro")
    convert(tmp_path / "x.avro", tmp_path / "y.parquet")
    convert(tmp_path / "y.parquet", tmp_path / "y.avro")
    # And by way of Awkward Array, whose Form says so.
    forthwith.write_avro(tmp_path / "z.avro", forthwith.open(tmp_path / "y.parquet").arrays())
    for name in "xyz":
        with open(tmp_path / f"{name}.avro", "rb") as file:
            assert list(fastavro.reader(file)) == table.to_pylist(), name
    assert pq.read_table(tmp_path / "y.parquet").to_pylist() == table.to_pylist()
    fixed = {"type": "fixed", "name": "f", "size": 9, "logicalType": "decimal", "precision": 18, "scale": 3}
    schema = {"type": "record", "name": "r", "fields": [{"name": "e", "type": ["null", fixed]}]}
    for array in (forthwith.open(tmp_path / "y.parquet").arrays(["e"]), table.select(["e"])):
        forthwith.write_avro(tmp_path / "f.avro", array, schema)
        with open(tmp_path / "f.avro", "rb") as file:
            assert list(fastavro.reader(file)) == table.select(["e"]).to_pylist()
    schema = {"type": "record", "name": "r", "fields": [{"name": "e", "type": ["null", "long"]}]}
    with pytest.raises(ValueError, match="decimal"):
        forthwith.write_avro(tmp_path / "f.avro", forthwith.open(tmp_path / "y.parquet").arrays(["e"]), schema)


def arrow_types():
    when = datetime.datetime(2026, 3, 1, 12, 30, 15, 250000)
    day, clock, long = when.date(), when.time(), datetime.timedelta(days=2, microseconds=500)
    dec = decimal.Decimal
    return {
        "us_utc": pa.array([when, None], pa.timestamp("us", "UTC")),
        "ms": pa.array([when, None], pa.timestamp("ms")),
        "s": pa.array([when.replace(microsecond=0), None], pa.timestamp("s")),
        "time32": pa.array([clock, None], pa.time32("ms")),
        "time32s": pa.array([clock.replace(microsecond=0), None], pa.time32("s")),
        "time64": pa.array([clock, None], pa.time64("us")),
        "duration": pa.array([long, None], pa.duration("us")),
        "date32": pa.array([day, None], pa.date32()),
        "date64": pa.array([day, None], pa.date64()),
        "decimal128": pa.array([dec("-1.50"), None], pa.decimal128(20, 2)),
        "decimal256": pa.array([dec("-1.50"), None], pa.decimal256(50, 2)),
        "dictionary": pa.array(["b", None, "a"], pa.string()).dictionary_encode().slice(1),
        "numbers": pa.array([7, None]).dictionary_encode(),
        "map": pa.array([[("a", 1), ("b", None)], None], pa.map_(pa.string(), pa.int32())),
        "view": pa.array(["a string longer than twelve", None], pa.string_view()),
        "bytes": pa.array([b"ab", None], pa.binary_view()),
        "fixed": pa.array([b"abc", None], pa.binary(3)),
        "half": pa.array([1.5, None], pa.float16()),
        "list": pa.array([[9], [1, None], None], pa.list_(pa.int16())).slice(1),
        "pair": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
        "struct": pa.array([{"x": when, "n": None}, None], pa.struct({"x": pa.timestamp("us"), "n": pa.null()})),
        "flag": pa.array([False, True, None]).slice(1),
        "null": pa.nulls(2),
    }


def test_arrow_is_written_as_what_it_means():
    polars = pytest.importorskip("polars")
    columns = arrow_types()
    table = pa.concat_tables([pa.table(columns), pa.table(columns).slice(1)])
    data = written(table)
    found = pq.read_table(io.BytesIO(data))
    same = ["us_utc", "ms", "time32", "time64", "duration", "date32", "decimal128", "decimal256", "half", "null"]
    for name in columns:
        assert found[name].to_pylist() == table[name].to_pylist(), name
        if name in same:
            assert found[name].type == table[name].type, name
    assert pa.types.is_dictionary(found["dictionary"].type)
    rows = polars.read_parquet(
        io.BytesIO(data), columns=["us_utc", "date32", "decimal128", "map", "duration"]
    ).to_dicts()
    want = table.select(["us_utc", "date32", "decimal128", "map"]).to_pylist()
    for row, other in zip(rows, want, strict=True):
        assert [row[name] for name in ("us_utc", "date32", "decimal128")] == [
            other[name] for name in ("us_utc", "date32", "decimal128")
        ]
        pairs = row["map"] and list(as_dict(row["map"]).items())
        assert pairs == other["map"]
    # Read by us, and written again.
    again = written(forthwith.open(io.BytesIO(data)))
    assert pq.read_table(io.BytesIO(again)).to_pylist() == found.to_pylist()
    assert pq.read_table(io.BytesIO(again))["duration"].type == pa.duration("us")
    # Columns by themselves, and beside others.
    mixed = pq.read_table(io.BytesIO(written({"a": columns["us_utc"], "b": [1, 2]})))
    assert mixed["a"].type == pa.timestamp("us", "UTC")
    assert mixed["b"].to_pylist() == [1, 2]
    alone = pq.read_table(io.BytesIO(written(columns["date32"])))
    assert alone["value"].to_pylist() == columns["date32"].to_pylist()
    frame = polars.DataFrame(
        {"t": [datetime.date(2026, 1, 2)], "c": ["x"]}, schema={"t": polars.Date, "c": polars.Categorical}
    )
    assert pq.read_table(io.BytesIO(written(frame))).to_pylist() == frame.to_dicts()
    assert pq.read_table(io.BytesIO(written(frame["t"])))["t"].to_pylist() == frame["t"].to_list()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([decimal.Decimal("1200")], pa.decimal128(4, -2)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.RunEndEncodedArray.from_arrays([2], [1.5]),
    ],
    ids=lambda column: str(column.type),
)
def test_arrow_that_has_no_place_is_named(column):
    table = pa.table({"x": pa.StructArray.from_arrays([column], ["y"])})
    with pytest.raises(forthwith.UnsupportedError, match=r'"x\.y"'):
        written(table)


def test_maps_are_maps(tmp_path):
    fastavro, polars = pytest.importorskip("fastavro"), pytest.importorskip("polars")
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "m", "type": {"type": "map", "values": ["null", "long"]}},
            {"name": "o", "type": ["null", {"type": "map", "values": {"type": "map", "values": "string"}}]},
        ],
    }
    entries = [
        {"m": {"a": 1, "b": None}, "o": {"x": {"y": "z"}, "e": {}}},
        {"m": {}, "o": None},
        {"m": {"é": -1}, "o": {}},
    ]
    with open(tmp_path / "a.avro", "wb") as file:
        fastavro.writer(file, schema, entries)
    convert(tmp_path / "a.avro", tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "b.avro")
    with open(tmp_path / "b.avro", "rb") as file:
        assert list(fastavro.reader(file)) == entries
    table = pq.read_table(tmp_path / "a.parquet")
    assert pa.types.is_map(table["m"].type)
    assert pa.types.is_map(table["o"].type.item_type)
    assert [dict(row) for row in table["m"].to_pylist()] == [entry["m"] for entry in entries]
    text = str(pq.read_schema(tmp_path / "a.parquet")) + str(pq.ParquetFile(tmp_path / "a.parquet").schema)
    assert "m (Map)" in text
    assert "key_value" in text
    assert "required binary field_id=-1 key (String)" in text
    rows = polars.read_parquet(tmp_path / "a.parquet")["m"].to_list()
    assert [as_dict(row) for row in rows] == [entry["m"] for entry in entries]
    # Through Awkward Array as well; pairs of numbers stay pairs.
    array = forthwith.open(tmp_path / "a.parquet").arrays()
    assert pa.types.is_map(pq.read_table(io.BytesIO(written(array)))["m"].type)
    pairs = pq.read_table(io.BytesIO(written({"p": [[(1, 2)]]})))["p"]
    assert pairs.to_pylist() == [[{"0": 1, "1": 2}]]


def test_times_of_numpy():
    import awkward as ak
    import numpy as np

    for unit in ("D", "h", "m", "s", "ms", "us", "ns"):
        times = np.array(["2026-01-02", "NaT", "1960-02-29"], f"datetime64[{unit}]")
        table = pq.read_table(io.BytesIO(written({"t": times})))
        assert table["t"].null_count == 1
        assert (table["t"].to_numpy()[[0, 2]] == times[[0, 2]]).all()
        assert pa.types.is_date32(table["t"].type) == (unit == "D")
    for unit in ("D", "h", "m", "s", "ms", "us", "ns"):
        spans = np.array([1, "NaT", -5], f"timedelta64[{unit}]")
        data = written({"t": spans})
        table = pq.read_table(io.BytesIO(data))
        assert table["t"].null_count == 1
        assert pa.types.is_duration(table["t"].type)
        assert (table["t"].to_numpy()[[0, 2]] == spans[[0, 2]]).all()
        again = pq.read_table(io.BytesIO(written(forthwith.open(io.BytesIO(data)).arrays())))
        assert again.equals(table)
    # In dimensions, and in lists beside nulls.
    square = np.array([["2026-01-02", "NaT"], ["NaT", "1970-01-01"]], "datetime64[us]")
    table = pq.read_table(io.BytesIO(written({"t": square})))
    assert table["t"].to_pylist() == [[datetime.datetime(2026, 1, 2), None], [None, datetime.datetime(1970, 1, 1)]]
    lists = ak.Array([[np.datetime64("2026-01-02", "s"), None], [np.datetime64("NaT", "s")]])
    table = pq.read_table(io.BytesIO(written({"t": lists})))
    assert table["t"].to_pylist() == [[datetime.datetime(2026, 1, 2), None], [None]]
    data = written({"h": np.array([1.5, -2.0], "f2")})
    assert pq.read_table(io.BytesIO(data))["h"].type == pa.float16()
    with pytest.raises(forthwith.UnsupportedError):
        written({"t": np.array([1], "timedelta64[M]")})


def test_nothing_is_left_behind(tmp_path):
    target = tmp_path / "a.parquet"

    def write(*steps):
        with forthwith.parquet_writer(target) as file:
            for step in steps:
                file.write(step() if callable(step) else step)

    with pytest.raises(ZeroDivisionError):
        write({"x": [1, 2]}, lambda: {"x": [1 / 0]})
    with pytest.raises(forthwith.UnsupportedError, match=r"unions in Parquet .column .u."):
        forthwith.write_parquet(target, {"u": [1, "two"]})
    with pytest.raises(forthwith.RequestError, match="unknown codec"):
        forthwith.write_parquet(target, {"x": [1]}, codec="lzo")
    with pytest.raises(forthwith.RequestError, match="other fields"):
        write({"x": [1]}, {"y": [1]})
    with pytest.raises(ValueError, match="nothing was written"):
        write()
    with pytest.raises(OSError):
        forthwith.write_parquet(tmp_path / "no" / "a.parquet", {"x": [1]})
    assert list(tmp_path.iterdir()) == []
    with forthwith.parquet_writer(target) as file:
        for step in range(3):
            file.write({"x": [step] * 4})
    assert forthwith.open(str(target)).arrays().x.to_list() == [0] * 4 + [1] * 4 + [2] * 4


@pytest.mark.parametrize(
    "ty",
    [
        pa.map_(pa.int32(), pa.string()),
        pa.map_(pa.int64(), pa.list_(pa.float64())),
        pa.map_(pa.float64(), pa.int8()),
        pa.map_(pa.bool_(), pa.map_(pa.int16(), pa.string())),
        pa.map_(pa.date32(), pa.string()),
        pa.map_(pa.binary(), pa.int64()),
        pa.map_(pa.struct([("a", pa.int32())]), pa.int64()),
        pa.map_(pa.string(), pa.int64()),
    ],
    ids=str,
)
def test_maps_of_any_keys_are_maps_again(ty):
    def key(of, n):
        if pa.types.is_struct(of):
            return {"a": n}
        as_python = {pa.binary(): str(n).encode(), pa.string(): str(n), pa.date32(): datetime.date(2026, 1, 1 + n)}
        return as_python.get(of, bool(n % 2) if pa.types.is_boolean(of) else n)

    def value(of, n):
        if pa.types.is_list(of):
            return [0.5] * n
        if pa.types.is_map(of):
            return [(key(of.key_type, k), value(of.item_type, k)) for k in range(n)]
        return f"v{n}" if pa.types.is_string(of) else n

    rows = [[(key(ty.key_type, k), value(ty.item_type, k)) for k in range(n)] for n in (0, 1, 2)] * 50
    rows[7] = None
    table = pa.table({"m": pa.array(rows, ty), "lm": pa.array([[row] for row in rows], pa.list_(ty))})
    for source in (table, None):
        file = io.BytesIO()
        if source is None:
            # What was read of pyarrow's file, through Awkward Array.
            pq.write_table(table, file)
            read = forthwith.open(file).arrays()
            file = io.BytesIO()
            forthwith.parquet.write(file, read)
        else:
            forthwith.parquet.write(file, source)
        again = pq.read_table(file)
        assert pa.types.is_map(again["m"].type)
        assert pa.types.is_map(again["lm"].type.value_type)
        assert (
            again["m"].type.key_type == ty.key_type
            or pa.types.is_large_binary(again["m"].type.key_type)
            or (pa.types.is_large_string(again["m"].type.key_type))
        )
        assert again["m"].to_pylist() == table["m"].to_pylist()
        assert again["lm"].to_pylist() == table["lm"].to_pylist()
        assert pq.read_schema(file).field("m").type == again["m"].type
        ours = forthwith.open(file)["m"].array()
        if not pa.types.is_date(ty.key_type):
            assert ours.to_list() == rows


def test_lists_of_pairs_that_were_no_maps_stay_lists():
    import awkward as ak

    file = io.BytesIO()
    forthwith.parquet.write(file, ak.Array({"p": [[(1, 2.5), (1, 3.5)], []]}))
    assert pa.types.is_large_list(pq.read_schema(file).field("p").type)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_come_back_as_such(unit):
    values = pa.array([1, None, -86400], pa.int64()).cast(pa.duration(unit))
    table = pa.table({"d": values, "l": pa.array([[0], [], [5, 6]], pa.list_(pa.duration(unit)))})
    file = io.BytesIO()
    pq.write_table(table, file)
    tree = forthwith.open(file)
    assert tree["d"].array(logical=False).to_list() == [1, None, -86400]
    found = pa.table(tree)
    assert found["d"].type == pa.duration(unit)
    assert found["d"].to_pylist() == table["d"].to_pylist()
    assert found["l"].to_pylist() == table["l"].to_pylist()
    pandas = pytest.importorskip("pandas")
    frame = tree.arrays(["d"], library="pd")
    assert pandas.api.types.is_timedelta64_dtype(frame["d"].dtype) or "duration" in str(frame["d"].dtype)
    # And through Awkward Array, and from Arrow.
    for source in (tree.arrays(), table):
        again = io.BytesIO()
        forthwith.parquet.write(again, source)
        assert pq.read_table(again)["d"].to_pylist() == table["d"].to_pylist()
        assert pq.read_table(again)["d"].type == pa.duration(unit)


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_of_one_length_come_back_as_such(threads):
    rows = [None if n % 5 == 2 else [float(n), n + 0.5, -n] for n in range(1000)]
    whole = [[n, n + 1] for n in range(1000)]
    deep = [[[[n, n], [n, k], [k, k]] for k in range(n % 3)] for n in range(1000)]
    structs = [[{"a": n, "b": str(n)}, None] for n in range(1000)]
    table = pa.table(
        {
            "rows": pa.array(rows, pa.list_(pa.float64(), 3)),
            "whole": pa.array(whole, pa.list_(pa.field("item", pa.int32(), nullable=False), 2)),
            "deep": pa.array(deep, pa.list_(pa.list_(pa.list_(pa.int64(), 2), 3))),
            "structs": pa.array(structs, pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]), 2)),
        }
    )
    table = table.cast(table.schema.set(1, table.schema.field("whole").with_nullable(False)))
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=300)
    tree = forthwith.open(file, threads=threads)
    arrays = tree.arrays()
    assert arrays.to_list() == table.to_pylist()
    assert str(arrays["whole"].type) == "1000 * 2 * int32"
    assert str(arrays["rows"].type) == "1000 * option[3 * ?float64]"
    assert str(arrays["deep"].type) == "1000 * option[var * option[3 * option[2 * ?int64]]]"
    assert tree["whole"].array(library="np").shape == (1000, 2)
    assert tree.arrays(["structs/b", "whole"], entry_start=290, entry_stop=310).to_list() == [
        {"structs/b": [str(n), None], "whole": whole[n]} for n in range(290, 310)
    ]
    assert [step.to_list() for step in tree.iterate(["deep"], step_size=333)] == [
        [{"deep": row} for row in deep[at : at + 333]] for at in range(0, 1000, 333)
    ]
    found = pa.table(tree)
    assert [found[name].type.equals(pa.list_(table[name].type.value_field, 3)) for name in ("rows",)] == [True]
    assert found.to_pylist() == table.to_pylist()
    # Without Arrow's word they are lists.
    plain_file = io.BytesIO()
    pq.write_table(table.select(["whole"]), plain_file, store_schema=False)
    assert str(forthwith.open(plain_file)["whole"].array().type) == "1000 * var * int32"
    # And we write them so that they come back.
    again = io.BytesIO()
    forthwith.parquet.write(again, arrays)
    assert forthwith.open(again).arrays().type == arrays.type
    assert pq.read_table(again).to_pylist() == table.to_pylist()


def test_lists_of_one_length_in_what_may_be_missing_are_read_by_others():
    pl = pytest.importorskip("polars")
    # Arrow's reader finds that such lists are not of one length where the record around them is missing.
    pair = ak.contents.RegularArray(ak.contents.NumpyArray([1, 2, 3, 4]), 2)
    index = ak.index.Index64([0, -1, 1])

    def record(**fields):
        return ak.contents.RecordArray(list(fields.values()), list(fields))

    def optional(content):
        return ak.contents.IndexedOptionArray(index, content)

    whole = ak.contents.RegularArray(record(w=pair), 1)
    lists = ak.contents.ListOffsetArray(ak.index.Index64([0, 2, 2, 3]), optional(record(v=pair)))
    for column in (
        optional(record(v=pair)),
        optional(record(s=record(v=pair), x=ak.contents.NumpyArray([5, 6]))),
        record(s=optional(record(v=pair))),
        lists,
        optional(whole),
        optional(record(v=whole)),
        optional(record(v=ak.contents.NumpyArray(np.arange(12).reshape(2, 3, 2)))),
    ):
        array = ak.Array(record(c=column))
        file = io.BytesIO()
        forthwith.parquet.write(file, array)
        table = pq.read_table(file)
        table.validate(full=True)
        assert table.to_pylist() == array.to_list()
        assert pl.read_parquet(io.BytesIO(file.getvalue())).to_dicts() == array.to_list()
        assert forthwith.open(file).arrays().to_list() == array.to_list()
        again = io.BytesIO()
        forthwith.parquet.write(again, forthwith.open(file).arrays())
        assert forthwith.open(again).arrays().type == forthwith.open(file).arrays().type
    array = ak.Array(record(c=optional(record(v=pair)), d=pair[[0, 1, 0]]))
    file = io.BytesIO()
    forthwith.parquet.write(file, array)
    assert str(forthwith.open(file).arrays().type) == "3 * {c: ?{v: option[2 * int64]}, d: 2 * int64}"


def test_numbers_that_have_no_place_are_named():
    for write in (forthwith.write_avro, forthwith.write_parquet):
        for array, place in (
            ({"good": [1], "bad": [1j]}, "bad"),
            ({"good": pa.array([1]), "bad": [1j]}, "bad"),
            ({"good": [1], "bad": ak.Array([{"x": [{"y": 1j}]}])}, "bad/x/y"),
            ([{"good": 1, "bad": 1j}], "bad"),
        ):
            with pytest.raises(forthwith.UnsupportedError, match=rf'complex128 \(column "{place}"\)'):
                write(io.BytesIO(), array)
    long = np.array([1], "m8[s]")
    for array, said in (
        (long, r"a length of time, in Avro"),
        ({"x": long}, r'a length of time, in Avro \(column "x"\)'),
        ({"x": ak.Array([{"y": long}])}, r'a length of time, in Avro \(column "x/y"\)'),
    ):
        with pytest.raises(forthwith.UnsupportedError, match=rf"not supported yet: duration\[s\], {said}\n"):
            forthwith.write_avro(io.BytesIO(), array)


def test_what_is_missing_in_csv_is_an_entry(tmp_path):
    pd, pc = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.csv")
    columns = {
        "i": (pa.array([1, None, None, 4]), 'i\n1\n""\n""\n4\n'),
        "d": (pa.array([None, datetime.date(2024, 1, 2)]), 'd\n""\n2024-01-02\n'),
        # Where quotes are an empty text.
        "t": (pa.array(["a", None, "", "b"]), 't\na\n\n""\nb\n'),
        "c": (pa.array(["a", None, "a"]).dictionary_encode(), "c\na\n\na\n"),
    }
    for name, (column, text) in columns.items():
        source, target = tmp_path / f"{name}.parquet", tmp_path / f"{name}.csv"
        pq.write_table(pa.table({name: column}), source)
        convert(source, target)
        assert target.read_text() == text
        lines = pc.read_csv(target, parse_options=pc.ParseOptions(ignore_empty_lines=False))
        assert lines.num_rows == len(column)
        assert len(pd.read_csv(target, skip_blank_lines=False)) == len(column)
        if name in "id":
            assert pc.read_csv(target)[name].to_pylist() == column.to_pylist()
            assert pd.read_csv(target)[name].isna().tolist() == column.is_null().to_pylist()
    source, target = tmp_path / "two.parquet", tmp_path / "two.csv"
    pq.write_table(pa.table({"i": [None, 1], "t": ["", None]}), source)
    convert(source, target)
    assert target.read_text() == 'i,t\n,""\n1,\n'
