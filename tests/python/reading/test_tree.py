"""Trees and branches as mappings, and what they say of themselves."""

import io
import pathlib
import re

import pytest
from conftest import data

import forthwith


@pytest.fixture
def split():
    with forthwith.open(data("objects.root:split")) as tree:
        yield tree


def test_a_tree_is_a_mapping_of_branches(tree):
    assert tree.get("run") == tree["run"]
    assert tree.get("nothing") is None
    assert tree.num_entries == 3600
    assert tree.title == "simulated collisions"
    assert (tree.name, tree.path, tree.classname) == ("events", "events", "TTree")
    assert len(tree) == 21
    assert tree.keys()[:3] == ["run", "luminosityBlock", "event"]
    assert list(tree) == tree.keys() == tree._ipython_key_completions_()
    assert "Muon_pt" in tree
    assert "Muon_px" not in tree
    assert 3 not in tree
    assert tree["run"] == tree["/run"]
    assert tree["run"].name == "run"
    with pytest.raises(TypeError):
        tree[0]


def test_filters(tree):
    muons = ["Muon_pt", "Muon_eta", "Muon_phi", "Muon_charge", "Muon_tightId"]
    assert tree.keys(filter_name="Muon_*") == muons
    assert tree.keys(filter_name="/muon_(pt|eta)$/i") == muons[:2]
    assert tree.keys(filter_name=lambda name: name.endswith("_phi")) == ["MET_phi", "Muon_phi"]
    assert tree.keys(filter_name=["run", "MET_*"]) == ["run", "MET_pt", "MET_phi"]
    assert tree.keys(filter_typename="double") == ["weight"]
    assert tree.keys(filter_typename="*vector*", filter_name="Track_*") == ["Track_hits", "Track_clusters"]
    assert tree.keys(filter_name="nothing") == []
    assert tree.keys(filter_branch=lambda branch: branch.num_baskets > 0 and branch.name.startswith("MET")) == [
        "MET_pt",
        "MET_phi",
    ]
    assert tree.keys(filter_name="MET_*", exclude="*_phi") == ["MET_pt"]
    assert "run" not in tree.keys(filter_name=lambda name: name != "run")
    assert tree.keys(filter_name=lambda name: name != "run") == tree.keys(exclude="run")
    assert tree.keys(filter_name="/MET_pt") == ["MET_pt"]
    with pytest.raises(TypeError, match="filter_branch must be"):
        tree.keys(filter_branch="MET_pt")


def test_type_names_with_counters():
    with forthwith.open(data("leaves.root")) as file:
        for tree in file.values():
            for name, typename in tree.typenames().items():
                assert name in tree.keys(filter_typename=typename), typename
                if "[" in typename and "]" in typename and not typename[typename.index("[") + 1].isdigit():
                    assert name in tree.keys(filter_typename=typename[: typename.index("[")] + "[]*")
    with forthwith.open(data("zmumu.root:events")) as tree:
        assert tree["Muon_pt"].typename == "float[nMuon]"
        assert tree.keys(filter_typename="float[]")[:2] == ["Muon_pt", "Muon_eta"]


def test_twins(tree):
    wanted = {"filter_name": "MET_*"}
    assert list(tree.iterkeys(**wanted)) == tree.keys(**wanted) == ["MET_pt", "MET_phi"]
    assert list(tree.itervalues(**wanted)) == tree.values(**wanted) == [tree["MET_pt"], tree["MET_phi"]]
    assert list(tree.iteritems(**wanted)) == tree.items(**wanted)
    assert dict(tree.itertypenames(**wanted)) == tree.typenames(**wanted) == {"MET_pt": "float", "MET_phi": "float"}


def test_branches_of_branches(split):
    assert len(split) == 6
    assert len(split.keys()) > 50
    assert split.keys(recursive=False) == ["event", "dotted.", "point", "hits", "points", "tracks"]
    assert "event/Header/run" in split.keys()  # noqa: SIM118
    assert split["event/Header/run"] == split["event"]["Header/run"] == split["event"]["Header"]["run"]
    event = split["event"]
    assert isinstance(event, forthwith.Branch)
    assert event.keys(recursive=False)[:3] == ["Header", "b", "c"]
    assert "Header/run" in event
    assert event["run"].path == "event/Header/run"
    assert event["run"].parent == event["Header"]
    assert event.parent is split
    assert split["event/hits"].keys(full_paths=False)[0] == "hits.energy"
    assert split.keys(filter_name="hits.energy") == ["event/hits/hits.energy", "hits/hits.energy"]
    assert split.keys(filter_name="hits/hits.energy") == ["hits/hits.energy"]
    assert split.keys(filter_name="event/Header/*") == ["event/Header/run", "event/Header/number"]
    with pytest.raises(forthwith.KeyInFileError) as caught:
        split["hits.energy"]  # two of them
    assert set(caught.value.near) == {"event/hits/hits.energy", "hits/hits.energy"}
    with pytest.raises(forthwith.KeyInFileError):
        event["x_missing"]
    assert not event.has_data
    assert bool(event)
    assert bool(split["event/b"])


def test_unknown_branches(tree):
    with pytest.raises(forthwith.KeyInFileError) as caught:
        tree["Moun_pt"]
    assert caught.value.near[0] == "Muon_pt"
    assert caught.value.key == "Moun_pt"
    text = str(caught.value)
    assert "Moun_pt" in text
    assert "did you mean Muon_pt" in text
    assert f"{tree.file.file_path}:events" in text


def test_what_branches_say(tree):
    branch = tree["Muon_pt"]
    assert branch.typename.startswith("float")
    assert branch.num_entries == 3600
    assert branch.num_baskets >= 1
    assert branch.compressed_bytes > 0
    assert branch.uncompressed_bytes > 0
    assert branch.compression_ratio > 0.5
    assert branch.tree is tree
    assert branch.file is tree.file
    assert branch.form.type.content.primitive == "float32"
    assert branch.interpretation.awkward_form(None) == branch.form
    assert branch.interpretation.decoder == "kernel"
    assert branch.forth is None
    assert isinstance(branch.title, str)
    assert repr(branch) == "<Branch 'Muon_pt' of 'events'>"
    assert "3600 entries" in repr(tree)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_show(tree, capsys):
    tree.show(filter_name="MET_*")
    printed = capsys.readouterr().out
    assert printed == (
        "name    | typename | interpretation\n"
        "--------+----------+-----------------\n"
        "MET_pt  | float    | float32 (kernel)\n"
        "MET_phi | float    | float32 (kernel)\n"
    )
    out = io.StringIO()
    assert (
        tree.show(stream=out, filter_name="Track_hits", name_width=6, typename_width=8, interpretation_width=4) is None
    )
    assert out.getvalue().splitlines()[2] == "Tr…its | std…at>> | v…m)"
    assert capsys.readouterr().out == ""
    out = io.StringIO()
    tree.show(stream=out)
    assert len(out.getvalue().splitlines()) == 23


def test_show_prints_what_branches_are_called_and_cuts_only_to_fit_a_terminal(monkeypatch):
    for name in ("codec-zstd.root", "containers.root", "nested.root", "standard.root"):
        with forthwith.open(data(name)) as file:
            for key in file.keys(filter_classname="TTree"):
                tree = file[key]
                out = io.StringIO()
                tree.show(stream=out)
                lines = out.getvalue().splitlines()[2:]
                kinds = tree.typenames()
                shown = [tuple(map(str.strip, line.split(" | ", 2)[:2])) for line in lines]
                assert shown == list(kinds.items())
                for columns in (200, 80, 60):
                    monkeypatch.setenv("COLUMNS", str(columns))
                    out = Terminal()
                    tree.show(stream=out)
                    lines = out.getvalue().splitlines()
                    assert max(map(len, lines)) <= columns
                    firsts = [line.split(" | ", 1)[0].strip() for line in lines[2:]]
                    room = columns - 2 * 16 - 2 * 3
                    assert [a == b for a, b in zip(firsts, kinds, strict=True)] == [len(b) <= room for b in kinds] or (
                        firsts == list(kinds)
                    )


def test_explain(tree, split):
    text = tree["Track_hits"].explain()
    assert "var * var * float32" in text
    assert "program" in text
    assert tree["Track_hits"].forth.splitlines()[0] in text
    assert "input data" in tree["Track_hits"].forth
    text = tree["MET_pt"].explain()
    assert "kernel: one big-endian float32 an entry" in text
    assert "baskets" in text
    assert tree.explain(filter_name="MET_*").count("kernel") == 2
    assert "group" in split["event"].explain()


def test_what_cannot_be_read_says_so(split):
    unreadable = [branch for branch in split.values() if branch.has_data and branch.interpretation.decoder is None]
    for branch in unreadable:
        assert "unreadable" in branch.explain()
        with pytest.raises(forthwith.UnsupportedError, match="not supported yet"):
            branch.array()
        with pytest.raises(forthwith.UnsupportedError, match="not supported yet"):
            branch.form_json  # noqa: B018


def test_html(tree):
    text = tree._repr_html_()
    assert "Muon_pt" in text
    assert "std::vector&lt;std::string&gt;" in text


def test_names_of_branches_are_shown_without_what_a_terminal_obeys(tmp_path, capsys):
    """Patched in place: a name of the same length, wherever the file has it."""
    whole = pathlib.Path(data("codec-none.root")).read_bytes()
    with forthwith.open(data("codec-none.root")) as file:
        tree = file[file.keys(filter_classname="TTree")[0]]
        name = max(tree.keys(), key=len).encode()
    bad = b"\x1b]0;\x07"[: len(name)].ljust(len(name), b"x")
    (tmp_path / "bad.root").write_bytes(whole.replace(name, bad))
    with forthwith.open(tmp_path / "bad.root") as file:
        tree = file[file.keys(filter_classname="TTree")[0]]
        tree.show()
        shown = capsys.readouterr().out + tree._repr_html_() + repr(tree)
        for branch in tree.values():
            shown += str(branch.explain()) + repr(branch)
        assert any("\x1b" in key for key in tree)
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_lines_without_a_terminal_have_a_bound(tmp_path):
    long = "a" * 300
    with forthwith.recreate(tmp_path / "wide.root") as file:
        file["t"] = {"x": [0.0, 0.0], long: [0.0, 0.0]}
        fields = ", ".join(f"field_number_{at}: float64" for at in range(200))
        file.mkrntuple("n", {"record": f"{{{fields}}}"})
    with forthwith.open(tmp_path / "wide.root") as file:
        for name in ("t", "n"):
            out = io.StringIO()
            file[name].show(stream=out)
            assert max(map(len, out.getvalue().splitlines())) <= 240
        file["n"].show(stream=(out := io.StringIO()))
        assert re.match(r"record +\| ", out.getvalue().splitlines()[2])
        file["t"].show(stream=(out := io.StringIO()), name_width=400)
        assert out.getvalue().splitlines()[3].startswith(f"{long} ")
