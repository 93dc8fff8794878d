"""Words, metadata of fields, dictionaries and what pandas says of its frames: kept in reading, writing and converting."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import fastavro
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

GEO = '{"version": "1.1.0"}'


def command(*arguments):
    subprocess.run([sys.executable, "-m", "forthwith", *map(str, arguments)], check=True, capture_output=True)


def annotated():
    """A table with metadata of its own, of a column and of a field in a column."""
    inner = pa.field("x", pa.float64(), metadata={"unit": "cm"})
    items = pa.field("element", pa.struct([inner]), metadata={"of": "hits"})
    fields = [
        pa.field("a", pa.int64(), metadata={"unit": "GeV"}),
        pa.field("r", pa.struct([inner])),
        pa.field("l", pa.list_(items)),
    ]
    rows = {"a": [1, 2], "r": [{"x": 1.5}, None], "l": [[{"x": 2.5}], None]}
    return pa.table(rows, schema=pa.schema(fields, metadata={"geo": GEO, "owner": "Größe"}))


def check(schema, whole=True):
    assert {key: schema.metadata.get(key) for key in (b"geo", b"owner")} == {
        b"geo": GEO.encode(),
        b"owner": "Größe".encode(),
    }
    assert schema.field("a").metadata == {b"unit": b"GeV"}
    if whole:
        assert schema.field("r").type.field("x").metadata == {b"unit": b"cm"}
        assert schema.field("l").type.value_field.type.field("x").metadata == {b"unit": b"cm"}


def test_metadata_are_kept(tmp_path):
    table = annotated()
    pq.write_table(table, tmp_path / "a.parquet")
    forthwith.write_parquet(tmp_path / "b.parquet", table)
    command("convert", tmp_path / "a.parquet", tmp_path / "c.parquet")
    forthwith.write_parquet(tmp_path / "d.parquet", forthwith.open(tmp_path / "b.parquet"))
    command("convert", tmp_path / "a.parquet", tmp_path / "e.arrow")
    command("convert", tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "f.parquet")
    with forthwith.parquet_writer(tmp_path / "g.parquet") as out:
        out.write(table.slice(0, 1))
        out.write(table.slice(1))
    for name in "bcdfg":
        check(pq.read_schema(tmp_path / f"{name}.parquet"))
        assert pq.read_table(tmp_path / f"{name}.parquet")["a"].to_pylist()[:2] == [1, 2]
    check(pa.ipc.open_file(tmp_path / "e.arrow").schema)
    for name in "abc":
        tree = forthwith.open(tmp_path / f"{name}.parquet")
        check(tree.arrays(library="arrow").schema, whole=False)
        check(tree.arrays(library="arrow", cut="a > 1").schema, whole=False)
        check(next(iter(tree.iterate(library="arrow"))).schema, whole=False)
        check(pa.table(tree).schema)
        check(tree.schema)
    chain = forthwith.concatenate([tmp_path / "a.parquet", tmp_path / "b.parquet"], library="arrow")
    check(chain.schema, whole=False)


def test_metadata_are_given_by_name(tmp_path):
    path = tmp_path / "a.parquet"
    forthwith.write_parquet(path, annotated(), metadata={"owner": "me", "n": b"1"})
    assert {key: pq.read_schema(path).metadata[key] for key in (b"geo", b"owner", b"n")} == {
        b"geo": GEO.encode(),
        b"owner": b"me",
        b"n": b"1",
    }
    assert forthwith.open(path).metadata["owner"] == b"me"
    with forthwith.parquet_writer(path, metadata={"k": "v"}) as out:
        out.write({"x": np.arange(3)})
    assert pq.read_schema(path).metadata == {b"k": b"v"}
    with pytest.raises(forthwith.RequestError, match="ARROW:schema"):
        forthwith.write_parquet(path, {"x": [1]}, metadata={"ARROW:schema": "x"})
    with pytest.raises(forthwith.RequestError, match=r'"bad".*UTF-8'):
        forthwith.write_parquet(path, {"x": [1]}, metadata={"bad": b"\xff"})
    assert pq.read_schema(path).metadata == {b"k": b"v"}


def test_words_go_from_avro_to_avro_and_parquet(tmp_path):
    schema = {"type": "record", "name": "R", "doc": "of rows", "fields": [{"name": "a", "type": "int", "doc": "of a"}]}
    with open(tmp_path / "a.avro", "wb") as out:
        fastavro.writer(out, schema, [{"a": 1}], metadata={"geo": GEO})
    command("convert", tmp_path / "a.avro", tmp_path / "b.avro")
    with open(tmp_path / "b.avro", "rb") as file:
        reader = fastavro.reader(file)
        assert reader.metadata["geo"] == GEO
        assert json.loads(reader.metadata["avro.schema"])["doc"] == "of rows"
        assert reader.writer_schema["fields"][0]["doc"] == "of a"
    command("convert", tmp_path / "b.avro", tmp_path / "c.parquet")
    assert pq.read_schema(tmp_path / "c.parquet").metadata[b"geo"] == GEO.encode()
    command("convert", tmp_path / "c.parquet", tmp_path / "d.avro")
    assert forthwith.open(tmp_path / "d.avro").metadata["geo"] == GEO.encode()
    assert forthwith.open(tmp_path / "a.avro").arrays(library="arrow").schema.metadata == {b"geo": GEO.encode()}


def frame():
    """A frame with an index and types that only pandas has."""
    made = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], "Int64"),
            "b": pd.array([True, None, False], "boolean"),
            "c": pd.Categorical(["a", "b", "a"]),
            "p": pd.period_range("2024-01", periods=3, freq="M"),
            "s": ["x", None, "z"],
            "t": pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin"),
            "f": [1.5, 2.5, np.nan],
        },
        index=pd.Index(["one", "two", "three"], name="key"),
    )
    made.attrs = {"run": 12}
    return made


@pytest.mark.parametrize("index", [pd.Index(["x", "y", "z"]), pd.RangeIndex(10, 16, 2, name="n"), None, "multi"])
def test_frames_come_back_as_they_were(tmp_path, index):
    given = frame()
    if isinstance(index, str):
        given.index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["u", None])
    elif index is not None:
        given.index = index
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    forthwith.write_parquet(ours, given)
    given.to_parquet(theirs)
    command("convert", theirs, tmp_path / "converted.parquet")
    for path in (ours, theirs, tmp_path / "converted.parquet"):
        for read in (pd.read_parquet(path), forthwith.open(path).arrays(library="pd")):
            pd.testing.assert_frame_equal(read, given)
            assert read.attrs == given.attrs


def test_parts_of_frames_have_their_part_of_the_index(tmp_path):
    path = tmp_path / "a.parquet"
    given = frame()
    forthwith.write_parquet(path, given)
    tree = forthwith.open(path)
    pd.testing.assert_frame_equal(tree.arrays(library="pd", entry_start=1), given.iloc[1:], check_categorical=False)
    pd.testing.assert_frame_equal(tree.arrays(library="pd", cut="f > 2"), given.iloc[1:2], check_categorical=False)
    assert tree.arrays(["f"], library="pd").index.tolist() == [0, 1, 2]
    pd.testing.assert_frame_equal(forthwith.concatenate([path, path], library="pd"), pd.concat([given, given]))
    given.index = pd.RangeIndex(10, 16, 2)
    forthwith.write_parquet(path, given)
    tree = forthwith.open(path)
    pd.testing.assert_frame_equal(tree.arrays(library="pd", entry_start=1), given.iloc[1:], check_categorical=False)
    assert forthwith.concatenate([path, path], library="pd").index.tolist() == list(range(6))


def test_metadata_of_pandas_that_cannot_be_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    for text in ("{", '"x"', "[1]", '{"index_columns": [{"step": 0}]}', '{"index_columns": [{"start": "x"}]}'):
        pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"pandas": text}), path)
        with pytest.raises(forthwith.UnsupportedError, match="pandas"):
            forthwith.open(path).arrays(library="pd")
        assert forthwith.open(path).arrays(library="arrow")["a"].to_pylist() == [1]


def test_names_of_series_are_kept(tmp_path):
    for series in (pd.Series([1, 2], name="x"), pl.Series("x", [1, 2])):
        forthwith.write_parquet(tmp_path / "a.parquet", series)
        assert forthwith.open(tmp_path / "a.parquet").keys() == ["x"]
        file = io.BytesIO()
        forthwith.write_avro(file, series)
        file.seek(0)
        assert [row["x"] for row in fastavro.reader(file)] == [1, 2]
        forthwith.write_parquet(tmp_path / "b.parquet", {"y": series, "z": [1, 2]})
        assert forthwith.open(tmp_path / "b.parquet").arrays().to_list() == [{"y": 1, "z": 1}, {"y": 2, "z": 2}]
    forthwith.write_parquet(tmp_path / "a.parquet", pd.Series([1, 2]))
    assert forthwith.open(tmp_path / "a.parquet").keys() == ["value"]


def dictionaries():
    text = pa.array(["a", "b", None, "a"]).dictionary_encode()
    return pa.table(
        {
            "text": text,
            "ordered": pa.DictionaryArray.from_arrays(text.indices, text.dictionary, ordered=True),
            "number": pa.array([7, 8, None, 7]).dictionary_encode(),
            "nested": pa.array([{"d": "x"}, {"d": "y"}, None, {"d": "x"}], pa.struct([("d", pa.string())])),
            "plain": ["a", "b", None, "a"],
        }
    )


def test_dictionaries_are_kept(tmp_path):
    table = dictionaries()
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours.parquet"
    pq.write_table(table, theirs)
    forthwith.write_parquet(ours, table)
    command("convert", theirs, tmp_path / "converted.parquet")
    for path in (theirs, ours, tmp_path / "converted.parquet"):
        tree = forthwith.open(path)
        read = tree.arrays(library="arrow")
        for name in ("text", "ordered", "number"):
            kind = read[name].type
            assert pa.types.is_dictionary(kind)
            # Dictionary pages by pyarrow have the order of the dictionary.
            assert kind.ordered == (name == "ordered" and path == theirs)
        assert not pa.types.is_dictionary(read["plain"].type)
        assert read.to_pylist() == table.to_pylist()
        assert pq.read_table(path).to_pylist() == table.to_pylist()
        assert pa.types.is_dictionary(pq.read_table(path)["text"].type)
        assert str(tree.arrays(["text"], library="pd")["text"].dtype) == "category"
        assert tree.arrays(["text", "plain"], library="pl").dtypes == [pl.Categorical, pl.String]
        assert forthwith.scan(path).filter(pl.col("text") == "a").collect()["number"].to_list() == [7, 7]
        assert tree.arrays(["text"]).to_list() == [{"text": value} for value in ("a", "b", None, "a")]
    assert pa.types.is_dictionary(forthwith.concatenate([theirs, ours], library="arrow")["text"].type)


def test_categories_of_polars_are_kept(tmp_path):
    given = pl.DataFrame({"c": ["a", "b"], "e": ["x", "y"]}).with_columns(
        pl.col("c").cast(pl.Categorical), pl.col("e").cast(pl.Enum(["y", "x"]))
    )
    given.write_parquet(tmp_path / "a.parquet")
    forthwith.write_parquet(tmp_path / "b.parquet", given)
    for name in ("a.parquet", "b.parquet"):
        for read in (forthwith.open(tmp_path / name).arrays(library="pl"), pl.read_parquet(tmp_path / name)):
            assert read.dtypes == given.dtypes, name
            assert read.to_dicts() == given.to_dicts()


def test_several_files_are_as_the_first_says(tmp_path):
    """Of files of which some say dictionaries, metadata or frames of pandas, and some do not."""
    plain = pa.table({"text": ["a", "b"], "n": [1, 2]})
    encoded = plain.set_column(0, "text", plain["text"].dictionary_encode()).replace_schema_metadata({"geo": GEO})
    pq.write_table(plain, tmp_path / "plain.parquet", store_schema=False)
    pq.write_table(encoded, tmp_path / "encoded.parquet")
    forthwith.write_parquet(tmp_path / "frame.parquet", plain.to_pandas().set_index("text"))
    for first in ("plain", "encoded", "frame"):
        names = [first, *({"plain", "encoded", "frame"} - {first})]
        files = [tmp_path / f"{name}.parquet" for name in names]
        columns = ["text", "n"]
        table = forthwith.concatenate(files, columns, library="arrow")
        assert pa.types.is_dictionary(table["text"].type) == (first == "encoded")
        assert ((table.schema.metadata or {}).get(b"geo") == GEO.encode()) == (first == "encoded")
        expected = {"text": ["a", "b"] * 3, "n": [1, 2] * 3}
        assert table.to_pydict() == expected
        assert forthwith.concatenate(files, columns, library="pl").to_dict(as_series=False) == expected
        frame = forthwith.concatenate(files, columns, library="pd")
        assert frame.index.names == (["text"] if first == "frame" else [None])
        assert frame.reset_index(drop=first != "frame").to_dict("list") == expected
        assert forthwith.scan(files, columns).collect().to_dict(as_series=False) == expected
        assert forthwith.dataset(files).to_table(columns=columns).to_pydict() == expected
