"""Members of records that a column has whole: the leaves of one branch, and objects that are not split."""

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith


def same(one, other):
    return ak.array_equal(one, other, equal_nan=True)


@pytest.fixture
def lists():
    with forthwith.open(data("leaves.root")) as file:
        yield file["lists"]


@pytest.fixture
def whole():
    with forthwith.open(data("objects.root")) as file:
        yield file["whole"]


def test_members_are_those_of_the_whole_column(lists, whole):
    for tree, column, paths in [
        (lists, "mixed", ["c", "i", "o", "d", "s", "f"]),
        (lists, "ends", ["n", "x"]),
        (whole, "event", ["run", "text", "rows", "vertex.x", "hits.energy", "hits.detector", "tracks.points"]),
        (whole, "hits", ["energy", "cell", "samples"]),
        (whole, "dotted.", ["vertex.z"]),
    ]:
        values = tree[column].array()
        for path in paths:
            wanted = values[tuple(path.split("."))] if "." in path else values[path]
            name = f"{column.rstrip('.')}.{path}" if column != "dotted." else f"{column}.{path}"
            read = tree.arrays([name])[name]
            assert same(read, wanted), name
            assert read.type == wanted.type, name


def test_members_are_computed_and_chosen_by(lists, whole):
    values = lists.arrays()
    read = lists.arrays(["mixed.d * 2", "same/x", "y"], cut="mixed.i > 0 and same.x < 100", aliases={"y": "same.y"})
    passed = (values.mixed.i > 0) & (values.same.x < 100)
    assert 0 < ak.sum(passed) < len(values)
    assert same(read["mixed.d * 2"], values.mixed.d[passed] * 2)
    assert same(read["same/x"], values.same.x[passed])
    assert same(read["y"], values.same.y[passed])
    hits = whole["hits"].array()
    read = whole.arrays(["sum(hits.energy)", "hits"], cut="any(hits.energy > 1)", entry_start=1)
    passed = ak.any(hits.energy[1:] > 1, axis=1)
    assert np.allclose(read["sum(hits.energy)"], ak.sum(hits.energy[1:], axis=1)[passed])
    assert same(read["hits"], hits[1:][passed])
    steps = list(lists.iterate(["ends.x"], step_size=7))
    assert same(ak.concatenate([step["ends.x"] for step in steps]), values.ends.x)


def test_members_of_friends_and_of_chains(lists, tmp_path):
    values = lists.arrays()
    with forthwith.open(data("leaves.root")) as other:
        read = lists.arrays(["f.same.x", "ends.n"], friends={"f": other["lists"]}, cut="f.mixed.i > 0")
    passed = values.mixed.i > 0
    assert same(read["f.same.x"], values.same.x[passed])
    assert same(read["ends.n"], values.ends.n[passed])
    twice = forthwith.concatenate([f"{data('leaves.root')}:lists"] * 2, ["mixed.d"])
    assert same(twice["mixed.d"], ak.concatenate([values.mixed.d] * 2))
    with forthwith.recreate(tmp_path / "other.root") as file:
        file["lists"] = {"z": np.arange(3)}
    places = [f"{data('leaves.root')}:lists", f"{tmp_path / 'other.root'}:lists"]
    for names, cut in (
        [["same", "z"], None],
        [["same.x", "z"], None],
        [["same.x + 1", "z"], "same.x > 0 or z >= 0"],
    ):
        joined = forthwith.concatenate(places, names, missing="null", cut=cut)
        x, nothing = values.same.x, [None] * 3
        if names[0] == "same":
            assert same(ak.drop_none(joined.same.x), x)
        else:
            wanted = x if cut is None else x[x > 0] + 1
            assert joined[names[0]].to_list() == [*wanted.to_list(), *nothing]
        assert joined.z[-3:].to_list() == [0, 1, 2]


def test_a_dot_at_the_end_of_a_branch_is_not_said_twice(whole):
    values = whole["dotted."].array()
    read = whole.arrays(["dotted.vertex.z", "dotted.vertex.z * 2"], cut="dotted.run > 0")
    z = values.vertex.z[values.run > 0]
    assert same(read["dotted.vertex.z"], z)
    assert same(read["dotted.vertex.z * 2"], z * 2)


def test_memory_bounds_the_steps_of_uproots_names():
    with forthwith.uproot.open(data("objects.root")) as file:
        tree = file["whole"]
        assert tree.num_entries_for("1 kB", ["event.vertex.x"]) == tree.num_entries_for("1 kB", ["event"])
        assert len(list(tree.iterate(["event.vertex.x"], step_size="1 kB"))) > 1


def test_names_in_groups_of_branches_are_not_taken_for_members():
    with forthwith.open(data("objects.root")) as file:
        split = file["split"]
        for cut in ("event.rnu > 1", "event.Header.rnu > 1"):
            with pytest.raises(forthwith.RequestError, match="no column"):
                split.arrays(cut=cut)
        with pytest.raises(forthwith.RequestError, match="no column"):
            split.arrays(["event.typo + 1"])
        with pytest.raises(forthwith.KeyInFileError):
            split["event"].arrays(["vertex.nothing"])


def test_members_of_other_formats(tmp_path):
    schema = {
        "type": "record",
        "name": "Event",
        "fields": [
            {
                "name": "u",
                "type": ["null", {"type": "record", "name": "P", "fields": [{"name": "x", "type": ["null", "int"]}]}],
            },
        ],
    }
    path = tmp_path / "a.avro"
    forthwith.write_avro(path, [{"u": {"x": 1}}, {"u": None}, {"u": {"x": None}}], schema)
    with forthwith.open(path) as table:
        assert table.arrays(["u.x", "is_none(u.x)"]).to_list() == [
            {"u.x": 1, "is_none(u.x)": False},
            {"u.x": None, "is_none(u.x)": True},
            {"u.x": None, "is_none(u.x)": True},
        ]


def test_a_member_that_is_not_there_is_an_error(lists, whole):
    for tree, name, message in [
        (lists, "mixed.no", 'no branch named "mixed.no"'),
        (lists, "mixed.c.no", 'no branch named "mixed.c.no"'),
        (whole, "hits.energy.no", 'no branch named "hits.energy.no"'),
    ]:
        with pytest.raises(forthwith.KeyInFileError, match=message):
            tree.arrays([name])
    with pytest.raises(forthwith.RequestError, match=r'no column "mixed\.no"'):
        lists.arrays(cut="mixed.no > 1")
    with pytest.raises(forthwith.RequestError, match=r'no column "d"; did you mean mixed\.d\?'):
        lists.arrays(cut="d > 1")
    with pytest.raises(forthwith.RequestError, match=r'no column "I"') as caught:
        lists.arrays(cut="I > 1")
    assert "mean mixed.I" not in str(caught.value)
    with pytest.raises(forthwith.RequestError, match=r"record is computed with by its fields"):
        whole.arrays(cut="event.vertex > 1")
