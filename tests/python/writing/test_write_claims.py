"""Columns whose rows hold no bytes: nulls, records without fields, lists of length 0. Many are an error, some are written."""

import awkward as ak
import numpy as np
import pytest

import forthwith

pa = pytest.importorskip("pyarrow")


def bare(kind, rows, *children, buffers=(None,)):
    return pa.Array.from_buffers(kind, rows, list(buffers), children=list(children))


def records(rows):
    return ak.contents.RecordArray([], [], length=rows)


def claims(rows):
    """Arrays of these many rows that hold no bytes."""
    offsets = ak.index.Index64(np.array([0, rows]))
    bounds = pa.py_buffer(np.array([0, rows]))
    return {
        "null": bare(pa.null(), rows),
        "list of nulls": bare(pa.large_list(pa.null()), 1, bare(pa.null(), rows), buffers=(None, bounds)),
        "struct": bare(pa.struct([]), rows),
        "struct of nulls": bare(pa.struct([("n", pa.null())]), rows, bare(pa.null(), rows)),
        "lists of length 0": bare(pa.list_(pa.float64(), 0), rows, pa.array([1.0])),
        "bytes of length 0": bare(pa.binary(0), rows, buffers=(None, pa.py_buffer(b""))),
        "records": ak.Array(records(rows)),
        "records that may be missing": ak.Array(ak.contents.UnmaskedArray(records(rows))),
        "list of records": ak.Array(ak.contents.ListOffsetArray(offsets, records(rows))),
        "regular": ak.Array(ak.contents.RegularArray(ak.contents.NumpyArray(np.zeros(0)), 0, rows)),
    }


def write(path, columns):
    if path.suffix == ".root":
        with forthwith.recreate(path) as file:
            file.mkrntuple("t", columns)
        return f"{path}:t"
    {".avro": forthwith.write_avro, ".parquet": forthwith.write_parquet}[path.suffix](path, columns)
    return path


@pytest.mark.parametrize("case", claims(1))
def test_more_rows_than_bytes_justify_are_an_error(tmp_path, case):
    for rows in (2**40, 2**62 if case == "null" else 2**50):
        columns = {"x": claims(rows)[case]}
        for name in ("x.avro", "x.parquet", "x.root"):
            with pytest.raises(forthwith.RequestError, match="rows that hold no bytes"):
                write(tmp_path / name, columns)
        with pytest.raises(forthwith.RequestError), forthwith.recreate(tmp_path / "x.root") as file:
            file["t"] = columns


def test_chunks_are_counted_together(tmp_path):
    table = pa.table({"x": pa.chunked_array([bare(pa.null(), 2**27)] * 3)})
    with pytest.raises(forthwith.RequestError, match=r'column "x": 402653184 rows'):
        forthwith.write_parquet(tmp_path / "x.parquet", table)


def test_some_rows_without_bytes_are_written(tmp_path):
    for name in ("x.avro", "x.parquet", "x.root"):
        path = write(tmp_path / name, pa.table({"x": pa.nulls(1000), "l": [[None]] * 1000}))
        assert forthwith.open(path)["x"].array().to_list() == [None] * 1000


@pytest.fixture
def pl():
    return pytest.importorskip("polars")


def test_null_columns_of_polars_are_written(tmp_path, pl):
    frame = pl.DataFrame(
        {
            "a": [1, 2],
            "n": [None, None],
            "l": [[], []],
            "m": [[None], [None, None]],
            "s": [{"x": None, "y": 1}, {"x": None, "y": 2}],
            "f": pl.Series([[None], [None]], dtype=pl.Array(pl.Null, 1)),
        }
    )
    for name in ("x.avro", "x.parquet", "x.root"):
        for columns in (frame, {label: frame[label] for label in frame.columns}):
            assert forthwith.open(write(tmp_path / name, columns)).arrays().to_list() == frame.to_dicts()
        assert len(forthwith.open(write(tmp_path / name, pl.DataFrame({"n": []}))).arrays()) == 0


def test_types_that_only_polars_has_are_named(tmp_path, pl):
    series = pl.Series("big", [1, 2], dtype=pl.Int128)
    for columns in (
        pl.DataFrame([series]),
        {"big": series.alias("other")},
        pl.DataFrame({"big": pl.Series([[1]], dtype=pl.List(pl.Int128))}),
        pl.DataFrame({"big": pl.Series([{"x": object()}["x"]], dtype=pl.Object)}),
    ):
        for name in ("x.avro", "x.parquet", "x.root"):
            with pytest.raises(forthwith.UnsupportedError, match=r"column 'big', of polars' type (Int128|Object)"):
                write(tmp_path / name, columns)
