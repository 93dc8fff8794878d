"""Cuts, aliases and expressions over RNTuples: by whatever they are asked for, the answer is that of the whole columns."""

import io
import json
import pathlib
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from conftest import data
from range_server import serving

import forthwith

# The same entries with pages in planes of bytes, in two clusters each.
FILES = [data("rntuple/pages-none.root"), data("rntuple/pages-zstd.root")]
NAMES = ["number", "truth", "list", "lists", "text", "optional", "array"]
CUT = "sum(list) * scale > 40 and (number % 7 != 3 or truth)"
ALIASES = {"scale": "0.5 + truth", "twice": "list * 2"}


@pytest.fixture(scope="module")
def whole():
    with forthwith.open(FILES[0]) as file:
        return file["ntuple"].arrays(NAMES)


def passing(arrays):
    scale = 0.5 + ak.to_numpy(arrays.truth)
    cut = ak.to_numpy(ak.sum(ak.values_astype(arrays.list, np.float64), axis=-1)) * scale > 40
    cut &= (ak.to_numpy(arrays.number) % 7 != 3) | ak.to_numpy(arrays.truth)
    assert 10 < np.count_nonzero(cut) < len(cut) - 10
    return cut


def equal(found, wanted):
    return ak.fields(found) == ak.fields(wanted) and found.to_list() == wanted.to_list()


@pytest.fixture(params=["file", "map", "object", "http"])
def ntuple(request):
    """The RNTuple by each way in which bytes come."""
    path = FILES[1]
    content = pathlib.Path(path).read_bytes()
    match request.param:
        case "http":
            with (
                serving({"/pages.root": content}) as server,
                forthwith.open(f"{server.url}/pages.root") as file,
            ):
                yield file["ntuple"]
        case "object":
            with forthwith.open(io.BytesIO(content)) as file:
                yield file["ntuple"]
        case other:
            with forthwith.open(path, **({"source": "map"} if other == "map" else {})) as file:
                yield file["ntuple"]


def test_cuts_leave_the_entries_that_pass(ntuple, whole):
    mask = passing(whole)
    found = ntuple.arrays([*NAMES, "twice"], cut=CUT, aliases=ALIASES)
    assert equal(found[NAMES], whole[mask])
    assert found.twice.to_list() == (whole.list[mask] * 2).to_list()
    # Ranges that begin and end within clusters.
    for start, stop in [(0, 69), (33, 71), (70, 150), (149, 150), (80, 80)]:
        found = ntuple.arrays(NAMES, cut=CUT, aliases=ALIASES, entry_start=start, entry_stop=stop)
        assert equal(found, whole[start:stop][mask[start:stop]]), (start, stop)
    steps = list(ntuple.iterate(["text", "list"], cut=CUT, aliases=ALIASES, step_size=37))
    assert equal(ak.concatenate(steps), whole[mask][["text", "list"]])
    assert ntuple["number"].array(cut="truth", library="np").tolist() == whole.number[whole.truth].to_list()


def test_entries_are_chosen_by_number_and_mask(ntuple, whole):
    mask = np.arange(150) % 11 == 4
    for entries in (mask, np.flatnonzero(mask), np.flatnonzero(mask).tolist()):
        assert equal(ntuple.arrays(NAMES, entries=entries), whole[mask])
    both = mask & ak.to_numpy(whole.truth)
    assert equal(ntuple.arrays(NAMES, entries=mask, cut="truth"), whole[both])


def test_expressions_over_kinds_of_fields(ntuple, whole):
    computed = {"n": "count(list)", "even": "number % 2 == 0", "large": "list[list > 20]", "named": 'text == "bb"'}
    found = ntuple.arrays(list(computed), aliases=computed)
    assert found.n.to_list() == ak.num(whole.list).to_list()
    assert found.even.to_list() == (whole.number % 2 == 0).to_list()
    assert found.large.to_list() == whole.list[whole.list > 20].to_list()
    assert found.named.to_list() == [text == "bb" for text in whole.text.to_list()]


@pytest.mark.parametrize(
    ("cut", "what"),
    [
        ("list > 1", "list"),
        ("nothing > 1", "nothing"),
        ("text + 1 > 0", "text"),
        ("variant > 1", "variant"),
        ("number >", "a value is expected"),
    ],
)
def test_what_cannot_be_a_cut_is_an_error(ntuple, cut, what):
    for read in (
        lambda: ntuple.arrays(["number"], cut=cut),
        lambda: ntuple["number"].array(cut=cut),
        lambda: list(ntuple.iterate(["number"], cut=cut)),
    ):
        with pytest.raises(forthwith.ForthwithError, match=what):
            read()


def test_chains_and_scans_of_rntuples(whole):
    mask = passing(whole)
    chain = forthwith.open([f"{path}:ntuple" for path in FILES])
    twice = ak.concatenate([whole[mask], whole[mask]])
    assert equal(chain.arrays(NAMES, cut=CUT, aliases=ALIASES), twice)
    steps = list(chain.iterate(NAMES, cut=CUT, aliases=ALIASES, step_size=40))
    assert equal(ak.concatenate(steps), twice)
    pl = pytest.importorskip("polars")
    frame = forthwith.scan([f"{path}:ntuple" for path in FILES], ["number", "truth", "list"])
    found = frame.filter(pl.col("truth") & (pl.col("number") > 30)).select("number", "list").collect()
    kept = whole[whole.truth & (whole.number > 30)]
    assert found["number"].to_list() == kept.number.to_list() * 2
    assert found["list"].to_list() == kept.list.to_list() * 2


def test_the_command_cuts_and_computes(whole, tmp_path):
    mask = passing(whole)
    path = f"{FILES[1]}:ntuple"
    names = [name for alias in ALIASES.items() for name in ("--alias", "=".join(alias))]

    def run(*words):
        command = [sys.executable, "-W", "ignore", "-m", "forthwith", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    lines = run("cat", path, "-c", "number,text", "--where", CUT, *names, "--compute", "n=count(list)").splitlines()
    kept = whole[mask]
    found = [json.loads(line) for line in lines]
    assert [row["number"] for row in found] == kept.number.to_list()
    assert [row["text"] for row in found] == kept.text.to_list()
    assert [row["n"] for row in found] == ak.num(kept.list).to_list()
    run("convert", path, str(tmp_path / "kept.parquet"), "-c", "number,list", "--where", CUT, *names)
    with forthwith.open(tmp_path / "kept.parquet") as table:
        assert table["list"].array().to_list() == kept.list.to_list()
