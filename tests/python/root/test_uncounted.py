"""Objects of classes whose streamers write no byte count, as CMS's references to products, as C++ ROOT reads them."""

import pathlib

import numpy as np
import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("uncounted.root.values.json")


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("uncounted.root")) as opened:
        yield opened


def plain(value):
    """Objects as dictionaries of their members, containers as lists."""
    if hasattr(value, "all_members"):
        return {name: plain(member) for name, member in value.all_members.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def member(values, *path):
    """A member of each entry, or of each item of each entry."""
    for name in path:
        values = [[item[name] for item in entry] if isinstance(entry, list) else entry[name] for entry in values]
    return values


@pytest.mark.parametrize("name", ["core", "ref", "track", "tracks"])
def test_whole_objects_are_columns(file, name):
    assert file["tree"][name].array().to_list() == GOLDEN[name]


def test_members_are_columns(file):
    tree = file["tree"]
    assert tree["ref_split./ref_split.product_"].array().to_list() == member(GOLDEN["ref"], "product_")
    for name in ("ref", "refs"):
        assert tree[f"track_split./track_split.{name}"].array().to_list() == member(GOLDEN["track"], name)
        assert tree[f"tracks_split/tracks_split.{name}"].array().to_list() == member(GOLDEN["tracks"], name)
    found = tree["tracks_split/tracks_split.other.product_"].array().to_list()
    assert found == member(GOLDEN["tracks"], "other", "product_")


@pytest.mark.parametrize("name", ["one", "several"])
def test_records_are_objects(file, name):
    assert plain(file[name]) == GOLDEN[name]


def test_a_streamer_that_is_not_known_is_not_supported_and_names_its_class(tmp_path):
    # The same bytes of a class with another name: nothing says that these have no byte count.
    raw = pathlib.Path(data("uncounted.root")).read_bytes()
    renamed = raw.replace(b"edm::RefCore", b"cms::RefCore")
    assert raw != renamed
    path = tmp_path / "renamed.root"
    path.write_bytes(renamed)
    with (
        forthwith.open(path) as file,
        pytest.raises(forthwith.UnsupportedError, match=r"cms::RefCore in a version that the file does not describe"),
    ):
        file["tree/core"].array()
