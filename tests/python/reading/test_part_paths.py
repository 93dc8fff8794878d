"""Paths of parts of columns: one spelling in listings, filters, errors and the command, which all read."""

import io
import re
import subprocess
import sys

import pytest

import forthwith

ak = pytest.importorskip("awkward")
pa = pytest.importorskip("pyarrow")

ROWS = {
    "jets": [[{"pt": 1.5, "p4": {"x": 1}}, {"pt": 2.5, "p4": {"x": 2}}], []],
    "r": [{"a": 1, "b": {"c": 2}}, {"a": 3, "b": {"c": 4}}],
    "x": [1, 2],
}
PATHS = {
    "jets": None, "jets/pt": [[1.5, 2.5], []], "jets/p4": None, "jets/p4/x": [[1, 2], []],
    "r": None, "r/a": [1, 3], "r/b": None, "r/b/c": [2, 4], "x": [1, 2],
}  # fmt: skip


@pytest.fixture(params=["ntuple", "parquet", "avro"])
def path(request, tmp_path):
    table = pa.table({name: pa.array(rows) for name, rows in ROWS.items()})
    if request.param == "ntuple":
        with forthwith.recreate(tmp_path / "t.root") as file:
            file.mkrntuple("n", {name: ak.Array(rows) for name, rows in ROWS.items()})
        return f"{tmp_path}/t.root:n"
    write = {"parquet": forthwith.write_parquet, "avro": forthwith.write_avro}[request.param]
    write(f"{tmp_path}/t.{request.param}", table)
    return f"{tmp_path}/t.{request.param}"


def test_paths_that_are_listed_read(path):
    with forthwith.open(path) as table:
        assert table.keys() == ["jets", "r", "x"]
        assert table.keys(recursive=True) == list(PATHS)
        assert list(table.typenames(recursive=True)) == list(PATHS)
        for name, values in PATHS.items():
            branch = table[name]
            assert branch.path == name
            assert name in table
            rows = branch.array().to_list()
            assert table.arrays([name])[name].to_list() == rows
            assert table.arrays(filter_name=name)[name].to_list() == rows
            assert values is None or rows == values
            assert table.select([name]).arrays()[name].to_list() == rows
            dotted = name.replace("/", ".")
            assert table[dotted].path == name
            assert dotted in table
            assert table.arrays([dotted])[dotted].to_list() == rows
        assert table["jets"].keys(recursive=True) == table["jets"].keys() == ["pt", "p4", "p4/x"]
        assert table["jets"]["p4/x"].path == table["jets"]["p4.x"].path == "jets/p4/x"


def test_filters_know_paths(path):
    with forthwith.open(path) as table:
        assert table.keys(filter_name="jets/*") == ["jets/pt", "jets/p4", "jets/p4/x"]
        assert table.keys(filter_name=["r/a", "x"]) == ["r/a", "x"]
        assert table.keys(filter_name="*t*") == ["jets"]
        assert table.keys(filter_name="*t*", recursive=True) == ["jets", "jets/pt", "jets/p4", "jets/p4/x"]
        assert table.arrays(filter_name="r/b/*").fields == ["r/b/c"]
        assert table.arrays().fields == ["jets", "r", "x"]
        with pytest.raises(ValueError, match="did you mean r/b/c"):
            table.arrays(filter_name="r/b/d")
        with pytest.raises(ValueError, match="no branch passes filter_name='pt'"):
            table.arrays(filter_name=["x", "pt"])
        output = io.StringIO()
        table.show(recursive=True, stream=output)
        assert re.findall(r"^(\S+) +\|", output.getvalue(), re.MULTILINE)[1:] == list(PATHS)
    with forthwith.open([path, path]) as chain:
        assert chain.keys(recursive=True) == list(PATHS)
        assert chain.arrays(["jets/pt"], library="ak")["jets/pt"].to_list() == 2 * PATHS["jets/pt"]


def test_errors_have_paths_that_read(path):
    with forthwith.open(path) as table:
        for wrong in ("jets/pz", "jets.pz"):
            with pytest.raises(forthwith.KeyInFileError) as caught:
                table[wrong]
            assert "jets/pt" in caught.value.near
            assert all(near in table for near in caught.value.near)


def test_the_command_knows_paths(path):
    for typed in ("r/b/c", "jets.p4.x"):
        for option in ("--branch", "--filter"):
            code, output = _command("head", path, option, typed, "--jsonl")
            assert code == 0, (typed, option, output)
            assert str(PATHS[typed.replace(".", "/")][0]).replace(" ", "") in output
    code, output = _command("head", path, "--filter", "jets/*", "--jsonl")
    assert code == 0
    assert all(f'"{name}"' in output for name in ("jets/pt", "jets/p4", "jets/p4/x"))


def _command(*arguments):
    done = subprocess.run([sys.executable, "-m", "forthwith", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_options_of_written_fields_take_both_spellings(tmp_path):
    for spelled in ("r/a", "r.a"):
        with forthwith.recreate(tmp_path / "t.root") as file:
            file.mkrntuple(
                "n", {"r": ak.Array(ROWS["r"])}, fields={spelled: {"description": "said"}}, projections={"p": spelled}
            )
        with forthwith.open(f"{tmp_path}/t.root:n") as table:
            assert table["r/a"].title == "said"
            assert table["p"].array().to_list() == [1, 3]
