"""What chains list, in the way that trees do."""

import numpy as np
import pytest

import forthwith


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("listings")
    for part in range(3):
        columns = {"run": np.full(4, part, np.int32), "pt": np.arange(4) / 2}
        if part == 2:
            columns["late"] = np.arange(4, dtype=np.int16)
        with forthwith.recreate(folder / f"{part}.root") as file:
            file["t"] = columns
    return folder


def test_with_and_close(folder):
    with forthwith.open(f"{folder}/*.root:t") as chain:
        assert chain["run"].array().tolist() == [0] * 4 + [1] * 4 + [2] * 4
    chain.close()
    assert chain.num_entries == 12
    with pytest.raises(ZeroDivisionError), chain:
        1 / 0  # noqa: B018


def test_listings_are_those_of_a_tree(folder):
    chain = forthwith.open(f"{folder}/*.root:t")
    with forthwith.open(f"{folder}/0.root:t") as tree:
        assert chain.keys() == list(chain.iterkeys()) == tree.keys() == ["run", "pt"]
        assert chain.typenames() == dict(chain.itertypenames()) == tree.typenames()
        assert chain.aliases == tree.aliases == {}
        assert forthwith.open(f"{folder}/[01].root:t").schema == tree.schema
        assert chain.explain(filter_name="pt") == tree.explain(filter_name="pt") == chain["pt"].explain()
        assert chain.num_entries_for("16 B", ["pt"]) == tree.num_entries_for("16 B", ["pt"])
        for name, branch in chain.items():
            assert (branch.name, branch.path, branch.title, branch.typename) == (
                name,
                tree[name].path,
                tree[name].title,
                tree[name].typename,
            )
    assert [name for name, _ in chain.iteritems(filter_name="p*")] == ["pt"]
    assert [branch.array().tolist() for branch in chain.itervalues()] == [
        branch.array().tolist() for branch in chain.values()
    ]
    assert {name: branch.array(library="np").sum() for name, branch in chain.items()} == {"run": 12, "pt": 9}
    assert chain.get("run").array().tolist() == chain["run"].array().tolist()
    assert chain.get("none") is None
    assert chain.get("none", 3) == 3
    assert len(chain) == len(list(chain)) == 3
    with pytest.raises(TypeError, match="filter_nane"):
        chain.items(filter_nane="x")


def test_branches_that_the_first_tree_lacks(folder):
    chain = forthwith.Chain(f"{folder}/*.root:t", missing="null")
    assert chain.typenames() == {"run": "int32_t", "pt": "double", "late": "int16_t"}
    assert "late" in chain
    assert "none" not in chain
    assert chain.get("none") is None
    late = chain.get("late")
    assert late.typename == dict(chain.items())["late"].typename == "int16_t"
    assert late.path == "late"
    assert late.array().tolist() == [None] * 8 + [0, 1, 2, 3]
    with pytest.raises(forthwith.KeyInFileError, match="none"):
        chain["none"].typename  # noqa: B018
    strict = forthwith.open(f"{folder}/*.root:t")
    assert "late" not in strict
    assert strict.get("late") is None
