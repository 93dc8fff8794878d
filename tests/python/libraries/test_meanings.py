"""Dates, decimals, maps and unions in each library, by default."""

import datetime
import decimal
import io
import json

import awkward as ak
import fastavro
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import forthwith

DAY = datetime.date(2026, 11, 22)
MOMENT = datetime.datetime(2026, 11, 22, 12, 30, 0, 123000)
LONG = decimal.Decimal("-1234567890123456789012.50")
TYPES = {
    "date": (pa.date32(), DAY, "datetime64[D]", np.datetime64(DAY)),
    "time": (pa.time64("us"), datetime.time(0, 0, 2), "timedelta64[us]", np.timedelta64(2_000_000, "us")),
    "stamp": (pa.timestamp("ms"), MOMENT, "datetime64[ms]", np.datetime64(MOMENT, "ms")),
    "zoned": (pa.timestamp("us", "UTC"), MOMENT, "datetime64[us]", np.datetime64(MOMENT, "us")),
    "span": (pa.duration("ns"), datetime.timedelta(seconds=5), "timedelta64[ns]", np.timedelta64(5 * 10**9, "ns")),
    "half": (pa.float16(), np.float16(1.5), "float16", np.float16(1.5)),
    "price": (pa.decimal128(9, 2), decimal.Decimal("-12.30"), "object", decimal.Decimal("-12.30")),
    "long": (pa.decimal128(24, 2), LONG, "object", LONG),
    "zero": (pa.decimal128(5, 0), decimal.Decimal("0"), "object", decimal.Decimal("0")),
}


@pytest.fixture(scope="module", params=[False, True])
def table(request):
    sink = io.BytesIO()
    columns = {name: pa.array([value, value], type) for name, (type, value, _, _) in TYPES.items()}
    columns |= {f"maybe_{name}": pa.array([value, None], type) for name, (type, value, _, _) in TYPES.items()}
    columns["dates"] = pa.array([[DAY], []], pa.list_(pa.date32()))
    fields = [pa.field(name, column.type, nullable=name not in TYPES) for name, column in columns.items()]
    pa.parquet.write_table(pa.table(columns, schema=pa.schema(fields)), sink, store_decimal_as_integer=request.param)
    sink.seek(0)
    return forthwith.open(sink)


@pytest.mark.parametrize("name", TYPES)
def test_numpy(table, name):
    _, _, dtype, wanted = TYPES[name]
    for values in (table[name].array(library="np"), np.asarray(table[name]) if dtype != "object" else None):
        if values is not None:
            assert str(values.dtype) == dtype
            assert values[0] == wanted
    if dtype == "object":
        assert str(table[name].array(library="np")[0]) == str(wanted)  # the digits behind the point, too
    maybe = table[f"maybe_{name}"].array(library="np")
    assert maybe[0] == wanted
    if dtype.startswith(("datetime", "timedelta")):
        assert str(maybe.dtype) == dtype
        assert np.isnat(maybe[1])
    else:
        assert maybe[1] is (np.ma.masked if dtype == "float16" else None)


@pytest.mark.parametrize("name", TYPES)
def test_awkward(table, name):
    _, _, dtype, wanted = TYPES[name]
    for column in (name, f"maybe_{name}"):
        array = table[column].array()
        assert array.layout.form.type == table[column].form.type
        if dtype == "object":
            assert '"decimal[' in json.dumps(array.layout.form.to_dict())
            whole = int.from_bytes(array[0], "big", signed=True) if isinstance(array[0], bytes) else int(array[0])
            assert whole == int(wanted.scaleb(2 if name != "zero" else 0))
        else:
            assert dtype in str(array.type)
            assert array[0] == wanted
    assert table["dates"].array().tolist() == [[DAY], []]


def test_the_others_have_types_of_their_own(table):
    for name, (type, _, _, _) in TYPES.items():
        assert table.arrays([name], library="arrow")[name].type == type
        assert table[name].array(library="pd").tolist() is not None
    frame = table.arrays(["date", "price"], library="pl")
    assert isinstance(frame, pl.DataFrame)
    assert frame.dtypes == [pl.Date, pl.Decimal(9, 2)]


def test_numbers_as_they_are_stored(table):
    assert table["date"].array(logical=False).tolist() == [20779, 20779]
    assert table.arrays(["date", "stamp"], library="np", logical=False)["stamp"].dtype == np.int64
    assert next(table.iterate(["date"], logical=False)).date.tolist() == [20779, 20779]
    assert table.select(["date"]).arrays(logical=False).date.tolist() == [20779, 20779]
    assert not isinstance(table["price"].array(library="np", logical=False)[0], decimal.Decimal)


def test_what_was_read_is_written_again(table, tmp_path):
    names = [name for name in TYPES if name != "half"]
    forthwith.write_parquet(tmp_path / "again.parquet", table.arrays(names))
    written = pa.parquet.read_table(tmp_path / "again.parquet")
    for name in names:
        kind, value, _, _ = TYPES[name]
        assert written[name].to_pylist()[0] == pa.array([value], kind).to_pylist()[0], name


def test_datums_have_them_too():
    schema = {"type": "record", "name": "R", "fields": [{"name": "t", "type": {"type": "int", "logicalType": "date"}}]}
    datums = forthwith.avro.encode({"t": np.array(["2026-11-22"], "datetime64[D]")}, schema)
    assert forthwith.avro.decode(datums, schema).t.tolist() == [DAY]


ROWS = [{"tags": {"a": 1, "b": 2}, "either": 5}, {"tags": {}, "either": "x"}, {"tags": {"c": 3}, "either": None}]


@pytest.fixture(scope="module")
def avro(tmp_path_factory):
    path = tmp_path_factory.mktemp("meanings") / "types.avro"
    fields = [
        {"name": "tags", "type": {"type": "map", "values": "long"}},
        {"name": "either", "type": ["null", "long", "string"]},
    ]
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema({"type": "record", "name": "R", "fields": fields}), ROWS)
    return forthwith.open(path)


def test_maps_and_unions(avro):
    for table in (pa.table(avro), avro.arrays(library="arrow"), pa.table(avro.select(unions="struct"))):
        assert pa.types.is_map(table["tags"].type)
        assert [dict(row) for row in table["tags"].to_pylist()] == [row["tags"] for row in ROWS]
    chain = forthwith.Chain([avro.file.file_path] * 2)
    for stream in (avro, avro.select(), avro.select(unions="struct"), chain, chain.select(["either"])):
        assert pa.types.is_struct(pa.table(stream)["either"].type)
        assert pl.DataFrame(stream)["either"].dtype == pl.Struct
    assert pa.types.is_union(pa.table(avro.select(unions="union"))["either"].type)
    for given in (avro, avro.select(), chain):
        place = io.BytesIO()
        forthwith.write_avro(place, given)
        with forthwith.open(place) as written:
            assert pa.types.is_union(written.arrays(library="arrow")["either"].type)
    assert pa.schema(avro.select(unions="struct")) == pa.table(avro.select(unions="struct")).schema
    assert pa.types.is_large_list(pa.table(avro.select(maps=False))["tags"].type)
    for frame in (pl.DataFrame(avro.select(unions="struct")), avro.arrays(library="pl")):
        tags = frame["tags"].to_list()[0]
        assert (tags if isinstance(tags, dict) else {tag["key"]: tag["value"] for tag in tags}) == {"a": 1, "b": 2}
        found = [[v for v in (row or {}).values() if v is not None] for row in frame["either"].to_list()]
        assert found == [[5], ["x"], []]
    assert dict(avro["tags"].array(library="pd")[0]) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="unions must be"):
        avro.select(unions="list")


def test_polars_is_a_library(tree):
    frame = tree.arrays(["run", "Muon_pt", "dataset"], library="pl")
    assert frame.equals(pl.DataFrame(tree.select(["run", "Muon_pt", "dataset"])))
    assert tree["run"].array(library="polars").to_list() == tree["run"].array().tolist()
    steps = list(tree.iterate(["run"], library="pl", step_size=1000))
    assert pl.concat(steps).equals(frame.select("run"))
    assert tree.arrays(["run"], library="pl", how=dict)["run"].name == "run"
    assert len(forthwith.concatenate([tree.file.file_path + ":events"] * 2, ["run"], library="pl")) == 7200


def test_selections(tree):
    some = tree.select(["run", "Muon_pt"], entry_start=100, entry_stop=200)
    whole = tree.arrays(["run", "Muon_pt"], entry_start=100, entry_stop=200)
    assert len(some) == 2
    assert list(some) == ["run", "Muon_pt"]
    assert "run" in some
    assert some.arrays(entry_stop=1).tolist() == whole[:1].tolist()
    assert some.arrays(entry_start=-3).tolist() == whole[-3:].tolist()
    assert some.arrays(entry_start=50, entry_stop=999).tolist() == whole[50:].tolist()
    assert ak.concatenate(list(some.iterate(step_size=30))).tolist() == whole.tolist()
    assert ak.concatenate(list(some.iterate(step_size=30, entry_start=10))).tolist() == whole[10:].tolist()
    assert [report.start for _, report in some.iterate(step_size=50, report=True)] == [100, 150]
    assert some["run"].array().tolist() == whole.run.tolist()
    assert some[["Muon_pt"]].keys() == ["Muon_pt"]
    assert isinstance(some.arrays(library="pd"), pd.DataFrame)
    shown = io.StringIO()
    some.show(stream=shown)
    assert len(shown.getvalue().splitlines()) == 4
    assert "Muon_pt" in some._repr_html_()
    with pytest.raises(forthwith.KeyInFileError, match="did you mean run"):
        some["rum"]
    with pytest.raises(TypeError, match="has no argument 'cut'"):
        some.arrays(cut="x")
    for take in (np.asarray, ak.Array, pd.DataFrame):
        with pytest.raises(TypeError, match=r"\.arrays\(\)"):
            take(some)
