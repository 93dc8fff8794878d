"""Reads every column that has a golden value and compares the two.

    python tests/goldens.py [--every-file] [--only GLOB] [--skips] FOLDER ...

A folder holds data files with ``<name>.golden.json`` beside them; what a golden means stands in ``canonical.py``. A golden
with a ``try`` list belongs to a damaged file: it may give an error or values, but no panic, no hang, no flood of memory, and
no wrong values where the golden forbids them.

A golden that C++ ROOT did not confirm exactly is uproot's word. Where uproot is known to say something else than C++ ROOT
(``as_uproot``, and ``known_differences.json`` for single columns), that is taken into account, and counted.

A column that forthwith says it does not support is skipped, and the reasons are counted. ``--every-file`` makes a file of
which nothing could be compared a failure. The last line is ``N passed, N failed, N skipped``; the exit status is 0 only if
nothing failed and something passed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import faulthandler
import fnmatch
import functools
import json
import math
import multiprocessing
import os
import pathlib
import re
import resource
import sys
import tempfile
import time

import awkward as ak

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "generate")]
import canonical
import pieces

import forthwith

SECONDS = 60  # for one column; a hang ends the run with a traceback
MEMORY = 1 << 30  # a damaged file may not take more than this


class Counts:
    """The results so far."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []
        self.differences = []

    def passes(self):
        self.passed += 1

    def fails(self, where, why):
        self.failures.append(where)
        print(f"FAIL {where}: {why}"[:400], flush=True)

    def skips_for(self, where, why):
        self.skips.append((where, why))

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips
        self.differences += other.differences

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


@contextlib.contextmanager
def time_limit(seconds):
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def columns_of(golden):
    """(tree, column, golden record) for every column with a value."""
    for kind in ("trees", "rntuples"):
        for tree, table in (golden.get(kind) or {}).items():
            for name, want in table.get("columns", {}).items():
                if "sha256" in want:
                    yield tree, name, want
    for name, want in golden.get("columns", {}).items():
        if "sha256" in want:
            yield None, name, want


def branch(file, tree, name):
    """A column of a tree, or of a file that is one table, as Avro's are."""
    return (file if tree is None else file[tree])[name]


def stored(branch):
    """The values of a column as the file stores them: goldens do not have dates, times and decimals as what they mean."""
    return branch.array(logical=False)


def same_type(got, want):
    """Whether two type strings mean the same: lengths of fixed-size lists and types of empty things aside."""
    got, want = (re.sub(r"\b\d+ \* ", "var * ", t) for t in (got, want))
    want = re.sub(r"decimal\[-?\d+,-?\d+\]", "string", want)
    if got == want:
        return True
    pieces = [".*".join(re.escape(p) for p in t.split("unknown")) for t in (got, want)]
    return bool(re.fullmatch(pieces[0], want) or re.fullmatch(pieces[1], got))


def known_differences():
    """Columns of files in the corpus for which the golden is wrong: (pattern, reason)."""
    return list(json.loads((HERE / "known_differences.json").read_text()).items())


def as_uproot(array, kind):
    """What uproot makes of an array where C++ ROOT says otherwise: counters without a sign, or dimensions run together."""

    def unsigned(layout, **_):
        if layout.is_numpy and layout.data.dtype == "int32":
            return ak.contents.NumpyArray(layout.data.view("uint32"))
        return None

    def counters(layout, **_):
        # Members that count the items of others, beside members that have a sign in the golden as well.
        if not layout.is_record or layout.is_tuple:
            return None
        contents = [
            ak.transform(unsigned if content.is_numpy and f'"{name}": uint32' in kind else counters, content, highlevel=False)
            for name, content in zip(layout.fields, layout.contents, strict=True)
        ]
        return ak.contents.RecordArray(contents, layout.fields, layout.length, parameters=layout.parameters)

    def joined(layout, **_):
        if layout.is_numpy and layout.data.ndim > 2:
            return ak.contents.NumpyArray(
                layout.data.reshape(layout.length, math.prod(layout.data.shape[1:]))
            ).to_RegularArray()
        if layout.is_regular and layout.content.is_regular:
            while layout.content.is_regular:
                inner = layout.content
                layout = ak.contents.RegularArray(inner.content, layout.size * inner.size, layout.length)
            return layout
        return None

    return [ak.transform(change, array) for change in (unsigned, counters, joined)]


def as_meant(array):
    """Values as what they mean: days and times, decimals as text, numbers of 16 bits. That is how goldens of Parquet have them."""

    def is_decimal(layout):
        while layout.is_option:
            layout = layout.content
        return (layout.parameter("logical") or "").startswith("decimal")

    def meant(layout, **_):
        if layout.is_record and any(map(is_decimal, layout.contents)):
            # The goldens' decimals were made text by making the record anew, whose fields all became optional.
            contents = [ak.transform(meant, content, highlevel=False) for content in layout.contents]
            options = [c if c.is_option else ak.contents.UnmaskedArray(c) for c in contents]
            return ak.contents.RecordArray(options, layout.fields, layout.length)
        logical = layout.parameter("logical")
        if logical is None:
            return None
        kind, _, rest = logical.partition("[")
        if kind == "decimal":
            digits = int(rest.rstrip("]").split(",")[1])
            values = ak.Array(layout.copy(parameters=None) if layout.is_numpy else layout).to_list()
            return ak.from_iter([decimal_text(value, digits) for value in values], highlevel=False)
        if kind == "date":
            return ak.contents.NumpyArray(layout.data.astype("int64").view("datetime64[D]"))
        if kind in ("timestamp", "time"):
            return ak.contents.NumpyArray(layout.data.astype("int64").view(f"datetime64[{rest[:2]}]"))
        if kind == "float16":
            return ak.contents.NumpyArray(layout.data.view("float16"))
        return None

    return ak.transform(meant, array)


def decimal_text(value, digits):
    """A decimal with an exact number of digits behind the point."""
    number = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
    text = f"{abs(number):0{digits + 1}d}"
    text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return "-" + text if number < 0 else text


def difference(array, want):
    """Why an array is not what the golden says, or None."""
    if len(array) != want["entries"]:
        return f"{len(array)} entries, expected {want['entries']}"
    digest = canonical.digest(array)
    if digest == (want.get("also_accepted") or {}).get("sha256"):
        return None
    kind = canonical.type_of(array)
    if digest != want["sha256"]:
        return f"values differ: type {kind}, expected {want['type']}; begins {array[:5].to_list()}, expected {want.get('head')}"
    if not same_type(kind, want["type"]):
        return f"type {kind}, expected {want['type']}"
    return None


def known(where, array, want):
    """Why a difference from a golden is none from C++ ROOT, or None."""
    if "root" in want.get("agreed_by", []) and canonical.digest(array) != want["sha256"]:
        return None
    if any(difference(other, want) is None for other in as_uproot(array, want.get("type", ""))):
        return "sign or dimensions as C++ ROOT has them"
    matches = (reason for pattern, reason in known_differences() if fnmatch.fnmatchcase(where, pattern))
    return next(matches, None)


def check_file(path, golden, counts):
    """Compares all columns of one file; the number of columns compared."""
    before = counts.passed + len(counts.failures)
    with forthwith.open(str(path)) as file:
        if "keys" in golden:
            got, want = sorted(file.classnames().items()), sorted(map(tuple, golden["keys"]))
            if got == want:
                counts.passes()
            else:
                counts.fails(f"{path.name} keys", f"{got}, expected {want}")
        for tree, name, want in columns_of(golden):
            where = f"{path.name}:{tree}/{name}"
            with time_limit(SECONDS):
                try:
                    array = stored(branch(file, tree, name))
                    array = as_meant(array) if golden.get("format") == "parquet" else array
                    why = difference(array, want)
                    if why and (reason := known(where, array, want)):
                        counts.differences.append(reason)
                        why = None
                except (
                    forthwith.UnsupportedError,
                    forthwith.MissingFileError,
                ) as error:  # baskets in a file that is not there
                    counts.skips_for(where, str(error))
                    continue
                except (KeyboardInterrupt, SystemExit):
                    raise
                except BaseException as error:  # a panic of the extension is no Exception
                    why = f"{type(error).__name__}: {error}"
            if why is None:
                counts.passes()
            else:
                counts.fails(where, why)
    return counts.passed + len(counts.failures) - before


def check_damaged(path, golden, counts):
    """One damaged file: an error or values, nothing else."""
    problem, errors = None, 0
    memory = peak_memory()
    with time_limit(SECONDS):
        for tree, name, want in golden["try"]:
            try:
                with forthwith.open(str(path)) as file:
                    array = stored(branch(file, tree, name))
                    same = want is None or canonical.digest(array) == want["sha256"]
                    if not same and len(array) >= want["entries"] and golden.get("wrong_values") == "fail":
                        problem = f"wrong values of {tree}/{name} without an error"
            except Exception as error:
                errors += 1
                if not str(error).strip():
                    problem = f"an error without a message: {error!r}"
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                problem = f"{type(error).__name__}: {error}"
    if peak_memory() - memory > MEMORY:
        problem = "took more than 1 GiB of memory"
    elif golden.get("must_error") and not errors:
        problem = problem or "no error, but the damage cannot be read around"
    if problem:
        counts.fails(path.name, problem)
    else:
        counts.passes()
    return 1


@contextlib.contextmanager
def whole(path):
    """The path, or that of a temporary file restored from what is kept of a sparse one."""
    sparse = path.with_name(path.name + ".sparse")
    if path.exists() or not sparse.exists():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        restored = pathlib.Path(folder) / path.name
        pieces.restore(sparse, restored)
        yield restored


def peak_memory():
    """Most bytes this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def shorten(reason):
    """A reason without the place, so that equal reasons count together."""
    return reason.split("\n", maxsplit=1)[0][:110]


def check(golden_path, only, every_file):
    """The results of one file; nothing if it is none of those that are wanted."""
    golden = json.loads(golden_path.read_text())
    path = golden_path.with_name(golden["file"])
    if golden.get("format", "root") not in ("root", "rntuple", "avro", "parquet") or not fnmatch.fnmatch(
        path.name, only
    ):
        return None
    counts = Counts()
    try:
        with whole(path) as path:
            compared = (check_damaged if "try" in golden else check_file)(path, golden, counts)
    except forthwith.ForthwithError as error:
        counts.fails(path.name, f"{type(error).__name__}: {error}")
        return counts
    if every_file and not compared and not golden.get("recursive"):
        counts.fails(path.name, "nothing of this file could be compared")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--every-file", action="store_true", help="a file of which nothing is compared is a failure")
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of data files")
    parser.add_argument("--skips", action="store_true", help="list every skipped column")
    args = parser.parse_args()

    total = Counts()
    processes = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    with concurrent.futures.ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for folder in args.folders:
            began, files, counts = time.monotonic(), 0, Counts()
            goldens = sorted(folder.glob("*.golden.json"))
            for found in pool.map(functools.partial(check, only=args.only, every_file=args.every_file), goldens):
                if found is not None:
                    files += 1
                    counts.add(found)
            print(f"{folder}: {files} files, {counts} ({time.monotonic() - began:.1f} s)", flush=True)
            total.add(counts)

    for reason, count in collections.Counter(total.differences).most_common():
        print(f"  passed {count}, unlike uproot: {reason}")
    reasons = collections.Counter(shorten(why) for _, why in total.skips)
    for reason, count in reasons.most_common():
        print(f"  skipped {count}: {reason}")
    if args.skips:
        for where, why in total.skips:
            print(f"SKIP {where}: {why}")
    print(total)
    return 1 if total.failures or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
