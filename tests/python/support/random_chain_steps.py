"""Steps over chains of files that may differ or be damaged, against reads of each file.

``python random_chain_steps.py SEED COUNT`` compares `Chain.iterate` with `Chain.arrays`, with the arrays of each file one after
the other, and with the steps that are read with a tree for each file.
"""

import contextlib
import os
import sys
import tempfile
import warnings

import awkward as ak
import numpy as np
import pyarrow as pa

import forthwith

ENDINGS = ["root", "rntuple.root", "avro", "parquet", "arrow"]
EXPRESSIONS = {"x": "x * 2", "n": "n + 1", "l": "sum(l)"}
CUTS = ["n % 3 == 0", "x > 0", "n < 0", "n >= 0", "count(l) > 1"]


def columns(random, drifts):
    """The columns of a file, some of which may be lacking, more, of other types or in another order."""
    entries = int(random.integers(0, 30)) if random.random() < 0.9 else 0
    counts = random.integers(0, 4, entries)
    made = {
        "x": np.round(random.normal(size=entries), 3),
        "n": random.integers(0, 1000, entries).astype("i4"),
        "l": ak.unflatten(np.round(random.normal(size=int(counts.sum())), 3), counts),
        "s": ak.from_arrow(pa.array([f"t{value}" for value in random.integers(0, 99, entries)], pa.string())),
    }
    if drifts and random.random() < 0.5:
        drift = str(random.choice(["lacks", "more", "wider", "order"]))
        if drift == "lacks":
            del made[str(random.choice(["x", "l", "s"]))]
        elif drift == "more":
            made["m"] = np.arange(entries)
        elif drift == "wider":
            made["n"] = made["n"].astype("f8")
        else:
            made = {name: made[name] for name in random.permutation(list(made)).tolist()}
    return made, entries


def write(folder, at, ending, made):
    """Writes a file; its name for a chain."""
    path = os.path.join(folder, f"{at}.{ending}")
    if ending.endswith("root"):
        with forthwith.recreate(path) as file:
            (file.mkrntuple if ending.startswith("rntuple") else file.mktree)("t", made)
        return f"{path}:t"
    if ending == "avro":
        forthwith.write_avro(path, made)
    elif ending == "parquet":
        forthwith.write_parquet(path, made)
    else:
        table = ak.to_arrow_table(ak.Array(made), extensionarray=False)
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def damage(random, name):
    """Changes some bytes in the middle of a file."""
    path = name.removesuffix(":t")
    with open(path, "rb") as file:
        content = bytearray(file.read())
    begin, end = len(content) // 5, len(content) * 4 // 5
    for at in random.integers(begin, end, 3).tolist():
        content[at] ^= 0xFF
    with open(path, "wb") as file:
        file.write(content)


def request(random):
    """Arguments of `arrays` and `iterate`."""
    ask = {}
    names = random.permutation(["x", "n", "l", "s"])[: int(random.integers(1, 5))].tolist()
    if random.random() < 0.6:
        names = [EXPRESSIONS.get(name, name) if random.random() < 0.3 else name for name in names]
        ask["names"] = names
    if random.random() < 0.4:
        ask["cut"] = str(random.choice(CUTS))
    if random.random() < 0.2 and "names" in ask:
        ask["aliases"] = {"twice": "n * 2"}
        ask["names"] = [*names, "twice"]
    for bound in ("entry_start", "entry_stop"):
        if random.random() < 0.4:
            ask[bound] = int(random.integers(-60, 90))
    if random.random() < 0.3:
        ask["threads"] = int(random.integers(1, 4))
    return ask


@contextlib.contextmanager
def with_trees():
    """Has steps read with a tree for each file."""
    plain = forthwith.Chain._parts_by_name
    forthwith.Chain._parts_by_name = lambda _: None
    try:
        yield
    finally:
        forthwith.Chain._parts_by_name = plain


def listed(found):
    """The values and the type of a step of any library."""
    if isinstance(found, ak.Array):
        return found.to_list(), str(found.type)
    if isinstance(found, pa.Table):
        return found.to_pylist(), str(found.schema)
    if isinstance(found, dict):
        return {name: [ak.to_list(value) for value in column] for name, column in found.items()}, {
            name: str(column.dtype) for name, column in found.items()
        }
    values = {name: [item.tolist() if hasattr(item, "tolist") else item for item in found[name]] for name in found}
    return values, (found.index.tolist(), str(found.dtypes.to_dict()))


def stepped(chain, ask):
    """The steps and where they lie, up to the error if there is one."""
    steps = []
    try:
        for step, report in chain.iterate(report=True, **ask):
            place = (report.file_path, report.start, report.stop, report.global_entry_start, report.global_entry_stop)
            steps.append((step, (*place, [(loss.start, loss.stop, str(loss.error)) for loss in report.lost])))
    except forthwith.ForthwithError as error:
        return steps, (type(error), str(error), error.file, error.object, error.entry, error.block)
    return steps, None


def compare(random, names, lengths, told):
    """Reads a chain in steps, by trees and at once."""
    ask = request(random)
    library = str(random.choice(["ak", "ak", "np", "pd", "arrow"]))
    missing = "null" if random.random() < 0.3 else "raise"
    errors = str(random.choice(["skip", "null"])) if random.random() < 0.3 and missing == "raise" else "raise"
    if random.random() < 0.2:
        total = sum(lengths)
        ask["entries"] = np.flatnonzero(random.random(total) < random.choice([0.1, 0.5]))
    size = int(random.integers(1, 40)) if random.random() < 0.7 else "100 kB"
    how = {**ask, "step_size": size, "library": library, "errors": errors}
    chain = forthwith.Chain(names, missing=missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps, error = stepped(chain, how)
        with with_trees():
            expected, expected_error = stepped(forthwith.Chain(names, missing=missing), how)
        if error != expected_error:
            told(f"{how} {missing}: {error}, not {expected_error}")
        if [(listed(step), place) for step, place in steps] != [(listed(step), place) for step, place in expected]:
            told(f"{how} {missing}: other steps")
        if error is None and library == "ak":
            compare_whole(chain, ask, errors, [step for step, _ in steps], told)
            if missing == "raise" and errors == "raise" and not ({"entry_start", "entry_stop", "entries"} & ask.keys()):
                compare_files(names, lengths, ask, [step for step, _ in steps], told)


def compare_whole(chain, ask, errors, steps, told):
    """Compares steps with all entries at once."""
    try:
        whole = chain.arrays(errors=errors, **ask)
    except forthwith.ForthwithError as error:
        told(f"{ask}: steps are read, but not all at once: {error}")
        return
    values = [row for step in steps for row in step.to_list()]
    if values != whole.to_list():
        told(f"{ask}: the steps have other values than all at once")


def compare_files(names, lengths, ask, steps, told):
    """Compares steps with the arrays of each file."""
    parts = []
    for name, entries in zip(names, lengths, strict=True):
        if entries:
            with forthwith.open(name) as opened:
                table = opened if hasattr(opened, "arrays") else opened["t"]
                parts += table.arrays(**ask).to_list()
    if [row for step in steps for row in step.to_list()] != parts:
        told(f"{ask}: the steps have other values than the files")


def campaign(seed, count):
    """Problems of some chains."""
    problems = []
    for at in range(count):
        random = np.random.default_rng((seed, at))
        with tempfile.TemporaryDirectory() as folder:
            drifts, one = random.random() < 0.5, str(random.choice(ENDINGS))
            names, lengths = [], []
            for number in range(int(random.integers(2, 7))):
                ending = one if random.random() < 0.7 else str(random.choice(ENDINGS))
                made, entries = columns(random, drifts)
                names.append(write(folder, number, ending, made))
                lengths.append(entries)
            if random.random() < 0.2:
                damage(random, names[int(random.integers(len(names)))])
            for _ in range(3):
                compare(random, names, lengths, lambda what, at=at: problems.append(f"seed ({seed}, {at}): {what}"))
    return problems


if __name__ == "__main__":
    found = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print(*found[:20], sep="\n")
    print(f"{len(found)} problems")
    sys.exit(bool(found))
