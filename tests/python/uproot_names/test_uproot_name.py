"""uproot's names over forthwith: opening, looking around, reading."""

import io
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import data

import forthwith
from forthwith import uproot

ak = pytest.importorskip("awkward")


@pytest.fixture
def events():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        yield tree


def test_classes_are_uproots():
    with uproot.open(data("histograms.root")) as file:
        assert isinstance(file, uproot.ReadOnlyDirectory)
        assert isinstance(file, uproot.reading.ReadOnlyDirectory)
        assert isinstance(file.file, uproot.ReadOnlyFile)
        assert isinstance(file["h1f"], uproot.Model)
        assert isinstance(file["h1f"], uproot.behaviors.TH1.Histogram)
    with uproot.open({data("zmumu.root"): "events"}) as tree:
        assert isinstance(tree, uproot.TTree)
        assert isinstance(tree, uproot.behaviors.TTree.TTree)
        assert isinstance(tree["run"], uproot.TBranch)
        assert isinstance(tree["run"], uproot.behaviors.TBranch.HasBranches)


def test_names_that_are_not_here_say_so():
    with pytest.raises(AttributeError, match=r"WritableBranch.*by assignment"):
        uproot.WritableBranch  # noqa: B018
    with pytest.raises(AttributeError, match="nothing"):
        uproot.reading.nothing  # noqa: B018
    assert {"open", "TTree", "interpretation", "AsDtype"} <= set(dir(uproot))
    assert all(getattr(uproot, name) is not None for name in dir(uproot))


def test_iteration_gives_branches_and_keys_give_names(events):
    assert [branch.name for branch in events] == events.keys() == [branch.name for branch in events.branches]
    assert events[0] == events["run"] == events["/run"]
    assert len(events) == len(events.keys())
    assert events.get("nothing") is None
    with pytest.raises(uproot.KeyInFileError):
        events["nothing"]


def test_arguments_by_place_are_interpretation_and_entries(events):
    ours = forthwith.open(data("zmumu.root"))["events/run"].array(entry_start=2, entry_stop=5)
    assert events["run"].array(None, 2, 5).tolist() == ours.tolist()
    assert events["run"].array(events["run"].interpretation, 2, 5).tolist() == ours.tolist()


def test_options_of_uproot_have_no_effect_and_others_are_refused():
    executor = uproot.ThreadPoolExecutor()
    options = {"handler": uproot.source.file.MemmapSource, "timeout": 3, "object_cache": None, "array_cache": "100 MB"}
    with uproot.open(data("zmumu.root"), decompression_executor=executor, **options) as file:
        assert len(file["events/run"].array(interpretation_executor=executor, array_cache=None)) == 3600
    with pytest.raises(TypeError, match=r"use_treads.*did you mean use_threads"):
        uproot.open(data("zmumu.root"), use_treads=3)


def test_a_dtype_reads_the_same_bytes_as_other_numbers():
    with uproot.open(data("leaves.root"))["fixed"] as tree:
        values = tree["int16"].array(library="np")
        assert tree["int16"].array(">u2", library="np").tolist() == values.astype("u2").tolist()
        assert tree["int16"].array(uproot.AsDtype(">i2"), library="np").tolist() == values.tolist()
        pairs = tree["int16_2x3"].array(uproot.AsDtype(np.dtype((">u2", (6,)))), library="np")
        assert pairs.tolist() == tree["int16_2x3"].array(library="np").reshape(-1, 6).astype("u2").tolist()
        into = np.zeros(len(values), "i8")
        assert tree["int16"].array(tree["int16"].interpretation.inplace(into), library="np").base is into
        assert into.tolist() == values.tolist()
        with pytest.raises(ValueError, match="2 bytes"):
            tree["int16"].array(">i4")
        both = tree.arrays({"int16": ">u2", "int8": None}, library="np")
        assert both["int16"].dtype == np.uint16
        assert both["int8"].dtype == np.int8
    with uproot.open(data("leaves.root"))["counted"] as tree:
        found = tree["int32_n"].array(uproot.AsJagged(uproot.AsDtype(">u4")))
        assert found.tolist() == ak.values_astype(tree["int32_n"].array(), "uint32").tolist()
        with pytest.raises(ValueError, match="only numbers"):
            tree["int32_n"].array(">i4")


def test_interpretations_are_shown_and_compared_as_uproots():
    with uproot.open(data("leaves.root")) as file:
        assert repr(file["fixed/int16_2x3"].interpretation) == """AsDtype("('>i2', (2, 3))")"""
        assert file["counted/int32_n"].interpretation == uproot.AsJagged(uproot.AsDtype(">i4"))
        assert file["counted/int32_n"].interpretation != uproot.AsJagged(uproot.AsDtype(">i8"))
        assert file["counted/int32_n"].typename == "int32_t[]"
        assert file["counted"].keys(filter_typename="int32_t[]") == ["int32_n"]
        assert file["fixed/int16"].interpretation.numpy_dtype == np.dtype("i2")
    with uproot.open(data("containers.root"))["apart"] as tree:
        assert repr(tree["tables"].interpretation) == (
            "AsObjects(AsMap(True, AsString(True), AsMap(True, dtype('>i4'), dtype('>f4'))))"
        )
        for branch in tree.itervalues():
            assert branch.interpretation.awkward_form(None) == branch.array(entry_stop=0).layout.form, branch.name


def test_every_readable_branch_is_equal_in_both_names():
    for name in ("leaves.root", "objects.root", "containers.root", "zmumu.root", "standard.root"):
        with forthwith.open(data(name)) as ours, uproot.open(data(name)) as file:
            for path in ours.keys(filter_classname="TTree"):
                for branch in file[path].itervalues():
                    if branch._is_group or not branch._is_readable:
                        continue
                    expected = branch.forthwith.array()
                    assert ak.array_equal(branch.array(), expected, equal_nan=True), branch.object_path


def test_groups_are_nested_records_of_own_names():
    with uproot.open(data("objects.root"))["split"] as tree:
        group = tree["event"]
        found = group.array(entry_stop=3)
        assert found.fields[:2] == ["Header", "b"]
        assert found["Header"].fields == ["run", "number"]
        assert found["Header", "run"].tolist() == tree["event/Header/run"].array(entry_stop=3).tolist()
        names = tree.arrays(entry_stop=1).fields
        assert "run" in names
        assert len(set(names)) == len(names)


def test_collections_with_branches_in_them_have_the_type_of_their_class():
    with uproot.open(data("arguments.root"))["t"] as tree:
        assert tree["split./split.spots"].typename == "vector<Spot,Heap<Spot> >"
        assert "split./split.spots" in tree.keys(filter_typename="vector<Spot*")
        assert tree.typenames()["split./split.spots"] == "vector<Spot,Heap<Spot> >"


def test_filters_and_an_empty_result(events):
    assert events.keys(filter_branch=lambda branch: branch.typename == "float[]") == events.keys(
        filter_typename="float[]"
    )
    assert events.arrays(filter_name="nothing*").fields == []
    same = events.arrays(["run", "run"], how=tuple, entry_stop=2)
    assert len(same) == 2
    assert events.arrays(["run"], filter_name="x*", entry_stop=2).fields == ["run"]


def test_steps_and_their_reports(events):
    steps = list(events.iterate(["run"], step_size=1000, report=True))
    assert [(report.start, report.stop) for _, report in steps] == [(0, 1000), (1000, 2000), (2000, 3000), (3000, 3600)]
    assert ak.concatenate([step for step, _ in steps]).tolist() == events.arrays(["run"]).tolist()
    entries = events.num_entries_for("10 kB", ["run"])
    assert len(next(events.iterate(["run"], step_size="10 kB"))) == min(entries, 3600)


def test_several_files():
    two = [data("zmumu.root") + ":events", {data("zmumu.root"): "events"}]
    first = uproot.concatenate(two[0], "run", library="np")["run"]
    assert len(first) == 3600
    assert uproot.concatenate(two, "run", library="np")["run"].tolist() == first.tolist() * 2
    with uproot.open(data("zmumu.root"))["events"] as tree:
        again = uproot.concatenate([data("zmumu.root") + ":events", tree], "run", library="np")["run"]
    assert again.tolist() == first.tolist() * 2
    assert len(uproot.concatenate(data("{zmumu,zmum?}.root:events"), "run")) == 3600, "one text names a file once"
    assert list(uproot.num_entries(two)) == [(data("zmumu.root"), "events", 3600)] * 2
    part = uproot.concatenate(two, "run", entry_start=3590, entry_stop=3605, library="np")["run"]
    assert part.tolist() == first[3590:].tolist() + first[:5].tolist()
    assert uproot.concatenate(two, "run", entry_start=-3, library="np")["run"].tolist() == first[-3:].tolist()
    assert list(uproot.iterate({data("zmumu.root"): "nothing"}, allow_missing=True)) == []
    with pytest.raises(uproot.KeyInFileError):
        list(uproot.iterate({data("zmumu.root"): "nothing"}))
    with pytest.raises(FileNotFoundError):
        list(uproot.iterate("no/such/*.root"))


def test_the_index_of_pandas_goes_on_over_files():
    pytest.importorskip("pandas")
    with uproot.open(data("zmumu.root"))["events"] as tree:
        frames = list(uproot.iterate([data("zmumu.root") + ":events", tree], "run", library="pd", step_size=3600))
    assert [(frame.index[0], frame.index[-1]) for frame in frames] == [(0, 3599), (3600, 7199)]


def test_baskets(events):
    branch = events["run"]
    assert branch.entry_offsets[-1] == 3600
    assert len(branch.entry_offsets) == branch.num_baskets + 1
    values = np.concatenate([branch.basket(at).data.view(">u4") for at in range(branch.num_baskets)])
    assert values.tolist() == branch.array(library="np").tolist()
    ranges = branch.entries_to_ranges_or_baskets(0, 1)
    assert [number for number, _ in ranges] == [0]
    assert set(events.common_entry_offsets(filter_name="run")) == set(branch.entry_offsets)
    with pytest.raises(IndexError):
        branch.basket(branch.num_baskets)


def test_members_and_paths():
    with uproot.open(data("keys.root")) as file:
        assert file.path == ()
        assert file.object_path == "/"
        directories = [name for name, classname in file.classnames().items() if classname.startswith("TDirectory")]
        for name in directories:
            assert file[name].path == tuple(part.partition(";")[0] for part in name.split("/"))
        assert len(file.file.fUUID) == 16
        assert file.file.root_version == forthwith.open(data("keys.root")).version
    with uproot.open(data("zmumu.root"))["events"] as tree:
        assert tree.object_path == "/events;1"
        assert tree.member("fEntries") == 3600
        assert tree["run"].member("fName") == "run"
        assert tree["run"].object_path == "/events;1:run"
        assert "@fUniqueID" in tree.all_members
        with pytest.raises(uproot.KeyInFileError):
            tree.member("fNothing")
        assert tree.member("fNothing", none_if_missing=True) is None


def test_streamers():
    stream = io.StringIO()
    with uproot.open(data("objects.root")) as file:
        assert file.file.streamer_named("Event").name == "Event"
        assert file.file.streamer_named("Nothing") is None
        last = file.file.streamer_named("Event")
        assert file.file.streamer_dependencies("Event")[-1] == ("Event", last.class_version)
        file.file.show_streamers("Event", stream=stream)
    assert "Event (v" in stream.getvalue()


def test_show_has_uproots_columns(events):
    stream = io.StringIO()
    events.show(filter_name="run", stream=stream)
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["name", "|", "typename", "|", "interpretation"]
    assert lines[2].split() == ["run", "|", "uint32_t", "|", "AsDtype('>u4')"]
    assert lines[0].endswith("interpretation                "), "the heading is as wide as its column"
    assert lines[2].endswith("AsDtype('>u4')"), "a row ends with its text"


def test_everything_pickles(events):
    for thing in (events, events["run"]):
        assert pickle.loads(pickle.dumps(thing)).num_entries == 3600
    with uproot.open(data("histograms.root")) as file:
        again = pickle.loads(pickle.dumps(file["h1f"]))
        assert again == file["h1f"]
        assert again.values().tolist() == file["h1f"].values().tolist()
        assert pickle.loads(pickle.dumps(file)).keys() == file.keys()


def test_expressions_cuts_and_aliases(events):
    plain = events.arrays(["run", "nMuon"], library="np")
    assert events.arrays("nMuon + 100", library="np")["nMuon + 100"].tolist() == (plain["nMuon"] + 100).tolist()
    both = events.arrays(
        ["two", "nMuon"], cut="one > 101", aliases={"one": "nMuon + 100", "two": "one * 2"}, library="np"
    )
    kept = plain["nMuon"][plain["nMuon"] > 1]
    assert both["nMuon"].tolist() == kept.tolist()
    assert both["two"].tolist() == ((kept + 100) * 2).tolist()
    assert events.arrays("get('nMuon') + 1")["get('nMuon') + 1"].tolist() == (plain["nMuon"] + 1).tolist()
    parts = list(events.iterate(["run"], cut="nMuon > 1", step_size=1000, library="np"))
    assert sum(len(part["run"]) for part in parts) == len(kept)
    assert 0 < events.num_entries_for("10 kB", "nMuon + 1") <= 3600
    with pytest.raises(ValueError, match="alias"):
        events.arrays(["one"], aliases={"one": "two", "two": "one"})
    with pytest.raises(KeyError):
        events.arrays("nothing")


def test_pandas_keeps_the_numbers_of_entries_that_a_cut_leaves(events):
    pytest.importorskip("pandas")
    frame = events.arrays(["nMuon"], cut="nMuon > 1", library="pd")
    assert frame.index.tolist() == np.flatnonzero(events["nMuon"].array(library="np") > 1).tolist()


def test_files_are_opened_by_their_class():
    with uproot.ReadOnlyFile(data("zmumu.root")) as file:
        assert file.root_directory.keys() == uproot.open(data("zmumu.root")).keys()
        assert file.fEND == file.forthwith.size


def test_bytes_that_were_read_are_counted(events):
    assert events.file.source.num_requested_bytes == 0
    events["run"].array()
    assert 0 < events.file.source.num_requested_bytes <= events["run"].compressed_bytes


def test_bases_are_the_direct_ones():
    with uproot.open(data("histograms.root")) as file:
        assert [base.classname for base in file["h1f"].bases] == ["TH1", "TArrayF"]
        assert [base.classname for base in file["h1f"].bases[0].bases] == [
            "TNamed",
            "TAttLine",
            "TAttFill",
            "TAttMarker",
        ]


def test_install_comes_first_and_modules_are_found():
    code = (
        "import forthwith.uproot as here; here.install(); import uproot; import uproot.behaviors.TTree\n"
        "from uproot.interpretation.numerical import AsDtype; assert uproot is here; assert AsDtype is here.AsDtype\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    late = "import sys, types; sys.modules['uproot'] = types.ModuleType('uproot'); import forthwith.uproot as u; u.install()"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", late], capture_output=True, text=True, check=False)
    assert "comes first" in done.stderr


def test_importing_the_package_imports_nothing_of_this():
    code = "import sys, forthwith; assert not [name for name in sys.modules if name.startswith('forthwith.uproot')]"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_files_are_written_by_uproots_names(tmp_path):
    path = tmp_path / "file.root"
    with uproot.open(data("histograms.root")) as file:
        one = file["h1f"].forthwith
        with uproot.recreate(path, compression=uproot.ZLIB(4), initial_directory_bytes=1024) as written:
            assert isinstance(written, uproot.WritableFile)
            written["dir/h"] = one
            written["text"] = "some text"
        with uproot.open(path) as again:
            assert again.keys(cycle=False) == ["dir", "dir/h", "text"]
            assert again["dir/h"].values().tolist() == one.values().tolist()
            assert again["text"] == "some text"
    with uproot.update(f"file://{path}") as written:
        written["more"] = "text"
    with uproot.open(path) as again:
        assert "more" in again
    with pytest.raises(OSError, match="there already"):
        uproot.create(path)
    for call, wrong in ((uproot.recreate, "compresion"), (uproot.recreate, "name"), (uproot.update, "title")):
        with pytest.raises(TypeError, match=wrong):
            call(path, **{wrong: None})


def test_tables_are_written_by_uproots_names(tmp_path):
    path = tmp_path / "folders" / "that are" / "made" / "file.root"
    columns = {"x": np.arange(3), "y": ak.Array([[1.5], [], [2.5, 3.5]])}
    records = ak.Array({"a": [1, 2, 3], "b": [1.5, 2.5, 3.5]})
    with uproot.recreate(path) as file:
        file["fromdict"] = columns
        file["fromform"] = records.layout.form
        file.mkrntuple("fromarray", records.layout).extend(records[records.a > 1])
        file.mktree("dir/tree", columns, counter_name=lambda name: f"count_{name}", initial_basket_capacity=7)
        directory = file.mkdir("dir", initial_directory_bytes=100)
        directory.update({"text": "some", "sub/text": "more"})
        assert isinstance(directory, uproot.WritableDirectory)
        assert isinstance(file["dir"], uproot.WritableDirectory)
        inner = {"tree", "text", "sub", "sub/text"}
        assert set(directory.keys(cycle=False)) == inner
        assert set(file.keys(cycle=False)) == {
            "fromdict", "fromform", "fromarray", "dir", *(f"dir/{name}" for name in inner)
        }  # fmt: skip
        assert file.keys(recursive=False, filter_name="from*", filter_classname="ROOT::RNTuple") == [
            "fromdict;1", "fromform;1", "fromarray;1"
        ]  # fmt: skip
        assert file.classnames(cycle=False)["dir/tree"] == "TTree"
        for wrong in (records.layout.form.content("a"), records.layout.content("a")):
            with pytest.raises(TypeError, match="records with names"):
                file["wrong"] = wrong
        with pytest.raises(ValueError, match="mktree or mkrntuple"):
            file["wrong"] = {"a": "int32"}
    with uproot.open(path) as file:
        assert isinstance(file["fromdict"], uproot.RNTuple)
        assert file["fromdict"].arrays().to_list() == ak.zip(columns, depth_limit=1).to_list()
        assert file["fromform"].num_entries == 0
        assert file["fromarray"].arrays().to_list() == records.to_list() + records[1:].to_list()
        assert file["dir/tree"].keys() == ["x", "count_y", "y"]
        assert file["dir/tree/y"].array().to_list() == columns["y"].to_list()


def test_records_with_numbers_for_names_are_tuples_in_ntuples(tmp_path):
    inner = [
        ({"left": 1, "right": [2.5]}, {"left": 3, "right": []}),
        ({"left": 5, "right": []}, {"left": 7, "right": [8.0]}),
    ]
    records = ak.Array({"one": inner, "many": [[inner[0]], inner], "plain": [{"_1": 1, "_0": 2}, {"_1": 3, "_0": 4}]})
    with uproot.recreate(tmp_path / "file.root") as file:
        file["records"] = records
    with uproot.open(tmp_path / "file.root") as file:
        ntuple = file["records"]
        assert ntuple.arrays().to_list() == records.to_list()
        assert ntuple["many"].array().to_list() == records.many.to_list()
        assert ntuple["many.1.left"].array().to_list() == records.many["1", "left"].to_list()
        assert ntuple["one"].keys() == ["0", "0.left", "0.right", "1", "1.left", "1.right"]
        assert ntuple["plain"].keys() == ["_1", "_0"]
        assert ntuple.to_akform()[0].type == ntuple.arrays().layout.form.type
        columns = ntuple.arrays(filter_name=["many.0", "plain._0"])
        assert columns.many["0"].to_list() == records.many["0"].to_list()


def test_entries_of_files_that_lack_a_branch_are_counted(tmp_path):
    names = []
    for at in range(3):
        names.append(f"{tmp_path}/{at}.root:t")
        with uproot.recreate(tmp_path / f"{at}.root") as file:
            file.mktree("t", {"y" if at == 1 else "x": np.arange(10) + 10 * at})
    found = uproot.concatenate(names, ["x"], entry_start=5, entry_stop=25, allow_missing=True)
    assert found.x.to_list() == [5, 6, 7, 8, 9, 20, 21, 22, 23, 24]
    frame = uproot.concatenate(names, ["x"], entry_start=5, entry_stop=25, allow_missing=True, library="pd")
    assert frame.index.tolist() == frame.x.tolist()


@pytest.mark.parametrize("scheme", ["simplecache::file://", "memory://", "file://"])
def test_files_are_written_to_urls(tmp_path, scheme):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = f"{scheme}{tmp_path}/some/file%41 b.root"
    with uproot.create(url) as file:
        file["text"] = "some"
    with uproot.open(url) as file:
        assert file["text"] == "some"
    with pytest.raises(FileExistsError, match="there already"):
        uproot.create(url)
    with pytest.raises(ZeroDivisionError), uproot.recreate(url) as file:
        file["other"] = str(1 / 0)
    with uproot.open(url) as file:
        assert file.keys(cycle=False) == ["text"]


def test_what_cannot_be_written_to_is_said(tmp_path):
    with pytest.raises(NotImplementedError, match="web servers"):
        uproot.recreate("http://localhost:1/file.root")
    with pytest.raises(NotImplementedError, match="behind a network"):
        uproot.update("s3://bucket/file.root")
    with pytest.raises(FileNotFoundError):
        uproot.update(f"simplecache::file://{tmp_path}/file.root")


def test_graphs_and_lists_are_made_and_written(tmp_path):
    graph = {"x": [1.0, 2.0, 4.0], "y": [100.0, 200.0, 150.0]}
    errors = {f"{axis}_errors_{end}": [0.5, 0.25, 0.125] for axis in "xy" for end in ("low", "high")}
    with uproot.recreate(tmp_path / "file.root") as file:
        file["graph"] = uproot.as_TGraph(graph, title="title", xAxisLabel="x", yAxisLabel="y", lineColor=3)
        file["errors"] = uproot.as_TGraph({**graph, "x_errors": [1, 2, 3], "y_errors": [4, 5, 6]}, minY=-1)
        file["asymmetric"] = uproot.as_TGraph({**graph, **errors})
        texts = uproot.writing.identify.to_TList([uproot.writing.identify.to_TObjString(text) for text in "ab"])
        file["list"] = uproot.writing.identify.to_THashList([texts, uproot.to_writable("c")])
        for wrong in ({"x": [1.0]}, {**graph, "x_errors": [1, 2, 3]}, {"x": [1.0], "y": [1.0, 2.0]}):
            with pytest.raises(ValueError, match="graph"):
                uproot.as_TGraph(wrong)
    with uproot.open(tmp_path / "file.root") as file:
        assert file["graph"].values()[1].tolist() == graph["y"]
        names = ("fTitle", "fMinimum", "fMaximum", "fLineColor")
        assert [file["graph"].member(name) for name in names] == ["title;x;y", 90.0, 210.0, 3]
        assert file["errors"].classname == "TGraphErrors"
        assert file["errors"].member("fEY").tolist() == [4, 5, 6]
        assert file["errors"].member("fMinimum") == -1
        assert file["asymmetric"].member("fEYhigh").tolist() == [0.5, 0.25, 0.125]
        assert [str(text) for text in file["list"][0]] == ["a", "b"]
        assert str(file["list"][1]) == "c"


def test_names_of_python_classes_are_decoded_again():
    for classname in ("TH1F", "std::vector<int>", "xAOD::Map_v2", "a_b::C_", "Größe"):
        assert uproot.classname_decode(uproot.classname_encode(classname)) == (classname, None)
        assert uproot.classname_decode(uproot.classname_encode(classname, 9)) == (classname, 9)
    with pytest.raises(ValueError, match="no class"):
        uproot.classname_decode("TH1F")


def test_branches_among_members_are_those_that_read():
    with uproot.open(data("objects.root"))["split"] as tree:
        found = tree.member("fBranches")
        assert all(isinstance(one, uproot.TBranch) for one in found)
        assert found == tree.branches
        assert [one.member("fName") for one in found] == [one.name for one in tree.branches]
        inner = tree["event/Header/run"]
        assert inner.member("fName") == "run"
        assert inner.parent.member("fBranches")[inner.index] is inner


UNCLOSED = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from forthwith import uproot
uproot.recreate(sys.argv[1] + "/empty.root")
with uproot.update(sys.argv[1] + "/empty.root") as file:
    file["text"] = "there"
kept = uproot.recreate(sys.argv[1] + "/kept.root")
tree = kept.mktree("t", {"x": "f4"})
tree.extend({"x": np.arange(5, dtype="f4")})
"""


def test_files_that_are_not_closed_are_complete_all_the_same(tmp_path):
    """uproot writes as it goes: scripts end without a word."""
    subprocess.run([sys.executable, "-c", UNCLOSED, str(tmp_path)], check=True)
    with uproot.open(tmp_path / "empty.root") as file:
        assert file.keys(cycle=False) == ["text"]
    with uproot.open(tmp_path / "kept.root") as file:
        assert file["t"]["x"].array().tolist() == [0, 1, 2, 3, 4]


def test_file_urls_may_lack_a_slash(tmp_path):
    url = f"file:/{tmp_path}/x.root"
    assert url.startswith("file://")
    assert not url.startswith("file:///")
    with uproot.create(url) as file:
        file["t"] = {"x": np.arange(3)}
    with uproot.open(url) as file:
        assert file["t"].num_entries == 3


def test_objects_know_their_file_without_its_bytes():
    with uproot.open(data("keys.root")) as file:
        header = file.file
        assert header.fBEGIN == 100
        assert header.fEND == header.forthwith.size
        assert header.fVersion // 10000 == header.root_version_tuple[0]
        assert header.fNbytesInfo > 0
        with pytest.raises(AttributeError, match="fNothing"):
            _ = header.fNothing
        detached = next(iter(header.streamers.values())).popitem()[1].file
        assert isinstance(detached, uproot.reading.DetachedFile)
        assert (detached.file_path, detached.fBEGIN, detached.uuid) == (header.file_path, 100, header.uuid)
        assert pickle.loads(pickle.dumps(detached)) == detached
        with pytest.raises(AttributeError, match="source"):
            _ = detached.source


def test_types_are_those_of_what_const_pointers_point_at():
    from forthwith.uproot.interpretation.identify import parse_typename

    assert parse_typename("const TH1I*") == parse_typename("TH1I*")


def test_descriptions_of_fields_are_parameters(tmp_path):
    import awkward as ak

    with forthwith.recreate(tmp_path / "x.root") as file:
        file.mkrntuple(
            "n", {"x": "float64", "y": "var * int32"}, "of the ntuple", fields={"y": {"description": "of y"}}
        )
    with uproot.open(tmp_path / "x.root") as file:
        found = file["n"].arrays(ak_add_doc=True)
        assert ak.parameters(found)["__doc__"] == "of the ntuple"
        assert [found.layout.content(name).parameters["__doc__"] for name in ("x", "y")] == ["", "of y"]
        named = file["n"].arrays(ak_add_doc={"cxx": "typename"})
        assert named.layout.content("x").parameters["cxx"] == "double"


def test_branches_are_one_object_while_held_and_nothing_is_left_of_them():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        run = tree["run"]
        assert tree["run"] is run
        assert dict(tree.iteritems())["run"] is run
        assert run.interpretation is run.interpretation
        assert list(tree._made) == [run._index]
        del run
        assert not tree._made


def test_forms_say_their_json_also_when_they_were_pickled():
    with uproot.open(data("zmumu.root") + ":events") as tree:
        for branch in tree.values():
            form = branch.interpretation.awkward_form(None)
            fresh = ak.forms.from_json(form.to_json())
            assert form == fresh
            assert form.to_json() == fresh.to_json()
            assert pickle.loads(pickle.dumps(form)).to_json() == fresh.to_json()


def test_fields_of_ntuples_are_instances_of_what_has_fields():
    kind = uproot.behaviors.RNTuple.HasFields
    with uproot.open(data("zmumu.root") + ":events") as tree:
        assert not isinstance(tree, kind)
        assert not isinstance({}, kind)
    assert issubclass(uproot.RNTuple, kind)
    assert isinstance(uproot.RNTuple.__new__(uproot.RNTuple), kind)


def test_codecs_have_roots_numbers(tmp_path):
    codec = uproot.ZSTD(7)
    assert (codec.name, codec.level, codec.code, codec.code_pair) == ("ZSTD", 7, 507, (5, 7))
    assert uproot.compression.Compression.from_code(207) == uproot.LZMA(7)
    assert uproot.compression.Compression.from_code_pair(4, 0) is None
    with pytest.raises(ValueError, match="9"):
        uproot.compression.Compression.from_code(907)
    with uproot.recreate(tmp_path / "codec.root", compression=codec) as file:
        tree = file.mktree("t", {"x": "f8"})
        assert isinstance(tree, uproot.WritableTree)
        tree.extend({"x": np.arange(10.0)})
    with uproot.open(tmp_path / "codec.root") as file:
        assert file.file.compression == codec
        assert isinstance(file["t/x"].compression, uproot.ZSTD)


def test_objects_know_the_streamer_info_of_their_class():
    with uproot.open(data("histograms.root")) as file:
        histogram = file["h1f"]
        assert histogram.class_streamer.name == "TH1F"
        assert histogram.instance_version == histogram.class_version == histogram.class_streamer.class_version
        assert [name for name, _ in histogram.base_names_versions] == ["TH1", "TArrayF"]
        assert histogram.axis().class_streamer.name == "TAxis"
    with uproot.open(data("zmumu.root")) as file:
        assert file["events"].class_streamer.name == "TTree"
        branch = file["events/run"]
        assert branch.source is file.file.source
        assert branch.closed is False
    assert branch.closed is True


def test_constants_are_roots():
    assert (uproot.const.kBool, uproot.const.kSTLstring, uproot.const.kZSTD) == (18, 365, 5)


def test_ntuples_estimate_entries_and_have_the_members_of_their_anchor(tmp_path):
    with uproot.recreate(tmp_path / "n.root") as file:
        file["n"] = {"x": np.arange(1000.0)}
    with uproot.open(tmp_path / "n.root") as file:
        ntuple = file["n"]
        assert ntuple.num_entries_for("800 B") == 100
        assert ntuple.member("fVersionEpoch") == 1
        assert ntuple.member("other", none_if_missing=True) is None
        with pytest.raises(uproot.KeyInFileError, match="fVersionMajor"):
            ntuple.member("other")
        assert ntuple.source.num_bytes == (tmp_path / "n.root").stat().st_size


def test_classes_of_objects_by_the_names_of_uproots_models():
    with uproot.open(data("histograms.root")) as file:
        histogram = file["h1f"]
        model = getattr(uproot.models.TH, f"Model_TH1F_v{histogram.class_version}")
        assert isinstance(histogram, model)
        assert not isinstance(histogram.axis(), model)
        assert isinstance(histogram.member("fFunctions"), uproot.models.TList.Model_TList_v5)
    with pytest.raises(AttributeError, match="other"):
        uproot.models.TH.other  # noqa: B018
