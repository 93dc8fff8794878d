"""Trees as collections of dask-awkward, by uproot's name."""

import pickle

import awkward as ak
import numpy as np
import pytest

from forthwith import uproot

pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")


@pytest.fixture(scope="module", params=["mktree", "mkrntuple"])
def names(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    found = []
    for at in range(3):
        with uproot.recreate(folder / f"{at}.root") as file:
            table = getattr(file, request.param)("t", {"x": "f8", "y": "var * int64", "z": "i4"}, cluster_entries=100)
            for step in range(5):
                numbers = np.arange(100) + 100 * step + 1000 * at
                table.extend({"x": numbers / 2, "y": ak.unflatten(np.arange(200), np.full(100, 2)), "z": numbers})
        found.append(f"{folder}/{at}.root:t")
    return found


@pytest.mark.parametrize(
    ("options", "partitions"),
    [
        ({}, 3),
        ({"step_size": 150}, 9),
        ({"step_size": "1 GB"}, 3),
        ({"steps_per_file": 7}, 21),
        ({"open_files": False}, 3),
        ({"step_size": uproot._util.unset, "steps_per_file": 2}, 6),
        ({"open_files": False, "steps_per_file": 2}, 6),
    ],
)
def test_partitions_are_all_entries(names, options, partitions):
    found = uproot.dask(names, **options)
    whole = uproot.concatenate(names)
    assert found.npartitions == partitions
    assert found.known_divisions == options.get("open_files", True)
    assert ak.array_equal(found.compute(scheduler="sync"), whole)
    assert ak.num(found, axis=0).compute(scheduler="sync") == 1500
    assert (found.x[found.z > 20] + 1).compute(scheduler="threads").to_list() == (whole.x[whole.z > 20] + 1).to_list()


def test_only_columns_that_are_used_are_read(names):
    import dask_awkward

    found = uproot.dask(names, filter_name=["x", "y"])
    assert found.fields == ["x", "y"]
    graph = found.x + 1
    (used,) = dask_awkward.report_necessary_columns(graph).values()
    assert used == {"x"}
    reader = uproot.dask(names).dask.layers
    (layer,) = reader.values()
    projected = pickle.loads(pickle.dumps(layer.io_func.project_columns(frozenset({"y"}))))
    assert projected.columns == ("y",)
    assert projected.form.fields == ["y"]


@pytest.mark.parametrize(
    ("options", "chunks"),
    [
        ({}, (500,) * 3),
        ({"step_size": 150}, (200, 100, 200) * 3),
        ({"steps_per_file": 2}, (250,) * 6),
        ({"open_files": False}, None),
        ({"open_files": False, "steps_per_file": 2}, None),
    ],
)
def test_arrays_of_numpy(names, options, chunks):
    pytest.importorskip("dask.array")
    found = uproot.dask(names, library="np", **options)
    whole = uproot.concatenate(names, library="np")
    assert list(found) == list(whole)
    for name, array in found.items():
        assert array.dtype == (object if name == "y" else whole[name].dtype)
        if chunks is not None:
            assert array.chunks == (chunks,)
        computed = array.compute(scheduler="sync")
        assert computed.dtype == array.dtype
        assert computed.shape == (1500,)
        assert all(np.array_equal(*rows) for rows in zip(computed, whole[name], strict=True))
    assert (found["x"] + found["z"]).sum().compute(scheduler="threads") == (whole["x"] + whole["z"]).sum()


def test_columns_of_other_types_are_refused(tmp_path):
    arrays = {"doubles": np.arange(4.0), "floats": np.arange(4, dtype="f4"), "rows": np.zeros((4, 2))}
    for name, array in arrays.items():
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file.mktree("t", {"x": array})
    doubles, floats, rows = (f"{tmp_path}/{name}.root:t" for name in arrays)
    for files in ([doubles, floats], [floats, doubles], [doubles, rows]):
        for opened in (True, False):
            with pytest.raises(ValueError, match=f"column 'x' is .* in {files[1][:-2]}, and"):
                uproot.dask(files, open_files=opened).x.compute(scheduler="sync")
            with pytest.raises(ValueError, match=f"column 'x' is .* in {files[1][:-2]}, and"):
                uproot.dask(files, open_files=opened, library="np")["x"].compute(scheduler="sync")


def test_what_is_no_collection_is_refused(names, tmp_path):
    for options, kind in (
        ({"library": "pd"}, NotImplementedError),
        ({"step_size": 10, "steps_per_file": 1}, ValueError),
        ({"step_size": 10, "open_files": False}, ValueError),
        ({"step": 10}, TypeError),
    ):
        with pytest.raises(kind):
            uproot.dask(names, **options)
    with uproot.open(names[0]) as tree, pytest.raises(NotImplementedError, match="by their names"):
        uproot.dask(tree)
    path = tmp_path / "changing.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(4.0)})
    found = uproot.dask(f"{path}:t")
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(3.0)})
    with pytest.raises(OSError, match="replaced or changed since the plan was made"):
        found.x.compute(scheduler="sync")


def test_collections_are_written_as_one_file_for_each_partition(tmp_path):
    dak = pytest.importorskip("dask_awkward")
    rows = [{"x": [1.0, 2.0], "n": 1}, {"x": [], "n": 2}, {"x": [3.0], "n": 3}, {"x": [4.0], "n": 4}]
    array = dak.from_awkward(ak.Array(rows), 2)
    assert (
        uproot.dask_write(array, f"{tmp_path}/all", prefix="run", tree_name="t", title="what", compression="zstd")
        is None
    )
    paths = [tmp_path / "all" / f"run-part{at}.root" for at in range(2)]
    assert sorted(tmp_path.glob("all/*")) == paths
    assert uproot.concatenate([f"{path}:t" for path in paths], ["x", "n"]).to_list() == rows
    with uproot.open(paths[0]) as file:
        assert file["t"].title == "what"
    later = uproot.dask_write(array, f"{tmp_path}/later", compute=False)
    assert not (tmp_path / "later").exists()
    later.compute()
    assert sorted(path.name for path in tmp_path.glob("later/*")) == ["part0.root", "part1.root"]
    with pytest.raises(ValueError, match="ZLIB, LZMA, LZ4, ZSTD"):
        uproot.dask_write(array, f"{tmp_path}/none", compression="gzip")


def test_files_say_their_steps(names):
    whole = uproot.concatenate(names[:1])
    path, tree = names[0].rsplit(":", 1)
    for steps, pairs in [([[0, 10], [20, 25]], [(0, 10), (20, 25)]), ([3, 7, 8], [(3, 7), (7, 8)])]:
        found = uproot.dask({path: {"object_path": tree, "steps": steps}})
        assert found.npartitions == len(pairs)
        expected = [row for start, stop in pairs for row in whole[start:stop].to_list()]
        assert found.compute(scheduler="sync").to_list() == expected
    given = {path: {"object_path": tree, "steps": None}}
    assert len(uproot.dask(given).compute(scheduler="sync")) == len(whole)
    with pytest.raises(ValueError, match="steps of their own"):
        uproot.dask({path: {"object_path": tree, "steps": [[0, 10]]}}, step_size=10)
    with pytest.raises(ValueError, match=r"steps of .*: \[5, 100000000\], of a tree of"):
        uproot.dask({path: {"object_path": tree, "steps": [[5, 100000000]]}})
