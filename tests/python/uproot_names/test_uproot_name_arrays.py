"""uproot's names over forthwith: what arrays become in each library, virtual arrays, objects, ntuples."""

import datetime
import shutil

import numpy as np
import pytest
from conftest import data

import forthwith
from forthwith import uproot

ak = pytest.importorskip("awkward")


@pytest.fixture
def containers():
    with uproot.open(data("containers.root"))["apart"] as tree:
        yield tree


def test_numpy_has_containers_of_the_standard_library(containers):
    maps = containers["tables"].array(library="np")
    assert all(isinstance(one, uproot.STLMap) for one in maps)
    plain = containers["tables"].array().tolist()
    assert [{name: dict(inner) for name, inner in one} for one in plain] == [one.tolist() for one in maps]
    sets = containers["words"].array(library="np")
    assert all(isinstance(one, uproot.STLSet) for one in sets)
    assert [sorted(one.tolist()) for one in sets] == [sorted(one) for one in containers["words"].array().tolist()]
    lists = containers["maps"].array(library="np")
    assert all(isinstance(one, uproot.STLVector) for one in lists)
    numbers = containers["chain"].array(library="np")
    assert all(isinstance(one, np.ndarray) for one in numbers)


def test_numpy_has_objects_with_members():
    with uproot.open(data("objects.root"))["whole"] as tree:
        events = tree["event"].array(library="np")
        records = tree["event"].array()
        for at, event in enumerate(events):
            assert isinstance(event, uproot.Model)
            assert event.classname == "Event"
            assert event.member("i") == records[at].i
            assert event.all_member_names == records.fields
            for name, value in event.all_members.items():
                assert _plain(value) == records[name, at] if np.isscalar(value) else value is not None
        with pytest.raises(uproot.KeyInFileError):
            events[0].member("nothing")


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def test_how(containers):
    names = ["chain", "words"]
    assert isinstance(containers.arrays(names, library="np"), dict)
    assert list(containers.arrays(names, how=dict)) == names
    assert len(containers.arrays(names, how=list)) == 2
    with uproot.open(data("zmumu.root"))["events"] as tree:
        zipped = tree.arrays(["run", "Muon_pt", "Muon_eta"], how="zip")
        assert zipped.fields == ["run", "Muon"]
        assert zipped.Muon.fields == ["pt", "eta"]
        assert zipped.Muon.pt.tolist() == tree["Muon_pt"].array().tolist()
        with pytest.raises(TypeError, match="zip"):
            tree.arrays(["run"], how="zip", library="np")
        with pytest.raises(ValueError, match="library"):
            tree.arrays(["run"], library="xy")


def test_virtual_arrays_are_read_when_they_are_touched():
    log = []
    with uproot.open(data("zmumu.root"))["events"] as tree:
        eager = tree.arrays(["run", "Muon_pt"])
        virtual = tree.arrays(virtual=True, filter_name=["run", "Muon_pt"], access_log=log)
        assert log == []
        assert virtual.run.tolist() == eager.run.tolist()
        assert {access.branch for access in log} == {"run"}
        with pytest.raises(ValueError, match="virtual=True"):
            tree.arrays(virtual=True, library="np")
        with pytest.raises(ValueError, match="virtual=False"):
            tree.arrays(access_log=[])
    # The file is opened again for what was not touched in time.
    assert virtual.Muon_pt.tolist() == eager.Muon_pt.tolist()


def test_virtual_arrays_of_ntuples_have_the_tuples_of_others(tmp_path):
    pairs = ak.zip([np.arange(4), np.arange(4) * 0.5])
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mkrntuple("t", {"pairs": pairs, "x": np.arange(4)})
    log = []
    with uproot.open(tmp_path / "a.root") as file:
        eager = file["t"].arrays()
        virtual = file["t"].arrays(virtual=True, access_log=log)
        assert log == []
        assert eager.pairs.layout.is_tuple
        assert virtual.type == eager.type
        assert virtual.tolist() == eager.tolist()


def test_virtual_arrays_of_a_file_that_was_replaced_are_an_error(tmp_path):
    path = tmp_path / "file.root"
    shutil.copy(data("zmumu.root"), path)
    with uproot.open(f"{path}:events") as tree:
        virtual = tree.arrays(virtual=True, filter_name="run")
    shutil.copy(data("histograms.root"), path)
    with pytest.raises(forthwith.DamagedFileError, match="replaced"):
        ak.materialize(virtual)


def test_titles_become_documentation():
    with uproot.open(data("zmumu.root"))["events"] as tree:
        assert ak.parameters(tree["run"].array(ak_add_doc=True)) == {"__doc__": tree["run"].title}
        found = tree.arrays(["run"], ak_add_doc={"type": "typename"})
        assert ak.parameters(found["run"]) == {"type": "uint32_t"}


def test_pandas_has_numbers_and_columns_of_lists():
    pandas = pytest.importorskip("pandas")
    with uproot.open(data("zmumu.root"))["events"] as tree:
        frame = tree.arrays(["run", "Muon_pt"], library="pd", entry_start=10, entry_stop=20)
        assert isinstance(frame, pandas.DataFrame)
        assert frame.index.tolist() == list(range(10, 20))
        assert frame["run"].tolist() == tree["run"].array(None, 10, 20).tolist()


def test_histograms_behave_as_uproots():
    with uproot.open(data("histograms.root")) as file, forthwith.open(data("histograms.root")) as ours:
        for name in ("h1f", "h1d", "h1i"):
            one, same = file[name], ours[name]
            assert np.array_equal(one.values(), same.values())
            assert np.array_equal(one.errors(flow=True), same.errors(flow=True))
            assert one.axis().edges().tolist() == same.axes[0].edges().tolist()
            assert one.axis("x") == one.axes[0]
            assert len(one.to_numpy(dd=True)) == 2
            assert type(one).__name__.startswith("Model_TH1")
            assert one.is_instance("TH1", "TNamed")
            assert one.member("fXaxis").member("fNbins") == len(one.axis())
            assert "@fUniqueID" in one.all_members
            contents = one.bases[-1]
            assert np.asarray(contents).tolist() == same.values(flow=True).tolist()
        with pytest.raises(ValueError, match="axis"):
            file["h1f"].axis("y")


def test_to_boost_takes_metadata():
    pytest.importorskip("boost_histogram")
    with uproot.open(data("histograms.root")) as file:
        one = file["h1f"]
        assert one.to_boost().label == one.title
        assert one.to_boost(metadata={"called": "fName"}).called == one.name


@pytest.mark.parametrize("labels", [["3", "1", "20"], ["3", "b"], ["1", "01"], ["20240101123", "5"]])
def test_labels_that_are_whole_numbers_are_numbers_to_boost(tmp_path, labels):
    bh = pytest.importorskip("boost_histogram")
    made = bh.Histogram(bh.axis.StrCategory(labels), bh.axis.Regular(2, 0, 1), storage=bh.storage.Weight())
    made.fill(labels * 2, [0.25, 0.75] * len(labels), weight=2.5)
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["h"] = made
    with uproot.open(tmp_path / "a.root") as file:
        found = file["h"].to_boost()
        expected = [int(label) for label in labels] if labels == ["3", "1", "20"] else labels
        assert list(found.axes[0]) == expected
        assert np.array_equal(found.values(), made.values())
        assert np.array_equal(found.variances(), made.variances())


def test_objects_of_one_value():
    with uproot.open(data("corners.root")) as file:
        for name, classname in file.classnames().items():
            if classname == "TDatime":
                assert isinstance(file[name].to_datetime(), datetime.datetime)
            elif classname.startswith("TParameter<"):
                assert file[name].value == file[name].member("fVal")


def test_ntuples():
    with uproot.open(data("ntuple.root")) as file, forthwith.open(data("ntuple.root")) as ours:
        for name in [name for name, kind in file.classnames().items() if "RNTuple" in kind]:
            ntuple = file[name]
            assert isinstance(ntuple, uproot.RNTuple)
            assert isinstance(ntuple, uproot.behaviors.RNTuple.HasFields)
            expected = ours[name].arrays()
            assert ntuple.keys(recursive=False) == expected.fields
            assert ntuple.arrays().layout.is_equal_to(expected.layout)
            assert ntuple.arrays(virtual=True).tolist() == expected.tolist()
            form, path = ntuple.to_akform()
            assert path is None
            assert form == expected.layout.form
            for field in ntuple.values():
                found = field.array()
                inside = expected
                for part in field.path.split("."):
                    inside = inside[part]
                assert found.tolist() == inside.tolist(), field.path
                assert ntuple[field.path] is field
                assert ntuple.arrays(filter_name=field.path).fields == [field.path.split(".")[0]]
            with pytest.raises(uproot.KeyInFileError):
                ntuple["nothing"]
            steps = list(ntuple.iterate(step_size=2))
            assert ak.concatenate(steps).tolist() == expected.tolist()
            assert list(ntuple.arrays(library="np")) == expected.fields


def test_envelopes_of_ntuples():
    with (
        uproot.open(data("rntuple/representations.root")) as file,
        uproot.open(data("rntuple/late-within.root")) as late,
    ):
        ntuple = file["ntuple"]
        assert ntuple.header.checksum == ntuple.footer.header_checksum
        assert [ntuple.member(f"fVersion{part}") for part in ("Epoch", "Major")] == [1, 0]
        names = [one.field_name for one in ntuple.header.field_records if one.parent_field_id == one.field_id]
        assert names == ntuple.keys(recursive=False)
        assert sum(one.num_entries for one in ntuple.cluster_summaries) == ntuple.num_entries
        assert sum(one.num_clusters for one in ntuple.footer.cluster_group_records) == ntuple.num_clusters
        # A cluster has one representation of a column, and suppresses the others.
        links = [link for cluster in ntuple.page_link_list for link in cluster]
        assert {link.suppressed for link in links} == {False, True}
        assert all(page.num_elements > 0 for link in links for page in link)
        added = late["ntuple"]
        assert len(added.column_records) > len(added.header.column_records)
        assert added.footer.extension_links.field_records == added.field_records[len(added.header.field_records) :]
    with forthwith.open(data("rntuple/late-within.root")) as file, forthwith.open(data("zmumu.root")) as trees:
        assert file["ntuple"].descriptor()["header_columns"] == len(added.header.column_records)
        with pytest.raises(forthwith.UnsupportedError, match="no RNTuple"):
            trees["events"].descriptor()


def test_own_interpretations():
    class Reversed(uproot.interpretation.custom.CustomInterpretation):
        @classmethod
        def match_branch(cls, branch, context, simplify):
            return branch.name == "run"

        def basket_array(self, data, byte_offsets, basket, branch, context, cursor_offset, library, interp_options):
            return data.view(">u4").astype("u4") + 1

    with uproot.open(data("zmumu.root"))["events"] as tree:
        plain = tree["run"].array(library="np")
        binary = tree["run"].array(uproot.interpretation.custom.AsBinary(), library="np")
        assert binary.view(">u4").reshape(-1).tolist() == plain.tolist()
    uproot.register_interpretation(Reversed)
    try:
        with uproot.open(data("zmumu.root"))["events"] as tree:
            assert tree["run"].array(library="np", entry_start=5).tolist() == (plain[5:] + 1).tolist()
        with pytest.warns(UserWarning, match="Overwriting"):
            uproot.register_interpretation(Reversed)
    finally:
        uproot.unregister_interpretation(Reversed)


def test_missing_numbers_are_masked(tmp_path):
    path = tmp_path / "n.root"
    with forthwith.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"x": "?int32", "none": "?float64"})
        ntuple.extend({"x": [1, None, 3], "none": [None, None, None]})
    ntuple = uproot.open(path)["n"]
    found = ntuple.arrays(library="np")
    assert (found["x"].dtype, found["x"].tolist(), found["x"].mean()) == (np.int32, [1, None, 3], 2)
    assert (found["none"].dtype, found["none"].tolist()) == (np.float64, [None] * 3)
    steps = [step["x"] for step in ntuple.iterate(step_size=2, library="np")]
    assert [(step.dtype, step.tolist()) for step in steps] == [(np.int32, [1, None]), (np.int32, [3])]
    joined = uproot.concatenate([f"{path}:n", f"{path}:n"], library="np")["x"]
    assert joined.tolist() == [1, None, 3] * 2


def test_lists_of_lists_and_texts_are_not_zipped(tmp_path):
    path = tmp_path / "t.root"
    columns = {"a_x": [[1, 2], []], "a_y": [[3, 4], []], "deep": [[[1.5]], []], "texts": [["a"], ["b", "c"]]}
    with forthwith.recreate(path) as file:
        file["t"] = columns
    found = uproot.open(path)["t"].arrays(["a_x", "a_y", "deep", "texts"], how="zip")
    assert sorted(found.fields) == ["a", "deep", "texts"]
    assert found.a.x.tolist() == columns["a_x"]
    assert found.deep.tolist() == columns["deep"]


def test_counts_of_histograms_are_their_contents():
    histogram = uproot.open(data("keys.root"))["histograms/h1c"]
    assert histogram.counts(flow=True).tolist() == histogram.values(flow=True).tolist()
    # Those of the other interface are squares over variances, which may be larger than the type of the contents.
    ours = forthwith.open(data("keys.root"))["histograms/h1c"]
    values, variances = ours.values(flow=True).astype("f8"), ours.variances(flow=True)
    assert np.array_equal(ours.counts(flow=True) * variances, np.where(variances == 0, 0, values**2))


def test_objects_are_copied_by_filters(tmp_path):
    path = tmp_path / "out.root"
    with uproot.open(data("keys.root")) as source, uproot.recreate(path) as file:
        file.copy_from(source, filter_name="*h1*", rename={"histograms/h1d": "other"})
        file.mkdir("below").copy_from(source["histograms"], filter_classname="TH1F")
        with pytest.raises(ValueError, match="no objects match"):
            file.copy_from(source, filter_name="nothing")
        file.copy_from(source, filter_name="nothing", require_matches=False)
        names = source.keys(filter_name="*h1*", cycle=False)
        with uproot.open(data("zmumu.root")) as tables, pytest.raises(NotImplementedError, match="'events'"):
            file.copy_from(tables)
    with uproot.open(data("keys.root")) as source, uproot.open(path) as file:
        assert "other" in file
        assert "histograms/h1d" not in file
        for name in names:
            assert file["other" if name == "histograms/h1d" else name] == source[name]
        assert file["below/h1f"] == source["histograms/h1f"]


def test_lists_with_missing_values_are_masked_arrays(tmp_path):
    columns = {
        "numbers": ak.Array([[None, 1.5], [2.5], []]),
        "records": ak.Array([[{"a": 1, "b": None}, {"a": 2, "b": 3.0}], [], [{"a": 4, "b": 5.0}]]),
        "nested": ak.Array([[{"a": [1, None]}, None], [], [{"a": []}]]),
    }
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mkrntuple("n", columns)
    with uproot.open(tmp_path / "a.root") as file:
        ntuple = file["n"]
        for found in (ntuple.arrays(library="np"), {name: ntuple[name].array(library="np") for name in columns}):
            assert [one.tolist() for one in found["numbers"]] == columns["numbers"].to_list()
            assert found["records"][0].mask.tolist() == [(False, True), (False, False)]
            assert found["records"][2].tolist() == [(4, 5.0)]
            assert found["nested"].tolist() == columns["nested"].to_list()
