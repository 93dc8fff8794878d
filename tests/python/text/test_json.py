"""JSON Lines and other JSON: values and types that are found, against Python's own module."""

import contextlib
import io
import json
import math
import random
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import forthwith

TEXTS = ["", "a", "ß日本", 'say "no"', "two\nlines\t", "\\", "/", "\u2028", "\x7f", "\U0001f600"]


def read(text, **options):
    data = text.encode() if isinstance(text, str) else text
    return forthwith.open(io.BytesIO(data), format="json", **options)


def values(text, **options):
    return read(text, **options).arrays(library="arrow").to_pylist()


def maker(rng, depth):
    """A function that makes values of one type, or None."""
    kind = rng.choice(["int", "float", "text", "bool", "list", "record"] if depth else ["int", "float", "text"])
    lack = rng.random() * 0.4
    if kind == "list":
        item = maker(rng, depth - 1)

        def make():
            return [item() for _ in range(rng.randrange(4))]
    elif kind == "record":
        members = {name: (maker(rng, depth - 1), rng.random() < 0.3) for name in rng.sample(["x", "y", "ß", "a.b"], 3)}

        def make():
            names = list(members)
            if rng.random() < 0.5:
                rng.shuffle(names)
            return {name: members[name][0]() for name in names if not members[name][1] or rng.random() < 0.5}
    else:
        make = {
            "int": lambda: rng.choice([0, -1, 2**63 - 1, -(2**63), rng.randrange(1000)]),
            "float": lambda: rng.choice([0.5, -0.0, 1e300, 5e-324, rng.gauss(0, 1), 3.0, 1e22]),
            "text": lambda: rng.choice(TEXTS),
            "bool": lambda: rng.random() < 0.5,
        }[kind]
    return lambda: None if rng.random() < lack else make()


def filled(value, like):
    """A value with all members that a value of Arrow's has: those that it lacks are None."""
    if isinstance(like, dict) and isinstance(value, dict):
        assert set(value) <= set(like)
        return {name: filled(value.get(name), item) for name, item in like.items()}
    if isinstance(like, list) and isinstance(value, list):
        return [filled(item, other) for item, other in zip(value, like, strict=True)]
    return value


def spelled(rng, value):
    return json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 2]))


@pytest.mark.parametrize("how", ["lines", "concatenated", "list"])
def test_random_values(how):
    for seed in range(150):
        rng = random.Random(f"{seed}{how}")
        members = {f"c{at}": maker(rng, rng.randrange(3)) for at in range(rng.randrange(1, 5))}
        rows = [
            {name: make() for name, make in members.items() if rng.random() < 0.9} for _ in range(rng.randrange(1, 20))
        ]
        if how == "list":
            text = "[" + " ,\n".join(spelled(rng, row) for row in rows) + "]\n"
        elif how == "lines":
            text = "".join(json.dumps(row) + rng.choice(["\n", "\r\n", "\n\n"]) for row in rows)
        else:
            text = " ".join(spelled(rng, row) for row in rows)
        found = values(text)
        wanted = [filled(row, other) for row, other in zip(rows, found, strict=True)]
        assert found == wanted, (seed, text)
        assert repr(found).count("-0.0") == repr(wanted).count("-0.0")


def test_values_that_are_no_objects():
    assert read("1\n2.5\nnull\n").arrays()["value"].to_list() == [1, 2.5, None]
    assert read("[[1, 2], []]").arrays()["value"].to_list() == [[1, 2], []]
    assert read("").num_entries == 0
    assert read("[]").num_entries == 0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"x": 1}{"x": 2.5}', "float64"),
        ('{"x": 18446744073709551615}', "uint64"),
        ('{"x": 100000000000000000000}', "float64"),
        ('{"x": 1}{}', "?int64"),
        ('{"x": []}', "var * unknown"),
        ('{"x": [1]}{"x": [null]}', "var * ?int64"),
        ('{"x": {"y": 1}}{"x": {"z": "a"}}', "{y: ?int64, z: ?string}"),
        ('{"x": 1, "x": 2}', "int64"),
    ],
)
def test_types(text, kind):
    assert str(read(text).arrays()["x"].type).split(" * ", 1)[1] == kind


def test_of_members_of_one_name_the_last_counts():
    assert values('{"x": 1, "y": 5, "x": 2}{"x": 3, "y": 6}') == [{"x": 2, "y": 5}, {"x": 3, "y": 6}]
    assert values('{"x": [1, 2], "x": []}') == [{"x": []}]
    assert values('{"r": {"x": 1, "x": null}}') == [{"r": {"x": None}}]


def test_kinds_that_differ():
    text = '{"x": [1, "a", null, [2], {"y": true}], "z": 1}'
    tree = read(text)
    assert tree.arrays(["z"])["z"].to_list() == [1]
    with pytest.raises(forthwith.UnsupportedError, match=r"numbers, texts, lists, objects in \[\].*unions"):
        tree.arrays(["x"])
    assert read(text, unions=True).arrays()["x"].to_list() == [[1, "a", None, [2], {"y": True}]]
    for numbers in ("[9007199254740993, 0.5]", "[-1, 18446744073709551615]", "[123456789012345678901]"):
        with pytest.raises(forthwith.UnsupportedError, match="whole number"):
            read(f'{{"x": {numbers}}}').arrays()


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1', "[1,]", '{"a":1,}', "{a: 1}", "{'a': 1}", "NaN", "Infinity", "-", "01", "1.", ".5", "+1", "1e"),
        *("[1] 2", "[1]]", '"\t"', '"\\x"', '"\\ud800"', "nul", "[" * 100_000, '{"a":' * 100_000, "\ufeff\ufeff1"),
        *("[1 2]", '{"a" 1}', '{"a":}', "[,1]", "1e999", '"abc', '{"a": 1}}', "\0", "[1\x00]"),
    ],
)
def test_what_is_not_json_is_refused(text):
    with pytest.raises((forthwith.DamagedFileError, forthwith.UnsupportedError), match=r"line 1|deep"):
        read(text).arrays()


def test_errors_name_line_and_byte(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a": x}\n')
    with pytest.raises(forthwith.DamagedFileError, match=r"line 3, column 7") as caught:
        forthwith.open(tmp_path / "a.jsonl").arrays()
    assert "a.jsonl" in str(caught.value)
    with pytest.raises(forthwith.DamagedFileError, match="UTF-8"):
        read(b'{"a": "\xff"}')


def test_lists_on_lines_are_values(tmp_path):
    (tmp_path / "a.jsonl").write_text("[1, 2]\n[]\n[3]\n")
    assert forthwith.open(tmp_path / "a.jsonl").arrays()["value"].to_list() == [[1, 2], [], [3]]
    (tmp_path / "a.json").write_text('[{"x": 1}, {"x": 2}]')
    assert forthwith.open(tmp_path / "a.json").arrays()["x"].to_list() == [1, 2]


def test_long_files(tmp_path):
    rng = random.Random(1)
    rows = [{"n": at, "s": rng.choice(TEXTS) * rng.randrange(60), "l": [at] * (at % 4)} for at in range(40_000)]
    rows[77]["s"] = "x" * 3_000_000
    for text in ("\n".join(map(json.dumps, rows)), json.dumps(rows)):
        file = read(text)
        found = file.arrays(library="arrow")
        assert found.to_pylist() == rows
        part = file.arrays(["l"], entry_start=12_345, entry_stop=23_456, threads=1)["l"].to_list()
        assert part == [row["l"] for row in rows[12_345:23_456]]
        assert sum(len(step) for step in file.iterate(step_size=7_000)) == len(rows)


def test_own_files_come_back(tmp_path):
    rows = [{"x": 1, "s": "a", "l": [{"y": 1.5}]}, {"x": None, "s": 'ß"', "l": []}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    command = [sys.executable, "-m", "forthwith"]
    words = ["convert", tmp_path / "a.parquet", tmp_path / "a.jsonl"]
    subprocess.run([*command, *words], check=True, capture_output=True)
    with forthwith.open(tmp_path / "a.jsonl") as file:
        assert file.arrays(library="arrow").to_pylist() == rows
        assert file.arrays(["s"], cut="x == 1", library="arrow").to_pylist() == [{"s": "a"}]
    for words in (["head"], ["count"], ["show"], ["check"], ["explain"]):
        done = subprocess.run([*command, *words, tmp_path / "a.jsonl"], check=True, capture_output=True, text=True)
        assert done.stdout


def test_mutated_files_are_errors_or_values():
    rng = random.Random(5)
    sound = '{"a": [1, 2.5, null], "b": {"c": "ß\\n"}}\n{"a": [], "b": null}\n'.encode()
    for _ in range(1500):
        data = bytearray(sound)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.choice(b'{}[],:"\\u0e-1.\n\x00\xff ')
        try:
            wanted = [json.loads(line) for line in bytes(data).splitlines()]
        except (ValueError, RecursionError):
            wanted = None
        with contextlib.suppress(forthwith.ForthwithError):
            found = read(bytes(data), unions=True).arrays().to_list()
            if wanted and all(isinstance(row, dict) for row in wanted):
                assert len(found) == len(wanted)


def test_numbers_are_exact():
    rng = random.Random(8)
    numbers = [rng.getrandbits(64) for _ in range(100)] + [
        math.ldexp(rng.random(), rng.randrange(-1074, 1000)) for _ in range(500)
    ]
    for number in numbers:
        assert values(f'{{"x": {number!r}}}') == [{"x": number}]
