"""cases.py CASE FOLDER | cases.py make FOLDER: a piece of work whose instructions are counted, or the files that cases read.

Called by `run`. A case prepares its work and does it once, so that files are mapped, programs compiled and buffers pooled; then
once more within C's `qsort_r`, in which callgrind collects. Prints a number that depends on the work.
"""

import ctypes
import gc
import pathlib
import sys

import forthwith
from forthwith import _forthwith

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"

# Large enough that nearly all work is for the entries, small enough for seconds under callgrind.
EVENTS = 100_000
RECORDS = 20_000

SCHEMA = """
syntax = "proto3";
message Record {
  int64 id = 1;
  double x = 2;
  string name = 3;
  repeated int64 tags = 4;
  optional double weight = 5;
}
"""


def counted(work):
    """The result of a function that C's `qsort_r` calls, by way of `qsort`, as it compares two items.

    Callgrind takes the call of `qsort` for a return, because libffi moves the stack before it.
    """
    results, errors = [], []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def compare(_one, _other):
        try:
            results.append(work())
        except Exception as error:
            errors.append(error)
        return 0

    items = ctypes.create_string_buffer(2)
    ctypes.CDLL(None).qsort(items, ctypes.c_size_t(2), ctypes.c_size_t(1), compare)
    if errors:
        raise errors[0]
    return results[0]


def opening(name, table=""):
    """Opens a bundled file, and plans to read all columns of its table."""

    def work():
        file = _forthwith.File.open(DATA / name)
        opened = file.table(table)
        return len(opened.plan(readable(opened), 0, opened.entries).blocks())

    return work


def reading(path, *names):
    """Plans and reads columns of an open table, which has the name of its kind and so of the file."""
    table = _forthwith.File.open(path).table(path.stem)
    fields = [table.find(name) for name in names]
    return lambda: read(table, fields)


def whole(path, **options):
    """Opens a file that is one table, and reads all of it."""

    def work():
        table = _forthwith.File.open(path, options=options).table("")
        return read(table, readable(table))

    return work


def computing(path):
    """Compiles and computes expressions over lists, for the entries that pass a cut."""
    table = _forthwith.File.open(path).table(path.stem)
    columns = ["Muon_pt[Muon_pt > 20]", "sum(Muon_pt * cosh(Muon_eta))", "max(Muon_pt)", "sqrt(x)"]

    def work():
        named = [(column, None) for column in columns]
        selection = table.select(named, [], "count(Muon_pt) > 1 and any(Muon_pt > 30)")
        return sum(array.nbytes for array in selection.read(0, table.entries)[0])

    return work


def writing(path, ending):
    """Writes columns that are in memory to a file in memory, without compression."""
    given = _forthwith.Given.from_arrow(forthwith.open(path)[path.stem].__arrow_c_stream__())

    def work():
        writer = writer_of(f"out.{ending}", in_memory=True, codec="none")
        writer.write(given)
        return writer.finish()[1]

    return work


def readable(table):
    fields = table.fields()
    return [at for at in range(len(fields)) if fields[at].has_data]


def read(table, fields):
    """Bytes of the columns."""
    return sum(array.nbytes for array in table.read(table.plan(fields, 0, table.entries)))


def writer_of(path, *, in_memory=False, codec=None, **options):
    ending = str(path).rpartition(".")[2]
    return _forthwith.TableWriter(path, in_memory, ending, codec, None, None, None, [], None, **options)


def prepared(case, folder):
    tree, ntuple = folder / "tree.root", folder / "ntuple.root"
    match case:
        case "open-root":
            return opening("zmumu.root", "events")
        case "open-avro":
            return opening("avro/wide.avro")
        case "open-parquet":
            return opening("parquet/plain.parquet")
        case "floats":
            return reading(tree, "x")
        case "jagged":
            return reading(tree, "Muon_pt")
        case "strings":
            return reading(tree, "name")
        case "ntuple":
            return reading(ntuple, "x", "Muon_pt", "name")
        case "avro-tier-1" | "avro-tier-2":  # the environment sets the tier
            return whole(folder / "records.avro")
        case "protobuf":
            return whole(folder / "records.pb", schema=SCHEMA)
        case "json":
            return whole(folder / "records.jsonl")
        case "expression":
            return computing(tree)
        case "write-tree":
            return writing(tree, "root")
        case "write-parquet":
            return writing(tree, "parquet")
    raise ValueError(f"there is no case {case!r}")


def make(folder):
    """Writes the files that cases read, without compression: the same ones each time."""
    import json
    import random

    numbers = random.Random(41)

    def text():
        return "".join(chr(97 + int(26 * numbers.random())) for _ in range(int(16 * numbers.random())))

    def number(end):
        return int(2**20 * numbers.random()) / 2**20 * end

    def event():
        count = int(5 * numbers.random())
        pt, eta = [number(60) for _ in range(count)], [number(2.4) for _ in range(count)]
        return {"x0": number(1), "name": text(), "pt": pt, "eta": eta}

    def record(at):
        return {
            "id": at << int(20 * numbers.random()),
            "x": number(100),
            "name": text(),
            "tags": [int(5000 * numbers.random()) - 100 for _ in range(int(6 * numbers.random()))],
            "weight": number(1) if numbers.random() < 0.7 else None,
        }

    for name, rows in (("events", (event() for _ in range(EVENTS))), ("records", map(record, range(RECORDS)))):
        with (folder / f"{name}.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    columns = ["--columns", "name"]
    for computed in ("x=float32(x0)", "Muon_pt=float32(pt)", "Muon_eta=float32(eta)"):
        columns += ["--compute", computed]
    convert(folder / "events.jsonl", folder / "tree.root", *columns, "--codec", "none")
    convert(folder / "events.jsonl", folder / "ntuple.root", *columns, "--codec", "none", "--as", "ntuple")
    convert(folder / "records.jsonl", folder / "records.avro", "--codec", "null")
    given = _forthwith.Given.from_arrow(forthwith.open(folder / "records.jsonl").__arrow_c_stream__())
    writer = writer_of(folder / "records.pb", schema=SCHEMA, name="Record")
    writer.write(given)
    writer.finish()


def convert(*arguments):
    if _forthwith.command(["forthwith", "convert", *map(str, arguments)]) != 0:
        raise RuntimeError(f"not converted: {arguments}")


def main():
    case, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if case == "make":
        make(folder)
        return
    gc.disable()
    work = prepared(case, folder)
    expected = work()
    found = counted(work)
    assert found == expected > 0, f"{case}: {found} at the second time, {expected} at the first"
    print(found)


if __name__ == "__main__":
    main()
