"""Lists of entries that C++ ROOT wrote, as ``entries=``."""

import pickle

import numpy as np
import pytest
from conftest import data

import forthwith

NUMBERS = np.arange(151_000, dtype=np.int32)
FIRST = 150_000
WANTED = {
    "sparse": NUMBERS % 1000 == 7,
    "dense": NUMBERS % 3 == 1,
    "inverse": NUMBERS % 1000 != 7,
    "all": NUMBERS >= 0,
    "none": NUMBERS < 0,
    "late": (NUMBERS > 130_000) & (NUMBERS % 10 == 0),
    "sparse-optimised": NUMBERS % 1000 == 7,
    "dense-optimised": NUMBERS % 3 == 1,
    "inverse-optimised": NUMBERS % 1000 != 7,
    "events": NUMBERS % 1000 == 7,
    "chained": NUMBERS % 500 == 3,
    "manual": np.isin(NUMBERS, [3, 5, 70_000, 149_999]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The trees that the lists are of."""
    folder = tmp_path_factory.mktemp("entry lists")
    for name, numbers in (("a", NUMBERS[:FIRST]), ("b", NUMBERS[FIRST:])):
        with forthwith.recreate(folder / f"{name}.root") as file:
            file["t"] = {"x": numbers, "y": numbers / 2}
    return folder


@pytest.fixture(scope="module")
def lists():
    """The lists."""
    with forthwith.open(data("entry-lists.root")) as file:
        yield file


@pytest.mark.parametrize("name", WANTED)
def test_entries_of_a_tree_are_those_of_the_list(folder, lists, name):
    wanted = NUMBERS[:FIRST][WANTED[name][:FIRST]]
    with forthwith.open(f"{folder}/a.root:t") as tree:
        assert tree.arrays(["x"], entries=lists[name], library="np")["x"].tolist() == wanted.tolist()
        both = tree.arrays(["x"], entries=lists[name], cut="x % 2 == 0", entry_start=1000, library="np")["x"]
        assert both.tolist() == wanted[(wanted % 2 == 0) & (wanted >= 1000)].tolist()
        selection = tree.select(["x"], entries=lists[name])
        assert pickle.loads(pickle.dumps(selection)).num_entries == len(wanted)


def test_parts_of_a_list_are_of_files(folder, lists):
    paths = [f"{folder}/a.root:t", f"{folder}/b.root:t"]
    chain = forthwith.open(paths)

    def read(name, files=chain, **options):
        return files.arrays(["x"], entries=lists[name], library="np", **options)["x"].tolist()

    assert read("chained") == NUMBERS[WANTED["chained"]].tolist()
    assert read("chained", forthwith.open(paths[::-1])) == [
        *NUMBERS[FIRST:][WANTED["chained"][FIRST:]],
        *NUMBERS[:FIRST][WANTED["chained"][:FIRST]],
    ]
    # Of a file that a list says nothing of there are no entries; a list of no file counts in all of them.
    assert read("dense") == NUMBERS[:FIRST][WANTED["dense"][:FIRST]].tolist()
    assert read("manual") == [3, 5, 70_000, 149_999]
    steps = forthwith.iterate(paths, ["x"], entries=lists["chained"], step_size=40_000, library="np")
    assert [at for step in steps for at in step["x"]] == NUMBERS[WANTED["chained"]].tolist()
    with forthwith.open(paths[1]) as tree:
        found = tree.arrays(["x"], entries=lists["chained"], library="np")["x"]
        assert found.tolist() == NUMBERS[FIRST:][WANTED["chained"][FIRST:]].tolist()
        with pytest.raises(forthwith.RequestError, match="no entry 149007"):
            tree.arrays(["x"], entries=lists["sparse"])


def test_lists_of_other_files_and_other_objects_are_refused(folder, lists, tmp_path):
    with forthwith.recreate(tmp_path / "other.root") as file:
        file["t"] = {"x": NUMBERS}
    path = f"{tmp_path}/other.root:t"
    with (
        forthwith.open(path) as tree,
        pytest.raises(forthwith.RequestError, match=r"no part for this file, but for a.root, b.root"),
    ):
        tree.arrays(["x"], entries=lists["chained"])
    with pytest.raises(forthwith.RequestError, match=r"no part for any of the files, but for a.root, b.root"):
        forthwith.open([path, path]).arrays(["x"], entries=lists["chained"])
    with forthwith.open(data("histograms.root")) as file, forthwith.open(path) as tree:
        histogram = next(file[key] for key in file.keys(filter_classname="TH1*"))
        with pytest.raises(TypeError, match="not a TH1"):
            tree.arrays(["x"], entries=histogram)
