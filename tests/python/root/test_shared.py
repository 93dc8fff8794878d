"""Objects that several pointers lead to have one row, which all of them name."""

import itertools
import json

import pytest
from conftest import data, golden_of

import forthwith

pytest.importorskip("awkward")
np = pytest.importorskip("numpy")
GOLDEN = golden_of("shared.root.values.json")
WHOLE = GOLDEN["whole"]
# Branches, and what of an entry they have.
BRANCHES = {
    "whole:collision": None,
    "apart:list": "list",
    "apart:vertices": "vertices",
    "split:collision.first": "first",
    "split:collision.vertices": "vertices",
    "split:collision.byNumber/collision.byNumber.second": ("byNumber", 1),
    "split:collision.any[4]": "any",
    "split:collision.list": "list",
    "split:collision.tracks/collision.tracks.from": ("tracks", "from"),
    "split:collision.tracks/collision.tracks.to": ("tracks", "to"),
}
ENTRIES = len(WHOLE)


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


def branch(file, name):
    tree, _, path = name.partition(":")
    return file[tree]["collision./" + path if tree == "split" else path]


def rows(branch, threads):
    """For each node that points to objects which one each item is, by its key, and the offsets of the outermost list."""
    core = branch.tree._core
    (array,) = core.read(core.plan([branch._index], 0, ENTRIES), threads, None)
    buffers = {key: np.asarray(buffer) for key, buffer in array.buffers()}

    def items(key, part="index"):
        return buffers[f"{key}-{part}"].view("int8" if part == "tags" else "int64").tolist()

    def nodes(form):
        below = form.get("contents") or [form["content"]] if form["class"] != "RecordArray" else form["contents"]
        if form["class"] == "IndexedOptionArray":
            yield form["form_key"], [row if row >= 0 else None for row in items(form["form_key"])]
        elif form["class"] == "UnionArray":
            # Awkward has options within unions, not round them.
            inner = [items(content["form_key"]) for content in below]
            pairs = zip(items(form["form_key"], "tags"), items(form["form_key"]), strict=True)
            yield form["form_key"], [(tag, at) if inner[tag][at] >= 0 else None for tag, at in pairs]
            below = [content["content"] for content in below]
        for content in below:
            if "content" in content or content.get("contents"):
                yield from nodes(content)

    form = json.loads(array.form)
    return dict(nodes(form)), items(form["form_key"], "offsets") if form["class"] == "ListOffsetArray" else None


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", BRANCHES)
def test_values_are_what_root_reads(file, name, threads):
    array = branch(file, name).array(threads=threads)
    found, values = array.to_list(), wanted(BRANCHES[name])
    assert len(found) == len(values)
    for got, value in zip(found, values, strict=True):
        assert same(got, value)
    for start, stop in ((7, 8), (13, 41), (59, 60), (20, 20)):
        part = branch(file, name).array(entry_start=start, entry_stop=stop, threads=threads)
        assert part.to_list() == found[start:stop]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", BRANCHES)
def test_an_object_has_one_row_in_each_place(file, name, threads):
    found, _ = rows(branch(file, name), threads)
    assert found
    met = 0
    for items in found.values():
        there = [item for item in items if item is not None]
        # Every row is that of the next object of its class, or of one that was there.
        of = (
            {tag: {at for t, at in set(there) if t == tag} for tag, _ in there}
            if isinstance(next(iter(there), 0), tuple)
            else {0: set(there)}
        )
        assert all(sorted(rows) == list(range(len(rows))) for rows in of.values())
        met += len(there) - len(set(there))
    assert met > 5 or name == "split:collision.first"


@pytest.mark.parametrize("name", ["apart:list", "apart:vertices", "split:collision.list", "split:collision.vertices"])
def test_rows_are_the_same_where_objects_are(file, name):
    found, offsets = rows(branch(file, name), 2)
    index, values = next(iter(found.values())), branch(file, name).array().to_list()
    for begin, end, items in zip(offsets, offsets[1:], values, strict=False):
        pairs = {(row, item and item["id"]) for row, item in zip(index[begin:end], items, strict=True)}
        assert len({row for row, _ in pairs}) == len({number for _, number in pairs}) == len(pairs)
        assert all((row is None) == (number is None) for row, number in pairs)
    # Nothing is shared from entry to entry.
    of = [set(index[begin:end]) - {None} for begin, end in itertools.pairwise(offsets)]
    assert sum(map(len, of)) == len(set().union(*of))


def test_other_ways_out(file):
    pytest.importorskip("pyarrow")
    for name, what in BRANCHES.items():
        for library in ("arrow", "np"):
            found = branch(file, name).array(library=library)
            found = found.to_pylist() if library == "arrow" else found.tolist()
            assert len(found) == ENTRIES
            if "any" in name or "list" in name or "whole" in name:
                continue  # unions and maps are other objects there
            for got, value in zip(found, wanted(what), strict=True):
                assert same(got, value)


def test_circles_are_an_error_that_says_so(file):
    node = file["circles"]["node"]
    alone = [entry for entry, length in enumerate(GOLDEN["circles"]) if length == 0]
    with pytest.raises(forthwith.DamagedFileError, match="next"):
        node.array()
    lost = []
    found = file["circles"].arrays(["node"], errors="skip", lost=lost)
    assert len(found) == len(alone) == ENTRIES // 2
    assert sum(loss.stop - loss.start for loss in lost) == ENTRIES - len(alone)
