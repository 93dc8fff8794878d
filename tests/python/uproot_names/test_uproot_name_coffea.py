"""coffea over forthwith, in uproot's place: NanoEvents and the Runner, in a process of their own."""

import importlib.util
import json
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from conftest import data

import forthwith

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("coffea") is None, reason="coffea is not installed: pip install coffea"
)

SETUP = """
import json, sys, warnings
warnings.simplefilter("ignore")
import forthwith
import forthwith.uproot
forthwith.uproot.install()
import awkward as ak
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoEventsFactory
path = sys.argv[1]
assert uproot is forthwith.uproot
"""


def run(script, path):
    done = subprocess.run([sys.executable, "-c", SETUP + script, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("mode", ["eager", "virtual"])
@pytest.mark.parametrize("given", ["{path: 'events'}", "uproot.open(path), treepath='events'"])
def test_nano_events_have_what_the_branches_have(mode, given):
    differing = run(
        f"""
events = NanoEventsFactory.from_root({given}, schemaclass=BaseSchema, mode={mode!r}).events()
tree = forthwith.open(path)["events"]
differing = []
for name in tree.keys():
    found = ak.without_parameters(ak.materialize(events[name]))
    differing += [] if ak.array_equal(found, ak.without_parameters(tree[name].array()), equal_nan=True) else [name]
assert events.fields == tree.keys()
print(json.dumps(differing))
""",
        data("zmumu.root"),
    )
    assert differing == []


def test_preloaded_columns():
    assert run(
        """
events = NanoEventsFactory.from_root(
    {path: "events"}, schemaclass=BaseSchema, mode="virtual", preload=["run", "Muon_pt"]
).events()
expected = forthwith.open(path)["events"].arrays(["run", "Muon_pt"])
same = [ak.sum(events.run) == ak.sum(expected.run), ak.sum(events.Muon_pt) == ak.sum(expected.Muon_pt)]
print(json.dumps(same, default=bool))
""",
        data("zmumu.root"),
    ) == [True, True]


@pytest.mark.parametrize("align", [False, True])
def test_a_runner_goes_through_a_file(align):
    found, expected = run(
        f"""
class Sums(processor.ProcessorABC):
    def process(self, events):
        return {{"entries": len(events), "muons": int(ak.sum(ak.num(events.Muon_pt)))}}
    def postprocess(self, accumulator):
        return accumulator

runner = processor.Runner(
    processor.IterativeExecutor(status=False), schema=BaseSchema, chunksize=1000, align_clusters={align}
)
found = runner({{"data": {{"treename": "events", "files": [path]}}}}, Sums())
tree = forthwith.open(path)["events"]
expected = {{"entries": tree.num_entries, "muons": int(ak.sum(ak.num(tree["Muon_pt"].array())))}}
print(json.dumps([found, expected]))
""",
        data("zmumu.root"),
    )
    assert found == expected


COLLECTIONS = """
import hashlib, json, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[2] == "forthwith":
    import forthwith.uproot
    forthwith.uproot.install()
import awkward as ak
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory
NanoAODSchema.warn_missing_crossrefs = False
options = json.loads(sys.argv[3])
events = NanoEventsFactory.from_root({sys.argv[1]: "Events"}, schemaclass=NanoAODSchema, **options).events()
found = {}
for name in events.fields:
    plain = ak.without_parameters(ak.materialize(events[name]))
    found[name] = str(plain.type), hashlib.sha256(ak.to_json(plain, nan_string="nan").encode()).hexdigest()
print(json.dumps(found))
"""


def nano(path):
    """A file with collections as a NanoAOD has them: counters, indexes into others, flags, and numbers of the event."""
    with forthwith.recreate(str(path)) as file:
        random = np.random.default_rng(3)
        columns = {
            "run": np.ones(500, "u4"),
            "luminosityBlock": np.ones(500, "u4"),
            "event": np.arange(500, dtype="u8"),
        }
        counters = {}
        sizes = {}
        for name in ("Muon", "Electron", "Jet", "GenPart"):
            sizes[name] = count = random.integers(0, 4, 500)
            for field, dtype in {
                "pt": "f4",
                "eta": "f4",
                "phi": "f4",
                "mass": "f4",
                "charge": "i4",
                "isTight": "?",
            }.items():
                numbers = (random.exponential(30, count.sum()) - 20).astype(dtype)
                columns[f"{name}_{field}"] = ak.unflatten(numbers, count)
                counters[f"{name}_{field}"] = f"n{name}"
        for name, other in (("Muon", "Jet"), ("Electron", "Jet"), ("Jet", "Muon")):
            most = np.repeat(sizes[other], sizes[name])
            column = f"{name}_{other.lower()}Idx"
            columns[column] = ak.unflatten(
                (random.integers(-1, most + 1) - (most == 0)).clip(-1).astype("i4"), sizes[name]
            )
            counters[column] = f"n{name}"
        columns |= {f"MET_{field}": random.exponential(30, 500).astype("f4") for field in ("pt", "phi")}
        columns |= {"HLT_IsoMu24": random.random(500) > 0.5}
        file.mktree("Events", columns, counter=counters, cluster_entries=100)
    return str(path)


@pytest.mark.skipif(importlib.util.find_spec("uproot") is None, reason="uproot is not installed: pip install uproot")
@pytest.mark.parametrize(
    "options",
    [
        {"mode": "eager"},
        {"mode": "virtual"},
        {"mode": "virtual", "preload": ["Muon_pt", "nJet"]},
        {"mode": "eager", "entry_start": 7, "entry_stop": 333},
        {"mode": "virtual", "entry_start": 99, "entry_stop": 101},
    ],
    ids=str,
)
def test_collections_are_those_that_coffea_has_of_uproot(tmp_path, options):
    path, found = nano(tmp_path / "nano.root"), []
    for kind in ("forthwith", "uproot"):
        command = [sys.executable, "-W", "ignore", "-c", COLLECTIONS, path, kind, json.dumps(options)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout.splitlines()[-1]))
    ours, theirs = found
    assert {"Muon", "Electron", "Jet", "GenPart", "MET", "HLT", "run", "event"} <= set(ours)
    assert ours == theirs
