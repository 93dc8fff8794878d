"""Object branches of real files, read by forthwith and uproot.

    python benches/objects/real.py [--rounds N] [--json FILE] FOLDER…

Of every ROOT file in the folders, and of every tree in it, one branch of each type that uproot does not read as plain
numbers: the one with most bytes. Both read it from an opened file with one thread in turns, into Awkward Arrays, or objects where
uproot has no more than those; the best processor time of each counts. What is in the arrays has to be the same number for number,
or the branch is listed. The first read of each, which compiles programs here and makes classes there, is not counted.

What uproot reads without decoding, as structures of NumPy that repeat in the bytes of a basket, is counted apart from what it
decodes: by AwkwardForth, or in Python. Wanted: a Python with forthwith, uproot and awkward.
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys
import time
import warnings

import awkward as ak
import numpy as np
import uproot

import forthwith

# Longer reads of the other side are not repeated.
PATIENCE = 2.0


def kind(interpretation):
    """How uproot reads a branch."""
    if isinstance(interpretation, uproot.AsJagged):
        interpretation = interpretation.content
        if isinstance(interpretation, uproot.AsDtype) and interpretation.from_dtype.names is None:
            return None
    if isinstance(interpretation, uproot.interpretation.objects.AsStridedObjects):
        return "strided"
    if isinstance(interpretation, uproot.AsDtype):
        return None
    if isinstance(interpretation, uproot.AsStrings):
        return "strings"
    return "objects" if isinstance(interpretation, uproot.AsObjects) else None


def trees(file):
    """The trees of a file, the highest cycle of each."""
    for name, classname in file.classnames(cycle=False, recursive=True).items():
        if classname in ("TTree", "TNtuple", "TNtupleD"):
            try:
                yield name, file[name]
            except Exception:
                continue


def chosen(tree):
    """The largest branch of each type."""
    found = {}
    for path, branch in tree.iteritems(recursive=True):
        try:
            how = None if branch.branches else kind(branch.interpretation)
        except Exception:
            continue
        if how is not None and branch.num_entries:
            key = how, branch.typename
            if key not in found or found[key][1].uncompressed_bytes < branch.uncompressed_bytes:
                found[key] = path, branch
    return [(how, typename, *branch) for (how, typename), branch in found.items()]


def timed(read):
    """The result of a call, and milliseconds of processor."""
    begun = time.process_time()
    result = read()
    return result, 1000 * (time.process_time() - begun)


def theirs_of(branch):
    """The function that reads a branch by uproot: as an Awkward Array, otherwise as objects."""
    for library in ("ak", "np"):

        def read(library=library):
            return branch.array(library=library, decompression_executor=LOCAL, interpretation_executor=LOCAL)

        try:
            return library, read, *timed(read)
        except Exception as error:
            problem = error
    raise problem


LOCAL = uproot.source.futures.TrivialExecutor()


def leaves(layout):
    """The numbers of an array, of lists their lengths and then their items."""
    if layout.is_list:
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets)
        yield np.diff(offsets)
        yield from leaves(layout.content[: offsets[-1]])
    elif layout.is_record:
        for content in layout.contents:
            yield from leaves(content[: layout.length])
    elif layout.is_numpy:
        yield np.asarray(layout.data)
    elif layout.is_indexed or layout.is_option:
        yield from leaves(ak.to_packed(layout.project()))
    elif layout.is_unknown:
        yield np.zeros(0)
    else:
        raise TypeError(type(layout).__name__)


def same(mine, theirs):
    """Whether two arrays have the same numbers in the same lists, whatever the names of fields, or why that is not known."""
    try:
        if ak.array_equal(mine, theirs, equal_nan=True):
            return "equal"
    except Exception:
        pass
    try:
        one = [leaf.reshape(-1) for leaf in leaves(mine.layout) if leaf.size]
        other = [leaf.reshape(-1) for leaf in leaves(theirs.layout) if leaf.size]
    except Exception as error:
        return f"not compared: {error}"
    # Lists of one length have no lengths here and there.
    if len(one) == len(other) and all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(one, other, strict=True)
    ):
        return "equal"
    known = {leaf.tobytes() for leaf in one}
    return "equal in parts" if any(leaf.tobytes() in known for leaf in other) else "differs"


def file_rows(path, rounds):
    """The rows of one file."""
    file = uproot.open(path, array_cache=None, object_cache=None)
    own = forthwith.open(path)
    for name, tree in trees(file):
        for how, typename, branch_path, branch in chosen(tree):
            row = {
                "file": path.name,
                "branch": f"{name}/{branch_path}",
                "type": typename,
                "kind": how,
                "entries": branch.num_entries,
            }
            try:
                library, read, theirs, took = theirs_of(branch)
            except Exception as error:
                yield row | {"uproot": f"{type(error).__name__}: {error}".splitlines()[0]}
                continue
            row |= {"library": library, "bytes": branch.uncompressed_bytes}
            try:
                mine = own[name][branch_path]
                result = mine.array(threads=1)
            except Exception as error:
                yield row | {"forthwith": f"{type(error).__name__}: {error}".splitlines()[0]}
                continue
            row["values"] = same(result, theirs) if library == "ak" else "not compared: objects"
            result = theirs = None
            best, other = [], [took] if took > 1000 * PATIENCE else []
            for _ in range(rounds):
                best.append(timed(lambda: mine.array(threads=1))[1])  # noqa: B023
                if took <= 1000 * PATIENCE:
                    other.append(timed(read)[1])
            yield row | {"ms": min(best), "uproot ms": min(other), "ratio": min(other) / min(best)}


def summary(rows):
    """The rows printed of them."""
    lines = []
    read = [row for row in rows if "ratio" in row]
    groups = {
        "objects, in Python": [r for r in read if r["kind"] == "objects" and r["library"] == "np"],
        "objects": [r for r in read if r["kind"] == "objects" and r["library"] == "ak"],
        "strings": [r for r in read if r["kind"] == "strings"],
        "strided: a cast, no decoding": [r for r in read if r["kind"] == "strided"],
    }
    lines += [
        "| uproot reads as | branches | least | 5 % | a quarter | median | three quarters | most | at least 20 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    sized = {
        f"{name}, {size}": [r for r in group if (r["bytes"] >= 1 << 18) == large]
        for name, group in groups.items()
        for size, large in (("256 KiB and more", True), ("smaller", False))
    }
    for name, group in sized.items():
        if group:
            ratios = np.array([row["ratio"] for row in group])
            cuts = [f"{cut:.1f}" for cut in np.quantile(ratios, [0, 0.05, 0.25, 0.5, 0.75, 1])]
            lines.append(f"| {name} | {len(group)} | {' | '.join(cuts)} | {np.mean(ratios >= 20):.0%} |")
    lines.append("")
    for name, group in groups.items():
        if not group:
            continue
        lines += [
            f"The least of {name}:",
            "",
            "| file | branch | type | entries | kB | forthwith ms | uproot ms | ratio |",
            "|---|---|---|---:|---:|---:|---:|---:|",
        ]
        for row in sorted(group, key=lambda row: row["ratio"])[:10]:
            cells = [row["file"], row["branch"], f"`{row['type'][:60]}`", row["entries"], f"{row['bytes'] / 1000:.1f}"]
            cells += [f"{row['ms']:.3f}", f"{row['uproot ms']:.3f}", f"{row['ratio']:.1f}"]
            lines.append(f"| {' | '.join(map(str, cells))} |")
        lines.append("")
    values = collections.Counter(row["values"].split(":")[0] for row in read)
    lines.append(
        f"values: {dict(values)}; "
        + ", ".join(
            f"{sum(key in row and isinstance(row[key], str) for row in rows)} not read by {key}"
            for key in ("uproot", "forthwith")
        )
    )
    for row in read:
        if row["values"] == "differs":
            lines.append(f"differs: {row['file']} {row['branch']} {row['type']}")
    for row in rows:
        if isinstance(row.get("forthwith"), str):
            lines.append(f"not read: {row['file']} {row['branch']} {row['type']}: {row['forthwith']}")
    if read:
        lines.append(f"geometric mean of all: {statistics.geometric_mean(row['ratio'] for row in read):.1f}")
    return "\n".join(lines)


def main():
    """Reads the files one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="where all rows go")
    parser.add_argument("--most", type=int, default=200, help="MB of the largest files that are looked at")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for folder in options.folders:
        paths = sorted(folder.rglob("*.root"))
        if not paths:
            print(f"no files in {folder}", file=sys.stderr)
        for path in paths:
            if path.stat().st_size > options.most << 20:
                continue
            try:
                rows += file_rows(path, options.rounds)
            except Exception as error:
                print(f"{path.name}: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(summary(rows))


if __name__ == "__main__":
    main()
