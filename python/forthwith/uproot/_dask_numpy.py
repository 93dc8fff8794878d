"""Branches as arrays of Dask, with a chunk for each partition."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from forthwith._packages import package
from forthwith.engines._types import check_same
from forthwith.uproot._dask_parts import Part, reading


def columns(form: Any, parts: list[Part], opening: dict[str, Any]) -> dict[str, Any]:
    """Branches as arrays of Dask; a chunk is of unknown length if its file was not opened."""
    da: Any = import_module("dask.array")
    tokenize: Any = import_module("dask.base").tokenize
    first = parts[0]
    nothing = _numpy(replace(first, partition=replace(first.partition, start=0, stop=0)), list(form.fields), opening)
    lengths = tuple(one.num_entries for one in parts)
    token = tokenize(parts, opening)
    found = {}
    for name in form.fields:
        # What is not a number is a column of objects, one an entry, also where all lists happen to be of one length.
        empty = nothing[name] if _is_number(form.content(name)) else package("numpy").empty(0, object)
        known = first.partition.file, {name: _spelled(empty)}
        key = f"{name}-from-forthwith-{tokenize(token, name, known)}"
        rest = (0,) * (empty.ndim - 1)
        graph = {(key, at, *rest): (_column, one, name, known, opening) for at, one in enumerate(parts)}
        chunks = (lengths, *((size,) for size in empty.shape[1:]))
        found[name] = da.Array(graph, key, chunks, dtype=empty.dtype)
    return found


def _is_number(form: Any) -> bool:
    return form.is_numpy or (form.is_regular and form.parameter("__array__") is None and _is_number(form.content))


def _column(part: Part, name: str, known: tuple[str, dict[str, str]], opening: dict[str, Any]) -> Any:
    array = _numpy(part, [name], opening)[name]
    if known[1][name] == "object" and array.dtype != object:
        rows = package("numpy").empty(len(array), object)
        for at, row in enumerate(array):
            rows[at] = row
        array = rows
    check_same(known, part.partition.file, {name: _spelled(array)})
    return array


def _spelled(array: Any) -> str:
    return f"{array.dtype}{list(array.shape[1:]) or ''}"


def _numpy(part: Part, names: list[str], opening: dict[str, Any]) -> dict[str, Any]:
    with reading(part, opening) as (tree, start, stop):
        found: dict[str, Any] = tree.arrays(names, entry_start=start, entry_stop=stop, library="np")
        return found
