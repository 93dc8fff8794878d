"""Compares what forthwith reads of the files of tests/generate/random_classes.py with what C++ ROOT reads, to the bit."""

import json
import math
import re
import struct

import awkward as ak

import forthwith
from forthwith._collections import Collection
from forthwith._objects import Object

# Options that files written by ROOT do not always give.
UNSAID = ("which the file does not describe", "of which the file has no streamer info")


class Different(Exception):
    """Where two values differ."""


def same(wanted, found, at=""):
    """Raises `Different` where ``found`` is not what ROOT has told."""
    match wanted:
        case {"~": items}:
            found = list(found.items()) if isinstance(found, dict) else found
            if not isinstance(found, list) or len(items) != len(found):
                raise Different(f"{at}: {wanted} is not {found}")
            wanted_ones, found_ones = sorted(items, key=rank), sorted(found, key=rank)
            for k, (one, other) in enumerate(zip(wanted_ones, found_ones, strict=True)):
                same(one, other, f"{at}[{k}]")
        case {"^": pair}:
            if isinstance(found, dict):
                found = list(found.values())
            same(pair, list(found) if isinstance(found, tuple) else found, f"{at}.pair")
        case {"ref": number} if isinstance(found, int):
            same(number, found, at)
        case dict():
            if not isinstance(found, dict) or wanted.keys() - found.keys():
                raise Different(f"{at}: {wanted} is not {found}")
            extra = {name for name in found.keys() - wanted.keys() if name not in ("fUniqueID", "fBits")}
            if extra:
                raise Different(f"{at}: {extra} are too many")
            for name, value in wanted.items():
                same(value, found[name], f"{at}.{name}")
        case list() if found in (None, []) and "".join(str(wanted).split(", ")).strip("[]") == "":
            pass  # pointers to no numbers, of an object
        case list():
            # A map, of an object.
            found = [list(pair) for pair in found.items()] if isinstance(found, dict) else found
            if not isinstance(found, list) or len(wanted) != len(found):
                raise Different(f"{at}: {str(wanted)[:300]} is not {str(found)[:300]}")
            for k, (one, other) in enumerate(zip(wanted, found, strict=True)):
                same(one, other, f"{at}[{k}]")
        case float():
            if type(found) is not float or not equal(wanted, found):
                raise Different(f"{at}: {wanted!r} is not {found!r}")
        case _:
            if type(found) is not type(wanted) or found != wanted:
                raise Different(f"{at}: {wanted!r} is not {found!r}")


def same_base(wanted, found):
    """As `same`, where ``found`` has the members of a base alone."""
    if isinstance(wanted, dict) and "~" in wanted:
        wanted = wanted["~"]
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(wanted) != len(found):
            raise Different(f"{len(wanted)} bases are not {found}")
        for one, other in zip(wanted, found, strict=True):
            same_base(one, other)
    elif isinstance(wanted, dict):
        same({name: value for name, value in wanted.items() if name in found}, found)


def equal(one, other):
    return struct.pack("<d", one) == struct.pack("<d", other) or (math.isnan(one) and math.isnan(other))


def rank(value):
    """Something to sort by, the same for what ROOT has told and what was found."""
    match value:
        case {"~": items}:
            return repr(sorted(map(rank, items)))
        case {"^": pair}:
            return rank(pair)
        case {"ref": number}:
            return rank(number)
        case dict():
            return (
                "{" + ",".join(rank(value[name]) for name in sorted(value) if name not in ("fUniqueID", "fBits")) + "}"
            )
        case list() | tuple():
            return "[" + ",".join(map(rank, value)) + "]"
    return repr(value)


def plain(value):
    """An object of a file as plain values."""
    if isinstance(value, Object) and value.member_names == ["_M_elems"]:
        # A std::array: of several within each other, all items stand one after the other.
        found = plain(value.member("_M_elems"))
        for size in re.findall(r",(\d+)(?=[>,0-9 ]*$)", value.classname)[:-1]:
            if found and not isinstance(found[0], list):
                found = [found[at : at + int(size)] for at in range(0, len(found), int(size))]
        return found
    if isinstance(value, Collection):
        return [plain(item) for item in value]
    if isinstance(value, Object):
        if value.is_opaque:
            raise Different(
                f"{value!r} is opaque: {value._record.core.fault(value._number)} {value._record.core.faults()}"
            )
        if value.classname == "TRef":
            return {"ref": value.member("fUniqueID") if value.has_member("fUniqueID") else value.all_members}
        return {name: plain(item) for name, item in value.all_members.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return [[plain(key), plain(item)] for key, item in value.items()]
    return value.tolist() if hasattr(value, "tolist") else value


def within(wanted, steps):
    """The part of a value that the branch of a member holds; ``None`` if there is no such member."""
    if not steps:
        return wanted
    match wanted:
        case {"~": items}:
            return {"~": [within(item, steps) for item in items]}
        case {"^": [first, second]} if steps[0] in ("first", "second"):
            return within(first if steps[0] == "first" else second, steps[1:])
        case dict() if steps[0] in wanted:
            return within(wanted[steps[0]], steps[1:])
        case list():
            return [within(item, steps) for item in wanted]
        case None:
            return None
    raise KeyError(steps[0])


def steps_of(path, names):
    """The members that lead to a branch: those of the last name in the path, less names of classes."""
    last = path.split("/")[-1].split("[")[0].rstrip(".")
    return [step for step in last.replace("*", "").split(".") if step in names or step in ("first", "second")]


def names_in(value, names):
    match value:
        case dict():
            for name, item in value.items():
                names.add(name)
                names_in(item, names)
        case list():
            for item in value:
                names_in(item, names)
    return names


def compare_branch(tree, entry, wanted):
    """Compares a branch and those below it; yields a path and what is wrong, or ``None``, for each that has data."""
    names = names_in(wanted, set())
    top = entry["name"]
    paths = [path for path in tree if path == top or path.startswith(top + "/")]
    for path in paths:
        branch = tree[path]
        if not branch.has_data:
            continue
        try:
            yield path, compare_column(branch, path, top, wanted, names)
        except Different as error:
            yield path, f"different: {error}"
        except KeyError as error:
            yield path, f"nothing to compare: {error}"


def compare_column(branch, path, top, wanted, names):
    arrays = []
    for threads in (1, 2):
        try:
            arrays.append(branch.array(threads=threads))
        except forthwith.ForthwithError as error:
            return f"{type(error).__name__}: {error}"
    found, other = (json.dumps(array.to_list()) for array in arrays)
    if found != other:
        return "different with two threads"
    found = arrays[0].to_list()
    half = len(found) // 2
    part = branch.array(entry_start=half // 2, entry_stop=half + 1).to_list()
    if json.dumps(part) != json.dumps(found[half // 2 : half + 1]):
        return "different in part"
    ak.from_buffers(*ak.to_buffers(arrays[0]))
    if path == top:
        steps = []
    else:
        steps = steps_of(path, names)
        last = path.split("/")[-1].split("[")[0].rstrip(".").split(".")[-1]
        if last in ("fUniqueID", "fBits", "_M_elems"):
            return None  # ROOT writes nothing of arrays that are divided
        if last not in steps[-1:]:
            # A base, which is not divided further.
            for entry, other in zip((within(entry, steps) for entry in wanted), found, strict=True):
                same_base(entry, other)
            return None
    wanted = [within(entry, steps) for entry in wanted]
    if (
        branch.typename == "int32_t"
        and found
        and all(isinstance(one, int) for one in found)
        and not isinstance(wanted[0], int)
    ):
        wanted = [len(one["~"] if isinstance(one, dict) else one) for one in wanted]
    same(wanted, found)
    return None


def compare(folder, name):
    """Yields for each branch and key its entry, path, and what is wrong, or ``None``."""
    for entry in json.loads((folder / f"{name}.values.json").read_text()):
        if "problem" in entry:
            yield entry, entry["name"], f"ROOT: {entry['problem']}"
            continue
        wanted = json.loads(entry["read"])
        with forthwith.open(str(folder / entry["file"])) as file:
            if entry["is_key"]:
                yield entry, entry["name"], compare_key(file, entry, wanted)
            else:
                for path, problem in compare_branch(file["t"], entry, wanted):
                    yield entry, path, problem


def compare_key(file, entry, wanted):
    try:
        same(wanted, plain(file[entry["name"]]))
    except Different as error:
        object = file[entry["name"]]
        faults = object._record.core.faults() if isinstance(object, Object) else []
        return f"different: {error} {faults}"
    except forthwith.ForthwithError as error:
        return f"{type(error).__name__}: {error}"
    return None
