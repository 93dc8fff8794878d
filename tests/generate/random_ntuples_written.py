"""RNTuples of random types, written by forthwith and read by C++ ROOT, uproot and forthwith.

    python tests/generate/random_ntuples_written.py write FOLDER [SEED] [COUNT]
    python tests/generate/random_ntuples_written.py choose FOLDER [SEED]
    python tests/generate/random_ntuples_written.py root|uproot|forthwith FOLDER

`write` draws types, values and options by a seed, writes a file of each, and tells beside it what every entry holds; it needs
forthwith and Awkward Array, as `forthwith` does. `choose` puts
copies in their places, with some fields and entries of one or several times the same file. The others read the files and compare, to the bit: `root` by a C++ program that is made
for each file. They end with the number of files and values, or with the first difference of each file.

A type is a tuple: its kind and what belongs to it. ``make`` gives an Awkward layout of it and, for each row, the text that the C++ program
is to print: floats by their bits, so that values are compared and not what is printed of them.
"""

from __future__ import annotations

import json
import random
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
from ntuple_printer import NUMBERS, PRINT, Printer, Type, has_choice, has_record, size_of


# What values of a kind are in Python: of a union each alternative is another.
SHAPES = {
    "number": "number", "half": "number", "text": "text", "bytes": "list", "list": "list", "array": "list",
    "shape": "list", "record": "record", "tuple": "record", "option": "option", "union": "union",
}  # fmt: skip

Made = tuple[ak.contents.Content, list[str]]


def kind(choose: random.Random, depth: int, inside: str = "", record: str = "") -> Type:
    """A random type. ``inside`` says of what it is a part, and ``record`` that records in it have a class, or that it is within one: ROOT has
    no field for the members of an interpreted class that are options or variants.
    """
    if depth == 0 or choose.random() < 0.15:
        leaves = [*NUMBERS, "text", "text", "bytes", "half", *([] if inside else ["category"])]
        leaf = choose.choice(leaves)
        return ("number", leaf) if leaf in NUMBERS else (leaf,)
    kinds = ["list", "list", "array", "record", "tuple", "shape"]
    if inside not in ("option", "union") and record != "within":
        kinds += ["option", "union"]
    found = choose.choice(kinds)
    if found == "shape":
        return ("shape", choose.choice(list(NUMBERS)), [choose.randint(1, 3) for _ in range(choose.randint(1, 3))])
    if found == "record":
        inner = "within" if record else ""
        return ("record", [(f"m{at}", kind(choose, depth - 1, "", inner)) for at in range(choose.randint(1, 3))])
    if found == "tuple":
        slots = [kind(choose, depth - 1, "", record) for _ in range(choose.randint(1, 3))]
        if record and any(has_record(slot) for slot in slots) and any(has_choice(slot) for slot in slots):
            slots = [("text",)]
        return ("tuple", slots)
    if found == "array":
        return ("array", choose.randint(1, 3), kind(choose, depth - 1, "", record or "classed"))
    if found == "union":
        # Awkward merges types that are alike.
        every = [kind(choose, depth - 1, "union", record or "classed") for _ in range(choose.randint(2, 3))]
        parts = {SHAPES[of[0]]: of for of in every}
        sizes = [size_of(part) for part in parts.values()]
        # ROOT's field takes the tag to be right behind the largest alternative, which C++ pads.
        if len(parts) < 2 or max(size for size, _ in sizes) % max(align for _, align in sizes):
            parts = {"number": ("number", "float64"), "text": ("text",)}
        return ("union", list(parts.values()))
    return (found, kind(choose, depth - 1, found, record))


def make(choose: random.Random, of: Type, rows: int) -> Made:
    """An array of so many rows, and what they are as text."""
    match of:
        case ("number", name):
            numbers = _numbers(choose, name, rows)
            return ak.contents.NumpyArray(numbers), [_number(number) for number in numbers]
        case ("half",):
            numbers = _numbers(choose, "float16", rows)
            return ak.contents.NumpyArray(numbers), [_number(np.float32(number)) for number in numbers]
        case ("shape", name, shape):
            numbers = _numbers(choose, name, rows * int(np.prod(shape))).reshape(rows, *shape)
            return ak.contents.NumpyArray(numbers), [_nested(row) for row in numbers]
        case ("text",):
            texts = [
                "".join(chr(choose.choice([65, 97, 233, 0x4E2D, 10, 34])) for _ in range(_length(choose)))
                for _ in range(rows)
            ]
            array = ak.Array(texts) if rows else ak.Array([""])[:0]
            return array.layout, ["s" + text.encode().hex() for text in texts]
        case ("bytes",):
            texts = [bytes(choose.randrange(256) for _ in range(_length(choose))) for _ in range(rows)]
            array = ak.Array(texts) if rows else ak.Array([b""])[:0]
            return array.layout, ["s" + text.hex() for text in texts]
        case ("category",):
            names = ["", "one", "two", "three"]
            index = ak.index.Index64(np.array([choose.randrange(4) for _ in range(rows)], np.int64))
            parameters = {"__array__": "categorical"}
            array = ak.contents.IndexedArray(index, ak.Array(names).layout, parameters=parameters)
            return array, ["s" + names[at].encode().hex() for at in index.data]
        case ("list", item):
            counts = [_length(choose) for _ in range(rows)]
            before = choose.choice([0, 0, 2])
            content, items = make(choose, item, before + sum(counts))
            offsets = np.cumsum([before, *counts])
            lists = [items[start:stop] for start, stop in zip(offsets, offsets[1:], strict=False)]
            index = ak.index.Index64(offsets)
            if choose.random() < 0.2:
                array = ak.contents.ListArray(ak.index.Index64(offsets[:-1]), ak.index.Index64(offsets[1:]), content)
            else:
                array = ak.contents.ListOffsetArray(index, content)
            return array, [f"[{''.join(text + ',' for text in row)}]" for row in lists]
        case ("array", size, item):
            content, items = make(choose, item, rows * size)
            lists = [items[at * size : at * size + size] for at in range(rows)]
            array = ak.contents.RegularArray(content, size, rows)
            return array, [f"[{''.join(text + ',' for text in row)}]" for row in lists]
        case ("record", fields):
            made = [make(choose, field, rows) for _, field in fields]
            array = ak.contents.RecordArray([array for array, _ in made], [name for name, _ in fields], rows)
            return array, [_record(row) for row in zip(*(texts for _, texts in made), strict=True)]
        case ("tuple", slots):
            made = [make(choose, slot, rows) for slot in slots]
            array = ak.contents.RecordArray([array for array, _ in made], None, rows)
            return array, [_record(row) for row in zip(*(texts for _, texts in made), strict=True)]
        case ("option", inner):
            there = rows + choose.randint(0, 3)
            content, values = make(choose, inner, there)
            if choose.random() < 0.5:
                index = [choose.randrange(there) if there and choose.random() < 0.7 else -1 for _ in range(rows)]
                array = ak.contents.IndexedOptionArray(ak.index.Index64(index), content)
            else:
                mask = np.array([choose.random() < 0.3 for _ in range(there)], bool)
                array = ak.contents.ByteMaskedArray(ak.index.Index8(mask.astype(np.int8)), content, valid_when=False)
                array = array[:rows]
                index = [-1 if mask[at] else at for at in range(rows)]
            return array, ["n" if at < 0 else values[at] for at in index]
        case ("union", parts):
            made = [make(choose, part, choose.randint(1, rows + 1)) for part in parts]
            tags = [choose.randrange(len(parts)) for _ in range(rows)]
            index = [choose.randrange(len(made[tag][1])) for tag in tags]
            array = ak.contents.UnionArray(
                ak.index.Index8(np.array(tags, np.int8)), ak.index.Index64(np.array(index, np.int64)),
                [array for array, _ in made],
            )  # fmt: skip
            texts = [f"<{tag}>{made[tag][1][at]}" for tag, at in zip(tags, index, strict=True)]
            if choose.random() < 0.3:
                there = [at if choose.random() < 0.7 else -1 for at in range(rows)]
                array = ak.contents.IndexedOptionArray.simplified(ak.index.Index64(np.array(there, np.int64)), array)
                texts = ["n" if at < 0 else texts[at] for at in there]
            return array, texts
    raise ValueError(of)


def _length(choose: random.Random) -> int:
    return 0 if choose.random() < 0.3 else choose.randrange(5)


def _numbers(choose: random.Random, name: str, count: int) -> np.ndarray:
    if name == "bool":
        return np.array([choose.random() < 0.5 for _ in range(count)], bool)
    dtype = np.dtype(name)
    if dtype.kind == "f":
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal]
        return np.array(
            [choose.choice(special) if choose.random() < 0.3 else choose.gauss(0, 100) for _ in range(count)], dtype
        )
    limits = np.iinfo(dtype)
    return np.array(
        [choose.randint(-min(3, -int(limits.min)), 3) if choose.random() < 0.4 else choose.randint(int(limits.min), int(limits.max))
         for _ in range(count)], dtype,
    )  # fmt: skip


def _number(number: Any) -> str:
    if isinstance(number, np.floating):
        width = number.dtype.itemsize
        return "x" + struct.pack(">f" if width == 4 else ">d", number).hex()
    return str(int(number))


def _nested(row: Any) -> str:
    return "[" + "".join(_nested(item) + "," for item in row) + "]" if getattr(row, "ndim", 0) else _number(row)


def _record(values: tuple[str, ...]) -> str:
    return "{" + "".join(value + "," for value in values) + "}"


# --- values as text, of what Python reads


def spell(of: Type, value: Any) -> str:
    """The text of a value as ``make`` gives it, without the numbers of alternatives."""
    match of:
        case ("number", ("float32" | "float64") as name):
            return _number(np.dtype(name).type(_is(value, (float, int))))
        case ("number", _) | ("count",):
            return str(int(_is(value, (bool, int))))
        case ("half",):
            return _number(np.float32(_is(value, (float, int))))
        case ("shape", name, shape):
            inner = ("shape", name, shape[1:]) if shape[1:] else ("number", name)
            return "[" + "".join(spell(inner, item) + "," for item in _is(value, (list,))) + "]"
        case ("text",) | ("category",):
            return "s" + _is(value, (str,)).encode().hex()
        case ("bytes",):
            return "s" + bytes(_is(value, (bytes, list))).hex()
        case ("list", item) | ("array", _, item):
            return "[" + "".join(spell(item, one) + "," for one in _is(value, (list,))) + "]"
        case ("record", fields):
            return _record(tuple(spell(field, _is(value, (dict,))[name]) for name, field in fields))
        case ("tuple", slots):
            values = list(value.values()) if isinstance(value, dict) else list(_is(value, (tuple,)))
            return _record(tuple(spell(slot, one) for slot, one in zip(slots, values, strict=True)))
        case ("option", inner):
            return "n" if value is None else spell(inner, value)
        case ("union", parts):
            if value is None:
                return "n"
            for part in parts:
                try:
                    return spell(part, value)
                except TypeError:
                    continue
            raise TypeError(f"{value!r} of no type of {parts}")
    raise ValueError(of)


def _is(value: Any, kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"a value of type {type(value).__name__}")
    return value


def zero(of: Type) -> str:
    """The text of a value in entries before a field was added."""
    match of:
        case ("number", ("float32" | "float64") as name):
            return _number(np.dtype(name).type(0))
        case ("number", _):
            return "0"
        case ("half",):
            return _number(np.float32(0))
        case ("shape", name, shape):
            inner = zero(("shape", name, shape[1:]) if shape[1:] else ("number", name))
            return "[" + (inner + ",") * shape[0] + "]"
        case ("text",) | ("category",) | ("bytes",):
            return "s"
        case ("list", _):
            return "[]"
        case ("array", size, item):
            return "[" + (zero(item) + ",") * size + "]"
        case ("record", fields):
            return _record(tuple(zero(field) for _, field in fields))
        case ("tuple", slots):
            return _record(tuple(zero(slot) for slot in slots))
        case ("option", _) | ("union", _):
            return "n"
    raise ValueError(of)


# --- files


def floats(choose: random.Random, name: str) -> tuple[Any, Any]:
    """A way to store floats of a type, and what makes numbers be of those that are stored exactly."""
    steps = choose.randint(1, 32)
    low, high = -8.0, -8.0 + (2**steps - 1) / 16
    bits = choose.randint(10, 31)
    mask = np.uint32((0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF)

    def truncated(numbers: Any) -> Any:
        # A payload that is cut off would make infinity of what is not a number.
        kept = np.where(np.isnan(numbers), np.float32("nan"), numbers).astype(np.float32)
        return (kept.view(np.uint32) & mask).view(np.float32).astype(name)

    def quantised(numbers: Any) -> Any:
        wanted = np.clip(np.nan_to_num((numbers.astype("float64") - low) * 16, posinf=0), 0, 2.0**steps - 1)
        # More steps than a float of 32 bits has are none of its own.
        return (np.floor(wanted) / 16 + low).astype(name)

    ways = [
        ("half", lambda numbers: numbers.astype("float16").astype(name)),
        ("single", lambda numbers: numbers.astype("float32").astype(name)),
        (("truncated", bits), truncated),
        (("quantised", steps, low, high), quantised),
    ]
    return choose.choice(ways[: 3 if name == "float32" and steps > 20 else 4])


def write(folder: Path, seed: str, count: int) -> None:
    """Files ``0.root`` and so on, and ``files.json``."""
    import forthwith

    described = {}
    for number in range(count):
        choose = random.Random(f"{seed} {number}")
        types = [(f"f{number}_{k}", kind(choose, choose.randint(0, 4))) for k in range(4)]
        steps = [choose.choice([0, 1, 3, 7, 30, 100]) for _ in range(choose.randint(1, 4))]
        bitsets = choose.random() < 0.3
        # What is added behind the first step. A class that variants are in must be complete.
        late = {name for name, _ in types[2:]} if choose.random() < 0.4 else set()
        with np.errstate(all="ignore"):
            _write(forthwith, folder, choose, number, types, steps, late, bitsets, described)
    (folder / "files.json").write_text(json.dumps(described))


def _write(
    forthwith: Any,
    folder: Path,
    choose: random.Random,
    number: int,
    types: list[tuple[str, Type]],
    steps: list[int],
    late: set[str],
    bitsets: bool,
    described: dict[str, Any],
) -> None:
    codecs = ["none", "zstd:1", "zstd", "lz4", "zlib", "lzma:1"]
    rows, before = sum(steps), steps[0]
    made, chosen = {}, {}
    for name, of in types:
        array, texts = make(choose, of, rows - (before if name in late else 0))
        if of[0] == "number" and of[1].startswith("float") and choose.random() < 0.8:
            way, exact = floats(choose, of[1])
            numbers = exact(array.data)
            array, texts = ak.contents.NumpyArray(numbers), [_number(value) for value in numbers]
            chosen[name] = {"floats": way}
        if choose.random() < 0.3:
            chosen.setdefault(name, {})["compression"] = choose.choice(codecs)
        if name in late:
            texts = [zero(of)] * before + texts
        made[name] = ak.Array(array), texts
    listed = [name for name, of in types if name not in late and of[0] == "list" and of[1][0] in ("number", "text")]
    projections = {f"count_{name}": f"#{name}" for name in listed} | {f"again_{name}": name for name in listed}
    options = {
        "page_size": choose.choice([64, 100, 256, 1 << 20]),
        "cluster_entries": choose.choice([None, None, 1, 5, 20]),
        "cluster_size": choose.choice([None, 100, 2000]),
        "compression": choose.choice(codecs),
        "threads": choose.choice([None, 2, 3]),
        "bitsets": bitsets,
    }
    path = folder / f"{number}.root"
    first = [name for name, _ in types if name not in late]
    now = {name: made[name][0][:before] for name in first}
    fields = {name: choice for name, choice in chosen.items() if name not in late}
    # What is read of these has another type than was written.
    again = 0.0 if "'half'" in str(types) else choose.choice([0.0, 0.5])
    file = forthwith.recreate(path)
    table = file.mkrntuple("nt", now, fields=fields, projections=projections, **options)

    def reopened() -> None:
        """Closes the file, and opens it again to go on."""
        nonlocal file, table
        if choose.random() < again:
            file.close()
            file = forthwith.update(path, compression=choose.choice(codecs))
            table = file["nt"]
            options["sessions"] = options.get("sessions", 1) + 1

    reopened()
    if late:
        choices = {name: choice for name, choice in chosen.items() if name in late}
        table.add_fields({name: ak.type(made[name][0]).content for name in sorted(late)}, fields=choices)
    at = before
    for step in steps[1:]:
        reopened()
        ends = {name: (at - before if name in late else at) for name, _ in types}
        table.extend({name: made[name][0][ends[name] : ends[name] + step] for name, _ in types})
        at += step
    file.close()
    texts = {name: made[name][1] for name, _ in types}
    shown = list(types)
    for name in listed:
        of = dict(types)[name]
        shown += [(f"count_{name}", ("count",)), (f"again_{name}", of)]
        texts[f"count_{name}"] = [str(text.count(",")) for text in texts[name]]
        texts[f"again_{name}"] = texts[name]
    printer = Printer(f"print_{number}", bitsets)
    described[path.name] = {
        "types": shown,
        "texts": texts,
        "rows": rows,
        "options": {name: str(value) for name, value in options.items()} | {"fields": str(chosen), "steps": steps},
        "program": printer.program(shown),
    }


def choose_all(folder: Path, seed: str) -> None:
    """Puts copies with a random choice in the place of files, and tells what they hold."""
    described = json.loads((folder / "files.json").read_text())
    chosen = {}
    for file, about in described.items():
        choose = random.Random(f"choose {seed} {file}")
        if (new := _choose(choose, folder / file, about)) is not None:
            chosen[file] = new
    (folder / "files.json").write_text(json.dumps(chosen))
    print(f"choose: {len(chosen)} of {len(described)} files")


def _choose(choose: random.Random, path: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """A copy in the place of a file; nothing if it has values that cannot be copied."""
    import forthwith

    times = choose.choice([1, 1, 2, 3])
    rows = about["rows"] * times
    first, last = sorted([choose.randint(0, rows), choose.randint(0, rows)])
    share = choose.choice([0.05, 0.5, 0.95])
    mask = [choose.random() < share for _ in range(rows)]
    entries, picked = choose.choice([
        (None, range(rows)),
        (slice(first, last), range(first, last)),
        (np.array(mask, bool), np.flatnonzero(mask)),
        (np.flatnonzero(mask), np.flatnonzero(mask)),
    ])  # fmt: skip
    names = [name for name, _ in about["types"]]
    wanted = choose.choice([set(names), {name for name in names if choose.random() < 0.5} or {names[0]}])
    source = {name: name.split("_", 1)[1] for name in names if name.startswith(("count_", "again_"))}
    kept = wanted | {source[name] for name in wanted if name in source}
    new = path.with_suffix(".new.root")
    codec = choose.choice(["default", "default", None, "zlib:9", "lz4", "zstd", "lzma"])
    is_name = None if wanted == set(names) else lambda name: name in wanted
    try:
        done = forthwith.merge([path] * times, new, filter_name=is_name, entries=entries, compression=codec)
    except forthwith.UnsupportedError as error:
        if "quantised numbers" not in str(error) or "quantised" not in about["options"]["fields"]:
            raise
        return None
    if done != {"nt": len(picked)}:
        raise ValueError(f"{path}: {done}, where {len(picked)} entries were chosen")
    new.replace(path)
    with forthwith.open(path) as opened:
        found = set(opened["nt"].keys(recursive=False))
    if found != kept:
        raise ValueError(f"{path}: fields {sorted(found)}, where {sorted(kept)} were chosen")
    types = [(name, of) for name, of in about["types"] if name in kept]
    texts = {name: [(about["texts"][name] * times)[at] for at in picked] for name, _ in types}
    bitsets = about["options"]["bitsets"] == "True"
    options = about["options"] | {"copied": f"{times} times, {entries}, {sorted(kept)}, {codec}"}
    program = Printer(f"print_{path.stem}", bitsets).program(types)
    return {"types": types, "texts": texts, "rows": len(picked), "options": options, "program": program}


# --- readers


def differences(name: str, of: Type, found: list[str], wanted: list[str]) -> str:
    """The first difference, in words; nothing if there is none."""
    if len(found) != len(wanted):
        return f"{name} ({of}): {len(found)} entries, where {len(wanted)} were written"
    for entry, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one != other:
            return f"{name} ({of}), entry {entry}:\n  read    {one[:300]}\n  written {other[:300]}"
    return ""


def of_root(folder: Path, file: str, about: dict[str, Any]) -> dict[str, list[str]]:
    """What a C++ program prints."""
    import ROOT

    if not hasattr(ROOT, "forth"):
        ROOT.gInterpreter.Declare(PRINT)
    if not ROOT.gInterpreter.Declare(about["program"]):
        raise ValueError(f"the program for {file} does not compile:\n{about['program']}")
    path, to = str(folder / file), str(folder / f"{file}.txt")
    getattr(ROOT, f"print_{file.removesuffix('.root')}")(path, to, "nt")
    lines = Path(to).read_text().split("\n")[:-1]
    count = len(about["types"])
    return {name: lines[at::count] for at, (name, _) in enumerate(about["types"])}


def of_uproot(folder: Path, file: str, about: dict[str, Any]) -> dict[str, list[str]]:
    """What uproot reads, of the types that it reads."""
    import uproot

    with uproot.open(folder / file) as opened:
        ntuple = opened["nt"]
        return {
            name: [spell(of, value) for value in ntuple[name].array().to_list()]
            for name, of in about["types"]
            if uproot_reads(of, about)
        }


def uproot_reads(of: Type, about: dict[str, Any]) -> bool:
    """Whether uproot reads a type as others do: it does not know that alternatives are counted in each cluster anew."""
    return "union" not in str(of)


def of_forthwith(folder: Path, file: str, about: dict[str, Any]) -> dict[str, list[str]]:
    """What forthwith reads."""
    import forthwith

    check = [sys.executable, "-W", "ignore", "-m", "forthwith", "check", str(folder / file)]
    done = subprocess.run(check, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{file}: {done.stdout}{done.stderr}")
    with forthwith.open(folder / file) as opened:
        arrays = opened["nt"].arrays()
        return {name: [spell(of, value) for value in arrays[name].to_list()] for name, of in about["types"]}


READERS = {"root": of_root, "uproot": of_uproot, "forthwith": of_forthwith}


def compare(folder: Path, reader: str) -> int:
    """Compares all files, and answers how many differ."""
    described = json.loads((folder / "files.json").read_text())
    different = values = 0
    for file, about in described.items():
        found = READERS[reader](folder, file, about)
        types = dict(about["types"])
        for name, texts in found.items():
            wanted = about["texts"][name]
            if reader != "root":
                wanted = [re.sub("<[0-9]+>", "", text) for text in wanted]
            if what := differences(name, types[name], texts, wanted):
                print(f"{file} {about['options']}\n{what}")
                different += 1
                break
            values += len(texts)
    print(f"{reader}: {len(described)} files, {values} values, {different} files differ")
    return different


def main(verb: str, folder: str, seed: str = "1", count: str = "5") -> None:
    """The command."""
    if verb == "write":
        write(Path(folder), seed, int(count))
    elif verb == "choose":
        choose_all(Path(folder), seed)
    elif compare(Path(folder), verb):
        raise SystemExit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
