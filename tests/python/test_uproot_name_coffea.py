"""coffea over forthwith, in uproot's place: NanoEvents and the Runner, in a process of their own."""

import importlib.util
import json
import subprocess
import sys

import pytest
from conftest import data

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
