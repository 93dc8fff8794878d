"""``forthwith.from_iter`` and ``forthwith.ArrayBuilder`` beside Awkward Array's.

``python benches/builders/from_iter.py [ROWS]`` prints a table: processor time, best of five, of the whole call to an ``ak.Array``.
"""

import gc
import random
import sys
import time

import awkward as ak
import numpy as np

import forthwith


def best(call, times=5):
    shortest = float("inf")
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        call()
        shortest = min(shortest, time.process_time() - start)
    return shortest


def hits(rng):
    return [
        {"x": rng.random(), "n": rng.randrange(100), "z": [rng.random() for _ in range(rng.randrange(4))]}
        for _ in range(rng.randrange(6))
    ]


def main(rows):
    rng = random.Random(1)
    cases = [
        ("lists of records of lists", [hits(rng) for _ in range(rows)], "var * {x: float64, n: int64, z: var * float64}"),
        (
            "records, strings, options",
            [{"name": f"abc{i % 100}", "opt": None if i % 3 else 1.5, "n": i, "f": True} for i in range(3 * rows)],
            "{name: string, opt: ?float64, n: int64, f: bool}",
        ),
        ("lists of ten floats", [[rng.random() for _ in range(10)] for _ in range(rows)], "var * float64"),
        ("floats", [rng.random() for _ in range(10 * rows)], "float64"),
        ("strings", [f"abc{i}" for i in range(5 * rows)], "string"),
        ("tuples", [(i, 1.5) for i in range(5 * rows)], "(int64, float64)"),
        ("unions", [i if i % 2 else "s" for i in range(5 * rows)], "union[string, int64]"),
        ("arrays of 20 floats", [np.arange(20.0) for _ in range(rows)], "var * float64"),
        ("NumPy's float32", [np.float32(i) for i in range(5 * rows)], "float64"),
    ]
    print(f"{'milliseconds':28}{'awkward':>10}{'no type':>10}{'':8}{'type':>10}")
    for name, data, type in cases:
        a = best(lambda data=data: ak.from_iter(data))
        b = best(lambda data=data: forthwith.from_iter(data))
        c = best(lambda data=data, type=type: forthwith.from_iter(data, type))
        made = forthwith.from_iter(data, type)
        assert made.to_list() == ak.from_iter(data).to_list()
        assert str(made.type) == f"{len(data)} * {type}"
        print(f"{name:28}{a * 1e3:10.1f}{b * 1e3:10.1f} {a / b:5.1f}x {c * 1e3:10.1f} {a / c:5.1f}x", flush=True)

    def lists(builder):
        for _ in range(rows):
            builder.begin_list()
            builder.real(1.5)
            builder.integer(2)
            builder.end_list()

    def records(builder):
        for _ in range(rows):
            builder.begin_record()
            builder.field("x").real(1.5)
            builder.field("y").integer(2)
            builder.end_record()

    for name, call, commands in (("lists", lists, 4), ("records", records, 6)):
        a = best(lambda call=call: call(ak.ArrayBuilder())) / rows / commands
        b = best(lambda call=call: call(forthwith.ArrayBuilder())) / rows / commands
        print(f"{'one command, ' + name:28}{a * 1e6:10.3f}{b * 1e6:10.3f} {a / b:5.1f}x  (microseconds)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
