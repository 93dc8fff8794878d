"""JSON Lines to columns: forthwith and others, one thread each, in rounds of one process each.

    python benches/json/read.py [--bytes 40e6] [--rounds 5] [--only NAME]

Each reading is a process of its own, which reads the file once to warm up and then three times; the fastest counts, by
the processor's time and by the clock. Readers take turns within a round. Columns are compared by their sums before.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

FLAT = {"id": "i", "run": "i", "x": "f", "y": "f", "z": "f", "name": "s", "tag": "s", "ok": "b", "n": "i", "w": "f"}


def flat(rng, at):
    word = "".join(rng.choices("abcdefghij ", k=rng.randrange(4, 24)))
    return {
        "id": at, "run": rng.randrange(400000), "x": rng.gauss(0, 1), "y": round(rng.gauss(0, 50), 3), "z": rng.random(),
        "name": word, "tag": rng.choice(["alpha", "beta", "gamma"]), "ok": rng.random() < 0.5, "n": rng.randrange(100),
        "w": round(rng.random(), 4),
    }  # fmt: skip


def nested(rng, at):
    def track():
        hits = [{"ch": rng.randrange(5000), "e": round(rng.expovariate(0.1), 3)} for _ in range(rng.randrange(9))]
        return {"pt": round(rng.expovariate(0.05), 4), "charge": rng.choice([-1, 1]), "hits": hits}

    return {"event": at, "weight": rng.random(), "tracks": [track() for _ in range(rng.randrange(8))]}


def make(path, kind, size):
    rng = random.Random(kind)
    with open(path, "w") as file:
        at = 0
        while file.tell() < size:
            file.write(json.dumps({"flat": flat, "nested": nested}[kind](rng, at), separators=(",", ":")) + "\n")
            at += 1


def arrow_schema(kind):
    import pyarrow as pa

    if kind != "nested":
        types = {"i": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_()}
        names = ["x", "n"] if kind == "two" else list(FLAT)
        return pa.schema([(name, types[FLAT[name]]) for name in names])
    hit = pa.struct([("ch", pa.int64()), ("e", pa.float64())])
    track = pa.struct([("pt", pa.float64()), ("charge", pa.int64()), ("hits", pa.list_(hit))])
    return pa.schema([("event", pa.int64()), ("weight", pa.float64()), ("tracks", pa.list_(track))])


def forthwith_(path, kind, schema):
    import forthwith

    given = {"schema": arrow_schema(kind)} if schema else {}
    with forthwith.open(path, threads=1, **given) as tree:
        return tree.arrays(["x", "n"] if kind == "two" else None, library="arrow")


def pyarrow_(path, kind, schema):
    import pyarrow.json as reader

    parse = reader.ParseOptions(explicit_schema=arrow_schema(kind), unexpected_field_behavior="ignore") if schema else None
    table = reader.read_json(path, reader.ReadOptions(use_threads=False), parse)
    return table.select(["x", "n"]) if kind == "two" else table


def polars_(path, kind, schema):
    import polars

    given = polars.from_arrow(arrow_schema(kind).empty_table()).schema if schema else None
    frame = polars.scan_ndjson(path, schema=given)
    return (frame.select("x", "n") if kind == "two" else frame).collect().to_arrow()


def duckdb_(path, kind, schema):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    given = ""
    if schema:
        names = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "bool": "BOOLEAN"}

        def spelled(of):
            if hasattr(of, "value_type"):
                return spelled(of.value_type) + "[]"
            if hasattr(of, "num_fields") and of.num_fields:
                return "STRUCT(" + ", ".join(f'"{field.name}" {spelled(field.type)}' for field in of) + ")"
            return names[str(of)]

        given = ", columns={" + ", ".join(f"{f.name}: '{spelled(f.type)}'" for f in arrow_schema(kind)) + "}"
    what = "x, n" if kind == "two" else "*"
    text = f"select {what} from read_json('{path}', format='newline_delimited'{given})"
    result = connection.execute(text)
    return result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()


READERS = {"forthwith": forthwith_, "pyarrow": pyarrow_, "polars": polars_, "duckdb": duckdb_}


def child(reader, path, kind, schema):
    import pyarrow.compute as pc

    times = []
    for _ in range(4):
        start, clock = time.process_time(), time.perf_counter()
        table = READERS[reader](path, kind, schema)
        times.append((time.process_time() - start, time.perf_counter() - clock))
    first = table.column("event" if kind == "nested" else "n")
    print(json.dumps([*min(times[1:]), table.num_rows, pc.sum(first).as_py()]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=float, default=40e6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(READERS))
    parser.add_argument("--child", nargs=4)
    given = parser.parse_args()
    if given.child:
        reader, path, kind, schema = given.child
        return child(reader, path, kind, schema == "True")
    environment = dict(os.environ, POLARS_MAX_THREADS="1", OMP_NUM_THREADS="1", RAYON_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("flat", "two", "nested"):
            path = f"{folder}/{'flat' if kind == 'two' else kind}.jsonl"
            if not os.path.exists(path):
                make(path, kind, given.bytes)
            size = os.path.getsize(path) / 1e6
            for schema in (True, False):
                best, sums = {}, set()
                for _ in range(given.rounds):
                    for reader in given.only.split(","):
                        words = [sys.executable, __file__, "--child", reader, path, kind, str(schema)]
                        done = subprocess.run(words, env=environment, capture_output=True, text=True)
                        if done.returncode:
                            print(reader, kind, schema, done.stderr[-300:])
                            continue
                        took, clock, *check = json.loads(done.stdout)
                        sums.add(tuple(check))
                        best[reader] = min(best.get(reader, (9e9, 9e9)), (took, clock))
                assert len(sums) == 1, sums
                speeds = ", ".join(f"{reader} {size / took:.0f}" for reader, (took, _) in best.items())
                others = min((took for reader, (took, _) in best.items() if reader != "forthwith"), default=0)
                ratio = others / best["forthwith"][0]
                what = "schema" if schema else "found"
                print(f"{kind:7} {what:7} MB/s: {speeds}; {ratio:.2f} times the fastest", flush=True)


if __name__ == "__main__":
    main()
