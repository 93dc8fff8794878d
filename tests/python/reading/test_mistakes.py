"""Mistakes of callers are never told as damage of a file: every method of every kind of object with arguments that make no
sense, of objects that are sound."""

import contextlib
import inspect
import io

import pytest
from conftest import data

import forthwith
from forthwith._objects import Object

WRONG = [
    None, 3, -7, 10_000, 1.5, -0.25, float("nan"), "nonsense", "", b"x", [], [1, 2], {}, (1, 2), object(), slice(0, 3),
    2j, True, sum, print, range(3),
]  # fmt: skip
SPECIAL = ("__getitem__", "__contains__", "__eq__", "__len__", "__iter__", "__array__", "__add__", "__mul__", "__sub__")
FILES = ["histograms.root", "objects.root", "standard.root", "buffered.root", "efficiencies.root"]


def sound_objects():
    """One of each kind that is in the files, with those that they lead to."""
    seen, waiting = {}, []
    for name in FILES:
        file = forthwith.open(data(name))
        for key, _ in file.iterclassnames():
            with contextlib.suppress(forthwith.UnsupportedError):
                waiting.append(file[key])
    while waiting:
        found = waiting.pop()
        if not isinstance(found, Object) or (type(found), found.classname) in seen:
            continue
        seen[type(found), found.classname] = found
        if not found.is_opaque:
            for value in found.all_members.values():
                waiting += value if isinstance(value, list) else [value]
    return list(seen.values())


def calls(method):
    """Nothing, each wrong argument by place, and by the name of each parameter."""
    yield (), {}
    parameters = list(inspect.signature(method).parameters.values())[1:]
    for wrong in WRONG:
        yield (wrong,), {}
        for parameter in parameters:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                yield (), {parameter.name: wrong}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mistakes_are_not_damage():
    told, kinds = {}, set()
    for what in sound_objects():
        kinds.add(type(what).__name__)
        for name, method in inspect.getmembers(type(what), callable):
            if name.startswith("_") and name not in SPECIAL:
                continue
            for arguments, named in calls(method):
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        method(what, *arguments, **named)
                except forthwith.DamagedFileError as error:
                    told[type(what).__name__, name] = (what, arguments, named, str(error))
                except (forthwith.ForthwithError, TypeError, ValueError, LookupError):
                    pass
    assert told == {}
    assert {"Histogram", "Profile", "Efficiency", "Graph", "Axis", "Collection", "Datime", "SparseHistogram"} <= kinds


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda h: h[1.5], TypeError),
        (lambda h: h[10**9], IndexError),
        (lambda h: h.axes[0][10**9], IndexError),
        (lambda h: h.axes[0][1.5], TypeError),
        (lambda h: h.axes[0].index([]), TypeError),
        (lambda h: h.axis(7), IndexError),
        (lambda h: h.mean("w"), IndexError),
        (lambda h: h.member(3), TypeError),
        (lambda h: h.member("nothing"), KeyError),
        (lambda h: h.show(width="wide"), TypeError),
    ],
)
def test_what_is_said_of_mistakes(call, error):
    with forthwith.open(data("histograms.root")) as file, pytest.raises(error) as raised:
        call(file["h1d"])
    assert isinstance(raised.value, forthwith.ForthwithError)
    assert not isinstance(raised.value, forthwith.DamagedFileError)
