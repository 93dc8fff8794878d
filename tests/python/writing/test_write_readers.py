"""Trees that are written, read by groot (Go), jsroot (JavaScript) and uproot.

`tests/readers` has a program for the first two. groot is built with Go; `FORTHWITH_HEP` may name a work tree of go-hep to
build it with. jsroot is installed by `npm ci --ignore-scripts` in `tests/readers/jsroot`, or where `FORTHWITH_JSROOT` says.
A reader that is not there is a skipped test that says why.
"""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from conftest import TESTS
from root_judge import by_uproot

import forthwith

READERS = TESTS / "readers"

COLUMNS = {
    "bool": [True, False, True],
    **{kind: np.array([1, 100, 7], kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")},
    "f4": np.array([1.5, -2.5, 0], "f4"),
    "f8": [1e300, -0.5, 3.25],
    "matrix": np.arange(12.0).reshape(3, 2, 2),
    "jagged": [[1.5], [], [2.5, 3.5]],
    "whole": [[1], [], [2, -3]],
    "small": [[1.5], [], [2.5, 3.5]],
    "vector": [[1, 2], [], [3]],
    "nested": [[[1.5], []], [], [[2.5, 3.5]]],
    "deep": [[[[1.5], []]], [], [[[2.5, 3.5], []], []]],
    "text": ["a", "", "läng" * 80],
    "characters": ["x", "yy", ""],
    "texts": [["a", "b"], [], ["ccc"]],
    "record": [{"x": 1, "y": [2.0]}, {"x": 2, "y": []}, {"x": 3, "y": [1.0, 2.0]}],
}
NAMES = [*(name for name in COLUMNS if name != "record"), "record.x", "record.y", "njagged"]


def expected():
    """What each branch holds."""
    plain = {name: np.asarray(value).tolist() if name[0] in "ifu" else value for name, value in COLUMNS.items()}
    record = plain.pop("record")
    plain["matrix"] = COLUMNS["matrix"].tolist()
    fields = {f"record.{field}": [entry[field] for entry in record] for field in "xy"}
    return {**plain, **fields, "njagged": [len(entry) for entry in COLUMNS["jagged"]]}


@pytest.fixture(params=[None, "zlib", "zstd", "lz4"])
def path(tmp_path, request):
    path = tmp_path / "a.root"
    with forthwith.recreate(path, compression=request.param) as file:
        tree = file.mktree(
            "d/t",
            COLUMNS,
            jagged={"vector": "vector"},
            strings={"characters": "characters"},
            floats={"small": "float16"},
            titles={"f4": "a title"},
        )
        for _ in range(40):
            tree.extend(COLUMNS)
    return path


def run(command, folder=None, **more):
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, cwd=folder, **more)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    return json.loads(done.stdout)


def go(folder, *arguments, timeout=100):
    command = ["go", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout, cwd=folder)


@pytest.fixture(scope="module")
def groot(tmp_path_factory):
    if shutil.which("go") is None:
        pytest.skip("groot: there is no Go here")
    folder = tmp_path_factory.mktemp("groot")
    shutil.copytree(READERS / "groot", folder, dirs_exist_ok=True)
    if hep := os.environ.get("FORTHWITH_HEP"):
        with (folder / "go.mod").open("a") as file:
            file.write(f"\nreplace go-hep.org/x/hep => {hep}\n")
    try:
        needs = go(folder, "mod", "download")
    except subprocess.TimeoutExpired:
        pytest.skip("groot: its modules were not there within 100 seconds")
    if needs.returncode != 0:
        pytest.skip(f"groot: its modules cannot be had here: {needs.stderr[-300:]}")
    # Compiling is most of the time here, and takes a quarter less where nothing is optimised.
    done = go(folder, "build", "-mod=mod", "-gcflags=all=-N -l", "-o", "groot", ".", timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / "groot"


@pytest.fixture(scope="module")
def jsroot(tmp_path_factory):
    installed = pathlib.Path(os.environ.get("FORTHWITH_JSROOT") or READERS / "jsroot")
    if shutil.which("node") is None or not (installed / "node_modules" / "jsroot").is_dir():
        pytest.skip("jsroot: there is no node here, or `npm ci --ignore-scripts` was not run in tests/readers/jsroot")
    if installed == READERS / "jsroot":
        return installed
    folder = tmp_path_factory.mktemp("jsroot")
    shutil.copy(READERS / "jsroot" / "read.mjs", folder)
    shutil.copy(READERS / "jsroot" / "package.json", folder)
    (folder / "node_modules").symlink_to(installed / "node_modules")
    return folder


def same(found, repeated=41):
    wanted = expected()
    for name, values in found.items():
        assert values == repeated * wanted[name], name
    print(f"{len(found)} branches of {repeated * 3} entries compared")


@pytest.mark.slow
def test_groot_reads_all(groot, path):
    same(run([groot, path, "d/t", *NAMES]))


@pytest.mark.slow
def test_jsroot_reads_all(jsroot, path):
    # It has no leaves of Float16_t, shows arrays of several dimensions as one, and text by its bytes.
    names = [name for name in NAMES if name != "small"]
    found = run(["node", "read.mjs", path, "d/t", *names], jsroot)
    found["matrix"] = np.array(found["matrix"]).reshape(-1, 2, 2).tolist()
    found["text"] = [text.encode("latin-1").decode() for text in found["text"]]
    same(found)


def test_uproot_reads_all(path):
    # It fails on leaves of Float16_t without a range.
    same(by_uproot(path, "d/t", [name for name in NAMES if name != "small"]))
