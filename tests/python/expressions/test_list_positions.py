"""Positions, slices and statistics of lists, compared with Awkward Array, in all formats and calls."""

import random

import awkward as ak
import numpy as np
import pytest

import forthwith

SLICES = (":1", "1:", ":-1", "-1:", "-2:1", "::2", "1::2", "-2::2", ":", "3:1")
STATISTICS = ("mean", "var", "std", "argmin", "argmax")


@pytest.fixture(scope="module")
def arrays():
    chance = random.Random(5)
    counts = [chance.choice((0, 1, 2, 3, 5)) for _ in range(300)]
    inner = [chance.choice((0, 0, 1, 2, 3)) for _ in range(sum(counts))]
    numbers = [chance.choice((0.5, float("nan"), chance.uniform(-9, 9), 1e30)) for _ in range(sum(counts))]
    deep = [chance.randint(-9, 9) for _ in range(sum(inner))]
    return {
        "n": ak.Array(np.array(counts, np.int32)),
        "f": ak.unflatten(ak.Array(np.array(numbers, np.float32)), counts),
        "i": ak.unflatten(ak.Array(np.array([chance.randint(-100, 100) for _ in numbers], np.int16)), counts),
        "d": ak.unflatten(ak.unflatten(ak.Array(np.array(deep, np.int32)), inner), counts),
        "r": ak.Array(np.arange(300 * 6, dtype=np.float64).reshape(300, 2, 3)),
    }


@pytest.fixture(scope="module", params=["parquet", "avro", "root"])
def table(request, arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("positions") / f"t.{request.param}"
    if request.param == "parquet":
        forthwith.write_parquet(path, arrays)
    elif request.param == "avro":
        forthwith.write_avro(path, {name: array for name, array in arrays.items() if name != "r"})
    else:
        with forthwith.recreate(path) as file:
            file["t"] = {name: array for name, array in arrays.items() if name != "d"}
    with forthwith.open(f"{path}:t" if request.param == "root" else str(path)) as table:
        yield table


def same(ours, theirs):
    """Whether arrays are equal, NaN to NaN."""
    return repr(ours.to_list()) == repr(theirs.to_list())


def computed(table, text):
    return table.arrays([text], how=tuple)[0]


def test_slices_are_those_of_awkward_array(table, arrays):
    for name in ("f", "i", "d", "r"):
        if name not in table:
            continue
        for part in SLICES:
            assert same(computed(table, f"{name}[:, {part}]"), eval(f"x[:, {part}]", {"x": arrays[name]})), part
    for name in ("d", "r"):
        if name not in table:
            continue
        for part in ("1:", "-1:", "::2"):
            assert same(computed(table, f"{name}[:, :, {part}]"), eval(f"x[:, :, {part}]", {"x": arrays[name]}))
            assert same(computed(table, f"{name}[..., {part}]"), eval(f"x[..., {part}]", {"x": arrays[name]}))
            both = eval(f"x[:, {part}, :2]", {"x": arrays[name]})
            assert same(computed(table, f"{name}[:, {part}, :2]"), both)


def test_items_at_a_position_are_missing_where_there_are_none(table, arrays):
    for name in ("f", "i", "d"):
        if name not in table:
            continue
        for at in (0, 1, -1, -3):
            wanted = ak.firsts(_item(arrays[name], at))
            assert same(computed(table, f"{name}[:, {at}]"), wanted), (name, at)
    if "r" in table:
        for text in ("r[:, 1]", "r[:, 0, 2]", "r[..., -1]", "r[:, -1, 1:]"):
            assert same(computed(table, text), eval(text, {"r": arrays["r"]}))
        with pytest.raises(forthwith.RequestError, match="position 2 is outside arrays of 2 items"):
            computed(table, "r[:, 2]")


def _item(array, at):
    """A list of the item at a position, or none, for each list."""
    counts = ak.num(array)
    index = ak.local_index(array, axis=1)
    return array[index == (at if at >= 0 else counts + at)]


def test_statistics_are_those_of_awkward_array(table, arrays):
    for name in ("f", "i"):
        for by in STATISTICS:
            assert same(computed(table, f"{by}({name})"), getattr(ak, by)(arrays[name], axis=-1)), (by, name)
    for digits in (0, 1, -1):
        assert same(computed(table, f"round(f, {digits})"), np.round(arrays["f"], digits))
    assert same(computed(table, "isin(i, [1, 2, 30])"), (arrays["i"] == 1) | (arrays["i"] == 2) | (arrays["i"] == 30))


def test_cuts_take_them(table, arrays):
    wanted = arrays["n"][ak.fill_none(ak.firsts(arrays["i"]) > 0, False)]
    assert same(table.arrays(["n"], cut="i[:, 0] > 0", how=tuple)[0], wanted)
    wanted = arrays["n"][(arrays["n"] == 1) | (arrays["n"] == 5)]
    assert same(table.arrays(["n"], cut="n in (1, 5)", how=tuple)[0], wanted)
    numbers = table.arrays(["Entry$", "n"], cut="Entry$ % 3 == 1", how=tuple)
    assert numbers[0].to_list() == list(range(1, 300, 3))
    assert same(numbers[1], arrays["n"][1::3])


def test_entries_are_numbered_over_all_files_of_a_chain(tmp_path):
    for at in range(3):
        forthwith.write_parquet(tmp_path / f"{at}.parquet", {"x": np.arange(5)})
    files = [str(tmp_path / f"{at}.parquet") for at in range(3)]
    with forthwith.open(files) as chain:
        found = chain.arrays(["Entry$", "LocalEntry$"], cut="Entry$ > 3", how=tuple)
    assert found[0].to_list() == list(range(4, 15))
    assert found[1].to_list() == [4, *range(5), *range(5)]
