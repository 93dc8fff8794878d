"""Names of objects and columns by which C++ ROOT would not find them."""

import io
import json

import numpy as np
import pytest
from root_judge import by_root, need_root

import forthwith
import forthwith.uproot

REFUSED = ["a\0b", "a;1", ";", "a;", ".", "..", "../x", "a/../b", "./a", "a\nb", "\x01", "\x7f", "\x85", "x" * 2048]
ALLOWED = ["a", "...", ".a", "a b", "ä", "a:b", "a[1]", "*", "$x", "x" * 2047]
COLUMNS = {"x": np.arange(3)}
WRITERS = {
    "object": lambda file, name: file.__setitem__(name, "text"),
    "number": lambda file, name: file.__setitem__(name, 1),
    "histogram": lambda file, name: file.__setitem__(name, np.histogram([1, 2, 3])),
    "table": lambda file, name: file.__setitem__(name, COLUMNS),
    "tree": lambda file, name: file.mktree(name, COLUMNS),
    "types": lambda file, name: file.mktree(name, {"x": "i4"}),
    "ntuple": lambda file, name: file.mkrntuple(name, COLUMNS),
    "directory": lambda file, name: file.mkdir(name),
}
FIND = """
with open(sys.argv[2]) as names:
    file = ROOT.TFile.Open(sys.argv[1])
    print(json.dumps([bool(file.Get(name)) for name in json.load(names)]))
"""


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("module", [forthwith, forthwith.uproot])
def test_names_that_root_does_not_find_are_refused(module, writer, tmp_path):
    path = tmp_path / "names.root"
    with module.recreate(path) as file:
        file["here"] = "text"
    for begin in (module.recreate, module.update):
        with begin(path) as file:
            for name in REFUSED:
                with pytest.raises(forthwith.ForthwithError, match=r"cannot find|not a directory"):
                    WRITERS[writer](file, name)
            WRITERS[writer](file, "inner/good")
    with forthwith.open(path) as file:
        assert "good" in [name.rpartition("/")[2] for name in file.keys(cycle=False)]


def test_objects_of_files_are_not_copied_under_such_names():
    target, source = io.BytesIO(), io.BytesIO()
    with forthwith.recreate(source) as file:
        file["a"] = "text"
    with forthwith.open(io.BytesIO(source.getvalue())) as file, forthwith.recreate(target) as copy:
        with pytest.raises(forthwith.RequestError, match="semicolon"):
            copy["b;1"] = file["a"]
        copy["b"] = file["a"]


def test_columns_have_no_control_characters(tmp_path):
    with forthwith.recreate(tmp_path / "columns.root") as file:
        for name in ("a\0b", "a\n", "\x7f"):
            with pytest.raises(forthwith.UnsupportedError, match="control characters"):
                file["t"] = {name: np.arange(3)}


def test_names_that_are_in_a_file_are_kept(tmp_path):
    with forthwith.recreate(tmp_path / "old.root") as file:
        file["name"] = "text"
        file["tree"] = COLUMNS
    changed = (tmp_path / "old.root").read_bytes().replace(b"\x04name", b"\x04na;e").replace(b"\x04tree", b"\x04tr\ne")
    (tmp_path / "old.root").write_bytes(changed)
    with forthwith.update(tmp_path / "old.root") as file:
        file["other"] = "text"
        file["tr\ne"].extend(COLUMNS)
    forthwith.merge([tmp_path / "old.root"], tmp_path / "new.root")
    for name in ("old.root", "new.root"):
        with forthwith.open(tmp_path / name) as file:
            assert {"na;e", "tr\ne", "other"} == {key.rpartition(";")[0] for key in file}
            assert file["tr\ne"].num_entries == 6


def test_root_finds_the_names_that_are_allowed(tmp_path):
    need_root()
    with forthwith.recreate(tmp_path / "names.root") as file:
        for name in ALLOWED:
            file[name] = "text"
    (tmp_path / "names.json").write_text(json.dumps(ALLOWED))
    assert by_root(FIND, tmp_path / "names.root", tmp_path / "names.json") == [True] * len(ALLOWED)
