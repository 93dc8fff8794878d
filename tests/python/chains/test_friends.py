"""Trees with friends: entry by entry, by an index, in other files, of chains. C++ ROOT says which entries belong together."""

import io
import os
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest
from conftest import TESTS, data
from random_friends_reader import campaign
from renamed_friend import FRIEND, renamed_friend
from root_judge import ROOT_PYTHON, by_root, need_root

import forthwith


@pytest.fixture
def files(tmp_path):
    """A tree, one of as many entries, and one with an index in another order that lacks some entries."""
    with forthwith.recreate(tmp_path / "main.root") as file:
        run, event = np.array([1, 1, 2, 5, 2], np.int32), np.array([1, 2, 1, 9, -3], np.int64)
        file["m"] = {"run": run, "event": event, "x": np.arange(5.0)}
    with forthwith.recreate(tmp_path / "same.root") as file:
        file["same"] = {"y": np.arange(5) * 10, "lists": [[1, 2], [], [3], [4], [5, 6, 7]], "x": np.arange(5) + 0.5}
    with forthwith.recreate(tmp_path / "indexed.root", compression=None) as file:
        columns = {"run": np.array([2, 1, 1, 7], np.int32), "event": np.array([-3, 2, 1, 1])}
        file.mktree("indexed", columns | {"z": [10, 20, 30, 40], "s": ["a", "b", "c", "d"]}, index=["run", "event"])
    return tmp_path


def opened(files, *names):
    return [forthwith.open(f"{files}/{name}.root")["m" if name == "main" else name] for name in names]


def test_random_friends_are_those_of_root(tmp_path):
    need_root()
    script = TESTS / "generate" / "random_friends.py"
    subprocess.run([ROOT_PYTHON, script, "1", "40", tmp_path], check=True, capture_output=True, timeout=300)
    count, missing = campaign(tmp_path)
    assert count == 40
    assert missing > 10


def test_a_friend_by_number(files):
    main, same = opened(files, "main", "same")
    read = main.arrays(["x", "f.y", "y", "f.lists", "sum(f.lists) + x"], friends={"f": same}, cut="f.y > 10 or f.x < 1")
    assert read["x"].tolist() == [0, 2, 3, 4]
    assert read["f.y"].tolist() == read["y"].tolist() == [0, 20, 30, 40]
    assert read["f.lists"].tolist() == [[1, 2], [3], [4], [5, 6, 7]]
    assert read["sum(f.lists) + x"].tolist() == [3, 5, 7, 22]
    # The tree's own columns are meant first, and all of the friend's are read without names.
    every = main.arrays(friends={"f": forthwith.open(f"{files}/same.root:same")})
    assert every.fields == ["run", "event", "x", "f.y", "f.nlists", "f.lists", "f.x"]
    assert every["f.x"].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert main["x"].array(cut="f.y == 30", friends={"f": same}).tolist() == [3]
    steps = main.iterate(["f.y"], friends={"f": same}, step_size=2)
    assert [step["f.y"].tolist() for step in steps] == [[0, 10], [20, 30], [40]]


def test_a_friend_by_an_index(files):
    main, indexed = opened(files, "main", "indexed")
    friends = {"f": indexed}
    read = main.arrays(["f.z", "f.s", "f.z / 10"], friends=friends)
    assert read["f.z"].tolist() == [30, 20, None, None, 10]
    assert read["f.s"].tolist() == ["c", "b", None, None, "a"]
    assert read["f.z / 10"].tolist() == [3, 2, None, None, 1]
    # A comparison with a missing value does not hold, and neither does its opposite.
    assert main.arrays(["x"], cut="f.z > 15", friends=friends)["x"].tolist() == [0, 1]
    assert main.arrays(["x"], cut="not (f.z > 15)", friends=friends)["x"].tolist() == [4]
    types = main.select(["f.z"], friends=friends)
    assert str(types.arrays()["f.z"].type) == "5 * ?int64"
    table = main.select(["x", "f.z"], friends=friends, step_size=2).arrays(library="arrow")
    assert table["f.z"].to_pylist() == [30, 20, None, None, 10]
    assert pickle.loads(pickle.dumps(types)).arrays()["f.z"].tolist() == [30, 20, None, None, 10]


def test_chains_have_friends(files):
    main = forthwith.open([f"{files}/main.root:m", f"{files}/main.root:m", f"{files}/main.root:m"])
    (indexed,) = opened(files, "indexed")
    by_index = main.arrays(["f.z"], friends={"f": indexed})["f.z"].tolist()
    assert by_index == 3 * [30, 20, None, None, 10]
    # By number, entries are counted over all files of both, whose borders may differ.
    with forthwith.recreate(files / "long.root") as file:
        file["long"] = {"y": np.arange(12)}
    with forthwith.recreate(files / "short.root") as file:
        file["long"] = {"y": np.arange(12, 15)}
    numbers = [f"{files}/long.root:long", f"{files}/short.root:long"]
    friends = {"f": forthwith.open(numbers)}
    assert main.arrays(["f.y"], friends=friends)["f.y"].tolist() == list(range(15))
    assert main.arrays(["f.y"], friends=friends, cut="f.y > 8 and x < 4")["f.y"].tolist() == [10, 11, 12, 13]
    steps = main.iterate(["f.y"], friends=friends, step_size=2, entry_start=3, entry_stop=13)
    assert [y for step in steps for y in step["f.y"].tolist()] == list(range(3, 13))
    table = main.select(["x", "f.y"], friends=friends).arrays(library="arrow")
    assert table["f.y"].to_pylist() == list(range(15))
    assert forthwith.concatenate(main.files, ["f.y"], friends=friends)["f.y"].tolist() == list(range(15))
    with pytest.raises(forthwith.RequestError, match=r"has 12 entries, fewer than .* entry 14 is wanted"):
        main.arrays(["f.y"], friends={"f": forthwith.open(numbers[0])})


def test_friends_of_files_that_lack_columns(files):
    main, indexed = opened(files, "main", "indexed")
    chain = forthwith.Chain([f"{files}/main.root:m", f"{files}/indexed.root:indexed"], missing="null")
    every = chain.arrays(friends={"f": indexed})
    assert every.fields == ["run", "event", "x", "z", "s", "f.run", "f.event", "f.z", "f.s"]
    assert every["f.z"].tolist() == [30, 20, None, None, 10, 10, 20, 30, 40]
    assert every["x"].tolist() == [*main["x"].array(), None, None, None, None]
    kept = chain.arrays(["s", "f.s"], friends={"f": indexed}, cut="f.z > 10 and z < 40")
    assert kept.tolist() == [{"s": "b", "f.s": "b"}, {"s": "c", "f.s": "c"}]


def test_friends_of_all_formats(files):
    (main,) = opened(files, "main")
    forthwith.write_parquet(files / "y.parquet", {"y": [1, None, 3, 4, 5], "t": ["a", "b", "c", "d", "e"]})
    forthwith.write_avro(files / "y.avro", {"y": [1, 2, 3, 4, 5]})
    with forthwith.recreate(files / "nt.root") as file:
        file.mkrntuple("nt", {"y": [1, 2, 3, 4, 5]})
    for name in ("y.parquet", "y.avro", "nt.root:nt"):
        read = main.arrays(["f.y"], friends={"f": forthwith.open(f"{files}/{name}")}, cut="f.y > 2 and x < 4")
        assert read["f.y"].tolist() == [3, 4]
    # The other way round, of a file object.
    table = forthwith.open(files / "y.parquet")
    friend = forthwith.open(io.BytesIO((files / "main.root").read_bytes()))["m"]
    assert table.arrays(["t"], friends={"m": friend}, cut="m.x > 2")["t"].tolist() == ["d", "e"]
    table = table.select(["t"], friends={"m": friend}, cut="m.x > 2").arrays(library="arrow")
    assert table["t"].to_pylist() == ["d", "e"]


def test_friends_that_the_file_names(tmp_path):
    with forthwith.open(data("belongings.root")) as file:
        main = file["main"]
        read = main.arrays(["run", "other.x", "x"], cut="other.x >= 4")
        assert read.tolist() == [{"run": 1, "other.x": x, "x": x} for x in (4.0, 4.5)]
        assert "other.x" not in main.arrays().fields
    for folder in (tmp_path, tmp_path / "inner"):
        folder.mkdir(exist_ok=True)
        shutil.copy(data("belongings.root"), folder / "other.root")
    beside = renamed_friend(tmp_path, "." + "/" * (len(FRIEND) - 11) + "other.root")
    assert beside.num_entries == 0
    assert beside.arrays(["other.x", "x"]).fields == ["other.x", "x"]


def test_friends_elsewhere_are_not_opened_unless_they_are_given(tmp_path):
    for folder in (tmp_path, tmp_path / "inner"):
        folder.mkdir(exist_ok=True)
        shutil.copy(data("belongings.root"), folder / "other.root")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)  # to open it would be to wait
    for outside in ("../other.root", "../pipe", "/etc/passwd", "http://127.0.0.1:9/other.root", "file:///etc/passwd"):
        tree = renamed_friend(tmp_path, outside)
        for names, options in ((["other.x"], {}), (["x"], {}), ([], {"cut": "other.x > 1"}), (["x + 1"], {})):
            with pytest.raises(forthwith.RequestError, match=r'the friend "other".*outside of the folder'):
                tree.arrays(names, **options)
        given = {"other": forthwith.open(data("belongings.root"))["other"]}
        assert tree.arrays(["other.x"], friends=given).fields == ["other.x"]
        # What is no name of a column is none without it.
        assert tree.arrays([], aliases={"a": "pi + nan"}).fields == []


def test_friends_of_what_is_no_local_file_have_to_be_given():
    tree = forthwith.open(io.BytesIO(pathlib.Path(data("friend.root")).read_bytes()))["main"]
    with pytest.raises(
        forthwith.RequestError, match="looked for beside local files alone: it is opened if it is given"
    ):
        tree.arrays(["other.x"])
    given = {"other": forthwith.open(data("belongings.root"))["other"]}
    assert tree.arrays(["other.x"], friends=given).fields == ["other.x"]


def test_an_absolute_path_in_the_same_folder_is_beside(files):
    need_root()
    script = """
file = ROOT.TFile(sys.argv[1], "UPDATE")
tree = file.Get("m")
other = ROOT.TFile(sys.argv[2])
tree.AddFriend(other.Get("same"))
file.cd()
tree.Write("", ROOT.TObject.kOverwrite)
print(json.dumps(tree.GetListOfFriends().At(0).GetTitle()))
file.Close()
"""
    title = by_root(script, files / "main.root", files / "same.root")
    assert title == str(files / "same.root")
    (main,) = opened(files, "main")
    assert main.arrays(["same.y"])["same.y"].tolist() == [0, 10, 20, 30, 40]
    assert [friend.num_entries for friend in main.friends] == [5]


@pytest.mark.slow
def test_rdataframe_reads_the_same(files):
    script = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get("m")
tree.AddFriend("f = indexed", sys.argv[2])
frame = ROOT.RDataFrame(tree)
known = frame.FilterAvailable("f.z").Filter("f.z > 15").AsNumpy(["x", "f.z"])
print(json.dumps([known["x"].tolist(), known["f.z"].tolist()]))
"""
    x, z = by_root(script, files / "main.root", files / "indexed.root")
    main, indexed = opened(files, "main", "indexed")
    read = main.arrays(["x", "f.z"], friends={"f": indexed}, cut="f.z > 15")
    assert [read["x"].tolist(), read["f.z"].tolist()] == [x, z]


def test_large_numbers_are_compared_exactly(tmp_path):
    large = [2**62 + 1, 2**62, -(2**63), 2**63 - 1]
    with forthwith.recreate(tmp_path / "a.root") as file:
        file.mktree("f", {"k": np.array(large), "y": [0, 1, 2, 3]}, index=["k"])
        file["m"] = {"k": np.array([*large[::-1], 2**62 + 2])}
        file["u"] = {"k": np.array([2**62, 2**63, 2**64 - 1], np.uint64)}
    with forthwith.open(tmp_path / "a.root") as file:
        friends = {"f": file["f"]}
        assert file["m"].arrays(["f.y"], friends=friends)["f.y"].tolist() == [3, 2, 1, 0, None]
        assert file["u"].arrays(["f.y"], friends=friends)["f.y"].tolist() == [1, None, None]
        assert [file["f"].entry_number(key) for key in large] == [0, 1, 2, 3]


def test_what_is_no_index_is_said(files):
    (indexed,) = opened(files, "indexed")
    with forthwith.recreate(files / "odd.root") as file:
        file["lacks"] = {"x": np.arange(4)}
        file["lists"] = {"run": [[1], [2, 3]], "event": [1, 2]}
        file["short"] = {"x": np.arange(9)}
    with forthwith.open(files / "odd.root") as file:
        # As ROOT does: the tree has no such numbers, so that entries are found by their own.
        assert file["lacks"].arrays(["f.z"], friends={"f": indexed})["f.z"].tolist() == [10, 20, 30, 40]
        with pytest.raises(forthwith.UnsupportedError, match=r"an index by \"run\".*var \* int64 and no number"):
            file["lists"].arrays(["f.z"], friends={"f": indexed})
        with pytest.raises(forthwith.RequestError, match="4 entries, fewer than the table it belongs to"):
            file["short"].arrays(["f.z"], friends={"f": indexed})


def test_wrong_friends(files):
    main, same = opened(files, "main", "same")
    with pytest.raises(TypeError, match="names and trees"):
        main.arrays(["f.y"], friends=[same])
    with pytest.raises(TypeError, match="must have names"):
        main.arrays(["f.y"], friends={1: same})
    for wrong in (same["y"], same.file, "same.root:same", None):
        with pytest.raises(forthwith.RequestError, match="must be a tree or a chain"):
            main.arrays(["f.y"], friends={"f": wrong})
    with pytest.raises(forthwith.KeyInFileError, match=r"f\.yy.*did you mean f\.y"):
        main.arrays(["f.yy"], friends={"f": same})
    with pytest.raises(forthwith.RequestError, match=r"did you mean f\.y"):
        main.arrays(["f.yy + 1"], friends={"f": same})
    with pytest.raises(forthwith.RequestError, match="text can only be compared"):
        main.arrays(["f.s + 1"], friends={"f": opened(files, "indexed")[0]})
    same.file.close()
    with pytest.raises(forthwith.ClosedFileError):
        main.arrays(["f.y"], friends={"f": same})


def test_damage_of_a_friend_is_its_own(files):
    raw = bytearray((files / "indexed.root").read_bytes())
    known = np.array([2, 1, 0, 3], ">i8").tobytes()  # the entries, by the order of the index
    assert raw.count(known) == 1
    main = forthwith.open(f"{files}/main.root:m")
    for wrong, message in (
        ([2, 1, 4, 3], "must not be above 3"),
        ([2, -1, 0, 3], "an entry in the tree's index is -1"),
    ):
        bad = files / "bad.root"
        bad.write_bytes(raw.replace(known, np.array(wrong, ">i8").tobytes()))
        with pytest.raises(forthwith.DamagedFileError, match=message) as caught:
            main.arrays(["f.z"], friends={"f": forthwith.open(f"{bad}:indexed")})
        assert caught.value.file == str(bad)
    majors = np.array([1, 1, 2, 7], ">i8").tobytes()
    assert raw.count(majors) == 1
    bad.write_bytes(raw.replace(majors, np.array([1, 8, 2, 7], ">i8").tobytes()))
    with pytest.raises(forthwith.DamagedFileError, match="does not ascend"):
        main.arrays(["f.z"], friends={"f": forthwith.open(f"{bad}:indexed")})
    # Its entries are others than those of the tree: none of these is left out for it.
    values = np.array([10, 20, 30, 40], ">i8").tobytes()
    place = raw.index(values)
    bad.write_bytes(raw[: place - 60] + bytes(60) + raw[place:])
    with pytest.raises(forthwith.DamagedFileError):
        main.arrays(["f.z"], friends={"f": forthwith.open(f"{bad}:indexed")}, errors="skip")
