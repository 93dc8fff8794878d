"""Columns that files have in types of their own: together they have all values, in the type that NumPy promotes to."""

import itertools
import subprocess
import sys

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest

import forthwith
from forthwith import _forthwith

pq = pytest.importorskip("pyarrow.parquet")

NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)] + ["float32", "float64"]


def structure(random, depth):
    """Numbers, text, a list (with one structure) or records in a list (with several by name)."""
    choice = random.integers(5 if depth else 2)
    if choice >= 3:
        return [structure(random, depth - 1)]
    if choice == 2:
        return [{name: structure(random, depth - 1) for name in "ab"[: random.integers(1, 3)]}]
    return "text" if choice else "number"


def typed(random, of):
    """A type of Arrow for a structure, and the types of its numbers in their order."""
    if of == "text":
        return pa.string(), []
    if of == "number":
        number = str(random.choice(NUMBERS))
        return pa.from_numpy_dtype(number), [number]
    nullable = bool(random.integers(2))
    if isinstance(of, list):
        content, numbers = typed(random, of[0])
        return pa.list_(pa.field("item", content, nullable)), numbers
    contents = {name: typed(random, content) for name, content in of.items()}
    fields = [pa.field(name, kind, nullable) for name, (kind, _) in contents.items()]
    return pa.struct(fields), [number for _, numbers in contents.values() for number in numbers]


def value(random, kind, nullable):
    """A value of a type."""
    if nullable and random.random() < 0.2:
        return None
    if pa.types.is_list(kind):
        item = kind.value_field
        return [value(random, item.type, item.nullable) for _ in range(random.integers(4))]
    if pa.types.is_struct(kind):
        return {field.name: value(random, field.type, field.nullable) for field in kind}
    # All types of numbers have these.
    return str(random.integers(100)) if pa.types.is_string(kind) else int(random.integers(100))


def spelled(of, numbers):
    """The type in Awkward Array's words, of numbers that are taken one by one."""
    if isinstance(of, list):
        return f"var * {spelled(of[0], numbers)}"
    if isinstance(of, dict):
        return "{" + ", ".join(f"{name}: {spelled(content, numbers)}" for name, content in of.items()) + "}"
    return "string" if of == "text" else next(numbers)


def bare(array):
    """The type of an array's items, whether they may be missing or not."""
    return str(array.type.content).replace("?", "").replace("option[", "").replace("]", "")


@pytest.mark.parametrize("seed", range(12))
def test_values_of_all_files_are_there_at_every_level(seed, tmp_path):
    random = np.random.default_rng((17, seed))
    structures = {name: structure(random, 2) for name in ("x", "y", "z")}
    rows, numbers, files = [], {name: [] for name in structures}, []
    for at in range(3):
        arrays, fields, count = [], [], int(random.integers(1, 8))
        made = [{} for _ in range(count)]
        for name, of in structures.items():
            (kind, own), nullable = typed(random, of), bool(random.integers(2))
            numbers[name].append(own)
            items = [value(random, kind, nullable) for _ in range(count)]
            for row, item in zip(made, items, strict=True):
                row[name] = item
            arrays.append(pa.array(items, kind))
            fields.append(pa.field(name, kind, nullable))
        files.append(str(tmp_path / f"{at}.parquet"))
        pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), files[-1])
        rows += made
    chain = forthwith.Chain(files, missing="null")
    assert chain.arrays().to_list() == rows
    assert [row for step in chain.iterate(step_size=3) for row in step.to_list()] == rows
    assert chain.arrays(["x"], cut="True").x.to_list() == [row["x"] for row in rows]
    for name, of in structures.items():
        wanted = spelled(of, (np.result_type(*found).name for found in zip(*numbers[name], strict=True)))
        assert {bare(step[name]) for step in chain.iterate(step_size=3)} == {wanted}
    if seed < 4:
        for ending in ("parquet", "avro"):
            to = str(tmp_path / f"all.{ending}")
            command = [sys.executable, "-m", "forthwith", "convert", *files, to]
            subprocess.run(command, check=True, capture_output=True)
            assert forthwith.concatenate(to).to_list() == rows


def test_fields_are_found_by_name_and_lists_by_their_items(tmp_path):
    first = pa.array([[{"a": 1, "b": "x"}]], pa.list_(pa.struct({"a": pa.int32(), "b": pa.string()})))
    other = pa.array([[{"b": "y", "a": 0.5}]], pa.list_(pa.struct({"b": pa.string(), "a": pa.float64()})))
    for at, array in enumerate((first, other)):
        pq.write_table(pa.table({"r": array}), tmp_path / f"{at}.parquet")
    found = forthwith.Chain(f"{tmp_path}/*.parquet", missing="null").arrays().r
    assert found.to_list() == [[{"a": 1, "b": "x"}], [{"a": 0.5, "b": "y"}]]
    steps = forthwith.iterate(f"{tmp_path}/*.parquet", missing="null", step_size=1)
    assert {bare(step.r) for step in steps} == {"var * {a: float64, b: string}"}


def test_numbers_are_promoted_as_numpy_promotes_them(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({number: np.zeros(1, number) for number in NUMBERS}), path)
    with forthwith.open(path) as table:
        forms = {number: table._core.column_form(at) for at, number in enumerate(NUMBERS)}
    for chosen in itertools.chain(itertools.combinations(NUMBERS, 2), itertools.combinations(NUMBERS, 3)):
        united = _forthwith.ColumnForm.unite([forms[number] for number in chosen])
        assert str(united).strip("?") == np.result_type(*chosen).name, chosen


def test_structures_without_a_common_type_are_merged_or_refused(tmp_path):
    for at, x in enumerate(([[{"a": 1}]], [[{"b": 2}]])):
        pq.write_table(pa.table({"x": x}), tmp_path / f"{at}.parquet")
    found = forthwith.concatenate(f"{tmp_path}/*.parquet", missing="null").x
    assert ak.to_list(found) == [[{"a": 1}], [{"b": 2}]]
    command = [sys.executable, "-m", "forthwith", "convert", f"{tmp_path}/0.parquet", f"{tmp_path}/1.parquet"]
    done = subprocess.run([*command, f"{tmp_path}/all.parquet"], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "column x has type " in done.stderr
