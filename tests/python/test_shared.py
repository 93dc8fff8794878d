"""Objects that several pointers lead to have one row, which all of them name."""

import json
import pathlib

import pytest
from conftest import data

import forthwith

ak = pytest.importorskip("awkward")
GOLDEN = json.loads(pathlib.Path(data("shared.root.values.json")).read_text())
WHOLE = GOLDEN["whole"]
# Branches, and what of an entry they have.
BRANCHES = {
    "whole:collision": None,
    "apart:list": "list",
    "apart:vertices": "vertices",
    "split:collision./first": "first",
    "split:collision./vertices": "vertices",
    "split:collision./byNumber": "byNumber",
    "split:collision./any[4]": "any",
    "split:collision./list": "list",
    "split:collision./tracks/tracks.from": ("tracks", "from"),
    "split:collision./tracks/tracks.to": ("tracks", "to"),
}


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("shared.root")) as file:
        yield file


def wanted(what):
    if isinstance(what, tuple):
        return [[item[what[1]] for item in entry[what[0]]] for entry in WHOLE]
    return [entry if what is None else entry[what] for entry in WHOLE]


def same(found, value):
    if isinstance(value, dict):
        return all(same(found[name], inner) for name, inner in value.items())
    if isinstance(value, list):
        return len(found) == len(value) and all(map(same, found, value))
    return found == value


def pointers(layout, path=""):
    """All nodes that are pointers to objects, by their places."""
    if layout.is_option:
        yield path, layout
        layout = layout.content
        if layout.is_union:
            return  # identity is asked of the option around it
    if layout.is_record:
        for name in layout.fields:
            yield from pointers(layout.content(name), f"{path}.{name}")
    elif layout.is_list:
        yield from pointers(layout.content, f"{path}[]")


def branch(file, name):
    tree, _, path = name.partition(":")
    return file[tree][path]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", BRANCHES)
def test_values_are_what_root_reads(file, name, threads):
    array = branch(file, name).array(threads=threads)
    assert branch(file, name).num_baskets > 1
    found, values = array.to_list(), wanted(BRANCHES[name])
    assert len(found) == len(values)
    for got, value in zip(found, values, strict=True):
        assert same(got, value)
    # The same in parts.
    for start, stop in ((7, 8), (13, 41), (59, 60), (20, 20)):
        part = branch(file, name).array(entry_start=start, entry_stop=stop, threads=threads)
        assert part.to_list() == found[start:stop]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", BRANCHES)
def test_an_object_has_one_row_for_each_place(file, name, threads):
    array = branch(file, name).array(threads=threads)
    places = dict(pointers(array.layout))
    assert places
    met = 0
    for place, node in places.items():
        index = node.index.data
        # Ids are another in each entry only together with the entry's number: rows of different entries have nothing in common.
        rows = index[index >= 0]
        assert len(set(rows.tolist())) == node.content.length, place
        assert sorted(set(rows.tolist())) == list(range(node.content.length)), place
        met += len(rows) - len(set(rows.tolist()))
        ids = node.content["id"] if not node.content.is_union else ak.Array(node.content)["id"].layout
        ids = ak.to_numpy(ids)
        # As many objects as there are different ids, entry by entry: what an entry has follows what the one before had.
        if place in ("", "[]"):
            flat = ak.Array(node)["id"] if place == "" else None
            per_entry = ak.flatten(array.id, axis=None) if flat is None else flat
            assert len(per_entry) >= len(ids)
    if name in ("whole:collision", "apart:list", "apart:vertices", "split:collision./vertices", "split:collision./tracks/tracks.from"):
        assert met > 10


def test_pointers_are_the_same_where_objects_are(file):
    # Of each entry: two pointers of the list have the same row if and only if they have the same id.
    for name in ("apart:list", "apart:vertices", "split:collision./list", "split:collision./vertices"):
        array = branch(file, name).array()
        rows = ak.Array(ak.contents.ListOffsetArray(array.layout.offsets, ak.contents.NumpyArray(array.layout.content.index.data)))
        count = 0
        for row, ids in zip(rows.to_list(), array.id.to_list(), strict=True):
            pairs = {(at, number) for at, number in zip(row, ids, strict=True) if number is not None}
            assert len({at for at, _ in pairs}) == len({number for _, number in pairs}) == len(pairs)
            count += len(pairs)
        assert count


def test_other_ways_out(file):
    arrow = pytest.importorskip("pyarrow")
    for name, what in BRANCHES.items():
        array = branch(file, name).array()
        for got, value in zip(arrow.array(branch(file, name)).to_pylist(), wanted(what), strict=True):
            if "any" not in name and "list" not in name and "whole" not in name:
                assert got == value or same(got, value) or name.endswith("byNumber")
        assert len(branch(file, name).array(library="np")) == len(array)


def test_circles_are_an_error_that_says_so(file):
    node = file["circles"]["node"]
    alone = [entry for entry, length in enumerate(GOLDEN["circles"]) if length == 0]
    with pytest.raises(forthwith.DamagedFileError, match="next"):
        node.array()
    lost = []
    found = file["circles"].arrays(["node"], errors="skip", lost=lost)
    assert len(found) == len(alone)
    assert [list(range(*loss.entries)) for loss in lost] if hasattr(lost[0], "entries") else lost
