"""Texts of errors: names of the file are escaped in them, and names that are not there are answered by those that are."""

from __future__ import annotations

import pytest

import forthwith

ESCAPES = "\x1b]0;PWN\x07\x9b31m\u202e\r"


def hostile(tmp_path, kind):
    """A file whose table, branch and histogram have a name with escape sequences: written under a mark of as many bytes."""
    mark = "Q" * len(ESCAPES.encode())
    path = tmp_path / "e.root"
    with forthwith.recreate(path, compression=None) as file:
        if kind == "tree":
            file["t" + mark] = {"x" + mark: [1.0]}
        else:
            file.mkrntuple("t" + mark, {"x" + mark: "f8"}).extend({"x" + mark: [1.0]})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(mark.encode(), ESCAPES.encode()))
    return path


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_names_of_a_file_are_escaped(tmp_path, kind):
    path = hostile(tmp_path, kind)
    with forthwith.open(path, **({} if kind == "tree" else {"checksums": False})) as file:
        if kind == "tree":
            tree = file[file.keys()[0]]
            calls = [
                lambda: tree["nosuch"],
                lambda: tree["x" + ESCAPES[:-1]],
                lambda: tree.arrays(["nosuch + 1"]),
                lambda: tree.arrays(cut="nosuch > 1"),
                lambda: tree.arrays(filter_name="nosuch*"),
                lambda: next(tree.iterate(["nosuch"])),
            ]
        else:
            calls = []
        calls += [lambda: file["nosuch"], lambda: file["t" + ESCAPES[:-1]], lambda: file["t/nosuch"]]
        for call in calls:
            with pytest.raises((forthwith.ForthwithError, ValueError)) as caught:
                call()
            text = str(caught.value)
            assert not any(c in text for c in ESCAPES if not c.isprintable()), repr(text)


def test_names_that_are_there_are_listed(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["events"] = {f"column{n}": [1.0] for n in range(12)}
        file["other/zzz"] = {"x": [1]}
    with forthwith.open(path) as file:
        with pytest.raises(forthwith.KeyInFileError, match="there are other and events") as caught:
            file["qqqqqqqqqq"]
        assert list(caught.value.near) == []
        with pytest.raises(forthwith.KeyInFileError, match=r"there are column0, column1, .*column9 and 2 more"):
            file["events"]["qqqqqqqqqq"]
        with pytest.raises(forthwith.KeyInFileError, match="did you mean"):
            file["events"]["colum1"]


def test_an_ending_of_another_format_is_refused(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": [1.0]}
    writers = {
        "root": [lambda to: forthwith.merge([path], to), forthwith.recreate],
        "avro": [lambda to: forthwith.write_avro(to, {"x": [1]})],
        "parquet": [lambda to: forthwith.write_parquet(to, {"x": [1]})],
    }
    for ending in ("root", "parquet", "avro", "csv", "arrow"):
        for write in (write for format, those in writers.items() if format != ending for write in those):
            with pytest.raises(forthwith.RequestError, match="the ending of the name"):
                write(tmp_path / f"b.{ending}")
    assert [found.name for found in tmp_path.iterdir()] == ["a.root"]


def test_a_file_that_was_cut_off_says_so(tmp_path):
    path = tmp_path / "a.root"
    with forthwith.recreate(path, compression=None) as file:
        file["t"] = {"x": [float(n) for n in range(50_000)]}
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 4])
    with pytest.raises(forthwith.DamagedFileError, match=r"cut off: 0\.\d of 0\.4 MB|cut off: \d+\.\d of \d+\.\d kB"):
        forthwith.open(path).keys()


def test_a_chain_has_one_bar(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    for number in range(3):
        with forthwith.recreate(tmp_path / f"{number}.root") as file:
            file["t"] = {"x": [1.0, 2.0]}
    chain = forthwith.open([tmp_path / f"{number}.root" for number in range(3)])
    assert len(chain.arrays(progress=True)) == 6
    drawn = capsys.readouterr().err
    assert drawn.count("\n") == 1
    assert drawn.rstrip("\n").split("\r")[-1].startswith("forthwith [####")
    for options in ({"missing": "raise"}, {"missing": "null"}, {"entry_start": 1, "entry_stop": 4}):
        assert sum(len(step) for step in chain.iterate(step_size=1, progress=True, **options)) in (3, 6)
        drawn = capsys.readouterr().err
        assert drawn.count("\n") == 1, options
        assert "100%" in drawn.rstrip("\n").split("\r")[-1], options


def test_the_bar_of_steps_estimates_all_bytes(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    path = tmp_path / "a.root"
    with forthwith.recreate(path, compression=None) as file:
        file.mktree("t", {"x": "f8"}, basket_bytes=8000)
        file["t"].extend({"x": [float(n) for n in range(100_000)]})
    tree = forthwith.open(path)["t"]
    for table in (tree, forthwith.Chain([f"{path}:t"] * 2)):
        assert sum(len(step) for step in table.iterate(step_size=10_000, progress=True)) in (100_000, 200_000)
        drawn = capsys.readouterr().err
        assert drawn.count("\n") == 1
        sizes = [float(line.split(" of ")[1].split()[0]) for line in drawn.strip().split("\r")[1:]]
        assert max(sizes) < 1.3 * sizes[-1], sizes
        assert min(sizes) > 0.7 * sizes[-1], sizes
