"""Fields of records by themselves, named with the records around them: the same way in Avro and in Parquet."""

import copy
import io

import awkward as ak
import pytest

import forthwith
import forthwith.parquet

fastavro = pytest.importorskip("fastavro")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def record(name, **fields):
    return {"type": "record", "name": name, "fields": [{"name": key, "type": ty} for key, ty in fields.items()]}


POINT = record("Point", x="double", y=["null", "int"], label="string")
SCHEMA = record(
    "Event",
    id="long",
    at=POINT,
    maybe=["null", record("Pair", first="Point", second=["Point", "null"])],
    hits={"type": "array", "items": ["null", record("Hit", e="float", tags={"type": "array", "items": "string"})]},
    deep={"type": "array", "items": {"type": "array", "items": record("In", n="int", of=["null", "Point"])}},
    named={"type": "map", "values": "Point"},
    either=["Point", "string"],
    last="string",
)


def point(n):
    return {"x": n / 2, "y": None if n % 3 == 0 else n, "label": f"p{n}"}


def entry(n):
    pair = {"first": point(n), "second": None if n % 2 else point(n + 1)}
    return {
        "id": n,
        "at": point(n),
        "maybe": None if n % 4 == 1 else pair,
        "hits": [None if k == 1 else {"e": k + n, "tags": ["t"] * k} for k in range(n % 4)],
        "deep": [[{"n": k, "of": None if k == 2 else point(k)} for k in range(j)] for j in range(n % 5)],
        "named": {f"k{k}": point(k) for k in range(n % 3)},
        "either": point(n) if n % 2 else "text",
        "last": f"end {n}",
    }


ENTRIES = [entry(n) for n in range(500)]
PATHS = [
    "at/x",
    "at/y",
    "at/label",
    "maybe/first",
    "maybe/first/y",
    "maybe/second",
    "maybe/second/x",
    "maybe/second/y",
    "hits/e",
    "hits/tags",
    "deep/n",
    "deep/of",
    "deep/of/label",
    "deep/of/y",
]


def part(value, path):
    """The part as the entries have it: what is missing makes its fields missing."""
    if value is None or not path:
        return value
    if isinstance(value, list):
        return [part(item, path) for item in value]
    return part(value[path[0]], path[1:])


def avro(codec="null", interval=2000):
    file = io.BytesIO()
    parsed = fastavro.parse_schema(copy.deepcopy(SCHEMA))
    fastavro.writer(file, parsed, ENTRIES, codec=codec, sync_interval=interval)
    return file.getvalue()


def parquet():
    rows = [{key: value for key, value in row.items() if key not in ("named", "either")} for row in ENTRIES]
    table = pa.Table.from_pylist(rows)
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=120)
    return file.getvalue()


@pytest.fixture(scope="module", params=[avro, parquet], ids=["avro", "parquet"])
def tree(request):
    return forthwith.open(io.BytesIO(request.param()))


@pytest.mark.parametrize("path", PATHS)
def test_each_part_alone(tree, path):
    expected = [part(row, path.split("/")) for row in ENTRIES]
    assert tree[path].array().to_list() == expected
    assert tree.arrays([path]).to_list() == [{path: value} for value in expected]


def test_parts_are_not_listed_with_the_columns(tree):
    assert "at" in tree
    assert not any("/" in name for name in tree)
    assert not any("/" in name for name in tree.arrays().fields)
    with pytest.raises(forthwith.KeyInFileError):
        tree["at/z"].array()


def test_parts_beside_each_other_and_beside_the_whole(tree):
    wanted = ["last", "deep/of/y", "at/y", "maybe/second/y", "at/x", "maybe", "deep/n", "id", "hits/e"]
    found = tree.arrays(wanted, library="ak", how=dict)
    assert list(found) == wanted
    for name in wanted:
        assert found[name].to_list() == [part(row, name.split("/")) for row in ENTRIES], name


def test_steps_and_some_entries_of_parts(tree):
    wanted = ["maybe/second/y", "deep/of/label", "hits/e"]
    steps = [row for step in tree.iterate(wanted, step_size=77) for row in step.to_list()]
    assert steps == tree.arrays(wanted).to_list()
    assert tree.arrays(wanted, entry_start=133, entry_stop=-100).to_list() == tree.arrays(wanted).to_list()[133:-100]


def test_arrow_and_others_have_parts(tree):
    wanted = ["maybe/second/y", "deep/of/label", "at/x"]
    table = pa.table(tree.select(wanted))
    assert table.column_names == wanted
    assert table.to_pylist() == tree.arrays(wanted).to_list()
    assert tree["maybe/second/y"].array(library="np").tolist() == table["maybe/second/y"].to_pylist()


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard"])
@pytest.mark.parametrize("threads", [1, 2])
def test_codecs_and_threads(codec, threads):
    tree = forthwith.open(io.BytesIO(avro(codec, 400)))
    found = tree.arrays(["maybe/first/label", "hits/tags"], threads=threads)
    assert found["maybe/first/label"].to_list() == [part(row, ["maybe", "first", "label"]) for row in ENTRIES]
    assert found["hits/tags"].to_list() == [part(row, ["hits", "tags"]) for row in ENTRIES]


def test_what_avro_has_no_parts_of():
    tree = forthwith.open(io.BytesIO(avro()))
    # Pairs of maps belong together, and which record of a union it is differs from entry to entry.
    for path in ("named/x", "either/x", "id/x", "named/key"):
        with pytest.raises(forthwith.KeyInFileError):
            tree[path].array()


def test_parts_of_what_contains_itself_can_be_read():
    node = record("Node", value="int", text="string")
    node["fields"].append({"name": "next", "type": ["null", "Node"]})
    schema = record("r", head=node)
    rows = [{"head": {"value": n, "text": str(n), "next": {"value": -n, "text": "", "next": None}}} for n in range(9)]
    file = io.BytesIO()
    fastavro.writer(file, fastavro.parse_schema(schema), rows)
    tree = forthwith.open(file)
    assert tree["head/value"].array().to_list() == list(range(9))
    assert tree.arrays(["head/text", "head/value"]).to_list()[3] == {"head/text": "3", "head/value": 3}
    with pytest.raises(forthwith.UnsupportedError, match="recursive type Node"):
        tree["head"].array()
    with pytest.raises(forthwith.UnsupportedError, match="recursive type Node"):
        tree["head/next"].array()


def test_a_part_is_written_as_a_column(tree, tmp_path):
    file = io.BytesIO()
    forthwith.parquet.write(file, tree.arrays(["deep/of/y", "at/x"]))
    again = forthwith.open(file)
    assert again.arrays().to_list() == tree.arrays(["deep/of/y", "at/x"]).to_list()
    assert ak.is_valid(tree["maybe/second/y"].array())


def test_parts_of_values_that_are_no_records():
    of = record("Q", x="int", h={"type": "array", "items": record("H", e="double", n="string")})
    rows = [{"x": n, "h": [{"e": n + 0.5, "n": str(n)}] * (n % 3)} for n in range(20)]
    for schema, values in (
        (["null", of], [None if row["x"] % 4 == 1 else row for row in rows]),
        ({"type": "array", "items": of}, [rows[n : n + n % 3] for n in range(20)]),
        ([of], rows),
    ):
        file = io.BytesIO()
        fastavro.writer(file, fastavro.parse_schema(copy.deepcopy(schema)), values, sync_interval=50)
        for options in ({}, {"schema": schema}):
            tree = forthwith.open(file, **options)
            assert tree.keys() == ["value"]
            for path in ("value", "value/x", "value/h", "value/h/e", "value/h/n"):
                expected = [part(value, path.split("/")[1:]) for value in values]
                assert tree[path].array().to_list() == expected
                assert tree[path].array(entry_start=3, entry_stop=17).to_list() == expected[3:17]
            pair = tree.arrays(["value/h/n", "value/x"])
            assert pair["value/x"].to_list() == tree["value/x"].array().to_list()
            assert pa.table(tree.select(["value/h/e"]))["value/h/e"].to_pylist() == tree["value/h/e"].array().to_list()
        with pytest.raises(forthwith.KeyInFileError):
            tree["value/y"].array()
        # Where something is wrong is said as of records.
        damaged = file.getvalue().replace(b"\x0419", b"\x04\xff9")
        assert damaged != file.getvalue()
        with pytest.raises(forthwith.DamagedFileError, match="UTF-8"):
            forthwith.open(io.BytesIO(damaged))["value/h/n"].array()
        assert forthwith.open(io.BytesIO(damaged))["value/x"].array().to_list() == tree["value/x"].array().to_list()


def test_parts_through_a_union_of_one():
    schema = record("r", a=[record("Q", x="int", y="string")])
    file = io.BytesIO()
    fastavro.writer(file, fastavro.parse_schema(schema), [{"a": {"x": n, "y": str(n)}} for n in range(5)])
    assert forthwith.open(file)["a/x"].array().to_list() == list(range(5))
