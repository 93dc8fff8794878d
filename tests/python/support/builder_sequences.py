"""Random sequences of builder commands, wrong ones among them, told to Awkward Array's builder and to ours.

``python tests/python/support/builder_sequences.py COUNT [SEED]`` makes a long run.
"""

import random
import sys
import warnings

import awkward as ak
import numpy as np

import forthwith

UNITS = ["datetime64[s]", "datetime64[us]", "datetime64[D]"]
NAMES = [None, None, None, "p", "q", ""]
FIELDS = ["x", "y", "z w", "é", ""]


def leaf(rng):
    """A command for one value."""
    kind = rng.randrange(11)
    if kind <= 1:
        return ("integer", rng.choice([0, 1, -1, 2**63 - 1, -(2**63), rng.randrange(-1000, 1000)]))
    if kind <= 3:
        return ("real", rng.choice([0.0, -0.5, 1e300, float("inf"), rng.random()]))
    if kind == 4:
        return ("complex", complex(rng.randrange(-5, 5), rng.randrange(-5, 5)))
    if kind == 5:
        return ("boolean", rng.random() < 0.5)
    if kind == 6:
        return ("string", rng.choice(["", "abc", "é😀"]))
    if kind == 7:
        return ("bytestring", rng.choice([b"", b"abc", b"x\x00y"]))
    if kind == 8:
        return ("datetime", np.datetime64(rng.randrange(10**6), rng.choice(["s", "us", "D"])))
    if kind == 9:
        return ("timedelta", np.timedelta64(rng.randrange(10**6), rng.choice(["s", "us"])))
    return ("null",)


def value(rng, depth, kinds):
    """A Python object for ``append``."""
    kind = rng.randrange(kinds)
    if kind == 0 and depth:
        return [value(rng, depth - 1, kinds) for _ in range(rng.randrange(4))]
    if kind == 1 and depth:
        keys = rng.sample(FIELDS, rng.randrange(4))
        return {key: value(rng, depth - 1, kinds) for key in keys}
    if kind == 2 and depth:
        # A tuple within a smaller one is refused by Awkward Array.
        return tuple(value(rng, 0, kinds) for _ in range(rng.randrange(3)))
    if kind == 3:
        dtype = rng.choice(["i4", "f4", "u1", "?", "c8", "M8[s]", "f2", ">i8", "u8", "m8[us]"])
        shape = rng.choice([(0,), (3,), (2, 2), (2, 0), (0, 2), ()])
        return np.arange(int(np.prod(shape))).astype("i8").reshape(shape).astype(dtype)
    name, *args = leaf(rng)
    if name == "integer" and rng.random() < 0.1:
        return rng.choice(
            [2**63, -(2**63) - 1, 10**30, np.uint64(2**63), np.int8(3), np.float32(1.5), object(), {1: 2}]
        )
    return args[0] if args else None


def command(rng, stack):
    """Mostly one that fits what is open; sometimes any."""
    if rng.random() < 0.06:
        return rng.choice(
            [
                ("end_list",),
                ("end_tuple",),
                ("end_record",),
                ("index", rng.randrange(4)),
                ("field", rng.choice(FIELDS)),
                ("integer", 2**63),
                ("integer", "x"),
                ("integer", 1.5),
                ("real", "x"),
                ("string", b"x"),
                ("bytestring", "x"),
                ("boolean", "x"),
                ("datetime", 5),
                ("timedelta", 5),
                ("append", object()),
                ("extend", 5),
            ]
        )
    choice = rng.random()
    if stack:
        kind, size = stack[-1]
        if choice < 0.3:
            return ({"list": "end_list", "tuple": "end_tuple", "record": "end_record"}[kind],)
        if kind == "tuple" and choice < 0.6 and size:
            return ("index", rng.randrange(size))
        if kind == "record" and choice < 0.6:
            return ("field", rng.choice(FIELDS))
    choice = rng.random()
    if choice < 0.12:
        return ("begin_list",)
    if choice < 0.19:
        return ("begin_record", rng.choice(NAMES))
    if choice < 0.26:
        return ("begin_tuple", rng.randrange(3))
    if choice < 0.34:
        return ("append", value(rng, 3, 8))
    if choice < 0.38:
        return ("extend", [value(rng, 2, 8) for _ in range(rng.randrange(3))])
    return leaf(rng)


def same_kind(theirs, ours):
    """Whether two errors are of one kind, in the sense that code that catches theirs catches ours."""
    if theirs is None or ours is None:
        return theirs is ours
    if str(ours).startswith("called 'append' immediately after"):
        return True  # whatever else may be wrong with the object, too
    if isinstance(ours, forthwith.IntegerRangeError):
        # Awkward Array says RuntimeError in append and TypeError in the command.
        return isinstance(theirs, (RuntimeError, TypeError))
    return isinstance(ours, type(theirs))


def tell(builder, name, args):
    try:
        getattr(builder, name)(*args)
    except Exception as error:
        return error
    return None


def plain(array):
    """Values that can be compared, with the type of each."""
    return repr(ak.to_list(array))


def nested_tuple_too_wide(stack, name, args):
    """Awkward Array checks an index against the outermost open tuple, too."""
    if name == "begin_tuple" or (name in ("append", "extend") and "(" in repr(args)):
        return any(kind == "tuple" for kind, _ in stack)
    return False


def run(seed):
    """One sequence. Answers how many commands were told, and how many of them were wrong."""
    rng = random.Random(seed)
    theirs, ours = ak.ArrayBuilder(), forthwith.ArrayBuilder()
    stack, told, wrong = [], [], 0
    for _ in range(rng.randrange(2, 60)):
        name, *args = command(rng, stack)
        if nested_tuple_too_wide(stack, name, args):
            continue
        told.append((name, *args))
        before = (str(ours.typestr), len(ours))
        error, our_error = tell(theirs, name, args), tell(ours, name, args)
        if name == "end_record" and error is None and not (stack and stack[-1][0] == "record"):
            # Awkward Array takes it without a word where complex numbers are.
            error = ValueError("called 'end_record' without 'begin_record'")
        assert same_kind(error, our_error), f"{told}:\n{error!r}\n{our_error!r}"
        if error is not None:
            wrong += 1
            if name in ("append", "extend"):
                # Theirs now has half of it; ours has not.
                assert len(ours) >= before[1], told
                break
            if name in ("end_record", "end_tuple"):
                if "filled more than once" in str(error):
                    break  # no way on
            else:
                assert before == (str(ours.typestr), len(ours)), told
        elif name.startswith("begin_"):
            stack.append((name[6:], args[0] if name == "begin_tuple" else None))
        elif name.startswith("end_"):
            stack.pop()
        assert ours.typestr == theirs.typestr, f"{told}:\n{theirs.typestr}\n{ours.typestr}"
        assert len(ours) == len(theirs), told
        if rng.random() < 0.05:
            compare(theirs, ours, told)
    else:
        compare(theirs, ours, told)
    return len(told), wrong


def compare(theirs, ours, told):
    a, b = theirs.snapshot(), ours.snapshot()
    assert str(ak.type(a)) == str(ak.type(b)), f"{told}:\n{ak.type(a)}\n{ak.type(b)}"
    assert str(theirs.type) == str(ours.type), told
    assert a.layout.form == b.layout.form or unkeyed(a) == unkeyed(b), told
    assert plain(a) == plain(b), f"{told}:\n{plain(a)}\n{plain(b)}"
    assert ak.is_valid(b), told


def unkeyed(array):
    return array.layout.form_with_key(None).to_dict()


def data(seed):
    """The same data through both ``from_iter``."""
    rng = random.Random(seed)
    items = [value(rng, 4, rng.choice([6, 12, 30])) for _ in range(rng.randrange(6))]
    try:
        theirs, error = ak.from_iter(items), None
    except Exception as caught:
        theirs, error = None, caught
    try:
        ours, our_error = forthwith.from_iter(items), None
    except Exception as caught:
        ours, our_error = None, caught
    assert same_kind(error, our_error), f"{items}:\n{error!r}\n{our_error!r}"
    if error is None:
        assert str(theirs.type) == str(ours.type), items
        assert plain(theirs) == plain(ours), items
    return error is not None


def main(count, seed):
    warnings.simplefilter("ignore")
    commands = wrong = refused = 0
    for at in range(count):
        told, bad = run(seed + at)
        commands, wrong = commands + told, wrong + bad
        refused += data(seed + at)
    print(
        f"{count} sequences of {commands} commands, {wrong} of them wrong; {count} data, {refused} refused: no difference"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
