"""Files of ProtoBuf messages, written: Google's parser and we read what was there."""

import importlib.util
import io
import random

import awkward as ak
import numpy as np
import pytest

import forthwith
import forthwith.protobuf

needs_google = pytest.mark.skipif(
    importlib.util.find_spec("google") is None or importlib.util.find_spec("google.protobuf") is None,
    reason="the package protobuf is not installed",
)

TABLE = {
    "id": np.array([1, -2, 0], np.int64),
    "x": np.array([1.5, -0.0, 0.0], np.float32),
    "name": ["a", "", "é"],
    "hits": ak.Array([[{"n": 1, "e": None}, {"n": 0, "e": 2.5}], [], [{"n": 7, "e": 0.0}]]),
    "codes": [[1, 300], [], [0]],
    "raw": [b"\x00", None, b""],
    "at": np.array(["2024-01-01T00:00:00.000000005", "1969-12-31T23:59:59.5", "1970-01-01"], "datetime64[ns]"),
    "took": np.array([-1500, 0, 86_400_000], "timedelta64[ms]"),
}


def messages_of(data):
    """The messages of a delimited file."""
    at = 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield data[at : at + length]
        at += length


def test_columns_come_back_by_the_schema_that_follows_from_them(tmp_path):
    path = tmp_path / "rows.pb"
    forthwith.write_protobuf(path, TABLE)
    schema = forthwith.protobuf.schema_of(TABLE)
    assert "repeated HitsMessage hits = 4;" in schema
    assert "optional double e = 2;" in schema
    back = forthwith.open(path, schema=schema).arrays()
    assert back.id.tolist() == [1, -2, 0]
    assert np.signbit(back.x.to_numpy()).tolist() == [False, True, False]
    assert back.hits.tolist() == TABLE["hits"].tolist()
    assert (back.raw.tolist(), back.codes.tolist(), back.name.tolist()) == (TABLE["raw"], TABLE["codes"], TABLE["name"])
    assert ak.values_astype(back["at"], "int64").tolist() == TABLE["at"].view("int64").tolist()
    assert ak.values_astype(back["took"], "int64").tolist() == [-1_500_000_000, 0, 86_400_000_000_000]


@pytest.mark.parametrize("framing", ["fixed32", "fixed32-big", "single"])
def test_framings_come_back(framing):
    file = io.BytesIO()
    table = {"x": [1] if framing == "single" else [1, 2, 3]}
    forthwith.write_protobuf(file, table, framing=framing, message="One")
    schema = forthwith.protobuf.schema_of(table, "One")
    assert forthwith.open(file, schema=schema, message="One", framing=framing).arrays().x.tolist() == table["x"]


def test_steps_and_many_rows(tmp_path):
    path = tmp_path / "rows.pb"
    with forthwith.protobuf_writer(path) as file:
        for start in range(0, 30_000, 10_000):
            file.write({"n": np.arange(start, start + 10_000), "s": [str(n) for n in range(start, start + 10_000)]})
    schema = forthwith.protobuf.schema_of({"n": [1], "s": ["a"]})
    table = forthwith.open(path, schema=schema)
    assert table.num_entries == 30_000
    assert table.arrays(["s"]).s[::7777].tolist() == [str(n) for n in range(0, 30_000, 7777)]


def test_what_has_no_type_or_no_field_is_refused(tmp_path):
    def refused(error, match, table, **options):
        with pytest.raises(error, match=match):
            forthwith.write_protobuf(tmp_path / "x.pb", table, **options)

    unsupported = forthwith.UnsupportedError
    refused(unsupported, r"column a: lists of lists", {"a": [[[1]]]})
    refused(unsupported, r"column a: lists with missing values", {"a": [[1, None]]})
    refused(unsupported, r"\"a b\" cannot be the name of a field", {"a b": [1]})
    refused(unsupported, r"column r\.a: lists of lists", {"r": ak.Array([{"a": [[[1]]]}])})
    schema = """syntax = "proto3"; enum E { A = 0; B = 5; }
    message M { int32 x = 1; oneof o { int32 a = 2; string b = 3; } E e = 4; bool t = 5; }"""
    refused(ValueError, r"no field for the column \"y\"", {"y": [1]}, schema=schema)
    refused(ValueError, r"x: row 1 is 4294967296, which is not within int32", {"x": [1, 2**32]}, schema=schema)
    refused(ValueError, r"x: row 1 is null", {"x": ak.Array([1, None])}, schema=schema)
    refused(ValueError, r"row 1 is present both as a and as b", {"a": [None, 1], "b": ["x", "y"]}, schema=schema)
    refused(ValueError, r"e: row 0 is \"C\"", {"e": ["C"]}, schema=schema)
    refused(ValueError, r"bytes", {"b": [b"\xff"]}, schema=schema)
    required = 'syntax = "proto2"; message M { required int32 x = 1; optional int32 y = 2; }'
    refused(ValueError, r"no column for the field \"x\"", {"y": [1]}, schema=required)
    refused(unsupported, "HepMC3 are read only", {"x": [1]}, framing="hepmc3")
    assert not (tmp_path / "x.pb").exists()
    forthwith.write_protobuf(tmp_path / "x.pb", {"e": ["B", "7"], "t": [True, False], "a": [None, 0]}, schema=schema)
    back = forthwith.open(tmp_path / "x.pb", schema=schema).arrays()
    assert (back.e.tolist(), back.t.tolist(), back.a.tolist()) == (["B", "7"], [True, False], [None, 0])


def test_types_within_themselves_are_as_deep_as_their_columns(tmp_path):
    schema = "syntax = 'proto3'; message Node { int32 x = 1; Node next = 2; }"
    rows = [{"x": 1, "next": {"x": 2, "next": {"x": 3}}}]
    forthwith.write_protobuf(tmp_path / "x.pb", ak.Array(rows), schema=schema, message="Node")
    back = forthwith.open(tmp_path / "x.pb", schema=schema, message="Node", recursion=2).arrays()
    assert back.tolist() == rows


@needs_google
@pytest.mark.parametrize("seed", range(20))
def test_google_reads_the_values_that_were_written(seed):
    import random_protobuf

    rng = random.Random(seed)
    schema, messages = random_protobuf.Schema(rng), random_protobuf.Messages(rng)
    if not schema.descriptor.fields:
        return
    made = [messages.message(schema.descriptor) for _ in range(25)]
    good = [message for message in made if random_protobuf.parsed(schema, message) is not None]
    for times_as_records in (False, True):
        rows = forthwith.protobuf.decode(good, schema.set(), "t.M0", times_as_records=times_as_records)
        file = io.BytesIO()
        forthwith.write_protobuf(file, rows, schema=schema.cls)
        written = list(messages_of(file.getvalue()))
        assert len(written) == len(good)
        for one, before in zip(written, good, strict=True):
            theirs = random_protobuf.parsed(schema, one)
            assert random_protobuf.same(theirs, random_protobuf.parsed(schema, before)), (before.hex(), one.hex())
