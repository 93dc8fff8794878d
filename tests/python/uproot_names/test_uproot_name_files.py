"""Several files by uproot's name: trees without entries, options of stores, paths with objects, and look-ups by name."""

import io
import pickle
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

import forthwith
from forthwith import uproot

ak = pytest.importorskip("awkward")


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Files of trees with and without branches and entries, by name."""
    folder = tmp_path_factory.mktemp("trees")
    jagged = ak.Array([[1], [], [2, 3]])
    tables = {
        "bare": ak.Array(ak.contents.RecordArray([], [], length=0)),
        "empty": {"x": np.zeros(0), "j": jagged[:0]},
        "other": {"y": np.zeros(0)},
        "full": {"x": np.arange(3.0), "j": jagged},
        "more": {"x": np.arange(2.0), "j": jagged[1:]},
    }
    for name, columns in tables.items():
        with uproot.recreate(folder / f"{name}.root") as file:
            file.mktree("t", columns)
    return {name: f"{folder}/{name}.root:t" for name in tables}


@pytest.mark.parametrize("library", ["np", "ak", "pd"])
@pytest.mark.parametrize("without", ["bare", "empty", "other"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_trees_without_entries_take_no_columns_away(trees, library, without, at):
    if library == "pd":
        pytest.importorskip("pandas")
    files = [trees["full"], trees["more"]]
    with_it = [*files[:at], trees[without], *files[at:]]
    for options in ({"filter_name": "x"}, {"expressions": ["x"]}, {"expressions": "x", "cut": "x > 0"}):
        expected = uproot.concatenate(files, library=library, **options)
        found = uproot.concatenate(with_it, library=library, **options)
        assert np.asarray(found["x"]).tolist() == np.asarray(expected["x"]).tolist()
        steps = [step for step in uproot.iterate(with_it, library=library, **options) if len(step["x"])]
        assert np.concatenate([np.asarray(step["x"]) for step in steps]).tolist() == np.asarray(expected["x"]).tolist()
    assert uproot.concatenate(with_it).type == uproot.concatenate(files).type


def test_a_branch_that_no_tree_has_is_an_error(trees):
    for names in (["bare"], ["bare", "other"], ["bare", "full"]):
        files = [trees[name] for name in names]
        with pytest.raises(KeyError, match="nope"):
            uproot.concatenate(files, "nope")
        with pytest.raises(KeyError, match="nope"):
            list(uproot.iterate(files, "nope"))
    assert list(uproot.concatenate([trees["bare"], trees["other"]], library="np")) == ["y"]
    assert uproot.concatenate([trees["bare"]]).fields == []


def test_opened_trees_stay_open(trees):
    with uproot.open(trees["full"]) as tree:
        assert len(uproot.concatenate([tree, trees["more"], tree])) == 8
        assert sum(map(len, uproot.iterate([tree, tree], step_size=2))) == 6
        assert [number for *_, number in uproot.num_entries([tree])] == [3]
        assert not tree.file.closed


class Server(BaseHTTPRequestHandler):
    """Answers requests that have the right header, and no others."""

    protocol_version = "HTTP/1.1"
    data = b""

    def log_message(self, *_):
        pass

    def do_GET(self):
        allowed = self.headers.get("Authorization") == "Bearer t0ken"
        self.send_response(200 if allowed else 401)
        body = self.data if allowed else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET


@pytest.fixture
def guarded(trees):
    with open(trees["full"][:-2], "rb") as file:
        handler = type("Handler", (Server,), {"data": file.read()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/f.root"
    server.shutdown()
    thread.join()
    server.server_close()


HEADERS = {"Authorization": "Bearer t0ken"}
CREDENTIALS = (
    {"headers": HEADERS},
    {"storage_options": {"headers": HEADERS}},
    {"client_kwargs": {"headers": HEADERS}, "timeout": 5, "block_size": 1 << 16},
    {"http": {"headers": HEADERS}, "num_workers": 2},
)


class Path:
    """A path with options, as universal-pathlib has them."""

    def __init__(self, path, options):
        self.path, self.storage_options = path, options

    def __str__(self):
        return self.path


@pytest.mark.parametrize("options", CREDENTIALS)
def test_credentials_reach_the_server(guarded, options):
    expected = [0.0, 1.0, 2.0]
    assert uproot.open({guarded: "t"}, **options)["x"].array().tolist() == expected
    assert uproot.open(f"{guarded}:t", **options)["x"].array().tolist() == expected
    assert uproot.open({Path(guarded, options): "t"})["x"].array().tolist() == expected
    assert uproot.open(Path(guarded, options), headers=HEADERS)["t/x"].array().tolist() == expected
    assert uproot.concatenate({guarded: "t"}, "x", **options)["x"].tolist() == expected
    assert uproot.concatenate([f"{guarded}:t"], entry_start=1, **options)["x"].tolist() == expected[1:]
    assert uproot.concatenate({Path(guarded, options): "t"})["x"].tolist() == expected
    assert next(uproot.iterate(f"{guarded}:t", filter_name="x", **options))["x"].tolist() == expected
    assert [number for *_, number in uproot.num_entries(f"{guarded}:t", **options)] == [3]
    assert uproot.reading.ReadOnlyFile(guarded, **options).root_directory["t/x"].array().tolist() == expected


def test_credentials_reach_the_server_from_dask(guarded):
    pytest.importorskip("dask.array")
    for opened in (True, False):
        found = uproot.dask({guarded: "t"}, library="np", open_files=opened, headers=HEADERS)
        assert found["x"].compute(scheduler="sync").tolist() == [0.0, 1.0, 2.0]


def test_missing_and_unknown_options_are_errors_of_the_store(guarded):
    for call in (uproot.open, uproot.concatenate, lambda *args, **options: next(uproot.iterate(*args, **options))):
        with pytest.raises(PermissionError):
            call({guarded: "t"})
        with pytest.raises(OSError, match="no option heders"):
            call({guarded: "t"}, heders=HEADERS)


def test_credentials_are_not_pickled(guarded, monkeypatch):
    with uproot.open(guarded, headers=HEADERS) as file:
        assert file.file.options == {"headers": HEADERS}
        assert b"t0ken" not in file.file.__reduce__()[1][1].__repr__().encode()
        with pytest.raises(PermissionError):
            pickle.loads(pickle.dumps(file.file))


def test_options_of_stores_have_no_effect_on_paths_and_misspelt_arguments_are_refused(trees):
    path = trees["full"]
    with open(path[:-2], "rb") as file:
        data = io.BytesIO(file.read())
    assert uproot.open(path, encoding="utf-8", headers=HEADERS, anon=True, key="k")["x"].array().tolist() == [0, 1, 2]
    assert uproot.open(data, timeout=3, client_kwargs={})["t/x"].array().tolist() == [0, 1, 2]
    assert len(uproot.concatenate(path, profile="x")) == 3
    for call, wrong in [
        (uproot.open, {"entry_stop": 3}),
        (uproot.open, {"num_worker": 3}),
        (uproot.concatenate, {"filter_nam": "x"}),
        (uproot.concatenate, {"step": 10}),
        (lambda *args, **options: list(uproot.iterate(*args, **options)), {"entry_strt": 1}),
    ]:
        with pytest.raises(TypeError, match=next(iter(wrong))):
            call(path, **wrong)
    for what, handler in ((path, "map"), (path, dict), (data, uproot.source.file.MemmapSource)):
        with pytest.raises(TypeError, match="handler"):
            uproot.open(what, handler=handler)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.root:t", ("a.root", "t")),
        ("dir:x/a.root:d//t/", ("dir:x/a.root", "d/t")),
        ("https://host:80/a.root", ("https://host:80/a.root", None)),
        ("https://host:80/a.root:t;1", ("https://host:80/a.root", "t;1")),
        ("root://host:1094//p/a.root:/t", ("root://host:1094//p/a.root", "t")),
        ("a.root.1:t:b", ("a.root.1", "t:b")),
        ("C:/x/a.ROOT:t", ("C:/x/a.ROOT", "t")),
        ("zip://a.root:t::https://h:1/z.zip", ("zip://a.root::https://h:1/z.zip", "t")),
        ("simplecache::s3://b/a.root:t", ("simplecache::s3://b/a.root", "t")),
        ("a.root:", ("a.root", "")),
        ("/with:colons/a.root", ("/with:colons/a.root", None)),
        ("events.avro:t", ("events.avro", "t")),
        ("https://h/a.root?x=1", ("https://h/a.root?x=1", None)),
    ],
)
def test_paths_are_split_as_uproot_splits_them(text, parts):
    assert uproot._util.file_object_path_split(text) == parts


def test_steps_belong_to_the_file_that_they_are_given_with(trees):
    path = trees["full"][:-2]
    given = [{path: {"object_path": "t", "steps": [0, 1, 3]}}, {path: "t"}, f"{path}:t", {path: {"object_path": "t"}}]
    steps = [[0, 1], [1, 3]]
    assert uproot._util.regularize_files(given, steps_allowed=True) == [(path, "t", steps), *[(path, "t")] * 3]
    for call in (uproot.concatenate, lambda files: list(uproot.iterate(files))):
        with pytest.raises(TypeError, match=r"uproot\.dask only"):
            call(given)
        assert len(call([given[3]])) in (1, 3)


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_look_ups_do_not_walk_all_names(tmp_path, kind):
    columns = {f"c{at}": np.arange(2) for at in range(1500)}
    columns["r"] = ak.Array([{"a": 1, "b": {"c": 2.0}}] * 2) if kind == "mkrntuple" else np.zeros(2)
    with forthwith.recreate(tmp_path / "a.root") as file:
        getattr(file, kind)("t", columns)
    for module in (uproot, forthwith):
        with module.open(tmp_path / "a.root") as file:
            table = file["t"]
            assert table["c1499"].name == "c1499"
            assert "d" not in table
            best = 1.0
            for _ in range(3):
                begin = time.perf_counter()
                for at in range(0, 1500, 15):
                    assert table[f"c{at}"].name == f"c{at}"
                    assert f"c{at}" in table
                    assert f"d{at}" not in table
                    assert table.get(f"d{at}") is None
                best = min(best, time.perf_counter() - begin)
            # Walking all names takes more than half a second.
            assert best < 0.2
            if kind == "mkrntuple" and module is uproot:
                assert [table[path].path for path in ("r.a", "r/b", "r\\b\\c", "/r.b.c", "c", "b")] == [
                    *("r.a", "r.b", "r.b.c", "r.b.c", "r.b.c", "r.b"),
                ]
                assert table["r"]["b"]["c"].path == table["r"]["c"].path == "r.b.c"
                with pytest.raises(KeyError, match="did you mean"):
                    table["c9999"]


def test_open_takes_filters_along(trees):
    """coffea gives `open` the options of the calls that read."""
    path = trees["full"][:-2]
    with uproot.open(path, filter_name="x", filter_typename=None, filter_branch=None, filter_field=None) as file:
        assert file.keys()
    with pytest.raises(TypeError, match="filter_nam"):
        uproot.open(path, filter_nam="x")
