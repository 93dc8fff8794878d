"""Indexes: the metadata of a file in a file of their own, with which nothing but data is read."""

import io
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import time

import awkward as ak
import numpy as np
import pytest
from conftest import DATA
from range_server import serving

import forthwith
from forthwith import engines

NAMES = [
    "zmumu.root",
    "nested.root",
    "belongings.root",
    "leaves.root",
    "avro/codec-deflate.avro",
    "parquet/plain.parquet",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexed")
    for name in NAMES:
        shutil.copy(DATA / name, folder)
    rng = np.random.default_rng(5)
    many = {f"x{at}": rng.normal(size=20_000) for at in range(8)}
    with forthwith.recreate(folder / "ntuple.root") as file:
        file.mkrntuple("n", dict.fromkeys(many, "float64"), cluster_size=100_000)
        for _ in range(5):
            file["n"].extend(many)
    with forthwith.recreate(folder / "long.root", compression=None) as file:
        file["t"] = {name: np.concatenate([values] * 10) for name, values in many.items()}
    # A file that was written this moment has no mark that tells.
    time.sleep(0.1)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serving({f"/{path.name}": path.read_bytes() for path in folder.iterdir()}) as server:
        yield server


@pytest.fixture
def indexes(server, tmp_path):
    for name in server.files:
        forthwith.index(server.url + name, f"{tmp_path}/")
    server.requests.clear()
    return f"{tmp_path}/"


def asked(server):
    """The ranges that the server was asked for since the last question."""
    with server.lock:
        ranges = [headers.get("Range", "").removeprefix("bytes=") for _, headers in server.requests]
        server.requests.clear()
    return ranges


def read(opened):
    if hasattr(opened, "arrays"):
        try:
            return opened.arrays()
        except forthwith.UnsupportedError as error:
            return type(error)
    return {name: read(opened[name]) for name in trees_of(opened)}


def trees_of(opened):
    return opened.keys(recursive=True, filter_classname=lambda name: "Tree" in name or "RNTuple" in name)


def same(got, wanted):
    if isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(same(got[name], wanted[name]) for name in wanted)
    if not isinstance(wanted, ak.Array):
        return got == wanted
    return ak.array_equal(got, wanted, equal_nan=True, check_regular=False)


def test_opening_and_planning_with_an_index_asks_for_nothing(server, indexes, folder):
    for name in server.files:
        asked(server)
        opened = forthwith.open(server.url + name, index=indexes)
        trees = [opened]
        if not hasattr(opened, "arrays"):
            trees = [opened[key] for key in trees_of(opened)]
        for tree in trees:
            assert tree.num_entries >= 0
            tree.typenames()
            tree.show(stream=io.StringIO())
        if len(trees) == 1:
            engines.plan({server.url + name: trees[0].object_path.strip("/") or None}, index=indexes)
        assert asked(server) == [], name
        assert same(read(opened), read(forthwith.open(folder / name[1:]))), name


def test_data_are_asked_for_and_nothing_else(server, indexes, folder):
    name, index = "/long.root", indexes + "long.root.fwi"
    with forthwith.open(f"{server.url}{name}:t", index=index) as tree:
        values = tree["x3"].array(library="np")
    assert (values == forthwith.open(f"{folder}/long.root:t")["x3"].array(library="np")).all()
    ranges = [tuple(map(int, one.split("-"))) for ranges in asked(server) for one in ranges.split(",")]
    needed = values.nbytes
    fetched = sum(last + 1 - first for first, last in ranges)
    assert needed <= fetched <= 1.05 * needed + (1 << 20)


def test_loops_chains_and_engines_take_indexes(server, indexes, folder):
    urls = [f"{server.url}/zmumu.root:events", f"{server.url}/zmumu.root:events"]
    wanted = forthwith.open(f"{folder}/zmumu.root:events").arrays(["MET_pt", "nMuon"])
    both = ak.concatenate([wanted, wanted])
    assert ak.array_equal(forthwith.concatenate(urls, ["MET_pt", "nMuon"], index=indexes), both)
    steps = list(forthwith.iterate(urls, ["MET_pt", "nMuon"], step_size=500, index=pathlib.Path(indexes)))
    assert ak.array_equal(ak.concatenate(steps), both)
    chain = forthwith.open(urls, index=indexes)
    asked(server)
    assert chain.num_entries == 7200
    assert asked(server) == []
    partitions = pickle.loads(pickle.dumps(engines.plan(urls, ["MET_pt"], step=1000, index=indexes)))
    assert asked(server) == []
    parts = [engines.read(partition) for partition in partitions]
    assert ak.array_equal(ak.concatenate(parts)["MET_pt"], both["MET_pt"])
    again = pickle.loads(pickle.dumps(forthwith.open(f"{server.url}/zmumu.root", index=indexes)))
    assert ak.array_equal(again["events"].arrays(["MET_pt", "nMuon"]), wanted)


def test_an_index_beside_the_file_is_taken_where_it_is_asked_for(server, indexes, folder):
    name = "/zmumu.root"
    with serving({name: server.files[name]}) as other:
        wanted = forthwith.open(f"{folder}{name}:events").arrays()
        # None is there.
        assert ak.array_equal(forthwith.open(f"{other.url}{name}:events", index=True).arrays(), wanted)
        forthwith.index(other.url + name, indexes + "other.fwi")
        other.files["/zmumu.root.fwi"] = pathlib.Path(indexes, "other.fwi").read_bytes()
        other.requests.clear()
        assert forthwith.open(f"{other.url}{name}:events", index=True).num_entries == 3600
        assert {path for path, _ in other.requests} == {"/zmumu.root.fwi"}
        url = f"{other.url}/zmumu.root.fwi"
        assert ak.array_equal(forthwith.open(f"{other.url}{name}:events", index=url).arrays(), wanted)


def test_a_file_that_is_another_one_than_its_index_is_of_is_an_error(server, indexes, folder):
    def open_and_read(url, index):
        return forthwith.open(f"{url}:events", index=index).arrays(["MET_pt"])

    name, index = "/zmumu.root", indexes + "zmumu.root.fwi"
    for query in ("changes=0", "grows=0", "untagged"):
        with pytest.raises(forthwith.SourceError, match=r"changed since its index was made|has .* bytes"):
            open_and_read(f"{server.url}{name}?{query}", index)
    with pytest.raises(forthwith.MissingFileError):
        open_and_read(f"{server.url}{name}?status=404", index)
    with pytest.raises(forthwith.SourceError, match="changed since its index was made"):
        open_and_read(f"{server.url}/nested.root", index)
    # Also where all data are in the index, since they lie beside metadata.
    for name in server.files:
        opened = forthwith.open(f"{server.url}{name}?changes=0", index=f"{indexes}{name[1:]}.fwi")
        with pytest.raises(forthwith.SourceError, match="changed since its index was made"):
            read(opened)
    with pytest.raises(forthwith.SourceError, match="belongs to another file or to another state"):
        forthwith.open(folder / "nested.root", index=index)
    with pytest.raises(forthwith.MissingFileError):
        forthwith.open(f"{server.url}{name}", index=indexes + "absent.fwi")


def test_a_server_without_marks_is_asked_whether_its_file_is_that_of_the_index(server, tmp_path, folder):
    url, index = f"{server.url}/zmumu.root?untagged", tmp_path / "untagged.fwi"
    forthwith.index(url, index)
    wanted = forthwith.open(f"{folder}/zmumu.root:events").arrays(["MET_pt"])
    assert ak.array_equal(forthwith.open(f"{url}:events", index=index).arrays(["MET_pt"]), wanted)
    other = bytearray(server.files["/zmumu.root"])
    # A byte of the file's UUID.
    other[60] ^= 1
    with (
        serving({"/zmumu.root": bytes(other)}) as changed,
        pytest.raises(forthwith.SourceError, match="belongs to another file or to another state"),
    ):
        forthwith.open(f"{changed.url}/zmumu.root?untagged", index=index)


def test_an_index_of_a_copy_is_compared_with_the_file(server, tmp_path, folder):
    index = forthwith.index(folder / "zmumu.root", tmp_path / "local.fwi")
    wanted = forthwith.open(f"{folder}/zmumu.root:events").arrays(["MET_pt"])
    for file in (folder / "zmumu.root", shutil.copy(folder / "zmumu.root", tmp_path / "copy.root")):
        for how in ("auto", "map", "pread"):
            opened = forthwith.open(file, index=index, source=how)
            assert ak.array_equal(opened["events"].arrays(["MET_pt"]), wanted)
        with open(file, "rb") as object:
            assert ak.array_equal(forthwith.open(object, index=index)["events"].arrays(["MET_pt"]), wanted)
    assert ak.array_equal(forthwith.open(f"{server.url}/zmumu.root:events", index=index).arrays(["MET_pt"]), wanted)


def test_damaged_indexes_are_errors(tmp_path, folder):
    whole = pathlib.Path(forthwith.index(folder / "zmumu.root", tmp_path / "whole.fwi")).read_bytes()
    index = tmp_path / "damaged.fwi"
    rng = np.random.default_rng(3)
    for at in rng.integers(0, len(whole), 50):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        index.write_bytes(damaged)
        with pytest.raises(forthwith.SourceError, match=r"damaged.fwi, byte \d+: (the index is damaged|no index)"):
            forthwith.open(folder / "zmumu.root", index=index)
        index.write_bytes(whole[:at])
        with pytest.raises(forthwith.SourceError, match=r"damaged\.fwi"):
            forthwith.open(folder / "zmumu.root", index=index)
    with pytest.raises(forthwith.SourceError, match="not an index of a file"):
        forthwith.open(folder / "zmumu.root", index=folder / "nested.root")
    with pytest.raises(forthwith.DamagedFileError, match="an index of another file"):
        forthwith.open(tmp_path / "whole.fwi")


def test_indexes_are_written_beside_files_or_where_they_are_wanted(tmp_path, folder, server):
    shutil.copy(folder / "zmumu.root", tmp_path)
    assert forthwith.index(tmp_path / "zmumu.root") == f"{tmp_path}/zmumu.root.fwi"
    assert len(forthwith.open(f"{tmp_path}/zmumu.root:events", index=True)["MET_pt"].array()) == 3600
    with pytest.raises(ValueError, match="cannot be written to a web server"):
        forthwith.index(f"{server.url}/zmumu.root")
    with pytest.raises(ValueError, match="for a whole file"):
        forthwith.index(f"{tmp_path}/zmumu.root:events")
    with pytest.raises(forthwith.MissingFileError):
        forthwith.index(tmp_path / "absent.root")
    with pytest.raises(forthwith.SourceError):
        forthwith.index(tmp_path / "zmumu.root", tmp_path / "absent" / "a.fwi")
    assert sorted(os.listdir(tmp_path)) == ["zmumu.root", "zmumu.root.fwi"]


def test_an_index_elsewhere_is_told_no_headers_of_the_file(server, indexes, folder):
    content = pathlib.Path(indexes, "zmumu.root.fwi").read_bytes()
    options = {"headers": {"X-Token": "s3cret"}}
    with serving({"/zmumu.root.fwi": content}) as other:
        for index in (f"{other.url}/", f"{other.url}/zmumu.root.fwi"):
            tree = forthwith.open(f"{server.url}/zmumu.root:events", index=index, storage_options=options)
            assert len(tree["MET_pt"].array()) == 3600
        assert len(other.requests) >= 2
        assert not any("s3cret" in str(headers) for _, headers in other.requests)
    assert any("s3cret" in str(headers) for _, headers in server.requests)


def test_the_command_makes_and_takes_indexes(server, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "forthwith", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    index = str(tmp_path / "a.fwi")
    made = run("index", f"{server.url}/zmumu.root", "--to", index)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(f"{index}: ")
    asked(server)
    count = run("count", f"{server.url}/zmumu.root:events", "--index", index)
    assert count.stdout == "3600\n", count.stderr
    assert asked(server) == []
    stale = run("head", f"{server.url}/nested.root:events", "--index", index, "--option", "timeout=5")
    assert stale.returncode == 1
    assert "changed since its index was made" in stale.stderr
    refused = run("count", f"{server.url}/zmumu.root:events", "--option", "s3cret")
    assert refused.returncode == 2
    assert "s3cret" not in refused.stderr
    secret = run("count", f"{server.url}/zmumu.root:events", "--option", "secret_access_key=s3cret")
    assert secret.returncode == 1
    assert "no option secret_access_key for HTTP" in secret.stderr
    assert "s3cret" not in secret.stderr
    asked(server)
    assert run("count", f"{server.url}/zmumu.root:events", "--option", "headers.X-Token=abc").stdout == "3600\n"
