"""Names of members with dots, among the names of columns as within expressions."""

import pytest

import forthwith

ROWS = {
    "run": [1, 2],
    "muons": [[{"pt": 1.0, "q": 1}], []],
    "met": [{"pt": 1.0, "phi": 2.0}, {"pt": 3.0, "phi": 4.0}],
    "a.b": [5, 6],
}
TYPES = {"run": "int32", "muons": "var * {pt: float32, q: int8}", "met": "{pt: float32, phi: float32}", "a.b": "int64"}


@pytest.fixture(params=["ntuple", "parquet", "avro"], scope="module")
def table(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dotted")
    rows = dict(ROWS)
    if request.param == "ntuple":
        del rows["a.b"]
        with forthwith.recreate(folder / "t.root") as file:
            file.mkrntuple("t", {name: TYPES[name] for name in rows}).extend(rows)
        path = f"{folder}/t.root:t"
    elif request.param == "parquet":
        forthwith.write_parquet(folder / "t.parquet", rows)
        path = f"{folder}/t.parquet"
    else:
        del rows["a.b"]
        forthwith.write_avro(folder / "t.avro", rows)
        path = f"{folder}/t.avro"
    with forthwith.open(path) as table:
        yield table


def test_names_are_those_of_expressions(table):
    read = table.arrays(["met.pt", "muons.pt", "met.pt * 2", "met/phi"], how=dict)
    assert {name: array.tolist() for name, array in read.items()} == {
        "met.pt": [1, 3],
        "muons.pt": [[1], []],
        "met.pt * 2": [2, 6],
        "met/phi": [2, 4],
    }
    assert table.arrays("met.pt", cut="met.pt > 2")["met.pt"].tolist() == [3]
    assert [step["met.pt"].tolist() for step in table.iterate(["met.pt"], step_size=1)] == [[1], [3]]
    assert table.select(["met.pt"]).arrays()["met.pt"].tolist() == [1, 3]
    assert table.arrays(["met.pt"], aliases={"met.pt": "run * 10"})["met.pt"].tolist() == [10, 20]
    with pytest.raises(forthwith.KeyInFileError, match="did you mean"):
        table.arrays(["met.ptt"])


def test_a_column_of_the_name_comes_first(tmp_path):
    forthwith.write_parquet(tmp_path / "t.parquet", {"a.b": [5, 6], "a": [{"b": 7}, {"b": 8}]})
    with forthwith.open(tmp_path / "t.parquet") as table:
        assert table.arrays(["a.b"])["a.b"].tolist() == [5, 6]
        assert table.arrays(["a/b"])["a/b"].tolist() == [7, 8]


def test_chains_have_them(tmp_path):
    forthwith.write_parquet(tmp_path / "a.parquet", {"met": ROWS["met"]})
    forthwith.write_parquet(tmp_path / "b.parquet", {"run": [1]})
    assert forthwith.concatenate(tmp_path / "a.parquet", ["met.pt"])["met.pt"].tolist() == [1, 3]
    both = forthwith.concatenate(str(tmp_path), ["met.pt"], missing="null")
    assert both["met.pt"].tolist() == [1, 3, None]


@pytest.mark.parametrize("missing", ["raise", "null"])
def test_an_alias_with_a_dot_is_no_path(tmp_path, missing):
    path = tmp_path / "t.parquet"
    forthwith.write_parquet(path, [{"i": at, "met": {"pt": at}} for at in range(4)])
    found = forthwith.concatenate(
        [path, path], ["met.pt"], missing=missing, aliases={"met.pt": "i + 50"}, cut="met.pt > 52"
    )
    assert found.to_list() == [{"met.pt": 53}] * 2
