"""Arrays of objects that a member counts in divided collections, and streamers of a class's own, as ROOT reads them."""

import pytest
from conftest import data, golden_of

import forthwith

pytest.importorskip("awkward")
GOLDEN = golden_of("loops.root.values.json")
# The bytes that the streamers of two classes write, which the file cannot tell.
RAW = {"time": "uint32: data I-> stack", "channel": "unsigned char"}
PREAMBLE = {"length": "int", "kind": "int"}


@pytest.fixture
def told():
    forthwith.register_class("Raw", RAW, framed=False)
    forthwith.register_class("Preamble", PREAMBLE, framed=False)
    with forthwith.open(data("loops.root")) as file:
        yield file
    forthwith.register_class("Raw", None)
    forthwith.register_class("Preamble", None)


def member(entries, name):
    return [[item[name] for item in entry] for entry in entries]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("collection", ["vector", "clones"])
def test_arrays_of_objects_in_divided_collections(told, collection, threads):
    wanted = GOLDEN["loops:vector"]
    for name in ("id", "n", "pulses", "m", "raws", "last"):
        branch = told["loops"][f"{collection}/{collection}.{name}"]
        found = branch.array(threads=threads).to_list()
        assert found == member(wanted, name)
        for start, stop in ((3, 9), (11, 12), (0, 1), (39, 40)):
            part = branch.array(entry_start=start, entry_stop=stop, threads=threads)
            assert part.to_list() == found[start:stop]


def test_the_same_in_one_branch_and_in_an_object(told):
    wanted = GOLDEN["loops:vector"]
    found = told["loops"]["whole"].array().to_list()
    for name in ("id", "n", "pulses", "m", "raws", "last"):
        assert member(found, name) == member(wanted, name)
        one = told["loops"][f"chip./chip.{name}"].array().to_list()
        assert one == [entry[name] for entry in GOLDEN["loops:chip."]]


def test_streamers_of_their_own(told):
    wanted = GOLDEN["own:whole"]
    whole = told["own"]["whole"].array()
    assert whole.to_list() == wanted
    split = told["own"]["split."]
    for name in ("first", "raws", "last"):
        assert split[f"split.{name}"].array().to_list() == [entry[name] for entry in wanted]
    frames = [entry["frames"] for entry in wanted]
    assert split["split.frames/split.frames.id"].array().to_list() == member(frames, "id")
    assert split["split.frames/split.frames.raw"].array().to_list() == member(frames, "raw")
    bases = split["split.frames/split.frames.Preamble"].array().to_list()
    assert bases == [[{"length": item["length"], "kind": item["kind"]} for item in entry] for entry in frames]


def test_what_nobody_told_is_an_error():
    with (
        forthwith.open(data("loops.root")) as file,
        pytest.raises(forthwith.UnsupportedError, match=r"Raw in a version .* streamer of its own"),
    ):
        file["own"]["whole"].array()
    # A layout that is not that of the bytes does not pass for one.
    forthwith.register_class("Raw", {"time": "int"}, framed=False)
    try:
        with (
            forthwith.open(data("loops.root")) as file,
            pytest.raises(forthwith.DamagedFileError, match=r"consumed exactly|byte count"),
        ):
            file["own"]["split./split.first"].array()
    finally:
        forthwith.register_class("Raw", None)


@pytest.mark.parametrize(
    "kind",
    [
        "uint32:",
        "uint32: data I->",
        "text: data I-> stack",
        "int32: 1 then",
        "int32: data i-> stack \\ ...",
        ": data I-> stack",
        "int32: x @",
    ],
)
def test_words_that_are_none(kind):
    with pytest.raises(forthwith.RequestError, match="Raw"):
        forthwith.register_class("Raw", {"time": kind}, framed=False)


def test_objects_of_such_classes():
    # Numbers of the machine's order are no type; here they are only stepped over.
    forthwith.register_class("Raw", {"time": "unsigned char[4]", "channel": "unsigned char"}, framed=False)
    forthwith.register_class("Preamble", PREAMBLE, framed=False)
    try:
        with forthwith.open(data("loops.root")) as file:
            found, wanted = file["last"], GOLDEN["own:whole"][-1]
            assert int.from_bytes(bytes(found.first.time), "little") == wanted["first"]["time"]
            assert [item.channel for item in found.raws] == [item["channel"] for item in wanted["raws"]]
            assert [item.id for item in found.frames] == [item["id"] for item in wanted["frames"]]
            assert found.last == -3
    finally:
        forthwith.register_class("Raw", None)
        forthwith.register_class("Preamble", None)
