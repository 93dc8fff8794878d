"""The cost of a command from Python, beside `ak.ArrayBuilder`: nanoseconds of processor time, the best of several runs.

python benches/builders/commands.py
"""

import time

import awkward as ak

import forthwith

COUNT = 50_000


def real(b):
    call = b.real
    for _ in range(COUNT):
        call(1.5)
    return COUNT


def integer(b):
    call = b.integer
    for _ in range(COUNT):
        call(7)
    return COUNT


def string(b):
    call = b.string
    for _ in range(COUNT):
        call("hello")
    return COUNT


def lists(b):
    begin, call, end = b.begin_list, b.real, b.end_list
    for _ in range(COUNT):
        begin()
        call(1.5)
        call(2.5)
        call(3.5)
        end()
    return 5 * COUNT


def records(b):
    begin, field, call, text, end = b.begin_record, b.field, b.real, b.string, b.end_record
    for _ in range(COUNT):
        begin()
        field("x")
        call(1.5)
        field("y")
        text("hello")
        end()
    return 6 * COUNT


def append(b):
    call = b.append
    value = [{"x": 1.5, "y": "hello"}, {"x": 2.5, "y": "hello"}]
    for _ in range(COUNT // 10):
        call(value)
    return COUNT // 10


def best(made, told):
    runs = []
    for _ in range(5):
        builder = made()
        start = time.thread_time_ns()
        count = told(builder)
        runs.append((time.thread_time_ns() - start) / count)
    return min(runs)


print(f"{'':10} {'typed':>8} {'awkward':>8} ns")
for told, described in {
    real: "float64",
    integer: "int64",
    string: "string",
    lists: "var * float64",
    records: "{x: float64, y: string}",
    append: "var * {x: float64, y: string}",
}.items():
    typed = best(lambda described=described: forthwith.TypedArrayBuilder(described), told)
    awkward = best(ak.ArrayBuilder, told)
    print(f"{told.__name__:10} {typed:8.0f} {awkward:8.0f}")
