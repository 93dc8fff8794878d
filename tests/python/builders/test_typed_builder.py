"""Builders of a known type: what is told comes out as Awkward Array would have it, and what is wrong changes nothing."""

import datetime
import gc
import random
import threading

import awkward as ak
import numpy as np
import pytest

import forthwith
from forthwith import BuilderError, TypedArrayBuilder

TYPES = [
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
    "complex64",
    "complex128",
    "datetime64[us]",
    "timedelta64[10ms]",
    "string",
    "bytes",
    "string[2]",
    "bytes[3]",
    "?int64",
    "?string",
    "var * float64",
    "3 * int16",
    "2 * 2 * float64",
    "option[var * int64]",
    "var * var * ?float64",
    "{x: float64, y: ?string}",
    "(int64, var * string)",
    "P[x: int64, y: ?Q[z: bool]]",
    "P[int64, string]",
    "union[int64, string]",
    "union[?int64, ?var * string]",
    "var * union[{a: int64}, {b: string}, var * int64]",
    "{}",
    "()",
    "categorical[type=string]",
    'int64[parameters={"unit": "cm"}]',
    '[var * int64, parameters={"foo": 1}]',
]


def value(form, dice):
    """A random value of a Form, as a Python object."""
    parameter = form.parameter("__array__")
    if parameter in ("string", "bytestring"):
        size = form.size if form.is_regular else dice.randrange(5)
        text = "".join(dice.choice("abcdé"[: 4 if form.is_regular else 5]) for _ in range(size))
        return text if parameter == "string" else text.encode()
    if form.is_numpy:
        if form.inner_shape:
            inner = ak.forms.NumpyForm(form.primitive, form.inner_shape[1:])
            return [value(inner, dice) for _ in range(form.inner_shape[0])]
        return number(form.primitive, dice)
    if form.is_option:
        if dice.random() < 0.3 and not isinstance(form, ak.forms.UnmaskedForm):
            return None
        return value(form.content, dice)
    if form.is_union:
        return value(dice.choice(form.contents), dice)
    if form.is_indexed:
        return value(form.content, dice)
    if form.is_record:
        values = [value(content, dice) for content in form.contents]
        if form.is_tuple:
            return tuple(values)
        pairs = list(zip(form.fields, values, strict=True))
        dice.shuffle(pairs)
        return dict(pairs)
    size = form.size if form.is_regular else dice.randrange(4)
    return [value(form.content, dice) for _ in range(size)]


def number(primitive, dice):
    n = dice.randrange(100)
    if primitive == "bool":
        return n % 2 == 0
    if "int" in primitive:
        return n
    if primitive.startswith("datetime"):
        return np.datetime64(n, "s")
    if primitive.startswith("timedelta"):
        return np.timedelta64(n, "s")
    if primitive.startswith("complex"):
        return complex(n, 1)
    return n / 4


@pytest.mark.parametrize("text", TYPES)
def test_values_come_out_as_they_went_in(text):
    dice = random.Random(text)
    form = ak.forms.from_type(ak.types.from_datashape(text, highlevel=False))
    values = [value(form, dice) for _ in range(50)]
    builder = TypedArrayBuilder(text)
    for one in values:
        builder.append(one)
    array = builder.snapshot()
    assert ak.is_valid(array)
    assert str(array.type) == builder.typestr == f"50 * {ak.types.from_datashape(text, highlevel=False)}"
    if "time" in text:
        assert np.array_equal(array.to_numpy(), np.array(values).astype(array.to_numpy().dtype))
    else:
        assert array.to_list() == values
    builder.clear()
    builder.extend(values)
    assert ak.array_equal(builder.snapshot(), array)


FORMS = [
    ak.forms.ByteMaskedForm("i8", ak.forms.NumpyForm("float64"), valid_when=False),
    ak.forms.BitMaskedForm(
        "u8", ak.forms.from_type(ak.types.from_datashape("{x: string}", highlevel=False)), True, False
    ),
    ak.forms.BitMaskedForm("u8", ak.forms.NumpyForm("int8", (2,)), False, True),
    ak.forms.UnmaskedForm(ak.forms.NumpyForm("int64")),
    ak.forms.IndexedForm("i32", ak.forms.NumpyForm("int64")),
    ak.forms.IndexedOptionForm("i32", ak.forms.ListOffsetForm("u32", ak.forms.NumpyForm("int64"))),
    ak.forms.ListForm("i32", "i32", ak.forms.ListForm("i64", "i64", ak.forms.NumpyForm("bool"))),
    ak.forms.UnionForm(
        "i8", "i32", [ak.forms.NumpyForm("int64"), ak.forms.ListOffsetForm("i32", ak.forms.NumpyForm("int64"))]
    ),
    ak.forms.NumpyForm("float16"),
    ak.forms.RegularForm(ak.forms.NumpyForm("float32"), 0),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form.type))
def test_forms_are_kept(form):
    dice = random.Random(1)
    values = [value(form, dice) for _ in range(40)]
    for described in (form, form.to_json(), form.to_dict()):
        builder = TypedArrayBuilder(described)
        builder.extend(values)
        assert builder.form.is_equal_to(form) if hasattr(form, "is_equal_to") else builder.form.type == form.type
        array = builder.snapshot()
        assert ak.is_valid(array)
        assert type(array.layout).__name__ == type(form).__name__.replace("Form", "Array")
        assert array.to_list() == values


def test_commands_are_those_of_awkward():
    told = [
        ("begin_list",), ("begin_record",), ("field", "x"), ("real", 1.5), ("field", "y"), ("begin_tuple", 2), ("index", 1),
        ("string", "s"), ("index", 0), ("complex", 1 + 2j), ("end_tuple",), ("end_record",), ("end_list",), ("begin_list",),
        ("end_list",), ("null",),
    ]  # fmt: skip
    typed = TypedArrayBuilder("option[var * {x: float64, y: (complex128, string)}]")
    discovering = ak.ArrayBuilder()
    for command, *arguments in told:
        getattr(typed, command)(*arguments)
        getattr(discovering, command)(*arguments)
        assert len(typed) == len(discovering)
        assert typed.to_list() == discovering.to_list()
    assert ak.array_equal(typed.snapshot(), discovering.snapshot())
    assert str(typed.type) == str(discovering.type) == typed.typestr
    assert repr(typed) == "<TypedArrayBuilder type='3 * option[var * {x: float64, y: (complex128, string)}]'>"
    for name in vars(ak.ArrayBuilder):
        if not name.startswith("_") and name not in ("List", "Tuple", "Record", "numba_type"):
            assert hasattr(typed, name), name


def test_with_blocks():
    builder = TypedArrayBuilder("var * {x: int64, y: (int64, bool)}")
    with builder.list():
        for x in range(3):
            with builder.record():
                builder.field("x").integer(x)
                with builder.field("y").tuple(2):
                    builder.index(0).integer(x)
                    builder.index(1).boolean(True)
    assert builder.to_list() == [[{"x": x, "y": (x, True)} for x in range(3)]]
    with pytest.raises(KeyError), builder.list(), builder.record():
        raise KeyError  # the record is not complete, but that is not what went wrong
    with pytest.raises(BuilderError, match='no value for "x", "y"'):
        builder.end_record()


def test_mistakes_say_what_and_where_and_change_nothing():
    builder = TypedArrayBuilder("var * {x: int8, y: ?string}")
    with pytest.raises(BuilderError, match="integer: not possible here; expected begin_list for var"):
        builder.integer(1)
    builder.begin_list()
    builder.begin_record()
    with pytest.raises(BuilderError, match=r'there is no field "z"; expected "x", "y" \(at entry 0, \[\]\)') as caught:
        builder.field("z")
    assert (caught.value.entry, caught.value.member) == (0, "[]")
    builder.field("x")
    for wrong in (200, -129, 2**63, 2**64, -(2**70)):
        with pytest.raises(forthwith.IntegerRangeError):
            builder.integer(wrong)
    for wrong, error in ((1.5, TypeError), ("1", TypeError), (None, TypeError)):
        with pytest.raises(error):
            builder.integer(wrong)
    builder.integer(np.int8(5))
    builder.end_record()
    with pytest.raises(BuilderError):
        builder.append({"x": 1, "w": 2})
    with pytest.raises(BuilderError):
        builder.extend([{"x": 1}, {"x": 2, "y": b"bytes"}])
    with pytest.raises(BuilderError, match=r"index: -1: expected|index: not possible here"):
        builder.index(-1)
    with pytest.raises(BuilderError, match="a field's name must be a string"):
        builder.append({1: 2})
    with pytest.raises(BuilderError, match="cannot convert <object"):
        builder.append(object())
    builder.end_list()
    assert builder.to_list() == [[{"x": 5, "y": None}]]


def test_numbers_below_zero_are_wrong_as_others_are():
    union = TypedArrayBuilder("union[int64, string]")
    pair = TypedArrayBuilder("(int64, string)")
    for command, expected in ((union.tag, r"union\[int64, string\]"), (pair.begin_tuple, r"\(int64, string\)")):
        for wrong in (-1, -(2**63), 7):
            with pytest.raises(BuilderError, match=f"expected {expected}"):
                command(wrong)
    pair.begin_tuple(2)
    with pytest.raises(BuilderError, match="expected a slot of the 2 there are"):
        pair.index(-1)
    pair.index(0).integer(1)
    pair.index(1).string("one")
    pair.end_tuple()
    union.integer(1)
    assert (pair.to_list(), union.to_list()) == ([(1, "one")], [1])


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "var int64",
        "float128",
        "P[",
        "{x: int64",
        '{"class": "VirtualForm"}',
        '{"class": "NumpyArray"}',
        "var * " * 300 + "bool",
    ],
)
def test_what_is_no_type_is_refused(wrong):
    with pytest.raises(BuilderError):
        TypedArrayBuilder(wrong)
    with pytest.raises(TypeError):
        TypedArrayBuilder(3)


def test_types_are_taken_in_every_shape():
    array = ak.Array([[{"x": 1.5, "y": "a"}], []])
    for described in (array, array.layout, array.layout.form, array.type, array.type.content, str(array.type.content)):
        assert TypedArrayBuilder(described).typestr == "0 * var * {x: float64, y: string}"
    assert TypedArrayBuilder(array[0, 0].type).typestr == "0 * {x: float64, y: string}"
    assert TypedArrayBuilder({"class": "NumpyArray", "primitive": "int8"}).typestr == "0 * int8"


def test_arrays_are_taken_whole():
    builder = TypedArrayBuilder("float64")
    builder.extend(np.arange(1000.0))
    builder.extend(np.arange(5, dtype=np.int16))
    builder.extend(np.arange(5.0)[::2])
    builder.extend(np.arange(3, dtype=">f8"))
    builder.extend(ak.Array([1, 2]))
    builder.extend(range(2))
    builder.extend(iter([True and 1.0]))
    assert builder.to_list() == [*range(1000), *range(5), 0, 2, 4, 0, 1, 2, 1, 2, 0, 1, 1]
    nested = TypedArrayBuilder("var * var * int8")
    nested.append(np.arange(6).reshape(2, 3))
    nested.extend(np.arange(8, dtype=np.int8).reshape(2, 2, 2))
    assert nested.to_list() == [[[0, 1, 2], [3, 4, 5]], [[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    with pytest.raises(forthwith.IntegerRangeError):
        nested.append([np.array([1, 2, 300])])
    assert len(nested) == 3
    times = TypedArrayBuilder("var * datetime64[ns]")
    times.append(np.array(["2020-01-01", "NaT"], "M8[D]"))
    assert times.snapshot()[0].to_numpy().tolist() == np.array(["2020-01-01", "NaT"], "M8[ns]").tolist()
    scalars = TypedArrayBuilder("union[float64, string, bool]")
    scalars.extend([np.float32(1.5), np.array(2.5), np.str_("x"), np.bool_(True), np.float16(0.5)])
    assert scalars.to_list() == [1.5, 2.5, "x", True, 0.5]


def test_times():
    builder = TypedArrayBuilder("{t: ?datetime64[s], d: ?timedelta64[ms]}")
    for t in (
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        datetime.date(2020, 1, 2),
        "2020-01-02",
        np.datetime64("2020", "Y"),
    ):
        builder.begin_record()
        builder.field("t").datetime(t)
        builder.end_record()
    for d in (datetime.timedelta(days=1, microseconds=2000), np.timedelta64(3, "h"), np.timedelta64("NaT")):
        builder.begin_record()
        builder.field("d").timedelta(d)
        builder.end_record()
    builder.begin_record()
    with pytest.raises(BuilderError, match=r"no whole number of \[s\]"):
        builder.field("t").datetime(np.datetime64(1500, "ms"))
    for wrong in (5, datetime.timedelta(1), np.timedelta64(1, "s"), object()):
        with pytest.raises(BuilderError):
            builder.datetime(wrong)
    builder.end_record()
    array = builder.snapshot()
    assert array.t.to_list()[:4] == [
        datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2),
        datetime.datetime(2020, 1, 1),
    ]  # fmt: skip
    assert array.d.to_list()[4:6] == [datetime.timedelta(days=1, microseconds=2000), datetime.timedelta(hours=3)]


def test_snapshots_stay_as_they_are():
    builder = TypedArrayBuilder("var * int64")
    builder.append([1, 2])
    builder.begin_list()
    builder.integer(3)
    before = builder.snapshot()
    builder.end_list()
    builder.clear()
    builder.append([9, 9, 9])
    gc.collect()
    assert before.to_list() == [[1, 2]]
    form, length, buffers = builder.to_buffers()
    assert ak.from_buffers(form, length, buffers).to_list() == [[9, 9, 9]]


def test_behaviors_and_attributes_are_handed_on():
    class Special(ak.Array):
        pass

    builder = TypedArrayBuilder("P[x: int64]", behavior={("*", "P"): Special}, attrs={"a": 1})
    builder.append({"x": 1})
    assert isinstance(builder.snapshot(), Special)
    assert builder.snapshot().attrs == {"a": 1}
    with pytest.raises(TypeError):
        TypedArrayBuilder("int64", behavior=3)


def test_a_value_is_not_tried_in_the_place_of_its_item():
    builder = TypedArrayBuilder("var * union[var * int64, var * var * bool]")
    with pytest.raises(BuilderError, match="several alternatives"):
        builder.append([[True]])
    builder.append([[1], [[True]]])
    assert builder.to_list() == [[[1], [[True]]]]


def test_values_that_do_things_when_looked_at():
    builder = TypedArrayBuilder("var * int64")
    items = [1, 2]

    class Nasty:
        def __init__(self, deed):
            self.deed = deed

        def __iter__(self):
            self.deed()
            return iter([1])

    outer = []
    outer += [Nasty(outer.pop), [5]]
    builder.extend(outer)
    assert builder.to_list() == [[1]]
    with pytest.raises(BuilderError):
        builder.append(Nasty(builder.clear))
    items.append(items)
    with pytest.raises(BuilderError):
        builder.append(items)

    def fail():
        raise ZeroDivisionError

    builder = TypedArrayBuilder("var * var * int64")
    with pytest.raises(ZeroDivisionError):
        builder.append([[1], Nasty(fail)])
    assert builder.to_list() == []
    builder.append([Nasty(lambda: None)])
    assert builder.to_list() == [[[1]]]


def test_threads_take_turns():
    builder = TypedArrayBuilder("int64")
    threads = [threading.Thread(target=lambda: [builder.integer(1) for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builder) == 8000


def test_arrow_and_numpy():
    pa = pytest.importorskip("pyarrow")
    builder = TypedArrayBuilder("{x: ?int32, y: string}")
    builder.extend([{"x": 1, "y": "a"}, {"y": "b"}])
    assert pa.array(builder).to_pylist() == [{"x": 1, "y": "a"}, {"x": None, "y": "b"}]
    numbers = TypedArrayBuilder("2 * float32")
    numbers.extend([[1, 2], [3, 4]])
    assert np.array_equal(numbers.to_numpy(), np.array([[1, 2], [3, 4]], np.float32))
    assert np.array_equal(np.asarray(numbers), numbers.to_numpy())


def test_the_program_is_there_to_read():
    source = TypedArrayBuilder("var * float64").source
    assert "pause" in source
    machine = forthwith.forth.ForthMachine64(source) if hasattr(forthwith, "forth") else None
    if machine is not None:
        machine.begin({"data": b""})


def test_random_commands_agree_with_a_model():
    """Whatever is told in whatever order: entries are complete or not there."""
    dice = random.Random(3)
    builder = TypedArrayBuilder("var * {x: ?int64, y: union[float64, string]}")
    done = 0
    for _ in range(3000):
        command, *arguments = dice.choice([
            ("begin_list",), ("end_list",), ("begin_record",), ("end_record",), ("field", "x"), ("field", "y"), ("integer", 1),
            ("real", 1.5), ("string", "s"), ("null",), ("tag", 0), ("tag", 1), ("tag", 2), ("begin_tuple", 1),
            ("boolean", True),
        ])  # fmt: skip
        before = len(builder)
        try:
            getattr(builder, command)(*arguments)
            done += 1
        except BuilderError:
            assert len(builder) == before
    assert done > 300
    assert ak.is_valid(builder.snapshot())


def test_a_type_asked_for_is_not_simplified():
    big = 2**53 + 1
    for type, data in [
        ("union[float64, int64]", [1.5, big]),
        ("{k: union[uint64, int64]}", [{"k": 2**64 - 1}, {"k": -1}]),
        ("var * union[{x: int64}, {x: float64}]", [[{"x": big}, {"x": 0.5}]]),
    ]:
        array = forthwith.from_iter(data, type)
        assert array.to_list() == data
        assert str(array.type.content) == type
        builder = forthwith.TypedArrayBuilder(type)
        if "{x:" not in type:  # whose records are told apart by their values here, and by nothing there
            builder.extend(data)
            assert builder.snapshot().to_list() == data
            assert str(builder.snapshot().type.content) == type


def test_categories_are_kept_once():
    for type, data, once in [
        ("categorical[type=string]", ["a", "b", "a"], 2),
        ("?categorical[type=string]", ["a", None, "a"], 1),
        ("categorical[type=float64]", [0.0, -0.0, 1, 1.0], 2),
        ("categorical[type=float32]", [0.1, 0.1 + 1e-12, float("nan"), float("nan")], 2),
        ("categorical[type=float16]", [0.1, 0.100001, 0.0, -1e-30], 2),
        ("categorical[type=complex128]", [1, 1.0, 1 + 0j, 1j], 2),
    ]:
        described = (
            [type] if "float16" in type else [type, ak.types.from_datashape(type, highlevel=False)]
        )  # which it cannot parse
        for array in (forthwith.from_iter(data, each) for each in described):
            assert str(array.type.content) == type
            assert len(array.layout.content) == once, (type, array.layout)
            if "string" in type or "float64" in type:  # of which Awkward has a way to tell
                assert not ak.validity_error(array)
    for type in ("categorical[type={x: int64}]", "?categorical[type=var * int64]", "categorical[type=1 * uint8]"):
        with pytest.raises(ValueError, match="no single values"):
            forthwith.TypedArrayBuilder(type)
    indexed = ak.forms.from_dict({"class": "IndexedArray", "index": "i64", "content": "float64"})
    assert forthwith.from_iter([1.0, 1.0], indexed).to_list() == [1.0, 1.0]
