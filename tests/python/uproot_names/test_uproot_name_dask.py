"""Trees as collections of dask-awkward, by uproot's name."""

import pickle

import awkward as ak
import numpy as np
import pytest

from forthwith import uproot

dask_awkward = pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")


def _computes():
    """Whether dask-awkward computes with the dask that is installed: it pins older ones."""
    try:
        array = dask_awkward.from_lists([[1.0], [2.0]])
        return (array + 1).compute(scheduler="sync").to_list() == [2.0, 3.0]
    except (ValueError, AttributeError, TypeError):
        return False


if not _computes():
    pytest.skip("dask-awkward does not compute with the installed version of dask", allow_module_level=True)


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
        ({"step_size": 150}, 12),
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
    found = uproot.dask(names, filter_name=["x", "y"])
    assert found.fields == ["x", "y"]
    graph = found.x + 1
    (used,) = dask_awkward.report_necessary_columns(graph).values()
    assert used == {"x"}
    reader = uproot.dask(names).dask.layers
    (layer,) = reader.values()
    projected = pickle.loads(pickle.dumps(layer.io_func.project_columns(frozenset({"y"}))))
    assert projected.columns == {"y": ["y"]}
    assert projected.form.fields == ["y"]


@pytest.mark.parametrize(
    ("options", "chunks"),
    [
        ({}, (500,) * 3),
        ({"step_size": 150}, (150, 150, 150, 50) * 3),
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
    with open(names[0][:-2], "rb") as opened, pytest.raises(NotImplementedError, match="by their names"):
        uproot.dask(opened)
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
    for wrong, said in [
        ([[5, 100000000]], "entries 5 to 100000000 of a tree with 500"),
        ([[5, 3]], r"steps of .*\[5, 3\]"),
    ]:
        with pytest.raises(ValueError, match=said):
            uproot.dask({path: {"object_path": tree, "steps": wrong}})


@pytest.mark.parametrize("library", ["ak", "np"])
def test_opened_trees_are_read_and_stay_open(names, library):
    with uproot.open(names[0]) as tree:
        found = uproot.dask([tree, names[1]], library=library, step_size=200)
        array = found["x"].compute(scheduler="threads")
        assert np.asarray(array).tolist() == uproot.concatenate(names[:2])["x"].to_list()
        assert not tree.file.closed


def test_a_known_form_opens_no_file(names, tmp_path):
    form = uproot.dask(names, filter_name=["x", "z"]).layout.form
    missing = [f"{tmp_path}/absent.root:t", *names]
    found = uproot.dask(missing, known_base_form=form, open_files=False)
    assert found.fields == ["x", "z"]
    assert found.partitions[1:].compute(scheduler="sync").to_list() == uproot.concatenate(names)[["x", "z"]].to_list()
    with pytest.raises(FileNotFoundError):
        found.x.compute(scheduler="sync")
    with pytest.raises(ValueError, match="open_files=False"):
        uproot.dask(names, known_base_form=form)
    wrong = uproot.dask(names, filter_name="x").layout.form.copy(fields=["z"])
    with pytest.raises(ValueError, match="column 'z' is"):
        uproot.dask(names, known_base_form=wrong, open_files=False).z.compute(scheduler="sync")


def test_errors_of_partitions_are_in_a_report(names, tmp_path):
    import dask

    files = [names[0], f"{tmp_path}/absent.root:t", names[1]]
    for errors in (True, (FileNotFoundError, KeyError)):
        found, report = uproot.dask(files, open_files=False, allow_read_errors_with_report=errors)
        array, report = dask.compute(found.x, report, scheduler="sync")
        assert array.to_list() == uproot.concatenate([names[0], names[1]])["x"].to_list()
        assert report.exception.to_list() == [None, "FileNotFoundError", None]
        assert "absent.root" in report.args[1][0]
        assert report.args[1][1:].to_list() == ["'t'", "0", "1", "False"]
        assert report.duration[0] >= 0
        assert (report.duration[1], report.performance_counters[1]) == (None, None)
    found, report = uproot.dask(files, open_files=False, allow_read_errors_with_report=(ZeroDivisionError,))
    with pytest.raises(FileNotFoundError):
        found.x.compute(scheduler="sync")


def test_columns_are_those_that_all_trees_with_entries_have(tmp_path):
    tables = {
        "bare": ak.Array(ak.contents.RecordArray([], [], length=0)),
        "empty": {"y": np.zeros(0)},
        "both": {"y": np.arange(3.0), "x": np.arange(3)},
        "one": {"x": np.arange(2)},
    }
    for name, columns in tables.items():
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file.mktree("t", columns)
    files = [f"{tmp_path}/{name}.root:t" for name in tables]
    found = uproot.dask(files)
    assert found.fields == ["x"]
    assert found.x.compute(scheduler="sync").to_list() == [0, 1, 2, 0, 1]
    assert list(uproot.dask(files, library="np")) == ["x"]
    with pytest.raises(ValueError, match=r"one\.root has none of the branches"):
        uproot.dask(files, filter_name="y")


class Doubled:
    """A mapping of Forms that calls each column by another name, and has the buffers of two columns' sum."""

    behavior = None
    buffer_key = "{form_key}-{attribute}"

    def __call__(self, form):
        assert form.parameters["typenames"]["x"] == "double"
        doubled = {f"twice_{name}": form.content(name) for name in form.fields}
        contents = [ak.forms.NumpyForm("float64", form_key=f"{name},x") for name in doubled]
        return ak.forms.RecordForm(contents, list(doubled), form_key="root"), self

    def parse_buffer_key(self, key):
        return tuple(key.rsplit("-", 1))

    def keys_for_buffer_keys(self, keys):
        return frozenset(self.parse_buffer_key(key)[0].partition(",")[0].removeprefix("twice_") for key in keys)

    def load_buffers(self, tree, keys, start, stop, decompression_executor, interpretation_executor, options):
        arrays = tree.arrays(list(keys), entry_start=start, entry_stop=stop, ak_add_doc=options["ak_add_doc"])
        return {f"twice_{name},x-data": 2.0 * np.asarray(arrays[name]) for name in keys}


def test_forms_are_mapped_and_only_needed_branches_read(names):
    for opened in (True, False):
        found = uproot.dask(names, filter_name=["x", "z"], form_mapping=Doubled(), open_files=opened, full_paths=True)
        whole = uproot.concatenate(names)
        assert found.fields == ["twice_x", "twice_z"]
        assert found.twice_z.compute(scheduler="sync").to_list() == (2 * whole.z).to_list()
        assert (found.twice_x + found.twice_z).compute(scheduler="sync").to_list() == (
            2 * (whole.x + whole.z)
        ).to_list()
        (layer,) = found.dask.layers.values()
        assert pickle.loads(pickle.dumps(layer.io_func.project_manually({"x"}))).keys == {"x"}


def test_forms_of_columns_that_are_not_read_have_lists_of_one_length():
    from forthwith.uproot._dask_reader import regular

    inner = ak.forms.NumpyForm("float64", inner_shape=(2, 3), form_key="k")
    form = ak.forms.RecordForm([ak.forms.ListOffsetForm("i64", inner, form_key="o")], ["x"])
    made = regular(ak, form)
    assert made.type == form.type
    keys = made.expected_from_buffers(buffer_key="{form_key}-{attribute}")
    assert keys == form.expected_from_buffers(buffer_key="{form_key}-{attribute}")
    assert regular(ak, made) is made
    data = np.arange(18.0)
    buffers = {"o-offsets": np.array([0, 1, 3]), "k-data": data}
    assert ak.from_buffers(made, 2, buffers, buffer_key="{form_key}-{attribute}").x.to_list() == [
        data[:6].reshape(1, 2, 3).tolist(),
        data[6:].reshape(2, 2, 3).tolist(),
    ]
