"""Objects of ROOT files, compared with what C++ ROOT said when it wrote them."""

import hashlib
import io
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import data

import forthwith

GOLDEN = json.loads(pathlib.Path(data("histograms.root.bins.json")).read_text())
HISTOGRAMS = [name for name, golden in GOLDEN.items() if "edges" in golden]
PROFILES = [name for name in HISTOGRAMS if "mode" in GOLDEN[name]]


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("histograms.root")) as file:
        yield file


def numbers(golden):
    return np.array([float(value) for value in golden])


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_bins_are_those_of_root(file, name):
    found, golden = file[name], GOLDEN[name]
    values = found.values(flow=True)
    assert list(values.shape) == golden["shape"]
    assert values.ravel().astype(float).tolist() == numbers(golden["contents"]).tolist()
    assert found.errors(flow=True).ravel() == pytest.approx(numbers(golden["errors"]), rel=1e-15, abs=0, nan_ok=True)
    for axis, edges in zip(found.axes, golden["edges"], strict=True):
        assert axis.edges() == pytest.approx(edges, rel=1e-15)
    inner, *edges = found.to_numpy()
    assert inner.shape == tuple(len(edge) - 1 for edge in edges)
    assert found.to_numpy(flow=True, dd=True)[1][0][0] == -np.inf


@pytest.mark.parametrize("name", PROFILES)
def test_errors_of_profiles_are_those_of_root(file, name):
    found, golden = file[name], GOLDEN[name]
    assert found.kind == "MEAN"
    assert found.error_mode == golden["mode"]
    assert found.counts(flow=True).ravel().tolist() == numbers(golden["effective"]).tolist()
    for mode, errors in golden["errors by mode"].items():
        assert found.errors(True, mode).ravel() == pytest.approx(numbers(errors), rel=1e-15, abs=0, nan_ok=True)
    with pytest.raises(forthwith.RequestError, match="error_mode"):
        found.errors(error_mode="x")


BUFFERED = json.loads(pathlib.Path(data("buffered.root.bins.json")).read_text())


@pytest.mark.parametrize("name", [name for name in BUFFERED if name != "found"])
def test_entries_in_a_buffer_are_in_their_bins(name):
    golden = BUFFERED[name]
    with forthwith.open(data("buffered.root")) as file:
        found = file[name]
        assert found.member("fBuffer")[0] > 0
        assert found.values(flow=True).ravel().astype(float).tolist() == numbers(golden["contents"]).tolist()
        assert found.errors(flow=True).ravel() == pytest.approx(
            numbers(golden["errors"]), rel=1e-15, abs=0, nan_ok=True
        )
        if "effective" in golden:
            assert found.counts(flow=True).ravel().tolist() == numbers(golden["effective"]).tolist()
        assert found.to_boost().shape == tuple(length - 2 for length in golden["shape"])


def test_entries_that_wait_for_a_range_are_an_error():
    with forthwith.open(data("buffered.root")) as file:
        found = file["found"]
        for ask in (found.values, found.variances, found.to_numpy, found.to_boost, found.show):
            with pytest.raises(forthwith.UnsupportedError, match="64 entries wait for a range of xaxis"):
                ask()
        assert "64 entries wait" in found._repr_html_()


@pytest.mark.parametrize("name", ["sparse", "sparse_weighted", "dense", "dense_int"])
def test_many_dimensions(file, name):
    found = file[name]
    values, errors = found.values(flow=True), np.sqrt(found.variances(flow=True))
    assert np.count_nonzero(values) == len(GOLDEN[name]["bins"])
    for at, content, error in GOLDEN[name]["bins"]:
        assert values[tuple(at)] == content
        assert errors[tuple(at)] == pytest.approx(error, rel=1e-15)


def test_polygons(file):
    found = file["polygons"]
    assert found.values().tolist() == GOLDEN["polygons"]["contents"]
    assert np.sqrt(found.variances()) == pytest.approx(GOLDEN["polygons"]["errors"])
    assert found.overflow().tolist() == GOLDEN["polygons"]["outside"]
    assert len(found.polygons()) == len(found) == 5
    assert found.errors() == pytest.approx(GOLDEN["polygons"]["errors"])
    assert found.kind == "COUNT"
    assert found._repr_html_().count("<rect") == 5
    text = io.StringIO()
    found.show(file=text)
    assert text.getvalue().count("\n") == 6
    with pytest.raises(forthwith.RequestError, match="overflow"):
        found.values(flow=True)


@pytest.mark.parametrize("name", [name for name in GOLDEN if name.startswith("efficiency")])
def test_efficiencies(file, name):
    found, golden = file[name].values(flow=True), np.asarray(GOLDEN[name]["contents"], dtype=float)
    assert found.ravel() == pytest.approx(golden, rel=1e-15, nan_ok=True)
    made = file[name]
    assert "<svg" in made._repr_html_()
    made.show(file=io.StringIO())
    values, *edges = made.to_numpy()
    assert values.shape == tuple(len(one) - 1 for one in edges)
    boost = made.to_boost()
    assert boost.kind == "MEAN"
    assert boost.values() == pytest.approx(values, nan_ok=True)
    assert made.errors() == pytest.approx(np.sqrt(made.variances()), nan_ok=True)


def test_profiles_of_polygons(file):
    found, golden = file["profile_poly"], GOLDEN["profile_poly"]
    assert found.values().tolist() == pytest.approx(golden["contents"], rel=1e-15)
    assert np.sqrt(found.variances()) == pytest.approx(golden["errors"], rel=1e-14)


@pytest.mark.parametrize("name", ["points", "errors", "asymmetric", "space", "bent", "many", "space_errors"])
def test_graphs(file, name):
    graph, golden = file[name], GOLDEN[name]
    for axis in "xyz" if "space" in name else "xy":
        assert graph.values(axis).tolist() == golden[axis]
    if name == "points":
        assert graph.errors() == (None, None)
    if name == "errors":
        assert [list(errors) for errors in graph.errors()] == [golden["ex"], golden["ey"]]
    if "exlow" in golden:
        for axis in "xy":
            for side in ("low", "high"):
                assert graph.errors(side, axis) == pytest.approx(golden[f"e{axis}{side}"], rel=1e-15)
    if name == "space_errors":
        assert [graph.errors("mean", axis).tolist() for axis in "xyz"] == [golden[f"e{axis}"] for axis in "xyz"]
    out = io.StringIO()
    graph.show(file=out)
    assert "•" in out.getvalue()
    assert "<svg" in graph._repr_html_()
    assert len(file["several"].graphs) == 2


@pytest.mark.parametrize("mode", ["0", "1", "2"])
def test_several_errors_of_a_point(file, mode):
    graph = file[f"many{mode}"]
    for side, golden in zip(("low", "high"), GOLDEN["sums"][mode], strict=True):
        assert graph.errors(side, "y") == pytest.approx(golden, rel=1e-15)


def test_labels_and_drawings(file):
    labels = file["labels"]
    assert labels.axis().labels() == ["red", "green", "blue"]
    assert list(labels.axes[0]) == ["red", "green", "blue"]
    assert labels.axes[0].traits.discrete
    assert file["h1f"].axis("x")[0] == (-2.0, -1.6)
    out = io.StringIO()
    labels.show(file=out)
    assert " blue │ 3 │" in out.getvalue()
    assert "<svg" in file["two"]._repr_html_()


def test_other_packages(file):
    pytest.importorskip("boost_histogram")
    hist = pytest.importorskip("hist")
    for name in HISTOGRAMS:
        made, found = file[name].to_boost(), file[name]
        assert made.values() == pytest.approx(found.values().astype(float))
        if found.kind == "COUNT":
            assert made.variances() == pytest.approx(found.variances())
        else:
            assert made.counts() == pytest.approx(found.counts())
    assert isinstance(file["two"].to_hist(), hist.Hist)


def test_members_and_bases(file):
    weighted = file["weighted"]
    assert weighted.member("fXaxis").member("fNbins") == weighted["fXaxis"]["fNbins"] == weighted.fXaxis.fNbins == 12
    assert weighted.has_member("fSumw2")
    assert not weighted.has_member("fNothing")
    with pytest.raises(forthwith.KeyInFileError, match="fSumw2"):
        weighted.member("fSumw3")
    with pytest.raises(AttributeError):
        weighted.fNothing  # noqa: B018
    assert weighted.member("fNothing", 3) == 3
    assert [base.classname for base in weighted.base("TNamed")] == ["TNamed"]
    assert "fName" in weighted.base("TNamed")[0].all_members
    assert "fName" not in weighted.members
    assert "fXaxis" in dir(weighted)
    assert weighted._ipython_key_completions_() == list(weighted.all_members)
    assert pickle.loads(pickle.dumps(weighted)).values().tolist() == weighted.values().tolist()
    json.dumps(weighted.tojson())


def test_shared_objects_are_one_object(file):
    listed = file["listed"]
    assert [str(item) if item.classname == "TObjString" else item.name for item in listed] == [
        "shared",
        "text",
        "shared",
    ]
    assert listed[0] is listed[2]
    assert listed["shared"] is listed[0]
    assert listed.tojson()["arr"][2] == {"$ref": 1}
    mapping = file["mapping"]
    assert mapping["key"].title == "one object"
    canvas = file["canvas"]
    assert canvas.member("fCw") > 0
    json.dumps(canvas.tojson())


def test_collections_and_values(file):
    for name in ("clones", "clones_one_by_one"):
        assert [(clone.name, clone.title) for clone in file[name]] == [
            ("clone0", "0"),
            ("clone1", "1"),
            ("clone2", "2"),
        ]
    assert len(file["references"].fUIDs) == 1
    assert file["matrix"].fElements.tolist() == [0, 1, 2, 11, 12, 22]
    assert file["parameter_int"].value == 7
    assert file["parameter_double"].value == 2.5
    assert file["parameter_bool"].value is True
    assert file["parameter_Long64_t"].value == 1 << 40
    assert file["formula"].fFormula.fClingParameters.tolist() == [2, 3]


def test_importing_the_package_imports_no_numpy():
    code = "import sys, forthwith; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def golden_objects():
    for path in sorted(pathlib.Path(data("")).glob("*.root.golden.json")):
        for key, golden in json.loads(path.read_text()).get("objects", {}).items():
            if path.with_suffix("").with_suffix("").exists():
                yield pytest.param(
                    str(path.with_suffix("").with_suffix("")), key, golden, id=f"{path.name[:-17]}-{key}"
                )


@pytest.mark.parametrize(("path", "key", "golden"), list(golden_objects()))
def test_objects_are_what_their_goldens_say(path, key, golden):
    def digest(array):
        return hashlib.sha256(np.ascontiguousarray(np.asarray(array, dtype="<f8")).tobytes()).hexdigest()

    with forthwith.open({path: None}) as file:
        found = file[key]
    if not isinstance(found, forthwith.Object):
        return  # a directory
    assert found.classname == golden["class"]
    for member, word in (("fName", "name"), ("fTitle", "title")):
        if word in golden and found.has_member(member):
            assert found.member(member) == golden[word]
    if "hist" in golden:
        assert digest(found.values(flow=True)) == golden["hist"]["values_f8_sha256"]
        for axis, edges in zip(found.axes, golden["hist"]["axes"], strict=True):
            assert digest(axis.edges()) == edges["edges_f8_sha256"]


def test_containers_that_are_objects():
    golden = json.loads(pathlib.Path(data("standard.root.values.json")).read_text())
    with forthwith.open(data("standard.root")) as file:
        for name, wanted in golden.items():
            found = file[name]
            if name == "vectors":
                found = [[item.fX, item.fY, item.fZ] for item in found]
            assert plain(found) == wanted, name


def plain(value):
    if isinstance(value, list | np.ndarray):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
