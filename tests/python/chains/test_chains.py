"""Several files as one: which files are meant, and what becomes of columns that not all of them have."""

import itertools
import json
import pathlib
import re
import shutil
import time

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import data
from random_chains import campaign
from range_server import serving

import forthwith
from forthwith._tree import ahead


@pytest.fixture
def folder(tmp_path):
    """Three files of different columns."""
    parts = tmp_path / "parts"
    (parts / "deep").mkdir(parents=True)
    (parts / "_SUCCESS").touch()
    (parts / ".hidden.parquet").write_bytes(b"no")
    forthwith.write_parquet(parts / "a.parquet", {"x": [1, 2, 3], "y": [[1.5], [], [2.5, 3.5]]})
    forthwith.write_parquet(parts / "b.parquet", {"x": [4, 5], "z": ["p", "q"]})
    forthwith.write_parquet(parts / "deep" / "c.parquet", {"x": [6], "y": [[7.5]]})
    return parts


@pytest.fixture
def same(tmp_path, path):
    for name in ("a", "b"):
        shutil.copy(path, tmp_path / f"{name}.root")
    return forthwith.open(f"{tmp_path}/*.root:events")


def test_what_is_opened_as_several_files(folder, tmp_path, path, monkeypatch):
    names = [str(folder / "a.parquet"), str(folder / "b.parquet"), str(folder / "deep" / "c.parquet")]
    for several in (str(folder), folder, f"{folder}/**/*.parquet", [str(folder)], names, dict.fromkeys(names)):
        assert forthwith.open(several).files == names
    assert forthwith.open([{names[0]: None}, names[1], (names[2], None)]).files == names
    monkeypatch.setenv("HOME", str(tmp_path))
    assert forthwith.open("~/parts").files == names
    with forthwith.open("~/parts/a.parquet") as tree:
        assert tree.num_entries == 3
    (tmp_path / "a b.parquet").write_bytes(pathlib.Path(names[0]).read_bytes())
    for url in ("file:", "file://", "file://localhost"):
        assert forthwith.open(f"{url}{tmp_path}/a%20b.parquet").num_entries == 3
    assert forthwith.open(f"file://{path}:events/run").num_entries == 3600
    (tmp_path / "strange[1].parquet").write_bytes(pathlib.Path(names[0]).read_bytes())
    assert forthwith.open(f"{tmp_path}/strange[1].parquet").num_entries == 3
    with pytest.raises(forthwith.MissingFileError, match="empty"):
        forthwith.open("")
    with pytest.raises(forthwith.MissingFileError, match="another machine"):
        forthwith.open("file://elsewhere/a.root")
    (tmp_path / "empty").mkdir()
    with pytest.raises(forthwith.MissingFileError, match="no file in"):
        forthwith.open(tmp_path / "empty")
    shutil.copy(path, folder)
    with pytest.raises(forthwith.RequestError, match="several formats"):
        forthwith.open(folder)
    for wrong in (3, [3], [None]):
        with pytest.raises(TypeError):
            forthwith.open(wrong)


def test_datasets_are_their_files(folder, tmp_path):
    a, b, c = (str(folder / name) for name in ("a.parquet", "b.parquet", "deep/c.parquet"))
    steps = {"object_path": None, "steps": [[0, 3]], "num_entries": 3, "uuid": "x"}
    datasets = {"one": {"files": {a: None, b: steps}, "metadata": {"year": 2018}}, "two": {"files": [c], "form": None}}
    path = tmp_path / "sets.json"
    path.write_text(json.dumps(datasets))
    for given in (datasets, str(path), path, [str(path)]):
        assert forthwith.open(given).files == [a, b, c]
        assert forthwith.concatenate(given, "x").x.to_list() == [1, 2, 3, 4, 5, 6]
    assert forthwith.open({"one": datasets["one"]}).files == [a, b]
    assert forthwith.Chain(f"{path}:two").files == [c]
    with pytest.raises(
        forthwith.RequestError, match=r"sets\.json: there is no dataset 'three'; there are 'one', 'two'"
    ):
        forthwith.open(f"{path}:three")
    for text, said in {
        '{"one": ': "not JSON",
        "{}": "no datasets",
        '{"one": {"files": 3}}': "not 3",
        '{"one": {"files": {"a.root": {}}}}': "has no .object_path",
        '{"one": {"files": {}}}': "no files",
        '{"one": ' * 100_000: "not JSON",
    }.items():
        path.write_text(text)
        with pytest.raises(forthwith.RequestError, match=said):
            forthwith.open(str(path))
    # A file of datasets has no others in it, and above all not itself: within it, JSON is a table.
    for files in ([str(path)], {str(path): None}):
        path.write_text(json.dumps({"one": {"files": files}}))
        assert forthwith.concatenate(str(path)).fields == ["one"]
        assert forthwith.open(str(path), format="json").keys() == ["one"]
    (tmp_path / "table.json").write_bytes((folder / "a.parquet").read_bytes())
    assert forthwith.open(tmp_path / "table.json").num_entries == 3
    with pytest.raises(forthwith.MissingFileError):
        forthwith.open(tmp_path / "none.json")


def test_a_chain_is_a_table(same, tree):
    whole = tree.arrays(["run", "Muon_pt"])
    assert repr(same).startswith("<Chain of 2 trees")
    assert len(same) == 2
    assert same.keys() == tree.keys()
    assert same.typenames() == tree.typenames()
    assert same["Muon_pt"].array().tolist() == whole.Muon_pt.tolist() * 2
    assert same["run"].array(library="np", entry_start=3599, entry_stop=3601).tolist() == [whole.run[-1], whole.run[0]]
    assert same[["run", "Muon_pt"]].arrays().tolist() == whole.tolist() * 2
    assert "run" in same
    assert "nothing" not in same
    with pytest.raises(forthwith.KeyInFileError, match="did you mean Muon_pt"):
        same["muon_pt"]
    selected = same.select(["run"], entry_start=10, entry_stop=4000)
    assert selected.keys() == ["run"]
    for table in (pa.table(selected), pl.DataFrame(selected), pd.DataFrame.from_arrow(selected)):
        assert len(table) == 3990
    assert pl.DataFrame(same.select(filter_name="Muon_*")).shape == (7200, 5)
    assert pa.schema(same.select(["run"])).names == ["run"]
    for take in (np.asarray, ak.Array, pd.DataFrame):
        with pytest.raises(TypeError, match=r"\.arrays\(\)"):
            take(same)


def test_a_chain_shows_itself(same, capsys):
    same.show(filter_name="Muon_*")
    shown = capsys.readouterr().out
    assert "Chain of 2 trees" in shown
    assert "Muon_pt" in shown
    assert "a.root" in same._repr_html_()


def test_the_index_goes_on_over_files(same):
    frames = list(same.iterate(["run"], library="pd", step_size=2000))
    assert [(frame.index[0], frame.index[-1]) for frame in frames] == [
        (0, 1999),
        (2000, 3599),
        (3600, 5599),
        (5600, 7199),
    ]
    assert pd.concat(frames).index.is_unique
    series = [frame["run"].index[0] for frame in same.iterate(["run"], library="pd", how=dict, step_size=3600)]
    assert series == [0, 3600]
    assert same.arrays(["run"], library="pd").index[-1] == 7199


@pytest.mark.parametrize("call", [forthwith.concatenate, lambda *a, **k: list(forthwith.iterate(*a, **k))])
def test_different_columns_are_an_error_that_names_them(folder, call):
    for library in ("ak", "np", "pd", "arrow"):
        with pytest.raises(forthwith.RequestError, match="different branches") as caught:
            call(str(folder), library=library)
        text = str(caught.value)
        assert "b.parquet lacks 'y', which" in text
        assert "b.parquet has 'z'" in text
        assert "a.parquet" in text
        assert 'missing="null"' in text
        assert caught.value.file.endswith("b.parquet")
    with pytest.raises(forthwith.KeyInFileError, match=r"b\.parquet"):
        call(str(folder), "y")
    assert ak.concatenate([call(str(folder), "x")]).tolist()
    with pytest.raises(forthwith.RequestError, match="missing must be"):
        call(str(folder), missing="zero")


WHOLE = [
    {"x": 1, "y": [1.5], "z": None},
    {"x": 2, "y": [], "z": None},
    {"x": 3, "y": [2.5, 3.5], "z": None},
    {"x": 4, "y": None, "z": "p"},
    {"x": 5, "y": None, "z": "q"},
    {"x": 6, "y": [7.5], "z": None},
]


def test_missing_columns_are_missing_values(folder):
    chain = forthwith.Chain(str(folder), missing="null")
    assert chain.keys() == ["x", "y", "z"]
    assert forthwith.open(str(folder)).keys() == ["x"]
    found = chain.arrays()
    assert found.tolist() == WHOLE
    assert str(found.type) == "6 * {x: int64, y: option[var * float64], z: ?string}"
    assert forthwith.concatenate(str(folder), missing="null").tolist() == WHOLE
    steps = list(forthwith.iterate(str(folder), missing="null", step_size=2))
    assert {str(step.type.content) for step in steps} == {str(found.type.content)}
    assert ak.concatenate(steps).tolist() == WHOLE
    assert chain.arrays(["z", "x"], entry_start=2, entry_stop=5).tolist() == [
        {"z": w["z"], "x": w["x"]} for w in WHOLE[2:5]
    ]
    assert chain["z"].array().tolist() == [w["z"] for w in WHOLE]
    assert pa.table(chain).to_pylist() == WHOLE
    assert pl.DataFrame(chain).to_dicts() == WHOLE
    frame = chain.arrays(library="pd")
    assert frame["z"].isna().tolist() == [w["z"] is None for w in WHOLE]
    arrays = chain.arrays(library="np")
    assert arrays["x"].tolist() == [1, 2, 3, 4, 5, 6]
    assert arrays["z"].tolist() == [w["z"] for w in WHOLE]
    assert [None if y is None else y.tolist() for y in arrays["y"]] == [w["y"] for w in WHOLE]
    assert [report.global_entry_stop for _, report in chain.iterate(report=True)] == [3, 5, 6]
    with pytest.raises(forthwith.KeyInFileError, match="nope"):
        chain.arrays(["nope"])
    with pytest.raises(forthwith.RequestError, match="zip"):
        chain.arrays(how="zip")


def test_cuts_where_files_lack_columns(folder):
    chain = forthwith.Chain(str(folder), missing="null")
    whole = chain.arrays()
    names = ["z", "x"]
    for cut, held in (
        ("z == 'q'", whole.z == "q"),
        ("z != 'q'", whole.z != "q"),
        ("sum(y) > 2", ak.sum(whole.y, axis=-1) > 2),
    ):
        kept = whole[ak.fill_none(held, False)]
        found = chain.arrays(names, cut=cut)
        assert found.tolist() == kept[names].tolist()
        assert found.type.content == whole[names].type.content
        assert pa.table(chain.select(names, cut=cut)).to_pylist() == kept[names].tolist()
    assert chain.arrays(["x"], cut="not (z == 'q')")["x"].tolist() == [4]
    # Columns that only expressions name are united, too.
    computed = chain.arrays(["count(y) + x", "first(y)"], aliases={"unused": "z"})
    assert computed["count(y) + x"].tolist() == [2, 2, 5, None, None, 7]
    assert computed["first(y)"].tolist() == [1.5, None, 2.5, None, None, 7.5]
    assert chain.arrays(["z"], entries=[0, 3, 5])["z"].tolist() == [None, "p", None]
    with pytest.raises(forthwith.RequestError, match="there is no column"):
        chain.arrays(["x"], cut="nope > 1")
    with pytest.raises(forthwith.RequestError, match="there is no column"):
        chain.arrays(["nope + 1"])
    forthwith.write_parquet(folder / "d.parquet", {"x": ["text"]})
    unlike = forthwith.Chain(str(folder), missing="null")
    with pytest.raises(forthwith.RequestError, match=r"'x' is string in .*d\.parquet, but int64"):
        unlike.arrays(["y"], cut="x > 1")


def test_numbers_that_are_missing(tmp_path):
    forthwith.write_avro(tmp_path / "1.avro", {"n": [1, 2], "only": [[1, 2], [3]]})
    forthwith.write_avro(tmp_path / "2.avro", {"n": [3], "more": [2.5]})
    chain = forthwith.Chain(f"{tmp_path}/*.avro", missing="null")
    assert chain.arrays(library="np")["more"].tolist() == [None, None, 2.5]
    assert chain.arrays(library="pd")["more"].tolist()[2] == 2.5
    assert chain.arrays(library="arrow").column("more").to_pylist() == [None, None, 2.5]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3])
def test_chains_of_unequal_files_have_the_values_that_were_written(seed):
    problems, files = campaign(seed, 25)
    assert not problems, "\n".join(problems[:5])
    assert files > 50


def test_values_that_only_a_later_file_lacks_are_masked(tmp_path):
    forthwith.write_parquet(tmp_path / "1.parquet", {"x": [1.0, 2.0]})
    forthwith.write_parquet(tmp_path / "2.parquet", {"x": [3.0, None]})
    for missing in ("raise", "null"):
        found = forthwith.concatenate(f"{tmp_path}/*.parquet", library="np", missing=missing)["x"]
        assert found.tolist() == [1.0, 2.0, 3.0, None], missing


def test_numbers_of_several_types_are_promoted_on_request(tmp_path):
    for at, kind in enumerate(("int32", "float32", "uint8")):
        forthwith.write_parquet(
            tmp_path / f"{at}.parquet", {"x": np.arange(3, dtype=kind), "n`": np.arange(3, dtype=kind)}
        )
    steps = forthwith.iterate(f"{tmp_path}/*.parquet", "x", missing="null", step_size=2)
    assert {str(step.type.content) for step in steps} == {"{x: float64}"}
    whole = forthwith.concatenate(f"{tmp_path}/*.parquet", missing="null")
    assert str(whole.type) == '9 * {x: float64, "n`": float64}'
    assert whole["n`"].to_list() == 3 * [0.0, 1.0, 2.0]


def test_whole_numbers_that_no_float_has_are_an_error(tmp_path):
    def written(name, x):
        table = pa.table({"x": x, "a.b": x, "k": np.arange(len(x))})
        pq.write_table(table, tmp_path / name)
        return str(tmp_path / name)

    odd, even = 2**53 + 1, 2**53
    whole, real = written("whole.parquet", [even, even + 2]), written("real.parquet", [0.5])
    few, lists = written("few.parquet", [even, odd]), written("lists.parquet", pa.array([[odd]], pa.list_(pa.int64())))
    unsigned, reals = written("unsigned.parquet", pa.array([2**63], pa.uint64())), written("reals.parquet", [[0.5]])
    long, short = (
        written("long.parquet", pa.array([odd], pa.uint64())),
        written("short.parquet", pa.array([1], pa.int32())),
    )
    half = written("half.parquet", pa.array(np.array([0.5], "f2")))
    records = [written("records.parquet", [[{"y": odd, "z": 1}]]), written("others.parquet", [[{"y": 0.5, "z": 1}]])]
    both = [*itertools.product((few,), (real, unsigned, half)), (lists, reals), (long, short)]
    libraries = ["ak", "np", "pd", "pl", "arrow"]
    for missing, library, (one, other) in itertools.product(("raise", "null"), libraries, both):
        if other == half and missing == "null":
            continue  # nothing computes with float16, nor converts to it
        computed = [] if other == half else [{"names": "x + 0"}]
        for more in ({}, {"cut": "k < 9"}, {"how": tuple}, {"how": dict}, *computed):
            for files in ([one, other], [other, one]):
                chain = forthwith.Chain(files, missing=missing)
                wanted = {"names": ["a.b"], "library": library, **more}
                if one == long and library == "arrow" and missing == "raise" and "how" in more:
                    continue  # refused, where a table gets Arrow's common type of these numbers, which is int64
                objects = one == lists and library in ("np", "pd")
                if missing == "raise" and (objects or (one == long and library == "arrow")):
                    # Objects and Arrow data stay what they are.
                    assert str(odd) in str(chain.arrays(**wanted))
                    continue
                with pytest.raises(forthwith.RequestError) as caught:
                    chain.arrays(**wanted)
                if library in ("ak", "np", "pd"):
                    assert re.search(rf"column.* has {odd}, which is no float64", str(caught.value)), str(caught.value)
                    assert caught.value.file == one
    for files in (records, records[::-1]):
        with pytest.raises(forthwith.RequestError, match=f"column x.y has {odd}, which is no float64"):
            forthwith.concatenate(files, ["x"])
    # What is not read, or left out, need not be changed.
    for missing in ("raise", "null"):
        found = forthwith.Chain([few, real], missing=missing).arrays("x", cut="k < 1").x
        assert (found.to_list(), str(found.type)) == ([even, 0.5], "2 * ?float64")
        for files in ([whole, real], [real, whole]):
            found = forthwith.Chain(files, missing=missing).arrays().x
            assert sorted(found.to_list()) == [0.5, even, even + 2]
    assert forthwith.Chain([few, real]).arrays("x", cut="x < 5").x.to_list() == [0.5]
    assert forthwith.Chain([few, real, "none.parquet"]).arrays("x", entry_stop=2).x.to_list() == [even, odd]
    for more in ({"how": "zip"}, {"errors": "skip"}):
        assert forthwith.concatenate([whole, real], ["x"], **more).x.to_list() == [even, even + 2, 0.5]
        with pytest.raises(forthwith.RequestError, match=f"column x has {odd}"):
            forthwith.concatenate([few, real], ["x"], **more)
    # Nothing is put together of steps, each of which has its file's own type.
    steps = [str(step.x.type) for step in forthwith.iterate([few, real], ["x"])]
    assert steps == ["2 * ?int64", "1 * ?float64"]


def test_types_that_do_not_go_together(tmp_path):
    forthwith.write_avro(tmp_path / "1.avro", {"v": [1, 2]})
    forthwith.write_avro(tmp_path / "2.avro", {"v": ["a"]})
    for missing in ("raise", "null"):
        with pytest.raises(forthwith.RequestError, match=r"'v' is string in .*2\.avro.*, but int64 in .*1\.avro"):
            forthwith.concatenate(f"{tmp_path}/*.avro", missing=missing)
    forthwith.write_avro(tmp_path / "2.avro", {"v": [2.5]})
    assert forthwith.concatenate(f"{tmp_path}/*.avro").v.tolist() == [1, 2, 2.5]


def test_wishes_are_refused_at_the_call(folder):
    for call in (forthwith.iterate, forthwith.concatenate, forthwith.open(str(folder)).select):
        arguments = () if "select" in call.__name__ else (str(folder),)
        with pytest.raises(TypeError, match="has no argument 'language': expressions are Python's"):
            call(*arguments, language="x > 1")
    with pytest.raises(ValueError, match="library must be"):
        forthwith.iterate(str(folder), library="zz")
    with pytest.raises(ValueError, match="step_size"):
        forthwith.iterate(str(folder), step_size=-1)


def test_evolution_of_classes_goes_through_a_chain():
    files = [data(f"evolution/version{version}.root") + ":split" for version in (1, 2)]
    chain = forthwith.open(files)
    assert chain.num_entries == sum(chain.lengths)


def test_files_that_cannot_be_opened_are_left_out_on_request(tmp_path):
    good = data("zmumu.root") + ":events"
    expected = forthwith.concatenate(good, "run")
    cut = tmp_path / "cut.root"
    cut.write_bytes(b"root" + bytes(400))
    bad = [str(tmp_path / "absent.root"), str(cut)]
    for files in ([good, *bad, good], [bad[0], good, good, bad[1]], [*bad, good, good]):
        with pytest.raises(forthwith.ForthwithError):
            forthwith.concatenate(files, "run")
        lost = []
        with pytest.warns(forthwith.DataLossWarning, match="was left out") as warned:
            read = forthwith.concatenate(files, "run", errors="skip", lost=lost)
        assert ak.array_equal(read, ak.concatenate([expected, expected]))
        assert len(lost) == len(warned) == 2
        assert {loss.error.file for loss in lost} == set(bad)
        with pytest.warns(forthwith.DataLossWarning):
            steps = list(forthwith.iterate(files, "run", errors="skip", step_size=1000, report=True))
        assert steps[0][1].global_entry_start == 0
        assert ak.array_equal(ak.concatenate([step for step, _ in steps]), ak.concatenate([expected, expected]))
    with pytest.warns(forthwith.DataLossWarning), pytest.raises(forthwith.ForthwithError, match=r"cut\.root"):
        forthwith.concatenate(bad, "run", errors="skip")
    with pytest.warns(forthwith.DataLossWarning):
        nothing = forthwith.concatenate([good, bad[0]], "run", entry_start=10**6, errors="skip")
    assert len(nothing) == 0
    with pytest.raises(KeyError):
        forthwith.concatenate([good, good], "rum", errors="skip")


def far_chain(tmp_path, count, fault="wait=0.05"):
    """Files for a server, and their names in URLs."""
    files = {}
    for at in range(count):
        with forthwith.recreate(tmp_path / f"{at}.root") as file:
            file["t"] = {"x": np.arange(100 * at, 100 * at + 100)}
        files[f"/{at}.root"] = (tmp_path / f"{at}.root").read_bytes()
    return files, [f"/{at}.root?{fault}" for at in range(count)]


@pytest.mark.slow
def test_files_far_away_are_opened_ahead(tmp_path, monkeypatch):
    files, names = far_chain(tmp_path, 12)
    with serving(files) as server:
        chain = forthwith.Chain([{f"{server.url}{name}": "t"} for name in names])
        times, asked = [], []
        for depth in (0, None):
            before, begin = len(server.requests), time.perf_counter()
            if depth == 0:
                with monkeypatch.context() as patched:
                    patched.setattr(ahead, "AHEAD", depth)
                    assert [len(tree.arrays(["x"])) for tree in chain] == [100] * 12
            else:
                assert [len(step) for step in chain.iterate(["x"])] == [100] * 12
            times.append(time.perf_counter() - begin)
            asked.append(len(server.requests) - before)
        # Each of the two journeys that opening takes is 50 ms.
        assert times[1] < 0.8 * times[0]
        assert asked[0] == asked[1]
        before, begin = len(server.requests), time.perf_counter()
        assert chain.arrays(["x"])["x"].tolist() == list(range(1200))
        assert time.perf_counter() - begin < 0.6 * times[0]
        assert len(server.requests) - before == asked[0]
        assert chain.num_entries == 1200
        # Where the last file is not known, none is opened that may not be needed.
        before = len(server.requests)
        assert len(forthwith.Chain(chain._parts[:]).arrays(["x"], entry_stop=150)) == 150
        assert {path for path, _ in server.requests[before:]} == set(names[:2])


def test_files_opened_ahead_are_closed(tmp_path):
    files, names = far_chain(tmp_path, 6)
    del files["/4.root"]
    with serving(files) as server:
        chain = forthwith.Chain([{f"{server.url}{name}": "t"} for name in names])
        opened, closed = [], []
        plain = chain._open

        def counted(at):
            tree = plain(at)
            opened.append(at)
            close = tree.file.close
            tree.file.close = lambda: (closed.append(at), close())
            return tree

        chain._open = counted
        steps = chain._opened()
        for _ in range(2):
            next(steps).file.close()
        steps.close()
        deadline = time.monotonic() + 10
        while (len(opened) < 4 or sorted(closed) != sorted(opened)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert sorted(opened) == sorted(closed) == [0, 1, 2, 3]
        del chain._open
        # Without a tree for each file.
        before = len(server.requests)
        steps = chain.iterate(["x"])
        for _ in range(2):
            next(steps)
        steps.close()
        assert {path for path, _ in server.requests[before:]} <= set(names[:4])
        # The error of a file comes when it is its turn, with the steps before it.
        steps = chain.iterate(["x"])
        assert [len(next(steps)) for _ in range(4)] == [100] * 4
        with pytest.raises(forthwith.MissingFileError, match=r"4\.root"):
            next(steps)
        with pytest.warns(forthwith.DataLossWarning, match=r"4\.root"):
            assert len(chain.arrays(["x"], errors="skip")) == 500


def test_a_stalled_file_ahead_holds_up_nothing(tmp_path):
    files, names = far_chain(tmp_path, 3, "")
    names[2] = "/2.root?hangs=0"
    with serving(files) as server:
        chain = forthwith.Chain([{f"{server.url}{name}": "t"} for name in names])
        begin = time.monotonic()
        steps = chain.iterate(["x"])
        assert [len(next(steps)), len(next(steps))] == [100, 100]
        steps.close()
        assert time.monotonic() - begin < 10
