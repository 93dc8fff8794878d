"""JSON Lines: refusal where Python's own module refuses, schemas, damage, and compressed files."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import random
import subprocess
import sys

import pyarrow as pa
import pytest

import forthwith


def read(text, **options):
    data = text.encode() if isinstance(text, str) else text
    return forthwith.open(io.BytesIO(data), format="json", **options)


def rows(text, **options):
    return read(text, **options).arrays(library="arrow").to_pylist()


ACCEPTED = [
    *(
        "[]",
        "[[]   ]",
        '[""]',
        "[1E22]",
        "[1e+2]",
        "[123.456e78]",
        "[-0]",
        "[-1]",
        "[0e+1]",
        "[0e1]",
        " [1]",
        "[1]\r\n\t ",
    ),
    *(
        '["\\u0060\\u012a\\u12AB"]',
        '["\\uD801\\udc37"]',
        '["\\uDBFF\\uDFFF"]',
        '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
        '["\\u0000"]',
    ),
    *('["\\uFFFF"]', '["\u2028\u2029"]', '["\x7f"]', '["\U0010ffff"]', '{"a":"b","a":"c"}', '{"":0}', '{"\\u0000":42}'),
    *('{"a":{"b":[{"c":null}]}}', "[0.1e-7, -0.0, 1E-2, 20e1]", '["a",true,false,null]', '{"a" :1 , "b":\n2}'),
    "[" * 60 + "]" * 60,
]
REFUSED = [
    *(
        "[1 true]",
        '["",]',
        '[""],',
        "[,1]",
        "[1,,2]",
        '["x"]]',
        "[3[4]]",
        "[1:2]",
        "[,]",
        "[-]",
        '["": 1]',
        "[1,\n1\n,1",
        "*",
    ),
    *(
        "[tru]",
        "[nul]",
        "[fals]",
        "[++1234]",
        "[+1]",
        "[+Inf]",
        "[-01]",
        "[-1.0.]",
        "[-2.]",
        "[-NaN]",
        "[.-1]",
        "[.2e-3]",
    ),
    *("[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]", "[0e+]", "[0e]", "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]"),
    *(
        "[2.e+3]",
        "[9.e+]",
        "[Inf]",
        "[NaN]",
        "[\uff11]",
        "[1+2]",
        "[0x1]",
        "[0x42]",
        "[Infinity]",
        "[0e+-1]",
        "[-123.123foo]",
    ),
    *(
        "[-foo]",
        "[- 1]",
        "[-012]",
        "[-.123]",
        "[-1x]",
        "[1ea]",
        "[1.]",
        "[.123]",
        "[1.2a-3]",
        "[1.8011670033376514H-308]",
    ),
    *("[012]", '["x", truth]', '{[: "x"}', '{"x", null}', '{"x"::"b"}', '{"a":"a" 123}', "{key: 'value'}", "{1:1}"),
    *(
        "{9999E9999:1}",
        '{"id":0,,,,,}',
        "{'a':0}",
        '{"id":0,}',
        '{"a":"b"}/**/',
        '{"a":"b"}#',
        '{"a":"b",,"c":"d"}',
        '{a: "b"}',
    ),
    *(
        '{"a":"a',
        '{ "foo" : "bar", "a" }',
        '["\\uD800\\"]',
        '["\\uD800\\u"]',
        '["\\uD800\\u1x"]',
        "[\u00e9]",
        '["\\\x00"]',
    ),
    *(
        '["\\x00"]',
        '["\\\\\\"]',
        '["\\\t"]',
        '["\\\U0001f300"]',
        '["\\"]',
        '["\\u00A"]',
        '["\\uD834\\uDd"]',
        '["\\uqqqq"]',
        '["\\a"]',
    ),
    *(
        '[\\u0020"asd"]',
        "[\\n]",
        '"',
        "['single quote']",
        "abc",
        '["a\x00a"]',
        '["new\nline"]',
        '"\\UA66D"',
        "[\u2060]",
        "<null>",
    ),
    *(
        "[<null>]",
        "[1]x",
        "2@",
        "[True]",
        "1]",
        '{"x": true,',
        "[][]x",
        "]",
        "[a",
        "[]\x0c",
        "[1,",
        '[{"a":1',
        "[\f]",
        "\u00e5",
    ),
    *(
        "{]",
        "{}}",
        '{"":',
        '{"a":/*comment*/"b"}',
        '{"a": true} "x',
        "['",
        '["a',
        '{"a',
        "{,",
        "{[",
        "*",
        '["asd]',
        "1 000.0x",
    ),
]


@pytest.mark.parametrize("how", ["items", "rows", "projected"])
def test_what_python_reads_is_read(how):
    for text in ACCEPTED:
        wanted = json.loads(text)
        if how == "items":
            found = read(text, unions=True).arrays()
            assert len(found) == (len(wanted) if isinstance(wanted, list) else 1), text
        else:
            line = f'{{"x": {text.strip()}, "y": 1}}'.replace("\n", " ").replace("\r", " ")
            schema = (
                {"type": "record", "name": "r", "fields": [{"name": "y", "type": "int"}]}
                if how == "projected"
                else None
            )
            tree = read(f"{line}\n{line}\n", unions=True, schema=schema)
            assert tree.arrays(["y"], library="arrow").to_pylist() == [{"y": 1}] * 2, text


def test_what_python_refuses_is_refused():
    for text in REFUSED:
        with pytest.raises(ValueError):
            json.loads(text, parse_constant=int)
        for before in ("", '{"a": 1}\n'):
            with pytest.raises((forthwith.DamagedFileError, forthwith.UnsupportedError)):
                pytest.fail(f"{before + text!r}: {read(before + text, unions=True).arrays()}")
    for deep in ("[" * 100_000, '{"a":' * 100_000, "[" * 200 + "]" * 200):
        with pytest.raises(forthwith.DamagedFileError, match=r"deep|end"):
            read(deep).arrays()


def test_errors_say_line_column_and_path():
    text = '{"a": [{"b": 1}]}\n{"a": [{"b": 2}, {"b": "x"}]}\n'
    with pytest.raises(forthwith.DamagedFileError, match=r"line 2, column 24, in a\[1\]\.b"):
        read(text, schema={"type": "object", "properties": {"a": SCHEMA_OF_A}}).arrays()
    with pytest.raises(
        forthwith.DamagedFileError, match=r"300 is not a number of type int8 \(line 1, column 7, in a\)"
    ):
        read('{"a": 300}', schema="{a: int8}").arrays()
    with pytest.raises(forthwith.DamagedFileError, match=r'without the member "a" \(line 2'):
        read('{"a": 3}\n{}\n', schema="{a: int8}").arrays()


SCHEMA_OF_A = {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "integer"}}}}


def test_damage_ends_with_its_line():
    lines = [f'{{"n": {n}, "s": "x{n}"}}' for n in range(50_000)]
    for bad in (b'{"n": 1, "s": }', b'{"n": 1', b"\xff", b'{"n": 1} x', b'"open', b"}"):
        sound = [line.encode() for line in lines]
        sound[7] = sound[31_000] = bad
        tree = read(b"\n".join(sound) + b"\n")
        assert tree.num_entries == 50_000
        with pytest.warns(forthwith.DataLossWarning, match="2 entries of the table could not be read"):
            found = tree.arrays(errors="skip")
        assert found["n"].to_list() == [n for n in range(50_000) if n not in (7, 31_000)], bad
        with pytest.raises(forthwith.DamagedFileError, match="line 8"):
            tree.arrays()
        assert tree.arrays(entry_start=8, entry_stop=10)["n"].to_list() == [8, 9]


def test_files_that_are_cut_lose_their_last_line():
    text = b'{"n": 1, "s": "a"}\n{"n": 2, "s": "\xc3\x9f"}\n{"n": 3, "s": "c"}\n'
    for end in range(20, len(text)):
        whole = text[:end].count(b"\n") + text[:end].endswith(b"}")
        tree = read(text[:end])
        assert tree.arrays(entry_stop=whole)["n"].to_list() == [1, 2, 3][:whole]
        if tree.num_entries > whole:
            with pytest.raises(forthwith.DamagedFileError, match=rf"line {whole + 1}, column"):
                tree.arrays()


def test_schemas_of_all_kinds():
    text = '{"a": 1, "t": "2024-02-29T12:00:00Z", "skip": [{"x": "]"}], "b": [1, 2.5], "d": "2024-02-29"}\n{"a": 2, "b": []}\n'
    moment = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
    wanted = [{"a": 1, "t": moment, "b": [1.0, 2.5]}, {"a": 2, "t": None, "b": []}]
    arrow = pa.schema([("a", pa.int16()), ("t", pa.timestamp("us", "UTC")), ("b", pa.list_(pa.float32()))])
    found = read(text, schema=arrow).arrays(library="arrow")
    assert found.to_pylist() == wanted
    assert [field.type for field in found.schema][:2] == [pa.int16(), pa.timestamp("us", "UTC")]
    properties = {"a": {"type": "integer"}, "t": {"type": "string", "format": "date-time"}}
    properties["b"] = {"type": "array", "items": {"type": "number"}}
    assert rows(text, schema={"type": "object", "properties": properties}) == wanted
    avro = [{"name": "a", "type": "long"}, {"name": "b", "type": {"type": "array", "items": "double"}}]
    for one in ({"type": "record", "name": "r", "fields": avro}, "{a: int64, b: var * float64}"):
        assert rows(text, schema=one) == [{"a": 1, "b": [1.0, 2.5]}, {"a": 2, "b": []}]
    ak = pytest.importorskip("awkward")
    like = ak.Array([{"a": 1, "b": [1.5]}])
    for one in (like.type, like.layout.form, like.layout.form.to_dict()):
        assert rows(text, schema=one) == [{"a": 1, "b": [1.0, 2.5]}, {"a": 2, "b": []}]
    assert rows('{"a": 1}\n{"a": 2}', schema="{a: float64}") == [{"a": 1.0}, {"a": 2.0}]
    assert rows(
        '{"m": {"x": 1}}',
        schema={
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
    )
    with pytest.raises(forthwith.RequestError, match="schema"):
        read(text, schema={"type": "nothing"})


def test_dates_on_request():
    text = (
        '{"d": "2024-02-29", "t": "2024-02-29T12:00:00", "s": "2024-02-29"}\n{"d": "1969-12-31", "t": null, "s": "x"}\n'
    )
    assert rows(text)[0]["d"] == "2024-02-29"
    found = rows(text, parse_dates=True)
    assert found[0] == {"d": datetime.date(2024, 2, 29), "t": datetime.datetime(2024, 2, 29, 12), "s": "2024-02-29"}
    assert found[1] == {"d": datetime.date(1969, 12, 31), "t": None, "s": "x"}


@pytest.mark.parametrize("ending", ["gz", "xz", "bz2", "zst"])
def test_compressed_files(tmp_path, ending):
    text = "".join(f'{{"n": {n}}}\n' for n in range(20_000)).encode()
    if ending == "zst":
        stored = pa.compress(text, "zstd", asbytes=True)
    else:
        stored = {"gz": gzip, "xz": lzma, "bz2": bz2}[ending].compress(text)
    path = tmp_path / f"a.jsonl.{ending}"
    path.write_bytes(stored)
    with forthwith.open(path) as tree:
        assert tree.arrays()["n"].to_list() == list(range(20_000))
        assert sum(len(step) for step in tree.iterate(step_size=3000)) == 20_000
    (tmp_path / f"b.csv.{ending}").write_bytes(stored)
    assert forthwith.open(tmp_path / f"b.csv.{ending}").num_entries == 19_999
    path.write_bytes(stored[:-10])
    with pytest.raises(forthwith.DamagedFileError, match="stream"):
        forthwith.open(path)


def test_the_command_takes_streams_and_schemas():
    command = [sys.executable, "-m", "forthwith"]
    text = gzip.compress(b'{"a": 1, "b": [1, 2]}\n{"a": 2, "b": []}\n')
    words = ["cat", "-", "--open", "format=jsonl", "--open", "schema={a: int8, b: var * float64}"]
    done = subprocess.run([*command, *words], check=False, input=text, capture_output=True)
    assert done.stdout.decode().splitlines() == ['{"a":1,"b":[1.0,2.0]}', '{"a":2,"b":[]}'], done.stderr


def test_random_numbers_are_those_of_python():
    rng = random.Random(17)
    texts = []
    for _ in range(4000):
        whole = str(rng.getrandbits(rng.randrange(1, 70)))
        fraction = rng.choice(["", f".{rng.getrandbits(rng.randrange(1, 90))}"])
        exponent = rng.choice(["", "", f"e{rng.randrange(-330, 300)}", f"E+{rng.randrange(20)}"])
        text = rng.choice(["", "-"]) + whole + fraction + exponent
        if abs(float(text)) < float("inf"):
            texts.append(text)
    found = read("\n".join(texts), schema="float64").arrays()["value"].to_list()
    assert list(map(repr, found)) == [repr(float(text)) for text in texts]
