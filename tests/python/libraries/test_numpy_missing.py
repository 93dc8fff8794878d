"""Missing values below the top of a column, in NumPy: none becomes the value of another row, in any nesting.

``python tests/python/libraries/test_numpy_missing.py 1 500`` compares that many random columns from a seed on.
"""

import datetime
import random
import sys

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith
from forthwith.engines import batches

RECORD = pa.struct([("a", pa.int32()), ("b", pa.int32()), ("ok", pa.bool_()), ("at", pa.timestamp("us"))])
ROWS = [{"a": 1, "b": None, "ok": None, "at": None}, {"a": 5, "b": 9, "ok": True, "at": datetime.datetime(2024, 1, 1)}]


def plain(value):
    """Python's objects of an array of NumPy, with ``None`` where a value is masked."""
    if value is None or value is np.ma.masked or (isinstance(value, np.datetime64) and np.isnat(value)):
        return None
    if isinstance(value, np.ma.core.mvoid):
        # By its columns: of a record in a record, NumPy calls all masked if any field of it is.
        return plain(np.ma.MaskedArray(value.data.reshape(1), value.mask.reshape(1)))[0]
    if isinstance(value, np.ma.MaskedArray) and value.dtype.names:
        names = [name.removeprefix("_") for name in value.dtype.names]
        columns = [plain(value[name]) for name in value.dtype.names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(value, np.void):
        return {name.removeprefix("_"): plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def listed(value, kind):
    """The objects of `ak.to_list` with pairs of maps as records of two slots."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [{"0": key, "1": listed(item, kind.item_type)} for key, item in value]
    if pa.types.is_struct(kind):
        return {field.name: listed(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return [listed(item, kind.value_type) for item in value]
    return value


def random_type(chance, depth):
    leaves = (pa.int32(), pa.float64(), pa.bool_(), pa.string(), pa.uint8())
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(leaves)
    inner = random_type(chance, depth - 1)
    match chance.randrange(5):
        case 0:
            return pa.list_(inner)
        case 1:
            return pa.list_(pa.field("item", inner, nullable=chance.random() < 0.7))
        case 2:
            return pa.map_(pa.string(), inner)
    others = [random_type(chance, depth - 1) for _ in range(chance.randint(0, 2))]
    return pa.struct(
        [pa.field(f"f{at}", kind, nullable=chance.random() < 0.8) for at, kind in enumerate([inner, *others])]
    )


def random_value(chance, kind, nullable, rate):
    if nullable and chance.random() < rate:
        return None
    if pa.types.is_map(kind):
        keys = chance.sample("abcdef", chance.randint(0, 3))
        return [(key, random_value(chance, kind.item_type, True, rate)) for key in keys]
    if pa.types.is_struct(kind):
        return {field.name: random_value(chance, field.type, field.nullable, rate) for field in kind}
    if pa.types.is_list(kind):
        field = kind.value_field
        return [random_value(chance, field.type, field.nullable, rate) for _ in range(chance.randint(0, 3))]
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    if pa.types.is_string(kind):
        return chance.choice(("", "a", "é"))
    return chance.randint(0, 200) / (2 if pa.types.is_floating(kind) else 1) // 1


def campaign(folder, seed, count):
    """Random columns in Parquet, Avro and an RNTuple; returns how many files were compared."""
    compared = 0
    for number in range(seed, seed + count):
        chance = random.Random(number)
        kind, rows = random_type(chance, 3), chance.randint(1, 9)
        rate = chance.choice((0, 0.3, 0.7, 1))
        values = [random_value(chance, kind, True, rate) for _ in range(rows)]
        table = pa.table({"x": pa.array(values, kind)})
        wanted = [listed(value, kind) for value in table["x"].to_pylist()]
        compared += sum(agree(folder, name, table, wanted, number) for name in ("x.parquet", "x.avro", "x.root"))
    return compared


def agree(folder, name, table, wanted, number):
    path = folder / name
    try:
        if name.endswith(".root"):
            with forthwith.recreate(path) as file:
                file.mkrntuple("t", table)
            path = f"{path}:t"
        else:
            {".parquet": forthwith.write_parquet, ".avro": forthwith.write_avro}[path.suffix](path, table)
    except forthwith.UnsupportedError:
        return False
    with forthwith.open(path) as opened:
        found = plain(opened["x"].array(library="np"))
        stepped = [plain(part["x"]) for part in opened.iterate(["x"], library="np", step_size=2)]
    assert found == wanted, (number, name, table.schema)
    assert [item for part in stepped for item in part] == wanted, (number, name, table.schema)
    return True


@pytest.fixture(params=["n.parquet", "n.avro"])
def path(tmp_path, request):
    kinds = pa.schema([("r", RECORD), ("l", pa.list_(RECORD)), ("m", pa.map_(pa.string(), pa.int32()))])
    rows = [{"r": row, "l": [row, ROWS[1]], "m": [("q", row["b"])]} for row in ROWS]
    table = pa.Table.from_pylist(rows, schema=kinds)
    write = forthwith.write_avro if request.param.endswith(".avro") else pq.write_table
    write(*((tmp_path / request.param, table) if write is forthwith.write_avro else (table, tmp_path / request.param)))
    return tmp_path / request.param


def test_missing_fields_of_records_are_masked(path):
    with forthwith.open(path) as table:
        for arrays in (table.arrays(library="np"), next(iter(table.iterate(library="np")))):
            assert plain(arrays["m"]) == [[{"0": "q", "1": None}], [{"0": "q", "1": 9}]]
            for record in (arrays["r"][0], arrays["l"][0][0]):
                assert plain(record) == {**ROWS[0], "at": None}
            assert [item[1]["b"] for item in arrays["l"]] == [9, 9]


def test_masks_are_those_of_awkward(tmp_path):
    required = pa.field("r", pa.struct([("a", pa.int32()), ("b", pa.float32())]), nullable=False)
    values = [{"a": 1, "b": None}, {"a": None, "b": 2.5}]
    pq.write_table(pa.table([pa.array(values, required.type)], schema=pa.schema([required])), tmp_path / "r.parquet")
    with forthwith.open(tmp_path / "r.parquet") as table:
        found, wanted = table["r"].array(library="np"), ak.to_numpy(table["r"].array())
    assert found.dtype == wanted.dtype
    assert found.mask.tolist() == wanted.mask.tolist() == [(False, True), (True, False)]


def test_batches_keep_masks(path):
    (batch,) = batches([str(path)], ["r", "l", "m"], size=10, shuffle=False)
    assert [plain(record)["b"] for record in batch["r"]] == [None, 9]
    assert plain(batch["l"][0][0])["ok"] is None
    assert plain(batch["m"][0]) == [{"0": "q", "1": None}]


def test_files_with_and_without_missing_values_are_joined(tmp_path):
    for name, value in (("a", None), ("b", 7)):
        kind = pa.struct([pa.field("x", pa.int32(), nullable=value is None)])
        field = pa.field("r", kind, nullable=False)
        table = pa.table([pa.array([{"x": value}, {"x": 8}], kind)], schema=pa.schema([field]))
        pq.write_table(table, tmp_path / f"{name}.parquet")
    found = forthwith.concatenate([tmp_path / "a.parquet", tmp_path / "b.parquet"], ["r"], library="np")["r"]
    assert plain(found) == [{"x": None}, {"x": 8}, {"x": 7}, {"x": 8}]


def test_lists_of_records_by_the_names_of_uproot(tmp_path):
    uproot = pytest.importorskip("forthwith.uproot")
    record = pa.struct([RECORD.field(name) for name in ("a", "b", "ok")])
    rows = [{name: row[name] for name in ("a", "b", "ok")} for row in ROWS]
    with forthwith.recreate(tmp_path / "n.root") as file:
        file.mkrntuple("t", pa.table({"l": pa.array([rows], pa.list_(record)), "n": [[1, None]]}))
    with uproot.open(tmp_path / "n.root") as file:
        arrays = file["t"].arrays(library="np")
        assert [plain(one)["b"] for one in file["t"]["l"].array(library="np")[0]] == [None, 9]
    assert plain(arrays["n"][0]) == [1, None]
    assert [plain(one)["ok"] for one in arrays["l"][0]] == [None, True]


def test_random_columns(tmp_path):
    assert campaign(tmp_path, 1, 25) > 40


if __name__ == "__main__":
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(campaign(pathlib.Path(folder), int(sys.argv[1]), int(sys.argv[2])), "files agree")
