"""Messages of ProtoBuf: files, lists and columns of them, against Google's parser."""

import importlib.util
import json
import random
import struct

import awkward as ak
import pytest

import forthwith
import forthwith.protobuf

TEXT = """
syntax = "proto3";
package t;
enum Kind { NONE = 0; MUON = 1; JET = 2; }
message Hit { uint32 channel = 1; optional double energy = 2; }
message Track { repeated Hit hits = 1; sint32 charge = 2; map<string, float> scores = 3; }
message Event {
  int64 id = 1;
  repeated Track tracks = 2;
  Kind kind = 3;
  string name = 4;
  oneof source { bytes raw = 5; Hit hit = 6; bool simulated = 7; }
  repeated int32 codes = 8;
}
"""


def varint(number):
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def field(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def event(number):
    hits = b"".join(field(1, b"\x08" + varint(n) + b"\x11" + struct.pack("<d", n / 2)) for n in range(number % 3))
    track = hits + b"\x10" + varint(2 * number)
    return b"\x08" + varint(number) + field(2, track) + field(2, b"") + b"\x18\x02" + field(4, b"event %d" % number)


def row(number):
    hits = [{"channel": n, "energy": n / 2} for n in range(number % 3)]
    tracks = [{"hits": hits, "charge": number, "scores": []}, {"hits": [], "charge": 0, "scores": []}]
    absent = {"raw": None, "hit": None, "simulated": None, "codes": []}
    return {"id": number, "tracks": tracks, "kind": "JET", "name": f"event {number}", **absent}


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "event.proto"
    path.write_text(TEXT)
    return path


def delimited(messages):
    return b"".join(varint(len(message)) + message for message in messages)


def test_a_file_of_messages_is_a_table(tmp_path, schema):
    path = tmp_path / "events.pb"
    path.write_bytes(delimited(map(event, range(1000))))
    with forthwith.open(path, schema=schema) as table:
        assert table.num_entries == 1000
        assert table.keys() == ["id", "tracks", "kind", "name", "raw", "hit", "simulated", "codes"]
        assert table.arrays().tolist() == [row(n) for n in range(1000)]
        assert table.arrays(entry_start=10, entry_stop=12).tolist() == [row(10), row(11)]
        assert table["id"].array(library="np").tolist() == list(range(1000))
        part = table.arrays(["tracks/hits/energy", "id"])
        assert part["tracks/hits/energy"].tolist() == [
            [[hit["energy"] for hit in track["hits"]] for track in row(n)["tracks"]] for n in range(1000)
        ]
        steps = list(table.iterate(["name"], step_size=300))
        assert [len(step) for step in steps] == [300, 300, 300, 100]
        assert table.arrays(["id"], cut="id % 100 == 7").id.tolist() == list(range(7, 1000, 100))
        assert pytest.importorskip("pyarrow").table(table)["name"][5].as_py() == "event 5"


@pytest.mark.parametrize("framing", ["fixed32", "fixed32-big", "single"])
def test_framings(tmp_path, schema, framing):
    path = tmp_path / "events.dat"
    messages = [event(n) for n in range(1 if framing == "single" else 50)]
    order = "big" if framing == "fixed32-big" else "little"
    lengths = [b"" if framing == "single" else len(message).to_bytes(4, order) for message in messages]
    path.write_bytes(b"".join(length + message for length, message in zip(lengths, messages, strict=True)))
    table = forthwith.open(path, schema=schema, message="t.Event", framing=framing)
    assert table.arrays().tolist() == [row(n) for n in range(len(messages))]


def test_rows_of_an_outer_message(tmp_path, schema):
    path = tmp_path / "events.pb"
    outer = [field(2, event(n)) for n in range(40)]
    text = schema.read_text() + "message Outer { string title = 1; repeated Event events = 2; }"
    text += "message Run { repeated Outer parts = 3; }"
    schema.write_text(text)
    path.write_bytes(
        field(1, b"a title") + b"".join(outer[:20]) + b"\x48\x05" + b"".join(outer[20:]) + b"\x4b\x08\x01\x4c"
    )
    table = forthwith.open(path, schema=schema, message="t.Outer", rows="events")
    assert table.arrays().tolist() == [row(n) for n in range(40)]
    path.write_bytes(field(3, b"".join(outer[:20])) + field(3, b"") + field(7, b"x") + field(3, b"".join(outer[20:])))
    table = forthwith.open(path, schema=schema, rows="parts/events")
    assert table.arrays(["id"]).id.tolist() == list(range(40))
    with pytest.raises(ValueError, match="parts/title"):
        forthwith.open(path, schema=schema, rows="parts/title")


def test_many_blocks_and_threads(tmp_path, schema):
    path = tmp_path / "events.pb"
    path.write_bytes(delimited(map(event, range(5000))) * 16)
    one = forthwith.open(path, schema=schema, threads=1).arrays()
    several = forthwith.open(path, schema=schema, threads=3).arrays()
    assert len(one) == 80000
    assert ak.array_equal(one, several)
    assert one[::5000].tolist() == [row(0)] * 16


def test_a_file_that_was_cut_has_the_messages_before(tmp_path, schema):
    path = tmp_path / "events.pb"
    whole = delimited(map(event, range(20)))
    path.write_bytes(whole[:-3])
    table = forthwith.open(path, schema=schema)
    assert table.arrays(entry_stop=19).tolist() == [row(n) for n in range(19)]
    with pytest.raises(forthwith.DamagedFileError, match="exceeds the"):
        table.arrays()


def test_damage_says_where_it_is(tmp_path, schema):
    path = tmp_path / "events.pb"
    path.write_bytes(delimited([event(0), b"\x08\x01\x00", event(2)]))
    table = forthwith.open(path, schema=schema)
    with pytest.raises(forthwith.DamagedFileError, match="a key that no field can have") as caught:
        table.arrays()
    assert caught.value.entry == 1


def test_messages_in_columns():
    values = [event(0), None, event(2)]
    expected = [row(0), None, row(2)]
    decode = forthwith.protobuf.decode
    assert decode(values, TEXT).tolist() == expected
    assert decode(iter(values), TEXT, "t.Event").tolist() == expected
    assert decode([], TEXT).tolist() == []
    assert decode(ak.Array(values), TEXT).tolist() == expected
    pa = pytest.importorskip("pyarrow")
    assert decode(pa.array(values), TEXT).tolist() == expected
    assert decode(pa.array(values, pa.large_binary()), TEXT).tolist() == expected
    assert decode(pa.array(values).slice(2), TEXT).tolist() == expected[2:]
    with pytest.raises(ValueError, match="messages are bytes"):
        decode(ak.Array([1, 2]), TEXT)
    with pytest.raises(forthwith.DamagedFileError, match=r"does not end where its length says|in the middle"):
        decode([event(1)[:-1]], TEXT)


def test_schemas_that_are_refused(tmp_path, schema):
    path = tmp_path / "events.pb"
    path.write_bytes(delimited([event(0)]))
    with pytest.raises(ValueError, match="give schema="):
        forthwith.open(path)
    with pytest.raises(forthwith.ForthwithError, match=r"message type.*t\.Evemt"):
        forthwith.open(path, schema=schema, message="t.Evemt")
    with pytest.raises(ValueError, match="schema"):
        forthwith.open(path, schema="syntax = 'proto3'; message A { B b = 1; }", message="A")
    recursive = "syntax = 'proto3'; message Node { int32 x = 1; repeated Node below = 2; }"
    path.write_bytes(delimited([b"\x08\x03\x12\x02\x08\x04"]))
    table = forthwith.open(path, schema=recursive, message="Node")
    assert table.arrays(["x"]).x.tolist() == [3]
    with pytest.raises(forthwith.UnsupportedError, match="Node within itself"):
        table.arrays(["below"])
    with pytest.raises(forthwith.UnsupportedError, match="Node within itself"):
        forthwith.protobuf.decode([b""], recursive, "Node")


def test_a_choice_without_some_of_its_fields(tmp_path, schema):
    path = tmp_path / "events.pb"
    path.write_bytes(delimited([field(5, b"a") + b"\x38\x01", b"\x38\x01" + field(5, b"b")]))
    table = forthwith.open(path, schema=schema)
    assert table["raw"].array().tolist() == [None, b"b"]
    assert table["simulated"].array().tolist() == [True, None]


def test_wrappers_are_options():
    schema = """syntax = "proto3"; import "google/protobuf/wrappers.proto";
    message A { google.protobuf.Int64Value x = 1; repeated google.protobuf.StringValue names = 2; }"""
    messages = [b"\x0a\x02\x08\x05", b"\x0a\x00\x12\x03\x0a\x01n\x12\x00", b""]
    got = forthwith.protobuf.decode(messages, schema, "A")
    assert str(got.type) == "3 * A[x: ?int64, names: var * string]"
    assert got.tolist() == [{"x": 5, "names": []}, {"x": 0, "names": ["n", ""]}, {"x": None, "names": []}]


def test_the_command_reads_messages(tmp_path, schema, capfd):
    from forthwith import _forthwith

    path = tmp_path / "events.dat"
    path.write_bytes(delimited(map(event, range(3))))
    given = ["--open", f"schema={schema}", "--open", "message=t.Event"]
    assert _forthwith.command(["forthwith", "cat", str(path), *given]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["name"] for line in lines] == ["event 0", "event 1", "event 2"]
    assert _forthwith.command(["forthwith", "forth", f"{path}:t.Event/id", *given]) == 0
    assert "varint->" in capfd.readouterr().out
    assert _forthwith.command(["forthwith", "check", str(path), *given]) == 0


needs_google = pytest.mark.skipif(
    importlib.util.find_spec("google") is None or importlib.util.find_spec("google.protobuf") is None,
    reason="the package protobuf is not installed",
)


@needs_google
@pytest.mark.parametrize("seed", range(12))
def test_random_messages_have_googles_values(seed):
    import random_protobuf

    tally = random_protobuf.campaign(seed, 25)
    assert tally["taken"] + tally["refused"] + tally["lenient"] == 25


@needs_google
@pytest.mark.parametrize("seed", [0, 3, 7, 8])
def test_many_messages_have_the_values_of_few(seed):
    """All tiers of the machine: many messages are decoded by compiled programs."""
    import random_protobuf

    rng = random.Random(seed)
    schema, messages = random_protobuf.Schema(rng), random_protobuf.Messages(rng)
    made = [messages.message(schema.descriptor) for _ in range(60)]
    good = [message for message in made if random_protobuf.parsed(schema, message) is not None]
    times = 6_000_000 // sum(map(len, good))
    few = forthwith.protobuf.decode(good, schema.set(), "t.M0")
    many = forthwith.protobuf.decode(good * times, schema.set(), "t.M0", threads=2)
    assert len(many) == len(good) * times
    for start in (0, len(many) // 2 // len(good) * len(good), len(many) - len(good)):
        assert ak.array_equal(many[start : start + len(good)], few, equal_nan=True)


@needs_google
def test_message_classes_are_schemas(tmp_path):
    import random_protobuf
    from google.protobuf import timestamp_pb2

    path = tmp_path / "times.pb"
    times = [timestamp_pb2.Timestamp(seconds=n, nanos=n % 3) for n in range(10)]
    path.write_bytes(delimited(time.SerializeToString() for time in times))
    expected = [{"seconds": n, "nanos": n % 3} for n in range(10)]
    for schema in (timestamp_pb2.Timestamp, timestamp_pb2.Timestamp.DESCRIPTOR, timestamp_pb2):
        assert forthwith.open(path, schema=schema, message="google.protobuf.Timestamp").arrays().tolist() == expected
    assert forthwith.open(path, schema=timestamp_pb2.Timestamp).arrays().tolist() == expected
    made = random_protobuf.Schema(random.Random(5))
    assert (
        forthwith.protobuf.decode([b""], made.cls).tolist()
        == forthwith.protobuf.decode([b""], made.set(), "t.M0").tolist()
    )
