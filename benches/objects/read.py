"""Objects read by forthwith, uproot and C++ ROOT: CPU milliseconds for whole branches, one thread.

    python benches/objects/read.py [ENTRIES]

The file is made by C++ ROOT in a temporary folder. Each reader takes the better of three passes over each branch; forthwith and uproot make
columns of it, C++ ROOT only objects, one at a time. Values of forthwith and uproot are compared where uproot can read the branch.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import awkward as ak

HERE = pathlib.Path(__file__).resolve().parent
MAKE = """
import sys
sys.path.insert(0, {generate!r})
import make
import ROOT
make.load(".", "classes")
make.here = {here!r}
make.load(".", "shapes")
ROOT.shapes({entries})
ROOT.readShapes()
"""


def best(read):
    """CPU milliseconds of the better of three calls, and what the last one returned."""
    times = []
    for _ in range(3):
        began = time.process_time()
        result = read()
        times.append(1000 * (time.process_time() - began))
    return min(times), result


def main(entries):
    import uproot

    import forthwith

    with tempfile.TemporaryDirectory() as folder:
        code = MAKE.format(generate=str(HERE.parent.parent / "tests" / "generate"), here=str(HERE), entries=entries)
        made = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True)
        root = dict(line.split() for line in made.stdout.splitlines() if len(line.split()) == 2)
        path = f"{folder}/shapes.root"
        print(f"{entries} entries; CPU milliseconds\n{'branch':24} {'C++ ROOT':>10} {'uproot':>10} {'forthwith':>10}")
        with forthwith.open(f"{path}:tree") as ours, uproot.open(f"{path}:tree") as theirs:
            for name, milliseconds in root.items():
                branches = [b for b in ours[name].values(recursive=True) if b.has_data] or [ours[name]]
                mine, arrays = best(lambda: [b.array(threads=1) for b in branches if b.interpretation.decoder])  # noqa: B023
                assert all(len(array) == entries for array in arrays)
                try:
                    other, array = best(theirs[name].array) if len(branches) == 1 else (None, None)
                    if array is not None and not ak.array_equal(ak.to_packed(array), ak.to_packed(arrays[0]), same_content_types=False):
                        raise SystemExit(f"{name}: not the values of uproot")
                except (ValueError, NotImplementedError, uproot.DeserializationError):
                    other = None
                text = f"{other:10.1f}" if other else f"{'-':>10}"
                print(f"{name:24} {float(milliseconds):10.1f} {text} {mine:10.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
