"""Arrow data in the layouts that consumers request: offsets of 32 bits, views and dictionaries, against pyarrow's casts."""

import io
import random

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

TEXT = (pa.large_string(), pa.string(), pa.string_view())
BYTES = (pa.large_binary(), pa.binary(), pa.binary_view())


def opened(table: pa.Table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return forthwith.open(io.BytesIO(file.getvalue()))


def plain(table: pa.Table) -> list:
    table.validate(full=True)
    return table.to_pylist()


def test_layouts_by_name():
    table = pa.table(
        {"s": ["a", None, "x" * 30, ""], "b": [b"\xff" * 20, b"", None, b"c"], "l": [["y" * 13], [], None, [None]]}
    )
    file = opened(table)
    for strings, text, binary in zip(("large_string", "string", "string_view"), TEXT, BYTES, strict=True):
        selection = file.select(["s", "b", "l"], strings=strings)
        read = pa.table(selection)
        assert read.schema.types == [text, binary, pa.large_list(text)]
        assert pa.schema(selection).types == read.schema.types
        assert plain(read) == table.to_pylist()
    with pytest.raises(
        forthwith.RequestError, match="strings must be 'large_string', 'string' or 'string_view', not 'x'"
    ):
        file.select(strings="x")


def test_dictionaries_by_name_and_as_the_file_has_them():
    city = pa.array(["a", "b", None, "a"] * 5).dictionary_encode()
    table = pa.table({"city": city, "name": [f"name {row % 3}" for row in range(20)], "n": range(20)})
    file = opened(table)
    kept = pa.table(file.select(dictionaries=True))
    assert kept.schema.types == [pa.dictionary(pa.int32(), pa.large_string()), pa.large_string(), pa.int64()]
    assert plain(kept) == table.to_pylist()
    named = pa.table(file.select(["name", "city"], dictionaries=["name"], strings="string_view", step_size=7))
    assert named.schema.types == [pa.dictionary(pa.int32(), pa.string_view()), pa.string_view()]
    assert named.num_rows == 20
    assert named["name"].num_chunks == 3
    assert plain(named) == table.select(["name", "city"]).to_pylist()
    with pytest.raises(forthwith.RequestError, match='there is no column "x" among those selected'):
        pa.table(file.select(dictionaries=["x"]))
    with pytest.raises(forthwith.RequestTypeError, match="a list of names, not 'name'"):
        file.select(dictionaries="name")


def test_requests_that_are_no_layout_are_ignored():
    table = pa.table({"i": [1, 2], "s": ["a", "b"], "t": pa.array([0, 1], pa.timestamp("us"))})
    stream = opened(table).__arrow_c_stream__
    request = pa.schema({"i": pa.int32(), "s": pa.int64(), "t": pa.timestamp("ns"), "other": pa.string()})
    read = pa.RecordBatchReader._import_from_c_capsule(stream(request.__arrow_c_schema__())).read_all()
    assert read.schema.types == [pa.int64(), pa.large_string(), pa.timestamp("us")]
    assert plain(read) == table.to_pylist()


def test_keys_that_are_too_few():
    table = pa.table({"s": [f"{row}" for row in range(200)]})
    request = pa.schema({"s": pa.dictionary(pa.int8(), pa.string())})
    stream = opened(table).__arrow_c_stream__(request.__arrow_c_schema__())
    with pytest.raises(
        Exception, match="column s has more different values in a batch than the keys of its dictionary count"
    ):
        pa.RecordBatchReader._import_from_c_capsule(stream).read_all()
    wider = pa.table(opened(table), schema=pa.schema({"s": pa.dictionary(pa.uint8(), pa.string())}))
    assert plain(wider) == table.to_pylist()


def test_text_that_is_not_utf8_is_an_error():
    bad = pa.table({"s": pa.array([b"good", b"\xff" * 20]).view(pa.string())})
    for strings in ("string", "string_view"):
        with pytest.raises(Exception, match="UTF-8"):
            pa.table(opened(bad).select(strings=strings))
    for text, value in (("latin-1", "\xff" * 20), ("replace", "\ufffd" * 20)):
        file = io.BytesIO()
        pq.write_table(bad, file)
        read = pa.table(forthwith.open(file, text=text).select(strings="string_view"))
        assert plain(read) == [{"s": "good"}, {"s": value}]


def words(pick: random.Random, count: int, nulls: bool) -> list:
    known = ["".join(pick.choices("aé漢\x00z", k=pick.randrange(30))) for _ in range(pick.choice([1, 3, 40]))]
    return [None if nulls and pick.random() < 0.3 else pick.choice(known) for _ in range(count)]


def made_column(pick: random.Random, count: int, depth: int) -> pa.Array:
    kind = pick.choice(
        ["text", "bytes", "number", "dictionary", "list", "struct", "fixed"] if depth else ["text", "bytes"]
    )
    nulls = pick.random() < 0.5
    text = words(pick, count, nulls)
    if kind == "text":
        return pa.array(text, pa.string())
    if kind == "bytes":
        return pa.array([None if one is None else one.encode() for one in text], pa.binary())
    if kind == "number":
        return pa.array([None if one is None else len(one) for one in text], pa.int32())
    if kind == "dictionary":
        return pa.array(text, pa.string()).dictionary_encode()
    if kind == "struct":
        return pa.StructArray.from_arrays([made_column(pick, count, depth - 1) for _ in "ab"], ["a", "b"])
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(made_column(pick, 2 * count, depth - 1), 2)
    lengths = [pick.randrange(4) for _ in range(count)]
    items = made_column(pick, sum(lengths), depth - 1)
    offsets = [sum(lengths[:row]) for row in range(count + 1)]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items)


def wish(pick: random.Random, kind: pa.DataType) -> pa.DataType:
    """Another layout of a type of forthwith's."""
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        chosen = pick.choice(TEXT if pa.types.is_large_string(kind) else BYTES)
        return (
            pa.dictionary(pick.choice([pa.int32(), pa.uint16(), pa.int64()]), chosen) if pick.random() < 0.3 else chosen
        )
    if pa.types.is_large_list(kind):
        item = wish(pick, kind.value_type)
        return pick.choice([pa.list_, pa.large_list])(kind.value_field.with_type(item))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(wish(pick, kind.value_type)), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(wish(pick, field.type)) for field in kind])
    return kind


def round_trip(seed: int) -> None:
    pick = random.Random(seed)
    count = pick.choice([0, 1, 5, 60])
    table = pa.table({f"c{at}": made_column(pick, count, 2) for at in range(pick.randrange(1, 4))})
    file = opened(table, row_group_size=max(1, count // 2))
    start = pick.randrange(count + 1)
    stop = pick.randrange(start, count + 1)
    selection = file.select(entry_start=start, entry_stop=stop, step_size=pick.choice([7, "1 MB"]))
    expected = pa.table(selection)
    request = pa.schema([field.with_type(wish(pick, field.type)) for field in expected.schema])
    stream = selection.__arrow_c_stream__(request.__arrow_c_schema__())
    read = pa.RecordBatchReader._import_from_c_capsule(stream).read_all()
    assert read.schema.types == request.types, seed
    assert plain(read) == expected.to_pylist() == table.slice(start, stop - start).to_pylist(), seed
    views = file.select(entry_start=start, entry_stop=stop, strings="string_view")
    assert plain(pa.table(views)) == expected.to_pylist(), seed
    assert pl.DataFrame(views).equals(pl.from_arrow(expected)), seed
    frame = file.arrays(library="pl", entry_start=start, entry_stop=stop)
    assert frame.with_columns(pl.col(pl.Categorical).cast(pl.String)).equals(pl.from_arrow(expected)), seed


def test_random_layouts_have_the_same_values():
    for seed in range(60):
        round_trip(seed)
