"""Chains of files that differ: of columns, types of numbers, formats, and whether values may be missing.

``python random_chains.py SEED COUNT`` compares what chains give, in all libraries, with the values that were written.
"""

import contextlib
import json
import os
import sys
import tempfile

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import forthwith
from forthwith import _forthwith

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
# The types that numbers have in Avro, where it has not their own.
AVRO = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
LIBRARIES = ["ak", "np", "pd", "pl", "arrow"]


def values(random, kind, count, lacking):
    """Values as Python has them, and the type they are written in."""
    if kind == "text":
        made, number = [str(random.integers(100)) for _ in range(count)], None
    else:
        number = str(random.choice(NUMBERS))
        # All types have these, and so have their promotions.
        draw = lambda count: random.integers(0, 100, count).tolist()  # noqa: E731
        made = draw(count) if kind == "number" else [draw(int(random.integers(0, 5))) for _ in range(count)]
    if lacking:
        made = [None if random.random() < 0.3 else value for value in made]
    return made, number


def write(random, path, columns):
    """Writes a file of the format that its name says."""
    if path.endswith(".parquet"):
        arrays = {}
        for name, (made, number) in columns.items():
            kind = pa.string() if number is None else pa.from_numpy_dtype(number)
            arrays[name] = pa.array(made, pa.list_(kind) if name.startswith("l") else kind)
        pq.write_table(pa.table(arrays), path, row_group_size=int(random.integers(1, 9)))
        return path
    arrays = {}
    for name, (made, number) in columns.items():
        if name.startswith("l"):
            content = np.array([item for items in made for item in items], number)
            arrays[name] = ak.unflatten(content, [len(items) for items in made])
        else:
            arrays[name] = ak.Array(made) if number is None else np.array(made, number)
    if path.endswith(".avro"):
        forthwith.write_avro(path, arrays)
        return path
    with forthwith.recreate(path) as file:
        file.mktree("t", arrays)
    return f"{path}:t"


def files(random, folder):
    """Files, and what each has: values by the names of columns."""
    names = ["n1", "n2", "l1", "l2", "t1"]
    kinds = {"n": "number", "l": "lists", "t": "text"}
    made = []
    for at in range(int(random.integers(2, 5))):
        ending = str(random.choice(["root", "parquet", "avro"]))
        count = int(random.integers(1, 20))
        columns = {}
        for name in names:
            if random.random() < 0.75 or name == "n1":
                lacking = ending == "parquet" and random.random() < 0.5
                columns[name] = values(random, kinds[name[0]], count, lacking)
        if ending == "avro":
            columns = {name: (items, AVRO.get(kind, kind)) for name, (items, kind) in columns.items()}
        made.append((write(random, f"{folder}/{at}.{ending}", columns), columns, count))
    return made


def listed(column):
    """A column of any library as Python has it, numbers as they are and missing ones as ``None``."""
    found = (
        column.to_pylist() if hasattr(column, "to_pylist") else column.tolist() if hasattr(column, "tolist") else column
    )
    if hasattr(column, "to_list") and not hasattr(column, "to_pylist"):
        found = column.to_list()

    def plain(value):
        # Pandas has values of its own for what is missing, and NaN, which is none of the values.
        if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
            return None
        if isinstance(value, str):
            return value
        if hasattr(value, "__len__"):
            return [plain(item) for item in (value.tolist() if hasattr(value, "tolist") else value)]
        return value

    return [plain(value) for value in found]


def fields(read, library):
    """Columns of what was read, by name."""
    if library == "ak":
        return {name: read[name] for name in read.fields}
    if library == "arrow":
        return {name: read[name] for name in read.column_names}
    return {name: read[name] for name in (read.keys() if isinstance(read, dict) else read.columns)}


def promoted(numbers):
    """The type that NumPy promotes several to."""
    return np.result_type(*numbers).name


def compare(random, made, told):
    """Reads a chain in all libraries and steps; `told` takes what differs."""
    expected = {}
    for name in dict.fromkeys(name for _, columns, _ in made for name in columns):
        expected[name] = [
            value for _, columns, count in made for value in (columns[name][0] if name in columns else [None] * count)
        ]
    length = sum(count for _, _, count in made)
    chain = forthwith.Chain([path for path, _, _ in made], missing="null")
    bounds = sorted(int(at) for at in random.integers(0, length + 1, 2)) if random.random() < 0.5 else (0, length)
    for library in LIBRARIES:
        read = fields(chain.arrays(library=library, entry_start=bounds[0], entry_stop=bounds[1]), library)
        for name, column in expected.items():
            if listed(read[name]) != column[bounds[0] : bounds[1]]:
                told(f"{library} {name} {bounds}: {listed(read[name])} instead of {column[bounds[0] : bounds[1]]}")
    size = int(random.integers(1, 12))
    steps = [step for step in chain.iterate(step_size=size) if len(step)]
    whole = chain.arrays(entry_start=0, entry_stop=0)
    for name, column in expected.items():
        if [value for step in steps for value in listed(step[name])] != column:
            told(f"steps of {size} have other values of {name}")
        numbers = {columns[name][1] for _, columns, _ in made if name in columns}
        types = {str(step[name].type.content).replace("?", "").replace("option[", "").strip("]") for step in steps}
        if len(types) != 1:
            told(f"steps have {name} in several types: {types}")
        elif None not in numbers and not next(iter(types)).endswith(promoted(numbers)):
            told(f"{name} of {numbers} is {types}, not {promoted(numbers)}")
        if str(whole[name].type.content).split(" ")[-1].strip("?]") != next(iter(types)).split(" ")[-1]:
            told(f"no entries of {name} are {whole[name].type}, and steps {types}")
    cut = int(random.integers(0, 100))
    numbers = [value for _, columns, _ in made for value in columns["n1"][0]]
    found = forthwith.concatenate([path for path, _, _ in made], ["n1"], cut=f"n1 > {cut}").n1.to_list()
    if found != [value for value in numbers if value is not None and value > cut]:
        told(f"n1 > {cut} leaves {found} of {numbers}")
    compare_cut(random, chain, expected, told)
    compare_command(random, [path for path, _, _ in made], expected, told)
    return len(made)


def bare(array):
    """The type of an array's items, whether they may be missing or not."""
    return str(array.type.content).replace("?", "").replace("option[", "").replace("]", "")


def condition(random, names):
    """A cut of such columns, and what it says of a row: nothing where a value is missing."""
    name, limit = str(random.choice(names)), int(random.integers(0, 100))
    if name.startswith("t"):
        word = str(limit)
        return f'{name} != "{word}"', name, lambda value: value != word
    if name.startswith("l"):
        return f"sum({name}) > {limit}", name, lambda items: sum(item for item in items if item is not None) > limit
    return f"{name} * 2.0 > {limit}", name, lambda value: value * 2 > limit


def compare_cut(random, chain, expected, told):
    """Cuts, chosen entries and computed columns where files lack columns: as of the whole, with missing values in it."""
    names = list(expected)
    (cut, a, holds), (other, b, also) = condition(random, names), condition(random, names)
    rows = [dict(zip(expected, row, strict=True)) for row in zip(*expected.values(), strict=True)]
    chosen = sorted(int(at) for at in random.choice(len(rows), len(rows) // 2 + 1, replace=False))

    def passes(row):
        return row[a] is not None and holds(row[a]) and row[b] is not None and also(row[b])

    kept = [rows[at] for at in chosen if passes(rows[at])]
    both = {"cut": f"({cut}) and alias", "aliases": {"alias": other}, "entries": chosen}
    wanted = [str(name) for name in random.permutation(names)[: int(random.integers(1, len(names) + 1))]]
    for library in LIBRARIES:
        found = fields(chain.arrays(wanted, library=library, **both), library)
        for name in wanted:
            if listed(found[name]) != [row[name] for row in kept]:
                told(f"{library} {name} cut by {both}: {listed(found[name])}, not {[row[name] for row in kept]}")
    whole = chain.arrays(["n1", "n1 * 1.0"], cut=cut)
    if bare(whole) != bare(chain.arrays(["n1", "n1 * 1.0"], cut=cut, entry_stop=0)):
        told(f"the type of what {cut} leaves is {whole.type}")
    steps = chain.iterate([*wanted, f"count({names[0]})" if names[0][0] == "l" else "n1 + 0"], step_size=5, **both)
    steps = [step for step in steps if len(step)]
    if len({bare(step) for step in steps}) > 1:
        told(f"steps cut by {both} are of several types")
    if [row for step in steps for row in step[wanted].tolist()] != [{n: row[n] for n in wanted} for row in kept]:
        told(f"steps cut by {both} differ")


@contextlib.contextmanager
def silent():
    """Without standard output."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def compare_command(random, paths, expected, told):
    """Columns that the command converts to lines of JSON: chosen, cut, computed, and those of the first entries."""
    names = list(expected)
    rows = [dict(zip(expected, row, strict=True)) for row in zip(*expected.values(), strict=True)]
    chosen = [str(name) for name in random.permutation(names)[: int(random.integers(1, len(names) + 1))]]
    wanted = [name for name in names if name in chosen]
    cut, column, holds = condition(random, names)
    arguments = ["-c", ",".join(chosen)]
    if random.random() < 0.6:
        arguments += ["--where", "passes", "--alias", f"passes={cut}"]
        rows = [row for row in rows if row[column] is not None and holds(row[column])]
    if random.random() < 0.5:
        arguments += ["--compute", "twice=n1 * 2.0"]
        rows = [{**row, "twice": None if row["n1"] is None else row["n1"] * 2.0} for row in rows]
        wanted.append("twice")
    with tempfile.TemporaryDirectory() as folder:
        to = f"{folder}/all.jsonl"
        with silent():
            code = _forthwith.command(["forthwith", "convert", *paths, to, "--missing", "null", *arguments], None)
        with open(to, encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
    if code or found != [{name: row[name] for name in wanted} for row in rows]:
        told(f"convert {arguments} has {found}, not {wanted} of {rows}")


def campaign(seed, count):
    """Problems of some chains, and the number of files."""
    problems, total = [], 0
    for at in range(count):
        random = np.random.default_rng((seed, at))
        with tempfile.TemporaryDirectory() as folder:
            made = files(random, folder)

            def told(what, at=at, made=made):
                kinds = [{name: kind for name, (_, kind) in columns.items()} for _, columns, _ in made]
                problems.append(
                    f"seed ({seed}, {at}), {[path.rsplit('/', 1)[-1] for path, _, _ in made]} {kinds}: {what}"
                )

            total += compare(random, made, told)
    return problems, total


if __name__ == "__main__":
    found, total = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print(*found[:20], sep="\n")
    print(f"{total} files, {len(found)} problems")
    sys.exit(bool(found))
