"""The builder that finds the type out, and arrays from Python data."""

import collections
import datetime
import gc
import itertools
import subprocess
import sys
import threading

import awkward as ak
import builder_sequences
import numpy as np
import pytest

import forthwith

TYPED = [
    ("int64", [1, -2, 2**63 - 1]),
    ("uint64", [0, 2**64 - 1, np.uint64(2**63)]),
    ("uint8", [0, 255]),
    ("int16", [-5, np.int8(3)]),
    ("float32", [1, 2.5, np.float32(0.5)]),
    ("float16", [0.5, 2]),
    ("float64", [1, 2.5, float("inf"), np.float64(3)]),
    ("complex128", [1, 2.5, 1j]),
    ("complex64", [1j, np.complex64(2)]),
    ("bool", [True, np.False_]),
    ("?bool", [True, None]),
    ("string", ["", "é😀", "x\0y"]),
    ("bytes", [b"", b"\xff"]),
    ("string[2]", ["ab", "cd"]),
    (
        "datetime64[us]",
        [datetime.datetime(2020, 1, 2, 3, 4, 5, 6), np.datetime64("2020-01-01", "s"), datetime.date(2020, 1, 1)],
    ),
    ("timedelta64[ms]", [datetime.timedelta(1), np.timedelta64(5, "s")]),
    ("var * int64", [[], [1, 2], (3,), range(2), np.arange(3)]),
    ("3 * int64", [[1, 2, 3], (4, 5, 6)]),
    ("2 * 2 * float64", [[[1, 2], [3, 4]], np.ones((2, 2))]),
    ("var * var * ?float64", [[[1.5, None], []], []]),
    ("option[var * ?string]", [None, ["a", None]]),
    ("{x: float64, y: var * int64}", [{"x": 1.5, "y": [1]}, {"y": [], "x": 2}]),
    ('{x: ?float64, "y z": ?string}', [{}, {"y z": "a"}, {"x": 1, "y z": None}]),
    ("point[x: int64]", [{"x": 1}]),
    ("(int64, string)", [(1, "a")]),
    ("union[int64, string, var * int64]", [1, "a", [2]]),
    ("union[?int64, ?string]", [None, "a", 1]),
    ("union[{x: int64}, {y: int64}]", [{"y": 1}, {"x": 2}]),
    ("union[var * int64, var * string]", [[1], ["a"], []]),
    ("{}", [{}, {}]),
    ("()", [()]),
    ("unknown", []),
]


assert TYPED[22][1][0] == {}

# Rounded or converted, filled up, merged, not possible for ak.from_iter, or tuples that became lists.
DIFFERENT = {
    "uint64",
    "float32",
    "float16",
    "datetime64[us]",
    "timedelta64[ms]",
    TYPED[22][0],
    "var * int64",
    "3 * int64",
    "union[{x: int64}, {y: int64}]",
}


@pytest.mark.parametrize(("type", "data"), TYPED, ids=[type for type, _ in TYPED])
def test_data_of_a_known_type(type, data):
    expected = f"{len(data)} * {type}"
    array = forthwith.from_iter(data, type)
    assert str(array.type) == expected
    assert ak.is_valid(array)
    if type not in DIFFERENT:
        assert array.to_list() == ak.from_iter(data).to_list()
    # However the type is written.
    for same in (
        array.layout.form,
        array.layout.form.to_json(),
        array.layout.form.to_dict(),
        array.type,
        array.type.content,
    ):
        again = forthwith.from_iter(data, same)
        assert str(again.type) == expected
        assert again.to_list() == array.to_list()


@pytest.mark.parametrize(
    ("type", "data", "message", "member"),
    [
        ("int64", [1, "a"], "expected int64, found a string", "[1]"),
        ("var * int64", [[1], [2, 1.5]], "expected int64, found a real number", "[1][1]"),
        ("{x: int64}", [{"x": None}], "expected int64, found None", "[0].x"),
        ("{x: int64}", [{}], "the record has no field", "[0]"),
        ("{x: int64}", [{"x": 1, "z": 2}], "the record has a field", "[0]"),
        ("{x: int64}", [[1]], "expected {x: int64}, found a list", "[0]"),
        ("{x: int64}", [{1: 2}], "a field's name must be a string", "[0]"),
        ("(int64, int64)", [(1,)], "expected (int64, int64), found a tuple of 1", "[0]"),
        ("(int64, var * string)", [(1, ["a", b"b"])], "expected string, found a byte string", "[0](1)[1]"),
        ("2 * int64", [[1]], "a list of 1 items where lists of 2 are expected", "[0]"),
        ("int8", [0, 128], "value out of range for int8", "[1]"),
        ("uint8", [-1], "value out of range for uint8", "[0]"),
        ("uint64", [2**64], "value out of range for uint64", "[0]"),
        ("union[int64, string]", [1.5], "expected union[int64, string], found a real number", "[0]"),
        ("datetime64[s]", [datetime.datetime(2020, 1, 1, 0, 0, 0, 1)], "expected datetime64[s]", "[0]"),
        ("int64", [object()], "cannot convert <object", "[0]"),
    ],
)
def test_data_of_another_type(type, data, message, member):
    with pytest.raises(forthwith.BuilderError) as caught:
        forthwith.from_iter(data, type)
    assert str(caught.value).startswith(message)
    assert caught.value.member == member


def test_types_that_are_none():
    for type in ("int65", "var *", '{"class": "Nonsense"}', "categorical[type=var * int64]"):
        with pytest.raises(ValueError):
            forthwith.from_iter([], type)


def test_single_values():
    assert forthwith.from_iter({"x": 1}).to_list() == {"x": 1}
    assert forthwith.from_iter({"x": 1}, "{x: float64}").to_list() == {"x": 1.0}
    assert forthwith.from_iter("abc") == ak.from_iter("abc")
    assert forthwith.from_iter(b"abc") == ak.from_iter(b"abc") == b"abc"
    assert forthwith.from_iter((1, 2)).to_list() == [1, 2]
    assert forthwith.from_iter(x for x in range(3)).to_list() == [0, 1, 2]
    assert isinstance(forthwith.from_iter([1], highlevel=False), ak.contents.NumpyArray)
    assert forthwith.from_iter([1], attrs={"a": 1}).attrs == {"a": 1}
    with pytest.raises(TypeError):
        forthwith.from_iter(5)
    with pytest.raises(ValueError):
        forthwith.from_iter({"x": 1}, allow_record=False)


class Iterable:
    def __iter__(self):
        return iter([1, 2])


class Listed:
    def tolist(self):
        return {"x": [1]}


Pair = collections.namedtuple("Pair", "a b")

OBJECTS = [
    [set(), {1}, frozenset([2.5]), range(3), bytearray(b"ab"), memoryview(b"cd")],
    [Iterable(), Listed(), Pair(1, 2), collections.OrderedDict(x=1), collections.UserDict(x=1)],
    [np.float16(1.5), np.int8(1), np.uint64(3), np.bool_(True), np.str_("a"), np.bytes_(b"b"), np.complex64(1j)],
    [np.array(3), np.array([[1, 2], [3, 4]], "u1"), np.array([1.5], "f2"), np.array([True]), np.array([1j], "c8")],
    [np.array(["2020-01-01"], "M8[s]"), np.array([1], "m8[D]"), np.array(["a", "b"]), np.array([1, None], object)],
    [np.ma.array([1, 2], mask=[0, 1]), np.zeros((2, 0)), np.zeros((0, 2)), np.arange(6).reshape(2, 3)[:, ::2]],
    np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]),
    [ak.Array([[1, 2], [], None]), ak.Record({"x": 1, "y": "a"}), ak.Array(["a", None])],
    ak.Array([{"x": 1, "y": [1.5]}, None]),
    [datetime.datetime(2020, 1, 1, 1, 2, 3, 4), datetime.date(1969, 12, 31), datetime.timedelta(-1, 2, 3)],
    [np.datetime64("NaT"), np.datetime64("2020"), np.timedelta64("NaT"), datetime.datetime(1, 1, 1)],
    np.arange(12, dtype=">i4").reshape(3, 2, 2),
    [[np.longdouble(1.5)]],
]


@pytest.mark.parametrize("data", OBJECTS, ids=range(len(OBJECTS)))
def test_objects_are_what_awkward_takes_them_for(data):
    ours, theirs = forthwith.from_iter(data), ak.from_iter(data)
    assert str(ours.type) == str(theirs.type)
    assert repr(ours.to_list()) == repr(theirs.to_list())


def test_times_of_day_keep_their_microseconds():
    assert forthwith.from_iter([datetime.time(1, 2, 3, 4)]).to_list() == [datetime.datetime(1970, 1, 1, 1, 2, 3, 4)]


def test_tuples_in_smaller_tuples():
    # Awkward Array measures the inner index by the outer tuple.
    assert forthwith.from_iter([((1, 2, 3),)]).to_list() == [((1, 2, 3),)]


@pytest.mark.slow
def test_random_sequences():
    builder_sequences.warnings.simplefilter("ignore")
    for seed in range(150):
        builder_sequences.run(seed)
        builder_sequences.data(seed)


def test_integers_beyond_64_bits():
    for x in (2**63, -(2**63) - 1, 10**100, np.uint64(2**63)):
        builder = forthwith.ArrayBuilder()
        builder.append([1])
        # RuntimeError is what Awkward Array says; OverflowError is what it is.
        for kind in (RuntimeError, OverflowError, ValueError):
            with pytest.raises(kind, match="value out of range for int64"):
                builder.append([1, [x]])
        assert builder.to_list() == [[1]]
        with pytest.raises(OverflowError):
            builder.integer(int(x))
    with pytest.raises(RuntimeError):
        forthwith.from_iter(np.array([2**63], "u8"))


def test_what_fails_half_way_is_taken_back():
    builder = forthwith.ArrayBuilder()
    builder.append({"x": [1, 2], "y": "a"})
    for bad in ([{"x": [object()]}], {"x": [1], "y": [2, {1: 2}]}, [[[2**64]]], {"x": [3], "z": {1}, "y": object()}):
        with pytest.raises(forthwith.BuilderError):
            builder.append(bad)
    builder.append({"x": [3]})
    assert [item["x"] for item in builder.to_list()] == [[1, 2], [3]]
    with builder.list():
        builder.integer(1)
        with pytest.raises(forthwith.BuilderError) as caught:
            builder.append([1, {"a": object()}])
        assert caught.value.member == "[2][1][1].a"
        with pytest.raises(forthwith.BuilderError):
            builder.extend([2, 3, object(), 4])
    assert builder.to_list()[-1] == [1, 2, 3]


def test_exceptions_of_iterators_go_through():
    def numbers():
        yield 1
        raise ZeroDivisionError("here")

    builder = forthwith.ArrayBuilder()
    with pytest.raises(ZeroDivisionError, match="here") as caught:
        builder.append([0, {"x": numbers()}])
    assert caught.value.__notes__ == ["at [1].x[1] of the data"]
    assert len(builder) == 0
    with pytest.raises(ZeroDivisionError):
        builder.extend(numbers())
    assert builder.to_list() == [1]
    with pytest.raises(UnicodeEncodeError):
        builder.append("\ud800")
    with pytest.raises(UnicodeEncodeError):
        builder.append({"\ud800": 1})


def test_a_builder_that_is_used_meanwhile():
    builder, theirs = forthwith.ArrayBuilder(), ak.ArrayBuilder()

    def meddle(builder, seen):
        yield [1]
        builder.append([2])
        seen.append(len(builder.snapshot()))
        yield [3]

    for one in (builder, theirs):
        seen = []
        one.extend(meddle(one, seen))
        assert seen == [2]
    assert builder.to_list() == theirs.to_list() == [[1], [2], [3]]
    # Within a value it has no place for another.
    with pytest.raises(RuntimeError, match="looking at a value"):
        builder.append(meddle(builder, []))
    assert builder.to_list() == [[1], [2], [3]]


def test_threads_take_turns():
    builder = forthwith.ArrayBuilder()
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        yield 0
        begun.set()
        assert go_on.wait(20)
        yield 1

    filling = threading.Thread(target=builder.extend, args=(slow(),))
    filling.start()
    assert begun.wait(20)
    assert builder.snapshot().to_list() == [0]
    builder.integer(5)
    go_on.set()
    filling.join()
    assert builder.to_list() == [0, 5, 1]
    threads = [threading.Thread(target=lambda: [builder.append([1, 2]) for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert all(value == [1, 2] for value in builder.snapshot()[3:].to_list())
    for thread in threads:
        thread.join()
    assert len(builder) == 8003


def test_containers_that_contain_themselves():
    loop = []
    loop.append(loop)
    record = {}
    record["x"] = [record]
    pair = ([],)
    pair[0].append(pair)

    class Endless:
        def tolist(self):
            return Endless()

    for data in (loop, record, pair, [Endless()]):
        for kwargs in ({}, {"type": "var * var * int64"}):
            with pytest.raises(ValueError):
                forthwith.from_iter([data], **kwargs)


def test_depth():
    def nested(depth):
        data = []
        for _ in range(depth):
            data = [data]
        return data

    assert forthwith.from_iter(nested(900)).ndim == 901
    with pytest.raises(forthwith.BuilderError, match="levels"):
        forthwith.from_iter(nested(1100))

    # In a thread, too, whose stack may be smaller.
    builder = forthwith.ArrayBuilder()
    thread = threading.Thread(target=builder.append, args=(nested(998),))
    thread.start()
    thread.join()
    assert len(builder) == 1


def test_containers_that_change_while_they_are_walked():
    def shrinking(victim, how):
        class Item:
            def __iter__(self):
                how(victim)
                gc.collect()
                return iter([1])

        return Item()

    for how in (lambda x: x.clear(), lambda x: x.extend([1.5] * 1000), lambda x: x.reverse()):
        victim = [[1.5] * 5]
        victim += [shrinking(victim, how), "abc" * 100, [2.5]]
        builder = forthwith.ArrayBuilder()
        builder.append(victim)
        assert ak.is_valid(builder.snapshot())
    for how in (lambda x: x.clear(), lambda x: x.update(z=3)):
        victim = {"a": None, "b": [1, 2]}
        victim["a"] = shrinking(victim, how)
        builder = forthwith.ArrayBuilder()
        with pytest.raises(RuntimeError, match="changed size"):
            builder.append([victim])
        assert len(builder) == 0
        assert ak.is_valid(builder.snapshot())


def test_a_dict_whose_keys_change():
    class Item:
        def __iter__(self):
            victim.pop("b")
            victim.update(c=3)
            return iter([1])

    victim = {"a": Item(), "b": [1, 2]}
    assert forthwith.from_iter([victim]).to_list()[0]["a"] == [1]


def test_many_names_by_new_strings():
    rows = [{"".join(["f", str(at)]): at for at in range(40)} for _ in range(3)]
    rows.append({f"f{at}": at for at in reversed(range(40))})
    assert forthwith.from_iter(rows).to_list() == [dict(sorted(rows[0].items(), key=lambda pair: pair[1]))] * 4
    type = "{" + ", ".join(f"f{at}: int64" for at in range(40)) + "}"
    assert forthwith.from_iter(rows, type).to_list() == forthwith.from_iter(rows).to_list()


def test_unions_of_unions_take_a_bounded_time():
    type = "int64"
    for _ in range(20):
        type = f"union[{{x: {type}}}, {{x: {type}, y: ?bool}}]" if len(type) < 3000 else f"var * {type}"
    data = "wrong"
    for _ in range(40):
        data = {"x": data}
    with pytest.raises(forthwith.BuilderError):
        forthwith.from_iter([data], type)


def test_endless_iterators_can_be_interrupted():
    code = (
        "import forthwith, itertools, signal\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
        "def stop(*args): raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, stop)\n"
        "b = forthwith.ArrayBuilder()\n"
        "try:\n    b.extend(itertools.count())\n"
        "except KeyboardInterrupt:\n    print('stopped', len(b) > 1000)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stdout == "stopped True\n", run.stderr
    with pytest.raises(TypeError):
        forthwith.ArrayBuilder().extend(itertools.count)


def test_the_rest_of_the_builder():
    builder = forthwith.ArrayBuilder(behavior={"x": 1}, attrs={"a": 1}, initial=5, resize=2.5)
    assert (builder.behavior, builder.attrs) == ({"x": 1}, {"a": 1})
    with builder.list():
        builder.real(1)
    with builder.tuple(2) as nothing:
        assert nothing is None
        assert builder.index(0) is builder
        builder.index(0).complex(1j)
        builder.index(1).timedelta("5")
    with builder.record("point"):
        builder.field("x").datetime("2020-01-01")
    assert repr(builder).startswith("<ArrayBuilder type='3 * union[")
    assert repr(builder.list()).startswith("<ArrayBuilder.list type='3 * union[")
    assert str(builder.type) == builder.typestr
    assert builder.snapshot().attrs == {"a": 1}
    assert builder.show(stream=None) == builder.snapshot().show(stream=None)
    assert builder.tolist() == builder.to_list()
    with pytest.raises(ValueError):
        bool(builder)
    builder.clear()
    assert len(builder) == 0
    for args in ({"behavior": 5}, {"attrs": 5}, {"initial": "x"}, {"resize": "x"}):
        with pytest.raises(TypeError):
            forthwith.ArrayBuilder(**args)
    builder = forthwith.ArrayBuilder()
    builder.extend([1, 2.5])
    assert builder.to_numpy().tolist() == [1, 2.5]
    assert np.asarray(builder).tolist() == [1, 2.5]


def test_snapshots_are_copies():
    builder = forthwith.ArrayBuilder()
    builder.extend([1.5, 2.5])
    before = builder.snapshot()
    builder.extend([3.5] * 10_000)
    assert before.to_list() == [1.5, 2.5]
    array = forthwith.from_iter([1.5, 2.5])
    np.asarray(array)[0] = 7
    assert array.to_list() == [7, 2.5]


def test_import_stays_light():
    code = "import sys, forthwith; print([n for n in ('numpy', 'awkward', 'forthwith.builders') if n in sys.modules])"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_nesting_that_awkward_cannot_take_is_an_error_of_ours():
    builder = forthwith.ArrayBuilder()
    for _ in range(1000):
        builder.begin_list()
    for _ in range(1000):
        builder.end_list()
    for look in (builder.snapshot, builder.to_list, lambda: builder.type):
        with pytest.raises(forthwith.UnsupportedError, match="nested deeper than Awkward Array"):
            look()
    assert len(builder) == 1


def test_what_a_span_raises_is_raised():
    class Span(datetime.timedelta):
        @property
        def microseconds(self):
            raise ZeroDivisionError("no microseconds")

    for call in (forthwith.from_iter, lambda data: forthwith.from_iter(data, "timedelta64[us]")):
        with pytest.raises(ZeroDivisionError, match="no microseconds"):
            call([Span(1)])
