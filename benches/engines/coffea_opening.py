"""NanoEvents of a file: ``coffea_opening.py FILE:TREE MODE [ROUNDS]`` with uproot and with forthwith in its place.

MODE is ``eager``, ``virtual`` or ``profile``: the last one prints where the time goes with forthwith. Each round opens the file
anew. Three kinds of processes take turns: with uproot, with forthwith in its place, and with a forthwith whose answers are all
remembered from a round before, which is the limit of any reader: what is left is coffea's and Awkward Array's. Processor time.
The first round of a process, which imports and compiles, is told apart. Python's collector of garbage goes through all objects
of a process in some rounds and not in others, so that means count with it, and medians without it.
"""

import json
import statistics
import subprocess
import sys

SCRIPT = """
import gc, json, sys, time, warnings
warnings.simplefilter("ignore")
kind, path, inner, mode, rounds = sys.argv[1:6]
if kind != "uproot":
    import forthwith.uproot
    forthwith.uproot.install()
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory
NanoAODSchema.warn_missing_crossrefs = False

def remember():
    tree = uproot.open({path: inner})
    items, types = list(tree.iteritems()), tree.typenames()
    for _, branch in items:
        interpretation, form = branch.interpretation, branch.interpretation.awkward_form(None)
        interpretation.awkward_form = lambda *ignored, form=form: form
        branch.__dict__.update(kept=(interpretation, branch.title, branch.typename))
    tree_class, branch_class = type(tree), type(items[0][1])
    uproot.open = lambda *ignored, **also: tree
    tree_class.iteritems = lambda self, **ignored: iter(items)
    tree_class.typenames = lambda self, **ignored: types
    for at, name in enumerate(("interpretation", "title", "typename")):
        setattr(branch_class, name, property(lambda self, at=at: self.kept[at]))

def opening():
    factory = NanoEventsFactory.from_root({path: inner}, schemaclass=NanoAODSchema, mode=mode)
    return factory.events()

def timed():
    began = time.process_time()
    kept = opening()
    return time.process_time() - began

if kind == "remembered":
    remember()
found = {"first": [timed()]}
timed()
found["again"] = [timed() for _ in range(int(rounds))]
gc.collect()
gc.disable()
found["without collections"] = [timed() for _ in range(int(rounds))]
print(json.dumps(found))
"""

PROFILE = """
import cProfile, pstats, sys, warnings
warnings.simplefilter("ignore")
kind, path, inner, rounds = sys.argv[1:5]
if kind == "forthwith":
    import forthwith.uproot
    forthwith.uproot.install()
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory

def open_once():
    return NanoEventsFactory.from_root({path: inner}, schemaclass=NanoAODSchema, mode="virtual").events()

open_once()
profile = cProfile.Profile()
profile.enable()
for _ in range(int(rounds)):
    open_once()
profile.disable()
pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
pstats.Stats(profile).sort_stats("tottime").print_stats(40)
"""

KINDS = ("uproot", "forthwith", "remembered")


def main(what, mode, rounds):
    """Means or medians of all three, in turns, and how much faster the other two are than uproot."""
    path, inner = what.rsplit(":", 1)
    if mode == "profile":
        for kind in ("forthwith", "uproot"):
            subprocess.run([sys.executable, "-c", PROFILE, kind, path, inner, str(rounds)], check=True)
        return
    seconds = {}
    for _ in range(5):
        for kind in KINDS:
            command = [sys.executable, "-c", SCRIPT, kind, path, inner, mode, str(rounds)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for name, times in found.items():
                seconds.setdefault(name, {}).setdefault(kind, []).extend(times)
    for name, kinds in seconds.items():
        middle = statistics.mean if name == "again" else statistics.median
        theirs, ours, least = (middle(kinds[kind]) * 1000 for kind in KINDS)
        print(
            f"{mode}, {name}: uproot {theirs:.1f} ms, forthwith {ours:.1f} ms, all remembered {least:.1f} ms:"
            f" {theirs / ours:.2f} times uproot of {theirs / least:.2f} that are possible"
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 12)
