"""ProtoBuf, side by side: files of the same messages read by forthwith, ptars, prost and Google's package, values compared.

    python benches/protobuf/compare.py FOLDER [--events N] [--rounds N]

Makes the files in FOLDER unless they are there, times each reader by the processor time of one thread, best of the rounds, in turns, and
writes `benches/results/<date>-protobuf/results.md` if the build is a release. Needs protobuf, ptars, pyarrow and awkward, and cargo
for prost.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import random
import subprocess
import time
from collections.abc import Callable
from typing import Any

import awkward as ak
import ptars
import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import forthwith
from forthwith import _forthwith

HERE = pathlib.Path(__file__).parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release"
TYPES = descriptor_pb2.FieldDescriptorProto


def schema(unused: int) -> Any:
    """The message class of events; with so many more fields that no message has."""
    file = descriptor_pb2.FileDescriptorProto(name=f"event{unused}.proto", package="b", syntax="proto3")
    kind = file.enum_type.add(name="Kind")
    for number, name in enumerate(("NONE", "MUON", "JET")):
        kind.value.add(name=name, number=number)

    def message(name: str, *fields: tuple[Any, ...]) -> Any:
        one = file.message_type.add(name=name)
        for number, (label, type_name, field, *optional) in enumerate(fields, 1):
            made = one.field.add(name=field, number=number, label=TYPES.LABEL_REPEATED if label == "*" else TYPES.LABEL_OPTIONAL)
            if type_name[0].isupper():
                made.type = TYPES.TYPE_ENUM if type_name == "Kind" else TYPES.TYPE_MESSAGE
                made.type_name = f".b.{type_name}"
            else:
                made.type = getattr(TYPES, f"TYPE_{type_name.upper()}")
            if optional:
                made.proto3_optional = True
                made.oneof_index = len(one.oneof_decl)
                one.oneof_decl.add(name=f"_{field}")
        return one

    message("Hit", ("", "uint32", "channel"), ("", "float", "charge"), ("", "sint32", "time"))
    message("Track", ("*", "Hit", "hits"), ("", "double", "px"), ("", "double", "py"), ("", "double", "chi2", True))
    more = [("", "int32", f"unused{number}", True) for number in range(unused)]
    message(
        "Event",
        ("", "int64", "id"),
        ("*", "Track", "tracks"),
        ("", "Kind", "kind"),
        ("", "string", "name"),
        ("*", "int32", "codes"),
        ("", "bool", "good"),
        ("", "fixed64", "clock"),
        ("", "double", "weight", True),
        ("", "string", "stream"),
        ("", "uint64", "mask"),
        *more,
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("b.Event"))


def events(made: Any, count: int) -> list[bytes]:
    """Serialized events."""
    rng = random.Random(1)
    found = []
    for number in range(count):
        event = made(id=number, kind=number % 3, name=f"event {number}", good=number % 2 == 0, clock=rng.getrandbits(63))
        event.codes.extend(rng.getrandbits(rng.choice([6, 13, 20])) for _ in range(rng.randrange(12)))
        event.stream, event.mask = rng.choice(["physics", "calibration"]), rng.getrandbits(40)
        if number % 3:
            event.weight = rng.random()
        for _ in range(rng.randrange(8)):
            track = event.tracks.add(px=rng.gauss(0, 9), py=rng.gauss(0, 9))
            if rng.random() < 0.5:
                track.chi2 = rng.random()
            for _ in range(rng.randrange(10)):
                track.hits.add(channel=rng.randrange(1 << 16), charge=rng.random(), time=rng.randrange(-300, 300))
        found.append(event.SerializeToString())
    return found


def varint(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def best(rounds: int, cases: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least processor time of each case, in turns."""
    least = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.process_time()
            case()
            least[name] = min(least[name], time.process_time() - start)
    return least


def same(ours: ak.Array, theirs: pa.RecordBatch) -> None:
    """Compares a few rows spread over the table, and sums over all of it."""
    table = pa.table(theirs)
    for row in range(0, len(ours), max(1, len(ours) // 50)):
        one, other = ours[row].tolist(), {name: table[name][row].as_py() for name in ours.fields}
        other["kind"] = ("NONE", "MUON", "JET")[other["kind"]] if isinstance(other["kind"], int) else other["kind"]
        assert one == other, f"row {row}:\n{one}\n{other}"
    assert ak.sum(ours.tracks.hits.channel) == ak.sum(ak.from_arrow(table)["tracks"]["hits"]["channel"])


def structs(path: pathlib.Path, rounds: int, ours: ak.Array) -> float:
    """The least processor time in which prost makes structs of a file, with text checked."""
    line = [TARGET / "structs", path, str(rounds)]
    took, *sums = subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()
    letters = ak.sum(ak.num(ours.name)) + ak.sum(ak.num(ours.stream))
    assert [int(one) for one in sums] == [len(ours), ak.sum(ours.tracks.hits.channel), letters]
    return float(took)


def measure(folder: pathlib.Path, count: int, rounds: int) -> list[str]:
    """The lines of one size."""
    made, wide = schema(0), schema(100)
    path = folder / f"events-{count}.pb"
    messages = events(made, count)
    path.write_bytes(b"".join(varint(len(message)) + message for message in messages))
    size = path.stat().st_size / 1e6
    pool = ptars.HandlerPool([made.DESCRIPTOR.file])

    def read(schema_of: Any = made, columns: list[str] | None = None) -> ak.Array:
        return forthwith.open(path, schema=schema_of, threads=1).arrays(columns)

    ours = read()
    same(ours, pool.read_size_delimited_file(path, made.DESCRIPTOR))
    prost = structs(path, rounds, ours)
    seconds = best(
        rounds,
        {
            "forthwith, all fields": read,
            "forthwith, 100 fields more that no message has": lambda: read(wide),
            "forthwith, two of ten fields": lambda: read(made, ["id", "weight"]),
            "ptars": lambda: pool.read_size_delimited_file(path, made.DESCRIPTOR),
            "Google's protobuf (objects only)": lambda: [made.FromString(message) for message in messages],
        },
    )
    seconds["prost (structs)"] = prost
    ptars_takes = seconds["ptars"]
    lines = [f"\n{size:.1f} MB, {count} events:\n", "| reader | MB/s | times as fast as ptars |", "| --- | ---: | ---: |"]
    lines += [f"| {name} | {size / took:.0f} | {ptars_takes / took:.2f} |" for name, took in seconds.items()]
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--events", type=int, nargs="*", default=[1_300, 15_000, 60_000])
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", HERE / "Cargo.toml"], check=True)
    lines = [line for count in asked.events for line in measure(asked.folder, count, asked.rounds)]
    print("\n".join(lines))
    if _forthwith.optimised:
        results = HERE.parent / "results" / f"{datetime.date.today()}-protobuf"
        results.mkdir(parents=True, exist_ok=True)
        (results / "results.md").write_text("\n".join(["# ProtoBuf, side by side", *lines, ""]))
