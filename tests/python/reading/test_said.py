"""What errors propose: calls that do what was meant."""

import shutil

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("said")
    for part in range(2):
        with forthwith.recreate(folder / f"{part}.root") as file:
            file["t"] = {"MET": np.arange(3.0), **({"extra": np.arange(3)} if part else {})}
            file["dir/other"] = {"y": np.arange(2.0)}
    return folder


def test_bytes_of_a_file_are_not_shown():
    with pytest.raises(TypeError, match=r"io\.BytesIO\(data\)") as caught:
        forthwith.open(bytes(100_000))
    assert len(str(caught.value)) < 250
    with pytest.raises(TypeError) as caught:
        forthwith.open([*range(10_000), 1.5])
    assert len(str(caught.value)) < 250


def test_merging_names_the_filter_of_objects(folder, tmp_path):
    files, out = [folder / "0.root", folder / "1.root"], tmp_path / "out.root"
    with pytest.raises(forthwith.RequestError, match=r"'dir/other' passes filter_name.*filter_object='t' says"):
        forthwith.merge(files, out, filter_name="MET")
    assert not out.exists()
    assert forthwith.merge(files, out, filter_name="MET", filter_object="t", common=True) == {"t": 6}
    assert forthwith.merge(files, out, filter_name=["MET", "y"], common=True) == {"t": 6, "dir/other": 4}
    with pytest.raises(forthwith.RequestError, match="within trees: 'dir/other' has y"):
        forthwith.merge(files, out, filter_name="t/MET")


def test_chains_name_the_word_for_missing_columns(folder):
    chain = forthwith.open(f"{folder}/*.root:t")
    calls = [
        lambda: chain.arrays(["extra"]),
        lambda: chain.arrays(["extra * 2"]),
        lambda: chain.arrays(["MET"], cut="extra > 1"),
        lambda: chain["extra"],
        lambda: list(chain.iterate(["extra"])),
        lambda: forthwith.concatenate([f"{folder}/1.root:t", f"{folder}/0.root:t"], ["extra"]),
    ]
    for call in calls:
        with pytest.raises((forthwith.KeyInFileError, forthwith.RequestError)) as caught:
            call()
        assert '\n  if other files have it, missing="null" reads missing values' in str(caught.value)
        assert str(caught.value).endswith("0.root:t")


def test_open_takes_the_word_for_missing_columns(folder):
    chain = forthwith.open(f"{folder}/*.root:t", missing="null")
    assert chain["extra"].array().tolist() == [None, None, None, 0, 1, 2]
    assert forthwith.open([f"{folder}/1.root:t"], missing="null").arrays(["extra"]).extra.tolist() == [0, 1, 2]
    assert forthwith.open(f"{folder}/1.root:t", missing="null").num_entries == 3
    with pytest.raises(forthwith.RequestError, match="missing must be"):
        forthwith.open(f"{folder}/*.root:t", missing="nulls")


def test_names_of_numpy_are_texts(folder):
    names = np.array(["MET", "MET * 2"])
    with forthwith.open(f"{folder}/0.root:t") as tree:
        for read in (tree.arrays(names), next(tree.iterate(names)), forthwith.concatenate(f"{folder}/*.root:t", names)):
            assert [type(name) for name in read.fields] == [str, str]
        for how in ({"library": "np"}, {"how": dict}):
            assert [type(name) for name in tree.arrays(names, **how)] == [str, str]
    chain = forthwith.open(f"{folder}/*.root:t")
    assert type(chain[names[0]].name) is str


@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1.0, None]},
        {"x": ak.Array([1.0, None])},
        {"x": [[1, None], []]},
        {"x": np.ma.array([1, 2], mask=[False, True])},
    ],
)
def test_missing_values_name_what_writes_them(tmp_path, columns):
    with forthwith.recreate(tmp_path / "n.root") as file:
        with pytest.raises(forthwith.UnsupportedError, match=r"mktree\(name, columns, nulls=-1\).*mkrntuple") as caught:
            file["t"] = columns
        assert str(caught.value).endswith("n.root:t/x")
        file.mktree("t", columns, nulls=-1)
    with forthwith.recreate(tmp_path / "n.root") as file:
        table = file.mktree("t", {"x": "?float64"})
        with pytest.raises(forthwith.UnsupportedError, match=r"nulls=-1"):
            table.extend({"x": [1.0, None]})


def test_bounds_by_place_are_proposed_by_name(folder):
    with forthwith.open(f"{folder}/0.root:t") as tree:
        for arguments, proposed in (
            ((0, 10), "entry_start=0, entry_stop=10"),
            ((np.int64(2),), "entry_start=2, entry_stop=…"),
            (("f8",), "entry_start=0, entry_stop=100"),
        ):
            with pytest.raises(TypeError, match=rf"array\({proposed}\)"):
                tree["MET"].array(*arguments)


def test_mistyped_names_beside_friends_that_cannot_be_read(tmp_path):
    shutil.copy(data("friend.root"), tmp_path / "friend.root")
    with forthwith.open(f"{tmp_path}/friend.root:main") as tree, pytest.raises(forthwith.RequestError) as caught:
        tree.arrays(["runn"])
    first, second, *_ = str(caught.value).split("\n")
    assert first == 'no branch named "runn"'
    assert second.startswith('  it may be in the friend "')
    assert [line for line in str(caught.value).split("\n") if line.startswith("  in ")] == [
        f"  in {tmp_path}/friend.root:main"
    ]
