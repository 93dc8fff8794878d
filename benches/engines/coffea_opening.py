"""NanoEvents of a file: ``coffea_opening.py FILE:TREE MODE [ROUNDS]`` with uproot and with forthwith in its place.

Each round opens the file anew, in a process of one of the two. MODE is ``eager``, ``virtual`` or ``profile``: the last one
prints where the time goes with forthwith. Processor time; the first round, which imports and compiles, is told apart.
"""

import json
import statistics
import subprocess
import sys

SCRIPT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
kind, path, inner, mode, rounds = sys.argv[1:6]
if kind == "forthwith":
    import forthwith.uproot
    forthwith.uproot.install()
import uproot
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory
NanoAODSchema.warn_missing_crossrefs = False
times = []

def open_once():
    factory = NanoEventsFactory.from_root({path: inner}, schemaclass=NanoAODSchema, mode=mode)
    return factory.events()

def bare():
    with uproot.open({path: inner}) as tree:
        return tree.num_entries

def interpretations():
    with uproot.open({path: inner}) as tree:
        return [branch.interpretation for branch in tree.branches]

found = {}
for name, act in {"events": open_once, "open": bare, "interpretations": interpretations}.items():
    times = []
    for at in range(int(rounds)):
        began = time.process_time()
        kept = act()
        times.append(time.process_time() - began)
        del kept
    found[name] = times
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


def main(what, mode, rounds):
    """Medians of both, in turns."""
    path, inner = what.rsplit(":", 1)
    if mode == "profile":
        for kind in ("forthwith", "uproot"):
            subprocess.run([sys.executable, "-c", PROFILE, kind, path, inner, str(rounds)], check=True)
        return
    seconds = {}
    for _ in range(5):
        for kind in ("forthwith", "uproot"):
            command = [sys.executable, "-c", SCRIPT, kind, path, inner, mode, str(rounds)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for name, times in found.items():
                seconds.setdefault((name, "first"), {}).setdefault(kind, []).append(times[0])
                seconds.setdefault((name, "again"), {}).setdefault(kind, []).extend(times[1:])
    for (name, when), kinds in seconds.items():
        ours, theirs = (statistics.median(kinds[kind]) * 1000 for kind in ("forthwith", "uproot"))
        print(f"{mode} {name}, {when}: forthwith {ours:.1f} ms, uproot {theirs:.1f} ms: {theirs / ours:.1f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5)
