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


TIMES = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
message A {
  google.protobuf.Timestamp at = 1;
  repeated google.protobuf.Duration took = 2;
  map<string, google.protobuf.Timestamp> named = 3;
}
"""


def test_times_are_exact_and_may_stay_records():
    messages = [
        b"\x0a\x04\x08\x03\x10\x05\x12\x02\x08\x02"
        + field(2, b"\x08" + varint(2**64 - 1) + b"\x10" + varint(2**64 - 7)),
        field(3, field(1, b"k") + field(2, b"\x10\x09")) + b"\x0a\x02\x10\x02\x0a\x02\x08\x01",
        b"",
    ]
    got = forthwith.protobuf.decode(messages, TIMES)
    assert ak.to_list(ak.values_astype(got.at, "int64")) == [3_000_000_005, 1_000_000_002, None]
    assert got.took[0].to_numpy().tolist() == [2_000_000_000, -1_000_000_007]
    assert got.took[0].to_numpy().dtype == "timedelta64[ns]"
    assert str(got.named.type).count("datetime64[ns") == 1
    records = forthwith.protobuf.decode(messages, TIMES, times_as_records=True)
    assert records.at.tolist() == [{"seconds": 3, "nanos": 5}, {"seconds": 1, "nanos": 2}, None]
    far = b"\x0a" + varint(7) + b"\x08" + varint(253402300799)
    assert forthwith.protobuf.decode([far], TIMES, times_as_records=True).at.seconds.tolist() == [253402300799]
    with pytest.raises(forthwith.DamagedFileError, match="outside the range of 64-bit nanoseconds"):
        forthwith.protobuf.decode([far], TIMES)


def test_enums_may_be_numbers():
    closed = 'syntax = "proto2"; enum E { ONE = 1; MINUS = -2; } message A { optional E e = 1; repeated E n = 2; }'
    messages = [b"\x08\x01\x10\x01\x10\x05\x10" + varint(2**64 - 2), b"\x08\x05"]
    got = forthwith.protobuf.decode(messages, closed, enums="numbers")
    assert str(got.type) == "2 * A[e: ?int32, n: var * int32]"
    assert got.tolist() == [{"e": 1, "n": [1, -2]}, {"e": None, "n": []}]
    opened = 'syntax = "proto3"; enum E { ZERO = 0; } message A { E e = 1; }'
    assert forthwith.protobuf.decode([b"\x08\x05", b""], opened, enums="numbers").e.tolist() == [5, 0]
    with pytest.raises(ValueError, match="enums"):
        forthwith.protobuf.decode([], opened, enums="name")


def test_recursive_messages_are_read_to_a_depth(tmp_path):
    schema = "syntax = 'proto3'; message Node { int32 x = 1; repeated Node below = 2; }"
    tree = b"\x08\x01" + field(2, b"\x08\x02" + field(2, b"\x08\x03"))
    got = forthwith.protobuf.decode([tree, b""], schema, "Node", recursion=2)
    leaf, empty = {"x": 3}, {"x": 0, "below": []}
    assert got.tolist() == [{"x": 1, "below": [{"x": 2, "below": [leaf]}]}, empty]
    with pytest.raises(forthwith.DamagedFileError, match="records nested deeper than the limit"):
        forthwith.protobuf.decode([tree], schema, "Node", recursion=1)
    path = tmp_path / "trees.pb"
    path.write_bytes(delimited([tree]))
    table = forthwith.open(path, schema=schema, message="Node", recursion=3)
    assert table.arrays(["below/below/x"]).tolist() == [{"below/below/x": [[3]]}]
    struct = "syntax = 'proto3'; import 'google/protobuf/struct.proto'; message A { google.protobuf.Struct s = 1; }"
    value = field(1, field(1, field(1, b"k") + field(2, b"\x1a\x01v")))
    (row,) = forthwith.protobuf.decode([value], struct, recursion=1).s["fields"].tolist()
    assert row[0][0] == "k"
    assert row[0][1]["string_value"] == "v"


def test_extensions_are_fields_in_brackets():
    schema = """syntax = "proto2"; package t; message A { optional int32 x = 1; extensions 100 to 199; }
    extend A { optional string note = 100; repeated int32 n = 101; }"""
    messages = [b"\x08\x01" + field(100, b"hi") + b"\xa8\x06\x05", b""]
    got = forthwith.protobuf.decode(messages, schema)
    assert got.tolist() == [{"x": 1, "[t.note]": "hi", "[t.n]": [5]}, {"x": None, "[t.note]": None, "[t.n]": []}]


def test_events_of_hepmc3(tmp_path):
    path = tmp_path / "events.hepmc3.pb"
    vector = b"".join(bytes([8 * n + 1]) + struct.pack("<d", n / 2) for n in range(1, 5))

    def digest(kind, body):
        return b"\x0d" + struct.pack("<I", len(body)) + b"\x15" + struct.pack("<I", kind) + body

    def one(number):
        particle = b"\x08\x0b\x10\x01\x18\x01\x21" + struct.pack("<d", 0.5) + field(5, vector)
        return b"\x08" + varint(number) + b"\x10\x01\x18\x00" + field(4, particle) * number + field(7, vector)

    path.write_bytes(
        b"hmpb"
        + digest(1, b"\x0a\x013")
        + digest(2, b"")
        + digest(3, one(1))
        + digest(2, b"\x0a\x01w")
        + digest(3, one(2))
        + digest(4, b"\x08\x02")
    )
    for options in ({}, {"framing": "hepmc3", "message": "HepMC3_pb.GenEventData"}):
        table = forthwith.open(path, **options)
        assert table.num_entries == 2
        assert table["event_number"].array().tolist() == [1, 2]
        assert table.arrays(["particles/momentum/m_v4"])["particles/momentum/m_v4"].tolist() == [[2.0], [2.0, 2.0]]
        assert table["momentum_unit"].array().tolist() == ["MEV", "MEV"]
    path.write_bytes(path.read_bytes()[:-1] + b"\xff\x00")
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.open(path).arrays()


# Inputs such as a conformance suite has, for the message `X` below: names, and whether a parser has to take them.
HOSTILE = {
    "field number 0": (b"\x00\x01", False),
    "field number 0 with a length": (b"\x02\x00", False),
    "largest field number": (b"\xf8\xff\xff\xff\x0f\x01", True),
    "field number of 30 bits": (b"\x80\x80\x80\x80\x10\x01", False),
    "wire type 6": (b"\x0e\x01", False),
    "wire type 7": (b"\x0f\x01", False),
    "key alone": (b"\x08", False),
    "key cut": (b"\x88", False),
    "integer cut": (b"\x08\x80", False),
    "integer of eleven bytes": (b"\x08" + b"\x80" * 10 + b"\x01", False),
    "integer of ten bytes": (b"\x08" + b"\xff" * 9 + b"\x01", True),
    "integer with needless bytes": (b"\x08\x81\x80\x80\x00", True),
    "four bytes cut": (b"\x15\x01\x02\x03", False),
    "eight bytes cut": (b"\x19" + bytes(7), False),
    "length beyond the end": (b"\x22\x02a", False),
    "length of 2^31": (b"\x22\x80\x80\x80\x80\x08", False),
    "length of 2^64 - 1": (b"\x22" + b"\xff" * 9 + b"\x01", False),
    "length without bytes": (b"\x22", False),
    "packed with a length that cuts an item": (b"\x2a\x03\x00\x00\x00", False),
    "packed varints that end in the middle": (b"\x32\x02\x01\x80", False),
    "packed and empty": (b"\x2a\x00\x32\x00", True),
    "packed field unpacked": (b"\x2d\x01\x00\x00\x00\x30\x05", True),
    "wrong wire type for a number": (b"\x0a\x01\x05", True),
    "wrong wire type for a string": (b"\x20\x05", True),
    "wrong wire type for a message": (b"\x38\x05", True),
    "message longer than its parent": (b"\x3a\x05\x0a\x10\x08\x01\x00", False),
    "message that ends in a key": (b"\x3a\x01\x08", False),
    "group unclosed": (b"\x43\x08\x01", False),
    "group closed by another": (b"\x43\x4c", False),
    "group closed twice": (b"\x43\x44\x44", False),
    "end of a group alone": (b"\x44", False),
    "group within a message across its end": (b"\x3a\x01\x43\x44", False),
    "unknown group": (b"\xa3\x06\x08\x01\xab\x06\xac\x06\xa4\x06", True),
    "unknown group unclosed": (b"\xa3\x06\x08\x01", False),
    "unknown group with field number 0": (b"\xa3\x06\x00\x01\xa4\x06", True),
    "unknown groups, 99 of them": (b"\xa3\x06" * 99 + b"\xa4\x06" * 99, True),
    "unknown groups, 101 of them": (b"\xa3\x06" * 101 + b"\xa4\x06" * 101, False),
    "unknown groups, a million": (b"\xa3\x06" * 10**6, False),
    "unknown field of every kind": (b"\xa0\x06\x05\xa1\x06" + bytes(8) + b"\xa2\x06\x01x\xa5\x06" + bytes(4), True),
    "unknown field cut": (b"\xa2\x06\x05x", False),
    "string that is not UTF-8": (b"\x22\x01\xff", False),
    "string with half of a pair": (b"\x22\x03\xed\xa0\x80", False),
    "string with a zero": (b"\x22\x01\x00", True),
    "truth of 64 bits": (b"\x48" + b"\x80" * 9 + b"\x01", True),
    "message in three pieces": (b"\x3a\x02\x08\x01\x3a\x00\x3a\x02\x08\x02", True),
    "map entry without a key": (b"\x52\x02\x10\x05", True),
    "map entry with a field it cannot have": (b"\x52\x04\x08\x01\x18\x01", True),
    "map entry cut": (b"\x52\x02\x08", False),
    "choice twice": (b"\x58\x01\x62\x01a\x58\x02", True),
}


def hostile_schema():
    """The message of the inputs above, as a set of descriptors: proto3 with a group, which only descriptors can have."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="t", syntax="editions", edition="EDITION_2023")
    message = file.message_type.add(name="X")
    plain = {1: "INT32", 2: "FIXED32", 3: "DOUBLE", 4: "STRING", 9: "BOOL"}
    for number, kind in plain.items():
        message.field.add(name=f"f{number}", number=number, label=1, type=getattr(types, f"TYPE_{kind}"))
    for number, kind in {5: "FIXED32", 6: "INT32"}.items():
        message.field.add(name=f"f{number}", number=number, label=3, type=getattr(types, f"TYPE_{kind}"))
    inner = file.message_type.add(name="Y")
    inner.field.add(name="g", number=1, label=1, type=types.TYPE_INT32)
    message.field.add(name="f7", number=7, label=1, type=types.TYPE_MESSAGE, type_name=".t.Y")
    group = message.field.add(name="f8", number=8, label=1, type=types.TYPE_MESSAGE, type_name=".t.Y")
    group.options.features.message_encoding = descriptor_pb2.FeatureSet.DELIMITED
    entry = message.nested_type.add(name="F10Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=types.TYPE_INT32)
    entry.field.add(name="value", number=2, label=1, type=types.TYPE_INT32)
    message.field.add(name="f10", number=10, label=3, type=types.TYPE_MESSAGE, type_name=".t.X.F10Entry")
    message.oneof_decl.add(name="choice")
    message.field.add(name="f11", number=11, label=1, type=types.TYPE_INT32, oneof_index=0)
    message.field.add(name="f12", number=12, label=1, type=types.TYPE_STRING, oneof_index=0)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.X"))
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString(), made


@needs_google
def test_hostile_messages_are_refused_where_google_refuses():
    import random_protobuf
    from google.protobuf.message import DecodeError

    schema, made = hostile_schema()
    for name, (message, is_taken) in HOSTILE.items():
        try:
            theirs = random_protobuf.expected(made.FromString(message))
        except DecodeError:
            theirs = None
        assert (theirs is not None) == is_taken, f"{name}: the list is wrong"
        if theirs is None:
            with pytest.raises(forthwith.DamagedFileError):
                print(name, forthwith.protobuf.decode([message], schema, "t.X").tolist())
        else:
            (row,) = forthwith.protobuf.decode([message], schema, "t.X").tolist()
            assert random_protobuf.same(random_protobuf.found(row, made.DESCRIPTOR), theirs), name
    # Whatever ends early is refused, or is a message.
    whole = b"".join(message for message, is_taken in HOSTILE.values() if is_taken and len(message) < 100)
    for end in range(len(whole)):
        try:
            made.FromString(whole[:end])
        except DecodeError:
            with pytest.raises(forthwith.DamagedFileError):
                forthwith.protobuf.decode([whole[:end]], schema, "t.X")
        else:
            forthwith.protobuf.decode([whole[:end]], schema, "t.X")
