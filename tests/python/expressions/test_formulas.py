"""Texts among the names that are meant as expressions, and have a mistake."""

import pickle

import pytest
from conftest import DATA

import forthwith

ZMUMU = DATA / "zmumu.root"


@pytest.fixture(scope="module")
def tree():
    with forthwith.open(f"{ZMUMU}:events") as tree:
        yield tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqrtt(MET_pt)", 'there is no function "sqrtt"; did you mean sqrt?'),
        ("sort(Muon_pt)", 'there is no function "sort"'),
        ("np.sort(MET_pt)", 'there is no function "np.sort"'),
        ("MET_pt +", "a value is expected where the end stands"),
        ("MET_pt/1000 GeV", 'an operator or the end is expected where the name "GeV" stands'),
        ("Muon_pt[0]", "x[:, 0] or item(x, 0) is the first item of each list"),
        ("Muon_pt[:, 0, 0]", "2 positions within lists, but there is only one level of lists"),
        ("sum(Muon_pt[:, Muon_pt > 2])", "a position, as in x[:, 0], or a slice, as in x[:, :2], is expected"),
        ("Muon_pt[:2]", "a slice of entries: entry_start= and entry_stop= choose entries"),
        ("rndm*2", "rndm is not supported: random numbers would differ at each reading"),
        ("Muon_pt*2 if nMuon else 0", "\n  where(condition, x, y) chooses between two values"),
        ("MET_pt if nMuon else MET_phi", "\n  where(condition, x, y) chooses between two values"),
        ("nMuon in run", "a list of values, as in x in [1, 2], is expected"),
    ],
)
def test_the_error_is_that_of_the_expression(tree, text, said):
    calls = [
        lambda: tree.arrays([text]),
        lambda: tree.arrays(text),
        lambda: tree.select([text]),
        lambda: next(tree.iterate([text])),
        lambda: forthwith.concatenate(f"{ZMUMU}:events", [text]),
        lambda: forthwith.concatenate(f"{ZMUMU}:events", [text], missing="null"),
        lambda: tree.arrays(["x"], aliases={"x": text}),
        lambda: tree.arrays(["run"], cut=text),
    ]
    for call in calls:
        with pytest.raises(forthwith.RequestError) as caught:
            call()
        assert said in str(caught.value)
        assert f"\n    {text}\n" in str(caught.value)
        assert "^" in str(caught.value)
        assert str(caught.value).endswith(f"\n  in {ZMUMU}:events")


def test_it_is_also_that_of_a_name(tree):
    with pytest.raises(KeyError) as caught:
        tree.arrays(["MET_pt +"])
    error = caught.value
    assert isinstance(error, forthwith.KeyInFileError)
    assert isinstance(error, forthwith.RequestError)
    assert (error.key, list(error.near), error.object) == ("MET_pt +", ["MET_pt", "MET_phi"], "events")
    assert "\n  no branch has this name; did you mean MET_pt, MET_phi?\n" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.key) == (forthwith.RequestKeyError, str(error), "MET_pt +")


@pytest.mark.parametrize("name", ["MET_ptt", "MET_pt.", "Muon/pt.", "MET pt", "Muon_*", "1st"])
def test_mere_names_and_patterns_are_missing_branches(tree, name):
    with pytest.raises(forthwith.KeyInFileError, match=r"^no branch named") as caught:
        tree.arrays([name])
    assert not isinstance(caught.value, forthwith.RequestError)
