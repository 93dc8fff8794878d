"""Every way in which Python's libraries take data: of a column its values, of a table its columns, or an error that says
what to call. Nothing is taken for empty, and nothing for the names it iterates over, but where iteration is asked for."""

import io

import awkward as ak
import hist
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import data

import forthwith

X, LISTS, TEXT = np.arange(1, 6) / 2, [[1], [], [2, 3], [], [4]], ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def avro():
    place = io.BytesIO()
    forthwith.write_avro(place, {"x": X, "lists": ak.Array(LISTS), "text": TEXT})
    with forthwith.open(place) as table:
        yield table


@pytest.fixture(scope="module")
def parquet():
    place = io.BytesIO()
    forthwith.write_parquet(
        place, {"x": pa.array(X), "lists": pa.array(LISTS), "text": TEXT, "some": pa.array([1, None, 3, 4, 5])}
    )
    with forthwith.open(place) as table:
        yield table


@pytest.fixture(scope="module")
def events():
    with forthwith.open(data("zmumu.root")) as file:
        yield file


@pytest.fixture(scope="module")
def chain():
    return forthwith.Chain([data("zmumu.root:events")] * 2)


@pytest.fixture(scope="module")
def group():
    with forthwith.open(data("objects.root:split")) as tree:
        yield tree["event"]


# The results that these make of a mapping of objects, they make of a dict, too.
MAPPINGS = ("pd.Series", "assign", "pa.chunked_array", "pl.DataFrame")

# The kind of each: numbers, lists or anything else in one column, or several columns; and its columns as an Awkward Array.
SUBJECTS = {
    "leaf": ("numbers", lambda get: get("events")["events/MET_pt"]),
    "leaf of fixed lists": ("numbers", lambda get: get("events")["events/PV_xyz"]),
    "leaf of lists": ("lists", lambda get: get("events")["events/Muon_pt"]),
    "field of Avro": ("numbers", lambda get: get("avro")["x"]),
    "lists of Avro": ("lists", lambda get: get("avro")["lists"]),
    "texts": ("lists", lambda get: get("avro")["text"]),
    "field of Parquet": ("numbers", lambda get: get("parquet")["x"]),
    "missing values": ("lists", lambda get: get("parquet")["some"]),
    "branch of a chain": ("numbers", lambda get: get("chain")["MET_pt"]),
    "lists of a chain": ("lists", lambda get: get("chain")["Muon_pt"]),
    "tree": ("table", lambda get: get("events")["events"]),
    "Avro": ("table", lambda get: get("avro")),
    "Parquet": ("table", lambda get: get("parquet")),
    "selection": ("table", lambda get: get("events")["events"].select(["MET_pt", "run"])),
    "selection of one": ("table", lambda get: get("events")["events"].select("MET_pt")),
    "chain": ("table", lambda get: get("chain")),
    "branches of a chain": ("table", lambda get: get("chain")[["MET_pt", "run"]]),
    "group": ("table", lambda get: get("group")),
    "file": ("file", lambda get: get("events")),
    "directory": ("file", lambda get: get("events")["skim"]),
}


def filled(what):
    return hist.Hist.new.Reg(3, 0, 1e6).Double().fill(np.ravel(what)).sum(flow=True)


def written(what, writer):
    place = io.BytesIO()
    writer(place, what)
    with forthwith.open(place) as table:
        return table.arrays()


# Arrays of numbers; of one column, any.
ARRAYS = {
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.ravel": lambda what: np.asarray(np.ravel(what)).reshape(np.shape(what)),
    "np.stack": lambda what: np.stack([what, what])[1],
    "np.from_dlpack": np.from_dlpack,
    "memoryview of values": lambda what: np.asarray(memoryview(what.__array__())),
    "ak.Array": ak.Array,
    "ak.zip": lambda what: ak.zip({"a": what}, depth_limit=1)["a"],
}
FLAT = {
    "pd.Series": pd.Series,
    "pd.DataFrame": lambda what: pd.DataFrame(what)[0],
    "pd.DataFrame of a dict": lambda what: pd.DataFrame({"a": what})["a"],
    "assign": lambda what: pd.DataFrame(index=range(len(what))).assign(a=what)["a"],
    "pd.Index": pd.Index,
}
COLUMNS = {
    "pa.array": pa.array,
    "pa.Table of a dict": lambda what: pa.table({"a": what})["a"],
    "written column": lambda what: written({"a": what}, forthwith.write_parquet)["a"],
}
TABLES = {
    "pa.table": pa.table,
    "pa.chunked_array": pa.chunked_array,
    "pl.DataFrame": pl.DataFrame,
    "pl.Series": pl.Series,
    "pl.from_arrow": pl.from_arrow,
    "pd.DataFrame.from_arrow": pd.DataFrame.from_arrow,
    "pa.RecordBatchReader": lambda what: pa.RecordBatchReader.from_stream(what).read_all(),
    "write_parquet": lambda what: written(what, forthwith.write_parquet),
}


def listed(result):
    """Values as Python has them, so that all libraries' are alike."""
    if isinstance(result, pd.DataFrame):
        result = pa.table({name: pa.array(column) for name, column in result.items()})
    if isinstance(result, pl.DataFrame):
        result = result.rows(named=True)
    if isinstance(result, (pa.Array, pa.ChunkedArray, pa.Table)):
        return result.to_pylist()
    return result.to_list() if isinstance(result, pl.Series) else ak.to_list(result)


def values(what):
    return ak.to_list(what.array())


@pytest.mark.parametrize("take", [*ARRAYS, *FLAT])
@pytest.mark.parametrize("name", SUBJECTS)
def test_arrays(name, take, request):
    kind, make = SUBJECTS[name]
    what, act = make(request.getfixturevalue), {**ARRAYS, **FLAT}[take]
    if kind == "numbers" and take in FLAT and np.ndim(what) > 1:
        return  # pandas makes columns of them, or refuses them as it does other arrays
    if kind == "numbers":
        taken = act(what)
        assert listed(taken) == values(what)
        assert len(taken) == len(what)
    elif kind != "file" or take not in MAPPINGS:
        if name == "texts" and not take.startswith(("ak.", "np.from")):
            assert listed(act(what)) == TEXT
            return
        says = {"lists": r"\.array\(", "table": r"\.arrays\(\)", "file": r'\["name"\]'}
        with pytest.raises(TypeError, match=says[kind]):
            act(what)


@pytest.mark.parametrize("take", COLUMNS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_columns_of_any_type(name, take, request):
    kind, make = SUBJECTS[name]
    what = make(request.getfixturevalue)
    if kind in ("numbers", "lists"):
        assert listed(COLUMNS[take](what)) == values(what)
    elif kind == "file" or take != "written column":
        with pytest.raises(TypeError, match=r'\.arrays\(\)|\["name"\]'):
            COLUMNS[take](what)


@pytest.mark.slow
@pytest.mark.parametrize("take", TABLES)
@pytest.mark.parametrize("name", SUBJECTS)
def test_tables(name, take, request):
    kind, make = SUBJECTS[name]
    what = make(request.getfixturevalue)
    if kind == "file":
        if take not in MAPPINGS:
            with pytest.raises((TypeError, ValueError)):
                TABLES[take](what)
        return
    wanted = what.arrays(library="arrow")
    taken = TABLES[take](what)
    assert len(taken) == wanted.num_rows > 0
    assert listed(taken) == wanted.to_pylist()


@pytest.mark.parametrize("name", SUBJECTS)
def test_lengths_and_iteration(name, request):
    kind, make = SUBJECTS[name]
    what = make(request.getfixturevalue)
    assert bool(what)
    if kind in ("numbers", "lists"):
        assert len(what) == len(what.array())
        for take in (list, sum, max, sorted, set, tuple, ak.from_arrow, forthwith.from_iter):
            with pytest.raises(TypeError, match=r"\.array\("):
                take(what)
        # It has `to_list`, which Awkward Array takes.
        if hasattr(what, "to_list"):
            assert ak.from_iter(what).to_list() == what.to_list() == ak.to_list(what.array())
        if kind == "numbers":
            assert filled(what) == np.size(np.asarray(what))
    elif name != "chain":
        assert list(what) == what.keys()
        with pytest.raises(TypeError):
            forthwith.from_iter(what)
    for wrong in (0, -1, slice(0, 3), 1.5, None, (0, 1)):
        with pytest.raises(TypeError, match=r"by name|\.array\("):
            what[wrong]
    with pytest.raises(TypeError):
        reversed(what)[0]
    assert "nothing of this name" not in what


def test_branches_of_a_chain_that_begin_missing(tmp_path):
    forthwith.write_parquet(tmp_path / "a.parquet", {"x": [1, 2]})
    forthwith.write_parquet(tmp_path / "b.parquet", {"x": [3], "y": [4]})
    both = forthwith.Chain(str(tmp_path), missing="null")
    assert np.asarray(both["x"]).tolist() == [1, 2, 3]
    assert pa.array(both["y"]).to_pylist() == [None, None, 4]
    with pytest.raises(TypeError, match="missing values"):
        np.asarray(both["y"])


def test_selections_of_chains_are_mappings(chain):
    some = chain.select(filter_name="MET_*", entry_start=3000, entry_stop=-1)
    assert list(some) == ["MET_pt", "MET_phi"]
    assert "MET_pt" in some
    assert some.num_entries == 4199 == len(some.arrays())
    one = some["MET_phi"]
    assert len(one) == 4199
    assert np.array_equal(np.asarray(one), chain["MET_phi"].array()[3000:-1])
    assert some[["MET_phi"]].keys() == ["MET_phi"]
    with pytest.raises(forthwith.KeyInFileError, match="did you mean MET_pt"):
        some["MET_p"]
    shown = io.StringIO()
    some.show(stream=shown)
    assert "MET_phi" in shown.getvalue()
    assert "MET_phi" in some._repr_html_()
    assert chain["run"].name == "run"


def test_columns_that_could_have_missing_values(parquet):
    assert parquet["x"].form_json.startswith('{"class":"IndexedOptionArray"')
    assert np.asarray(parquet["text"]).tolist() == TEXT
    place = io.BytesIO()
    forthwith.write_parquet(place, {"t": pa.array(["a", None])})
    with forthwith.open(place) as table, pytest.raises(TypeError, match="missing"):
        np.asarray(table["t"])
