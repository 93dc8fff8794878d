"""Objects of ROOT files, compared with what C++ ROOT said when it wrote them."""

import hashlib
import io
import itertools
import json
import math
import pathlib
import pickle
import subprocess
import sys
from xml.dom import minidom

import numpy as np
import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("histograms.root.bins.json")
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


BUFFERED = golden_of("buffered.root.bins.json")


@pytest.mark.parametrize("name", [name for name in BUFFERED if name != "endless"])
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
        for axis, edges in zip(found.axes, golden["edges"], strict=True):
            assert axis.edges() == pytest.approx(edges, rel=1e-15, abs=1e-17)
            assert pickle.loads(pickle.dumps(axis)) == axis


# By GetMean, GetStdDev and, afterwards, GetEntries of C++ ROOT 6.40.
STATISTICS = {
    "oneC": (0.02652886576328831, 1.0761978943275594, 65),
    "weighted": (0.044370607291956694, 1.0916651220790776, 64),
    "variable": (0.02652886576328831, 1.0761978943275594, 64),
    "bounded": (-0.12978923185638913, 1.1958011810456288, 35),
    "found": (0.696773490895895, 2.045963364622973, 64),
    "found_contents": (3.5499798910074083, 10.142736786243825, 66),
    "longer_contents": (0.6890867507966127, 1.988572705755367, 70),
    "longer_two": (0.6974448791064939, 2.0529372350572426, 65),
    "longer_profile": (0.7071441159288161, 2.0297196068779324, 65),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_count_entries_in_a_buffer(name):
    mean, std, entries = STATISTICS[name]
    with forthwith.open(data("buffered.root")) as file:
        found = file[name]
        assert found.mean() == pytest.approx(mean, rel=1e-14)
        assert found.std() == pytest.approx(std, rel=1e-14)
        assert found.entries == entries


def test_entries_that_wait_for_an_axis_without_end_are_an_error():
    with forthwith.open(data("buffered.root")) as file:
        found = file["endless"]
        for ask in (found.values, found.variances, found.to_numpy, found.to_boost, found.show):
            with pytest.raises(forthwith.UnsupportedError, match="ROOT makes the y axis infinite"):
                ask()
        assert "ROOT makes the y axis infinite" in found._repr_html_()
        assert repr(found) == "<TH2D 'endless', its bins not known>"


EFFICIENCIES = golden_of("efficiencies.root.bins.json")


@pytest.mark.parametrize("name", EFFICIENCIES)
def test_intervals_are_those_of_root(name):
    golden = {key: numbers(values) for key, values in EFFICIENCIES[name].items()}
    # Errors are differences of numbers that agree to 1e-12. Of the shortest interval ROOT knows the length to 1e-10, and its
    # ends less well.
    near = {"rel": 0, "abs": 3e-8} if "Set" in name else {"rel": 2e-12, "abs": 2e-13}
    with forthwith.open(data("efficiencies.root")) as file:
        found = file[name]
        assert found.values(flow=True).ravel() == pytest.approx(golden["values"], rel=1e-15, nan_ok=True)
        assert found.lower(flow=True).ravel() == pytest.approx(golden["lower"], **near, nan_ok=True)
        assert found.upper(flow=True).ravel() == pytest.approx(golden["upper"], **near, nan_ok=True)
        inner = (slice(1, -1),) * len(found.axes)
        assert np.array_equal(found.lower(), found.lower(flow=True)[inner], equal_nan=True)
        assert np.array_equal(found.upper(), found.upper(flow=True)[inner], equal_nan=True)


def test_intervals_have_a_level():
    with forthwith.open(data("efficiencies.root")) as file:
        for name in ("pearson", "normal", "beta", "normal_weights"):
            found, high = file[name], file.get(f"{name}_high")
            assert np.array_equal(found.lower(level=found.member("fConfLevel")), found.lower(), equal_nan=True)
            if high is not None:
                assert np.array_equal(found.upper(level=0.9973), high.upper(), equal_nan=True)
            for level in (0, 1, -0.5, float("nan")):
                with pytest.raises(forthwith.RequestError, match="confidence level"):
                    found.lower(level=level)


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
    assert found._repr_html_().count('Z" fill="#') == np.count_nonzero(found.values()) == 5
    text = io.StringIO()
    found.show(file=text)
    drawn = text.getvalue()
    assert drawn.count("│") + drawn.count("┤") == 20
    # The triangle is above the squares, and nothing is left of them.
    lines = [line.partition("│")[2] for line in drawn.splitlines() if "│" in line]
    assert lines[0].strip() == "▒"
    assert not any(line[:6].strip() for line in lines)
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


@pytest.mark.parametrize("name", ["two", "three", "profile2", "profile3", "efficiency_two", "dense", "polygons"])
def test_several_dimensions_are_drawn_in_two(file, name):
    found, out = file[name], io.StringIO()
    found.show(file=out)
    drawn, picture = out.getvalue(), found._repr_html_()
    assert "█ from" in drawn
    assert len({line.index(sign) for line in drawn.splitlines() for sign in "│┤└" if sign in line}) == 1
    assert picture.count("<path") > 30  # a scale
    minidom.parseString(_svg(found))
    dimensions = len(found.axes)
    projected = {"three": "sums along z", "profile3": "means along z", "dense": "sums along "}.get(name)
    assert (projected or " along ") in drawn + picture or dimensions < 3
    assert (" along " in drawn) == (" along " in picture) == (dimensions > 2)


def test_shades_are_in_their_places(file):
    """Each line of a drawing against the bins it shows, the uppermost of y first."""
    values, out = file["two"].values(), io.StringIO()
    file["two"].show(file=out)
    lines = [line.split("│")[-1].split("┤")[-1] for line in out.getvalue().splitlines() if "│" in line or "┤" in line]
    assert len(lines) == values.shape[1]
    wide = len(lines[0]) // values.shape[0]
    for line, row in zip(lines, values.T[::-1], strict=True):
        for at, value in enumerate(row):
            shade = " ░▒▓█"[math.ceil(4 * value / values.max())]
            assert line[at * wide : (at + 1) * wide] == wide * shade


def test_pictures_have_axes_titles_statistics_and_errors(file):
    root = minidom.parseString(_svg(file["h1d"]))
    words = [text.firstChild.data for text in root.getElementsByTagName("text")]
    axis = file["h1d"].axes[0]
    assert {file["h1d"].title, axis.title, f"entries {file['h1d'].entries:g}", "-1", "0", "1"} <= set(words)
    assert any(word.startswith("mean ") for word in words)
    assert any(word.startswith("std ") for word in words)
    bars = root.getElementsByTagName("rect")
    heights = np.array([float(bar.getAttribute("height")) for bar in bars])
    values = file["h1d"].values()
    assert heights / heights.max() == pytest.approx(values / values.max(), abs=1e-3)
    # One stroke of an error for each bin that has one.
    weighted = file["weighted"]
    strokes = [path.getAttribute("d") for path in minidom.parseString(_svg(weighted)).getElementsByTagName("path")]
    assert max(path.count("V") for path in strokes) == np.count_nonzero(weighted.errors())


def _svg(found):
    picture = found._repr_html_()
    return picture[picture.index("<svg") :]


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
    assert file["matrix"].fElements.tolist() == [0, 1, 2, 1, 11, 12, 2, 12, 22]
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
        for key, golden in golden_of(path.name).get("objects", {}).items():
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
    golden = golden_of("standard.root.values.json")
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


def test_pointers_lead_to_one_object_also_in_circles():
    with forthwith.open(data("circles.root")) as file:
        first = file["circle"]
        second, shared, itself = first
        assert itself is first
        assert second[0] is shared
        assert second[1] is first
        assert (repr(first), repr(second)) == ("<TObjArray of 3>", "<TObjArray of 2>")
        plain = first.tojson()
        assert json.loads(json.dumps(plain)) == plain
        assert plain["arr"][0]["arr"] == [{**plain["arr"][0]["arr"][0], "fName": "shared"}, {"$ref": 0}]
        assert plain["arr"][1:] == [{"$ref": 2}, {"$ref": 0}]
        again = pickle.loads(pickle.dumps(second))
        assert again[1][0] is again


def test_pointers_may_lead_far():
    with forthwith.open(data("circles.root")) as file:
        chain = file["chain"]
        assert len(chain) == 400
        assert all(link[0] is before for before, link in itertools.pairwise(chain))
        plain = chain.tojson()
        assert plain["arr"][-1]["arr"] == [{"$ref": 399}]
        # Not by way of the one before is each of them met.
        with pytest.raises(forthwith.UnsupportedError, match="within 120 others"):
            chain[-1].tojson()
        assert chain[100].tojson()["arr"][0]["_typename"] == "TObjArray"


def test_a_value_in_itself_is_an_error():
    from forthwith._objects import Record

    class Lies:
        """A container that holds a pointer to itself."""

        kind = staticmethod(lambda number: "value")
        classname = staticmethod(lambda number: "vector<TObject*>")
        inner = staticmethod(lambda number, maker: [maker.object(number)])

    with forthwith.open(data("circles.root")) as file:
        record = Record(file, "lies", Lies())
        with pytest.raises(forthwith.UnsupportedError, match="in itself"):
            record.object(3)


CORNERS = golden_of("corners.root.values.json")


def test_a_map_has_all_its_pairs():
    pairs = forthwith.open(data("corners.root"))["pairs"]
    assert len(pairs) == len(list(pairs)) == len(pairs.tojson()["arr"]) == CORNERS["pairs"]
    assert sorted(map(str, pairs.values())) == ["0", "1", "2", "x", "y", "z"]
    assert [pairs[key] for key in pairs] == list(pairs.values()) == [value for _, value in pairs.items()]
    assert all(key in pairs for key in pairs)
    named = [str(pairs[name]) for name in ("a", "x", "y", "z")]
    assert named == ["0", "x", "y", "z"]
    assert "b" not in pairs


@pytest.mark.parametrize("name", ["polygons", "profile"])
def test_what_is_outside_of_polygons(name):
    found = forthwith.open(data("corners.root"))[name]
    assert found.overflow().tolist() == CORNERS[name]


@pytest.mark.parametrize("name", ["no_bins", "no_profile"])
def test_polygons_of_which_there_are_none(name, capsys):
    found = forthwith.open(data("corners.root"))[name]
    assert len(found) == 0
    assert [len(each()) for each in (found.values, found.errors, found.polygons, found.areas)] == [0] * 4
    assert found.overflow().tolist() == [0] * 9
    found.show()
    assert "of 0 bins" in capsys.readouterr().out


@pytest.mark.parametrize("mode", range(3))
def test_several_errors_of_a_point_are_put_together(mode):
    graph = forthwith.open(data("corners.root"))[f"errors{mode}"]
    errors = [graph.errors(which, "y") for which in ("low", "high")]
    assert np.transpose(errors).tolist() == CORNERS[f"errors{mode}"]
    assert len(graph.values("y")) == len(graph) == 2


def test_titles_are_the_labels_of_hist(file):
    hist, bh = pytest.importorskip("hist"), pytest.importorskip("boost_histogram")
    for name in HISTOGRAMS:
        found = file[name]
        made = found.to_hist()
        assert (made.name, made.label, made.title) == (found.name, found.title, found.title)
        for axis, into in zip(found.axes, made.axes, strict=True):
            # Where there is no label, hist shows the name.
            assert (into.name, into.label) == (axis.name, axis.title or axis.name)
        assert hist.Hist(found) == made
        assert bh.Histogram(found) == found.to_boost()
        if found.values().dtype.kind in "iu" and not found.weighted:
            assert made.storage_type is bh.storage.Int64


def test_the_width_of_a_bin_is_the_range_over_the_number_of_bins(file):
    for name in HISTOGRAMS:
        for axis in file[name].axes:
            if axis.width is not None:
                assert set(axis.widths().tolist()) == {(axis.high - axis.low) / len(axis)}
                assert axis.widths(flow=True)[[0, -1]].tolist() == [np.inf, np.inf]


def test_an_axis_of_a_graph_has_a_name_and_numbers(file):
    graphs = [file[name] for name, of in file.classnames().items() if of.startswith("TGraph")]
    assert graphs
    for graph in graphs:
        names = graph._AXES
        for number, name in enumerate(names):
            expected = graph.values(name).tolist()
            assert graph.values(number).tolist() == graph.values(number - len(names)).tolist() == expected
        for wrong in (len(names), -len(names) - 1, "w", 0.5, None):
            with pytest.raises(forthwith.RequestError, match="axis must be"):
                graph.values(wrong)


@pytest.mark.parametrize("name", PROFILES)
def test_modes_of_errors_have_numbers(file, name):
    for number, mode in enumerate(("", "s", "i", "g")):
        assert np.array_equal(file[name].errors(error_mode=number), file[name].errors(error_mode=mode), equal_nan=True)


def test_a_date_and_parameters_are_what_python_has_for_them(file):
    date = file["date"]
    packed = date.member("fDatime")
    when = date.to_datetime()
    fields = [when.year - 1995, when.month, when.day, when.hour, when.minute, when.second]
    assert sum(part << bits for part, bits in zip(fields, (26, 22, 17, 12, 6, 0), strict=True)) == packed
    date._values[date._slot("fDatime")] = 0
    with pytest.raises(forthwith.DamagedFileError, match="month"):
        date.to_datetime()
    for name in ("parameter_int", "parameter_Long64_t", "parameter_double"):
        found = file[name]
        assert int(found) == int(found.value)
        assert float(found) == float(found.value)
        assert found


def test_names_of_a_file_are_shown_without_what_a_terminal_obeys(file, capsys):
    """Control characters of eight bits and marks of direction included."""
    found = file["h1d"]
    bad = "a\x1b]0;x\x07\r\u009b31m\u202e\u2028<b>"
    for slot, name in enumerate(found._slots()):
        if name in ("fName", "fTitle"):
            found._values[slot] = bad
    found.show()
    shown = capsys.readouterr().out + repr(found) + found._repr_html_()
    assert not any(sign in shown for sign in "\x1b\x07\r\u009b\u202e\u2028")
    assert "<b>" not in found._repr_html_()
    found._values.clear()


def test_matrices_are_arrays_and_sequences():
    with forthwith.open(data("histograms.root")) as file:
        matrix = file["matrix"]
        whole = [[0, 1, 2], [1, 11, 12], [2, 12, 22]]
        assert np.asarray(matrix).tolist() == matrix.to_numpy().tolist() == whole
        assert matrix.shape == (3, 3) == np.shape(matrix)
        assert len(matrix) == 3
        assert matrix[0, 1] == 1
        assert matrix[-1].tolist() == whole[-1]
        assert matrix[:, 1:].tolist() == [row[1:] for row in whole]
        assert [row.tolist() for row in matrix] == whole
        assert 22 in matrix
        assert matrix["fNrows"] == 3
        assert np.asarray(pickle.loads(pickle.dumps(matrix))).tolist() == whole
        for wrong in (3, (0, 3), (0, 0, 0)):
            with pytest.raises(IndexError):
                matrix[wrong]
        for wrong in (1.5, object()):
            with pytest.raises(TypeError):
                matrix[wrong]


def test_notebooks_show_every_object(tmp_path):
    with forthwith.open(data("histograms.root")) as file:
        for name, classname in file.iterclassnames(cycle=False):
            if classname not in ("TTree", "TDirectory"):
                shown = file[name]._repr_html_() if hasattr(file[name], "_repr_html_") else repr(file[name])
                assert classname.partition("<")[0] in shown
        assert "fDatime" in file["date"]._repr_html_()
        assert "<td style='text-align: left'>2</td>" in file["listed"]._repr_html_()
        assert "TMatrixTSym&lt;double&gt;" in file["matrix"]._repr_html_()
    strange = forthwith.open(data("keys.root"))
    for found in (strange, *(found for found in strange.values() if hasattr(found, "_repr_html_"))):
        shown = found._repr_html_()
        assert "<script" not in shown
        assert all(letter >= " " or letter == "\n" for letter in shown)
