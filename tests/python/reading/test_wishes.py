"""Wishes that cannot be granted: each error says what to write instead, and says it at the call."""

import pytest

import forthwith
from forthwith._keywords import INSTEAD, RENAMED

# Arguments that some calls have and others do not.
HAVE_IT = {
    *(("interpretation", "array"), ("virtual", "arrays")),
    *(("cut", "arrays"), ("cut", "iterate"), ("cut", "select"), ("cut", "array")),
}


@pytest.mark.parametrize("wish", list(dict.fromkeys([*INSTEAD, *RENAMED, "filter_nam", "gibberish"])))
def test_arguments_that_there_are_not(tree, wish):
    calls = [tree.arrays, tree.iterate, tree.select, tree.keys, tree.typenames, tree.iteritems, tree.show, tree.explain]
    for call in (*calls, tree["run"].array, tree["run"].arrays, tree["run"].iterate):
        if (wish, call.__name__) in HAVE_IT:
            continue
        with pytest.raises(TypeError) as caught:
            call(**{wish: "x"})
        text = str(caught.value)
        assert text.startswith(
            f"{call.__name__.removeprefix('iter') if 'items' in call.__name__ else call.__name__}() "
        )
        assert f"has no argument {wish!r}: " in text
        if any(f"it is {name}=" in text for name in RENAMED.get(wish, ())):
            continue
        if wish in INSTEAD:
            assert INSTEAD[wish] in text
        else:
            assert "did you mean" in text or "there are" in text
    with pytest.raises(TypeError, match=r"did you mean filter_name"):
        tree.keys(filter_nam="x")


def test_what_an_argument_is_called_is_said_where_the_call_has_it(tree):
    for call, wish, name in [
        (tree.arrays, "columns", "names"),
        (tree.iterate, "branches", "names"),
        (tree.arrays, "nthreads", "threads"),
        (tree["run"].array, "entrystart", "entry_start"),
        (lambda **given: forthwith.engines.plan([], **given), "branches", "columns"),
        (lambda **given: forthwith.open("x", **given), "nthreads", "threads"),
    ]:
        with pytest.raises(TypeError, match=rf"has no argument '{wish}': it is {name}="):
            call(**{wish: 1})
    with pytest.raises(TypeError, match="has no argument 'columns': columns are chosen when they are read"):
        forthwith.open("x", columns=["a"])


def test_letters_of_another_case_are_named_only_if_they_are_the_reason(tree):
    with pytest.raises(ValueError, match="but capital letters count: Muon_pt passes"):
        tree.arrays(filter_name="muon_*")
    with pytest.raises(ValueError, match="no branch passes") as caught:
        tree.arrays(filter_name="Muon_*", filter_typename="quad")
    assert "capital" not in str(caught.value)


def test_near_names(tree):
    for wrong in ("muon_pt", ["MET_pt2"], "Muon_p", "moun_*"):
        with pytest.raises(ValueError, match="no branch passes filter_name") as caught:
            tree.arrays(filter_name=wrong)
        if "*" not in str(wrong):
            assert "did you mean" in str(caught.value)
            assert "_pt" in str(caught.value)
    with pytest.raises(ValueError, match="did you mean Muon_pt"):
        tree.iterate(filter_name="muon_pt")
    with pytest.raises(ValueError, match="no branch passes filter_typename='quad', exclude='x\\*'"):
        tree.select(filter_typename="quad", exclude="x*")
    for wrong in (3, 2.5, tree):
        with pytest.raises(TypeError):
            tree.arrays(wrong) if wrong is not tree else tree.arrays(wrong["run"])
    with pytest.raises(forthwith.KeyInFileError, match="did you mean Muon_pt"):
        tree.arrays("muon_pt")


def test_people_are_told_that_nothing_is_shown(tree):
    for call in (tree.show, tree.explain):
        with pytest.raises(ValueError, match="no branch passes filter_name='muon_pt'; did you mean Muon_pt"):
            call(filter_name="muon_pt")
    assert tree.keys(filter_name="muon_pt") == []


def test_everything_but_some(tree):
    assert tree.arrays(exclude="Muon_*").fields == [name for name in tree.keys() if not name.startswith("Muon_")]  # noqa: SIM118
    assert tree.arrays(filter_name="Muon_*", exclude=["*_pt", "/.*phi/"]).fields == [
        "Muon_eta",
        "Muon_charge",
        "Muon_tightId",
    ]
    assert tree.arrays(filter_branch=lambda branch: branch.name == "run").fields == ["run"]
    with pytest.raises(TypeError, match="either names or filters"):
        tree.arrays("run", exclude="x")


@pytest.mark.parametrize(
    "wrong", [{"exclude": "muon_pt"}, {"filter_name": ["run", "muon_pt"]}, {"exclude": ["*_phi", "muon_pt"]}]
)
def test_each_name_among_filters_is_there(tree, wrong):
    for call in (tree.arrays, tree.iterate, tree.select):
        with pytest.raises(ValueError, match=r"no branch passes .*'muon_pt'; did you mean Muon_pt") as caught:
            call(**wrong)
        assert "zmumu.root:events" in str(caught.value)
    assert tree.keys(**wrong)  # listings list what there is
    assert forthwith.concatenate(f"{tree.file.file_path}:events", missing="null", **wrong).fields
    assert tree.arrays(filter_name=["run", "mu*"]).fields == ["run"]
