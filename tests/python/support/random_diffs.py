"""Random tables, copies of them with planted differences, and what differs by a walk over Python's values."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import awkward as ak
import numpy as np

KINDS = ("int32", "int64", "uint8", "float32", "float64", "bool", "text", "list", "lists", "record", "option", "array")
NUMBERS = ("int32", "int64", "uint8", "float32", "float64", "bool")


def number(rng: random.Random, kind: str) -> Any:
    if kind == "bool":
        return rng.random() < 0.5
    if kind.startswith("float"):
        drawn = rng.choice((rng.gauss(0, 10), 0.0, -0.0, math.nan, math.inf, rng.random()))
        return struct.unpack("f", struct.pack("f", drawn))[0] if kind == "float32" else drawn
    return rng.randrange(0, 200)


def value(rng: random.Random, kind: Any) -> Any:
    match kind:
        case ("list", inner):
            return [value(rng, inner) for _ in range(rng.choice((0, 0, 1, 2, 5)))]
        case ("array", inner):
            return [value(rng, inner) for _ in range(3)]
        case ("record", inner):
            return {name: value(rng, part) for name, part in inner.items()}
        case ("option", inner):
            return None if rng.random() < 0.3 else value(rng, inner)
        case "text":
            return "".join(rng.choice("abé ") for _ in range(rng.randrange(4)))
    return number(rng, kind)


def kind_of(rng: random.Random, depth: int = 0) -> Any:
    drawn = rng.choice(KINDS if depth < 2 else (*NUMBERS, "text"))
    match drawn:
        case "list" | "lists":
            return ("list", kind_of(rng, depth + 1))
        case "array":
            return ("array", rng.choice(NUMBERS))
        case "record":
            return ("record", {name: kind_of(rng, depth + 1) for name in "xy"[: rng.randrange(1, 3)]})
        case "option":
            return ("option", rng.choice((*NUMBERS, "text", ("list", "int32"))))
    return drawn


def arrow_type(kind: Any) -> Any:
    import pyarrow as pa

    match kind:
        case ("list", inner):
            return pa.large_list(field("item", inner))
        case ("array", inner):
            return pa.list_(field("item", inner), 3)
        case ("record", inner):
            return pa.struct([field(name, part) for name, part in inner.items()])
        case ("option", inner):
            return arrow_type(inner)
        case "text":
            return pa.string()
    return {"bool": pa.bool_(), "float32": pa.float32(), "float64": pa.float64()}.get(kind) or getattr(pa, kind)()


def field(name: str, kind: Any) -> Any:
    import pyarrow as pa

    return pa.field(name, arrow_type(kind), nullable=kind[0] == "option")


def write(path: str, kinds: dict[str, Any], columns: dict[str, list[Any]], rows: int) -> None:
    """Writes a Parquet file by Arrow."""
    import pyarrow as pa
    import pyarrow.parquet

    fields = [field(name, kind) for name, kind in kinds.items()]
    arrays = [pa.array(columns[one.name], one.type) for one in fields]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pyarrow.parquet.write_table(table, path, row_group_size=max(1, rows // 3), use_dictionary=rows % 2 == 0)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, where NaN equals NaN."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return all(same(left[name], right[name]) for name in left)
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)


def table(rng: random.Random) -> tuple[dict[str, Any], dict[str, list[Any]], dict[str, list[Any]], int]:
    """Types, columns, and the columns with differences in some rows."""
    rows = rng.choice((0, 1, 7, 50, 300))
    kinds = {f"c{at}": kind_of(rng) for at in range(rng.randrange(1, 6))}
    columns = {name: [value(rng, kind) for _ in range(rows)] for name, kind in kinds.items()}
    changed = {name: list(column) for name, column in columns.items()}
    if rows and rng.random() < 0.8:
        for _ in range(rng.choice((1, 2, 20))):
            name = rng.choice(list(kinds))
            changed[name][rng.randrange(rows)] = value(rng, kinds[name])
    return kinds, columns, changed, rows


def expected(columns: dict[str, list[Any]], changed: dict[str, list[Any]]) -> dict[str, list[int]]:
    """The differing rows of each column."""
    return {
        name: [
            row for row, (left, right) in enumerate(zip(column, changed[name], strict=False)) if not same(left, right)
        ]
        for name, column in columns.items()
    }


def awkward_rows(columns: dict[str, list[Any]]) -> ak.Array:
    return ak.zip({name: ak.Array(np.asarray(column)) for name, column in columns.items()}, depth_limit=1)
