"""Time zones: kept in reading and in writing, at each level, and those of several files are shown as in the first."""

from __future__ import annotations

import datetime as dt
import io
import pickle
import random
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/Argentina/ComodRivadavia", "+02:00", "-03:30"]


def command(*arguments):
    """Runs the command, which is the compiled package's own."""
    subprocess.run([sys.executable, "-m", "forthwith", *map(str, arguments)], check=True, capture_output=True)


def nested(zone, unit="us"):
    """A table with times of a zone at each level."""
    stamp = pa.timestamp(unit, zone)
    at = [dt.datetime(2024, 7, 1, 22, 30, tzinfo=dt.UTC), None]
    return pa.table(
        {
            "t": pa.array(at, stamp),
            "l": pa.array([[at[0], None], None], pa.list_(stamp)),
            "r": pa.array([{"x": at[0], "n": 1}, None], pa.struct([("x", stamp), ("n", pa.int64())])),
            "m": pa.array([[("a", at[0])], []], pa.map_(pa.string(), stamp)),
            "i": pa.array([1, 2]),
        }
    )


def zones_of(table):
    """The zones of a table of Arrow, column by column."""
    types = dict(zip(table.schema.names, table.schema.types, strict=True))
    return types["t"].tz, types["l"].value_type.tz, types["r"].field("x").type.tz, types["m"].item_type.tz


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_zones_are_read_and_written_at_each_level(tmp_path, zone, unit):
    table = nested(zone, unit)
    pq.write_table(table, tmp_path / "theirs.parquet")
    forthwith.write_parquet(tmp_path / "ours.parquet", table)
    for name in ("theirs.parquet", "ours.parquet"):
        tree = forthwith.open(tmp_path / name)
        for read in (
            tree.arrays(library="arrow"),
            pa.table(tree),
            tree.arrays(library="arrow", cut="i > 0"),
            tree.arrays(library="arrow", entry_stop=1),
            pq.read_table(tmp_path / name),
        ):
            assert set(zones_of(read)) == {zone}
            assert read["t"].to_pylist() == table["t"].to_pylist()[: len(read)]
        assert tree.arrays(["r/x"], library="arrow")["r/x"].type.tz == zone


def test_days_are_those_of_the_zone_in_all_libraries(tmp_path):
    frame = pl.DataFrame({"t": [dt.datetime(2024, 7, 1, 22, 30)]}).with_columns(
        pl.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    )
    path, own = tmp_path / "polars.parquet", tmp_path / "own.parquet"
    frame.write_parquet(path)
    forthwith.write_parquet(own, frame)
    day = dt.date(2024, 7, 2)
    assert pl.read_parquet(own)["t"].dt.date().to_list() == [day]
    for file in (path, own):
        tree = forthwith.open(file)
        assert tree.arrays(library="pl")["t"].dt.date().to_list() == [day]
        assert tree.arrays(library="pd")["t"].dt.date.to_list() == [day]
        assert forthwith.scan(file).collect()["t"].dt.date().to_list() == [day]
        assert forthwith.dataset(file).to_table()["t"].type.tz == "Europe/Berlin"
        (row,) = tree.rows()
        assert (row["t"].date(), row["t"].utcoffset()) == (day, dt.timedelta(hours=2))
        assert str(tree["t"].array().type).count("Europe/Berlin") == 1


def test_zones_of_frames_of_pandas(tmp_path):
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-07-01 22:30"], utc=True).tz_convert("Asia/Tokyo")})
    forthwith.write_parquet(tmp_path / "f.parquet", frame)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "f.parquet"), frame)
    pd.testing.assert_frame_equal(forthwith.open(tmp_path / "f.parquet").arrays(library="pd"), frame)


def test_convert_keeps_zones(tmp_path):
    table = nested("Asia/Kolkata")
    pq.write_table(table, tmp_path / "a.parquet")
    for name in ("b.parquet", "b.arrow"):
        command("convert", tmp_path / "a.parquet", tmp_path / name)
    assert set(zones_of(pq.read_table(tmp_path / "b.parquet"))) == {"Asia/Kolkata"}
    assert set(zones_of(pa.ipc.open_file(tmp_path / "b.arrow").read_all())) == {"Asia/Kolkata"}
    command("convert", tmp_path / "a.parquet", tmp_path / "b.avro")
    read = forthwith.open(tmp_path / "b.avro").arrays(library="arrow")
    assert read["t"].to_pylist() == table["t"].to_pylist()
    assert read["t"].type.tz == "UTC"


def test_awkward_arrays_take_their_zone_along(tmp_path):
    pq.write_table(nested("Europe/Berlin"), tmp_path / "a.parquet")
    forthwith.write_parquet(tmp_path / "b.parquet", forthwith.open(tmp_path / "a.parquet").arrays())
    assert set(zones_of(pq.read_table(tmp_path / "b.parquet"))) == {"Europe/Berlin"}


def test_several_files_are_shown_in_the_zone_of_the_first(tmp_path):
    found = {}
    for name, zone in (("a", "Asia/Kolkata"), ("b", "Europe/Berlin"), ("c", "UTC")):
        found[name] = nested(zone)
        pq.write_table(found[name], tmp_path / f"{name}.parquet")
    for names in ("abc", "bca", "cab"):
        files = [tmp_path / f"{name}.parquet" for name in names]
        zone = found[names[0]]["t"].type.tz
        expected = [value for name in names for value in found[name]["t"].to_pylist()]
        chain = pickle.loads(pickle.dumps(forthwith.Chain(files)))
        reads = [chain.arrays(library="arrow"), pa.table(chain), pa.concat_tables(chain.iterate(library="arrow"))]
        for read in reads:
            assert set(zones_of(read)) == {zone}
            assert read["t"].to_pylist() == expected
        assert forthwith.dataset(files).to_table()["t"].type.tz == zone
        for frame in (chain.arrays(["t"], library="pl"), forthwith.scan(files).select("t").collect()):
            assert frame["t"].dtype == pl.Datetime("us", zone)
            assert frame["t"].to_list() == expected
        assert str(chain.arrays(["t"], library="pd")["t"].dtype) == f"timestamp[us, tz={zone}][pyarrow]"
        some = chain.arrays(["t"], library="arrow", cut="i == 1")
        assert some["t"].type.tz == zone
        assert some["t"].to_pylist() == expected[::2]
        command("convert", *files, tmp_path / "all.parquet", "--force")
        read = pq.read_table(tmp_path / "all.parquet")
        assert set(zones_of(read)) == {zone}
        assert read["t"].to_pylist() == expected


def test_what_the_first_file_lacks_is_shown_in_utc(tmp_path):
    pq.write_table(nested("Asia/Kolkata").select(["t", "i"]), tmp_path / "a.parquet")
    pq.write_table(nested("Europe/Berlin"), tmp_path / "b.parquet")
    read = forthwith.concatenate([tmp_path / "a.parquet", tmp_path / "b.parquet"], library="arrow", missing="null")
    assert zones_of(read) == ("Asia/Kolkata", "UTC", "UTC", "UTC")


def test_comparisons_do_not_ask_for_the_zone(tmp_path):
    at = [dt.datetime(2024, 7, 1, hour, tzinfo=dt.UTC) for hour in (1, 2, 3)]
    columns = {"a": pa.array(at, pa.timestamp("us", "Asia/Tokyo")), "b": pa.array(at[::-1], pa.timestamp("us", "UTC"))}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    tree = forthwith.open(tmp_path / "a.parquet")
    assert len(tree.arrays(cut="a < b")) == 1
    assert len(tree.arrays(cut='a >= "2024-07-01T02:00:00Z"')) == 2


def test_a_schema_that_lies_of_zones_is_no_harm(tmp_path):
    """Names that are none are UTC; a zone of what has none, or of other types, is ignored."""
    for zone in ("Europe/Berlin]", "x" * 200, "Zürich"):
        file = io.BytesIO()
        table = pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC"))})
        schema = pa.schema([pa.field("t", pa.timestamp("us", zone))])
        with pq.ParquetWriter(file, table.schema, store_schema=False) as writer:
            import base64

            writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema.serialize()).decode()})
            writer.write_table(table)
        assert forthwith.open(file).arrays(library="arrow")["t"].type.tz == "UTC"


def test_random_zones(tmp_path):
    rng = random.Random(5)
    for _ in range(20):
        columns = {}
        for at in range(rng.randint(1, 5)):
            kind = pa.timestamp(rng.choice(["s", "ms", "us", "ns"]), rng.choice([None, *ZONES]))
            values = [rng.choice([None, rng.randrange(2**31)]) for _ in range(4)]
            column = pa.array(values, pa.int64()).cast(kind)
            if rng.random() < 0.5:
                column = pa.ListArray.from_arrays(pa.array([0, 1, 4]), column).take(pa.array([0, 1, 1, 0]))
            columns[f"c{at}"] = column
        forthwith.write_parquet(tmp_path / "f.parquet", pa.table(columns))
        ours, theirs = (
            forthwith.open(tmp_path / "f.parquet").arrays(library="arrow"),
            pq.read_table(tmp_path / "f.parquet"),
        )
        for name, column in columns.items():
            inner = column.type.value_type if pa.types.is_list(column.type) else column.type
            for read in (ours, theirs):
                kind = read[name].type
                kind = kind.value_type if pa.types.is_large_list(kind) else kind
                assert kind.tz == inner.tz
            assert ours[name].to_pylist() == theirs[name].to_pylist() == column.to_pylist()
